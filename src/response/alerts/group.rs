//! Alertmanager and Grafana: a heading with a status in brackets, and lists of labels.
//!
//! Both list alerts under a heading a status, each with its labels one a line; bridges and hand-made
//! templates keep the bracket and write some labels as fields or `name: value`.

use super::{Draft, Drafts, Found, Pair, Part, Unread, bare, masked_links, pair, without_ornament};
use crate::incident::alert::{AlertSource, AlertStatus, LinkTo, severity_of_level};
use crate::incident::post::Post;
use crate::incident::words::fold;
use std::collections::BTreeMap;

/// Characters of an annotation.
const LONGEST_ANNOTATION: usize = 1_000;

/// Reads a part that begins with a status in brackets, or lists alerts.
pub(super) fn read(post: &Post, part: &Part) -> Option<Found> {
    let heading = Heading::of(&part.head);
    let cut = part.is_cut();
    let blocks = blocks(&part.body, cut, heading.as_ref().map(Heading::status));
    let grafana = is_grafana(post, part);
    if heading.is_none() && blocks.iter().all(|block| block.status.is_none()) {
        return items(part, grafana).or_else(|| plain(part, grafana));
    }
    let source = if grafana {
        AlertSource::Grafana
    } else {
        AlertSource::Alertmanager
    };
    let mut drafts: Vec<Draft> = blocks
        .iter()
        .filter_map(|block| block.draft(source, heading.as_ref(), part))
        .collect();
    // What all alerts share stands in the heading; of one alert that is all.
    let level = heading.as_ref().and_then(Heading::level);
    for draft in &mut drafts {
        draft.level = draft.level.take().or_else(|| level.clone());
    }
    if let ([draft], Some(heading)) = (drafts.as_mut_slice(), &heading) {
        draft.heading = format!("{} {}", heading.rest, heading.common);
    }
    // A template of its own: the alert is described by its heading and fields.
    if drafts.is_empty() {
        if let Some(found) = items(part, grafana) {
            return Some(found);
        }
        let heading = heading?;
        let mut draft = Draft::new(source, heading.status(), &heading.name);
        draft.heading = format!("{} {}", heading.rest, heading.common);
        draft.take(&part.pairs());
        if let Some(name) = draft.labels.get("alertname") {
            draft.name.clone_from(name);
        }
        if draft.level.is_none() {
            draft.level = heading.level();
        }
        links(&mut draft, part);
        if draft.summary.is_empty() {
            draft.summary = prose(&part.body);
        }
        drafts.push(draft);
        let unread = heading.unread(&drafts);
        return Some(Found::Alerts(Drafts {
            drafts,
            unread,
            cut,
        }));
    }
    let unread = heading
        .as_ref()
        .map(|heading| heading.unread(&drafts))
        .unwrap_or_default();
    Some(Found::Alerts(Drafts {
        drafts,
        unread,
        cut,
    }))
}

fn is_grafana(post: &Post, part: &Part) -> bool {
    let says = |text: &str| fold(text).contains("grafana");
    says(&part.footer) || says(&part.url) || says(&post.author) || says(&part.author)
}

/// `[FIRING:2, RESOLVED:1] Name group (common values)`.
struct Heading {
    firing: Option<u32>,
    resolved: Option<u32>,
    fires: bool,
    /// The first word where it is a rule's identifier, else all before the brackets.
    name: String,
    /// All before the brackets.
    rest: String,
    /// What stands in the brackets at the end.
    common: String,
}

impl Heading {
    fn of(line: &str) -> Option<Self> {
        let line = bare(line);
        let line = without_ornament(&line);
        let inside = line.strip_prefix('[').or_else(|| line.strip_prefix('【'))?;
        let (states, rest) = inside.split_once([']', '】'])?;
        let mut heading = Self {
            firing: None,
            resolved: None,
            fires: false,
            name: String::new(),
            rest: String::new(),
            common: String::new(),
        };
        let mut any = false;
        for state in states.split([',', '，', '|']) {
            let (word, number) = match state.split_once([':', '：']) {
                Some((word, number)) => (word, number.trim().parse::<u32>().ok()),
                None => (state, None),
            };
            match status_of(word)? {
                AlertStatus::Firing => {
                    heading.fires = true;
                    heading.firing = number;
                }
                AlertStatus::Resolved => heading.resolved = number,
            }
            any = true;
        }
        if !any {
            return None;
        }
        let rest = without_ornament(rest.trim());
        let (before, common) = match rest
            .strip_suffix(')')
            .and_then(|rest| rest.split_once(" ("))
        {
            Some((before, common)) => (before.trim(), common.trim()),
            None => (rest, ""),
        };
        let first = before.split_whitespace().next().unwrap_or_default();
        heading.name = if is_identifier(first) { first } else { before }.to_owned();
        heading.rest = before.to_owned();
        heading.common = common.to_owned();
        Some(heading)
    }

    fn status(&self) -> AlertStatus {
        if self.fires {
            AlertStatus::Firing
        } else {
            AlertStatus::Resolved
        }
    }

    /// The level among the values that all alerts share: the last word that is one.
    fn level(&self) -> Option<String> {
        let words = self.common.split_whitespace();
        words
            .rev()
            .find(|word| severity_of_level(word).is_some())
            .map(str::to_owned)
    }

    /// How many more it counts than were read.
    fn unread(&self, drafts: &[Draft]) -> Unread {
        let read = |status| {
            let read = drafts.iter().filter(|draft| draft.status == status).count();
            u32::try_from(read).unwrap_or(u32::MAX)
        };
        let left = |said: Option<u32>, status| said.unwrap_or(0).saturating_sub(read(status));
        Unread {
            firing: left(self.firing, AlertStatus::Firing),
            resolved: left(self.resolved, AlertStatus::Resolved),
        }
    }
}

/// A rule's name: one word of letters with a capital inside, or with underscores.
fn is_identifier(word: &str) -> bool {
    let letters = word.chars().filter(|c| c.is_ascii_alphabetic()).count();
    let capitals = word.chars().filter(char::is_ascii_uppercase).count();
    letters >= 4
        && word
            .chars()
            .all(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | ':'))
        && ((capitals >= 2 && capitals < letters) || word.contains('_'))
}

/// The status that a word in brackets, or a list's heading, names.
pub(super) fn status_of(word: &str) -> Option<AlertStatus> {
    let word = bare(word);
    let word = fold(without_ornament(&word).trim_matches([':', '：', ' ', '=', '-']));
    let word = word
        .strip_prefix("alerts ")
        .or_else(|| word.strip_suffix(" alerts"))
        .unwrap_or(&word);
    match word.trim() {
        "firing" | "alerting" | "触发" | "触发中" | "告警" | "告警中" | "报警" | "故障"
        | "异常" | "告警触发" => Some(AlertStatus::Firing),
        "resolved" | "恢复" | "已恢复" | "已解决" | "解除" | "已解除" | "恢复正常" | "告警恢复" => {
            Some(AlertStatus::Resolved)
        }
        _ => None,
    }
}

#[derive(Default)]
struct Block {
    status: Option<AlertStatus>,
    labels: BTreeMap<String, String>,
    annotations: Vec<(String, String)>,
    links: Vec<(LinkTo, String)>,
    /// All of its labels are there.
    whole: bool,
}

impl Block {
    fn draft(&self, source: AlertSource, heading: Option<&Heading>, part: &Part) -> Option<Draft> {
        let status = self.status.or_else(|| heading.map(Heading::status))?;
        let name = self
            .labels
            .get("alertname")
            .map(String::as_str)
            .or_else(|| heading.map(|heading| heading.name.as_str()))?;
        let mut draft = Draft::new(source, status, name);
        draft.labels.clone_from(&self.labels);
        draft.partial = !self.whole;
        let level = ["severity", "priority", "level", "urgency"];
        draft.level = level
            .iter()
            .find_map(|label| self.labels.get(*label).cloned());
        let annotation = |names: &[&str]| {
            names.iter().find_map(|name| {
                let mut all = self.annotations.iter();
                all.find(|(known, _)| known == name)
                    .map(|(_, value)| value.clone())
            })
        };
        draft.summary =
            annotation(&["summary", "title", "message", "description"]).unwrap_or_default();
        for (names, to) in [
            (&["runbook_url", "runbook"][..], LinkTo::Runbook),
            (
                &["dashboard_url", "dashboard", "panel_url"][..],
                LinkTo::Dashboard,
            ),
        ] {
            if let Some(address) = annotation(names) {
                draft.link(to, &address);
            }
        }
        for (to, address) in &self.links {
            draft.link(*to, address);
        }
        draft.link(LinkTo::Source, &part.url);
        Some(draft)
    }
}

enum Mode {
    Outside,
    Labels,
    Annotations,
}

/// The alerts that a body lists under `Labels:`.
fn blocks(lines: &[String], cut: bool, fallback: Option<AlertStatus>) -> Vec<Block> {
    let mut all: Vec<Block> = Vec::new();
    let mut status = None;
    let mut mode = Mode::Outside;
    let last_line = lines.iter().rposition(|line| !line.trim().is_empty());
    for (at, line) in lines.iter().enumerate() {
        let text = line.trim();
        // Half a label is none.
        let half = cut && Some(at) == last_line && matches!(mode, Mode::Labels);
        if text.is_empty() || half {
            continue;
        }
        if let Some(heading) = status_of(text) {
            // A description may hold such a line too: what follows tells.
            let mut after = lines.iter().skip(at + 1).map(|line| line.trim());
            let next = after.find(|line| !line.is_empty()).unwrap_or_default();
            if is_labels(next) || next.starts_with("Value:") || list_item(next).is_some() {
                status = Some(heading);
                mode = Mode::Outside;
                continue;
            }
        }
        if is_labels(text) {
            all.push(Block {
                status: status.or(fallback),
                ..Block::default()
            });
            mode = Mode::Labels;
            continue;
        }
        let Some(block) = all.last_mut() else {
            continue;
        };
        if matches!(fold(text).as_str(), "annotations:" | "注解:" | "注解：") {
            block.whole = true;
            mode = Mode::Annotations;
            continue;
        }
        match (&mode, list_item(text)) {
            (Mode::Labels, Some((name, value))) => {
                block.labels.insert(name.to_owned(), value.to_owned());
                continue;
            }
            (Mode::Annotations, Some((name, value))) => {
                block.annotations.push((name.to_owned(), value.to_owned()));
                continue;
            }
            _ => {}
        }
        if let Some((to, address)) = link_line(text) {
            block.whole = true;
            block.links.push((to, address.to_owned()));
            continue;
        }
        if let (Mode::Annotations, Some((_, value))) = (&mode, block.annotations.last_mut())
            && value.chars().count() < LONGEST_ANNOTATION
        {
            value.push(' ');
            value.push_str(text);
        }
    }
    // Only of the last one the end can be missing.
    let last = all.len().saturating_sub(1);
    for (at, block) in all.iter_mut().enumerate() {
        block.whole |= at < last || !cut;
    }
    all.retain(|block| !block.labels.is_empty());
    all
}

fn is_labels(line: &str) -> bool {
    let line = bare(line);
    matches!(fold(line.trim()).as_str(), "labels:" | "labels" | "标签:")
}

/// ` - name = value`.
fn list_item(line: &str) -> Option<(&str, &str)> {
    let item = line.trim_start().strip_prefix(['-', '•', '·'])?;
    let (name, value) = item.split_once(" = ").or_else(|| {
        // An empty value, its blank trimmed.
        item.strip_suffix(" =").map(|name| (name, ""))
    })?;
    let name = name.trim();
    let plain = name
        .chars()
        .all(|c| c.is_alphanumeric() || matches!(c, '_' | '.' | '-' | '/' | ':'));
    (plain && !name.is_empty() && name.chars().count() <= 64).then_some((name, value.trim()))
}

fn link_line(line: &str) -> Option<(LinkTo, &str)> {
    [
        ("Source:", LinkTo::Source),
        ("Silence:", LinkTo::Silence),
        ("Dashboard:", LinkTo::Dashboard),
        ("Panel:", LinkTo::Dashboard),
        ("Runbook:", LinkTo::Runbook),
    ]
    .iter()
    .find_map(|(name, to)| line.strip_prefix(name).map(|address| (*to, address.trim())))
}

/// Bridges that write a field an alert: `[FIRING]: Name on instance` with its text.
fn items(part: &Part, grafana: bool) -> Option<Found> {
    let source = if grafana {
        AlertSource::Grafana
    } else {
        AlertSource::Alertmanager
    };
    let drafts: Vec<Draft> = part
        .fields
        .iter()
        .filter_map(|(name, value)| {
            let heading = Heading::of(name)?;
            let rest = heading.rest.trim_start_matches([':', ' ']);
            if rest.is_empty() {
                return None;
            }
            let (name, instance) = rest.split_once(" on ").unwrap_or((rest, ""));
            let mut draft = Draft::new(source, heading.status(), name);
            if !instance.is_empty() {
                draft
                    .labels
                    .insert("instance".to_owned(), instance.to_owned());
            }
            draft.heading = rest.to_owned();
            let lines: Vec<String> = value.lines().map(str::to_owned).collect();
            let pairs: Vec<(Pair, String)> = lines.iter().filter_map(|line| pair(line)).collect();
            draft.take(&pairs);
            if draft.level.is_none() {
                draft.level = heading.level();
            }
            if draft.summary.is_empty() {
                draft.summary = prose(&lines);
            }
            draft.link(LinkTo::Source, &part.url);
            Some(draft)
        })
        .collect();
    (!drafts.is_empty()).then(|| {
        Found::Alerts(Drafts {
            drafts,
            ..Drafts::default()
        })
    })
}

/// A message without a bracket that gives the rule's name and a status as fields or lines.
fn plain(part: &Part, grafana: bool) -> Option<Found> {
    let mut pairs: Vec<(Pair, String)> = pair(&part.head).into_iter().collect();
    pairs.extend(part.pairs());
    let status = pairs
        .iter()
        .find(|(pair, _)| *pair == Pair::Status)
        .and_then(|(_, value)| status_of(value))?;
    let name = pairs
        .iter()
        .find(|(pair, value)| *pair == Pair::Label("alertname") && !value.is_empty())
        .map(|(_, value)| value.clone())?;
    let source = if grafana {
        AlertSource::Grafana
    } else {
        AlertSource::Alertmanager
    };
    let mut draft = Draft::new(source, status, &name);
    draft.heading = bare(&part.head);
    draft.take(&pairs);
    links(&mut draft, part);
    Some(Found::one(draft))
}

fn links(draft: &mut Draft, part: &Part) {
    for line in &part.body {
        for (words, address) in masked_links(line) {
            let to = match Pair::of(words) {
                Some(Pair::Link(to)) => to,
                _ => LinkTo::Source,
            };
            draft.link(to, address);
        }
    }
    draft.link(LinkTo::Source, &part.url);
}

/// The first line that is no label and no link.
pub(super) fn prose(lines: &[String]) -> String {
    lines
        .iter()
        .map(|line| bare(line))
        .find(|line| {
            !line.is_empty()
                && pair(line).is_none()
                && !line.starts_with("http")
                && status_of(line).is_none()
                && line.chars().any(char::is_alphabetic)
        })
        .unwrap_or_default()
}

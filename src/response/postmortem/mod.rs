//! A postmortem, as teams write them in Markdown, becomes a record of memory.
//!
//! Wanted: what the document states, where it says it, and nothing else: a field that no heading,
//! label or plain sentence states stays empty. Many templates are read by what their headings
//! announce (`headings`), with times in many spellings (`dates`).
//!
//! A fix that the document names as what ended the incident counts as held (R28). A plan is no fix,
//! a workaround only mitigated, and a document that says that the trouble is still open or came back
//! proves nothing.
//!
//! Deliberately absent: guessing. Several incidents in one document are read as one, a day written
//! `03/04/2024` as none, and a document that states neither impact, cause nor fix is refused.

mod dates;
mod headings;
mod outline;

use crate::incident::words::{fold, is_cjk};
use crate::incident::{FixAttempt, IncidentId, Outcome, PastIncident, Registry, sameness};
use dates::{Frame, Moment};
use headings::{Part, of_label};
use jiff::{SignedDuration, Timestamp};
use outline::{Line, Outline, Section, outline};
use std::fmt;
use unicode_segmentation::UnicodeSegmentation;

/// Longest document that is read, in bytes.
pub const LONGEST_DOCUMENT: usize = 512 * 1024;
/// Longest cause, fix and prevention that are kept, in characters; they end where a sentence does.
const LONGEST_FIELD: usize = 1_500;
/// Longest title, in characters.
const LONGEST_TITLE: usize = 160;
/// Most symptoms, error lines and excluded causes of one record.
const MOST_LINES: usize = 8;
/// Longest of these, in characters.
const LONGEST_LINE: usize = 300;

/// What is known of a document beside its text.
#[derive(Clone, Copy, Debug)]
pub struct Origin<'a> {
    /// The file's name or the thread's: it may tell the day and, where the text has none, the title.
    pub name: &'a str,
    /// Where the record says that it comes from.
    pub source: &'a str,
    /// The services that are known.
    pub registry: &'a Registry,
}

/// Why a document is no incident.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NotRead {
    /// There is no text.
    Empty,
    /// Over [`LONGEST_DOCUMENT`].
    TooLong,
    /// It has the headings of a postmortem and nothing below them.
    Template,
    /// Nothing in it tells an impact, a cause or a fix.
    NoIncident,
}

impl fmt::Display for NotRead {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Empty => "it is empty",
            Self::TooLong => "it is longer than 512 KiB",
            Self::Template => "it is a template: its headings are there, and nothing below them",
            Self::NoIncident => "nothing in it tells an impact, a cause or a fix",
        })
    }
}

/// Reads one document.
///
/// # Errors
///
/// Why it is no incident.
pub fn read(text: &str, origin: &Origin<'_>) -> Result<PastIncident, NotRead> {
    if text.len() > LONGEST_DOCUMENT {
        return Err(NotRead::TooLong);
    }
    if text.trim().is_empty() {
        return Err(NotRead::Empty);
    }
    let outline = outline(text);
    let document = Document::new(&outline);
    let (cause, causes_by_prose) = document.cause();
    let fixes = document.fixes();
    let told = [
        Part::Impact,
        Part::Symptoms,
        Part::Timeline,
        Part::Detection,
    ]
    .iter()
    .any(|part| document.has(*part));
    if cause.is_empty() && fixes.is_empty() && !told && !document.is_of_trouble(origin) {
        let only_headings = outline.understood && !document.has(Part::Summary);
        return Err(if only_headings {
            NotRead::Template
        } else {
            NotRead::NoIncident
        });
    }
    let placeholder = IncidentId::new(1).ok_or(NotRead::NoIncident)?;
    let mut past = PastIncident::new(placeholder, document.title(origin));
    past.source = origin.source.to_owned();
    past.service = document.service(&past.title, origin);
    past.environment = document
        .fact(Part::Environment)
        .map(|environment| cut(&environment, 80));
    let times = document.times(&past.title, origin);
    past.started_at = times.started;
    past.resolved_at = times.resolved;
    past.symptoms = document.symptoms(&past.title, &cause, causes_by_prose);
    past.error_signatures = document.errors();
    past.root_cause = cause;
    past.ruled_out = document.ruled_out();
    past.prevention = document.prevention();
    past.attempts = fixes
        .into_iter()
        .map(|(fix, outcome)| FixAttempt {
            at: past.resolved_at,
            by: "postmortem".to_owned(),
            environment: past.environment.clone(),
            ..FixAttempt::new(fix, outcome)
        })
        .collect();
    Ok(past)
}

/// Whether a text says that what it tells had been there before.
pub fn says_it_came_back(text: &str) -> bool {
    any(&fold(text), CAME_BACK)
}

/// Words of a document that says so.
const CAME_BACK: &[&str] = &[
    "came back",
    "come back again",
    "recurred",
    "recurrence",
    "reoccurred",
    "happened again",
    "occurred again",
    "returned after",
    "broke again",
    "再次出现",
    "再次发生",
    "复发",
    "又出现",
    "又发生",
];

const NO_EFFECT: &[&str] = &[
    "no effect",
    "did not help",
    "didn't help",
    "didn’t help",
    "did not work",
    "didn't work",
    "didn’t work",
    "did not fix",
    "didn't fix",
    "without effect",
    "without success",
    "no improvement",
    "no change",
    "not effective",
    "ineffective",
    "failed",
    "to no avail",
    "无效",
    "没有效果",
    "未生效",
    "没有改善",
    "没用",
];

const MADE_WORSE: &[&str] = &[
    "made it worse",
    "made things worse",
    "worsened",
    "更糟",
    "恶化",
    "更严重",
];

const HELPED: &[&str] = &[
    "worked",
    "fixed",
    "resolved",
    "restored",
    "recovered",
    "helped",
    "successful",
    "held",
    "有效",
    "恢复",
    "解决",
    "成功",
];

const FOR_NOW: &[&str] = &[
    "workaround",
    "work around",
    "temporar",
    "stopgap",
    "for now",
    "short-term",
    "partially",
    "临时",
    "暂时",
    "权宜",
];

const STILL_OPEN: &[&str] = &[
    "open",
    "ongoing",
    "investigating",
    "monitoring",
    "unresolved",
    "not resolved",
    "in progress",
    "未解决",
    "处理中",
    "进行中",
    "调查中",
    "观察中",
];

/// What was done, said as done.
const MENDS: &[&str] = &[
    "rolled back",
    "rolling back",
    "rollback",
    "roll back",
    "reverted",
    "reverting",
    "restarted",
    "restarting",
    "rebooted",
    "restored",
    "mitigated",
    "to mitigate",
    "repaired",
    "replaced",
    "failed over",
    "failover",
    "fixed",
    "patched",
    "hotfix",
    "scaled",
    "disabled",
    "re-enabled",
    "reinstated",
    "rerouted",
    "redirected",
    "recovered",
    "resolved",
    "corrected",
    "deployed a",
    "was deployed",
    "removed",
    "deleted the",
    "terminated",
    "drained",
    "isolated",
    "blocked",
    "increased",
    "raised",
    "renewed",
    "cleared",
    "added capacity",
    "applied a",
    "was applied",
    "回滚",
    "重启",
    "扩容",
    "修复",
    "恢复",
    "切换",
    "下线",
    "禁用",
    "替换",
    "续期",
    "清理",
    "限流",
    "回退",
];

/// What is only meant to be done.
const PLANS: &[&str] = &[
    " will ",
    "we'll",
    "we’ll",
    "going to",
    "plan to",
    "plans to",
    "planning",
    "planned",
    "in the future",
    "in future",
    "are working",
    "is working on",
    "are investigating",
    "are implementing",
    "is implementing",
    "are adding",
    "are improving",
    "are taking steps",
    "are continuously",
    "continue to",
    "intend to",
    "should be",
    "to prevent",
    "to ensure",
    "to avoid",
    "will be",
    "is being",
    "are being",
    "efforts include",
    "将会",
    "计划",
    "后续",
    "今后",
    "拟",
];

const COURTESY: &[&str] = &[
    "apolog",
    "sincerely",
    "we know that you rely",
    "thank you",
    "thank our",
    "sorry",
    "our survey",
    "致歉",
    "抱歉",
];

const SAYS_CAUSE: &[&str] = &[
    "root cause was",
    "root cause is",
    "root cause of",
    "root cause:",
    "root caused",
    "根因是",
    "根因为",
    "根本原因是",
    "原因是",
];
const SAYS_CAUSE_TOO: &[&str] = &[
    "was caused by",
    "were caused by",
    "been caused by",
    "caused by",
    "was triggered by",
    "was due to",
    "were due to",
    "is due to",
    "because of",
    "was the result of",
    "resulted from",
    "由于",
    "是因为",
    "导致",
];

const LEADS_TO: &[&str] = &[
    " caused ",
    " led to ",
    " lead to ",
    " resulted in ",
    " triggered ",
    " due to ",
    "引起",
    "引发",
];

const SAYS_END: &[&str] = &[
    "resolved by",
    "fixed by",
    "mitigated by",
    "restored by",
    "solved by",
    "remedied by",
    "was resolved after",
    "was fixed after",
    "to resolve the",
    "to resolve this",
    "to fix the",
    "to fix this",
    "to mitigate the",
    "to mitigate this",
    "to restore service",
    "restored service by",
    "which resolved",
    "which fixed",
    "which mitigated",
    "which restored",
    "this resolved",
    "this fixed",
    "后恢复",
    "后故障恢复",
    "解决了",
    "得以解决",
];

fn any(folded: &str, words: &[&str]) -> bool {
    words.iter().any(|word| folded.contains(word))
}

fn mends(sentence: &str) -> bool {
    any(&fold(sentence), MENDS)
}

fn plans(sentence: &str) -> bool {
    any(&format!(" {} ", fold(sentence)), PLANS)
}

/// `At this stage engineers do not have a definitive root cause.`
fn is_not_known(sentence: &str) -> bool {
    let folded = fold(sentence);
    let cause = folded.contains("cause") || folded.contains("原因") || folded.contains("根因");
    cause
        && any(
            &folded,
            &[
                "do not have",
                "don't have",
                "not known",
                "unknown",
                "not yet",
                "to be determined",
                "under investigation",
                "being investigated",
                "continue to investigate",
                "could not be determined",
                "尚不",
                "未知",
                "调查中",
            ],
        )
}

fn is_courtesy(sentence: &str) -> bool {
    any(&fold(sentence), COURTESY)
}

/// Sentences of prose, in order.
fn sentences(text: &str) -> Vec<&str> {
    text.split_sentence_bounds()
        .flat_map(|sentence| sentence.split_inclusive(['。', '；', '！', '？']))
        .map(str::trim)
        .filter(|sentence| !sentence.is_empty())
        .collect()
}

/// At most so many characters, ended where a sentence ends if there is one.
fn cut(text: &str, most: usize) -> String {
    let text = text.trim();
    if text.chars().count() <= most {
        return text.to_owned();
    }
    let mut out = String::new();
    for sentence in sentences(text) {
        if out.chars().count() + sentence.chars().count() + 1 > most {
            break;
        }
        if !out.is_empty() {
            out.push(' ');
        }
        out.push_str(sentence);
    }
    if out.is_empty() {
        out = text.graphemes(true).take(most.saturating_sub(1)).collect();
        out.push('…');
    }
    out
}

/// Whether a value says that there is none, or asks for one.
fn says_nothing(text: &str) -> bool {
    let folded = fold(text);
    let bare = folded.trim_matches(|c: char| {
        c.is_whitespace()
            || matches!(
                c,
                '.' | '-' | '—' | '_' | '*' | '。' | '…' | '?' | '：' | ':'
            )
    });
    let wrapped = |open: char, close: char| {
        bare.starts_with(open) && bare.ends_with(close) && !bare.contains("](")
    };
    bare.is_empty()
        || matches!(
            bare,
            "tbd" | "tba" | "tbc" | "todo" | "n/a" | "na" | "none" | "nil" | "unknown" | "not known"
                | "not known yet" | "not yet known" | "pending" | "under investigation" | "xxx"
                | "to be determined" | "to be written" | "to be filled in" | "no comments added"
                | "待定" | "无" | "暂无" | "未知" | "待补充" | "调查中" | "不详" | "待查"
        )
        || wrapped('<', '>')
        || wrapped('[', ']')
        || wrapped('{', '}')
        // The question of a template, left unanswered.
        || (sentences(text).len() == 1 && folded.trim_end().ends_with(['?', '？']))
        || bare.starts_with("tbd ")
        || bare.starts_with("todo:")
        || bare.starts_with("describe ")
        || bare.starts_with("<describe")
}

/// An item without the mark that it is counted with.
fn without_count(text: &str) -> &str {
    let rest = text.trim_start_matches(|c: char| c.is_ascii_digit());
    match rest.strip_prefix(['.', ')', '、']) {
        Some(item)
            if rest.len() < text.len() && item.starts_with(|c: char| !c.is_ascii_digit()) =>
        {
            item.trim_start()
        }
        _ => text.trim_start_matches(['•', '●', '*', '·']).trim_start(),
    }
}

/// Lines as one text: prose runs on, items are kept apart.
fn prose(lines: &[&Line]) -> String {
    let mut out = String::new();
    for line in lines.iter().filter(|line| !line.code) {
        let text = without_count(&line.text);
        if says_nothing(text) {
            continue;
        }
        if !out.is_empty() {
            let ended = out.ends_with(['.', '!', '?', ':', ';', '。', '！', '？', '：', '；']);
            out.push_str(if line.item && !ended { "; " } else { " " });
        }
        out.push_str(text);
    }
    out
}

#[derive(Default)]
struct Times {
    started: Option<Timestamp>,
    resolved: Option<Timestamp>,
}

struct Document<'a> {
    outline: &'a Outline,
}

impl<'a> Document<'a> {
    fn new(outline: &'a Outline) -> Self {
        Self { outline }
    }

    fn sections(&self, part: Part) -> impl Iterator<Item = &'a Section> {
        self.outline
            .sections
            .iter()
            .filter(move |section| section.part == Some(part))
    }

    fn lines(&self, part: Part) -> Vec<&'a Line> {
        self.sections(part)
            .flat_map(|section| &section.lines)
            .collect()
    }

    fn text(&self, part: Part) -> String {
        let text = prose(&self.lines(part));
        let kept: Vec<&str> = sentences(&text)
            .into_iter()
            .filter(|sentence| !is_courtesy(sentence) && !is_not_known(sentence))
            .collect();
        kept.join(" ")
    }

    fn has(&self, part: Part) -> bool {
        !self.text(part).is_empty()
    }

    fn fact(&self, part: Part) -> Option<String> {
        self.lines(part)
            .into_iter()
            .map(|line| line.text.trim().trim_matches('`').to_owned())
            .find(|value| !says_nothing(value))
    }

    /// Prose that stands below no heading that is understood.
    fn open_text(&self) -> String {
        let lines: Vec<&Line> = self
            .outline
            .sections
            .iter()
            .filter(|section| matches!(section.part, None | Some(Part::Summary)))
            .flat_map(|section| &section.lines)
            .collect();
        prose(&lines)
    }

    /// Prose without a heading: its title or its first sentences speak of trouble.
    fn is_of_trouble(&self, origin: &Origin<'_>) -> bool {
        let troubles = |text: &str| {
            text.split_whitespace()
                .filter(|word| is_trouble(word))
                .count()
        };
        let text = self.open_text();
        let title = self.title(origin);
        !text.is_empty() && (troubles(&title) > 0 || troubles(&first(&text, 3)) >= 2)
    }

    fn title(&self, origin: &Origin<'_>) -> String {
        let of_name = || {
            let name = origin
                .name
                .rsplit_once('.')
                .map_or(origin.name, |(stem, _)| stem);
            let words = name.replace(['-', '_'], " ");
            without_day(&words)
        };
        let stated = self
            .fact(Part::Title)
            .or_else(|| self.outline.title.clone())
            .map(|title| without_genre(&title))
            .filter(|title| !says_nothing(title) && !is_genre(title));
        let title = stated
            .or_else(|| Some(of_name()).filter(|name| !says_nothing(name) && !is_genre(name)))
            .or_else(|| {
                let text = self.open_text();
                sentences(&text).first().map(|first| (*first).to_owned())
            })
            .unwrap_or_else(|| origin.name.to_owned());
        cut(&title, LONGEST_TITLE)
    }

    /// The service: a field of the document, else a known name in its title, else the name that the
    /// title begins with.
    fn service(&self, title: &str, origin: &Origin<'_>) -> Option<String> {
        let full = self
            .fact(Part::Title)
            .or_else(|| self.outline.title.clone());
        let full = full.as_deref().unwrap_or(title);
        if let Some(stated) = self.fact(Part::Service) {
            if let Some(known) = origin.registry.resolve(&stated) {
                return Some(known.to_owned());
            }
            let first = stated
                .split([',', ';', '、', '，', '·'])
                .map(|name| name.trim().trim_matches('`'))
                .find(|name| !name.is_empty() && !says_nothing(name))?;
            let known = origin.registry.resolve(first).unwrap_or(first);
            return Some(cut(known, 80));
        }
        let named = origin
            .registry
            .named_in(full)
            .or_else(|| origin.registry.named_in(origin.name));
        if let Some(name) = named {
            return Some(name.to_owned());
        }
        // An identifier is a name; words with capitals give way to a name that is known.
        let by_title = named_by_title(full);
        if by_title.as_deref().is_some_and(is_identifier) {
            return by_title;
        }
        let summary = self.open_text();
        let first = sentences(&summary).first().copied().unwrap_or_default();
        let known = origin.registry.named_in(first).map(str::to_owned);
        known.or(by_title)
    }

    /// The cause, and whether it had to be taken from a sentence of prose.
    fn cause(&self) -> (String, bool) {
        let own = self.text(Part::Cause);
        if !own.is_empty() {
            return (cut(&own, LONGEST_FIELD), false);
        }
        let both = self.text(Part::CauseAndFix);
        if !both.is_empty() {
            let all = sentences(&both);
            let from = all.iter().position(|sentence| mends(sentence));
            let cause: Vec<&str> = match from {
                Some(0) | None => all.first().copied().into_iter().collect(),
                Some(from) => all.iter().take(from).copied().collect(),
            };
            return (cut(&cause.join(" "), LONGEST_FIELD), false);
        }
        for part in [Part::Factors, Part::Trigger] {
            let text = self.text(part);
            if !text.is_empty() {
                return (cut(&text, LONGEST_FIELD), false);
            }
        }
        let mut text = self.open_text();
        for part in [Part::Impact, Part::Detection] {
            text.push(' ');
            text.push_str(&self.text(part));
        }
        let all = sentences(&text);
        for words in [SAYS_CAUSE, SAYS_CAUSE_TOO, LEADS_TO] {
            let found: Vec<&str> = all
                .iter()
                .copied()
                .filter(|sentence| {
                    let folded = fold(sentence);
                    any(&folded, words) && !sameness_denies(&folded) && !plans(sentence)
                })
                .take(2)
                .collect();
            if !found.is_empty() {
                return (cut(&found.join(" "), LONGEST_FIELD), true);
            }
        }
        (String::new(), true)
    }

    /// What was tried, in order, the last one being what ended it.
    fn fixes(&self) -> Vec<(String, Outcome)> {
        let mut out: Vec<(String, Outcome)> = Vec::new();
        for line in self.lines(Part::Failed) {
            out.push((
                without_count(&line.text).to_owned(),
                outcome_of(&line.text).unwrap_or(Outcome::NoEffect),
            ));
        }
        for line in self.lines(Part::Tried) {
            let outcome = outcome_of(&line.text).unwrap_or(Outcome::Unknown);
            out.push((without_count(&line.text).to_owned(), outcome));
        }
        let ended = self.ending();
        let mitigation = done(&self.text(Part::Mitigation));
        let fix = done(&self.text(Part::Fix));
        let both = self.text(Part::CauseAndFix);
        let and_prevention = self.text(Part::FixAndPrevention);
        let named_by_a_section = !(fix.is_empty() && mitigation.is_empty() && both.is_empty());
        if !fix.is_empty() {
            if !mitigation.is_empty() {
                out.push((mitigation, Outcome::Mitigated));
            }
            let outcome = ended.unwrap_or_else(|| held_or_for_now(&fix));
            out.push((fix, outcome));
        } else if !mitigation.is_empty() {
            let outcome = ended.unwrap_or_else(|| held_or_for_now(&mitigation));
            out.push((mitigation, outcome));
        } else if !both.is_empty() {
            let all = sentences(&both);
            let from = all.iter().position(|sentence| mends(sentence));
            if let Some(from) = from {
                let fix: Vec<&str> = all
                    .iter()
                    .skip(from)
                    .copied()
                    .filter(|sentence| !plans(sentence))
                    .collect();
                let fix = fix.join(" ");
                let outcome = ended.unwrap_or_else(|| held_or_for_now(&fix));
                out.push((fix, outcome));
            }
        }
        if !named_by_a_section && let Some(fix) = fix_of_both(&and_prevention) {
            let outcome = ended.unwrap_or_else(|| held_or_for_now(&fix));
            out.push((fix, outcome));
        }
        if out.is_empty() {
            out.extend(self.fix_in_prose(ended));
        }
        let workaround = done(&self.text(Part::Workaround));
        if out.is_empty() && !workaround.is_empty() {
            out.push((workaround, ended.unwrap_or(Outcome::Mitigated)));
        }
        out.retain(|(fix, _)| !says_nothing(fix));
        for (fix, _) in &mut out {
            *fix = cut(fix, LONGEST_FIELD);
        }
        out
    }

    fn fix_in_prose(&self, ended: Option<Outcome>) -> Option<(String, Outcome)> {
        let mut text = self.open_text();
        for part in [Part::Impact, Part::Detection, Part::Cause] {
            text.push(' ');
            text.push_str(&self.text(part));
        }
        let all = sentences(&text);
        let ends = |sentence: &&&str| {
            let folded = fold(sentence);
            any(&folded, SAYS_END) && !plans(sentence) && !sameness_denies(&folded)
        };
        if let Some(sentence) = all.iter().find(ends) {
            return Some((
                (*sentence).to_owned(),
                ended.unwrap_or_else(|| held_or_for_now(sentence)),
            ));
        }
        // Said to have been done, not that it ended anything.
        let done = all.iter().rev().find(|sentence| {
            let folded = fold(sentence);
            any(
                &folded,
                &[
                    "rolled back",
                    "reverted",
                    "reinstated",
                    "restarted",
                    "回滚了",
                    "重启了",
                    "failed over",
                ],
            ) && !plans(sentence)
                && !sameness_denies(&folded)
                && !any(&folded, SAYS_CAUSE_TOO)
        })?;
        Some(((*done).to_owned(), ended.unwrap_or(Outcome::Unknown)))
    }

    /// What the document says of how it ended, where it says it outright.
    fn ending(&self) -> Option<Outcome> {
        if let Some(outcome) = self.fact(Part::Outcome) {
            if let Some(parsed) = Outcome::parse(&outcome) {
                return Some(parsed);
            }
            return outcome_of(&outcome).map(|outcome| match outcome {
                Outcome::Mitigated => Outcome::Held,
                other => other,
            });
        }
        let status = fold(&self.fact(Part::Status)?);
        // `Complete, action items in progress`: the incident is over, the paperwork is not.
        let over = any(
            &status,
            &[
                "complete",
                "closed",
                "done",
                "final",
                "已解决",
                "已恢复",
                "已关闭",
            ],
        );
        if over && !status.contains("未") && !status.contains("incomplete") {
            return None;
        }
        (any(&status, STILL_OPEN) && !status.contains("resolved") || status.contains("unresolved"))
            .then_some(Outcome::Unknown)
    }

    fn symptoms(&self, title: &str, cause: &str, cause_in_prose: bool) -> Vec<String> {
        let mut out: Vec<String> = Vec::new();
        let mut add = |text: &str| {
            let text = cut(without_count(text), LONGEST_LINE);
            let known = text == title || out.contains(&text);
            let is_cause = cause_in_prose && cause.contains(text.as_str());
            if out.len() < MOST_LINES && !known && !is_cause && !says_nothing(&text) {
                out.push(text);
            }
        };
        for line in self.lines(Part::Symptoms) {
            add(&line.text);
        }
        for (part, most) in [(Part::Impact, 3), (Part::Summary, 3), (Part::Detection, 1)] {
            let text = self.text(part);
            for sentence in sentences(&text).into_iter().take(most) {
                add(sentence);
            }
        }
        let text = self.open_text();
        if self.lines(Part::Symptoms).is_empty() && !self.has(Part::Impact) {
            for sentence in sentences(&text)
                .into_iter()
                .filter(|sentence| !is_courtesy(sentence))
                .take(3)
            {
                add(sentence);
            }
        }
        out
    }

    fn errors(&self) -> Vec<String> {
        let mut out: Vec<String> = Vec::new();
        let stated = self.lines(Part::Errors);
        let in_code = self
            .outline
            .sections
            .iter()
            .flat_map(|section| &section.lines)
            .filter(|line| line.code && looks_like_an_error(&line.text));
        for line in stated.into_iter().chain(in_code) {
            let text = cut(line.text.trim_matches('`'), LONGEST_LINE);
            let telling = sameness::telling_signature(&text).is_some();
            if out.len() < MOST_LINES && telling && !says_nothing(&text) && !out.contains(&text) {
                out.push(text);
            }
        }
        out
    }

    fn ruled_out(&self) -> Vec<String> {
        let mut out: Vec<String> = self
            .lines(Part::RuledOut)
            .into_iter()
            .map(|line| cut(without_count(&line.text), LONGEST_LINE))
            .collect();
        let everywhere: Vec<&Line> = self
            .outline
            .sections
            .iter()
            .filter(|section| section.part != Some(Part::RuledOut))
            .flat_map(|section| &section.lines)
            .collect();
        for line in everywhere {
            for sentence in sentences(&line.text) {
                let folded = fold(sentence);
                if any(
                    &folded,
                    &[
                        "ruled out",
                        "was not the cause",
                        "were not the cause",
                        "turned out not to be",
                        "排除了",
                    ],
                ) && !any(
                    &folded,
                    &[
                        "not ruled out",
                        "cannot be ruled out",
                        "could not be ruled out",
                    ],
                ) {
                    out.push(cut(sentence, LONGEST_LINE));
                }
            }
        }
        out.retain(|cause| !says_nothing(cause));
        out.dedup();
        out.truncate(MOST_LINES);
        out
    }

    fn prevention(&self) -> String {
        let mut items: Vec<String> = Vec::new();
        for section in self.sections(Part::Prevention) {
            for line in section.lines.iter().filter(|line| !line.code) {
                let text = without_count(&line.text);
                if !says_nothing(text) && !is_courtesy(text) {
                    items.push(text.to_owned());
                }
            }
        }
        let both = self.text(Part::FixAndPrevention);
        for sentence in sentences(&both) {
            if plans(sentence) {
                items.push(sentence.to_owned());
            }
        }
        let mut out = String::new();
        for item in items {
            if out.chars().count() + item.chars().count() + 1 > LONGEST_FIELD {
                if out.is_empty() {
                    out = cut(&item, LONGEST_FIELD);
                }
                break;
            }
            if !out.is_empty() {
                out.push('\n');
            }
            out.push_str(&item);
        }
        out
    }

    fn times(&self, title: &str, origin: &Origin<'_>) -> Times {
        let zone = self
            .fact(Part::Zone)
            .as_deref()
            .and_then(dates::zone_named)
            .or_else(|| self.zone_in_words());
        let mut frame = Frame { day: None, zone };
        let full = self.outline.title.as_deref().unwrap_or(title);
        let summary = self.open_text();
        let impact = self.text(Part::Impact);
        let timeline = self.lines(Part::Timeline);
        let first_of_timeline = timeline
            .iter()
            .find_map(|line| dates::day(&line.text, &frame));
        frame.day = self
            .fact(Part::Date)
            .and_then(|date| dates::day(&date, &frame))
            .or_else(|| dates::day(full, &frame))
            .or_else(|| dates::day(&origin.name.replace('_', "-"), &frame))
            .or_else(|| dates::day(first(&summary, 3).as_str(), &frame))
            .or_else(|| dates::day(first(&impact, 2).as_str(), &frame))
            .or(first_of_timeline)
            .or_else(|| dates::day(&summary, &frame));
        let fact = |part: Part| -> Option<Moment> { dates::moment(&self.fact(part)?, &frame) };
        let started = fact(Part::Started);
        let resolved = fact(Part::Resolved).or_else(|| fact(Part::Mitigated));
        let span = [
            self.fact(Part::Date).unwrap_or_default(),
            self.fact(Part::Duration).unwrap_or_default(),
            first(&impact, 3),
            first(&summary, 4),
        ]
        .iter()
        .find_map(|text| dates::span(text, &frame));
        let marked = self.marked_times(&timeline, &frame);
        let date = fact(Part::Date).filter(|moment| !moment.day_only);
        let day = frame
            .day
            .and_then(|day| dates::moment(&day.to_string(), &Frame::default()));
        let exact = |moment: Option<Moment>| {
            moment
                .filter(|moment| !moment.day_only)
                .map(|moment| moment.at)
        };
        let mut times = Times {
            started: exact(started)
                .or(span.map(|(from, _)| from))
                .or(exact(date))
                .or(marked.started)
                .or(started.or(day).map(|moment| moment.at)),
            resolved: exact(resolved)
                .or(span.map(|(_, to)| to))
                .or(marked.resolved)
                .or(resolved.map(|moment| moment.at)),
        };
        if times.resolved.is_none()
            && let Some(from) = times.started
            && (exact(started).is_some() || exact(date).is_some() || marked.started.is_some())
            && let Some(minutes) = self
                .fact(Part::Duration)
                .and_then(|text| dates::minutes(&text))
        {
            times.resolved = from.checked_add(SignedDuration::from_mins(minutes)).ok();
        }
        // A resolution before the beginning was misread on one side: neither is trusted that far.
        if let (Some(from), Some(to)) = (times.started, times.resolved)
            && to < from
        {
            times.resolved = None;
        }
        times
    }

    /// `All times in UTC`, `时间均为北京时间`.
    fn zone_in_words(&self) -> Option<jiff::tz::TimeZone> {
        self.outline
            .sections
            .iter()
            .flat_map(|section| &section.lines)
            .filter(|line| {
                let folded = fold(&line.text);
                folded.contains("times") || folded.contains("时间均为") || folded.contains("时间为")
            })
            .find_map(|line| {
                line.text
                    .split(|c: char| {
                        c.is_whitespace() || matches!(c, '.' | ',' | ';' | '(' | ')' | '。')
                    })
                    .find_map(|word| {
                        let han = word.rsplit('为').next().unwrap_or(word);
                        (word.len() > 1).then(|| dates::zone_named(han)).flatten()
                    })
            })
    }

    /// Entries of the timeline that say that it began or was over.
    fn marked_times(&self, timeline: &[&Line], frame: &Frame) -> Times {
        const BEGAN: &[&str] = &[
            "outage begins",
            "outage began",
            "outage starts",
            "outage started",
            "incident begins",
            "incident began",
            "incident starts",
            "incident started",
            "impact begins",
            "impact began",
            "impact starts",
            "impact started",
            "start of incident",
            "start of impact",
            "start of outage",
            "故障开始",
            "故障发生",
            "开始受影响",
            "影响开始",
        ];
        const OVER: &[&str] = &[
            "outage ends",
            "outage ended",
            "outage over",
            "incident ends",
            "incident ended",
            "incident resolved",
            "incident is resolved",
            "incident over",
            "incident closed",
            "impact ends",
            "impact ended",
            "end of incident",
            "end of impact",
            "end of outage",
            "outage is over",
            "fully recovered",
            "service restored",
            "service is restored",
            "services restored",
            "full recovery",
            "all clear",
            "resolved",
            "故障恢复",
            "故障结束",
            "全部恢复",
            "恢复正常",
            "服务恢复",
        ];
        let mut frame = frame.clone();
        let mut times = Times::default();
        for line in timeline {
            if let Some(day) = dates::day(&line.text, &frame) {
                frame.day = Some(day);
            }
            let folded = fold(&line.text);
            let moment = || {
                dates::moment(&line.text, &frame)
                    .filter(|moment| !moment.day_only)
                    .map(|moment| moment.at)
            };
            if times.started.is_none() && any(&folded, BEGAN) {
                times.started = moment();
            }
            if any(&folded, OVER) && !any(&folded, &["not resolved", "unresolved", "未恢复"]) {
                times.resolved = moment().or(times.resolved);
            }
        }
        times
    }
}

fn first(text: &str, most: usize) -> String {
    let all: Vec<&str> = sentences(text).into_iter().take(most).collect();
    all.join(" ")
}

fn sameness_denies(folded: &str) -> bool {
    any(
        folded,
        &[
            "not caused by",
            "was not the",
            "no root cause",
            "root cause is unknown",
            "root cause is not known",
            "root cause was not",
            "not yet known",
            "could not be determined",
            "did not resolve",
            "not resolved by",
            "尚不清楚",
        ],
    )
}

/// What an entry says became of what was tried.
fn outcome_of(text: &str) -> Option<Outcome> {
    let folded = fold(text);
    if any(&folded, MADE_WORSE) {
        Some(Outcome::MadeWorse)
    } else if any(&folded, CAME_BACK) {
        Some(Outcome::CameBack)
    } else if any(&folded, NO_EFFECT) {
        Some(Outcome::NoEffect)
    } else if any(&folded, HELPED) {
        Some(Outcome::Mitigated)
    } else {
        None
    }
}

/// What a section says was done; what is only planned is left out.
fn done(text: &str) -> String {
    let all = sentences(text);
    let kept: Vec<&str> = all
        .iter()
        .copied()
        .filter(|sentence| !plans(sentence) || mends(sentence))
        .collect();
    kept.join(" ")
}

/// The part of a remediation that was done, before what is planned begins.
fn fix_of_both(text: &str) -> Option<String> {
    let all = sentences(text);
    let before: Vec<&str> = all
        .iter()
        .copied()
        .take_while(|sentence| !plans(sentence) || mends(sentence))
        .collect();
    let any_done = before.iter().any(|sentence| mends(sentence));
    any_done.then(|| before.join(" "))
}

fn held_or_for_now(fix: &str) -> Outcome {
    let folded = fold(fix);
    if any(&folded, CAME_BACK) {
        Outcome::CameBack
    } else if any(&folded, FOR_NOW) {
        Outcome::Mitigated
    } else {
        Outcome::Held
    }
}

fn looks_like_an_error(line: &str) -> bool {
    let folded = fold(line);
    any(
        &folded,
        &[
            "error",
            "exception",
            "fatal",
            "panic",
            "timeout",
            "timed out",
            "refused",
            "failed",
            "denied",
            "oom",
            "out of memory",
            "错误",
            "异常",
            "超时",
        ],
    ) && !line.trim_start().starts_with(['$', '#', '>'])
}

/// Words that say which kind of document it is, and not what it is about.
const GENRE: &[&str] = &[
    "postmortem",
    "post mortem",
    "post-mortem",
    "incident report",
    "incident review",
    "incident postmortem",
    "incident post-mortem",
    "root cause analysis",
    "rca",
    "pir",
    "coe",
    "retrospective",
    "故障复盘",
    "事故复盘",
    "复盘报告",
    "故障报告",
    "事故报告",
    "复盘",
];

fn is_genre(title: &str) -> bool {
    let bare = headings::bare(title);
    bare.is_empty()
        || bare == "incident"
        || GENRE.iter().any(|genre| genre.replace('-', " ") == bare)
        || of_label(title).is_some()
}

/// The title without *Postmortem:*, its day and its number in somebody's tracker.
fn without_genre(title: &str) -> String {
    let mut rest = without_day(title);
    loop {
        let folded = fold(&rest);
        let Some(genre) = GENRE.iter().find(|genre| folded.starts_with(**genre)) else {
            break;
        };
        let Some(after) = rest.get(genre.len()..) else {
            break;
        };
        let bare = after.trim_start();
        let cut = bare.trim_start_matches([':', '：', '-', '–', '—', '|', ' ']);
        let cut = ["for ", "of ", "on ", "from "]
            .iter()
            .find_map(|word| cut.strip_prefix(word))
            .unwrap_or(cut);
        // `RCAs of the year` begins with no genre.
        if cut.is_empty() || (cut.len() == after.len() && !genre.chars().any(is_cjk)) {
            break;
        }
        rest = without_day(cut);
    }
    rest.trim().to_owned()
}

/// A leading day of a title, which its record has a field for.
fn without_day(title: &str) -> String {
    let trimmed = title.trim();
    let digits = |text: &str| {
        text.chars()
            .take_while(|c| c.is_ascii_digit() || matches!(c, '-' | '/' | '.' | '_' | ' '))
            .collect::<String>()
    };
    let lead = digits(trimmed);
    let day = lead.trim_end_matches(['-', '/', '.', '_', ' ']);
    let written = day.replace([' ', '_'], "-");
    if day.len() >= 8 && dates::day(&written, &Frame::default()).is_some() {
        let rest = trimmed.get(day.len()..).unwrap_or_default();
        let rest = rest.trim_start_matches([':', '-', '–', '—', '_', '/', '.', ' ']);
        if !rest.is_empty() {
            return rest.to_owned();
        }
    }
    trimmed.to_owned()
}

/// Words of trouble: what a service is said to have had.
const TROUBLE: &[&str] = &[
    "outage",
    "incident",
    "disruption",
    "downtime",
    "unavailab",
    "degrad",
    "down",
    "event",
    "failure",
    "failures",
    "failing",
    "fails",
    "failed",
    "error",
    "errors",
    "latency",
    "slow",
    "issue",
    "issues",
    "problem",
    "problems",
    "unable",
    "intermittent",
    "impact",
    "broken",
    "crash",
    "timeout",
    "timeouts",
    "unreachable",
    "exhaustion",
    "overload",
    "leak",
    "loss",
    "mitigated",
    "recovered",
    "resolved",
    "investigating",
    "experiencing",
    "delays",
    "missing",
    "impacting",
    "impacted",
    "related",
    "accessing",
    "performing",
    "starvation",
    "deletion",
    "故障",
    "异常",
    "不可用",
    "超时",
    "中断",
    "宕机",
    "报错",
    "失败",
    "变慢",
    "告警",
];

fn is_trouble(word: &str) -> bool {
    let folded = fold(word);
    let bare = folded.trim_matches(|c: char| !c.is_alphanumeric());
    bare.starts_with(|c: char| c.is_ascii_digit())
        || TROUBLE.iter().any(|trouble| {
            if trouble.chars().any(is_cjk) {
                bare.contains(trouble)
            } else {
                bare == *trouble || (trouble.len() > 5 && bare.starts_with(trouble))
            }
        })
}

/// Words before a name that are none of it.
const BEFORE_A_NAME: &[&str] = &[
    "major",
    "minor",
    "partial",
    "full",
    "total",
    "global",
    "complete",
    "brief",
    "short",
    "long",
    "massive",
    "widespread",
    "production",
    "prod",
    "unexpected",
    "the",
    "a",
    "an",
    "our",
    "how",
    "initial",
    "why",
    "what",
    "when",
    "on",
    "in",
    "after",
    "during",
    "at",
    "summary",
    "of",
    "multiple",
];

const DAYS: &[&str] = &["mon", "tues", "wednes", "thurs", "fri", "satur", "sun"];

/// The name that a title gives: `Azure CDN - connectivity issues`, `payments-api outage`,
/// `Errors in Billing Portal`. `None` where its words are no name.
fn named_by_title(title: &str) -> Option<String> {
    let title = without_genre(title);
    let title = title.split('(').next().unwrap_or_default();
    let parts: Vec<&str> = title
        .split([':', '：', '|', '·', '–', '—'])
        .flat_map(|part| part.split(" - "))
        .map(str::trim)
        .filter(|part| !part.is_empty() && !is_genre(part))
        .collect();
    let several = parts.len() > 1;
    // A document that is called by one word is called by a name.
    if let [only] = parts.as_slice()
        && !only.contains(char::is_whitespace)
        && !is_trouble(only)
        && only.is_ascii()
    {
        return Some(cut(only, 80));
    }
    for part in &parts {
        let words: Vec<&str> = part
            .split_whitespace()
            .skip_while(|word| BEFORE_A_NAME.contains(&fold(word).as_str()))
            .collect();
        let trouble = words.iter().position(|word| is_trouble(word));
        let mut name: Vec<&str> = words
            .iter()
            .take(trouble.unwrap_or(words.len()))
            .copied()
            .collect();
        // `Feature Flags Service Outage`: the service is *Feature Flags*.
        if trouble.is_some()
            && name.len() > 1
            && name.last().is_some_and(|last| fold(last) == "service")
        {
            name.pop();
        }
        if is_name(&name, several || trouble.is_some() || parts.len() == 1) {
            return Some(cut(&name.join(" "), 80));
        }
        if let Some(name) = name_after_trouble(&words) {
            return Some(cut(&name, 80));
        }
        // `Mitigated - Graph API`: the name may stand in the next part; else the first one had it.
        if trouble != Some(0) {
            break;
        }
    }
    // `支付服务超时`
    let han = title.chars().filter(|c| is_cjk(*c)).count();
    if han >= 4 && han * 2 >= title.chars().count() {
        let at = TROUBLE
            .iter()
            .filter(|word| word.chars().any(is_cjk))
            .filter_map(|word| title.find(word))
            .min()?;
        let name = title.get(..at)?.trim();
        let short = name.chars().count();
        let named = name.ends_with("服务") || name.ends_with("系统") || name.is_ascii();
        if (2..=16).contains(&short) && named {
            return Some(name.to_owned());
        }
    }
    None
}

/// `Unable to access Azure Management Portal`, `issues with Billing API in Europe`.
fn name_after_trouble(words: &[&str]) -> Option<String> {
    const LEADS: &[&str] = &[
        "in",
        "with",
        "for",
        "of",
        "on",
        "to",
        "accessing",
        "access",
        "using",
    ];
    let capital = |word: &str| {
        word.chars()
            .find(|c| c.is_alphanumeric())
            .is_some_and(char::is_uppercase)
    };
    for (place, _) in words
        .iter()
        .enumerate()
        .filter(|(_, word)| LEADS.contains(&fold(word).as_str()))
    {
        let name: Vec<&str> = words
            .iter()
            .skip(place + 1)
            .skip_while(|word| fold(word) == "the")
            .take_while(|word| capital(word) && !is_trouble(word))
            .copied()
            .collect();
        let month = name
            .first()
            .is_some_and(|word| dates::day(&format!("{word} 1 2020"), &Frame::default()).is_some());
        if !month && (name.len() > 1 || is_name(&name, false)) && name.len() <= 6 {
            return Some(name.join(" "));
        }
    }
    None
}

fn is_identifier(name: &str) -> bool {
    !name.contains(char::is_whitespace) && name.contains(['-', '_', '.', '/'])
}

/// Whether words read as a name: an identifier, or each with a capital.
fn is_name(words: &[&str], stands_alone: bool) -> bool {
    if words.is_empty() || words.len() > 6 {
        return false;
    }
    if let [only] = words {
        let inner = only
            .trim_matches('`')
            .chars()
            .skip(1)
            .any(|c| matches!(c, '-' | '_' | '.') || c.is_uppercase() || c.is_ascii_digit());
        let capital = only.chars().next().is_some_and(char::is_uppercase);
        let is_day = DAYS.iter().any(|day| fold(only).starts_with(day));
        return !is_day && (inner || (stands_alone && capital && only.chars().count() > 2));
    }
    let small = |word: &str| matches!(word, "and" | "of" | "for" | "the" | "&" | "/" | ",");
    let starts_upper = |word: &&&str| {
        word.chars()
            .find(|c| c.is_alphanumeric())
            .is_some_and(|c| c.is_uppercase() || c.is_ascii_digit())
    };
    let capitals = words.iter().filter(starts_upper).count();
    let smalls = words.iter().filter(|word| small(word)).count();
    let first_capital = words
        .first()
        .and_then(|word| word.chars().next())
        .is_some_and(char::is_uppercase);
    first_capital && capitals + smalls >= words.len()
}

#[cfg(test)]
mod tests;

//! What a message in an alert channel says: which things are broken, and which are well again.
//!
//! Wanted: alerts of Alertmanager, Grafana, Uptime Kuma, PagerDuty, Datadog, Sentry, UptimeRobot and
//! GitHub are read whether they stand in the content, in embeds or in fields; a message about several
//! things is split by what is broken; what can't be read is said to be that, never guessed.
//!
//! Each source is known by the form of its messages, not by the name of a webhook, which anybody
//! types. Status is read from the places where a source writes it (the bracket or heading that begins
//! a message, a list's heading, a field), never from words in a description: a firing alert may
//! well say "RESOLVED". Nothing that a person typed is an alert, nor what this bot wrote, nor a quote.
//!
//! Where Discord's limits cut a message, the alerts that it still shows are read; one whose labels
//! are cut only where its service stands among them ([`Alert::partial`]). The others are counted
//! ([`Reading::unread`]) as far as the message's heading tells, and belong to no service.
//!
//! Deliberately absent: what happens to an alert, and any effect of what an alert *says*: its words
//! are data.

mod changes;
mod group;
mod named;
#[cfg(test)]
mod tests;

use crate::incident::alert::{
    Alert, AlertKey, AlertLink, AlertService, AlertSource, AlertStatus, COPIES, LONGEST_NAME,
    LONGEST_VALUE, LinkTo, MOST_COPIES, MOST_LABELS, MOST_LINKS, Purpose, severity_of_level,
    without_port,
};
use crate::incident::link::web_address;
use crate::incident::post::{Embed, Post, Writer};
use crate::incident::service::{Names, Registry};
use crate::incident::words::{fold, is_cjk};
use std::collections::BTreeMap;
use std::fmt;

pub use changes::read as read_changes;

/// Characters of a message that are read; Discord allows 10,000 in content and embeds.
const MOST_READ: usize = 32_000;
/// Alerts of one message; more are counted as unread.
const MOST_ALERTS: usize = 200;
/// Characters of a summary.
const LONGEST_SUMMARY: usize = 300;

/// What a message says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reading {
    /// The broken things, each once, in the order of the message.
    pub alerts: Vec<Alert>,
    /// How many more the message says that it lists, and doesn't show.
    pub unread: Unread,
    /// Discord's limit, or the sender's, cut the message.
    pub cut: bool,
}

impl Reading {
    /// Firing as long as anything in it fires, also what was cut off.
    pub fn status(&self) -> AlertStatus {
        let fires = |alert: &Alert| alert.status() == AlertStatus::Firing;
        if self.unread.firing > 0 || self.alerts.iter().any(fires) {
            AlertStatus::Firing
        } else {
            AlertStatus::Resolved
        }
    }

    /// All that it lists, seen or not.
    pub fn count(&self) -> u32 {
        let seen = self
            .alerts
            .iter()
            .map(|a| a.firing.saturating_add(a.resolved));
        seen.fold(0, u32::saturating_add)
            .saturating_add(self.unread.firing)
            .saturating_add(self.unread.resolved)
    }
}

/// Alerts of which only the number is known.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Unread {
    /// That fire.
    pub firing: u32,
    /// That are resolved.
    pub resolved: u32,
}

/// Why a message is not read as an alert.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NotAnAlert {
    /// Somebody typed or forwarded it.
    ByAPerson,
    /// This bot wrote it.
    Ours,
    /// It says nothing.
    Empty,
    /// It is about an alert and changes nothing: somebody acknowledged it, it was reassigned.
    AboutAnAlert(AlertSource),
    /// No known form of an alert.
    Unknown,
}

impl fmt::Display for NotAnAlert {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::ByAPerson => f.write_str("written by a person"),
            Self::Ours => f.write_str("written by this bot"),
            Self::Empty => f.write_str("no text"),
            Self::AboutAnAlert(source) => {
                write!(f, "about an alert of {}, changes nothing", source.name())
            }
            Self::Unknown => f.write_str("no known form of an alert"),
        }
    }
}

/// Reads the alerts of a message.
///
/// # Errors
/// Why it is none.
pub fn read(post: &Post, registry: &Registry) -> Result<Reading, NotAnAlert> {
    match post.by {
        Writer::Person => return Err(NotAnAlert::ByAPerson),
        Writer::Us => return Err(NotAnAlert::Ours),
        Writer::Bot | Writer::Webhook => {}
    }
    let parts = parts(post);
    if parts.iter().all(Part::is_empty) {
        return Err(NotAnAlert::Empty);
    }
    let mut drafts = Vec::new();
    let mut unread = Unread::default();
    let mut cut = false;
    let mut about = None;
    let find = |part: &Part| named::read(post, part).or_else(|| group::read(post, part));
    let mut found: Vec<Found> = parts.iter().filter_map(find).collect();
    if found.is_empty() && !post.embeds.is_empty() {
        // A box may be the preview of an address in the content.
        found.extend(find(&content_of(post)));
    }
    for found in found {
        match found {
            Found::Alerts(found) => {
                drafts.extend(found.drafts);
                unread.firing = unread.firing.saturating_add(found.unread.firing);
                unread.resolved = unread.resolved.saturating_add(found.unread.resolved);
                cut |= found.cut;
            }
            Found::About(source) => about = about.or(Some(source)),
        }
    }
    if drafts.is_empty() && unread == Unread::default() {
        return Err(about.map_or(NotAnAlert::Unknown, NotAnAlert::AboutAnAlert));
    }
    let mut alerts: Vec<Alert> = Vec::new();
    let names = registry.names();
    for draft in drafts {
        let firing = draft.status == AlertStatus::Firing;
        let alert = draft.finish(&names);
        if alert.partial && alert.service.is_none() {
            if firing {
                unread.firing = unread.firing.saturating_add(1);
            } else {
                unread.resolved = unread.resolved.saturating_add(1);
            }
        } else if let Some(known) = alerts.iter_mut().find(|known| known.key == alert.key) {
            join(known, alert);
        } else if alerts.len() < MOST_ALERTS {
            alerts.push(alert);
        } else if firing {
            unread.firing = unread.firing.saturating_add(1);
        } else {
            unread.resolved = unread.resolved.saturating_add(1);
        }
    }
    Ok(Reading {
        alerts,
        unread,
        cut,
    })
}

/// Another copy of the same broken thing, in the same message.
fn join(known: &mut Alert, other: Alert) {
    known.firing = known.firing.saturating_add(other.firing);
    known.resolved = known.resolved.saturating_add(other.resolved);
    for (all, more) in [
        (&mut known.firing_on, other.firing_on),
        (&mut known.resolved_on, other.resolved_on),
    ] {
        for copy in more {
            if all.len() < MOST_COPIES {
                all.insert(copy);
            }
        }
    }
    if other.severity > known.severity {
        known.severity = other.severity;
        known.level = other.level;
    }
    known.partial &= other.partial;
    known.started_ms = match (known.started_ms, other.started_ms) {
        (Some(one), Some(other)) => Some(one.min(other)),
        (one, other) => one.or(other),
    };
    for link in other.links {
        if known.links.len() < MOST_LINKS && !known.links.contains(&link) {
            known.links.push(link);
        }
    }
}

/// What a source's reader finds in a part of a message.
enum Found {
    Alerts(Drafts),
    About(AlertSource),
}

#[derive(Default)]
struct Drafts {
    drafts: Vec<Draft>,
    unread: Unread,
    cut: bool,
}

impl Found {
    fn one(draft: Draft) -> Self {
        Self::Alerts(Drafts {
            drafts: vec![draft],
            ..Drafts::default()
        })
    }
}

/// An alert as its source's reader gives it, before the registry is asked.
struct Draft {
    source: AlertSource,
    status: AlertStatus,
    purpose: Purpose,
    name: String,
    level: Option<String>,
    labels: BTreeMap<String, String>,
    summary: String,
    /// Title and the like: where a registered service may be named.
    heading: String,
    links: Vec<AlertLink>,
    started_ms: Option<i64>,
    /// Some of its labels are cut off.
    partial: bool,
}

impl Draft {
    fn new(source: AlertSource, status: AlertStatus, name: &str) -> Self {
        Self {
            source,
            status,
            purpose: Purpose::Fault,
            name: name.to_owned(),
            level: None,
            labels: BTreeMap::new(),
            summary: String::new(),
            heading: String::new(),
            links: Vec::new(),
            started_ms: None,
            partial: false,
        }
    }

    fn link(&mut self, to: LinkTo, text: &str) {
        let Some(address) = web_address(text) else {
            return;
        };
        let known = self.links.iter().any(|link| link.address == address);
        if !known && self.links.len() < MOST_LINKS {
            self.links.push(AlertLink { to, address });
        }
    }

    /// Takes what stands as `name: value`: labels, the level, links, the start, the summary.
    fn take(&mut self, pairs: &[(Pair, String)]) {
        for (pair, value) in pairs {
            match pair {
                Pair::Label("severity") => {
                    if self.level.is_none() && !value.is_empty() {
                        self.level = Some(value.clone());
                    }
                }
                Pair::Label("summary") => {
                    if self.summary.is_empty() {
                        self.summary.clone_from(value);
                    }
                }
                Pair::Label(label) => {
                    self.labels
                        .entry((*label).to_owned())
                        .or_insert_with(|| value.clone());
                }
                Pair::Link(to) => self.link(*to, value),
                Pair::Started => self.started_ms = self.started_ms.or(time_of(value)),
                Pair::Status => {}
            }
        }
    }

    fn finish(mut self, names: &Names<'_>) -> Alert {
        let labels: BTreeMap<String, String> = self
            .labels
            .iter()
            .map(|(label, value)| (one_line(label, 64), one_line(value, LONGEST_VALUE)))
            .filter(|(label, value)| !label.is_empty() && !value.is_empty())
            .take(MOST_LABELS)
            .collect();
        self.labels = labels;
        if self.level.is_none() {
            self.level = ["severity", "priority", "level", "urgency"]
                .iter()
                .find_map(|label| self.labels.get(*label).cloned());
        }
        let level = self
            .level
            .take()
            .map(|level| one_line(&level, 40))
            .filter(|level| !level.is_empty());
        let name = match one_line(&self.name, LONGEST_NAME) {
            name if name.is_empty() => self.source.name().to_owned(),
            name => name,
        };
        let service = service_of(&self, &name, names);
        let copies: Option<String> = COPIES
            .iter()
            .find_map(|label| self.labels.get(*label))
            .map(|copy| without_port(copy).to_owned());
        let on = |status| {
            let here = copies.iter().filter(|_| self.status == status);
            here.cloned().collect()
        };
        let purpose = match (self.purpose, fold(&name).as_str()) {
            (
                Purpose::Fault,
                "watchdog" | "deadmansswitch" | "deadmanssnitch" | "infoinhibitor",
            ) => Purpose::Heartbeat,
            (Purpose::Fault, "testalert") => Purpose::Test,
            (purpose, _) => purpose,
        };
        Alert {
            key: AlertKey::of(
                &name,
                service.as_ref().map(|service| service.name.as_str()),
                &self.labels,
                names,
            ),
            source: self.source,
            purpose,
            severity: level.as_deref().and_then(severity_of_level),
            level,
            summary: one_line(&self.summary, LONGEST_SUMMARY),
            firing: u32::from(self.status == AlertStatus::Firing),
            resolved: u32::from(self.status == AlertStatus::Resolved),
            firing_on: on(AlertStatus::Firing),
            resolved_on: on(AlertStatus::Resolved),
            started_ms: self.started_ms,
            partial: self.partial,
            links: self.links,
            labels: self.labels,
            name,
            service,
        }
    }
}

/// Labels that name a service outright.
const NAMES_A_SERVICE: &[&str] = &[
    "service",
    "service_name",
    "svc",
    "app",
    "application",
    "app_kubernetes_io_name",
    "label_app_kubernetes_io_name",
    "k8s_app",
];
/// Labels that may name one: taken where the registry knows it, the first six also as they are
/// written where nothing else names a service.
const MAY_NAME_A_SERVICE: &[&str] = &[
    "deployment",
    "statefulset",
    "daemonset",
    "workload",
    "job",
    "job_name",
    "component",
    "container",
    "project",
    "repository",
    "app_kubernetes_io_instance",
    "monitor",
    "queue",
    "topic",
    "database",
    "namespace",
    "url",
];
const TAKEN_AS_WRITTEN: usize = 6;
/// Those who watch: a label that names one of them says who looked, not what is broken.
const WATCHERS: &[&str] = &[
    "exporter",
    "kube-state-metrics",
    "kubelet",
    "cadvisor",
    "blackbox",
    "prometheus",
    "pushgateway",
    "alertmanager",
    "telegraf",
    "grafana",
    "kubernetes-",
    "apiserver",
    "integrations/",
];

/// The service of an alert: a label that names one outright, then what the registry knows of its
/// other labels, hosts and title. Never from a description, which names others too.
fn service_of(draft: &Draft, name: &str, names: &Names<'_>) -> Option<AlertService> {
    let label = |label: &&'static str| {
        let value = draft.labels.get(*label)?;
        Some((*label, value.as_str()))
    };
    let known = |(label, value): (&'static str, &str)| {
        resolve(names, value).map(|name| AlertService {
            name: name.to_owned(),
            registered: true,
            from: label.to_owned(),
        })
    };
    let written = |(label, value): (&'static str, &str)| {
        may_be_a_name(value).then(|| AlertService {
            name: value.trim().to_owned(),
            registered: false,
            from: label.to_owned(),
        })
    };
    let outright = || NAMES_A_SERVICE.iter().filter_map(label);
    let maybe = || MAY_NAME_A_SERVICE.iter().filter_map(label);
    let titles = [name, &draft.heading, &draft.summary];
    let titled = || {
        titles
            .iter()
            .find_map(|text| names.named_in(text))
            .map(|name| AlertService {
                name: name.to_owned(),
                registered: true,
                from: "title".to_owned(),
            })
    };
    let named = |(label, value): (&'static str, &str)| {
        known((label, value)).or_else(|| {
            names.named_in(value).map(|name| AlertService {
                name: name.to_owned(),
                registered: true,
                from: label.to_owned(),
            })
        })
    };
    outright()
        .find_map(named)
        .or_else(|| outright().find_map(written))
        .or_else(|| maybe().find_map(known))
        .or_else(|| COPIES.iter().filter_map(label).find_map(known))
        .or_else(titled)
        .or_else(|| maybe().take(TAKEN_AS_WRITTEN).find_map(written))
}

/// A registered service by a name, a pod, a host or an address.
fn resolve<'r>(names: &Names<'r>, value: &str) -> Option<&'r str> {
    let value = value.trim();
    if value.is_empty() || value.chars().count() > LONGEST_VALUE {
        return None;
    }
    if let Some(name) = names.resolve(value) {
        return Some(name);
    }
    let rest = value.split_once("://").map_or(value, |(_, rest)| rest);
    let host = rest.split(['/', '?', '#']).next().unwrap_or_default();
    let host = without_port(host);
    // `acme/payments-api`, `payments-api-7.prod.internal`, `www.payments-api.test`.
    let last_of_path = rest.rsplit('/').next().filter(|last| *last != rest);
    let first = host
        .split('.')
        .find(|label| !label.is_empty() && *label != "www");
    [Some(host), last_of_path, first]
        .into_iter()
        .flatten()
        .filter(|part| part.chars().any(char::is_alphabetic))
        .find_map(|part| {
            let unnumbered = part
                .trim_end_matches(|c: char| c.is_ascii_digit())
                .trim_end_matches('-');
            names
                .resolve(part)
                .or_else(|| names.resolve(unnumbered).filter(|_| !unnumbered.is_empty()))
        })
}

/// A label's value that can stand as a service's name.
fn may_be_a_name(value: &str) -> bool {
    let value = value.trim();
    let folded = fold(value);
    !value.is_empty()
        && value.chars().count() <= 60
        && value.split_whitespace().count() <= 3
        && value.chars().any(char::is_alphabetic)
        && !value.contains("://")
        && value
            .chars()
            .all(|c| c.is_alphanumeric() || c.is_whitespace() || "-_./".contains(c))
        && !WATCHERS.iter().any(|watcher| folded.contains(watcher))
        && folded != "node"
}

/// A box or the content of a message, as lines.
struct Part {
    /// The line that begins it: title, or first line.
    head: String,
    /// The lines below, markers of code taken out.
    body: Vec<String>,
    fields: Vec<(String, String)>,
    url: String,
    author: String,
    footer: String,
    at_ms: Option<i64>,
}

impl Part {
    fn is_empty(&self) -> bool {
        self.head.is_empty() && self.body.is_empty() && self.fields.is_empty()
    }

    /// Whether the body's last words are missing.
    fn is_cut(&self) -> bool {
        let last = self.body.iter().rev().find(|line| !line.trim().is_empty());
        last.is_some_and(|line| {
            let line = line.trim_end();
            line.ends_with('…') || line.ends_with("...")
        })
    }

    fn pairs(&self) -> Vec<(Pair, String)> {
        let fields = self.fields.iter().filter_map(|(name, value)| {
            let pair = Pair::of(name)?;
            Some((pair, bare(value)))
        });
        let lines = self.body.iter().filter_map(|line| pair(line));
        fields.chain(lines).collect()
    }
}

/// The boxes of a message, each once, then its content where there is no box. Content beside boxes
/// belongs to the first of them: Grafana lists its alerts there.
fn parts(post: &Post) -> Vec<Part> {
    let mut left = MOST_READ;
    let mut take = |text: &str| -> String {
        let taken: String = text.chars().take(left).collect();
        left = left.saturating_sub(taken.chars().count());
        taken
    };
    let content = take(&post.content);
    let content = lines(&content);
    let mut seen: Vec<&Embed> = Vec::new();
    let mut parts = Vec::new();
    for embed in &post.embeds {
        if seen.contains(&embed) {
            continue;
        }
        seen.push(embed);
        let title = take(embed.title.trim());
        let mut body = lines(&take(&embed.description));
        let head = if title.is_empty() {
            first_of(&mut body)
        } else {
            title
        };
        parts.push(Part {
            head,
            body,
            fields: embed
                .fields
                .iter()
                .take(25)
                .map(|(name, value)| (take(name), take(value)))
                .collect(),
            url: embed.url.clone(),
            author: embed.author.trim().to_owned(),
            footer: embed.footer.trim().to_owned(),
            at_ms: embed.at_ms,
        });
    }
    match parts.first_mut() {
        None => parts.push(content_of(post)),
        // A preview of a link, or a box without words: what counts is in the content.
        Some(first) if first.is_empty() => parts = vec![content_of(post)],
        Some(first) => {
            if first.head.is_empty() {
                first.head = content_of(post).head;
            }
            let mut body = content;
            body.append(&mut first.body);
            first.body = body;
        }
    }
    parts
}

/// The content of a message alone.
fn content_of(post: &Post) -> Part {
    let content: String = post.content.chars().take(MOST_READ).collect();
    let mut body = lines(&content);
    Part {
        head: first_of(&mut body),
        body,
        fields: Vec::new(),
        url: String::new(),
        author: String::new(),
        footer: String::new(),
        at_ms: None,
    }
}

fn first_of(lines: &mut Vec<String>) -> String {
    let Some(at) = lines.iter().position(|line| !line.trim().is_empty()) else {
        lines.clear();
        return String::new();
    };
    lines.drain(..=at).next_back().unwrap_or_default()
}

/// A text's lines without the marks of code blocks; what is quoted is left out.
fn lines(text: &str) -> Vec<String> {
    let mut quoted = false;
    text.lines()
        .filter(|line| {
            let start = line.trim_start();
            quoted |= start.starts_with(">>> ");
            !quoted && !start.starts_with("> ") && !start.starts_with("```")
        })
        .map(|line| line.trim_end().replace("```", ""))
        .collect()
}

/// What the name of a field, or the word before a colon, says of what follows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Pair {
    Label(&'static str),
    Link(LinkTo),
    Started,
    Status,
}

/// Names of fields, folded, English and Chinese.
const PAIRS: &[(&[&str], Pair)] = &[
    (
        &[
            "alertname",
            "alert name",
            "alert",
            "rule",
            "rule name",
            "告警名称",
            "告警",
            "报警名称",
            "规则",
            "规则名称",
            "监控项",
        ],
        Pair::Label("alertname"),
    ),
    (
        &[
            "severity",
            "priority",
            "level",
            "urgency",
            "级别",
            "等级",
            "告警级别",
            "告警等级",
            "严重程度",
            "严重级别",
            "严重性",
            "优先级",
        ],
        Pair::Label("severity"),
    ),
    (
        &[
            "service",
            "service name",
            "services",
            "impacted service",
            "服务",
            "服务名",
            "服务名称",
        ],
        Pair::Label("service"),
    ),
    (
        &["app", "application", "应用", "应用名称"],
        Pair::Label("app"),
    ),
    (&["job", "任务"], Pair::Label("job")),
    (&["deployment", "workload"], Pair::Label("deployment")),
    (&["component", "组件"], Pair::Label("component")),
    (&["container", "容器"], Pair::Label("container")),
    (&["project", "项目"], Pair::Label("project")),
    (&["namespace", "命名空间"], Pair::Label("namespace")),
    (&["env", "environment", "环境"], Pair::Label("env")),
    (&["cluster", "集群"], Pair::Label("cluster")),
    (&["region", "区域", "地域"], Pair::Label("region")),
    (&["instance", "实例"], Pair::Label("instance")),
    (&["host", "hostname", "主机", "服务器"], Pair::Label("host")),
    (&["pod"], Pair::Label("pod")),
    (&["node", "节点"], Pair::Label("node")),
    (&["queue", "队列"], Pair::Label("queue")),
    (&["topic", "主题"], Pair::Label("topic")),
    (&["device"], Pair::Label("device")),
    (&["mountpoint"], Pair::Label("mountpoint")),
    (&["monitor", "monitor name", "监控"], Pair::Label("monitor")),
    (
        &["service url", "monitor url", "target", "服务地址"],
        Pair::Label("url"),
    ),
    (
        &[
            "summary",
            "message",
            "description",
            "reason",
            "error",
            "details",
            "root cause",
            "摘要",
            "描述",
            "详情",
            "内容",
            "原因",
            "错误",
        ],
        Pair::Label("summary"),
    ),
    (
        &["status", "state", "current state", "状态", "当前状态"],
        Pair::Status,
    ),
    (
        &[
            "runbook",
            "runbook url",
            "runbook_url",
            "playbook",
            "处理手册",
            "手册",
        ],
        Pair::Link(LinkTo::Runbook),
    ),
    (
        &[
            "dashboard",
            "dashboard url",
            "panel",
            "panel url",
            "看板",
            "面板",
        ],
        Pair::Link(LinkTo::Dashboard),
    ),
    (
        &[
            "source",
            "generator url",
            "generatorurl",
            "link",
            "url",
            "view",
            "来源",
            "链接",
        ],
        Pair::Link(LinkTo::Source),
    ),
    (&["silence", "静默"], Pair::Link(LinkTo::Silence)),
    (
        &[
            "started",
            "started at",
            "starts at",
            "startsat",
            "since",
            "went offline",
            "triggered at",
            "开始时间",
            "触发时间",
            "故障时间",
        ],
        Pair::Started,
    ),
];

impl Pair {
    fn of(name: &str) -> Option<Self> {
        let folded = fold(&bare(name));
        let name = folded.trim_matches(|c: char| !c.is_alphanumeric());
        PAIRS
            .iter()
            .find(|(names, _)| names.contains(&name))
            .map(|(_, pair)| *pair)
    }
}

/// A line of the form `name: value` or `- name = value` whose name is known.
fn pair(line: &str) -> Option<(Pair, String)> {
    let (name, value) = split_pair(line)?;
    let pair = Pair::of(name)?;
    Some((pair, bare(value)))
}

fn split_pair(line: &str) -> Option<(&str, &str)> {
    let equals = line.split_once(" = ");
    let colon = line.split_once([':', '：']);
    let (name, value) = match (equals, colon) {
        (Some(one), Some(other)) if other.0.len() < one.0.len() => other,
        (Some(one), _) => one,
        (None, other) => other?,
    };
    (name.chars().count() <= 40).then_some((name, value))
}

/// A text without the marks that Discord turns into looks, invisible characters and the mentions
/// that stand in front; of `[words](address)` the words stay, of a lone `<address>` the address.
fn bare(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '*' | '`' | '~' | '|' | '\u{200b}'..='\u{200f}' | '\u{2060}' | '\u{feff}' => {}
            '\t' | '\r' | '\n' => out.push(' '),
            c if c.is_control() => {}
            c => out.push(c),
        }
    }
    let out = without_masks(&out);
    let mut rest = out.trim();
    loop {
        let before = rest;
        for everyone in ["@everyone", "@here"] {
            rest = rest.strip_prefix(everyone).unwrap_or(rest).trim_start();
        }
        if let Some((mention, after)) = rest
            .strip_prefix("<@")
            .and_then(|inside| inside.split_once('>'))
            && mention
                .chars()
                .all(|c| c.is_ascii_digit() || matches!(c, '&' | '!'))
        {
            rest = after.trim_start();
        }
        if rest == before {
            break;
        }
    }
    match rest
        .strip_prefix('<')
        .and_then(|inside| inside.strip_suffix('>'))
    {
        Some(address) if address.contains("://") => address.to_owned(),
        _ => rest.to_owned(),
    }
}

/// `[words](address)` as its words.
fn without_masks(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, after)) = rest.split_once("](") {
        let (Some((lead, words)), Some((_, tail))) =
            (before.rsplit_once('['), after.split_once(')'))
        else {
            out.push_str(before);
            out.push_str("](");
            rest = after;
            continue;
        };
        out.push_str(lead);
        out.push_str(words);
        rest = tail;
    }
    out.push_str(rest);
    out
}

/// The addresses of the masked links of a text, with their words.
fn masked_links(text: &str) -> Vec<(&str, &str)> {
    let mut found = Vec::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once("](") {
        rest = after;
        if let (Some((_, words)), Some((address, tail))) =
            (before.rsplit_once('['), after.split_once(')'))
        {
            let address = address.split_whitespace().next().unwrap_or_default();
            found.push((words, address.trim_matches(['<', '>'])));
            rest = tail;
        }
        if found.len() >= 2 * MOST_LINKS {
            break;
        }
    }
    found
}

/// One line of at most so many characters.
fn one_line(text: &str, most: usize) -> String {
    let words: Vec<&str> = text.split_whitespace().collect();
    let line = words.join(" ");
    let line: String = line.chars().filter(|c| !c.is_control()).collect();
    if line.chars().count() <= most {
        return line;
    }
    let mut short: String = line.chars().take(most.saturating_sub(1)).collect();
    short.push('…');
    short
}

/// What stands before the words of a heading: emoji, bullets, marks of headings.
fn without_ornament(text: &str) -> &str {
    text.trim_start_matches(|c: char| {
        !c.is_alphanumeric() && !matches!(c, '[' | '【' | '(' | '<' | '/')
    })
    .trim_end_matches(|c: char| {
        !c.is_alphanumeric() && !c.is_ascii_punctuation() && !is_cjk(c) && c != '】' && c != '…'
    })
}

/// A time as alerts write it: `<t:1760100000:F>`, seconds or milliseconds since 1970, RFC 3339, or
/// `2026-10-01 00:12:33` in UTC.
fn time_of(text: &str) -> Option<i64> {
    let text = text.trim();
    if let Some((seconds, _)) = text
        .strip_prefix("<t:")
        .and_then(|rest| rest.split_once(['>', ':']))
    {
        return seconds.parse::<i64>().ok()?.checked_mul(1000);
    }
    if text.bytes().all(|b| b.is_ascii_digit()) {
        let number = text.parse::<i64>().ok()?;
        return match text.len() {
            10 => number.checked_mul(1000),
            13 => Some(number),
            _ => None,
        };
    }
    if let Ok(time) = text.parse::<jiff::Timestamp>() {
        return Some(time.as_millisecond());
    }
    let text = text.trim_end_matches(" UTC").trim_end_matches('Z');
    let time: jiff::civil::DateTime = text.replacen(' ', "T", 1).parse().ok()?;
    let zoned = time.to_zoned(jiff::tz::TimeZone::UTC).ok()?;
    Some(zoned.timestamp().as_millisecond())
}

//! An alert, whoever sent it: what is broken, where, since when, and whether it still is.
//!
//! Wanted: the same broken thing has the same [`AlertKey`] in every message about it, firing or
//! resolved, whatever values, times and pods it names; another service, environment or part of a
//! service has another.
//!
//! The key is made of the name, the service and the labels that tell things apart. Not in it: the
//! level (an alert that becomes graver is the same), what is different in the next message (values,
//! times, commits, addresses), who is told, and which copies of a service are affected (pods,
//! instances, nodes): those are counted in [`Alert::firing_on`] and [`Alert::resolved_on`], so that
//! an alert is over only when it is over on each of them. Where no service is known, the machine is
//! what is broken, and stays in the key.
//!
//! Deliberately absent: a decision about severity (a level is a *proposal*, R30: never SEV1 by a
//! keyword), and any wording for people.

use super::service::{self, Names};
use super::severity::Severity;
use super::volatile;
use super::words::fold;
use regex::Regex;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::sync::LazyLock;

/// Characters of an alert's name.
pub const LONGEST_NAME: usize = 160;
/// Characters of a label's value.
pub const LONGEST_VALUE: usize = 200;
/// Labels of an alert.
pub const MOST_LABELS: usize = 32;
/// Labels in a key.
const MOST_IN_KEY: usize = 12;
/// Copies of a service that are told apart; more are only counted.
pub const MOST_COPIES: usize = 64;
/// Links of an alert.
pub const MOST_LINKS: usize = 6;

/// Who sent it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AlertSource {
    /// Alertmanager, or a bridge that keeps its form.
    Alertmanager,
    /// Grafana's alerting.
    Grafana,
    /// Uptime Kuma.
    UptimeKuma,
    /// PagerDuty.
    PagerDuty,
    /// Datadog.
    Datadog,
    /// Sentry.
    Sentry,
    /// UptimeRobot.
    UptimeRobot,
    /// Checks, workflows and security alerts of GitHub.
    GitHub,
}

impl AlertSource {
    /// All of them.
    pub const ALL: [Self; 8] = [
        Self::Alertmanager,
        Self::Grafana,
        Self::UptimeKuma,
        Self::PagerDuty,
        Self::Datadog,
        Self::Sentry,
        Self::UptimeRobot,
        Self::GitHub,
    ];

    /// Its own name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Alertmanager => "Alertmanager",
            Self::Grafana => "Grafana",
            Self::UptimeKuma => "Uptime Kuma",
            Self::PagerDuty => "PagerDuty",
            Self::Datadog => "Datadog",
            Self::Sentry => "Sentry",
            Self::UptimeRobot => "UptimeRobot",
            Self::GitHub => "GitHub",
        }
    }
}

/// Whether it is broken.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AlertStatus {
    /// It is.
    Firing,
    /// It no longer is.
    Resolved,
}

/// What an alert is for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Purpose {
    /// To tell that something is broken.
    #[default]
    Fault,
    /// To show that alerting itself works: it always fires (`Watchdog`).
    Heartbeat,
    /// Somebody pressed *Test*.
    Test,
}

/// The service of an alert.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct AlertService {
    /// Its registered name; where the registry doesn't know it, the value of a label that names a
    /// service, as it is written.
    pub name: String,
    /// Whether the registry knows it.
    pub registered: bool,
    /// What named it: a label (`job`), or `title`.
    pub from: String,
}

/// What a link of an alert leads to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LinkTo {
    /// What to do.
    Runbook,
    /// A dashboard or panel.
    Dashboard,
    /// The query, monitor, incident or run itself.
    Source,
    /// A form that silences it.
    Silence,
}

/// A plain address that an alert gives, as [`super::link::web_address`] makes it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct AlertLink {
    /// What is there.
    pub to: LinkTo,
    /// Where.
    pub address: String,
}

/// One broken thing, as one message tells it. All texts are raw: whoever shows them escapes them.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Alert {
    /// What is broken.
    pub key: AlertKey,
    /// Who sent it.
    pub source: AlertSource,
    /// What it is for.
    pub purpose: Purpose,
    /// Its name: the rule, monitor, issue or check.
    pub name: String,
    /// The service, where the message names one.
    pub service: Option<AlertService>,
    /// The level in the source's own word (`critical`, `P2`).
    pub level: Option<String>,
    /// What that level proposes (R30); `None` where the message gives none that is known.
    pub severity: Option<Severity>,
    /// The labels, at most [`MOST_LABELS`].
    pub labels: BTreeMap<String, String>,
    /// What it says in a line; may be empty.
    pub summary: String,
    /// Where more is to be read, at most [`MOST_LINKS`].
    pub links: Vec<AlertLink>,
    /// How many the message lists as firing.
    pub firing: u32,
    /// How many the message lists as resolved.
    pub resolved: u32,
    /// The copies (pods, instances) that fire, where the message names them.
    pub firing_on: BTreeSet<String>,
    /// The copies that are well again.
    pub resolved_on: BTreeSet<String>,
    /// Since when, where the message says it; unix milliseconds.
    pub started_ms: Option<i64>,
    /// Discord's limits cut some of its labels off: its key may lack some, compare by
    /// [`AlertKey::broad`].
    #[serde(default)]
    pub partial: bool,
}

impl Alert {
    /// Firing as long as one of it fires.
    pub fn status(&self) -> AlertStatus {
        if self.firing > 0 {
            AlertStatus::Firing
        } else {
            AlertStatus::Resolved
        }
    }

    /// The registered or written name of the service.
    pub fn service_name(&self) -> Option<&str> {
        self.service.as_ref().map(|service| service.name.as_str())
    }
}

/// What is broken: equal for every message about the same thing.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct AlertKey(String);

/// Labels that say what is different in the next message, who is told, or how grave it is.
const NOT_WHAT_IS_BROKEN: &[&str] = &[
    "alertname",
    "alert",
    "alertstate",
    "alert_rule_uid",
    "assignee",
    "assigned_to",
    "build",
    "commit",
    "container_id",
    "controller_revision_hash",
    "dashboard",
    "date",
    "duration",
    "downtime",
    "endpoint",
    "error",
    "grafana_folder",
    "id",
    "image",
    "image_id",
    "image_spec",
    "impact",
    "ip",
    "le",
    "level",
    "monitor",
    "notify",
    "oncall",
    "owner",
    "ping",
    "pod_template_hash",
    "priority",
    "prometheus",
    "prometheus_replica",
    "quantile",
    "reason",
    "receiver",
    "ref_id",
    "release",
    "replica",
    "request_id",
    "revision",
    "route",
    "runbook",
    "severity",
    "sha",
    "span_id",
    "squad",
    "started",
    "state",
    "status",
    "team",
    "threshold",
    "time",
    "timestamp",
    "trace_id",
    "uid",
    "urgency",
    "url",
    "user",
    "value",
    "version",
];

/// Labels that name a copy of a service or a machine, most telling first.
pub const COPIES: &[&str] = &[
    "pod",
    "instance",
    "host",
    "hostname",
    "node",
    "server",
    "server_name",
    "pod_name",
    "pod_ip",
    "host_ip",
    "container_name",
];

/// Labels whose bare numbers tell things apart.
const CODES: &[&str] = &[
    "code",
    "status_code",
    "http_status",
    "port",
    "partition",
    "shard",
];

impl AlertKey {
    /// The key of an alert by this name and service, with these labels.
    pub fn of(
        name: &str,
        service: Option<&str>,
        labels: &BTreeMap<String, String>,
        names: &Names<'_>,
    ) -> Self {
        let mut key = name_key(name);
        key.push('\n');
        if let Some(service) = service {
            let by_rule = service::key(service);
            key.push_str(if by_rule.is_empty() {
                service
            } else {
                &by_rule
            });
        }
        let telling = labels.iter().filter_map(|(label, value)| {
            let label = fold(label);
            let value = value_key(&label, value, service.is_some())?;
            // A label that names the service again tells nothing more.
            (!names.same(service, Some(&value))).then_some((label, value))
        });
        for (label, value) in telling.take(MOST_IN_KEY) {
            key.push_str(&format!("\n{label}={value}"));
        }
        Self(key)
    }

    /// Name and service alone: what is compared where labels are missing.
    pub fn broad(&self) -> &str {
        let mut ends = self.0.match_indices('\n').map(|(at, _)| at);
        ends.nth(1)
            .and_then(|end| self.0.get(..end))
            .unwrap_or(&self.0)
    }

    /// The key as it is stored.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The key that was stored.
    pub fn stored(text: String) -> Self {
        Self(text)
    }
}

impl fmt::Display for AlertKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// What a label adds to a key; `None` where it tells nothing apart.
fn value_key(label: &str, value: &str, has_service: bool) -> Option<String> {
    let value = value.trim();
    if value.is_empty() || NOT_WHAT_IS_BROKEN.contains(&label) || label.starts_with("__") {
        return None;
    }
    if COPIES.contains(&label) {
        return (!has_service)
            .then(|| without_port(value))
            .filter(|value| !changes(value))
            .map(fold);
    }
    if changes(value) {
        return None;
    }
    let number = value
        .chars()
        .all(|c| c.is_ascii_digit() || matches!(c, '.' | ',' | '-' | '+' | '%'));
    if number && !CODES.contains(&label) {
        return None;
    }
    let name = match label {
        "env" | "environment" => service::environment_name(value),
        _ => fold(value),
    };
    Some(name.chars().take(80).collect())
}

/// Whether a word is one that changes from outage to outage.
fn changes(value: &str) -> bool {
    volatile::mask(value) != value
}

/// `db-1:9100` is `db-1`.
pub(crate) fn without_port(value: &str) -> &str {
    match value.rsplit_once(':') {
        Some((host, port))
            if !host.is_empty() && !port.is_empty() && port.bytes().all(|b| b.is_ascii_digit()) =>
        {
            host
        }
        _ => value,
    }
}

/// A name without its values: a rule's identifier as it is; of a sentence the numbers that are
/// measured (decimals, units, shares, counts of things) and all that is volatile are left out.
fn name_key(name: &str) -> String {
    static MEASURED: LazyLock<Option<Regex>> = LazyLock::new(|| {
        Regex::new(
            r"(?x)
            [<>]?=?\s?(?-u:\b)[0-9]+(?:[.,][0-9]+)+(?:\s?%|(?-u:[a-zA-Z]{1,3}\b))?
            | [<>]?=?\s?(?-u:\b)[0-9]+(?:\s?%|\s?(?-u:(?:ms|us|ns|s|sec|secs|seconds?|m|min|mins|minutes?|h|hours?|d|days?|[kKMGT]i?B?|B|bytes|rps|qps|req)\b)|\s?(?:秒|分钟|小时|毫秒|天|次|个|条|人))
            | (?-u:\b)[0-9]+(?-u:\s(?:errors|requests|messages|events|users|times|failures|restarts|instances|pods|alerts|connections|jobs|items)\b)
            | (?-u:\b)[0-9]{6,}(?-u:\b)
            | (?-u:\b)[0-9]{1,2}:[0-9]{2}(?::[0-9]{2})?(?-u:\b)",
        )
        .ok()
    });
    let name = volatile::mask(name);
    let name = match (MEASURED.as_ref(), name.contains(char::is_whitespace)) {
        (Some(measured), true) => measured.replace_all(&name, " # ").into_owned(),
        _ => name,
    };
    let folded = fold(&name);
    let words: Vec<&str> = folded
        .split_whitespace()
        .map(|word| word.trim_matches(['.', ',', ':', ';', '!', '。', '，', '：', '！']))
        .filter(|word| !word.is_empty())
        .collect();
    words.join(" ").chars().take(LONGEST_NAME).collect()
}

/// What a level proposes (R30). The gravest word proposes SEV2: that the core is unusable for most
/// is for people to say, never for a keyword. `None` where the word is not known.
pub fn severity_of_level(level: &str) -> Option<Severity> {
    let folded = fold(level.trim());
    let word = folded.trim_matches(|c: char| !c.is_alphanumeric());
    Some(match word {
        "critical" | "crit" | "page" | "fatal" | "emergency" | "emerg" | "disaster" | "alert"
        | "blocker" | "urgent" | "high" | "major" | "severe" | "p0" | "p1" | "p2" | "s0" | "s1"
        | "s2" | "sev0" | "sev1" | "sev2" | "sev-1" | "sev-2" | "紧急" | "致命" | "严重" | "高"
        | "重大" | "灾难" | "一级" | "二级" => Severity::Sev2,
        "warning" | "warn" | "error" | "err" | "average" | "minor" | "medium" | "moderate"
        | "ticket" | "p3" | "s3" | "sev3" | "sev-3" | "警告" | "告警" | "错误" | "一般"
        | "次要" | "中" | "三级" => Severity::Sev3,
        "info" | "information" | "informational" | "notice" | "low" | "debug" | "none" | "ok"
        | "p4" | "p5" | "s4" | "s5" | "sev4" | "sev5" | "sev-4" | "提示" | "信息" | "通知"
        | "低" | "四级" => Severity::Sev4,
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::incident::service::Registry;

    fn key(name: &str, service: Option<&str>, labels: &[(&str, &str)]) -> AlertKey {
        let labels = labels
            .iter()
            .map(|(label, value)| ((*label).to_owned(), (*value).to_owned()))
            .collect();
        let registry = Registry::from_names(["payments-api", "order-service"]);
        AlertKey::of(name, service, &labels, &registry.names())
    }

    #[test]
    fn one_broken_thing_has_one_key() {
        let payments = Some("payments-api");
        for (one, other) in [
            (
                key(
                    "HighErrorRate",
                    payments,
                    &[("pod", "payments-api-6d9f7c5b4-x2k8q"), ("env", "prod")],
                ),
                key(
                    "HighErrorRate",
                    payments,
                    &[
                        ("pod", "payments-api-77c9d8b6f-zz2k4"),
                        ("env", "production"),
                    ],
                ),
            ),
            (
                key(
                    "HighErrorRate",
                    payments,
                    &[("severity", "warning"), ("value", "0.2")],
                ),
                key(
                    "higherrorrate",
                    payments,
                    &[("severity", "critical"), ("value", "0.9")],
                ),
            ),
            (
                key(
                    "HighErrorRate",
                    payments,
                    &[("job", "payments-api-prod"), ("instance", "10.0.0.1:80")],
                ),
                key("HighErrorRate", payments, &[("instance", "10.0.0.2:80")]),
            ),
            (
                key(
                    "HighErrorRate",
                    payments,
                    &[("pod", "api-green"), ("host", "web-one")],
                ),
                key(
                    "HighErrorRate",
                    payments,
                    &[("pod", "api-blue"), ("host", "web-two")],
                ),
            ),
            (
                key("CPU is 93.5 % on payments-api", payments, &[]),
                key("CPU is 97 % on payments-api", payments, &[]),
            ),
            (
                key("412 errors in 5 minutes", payments, &[]),
                key("9 errors in 5 minutes", payments, &[]),
            ),
            (
                key("支付超时 30 秒", payments, &[("version", "1.2.3")]),
                key("支付超时 45 秒", payments, &[("version", "1.2.4")]),
            ),
            (
                key("HostDown", None, &[("instance", "db-1:9100")]),
                key("HostDown", None, &[("instance", "db-1")]),
            ),
        ] {
            assert_eq!(one, other);
        }
    }

    #[test]
    fn the_broad_key_is_name_and_service() {
        let payments = Some("payments-api");
        let whole = key("HighErrorRate", payments, &[("env", "prod")]);
        assert_eq!(whole.broad(), "higherrorrate\npaymentsapi");
        assert_eq!(key("HighErrorRate", payments, &[]).broad(), whole.broad());
        assert_eq!(key("HostDown", None, &[]).broad(), "hostdown\n");
        assert_eq!(AlertKey::stored(String::new()).broad(), "");
    }

    #[test]
    fn what_is_apart_has_keys_apart() {
        let payments = Some("payments-api");
        for (one, other) in [
            (
                key("HighErrorRate", payments, &[]),
                key("HighErrorRate", Some("order-service"), &[]),
            ),
            (
                key("HighErrorRate", payments, &[]),
                key("HighLatency", payments, &[]),
            ),
            (
                key("HighErrorRate", payments, &[("env", "prod")]),
                key("HighErrorRate", payments, &[("env", "staging")]),
            ),
            (
                key("QueueFull", payments, &[("queue", "refunds")]),
                key("QueueFull", payments, &[("queue", "captures")]),
            ),
            (
                key("Errors", payments, &[("code", "500")]),
                key("Errors", payments, &[("code", "503")]),
            ),
            (
                key("HostDown", None, &[("instance", "db-1:9100")]),
                key("HostDown", None, &[("instance", "db-2:9100")]),
            ),
            (
                key("HTTP 500 on checkout", payments, &[]),
                key("HTTP 503 on checkout", payments, &[]),
            ),
        ] {
            assert_ne!(one, other);
        }
    }

    #[test]
    fn r30_no_keyword_proposes_the_gravest_severity() {
        for (level, expected) in [
            ("critical", Some(Severity::Sev2)),
            ("P1", Some(Severity::Sev2)),
            ("SEV1", Some(Severity::Sev2)),
            (" Page ", Some(Severity::Sev2)),
            ("严重", Some(Severity::Sev2)),
            ("warning", Some(Severity::Sev3)),
            ("P3", Some(Severity::Sev3)),
            ("警告", Some(Severity::Sev3)),
            ("info", Some(Severity::Sev4)),
            ("none", Some(Severity::Sev4)),
            ("purple", None),
            ("", None),
        ] {
            assert_eq!(severity_of_level(level), expected, "{level}");
        }
    }

    #[test]
    fn the_names_of_labels_are_folded() {
        for label in NOT_WHAT_IS_BROKEN.iter().chain(COPIES).chain(CODES) {
            assert_eq!(fold(label), *label);
        }
    }
}

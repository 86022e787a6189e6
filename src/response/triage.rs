//! Heuristic triage: what can be said of a report at once, without a model and without IO (R23).
//!
//! Wanted: a first line within milliseconds, in the report's own words, that is never more certain
//! than the report is. What is not said stays unknown: no service is guessed, no impact assumed,
//! and no word alone makes a SEV1 (R30). Time is linear in the length of report and attachments.
//!
//! Design: the report's prose is split into sentences and clauses; logs are reduced to one line a
//! shape (digits and ids masked) before anything slower looks at them. Every list of words is data.
//!
//! Deliberately absent: sentences of our own. Reasons are values; `present` says them in words.

use super::trouble::{self, CHANGE};
use crate::incident::words::{fold, is_cjk};
use crate::incident::{FailureClass, Near, Registry, Report, Severity};
use regex::Regex;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, HashSet};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::LazyLock;
use unicode_segmentation::UnicodeSegmentation;

/// Longest title, in graphemes: it names a thread and stands in an embed's headline.
pub const TITLE_GRAPHEMES: usize = 80;
/// Most error lines kept.
pub const MAX_ERROR_SIGNATURES: usize = 8;
/// Most symptoms kept.
pub const MAX_SYMPTOMS: usize = 8;
/// Most numbers with units kept.
pub const MAX_QUANTITIES: usize = 12;
/// Most implicated files kept (R26 stops counting at five anyway).
pub const MAX_FILES: usize = 20;
/// Longest clause or error line kept, in graphemes.
const CLAUSE_GRAPHEMES: usize = 240;
/// Distinct shapes of log lines that are looked at.
const MAX_SHAPES: usize = 4_000;
/// Prose sentences that are looked at; a report has tens.
const MAX_SENTENCES: usize = 400;

/// What people already said with the command.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Said {
    /// The service option.
    pub service: Option<String>,
    /// The severity option.
    pub severity: Option<Severity>,
}

/// Why a severity is proposed (R30), as data.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "why", content = "detail")]
pub enum SeverityReason {
    /// A person said so.
    Said,
    /// Data may be exposed or lost; `confirmed_scope` where the report also says how many are hit.
    DataAtRisk {
        /// Two signs instead of a word alone.
        confirmed_scope: bool,
    },
    /// Most or all are affected, and it is unusable for them.
    MostAffected,
    /// This percentage of requests or people is affected.
    Share(f64),
    /// Many are affected.
    ManyAffected,
    /// A function that the business lives on fails, how often is not said.
    MajorFunction,
    /// A way around exists.
    Workaround,
    /// Some are affected.
    SomeAffected,
    /// The report says that nobody is affected.
    NobodyAffected,
    /// The report does not say who is affected: ask.
    ImpactUnknown,
}

/// What the heuristics read out of a report.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Triage {
    /// One line of at most [`TITLE_GRAPHEMES`], in the report's own words, without the service.
    pub title: String,
    /// Canonical service: said, else named in the report and registered, a slip of the keys
    /// forgiven; else unknown (R5).
    pub service: Option<String>,
    /// Registered services that the report names, or that what it names may be a slip of, where
    /// these are several and none was chosen: a person is asked.
    pub service_ambiguous: Vec<String>,
    /// The severity proposed, or what a person said.
    pub severity: Severity,
    /// Why.
    pub severity_reason: SeverityReason,
    /// Whether the report says who is affected.
    pub impact_known: bool,
    /// Clauses that say what is seen; at most [`MAX_SYMPTOMS`].
    pub symptoms: Vec<String>,
    /// The telling log lines, as they stand in the report; at most [`MAX_ERROR_SIGNATURES`].
    pub error_signatures: Vec<String>,
    /// The kind of failure.
    pub failure_class: FailureClass,
    /// The sentence that says that a change came before.
    pub change_before: Option<String>,
    /// Numbers with their units as they stand in the prose; at most [`MAX_QUANTITIES`].
    pub quantities: Vec<String>,
    /// Words for the search, most telling first.
    pub recall_query: String,
    /// Since when, in the report's words.
    pub since: Option<String>,
    /// The clause that says who notices what.
    pub impact: Option<String>,
    /// The report speaks of data that others may have seen.
    pub data_exposure: bool,
    /// Lines of attached logs (R26).
    pub log_lines: usize,
    /// Source, configuration and query files that the report names; at most [`MAX_FILES`].
    pub implicated_files: Vec<String>,
}

/// Reads what can be read without a model.
pub fn triage(report: &Report, registry: &Registry, said: &Said) -> Triage {
    let read = Read::of(report);
    let (service, service_ambiguous) = service_of(report, registry, said);
    let data_exposure = read
        .clauses()
        .any(|clause| trouble::affirms(clause, EXPOSURE));
    let impact = impact(&read);
    let (proposed, mut reason) = severity(&read, data_exposure);
    if reason == SeverityReason::ImpactUnknown && impact.is_some() {
        reason = SeverityReason::SomeAffected;
    }
    let (severity, severity_reason) = match said.severity {
        Some(severity) => (severity, SeverityReason::Said),
        None => (proposed, reason),
    };
    let error_signatures = error_signatures(&read);
    let title = title(&read, &error_signatures, service.as_deref(), registry);
    let symptoms = symptoms(&read);
    let recall_query = std::iter::once(&title)
        .chain(&error_signatures)
        .chain(&symptoms)
        .map(String::as_str)
        .collect::<Vec<_>>()
        .join(" ");
    Triage {
        title,
        service,
        service_ambiguous,
        severity,
        severity_reason,
        impact_known: impact.is_some() || reason != SeverityReason::ImpactUnknown,
        failure_class: failure_class(&read, &error_signatures),
        change_before: read
            .sentences
            .iter()
            .find(|sentence| {
                clauses_of(sentence)
                    .any(|clause| trouble::mentions(clause).iter().any(|m| m.name == CHANGE))
            })
            .map(|sentence| cut(sentence, CLAUSE_GRAPHEMES)),
        quantities: quantities(&read),
        recall_query: cut(&recall_query, 1_000),
        since: since(&read),
        impact,
        data_exposure,
        log_lines: report.log_lines(),
        implicated_files: implicated_files(&read),
        symptoms,
        error_signatures,
    }
}

/// A text apart: what people wrote, and what programs put out.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Parts {
    /// Lines of prose, in order.
    pub prose: Vec<String>,
    /// Log lines, one a shape, in order.
    pub log_lines: Vec<String>,
}

/// Takes a free text apart as a record wants it: prose is what was seen, log lines are its error
/// signatures.
pub fn parts_of(text: &str) -> Parts {
    let mut parts = Parts::default();
    let mut shapes = HashSet::new();
    for line in text.lines() {
        let line = line.trim().trim_matches('`').trim();
        if line.is_empty() {
            continue;
        }
        if !is_log_line(line) {
            parts.prose.push(line.to_owned());
        } else if parts.log_lines.len() < MAX_SHAPES && shapes.insert(shape(line)) {
            parts.log_lines.push(line.to_owned());
        }
    }
    parts
}

/// The report as triage reads it: prose by sentence, logs by shape.
pub(super) struct Read<'a> {
    /// Sentences of prose of the report and the thread.
    pub sentences: Vec<&'a str>,
    /// One log line a shape, in the order of the report; attachments after report and thread.
    pub log_lines: Vec<&'a str>,
}

impl<'a> Read<'a> {
    pub(super) fn of(report: &'a Report) -> Self {
        let mut sentences = Vec::new();
        let mut log_lines = Vec::new();
        let mut shapes = HashSet::new();
        let prose = std::iter::once(report.text.as_str())
            .chain(report.thread.iter().map(|message| message.text.as_str()));
        for text in prose {
            for line in text.lines() {
                let line = line.trim().trim_matches('`').trim();
                if line.is_empty() {
                    continue;
                }
                if is_log_line(line) {
                    if log_lines.len() < MAX_SHAPES && shapes.insert(shape(line)) {
                        log_lines.push(line);
                    }
                } else if sentences.len() < MAX_SENTENCES {
                    sentences.extend(sentences_of(line));
                }
            }
        }
        for file in &report.attachments {
            for line in file.text.lines() {
                let line = line.trim();
                if log_lines.len() >= MAX_SHAPES {
                    break;
                }
                if !line.is_empty() && shapes.insert(shape(line)) {
                    log_lines.push(line);
                }
            }
        }
        Self {
            sentences,
            log_lines,
        }
    }

    fn clauses(&self) -> impl Iterator<Item = &'a str> + '_ {
        self.sentences
            .iter()
            .flat_map(|sentence| clauses_of(sentence))
    }
}

/// Splits a line of prose into sentences. A full stop ends one only before a space: `v1.2`,
/// `api.maps.example` and `02:41.` stay whole.
pub(super) fn sentences_of(line: &str) -> Vec<&str> {
    split_after(line, |c, next| {
        matches!(c, '。' | '；' | '！' | '？' | ';' | '\n')
            || (matches!(c, '.' | '!' | '?') && next.is_none_or(char::is_whitespace))
    })
}

/// Splits a sentence into clauses at commas.
pub(super) fn clauses_of(sentence: &str) -> impl Iterator<Item = &str> {
    split_after(sentence, |c, next| {
        matches!(c, '，' | '、') || (c == ',' && next.is_none_or(char::is_whitespace))
    })
    .into_iter()
}

fn split_after(text: &str, ends: impl Fn(char, Option<char>) -> bool) -> Vec<&str> {
    let mut out = Vec::new();
    let mut start = 0;
    let mut chars = text.char_indices().peekable();
    while let Some((at, c)) = chars.next() {
        if ends(c, chars.peek().map(|(_, next)| *next)) {
            let end = at + c.len_utf8();
            out.extend(text.get(start..at).map(str::trim));
            start = end;
        }
    }
    out.extend(text.get(start..).map(str::trim));
    out.retain(|part| !part.is_empty());
    out
}

/// A hash of a line in which every word that holds a digit is one and the same: lines of one kind
/// have one shape.
fn shape(line: &str) -> u64 {
    let mut hasher = DefaultHasher::new();
    for word in line.split(|c: char| !c.is_ascii_alphanumeric()) {
        if word.is_empty() {
            continue;
        }
        if word.bytes().any(|b| b.is_ascii_digit()) {
            0_u8.hash(&mut hasher);
        } else {
            word.hash(&mut hasher);
        }
    }
    // Chinese lines differ in characters that the words above leave out.
    for c in line.chars().filter(|c| is_cjk(*c)) {
        c.hash(&mut hasher);
    }
    hasher.finish()
}

fn pattern(source: &'static str) -> Option<Regex> {
    Regex::new(source).ok()
}

static LOG_START: LazyLock<Option<Regex>> = LazyLock::new(|| {
    pattern(concat!(
        r"^(?:\[?[0-9]{4}[-/][0-9]{2}[-/][0-9]{2}[T ]",
        r"|\[?[0-9]{2}:[0-9]{2}:[0-9]{2}",
        r"|(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec) [ 0-9][0-9] [0-9]{2}:",
        r"|\{.*\}$|<---|\[[0-9A-Za-z:.-]+\]|at [A-Za-z0-9_.$<>]+\(|Caused by|Traceback|File \W|panic:|goroutine |FATAL|ERROR|WARN|INFO|CRITICAL|E[0-9]{4} ",
        r"|[A-Za-z_.]+(?:Error|Exception)\b)",
    ))
});

/// Whether a line is output of a program rather than prose of a person.
fn is_log_line(line: &str) -> bool {
    if LOG_START.as_ref().is_some_and(|start| start.is_match(line)) {
        return true;
    }
    line.split(|c: char| !(c.is_ascii_alphanumeric() || c == '_'))
        .any(|word| matches!(word, "ERROR" | "FATAL" | "CRITICAL" | "WARN" | "WARNING"))
        && !line.chars().any(is_cjk)
}

static GRAVE: LazyLock<Option<Regex>> = LazyLock::new(|| {
    pattern(
        r"(?-u:\b)(?:FATAL|CRITICAL|PANIC|EMERG|panic:|Caused by|OOMKilled|[A-Za-z.]*[a-z](?:Exception|Error))(?-u:\b)|panic:|Caused by",
    )
});
static ERROR_LEVEL: LazyLock<Option<Regex>> = LazyLock::new(|| {
    pattern(
        r#"(?-u:\b)(?:ERROR|SEVERE|ERR)(?-u:\b)|"level":\s*"?(?:error|fatal|50|60)"?|level=error|\[error\]|^E[0-9]{4} "#,
    )
});
static CODES: LazyLock<Option<Regex>> = LazyLock::new(|| {
    pattern(concat!(
        r"(?-u:\b)(?:ERR_[A-Z_]+|E[A-Z]{5,}|ORA-[0-9]{4,5}|SQLSTATE|SIG(?:KILL|SEGV|ABRT|TERM)|CrashLoopBackOff|ImagePullBackOff|OOM)(?-u:\b)",
        r"|HTTP/[0-9.]+ [45][0-9]{2}",
        r"|(?i:status|code|returned|returns|answered|responded with|返回)[ :=]{0,2}[45][0-9]{2}(?-u:\b)",
        r"|(?-u:\b)[45][0-9]{2} (?:Too Many|Bad|Service|Gateway|Internal|Forbidden|Unauthorized|Request)",
    ))
});
static FAILING: LazyLock<Option<Regex>> = LazyLock::new(|| {
    pattern(
        r"(?i)(?-u:\b)(?:fail(?:ed|s|ure|ing)?|timed out|time-?out|refused|denied|unreachable|not responding|no space|not available|unavailable|exceeded|exhausted|aborted|killed|cannot|can't|unable|invalid|corrupt(?:ed)?|expired|reset by peer|deadlock|leak|rejected|overflow|no such|not found|giving up|another run|evicted)(?-u:\b)",
    )
});
static WARN_LEVEL: LazyLock<Option<Regex>> =
    LazyLock::new(|| pattern(r"(?-u:\b)(?:WARN|WARNING)(?-u:\b)"));

fn is_match(pattern: &Option<Regex>, text: &str) -> bool {
    pattern
        .as_ref()
        .is_some_and(|pattern| pattern.is_match(text))
}

/// How telling a log line is; 0 says nothing about a fault.
fn telling_of(line: &str, is_log: bool) -> u32 {
    let mut score = 0;
    if is_match(&GRAVE, line) {
        score += 4;
    }
    if is_match(&CODES, line) {
        score += 3;
    }
    if is_log {
        if is_match(&ERROR_LEVEL, line) {
            score += 3;
        }
        if is_match(&FAILING, line) {
            score += 2;
        }
        if is_match(&WARN_LEVEL, line) {
            score += 1;
        }
    }
    score
}

/// The telling log lines, most telling first, as they stand in the report.
fn error_signatures(read: &Read<'_>) -> Vec<String> {
    let mut ranked: Vec<(u32, String)> = Vec::new();
    for sentence in &read.sentences {
        for part in latin_parts(sentence) {
            let score = telling_of(part, false);
            if score >= 3 {
                ranked.push((score, cut(part, CLAUSE_GRAPHEMES)));
            }
        }
    }
    for line in &read.log_lines {
        let score = telling_of(line, true);
        if score >= 2 {
            ranked.push((score, cut(without_prefix(line), CLAUSE_GRAPHEMES)));
        }
    }
    // Stable: among equals the order of the report.
    ranked.sort_by_key(|(score, _)| std::cmp::Reverse(*score));
    let mut seen = HashSet::new();
    ranked.retain(|(_, line)| !line.is_empty() && seen.insert(shape(line)));
    ranked.truncate(MAX_ERROR_SIGNATURES);
    ranked.into_iter().map(|(_, line)| line).collect()
}

/// The parts of a sentence between Chinese text; the whole sentence where there is none.
fn latin_parts(sentence: &str) -> Vec<&str> {
    if !sentence.chars().any(is_cjk) {
        return vec![sentence];
    }
    sentence
        .split(|c: char| is_cjk(c) || matches!(c, '：' | '，' | '、' | '（' | '）' | '“' | '”'))
        .map(|part| part.trim_matches(|c: char| c.is_whitespace() || matches!(c, ':' | ',')))
        .filter(|part| part.split_whitespace().count() >= 2 || part.len() >= 8)
        .collect()
}

static PREFIX: LazyLock<Option<Regex>> = LazyLock::new(|| {
    pattern(concat!(
        r"^(?:[\s|]*(?:",
        r"\[?[0-9]{4}[-/][0-9]{2}[-/][0-9]{2}[T ][0-9:.,]+(?:Z| ?[+-][0-9]{2}:?[0-9]{2})?\]?",
        r"|\[?[0-9]{2}:[0-9]{2}:[0-9]{2}(?:[.,][0-9]+)?\]?",
        r"|(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec) [ 0-9][0-9] [0-9]{2}:[0-9]{2}:[0-9]{2}",
        r"|\[?(?:ERROR|FATAL|CRITICAL|WARN(?:ING)?|INFO|SEVERE)\]?",
        r"|\[[A-Za-z0-9._:-]+\])[\s:]*)+",
    ))
});

/// A log line without its time, level and thread; still as it stands in the report.
fn without_prefix(line: &str) -> &str {
    let end = PREFIX
        .as_ref()
        .and_then(|prefix| prefix.find(line))
        .map_or(0, |found| found.end());
    let rest = line.get(end..).unwrap_or(line).trim();
    if rest.chars().count() < 8 { line } else { rest }
}

fn service_of(report: &Report, registry: &Registry, said: &Said) -> (Option<String>, Vec<String>) {
    let owned = |names: Vec<&str>| names.into_iter().map(str::to_owned).collect();
    if let Some(said) = said
        .service
        .as_deref()
        .map(str::trim)
        .filter(|s| !s.is_empty())
    {
        if let Some(service) = registry.resolve(said) {
            return (Some(service.to_owned()), Vec::new());
        }
        return match registry.near(said) {
            Near::One(service) => (Some(service.to_owned()), Vec::new()),
            Near::Several(services) => (None, owned(services)),
            // A service that is not registered yet.
            Near::Nothing => (Some(said.to_owned()), Vec::new()),
        };
    }
    // Logs name whoever is called; only what people wrote says what they speak of.
    let mut text = report.text.clone();
    for message in &report.thread {
        text.push('\n');
        text.push_str(&message.text);
    }
    match registry.named_in(&text) {
        Some(service) => (Some(service.to_owned()), Vec::new()),
        None => {
            let mentioned = registry.mentions(&text);
            if !mentioned.is_empty() {
                return (None, owned(mentioned));
            }
            match registry.nearly_named_in(&text) {
                Near::One(service) => (Some(service.to_owned()), Vec::new()),
                Near::Several(services) => (None, owned(services)),
                Near::Nothing => (None, Vec::new()),
            }
        }
    }
}

/// The title: the first clause of prose that says something, else the most telling log line.
fn title(
    read: &Read<'_>,
    error_signatures: &[String],
    service: Option<&str>,
    registry: &Registry,
) -> String {
    let mut first = None;
    for clause in read.clauses() {
        let shown = title_of_clause(clause, service, registry);
        if shown.chars().filter(|c| c.is_alphanumeric()).count() < 3 || is_greeting(&shown) {
            continue;
        }
        if says_trouble(clause) {
            return cut(&shown, TITLE_GRAPHEMES);
        }
        first.get_or_insert(shown);
    }
    let line = error_signatures.first().map(String::as_str);
    let fallback = read.log_lines.first().copied();
    let shown = match (first, line.or(fallback)) {
        (Some(first), None) => first,
        (Some(first), Some(_)) if read.log_lines.is_empty() => first,
        (_, Some(line)) => line.to_owned(),
        (None, None) => String::new(),
    };
    cut(&shown, TITLE_GRAPHEMES)
}

fn is_greeting(text: &str) -> bool {
    #[rustfmt::skip]
    const GREETINGS: &[&str] = &[
        "hi", "hello", "hey", "hi all", "hi team", "hello everyone", "hey all", "help",
        "please help", "help please", "good morning", "fyi", "urgent", "大家好", "各位好", "求助",
        "紧急", "在吗", "帮忙看下",
    ];
    let folded = fold(text);
    GREETINGS.contains(&folded.trim_matches(|c: char| !c.is_alphanumeric()))
}

static SINCE_TAIL: LazyLock<Option<Regex>> = LazyLock::new(|| {
    pattern(r"(?i)[\s,]*(?-u:\b)(?:since|from|starting|as of|beginning)(?-u:\b) .{2,60}$")
});
static SINCE_HAN: LazyLock<Option<Regex>> =
    LazyLock::new(|| pattern(r"^(?:大约|大概)?(?:从|自从|自)[^，。；]{1,24}?(?:起|开始|以来)"));
static LEAD: LazyLock<Option<Regex>> = LazyLock::new(|| {
    pattern(
        r"(?i)^(?:[\s:,.\-–—>*#|]|(?:is|are|was|were|has been|have been|has|we see|we are seeing|seeing|there is|there are|the)(?-u:\b))+",
    )
});

fn title_of_clause(clause: &str, service: Option<&str>, registry: &Registry) -> String {
    let mut text = clause.to_owned();
    if let Some(service) = service {
        let aliases = registry
            .get(service)
            .map(|known| known.aliases.as_slice())
            .unwrap_or_default();
        let names = std::iter::once(service).chain(aliases.iter().map(String::as_str));
        for name in names.filter(|name| !name.trim().is_empty()) {
            text = without_name(&text, name.trim());
        }
    }
    for trimmed in [&SINCE_TAIL, &SINCE_HAN] {
        if let Some(pattern) = trimmed.as_ref() {
            let shorter = pattern.replace(text.trim(), "").into_owned();
            if shorter.chars().filter(|c| c.is_alphanumeric()).count() >= 4 {
                text = shorter;
            }
        }
    }
    let words: Vec<&str> = text.split_whitespace().collect();
    let joined = words.join(" ");
    let lead = LEAD
        .as_ref()
        .and_then(|lead| lead.find(&joined))
        .map_or(0, |found| found.end());
    joined
        .get(lead..)
        .unwrap_or(&joined)
        .trim_end_matches(|c: char| {
            c.is_whitespace() || matches!(c, '.' | ',' | ';' | ':' | '。' | '，' | '：' | '；')
        })
        .to_owned()
}

/// Removes the first mention of a name that stands alone, in any ASCII case.
fn without_name(text: &str, name: &str) -> String {
    let (folded, wanted) = (text.to_ascii_lowercase(), name.to_ascii_lowercase());
    let is_part = |c: char| (c.is_alphanumeric() && !is_cjk(c)) || matches!(c, '-' | '_');
    let found = folded.match_indices(&wanted).find(|(at, _)| {
        let before = folded.get(..*at).and_then(|t| t.chars().next_back());
        let after = folded
            .get(at + wanted.len()..)
            .and_then(|t| t.chars().next());
        !before.is_some_and(is_part) && !after.is_some_and(is_part)
    });
    match found {
        Some((at, _)) => {
            let before = text.get(..at).unwrap_or_default();
            let after = text.get(at + name.len()..).unwrap_or_default();
            // In the middle of a sentence the name carries it.
            if before.trim().is_empty() || after.trim().is_empty() {
                format!("{before}{after}")
            } else {
                text.to_owned()
            }
        }
        None => text.to_owned(),
    }
}

/// Words that say that something is wrong.
#[rustfmt::skip]
const TROUBLE_WORDS: &[&str] = &[
    "error", "errors", "fail", "fails", "failed", "failing", "failure", "failures", "down", "slow",
    "slower", "timeout", "timeouts", "timing out", "timed out", "times out", "hang", "hangs",
    "hanging", "stuck", "crash", "crashes", "crashed", "crashing", "restart", "restarts",
    "restarting", "refuses", "refused", "rejects", "rejected", "unavailable", "unreachable",
    "unresponsive", "outage", "broken", "missing", "lost", "late", "delayed", "lag", "lagging",
    "spike", "spikes", "spiking", "degraded", "500", "500s", "502", "502s", "503", "503s", "504",
    "504s", "5xx", "429", "429s", "4xx", "401", "403", "throws", "exception", "exceptions", "full",
    "exhausted", "expired", "killed", "white pages", "blank", "wrong", "duplicate", "stale",
    "corrupt", "cannot", "can't", "unable", "did not", "didn't", "does not", "doesn't", "leak",
    "leaks", "grows", "growing", "rising", "climbing", "dropped", "drops", "high", "piling up",
    "blocked", "no longer", "报错", "失败", "异常", "超时", "错误", "挂了", "宕机", "不可用",
    "打不开", "无法", "卡住", "卡顿", "很慢", "变慢", "缓慢", "延迟", "重启", "崩溃", "掉线",
    "断电", "中断", "飙升", "上涨", "打满", "耗尽", "积压", "堆积", "丢失", "过期", "到期", "拒绝",
    "泄漏", "泄露", "只增不减", "故障", "间歇", "下降", "抖动", "反复", "不到", "不了", "乱码",
    "重复", "白屏", "满了",
];

/// Talk about the incident, not of it.
const ASIDE: &[&str] = &[
    "colleague",
    "remember",
    "management",
    "同事",
    "记得",
    "领导",
];

fn says_trouble(clause: &str) -> bool {
    if trouble::affirms(clause, ASIDE) {
        return false;
    }
    trouble::affirms(clause, TROUBLE_WORDS)
        || trouble::mentions(clause)
            .iter()
            .any(|mention| mention.name != CHANGE && mention.weight >= 2.0)
}

fn symptoms(read: &Read<'_>) -> Vec<String> {
    let mut out: Vec<String> = Vec::new();
    for sentence in &read.sentences {
        for clause in clauses_of(sentence) {
            if out.len() >= MAX_SYMPTOMS {
                return out;
            }
            if says_trouble(clause) {
                let clause = cut(clause, CLAUSE_GRAPHEMES);
                if !out.contains(&clause) {
                    out.push(clause);
                }
            }
        }
    }
    out
}

/// Words that make a statement a guess.
#[rustfmt::skip]
const GUESS: &[&str] = &[
    "perhaps", "maybe", "might", "possibly", "可能", "怀疑", "是不是", "也许",
];

fn failure_class(read: &Read<'_>, error_signatures: &[String]) -> FailureClass {
    // By name of the kind: its class, what it is worth, how often it was said.
    let mut by_kind: BTreeMap<&'static str, (FailureClass, f64, u32)> = BTreeMap::new();
    let lines = error_signatures.iter().map(String::as_str).filter(|line| {
        !read
            .sentences
            .iter()
            .any(|sentence| sentence.contains(*line))
    });
    for clause in read.clauses().chain(lines) {
        let folded = fold(clause);
        let certain = if GUESS.iter().any(|guess| folded.contains(guess)) {
            0.5
        } else {
            1.0
        };
        for mention in trouble::mentions(clause) {
            let entry = by_kind
                .entry(mention.name)
                .or_insert((mention.class, 0.0, 0));
            // A log repeats itself: said twice is enough, and a change is one change.
            let most = if mention.name == CHANGE { 1 } else { 2 };
            if entry.2 < most {
                entry.1 += mention.weight * certain;
                entry.2 += 1;
            } else if mention.name == CHANGE && mention.weight > entry.1 {
                *entry = (mention.class, mention.weight, entry.2);
            }
        }
    }
    let mut best = (FailureClass::Unknown, 0.0);
    for class in FailureClass::KNOWN {
        let worth = by_kind
            .values()
            .filter(|(of, _, _)| *of == class)
            .map(|(_, worth, _)| *worth);
        // The strongest kind decides; others of the class only support it.
        let (sum, strongest) = worth.fold((0.0, 0.0_f64), |(sum, strongest), worth| {
            (sum + worth, strongest.max(worth))
        });
        let total = strongest + 0.3 * (sum - strongest);
        if total >= 1.0 && total > best.1 {
            best = (class, total);
        }
    }
    best.0
}

#[rustfmt::skip]
const EXPOSURE: &[&str] = &[
    "data breach", "data leak", "leaked data", "customer data leaked", "leaked customer data",
    "data exposed", "exposed data", "exposes customer", "data is exposed", "publicly accessible",
    "publicly readable", "public bucket", "other customers' data", "other users' data",
    "another customer's data", "someone else's data", "someone else's account", "other people's",
    "another user's", "other customers' orders", "each other's data", "each other's orders",
    "credentials leaked", "leaked credentials", "unauthorized access to", "personal data",
    "数据泄露", "数据泄漏", "信息泄露", "信息泄漏", "隐私泄露", "看到别人的", "看到其他用户",
    "看到他人", "别人的订单", "他人的订单", "越权访问", "被拖库",
];
#[rustfmt::skip]
const LOSS: &[&str] = &[
    "data loss", "lost data", "data was lost", "data is lost", "deleted the production",
    "dropped the production", "数据丢失", "丢数据", "丢了数据", "误删",
];
#[rustfmt::skip]
const MOST: &[&str] = &[
    "all users", "all customers", "all our customers", "all clients", "every user",
    "every customer", "for everyone", "everyone is", "everybody is", "nobody can", "no one can",
    "no customer can", "no user can", "all requests", "every request", "complete outage",
    "total outage", "full outage", "entire site", "whole site", "site is down", "completely down",
    "all regions", "most users", "most customers", "most requests", "majority of users",
    "majority of customers", "全部用户", "所有用户", "所有客户", "全站", "所有请求", "全部请求",
    "整站", "完全不可用", "全部失败", "所有人", "没人能", "绝大多数用户", "大部分用户",
];
#[rustfmt::skip]
const UNUSABLE: &[&str] = &[
    "down", "cannot", "can't", "nobody can", "no one can", "no customer can", "no user can",
    "fail", "fails", "failed", "failing", "unable", "unusable", "outage", "unavailable", "error",
    "errors", "500", "500s", "502", "502s", "503", "503s", "504", "5xx", "blank", "timeout",
    "timeouts", "times out", "timing out", "locked out", "不可用", "失败", "打不开", "无法",
    "报错", "挂了", "宕机", "超时", "没人能", "白屏", "登录不了",
];
#[rustfmt::skip]
const MANY: &[&str] = &[
    "many users", "many customers", "many clients", "many merchants", "lots of users",
    "lots of customers", "thousands of users", "thousands of customers", "hundreds of users",
    "hundreds of customers", "large number of", "large part of", "no workaround", "all users",
    "all customers", "every customer", "every user", "大量用户", "大量客户", "大量请求",
    "很多用户", "很多客户", "多数用户", "大批用户", "大面积", "没有绕过", "无法绕过",
];
#[rustfmt::skip]
const MAJOR: &[&str] = &[
    "checkout", "checkouts", "payment", "payments", "charges", "charge", "orders", "order",
    "login", "logins", "log in", "sign in", "signup", "sign-up", "purchase", "purchases", "pay",
    "buy", "check out", "购买",
    "withdrawals", "transfers", "下单", "支付", "登录", "结算", "交易", "付款", "提现", "转账",
    "注册",
];
#[rustfmt::skip]
const WORKAROUND: &[&str] = &[
    "workaround", "who retry usually get in", "retry works", "retries work", "retrying works", "retry helps",
    "a retry succeeds", "reload helps", "reloading helps", "second try works",
    "works after a retry", "succeeds on retry", "fallback works", "重试可以成功", "重试可成功",
    "重试成功", "重试后成功", "重试后正常", "刷新后正常", "刷新可恢复", "可以绕过", "有绕过",
    "临时方案", "降级方案",
];
#[rustfmt::skip]
const SOME: &[&str] = &[
    "some users", "some customers", "some visitors", "some clients", "some people",
    "some merchants", "some requests", "some of our", "a few users", "a few customers",
    "few users", "one customer", "single customer", "a customer", "a handful of", "handful",
    "intermittent", "intermittently", "sporadic", "sporadically", "occasionally", "occasional",
    "only the", "users report", "customers report", "users see", "customers see", "users complain",
    "customers complain", "customers are writing", "部分", "少量", "个别", "偶发", "偶尔", "间歇",
    "少数", "有用户", "用户反馈", "客户反馈", "用户投诉", "用户报",
];
#[rustfmt::skip]
const NOBODY: &[&str] = &[
    "no user impact", "no customer impact", "no impact on users", "no impact on customers",
    "no impact", "no users affected", "no customers affected", "nobody is affected",
    "no one is affected", "nobody notices", "nobody noticed", "users are not affected",
    "customers are not affected", "not user facing", "not customer facing", "not customer-facing",
    "not user-facing", "only staging", "staging only", "only in staging", "only on staging",
    "only in dev", "用户无感知", "用户无感", "无用户影响", "无影响", "没有影响", "不影响用户",
    "不影响线上", "未影响用户", "未影响线上", "没有用户受影响", "无人受影响", "仅测试环境",
    "只在测试环境", "只有测试环境", "仅预发", "只在预发",
];
/// From this share of requests or people on, a major part is hit. Between SEV3 and SEV2 the higher.
const MANY_FROM_PERCENT: f64 = 5.0;
/// From here on it is most of them.
const MOST_FROM_PERCENT: f64 = 50.0;

static SHARES: LazyLock<Vec<Regex>> = LazyLock::new(|| {
    [
        r"(?:error rate|failure rate|errors?|failures?|success rate dropped|5xx rate|5xx)[^.%\n]{0,24}?([0-9]+(?:\.[0-9]+)?) ?%",
        r"([0-9]+(?:\.[0-9]+)?) ?% of (?:all |our |the )?(?:requests?|users?|customers?|traffic|calls?|orders?|payments?|charges|logins?|sessions?|checkouts?|visitors?|clients?|messages?|transactions?|post|get|put|lookups?|jobs?|uploads?|page)",
        r"(?:错误率|失败率|报错率|异常率|影响)[^0-9%，。\n]{0,8}([0-9]+(?:\.[0-9]+)?) ?%",
        r"([0-9]+(?:\.[0-9]+)?) ?% ?(?:左右)?的?(?:请求|用户|订单|流量|调用|客户|交易|支付|会话)",
    ]
    .iter()
    .filter_map(|source| Regex::new(source).ok())
    .collect()
});
static ONE_IN: LazyLock<Option<Regex>> = LazyLock::new(|| {
    pattern(r"(?-u:\b)(?:one|1) (?:[a-z]+ )?(?:in|out of|of) (?:every )?([0-9]{1,4})(?-u:\b)")
});

/// The largest share of requests or people that the prose says to be hit, in percent.
fn share(read: &Read<'_>) -> Option<f64> {
    let mut largest: Option<f64> = None;
    for sentence in &read.sentences {
        let folded = fold(sentence);
        let direct = SHARES.iter().flat_map(|pattern| {
            pattern
                .captures_iter(&folded)
                .filter_map(|found| found.get(1)?.as_str().parse::<f64>().ok())
                .collect::<Vec<_>>()
        });
        let one_in = ONE_IN
            .as_ref()
            .and_then(|pattern| pattern.captures(&folded))
            .and_then(|found| found.get(1)?.as_str().parse::<f64>().ok())
            .filter(|n| *n >= 2.0)
            .map(|n| 100.0 / n);
        for percent in direct.chain(one_in) {
            if percent > 0.0 && percent <= 100.0 && largest.is_none_or(|l| percent > l) {
                largest = Some(percent);
            }
        }
    }
    largest
}

static HEADCOUNT: LazyLock<Option<Regex>> = LazyLock::new(|| {
    pattern(
        r"(?i)[0-9][0-9,.]* ?(?:k |万)?(?:users|customers|accounts|people|records|merchants|个?用户|名用户|个?客户|条记录|个账号)",
    )
});

fn severity(read: &Read<'_>, data_exposure: bool) -> (Severity, SeverityReason) {
    let any = |phrases: &[&str]| {
        read.clauses()
            .any(|clause| trouble::affirms(clause, phrases))
    };
    // Two signs in one sentence: whom, and that it is unusable for them.
    let both = |one: &[&str], other: &[&str]| {
        read.sentences.iter().any(|sentence| {
            clauses_of(sentence).any(|clause| trouble::affirms(clause, one))
                && clauses_of(sentence).any(|clause| trouble::affirms(clause, other))
        })
    };
    let counted = read
        .sentences
        .iter()
        .any(|sentence| is_match(&HEADCOUNT, sentence));
    let share = share(read);
    let most = both(MOST, UNUSABLE);
    if data_exposure || any(LOSS) {
        let confirmed_scope = counted || most || share.is_some();
        let severity = if confirmed_scope {
            Severity::Sev1
        } else {
            Severity::Sev2
        };
        return (severity, SeverityReason::DataAtRisk { confirmed_scope });
    }
    if most {
        return (Severity::Sev1, SeverityReason::MostAffected);
    }
    if let Some(percent) = share.filter(|percent| *percent >= MOST_FROM_PERCENT)
        && any(UNUSABLE)
    {
        return (Severity::Sev1, SeverityReason::Share(percent));
    }
    if any(WORKAROUND) {
        return (Severity::Sev3, SeverityReason::Workaround);
    }
    if let Some(percent) = share {
        let severity = if percent >= MANY_FROM_PERCENT {
            Severity::Sev2
        } else {
            Severity::Sev3
        };
        return (severity, SeverityReason::Share(percent));
    }
    if any(MANY) {
        return (Severity::Sev2, SeverityReason::ManyAffected);
    }
    // Nobody: unless the same report says that somebody is.
    let some = any(SOME);
    let nobody = any_nobody(read);
    if both(MAJOR, UNUSABLE) && !nobody {
        return if some {
            (Severity::Sev3, SeverityReason::SomeAffected)
        } else {
            (Severity::Sev2, SeverityReason::MajorFunction)
        };
    }
    if nobody {
        return (Severity::Sev4, SeverityReason::NobodyAffected);
    }
    if some || counted {
        return (Severity::Sev3, SeverityReason::SomeAffected);
    }
    (Severity::Sev3, SeverityReason::ImpactUnknown)
}

fn any_nobody(read: &Read<'_>) -> bool {
    read.clauses().any(|clause| {
        let folded = fold(clause);
        // "not sure whether there is no impact" is no statement.
        let doubted = [
            "not sure",
            "unclear",
            "don't know",
            "unknown",
            "是否",
            "不确定",
            "不清楚",
            "未知",
        ]
        .iter()
        .any(|doubt| folded.contains(doubt));
        !doubted && NOBODY.iter().any(|phrase| folded.contains(phrase))
    })
}

/// Those who notice.
#[rustfmt::skip]
const PEOPLE: &[&str] = &[
    "user", "users", "customer", "customers", "visitor", "visitors", "client", "clients", "people",
    "merchant", "merchants", "shoppers", "tenants", "drivers", "patients", "subscribers",
    "readers", "finance", "support tickets", "tickets", "requests", "checkout", "checkouts",
    "orders", "documents", "invoices", "payments", "charges", "pushes", "address forms", "用户",
    "客户", "商户", "买家", "顾客", "访客", "下单", "支付", "登录", "请求", "订单", "客户端",
];

/// The clause that says who notices what; the whole sentence where the clause alone says too little.
fn impact(read: &Read<'_>) -> Option<String> {
    let mut best: Option<(u32, &str)> = None;
    for sentence in &read.sentences {
        for clause in clauses_of(sentence) {
            let people = trouble::affirms(clause, PEOPLE);
            let folded = fold(clause);
            let share = says_share(clause);
            let trouble = trouble::affirms(clause, TROUBLE_WORDS);
            let nobody = NOBODY.iter().any(|phrase| folded.contains(phrase));
            let score = match (people, share, trouble, nobody) {
                (true, true, _, _) => 4,
                (true, _, true, _) => 4,
                (_, _, _, true) => 3,
                (_, true, _, _) => 3,
                _ => 0,
            };
            let shown = if words_in(clause) < 4 || says_share(sentence) {
                sentence
            } else {
                clause
            };
            if score > 0 && best.is_none_or(|(known, _)| score > known) {
                best = Some((score, shown));
            }
        }
    }
    best.map(|(_, clause)| cut(clause, CLAUSE_GRAPHEMES))
}

fn says_share(text: &str) -> bool {
    let folded = fold(text);
    SHARES.iter().any(|pattern| pattern.is_match(&folded)) || is_match(&ONE_IN, &folded)
}

/// Words, a Han character for half a word.
fn words_in(text: &str) -> usize {
    let han = text.chars().filter(|c| is_cjk(*c)).count();
    text.split(|c: char| !c.is_alphanumeric() || is_cjk(c))
        .filter(|word| !word.is_empty())
        .count()
        + han / 2
}

static SINCE: LazyLock<Vec<Regex>> = LazyLock::new(|| {
    [
        r"(?i)(?-u:\b)(?:since|starting(?: at| around)?|started(?: at| around)?|began(?: at| around)?|as of|beginning at)(?-u:\b) (?:about |around |roughly |approximately |~)?((?:the |this |last |yesterday|today|tonight|monday|tuesday|wednesday|thursday|friday|saturday|sunday|noon|midnight|[0-9])[^,;.()\n]{0,40})",
        r"(?i)(?-u:\b)from ((?:about |around )?[0-9]{1,2}:[0-9]{2}(?: ?[A-Z]{2,4})?)(?-u:\b)",
        r"(?:从|自从|自)([^，。；\n]{1,24}?)(?:起|开始|以来|之后)",
        r"((?:今天|今早|今晚|昨天|昨晚|昨日|凌晨|早上|上午|中午|下午|晚上|北京时间|[ 约]){0,4}[0-9]{1,2}(?::[0-9]{2}|点(?:[0-9]{1,2}分?|半)?)(?:左右|许)?) ?(?:开始|起)",
        r"((?:今天|今早|今晚|昨天|昨晚|昨日|凌晨|早上|上午|中午|下午|晚上|刚才)+)(?:开始|起)",
    ]
    .iter()
    .filter_map(|source| Regex::new(source).ok())
    .collect()
});

/// Since when, in the report's words. A clause about a change or the last good run says another time.
fn since(read: &Read<'_>) -> Option<String> {
    for sentence in &read.sentences {
        for clause in clauses_of(sentence) {
            let folded = fold(clause);
            let other = [
                "deploy",
                "nothing",
                "last success",
                "successful",
                "发布",
                "上线",
                "发版",
                "no change",
            ]
            .iter()
            .any(|word| folded.contains(word));
            if other {
                continue;
            }
            let found = SINCE
                .iter()
                .find_map(|pattern| pattern.captures(clause)?.get(1).map(|m| m.as_str()));
            if let Some(words) = found {
                let words = [" and ", " but ", " when ", " while ", " after "]
                    .iter()
                    .filter_map(|stop| words.find(stop))
                    .min()
                    .and_then(|end| words.get(..end))
                    .unwrap_or(words);
                return Some(cut(words.trim(), 60));
            }
        }
    }
    None
}

static QUANTITY: LazyLock<Option<Regex>> = LazyLock::new(|| {
    pattern(
        r"(?-u:\b)[0-9]+(?:[.,][0-9]+)* ?(?:%|％|ms(?-u:\b)|s(?-u:\b)|min(?:utes)?(?-u:\b)|hours?(?-u:\b)|days?(?-u:\b)|seconds?(?-u:\b)|[KMGT]i?B(?-u:\b)|[KMG]i(?-u:\b)|rps(?-u:\b)|qps(?-u:\b)|per second|(?:requests|users|customers|documents|connections|orders|messages|pods|replicas|invoices|tickets)(?-u:\b)|分钟|小时|秒|毫秒|万|个|次|笔|台)",
    )
});

fn quantities(read: &Read<'_>) -> Vec<String> {
    let Some(pattern) = QUANTITY.as_ref() else {
        return Vec::new();
    };
    let mut out: Vec<String> = Vec::new();
    for sentence in &read.sentences {
        for found in pattern.find_iter(sentence) {
            if out.len() >= MAX_QUANTITIES {
                return out;
            }
            let words = found.as_str().to_owned();
            if !out.contains(&words) {
                out.push(words);
            }
        }
    }
    out
}

static FILES: LazyLock<Option<Regex>> = LazyLock::new(|| {
    pattern(
        r"(?-u:[A-Za-z0-9_./\-]*[A-Za-z0-9_\-])\.(?:rs|go|py|java|kt|scala|js|jsx|ts|tsx|rb|php|cs|cpp|cc|hpp|sql|ya?ml|toml|tf|json|conf|ini|sh|proto|ex|swift|vue|lua)(?-u:\b)",
    )
});

fn implicated_files(read: &Read<'_>) -> Vec<String> {
    let Some(pattern) = FILES.as_ref() else {
        return Vec::new();
    };
    let mut out: Vec<String> = Vec::new();
    for text in read.sentences.iter().chain(&read.log_lines) {
        // Most lines name no file; the dot is the cheap test.
        if !text.contains('.') {
            continue;
        }
        for found in pattern.find_iter(text) {
            if out.len() >= MAX_FILES {
                return out;
            }
            let file = found.as_str().trim_start_matches(['.', '-']);
            // `Node.js` and `Vue.js` are products.
            let product = matches!(
                file,
                "Node.js" | "node.js" | "Next.js" | "Vue.js" | "React.js"
            );
            if !product && file.len() > 3 && !out.iter().any(|known| known == file) {
                out.push(file.to_owned());
            }
        }
    }
    out
}

/// Cuts on graphemes, at a word where one ends nearby, and shows that it was cut.
pub(super) fn cut(text: &str, graphemes: usize) -> String {
    let text = text.trim();
    // A byte is never more than a grapheme.
    if text.len() <= graphemes || text.graphemes(true).count() <= graphemes {
        return text.to_owned();
    }
    let kept: String = text
        .graphemes(true)
        .take(graphemes.saturating_sub(1))
        .collect();
    let at_word = kept
        .rfind(char::is_whitespace)
        .filter(|at| at * 3 >= kept.len() * 2)
        .and_then(|at| kept.get(..at))
        .unwrap_or(&kept);
    format!("{}…", at_word.trim_end_matches([' ', ',', ';', ':', '，']))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Triage {
        let registry = Registry::from_names([
            "payments-api",
            "geo-lookup",
            "invoice-batch",
            "notify-go",
            "user-center",
            "gateway",
            "order-service",
        ]);
        triage(&Report::from_text(text), &registry, &Said::default())
    }

    const CHARGES: &str = "payments-api is returning intermittent 503s since 02:41 UTC, about 12% of POST /v1/charges.\nNamespace payments, deployment payments-api, 8 replicas, nothing deployed since yesterday 16:20.\n2026-11-30 02:41:07.113 ERROR [http-nio-8080-exec-44] o.h.engine.jdbc.spi.SqlExceptionHelper - HikariPool-1 - Connection is not available, request timed out after 30000ms.\nPostgres itself looks bored, CPU 14%, 23 connections of 200.";

    #[test]
    fn a_report_in_english() {
        let triage = read(CHARGES);
        assert_eq!(triage.title, "returning intermittent 503s");
        assert_eq!(triage.service.as_deref(), Some("payments-api"));
        assert_eq!(triage.severity, Severity::Sev2);
        assert_eq!(triage.severity_reason, SeverityReason::Share(12.0));
        assert_eq!(triage.since.as_deref(), Some("02:41 UTC"));
        assert_eq!(triage.failure_class, FailureClass::Saturation);
        assert_eq!(triage.change_before, None);
        assert_eq!(
            triage.error_signatures,
            vec![
                "o.h.engine.jdbc.spi.SqlExceptionHelper - HikariPool-1 - Connection is not available, request timed out after 30000ms."
            ]
        );
        assert!(triage.impact_known);
        assert!(!triage.data_exposure);
    }

    #[test]
    fn a_report_in_chinese() {
        let triage = read(
            "payments-api 从北京时间 10:42 起间歇性 503，部分支付请求失败，用户重试可以成功。网关日志：upstream returned 429 Too Many Requests, route=payments-api。数据库连接池使用率 30%。今天没有发布。",
        );
        assert_eq!(triage.title, "间歇性 503");
        assert_eq!(triage.severity, Severity::Sev3);
        assert_eq!(triage.severity_reason, SeverityReason::Workaround);
        assert_eq!(triage.since.as_deref(), Some("北京时间 10:42"));
        assert_eq!(triage.failure_class, FailureClass::RateLimit);
        assert_eq!(triage.change_before, None);
        assert_eq!(
            triage.error_signatures,
            vec!["upstream returned 429 Too Many Requests, route=payments-api"]
        );
    }

    #[test]
    fn r30_no_word_alone_is_a_sev1() {
        for text in [
            "outage",
            "SEV1!!! everything is critical",
            "payments-api is down",
            "data breach?",
            "CRITICAL: disk",
            "not all users are affected, errors seen",
            "Hi everyone, errors in the log",
            "数据泄露",
            "全站告警",
        ] {
            assert_ne!(read(text).severity, Severity::Sev1, "{text}");
        }
    }

    #[test]
    fn r30_the_severity_proposed() {
        use Severity::{Sev1, Sev2, Sev3, Sev4};
        for (text, severity) in [
            ("nobody can log in", Sev1),
            ("all customers get errors at checkout", Sev1),
            ("所有用户无法登录", Sev1),
            ("70% of requests fail", Sev1),
            ("4200 customers could see other customers' data", Sev1),
            ("error rate 27%", Sev2),
            ("one request in 20 fails", Sev2),
            ("checkout fails", Sev2),
            ("下单失败", Sev2),
            ("错误率约２０％", Sev2),
            ("many users complain", Sev2),
            ("2% of requests fail", Sev3),
            ("some users see white pages", Sev3),
            ("pods restart", Sev3),
            ("latency is high, retry works", Sev3),
            ("no user impact, one replica restarts", Sev4),
            ("测试节点磁盘告警，不影响用户", Sev4),
        ] {
            let triage = read(text);
            assert_eq!(
                triage.severity, severity,
                "{text}: {:?}",
                triage.severity_reason
            );
        }
        assert_eq!(
            read("pods restart").severity_reason,
            SeverityReason::ImpactUnknown
        );
        assert!(!read("pods restart").impact_known);
    }

    #[test]
    fn a_persons_word_wins() {
        let said = Said {
            service: Some("Payments API".into()),
            severity: Some(Severity::Sev4),
        };
        let registry = Registry::from_names(["payments-api"]);
        let triage = triage(&Report::from_text("nobody can log in"), &registry, &said);
        assert_eq!(triage.severity, Severity::Sev4);
        assert_eq!(triage.severity_reason, SeverityReason::Said);
        assert_eq!(triage.service.as_deref(), Some("payments-api"));
    }

    #[test]
    fn the_kind_of_failure() {
        use FailureClass::*;
        for (text, class) in [
            ("nothing deployed since yesterday", Unknown),
            ("this is not a deploy, pool at 30 %", Unknown),
            ("今天没有发布", Unknown),
            ("", Unknown),
            ("errors right after the deploy at 14:02", Deploy),
            ("昨晚发过版，下单失败", Deploy),
            ("connection pool exhausted", Saturation),
            ("CPU at 98 %", Saturation),
            ("payment provider answers 502", Dependency),
            ("429 Too Many Requests", RateLimit),
            ("no space left on device", Disk),
            ("磁盘使用率 95%", Disk),
            ("pods OOMKilled every 20 minutes", Memory),
            ("内存持续上涨", Memory),
            ("证书过期了", Certificate),
            ("x509: certificate has expired", Certificate),
            ("NXDOMAIN for pricing.internal", Dns),
            ("ERROR: deadlock detected", Database),
            ("慢查询把数据库拖垮了", Database),
            ("consumer lag keeps growing", Queue),
            ("消息积压", Queue),
            ("配置错误导致启动失败", Configuration),
            ("feature flag was switched on, errors since", Configuration),
            ("customers were charged twice", Data),
            ("数据不一致", Data),
            ("packet loss between zones", Network),
            ("专线丢包", Network),
        ] {
            assert_eq!(read(text).failure_class, class, "{text}");
        }
    }

    #[test]
    fn what_came_before_and_since_when() {
        for (text, change, since) in [
            (
                "Release 3.9.2 rolled out at 18:05 UTC, it added the client.",
                Some("Release 3.9.2 rolled out at 18:05 UTC, it added the client"),
                None,
            ),
            ("下单失败，昨晚发过版。", Some("下单失败，昨晚发过版"), None),
            ("We changed nothing, no deploys.", None, None),
            (
                "pods restart since the evening, pushes late",
                None,
                Some("the evening"),
            ),
            ("user-center 内存上涨，10:00 开始。", None, Some("10:00")),
            ("It started at 03:10 and got worse.", None, Some("03:10")),
            ("Last successful run since 2026-11-28.", None, None),
        ] {
            let triage = read(text);
            assert_eq!(triage.change_before.as_deref(), change, "{text}");
            assert_eq!(triage.since.as_deref(), since, "{text}");
        }
    }

    #[test]
    fn titles_are_the_reports_own_words() {
        for (text, title) in [
            ("", ""),
            (
                "hi all\ngateway: TLS handshake fails",
                "TLS handshake fails",
            ),
            ("证书过期了？网关握手失败，大量客户端报错", "证书过期了"),
            (
                "invoice-batch did not produce invoices for the second night.",
                "did not produce invoices for the second night",
            ),
            (
                "2026-11-30 02:00:00 ERROR disk full on db-1",
                "disk full on db-1",
            ),
        ] {
            assert_eq!(read(text).title, title, "{text}");
        }
        let long = read(&format!("errors {}", "👩‍👩‍👧‍👦".repeat(200)));
        assert!(long.title.graphemes(true).count() <= TITLE_GRAPHEMES);
    }

    #[test]
    fn two_services_are_no_answer() {
        let triage = read("order-svc and the gateway fail");
        assert_eq!(triage.service, None);
        assert_eq!(triage.service_ambiguous, vec!["order-service", "gateway"]);
    }

    #[test]
    fn r5_a_slip_is_forgiven_where_one_service_is_clearly_meant() {
        let registry = Registry::from_names(["payments-api", "inventory-api", "inventary-api"]);
        let of = |text: &str, said: Option<&str>| {
            let said = Said {
                service: said.map(str::to_owned),
                severity: None,
            };
            let read = triage(&Report::from_text(text), &registry, &said);
            (read.service, read.service_ambiguous)
        };
        let one = |name: &str| (Some(name.to_owned()), vec![]);
        assert_eq!(of("paymets-api answers 503", None), one("payments-api"));
        assert_eq!(of("it is slow", Some("paymets-api")), one("payments-api"));
        assert_eq!(of("it is slow", Some("payment-api")), one("payment-api"));
        // What is named beats what resembles.
        assert_eq!(
            of("inventory-api calls paymets-api", None),
            one("inventory-api")
        );
        let both = vec!["inventory-api".to_owned(), "inventary-api".to_owned()];
        assert_eq!(of("inventry-api is down", None), (None, both.clone()));
        assert_eq!(of("it is slow", Some("inventry-api")), (None, both));
    }

    #[test]
    fn files_and_numbers() {
        let triage =
            read("panic in src/auth/login.rs:42 and charge.go, Node.js v20, p99 is 30 s, 12% fail");
        assert_eq!(
            triage.implicated_files,
            vec!["src/auth/login.rs", "charge.go"]
        );
        assert_eq!(triage.quantities, vec!["30 s", "12%"]);
    }
}

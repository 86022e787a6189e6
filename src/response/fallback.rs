//! The rule-based engine: what is proposed, and answered, while no model answers (R23, R24).
//!
//! Wanted: useful at once and honest. A cause is named only where a past incident of this service
//! has one, where the pattern of an analogy has one, where a change came before the impact, or as
//! the general practice for a kind of failure. Nothing is scored. Every number, name and quote comes
//! from the report or from a direct match.
//!
//! Design: [`propose`] gives the same [`Proposal`] that a model would, and it passes through the same
//! validation. Causes of direct matches are grouped by sameness; the fix is referred to by its
//! incident, so that validation copies the stored words and their record. [`answer`] looks up, it
//! does not conclude: it knows the questions that are asked at night (what fixed it, why, since
//! when, who, what changed, what was ruled out) and else looks for the question's own words.
//!
//! Deliberately absent: anything from *low* memories, components of another service, commands that
//! change something, confidence.

use super::checks::{self, Check};
use crate::incident::proposal::{
    Proposal, ProposedAnswer, ProposedHypothesis, ProposedRuledOut, ProposedStep, ProposedUpdate,
    Risk,
};
use crate::incident::words::{fold, is_cjk, meaningful};
use crate::incident::{
    FailureClass, FixAttempt, Locale, Memory, Outcome, PastIncident, Recalled, Report, Severity,
    Standing, sameness, service, volatile,
};
use jiff::Timestamp;
use regex::Regex;
use std::collections::BTreeSet;
use std::sync::LazyLock;

/// What the engine proposes from: the report, what was recalled, and what the rules read in it.
#[derive(Clone, Copy, Debug)]
pub struct FallbackInput<'a> {
    /// What is seen today.
    pub report: &'a Report,
    /// Canonical name of the service, if it is known.
    pub service: Option<&'a str>,
    /// What was recalled.
    pub memory: &'a Memory,
    /// What was tried in this incident: a fix that failed is not proposed again.
    pub own_attempts: &'a [FixAttempt],
    /// The kind of failure that the rules see.
    pub failure_class: FailureClass,
    /// The severity in force.
    pub severity: Severity,
    /// Who notices what, in the report's words.
    pub impact: Option<&'a str>,
    /// Since when, in the report's words.
    pub since: Option<&'a str>,
    /// A change that came before the impact, in the report's words.
    pub change_before: Option<&'a str>,
    /// What is seen, in the report's words.
    pub symptoms: &'a [String],
    /// Error lines of the report.
    pub error_lines: &'a [String],
    /// The language of what is proposed.
    pub locale: Locale,
}

/// Hypotheses from direct matches at most; R14 shows four in all.
const DIRECT_AT_MOST: usize = 3;
/// Hypotheses from analogies at most.
const ANALOGIES_AT_MOST: usize = 2;
/// All hypotheses at most (R14).
const HYPOTHESES_AT_MOST: usize = 4;
/// Quotes on one hypothesis.
const QUOTES_AT_MOST: usize = 2;
/// Longest quote, in characters: a card is read on a phone.
const QUOTE_CHARACTERS: usize = 160;
/// Class checks in the checklist; R16 takes seven steps in all.
const CHECKS_AT_MOST: usize = 4;

/// What the rules propose.
pub fn propose(input: &FallbackInput<'_>) -> Proposal {
    let all_text = input.report.all_text();
    let groups = causes_here(input.memory);
    let class_checks = checks::standard(input.failure_class, input.locale, input.service);
    let change = input
        .change_before
        .map(str::trim)
        .filter(|change| !change.is_empty() && !sameness::negates(change));

    let mut hypotheses: Vec<ProposedHypothesis> = groups
        .iter()
        .take(DIRECT_AT_MOST)
        .map(|group| from_direct(input, &all_text, group, &class_checks))
        .collect();
    if let Some(change) = change {
        hypotheses.push(from_change(input, &all_text, change, &class_checks));
    }
    for recalled in input.memory.analogies() {
        let enough = hypotheses
            .iter()
            .filter(|hypothesis| hypothesis.source == "memory")
            .count()
            >= groups.len().min(DIRECT_AT_MOST) + ANALOGIES_AT_MOST;
        if enough || hypotheses.len() >= HYPOTHESES_AT_MOST {
            break;
        }
        if let Some(analogy) = from_analogy(input, &all_text, recalled, &class_checks)
            && !hypotheses
                .iter()
                .any(|known| sameness::same(&known.title, &analogy.title))
        {
            hypotheses.push(analogy);
        }
    }
    // The class says little; beside two causes that rest on something it would be padding.
    if hypotheses.len() < 2
        && let Some(general) = from_class(input, &class_checks)
        && !(change.is_some() && input.failure_class == FailureClass::Deploy)
    {
        hypotheses.push(general);
    }

    Proposal {
        summary: summary(input),
        severity: Some(input.severity),
        severity_reason: severity_reason(input),
        verdict_status: String::new(),
        verdict_refs: input
            .memory
            .direct()
            .map(|recalled| recalled.incident.id.to_string())
            .collect(),
        hypotheses,
        next_steps: next_steps(input, &all_text, &groups, change, &class_checks),
        ruled_out: ruled_out(input.memory, &all_text, input.locale),
        update: update(input, &class_checks),
        safety_notes: safety_notes(input),
        cut_off: false,
        repaired: false,
    }
}

fn say(locale: Locale, en: &str, zh: &str) -> String {
    match locale {
        Locale::En => en.to_owned(),
        Locale::Zh => zh.to_owned(),
    }
}

/// Text of memory with what names one night only replaced, unless today's report has it too (R20).
fn of_today(text: &str, report: &str) -> String {
    volatile::replace(text.trim(), |word| report.contains(word)).0
}

/// At most so many characters, cut at white space where there is some.
fn clipped(text: &str, characters: usize) -> String {
    let text = text.trim();
    if text.chars().nth(characters).is_none() {
        return text.to_owned();
    }
    let start: String = text.chars().take(characters).collect();
    match start.rsplit_once(char::is_whitespace) {
        Some((kept, _)) if kept.chars().count() * 2 > characters => kept.trim_end().to_owned(),
        _ => start,
    }
}

// ---------------------------------------------------------------------------------------------
// Direct matches

/// Direct matches with one cause.
struct Group<'a> {
    cause: &'a str,
    members: Vec<&'a Recalled>,
}

impl<'a> Group<'a> {
    /// The newest incident in which its fix held, else the newest one that has a fix.
    fn fix_from(&self) -> Option<&'a PastIncident> {
        let newest = |held: bool| {
            self.members
                .iter()
                .map(|recalled| &recalled.incident)
                .filter(|incident| {
                    incident.fix().is_some() && (!held || incident.outcome() == Outcome::Held)
                })
                .max_by_key(|incident| (when(incident), incident.id))
        };
        newest(true).or_else(|| newest(false))
    }

    fn held(&self) -> bool {
        self.members
            .iter()
            .any(|recalled| recalled.incident.outcome() == Outcome::Held)
    }
}

fn when(incident: &PastIncident) -> Option<Timestamp> {
    incident.resolved_at.or(incident.started_at)
}

/// The causes that direct matches have, those with a fix that held first, else in order of recall.
fn causes_here(memory: &Memory) -> Vec<Group<'_>> {
    let mut groups: Vec<Group<'_>> = Vec::new();
    for recalled in memory.direct() {
        let cause = recalled.incident.root_cause.trim();
        if cause.is_empty() {
            continue;
        }
        match groups
            .iter_mut()
            .find(|group| sameness::same(group.cause, cause))
        {
            Some(group) => group.members.push(recalled),
            None => groups.push(Group {
                cause,
                members: vec![recalled],
            }),
        }
    }
    groups.sort_by_key(|group| !group.held());
    groups
}

fn from_direct(
    input: &FallbackInput<'_>,
    all_text: &str,
    group: &Group<'_>,
    class_checks: &[Check],
) -> ProposedHypothesis {
    let cause = of_today(group.cause, all_text);
    let incidents: Vec<&PastIncident> = group
        .members
        .iter()
        .map(|recalled| &recalled.incident)
        .collect();
    ProposedHypothesis {
        title: cause.clone(),
        source: "memory".to_owned(),
        memory_refs: incidents
            .iter()
            .map(|incident| incident.id.to_string())
            .collect(),
        evidence: shared_lines(input.report, &incidents),
        contradicted_by: Vec::new(),
        confidence: None,
        verify: verify_past(input, all_text, &cause, &incidents, class_checks),
        fix: String::new(),
        fix_ref: group
            .fix_from()
            .map(|incident| incident.id.to_string())
            .unwrap_or_default(),
    }
}

/// An error that was seen with this cause and is not in the report is the most specific thing to
/// look for; without one, the cause itself is to be checked.
fn verify_past(
    input: &FallbackInput<'_>,
    all_text: &str,
    cause: &str,
    incidents: &[&PastIncident],
    class_checks: &[Check],
) -> String {
    let missing = incidents
        .iter()
        .flat_map(|incident| &incident.error_signatures)
        .find(|line| line.trim().chars().count() >= 8 && !stands_in(line, all_text));
    if let Some(line) = missing {
        let line = clipped(&of_today(line, all_text), QUOTE_CHARACTERS);
        return match input.locale {
            Locale::En => format!("Look in today's logs for the error seen with it before: {line}"),
            Locale::Zh => format!("在当前日志中查找当时出现过的错误：{line}"),
        };
    }
    with_first_check(
        match input.locale {
            Locale::En => format!("Check whether it applies this time: {cause}"),
            Locale::Zh => format!("确认这次是否同样是：{cause}"),
        },
        input.locale,
        class_checks,
    )
}

fn with_first_check(sentence: String, locale: Locale, class_checks: &[Check]) -> String {
    match (class_checks.first(), locale) {
        (Some(check), Locale::En) => format!("{sentence}. Start here: {}", check.step),
        (Some(check), Locale::Zh) => format!("{sentence}。可先{}", check.step),
        (None, _) => sentence,
    }
}

/// Lines of the report in which an error or a symptom of these incidents stands, word for word.
fn shared_lines(report: &Report, incidents: &[&PastIncident]) -> Vec<String> {
    let errors: Vec<&String> = incidents
        .iter()
        .flat_map(|incident| &incident.error_signatures)
        .collect();
    let symptoms: Vec<BTreeSet<String>> = incidents
        .iter()
        .flat_map(|incident| &incident.symptoms)
        .map(|symptom| meaningful(symptom))
        .filter(|words| words.len() >= 2)
        .collect();
    let mut quotes: Vec<String> = Vec::new();
    for pass in [true, false] {
        for (_, text) in report.parts() {
            for line in text.lines() {
                if quotes.len() >= QUOTES_AT_MOST {
                    return quotes;
                }
                let shared = if pass {
                    errors.iter().any(|error| stands_in(error, line))
                } else {
                    line.chars().count() <= 400 && {
                        let words = meaningful(line);
                        symptoms.iter().any(|symptom| symptom.is_subset(&words))
                    }
                };
                let quote = clipped(line, QUOTE_CHARACTERS);
                if shared && is_quotable(&quote) && !quotes.contains(&quote) {
                    quotes.push(quote);
                }
            }
        }
    }
    quotes
}

/// [`sameness::signature_stands_in`], asked only of lines that hold the signature's longest word:
/// logs are long.
fn stands_in(error: &str, text: &str) -> bool {
    let words = sameness::signature(error);
    let Some(longest) = words.iter().max_by_key(|word| word.len()) else {
        return false;
    };
    text.lines()
        .filter(|line| fold(line).contains(longest.trim_matches('#')))
        .any(|line| sameness::signature_stands_in(error, line))
}

/// R3's least length of a quote: three words or twelve characters, four in Chinese.
fn is_quotable(quote: &str) -> bool {
    quote.split_whitespace().count() >= 3
        || quote.chars().count() >= 12
        || quote.chars().filter(|c| is_cjk(*c)).count() >= 4
}

// ---------------------------------------------------------------------------------------------
// A change, analogies, the kind of failure

fn from_change(
    input: &FallbackInput<'_>,
    all_text: &str,
    change: &str,
    class_checks: &[Check],
) -> ProposedHypothesis {
    let quote = clipped(change, QUOTE_CHARACTERS);
    let deploy;
    let check = if input.failure_class == FailureClass::Deploy {
        class_checks.first()
    } else {
        deploy = checks::standard(FailureClass::Deploy, input.locale, input.service);
        deploy.first()
    };
    ProposedHypothesis {
        title: say(
            input.locale,
            "A change shortly before the impact",
            "影响开始前不久的变更引起",
        ),
        source: "current_evidence".to_owned(),
        evidence: if all_text.contains(&quote) && is_quotable(&quote) {
            vec![quote]
        } else {
            Vec::new()
        },
        verify: check.map(|check| check.step.clone()).unwrap_or_default(),
        ..ProposedHypothesis::default()
    }
}

fn from_analogy(
    input: &FallbackInput<'_>,
    all_text: &str,
    recalled: &Recalled,
    class_checks: &[Check],
) -> Option<ProposedHypothesis> {
    let incident = &recalled.incident;
    if incident.root_cause.trim().is_empty() {
        return None;
    }
    let known = known_words(input, all_text);
    let pattern = pattern_only(
        &incident.root_cause,
        incident.service.as_deref(),
        &known,
        input.locale,
    );
    let evidence = shared_lines(input.report, &[incident]);
    let title = match pattern {
        Some(pattern) => pattern,
        None if recalled.shares_signature => say(
            input.locale,
            "The same error had its cause inside another service; here it is not known",
            "另一服务出现过同样的错误，原因在其内部；本服务的原因未知",
        ),
        None => return None,
    };
    let verify = with_first_check(
        match input.locale {
            Locale::En => format!("Check whether this pattern is found here at all: {title}"),
            Locale::Zh => format!("先确认本服务是否存在这种模式：{title}"),
        },
        input.locale,
        class_checks,
    );
    Some(ProposedHypothesis {
        title,
        source: "memory".to_owned(),
        memory_refs: vec![incident.id.to_string()],
        evidence,
        verify,
        ..ProposedHypothesis::default()
    })
}

/// Words of the report, of direct matches and of the service's own name: what may be named.
fn known_words(input: &FallbackInput<'_>, all_text: &str) -> BTreeSet<String> {
    let mut known: BTreeSet<String> = BTreeSet::new();
    let mut learn = |text: &str| {
        known.extend(
            pieces(text)
                .into_iter()
                .filter(|piece| piece.is_word)
                .map(|piece| fold(core(&piece.text))),
        );
    };
    learn(all_text);
    learn(input.service.unwrap_or_default());
    for recalled in input.memory.direct() {
        let incident = &recalled.incident;
        learn(&incident.title);
        learn(&incident.root_cause);
        incident.symptoms.iter().for_each(|text| learn(text));
        incident
            .error_signatures
            .iter()
            .for_each(|text| learn(text));
    }
    known
}

/// A run of a text: a word (anything between spaces and Chinese), or what stands between words.
struct Piece {
    text: String,
    is_word: bool,
}

fn pieces(text: &str) -> Vec<Piece> {
    let mut out: Vec<Piece> = Vec::new();
    for c in text.chars() {
        let is_word = !(c.is_whitespace()
            || is_cjk(c)
            || matches!(c, '\u{3000}'..='\u{303F}' | '\u{FF00}'..='\u{FF0F}' | '\u{FF1A}'..='\u{FF20}' | '\u{2018}'..='\u{201D}'));
        match out.last_mut() {
            Some(last) if last.is_word == is_word => last.text.push(c),
            _ => out.push(Piece {
                text: c.to_string(),
                is_word,
            }),
        }
    }
    out
}

/// A word without the punctuation of its sentence.
fn core(word: &str) -> &str {
    word.trim_end_matches(['.', ',', ';', ':', '!', '?', ')', ']', '"', '\''])
        .trim_start_matches(['(', '[', '"', '\''])
}

/// Compounds that are English, not names.
const COMMON_COMPOUNDS: &[&str] = &[
    "back-end",
    "cold-start",
    "cross-zone",
    "end-to-end",
    "front-end",
    "half-open",
    "high-cardinality",
    "in-flight",
    "in-memory",
    "keep-alive",
    "least-recently-used",
    "long-lived",
    "long-running",
    "low-level",
    "multi-tenant",
    "non-blocking",
    "one-off",
    "open-ended",
    "out-of-date",
    "out-of-memory",
    "per-request",
    "per-tenant",
    "point-in-time",
    "pre-warmed",
    "rate-limit",
    "rate-limited",
    "re-election",
    "read-only",
    "read-write",
    "round-robin",
    "self-signed",
    "short-lived",
    "single-threaded",
    "split-brain",
    "third-party",
    "time-out",
    "time-to-live",
    "two-phase",
    "up-to-date",
    "well-known",
    "write-ahead",
];

/// A name of a part (class, function, table, host, queue, key, path, flag), by its spelling.
fn is_identifier(word: &str) -> bool {
    let name = core(word);
    if name.is_empty() {
        return false;
    }
    let letters = name.chars().any(char::is_alphabetic);
    let digits = name.chars().any(|c| c.is_ascii_digit());
    let chars: Vec<char> = name.chars().collect();
    let inner_capital = chars
        .windows(2)
        .any(|pair| matches!(pair, [a, b] if a.is_lowercase() && b.is_uppercase()));
    let inner_dot = chars
        .windows(3)
        .any(|w| matches!(w, [a, '.', b] if a.is_alphanumeric() && b.is_alphanumeric()));
    let compound = name.trim_matches('-').contains('-')
        && COMMON_COMPOUNDS
            .binary_search(&fold(name).as_str())
            .is_err();
    let quoted = word.starts_with(['`', '\'', '"']);
    letters
        && (inner_capital
            || inner_dot
            || digits
            || compound
            || quoted
            || name.starts_with('-')
            || name.contains(['_', '/', '\\', '=', '(', '@', '`', '#', '$', '{', '<'])
            || name.contains("::"))
}

/// The pattern of a cause without what belongs to its own service (R6): names of parts, numbers and
/// the service's name give way to words that say nothing. `None` where hardly anything is left.
fn pattern_only(
    cause: &str,
    of_service: Option<&str>,
    known: &BTreeSet<String>,
    locale: Locale,
) -> Option<String> {
    let part = match locale {
        Locale::En => "some part",
        Locale::Zh => "某个部分",
    };
    let service_key = of_service.map(service::key).filter(|key| !key.is_empty());
    let all = pieces(cause);
    let words: Vec<usize> = (0..all.len())
        .filter(|index| all.get(*index).is_some_and(|piece| piece.is_word))
        .collect();
    let word_at = |position: usize| -> &str {
        words
            .get(position)
            .and_then(|index| all.get(*index))
            .map_or("", |piece| core(&piece.text))
    };
    // The service's own name, in one to three words.
    let mut hidden: BTreeSet<usize> = BTreeSet::new();
    for start in 0..words.len() {
        for length in 1..=3.min(words.len() - start) {
            let spelled = (start..start + length)
                .map(word_at)
                .collect::<Vec<_>>()
                .join("-");
            if service_key
                .as_ref()
                .is_some_and(|key| *key == service::key(&spelled))
                && !known.contains(&fold(&spelled))
            {
                hidden.extend(
                    (start..start + length)
                        .filter_map(|p| words.get(p))
                        .copied(),
                );
            }
        }
    }
    let mut out = String::new();
    let mut left: String = String::new();
    for (index, piece) in all.iter().enumerate() {
        let name = core(&piece.text);
        let is_known = known.contains(&fold(name));
        let number = piece.is_word && !name.is_empty() && name.bytes().all(|b| b.is_ascii_digit());
        let replacement = if hidden.contains(&index)
            || (piece.is_word && is_identifier(&piece.text) && !is_known)
        {
            Some(part)
        } else if number && !is_known {
            Some("…")
        } else {
            None
        };
        match replacement {
            // Two names in a row are one part.
            Some(word) if out.trim_end().ends_with(word) => {}
            Some(word) => out.push_str(word),
            None => {
                out.push_str(&piece.text);
                left.push_str(&piece.text);
            }
        }
    }
    let han = left.chars().filter(|c| is_cjk(*c)).count();
    let says_something = meaningful(&left).len() >= 3 || han >= 4;
    let out = out.split_whitespace().collect::<Vec<_>>().join(" ");
    says_something.then_some(out)
}

/// The general cause of a kind of failure: no component, no number.
fn general_cause(class: FailureClass, locale: Locale) -> Option<String> {
    let (en, zh) = match class {
        FailureClass::Deploy => (
            "The latest change does not work under real traffic",
            "最近一次变更在真实流量下不能正常工作",
        ),
        FailureClass::Saturation => (
            "A limited resource is used up: CPU, threads or a pool",
            "有限资源被用尽：CPU、线程或连接池",
        ),
        FailureClass::Dependency => (
            "A service that is called fails or answers too late",
            "被调用的下游失败或响应过慢",
        ),
        FailureClass::RateLimit => (
            "More requests are sent than the other side accepts",
            "发出的请求超过了对方允许的速率",
        ),
        FailureClass::Disk => (
            "A file system is full or too slow",
            "文件系统已满或读写过慢",
        ),
        FailureClass::Memory => (
            "Memory grows until the process is ended",
            "内存持续增长，进程被终止",
        ),
        FailureClass::Certificate => (
            "A certificate or credential has expired or was replaced",
            "证书或凭据已过期或被更换",
        ),
        FailureClass::Dns => ("A name is not resolved", "域名无法解析"),
        FailureClass::Database => (
            "The database is blocked, slow or refuses connections",
            "数据库阻塞、变慢或拒绝连接",
        ),
        FailureClass::Queue => (
            "Messages come in faster than they are handled, or handling has stopped",
            "消息积压：消费慢于生产，或消费已停止",
        ),
        FailureClass::Configuration => (
            "A setting, flag or permission is not what it should be",
            "配置、开关或权限不符合预期",
        ),
        FailureClass::Data => ("Wrong or missing data is read", "读到了错误或缺失的数据"),
        FailureClass::Network => (
            "Connections are lost or delayed on the way",
            "网络链路丢包或延迟",
        ),
        FailureClass::Unknown => return None,
    };
    Some(say(locale, en, zh))
}

fn from_class(input: &FallbackInput<'_>, class_checks: &[Check]) -> Option<ProposedHypothesis> {
    Some(ProposedHypothesis {
        title: general_cause(input.failure_class, input.locale)?,
        source: "general_practice".to_owned(),
        verify: class_checks
            .first()
            .map(|check| check.step.clone())
            .unwrap_or_default(),
        ..ProposedHypothesis::default()
    })
}

// ---------------------------------------------------------------------------------------------
// Steps, history, update

fn next_steps(
    input: &FallbackInput<'_>,
    all_text: &str,
    groups: &[Group<'_>],
    change: Option<&str>,
    class_checks: &[Check],
) -> Vec<ProposedStep> {
    let mut steps: Vec<ProposedStep> = class_checks
        .iter()
        .take(CHECKS_AT_MOST)
        .map(|check| ProposedStep {
            step: check.step.clone(),
            command: check.command.clone(),
            risk: Some(Risk::ReadOnly),
            ..ProposedStep::default()
        })
        .collect();
    let mut fixes: Vec<&str> = Vec::new();
    for group in groups.iter().filter(|group| group.held()) {
        if let Some(fix) = group.fix_from().and_then(PastIncident::fix)
            && is_still_good(fix, input)
            && !fixes.iter().any(|known| sameness::near_or_same(known, fix))
        {
            fixes.push(fix);
        }
    }
    fixes.truncate(2);
    // Where the verified fix is a rollback itself, a second one says nothing.
    if change.is_some() && !fixes.iter().any(|fix| rolls_back(fix)) {
        steps.push(ProposedStep {
            step: say(
                input.locale,
                "Roll back the change, if the checks point to it",
                "如果检查指向该变更，则回滚",
            ),
            command: String::new(),
            risk: Some(Risk::Reversible),
            expect: String::new(),
            undo: say(
                input.locale,
                "roll forward: release the change again",
                "重新发布该变更",
            ),
        });
    }
    steps.extend(fixes.into_iter().map(|fix| ProposedStep {
        step: of_today(fix, all_text),
        risk: Some(Risk::Risky),
        ..ProposedStep::default()
    }));
    steps
}

fn rolls_back(fix: &str) -> bool {
    let folded = fold(fix);
    [
        "roll back",
        "rollback",
        "rolled back",
        "revert",
        "回滚",
        "回退",
    ]
    .iter()
    .any(|word| folded.contains(word))
}

/// Neither tried in vain today, nor one that R17 takes off the checklist.
fn is_still_good(fix: &str, input: &FallbackInput<'_>) -> bool {
    let failed_today = input.own_attempts.iter().any(|attempt| {
        attempt.outcome.standing() == Standing::Refuted && sameness::near_or_same(&attempt.fix, fix)
    });
    if failed_today {
        return false;
    }
    let (mut held, mut failed) = (0_u32, 0_u32);
    let mut newest: Option<(Option<Timestamp>, Standing)> = None;
    for recalled in input.memory.direct() {
        for attempt in &recalled.incident.attempts {
            let standing = attempt.outcome.standing();
            match sameness::likeness(&attempt.fix, fix) {
                sameness::Likeness::Same if standing == Standing::Verified => held += 1,
                sameness::Likeness::Same | sameness::Likeness::Near
                    if standing == Standing::Refuted =>
                {
                    if attempt.outcome == Outcome::MadeWorse {
                        return false;
                    }
                    failed += 1;
                }
                _ => continue,
            }
            let at = attempt.at.or_else(|| when(&recalled.incident));
            if newest.is_none_or(|(known, _)| at >= known) {
                newest = Some((at, standing));
            }
        }
    }
    failed < held && newest.is_none_or(|(_, standing)| standing != Standing::Refuted)
}

fn ruled_out(memory: &Memory, all_text: &str, locale: Locale) -> Vec<ProposedRuledOut> {
    let mut out: Vec<ProposedRuledOut> = Vec::new();
    for recalled in memory.direct() {
        let id = recalled.incident.id.to_string();
        for cause in &recalled.incident.ruled_out {
            let cause = of_today(cause, all_text);
            if cause.is_empty() {
                continue;
            }
            match out
                .iter_mut()
                .find(|known| sameness::same(&known.cause, &cause))
            {
                Some(known) => {
                    if !known.memory_refs.contains(&id) {
                        known.memory_refs.push(id.clone());
                    }
                }
                None => out.push(ProposedRuledOut {
                    cause,
                    memory_refs: vec![id.clone()],
                    reason: say(locale, "checked and excluded then", "当时已检查并排除"),
                }),
            }
        }
    }
    out
}

/// The first thing seen: the error line, else the symptom, else the report's first line.
fn seen<'a>(input: &FallbackInput<'a>) -> Option<&'a str> {
    let first = |texts: &'a [String]| {
        texts
            .iter()
            .map(|text| text.trim())
            .find(|text| !text.is_empty())
    };
    first(input.error_lines)
        .or_else(|| first(input.symptoms))
        .or_else(|| {
            input
                .report
                .text
                .lines()
                .map(str::trim)
                .find(|line| !line.is_empty())
        })
}

fn summary(input: &FallbackInput<'_>) -> String {
    let symptom = input
        .symptoms
        .iter()
        .map(|text| text.trim())
        .find(|text| !text.is_empty());
    let line = symptom.or_else(|| {
        input
            .report
            .text
            .lines()
            .map(str::trim)
            .find(|line| !line.is_empty())
    });
    line.map(|line| clipped(line, 200)).unwrap_or_default()
}

fn severity_reason(input: &FallbackInput<'_>) -> String {
    match (
        input.impact.map(str::trim).filter(|i| !i.is_empty()),
        input.locale,
    ) {
        (Some(impact), Locale::En) => format!("By rule, from the report: {}", clipped(impact, 160)),
        (Some(impact), Locale::Zh) => format!("按规则，依据报告：{}", clipped(impact, 160)),
        (None, Locale::En) => "By rule; who is affected is not known yet".to_owned(),
        (None, Locale::Zh) => "按规则；尚不清楚影响了谁".to_owned(),
    }
}

fn update(input: &FallbackInput<'_>, class_checks: &[Check]) -> ProposedUpdate {
    let given = |text: Option<&str>| clipped(text.unwrap_or_default(), 200);
    ProposedUpdate {
        impact: given(input.impact),
        since: given(input.since),
        known: match (seen(input), input.locale) {
            (Some(line), Locale::En) => format!("The error seen is: {}", clipped(line, 160)),
            (Some(line), Locale::Zh) => format!("已看到的错误：{}", clipped(line, 160)),
            (None, _) => String::new(),
        },
        not_confirmed: say(input.locale, "the cause", "原因"),
        doing: class_checks
            .first()
            .map(|check| check.step.clone())
            .unwrap_or_default(),
        ..ProposedUpdate::default()
    }
}

fn safety_notes(input: &FallbackInput<'_>) -> Vec<String> {
    let mut notes = vec![say(
        input.locale,
        "Proposed by rule: a past cause is a hypothesis until it is checked",
        "以上由规则给出：历史原因在核实前只是假设",
    )];
    if input.failure_class == FailureClass::Data {
        notes.push(say(
            input.locale,
            "Keep a copy before any data is changed",
            "改动任何数据前先保留副本",
        ));
    }
    notes
}

// ---------------------------------------------------------------------------------------------
// Questions in the thread

/// What a question asks for.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Topic {
    /// What was done, and what became of it.
    Fix,
    Cause,
    RuledOut,
    Since,
    Affected,
    Change,
}

/// Topic, English words and phrases (whole words), Chinese.
const TOPICS: &[(Topic, &[&str], &[&str])] = &[
    (
        Topic::RuledOut,
        &["ruled out", "rule out", "excluded", "exclude"],
        &["排除"],
    ),
    (
        Topic::Fix,
        &[
            "fix",
            "fixed",
            "fixes",
            "solve",
            "solved",
            "solution",
            "resolve",
            "resolved",
            "mitigate",
            "mitigated",
            "helped",
            "worked",
            "work last time",
            "repaired",
        ],
        &["修", "解决", "处理", "恢复"],
    ),
    (
        Topic::Cause,
        &["cause", "causes", "caused", "why", "reason", "root cause"],
        &["原因", "为什么", "为啥", "根因"],
    ),
    (
        Topic::Since,
        &[
            "since when",
            "since",
            "start",
            "started",
            "begin",
            "began",
            "how long",
            "when",
        ],
        &["什么时候", "何时", "开始", "多久", "几点"],
    ),
    (
        Topic::Affected,
        &[
            "affected",
            "impact",
            "impacted",
            "who is hit",
            "how many users",
            "which users",
            "how many customers",
            "which customers",
        ],
        &["影响", "哪些用户", "多少用户", "哪些客户", "多少客户"],
    ),
    (
        Topic::Change,
        &[
            "deploy",
            "deployed",
            "deploys",
            "release",
            "released",
            "change",
            "changed",
            "changes",
            "rollout",
            "rolled out",
        ],
        &["发布", "变更", "上线", "发版", "改动", "改了什么"],
    ),
];

/// Words that ask for a promise: nobody gave one, so nothing is answered.
const FUTURE: (&[&str], &[&str]) = (
    &["will", "eta", "going to"],
    &[
        "什么时候能",
        "何时能",
        "何时恢复",
        "多久能",
        "多久恢复",
        "还要多久",
        "预计",
    ],
);

/// Sentences on one answer.
const SENTENCES_AT_MOST: usize = 3;

/// An answer by look-up in the report and in direct matches, with quotes and references. What
/// neither says is not answered: the answer is empty.
pub fn answer(question: &str, report: &Report, memory: &Memory, locale: Locale) -> ProposedAnswer {
    let asked = Asked::of(question);
    if asked.any(FUTURE.0, FUTURE.1) {
        return ProposedAnswer::default();
    }
    let topics: Vec<Topic> = TOPICS
        .iter()
        .filter(|(_, en, zh)| asked.any(en, zh))
        .map(|(topic, _, _)| *topic)
        .collect();
    let about_past = topics
        .iter()
        .any(|topic| matches!(topic, Topic::Fix | Topic::Cause | Topic::RuledOut));
    if about_past {
        return from_memory(&topics, report, memory, locale);
    }
    let sentences = sentences(report, question);
    let found: Vec<&str> = if topics.is_empty() {
        by_words(&telling_words(question), &sentences)
    } else {
        topics
            .iter()
            .flat_map(|topic| {
                sentences
                    .iter()
                    .filter(|sentence| tells(*topic, sentence))
                    .take(SENTENCES_AT_MOST)
            })
            .copied()
            .collect()
    };
    let mut answer = quoted(&found, locale);
    if answer.answer.is_empty() && topics.is_empty() {
        answer = fields_by_words(&telling_words(question), &report.all_text(), memory, locale);
    }
    answer
}

/// A question's words.
struct Asked {
    folded: String,
    spaced: String,
}

impl Asked {
    fn of(question: &str) -> Self {
        let folded = fold(question).replace('\u{2019}', "'");
        let words: Vec<&str> = folded
            .split(|c: char| !(c.is_alphanumeric() || c == '\''))
            .filter(|word| !word.is_empty())
            .collect();
        Self {
            spaced: format!(" {} ", words.join(" ")),
            folded,
        }
    }

    fn any(&self, en: &[&str], zh: &[&str]) -> bool {
        en.iter()
            .any(|phrase| self.spaced.contains(&format!(" {phrase} ")))
            || zh.iter().any(|phrase| self.folded.contains(phrase))
    }
}

fn from_memory(
    topics: &[Topic],
    report: &Report,
    memory: &Memory,
    locale: Locale,
) -> ProposedAnswer {
    let unavailable = match memory {
        Memory::Unavailable => Some(("Memory is not available right now.", "记忆库暂不可用。")),
        Memory::Disabled => Some(("Memory was off for this run.", "本次运行未启用记忆库。")),
        Memory::Searched { .. } => None,
    };
    if let Some((en, zh)) = unavailable {
        return ProposedAnswer {
            answer: say(locale, en, zh),
            ..ProposedAnswer::default()
        };
    }
    let all_text = report.all_text();
    let mut incidents: Vec<&PastIncident> =
        memory.direct().map(|recalled| &recalled.incident).collect();
    // *Last time* is what is asked for: the newest first.
    incidents.sort_by_key(|incident| std::cmp::Reverse((when(incident), incident.id)));
    let mut lines: Vec<String> = Vec::new();
    let mut refs: Vec<String> = Vec::new();
    for incident in incidents {
        if refs.len() >= SENTENCES_AT_MOST {
            break;
        }
        let mut told: Vec<String> = Vec::new();
        if topics.contains(&Topic::Fix) {
            told.extend(
                incident
                    .attempts
                    .iter()
                    .filter(|attempt| !attempt.fix.trim().is_empty())
                    .map(|attempt| {
                        let fix = clipped(&of_today(&attempt.fix, &all_text), 200);
                        format!("{fix} ({})", outcome_words(attempt.outcome, locale))
                    }),
            );
        }
        if topics.contains(&Topic::Cause) && !incident.root_cause.trim().is_empty() {
            let cause = clipped(&of_today(&incident.root_cause, &all_text), 200);
            told.push(match (incident.confirmed_cause().is_some(), locale) {
                (true, Locale::En) => format!("cause then: {cause}"),
                (true, Locale::Zh) => format!("当时的原因：{cause}"),
                (false, Locale::En) => format!("cause suspected then: {cause}"),
                (false, Locale::Zh) => format!("当时怀疑的原因：{cause}"),
            });
        }
        if topics.contains(&Topic::RuledOut) {
            told.extend(
                incident
                    .ruled_out
                    .iter()
                    .filter(|cause| !cause.trim().is_empty())
                    .map(|cause| {
                        let cause = of_today(cause, &all_text);
                        match locale {
                            Locale::En => format!("ruled out then: {cause}"),
                            Locale::Zh => format!("当时已排除：{cause}"),
                        }
                    }),
            );
        }
        if told.is_empty() {
            continue;
        }
        let separator = match locale {
            Locale::En => "; ",
            Locale::Zh => "；",
        };
        lines.push(format!("{}: {}", incident.id, told.join(separator)));
        refs.push(incident.id.to_string());
    }
    ProposedAnswer {
        answer: lines.join("\n"),
        memory_refs: refs,
        ..ProposedAnswer::default()
    }
}

fn outcome_words(outcome: Outcome, locale: Locale) -> String {
    let (en, zh) = match outcome {
        Outcome::Held => ("it held", "有效并保持"),
        Outcome::Mitigated => ("it helped, not known whether it held", "缓解，是否保持未知"),
        Outcome::NoEffect => ("no effect", "无效"),
        Outcome::CameBack => ("it came back", "之后复发"),
        Outcome::MadeWorse => ("it made things worse", "使情况变糟"),
        Outcome::Unknown => ("outcome not known", "结果未知"),
    };
    say(locale, en, zh)
}

/// The sentences of the report, word for word; the question itself is none of them.
fn sentences<'a>(report: &'a Report, question: &str) -> Vec<&'a str> {
    let question = question.trim();
    report
        .parts()
        .filter(|(_, text)| text.trim() != question)
        .flat_map(|(_, text)| text.lines())
        .flat_map(split_sentences)
        .filter(|sentence| is_quotable(sentence))
        .collect()
}

/// Splits after `。！？；` and after `.!?;` before white space, which versions and numbers never are.
fn split_sentences(line: &str) -> Vec<&str> {
    let mut out = Vec::new();
    let mut start = 0;
    let mut characters = line.char_indices().peekable();
    while let Some((at, c)) = characters.next() {
        let ends = match c {
            '。' | '！' | '？' | '；' => true,
            '.' | '!' | '?' | ';' => characters
                .peek()
                .is_some_and(|(_, next)| next.is_whitespace()),
            _ => false,
        };
        if ends {
            let end = at + c.len_utf8();
            out.extend(line.get(start..end));
            start = end;
        }
    }
    out.extend(line.get(start..));
    out.into_iter()
        .map(str::trim)
        .filter(|sentence| !sentence.is_empty())
        .collect()
}

/// Whether a sentence of the report speaks to a topic.
fn tells(topic: Topic, sentence: &str) -> bool {
    static SINCE_HAN: LazyLock<Option<Regex>> = LazyLock::new(|| {
        Regex::new(r"[0-9点分时日晨早晚夜] ?(?:起|开始|以来)|(?:自|从).{1,16}(?:起|开始)").ok()
    });
    let said = Asked::of(sentence);
    match topic {
        Topic::Since => {
            said.any(&["since", "started", "began", "starting"], &[])
                || SINCE_HAN
                    .as_ref()
                    .is_some_and(|pattern| pattern.is_match(&said.folded))
        }
        Topic::Affected => said.any(
            &[
                "affected",
                "affects",
                "impact",
                "impacted",
                "users",
                "user",
                "customers",
                "customer",
                "clients",
                "tenants",
                "merchants",
            ],
            &["影响", "用户", "客户", "商户", "租户"],
        ),
        Topic::Change => said.any(
            &[
                "deploy",
                "deployed",
                "deployment of",
                "release",
                "released",
                "rollout",
                "rolled out",
                "changed",
                "migration",
                "migrated",
                "upgraded",
                "upgrade",
                "merged",
            ],
            &[
                "发布",
                "变更",
                "上线",
                "发版",
                "发过版",
                "改了",
                "升级",
                "迁移",
            ],
        ),
        Topic::Fix | Topic::Cause | Topic::RuledOut => false,
    }
}

fn quoted(found: &[&str], locale: Locale) -> ProposedAnswer {
    let mut evidence: Vec<String> = Vec::new();
    for sentence in found {
        let quote = clipped(sentence, 240);
        if evidence.len() < SENTENCES_AT_MOST && !evidence.contains(&quote) {
            evidence.push(quote);
        }
    }
    if evidence.is_empty() {
        return ProposedAnswer::default();
    }
    ProposedAnswer {
        answer: match locale {
            Locale::En => format!("The report says: {}", evidence.join(" / ")),
            Locale::Zh => format!("报告中写道：{}", evidence.join(" / ")),
        },
        evidence,
        ..ProposedAnswer::default()
    }
}

/// Words that only make a question; folded.
const QUESTION_WORDS: &[&str] = &[
    "about", "any", "anyone", "can", "could", "did", "do", "does", "else", "get", "give", "had",
    "happen", "happened", "happens", "how", "i", "if", "know", "known", "many", "me", "much", "my",
    "now", "one", "right", "see", "seen", "show", "tell", "think", "us", "what", "what's", "where",
    "who", "whose", "would", "you",
];

const QUESTION_HAN: &[&str] = &[
    "为什么",
    "有没有",
    "怎么样",
    "怎么",
    "什么",
    "多少",
    "哪些",
    "哪个",
    "哪里",
    "是否",
    "请问",
    "现在",
    "我们",
    "一下",
    "如何",
    "几个",
    "知道",
    "吗",
    "呢",
    "谁",
];

fn telling_words(question: &str) -> BTreeSet<String> {
    let mut text = fold(question);
    for phrase in QUESTION_HAN {
        text = text.replace(phrase, " ");
    }
    meaningful(&text)
        .into_iter()
        .filter(|word| !QUESTION_WORDS.contains(&word.as_str()))
        .collect()
}

/// How many of the wanted words a text has; a plural is its singular.
fn shared_words(wanted: &BTreeSet<String>, text: &str) -> usize {
    let words = meaningful(text);
    wanted
        .iter()
        .filter(|want| {
            words.contains(*want)
                || (want.is_ascii()
                    && want.len() >= 4
                    && words
                        .iter()
                        .any(|word| is_plural(want, word) || is_plural(word, want)))
        })
        .count()
}

fn is_plural(singular: &str, plural: &str) -> bool {
    plural
        .strip_prefix(singular)
        .is_some_and(|rest| matches!(rest, "s" | "es" | "'s"))
}

/// At least half of the question's words, and all of a question of one word.
fn enough(shared: usize, wanted: usize) -> bool {
    shared > 0 && shared * 2 >= wanted
}

fn by_words<'a>(wanted: &BTreeSet<String>, sentences: &[&'a str]) -> Vec<&'a str> {
    let mut found: Vec<(usize, usize, &str)> = sentences
        .iter()
        .enumerate()
        .map(|(index, sentence)| (shared_words(wanted, sentence), index, *sentence))
        .filter(|(shared, _, _)| enough(*shared, wanted.len()))
        .collect();
    found.sort_by_key(|(shared, index, _)| (std::cmp::Reverse(*shared), *index));
    found.truncate(SENTENCES_AT_MOST);
    found.sort_by_key(|(_, index, _)| *index);
    found.into_iter().map(|(_, _, sentence)| sentence).collect()
}

fn fields_by_words(
    wanted: &BTreeSet<String>,
    all_text: &str,
    memory: &Memory,
    locale: Locale,
) -> ProposedAnswer {
    let mut lines: Vec<String> = Vec::new();
    let mut refs: Vec<String> = Vec::new();
    for recalled in memory.direct() {
        let incident = &recalled.incident;
        let fields = [&incident.title, &incident.root_cause, &incident.prevention];
        let best = fields
            .into_iter()
            .chain(&incident.symptoms)
            .chain(&incident.error_signatures)
            .chain(&incident.ruled_out)
            .chain(incident.attempts.iter().map(|attempt| &attempt.fix))
            .map(|field| (shared_words(wanted, field), field))
            .filter(|(shared, _)| enough(*shared, wanted.len()))
            // The first of equals.
            .fold(None::<(usize, &String)>, |best, next| match best {
                Some(known) if known.0 >= next.0 => Some(known),
                _ => Some(next),
            });
        let Some((_, field)) = best else { continue };
        let id = incident.id.to_string();
        let field = clipped(&of_today(field, all_text), 200);
        lines.push(match locale {
            Locale::En => format!("{id} says: {field}"),
            Locale::Zh => format!("{id} 中记录：{field}"),
        });
        refs.push(id);
        if refs.len() >= SENTENCES_AT_MOST {
            break;
        }
    }
    ProposedAnswer {
        answer: lines.join("\n"),
        memory_refs: refs,
        ..ProposedAnswer::default()
    }
}

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
use crate::incident::words::stem;
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
    // The class says little; beside two causes that rest on something, or one that is known to
    // have been cured here, it would be padding.
    let cured_here = input
        .memory
        .direct()
        .any(|recalled| recalled.incident.outcome() == Outcome::Held);
    if hypotheses.len() < 2
        && !cured_here
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
        // Causes in slightly other words that the very same fix cured are one card, not three.
        let is_one = |group: &&mut Group<'_>| {
            let cured_alike = || {
                let fix = recalled.incident.fix();
                fix.is_some_and(|fix| {
                    group
                        .members
                        .iter()
                        .filter_map(|member| member.incident.fix())
                        .any(|known| sameness::same(known, fix))
                })
            };
            match sameness::likeness(group.cause, cause) {
                sameness::Likeness::Same => true,
                sameness::Likeness::Near => cured_alike(),
                sameness::Likeness::Different => false,
            }
        };
        match groups.iter_mut().find(is_one) {
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
    let errors = incidents
        .iter()
        .flat_map(|incident| &incident.error_signatures);
    let about: Vec<&str> = std::iter::once(cause)
        .chain(errors.map(String::as_str))
        .collect();
    fitting_check(&about.join("\n"), class_checks).unwrap_or_else(|| match input.locale {
        Locale::En => format!("Check whether it is this again: {cause}"),
        Locale::Zh => format!("确认这次是否同样是：{cause}"),
    })
}

/// Where to look: the check of the class that speaks most of what is to be confirmed, the first of
/// equals. The card's title says what for.
fn fitting_check(about: &str, class_checks: &[Check]) -> Option<String> {
    let wanted = telling_words(about)
        .into_iter()
        // Short words (not, out) join everything with everything.
        .filter(|word| !word.is_ascii() || word.len() >= 4)
        .collect();
    class_checks
        .iter()
        .enumerate()
        .max_by_key(|(at, check)| (shared_words(&wanted, &check.step), std::cmp::Reverse(*at)))
        .map(|(_, check)| check.step.clone())
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
                let shared = |text: &str| {
                    if pass {
                        errors.iter().any(|error| stands_in(error, text))
                    } else {
                        let words = meaningful(text);
                        symptoms.iter().any(|symptom| symptom.is_subset(&words))
                    }
                };
                if (!pass && line.len() > 1_200) || !shared(line) {
                    continue;
                }
                // The sentence of the line, where one sentence has it all.
                let sentence = split_sentences(line)
                    .into_iter()
                    .find(|sentence| is_quotable(sentence) && shared(sentence));
                let quote = clipped(sentence.unwrap_or(line), QUOTE_CHARACTERS);
                if is_quotable(&quote) && !quotes.contains(&quote) {
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
    let verify = fitting_check(&title, class_checks).unwrap_or_else(|| match input.locale {
        Locale::En => format!("Check whether this pattern is found here at all: {title}"),
        Locale::Zh => format!("先确认本服务是否存在这种模式：{title}"),
    });
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
    // How much it may harm is computed from its words, as for every other step (R16).
    steps.extend(fixes.into_iter().map(|fix| ProposedStep {
        step: of_today(fix, all_text),
        ..ProposedStep::default()
    }));
    steps
}

/// Whether a step or fix undoes a change.
pub fn rolls_back(fix: &str) -> bool {
    let folded = fold(fix);
    [
        "roll back",
        "rollback",
        "rolled back",
        "rollout undo",
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

/// The first of some texts that says anything.
fn first_said(texts: &[String]) -> Option<&str> {
    texts
        .iter()
        .map(|text| text.trim())
        .find(|text| !text.is_empty())
}

fn first_sentence(report: &Report) -> Option<&str> {
    report.text.lines().flat_map(split_sentences).next()
}

/// What is certain: the error line, else the symptom, else the report's first sentence.
fn known(input: &FallbackInput<'_>) -> String {
    if let Some(error) = first_said(input.error_lines) {
        let error = clipped(error, 160);
        return match input.locale {
            Locale::En => format!("The error seen is: {error}"),
            Locale::Zh => format!("已看到的错误：{error}"),
        };
    }
    first_said(input.symptoms)
        .or_else(|| first_sentence(input.report))
        .map(|line| clipped(line, 160))
        .unwrap_or_default()
}

/// What is seen, in the report's words. What memory gave is said beside it by its counts (R4).
fn summary(input: &FallbackInput<'_>) -> String {
    first_said(input.symptoms)
        .or_else(|| first_sentence(input.report))
        .map(|line| clipped(line, 200))
        .unwrap_or_default()
}

/// Why by rule; empty where nobody said who is affected: that is asked beside it, and may be answered
/// while the analysis stands (R30).
fn severity_reason(input: &FallbackInput<'_>) -> String {
    let impact = input.impact.map(str::trim).filter(|i| !i.is_empty());
    impact.map_or_else(String::new, |impact| match input.locale {
        Locale::En => format!("By rule, from the report: {}", clipped(impact, 160)),
        Locale::Zh => format!("按规则，依据报告：{}", clipped(impact, 160)),
    })
}

fn update(input: &FallbackInput<'_>, class_checks: &[Check]) -> ProposedUpdate {
    let given = |text: Option<&str>| clipped(text.unwrap_or_default(), 200);
    ProposedUpdate {
        impact: given(input.impact),
        since: given(input.since),
        known: known(input),
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
    /// Whether and when this was there already.
    Seen,
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
            "help",
            "helps",
            "helped",
            "work",
            "works",
            "worked",
            "try",
            "tried",
            "attempted",
            "repaired",
        ],
        &[
            "修", "解决", "处理", "恢复", "有用", "有效", "管用", "试过", "尝试",
        ],
    ),
    (
        Topic::Seen,
        &[
            "before",
            "seen this",
            "happened already",
            "how often",
            "how many times",
            "last time",
            "similar incidents",
        ],
        &["以前", "之前", "出现过", "发生过", "遇到过", "上次", "几次"],
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
    let about_past = topics.iter().any(|topic| is_of_the_past(*topic));
    if about_past {
        return from_memory(&topics, question, report, memory, locale);
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

/// Whether memory is asked, and not today's report.
fn is_of_the_past(topic: Topic) -> bool {
    match topic {
        Topic::Seen | Topic::Fix | Topic::Cause | Topic::RuledOut => true,
        Topic::Since | Topic::Affected | Topic::Change => false,
    }
}

fn from_memory(
    topics: &[Topic],
    question: &str,
    report: &Report,
    memory: &Memory,
    locale: Locale,
) -> ProposedAnswer {
    let unavailable = match memory {
        Memory::Unavailable => Some(("Memory is not available right now.", "记忆库暂不可用。")),
        Memory::Disabled => Some(("Memory was off for this run.", "本次运行未启用记忆库。")),
        Memory::Partial { .. } if memory.direct().chain(memory.analogies()).next().is_none() => {
            Some((
                "Memory is only partly available right now, and nothing like this came from the rest.",
                "记忆库目前仅部分可用，其余部分未返回类似故障。",
            ))
        }
        Memory::Searched { .. } | Memory::Partial { .. } => None,
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
    // *Did restarting help?* asks for one fix; where none is named, for all of them.
    let named = named_in(question);
    let asks_for = |fix: &str| shared_words(&named, fix) > 0;
    let one_fix = topics.contains(&Topic::Fix)
        && incidents
            .iter()
            .flat_map(|incident| &incident.attempts)
            .any(|attempt| asks_for(&attempt.fix));
    let seen = !topics
        .iter()
        .any(|topic| *topic != Topic::Seen && is_of_the_past(*topic));
    let mut lines: Vec<String> = Vec::new();
    let mut refs: Vec<String> = Vec::new();
    for incident in incidents {
        if refs.len() >= SENTENCES_AT_MOST {
            break;
        }
        let mut told: Vec<String> = Vec::new();
        if seen {
            told.push(clipped(&of_today(&incident.title, &all_text), 200));
        }
        if seen || topics.contains(&Topic::Fix) {
            told.extend(
                incident
                    .attempts
                    .iter()
                    .filter(|attempt| !attempt.fix.trim().is_empty())
                    .filter(|attempt| !one_fix || asks_for(&attempt.fix))
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
        Topic::Seen | Topic::Fix | Topic::Cause | Topic::RuledOut => false,
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

/// What a question about a fix names: its telling words without those that only ask about a fix.
fn named_in(question: &str) -> BTreeSet<String> {
    let asking: BTreeSet<&str> = TOPICS
        .iter()
        .filter(|(topic, _, _)| is_of_the_past(*topic))
        .flat_map(|(_, en, _)| en.iter())
        .flat_map(|phrase| phrase.split(' '))
        .collect();
    telling_words(question)
        .into_iter()
        .filter(|word| !asking.contains(word.as_str()))
        .collect()
}

/// How many of the wanted words a text has; another form of a word (restarted, restarting,
/// restarts) is the word.
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
                        .any(|word| word.is_ascii() && stem(want) == stem(word)))
        })
        .count()
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::incident::report::ThreadMessage;
    use crate::incident::{Grade, IncidentId};

    const REPORT: &str = "payments-api is returning intermittent 503s since 02:41 UTC. About a tenth of the users in Europe are affected.\n2026-11-30 02:41:07.113 ERROR HikariPool-1 - Connection is not available, request timed out after 30000ms.\nPostgres itself looks bored. Release 5.2.0 was deployed at 02:30 UTC.";

    fn at(text: &str) -> Option<Timestamp> {
        Some(text.parse().expect("a time stamp"))
    }

    struct Past(Recalled);

    impl Past {
        fn here(number: u32, cause: &str, fix: &str, outcome: Outcome) -> Self {
            let id = IncidentId::new(number).expect("above zero");
            let mut incident = PastIncident::new(id, format!("errors {number}"));
            incident.service = Some("payments-api".into());
            incident.root_cause = cause.into();
            if !fix.is_empty() {
                incident.attempts = vec![FixAttempt::new(fix, outcome)];
            }
            Self(Recalled {
                incident,
                similarity: 0.7,
                shares_signature: true,
                grade: Grade::DirectMatch,
            })
        }

        fn graded(mut self, grade: Grade) -> Self {
            self.0.grade = grade;
            if grade == Grade::Analogy {
                self.0.incident.service = Some("voice-bridge".into());
            }
            self
        }

        fn resolved(mut self, when: &str) -> Self {
            self.0.incident.resolved_at = at(when);
            self
        }

        fn error(mut self, line: &str) -> Self {
            self.0.incident.error_signatures = vec![line.into()];
            self
        }

        fn ruled_out(mut self, cause: &str) -> Self {
            self.0.incident.ruled_out = vec![cause.into()];
            self
        }

        fn no_signature(mut self) -> Self {
            self.0.shares_signature = false;
            self
        }
    }

    fn memory(past: Vec<Past>) -> Memory {
        Memory::Searched {
            searched: 143,
            on_service: 12,
            recalled: past.into_iter().map(|past| past.0).collect(),
        }
    }

    fn input<'a>(report: &'a Report, memory: &'a Memory) -> FallbackInput<'a> {
        FallbackInput {
            report,
            service: Some("payments-api"),
            memory,
            own_attempts: &[],
            failure_class: FailureClass::Saturation,
            severity: Severity::Sev2,
            impact: None,
            since: None,
            change_before: None,
            symptoms: &[],
            error_lines: &[],
            locale: Locale::En,
        }
    }

    fn everything(proposal: &Proposal) -> String {
        serde_json::to_string(proposal).expect("plain data")
    }

    #[test]
    fn r23_without_history_no_component_is_named() {
        let report = Report::from_text("it is slow");
        for class in FailureClass::KNOWN {
            for locale in [Locale::En, Locale::Zh] {
                for memory in [memory(vec![]), Memory::Unavailable, Memory::Disabled] {
                    let proposal = propose(&FallbackInput {
                        service: None,
                        failure_class: class,
                        locale,
                        ..input(&report, &memory)
                    });
                    let [only] = proposal.hypotheses.as_slice() else {
                        panic!("{:?}", proposal.hypotheses)
                    };
                    assert_eq!(only.source, "general_practice");
                    assert!(only.memory_refs.is_empty() && only.evidence.is_empty());
                    assert!(only.fix.is_empty() && only.fix_ref.is_empty());
                    assert_eq!(only.confidence, None);
                    let title = &only.title;
                    assert!(!title.chars().any(|c| c.is_ascii_digit()), "{title}");
                    assert!(!title.split_whitespace().any(is_identifier), "{title}");
                    assert_eq!(title.chars().any(is_cjk), locale == Locale::Zh);
                    assert!(!only.verify.is_empty());
                    assert!(
                        proposal
                            .next_steps
                            .iter()
                            .all(|step| step.risk == Some(Risk::ReadOnly))
                    );
                    assert!(!everything(&proposal).contains("payments"));
                }
            }
        }
    }

    #[test]
    fn r23_an_unknown_failure_gets_no_cause() {
        let report = Report::from_text("it is slow");
        let memory = memory(vec![]);
        let proposal = propose(&FallbackInput {
            failure_class: FailureClass::Unknown,
            ..input(&report, &memory)
        });
        assert!(proposal.hypotheses.is_empty());
        assert_eq!(proposal.next_steps.len(), 4);
        assert_eq!(proposal.update.impact, "");
        assert_eq!(proposal.update.since, "");
        assert_eq!(proposal.update.not_confirmed, "the cause");
    }

    #[test]
    fn r2_nothing_comes_from_low_memories() {
        let report = Report::from_text(REPORT);
        let memory = memory(vec![
            Past::here(9, "zebra stampede", "cage the zebra", Outcome::Held)
                .error("HikariPool-1 - Connection is not available")
                .ruled_out("zebra food")
                .graded(Grade::Low),
        ]);
        let said = everything(&propose(&input(&report, &memory)));
        assert!(
            !said.contains("zebra") && !said.contains("INC-0009"),
            "{said}"
        );
        let answer = answer("what fixed it last time?", &report, &memory, Locale::En);
        assert_eq!(answer, ProposedAnswer::default());
    }

    #[test]
    fn r6_an_analogy_s_parts_are_absent() {
        let report = Report::from_text(REPORT);
        for (cause, expected) in [
            // Names of parts give way.
            (
                "PresenceRelayPool.acquire() never returns sockets after an error",
                Some("some part never returns sockets after an error"),
            ),
            (
                "voice bridge keeps sockets open after errors of peers",
                Some("some part keeps sockets open after errors of peers"),
            ),
            (
                "The table `calls` grows without bound and slows every query",
                Some("The table some part grows without bound and slows every query"),
            ),
            (
                "max_sockets was lowered to 50 by a config rollout",
                Some("some part was lowered to … by a config rollout"),
            ),
            (
                "Clients retry against relay-queue and /v1/join without backoff",
                Some("Clients retry against some part and some part without backoff"),
            ),
            (
                "重试风暴压垮了PresenceRelayPool并耗尽连接",
                Some("重试风暴压垮了some part并耗尽连接"),
            ),
            // What the report itself names may be named.
            (
                "HikariPool-1 is too small for the traffic",
                Some("HikariPool-1 is too small for the traffic"),
            ),
            // Nothing but names.
            ("PresenceRelayPool.acquire() in voice-bridge", None),
            ("", None),
        ] {
            let memory = memory(vec![
                Past::here(
                    43,
                    cause,
                    "Patch PresenceRelayPool.acquire()",
                    Outcome::Held,
                )
                .graded(Grade::Analogy)
                .no_signature(),
            ]);
            let proposal = propose(&input(&report, &memory));
            let title = proposal
                .hypotheses
                .iter()
                .find(|hypothesis| hypothesis.source == "memory")
                .map(|hypothesis| hypothesis.title.as_str());
            assert_eq!(title, expected, "{cause}");
            let said = everything(&proposal);
            for hidden in [
                "Presence",
                "voice",
                "relay-queue",
                "max_sockets",
                "/v1/join",
            ] {
                assert!(!said.contains(hidden), "{hidden}: {said}");
            }
            assert!(
                proposal
                    .hypotheses
                    .iter()
                    .all(|h| h.fix.is_empty() && h.fix_ref.is_empty())
            );
        }
    }

    #[test]
    fn r24_causes_of_direct_matches_are_grouped() {
        let report = Report::from_text(REPORT);
        let pool = "Refund job holds JDBC connections open and exhausts the HikariPool";
        let memory = memory(vec![
            Past::here(
                71,
                "Postgres is overloaded",
                "Scale Postgres up",
                Outcome::NoEffect,
            ),
            Past::here(12, pool, "Stop the refund job", Outcome::Held)
                .resolved("2026-05-14T02:51:00Z")
                .error(
                    "HikariPool-1 - Connection is not available, request timed out after 30000ms",
                ),
            Past::here(
                50,
                &format!("{pool}."),
                "Restart everything",
                Outcome::Unknown,
            )
            .resolved("2026-10-01T00:00:00Z"),
            Past::here(41, pool, "Stop the refund job and restart", Outcome::Held)
                .resolved("2026-09-23T21:23:00Z"),
            Past::here(60, "", "Wait", Outcome::Held),
        ]);
        let proposal = propose(&input(&report, &memory));
        let first = &proposal.hypotheses[0];
        assert_eq!(first.title, pool);
        assert_eq!(first.memory_refs, ["INC-0012", "INC-0050", "INC-0041"]);
        assert_eq!(first.fix_ref, "INC-0041", "the newest that held");
        assert_eq!(first.fix, "", "the stored words are copied, not retold");
        assert_eq!(first.confidence, None);
        assert_eq!(
            first.evidence,
            [
                "2026-11-30 02:41:07.113 ERROR HikariPool-1 - Connection is not available, request timed out after 30000ms."
            ]
        );
        assert!(report.text.contains(&first.evidence[0]), "word for word");
        let second = &proposal.hypotheses[1];
        assert_eq!(second.title, "Postgres is overloaded");
        assert_eq!(second.fix_ref, "INC-0071", "the newest, as none held");
        assert_eq!(proposal.hypotheses.len(), 2, "no padding");
        let fixes: Vec<&str> = proposal
            .next_steps
            .iter()
            .filter(|step| step.risk.is_none())
            .map(|step| step.step.as_str())
            .collect();
        assert_eq!(fixes, ["Stop the refund job and restart"]);
        assert_eq!(
            proposal.verdict_refs,
            ["INC-0071", "INC-0012", "INC-0050", "INC-0041", "INC-0060"]
        );
    }

    #[test]
    fn r3_a_quote_is_the_sentence_not_the_whole_report() {
        let report = Report::from_text(
            "payments-api 从北京时间 10:42 起间歇性 503。网关日志：upstream returned 429 Too Many Requests。今天没有发布。",
        );
        let memory = memory(vec![
            Past::here(12, "网关对重试请求限流过严", "恢复默认阈值", Outcome::Held)
                .error("upstream returned 429"),
        ]);
        let proposal = propose(&FallbackInput {
            locale: Locale::Zh,
            ..input(&report, &memory)
        });
        assert_eq!(
            proposal.hypotheses[0].evidence,
            ["网关日志：upstream returned 429 Too Many Requests。"]
        );
        assert_eq!(
            proposal.summary,
            "payments-api 从北京时间 10:42 起间歇性 503。"
        );
    }

    #[test]
    fn r15_the_check_of_a_past_cause_is_specific() {
        let report = Report::from_text(REPORT);
        let seen = memory(vec![
            Past::here(1, "Pool too small", "Grow it", Outcome::Held)
                .error("HikariPool-1 - Connection is not available"),
        ]);
        let unseen = memory(vec![
            Past::here(1, "Pool too small", "Grow it", Outcome::Held)
                .error("FATAL: too many connections for role"),
        ]);
        for (memory, locale, expected) in [
            (
                &seen,
                Locale::En,
                "Compare active and maximum threads or connections of the pools",
            ),
            (
                &unseen,
                Locale::En,
                "Look in today's logs for the error seen with it before: FATAL: too many connections for role",
            ),
            (
                &unseen,
                Locale::Zh,
                "在当前日志中查找当时出现过的错误：FATAL: too many connections for role",
            ),
        ] {
            let proposal = propose(&FallbackInput {
                locale,
                ..input(&report, memory)
            });
            assert_eq!(proposal.hypotheses[0].verify, expected);
        }
    }

    #[test]
    fn r17_a_fix_that_failed_is_no_step() {
        let report = Report::from_text(REPORT);
        let fix = "Stop the refund job";
        let held = || {
            Past::here(12, "Refund job hogs the pool", fix, Outcome::Held)
                .resolved("2026-05-14T02:51:00Z")
        };
        let other = |outcome, when: &str| {
            Past::here(30, "Something else entirely", fix, outcome).resolved(when)
        };
        let own = |outcome| vec![FixAttempt::new(fix, outcome)];
        for (name, past, own, proposed) in [
            ("held", vec![held()], vec![], true),
            (
                "no effect today",
                vec![held()],
                own(Outcome::NoEffect),
                false,
            ),
            ("helped today", vec![held()], own(Outcome::Mitigated), true),
            (
                "failed as often",
                vec![held(), other(Outcome::NoEffect, "2026-01-01T00:00:00Z")],
                vec![],
                false,
            ),
            (
                "failed at last",
                vec![
                    held(),
                    Past::here(13, "Refund job hogs the pool", fix, Outcome::Held)
                        .resolved("2026-05-20T02:51:00Z"),
                    other(Outcome::CameBack, "2026-08-01T00:00:00Z"),
                ],
                vec![],
                false,
            ),
            (
                "failed long ago, held twice since",
                vec![
                    held(),
                    Past::here(13, "Refund job hogs the pool", fix, Outcome::Held)
                        .resolved("2026-05-20T02:51:00Z"),
                    other(Outcome::NoEffect, "2026-01-01T00:00:00Z"),
                ],
                vec![],
                true,
            ),
            (
                "made it worse",
                vec![
                    held(),
                    Past::here(13, "Refund job hogs the pool", fix, Outcome::Held)
                        .resolved("2026-05-20T02:51:00Z"),
                    other(Outcome::MadeWorse, "2026-01-01T00:00:00Z"),
                ],
                vec![],
                false,
            ),
        ] {
            let memory = memory(past);
            let proposal = propose(&FallbackInput {
                own_attempts: &own,
                ..input(&report, &memory)
            });
            let found = proposal.next_steps.iter().any(|step| step.step == fix);
            assert_eq!(found, proposed, "{name}");
        }
    }

    #[test]
    fn r16_a_change_before_the_impact() {
        let report = Report::from_text(REPORT);
        let empty = memory(vec![]);
        let change = "Release 5.2.0 was deployed at 02:30 UTC.";
        let proposal = propose(&FallbackInput {
            change_before: Some(change),
            ..input(&report, &empty)
        });
        assert_eq!(proposal.hypotheses[0].evidence, [change]);
        let risks: Vec<Risk> = proposal.next_steps.iter().filter_map(|s| s.risk).collect();
        assert_eq!(
            risks,
            [
                Risk::ReadOnly,
                Risk::ReadOnly,
                Risk::ReadOnly,
                Risk::ReadOnly,
                Risk::Reversible
            ]
        );
        let back = proposal.next_steps.last().expect("steps");
        assert!(back.command.is_empty() && !back.undo.is_empty());

        for nothing in ["nothing deployed since yesterday", "今天没有发布", " "] {
            let proposal = propose(&FallbackInput {
                change_before: Some(nothing),
                ..input(&report, &empty)
            });
            assert!(
                proposal
                    .next_steps
                    .iter()
                    .all(|s| s.risk == Some(Risk::ReadOnly)),
                "{nothing}"
            );
        }
        // A verified rollback needs no second one beside it.
        let held = memory(vec![Past::here(
            4,
            "The release leaks connections",
            "Roll back to the release before",
            Outcome::Held,
        )]);
        let proposal = propose(&FallbackInput {
            change_before: Some(change),
            ..input(&report, &held)
        });
        assert!(
            !proposal
                .next_steps
                .iter()
                .any(|s| s.risk == Some(Risk::Reversible))
        );
    }

    #[test]
    fn r13_what_history_ruled_out() {
        let report = Report::from_text(REPORT);
        let memory = memory(vec![
            Past::here(1, "", "", Outcome::Unknown).ruled_out("Postgres was overloaded"),
            Past::here(2, "", "", Outcome::Unknown).ruled_out("Postgres overloaded"),
            Past::here(3, "", "", Outcome::Unknown)
                .ruled_out("the moon")
                .graded(Grade::Analogy),
        ]);
        let proposal = propose(&input(&report, &memory));
        let [only] = proposal.ruled_out.as_slice() else {
            panic!("{:?}", proposal.ruled_out)
        };
        assert_eq!(only.memory_refs, ["INC-0001", "INC-0002"]);
        assert_eq!(only.reason, "checked and excluded then");
    }

    #[test]
    fn r19_the_update_is_the_report_s_own_words() {
        let report = Report::from_text(REPORT);
        let empty = memory(vec![]);
        let errors = ["HikariPool-1 - Connection is not available".to_owned()];
        let proposal = propose(&FallbackInput {
            impact: Some("About a tenth of the users in Europe are affected."),
            since: Some("02:41 UTC"),
            error_lines: &errors,
            ..input(&report, &empty)
        });
        let update = &proposal.update;
        assert_eq!(
            update.impact,
            "About a tenth of the users in Europe are affected."
        );
        assert_eq!(update.since, "02:41 UTC");
        assert_eq!(
            update.known,
            "The error seen is: HikariPool-1 - Connection is not available"
        );
        assert_eq!(update.doing, proposal.next_steps[0].step);
        assert_eq!(update.next_update_minutes, None, "nobody promised one");
    }

    #[test]
    fn r20_last_outage_s_names_are_placeholders() {
        let report = Report::from_text(REPORT);
        let memory = memory(vec![Past::here(
            30,
            "Pod notify-go-6d9f7c5b4-x2k8q leaks goroutines",
            "Delete pod notify-go-6d9f7c5b4-x2k8q",
            Outcome::Held,
        )]);
        let proposal = propose(&input(&report, &memory));
        let said = everything(&proposal);
        assert!(!said.contains("x2k8q"), "{said}");
        assert!(said.contains("Delete pod <current pod>"), "{said}");
        let answer = answer("what fixed it?", &report, &memory, Locale::En);
        assert_eq!(
            answer.answer,
            "INC-0030: Delete pod <current pod> (it held)"
        );
    }

    #[test]
    fn what_nobody_said_is_not_answered() {
        let report = Report::from_text(REPORT);
        let empty = memory(vec![]);
        for question in [
            "what fixed it last time?",
            "上次怎么修的？",
            "what was ruled out?",
            "who owns the billing ledger?",
            "is the disk full?",
            "when will it be fixed?",
            "什么时候能恢复？",
            "why?",
            "what?",
            "",
            "？？？",
        ] {
            assert_eq!(
                answer(question, &report, &empty, Locale::En),
                ProposedAnswer::default(),
                "{question}"
            );
        }
        // An analogy answers nothing about this service.
        let analogy = memory(vec![
            Past::here(43, "Sockets leak", "Close sockets", Outcome::Held).graded(Grade::Analogy),
        ]);
        assert_eq!(
            answer("what fixed it last time?", &report, &analogy, Locale::En),
            ProposedAnswer::default()
        );
        // The question itself, posted in the thread, is no evidence.
        let mut asked = Report::from_text("it is slow everywhere");
        asked.thread.push(ThreadMessage {
            author: "bob".into(),
            text: "is the disk full?".into(),
            at: Timestamp::UNIX_EPOCH,
            asks: true,
        });
        assert_eq!(
            answer("is the disk full?", &asked, &empty, Locale::En),
            ProposedAnswer::default()
        );
    }

    #[test]
    fn r4_memory_that_failed_is_named() {
        let report = Report::from_text(REPORT);
        for (memory, expected) in [
            (Memory::Unavailable, "Memory is not available right now."),
            (Memory::Disabled, "Memory was off for this run."),
        ] {
            let answer = answer("what fixed it last time?", &report, &memory, Locale::En);
            assert_eq!(answer.answer, expected);
        }
    }

    #[test]
    fn questions_to_the_report() {
        let english = Report::from_text(REPORT);
        let chinese = Report::from_text(
            "payments-api 从北京时间 10:42 起间歇性 503，部分用户支付失败。数据库连接池使用率 30%。昨晚发过版。",
        );
        let empty = memory(vec![]);
        for (report, question, quotes) in [
            (
                &english,
                "since when?",
                vec!["payments-api is returning intermittent 503s since 02:41 UTC."],
            ),
            (
                &english,
                "When did it start?",
                vec!["payments-api is returning intermittent 503s since 02:41 UTC."],
            ),
            (
                &english,
                "who is affected?",
                vec!["About a tenth of the users in Europe are affected."],
            ),
            (
                &english,
                "was anything deployed?",
                vec!["Release 5.2.0 was deployed at 02:30 UTC."],
            ),
            (
                &english,
                "how does Postgres look?",
                vec!["Postgres itself looks bored."],
            ),
            (
                &chinese,
                "什么时候开始的？",
                vec!["payments-api 从北京时间 10:42 起间歇性 503，部分用户支付失败。"],
            ),
            (
                &chinese,
                "影响了谁？",
                vec!["payments-api 从北京时间 10:42 起间歇性 503，部分用户支付失败。"],
            ),
            (&chinese, "有没有发布？", vec!["昨晚发过版。"]),
            (
                &chinese,
                "连接池使用率是多少？",
                vec!["数据库连接池使用率 30%。"],
            ),
        ] {
            let answer = answer(question, report, &empty, Locale::of_text(question));
            assert_eq!(answer.evidence, quotes, "{question}");
            for quote in &answer.evidence {
                assert!(report.text.contains(quote.as_str()), "{quote}");
                assert!(answer.answer.contains(quote.as_str()), "{quote}");
            }
        }
    }

    #[test]
    fn questions_to_memory() {
        let report = Report::from_text(REPORT);
        let memory = memory(vec![
            Past::here(
                12,
                "Refund job hogs the pool",
                "Stop the refund job",
                Outcome::Held,
            )
            .resolved("2026-05-14T02:51:00Z")
            .ruled_out("Postgres overloaded"),
            Past::here(41, "", "Restart the pods", Outcome::NoEffect)
                .resolved("2026-09-23T21:23:00Z"),
        ]);
        for (question, locale, answer_text, refs) in [
            (
                "what fixed it last time?",
                Locale::En,
                "INC-0041: Restart the pods (no effect)\nINC-0012: Stop the refund job (it held)",
                vec!["INC-0041", "INC-0012"],
            ),
            (
                "上次怎么修的？",
                Locale::Zh,
                "INC-0041: Restart the pods (无效)\nINC-0012: Stop the refund job (有效并保持)",
                vec!["INC-0041", "INC-0012"],
            ),
            (
                "did restarting the pods help before?",
                Locale::En,
                "INC-0041: Restart the pods (no effect)",
                vec!["INC-0041"],
            ),
            (
                "has anyone tried to scale it up?",
                Locale::En,
                "INC-0041: Restart the pods (no effect)\nINC-0012: Stop the refund job (it held)",
                vec!["INC-0041", "INC-0012"],
            ),
            (
                "have we seen this before?",
                Locale::En,
                "INC-0041: errors 41; Restart the pods (no effect)\nINC-0012: errors 12; Stop the refund job (it held)",
                vec!["INC-0041", "INC-0012"],
            ),
            (
                "以前出现过吗？",
                Locale::Zh,
                "INC-0041: errors 41；Restart the pods (无效)\nINC-0012: errors 12；Stop the refund job (有效并保持)",
                vec!["INC-0041", "INC-0012"],
            ),
            (
                "what was the root cause before?",
                Locale::En,
                "INC-0012: cause then: Refund job hogs the pool",
                vec!["INC-0012"],
            ),
            (
                "之前排除了什么？",
                Locale::Zh,
                "INC-0012: 当时已排除：Postgres overloaded",
                vec!["INC-0012"],
            ),
            (
                "tell me about the refund job",
                Locale::En,
                "INC-0012 says: Refund job hogs the pool",
                vec!["INC-0012"],
            ),
        ] {
            let found = answer(question, &report, &memory, locale);
            assert_eq!(found.answer, answer_text, "{question}");
            assert_eq!(found.memory_refs, refs, "{question}");
        }
    }

    #[test]
    fn common_compounds_are_sorted_for_the_search() {
        assert!(COMMON_COMPOUNDS.is_sorted());
    }

    mod properties {
        use super::*;
        use proptest::prelude::*;

        proptest! {
            #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]

            #[test]
            fn r24_any_input_gives_quotes_that_stand_and_references_that_were_recalled(
                text in "[ -~\n\u{4e00}-\u{4e40}。，]{0,300}",
                cause in any::<String>(),
                fix in any::<String>(),
                question in any::<String>(),
                grade in prop_oneof![
                    Just(Grade::DirectMatch), Just(Grade::Analogy), Just(Grade::Low)
                ],
            ) {
                let report = Report::from_text(text.clone());
                let memory = memory(vec![
                    Past::here(7001, &cause, &fix, Outcome::Held).error(&text).graded(grade),
                ]);
                let proposal = propose(&FallbackInput {
                    change_before: Some(&text),
                    impact: Some(&text),
                    ..input(&report, &memory)
                });
                prop_assert!(proposal.hypotheses.len() <= HYPOTHESES_AT_MOST);
                prop_assert!((4..=7).contains(&proposal.next_steps.len()));
                let answer = answer(&question, &report, &memory, Locale::Zh);
                let quotes = proposal.hypotheses.iter().flat_map(|h| &h.evidence);
                for quote in quotes.chain(&answer.evidence) {
                    prop_assert!(text.contains(quote.as_str()), "{quote:?}");
                }
                if grade == Grade::Low {
                    prop_assert!(!everything(&proposal).contains("INC-7001"));
                    prop_assert!(answer.memory_refs.is_empty());
                }
            }
        }
    }
}

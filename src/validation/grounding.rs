//! Grounding (R6, R20): what a claim names must stand in what was given.
//!
//! Numbers, times, versions, identifiers, hosts and paths of a claim occur in the report or in a
//! direct memory that is cited for it, or they do not leave. In titles, summary and update the
//! clause that carries them goes; elsewhere a number becomes "(not in evidence)" and an identifier
//! takes its clause with it. What changes from outage to outage becomes a placeholder. What occurs
//! in an analogy only is its internals (R6): struck by the same means, with a wider net.
//!
//! Deliberately absent: understanding. A claim is read as tokens of a few shapes; the shapes and
//! the words of operations that pass without evidence are data below.

use super::allowed::{
    is_hyphenated_prose, is_word_of_commands, is_word_of_operations, may_be_prose,
};
use super::text::{clauses, narrow, tidy, without_clauses};
use crate::incident::words::{fold, is_cjk};
use crate::incident::{IncidentId, PastIncident, volatile};
use regex::Regex;
use std::cell::{OnceCell, RefCell};
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::sync::LazyLock;

/// Where a claim stands decides how it is mended (R20).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Place {
    /// Titles: the clause goes, or the phrase that carries the token.
    Title,
    /// Summary, update: the clause goes.
    Clause,
    /// Everything else in prose: a number is replaced, an identifier takes its clause with it.
    Body,
    /// `expect` and `undo`: as `Body`, durations and times pass.
    Timed,
    /// Commands: numbers and flags pass; one ungrounded name and the command goes.
    Command,
}

/// A claim after grounding.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Grounded {
    /// What may be said; empty where nothing is left.
    pub text: String,
    /// The rules that changed it: `R6`, `R20`, each once.
    pub rules: Vec<&'static str>,
}

/// Everything that claims are checked against.
pub(super) struct Grounds {
    report: Basis,
    direct: BTreeMap<IncidentId, Basis>,
    analogies: Vec<Basis>,
    /// Identifiers that occur in analogies and neither in the report nor in a direct match, folded:
    /// internals of another service, in whatever case they are written (R6).
    internals: BTreeSet<String>,
    /// The same without separators: `order_payment_processor` is `OrderPaymentProcessor`.
    internals_spelled: HashSet<String>,
    /// Services that analogies come from: the card names them, so a claim may, where it speaks of
    /// the analogy.
    other_services: Vec<String>,
    /// First and last parts of the hyphenated names at hand: what shares one is a name as well
    /// (`order-sync` beside `stock-sync`).
    siblings: Siblings,
    not_in_evidence: &'static str,
}

#[derive(Default)]
struct Siblings {
    first: HashSet<String>,
    last: HashSet<String>,
}

/// One text that can support claims.
struct Basis {
    folded: String,
    /// Runs of letters, digits and `_`: what is not among them needs no search.
    words: HashSet<String>,
    quantities: HashSet<(Unit, u64)>,
    /// Plain numbers that are no status codes: `返回 500` counts nothing.
    counted: HashSet<u64>,
    /// Clocks with a zone, in minutes of the day in UTC.
    instants: HashSet<i32>,
    /// Hours and minutes that stand without a zone somewhere: there any zone may be meant.
    unzoned: HashSet<String>,
    /// Ranges of numbered names: `ws-eu-01..ws-eu-14` is the prefix, the first and the last number.
    ranges: Vec<(String, u32, u32)>,
    /// Names without their separators, made when first asked for.
    spellings: OnceCell<HashSet<String>>,
    /// What was asked before: a hostile answer asks the same ten thousand times.
    asked: RefCell<HashMap<String, bool>>,
}

#[derive(Clone, Debug, PartialEq)]
struct Quantity {
    value: f64,
    unit: Unit,
    /// Sizes: the value with factors of 1,024, for people write 512Mi and 512 MB for the same.
    binary: f64,
    /// A plain number that says how many there are of something (`500 connections`).
    counts: bool,
    /// Its unit is a lone `m`.
    lone_m: bool,
}

impl Quantity {
    fn new(value: f64, unit: Unit) -> Self {
        Self {
            value,
            unit,
            binary: value,
            counts: false,
            lone_m: false,
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Unit {
    Percent,
    /// Value in milliseconds.
    Time,
    /// Value in bytes.
    Size,
    /// No unit, or a counted noun.
    Plain,
}

/// Something in a claim that needs evidence.
struct Token {
    /// Range in characters.
    start: usize,
    end: usize,
    kind: TokenKind,
}

#[derive(Debug)]
enum TokenKind {
    Number(Quantity),
    /// Clocks and dates, folded; of a clock with a zone, the minute of the day in UTC.
    Clock(String, Option<i32>),
    /// A share or count in vague words (三成): the words themselves must stand.
    Vague(String, Option<Quantity>),
    Name(String),
    /// A plain word: nothing but an analogy's internals can object to it.
    Word(String),
    /// A long option: as a word.
    Flag(String),
}

impl Grounds {
    pub fn new(
        report_text: &str,
        service: Option<&str>,
        registered: &[&str],
        direct: &[&PastIncident],
        analogies: &[&PastIncident],
        not_in_evidence: &'static str,
    ) -> Self {
        let report = Basis::new(&format!("{report_text}\n{}", service.unwrap_or_default()));
        let direct: BTreeMap<IncidentId, Basis> = direct
            .iter()
            .map(|incident| (incident.id, Basis::new(&text_of(incident, true))))
            .collect();
        let other_services: Vec<String> = analogies
            .iter()
            .filter_map(|incident| incident.service.as_deref().map(fold))
            .collect();
        let mut internals = BTreeSet::new();
        for incident in analogies {
            for name in internals_of(&text_of(incident, false)) {
                let known = other_services.contains(&name)
                    || report.holds_name(&name)
                    || direct.values().any(|basis| basis.holds_name(&name));
                if !known {
                    internals.insert(name);
                }
            }
        }
        let mut siblings = Siblings::default();
        siblings.add(&report.folded);
        for name in registered {
            siblings.add(&fold(name));
        }
        for basis in direct.values() {
            siblings.add(&basis.folded);
        }
        Self {
            analogies: analogies
                .iter()
                .map(|incident| Basis::new(&text_of(incident, true)))
                .collect(),
            internals_spelled: internals
                .iter()
                .map(|name| squeezed(name))
                .filter(|name| is_spelling(name))
                .collect(),
            other_services,
            siblings,
            internals,
            report,
            direct,
            not_in_evidence,
        }
    }

    /// Grounds a claim that cites these direct memories.
    pub fn check(&self, claim: &str, cited: &[IncidentId], place: Place) -> Grounded {
        let (text, replaced) = self.mask_volatile(claim);
        let mut rules: Vec<&'static str> = Vec::new();
        if !replaced.is_empty() {
            rules.push("R20");
        }
        let chars: Vec<char> = text.chars().collect();
        let named = named_in(&chars, place);
        let mut bad: Vec<(Token, &'static str)> = tokens(&chars, !self.internals.is_empty())
            .into_iter()
            .filter_map(|token| {
                let is_named = named.contains(&token.start);
                self.objection(&token, cited, place, is_named, &chars)
                    .map(|rule| (token, rule))
            })
            .collect();
        let plain = plain_names_in(&chars, place);
        bad.extend(plain.into_iter().filter_map(|token| {
            let TokenKind::Word(word) = &token.kind else {
                return None;
            };
            let given = std::iter::once(&self.report)
                .chain(cited.iter().filter_map(|id| self.direct.get(id)))
                .any(|basis| basis.holds_name(word));
            let told = place != Place::Command || self.is_remembered(word);
            (!given && told).then_some((token, "R20"))
        }));
        bad.sort_by_key(|(token, _)| token.start);
        if bad.is_empty() {
            bad.extend(self.internals_in_words(&chars).map(|token| (token, "R6")));
        }
        if bad.is_empty() {
            return Grounded { text, rules };
        }
        for (_, rule) in &bad {
            if !rules.contains(rule) {
                rules.push(rule);
            }
        }
        let text = match place {
            Place::Command => String::new(),
            Place::Title => without_phrases(&chars, &bad),
            Place::Clause => without_bad_clauses(&chars, &bad),
            Place::Body | Place::Timed => self.mended(&chars, &bad),
        };
        Grounded { text, rules }
    }

    /// Volatile words that are not of today become placeholders.
    fn mask_volatile(&self, claim: &str) -> (String, Vec<(String, &'static str)>) {
        volatile::replace(claim, |word| {
            let folded = fold(word);
            let core = volatile_core(&folded);
            let today = self.report.holds_word(&folded) || self.report.holds_word(core);
            today || !(self.is_remembered(&folded) || self.is_remembered(core))
        })
    }

    /// The internals of an analogy in words of their own: `the order payment processor`. Two words
    /// alone may be anybody's (`connection pool`).
    fn internals_in_words(&self, chars: &[char]) -> impl Iterator<Item = Token> {
        let mut words: Vec<(usize, usize, String)> = Vec::new();
        let mut found = Vec::new();
        if !self.internals_spelled.is_empty() {
            let mut start = None;
            for (index, c) in chars.iter().copied().chain([' ']).enumerate() {
                let joins = c.is_ascii_alphanumeric();
                match (start, joins) {
                    (None, true) => start = Some(index),
                    (Some(from), false) => {
                        let word: String =
                            chars.get(from..index).unwrap_or_default().iter().collect();
                        words.push((from, index, fold(&word)));
                        start = None;
                    }
                    _ => {}
                }
            }
        }
        for (at, (start, _, first)) in words.iter().enumerate() {
            let mut spelled = first.clone();
            for (more, (_, end, word)) in words.iter().skip(at + 1).take(4).enumerate() {
                spelled.push_str(word);
                if more > 0 && spelled.len() >= 12 && self.internals_spelled.contains(&spelled) {
                    found.push(Token {
                        start: *start,
                        end: *end,
                        kind: TokenKind::Word(spelled.clone()),
                    });
                }
            }
        }
        found.into_iter()
    }

    fn is_internal(&self, folded: &str) -> bool {
        self.internals.contains(folded) || {
            let spelled = squeezed(folded);
            is_spelling(&spelled) && self.internals_spelled.contains(&spelled)
        }
    }

    fn is_remembered(&self, folded: &str) -> bool {
        self.direct
            .values()
            .chain(&self.analogies)
            .any(|basis| basis.holds_word(folded))
    }

    /// The rule that a token breaks, if it does.
    fn objection(
        &self,
        token: &Token,
        cited: &[IncidentId],
        place: Place,
        is_named: bool,
        chars: &[char],
    ) -> Option<&'static str> {
        let mut bases =
            std::iter::once(&self.report).chain(cited.iter().filter_map(|id| self.direct.get(id)));
        match &token.kind {
            TokenKind::Number(quantity) => {
                let exempt = place == Place::Command
                    || (place == Place::Timed && quantity.unit == Unit::Time);
                (!exempt && !bases.any(|basis| basis.holds_quantity(quantity))).then_some("R20")
            }
            TokenKind::Vague(words, quantity) => {
                let holds = |basis: &Basis| {
                    basis.holds_word(words)
                        || quantity
                            .as_ref()
                            .is_some_and(|quantity| basis.holds_quantity(quantity))
                };
                let timed = place == Place::Timed
                    && quantity
                        .as_ref()
                        .is_some_and(|quantity| quantity.unit == Unit::Time);
                (place != Place::Command && !timed && !bases.any(holds)).then_some("R20")
            }
            TokenKind::Clock(clock, instant) => {
                let exempt = matches!(place, Place::Command | Place::Timed);
                let holds = |basis: &Basis| basis.holds_time(clock, *instant);
                (!exempt && !bases.any(holds)).then_some("R20")
            }
            TokenKind::Word(word) | TokenKind::Flag(word) => {
                self.internals.contains(word).then_some("R6")
            }
            TokenKind::Name(name) => {
                let folded = fold(name);
                if self.is_internal(&folded) {
                    return Some("R6");
                }
                if bases.any(|basis| basis.holds_name(&folded)) {
                    return None;
                }
                if self.other_services.contains(&folded) {
                    // A command runs somewhere, and never on the other service.
                    let of_the_analogy =
                        place != Place::Command && speaks_of_another(chars, token.start);
                    return (!of_the_analogy).then_some("R6");
                }
                if place == Place::Command && is_word_of_commands(name) {
                    return None;
                }
                let telling = is_telling_name(name, place)
                    || (is_named && name.contains(['-', '_']) && !is_hyphenated_prose(&folded))
                    || self.is_sibling(&folded)
                    || (self.is_remembered(&folded) && !may_be_prose(&folded));
                let of_analogy = || self.analogies.iter().any(|basis| basis.holds_word(&folded));
                telling.then(|| if of_analogy() { "R6" } else { "R20" })
            }
        }
    }

    /// A hyphenated word that begins or ends as a name at hand does, and is not that name.
    fn is_sibling(&self, folded: &str) -> bool {
        let parts: Vec<&str> = folded.split('-').collect();
        let (Some(first), Some(last)) = (parts.first(), parts.last()) else {
            return false;
        };
        parts.len() > 1
            && folded
                .chars()
                .all(|c| c.is_ascii_alphanumeric() || c == '-')
            && (self.siblings.first.contains(*first) || self.siblings.last.contains(*last))
            && !may_be_prose(folded)
    }

    fn mended(&self, chars: &[char], bad: &[(Token, &'static str)]) -> String {
        let is_name = |token: &&Token| {
            matches!(
                token.kind,
                TokenKind::Name(_) | TokenKind::Word(_) | TokenKind::Flag(_)
            )
        };
        let names = bad.iter().map(|(token, _)| token).filter(is_name);
        let mut kept: Vec<char> = Vec::new();
        for unit in clauses(chars) {
            if names
                .clone()
                .any(|token| token.start >= unit.0 && token.start < unit.1)
            {
                continue;
            }
            let mut index = unit.0;
            while index < unit.1 {
                let number = bad
                    .iter()
                    .map(|(token, _)| token)
                    .find(|token| token.start == index);
                match number {
                    Some(token) => {
                        kept.extend(self.not_in_evidence.chars());
                        index = token.end;
                    }
                    None => {
                        kept.extend(chars.get(index));
                        index += 1;
                    }
                }
            }
        }
        tidy(&kept)
    }
}

impl Siblings {
    fn add(&mut self, folded: &str) {
        let names = folded
            .split(|c: char| !(c.is_ascii_alphanumeric() || c == '-'))
            .map(|name| name.trim_matches('-'))
            .filter(|name| name.contains('-') && name.len() >= 5 && name.len() <= 60);
        for name in names {
            let mut parts = name.split('-');
            let (Some(first), Some(last)) = (parts.next(), parts.next_back()) else {
                continue;
            };
            let is_part =
                |part: &str| part.len() >= 2 && part.bytes().any(|b| b.is_ascii_alphabetic());
            if may_be_prose(name) || is_word_of_operations(name) {
                continue;
            }
            if is_part(first) {
                self.first.insert(first.to_owned());
            }
            if is_part(last) {
                self.last.insert(last.to_owned());
            }
        }
    }
}

/// A name without what separates its parts, so that its spellings compare equal.
fn squeezed(folded: &str) -> String {
    folded
        .chars()
        .filter(|c| c.is_alphanumeric() && !is_cjk(*c))
        .collect()
}

/// Long enough to be one name and no other; versions and addresses have no other spelling.
fn is_spelling(squeezed: &str) -> bool {
    squeezed.len() >= 6 && squeezed.bytes().filter(u8::is_ascii_alphabetic).count() >= 4
}

/// What identifies an address without its port, a build without the word before it.
fn volatile_core(folded: &str) -> &str {
    let is_address = folded.matches('.').count() >= 3;
    if is_address {
        return folded.split([':', '/']).next().unwrap_or(folded);
    }
    let digits = folded.trim_start_matches(|c: char| !c.is_ascii_digit());
    let word = folded
        .get(..folded.len() - digits.len())
        .unwrap_or_default();
    let is_build = ["build", "pipeline", "job", "run", "构建", "流水线"]
        .iter()
        .any(|name| word.starts_with(name));
    if is_build && digits.bytes().all(|b| b.is_ascii_digit()) {
        digits
    } else {
        folded
    }
}

/// Whether the clause around this position speaks of another incident or service and not of the
/// service at hand: `as on voice-bridge`, `类似 voice-bridge`.
fn speaks_of_another(chars: &[char], at: usize) -> bool {
    static OF_ANOTHER: LazyLock<Option<Regex>> = LazyLock::new(|| {
        Regex::new(concat!(
            r"\b(?:as (?:on|in|with|for|at)|like|unlike|similar(?:ly|ity)?|resembl\w+|analog\w*|same (?:as|kind|pattern|error|trouble|symptoms?)|",
            r"another|other|others|elsewhere|once|seen|past|earlier|before|previous(?:ly)?|history|memory|precedents?|incidents?|outages?|",
            r"from|different|differs|not assumed|inc-?\s?[0-9]+|last (?:time|year|month|week)|was|were|had|reported|comes? from|knows?|known)\b|",
            r"类似|相似|类比|像|如同|参考|借鉴|另一|另外|其他|别的|曾|当时|过去|历史|以前|之前|上次|出现过|发生过|不同|一样|相同|同类|来自|事故|故障|记忆|经验"
        ))
        .ok()
    });
    let clause = clauses(chars)
        .into_iter()
        .find(|(start, end)| (*start..*end).contains(&at))
        .and_then(|(start, end)| chars.get(start..end))
        .unwrap_or(chars);
    let folded = fold(&clause.iter().collect::<String>());
    OF_ANOTHER
        .as_ref()
        .is_some_and(|pattern| pattern.is_match(&folded))
}

/// Where words stand that the claim itself calls names: behind *queue*, *flag* and the like, and in
/// commands as operands of options and resources. Positions in characters.
fn named_in(chars: &[char], place: Place) -> HashSet<usize> {
    static OPERAND: LazyLock<Option<Regex>> = LazyLock::new(|| {
        Regex::new(concat!(
            r"(?:^|\s)(?:-n|--namespace|-h|--host|--hostname|--context|--cluster|--bucket|--queue|--queue-name|--topic|--group|--table|--database|--service|--name|--instance|--project|-c|--container)[= ]+['\x22]?(?P<a>[A-Za-z][A-Za-z0-9_.-]*)|",
            r"(?:^|\s)(?:deployments?|deploy|pods?|po|statefulsets?|sts|svc|services?|daemonsets?|ds|jobs?|cronjobs?|configmaps?|cm|secrets?|ingress(?:es)?|nodes?|hpa|pvc)[/ ](?P<b>[a-z][a-z0-9.-]*)|",
            r"(?:^|\s)(?:ssh|ping|dig|nslookup|telnet|nc|traceroute|systemctl [a-z-]+|service|docker [a-z]+)\s+(?:-[a-zA-Z]+ )*(?P<c>[a-z][a-z0-9_.-]*)"
        ))
        .ok()
    });
    let pattern = if place == Place::Command {
        OPERAND.as_ref()
    } else {
        NAMED.as_ref()
    };
    let text: String = chars.iter().map(|c| narrow(*c)).collect();
    let mut out = HashSet::new();
    for captures in pattern
        .into_iter()
        .flat_map(|pattern| pattern.captures_iter(&text))
    {
        for name in ["a", "b", "c"] {
            if let Some(found) = captures.name(name) {
                let before = text.get(..found.start()).unwrap_or_default();
                out.insert(before.chars().count());
            }
        }
    }
    out
}

/// Plain words that are names by their place alone: the program of a command, and in Chinese the
/// Latin word behind 渠道, 队列, 表 and the like.
fn plain_names_in(chars: &[char], place: Place) -> Vec<Token> {
    static PROGRAM: LazyLock<Option<Regex>> =
        LazyLock::new(|| Regex::new(r"^\s*(?:sudo\s+|time\s+)?(?P<a>[a-z][a-z]{3,})(?:\s|$)").ok());
    static BEHIND: LazyLock<Option<Regex>> = LazyLock::new(|| {
        Regex::new(r"(?:渠道|供应商|商户|队列|主题|表|数据库|库|索引) ?(?P<a>[a-z]{5,})(?:[^A-Za-z0-9_.-]|$)").ok()
    });
    let pattern = if place == Place::Command {
        &PROGRAM
    } else {
        &BEHIND
    };
    let text: String = chars.iter().map(|c| narrow(*c)).collect();
    pattern
        .as_ref()
        .into_iter()
        .flat_map(|pattern| pattern.captures_iter(&text))
        .filter_map(|captures| captures.name("a"))
        .filter(|name| !is_word_of_operations(name.as_str()))
        .map(|name| {
            let start = text
                .get(..name.start())
                .map_or(0, |head| head.chars().count());
            Token {
                start,
                end: start + name.as_str().chars().count(),
                kind: TokenKind::Word(name.as_str().to_owned()),
            }
        })
        .collect()
}

/// The words of a record that can support a claim.
fn text_of(incident: &PastIncident, with_service: bool) -> String {
    let mut parts: Vec<&str> = vec![&incident.title, &incident.root_cause, &incident.prevention];
    parts.extend(incident.symptoms.iter().map(String::as_str));
    parts.extend(incident.error_signatures.iter().map(String::as_str));
    parts.extend(incident.ruled_out.iter().map(String::as_str));
    for attempt in &incident.attempts {
        parts.push(&attempt.fix);
        parts.push(&attempt.note);
    }
    let mut text = parts.join("\n");
    match (&incident.service, with_service) {
        (Some(service), true) => {
            text.push('\n');
            text.push_str(service);
        }
        // The name of the other service is not one of its internals: the card names it.
        (Some(service), false) => text = text.replace(service.as_str(), " "),
        (None, _) => {}
    }
    text
}

/// A word that stands behind a word that says that it is a name, or in back ticks.
static NAMED: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(concat!(
        r"(?i)(?:\b(?:class|function|method|table|queue|topic|index|bucket|stream|exchange|column|keyspace|collection|namespace|config key|key|flag|host|path)s? |",
        r"(?:类|函数|方法|表|队列|主题|索引|配置项|主机|开关|参数|路径|命名空间) ?)[`'\x22]?(?P<a>[a-z][a-z0-9_.-]{2,})|`(?P<b>[^`\s]{3,80})`"
    ))
    .ok()
});

/// What an analogy names that is its own: identifiers, and plain words behind a word that says that
/// they are a name (`queue relay`, 表 ledger, anything in back ticks).
fn internals_of(text: &str) -> BTreeSet<String> {
    let chars: Vec<char> = text.chars().collect();
    let mut out = BTreeSet::new();
    for token in tokens(&chars, false) {
        if let TokenKind::Name(name) = token.kind {
            // The parts of a compound that are names by themselves give it away too.
            for part in name.split(['.', ':', '/', '>', '(', ')']) {
                if is_name_shape(part) && !is_capitals(part) && is_telling_name(part, Place::Body) {
                    out.insert(fold(part));
                }
            }
            if is_telling_name(&name, Place::Body) {
                out.insert(fold(&name));
            }
        } else if let TokenKind::Word(word) = token.kind {
            // `pki/issue/billing`, `feed:v3`: no name by its shape alone, and this one's own.
            if word.matches('/').count() >= 2 || word.contains(':') {
                out.insert(word);
            }
        } else if let TokenKind::Flag(flag) = token.kind
            && !COMMON_FLAGS.contains(&flag.as_str())
            && flag.matches('-').count() >= 3
        {
            out.insert(flag);
        }
    }
    if let Some(named) = NAMED.as_ref() {
        for captures in named.captures_iter(text) {
            if let Some(name) = captures.name("a").or_else(|| captures.name("b")) {
                let name = fold(
                    name.as_str()
                        .trim_matches(['.', '-', '`', '\'', '"', '(', ')', ',']),
                );
                let is_prose = crate::incident::words::is_stop_word(&name)
                    || PLAIN_BEHIND_A_NOUN.contains(&name.as_str())
                    || name.len() < 3;
                if !is_prose && !is_word_of_operations(&name) {
                    out.insert(name);
                }
            }
        }
    }
    out
}

/// Words that stand behind *queue*, *table* and the like in plain prose.
const PLAIN_BEHIND_A_NOUN: &[&str] = &[
    "after", "again", "all", "because", "before", "behind", "blocked", "broken", "but", "cannot",
    "can", "contents", "count", "depth", "does", "during", "entries", "entry", "every", "expired",
    "failed", "fails", "filled", "fills", "for", "full", "grew", "grow", "growing", "grows", "had",
    "hang", "hangs", "has", "key", "keys", "length", "limit", "limits", "lock", "locked", "locks",
    "missing", "more", "name", "names", "never", "no", "not", "off", "once", "one", "only", "out",
    "over", "overflow", "per", "rather", "rebuild", "rotation", "rows", "scan", "scans", "size",
    "still", "stops", "than", "too", "under", "until", "used", "uses", "via", "wait", "waits",
    "when", "without", "and",
];

/// Long options of everyday commands.
const COMMON_FLAGS: &[&str] = &[
    "--no-pager",
    "--since-time",
    "--all-namespaces",
    "--all-containers",
    "--sort-by",
    "--field-selector",
    "--no-headers",
    "--bootstrap-server",
    "--dry-run",
    "--max-time",
    "--connect-timeout",
    "--show-labels",
    "--output-watch-events",
    "--ignore-not-found",
    "--no-stream",
    "--grace-period",
    "--to-revision",
    "--group-id",
    "--consumer-group",
];

impl Basis {
    fn new(text: &str) -> Self {
        let folded = fold(text);
        let mut found = HashSet::new();
        let mut counted = HashSet::new();
        for quantity in quantities(&folded) {
            found.insert((quantity.unit, key(quantity.value)));
            found.insert((quantity.unit, key(quantity.binary)));
            // `1.8M` is folded: a lone letter is minutes or a million of anything.
            if quantity.lone_m {
                let millions = quantity.value / 60_000.0;
                found.insert((Unit::Size, key(millions * 1_000_000.0)));
                found.insert((Unit::Size, key(millions * 1_048_576.0)));
            }
            if quantity.counts {
                counted.insert(key(quantity.value));
            }
        }
        let (instants, unzoned) = instants(&folded);
        Self {
            words: runs(&folded).map(str::to_owned).collect(),
            instants,
            unzoned,
            ranges: ranges(&folded),
            folded,
            quantities: found,
            counted,
            spellings: OnceCell::new(),
            asked: RefCell::default(),
        }
    }

    /// A folded word or phrase stands here on whole words.
    fn holds_word(&self, folded: &str) -> bool {
        if folded.is_empty() || !runs(folded).all(|run| self.words.contains(run)) {
            return false;
        }
        if let Some(known) = self.asked.borrow().get(folded) {
            return *known;
        }
        let joins = |c: char| (c.is_alphanumeric() || c == '_') && !is_cjk(c);
        let first = folded.chars().next().is_some_and(joins);
        let last = folded.chars().next_back().is_some_and(joins);
        let found = self.folded.match_indices(folded).any(|(start, found)| {
            let before = self
                .folded
                .get(..start)
                .and_then(|head| head.chars().next_back());
            let after = self
                .folded
                .get(start + found.len()..)
                .and_then(|tail| tail.chars().next());
            let goes_on = first && before.is_some_and(joins) || last && after.is_some_and(joins);
            !goes_on
        });
        self.asked.borrow_mut().insert(folded.to_owned(), found);
        found
    }

    /// A number as a word: of a name or a port too, not out of a clock, an address or a version.
    fn holds_number(&self, digits: &str) -> bool {
        self.holds_word(digits)
            && self.folded.match_indices(digits).any(|(start, found)| {
                let end = start + found.len();
                let beside =
                    |at: Option<char>| at.is_some_and(|c| c.is_alphanumeric() && !is_cjk(c));
                let whole =
                    !beside(
                        self.folded
                            .get(..start)
                            .and_then(|head| head.chars().next_back()),
                    ) && !beside(self.folded.get(end..).and_then(|tail| tail.chars().next()));
                whole && !is_part_of_a_sequence(&self.folded, start, end)
            })
    }

    /// As [`Basis::holds_word`], in any spelling: a hyphenated name also as separate words
    /// (`refund-job`), a version with or without its `v`, one of several (`TypeErrors`), and with
    /// other separators (`ShipmentTracker`, `import_stock_job`).
    fn holds_name(&self, folded: &str) -> bool {
        if self.holds_word(folded) {
            return true;
        }
        let hyphenated =
            folded.contains('-') && folded.chars().all(|c| c.is_ascii_alphabetic() || c == '-');
        if hyphenated && self.holds_word(&folded.replace('-', " ")) {
            return true;
        }
        let version = folded.strip_prefix('v').unwrap_or(folded);
        if version.contains('.') && version.bytes().all(|b| b.is_ascii_digit() || b == b'.') {
            return self.holds_word(version) || self.holds_word(&format!("v{version}"));
        }
        if folded.len() > 4
            && let Some(one) = folded.strip_suffix('s')
            && self.holds_word(one)
        {
            return true;
        }
        self.holds_spelling(&squeezed(folded)) || self.holds_in_a_range(folded)
    }

    fn holds_in_a_range(&self, folded: &str) -> bool {
        let prefix = folded.trim_end_matches(|c: char| c.is_ascii_digit());
        let number = folded.get(prefix.len()..).unwrap_or_default();
        let Ok(number) = number.parse::<u32>() else {
            return false;
        };
        self.ranges
            .iter()
            .any(|(name, from, to)| name == prefix && (*from..=*to).contains(&number))
    }

    fn holds_spelling(&self, spelled: &str) -> bool {
        is_spelling(spelled)
            && self
                .spellings
                .get_or_init(|| spellings(&self.folded))
                .contains(spelled)
    }

    /// A clock with its zone: the same moment, or the same clock where no zone was given.
    fn holds_time(&self, clock: &str, instant: Option<i32>) -> bool {
        match instant {
            Some(instant) if self.instants.contains(&instant) => true,
            Some(_) => self.holds_clock(clock) && self.unzoned.contains(&hour_and_minute(clock)),
            None => self.holds_clock(clock),
        }
    }

    /// A clock or date as written, with a leading zero more or less, inside a time stamp, and by the
    /// other half of the day.
    fn holds_clock(&self, clock: &str) -> bool {
        if clock.contains('t') {
            return self.folded.contains(clock) || self.folded.contains(&clock.replace('t', " "));
        }
        let (digits, half) = match clock.find(['a', 'p']) {
            Some(at) => {
                let (digits, half) = clock.split_at(at);
                (digits.trim(), half.chars().next())
            }
            None => (clock, None),
        };
        let other = match digits.strip_prefix('0') {
            Some(shorter) => shorter.to_owned(),
            None => format!("0{digits}"),
        };
        let stamped = |clock: &str| {
            self.folded.contains(&format!("t{clock}")) || self.folded.contains(&format!("{clock}t"))
        };
        let halves = || {
            ["am", " am", "pm", " pm", " a.m", " p.m"]
                .iter()
                .any(|end| {
                    end.contains(half.unwrap_or('m'))
                        && (self.holds_word(&format!("{digits}{end}"))
                            || self.holds_word(&format!("{}{end}", digits.trim_start_matches('0'))))
                })
        };
        let by_the_other_half = || {
            let (hour, minutes) = digits.split_once(':')?;
            let hour: u32 = hour.parse().ok()?;
            let found = match half {
                Some('p') if hour < 12 => self.holds_word(&format!("{}:{minutes}", hour + 12)),
                Some(_) => self.holds_word(&format!("{hour:02}:{minutes}")),
                None if hour > 12 => ["pm", " pm", " p.m"]
                    .iter()
                    .any(|end| self.holds_word(&format!("{}:{minutes}{end}", hour - 12))),
                None => false,
            };
            Some(found)
        };
        (half.is_none() && (self.holds_word(digits) || self.holds_word(&other)))
            || stamped(digits)
            || stamped(&other)
            || halves()
            || by_the_other_half() == Some(true)
    }

    fn holds_quantity(&self, wanted: &Quantity) -> bool {
        // Neighbours: a sum of roundings may end one step aside.
        let near = |value: f64| {
            let key = key(value);
            [key.wrapping_sub(1), key, key.wrapping_add(1)]
        };
        let holds = |unit: Unit, value: f64| {
            near(value)
                .iter()
                .any(|key| self.quantities.contains(&(unit, *key)))
        };
        if wanted.counts && is_status(wanted.value) {
            return near(wanted.value)
                .iter()
                .any(|key| self.counted.contains(key));
        }
        if holds(wanted.unit, wanted.value) || holds(wanted.unit, wanted.binary) {
            return true;
        }
        match wanted.unit {
            // `timeout 30` supports `30 s`; `30 %` supports the bare 30, and not the other way.
            Unit::Time => [1.0, 1_000.0, 60_000.0, 3_600_000.0]
                .iter()
                .any(|factor| holds(Unit::Plain, wanted.value / factor)),
            Unit::Size => holds(Unit::Plain, wanted.value),
            // `22k` supports 22,000: a lone letter may be a thousand of anything.
            Unit::Plain => {
                holds(Unit::Percent, wanted.value)
                    || (wanted.value >= 1_000.0 && holds(Unit::Size, wanted.value))
                    || self.holds_number(&plain(wanted.value))
            }
            Unit::Percent => false,
        }
    }
}

static QUANTITIES: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(concat!(
        r"(?P<number>[0-9]+(?:,[0-9]{3})*(?:\.[0-9]+)?)(?P<unit>\s?(?:%|percent\b|(?:milliseconds?|ms|µs|us|seconds?|secs?|minutes?|mins?|hours?|hrs?|days?|s|m|h|d|[kmgt]i?b?|bytes?|b)\b|million\b|billion\b|thousand\b|[万亿]|百分|毫秒|秒|分钟|小时|天))?(?P<glued>[a-z][a-z0-9_-]*)?",
        r"|百分之(?P<share>[零〇一二两三四五六七八九十百]+)",
        r"|(?P<han>[一二两三四五六七八九]?[十百千万亿][零〇一二两三四五六七八九十百千万亿]*)(?P<hanunit>毫秒|秒|分钟|小时|天|个|次|条|台|笔|人|名|倍|家|起|%)",
    ))
    .ok()
});

/// Every quantity of a folded text: what can support a claim. Wider than what a claim's tokens are
/// (each part of a clock counts), and one pass over what may be a long log. 百分之三十 is exact and
/// counts; 三成 never supports an exact number.
fn quantities(folded: &str) -> impl Iterator<Item = Quantity> {
    let all = QUANTITIES
        .as_ref()
        .map(|pattern| pattern.captures_iter(folded));
    all.into_iter().flatten().filter_map(move |captures| {
        if let Some(number) = captures.name("number") {
            if is_part_of_a_sequence(folded, number.start(), number.end()) {
                return None;
            }
            let text = |name| {
                captures
                    .name(name)
                    .map_or("", |part: regex::Match<'_>| part.as_str().trim())
            };
            match number_token(
                number.as_str(),
                text("unit"),
                text("glued"),
                folded,
                number.start(),
            )? {
                TokenKind::Number(mut quantity) => {
                    let before = folded.get(..number.start()).unwrap_or_default();
                    quantity.counts = !is_behind_status(before) && text("glued").is_empty();
                    Some(quantity)
                }
                _ => None,
            }
        } else if let Some(share) = captures.name("share") {
            Some(Quantity::new(han_number(share.as_str())?, Unit::Percent))
        } else {
            let before = folded
                .get(..captures.get(0)?.start())
                .and_then(|head| head.chars().next_back());
            if before.is_some_and(is_vague_before) {
                return None;
            }
            match number_token(
                &plain(han_number(captures.name("han")?.as_str())?),
                captures.name("hanunit")?.as_str(),
                "",
                "",
                0,
            )? {
                TokenKind::Number(quantity) => Some(quantity),
                _ => None,
            }
        }
    })
}

/// 几百个, 数十个, 上千次: vague, and no exact number.
fn is_vague_before(c: char) -> bool {
    matches!(c, '几' | '数' | '上' | '成' | '近' | '好' | '多')
}

/// Maximal runs of letters, digits and `_` outside of scripts without spaces.
fn runs(folded: &str) -> impl Iterator<Item = &str> {
    folded
        .split(|c: char| !(c.is_alphanumeric() || c == '_') || is_cjk(c))
        .filter(|run| !run.is_empty())
}

/// `19` of `19:22`, `10` of `10.4.2.9`, `13` of `2.13.0`: no number by itself. The port of an address
/// is one.
fn is_part_of_a_sequence(text: &str, start: usize, end: usize) -> bool {
    let head = text.get(..start).unwrap_or_default().as_bytes();
    let tail = text.get(end..).unwrap_or_default().as_bytes();
    let digit = |byte: Option<&u8>| byte.is_some_and(u8::is_ascii_digit);
    let len = end.saturating_sub(start);
    let number = text.get(start..end).unwrap_or_default();
    let joined = |mark: u8| {
        let behind = head.last() == Some(&mark) && digit(head.iter().rev().nth(1));
        let before = tail.first() == Some(&mark) && digit(tail.get(1));
        (behind, before)
    };
    let (after_dot, before_dot) = joined(b'.');
    let (after_colon, before_colon) = joined(b':');
    // `filters.js:88:21` is a place in a file.
    let in_a_file = head.last() == Some(&b':') && !after_colon;
    let clock = !in_a_file
        && (after_colon || before_colon)
        && (len <= 2 || (after_colon && number.contains('.')));
    let dotted = after_dot || (before_dot && number.contains('.'));
    clock || dotted
}

/// A number that may be a status of HTTP as well as a count.
fn is_status(value: f64) -> bool {
    (400.0..600.0).contains(&value) && value.fract() == 0.0
}

/// `返回 500`, `status 503`, `answers 502`: what follows is a status.
fn is_behind_status(before: &str) -> bool {
    let before = nearest(before).trim_end_matches([' ', ':', '=', '"', '/']);
    [
        "http",
        "status",
        "code",
        "returns",
        "returned",
        "returning",
        "answers",
        "answered",
        "with",
        "gets",
        "get",
        "in",
        "返回",
        "状态码",
        "报",
        "报错",
        "错误码",
        "响应",
        "变成",
        "是",
    ]
    .iter()
    .any(|word| before.ends_with(word))
}

/// What stands behind a plain number is what it counts, and no word for answers.
fn counts_something(after: &str) -> bool {
    let Some(rest) = after.strip_prefix(' ').or(Some(after)) else {
        return false;
    };
    let unlike = ["次数", "条件", "名称", "家族", "人工", "个别"];
    if rest.starts_with(['个', '条', '台', '次', '笔', '人', '家', '名', '张', '件'])
        && !unlike.iter().any(|word| rest.starts_with(word))
    {
        return true;
    }
    let word: String = rest
        .chars()
        .take_while(char::is_ascii_alphabetic)
        .collect::<String>()
        .to_ascii_lowercase();
    after.starts_with(' ')
        && word.len() > 3
        && word.ends_with('s')
        && ![
            "errors",
            "responses",
            "answers",
            "statuses",
            "codes",
            "replies",
            "failures",
            "alerts",
            "returns",
            "rises",
            "happens",
            "stays",
            "appears",
            "falls",
            "stops",
            "requests",
            "spikes",
            "starts",
            "does",
            "comes",
            "grows",
            "this",
            "across",
            "always",
            "means",
            "from",
            "is",
            "was",
            "rates",
        ]
        .contains(&word.as_str())
}

/// `ws-eu-01..ws-eu-14`, `gw-1 to gw-3`, `edge-4 至 9`: every name between is named.
fn ranges(folded: &str) -> Vec<(String, u32, u32)> {
    static RANGE: LazyLock<Option<Regex>> = LazyLock::new(|| {
        Regex::new(concat!(
            r"(?P<name>[a-z][a-z0-9]*(?:[-_][a-z0-9]+)*?[-_]?)(?P<from>[0-9]{1,4})",
            r" ?(?:\.{2,3}|…|–|—|~|至|到| to | through | thru )[ ]?(?P<again>[a-z][a-z0-9]*(?:[-_][a-z0-9]+)*?[-_]?)?(?P<to>[0-9]{1,4})(?-u:\b)"
        ))
        .ok()
    });
    RANGE
        .as_ref()
        .into_iter()
        .flat_map(|range| range.captures_iter(folded))
        .filter_map(|captures| {
            let name = captures.name("name")?.as_str();
            let again = captures.name("again").map_or(name, |again| again.as_str());
            let from = captures.name("from")?.as_str().parse().ok()?;
            let to = captures.name("to")?.as_str().parse().ok()?;
            (name == again && from < to).then(|| (name.to_owned(), from, to))
        })
        .collect()
}

/// Names of a text without their separators, whole and by parts.
fn spellings(folded: &str) -> HashSet<String> {
    let mut out = HashSet::new();
    let in_name = |c: char| {
        (c.is_alphanumeric() && !is_cjk(c)) || matches!(c, '_' | '-' | '.' | ':' | '/' | '@')
    };
    for name in folded
        .split(|c: char| !in_name(c))
        .filter(|name| name.len() >= 6 && name.len() <= 200)
    {
        for part in std::iter::once(name).chain(name.split(['.', ':', '/', '@'])) {
            let spelled = squeezed(part);
            if is_spelling(&spelled) {
                out.insert(spelled);
            }
        }
    }
    out
}

/// Clocks with a zone, as minutes of the day in UTC, and the hours and minutes of those without.
fn instants(folded: &str) -> (HashSet<i32>, HashSet<String>) {
    static CLOCK: LazyLock<Option<Regex>> = LazyLock::new(|| {
        // Also inside a time stamp, whose zone is behind it.
        Regex::new(r"(?-u:\b)(?:20[0-9]{2}-[0-9]{2}-[0-9]{2}t)?(?P<clock>(?:[01]?[0-9]|2[0-3]):[0-5][0-9](?::[0-5][0-9])?)(?:[.,][0-9]+)?(?-u:\b|z)").ok()
    });
    let (mut zoned, mut unzoned) = (HashSet::new(), HashSet::new());
    let found = CLOCK
        .as_ref()
        .into_iter()
        .flat_map(|clock| clock.captures_iter(folded))
        .filter_map(|found| found.name("clock"));
    for clock in found {
        match instant_of(folded, clock.start(), clock.end()) {
            Some(instant) => {
                zoned.insert(instant);
            }
            None => {
                unzoned.insert(hour_and_minute(clock.as_str()));
            }
        }
    }
    (zoned, unzoned)
}

/// `9:20` of `09:20:31`.
fn hour_and_minute(clock: &str) -> String {
    let clock = clock.trim_start_matches('0');
    let clock = if clock.starts_with(':') {
        format!("0{clock}")
    } else {
        clock.to_owned()
    };
    clock.split(':').take(2).collect::<Vec<_>>().join(":")
}

/// The minute of the day in UTC of the clock at this place, where a zone stands beside it: only
/// then is a conversion exact.
fn instant_of(text: &str, start: usize, end: usize) -> Option<i32> {
    static BEHIND: LazyLock<Option<Regex>> = LazyLock::new(|| {
        Regex::new(r"(?i)^ ?[(（]?(?P<zone>(?:utc|gmt)(?P<hours> ?[+-][0-9]{1,2})?|z(?-u:\b)|cest|cet|est|edt|pst|pdt|jst|sgt|hkt|北京时间|东八区)").ok()
    });
    static BEFORE: LazyLock<Option<Regex>> = LazyLock::new(|| {
        Regex::new(r"(?i)(?P<zone>(?:utc|gmt)(?P<hours> ?[+-][0-9]{1,2})?|北京时间|东八区)[ ：:]?$")
            .ok()
    });
    let clock = text.get(start..end)?;
    let mut parts = clock.split(':');
    let hours: i32 = parts.next()?.parse().ok()?;
    let minutes: i32 = parts.next()?.parse().ok()?;
    let mut until = end.saturating_add(24).min(text.len());
    while !text.is_char_boundary(until) {
        until -= 1;
    }
    let tail = text.get(end..until)?;
    let head = nearest(text.get(..start)?);
    let captures = BEHIND
        .as_ref()
        .and_then(|zone| zone.captures(tail))
        .or_else(|| BEFORE.as_ref().and_then(|zone| zone.captures(head)))?;
    let zone = fold(captures.name("zone")?.as_str());
    let offset = match captures.name("hours") {
        Some(hours) => hours.as_str().trim().trim_start_matches('+').parse().ok()?,
        None => match zone.as_str() {
            "北京时间" | "东八区" | "sgt" | "hkt" => 8,
            "jst" => 9,
            "cet" => 1,
            "cest" => 2,
            "est" => -5,
            "edt" => -4,
            "pst" => -8,
            "pdt" => -7,
            _ => 0,
        },
    };
    Some((hours * 60 + minutes - offset * 60).rem_euclid(24 * 60))
}

/// A number to compare by: its bits without the last few, where sums of roundings differ.
fn key(value: f64) -> u64 {
    (value.to_bits().saturating_add(1 << 7)) >> 8
}

fn plain(value: f64) -> String {
    if value.fract() == 0.0 && value.abs() < 1e15 {
        format!("{value:.0}")
    } else {
        format!("{value}")
    }
}

static SHAPES: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(concat!(
        // Addresses of the web, whole.
        r"(?P<url>[A-Za-z][A-Za-z0-9+.-]*://[^\s<>]+)",
        // Numbers of incidents are R1's; a ticket's is a number as any other.
        r"|(?P<ticket>(?i:PRs?|MRs?|pull requests?|merge requests?|issues?|tickets?|工单|需求|合并请求) ?#(?P<ticketnumber>[0-9]+))",
        r"|(?P<id>(?i:INC)[- ]?[0-9]+|#[0-9]+)",
        // Placeholders for what changes.
        r"|(?P<placeholder><[a-z]+(?: [a-z]+)?>)",
        // Paths from the root; a lone slash inside a word is no path.
        r"|(?P<path>(?:~|\.{1,2})?/[A-Za-z0-9_.{}*-]+(?:/[A-Za-z0-9_.{}*-]+)*/?)",
        // One moment, as machines write it; seconds are no news.
        r"|(?P<stamp>20[0-9]{2}-[01][0-9]-[0-3][0-9][Tt](?:[01][0-9]|2[0-3]):[0-5][0-9])(?::[0-5][0-9](?:[.,][0-9]+)?)?(?:[Zz]|[+-][0-9]{2}:?[0-9]{2})?",
        r"|(?P<date>20[0-9]{2}[-/][01]?[0-9][-/][0-3]?[0-9](?-u:\b))",
        r"|(?P<clock>(?:[01]?[0-9]|2[0-3]):[0-5][0-9](?::[0-5][0-9])?(?: ?[AaPp]\.?[Mm])?(?-u:\b))",
        r"|(?P<flag>--?[A-Za-z][A-Za-z0-9-]*)",
        // Numbers in Chinese words: exact (百分之三十, 六百一十个) and vague (三成).
        r"|(?P<hanshare>百分之[零〇一二两三四五六七八九十百]+)",
        r"|(?P<vague>[一二两三四五六七八九]成半?)",
        r"|(?P<han>[一二两三四五六七八九]?[十百千万亿][零〇一二两三四五六七八九十百千万亿]*)(?P<hanunit>毫秒|秒|分钟|小时|天|个|次|条|台|笔|人|名|倍|家|起|%)",
        r"|(?P<tens>(?i:twenty|thirty|forty|fifty|sixty|seventy|eighty|ninety)(?:[- ](?i:one|two|three|four|five|six|seven|eight|nine))?\s?(?i:percent|per cent|%))",
        r"|(?P<name>[A-Za-z_][A-Za-z0-9_]*(?:(?:::|->|\.|-)[A-Za-z0-9_]+|:[A-Za-z_][A-Za-z0-9_]*)*(?:\(\))?)",
        // 1.2.3 and more dots are versions or addresses; a number has at most one decimal point.
        r"|(?P<version>[0-9]+(?:\.[0-9]+){2,}(?:[-+][A-Za-z0-9.]+)?)",
        r"|(?P<number>[0-9]+(?:,[0-9]{3})*(?:\.[0-9]+)?)(?P<unit>\s?(?:%|percent\b|(?:milliseconds?|ms|µs|us|seconds?|secs?|minutes?|mins?|hours?|hrs?|days?|s|m|h|d|[KMGTk]i?B?|bytes?|B)\b|million\b|billion\b|thousand\b|[万亿]|百分|毫秒|秒|分钟|小时|天))?",
        r"(?P<glued>[A-Za-z][A-Za-z0-9_-]*)?",
    ))
    .ok()
});

/// The tokens of a text that need evidence, in order; plain words too where `words` is set.
/// Positions are in characters.
fn tokens(chars: &[char], words: bool) -> Vec<Token> {
    let Some(shapes) = SHAPES.as_ref() else {
        return Vec::new();
    };
    // One character each, so that positions hold.
    let folded: String = chars.iter().map(|c| narrow(*c)).collect();
    let ascii = folded.is_ascii();
    let (mut byte, mut count) = (0, 0);
    let mut at = |to: usize| {
        if ascii {
            return to;
        }
        // Asked in ascending order only.
        if to >= byte {
            count += folded
                .get(byte..to)
                .map_or(0, |between| between.chars().count());
            byte = to;
        }
        count
    };
    let mut out = Vec::new();
    for captures in shapes.captures_iter(&folded) {
        let Some(whole) = captures.get(0) else {
            continue;
        };
        let (start, end) = (at(whole.start()), at(whole.end()));
        let word = whole.as_str();
        let before = folded
            .get(..whole.start())
            .and_then(|head| head.chars().next_back());
        let glued_before =
            before.is_some_and(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '-'));
        let mut push = |kind| out.push(Token { start, end, kind });
        if captures.name("path").is_some() && glued_before {
            // `deployment/coredns`, `and/or`: each part is a word of its own. As a whole it may be
            // a path of an analogy.
            for part in word.split('/').filter(|part| is_name_shape(part)) {
                push(TokenKind::Name(part.to_owned()));
            }
            let head = nearest(folded.get(..whole.start()).unwrap_or_default());
            let lead = head
                .rsplit(|c: char| !(c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.')))
                .next()
                .unwrap_or_default();
            push(TokenKind::Word(fold(&format!("{lead}{word}"))));
        } else if captures.name("url").is_some() || captures.name("path").is_some() {
            push(TokenKind::Name(
                word.trim_end_matches(['.', ',', ')', '/']).to_owned(),
            ));
        } else if let Some(stamp) = captures.name("stamp") {
            push(TokenKind::Clock(fold(stamp.as_str()), None));
        } else if captures.name("clock").is_some() || captures.name("date").is_some() {
            let instant = captures
                .name("clock")
                .and_then(|_| instant_of(&folded, whole.start(), whole.end()));
            push(TokenKind::Clock(fold(word), instant));
        } else if captures.name("ticket").is_some() {
            let number = captures.name("ticketnumber").map_or("", |n| n.as_str());
            push(TokenKind::Name(number.to_owned()));
        } else if captures.name("flag").is_some() {
            if word.starts_with("--") {
                push(TokenKind::Flag(fold(word)));
            }
        } else if captures.name("hanshare").is_some() {
            let digits = word.trim_start_matches("百分之");
            if let Some(value) = han_number(digits) {
                push(TokenKind::Vague(
                    fold(word),
                    Some(Quantity::new(value, Unit::Percent)),
                ));
            }
        } else if captures.name("vague").is_some() {
            push(TokenKind::Vague(fold(word), vague_share(word)));
        } else if let (Some(han), Some(unit)) = (captures.name("han"), captures.name("hanunit")) {
            let vague = before.is_some_and(is_vague_before);
            if let (Some(value), false) = (han_number(han.as_str()), vague)
                && let Some(TokenKind::Number(quantity)) =
                    number_token(&plain(value), unit.as_str(), "", "", 0)
            {
                push(TokenKind::Vague(fold(word), Some(quantity)));
            }
        } else if captures.name("tens").is_some() {
            push(TokenKind::Vague(fold(word), tens(word)));
        } else if let Some(name) = captures.name("name") {
            let parts: Vec<&str> = name.as_str().split(':').collect();
            if parts.len() == 2 && !name.as_str().contains("::") {
                // `sso:token` may be a key or two words; keys have more parts, or are an analogy's.
                push(TokenKind::Word(fold(name.as_str())));
                for part in parts.into_iter().filter(|part| is_name_shape(part)) {
                    push(TokenKind::Name(part.to_owned()));
                }
            } else if is_name_shape(name.as_str()) {
                push(TokenKind::Name(
                    name.as_str().trim_end_matches("()").to_owned(),
                ));
            } else if words && name.as_str().len() >= 3 {
                push(TokenKind::Word(fold(name.as_str())));
            }
        } else if captures.name("version").is_some() {
            push(TokenKind::Name(word.to_owned()));
        } else if let Some(number) = captures.name("number") {
            let unit = captures
                .name("unit")
                .map_or("", |unit| unit.as_str().trim());
            let glued = captures.name("glued").map_or("", |glued| glued.as_str());
            let mut kind = number_token(number.as_str(), unit, glued, &folded, whole.start());
            if let Some(TokenKind::Number(quantity)) = kind.as_mut() {
                quantity.counts = counts_something(folded.get(whole.end()..).unwrap_or_default());
            }
            if let Some(kind) = kind {
                push(kind);
            }
        }
    }
    out
}

/// `六百一十` is 610; `None` where it is no number.
fn han_number(text: &str) -> Option<f64> {
    let (mut total, mut section, mut digit) = (0_u64, 0_u64, None);
    for c in text.chars() {
        let unit = match c {
            '零' | '〇' => {
                digit = Some(0);
                continue;
            }
            '一' => 1,
            '二' | '两' => 2,
            '三' => 3,
            '四' => 4,
            '五' => 5,
            '六' => 6,
            '七' => 7,
            '八' => 8,
            '九' => 9,
            '十' | '百' | '千' => {
                let factor = match c {
                    '十' => 10,
                    '百' => 100,
                    _ => 1_000,
                };
                section += digit.take().filter(|digit| *digit > 0).unwrap_or(1) * factor;
                continue;
            }
            '万' | '亿' => {
                let factor = if c == '万' { 10_000 } else { 100_000_000 };
                total = total.checked_add(
                    (section + digit.take().unwrap_or(0))
                        .max(1)
                        .checked_mul(factor)?,
                )?;
                section = 0;
                continue;
            }
            _ => return None,
        };
        digit = Some(unit);
    }
    Some((total + section + digit.unwrap_or(0)) as f64)
}

/// 三成 is thirty percent, said vaguely: an exact thirty percent supports it, not the reverse.
fn vague_share(word: &str) -> Option<Quantity> {
    let tenths = han_number(&word.chars().next()?.to_string())?;
    let half = if word.ends_with('半') { 5.0 } else { 0.0 };
    Some(Quantity::new(tenths * 10.0 + half, Unit::Percent))
}

/// `forty-five percent`.
fn tens(word: &str) -> Option<Quantity> {
    let folded = fold(word);
    let value = |words: &[(&str, f64)]| {
        words
            .iter()
            .find(|(name, _)| folded.contains(name))
            .map(|(_, value)| *value)
    };
    let ten = value(&[
        ("twenty", 20.0),
        ("thirty", 30.0),
        ("forty", 40.0),
        ("fifty", 50.0),
        ("sixty", 60.0),
        ("seventy", 70.0),
        ("eighty", 80.0),
        ("ninety", 90.0),
    ])?;
    // Behind the tens, so that `sixty` is no `six`.
    let rest = folded.split(['-', ' ']).nth(1).unwrap_or_default();
    let one = [
        "one", "two", "three", "four", "five", "six", "seven", "eight", "nine",
    ]
    .iter()
    .zip(1_u8..)
    .find(|(name, _)| **name == rest);
    Some(Quantity::new(
        ten + one.map_or(0.0, |(_, one)| f64::from(one)),
        Unit::Percent,
    ))
}

/// A number as a token that needs evidence; `None` where it needs none.
fn number_token(
    number: &str,
    unit: &str,
    glued: &str,
    text: &str,
    start: usize,
) -> Option<TokenKind> {
    let value: f64 = number.replace(',', "").parse().ok()?;
    let before = text.get(..start).unwrap_or_default();
    let ends_a_range = before
        .strip_suffix(['-', '–', '~'])
        .is_some_and(ends_with_a_plain_number);
    if !ends_a_range
        && before.ends_with(|c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-'))
    {
        // The tail of a name that the name shape did not take.
        return None;
    }
    if is_behind_flag(before) {
        // `--tail 100`, `--since=10m`, `-n 50`, in prose as in commands.
        return None;
    }
    if !glued.is_empty() {
        // `503s`, `3x`, `2nd`, `5xx` are words about a number; `10k` was a unit.
        let word = format!("{number}{glued}");
        return match fold(glued).as_str() {
            "s" | "x" | "st" | "nd" | "rd" | "th" | "xx" => plain_quantity(value, before),
            _ => Some(TokenKind::Name(word)),
        };
    }
    if unit == "s"
        && (400.0..600.0).contains(&value)
        && value.fract() == 0.0
        && text
            .get(start..)
            .is_some_and(|tail| tail.starts_with(&format!("{number}s")))
    {
        // `503s` are answers, not seconds.
        return plain_quantity(value, before);
    }
    let folded_unit = fold(unit);
    let quantity = match folded_unit.as_str() {
        "" => return plain_quantity(value, before),
        "%" | "percent" | "百分" => Quantity::new(value, Unit::Percent),
        "us" | "µs" | "μs" => Quantity::new(value / 1_000.0, Unit::Time),
        "ms" | "millisecond" | "milliseconds" | "毫秒" => Quantity::new(value, Unit::Time),
        "s" | "sec" | "secs" | "second" | "seconds" | "秒" => {
            Quantity::new(value * 1_000.0, Unit::Time)
        }
        "min" | "mins" | "minute" | "minutes" | "分钟" => {
            Quantity::new(value * 60_000.0, Unit::Time)
        }
        "h" | "hr" | "hrs" | "hour" | "hours" | "小时" => {
            Quantity::new(value * 3_600_000.0, Unit::Time)
        }
        "thousand" => Quantity::new(value * 1_000.0, Unit::Plain),
        "million" => Quantity::new(value * 1_000_000.0, Unit::Plain),
        "billion" => Quantity::new(value * 1_000_000_000.0, Unit::Plain),
        "万" => Quantity::new(value * 10_000.0, Unit::Plain),
        "亿" => Quantity::new(value * 100_000_000.0, Unit::Plain),
        "d" | "day" | "days" | "天" => Quantity::new(value * 86_400_000.0, Unit::Time),
        // A lone `m` is minutes in prose about time and mebi-something elsewhere: minutes.
        "m" if unit == "m" => Quantity {
            lone_m: true,
            ..Quantity::new(value * 60_000.0, Unit::Time)
        },
        size => {
            let power = match size.chars().next() {
                Some('k') => 1,
                Some('m') => 2,
                Some('g') => 3,
                Some('t') => 4,
                _ => 0,
            };
            Quantity {
                value: value * 1_000_f64.powi(power),
                unit: Unit::Size,
                binary: value * 1_024_f64.powi(power),
                ..Quantity::new(value, Unit::Size)
            }
        }
    };
    Some(TokenKind::Number(quantity))
}

/// `20` of `20-40 s`, and neither the day of a date nor the number of a host.
fn ends_with_a_plain_number(before: &str) -> bool {
    let before = nearest(before);
    let rest = before.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.');
    rest.len() < before.len()
        && before.len() - rest.len() <= 7
        && !rest.ends_with(|c: char| {
            (c.is_alphanumeric() && !is_cjk(c)) || matches!(c, '-' | '_' | '/' | '.' | ':')
        })
}

/// The last few bytes of what stands before: no word that tells something is longer, and a log
/// without spaces is not walked back for every number in it.
fn nearest(before: &str) -> &str {
    let mut from = before.len().saturating_sub(64);
    while !before.is_char_boundary(from) {
        from += 1;
    }
    before.get(from..).unwrap_or_default()
}

fn is_behind_flag(before: &str) -> bool {
    let before = nearest(before);
    let trimmed = before.trim_end_matches([' ', '=']);
    if trimmed.len() == before.len() {
        return false;
    }
    let word = trimmed
        .rsplit(char::is_whitespace)
        .next()
        .unwrap_or_default()
        .trim_start_matches(['`', '\'', '"', '(']);
    word.starts_with('-')
        && word
            .trim_start_matches('-')
            .chars()
            .next()
            .is_some_and(|c| c.is_ascii_alphabetic())
}

/// A bare number: one digit says nothing checkable; a status after `HTTP` is a word of operations.
fn plain_quantity(value: f64, before: &str) -> Option<TokenKind> {
    if value < 10.0 && value.fract() == 0.0 {
        return None;
    }
    let word_before = nearest(before)
        .trim_end()
        .rsplit(|c: char| !c.is_alphanumeric())
        .next()
        .map(fold)
        .unwrap_or_default();
    if (word_before == "http" && (100.0..600.0).contains(&value))
        || (word_before == "port" && matches!(value as u32, 22 | 53 | 80 | 443))
    {
        return None;
    }
    Some(TokenKind::Number(Quantity::new(value, Unit::Plain)))
}

/// Shapes that may be names: whether they need evidence is decided by [`is_telling_name`], whether
/// they are an analogy's internals by where they occur.
fn is_name_shape(word: &str) -> bool {
    word.len() >= 3
        && !is_word_of_operations(word)
        && (word.contains(['_', '.', '-', ':'])
            || word.ends_with("()")
            || has_inner_capital(word)
            || has_digit(word)
            || is_capitals(word)
            || is_control_program(word)
            || is_error_name(word))
}

/// `scorectl`: a tool of somebody's own; those that everybody has are words of operations.
fn is_control_program(word: &str) -> bool {
    word.len() > 5 && word.ends_with("ctl") && word.bytes().all(|b| b.is_ascii_lowercase())
}

/// `SHOPINFO`: a name where memory holds it, a shout elsewhere.
fn is_capitals(word: &str) -> bool {
    word.len() >= 5 && word.bytes().all(|b| b.is_ascii_uppercase())
}

fn has_inner_capital(word: &str) -> bool {
    word.chars()
        .zip(word.chars().skip(1))
        .any(|(a, b)| a.is_lowercase() && b.is_uppercase())
}

fn has_digit(word: &str) -> bool {
    word.bytes().any(|b| b.is_ascii_digit())
}

/// Whether a name that occurs nowhere in what was given says something that needs evidence.
fn is_telling_name(name: &str, place: Place) -> bool {
    if name.contains('/') {
        return place != Place::Command || !is_generic_path(name);
    }
    if name.contains('_')
        || name.contains("::")
        || name.matches(':').count() >= 2
        || has_inner_capital(name)
        || has_digit(name)
        || is_control_program(name)
        || is_error_name(name)
    {
        return true;
    }
    if name.contains('.') {
        // `fail.Then` is a missing space; hosts and files have lower case or digits after the dot.
        return !name
            .split('.')
            .skip(1)
            .all(|part| part.chars().next().is_some_and(char::is_uppercase));
    }
    // Hyphenated words are prose unless they end as components do.
    name.rsplit('-')
        .next()
        .is_some_and(|last| COMPONENT_ENDINGS.contains(&fold(last).as_str()))
        && !is_hyphenated_prose(&fold(name))
}

fn is_generic_path(path: &str) -> bool {
    [
        "/proc",
        "/dev/null",
        "/etc/resolv.conf",
        "/etc/hosts",
        "/healthz",
        "/health",
        "/tmp",
        "/var/log",
    ]
    .iter()
    .any(|known| path == *known || path.starts_with("/proc/"))
}

fn is_error_name(word: &str) -> bool {
    ERROR_NAMES.contains(&word)
}

/// Endings that make a hyphenated word the name of a component.
const COMPONENT_ENDINGS: &[&str] = &[
    "api",
    "svc",
    "service",
    "worker",
    "gateway",
    "proxy",
    "db",
    "cache",
    "web",
    "frontend",
    "backend",
    "consumer",
    "producer",
    "scheduler",
    "cron",
    "job",
    "bot",
    "ctl",
    "store",
    "hub",
    "relay",
    "bridge",
    "server",
    "controller",
    "operator",
    "agent",
    "broker",
    "cluster",
    "primary",
    "replica",
    "lambda",
    "queue",
    "topic",
    "sync",
    "router",
    "bff",
    "exporter",
    "importer",
    "export",
    "import",
    "resolver",
    "planner",
    "tracker",
    "portal",
    "manager",
    "dispatcher",
    "processor",
    "handler",
    "indexer",
    "loader",
    "fetcher",
    "sender",
    "mailer",
    "notifier",
    "sidecar",
    "daemon",
    "collector",
    "shipper",
    "builder",
    "renderer",
    "prod",
    "staging",
    "canary",
    "uat",
    "stg",
];

/// Error names of the operating system: codes, so they need evidence.
const ERROR_NAMES: &[&str] = &[
    "ECONNREFUSED",
    "ECONNRESET",
    "ECONNABORTED",
    "ETIMEDOUT",
    "EHOSTUNREACH",
    "ENETUNREACH",
    "ENOTFOUND",
    "EAI_AGAIN",
    "EADDRINUSE",
    "EMFILE",
    "ENFILE",
    "ENOSPC",
    "ENOMEM",
    "EACCES",
    "EPERM",
    "ENOENT",
    "EPIPE",
    "EIO",
    "EROFS",
    "EBUSY",
    "EDQUOT",
    "ESTALE",
];

fn without_bad_clauses(chars: &[char], bad: &[(Token, &'static str)]) -> String {
    let positions: Vec<usize> = bad.iter().map(|(token, _)| token.start).collect();
    without_clauses(chars, &positions)
}

/// A title without the phrases that carry what is not grounded; empty where the rest says nothing.
fn without_phrases(chars: &[char], bad: &[(Token, &'static str)]) -> String {
    let mut text: Vec<char> = chars.to_vec();
    // From the end, so that earlier positions stay true.
    for (token, _) in bad.iter().rev() {
        let Some(range) = phrase_around(&text, token) else {
            return without_bad_clauses(chars, bad);
        };
        text.drain(range.0..range.1.min(text.len()));
    }
    let out = tidy(&text);
    let telling = crate::incident::words::meaningful(&out).len();
    if telling >= 2 || out.chars().filter(|c| is_cjk(*c)).count() >= 3 {
        out
    } else {
        String::new()
    }
}

const PREPOSITIONS: &[&str] = &[
    "in", "on", "of", "by", "from", "at", "for", "via", "through", "inside", "within", "behind",
    "to", "with", "after", "since",
];

/// Words that only lead to a number.
const BEFORE_NUMBERS: &[&str] = &[
    "about",
    "over",
    "under",
    "than",
    "more",
    "less",
    "fewer",
    "nearly",
    "almost",
    "roughly",
    "around",
    "at",
    "to",
    "by",
    "for",
    "since",
    "after",
    "only",
    "exactly",
    "up",
    "some",
    "approximately",
    "of",
    "from",
    "in",
    "within",
    "超过",
    "达到",
    "高达",
    "大约",
    "约",
    "近",
    "仅",
    "只有",
    "为",
    "达",
    "到",
    "在",
];

/// A number with the words that lead to it, and the `of` behind it: `refuses 97% of mail`.
fn quantity_phrase(chars: &[char], token: &Token) -> (usize, usize) {
    let (mut start, mut end) = (token.start, token.end);
    loop {
        let mut to = start;
        while to > 0
            && chars
                .get(to - 1)
                .is_some_and(|c| c.is_whitespace() || matches!(c, '~' | '>' | '<' | '='))
        {
            to -= 1;
        }
        let head: String = chars.get(..to).unwrap_or_default().iter().collect();
        let word = BEFORE_NUMBERS.iter().find(|word| {
            let folded = fold(&head);
            folded.strip_suffix(**word).is_some_and(|rest| {
                word.chars().all(is_cjk)
                    || rest
                        .chars()
                        .next_back()
                        .is_none_or(|c| !c.is_alphanumeric())
            })
        });
        match word {
            Some(word) => start = to - word.chars().count(),
            None => break,
        }
    }
    let tail: String = chars.get(end..).unwrap_or_default().iter().collect();
    for behind in [" of ", "的"] {
        if tail.starts_with(behind) {
            end += behind.trim_end().chars().count();
        }
    }
    (start, end)
}

/// The range of the phrase that can go: a parenthesis, the tail from a preposition, or, in
/// Chinese, the bare token.
fn phrase_around(chars: &[char], token: &Token) -> Option<(usize, usize)> {
    let open = (0..token.start)
        .rev()
        .find(|i| matches!(chars.get(*i), Some('(' | '（')));
    let close = (token.end..chars.len()).find(|i| matches!(chars.get(*i), Some(')' | '）')));
    if let (Some(open), Some(close)) = (open, close) {
        return Some((open, close + 1));
    }
    let head: String = chars.get(..token.start)?.iter().collect();
    let tail: String = chars.get(token.end..)?.iter().collect();
    if matches!(
        token.kind,
        TokenKind::Number(_) | TokenKind::Vague(..) | TokenKind::Clock(..)
    ) {
        return Some(quantity_phrase(chars, token));
    }
    let head_trimmed =
        head.trim_end_matches(|c: char| c.is_whitespace() || c == '`' || c == '\'' || c == '"');
    let mut words: Vec<&str> = head_trimmed.split_whitespace().collect();
    if words
        .last()
        .is_some_and(|word| matches!(fold(word).as_str(), "the" | "our" | "a" | "an" | "about"))
    {
        words.pop();
    }
    let preposition = words
        .last()
        .is_some_and(|word| PREPOSITIONS.contains(&fold(word).as_str()));
    let tail_words = tail.split_whitespace().count();
    if preposition && tail_words <= 1 {
        words.pop();
        let kept = words.join(" ");
        let start = head.find(kept.as_str()).map(|at| at + kept.len())?;
        let start = head.get(..start)?.chars().count();
        return Some((start, chars.len()));
    }
    let beside_cjk = tail.trim_start().chars().next().is_some_and(is_cjk)
        || head.trim_end().chars().next_back().is_some_and(is_cjk);
    if beside_cjk {
        return Some((token.start, token.end));
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::incident::FixAttempt;
    use crate::incident::Outcome;

    const REPORT: &str = "payments-api is returning intermittent 503s since 02:41 UTC, about 12% of POST /v1/charges.\n\
        HikariPool-1 - Connection is not available, request timed out after 30000ms.\n\
        hikaricp_connections_active 20, hikaricp_connections_pending 61\n\
        数据库连接池使用率 30%。网关返回 429。";

    fn grounds() -> Grounds {
        let mut direct = PastIncident::new(
            IncidentId::new(12).expect("not zero"),
            "pool exhausted on payments-api",
        );
        direct.attempts = vec![FixAttempt::new(
            "Raise maximumPoolSize to 40 and delete pod notify-go-6d9f7c5b4-x2k8q",
            Outcome::Held,
        )];
        let mut analogy = PastIncident::new(
            IncidentId::new(43).expect("not zero"),
            "too many open files",
        );
        analogy.service = Some("voice-bridge".into());
        analogy.root_cause =
            "PresenceRelayPool.acquire() never returns sockets; queue relay-out, --max-idle".into();
        Grounds::new(
            REPORT,
            Some("payments-api"),
            &[],
            &[&direct],
            &[&analogy],
            "(not in evidence)",
        )
    }

    fn check(claim: &str, place: Place) -> String {
        let cited = [IncidentId::new(12).expect("not zero")];
        grounds().check(claim, &cited, place).text
    }

    #[test]
    fn r20_what_is_not_grounded_goes() {
        for (claim, place, expected) in [
            (
                "About 45% of charges fail and 610 requests wait. Postgres is idle.",
                Place::Clause,
                "Postgres is idle.",
            ),
            (
                "Check whether p99 is over 45 s.",
                Place::Body,
                "Check whether p99 is over (not in evidence).",
            ),
            (
                "See OrderPaymentProcessor first. Then compare.",
                Place::Body,
                "Then compare.",
            ),
            (
                "Connection leak in OrderPaymentProcessor",
                Place::Title,
                "Connection leak",
            ),
            ("OrderPaymentProcessor", Place::Title, ""),
            (
                "Relay refuses 97% of mail",
                Place::Title,
                "Relay refuses mail",
            ),
            ("Pool full at about 98 %", Place::Title, "Pool full"),
            ("连接池使用率高达 98%", Place::Title, "连接池使用率"),
            ("kubectl logs deployment/ledger-worker", Place::Command, ""),
            ("since 02:14 UTC", Place::Clause, ""),
            ("错误率 45%，重试可成功。", Place::Clause, "重试可成功。"),
            ("连接池使用率 80%", Place::Clause, ""),
            ("Restart redis-cluster-3", Place::Body, ""),
            ("version 3.9.2 is broken", Place::Clause, ""),
            ("ECONNRESET storms", Place::Title, ""),
        ] {
            assert_eq!(check(claim, place), expected, "{claim}");
        }
    }

    #[test]
    fn r20_one_time_in_many_spellings() {
        let report = "2026-11-30T02:41:07Z pool is full\nvendor status at 1:18 PM PST: degraded\nsince 北京时间 10:20, rebooted 2026-11-28 09:40 UTC; 12 of 2.13.0, 10.4.2.9, 19:22";
        let basis = Basis::new(report);
        let holds = |claim: &str| {
            let chars: Vec<char> = claim.chars().collect();
            tokens(&chars, false).iter().all(|token| match &token.kind {
                TokenKind::Clock(clock, instant) => basis.holds_time(clock, *instant),
                TokenKind::Number(quantity) => basis.holds_quantity(quantity),
                _ => false,
            })
        };
        for claim in [
            "at 02:41",
            "at 2:41",
            "on 2026-11-30",
            "at 02:41:07",
            "2026-11-30T02:41:07Z",
            "2026-11-30T02:41Z",
            "at 1:18 PM",
            "at 1:18pm",
            "at 13:18",
            "UTC 02:20",
            "10:20",
            "10:41 北京时间",
            "12 pods",
            "at 09:40 UTC",
            "at 9:40 AM",
        ] {
            assert!(holds(claim), "{claim}");
        }
        for claim in [
            "at 02:14",
            "at 1:18 AM",
            "at 14:41",
            "2026-11-30T02:42Z",
            "UTC 10:20",
            "19 s",
            "22 pods",
            "13 nodes",
            "10 GB",
            "41 pods",
        ] {
            assert!(!holds(claim), "{claim}");
        }
    }

    #[test]
    fn r6_internals_of_an_analogy_go() {
        for (claim, place, expected) in [
            (
                "As on voice-bridge, PresenceRelayPool.acquire() in payments-api leaks sockets.",
                Place::Clause,
                "",
            ),
            ("Patch PresenceRelayPool.acquire()", Place::Body, ""),
            ("Look at the queue relay-out", Place::Body, ""),
            (
                "Sockets are never closed, as on voice-bridge",
                Place::Title,
                "Sockets are never closed, as on voice-bridge",
            ),
        ] {
            let grounded = grounds().check(claim, &[], place);
            assert_eq!(grounded.text, expected, "{claim}");
            assert_eq!(grounded.rules.contains(&"R6"), expected != claim, "{claim}");
        }
    }

    #[test]
    fn r20_what_changes_from_outage_to_outage_becomes_a_placeholder() {
        assert_eq!(
            check("delete pod notify-go-6d9f7c5b4-x2k8q", Place::Body),
            "delete pod <current pod>"
        );
    }

    #[test]
    fn r20_clean_claims_pass_untouched() {
        for (claim, place) in [
            (
                "Charges wait for a JDBC connection from HikariPool-1; 12% of POST /v1/charges fail.",
                Place::Clause,
            ),
            (
                "Compare hikaricp_connections_active with hikaricp_connections_pending on each pod",
                Place::Body,
            ),
            ("Raise maximumPoolSize to 40", Place::Body),
            (
                "kubectl -n payments logs deployment/payments-api --tail=200",
                Place::Command,
            ),
            (
                "psql -c \"SELECT pid, state, now() - xact_start AS age FROM pg_stat_activity\"",
                Place::Command,
            ),
            ("Intermittent 503s with p99 at 30 s", Place::Title),
            ("pods settle within 5 minutes", Place::Timed),
            ("5 分钟内 429 与 503 一起回落", Place::Timed),
            (
                "查看网关 429 计数是否与 payments-api 的 503 同步上升",
                Place::Body,
            ),
            (
                "Read-only check of long-running queries, e.g. in PostgreSQL",
                Place::Body,
            ),
            ("since 02:41 UTC", Place::Clause),
            ("the pool is at 30 %", Place::Clause),
        ] {
            assert_eq!(check(claim, place), claim, "{claim}");
        }
    }
}

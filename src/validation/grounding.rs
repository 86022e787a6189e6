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

use super::text::{clauses, narrow, tidy, without_clauses};
use crate::incident::words::{fold, is_cjk};
use crate::incident::{IncidentId, PastIncident, volatile};
use regex::Regex;
use std::cell::RefCell;
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
    /// Services that analogies come from: the card names them, so a claim may.
    other_services: Vec<String>,
    not_in_evidence: &'static str,
}

/// One text that can support claims.
struct Basis {
    folded: String,
    /// Runs of letters, digits and `_`: what is not among them needs no search.
    words: HashSet<String>,
    quantities: HashSet<(Unit, u64)>,
    /// What was asked before: a hostile answer asks the same ten thousand times.
    asked: RefCell<HashMap<String, bool>>,
}

#[derive(Clone, Debug, PartialEq)]
struct Quantity {
    value: f64,
    unit: Unit,
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
    /// Clocks and dates, folded.
    Clock(String),
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
                    || report.holds_word(&name)
                    || direct.values().any(|basis| basis.holds_word(&name));
                if !known {
                    internals.insert(name);
                }
            }
        }
        Self {
            analogies: analogies
                .iter()
                .map(|incident| Basis::new(&text_of(incident, false)))
                .collect(),
            other_services,
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
        let bad: Vec<(Token, &'static str)> = tokens(&chars, !self.internals.is_empty())
            .into_iter()
            .filter_map(|token| {
                self.objection(&token, cited, place)
                    .map(|rule| (token, rule))
            })
            .collect();
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
            self.report.holds_word(&folded) || !self.is_remembered(&folded)
        })
    }

    fn is_remembered(&self, folded: &str) -> bool {
        self.direct
            .values()
            .chain(&self.analogies)
            .any(|basis| basis.holds_word(folded))
    }

    /// The rule that a token breaks, if it does.
    fn objection(&self, token: &Token, cited: &[IncidentId], place: Place) -> Option<&'static str> {
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
            TokenKind::Clock(clock) => {
                let exempt = matches!(place, Place::Command | Place::Timed);
                (!exempt && !bases.any(|basis| basis.holds_clock(clock))).then_some("R20")
            }
            TokenKind::Word(word) | TokenKind::Flag(word) => {
                self.internals.contains(word).then_some("R6")
            }
            TokenKind::Name(name) => {
                let folded = fold(name);
                if self.internals.contains(&folded) {
                    return Some("R6");
                }
                if self.other_services.contains(&folded)
                    || bases.any(|basis| basis.holds_name(&folded))
                {
                    return None;
                }
                if place == Place::Command && is_word_of_commands(name) {
                    return None;
                }
                is_telling_name(name, place).then_some("R20")
            }
        }
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

/// What an analogy names that is its own: identifiers, and plain words behind a word that says that
/// they are a name (`queue relay`, 表 ledger, anything in back ticks).
fn internals_of(text: &str) -> BTreeSet<String> {
    static NAMED: LazyLock<Option<Regex>> = LazyLock::new(|| {
        Regex::new(concat!(
            r"(?i)(?:\b(?:class|function|method|table|queue|topic|index|bucket|stream|exchange|column|keyspace|collection|namespace|config key|key|flag|host|path)s? |",
            r"(?:类|函数|方法|表|队列|主题|索引|配置项|主机|开关|参数|路径) ?)[`'\x22]?(?P<a>[a-z][a-z0-9_.-]{2,})|`(?P<b>[^`\s]{3,80})`"
        ))
        .ok()
    });
    let chars: Vec<char> = text.chars().collect();
    let mut out = BTreeSet::new();
    for token in tokens(&chars, false) {
        if let TokenKind::Name(name) = token.kind {
            // The parts of a compound that are names by themselves give it away too.
            for part in name.split(['.', ':', '/', '>', '(', ')']) {
                if is_name_shape(part) && is_telling_name(part, Place::Body) {
                    out.insert(fold(part));
                }
            }
            if is_telling_name(&name, Place::Body) {
                out.insert(fold(&name));
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
        let quantities = quantities(&folded)
            .map(|quantity| (quantity.unit, key(quantity.value)))
            .collect();
        Self {
            words: runs(&folded).map(str::to_owned).collect(),
            folded,
            quantities,
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

    /// As [`Basis::holds_word`]; a hyphenated name also as separate words (`refund-job`).
    fn holds_name(&self, folded: &str) -> bool {
        if self.holds_word(folded) {
            return true;
        }
        let hyphenated =
            folded.contains('-') && folded.chars().all(|c| c.is_ascii_alphabetic() || c == '-');
        hyphenated && self.holds_word(&folded.replace('-', " "))
    }

    /// A clock or date as written, or with a leading zero more or less.
    fn holds_clock(&self, clock: &str) -> bool {
        let other = match clock.strip_prefix('0') {
            Some(shorter) => shorter.to_owned(),
            None => format!("0{clock}"),
        };
        self.holds_word(clock) || self.holds_word(&other)
    }

    fn holds_quantity(&self, wanted: &Quantity) -> bool {
        let holds = |unit: Unit, value: f64| {
            let key = key(value);
            // Neighbours: a sum of roundings may end one step aside.
            [key.wrapping_sub(1), key, key.wrapping_add(1)]
                .iter()
                .any(|key| self.quantities.contains(&(unit, *key)))
        };
        if holds(wanted.unit, wanted.value) {
            return true;
        }
        match wanted.unit {
            // `timeout 30` supports `30 s`; `30 %` supports the bare 30, and not the other way.
            Unit::Time => [1.0, 1_000.0, 60_000.0, 3_600_000.0]
                .iter()
                .any(|factor| holds(Unit::Plain, wanted.value / factor)),
            Unit::Size => holds(Unit::Plain, wanted.value),
            Unit::Plain => {
                holds(Unit::Percent, wanted.value) || self.holds_word(&plain(wanted.value))
            }
            Unit::Percent => false,
        }
    }
}

static QUANTITIES: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(concat!(
        r"(?P<number>[0-9]+(?:,[0-9]{3})*(?:\.[0-9]+)?)(?P<unit>\s?(?:%|percent\b|(?:milliseconds?|ms|µs|us|seconds?|secs?|minutes?|mins?|hours?|hrs?|days?|s|m|h|d|[kmgt]i?b?|bytes?|b)\b|百分|毫秒|秒|分钟|小时|天))?(?P<glued>[a-z][a-z0-9_-]*)?",
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
                TokenKind::Number(quantity) => Some(quantity),
                _ => None,
            }
        } else if let Some(share) = captures.name("share") {
            Some(Quantity {
                value: han_number(share.as_str())?,
                unit: Unit::Percent,
            })
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
        // Numbers of incidents are R1's.
        r"|(?P<id>(?i:INC)[- ]?[0-9]+|#[0-9]+)",
        // Placeholders for what changes.
        r"|(?P<placeholder><[a-z]+(?: [a-z]+)?>)",
        // Paths from the root; a lone slash inside a word is no path.
        r"|(?P<path>(?:~|\.{1,2})?/[A-Za-z0-9_.{}*-]+(?:/[A-Za-z0-9_.{}*-]+)*/?)",
        r"|(?P<date>20[0-9]{2}[-/][01]?[0-9][-/][0-3]?[0-9](?-u:\b))",
        r"|(?P<clock>(?:[01]?[0-9]|2[0-3]):[0-5][0-9](?::[0-5][0-9])?(?-u:\b))",
        r"|(?P<flag>--?[A-Za-z][A-Za-z0-9-]*)",
        // Numbers in Chinese words: exact (百分之三十, 六百一十个) and vague (三成).
        r"|(?P<hanshare>百分之[零〇一二两三四五六七八九十百]+)",
        r"|(?P<vague>[一二两三四五六七八九]成半?)",
        r"|(?P<han>[一二两三四五六七八九]?[十百千万亿][零〇一二两三四五六七八九十百千万亿]*)(?P<hanunit>毫秒|秒|分钟|小时|天|个|次|条|台|笔|人|名|倍|家|起|%)",
        r"|(?P<tens>(?i:twenty|thirty|forty|fifty|sixty|seventy|eighty|ninety)(?:[- ](?i:one|two|three|four|five|six|seven|eight|nine))?\s?(?i:percent|per cent|%))",
        r"|(?P<name>[A-Za-z_][A-Za-z0-9_]*(?:(?:::|->|\.|-)[A-Za-z0-9_]+)*(?:\(\))?)",
        // 1.2.3 and more dots are versions or addresses; a number has at most one decimal point.
        r"|(?P<version>[0-9]+(?:\.[0-9]+){2,}(?:[-+][A-Za-z0-9.]+)?)",
        r"|(?P<number>[0-9]+(?:,[0-9]{3})*(?:\.[0-9]+)?)(?P<unit>\s?(?:%|percent\b|(?:milliseconds?|ms|µs|us|seconds?|secs?|minutes?|mins?|hours?|hrs?|days?|s|m|h|d|[KMGTk]i?B?|bytes?|B)\b|百分|毫秒|秒|分钟|小时|天))?",
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
            // `deployment/coredns`, `and/or`: each part is a word of its own.
            for part in word.split('/').filter(|part| is_name_shape(part)) {
                push(TokenKind::Name(part.to_owned()));
            }
        } else if captures.name("url").is_some() || captures.name("path").is_some() {
            push(TokenKind::Name(
                word.trim_end_matches(['.', ',', ')', '/']).to_owned(),
            ));
        } else if captures.name("clock").is_some() || captures.name("date").is_some() {
            push(TokenKind::Clock(fold(word)));
        } else if captures.name("flag").is_some() {
            if word.starts_with("--") {
                push(TokenKind::Flag(fold(word)));
            }
        } else if captures.name("hanshare").is_some() {
            let digits = word.trim_start_matches("百分之");
            if let Some(value) = han_number(digits) {
                push(TokenKind::Vague(
                    fold(word),
                    Some(Quantity {
                        value,
                        unit: Unit::Percent,
                    }),
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
            if is_name_shape(name.as_str()) {
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
            if let Some(kind) = number_token(number.as_str(), unit, glued, &folded, whole.start()) {
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
    Some(Quantity {
        value: tenths * 10.0 + half,
        unit: Unit::Percent,
    })
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
    Some(Quantity {
        value: ten + one.map_or(0.0, |(_, one)| f64::from(one)),
        unit: Unit::Percent,
    })
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
    if before.ends_with(|c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-')) {
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
        "%" | "percent" | "百分" => Quantity {
            value,
            unit: Unit::Percent,
        },
        "us" | "µs" | "μs" => Quantity {
            value: value / 1_000.0,
            unit: Unit::Time,
        },
        "ms" | "millisecond" | "milliseconds" | "毫秒" => Quantity {
            value,
            unit: Unit::Time,
        },
        "s" | "sec" | "secs" | "second" | "seconds" | "秒" => Quantity {
            value: value * 1_000.0,
            unit: Unit::Time,
        },
        "min" | "mins" | "minute" | "minutes" | "分钟" => Quantity {
            value: value * 60_000.0,
            unit: Unit::Time,
        },
        "h" | "hr" | "hrs" | "hour" | "hours" | "小时" => Quantity {
            value: value * 3_600_000.0,
            unit: Unit::Time,
        },
        "d" | "day" | "days" | "天" => Quantity {
            value: value * 86_400_000.0,
            unit: Unit::Time,
        },
        // A lone `m` is minutes in prose about time and mebi-something elsewhere: minutes.
        "m" if unit == "m" => Quantity {
            value: value * 60_000.0,
            unit: Unit::Time,
        },
        size => {
            let factor = match size.chars().next() {
                Some('k') => 1_000.0,
                Some('m') => 1_000_000.0,
                Some('g') => 1_000_000_000.0,
                Some('t') => 1_000_000_000_000.0,
                _ => 1.0,
            };
            Quantity {
                value: value * factor,
                unit: Unit::Size,
            }
        }
    };
    Some(TokenKind::Number(quantity))
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
    Some(TokenKind::Number(Quantity {
        value,
        unit: Unit::Plain,
    }))
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
            || is_error_name(word))
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
    if name.contains(['_', ':'])
        || has_inner_capital(name)
        || has_digit(name)
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
        && !HYPHENATED_PROSE.contains(&fold(name).as_str())
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
];

/// Hyphenated words of everyday operations that end like components.
const HYPHENATED_PROSE: &[&str] = &[
    "api-gateway",
    "load-balancer",
    "reverse-proxy",
    "dead-letter-queue",
    "message-queue",
    "job-queue",
    "work-queue",
    "read-replica",
    "web-server",
    "app-server",
    "name-server",
    "in-service",
    "self-service",
    "out-of-service",
    "of-service",
    "denial-of-service",
    "key-value-store",
    "object-store",
    "cron-job",
    "batch-job",
    "ingress-controller",
    "message-broker",
    "multi-cluster",
    "cross-service",
    "per-service",
    "another-service",
    "micro-service",
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

/// Common words of operations that look like names and need no evidence: protocols, products,
/// states of Kubernetes, statistics views of databases, ways of writing percentiles.
fn is_word_of_operations(word: &str) -> bool {
    static PATTERNS: LazyLock<Option<Regex>> = LazyLock::new(|| {
        Regex::new(concat!(
            r"(?i)^(?:p[0-9]{2,3}|[1-5]xx|v?[0-9]+|sev-?[1-4]|k8s|ipv?[46]|http[/-]?[0-9.]*|tls-?v?[0-9.]*|ssl-?v?[0-9.]*|s3|ec2|rds|",
            r"utf-?(?:8|16|32)|sha-?(?:1|256|512)|md5|x86(?:_64)?|amd64|arm64|oauth2?|base64|i18n|e2e|h2|l[47]|2fa|mp[34]|ext4|",
            r"(?:top|tier|layer|level|phase|step|stage|option|priority|n|http|non)-[0-9]+|",
            r"pg_(?:stat|stat_.*|locks|class|catalog|settings|database|roles|isready|dump|sleep|terminate_backend|cancel_backend|size_pretty|database_size|total_relation_size|is_in_recovery|last_.*|current_.*|wal_.*|replication_.*)|",
            r"information_schema(?:\..*)?|pg_catalog(?:\..*)?|performance_schema(?:\..*)?|processlist|xact_start|query_start|state_change|wait_event(?:_type)?|backend_start|application_name|client_addr|datname|usename|relname|n_dead_tup|n_live_tup|blks_(?:hit|read)|max_connections|",
            r"used_memory(?:_.*)?|keyspace_(?:hits|misses)|connected_clients|maxmemory|evicted_keys|instantaneous_ops_per_sec|",
            r"e\.g|i\.e|a\.m|p\.m|vs|etc|node\.js|next\.js|vue\.js|asp\.net|read-only|follow-up|roll-?back|re-?start|up-?to-?date)$"
        ))
        .ok()
    });
    PATTERNS
        .as_ref()
        .is_some_and(|patterns| patterns.is_match(word))
        || PRODUCTS.contains(&word)
}

/// Words of commands that look like names and belong to the tool, not to the service: subcommands,
/// fields of Kubernetes objects, kernel settings, statistics of databases, well-known ports' paths.
fn is_word_of_commands(word: &str) -> bool {
    static PATTERNS: LazyLock<Option<Regex>> = LazyLock::new(|| {
        Regex::new(concat!(
            r"^(?:s_client|s_time|x509|list_[a-z_]+|last-?Timestamp|lastTimestamp|creationTimestamp|(?:metadata|status|spec|items|involvedObject|data|containers|conditions)(?:\.[A-Za-z]+)*|",
            r"[A-Za-z]+\.(?:metadata|status|spec)(?:\.[A-Za-z]+)*|nodeName|podIP|hostIP|restartCount|containerStatuses|kafka-[a-z-]+\.sh|zk[A-Z][A-Za-z]*\.sh|",
            r"Thread\.print|GC\.[a-z_]+|VM\.[a-z_]+|(?i:innodb_[a-z_]+|threads_(?:running|connected|created)|slow_queries|table_schema|table_name|state_change|query_id)|max_connections|wait_timeout|",
            r"(?:net\.(?:core|ipv4|ipv6|netfilter)|fs|vm|kernel)\.[a-z0-9_.-]+|/?_(?:cat|cluster|nodes)(?:/[a-z_]+)*|/(?:metrics|health|healthz|ready|readyz|livez|actuator(?:/[a-z]+)*|debug/pprof(?:/[a-z]+)*|server-status|nginx_status)|",
            r"/(?:etc|proc|sys|dev)(?:/[A-Za-z0-9_.-]+)*|/var/log(?:/(?:syslog|messages|nginx|kern\.log|auth\.log|dmesg))?|json|yaml|jsonpath|go-template|custom-columns|https?|",
            r"max_over_time|avg_over_time|histogram_quantile|rate|count_over_time|group_by|order_by|num_[a-z]+|num-[a-z]+|in_flight|TIME_WAIT|CLOSE_WAIT|SYN_RECV|SYN_SENT|http_code|time_[a-z_]+|size_download)$"
        ))
        .ok()
    });
    PATTERNS
        .as_ref()
        .is_some_and(|patterns| patterns.is_match(word))
}

/// Products and states whose spelling has an inner capital.
const PRODUCTS: &[&str] = &[
    "PostgreSQL",
    "MySQL",
    "MariaDB",
    "MongoDB",
    "DynamoDB",
    "CockroachDB",
    "ClickHouse",
    "RabbitMQ",
    "ActiveMQ",
    "GitHub",
    "GitLab",
    "GitOps",
    "DevOps",
    "JavaScript",
    "TypeScript",
    "OpenSSL",
    "OpenSearch",
    "ElasticSearch",
    "GraphQL",
    "WebSocket",
    "WebSockets",
    "gRPC",
    "DaemonSet",
    "StatefulSet",
    "ReplicaSet",
    "ConfigMap",
    "CronJob",
    "NodePort",
    "LoadBalancer",
    "ClusterIP",
    "NetworkPolicy",
    "CrashLoopBackOff",
    "ImagePullBackOff",
    "ErrImagePull",
    "OOMKilled",
    "NotReady",
    "CloudWatch",
    "CloudFront",
    "CloudFlare",
    "ElastiCache",
    "PagerDuty",
    "StatusPage",
    "HAProxy",
    "PgBouncer",
    "VMware",
    "NodeLocal",
    "McAfee",
    "macOS",
    "iOS",
    "NaN",
    "CoreDNS",
    "ArgoCD",
    "OpenTelemetry",
    "LetsEncrypt",
    "DataDog",
    "BigQuery",
    "PromQL",
    "LogQL",
    "InfluxDB",
    "VictoriaMetrics",
    "MinIO",
    "NodeJS",
    "PowerShell",
    "SQLite",
    "NoSQL",
    "SaaS",
    "IPs",
    "VMs",
    "URLs",
    "APIs",
    "DBs",
    "OOMs",
    "CPUs",
    "TTLs",
    "SREs",
    "RocketMQ",
    "OceanBase",
    "TiDB",
    "PolarDB",
    "OpenAPI",
    "IPSec",
    "WiFi",
    "RocksDB",
    "ScyllaDB",
    "CloudSQL",
    "FireWall",
    "CodeDeploy",
    "TerraForm",
    "YouTube",
    "PagerTree",
    "OpsGenie",
    "StackDriver",
    "NetApp",
    "OpenStack",
    "OpenShift",
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
        TokenKind::Number(_) | TokenKind::Vague(..) | TokenKind::Clock(_)
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

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

mod basis;
mod mending;
mod names;
mod quantities;
#[cfg(test)]
mod tests;
mod tokens;

use crate::incident::words::fold;
use crate::incident::{IncidentId, PastIncident, volatile};
use crate::validation::allowed::{
    is_hyphenated_prose, is_word_of_commands, is_word_of_operations, may_be_prose,
};
use crate::validation::text::{clauses, tidy};
use basis::{Basis, text_of};
use mending::{without_bad_clauses, without_phrases};
use names::{
    internals_of, is_spelling, is_telling_name, named_in, plain_names_in, speaks_of_another,
    squeezed, volatile_core,
};
use quantities::Unit;
use std::collections::{BTreeMap, BTreeSet, HashSet};
use tokens::{Token, TokenKind, tokens};

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
                if place == Place::Command && self.is_known_address(&folded, cited) {
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

    /// An address whose host was given, and whose page every such server has: `http://es-1/_cat/nodes`.
    fn is_known_address(&self, folded: &str, cited: &[IncidentId]) -> bool {
        let Some((_, rest)) = folded.split_once("://") else {
            return false;
        };
        let end = rest.find('/').unwrap_or(rest.len());
        let (authority, page) = rest.split_at(end);
        let host = authority.split(':').next().unwrap_or_default();
        let page = page.split('?').next().unwrap_or_default();
        let given = std::iter::once(&self.report)
            .chain(cited.iter().filter_map(|id| self.direct.get(id)))
            .any(|basis| basis.holds_name(host));
        let everywhere = page.len() < 2 || is_word_of_operations(page) || is_word_of_commands(page);
        !host.is_empty() && (given || ["localhost", "127.0.0.1"].contains(&host)) && everywhere
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

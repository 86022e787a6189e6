//! Everything the rules look things up in, prepared once for a case.

use super::case::Case;
use super::contradictions::Clauses;
use super::episodes::{self, Episode};
use super::grounding::{Grounded, Grounds, Place};
use super::instructions;
use super::log::Log;
use super::quotes::Quotable;
use super::references::Nameable;
use super::remembered;
use super::text;
use super::unreferenced;
use crate::incident::sameness::Phrase;
use crate::incident::words::fold;
use crate::incident::{Grade, IncidentId, Locale, PastIncident};
use regex::Regex;
use std::sync::LazyLock;

/// A case prepared for the rules.
pub(super) struct Context<'c> {
    pub case: &'c Case,
    /// Episodes of the direct matches.
    pub episodes: Vec<Episode>,
    pub quotable: Quotable,
    pub clauses: Clauses<'c>,
    /// What was tried in this incident, prepared for comparing; as long as `case.attempts`.
    pub own_fixes: Vec<Phrase>,
    nameable: Nameable,
    grounds: Grounds,
    /// Ids that memory gave, and services of its analogies, folded: of these a past may be told.
    given: Vec<String>,
    /// The report, folded.
    report: String,
}

/// What stands in the place of a number that nothing supports (R20).
fn not_in_evidence(locale: Locale) -> &'static str {
    match locale {
        Locale::En => "(not in evidence)",
        Locale::Zh => "（无依据）",
    }
}

impl<'c> Context<'c> {
    pub fn new(case: &'c Case) -> Self {
        let direct: Vec<&PastIncident> = case
            .memory
            .direct()
            .map(|recalled| &recalled.incident)
            .collect();
        let analogies: Vec<&PastIncident> = case
            .memory
            .analogies()
            .map(|recalled| &recalled.incident)
            .collect();
        let mut report_text = case.report.all_text();
        // What was changed may be named; a quote of the report it is not.
        for change in &case.ledger.changes {
            report_text.push('\n');
            report_text.push_str(&change.in_words());
        }
        let registered: Vec<&str> = case
            .registry
            .services
            .iter()
            .map(|service| service.name.as_str())
            .collect();
        let not_in_evidence = not_in_evidence(case.locale);
        Self {
            episodes: episodes::episodes_as(
                &case.ledger.people,
                &direct,
                // R11: a return changes an outcome only once its cause is confirmed.
                case.ledger
                    .running
                    .as_ref()
                    .filter(|running| running.cause_confirmed),
            ),
            quotable: Quotable::new(&case.report),
            given: case
                .memory
                .recalled()
                .iter()
                .filter(|recalled| recalled.grade != Grade::Low)
                .flat_map(|recalled| {
                    let incident = &recalled.incident;
                    let service = incident
                        .service
                        .as_deref()
                        .filter(|_| recalled.grade == Grade::Analogy);
                    [Some(fold(&incident.id.to_string())), service.map(fold)]
                })
                .flatten()
                .collect(),
            report: fold(&report_text),
            clauses: Clauses::new(&case.report),
            own_fixes: case
                .attempts
                .iter()
                .map(|attempt| case.ledger.people.phrase(&attempt.fix))
                .collect(),
            nameable: Nameable::new(&case.memory, &report_text, case.incident),
            grounds: Grounds::new(
                &report_text,
                case.service.as_deref(),
                &registered,
                &direct,
                &analogies,
                not_in_evidence,
            ),
            case,
        }
    }

    /// A fix or a cause prepared for comparing, with what people said of it.
    pub fn phrase(&self, text: &str) -> Phrase {
        self.case.ledger.people.phrase(text)
    }

    /// A claim as it may be said, with every change noted: cleaned (R21), without a certainty of the
    /// model's own (R12), without unknown ids (R1) and a past that nobody recalled (R3), grounded (R6, R20), and marked where a record
    /// contradicts it (R20).
    pub fn claim(
        &self,
        said: &str,
        most: usize,
        cited: &[IncidentId],
        place: Place,
        at: &str,
        log: &mut Log,
    ) -> String {
        // Also from the record of what was changed, which people read.
        let own = instructions::without(said);
        if own.len() < said.len() {
            log.note("R21", at, "the model's own instructions", "");
        }
        let said = &*own;
        let cleaned = match place {
            Place::Title | Place::Command => text::clean_line(said, most),
            _ => text::clean(said, most),
        };
        log.note("R21", at, visible_form(said), visible_form(&cleaned));
        let modest = if place == Place::Command {
            cleaned.clone()
        } else {
            without_certainty(&cleaned)
        };
        log.note("R12", at, &cleaned, &modest);
        let known = self.nameable.strike(&modest, matches!(place, Place::Title));
        log.note("R1", at, &modest, &known);
        // Whoever cites nothing of this service tells of no past of it.
        let known = if cited.is_empty() && place != Place::Command {
            let told = unreferenced::without_claims(&known, &self.report, &self.given);
            log.note("R3", at, &known, &told);
            told
        } else {
            known
        };
        // A command without one of its words is another command.
        let known = if place == Place::Command && known != modest {
            String::new()
        } else {
            known
        };
        let Grounded { text, rules } = self.grounds.check(&known, cited, place);
        for rule in rules {
            log.note(rule, at, &known, &text);
        }
        if place == Place::Command {
            return text;
        }
        let marked = remembered::marked(&text, &self.case.memory, self.case.locale);
        log.note("R20", at, &text, &marked);
        marked
    }

    /// Whether a number was struck from a text (R20).
    pub fn lacks_evidence(&self, text: &str) -> bool {
        text.contains(not_in_evidence(self.case.locale))
    }

    /// A stored fix or cause as it may be shown here (R20's placeholders).
    pub fn stored(&self, said: &str, of: IncidentId) -> String {
        self.grounds
            .check(&text::clean(said, text::PARAGRAPH), &[of], Place::Body)
            .text
    }
}

/// White space does not count as a change.
fn visible_form(said: &str) -> String {
    said.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// "(98 % sure)", "confidence: 95", 置信度 90%: how sure the model is stands in the score, computed,
/// and nowhere else (R12).
fn without_certainty(said: &str) -> String {
    static CERTAINTY: LazyLock<Option<Regex>> = LazyLock::new(|| {
        Regex::new(concat!(
            r"(?i)[\s,，;；:：—–-]*[(（\[]?\s*(?:",
            r"(?:with |at |about |~|≈|约)?[0-9]{1,3}(?:\.[0-9]+)?\s*(?:[%％]|percent|per cent)\s*(?:的)?\s*(?:sure|certain|certainty|confident|confidence|likely|likelihood|probable|probability|chance|把握|可能性?|概率|置信度?|可信度?|确定)(?-u:\b)?|",
            r"(?:confidence|certainty|probability|likelihood|置信度|可信度|把握|概率|可能性|确定性)\s*(?:of|is|level|score|为|是|约|=|:|：)*\s*[0-9]{1,3}(?:\.[0-9]+)?\s*(?:[%％]|percent|/\s*100)?",
            r")\s*[)）\]]?"
        ))
        .ok()
    });
    let Some(pattern) = CERTAINTY.as_ref() else {
        return said.to_owned();
    };
    // Full-width digits read as digits; positions are compared on characters.
    let narrow: String = said.chars().map(text::narrow).collect();
    if !pattern.is_match(&narrow) {
        return said.to_owned();
    }
    let chars: Vec<char> = pattern.replace_all(&narrow, " ").chars().collect();
    let text = text::tidy(&chars);
    text.replace(" 。", "。")
        .replace(" .", ".")
        .trim()
        .to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn r12_how_sure_the_model_is_is_not_said_in_words() {
        for (said, expected) in [
            ("Pool exhausted (98 % sure)", "Pool exhausted"),
            ("Pool exhausted, confidence: 95%", "Pool exhausted"),
            ("Pool exhausted - 100% certain", "Pool exhausted"),
            ("连接池耗尽（置信度９８％）", "连接池耗尽"),
            ("连接池耗尽，95%的把握", "连接池耗尽"),
            // Shares of something else stay.
            (
                "about 12% of POST /v1/charges fail",
                "about 12% of POST /v1/charges fail",
            ),
            ("a 30 % chance cache", "a cache"),
            ("连接池使用率 30%", "连接池使用率 30%"),
            (
                "confidence in the release fell",
                "confidence in the release fell",
            ),
        ] {
            assert_eq!(without_certainty(said), expected, "{said}");
        }
    }
}

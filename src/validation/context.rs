//! Everything the rules look things up in, prepared once for a case.

use super::case::Case;
use super::episodes::{self, Episode};
use super::grounding::{Grounded, Grounds, Place};
use super::log::Log;
use super::quotes::Quotable;
use super::references;
use super::text;
use crate::incident::words::fold;
use crate::incident::{IncidentId, Locale, PastIncident};

/// A case prepared for the rules.
pub(super) struct Context<'c> {
    pub case: &'c Case,
    /// Episodes of the direct matches.
    pub episodes: Vec<Episode>,
    pub quotable: Quotable,
    report_text: String,
    grounds: Grounds,
}

impl<'c> Context<'c> {
    pub fn new(case: &'c Case) -> Self {
        let direct: Vec<&PastIncident> = case.memory.direct().map(|recalled| &recalled.incident).collect();
        let analogies: Vec<&PastIncident> = case.memory.analogies().map(|recalled| &recalled.incident).collect();
        let report_text = case.report.all_text();
        let not_in_evidence = match case.locale {
            Locale::En => "(not in evidence)",
            Locale::Zh => "（无依据）",
        };
        Self {
            episodes: episodes::episodes(&direct),
            quotable: Quotable::new(&case.report),
            grounds: Grounds::new(
                &report_text,
                case.service.as_deref(),
                direct.iter().copied(),
                analogies.iter().copied(),
                not_in_evidence,
            ),
            report_text,
            case,
        }
    }

    /// A claim as it may be said, with every change noted: cleaned (R21), without unknown ids (R1),
    /// grounded (R6, R20).
    pub fn claim(&self, said: &str, most: usize, cited: &[IncidentId], place: Place, at: &str, log: &mut Log) -> String {
        let cleaned = match place {
            Place::Title | Place::Command => text::clean_line(said, most),
            _ => text::clean(said, most),
        };
        log.note("R21", at, visible_form(said), visible_form(&cleaned));
        let known = self.without_unknown_ids(&cleaned, place);
        log.note("R1", at, &cleaned, &known);
        let Grounded { text, rules } = self.grounds.check(&known, cited, place);
        for rule in rules {
            log.note(rule, at, &known, &text);
        }
        text
    }

    /// The clause that carries the id of an incident which is neither recalled nor in the report
    /// goes; where that would leave nothing, only the id does.
    fn without_unknown_ids(&self, said: &str, place: Place) -> String {
        let unknown = references::unknown_in_prose(said, &self.case.memory, &self.report_text);
        if unknown.is_empty() {
            return said.to_owned();
        }
        let carries = |clause: &str| {
            let folded = fold(clause);
            unknown.iter().any(|id| folded.contains(id.as_str()))
        };
        let kept: String = split_clauses(said).into_iter().filter(|clause| !carries(clause)).collect();
        let kept = kept.trim().trim_end_matches(['，', ',']).to_owned();
        if !kept.is_empty() || place == Place::Command {
            return kept;
        }
        // The whole text is one clause: the ids alone are struck, with the word that leads to them.
        let mut words: Vec<&str> = Vec::new();
        for word in said.split_whitespace() {
            if carries(word) {
                while words
                    .last()
                    .is_some_and(|last| ["as", "in", "like", "see", "of", "from", "with", "to", "same"].contains(&fold(last).as_str()))
                {
                    words.pop();
                }
            } else {
                words.push(word);
            }
        }
        let rest = words.join(" ");
        if carries(&rest) { String::new() } else { rest }
    }

    /// A stored fix or cause as it may be shown here (R20's placeholders).
    pub fn stored(&self, said: &str, of: IncidentId) -> String {
        self.grounds.check(&text::clean(said, text::PARAGRAPH), &[of], Place::Body).text
    }
}

/// White space does not count as a change.
fn visible_form(said: &str) -> String {
    said.split_whitespace().collect::<Vec<_>>().join(" ")
}

fn split_clauses(said: &str) -> Vec<&str> {
    let mut out = Vec::new();
    let mut start = 0;
    let mut chars = said.char_indices().peekable();
    while let Some((index, c)) = chars.next() {
        let next = chars.peek().map(|(_, next)| *next);
        let ends = match c {
            '。' | '；' | '，' | '！' | '？' | '\n' | ';' => true,
            '.' | '!' | '?' => next.is_none_or(char::is_whitespace),
            _ => false,
        };
        if ends {
            let end = index + c.len_utf8();
            out.push(said.get(start..end).unwrap_or_default());
            start = end;
        }
    }
    out.push(said.get(start..).unwrap_or_default());
    out
}

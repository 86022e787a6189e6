//! What comes back from Hindsight, a document each.
//!
//! Wanted: what has no record of our own is no proof, whatever it says of itself. Its fixes are
//! hypotheses, its cause is unconfirmed, and it is called a fragment wherever it is shown.

use super::{Line, line, one_line, time, wire};
use crate::incident::{FRAGMENT, FixAttempt, IncidentId, Outcome, PastIncident};
use jiff::Timestamp;
use std::collections::HashMap;

/// Texts kept of one document.
const MOST_TEXTS: usize = 6;
/// Characters kept of a text that is no line.
const LONGEST_TEXT: usize = 400;

/// One document with what was recalled of it.
#[derive(Clone, Debug, PartialEq)]
pub struct Fragment {
    /// The incident that its name says.
    pub id: IncidentId,
    /// What was recalled, best first.
    pub texts: Vec<String>,
    /// When it is from, as the server has it.
    pub at: Option<Timestamp>,
}

impl Fragment {
    /// The fragment in the form of a record, for those who have no better one: the line if it reads
    /// as one, else the words as they are. Never with an outcome.
    pub fn record(&self) -> PastIncident {
        let line = self.texts.iter().find_map(|text| Line::parse(text));
        let mut past = match line {
            Some(said) => {
                let title = line::cut(&one_line(&said.title), LONGEST_TEXT);
                let mut past = PastIncident::new(self.id, title);
                past.service = Some(said.service).filter(|name| !name.trim().is_empty());
                past.root_cause = said.cause;
                past.resolved_at = said.at;
                past.attempts = said
                    .fixes
                    .into_iter()
                    .filter(|(_, fix)| !fix.trim().is_empty())
                    .map(|(_, fix)| FixAttempt::new(fix, Outcome::Unknown))
                    .collect();
                past
            }
            None => {
                let mut texts = self
                    .texts
                    .iter()
                    .map(|text| line::cut(&one_line(text), LONGEST_TEXT))
                    .filter(|text| !text.is_empty());
                let mut past = PastIncident::new(self.id, texts.next().unwrap_or_default());
                past.symptoms = texts.collect();
                past
            }
        };
        if past.title.is_empty() {
            past.title = self.id.to_string();
        }
        past.resolved_at = past.resolved_at.or(self.at);
        past.source = FRAGMENT.to_owned();
        past
    }
}

/// The documents of an answer, by likeness of meaning. What names no incident of ours, or may not be
/// seen by any of the tags, is dropped: the server was asked for neither.
pub(super) fn of(memories: Vec<wire::Memory>, tags: &[String]) -> Vec<Fragment> {
    let mut found: Vec<(f64, Fragment)> = Vec::new();
    let mut places: HashMap<IncidentId, usize> = HashMap::new();
    let mut dropped = 0_u32;
    for memory in memories {
        let id = memory.document_id.as_deref().and_then(named);
        let seen = memory
            .tags
            .as_ref()
            .is_some_and(|own| own.iter().any(|tag| tags.contains(tag)));
        let Some(id) = id.filter(|_| seen) else {
            dropped += 1;
            continue;
        };
        // Found by words or links alone: behind all that are alike.
        let semantic = memory
            .scores
            .and_then(|scores| scores.semantic)
            .filter(|score| score.is_finite())
            .unwrap_or(-1.0);
        match places.get(&id).and_then(|place| found.get_mut(*place)) {
            Some((best, fragment)) => {
                *best = best.max(semantic);
                if fragment.texts.len() < MOST_TEXTS {
                    fragment.texts.push(memory.text);
                }
            }
            None => {
                places.insert(id, found.len());
                let fragment = Fragment {
                    id,
                    texts: vec![memory.text],
                    at: memory.mentioned_at.as_deref().and_then(time),
                };
                found.push((semantic, fragment));
            }
        }
    }
    if dropped > 0 {
        tracing::warn!(dropped, "Hindsight gave what it was not asked for");
    }
    // Stable: equal ones stay in the server's order.
    found.sort_by(|(one, _), (other, _)| other.total_cmp(one));
    found.into_iter().map(|(_, fragment)| fragment).collect()
}

/// Our own names alone: `INC-0041` and nothing that merely reads like it.
fn named(document: &str) -> Option<IncidentId> {
    let id = IncidentId::parse(document)?;
    (id.to_string() == document).then_some(id)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::incident::Standing;

    fn memory(document: Option<&str>, tags: &[&str], semantic: Option<f64>) -> wire::Memory {
        wire::Memory {
            text: format!("text of {document:?}"),
            document_id: document.map(str::to_owned),
            tags: Some(tags.iter().map(|tag| (*tag).to_owned()).collect()),
            mentioned_at: None,
            scores: Some(wire::Scores { semantic }),
        }
    }

    #[test]
    fn only_what_was_asked_for_best_first_and_once() {
        let tags = ["seen:7:by-all".to_owned(), "seen:7:from:12".to_owned()];
        let memories = vec![
            memory(Some("INC-0001"), &["guild:7", "seen:7:by-all"], None),
            memory(Some("INC-0002"), &["seen:7:from:12"], Some(0.4)),
            memory(Some("INC-0003"), &["seen:7:by-all"], Some(0.63)),
            memory(Some("INC-0002"), &["seen:7:from:12"], Some(0.7)),
            memory(Some("INC-0004"), &["seen:7:by-all"], Some(f64::NAN)),
            // Private elsewhere, another guild's, untagged, not ours.
            memory(Some("INC-0005"), &["guild:7", "seen:7:from:13"], Some(0.9)),
            memory(Some("INC-0006"), &["seen:8:by-all"], Some(0.9)),
            memory(Some("INC-0007"), &[], Some(0.9)),
            memory(Some("7"), &["seen:7:by-all"], Some(0.9)),
            memory(Some("runbook.md"), &["seen:7:by-all"], Some(0.9)),
            memory(None, &["seen:7:by-all"], Some(0.9)),
        ];
        let found = of(memories, &tags);
        let order: Vec<(u32, usize)> = found
            .iter()
            .map(|fragment| (fragment.id.number(), fragment.texts.len()))
            .collect();
        assert_eq!(order, [(2, 2), (3, 1), (1, 1), (4, 1)]);
    }

    #[test]
    fn a_fragment_proves_nothing() {
        let id = IncidentId::new(41).expect("not zero");
        let line = "[2026-05-14T02:51:00Z] INCIDENT: 503s | SERVICE: payments-api | ROOT CAUSE: Leak | FIX (held): Restart | FIX (made_worse): Scale up";
        let past = Fragment {
            id,
            texts: vec!["a fact".into(), line.into()],
            at: None,
        }
        .record();
        assert_eq!(past.title, "503s");
        assert_eq!(past.service.as_deref(), Some("payments-api"));
        assert_eq!(past.root_cause, "Leak");
        assert_eq!(past.confirmed_cause(), None);
        assert_eq!(past.attempts.len(), 2);
        assert!(
            past.attempts
                .iter()
                .all(|attempt| attempt.outcome.standing() == Standing::Hypothesis)
        );
        assert!(past.is_fragment());
    }

    #[test]
    fn a_fragment_that_is_no_line_is_its_words() {
        let id = IncidentId::new(41).expect("not zero");
        let past = Fragment {
            id,
            texts: vec!["Fix:\n rollback".into(), "x".repeat(9_000), String::new()],
            at: "2026-05-14T02:51:00+00:00".parse().ok(),
        }
        .record();
        assert_eq!(past.title, "Fix: rollback");
        assert_eq!(past.symptoms.len(), 1);
        assert_eq!(past.symptoms[0].chars().count(), LONGEST_TEXT + 1);
        assert!(past.resolved_at.is_some() && past.service.is_none());
        let empty = Fragment {
            id,
            texts: vec![" ".into()],
            at: None,
        };
        assert_eq!(empty.record().title, "INC-0041");
    }
}

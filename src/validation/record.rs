//! The record of a fix on this service: how often it held, how often it failed, what came last.
//!
//! One reading for the score (R8, R10), for the record in words (R12), and for what is not to be
//! repeated (R17), so that the three never contradict each other. Counted over episodes (R11), and
//! over this incident's own attempts, which are the newest.

use super::analysis::TriedHere;
use super::context::Context;
use super::score::STALE_AFTER_DAYS;
use crate::incident::sameness::{Likeness, Phrase};
use crate::incident::service::same_environment;
use crate::incident::{IncidentId, Outcome, Standing};
use jiff::Timestamp;

/// One trial of a fix.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Tried {
    /// Its episode's incident; `None` for an attempt of the incident at hand.
    pub id: Option<IncidentId>,
    pub at: Option<Timestamp>,
    pub outcome: Outcome,
    pub environment: Option<String>,
}

impl Tried {
    pub fn failed(&self) -> bool {
        self.outcome.standing() == Standing::Refuted
    }
}

/// Trials of a fix, oldest first. A near-same fix counts where it failed, and only there.
pub(super) struct FixRecord(pub Vec<Tried>);

impl FixRecord {
    pub fn of(context: &Context<'_>, fix: &Phrase) -> Self {
        let mut tried: Vec<Tried> = Vec::new();
        for episode in &context.episodes {
            let (Some(outcome), Some((id, at, environment))) =
                (episode.outcome_of(fix), episode.tried(fix))
            else {
                continue;
            };
            if outcome.standing() == Standing::Refuted || episode.tried_same(fix) {
                tried.push(Tried {
                    id: Some(id),
                    at,
                    outcome,
                    environment: environment.map(str::to_owned),
                });
            }
        }
        // Where a time is missing the numbers tell the order: they are given out in order.
        if tried.iter().all(|trial| trial.at.is_some()) {
            tried.sort_by_key(|trial| (trial.at, trial.id));
        } else {
            tried.sort_by_key(|trial| trial.id);
        }
        for (attempt, phrase) in context.case.attempts.iter().zip(&context.own_fixes) {
            let likeness = fix.likeness(phrase);
            let failed = attempt.outcome.standing() == Standing::Refuted;
            if likeness == Likeness::Same || (likeness == Likeness::Near && failed) {
                tried.push(Tried {
                    id: None,
                    at: attempt.at,
                    outcome: attempt.outcome,
                    environment: attempt
                        .environment
                        .clone()
                        .or_else(|| context.case.ledger.environment.clone()),
                });
            }
        }
        Self(tried)
    }

    pub fn held(&self) -> usize {
        self.0
            .iter()
            .filter(|trial| trial.outcome.standing() == Standing::Verified)
            .count()
    }

    pub fn failed(&self) -> usize {
        self.0.iter().filter(|trial| trial.failed()).count()
    }

    /// The record as it is told where the fix is proposed; `None` where it was never tried.
    pub fn told(&self, environment: Option<&str>, now: Timestamp) -> Option<TriedHere> {
        let last = self.newest()?;
        let count = |n: usize| u32::try_from(n).unwrap_or(u32::MAX);
        let (held, failed) = (self.held(), self.failed());
        Some(TriedHere {
            held: count(held),
            failed: count(failed),
            unknown: count(self.0.len().saturating_sub(held + failed)),
            last_at: last.at,
            last_environment: last.environment.clone(),
            other_environment: match (environment, last.environment.as_deref()) {
                (Some(here), Some(there)) => !same_environment(here, there),
                _ => false,
            },
            long_ago: last
                .at
                .is_some_and(|at| now.as_second() - at.as_second() > STALE_AFTER_DAYS * 86_400),
        })
    }

    pub fn newest(&self) -> Option<&Tried> {
        self.0.last()
    }

    pub fn made_worse(&self) -> bool {
        self.0
            .iter()
            .any(|trial| trial.outcome == Outcome::MadeWorse)
    }

    /// Not to be repeated: it made things worse, failed at its newest attempt, or failed at least as
    /// often as it held (R17).
    pub fn is_failed(&self) -> bool {
        self.failed() > 0
            && (self.made_worse()
                || self.newest().is_some_and(Tried::failed)
                || self.failed() >= self.held())
    }
}

//! Grading what memory returned, before a model sees it (R5).
//!
//! Wanted: what is called a direct match is of this service and of this kind of trouble; what is
//! called an analogy is close enough to inform; the rest is counted and never offered.
//!
//! Deliberately absent: any second opinion. A model neither grades nor regrades, and the service is
//! never the one that a model alone says.

use super::recall::Prepared;
use crate::incident::service::same_service;
use crate::incident::{Grade, IncidentId, PastIncident, Recalled, Registry};
use std::cmp::Reverse;

/// Below this similarity everything is low, whatever its service (R5, until calibrated).
pub const RECALL_FLOOR: f64 = 0.35;
/// From this similarity on an incident of another service is an analogy (R5, until calibrated).
pub const ANALOGY_FLOOR: f64 = 0.5;

/// How many of each grade are kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Direct matches.
    pub direct: usize,
    /// Analogies.
    pub analogies: usize,
    /// Low ones: the command line lists them, nobody else sees them.
    pub low: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            direct: 8,
            analogies: 4,
            low: 20,
        }
    }
}

/// Grades candidates: direct matches best first, then analogies, then low ones. The incident at
/// hand (`own`) is never recalled, and an incident that came twice counts once. Equal similarity:
/// the newer first, then the higher number, so that the order never depends on the store's.
pub fn grade(
    candidates: impl IntoIterator<Item = PastIncident>,
    query: &Prepared,
    service: Option<&str>,
    registry: &Registry,
    own: Option<IncidentId>,
    limits: Limits,
) -> Vec<Recalled> {
    let mut graded: Vec<Recalled> = candidates
        .into_iter()
        .filter(|incident| Some(incident.id) != own)
        .map(|incident| {
            let similarity = query.similarity(&incident);
            let same = same_service(registry, service, incident.service.as_deref());
            Recalled {
                grade: grade_of(similarity.value, similarity.shares_signature, same),
                similarity: similarity.value,
                shares_signature: similarity.shares_signature,
                incident,
            }
        })
        .collect();
    graded.sort_by(|one, other| {
        rank(one.grade)
            .cmp(&rank(other.grade))
            .then(other.similarity.total_cmp(&one.similarity))
            .then_with(|| {
                let age = |recalled: &Recalled| {
                    let incident = &recalled.incident;
                    Reverse((incident.resolved_at.or(incident.started_at), incident.id))
                };
                age(one).cmp(&age(other))
            })
    });
    let mut seen = std::collections::BTreeSet::new();
    let mut left = limits;
    graded.retain(|recalled| {
        if !seen.insert(recalled.incident.id) {
            return false;
        }
        let room = match recalled.grade {
            Grade::DirectMatch => &mut left.direct,
            Grade::Analogy => &mut left.analogies,
            Grade::Low => &mut left.low,
        };
        let kept = *room > 0;
        *room = room.saturating_sub(1);
        kept
    });
    graded
}

/// The rule itself.
pub fn grade_of(similarity: f64, shares_signature: bool, same_service: bool) -> Grade {
    // `>=` on purpose the other way round: NaN is below every floor.
    if !(similarity >= RECALL_FLOOR) {
        Grade::Low
    } else if same_service {
        Grade::DirectMatch
    } else if shares_signature || similarity >= ANALOGY_FLOOR {
        Grade::Analogy
    } else {
        Grade::Low
    }
}

fn rank(grade: Grade) -> u8 {
    match grade {
        Grade::DirectMatch => 0,
        Grade::Analogy => 1,
        Grade::Low => 2,
    }
}

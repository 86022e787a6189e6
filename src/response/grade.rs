//! Grading what memory returned, before a model sees it (R5).
//!
//! Wanted: what is called a direct match is of this service and of this kind of trouble; what is
//! called an analogy is close enough to inform; the rest is counted and never offered.
//!
//! Deliberately absent: any second opinion. A model neither grades nor regrades, and the service is
//! never the one that a model alone says.

use super::recall::{Prepared, similarities};
use crate::incident::returns::after_returns;
use crate::incident::sameness::PeopleSaid;
use crate::incident::service::SameAs;
use crate::incident::{Grade, IncidentId, PastIncident, Recalled, Registry};
use std::cmp::Reverse;
use std::collections::BTreeSet;

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
    let asked = SameAs::new(registry, service);
    let mut seen = BTreeSet::new();
    let candidates: Vec<(PastIncident, bool)> = candidates
        .into_iter()
        .filter(|incident| Some(incident.id) != own && seen.insert(incident.id))
        .map(|incident| {
            let same = asked.is(incident.service.as_deref());
            (incident, same)
        })
        .collect();
    let similarities = similarities(
        query,
        candidates.iter().map(|(incident, same)| {
            let other = !same && service.is_some() && incident.service.is_some();
            (incident, other)
        }),
    );
    let mut graded: Vec<Recalled> = candidates
        .into_iter()
        .zip(similarities)
        .map(|((incident, same), similarity)| Recalled {
            grade: grade_of(similarity.value, similarity.shares_signature, same),
            similarity: similarity.value,
            shares_signature: similarity.shares_signature,
            incident,
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
    read_returns(&mut graded);
    let mut left = limits;
    graded.retain(|recalled| {
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

/// What came back within a week did not hold (R11), whoever reads it: the model, the route, the
/// rules. Low ones show nothing.
fn read_returns(graded: &mut [Recalled]) {
    let nobody = PeopleSaid::default();
    let read: Vec<PastIncident> = {
        let all: Vec<&PastIncident> = graded
            .iter()
            .filter(|recalled| recalled.grade != Grade::Low)
            .map(|recalled| &recalled.incident)
            .collect();
        all.iter()
            .map(|incident| after_returns(&nobody, incident, &all))
            .collect()
    };
    let offered = graded
        .iter_mut()
        .filter(|recalled| recalled.grade != Grade::Low);
    for (recalled, read) in offered.zip(read) {
        recalled.incident = read;
    }
}

/// The rule itself.
pub fn grade_of(similarity: f64, shares_signature: bool, same_service: bool) -> Grade {
    if similarity.is_nan() || similarity < RECALL_FLOOR {
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::incident::{FixAttempt, Outcome, Report};
    use crate::response::recall;
    use crate::response::triage::{Said, triage};

    #[test]
    fn r11_what_came_back_is_read_as_that_by_everybody() {
        let report = Report::from_text("payments-api: TillPool - no connection available");
        let registry = Registry::from_names(["payments-api", "order-service"]);
        let said = Said {
            service: Some("payments-api".into()),
            severity: None,
        };
        let triaged = triage(&report, &registry, &said);
        let query = recall::query(&report, &triaged).prepare();
        let incident = |number: u32, service: &str, from: &str, to: &str| {
            let id = IncidentId::new(number).expect("not zero");
            let mut incident = PastIncident::new(id, "TillPool - no connection available");
            incident.service = Some(service.into());
            incident.error_signatures = vec!["TillPool - no connection available".into()];
            incident.started_at = from.parse().ok();
            incident.resolved_at = to.parse().ok();
            incident.attempts = vec![FixAttempt::new("Restart it", Outcome::Held)];
            incident
        };
        let outcomes = |first_days: &str| -> Vec<(u32, Outcome)> {
            let candidates = ["payments-api", "order-service"].into_iter().zip([0, 10]);
            let candidates = candidates.flat_map(|(service, more)| {
                [
                    incident(
                        1 + more,
                        service,
                        "2026-10-01T02:00:00Z",
                        "2026-10-01T03:00:00Z",
                    ),
                    incident(2 + more, service, first_days, "2026-10-20T03:00:00Z"),
                ]
            });
            let graded = grade(
                candidates,
                &query,
                Some("payments-api"),
                &registry,
                None,
                Limits::default(),
            );
            let mut read: Vec<(u32, Outcome)> = graded
                .iter()
                .map(|recalled| (recalled.incident.id.number(), recalled.incident.outcome()))
                .collect();
            read.sort_unstable_by_key(|(number, _)| *number);
            read
        };
        use Outcome::{CameBack, Held};
        assert_eq!(
            outcomes("2026-10-04T02:00:00Z"),
            [(1, CameBack), (2, Held), (11, CameBack), (12, Held)]
        );
        assert_eq!(
            outcomes("2026-10-09T02:00:00Z"),
            [(1, Held), (2, Held), (11, Held), (12, Held)],
            "after more than a week it is another one"
        );
    }

    #[test]
    fn r5_the_rule() {
        use Grade::{Analogy, DirectMatch, Low};
        for (similarity, shares_signature, same, grade) in [
            (0.0, true, true, Low),
            (0.34, true, true, Low),
            (0.34, true, false, Low),
            (0.35, false, true, DirectMatch),
            (0.9, false, true, DirectMatch),
            (0.35, false, false, Low),
            (0.49, false, false, Low),
            (0.35, true, false, Analogy),
            (0.5, false, false, Analogy),
            (1.0, false, false, Analogy),
            (f64::NAN, true, true, Low),
        ] {
            assert_eq!(
                grade_of(similarity, shares_signature, same),
                grade,
                "{similarity} {shares_signature} {same}"
            );
        }
    }

    fn incident(number: u32, service: Option<&str>, title: &str) -> PastIncident {
        let id = IncidentId::new(number).expect("not zero");
        let mut incident = PastIncident::new(id, title);
        incident.service = service.map(str::to_owned);
        incident.symptoms = vec![title.to_owned()];
        incident
    }

    fn graded(
        report: &str,
        service: Option<&str>,
        registry: &Registry,
        candidates: Vec<PastIncident>,
        own: Option<u32>,
    ) -> Vec<(u32, Grade)> {
        let report = Report::from_text(report);
        let said = Said {
            service: service.map(str::to_owned),
            severity: None,
        };
        let triage = triage(&report, registry, &said);
        let query = recall::query(&report, &triage).prepare();
        grade(
            candidates,
            &query,
            triage.service.as_deref(),
            registry,
            own.and_then(IncidentId::new),
            Limits::default(),
        )
        .into_iter()
        .map(|recalled| (recalled.incident.id.number(), recalled.grade))
        .collect()
    }

    const REPORT: &str = "deadlock detected on the orders table, checkout hangs";
    const TITLE: &str = "deadlock on the orders table, checkout hangs";

    #[test]
    fn r5_whose_trouble_it_is() {
        use Grade::{Analogy, DirectMatch, Low};
        let registry = Registry::from_names(["shop-api", "cart-api"]);
        for (at_hand, recorded, title, expected) in [
            (Some("shop-api"), Some("shop-api"), TITLE, DirectMatch),
            (Some("Shop API"), Some("shop-api-prod"), TITLE, DirectMatch),
            (Some("shop-api"), Some("cart-api"), TITLE, Analogy),
            // Unknown equals nothing, not even unknown.
            (None, None, TITLE, Analogy),
            (None, Some("shop-api"), TITLE, Analogy),
            (Some("shop-api"), None, TITLE, Analogy),
            // Another kind of trouble proves nothing here.
            (
                Some("shop-api"),
                Some("shop-api"),
                "certificate expired",
                Low,
            ),
            (
                Some("shop-api"),
                Some("cart-api"),
                "certificate expired",
                Low,
            ),
        ] {
            assert_eq!(
                graded(
                    REPORT,
                    at_hand,
                    &registry,
                    vec![incident(1, recorded, title)],
                    None
                ),
                vec![(1, expected)],
                "{at_hand:?} {recorded:?} {title}"
            );
        }
    }

    #[test]
    fn r5_environments_kept_apart_are_an_analogy() {
        let mut registry = Registry::from_names(["shop-api"]);
        if let Some(service) = registry.services.first_mut() {
            service.environments_apart = vec!["staging".into()];
        }
        let found = graded(
            REPORT,
            Some("shop-api"),
            &registry,
            vec![incident(1, Some("shop-api-staging"), TITLE)],
            None,
        );
        assert_eq!(found, vec![(1, Grade::Analogy)]);
    }

    #[test]
    fn r5_best_first_without_the_own_one_and_within_the_limits() {
        let registry = Registry::from_names(["shop-api", "cart-api"]);
        let mut candidates: Vec<PastIncident> = (1..=12)
            .map(|number| incident(number, Some("shop-api"), TITLE))
            .collect();
        candidates.extend((21..=26).map(|number| incident(number, Some("cart-api"), TITLE)));
        candidates.extend((31..=60).map(|number| incident(number, Some("shop-api"), "disk full")));
        // Twice from the store, once in the answer.
        candidates.push(incident(12, Some("shop-api"), TITLE));
        let found = graded(
            REPORT,
            Some("shop-api"),
            &registry,
            candidates.clone(),
            Some(11),
        );
        let of = |grade| found.iter().filter(|(_, g)| *g == grade).count();
        assert_eq!(of(Grade::DirectMatch), 8);
        assert_eq!(of(Grade::Analogy), 4);
        assert_eq!(of(Grade::Low), 20);
        assert!(!found.iter().any(|(number, _)| *number == 11));
        assert_eq!(found.first(), Some(&(12, Grade::DirectMatch)));
        assert_eq!(found.iter().filter(|(number, _)| *number == 12).count(), 1);
        // The store's order changes nothing.
        candidates.reverse();
        assert_eq!(
            graded(REPORT, Some("shop-api"), &registry, candidates, Some(11)),
            found
        );
    }
}

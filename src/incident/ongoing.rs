//! Whether a report is about an incident that runs already (R32).

use super::sameness::{PeopleSaid, same, shares_pattern_as};
use super::service::Registry;
use super::{IncidentId, PastIncident, service};
use jiff::{SignedDuration, Timestamp};
use serde::{Deserialize, Serialize};

/// An incident that was resolved so lately may be the one that a report is about (R32).
pub const JUST_RESOLVED: SignedDuration = SignedDuration::from_hours(2);

/// An open incident of another service with the same signature: shown, never proof.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct OngoingIncident {
    /// Its number.
    pub id: IncidentId,
    /// Its service.
    pub service: String,
    /// Its title.
    pub title: String,
    /// Since when it is open.
    pub since: Timestamp,
}

/// What a report is to an incident that runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Relation {
    /// The same: offered to be joined.
    Same,
    /// The same signature on another service: shown as ongoing.
    Elsewhere,
    /// Nothing.
    None,
}

/// What a report, read as a record, is to a running incident. A pattern is shared where an error
/// signature or the cause is; people who type a line and paste no log share the line itself.
pub fn relation(
    registry: &Registry,
    people: &PeopleSaid,
    report: &PastIncident,
    running: &PastIncident,
) -> Relation {
    let shares = shares_pattern_as(people, report, running);
    let (reported, known) = (report.service.as_deref(), running.service.as_deref());
    let one = service::same_service(registry, reported, known);
    let unknown = reported.is_none() || known.is_none();
    if one || unknown {
        let said = one && same(&report.title, &running.title);
        return if shares || said {
            Relation::Same
        } else {
            Relation::None
        };
    }
    if shares {
        Relation::Elsewhere
    } else {
        Relation::None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const POOL: &str = "TillPool - no connection available, timed out after 30000ms";
    const OTHER_TIME: &str = "TillPool - no connection available, timed out after 30001ms";

    fn record(service: Option<&str>, title: &str, errors: &[&str]) -> PastIncident {
        let id = IncidentId::new(7).expect("a number");
        let mut record = PastIncident::new(id, title);
        record.service = service.map(str::to_owned);
        record.error_signatures = errors.iter().map(|line| (*line).to_owned()).collect();
        record
    }

    #[test]
    fn r32_what_is_the_same_what_is_elsewhere_and_what_is_neither() {
        let registry = Registry::from_names(["payments-api", "order-service"]);
        let people = PeopleSaid::default();
        let running = record(Some("payments-api"), "payments-api 503s", &[POOL]);
        let table = [
            (
                Some("payments-api"),
                "customers can't pay",
                &[OTHER_TIME][..],
                Relation::Same,
            ),
            (
                Some("Payments API"),
                "customers can't pay",
                &[POOL],
                Relation::Same,
            ),
            (None, "customers can't pay", &[POOL], Relation::Same),
            (
                Some("payments-api"),
                "payments-api 503s!",
                &[],
                Relation::Same,
            ),
            // Without a shared line an unknown service proves nothing, nor does another trouble.
            (None, "payments-api 503s", &[], Relation::None),
            (
                Some("payments-api"),
                "disk is full",
                &["No space left on device"],
                Relation::None,
            ),
            (
                Some("order-service"),
                "orders hang",
                &[POOL],
                Relation::Elsewhere,
            ),
            (
                Some("order-service"),
                "payments-api 503s",
                &[],
                Relation::None,
            ),
        ];
        for (service, title, errors, expected) in table {
            let report = record(service, title, errors);
            let related = relation(&registry, &people, &report, &running);
            assert_eq!(related, expected, "{service:?} {title} {errors:?}");
        }
    }
}

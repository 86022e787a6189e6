//! Returns (R11): the same trouble of one service again, later than a day and within a week, means
//! that what was done before did not hold.
//!
//! Computed whenever records are read and never stored: a record that turns out to be another's
//! duplicate, or of another day, makes no failure of a fix that worked.

use super::sameness::{PeopleSaid, one_service, shares_pattern_as};
use super::{FixAttempt, Outcome, PastIncident, Standing};

/// A repeat that begins within so many hours after the resolution is the same episode (R11).
pub const SAME_EPISODE_HOURS: i64 = 24;
/// A repeat that begins within so many days after it means that the fix did not hold (R11).
pub const RETURN_DAYS: i64 = 7;

/// Seconds from the end of `earlier` to the start of `later`; `None` where a time is missing.
pub fn gap_seconds(earlier: &PastIncident, later: &PastIncident) -> Option<i64> {
    let end = earlier.resolved_at?;
    let start = later.started_at?;
    // Starts before the earlier one began: not later at all.
    earlier.started_at?;
    Some(start.as_second() - end.as_second())
}

/// Whether `later` shows that what was done in `earlier` did not hold.
pub fn is_return(people: &PeopleSaid, earlier: &PastIncident, later: &PastIncident) -> bool {
    earlier.id != later.id
        && one_service(earlier, later)
        && gap_seconds(earlier, later)
            .is_some_and(|gap| gap > SAME_EPISODE_HOURS * 3600 && gap <= RETURN_DAYS * 86_400)
        && shares_pattern_as(people, earlier, later)
}

/// The record with what seemed to have worked turned into `came_back` where a later one is a return.
pub fn after_returns(
    people: &PeopleSaid,
    incident: &PastIncident,
    all: &[&PastIncident],
) -> PastIncident {
    let mut record = incident.clone();
    if record.outcome().standing() == Standing::Refuted
        || !all.iter().any(|later| is_return(people, incident, later))
    {
        return record;
    }
    let decisive: Option<FixAttempt> = record.decisive_attempt().cloned();
    for attempt in &mut record.attempts {
        // The trouble came back: nothing that was done before held.
        if matches!(attempt.outcome, Outcome::Held | Outcome::Mitigated)
            || Some(&*attempt) == decisive.as_ref()
        {
            attempt.outcome = Outcome::CameBack;
        }
    }
    record
}

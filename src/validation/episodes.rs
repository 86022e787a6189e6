//! Independent occurrences (R11): what counts once.
//!
//! Groups are the connected components over duplicates, parents, overlaps and quick repeats. A
//! repeat later than a day and within a week is no part of the group: it is a return, and turns the
//! earlier attempt into `came_back` (see [`crate::incident::returns`]).

use crate::incident::returns::{RETURN_DAYS, SAME_EPISODE_HOURS, after_returns, gap_seconds};
use crate::incident::sameness::{Likeness, PeopleSaid, Phrase, one_service, shares_pattern_as};
use crate::incident::{FixAttempt, IncidentId, Outcome, PastIncident, Recalled, Standing};
use jiff::Timestamp;

/// One independent occurrence: its incidents in the order of time.
#[derive(Clone, Debug)]
pub struct Episode {
    /// The records, after returns were taken into account; never empty.
    pub incidents: Vec<PastIncident>,
    /// Per incident, prepared for comparing.
    phrases: Vec<Phrases>,
}

#[derive(Clone, Debug)]
struct Phrases {
    /// One for each attempt.
    fixes: Vec<Phrase>,
    cause: Phrase,
    ruled_out: Vec<Phrase>,
}

impl Episode {
    fn new(people: &PeopleSaid, incidents: Vec<PastIncident>) -> Self {
        let phrases = incidents
            .iter()
            .map(|incident| Phrases {
                fixes: incident
                    .attempts
                    .iter()
                    .map(|attempt| people.phrase(&attempt.fix))
                    .collect(),
                cause: people.phrase(&incident.root_cause),
                ruled_out: incident
                    .ruled_out
                    .iter()
                    .map(|cause| people.phrase(cause))
                    .collect(),
            })
            .collect();
        Self { incidents, phrases }
    }

    /// The last incident.
    pub fn last(&self) -> Option<&PastIncident> {
        self.incidents.last()
    }

    /// The outcome of the episode: of the last incident that has an attempt.
    pub fn outcome(&self) -> Outcome {
        self.incidents
            .iter()
            .rev()
            .find(|incident| !incident.attempts.is_empty())
            .map_or(Outcome::Unknown, PastIncident::outcome)
    }

    /// Whether this incident belongs to it.
    pub fn holds(&self, id: IncidentId) -> bool {
        self.incidents.iter().any(|incident| incident.id == id)
    }

    /// Attempts of this fix or a near-same one, in order of time.
    fn attempts_of<'a>(
        &'a self,
        fix: &'a Phrase,
    ) -> impl DoubleEndedIterator<Item = (&'a PastIncident, &'a FixAttempt, Likeness)> {
        self.incidents
            .iter()
            .zip(&self.phrases)
            .flat_map(move |(incident, phrases)| {
                incident
                    .attempts
                    .iter()
                    .zip(&phrases.fixes)
                    .filter_map(move |(attempt, phrase)| {
                        let likeness = fix.likeness(phrase);
                        (likeness >= Likeness::Near).then_some((incident, attempt, likeness))
                    })
            })
    }

    /// What became of a fix in this episode. `None` where neither it nor a near-same one was tried.
    pub fn outcome_of(&self, fix: &Phrase) -> Option<Outcome> {
        let all: Vec<(Likeness, Outcome)> = self
            .attempts_of(fix)
            .map(|(_, attempt, likeness)| (likeness, attempt.outcome))
            .collect();
        if all.is_empty() {
            return None;
        }
        // A group whose last outcome is refuted is one failure and no proof, whatever held before.
        if self.outcome().standing() == Standing::Refuted {
            return Some(self.outcome());
        }
        let newest_same = all
            .iter()
            .rev()
            .find(|(likeness, _)| *likeness == Likeness::Same)
            .map(|(_, outcome)| *outcome);
        match newest_same {
            Some(outcome) => Some(outcome),
            // Near-same: a failure where it failed, never a proof.
            None => Some(
                all.iter()
                    .rev()
                    .map(|(_, outcome)| *outcome)
                    .find(|outcome| outcome.standing() == Standing::Refuted)
                    .unwrap_or(Outcome::Unknown),
            ),
        }
    }

    /// The newest incident in which this fix (or a near-same one) was tried, when that was seen, and
    /// in which environment.
    pub fn tried<'a>(
        &'a self,
        fix: &'a Phrase,
    ) -> Option<(IncidentId, Option<Timestamp>, Option<&'a str>)> {
        let (incident, attempt, _) = self.attempts_of(fix).next_back()?;
        let environment = attempt
            .environment
            .as_deref()
            .or(incident.environment.as_deref());
        Some((
            incident.id,
            attempt.at.or_else(|| time_of(incident)),
            environment,
        ))
    }

    /// Whether this very fix was tried, not only a near-same one.
    pub fn tried_same(&self, fix: &Phrase) -> bool {
        self.attempts_of(fix)
            .any(|(_, _, likeness)| likeness == Likeness::Same)
    }

    /// The confirmed cause: the newest that one of its incidents has. What a fix proved before the
    /// episode ended in a failure proves nothing; a person's word stays.
    pub fn confirmed_cause(&self) -> Option<&Phrase> {
        let refuted = self.outcome().standing() == Standing::Refuted;
        let newest = self
            .incidents
            .iter()
            .zip(&self.phrases)
            .rev()
            .find(|(incident, _)| {
                incident.confirmed_cause().is_some() && (incident.cause_confirmed || !refuted)
            })?;
        Some(&newest.1.cause)
    }

    /// Incidents of this episode that excluded a cause.
    pub fn excluded_by(&self, is_it: impl Fn(&Phrase) -> bool) -> Vec<IncidentId> {
        self.incidents
            .iter()
            .zip(&self.phrases)
            .filter(|(_, phrases)| phrases.ruled_out.iter().any(&is_it))
            .map(|(incident, _)| incident.id)
            .collect()
    }

    /// Every fix that was tried, as written and prepared.
    pub fn fixes(&self) -> impl Iterator<Item = (IncidentId, &FixAttempt, &Phrase)> {
        self.incidents
            .iter()
            .zip(&self.phrases)
            .flat_map(|(incident, phrases)| {
                incident
                    .attempts
                    .iter()
                    .zip(&phrases.fixes)
                    .map(move |(attempt, phrase)| (incident.id, attempt, phrase))
            })
    }
}

/// When an incident was resolved, else when it began.
pub fn time_of(incident: &PastIncident) -> Option<Timestamp> {
    incident.resolved_at.or(incident.started_at)
}

/// Groups incidents into episodes, in the order of the first of each as given.
pub fn episodes(incidents: &[&PastIncident]) -> Vec<Episode> {
    episodes_as(&PeopleSaid::default(), incidents, None)
}

/// As [`episodes`], with what people said of causes, and with an incident that is no part of any
/// episode but may show that an earlier one came back: the one at hand, once its cause is confirmed.
pub fn episodes_as(
    people: &PeopleSaid,
    incidents: &[&PastIncident],
    at_hand: Option<&PastIncident>,
) -> Vec<Episode> {
    let later: Vec<&PastIncident> = incidents.iter().copied().chain(at_hand).collect();
    let adjusted: Vec<PastIncident> = incidents
        .iter()
        .map(|incident| after_returns(people, incident, &later))
        .collect();
    let mut group: Vec<usize> = (0..adjusted.len()).collect();
    for (i, one) in adjusted.iter().enumerate() {
        for (j, other) in adjusted.iter().enumerate().skip(i + 1) {
            if is_one_episode(people, one, other) {
                let (keep, drop) = (root(&group, i), root(&group, j));
                if let Some(slot) = group.get_mut(keep.max(drop)) {
                    *slot = keep.min(drop);
                }
            }
        }
    }
    let mut seen: Vec<usize> = Vec::new();
    let mut out = Vec::new();
    for wanted in (0..adjusted.len()).map(|i| root(&group, i)) {
        if seen.contains(&wanted) {
            continue;
        }
        seen.push(wanted);
        let mut members: Vec<PastIncident> = adjusted
            .iter()
            .enumerate()
            .filter(|(i, _)| root(&group, *i) == wanted)
            .map(|(_, incident)| incident.clone())
            .collect();
        members
            .sort_by_key(|incident| (time_of(incident).map(|at| at.as_millisecond()), incident.id));
        out.push(Episode::new(people, members));
    }
    out
}

fn root(group: &[usize], mut index: usize) -> usize {
    // Parents always have the smaller index, so this ends.
    while let Some(&parent) = group.get(index) {
        if parent == index {
            break;
        }
        index = parent;
    }
    index
}

fn is_one_episode(people: &PeopleSaid, one: &PastIncident, other: &PastIncident) -> bool {
    let duplicates = one.duplicate_of == Some(other.id)
        || other.duplicate_of == Some(one.id)
        || (one.duplicate_of.is_some() && one.duplicate_of == other.duplicate_of);
    let family = one.parent == Some(other.id)
        || other.parent == Some(one.id)
        || (one.parent.is_some() && one.parent == other.parent);
    if duplicates || family {
        return true;
    }
    let close = match (gap_seconds(one, other), gap_seconds(other, one)) {
        // Both begin before the other ends.
        (Some(a), Some(b)) if a <= 0 && b <= 0 => true,
        (Some(gap), _) if (0..=SAME_EPISODE_HOURS * 3600).contains(&gap) => true,
        (_, Some(gap)) if (0..=SAME_EPISODE_HOURS * 3600).contains(&gap) => true,
        _ => false,
    };
    close && one_service(one, other) && shares_pattern_as(people, one, other)
}

/// The incident that the one at hand is a return of, and after how many whole days: the newest of
/// the same service with a shared pattern that ended within the last seven days (R11). Within a day
/// it is the same episode, and still back.
pub fn returned<'a>(
    people: &PeopleSaid,
    at_hand: &PastIncident,
    past: impl Iterator<Item = &'a Recalled>,
) -> Option<(IncidentId, i64)> {
    past.map(|recalled| (&recalled.incident, recalled.shares_signature))
        .filter(|(earlier, _)| earlier.id != at_hand.id && one_service(earlier, at_hand))
        .filter_map(|(earlier, stands_in_report)| {
            let gap = gap_seconds(earlier, at_hand)?;
            ((0..=RETURN_DAYS * 86_400).contains(&gap)
                && (stands_in_report || shares_pattern_as(people, earlier, at_hand)))
            .then_some((gap, earlier.id))
        })
        .min_by_key(|(gap, id)| (*gap, std::cmp::Reverse(*id)))
        .map(|(gap, id)| (id, gap / 86_400))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn recalled(incident: &PastIncident) -> Recalled {
        Recalled {
            incident: incident.clone(),
            similarity: 0.9,
            shares_signature: false,
            grade: crate::incident::Grade::DirectMatch,
        }
    }

    const PATTERN: &str = "HikariPool-1 - Connection is not available";

    fn incident(number: u32, started: &str, resolved: &str, outcome: Outcome) -> PastIncident {
        let mut incident =
            PastIncident::new(IncidentId::new(number).expect("not zero"), "pool empty");
        incident.service = Some("payments-api".into());
        incident.started_at = started.parse().ok();
        incident.resolved_at = resolved.parse().ok();
        incident.error_signatures = vec![PATTERN.into()];
        incident.attempts = vec![FixAttempt::new("restart the pool", outcome)];
        incident
    }

    fn groups(incidents: &[PastIncident]) -> Vec<(Vec<u32>, Outcome)> {
        let refs: Vec<&PastIncident> = incidents.iter().collect();
        episodes(&refs)
            .iter()
            .map(|episode| {
                (
                    episode
                        .incidents
                        .iter()
                        .map(|incident| incident.id.number())
                        .collect(),
                    episode.outcome(),
                )
            })
            .collect()
    }

    #[test]
    fn r11_the_next_within_a_day_is_one_episode() {
        let incidents = [
            incident(
                1,
                "2026-05-14T02:10:00Z",
                "2026-05-14T02:51:00Z",
                Outcome::Held,
            ),
            incident(
                2,
                "2026-05-14T09:30:00Z",
                "2026-05-14T10:00:00Z",
                Outcome::Held,
            ),
            incident(
                3,
                "2026-09-01T02:10:00Z",
                "2026-09-01T02:51:00Z",
                Outcome::Held,
            ),
        ];
        assert_eq!(
            groups(&incidents),
            [(vec![1, 2], Outcome::Held), (vec![3], Outcome::Held)]
        );
    }

    #[test]
    fn r11_a_return_within_a_week_refutes_the_earlier() {
        let incidents = [
            incident(
                1,
                "2026-05-14T02:10:00Z",
                "2026-05-14T02:51:00Z",
                Outcome::Held,
            ),
            incident(
                2,
                "2026-05-17T02:10:00Z",
                "2026-05-17T02:51:00Z",
                Outcome::Held,
            ),
        ];
        assert_eq!(
            groups(&incidents),
            [(vec![1], Outcome::CameBack), (vec![2], Outcome::Held)]
        );
    }

    #[test]
    fn r11_what_links_nothing() {
        let first = incident(
            1,
            "2026-05-14T02:10:00Z",
            "2026-05-14T02:51:00Z",
            Outcome::Held,
        );
        let mut without_times = incident(2, "", "", Outcome::Held);
        without_times.started_at = None;
        let mut other_pattern = incident(
            3,
            "2026-05-14T03:10:00Z",
            "2026-05-14T03:51:00Z",
            Outcome::Held,
        );
        other_pattern.error_signatures = vec!["certificate has expired".into()];
        let mut other_service = incident(
            4,
            "2026-05-14T03:10:00Z",
            "2026-05-14T03:51:00Z",
            Outcome::Held,
        );
        other_service.service = Some("order-service".into());
        let mut later = incident(
            5,
            "2026-05-22T02:10:00Z",
            "2026-05-22T02:51:00Z",
            Outcome::Held,
        );
        later.root_cause = String::new();
        assert_eq!(
            groups(&[first, without_times, other_pattern, other_service, later]).len(),
            5
        );
    }

    #[test]
    fn r11_duplicates_and_families_count_once() {
        let mut incidents = [
            incident(
                1,
                "2026-05-14T02:10:00Z",
                "2026-05-14T02:51:00Z",
                Outcome::Held,
            ),
            incident(
                2,
                "2026-07-14T02:10:00Z",
                "2026-07-14T02:51:00Z",
                Outcome::Held,
            ),
            incident(
                3,
                "2026-09-14T02:10:00Z",
                "2026-09-14T02:51:00Z",
                Outcome::Held,
            ),
        ];
        {
            let [_, second, third] = &mut incidents;
            second.duplicate_of = IncidentId::new(1);
            third.parent = IncidentId::new(9);
        }
        assert_eq!(groups(&incidents).len(), 2);
        {
            let [first, _, _] = &mut incidents;
            first.parent = IncidentId::new(9);
        }
        assert_eq!(groups(&incidents).len(), 1);
    }

    #[test]
    fn r11_a_group_whose_last_is_refuted_is_one_failure() {
        let incidents = [
            incident(
                1,
                "2026-05-14T02:10:00Z",
                "2026-05-14T02:51:00Z",
                Outcome::Held,
            ),
            incident(
                2,
                "2026-05-14T09:30:00Z",
                "2026-05-14T10:00:00Z",
                Outcome::NoEffect,
            ),
        ];
        let refs: Vec<&PastIncident> = incidents.iter().collect();
        let episodes = episodes(&refs);
        assert_eq!(episodes.len(), 1);
        assert_eq!(
            episodes
                .first()
                .and_then(|episode| episode.outcome_of(&Phrase::new("restart the pool"))),
            Some(Outcome::NoEffect)
        );
    }

    #[test]
    fn r11_overlapping_incidents_are_one() {
        let incidents = [
            incident(
                1,
                "2026-05-14T02:10:00Z",
                "2026-05-14T06:00:00Z",
                Outcome::Held,
            ),
            incident(
                2,
                "2026-05-14T03:00:00Z",
                "2026-05-14T05:00:00Z",
                Outcome::Held,
            ),
        ];
        assert_eq!(groups(&incidents).len(), 1);
    }

    /// The first incident ends at 03:00 of the first of May; the next begins so much later.
    #[test]
    fn r11_a_day_and_a_week_to_the_second() {
        let first = incident(
            1,
            "2026-05-01T02:00:00Z",
            "2026-05-01T03:00:00Z",
            Outcome::Held,
        );
        for (later, episodes, outcome, back) in [
            // Begins before the first ended: they overlap.
            ("2026-05-01T02:59:59Z", 1, Outcome::Held, None),
            ("2026-05-01T03:00:00Z", 1, Outcome::Held, Some(0)),
            ("2026-05-02T02:59:59Z", 1, Outcome::Held, Some(0)),
            // A day to the second is still the same episode.
            ("2026-05-02T03:00:00Z", 1, Outcome::Held, Some(1)),
            ("2026-05-02T03:00:01Z", 2, Outcome::CameBack, Some(1)),
            ("2026-05-04T03:00:00Z", 2, Outcome::CameBack, Some(3)),
            // A week to the second is still a return.
            ("2026-05-08T03:00:00Z", 2, Outcome::CameBack, Some(7)),
            ("2026-05-08T03:00:01Z", 2, Outcome::Held, None),
            ("2026-11-08T03:00:00Z", 2, Outcome::Held, None),
        ] {
            let second = incident(2, later, "2026-12-01T00:00:00Z", Outcome::Held);
            let found = groups(&[first.clone(), second.clone()]);
            assert_eq!(found.len(), episodes, "{later}");
            assert_eq!(
                found.first().map(|(_, outcome)| *outcome),
                Some(outcome),
                "{later}"
            );
            let people = PeopleSaid::default();
            assert_eq!(
                returned(&people, &second, std::iter::once(&recalled(&first)))
                    .map(|(_, days)| days),
                back,
                "{later}"
            );
        }
    }

    #[test]
    fn r11_duplicates_parents_and_chains() {
        let base = |number: u32, month: u32| {
            incident(
                number,
                &format!("2026-{month:02}-01T02:00:00Z"),
                &format!("2026-{month:02}-01T03:00:00Z"),
                Outcome::Held,
            )
        };
        // (number, duplicate of, parent) of four incidents, months apart.
        type Links = [(Option<u32>, Option<u32>); 4];
        let tables: [(Links, usize); 8] = [
            ([(None, None); 4], 4),
            (
                [(None, None), (Some(1), None), (None, None), (None, None)],
                3,
            ),
            // A duplicate of a duplicate is one component.
            (
                [(None, None), (Some(1), None), (Some(2), None), (None, None)],
                2,
            ),
            // Two of one that was not recalled.
            (
                [(Some(9), None), (Some(9), None), (None, None), (None, None)],
                3,
            ),
            (
                [
                    (None, Some(9)),
                    (None, Some(9)),
                    (None, Some(9)),
                    (None, None),
                ],
                2,
            ),
            (
                [
                    (None, None),
                    (None, Some(1)),
                    (None, Some(1)),
                    (Some(3), None),
                ],
                1,
            ),
            // One that points nowhere links nothing.
            (
                [(Some(9), None), (None, Some(8)), (None, None), (None, None)],
                4,
            ),
            // A circle ends.
            (
                [(Some(2), None), (Some(1), None), (None, None), (None, None)],
                3,
            ),
        ];
        for (links, expected) in tables {
            let all: Vec<PastIncident> = links
                .iter()
                .zip(1..)
                .map(|((duplicate_of, parent), number)| {
                    let mut one = base(number, number * 2);
                    one.duplicate_of = duplicate_of.and_then(IncidentId::new);
                    one.parent = parent.and_then(IncidentId::new);
                    one
                })
                .collect();
            assert_eq!(groups(&all).len(), expected, "{links:?}");
        }
    }

    #[test]
    fn r11_the_incident_at_hand_changes_an_outcome_only_once_its_cause_is_confirmed() {
        let earlier = incident(
            1,
            "2026-05-01T02:00:00Z",
            "2026-05-01T03:00:00Z",
            Outcome::Held,
        );
        let mut at_hand = incident(2, "2026-05-04T02:00:00Z", "", Outcome::Unknown);
        at_hand.attempts.clear();
        let people = PeopleSaid::default();
        let outcome = |returning: Option<&PastIncident>| {
            episodes_as(&people, &[&earlier], returning)
                .first()
                .map(Episode::outcome)
        };
        assert_eq!(outcome(None), Some(Outcome::Held));
        assert_eq!(outcome(Some(&at_hand)), Some(Outcome::CameBack));
        // Another kind of trouble changes nothing.
        at_hand.error_signatures = vec!["certificate has expired".into()];
        assert_eq!(outcome(Some(&at_hand)), Some(Outcome::Held));
    }
}

//! What memory gave, in one word and its counts (R4): from the recalled set, whatever the model said.

use super::analysis::{LastTime, MemoryStatus, MemoryVerdict};
use super::episodes::{self, Episode, time_of};
use crate::incident::{IncidentId, Memory, PastIncident, Standing};

/// The verdict over the episodes of the direct matches. `shown_fix` gives a fix as it may be shown.
pub(super) fn verdict(
    memory: &Memory,
    episodes: &[Episode],
    shown_fix: impl Fn(&str) -> String,
) -> MemoryVerdict {
    let count = |standing: Standing| {
        let matching = episodes
            .iter()
            .filter(|episode| episode.outcome().standing() == standing);
        u32::try_from(matching.count()).unwrap_or(u32::MAX)
    };
    let (held, failed, unknown) = (
        count(Standing::Verified),
        count(Standing::Refuted),
        count(Standing::Hypothesis),
    );
    let analogies: Vec<&PastIncident> = memory
        .analogies()
        .map(|recalled| &recalled.incident)
        .collect();
    let elsewhere = u32::try_from(episodes::episodes(&analogies).len()).unwrap_or(u32::MAX);
    let status = match memory {
        Memory::Disabled => MemoryStatus::Disabled,
        Memory::Unavailable => MemoryStatus::Unavailable,
        // What a source that failed might have had, nobody can say.
        Memory::Partial { .. } if (held, failed, unknown, elsewhere) == (0, 0, 0, 0) => {
            MemoryStatus::Unavailable
        }
        Memory::Searched { .. } | Memory::Partial { .. } => match (held, failed, unknown) {
            (0, 0, 0) if elsewhere == 0 => MemoryStatus::NoMatch,
            (0, 0, 0) => MemoryStatus::AnalogyOnly,
            (0, 1.., 0) => MemoryStatus::RefutedOnly,
            (0, _, _) => MemoryStatus::Unproven,
            (_, 0, _) => MemoryStatus::Proven,
            _ => MemoryStatus::Mixed,
        },
    };
    let (searched, on_service) = match memory {
        Memory::Searched {
            searched,
            on_service,
            ..
        }
        | Memory::Partial {
            searched,
            on_service,
            ..
        } => (Some(*searched), Some(*on_service)),
        Memory::Disabled | Memory::Unavailable => (None, None),
    };
    let refs: Vec<IncidentId> = memory
        .direct()
        .chain(memory.analogies())
        .map(|recalled| recalled.incident.id)
        .collect();
    let last = episodes
        .iter()
        .filter_map(Episode::last)
        .max_by_key(|incident| (time_of(incident).map(|at| at.as_millisecond()), incident.id))
        .map(|incident| LastTime {
            id: incident.id,
            at: time_of(incident),
            outcome: incident.outcome(),
            fix: incident.fix().map(&shown_fix).unwrap_or_default(),
            minutes: incident.minutes_to_resolve(),
        });
    MemoryVerdict {
        status,
        refs,
        here: u32::try_from(episodes.len()).unwrap_or(u32::MAX),
        held,
        failed,
        unknown,
        elsewhere,
        searched,
        on_service,
        partial: matches!(memory, Memory::Partial { .. }),
        last,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::incident::{FixAttempt, Grade, Outcome, Recalled};

    fn status(outcomes: &[(Grade, Outcome)]) -> MemoryStatus {
        let recalled: Vec<Recalled> = outcomes
            .iter()
            .zip(1..)
            .filter_map(|((grade, outcome), number)| {
                let mut incident = PastIncident::new(IncidentId::new(number)?, "title");
                incident.service = Some("a".into());
                incident.attempts = vec![FixAttempt::new("fix", *outcome)];
                Some(Recalled {
                    incident,
                    similarity: 0.9,
                    shares_signature: true,
                    grade: *grade,
                })
            })
            .collect();
        let memory = Memory::Searched {
            searched: 9,
            on_service: 3,
            recalled,
        };
        let direct: Vec<&PastIncident> =
            memory.direct().map(|recalled| &recalled.incident).collect();
        verdict(
            &memory,
            &super::super::episodes::episodes(&direct),
            str::to_owned,
        )
        .status
    }

    #[test]
    fn r4_statuses() {
        use Grade::{Analogy, DirectMatch, Low};
        for (outcomes, expected) in [
            (vec![], MemoryStatus::NoMatch),
            (vec![(Low, Outcome::Held)], MemoryStatus::NoMatch),
            (vec![(Analogy, Outcome::Held)], MemoryStatus::AnalogyOnly),
            (
                vec![(DirectMatch, Outcome::Unknown)],
                MemoryStatus::Unproven,
            ),
            (
                vec![(DirectMatch, Outcome::Mitigated)],
                MemoryStatus::Unproven,
            ),
            (
                vec![
                    (DirectMatch, Outcome::NoEffect),
                    (DirectMatch, Outcome::Unknown),
                ],
                MemoryStatus::Unproven,
            ),
            (
                vec![(DirectMatch, Outcome::MadeWorse)],
                MemoryStatus::RefutedOnly,
            ),
            (
                vec![
                    (DirectMatch, Outcome::Held),
                    (DirectMatch, Outcome::CameBack),
                ],
                MemoryStatus::Mixed,
            ),
            (
                vec![
                    (DirectMatch, Outcome::Held),
                    (DirectMatch, Outcome::Unknown),
                ],
                MemoryStatus::Proven,
            ),
        ] {
            assert_eq!(status(&outcomes), expected, "{outcomes:?}");
        }
    }

    #[test]
    fn r4_unavailable_and_disabled_are_not_no_match() {
        for (memory, expected) in [
            (Memory::Disabled, MemoryStatus::Disabled),
            (Memory::Unavailable, MemoryStatus::Unavailable),
            (
                Memory::Partial {
                    searched: 7,
                    on_service: 1,
                    recalled: Vec::new(),
                },
                MemoryStatus::Unavailable,
            ),
        ] {
            assert_eq!(verdict(&memory, &[], str::to_owned).status, expected);
        }
    }
}

//! Learned patterns: what three or more independent episodes of one service share (R2, R11).
//!
//! Derived from records each time, never kept: what people forget, correct or mark as a duplicate
//! changes the pattern at the next look. Only its number is kept elsewhere, so that `P1` stays `P1`.

use super::episodes::episodes_as;
use crate::incident::sameness::{
    PeopleSaid, Phrase, one_service, one_signature, telling_signatures,
};
use crate::incident::{IncidentId, PastIncident, Shared};

/// Fewest independent episodes of a pattern.
pub const FEWEST_EPISODES: usize = 3;
/// Most incidents that are looked at together; comparing is quadratic.
const MOST_LOOKED_AT: usize = 120;
/// Most patterns of one look: a prompt and a list hold no more.
const MOST_PATTERNS: usize = 4;

/// A pattern before it has a number.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Found {
    /// Canonical name of the service.
    pub service: String,
    /// What the incidents share.
    pub shared: Shared,
    /// The cause or the error line, as the newest of them has it.
    pub words: String,
    /// The incidents, by number.
    pub incidents: Vec<IncidentId>,
    /// How many independent episodes they are.
    pub episodes: u32,
}

/// The patterns among these incidents: those of the most episodes first. Where the same incidents
/// share a cause and a signature, the cause is the pattern.
pub fn found(people: &PeopleSaid, incidents: &[&PastIncident]) -> Vec<Found> {
    let looked_at = incidents.get(..MOST_LOOKED_AT).unwrap_or(incidents);
    let prepared: Vec<Prepared<'_>> = looked_at
        .iter()
        .filter(|incident| incident.service.is_some())
        .map(|incident| Prepared {
            incident,
            cause: people.phrase(&incident.root_cause),
            signatures: telling_signatures(incident),
        })
        .collect();
    let mut out: Vec<Found> = Vec::new();
    for one in &prepared {
        let same_service = || {
            prepared
                .iter()
                .filter(|other| one_service(one.incident, other.incident))
        };
        let by_cause: Vec<&Prepared<'_>> = same_service()
            .filter(|other| one.cause.same(&other.cause))
            .collect();
        keep(people, Shared::Cause, &by_cause, &mut out);
        for mine in &one.signatures {
            let by_signature: Vec<&Prepared<'_>> = same_service()
                .filter(|other| {
                    let mut theirs = other.signatures.iter();
                    theirs.any(|their| one_signature(mine, their))
                })
                .collect();
            keep(people, Shared::Signature, &by_signature, &mut out);
        }
    }
    out.sort_by_key(|found| {
        (
            std::cmp::Reverse(found.episodes),
            found.shared,
            found.incidents.clone(),
        )
    });
    let mut kept: Vec<Found> = Vec::new();
    for found in out {
        // The cause comes first among equals; part of a larger one of its kind is that one.
        let told = kept.iter().any(|known| {
            let within = found
                .incidents
                .iter()
                .all(|id| known.incidents.contains(id));
            within && (known.shared == found.shared || known.incidents == found.incidents)
        });
        if !told && kept.len() < MOST_PATTERNS {
            kept.push(found);
        }
    }
    kept
}

struct Prepared<'a> {
    incident: &'a PastIncident,
    cause: Phrase,
    signatures: Vec<(Vec<String>, std::collections::BTreeSet<String>)>,
}

fn keep(people: &PeopleSaid, shared: Shared, members: &[&Prepared<'_>], out: &mut Vec<Found>) {
    if members.len() < FEWEST_EPISODES {
        return;
    }
    let mut ids: Vec<IncidentId> = members.iter().map(|one| one.incident.id).collect();
    ids.sort_unstable();
    ids.dedup();
    if out
        .iter()
        .any(|known| known.shared == shared && known.incidents == ids)
    {
        return;
    }
    let incidents: Vec<&PastIncident> = members.iter().map(|one| one.incident).collect();
    let episodes = episodes_as(people, &incidents, None).len();
    if episodes < FEWEST_EPISODES {
        return;
    }
    let Some(newest) = incidents
        .iter()
        .max_by_key(|incident| (incident.resolved_at.or(incident.started_at), incident.id))
    else {
        return;
    };
    let words = match shared {
        Shared::Cause => newest.root_cause.clone(),
        Shared::Signature => newest
            .error_signatures
            .iter()
            .find(|line| {
                let codes = crate::incident::sameness::error_codes(line);
                crate::incident::sameness::telling_signature(line).is_some_and(|words| {
                    let mine = (words, codes);
                    members.iter().all(|member| {
                        member
                            .signatures
                            .iter()
                            .any(|their| one_signature(&mine, their))
                    })
                })
            })
            .cloned()
            .unwrap_or_default(),
    };
    out.push(Found {
        service: newest.service.clone().unwrap_or_default(),
        shared,
        words,
        incidents: ids,
        episodes: u32::try_from(episodes).unwrap_or(u32::MAX),
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    fn incident(number: u32, service: &str, day: &str, cause: &str, error: &str) -> PastIncident {
        let id = IncidentId::new(number).expect("not zero");
        let mut incident = PastIncident::new(id, "title");
        incident.service = Some(service.to_owned()).filter(|name| !name.is_empty());
        incident.started_at = format!("{day}T02:00:00Z").parse().ok();
        incident.resolved_at = format!("{day}T03:00:00Z").parse().ok();
        incident.root_cause = cause.to_owned();
        incident.error_signatures = vec![error.to_owned()];
        incident
    }

    const POOL: &str = "TillPool - no connection available, timed out after 30000ms";
    const JOB: &str = "The refund job keeps connections open";

    fn ids(all: &[PastIncident]) -> Vec<(Shared, Vec<u32>, u32)> {
        let refs: Vec<&PastIncident> = all.iter().collect();
        found(&PeopleSaid::default(), &refs)
            .into_iter()
            .map(|found| {
                let numbers = found.incidents.iter().map(|id| id.number()).collect();
                (found.shared, numbers, found.episodes)
            })
            .collect()
    }

    #[test]
    fn what_is_no_pattern() {
        let of = |rows: &[(u32, &str, &str, &str, &str)]| -> Vec<PastIncident> {
            rows.iter()
                .map(|(number, service, day, cause, error)| {
                    incident(*number, service, day, cause, error)
                })
                .collect()
        };
        for (why, rows) in [
            (
                "two are a coincidence",
                of(&[
                    (1, "pay", "2026-01-01", JOB, POOL),
                    (2, "pay", "2026-03-01", JOB, POOL),
                ]),
            ),
            (
                "three of one day are one episode",
                of(&[
                    (1, "pay", "2026-01-01", JOB, POOL),
                    (2, "pay", "2026-01-01", JOB, POOL),
                    (3, "pay", "2026-01-02", JOB, POOL),
                ]),
            ),
            (
                "three services",
                of(&[
                    (1, "pay", "2026-01-01", JOB, POOL),
                    (2, "order", "2026-03-01", JOB, POOL),
                    (3, "cart", "2026-05-01", JOB, POOL),
                ]),
            ),
            (
                "no service",
                of(&[
                    (1, "", "2026-01-01", JOB, POOL),
                    (2, "", "2026-03-01", JOB, POOL),
                    (3, "", "2026-05-01", JOB, POOL),
                ]),
            ),
            (
                "other codes",
                of(&[
                    (1, "pay", "2026-01-01", "", "upstream returned 429"),
                    (2, "pay", "2026-03-01", "", "upstream returned 503"),
                    (3, "pay", "2026-05-01", "", "upstream returned 500"),
                ]),
            ),
        ] {
            assert_eq!(ids(&rows), [], "{why}");
        }
    }

    #[test]
    fn three_independent_episodes_are_one() {
        let mut all = vec![
            incident(4, "pay", "2026-05-01", JOB, POOL),
            incident(1, "pay", "2026-01-01", JOB, POOL),
            incident(
                2,
                "pay",
                "2026-03-01",
                "Refund job keeps the connections open",
                POOL,
            ),
            incident(
                3,
                "pay",
                "2026-03-01",
                JOB,
                "something else entirely happened",
            ),
            incident(9, "order", "2026-03-01", JOB, POOL),
        ];
        // By cause four incidents in three episodes; the signature of three of them makes no second
        // pattern of the same night.
        assert_eq!(
            ids(&all),
            [
                (Shared::Cause, vec![1, 2, 3, 4], 3),
                (Shared::Signature, vec![1, 2, 4], 3)
            ]
        );
        // A duplicate is no episode of its own.
        if let Some(first) = all.first_mut() {
            first.duplicate_of = IncidentId::new(1);
        }
        assert_eq!(ids(&all), []);
    }

    #[test]
    fn people_may_join_what_words_hold_apart() {
        let all = [
            incident(1, "pay", "2026-01-01", "Refund job leak", ""),
            incident(2, "pay", "2026-03-01", "Connections kept by the batch", ""),
            incident(3, "pay", "2026-05-01", "Connections kept by the batch", ""),
        ];
        let refs: Vec<&PastIncident> = all.iter().collect();
        let mut people = PeopleSaid::default();
        assert_eq!(found(&people, &refs), []);
        people.note("Refund job leak", "Connections kept by the batch", true);
        let patterns = found(&people, &refs);
        assert_eq!(patterns.len(), 1);
        assert_eq!(
            patterns.first().map(|found| found.words.as_str()),
            Some("Connections kept by the batch")
        );
    }
}

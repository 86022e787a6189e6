//! Two sources of candidates made one: the database, which is the record, and Hindsight beside it.
//!
//! Wanted: whatever Hindsight names is shown as our own record says it, and only where our own
//! record may be seen; what we have no record of is a fragment and no proof; a source that failed is
//! said to be missing, and is never "no match" (R4).
//!
//! Design: candidates are united by rank, because the two kinds of score have nothing in common:
//! each incident gets `1 / (60 + rank)` from each source that names it. What then counts is our own
//! similarity and grade, as for every other candidate (R5): a hit of Hindsight's that our own words
//! do not confirm is *low* like any other.
//!
//! - Both answered: searched.
//! - Hindsight failed: in part. What the database found stands; if it found nothing, memory is
//!   unavailable, for the missing source might have.
//! - The database failed: unavailable, whatever Hindsight says: without our records nobody knows
//!   who may see what it names.

use super::mirror::Mirror;
use crate::incident::{IncidentId, PastIncident};
use crate::memory::hindsight::{Fragment, Hindsight, HindsightError};
use crate::memory::{Found, MemoryError};
use crate::store::{KnownHere, Store};
use std::collections::HashMap;

/// How fast a rank loses weight: the constant of reciprocal rank fusion as it was published, which
/// lets the first of either source stand before the tenth of both.
const RANK_CONSTANT: f64 = 60.0;

/// Hindsight, joined with our own records.
#[derive(Clone)]
pub struct Second {
    hindsight: Hindsight,
    store: Store,
    mirror: Mirror,
    reflects: bool,
}

/// The second source could not say.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Missing;

/// What is asked of it.
#[derive(Clone, Debug)]
pub struct Asked {
    /// The guild, as stored.
    pub guild: String,
    /// The channel that asks; empty: public records only.
    pub channel: String,
    /// The incident at hand: never recalled.
    pub own: Option<IncidentId>,
    /// In words.
    pub question: String,
}

impl Second {
    /// This server, with the records of this database.
    pub fn new(store: Store, hindsight: Hindsight, reflects: bool) -> Self {
        Self {
            mirror: Mirror::new(store.clone(), hindsight.clone()),
            hindsight,
            store,
            reflects,
        }
    }

    /// What tells the server of our records.
    pub fn mirror(&self) -> &Mirror {
        &self.mirror
    }

    /// Candidates, best first: our own records of what the server names, and fragments of what we
    /// have no record of. `redact` is applied to every text that is not our own.
    ///
    /// # Errors
    ///
    /// Where it could not say.
    pub async fn recall(
        &self,
        asked: &Asked,
        redact: impl Fn(&str) -> String,
    ) -> Result<Vec<PastIncident>, Missing> {
        let named = match self
            .hindsight
            .recall(&asked.guild, &asked.channel, &asked.question)
            .await
        {
            Ok(named) => named,
            Err(HindsightError::NoBank) => return self.without_a_bank(&asked.guild).await,
            Err(_) => return Err(Missing),
        };
        if named.is_empty() {
            return Ok(Vec::new());
        }
        let ids: Vec<IncidentId> = named.iter().map(|fragment| fragment.id).collect();
        let known = self
            .store
            .known_here(&asked.guild, &asked.channel, asked.own, &ids)
            .await
            .map_err(|error| {
                tracing::error!(
                    error = &error as &dyn std::error::Error,
                    "what Hindsight named can't be looked up"
                );
                Missing
            })?;
        Ok(joined(named, known, asked.own, redact))
    }

    /// No bank is nothing to recall where nothing was ever retained, and a loss where something was.
    async fn without_a_bank(&self, guild: &str) -> Result<Vec<PastIncident>, Missing> {
        match self
            .store
            .hindsight_lost(&self.hindsight.name(), guild)
            .await
        {
            Ok(0) => Ok(Vec::new()),
            Ok(lost) => {
                tracing::warn!(lost, "Hindsight lost a bank; all is told again");
                self.mirror.wake();
                Err(Missing)
            }
            Err(_) => Err(Missing),
        }
    }

    /// What the server's own model makes of its memories, if it has one and answers in time.
    pub async fn reflect(&self, asked: &Asked) -> Option<String> {
        if !self.reflects {
            return None;
        }
        let question = format!(
            "An incident is running. What do past incidents say about its likely cause, and which \
             read-only check comes first? What failed before? {}",
            asked.question
        );
        self.hindsight
            .reflect(&asked.guild, &asked.channel, &question)
            .await
            .ok()
            .flatten()
    }
}

/// Our own records of what was named, and fragments of what we never knew.
fn joined(
    named: Vec<Fragment>,
    known: Vec<KnownHere>,
    own: Option<IncidentId>,
    redact: impl Fn(&str) -> String,
) -> Vec<PastIncident> {
    let mut by_id: HashMap<IncidentId, Option<PastIncident>> = known
        .into_iter()
        .map(|known| match known {
            KnownHere::Record(past) => (past.id, Some(*past)),
            KnownHere::Hidden(id) => (id, None),
        })
        .collect();
    named
        .into_iter()
        .filter(|fragment| Some(fragment.id) != own)
        .filter_map(|mut fragment| match by_id.remove(&fragment.id) {
            Some(known) => known,
            None => {
                for text in &mut fragment.texts {
                    *text = redact(text);
                }
                Some(fragment.record())
            }
        })
        .collect()
}

/// What both sources together found: `None` of the second where there is none.
pub enum Recollected {
    /// Every source that there is answered.
    Whole(Found),
    /// The second did not.
    InPart(Found),
    /// Nobody can say.
    Failed(MemoryError),
}

/// Unites what the database found with what the second source named.
pub fn united(
    found: Result<Found, MemoryError>,
    second: Option<Result<Vec<PastIncident>, Missing>>,
) -> Recollected {
    match (found, second) {
        (Err(error), _) => Recollected::Failed(error),
        (Ok(found), None) => Recollected::Whole(found),
        (Ok(found), Some(Err(Missing))) => Recollected::InPart(found),
        (Ok(mut found), Some(Ok(named))) => {
            found.candidates = by_rank(found.candidates, named);
            Recollected::Whole(found)
        }
    }
}

/// Reciprocal rank fusion; equal ones in the first source's order, then the second's.
fn by_rank(first: Vec<PastIncident>, second: Vec<PastIncident>) -> Vec<PastIncident> {
    let mut all: Vec<(f64, PastIncident)> = Vec::with_capacity(first.len() + second.len());
    let mut places: HashMap<IncidentId, usize> = HashMap::new();
    for source in [first, second] {
        for (rank, past) in source.into_iter().enumerate() {
            let points = 1.0 / (RANK_CONSTANT + rank as f64 + 1.0);
            match places.get(&past.id).and_then(|place| all.get_mut(*place)) {
                Some((sum, _)) => *sum += points,
                None => {
                    places.insert(past.id, all.len());
                    all.push((points, past));
                }
            }
        }
    }
    all.sort_by(|(one, _), (other, _)| other.total_cmp(one));
    all.into_iter().map(|(_, past)| past).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn past(number: u32) -> PastIncident {
        let id = IncidentId::new(number).expect("not zero");
        PastIncident::new(id, format!("own {number}"))
    }

    fn numbers(all: &[PastIncident]) -> Vec<u32> {
        all.iter().map(|past| past.id.number()).collect()
    }

    #[test]
    fn sources_are_united_by_rank() {
        for (first, second, expected) in [
            (vec![], vec![], vec![]),
            (vec![1, 2], vec![], vec![1, 2]),
            (vec![], vec![3, 4], vec![3, 4]),
            (vec![1, 2, 3], vec![3], vec![3, 1, 2]),
            (vec![1, 2], vec![3, 1], vec![1, 3, 2]),
            (vec![1, 2], vec![3, 4], vec![1, 3, 2, 4]),
            (vec![1, 1, 2], vec![2, 2], vec![2, 1]),
        ] {
            let of = |numbers: &[u32]| numbers.iter().map(|number| past(*number)).collect();
            assert_eq!(
                numbers(&by_rank(of(&first), of(&second))),
                expected,
                "{first:?} {second:?}"
            );
        }
    }

    #[test]
    fn a_source_that_failed_is_never_an_empty_answer() {
        let found = || {
            Ok(Found {
                searched: 3,
                on_service: 1,
                candidates: vec![past(1)],
                ..Found::default()
            })
        };
        let down = || Err(MemoryError::Unavailable(sqlx::Error::PoolClosed));
        assert!(matches!(united(found(), None), Recollected::Whole(_)));
        assert!(matches!(
            united(found(), Some(Ok(vec![past(2)]))),
            Recollected::Whole(found) if numbers(&found.candidates) == [1, 2]
        ));
        assert!(matches!(
            united(found(), Some(Err(Missing))),
            Recollected::InPart(found) if numbers(&found.candidates) == [1]
        ));
        for second in [None, Some(Ok(vec![past(2)])), Some(Err(Missing))] {
            assert!(matches!(united(down(), second), Recollected::Failed(_)));
        }
    }

    #[test]
    fn what_is_named_is_our_own_record_or_a_fragment_or_not_shown() {
        let id = |number| IncidentId::new(number).expect("not zero");
        let fragment = |number| Fragment {
            id: id(number),
            texts: vec![format!("secret {number}")],
            at: None,
        };
        let named = [1, 2, 3, 4, 5].map(fragment).to_vec();
        let known = vec![
            KnownHere::Record(Box::new(past(2))),
            // Private elsewhere, or forgotten.
            KnownHere::Hidden(id(3)),
        ];
        let all = joined(named, known, Some(id(5)), |text| {
            text.replace("secret", "[struck]")
        });
        let shown: Vec<(String, bool)> = all
            .iter()
            .map(|past| (past.title.clone(), past.is_fragment()))
            .collect();
        assert_eq!(
            shown,
            [
                ("[struck] 1".to_owned(), true),
                ("own 2".to_owned(), false),
                ("[struck] 4".to_owned(), true)
            ]
        );
    }
}

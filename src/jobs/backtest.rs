//! What the bot would have said: a team's own incidents, each seen with only what was known before.
//!
//! Wanted: the product's own stages (triage, recall, grades, rules, validation), nothing kinder; and
//! not one byte written where the memory is (R29). The records are read once, and played into a
//! database in memory in the order of time: an incident sees what was over before it began, with
//! outcomes as they were known by then.
//!
//! Incidents without any time see all of those that have one, and are counted.
//!
//! An *earlier match* is an incident of the same service that shares an error signature, the cause
//! or the fix (by [`crate::incident::sameness::same`]), or that people marked as the same. *Right fix first*: the
//! first card proposes the fix that ended the incident, by the same function. *Wrong above 55*: a
//! card scored above 55 that neither says cause or fix of the incident (not even nearly) nor rests
//! on an earlier match. *Nothing like this*: no card rests on memory.

use super::respond::{Recollection, Reported, Responder};
use crate::incident::sameness::{near_or_same, one_service, same, shares_pattern};
use crate::incident::{Grade, IncidentId, Locale, Outcome, PastIncident, Report};
use crate::memory;
use crate::response::redact::Key;
use crate::response::triage::Said;
use crate::store::{Entry, Store, StoreError};
use crate::validation::Analysis;
use crate::validation::analysis::{MemoryStatus, Source};
use crate::validation::episodes::time_of;
use jiff::Timestamp;
use serde::Serialize;
use std::collections::HashSet;

/// Above this score a wrong card is counted: the top of what one proof may give begins there (R8).
pub const WRONG_ABOVE: u8 = 55;
/// Records read at once.
const PAGE: u32 = 1000;

/// One incident, as the bot would have met it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Replayed {
    /// The incident.
    pub id: IncidentId,
    /// It has no time: everything that has one was before it.
    pub undated: bool,
    /// Incidents known by then.
    pub known: usize,
    /// Earlier matches.
    pub matches: Vec<IncidentId>,
    /// What memory said.
    pub status: MemoryStatus,
    /// What was recalled and shown.
    pub recalled: Vec<IncidentId>,
    /// An earlier match is among them.
    pub found: bool,
    /// The first card rests on an earlier match.
    pub right_incident_first: bool,
    /// The first card proposes the fix that ended it; `None` where nobody said which did.
    pub right_fix_first: Option<bool>,
    /// A wrong card stood above [`WRONG_ABOVE`]; `None` where neither cause nor fix is known.
    pub wrong_above: Option<bool>,
    /// No card rested on memory.
    pub nothing_like_this: bool,
    /// The score of the first card.
    pub first_score: Option<u8>,
}

/// The sums.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Backtest {
    /// Incidents that were replayed.
    pub incidents: usize,
    /// Of these, without any time: replayed last.
    pub undated: usize,
    /// Had an earlier match.
    pub had_match: usize,
    /// Of those: it was recalled and shown.
    pub found: usize,
    /// Of those: the first card rests on it.
    pub right_incident_first: usize,
    /// Of those: the fix that ended the incident is known.
    pub fix_known: usize,
    /// Of those: the first card proposes it.
    pub right_fix_first: usize,
    /// Of all: cause or fix is known, so that a card can be wrong.
    pub judged: usize,
    /// Of those: something wrong stood above [`WRONG_ABOVE`].
    pub wrong_above: usize,
    /// Had no earlier match.
    pub had_none: usize,
    /// Of those: the bot said that there was nothing like it.
    pub honest_nothing: usize,
}

impl Backtest {
    fn add(&mut self, one: &Replayed) {
        self.incidents += 1;
        self.undated += usize::from(one.undated);
        if one.matches.is_empty() {
            self.had_none += 1;
            self.honest_nothing += usize::from(one.nothing_like_this);
        } else {
            self.had_match += 1;
            self.found += usize::from(one.found);
            self.right_incident_first += usize::from(one.right_incident_first);
            self.fix_known += usize::from(one.right_fix_first.is_some());
            self.right_fix_first += usize::from(one.right_fix_first == Some(true));
        }
        self.judged += usize::from(one.wrong_above.is_some());
        self.wrong_above += usize::from(one.wrong_above == Some(true));
    }

    /// As an operator reads it.
    pub fn sentences(&self) -> String {
        let plural = |many: usize| if many == 1 { "" } else { "s" };
        let mut out = format!(
            "{} incident{}: {} had an earlier match, right fix first in {}, wrong above {WRONG_ABOVE}: {}\n",
            self.incidents,
            plural(self.incidents),
            self.had_match,
            self.right_fix_first,
            self.wrong_above,
        );
        out.push_str(&format!(
            "of the {} with an earlier match: found in {}, first card rests on it in {}; the fix is known in {}\n",
            self.had_match, self.found, self.right_incident_first, self.fix_known
        ));
        out.push_str(&format!(
            "of the {} without one: said \"nothing like this\" in {}\n",
            self.had_none, self.honest_nothing
        ));
        if self.undated > 0 {
            out.push_str(&format!(
                "{} without a time were replayed last, after all others\n",
                self.undated
            ));
        }
        out
    }
}

/// A record as it was known from a moment on.
struct Version {
    from: Timestamp,
    entry: Entry,
}

/// The versions of a record: when it was over, and whenever more was said of what was tried in it.
fn versions(past: &PastIncident, private_to: Option<&str>) -> Vec<Version> {
    let Some(over) = time_of(past) else {
        return Vec::new();
    };
    let mut moments: Vec<Timestamp> = past
        .attempts
        .iter()
        .filter_map(|attempt| attempt.at)
        .filter(|at| *at > over)
        .collect();
    moments.push(over);
    moments.sort();
    moments.dedup();
    moments
        .into_iter()
        .map(|from| {
            let mut known = past.clone();
            for attempt in &mut known.attempts {
                if attempt.at.is_some_and(|at| at > from) {
                    attempt.outcome = Outcome::Unknown;
                    attempt.at = None;
                }
            }
            Version {
                from,
                entry: Entry {
                    id: Some(past.id),
                    past: known,
                    private_to: private_to.map(str::to_owned),
                },
            }
        })
        .collect()
}

/// Replays every past incident of a guild; gives the sums and each incident.
///
/// # Errors
///
/// Those of the databases; the one given is only read.
pub async fn backtest(
    store: &Store,
    guild: &str,
    redaction: Key,
    mut progress: impl FnMut(usize, usize) + Send,
) -> Result<(Backtest, Vec<Replayed>), StoreError> {
    let mut records: Vec<(PastIncident, Option<String>)> = Vec::new();
    let mut after = None;
    loop {
        let page = store.records_for_operator(guild, after, PAGE).await?;
        let Some(last) = page.last() else { break };
        after = Some(last.past.id);
        records.extend(
            page.into_iter()
                .filter(|record| !record.open)
                .map(|record| (record.past, record.private_to)),
        );
    }
    let registry = store.services(guild).await?;
    // Their own memory, so that nothing can reach the one that is measured.
    let played = Store::open("sqlite::memory:").await?;
    for service in &registry.services {
        played.set_service(guild, service).await?;
    }
    let responder = Responder {
        memory: Recollection::On(memory::Database::new(played.read_pool().clone())),
        second: None,
        models: None,
        redaction,
    };
    let mut versions: Vec<Version> = records
        .iter()
        .flat_map(|(past, private_to)| versions(past, private_to.as_deref()))
        .collect();
    versions.sort_by_key(|version| version.from);
    let mut versions = versions.into_iter().peekable();
    let begins = |past: &PastIncident| past.started_at.or(past.resolved_at);
    let mut order: Vec<usize> = (0..records.len()).collect();
    order.sort_by_key(|at| {
        let past = records.get(*at).map(|(past, _)| past);
        let at = past.and_then(begins);
        (at.is_none(), at, past.map(|past| past.id))
    });
    let now = records
        .iter()
        .filter_map(|(past, _)| time_of(past))
        .max()
        .unwrap_or_default();
    let mut sums = Backtest::default();
    let mut replayed = Vec::with_capacity(records.len());
    let mut known: HashSet<IncidentId> = HashSet::new();
    let groups = of_one_service(&records);
    for (done, at) in order.into_iter().enumerate() {
        let Some((past, private_to)) = records.get(at) else {
            continue;
        };
        let begun = begins(past);
        let mut batch = Vec::new();
        while let Some(version) =
            versions.next_if(|version| begun.is_none_or(|begun| version.from <= begun))
        {
            known.insert(version.entry.past.id);
            batch.push(version.entry);
        }
        // The incident itself is never known, whatever its times say.
        batch.retain(|entry| entry.past.id != past.id);
        if !batch.is_empty() {
            played.put_past(guild, &batch, now, false).await?;
        }
        let one = replay(&Replay {
            responder: &responder,
            guild,
            channel: private_to.as_deref().unwrap_or_default(),
            registry: &registry,
            past,
            known: known.len() - usize::from(known.contains(&past.id)),
            earlier: records
                .iter()
                .zip(&groups)
                .filter(|((other, theirs), group)| {
                    let related = marked(past, other)
                        || (group.is_some() && groups.get(at).is_some_and(|own| own == *group));
                    related
                        && other.id != past.id
                        && known.contains(&other.id)
                        && (theirs.is_none() || theirs == private_to)
                })
                .map(|((other, _), _)| other)
                .collect(),
            now: begun.unwrap_or(now),
        })
        .await;
        sums.add(&one);
        replayed.push(one);
        progress(done + 1, records.len());
    }
    played.close().await;
    Ok((sums, replayed))
}

struct Replay<'a> {
    responder: &'a Responder,
    guild: &'a str,
    channel: &'a str,
    registry: &'a crate::incident::Registry,
    past: &'a PastIncident,
    /// Incidents known by then.
    known: usize,
    /// Of these, those of its service and those that people marked as the same.
    earlier: Vec<&'a PastIncident>,
    now: Timestamp,
}

async fn replay(replay: &Replay<'_>) -> Replayed {
    let past = replay.past;
    let matches: Vec<IncidentId> = replay
        .earlier
        .iter()
        .filter(|other| is_match(past, other))
        .map(|other| other.id)
        .collect();
    let (read, _, _, analysis) = replay
        .responder
        .respond(Reported {
            guild: replay.guild.to_owned(),
            channel: replay.channel.to_owned(),
            report: replay.responder.redact(report_of(past)),
            said: Said {
                service: past.service.clone(),
                severity: None,
            },
            registry: replay.registry.clone(),
            locale: Locale::of_text(&past.title),
            now: replay.now,
            own: Some(past.id),
            attempts: Vec::new(),
        })
        .await;
    let recalled: Vec<IncidentId> = read
        .case
        .memory
        .recalled()
        .iter()
        .filter(|recalled| recalled.grade != Grade::Low)
        .map(|recalled| recalled.incident.id)
        .collect();
    judged(past, matches, recalled, &analysis, replay.known)
}

fn judged(
    past: &PastIncident,
    matches: Vec<IncidentId>,
    recalled: Vec<IncidentId>,
    analysis: &Analysis,
    known: usize,
) -> Replayed {
    let fix = ended_by(past);
    let first = analysis.hypotheses.first();
    let rests_on_match = |hypothesis: &crate::validation::analysis::Hypothesis| {
        hypothesis
            .refs
            .iter()
            .any(|cited| matches.contains(&cited.id))
    };
    let says_it = |hypothesis: &crate::validation::analysis::Hypothesis| {
        let cause =
            !past.root_cause.is_empty() && near_or_same(&hypothesis.title, &past.root_cause);
        let fixes = fix.is_some_and(|fix| near_or_same(&hypothesis.fix, fix));
        cause || fixes
    };
    let can_be_wrong = fix.is_some() || !past.root_cause.trim().is_empty();
    let wrong = analysis.hypotheses.iter().any(|hypothesis| {
        hypothesis.score.is_some_and(|score| score > WRONG_ABOVE)
            && !says_it(hypothesis)
            && !rests_on_match(hypothesis)
    });
    Replayed {
        id: past.id,
        undated: time_of(past).is_none(),
        known,
        found: matches.iter().any(|id| recalled.contains(id)),
        right_incident_first: first.is_some_and(rests_on_match),
        right_fix_first: fix.map(|fix| first.is_some_and(|hypothesis| same(&hypothesis.fix, fix))),
        wrong_above: can_be_wrong.then_some(wrong),
        nothing_like_this: !analysis
            .hypotheses
            .iter()
            .any(|hypothesis| hypothesis.source == Source::Memory),
        first_score: first.and_then(|hypothesis| hypothesis.score),
        status: analysis.memory.status,
        recalled,
        matches,
    }
}

/// What ended it: the fix that stands for it, unless that one failed.
fn ended_by(past: &PastIncident) -> Option<&str> {
    use crate::incident::Standing;
    past.fix()
        .filter(|_| past.outcome().standing() != Standing::Refuted)
}

/// Which records are of one service: the same number, and none where nobody knows the service.
fn of_one_service(records: &[(PastIncident, Option<String>)]) -> Vec<Option<usize>> {
    let mut first_of_each: Vec<&PastIncident> = Vec::new();
    records
        .iter()
        .map(|(past, _)| {
            past.service.as_ref()?;
            let known = first_of_each
                .iter()
                .position(|first| one_service(first, past));
            Some(known.unwrap_or_else(|| {
                first_of_each.push(past);
                first_of_each.len() - 1
            }))
        })
        .collect()
}

/// People said that both are the same.
fn marked(past: &PastIncident, other: &PastIncident) -> bool {
    past.duplicate_of == Some(other.id)
        || other.duplicate_of == Some(past.id)
        || (past.duplicate_of.is_some() && past.duplicate_of == other.duplicate_of)
}

/// Whether an earlier incident is one that should have been found.
fn is_match(past: &PastIncident, earlier: &PastIncident) -> bool {
    let same_fix = || match (past.fix(), earlier.fix()) {
        (Some(one), Some(other)) => same(one, other),
        _ => false,
    };
    marked(past, earlier)
        || (one_service(past, earlier) && (shares_pattern(past, earlier) || same_fix()))
}

/// What somebody would have typed: what was seen, never what it turned out to be.
fn report_of(past: &PastIncident) -> Report {
    let mut text = past.title.clone();
    for line in past.symptoms.iter().chain(&past.error_signatures) {
        text.push('\n');
        text.push_str(line);
    }
    Report::from_text(text)
}

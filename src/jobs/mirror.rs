//! Hindsight is told what memory holds: what was resolved, imported, judged anew or forgotten.
//!
//! Wanted: nobody's command waits for it or fails with it; nothing is missed, whoever changed it and
//! whatever was killed or down meanwhile; what was forgotten here is forgotten there.
//!
//! Design: no command announces anything. The database itself says what the server was not told yet
//! ([`crate::store::Store::due_for_hindsight`]), and this loop tells it, in batches, the newest
//! first. That it may have been told is written before it is sent and what came of it afterwards,
//! so a process that dies in between sends again, and sending again is the same. A short look every
//! two seconds costs nothing; everything is looked through once a minute, at the start, and when
//! [`Mirror::wake`] asks. An outage is waited out, ever longer up to five minutes.
//!
//! A lease in the database lets one process tell a server at a time: of two, the slower one could
//! put an old record over a new one.
//!
//! Deliberately absent: an end of trying. What the server refuses or keeps nothing of is tried again
//! after hours, and stands in `precedent check`.

use crate::config::HindsightConfig;
use crate::memory::hindsight::{BATCH, Document, Hindsight, HindsightError, Kept, Seen, Times};
use crate::store::{DueRecord, Store, StoreError, ToldRecord};
use jiff::{SignedDuration, Timestamp};
use std::hash::{BuildHasher, Hasher};
use std::sync::Arc;
use std::time::Duration;
use thiserror::Error;
use tokio::sync::{Notify, watch};

/// How long the right to tell a server is held without being used: longer than a batch may take.
const LEASE: SignedDuration = SignedDuration::from_mins(4);
/// An incident that changed so lately is looked at once more: another change may have fallen into
/// the same millisecond.
const YOUNG: SignedDuration = SignedDuration::from_secs(2);
/// Before what the server refused is sent again: it may have been configured otherwise.
const REFUSED_AGAIN: SignedDuration = SignedDuration::from_hours(6);
/// Before the first other try of what it kept nothing of; doubled each time, up to a day.
const EMPTY_AGAIN: SignedDuration = SignedDuration::from_mins(1);
/// After so many failures in a row an incident is sent alone.
const TOGETHER: u32 = 3;
/// Incidents forgotten in one go.
const FORGET: u32 = 100;

/// How often the loop looks.
#[derive(Clone, Copy, Debug)]
pub struct Pace {
    /// For what changed lately.
    pub look: Duration,
    /// Through everything.
    pub whole: Duration,
    /// After a failure, doubled each time.
    pub first_pause: Duration,
    /// But no longer than this.
    pub longest_pause: Duration,
}

impl Default for Pace {
    fn default() -> Self {
        Self {
            look: Duration::from_secs(2),
            whole: Duration::from_secs(60),
            first_pause: Duration::from_secs(5),
            longest_pause: Duration::from_secs(300),
        }
    }
}

/// Why a pass ended early.
#[derive(Debug, Error)]
pub enum MirrorError {
    /// The server.
    #[error(transparent)]
    Hindsight(#[from] HindsightError),
    /// The database.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// What a pass did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Pass {
    /// Incidents that the server was told.
    pub told: u64,
    /// Of these, those that it kept nothing of or refused.
    pub troubled: u64,
    /// Incidents that it forgot.
    pub forgotten: u64,
    /// Another process does it.
    pub left_to_another: bool,
}

/// The server of a configuration; `None` where none is configured.
///
/// # Errors
///
/// Where address or key are none.
pub fn configured(
    config: Option<&HindsightConfig>,
    times: Times,
) -> Result<Option<Hindsight>, HindsightError> {
    config
        .map(|config| Hindsight::new(&config.url, config.api_key.as_ref(), times))
        .transpose()
}

/// Tells one server.
#[derive(Clone)]
pub struct Mirror {
    store: Store,
    hindsight: Hindsight,
    home: String,
    holder: String,
    wake: Arc<Notify>,
}

impl Mirror {
    /// Tells this server what this database holds.
    pub fn new(store: Store, hindsight: Hindsight) -> Self {
        // The standard library's own randomness: it tells processes apart, no more.
        let mut hasher = std::collections::hash_map::RandomState::new().build_hasher();
        hasher.write_u32(std::process::id());
        Self {
            store,
            home: hindsight.name(),
            hindsight,
            holder: format!("{:016x}", hasher.finish()),
            wake: Arc::default(),
        }
    }

    /// Looks through everything at once.
    pub fn wake(&self) {
        self.wake.notify_one();
    }

    /// Tells until it is stopped.
    pub async fn run(self, pace: Pace, mut stopped: watch::Receiver<bool>) {
        let mut whole_at = tokio::time::Instant::now();
        let mut since = Timestamp::now();
        let mut failures: u32 = 0;
        loop {
            let whole = tokio::time::Instant::now() >= whole_at;
            let begun = Timestamp::now();
            let pass = tokio::select! {
                pass = self.pass((!whole).then_some(since)) => pass,
                _ = stopped.wait_for(|stop| *stop) => break,
            };
            let pause = match pass {
                Ok(pass) => {
                    if pass.told + pass.forgotten > 0 {
                        tracing::info!(
                            told = pass.told,
                            troubled = pass.troubled,
                            forgotten = pass.forgotten,
                            "Hindsight was told"
                        );
                    }
                    failures = 0;
                    if whole {
                        whole_at = tokio::time::Instant::now() + pace.whole;
                    }
                    // A change is committed a little later than its time says.
                    since = begun
                        .checked_sub(SignedDuration::from_secs(30))
                        .unwrap_or(begun);
                    pace.look
                }
                Err(error) => {
                    tracing::warn!(
                        error = &error as &dyn std::error::Error,
                        failures,
                        "Hindsight can't be told now"
                    );
                    // What was due then is due still.
                    whole_at = tokio::time::Instant::now();
                    failures = failures.saturating_add(1);
                    pace.first_pause
                        .saturating_mul(1 << failures.saturating_sub(1).min(10))
                        .min(pace.longest_pause)
                }
            };
            tokio::select! {
                () = tokio::time::sleep(pause) => {}
                () = self.wake.notified() => whole_at = tokio::time::Instant::now(),
                _ = stopped.wait_for(|stop| *stop) => break,
            }
        }
        if let Err(error) = self.store.release_hindsight(&self.home, &self.holder).await {
            tracing::debug!(
                error = &error as &dyn std::error::Error,
                "the lease runs out by itself"
            );
        }
    }

    /// Tells everything that is due; with a time, only what changed from then on.
    ///
    /// # Errors
    ///
    /// Where server or database fail; what was told stays told.
    pub async fn pass(&self, since: Option<Timestamp>) -> Result<Pass, MirrorError> {
        let mut pass = Pass::default();
        if since.is_none() {
            self.forget(&mut pass).await?;
        }
        loop {
            let now = Timestamp::now();
            let batch = u32::try_from(BATCH).unwrap_or(u32::MAX);
            let due = self
                .store
                .due_for_hindsight(&self.home, since, now, batch)
                .await?;
            if due.is_empty() || !self.lease(&mut pass).await? {
                return Ok(pass);
            }
            let mut guilds: Vec<(String, Vec<DueRecord>)> = Vec::new();
            for record in due {
                match guilds.iter_mut().find(|(guild, _)| *guild == record.guild) {
                    Some((_, records)) => records.push(record),
                    None => guilds.push((record.guild.clone(), vec![record])),
                }
            }
            for (guild, records) in guilds {
                self.tell(&guild, records, now, &mut pass).await?;
            }
        }
    }

    /// Whether this process may tell. A pass that found nothing to tell does not even ask.
    async fn lease(&self, pass: &mut Pass) -> Result<bool, MirrorError> {
        let now = Timestamp::now();
        let until = now.checked_add(LEASE).unwrap_or(now);
        let leased = self
            .store
            .lease_hindsight(&self.home, &self.holder, now, until)
            .await?;
        pass.left_to_another = !leased;
        Ok(leased)
    }

    async fn forget(&self, pass: &mut Pass) -> Result<(), MirrorError> {
        loop {
            let gone = self
                .store
                .forgotten_here(&self.home, Timestamp::now(), FORGET)
                .await?;
            if gone.is_empty() || !self.lease(pass).await? {
                return Ok(());
            }
            for (guild, id) in gone {
                match self.hindsight.forget(&guild, id).await {
                    Ok(_) => {
                        self.store
                            .forgotten_there(&self.home, &guild, id, None)
                            .await?;
                        pass.forgotten += 1;
                    }
                    Err(error) if error.is_of_the_request() => {
                        let again = Timestamp::now().checked_add(REFUSED_AGAIN).ok();
                        self.store
                            .forgotten_there(&self.home, &guild, id, again)
                            .await?;
                        pass.troubled += 1;
                    }
                    Err(error) => return Err(error.into()),
                }
            }
        }
    }

    async fn tell(
        &self,
        guild: &str,
        records: Vec<DueRecord>,
        now: Timestamp,
        pass: &mut Pass,
    ) -> Result<(), MirrorError> {
        let mut same = Vec::new();
        let mut changed = Vec::new();
        for record in records {
            let document = document(&record);
            let fingerprint = document.fingerprint();
            if fingerprint == record.kept {
                same.push(told(&record, fingerprint, now));
            } else {
                changed.push((record, document, fingerprint));
            }
        }
        if !same.is_empty() {
            self.store.told_hindsight(&self.home, guild, &same).await?;
        }
        if changed.is_empty() {
            return Ok(());
        }
        let announced: Vec<_> = changed.iter().map(|(record, ..)| record.past.id).collect();
        self.store
            .telling_hindsight(&self.home, guild, &announced)
            .await?;
        let documents: Vec<Document> = changed
            .iter()
            .map(|(_, document, _)| document.clone())
            .collect();
        // What failed together again and again is sent alone, so that one does not hold up others.
        let alone = changed
            .iter()
            .any(|(record, ..)| record.failures >= TOGETHER);
        let sent = if alone {
            self.each_alone(guild, &documents).await
        } else {
            match self.hindsight.retain(guild, &documents).await {
                // One of them it does not take: which, each alone will show.
                Err(error) if error.is_of_the_request() => self.each_alone(guild, &documents).await,
                sent => sent.map(|kept| kept.into_iter().map(|(_, kept)| Ok(kept)).collect()),
            }
        };
        let kept: Vec<Result<Kept, HindsightError>> = match sent {
            Ok(kept) => kept,
            Err(HindsightError::NoBank) => {
                let lost = self.store.hindsight_lost(&self.home, guild).await?;
                tracing::warn!(lost, "Hindsight lost a bank; all is told again");
                return Err(HindsightError::NoBank.into());
            }
            Err(error) => {
                let failed: Vec<ToldRecord> = changed
                    .into_iter()
                    .map(|(record, ..)| not_kept(record, "failing", now))
                    .collect();
                self.store
                    .told_hindsight(&self.home, guild, &failed)
                    .await?;
                return Err(error.into());
            }
        };
        let results: Vec<ToldRecord> = changed
            .into_iter()
            .zip(kept)
            .map(|((record, _, fingerprint), kept)| {
                pass.told += 1;
                let trouble = match kept {
                    Ok(Kept::Whole) => return told(&record, fingerprint, now),
                    Ok(Kept::Nothing) => "empty",
                    Err(error) if error.is_of_the_request() => "refused",
                    Err(_) => "failing",
                };
                pass.troubled += 1;
                tracing::warn!(incident = %record.past.id, trouble, failures = record.failures, "Hindsight does not keep an incident");
                not_kept(record, trouble, now)
            })
            .collect();
        Ok(self
            .store
            .told_hindsight(&self.home, guild, &results)
            .await?)
    }

    /// One by one. Where the server is not there at all, that is all there is to say.
    async fn each_alone(
        &self,
        guild: &str,
        documents: &[Document],
    ) -> Result<Vec<Result<Kept, HindsightError>>, HindsightError> {
        let mut kept = Vec::with_capacity(documents.len());
        for document in documents {
            let one = self
                .hindsight
                .retain(guild, std::slice::from_ref(document))
                .await;
            kept.push(match one {
                Ok(one) => Ok(one.first().map_or(Kept::Nothing, |(_, kept)| *kept)),
                Err(
                    error @ (HindsightError::Unreachable
                    | HindsightError::BadKey
                    | HindsightError::NoBank),
                ) => {
                    return Err(error);
                }
                Err(error) => Err(error),
            });
        }
        Ok(kept)
    }
}

fn document(record: &DueRecord) -> Document {
    let seen = if record.private {
        Seen::From {
            channel: &record.channel,
            thread: record.thread.as_deref(),
        }
    } else {
        Seen::ByAll
    };
    Document::of(&record.guild, &record.past, seen)
}

/// Not kept, and when to try again.
fn not_kept(record: DueRecord, problem: &'static str, now: Timestamp) -> ToldRecord {
    let failures = record.failures.saturating_add(1);
    let doubled = |first: SignedDuration, most: SignedDuration| {
        first
            .checked_mul(1_i32 << (failures - 1).min(10))
            .unwrap_or(most)
            .min(most)
    };
    let wait = match problem {
        "empty" => doubled(EMPTY_AGAIN, SignedDuration::from_hours(24)),
        "refused" => REFUSED_AGAIN,
        // The loop itself waits where the server fails; here only behind what did not fail yet.
        _ => doubled(
            SignedDuration::from_millis(100),
            SignedDuration::from_mins(10),
        ),
    };
    ToldRecord {
        id: record.past.id,
        kept: String::new(),
        told_to: None,
        failures,
        next_at: now.checked_add(wait).ok(),
        problem,
    }
}

/// Kept there as it was read.
fn told(record: &DueRecord, fingerprint: String, now: Timestamp) -> ToldRecord {
    let young = record.updated_at.duration_until(now) < YOUNG;
    let before = record
        .updated_at
        .checked_sub(SignedDuration::from_millis(1))
        .unwrap_or(record.updated_at);
    ToldRecord {
        id: record.past.id,
        kept: fingerprint,
        told_to: Some(if young { before } else { record.updated_at }),
        failures: 0,
        next_at: young.then(|| now.checked_add(YOUNG).unwrap_or(now)),
        problem: "",
    }
}

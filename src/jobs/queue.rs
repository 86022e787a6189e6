//! The durable queue: a command is committed, then acknowledged, then worked, whatever is killed.
//!
//! Wanted:
//! - What [`Queue::commit`] said is committed is worked at least once, also after `kill -9` and
//!   power loss, and goes on within seconds of the next start.
//! - The same key is one job, however often it comes.
//! - Commands that arrive together share one commit, so that two hundred at once wait for a few
//!   syncs of the disk and not for two hundred; and none of them waits for the syncs of the work on
//!   the others, which begins when no more arrive.
//! - A job that fails is tried again at a flat pace, [`QueueOptions::attempts`] times in all; one
//!   that kills the process counts its attempts too. Then it is a dead letter, which is itself a
//!   job, so that somebody is told in any case.
//!
//! Design: `riverqueue` on the store's own connections. Its jobs carry no lease: exactly one process
//! at a time works the queue, so what stands as running when it begins was left by a dead one and is
//! released at once. On SQLite a lock beside the file sees to that, and a second process is refused.
//! On PostgreSQL it is a place on duty ([`crate::database::place`]): a second process stands by
//! until the first is gone, and one that loses its place stops what it works. Limits on time are
//! kept here, where a job that is over them is an ordinary failure; the queue's own limits stand
//! behind as a backstop.
//! Commands are inserted by one statement of our own, many at once, in the form that the queue itself
//! gives them.
//!
//! Deliberately absent: exactly-once. A job killed between its effect and its completion runs
//! again: effects are keyed (see [`crate::store::Store::intend_post`]), and [`Job::attempt`] tells.

use crate::database::place::{Lost, Place};
use crate::database::{Body, Pool, Sql, query, query_as, query_scalar};
use crate::store::{Store, StoreError};
use futures::FutureExt;
use futures::future::BoxFuture;
use jiff::Timestamp;
use riverqueue::protocol::{UniqueKeyInput, unique_states_bitmask};
use riverqueue::{
    Client, InsertOpts, JobArgs, JobRow, JobState, MaintenanceConfig, QueueConfig, Retention,
    RetryPolicy, UniqueOpts, WorkCancelled, WorkContext, WorkError, WorkOutcome, Worker,
    WorkerTimeout, Workers,
};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use sqlx::{PgPool, SqlitePool};
use std::collections::{BTreeMap, HashMap, HashSet};
use std::panic::AssertUnwindSafe;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;
use thiserror::Error;
use tokio::sync::{mpsc, oneshot, watch};
use tokio::task::JoinHandle;

/// The name of the one queue.
const QUEUE: &str = "default";
/// Commands that wait for a commit; who comes later waits to wait.
const WAITING: usize = 4096;
/// Commands in one commit.
const GROUP: usize = 512;
/// Levels of a payload; the reader of JSON gives up at 128.
const DEEPEST: usize = 100;
/// Pause between two jobs that are released after they ran when the process died, twice or more.
const QUARANTINE: Duration = Duration::from_secs(1);
/// How often the queue looks for jobs that became due. A net only: it is told to look of what was
/// committed, and when a job is due that was put off in this process.
const POLL: Duration = Duration::from_secs(1);
/// The work on committed commands begins when for so long no other came ...
const LULL: Duration = Duration::from_millis(10);
/// ... or the first of them waits for so long.
const LONGEST_LULL: Duration = Duration::from_millis(200);
/// Jobs that are put off by more than this are left to the polls.
const SOON: Duration = Duration::from_secs(30);
/// A job is looked for a little after it is due: it is put off a moment after this was known.
const AFTER_DUE: Duration = Duration::from_millis(20);
/// Commands read at once while some are removed.
const PURGED_AT_ONCE: i64 = 200;
/// The place on duty: of the one shard there is.
const PLACE: i32 = 0;
/// How far the queue's own limit on time stands behind ours.
const BACKSTOP: Duration = Duration::from_secs(30);

/// One piece of work, as it is committed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Command {
    /// What is to be done.
    pub kind: String,
    /// The same key is the same work: an interaction's id, `INC-0012/follow-up/24h`.
    pub key: String,
    /// What it needs. Redacted: it is stored.
    pub payload: Value,
}

impl Command {
    /// A command.
    pub fn new(kind: impl Into<String>, key: impl Into<String>, payload: Value) -> Self {
        Self {
            kind: kind.into(),
            key: key.into(),
            payload,
        }
    }
}

/// A command as it is worked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Job {
    /// The command.
    pub command: Command,
    /// Which attempt this is, from 1. From 2 on, effects of the one before may stand already.
    pub attempt: u32,
    /// No other attempt follows.
    pub last: bool,
    /// When it was committed.
    pub committed_at: Timestamp,
}

/// Why a job is not done. The reasons are stored and logged: no report text, no token.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
pub enum JobError {
    /// It may go better another time.
    #[error("{reason}")]
    Again {
        /// Why it did not go.
        reason: String,
        /// When to try again; `None` at the queue's own pace.
        after: Option<Duration>,
    },
    /// It will never go: a dead letter at once.
    #[error("{reason}")]
    Never {
        /// Why.
        reason: String,
    },
}

impl JobError {
    /// Try again at the queue's own pace.
    pub fn again(reason: impl Into<String>) -> Self {
        Self::Again {
            reason: reason.into(),
            after: None,
        }
    }

    /// Do not try again.
    pub fn never(reason: impl Into<String>) -> Self {
        Self::Never {
            reason: reason.into(),
        }
    }
}

impl From<StoreError> for JobError {
    fn from(error: StoreError) -> Self {
        if error.is_transient() {
            Self::again(error.to_string())
        } else {
            Self::never(error.to_string())
        }
    }
}

/// A job that is given up.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct DeadLetter {
    /// The key of its command, under which it is told once.
    key: String,
    /// The command.
    pub command: Command,
    /// How often it was tried.
    pub attempts: u32,
    /// Why the last attempt failed.
    pub reason: String,
}

/// What works a job. It may be dropped at any await and started again.
pub type Handler = Arc<dyn Fn(Job) -> BoxFuture<'static, Result<(), JobError>> + Send + Sync>;
/// What tells somebody of a dead letter; tried again like any job.
pub type Undertaker =
    Arc<dyn Fn(DeadLetter) -> BoxFuture<'static, Result<(), JobError>> + Send + Sync>;

/// How the queue works.
#[derive(Clone, Debug)]
pub struct QueueOptions {
    /// Jobs worked at the same time.
    pub workers: usize,
    /// How long one attempt of a kind may take: the longest model budget plus a margin.
    pub time_limits: BTreeMap<String, Duration>,
    /// The same for kinds that are not named.
    pub time_limit: Duration,
    /// Pause before the next attempt.
    pub pause: Duration,
    /// Attempts in all.
    pub attempts: u32,
    /// How long a start waits for the process before to let go of SQLite's file. On PostgreSQL it
    /// stands by for as long as it takes.
    pub lock_patience: Duration,
    /// How long a commit is tried again where the database is busy or full.
    pub commit_patience: Duration,
}

impl Default for QueueOptions {
    /// 16 workers, two minutes, five attempts two seconds apart, ten seconds of patience.
    fn default() -> Self {
        Self {
            workers: 16,
            time_limits: BTreeMap::new(),
            time_limit: Duration::from_secs(120),
            pause: Duration::from_secs(2),
            attempts: 5,
            lock_patience: Duration::from_secs(10),
            commit_patience: Duration::from_secs(10),
        }
    }
}

impl QueueOptions {
    fn limit_of(&self, kind: &str) -> Duration {
        self.time_limits
            .get(kind)
            .copied()
            .unwrap_or(self.time_limit)
    }

    fn longest(&self) -> Duration {
        self.time_limits
            .values()
            .copied()
            .fold(self.time_limit, Duration::max)
    }
}

/// What became of a commit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Committed {
    /// It will be worked.
    New,
    /// Its key was committed before.
    Already,
}

/// How many jobs stand where.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// To be worked now.
    pub due: u64,
    /// To be worked later, at their time.
    pub later: u64,
    /// To be worked again, after a failure.
    pub again: u64,
    /// Being worked.
    pub running: u64,
    /// Done, as far as they are still kept.
    pub done: u64,
    /// Given up, as far as they are still kept.
    pub dead: u64,
    /// Milliseconds since the oldest running attempt began.
    pub oldest_running_millis: u64,
}

impl Counts {
    /// Nothing is left to be worked but what waits for its time.
    pub fn is_idle(&self) -> bool {
        self.due == 0 && self.again == 0 && self.running == 0
    }
}

/// What became of commands that were to go.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Purged {
    /// Removed.
    pub removed: u64,
    /// Being worked, and left.
    pub running: u64,
}

/// The running queue. Clones are the same queue.
#[derive(Clone)]
pub struct Queue {
    intake: mpsc::Sender<Waiting>,
    inner: Arc<Inner>,
}

struct Inner {
    store: Store,
    client: Client,
    stopping: watch::Sender<Option<Duration>>,
    lost: Lost,
    tasks: std::sync::Mutex<Option<(JoinHandle<()>, JoinHandle<()>)>>,
}

/// A command with who waits for its commit.
struct Waiting {
    command: Command,
    at: Option<Timestamp>,
    arrived: tokio::time::Instant,
    done: oneshot::Sender<Result<Committed, StoreError>>,
}

/// A command that is not worked yet, by its key.
macro_rules! waiting {
    ($key:literal) => {
        concat!(
            "SELECT id FROM river_job WHERE state IN ('available', 'pending', 'scheduled', 'retryable') \
             AND kind = 'command' AND ",
            $key,
            " = $1"
        )
    };
}
impl Queue {
    /// Releases what a dead process left running, and starts working; on PostgreSQL when no other
    /// process is on duty any more.
    ///
    /// # Errors
    ///
    /// [`StoreError::InUse`] where another process works this file of SQLite; those of the
    /// database.
    pub async fn start(
        store: &Store,
        options: QueueOptions,
        handler: Handler,
        undertaker: Undertaker,
    ) -> Result<Self, StoreError> {
        let hold = hold(store, options.lock_patience).await?;
        let lost = hold.lost();
        let options = Arc::new(options);
        let mut workers = Workers::new();
        workers
            .add(CommandWorker {
                options: Arc::clone(&options),
                handler,
            })
            .and_then(|workers| {
                workers.add(DeadLetterWorker {
                    options: Arc::clone(&options),
                    undertaker,
                })
            })
            .map_err(queue_error)?;
        let longest = options.longest();
        let attempts = i32::try_from(options.attempts.max(1)).unwrap_or(i32::MAX);
        let days = |days: u64| Retention::DeleteAfter(Duration::from_secs(days * 24 * 60 * 60));
        let builder = match queue_pool(store) {
            // Commits wake the workers of this process, and there is no other.
            Pool::Sqlite(pool) => Client::builder(pool.clone()).without_notifications(),
            Pool::Postgres(pool) => Client::builder(pool.clone()),
        };
        let client = builder
            .workers(workers)
            .queue(
                QUEUE,
                QueueConfig::new(options.workers.max(1)).with_fetch_poll_interval(POLL),
            )
            .fetch_cooldown(Duration::from_millis(1))
            .default_max_attempts(attempts)
            .retry_policy(Flat(options.pause))
            .job_timeout(longest + BACKSTOP)
            .job_stuck_threshold(Duration::from_secs(3))
            .maintenance(
                MaintenanceConfig::default()
                    .with_rescue_after(longest + BACKSTOP * 2)
                    // Makes what is due within the next interval ready to be found.
                    .with_scheduler_interval(Duration::from_secs(1))
                    // As long as a key has to keep its second coming from being new.
                    .with_completed_job_retention(days(3))
                    .with_cancelled_job_retention(days(3))
                    .with_discarded_job_retention(days(30)),
            )
            .build()
            .map_err(queue_error)?;
        let orphans = match queue_pool(store) {
            Pool::Sqlite(pool) => release_orphans(pool, &client).await?,
            Pool::Postgres(pool) => release_orphans_of_postgres(pool, &client).await?,
        };
        if orphans != Orphans::default() {
            tracing::info!(
                released = orphans.released,
                dead = orphans.dead,
                "jobs that a process before left running go on"
            );
        }

        let (intake, waiting) = mpsc::channel(WAITING);
        let (stopping, stop) = watch::channel(None);
        let committer = Committer {
            pool: queue_pool(store).clone(),
            client: client.clone(),
            attempts: i64::from(attempts),
            patience: options.commit_patience,
        };
        let committer = tokio::spawn(committer.commit_groups(waiting, stop.clone()));
        let supervisor = tokio::spawn(supervise(client.clone(), stop, hold));
        Ok(Self {
            intake,
            inner: Arc::new(Inner {
                store: store.clone(),
                client,
                stopping,
                lost,
                tasks: std::sync::Mutex::new(Some((committer, supervisor))),
            }),
        })
    }

    /// Commits a command; returns when it is on the disk. Dropping the future does not take the
    /// command back, so a caller may stop waiting after a second and go on waiting later.
    ///
    /// # Errors
    ///
    /// It is not stored then. A busy or full database was tried again for
    /// [`QueueOptions::commit_patience`].
    pub async fn commit(&self, command: Command) -> Result<Committed, StoreError> {
        self.wait_for(command, None).await
    }

    /// Commits a command that is to be worked later.
    ///
    /// # Errors
    ///
    /// As for [`Queue::commit`].
    pub async fn commit_at(
        &self,
        command: Command,
        at: Timestamp,
    ) -> Result<Committed, StoreError> {
        self.wait_for(command, Some(at)).await
    }

    async fn wait_for(
        &self,
        command: Command,
        at: Option<Timestamp>,
    ) -> Result<Committed, StoreError> {
        if !reads_back(&command.payload, DEEPEST) {
            return Err(StoreError::Invalid(
                "the payload of a command is nested too deeply".to_owned(),
            ));
        }
        let command = Command {
            payload: if has_nul(&command.payload) {
                without_nul(command.payload)
            } else {
                command.payload
            },
            ..command
        };
        let (done, committed) = oneshot::channel();
        let waiting = Waiting {
            command,
            at,
            arrived: tokio::time::Instant::now(),
            done,
        };
        if self.inner.stopping.borrow().is_some() {
            return Err(StoreError::Unavailable(None));
        }
        self.intake
            .send(waiting)
            .await
            .map_err(|_| StoreError::Unavailable(None))?;
        committed
            .await
            .unwrap_or(Err(StoreError::Unavailable(None)))
    }

    /// Takes a command back that is not being worked yet. Gives whether there was one.
    ///
    /// # Errors
    ///
    /// Those of the database.
    pub async fn cancel(&self, key: &str) -> Result<bool, StoreError> {
        let id: Option<i64> = query_scalar(Sql {
            sqlite: waiting!("json_extract(args, '$.key')"),
            postgres: waiting!("args->>'key'"),
        })
        .bind(key)
        .fetch_optional(self.inner.store.read_pool())
        .await?;
        let Some(id) = id else {
            return Ok(false);
        };
        let job = self
            .inner
            .client
            .jobs()
            .cancel(id)
            .await
            .map_err(queue_error)?;
        Ok(job.state == JobState::Cancelled)
    }

    /// Removes every command of a guild that `concerns` says is to go, whatever became of it, and
    /// overwrites it; what is being worked stays, and is counted.
    ///
    /// # Errors
    ///
    /// Those of the database.
    pub async fn purge(
        &self,
        guild: &str,
        concerns: impl Fn(&Command) -> bool + Send,
    ) -> Result<Purged, StoreError> {
        const PAGE: Sql = Sql {
            sqlite: "SELECT id, state, json(args) FROM river_job \
                     WHERE id > $1 AND json(args) LIKE $2 ORDER BY id LIMIT $3",
            postgres: "SELECT id, state::text, args::text FROM river_job \
                       WHERE id > $1 AND args::text LIKE $2 ORDER BY id LIMIT $3",
        };
        let store = &self.inner.store;
        let mut purged = Purged::default();
        let mut after = 0;
        loop {
            // Read page by page: a day's commands may be many, and each may hold a long report.
            let page: Vec<(i64, String, String)> = query_as(PAGE)
                .bind(after)
                .bind(format!("%\"guild\":%{guild}%"))
                .bind(PURGED_AT_ONCE)
                .fetch_all(store.read_pool())
                .await?;
            let Some((last, ..)) = page.last() else {
                return Ok(purged);
            };
            after = *last;
            let mut going = Vec::new();
            for (id, state, args) in &page {
                // A dead letter holds the command that it is about.
                let command = serde_json::from_str::<Command>(args)
                    .or_else(|_| serde_json::from_str::<DeadLetter>(args).map(|it| it.command));
                let Ok(command) = command else { continue };
                if !concerns(&command) {
                    continue;
                }
                if state == "running" {
                    purged.running += 1;
                } else {
                    going.push(*id);
                }
            }
            if going.is_empty() {
                continue;
            }
            let mut tx = store.write_pool().begin().await?;
            if let Body::Sqlite(connection) = tx.body() {
                sqlx::query("PRAGMA secure_delete = ON")
                    .execute(connection)
                    .await?;
            }
            for id in going {
                // One that began meanwhile is left to end.
                let gone = query("DELETE FROM river_job WHERE id = $1 AND state <> 'running'")
                    .bind(id)
                    .execute(&mut tx)
                    .await?;
                match gone.rows_affected() {
                    0 => purged.running += 1,
                    _ => purged.removed += 1,
                }
            }
            if let Body::Sqlite(connection) = tx.body() {
                sqlx::query("PRAGMA secure_delete = FAST")
                    .execute(connection)
                    .await?;
            }
            tx.commit().await?;
        }
    }

    /// How many jobs stand where.
    ///
    /// # Errors
    ///
    /// Those of the database.
    pub async fn counts(&self) -> Result<Counts, StoreError> {
        let rows: Vec<(String, i64, Option<f64>)> = query_as(Sql {
            sqlite: "SELECT state, count(*), \
                     max(CASE WHEN state = 'running' THEN (julianday('now') - julianday(attempted_at)) * 86400000.0 END) \
                     FROM river_job GROUP BY state",
            postgres: "SELECT state::text, count(*), \
                       max(CASE WHEN state = 'running' THEN (extract(epoch FROM clock_timestamp() - attempted_at) * 1000)::float8 END) \
                       FROM river_job GROUP BY state",
        })
        .fetch_all(self.inner.store.read_pool())
        .await?;
        let mut counts = Counts::default();
        for (state, count, age) in rows {
            let count = u64::try_from(count).unwrap_or(0);
            match state.as_str() {
                "available" => counts.due += count,
                "pending" | "scheduled" => counts.later += count,
                "retryable" => counts.again += count,
                "running" => {
                    counts.running += count;
                    counts.oldest_running_millis = age.map_or(0, |age| age.max(0.0) as u64);
                }
                "discarded" => counts.dead += count,
                _ => counts.done += count,
            }
        }
        Ok(counts)
    }

    /// Returns when another process has to be taken to be on duty: this queue has stopped working
    /// then. Never on SQLite.
    pub async fn lost(&self) {
        self.inner.lost.wait().await;
    }

    /// Stops taking commands, commits those that were taken, lets running jobs finish for at most
    /// `patience`, then stops them; those are worked again at the next start, and it does not count
    /// as an attempt.
    pub async fn shutdown(&self, patience: Duration) {
        self.inner.stopping.send_replace(Some(patience));
        let tasks = self
            .inner
            .tasks
            .lock()
            .unwrap_or_else(std::sync::PoisonError::into_inner)
            .take();
        if let Some((committer, supervisor)) = tasks {
            for task in [committer, supervisor] {
                if let Err(error) = task.await {
                    tracing::error!(%error, "a task of the queue ended in a panic");
                }
            }
        }
    }
}

/// Whether a payload is not nested so deeply that it could be stored and not be read.
fn reads_back(value: &Value, levels: usize) -> bool {
    match value {
        Value::Array(items) => levels > 0 && items.iter().all(|item| reads_back(item, levels - 1)),
        Value::Object(fields) => {
            levels > 0 && fields.values().all(|field| reads_back(field, levels - 1))
        }
        _ => true,
    }
}

/// Whether a text in it holds NUL, which the JSON of PostgreSQL refuses.
fn has_nul(value: &Value) -> bool {
    match value {
        Value::String(text) => text.contains('\0'),
        Value::Array(items) => items.iter().any(has_nul),
        Value::Object(fields) => fields
            .iter()
            .any(|(key, field)| key.contains('\0') || has_nul(field)),
        _ => false,
    }
}

/// The same without NUL.
fn without_nul(value: Value) -> Value {
    match value {
        Value::String(text) => Value::String(text.replace('\0', "")),
        Value::Array(items) => items.into_iter().map(without_nul).collect(),
        Value::Object(fields) => fields
            .into_iter()
            .map(|(key, field)| (key.replace('\0', ""), without_nul(field)))
            .collect(),
        other => other,
    }
}

/// What keeps a second process from working the same database. It falls with the process.
enum Hold {
    /// A database in memory is nobody else's.
    Own,
    /// A lock beside SQLite's file.
    File {
        /// Open for as long as it is locked.
        _locked: std::fs::File,
    },
    /// A place on PostgreSQL.
    Place(Place),
}

impl Hold {
    fn lost(&self) -> Lost {
        match self {
            Self::Place(place) => place.lost(),
            Self::Own | Self::File { .. } => Lost::never(),
        }
    }
}

/// SQLite's one writing connection; on PostgreSQL not the writers', who queue for their guild.
fn queue_pool(store: &Store) -> &Pool {
    match store.write_pool() {
        writer @ Pool::Sqlite(_) => writer,
        Pool::Postgres(_) => store.read_pool(),
    }
}

async fn hold(store: &Store, patience: Duration) -> Result<Hold, StoreError> {
    match (queue_pool(store), store.file()) {
        (Pool::Postgres(pool), _) => match Place::take(pool, PLACE, None).await? {
            Some(place) => Ok(Hold::Place(place)),
            None => Err(StoreError::InUse),
        },
        (Pool::Sqlite(_), Some(file)) => Ok(Hold::File {
            _locked: lock(file, patience).await?,
        }),
        (Pool::Sqlite(_), None) => Ok(Hold::Own),
    }
}

async fn lock(database: &Path, patience: Duration) -> Result<std::fs::File, StoreError> {
    let mut name = database.as_os_str().to_owned();
    name.push(".lock");
    let file = std::fs::File::options()
        .create(true)
        .truncate(false)
        .write(true)
        .open(PathBuf::from(name))
        .map_err(|error| StoreError::Unavailable(Some(error.into())))?;
    let deadline = tokio::time::Instant::now() + patience;
    loop {
        match file.try_lock() {
            Ok(()) => return Ok(file),
            Err(std::fs::TryLockError::WouldBlock) => {
                if tokio::time::Instant::now() >= deadline {
                    return Err(StoreError::InUse);
                }
                tokio::time::sleep(Duration::from_millis(50)).await;
            }
            Err(std::fs::TryLockError::Error(error)) => {
                return Err(StoreError::Unavailable(Some(error.into())));
            }
        }
    }
}

/// How many jobs a dead process left running.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Orphans {
    /// Those that go on.
    released: usize,
    /// Those whose attempts are used up.
    dead: usize,
}

/// What stands as running was left by a dead process: nobody else works this database. It is due
/// again at once, or a dead letter where the attempts are used up. Where one of them may be what
/// kills the process (they were running when it died, and not for the first time), they are
/// released one by one, so that the others do not use up their attempts beside it. The dead
/// process's term as leader ends too, else nothing would be scheduled until it runs out.
async fn release_orphans(pool: &SqlitePool, client: &Client) -> Result<Orphans, StoreError> {
    let mut tx = riverqueue::database::begin_sqlite_write(pool).await?;
    sqlx::query("DELETE FROM river_leader")
        .execute(&mut *tx)
        .await?;
    let orphans: Vec<(i64, i64)> = sqlx::query_as(
        "SELECT id, attempt FROM river_job WHERE state = 'running' AND attempt < max_attempts ORDER BY id",
    )
    .fetch_all(&mut *tx)
    .await?;
    let mut wait = 0;
    for (id, attempt) in &orphans {
        sqlx::query(
            "UPDATE river_job SET state = 'available', \
             scheduled_at = strftime('%Y-%m-%d %H:%M:%f', 'now', '+' || $2 || ' seconds') WHERE id = $1",
        )
        .bind(id)
        .bind(if *attempt < 2 { 0 } else { wait })
        .execute(&mut *tx)
        .await?;
        if *attempt >= 2 {
            wait += i64::try_from(QUARANTINE.as_secs()).unwrap_or(1);
        }
    }
    let dead: Vec<(String, i64)> = sqlx::query_as(
        "SELECT json(args), attempt FROM river_job \
         WHERE state = 'running' AND attempt >= max_attempts AND kind = 'command'",
    )
    .fetch_all(&mut *tx)
    .await?;
    for (args, attempt) in &dead {
        client
            .insert(letter(args, *attempt)?)
            .tx(&mut tx)
            .await
            .map_err(queue_error)?;
    }
    sqlx::query(
        "UPDATE river_job SET state = 'discarded', finalized_at = strftime('%Y-%m-%d %H:%M:%f', 'now') \
         WHERE state = 'running'",
    )
    .execute(&mut *tx)
    .await?;
    tx.commit().await?;
    Ok(Orphans {
        released: orphans.len(),
        dead: dead.len(),
    })
}

/// The same on PostgreSQL, where this process has just come on duty.
async fn release_orphans_of_postgres(
    pool: &PgPool,
    client: &Client,
) -> Result<Orphans, StoreError> {
    let mut tx = riverqueue::database::begin_postgres(pool).await?;
    sqlx::query("DELETE FROM river_leader")
        .execute(&mut *tx)
        .await?;
    let released = sqlx::query(
        "UPDATE river_job SET state = 'available', \
         scheduled_at = now() + orphan.again * orphan.turn * make_interval(secs => $1) \
         FROM (SELECT id, CASE WHEN attempt < 2 THEN 0 ELSE 1 END AS again, \
               row_number() OVER (PARTITION BY attempt < 2 ORDER BY id) - 1 AS turn FROM river_job \
               WHERE state = 'running' AND attempt < max_attempts) AS orphan \
         WHERE river_job.id = orphan.id",
    )
    .bind(QUARANTINE.as_secs_f64())
    .execute(&mut *tx)
    .await?
    .rows_affected();
    let dead: Vec<(String, i64)> = sqlx::query_as(
        "SELECT args::text, attempt::bigint FROM river_job \
         WHERE state = 'running' AND attempt >= max_attempts AND kind = 'command'",
    )
    .fetch_all(&mut *tx)
    .await?;
    for (args, attempt) in &dead {
        client
            .insert(letter(args, *attempt)?)
            .tx(&mut tx)
            .await
            .map_err(queue_error)?;
    }
    sqlx::query(
        "UPDATE river_job SET state = 'discarded', finalized_at = now() WHERE state = 'running'",
    )
    .execute(&mut *tx)
    .await?;
    tx.commit().await?;
    Ok(Orphans {
        released: usize::try_from(released).unwrap_or(usize::MAX),
        dead: dead.len(),
    })
}

fn letter(args: &str, attempt: i64) -> Result<DeadLetter, StoreError> {
    let command: Command = serde_json::from_str(args)?;
    Ok(DeadLetter {
        key: command.key.clone(),
        command,
        attempts: u32::try_from(attempt).unwrap_or(u32::MAX),
        reason: "the program ended while it was worked".to_owned(),
    })
}

/// Commits what waits.
struct Committer {
    pool: Pool,
    client: Client,
    /// Attempts of a command in all.
    attempts: i64,
    patience: Duration,
}

impl Committer {
    /// Commits what waits, together, until the queue stops and nothing waits.
    async fn commit_groups(
        self,
        mut waiting: mpsc::Receiver<Waiting>,
        mut stop: watch::Receiver<Option<Duration>>,
    ) {
        let mut closed = false;
        // Since when there is work that the workers were not told of, and when they will be. Told at
        // once, they would take the processor, and SQLite's one connection that writes for a commit
        // of their own, before the next group.
        let mut untold: Option<(tokio::time::Instant, tokio::time::Instant)> = None;
        loop {
            let mut group = Vec::new();
            let lull = untold.map_or_else(tokio::time::Instant::now, |(_, until)| until);
            tokio::select! {
                biased;
                received = waiting.recv_many(&mut group, GROUP) => {
                    if received == 0 {
                        return;
                    }
                }
                () = stopped(&mut stop), if !closed => {
                    // What was taken is still committed.
                    waiting.close();
                    closed = true;
                    continue;
                }
                () = tokio::time::sleep_until(lull), if untold.is_some() => {
                    untold = None;
                    look_now(&self.client);
                    continue;
                }
            }
            // Who waits for a group that ends in a panic is told so by the closed channel.
            if AssertUnwindSafe(self.commit_group(group))
                .catch_unwind()
                .await
                .is_err()
            {
                tracing::error!("committing commands panicked");
            }
            let now = tokio::time::Instant::now();
            let since = untold.map_or(now, |(since, _)| since);
            let latest = since + LONGEST_LULL;
            if latest <= now {
                // However many more wait.
                untold = None;
                look_now(&self.client);
            } else {
                untold = Some((since, latest.min(now + LULL)));
            }
        }
    }

    async fn commit_group(&self, group: Vec<Waiting>) {
        // A key that comes twice in one group is committed once, and told twice.
        let mut unique: Vec<(Command, Option<Timestamp>)> = Vec::with_capacity(group.len());
        let mut places: HashMap<String, usize> = HashMap::new();
        let mut first = Vec::with_capacity(group.len());
        let mut oldest = tokio::time::Instant::now();
        for Waiting {
            command,
            at,
            arrived,
            done,
        } in group
        {
            oldest = oldest.min(arrived);
            let place = *places.entry(command.key.clone()).or_insert_with(|| {
                if let Some(at) = at {
                    look_at(&self.client, at);
                }
                unique.push((command, at));
                unique.len() - 1
            });
            first.push((done, place));
        }
        let results = self.commit_unique(&unique, oldest + self.patience).await;
        let mut told = vec![false; unique.len()];
        for (done, place) in first {
            let result = match results.get(place) {
                Some(Ok(committed)) => Ok(match told.get_mut(place) {
                    Some(told) if !*told => {
                        *told = true;
                        *committed
                    }
                    _ => Committed::Already,
                }),
                Some(Err(error)) => Err(same_error(error)),
                None => Err(StoreError::Unavailable(None)),
            };
            // Who does not wait any more is not told.
            let _ = done.send(result);
        }
    }

    /// Commits these at once; gives what became of each.
    async fn commit_unique(
        &self,
        commands: &[(Command, Option<Timestamp>)],
        deadline: tokio::time::Instant,
    ) -> Vec<Result<Committed, StoreError>> {
        match self.insert_patiently(commands, deadline).await {
            Ok(committed) => committed.into_iter().map(Ok).collect(),
            // One command that cannot be stored does not take the others along.
            Err(error) if !error.is_transient() && commands.len() > 1 => {
                let mut results = Vec::with_capacity(commands.len());
                for one in commands {
                    let alone = self
                        .insert_patiently(std::slice::from_ref(one), deadline)
                        .await;
                    results.push(
                        alone.map(|committed| {
                            committed.first().copied().unwrap_or(Committed::Already)
                        }),
                    );
                }
                results
            }
            Err(error) => {
                tracing::error!(%error, commands = commands.len(), "commands could not be committed");
                let mut results: Vec<_> =
                    commands.iter().map(|_| Err(same_error(&error))).collect();
                if let Some(first) = results.first_mut() {
                    *first = Err(error);
                }
                results
            }
        }
    }

    /// Inserts at once; tries again where the database is busy or full.
    async fn insert_patiently(
        &self,
        commands: &[(Command, Option<Timestamp>)],
        deadline: tokio::time::Instant,
    ) -> Result<Vec<Committed>, StoreError> {
        let mut pause = Duration::from_millis(20);
        loop {
            let error = match self.insert(commands).await {
                Ok(committed) => return Ok(committed),
                Err(error) => error,
            };
            let closed = matches!(
                &error,
                StoreError::Unavailable(None | Some(sqlx::Error::PoolClosed))
            );
            if !error.is_transient() || closed || tokio::time::Instant::now() + pause > deadline {
                return Err(error);
            }
            tokio::time::sleep(pause).await;
            pause = (pause * 2).min(Duration::from_millis(500));
        }
    }

    /// Inserts all with one statement: job by job, as the queue itself would, each waits for its turn
    /// with the database, and two hundred of these waits are longer than everything else together.
    async fn insert(
        &self,
        commands: &[(Command, Option<Timestamp>)],
    ) -> Result<Vec<Committed>, StoreError> {
        const INSERT: Sql = Sql {
            sqlite: "INSERT INTO river_job (args, created_at, kind, max_attempts, metadata, queue, \
                         scheduled_at, state, tags, unique_key, unique_states) \
                     SELECT jsonb(job.value -> '$.args'), datetime('now', 'subsec'), 'command', $2, \
                         jsonb('{}'), $3, coalesce(strftime('%Y-%m-%d %H:%M:%f', job.value ->> '$.at'), \
                         datetime('now', 'subsec')), \
                         CASE WHEN job.value ->> '$.at' IS NULL THEN 'available' ELSE 'scheduled' END, \
                         jsonb('[]'), unhex(job.value ->> '$.unique'), $4 \
                     FROM json_each($1) AS job WHERE true ORDER BY job.key \
                     ON CONFLICT DO NOTHING RETURNING lower(hex(unique_key))",
            postgres: "INSERT INTO river_job (args, kind, max_attempts, queue, \
                           scheduled_at, state, unique_key, unique_states) \
                       SELECT job.value -> 'args', 'command', $2::bigint::smallint, $3, \
                           coalesce((job.value ->> 'at')::timestamptz, now()), \
                           (CASE WHEN job.value ->> 'at' IS NULL THEN 'available' ELSE 'scheduled' END)::river_job_state, \
                           decode(job.value ->> 'unique', 'hex'), $4::bigint::integer::bit(8) \
                       FROM jsonb_array_elements($1::jsonb) WITH ORDINALITY AS job(value, place) \
                       ORDER BY job.place \
                       ON CONFLICT DO NOTHING RETURNING encode(unique_key, 'hex')",
        };
        let mut keys = Vec::with_capacity(commands.len());
        let mut rows = Vec::with_capacity(commands.len());
        for (command, at) in commands {
            let unique = unique_key(&command.key)?;
            rows.push(Row {
                args: command,
                at: *at,
                unique: unique.clone(),
            });
            keys.push(unique);
        }
        let new: HashSet<String> = query_scalar(INSERT)
            .bind(serde_json::to_string(&rows)?)
            .bind(self.attempts)
            .bind(QUEUE)
            .bind(i64::from(unique_states_bitmask(&unique())))
            .fetch_all(&self.pool)
            .await?
            .into_iter()
            .collect();
        Ok(keys
            .iter()
            .map(|key| {
                if new.contains(key) {
                    Committed::New
                } else {
                    Committed::Already
                }
            })
            .collect())
    }
}

/// A command as the statement that inserts it takes it.
#[derive(Serialize)]
struct Row<'c> {
    args: &'c Command,
    at: Option<Timestamp>,
    unique: String,
}

/// What keeps a command from being inserted twice, as the queue itself makes it, in hexadecimal.
fn unique_key(key: &str) -> Result<String, StoreError> {
    // Of the arguments it is made from this one alone.
    let args = riverqueue::encoding::encode_args(&BTreeMap::from([("key", key)]))?;
    let key = riverqueue::protocol::unique_key(&UniqueKeyInput {
        encoded_args: &args,
        kind: Command::KIND,
        now: Timestamp::UNIX_EPOCH,
        opts: &unique(),
        queue: QUEUE,
        scheduled_at: None,
        unique_fields: Command::unique_fields(),
    });
    let key = key.map_err(queue_error)?.unwrap_or_default();
    Ok(key.iter().map(|byte| format!("{byte:02x}")).collect())
}

/// Has the workers look for due jobs now. The queue looks at any change of its configuration, so
/// the interval of its polls goes a millisecond up and down.
fn look_now(client: &Client) {
    let queues = client.local_queues();
    let Some(config) = queues.configs().remove(QUEUE) else {
        return;
    };
    let interval = if config.fetch_poll_interval() == POLL {
        POLL + Duration::from_millis(1)
    } else {
        POLL
    };
    if let Err(error) = queues.update(QUEUE, config.with_fetch_poll_interval(interval)) {
        // The next poll finds them.
        tracing::warn!(error = %queue_error(error), "the queue can't be told to look");
    }
}

/// Has the workers look when a job is due that is put off; one that is far off is left to the polls.
fn look_at(client: &Client, due: Timestamp) {
    let wait = Duration::try_from(Timestamp::now().duration_until(due)).unwrap_or_default();
    look_after(client, wait);
}

fn look_after(client: &Client, wait: Duration) {
    if wait > SOON {
        return;
    }
    let client = client.clone();
    tokio::spawn(async move {
        tokio::time::sleep(wait + AFTER_DUE).await;
        look_now(&client);
    });
}

/// Returns when the queue is stopped, or dropped.
async fn stopped(stop: &mut watch::Receiver<Option<Duration>>) {
    // Dropped without being stopped, it stops too.
    let _ = stop.wait_for(Option::is_some).await;
}

/// The error for each of those that waited together; the source stays with the log's entry.
fn same_error(error: &StoreError) -> StoreError {
    match error {
        StoreError::Busy(_) => StoreError::Busy(None),
        StoreError::Corrupt(_) => StoreError::Corrupt(None),
        StoreError::Full(_) => StoreError::Full(None),
        StoreError::Invalid(sentence) => StoreError::Invalid(sentence.clone()),
        StoreError::Conflict(sentence) => StoreError::Conflict(sentence.clone()),
        _ => StoreError::Unavailable(None),
    }
}

/// Runs the client until the queue stops; one that ends by itself is started again.
async fn supervise(client: Client, mut stop: watch::Receiver<Option<Duration>>, hold: Hold) {
    let lost = hold.lost();
    loop {
        let mut run = match client.start() {
            Ok(run) => run,
            Err(error) => {
                tracing::error!(%error, "the queue cannot be started");
                return;
            }
        };
        let patience = tokio::select! {
            ended = run.wait() => {
                if let Err(error) = ended {
                    tracing::error!(%error, "the queue ended by itself and is started again");
                }
                None
            }
            () = stopped(&mut stop) => Some(stop.borrow().unwrap_or(Duration::ZERO)),
            // Another may begin at once what is worked here.
            () = lost.wait() => Some(Duration::ZERO),
        };
        if let Some(patience) = patience {
            if tokio::time::timeout(patience, run.stop()).await.is_err()
                && let Err(error) = run.stop_and_cancel().await
            {
                tracing::error!(%error, "the queue did not stop in order");
            }
            break;
        }
        tokio::time::sleep(Duration::from_secs(1)).await;
    }
    drop(hold);
}

fn queue_error(error: riverqueue::Error) -> StoreError {
    match error {
        riverqueue::Error::Database(error) => error.into(),
        other => StoreError::Invalid(format!("the queue refused a job: {other}")),
    }
}

/// The same pause before each next attempt.
struct Flat(Duration);

impl RetryPolicy for Flat {
    fn next_retry(&self, _: &JobRow, _: &WorkError, _: Timestamp) -> Duration {
        self.0
    }
}

/// The states in which a key keeps its second coming from being new: all of them.
fn unique() -> UniqueOpts {
    UniqueOpts::new().with_by_args(true).with_by_state([
        JobState::Available,
        JobState::Cancelled,
        JobState::Completed,
        JobState::Discarded,
        JobState::Pending,
        JobState::Retryable,
        JobState::Running,
        JobState::Scheduled,
    ])
}

fn once() -> InsertOpts {
    InsertOpts::default().with_unique(unique())
}

impl JobArgs for Command {
    const KIND: &'static str = "command";

    fn default_insert_opts() -> InsertOpts {
        once()
    }

    fn unique_fields() -> &'static [&'static [&'static str]] {
        &[&["key"]]
    }
}

impl JobArgs for DeadLetter {
    const KIND: &'static str = "dead_letter";

    fn default_insert_opts() -> InsertOpts {
        once()
    }

    fn unique_fields() -> &'static [&'static [&'static str]] {
        &[&["key"]]
    }
}

/// Why an attempt ended, as the queue takes it.
#[derive(Debug, Error)]
enum Ended {
    /// The program stops: the attempt does not count.
    #[error("stopped")]
    Stopped(#[source] WorkCancelled),
    #[error("{0}")]
    Failed(JobError),
}

impl Ended {
    fn next_retry(error: &WorkError) -> Option<Duration> {
        match error.downcast_ref::<Self>() {
            Some(Self::Failed(JobError::Again { after, .. })) => *after,
            _ => None,
        }
    }
}

/// Runs one attempt: within its limit on time, until the program stops, panics caught.
async fn attempt(
    context: &WorkContext,
    limit: Duration,
    work: impl Future<Output = Result<(), JobError>>,
) -> Result<(), Ended> {
    let guarded = AssertUnwindSafe(tokio::time::timeout(limit, work)).catch_unwind();
    tokio::select! {
        biased;
        ended = guarded => match ended {
            Ok(Ok(result)) => result.map_err(Ended::Failed),
            Ok(Err(_)) => Err(Ended::Failed(JobError::again(format!(
                "it took longer than {} s",
                limit.as_secs()
            )))),
            // What a panic says may hold anything: it goes to the log through the panic hook.
            Err(_) => Err(Ended::Failed(JobError::again("it panicked"))),
        },
        () = context.cancellation_token().cancelled() => Err(Ended::Stopped(WorkCancelled)),
    }
}

struct CommandWorker {
    options: Arc<QueueOptions>,
    handler: Handler,
}

impl Worker<Command> for CommandWorker {
    type Error = Ended;

    fn next_retry(
        &self,
        _: &riverqueue::Job<Command>,
        error: &WorkError,
        _: Timestamp,
    ) -> Option<Duration> {
        Ended::next_retry(error)
    }

    fn timeout(&self, job: &riverqueue::Job<Command>) -> WorkerTimeout {
        WorkerTimeout::After(self.options.limit_of(&job.args.kind) + BACKSTOP)
    }

    async fn work(
        &self,
        context: WorkContext,
        job: riverqueue::Job<Command>,
    ) -> Result<WorkOutcome, Ended> {
        let number = u32::try_from(job.row.attempt).unwrap_or(1);
        let last = job.row.attempt >= job.row.max_attempts;
        let command = job.args;
        let limit = self.options.limit_of(&command.kind);
        let work = (self.handler)(Job {
            command: command.clone(),
            attempt: number,
            last,
            committed_at: job.row.created_at,
        });
        let failed = match attempt(&context, limit, work).await {
            Ok(()) => return Ok(WorkOutcome::Complete),
            Err(Ended::Failed(failed)) => failed,
            Err(stopped) => return Err(stopped),
        };
        tracing::warn!(kind = %command.kind, key = %command.key, attempt = number, reason = %failed, "a job failed");
        let never = matches!(failed, JobError::Never { .. });
        if (never || last)
            && let Some(client) = context.client()
        {
            let letter = DeadLetter {
                key: command.key.clone(),
                command,
                attempts: number,
                reason: failed.to_string(),
            };
            if let Err(error) = client.insert(letter).await {
                // The job stays to be given up another time.
                tracing::error!(error = %queue_error(error), "a dead letter could not be written");
                return Ok(WorkOutcome::Snooze(self.options.pause));
            }
            if never {
                return Ok(WorkOutcome::Discard);
            }
        }
        if let Some(client) = context.client() {
            let after = match &failed {
                JobError::Again { after, .. } => *after,
                JobError::Never { .. } => None,
            };
            look_after(client, after.unwrap_or(self.options.pause));
        }
        Err(Ended::Failed(failed))
    }
}

struct DeadLetterWorker {
    options: Arc<QueueOptions>,
    undertaker: Undertaker,
}

impl Worker<DeadLetter> for DeadLetterWorker {
    type Error = Ended;

    fn next_retry(
        &self,
        _: &riverqueue::Job<DeadLetter>,
        error: &WorkError,
        _: Timestamp,
    ) -> Option<Duration> {
        Ended::next_retry(error)
    }

    fn timeout(&self, _: &riverqueue::Job<DeadLetter>) -> WorkerTimeout {
        WorkerTimeout::After(self.options.time_limit + BACKSTOP)
    }

    async fn work(
        &self,
        context: WorkContext,
        job: riverqueue::Job<DeadLetter>,
    ) -> Result<WorkOutcome, Ended> {
        let letter = job.args;
        tracing::error!(kind = %letter.command.kind, key = %letter.command.key, attempts = letter.attempts, reason = %letter.reason, "a job was given up");
        let work = (self.undertaker)(letter);
        attempt(&context, self.options.time_limit, work).await?;
        Ok(WorkOutcome::Complete)
    }
}

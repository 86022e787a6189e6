//! The place on duty, which one process at a time holds on a shared database.
//!
//! Wanted: two processes never work the same jobs or answer the same event; when the one on duty
//! dies, the next takes over within a second; when the server was only restarted, whoever was on
//! duty stays so.
//!
//! Design: a lock of PostgreSQL that belongs to a connection of its own. It falls with the process,
//! however that ends, and with its host within the half minute in which the server notices that
//! nobody answers. The holder asks after its connection twice a second; where it broke, it has ten
//! seconds to have the lock again before it has lost its place, fewer than the server needs to give
//! it to another. Who stands by and finds the server gone waits longer than the holder does.

use sqlx::postgres::{PgConnectOptions, PgConnection};
use sqlx::{ConnectOptions, Connection, PgPool};
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::watch;
use tokio::time::Instant;

/// The first key of locks on places; the second is the place.
const PLACES: i32 = 0x5052_4543;
/// The first key of the locks under which the rows of a guild are written.
pub const GUILDS: i32 = 0x5052_4544;
/// The first key of the lock under which tables are made and changed.
pub const MIGRATION: i32 = 0x5052_4545;

/// How often the holder asks after its connection, and who stands by after the place.
const BETWEEN_LOOKS: Duration = Duration::from_millis(500);
/// How long one look may take.
const LOOK: Duration = Duration::from_secs(2);
/// How long the holder tries to have its place again.
const REGAIN: Duration = Duration::from_secs(10);
/// Pause between two tries of the holder.
const BETWEEN_TRIES: Duration = Duration::from_millis(100);
/// Pause of one who stands by and finds the server gone.
const AFTER_FAILURE: Duration = Duration::from_secs(3);

/// A place on duty, held until it is dropped or lost.
#[derive(Debug)]
pub struct Place {
    lost: watch::Receiver<bool>,
    /// Dropped, it tells the keeper to go.
    _held: watch::Sender<()>,
}

impl Place {
    /// Waits until the place is free and takes it; `None` where it was not free within `patience`
    /// (which `None` makes endless).
    ///
    /// # Errors
    ///
    /// Those of the database, where patience is not endless.
    pub async fn take(
        pool: &PgPool,
        place: i32,
        patience: Option<Duration>,
    ) -> Result<Option<Self>, sqlx::Error> {
        let options = pool.connect_options();
        let deadline = patience.map(|patience| Instant::now() + patience);
        let mut standing_by = false;
        loop {
            let pause = match hold(&options, place, deadline, &mut standing_by).await {
                Ok(Some(holder)) => return Ok(Some(Self::kept(options, place, holder))),
                Ok(None) => return Ok(None),
                Err(error) => match deadline {
                    Some(deadline) if Instant::now() + AFTER_FAILURE > deadline => {
                        return Err(error);
                    }
                    _ => AFTER_FAILURE,
                },
            };
            tokio::time::sleep(pause).await;
        }
    }

    fn kept(options: Arc<PgConnectOptions>, place: i32, holder: Holder) -> Self {
        let (lost_in, lost) = watch::channel(false);
        let (held, released) = watch::channel(());
        tokio::spawn(async move {
            if !keep(&options, place, holder, released).await {
                tracing::error!(
                    "the place on duty is lost: another process has it, or the database is gone"
                );
                lost_in.send_replace(true);
            }
        });
        Self { lost, _held: held }
    }

    /// What tells that the place is lost; it may outlive the place.
    pub fn lost(&self) -> Lost {
        Lost(Some(self.lost.clone()))
    }
}

/// Tells that a place is lost.
#[derive(Clone, Debug)]
pub struct Lost(Option<watch::Receiver<bool>>);

impl Lost {
    /// Of what nobody else can take.
    pub fn never() -> Self {
        Self(None)
    }

    /// Returns when the place is lost: what belongs to it has to stop at once.
    pub async fn wait(&self) {
        if let Some(mut lost) = self.0.clone()
            && lost.wait_for(|lost| *lost).await.is_ok()
        {
            return;
        }
        // Given back in order, or nobody else's: never lost.
        std::future::pending().await
    }
}

/// The connection that has the lock, and how the server knows it.
struct Holder {
    connection: PgConnection,
    process: i32,
    since: String,
}

/// Connects and waits for the lock; `None` where the deadline came first.
async fn hold(
    options: &PgConnectOptions,
    place: i32,
    deadline: Option<Instant>,
    standing_by: &mut bool,
) -> Result<Option<Holder>, sqlx::Error> {
    let mut connection = connect(options).await?;
    loop {
        if try_lock(&mut connection, place).await? {
            return introduce(connection).await.map(Some);
        }
        if deadline.is_some_and(|deadline| Instant::now() >= deadline) {
            return Ok(None);
        }
        if !*standing_by {
            *standing_by = true;
            tracing::info!("another process is on duty; standing by");
        }
        tokio::time::sleep(BETWEEN_LOOKS).await;
    }
}

/// Asks after the connection until the place is released (`true`) or lost (`false`).
async fn keep(
    options: &PgConnectOptions,
    place: i32,
    mut holder: Holder,
    mut released: watch::Receiver<()>,
) -> bool {
    loop {
        tokio::select! {
            // Only ever closed.
            _ = released.changed() => {
                let _closed = holder.connection.close().await;
                return true;
            }
            () = tokio::time::sleep(BETWEEN_LOOKS) => {}
        }
        if within(LOOK, holder.connection.ping()).await.is_ok() {
            continue;
        }
        tracing::warn!("the connection that holds the place on duty broke; taking it again");
        let regained = tokio::select! {
            _ = released.changed() => return true,
            regained = regain(options, place, &holder) => regained,
        };
        match regained {
            Some(again) => holder = again,
            None => return false,
        }
    }
}

/// Takes the lock again after the connection broke; `None` where another has it, or time is over.
async fn regain(options: &PgConnectOptions, place: i32, before: &Holder) -> Option<Holder> {
    let deadline = Instant::now() + REGAIN;
    while Instant::now() < deadline {
        match retake(options, place, before).await {
            Ok(Some(holder)) => return Some(holder),
            Ok(None) => return None,
            Err(_) => tokio::time::sleep(BETWEEN_TRIES).await,
        }
    }
    None
}

/// One try; `Ok(None)` where another process has the lock.
async fn retake(
    options: &PgConnectOptions,
    place: i32,
    before: &Holder,
) -> Result<Option<Holder>, sqlx::Error> {
    let mut connection = connect(options).await?;
    if try_lock(&mut connection, place).await? {
        return introduce(connection).await.map(Some);
    }
    // The server may not have noticed yet that our old connection is gone.
    let old: Vec<bool> = sqlx::query_scalar(
        "SELECT pg_terminate_backend(activity.pid) FROM pg_stat_activity AS activity \
         JOIN pg_locks AS lock ON lock.pid = activity.pid \
         WHERE lock.locktype = 'advisory' AND lock.granted AND lock.classid = $1::bigint::oid \
         AND lock.objid = $2::bigint::oid AND activity.pid = $3 \
         AND activity.backend_start::text = $4",
    )
    .bind(i64::from(PLACES))
    .bind(i64::from(place))
    .bind(before.process)
    .bind(&before.since)
    .fetch_all(&mut connection)
    .await?;
    if old.is_empty() {
        return Ok(None);
    }
    // It is on its way out: try again.
    Err(sqlx::Error::PoolTimedOut)
}

async fn connect(options: &PgConnectOptions) -> Result<PgConnection, sqlx::Error> {
    within(LOOK, options.connect()).await
}

async fn try_lock(connection: &mut PgConnection, place: i32) -> Result<bool, sqlx::Error> {
    let locked = sqlx::query_scalar("SELECT pg_try_advisory_lock($1, $2)")
        .bind(PLACES)
        .bind(place)
        .fetch_one(connection);
    within(LOOK, locked).await
}

async fn introduce(mut connection: PgConnection) -> Result<Holder, sqlx::Error> {
    let (process, since) = sqlx::query_as(
        "SELECT pid, backend_start::text FROM pg_stat_activity WHERE pid = pg_backend_pid()",
    )
    .fetch_one(&mut connection)
    .await?;
    Ok(Holder {
        connection,
        process,
        since,
    })
}

async fn within<T>(
    time: Duration,
    work: impl Future<Output = Result<T, sqlx::Error>>,
) -> Result<T, sqlx::Error> {
    tokio::time::timeout(time, work)
        .await
        .unwrap_or(Err(sqlx::Error::PoolTimedOut))
}

//! The store on a server of PostgreSQL.
//!
//! Two pools, so that who reads, and the queue of jobs, never wait behind writers of one guild, each
//! of whom holds a connection until its turn comes. What keeps a broken or forgotten statement from holding others up is
//! the server's own: limits on the time of statements, on waiting for locks, and on transactions
//! that nobody goes on with.

use super::{Store, StoreError, words};
use crate::database::{Pool, place};
use sqlx::migrate::Migrator;
use sqlx::postgres::{PgConnectOptions, PgPoolOptions};
use sqlx::{ConnectOptions, Connection, PgConnection, PgPool};
use std::str::FromStr;
use std::time::Duration;

static MIGRATIONS: Migrator = sqlx::migrate!("migrations/postgres");

/// Connections of writers; more would only wait for each other.
const WRITERS: u32 = 6;
/// Connections that read, and those of the queue; beside them one holds the place on duty and one
/// listens for jobs.
const READERS: u32 = 10;
/// How long a caller waits for a connection, and a connection for the server.
const PATIENCE: Duration = Duration::from_secs(5);
/// How long a writer waits for its turn.
const TURN: Duration = Duration::from_secs(30);
/// Limits that the server keeps; a statement may say otherwise for itself.
const LIMITS: &[(&str, &str)] = &[
    ("statement_timeout", "30s"),
    // As long as SQLite waits for its lock.
    ("lock_timeout", "5s"),
    ("idle_in_transaction_session_timeout", "30s"),
    // A host that is gone without a word is noticed within half a minute.
    ("tcp_keepalives_idle", "10"),
    ("tcp_keepalives_interval", "5"),
    ("tcp_keepalives_count", "3"),
    // Compiling a statement of milliseconds takes longer than running it.
    ("jit", "off"),
];
/// The oldest server that is taken, as `server_version_num` says it.
const OLDEST: i32 = 130_000;

/// Opens the database and brings its tables up to date.
pub(super) async fn open(url: &str) -> Result<Store, StoreError> {
    let options = PgConnectOptions::from_str(url)
        .map_err(|_| StoreError::Invalid(MALFORMED.to_owned()))?
        .application_name("precedent")
        // Statements are logged by whoever called, without their values.
        .disable_statement_logging();
    // One connection first: its failure says why, where a pool only says that it took too long.
    let mut connection = tokio::time::timeout(PATIENCE, options.connect())
        .await
        .map_err(|_| StoreError::Unavailable(None))??;
    let ready = prepare(&mut connection).await;
    let options = options.options(LIMITS.iter().copied());
    let pool = |connections, patience| {
        PgPoolOptions::new()
            .max_connections(connections)
            .acquire_timeout(patience)
            .idle_timeout(Duration::from_secs(300))
            .connect_lazy_with(options.clone())
    };
    let (writer, reader) = (pool(WRITERS, TURN), pool(READERS, PATIENCE));
    // Others that start at the same time wait for the lock, which falls with the connection.
    let ready = match ready {
        Ok(()) => migrate(&mut connection, &reader, &writer).await,
        refused => refused,
    };
    let _closed = connection.close().await;
    if let Err(error) = ready {
        reader.close().await;
        return Err(error);
    }
    Ok(Store {
        writer: Pool::Postgres(writer),
        reader: Pool::Postgres(reader),
        file: None,
    })
}

/// Opens the database to read it and nothing else: the server itself refuses to write.
pub(super) async fn open_to_read(url: &str) -> Result<Store, StoreError> {
    let options = PgConnectOptions::from_str(url)
        .map_err(|_| StoreError::Invalid(MALFORMED.to_owned()))?
        .application_name("precedent")
        .options(LIMITS.iter().copied())
        .options([("default_transaction_read_only", "on")])
        .disable_statement_logging();
    let reader = PgPoolOptions::new()
        .max_connections(READERS)
        .acquire_timeout(PATIENCE)
        .connect_with(options)
        .await?;
    let tables: bool = sqlx::query_scalar(
        "SELECT to_regclass('incident') IS NOT NULL AND to_regclass('words_version') IS NOT NULL",
    )
    .fetch_one(&reader)
    .await?;
    let pool = Pool::Postgres(reader.clone());
    if !tables || !words::current(&mut pool.acquire().await?).await? {
        reader.close().await;
        return Err(StoreError::Invalid(super::OLDER.to_owned()));
    }
    Ok(Store {
        writer: pool.clone(),
        reader: pool,
        file: None,
    })
}

const MALFORMED: &str =
    "DATABASE_URL can't be read: write postgres://user:password@host:5432/database";

/// Refuses a server that will not do and a database that is another program's, and keeps others
/// from changing its tables meanwhile.
async fn prepare(connection: &mut PgConnection) -> Result<(), StoreError> {
    let (version, encoding): (String, String) = sqlx::query_as(
        "SELECT current_setting('server_version_num'), current_setting('server_encoding')",
    )
    .fetch_one(&mut *connection)
    .await?;
    if version.parse::<i32>().unwrap_or(OLDEST) < OLDEST {
        return Err(StoreError::Invalid(
            "the database server is too old: PostgreSQL 13 or newer is needed".to_owned(),
        ));
    }
    if encoding != "UTF8" {
        return Err(StoreError::Invalid(format!(
            "the database keeps its text as {encoding}: create one with ENCODING 'UTF8'"
        )));
    }
    sqlx::query("SELECT pg_advisory_lock($1, 0)")
        .bind(place::MIGRATION)
        .execute(&mut *connection)
        .await?;
    let (ours, tables): (bool, i64) = sqlx::query_as(
        "SELECT to_regclass('_sqlx_migrations') IS NOT NULL AND to_regclass('incident') IS NOT NULL, \
         (SELECT count(*) FROM pg_class WHERE relkind IN ('r', 'p') AND relname <> '_sqlx_migrations' \
          AND relnamespace = current_schema()::regnamespace)",
    )
    .fetch_one(connection)
    .await?;
    if tables > 0 && !ours {
        return Err(StoreError::Foreign);
    }
    Ok(())
}

async fn migrate(
    connection: &mut PgConnection,
    pool: &PgPool,
    writer: &PgPool,
) -> Result<(), StoreError> {
    use riverqueue::migrate::PostgresMigrator;
    MIGRATIONS.run(&mut *connection).await?;
    let queue = |error: riverqueue::migrate::Error| match error {
        riverqueue::migrate::Error::Database(error) => StoreError::from(error),
        other => StoreError::Corrupt(Some(Box::new(other))),
    };
    let migrator = PostgresMigrator::new(pool.clone());
    let known = PostgresMigrator::all_versions().len();
    if migrator.existing_versions().await.map_err(queue)?.len() > known {
        return Err(StoreError::Newer);
    }
    migrator.migrate_up().await.map_err(queue)?;
    let mut renewal = Pool::Postgres(writer.clone()).begin().await?;
    words::renew(&mut renewal).await?;
    renewal.commit().await?;
    Ok(())
}

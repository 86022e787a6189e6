//! The store in a file of SQLite.
//!
//! One connection writes, in `BEGIN IMMEDIATE` transactions, and a pool reads. Writers therefore
//! queue in the process, first come first served, instead of polling for SQLite's lock.

use super::{Store, StoreError, words};
use crate::database::Pool;
use sqlx::migrate::Migrator;
use sqlx::sqlite::{SqliteConnectOptions, SqliteJournalMode, SqlitePoolOptions, SqliteSynchronous};
use sqlx::{ConnectOptions, Connection, SqlitePool};
use std::path::Path;
use std::str::FromStr;
use std::time::Duration;

static MIGRATIONS: Migrator = sqlx::migrate!("migrations/sqlite");

/// `PREC`, in the header of our database files, so that no other program's file is migrated.
const APPLICATION_ID: i64 = 0x5052_4543;
/// How long a statement waits for another process's lock, and a caller for a connection.
const BUSY_TIMEOUT: Duration = Duration::from_secs(5);
/// Connections that read.
const READERS: u32 = 4;

/// Opens the file, creates it where it is missing, and brings its tables up to date.
pub(super) async fn open(url: &str) -> Result<Store, StoreError> {
    let options = SqliteConnectOptions::from_str(url)
        .map_err(|error| StoreError::Unavailable(Some(error)))?
        .create_if_missing(true)
        .busy_timeout(BUSY_TIMEOUT)
        .foreign_keys(true)
        // Overwrites what is deleted where that costs no further page: *forget* means it.
        .pragma("secure_delete", "FAST")
        // Statements are logged by whoever called, without their values.
        .disable_statement_logging();
    let in_memory = url.contains(":memory:");
    let file = (!in_memory).then(|| options.get_filename().to_owned());
    if let Some(file) = &file {
        refuse_foreign(file, &options).await?;
    }

    let writer = SqlitePoolOptions::new()
        .after_release(move |connection, _| {
            Box::pin(async move {
                // A full disk makes SQLite end the transaction by itself; the driver goes on
                // counting it, and the connection would refuse every later one. It is closed
                // then, and another opened. (The ping waits for a rollback that is on its way.)
                connection.ping().await?;
                Ok(in_memory || !connection.is_in_transaction())
            })
        })
        .max_connections(1)
        .acquire_timeout(BUSY_TIMEOUT)
        .idle_timeout(None)
        .max_lifetime(None)
        .test_before_acquire(false)
        .connect_with(
            options
                .clone()
                .journal_mode(SqliteJournalMode::Wal)
                .synchronous(SqliteSynchronous::Full)
                // The log is cut back after a burst instead of staying as large as it ever was.
                .pragma("journal_size_limit", "16777216"),
        )
        .await?;
    sqlx::query("PRAGMA application_id = 1347568963")
        .execute(&writer)
        .await?;
    MIGRATIONS.run(&writer).await?;
    migrate_queue(&writer).await?;
    let mut renewal = Pool::Sqlite(writer.clone()).begin().await?;
    words::renew(&mut renewal).await?;
    renewal.commit().await?;

    let reader = if in_memory {
        // A database in memory belongs to its one connection.
        writer.clone()
    } else {
        SqlitePoolOptions::new()
            .max_connections(READERS)
            .acquire_timeout(BUSY_TIMEOUT)
            .idle_timeout(Duration::from_secs(60))
            .test_before_acquire(false)
            .connect_lazy_with(options.pragma("query_only", "ON"))
    };
    Ok(Store {
        writer: Pool::Sqlite(writer),
        reader: Pool::Sqlite(reader),
        file,
    })
}

/// Opens the file to read it and nothing else.
pub(super) async fn open_to_read(url: &str) -> Result<Store, StoreError> {
    let options = SqliteConnectOptions::from_str(url)
        .map_err(|error| StoreError::Unavailable(Some(error)))?
        .create_if_missing(false)
        .read_only(true)
        .busy_timeout(BUSY_TIMEOUT)
        .pragma("query_only", "ON")
        .disable_statement_logging();
    let file = options.get_filename().to_owned();
    if !file.exists() {
        return Err(StoreError::Invalid(
            "there is no such database: DATABASE_URL names a file that does not exist".to_owned(),
        ));
    }
    refuse_foreign(&file, &options).await?;
    let reader = SqlitePoolOptions::new()
        .max_connections(READERS)
        .acquire_timeout(BUSY_TIMEOUT)
        .connect_with(options)
        .await?;
    let tables: i64 = sqlx::query_scalar(
        "SELECT count(*) FROM sqlite_master WHERE name IN ('incident', 'words_version')",
    )
    .fetch_one(&reader)
    .await?;
    let reader = Pool::Sqlite(reader);
    if tables < 2 || !words::current(&mut reader.acquire().await?).await? {
        return Err(StoreError::Invalid(super::OLDER.to_owned()));
    }
    Ok(Store {
        writer: reader.clone(),
        reader,
        file: Some(file),
    })
}

/// Refuses a file that another program made, before anything in it is changed.
async fn refuse_foreign(file: &Path, options: &SqliteConnectOptions) -> Result<(), StoreError> {
    if std::fs::metadata(file).map_or(0, |metadata| metadata.len()) == 0 {
        return Ok(());
    }
    let mut connection = options.clone().create_if_missing(false).connect().await?;
    let id: i64 = sqlx::query_scalar("PRAGMA application_id")
        .fetch_one(&mut connection)
        .await?;
    let tables: i64 = sqlx::query_scalar("SELECT count(*) FROM sqlite_master")
        .fetch_one(&mut connection)
        .await?;
    connection.close().await?;
    if tables > 0 && id != APPLICATION_ID {
        return Err(StoreError::Foreign);
    }
    Ok(())
}

async fn migrate_queue(writer: &SqlitePool) -> Result<(), StoreError> {
    use riverqueue::migrate::SqliteMigrator;
    let queue = |error: riverqueue::migrate::Error| StoreError::Corrupt(Some(Box::new(error)));
    let migrator = SqliteMigrator::new(writer.clone());
    let known = SqliteMigrator::all_versions().len();
    if migrator.existing_versions().await.map_err(queue)?.len() > known {
        return Err(StoreError::Newer);
    }
    migrator.migrate_up().await.map_err(queue)?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_application_id_is_what_the_pragma_sets() {
        assert_eq!(APPLICATION_ID, 1_347_568_963);
    }
}

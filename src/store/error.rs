//! What can go wrong with the database, by what the caller can do about it.

use sqlx::postgres::PgDatabaseError;
use thiserror::Error;

/// A failure of the store. `Display` is one sentence for people and names no path, host or secret;
/// the chain of sources is for the log.
#[derive(Debug, Error)]
pub enum StoreError {
    /// It cannot be reached or written: try again later.
    #[error("the database cannot be reached or written")]
    Unavailable(#[source] Option<sqlx::Error>),
    /// Others hold it for too long: try again soon.
    #[error("the database is busy")]
    Busy(#[source] Option<sqlx::Error>),
    /// The disk is full: nothing can be stored until there is room.
    #[error("the disk of the database is full")]
    Full(#[source] Option<sqlx::Error>),
    /// What is stored cannot be read: an operator has to look.
    #[error("the database is damaged or is not a database: restore a backup or move the file away")]
    Corrupt(#[source] Option<Box<dyn std::error::Error + Send + Sync>>),
    /// A newer version of Precedent wrote it.
    #[error("the database was written by a newer version of Precedent: start that version again")]
    Newer,
    /// The file or the tables belong to another program.
    #[error("the database belongs to another program: name another one in DATABASE_URL")]
    Foreign,
    /// Another running bot works on it.
    #[error("another running Precedent works on this database: stop it first")]
    InUse,
    /// There is no such row, or it may not be seen from here.
    #[error("there is no such record here")]
    NotFound,
    /// It contradicts what is stored; the sentence says what.
    #[error("{0}")]
    Conflict(String),
    /// What was to be stored is not storable; the sentence says why.
    #[error("{0}")]
    Invalid(String),
}

impl StoreError {
    /// Whether the same call may succeed later without anybody doing anything.
    pub fn is_transient(&self) -> bool {
        matches!(self, Self::Unavailable(_) | Self::Busy(_) | Self::Full(_))
    }
}

impl From<sqlx::Error> for StoreError {
    fn from(error: sqlx::Error) -> Self {
        match &error {
            sqlx::Error::RowNotFound => Self::NotFound,
            sqlx::Error::PoolTimedOut => Self::Busy(Some(error)),
            sqlx::Error::Database(database) => {
                let code = database.code().unwrap_or_default();
                if database.try_downcast_ref::<PgDatabaseError>().is_some() {
                    let code = code.into_owned();
                    return of_postgres(&code, error);
                }
                // SQLite's primary result code is the low byte of the extended one.
                match code.parse::<i32>().map(|code| code & 0xff).ok() {
                    Some(5 | 6) => Self::Busy(Some(error)),
                    Some(13) => Self::Full(Some(error)),
                    Some(11 | 26) => Self::Corrupt(Some(Box::new(error))),
                    Some(19) => Self::Conflict("it contradicts what is stored".to_owned()),
                    Some(18) => Self::Invalid(TOO_LARGE.to_owned()),
                    // What the database itself objects to does not go better another time.
                    Some(1 | 20 | 25) => Self::Invalid(NOT_TAKEN.to_owned()),
                    _ => Self::Unavailable(Some(error)),
                }
            }
            sqlx::Error::Decode(_) | sqlx::Error::ColumnDecode { .. } => {
                Self::Corrupt(Some(Box::new(error)))
            }
            _ => Self::Unavailable(Some(error)),
        }
    }
}

const TOO_LARGE: &str = "it is too large to store";
const NOT_TAKEN: &str = "the database does not take it as it is";

/// By the five letters of SQLSTATE, of which the first two are the class.
fn of_postgres(code: &str, error: sqlx::Error) -> StoreError {
    let invalid = |sentence: &str| StoreError::Invalid(sentence.to_owned());
    match code {
        // A lock or a statement took too long; two transactions stood in each other's way.
        "55P03" | "57014" | "40001" | "40P01" | "53300" => StoreError::Busy(Some(error)),
        "53100" => StoreError::Full(Some(error)),
        "28P01" | "28000" => {
            invalid("the database server does not accept the user or the password of DATABASE_URL")
        }
        "3D000" => invalid("the database that DATABASE_URL names does not exist: create it"),
        "42501" => invalid("the user of DATABASE_URL may not do this in the database"),
        "54000" | "54001" | "22001" => invalid(TOO_LARGE),
        _ => match code.get(..2).unwrap_or_default() {
            "23" => StoreError::Conflict("it contradicts what is stored".to_owned()),
            "XX" => StoreError::Corrupt(Some(Box::new(error))),
            "22" | "42" => invalid(NOT_TAKEN),
            _ => StoreError::Unavailable(Some(error)),
        },
    }
}

impl From<sqlx::migrate::MigrateError> for StoreError {
    fn from(error: sqlx::migrate::MigrateError) -> Self {
        use sqlx::migrate::MigrateError;
        match error {
            MigrateError::VersionMissing(_) | MigrateError::VersionTooNew(..) => Self::Newer,
            MigrateError::Execute(error) | MigrateError::ExecuteMigration(error, _) => error.into(),
            other => Self::Corrupt(Some(Box::new(other))),
        }
    }
}

impl From<serde_json::Error> for StoreError {
    fn from(error: serde_json::Error) -> Self {
        Self::Corrupt(Some(Box::new(error)))
    }
}

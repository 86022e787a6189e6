//! The store: incidents, what was tried, analyses, ticks, posts, services. SQL and nothing else.
//!
//! Wanted: what was acknowledged is never lost (`synchronous=FULL`, one commit before the answer);
//! a guild never sees another's rows, and what was reported in a private channel is seen from
//! there alone, because every query takes a [`Scope`]; a job that runs twice stores once, because
//! what it creates is keyed.
//!
//! One database, chosen by URL, in one of the two bodies of [`crate::database`]. Writers of one
//! guild come one after another (`Store::write`), so that what a transaction reads stands until
//! it writes. Statements use `$1` and the shapes that both dialects share; JSON is made and read
//! here and not in SQL.
//!
//! Deliberately absent: decisions. What counts as the same fix, who may do what, when something is
//! asked again: other parts say so, and the store keeps what they said. It reads no clock either,
//! times are given to it.

mod analyses;
mod approvals;
mod attempts;
mod audit;
mod courses;
mod error;
mod imports;
mod incidents;
mod keeping;
mod kept_key;
mod mirrored;
mod outcomes;
mod past;
mod postgres;
mod posts;
mod running;
mod seen;
mod services;
mod settings;
mod sqlite;
mod ticks;
mod vectors;
mod watch;
mod words;

pub use analyses::{AnswerCorrections, Measures, StoredAnalysis};
pub use approvals::Approval;
pub use attempts::{Attempt, Resolution};
pub use audit::{Audited, Signed};
pub use error::StoreError;
pub use imports::{ImportedDocument, OpenQuestion};
pub use incidents::{Change, Event, Filter, Incident, NewIncident};
pub use keeping::{Forgotten, ForgottenPost, Holdings};
pub use mirrored::{DueRecord, HindsightCounts, KnownHere, ToldRecord};
pub use outcomes::{LikenessKind, LikenessQuestion, Link, LinkError};
pub use past::{Entry, PutOutcome, StoredRecord};
pub use posts::{Intended, Post, PostKey};
pub use running::{JoinedReport, SaidUpdate, StepOwner, UpdateDraft};
pub use settings::{Criteria, Roles};
pub use ticks::Tick;
pub use vectors::Unembedded;
pub use watch::{
    AlertChannel, Belongs, Errand, Known, Opens, TakenAlert, Todo, ToldAlert, WatchedFor,
    WatchedPlace, Written,
};

use crate::database::place;
use crate::database::{Body, Connection, Pool, Transaction, query, query_scalar};
use crate::incident::IncidentId;
use jiff::Timestamp;
use std::borrow::Cow;
use std::path::{Path, PathBuf};

/// Why a database can't be read without being brought up to date first.
const OLDER: &str = "the database has not the tables of this version: start the bot or run `precedent check` once, which brings it up to date";

/// Rows that may be seen: those of the guild that are not private, or whose channel or thread is
/// the scope's. `$1` is the guild, `$2` the channel.
macro_rules! visible {
    () => {
        "guild = $1 AND (private = 0 OR channel = $2 OR thread = $2)"
    };
}
pub(crate) use visible;

/// From where something is asked: every query takes one.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Scope {
    /// The guild's id; `local` for the command line.
    pub guild: String,
    /// The channel's id. Asked from a public thread, its parent's (who sees the parent sees the
    /// thread); from a private thread, the thread's own. Empty: public rows only.
    pub channel: String,
}

impl Scope {
    /// A scope.
    pub fn new(guild: impl Into<String>, channel: impl Into<String>) -> Self {
        Self {
            guild: guild.into(),
            channel: channel.into(),
        }
    }

    /// What everybody in the guild may see.
    pub fn public(guild: impl Into<String>) -> Self {
        Self::new(guild, "")
    }
}

/// The database.
#[derive(Clone, Debug)]
pub struct Store {
    writer: Pool,
    reader: Pool,
    file: Option<PathBuf>,
}

impl Store {
    /// Opens the database that `url` names, creates it where it is missing, and brings its tables
    /// up to date.
    ///
    /// # Errors
    ///
    /// [`StoreError::Invalid`] for a URL that is neither `sqlite://...` nor `postgres://...` and
    /// for a server that does not let us in, [`StoreError::Corrupt`], [`StoreError::Newer`] and
    /// [`StoreError::Foreign`] for a database that is not ours to use, [`StoreError::Unavailable`]
    /// where it cannot be opened.
    pub async fn open(url: &str) -> Result<Self, StoreError> {
        if url.starts_with("postgres://") || url.starts_with("postgresql://") {
            return postgres::open(url).await;
        }
        if !url.starts_with("sqlite:") {
            return Err(StoreError::Invalid(
                "DATABASE_URL must begin with sqlite:// or postgres://, such as sqlite://precedent.db"
                    .to_owned(),
            ));
        }
        sqlite::open(url).await
    }

    /// Opens a database to read it and nothing else: nothing is created, brought up to date or
    /// written, whatever is called (R29).
    ///
    /// # Errors
    ///
    /// As [`Store::open`]; [`StoreError::Invalid`] where there is no such file, or where an older
    /// version wrote it and it has to be brought up to date first.
    pub async fn open_to_read(url: &str) -> Result<Self, StoreError> {
        if url.starts_with("postgres://") || url.starts_with("postgresql://") {
            return postgres::open_to_read(url).await;
        }
        if !url.starts_with("sqlite:") {
            return Self::open(url).await;
        }
        sqlite::open_to_read(url).await
    }

    /// Closes every connection. What is called afterwards fails with [`StoreError::Unavailable`].
    pub async fn close(&self) {
        self.reader.close().await;
        self.writer.close().await;
    }

    /// The connections that read: recall searches with them.
    pub fn read_pool(&self) -> &Pool {
        &self.reader
    }

    /// The connections that write, one on SQLite: the queue of jobs shares them.
    pub fn write_pool(&self) -> &Pool {
        &self.writer
    }

    /// The database's file; `None` in memory.
    pub fn file(&self) -> Option<&Path> {
        self.file.as_deref()
    }

    /// Whether a commit goes through now: what `/readyz` and `precedent check` ask.
    ///
    /// # Errors
    ///
    /// Whatever keeps it from writing.
    pub async fn probe(&self) -> Result<(), StoreError> {
        query("INSERT INTO seen (event, at) VALUES ('probe', 0) ON CONFLICT (event) DO UPDATE SET at = 0")
            .execute(&self.writer)
            .await?;
        Ok(())
    }

    /// Reads every page and index of SQLite's file. A server of PostgreSQL looks after its own.
    ///
    /// # Errors
    ///
    /// [`StoreError::Corrupt`] where something does not fit together.
    pub async fn check_integrity(&self) -> Result<(), StoreError> {
        if self.writer.postgres().is_some() {
            return Ok(());
        }
        let verdict: String = query_scalar("PRAGMA quick_check(1)")
            .fetch_one(&self.writer)
            .await?;
        if verdict == "ok" {
            Ok(())
        } else {
            Err(StoreError::Corrupt(Some(verdict.into())))
        }
    }

    /// A transaction that writes to the rows of a guild. Those of one guild come one after
    /// another, so that what is read in one stands until it is written.
    async fn write(&self, guild: &str) -> Result<Transaction, StoreError> {
        let mut transaction = self.writer.begin().await?;
        // SQLite has one writer anyway. A lock held by two guilds whose hashes meet is only slower.
        if let Body::Postgres(connection) = transaction.body() {
            sqlx::query("SELECT pg_advisory_xact_lock($1, hashtext($2))")
                .bind(place::GUILDS)
                .bind(guild)
                .execute(connection)
                .await?;
        }
        Ok(transaction)
    }
}

/// Unix milliseconds, as stored.
fn millis(at: Timestamp) -> i64 {
    at.as_millisecond()
}

fn optional_millis(at: Option<Timestamp>) -> Option<i64> {
    at.map(millis)
}

/// Back from unix milliseconds.
fn timestamp(millis: i64) -> Result<Timestamp, StoreError> {
    Timestamp::from_millisecond(millis).map_err(|error| StoreError::Corrupt(Some(Box::new(error))))
}

fn optional_timestamp(millis: Option<i64>) -> Result<Option<Timestamp>, StoreError> {
    millis.map(timestamp).transpose()
}

fn incident_id(number: i64) -> Result<IncidentId, StoreError> {
    u32::try_from(number)
        .ok()
        .and_then(IncidentId::new)
        .ok_or_else(|| StoreError::Corrupt(Some("a number that is no incident's".into())))
}

/// A text as it is stored: without NUL, which PostgreSQL refuses and SQLite's functions stop at.
fn storable(text: &str) -> Cow<'_, str> {
    if text.contains('\0') {
        Cow::Owned(text.replace('\0', ""))
    } else {
        Cow::Borrowed(text)
    }
}

fn optional_storable(text: Option<&str>) -> Option<Cow<'_, str>> {
    text.map(storable)
}

/// The longest name of a service, in characters: PostgreSQL's indexes take no long ones.
const LONGEST_SERVICE: usize = 200;

/// The name of a service as it is stored with an incident. What is longer than any name is cut.
fn storable_service(name: Option<&str>) -> Option<Cow<'_, str>> {
    optional_storable(name).map(|name| match name.char_indices().nth(LONGEST_SERVICE) {
        Some((end, _)) => Cow::Owned(name.get(..end).unwrap_or_default().to_owned()),
        None => name,
    })
}

/// Refuses what is too long to be the name of a service.
fn refuse_long(name: &str) -> Result<(), StoreError> {
    if name.chars().nth(LONGEST_SERVICE).is_some() {
        return Err(StoreError::Invalid(format!(
            "the name of a service has at most {LONGEST_SERVICE} characters"
        )));
    }
    Ok(())
}

/// A document as JSON text, its strings without NUL.
fn document<T: serde::Serialize + ?Sized>(value: &T) -> Result<String, StoreError> {
    let json = serde_json::to_string(value)
        .map_err(|error| StoreError::Invalid(format!("it cannot be written as JSON: {error}")))?;
    // serde_json writes NUL as \u0000, and a backslash before it as two.
    if !json.contains("\\u0000") {
        return Ok(json);
    }
    let mut out = String::with_capacity(json.len());
    let mut rest = json.as_str();
    while let Some(at) = rest.find('\\') {
        let (before, from) = rest.split_at(at);
        out.push_str(before);
        if let Some(after) = from.strip_prefix("\\u0000") {
            rest = after;
        } else {
            let mut chars = from.chars();
            out.extend(chars.by_ref().take(2));
            rest = chars.as_str();
        }
    }
    out.push_str(rest);
    Ok(out)
}

/// Fails with [`StoreError::NotFound`] where the incident may not be seen from the scope.
async fn must_see(
    connection: &mut Connection,
    scope: &Scope,
    id: IncidentId,
) -> Result<(), StoreError> {
    let found: Option<i64> = query_scalar(concat!(
        "SELECT number FROM incident WHERE ",
        visible!(),
        " AND number = $3"
    ))
    .bind(&scope.guild)
    .bind(&scope.channel)
    .bind(i64::from(id.number()))
    .fetch_optional(connection)
    .await?;
    found.map(|_| ()).ok_or(StoreError::NotFound)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn documents_lose_nul_and_nothing_else() {
        for text in [
            "a\0b",
            "\0",
            "back\\slash\0",
            "\\u0000 written out",
            "\\\0\\",
            "超时\0\"",
            "",
        ] {
            let json = document(text).expect("a string is JSON");
            let back: String = serde_json::from_str(&json).expect("still JSON");
            assert_eq!(back, text.replace('\0', ""), "{text:?} as {json}");
        }
    }
}

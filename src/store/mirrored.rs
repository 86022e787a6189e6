//! How far Hindsight follows our own records.
//!
//! Wanted: nothing that changes here is missed there, whoever changed it and whatever was down. So
//! nobody has to announce a change: what is due is what the incidents themselves say has changed
//! since the server was told ([`Store::due_for_hindsight`]), and what was forgotten here and not yet
//! there ([`Store::forgotten_here`]).
//!
//! And what the server gives back is only shown where we may show it ([`Store::known_here`]).

use super::{Store, StoreError, incident_id, millis, timestamp};
use crate::database::past::past_columns;
use crate::database::{Sql, past, query, query_as, query_scalar};
use crate::incident::{IncidentId, PastIncident};
use jiff::Timestamp;

/// An incident that Hindsight has to be told.
#[derive(Clone, Debug, PartialEq)]
pub struct DueRecord {
    /// Its guild.
    pub guild: String,
    /// The record as it is now.
    pub past: PastIncident,
    /// Seen from its channel and thread only.
    pub private: bool,
    /// The channel that it may be seen from.
    pub channel: String,
    /// Its thread.
    pub thread: Option<String>,
    /// When it last changed.
    pub updated_at: Timestamp,
    /// Fingerprint of what the server keeps of it; empty where that is nothing or not known.
    pub kept: String,
    /// How often it failed in a row.
    pub failures: u32,
}

/// What came of telling the server of one incident.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ToldRecord {
    /// The incident.
    pub id: IncidentId,
    /// Fingerprint of what is kept there now; empty where nothing is.
    pub kept: String,
    /// Changes of the incident up to here are told.
    pub told_to: Option<Timestamp>,
    /// How often it failed in a row.
    pub failures: u32,
    /// Not to be tried before.
    pub next_at: Option<Timestamp>,
    /// Why it is not kept; empty where it is.
    pub problem: &'static str,
}

/// What we know of an incident that Hindsight named.
#[derive(Clone, Debug, PartialEq)]
pub enum KnownHere {
    /// Our own record, which may be recalled from where it was asked.
    Record(Box<PastIncident>),
    /// It may not be recalled from there: private elsewhere, still open, the one at hand, forgotten.
    Hidden(IncidentId),
}

/// How many incidents stand where with Hindsight.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct HindsightCounts {
    /// Kept there as they are here.
    pub kept: u64,
    /// Still to be told, the ones below among them.
    pub waiting: u64,
    /// The server said `success` and kept nothing.
    pub empty: u64,
    /// The server does not take them.
    pub refused: u64,
    /// Forgotten here and not yet there.
    pub to_forget: u64,
}

/// Incidents with these numbers, and whether they may be recalled from `$2` on behalf of `$3`.
macro_rules! known {
    ($among:literal) => {
        concat!(
            "SELECT ",
            past_columns!(),
            ", CAST(CASE WHEN (private = 0 OR ($2 <> '' AND (channel = $2 OR thread = $2))) AND number <> $3 \
             AND status IN ('resolved', 'closed') THEN 1 ELSE 0 END AS BIGINT) AS recallable \
             FROM incident WHERE guild = $1 AND number ",
            $among
        )
    };
}

const KNOWN: Sql = Sql {
    sqlite: known!("IN (SELECT value FROM json_each($4))"),
    postgres: known!("= ANY($4)"),
};

/// Of these numbers, those of which a server was told at any time.
macro_rules! told {
    ($among:literal) => {
        concat!(
            "SELECT DISTINCT number FROM hindsight_document WHERE guild = $1 AND number ",
            $among
        )
    };
}

const TOLD: Sql = Sql {
    sqlite: told!("IN (SELECT value FROM json_each($2))"),
    postgres: told!("= ANY($2)"),
};

impl Store {
    /// Incidents that the server has not been told as they are now, the last changed first. With
    /// `since`, only those that changed from then on, which costs next to nothing. What is kept
    /// and merely to be looked at once more ([`ToldRecord::told_to`] a millisecond early) waits for
    /// its time; a change after that does not.
    ///
    /// # Errors
    ///
    /// Those of the database.
    pub async fn due_for_hindsight(
        &self,
        home: &str,
        since: Option<Timestamp>,
        now: Timestamp,
        limit: u32,
    ) -> Result<Vec<DueRecord>, StoreError> {
        let mut connection = self.reader.acquire().await?;
        let rows = query(concat!(
            "SELECT ",
            past_columns!(),
            ", incident.guild, incident.private, incident.channel, incident.thread, incident.updated_at, \
             d.fingerprint, d.failures FROM incident LEFT JOIN hindsight_document d \
             ON d.home = $1 AND d.guild = incident.guild AND d.number = incident.number \
             WHERE incident.updated_at >= $2 AND incident.status IN ('resolved', 'closed') \
             AND (d.number IS NULL OR (d.source_at <> incident.updated_at \
             AND (d.next_at <= $3 OR (d.fingerprint <> '' AND incident.updated_at > d.source_at + 1)))) \
             ORDER BY incident.updated_at DESC LIMIT $4"
        ))
        .bind(home)
        .bind(since.map_or(i64::MIN, millis))
        .bind(millis(now))
        .bind(i64::from(limit))
        .fetch_all(&mut connection)
        .await?;
        let mut due = Vec::new();
        for (guild, past, row) in past::read_of_guilds(&mut connection, rows).await? {
            let failures: Option<i64> = row.try_get("failures")?;
            due.push(DueRecord {
                guild,
                past,
                private: row.try_get::<i64>("private")? != 0,
                channel: row.try_get("channel")?,
                thread: row.try_get("thread")?,
                updated_at: timestamp(row.try_get("updated_at")?)?,
                kept: row
                    .try_get::<Option<String>>("fingerprint")?
                    .unwrap_or_default(),
                failures: u32::try_from(failures.unwrap_or(0)).unwrap_or(0),
            });
        }
        Ok(due)
    }

    /// Incidents that are gone here, which the server may still have.
    ///
    /// # Errors
    ///
    /// Those of the database.
    pub async fn forgotten_here(
        &self,
        home: &str,
        now: Timestamp,
        limit: u32,
    ) -> Result<Vec<(String, IncidentId)>, StoreError> {
        let rows: Vec<(String, i64)> = query_as(
            "SELECT d.guild, d.number FROM hindsight_document d LEFT JOIN incident i \
             ON i.guild = d.guild AND i.number = d.number \
             WHERE d.home = $1 AND d.forgotten = 0 AND i.number IS NULL AND d.next_at <= $2 LIMIT $3",
        )
        .bind(home)
        .bind(millis(now))
        .bind(i64::from(limit))
        .fetch_all(&self.reader)
        .await?;
        rows.into_iter()
            .map(|(guild, number)| Ok((guild, incident_id(number)?)))
            .collect()
    }

    /// Notes, before anything is sent, that the server may have these from now on.
    ///
    /// # Errors
    ///
    /// Those of the database: nothing may be sent then.
    pub async fn telling_hindsight(
        &self,
        home: &str,
        guild: &str,
        ids: &[IncidentId],
    ) -> Result<(), StoreError> {
        let mut tx = self.write(guild).await?;
        for id in ids {
            query(
                "INSERT INTO hindsight_document \
                 (home, guild, number, fingerprint, source_at, forgotten, failures, next_at, problem) \
                 VALUES ($1, $2, $3, '', -1, 0, 0, 0, '') \
                 ON CONFLICT (home, guild, number) DO UPDATE SET fingerprint = '', source_at = -1, forgotten = 0",
            )
            .bind(home)
            .bind(guild)
            .bind(i64::from(id.number()))
            .execute(&mut *tx)
            .await?;
        }
        Ok(tx.commit().await?)
    }

    /// Notes what came of it.
    ///
    /// # Errors
    ///
    /// Those of the database: they are told again then.
    pub async fn told_hindsight(
        &self,
        home: &str,
        guild: &str,
        all: &[ToldRecord],
    ) -> Result<(), StoreError> {
        let mut tx = self.write(guild).await?;
        for told in all {
            query(
                "UPDATE hindsight_document SET fingerprint = $4, source_at = $5, failures = $6, next_at = $7, problem = $8 \
                 WHERE home = $1 AND guild = $2 AND number = $3",
            )
            .bind(home)
            .bind(guild)
            .bind(i64::from(told.id.number()))
            .bind(&told.kept)
            .bind(told.told_to.map_or(-1, millis))
            .bind(i64::from(told.failures))
            .bind(told.next_at.map_or(0, millis))
            .bind(told.problem)
            .execute(&mut *tx)
            .await?;
        }
        Ok(tx.commit().await?)
    }

    /// Notes that an incident is gone there too; or, with a time, that it could not be told before.
    ///
    /// # Errors
    ///
    /// Those of the database.
    pub async fn forgotten_there(
        &self,
        home: &str,
        guild: &str,
        id: IncidentId,
        again_at: Option<Timestamp>,
    ) -> Result<(), StoreError> {
        query(
            "UPDATE hindsight_document SET forgotten = $4, next_at = $5, fingerprint = '', source_at = -1, problem = '' \
             WHERE home = $1 AND guild = $2 AND number = $3",
        )
        .bind(home)
        .bind(guild)
        .bind(i64::from(id.number()))
        .bind(i64::from(again_at.is_none()))
        .bind(again_at.map_or(0, millis))
        .execute(&self.writer)
        .await?;
        Ok(())
    }

    /// The server lost a guild's bank: everything is told again. Gives how many were there.
    ///
    /// # Errors
    ///
    /// Those of the database.
    pub async fn hindsight_lost(&self, home: &str, guild: &str) -> Result<u64, StoreError> {
        let changed = query(
            "UPDATE hindsight_document SET fingerprint = '', source_at = -1, next_at = 0 \
             WHERE home = $1 AND guild = $2 AND fingerprint <> '' AND forgotten = 0",
        )
        .bind(home)
        .bind(guild)
        .execute(&self.writer)
        .await?;
        Ok(changed.rows_affected())
    }

    /// How far the server is.
    ///
    /// # Errors
    ///
    /// Those of the database.
    pub async fn hindsight_counts(&self, home: &str) -> Result<HindsightCounts, StoreError> {
        let (ended, kept, empty, refused): (i64, i64, i64, i64) = query_as(
            "SELECT count(*), count(CASE WHEN d.fingerprint <> '' THEN 1 END), \
             count(CASE WHEN d.problem = 'empty' THEN 1 END), count(CASE WHEN d.problem = 'refused' THEN 1 END) \
             FROM incident i LEFT JOIN hindsight_document d \
             ON d.home = $1 AND d.guild = i.guild AND d.number = i.number \
             WHERE i.status IN ('resolved', 'closed')",
        )
        .bind(home)
        .fetch_one(&self.reader)
        .await?;
        let to_forget: i64 = query_scalar(
            "SELECT count(*) FROM hindsight_document d LEFT JOIN incident i \
             ON i.guild = d.guild AND i.number = d.number \
             WHERE d.home = $1 AND d.forgotten = 0 AND i.number IS NULL",
        )
        .bind(home)
        .fetch_one(&self.reader)
        .await?;
        let count = |number: i64| u64::try_from(number).unwrap_or(0);
        Ok(HindsightCounts {
            kept: count(kept),
            waiting: count(ended - kept),
            empty: count(empty),
            refused: count(refused),
            to_forget: count(to_forget),
        })
    }

    /// What we know of these incidents, asked from a channel on behalf of one incident. Those of
    /// which we know nothing, and never did, are not among the answers.
    ///
    /// # Errors
    ///
    /// Those of the database.
    pub async fn known_here(
        &self,
        guild: &str,
        channel: &str,
        own: Option<IncidentId>,
        ids: &[IncidentId],
    ) -> Result<Vec<KnownHere>, StoreError> {
        let numbers: Vec<i64> = ids.iter().map(|id| i64::from(id.number())).collect();
        let mut connection = self.reader.acquire().await?;
        let rows = query(KNOWN)
            .bind(guild)
            .bind(channel)
            .bind(own.map_or(0, |id| i64::from(id.number())))
            .bind(numbers.clone())
            .fetch_all(&mut connection)
            .await?;
        let told: Vec<i64> = query_scalar(TOLD)
            .bind(guild)
            .bind(numbers)
            .fetch_all(&mut connection)
            .await?;
        let mut known = Vec::new();
        let mut seen = Vec::new();
        for (record, row) in past::read(&mut connection, guild, rows).await? {
            seen.push(i64::from(record.id.number()));
            known.push(if row.try_get::<i64>("recallable")? != 0 {
                KnownHere::Record(Box::new(record))
            } else {
                KnownHere::Hidden(record.id)
            });
        }
        for number in told {
            if !seen.contains(&number) {
                known.push(KnownHere::Hidden(incident_id(number)?));
            }
        }
        Ok(known)
    }

    /// Takes, or keeps, the right to tell a server, until the given time; `false` where another
    /// process has it.
    ///
    /// # Errors
    ///
    /// Those of the database.
    pub async fn lease_hindsight(
        &self,
        home: &str,
        holder: &str,
        now: Timestamp,
        until: Timestamp,
    ) -> Result<bool, StoreError> {
        let changed = query(
            "INSERT INTO hindsight_lease (home, holder, until) VALUES ($1, $2, $4) \
             ON CONFLICT (home) DO UPDATE SET holder = excluded.holder, until = excluded.until \
             WHERE hindsight_lease.holder = excluded.holder OR hindsight_lease.until < $3",
        )
        .bind(home)
        .bind(holder)
        .bind(millis(now))
        .bind(millis(until))
        .execute(&self.writer)
        .await?;
        Ok(changed.rows_affected() > 0)
    }

    /// Gives the right back.
    ///
    /// # Errors
    ///
    /// Those of the database: it runs out then.
    pub async fn release_hindsight(&self, home: &str, holder: &str) -> Result<(), StoreError> {
        query("DELETE FROM hindsight_lease WHERE home = $1 AND holder = $2")
            .bind(home)
            .bind(holder)
            .execute(&self.writer)
            .await?;
        Ok(())
    }
}

//! What a team brings along: which document became which record, imports that wait for a yes, and
//! the fixes of which nobody has said yet what became of them.

use super::attempts::{Judged, judge};
use super::incidents::{load, note};
use super::{
    Scope, Store, StoreError, incident_id, millis, must_see, optional_timestamp, storable,
};
use crate::database::{query, query_as, query_scalar};
use crate::incident::{IncidentId, Outcome, PastIncident};
use jiff::Timestamp;

/// How long an import waits for a yes.
const PREVIEW_MILLIS: i64 = 24 * 60 * 60 * 1000;

/// A document that was imported before.
#[derive(Clone, Debug, PartialEq)]
pub struct ImportedDocument {
    /// What it looked like then.
    pub digest: String,
    /// What it became, as it stands now.
    pub past: PastIncident,
}

/// A fix of which nobody has said what became of it.
#[derive(Clone, Debug, PartialEq)]
pub struct OpenQuestion {
    /// The incident.
    pub past: PastIncident,
    /// The attempt, by its number in the incident.
    pub attempt: u32,
    /// Its fix.
    pub fix: String,
    /// When its outcome was last looked at, if it was.
    pub at: Option<Timestamp>,
}

impl Store {
    /// The document that came from `source`, if it was imported before and still stands.
    ///
    /// # Errors
    ///
    /// Those of the database.
    pub async fn imported_document(
        &self,
        guild: &str,
        source: &str,
    ) -> Result<Option<ImportedDocument>, StoreError> {
        let mut connection = self.reader.acquire().await?;
        let row: Option<(String, i64)> = query_as(
            "SELECT digest, number FROM imported_document WHERE guild = $1 AND source = $2",
        )
        .bind(guild)
        .bind(storable(source))
        .fetch_optional(&mut connection)
        .await?;
        let Some((digest, number)) = row else {
            return Ok(None);
        };
        match load(&mut connection, guild, incident_id(number)?).await {
            Ok(incident) => Ok(Some(ImportedDocument {
                digest,
                past: incident.past,
            })),
            Err(StoreError::NotFound) => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Notes what documents became: source, digest, and the record's number.
    ///
    /// # Errors
    ///
    /// Those of the database; none is noted then.
    pub async fn note_documents(
        &self,
        guild: &str,
        documents: &[(String, String, IncidentId)],
        at: Timestamp,
    ) -> Result<(), StoreError> {
        let mut tx = self.write(guild).await?;
        for (source, digest, id) in documents {
            query(
                "INSERT INTO imported_document (guild, source, digest, number, at) \
                 VALUES ($1, $2, $3, $4, $5) \
                 ON CONFLICT (guild, source) DO UPDATE SET digest = excluded.digest, \
                 number = excluded.number, at = excluded.at",
            )
            .bind(guild)
            .bind(storable(source))
            .bind(digest)
            .bind(i64::from(id.number()))
            .bind(millis(at))
            .execute(&mut *tx)
            .await?;
        }
        Ok(tx.commit().await?)
    }

    /// Keeps an import until somebody says yes or no. The same key again replaces it.
    ///
    /// # Errors
    ///
    /// Those of the database.
    pub async fn keep_preview(
        &self,
        guild: &str,
        key: &str,
        by: &str,
        content: &str,
        at: Timestamp,
    ) -> Result<(), StoreError> {
        let mut tx = self.write(guild).await?;
        // What nobody answered for a day is no longer wanted.
        query("DELETE FROM import_preview WHERE at < $1")
            .bind(millis(at) - PREVIEW_MILLIS)
            .execute(&mut *tx)
            .await?;
        query(
            "INSERT INTO import_preview (guild, key, by_whom, content, at) \
             VALUES ($1, $2, $3, $4, $5) \
             ON CONFLICT (guild, key) DO UPDATE SET content = excluded.content, at = excluded.at",
        )
        .bind(guild)
        .bind(key)
        .bind(storable(by))
        .bind(storable(content))
        .bind(millis(at))
        .execute(&mut *tx)
        .await?;
        Ok(tx.commit().await?)
    }

    /// An import that waits, if it still does.
    ///
    /// # Errors
    ///
    /// Those of the database.
    pub async fn preview(&self, guild: &str, key: &str) -> Result<Option<String>, StoreError> {
        Ok(
            query_scalar("SELECT content FROM import_preview WHERE guild = $1 AND key = $2")
                .bind(guild)
                .bind(key)
                .fetch_optional(&self.reader)
                .await?,
        )
    }

    /// An import waits no more.
    ///
    /// # Errors
    ///
    /// Those of the database.
    pub async fn drop_preview(&self, guild: &str, key: &str) -> Result<(), StoreError> {
        query("DELETE FROM import_preview WHERE guild = $1 AND key = $2")
            .bind(guild)
            .bind(key)
            .execute(&self.writer)
            .await?;
        Ok(())
    }

    /// Incidents that are over, have a fix of which the outcome is unknown and none that held, and
    /// were not left open by this person before; newest first, and how many there are in all.
    ///
    /// # Errors
    ///
    /// Those of the database.
    pub async fn open_questions(
        &self,
        scope: &Scope,
        by: &str,
        limit: u32,
    ) -> Result<(Vec<OpenQuestion>, u64), StoreError> {
        macro_rules! waiting {
            () => {
                "FROM incident i JOIN attempt a ON a.guild = i.guild AND a.number = i.number \
                 WHERE i.guild = $1 AND (i.private = 0 OR i.channel = $2 OR i.thread = $2) \
                 AND i.status IN ('resolved', 'closed') \
                 AND a.withdrawn = 0 AND a.outcome = 'unknown' AND a.fix <> '' \
                 AND NOT EXISTS (SELECT 1 FROM attempt later WHERE later.guild = i.guild \
                 AND later.number = i.number AND later.withdrawn = 0 \
                 AND (later.outcome = 'held' OR (later.outcome = 'unknown' AND later.seq > a.seq))) \
                 AND NOT EXISTS (SELECT 1 FROM incident_event e WHERE e.guild = i.guild \
                 AND e.number = i.number AND e.what = 'left_open' AND e.by_whom = $3)"
            };
        }
        let mut connection = self.reader.acquire().await?;
        let all: i64 = query_scalar(concat!("SELECT count(*) ", waiting!()))
            .bind(&scope.guild)
            .bind(&scope.channel)
            .bind(storable(by))
            .fetch_one(&mut connection)
            .await?;
        let rows: Vec<(i64, i64, String, Option<i64>)> = query_as(concat!(
            "SELECT i.number, a.seq, a.fix, a.at ",
            waiting!(),
            " ORDER BY coalesce(i.resolved_at, i.started_at, 0) DESC, i.number DESC LIMIT $4"
        ))
        .bind(&scope.guild)
        .bind(&scope.channel)
        .bind(storable(by))
        .bind(i64::from(limit))
        .fetch_all(&mut connection)
        .await?;
        let mut questions = Vec::with_capacity(rows.len());
        for (number, seq, fix, at) in rows {
            let incident = load(&mut connection, &scope.guild, incident_id(number)?).await?;
            questions.push(OpenQuestion {
                past: incident.past,
                attempt: u32::try_from(seq).unwrap_or_default(),
                fix,
                at: optional_timestamp(at)?,
            });
        }
        Ok((questions, u64::try_from(all).unwrap_or_default()))
    }

    /// Says what became of an old fix. When that was stays as it is stored: it was then, not now.
    ///
    /// # Errors
    ///
    /// [`StoreError::NotFound`] where there is no such attempt, or as for [`Store::incident`].
    pub async fn judge_old_fix(
        &self,
        scope: &Scope,
        id: IncidentId,
        attempt: u32,
        outcome: Outcome,
        by: &str,
        now: Timestamp,
    ) -> Result<(), StoreError> {
        let mut tx = self.write(&scope.guild).await?;
        must_see(&mut tx, scope, id).await?;
        let judged = Judged {
            seq: attempt,
            outcome,
            by,
            at: None,
            note: None,
        };
        judge(&mut tx, &scope.guild, id, &judged, Some("review"), now).await?;
        Ok(tx.commit().await?)
    }

    /// A person does not know what became of an incident's fix: they are not asked again.
    ///
    /// # Errors
    ///
    /// [`StoreError::NotFound`] where the incident may not be seen from the scope.
    pub async fn leave_open(
        &self,
        scope: &Scope,
        id: IncidentId,
        by: &str,
        at: Timestamp,
    ) -> Result<(), StoreError> {
        let mut tx = self.write(&scope.guild).await?;
        must_see(&mut tx, scope, id).await?;
        note(
            &mut tx,
            &scope.guild,
            id,
            at,
            by,
            "left_open",
            &serde_json::json!({}),
        )
        .await?;
        Ok(tx.commit().await?)
    }
}

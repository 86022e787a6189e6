//! Who may see a record, and how one is forgotten.
//!
//! Wanted: what is forgotten is gone: its row and all that hangs from it, its words in the index,
//! what other analyses had recalled of it, and, as far as the database can see to it, the pages of
//! the file that held it. What is left is its number, which is never given out again, so that what
//! cited it can say that it is gone.

use super::audit::audit;
use super::incidents::{load, note, touch};
use super::services::{insert_service, registry};
use super::watch::forget_alerts;
use super::{
    Change, Incident, Scope, Signed, Store, StoreError, StoredAnalysis, document, incident_id,
    millis, must_see, storable, timestamp, visible, words,
};
use crate::database::{Body, query, query_as, query_scalar};
use crate::incident::{IncidentId, Locale, Service};
use jiff::Timestamp;
use serde_json::json;

/// What hangs from an incident: counted before a person is asked whether to forget it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Holdings {
    /// Analyses.
    pub analyses: u32,
    /// Fixes tried.
    pub attempts: u32,
    /// Entries of its history, ticks of its steps, and what was said of approvals.
    pub entries: u32,
    /// Messages of the bot about it.
    pub messages: u32,
    /// Analyses of other incidents that recalled it.
    pub recalled_in: u32,
}

/// An incident that was forgotten.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Forgotten {
    /// Its number.
    pub id: IncidentId,
    /// When.
    pub at: Timestamp,
    /// By whom or what.
    pub by: String,
}

/// A message of the bot about a forgotten incident.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ForgottenPost {
    /// The channel or thread.
    pub channel: String,
    /// The message.
    pub message: String,
    /// The language of its thread.
    pub locale: Locale,
}

impl Store {
    /// What hangs from an incident.
    ///
    /// # Errors
    ///
    /// [`StoreError::NotFound`] as for [`Store::incident`].
    pub async fn holdings(&self, scope: &Scope, id: IncidentId) -> Result<Holdings, StoreError> {
        let mut connection = self.reader.acquire().await?;
        must_see(&mut connection, scope, id).await?;
        let number = i64::from(id.number());
        let mut counts = [0_u32; 5];
        for (count, statement) in counts.iter_mut().zip([
            "SELECT count(*) FROM analysis WHERE guild = $1 AND number = $2",
            "SELECT count(*) FROM attempt WHERE guild = $1 AND number = $2",
            "SELECT count(*) FROM incident_event WHERE guild = $1 AND number = $2",
            "SELECT (SELECT count(*) FROM tick WHERE guild = $1 AND number = $2) \
             + (SELECT count(*) FROM approval WHERE guild = $1 AND number = $2)",
            "SELECT count(*) FROM post WHERE guild = $1 AND number = $2 AND message IS NOT NULL",
        ]) {
            let found: i64 = query_scalar(statement)
                .bind(&scope.guild)
                .bind(number)
                .fetch_one(&mut connection)
                .await?;
            *count = u32::try_from(found).unwrap_or(u32::MAX);
        }
        let recalled_in: i64 = query_scalar(
            "SELECT count(*) FROM analysis WHERE guild = $1 AND number <> $2 AND case_json LIKE $3",
        )
        .bind(&scope.guild)
        .bind(number)
        .bind(mention(id))
        .fetch_one(&mut connection)
        .await?;
        let [analyses, attempts, events, ticks, messages] = counts;
        Ok(Holdings {
            analyses,
            attempts,
            entries: events.saturating_add(ticks),
            messages,
            recalled_in: u32::try_from(recalled_in).unwrap_or(u32::MAX),
        })
    }

    /// Other incidents whose analyses hold this one in what they recalled: the incident and the
    /// numbers of its analyses.
    ///
    /// # Errors
    ///
    /// Those of the database.
    pub async fn recalled_in(
        &self,
        guild: &str,
        id: IncidentId,
    ) -> Result<Vec<(IncidentId, u32)>, StoreError> {
        let mut connection = self.reader.acquire().await?;
        let rows: Vec<(i64, i64)> = query_as(
            "SELECT number, seq FROM analysis WHERE guild = $1 AND number <> $2 AND case_json LIKE $3 \
             ORDER BY number, seq",
        )
        .bind(guild)
        .bind(i64::from(id.number()))
        .bind(mention(id))
        .fetch_all(&mut connection)
        .await?;
        rows.into_iter()
            .map(|(number, seq)| Ok((incident_id(number)?, u32::try_from(seq).unwrap_or(u32::MAX))))
            .collect()
    }

    /// Replaces what an analysis recalled, its answer and its corrections: after something that it
    /// rests on was forgotten.
    ///
    /// # Errors
    ///
    /// [`StoreError::NotFound`] as for [`Store::incident`].
    pub async fn rewrite_analysis(
        &self,
        scope: &Scope,
        id: IncidentId,
        analysis: &StoredAnalysis,
    ) -> Result<(), StoreError> {
        let proposal = analysis.proposal.as_ref().map(document).transpose()?;
        let mut tx = self.write(&scope.guild).await?;
        must_see(&mut tx, scope, id).await?;
        words::overwrite(&mut tx, true).await?;
        query(
            "UPDATE analysis SET case_json = $4, proposal = $5, corrections = $6, route = $7 \
             WHERE guild = $1 AND number = $2 AND seq = $3",
        )
        .bind(&scope.guild)
        .bind(i64::from(id.number()))
        .bind(i64::from(analysis.seq))
        .bind(document(&analysis.case)?)
        .bind(proposal)
        .bind(document(&analysis.corrections)?)
        .bind(document(&analysis.route)?)
        .execute(&mut *tx)
        .await?;
        words::overwrite(&mut tx, false).await?;
        Ok(tx.commit().await?)
    }

    /// What opened an incident: an interaction's id, or the name of an import.
    ///
    /// # Errors
    ///
    /// [`StoreError::NotFound`] where there is none of this number.
    pub async fn opening_of(&self, guild: &str, id: IncidentId) -> Result<String, StoreError> {
        let mut connection = self.reader.acquire().await?;
        Ok(
            query_scalar("SELECT opening FROM incident WHERE guild = $1 AND number = $2")
                .bind(guild)
                .bind(i64::from(id.number()))
                .fetch_one(&mut connection)
                .await?,
        )
    }

    /// Removes an incident and everything that hangs from it, in one transaction. Its number is
    /// kept as forgotten and not given out again; what named it as duplicate or parent names
    /// nothing then. The bot's messages about it are kept by their ids alone, to be edited.
    ///
    /// # Errors
    ///
    /// [`StoreError::NotFound`] as for [`Store::incident`].
    pub async fn forget(
        &self,
        scope: &Scope,
        id: IncidentId,
        signed: Signed<'_>,
    ) -> Result<(), StoreError> {
        let mut tx = self.write(&scope.guild).await?;
        must_see(&mut tx, scope, id).await?;
        words::overwrite(&mut tx, true).await?;
        let number = i64::from(id.number());
        query(
            "INSERT INTO forgotten (guild, number, at, by_whom, channel, thread, private) \
             SELECT guild, number, $3, $4, channel, thread, private FROM incident \
             WHERE guild = $1 AND number = $2",
        )
        .bind(&scope.guild)
        .bind(number)
        .bind(millis(signed.at))
        .bind(storable(signed.by))
        .execute(&mut *tx)
        .await?;
        words::remove(&mut tx, &scope.guild, id).await?;
        forget_alerts(&mut tx, &scope.guild, id).await?;
        for statement in [
            "INSERT INTO forgotten_post (guild, number, channel, message, locale) \
             SELECT p.guild, p.number, p.channel, p.message, i.locale FROM post p \
             JOIN incident i ON i.guild = p.guild AND i.number = p.number \
             WHERE p.guild = $1 AND p.number = $2 AND p.message IS NOT NULL ON CONFLICT DO NOTHING",
            "UPDATE incident SET duplicate_of = NULL WHERE guild = $1 AND duplicate_of = $2",
            "UPDATE incident SET parent = NULL WHERE guild = $1 AND parent = $2",
            "DELETE FROM post WHERE guild = $1 AND number = $2",
            "DELETE FROM incident WHERE guild = $1 AND number = $2",
        ] {
            query(statement)
                .bind(&scope.guild)
                .bind(number)
                .execute(&mut *tx)
                .await?;
        }
        let subject = id.to_string();
        audit(
            &mut tx,
            &scope.guild,
            signed,
            "forgotten",
            &subject,
            &json!({}),
        )
        .await?;
        words::overwrite(&mut tx, false).await?;
        Ok(tx.commit().await?)
    }

    /// Goes over what the database may still hold of what was deleted: words in the index's old
    /// segments, and the log of changes. Nobody waits for it for long: it goes in small steps. A
    /// server of PostgreSQL does it by itself, with its vacuum.
    ///
    /// # Errors
    ///
    /// Those of the database.
    pub async fn erase_traces(&self) -> Result<(), StoreError> {
        words::drop_deleted(self).await?;
        // What was deleted stands in the log as it was before, until the log is written back and
        // begun anew. Where others read meanwhile it is only written back.
        if let Body::Sqlite(connection) = self.writer.acquire().await?.body() {
            sqlx::query("PRAGMA wal_checkpoint(TRUNCATE)")
                .execute(connection)
                .await?;
        }
        Ok(())
    }

    /// Whether an incident was forgotten, where it could be seen from the scope.
    ///
    /// # Errors
    ///
    /// Those of the database.
    pub async fn forgotten(
        &self,
        scope: &Scope,
        id: IncidentId,
    ) -> Result<Option<Forgotten>, StoreError> {
        let mut connection = self.reader.acquire().await?;
        let row: Option<(i64, String)> = query_as(concat!(
            "SELECT at, by_whom FROM forgotten WHERE ",
            visible!(),
            " AND number = $3"
        ))
        .bind(&scope.guild)
        .bind(&scope.channel)
        .bind(i64::from(id.number()))
        .fetch_optional(&mut connection)
        .await?;
        row.map(|(at, by)| {
            Ok(Forgotten {
                id,
                at: timestamp(at)?,
                by,
            })
        })
        .transpose()
    }

    /// Messages about a forgotten incident that are still to be edited.
    ///
    /// # Errors
    ///
    /// Those of the database.
    pub async fn forgotten_posts(
        &self,
        guild: &str,
        id: IncidentId,
    ) -> Result<Vec<ForgottenPost>, StoreError> {
        let mut connection = self.reader.acquire().await?;
        let rows: Vec<(String, String, String)> = query_as(
            "SELECT channel, message, locale FROM forgotten_post WHERE guild = $1 AND number = $2 \
             ORDER BY channel, message",
        )
        .bind(guild)
        .bind(i64::from(id.number()))
        .fetch_all(&mut connection)
        .await?;
        Ok(rows
            .into_iter()
            .map(|(channel, message, locale)| ForgottenPost {
                channel,
                message,
                locale: Locale::from_discord(&locale),
            })
            .collect())
    }

    /// A message about a forgotten incident says so now, or is gone.
    ///
    /// # Errors
    ///
    /// Those of the database.
    pub async fn forgotten_post_settled(
        &self,
        guild: &str,
        post: &ForgottenPost,
    ) -> Result<(), StoreError> {
        let mut tx = self.write(guild).await?;
        query("DELETE FROM forgotten_post WHERE guild = $1 AND channel = $2 AND message = $3")
            .bind(guild)
            .bind(&post.channel)
            .bind(&post.message)
            .execute(&mut *tx)
            .await?;
        Ok(tx.commit().await?)
    }

    /// Incidents of every guild that ended before a time: `(guild, number)`, the oldest first.
    /// Those of which nobody knows when they ended count by when they began; without either they
    /// are kept.
    ///
    /// # Errors
    ///
    /// Those of the database.
    pub async fn ended_before(
        &self,
        before: Timestamp,
        limit: u32,
    ) -> Result<Vec<(String, IncidentId)>, StoreError> {
        let mut connection = self.reader.acquire().await?;
        let rows: Vec<(String, i64)> = query_as(
            "SELECT guild, number FROM incident \
             WHERE status NOT IN ('investigating', 'fixing', 'mitigated') \
             AND coalesce(resolved_at, started_at) < $1 \
             ORDER BY coalesce(resolved_at, started_at), guild, number LIMIT $2",
        )
        .bind(millis(before))
        .bind(i64::from(limit))
        .fetch_all(&mut connection)
        .await?;
        rows.into_iter()
            .map(|(guild, number)| Ok((guild, incident_id(number)?)))
            .collect()
    }

    /// Shares an incident with its whole guild, or keeps it to the channel it was reported in.
    /// A shared one's service is registered: it is named to everybody now.
    ///
    /// # Errors
    ///
    /// [`StoreError::NotFound`] as for [`Store::incident`]; [`StoreError::Conflict`] where it
    /// belongs to no channel to be kept to.
    pub async fn share(
        &self,
        scope: &Scope,
        id: IncidentId,
        shared: bool,
        signed: Signed<'_>,
    ) -> Result<Incident, StoreError> {
        let mut tx = self.write(&scope.guild).await?;
        must_see(&mut tx, scope, id).await?;
        let incident = load(&mut tx, &scope.guild, id).await?;
        if !shared && incident.channel.is_empty() {
            return Err(StoreError::Conflict(format!(
                "{id} belongs to no channel that it could be kept to"
            )));
        }
        query("UPDATE incident SET private = $3 WHERE guild = $1 AND number = $2")
            .bind(&scope.guild)
            .bind(i64::from(id.number()))
            .bind(i64::from(!shared))
            .execute(&mut *tx)
            .await?;
        let what = if shared { "shared" } else { "unshared" };
        let detail = serde_json::to_value(Change::Private(!shared))?;
        // Another home of memory learns of it by this.
        touch(&mut tx, &scope.guild, id, signed.at).await?;
        note(
            &mut tx,
            &scope.guild,
            id,
            signed.at,
            signed.by,
            what,
            &detail,
        )
        .await?;
        audit(
            &mut tx,
            &scope.guild,
            signed,
            what,
            &id.to_string(),
            &json!({}),
        )
        .await?;
        if let Some(service) = incident.past.service.as_deref().filter(|_| shared) {
            let known = registry(&mut tx, &scope.guild).await?;
            if known.resolve(service).is_none() {
                insert_service(&mut tx, &scope.guild, &Service::named(service)).await?;
            }
        }
        let incident = load(&mut tx, &scope.guild, id).await?;
        tx.commit().await?;
        Ok(incident)
    }
}

/// How a stored case names an incident that it recalled.
fn mention(id: IncidentId) -> String {
    format!("%\"{id}\"%")
}

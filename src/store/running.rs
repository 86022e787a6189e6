//! What is kept only while an incident runs: updates that were said, reminders, who does which step.

use super::incidents::note;
use super::{Scope, Store, StoreError, millis, must_see, storable, timestamp};
use crate::database::{query, query_as, query_scalar};
use crate::incident::IncidentId;
use jiff::Timestamp;
use serde_json::json;

/// The audience whose cadence is kept: the team's.
const INTERNAL: &str = "internal";

/// An update that went out.
#[derive(Clone, Debug, PartialEq)]
pub struct SaidUpdate {
    /// When it was said.
    pub at: Timestamp,
    /// Who said it, by display name.
    pub by: String,
    /// For whom: the audience's word.
    pub audience: String,
    /// What it rested on, as the presenting side keeps it (JSON).
    pub stand: String,
    /// Its words.
    pub text: String,
}

/// An update as it was composed for somebody to send elsewhere.
#[derive(Clone, Debug, PartialEq)]
pub struct UpdateDraft {
    /// For whom: the audience's word.
    pub audience: String,
    /// What it rests on, as in [`SaidUpdate::stand`].
    pub stand: String,
    /// Its words.
    pub text: String,
}

/// Drafts of an incident that are kept; who sends an older one is asked to compose it anew.
const DRAFTS: i64 = 50;

/// Who does a step.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StepOwner {
    /// The step's place, from 0.
    pub step: u32,
    /// Who, by display name.
    pub by: String,
    /// Since when.
    pub at: Timestamp,
}

/// A report that may be about an incident that runs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct JoinedReport {
    /// The incident.
    pub incident: IncidentId,
    /// It was added; else it waits for its reporter's word.
    pub joined: bool,
    /// The work that it came as (JSON).
    pub content: String,
    /// When.
    pub at: Timestamp,
}

impl Store {
    /// Keeps a report that waits, under the interaction it came with; one that is known stays.
    ///
    /// # Errors
    ///
    /// Those of the database.
    pub async fn keep_report(
        &self,
        guild: &str,
        report: u64,
        kept: &JoinedReport,
    ) -> Result<(), StoreError> {
        let mut tx = self.write(guild).await?;
        query(
            "INSERT INTO joined_report (guild, report, number, joined, content, at) \
             VALUES ($1, $2, $3, $4, $5, $6) ON CONFLICT (guild, report) DO NOTHING",
        )
        .bind(guild)
        .bind(report.to_string())
        .bind(i64::from(kept.incident.number()))
        .bind(i64::from(kept.joined))
        .bind(storable(&kept.content))
        .bind(millis(kept.at))
        .execute(&mut *tx)
        .await?;
        Ok(tx.commit().await?)
    }

    /// A report that waits or was added.
    ///
    /// # Errors
    ///
    /// Those of the database.
    pub async fn kept_report(
        &self,
        guild: &str,
        report: u64,
    ) -> Result<Option<JoinedReport>, StoreError> {
        let mut connection = self.reader.acquire().await?;
        let row: Option<(i64, i64, String, i64)> = query_as(
            "SELECT number, joined, content, at FROM joined_report WHERE guild = $1 AND report = $2",
        )
        .bind(guild)
        .bind(report.to_string())
        .fetch_optional(&mut connection)
        .await?;
        row.map(|(number, joined, content, at)| {
            Ok(JoinedReport {
                incident: super::incident_id(number)?,
                joined: joined != 0,
                content,
                at: timestamp(at)?,
            })
        })
        .transpose()
    }

    /// A report was added to its incident.
    ///
    /// # Errors
    ///
    /// Those of the database.
    pub async fn report_joined(&self, guild: &str, report: u64) -> Result<(), StoreError> {
        let mut tx = self.write(guild).await?;
        query("UPDATE joined_report SET joined = 1 WHERE guild = $1 AND report = $2")
            .bind(guild)
            .bind(report.to_string())
            .execute(&mut *tx)
            .await?;
        Ok(tx.commit().await?)
    }

    /// A report is an incident of its own. Whether it was kept at all.
    ///
    /// # Errors
    ///
    /// Those of the database.
    pub async fn drop_report(&self, guild: &str, report: u64) -> Result<bool, StoreError> {
        let mut tx = self.write(guild).await?;
        let gone = query("DELETE FROM joined_report WHERE guild = $1 AND report = $2")
            .bind(guild)
            .bind(report.to_string())
            .execute(&mut *tx)
            .await?;
        tx.commit().await?;
        Ok(gone.rows_affected() > 0)
    }

    /// Keeps an update that went out. The same words for the same audience right after each other
    /// are one update: `false`.
    ///
    /// # Errors
    ///
    /// [`StoreError::NotFound`] as for [`Store::incident`].
    pub async fn say_update(
        &self,
        scope: &Scope,
        id: IncidentId,
        said: &SaidUpdate,
    ) -> Result<bool, StoreError> {
        let guild = scope.guild.as_str();
        let mut tx = self.write(guild).await?;
        must_see(&mut tx, scope, id).await?;
        let last: Option<(String, String)> = query_as(
            "SELECT stand, text FROM update_said WHERE guild = $1 AND number = $2 AND audience = $3 \
             ORDER BY seq DESC LIMIT 1",
        )
        .bind(guild)
        .bind(i64::from(id.number()))
        .bind(&said.audience)
        .fetch_optional(&mut *tx)
        .await?;
        if last.is_some_and(|(stand, text)| stand == said.stand && text == said.text) {
            return Ok(false);
        }
        query(
            "INSERT INTO update_said (guild, number, seq, at, by_whom, audience, stand, text) \
             SELECT $1, $2, coalesce(max(seq), 0) + 1, $3, $4, $5, $6, $7 FROM update_said \
             WHERE guild = $1 AND number = $2",
        )
        .bind(guild)
        .bind(i64::from(id.number()))
        .bind(millis(said.at))
        .bind(storable(&said.by))
        .bind(&said.audience)
        .bind(storable(&said.stand))
        .bind(storable(&said.text))
        .execute(&mut *tx)
        .await?;
        // A person's word for the next one was for this one, the team's.
        if said.audience == INTERNAL {
            query("UPDATE incident SET next_update_at = NULL WHERE guild = $1 AND number = $2")
                .bind(guild)
                .bind(i64::from(id.number()))
                .execute(&mut *tx)
                .await?;
        }
        let detail = json!({ "to": said.audience, "text": said.text });
        note(&mut tx, guild, id, said.at, &said.by, "update", &detail).await?;
        tx.commit().await?;
        Ok(true)
    }

    /// Keeps an update as it was composed, and gives its number in the incident: who sends it sends
    /// these words, whatever would be composed by then. The same again has the same number.
    ///
    /// # Errors
    ///
    /// [`StoreError::NotFound`] as for [`Store::incident`].
    pub async fn keep_draft(
        &self,
        scope: &Scope,
        id: IncidentId,
        draft: &UpdateDraft,
        at: Timestamp,
    ) -> Result<u32, StoreError> {
        let (guild, number) = (scope.guild.as_str(), i64::from(id.number()));
        let mut tx = self.write(guild).await?;
        must_see(&mut tx, scope, id).await?;
        let known: Option<i64> = query_scalar(
            "SELECT draft FROM update_draft WHERE guild = $1 AND number = $2 AND audience = $3 \
             AND stand = $4 AND text = $5",
        )
        .bind(guild)
        .bind(number)
        .bind(&draft.audience)
        .bind(storable(&draft.stand))
        .bind(storable(&draft.text))
        .fetch_optional(&mut *tx)
        .await?;
        if let Some(known) = known {
            return draft_number(known);
        }
        let last: Option<i64> =
            query_scalar("SELECT max(draft) FROM update_draft WHERE guild = $1 AND number = $2")
                .bind(guild)
                .bind(number)
                .fetch_one(&mut *tx)
                .await?;
        let next = last.unwrap_or(0) + 1;
        query(
            "INSERT INTO update_draft (guild, number, draft, at, audience, stand, text) \
             VALUES ($1, $2, $3, $4, $5, $6, $7)",
        )
        .bind(guild)
        .bind(number)
        .bind(next)
        .bind(millis(at))
        .bind(&draft.audience)
        .bind(storable(&draft.stand))
        .bind(storable(&draft.text))
        .execute(&mut *tx)
        .await?;
        query("DELETE FROM update_draft WHERE guild = $1 AND number = $2 AND draft <= $3")
            .bind(guild)
            .bind(number)
            .bind(next - DRAFTS)
            .execute(&mut *tx)
            .await?;
        tx.commit().await?;
        draft_number(next)
    }

    /// An update as it was composed, by its number in the incident.
    ///
    /// # Errors
    ///
    /// [`StoreError::NotFound`] where it is not kept (any more), or as for [`Store::incident`].
    pub async fn draft(
        &self,
        scope: &Scope,
        id: IncidentId,
        draft: u32,
    ) -> Result<UpdateDraft, StoreError> {
        let mut connection = self.reader.acquire().await?;
        must_see(&mut connection, scope, id).await?;
        let row: Option<(String, String, String)> = query_as(
            "SELECT audience, stand, text FROM update_draft \
             WHERE guild = $1 AND number = $2 AND draft = $3",
        )
        .bind(&scope.guild)
        .bind(i64::from(id.number()))
        .bind(i64::from(draft))
        .fetch_optional(&mut connection)
        .await?;
        let (audience, stand, text) = row.ok_or(StoreError::NotFound)?;
        Ok(UpdateDraft {
            audience,
            stand,
            text,
        })
    }

    /// The updates that went out, in order.
    ///
    /// # Errors
    ///
    /// [`StoreError::NotFound`] as for [`Store::incident`].
    pub async fn said_updates(
        &self,
        scope: &Scope,
        id: IncidentId,
    ) -> Result<Vec<SaidUpdate>, StoreError> {
        let mut connection = self.reader.acquire().await?;
        must_see(&mut connection, scope, id).await?;
        let rows: Vec<(i64, String, String, String, String)> = query_as(
            "SELECT at, by_whom, audience, stand, text FROM update_said \
             WHERE guild = $1 AND number = $2 ORDER BY seq",
        )
        .bind(&scope.guild)
        .bind(i64::from(id.number()))
        .fetch_all(&mut connection)
        .await?;
        rows.into_iter()
            .map(|(at, by, audience, stand, text)| {
                Ok(SaidUpdate {
                    at: timestamp(at)?,
                    by,
                    audience,
                    stand,
                    text,
                })
            })
            .collect()
    }

    /// Somebody wants to be reminded when an update is due, or no longer. Gives how it is now.
    ///
    /// # Errors
    ///
    /// [`StoreError::NotFound`] as for [`Store::incident`].
    pub async fn toggle_reminder(
        &self,
        scope: &Scope,
        id: IncidentId,
        person: u64,
        at: Timestamp,
    ) -> Result<bool, StoreError> {
        let guild = scope.guild.as_str();
        let mut tx = self.write(guild).await?;
        must_see(&mut tx, scope, id).await?;
        let gone = query("DELETE FROM remind WHERE guild = $1 AND number = $2 AND person = $3")
            .bind(guild)
            .bind(i64::from(id.number()))
            .bind(person.to_string())
            .execute(&mut *tx)
            .await?;
        let wanted = gone.rows_affected() == 0;
        if wanted {
            query("INSERT INTO remind (guild, number, person, at) VALUES ($1, $2, $3, $4)")
                .bind(guild)
                .bind(i64::from(id.number()))
                .bind(person.to_string())
                .bind(millis(at))
                .execute(&mut *tx)
                .await?;
        }
        tx.commit().await?;
        Ok(wanted)
    }

    /// Who wants to be reminded, in the order of asking.
    ///
    /// # Errors
    ///
    /// [`StoreError::NotFound`] as for [`Store::incident`].
    pub async fn reminded(&self, scope: &Scope, id: IncidentId) -> Result<Vec<u64>, StoreError> {
        let mut connection = self.reader.acquire().await?;
        must_see(&mut connection, scope, id).await?;
        let rows: Vec<(String,)> = query_as(
            "SELECT person FROM remind WHERE guild = $1 AND number = $2 ORDER BY at, person",
        )
        .bind(&scope.guild)
        .bind(i64::from(id.number()))
        .fetch_all(&mut connection)
        .await?;
        Ok(rows
            .into_iter()
            .filter_map(|(person,)| person.parse().ok())
            .collect())
    }

    /// Somebody takes steps of an analysis, whoever had them, and gives others back. What stands like
    /// that already changes nothing.
    ///
    /// # Errors
    ///
    /// [`StoreError::NotFound`] as for [`Store::incident`].
    #[expect(clippy::too_many_arguments, reason = "a choice is exactly these facts")]
    pub async fn take_steps(
        &self,
        scope: &Scope,
        id: IncidentId,
        analysis: u32,
        takes: &[u32],
        gives: &[u32],
        by: &str,
        at: Timestamp,
    ) -> Result<(), StoreError> {
        let guild = scope.guild.as_str();
        let mut tx = self.write(guild).await?;
        must_see(&mut tx, scope, id).await?;
        let taken = "INSERT INTO step_owner (guild, number, analysis, step, by_whom, at) \
             VALUES ($1, $2, $3, $4, $5, $6) ON CONFLICT (guild, number, analysis, step) \
             DO UPDATE SET by_whom = excluded.by_whom, at = excluded.at \
             WHERE step_owner.by_whom <> excluded.by_whom";
        let given = "DELETE FROM step_owner WHERE guild = $1 AND number = $2 AND analysis = $3 \
             AND step = $4 AND by_whom = $5 AND at < $6";
        for (steps, statement, what) in [
            (takes, taken, "step_taken"),
            (gives, given, "step_given_back"),
        ] {
            for step in steps {
                let changed = query(statement)
                    .bind(guild)
                    .bind(i64::from(id.number()))
                    .bind(i64::from(analysis))
                    .bind(i64::from(*step))
                    .bind(storable(by))
                    .bind(millis(at))
                    .execute(&mut *tx)
                    .await?;
                if changed.rows_affected() > 0 {
                    let detail = json!({ "analysis": analysis, "step": step });
                    note(&mut tx, guild, id, at, by, what, &detail).await?;
                }
            }
        }
        Ok(tx.commit().await?)
    }

    /// Who has which step.
    ///
    /// # Errors
    ///
    /// [`StoreError::NotFound`] as for [`Store::incident`].
    pub async fn step_owners(
        &self,
        scope: &Scope,
        id: IncidentId,
        analysis: u32,
    ) -> Result<Vec<StepOwner>, StoreError> {
        let mut connection = self.reader.acquire().await?;
        must_see(&mut connection, scope, id).await?;
        let rows: Vec<(i64, String, i64)> = query_as(
            "SELECT step, by_whom, at FROM step_owner \
             WHERE guild = $1 AND number = $2 AND analysis = $3 ORDER BY step",
        )
        .bind(&scope.guild)
        .bind(i64::from(id.number()))
        .bind(i64::from(analysis))
        .fetch_all(&mut connection)
        .await?;
        rows.into_iter()
            .map(|(step, by, at)| {
                Ok(StepOwner {
                    step: u32::try_from(step).unwrap_or(u32::MAX),
                    by,
                    at: timestamp(at)?,
                })
            })
            .collect()
    }
}

fn draft_number(stored: i64) -> Result<u32, StoreError> {
    u32::try_from(stored).map_err(|_| StoreError::Corrupt(None))
}

//! Fixes tried and causes judged: clicks that can be taken back, with their history kept (R28).

use super::incidents::{load, note, touch};
use super::{
    Change, Incident, Scope, Store, StoreError, document, millis, must_see, optional_millis,
    optional_storable, optional_timestamp, storable, words,
};
use crate::database::{Connection, Sql, query, query_as};
use crate::incident::sameness::same;
use crate::incident::{FixAttempt, IncidentId, Outcome};
use jiff::Timestamp;
use serde_json::json;

/// One attempt with its number in the incident.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Attempt {
    /// Counted from 1 within the incident.
    pub seq: u32,
    /// What it was recorded under.
    pub key: String,
    /// The attempt.
    pub fix: FixAttempt,
    /// It was a wrong click: kept, never counted.
    pub withdrawn: bool,
}

/// How an incident ended, as a person said it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Resolution {
    /// The cause; `None` leaves what is stored.
    pub root_cause: Option<String>,
    /// A person says that this was the cause.
    pub cause_confirmed: bool,
    /// The fix; `None` where none is named.
    pub fix: Option<String>,
    /// What became of the fix.
    pub outcome: Outcome,
    /// Causes that were excluded, beside those that are stored.
    pub ruled_out: Vec<String>,
    /// What would keep it from coming again; `None` leaves what is stored.
    pub prevention: Option<String>,
    /// In which environment; `None` leaves what is stored.
    pub environment: Option<String>,
}

impl Store {
    /// Every attempt of an incident, withdrawn ones too, in order.
    ///
    /// # Errors
    ///
    /// [`StoreError::NotFound`] as for [`Store::incident`].
    pub async fn attempts(
        &self,
        scope: &Scope,
        id: IncidentId,
    ) -> Result<Vec<Attempt>, StoreError> {
        let mut connection = self.reader.acquire().await?;
        must_see(&mut connection, scope, id).await?;
        attempts_of(&mut connection, &scope.guild, id).await
    }

    /// Records an attempt under a key, such as `2/1` for the first hypothesis of the second
    /// analysis. What is recorded under the key already stays as it is, and is given back.
    ///
    /// # Errors
    ///
    /// [`StoreError::NotFound`] as for [`Store::incident`].
    pub async fn record_attempt(
        &self,
        scope: &Scope,
        id: IncidentId,
        key: &str,
        attempt: &FixAttempt,
        at: Timestamp,
    ) -> Result<Attempt, StoreError> {
        let mut tx = self.write(&scope.guild).await?;
        must_see(&mut tx, scope, id).await?;
        let known = attempts_of(&mut tx, &scope.guild, id).await?;
        if let Some(attempt) = known.iter().find(|known| known.key == key) {
            return Ok(attempt.clone());
        }
        let seq = known.last().map_or(1, |last| last.seq + 1);
        insert_attempt(&mut tx, &scope.guild, id, seq, key, attempt).await?;
        note(
            &mut tx,
            &scope.guild,
            id,
            at,
            &attempt.by,
            "attempt",
            &json!({ "attempt": seq, "fix": attempt.fix, "outcome": attempt.outcome }),
        )
        .await?;
        settle(&mut tx, &scope.guild, id, at).await?;
        tx.commit().await?;
        Ok(Attempt {
            seq,
            key: key.to_owned(),
            fix: attempt.clone(),
            withdrawn: false,
        })
    }

    /// Says what became of an attempt; the later word wins, the earlier ones stay in the history.
    /// A withdrawn attempt counts again.
    ///
    /// # Errors
    ///
    /// [`StoreError::NotFound`] where there is no such attempt, or as for [`Store::incident`].
    #[expect(
        clippy::too_many_arguments,
        reason = "one click is exactly these facts"
    )]
    pub async fn revise_attempt(
        &self,
        scope: &Scope,
        id: IncidentId,
        seq: u32,
        outcome: Outcome,
        by: &str,
        at: Timestamp,
        note_text: Option<&str>,
    ) -> Result<Attempt, StoreError> {
        let mut tx = self.write(&scope.guild).await?;
        must_see(&mut tx, scope, id).await?;
        let judged = Judged {
            seq,
            outcome,
            by,
            at: Some(at),
            note: note_text,
        };
        judge(&mut tx, &scope.guild, id, &judged, note_text, at).await?;
        let attempt = one_attempt(&mut tx, &scope.guild, id, seq).await?;
        tx.commit().await?;
        Ok(attempt)
    }

    /// Takes an attempt back: a wrong click. It stays in the history and counts no more.
    ///
    /// # Errors
    ///
    /// As for [`Store::revise_attempt`].
    pub async fn withdraw_attempt(
        &self,
        scope: &Scope,
        id: IncidentId,
        seq: u32,
        by: &str,
        at: Timestamp,
    ) -> Result<Attempt, StoreError> {
        let mut tx = self.write(&scope.guild).await?;
        must_see(&mut tx, scope, id).await?;
        let changed =
            query("UPDATE attempt SET withdrawn = 1 WHERE guild = $1 AND number = $2 AND seq = $3")
                .bind(&scope.guild)
                .bind(i64::from(id.number()))
                .bind(i64::from(seq))
                .execute(&mut *tx)
                .await?;
        if changed.rows_affected() == 0 {
            return Err(StoreError::NotFound);
        }
        note(
            &mut tx,
            &scope.guild,
            id,
            at,
            by,
            "attempt_withdrawn",
            &json!({ "attempt": seq }),
        )
        .await?;
        settle(&mut tx, &scope.guild, id, at).await?;
        let attempt = one_attempt(&mut tx, &scope.guild, id, seq).await?;
        tx.commit().await?;
        Ok(attempt)
    }

    /// A person says that this is the cause. It is no longer among the excluded ones.
    ///
    /// # Errors
    ///
    /// [`StoreError::NotFound`] as for [`Store::incident`].
    pub async fn confirm_cause(
        &self,
        scope: &Scope,
        id: IncidentId,
        cause: &str,
        by: &str,
        at: Timestamp,
    ) -> Result<Incident, StoreError> {
        self.judge_cause(scope, id, "cause_confirmed", cause, by, at)
            .await
    }

    /// A person says that this is not the cause. Where it was the confirmed one, it is so no more.
    ///
    /// # Errors
    ///
    /// [`StoreError::NotFound`] as for [`Store::incident`].
    pub async fn reject_cause(
        &self,
        scope: &Scope,
        id: IncidentId,
        cause: &str,
        by: &str,
        at: Timestamp,
    ) -> Result<Incident, StoreError> {
        self.judge_cause(scope, id, "cause_rejected", cause, by, at)
            .await
    }

    /// Takes either word about a cause back.
    ///
    /// # Errors
    ///
    /// [`StoreError::NotFound`] as for [`Store::incident`].
    pub async fn withdraw_cause(
        &self,
        scope: &Scope,
        id: IncidentId,
        cause: &str,
        by: &str,
        at: Timestamp,
    ) -> Result<Incident, StoreError> {
        self.judge_cause(scope, id, "cause_withdrawn", cause, by, at)
            .await
    }

    async fn judge_cause(
        &self,
        scope: &Scope,
        id: IncidentId,
        what: &str,
        cause: &str,
        by: &str,
        at: Timestamp,
    ) -> Result<Incident, StoreError> {
        let mut tx = self.write(&scope.guild).await?;
        must_see(&mut tx, scope, id).await?;
        let mut past = load(&mut tx, &scope.guild, id).await?.past;
        // A later analysis may put the same cause in other words.
        past.ruled_out.retain(|other| !same(other, cause));
        match what {
            "cause_confirmed" => {
                past.root_cause = cause.to_owned();
                past.cause_confirmed = true;
            }
            _ => {
                if same(&past.root_cause, cause) {
                    past.root_cause.clear();
                    past.cause_confirmed = false;
                }
                if what == "cause_rejected" {
                    past.ruled_out.push(cause.to_owned());
                }
            }
        }
        write_causes(&mut tx, &scope.guild, &past).await?;
        note(
            &mut tx,
            &scope.guild,
            id,
            at,
            by,
            what,
            &json!({ "cause": cause }),
        )
        .await?;
        settle(&mut tx, &scope.guild, id, at).await?;
        let incident = load(&mut tx, &scope.guild, id).await?;
        tx.commit().await?;
        Ok(incident)
    }

    /// Resolves an incident: status, time, and what a person said of cause and fix. Where the fix
    /// was tried already (by [`same`]), that attempt gets the outcome; else it is a new one.
    /// Calling it again changes what was said.
    ///
    /// # Errors
    ///
    /// [`StoreError::NotFound`] as for [`Store::incident`].
    pub async fn resolve(
        &self,
        scope: &Scope,
        id: IncidentId,
        resolution: &Resolution,
        by: &str,
        at: Timestamp,
    ) -> Result<Incident, StoreError> {
        let guild = scope.guild.as_str();
        let mut tx = self.write(&scope.guild).await?;
        must_see(&mut tx, scope, id).await?;
        let mut past = load(&mut tx, guild, id).await?.past;
        if let Some(cause) = &resolution.root_cause {
            past.root_cause.clone_from(cause);
            past.cause_confirmed = resolution.cause_confirmed && !cause.trim().is_empty();
        }
        for cause in &resolution.ruled_out {
            if !cause.trim().is_empty() && !past.ruled_out.contains(cause) {
                past.ruled_out.push(cause.clone());
            }
        }
        past.ruled_out.retain(|cause| *cause != past.root_cause);
        write_causes(&mut tx, guild, &past).await?;
        query(
            "UPDATE incident SET status = 'resolved', prevention = coalesce($3, prevention), \
             environment = coalesce($4, environment), resolved_at = coalesce(resolved_at, $5), \
             mitigated_at = coalesce(mitigated_at, $5) WHERE guild = $1 AND number = $2",
        )
        .bind(guild)
        .bind(i64::from(id.number()))
        .bind(optional_storable(resolution.prevention.as_deref()))
        .bind(optional_storable(resolution.environment.as_deref()))
        .bind(millis(at))
        .execute(&mut *tx)
        .await?;
        if let Some(fix) = resolution
            .fix
            .as_deref()
            .filter(|fix| !fix.trim().is_empty())
        {
            let known = attempts_of(&mut tx, guild, id).await?;
            let tried = known
                .iter()
                .rev()
                .filter(|attempt| !attempt.withdrawn && same(&attempt.fix.fix, fix))
                // What came back and is tried again is another attempt: its failure stays.
                .find(|attempt| attempt.fix.outcome != Outcome::CameBack);
            match tried {
                Some(attempt) => {
                    query(
                        "UPDATE attempt SET fix = $4, outcome = $5, by_whom = $6, at = $7 \
                         WHERE guild = $1 AND number = $2 AND seq = $3",
                    )
                    .bind(guild)
                    .bind(i64::from(id.number()))
                    .bind(i64::from(attempt.seq))
                    .bind(storable(fix))
                    .bind(resolution.outcome.word())
                    .bind(storable(by))
                    .bind(millis(at))
                    .execute(&mut *tx)
                    .await?;
                }
                None => {
                    let seq = known.last().map_or(1, |last| last.seq + 1);
                    let attempt = FixAttempt {
                        fix: fix.to_owned(),
                        outcome: resolution.outcome,
                        at: Some(at),
                        by: by.to_owned(),
                        environment: resolution.environment.clone(),
                        note: String::new(),
                    };
                    insert_attempt(&mut tx, guild, id, seq, &format!("resolve/{seq}"), &attempt)
                        .await?;
                }
            }
        }
        note(
            &mut tx,
            guild,
            id,
            at,
            by,
            "resolved",
            &json!({
                "root_cause": resolution.root_cause,
                "fix": resolution.fix,
                "outcome": resolution.outcome,
                "ruled_out": resolution.ruled_out,
            }),
        )
        .await?;
        settle(&mut tx, guild, id, at).await?;
        let incident = load(&mut tx, guild, id).await?;
        tx.commit().await?;
        Ok(incident)
    }

    /// The mitigated tap with the fix that did it, in one commit: see [`Change::Status`].
    ///
    /// # Errors
    ///
    /// [`StoreError::NotFound`] as for [`Store::incident`].
    pub async fn set_status(
        &self,
        scope: &Scope,
        id: IncidentId,
        status: crate::incident::Status,
        by: &str,
        at: Timestamp,
    ) -> Result<Incident, StoreError> {
        self.update(scope, id, by, at, &[Change::Status(status)])
            .await
    }
}

/// What became of an attempt.
pub(super) struct Judged<'a> {
    /// Its number in the incident.
    pub seq: u32,
    /// How it went.
    pub outcome: Outcome,
    /// Who says so.
    pub by: &'a str,
    /// When that was; `None` leaves what is stored.
    pub at: Option<Timestamp>,
    /// What is noted with it; `None` leaves what is stored.
    pub note: Option<&'a str>,
}

/// Writes what became of an attempt, which counts again if it was withdrawn, and keeps in the
/// incident's history that it was said `now`, with `remark`.
pub(super) async fn judge(
    connection: &mut Connection,
    guild: &str,
    id: IncidentId,
    judged: &Judged<'_>,
    remark: Option<&str>,
    now: Timestamp,
) -> Result<(), StoreError> {
    let changed = query(
        "UPDATE attempt SET outcome = $4, by_whom = $5, at = coalesce($6, at), \
         note = coalesce($7, note), withdrawn = 0 \
         WHERE guild = $1 AND number = $2 AND seq = $3",
    )
    .bind(guild)
    .bind(i64::from(id.number()))
    .bind(i64::from(judged.seq))
    .bind(judged.outcome.word())
    .bind(storable(judged.by))
    .bind(optional_millis(judged.at))
    .bind(optional_storable(judged.note))
    .execute(&mut *connection)
    .await?;
    if changed.rows_affected() == 0 {
        return Err(StoreError::NotFound);
    }
    note(
        connection,
        guild,
        id,
        now,
        judged.by,
        "outcome",
        &json!({ "attempt": judged.seq, "outcome": judged.outcome, "note": remark }),
    )
    .await?;
    settle(connection, guild, id, now).await
}

async fn settle(
    connection: &mut Connection,
    guild: &str,
    id: IncidentId,
    at: Timestamp,
) -> Result<(), StoreError> {
    touch(connection, guild, id, at).await?;
    words::index(connection, guild, id).await
}

async fn write_causes(
    connection: &mut Connection,
    guild: &str,
    past: &crate::incident::PastIncident,
) -> Result<(), StoreError> {
    query(
        "UPDATE incident SET root_cause = $3, cause_confirmed = $4, ruled_out = $5 \
         WHERE guild = $1 AND number = $2",
    )
    .bind(guild)
    .bind(i64::from(past.id.number()))
    .bind(storable(&past.root_cause))
    .bind(i64::from(past.cause_confirmed))
    .bind(document(&past.ruled_out)?)
    .execute(connection)
    .await?;
    Ok(())
}

pub(super) async fn insert_attempt(
    connection: &mut Connection,
    guild: &str,
    id: IncidentId,
    seq: u32,
    key: &str,
    attempt: &FixAttempt,
) -> Result<(), StoreError> {
    query(
        "INSERT INTO attempt (guild, number, seq, key, fix, outcome, at, by_whom, environment, note, withdrawn) \
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, 0)",
    )
    .bind(guild)
    .bind(i64::from(id.number()))
    .bind(i64::from(seq))
    .bind(key)
    .bind(storable(&attempt.fix))
    .bind(attempt.outcome.word())
    .bind(optional_millis(attempt.at))
    .bind(storable(&attempt.by))
    .bind(optional_storable(attempt.environment.as_deref()))
    .bind(storable(&attempt.note))
    .execute(connection)
    .await?;
    Ok(())
}

/// Writes the attempts of a JSON array.
macro_rules! write_attempts {
    ($from:literal) => {
        concat!(
            "INSERT INTO attempt (guild, number, seq, key, fix, outcome, at, by_whom, environment, note, withdrawn) \
             SELECT $2, CAST(r.value ->> 'number' AS BIGINT), CAST(r.value ->> 'seq' AS BIGINT), \
             r.value ->> 'key', r.value ->> 'fix', r.value ->> 'outcome', \
             CAST(r.value ->> 'at' AS BIGINT), r.value ->> 'by_whom', r.value ->> 'environment', \
             r.value ->> 'note', 0 FROM ",
            $from
        )
    };
}

const WRITE_ATTEMPTS: Sql = Sql {
    sqlite: write_attempts!("json_each($1) AS r"),
    postgres: write_attempts!("json_array_elements(CAST($1 AS json)) AS r (value)"),
};

/// Many attempts at once, each with its incident, its place among that one's, and its key.
pub(super) async fn insert_attempts(
    connection: &mut Connection,
    guild: &str,
    attempts: &[(IncidentId, u32, String, &FixAttempt)],
) -> Result<(), StoreError> {
    if attempts.is_empty() {
        return Ok(());
    }
    let columns: Vec<serde_json::Value> = attempts
        .iter()
        .map(|(id, seq, key, attempt)| {
            serde_json::json!({
                "number": id.number(),
                "seq": seq,
                "key": key,
                "fix": storable(&attempt.fix),
                "outcome": attempt.outcome.word(),
                "at": optional_millis(attempt.at),
                "by_whom": storable(&attempt.by),
                "environment": optional_storable(attempt.environment.as_deref()),
                "note": storable(&attempt.note),
            })
        })
        .collect();
    query(WRITE_ATTEMPTS)
        .bind(document(&columns)?)
        .bind(guild)
        .execute(connection)
        .await?;
    Ok(())
}

async fn one_attempt(
    connection: &mut Connection,
    guild: &str,
    id: IncidentId,
    seq: u32,
) -> Result<Attempt, StoreError> {
    attempts_of(connection, guild, id)
        .await?
        .into_iter()
        .find(|attempt| attempt.seq == seq)
        .ok_or(StoreError::NotFound)
}

async fn attempts_of(
    connection: &mut Connection,
    guild: &str,
    id: IncidentId,
) -> Result<Vec<Attempt>, StoreError> {
    type Columns = (
        i64,
        String,
        String,
        String,
        Option<i64>,
        String,
        Option<String>,
        String,
        i64,
    );
    let rows: Vec<Columns> = query_as(
        "SELECT seq, key, fix, outcome, at, by_whom, environment, note, withdrawn FROM attempt \
         WHERE guild = $1 AND number = $2 ORDER BY seq",
    )
    .bind(guild)
    .bind(i64::from(id.number()))
    .fetch_all(connection)
    .await?;
    rows.into_iter()
        .map(
            |(seq, key, fix, outcome, at, by, environment, note, withdrawn)| {
                Ok(Attempt {
                    seq: u32::try_from(seq).unwrap_or(u32::MAX),
                    key,
                    fix: FixAttempt {
                        fix,
                        outcome: Outcome::parse(&outcome).ok_or_else(|| {
                            StoreError::Corrupt(Some("an unknown outcome".into()))
                        })?,
                        at: optional_timestamp(at)?,
                        by,
                        environment,
                        note,
                    },
                    withdrawn: withdrawn != 0,
                })
            },
        )
        .collect()
}

//! Analyses: what was asked, what came back, what the rules changed.
//!
//! A stored answer is a [`Proposal`] and its [`Case`], never what may be shown: that is built from
//! the two by validation each time.

use super::incidents::{note, touch};
use super::{Scope, Store, StoreError, document, millis, must_see, timestamp};
use crate::database::{query, query_as, query_scalar};
use crate::incident::proposal::Proposal;
use crate::incident::{Engine, IncidentId, Route};
use crate::validation::analysis::Correction;
use crate::validation::case::Case;
use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// An answer of which the rules changed something, in an incident's history.
const ANSWERED: &str = "answered";

/// What an analysis took.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Measures {
    /// Milliseconds by stage: `triage`, `recall`, `route`, `analyse`, `validate`, ...
    #[serde(default)]
    pub stage_millis: BTreeMap<String, u64>,
    /// Tokens sent, over all calls.
    #[serde(default)]
    pub prompt_tokens: u64,
    /// Tokens received, over all calls.
    #[serde(default)]
    pub completion_tokens: u64,
    /// Tokens sent and received, by the stage that asked: `refine`, `analyse`.
    #[serde(default)]
    pub stage_tokens: BTreeMap<String, (u64, u64)>,
    /// Calls made.
    #[serde(default)]
    pub calls: u32,
}

/// An analysis as it is stored.
#[derive(Clone, Debug, PartialEq)]
pub struct StoredAnalysis {
    /// Counted from 1 within the incident.
    pub seq: u32,
    /// What it was begun under.
    pub key: String,
    /// When it was begun.
    pub created_at: Timestamp,
    /// What the answer is checked against.
    pub case: Case,
    /// The routing decision, stored before the model was asked.
    pub route: Route,
    /// The answer; `None` while there is none.
    pub proposal: Option<Proposal>,
    /// Who answered.
    pub engine: Option<Engine>,
    /// What the rules changed.
    pub corrections: Vec<Correction>,
    /// What it took.
    pub measures: Measures,
    /// A later one stands in its place.
    pub superseded: bool,
}

/// What the rules changed of an answer in the thread.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct AnswerCorrections {
    /// The question.
    pub question: String,
    /// What was changed.
    pub corrections: Vec<Correction>,
}

impl Store {
    /// Keeps what the rules changed of an answer in the thread.
    ///
    /// # Errors
    ///
    /// [`StoreError::NotFound`] as for [`Store::incident`].
    pub async fn note_answer(
        &self,
        scope: &Scope,
        id: IncidentId,
        by: &str,
        at: Timestamp,
        changed: &AnswerCorrections,
    ) -> Result<(), StoreError> {
        let mut tx = self.write(&scope.guild).await?;
        must_see(&mut tx, scope, id).await?;
        let detail = serde_json::to_value(changed)?;
        note(&mut tx, &scope.guild, id, at, by, ANSWERED, &detail).await?;
        Ok(tx.commit().await?)
    }

    /// What the rules changed of the answers since a time, in order.
    ///
    /// # Errors
    ///
    /// [`StoreError::NotFound`] as for [`Store::incident`].
    pub async fn answer_corrections(
        &self,
        scope: &Scope,
        id: IncidentId,
        since: Timestamp,
    ) -> Result<Vec<AnswerCorrections>, StoreError> {
        let history = self.history(scope, id).await?;
        Ok(history
            .into_iter()
            .filter(|event| event.what == ANSWERED && event.at >= since)
            .filter_map(|event| serde_json::from_value(event.detail).ok())
            .collect())
    }

    /// Stores what is about to be asked, before it is asked, under a key such as the job's. The
    /// same key gives the analysis that was begun under it: its case and route are replaced as long
    /// as there is no answer.
    ///
    /// # Errors
    ///
    /// [`StoreError::NotFound`] as for [`Store::incident`].
    pub async fn begin_analysis(
        &self,
        scope: &Scope,
        id: IncidentId,
        key: &str,
        case: &Case,
        route: &Route,
        at: Timestamp,
    ) -> Result<u32, StoreError> {
        let mut tx = self.write(&scope.guild).await?;
        must_see(&mut tx, scope, id).await?;
        let seq: i64 = query_scalar(
            "INSERT INTO analysis (guild, number, seq, key, created_at, case_json, route, superseded) \
             SELECT $1, $2, coalesce(max(seq), 0) + 1, $3, $4, $5, $6, 0 FROM analysis \
             WHERE guild = $1 AND number = $2 \
             ON CONFLICT (guild, number, key) DO UPDATE SET \
             case_json = CASE WHEN analysis.proposal IS NULL THEN excluded.case_json ELSE analysis.case_json END, \
             route = CASE WHEN analysis.proposal IS NULL THEN excluded.route ELSE analysis.route END \
             RETURNING seq",
        )
        .bind(&scope.guild)
        .bind(i64::from(id.number()))
        .bind(key)
        .bind(millis(at))
        .bind(document(case)?)
        .bind(document(route)?)
        .fetch_one(&mut *tx)
        .await?;
        touch(&mut tx, &scope.guild, id, at).await?;
        tx.commit().await?;
        Ok(u32::try_from(seq).unwrap_or(u32::MAX))
    }

    /// Stores the answer. A second answer replaces the first: the rule-based one stands until the
    /// model's comes. `case` replaces the stored one where the model's triage changed it.
    ///
    /// # Errors
    ///
    /// [`StoreError::NotFound`] where there is no such analysis, or as for [`Store::incident`].
    #[expect(
        clippy::too_many_arguments,
        reason = "one answer is exactly these facts"
    )]
    pub async fn finish_analysis(
        &self,
        scope: &Scope,
        id: IncidentId,
        seq: u32,
        case: Option<&Case>,
        proposal: &Proposal,
        engine: &Engine,
        corrections: &[Correction],
        measures: &Measures,
    ) -> Result<(), StoreError> {
        let mut tx = self.write(&scope.guild).await?;
        must_see(&mut tx, scope, id).await?;
        let changed = query(
            "UPDATE analysis SET case_json = coalesce($4, case_json), proposal = $5, engine = $6, \
             corrections = $7, measures = $8 WHERE guild = $1 AND number = $2 AND seq = $3",
        )
        .bind(&scope.guild)
        .bind(i64::from(id.number()))
        .bind(i64::from(seq))
        .bind(case.map(document).transpose()?)
        .bind(document(proposal)?)
        .bind(document(engine)?)
        .bind(document(corrections)?)
        .bind(document(measures)?)
        .execute(&mut *tx)
        .await?;
        if changed.rows_affected() == 0 {
            return Err(StoreError::NotFound);
        }
        Ok(tx.commit().await?)
    }

    /// Marks every analysis before this one as superseded.
    ///
    /// # Errors
    ///
    /// [`StoreError::NotFound`] as for [`Store::incident`].
    pub async fn supersede_before(
        &self,
        scope: &Scope,
        id: IncidentId,
        seq: u32,
    ) -> Result<(), StoreError> {
        let mut tx = self.write(&scope.guild).await?;
        must_see(&mut tx, scope, id).await?;
        query("UPDATE analysis SET superseded = 1 WHERE guild = $1 AND number = $2 AND seq < $3")
            .bind(&scope.guild)
            .bind(i64::from(id.number()))
            .bind(i64::from(seq))
            .execute(&mut *tx)
            .await?;
        Ok(tx.commit().await?)
    }

    /// One analysis.
    ///
    /// # Errors
    ///
    /// [`StoreError::NotFound`] where there is none, or as for [`Store::incident`].
    pub async fn analysis(
        &self,
        scope: &Scope,
        id: IncidentId,
        seq: u32,
    ) -> Result<StoredAnalysis, StoreError> {
        let one = self.read_analyses(scope, id, Some(seq), 1).await?.pop();
        one.ok_or(StoreError::NotFound)
    }

    /// The last analysis that was begun.
    ///
    /// # Errors
    ///
    /// [`StoreError::NotFound`] as for [`Store::incident`].
    pub async fn latest_analysis(
        &self,
        scope: &Scope,
        id: IncidentId,
    ) -> Result<Option<StoredAnalysis>, StoreError> {
        Ok(self.read_analyses(scope, id, None, 1).await?.pop())
    }

    /// Every analysis of an incident, in order.
    ///
    /// # Errors
    ///
    /// [`StoreError::NotFound`] as for [`Store::incident`].
    pub async fn analyses(
        &self,
        scope: &Scope,
        id: IncidentId,
    ) -> Result<Vec<StoredAnalysis>, StoreError> {
        let mut all = self.read_analyses(scope, id, None, i64::MAX).await?;
        all.reverse();
        Ok(all)
    }

    /// Analyses of an incident, the last first: each holds its whole case, so that no more are read
    /// than are wanted.
    async fn read_analyses(
        &self,
        scope: &Scope,
        id: IncidentId,
        seq: Option<u32>,
        most: i64,
    ) -> Result<Vec<StoredAnalysis>, StoreError> {
        type Columns = (
            i64,
            String,
            i64,
            String,
            String,
            Option<String>,
            Option<String>,
            Option<String>,
            Option<String>,
            i64,
        );
        let mut connection = self.reader.acquire().await?;
        must_see(&mut connection, scope, id).await?;
        let rows: Vec<Columns> = query_as(
            "SELECT seq, key, created_at, case_json, route, proposal, engine, corrections, measures, \
             superseded FROM analysis WHERE guild = $1 AND number = $2 \
             AND ($3 IS NULL OR seq = $3) ORDER BY seq DESC LIMIT $4",
        )
        .bind(&scope.guild)
        .bind(i64::from(id.number()))
        .bind(seq.map(i64::from))
        .bind(most)
        .fetch_all(&mut connection)
        .await?;
        rows.into_iter()
            .map(
                |(
                    seq,
                    key,
                    created_at,
                    case,
                    route,
                    proposal,
                    engine,
                    corrections,
                    measures,
                    superseded,
                )| {
                    Ok(StoredAnalysis {
                        seq: u32::try_from(seq).unwrap_or(u32::MAX),
                        key,
                        created_at: timestamp(created_at)?,
                        case: serde_json::from_str(&case)?,
                        route: serde_json::from_str(&route)?,
                        proposal: read(proposal)?,
                        engine: read(engine)?,
                        corrections: read(corrections)?.unwrap_or_default(),
                        measures: read(measures)?.unwrap_or_default(),
                        superseded: superseded != 0,
                    })
                },
            )
            .collect()
    }
}

fn read<T: serde::de::DeserializeOwned>(json: Option<String>) -> Result<Option<T>, StoreError> {
    Ok(json.as_deref().map(serde_json::from_str).transpose()?)
}

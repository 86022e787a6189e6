//! The checklist: who ticked which step of which analysis, and when.

use super::{Scope, Store, StoreError, millis, must_see, storable, timestamp};
use crate::database::{query, query_as};
use crate::incident::IncidentId;
use jiff::Timestamp;

/// One tick or untick.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tick {
    /// The step, counted from 0 as the analysis lists it.
    pub step: u32,
    /// Ticked, or unticked again.
    pub ticked: bool,
    /// Who.
    pub by: String,
    /// When.
    pub at: Timestamp,
}

impl Store {
    /// Ticks or unticks a step. Saying again what stands already adds nothing. Gives whether
    /// anything changed.
    ///
    /// # Errors
    ///
    /// [`StoreError::NotFound`] as for [`Store::incident`]; [`StoreError::Conflict`] where there is
    /// no such analysis.
    #[expect(clippy::too_many_arguments, reason = "one tick is exactly these facts")]
    pub async fn tick(
        &self,
        scope: &Scope,
        id: IncidentId,
        analysis: u32,
        step: u32,
        ticked: bool,
        by: &str,
        at: Timestamp,
    ) -> Result<bool, StoreError> {
        let mut tx = self.write(&scope.guild).await?;
        must_see(&mut tx, scope, id).await?;
        let stands: Option<(i64, i64)> = query_as(
            "SELECT seq, ticked FROM tick WHERE guild = $1 AND number = $2 AND analysis = $3 \
             AND step = $4 ORDER BY seq DESC LIMIT 1",
        )
        .bind(&scope.guild)
        .bind(i64::from(id.number()))
        .bind(i64::from(analysis))
        .bind(i64::from(step))
        .fetch_optional(&mut *tx)
        .await?;
        let (last, stood) = stands.map_or((0, false), |(seq, ticked)| (seq, ticked != 0));
        if stood == ticked {
            return Ok(false);
        }
        query(
            "INSERT INTO tick (guild, number, analysis, step, seq, ticked, by_whom, at) \
             VALUES ($1, $2, $3, $4, $5, $6, $7, $8)",
        )
        .bind(&scope.guild)
        .bind(i64::from(id.number()))
        .bind(i64::from(analysis))
        .bind(i64::from(step))
        .bind(last + 1)
        .bind(i64::from(ticked))
        .bind(storable(by))
        .bind(millis(at))
        .execute(&mut *tx)
        .await?;
        tx.commit().await?;
        Ok(true)
    }

    /// The steps of an analysis that are ticked now, in their order.
    ///
    /// # Errors
    ///
    /// [`StoreError::NotFound`] as for [`Store::incident`].
    pub async fn ticks(
        &self,
        scope: &Scope,
        id: IncidentId,
        analysis: u32,
    ) -> Result<Vec<Tick>, StoreError> {
        let mut standing = std::collections::BTreeMap::new();
        for tick in self.ticks_by_step(scope, id, analysis).await? {
            standing.insert(tick.step, tick);
        }
        Ok(standing.into_values().filter(|tick| tick.ticked).collect())
    }

    /// Every tick and untick of an analysis, in order of time.
    ///
    /// # Errors
    ///
    /// [`StoreError::NotFound`] as for [`Store::incident`].
    pub async fn tick_history(
        &self,
        scope: &Scope,
        id: IncidentId,
        analysis: u32,
    ) -> Result<Vec<Tick>, StoreError> {
        let mut ticks = self.ticks_by_step(scope, id, analysis).await?;
        ticks.sort_by_key(|tick| tick.at);
        Ok(ticks)
    }

    async fn ticks_by_step(
        &self,
        scope: &Scope,
        id: IncidentId,
        analysis: u32,
    ) -> Result<Vec<Tick>, StoreError> {
        let mut connection = self.reader.acquire().await?;
        must_see(&mut connection, scope, id).await?;
        let rows: Vec<(i64, i64, String, i64)> = query_as(
            "SELECT step, ticked, by_whom, at FROM tick \
             WHERE guild = $1 AND number = $2 AND analysis = $3 ORDER BY step, seq",
        )
        .bind(&scope.guild)
        .bind(i64::from(id.number()))
        .bind(i64::from(analysis))
        .fetch_all(&mut connection)
        .await?;
        rows.into_iter()
            .map(|(step, ticked, by, at)| {
                Ok(Tick {
                    step: u32::try_from(step).unwrap_or(u32::MAX),
                    ticked: ticked != 0,
                    by,
                    at: timestamp(at)?,
                })
            })
            .collect()
    }
}

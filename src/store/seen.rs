//! Events that were taken up already: Discord delivers some twice, and replays others.

use super::{Store, StoreError, millis};
use crate::database::{query, query_scalar};
use jiff::Timestamp;

impl Store {
    /// Whether an event, by its key (`interaction/123`, `message/456`), is met for the first time.
    ///
    /// # Errors
    ///
    /// Those of the database; the event then counts as not met.
    pub async fn first_time(&self, event: &str, now: Timestamp) -> Result<bool, StoreError> {
        let added = query("INSERT INTO seen (event, at) VALUES ($1, $2) ON CONFLICT DO NOTHING")
            .bind(event)
            .bind(millis(now))
            .execute(&self.writer)
            .await?;
        Ok(added.rows_affected() == 1)
    }

    /// Whether an event was met, by its key; [`Store::first_time`] is what meets it.
    ///
    /// # Errors
    ///
    /// Those of the database.
    pub async fn has_met(&self, event: &str) -> Result<bool, StoreError> {
        let met: Option<i64> = query_scalar("SELECT at FROM seen WHERE event = $1")
            .bind(event)
            .fetch_optional(&self.reader)
            .await?;
        Ok(met.is_some())
    }

    /// Forgets events older than two days; no gateway replays so far back. Gives how many.
    ///
    /// # Errors
    ///
    /// Those of the database.
    pub async fn prune_seen(&self, now: Timestamp) -> Result<u64, StoreError> {
        const TWO_DAYS_MILLIS: i64 = 2 * 24 * 60 * 60 * 1000;
        let pruned = query("DELETE FROM seen WHERE at < $1 AND event <> 'probe'")
            .bind(millis(now) - TWO_DAYS_MILLIS)
            .execute(&self.writer)
            .await?;
        Ok(pruned.rows_affected())
    }
}

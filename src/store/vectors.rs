//! The vectors of past incidents: which are missing, and what was made.
//!
//! Wanted: whatever changes a record takes its vector away in the same transaction
//! (`words::remove`), so what is missing is what has none; a vector is never stored for a text that
//! has changed since it was read.

use super::{Store, StoreError, millis, timestamp};
use crate::database::past::past_columns;
use crate::database::{past, query, query_as};
use crate::incident::PastIncident;
use jiff::Timestamp;

/// A past incident without a vector.
#[derive(Clone, Debug, PartialEq)]
pub struct Unembedded {
    /// Its guild.
    pub guild: String,
    /// Its row.
    pub row: i64,
    /// The record as it is now.
    pub past: PastIncident,
    /// When it last changed.
    pub updated_at: Timestamp,
}

impl Store {
    /// Past incidents that have no vector of this model, newest first. With `since`, only those that
    /// changed from then on, which costs next to nothing.
    ///
    /// # Errors
    ///
    /// Those of the database.
    pub async fn unembedded(
        &self,
        model: &str,
        since: Option<Timestamp>,
        limit: u32,
    ) -> Result<Vec<Unembedded>, StoreError> {
        let mut connection = self.reader.acquire().await?;
        let rows = query(concat!(
            "SELECT ",
            past_columns!(),
            ", incident.guild, incident.id, incident.updated_at FROM incident \
             LEFT JOIN incident_vector v ON v.incident = incident.id AND v.model = $1 \
             WHERE incident.updated_at >= $2 AND v.seq IS NULL \
             AND incident.status IN ('resolved', 'closed') \
             ORDER BY incident.id DESC LIMIT $3"
        ))
        .bind(model)
        .bind(since.map_or(i64::MIN, millis))
        .bind(i64::from(limit))
        .fetch_all(&mut connection)
        .await?;
        past::read_of_guilds(&mut connection, rows)
            .await?
            .into_iter()
            .map(|(guild, past, row)| {
                Ok(Unembedded {
                    guild,
                    row: row.try_get("id")?,
                    past,
                    updated_at: timestamp(row.try_get("updated_at")?)?,
                })
            })
            .collect()
    }

    /// Stores what a model made of records, each in place of what was there; a record that is gone
    /// or has changed meanwhile is left out, and is missing still.
    ///
    /// # Errors
    ///
    /// Those of the database: nothing is stored then.
    pub async fn put_vectors(
        &self,
        model: &str,
        vectors: &[(Unembedded, Vec<u8>)],
    ) -> Result<(), StoreError> {
        let mut guilds: Vec<&str> = vectors.iter().map(|(of, _)| of.guild.as_str()).collect();
        guilds.dedup();
        for guild in guilds {
            let mut tx = self.write(guild).await?;
            for (of, bytes) in vectors.iter().filter(|(of, _)| of.guild == guild) {
                query("DELETE FROM incident_vector WHERE incident = $1")
                    .bind(of.row)
                    .execute(&mut tx)
                    .await?;
                query(
                    "INSERT INTO incident_vector (incident, guild, model, vector) \
                     SELECT id, guild, $3, $4 FROM incident WHERE id = $1 AND updated_at = $2",
                )
                .bind(of.row)
                .bind(millis(of.updated_at))
                .bind(model)
                .bind(bytes.clone())
                .execute(&mut tx)
                .await?;
            }
            tx.commit().await?;
        }
        Ok(())
    }

    /// How many past incidents there are, and how many of them have a vector of this model.
    ///
    /// # Errors
    ///
    /// Those of the database.
    pub async fn embedded(&self, model: &str) -> Result<(u64, u64), StoreError> {
        let (all, embedded): (i64, i64) = query_as(
            "SELECT count(*), count(v.seq) FROM incident \
             LEFT JOIN incident_vector v ON v.incident = incident.id AND v.model = $1 \
             WHERE incident.status IN ('resolved', 'closed')",
        )
        .bind(model)
        .fetch_one(&self.reader)
        .await?;
        Ok((
            u64::try_from(all).unwrap_or(0),
            u64::try_from(embedded).unwrap_or(0),
        ))
    }
}

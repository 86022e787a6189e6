//! Who changed what of a guild's services and settings, and of who may see what.
//!
//! Wanted: what a person changed stands with their name and the time, in the transaction that
//! changed it; no word of an incident stands here, so that forgetting one leaves nothing behind.

use super::{Store, StoreError, document, millis, storable, timestamp};
use crate::database::{Connection, query, query_as};
use jiff::Timestamp;
use serde_json::Value;

/// Who does something, and when.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Signed<'a> {
    /// A person's display name, or what did it: `retention`.
    pub by: &'a str,
    /// When.
    pub at: Timestamp,
}

/// An entry.
#[derive(Clone, Debug, PartialEq)]
pub struct Audited {
    /// When.
    pub at: Timestamp,
    /// Who.
    pub by: String,
    /// What: `service_set`, `service_renamed`, `shared`, `forgotten`, ...
    pub what: String,
    /// Of what: a service's name, `INC-0012`, a setting.
    pub subject: String,
    /// The particulars.
    pub detail: Value,
}

impl Store {
    /// Writes down what changes nothing here, such as an export.
    ///
    /// # Errors
    ///
    /// Those of the database.
    pub async fn write_down(
        &self,
        guild: &str,
        signed: Signed<'_>,
        what: &str,
        subject: &str,
    ) -> Result<(), StoreError> {
        let mut tx = self.write(guild).await?;
        audit(&mut tx, guild, signed, what, subject, &Value::Null).await?;
        Ok(tx.commit().await?)
    }

    /// What was changed of one subject, the latest first.
    ///
    /// # Errors
    ///
    /// Those of the database.
    pub async fn audit_of(
        &self,
        guild: &str,
        subject: &str,
        limit: u32,
    ) -> Result<Vec<Audited>, StoreError> {
        let mut connection = self.reader.acquire().await?;
        let rows: Vec<(i64, String, String, String, String)> = query_as(
            "SELECT at, by_whom, what, subject, detail FROM audit \
             WHERE guild = $1 AND subject = $2 ORDER BY seq DESC LIMIT $3",
        )
        .bind(guild)
        .bind(subject)
        .bind(i64::from(limit))
        .fetch_all(&mut connection)
        .await?;
        rows.into_iter()
            .map(|(at, by, what, subject, detail)| {
                Ok(Audited {
                    at: timestamp(at)?,
                    by,
                    what,
                    subject,
                    detail: serde_json::from_str(&detail)?,
                })
            })
            .collect()
    }
}

/// Adds an entry.
pub(super) async fn audit(
    connection: &mut Connection,
    guild: &str,
    signed: Signed<'_>,
    what: &str,
    subject: &str,
    detail: &Value,
) -> Result<(), StoreError> {
    query(
        "INSERT INTO audit (guild, seq, at, by_whom, what, subject, detail) \
         SELECT $1, coalesce(max(seq), 0) + 1, $2, $3, $4, $5, $6 FROM audit WHERE guild = $1",
    )
    .bind(guild)
    .bind(millis(signed.at))
    .bind(storable(signed.by))
    .bind(what)
    .bind(storable(subject))
    .bind(document(detail)?)
    .execute(connection)
    .await?;
    Ok(())
}

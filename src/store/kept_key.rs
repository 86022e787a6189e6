//! The random key that an installation keeps: made once, at the first start on a database.

use super::{Store, StoreError};
use crate::database::{query, query_scalar};

/// The settings of no guild are the installation's.
const INSTALLATION: &str = "";
/// The setting's name.
const NAME: &str = "key/redaction";

impl Store {
    /// The kept key; `fresh` becomes it where there is none yet.
    ///
    /// # Errors
    ///
    /// Those of the database.
    pub async fn kept_key(&self, fresh: &[u8; 32]) -> Result<String, StoreError> {
        let hex: String = fresh.iter().map(|byte| format!("{byte:02x}")).collect();
        let mut tx = self.write(INSTALLATION).await?;
        query(
            "INSERT INTO setting (guild, name, value) VALUES ($1, $2, $3) \
             ON CONFLICT (guild, name) DO NOTHING",
        )
        .bind(INSTALLATION)
        .bind(NAME)
        .bind(hex)
        .execute(&mut *tx)
        .await?;
        let kept: String = query_scalar("SELECT value FROM setting WHERE guild = $1 AND name = $2")
            .bind(INSTALLATION)
            .bind(NAME)
            .fetch_one(&mut *tx)
            .await?;
        tx.commit().await?;
        Ok(kept)
    }
}

//! What a guild has set for itself.

use super::audit::audit;
use super::{Signed, Store, StoreError};
use crate::database::{query, query_as};
use serde_json::json;

/// The setting's name of the role of responders.
const RESPONDERS: &str = "role/responders";
/// The setting's name of the role of administrators.
const ADMINISTRATORS: &str = "role/administrators";

/// Roles whose members may do what takes a right (see [`crate::incident::rights`]).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Roles {
    /// May do what takes *Manage Threads*.
    pub responders: Option<u64>,
    /// May do what takes *Manage Server*, and what responders may.
    pub administrators: Option<u64>,
}

impl Store {
    /// The roles that a guild has set.
    ///
    /// # Errors
    ///
    /// Those of the database.
    pub async fn roles(&self, guild: &str) -> Result<Roles, StoreError> {
        let mut connection = self.reader.acquire().await?;
        let rows: Vec<(String, String)> =
            query_as("SELECT name, value FROM setting WHERE guild = $1")
                .bind(guild)
                .fetch_all(&mut connection)
                .await?;
        let mut roles = Roles::default();
        for (name, value) in rows {
            match name.as_str() {
                RESPONDERS => roles.responders = value.parse().ok(),
                ADMINISTRATORS => roles.administrators = value.parse().ok(),
                _ => {}
            }
        }
        Ok(roles)
    }

    /// Sets both roles, or takes one away with `None`.
    ///
    /// # Errors
    ///
    /// Those of the database.
    pub async fn set_roles(
        &self,
        guild: &str,
        roles: Roles,
        signed: Signed<'_>,
    ) -> Result<(), StoreError> {
        let mut tx = self.write(guild).await?;
        for (name, role) in [
            (RESPONDERS, roles.responders),
            (ADMINISTRATORS, roles.administrators),
        ] {
            match role {
                Some(role) => {
                    query(
                        "INSERT INTO setting (guild, name, value) VALUES ($1, $2, $3) \
                         ON CONFLICT (guild, name) DO UPDATE SET value = excluded.value",
                    )
                    .bind(guild)
                    .bind(name)
                    .bind(role.to_string())
                    .execute(&mut *tx)
                    .await?;
                }
                None => {
                    query("DELETE FROM setting WHERE guild = $1 AND name = $2")
                        .bind(guild)
                        .bind(name)
                        .execute(&mut *tx)
                        .await?;
                }
            }
        }
        let detail =
            json!({ "responders": roles.responders, "administrators": roles.administrators });
        audit(&mut tx, guild, signed, "roles", "roles", &detail).await?;
        Ok(tx.commit().await?)
    }
}

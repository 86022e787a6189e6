//! What a guild has set for itself.

use super::audit::audit;
use super::{Signed, Store, StoreError};
use crate::database::{Transaction, query, query_as};
use crate::incident::Severity;
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

/// What a guild calls how grave, and how often it wants updates; missing: as everybody does (R30).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Criteria([(Option<String>, Option<u32>); 4]);

impl Criteria {
    fn of(severity: Severity) -> usize {
        usize::from(severity.number()) - 1
    }

    /// The guild's own words for a severity.
    pub fn words(&self, severity: Severity) -> Option<&str> {
        self.0.get(Self::of(severity))?.0.as_deref()
    }

    /// Minutes between two updates: the guild's own, else R19's.
    pub fn minutes(&self, severity: Severity) -> u32 {
        let own = self.0.get(Self::of(severity)).and_then(|own| own.1);
        own.unwrap_or_else(|| severity.update_minutes())
    }
}

/// Sets one, or takes it away with `None`.
async fn put(
    tx: &mut Transaction,
    guild: &str,
    name: &str,
    value: Option<&str>,
) -> Result<(), StoreError> {
    let written = match value {
        Some(value) => query(
            "INSERT INTO setting (guild, name, value) VALUES ($1, $2, $3) \
             ON CONFLICT (guild, name) DO UPDATE SET value = excluded.value",
        )
        .bind(guild)
        .bind(name)
        .bind(super::storable(value)),
        None => query("DELETE FROM setting WHERE guild = $1 AND name = $2")
            .bind(guild)
            .bind(name),
    };
    written.execute(&mut **tx).await?;
    Ok(())
}

impl Store {
    async fn settings(&self, guild: &str) -> Result<Vec<(String, String)>, StoreError> {
        let mut connection = self.reader.acquire().await?;
        Ok(query_as("SELECT name, value FROM setting WHERE guild = $1")
            .bind(guild)
            .fetch_all(&mut connection)
            .await?)
    }

    /// What a guild calls how grave, and how often it wants updates.
    ///
    /// # Errors
    ///
    /// Those of the database.
    pub async fn criteria(&self, guild: &str) -> Result<Criteria, StoreError> {
        let rows = self.settings(guild).await?;
        let mut criteria = Criteria::default();
        for (name, value) in rows {
            let mut parts = name.split('/');
            let (Some("severity"), Some(severity), Some(what)) =
                (parts.next(), parts.next(), parts.next())
            else {
                continue;
            };
            let own =
                Severity::parse(severity).and_then(|one| criteria.0.get_mut(Criteria::of(one)));
            match (what, own) {
                ("criteria", Some(own)) => own.0 = Some(value),
                ("minutes", Some(own)) => own.1 = value.parse().ok(),
                _ => {}
            }
        }
        Ok(criteria)
    }

    /// Sets a guild's words for a severity, or its minutes between updates; what is `None` stays.
    /// Empty words and zero minutes go back to what everybody has.
    ///
    /// # Errors
    ///
    /// Those of the database.
    pub async fn set_criteria(
        &self,
        guild: &str,
        severity: Severity,
        words: Option<&str>,
        minutes: Option<u32>,
        signed: Signed<'_>,
    ) -> Result<(), StoreError> {
        let mut tx = self.write(guild).await?;
        let minutes = minutes.map(|minutes| match minutes {
            0 => String::new(),
            minutes => minutes.to_string(),
        });
        for (what, value) in [
            ("criteria", words.map(|words| words.trim().to_owned())),
            ("minutes", minutes),
        ] {
            let name = format!("severity/{}/{what}", severity.number());
            if let Some(value) = value {
                let value = Some(value.as_str()).filter(|value| !value.is_empty());
                put(&mut tx, guild, &name, value).await?;
            }
        }
        let detail = json!({ "severity": severity, "criteria": words });
        audit(&mut tx, guild, signed, "severity", "severity", &detail).await?;
        Ok(tx.commit().await?)
    }

    /// The roles that a guild has set.
    ///
    /// # Errors
    ///
    /// Those of the database.
    pub async fn roles(&self, guild: &str) -> Result<Roles, StoreError> {
        let rows = self.settings(guild).await?;
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
            let role = role.map(|role| role.to_string());
            put(&mut tx, guild, name, role.as_deref()).await?;
        }
        let detail =
            json!({ "responders": roles.responders, "administrators": roles.administrators });
        audit(&mut tx, guild, signed, "roles", "roles", &detail).await?;
        Ok(tx.commit().await?)
    }
}

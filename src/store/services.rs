//! The services of a guild, as people register them and imports name them.

use super::{Store, StoreError, document, refuse_long, storable};
use crate::database::{Connection, query, query_as};
use crate::incident::{Registry, Service};

impl Store {
    /// The services of a guild, in the order of their names.
    ///
    /// # Errors
    ///
    /// Those of the database.
    pub async fn services(&self, guild: &str) -> Result<Registry, StoreError> {
        let mut connection = self.reader.acquire().await?;
        registry(&mut connection, guild).await
    }

    /// Registers a service, or replaces what is registered under its name.
    ///
    /// # Errors
    ///
    /// [`StoreError::Invalid`] for an empty name; [`StoreError::Conflict`] where one of its names
    /// already means another service.
    pub async fn set_service(&self, guild: &str, service: &Service) -> Result<(), StoreError> {
        let name = service.name.trim();
        if name.is_empty() {
            return Err(StoreError::Invalid("a service needs a name".to_owned()));
        }
        refuse_long(name)?;
        for alias in &service.aliases {
            refuse_long(alias.trim())?;
        }
        let mut tx = self.write(guild).await?;
        let known = registry(&mut tx, guild).await?;
        for alias in &service.aliases {
            refuse_taken(&known, alias, name)?;
        }
        if let Some(other) = known
            .services
            .iter()
            .find(|other| other.name != name && other.aliases.iter().any(|alias| alias == name))
        {
            return Err(StoreError::Conflict(format!(
                "{name} is already another name of {}",
                other.name
            )));
        }
        insert_service(&mut tx, guild, service).await?;
        query("DELETE FROM service_alias WHERE guild = $1 AND service = $2")
            .bind(guild)
            .bind(storable(name))
            .execute(&mut *tx)
            .await?;
        for alias in &service.aliases {
            insert_alias(&mut tx, guild, name, alias).await?;
        }
        Ok(tx.commit().await?)
    }

    /// Gives a registered service another name.
    ///
    /// # Errors
    ///
    /// [`StoreError::NotFound`] where the service is not registered; [`StoreError::Conflict`] where
    /// the alias already means another one; [`StoreError::Invalid`] for an empty alias.
    pub async fn add_alias(
        &self,
        guild: &str,
        service: &str,
        alias: &str,
    ) -> Result<(), StoreError> {
        let mut tx = self.write(guild).await?;
        let known = registry(&mut tx, guild).await?;
        if known.get(service).is_none() {
            return Err(StoreError::NotFound);
        }
        if alias.trim().is_empty() {
            return Err(StoreError::Invalid("an alias needs a name".to_owned()));
        }
        refuse_long(alias.trim())?;
        refuse_taken(&known, alias, service)?;
        insert_alias(&mut tx, guild, service, alias).await?;
        Ok(tx.commit().await?)
    }

    /// Removes a service and its aliases. Incidents keep the name they were recorded under.
    ///
    /// # Errors
    ///
    /// [`StoreError::NotFound`] where it is not registered.
    pub async fn remove_service(&self, guild: &str, name: &str) -> Result<(), StoreError> {
        let removed = query("DELETE FROM service WHERE guild = $1 AND name = $2")
            .bind(guild)
            .bind(name)
            .execute(&self.writer)
            .await?;
        if removed.rows_affected() == 0 {
            return Err(StoreError::NotFound);
        }
        Ok(())
    }
}

/// An alias that already means another service, exactly, is refused; likeness is not.
fn refuse_taken(known: &Registry, alias: &str, service: &str) -> Result<(), StoreError> {
    let alias = alias.trim();
    let taken = known.services.iter().find(|other| {
        other.name != service
            && (other.name == alias || other.aliases.iter().any(|known| known == alias))
    });
    match taken {
        Some(other) => Err(StoreError::Conflict(format!(
            "{alias} already means {}",
            other.name
        ))),
        None => Ok(()),
    }
}

pub(super) async fn registry(
    connection: &mut Connection,
    guild: &str,
) -> Result<Registry, StoreError> {
    let rows: Vec<(String, String, String)> = query_as(
        "SELECT name, high_risk, environments_apart FROM service WHERE guild = $1 ORDER BY name",
    )
    .bind(guild)
    .fetch_all(&mut *connection)
    .await?;
    let aliases: Vec<(String, String)> = query_as(
        "SELECT service, alias FROM service_alias WHERE guild = $1 ORDER BY service, alias",
    )
    .bind(guild)
    .fetch_all(connection)
    .await?;
    let mut by_service: std::collections::HashMap<String, Vec<String>> =
        std::collections::HashMap::new();
    for (service, alias) in aliases {
        by_service.entry(service).or_default().push(alias);
    }
    let services = rows
        .into_iter()
        .map(|(name, high_risk, environments_apart)| {
            Ok(Service {
                aliases: by_service.remove(&name).unwrap_or_default(),
                high_risk: serde_json::from_str(&high_risk)?,
                environments_apart: serde_json::from_str(&environments_apart)?,
                name,
            })
        })
        .collect::<Result<_, StoreError>>()?;
    Ok(Registry { services })
}

pub(super) async fn insert_service(
    connection: &mut Connection,
    guild: &str,
    service: &Service,
) -> Result<(), StoreError> {
    query(
        "INSERT INTO service (guild, name, high_risk, environments_apart) VALUES ($1, $2, $3, $4) \
         ON CONFLICT (guild, name) DO UPDATE SET high_risk = excluded.high_risk, \
         environments_apart = excluded.environments_apart",
    )
    .bind(guild)
    .bind(storable(service.name.trim()))
    .bind(document(&service.high_risk)?)
    .bind(document(&service.environments_apart)?)
    .execute(connection)
    .await?;
    Ok(())
}

async fn insert_alias(
    connection: &mut Connection,
    guild: &str,
    service: &str,
    alias: &str,
) -> Result<(), StoreError> {
    let alias = alias.trim();
    if alias.is_empty() || alias == service {
        return Ok(());
    }
    query(
        "INSERT INTO service_alias (guild, alias, service) VALUES ($1, $2, $3) ON CONFLICT DO NOTHING",
    )
    .bind(guild)
    .bind(storable(alias))
    .bind(storable(service))
    .execute(connection)
    .await?;
    Ok(())
}

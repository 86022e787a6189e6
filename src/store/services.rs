//! The services of a guild, as people register them and imports name them.

use super::audit::audit;
use super::{
    Scope, Signed, Store, StoreError, document, incident_id, millis, refuse_long, storable,
    visible, words,
};
use crate::database::{Connection, query, query_as, query_scalar};
use crate::incident::{IncidentId, Registry, Service};
use jiff::Timestamp;
use serde_json::json;

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
        self.change_service(guild, service, None).await
    }

    /// As [`Store::set_service`], and writes down who did it.
    ///
    /// # Errors
    ///
    /// As for [`Store::set_service`].
    pub async fn change_service(
        &self,
        guild: &str,
        service: &Service,
        signed: Option<Signed<'_>>,
    ) -> Result<(), StoreError> {
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
        if let Some(signed) = signed {
            let detail = json!({ "was": known.get(name), "is": service });
            audit(&mut tx, guild, signed, "service_set", name, &detail).await?;
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
        self.teach_alias(guild, service, alias, None).await
    }

    /// As [`Store::add_alias`], and writes down who did it.
    ///
    /// # Errors
    ///
    /// As for [`Store::add_alias`].
    pub async fn teach_alias(
        &self,
        guild: &str,
        service: &str,
        alias: &str,
        signed: Option<Signed<'_>>,
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
        if let Some(signed) = signed {
            let detail = json!({ "alias": alias.trim() });
            audit(&mut tx, guild, signed, "service_alias", service, &detail).await?;
        }
        Ok(tx.commit().await?)
    }

    /// Removes a service and its aliases. Incidents keep the name they were recorded under.
    ///
    /// # Errors
    ///
    /// [`StoreError::NotFound`] where it is not registered.
    pub async fn remove_service(&self, guild: &str, name: &str) -> Result<(), StoreError> {
        self.drop_service(guild, name, None).await
    }

    /// As [`Store::remove_service`], and writes down who did it and what was known of it.
    ///
    /// # Errors
    ///
    /// As for [`Store::remove_service`].
    pub async fn drop_service(
        &self,
        guild: &str,
        name: &str,
        signed: Option<Signed<'_>>,
    ) -> Result<(), StoreError> {
        let mut tx = self.write(guild).await?;
        let known = registry(&mut tx, guild).await?;
        let Some(service) = known.get(name) else {
            return Err(StoreError::NotFound);
        };
        delete_service(&mut tx, guild, name).await?;
        if let Some(signed) = signed {
            let detail = json!({ "was": service });
            audit(&mut tx, guild, signed, "service_removed", name, &detail).await?;
        }
        Ok(tx.commit().await?)
    }

    /// Gives a service another canonical name. Its incidents go with it and the old name becomes
    /// one of its aliases; gives how many incidents changed. Their words are indexed under the new
    /// name by [`Store::reindex_service`].
    ///
    /// # Errors
    ///
    /// [`StoreError::NotFound`] where it is not registered; [`StoreError::Conflict`] where the new
    /// name means another service; [`StoreError::Invalid`] for an empty one.
    pub async fn rename_service(
        &self,
        guild: &str,
        from: &str,
        to: &str,
        signed: Signed<'_>,
    ) -> Result<u64, StoreError> {
        let to = storable(to.trim()).into_owned();
        if to.is_empty() {
            return Err(StoreError::Invalid("a service needs a name".to_owned()));
        }
        let mut tx = self.write(guild).await?;
        let known = registry(&mut tx, guild).await?;
        let Some(service) = known.get(from) else {
            return Err(StoreError::NotFound);
        };
        refuse_taken(&known, &to, from)?;
        if to == from {
            return Ok(0);
        }
        let mut renamed = service.clone();
        renamed.name.clone_from(&to);
        renamed.aliases.retain(|alias| *alias != to);
        renamed.aliases.push(from.to_owned());
        delete_service(&mut tx, guild, from).await?;
        insert_service(&mut tx, guild, &renamed).await?;
        for alias in &renamed.aliases {
            insert_alias(&mut tx, guild, &to, alias).await?;
        }
        let moved = move_incidents(&mut tx, guild, from, &to, signed.at).await?;
        let detail = json!({ "from": from, "incidents": moved });
        audit(&mut tx, guild, signed, "service_renamed", &to, &detail).await?;
        tx.commit().await?;
        Ok(moved)
    }

    /// Makes one service of two: names, aliases, owners and all else of the first go to the second,
    /// and so do its incidents; gives how many. What stands once (the repository) stays the
    /// second's where it has one.
    ///
    /// # Errors
    ///
    /// [`StoreError::NotFound`] where one of them is not registered; [`StoreError::Invalid`] where
    /// they are one already.
    pub async fn merge_services(
        &self,
        guild: &str,
        from: &str,
        into: &str,
        signed: Signed<'_>,
    ) -> Result<u64, StoreError> {
        if from == into {
            return Err(StoreError::Invalid(
                "a service can't be merged into itself".to_owned(),
            ));
        }
        let mut tx = self.write(guild).await?;
        let known = registry(&mut tx, guild).await?;
        let (Some(gone), Some(stays)) = (known.get(from), known.get(into)) else {
            return Err(StoreError::NotFound);
        };
        let mut merged = stays.clone();
        merged.aliases.push(gone.name.clone());
        let add = |all: &mut Vec<String>, more: &[String]| {
            for one in more {
                if !all.contains(one) {
                    all.push(one.clone());
                }
            }
        };
        add(&mut merged.aliases, &gone.aliases);
        add(&mut merged.high_risk, &gone.high_risk);
        add(&mut merged.environments_apart, &gone.environments_apart);
        add(&mut merged.runbooks, &gone.runbooks);
        for owner in &gone.owners {
            if !merged.owners.contains(owner) {
                merged.owners.push(owner.clone());
            }
        }
        if merged.repository.is_empty() {
            merged.repository.clone_from(&gone.repository);
        }
        delete_service(&mut tx, guild, from).await?;
        insert_service(&mut tx, guild, &merged).await?;
        for alias in &merged.aliases {
            insert_alias(&mut tx, guild, into, alias).await?;
        }
        let moved = move_incidents(&mut tx, guild, from, into, signed.at).await?;
        let detail = json!({ "from": gone, "incidents": moved });
        audit(&mut tx, guild, signed, "service_merged", into, &detail).await?;
        tx.commit().await?;
        Ok(moved)
    }

    /// Indexes the words of a service's incidents anew, by number, after the given one; gives the
    /// last of them, or `None` once all are done.
    ///
    /// # Errors
    ///
    /// Those of the database.
    pub async fn reindex_service(
        &self,
        guild: &str,
        service: &str,
        after: Option<IncidentId>,
        limit: u32,
    ) -> Result<Option<IncidentId>, StoreError> {
        let mut tx = self.write(guild).await?;
        let numbers: Vec<i64> = query_scalar(
            "SELECT number FROM incident WHERE guild = $1 AND service = $2 AND number > $3 \
             ORDER BY number LIMIT $4",
        )
        .bind(guild)
        .bind(service)
        .bind(after.map_or(0, |id| i64::from(id.number())))
        .bind(i64::from(limit))
        .fetch_all(&mut *tx)
        .await?;
        let mut last = None;
        for number in numbers {
            let id = incident_id(number)?;
            words::index(&mut tx, guild, id).await?;
            last = Some(id);
        }
        tx.commit().await?;
        Ok(last)
    }

    /// How many incidents of a service may be seen from the scope.
    ///
    /// # Errors
    ///
    /// Those of the database.
    pub async fn incidents_of_service(
        &self,
        scope: &Scope,
        service: &str,
    ) -> Result<u64, StoreError> {
        let mut connection = self.reader.acquire().await?;
        let count: i64 = query_scalar(concat!(
            "SELECT count(*) FROM incident WHERE ",
            visible!(),
            " AND service = $3"
        ))
        .bind(&scope.guild)
        .bind(&scope.channel)
        .bind(service)
        .fetch_one(&mut connection)
        .await?;
        Ok(u64::try_from(count).unwrap_or(0))
    }

    /// Who resolved incidents of a service that may be seen from the scope, or tried a fix there
    /// that worked: names as they are shown, the latest first.
    ///
    /// # Errors
    ///
    /// Those of the database.
    pub async fn resolvers(
        &self,
        scope: &Scope,
        service: &str,
        limit: u32,
    ) -> Result<Vec<String>, StoreError> {
        let mut connection = self.reader.acquire().await?;
        let names: Vec<(String, i64)> = query_as(
            "SELECT who, max(at) AS latest FROM (\
                SELECT e.by_whom AS who, e.at AS at FROM incident_event e \
                JOIN incident i ON i.guild = e.guild AND i.number = e.number \
                WHERE i.guild = $1 AND (i.private = 0 OR i.channel = $2 OR i.thread = $2) \
                AND i.service = $3 AND e.what = 'resolved' \
                UNION ALL \
                SELECT a.by_whom AS who, coalesce(a.at, 0) AS at FROM attempt a \
                JOIN incident i ON i.guild = a.guild AND i.number = a.number \
                WHERE i.guild = $1 AND (i.private = 0 OR i.channel = $2 OR i.thread = $2) \
                AND i.service = $3 AND a.withdrawn = 0 AND a.outcome IN ('held', 'mitigated') \
             ) known WHERE who <> '' GROUP BY who ORDER BY latest DESC, who",
        )
        .bind(&scope.guild)
        .bind(&scope.channel)
        .bind(service)
        .fetch_all(&mut connection)
        .await?;
        Ok(names
            .into_iter()
            .map(|(who, _)| who)
            .filter(|who| !NOBODY.contains(&who.as_str()))
            .take(usize::try_from(limit).unwrap_or(0))
            .collect())
    }
}

/// Who is written down where no person did something.
const NOBODY: [&str; 6] = [
    "import",
    "postmortem",
    "ci",
    "alert",
    "precedent",
    "retention",
];

async fn delete_service(
    connection: &mut Connection,
    guild: &str,
    name: &str,
) -> Result<(), StoreError> {
    query("DELETE FROM service WHERE guild = $1 AND name = $2")
        .bind(guild)
        .bind(name)
        .execute(connection)
        .await?;
    Ok(())
}

async fn move_incidents(
    connection: &mut Connection,
    guild: &str,
    from: &str,
    to: &str,
    at: Timestamp,
) -> Result<u64, StoreError> {
    let moved = query(
        "UPDATE incident SET service = $3, \
         updated_at = CASE WHEN updated_at < $4 THEN $4 ELSE updated_at END \
         WHERE guild = $1 AND service = $2",
    )
    .bind(guild)
    .bind(from)
    .bind(to)
    .bind(millis(at))
    .execute(connection)
    .await?;
    Ok(moved.rows_affected())
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
    type Columns = (String, String, String, String, String, String);
    let rows: Vec<Columns> = query_as(
        "SELECT name, high_risk, environments_apart, owners, repository, runbooks FROM service \
         WHERE guild = $1 ORDER BY name",
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
        .map(
            |(name, high_risk, environments_apart, owners, repository, runbooks)| {
                Ok(Service {
                    owners: serde_json::from_str(&owners)?,
                    repository,
                    runbooks: serde_json::from_str(&runbooks)?,
                    aliases: by_service.remove(&name).unwrap_or_default(),
                    high_risk: serde_json::from_str(&high_risk)?,
                    environments_apart: serde_json::from_str(&environments_apart)?,
                    name,
                })
            },
        )
        .collect::<Result<_, StoreError>>()?;
    Ok(Registry { services })
}

pub(super) async fn insert_service(
    connection: &mut Connection,
    guild: &str,
    service: &Service,
) -> Result<(), StoreError> {
    query(
        "INSERT INTO service (guild, name, high_risk, environments_apart, owners, repository, runbooks) \
         VALUES ($1, $2, $3, $4, $5, $6, $7) \
         ON CONFLICT (guild, name) DO UPDATE SET high_risk = excluded.high_risk, \
         environments_apart = excluded.environments_apart, owners = excluded.owners, \
         repository = excluded.repository, runbooks = excluded.runbooks",
    )
    .bind(guild)
    .bind(storable(service.name.trim()))
    .bind(document(&service.high_risk)?)
    .bind(document(&service.environments_apart)?)
    .bind(document(&service.owners)?)
    .bind(storable(&service.repository))
    .bind(document(&service.runbooks)?)
    .execute(connection)
    .await?;
    Ok(())
}

pub(super) async fn insert_alias(
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

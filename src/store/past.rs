//! Records that come from elsewhere, and the records as a whole: what import and export need.

use super::attempts::insert_attempt;
use super::incidents::{LAST_NUMBER, next_number};
use super::services::{insert_alias, insert_service, registry};
use super::{
    Scope, Store, StoreError, document, incident_id, millis, optional_millis, optional_storable,
    refuse_long, storable, visible, words,
};
use crate::database::past::{self, past_columns};
use crate::database::{Connection, Row, query, query_as, query_scalar};
use crate::incident::{IncidentId, PastIncident, Registry, Service, Status};
use jiff::Timestamp;
use sha2::{Digest, Sha256};
use std::collections::HashMap;

/// The highest id that an import may keep: the guild's counter moves behind it, and has to have
/// room.
const LAST_IMPORTED: u32 = 99_999_999;

/// A record to be stored.
#[derive(Clone, Debug, PartialEq)]
pub struct Entry {
    /// The id it keeps; `None` gives it the guild's next one. The same record without an id is
    /// stored once, however often it comes.
    pub id: Option<IncidentId>,
    /// The record; its own `id` is not looked at.
    pub past: PastIncident,
    /// Seen from this channel only; `None` shares it with the guild.
    pub private_to: Option<String>,
}

/// What became of one entry.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PutOutcome {
    /// Stored under a number that was free.
    Added(IncidentId),
    /// Stored in place of the record that had the number.
    Replaced(IncidentId),
    /// Not stored, and why, in a sentence.
    Refused(String),
}

/// A record with who may see it.
#[derive(Clone, Debug, PartialEq)]
pub struct StoredRecord {
    /// The record.
    pub past: PastIncident,
    /// Seen from this channel only.
    pub private_to: Option<String>,
    /// It still runs: memory does not recall it, and an export leaves it out.
    pub open: bool,
}

impl Store {
    /// Stores records in one transaction, each under its id; gives what became of each, in order.
    /// The services that records name for everybody to see are registered. With `all_or_nothing`,
    /// one refused entry keeps every other from being stored too.
    ///
    /// # Errors
    ///
    /// Those of the database: nothing is stored then.
    pub async fn put_past(
        &self,
        guild: &str,
        entries: &[Entry],
        at: Timestamp,
        all_or_nothing: bool,
    ) -> Result<Vec<PutOutcome>, StoreError> {
        let mut tx = self.write(guild).await?;
        let mut services = Names {
            registry: registry(&mut tx, guild).await?,
            canonical: HashMap::new(),
        };
        let mut words = words::Batch::default();
        let mut outcomes = Vec::with_capacity(entries.len());
        for entry in entries {
            outcomes.push(put(&mut tx, guild, entry, &mut services, &mut words, at).await?);
        }
        words.write(&mut tx).await?;
        let refused = outcomes
            .iter()
            .any(|outcome| matches!(outcome, PutOutcome::Refused(_)));
        if !(all_or_nothing && refused) {
            tx.commit().await?;
        }
        Ok(outcomes)
    }

    /// Registers services as an import names them: what is registered under a name is replaced, and
    /// aliases that mean another service already are left out. Gives how many were registered.
    ///
    /// # Errors
    ///
    /// Those of the database: nothing is stored then.
    pub async fn put_services(&self, guild: &str, services: &[Service]) -> Result<u64, StoreError> {
        let mut tx = self.write(guild).await?;
        let mut stored = 0;
        for service in services {
            let known = registry(&mut tx, guild).await?;
            let means = |name: &str| {
                let mut all = known.services.iter();
                all.find(|other| {
                    other.name == name || other.aliases.iter().any(|alias| alias == name)
                })
                .map(|other| other.name.as_str())
            };
            let free = |name: &str| means(name).is_none_or(|owner| owner == service.name);
            if !free(&service.name) {
                continue;
            }
            insert_service(&mut tx, guild, service).await?;
            for alias in service.aliases.iter().filter(|alias| free(alias)) {
                insert_alias(&mut tx, guild, &service.name, alias).await?;
            }
            stored += 1;
        }
        tx.commit().await?;
        Ok(stored)
    }

    /// Records that may be seen from the scope, by number, after the given one.
    ///
    /// # Errors
    ///
    /// Those of the database.
    pub async fn records(
        &self,
        scope: &Scope,
        after: Option<IncidentId>,
        limit: u32,
    ) -> Result<Vec<StoredRecord>, StoreError> {
        let mut connection = self.reader.acquire().await?;
        let rows = query(concat!(
            "SELECT ",
            past_columns!(),
            ", status, private, channel FROM incident WHERE ",
            visible!(),
            " AND number > $3 ORDER BY number LIMIT $4"
        ))
        .bind(&scope.guild)
        .bind(&scope.channel)
        .bind(after.map_or(0, |id| i64::from(id.number())))
        .bind(i64::from(limit))
        .fetch_all(&mut connection)
        .await?;
        read(&mut connection, &scope.guild, rows).await
    }

    /// Every record of a guild, private ones too: for its operator alone, who holds the file
    /// anyway. Otherwise as [`Store::records`].
    ///
    /// # Errors
    ///
    /// Those of the database.
    pub async fn records_for_operator(
        &self,
        guild: &str,
        after: Option<IncidentId>,
        limit: u32,
    ) -> Result<Vec<StoredRecord>, StoreError> {
        let mut connection = self.reader.acquire().await?;
        let rows = query(concat!(
            "SELECT ",
            past_columns!(),
            ", status, private, channel FROM incident \
             WHERE guild = $1 AND number > $2 ORDER BY number LIMIT $3",
        ))
        .bind(guild)
        .bind(after.map_or(0, |id| i64::from(id.number())))
        .bind(i64::from(limit))
        .fetch_all(&mut connection)
        .await?;
        read(&mut connection, guild, rows).await
    }
}

async fn read(
    connection: &mut Connection,
    guild: &str,
    rows: Vec<Row>,
) -> Result<Vec<StoredRecord>, StoreError> {
    let records = past::read(connection, guild, rows).await?;
    records
        .into_iter()
        .map(|(past, row)| {
            let status: String = row.try_get("status")?;
            let private: i64 = row.try_get("private")?;
            Ok(StoredRecord {
                past,
                private_to: (private != 0).then(|| row.try_get("channel")).transpose()?,
                open: Status::parse(&status).is_some_and(Status::is_open),
            })
        })
        .collect()
}

/// The guild's services, with the names that were looked up already: an import names few services
/// many times.
struct Names {
    registry: Registry,
    canonical: HashMap<String, String>,
}

impl Names {
    fn canonical(&mut self, name: &str) -> String {
        if let Some(known) = self.canonical.get(name) {
            return known.clone();
        }
        let written = storable(name.trim()).into_owned();
        let canonical = self
            .registry
            .resolve(&written)
            .map_or(written.clone(), str::to_owned);
        self.canonical.insert(name.to_owned(), canonical.clone());
        canonical
    }
}

async fn put(
    connection: &mut Connection,
    guild: &str,
    entry: &Entry,
    services: &mut Names,
    words: &mut words::Batch,
    at: Timestamp,
) -> Result<PutOutcome, StoreError> {
    let mut past = entry.past.clone();
    if past.title.trim().is_empty() {
        return Ok(PutOutcome::Refused("it has no title".to_owned()));
    }
    if entry.private_to.as_deref() == Some("") {
        return Ok(PutOutcome::Refused(
            "it is private to no channel".to_owned(),
        ));
    }
    if entry.id.is_some_and(|id| id.number() > LAST_IMPORTED) {
        return Ok(PutOutcome::Refused(format!(
            "its id is above {LAST_IMPORTED}"
        )));
    }
    if let Some(name) = &past.service
        && let Err(error) = refuse_long(name.trim())
    {
        return Ok(PutOutcome::Refused(error.to_string()));
    }
    if let Some(name) = past.service.take().filter(|name| !name.trim().is_empty()) {
        let canonical = services.canonical(&name);
        // A private record's service is not shown to everybody by being registered.
        if entry.private_to.is_none() && services.registry.get(&canonical).is_none() {
            let service = Service::named(canonical.clone());
            insert_service(connection, guild, &service).await?;
            services.registry.services.push(service);
        }
        past.service = Some(canonical);
    }
    if let Some(id) = entry.id
        && was_forgotten(connection, guild, id).await?
    {
        return Ok(PutOutcome::Refused(format!(
            "{id} was forgotten here, and its number is not given again: leave the id out to remember it anew"
        )));
    }
    let opening = match entry.id {
        Some(id) => format!("import/{}", id.number()),
        None => format!("import/sha256/{}", fingerprint(entry)?),
    };
    let stands: Option<(i64, String, i64)> = match entry.id {
        Some(id) => {
            query_as("SELECT number, status, id FROM incident WHERE guild = $1 AND number = $2")
                .bind(guild)
                .bind(i64::from(id.number()))
        }
        None => {
            query_as("SELECT number, status, id FROM incident WHERE guild = $1 AND opening = $2")
                .bind(guild)
                .bind(&opening)
        }
    }
    .fetch_optional(&mut *connection)
    .await?;
    let (number, replaced) = match stands {
        Some((_, status, _)) if Status::parse(&status).is_some_and(Status::is_open) => {
            return Ok(PutOutcome::Refused(
                "an incident with this id is still open".to_owned(),
            ));
        }
        Some((number, _, _)) => (number, true),
        None => match entry.id {
            Some(id) => {
                let number = i64::from(id.number());
                query(
                    "INSERT INTO counter (guild, last) VALUES ($1, $2) \
                     ON CONFLICT (guild) DO UPDATE SET last = excluded.last \
                     WHERE counter.last < excluded.last",
                )
                .bind(guild)
                .bind(number)
                .execute(&mut *connection)
                .await?;
                (number, false)
            }
            None => (next_number(connection, guild).await?, false),
        },
    };
    debug_assert!(number <= LAST_NUMBER);
    past.id = incident_id(number)?;
    for link in [&mut past.duplicate_of, &mut past.parent] {
        if *link == Some(past.id) {
            *link = None;
        }
    }
    let row = write_record(connection, guild, &opening, &past, entry, at).await?;
    if replaced {
        query("DELETE FROM attempt WHERE guild = $1 AND number = $2")
            .bind(guild)
            .bind(number)
            .execute(&mut *connection)
            .await?;
        words::remove(connection, guild, past.id).await?;
    }
    for (seq, attempt) in (1..).zip(&past.attempts) {
        let key = format!("import/{seq}");
        insert_attempt(connection, guild, past.id, seq, &key, attempt).await?;
    }
    if connection.is_postgres() {
        words.add(guild, row, &past);
    } else {
        words::index_record(connection, guild, row, &past).await?;
    }
    Ok(if replaced {
        PutOutcome::Replaced(past.id)
    } else {
        PutOutcome::Added(past.id)
    })
}

async fn was_forgotten(
    connection: &mut Connection,
    guild: &str,
    id: IncidentId,
) -> Result<bool, StoreError> {
    let found: Option<i64> =
        query_scalar("SELECT number FROM forgotten WHERE guild = $1 AND number = $2")
            .bind(guild)
            .bind(i64::from(id.number()))
            .fetch_optional(connection)
            .await?;
    Ok(found.is_some())
}

/// Writes the record's columns and gives its row. A private row stays private: an import does not
/// share what a person did not.
async fn write_record(
    connection: &mut Connection,
    guild: &str,
    opening: &str,
    past: &PastIncident,
    entry: &Entry,
    at: Timestamp,
) -> Result<i64, StoreError> {
    let link = |id: Option<IncidentId>| id.map(|id| i64::from(id.number()));
    Ok(query_scalar(
        "INSERT INTO incident (guild, number, opening, channel, private, status, title, service, \
         environment, locale, reporter, symptoms, error_signatures, root_cause, cause_confirmed, \
         ruled_out, prevention, source, duplicate_of, parent, started_at, resolved_at, updated_at) \
         VALUES ($1, $2, $3, $4, $5, 'resolved', $6, $7, $8, $9, '', $10, $11, $12, $13, $14, $15, $16, \
         $17, $18, $19, $20, $21) \
         ON CONFLICT (guild, number) DO UPDATE SET \
         channel = CASE WHEN excluded.private <> 0 THEN excluded.channel ELSE incident.channel END, \
         private = CASE WHEN excluded.private <> 0 THEN 1 ELSE incident.private END, title = excluded.title, service = excluded.service, \
         environment = excluded.environment, symptoms = excluded.symptoms, \
         error_signatures = excluded.error_signatures, root_cause = excluded.root_cause, \
         cause_confirmed = excluded.cause_confirmed, ruled_out = excluded.ruled_out, \
         prevention = excluded.prevention, source = excluded.source, \
         duplicate_of = excluded.duplicate_of, parent = excluded.parent, \
         started_at = excluded.started_at, resolved_at = excluded.resolved_at, \
         updated_at = excluded.updated_at \
         RETURNING id",
    )
    .bind(guild)
    .bind(i64::from(past.id.number()))
    .bind(opening)
    .bind(entry.private_to.as_deref().unwrap_or_default())
    .bind(i64::from(entry.private_to.is_some()))
    .bind(storable(&past.title))
    .bind(optional_storable(past.service.as_deref()))
    .bind(optional_storable(past.environment.as_deref()))
    .bind(crate::incident::Locale::of_text(&past.title).code())
    .bind(document(&past.symptoms)?)
    .bind(document(&past.error_signatures)?)
    .bind(storable(&past.root_cause))
    .bind(i64::from(past.cause_confirmed))
    .bind(document(&past.ruled_out)?)
    .bind(storable(&past.prevention))
    .bind(storable(&past.source))
    .bind(link(past.duplicate_of))
    .bind(link(past.parent))
    .bind(optional_millis(past.started_at))
    .bind(optional_millis(past.resolved_at))
    .bind(millis(at))
    .fetch_one(connection)
    .await?)
}

/// What makes a record without an id the same record when it comes again.
fn fingerprint(entry: &Entry) -> Result<String, StoreError> {
    let past = &entry.past;
    let what = document(&(
        &past.title,
        &past.service,
        past.started_at,
        past.resolved_at,
        &past.symptoms,
        &past.error_signatures,
        &entry.private_to,
    ))?;
    Ok(Sha256::digest(what.as_bytes())
        .iter()
        .map(|byte| format!("{byte:02x}"))
        .collect())
}

//! Records that come from elsewhere, and the records as a whole: what import and export need.

use super::attempts::insert_attempts;
use super::incidents::{LAST_NUMBER, next_number};
use super::services::{insert_alias, insert_service, registry};
use super::{
    Scope, Store, StoreError, document, incident_id, millis, optional_millis, optional_storable,
    refuse_long, storable, visible, words,
};
use crate::database::past::{self, past_columns};
use crate::database::{Connection, Row, Sql, query, query_as, query_scalar};
use crate::incident::{IncidentId, PastIncident, Registry, Service, Status};
use jiff::Timestamp;
use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use std::collections::{HashMap, HashSet};

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
        let mut taken = Taken::begin(&mut tx, guild, entries, at).await?;
        let mut outcomes = Vec::with_capacity(entries.len());
        for entry in entries {
            outcomes.push(taken.take(&mut tx, entry).await?);
        }
        taken.write(&mut tx).await?;
        let refused = outcomes
            .iter()
            .any(|outcome| matches!(outcome, PutOutcome::Refused(_)));
        if !(all_or_nothing && refused) {
            tx.commit().await?;
        }
        Ok(outcomes)
    }

    /// Has the database look over what it holds, so that it finds good ways through it: after many
    /// records came at once it would else go wrong ones for a minute.
    ///
    /// # Errors
    ///
    /// Those of the database.
    pub async fn look_over(&self) -> Result<(), StoreError> {
        let statement = Sql {
            sqlite: "PRAGMA optimize",
            postgres: "ANALYZE incident, incident_words, incident_terms, attempt",
        };
        query(statement).execute(&self.writer).await?;
        Ok(())
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

/// Records that are written together: a statement each would wait for the server a hundred thousand
/// times.
const RECORDS_AT_ONCE: usize = 500;

/// What stands in the database under a number.
#[derive(Clone, Copy)]
struct Standing {
    number: i64,
    open: bool,
}

/// Records that are taken in, and what has to be known for it.
struct Taken<'a> {
    guild: &'a str,
    at: Timestamp,
    services: Names,
    forgotten: HashSet<i64>,
    by_number: HashMap<i64, Standing>,
    by_opening: HashMap<String, Standing>,
    /// The highest number that a record kept and the counter does not know yet.
    highest: Option<i64>,
    waiting: Vec<Waiting>,
}

/// A record that is still to be written.
struct Waiting {
    past: PastIncident,
    opening: String,
    private_to: Option<String>,
    replaces: bool,
}

const FORGOTTEN: Sql = Sql {
    sqlite: "SELECT number FROM forgotten WHERE guild = $1 \
             AND number IN (SELECT value FROM json_each($2))",
    postgres: "SELECT number FROM forgotten WHERE guild = $1 AND number = ANY($2)",
};

const STANDING: Sql = Sql {
    sqlite: "SELECT number, opening, status FROM incident WHERE guild = $1 \
             AND (number IN (SELECT value FROM json_each($2)) \
             OR opening IN (SELECT value FROM json_each($3)))",
    postgres: "SELECT number, opening, status FROM incident WHERE guild = $1 \
               AND (number = ANY($2) OR opening = ANY($3))",
};

/// Writes the records of a JSON array into the columns of an incident. A private row stays private:
/// an import does not share what a person did not.
macro_rules! write_records {
    ($from:literal) => {
        concat!(
            "INSERT INTO incident (guild, number, opening, channel, private, status, title, service, \
             environment, locale, reporter, symptoms, error_signatures, root_cause, cause_confirmed, \
             ruled_out, prevention, source, duplicate_of, parent, started_at, resolved_at, updated_at) \
             SELECT $2, CAST(r.value ->> 'number' AS BIGINT), r.value ->> 'opening', r.value ->> 'channel', \
             CAST(r.value ->> 'private' AS BIGINT), 'resolved', r.value ->> 'title', r.value ->> 'service', \
             r.value ->> 'environment', r.value ->> 'locale', '', r.value ->> 'symptoms', \
             r.value ->> 'error_signatures', r.value ->> 'root_cause', \
             CAST(r.value ->> 'cause_confirmed' AS BIGINT), r.value ->> 'ruled_out', \
             r.value ->> 'prevention', r.value ->> 'source', CAST(r.value ->> 'duplicate_of' AS BIGINT), \
             CAST(r.value ->> 'parent' AS BIGINT), CAST(r.value ->> 'started_at' AS BIGINT), \
             CAST(r.value ->> 'resolved_at' AS BIGINT), CAST($3 AS BIGINT) FROM ",
            $from,
            " WHERE true ON CONFLICT (guild, number) DO UPDATE SET \
             channel = CASE WHEN excluded.private <> 0 THEN excluded.channel ELSE incident.channel END, \
             private = CASE WHEN excluded.private <> 0 THEN 1 ELSE incident.private END, \
             title = excluded.title, service = excluded.service, environment = excluded.environment, \
             symptoms = excluded.symptoms, error_signatures = excluded.error_signatures, \
             root_cause = excluded.root_cause, cause_confirmed = excluded.cause_confirmed, \
             ruled_out = excluded.ruled_out, prevention = excluded.prevention, \
             source = excluded.source, duplicate_of = excluded.duplicate_of, \
             parent = excluded.parent, started_at = excluded.started_at, \
             resolved_at = excluded.resolved_at, updated_at = excluded.updated_at \
             RETURNING number, id"
        )
    };
}

const WRITE_RECORDS: Sql = Sql {
    sqlite: write_records!("json_each($1) AS r"),
    postgres: write_records!("json_array_elements(CAST($1 AS json)) AS r (value)"),
};

impl<'a> Taken<'a> {
    async fn begin(
        connection: &mut Connection,
        guild: &'a str,
        entries: &[Entry],
        at: Timestamp,
    ) -> Result<Self, StoreError> {
        let numbers: Vec<i64> = entries
            .iter()
            .filter_map(|entry| entry.id)
            .map(|id| i64::from(id.number()))
            .collect();
        let openings = entries
            .iter()
            .filter(|entry| entry.id.is_none())
            .map(opening_of)
            .collect::<Result<Vec<_>, _>>()?;
        let forgotten: Vec<i64> = query_scalar(FORGOTTEN)
            .bind(guild)
            .bind(numbers.clone())
            .fetch_all(&mut *connection)
            .await?;
        let standing: Vec<(i64, String, String)> = query_as(STANDING)
            .bind(guild)
            .bind(numbers)
            .bind(openings)
            .fetch_all(&mut *connection)
            .await?;
        let mut taken = Self {
            guild,
            at,
            services: Names {
                registry: registry(connection, guild).await?,
                canonical: HashMap::new(),
            },
            forgotten: forgotten.into_iter().collect(),
            by_number: HashMap::new(),
            by_opening: HashMap::new(),
            highest: None,
            waiting: Vec::new(),
        };
        for (number, opening, status) in standing {
            let open = Status::parse(&status).is_some_and(Status::is_open);
            taken.stands(Standing { number, open }, opening);
        }
        Ok(taken)
    }

    fn stands(&mut self, standing: Standing, opening: String) {
        self.by_number.insert(standing.number, standing);
        self.by_opening.insert(opening, standing);
    }

    /// Says what becomes of a record, and keeps it until some are written together.
    async fn take(
        &mut self,
        connection: &mut Connection,
        entry: &Entry,
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
            let canonical = self.services.canonical(&name);
            // A private record's service is not shown to everybody by being registered.
            if entry.private_to.is_none() && self.services.registry.get(&canonical).is_none() {
                let service = Service::named(canonical.clone());
                insert_service(connection, self.guild, &service).await?;
                self.services.registry.services.push(service);
            }
            past.service = Some(canonical);
        }
        if let Some(id) = entry.id
            && self.forgotten.contains(&i64::from(id.number()))
        {
            return Ok(PutOutcome::Refused(format!(
                "{id} was forgotten here, and its number is not given again: leave the id out to remember it anew"
            )));
        }
        let opening = opening_of(entry)?;
        let stands = match entry.id {
            Some(id) => self.by_number.get(&i64::from(id.number())),
            None => self.by_opening.get(&opening),
        };
        if stands.is_some_and(|stands| stands.open) {
            return Ok(PutOutcome::Refused(
                "an incident with this id is still open".to_owned(),
            ));
        }
        let (number, replaces) = match (stands, entry.id) {
            (Some(stands), _) => (stands.number, true),
            (None, Some(id)) => {
                let number = i64::from(id.number());
                self.highest = self.highest.max(Some(number));
                (number, false)
            }
            (None, None) => {
                self.raise_counter(connection).await?;
                (next_number(connection, self.guild).await?, false)
            }
        };
        debug_assert!(number <= LAST_NUMBER);
        past.id = incident_id(number)?;
        for link in [&mut past.duplicate_of, &mut past.parent] {
            if *link == Some(past.id) {
                *link = None;
            }
        }
        // One that comes twice replaces what is written already; and not everything waits in memory.
        let twice = replaces && self.waiting.iter().any(|other| other.past.id == past.id);
        if twice || self.waiting.len() >= RECORDS_AT_ONCE {
            self.write(connection).await?;
        }
        let open = false;
        self.stands(Standing { number, open }, opening.clone());
        let outcome = if replaces {
            PutOutcome::Replaced(past.id)
        } else {
            PutOutcome::Added(past.id)
        };
        self.waiting.push(Waiting {
            past,
            opening,
            private_to: entry.private_to.clone(),
            replaces,
        });
        Ok(outcome)
    }

    async fn raise_counter(&mut self, connection: &mut Connection) -> Result<(), StoreError> {
        if let Some(number) = self.highest.take() {
            query(
                "INSERT INTO counter (guild, last) VALUES ($1, $2) \
                 ON CONFLICT (guild) DO UPDATE SET last = excluded.last \
                 WHERE counter.last < excluded.last",
            )
            .bind(self.guild)
            .bind(number)
            .execute(connection)
            .await?;
        }
        Ok(())
    }

    /// Writes what waits.
    async fn write(&mut self, connection: &mut Connection) -> Result<(), StoreError> {
        self.raise_counter(connection).await?;
        let waiting = std::mem::take(&mut self.waiting);
        for replaced in waiting.iter().filter(|waiting| waiting.replaces) {
            query("DELETE FROM attempt WHERE guild = $1 AND number = $2")
                .bind(self.guild)
                .bind(i64::from(replaced.past.id.number()))
                .execute(&mut *connection)
                .await?;
            words::remove(connection, self.guild, replaced.past.id).await?;
        }
        let columns = waiting
            .iter()
            .map(columns)
            .collect::<Result<Vec<Value>, StoreError>>()?;
        let rows: HashMap<i64, i64> = query_as::<(i64, i64)>(WRITE_RECORDS)
            .bind(document(&columns)?)
            .bind(self.guild)
            .bind(millis(self.at))
            .fetch_all(&mut *connection)
            .await?
            .into_iter()
            .collect();
        let mut attempts = Vec::new();
        let mut batch = words::Batch::default();
        for Waiting { past, .. } in &waiting {
            for (seq, attempt) in (1..).zip(&past.attempts) {
                attempts.push((past.id, seq, format!("import/{seq}"), attempt));
            }
            let row = rows
                .get(&i64::from(past.id.number()))
                .ok_or(StoreError::Corrupt(None))?;
            batch.index(connection, self.guild, *row, past).await?;
        }
        insert_attempts(connection, self.guild, &attempts).await?;
        batch.write(connection).await
    }
}

/// What a record is stored under, beside its number.
fn opening_of(entry: &Entry) -> Result<String, StoreError> {
    Ok(match entry.id {
        Some(id) => format!("import/{}", id.number()),
        None => format!("import/sha256/{}", fingerprint(entry)?),
    })
}

/// The record's columns, as [`WRITE_RECORDS`] reads them.
fn columns(waiting: &Waiting) -> Result<Value, StoreError> {
    let past = &waiting.past;
    let link = |id: Option<IncidentId>| id.map(|id| i64::from(id.number()));
    Ok(json!({
        "number": past.id.number(),
        "opening": waiting.opening,
        "channel": waiting.private_to.as_deref().unwrap_or_default(),
        "private": i64::from(waiting.private_to.is_some()),
        "title": storable(&past.title),
        "service": optional_storable(past.service.as_deref()),
        "environment": optional_storable(past.environment.as_deref()),
        "locale": crate::incident::Locale::of_text(&past.title).code(),
        "symptoms": document(&past.symptoms)?,
        "error_signatures": document(&past.error_signatures)?,
        "root_cause": storable(&past.root_cause),
        "cause_confirmed": i64::from(past.cause_confirmed),
        "ruled_out": document(&past.ruled_out)?,
        "prevention": storable(&past.prevention),
        "source": storable(&past.source),
        "duplicate_of": link(past.duplicate_of),
        "parent": link(past.parent),
        "started_at": optional_millis(past.started_at),
        "resolved_at": optional_millis(past.resolved_at),
    }))
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

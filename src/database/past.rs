//! A past incident out of its rows.
//!
//! Wanted: who lists, loads or recalls incidents reads the record in one way, with two statements
//! however many there are: one for the incidents, one for all their attempts.

use super::{Connection, Row, Sql, query};
use crate::incident::{FixAttempt, IncidentId, Outcome, PastIncident};
use jiff::Timestamp;
use std::collections::HashMap;

/// The columns of the table `incident` that [`read`] needs, to be selected. When a past incident
/// began, where nobody said it: not later than it was noticed or reported. One that runs keeps its
/// own times apart.
macro_rules! past_columns {
    () => {
        "incident.number, incident.title, incident.service, incident.environment, \
         CASE WHEN incident.status IN ('investigating', 'fixing', 'mitigated') \
              THEN incident.started_at \
              ELSE coalesce(incident.started_at, incident.detected_at, incident.reported_at) \
         END AS started_at, \
         incident.resolved_at, incident.symptoms, incident.error_signatures, \
         incident.root_cause, incident.cause_confirmed, incident.ruled_out, incident.prevention, \
         incident.source, incident.duplicate_of, incident.parent"
    };
}
pub(crate) use past_columns;

/// Attempts that count, of the incidents of a guild with the numbers of `$2`.
macro_rules! attempts {
    ($among:literal) => {
        concat!(
            "SELECT number, fix, outcome, at, by_whom, environment, note FROM attempt \
             WHERE guild = $1 AND withdrawn = 0 AND number ",
            $among,
            " ORDER BY number, seq"
        )
    };
}

const ATTEMPTS: Sql = Sql {
    sqlite: attempts!("IN (SELECT value FROM json_each($2))"),
    postgres: attempts!("= ANY($2)"),
};

/// Reads the record of each row of `past_columns`, which are of one guild, with its attempts; gives
/// them in the order of the rows, beside whatever else was selected.
///
/// # Errors
///
/// Those of the database; [`sqlx::Error::Decode`] where a record is not what was written.
pub async fn read(
    connection: &mut Connection,
    guild: &str,
    rows: Vec<Row>,
) -> Result<Vec<(PastIncident, Row)>, sqlx::Error> {
    let mut records = rows
        .into_iter()
        .map(|row| Ok((record(&row)?, row)))
        .collect::<Result<Vec<_>, sqlx::Error>>()?;
    let numbers: Vec<i64> = records
        .iter()
        .map(|(past, _)| i64::from(past.id.number()))
        .collect();
    if numbers.is_empty() {
        return Ok(records);
    }
    let mut attempts: HashMap<i64, Vec<FixAttempt>> = HashMap::new();
    for row in query(ATTEMPTS)
        .bind(guild)
        .bind(numbers)
        .fetch_all(connection)
        .await?
    {
        let number = row.try_get("number")?;
        attempts.entry(number).or_default().push(attempt(&row)?);
    }
    for (past, _) in &mut records {
        if let Some(tried) = attempts.remove(&i64::from(past.id.number())) {
            past.attempts = tried;
        }
    }
    Ok(records)
}

/// As [`read`], of several guilds: each row holds its own in the column `guild`. Those of one guild
/// stay together, in the order of their first rows.
///
/// # Errors
///
/// As for [`read`].
pub async fn read_of_guilds(
    connection: &mut Connection,
    rows: Vec<Row>,
) -> Result<Vec<(String, PastIncident, Row)>, sqlx::Error> {
    let mut guilds: Vec<(String, Vec<Row>)> = Vec::new();
    for row in rows {
        let guild: String = row.try_get("guild")?;
        match guilds.iter_mut().find(|(known, _)| *known == guild) {
            Some((_, rows)) => rows.push(row),
            None => guilds.push((guild, vec![row])),
        }
    }
    let mut records = Vec::new();
    for (guild, rows) in guilds {
        for (past, row) in read(connection, &guild, rows).await? {
            records.push((guild.clone(), past, row));
        }
    }
    Ok(records)
}

const BY_ROW: Sql = Sql {
    sqlite: concat!(
        "SELECT ",
        past_columns!(),
        ", id FROM incident WHERE id IN (SELECT value FROM json_each($1))"
    ),
    postgres: concat!(
        "SELECT ",
        past_columns!(),
        ", id FROM incident WHERE id = ANY($1)"
    ),
};

/// The records in these rows of the table `incident`, which are of one guild, in the order given; a
/// row that is gone is left out.
///
/// # Errors
///
/// As for [`read`].
pub async fn of_rows(
    connection: &mut Connection,
    guild: &str,
    rows: &[i64],
) -> Result<Vec<PastIncident>, sqlx::Error> {
    let found = query(BY_ROW)
        .bind(rows.to_vec())
        .fetch_all(&mut *connection)
        .await?;
    let mut by_row: HashMap<i64, PastIncident> = HashMap::new();
    for (past, row) in read(connection, guild, found).await? {
        by_row.insert(row.try_get("id")?, past);
    }
    Ok(rows.iter().filter_map(|row| by_row.remove(row)).collect())
}

fn record(row: &Row) -> Result<PastIncident, sqlx::Error> {
    let list = |column: &str| -> Result<Vec<String>, sqlx::Error> {
        let json: String = row.try_get(column)?;
        serde_json::from_str(&json).map_err(unreadable)
    };
    let link = |column: &str| -> Result<Option<IncidentId>, sqlx::Error> {
        let number: Option<i64> = row.try_get(column)?;
        number.map(incident_id).transpose()
    };
    Ok(PastIncident {
        id: incident_id(row.try_get("number")?)?,
        title: row.try_get("title")?,
        service: row.try_get("service")?,
        environment: row.try_get("environment")?,
        started_at: timestamp(row, "started_at")?,
        resolved_at: timestamp(row, "resolved_at")?,
        symptoms: list("symptoms")?,
        error_signatures: list("error_signatures")?,
        root_cause: row.try_get("root_cause")?,
        cause_confirmed: row.try_get::<i64>("cause_confirmed")? != 0,
        attempts: Vec::new(),
        ruled_out: list("ruled_out")?,
        prevention: row.try_get("prevention")?,
        source: row.try_get("source")?,
        duplicate_of: link("duplicate_of")?,
        parent: link("parent")?,
    })
}

fn attempt(row: &Row) -> Result<FixAttempt, sqlx::Error> {
    let outcome: String = row.try_get("outcome")?;
    Ok(FixAttempt {
        fix: row.try_get("fix")?,
        outcome: Outcome::parse(&outcome).ok_or_else(|| unreadable("an unknown outcome"))?,
        at: timestamp(row, "at")?,
        by: row.try_get("by_whom")?,
        environment: row.try_get("environment")?,
        note: row.try_get("note")?,
    })
}

fn timestamp(row: &Row, column: &str) -> Result<Option<Timestamp>, sqlx::Error> {
    let millis: Option<i64> = row.try_get(column)?;
    millis
        .map(|millis| Timestamp::from_millisecond(millis).map_err(unreadable))
        .transpose()
}

fn incident_id(number: i64) -> Result<IncidentId, sqlx::Error> {
    u32::try_from(number)
        .ok()
        .and_then(IncidentId::new)
        .ok_or_else(|| unreadable("a number that is no incident's"))
}

fn unreadable(why: impl Into<sqlx::error::BoxDynError>) -> sqlx::Error {
    sqlx::Error::Decode(why.into())
}

//! How incidents ran, as an export takes it along and an import brings it back.
//!
//! An import adds and never rewrites: what a course does not say stays as it is kept, and a history
//! that was written here is not replaced by one from elsewhere.

use super::attempts::insert_attempt;
use super::{
    Incident, Store, StoreError, document, incident_id, millis, optional_millis, optional_storable,
    optional_timestamp, storable, timestamp,
};
use crate::database::{Connection, Sql, query, query_as, query_scalar};
use crate::incident::{
    Course, FixAttempt, IncidentId, Outcome, PastEvent, Severity, Status, Withdrawn,
};
use std::collections::BTreeMap;

const ROWS: Sql = Sql {
    sqlite: "SELECT number, status, severity, severity_by, impact, lead, comms_lead, detected_at, \
             reported_at, acknowledged_at, mitigated_at, prevention_done FROM incident \
             WHERE guild = $1 AND number IN (SELECT value FROM json_each($2))",
    postgres: "SELECT number, status, severity, severity_by, impact, lead, comms_lead, detected_at, \
               reported_at, acknowledged_at, mitigated_at, prevention_done FROM incident \
               WHERE guild = $1 AND number = ANY($2)",
};

const WITHDRAWN: Sql = Sql {
    sqlite: "SELECT number, seq, fix, outcome, at, by_whom, environment, note FROM attempt \
             WHERE guild = $1 AND withdrawn <> 0 \
             AND number IN (SELECT value FROM json_each($2)) ORDER BY number, seq",
    postgres: "SELECT number, seq, fix, outcome, at, by_whom, environment, note FROM attempt \
               WHERE guild = $1 AND withdrawn <> 0 AND number = ANY($2) ORDER BY number, seq",
};

const EVENTS: Sql = Sql {
    sqlite: "SELECT number, at, by_whom, what, detail FROM incident_event WHERE guild = $1 \
             AND number IN (SELECT value FROM json_each($2)) ORDER BY number, seq",
    postgres: "SELECT number, at, by_whom, what, detail FROM incident_event WHERE guild = $1 \
               AND number = ANY($2) ORDER BY number, seq",
};

type Columns = (
    i64,
    String,
    Option<i64>,
    Option<String>,
    String,
    Option<String>,
    Option<String>,
    Option<i64>,
    Option<i64>,
    Option<i64>,
    Option<i64>,
    i64,
);

type AttemptColumns = (
    i64,
    i64,
    String,
    String,
    Option<i64>,
    String,
    Option<String>,
    String,
);

impl Incident {
    /// How it runs or ran, as far as its own row says; without attempts and history.
    pub fn course(&self) -> Course {
        Course {
            status: (!self.status.is_open()).then_some(self.status),
            severity: self.severity,
            severity_by: self.severity_by.clone(),
            impact: self.impact.clone(),
            lead: self.lead.clone(),
            comms_lead: self.comms_lead.clone(),
            detected_at: self.detected_at,
            reported_at: self.reported_at,
            acknowledged_at: self.acknowledged_at,
            mitigated_at: self.mitigated_at,
            prevention_done: self.prevention_done,
            ..Course::default()
        }
    }
}

impl Store {
    /// How incidents of a guild ran, with what was taken back and their history; those that are not
    /// there are left out. Who asks has looked at what may be seen.
    ///
    /// # Errors
    ///
    /// Those of the database; [`StoreError::Corrupt`] where another version wrote it.
    pub async fn courses(
        &self,
        guild: &str,
        ids: &[IncidentId],
    ) -> Result<BTreeMap<IncidentId, Course>, StoreError> {
        let numbers: Vec<i64> = ids.iter().map(|id| i64::from(id.number())).collect();
        let mut courses = BTreeMap::new();
        if numbers.is_empty() {
            return Ok(courses);
        }
        let mut connection = self.reader.acquire().await?;
        let rows: Vec<Columns> = query_as(ROWS)
            .bind(guild)
            .bind(numbers.clone())
            .fetch_all(&mut connection)
            .await?;
        for row in rows {
            let unknown = |what: &str| StoreError::Corrupt(Some(what.into()));
            let status = Status::parse(&row.1).ok_or_else(|| unknown("an unknown status"))?;
            let severity = row.2.map(|number| {
                Severity::parse(&number.to_string()).ok_or_else(|| unknown("an unknown severity"))
            });
            let course = Course {
                status: (!status.is_open()).then_some(status),
                severity: severity.transpose()?,
                severity_by: row.3,
                impact: serde_json::from_str(&row.4)?,
                lead: row.5,
                comms_lead: row.6,
                detected_at: optional_timestamp(row.7)?,
                reported_at: optional_timestamp(row.8)?,
                acknowledged_at: optional_timestamp(row.9)?,
                mitigated_at: optional_timestamp(row.10)?,
                prevention_done: row.11 != 0,
                ..Course::default()
            };
            courses.insert(incident_id(row.0)?, course);
        }
        let rows: Vec<AttemptColumns> = query_as(WITHDRAWN)
            .bind(guild)
            .bind(numbers.clone())
            .fetch_all(&mut connection)
            .await?;
        for (number, seq, fix, outcome, at, by, environment, note) in rows {
            let outcome = Outcome::parse(&outcome)
                .ok_or_else(|| StoreError::Corrupt(Some("an unknown outcome".into())))?;
            if let Some(course) = courses.get_mut(&incident_id(number)?) {
                course.withdrawn.push(Withdrawn {
                    place: u32::try_from(seq).unwrap_or(u32::MAX),
                    attempt: FixAttempt {
                        fix,
                        outcome,
                        at: optional_timestamp(at)?,
                        by,
                        environment,
                        note,
                    },
                });
            }
        }
        let rows: Vec<(i64, i64, String, String, String)> = query_as(EVENTS)
            .bind(guild)
            .bind(numbers)
            .fetch_all(&mut connection)
            .await?;
        for (number, at, by, what, detail) in rows {
            if let Some(course) = courses.get_mut(&incident_id(number)?) {
                course.events.push(PastEvent {
                    at: timestamp(at)?,
                    by,
                    what,
                    detail: serde_json::from_str(&detail)?,
                });
            }
        }
        Ok(courses)
    }

    /// Keeps how imported incidents ran, right after their records were stored. What a course does
    /// not say stays; withdrawn attempts take their places among the others; a history is kept where
    /// the incident has none yet.
    ///
    /// # Errors
    ///
    /// Those of the database: none is kept then, and the same import again keeps them.
    pub async fn put_courses(
        &self,
        guild: &str,
        courses: &[(IncidentId, &Course)],
    ) -> Result<(), StoreError> {
        if courses.iter().all(|(_, course)| course.is_empty()) {
            return Ok(());
        }
        let mut tx = self.write(guild).await?;
        for (id, course) in courses.iter().filter(|(_, course)| !course.is_empty()) {
            put_fields(&mut tx, guild, *id, course).await?;
            put_withdrawn(&mut tx, guild, *id, &course.withdrawn).await?;
            put_events(&mut tx, guild, *id, &course.events).await?;
        }
        Ok(tx.commit().await?)
    }
}

async fn put_fields(
    connection: &mut Connection,
    guild: &str,
    id: IncidentId,
    course: &Course,
) -> Result<(), StoreError> {
    let number = i64::from(id.number());
    let ended = course.status.filter(|status| !status.is_open());
    query(
        "UPDATE incident SET status = coalesce($3, status), lead = coalesce($4, lead), \
         comms_lead = coalesce($5, comms_lead), detected_at = coalesce($6, detected_at), \
         reported_at = coalesce($7, reported_at), acknowledged_at = coalesce($8, acknowledged_at), \
         mitigated_at = coalesce($9, mitigated_at) WHERE guild = $1 AND number = $2",
    )
    .bind(guild)
    .bind(number)
    .bind(ended.map(Status::word))
    .bind(optional_storable(course.lead.as_deref()))
    .bind(optional_storable(course.comms_lead.as_deref()))
    .bind(optional_millis(course.detected_at))
    .bind(optional_millis(course.reported_at))
    .bind(optional_millis(course.acknowledged_at))
    .bind(optional_millis(course.mitigated_at))
    .execute(&mut *connection)
    .await?;
    if let Some(severity) = course.severity {
        query(
            "UPDATE incident SET severity = $3, severity_by = $4 WHERE guild = $1 AND number = $2",
        )
        .bind(guild)
        .bind(number)
        .bind(i64::from(severity.number()))
        .bind(optional_storable(course.severity_by.as_deref()))
        .execute(&mut *connection)
        .await?;
    }
    if !course.impact.is_empty() {
        query("UPDATE incident SET impact = $3 WHERE guild = $1 AND number = $2")
            .bind(guild)
            .bind(number)
            .bind(document(&course.impact)?)
            .execute(&mut *connection)
            .await?;
    }
    if course.prevention_done {
        query("UPDATE incident SET prevention_done = 1 WHERE guild = $1 AND number = $2")
            .bind(guild)
            .bind(number)
            .execute(&mut *connection)
            .await?;
    }
    Ok(())
}

/// The attempts that count stand at 1, 2, 3, ...: they move up, so that each withdrawn one has its
/// place again.
async fn put_withdrawn(
    connection: &mut Connection,
    guild: &str,
    id: IncidentId,
    withdrawn: &[Withdrawn],
) -> Result<(), StoreError> {
    if withdrawn.is_empty() {
        return Ok(());
    }
    let number = i64::from(id.number());
    let standing: Vec<i64> =
        query_scalar("SELECT seq FROM attempt WHERE guild = $1 AND number = $2 ORDER BY seq")
            .bind(guild)
            .bind(number)
            .fetch_all(&mut *connection)
            .await?;
    let last = i64::try_from(standing.len() + withdrawn.len()).unwrap_or(i64::MAX);
    let mut places: Vec<i64> = Vec::with_capacity(withdrawn.len());
    for one in withdrawn {
        let wanted = i64::from(one.place);
        let free = (1..=last).contains(&wanted) && !places.contains(&wanted);
        // Two of one place, or one beyond the end: the last that is free.
        let place = if free {
            Some(wanted)
        } else {
            (1..=last).rev().find(|place| !places.contains(place))
        };
        places.extend(place);
    }
    let left = (1..=last).filter(|place| !places.contains(place));
    let moved: Vec<(i64, i64)> = standing.into_iter().zip(left).collect();
    // From behind: none moves onto another.
    for (from, to) in moved.into_iter().rev().filter(|(from, to)| from != to) {
        query(
            "UPDATE attempt SET seq = $4, key = $5 WHERE guild = $1 AND number = $2 AND seq = $3",
        )
        .bind(guild)
        .bind(number)
        .bind(from)
        .bind(to)
        .bind(format!("import/{to}"))
        .execute(&mut *connection)
        .await?;
    }
    for (one, place) in withdrawn.iter().zip(places) {
        let seq = u32::try_from(place).unwrap_or(u32::MAX);
        let key = format!("import/{place}");
        insert_attempt(connection, guild, id, seq, &key, &one.attempt).await?;
        query("UPDATE attempt SET withdrawn = 1 WHERE guild = $1 AND number = $2 AND seq = $3")
            .bind(guild)
            .bind(number)
            .bind(place)
            .execute(&mut *connection)
            .await?;
    }
    Ok(())
}

/// The events of a JSON array, as a history.
macro_rules! write_events {
    ($from:literal) => {
        concat!(
            "INSERT INTO incident_event (guild, number, seq, at, by_whom, what, detail) \
             SELECT $2, $3, CAST(r.value ->> 'seq' AS BIGINT), CAST(r.value ->> 'at' AS BIGINT), \
             r.value ->> 'by_whom', r.value ->> 'what', r.value ->> 'detail' FROM ",
            $from
        )
    };
}

const WRITE_EVENTS: Sql = Sql {
    sqlite: write_events!("json_each($1) AS r"),
    postgres: write_events!("json_array_elements(CAST($1 AS json)) AS r (value)"),
};

async fn put_events(
    connection: &mut Connection,
    guild: &str,
    id: IncidentId,
    events: &[PastEvent],
) -> Result<(), StoreError> {
    if events.is_empty() {
        return Ok(());
    }
    let number = i64::from(id.number());
    let known: i64 =
        query_scalar("SELECT count(*) FROM incident_event WHERE guild = $1 AND number = $2")
            .bind(guild)
            .bind(number)
            .fetch_one(&mut *connection)
            .await?;
    if known > 0 {
        return Ok(());
    }
    let rows = (1_u32..)
        .zip(events)
        .map(|(seq, event)| {
            Ok(serde_json::json!({
                "seq": seq,
                "at": millis(event.at),
                "by_whom": storable(&event.by),
                "what": storable(&event.what),
                "detail": document(&event.detail)?,
            }))
        })
        .collect::<Result<Vec<_>, StoreError>>()?;
    query(WRITE_EVENTS)
        .bind(document(&rows)?)
        .bind(guild)
        .bind(number)
        .execute(connection)
        .await?;
    Ok(())
}

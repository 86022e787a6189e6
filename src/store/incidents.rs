//! Incidents, running and past: one table, one number per guild.

use super::{
    Scope, Store, StoreError, document, incident_id, millis, must_see, optional_millis,
    optional_storable, optional_timestamp, storable, storable_service, timestamp, words,
};
use crate::database::past::{self, past_columns};
use crate::database::{Connection, Row, Transaction, query, query_as, query_scalar};
use crate::incident::{
    Impact, IncidentId, Locale, Moment, PastIncident, Report, Severity, Status, Times,
};
use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

/// The last number that [`IncidentId`] reads back.
pub(super) const LAST_NUMBER: i64 = 999_999_999;

/// An incident, with what is known only while it runs.
#[derive(Clone, Debug, PartialEq)]
pub struct Incident {
    /// The record as memory will keep it.
    pub past: PastIncident,
    /// Its guild.
    pub guild: String,
    /// Where it may be seen from: the channel it was reported in, or the private thread itself.
    pub channel: String,
    /// The channel that holds `channel`, where that is a thread.
    pub parent_channel: Option<String>,
    /// The thread that was started for it.
    pub thread: Option<String>,
    /// The headline message.
    pub headline: Option<String>,
    /// Seen from its own channel and thread only.
    pub private: bool,
    /// Where it stands.
    pub status: Status,
    /// The severity, if anybody or anything gave one.
    pub severity: Option<Severity>,
    /// The person who set the severity; `None` where it is only proposed.
    pub severity_by: Option<String>,
    /// The language of its thread.
    pub locale: Locale,
    /// What was reported, redacted; `None` for imported records.
    pub report: Option<Report>,
    /// Who reported it.
    pub reporter: String,
    /// Who leads: id and name, as a reporter is stored.
    pub lead: Option<String>,
    /// Who speaks for the incident, stored as the lead is.
    pub comms_lead: Option<String>,
    /// Who notices what, in the words of people.
    pub impact: Impact,
    /// When the next update is due, by a person's word.
    pub next_update_at: Option<Timestamp>,
    /// What would prevent it is done.
    pub prevention_done: bool,
    /// When it was noticed.
    pub detected_at: Option<Timestamp>,
    /// When it was reported to us.
    pub reported_at: Option<Timestamp>,
    /// When somebody took it.
    pub acknowledged_at: Option<Timestamp>,
    /// When users were no longer affected.
    pub mitigated_at: Option<Timestamp>,
    /// When this row last changed.
    pub updated_at: Timestamp,
}

impl Incident {
    /// Its number.
    pub fn id(&self) -> IncidentId {
        self.past.id
    }

    /// Its times, as far as somebody said or did something. What memory takes for the beginning,
    /// where nobody said it, is left out.
    pub fn times(&self) -> Times {
        Times {
            started: self.past.started_at.filter(|at| {
                self.status.is_open() || ![self.reported_at, self.detected_at].contains(&Some(*at))
            }),
            detected: self.detected_at,
            reported: self.reported_at,
            acknowledged: self.acknowledged_at,
            mitigated: self.mitigated_at,
            resolved: self.past.resolved_at,
        }
    }
}

/// What opens an incident.
#[derive(Clone, Debug)]
pub struct NewIncident {
    /// What opens it, such as the interaction's id: the same opening gives the same incident.
    pub opening: String,
    /// Where it may be seen from: the channel it is reported in, or the private thread itself.
    pub channel: String,
    /// The channel that holds `channel`, where that is a thread.
    pub parent_channel: Option<String>,
    /// The thread it lives in, where there is one already.
    pub thread: Option<String>,
    /// Seen from its own channel and thread only.
    pub private: bool,
    /// One line.
    pub title: String,
    /// Canonical name of the service.
    pub service: Option<String>,
    /// The environment.
    pub environment: Option<String>,
    /// The severity.
    pub severity: Option<Severity>,
    /// The person who set it; `None` where it is only proposed.
    pub severity_by: Option<String>,
    /// The language of its thread.
    pub locale: Locale,
    /// What was reported, redacted.
    pub report: Report,
    /// Who reported it.
    pub reporter: String,
    /// What is seen.
    pub symptoms: Vec<String>,
    /// Error lines.
    pub error_signatures: Vec<String>,
    /// When it began, where somebody said so.
    pub started_at: Option<Timestamp>,
    /// When it was reported.
    pub reported_at: Timestamp,
}

/// One change to an incident.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "what", content = "to")]
pub enum Change {
    /// One line.
    Title(String),
    /// Canonical name of the service.
    Service(Option<String>),
    /// The environment.
    Environment(Option<String>),
    /// A severity that a person sets. It stands until a person sets another (R30).
    Severity(Severity),
    /// A severity that code or a model proposes. Changes nothing once a person has set one (R30).
    SeverityProposed(Severity),
    /// Where it stands. Mitigated and resolved set their time, where it is not set yet.
    Status(Status),
    /// The report, with what came since.
    Report(Box<Report>),
    /// What is seen.
    Symptoms(Vec<String>),
    /// Error lines.
    ErrorSignatures(Vec<String>),
    /// What would keep it from coming again.
    Prevention(String),
    /// The thread that was started for it.
    Thread(Option<String>),
    /// The headline message.
    Headline(Option<String>),
    /// Who leads; sets the time of acknowledgement, where it is not set yet.
    Lead(Option<String>),
    /// Who speaks for the incident.
    CommsLead(Option<String>),
    /// Who notices what.
    Impact(Box<Impact>),
    /// When the next update is due, by a person's word.
    NextUpdateAt(Option<Timestamp>),
    /// What would prevent it is done, or open again.
    PreventionDone(bool),
    /// A moment of the incident (R31).
    Time {
        /// Which.
        moment: Moment,
        /// When; `None`: not known.
        at: Option<Timestamp>,
    },
    /// Seen from its own channel only, or shared with the guild.
    Private(bool),
}

impl Change {
    /// Whether the incident's words change with it.
    fn is_of_the_record(&self) -> bool {
        matches!(
            self,
            Self::Title(_)
                | Self::Service(_)
                | Self::Symptoms(_)
                | Self::ErrorSignatures(_)
                | Self::Prevention(_)
        )
    }
}

/// One entry of an incident's history.
#[derive(Clone, Debug, PartialEq)]
pub struct Event {
    /// When.
    pub at: Timestamp,
    /// Who or what.
    pub by: String,
    /// What: `opened`, `severity`, `attempt`, `cause_confirmed`, ...
    pub what: String,
    /// The particulars.
    pub detail: Value,
}

/// Which incidents are listed, newest number first.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Filter {
    /// Only running ones.
    pub open: bool,
    /// Only those that run or ended since then.
    pub active_since: Option<Timestamp>,
    /// Only those of this service, by its canonical name.
    pub service: Option<String>,
    /// Only those with a lower number.
    pub before: Option<IncidentId>,
    /// At most so many; 0 means 25.
    pub limit: u32,
}

/// Incidents, whole, where the condition holds.
macro_rules! incidents {
    ($condition:literal) => {
        concat!(
            "SELECT ",
            past_columns!(),
            ", guild, channel, parent_channel, thread, headline, private, status, severity, \
             severity_by, locale, report, reporter, lead, comms_lead, impact, next_update_at, \
             prevention_done, detected_at, reported_at, acknowledged_at, mitigated_at, updated_at \
             FROM incident WHERE ",
            $condition
        )
    };
}

impl Store {
    /// Opens an incident under the guild's next number. The same opening gives the incident that
    /// it opened before, unchanged.
    ///
    /// # Errors
    ///
    /// [`StoreError::Invalid`] where a private incident names no channel.
    pub async fn open_incident(
        &self,
        guild: &str,
        new: &NewIncident,
    ) -> Result<Incident, StoreError> {
        if new.private && new.channel.is_empty() {
            return Err(StoreError::Invalid(
                "a private incident needs a channel to be seen from".to_owned(),
            ));
        }
        let mut tx = self.write(guild).await?;
        let id = open_in(&mut tx, guild, new).await?;
        let incident = load(&mut tx, guild, id).await?;
        tx.commit().await?;
        Ok(incident)
    }

    /// The incident that something opened, if it did.
    ///
    /// # Errors
    ///
    /// Those of the database.
    pub async fn opened_by(
        &self,
        guild: &str,
        opening: &str,
    ) -> Result<Option<IncidentId>, StoreError> {
        let mut connection = self.reader.acquire().await?;
        let number: Option<i64> =
            query_scalar("SELECT number FROM incident WHERE guild = $1 AND opening = $2")
                .bind(guild)
                .bind(opening)
                .fetch_optional(&mut connection)
                .await?;
        number.map(incident_id).transpose()
    }

    /// One incident.
    ///
    /// # Errors
    ///
    /// [`StoreError::NotFound`] where it does not exist or may not be seen from the scope.
    pub async fn incident(&self, scope: &Scope, id: IncidentId) -> Result<Incident, StoreError> {
        let mut connection = self.reader.acquire().await?;
        must_see(&mut connection, scope, id).await?;
        load(&mut connection, &scope.guild, id).await
    }

    /// One incident of a guild for a job that began where it may be seen; `None` where it is gone.
    ///
    /// # Errors
    ///
    /// Those of the database.
    pub async fn incident_of_guild(
        &self,
        guild: &str,
        id: IncidentId,
    ) -> Result<Option<Incident>, StoreError> {
        let mut connection = self.reader.acquire().await?;
        match load(&mut connection, guild, id).await {
            Err(StoreError::NotFound) => Ok(None),
            found => found.map(Some),
        }
    }

    /// Threads of open incidents in every guild: `(guild, thread)`; for catching up.
    ///
    /// # Errors
    ///
    /// Those of the database.
    pub async fn open_threads(&self) -> Result<Vec<(u64, u64)>, StoreError> {
        let rows: Vec<(String, String)> = query_as(
            "SELECT DISTINCT guild, thread FROM incident WHERE thread IS NOT NULL \
             AND status IN ('investigating', 'fixing', 'mitigated')",
        )
        .fetch_all(&self.reader)
        .await?;
        // The command line's guild has no Discord number and no threads.
        Ok(rows
            .into_iter()
            .filter_map(|(guild, thread)| Some((guild.parse().ok()?, thread.parse().ok()?)))
            .collect())
    }

    /// Running incidents of every guild that was analysed through Discord: `(guild, number)`.
    ///
    /// # Errors
    ///
    /// Those of the database.
    pub async fn open_incidents(&self) -> Result<Vec<(u64, u32)>, StoreError> {
        let rows: Vec<(String, i64)> = query_as(
            "SELECT guild, number FROM incident WHERE headline IS NOT NULL \
             AND status IN ('investigating', 'fixing', 'mitigated') ORDER BY guild, number",
        )
        .fetch_all(&self.reader)
        .await?;
        Ok(rows
            .into_iter()
            .filter_map(|(guild, number)| Some((guild.parse().ok()?, u32::try_from(number).ok()?)))
            .collect())
    }

    /// The incident that lives in this thread.
    ///
    /// # Errors
    ///
    /// Those of the database.
    pub async fn by_thread(
        &self,
        guild: &str,
        thread: &str,
    ) -> Result<Option<Incident>, StoreError> {
        let mut connection = self.reader.acquire().await?;
        let rows = query(incidents!(
            "guild = $1 AND thread = $2 ORDER BY number DESC LIMIT 1"
        ))
        .bind(guild)
        .bind(thread)
        .fetch_all(&mut connection)
        .await?;
        Ok(read(&mut connection, guild, rows).await?.pop())
    }

    /// Incidents, newest number first.
    ///
    /// # Errors
    ///
    /// Those of the database.
    pub async fn list(&self, scope: &Scope, filter: &Filter) -> Result<Vec<Incident>, StoreError> {
        let limit = if filter.limit == 0 { 25 } else { filter.limit };
        let mut connection = self.reader.acquire().await?;
        let rows = query(incidents!(
            "guild = $1 AND (private = 0 OR channel = $2 OR thread = $2) \
             AND ($3 = 0 OR status IN ('investigating', 'fixing', 'mitigated')) \
             AND ($4 IS NULL OR status IN ('investigating', 'fixing', 'mitigated') OR resolved_at >= $4) \
             AND ($5 IS NULL OR service = $5) \
             AND ($6 IS NULL OR number < $6) \
             ORDER BY number DESC LIMIT $7"
        ))
        .bind(&scope.guild)
        .bind(&scope.channel)
        .bind(i64::from(filter.open))
        .bind(optional_millis(filter.active_since))
        .bind(filter.service.as_deref())
        .bind(filter.before.map(|id| i64::from(id.number())))
        .bind(i64::from(limit))
        .fetch_all(&mut connection)
        .await?;
        read(&mut connection, &scope.guild, rows).await
    }

    /// Applies changes in one transaction and gives the incident as it then stands.
    ///
    /// # Errors
    ///
    /// [`StoreError::NotFound`] as for [`Store::incident`]; nothing is changed then.
    pub async fn update(
        &self,
        scope: &Scope,
        id: IncidentId,
        by: &str,
        at: Timestamp,
        changes: &[Change],
    ) -> Result<Incident, StoreError> {
        let mut tx = self.write(&scope.guild).await?;
        must_see(&mut tx, scope, id).await?;
        for change in changes {
            let before = load(&mut tx, &scope.guild, id).await?;
            apply(&mut tx, &scope.guild, id, by, at, change).await?;
            let (what, mut detail) = described(change)?;
            if let Some(fields) = detail.as_object_mut() {
                fields.extend(before_of(&before, change)?.map(|from| ("from".to_owned(), from)));
            }
            note(&mut tx, &scope.guild, id, at, by, &what, &detail).await?;
        }
        touch(&mut tx, &scope.guild, id, at).await?;
        if changes.iter().any(Change::is_of_the_record) {
            words::index(&mut tx, &scope.guild, id).await?;
        }
        let incident = load(&mut tx, &scope.guild, id).await?;
        tx.commit().await?;
        Ok(incident)
    }

    /// What happened to an incident, in order.
    ///
    /// # Errors
    ///
    /// [`StoreError::NotFound`] as for [`Store::incident`].
    pub async fn history(&self, scope: &Scope, id: IncidentId) -> Result<Vec<Event>, StoreError> {
        let mut connection = self.reader.acquire().await?;
        must_see(&mut connection, scope, id).await?;
        let rows: Vec<(i64, String, String, String)> = query_as(
            "SELECT at, by_whom, what, detail FROM incident_event WHERE guild = $1 AND number = $2 ORDER BY seq",
        )
        .bind(&scope.guild)
        .bind(i64::from(id.number()))
        .fetch_all(&mut connection)
        .await?;
        rows.into_iter()
            .map(|(at, by, what, detail)| {
                Ok(Event {
                    at: timestamp(at)?,
                    by,
                    what,
                    detail: serde_json::from_str(&detail)?,
                })
            })
            .collect()
    }
}

/// Opens an incident, in the transaction at hand; the same opening gives the same incident.
pub(super) async fn open_in(
    tx: &mut Transaction,
    guild: &str,
    new: &NewIncident,
) -> Result<IncidentId, StoreError> {
    let opened: Option<i64> =
        query_scalar("SELECT number FROM incident WHERE guild = $1 AND opening = $2")
            .bind(guild)
            .bind(&new.opening)
            .fetch_optional(&mut **tx)
            .await?;
    if let Some(number) = opened {
        return incident_id(number);
    }
    let number = next_number(tx, guild).await?;
    insert(tx, guild, number, new).await?;
    let id = incident_id(number)?;
    let detail = json!({ "severity": new.severity });
    note(
        tx,
        guild,
        id,
        new.reported_at,
        &new.reporter,
        "opened",
        &detail,
    )
    .await?;
    words::index(tx, guild, id).await?;
    Ok(id)
}

/// The guild's next number.
pub(super) async fn next_number(
    connection: &mut Connection,
    guild: &str,
) -> Result<i64, StoreError> {
    let number: i64 = query_scalar(
        "INSERT INTO counter (guild, last) VALUES ($1, 1) \
         ON CONFLICT (guild) DO UPDATE SET last = counter.last + 1 RETURNING last",
    )
    .bind(guild)
    .fetch_one(connection)
    .await?;
    if number > LAST_NUMBER {
        return Err(StoreError::Conflict(
            "all incident numbers of this guild are used up".to_owned(),
        ));
    }
    Ok(number)
}

async fn insert(
    connection: &mut Connection,
    guild: &str,
    number: i64,
    new: &NewIncident,
) -> Result<(), StoreError> {
    query(
        "INSERT INTO incident (guild, number, opening, channel, parent_channel, thread, private, \
         status, severity, severity_by, title, service, environment, locale, reporter, report, \
         symptoms, error_signatures, root_cause, cause_confirmed, ruled_out, prevention, source, \
         started_at, reported_at, updated_at) \
         VALUES ($1, $2, $3, $4, $5, $6, $7, 'investigating', $8, $9, $10, $11, $12, $13, $14, $15, \
         $16, $17, '', 0, '[]', '', 'discord', $18, $19, $19)",
    )
    .bind(guild)
    .bind(number)
    .bind(&new.opening)
    .bind(&new.channel)
    .bind(new.parent_channel.as_deref())
    .bind(new.thread.as_deref())
    .bind(i64::from(new.private))
    .bind(new.severity.map(|severity| i64::from(severity.number())))
    .bind(new.severity_by.as_deref())
    .bind(storable(&new.title))
    .bind(storable_service(new.service.as_deref()))
    .bind(optional_storable(new.environment.as_deref()))
    .bind(new.locale.code())
    .bind(storable(&new.reporter))
    .bind(document(&new.report)?)
    .bind(document(&new.symptoms)?)
    .bind(document(&new.error_signatures)?)
    .bind(optional_millis(new.started_at))
    .bind(millis(new.reported_at))
    .execute(connection)
    .await?;
    Ok(())
}

/// One incident, whoever asks: the caller has checked.
pub(super) async fn load(
    connection: &mut Connection,
    guild: &str,
    id: IncidentId,
) -> Result<Incident, StoreError> {
    let rows = query(incidents!("guild = $1 AND number = $2"))
        .bind(guild)
        .bind(i64::from(id.number()))
        .fetch_all(&mut *connection)
        .await?;
    let found = read(connection, guild, rows).await?.pop();
    found.ok_or(StoreError::NotFound)
}

/// The incidents of these rows, which are of one guild, in their order.
async fn read(
    connection: &mut Connection,
    guild: &str,
    rows: Vec<Row>,
) -> Result<Vec<Incident>, StoreError> {
    let records = past::read(connection, guild, rows).await?;
    let incidents = records.into_iter();
    incidents.map(|(past, row)| incident(past, &row)).collect()
}

fn incident(past: PastIncident, row: &Row) -> Result<Incident, StoreError> {
    let status: String = row.try_get("status")?;
    let severity: Option<i64> = row.try_get("severity")?;
    let locale: String = row.try_get("locale")?;
    let report: Option<String> = row.try_get("report")?;
    Ok(Incident {
        past,
        guild: row.try_get("guild")?,
        channel: row.try_get("channel")?,
        parent_channel: row.try_get("parent_channel")?,
        thread: row.try_get("thread")?,
        headline: row.try_get("headline")?,
        private: row.try_get::<i64>("private")? != 0,
        status: Status::parse(&status)
            .ok_or_else(|| StoreError::Corrupt(Some("an unknown status".into())))?,
        severity: severity.and_then(|number| Severity::parse(&number.to_string())),
        severity_by: row.try_get("severity_by")?,
        locale: Locale::from_discord(&locale),
        report: report.as_deref().map(serde_json::from_str).transpose()?,
        reporter: row.try_get("reporter")?,
        lead: row.try_get("lead")?,
        comms_lead: row.try_get("comms_lead")?,
        impact: serde_json::from_str(&row.try_get::<String>("impact")?)?,
        next_update_at: optional_timestamp(row.try_get("next_update_at")?)?,
        prevention_done: row.try_get::<i64>("prevention_done")? != 0,
        detected_at: optional_timestamp(row.try_get("detected_at")?)?,
        reported_at: optional_timestamp(row.try_get("reported_at")?)?,
        acknowledged_at: optional_timestamp(row.try_get("acknowledged_at")?)?,
        mitigated_at: optional_timestamp(row.try_get("mitigated_at")?)?,
        updated_at: timestamp(row.try_get("updated_at")?)?,
    })
}

/// What the history says of a change. Long documents are named, not repeated.
fn described(change: &Change) -> Result<(String, Value), StoreError> {
    if let Change::Report(report) = change {
        return Ok((
            "report".to_owned(),
            json!({ "thread_messages": report.thread.len(), "attachments": report.attachments.len() }),
        ));
    }
    let value = serde_json::to_value(change)?;
    let what = value
        .get("what")
        .and_then(Value::as_str)
        .unwrap_or("change")
        .to_owned();
    let detail = value.get("to").cloned().unwrap_or(Value::Null);
    Ok((what, json!({ "to": detail })))
}

/// What stood there before a change, for the history; `None` where that is not kept.
fn before_of(before: &Incident, change: &Change) -> Result<Option<Value>, StoreError> {
    Ok(Some(match change {
        Change::Title(_) => json!(before.past.title),
        Change::Service(_) => json!(before.past.service),
        Change::Environment(_) => json!(before.past.environment),
        Change::Severity(_) | Change::SeverityProposed(_) => json!(before.severity),
        Change::Status(_) => json!(before.status),
        Change::Prevention(_) => json!(before.past.prevention),
        Change::Lead(_) => json!(before.lead),
        Change::CommsLead(_) => json!(before.comms_lead),
        Change::Impact(_) => serde_json::to_value(&before.impact)?,
        Change::NextUpdateAt(_) => json!(before.next_update_at),
        Change::PreventionDone(_) => json!(before.prevention_done),
        Change::Time { moment, .. } => json!(before.times().at(*moment)),
        Change::Private(_) => json!(before.private),
        Change::Report(_)
        | Change::Symptoms(_)
        | Change::ErrorSignatures(_)
        | Change::Thread(_)
        | Change::Headline(_) => return Ok(None),
    }))
}

/// Adds to the history.
pub(super) async fn note(
    connection: &mut Connection,
    guild: &str,
    id: IncidentId,
    at: Timestamp,
    by: &str,
    what: &str,
    detail: &Value,
) -> Result<(), StoreError> {
    query(
        "INSERT INTO incident_event (guild, number, seq, at, by_whom, what, detail) \
         SELECT $1, $2, coalesce(max(seq), 0) + 1, $3, $4, $5, $6 FROM incident_event \
         WHERE guild = $1 AND number = $2",
    )
    .bind(guild)
    .bind(i64::from(id.number()))
    .bind(millis(at))
    .bind(storable(by))
    .bind(what)
    .bind(document(detail)?)
    .execute(connection)
    .await?;
    Ok(())
}

/// Says that the row changed.
pub(super) async fn touch(
    connection: &mut Connection,
    guild: &str,
    id: IncidentId,
    at: Timestamp,
) -> Result<(), StoreError> {
    query(
        "UPDATE incident SET updated_at = CASE WHEN updated_at < $3 THEN $3 ELSE updated_at END \
         WHERE guild = $1 AND number = $2",
    )
    .bind(guild)
    .bind(i64::from(id.number()))
    .bind(millis(at))
    .execute(connection)
    .await?;
    Ok(())
}

async fn apply(
    connection: &mut Connection,
    guild: &str,
    id: IncidentId,
    by: &str,
    at: Timestamp,
    change: &Change,
) -> Result<(), StoreError> {
    macro_rules! set {
        ($assignment:literal $(, $value:expr)*) => {
            query(concat!(
                "UPDATE incident SET ", $assignment, " WHERE guild = $1 AND number = $2"
            ))
            .bind(guild)
            .bind(i64::from(id.number()))
            $(.bind($value))*
        };
    }
    let query = match change {
        Change::Title(title) => set!("title = $3", storable(title)),
        Change::Service(service) => {
            set!("service = $3", storable_service(service.as_deref()))
        }
        Change::Environment(environment) => {
            set!(
                "environment = $3",
                optional_storable(environment.as_deref())
            )
        }
        Change::Severity(severity) => set!(
            "severity = $3, severity_by = $4",
            i64::from(severity.number()),
            storable(by)
        ),
        Change::SeverityProposed(severity) => set!(
            "severity = CASE WHEN severity_by IS NULL THEN $3 ELSE severity END",
            i64::from(severity.number())
        ),
        Change::Status(status) => set!(
            "status = $3, \
             mitigated_at = CASE WHEN $3 IN ('mitigated', 'resolved') THEN coalesce(mitigated_at, $4) \
                                 WHEN $3 IN ('investigating', 'fixing') THEN NULL ELSE mitigated_at END, \
             resolved_at = CASE WHEN $3 IN ('resolved', 'closed', 'false_alarm') THEN coalesce(resolved_at, $4) \
                                WHEN $3 IN ('investigating', 'fixing', 'mitigated') THEN NULL ELSE resolved_at END",
            status.word(),
            millis(at)
        ),
        Change::Report(report) => set!("report = $3", document(report)?),
        Change::Symptoms(symptoms) => set!("symptoms = $3", document(symptoms)?),
        Change::ErrorSignatures(signatures) => {
            set!("error_signatures = $3", document(signatures)?)
        }
        Change::Prevention(prevention) => set!("prevention = $3", storable(prevention)),
        Change::Thread(thread) => set!("thread = $3", thread.as_deref()),
        Change::Headline(headline) => set!("headline = $3", headline.as_deref()),
        Change::Lead(lead) => set!(
            "lead = $3, acknowledged_at = CASE WHEN $3 IS NULL THEN acknowledged_at \
             ELSE coalesce(acknowledged_at, $4) END",
            lead.as_deref(),
            millis(at)
        ),
        Change::CommsLead(lead) => set!("comms_lead = $3", optional_storable(lead.as_deref())),
        Change::Impact(impact) => set!("impact = $3", document(impact)?),
        Change::NextUpdateAt(at) => set!("next_update_at = $3", optional_millis(*at)),
        Change::PreventionDone(done) => set!("prevention_done = $3", i64::from(*done)),
        Change::Time { moment, at } => {
            let at = optional_millis(*at);
            match moment {
                Moment::Started => set!("started_at = $3", at),
                Moment::Detected => set!("detected_at = $3", at),
                Moment::Reported => set!("reported_at = $3", at),
                Moment::Acknowledged => set!("acknowledged_at = $3", at),
                Moment::Mitigated => set!("mitigated_at = $3", at),
                Moment::Resolved => set!("resolved_at = $3", at),
            }
        }
        Change::Private(private) => set!("private = $3", i64::from(*private)),
    };
    query.execute(connection).await?;
    Ok(())
}

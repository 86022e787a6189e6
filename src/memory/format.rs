//! The line format of import and export: one incident a line, JSON.
//!
//! Keys: `id`, `title`, `service`, `environment`, `started_at`, `resolved_at`, `symptoms`,
//! `error_signatures`, `root_cause`, `fix`, `outcome`, `ruled_out`, `prevention`, `source`; every
//! one but `title` is optional. `id` reads like `12`, `"#12"` or `"INC-12"`; without it the guild's
//! next number is given. Lists may be one string. Times are RFC 3339, or a plain date or date and
//! time, which count as UTC. `outcome` is one of the words of a fix attempt, or `verified`,
//! `refuted`, `hypothesis`; a fix without one is `unknown`.
//!
//! So that nothing is lost on the way out and back in, a line also carries `attempts` (each with
//! `fix`, `outcome`, `at`, `by`, `environment`, `note`), `cause_confirmed`, `duplicate_of`,
//! `parent` and `private_to`, where they say more than the others; and how the incident ran:
//! `status` (`resolved`, `closed`, `false_alarm` or `merged`), `severity` and `severity_by`,
//! `detected_at`, `reported_at`, `acknowledged_at`, `mitigated_at`, `impact` (`who`, `what`,
//! `how_many`, `workaround`, `data`), `lead` and `comms_lead`, `prevention_done`, `withdrawn` (attempts
//! that were taken back, each as in `attempts` with its `place` among all of them, from 1) and `events`
//! (the history: each with `at`, `by`, `what`, `detail`). [`parse_line`] and [`write_incident`] are
//! inverse.
//!
//! Deliberately not in it: the report and what was written in the thread (memory keeps what was made
//! of them), analyses with their ticks, approvals and owners of steps (they are about one moment, and
//! read back only through the rules), what people said of sameness, jobs, and posts (they are another
//! server's messages).
//!
//! Each line names the `version` of the format, so that a line means the same wherever it is cut
//! out of a file; one without is of version 1. A line of a later version is refused: keys that mean
//! nothing here may be ignored, what a later version made of the known ones may not.
//!
//! Services of which more is known than a name stand in lines of their own, with `"record":
//! "service"` and `name`, `aliases`, `owners` (each `role` and `name`), `repository`, `runbooks`,
//! `high_risk` and `environments_apart`. They come before the incidents, whose services they name.

use crate::incident::link::web_address;
use crate::incident::{
    Course, FixAttempt, Impact, IncidentId, Outcome, Owner, PastEvent, PastIncident, Service,
    Severity, Status, Withdrawn,
};
use crate::response::prompt::is_invisible;
use jiff::Timestamp;
use jiff::civil::{Date, DateTime};
use jiff::tz::TimeZone;
use serde_json::{Map, Value};

/// The version that is written, and the latest that is read.
pub const VERSION: u64 = 1;

/// Every key that the line of an incident may carry.
pub const KEYS: [&str; 34] = [
    "record",
    "version",
    "id",
    "title",
    "service",
    "environment",
    "started_at",
    "resolved_at",
    "symptoms",
    "error_signatures",
    "root_cause",
    "fix",
    "outcome",
    "ruled_out",
    "prevention",
    "source",
    "attempts",
    "cause_confirmed",
    "duplicate_of",
    "parent",
    "private_to",
    "status",
    "severity",
    "severity_by",
    "detected_at",
    "reported_at",
    "acknowledged_at",
    "mitigated_at",
    "impact",
    "lead",
    "comms_lead",
    "prevention_done",
    "withdrawn",
    "events",
];

/// Every key that the line of a service may carry.
const SERVICE_KEYS: [&str; 9] = [
    "record",
    "version",
    "name",
    "aliases",
    "owners",
    "repository",
    "runbooks",
    "high_risk",
    "environments_apart",
];

/// Bytes of one line; longer ones are refused.
pub const LONGEST_LINE: usize = 8 * 1024 * 1024;

/// A line that was read.
#[derive(Clone, Debug, PartialEq)]
pub struct Line {
    /// The id that it names.
    pub id: Option<IncidentId>,
    /// The record. Without an id in the line, its own is only a placeholder.
    pub past: PastIncident,
    /// How it ran.
    pub course: Course,
    /// Seen from this channel only.
    pub private_to: Option<String>,
    /// Keys that mean nothing here.
    pub unknown_keys: Vec<String>,
}

/// What a line holds.
#[derive(Clone, Debug, PartialEq)]
pub enum Record {
    /// An incident.
    Incident(Box<Line>),
    /// A service, and the keys that mean nothing here.
    Service(Service, Vec<String>),
}

/// Reads one line, whatever it holds.
///
/// # Errors
///
/// As for [`parse_line`].
pub fn parse_record(line: &str) -> Result<Record, String> {
    let object = object(line)?;
    match text(&object, "record")?.as_deref() {
        None | Some("incident") => Ok(Record::Incident(Box::new(incident(object)?))),
        Some("service") => {
            let unknown_keys = unknown(&object, &SERVICE_KEYS);
            Ok(Record::Service(service(&object)?, unknown_keys))
        }
        Some(_) => Err("record is neither incident nor service".to_owned()),
    }
}

/// Reads one line of an incident.
///
/// # Errors
///
/// Why the line is no incident, in a sentence that repeats nothing of it but names of keys.
pub fn parse_line(line: &str) -> Result<Line, String> {
    incident(object(line)?)
}

/// The object of a line, of a version that is known.
fn object(line: &str) -> Result<Map<String, Value>, String> {
    let value: Value = serde_json::from_str(line)
        .map_err(|error| format!("it is not JSON (column {})", error.column()))?;
    let Value::Object(mut object) = value else {
        return Err("it is not a JSON object".to_owned());
    };
    // Null says the same as nothing.
    object.retain(|_, value| !value.is_null());
    match object.get("version") {
        None => {}
        Some(version) => match version.as_u64() {
            Some(1..=VERSION) => {}
            Some(later) if later > VERSION => {
                return Err(format!(
                    "it is of version {later} of the format, and this Precedent reads up to {VERSION}: import it with a newer one"
                ));
            }
            _ => return Err("version is not a whole number from 1 on".to_owned()),
        },
    }
    Ok(object)
}

fn unknown(object: &Map<String, Value>, known: &[&str]) -> Vec<String> {
    object
        .keys()
        .filter(|key| !known.contains(&key.as_str()))
        .cloned()
        .collect()
}

fn service(object: &Map<String, Value>) -> Result<Service, String> {
    let name = text(object, "name")?.unwrap_or_default().trim().to_owned();
    if name.is_empty() {
        return Err("it has no name".to_owned());
    }
    let owners = match object.get("owners") {
        None => Vec::new(),
        Some(Value::Array(owners)) => owners.iter().map(owner).collect::<Result<_, String>>()?,
        Some(_) => return Err("owners is not a list".to_owned()),
    };
    let runbooks = texts(object, "runbooks")?
        .iter()
        .map(|address| {
            web_address(address)
                .ok_or_else(|| "runbooks are not addresses with http or https".to_owned())
        })
        .collect::<Result<_, String>>()?;
    Ok(Service {
        name,
        aliases: texts(object, "aliases")?,
        high_risk: texts(object, "high_risk")?,
        environments_apart: texts(object, "environments_apart")?,
        owners,
        repository: text(object, "repository")?.unwrap_or_default(),
        runbooks,
    })
}

fn owner(value: &Value) -> Result<Owner, String> {
    match value {
        Value::String(text) => Owner::parse(text).ok_or_else(|| "an owner has no name".to_owned()),
        Value::Object(object) => {
            let name = text(object, "name")?.unwrap_or_default();
            if name.trim().is_empty() {
                return Err("an owner has no name".to_owned());
            }
            Ok(Owner {
                role: text(object, "role")?.unwrap_or_default(),
                name,
            })
        }
        _ => Err("an owner is not a role and a name".to_owned()),
    }
}

fn incident(object: Map<String, Value>) -> Result<Line, String> {
    if text(&object, "record")?.is_some_and(|record| record != "incident") {
        return Err("it is no incident".to_owned());
    }
    let unknown_keys = unknown(&object, &KEYS);

    let title = text(&object, "title")?.unwrap_or_default();
    if title.trim().is_empty() {
        return Err("it has no title".to_owned());
    }
    let id = id(&object, "id")?;
    let placeholder = IncidentId::new(1).ok_or("no placeholder for an id")?;
    let mut past = PastIncident::new(id.unwrap_or(placeholder), title);
    past.service = text(&object, "service")?.filter(|name| !name.trim().is_empty());
    past.environment = text(&object, "environment")?.filter(|name| !name.trim().is_empty());
    past.started_at = time(&object, "started_at")?;
    past.resolved_at = time(&object, "resolved_at")?;
    past.symptoms = texts(&object, "symptoms")?;
    past.error_signatures = texts(&object, "error_signatures")?;
    past.root_cause = text(&object, "root_cause")?.unwrap_or_default();
    past.ruled_out = texts(&object, "ruled_out")?;
    past.prevention = text(&object, "prevention")?.unwrap_or_default();
    past.source = text(&object, "source")?.unwrap_or_else(|| "import".to_owned());
    past.cause_confirmed = match object.get("cause_confirmed") {
        None => false,
        Some(Value::Bool(confirmed)) => *confirmed,
        Some(_) => return Err("cause_confirmed is not true or false".to_owned()),
    };
    past.duplicate_of = self::id(&object, "duplicate_of")?;
    past.parent = self::id(&object, "parent")?;
    past.attempts = match object.get("attempts") {
        Some(Value::Array(attempts)) if !attempts.is_empty() => attempts
            .iter()
            .map(attempt)
            .collect::<Result<Vec<_>, String>>(
        )?,
        Some(other) if !other.is_array() => return Err("attempts is not a list".to_owned()),
        _ => {
            let outcome = outcome(&object)?;
            match text(&object, "fix")?.filter(|fix| !fix.trim().is_empty()) {
                Some(fix) => vec![FixAttempt {
                    at: past.resolved_at,
                    by: "import".to_owned(),
                    environment: past.environment.clone(),
                    ..FixAttempt::new(fix, outcome)
                }],
                None => Vec::new(),
            }
        }
    };
    let private_to = text(&object, "private_to")?;
    if private_to
        .as_deref()
        .is_some_and(|channel| channel.trim().is_empty())
    {
        return Err("private_to names no channel".to_owned());
    }
    Ok(Line {
        id,
        past,
        course: course(&object)?,
        private_to,
        unknown_keys,
    })
}

fn course(object: &Map<String, Value>) -> Result<Course, String> {
    let yes = |key: &str| match object.get(key) {
        None => Ok(false),
        Some(Value::Bool(yes)) => Ok(*yes),
        Some(_) => Err(format!("{key} is not true or false")),
    };
    let status = text(object, "status")?.map(|word| {
        Status::parse(word.trim())
            .filter(|status| !status.is_open())
            .ok_or("status is none of resolved, closed, false_alarm, merged")
    });
    let severity = text(object, "severity")?
        .map(|word| Severity::parse(&word).ok_or("severity is none of SEV1, SEV2, SEV3, SEV4"));
    let person = |key: &str| -> Result<Option<String>, String> {
        Ok(text(object, key)?.filter(|name| !name.is_empty()))
    };
    Ok(Course {
        status: status.transpose()?,
        severity: severity.transpose()?,
        severity_by: person("severity_by")?,
        impact: impact(object)?,
        lead: person("lead")?,
        comms_lead: person("comms_lead")?,
        detected_at: time(object, "detected_at")?,
        reported_at: time(object, "reported_at")?,
        acknowledged_at: time(object, "acknowledged_at")?,
        mitigated_at: time(object, "mitigated_at")?,
        prevention_done: yes("prevention_done")?,
        withdrawn: list(object, "withdrawn")?
            .iter()
            .map(withdrawn)
            .collect::<Result<_, String>>()?,
        events: list(object, "events")?
            .iter()
            .map(event)
            .collect::<Result<_, String>>()?,
    })
}

fn impact(object: &Map<String, Value>) -> Result<Impact, String> {
    let Some(value) = object.get("impact") else {
        return Ok(Impact::default());
    };
    // In one text: what is noticed.
    if let Value::String(what) = value {
        return Ok(Impact {
            what: what.clone(),
            ..Impact::default()
        });
    }
    let Value::Object(fields) = value else {
        return Err("impact is not a JSON object".to_owned());
    };
    let mut fields = fields.clone();
    fields.retain(|_, value| !value.is_null());
    let in_impact = |key: &str| {
        text(&fields, key)
            .map(Option::unwrap_or_default)
            .map_err(|reason| format!("in impact, {reason}"))
    };
    Ok(Impact {
        who: in_impact("who")?,
        what: in_impact("what")?,
        how_many: in_impact("how_many")?,
        workaround: in_impact("workaround")?,
        data: in_impact("data")?,
    })
}

fn list<'o>(object: &'o Map<String, Value>, key: &str) -> Result<&'o [Value], String> {
    match object.get(key) {
        None => Ok(&[]),
        Some(Value::Array(list)) => Ok(list),
        Some(_) => Err(format!("{key} is not a list")),
    }
}

fn withdrawn(value: &Value) -> Result<Withdrawn, String> {
    let place = value.get("place").and_then(Value::as_u64);
    Ok(Withdrawn {
        place: place
            .and_then(|place| u32::try_from(place).ok())
            .filter(|place| *place > 0)
            .ok_or("in withdrawn, place is not a whole number from 1 on")?,
        attempt: attempt(value)?,
    })
}

fn event(value: &Value) -> Result<PastEvent, String> {
    let Value::Object(object) = value else {
        return Err("an event is not a JSON object".to_owned());
    };
    let mut object = object.clone();
    object.retain(|_, value| !value.is_null());
    let in_event = |reason: String| format!("in an event, {reason}");
    let what = text(&object, "what").map_err(in_event)?;
    let at = time(&object, "at").map_err(in_event)?;
    Ok(PastEvent {
        at: at.ok_or("in an event, at is missing")?,
        by: text(&object, "by").map_err(in_event)?.unwrap_or_default(),
        what: what
            .filter(|what| !what.is_empty())
            .ok_or("in an event, what is missing")?,
        detail: object.remove("detail").unwrap_or_default(),
    })
}

/// JSON whose text acts on nobody where the file is opened or copied from: what nobody sees and what
/// reorders a line, and the sign of a mention, are written as escapes, which read back as they were.
fn inert(json: &str) -> String {
    let mut out = String::with_capacity(json.len());
    let mut rest = json;
    while let Some(c) = rest.chars().next() {
        rest = rest.get(c.len_utf8()..).unwrap_or_default();
        // `@everyone`, and what begins with an angle bracket: `<@1>`, `<#1>`, `</name:1>`, `<t:1>`.
        let mentions = (c == '@'
            && ["everyone", "here"].iter().any(|word| {
                rest.get(..word.len())
                    .is_some_and(|next| next.eq_ignore_ascii_case(word))
            }))
            || (c == '<' && rest.starts_with(['@', '#', '/', ':', 'a', 't', 'i']));
        if mentions || is_invisible(c) {
            for unit in c.encode_utf16(&mut [0; 2]) {
                out.push_str(&format!("\\u{unit:04x}"));
            }
        } else {
            out.push(c);
        }
    }
    out
}

/// Writes one record as a line, without the line's end: nothing of how it ran.
pub fn write_line(past: &PastIncident, private_to: Option<&str>) -> String {
    write_incident(past, &Course::default(), private_to)
}

/// Writes one record and how it ran as a line, without the line's end.
pub fn write_incident(past: &PastIncident, course: &Course, private_to: Option<&str>) -> String {
    let mut object = Map::new();
    let mut put = |key: &str, value: Value| {
        let empty = match &value {
            Value::Null => true,
            Value::String(text) => text.is_empty(),
            Value::Array(list) => list.is_empty(),
            Value::Bool(yes) => !yes,
            _ => false,
        };
        if !empty {
            object.insert(key.to_owned(), value);
        }
    };
    let time = |at: Option<Timestamp>| at.map_or(Value::Null, |at| at.to_string().into());
    let link = |id: Option<IncidentId>| id.map_or(Value::Null, |id| id.to_string().into());
    put("id", past.id.to_string().into());
    put("title", past.title.clone().into());
    put("service", past.service.clone().into());
    put("environment", past.environment.clone().into());
    put("started_at", time(past.started_at));
    put("resolved_at", time(past.resolved_at));
    put("symptoms", past.symptoms.clone().into());
    put("error_signatures", past.error_signatures.clone().into());
    put("root_cause", past.root_cause.clone().into());
    put("ruled_out", past.ruled_out.clone().into());
    put("prevention", past.prevention.clone().into());
    put("cause_confirmed", past.cause_confirmed.into());
    put("duplicate_of", link(past.duplicate_of));
    put("parent", link(past.parent));
    put("private_to", private_to.into());
    if let Some(decisive) = past.decisive_attempt() {
        put("fix", decisive.fix.clone().into());
        put("outcome", decisive.outcome.word().into());
    }
    put(
        "attempts",
        past.attempts
            .iter()
            .map(|attempt| serde_json::to_value(attempt).unwrap_or_default())
            .collect::<Vec<_>>()
            .into(),
    );
    put_course(&mut object, course);
    object.insert("version".to_owned(), VERSION.into());
    // Without the key a reader would take `import`.
    object.insert("source".to_owned(), past.source.clone().into());
    inert(&Value::Object(object).to_string())
}

fn put_course(object: &mut Map<String, Value>, course: &Course) {
    let mut put = |key: &str, value: Option<Value>| {
        if let Some(value) = value {
            object.insert(key.to_owned(), value);
        }
    };
    let time = |at: Option<Timestamp>| at.map(|at| at.to_string().into());
    let person = |name: &Option<String>| {
        let name = name.clone().filter(|name| !name.is_empty());
        name.map(Value::String)
    };
    put("status", course.status.map(|status| status.word().into()));
    put(
        "severity",
        course.severity.map(|severity| severity.to_string().into()),
    );
    put("severity_by", person(&course.severity_by));
    put("detected_at", time(course.detected_at));
    put("reported_at", time(course.reported_at));
    put("acknowledged_at", time(course.acknowledged_at));
    put("mitigated_at", time(course.mitigated_at));
    let impact = &course.impact;
    let said: Map<String, Value> = [
        ("who", &impact.who),
        ("what", &impact.what),
        ("how_many", &impact.how_many),
        ("workaround", &impact.workaround),
        ("data", &impact.data),
    ]
    .into_iter()
    .filter(|(_, words)| !words.is_empty())
    .map(|(key, words)| (key.to_owned(), words.clone().into()))
    .collect();
    put("impact", (!said.is_empty()).then_some(said.into()));
    put("lead", person(&course.lead));
    put("comms_lead", person(&course.comms_lead));
    put(
        "prevention_done",
        course.prevention_done.then_some(true.into()),
    );
    let withdrawn: Vec<Value> = course
        .withdrawn
        .iter()
        .map(|one| {
            let mut value = serde_json::to_value(&one.attempt).unwrap_or_default();
            if let Some(fields) = value.as_object_mut() {
                fields.insert("place".to_owned(), one.place.into());
            }
            value
        })
        .collect();
    put(
        "withdrawn",
        (!withdrawn.is_empty()).then_some(withdrawn.into()),
    );
    let events: Vec<Value> = course
        .events
        .iter()
        .map(|event| {
            let mut fields = Map::new();
            fields.insert("at".to_owned(), event.at.to_string().into());
            fields.insert("by".to_owned(), event.by.clone().into());
            fields.insert("what".to_owned(), event.what.clone().into());
            if !event.detail.is_null() {
                fields.insert("detail".to_owned(), event.detail.clone());
            }
            Value::Object(fields)
        })
        .collect();
    put("events", (!events.is_empty()).then_some(events.into()));
}

/// Writes a service as a line, without the line's end; `None` where only its name is known, which
/// the lines of its incidents say.
pub fn write_service(service: &Service) -> Option<String> {
    if *service == Service::named(&service.name) {
        return None;
    }
    let mut object = Map::new();
    object.insert("record".to_owned(), "service".into());
    object.insert("version".to_owned(), VERSION.into());
    if let Ok(Value::Object(fields)) = serde_json::to_value(service) {
        object.extend(
            fields
                .into_iter()
                .filter(|(_, value)| value.as_array().is_none_or(|list| !list.is_empty())),
        );
    }
    Some(inert(&Value::Object(object).to_string()))
}

fn text(object: &Map<String, Value>, key: &str) -> Result<Option<String>, String> {
    match object.get(key) {
        None => Ok(None),
        Some(Value::String(text)) => Ok(Some(text.clone())),
        Some(Value::Number(number)) => Ok(Some(number.to_string())),
        Some(_) => Err(format!("{key} is not text")),
    }
}

fn texts(object: &Map<String, Value>, key: &str) -> Result<Vec<String>, String> {
    match object.get(key) {
        None => Ok(Vec::new()),
        Some(Value::String(text)) if text.trim().is_empty() => Ok(Vec::new()),
        Some(Value::String(text)) => Ok(vec![text.clone()]),
        Some(Value::Array(list)) => list
            .iter()
            .map(|item| match item {
                Value::String(text) => Ok(text.clone()),
                Value::Number(number) => Ok(number.to_string()),
                _ => Err(format!("{key} is not a list of texts")),
            })
            .collect(),
        Some(_) => Err(format!("{key} is neither text nor a list of texts")),
    }
}

fn id(object: &Map<String, Value>, key: &str) -> Result<Option<IncidentId>, String> {
    let Some(written) = text(object, key)? else {
        return Ok(None);
    };
    if written.trim().is_empty() {
        return Ok(None);
    }
    IncidentId::parse(&written)
        .map(Some)
        .ok_or_else(|| format!("{key} does not read like 12, #12 or INC-12"))
}

fn outcome(object: &Map<String, Value>) -> Result<Outcome, String> {
    let Some(word) = text(object, "outcome")?.filter(|word| !word.trim().is_empty()) else {
        return Ok(Outcome::Unknown);
    };
    Outcome::parse(&word).ok_or_else(|| {
        "outcome is none of held, mitigated, no_effect, came_back, made_worse, unknown, verified, refuted, hypothesis".to_owned()
    })
}

fn attempt(value: &Value) -> Result<FixAttempt, String> {
    let Value::Object(object) = value else {
        return Err("an attempt is not a JSON object".to_owned());
    };
    let mut object = object.clone();
    object.retain(|_, value| !value.is_null());
    let in_attempt = |reason: String| format!("in an attempt, {reason}");
    Ok(FixAttempt {
        fix: text(&object, "fix")
            .map_err(in_attempt)?
            .unwrap_or_default(),
        outcome: outcome(&object).map_err(in_attempt)?,
        at: time(&object, "at").map_err(in_attempt)?,
        by: text(&object, "by").map_err(in_attempt)?.unwrap_or_default(),
        environment: text(&object, "environment").map_err(in_attempt)?,
        note: text(&object, "note")
            .map_err(in_attempt)?
            .unwrap_or_default(),
    })
}

fn time(object: &Map<String, Value>, key: &str) -> Result<Option<Timestamp>, String> {
    let Some(written) = text(object, key)? else {
        return Ok(None);
    };
    let written = written.trim();
    if written.is_empty() {
        return Ok(None);
    }
    if let Ok(at) = written.parse::<Timestamp>() {
        return Ok(Some(at));
    }
    let civil = written
        .parse::<DateTime>()
        .or_else(|_| written.parse::<Date>().map(|date| date.at(0, 0, 0, 0)));
    civil
        .ok()
        .and_then(|civil| TimeZone::UTC.to_timestamp(civil).ok())
        .map(Some)
        .ok_or_else(|| format!("{key} is not a time such as 2026-05-14T03:00:00Z"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_line_acts_on_nobody_and_reads_back_as_it_was() {
        for title in [
            "@everyone, see <@81384788765712384>, @HERE",
            "\u{202E}deifirev\u{202C} \u{200B}\u{E0041}",
            "a\\@here \"@everyone\"",
            "mail a@b.example, 支付服务, 🔥",
        ] {
            let mut past = PastIncident::new(IncidentId::new(7).expect("not zero"), title);
            past.source = "import".into();
            let line = write_line(&past, None);
            for never in [
                "@everyone",
                "@HERE",
                "@here",
                "<@",
                "\u{202E}",
                "\u{200B}",
                "\u{E0041}",
            ] {
                assert!(!line.contains(never), "{never:?} in {line}");
            }
            let read = parse_line(&line).expect("a line of ours");
            assert_eq!(read.past.title, title);
        }
    }

    #[test]
    fn lines_that_are_no_incident() {
        for (line, reason) in [
            ("", "it is not JSON (column 0)"),
            ("{", "it is not JSON (column 1)"),
            ("[]", "it is not a JSON object"),
            ("{}", "it has no title"),
            (r#"{"title": "  "}"#, "it has no title"),
            (r#"{"title": ["a"]}"#, "title is not text"),
            (
                r#"{"title": "a", "id": "12a"}"#,
                "id does not read like 12, #12 or INC-12",
            ),
            (
                r#"{"title": "a", "id": 0}"#,
                "id does not read like 12, #12 or INC-12",
            ),
            (
                r#"{"title": "a", "started_at": "yesterday"}"#,
                "started_at is not a time such as 2026-05-14T03:00:00Z",
            ),
            (
                r#"{"title": "a", "symptoms": [{}]}"#,
                "symptoms is not a list of texts",
            ),
            (
                r#"{"title": "a", "symptoms": true}"#,
                "symptoms is neither text nor a list of texts",
            ),
            (
                r#"{"title": "a", "attempts": {}}"#,
                "attempts is not a list",
            ),
            (
                r#"{"title": "a", "attempts": ["x"]}"#,
                "an attempt is not a JSON object",
            ),
            (
                r#"{"title": "a", "attempts": [{"fix": "x", "at": "soon"}]}"#,
                "in an attempt, at is not a time such as 2026-05-14T03:00:00Z",
            ),
            (
                r#"{"title": "a", "private_to": ""}"#,
                "private_to names no channel",
            ),
            (
                r#"{"title": "a", "status": "investigating"}"#,
                "status is none of resolved, closed, false_alarm, merged",
            ),
            (
                r#"{"title": "a", "severity": "bad"}"#,
                "severity is none of SEV1, SEV2, SEV3, SEV4",
            ),
            (
                r#"{"title": "a", "impact": 7}"#,
                "impact is not a JSON object",
            ),
            (
                r#"{"title": "a", "impact": {"who": []}}"#,
                "in impact, who is not text",
            ),
            (
                r#"{"title": "a", "prevention_done": "yes"}"#,
                "prevention_done is not true or false",
            ),
            (
                r#"{"title": "a", "mitigated_at": "soon"}"#,
                "mitigated_at is not a time such as 2026-05-14T03:00:00Z",
            ),
            (
                r#"{"title": "a", "withdrawn": [{"fix": "x"}]}"#,
                "in withdrawn, place is not a whole number from 1 on",
            ),
            (
                r#"{"title": "a", "withdrawn": {}}"#,
                "withdrawn is not a list",
            ),
            (
                r#"{"title": "a", "events": [{"at": "2026-05-14"}]}"#,
                "in an event, what is missing",
            ),
            (
                r#"{"title": "a", "events": [{"what": "opened"}]}"#,
                "in an event, at is missing",
            ),
            (
                r#"{"title": "a", "events": [7]}"#,
                "an event is not a JSON object",
            ),
        ] {
            assert_eq!(parse_line(line), Err(reason.to_owned()), "{line}");
        }
        let wrong_outcome = parse_line(r#"{"title": "a", "fix": "b", "outcome": "great"}"#);
        assert!(wrong_outcome.is_err_and(|reason| reason.starts_with("outcome is none of held")));
        let deep = format!(r#"{{"title": "a", "x": {}"#, "[".repeat(100_000));
        assert!(parse_line(&deep).is_err());
    }

    #[test]
    fn ids_times_lists_and_outcomes_in_their_spellings() {
        for id in [r#"12"#, r##""#12""##, r#""INC-12""#, r#""inc 12""#] {
            let line = parse_line(&format!(r#"{{"title": "a", "id": {id}}}"#));
            assert_eq!(line.map(|line| line.id), Ok(IncidentId::new(12)), "{id}");
        }
        for (written, expected) in [
            ("2026-05-14T03:00:00Z", "2026-05-14T03:00:00Z"),
            ("2026-05-14T05:00:00+02:00", "2026-05-14T03:00:00Z"),
            ("2026-05-14", "2026-05-14T00:00:00Z"),
            ("2026-05-14T03:00:00", "2026-05-14T03:00:00Z"),
            ("2026-05-14 03:00", "2026-05-14T03:00:00Z"),
        ] {
            let line = parse_line(&format!(r#"{{"title": "a", "started_at": "{written}"}}"#));
            assert_eq!(
                line.map(|line| line.past.started_at.map(|at| at.to_string())),
                Ok(Some(expected.to_owned())),
                "{written}"
            );
        }
        for (list, expected) in [
            (r#"["a", "b"]"#, vec!["a", "b"]),
            (r#""a""#, vec!["a"]),
            (r#"" ""#, vec![]),
            ("null", vec![]),
        ] {
            let line = parse_line(&format!(r#"{{"title": "t", "symptoms": {list}}}"#))
                .expect("a good line");
            assert_eq!(line.past.symptoms, expected, "{list}");
        }
        for (word, expected) in [
            (r#""verified""#, Outcome::Held),
            (r#""refuted""#, Outcome::NoEffect),
            (r#""hypothesis""#, Outcome::Unknown),
            (r#""Came Back""#, Outcome::CameBack),
            ("null", Outcome::Unknown),
        ] {
            let line = parse_line(&format!(
                r#"{{"title": "t", "fix": "restart", "outcome": {word}}}"#
            ))
            .expect("a good line");
            assert_eq!(line.past.outcome(), expected, "{word}");
        }
    }

    #[test]
    fn lines_of_versions_and_kinds() {
        for (line, expected) in [
            (r#"{"title": "a"}"#, Ok(())),
            (r#"{"title": "a", "version": 1}"#, Ok(())),
            (
                r#"{"title": "a", "version": null, "record": "incident"}"#,
                Ok(()),
            ),
            (
                r#"{"title": "a", "version": 2}"#,
                Err(
                    "it is of version 2 of the format, and this Precedent reads up to 1: import it with a newer one",
                ),
            ),
            (
                r#"{"record": "service", "name": "pay", "version": 7}"#,
                Err(
                    "it is of version 7 of the format, and this Precedent reads up to 1: import it with a newer one",
                ),
            ),
            (
                r#"{"title": "a", "version": 0}"#,
                Err("version is not a whole number from 1 on"),
            ),
            (
                r#"{"title": "a", "version": "1"}"#,
                Err("version is not a whole number from 1 on"),
            ),
            (
                r#"{"title": "a", "record": "dream"}"#,
                Err("record is neither incident nor service"),
            ),
            (r#"{"record": "service"}"#, Err("it has no name")),
            (
                r#"{"record": "service", "name": "pay", "owners": "x"}"#,
                Err("owners is not a list"),
            ),
            (
                r#"{"record": "service", "name": "pay", "owners": [{"role": "x"}]}"#,
                Err("an owner has no name"),
            ),
            (
                r#"{"record": "service", "name": "pay", "runbooks": ["javascript:x"]}"#,
                Err("runbooks are not addresses with http or https"),
            ),
            (
                r#"{"record": "service", "name": "pay", "owners": ["on call: bob"]}"#,
                Ok(()),
            ),
        ] {
            let read = parse_record(line).map(drop);
            assert_eq!(read, expected.map_err(str::to_owned), "{line}");
        }
        assert_eq!(
            parse_line(r#"{"record": "service", "name": "pay"}"#).map(drop),
            Err("it is no incident".to_owned())
        );
        assert_eq!(write_service(&Service::named("pay")), None);
    }

    #[test]
    fn unknown_keys_are_named() {
        let line = parse_line(r#"{"title": "a", "sev": 2, "fixx": "b"}"#).expect("a good line");
        assert_eq!(line.unknown_keys, ["fixx", "sev"]);
    }

    fn any_time() -> impl Strategy<Value = Option<Timestamp>> {
        proptest::option::of(
            (0_i64..4_000_000_000_000)
                .prop_map(|ms| Timestamp::from_millisecond(ms).unwrap_or_default()),
        )
    }

    fn any_attempt() -> impl Strategy<Value = FixAttempt> {
        (
            any::<String>(),
            proptest::sample::select(Outcome::ALL.to_vec()),
            any_time(),
            any::<String>(),
            proptest::option::of(any::<String>()),
            any::<String>(),
        )
            .prop_map(|(fix, outcome, at, by, environment, note)| FixAttempt {
                fix,
                outcome,
                at,
                by,
                environment,
                note,
            })
    }

    fn any_link() -> impl Strategy<Value = Option<IncidentId>> {
        (0_u32..2000).prop_map(IncidentId::new)
    }

    fn any_past() -> impl Strategy<Value = PastIncident> {
        let texts = || proptest::collection::vec(any::<String>(), 0..3);
        (
            ("\\PC{0,8}[a-z]\\PC{0,8}", 1_u32..2000, any::<bool>()),
            (
                proptest::option::of("[a-z]{1,5}"),
                proptest::option::of("[a-z]{1,5}"),
            ),
            (any_time(), any_time(), any_link(), any_link()),
            (texts(), texts(), texts()),
            (any::<String>(), any::<String>(), any::<String>()),
            proptest::collection::vec(any_attempt(), 0..3),
        )
            .prop_map(
                |(
                    (title, id, cause_confirmed),
                    (service, environment),
                    (started_at, resolved_at, duplicate_of, parent),
                    (symptoms, error_signatures, ruled_out),
                    (root_cause, prevention, source),
                    attempts,
                )| PastIncident {
                    id: IncidentId::new(id).expect("from 1"),
                    title,
                    service,
                    environment,
                    started_at,
                    resolved_at,
                    symptoms,
                    error_signatures,
                    root_cause,
                    cause_confirmed,
                    attempts,
                    ruled_out,
                    prevention,
                    source,
                    duplicate_of,
                    parent,
                },
            )
    }

    fn any_course() -> impl Strategy<Value = Course> {
        let person = || proptest::option::of("[0-9]{0,19}:?\\PC{1,9}");
        let event = (
            0_i64..4_000_000_000_000,
            any::<String>(),
            "\\PC{1,9}",
            any_detail(),
        );
        (
            (
                proptest::option::of(proptest::sample::select(vec![
                    Status::Resolved,
                    Status::Closed,
                    Status::FalseAlarm,
                    Status::Merged,
                ])),
                proptest::option::of(proptest::sample::select(Severity::ALL.to_vec())),
                person(),
                person(),
                person(),
            ),
            (
                any_time(),
                any_time(),
                any_time(),
                any_time(),
                any::<bool>(),
            ),
            (
                any::<String>(),
                any::<String>(),
                any::<String>(),
                any::<String>(),
                any::<String>(),
            ),
            proptest::collection::vec((1_u32..9, any_attempt()), 0..3),
            proptest::collection::vec(event, 0..4),
        )
            .prop_map(|(ends, times, words, withdrawn, events)| Course {
                status: ends.0,
                severity: ends.1,
                severity_by: ends.2,
                lead: ends.3,
                comms_lead: ends.4,
                detected_at: times.0,
                reported_at: times.1,
                acknowledged_at: times.2,
                mitigated_at: times.3,
                prevention_done: times.4,
                impact: Impact {
                    who: words.0,
                    what: words.1,
                    how_many: words.2,
                    workaround: words.3,
                    data: words.4,
                },
                withdrawn: withdrawn
                    .into_iter()
                    .map(|(place, attempt)| Withdrawn { place, attempt })
                    .collect(),
                events: events
                    .into_iter()
                    .map(|(ms, by, what, detail)| PastEvent {
                        at: Timestamp::from_millisecond(ms).unwrap_or_default(),
                        by,
                        what,
                        detail,
                    })
                    .collect(),
            })
    }

    fn any_detail() -> impl Strategy<Value = Value> {
        prop_oneof![
            Just(Value::Null),
            (any::<String>(), any::<i64>(), any::<bool>()).prop_map(|(text, number, yes)| {
                serde_json::json!({"to": text, "attempt": number, "from": null, "more": [yes]})
            }),
        ]
    }

    proptest! {
        #[test]
        fn a_line_written_is_the_record_read(
            past in any_past(), course in any_course(),
            private in proptest::option::of("[0-9]{1,19}"),
        ) {
            let line = write_incident(&past, &course, private.as_deref());
            prop_assert!(!line.contains('\n'));
            let read = parse_line(&line).expect("what is written can be read");
            prop_assert_eq!(read.id, Some(past.id));
            prop_assert_eq!(read.past, past);
            prop_assert_eq!(read.course, course);
            prop_assert_eq!(read.private_to, private);
            prop_assert_eq!(read.unknown_keys, Vec::<String>::new());
        }

        #[test]
        fn any_text_is_an_incident_or_a_reason(line in any::<String>()) {
            if let Err(reason) = parse_line(&line) {
                prop_assert!(!reason.is_empty());
            }
        }
    }

    fn any_service() -> impl Strategy<Value = Service> {
        let texts = || proptest::collection::vec(any::<String>(), 0..3);
        (
            "[a-z支][a-z0-9-]{0,20}",
            texts(),
            texts(),
            texts(),
            proptest::collection::vec((any::<String>(), "[a-z]{1,9}"), 0..3),
            any::<String>(),
            proptest::collection::vec("https://wiki/[a-z]{0,9}", 0..3),
        )
            .prop_map(
                |(name, aliases, high_risk, apart, owners, repository, runbooks)| Service {
                    name,
                    aliases,
                    high_risk,
                    environments_apart: apart,
                    owners: owners
                        .into_iter()
                        .map(|(role, name)| Owner { role, name })
                        .collect(),
                    repository,
                    runbooks,
                },
            )
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn a_service_is_read_back_as_it_was_written(service in any_service()) {
            match write_service(&service) {
                Some(line) => {
                    prop_assert!(!line.contains('\n'));
                    prop_assert_eq!(parse_record(&line), Ok(Record::Service(service, vec![])));
                }
                None => prop_assert_eq!(service.clone(), Service::named(service.name)),
            }
        }
    }
}

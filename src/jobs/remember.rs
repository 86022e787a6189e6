//! Import and export: lines of [`crate::memory::format`] into the store and out of it.
//!
//! Wanted: a bad line costs itself alone, and is named with its number; what was stored stays the
//! same when the same file comes again; no text is stored before it was redacted.

use crate::incident::{
    Course, FixAttempt, Impact, IncidentId, Owner, PastEvent, PastIncident, Service, Withdrawn,
};
use crate::memory::format::{LONGEST_LINE, Record, parse_record, write_incident, write_service};
use crate::store::{Entry, PutOutcome, Scope, Store, StoreError, StoredRecord};
use jiff::Timestamp;
use serde_json::Value;
use std::collections::BTreeMap;
use std::io::{BufRead, Read, Write};
use thiserror::Error;

/// Lines stored in one transaction.
const BATCH: usize = 1000;
/// Bad lines that are named; more are only counted.
const NAMED_FAILURES: usize = 100;
/// Unknown keys that are named.
const NAMED_KEYS: usize = 50;

/// An import or export that could not go on.
#[derive(Debug, Error)]
pub enum RememberError {
    /// The lines could not be read or written.
    #[error("the lines could not be read or written")]
    Io(#[from] std::io::Error),
    /// The database could not store or give them.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// What became of an import.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ImportReport {
    /// Records stored under a free number.
    pub added: u64,
    /// Records stored in place of one that had the number.
    pub replaced: u64,
    /// Services registered, or replaced.
    pub services: u64,
    /// Lines that were not stored.
    pub failed: u64,
    /// The first of these: number from 1, and why, in a sentence.
    pub failures: Vec<(u64, String)>,
    /// Keys that mean nothing here, and on how many lines each stood.
    pub unknown_keys: BTreeMap<String, u64>,
    /// The lowest and highest number stored.
    pub numbers: Option<(IncidentId, IncidentId)>,
    /// Strict, and a line was bad: nothing was stored.
    pub refused: bool,
}

impl ImportReport {
    fn fail(&mut self, line: u64, reason: String) {
        self.failed += 1;
        if self.failures.len() < NAMED_FAILURES {
            self.failures.push((line, reason));
        }
    }

    fn note_keys(&mut self, unknown: Vec<String>) {
        for key in unknown {
            if self.unknown_keys.len() < NAMED_KEYS || self.unknown_keys.contains_key(&key) {
                *self.unknown_keys.entry(key).or_default() += 1;
            }
        }
    }

    fn stored(&mut self, id: IncidentId) {
        self.numbers = Some(match self.numbers {
            Some((low, high)) => (low.min(id), high.max(id)),
            None => (id, id),
        });
    }
}

/// How an import is done.
#[derive(Clone, Copy)]
pub struct ImportOptions<'a> {
    /// The time of the import.
    pub now: Timestamp,
    /// Applied to every text before it is stored (R22).
    pub redact: &'a (dyn Fn(&str) -> String + Sync),
    /// With one bad line, nothing is stored.
    pub strict: bool,
}

/// Stores every line of the reader that is an incident.
///
/// # Errors
///
/// Where reading or storing fails; what was stored before stays, and coming again with the same
/// lines goes on from there.
pub async fn import<R: BufRead + Send>(
    store: &Store,
    guild: &str,
    mut reader: R,
    options: ImportOptions<'_>,
    progress: impl Fn(&ImportReport) + Send,
) -> Result<ImportReport, RememberError> {
    let mut report = ImportReport::default();
    // Only strictness has to hold everything until the last line is known to be good.
    let mut batch: Vec<(u64, Entry, Course)> = Vec::new();
    let mut services: Vec<Service> = Vec::new();
    let mut number = 0;
    while let Some(line) = next_line(&mut reader)? {
        number += 1;
        let text = match line {
            Ok(text) if text.trim().is_empty() => continue,
            Ok(text) => text,
            Err(reason) => {
                report.fail(number, reason);
                continue;
            }
        };
        let text = text.strip_prefix('\u{feff}').unwrap_or(&text);
        match parse_record(text) {
            Ok(Record::Service(service, unknown_keys)) => {
                report.note_keys(unknown_keys);
                services.push(redacted_service(service, options.redact));
            }
            Ok(Record::Incident(line)) => {
                let line = *line;
                report.note_keys(line.unknown_keys);
                let entry = Entry {
                    id: line.id,
                    past: redacted(line.past, options.redact),
                    private_to: line.private_to,
                };
                batch.push((number, entry, redacted_course(line.course, options.redact)));
            }
            Err(reason) => report.fail(number, reason),
        }
        if batch.len() >= BATCH && !options.strict {
            put_services(store, guild, &mut services, &mut report).await?;
            put(store, guild, &mut batch, options, &mut report).await?;
            progress(&report);
        }
    }
    if options.strict && report.failed > 0 {
        report.refused = true;
        return Ok(report);
    }
    put_services(store, guild, &mut services, &mut report).await?;
    put(store, guild, &mut batch, options, &mut report).await?;
    if report.added > MANY {
        store.look_over().await?;
    }
    progress(&report);
    Ok(report)
}

/// From so many new records on, what the database knows of itself is out of date.
const MANY: u64 = 100;

/// Services come before the incidents that name them.
async fn put_services(
    store: &Store,
    guild: &str,
    services: &mut Vec<Service>,
    report: &mut ImportReport,
) -> Result<(), RememberError> {
    if !services.is_empty() {
        report.services += store.put_services(guild, services).await?;
        services.clear();
    }
    Ok(())
}

async fn put(
    store: &Store,
    guild: &str,
    batch: &mut Vec<(u64, Entry, Course)>,
    options: ImportOptions<'_>,
    report: &mut ImportReport,
) -> Result<(), RememberError> {
    let mut numbers = Vec::with_capacity(batch.len());
    let mut entries = Vec::with_capacity(batch.len());
    let mut courses = Vec::with_capacity(batch.len());
    for (number, entry, course) in batch.drain(..) {
        numbers.push(number);
        entries.push(entry);
        courses.push(course);
    }
    if entries.is_empty() {
        return Ok(());
    }
    let outcomes = store
        .put_past(guild, &entries, options.now, options.strict)
        .await?;
    if options.strict {
        report.refused = outcomes
            .iter()
            .any(|outcome| matches!(outcome, PutOutcome::Refused(_)));
    }
    if !report.refused {
        put_courses(store, guild, &outcomes, &courses).await?;
    }
    for (number, outcome) in numbers.into_iter().zip(outcomes) {
        match outcome {
            PutOutcome::Added(_) | PutOutcome::Replaced(_) if report.refused => {}
            PutOutcome::Added(id) => {
                report.added += 1;
                report.stored(id);
            }
            PutOutcome::Replaced(id) => {
                report.replaced += 1;
                report.stored(id);
            }
            PutOutcome::Refused(reason) => report.fail(number, reason),
        }
    }
    Ok(())
}

/// Keeps how the stored ones ran.
pub(super) async fn put_courses(
    store: &Store,
    guild: &str,
    outcomes: &[PutOutcome],
    courses: &[Course],
) -> Result<(), StoreError> {
    let stored: Vec<(IncidentId, &Course)> = outcomes
        .iter()
        .zip(courses)
        .filter_map(|(outcome, course)| match outcome {
            PutOutcome::Added(id) | PutOutcome::Replaced(id) => Some((*id, course)),
            PutOutcome::Refused(_) => None,
        })
        .collect();
    store.put_courses(guild, &stored).await
}

/// The next line: its text, or why it is none; `None` at the end.
fn next_line<R: BufRead>(reader: &mut R) -> std::io::Result<Option<Result<String, String>>> {
    let mut bytes = Vec::new();
    let longest = u64::try_from(LONGEST_LINE).unwrap_or(u64::MAX);
    let read = reader
        .by_ref()
        .take(longest + 1)
        .read_until(b'\n', &mut bytes)?;
    if read == 0 {
        return Ok(None);
    }
    if bytes.last() != Some(&b'\n') && bytes.len() > LONGEST_LINE {
        // The rest of it, without keeping it.
        loop {
            let chunk = reader.fill_buf()?;
            if chunk.is_empty() {
                break;
            }
            match chunk.iter().position(|byte| *byte == b'\n') {
                Some(end) => {
                    reader.consume(end + 1);
                    break;
                }
                None => {
                    let length = chunk.len();
                    reader.consume(length);
                }
            }
        }
        return Ok(Some(Err(format!(
            "it is longer than {} MiB",
            LONGEST_LINE / 1024 / 1024
        ))));
    }
    Ok(Some(
        String::from_utf8(bytes).map_err(|_| "it is not UTF-8".to_owned()),
    ))
}

/// The record with every text redacted.
pub(super) fn redacted(
    past: PastIncident,
    redact: &(dyn Fn(&str) -> String + Sync),
) -> PastIncident {
    let all = |texts: Vec<String>| texts.iter().map(|text| redact(text)).collect();
    let some = |text: Option<String>| text.as_deref().map(redact);
    PastIncident {
        id: past.id,
        title: redact(&past.title),
        service: some(past.service),
        environment: some(past.environment),
        started_at: past.started_at,
        resolved_at: past.resolved_at,
        symptoms: all(past.symptoms),
        error_signatures: all(past.error_signatures),
        root_cause: redact(&past.root_cause),
        cause_confirmed: past.cause_confirmed,
        attempts: past
            .attempts
            .into_iter()
            .map(|attempt| redacted_attempt(attempt, redact))
            .collect(),
        ruled_out: all(past.ruled_out),
        prevention: redact(&past.prevention),
        source: redact(&past.source),
        duplicate_of: past.duplicate_of,
        parent: past.parent,
    }
}

/// How it ran, with every text redacted.
pub(super) fn redacted_course(course: Course, redact: &(dyn Fn(&str) -> String + Sync)) -> Course {
    // A person is an id and a name: the id is no number of a card.
    let person = |text: &str| match text.split_once(':') {
        Some((id, name)) if !id.is_empty() && id.bytes().all(|b| b.is_ascii_digit()) => {
            format!("{id}:{}", redact(name))
        }
        _ => redact(text),
    };
    let some = |text: Option<String>| text.as_deref().map(person);
    Course {
        severity_by: some(course.severity_by),
        impact: Impact {
            who: redact(&course.impact.who),
            what: redact(&course.impact.what),
            how_many: redact(&course.impact.how_many),
            workaround: redact(&course.impact.workaround),
            data: redact(&course.impact.data),
        },
        lead: some(course.lead),
        comms_lead: some(course.comms_lead),
        withdrawn: course
            .withdrawn
            .into_iter()
            .map(|one| Withdrawn {
                place: one.place,
                attempt: redacted_attempt(one.attempt, redact),
            })
            .collect(),
        events: course
            .events
            .into_iter()
            .map(|mut event| {
                each_text(&mut event.detail, &person);
                PastEvent {
                    by: person(&event.by),
                    what: redact(&event.what),
                    ..event
                }
            })
            .collect(),
        ..course
    }
}

/// Changes every text of a document, without a call for each level of it.
fn each_text(value: &mut Value, change: &dyn Fn(&str) -> String) {
    let mut waiting = vec![value];
    while let Some(value) = waiting.pop() {
        match value {
            Value::String(text) => *text = change(text),
            Value::Array(items) => waiting.extend(items),
            Value::Object(fields) => waiting.extend(fields.values_mut()),
            _ => {}
        }
    }
}

fn redacted_attempt(attempt: FixAttempt, redact: &(dyn Fn(&str) -> String + Sync)) -> FixAttempt {
    FixAttempt {
        fix: redact(&attempt.fix),
        outcome: attempt.outcome,
        at: attempt.at,
        by: redact(&attempt.by),
        environment: attempt.environment.as_deref().map(redact),
        note: redact(&attempt.note),
    }
}

/// The service with every text redacted. Addresses were read as such, and hold no password.
fn redacted_service(service: Service, redact: &(dyn Fn(&str) -> String + Sync)) -> Service {
    let all = |texts: Vec<String>| texts.iter().map(|text| redact(text)).collect();
    Service {
        name: redact(&service.name),
        aliases: all(service.aliases),
        high_risk: all(service.high_risk),
        environments_apart: all(service.environments_apart),
        owners: service
            .owners
            .into_iter()
            .map(|owner| Owner {
                role: redact(&owner.role),
                name: redact(&owner.name),
            })
            .collect(),
        repository: redact(&service.repository),
        runbooks: service.runbooks,
    }
}

/// What was exported.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Exported {
    /// Incidents.
    pub incidents: u64,
    /// Services of which more is known than their name.
    pub services: u64,
}

/// Whose records are exported.
#[derive(Clone, Copy, Debug)]
pub enum Whose<'a> {
    /// What may be seen from the scope.
    Scope(&'a Scope),
    /// Everything in the guild, private records too: for its operator.
    Operator(&'a str),
}

/// Writes the services of which more is known than their name, and then every past record, a line
/// each, by number; gives how many. Open incidents are left out.
///
/// # Errors
///
/// Where reading or writing fails.
pub async fn export<W: Write + Send>(
    store: &Store,
    whose: Whose<'_>,
    writer: &mut W,
) -> Result<Exported, RememberError> {
    const PAGE: u32 = 1000;
    let mut exported = Exported::default();
    let guild = match whose {
        Whose::Scope(scope) => &scope.guild,
        Whose::Operator(guild) => guild,
    };
    for service in &store.services(guild).await?.services {
        if let Some(line) = write_service(service) {
            writeln!(writer, "{line}")?;
            exported.services += 1;
        }
    }
    let mut after = None;
    loop {
        let page: Vec<StoredRecord> = match whose {
            Whose::Scope(scope) => store.records(scope, after, PAGE).await?,
            Whose::Operator(guild) => store.records_for_operator(guild, after, PAGE).await?,
        };
        let Some(last) = page.last() else {
            writer.flush()?;
            return Ok(exported);
        };
        after = Some(last.past.id);
        let ids: Vec<IncidentId> = page
            .iter()
            .filter(|record| !record.open)
            .map(|record| record.past.id)
            .collect();
        let mut courses = store.courses(guild, &ids).await?;
        for record in page.iter().filter(|record| !record.open) {
            let course = courses.remove(&record.past.id).unwrap_or_default();
            let private_to = record.private_to.as_deref();
            let line = write_incident(&record.past, &course, private_to);
            writeln!(writer, "{line}")?;
            exported.incidents += 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_cut_where_they_end() {
        let long = "x".repeat(LONGEST_LINE + 10);
        let text = format!("one\n\n{long}\ntwo\n{long}");
        let mut reader = std::io::BufReader::new(text.as_bytes());
        let mut lines = Vec::new();
        while let Some(line) = next_line(&mut reader).expect("memory can be read") {
            lines.push(line);
        }
        let too_long = || Err("it is longer than 8 MiB".to_owned());
        assert_eq!(
            lines,
            [
                Ok("one\n".to_owned()),
                Ok("\n".to_owned()),
                too_long(),
                Ok("two\n".to_owned()),
                too_long()
            ]
        );
        let mut latin1 = &b"caf\xe9\n"[..];
        assert_eq!(
            next_line(&mut latin1).expect("memory can be read"),
            Some(Err("it is not UTF-8".to_owned()))
        );
    }
}

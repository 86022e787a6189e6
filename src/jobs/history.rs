//! A team's history: postmortems read, previewed and stored.
//!
//! Wanted: nothing is stored that was not redacted (R22); the same document again is the same
//! record, and a changed one takes its place without losing what people said of its fix since; what
//! could not be read is named with its reason; a preview tells what would happen and stores nothing.

use super::remember::{RememberError, put_courses, redacted, redacted_course};
use crate::discord::attachments::{self, FileNote};
use crate::incident::returns;
use crate::incident::sameness::{self, PeopleSaid};
use crate::incident::{Course, FixAttempt, IncidentId, Outcome, PastIncident, Registry, Times};
use crate::memory::format;
use crate::present::chronicle::{self, Part};
use crate::response::postmortem::{self, LONGEST_DOCUMENT, NotRead, Origin};
use crate::store::{Entry, Incident, PutOutcome, Store};
use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use std::io::Read as _;
use std::path::{Path, PathBuf};

/// Folders below each other that are gone into.
const DEEPEST: usize = 16;
/// Documents of one folder that are read.
const MOST_DOCUMENTS: usize = 50_000;
/// Records stored in one transaction.
const BATCH: usize = 200;

/// A text that may be a postmortem.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Document {
    /// Where it comes from: what makes it the same one when it comes again.
    pub source: String,
    /// Its name: a file's, a thread's.
    pub name: String,
    /// Its text, or why there is none.
    pub text: Result<String, String>,
}

/// What would become of a document, or became of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fate {
    /// A new record.
    Added,
    /// The record it was before is changed.
    Updated,
    /// It is as it was.
    Unchanged,
}

/// A document that was read.
#[derive(Clone, Debug, PartialEq)]
pub struct ReadDocument {
    /// Where it comes from.
    pub source: String,
    /// Of its text before anything was struck.
    pub digest: String,
    /// The record, redacted.
    pub past: PastIncident,
    /// How it ran, as far as a draft's record says.
    pub course: Course,
    /// It was drafted from this incident, and may be edited since.
    pub drafted_from: Option<Drafted>,
}

/// The incident that a draft was written for, as it stood then.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Drafted {
    /// Its number, on the server where it was drafted.
    pub id: IncidentId,
    /// Its title then, redacted.
    pub title: String,
    /// When it began.
    pub started_at: Option<Timestamp>,
    /// When it was reported; what was imported was never.
    pub reported_at: Option<Timestamp>,
    /// The channel that alone sees it.
    #[serde(default)]
    pub private_to: Option<String>,
}

impl Drafted {
    /// Whether it is this incident: each server counts its own numbers.
    fn is(&self, known: &Incident) -> bool {
        match (self.reported_at, known.reported_at) {
            (Some(one), Some(other)) => one == other,
            (None, None) => {
                self.title == known.past.title && self.started_at == known.past.started_at
            }
            _ => false,
        }
    }
}

/// What came of reading and storing documents.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct History {
    /// Those that are incidents, with what became of each.
    pub incidents: Vec<(ReadDocument, Fate)>,
    /// Those that could not be read or stored, with the reason.
    pub unreadable: Vec<(String, String)>,
    /// Those that are no incidents and do not claim to be: a folder's README, a template.
    pub left_out: Vec<(String, String)>,
}

impl History {
    /// How many had this fate.
    pub fn count(&self, fate: Fate) -> usize {
        self.incidents
            .iter()
            .filter(|(_, became)| *became == fate)
            .count()
    }
}

/// The Markdown files of a folder and of those below it, or one file, in the order of their names.
/// Hidden folders and links are not gone into.
///
/// # Errors
///
/// Where `path` itself can't be read.
pub fn documents(path: &Path) -> std::io::Result<Vec<Document>> {
    let mut files: Vec<PathBuf> = Vec::new();
    let mut unreadable: Vec<(PathBuf, String)> = Vec::new();
    if path.is_dir() {
        std::fs::read_dir(path)?;
        walk(path, 0, &mut files, &mut unreadable);
    } else {
        std::fs::metadata(path)?;
        files.push(path.to_owned());
    }
    files.sort();
    let root = if path.is_dir() {
        path
    } else {
        path.parent().unwrap_or(path)
    };
    let named = |file: &Path| {
        file.strip_prefix(root)
            .unwrap_or(file)
            .to_string_lossy()
            .replace('\\', "/")
    };
    let mut out: Vec<Document> = files
        .iter()
        .map(|file| Document {
            source: named(file),
            name: file
                .file_name()
                .map(|name| name.to_string_lossy().into_owned())
                .unwrap_or_default(),
            text: text_of(file),
        })
        .collect();
    out.extend(unreadable.into_iter().map(|(file, reason)| Document {
        source: named(&file),
        name: String::new(),
        text: Err(reason),
    }));
    Ok(out)
}

fn walk(
    folder: &Path,
    depth: usize,
    files: &mut Vec<PathBuf>,
    unreadable: &mut Vec<(PathBuf, String)>,
) {
    let entries = match std::fs::read_dir(folder) {
        Ok(entries) => entries,
        Err(error) => {
            unreadable.push((
                folder.to_owned(),
                format!("the folder can't be read: {error}"),
            ));
            return;
        }
    };
    let mut paths: Vec<(PathBuf, std::fs::FileType)> = entries
        .flatten()
        .filter_map(|entry| Some((entry.path(), entry.file_type().ok()?)))
        .collect();
    paths.sort_by(|one, other| one.0.cmp(&other.0));
    for (path, kind) in paths {
        let name = path
            .file_name()
            .map(|name| name.to_string_lossy().to_lowercase())
            .unwrap_or_default();
        if name.starts_with('.') {
            continue;
        }
        if kind.is_dir() {
            if depth + 1 >= DEEPEST {
                unreadable.push((path, format!("more than {DEEPEST} folders deep")));
            } else {
                walk(&path, depth + 1, files, unreadable);
            }
        } else if kind.is_file() && (name.ends_with(".md") || name.ends_with(".markdown")) {
            if files.len() == MOST_DOCUMENTS {
                unreadable.push((path, format!("more than {MOST_DOCUMENTS} documents")));
                return;
            }
            files.push(path);
        }
    }
}

fn text_of(file: &Path) -> Result<String, String> {
    let most = u64::try_from(LONGEST_DOCUMENT).unwrap_or(u64::MAX);
    let mut bytes = Vec::new();
    std::fs::File::open(file)
        .and_then(|opened| opened.take(4 * most + 1).read_to_end(&mut bytes))
        .map_err(|error| format!("it can't be read: {error}"))?;
    // UTF-16 takes two bytes for one of UTF-8; what is longer than four times is too long anyway.
    if bytes.len() > 4 * LONGEST_DOCUMENT {
        return Err(NotRead::TooLong.to_string());
    }
    attachments::text_in(&bytes).map_err(|note| match note {
        FileNote::Empty => NotRead::Empty.to_string(),
        _ => "it is not text".to_owned(),
    })
}

/// Whether a file's name says that it is not about an incident.
fn is_beside(name: &str) -> bool {
    let stem = name
        .rsplit_once('.')
        .map_or(name, |(stem, _)| stem)
        .to_lowercase();
    [
        "readme",
        "index",
        "changelog",
        "contributing",
        "license",
        "summary",
        "code_of_conduct",
    ]
    .contains(&stem.as_str())
        || stem.contains("template")
        || stem.contains("模板")
}

/// Reads documents into records, all texts redacted, and tells what came back among them (R28).
pub fn read_all(
    documents: Vec<Document>,
    registry: &Registry,
    redact: &(dyn Fn(&str) -> String + Sync),
) -> (Vec<ReadDocument>, History) {
    let mut history = History::default();
    let mut read = Vec::new();
    for document in documents {
        let source = document.source;
        let text = match document.text {
            Ok(text) => text,
            Err(reason) => {
                history.unreadable.push((source, reason));
                continue;
            }
        };
        let origin = Origin {
            name: &document.name,
            source: &source,
            registry,
        };
        let read_here = postmortem::read(&text, &origin);
        if let Some((past, course, mut drafted)) = of_draft(read_here.as_ref().ok(), &text, &origin)
        {
            drafted.title = redact(&drafted.title);
            read.push(ReadDocument {
                digest: digest(&text),
                past: redacted(past, redact),
                source: redact(&source),
                course: redacted_course(course, redact),
                drafted_from: Some(drafted),
            });
            continue;
        }
        match read_here {
            Ok(past)
                if is_beside(&document.name)
                    && past.root_cause.is_empty()
                    && past.attempts.is_empty() =>
            {
                history
                    .left_out
                    .push((redact(&source), NotRead::NoIncident.to_string()));
            }
            Ok(past) => {
                read.push(ReadDocument {
                    digest: digest(&text),
                    past: redacted(past, redact),
                    source: redact(&source),
                    course: Course::default(),
                    drafted_from: None,
                });
            }
            Err(reason) => {
                let beside = is_beside(&document.name) || reason == NotRead::Template;
                let list = if beside {
                    &mut history.left_out
                } else {
                    &mut history.unreadable
                };
                list.push((redact(&source), reason.to_string()));
            }
        }
    }
    came_back(&mut read);
    (read, history)
}

/// A draft of ours carries its record, so that nothing is lost on the way back. What somebody changed
/// in the text since wins: a field that no longer reads as the draft did. `None` where it is no draft;
/// `read` is what the text says to who knows nothing of drafts, if anything.
fn of_draft(
    read: Option<&PastIncident>,
    text: &str,
    origin: &Origin<'_>,
) -> Option<(PastIncident, Course, Drafted)> {
    let line = chronicle::record_in(text).and_then(|line| format::parse_line(line).ok())?;
    let drafted = Drafted {
        id: line.id?,
        title: line.past.title.clone(),
        started_at: line.past.started_at,
        reported_at: line.course.reported_at,
        private_to: line.private_to,
    };
    let mut past = line.past;
    let own = postmortem::read(&chronicle::record_of(text), origin).ok();
    if let Some(read) = own.as_ref().or(read) {
        let changed = chronicle::edited(text, &past, times_of(&past, &line.course));
        for part in changed {
            match part {
                Part::Title => past.title.clone_from(&read.title),
                Part::Service => past.service.clone_from(&read.service),
                Part::Environment => past.environment.clone_from(&read.environment),
                Part::Started => past.started_at = read.started_at,
                Part::Resolved => past.resolved_at = read.resolved_at,
                Part::Symptoms => past.symptoms.clone_from(&read.symptoms),
                Part::Errors => past.error_signatures.clone_from(&read.error_signatures),
                Part::Cause => past.root_cause.clone_from(&read.root_cause),
                Part::Fixes => past.attempts.clone_from(&read.attempts),
                Part::RuledOut => past.ruled_out.clone_from(&read.ruled_out),
                Part::Prevention => past.prevention.clone_from(&read.prevention),
            }
        }
    }
    past.source = match read {
        Some(read) => read.source.clone(),
        None => origin.source.to_owned(),
    };
    Some((past, line.course, drafted))
}

/// The times that a draft showed: what memory takes for the beginning, where nobody said it, it left
/// out.
fn times_of(past: &PastIncident, course: &Course) -> Times {
    Times {
        started: past
            .started_at
            .filter(|at| ![course.reported_at, course.detected_at].contains(&Some(*at))),
        detected: course.detected_at,
        reported: course.reported_at,
        acknowledged: course.acknowledged_at,
        mitigated: course.mitigated_at,
        resolved: past.resolved_at,
    }
}

/// What held by its own postmortem, and came back by another of the same corpus, did not hold (R28).
fn came_back(read: &mut [ReadDocument]) {
    // Until they are stored all have the same number, and a record is no return of itself.
    for (number, document) in (1..).zip(read.iter_mut()) {
        if let Some(id) = IncidentId::new(number) {
            document.past.id = id;
        }
    }
    let mut order: Vec<usize> = (0..read.len()).collect();
    order.sort_by_key(|at| read.get(*at).and_then(|document| document.past.started_at));
    let mut returns: Vec<(usize, String)> = Vec::new();
    // Nobody was asked about these yet: their words alone decide.
    let nobody_yet = PeopleSaid::default();
    for (place, earlier) in order.iter().enumerate() {
        let Some(one) = read.get(*earlier).map(|document| &document.past) else {
            continue;
        };
        let Some(end) = one.resolved_at else { continue };
        for later in order.iter().skip(place + 1) {
            let Some(other) = read.get(*later) else { break };
            let starts = other.past.started_at;
            if starts
                .is_some_and(|at| at.duration_since(end).as_hours() > 24 * returns::RETURN_DAYS)
            {
                break;
            }
            if returns::is_return(&nobody_yet, one, &other.past) {
                returns.push((*earlier, other.source.clone()));
            }
        }
    }
    for (at, source) in returns {
        let attempts = read.get_mut(at).map(|document| &mut document.past.attempts);
        if let Some(attempt) = attempts.and_then(|attempts| attempts.last_mut())
            && attempt.outcome == Outcome::Held
        {
            attempt.outcome = Outcome::CameBack;
            attempt.note = format!("came back: {source}");
        }
    }
}

/// What the text looks like, so that a changed one is known.
pub fn digest(text: &str) -> String {
    Sha256::digest(text.as_bytes())
        .iter()
        .map(|byte| format!("{byte:02x}"))
        .collect()
}

/// Where and when records are stored.
#[derive(Clone, Copy, Debug)]
pub struct Into<'a> {
    /// The guild.
    pub guild: &'a str,
    /// The channel that alone sees them; `None` shares them with the guild.
    pub private_to: Option<&'a str>,
    /// The time.
    pub now: Timestamp,
    /// Tell what would happen, and store nothing.
    pub preview: bool,
}

/// Stores what was read, or tells what would be stored.
///
/// # Errors
///
/// Those of the database; what was stored before stays, and coming again goes on from there.
pub async fn store_all(
    store: Option<&Store>,
    into: Into<'_>,
    read: Vec<ReadDocument>,
    mut history: History,
    progress: impl Fn(usize, usize) + Send,
) -> Result<History, RememberError> {
    let all = read.len();
    let mut done = 0;
    let mut waiting: Vec<(ReadDocument, Option<IncidentId>, Fate)> = Vec::new();
    for mut document in read {
        let known = match store {
            Some(store) => {
                store
                    .imported_document(into.guild, &document.source)
                    .await?
            }
            None => None,
        };
        match known {
            Some(known) if known.digest == document.digest => {
                history.incidents.push((document, Fate::Unchanged));
                done += 1;
            }
            Some(known) => {
                keep_what_people_said(&mut document.past, &known.past);
                waiting.push((document, Some(known.past.id), Fate::Updated));
            }
            None => match its_own(store, into.guild, &document).await? {
                Own::None => waiting.push((document, None, Fate::Added)),
                Own::Ended(known) => {
                    keep_what_people_said(&mut document.past, &known);
                    waiting.push((document, Some(known.id), Fate::Updated));
                }
                Own::Running(id) => {
                    let reason = format!("{id} still runs: resolve it first");
                    history.unreadable.push((document.source, reason));
                    done += 1;
                }
            },
        }
        if waiting.len() >= BATCH {
            done += put(store, into, &mut waiting, &mut history).await?;
            progress(done, all);
        }
    }
    done += put(store, into, &mut waiting, &mut history).await?;
    progress(done, all);
    Ok(history)
}

/// The incident of ours that a draft was written for.
enum Own {
    /// None here: its number may be another server's.
    None,
    /// This one, as it stands.
    Ended(Box<PastIncident>),
    /// This one, and it still runs.
    Running(IncidentId),
}

async fn its_own(
    store: Option<&Store>,
    guild: &str,
    document: &ReadDocument,
) -> Result<Own, RememberError> {
    let (Some(store), Some(drafted)) = (store, &document.drafted_from) else {
        return Ok(Own::None);
    };
    Ok(match store.incident_of_guild(guild, drafted.id).await? {
        Some(known) if drafted.is(&known) => {
            if known.status.is_open() {
                Own::Running(drafted.id)
            } else {
                Own::Ended(Box::new(known.past))
            }
        }
        _ => Own::None,
    })
}

async fn put(
    store: Option<&Store>,
    into: Into<'_>,
    waiting: &mut Vec<(ReadDocument, Option<IncidentId>, Fate)>,
    history: &mut History,
) -> Result<usize, RememberError> {
    let batch: Vec<_> = std::mem::take(waiting);
    let many = batch.len();
    let (false, Some(store)) = (into.preview, store) else {
        history.incidents.extend(
            batch
                .into_iter()
                .map(|(document, _, fate)| (document, fate)),
        );
        return Ok(many);
    };
    if batch.is_empty() {
        return Ok(0);
    }
    let entries: Vec<Entry> = batch
        .iter()
        .map(|(document, id, _)| Entry {
            id: *id,
            past: document.past.clone(),
            // A border that a draft carries holds wherever it is read.
            private_to: into.private_to.map(str::to_owned).or_else(|| {
                let drafted = document.drafted_from.as_ref();
                drafted.and_then(|drafted| drafted.private_to.clone())
            }),
        })
        .collect();
    // A document knows nothing of what was taken back here.
    let known: Vec<IncidentId> = batch.iter().filter_map(|(_, id, _)| *id).collect();
    let mut before = store.courses(into.guild, &known).await?;
    let outcomes = store
        .put_past(into.guild, &entries, into.now, false)
        .await?;
    let courses: Vec<Course> = batch
        .iter()
        .map(|(document, id, _)| {
            let mut course = document.course.clone();
            if let Some(known) = id.and_then(|id| before.remove(&id))
                && course.withdrawn.is_empty()
            {
                course.withdrawn = known.withdrawn;
            }
            course
        })
        .collect();
    put_courses(store, into.guild, &outcomes, &courses).await?;
    let mut notes = Vec::new();
    for ((mut document, _, fate), outcome) in batch.into_iter().zip(outcomes) {
        match outcome {
            PutOutcome::Added(id) | PutOutcome::Replaced(id) => {
                document.past.id = id;
                notes.push((document.source.clone(), document.digest.clone(), id));
                history.incidents.push((document, fate));
            }
            PutOutcome::Refused(reason) => history.unreadable.push((document.source, reason)),
        }
    }
    store.note_documents(into.guild, &notes, into.now).await?;
    Ok(many)
}

/// What people said of a fix since it was imported wins over what the document says of it.
fn keep_what_people_said(new: &mut PastIncident, known: &PastIncident) {
    let by_people = |attempt: &&FixAttempt| attempt.by != "postmortem" && attempt.by != "import";
    // Each word to an attempt of its own: what came back and then held is both.
    let mut taken = vec![false; new.attempts.len()];
    for said in known.attempts.iter().filter(by_people) {
        let free = |exactly: bool| {
            new.attempts
                .iter()
                .zip(&taken)
                .position(|(attempt, taken)| {
                    !taken
                        && sameness::same(&attempt.fix, &said.fix)
                        && (!exactly || attempt.outcome == said.outcome)
                })
        };
        match free(true).or_else(|| free(false)) {
            Some(at) => {
                if let (Some(attempt), Some(taken)) = (new.attempts.get_mut(at), taken.get_mut(at))
                {
                    let fix = std::mem::take(&mut attempt.fix);
                    *attempt = FixAttempt {
                        fix,
                        ..said.clone()
                    };
                    *taken = true;
                }
            }
            None => {
                new.attempts.push(said.clone());
                taken.push(true);
            }
        }
    }
    if known.cause_confirmed && sameness::same(&known.root_cause, &new.root_cause) {
        new.cause_confirmed = true;
    }
    new.duplicate_of = known.duplicate_of;
    new.parent = known.parent;
}

#[cfg(test)]
mod tests {
    use super::*;

    fn document(source: &str, day: &str, more: &str) -> Document {
        Document {
            source: source.to_owned(),
            name: source.to_owned(),
            text: Ok(format!(
                "# Pool empty\n\nService: payments-api\n\nStarted: {day} 02:00 UTC\n\nResolved: {day} 03:00 UTC\n\n## Root cause\n\nThe refund job keeps connections open\n\n## Resolution\n\nStopped the refund job. {more}\n"
            )),
        }
    }

    fn outcomes(documents: Vec<Document>) -> Vec<Outcome> {
        let (read, _) = read_all(documents, &Registry::default(), &|text| text.to_owned());
        read.iter().map(|read| read.past.outcome()).collect()
    }

    #[test]
    fn what_the_same_corpus_shows_coming_back_did_not_hold() {
        for (days, expected) in [
            (
                ["2024-05-14", "2024-05-17"],
                [Outcome::CameBack, Outcome::Held],
            ),
            (["2024-05-14", "2024-07-17"], [Outcome::Held, Outcome::Held]),
        ] {
            let documents = days.map(|day| document(&format!("{day}.md"), day, ""));
            assert_eq!(outcomes(documents.to_vec()), expected, "{days:?}");
        }
    }

    #[test]
    fn what_is_beside_the_incidents_is_no_failure() {
        let beside = |name: &str, text: &str| Document {
            source: name.to_owned(),
            name: name.to_owned(),
            text: Ok(text.to_owned()),
        };
        let (read, history) = read_all(
            vec![
                beside("README.md", "# Postmortems\n\nOur postmortems."),
                beside(
                    "postmortem-template.md",
                    "# Title\n\n## Impact\n\n## Root cause\n\nTBD\n",
                ),
                beside("notes.md", "# Notes\n\nBuy milk."),
            ],
            &Registry::default(),
            &|text| text.to_owned(),
        );
        assert_eq!(read, []);
        assert_eq!(history.left_out.len(), 2, "{history:?}");
        assert_eq!(history.unreadable.len(), 1, "{history:?}");
    }
}

//! Imports from within Discord: a file, or a channel's own past.
//!
//! Wanted: nothing becomes memory before the person who asked has seen what it would be and said
//! yes; what could not be read is named; an import that is run twice stores once; what comes from
//! a private channel is seen from there alone.
//!
//! Of a channel, threads that tell of trouble become records, and so do messages and attached files
//! that are postmortems. Talk is no postmortem: what a thread says ended it stays unproven until
//! somebody says so (`/memory review`).
//!
//! Limits: [`MOST_MESSAGES`] messages of the channel, [`MOST_IN_THREAD`] of a thread, and files up to
//! [`KEPT_BYTES`]; posts of forum channels are threads and are imported one by one.

use super::duty::Duty;
use super::history::{self, Document, Drafted, Fate, History, ReadDocument};
use super::queue::JobError;
use super::remember::{put_courses, redacted, redacted_course};
use super::work::{Click, Import};
use crate::discord::attachments::{CAP_BYTES, KEPT_BYTES};
use crate::discord::{DiscordError, FileNote, FileRef, id_at_ms};
use crate::incident::{Course, IncidentId, Locale, Outcome, PastIncident, Registry};
use crate::memory::format::parse_line;
use crate::present::{self, Action, ImportPreview, say};
use crate::response::postmortem::{self, Origin};
use crate::store::{Entry, PutOutcome, StoreError};
use jiff::Timestamp;
use serde::{Deserialize, Serialize};

/// Messages of a channel that are read at once.
pub const MOST_MESSAGES: usize = 2_000;
/// Messages of one thread that are read.
pub const MOST_IN_THREAD: usize = 200;
/// Records of one import.
const MOST_RECORDS: usize = 2_000;
/// Failures that are kept of one import.
const MOST_FAILURES: usize = 500;
/// Shortest message that may be a postmortem, in characters.
const SHORTEST: usize = 120;
/// Messages of people from which on a thread with trouble in it is an incident.
const TALK: usize = 3;

/// An import that waits for a yes.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
struct Waiting {
    records: Vec<Record>,
    known: usize,
    unreadable: Vec<(String, String)>,
}

/// One record of it, redacted.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct Record {
    /// Where it comes from, where that makes it the same one when it comes again.
    source: Option<String>,
    digest: String,
    /// The number that a line asks for.
    id: Option<IncidentId>,
    past: PastIncident,
    private_to: Option<String>,
    #[serde(default)]
    course: Course,
    #[serde(default)]
    drafted_from: Option<Drafted>,
}

fn again(error: StoreError) -> JobError {
    JobError::again(error.to_string())
}

/// Reads what was asked for and shows the person what it would become.
///
/// # Errors
///
/// Where the database does not answer, or Discord does not for now: the job is run again.
pub async fn read(duty: &Duty, work: Import) -> Result<(), JobError> {
    let duty = &duty.in_guild(work.place.guild);
    let locale = work.who.locale;
    let guild = work.place.guild.to_string();
    let registry = duty.registry(&guild).await;
    let mut waiting = Waiting::default();
    let here = work.place.private.then(|| work.place.channel.to_string());
    if let Some(file) = &work.file {
        read_file(duty, file, here.as_deref(), &registry, locale, &mut waiting).await;
    }
    if let Some(channel) = work.channel {
        read_channel(duty, &work, channel, &registry, &mut waiting).await?;
    }
    // What is known as it is, is not offered again.
    let mut new = Vec::new();
    for record in std::mem::take(&mut waiting.records) {
        let known = match &record.source {
            Some(source) => duty
                .store
                .imported_document(&guild, source)
                .await
                .map_err(again)?,
            None => None,
        };
        match known {
            Some(known) if known.digest == record.digest => waiting.known += 1,
            _ if new.len() < MOST_RECORDS => new.push(record),
            _ => waiting.unreadable.push((
                record.past.title,
                say::over_most_records(locale, MOST_RECORDS),
            )),
        }
    }
    waiting.records = new;
    waiting.unreadable.truncate(MOST_FAILURES);
    let now = Timestamp::now();
    if !waiting.records.is_empty() {
        let content = serde_json::to_string(&waiting)
            .map_err(|_| JobError::never("an import can't be written as JSON"))?;
        duty.store
            .keep_preview(
                &guild,
                &work.reply.interaction.to_string(),
                &work.who.name,
                &content,
                now,
            )
            .await
            .map_err(again)?;
    }
    let records: Vec<PastIncident> = waiting
        .records
        .iter()
        .map(|record| record.past.clone())
        .collect();
    let preview = ImportPreview {
        import: work.reply.interaction,
        new: &records,
        known: waiting.known,
        unreadable: &waiting.unreadable,
    };
    duty.acknowledgements.wait(work.reply.interaction).await;
    duty.answer(&work.reply, &present::import_preview(&preview, locale, now))
        .await;
    Ok(())
}

async fn read_file(
    duty: &Duty,
    file: &FileRef,
    private_to: Option<&str>,
    registry: &Registry,
    locale: Locale,
    waiting: &mut Waiting,
) {
    let read = duty.rest.read_file(file, CAP_BYTES).await;
    let name = duty.responder.redact_text(&file.name);
    let text = match read.note {
        None => read.text,
        Some(FileNote::Beginning { .. } | FileNote::Ends { .. } | FileNote::Shortened { .. }) => {
            let reason = say::file_too_large(locale, KEPT_BYTES / 1024);
            waiting.unreadable.push((name, reason));
            return;
        }
        Some(_) => {
            waiting
                .unreadable
                .push((name, say::file_not_read(locale).to_owned()));
            return;
        }
    };
    let lower = file.name.to_lowercase();
    let lines = [".jsonl", ".ndjson", ".json"]
        .iter()
        .any(|end| lower.ends_with(end));
    if lines {
        read_lines(duty, &text, private_to, waiting);
        return;
    }
    let documents = vec![Document {
        source: file.name.clone(),
        name: file.name.clone(),
        text: Ok(text),
    }];
    take(duty, documents, private_to, registry, waiting);
}

fn read_lines(duty: &Duty, text: &str, private_to: Option<&str>, waiting: &mut Waiting) {
    for (number, line) in (1..).zip(text.lines()) {
        if line.trim().is_empty() {
            continue;
        }
        match parse_line(line) {
            Ok(line) => waiting.records.push(Record {
                source: None,
                digest: String::new(),
                id: line.id,
                past: redacted(line.past, &|text| duty.responder.redact_text(text)),
                // A file posted in a private channel is not shared by being read there.
                private_to: private_to.map(str::to_owned).or(line.private_to),
                course: redacted_course(line.course, &|text| duty.responder.redact_text(text)),
                drafted_from: None,
            }),
            Err(reason) => waiting.unreadable.push((format!("line {number}"), reason)),
        }
    }
}

fn take(
    duty: &Duty,
    documents: Vec<Document>,
    private_to: Option<&str>,
    registry: &Registry,
    waiting: &mut Waiting,
) {
    let redact = |text: &str| duty.responder.redact_text(text);
    let (read, history) = history::read_all(documents, registry, &redact);
    waiting
        .records
        .extend(read.into_iter().map(|document| Record {
            source: Some(document.source),
            digest: document.digest,
            id: None,
            past: document.past,
            private_to: private_to.map(str::to_owned).or_else(|| {
                let drafted = document.drafted_from.as_ref();
                drafted.and_then(|drafted| drafted.private_to.clone())
            }),
            course: document.course,
            drafted_from: document.drafted_from,
        }));
    waiting.unreadable.extend(history.unreadable);
    waiting.unreadable.extend(history.left_out);
}

/// Reads a channel since a moment, or one thread.
async fn read_channel(
    duty: &Duty,
    work: &Import,
    channel: u64,
    registry: &Registry,
    waiting: &mut Waiting,
) -> Result<(), JobError> {
    let locale = work.who.locale;
    let place = match duty.rest.place(channel).await {
        Ok(place) if place.guild == work.place.guild => place,
        Ok(_) => return Ok(()),
        Err(error) => return unreadable(error, format!("<#{channel}>"), locale, waiting),
    };
    let private_to = place.private.then(|| channel.to_string());
    let after = id_at_ms(work.since_ms);
    if place.thread {
        return read_thread(
            duty,
            &Thread {
                guild: place.guild,
                id: channel,
                name: duty
                    .rest
                    .channel(channel)
                    .await
                    .map(|channel| channel.name)
                    .unwrap_or_default(),
                starter: String::new(),
                began_ms: None,
            },
            private_to.as_deref(),
            registry,
            locale,
            waiting,
        )
        .await;
    }
    let messages = match duty.rest.history(channel, after, MOST_MESSAGES).await {
        Ok(messages) => messages,
        Err(error) => return unreadable(error, format!("<#{channel}>"), locale, waiting),
    };
    if messages.is_empty() {
        waiting.unreadable.push((
            format!("<#{channel}>"),
            say::nothing_in_channel(locale).to_owned(),
        ));
    }
    if messages.len() >= MOST_MESSAGES {
        waiting.unreadable.push((
            format!("<#{channel}>"),
            say::only_so_many_messages(locale, MOST_MESSAGES),
        ));
    }
    let me = duty.rest.me().await.map(|me| me.id).ok();
    let mut without_text = 0;
    for message in messages {
        let seen = &message.seen;
        if Some(seen.author.id) == me {
            continue;
        }
        for file in &seen.files {
            let name = file.name.to_lowercase();
            if name.ends_with(".md") || name.ends_with(".markdown") {
                let named = FileRef {
                    name: file.name.clone(),
                    ..file.clone()
                };
                read_file(
                    duty,
                    &named,
                    private_to.as_deref(),
                    registry,
                    locale,
                    waiting,
                )
                .await;
            }
        }
        if let Some((thread, name)) = &message.thread {
            let thread = Thread {
                guild: place.guild,
                id: *thread,
                name: name.clone(),
                starter: seen.text.clone(),
                began_ms: Some(seen.at_ms),
            };
            read_thread(
                duty,
                &thread,
                private_to.as_deref(),
                registry,
                locale,
                waiting,
            )
            .await?;
            continue;
        }
        if seen.text.is_empty() && seen.files.is_empty() {
            without_text += 1;
        }
        // A message that is no postmortem is not a failure: it is talk.
        if seen.text.chars().count() < SHORTEST {
            continue;
        }
        let source = link(place.guild, channel, seen.id);
        let origin = Origin {
            name: "",
            source: &source,
            registry,
        };
        let Ok(mut past) = postmortem::read(&seen.text, &origin) else {
            continue;
        };
        if past.root_cause.is_empty() || past.attempts.is_empty() {
            continue;
        }
        began(&mut past, Some(seen.at_ms));
        waiting.records.push(record(
            duty,
            past,
            source,
            &seen.text,
            private_to.as_deref(),
        ));
    }
    if without_text > 0 {
        waiting.unreadable.push((
            format!("<#{channel}>"),
            say::messages_without_text(locale, without_text),
        ));
    }
    Ok(())
}

struct Thread {
    guild: u64,
    id: u64,
    name: String,
    /// What the message says that it hangs from.
    starter: String,
    began_ms: Option<i64>,
}

async fn read_thread(
    duty: &Duty,
    thread: &Thread,
    private_to: Option<&str>,
    registry: &Registry,
    locale: Locale,
    waiting: &mut Waiting,
) -> Result<(), JobError> {
    let guild = thread.guild.to_string();
    // An incident of the bot's own is in memory already.
    let own = duty
        .store
        .by_thread(&guild, &thread.id.to_string())
        .await
        .map_err(again)?;
    if own.is_some() {
        waiting.known += 1;
        return Ok(());
    }
    let messages = match duty.rest.messages_after(thread.id, 0, MOST_IN_THREAD).await {
        Ok(messages) => messages,
        Err(error) => return unreadable(error, thread.name.clone(), locale, waiting),
    };
    let said: Vec<&str> = messages
        .iter()
        .filter(|message| !message.from_bot && !message.text.trim().is_empty())
        .map(|message| message.text.trim())
        .collect();
    let mut text = format!("# {}\n", thread.name.replace('\n', " "));
    for part in std::iter::once(thread.starter.trim()).chain(said.iter().copied()) {
        text.push('\n');
        text.push_str(part);
        text.push('\n');
    }
    let source = format!("https://discord.com/channels/{guild}/{}", thread.id);
    let origin = Origin {
        name: &thread.name,
        source: &source,
        registry,
    };
    let Ok(mut past) = postmortem::read(&text, &origin) else {
        // A thread about lunch is no failure either.
        return Ok(());
    };
    let tells = !past.root_cause.is_empty() || !past.attempts.is_empty();
    if !tells && said.len() < TALK {
        return Ok(());
    }
    for attempt in &mut past.attempts {
        attempt.by = "discord".to_owned();
        // Talk names what was done; that it held is for people to say (R28).
        if matches!(attempt.outcome, Outcome::Held | Outcome::Mitigated) {
            attempt.outcome = Outcome::Unknown;
        }
    }
    let first = messages.first().map(|message| message.at_ms);
    began(&mut past, thread.began_ms.or(first));
    waiting
        .records
        .push(record(duty, past, source, &text, private_to));
    Ok(())
}

/// A record whose text tells no time began when it was written.
fn began(past: &mut PastIncident, at_ms: Option<i64>) {
    if past.started_at.is_none() {
        past.started_at = at_ms.and_then(|ms| Timestamp::from_millisecond(ms).ok());
    }
}

fn record(
    duty: &Duty,
    past: PastIncident,
    source: String,
    text: &str,
    private_to: Option<&str>,
) -> Record {
    Record {
        digest: history::digest(text),
        past: redacted(past, &|text| duty.responder.redact_text(text)),
        source: Some(source),
        id: None,
        private_to: private_to.map(str::to_owned),
        course: Course::default(),
        drafted_from: None,
    }
}

/// The address of a message.
pub fn link(guild: u64, channel: u64, message: u64) -> String {
    format!("https://discord.com/channels/{guild}/{channel}/{message}")
}

/// What can't be read now is tried again; what never can is named.
fn unreadable(
    error: DiscordError,
    what: String,
    locale: Locale,
    waiting: &mut Waiting,
) -> Result<(), JobError> {
    if error.is_passing() {
        return Err(JobError::again(error.to_string()));
    }
    let reason = say::thread_not_read(locale, error.reason());
    waiting.unreadable.push((what, reason));
    Ok(())
}

/// Stores or drops an import that waits.
///
/// # Errors
///
/// Where the database does not answer: the job is run again.
pub async fn answer(duty: &Duty, work: Click) -> Result<(), JobError> {
    let guild = work.guild.to_string();
    let (import, yes) = match Action::parse(&work.custom_id) {
        Some(Action::ImportYes { import }) => (import, true),
        Some(Action::ImportNo { import }) => (import, false),
        _ => return Err(JobError::never("no answer to an import")),
    };
    let key = import.to_string();
    duty.acknowledgements.wait(work.interaction).await;
    let Some(content) = duty.store.preview(&guild, &key).await.map_err(again)? else {
        duty.answer(
            &work.reply,
            &present::private(say::import_gone(work.locale)),
        )
        .await;
        return Ok(());
    };
    if !yes {
        duty.store.drop_preview(&guild, &key).await.map_err(again)?;
        duty.answer(&work.reply, &present::import_dropped(work.locale))
            .await;
        return Ok(());
    }
    let waiting: Waiting = serde_json::from_str(&content)
        .map_err(|_| JobError::never("an import was written by another version"))?;
    let (added, updated, refused) = store(duty, &guild, waiting).await?;
    duty.store.drop_preview(&guild, &key).await.map_err(again)?;
    duty.answer(
        &work.reply,
        &present::import_done(added, updated, refused, work.locale),
    )
    .await;
    Ok(())
}

async fn store(
    duty: &Duty,
    guild: &str,
    waiting: Waiting,
) -> Result<(usize, usize, usize), JobError> {
    let now = Timestamp::now();
    let (mut added, mut updated, mut refused) = (0, 0, 0);
    let (documents, lines): (Vec<Record>, Vec<Record>) = waiting
        .records
        .into_iter()
        .partition(|record| record.source.is_some());
    let courses: Vec<Course> = lines.iter().map(|record| record.course.clone()).collect();
    let entries: Vec<Entry> = lines
        .into_iter()
        .map(|record| Entry {
            id: record.id,
            past: record.past,
            private_to: record.private_to,
        })
        .collect();
    if !entries.is_empty() {
        let outcomes = duty
            .store
            .put_past(guild, &entries, now, false)
            .await
            .map_err(again)?;
        put_courses(&duty.store, guild, &outcomes, &courses)
            .await
            .map_err(again)?;
        for outcome in outcomes {
            match outcome {
                PutOutcome::Added(_) => added += 1,
                PutOutcome::Replaced(_) => updated += 1,
                PutOutcome::Refused(_) => refused += 1,
            }
        }
    }
    let mut homes: Vec<Option<String>> = documents
        .iter()
        .map(|record| record.private_to.clone())
        .collect();
    homes.sort();
    homes.dedup();
    for home in homes {
        let read: Vec<ReadDocument> = documents
            .iter()
            .filter(|record| record.private_to == home)
            .map(|record| ReadDocument {
                source: record.source.clone().unwrap_or_default(),
                digest: record.digest.clone(),
                past: record.past.clone(),
                course: record.course.clone(),
                drafted_from: record.drafted_from.clone(),
            })
            .collect();
        let into = history::Into {
            guild,
            private_to: home.as_deref(),
            now,
            preview: false,
        };
        let done = history::store_all(Some(&duty.store), into, read, History::default(), |_, _| ())
            .await
            .map_err(|error| JobError::again(error.to_string()))?;
        added += done.count(Fate::Added);
        updated += done.count(Fate::Updated);
        refused += done.unreadable.len();
    }
    Ok((added, updated, refused))
}

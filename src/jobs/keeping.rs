//! What is kept, shared and forgotten.
//!
//! Wanted: forgetting means it. One function goes through every place that holds something of an
//! incident (`forget_one`), each step can be done again, and a killed process goes on with it at
//! the next start: work that is stored for it, what other analyses recalled of it, its record with
//! all that hangs from it, the database's own traces, and the bot's messages. Retention by age
//! forgets in the same way.
//!
//! What other incidents' analyses recalled becomes a tombstone: the number alone, graded as *low*,
//! so that it is neither shown nor counted (R2), and words of the record that stand in their
//! answers are replaced. An analysis is read through validation each time, so its cards change by
//! themselves.
//!
//! Deliberately absent: forgetting what is still open (work on it would write it again), and
//! touching what people wrote in Discord.

use super::commands::{Answered, Refusal, find, required_id};
use super::duty::{Duty, Posted, incident_of, scope_of};
use super::queue::{Command, JobError};
use super::remember::{self, Whose};
use super::work::{AfterForgetting, Forget, Retain, Work};
use crate::discord::{DiscordError, Options, Person, Place};
use crate::incident::{Grade, IncidentId, Memory, PastIncident};
use crate::present::say::{self, Trouble};
use crate::present::{self, Action, Slot};
use crate::store::{Incident, Scope, Signed, StoreError, StoredAnalysis};
use jiff::{SignedDuration, Timestamp};
use serde_json::Value;
use std::io::Write;
use std::time::Duration;

/// Bytes of an exported file; Discord takes 10 MiB in any server.
const MOST_EXPORTED: usize = 8 * 1024 * 1024;
/// Old incidents that one job forgets.
const FORGOTTEN_AT_ONCE: u32 = 100;
/// How long after forgetting by age the messages are edited.
const MESSAGES_AFTER: SignedDuration = SignedDuration::from_secs(30);
/// Characters from which on words of a record are looked for in the answers of others; shorter ones
/// may be anybody's.
const TELLING: usize = 12;
/// The same where the words are Chinese.
const TELLING_HAN: usize = 5;

/// `/memory forget`: asks, and names what goes.
pub(super) async fn ask_forget(
    duty: &Duty,
    who: &Person,
    place: &Place,
    options: &Options,
) -> Answered {
    let (scope, _) = duty.scope(place).await?;
    let id = required_id(options)?;
    let incident = find(duty, &scope, id).await?;
    if incident.status.is_open() {
        return Err(Trouble::StillOpen(id).into());
    }
    let held = duty.store.holdings(&scope, id).await?;
    let goes = [
        held.analyses,
        held.attempts,
        held.entries,
        held.messages,
        held.recalled_in,
    ];
    Ok(present::forget_question(
        id,
        &incident.past.title,
        goes,
        who.locale,
    ))
}

/// Confirmed: the incident is forgotten, and the person is told.
pub async fn forget(duty: &Duty, work: Forget) -> Result<(), JobError> {
    duty.acknowledgements.wait(work.reply.interaction).await;
    let id = incident_of(work.incident)?;
    let guild = work.guild.to_string();
    let signed = Signed {
        by: &work.by,
        at: Timestamp::from_millisecond(work.reply.created_ms).unwrap_or_else(|_| Timestamp::now()),
    };
    let post = match forget_one(duty, &guild, id, signed).await {
        Ok(()) => {
            duty.store.erase_traces().await?;
            settle_posts(duty, &guild, id).await?;
            refresh_recalling(duty, &guild, id).await?;
            present::private(&say::is_forgotten(work.locale, id))
        }
        Err(NotForgotten::Open) => present::error(&Trouble::StillOpen(id), None, work.locale),
        Err(NotForgotten::Job(error)) => return Err(error),
    };
    if !work.reply.expired(Timestamp::now().as_millisecond()) {
        duty.answer(&work.reply, &post).await;
    }
    Ok(())
}

/// Why an incident is not forgotten.
enum NotForgotten {
    /// It is still open.
    Open,
    /// Something failed, or work on it goes on.
    Job(JobError),
}

impl From<StoreError> for NotForgotten {
    fn from(error: StoreError) -> Self {
        Self::Job(error.into())
    }
}

impl From<JobError> for NotForgotten {
    fn from(error: JobError) -> Self {
        Self::Job(error)
    }
}

/// Forgets an incident in every place that holds something of it. A place that is added (another
/// home of memory, something derived) is called here. One that is gone already is nothing to do.
async fn forget_one(
    duty: &Duty,
    guild: &str,
    id: IncidentId,
    signed: Signed<'_>,
) -> Result<(), NotForgotten> {
    let Some(incident) = duty.store.incident_of_guild(guild, id).await? else {
        return Ok(());
    };
    if incident.status.is_open() {
        return Err(NotForgotten::Open);
    }
    // Work that is stored for it holds its words, and would find it gone.
    let queue = duty
        .queue
        .get()
        .ok_or_else(|| JobError::again("the queue does not run yet"))?;
    let opening = duty.store.opening_of(guild, id).await?;
    let purged = queue
        .purge(guild, |command| concerns(command, &incident, &opening))
        .await?;
    if purged.running > 0 {
        return Err(JobError::Again {
            reason: "work on the incident goes on".to_owned(),
            after: Some(Duration::from_secs(2)),
        }
        .into());
    }
    scrub_recalling(duty, guild, &incident).await?;
    super::joining::take_back(duty, &incident, signed.by).await?;
    duty.store.forget(&scope_of(&incident), id, signed).await?;
    // What was recalled between the two.
    scrub_recalling(duty, guild, &incident).await?;
    Ok(())
}

/// Whether stored work is about the incident: by its number, by what opened it, or by its thread.
fn concerns(command: &Command, incident: &Incident, opening: &str) -> bool {
    if matches!(command.kind.as_str(), "forget" | "forgotten" | "retain") {
        return false;
    }
    let payload = &command.payload;
    let number = u64::from(incident.id().number());
    let in_guild = |of: &Value| {
        of.get("guild")
            .and_then(Value::as_u64)
            .map(|guild| guild.to_string())
            == Some(incident.guild.clone())
    };
    if in_guild(payload) && payload.get("incident").and_then(Value::as_u64) == Some(number) {
        return true;
    }
    let by_custom_id = |of: &Value| {
        let custom_id = of.get("custom_id").and_then(Value::as_str);
        let action = custom_id.and_then(Action::parse);
        in_guild(of) && action.and_then(|action| action.incident()) == Some(incident.id())
    };
    if by_custom_id(payload) || payload.get("click").is_some_and(by_custom_id) {
        return true;
    }
    if command.key == format!("interaction/{opening}") {
        return true;
    }
    let thread = incident
        .thread
        .as_deref()
        .and_then(|id| id.parse::<u64>().ok());
    let place = payload.get("place");
    place.is_some_and(in_guild)
        && command.kind != "analyze"
        && thread.is_some()
        && place
            .and_then(|place| place.get("channel"))
            .and_then(Value::as_u64)
            == thread
}

/// Takes an incident out of what other analyses recalled, and its words out of their answers.
async fn scrub_recalling(duty: &Duty, guild: &str, forgotten: &Incident) -> Result<(), StoreError> {
    for (other, seq) in duty.store.recalled_in(guild, forgotten.id()).await? {
        let Some(other) = duty.store.incident_of_guild(guild, other).await? else {
            continue;
        };
        let scope = scope_of(&other);
        let mut stored = duty.store.analysis(&scope, other.id(), seq).await?;
        if scrub(&mut stored, &forgotten.past) {
            duty.store
                .rewrite_analysis(&scope, other.id(), &stored)
                .await?;
        }
    }
    Ok(())
}

/// Leaves of a recalled incident its number alone. Gives whether there was something to do.
fn scrub(stored: &mut StoredAnalysis, forgotten: &PastIncident) -> bool {
    let Memory::Searched { recalled, .. } = &mut stored.case.memory else {
        return false;
    };
    let mut found = false;
    for one in recalled
        .iter_mut()
        .filter(|one| one.incident.id == forgotten.id)
    {
        one.incident = PastIncident::new(forgotten.id, say::forgotten_words(stored.case.locale));
        one.grade = Grade::Low;
        one.similarity = 0.0;
        one.shares_signature = false;
        found = true;
    }
    if !found {
        return false;
    }
    // Words that the report or another recalled incident holds too are theirs.
    let theirs: Vec<String> = recalled
        .iter()
        .flat_map(|one| words_of(&one.incident))
        .chain(std::iter::once(stored.case.report.text.clone()))
        .chain(
            stored
                .case
                .report
                .thread
                .iter()
                .map(|message| message.text.clone()),
        )
        .chain(
            stored
                .case
                .report
                .attachments
                .iter()
                .map(|file| file.text.clone()),
        )
        .collect();
    let mut telling: Vec<String> = words_of(forgotten)
        .into_iter()
        .map(|text| text.trim().to_owned())
        .filter(|text| is_telling(text))
        .filter(|text| !theirs.iter().any(|other| other.contains(text.as_str())))
        .collect();
    // The longest first: one may hold another.
    telling.sort_by_key(|text| std::cmp::Reverse(text.len()));
    let replacement = say::forgotten_words(stored.case.locale);
    stored.proposal = stored
        .proposal
        .take()
        .and_then(|proposal| without(&proposal, &telling, replacement))
        .map(|mut proposal| {
            // A cause that is nothing but its words goes with it; steps keep their places, which
            // ticks name.
            let title = |title: &str| title.trim() == replacement;
            proposal.hypotheses.retain(|it| !title(&it.title));
            proposal
        });
    stored.corrections = without(&stored.corrections, &telling, replacement).unwrap_or_default();
    if let Some(route) = without(&stored.route, &telling, replacement) {
        stored.route = route;
    }
    true
}

fn words_of(past: &PastIncident) -> Vec<String> {
    let mut texts = vec![
        past.title.clone(),
        past.root_cause.clone(),
        past.prevention.clone(),
    ];
    texts.extend(past.symptoms.iter().cloned());
    texts.extend(past.error_signatures.iter().cloned());
    texts.extend(past.ruled_out.iter().cloned());
    for attempt in &past.attempts {
        texts.push(attempt.fix.clone());
        texts.push(attempt.note.clone());
    }
    texts
}

fn is_telling(text: &str) -> bool {
    let count = text.chars().count();
    count >= TELLING || (count >= TELLING_HAN && text.chars().any(crate::incident::words::is_cjk))
}

/// A document with texts replaced in every string of it; `None` where it can't be read back.
fn without<T>(document: &T, texts: &[String], replacement: &str) -> Option<T>
where
    T: serde::Serialize + serde::de::DeserializeOwned,
{
    let mut value = serde_json::to_value(document).ok()?;
    replace(&mut value, texts, replacement);
    serde_json::from_value(value).ok()
}

/// Documents of ours are nested a few levels deep.
fn replace(value: &mut Value, texts: &[String], replacement: &str) {
    match value {
        Value::String(string) => {
            for text in texts {
                if string.contains(text.as_str()) {
                    *string = string.replace(text.as_str(), replacement);
                }
            }
        }
        Value::Array(items) => {
            for item in items {
                replace(item, texts, replacement);
            }
        }
        Value::Object(fields) => {
            for field in fields.values_mut() {
                replace(field, texts, replacement);
            }
        }
        _ => {}
    }
}

/// The bot's messages about a forgotten incident say that it is; those that are gone are done.
async fn settle_posts(duty: &Duty, guild: &str, id: IncidentId) -> Result<(), JobError> {
    for post in duty.store.forgotten_posts(guild, id).await? {
        if let (Ok(channel), Ok(message)) = (post.channel.parse(), post.message.parse()) {
            let notice = present::notice(&say::record_removed(post.locale, id));
            match duty.edit(Posted { channel, message }, &notice).await {
                Ok(()) | Err(DiscordError::UnknownMessage | DiscordError::UnknownChannel) => {}
                Err(error) if error.is_passing() => {
                    return Err(JobError::again(error.to_string()));
                }
                Err(error) => tracing::warn!(
                    reason = error.reason(),
                    "a message about a forgotten incident can't be edited"
                ),
            }
        }
        duty.store.forgotten_post_settled(guild, &post).await?;
    }
    Ok(())
}

/// Cards that rested on a forgotten incident are composed anew.
async fn refresh_recalling(duty: &Duty, guild: &str, id: IncidentId) -> Result<(), JobError> {
    for (other, seq) in duty.store.recalled_in(guild, id).await? {
        let Some(other) = duty.store.incident_of_guild(guild, other).await? else {
            continue;
        };
        let latest = duty
            .store
            .latest_analysis(&scope_of(&other), other.id())
            .await?;
        let is_latest = latest.is_some_and(|latest| latest.seq == seq);
        let slots: &[Slot] = if is_latest {
            &[
                Slot::Headline,
                Slot::Analysis,
                Slot::Checklist,
                Slot::Update,
            ]
        } else {
            &[Slot::Analysis, Slot::Checklist]
        };
        duty.refresh(&other, seq, slots).await?;
    }
    Ok(())
}

/// Incidents that ended longer ago than the operator wants them kept are forgotten.
pub async fn retain(duty: &Duty, work: Retain) -> Result<(), JobError> {
    let Some(days) = duty.retention_days else {
        return Ok(());
    };
    let now = Timestamp::now();
    let age = SignedDuration::from_hours(i64::from(days) * 24);
    let Ok(before) = now.checked_sub(age) else {
        return Ok(());
    };
    let signed = Signed {
        by: "retention",
        at: now,
    };
    let old = duty.store.ended_before(before, FORGOTTEN_AT_ONCE).await?;
    let whole_batch = old.len() == usize::try_from(FORGOTTEN_AT_ONCE).unwrap_or(usize::MAX);
    let mut removed = 0_usize;
    for (guild, id) in old {
        // Committed before: whatever happens in between, its messages are looked after. They may
        // be many, and Discord takes few edits at once.
        if let Ok(guild) = guild.parse() {
            let after = Work::Forgotten(AfterForgetting {
                guild,
                number: id.number(),
            });
            duty.commit_at(&after, now.checked_add(MESSAGES_AFTER).ok())
                .await?;
        }
        match forget_one(duty, &guild, id, signed).await {
            Ok(()) => removed += 1,
            Err(NotForgotten::Open) => {}
            Err(NotForgotten::Job(JobError::Again { reason, .. })) => {
                tracing::info!(reason, "an old incident is kept until the next time");
            }
            Err(NotForgotten::Job(error)) => return Err(error),
        }
    }
    if removed == 0 {
        return Ok(());
    }
    duty.store.erase_traces().await?;
    tracing::info!(
        removed,
        days,
        "incidents that ended longer ago than MEMORY_RETENTION_DAYS were forgotten"
    );
    if whole_batch {
        let next = Work::Retain(Retain {
            day: work.day,
            part: work.part + 1,
        });
        duty.commit(&next).await?;
    }
    Ok(())
}

/// The bot's messages about an incident that was forgotten by age, and the cards that rested on it.
pub async fn after_forgetting(duty: &Duty, work: AfterForgetting) -> Result<(), JobError> {
    let (guild, id) = (work.guild.to_string(), incident_of(work.number)?);
    settle_posts(duty, &guild, id).await?;
    refresh_recalling(duty, &guild, id).await
}

/// `/memory share` and `/memory unshare`.
pub(super) async fn share(
    duty: &Duty,
    who: &Person,
    place: &Place,
    options: &Options,
    shared: bool,
) -> Answered {
    let (scope, here) = duty.scope(place).await?;
    let id = match (options.text("id"), here) {
        (None, Some(incident)) => incident.id(),
        _ => required_id(options)?,
    };
    find(duty, &scope, id).await?;
    let signed = Signed {
        by: &who.name,
        at: Timestamp::now(),
    };
    match duty.store.share(&scope, id, shared, signed).await {
        Ok(_) if shared => Ok(present::private(&say::shared(who.locale, id))),
        Ok(_) => Ok(present::private(&say::unshared(who.locale, id))),
        Err(StoreError::Conflict(_)) => Err(Trouble::NoChannelToKeepTo(id).into()),
        Err(error) => Err(error.into()),
    }
}

/// `/memory export`: what may be seen from here, as a file for that person alone.
pub(super) async fn export(duty: &Duty, who: &Person, place: &Place) -> Answered {
    let (scope, _) = duty.scope(place).await?;
    let mut file = Capped(Vec::new());
    let exported = match remember::export(&duty.store, Whose::Scope(&scope), &mut file).await {
        Ok(exported) => exported,
        Err(remember::RememberError::Store(error)) => return Err(error.into()),
        Err(remember::RememberError::Io(_)) => {
            let most = u64::try_from(MOST_EXPORTED).unwrap_or(u64::MAX);
            return Err(Trouble::ExportTooLarge(most).into());
        }
    };
    let services = exported.services;
    let incidents = exported.incidents;
    let now = Timestamp::now();
    let signed = Signed {
        by: &who.name,
        at: now,
    };
    duty.store
        .write_down(&scope.guild, signed, "exported", "memory")
        .await?;
    let text = String::from_utf8(file.0).map_err(|_| Refusal::from(Trouble::Unexpected))?;
    let name = format!("memory-{}.jsonl", now.strftime("%Y-%m-%d"));
    Ok(present::private_file(
        &say::exported(who.locale, incidents, services),
        name,
        text,
    ))
}

/// Lines up to a size; more is an error.
struct Capped(Vec<u8>);

impl Write for Capped {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        if self.0.len() + bytes.len() > MOST_EXPORTED {
            return Err(std::io::Error::other("the file is too large"));
        }
        self.0.extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

/// Where a number is not found: it was forgotten, or never was.
pub(super) async fn gone(duty: &Duty, scope: &Scope, id: IncidentId) -> Refusal {
    match duty.store.forgotten(scope, id).await {
        Ok(Some(_)) => Trouble::Forgotten(id).into(),
        Ok(None) => Trouble::UnknownIncident.into(),
        Err(error) => error.into(),
    }
}

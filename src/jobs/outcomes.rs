//! What becomes of a fix after the night: it is asked once whether it held, seven quiet days answer
//! for nobody (R28), and whether two fixes are one is for people to say.
//!
//! Wanted: each question is asked once per resolution, whatever is killed in between; it is dropped
//! where the incident or its fix went on meanwhile; every word can be taken back, and stays in the
//! history. A fix is watched from the moment that it is known to have worked and the incident is
//! over. What a watch still stands for is read from the store when its time comes, so nothing has
//! to be cancelled.
//!
//! Deliberately absent: CI runs as witnesses. Who or what gave an outcome is a text in the record
//! ([`crate::incident::FixAttempt::by`]); whatever brings such word says it there, as alerts do
//! ([`super::watch`]).

use super::duty::{Duty, Posted, incident_of, scope_of};
use super::queue::{Job, JobError};
use super::respond::Read;
use super::work::{Click, Reanalyze, Watch, Work};
use crate::incident::ongoing::{Relation, relation};
use crate::incident::sameness::{Likeness, one_service, shares_pattern_as};
use crate::incident::{
    IncidentId, LearnedPattern, OngoingIncident, Outcome, PastIncident, PatternId, Standing, Status,
};
use crate::present::say::{self, Trouble};
use crate::present::{self, Action, OutcomeWord, OutcomesOf, Post, SameQuestion, Slot};
use crate::store::{
    Attempt, Change, Event, Filter, Incident, LikenessKind, LikenessQuestion, Scope, StoreError,
};
use crate::validation::case::LATELY_DAYS;
use crate::validation::{Ledger, episodes, patterns};
use jiff::{SignedDuration, Timestamp};

/// How long after a fix worked it is asked whether it held.
const ASK_AFTER: SignedDuration = SignedDuration::from_hours(24);
/// After so much quiet a fix that worked counts as held (R28).
const QUIET: SignedDuration = SignedDuration::from_hours(7 * 24);
/// Who said it, where nobody did.
const BY_RULE: &str = "precedent";

/// Why a fix is not said to have held.
#[derive(Debug, thiserror::Error)]
pub enum NotHeld {
    /// It failed: that word has to be taken back first (R28).
    #[error("the fix is on record as failed")]
    Refuted,
    /// It is not there, or the database.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// A person says that a fix held: any that is not refuted (R28). Said again, it changes nothing.
///
/// # Errors
///
/// [`NotHeld`]; nothing is changed then.
pub async fn say_held(
    duty: &Duty,
    scope: &Scope,
    id: IncidentId,
    seq: u32,
    by: &str,
    at: Timestamp,
) -> Result<Attempt, NotHeld> {
    let guild = scope.guild.parse().unwrap_or_default();
    let _turn = duty.turns.take(guild, id.number()).await;
    let known = duty.store.attempts(scope, id).await?;
    let attempt = known
        .into_iter()
        .find(|attempt| attempt.seq == seq && !attempt.withdrawn)
        .ok_or(StoreError::NotFound)?;
    match attempt.fix.outcome {
        Outcome::Held => Ok(attempt),
        outcome if outcome.standing() == Standing::Refuted => Err(NotHeld::Refuted),
        _ => Ok(duty
            .store
            .revise_attempt(scope, id, seq, Outcome::Held, by, at, None)
            .await?),
    }
}

/// How often an incident was resolved: what is asked belongs to one of these times.
fn resolutions(history: &[Event]) -> u32 {
    let times = history.iter().filter(|event| {
        event.what == "resolved"
            || (event.what == "status"
                && event.detail.get("to").and_then(|to| to.as_str()) == Some("resolved"))
    });
    u32::try_from(times.count()).unwrap_or(u32::MAX)
}

/// Whether it is quiet as far as people say: many an incident is never resolved after it was
/// mitigated, and its fix is asked about all the same.
fn is_over(incident: &Incident) -> bool {
    matches!(
        incident.status,
        Status::Mitigated | Status::Resolved | Status::Closed
    )
}

/// The fix whose fate is open: the last that worked.
fn worked(attempts: &[Attempt]) -> Option<&Attempt> {
    attempts
        .iter()
        .rev()
        .find(|attempt| !attempt.withdrawn && attempt.fix.outcome == Outcome::Mitigated)
}

/// When the quiet began: at the resolution, or at the later word that the fix worked.
fn since(incident: &Incident, attempt: &Attempt) -> Option<Timestamp> {
    incident.past.resolved_at.max(attempt.fix.at)
}

/// Watches the fix of an incident that is over: asks after a day, counts seven quiet days. Watching
/// twice is watching once.
///
/// # Errors
///
/// Those of the database.
pub async fn watch(duty: &Duty, incident: &Incident) -> Result<(), StoreError> {
    if !is_over(incident) {
        return Ok(());
    }
    let scope = scope_of(incident);
    let attempts = duty.store.attempts(&scope, incident.id()).await?;
    let Some(attempt) = worked(&attempts) else {
        return Ok(());
    };
    let (Some(since), Ok(guild)) = (since(incident, attempt), incident.guild.parse::<u64>()) else {
        return Ok(());
    };
    let history = duty.store.history(&scope, incident.id()).await?;
    let watch = Watch {
        guild,
        incident: incident.id().number(),
        attempt: attempt.seq,
        resolution: resolutions(&history),
        round: 0,
    };
    duty.commit_at(
        &Work::AskStillFixed(watch.clone()),
        since.checked_add(ASK_AFTER).ok(),
    )
    .await?;
    duty.commit_at(&Work::CountQuietDays(watch), since.checked_add(QUIET).ok())
        .await
}

/// What a watch is about, where it still stands: the incident is over, was not resolved again, and
/// nobody said anything else of the fix.
async fn still_open(duty: &Duty, watch: &Watch) -> Result<Option<(Incident, Attempt)>, JobError> {
    let id = incident_of(watch.incident)?;
    let Some(incident) = duty
        .store
        .incident_of_guild(&watch.guild.to_string(), id)
        .await?
    else {
        return Ok(None);
    };
    let scope = scope_of(&incident);
    let history = duty.store.history(&scope, id).await?;
    let attempts = duty.store.attempts(&scope, id).await?;
    let attempt = worked(&attempts).filter(|attempt| attempt.seq == watch.attempt);
    Ok(match attempt {
        Some(attempt) if is_over(&incident) && resolutions(&history) == watch.resolution => {
            let attempt = attempt.clone();
            Some((incident, attempt))
        }
        _ => None,
    })
}

fn slot(attempt: u32, resolution: u32) -> String {
    format!("still/{attempt}/{resolution}")
}

/// A day after a fix worked it is asked once, quietly, whether it held.
pub async fn ask_still_fixed(duty: &Duty, watch: Watch) -> Result<(), JobError> {
    let Some((incident, attempt)) = still_open(duty, &watch).await? else {
        return Ok(());
    };
    let now = Timestamp::now();
    let since = since(&incident, &attempt).unwrap_or(now);
    if came_again(duty, &incident, since, now).await? {
        // The question has its answer, and the later incident asks for itself.
        return Ok(());
    }
    let question = present::quietly(present::still_fixed(
        incident.id(),
        &incident.past.title,
        incident.locale,
    ));
    duty.post_in_thread(
        &incident,
        0,
        &slot(attempt.seq, watch.resolution),
        &question,
    )
    .await?;
    Ok(())
}

/// Whether the same happened again on the service from the time that a fix worked until another.
async fn came_again(
    duty: &Duty,
    incident: &Incident,
    since: Timestamp,
    until: Timestamp,
) -> Result<bool, JobError> {
    let people = duty.store.people_said(&scope_of(incident)).await?;
    let begun = duty
        .store
        .begun_since(&incident.guild, since, incident.id())
        .await?;
    Ok(begun.iter().any(|(later, status)| {
        !matches!(status, Status::FalseAlarm | Status::Merged)
            && later.started_at.is_none_or(|began| began <= until)
            && one_service(&incident.past, later)
            && shares_pattern_as(&people, &incident.past, later)
    }))
}

/// Seven quiet days after a fix worked it counts as held, where nobody said otherwise (R28).
pub async fn count_quiet_days(duty: &Duty, watch: Watch) -> Result<(), JobError> {
    let _turn = duty.turns.take(watch.guild, watch.incident).await;
    let Some((incident, attempt)) = still_open(duty, &watch).await? else {
        return Ok(());
    };
    let Some(since) = since(&incident, &attempt) else {
        return Ok(());
    };
    let now = Timestamp::now();
    let due = since.checked_add(QUIET).unwrap_or(now);
    if now < due {
        // It was said again that it worked: the days count from then.
        let again = Watch {
            round: watch.round.saturating_add(1),
            ..watch
        };
        return Ok(duty
            .commit_at(&Work::CountQuietDays(again), Some(due))
            .await?);
    }
    let scope = scope_of(&incident);
    if came_again(duty, &incident, since, due).await? {
        tracing::info!(incident = %incident.id(), "it did not stay quiet");
        return Ok(());
    }
    let why = say::quiet_days(incident.locale);
    let note = if attempt.fix.note.trim().is_empty() {
        why.to_owned()
    } else {
        format!("{} · {why}", attempt.fix.note)
    };
    duty.store
        .revise_attempt(
            &scope,
            incident.id(),
            attempt.seq,
            Outcome::Held,
            BY_RULE,
            now,
            Some(&note),
        )
        .await?;
    Ok(())
}

/// The answer to *Still fixed?*, and taking it back.
pub async fn still_fixed(duty: &Duty, job: &Job, work: Click) -> Result<(), JobError> {
    duty.acknowledgements.wait(work.interaction).await;
    let (id, wanted) = match Action::parse(&work.custom_id) {
        Some(Action::StillHeld { incident }) => (incident, Outcome::Held),
        Some(Action::CameBack { incident }) => (incident, Outcome::CameBack),
        Some(Action::TakeBack { incident }) => (incident, Outcome::Mitigated),
        _ => return Err(JobError::never("a button that no version posted")),
    };
    let Some(incident) = find(duty, &work, id).await? else {
        return Ok(());
    };
    let _turn = duty.turns.take(work.guild, id.number()).await;
    let scope = scope_of(&incident);
    let attempts = duty.store.attempts(&scope, id).await?;
    let asked_of = attempts.iter().rev().find(|attempt| {
        !attempt.withdrawn
            && matches!(
                attempt.fix.outcome,
                Outcome::Mitigated | Outcome::Held | Outcome::CameBack
            )
    });
    let Some(attempt) = asked_of else {
        let post = present::error(&Trouble::OldCard, None, work.locale);
        duty.tell(&work.reply, &post).await;
        return Ok(());
    };
    let stands = attempt.fix.outcome;
    if wanted == Outcome::Held && stands.standing() == Standing::Refuted {
        let post = present::error(&Trouble::FixHasFailed, None, work.locale);
        duty.tell(&work.reply, &post).await;
        return Ok(());
    }
    let attempt = if stands != wanted && may_say(job, &work, attempt.fix.at) {
        duty.store
            .revise_attempt(
                &scope,
                id,
                attempt.seq,
                wanted,
                &work.by,
                Timestamp::now(),
                None,
            )
            .await?
    } else {
        attempt.clone()
    };
    let Some(incident) = duty.store.incident_of_guild(&incident.guild, id).await? else {
        return Ok(());
    };
    settle_question(duty, &incident, &attempt).await?;
    watch(duty, &incident).await?;
    refresh(duty, &incident).await
}

/// It came back: the incident runs again by word of a person, and is analysed with what failed
/// (R27).
pub async fn reopen(duty: &Duty, work: Click) -> Result<(), JobError> {
    duty.acknowledgements.wait(work.interaction).await;
    let Some(Action::Reopen { incident: id }) = Action::parse(&work.custom_id) else {
        return Err(JobError::never("a button that no version posted"));
    };
    let Some(incident) = find(duty, &work, id).await? else {
        return Ok(());
    };
    let turn = duty.turns.take(work.guild, id.number()).await;
    let scope = scope_of(&incident);
    let incident = if incident.status.is_open() {
        incident
    } else {
        duty.store
            .update(
                &scope,
                id,
                &work.by,
                Timestamp::now(),
                &[Change::Status(Status::Investigating)],
            )
            .await?
    };
    let attempts = duty.store.attempts(&scope, id).await?;
    let failed = attempts
        .iter()
        .rev()
        .find(|attempt| !attempt.withdrawn && attempt.fix.outcome == Outcome::CameBack);
    if let Some(failed) = failed {
        settle_question(duty, &incident, failed).await?;
    }
    refresh(duty, &incident).await?;
    drop(turn);
    let again = Work::Reanalyze(Reanalyze {
        guild: work.guild,
        incident: id.number(),
        by: work.by.clone(),
        key: format!("reopened/{}", work.interaction),
        reply: None,
        over_limit_seconds: duty.limiter.unasked(work.guild),
        place: None,
    });
    Ok(duty.commit(&again).await?)
}

/// Whether a click is still to be recorded. A job that runs again after its process died finds its
/// own word recorded, or a later one, which wins; else it records it now.
fn may_say(job: &Job, work: &Click, last_said: Option<Timestamp>) -> bool {
    job.attempt == 1 || last_said.is_none_or(|at| at.as_millisecond() < work.reply.created_ms)
}

async fn find(duty: &Duty, work: &Click, id: IncidentId) -> Result<Option<Incident>, JobError> {
    let found = duty
        .store
        .incident_of_guild(&work.guild.to_string(), id)
        .await?;
    if found.is_none() {
        let post = present::error(&Trouble::UnknownIncident, None, work.locale);
        duty.tell(&work.reply, &post).await;
    }
    Ok(found)
}

pub(super) async fn refresh(duty: &Duty, incident: &Incident) -> Result<(), JobError> {
    let latest = duty
        .store
        .latest_analysis(&scope_of(incident), incident.id())
        .await?;
    match latest {
        Some(latest) => {
            duty.refresh(
                incident,
                latest.seq,
                &[Slot::Headline, Slot::Analysis, Slot::Checklist],
            )
            .await
        }
        None => Ok(()),
    }
}

/// The question of a day later, where it was asked: answered, it says the answer; taken back, it
/// asks again.
async fn settle_question(
    duty: &Duty,
    incident: &Incident,
    attempt: &Attempt,
) -> Result<(), JobError> {
    let scope = scope_of(incident);
    let prefix = format!("still/{}/", attempt.seq);
    let posts = duty.store.posts_of(&scope, incident.id()).await?;
    let post = if attempt.fix.outcome == Outcome::Mitigated {
        present::still_fixed(incident.id(), &incident.past.title, incident.locale)
    } else {
        present::still_fixed_answered(
            incident.id(),
            attempt.fix.outcome,
            &attempt.fix.fix,
            &attempt.fix.by,
            !incident.status.is_open(),
            incident.locale,
        )
    };
    // The newest of its questions; what was answered before says so already.
    let asked = posts
        .iter()
        .filter(|known| known.slot.starts_with(&prefix))
        .filter_map(|known| {
            let resolution: u32 = known
                .slot
                .strip_prefix(&prefix)?
                .split('/')
                .next()?
                .parse()
                .ok()?;
            Some((
                resolution,
                Posted {
                    channel: known.channel.parse().ok()?,
                    message: known.message.as_deref()?.parse().ok()?,
                },
            ))
        })
        .max_by_key(|(resolution, _)| *resolution);
    if let Some((_, asked)) = asked
        && let Err(error) = duty.edit(asked, &post).await
    {
        if error.is_passing() {
            return Err(JobError::again(error.to_string()));
        }
        tracing::warn!(reason = error.reason(), "a question can't be edited");
    }
    Ok(())
}

// ---------------------------------------------------------------------------------------------
// Same fix, same cause

/// After an incident was resolved: where its fix or cause is near that of an incident of the same
/// service, people are asked whether the two are one; quietly, once, in the thread.
///
/// # Errors
///
/// Those of the database and of Discord.
pub async fn ask_sameness(duty: &Duty, incident: &Incident) -> Result<(), JobError> {
    let scope = scope_of(incident);
    let Some(stored) = duty.store.latest_analysis(&scope, incident.id()).await? else {
        return Ok(());
    };
    let people = duty.store.people_said(&scope).await?;
    let past: Vec<&PastIncident> = stored
        .case
        .memory
        .recalled()
        .iter()
        .map(|recalled| &recalled.incident)
        .filter(|other| one_service(&incident.past, other))
        .collect();
    let near = |mine: &str, theirs: fn(&PastIncident) -> Option<&str>| {
        let mine = people.phrase(mine);
        let told = past
            .iter()
            .filter_map(|other| Some((other.id, theirs(other)?)))
            .collect::<Vec<_>>();
        // What is the same as one of them already says enough.
        if told
            .iter()
            .any(|(_, words)| mine.same(&people.phrase(words)))
        {
            return None;
        }
        told.into_iter()
            .find(|(_, words)| mine.likeness(&people.phrase(words)) == Likeness::Near)
            .map(|(id, words)| (id, words.to_owned()))
    };
    let fix = incident.past.fix().unwrap_or_default().to_owned();
    let cause = incident.past.root_cause.clone();
    let mut asked: Vec<LikenessQuestion> = Vec::new();
    for (kind, words, found) in [
        (LikenessKind::Fix, &fix, near(&fix, PastIncident::fix)),
        (
            LikenessKind::Cause,
            &cause,
            near(&cause, |other| {
                Some(other.root_cause.as_str()).filter(|cause| !cause.trim().is_empty())
            }),
        ),
    ] {
        let Some((other, other_words)) = found else {
            continue;
        };
        let question = duty
            .store
            .ask_likeness(
                &scope,
                incident.id(),
                other,
                kind,
                words,
                &other_words,
                Timestamp::now(),
            )
            .await;
        match question {
            Ok(question) => asked.extend(question),
            // Forgotten since it was recalled, or no longer to be seen from here.
            Err(StoreError::NotFound) => {}
            Err(error) => return Err(error.into()),
        }
    }
    let (Some(first), Some(last)) = (asked.first(), asked.last()) else {
        return Ok(());
    };
    let slot = format!("same/{}-{}", first.seq, last.seq);
    let post = present::same_questions(incident.id(), &shown(&asked), incident.locale);
    duty.post_in_thread(incident, 0, &slot, &present::quietly(post))
        .await?;
    Ok(())
}

fn shown(questions: &[LikenessQuestion]) -> Vec<SameQuestion> {
    questions
        .iter()
        .map(|question| SameQuestion {
            seq: question.seq,
            other: question.other,
            is_fix: question.kind == LikenessKind::Fix,
            words: question.words.clone(),
            other_words: question.other_words.clone(),
            answer: question
                .same
                .map(|same| (same, question.by.clone().unwrap_or_default())),
        })
        .collect()
}

/// A person says that two fixes or causes are one, or two; the same click again takes it back.
pub async fn sameness(duty: &Duty, job: &Job, work: Click) -> Result<(), JobError> {
    duty.acknowledgements.wait(work.interaction).await;
    let (id, seq, same) = match Action::parse(&work.custom_id) {
        Some(Action::SameAs { incident, question }) => (incident, question, true),
        Some(Action::DifferentFrom { incident, question }) => (incident, question, false),
        _ => return Err(JobError::never("a button that no version posted")),
    };
    let Some(incident) = find(duty, &work, id).await? else {
        return Ok(());
    };
    let _turn = duty.turns.take(work.guild, id.number()).await;
    let scope = scope_of(&incident);
    let questions = duty.store.likeness_questions(&scope, id).await?;
    let Some(question) = questions.iter().find(|question| question.seq == seq) else {
        // The other incident was forgotten, and the question with it.
        let post = present::error(&Trouble::UnknownIncident, None, work.locale);
        duty.tell(&work.reply, &post).await;
        return Ok(());
    };
    if may_say(job, &work, Some(question.at)) {
        let again = question.same == Some(same);
        let agrees = again
            && super::clicks::at_once(
                &work,
                question.by.as_deref().unwrap_or_default(),
                question.at,
            );
        if !agrees {
            let word = (!again).then_some(same);
            duty.store
                .answer_likeness(&scope, id, seq, word, &work.by, Timestamp::now())
                .await?;
        }
    }
    let questions = duty.store.likeness_questions(&scope, id).await?;
    for known in duty.store.posts_of(&scope, id).await? {
        let Some((from, to)) = known
            .slot
            .strip_prefix("same/")
            .and_then(|range| range.split('/').next())
            .and_then(|range| range.split_once('-'))
            .and_then(|(from, to)| Some((from.parse::<u32>().ok()?, to.parse::<u32>().ok()?)))
        else {
            continue;
        };
        let posted = match (
            known.channel.parse(),
            known.message.as_deref().map(str::parse),
        ) {
            (Ok(channel), Some(Ok(message))) if (from..=to).contains(&seq) => {
                Posted { channel, message }
            }
            _ => continue,
        };
        let of_post: Vec<LikenessQuestion> = questions
            .iter()
            .filter(|question| (from..=to).contains(&question.seq))
            .cloned()
            .collect();
        let post = present::same_questions(id, &shown(&of_post), incident.locale);
        if let Err(error) = duty.edit(posted, &post).await {
            if error.is_passing() {
                return Err(JobError::again(error.to_string()));
            }
            tracing::warn!(reason = error.reason(), "a question can't be edited");
        }
    }
    Ok(())
}

// ---------------------------------------------------------------------------------------------
// What an analysis rests on beside the records

/// This time on top of those before.
fn times(before: usize) -> u32 {
    u32::try_from(before).unwrap_or(u32::MAX).saturating_add(1)
}

impl Duty {
    /// Fills the ledger of a read: what people said of sameness, the incident as a record, what was
    /// learned from what was recalled. Without a database the analysis goes on without it.
    pub async fn keep_ledger(&self, incident: &Incident, read: &mut Read) {
        let ledger = self.ledger(incident, read).await;
        read.case.ledger = ledger.unwrap_or_else(|error| {
            tracing::error!(
                error = &error as &dyn std::error::Error,
                "what people said of outcomes can't be read"
            );
            Ledger::default()
        });
    }

    async fn ledger(&self, incident: &Incident, read: &Read) -> Result<Ledger, StoreError> {
        let scope = scope_of(incident);
        let people = self.store.people_said(&scope).await?;
        let direct: Vec<PastIncident> = read
            .case
            .memory
            .direct()
            .map(|recalled| recalled.incident.clone())
            // Of a fragment no record is ours: nothing of ours can rest on it.
            .filter(|past| !past.is_fragment())
            .collect();
        let mut running = incident.past.clone();
        running.started_at = running
            .started_at
            .or(incident.detected_at)
            .or(incident.reported_at);
        running.service.clone_from(&read.case.service);
        if running.error_signatures.is_empty() {
            running
                .error_signatures
                .clone_from(&read.triage.error_signatures);
        }
        let environment = incident.past.environment.clone();
        let patterns = self.learned(&scope, &people, &direct).await?;
        let ongoing = self.ongoing(&scope, &people, &running, read).await?;
        let (times_lately, open_prevention) = self
            .lately(&scope, &people, &running, &direct, read.case.now)
            .await?;
        let mut of_service = incident.clone();
        of_service.past.service.clone_from(&read.case.service);
        let changes = Box::pin(self.changes_before(&of_service, read.case.now)).await?;
        Ok(Ledger {
            people,
            environment,
            running: Some(running),
            patterns,
            ongoing,
            times_lately,
            open_prevention,
            changes,
        })
    }

    /// Open incidents of other services with the same signature (R32).
    async fn ongoing(
        &self,
        scope: &Scope,
        people: &crate::incident::sameness::PeopleSaid,
        running: &PastIncident,
        read: &Read,
    ) -> Result<Vec<OngoingIncident>, StoreError> {
        let filter = Filter {
            open: true,
            ..Filter::default()
        };
        let open = self.store.list(scope, &filter).await?;
        Ok(open
            .into_iter()
            .filter(|other| other.id() != running.id)
            .filter(|other| {
                relation(&read.case.registry, people, running, &other.past) == Relation::Elsewhere
            })
            .filter_map(|other| {
                Some(OngoingIncident {
                    id: other.id(),
                    service: other.past.service.clone()?,
                    title: other.past.title.clone(),
                    since: other
                        .times()
                        .started
                        .or(other.reported_at)
                        .unwrap_or(other.updated_at),
                })
            })
            .collect())
    }

    /// How often the same trouble came within [`LATELY_DAYS`], this time included, and the newest of
    /// these whose prevention is still open.
    async fn lately(
        &self,
        scope: &Scope,
        people: &crate::incident::sameness::PeopleSaid,
        running: &PastIncident,
        direct: &[PastIncident],
        now: Timestamp,
    ) -> Result<(u32, Option<IncidentId>), StoreError> {
        let span = jiff::SignedDuration::from_hours(i64::from(LATELY_DAYS) * 24);
        let since = now.checked_sub(span).unwrap_or(Timestamp::MIN);
        let same: Vec<&PastIncident> = direct
            .iter()
            .filter(|past| shares_pattern_as(people, past, running))
            .filter(|past| episodes::time_of(past).is_some_and(|at| at >= since && at <= now))
            .collect();
        let before = episodes::episodes_as(people, &same, None).len();
        let mut newest = same;
        newest.sort_by_key(|past| std::cmp::Reverse(episodes::time_of(past)));
        for past in newest
            .into_iter()
            .filter(|past| !past.prevention.trim().is_empty())
        {
            let known = self.store.incident(scope, past.id).await;
            if matches!(known, Ok(known) if !known.prevention_done) {
                return Ok((times(before), Some(past.id)));
            }
        }
        Ok((times(before), None))
    }

    /// The patterns among these incidents, with their numbers.
    ///
    /// # Errors
    ///
    /// Those of the database.
    pub async fn learned(
        &self,
        scope: &Scope,
        people: &crate::incident::sameness::PeopleSaid,
        incidents: &[PastIncident],
    ) -> Result<Vec<LearnedPattern>, StoreError> {
        let refs: Vec<&PastIncident> = incidents.iter().collect();
        let found = super::respond::aside(|| patterns::found(people, &refs));
        let keys: Vec<_> = found
            .iter()
            .map(|found| (found.shared, found.incidents.clone()))
            .collect();
        let numbers = self.store.number_patterns(&scope.guild, &keys).await?;
        Ok(found
            .into_iter()
            .zip(numbers)
            .map(|(found, id)| LearnedPattern {
                id,
                service: found.service,
                shared: found.shared,
                words: found.words,
                incidents: found.incidents,
                episodes: found.episodes,
            })
            .collect())
    }

    /// A pattern by its number with the records that it rests on, derived anew: `NotFound` where too
    /// little of it is left, or may be seen from the scope.
    ///
    /// # Errors
    ///
    /// [`StoreError::NotFound`], and those of the database.
    pub async fn pattern(
        &self,
        scope: &Scope,
        id: PatternId,
    ) -> Result<(LearnedPattern, Vec<PastIncident>), StoreError> {
        let (shared, records) = self.store.pattern_records(scope, id).await?;
        let people = self.store.people_said(scope).await?;
        let refs: Vec<&PastIncident> = records.iter().collect();
        let found = super::respond::aside(|| patterns::found(&people, &refs))
            .into_iter()
            .find(|found| found.shared == shared)
            .ok_or(StoreError::NotFound)?;
        let on: Vec<PastIncident> = records
            .iter()
            .filter(|record| found.incidents.contains(&record.id))
            .cloned()
            .collect();
        let pattern = LearnedPattern {
            id,
            service: found.service,
            shared: found.shared,
            words: found.words,
            incidents: found.incidents,
            episodes: found.episodes,
        };
        Ok((pattern, on))
    }

    /// The private view of a past incident: the whole record, what was said of its fixes, and *Yes,
    /// it held* for each that is not refuted.
    ///
    /// # Errors
    ///
    /// Those of the database.
    pub async fn past_in_full(
        &self,
        scope: &Scope,
        incident: &Incident,
        grade: Option<crate::incident::Grade>,
        locale: crate::incident::Locale,
    ) -> Result<Post, StoreError> {
        let now = Timestamp::now();
        let attempts = self.store.attempts(scope, incident.id()).await?;
        let history = self.store.history(scope, incident.id()).await?;
        let may_hold = attempts
            .iter()
            .filter(|attempt| !attempt.withdrawn && !incident.status.is_open())
            .filter(|attempt| attempt.fix.outcome.standing() == Standing::Hypothesis)
            .filter(|attempt| !attempt.fix.fix.trim().is_empty())
            .map(|attempt| (attempt.seq, attempt.fix.fix.clone()))
            .collect();
        let outcomes = OutcomesOf {
            may_hold,
            history: words_of(&attempts, &history),
        };
        let shown = present::past_incident(&incident.past, grade, locale, now);
        Ok(present::with_outcomes(
            shown,
            &incident.past,
            &outcomes,
            locale,
            now,
        ))
    }
}

/// What was said of fixes, in order.
fn words_of(attempts: &[Attempt], history: &[Event]) -> Vec<OutcomeWord> {
    let fix_of = |event: &Event| {
        let seq = event.detail.get("attempt").and_then(|seq| seq.as_u64())?;
        attempts
            .iter()
            .find(|attempt| u64::from(attempt.seq) == seq)
            .map(|attempt| attempt.fix.fix.clone())
    };
    let outcome_of = |event: &Event| {
        event
            .detail
            .get("outcome")
            .and_then(|outcome| outcome.as_str())
            .and_then(Outcome::parse)
    };
    history
        .iter()
        .filter_map(|event| {
            let (fix, outcome) = match event.what.as_str() {
                "attempt" | "outcome" => (fix_of(event)?, Some(outcome_of(event)?)),
                "attempt_withdrawn" => (fix_of(event)?, None),
                "resolved" => (
                    event.detail.get("fix")?.as_str()?.to_owned(),
                    Some(outcome_of(event)?),
                ),
                _ => return None,
            };
            Some(OutcomeWord {
                fix,
                outcome,
                by: event.by.clone(),
                at: event.at,
            })
        })
        .collect()
}

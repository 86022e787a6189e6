//! A report becomes an incident and its first analysis; an incident is analysed again.
//!
//! Each step is durable before its effect and keyed, so that a job that dies goes on where it was
//! and posts nothing twice: opened, headline, thread, progress, begun, answered, cards, checklist,
//! update.

use super::duty::{Duty, PostError, Posted, files, incident_of, reporter, reporter_id, scope_of};
use super::joining;
use super::pause;
use super::queue::{Job, JobError};
use super::respond::{Models, Proposed, Read, Reported};
use super::talk::offer_reanalysis;
use super::work::{Analyze, Reanalyze};
use crate::discord::{DiscordError, FileNote, FileRef, attachments};
use crate::incident::report::Attachment;
use crate::incident::service::environment_in;
use crate::incident::{Engine, FallbackReason, IncidentId, Locale, Report, Standing};
use crate::present::say::{self, Trouble};
use crate::present::{self, Post, Precedents, Progress, Slot};
use crate::response::route::{self, AfterFailure};
use crate::response::triage::Said;
use crate::store::{Change, Incident, Measures, NewIncident, Scope, Store, StoredAnalysis};
use crate::validation::Analysis;
use jiff::Timestamp;
use std::pin::Pin;
use std::time::{Duration, Instant};

/// Whose word it is where nobody said it.
const BOT: &str = "precedent";

/// A report becomes an incident.
pub async fn run(duty: &Duty, job: &Job, work: Analyze) -> Result<(), JobError> {
    duty.acknowledgements.wait(work.reply.interaction).await;
    pause::at("acknowledged").await;
    let duty = &duty.in_opened_by(work.place.guild, work.reply.interaction);
    let now = Timestamp::now();
    let guild = work.place.guild.to_string();
    let registry = duty.registry(&guild).await;
    let mut report = work.report.clone();
    for file in &work.files {
        report
            .attachments
            .push(read_file(duty, file, work.who.locale).await);
    }
    let said = Said {
        service: work.service.clone(),
        severity: work.severity,
    };
    let reported = Reported {
        guild: guild.clone(),
        channel: channel_of(&work),
        report,
        said,
        registry,
        locale: work.who.locale,
        now,
        own: None,
        attempts: Vec::new(),
    };
    // The first read needs no number; it is what the headline says at once.
    let mut read = duty.responder.read(reported).await;
    // Who reports the same at the same moment sees the one that was opened first (R32).
    let door = duty.turns.take(work.place.guild, joining::DOOR).await;
    let running = if work.separate {
        None
    } else {
        joining::running(duty, &work, &read, &channel_of(&work)).await?
    };
    if let Some(running) = running {
        // An offer opens nothing, and Discord may be slow.
        drop(door);
        let mut waiting = work.clone();
        waiting.report.clone_from(&read.case.report);
        waiting.files.clear();
        return joining::offer(duty, waiting, &running).await;
    }
    let mut incident = duty
        .store
        .open_incident(&guild, &opening(&work, &read, now))
        .await?;
    drop(door);
    pause::at("opened").await;
    read.case.incident = Some(incident.id());
    duty.keep_ledger(&incident, &mut read).await;
    let provisional = duty.responder.fall_back(&read, waiting_reason(duty, &work));
    let first = duty.responder.validate(&mut read, &provisional);

    incident = headline(duty, &work, incident, &first, &read).await?;
    pause::at("headline").await;
    incident = thread(duty, &work, incident, &read).await?;
    pause::at("thread").await;
    duty.look_later(&incident).await;
    // Asked once; the analysis goes on with an unknown service meanwhile.
    super::registry::ask(duty, &incident, &read.triage.service_ambiguous).await?;
    let key = job.command.key.clone();
    Box::pin(analysis(
        duty,
        incident,
        read,
        &key,
        work.over_limit_seconds,
    ))
    .await
}

/// An incident is analysed again: on demand, after a refuted fix (R27), or with new evidence.
pub async fn rerun(duty: &Duty, job: &Job, work: Reanalyze) -> Result<(), JobError> {
    if let Some(reply) = &work.reply {
        duty.acknowledgements.wait(reply.interaction).await;
    }
    let id = incident_of(work.incident)?;
    let guild = work.guild.to_string();
    let Some(incident) = duty.store.incident_of_guild(&guild, id).await? else {
        return Err(JobError::never("the incident is gone"));
    };
    let duty = &duty.in_incident(&incident).await;
    let scope = scope_of(&incident);
    let attempts = duty.store.attempts(&scope, id).await?;
    let counted: Vec<_> = attempts
        .iter()
        .filter(|attempt| !attempt.withdrawn)
        .map(|attempt| attempt.fix.clone())
        .collect();
    let refuted = counted
        .iter()
        .filter(|attempt| attempt.outcome.standing() == Standing::Refuted)
        .count();
    let registry = duty.registry(&guild).await;
    let reported = Reported {
        guild,
        channel: incident.channel.clone(),
        report: incident.report.clone().unwrap_or_default(),
        said: Said {
            service: incident.past.service.clone(),
            severity: incident.severity.filter(|_| incident.severity_by.is_some()),
        },
        registry,
        locale: incident.locale,
        now: Timestamp::now(),
        own: Some(id),
        attempts: counted,
    };
    if let Some(reply) = &work.reply
        && asked_already(duty, &scope, id, &job.command.key, &reported).await?
    {
        let post = present::error(&Trouble::AlreadyAnalysing, None, incident.locale);
        duty.tell(reply, &post).await;
        return Ok(());
    }
    let mut read = duty.responder.read(reported).await;
    duty.keep_ledger(&incident, &mut read).await;
    let used_up = route::next_after_failures(u32::try_from(refuted).unwrap_or(u32::MAX))
        == AfterFailure::EscalateToPeople;
    if used_up {
        // R27: after three failed attempts people decide; the model is not asked the same again.
        let notice = present::notice(&say::escalated(incident.locale));
        duty.post_in_thread(&incident, 0, "escalated", &notice)
            .await?;
        return finish_without_model(
            duty,
            incident,
            read,
            &job.command.key,
            FallbackReason::AttemptsUsedUp,
        )
        .await;
    }
    analysis(
        duty,
        incident,
        read,
        &job.command.key,
        work.over_limit_seconds,
    )
    .await
}

/// Whether a model is being asked exactly this at the moment, because somebody else pressed the
/// button first: the same question is not asked twice (R27).
async fn asked_already(
    duty: &Duty,
    scope: &Scope,
    id: IncidentId,
    key: &str,
    reported: &Reported,
) -> Result<bool, JobError> {
    let Some(running) = duty.store.latest_analysis(scope, id).await? else {
        return Ok(false);
    };
    let waiting = match &running.engine {
        None => running.proposal.is_none(),
        Some(engine) => matches!(
            engine,
            Engine::Fallback {
                reason: FallbackReason::StillWaiting,
                ..
            }
        ),
    };
    // One that died was given up long before twice its time is over.
    let longest = duty
        .responder
        .models
        .as_ref()
        .map_or(Duration::ZERO, Models::budget)
        * 2;
    let age = Duration::try_from(reported.now.duration_since(running.created_at));
    Ok(waiting
        && running.key != key
        && age.is_ok_and(|age| age < longest)
        && running.case.report == reported.report
        && running.case.attempts == reported.attempts)
}

/// Where incidents reported here may be seen from: a private thread itself, else the channel.
fn channel_of(work: &Analyze) -> String {
    match work.place.parent {
        Some(parent) if work.place.thread && !work.place.private => parent.to_string(),
        _ => work.place.channel.to_string(),
    }
}

fn waiting_reason(duty: &Duty, work: &Analyze) -> FallbackReason {
    match (&duty.responder.models, work.over_limit_seconds) {
        (None, _) => FallbackReason::NotConfigured,
        (Some(_), Some(seconds)) => FallbackReason::Budget {
            retry_after_seconds: seconds,
        },
        (Some(_), None) => FallbackReason::StillWaiting,
    }
}

fn opening(work: &Analyze, read: &Read, now: Timestamp) -> NewIncident {
    NewIncident {
        opening: work.reply.interaction.to_string(),
        channel: channel_of(work),
        parent_channel: work.place.parent.map(|parent| parent.to_string()),
        thread: work.place.thread.then(|| work.place.channel.to_string()),
        private: work.place.private,
        title: read.title.clone(),
        service: read.case.service.clone(),
        environment: environment_in(&read.case.report.text).map(str::to_owned),
        severity: Some(read.severity()),
        severity_by: work.severity.map(|_| work.who.name.clone()),
        locale: work.who.locale,
        report: read.case.report.clone(),
        reporter: reporter(work.who.id, &work.who.name),
        symptoms: read.triage.symptoms.clone(),
        error_signatures: read.triage.error_signatures.clone(),
        started_at: None,
        reported_at: now,
    }
}

/// Reads an attached file; what was not read is said in a sentence.
async fn read_file(duty: &Duty, file: &FileRef, locale: Locale) -> Attachment {
    let read = duty.rest.read_file(file, attachments::CAP_BYTES).await;
    let noted = read
        .note
        .as_ref()
        .map(|note| file_trouble(&file.name, note));
    let other = |encoding: &&String| *encoding != "UTF-8" || read.replaced > 0;
    let encoded =
        read.encoding
            .as_ref()
            .filter(other)
            .map(|encoding| Trouble::AttachmentEncoding {
                name: present::escape::inline(&file.name),
                encoding: encoding.clone(),
                replaced: read.replaced,
            });
    let notes: Vec<String> = [encoded, noted]
        .into_iter()
        .flatten()
        .map(|trouble| say::trouble(locale, &trouble, None))
        .collect();
    let attachment = Attachment {
        name: file.name.clone(),
        text: read.text,
        note: notes.join(" "),
    };
    // Read after the entrance, so redacted here, before anything is stored (R22).
    let redacted = duty.responder.redact(Report {
        attachments: vec![attachment],
        ..Report::default()
    });
    redacted
        .attachments
        .into_iter()
        .next()
        .unwrap_or(Attachment {
            name: file.name.clone(),
            text: String::new(),
            note: String::new(),
        })
}

/// The headline: the interaction's answer, else a message of the bot's own.
async fn headline(
    duty: &Duty,
    work: &Analyze,
    incident: Incident,
    first: &Analysis,
    read: &Read,
) -> Result<Incident, JobError> {
    let view = first_view(&incident, first, read);
    let post = present::headline(first, &view);
    let scope = scope_of(&incident);
    let expired = work.reply.expired(Timestamp::now().as_millisecond());
    let answered = if expired {
        Err(DiscordError::TokenGone)
    } else {
        duty.rest
            .edit_original(&work.reply, &post.edit(), files(&post))
            .await
    };
    let posted = match answered {
        Ok(message) => {
            duty.store
                .remember_post(
                    &incident,
                    0,
                    Slot::Headline.word(),
                    work.place.channel,
                    message,
                )
                .await?;
            Posted {
                channel: work.place.channel,
                message,
            }
        }
        Err(error) if error.is_passing() => return Err(JobError::again(error.to_string())),
        // The person was not acknowledged in time, or 15 minutes are over: with the bot's own token.
        Err(_) => match duty
            .post_once(
                &incident,
                0,
                Slot::Headline.word(),
                work.place.channel,
                &post,
            )
            .await
        {
            Ok(posted) => posted,
            Err(PostError::Discord(error)) if !error.is_passing() => {
                tracing::warn!(reason = error.reason(), "no headline could be posted");
                return Ok(incident);
            }
            Err(error) => return Err(error.into()),
        },
    };
    let changed = Change::Headline(Some(posted.message.to_string()));
    Ok(duty
        .store
        .update(
            &scope,
            incident.id(),
            "precedent",
            Timestamp::now(),
            &[changed],
        )
        .await?)
}

/// The thread from the headline; where there can be none, the channel, and that is said.
async fn thread(
    duty: &Duty,
    work: &Analyze,
    incident: Incident,
    read: &Read,
) -> Result<Incident, JobError> {
    thread_from(duty, work.place.channel, incident, &read.title).await
}

/// A thread from the headline that stands in a channel.
pub(super) async fn thread_from(
    duty: &Duty,
    channel: u64,
    incident: Incident,
    title: &str,
) -> Result<Incident, JobError> {
    if incident.thread.is_some() {
        return Ok(incident);
    }
    let Some(message) = incident
        .headline
        .as_deref()
        .and_then(|id| id.parse::<u64>().ok())
    else {
        return Ok(incident);
    };
    let name = say::thread_name(incident.locale, incident.past.service.as_deref(), title);
    let thread = match duty.rest.start_thread(channel, message, &name).await {
        Ok(thread) => thread,
        // A thread started from a message has the message's id.
        Err(DiscordError::ThreadExists) => message,
        Err(error) if error.is_passing() => return Err(JobError::again(error.to_string())),
        Err(error) => {
            tracing::warn!(reason = error.reason(), "no thread could be started");
            let trouble = match error {
                DiscordError::MissingPermission(name) => {
                    Trouble::MissingPermission(name.unwrap_or("Create Public Threads").to_owned())
                }
                _ => Trouble::NoThread,
            };
            let notice = present::notice(&say::trouble(incident.locale, &trouble, None));
            match duty
                .post_once(&incident, 0, "no-thread", channel, &notice)
                .await
            {
                Ok(_) | Err(PostError::Discord(_)) => return Ok(incident),
                Err(error) => return Err(error.into()),
            }
        }
    };
    let scope = scope_of(&incident);
    let changed = Change::Thread(Some(thread.to_string()));
    Ok(duty
        .store
        .update(
            &scope,
            incident.id(),
            "precedent",
            Timestamp::now(),
            &[changed],
        )
        .await?)
}

fn first_view(incident: &Incident, analysis: &Analysis, read: &Read) -> present::View {
    let mut view = present::View::new(
        read.title.clone(),
        incident.severity.unwrap_or(analysis.severity.severity),
        incident.locale,
        Timestamp::now(),
    );
    view.incident = Some(incident.id());
    view.service.clone_from(&incident.past.service);
    view.status = incident.status;
    view.reporter = super::duty::reporter_name(&incident.reporter).to_owned();
    view.running.times = incident.times();
    view.change_before_impact = read.triage.change_before.is_some();
    view.returned(&read.case);
    view
}

/// The analysis itself: progress, the model or the rules, and what is shown.
async fn analysis(
    duty: &Duty,
    incident: Incident,
    mut read: Read,
    key: &str,
    over_limit: Option<u64>,
) -> Result<(), JobError> {
    let scope = scope_of(&incident);
    let id = incident.id();
    let route = duty.responder.route(&read);
    let seq = duty
        .store
        .begin_analysis(&scope, id, key, &read.case, &route, read.case.now)
        .await?;
    pause::at("begun").await;
    let stored = duty.store.analysis(&scope, id, seq).await?;
    // The model has answered before the process died: its answer stands.
    if let (Some(_), Some(Engine::Model { .. })) = (&stored.proposal, &stored.engine) {
        return Box::pin(show(duty, incident, seq)).await;
    }
    let reason = match (&duty.responder.models, over_limit) {
        (None, _) => Some(FallbackReason::NotConfigured),
        (Some(_), Some(seconds)) => Some(FallbackReason::Budget {
            retry_after_seconds: seconds,
        }),
        (Some(_), None) => None,
    };
    if let Some(reason) = reason {
        let proposed = duty.responder.fall_back(&read, reason);
        return settle(duty, incident, seq, &mut read, &proposed).await;
    }

    let progress = Progress {
        triage: true,
        memory: Some(Precedents::from(&read.case.memory)),
        route: Some(route.clone()),
        analysis: false,
    };
    let provisional = read.clone();
    let view = progress_view(&incident, &read, seq);
    let message = duty
        .post_in_thread(
            &incident,
            seq,
            Slot::Analysis.word(),
            &present::progress(&view, &progress),
        )
        .await?;
    pause::at("progress").await;

    let started = Instant::now();
    let budget = duty
        .responder
        .models
        .as_ref()
        .map_or(Duration::ZERO, Models::budget);
    let deadline = started + budget;
    let mut waiting = Waiting {
        duty,
        incident: &incident,
        seq,
        read: provisional,
        patience: Box::pin(tokio::time::sleep(duty.provisional_after)),
        shown: false,
    };
    waiting
        .while_waiting(duty.responder.refine(&mut read, deadline))
        .await?;
    // Memory was asked again.
    duty.keep_ledger(&incident, &mut read).await;
    let route = duty.responder.route(&read);
    // The decision is stored before the call (R26).
    duty.store
        .begin_analysis(&scope, id, key, &read.case, &route, read.case.now)
        .await?;
    if !waiting.shown {
        let progress = Progress {
            memory: Some(Precedents::from(&read.case.memory)),
            route: Some(route.clone()),
            ..progress
        };
        let view = progress_view(&incident, &read, seq);
        if let Err(error) = duty
            .edit(message, &present::progress(&view, &progress))
            .await
        {
            tracing::warn!(reason = error.reason(), "progress can't be shown");
        }
    }
    let proposed = waiting
        .while_waiting(duty.responder.propose(&mut read, &route, deadline))
        .await?;
    let shown_provisional = waiting.shown;
    let incident = refined(duty, incident, &read).await?;
    if shown_provisional && duty.is_touched(&incident, seq).await? {
        // Somebody works with the provisional cards: they no longer move.
        let next = format!("{key}/model");
        let seq = duty
            .store
            .begin_analysis(&scope, id, &next, &read.case, &route, read.case.now)
            .await?;
        return settle(duty, incident, seq, &mut read, &proposed).await;
    }
    settle(duty, incident, seq, &mut read, &proposed).await
}

/// Waiting for a model, with the rule-based cards at hand (R23).
struct Waiting<'a> {
    duty: &'a Duty,
    incident: &'a Incident,
    seq: u32,
    read: Read,
    patience: Pin<Box<tokio::time::Sleep>>,
    shown: bool,
}

impl Waiting<'_> {
    /// Waits for something; where patience ends first, shows the provisional cards, once.
    async fn while_waiting<T>(&mut self, answer: impl Future<Output = T>) -> Result<T, JobError> {
        tokio::pin!(answer);
        loop {
            tokio::select! {
                answer = &mut answer => return Ok(answer),
                () = &mut self.patience, if !self.shown => {
                    self.shown = true;
                    show_provisional(self.duty, self.incident, self.seq, &self.read).await?;
                }
            }
        }
    }
}

async fn finish_without_model(
    duty: &Duty,
    incident: Incident,
    mut read: Read,
    key: &str,
    reason: FallbackReason,
) -> Result<(), JobError> {
    let scope = scope_of(&incident);
    let route = duty.responder.route(&read);
    let seq = duty
        .store
        .begin_analysis(
            &scope,
            incident.id(),
            key,
            &read.case,
            &route,
            read.case.now,
        )
        .await?;
    let proposed = duty.responder.fall_back(&read, reason);
    settle(duty, incident, seq, &mut read, &proposed).await
}

fn progress_view(incident: &Incident, read: &Read, seq: u32) -> present::View {
    let mut view = present::View::new(
        read.title.clone(),
        incident.severity.unwrap_or_else(|| read.severity()),
        incident.locale,
        Timestamp::now(),
    );
    view.incident = Some(incident.id());
    view.analysis = seq;
    view.service.clone_from(&incident.past.service);
    view
}

/// After ten seconds without a model the rule-based cards are shown, named provisional (R23).
async fn show_provisional(
    duty: &Duty,
    incident: &Incident,
    seq: u32,
    read: &Read,
) -> Result<(), JobError> {
    let mut read = read.clone();
    let proposed = duty
        .responder
        .fall_back(&read, FallbackReason::StillWaiting);
    let analysis = duty.responder.validate(&mut read, &proposed);
    store_answer(duty, incident, seq, &read, &proposed, &analysis).await?;
    let stored = duty
        .store
        .analysis(&scope_of(incident), incident.id(), seq)
        .await?;
    let view = duty
        .view(incident, &stored, &analysis, Timestamp::now())
        .await?;
    duty.post_in_thread(
        incident,
        seq,
        Slot::Analysis.word(),
        &present::cards(&analysis, &view),
    )
    .await?;
    Ok(())
}

/// What the model's triage changed of the incident: its title, and a severity that nobody set.
async fn refined(duty: &Duty, incident: Incident, read: &Read) -> Result<Incident, JobError> {
    let mut changes = Vec::new();
    // What an alert opened keeps the alert's name, by which people know it.
    let by_a_person = reporter_id(&incident.reporter).is_some();
    if by_a_person && incident.past.title != read.title {
        changes.push(Change::Title(read.title.clone()));
    }
    if incident.severity_by.is_none() && incident.severity != Some(read.severity()) {
        changes.push(Change::SeverityProposed(read.severity()));
    }
    if changes.is_empty() {
        return Ok(incident);
    }
    Ok(duty
        .store
        .update(
            &scope_of(&incident),
            incident.id(),
            "precedent",
            Timestamp::now(),
            &changes,
        )
        .await?)
}

/// Stores the answer, then shows it.
async fn settle(
    duty: &Duty,
    incident: Incident,
    seq: u32,
    read: &mut Read,
    proposed: &Proposed,
) -> Result<(), JobError> {
    let analysis = duty.responder.validate(read, proposed);
    store_answer(duty, &incident, seq, read, proposed, &analysis).await?;
    pause::at("answered").await;
    let proposed_severity = analysis.severity.severity;
    let incident = if incident.severity_by.is_none() && incident.severity != Some(proposed_severity)
    {
        let change = Change::SeverityProposed(proposed_severity);
        duty.store
            .update(
                &scope_of(&incident),
                incident.id(),
                "precedent",
                Timestamp::now(),
                &[change],
            )
            .await?
    } else {
        incident
    };
    // On the heap: what is worked out in the end needs the stack.
    Box::pin(show(duty, incident, seq)).await
}

async fn store_answer(
    duty: &Duty,
    incident: &Incident,
    seq: u32,
    read: &Read,
    proposed: &Proposed,
    analysis: &Analysis,
) -> Result<(), JobError> {
    let measures: &Measures = &read.measures;
    duty.store
        .finish_analysis(
            &scope_of(incident),
            incident.id(),
            seq,
            Some(&read.case),
            &proposed.proposal,
            &proposed.engine,
            &analysis.corrections,
            measures,
        )
        .await?;
    Ok(())
}

/// Posts or edits the messages of an analysis, best first, and freezes the ones before.
pub async fn show(duty: &Duty, incident: Incident, seq: u32) -> Result<(), JobError> {
    // While the model thought, people went on: who leads, where it stands.
    let Some(incident) = duty
        .store
        .incident_of_guild(&incident.guild, incident.id())
        .await?
    else {
        return Ok(());
    };
    let scope = scope_of(&incident);
    let stored = duty.store.analysis(&scope, incident.id(), seq).await?;
    let Some(analysis) = duty.shown(&stored) else {
        return Err(JobError::never("an analysis without an answer"));
    };
    let view = duty
        .view(&incident, &stored, &analysis, Timestamp::now())
        .await?;
    duty.store
        .supersede_before(&scope, incident.id(), seq)
        .await?;
    duty.post_in_thread(
        &incident,
        seq,
        Slot::Analysis.word(),
        &present::cards(&analysis, &view),
    )
    .await?;
    pause::at("cards").await;
    duty.post_in_thread(
        &incident,
        seq,
        Slot::Checklist.word(),
        &present::checklist(&analysis, &view),
    )
    .await?;
    pause::at("checklist").await;
    if let Some(update) =
        present::update_post(&analysis, &view).filter(|_| incident.status.is_open())
    {
        duty.post_in_thread(&incident, seq, Slot::Update.word(), &update)
            .await?;
        // What stands in the thread is said with that.
        duty.update_went_out(&incident, &analysis, &view, BOT)
            .await?;
    }
    pause::at("update").await;
    Box::pin(duty.after_update(&incident)).await?;
    for earlier in earlier_analyses(&duty.store, &incident, seq).await? {
        duty.refresh(
            &incident,
            earlier.seq,
            &[Slot::Analysis, Slot::Checklist, Slot::Update],
        )
        .await?;
    }
    retire_offers(duty, &incident, seq).await?;
    // What was written while the model thought is news to this analysis too.
    offer_reanalysis(duty, &scope, incident.id()).await?;
    pause::at("finished").await;
    tracing::info!(incident = %incident.id(), analysis = seq, engine = analysis.engine.word(), corrections = analysis.corrections.len(), "analysis shown");
    Ok(())
}

/// The offer of a new run, once that run is there: its button is gone.
async fn retire_offers(duty: &Duty, incident: &Incident, seq: u32) -> Result<(), JobError> {
    let earlier = earlier_analyses(&duty.store, incident, seq).await?;
    let Some(before) = earlier.last().map(|analysis| analysis.seq) else {
        return Ok(());
    };
    let posts = duty
        .store
        .posts_of(&scope_of(incident), incident.id())
        .await?;
    let notice = present::notice(&say::read_by_analysis(incident.locale, seq));
    for known in posts {
        let posted = match (
            known.channel.parse(),
            known.message.as_deref().map(str::parse),
        ) {
            (Ok(channel), Some(Ok(message))) => Posted { channel, message },
            _ => continue,
        };
        if known.analysis == before
            && matches!(known.slot.as_str(), "offer" | "offer/channel")
            && let Err(error) = duty.edit(posted, &notice).await
        {
            tracing::warn!(reason = error.reason(), "an offer can't be edited");
        }
    }
    Ok(())
}

async fn earlier_analyses(
    store: &Store,
    incident: &Incident,
    seq: u32,
) -> Result<Vec<StoredAnalysis>, JobError> {
    let all = store.analyses(&scope_of(incident), incident.id()).await?;
    Ok(all
        .into_iter()
        .filter(|analysis| analysis.seq < seq && analysis.proposal.is_some())
        .collect())
}

/// The headline as it is now; where it can't be edited, that is logged and nothing is lost.
pub async fn refresh_headline(duty: &Duty, incident: &Incident, post: &Post) {
    let posts = match duty
        .store
        .posts_of(&scope_of(incident), incident.id())
        .await
    {
        Ok(posts) => posts,
        Err(error) => {
            tracing::warn!(
                error = &error as &dyn std::error::Error,
                "the headline can't be found"
            );
            return;
        }
    };
    let found = posts
        .iter()
        .find(|known| known.analysis == 0 && known.slot == Slot::Headline.word());
    let posted = found.and_then(|known| {
        Some(Posted {
            channel: known.channel.parse().ok()?,
            message: known.message.as_deref()?.parse().ok()?,
        })
    });
    if let Some(posted) = posted
        && let Err(error) = duty.edit(posted, post).await
    {
        tracing::warn!(reason = error.reason(), "the headline can't be edited");
    }
}

fn file_trouble(name: &str, note: &FileNote) -> Trouble {
    let name = present::escape::inline(name);
    match *note {
        FileNote::Beginning { read, of } => Trouble::AttachmentTooLarge {
            name,
            read,
            size: of,
        },
        FileNote::Ends { beginning, end, of } => Trouble::AttachmentTooLarge {
            name,
            read: beginning.saturating_add(end),
            size: of,
        },
        FileNote::Shortened { kept, of } => Trouble::AttachmentTooLarge {
            name,
            read: kept,
            size: of,
        },
        FileNote::Binary { of } => Trouble::AttachmentNotText { name, size: of },
        FileNote::Empty => Trouble::AttachmentTooLarge {
            name,
            read: 0,
            size: 0,
        },
        FileNote::Foreign | FileNote::Gone | FileNote::Unreachable { .. } => {
            Trouble::AttachmentUnreachable { name }
        }
    }
}

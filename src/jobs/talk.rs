//! The thread: questions are answered through the same rules, messages are noted as evidence, and
//! an incident is resolved with what memory keeps of it.

use super::duty::{Duty, incident_of, scope_of};
use super::intake::is_question;
use super::outcomes;
use super::queue::JobError;
use super::respond::{Models, Reported, aside};
use super::work::{Evidence, FollowUp, Resolve};
use crate::discord::{DiscordError, attachments};
use crate::incident::report::{Attachment, ThreadMessage};
use crate::incident::{IncidentId, Outcome, Report, Status};
use crate::present::say::{self, Trouble};
use crate::present::{self, AnswerView, Slot};
use crate::response::triage::Said;
use crate::store::{AnswerCorrections, Change, Incident, Resolution, Scope, StoreError};
use crate::validation;
use jiff::{SignedDuration, Timestamp};
use std::time::{Duration, Instant};

/// Messages of one person within this time are one question.
pub const BURST: SignedDuration = SignedDuration::from_millis(1_500);
/// Messages of a thread that count as evidence; older ones go first.
const MOST_MESSAGES: usize = 200;

/// A question is answered: by the command, or in reply to the message.
pub async fn follow_up(duty: &Duty, work: FollowUp) -> Result<(), JobError> {
    if let Some(reply) = &work.reply {
        duty.acknowledgements.wait(reply.interaction).await;
    }
    let (_, found) = duty.scope(&work.place).await?;
    let Some(incident) = found else {
        let trouble = Trouble::NoIncidentHere;
        match &work.reply {
            Some(reply) => {
                let post = present::error(&trouble, None, work.locale);
                duty.answer(reply, &post).await;
            }
            // A message can only be replied to for everybody.
            None => drop(
                duty.rest
                    .post(
                        work.place.channel,
                        &reply_to(
                            &present::notice(&say::trouble(work.locale, &trouble, None)).payload,
                            work.message,
                        ),
                        Vec::new(),
                    )
                    .await,
            ),
        }
        return Ok(());
    };
    let duty = &duty.in_incident(&incident).await;
    let question = burst(&incident, &work);
    let Some(question) = question else {
        // A later message of the same burst answers for this one.
        return Ok(());
    };
    if work.message.is_some()
        && let Err(error) = duty.rest.typing(work.place.channel).await
    {
        tracing::debug!(reason = error.reason(), "no typing indicator");
    }
    let scope = scope_of(&incident);
    let now = Timestamp::now();
    let attempts = duty.store.attempts(&scope, incident.id()).await?;
    let mut read = duty
        .responder
        .read(Reported {
            guild: incident.guild.clone(),
            channel: incident.channel.clone(),
            report: incident.report.clone().unwrap_or_default(),
            said: Said {
                service: incident.past.service.clone(),
                severity: incident.severity.filter(|_| incident.severity_by.is_some()),
            },
            registry: duty.registry(&incident.guild).await,
            locale: incident.locale,
            now,
            own: Some(incident.id()),
            attempts: attempts
                .into_iter()
                .filter(|attempt| !attempt.withdrawn)
                .map(|attempt| attempt.fix)
                .collect(),
        })
        .await;
    duty.keep_ledger(&incident, &mut read).await;
    let shown = match duty.store.latest_analysis(&scope, incident.id()).await? {
        Some(stored) => duty
            .shown(&stored)
            .map(|analysis| lines(&analysis))
            .unwrap_or_default(),
        None => Vec::new(),
    };
    let budget = duty
        .responder
        .models
        .as_ref()
        .map_or(Duration::ZERO, Models::budget);
    let answered = duty
        .responder
        .answer(
            &mut read,
            &question,
            &shown,
            Instant::now() + budget,
            work.over_limit_seconds,
        )
        .await;
    let view = AnswerView {
        incident: Some(incident.id()),
        locale: incident.locale,
        now: Timestamp::now(),
    };
    let mut post = present::answer(&answered, &view);
    match (&work.reply, work.message) {
        (Some(reply), _) => {
            if let Some(message) = duty.answer(reply, &post).await {
                remember(duty, &incident, work.place.channel, message).await?;
            }
        }
        (None, message) => {
            post.payload = reply_to(&post.payload, message);
            let slot = format!("answer/{}", message.unwrap_or_default());
            duty.post_in_thread(&incident, 0, &slot, &post).await?;
        }
    }
    if !answered.corrections.is_empty() {
        let changed = AnswerCorrections {
            question,
            corrections: answered.corrections.clone(),
        };
        let asked = work
            .message
            .or(work.reply.as_ref().map(|reply| reply.interaction));
        duty.once(
            &format!("done/answer/{}", asked.unwrap_or_default()),
            async {
                let at = Timestamp::now();
                duty.store
                    .note_answer(&scope, incident.id(), &work.by, at, &changed)
                    .await?;
                Ok(())
            },
        )
        .await?;
    }
    Ok(())
}

/// A public answer to a command is one of the incident's messages: forgetting it finds them all.
async fn remember(
    duty: &Duty,
    incident: &Incident,
    channel: u64,
    message: u64,
) -> Result<(), StoreError> {
    let slot = format!("answer/{message}");
    duty.store
        .remember_post(incident, 0, &slot, channel, message)
        .await
}

/// All that one person wrote in one go; `None` where a later message of it asks: the last question
/// answers for all.
fn burst(incident: &Incident, work: &FollowUp) -> Option<String> {
    let Some(report) = &incident.report else {
        return Some(work.question.clone());
    };
    if work.message.is_none() {
        return Some(work.question.clone());
    }
    let at = Timestamp::from_millisecond(work.at_ms).ok()?;
    let within = |a: Timestamp, b: Timestamp| a.duration_until(b).abs() <= BURST;
    let mine: Vec<&ThreadMessage> = report
        .thread
        .iter()
        .filter(|message| message.author == work.by)
        .collect();
    // By place, not by time alone: two messages may be of the same millisecond.
    let own = mine
        .iter()
        .position(|message| message.at == at && message.text == work.question)
        .unwrap_or_else(|| mine.partition_point(|message| message.at < at));
    let (before, after) = mine.split_at_checked(own).unwrap_or((&mine, &[]));
    let mut parts: Vec<&str> = Vec::new();
    let mut edge = at;
    for message in before.iter().rev() {
        if !within(message.at, edge) {
            break;
        }
        edge = message.at;
        parts.push(&message.text);
    }
    parts.reverse();
    edge = at;
    for message in after {
        let is_own = message.at == at && message.text == work.question;
        if !within(message.at, edge) {
            break;
        }
        if message.asks && !is_own {
            return None;
        }
        edge = message.at;
        parts.push(&message.text);
    }
    let joined = parts.join("\n");
    Some(if joined.trim().is_empty() {
        work.question.clone()
    } else {
        joined
    })
}

fn reply_to(payload: &serde_json::Value, message: Option<u64>) -> serde_json::Value {
    let mut payload = payload.clone();
    if let (Some(fields), Some(message)) = (payload.as_object_mut(), message) {
        fields.insert(
            "message_reference".into(),
            serde_json::json!({"message_id": message.to_string(), "fail_if_not_exists": false}),
        );
    }
    payload
}

/// What the thread was shown, a line each, for the model.
fn lines(analysis: &crate::validation::Analysis) -> Vec<String> {
    let mut out = Vec::new();
    if !analysis.summary.is_empty() {
        out.push(analysis.summary.clone());
    }
    for (place, hypothesis) in analysis.hypotheses.iter().enumerate() {
        out.push(format!(
            "Hypothesis {}: {} ({})",
            place + 1,
            hypothesis.title,
            hypothesis.source.word()
        ));
        if !hypothesis.fix.is_empty() {
            out.push(format!("  fix: {}", hypothesis.fix));
        }
    }
    for step in &analysis.next_steps {
        out.push(format!("Step ({}): {}", step.risk.word(), step.step));
    }
    out
}

/// A number or a plain negation that contradicts a card is said on the card at once; everything
/// else waits for the next analysis.
async fn show_contradictions(
    duty: &Duty,
    incident: &Incident,
    before: &Report,
    grown: &Report,
) -> Result<(), JobError> {
    let latest = duty
        .store
        .latest_analysis(&scope_of(incident), incident.id())
        .await?;
    let Some(latest) = latest else { return Ok(()) };
    let Some(analysis) = duty.shown(&latest) else {
        return Ok(());
    };
    let against = |report: &Report| validation::contradicted_since(&analysis, report);
    if aside(|| against(before) != against(grown)) {
        duty.refresh(incident, latest.seq, &[Slot::Analysis, Slot::Headline])
            .await?;
    }
    Ok(())
}

/// A message of the thread is evidence for the next analysis: noted with a quiet reaction.
pub async fn evidence(duty: &Duty, work: Evidence) -> Result<(), JobError> {
    let (scope, found) = duty.scope(&work.place).await?;
    let Some(incident) = found.filter(|incident| incident.status.is_open()) else {
        return Ok(());
    };
    let duty = &duty.in_incident(&incident).await;
    let _turn = duty
        .turns
        .take(work.place.guild, incident.id().number())
        .await;
    let at = Timestamp::from_millisecond(work.at_ms).unwrap_or_else(|_| Timestamp::now());
    // Read again within the turn: another message may have been noted meanwhile.
    let incident = duty.store.incident(&scope, incident.id()).await?;
    let mut report = incident.report.clone().unwrap_or_default();
    for file in &work.files {
        let read = duty.rest.read_file(file, attachments::CAP_BYTES).await;
        if !read.text.is_empty() {
            let redacted = duty.responder.redact(Report {
                attachments: vec![Attachment {
                    name: file.name.clone(),
                    text: read.text,
                    note: String::new(),
                }],
                ..Report::default()
            });
            for attachment in redacted.attachments {
                if !report.attachments.contains(&attachment) {
                    report.attachments.push(attachment);
                }
            }
        }
    }
    let before = report.clone();
    let message = ThreadMessage {
        author: work.by.clone(),
        text: work.text.clone(),
        at,
        asks: work.asks,
    };
    let only_asks = work.files.is_empty() && is_question(&work.text);
    if !message.text.trim().is_empty() && !report.thread.contains(&message) {
        report.thread.push(message);
        report.thread.sort_by_key(|message| message.at);
        let too_many = report.thread.len().saturating_sub(MOST_MESSAGES);
        report.thread.drain(..too_many);
    }
    let grown = report.clone();
    let incident = duty
        .store
        .update(
            &scope,
            incident.id(),
            &work.by,
            at,
            &[Change::Report(Box::new(report))],
        )
        .await?;
    show_contradictions(duty, &incident, &before, &grown).await?;
    if only_asks {
        // It is answered; as a question it is no news of the incident.
        return Ok(());
    }
    offer_reanalysis(duty, &scope, incident.id()).await?;
    match duty
        .rest
        .react(work.place.channel, work.message, "📎")
        .await
    {
        Ok(())
        | Err(
            DiscordError::UnknownMessage
            | DiscordError::Archived
            | DiscordError::MissingPermission(_),
        ) => {}
        Err(error) => tracing::debug!(reason = error.reason(), "no reaction"),
    }
    Ok(())
}

/// Offers a new run with what was written since the last one; one message, edited in place.
pub(super) async fn offer_reanalysis(
    duty: &Duty,
    scope: &Scope,
    id: IncidentId,
) -> Result<(), JobError> {
    let incident = duty.store.incident(scope, id).await?;
    let Some(stored) = duty.store.latest_analysis(scope, id).await? else {
        return Ok(());
    };
    let told = |report: &Report| {
        let said = report.thread.iter();
        said.filter(|message| !is_question(&message.text)).count() + report.attachments.len()
    };
    let now = incident.report.as_ref().map_or(0, told);
    let new = now.saturating_sub(told(&stored.case.report));
    if new > 0 && stored.proposal.is_some() {
        let offer = present::offer_reanalysis(id, new, incident.locale);
        duty.post_in_thread(&incident, stored.seq, "offer", &offer)
            .await?;
    }
    Ok(())
}

/// An incident is resolved; memory keeps cause and fix with what became of it (R28).
pub async fn resolve(duty: &Duty, work: Resolve) -> Result<(), JobError> {
    duty.acknowledgements.wait(work.reply.interaction).await;
    let id = incident_of(work.incident)?;
    let Some(incident) = duty
        .store
        .incident_of_guild(&work.guild.to_string(), id)
        .await?
    else {
        let post = present::error(&Trouble::UnknownIncident, None, work.locale);
        duty.answer(&work.reply, &post).await;
        return Ok(());
    };
    let turn = duty.turns.take(work.guild, id.number()).await;
    let given = |text: &str| Some(text.trim().to_owned()).filter(|text| !text.is_empty());
    let resolution = Resolution {
        root_cause: given(&work.cause),
        cause_confirmed: given(&work.cause).is_some(),
        fix: given(&work.fix),
        outcome: match work.worked {
            // Worked, and known to hold only after seven quiet days (R28).
            Some(true) => Outcome::Mitigated,
            Some(false) => Outcome::NoEffect,
            None => Outcome::Unknown,
        },
        ruled_out: work.ruled_out.lines().filter_map(given).collect(),
        prevention: given(&work.prevention),
        environment: None,
    };
    let incident = duty
        .store
        .resolve(
            &scope_of(&incident),
            id,
            &resolution,
            &work.by,
            Timestamp::now(),
        )
        .await?;
    drop(turn);
    debug_assert_eq!(incident.status, Status::Resolved);
    let sentence = say::resolved(
        incident.locale,
        id,
        work.worked,
        &present::escape::inline(&work.by),
    );
    let answered = duty.answer(&work.reply, &present::notice(&sentence)).await;
    let place = incident.thread.as_deref().and_then(|id| id.parse().ok());
    if let (Some(message), Some(channel)) = (answered, place) {
        remember(duty, &incident, channel, message).await?;
    }
    if let Some(stored) = duty.store.latest_analysis(&scope_of(&incident), id).await? {
        duty.refresh(&incident, stored.seq, &[Slot::Headline, Slot::Analysis])
            .await?;
    }
    outcomes::watch(duty, &incident).await?;
    outcomes::ask_sameness(duty, &incident).await
}

//! Old incidents that people tell the bot about: *Remember as incident* on a message, and
//! `/memory review`, which asks what became of fixes that nobody judged.
//!
//! Wanted: twenty seconds for a message, one tap for a question; a review stays where one stopped,
//! because what was answered is answered, and *unsure* is remembered for who said it.

use super::commands::{Answered, Refusal};
use super::duty::Duty;
use super::imports::link;
use crate::discord::{Person, Place, Reply, SeenMessage};
use crate::incident::returns::RETURN_DAYS;
use crate::incident::{FixAttempt, IncidentId, Outcome, PastIncident};
use crate::present::modals::input;
use crate::present::say::{self, Trouble};
use crate::present::{self, RememberPrefill};
use crate::response::postmortem::{self, Origin};
use crate::response::triage;
use crate::store::{Entry, PutOutcome};
use jiff::Timestamp;
use std::collections::BTreeMap;
use std::time::Duration;

/// How long a thread is waited for before the modal opens without it.
const THREAD_WITHIN: Duration = Duration::from_millis(900);
/// Messages of a thread that fill the modal.
const THREAD_MESSAGES: usize = 100;

/// What a message, and the thread around it, tell of an incident.
pub(super) async fn draft(duty: &Duty, place: &Place, message: &SeenMessage) -> PastIncident {
    let mut text = message.text.clone();
    if place.thread {
        let read = duty.rest.messages_after(place.channel, 0, THREAD_MESSAGES);
        if let Ok(Ok(messages)) = tokio::time::timeout(THREAD_WITHIN, read).await {
            for said in messages
                .iter()
                .filter(|said| said.id != message.id && !said.from_bot)
            {
                text.push_str("\n\n");
                text.push_str(&said.text);
            }
        }
    }
    let text = duty.responder.redact_text(&text);
    let guild = place.guild.to_string();
    let registry = duty.registry(&guild).await;
    let source = link(place.guild, place.channel, message.id);
    let origin = Origin {
        name: "",
        source: &source,
        registry: &registry,
    };
    let report = crate::incident::Report::from_text(text.clone());
    let read = triage::triage(&report, &registry, &triage::Said::default());
    let placeholder = IncidentId::new(1);
    let mut past = match (postmortem::read(&text, &origin), placeholder) {
        (Ok(past), _) => past,
        (Err(_), Some(id)) => PastIncident::new(id, read.title.clone()),
        (Err(_), None) => unreachable!("1 is a number of an incident"),
    };
    let has_heading = text.trim_start().starts_with('#');
    if !has_heading || past.title.trim().is_empty() {
        past.title = read.title;
    }
    past.source = source;
    past.service = past.service.or(read.service);
    if past.symptoms.is_empty() {
        past.symptoms = read.symptoms;
    }
    if past.error_signatures.is_empty() {
        past.error_signatures = read.error_signatures;
    }
    if past.started_at.is_none() {
        past.started_at = Timestamp::from_millisecond(message.at_ms).ok();
    }
    past
}

/// The modal's first content.
pub(super) fn prefill(past: &PastIncident, locale: crate::incident::Locale) -> RememberPrefill {
    let outcome = match past.outcome() {
        Outcome::Held | Outcome::Mitigated => Some(true),
        Outcome::NoEffect | Outcome::CameBack | Outcome::MadeWorse => Some(false),
        Outcome::Unknown => None,
    };
    let fits = |text: &str, most| present::escape::cut(text, most);
    RememberPrefill {
        title: fits(&past.title, 200),
        service: fits(past.service.as_deref().unwrap_or_default(), 80),
        cause: fits(&past.root_cause, 1_500),
        fix: fits(past.fix().unwrap_or_default(), 1_500),
        outcome: say::button_review(locale, outcome).to_lowercase(),
    }
}

/// Keeps what the message told until the modal comes back.
pub(super) async fn keep_draft(
    duty: &Duty,
    guild: u64,
    message: u64,
    by: &str,
    past: &PastIncident,
) {
    let Ok(content) = serde_json::to_string(past) else {
        return;
    };
    let kept = duty
        .store
        .keep_preview(
            &guild.to_string(),
            &draft_key(message),
            by,
            &content,
            Timestamp::now(),
        )
        .await;
    if let Err(error) = kept {
        tracing::warn!(
            error = &error as &dyn std::error::Error,
            "what a message tells is not kept beside its modal"
        );
    }
}

fn draft_key(message: u64) -> String {
    format!("message/{message}")
}

/// What a word of the modal says of the fix.
fn outcome_word(word: &str, message: u64, now: Timestamp) -> Outcome {
    let folded = crate::incident::words::fold(word.trim());
    match folded.as_str() {
        "worked" | "yes" | "works" | "fixed" | "有效" | "是" => worked(
            Timestamp::from_millisecond(crate::discord::made_at_ms(message)).ok(),
            now,
        ),
        "failed" | "no" | "无效" | "否" => Outcome::NoEffect,
        other => Outcome::parse(other).unwrap_or_default(),
    }
}

/// *Worked*, said of an old fix: seven quiet days have gone by already, or not yet (R28).
fn worked(over: Option<Timestamp>, now: Timestamp) -> Outcome {
    let quiet = over.is_none_or(|over| now.duration_since(over).as_hours() >= 24 * RETURN_DAYS);
    if quiet {
        Outcome::Held
    } else {
        Outcome::Mitigated
    }
}

/// Stores what the modal says; the same message again is the same record.
pub(super) async fn remember(
    duty: &Duty,
    who: &Person,
    place: &Place,
    message: u64,
    fields: &BTreeMap<String, String>,
) -> Answered {
    let guild = place.guild.to_string();
    let now = Timestamp::now();
    let clean = |name: &str| {
        let text = fields.get(name).map(String::as_str).unwrap_or_default();
        duty.responder.redact_text(text.trim())
    };
    let title = clean(input::TITLE);
    if title.is_empty() {
        return Err(Trouble::EmptyReport.into());
    }
    let source = link(place.guild, place.channel, message);
    let kept = duty.store.preview(&guild, &draft_key(message)).await?;
    let draft: Option<PastIncident> = kept.and_then(|draft| serde_json::from_str(&draft).ok());
    let known = duty.store.imported_document(&guild, &source).await?;
    let Some(placeholder) = IncidentId::new(1) else {
        return Err(Trouble::Unexpected.into());
    };
    let mut past = known
        .as_ref()
        .map(|known| known.past.clone())
        .or(draft)
        .unwrap_or_else(|| PastIncident::new(placeholder, title.clone()));
    past.title = title;
    past.source.clone_from(&source);
    if past.started_at.is_none() {
        past.started_at = Timestamp::from_millisecond(crate::discord::made_at_ms(message)).ok();
    }
    let registry = duty.registry(&guild).await;
    past.service = registry.canonical(&clean(input::SERVICE));
    past.root_cause = clean(input::CAUSE);
    let fix = clean(input::FIX);
    let outcome = outcome_word(
        fields
            .get(input::OUTCOME)
            .map(String::as_str)
            .unwrap_or_default(),
        message,
        now,
    );
    // What was tried before that stays; the last attempt is the one that the modal shows.
    past.attempts.pop();
    if !fix.is_empty() {
        past.attempts.push(FixAttempt {
            by: who.name.clone(),
            at: past.resolved_at.or(past.started_at),
            environment: past.environment.clone(),
            ..FixAttempt::new(fix, outcome)
        });
    }
    let entry = Entry {
        id: known.map(|known| known.past.id),
        past,
        // What is said in a private channel stays there.
        private_to: place.private.then(|| place.channel.to_string()),
    };
    let stored = duty.store.put_past(&guild, &[entry], now, true).await?;
    let Some(PutOutcome::Added(id) | PutOutcome::Replaced(id)) = stored.first() else {
        return Err(Trouble::Unexpected.into());
    };
    duty.store
        .note_documents(&guild, &[(source, "by hand".to_owned(), *id)], now)
        .await?;
    duty.store.drop_preview(&guild, &draft_key(message)).await?;
    Ok(present::private(&say::remembered(who.locale, *id)))
}

/// The next question, or that none is left.
pub(super) async fn next(duty: &Duty, who: &Person, place: &Place) -> Answered {
    let (scope, _) = duty.scope(place).await?;
    let (questions, left) = duty.store.open_questions(&scope, &who.name, 1).await?;
    Ok(match questions.first() {
        Some(question) => present::review_question(
            &question.past,
            question.attempt,
            &question.fix,
            left.saturating_sub(1),
            who.locale,
            Timestamp::now(),
        ),
        None => present::review_done(who.locale),
    })
}

/// Records an answer, and asks the next question in its place.
pub(super) async fn answered(
    duty: &Duty,
    reply: &Reply,
    who: &Person,
    place: &Place,
    incident: IncidentId,
    attempt: u32,
    said: Option<bool>,
) {
    let recorded = async {
        let now = Timestamp::now();
        let (scope, _) = duty.scope(place).await?;
        match said {
            None => {
                duty.store
                    .leave_open(&scope, incident, &who.name, now)
                    .await?;
            }
            Some(said) => {
                let past = duty.store.incident(&scope, incident).await?.past;
                let over = past.resolved_at.or(past.started_at);
                let outcome = if said {
                    worked(over, now)
                } else {
                    Outcome::NoEffect
                };
                duty.store
                    .judge_old_fix(&scope, incident, attempt, outcome, &who.name, now)
                    .await?;
            }
        }
        next(duty, who, place).await
    };
    let locale = who.locale;
    match recorded.await {
        Ok(post) => {
            if let Err(error) = duty.rest.update_message(reply, &post.edit()).await {
                tracing::warn!(reason = error.reason(), "a question could not be replaced");
            }
        }
        Err(Refusal::Trouble(trouble)) => {
            super::intake::refuse(duty, reply, &trouble, locale).await
        }
        Err(Refusal::Store(error)) => {
            super::intake::cannot_record(duty, reply, locale, &error).await;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_of_the_modal() {
        let now: Timestamp = "2026-11-30T12:00:00Z".parse().expect("a time");
        let made = |days: i64| crate::discord::id_at_ms(now.as_millisecond() - days * 86_400_000);
        for (word, days, expected) in [
            ("worked", 30, Outcome::Held),
            ("Worked", 2, Outcome::Mitigated),
            ("有效", 30, Outcome::Held),
            ("failed", 30, Outcome::NoEffect),
            ("came back", 30, Outcome::CameBack),
            ("unsure", 30, Outcome::Unknown),
            ("", 30, Outcome::Unknown),
            ("perhaps", 30, Outcome::Unknown),
        ] {
            assert_eq!(
                outcome_word(word, made(days), now),
                expected,
                "{word}, {days} days"
            );
        }
    }
}

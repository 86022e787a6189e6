//! Clicks: a cause confirmed or rejected, a fix tried and what became of it, steps ticked. One
//! click, recorded, reversible; it feeds memory while the incident runs (R28).

use super::approval;
use super::duty::{Duty, Posted, attempt_key, incident_of, scope_of, word_of_cause};
use super::queue::{Job, JobError};
use super::work::{AskOutcome, Click, Reanalyze, TickSteps, Work, outcome_of};
use crate::incident::{FixAttempt, IncidentId, Outcome, Standing, Status};
use crate::present::say::Trouble;
use crate::present::{self, Action, CardRef, Slot, Tried};
use crate::store::{Attempt, Change, Incident, StoreError};
use jiff::{SignedDuration, Timestamp};
use serde::{Deserialize, Serialize};

/// How long after *Trying this fix* its outcome is asked for, once.
const ASK_AFTER: SignedDuration = SignedDuration::from_mins(15);
/// Two people who press the same button within this time agree.
const AT_ONCE: SignedDuration = SignedDuration::from_secs(3);

/// A button about a cause or a fix.
pub async fn click(duty: &Duty, job: &Job, work: Click) -> Result<(), JobError> {
    duty.acknowledgements.wait(work.interaction).await;
    let Some(action) = Action::parse(&work.custom_id) else {
        return Err(JobError::never("a button that no version posted"));
    };
    let Some(card) = card_of(&action) else {
        return Err(JobError::never("a button about no card"));
    };
    let Some(incident) = find(duty, &work, card).await? else {
        return Ok(());
    };
    let _turn = duty.turns.take(work.guild, card.incident.number()).await;
    let stored = duty
        .store
        .analysis(&scope_of(&incident), card.incident, card.analysis)
        .await?;
    let Some(analysis) = duty.shown(&stored) else {
        return Err(JobError::never("a card without an analysis"));
    };
    let place = usize::from(card.hypothesis);
    let Some(hypothesis) = analysis.hypotheses.get(place) else {
        return Err(JobError::never("a card that is not there"));
    };
    let pressed = Pressed {
        card,
        key: attempt_key(card.analysis, place),
        cause: &hypothesis.title,
        fix: &hypothesis.fix,
        work: &work,
    };
    let (guild, key) = (&incident.guild, &job.command.key);
    let press = duty
        .decided(
            guild,
            key,
            &work.by,
            decide(duty, &incident, &action, &pressed),
        )
        .await?;
    duty.once(
        &format!("done/{key}"),
        act(duty, &incident, &press, &pressed),
    )
    .await?;
    if let Press::Tries { others } | Press::Joins { others } = &press {
        say_trying(duty, &incident, others, &pressed).await?;
    }
    let refuted = match press {
        Press::Went(outcome) if outcome.standing() == Standing::Refuted => {
            let all = duty
                .store
                .attempts(&scope_of(&incident), card.incident)
                .await?;
            let attempt = all.into_iter().find(|attempt| attempt.key == pressed.key);
            attempt.map(|attempt| attempt.seq)
        }
        _ => None,
    };
    let Some(incident) = duty
        .store
        .incident_of_guild(&incident.guild, incident.id())
        .await?
    else {
        return Ok(());
    };
    duty.refresh(
        &incident,
        card.analysis,
        &[Slot::Analysis, Slot::Checklist, Slot::Headline],
    )
    .await?;
    settle_question(duty, &incident, card).await?;
    // Said after the incident was over, a fix that worked is watched from then on.
    super::outcomes::watch(duty, &incident).await?;
    if let Some(seq) = refuted {
        // R27: what failed is told, and the next analysis knows it.
        let again = Work::Reanalyze(Reanalyze {
            guild: work.guild,
            incident: card.incident.number(),
            by: work.by.clone(),
            key: format!("refuted/{seq}/{}", work.interaction),
            reply: None,
            over_limit_seconds: duty.limiter.unasked(work.guild),
            place: None,
        });
        duty.commit(&again).await?;
    }
    duty.settled(&incident.guild, key).await
}

fn card_of(action: &Action) -> Option<CardRef> {
    match action {
        Action::CauseConfirmed(card)
        | Action::NotIt(card)
        | Action::TryingFix(card)
        | Action::Worked(card)
        | Action::NoEffect(card)
        | Action::MadeWorse(card) => Some(*card),
        _ => None,
    }
}

/// The incident of a card, where its analysis still stands; else the person is told.
async fn find(duty: &Duty, work: &Click, card: CardRef) -> Result<Option<Incident>, JobError> {
    let guild = work.guild.to_string();
    let Some(incident) = duty.store.incident_of_guild(&guild, card.incident).await? else {
        let post = present::error(&Trouble::UnknownIncident, None, work.locale);
        duty.tell(&work.reply, &post).await;
        return Ok(None);
    };
    let latest = duty
        .store
        .latest_analysis(&scope_of(&incident), card.incident)
        .await?;
    if latest.is_some_and(|latest| latest.seq > card.analysis && latest.proposal.is_some()) {
        let post = present::error(&Trouble::OldCard, None, work.locale);
        duty.tell(&work.reply, &post).await;
        return Ok(None);
    }
    Ok(Some(incident))
}

/// A press on a card.
struct Pressed<'a> {
    card: CardRef,
    /// Of the attempt at the card's fix.
    key: String,
    cause: &'a str,
    fix: &'a str,
    work: &'a Click,
}

/// What a press on a card means, as things stand when it comes; the same press again takes back.
#[derive(Serialize, Deserialize)]
enum Press {
    Confirms,
    Rejects,
    TakesCauseBack,
    /// The fix is tried, beside what others try.
    Tries {
        others: Vec<Tried>,
    },
    /// The fix that another person tries: one attempt.
    Joins {
        others: Vec<Tried>,
    },
    /// How the fix went.
    Went(Outcome),
    TakesAttemptBack,
    /// Two who pressed the same at once agree.
    Agrees,
}

async fn decide(
    duty: &Duty,
    incident: &Incident,
    action: &Action,
    pressed: &Pressed<'_>,
) -> Result<Press, JobError> {
    match action {
        Action::CauseConfirmed(_) | Action::NotIt(_) => {
            Ok(judged(duty, incident, action, pressed).await?)
        }
        _ => Ok(tried(duty, incident, action, pressed).await?),
    }
}

async fn judged(
    duty: &Duty,
    incident: &Incident,
    action: &Action,
    pressed: &Pressed<'_>,
) -> Result<Press, StoreError> {
    let history = duty
        .store
        .history(&scope_of(incident), incident.id())
        .await?;
    let stands = word_of_cause(&history, pressed.cause);
    let agrees = stands.is_some_and(|event| at_once(pressed.work, &event.by, event.at));
    Ok(match (action, stands.map(|event| event.what.as_str())) {
        (Action::CauseConfirmed(_), Some("cause_confirmed"))
        | (Action::NotIt(_), Some("cause_rejected")) => {
            if agrees {
                Press::Agrees
            } else {
                Press::TakesCauseBack
            }
        }
        (Action::CauseConfirmed(_), _) => Press::Confirms,
        _ => Press::Rejects,
    })
}

async fn tried(
    duty: &Duty,
    incident: &Incident,
    action: &Action,
    pressed: &Pressed<'_>,
) -> Result<Press, StoreError> {
    let (work, now) = (pressed.work, Timestamp::now());
    if pressed.fix.trim().is_empty() {
        return Ok(Press::Agrees);
    }
    let all = duty
        .store
        .attempts(&scope_of(incident), incident.id())
        .await?;
    let others = tried_by_others(&all, &work.by, now);
    let wanted = outcome_of(action).unwrap_or(Outcome::Unknown);
    let stands = all.iter().find(|attempt| {
        attempt.key == pressed.key && !attempt.withdrawn && attempt.fix.outcome == wanted
    });
    Ok(match stands {
        // Who presses *Trying this fix* on what another person tries joins them.
        Some(attempt) if wanted == Outcome::Unknown && attempt.fix.by != work.by => {
            Press::Joins { others }
        }
        Some(attempt) if at_once(work, &attempt.fix.by, attempt.fix.at.unwrap_or(now)) => {
            Press::Agrees
        }
        Some(_) => Press::TakesAttemptBack,
        None if wanted == Outcome::Unknown => Press::Tries { others },
        None => Press::Went(wanted),
    })
}

/// Does what was decided.
async fn act(
    duty: &Duty,
    incident: &Incident,
    press: &Press,
    pressed: &Pressed<'_>,
) -> Result<(), JobError> {
    let (scope, id) = (scope_of(incident), incident.id());
    let (store, by, cause) = (&duty.store, pressed.work.by.as_str(), pressed.cause);
    let now = Timestamp::now();
    match press {
        Press::Confirms => drop(store.confirm_cause(&scope, id, cause, by, now).await?),
        Press::Rejects => drop(store.reject_cause(&scope, id, cause, by, now).await?),
        Press::TakesCauseBack => drop(store.withdraw_cause(&scope, id, cause, by, now).await?),
        Press::Tries { .. } => {
            attempt(duty, incident, Outcome::Unknown, pressed, now).await?;
            if incident.status == Status::Investigating {
                store
                    .update(&scope, id, by, now, &[Change::Status(Status::Fixing)])
                    .await?;
            }
            let ask = Work::AskOutcome(AskOutcome {
                guild: pressed.work.guild,
                incident: id.number(),
                attempt: pressed.key.clone(),
            });
            duty.commit_at(&ask, now.checked_add(ASK_AFTER).ok())
                .await?;
        }
        Press::Went(outcome) => attempt(duty, incident, *outcome, pressed, now).await?,
        Press::TakesAttemptBack => {
            let all = store.attempts(&scope, id).await?;
            if let Some(known) = all.iter().find(|attempt| attempt.key == pressed.key) {
                store
                    .withdraw_attempt(&scope, id, known.seq, by, now)
                    .await?;
            }
        }
        Press::Joins { .. } | Press::Agrees => {}
    }
    Ok(())
}

/// The attempt at a card's fix goes as said; the first word about it begins it.
async fn attempt(
    duty: &Duty,
    incident: &Incident,
    outcome: Outcome,
    pressed: &Pressed<'_>,
    now: Timestamp,
) -> Result<(), StoreError> {
    let (scope, id, by) = (scope_of(incident), incident.id(), &pressed.work.by);
    let all = duty.store.attempts(&scope, id).await?;
    if let Some(known) = all.iter().find(|attempt| attempt.key == pressed.key) {
        duty.store
            .revise_attempt(&scope, id, known.seq, outcome, by, now, None)
            .await?;
        return Ok(());
    }
    let mut attempt = FixAttempt::new(pressed.fix, outcome);
    attempt.at = Some(now);
    attempt.by.clone_from(by);
    attempt.environment.clone_from(&incident.past.environment);
    duty.store
        .record_attempt(&scope, id, &pressed.key, &attempt, now)
        .await?;
    Ok(())
}

/// Whether somebody pressed the same as another person did a moment ago: they could not see it yet,
/// so they agree and take nothing back.
pub(super) fn at_once(work: &Click, by: &str, at: Timestamp) -> bool {
    work.by != by && work.reply.created_ms < at.as_millisecond() + AT_ONCE.as_secs() * 1000
}

/// What other people of the incident try at the moment, whichever card it stands on.
fn tried_by_others(attempts: &[Attempt], by: &str, now: Timestamp) -> Vec<Tried> {
    let open = attempts.iter().filter(|attempt| {
        !attempt.withdrawn && attempt.fix.outcome == Outcome::Unknown && attempt.fix.by != by
    });
    open.map(|attempt| Tried {
        by: present::By {
            name: attempt.fix.by.clone(),
            at: attempt.fix.at.unwrap_or(now),
        },
        fix: attempt.fix.fix.clone(),
    })
    .collect()
}

/// Who tries what is said in the thread; where others try something too, to who began as well.
async fn say_trying(
    duty: &Duty,
    incident: &Incident,
    others: &[Tried],
    pressed: &Pressed<'_>,
) -> Result<(), JobError> {
    let work = pressed.work;
    let begun = Tried {
        by: present::By {
            name: work.by.clone(),
            at: Timestamp::from_millisecond(work.reply.created_ms)
                .unwrap_or_else(|_| Timestamp::now()),
        },
        fix: pressed.fix.to_owned(),
    };
    let said = present::trying(&begun, others, incident.locale);
    let slot = format!("trying/{}", work.interaction);
    duty.post_in_thread(incident, pressed.card.analysis, &slot, &said)
        .await?;
    if !others.is_empty() {
        let told = present::trying_beside(&begun, others, work.locale);
        duty.tell(&work.reply, &told).await;
    }
    Ok(())
}

/// The question how a fix went, where it was asked: answered, it says the answer and asks no more;
/// taken back, it asks again.
async fn settle_question(duty: &Duty, incident: &Incident, card: CardRef) -> Result<(), JobError> {
    let scope = scope_of(incident);
    let key = attempt_key(card.analysis, usize::from(card.hypothesis));
    let slot = format!("ask/{key}");
    let posts = duty.store.posts_of(&scope, incident.id()).await?;
    let asked = posts
        .iter()
        .find(|known| known.slot == slot || known.slot == format!("{slot}/channel"))
        .and_then(|known| {
            Some(Posted {
                channel: known.channel.parse().ok()?,
                message: known.message.as_deref()?.parse().ok()?,
            })
        });
    let Some(asked) = asked else { return Ok(()) };
    let attempts = duty.store.attempts(&scope, incident.id()).await?;
    let Some(attempt) = attempts.iter().find(|attempt| attempt.key == key) else {
        return Ok(());
    };
    let post = if attempt.withdrawn || attempt.fix.outcome == Outcome::Unknown {
        present::how_did_it_go(card, &attempt.fix.by, &attempt.fix.fix, incident.locale)
    } else {
        present::it_went(
            attempt.fix.outcome,
            &attempt.fix.by,
            attempt.fix.at.unwrap_or_else(Timestamp::now),
            &attempt.fix.fix,
            incident.locale,
        )
    };
    if let Err(error) = duty.edit(asked, &post).await {
        tracing::warn!(reason = error.reason(), "a question can't be edited");
    }
    Ok(())
}

/// How a tried fix went is asked once, where nobody has said it.
pub async fn ask_outcome(duty: &Duty, work: AskOutcome) -> Result<(), JobError> {
    let id = incident_of(work.incident)?;
    let Some(incident) = duty
        .store
        .incident_of_guild(&work.guild.to_string(), id)
        .await?
    else {
        return Ok(());
    };
    let attempts = duty.store.attempts(&scope_of(&incident), id).await?;
    let open = attempts.iter().find(|attempt| {
        attempt.key == work.attempt && !attempt.withdrawn && attempt.fix.outcome == Outcome::Unknown
    });
    let Some(attempt) = open.filter(|_| incident.status.is_open()) else {
        return Ok(());
    };
    let Some(card) = card_of_attempt(id, &work.attempt) else {
        return Ok(());
    };
    let asked = present::how_did_it_go(card, &attempt.fix.by, &attempt.fix.fix, incident.locale);
    duty.post_in_thread(&incident, 0, &format!("ask/{}", work.attempt), &asked)
        .await?;
    Ok(())
}

/// The card whose buttons an attempt's key stands for.
fn card_of_attempt(incident: IncidentId, key: &str) -> Option<CardRef> {
    let (analysis, hypothesis) = key.split_once('/')?;
    Some(CardRef {
        incident,
        analysis: analysis.parse().ok()?,
        hypothesis: hypothesis.parse().ok()?,
    })
}

/// Steps are ticked and unticked; destructive ones once a named approver answers for them (R18).
pub async fn tick(duty: &Duty, work: TickSteps) -> Result<(), JobError> {
    duty.acknowledgements.wait(work.click.interaction).await;
    let Some(Action::Tick {
        incident: id,
        analysis: seq,
    }) = Action::parse(&work.click.custom_id)
    else {
        return Err(JobError::never("a list of steps that no version posted"));
    };
    let guild = work.click.guild.to_string();
    let Some(incident) = duty.store.incident_of_guild(&guild, id).await? else {
        let post = present::error(&Trouble::UnknownIncident, None, work.click.locale);
        duty.tell(&work.click.reply, &post).await;
        return Ok(());
    };
    let _turn = duty.turns.take(work.click.guild, id.number()).await;
    let scope = scope_of(&incident);
    let stored = duty.store.analysis(&scope, id, seq).await?;
    let Some(analysis) = duty.shown(&stored) else {
        return Err(JobError::never("a checklist without an analysis"));
    };
    let now = Timestamp::now();
    let done = duty.store.ticks(&scope, id, seq).await?;
    let asked = duty.store.approvals(&scope, id, seq).await?;
    let mut unapproved = Vec::new();
    for (place, step) in analysis.next_steps.iter().enumerate() {
        let place = u32::try_from(place).unwrap_or(u32::MAX);
        let ticked = work.ticked.contains(&place);
        if ticked
            && step.needs_approver()
            && !approval::standing(&asked, place, step).is_some_and(|request| request.is_approved())
        {
            // What is ticked stays so, whatever became of its approval since.
            if !done.iter().any(|tick| tick.step == place && tick.ticked) {
                unapproved.push(place);
            }
            continue;
        }
        duty.store
            .tick(&scope, id, seq, place, ticked, &work.click.by, now)
            .await?;
    }
    if !unapproved.is_empty() {
        approval::ask(duty, &incident, &stored, &analysis, &work, &unapproved).await?;
    }
    duty.refresh(&incident, seq, &[Slot::Checklist]).await
}

/// An update that was behind its button is posted.
pub async fn show_update(duty: &Duty, work: Click) -> Result<(), JobError> {
    duty.acknowledgements.wait(work.interaction).await;
    let Some(Action::ShowUpdate {
        incident: id,
        analysis: seq,
    }) = Action::parse(&work.custom_id)
    else {
        return Err(JobError::never("a button that no version posted"));
    };
    let Some(incident) = duty
        .store
        .incident_of_guild(&work.guild.to_string(), id)
        .await?
    else {
        let post = present::error(&Trouble::UnknownIncident, None, work.locale);
        duty.tell(&work.reply, &post).await;
        return Ok(());
    };
    let stored = duty.store.analysis(&scope_of(&incident), id, seq).await?;
    let Some(analysis) = duty.shown(&stored) else {
        return Ok(());
    };
    let mut view = duty
        .view(&incident, &stored, &analysis, Timestamp::now())
        .await?;
    view.update_shown = true;
    if let Some(post) = present::update_post(&analysis, &view) {
        duty.post_in_thread(&incident, seq, Slot::Update.word(), &post)
            .await?;
        duty.update_went_out(&incident, &analysis, &view, &work.by)
            .await?;
        duty.after_update(&incident).await?;
    }
    Ok(())
}

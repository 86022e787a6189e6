//! A destructive step asks for a named approver in the thread, and is ticked once there is one (R18).
//!
//! Design: what was said is stored, one row each; who may say what is decided in
//! [`crate::incident::approval`]. The request is a message of its own, composed anew with the
//! checklist: when it is answered, when the step is ticked, when a later analysis replaces it, when
//! the step is gone. An approval holds for the words that were approved: a digest of step and
//! command is stored with it, and where the step reads otherwise (something that it rested on was
//! forgotten) nothing is approved. Whoever asked, and whoever answers, is told alone what did not
//! happen; what happened, everybody sees. Nobody is mentioned.
//!
//! Deliberately absent: approvals that outlive their analysis (a new one may say something else of
//! the same step), and running anything.

use super::duty::{Duty, Posted, scope_of};
use super::queue::JobError;
use super::work::{Approve, TickSteps};
use crate::incident::Right;
use crate::incident::approval::{Answer, Entry, Press, Request, State, Who, Word};
use crate::incident::rights::{self, Deed};
use crate::present::say::{self, Trouble};
use crate::present::{self, Action, By, StepRef, View, Void};
use crate::store::{self, Approval, Incident, StoredAnalysis};
use crate::validation::Analysis;
use crate::validation::analysis::NextStep;
use jiff::Timestamp;
use sha2::{Digest, Sha256};

/// How often what another process stored at the same moment is read again.
const TRIES: usize = 4;

fn right() -> Right {
    rights::right_for(Deed::ApproveStep)
}

/// A digest of what is approved.
fn words_of(step: &NextStep) -> String {
    let mut hash = Sha256::new();
    hash.update(step.step.as_bytes());
    hash.update([0]);
    hash.update(step.command.as_bytes());
    hash.finalize()
        .iter()
        .take(16)
        .map(|byte| format!("{byte:02x}"))
        .collect()
}

/// How the request for a step stands; `None` where nobody asked for it as it reads now.
pub(super) fn standing(asked: &[Approval], place: u32, step: &NextStep) -> Option<Request> {
    let words = words_of(step);
    let of_step = asked
        .iter()
        .filter(|said| said.step == place && said.words == words);
    Request::of(of_step.map(|said| &said.entry))
}

/// The requests of an analysis as they are shown.
pub(super) fn shown(asked: &[Approval], analysis: &Analysis) -> Vec<present::Approval> {
    let steps = analysis.next_steps.iter().enumerate();
    steps
        .filter(|(_, step)| step.needs_approver())
        .filter_map(|(index, step)| {
            let place = u32::try_from(index).ok()?;
            Some(as_shown(index, &standing(asked, place, step)?))
        })
        .collect()
}

fn as_shown(step: usize, request: &Request) -> present::Approval {
    let by = |who: &Who| By {
        name: who.name.clone(),
        at: who.at,
    };
    present::Approval {
        step,
        asked: by(&request.asked),
        state: match &request.state {
            State::Waiting => present::ApprovalState::Waiting,
            State::Approved(who) if request.is_self_approved() => {
                present::ApprovalState::SelfApproved(by(who))
            }
            State::Approved(who) => present::ApprovalState::Approved(by(who)),
            State::NotNow(who) => present::ApprovalState::NotNow(by(who)),
        },
    }
}

fn last_seq(asked: &[Approval], place: u32) -> u32 {
    let of_step = asked.iter().filter(|said| said.step == place);
    of_step.map(|said| said.seq).max().unwrap_or(0)
}

fn slot(place: u32, seq: u32) -> String {
    format!("approval/{place}/{seq}")
}

/// Destructive steps were ticked that nobody approved: they are asked for in the thread, and who
/// ticked them is told.
pub(super) async fn ask(
    duty: &Duty,
    incident: &Incident,
    stored: &StoredAnalysis,
    analysis: &Analysis,
    work: &TickSteps,
    places: &[u32],
) -> Result<(), JobError> {
    let (scope, id, click) = (scope_of(incident), incident.id(), &work.click);
    let now = Timestamp::now();
    let view = duty.view(incident, stored, analysis, now).await?;
    if view.superseded_by.is_some() {
        let post = present::error(&Trouble::OldCard, None, click.locale);
        duty.tell(&click.reply, &post).await;
        return Ok(());
    }
    let mut new = Vec::new();
    let mut waiting = Vec::new();
    for &place in places {
        let Some(step) = step_at(analysis, place) else {
            continue;
        };
        let asked = duty.store.approvals(&scope, id, stored.seq).await?;
        let waits =
            standing(&asked, place, step).is_some_and(|request| request.state == State::Waiting);
        let number = (place + 1).to_string();
        if waits {
            waiting.push(number);
        } else {
            let said = Approval {
                step: place,
                seq: last_seq(&asked, place) + 1,
                entry: entry(Word::Asked, work.who, &click.by, now),
                words: words_of(step),
            };
            let added = duty
                .store
                .say_approval(&scope, id, stored.seq, &said, click.interaction)
                .await?;
            // Somebody else asked, or this was asked and answered before the process died.
            if added { &mut new } else { &mut waiting }.push(number);
        }
    }
    // Posted from what is stored: a job that runs again finds its request, and posts it once.
    let asked = duty.store.approvals(&scope, id, stored.seq).await?;
    let view = duty.view(incident, stored, analysis, now).await?;
    for &place in places {
        let (Some(step), Some(shown)) = (step_at(analysis, place), shown_at(&view, place)) else {
            continue;
        };
        let post = present::approval_request(step, shown, &view);
        let seq = asked_seq(&asked, place);
        duty.post_in_thread(incident, stored.seq, &slot(place, seq), &post)
            .await?;
    }
    let locale = click.locale;
    let mut lines = Vec::new();
    if !new.is_empty() {
        lines.push(say::needs_an_approver(
            locale,
            &say::listed(locale, &new),
            new.len() > 1,
            say::right(locale, right()),
        ));
    }
    if !waiting.is_empty() {
        let steps = say::listed(locale, &waiting);
        lines.push(say::waits_already(locale, &steps, waiting.len() > 1));
    }
    if duty.allowed(&work.may, click.guild, right()).await? {
        lines.push(say::may_approve_alone(locale).to_owned());
    }
    let told = present::private(&lines.join("\n"));
    duty.tell(&click.reply, &told).await;
    Ok(())
}

fn entry(word: Word, person: u64, name: &str, at: Timestamp) -> Entry {
    Entry {
        word,
        who: Who {
            person,
            name: name.to_owned(),
            at,
        },
    }
}

fn step_at(analysis: &Analysis, place: u32) -> Option<&NextStep> {
    analysis
        .next_steps
        .get(usize::try_from(place).ok()?)
        .filter(|step| step.needs_approver())
}

fn shown_at(view: &View, place: u32) -> Option<&present::Approval> {
    let place = usize::try_from(place).ok()?;
    view.approvals.iter().find(|asked| asked.step == place)
}

/// The number under which a step was asked for last.
fn asked_seq(asked: &[Approval], place: u32) -> u32 {
    let of_step = asked
        .iter()
        .filter(|said| said.step == place && said.entry.word == Word::Asked);
    of_step.map(|said| said.seq).max().unwrap_or(0)
}

/// *Approve*, *Approve my own request* or *Not now* was pressed.
pub async fn answer(duty: &Duty, work: Approve) -> Result<(), JobError> {
    let click = &work.click;
    duty.acknowledgements.wait(click.interaction).await;
    let (press, at) = match Action::parse(&click.custom_id) {
        Some(Action::Approve(at)) => (Press::Approve, at),
        Some(Action::ApproveOwn(at)) => (Press::ApproveOwn, at),
        Some(Action::NotNow(at)) => (Press::NotNow, at),
        _ => return Err(JobError::never("a button that no version posted")),
    };
    let refuse = async |trouble: Trouble| {
        let post = present::error(&trouble, None, click.locale);
        duty.tell(&click.reply, &post).await;
    };
    // What can't be seen from where the button was pressed can't be approved there: an id of
    // another server or of a private channel means nothing here.
    let (seen_from, _) = duty.scope(&work.place).await?;
    let incident = match duty.store.incident(&seen_from, at.incident).await {
        Ok(incident) => incident,
        Err(store::StoreError::NotFound) => {
            refuse(Trouble::UnknownIncident).await;
            return Ok(());
        }
        Err(error) => return Err(error.into()),
    };
    let _turn = duty.turns.take(click.guild, at.incident.number()).await;
    let scope = scope_of(&incident);
    let place = u32::from(at.step);
    let stored = match duty.store.analysis(&scope, at.incident, at.analysis).await {
        Ok(stored) => stored,
        Err(store::StoreError::NotFound) => {
            refuse(Trouble::UnknownAction).await;
            return Ok(());
        }
        Err(error) => return Err(error.into()),
    };
    let Some(analysis) = duty.shown(&stored) else {
        refuse(Trouble::UnknownAction).await;
        return Ok(());
    };
    let may = duty.allowed(&work.may, click.guild, right()).await?;
    for _ in 0..TRIES {
        let asked = duty
            .store
            .approvals(&scope, at.incident, at.analysis)
            .await?;
        if !asked.iter().any(|said| said.step == place) {
            // Nobody asked: no version of the bot posted this button.
            refuse(Trouble::UnknownAction).await;
            return Ok(());
        }
        let now = Timestamp::now();
        let view = duty.view(&incident, &stored, &analysis, now).await?;
        let (Some(step), true) = (step_at(&analysis, place), view.superseded_by.is_none()) else {
            let trouble = if view.superseded_by.is_some() {
                Trouble::OldCard
            } else {
                Trouble::StepGone
            };
            refuse(trouble).await;
            break;
        };
        let Some(request) = standing(&asked, place, step) else {
            refuse(Trouble::StepGone).await;
            break;
        };
        let pressed_at = Timestamp::from_millisecond(click.reply.created_ms).unwrap_or(now);
        let done = view
            .ticks
            .iter()
            .any(|tick| tick.step == usize::from(at.step));
        let word = match request.answer(press, work.who, may, pressed_at) {
            Answer::NotAllowed => {
                refuse(Trouble::NotAllowed(right().into())).await;
                return Ok(());
            }
            Answer::ConfirmOwn => {
                let post = present::approve_own(at, click.locale);
                duty.tell(&click.reply, &post).await;
                return Ok(());
            }
            Answer::Record(word) if !done => word,
            // What is done is approved no more and taken back no more.
            Answer::Record(_) | Answer::Stands => {
                tell_how_it_stands(duty, &work, at, &request).await;
                break;
            }
        };
        let said = Approval {
            step: place,
            seq: last_seq(&asked, place) + 1,
            entry: entry(word, work.who, &click.by, now),
            words: words_of(step),
        };
        let added = duty
            .store
            .say_approval(&scope, at.incident, at.analysis, &said, click.interaction)
            .await?;
        if added {
            tracing::info!(incident = %at.incident, step = place + 1, word = ?word, alone = press == Press::ApproveOwn, "a destructive step was answered");
            break;
        }
        // Another process was faster, or this job ran before: what stands now decides.
    }
    duty.refresh(&incident, at.analysis, &[present::Slot::Checklist])
        .await
}

/// Told to who pressed what stands already; who said it themselves a moment ago needs no telling.
async fn tell_how_it_stands(duty: &Duty, work: &Approve, at: StepRef, request: &Request) {
    let said_it = match &request.state {
        State::Approved(who) | State::NotNow(who) => who.person == work.who,
        State::Waiting => false,
    };
    if said_it {
        return;
    }
    let shown = as_shown(usize::from(at.step), request);
    let post = present::approval_stands(&shown, work.click.locale);
    duty.tell(&work.click.reply, &post).await;
}

/// Composes the requests of an analysis anew.
pub(super) async fn refresh(
    duty: &Duty,
    incident: &Incident,
    analysis: &Analysis,
    view: &View,
    posts: &[store::Post],
) -> Result<(), JobError> {
    let prefix = "approval/";
    let mut asked = None;
    for known in posts.iter().filter(|post| post.analysis == view.analysis) {
        let Some((place, seq)) = known.slot.strip_prefix(prefix).and_then(|rest| {
            let mut parts = rest.split('/');
            let place: u32 = parts.next()?.parse().ok()?;
            Some((place, parts.next()?.parse::<u32>().ok()?))
        }) else {
            continue;
        };
        let (Ok(channel), Some(Ok(message))) = (
            known.channel.parse(),
            known.message.as_deref().map(str::parse),
        ) else {
            continue;
        };
        let asked = match &mut asked {
            Some(asked) => asked,
            none => none.insert(
                duty.store
                    .approvals(&scope_of(incident), incident.id(), view.analysis)
                    .await?,
            ),
        };
        let void = |why| {
            let step = usize::try_from(place).unwrap_or(usize::MAX);
            present::approval_void(incident.id(), step, why, incident.locale)
        };
        let post = match (step_at(analysis, place), shown_at(view, place)) {
            _ if asked_seq(asked, place) > seq => void(Void::AskedAgain),
            (Some(step), Some(shown)) => present::approval_request(step, shown, view),
            _ => void(Void::StepGone),
        };
        if let Err(error) = duty.edit(Posted { channel, message }, &post).await {
            if error.is_passing() {
                return Err(JobError::again(error.to_string()));
            }
            tracing::warn!(reason = error.reason(), "a request can't be edited");
        }
    }
    Ok(())
}

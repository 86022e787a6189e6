//! A destructive step asks for a named approver in the thread (R18).
//!
//! Wanted: who reads it on a phone knows what would be destroyed, who wants it, who may say yes,
//! and what was said; one tap either way, and nothing in it that a tap copies: the command stands
//! in no code. Nobody is mentioned.

use super::custom_id::{Action, StepRef};
use super::escape::cut;
use super::ink::Ink;
use super::payload::{Button, CONTENT, Message, Row, Style};
use super::{By, Post, Slot, View, say};
use crate::incident::rights::{Deed, right_for};
use crate::incident::{IncidentId, Locale};
use crate::validation::analysis::NextStep;

/// How a request for an approver stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ApprovalState {
    /// Nobody has answered.
    Waiting,
    /// Somebody approved what another person asked for.
    Approved(By),
    /// Who asked approved it.
    SelfApproved(By),
    /// Not now.
    NotNow(By),
}

/// A request for an approver.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Approval {
    /// Which step, from 0.
    pub step: usize,
    /// Who asked, and when.
    pub asked: By,
    /// How it stands.
    pub state: ApprovalState,
}

/// Why a request is no longer to be answered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Void {
    /// It was asked anew.
    AskedAgain,
    /// The step is not what it was.
    StepGone,
}

/// The request in the thread, as it stands.
pub fn approval_request(step: &NextStep, approval: &Approval, view: &View) -> Post {
    let locale = view.locale;
    let ink = Ink::discord(locale, view.now);
    let number = approval.step + 1;
    let asker = ink.text(&approval.asked.name, 60);
    let id = view.incident;
    let heading = |say: fn(Locale, IncidentId, usize) -> String| {
        id.map(|id| ink.bold(&say(locale, id, number)))
    };
    let mut lines = Vec::new();
    if let Some(by) = view.superseded_by {
        lines.push(ink.bold(&say::superseded(locale, by)));
    }
    let answer = state_line(approval, &ink);
    lines.extend(match &approval.state {
        ApprovalState::Waiting => heading(say::approval_needed),
        ApprovalState::Approved(_) | ApprovalState::SelfApproved(_) => heading(say::approval_given),
        ApprovalState::NotNow(_) => heading(say::approval_refused),
    });
    lines.push(format!("> {}", ink.text(&step.step, 300)));
    if !step.command.trim().is_empty() {
        lines.push(format!("> {}", ink.text(&step.command, 400)));
    }
    let tick = view.ticks.iter().find(|tick| tick.step == approval.step);
    if approval.state == ApprovalState::Waiting {
        lines.push(say::approval_asked_by(
            locale,
            &asker,
            &ink.clock(approval.asked.at),
            say::right(locale, right_for(Deed::ApproveStep)),
        ));
    } else {
        lines.push(answer);
        lines.push(say::approval_was_asked_by(locale, &asker));
    }
    if let Some(tick) = tick {
        let (who, when) = (ink.text(&tick.by.name, 60), ink.clock(tick.by.at));
        lines.push(say::approved_and_done(locale, &who, &when));
    }
    let buttons = match id {
        // What is done can't be taken back, and a step of a replaced analysis is not done.
        Some(incident) if view.superseded_by.is_none() && tick.is_none() => {
            buttons(incident, view.analysis, approval, locale)
        }
        _ => Vec::new(),
    };
    Message {
        content: cut(&lines.join("\n"), CONTENT),
        rows: rows(buttons),
        ..Message::default()
    }
    .post(Slot::Reply)
}

/// A request that is no longer to be answered.
pub fn approval_void(id: IncidentId, step: usize, why: Void, locale: Locale) -> Post {
    let why = match why {
        Void::AskedAgain => say::asked_again_below(locale),
        Void::StepGone => say::step_is_gone(locale),
    };
    Message {
        content: format!("**{}**\n{why}", say::approval_needed(locale, id, step + 1)),
        ..Message::default()
    }
    .post(Slot::Reply)
}

/// To who asked for it and presses *Approve*: whether they approve alone.
pub fn approve_own(at: StepRef, locale: Locale) -> Post {
    let button = Button::new(Action::ApproveOwn(at), say::button_approve_own(locale));
    Message {
        content: say::approve_own_question(locale, usize::from(at.step) + 1),
        rows: rows(vec![button.style(Style::Danger)]),
        ..Message::default()
    }
    .post(Slot::Private)
}

/// How a request stands, as a step's line says it.
pub(super) fn state_line(approval: &Approval, ink: &Ink) -> String {
    let locale = ink.locale;
    let said = |say: fn(Locale, &str, &str) -> String, by: &By| {
        say(locale, &ink.text(&by.name, 40), &ink.clock(by.at))
    };
    match &approval.state {
        ApprovalState::Waiting => said(say::approval_waits, &approval.asked),
        ApprovalState::Approved(by) => said(say::approved_by, by),
        ApprovalState::SelfApproved(by) => said(say::self_approved_by, by),
        ApprovalState::NotNow(by) => said(say::refused_by, by),
    }
}

/// How a request stands, to one person alone.
pub fn approval_stands(approval: &Approval, locale: Locale) -> Post {
    let ink = Ink::discord(locale, approval.asked.at);
    let how = state_line(approval, &ink);
    super::private(&say::answered_already(locale, &how))
}

fn buttons(
    incident: IncidentId,
    analysis: u32,
    approval: &Approval,
    locale: Locale,
) -> Vec<Button> {
    let Ok(step) = u8::try_from(approval.step) else {
        return Vec::new();
    };
    let at = StepRef {
        incident,
        analysis,
        step,
    };
    let approve =
        Button::new(Action::Approve(at), say::button_approve(locale)).style(Style::Danger);
    let not_now = |label: &str| Button::new(Action::NotNow(at), label).style(Style::Secondary);
    match approval.state {
        ApprovalState::Waiting => vec![approve, not_now(say::button_not_now(locale))],
        ApprovalState::Approved(_) | ApprovalState::SelfApproved(_) => {
            vec![not_now(say::button_take_approval_back(locale))]
        }
        ApprovalState::NotNow(_) => vec![approve],
    }
}

fn rows(buttons: Vec<Button>) -> Vec<Row> {
    if buttons.is_empty() {
        Vec::new()
    } else {
        vec![Row::Buttons(buttons)]
    }
}

#[cfg(test)]
mod tests {
    use super::super::checks::{assert_legal, id, sample, text, view};
    use super::*;
    use proptest::prelude::*;

    fn states(by: &By) -> [ApprovalState; 4] {
        [
            ApprovalState::Waiting,
            ApprovalState::Approved(by.clone()),
            ApprovalState::SelfApproved(by.clone()),
            ApprovalState::NotNow(by.clone()),
        ]
    }

    #[test]
    fn r18_a_request_holds_the_command_in_no_code_and_says_who_may() {
        let step = sample()
            .next_steps
            .into_iter()
            .find(NextStep::needs_approver)
            .expect("a destructive step");
        for locale in [Locale::En, Locale::Zh] {
            let view = view(locale);
            let by = By {
                name: "Ana".into(),
                at: view.now,
            };
            for state in states(&by) {
                let approval = Approval {
                    step: 5,
                    asked: By {
                        name: "alice".into(),
                        at: view.now,
                    },
                    state: state.clone(),
                };
                let post = approval_request(&step, &approval, &view);
                assert_legal(&post);
                let content = post.payload["content"].as_str().unwrap_or_default();
                assert!(
                    content.contains("FLUSHDB")
                        && content.contains("alice")
                        && !content.contains('`'),
                    "{content}"
                );
                let waits = state == ApprovalState::Waiting;
                assert_eq!(
                    content.contains(say::right(locale, right_for(Deed::ApproveStep))),
                    waits
                );
            }
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 48, max_shrink_iters: 60, failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn a_request_fits_whatever_it_holds(
            words in text(), command in text(), name in text(), step in 0usize..400,
            zh in any::<bool>(), done in any::<bool>(), replaced in any::<bool>(),
        ) {
            let mut view = view(if zh { Locale::Zh } else { Locale::En });
            let by = By { name, at: view.now };
            if done {
                view.ticks = vec![super::super::Tick { step, by: by.clone() }];
            }
            view.superseded_by = replaced.then_some(u32::MAX);
            let mut given = sample().next_steps.remove(0);
            given.step = words;
            given.command = command;
            for state in states(&by) {
                let approval = Approval { step, asked: by.clone(), state };
                let post = approval_request(&given, &approval, &view);
                assert_legal(&post);
                let buttons = post.payload["components"].as_array().map_or(0, Vec::len);
                prop_assert!(!(done || replaced) || buttons == 0);
                assert_legal(&approval_stands(&approval, view.locale));
            }
            assert_legal(&approval_void(id(999_999_999), step, Void::StepGone, view.locale));
            let at = StepRef { incident: id(999_999_999), analysis: u32::MAX, step: u8::MAX };
            assert_legal(&approve_own(at, view.locale));
        }
    }
}

//! Next steps and what not to repeat (R16-R18).

use super::analysis::{DoNotRepeat, NextStep};
use super::context::Context;
use super::grounding::Place;
use super::log::Log;
use super::risk;
use super::text;
use crate::incident::proposal::{ProposedStep, Risk};
use crate::incident::sameness::{near_or_same, same};
use crate::incident::{IncidentId, Outcome, Standing};
use crate::response::checks;

/// Fewest steps of a checklist (R16).
pub const FEWEST_STEPS: usize = 4;
/// Most steps of a checklist (R16).
pub const MOST_STEPS: usize = 7;

/// Steps as they may be shown, each with its computed risk; the order is still the proposal's.
pub(super) fn checked(context: &Context<'_>, proposed: &[ProposedStep], cited: &[IncidentId], at: &str, log: &mut Log) -> Vec<NextStep> {
    let mut out: Vec<NextStep> = Vec::new();
    for (index, said) in proposed.iter().enumerate() {
        let at = format!("{at}[{index}]");
        let mut command = context.claim(&said.command, text::SENTENCE, cited, Place::Command, &format!("{at}.command"), log);
        let step = context.claim(&said.step, text::SENTENCE, cited, Place::Body, &format!("{at}.step"), log);
        if step.is_empty() {
            if !said.step.trim().is_empty() || said.command.trim().is_empty() {
                log.note("R16", &at, &said.step, "");
                continue;
            }
            // A bare command is its own description.
            if command.is_empty() {
                log.note("R16", &at, &said.command, "");
                continue;
            }
        }
        let step = if step.is_empty() { std::mem::take(&mut command) } else { step };
        // Judged as proposed: a placeholder in a command is no redirection.
        let computed = if command.is_empty() { risk::of_step(&step, "") } else { risk::of_step(&said.step, &said.command) };
        let risk = said.risk.map_or(computed, |proposed| proposed.max(computed));
        log.note("R16", format!("{at}.risk"), said.risk.map_or("", Risk::word), risk.word());
        if out.iter().any(|known| known.step == step && known.command == command) {
            log.note("R16", &at, &step, "");
            continue;
        }
        out.push(NextStep {
            expect: context.claim(&said.expect, text::SENTENCE, cited, Place::Timed, &format!("{at}.expect"), log),
            undo: context.claim(&said.undo, text::SENTENCE, cited, Place::Timed, &format!("{at}.undo"), log),
            step,
            command,
            risk,
            standard: false,
        });
    }
    out
}

/// Without the steps that repeat a failed fix, and what is not to be repeated (R17).
pub(super) fn without_failed(context: &Context<'_>, mut steps: Vec<NextStep>, log: &mut Log) -> (Vec<NextStep>, Vec<DoNotRepeat>) {
    let failed = failed_fixes(context);
    steps.retain(|step| {
        let repeats = step.changes_something()
            && failed.iter().any(|fix| near_or_same(&step.step, &fix.words) || near_or_same(&step.command, &fix.words));
        if repeats {
            log.note("R17", "next_steps", &step.step, "");
        }
        !repeats
    });
    (steps, failed.into_iter().map(|fix| fix.shown).collect())
}

/// A checklist: failed fixes out, read-only first, four to seven steps (R16, R17).
pub(super) fn checklist(context: &Context<'_>, steps: Vec<NextStep>, log: &mut Log) -> (Vec<NextStep>, Vec<DoNotRepeat>) {
    let (mut steps, do_not_repeat) = without_failed(context, steps, log);
    fill(context, &mut steps, log);
    let before: Vec<String> = steps.iter().map(|step| step.step.clone()).collect();
    steps.sort_by_key(|step| step.risk);
    let after: Vec<String> = steps.iter().map(|step| step.step.clone()).collect();
    log.note("R16", "next_steps", format!("order: {}", before.join(" | ")), format!("order: {}", after.join(" | ")));
    while steps.len() > MOST_STEPS {
        if let Some(step) = steps.pop() {
            log.note("R16", "next_steps", &step.step, "");
        }
    }
    (steps, do_not_repeat)
}

/// Standard checks of the failure class, where steps are too few or none of them only reads.
fn fill(context: &Context<'_>, steps: &mut Vec<NextStep>, log: &mut Log) {
    let case = context.case;
    let mut standard = checks::standard(case.failure_class, case.locale, case.service.as_deref()).into_iter();
    let lacks_reading = |steps: &[NextStep]| !steps.iter().any(|step| step.risk == Risk::ReadOnly);
    while steps.len() < FEWEST_STEPS || lacks_reading(steps) {
        let Some(check) = standard.next() else { break };
        if steps.iter().any(|known| same(&known.step, &check.step) || (!check.command.is_empty() && known.command == check.command)) {
            continue;
        }
        log.note("R16", "next_steps", "", &check.step);
        steps.push(NextStep {
            step: check.step,
            command: check.command,
            risk: Risk::ReadOnly,
            expect: String::new(),
            undo: String::new(),
            standard: true,
        });
    }
}

struct FailedFix {
    words: String,
    shown: DoNotRepeat,
}

/// Fixes of this service that made it worse, failed at their newest attempt, or failed at least as
/// often as they held; counted over episodes, and this incident's own attempts (R17).
fn failed_fixes(context: &Context<'_>) -> Vec<FailedFix> {
    let mut words: Vec<(String, IncidentId)> = Vec::new();
    let mut own: Vec<String> = Vec::new();
    for incident in context.episodes.iter().flat_map(|episode| &episode.incidents) {
        for attempt in &incident.attempts {
            if !attempt.fix.trim().is_empty() && !words.iter().any(|(known, _)| same(known, &attempt.fix)) {
                words.push((attempt.fix.clone(), incident.id));
            }
        }
    }
    for attempt in &context.case.attempts {
        let known = words.iter().any(|(known, _)| same(known, &attempt.fix)) || own.iter().any(|known| same(known, &attempt.fix));
        if !known && !attempt.fix.trim().is_empty() {
            own.push(attempt.fix.clone());
        }
    }
    let all = words.into_iter().map(|(fix, id)| (fix, Some(id))).chain(own.into_iter().map(|fix| (fix, None)));
    all.filter_map(|(fix, from)| failed_fix(context, fix, from)).collect()
}

fn failed_fix(context: &Context<'_>, fix: String, from: Option<IncidentId>) -> Option<FailedFix> {
    // (order, incident, outcome): episodes first, this incident's attempts are the newest.
    let mut tried: Vec<((bool, i64, u32), Option<IncidentId>, Outcome)> = Vec::new();
    for episode in &context.episodes {
        let mine = episode.incidents.iter().rev().find(|incident| incident.attempts.iter().any(|attempt| same(&fix, &attempt.fix)));
        let (Some(incident), Some(outcome)) = (mine, episode.outcome_of(&fix)) else {
            continue;
        };
        let at = episode.tried_at(&fix).map_or(i64::MIN, |at| at.as_millisecond());
        tried.push(((false, at, incident.id.number()), Some(incident.id), outcome));
    }
    for (index, attempt) in context.case.attempts.iter().enumerate() {
        if same(&fix, &attempt.fix) {
            tried.push(((true, i64::try_from(index).unwrap_or(i64::MAX), 0), None, attempt.outcome));
        }
    }
    tried.sort_by_key(|(order, _, _)| *order);
    let count = |standing: Standing| tried.iter().filter(|(_, _, outcome)| outcome.standing() == standing).count();
    let (held, failed) = (count(Standing::Verified), count(Standing::Refuted));
    let newest = tried.last().map(|(_, _, outcome)| *outcome)?;
    let worse = tried.iter().any(|(_, _, outcome)| *outcome == Outcome::MadeWorse);
    let is_failed = failed > 0 && (worse || newest.standing() == Standing::Refuted || failed >= held);
    if !is_failed {
        return None;
    }
    let last_failure = tried.iter().rev().find(|(_, _, outcome)| outcome.standing() == Standing::Refuted)?.2;
    let shown = match from {
        Some(id) => context.stored(&fix, id),
        None => text::clean(&fix, text::PARAGRAPH),
    };
    Some(FailedFix {
        shown: DoNotRepeat {
            fix: shown,
            refs: tried
                .iter()
                .filter(|(_, _, outcome)| outcome.standing() == Standing::Refuted)
                .filter_map(|(_, id, _)| *id)
                .collect(),
            outcome: if worse { Outcome::MadeWorse } else { last_failure },
            held: u32::try_from(held).unwrap_or(u32::MAX),
            failed: u32::try_from(failed).unwrap_or(u32::MAX),
        },
        words: fix,
    })
}

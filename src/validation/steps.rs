//! Next steps and what not to repeat (R16-R18).

use super::analysis::{DoNotRepeat, NextStep};
use super::context::Context;
use super::grounding::Place;
use super::log::Log;
use super::record::FixRecord;
use super::risk;
use super::text;
use crate::incident::proposal::{ProposedStep, Risk};
use crate::incident::sameness::{Phrase, same};
use crate::incident::words::fold;
use crate::incident::{Engine, IncidentId, Outcome};
use crate::response::checks;
use regex::Regex;
use std::sync::LazyLock;

/// Fewest steps of a checklist (R16).
pub const FEWEST_STEPS: usize = 4;
/// Most steps of a checklist (R16).
pub const MOST_STEPS: usize = 7;
/// Most proposed steps that are looked at.
const MOST_READ: usize = 40;

/// Steps as they may be shown, each with its computed risk; the order is still the proposal's.
pub(super) fn checked(
    context: &Context<'_>,
    proposed: &[ProposedStep],
    cited: &[IncidentId],
    at: &str,
    log: &mut Log,
) -> Vec<NextStep> {
    let mut out: Vec<NextStep> = Vec::new();
    if proposed.len() > MOST_READ {
        log.note(
            "R16",
            at,
            format!("{} more steps", proposed.len() - MOST_READ),
            "",
        );
    }
    for (index, said) in proposed.iter().enumerate().take(MOST_READ) {
        let at = format!("{at}[{index}]");
        let mut command = context.claim(
            &said.command,
            text::SENTENCE,
            cited,
            Place::Command,
            &format!("{at}.command"),
            log,
        );
        let step = context.claim(
            &said.step,
            text::SENTENCE,
            cited,
            Place::Body,
            &format!("{at}.step"),
            log,
        );
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
        // What the words may not say, the command beside them may not do.
        if !command.is_empty() && context.lacks_evidence(&step) {
            log.note("R20", format!("{at}.command"), &command, "");
            command.clear();
        }
        if same(&step, &command) {
            // The step again in the place of a command is no command: nothing to copy and run.
            log.note("R16", format!("{at}.command"), &command, "");
            command.clear();
        }
        let step = if step.is_empty() {
            std::mem::take(&mut command)
        } else {
            step
        };
        // Judged as proposed: a placeholder in a command is no redirection.
        let computed = if command.is_empty() {
            risk::of_step(&step, "")
        } else {
            risk::of_step(&said.step, &said.command)
        };
        let risk = said
            .risk
            .map_or(computed, |proposed| proposed.max(computed));
        log.note(
            "R16",
            format!("{at}.risk"),
            said.risk.map_or("", Risk::word),
            risk.word(),
        );
        if out
            .iter()
            .any(|known| known.step == step && known.command == command)
        {
            log.note("R16", &at, &step, "");
            continue;
        }
        out.push(NextStep {
            expect: context.claim(
                &said.expect,
                text::SENTENCE,
                cited,
                Place::Timed,
                &format!("{at}.expect"),
                log,
            ),
            undo: context.claim(
                &said.undo,
                text::SENTENCE,
                cited,
                Place::Timed,
                &format!("{at}.undo"),
                log,
            ),
            step,
            command,
            risk,
            standard: false,
            estimated: false,
        });
    }
    out
}

/// Times that a model gives in what to expect and how to undo are its estimate (R16).
pub(super) fn mark_estimates(steps: &mut [NextStep], engine: &Engine) {
    if !matches!(engine, Engine::Model { .. }) {
        return;
    }
    for step in steps.iter_mut().filter(|step| !step.standard) {
        step.estimated = names_a_duration(&step.expect) || names_a_duration(&step.undo);
    }
}

/// Whether a text says how long something takes.
pub fn names_a_duration(text: &str) -> bool {
    static DURATION: LazyLock<Option<Regex>> = LazyLock::new(|| {
        Regex::new(
            r"(?ix) (?:\d|\b(?:an?|one|two|three|five|ten|few)\s|几|两|一) \s* -?
              (?: (?: ms | milliseconds? | s | secs? | seconds? | m | mins? | minutes? | h | hrs?
              | hours? | days? ) \b | 毫秒 | 秒 | 分钟 | 分 | 个?小时 | 天 )",
        )
        .ok()
    });
    DURATION
        .as_ref()
        .is_some_and(|duration| duration.is_match(text))
}

/// Without the steps that repeat a failed fix, and what is not to be repeated (R17).
pub(super) fn without_failed(
    context: &Context<'_>,
    mut steps: Vec<NextStep>,
    log: &mut Log,
) -> (Vec<NextStep>, Vec<DoNotRepeat>) {
    let failed = failed_fixes(context);
    steps.retain(|step| {
        let repeats = step.changes_something() && repeats_a_failure(context, step, &failed);
        if repeats {
            log.note("R17", "next_steps", &step.step, "");
        }
        !repeats
    });
    (steps, failed.into_iter().map(|fix| fix.shown).collect())
}

/// A step repeats a fix by its words or its command, by holding the whole fix in a longer sentence,
/// or by the number of the incident where it failed.
fn repeats_a_failure(context: &Context<'_>, step: &NextStep, failed: &[FailedFix]) -> bool {
    let phrases = [context.phrase(&step.step), context.phrase(&step.command)];
    let records: Vec<FixRecord> = phrases
        .iter()
        .filter(|phrase| !phrase.is_empty())
        .map(|phrase| FixRecord::of(context, phrase))
        .collect();
    if records.iter().any(FixRecord::is_failed) {
        return true;
    }
    // It has a record of its own here, and that is good.
    if records.iter().any(|record| record.held() > 0) {
        return false;
    }
    let folded = fold(&step.step);
    let again = AGAIN.iter().any(|word| folded.contains(word));
    failed.iter().any(|fix| {
        let held_in = phrases.iter().any(|phrase| phrase.contains(&fix.phrase));
        let by_number = again
            && fix
                .shown
                .refs
                .iter()
                .any(|id| folded.contains(&id.to_string().to_lowercase()));
        held_in || by_number
    })
}

/// Words by which a step takes over what another incident did.
const AGAIN: &[&str] = &[
    "fix", "repeat", "apply", "again", "same", "as in", "like in", "redo", "修复", "方案", "重复",
    "再次", "同样", "沿用", "按照", "做法",
];

/// A checklist: failed fixes out, read-only first, four to seven steps (R16, R17).
pub(super) fn checklist(
    context: &Context<'_>,
    steps: Vec<NextStep>,
    log: &mut Log,
) -> (Vec<NextStep>, Vec<DoNotRepeat>) {
    let (mut steps, do_not_repeat) = without_failed(context, steps, log);
    fill(context, &mut steps, log);
    let before: Vec<String> = steps.iter().map(|step| step.step.clone()).collect();
    steps.sort_by_key(|step| step.risk);
    let after: Vec<String> = steps.iter().map(|step| step.step.clone()).collect();
    log.note(
        "R16",
        "next_steps",
        format!("order: {}", before.join(" | ")),
        format!("order: {}", after.join(" | ")),
    );
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
    let mut standard =
        checks::standard(case.failure_class, case.locale, case.service.as_deref()).into_iter();
    let lacks_reading = |steps: &[NextStep]| !steps.iter().any(|step| step.risk == Risk::ReadOnly);
    while steps.len() < FEWEST_STEPS || lacks_reading(steps) {
        let Some(check) = standard.next() else { break };
        if steps.iter().any(|known| {
            same(&known.step, &check.step)
                || (!check.command.is_empty() && known.command == check.command)
        }) {
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
            estimated: false,
        });
    }
}

struct FailedFix {
    phrase: Phrase,
    shown: DoNotRepeat,
}

/// Fixes of this service that made it worse, failed at their newest attempt, or failed at least as
/// often as they held; counted over episodes, and this incident's own attempts (R17).
fn failed_fixes(context: &Context<'_>) -> Vec<FailedFix> {
    let mut known: Vec<(&str, Phrase, Option<IncidentId>)> = Vec::new();
    let here = context
        .episodes
        .iter()
        .flat_map(|episode| episode.fixes())
        .map(|(id, attempt, phrase)| (attempt.fix.as_str(), phrase, Some(id)));
    let own = context
        .case
        .attempts
        .iter()
        .zip(&context.own_fixes)
        .map(|(attempt, phrase)| (attempt.fix.as_str(), phrase, None));
    for (words, phrase, id) in here.chain(own) {
        if !phrase.is_empty() && !known.iter().any(|(_, other, _)| other.same(phrase)) {
            known.push((words, phrase.clone(), id));
        }
    }
    known
        .into_iter()
        .filter_map(|(words, phrase, from)| failed_fix(context, words, phrase, from))
        .collect()
}

fn failed_fix(
    context: &Context<'_>,
    words: &str,
    phrase: Phrase,
    from: Option<IncidentId>,
) -> Option<FailedFix> {
    let record = FixRecord::of(context, &phrase);
    if !record.is_failed() {
        return None;
    }
    let failures = || record.0.iter().filter(|trial| trial.failed());
    let shown = match from {
        Some(id) => context.stored(words, id),
        None => text::clean(words, text::PARAGRAPH),
    };
    let count = |n: usize| u32::try_from(n).unwrap_or(u32::MAX);
    Some(FailedFix {
        shown: DoNotRepeat {
            fix: shown,
            refs: failures().filter_map(|trial| trial.id).collect(),
            outcome: if record.made_worse() {
                Outcome::MadeWorse
            } else {
                failures().next_back()?.outcome
            },
            held: count(record.held()),
            failed: count(record.failed()),
        },
        phrase,
    })
}

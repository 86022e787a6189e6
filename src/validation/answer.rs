//! Answers to follow-up questions pass through the same rules.

use super::analysis::{Answer, ShownAnswer};
use super::case::Case;
use super::context::Context;
use super::grounding::Place;
use super::log::Log;
use super::references::survivors;
use super::steps;
use super::text;
use crate::incident::proposal::ProposedAnswer;
use crate::incident::{Engine, Grade, IncidentId};

/// Most quotes that are looked at.
const MOST_QUOTES: usize = 12;

/// What may be said to a question. An empty text is shown as "that is not in the report or in
/// memory".
pub fn answer(case: &Case, proposed: &ProposedAnswer, engine: Engine) -> Answer {
    let context = Context::new(case);
    let mut log = Log::default();
    let cited = survivors(&proposed.memory_refs, case, "memory_refs", &mut log);
    let direct: Vec<IncidentId> = cited
        .iter()
        .filter(|recalled| recalled.grade == Grade::DirectMatch)
        .map(|recalled| recalled.incident.id)
        .collect();
    let mut evidence: Vec<String> = Vec::new();
    for (index, quote) in proposed.evidence.iter().enumerate().take(MOST_QUOTES) {
        let cleaned = text::clean(quote, text::SENTENCE);
        if context.quotable.find(quote).is_some()
            && !cleaned.is_empty()
            && !evidence.contains(&cleaned)
        {
            evidence.push(cleaned);
        } else {
            log.note("R3", format!("evidence[{index}]"), quote, "");
        }
    }
    if proposed.evidence.len() > MOST_QUOTES {
        log.note(
            "R3",
            "evidence",
            format!("{} more quotes", proposed.evidence.len() - MOST_QUOTES),
            "",
        );
    }
    let text = context.claim(
        &proposed.answer,
        text::ANSWER,
        &direct,
        Place::Body,
        "answer",
        &mut log,
    );
    let mut next_steps = steps::checked(
        &context,
        &proposed.next_steps,
        &direct,
        "next_steps",
        &mut log,
    );
    let (kept, _) = steps::without_failed(&context, std::mem::take(&mut next_steps), &mut log);
    next_steps = kept;
    next_steps.sort_by_key(|step| step.risk);
    for dropped in next_steps.drain(steps::MOST_STEPS.min(next_steps.len())..) {
        log.note("R16", "next_steps", dropped.step, "");
    }
    steps::mark_estimates(&mut next_steps, &engine);
    Answer(ShownAnswer {
        engine,
        text,
        refs: cited.iter().map(|recalled| recalled.incident.id).collect(),
        evidence,
        next_steps,
        cut_off: proposed.cut_off,
        corrections: log.into_corrections(),
    })
}

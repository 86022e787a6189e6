//! The validation core: the model proposes, the code disposes.
//!
//! Wanted: nothing that a model says reaches a channel unchecked, and the compiler holds that
//! ([`Analysis`], [`Answer`] and [`analysis::CheckedTriage`] are built here only). Every change is
//! kept as a [`Correction`]. Same input, same output.
//!
//! Design: [`reading`] turns text into a plain proposal; the rules by subject turn a proposal into
//! what may be shown, checked against a [`Case`]: references (R1, R2), quotes (R3), memory status
//! (R4), episodes (R11), score (R8-R10, R12), hypotheses and their order (R13-R15), steps
//! (R16-R18) with their [`risk`], the update (R19), grounding (R6, R20), texts (R21).
//!
//! Deliberately absent: IO, clock, randomness, environment, and trust in a prompt.

mod allowed;
pub mod analysis;
mod answer;
pub mod case;
mod context;
mod contradictions;
mod ended;
pub mod episodes;
mod grounding;
mod hypotheses;
mod instructions;
mod log;
mod memory_status;
pub mod patterns;
mod quotes;
pub mod reading;
mod record;
mod references;
mod remembered;
pub mod risk;
pub mod score;
mod steps;
mod suspected;
mod text;
mod triage;
mod unreferenced;
pub mod update;

pub use analysis::{Analysis, Answer, Correction};
pub use answer::answer;
pub use case::{Case, Ledger};
pub use contradictions::contradicted_since;
pub use hypotheses::MOST_HYPOTHESES;
pub use steps::{FEWEST_STEPS, MOST_STEPS, names_a_duration};
pub use triage::triage;

use crate::incident::proposal::Proposal;
use crate::incident::{Engine, Grade, IncidentId, Severity};
use analysis::{Class, SeverityBy, SeverityVerdict, Shown};
use context::Context;
use grounding::Place;
use log::Log;

/// Most safety notes that are shown.
const MOST_NOTES: usize = 4;
/// Most safety notes that are looked at.
const MOST_NOTES_READ: usize = 16;

/// Checks a proposal against its case: the one way to an [`Analysis`].
pub fn analysis(case: &Case, proposal: &Proposal, engine: Engine) -> Analysis {
    let context = Context::new(case);
    let mut log = Log::default();
    let ordered = hypotheses::shown(&context, &proposal.hypotheses, &mut log);
    let verdict_refs = references::survivors(
        &proposal.verdict_refs,
        case,
        "memory_verdict.refs",
        &mut log,
    );

    let mut memory = memory_status::verdict(&case.memory, &context.episodes, |fix| fix.to_owned());
    if let Some(last) = memory.last.as_mut() {
        last.fix = context.stored(&last.fix, last.id);
    }
    log.note(
        "R4",
        "memory_verdict.status",
        proposal.verdict_status.trim(),
        memory.status.word(),
    );

    // In steps, summary and update the union of the surviving direct references counts (R20).
    let mut cited: Vec<IncidentId> = ordered
        .hypotheses
        .iter()
        .flat_map(|hypothesis| &hypothesis.refs)
        .filter(|reference| reference.grade == Grade::DirectMatch)
        .map(|reference| reference.id)
        .chain(
            verdict_refs
                .iter()
                .filter(|recalled| recalled.grade == Grade::DirectMatch)
                .map(|recalled| recalled.incident.id),
        )
        .collect();
    cited.sort_unstable();
    cited.dedup();

    let summary = context.claim(
        &proposal.summary,
        text::PARAGRAPH,
        &cited,
        Place::Clause,
        "summary",
        &mut log,
    );
    let report = case.report.all_text();
    let summary = ended::without_claims(summary, &report, "summary", &mut log);
    let causes = unconfirmed_causes(case, &ordered, proposal);
    let proven: Vec<String> = ordered
        .hypotheses
        .iter()
        .filter(|hypothesis| hypothesis.class == Class::Proven)
        .map(|hypothesis| hypothesis.title.clone())
        .collect();
    let stated = suspected::Causes {
        suspected: &causes,
        proven: &proven,
    };
    let summary = suspected::softened(summary, &stated, &report, "summary", &mut log);
    let severity = severity(&context, proposal, &engine, &cited, &mut log);
    let steps = steps::checked(
        &context,
        &proposal.next_steps,
        &cited,
        "next_steps",
        &mut log,
    );
    let (mut next_steps, do_not_repeat) = steps::checklist(&context, steps, &mut log);
    steps::mark_estimates(&mut next_steps, &engine);
    let ruled_out = hypotheses::ruled_out(&context, &proposal.ruled_out, &mut log);
    let update = update::checked(
        &context,
        &proposal.update,
        severity.severity,
        &cited,
        &causes,
        &mut log,
    );
    let mut safety_notes = Vec::new();
    if proposal.safety_notes.len() > MOST_NOTES_READ {
        log.note(
            "R21",
            "safety_notes",
            format!(
                "{} more notes",
                proposal.safety_notes.len() - MOST_NOTES_READ
            ),
            "",
        );
    }
    for (index, note) in proposal
        .safety_notes
        .iter()
        .enumerate()
        .take(MOST_NOTES_READ)
    {
        let at = format!("safety_notes[{index}]");
        let kept = context.claim(note, text::SENTENCE, &cited, Place::Body, &at, &mut log);
        if kept.is_empty() {
            continue;
        }
        if safety_notes.len() >= MOST_NOTES {
            log.note("R21", at, kept, "");
        } else {
            safety_notes.push(kept);
        }
    }
    Analysis(Shown {
        engine,
        cut_off: proposal.cut_off,
        summary,
        severity,
        memory,
        hypotheses: ordered.hypotheses,
        cause_not_determined: ordered.cause_not_determined,
        general_ideas: ordered.general_ideas,
        next_steps,
        do_not_repeat,
        ruled_out,
        update,
        safety_notes,
        corrections: case
            .triage_corrections
            .iter()
            .cloned()
            .chain(log.into_corrections())
            .collect(),
    })
}

/// A person's word always wins; a proposal that is one level milder than what the report shows is
/// raised to it (R30: of two adjacent levels the graver).
pub(crate) fn severity_of(case: &Case, proposed: Option<Severity>) -> Severity {
    match (case.severity, proposed) {
        (Some(person), _) => person,
        (None, Some(model)) if model.number() == case.severity_proposed.number() + 1 => {
            case.severity_proposed
        }
        (None, Some(model)) => model,
        (None, None) => case.severity_proposed,
    }
}

fn severity(
    context: &Context<'_>,
    proposal: &Proposal,
    engine: &Engine,
    cited: &[IncidentId],
    log: &mut Log,
) -> SeverityVerdict {
    let severity = severity_of(context.case, proposal.severity);
    if let Some(proposed) = proposal.severity {
        log.note(
            "R30",
            "severity_assessment.severity",
            proposed.to_string(),
            severity.to_string(),
        );
    }
    let by = match (context.case.severity, proposal.severity) {
        (Some(_), _) => SeverityBy::Person,
        (None, Some(model)) if model == severity && matches!(engine, Engine::Model { .. }) => {
            SeverityBy::Model
        }
        (None, _) => SeverityBy::Rules,
    };
    SeverityVerdict {
        severity,
        by,
        reason: context.claim(
            &proposal.severity_reason,
            text::SENTENCE,
            cited,
            Place::Body,
            "severity_assessment.reason",
            log,
        ),
    }
}

/// Every cause that is only a hypothesis while the incident runs, for R19.
fn unconfirmed_causes(
    case: &Case,
    ordered: &hypotheses::Ordered,
    proposal: &Proposal,
) -> Vec<String> {
    ordered
        .hypotheses
        .iter()
        .map(|hypothesis| hypothesis.title.clone())
        .chain(
            proposal
                .hypotheses
                .iter()
                .take(hypotheses::MOST_READ)
                .map(|hypothesis| text::clean_line(&hypothesis.title, text::TITLE)),
        )
        .chain(
            case.memory
                .direct()
                .map(|recalled| recalled.incident.root_cause.clone()),
        )
        .filter(|cause| !cause.trim().is_empty())
        .collect()
}

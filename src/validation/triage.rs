//! The model's triage, checked: what the headline may show and what recall may use.

use super::analysis::{CheckedTriage, ShownTriage};
use super::case::Case;
use super::context::Context;
use super::grounding::Place;
use super::log::Log;
use super::text;
use crate::incident::proposal::ProposedTriage;

/// Most symptoms and error lines that a triage may add.
const MOST_LINES: usize = 8;

/// Checks a triage against the report. `title` is the heuristic one, used where the model's says
/// nothing that the report holds. The service is the case's: never one that the model alone says
/// (R5). A person's severity wins; else of two adjacent levels the graver (R30).
pub fn triage(case: &Case, title: &str, proposed: &ProposedTriage) -> CheckedTriage {
    let context = Context::new(case);
    let mut log = Log::default();
    let said = context.claim(
        &proposed.title,
        text::TITLE,
        &[],
        Place::Title,
        "title",
        &mut log,
    );
    let title = if said.is_empty() {
        text::clean_line(title, text::TITLE)
    } else {
        said
    };
    if let Some(service) = &case.service {
        log.note("R5", "service", proposed.service.trim(), service);
    } else {
        log.note("R5", "service", proposed.service.trim(), "");
    }
    let severity = super::severity_of(case, proposed.severity);
    log.note(
        "R30",
        "severity",
        proposed
            .severity
            .map(|severity| severity.to_string())
            .unwrap_or_default(),
        severity.to_string(),
    );
    let mut symptoms = Vec::new();
    for (index, symptom) in proposed.symptoms.iter().take(MOST_LINES).enumerate() {
        let kept = context.claim(
            symptom,
            text::SENTENCE,
            &[],
            Place::Clause,
            &format!("symptoms[{index}]"),
            &mut log,
        );
        if !kept.is_empty() {
            symptoms.push(kept);
        }
    }
    let mut error_signatures = Vec::new();
    for (index, line) in proposed
        .error_signatures
        .iter()
        .take(MOST_LINES)
        .enumerate()
    {
        if context.quotable.find(line).is_some() {
            error_signatures.push(text::clean_line(line, text::SENTENCE));
        } else {
            log.note("R3", format!("error_signatures[{index}]"), line, "");
        }
    }
    CheckedTriage(ShownTriage {
        title,
        service: case.service.clone(),
        severity,
        symptoms,
        error_signatures,
        recall_query: text::clean_line(&proposed.recall_query, text::PARAGRAPH),
        corrections: log.into_corrections(),
    })
}

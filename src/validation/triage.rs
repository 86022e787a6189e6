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
    let title = without_service(&title, case.service.as_deref());
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
/// The headline names the service before the title: a title that begins with it says it twice.
fn without_service(title: &str, service: Option<&str>) -> String {
    let rest = service.and_then(|service| {
        let head = title.get(..service.len())?;
        let tail = title.get(service.len()..)?;
        let separated = tail.starts_with(|c: char| c.is_whitespace() || matches!(c, ':' | '：'));
        (head.eq_ignore_ascii_case(service) && separated).then(|| {
            tail.trim_start_matches(|c: char| {
                c.is_whitespace() || matches!(c, ':' | '：' | '-' | '–' | '·')
            })
        })
    });
    rest.filter(|rest| !rest.is_empty())
        .unwrap_or(title)
        .to_owned()
}

#[cfg(test)]
mod service_tests {
    use super::*;

    #[test]
    fn a_title_does_not_say_the_service_twice() {
        for (title, service, expected) in [
            (
                "payments-api intermittent 503s",
                Some("payments-api"),
                "intermittent 503s",
            ),
            ("Payments-API: slow", Some("payments-api"), "slow"),
            ("payments-api", Some("payments-api"), "payments-api"),
            (
                "payments-api-worker is slow",
                Some("payments-api"),
                "payments-api-worker is slow",
            ),
            ("支付服务：超时", Some("支付服务"), "超时"),
            ("503s", None, "503s"),
        ] {
            assert_eq!(without_service(title, service), expected, "{title}");
        }
    }
}

//! The model's triage, checked: what the headline may show and what recall may use.

use super::analysis::{CheckedTriage, ShownTriage};
use super::case::Case;
use super::context::Context;
use super::grounding::Place;
use super::log::Log;
use super::text;
use crate::incident::proposal::ProposedTriage;
use crate::incident::words::fold;
use regex::Regex;
use std::sync::LazyLock;

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
    let uncaused = without_cause(&said, &case.report.all_text());
    log.note("R19", "title", &said, &uncaused);
    let said = uncaused;
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

/// A title without the cause that it states: the title goes to the headline, the thread's name and
/// the update, and what nobody confirmed is no fact there (R19). What the report itself says stays.
fn without_cause(title: &str, report: &str) -> String {
    static CAUSE: LazyLock<Option<Regex>> = LazyLock::new(|| {
        Regex::new(concat!(
            r"(?i)[\s,;:–—-]*\b(?:(?:most likely|probably|possibly|apparently|likely) )?(?:caused by|due to|because of|owing to|as a result of|triggered by|resulting from|thanks to|root cause)\b.*$",
            r"|^(?:由于|因为|因)?(?P<cause>[^，。；]{2,}?)(?:导致|引起|造成|引发)(?:的|了)?",
            r"|[，、]?(?:由|因)[^，。；]{2,}(?:导致|引起|造成|引发)$|[，（(]?(?:原因|根因)[是为：:].*$"
        ))
        .ok()
    });
    let Some(found) = CAUSE.as_ref().and_then(|cause| cause.find(title)) else {
        return title.to_owned();
    };
    if fold(report).contains(fold(found.as_str()).trim()) {
        return title.to_owned();
    }
    let kept = format!(
        "{}{}",
        title.get(..found.start()).unwrap_or_default(),
        title.get(found.end()..).unwrap_or_default()
    );
    let kept = kept.trim().to_owned();
    // A title that is nothing but its cause stays what the rules made of the report.
    if kept.chars().count() < 4 {
        String::new()
    } else {
        kept
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn r19_a_title_states_no_cause_that_the_report_does_not() {
        let report = "503s on search, alice says they are caused by the nightly import";
        for (title, kept) in [
            ("503s caused by a retry storm", "503s"),
            (
                "503s on search, probably due to the cache",
                "503s on search",
            ),
            ("Search is slow: root cause the new index", "Search is slow"),
            ("连接池耗尽导致支付失败", "支付失败"),
            ("支付失败，原因是连接池耗尽", "支付失败"),
            ("支付失败", "支付失败"),
            ("503s on search", "503s on search"),
            (
                "503s caused by the nightly import",
                "503s caused by the nightly import",
            ),
            ("Caused by the cache", ""),
        ] {
            assert_eq!(without_cause(title, report), kept, "{title}");
        }
    }

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

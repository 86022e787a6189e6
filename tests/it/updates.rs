//! Hostile texts for the stakeholder update (R19): each field says what it must not, in English and
//! in Chinese; clean texts stay word by word; whatever was said, the update fits and has its time.

use crate::cases::model;
use precedent::incident::proposal::{Proposal, ProposedHypothesis, ProposedUpdate};
use precedent::incident::report::ThreadMessage;
use precedent::incident::{FailureClass, Locale, Memory, Registry, Report, Severity};
use precedent::present::View;
use precedent::present::update::update_text;
use precedent::validation::analysis::Audience;
use precedent::validation::{self, Case};
use serde_json::Value;
use std::collections::BTreeMap;

fn text(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}

fn texts(value: &Value) -> Vec<String> {
    value.as_array().into_iter().flatten().map(text).collect()
}

fn case_of(setting: &Value) -> Case {
    let mut report = Report::from_text(text(&setting["report"]));
    let now = text(&setting["now"]).parse().expect("now is a time");
    for author in texts(&setting["thread"]) {
        report.thread.push(ThreadMessage {
            author,
            text: "looking".to_owned(),
            asks: false,
            at: now,
        });
    }
    let service = text(&setting["service"]);
    Case {
        now,
        locale: Locale::of_text(&report.text),
        registry: Registry::from_names([service.as_str()]),
        service: Some(service),
        severity: Severity::parse(&text(&setting["severity"])),
        severity_proposed: Severity::Sev2,
        memory: Memory::Searched {
            searched: 0,
            on_service: 0,
            recalled: Vec::new(),
        },
        attempts: Vec::new(),
        incident: None,
        failure_class: FailureClass::default(),
        impact: None,
        since: None,
        triage_corrections: Vec::new(),
        ledger: Default::default(),
        report,
    }
}

/// The update of a row for each audience, as it would be posted.
fn composed(setting: &Value, row: &Value) -> BTreeMap<&'static str, String> {
    let case = case_of(setting);
    let mut update = ProposedUpdate::default();
    let said = text(&row["text"]);
    match row["field"].as_str().expect("a field") {
        "impact" => update.impact = said,
        "since" => update.since = said,
        "known" => update.known = said,
        "not_confirmed" => update.not_confirmed = said,
        "doing" => update.doing = said,
        "changed_since" => update.changed_since = said,
        "needed" => update.needed = said,
        "free" => update.free_text = said,
        other => panic!("no field {other}"),
    }
    let proposal = Proposal {
        hypotheses: vec![ProposedHypothesis {
            title: text(&setting["hypothesis"]),
            verify: "Compare the errors".to_owned(),
            ..ProposedHypothesis::default()
        }],
        update,
        ..Proposal::default()
    };
    let analysis = validation::analysis(&case, &proposal, model());
    let mut view = View::new(
        "payments fail",
        analysis.severity.severity,
        case.locale,
        case.now,
    );
    view.service = case.service.clone();
    [
        ("internal", Audience::Internal),
        ("page", Audience::StatusPage),
        ("executive", Audience::Executive),
    ]
    .into_iter()
    .map(|(name, audience)| {
        let text = update_text(&analysis, audience, &view);
        assert!(
            text.chars().count() <= audience.limit(),
            "{name} does not fit: {text}"
        );
        (name, text)
    })
    .collect()
}

#[test]
fn hostile_texts_do_not_pass_and_clean_ones_do() {
    let file = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/updates.jsonl");
    let rows: Vec<Value> = std::fs::read_to_string(file)
        .expect("the table can be read")
        .lines()
        .map(|line| serde_json::from_str(line).expect("a row is JSON"))
        .collect();
    let settings: BTreeMap<String, &Value> = rows
        .iter()
        .filter(|row| row["setting"].is_string())
        .map(|row| (text(&row["setting"]), row))
        .collect();
    let mut misses = Vec::new();
    let mut count = 0;
    for row in rows.iter().filter(|row| row["id"].is_string()) {
        count += 1;
        let update = composed(settings[&text(&row["in"])], row);
        let mut miss = |what: String| {
            misses.push(format!(
                "{} {} {}: {what}\n    said {:?}",
                text(&row["id"]),
                text(&row["kind"]),
                text(&row["field"]),
                text(&row["text"]).chars().take(90).collect::<String>()
            ));
        };
        for (key, audiences) in [
            ("lacks", ["internal", "page", "executive"].as_slice()),
            ("outside_lacks", ["page", "executive"].as_slice()),
            ("page_lacks", ["page"].as_slice()),
        ] {
            for needle in texts(&row[key]) {
                for audience in audiences {
                    if update[audience].contains(&needle) {
                        miss(format!("{audience} says {needle:?}"));
                    }
                }
            }
        }
        for (key, audiences) in [
            ("has", ["internal", "executive"].as_slice()),
            ("page_has", ["page"].as_slice()),
        ] {
            for needle in texts(&row[key]) {
                for audience in audiences {
                    if !update[audience].contains(&needle) {
                        miss(format!(
                            "{audience} lost {needle:?}: {:?}",
                            update[audience]
                        ));
                    }
                }
            }
        }
        for (audience, said) in &update {
            // An hour until the next one, with its zone; the status word is the code's.
            let (status, next, zone) = if row["in"] == "zh" {
                ("调查中", "07:05", "UTC")
            } else {
                ("Investigating", "15:05", "UTC")
            };
            for wanted in [status, next, zone] {
                if !said.contains(wanted) {
                    miss(format!("{audience} lacks {wanted}: {said:?}"));
                }
            }
        }
    }
    assert!(count >= 60, "{count} rows");
    assert!(
        misses.is_empty(),
        "{} misses:\n{}",
        misses.len(),
        misses.join("\n")
    );
}

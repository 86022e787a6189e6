//! Validation cases: report, memories, the model's answer, and what must and must not be shown.
//!
//! Our own stand in `tests/data/cases.jsonl`; the larger set is read from the shared folder where
//! `PRECEDENT_SHARED` names it.

use precedent::incident::{
    Engine, FixAttempt, IncidentId, Locale, Memory, Outcome, PastIncident, Registry, Report, Tier,
};
use precedent::response::{grade, recall, triage};
use precedent::validation::{self, Analysis, Case, reading};
use serde_json::Value;
use std::path::Path;

fn texts(value: &Value) -> Vec<String> {
    value
        .as_array()
        .map(|items| {
            items
                .iter()
                .filter_map(Value::as_str)
                .map(str::to_owned)
                .collect()
        })
        .unwrap_or_default()
}

fn text(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}

fn memory(row: &Value) -> PastIncident {
    let id = IncidentId::parse(&text(&row["id"])).expect("memories have ids");
    let mut incident = PastIncident::new(id, text(&row["title"]));
    incident.service = row["service"].as_str().map(str::to_owned);
    incident.environment = row["environment"].as_str().map(str::to_owned);
    incident.started_at = row["started_at"].as_str().and_then(|at| at.parse().ok());
    incident.resolved_at = row["resolved_at"].as_str().and_then(|at| at.parse().ok());
    incident.symptoms = texts(&row["symptoms"]);
    incident.error_signatures = texts(&row["error_signatures"]);
    incident.root_cause = text(&row["root_cause"]);
    incident.ruled_out = texts(&row["ruled_out"]);
    incident.prevention = text(&row["prevention"]);
    incident.duplicate_of = row["duplicate_of"].as_str().and_then(IncidentId::parse);
    incident.parent = row["parent"].as_str().and_then(IncidentId::parse);
    let fix = text(&row["fix"]);
    if !fix.is_empty() {
        let outcome = Outcome::parse(&text(&row["outcome"])).unwrap_or_default();
        let mut attempt = FixAttempt::new(fix, outcome);
        attempt.at = incident.resolved_at;
        incident.attempts.push(attempt);
    }
    incident
}

/// Runs a case through triage, grading, reading and validation, as the bot does.
fn run(row: &Value) -> Analysis {
    let memories: Vec<PastIncident> = row["memories"]
        .as_array()
        .map(|rows| rows.iter().map(memory).collect())
        .unwrap_or_default();
    let mut names: Vec<&str> = memories
        .iter()
        .filter_map(|incident| incident.service.as_deref())
        .collect();
    names.sort_unstable();
    names.dedup();
    let registry = Registry::from_names(names.iter().copied());
    let report = Report::from_text(text(&row["report"]));
    let said = triage::Said {
        service: row["service"].as_str().map(str::to_owned),
        severity: None,
    };
    let triaged = triage::triage(&report, &registry, &said);
    let query = recall::query(&report, &triaged).prepare();
    let on_service = memories
        .iter()
        .filter(|incident| incident.service == triaged.service)
        .count() as u64;
    let searched = memories.len() as u64;
    let recalled = grade::grade(
        memories,
        &query,
        triaged.service.as_deref(),
        &registry,
        None,
        grade::Limits::default(),
    );
    let case = Case {
        now: text(&row["now"]).parse().expect("now is a time"),
        locale: Locale::of_text(&report.text),
        service: triaged.service.clone(),
        registry,
        severity: None,
        severity_proposed: triaged.severity,
        memory: Memory::Searched {
            searched,
            on_service,
            recalled,
        },
        attempts: Vec::new(),
        incident: None,
        failure_class: triaged.failure_class,
        impact: triaged.impact.clone(),
        since: triaged.since.clone(),
        report,
    };
    let answer = row["answer_text"]
        .as_str()
        .map_or_else(|| row["answer"].to_string(), str::to_owned);
    let proposal =
        reading::analysis(&answer, false).expect("the answers of these cases can be read");
    validation::analysis(
        &case,
        &proposal,
        Engine::Model {
            model: "m".into(),
            tier: Tier::Fast,
        },
    )
}

/// What a case expects, against what is shown; every difference in a line.
fn differences(row: &Value, analysis: &Analysis) -> Vec<String> {
    let mut out = Vec::new();
    let expect = &row["expect"];
    let mut shown = serde_json::to_value(analysis).expect("an analysis is data");
    if let Some(object) = shown.as_object_mut() {
        object.remove("corrections");
        // Everything recalled is listed by id; what is cited stands with the hypotheses.
        object.remove("memory");
    }
    let words = all_text(&shown);
    for needle in texts(&expect["must_not_show"]) {
        if words.contains(&needle) {
            out.push(format!("shows {needle:?}"));
        }
    }
    for needle in texts(&expect["must_show"]) {
        if !words.contains(&needle) {
            out.push(format!("does not show {needle:?}"));
        }
    }
    if let Some(status) = expect["status"].as_str()
        && analysis.memory.status.word() != status
    {
        out.push(format!(
            "status {} instead of {status}",
            analysis.memory.status.word()
        ));
    }
    let titles: Vec<&str> = analysis
        .hypotheses
        .iter()
        .map(|hypothesis| hypothesis.title.as_str())
        .collect();
    if let Some(first) = expect["first_has"].as_str()
        && !titles.first().is_some_and(|title| title.contains(first))
    {
        out.push(format!("first is {:?}", titles.first()));
    }
    if let Some(risk) = expect["first_step_risk"].as_str()
        && analysis.next_steps.first().map(|step| step.risk.word()) != Some(risk)
    {
        out.push(format!("first step: {:?}", analysis.next_steps.first()));
    }
    if expect["untouched"].as_bool() == Some(true) && !analysis.corrections.is_empty() {
        out.push(format!("touched: {:?}", analysis.corrections));
    }
    for wanted in expect["hypotheses"].as_array().into_iter().flatten() {
        let title = text(&wanted["title_has"]);
        let listed = analysis
            .general_ideas
            .iter()
            .find(|idea| idea.title.contains(&title));
        let Some(found) = analysis
            .hypotheses
            .iter()
            .find(|hypothesis| hypothesis.title.contains(&title))
        else {
            match listed {
                Some(idea) if wanted["score"].as_u64() == idea.score.map(u64::from) => {}
                Some(idea) => out.push(format!("{title}: listed with {:?}", idea.score)),
                None => out.push(format!("no hypothesis {title:?} among {titles:?}")),
            }
            continue;
        };
        if let Some(score) = wanted["score"].as_u64()
            && found.score.map(u64::from) != Some(score)
        {
            out.push(format!(
                "{title}: score {:?} instead of {score}: {:?}",
                found.score, found.arithmetic
            ));
        }
        if let Some(label) = wanted["label"].as_str()
            && found.label.word() != label
        {
            out.push(format!(
                "{title}: label {} instead of {label}",
                found.label.word()
            ));
        }
        if let Some(source) = wanted["source"].as_str()
            && found.source.word() != source
        {
            out.push(format!(
                "{title}: source {} instead of {source}",
                found.source.word()
            ));
        }
        if wanted["refs"].is_array() {
            let mut refs: Vec<String> = found
                .refs
                .iter()
                .map(|cited| cited.id.to_string())
                .collect();
            let mut wanted_refs = texts(&wanted["refs"]);
            refs.sort();
            wanted_refs.sort();
            if refs != wanted_refs {
                out.push(format!("{title}: refs {refs:?} instead of {wanted_refs:?}"));
            }
        }
    }
    out
}

fn all_text(value: &Value) -> String {
    match value {
        Value::String(text) => format!("{text}\n"),
        Value::Array(items) => items.iter().map(all_text).collect(),
        Value::Object(fields) => fields.values().map(all_text).collect(),
        other => format!("{other}\n"),
    }
}

fn check_file(path: &Path) {
    let lines = std::fs::read_to_string(path).expect("the cases can be read");
    let mut failed = Vec::new();
    let mut count = 0;
    for line in lines.lines().filter(|line| !line.trim().is_empty()) {
        let row: Value = serde_json::from_str(line).expect("a case is JSON");
        count += 1;
        let differences = differences(&row, &run(&row));
        if !differences.is_empty() {
            failed.push(format!(
                "{} ({}):\n    {}",
                row["id"],
                row["kind"],
                differences.join("\n    ")
            ));
        }
    }
    assert!(count > 0, "no cases in {}", path.display());
    assert!(
        failed.is_empty(),
        "{} of {count} cases:\n{}",
        failed.len(),
        failed.join("\n")
    );
}

#[test]
fn shared_cases_show_what_they_must() {
    let Some(shared) = std::env::var_os("PRECEDENT_SHARED") else {
        eprintln!("skipped: PRECEDENT_SHARED is not set");
        return;
    };
    check_file(&Path::new(&shared).join("data/case-samples.jsonl"));
}

//! Validation cases: report, memories, the model's answer, and what must and must not be shown.
//!
//! Our own stand in `tests/data/cases.jsonl`; the larger set is read from the shared folder where
//! `PRECEDENT_SHARED` names it.

use precedent::incident::report::ThreadMessage;
use precedent::incident::{
    Engine, FallbackReason, FixAttempt, Locale, Memory, Outcome, PastIncident, Registry, Report,
    Severity, Tier,
};
use precedent::memory::format;
use precedent::present::{self, View};
use precedent::response::fallback::{self, FallbackInput};
use precedent::response::{grade, recall, triage};
use precedent::validation::analysis::Audience;
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
    let line = format::parse_line(&row.to_string()).expect("memories are lines of an import");
    assert!(line.id.is_some(), "memories have ids");
    line.past
}

/// A case with everything that is shown of it.
pub(crate) struct Played {
    pub case: Case,
    pub analysis: Analysis,
    /// The payloads that would be posted, and the command line's JSON and text.
    pub shown: String,
}

/// Triage, recall and grading, as the bot does them.
pub(crate) fn case_of(row: &Value) -> (Case, triage::Triage) {
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
    let mut report = Report::from_text(text(&row["report"]));
    for message in row["thread"].as_array().into_iter().flatten() {
        report.thread.push(ThreadMessage {
            author: text(&message["author"]),
            text: text(&message["text"]),
            asks: false,
            at: text(&row["now"]).parse().expect("now is a time"),
        });
    }
    let said = triage::Said {
        service: row["service"].as_str().map(str::to_owned),
        severity: row["severity"].as_str().and_then(Severity::parse),
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
    let attempts = row["attempts"]
        .as_array()
        .into_iter()
        .flatten()
        .map(|attempt| {
            let outcome =
                Outcome::parse(&text(&attempt["outcome"])).expect("an attempt has an outcome");
            FixAttempt::new(text(&attempt["fix"]), outcome)
        });
    let case = Case {
        now: text(&row["now"]).parse().expect("now is a time"),
        locale: Locale::of_text(&report.text),
        service: triaged.service.clone(),
        registry,
        severity: said.severity,
        severity_proposed: triaged.severity,
        memory: match row["memory"].as_str() {
            Some("disabled") => Memory::Disabled,
            Some("unavailable") => Memory::Unavailable,
            _ => Memory::Searched {
                searched,
                on_service,
                recalled,
            },
        },
        attempts: attempts.collect(),
        incident: None,
        failure_class: triaged.failure_class,
        impact: triaged.impact.clone(),
        since: triaged.since.clone(),
        triage_corrections: Vec::new(),
        ledger: Default::default(),
        report,
    };
    (case, triaged)
}

pub(crate) fn model() -> Engine {
    Engine::Model {
        model: "m".into(),
        tier: Tier::Fast,
    }
}

/// Runs a case with its answer through reading, validation and presentation.
pub(crate) fn run(row: &Value) -> Played {
    let (case, triage) = case_of(row);
    let answer = row["answer_text"]
        .as_str()
        .map_or_else(|| row["answer"].to_string(), str::to_owned);
    let proposal =
        reading::analysis(&answer, false).expect("the answers of these cases can be read");
    let analysis = validation::analysis(&case, &proposal, model());
    played(case, &triage, analysis)
}

/// Runs a case through the rule-based engine instead.
pub(crate) fn run_by_rule(row: &Value) -> Played {
    let (case, triage) = case_of(row);
    let proposal = fallback::propose(&FallbackInput {
        report: &case.report,
        service: case.service.as_deref(),
        memory: &case.memory,
        own_attempts: &case.attempts,
        failure_class: case.failure_class,
        severity: case.severity.unwrap_or(case.severity_proposed),
        impact: case.impact.as_deref(),
        since: case.since.as_deref(),
        change_before: triage.change_before.as_deref(),
        symptoms: &triage.symptoms,
        error_lines: &triage.error_signatures,
        locale: case.locale,
    });
    let engine = Engine::Fallback {
        reason: FallbackReason::NotConfigured,
    };
    let analysis = validation::analysis(&case, &proposal, engine);
    played(case, &triage, analysis)
}

fn played(case: Case, triage: &triage::Triage, analysis: Analysis) -> Played {
    let mut view = View::new(
        triage.title.clone(),
        analysis.severity.severity,
        case.locale,
        case.now,
    );
    view.service = case.service.clone();
    view.change_before_impact = triage.change_before.is_some();
    let mut shown: String = payloads(&analysis, &mut view)
        .iter()
        .map(all_text)
        .collect();
    shown.push_str(&all_text(&present::wire(&analysis)));
    shown.push_str(&present::text(&analysis, &view));
    Played {
        case,
        analysis,
        shown,
    }
}

/// Every payload that is posted, with the update shown for each audience.
pub(crate) fn payloads(analysis: &Analysis, view: &mut View) -> Vec<Value> {
    let mut payloads = Vec::new();
    for audience in Audience::ALL {
        view.audience = audience;
        view.update_shown = true;
        let posts = present::all(analysis, view);
        payloads.extend(posts.into_iter().map(|post| post.payload));
    }
    payloads
}

/// The keys that a case may expect; an unknown one fails, so that none is misspelt into silence.
const KEYS: &[&str] = &[
    "status",
    "hypotheses",
    "first_has",
    "first_step_risk",
    "untouched",
    "must_show",
    "must_not_show",
    "corrections_has",
    "corrections_at",
    "order",
    "count",
    "listed",
    "not_determined",
    "steps",
    "risks",
    "steps_have",
    "steps_lack",
    "step_risk",
    "do_not_repeat",
    "do_not_repeat_refs",
    "ruled_out",
    "severity",
    "update",
    "status_page_lacks",
    "executive_lacks",
    "cut_off",
    "counts",
];

/// What a case expects, against what is shown; every difference in a line.
fn differences(row: &Value, played: &Played) -> Vec<String> {
    let mut out = Vec::new();
    let expect = &row["expect"];
    let analysis = &played.analysis;
    for key in expect.as_object().expect("expect is an object").keys() {
        if !KEYS.contains(&key.as_str()) {
            out.push(format!("expects the unknown {key}"));
        }
    }
    let words = &played.shown;
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
    if expect["order"].is_array() {
        let order = texts(&expect["order"]);
        if order.len() != titles.len()
            || !order
                .iter()
                .zip(&titles)
                .all(|(wanted, title)| title.contains(wanted.as_str()))
        {
            out.push(format!("order {titles:?} instead of {order:?}"));
        }
    }
    if let Some(count) = expect["count"].as_u64()
        && titles.len() as u64 != count
    {
        out.push(format!(
            "{} hypotheses instead of {count}: {titles:?}",
            titles.len()
        ));
    }
    if let Some(wanted) = expect["not_determined"].as_bool()
        && analysis.cause_not_determined != wanted
    {
        out.push(format!(
            "cause not determined: {}",
            analysis.cause_not_determined
        ));
    }
    for wanted in texts(&expect["listed"]) {
        if !analysis
            .general_ideas
            .iter()
            .any(|idea| idea.title.contains(&wanted))
        {
            out.push(format!(
                "{wanted} is no general idea: {:?}",
                analysis.general_ideas
            ));
        }
    }
    steps_differ(expect, analysis, &mut out);
    if expect["untouched"].as_bool() == Some(true) && !analysis.corrections.is_empty() {
        out.push(format!("touched: {:?}", analysis.corrections));
    }
    for rule in texts(&expect["corrections_has"]) {
        if !analysis
            .corrections
            .iter()
            .any(|correction| correction.rule == rule)
        {
            out.push(format!("no correction {rule}: {:?}", analysis.corrections));
        }
    }
    for at in texts(&expect["corrections_at"]) {
        if !analysis
            .corrections
            .iter()
            .any(|correction| correction.at == at)
        {
            out.push(format!("no correction at {at}: {:?}", analysis.corrections));
        }
    }
    for (name, have) in [
        ("here", analysis.memory.here),
        ("held", analysis.memory.held),
        ("failed", analysis.memory.failed),
        ("unknown", analysis.memory.unknown),
        ("elsewhere", analysis.memory.elsewhere),
    ] {
        if let Some(wanted) = expect["counts"][name].as_u64()
            && wanted != u64::from(have)
        {
            out.push(format!("{name}: {have} instead of {wanted}"));
        }
    }
    if let Some(severity) = expect["severity"].as_str()
        && analysis.severity.severity.to_string() != severity
    {
        out.push(format!(
            "severity {} instead of {severity}",
            analysis.severity.severity
        ));
    }
    let update = serde_json::to_value(&analysis.update).expect("an update is data");
    for (audience, fields) in expect["update"].as_object().into_iter().flatten() {
        for (field, wanted) in fields.as_object().into_iter().flatten() {
            if update[audience][field] != *wanted {
                out.push(format!(
                    "update.{audience}.{field} is {} instead of {wanted}",
                    update[audience][field]
                ));
            }
        }
    }
    for (key, audience) in [
        ("status_page_lacks", "status_page"),
        ("executive_lacks", "executive"),
    ] {
        let said = all_text(&update[audience]);
        for needle in texts(&expect[key]) {
            if said.contains(&needle) {
                out.push(format!("{audience} says {needle:?}"));
            }
        }
    }
    for wanted in expect["hypotheses"].as_array().into_iter().flatten() {
        hypothesis_differs(wanted, analysis, &titles, &mut out);
    }
    out
}

fn steps_differ(expect: &Value, analysis: &Analysis, out: &mut Vec<String>) {
    let said: Vec<String> = analysis
        .next_steps
        .iter()
        .map(|step| format!("{} {}", step.step, step.command))
        .collect();
    let risks: Vec<&str> = analysis
        .next_steps
        .iter()
        .map(|step| step.risk.word())
        .collect();
    if !(4..=7).contains(&said.len()) {
        out.push(format!("{} steps", said.len()));
    }
    if risks.first() != Some(&"read_only")
        || !analysis.next_steps.is_sorted_by_key(|step| step.risk)
    {
        out.push(format!("steps in the order {risks:?}"));
    }
    if let Some(risk) = expect["first_step_risk"].as_str()
        && risks.first() != Some(&risk)
    {
        out.push(format!("first step: {:?}", analysis.next_steps.first()));
    }
    if let Some(count) = expect["steps"].as_u64()
        && said.len() as u64 != count
    {
        out.push(format!("{} steps instead of {count}: {said:?}", said.len()));
    }
    if expect["risks"].is_array() && texts(&expect["risks"]) != risks {
        out.push(format!("risks {risks:?}: {said:?}"));
    }
    for needle in texts(&expect["steps_have"]) {
        if !said.iter().any(|step| step.contains(&needle)) {
            out.push(format!("no step {needle:?}: {said:?}"));
        }
    }
    for needle in texts(&expect["steps_lack"]) {
        if said.iter().any(|step| step.contains(&needle)) {
            out.push(format!("a step {needle:?}: {said:?}"));
        }
    }
    for (needle, wanted) in expect["step_risk"].as_object().into_iter().flatten() {
        let found: Vec<&str> = said
            .iter()
            .zip(&risks)
            .filter(|(step, _)| step.contains(needle.as_str()))
            .map(|(_, risk)| *risk)
            .collect();
        if found != [wanted.as_str().unwrap_or_default()] {
            out.push(format!(
                "{needle:?} is {found:?} instead of {wanted}: {said:?}"
            ));
        }
    }
    for needle in texts(&expect["do_not_repeat"]) {
        if !analysis
            .do_not_repeat
            .iter()
            .any(|entry| entry.fix.contains(&needle))
        {
            out.push(format!(
                "{needle:?} may be repeated: {:?}",
                analysis.do_not_repeat
            ));
        }
    }
    if expect["do_not_repeat"]
        .as_array()
        .is_some_and(Vec::is_empty)
        && !analysis.do_not_repeat.is_empty()
    {
        out.push(format!("not to be repeated: {:?}", analysis.do_not_repeat));
    }
    for wanted in texts(&expect["do_not_repeat_refs"]) {
        if !analysis
            .do_not_repeat
            .iter()
            .flat_map(|entry| &entry.refs)
            .any(|id| id.to_string() == wanted)
        {
            out.push(format!(
                "{wanted} is no failure: {:?}",
                analysis.do_not_repeat
            ));
        }
    }
    for wanted in texts(&expect["ruled_out"]) {
        if !analysis
            .ruled_out
            .iter()
            .any(|entry| entry.cause.contains(&wanted) && !entry.refs.is_empty())
        {
            out.push(format!(
                "{wanted} is not ruled out: {:?}",
                analysis.ruled_out
            ));
        }
    }
}

fn hypothesis_differs(wanted: &Value, analysis: &Analysis, titles: &[&str], out: &mut Vec<String>) {
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
        return;
    };
    let as_json = serde_json::to_value(found).expect("a hypothesis is data");
    let mut same = |name: &str, have: Value| {
        if wanted.get(name).is_some_and(|value| *value != have) {
            out.push(format!(
                "{title}: {name} {have} instead of {}: {:?}",
                wanted[name], found.arithmetic
            ));
        }
    };
    same("score", found.score.into());
    same("label", found.label.word().into());
    same("source", found.source.word().into());
    same("class", as_json["class"].clone());
    same("analogy", found.analogy.into());
    same("worked", found.record.worked.into());
    same("failed", found.record.failed.into());
    same("other", found.record.other_cause.into());
    same("stale", found.record.stale.into());
    same("newest_failed", found.record.newest_failed.into());
    same("date_unknown", found.record.date_unknown.into());
    same("ruled_out", found.ruled_out.into());
    same("fix", found.fix.clone().into());
    same("verify", found.verify.clone().into());
    same("evidence", as_json["evidence"].clone());
    same("noted", as_json["ruled_out_note"].clone());
    same(
        "against",
        found
            .contradicted_by
            .iter()
            .map(|against| against.quote.clone())
            .collect::<Vec<_>>()
            .into(),
    );
    same(
        "whose",
        found
            .contradicted_by
            .first()
            .map(|against| against.author.clone())
            .into(),
    );
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
fn our_cases_show_what_they_must() {
    check_file(&Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/cases.jsonl"));
}

#[test]
fn shared_cases_show_what_they_must() {
    let Some(shared) = std::env::var_os("PRECEDENT_SHARED") else {
        eprintln!("skipped: PRECEDENT_SHARED is not set");
        return;
    };
    check_file(&Path::new(&shared).join("data/case-samples.jsonl"));
}

//! Triage, recall, grading and redaction on the shared cases, which stay outside of the repository:
//! the folder is named by `PRECEDENT_SHARED`. Figures are printed (`--nocapture`); the floors below
//! them were measured and only guard against getting worse.
#![allow(clippy::print_stdout)]

use base64::prelude::{BASE64_STANDARD, Engine as _};
use jiff::Timestamp;
use precedent::incident::{
    FixAttempt, Grade, IncidentId, Outcome, PastIncident, Recalled, Registry, Report, Standing,
};
use precedent::response::grade::{ANALOGY_FLOOR, Limits, RECALL_FLOOR, grade};
use precedent::response::recall::{Prepared, query};
use precedent::response::redact::{Key, redact};
use precedent::response::triage::{Said, triage};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::path::PathBuf;

fn shared(path: &str) -> Option<PathBuf> {
    let Some(folder) = std::env::var_os("PRECEDENT_SHARED") else {
        println!("skipped: PRECEDENT_SHARED is not set");
        return None;
    };
    let path = PathBuf::from(folder).join(path);
    assert!(path.exists(), "PRECEDENT_SHARED lacks {}", path.display());
    Some(path)
}

fn rows(path: &std::path::Path) -> Vec<Value> {
    std::fs::read_to_string(path)
        .expect("a readable file")
        .lines()
        .filter(|line| !line.trim().is_empty())
        .map(|line| serde_json::from_str(line).expect("one JSON object a line"))
        .collect()
}

fn text(row: &Value, key: &str) -> String {
    row.get(key)
        .and_then(Value::as_str)
        .unwrap_or_default()
        .to_owned()
}

fn list(row: &Value, key: &str) -> Vec<String> {
    row.get(key)
        .and_then(Value::as_array)
        .map(|items| {
            items
                .iter()
                .filter_map(Value::as_str)
                .map(str::to_owned)
                .collect()
        })
        .unwrap_or_default()
}

fn past_incident(row: &Value) -> PastIncident {
    let id = IncidentId::parse(&text(row, "id")).expect("an incident id");
    let mut incident = PastIncident::new(id, text(row, "title"));
    incident.service = row
        .get("service")
        .and_then(Value::as_str)
        .map(str::to_owned);
    incident.started_at = text(row, "started_at").parse::<Timestamp>().ok();
    incident.resolved_at = text(row, "resolved_at").parse::<Timestamp>().ok();
    incident.symptoms = list(row, "symptoms");
    incident.error_signatures = list(row, "error_signatures");
    incident.root_cause = text(row, "root_cause");
    let outcome = Outcome::parse(&text(row, "outcome")).unwrap_or_default();
    incident.attempts = vec![FixAttempt::new(text(row, "fix"), outcome)];
    incident
}

/// R4 in its shortest form, from the grades alone: enough to see that the grades are right.
fn status(recalled: &[Recalled]) -> &'static str {
    let direct: Vec<&Recalled> = recalled
        .iter()
        .filter(|r| r.grade == Grade::DirectMatch)
        .collect();
    if direct.is_empty() {
        let analogy = recalled.iter().any(|r| r.grade == Grade::Analogy);
        return if analogy { "analogy_only" } else { "no_match" };
    }
    let any = |standing| {
        direct
            .iter()
            .any(|r| r.incident.outcome().standing() == standing)
    };
    match (any(Standing::Verified), any(Standing::Refuted)) {
        (true, true) => "mixed",
        (true, false) => "proven",
        (false, true) if !any(Standing::Hypothesis) => "refuted_only",
        _ => "unproven",
    }
}

#[test]
fn r5_case_samples_grade_as_they_expect() {
    let Some(path) = shared("data/case-samples.jsonl") else {
        return;
    };
    let mut wrong = Vec::new();
    let cases = rows(&path);
    assert!(!cases.is_empty());
    for case in &cases {
        let id = text(case, "id");
        let memories: Vec<PastIncident> = case
            .get("memories")
            .and_then(Value::as_array)
            .map(|rows| rows.iter().map(past_incident).collect())
            .unwrap_or_default();
        let names: BTreeSet<String> = memories
            .iter()
            .filter_map(|incident| incident.service.clone())
            .chain(
                case.get("service")
                    .and_then(Value::as_str)
                    .map(str::to_owned),
            )
            .collect();
        let registry = Registry::from_names(names);
        let report = Report::from_text(text(case, "report"));
        let said = Said {
            service: case
                .get("service")
                .and_then(Value::as_str)
                .map(str::to_owned),
            severity: None,
        };
        let triage = triage(&report, &registry, &said);
        let recalled = grade(
            memories,
            &query(&report, &triage).prepare(),
            triage.service.as_deref(),
            &registry,
            None,
            Limits::default(),
        );
        println!(
            "{id}: {:?} {} {:?} | {} | since {:?} | change {:?} | impact {:?}",
            triage.failure_class,
            triage.severity,
            triage.severity_reason,
            triage.title,
            triage.since,
            triage.change_before,
            triage.impact
        );
        println!(
            "    symptoms {:?}\n    lines {:?}",
            triage.symptoms, triage.error_signatures
        );
        for r in &recalled {
            println!(
                "    {} {:.2} {} signature {}",
                r.incident.id,
                r.similarity,
                r.grade.word(),
                r.shares_signature
            );
        }
        let expect = case.get("expect").cloned().unwrap_or_default();
        let expected = text(&expect, "status");
        if !expected.is_empty() && expected != status(&recalled) {
            wrong.push(format!("{id}: {expected}, not {}", status(&recalled)));
        }
        let citable: BTreeSet<String> = recalled
            .iter()
            .filter(|r| r.grade != Grade::Low)
            .map(|r| r.incident.id.to_string())
            .collect();
        for hypothesis in expect
            .get("hypotheses")
            .and_then(Value::as_array)
            .into_iter()
            .flatten()
        {
            for reference in list(hypothesis, "refs") {
                if !citable.contains(&reference) {
                    wrong.push(format!("{id}: {reference} is not citable"));
                }
            }
        }
        for hidden in list(&expect, "must_not_show") {
            if citable.contains(&hidden) {
                wrong.push(format!("{id}: {hidden} is citable"));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// A document of the benchmark as memory would hold it: what triage reads out of it.
fn remembered(number: u32, row: &Value) -> PastIncident {
    let body: String = text(row, "text").chars().take(4_000).collect();
    let title = text(row, "title");
    let report = Report::from_text(format!("{title}\n{body}"));
    let read = triage(&report, &Registry::default(), &Said::default());
    let title = if title.is_empty() { read.title } else { title };
    let mut incident = PastIncident::new(IncidentId::new(number).expect("not zero"), title);
    incident.service = Some(text(row, "service"));
    incident.symptoms = read.symptoms;
    if incident.symptoms.is_empty() {
        incident.symptoms = body
            .lines()
            .filter(|line| !line.trim().is_empty())
            .take(3)
            .map(|line| line.chars().take(240).collect())
            .collect();
    }
    incident.error_signatures = read.error_signatures;
    incident
}

fn prepared(row: &Value) -> Prepared {
    let body: String = text(row, "text").chars().take(4_000).collect();
    let report = Report::from_text(format!("{}\n{body}", text(row, "title")));
    let said = Said {
        service: row
            .get("service")
            .and_then(Value::as_str)
            .map(str::to_owned),
        severity: None,
    };
    query(&report, &triage(&report, &Registry::default(), &said)).prepare()
}

/// Plain BM25 over the same tokens as the index, to find the nearest by words alone.
struct Bm25 {
    postings: HashMap<String, Vec<(usize, f64)>>,
    lengths: Vec<f64>,
    average: f64,
}

impl Bm25 {
    fn new(texts: &[String]) -> Self {
        let mut postings: HashMap<String, Vec<(usize, f64)>> = HashMap::new();
        let mut lengths = Vec::new();
        for (index, text) in texts.iter().enumerate() {
            let mut counts: HashMap<String, f64> = HashMap::new();
            let tokens = precedent::incident::words::tokens(text);
            lengths.push(tokens.len() as f64);
            for token in tokens {
                *counts.entry(token).or_default() += 1.0;
            }
            for (token, count) in counts {
                postings.entry(token).or_default().push((index, count));
            }
        }
        let average = lengths.iter().sum::<f64>() / (lengths.len().max(1) as f64);
        Self {
            postings,
            lengths,
            average,
        }
    }

    fn best(&self, text: &str, count: usize) -> Vec<usize> {
        let mut scores: HashMap<usize, f64> = HashMap::new();
        let tokens: BTreeSet<String> = precedent::incident::words::tokens(text)
            .into_iter()
            .collect();
        for token in tokens {
            let Some(list) = self.postings.get(&token) else {
                continue;
            };
            let (n, found) = (self.lengths.len() as f64, list.len() as f64);
            let idf = ((n - found + 0.5) / (found + 0.5) + 1.0).ln();
            for (index, count) in list {
                let length = self.lengths.get(*index).copied().unwrap_or(1.0);
                let part = count * 2.2 / (count + 1.2 * (0.25 + 0.75 * length / self.average));
                *scores.entry(*index).or_default() += idf * part;
            }
        }
        let mut ranked: Vec<(usize, f64)> = scores.into_iter().collect();
        ranked.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
        ranked
            .into_iter()
            .take(count)
            .map(|(index, _)| index)
            .collect()
    }
}

fn share(values: &[f64], floor: f64) -> f64 {
    values.iter().filter(|v| **v >= floor).count() as f64 / (values.len().max(1) as f64)
}

fn quantiles(values: &mut [f64]) -> String {
    values.sort_by(f64::total_cmp);
    let at = |q: f64| {
        values
            .get(((values.len().max(1) - 1) as f64 * q) as usize)
            .copied()
            .unwrap_or(0.0)
    };
    format!(
        "10% {:.2} median {:.2} 90% {:.2}",
        at(0.1),
        at(0.5),
        at(0.9)
    )
}

fn separation(folder: &str) -> Option<(f64, f64)> {
    let path = shared(&format!("data/recall/{folder}"))?;
    let docs = rows(&path.join("docs.jsonl"));
    let queries = rows(&path.join("queries.jsonl"));
    let mut qrels: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for line in std::fs::read_to_string(path.join("qrels.tsv"))
        .expect("qrels")
        .lines()
        .skip(1)
    {
        let mut parts = line.split('\t');
        if let (Some(query), Some(doc)) = (parts.next(), parts.next()) {
            qrels.entry(query.into()).or_default().insert(doc.into());
        }
    }
    let ids: Vec<String> = docs.iter().map(|doc| text(doc, "id")).collect();
    let texts: Vec<String> = docs
        .iter()
        .map(|doc| format!("{} {}", text(doc, "title"), text(doc, "text")))
        .collect();
    let incidents: Vec<PastIncident> = docs
        .iter()
        .enumerate()
        .map(|(index, doc)| remembered(index as u32 + 1, doc))
        .collect();
    let index = Bm25::new(&texts);
    let started = std::time::Instant::now();
    let mut compared = 0_u32;
    let (mut right, mut random, mut wrong_best) = (Vec::new(), Vec::new(), Vec::new());
    let (mut first_bm25, mut first_ours, mut counted) = (0, 0, 0);
    let mut seed = 1_usize;
    for row in &queries {
        let Some(wanted) = qrels.get(&text(row, "id")) else {
            continue;
        };
        let exclude: BTreeSet<String> = list(row, "exclude").into_iter().collect();
        let prepared = prepared(row);
        for (id, incident) in ids.iter().zip(&incidents) {
            if wanted.contains(id) {
                right.push(prepared.similarity(incident).value);
            }
        }
        for _ in 0..5 {
            seed = seed
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            let place = (seed >> 33) % incidents.len();
            if let (Some(id), Some(incident)) = (ids.get(place), incidents.get(place))
                && !wanted.contains(id)
                && !exclude.contains(id)
            {
                random.push(prepared.similarity(incident).value);
            }
        }
        let near: Vec<usize> = index
            .best(&format!("{} {}", text(row, "title"), text(row, "text")), 40)
            .into_iter()
            .filter(|at| ids.get(*at).is_some_and(|id| !exclude.contains(id)))
            .collect();
        counted += 1;
        let is_right = |at: &usize| ids.get(*at).is_some_and(|id| wanted.contains(id));
        first_bm25 += u32::from(near.first().is_some_and(is_right));
        let ours = near.iter().max_by(|a, b| {
            let value = |at: &usize| {
                incidents
                    .get(*at)
                    .map_or(0.0, |i| prepared.similarity(i).value)
            };
            compared += 1;
            value(a).total_cmp(&value(b))
        });
        first_ours += u32::from(ours.is_some_and(is_right));
        if let Some(worst) = near
            .iter()
            .filter(|at| !is_right(at))
            .filter_map(|at| incidents.get(*at))
            .map(|i| prepared.similarity(i).value)
            .max_by(f64::total_cmp)
        {
            wrong_best.push(worst);
        }
    }
    println!(
        "{folder}: {} right pairs, at or above {RECALL_FLOOR}: {:.2}, above {ANALOGY_FLOOR}: {:.2} ({})",
        right.len(),
        share(&right, RECALL_FLOOR),
        share(&right, ANALOGY_FLOOR),
        quantiles(&mut right.clone())
    );
    println!(
        "{folder}: {} random pairs: {:.3}, {:.3} ({})",
        random.len(),
        share(&random, RECALL_FLOOR),
        share(&random, ANALOGY_FLOOR),
        quantiles(&mut random.clone())
    );
    println!(
        "{folder}: the most similar wrong one of the 40 nearest by words: {:.2}, {:.2} ({})",
        share(&wrong_best, RECALL_FLOOR),
        share(&wrong_best, ANALOGY_FLOOR),
        quantiles(&mut wrong_best.clone())
    );
    println!(
        "{folder}: first of {counted}: BM25 {first_bm25}, by similarity among its 40 {first_ours}; {compared} comparisons in {:?}",
        started.elapsed()
    );
    let unmatched = path.join("nomatch_queries.jsonl");
    if unmatched.exists() {
        let (mut nearest, mut best) = (Vec::new(), Vec::new());
        for row in rows(&unmatched) {
            let prepared = prepared(&row);
            let source = text(&row, "src");
            let values: Vec<f64> = index
                .best(
                    &format!("{} {}", text(&row, "title"), text(&row, "text")),
                    41,
                )
                .into_iter()
                .filter(|at| ids.get(*at) != Some(&source))
                .filter_map(|at| incidents.get(at))
                .map(|incident| prepared.similarity(incident).value)
                .collect();
            nearest.extend(values.first().copied());
            best.extend(values.into_iter().max_by(f64::total_cmp));
        }
        println!(
            "{folder}: no match known, nearest by words: {:.2}, {:.2} ({})",
            share(&nearest, RECALL_FLOOR),
            share(&nearest, ANALOGY_FLOOR),
            quantiles(&mut nearest.clone())
        );
        println!(
            "{folder}: no match known, most similar of 40: {:.2}, {:.2} ({})",
            share(&best, RECALL_FLOOR),
            share(&best, ANALOGY_FLOOR),
            quantiles(&mut best.clone())
        );
    }
    Some((share(&right, RECALL_FLOOR), share(&random, RECALL_FLOOR)))
}

#[test]
fn r5_the_floor_separates_duplicates_from_random_pairs() {
    for folder in ["asf-jira-dup-small", "gitbugs-hadoop", "alert-to-runbook"] {
        if let Some((right, random)) = separation(folder) {
            assert!(right >= 0.5, "{folder}: {right:.2} of the right pairs");
            assert!(random <= 0.02, "{folder}: {random:.3} of the random pairs");
        }
    }
}

fn from_base64(text: &str) -> String {
    let bytes = BASE64_STANDARD.decode(text).expect("base64");
    String::from_utf8_lossy(&bytes).into_owned()
}

#[test]
fn r22_recall_on_published_test_values() {
    let Some(folder) = shared("data/secrets") else {
        return;
    };
    let key = Key::new([1; 32]);
    for (source, floor) in [
        ("gitleaks_generated", 0.97),
        ("gitleaks_literals", 0.97),
        ("noseyparker_examples", 0.88),
        ("kingfisher_examples", 0.91),
        ("detect_secrets", 0.65),
    ] {
        let (mut struck, mut positives, mut wrong, mut negatives) = (0, 0, 0, 0);
        for row in rows(&folder.join(format!("{source}.jsonl"))) {
            let value = from_base64(&text(&row, "text_b64"));
            let redacted = redact(&value, &key);
            let secret = from_base64(&text(&row, "secret_b64"));
            let gone = if secret.is_empty() {
                !redacted.struck.is_empty()
            } else {
                !redacted.text.contains(&secret)
            };
            if text(&row, "label") == "negative" {
                negatives += 1;
                if !redacted.struck.is_empty() {
                    wrong += 1;
                    println!(
                        "    struck {} {:?} {:?}",
                        text(&row, "rule"),
                        redacted.struck,
                        redacted.text.chars().take(160).collect::<String>()
                    );
                }
            } else {
                positives += 1;
                struck += u32::from(gone);
                if !gone {
                    println!(
                        "    missed {} {:?}",
                        text(&row, "rule"),
                        value.chars().take(160).collect::<String>()
                    );
                }
            }
        }
        let recall = f64::from(struck) / f64::from(positives.max(1));
        println!(
            "{source}: struck {struck} of {positives} ({recall:.3}), {wrong} of {negatives} negatives"
        );
        assert!(recall >= floor, "{source}: {recall:.3} of {floor}");
    }
}

#[test]
fn r22_logs_keep_what_they_say() {
    let Some(folder) = shared("data/logs") else {
        return;
    };
    let key = Key::new([1; 32]);
    let mut files: Vec<PathBuf> = std::fs::read_dir(folder)
        .expect("logs")
        .filter_map(|entry| Some(entry.ok()?.path()))
        .filter(|path| path.extension().is_some_and(|end| end == "log"))
        .collect();
    files.sort();
    let mut struck = 0;
    let mut bytes = 0;
    let started = std::time::Instant::now();
    for path in files {
        let log = String::from_utf8_lossy(&std::fs::read(&path).expect("a log")).into_owned();
        let redacted = redact(&log, &key);
        bytes += log.len();
        struck += redacted.struck.values().sum::<u32>();
        println!(
            "{}: {:?}",
            path.file_name().unwrap_or_default().to_string_lossy(),
            redacted.struck
        );
        for (line, other) in log
            .lines()
            .zip(redacted.text.lines())
            .filter(|(a, b)| a != b)
            .take(4)
        {
            println!(
                "    {} || {}",
                line.chars().take(200).collect::<String>(),
                other.chars().take(200).collect::<String>()
            );
        }
    }
    println!(
        "{struck} struck in {bytes} bytes of logs, {:?}",
        started.elapsed()
    );
    // 16 logs of 2,000 lines: at most 2 of 1,000 lines.
    assert!(struck <= 64, "{struck}");
}

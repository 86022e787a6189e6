//! How much that is not grounded gets through, and how much that is grounded gets lost.
//!
//! A file holds *settings* (report, memories with their grades, an ordinary answer) and *cases*: a
//! case puts one or two texts into its setting's answer, or asks a follow-up, and says what must
//! not be shown (`lacks`), what must stay (`has`), and whether every word of it is `clean`. Grades
//! are given and not computed here, so that recall and grounding are measured apart.
//!
//! A *leak* is a case with something of `lacks` in any message, in the JSON or in the printed text,
//! or with a quote that does not stand in the report among the evidence. A *clean claim* is a text
//! of a clean case, or a `has` beside a leak; it is *touched* when it is not there word by word.
//! Shared with the test that holds the goals.

use precedent::incident::{
    Engine, FailureClass, Grade, Locale, Memory, PastIncident, Recalled, Registry, Report,
    Severity, Tier,
};
use precedent::memory;
use precedent::present::{self, AnswerView, View};
use precedent::validation::analysis::{Audience, Correction};
use precedent::validation::{self, Case, reading};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::time::Instant;

/// What a file of cases came to.
#[derive(Debug, Default)]
pub struct Figures {
    /// Cases.
    pub cases: usize,
    /// By kind: cases with something to keep out, and of these what was shown.
    pub leaks: BTreeMap<String, (usize, usize)>,
    /// Clean claims.
    pub clean: usize,
    /// Clean claims that are not there word by word.
    pub touched: usize,
    /// Cases of which a correction at their field is expected.
    pub corrections: usize,
    /// Of these, without one.
    pub uncorrected: usize,
    /// Claims that a direct memory contradicts.
    pub contradicted: usize,
    /// Of these, neither struck nor marked.
    pub unmarked: usize,
    /// A line for each miss.
    pub misses: Vec<String>,
    /// Time for one case, in microseconds.
    pub us_each: u64,
}

impl Figures {
    /// Cases with something to keep out.
    pub fn leaks_of(&self) -> usize {
        self.leaks.values().map(|(of, _)| of).sum()
    }

    /// Of these, shown.
    pub fn leaks_shown(&self) -> usize {
        self.leaks.values().map(|(_, shown)| shown).sum()
    }

    /// Clean claims that were touched, in percent with one decimal.
    pub fn touched_percent(&self) -> f64 {
        (self.touched as f64 * 1_000.0 / self.clean.max(1) as f64).round() / 10.0
    }

    /// As one object.
    pub fn json(&self) -> Value {
        let kinds: serde_json::Map<String, Value> = self
            .leaks
            .iter()
            .map(|(kind, (of, shown))| (kind.clone(), json!({"of": of, "shown": shown})))
            .collect();
        json!({
            "cases": self.cases,
            "leaks": {"of": self.leaks_of(), "shown": self.leaks_shown(), "by_kind": kinds},
            "clean_claims": {"of": self.clean, "touched": self.touched, "touched_percent": self.touched_percent()},
            "corrections": {"expected": self.corrections, "missing": self.uncorrected},
            "contradicted_by_memory": {"of": self.contradicted, "unmarked": self.unmarked},
            "us_each": self.us_each,
        })
    }
}

fn text(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}

/// All texts of a value, in order.
fn texts(value: &Value) -> Vec<String> {
    match value {
        Value::String(text) => vec![text.clone()],
        Value::Array(items) => items.iter().flat_map(texts).collect(),
        Value::Object(fields) => fields.values().flat_map(texts).collect(),
        _ => Vec::new(),
    }
}

fn record(row: &Value) -> Option<PastIncident> {
    let line = memory::format::parse_line(&row.to_string()).ok()?;
    line.id.is_some().then_some(line.past)
}

fn case_of(setting: &Value) -> Option<Case> {
    let records: Vec<PastIncident> = setting["memories"]
        .as_array()?
        .iter()
        .filter_map(record)
        .collect();
    let service = setting["service"].as_str().map(str::to_owned);
    let names: Vec<&str> = records
        .iter()
        .filter_map(|record| record.service.as_deref())
        .chain(service.as_deref())
        .collect();
    let registry = Registry::from_names(names.iter().copied());
    let searched = records.len() as u64;
    let recalled: Vec<Recalled> = records
        .iter()
        .filter_map(|record| {
            let grade = match setting["grades"][record.id.to_string()].as_str()? {
                "direct_match" => Grade::DirectMatch,
                "analogy" => Grade::Analogy,
                _ => return None,
            };
            Some(Recalled {
                incident: record.clone(),
                similarity: 0.7,
                shares_signature: true,
                grade,
            })
        })
        .collect();
    let report = Report::from_text(text(&setting["report"]));
    Some(Case {
        now: setting["now"].as_str()?.parse().ok()?,
        locale: Locale::of_text(&report.text),
        service,
        registry,
        severity: None,
        severity_proposed: Severity::Sev2,
        memory: Memory::Searched {
            searched,
            on_service: searched,
            recalled,
        },
        attempts: Vec::new(),
        incident: None,
        failure_class: FailureClass::default(),
        impact: None,
        since: None,
        triage_corrections: Vec::new(),
        ledger: Default::default(),
        report,
    })
}

fn model() -> Engine {
    Engine::Model {
        model: "m".into(),
        tier: Tier::Fast,
    }
}

/// What one case shows.
struct Shown {
    /// Texts as data: what may be said, unescaped.
    said: Vec<String>,
    /// Every message and print, with and without escapes.
    everything: String,
    /// The quotes that count as evidence.
    evidence: Vec<String>,
    /// Titles of hypotheses that are marked as ruled out or contradicted.
    marked: Vec<String>,
    corrections: Vec<Correction>,
}

impl Shown {
    fn new(said: Vec<String>, posts: &str) -> Self {
        Self {
            everything: format!("{posts}\n{}\n{}", posts.replace('\\', ""), said.join("\n")),
            said,
            evidence: Vec::new(),
            marked: Vec::new(),
            corrections: Vec::new(),
        }
    }
}

fn play(case: &Case, setting: &Value, row: &Value) -> Result<Shown, String> {
    if row["ask"].is_object() {
        let proposed =
            reading::follow_up(&row["ask"].to_string(), false).map_err(|e| format!("{e:?}"))?;
        let answer = validation::answer(case, &proposed, model());
        let view = AnswerView {
            incident: None,
            locale: case.locale,
            now: case.now,
        };
        let post = texts(&present::answer(&answer, &view).payload).join("\n");
        let mut shown = Shown::new(vec![answer.text.clone()], &post);
        shown.evidence = answer.evidence.clone();
        shown.corrections = answer.corrections.clone();
        return Ok(shown);
    }
    let mut proposal = setting["answer"].clone();
    for (path, said) in row["say"].as_object().into_iter().flatten() {
        let (parent, name) = path.rsplit_once('/').unwrap_or(("", path));
        let missing = || format!("no {path} in the answer");
        match proposal.pointer_mut(parent).ok_or_else(missing)? {
            Value::Object(fields) => drop(fields.insert(name.to_owned(), said.clone())),
            _ => *proposal.pointer_mut(path).ok_or_else(missing)? = said.clone(),
        }
    }
    let proposal = reading::analysis(&proposal.to_string(), false).map_err(|e| format!("{e:?}"))?;
    let analysis = validation::analysis(case, &proposal, model());
    let title: String = case.report.text.lines().next().unwrap_or_default().into();
    let mut view = View::new(title, analysis.severity.severity, case.locale, case.now);
    view.service = case.service.clone();
    let mut posts = String::new();
    for audience in Audience::ALL {
        view.audience = audience;
        view.update_shown = true;
        for post in present::all(&analysis, &view) {
            posts.push_str(&texts(&post.payload).join("\n"));
        }
    }
    posts.push_str(&present::text(&analysis, &view));
    let mut shown = Shown::new(texts(&present::wire(&analysis)), &posts);
    shown.evidence = analysis
        .hypotheses
        .iter()
        .flat_map(|hypothesis| hypothesis.evidence.clone())
        .collect();
    shown.marked = analysis
        .hypotheses
        .iter()
        .filter(|h| h.ruled_out || !h.ruled_out_note.is_empty() || !h.contradicted_by.is_empty())
        .map(|h| h.title.clone())
        .collect();
    shown.corrections = analysis.corrections.clone();
    Ok(shown)
}

/// `/hypotheses/0/verify` as corrections call it: `hypotheses[0].verify`.
fn place_of(path: &str) -> String {
    path.split('/')
        .filter(|part| !part.is_empty())
        .fold(String::new(), |mut place, part| {
            if part.bytes().all(|b| b.is_ascii_digit()) {
                place.push_str(&format!("[{part}]"));
            } else {
                if !place.is_empty() {
                    place.push('.');
                }
                place.push_str(part);
            }
            place
        })
}

fn squeezed(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// The texts of an answer that are claims; ids, sources and risks are not.
fn claims_of(answer: &Value) -> Vec<String> {
    let mut out = vec![
        text(&answer["summary"]),
        text(&answer["severity_assessment"]["reason"]),
    ];
    for hypothesis in answer["hypotheses"].as_array().into_iter().flatten() {
        for field in ["title", "verify", "evidence"] {
            out.extend(texts(&hypothesis[field]));
        }
    }
    for step in answer["next_steps"].as_array().into_iter().flatten() {
        for field in ["step", "command", "expect", "undo"] {
            out.extend(texts(&step[field]));
        }
    }
    out.extend(texts(&answer["stakeholder_update"]));
    out.extend(texts(&answer["safety_notes"]));
    out.retain(|claim| !claim.is_empty());
    out
}

/// Plays every case of these rows.
///
/// # Errors
/// A row without its setting, or a path that the answer does not have.
pub fn figures(rows: &[Value]) -> Result<Figures, String> {
    let settings: BTreeMap<&str, &Value> = rows
        .iter()
        .filter_map(|row| Some((row["setting"].as_str()?, row)))
        .collect();
    let mut out = Figures::default();
    let started = Instant::now();
    for row in rows.iter().filter(|row| row["id"].is_string()) {
        let id = text(&row["id"]);
        let name = text(&row["in"]);
        let setting = settings
            .get(name.as_str())
            .ok_or_else(|| format!("{id}: no setting {name}"))?;
        let case = case_of(setting).ok_or_else(|| format!("{name}: not a case"))?;
        let shown = play(&case, setting, row).map_err(|reason| format!("{id}: {reason}"))?;
        out.cases += 1;
        judge(&mut out, setting, row, &shown);
    }
    out.us_each = (started.elapsed().as_micros() / out.cases.max(1) as u128) as u64;
    Ok(out)
}

fn judge(out: &mut Figures, setting: &Value, row: &Value, shown: &Shown) {
    let expect = &row["expect"];
    let kind = text(&row["kind"]);
    let said: Vec<String> = if row["ask"].is_object() {
        vec![text(&row["ask"]["answer"])]
    } else {
        texts(&row["say"])
    };
    let place = row["say"]
        .as_object()
        .and_then(|say| say.keys().next())
        .map_or_else(String::new, |path| place_of(path));
    let corrections: Vec<String> = shown
        .corrections
        .iter()
        .filter(|correction| correction.at.starts_with(&place))
        .map(|correction| {
            format!(
                "{} at {}: {:?} -> {:?}",
                correction.rule, correction.at, correction.was, correction.now
            )
        })
        .collect();
    let mut miss = |what: String| {
        out.misses.push(format!(
            "{} {kind} in {}: {what}\n    said {said:?} ({})\n    corrections {corrections:?}",
            text(&row["id"]),
            text(&row["in"]),
            text(&row["why"]),
        ));
    };
    let present = |needle: &String| {
        shown
            .said
            .iter()
            .chain(&shown.evidence)
            .any(|text| squeezed(text).contains(&squeezed(needle)))
    };
    let through: Vec<String> = texts(&expect["lacks"])
        .into_iter()
        .filter(|needle| shown.everything.contains(needle.as_str()))
        .chain(
            said.iter()
                .filter(|quote| {
                    place.ends_with("evidence")
                        && kind.starts_with("leak/")
                        && shown.evidence.contains(quote)
                })
                .cloned(),
        )
        .collect();
    if let Some(kind) = kind.strip_prefix("leak/") {
        let counts = out.leaks.entry(kind.to_owned()).or_default();
        counts.0 += 1;
        if !through.is_empty() {
            counts.1 += 1;
            miss(format!("LEAK, shows {through:?}"));
        }
    }
    if expect["corrected"].is_array() {
        out.corrections += 1;
        if corrections.is_empty() {
            out.uncorrected += 1;
            miss("no correction".to_owned());
        }
    }
    if expect["marked"].as_bool() == Some(true) {
        out.contradicted += 1;
        let title = said.iter().any(|title| shown.marked.contains(title));
        let noted = shown
            .said
            .iter()
            .any(|text| text.contains("memory says:") || text.contains("记忆中的记录："));
        let struck = through.is_empty() && !said.iter().all(present);
        if !(title || noted || struck) {
            out.unmarked += 1;
            miss(format!("UNMARKED, shows {through:?}"));
        }
    }
    let clean = if expect["clean"].as_bool() != Some(true) {
        texts(&expect["has"])
    } else if kind == "clean/whole" {
        claims_of(&setting["answer"])
    } else {
        said.clone()
    };
    for claim in clean {
        out.clean += 1;
        if !present(&claim) {
            out.touched += 1;
            miss(format!("TOUCHED {claim:?}"));
        }
    }
}

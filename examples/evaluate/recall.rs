//! Recall on a labelled set: what the store's index finds on a real file, by the similarity that the
//! bot shows.
//!
//! A folder holds `docs.jsonl` (`id`, `title`, `text`, `service`), `queries.jsonl` (the same, and
//! `exclude`: ids that do not count for this query), `qrels.tsv` (query, document, relevance) and,
//! where it has any, `nomatch_queries.jsonl`: reports of which nothing in the set is a match.
//!
//! A document becomes a past incident as an import would make one: its prose its symptoms, its log
//! lines its error signatures. A query becomes a report, with its service as the command's option.
//! Nothing is learned from a query, and no label is seen before the answer is there. With
//! `EMBEDDINGS_BASE_URL` set memory is asked by meaning too, as the bot would.

use precedent::config::Config;
use precedent::incident::{Grade, IncidentId, PastIncident, Registry, Report};
use precedent::jobs::embed;
use precedent::memory;
use precedent::response::grade::{self, RECALL_FLOOR};
use precedent::response::recall;
use precedent::response::triage::{self, Said};
use precedent::store::{Entry, PutOutcome, Store};
use serde_json::{Value, json};
use std::collections::{HashMap, HashSet};
use std::path::Path;
use std::time::{Duration, Instant};

const GUILD: &str = "evaluation";
/// Documents stored in one transaction.
const BATCH: usize = 1_000;
/// So many of the best are looked at: the last place that a figure asks for.
const LOOKED_AT: usize = 10;

/// One report with its right answers.
struct Asked {
    id: String,
    report: Report,
    service: Option<String>,
    exclude: HashSet<String>,
    right: HashSet<String>,
}

/// What came back for one report.
struct Answer {
    /// Ids and similarities, best first, without what does not count.
    ranked: Vec<(String, f64)>,
    /// One of them is offered: a direct match or an analogy.
    offered: bool,
    /// Memory alone: index and records.
    recall: Duration,
    /// Triage, memory, comparison and order.
    all: Duration,
}

impl Answer {
    fn best(&self) -> f64 {
        self.ranked.iter().map(|(_, s)| *s).fold(0.0, f64::max)
    }
}

/// Measures one folder.
pub fn measure(folders: &[String]) -> Result<Value, String> {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()
        .map_err(|error| format!("no runtime: {error}"))?;
    let mut figures = Vec::new();
    for folder in folders {
        figures.push(runtime.block_on(measure_folder(Path::new(folder)))?);
    }
    Ok(match figures.len() {
        1 => figures.remove(0),
        _ => Value::Array(figures),
    })
}

async fn measure_folder(folder: &Path) -> Result<Value, String> {
    let file = |name: &str| folder.join(name).to_string_lossy().into_owned();
    let docs = super::rows(&file("docs.jsonl"))?;
    let labels = labels(&file("qrels.tsv"))?;
    let queries = asked(&super::rows(&file("queries.jsonl"))?, &labels);
    let no_match = if folder.join("nomatch_queries.jsonl").exists() {
        asked(&super::rows(&file("nomatch_queries.jsonl"))?, &labels)
    } else {
        Vec::new()
    };

    let home = tempfile::tempdir().map_err(|error| format!("no folder: {error}"))?;
    let url = format!("sqlite://{}", home.path().join("memory.db").display());
    let store = Store::open(&url)
        .await
        .map_err(|error| format!("no database: {error}"))?;
    let started = Instant::now();
    let names = fill(&store, &docs).await?;
    let import = started.elapsed();
    let registry = store
        .services(GUILD)
        .await
        .map_err(|error| format!("no services: {error}"))?;
    let embedder = embedder()?;
    if let Some(embedder) = &embedder {
        embed::pass(&store, embedder, None)
            .await
            .map_err(|error| format!("no vectors: {error}"))?;
    }
    let memory = memory::Database::new(store.read_pool().clone()).with_embedder(embedder.clone());

    let mut answers = Vec::new();
    for query in &queries {
        answers.push(answer(&memory, &registry, &names, query).await?);
    }
    let mut bests = Vec::new();
    let mut offered = 0;
    for query in &no_match {
        let answer = answer(&memory, &registry, &names, query).await?;
        offered += usize::from(answer.offered);
        bests.push(answer.best());
    }
    let offered = (!no_match.is_empty()).then(|| offered as f64 / no_match.len() as f64);
    store.close().await;

    let of = answers.len().max(1) as f64;
    let ranks: Vec<Option<usize>> = queries
        .iter()
        .zip(&answers)
        .map(|(query, answer)| {
            answer
                .ranked
                .iter()
                .take(LOOKED_AT)
                .position(|(id, _)| query.right.contains(id))
        })
        .collect();
    let success = |at: usize| ranks.iter().flatten().filter(|rank| **rank < at).count() as f64 / of;
    let mrr = ranks
        .iter()
        .flatten()
        .map(|rank| 1.0 / (rank + 1) as f64)
        .sum::<f64>()
        / of;
    // Every right answer that stands among the first five.
    let found: Vec<f64> = queries
        .iter()
        .zip(&answers)
        .flat_map(|(query, answer)| {
            answer
                .ranked
                .iter()
                .take(5)
                .filter(|(id, _)| query.right.contains(id))
                .map(|(_, similarity)| *similarity)
        })
        .collect();
    let lost = |floor: f64| share(&found, |similarity| similarity < floor);
    let passed = |floor: f64| share(&bests, |similarity| similarity >= floor);
    let times = |of: fn(&Answer) -> Duration| {
        let mut times: Vec<Duration> = answers.iter().map(of).collect();
        times.sort();
        times
    };
    let (recall, all) = (times(|a| a.recall), times(|a| a.all));

    println!(
        "{}: {} documents stored in {:.1} s; {} queries with a match, {} without",
        folder.display(),
        docs.len(),
        import.as_secs_f64(),
        queries.len(),
        no_match.len()
    );
    if std::env::var_os("SHOW_MISSED").is_some() {
        for (query, answer) in queries.iter().zip(&answers) {
            let place = answer
                .ranked
                .iter()
                .position(|(id, _)| query.right.contains(id));
            if place.is_none_or(|place| place > 0) {
                println!(
                    "  {} wants {:?}, which is at {place:?} of {}; first {:?}",
                    query.id,
                    query.right,
                    answer.ranked.len(),
                    answer.ranked.first()
                );
            }
        }
    }
    println!(
        "  success@1 {:.3}  @5 {:.3}  @10 {:.3}  MRR@10 {mrr:.3}",
        success(1),
        success(5),
        success(10)
    );
    println!(
        "  recall p50 {:.2} ms, p95 {:.2} ms; with triage and comparison p50 {:.2} ms, p95 {:.2} ms",
        millis(&recall, 50.0),
        millis(&recall, 95.0),
        millis(&all, 50.0),
        millis(&all, 95.0)
    );
    println!(
        "  floor   no-match queries that pass   right answers of the first five that are lost"
    );
    let mut curve = Vec::new();
    for step in 0..=50_u32 {
        let floor = f64::from(step) / 50.0;
        let (passed, lost) = (passed(floor), lost(floor));
        if step % 2 == 0 || (12..=30).contains(&step) {
            println!(
                "   {floor:.2}   {:>26}   {:>49}",
                percent(passed),
                percent(lost)
            );
        }
        curve.push(json!([floor, rounded(passed), rounded(lost)]));
    }
    println!(
        "  at the floor of {RECALL_FLOOR}: {} pass, {} are lost; with the floor of analogies too, {} are offered anything",
        percent(passed(RECALL_FLOOR)),
        percent(lost(RECALL_FLOOR)),
        percent(offered)
    );
    Ok(json!({
        "set": folder.file_name().map(|name| name.to_string_lossy().into_owned()),
        "docs": docs.len(),
        "queries": queries.len(),
        "nomatch_queries": no_match.len(),
        "success@1": rounded(Some(success(1))),
        "success@5": rounded(Some(success(5))),
        "success@10": rounded(Some(success(10))),
        "mrr@10": rounded(Some(mrr)),
        "by_meaning_too": embedder.is_some(),
        "floor": RECALL_FLOOR,
        "nomatch_pass_share": rounded(passed(RECALL_FLOOR)),
        "nomatch_offered_share": rounded(offered),
        "right_lost_share": rounded(lost(RECALL_FLOOR)),
        "right_in_first_five": found.len(),
        "floor_curve": curve,
        "recall_p50_ms": round_millis(&recall, 50.0),
        "recall_p95_ms": round_millis(&recall, 95.0),
        "whole_p50_ms": round_millis(&all, 50.0),
        "whole_p95_ms": round_millis(&all, 95.0),
        "import_seconds": (import.as_secs_f64() * 100.0).round() / 100.0,
    }))
}

/// The model of meanings that is configured, if one is.
fn embedder() -> Result<Option<memory::Embedder>, String> {
    let config = Config::from_env().map_err(|faults| faults.to_string())?;
    embed::configured(config.embeddings.as_ref()).map_err(|error| error.to_string())
}

/// Stores the documents, and tells which incident is which.
async fn fill(store: &Store, docs: &[Value]) -> Result<HashMap<IncidentId, String>, String> {
    let mut names = HashMap::new();
    let mut number = 0;
    for chunk in docs.chunks(BATCH) {
        let mut entries = Vec::with_capacity(chunk.len());
        for doc in chunk {
            number += 1;
            let id = IncidentId::new(number).ok_or("no number left")?;
            names.insert(id, text(doc, "id").to_owned());
            entries.push(Entry {
                id: Some(id),
                past: past(id, doc),
                private_to: None,
            });
        }
        let outcomes = store
            .put_past(GUILD, &entries, jiff::Timestamp::now(), false)
            .await
            .map_err(|error| format!("not stored: {error}"))?;
        if let Some(PutOutcome::Refused(reason)) = outcomes
            .iter()
            .find(|outcome| matches!(outcome, PutOutcome::Refused(_)))
        {
            return Err(format!("a document was refused: {reason}"));
        }
    }
    Ok(names)
}

/// A document as an import makes it an incident.
fn past(id: IncidentId, doc: &Value) -> PastIncident {
    let body = text(doc, "text");
    let parts = triage::parts_of(body);
    let mut title = text(doc, "title").trim().to_owned();
    if title.is_empty() {
        // As a reader would call it: its first sentence that is no heading.
        let first = parts.prose.iter().find(|line| !line.starts_with('#'));
        let first = first.map_or("", String::as_str);
        title = first.split(". ").next().unwrap_or_default().to_owned();
    }
    if title.is_empty() {
        title = "untitled".to_owned();
    }
    let mut past = PastIncident::new(id, title);
    past.service = Some(text(doc, "service").to_owned()).filter(|name| !name.is_empty());
    past.symptoms = parts.prose;
    past.error_signatures = parts.log_lines;
    past
}

async fn answer(
    memory: &memory::Database,
    registry: &Registry,
    names: &HashMap<IncidentId, String>,
    asked: &Asked,
) -> Result<Answer, String> {
    let started = Instant::now();
    let said = Said {
        service: asked.service.clone(),
        severity: None,
    };
    let triage = triage::triage(&asked.report, registry, &said);
    let query = recall::query(&asked.report, &triage);
    let before = Instant::now();
    let found = memory
        .recall(&memory::Query {
            guild: GUILD,
            channel: "",
            words: &query.tokens,
            service: triage.service.as_deref(),
            registry,
            own: None,
            limit: 0,
            meaning: &query.meaning(),
        })
        .await
        .map_err(|error| format!("memory: {error}"))?;
    let recall = before.elapsed();
    let everything = grade::Limits {
        direct: usize::MAX,
        analogies: usize::MAX,
        low: usize::MAX,
    };
    let graded = grade::grade(
        found.candidates,
        &query.prepare_in(&found.statistics),
        triage.service.as_deref(),
        registry,
        None,
        everything,
    );
    let all = started.elapsed();
    let offered = graded.iter().any(|recalled| recalled.grade != Grade::Low);
    // Grades group what is shown; what was found first is the most alike, whatever its grade.
    let mut ranked = graded;
    ranked.sort_by(|one, other| other.similarity.total_cmp(&one.similarity));
    Ok(Answer {
        offered,
        ranked: ranked
            .into_iter()
            .filter_map(|recalled| {
                let id = names.get(&recalled.incident.id)?.clone();
                (!asked.exclude.contains(&id)).then_some((id, recalled.similarity))
            })
            .collect(),
        recall,
        all,
    })
}

fn asked(rows: &[Value], labels: &HashMap<String, HashSet<String>>) -> Vec<Asked> {
    rows.iter()
        .map(|row| {
            let id = text(row, "id").to_owned();
            let words = [text(row, "title"), text(row, "text")];
            let words: Vec<&str> = words
                .into_iter()
                .filter(|words| !words.is_empty())
                .collect();
            Asked {
                report: Report::from_text(words.join("\n")),
                service: Some(text(row, "service").to_owned()).filter(|name| !name.is_empty()),
                exclude: row["exclude"]
                    .as_array()
                    .into_iter()
                    .flatten()
                    .filter_map(|id| id.as_str().map(str::to_owned))
                    .collect(),
                right: labels.get(&id).cloned().unwrap_or_default(),
                id,
            }
        })
        .collect()
}

/// Which documents are right for which query.
fn labels(file: &str) -> Result<HashMap<String, HashSet<String>>, String> {
    let lines = std::fs::read_to_string(file).map_err(|error| format!("{file}: {error}"))?;
    let mut labels: HashMap<String, HashSet<String>> = HashMap::new();
    for line in lines.lines() {
        let mut columns = line.split('\t');
        let (Some(query), Some(doc), Some(relevance)) =
            (columns.next(), columns.next(), columns.next())
        else {
            continue;
        };
        // The header's third column is no number.
        if relevance
            .trim()
            .parse::<i64>()
            .is_ok_and(|relevance| relevance > 0)
        {
            labels
                .entry(query.to_owned())
                .or_default()
                .insert(doc.to_owned());
        }
    }
    Ok(labels)
}

fn text<'a>(row: &'a Value, key: &str) -> &'a str {
    row[key].as_str().unwrap_or_default()
}

/// `None` of nothing.
fn share(of: &[f64], counts: impl Fn(f64) -> bool) -> Option<f64> {
    (!of.is_empty()).then(|| of.iter().filter(|one| counts(**one)).count() as f64 / of.len() as f64)
}

fn percent(share: Option<f64>) -> String {
    share.map_or_else(
        || "none asked".to_owned(),
        |share| format!("{:.1} %", share * 100.0),
    )
}

fn rounded(share: Option<f64>) -> Option<f64> {
    share.map(|share| (share * 1000.0).round() / 1000.0)
}

/// By nearest rank.
fn millis(sorted: &[Duration], percent: f64) -> f64 {
    let rank = (percent / 100.0 * sorted.len() as f64).ceil() as usize;
    sorted
        .get(rank.saturating_sub(1))
        .map_or(0.0, |time| time.as_secs_f64() * 1000.0)
}

fn round_millis(sorted: &[Duration], percent: f64) -> f64 {
    (millis(sorted, percent) * 100.0).round() / 100.0
}

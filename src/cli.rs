//! The command line beside the bot: `analyze`, `memory import`, `memory export`.
//!
//! `analyze` runs the bot's own stages on a file, without Discord, and writes nothing to memory
//! (R29). What is printed goes to the writer that is passed in; notes for the operator go to the
//! log writer, so that `--json` is one object and nothing else.

use crate::config::Config;
use crate::incident::{Engine, Locale, Registry, Report, Severity, Status};
use crate::jobs::mirror;
use crate::jobs::recollect::Second;
use crate::jobs::remember::{self, ImportOptions};
use crate::jobs::respond::{Models, Recollection, Reported, Responder, redaction_key};
use crate::memory;
use crate::memory::hindsight::Times;
use crate::present::{self, View, say};
use crate::response::redact;
use crate::response::triage::Said;
use crate::store::Store;
use anyhow::{Context as _, bail};
use jiff::Timestamp;
use serde_json::{Value, json};
use std::io::{Read as _, Write};
use std::path::Path;

/// Longest report that `analyze` reads, in bytes; more is cut and said to be cut.
pub const MOST_REPORT_BYTES: u64 = 1024 * 1024;

/// What `analyze` is asked.
#[derive(Clone, Debug, Default)]
pub struct Analyze {
    /// A file, or `-` for standard input.
    pub file: String,
    /// The service, where a person says it.
    pub service: Option<String>,
    /// The severity, where a person says it.
    pub severity: Option<Severity>,
    /// The guild, as stored.
    pub guild: String,
    /// One JSON object instead of text.
    pub json: bool,
    /// The time of the run; now where not given.
    pub now: Option<Timestamp>,
    /// Memory is off for this run.
    pub without_memory: bool,
    /// The language; the report's own where not given.
    pub locale: Option<Locale>,
}

/// Runs the stages on a file and prints what the bot would post.
///
/// # Errors
///
/// Where the file can't be read or the output not written. A database or model that fails is no
/// error: the answer says so.
pub async fn analyze(
    config: &Config,
    ask: &Analyze,
    out: &mut (impl Write + Send),
    log: &mut (impl Write + Send),
) -> anyhow::Result<()> {
    let (text, cut) = read_report(&ask.file)?;
    if text.trim().is_empty() {
        bail!("The report is empty: give a file with text, or - to read standard input.");
    }
    if let Some(whole) = cut {
        writeln!(
            log,
            "The report has {whole} bytes; the first {MOST_REPORT_BYTES} were read."
        )?;
    }
    let locale = ask.locale.unwrap_or_else(|| Locale::of_text(&text));
    let now = ask.now.unwrap_or_else(Timestamp::now);
    let store = match Store::open(&config.database_url).await {
        Ok(store) => Some(store),
        Err(error) => {
            writeln!(log, "Memory is unavailable for this run: {error}.")?;
            None
        }
    };
    let registry = match &store {
        Some(store) => store.services(&ask.guild).await.unwrap_or_default(),
        None => Registry::default(),
    };
    let responder = Responder {
        memory: match (&store, ask.without_memory) {
            (_, true) => Recollection::Off,
            (Some(store), false) => {
                Recollection::On(memory::Sqlite::new(store.read_pool().clone()))
            }
            (None, false) => Recollection::Down,
        },
        second: match (&store, ask.without_memory) {
            (Some(store), false) => {
                mirror::configured(config.hindsight.as_ref(), Times::default())?.map(|hindsight| {
                    let reflects = config
                        .hindsight
                        .as_ref()
                        .is_some_and(|config| config.reflect);
                    Second::new(store.clone(), hindsight, reflects)
                })
            }
            _ => None,
        },
        models: Models::configured(config).context("the model's endpoint can't be used")?,
        redaction: redaction_key(config),
    };
    let reported = Reported {
        guild: ask.guild.clone(),
        channel: String::new(),
        report: responder.redact(Report::from_text(text)),
        said: Said {
            service: ask.service.clone(),
            severity: ask.severity,
        },
        registry,
        locale,
        now,
        own: None,
        attempts: Vec::new(),
    };
    let (read, route, proposed, analysis) = responder.respond(reported).await;
    let mut view = View::new(read.title.clone(), analysis.severity.severity, locale, now);
    view.service = read.case.service.clone();
    view.status = Status::Investigating;
    view.change_before_impact = read.triage.change_before.is_some();
    if ask.json {
        let mut object = json!({
            "analysis": present::wire(&analysis),
            "corrections": analysis.corrections,
            "recalled": read.case.memory.recalled().iter().map(|recalled| json!({
                "id": recalled.incident.id,
                "grade": recalled.grade,
                "outcome": recalled.incident.outcome(),
                "similarity": (recalled.similarity * 1000.0).round() / 1000.0,
            })).collect::<Vec<Value>>(),
            "routing": {
                "tier": route.tier,
                "score": route.score,
                "escalated": route.escalated,
                "reasons": route.reasons,
                "sentence": say::route(locale, &route),
            },
            "engine": proposed.engine.word(),
            "service": read.case.service,
            "title": read.title,
            "measures": read.measures,
            "messages": present::all(&analysis, &view).into_iter().map(|post| post.payload).collect::<Vec<Value>>(),
        });
        match (&proposed.engine, object.as_object_mut()) {
            (Engine::Fallback { reason }, Some(object)) => {
                object.insert(
                    "engine_reason".into(),
                    say::fallback_reason(locale, reason).into(),
                );
            }
            (Engine::Model { model, .. }, Some(object)) => {
                object.insert("model".into(), model.clone().into());
            }
            (_, None) => {}
        }
        writeln!(out, "{object}")?;
    } else {
        writeln!(out, "{}", present::text(&analysis, &view))?;
    }
    if let Some(store) = store {
        store.close().await;
    }
    Ok(())
}

/// The text of a report, and its whole length where it was cut.
fn read_report(file: &str) -> anyhow::Result<(String, Option<u64>)> {
    let mut bytes = Vec::new();
    let whole = if file == "-" {
        std::io::stdin()
            .lock()
            .take(MOST_REPORT_BYTES + 1)
            .read_to_end(&mut bytes)
            .context("standard input can't be read")?;
        bytes.len() as u64
    } else {
        let mut opened = std::fs::File::open(Path::new(file))
            .with_context(|| format!("{file} can't be read"))?;
        let whole = opened
            .metadata()
            .with_context(|| format!("{file} can't be read"))?
            .len();
        (&mut opened)
            .take(MOST_REPORT_BYTES)
            .read_to_end(&mut bytes)
            .with_context(|| format!("{file} can't be read"))?;
        whole
    };
    let most = usize::try_from(MOST_REPORT_BYTES).unwrap_or(usize::MAX);
    let cut = (whole > MOST_REPORT_BYTES).then_some(whole);
    bytes.truncate(most);
    let text = String::from_utf8_lossy(&bytes).replace('\0', "");
    Ok((text, cut))
}

/// Imports a file of incidents, one JSON object a line.
///
/// # Errors
///
/// Where the file or the database can't be read or written, or `strict` found a bad line.
pub async fn import(
    config: &Config,
    file: &str,
    guild: &str,
    strict: bool,
    log: &mut (impl Write + Send),
) -> anyhow::Result<()> {
    let opened = std::fs::File::open(file).with_context(|| format!("{file} can't be read"))?;
    let store = Store::open(&config.database_url).await?;
    let key = redaction_key(config);
    let redact = |text: &str| redact::redact(text, &key).text;
    let options = ImportOptions {
        now: Timestamp::now(),
        redact: &redact,
        strict,
    };
    let report = remember::import(
        &store,
        guild,
        std::io::BufReader::new(opened),
        options,
        |so_far| {
            tracing::info!(stored = so_far.added + so_far.replaced, "importing");
        },
    )
    .await?;
    store.close().await;
    for (line, reason) in &report.failures {
        writeln!(log, "line {line}: {reason}")?;
    }
    for (key, lines) in &report.unknown_keys {
        writeln!(log, "unknown key {key:?} on {lines} lines: ignored")?;
    }
    writeln!(
        log,
        "{} added, {} replaced, {} not imported (guild {guild}).",
        report.added, report.replaced, report.failed
    )?;
    if config.hindsight.is_some() && !report.refused && report.added + report.replaced > 0 {
        writeln!(log, "Hindsight is told of them while the bot runs.")?;
    }
    if report.refused {
        bail!("Nothing was imported, because --strict was given and a line is bad.");
    }
    if report.added + report.replaced == 0 && report.failed > 0 {
        bail!("No line could be imported.");
    }
    Ok(())
}

/// Exports all past incidents of a guild, private ones too, one JSON object a line.
///
/// # Errors
///
/// Where the file or the database can't be read or written.
pub async fn export(
    config: &Config,
    file: &str,
    guild: &str,
    out: &mut (impl Write + Send),
    log: &mut (impl Write + Send),
) -> anyhow::Result<()> {
    let store = Store::open(&config.database_url).await?;
    let whose = remember::Whose::Operator(guild);
    let written = if file == "-" {
        remember::export(&store, whose, out).await?
    } else {
        let mut writer = std::io::BufWriter::new(
            std::fs::File::create(file).with_context(|| format!("{file} can't be written"))?,
        );
        let written = remember::export(&store, whose, &mut writer).await?;
        writer
            .flush()
            .with_context(|| format!("{file} can't be written"))?;
        written
    };
    store.close().await;
    writeln!(log, "{written} incidents exported (guild {guild}).")?;
    Ok(())
}

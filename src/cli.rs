//! The command line beside the bot: `analyze`, `memory import`, `memory export`, `backtest`.
//!
//! `analyze` runs the bot's own stages on a file, without Discord, and writes nothing to memory;
//! `backtest` opens the database to read it alone (R29). What is printed goes to the writer that is passed in; notes for the operator go to the
//! log writer, so that `--json` is one object and nothing else.

use crate::config::Config;
use crate::incident::{
    Engine, IncidentId, Locale, PastIncident, Registry, Report, Severity, Status,
};
use crate::jobs::backtest;
use crate::jobs::embed;
use crate::jobs::history::{self, Fate, History};
use crate::jobs::mirror;
use crate::jobs::recollect::Second;
use crate::jobs::remember::{self, ImportOptions};
use crate::jobs::respond::{
    Models, Recollection, Reported, Responder, installation_key, passing_key,
};
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
                let embedder = embed::configured(config.embeddings.as_ref())?;
                Recollection::On(
                    memory::Database::new(store.read_pool().clone()).with_embedder(embedder),
                )
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
        redaction: match &store {
            Some(store) => installation_key(config, store)
                .await
                .unwrap_or_else(|_| passing_key(config)),
            None => passing_key(config),
        },
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
    let (mut read, route, proposed, analysis) = responder.respond(reported).await;
    let mut view = View::new(read.title.clone(), analysis.severity.severity, locale, now);
    view.service = read.case.service.clone();
    view.status = Status::Investigating;
    view.change_before_impact = read.triage.change_before.is_some();
    // What runs shows as a return (R11); its number is never told, it has none.
    if let Some(none) = IncidentId::new(u32::MAX) {
        let mut running = PastIncident::new(none, read.title.clone());
        running.service.clone_from(&read.case.service);
        running
            .error_signatures
            .clone_from(&read.triage.error_signatures);
        running.started_at = Some(now);
        read.case.ledger.running = Some(running);
        view.returned(&read.case);
    }
    view.impact_unknown = read.case.impact.is_none() && ask.severity.is_none();
    if !read.triage.service_ambiguous.is_empty() {
        writeln!(
            log,
            "The report may mean {}: give --service; it is taken as unknown.",
            read.triage.service_ambiguous.join(" or ")
        )?;
    }
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

/// What `memory import` is asked.
#[derive(Clone, Debug, Default)]
pub struct Import {
    /// A JSONL file, a Markdown file, or a folder of Markdown files.
    pub path: String,
    /// The guild, as stored.
    pub guild: String,
    /// JSONL: import nothing if a line is bad.
    pub strict: bool,
    /// Tell what would be imported, and store nothing.
    pub dry_run: bool,
}

/// Imports a file of incidents, one JSON object a line, or postmortems in Markdown.
///
/// # Errors
///
/// Where the file or the database can't be read or written, `strict` found a bad line, or a
/// postmortem could not be read.
pub async fn import(
    config: &Config,
    ask: &Import,
    out: &mut (impl Write + Send),
    log: &mut (impl Write + Send),
) -> anyhow::Result<()> {
    let path = Path::new(&ask.path);
    let name = ask.path.to_lowercase();
    if path.is_dir() || name.ends_with(".md") || name.ends_with(".markdown") {
        return import_documents(config, ask, out, log).await;
    }
    if ask.dry_run {
        return preview_lines(config, ask, log).await;
    }
    let file = &ask.path;
    let opened = std::fs::File::open(file).with_context(|| format!("{file} can't be read"))?;
    let store = Store::open(&config.database_url).await?;
    let report = import_lines(&store, config, ask, opened).await?;
    store.close().await;
    say_lines(&report, ask, "imported", log)?;
    if report.services > 0 {
        writeln!(log, "{} services registered.", report.services)?;
    }
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

async fn import_lines(
    store: &Store,
    config: &Config,
    ask: &Import,
    opened: std::fs::File,
) -> anyhow::Result<remember::ImportReport> {
    let key = installation_key(config, store).await?.of_guild(&ask.guild);
    let redact = |text: &str| redact::redact(text, &key).text;
    let options = ImportOptions {
        now: Timestamp::now(),
        redact: &redact,
        strict: ask.strict,
    };
    let read = std::io::BufReader::new(opened);
    Ok(
        remember::import(store, &ask.guild, read, options, |so_far| {
            tracing::info!(stored = so_far.added + so_far.replaced, "importing");
        })
        .await?,
    )
}

fn say_lines(
    report: &remember::ImportReport,
    ask: &Import,
    done: &str,
    log: &mut impl Write,
) -> anyhow::Result<()> {
    for (line, reason) in &report.failures {
        writeln!(log, "line {line}: {reason}")?;
    }
    for (key, lines) in &report.unknown_keys {
        writeln!(log, "unknown key {key:?} on {lines} lines: ignored")?;
    }
    writeln!(
        log,
        "{} added, {} replaced, {} not {done} (guild {}).",
        report.added, report.replaced, report.failed, ask.guild
    )?;
    Ok(())
}

/// The lines go into a database in memory: what would be refused there is what would be refused.
async fn preview_lines(
    config: &Config,
    ask: &Import,
    log: &mut (impl Write + Send),
) -> anyhow::Result<()> {
    let file = &ask.path;
    let opened = std::fs::File::open(file).with_context(|| format!("{file} can't be read"))?;
    let nowhere = Store::open("sqlite::memory:").await?;
    let report = import_lines(&nowhere, config, ask, opened).await?;
    nowhere.close().await;
    say_lines(&report, ask, "importable", log)?;
    writeln!(
        log,
        "Nothing was stored: this was a dry run, against an empty memory."
    )?;
    if report.failed > 0 {
        bail!("Some lines can't be imported.");
    }
    Ok(())
}

async fn import_documents(
    config: &Config,
    ask: &Import,
    out: &mut (impl Write + Send),
    log: &mut (impl Write + Send),
) -> anyhow::Result<()> {
    let path = &ask.path;
    let documents =
        history::documents(Path::new(path)).with_context(|| format!("{path} can't be read"))?;
    let store = if ask.dry_run {
        // A dry run neither makes a database nor brings one up to date.
        Store::open_to_read(&config.database_url).await.ok()
    } else {
        Some(Store::open(&config.database_url).await?)
    };
    let key = match &store {
        Some(store) if !ask.dry_run => installation_key(config, store).await?,
        _ => passing_key(config),
    };
    let key = key.of_guild(&ask.guild);
    let redact = |text: &str| redact::redact(text, &key).text;
    let registry = match &store {
        Some(store) => store.services(&ask.guild).await?,
        None => Registry::default(),
    };
    if documents.len() > 200 {
        writeln!(log, "{} documents are read …", documents.len())?;
    }
    let (read, history) = history::read_all(documents, &registry, &redact);
    let into = history::Into {
        guild: &ask.guild,
        private_to: None,
        now: Timestamp::now(),
        preview: ask.dry_run,
    };
    // Shown as it goes, at most some twenty times.
    let (progress, said) = std::sync::mpsc::channel();
    let stored = history::store_all(store.as_ref(), into, read, history, |done, all| {
        let _gone = progress.send((done, all));
        tracing::info!(done, all, "importing");
    })
    .await?;
    for (done, all) in said.try_iter().filter(|(_, all)| *all > 1_000) {
        writeln!(log, "{done} of {all} …")?;
    }
    if let Some(store) = store {
        store.close().await;
    }
    say_documents(&stored, ask, out, log)?;
    let changed = stored.count(Fate::Added) + stored.count(Fate::Updated);
    if config.hindsight.is_some() && !ask.dry_run && changed > 0 {
        writeln!(log, "Hindsight is told of them while the bot runs.")?;
    }
    if stored.unreadable.is_empty() {
        return Ok(());
    }
    bail!(
        "{} could not be imported; the others {}.",
        stored.unreadable.len(),
        if ask.dry_run { "can" } else { "are" }
    )
}

fn say_documents(
    stored: &History,
    ask: &Import,
    out: &mut impl Write,
    log: &mut impl Write,
) -> anyhow::Result<()> {
    if ask.dry_run {
        for (document, fate) in &stored.incidents {
            let past = &document.past;
            let fate = match fate {
                Fate::Added => "new",
                Fate::Updated => "changed",
                Fate::Unchanged => "as before",
            };
            writeln!(out, "{} ({fate})", document.source)?;
            let day = |at: Option<Timestamp>| {
                at.map_or("not stated".to_owned(), |at| {
                    at.strftime("%Y-%m-%d %H:%M UTC").to_string()
                })
            };
            let or_not = |text: &str| {
                if text.trim().is_empty() {
                    "not stated".to_owned()
                } else {
                    present::escape::cut(&text.replace('\n', " "), 200)
                }
            };
            writeln!(out, "  title    {}", past.title)?;
            writeln!(
                out,
                "  service  {}",
                or_not(past.service.as_deref().unwrap_or_default())
            )?;
            writeln!(
                out,
                "  began    {}, over {}",
                day(past.started_at),
                day(past.resolved_at)
            )?;
            writeln!(out, "  cause    {}", or_not(&past.root_cause))?;
            if past.attempts.is_empty() {
                writeln!(out, "  fix      not stated")?;
            }
            for attempt in &past.attempts {
                let outcome = say::outcome(Locale::En, attempt.outcome);
                writeln!(out, "  fix      {} ({outcome})", or_not(&attempt.fix))?;
            }
            for cause in &past.ruled_out {
                writeln!(out, "  not it   {}", or_not(cause))?;
            }
        }
    }
    for (source, reason) in &stored.left_out {
        writeln!(log, "{source}: left out, {reason}")?;
    }
    for (source, reason) in &stored.unreadable {
        writeln!(log, "{source}: {reason}")?;
    }
    let known = |what: fn(&crate::incident::PastIncident) -> bool| {
        stored
            .incidents
            .iter()
            .filter(|(document, _)| what(&document.past))
            .count()
    };
    writeln!(
        log,
        "{} read: {} with a service, {} with a cause, {} with a fix, {} with a date.",
        stored.incidents.len(),
        known(|past| past.service.is_some()),
        known(|past| !past.root_cause.is_empty()),
        known(|past| past.fix().is_some()),
        known(|past| past.started_at.is_some()),
    )?;
    writeln!(
        log,
        "{} {}, {} changed, {} as before, {} left out, {} not {} (guild {}).",
        stored.count(Fate::Added),
        if ask.dry_run { "new" } else { "added" },
        stored.count(Fate::Updated),
        stored.count(Fate::Unchanged),
        stored.left_out.len(),
        stored.unreadable.len(),
        if ask.dry_run {
            "importable"
        } else {
            "imported"
        },
        ask.guild
    )?;
    if ask.dry_run {
        writeln!(log, "Nothing was stored: this was a dry run.")?;
    }
    Ok(())
}

/// Replays every past incident with what was known before it, and prints what the team would have
/// seen. Nothing is written (R29).
///
/// # Errors
///
/// Where the database can't be read, or there is nothing to replay.
pub async fn backtest(
    config: &Config,
    guild: &str,
    json: bool,
    out: &mut (impl Write + Send),
    log: &mut (impl Write + Send),
) -> anyhow::Result<()> {
    let store = Store::open_to_read(&config.database_url).await?;
    let (sums, incidents) = backtest::backtest(&store, guild, passing_key(config), |done, all| {
        // Only what takes long says how far it is.
        if done % 500 == 0 && done < all {
            let _shown = writeln!(log, "{done} of {all} …");
        }
    })
    .await?;
    store.close().await;
    if sums.incidents == 0 {
        bail!("There is no past incident to replay (guild {guild}): import some first.");
    }
    if json {
        let object = json!({ "guild": guild, "backtest": sums, "incidents": incidents });
        writeln!(out, "{object}")?;
    } else {
        write!(out, "{}", sums.sentences())?;
        for one in incidents.iter().filter(|one| one.wrong_above == Some(true)) {
            writeln!(
                log,
                "{}: something wrong stood above {}",
                one.id,
                backtest::WRONG_ABOVE
            )?;
        }
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
    let (incidents, services) = (written.incidents, written.services);
    writeln!(log, "{incidents} incidents exported (guild {guild}).")?;
    if services > 0 {
        writeln!(log, "{services} services exported.")?;
    }
    Ok(())
}

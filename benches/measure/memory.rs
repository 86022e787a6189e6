//! Memory itself, by how much it holds: importing, recalling, and what that takes.
//!
//! SQLite is always measured; PostgreSQL where `PRECEDENT_TEST_POSTGRES` names a server and a user
//! who may create databases. `PRECEDENT_BENCH_INCIDENTS` says how many incidents memory holds,
//! several sizes with commas between them (`1000,10000,100000` unless set).

use crate::bot::PROGRAM;
use crate::figures::{Row, Times, profile, ratio};
use crate::{Result, past};
use precedent::database::{Body, Pool};
use precedent::incident::Report;
use precedent::memory;
use precedent::response::recall;
use precedent::response::triage::{self, Said};
use precedent::store::Store;
use sqlx::{AssertSqlSafe, Connection, PgConnection};
use std::io::{BufWriter, Write};
use std::path::Path;
use std::process::Stdio;
use std::time::{Duration, Instant};
use tokio::process::Command;

const GUILD: &str = "local";
const SIZES: &str = "1000,10000,100000";
/// The size for which there are goals.
const GOAL_SIZE: u32 = 100_000;

pub async fn measure() -> Result<Vec<Row>> {
    let sizes = std::env::var("PRECEDENT_BENCH_INCIDENTS").unwrap_or_else(|_| SIZES.to_owned());
    let mut rows = Vec::new();
    for size in sizes.split(',') {
        let size: u32 = size.trim().parse()?;
        let folder = tempfile::tempdir()?;
        let lines = folder.path().join("past.jsonl");
        let mut file = BufWriter::new(std::fs::File::create(&lines)?);
        for number in 1..=size {
            writeln!(file, "{}", past::incident(number))?;
        }
        file.flush()?;
        drop(file);

        let database = folder.path().join("precedent.db");
        let url = format!("sqlite://{}", database.display());
        rows.extend(one("sqlite", size, &lines, &url).await?);
        let bytes = std::fs::metadata(&database)?.len();
        rows.push(Row::new(
            &format!("sqlite_{size}_file_mb"),
            &format!("{size} in SQLite: the file (10^6 bytes)"),
            bytes as f64 / 1e6,
            "MB",
        ));
        if let Ok(server) = std::env::var("PRECEDENT_TEST_POSTGRES") {
            let (database, url) = create(&server).await?;
            let measured = one("postgres", size, &lines, &url).await;
            drop_database(&server, &database).await?;
            rows.extend(measured?);
        }
    }
    Ok(rows)
}

async fn one(home: &str, size: u32, lines: &Path, url: &str) -> Result<Vec<Row>> {
    let mut rows = Vec::new();
    let key = |what: &str| format!("{home}_{size}_{what}");
    let goal = |row: Row, goal: f64| {
        if size == GOAL_SIZE {
            row.goal(goal)
        } else {
            row
        }
    };

    let (import, most) = run(url, &["memory", "import", &lines.to_string_lossy()]).await?;
    rows.push(goal(
        Row::new(
            &key("import_s"),
            &format!("{size} in {home}: import"),
            import.as_secs_f64(),
            "s",
        ),
        60.0,
    ));
    rows.push(goal(
        Row::new(
            &key("import_mib"),
            &format!("{size} in {home}: most memory while importing"),
            most,
            "MiB",
        ),
        150.0,
    ));

    let report = lines.with_extension("txt");
    std::fs::write(&report, past::report(1))?;
    let (_, most) = run(url, &["analyze", &report.to_string_lossy(), "--json"]).await?;
    rows.push(goal(
        Row::new(
            &key("analyze_mib"),
            &format!("{size} in {home}: most memory while analysing one report"),
            most,
            "MiB",
        ),
        150.0,
    ));

    let store = Store::open(url).await?;
    let registry = store.services(GUILD).await?;
    let memory = memory::Database::new(store.read_pool().clone());
    let (mut ours, mut plain) = (Times::default(), Times::default());
    let mut found = 0;
    for number in 0..if profile() == "debug" { 20 } else { 300 } {
        let report = Report::from_text(past::report(number));
        let triage = triage::triage(&report, &registry, &Said::default());
        let query = recall::query(&report, &triage);
        let begun = Instant::now();
        let recalled = memory
            .recall(&memory::Query {
                guild: GUILD,
                channel: "",
                words: &query.tokens,
                service: triage.service.as_deref(),
                registry: &registry,
                own: None,
                limit: 0,
                meaning: "",
            })
            .await?;
        ours.add(begun.elapsed());
        found += recalled.candidates.len();
        if let Some(time) = plainly(store.read_pool(), &query.tokens).await? {
            plain.add(time);
        }
    }
    store.close().await;
    if found == 0 {
        return Err("nothing was recalled: this measures nothing".into());
    }
    for percent in [50.0, 95.0] {
        let row = Row::millis(
            &key(&format!("recall_p{percent}_ms")),
            &format!("{size} in {home}: recall, p{percent}"),
            ours.percentile(percent),
        );
        rows.push(if percent > 90.0 { goal(row, 15.0) } else { row });
    }
    if home == "sqlite" {
        rows.push(Row::new(
            &key("plain_ratio"),
            &format!("{size} in {home}: recall by plain FTS5 MATCH and bm25(), p95"),
            ratio(ours.percentile(95.0), plain.percentile(95.0)),
            "x",
        ));
    }
    Ok(rows)
}

/// The same words in plain full-text search, the ten best by `bm25()`; `None` where there is none.
async fn plainly(pool: &Pool, words: &[String]) -> Result<Option<Duration>> {
    let mut connection = pool.acquire().await?;
    let Body::Sqlite(connection) = connection.body() else {
        return Ok(None);
    };
    let words: Vec<String> = words
        .iter()
        .map(|word| format!("\"{}\"", word.replace('"', "\"\"")))
        .collect();
    let begun = Instant::now();
    let _best: Vec<i64> = sqlx::query_scalar(
        "SELECT rowid FROM incident_words WHERE incident_words MATCH $1 \
         ORDER BY bm25(incident_words) LIMIT 10",
    )
    .bind(words.join(" OR "))
    .fetch_all(connection)
    .await?;
    Ok(Some(begun.elapsed()))
}

/// Runs the program to its end: how long it took, and the most memory it held, in MiB.
async fn run(url: &str, arguments: &[&str]) -> Result<(Duration, f64)> {
    let begun = Instant::now();
    let mut child = Command::new(PROGRAM)
        .env_clear()
        .env("DATABASE_URL", url)
        .env("RUST_LOG", "error")
        .args(arguments)
        .args(["--guild", GUILD])
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .kill_on_drop(true)
        .spawn()?;
    let status = format!("/proc/{}/status", child.id().ok_or("it has ended")?);
    let mut most: f64 = 0.0;
    let mut look = tokio::time::interval(Duration::from_millis(5));
    let ended = loop {
        tokio::select! {
            ended = child.wait() => break ended?,
            _ = look.tick() => {
                // The kernel keeps the most it ever was, so only the last look counts.
                if let Ok(status) = std::fs::read_to_string(&status)
                    && let Some(kibibytes) = status
                        .lines()
                        .find_map(|line| line.strip_prefix("VmHWM:"))
                        .and_then(|rest| rest.split_whitespace().next())
                        .and_then(|figure| figure.parse::<f64>().ok())
                {
                    most = most.max(kibibytes / 1024.0);
                }
            }
        }
    };
    if !ended.success() {
        return Err(format!("{} ended with {ended}", arguments.join(" ")).into());
    }
    Ok((begun.elapsed(), most))
}

/// A database of its own on the server, and its address.
async fn create(server: &str) -> Result<(String, String)> {
    let name = format!("precedent_bench_{}", std::process::id());
    let mut connection = PgConnection::connect(server).await?;
    sqlx::query(AssertSqlSafe(format!("CREATE DATABASE {name}")))
        .execute(&mut connection)
        .await?;
    let mut url: reqwest::Url = server.parse()?;
    url.set_path(&name);
    Ok((name, url.to_string()))
}

async fn drop_database(server: &str, name: &str) -> Result<()> {
    let mut connection = PgConnection::connect(server).await?;
    sqlx::query(AssertSqlSafe(format!("DROP DATABASE {name} WITH (FORCE)")))
        .execute(&mut connection)
        .await?;
    Ok(())
}

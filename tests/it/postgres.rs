//! What PostgreSQL alone does: who is let in, what is refused, what is waited for, and who is on
//! duty where several processes share one database.

#![allow(clippy::unwrap_used)]

use crate::homes::{Home, connect, empty_postgres_database, with_database};
use futures::FutureExt;
use jiff::Timestamp;
use precedent::jobs::queue::{Command, Handler, Queue, QueueOptions};
use precedent::store::{Scope, Store, StoreError};
use serde_json::json;
use sqlx::{AssertSqlSafe, PgConnection};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

async fn run(connection: &mut PgConnection, sql: &str) {
    sqlx::query(AssertSqlSafe(sql))
        .execute(connection)
        .await
        .unwrap();
}

/// Ends every connection of a database but ours.
async fn cut(connection: &mut PgConnection) {
    run(
        connection,
        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity \
         WHERE datname = current_database() AND pid <> pg_backend_pid()",
    )
    .await;
}

#[tokio::test]
async fn what_keeps_it_from_being_opened_is_said_without_the_password() {
    let Some(url) = empty_postgres_database().await else {
        return;
    };
    let mut connection = connect(&url).await;
    run(&mut connection, "CREATE TABLE theirs (x INT)").await;
    let nobody = url.replacen("precedent:", "nobody_of_this_name:", 1);
    let separator = if url.contains('?') { '&' } else { '?' };
    for (url, sentence) in [
        (
            url.clone(),
            "the database belongs to another program: name another one in DATABASE_URL",
        ),
        (
            with_database(&url, "no_such_database"),
            "the database that DATABASE_URL names does not exist: create it",
        ),
        (
            nobody,
            "the database server does not accept the user or the password of DATABASE_URL",
        ),
        (
            format!("{url}{separator}sslmode=require"),
            "the database cannot be reached or written",
        ),
    ] {
        if std::env::var_os("PRECEDENT_TEST_POSTGRES").is_some() && !sentence.contains("another") {
            // Somebody else's server lets in whom it likes.
            continue;
        }
        let error = Store::open(&url).await.expect_err(sentence);
        assert_eq!(error.to_string(), sentence);
        assert!(!format!("{error:?}").contains("not-a-secret"), "{error:?}");
    }
    // What was refused is left alone.
    run(&mut connection, "SELECT x FROM theirs").await;
    let made: bool = sqlx::query_scalar("SELECT to_regclass('incident') IS NOT NULL")
        .fetch_one(&mut connection)
        .await
        .unwrap();
    assert!(!made);
}

#[tokio::test]
async fn a_database_of_a_newer_version_is_refused() {
    let Some(home) = Home::postgres().await else {
        return;
    };
    run(
        &mut connect(home.url()).await,
        "INSERT INTO _sqlx_migrations (version, description, success, checksum, execution_time) \
         VALUES (9999, 'from the future', true, '\\x00', 0)",
    )
    .await;
    let error = Store::open(home.url()).await.unwrap_err();
    assert!(matches!(error, StoreError::Newer), "{error:?}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn several_may_make_the_tables_at_once() {
    let Some(url) = empty_postgres_database().await else {
        return;
    };
    let opened = futures::future::join_all((0..4).map(|_| Store::open(&url))).await;
    for store in opened {
        let store = store.unwrap();
        store.probe().await.unwrap();
        store.close().await;
    }
}

#[tokio::test]
async fn nobody_is_held_up_for_ever() {
    let Some(home) = Home::postgres().await else {
        return;
    };
    let store = home.store().await;
    for (name, expected) in [
        ("statement_timeout", "30s"),
        ("lock_timeout", "5s"),
        ("idle_in_transaction_session_timeout", "30s"),
        ("synchronous_commit", "on"),
        ("transaction_isolation", "read committed"),
    ] {
        let value: String = sqlx::query_scalar("SELECT current_setting($1)")
            .bind(name)
            .fetch_one(store.read_pool().postgres().unwrap())
            .await
            .unwrap();
        assert_eq!(value, expected, "{name}");
    }
    // Somebody who holds a table is waited for, then the caller is told.
    let mut other = connect(home.url()).await;
    run(&mut other, "BEGIN").await;
    run(&mut other, "LOCK TABLE seen IN ACCESS EXCLUSIVE MODE").await;
    let began = Instant::now();
    let error = store.first_time("x", Timestamp::now()).await.unwrap_err();
    assert!(matches!(error, StoreError::Busy(_)), "{error:?}");
    assert!(
        began.elapsed() >= Duration::from_secs(4),
        "{:?}",
        began.elapsed()
    );
    run(&mut other, "ROLLBACK").await;
    assert!(store.first_time("x", Timestamp::now()).await.unwrap());
}

#[tokio::test]
async fn a_connection_that_is_lost_is_replaced() {
    let Some(home) = Home::postgres().await else {
        return;
    };
    let store = home.store().await;
    store.probe().await.unwrap();
    let mut other = connect(home.url()).await;
    cut(&mut other).await;
    // The next statement finds another connection.
    store.probe().await.unwrap();
    assert!(store.services("g").await.unwrap().services.is_empty());
    // Nobody is let in: it is unavailable, and is there again by itself.
    let name: String = sqlx::query_scalar("SELECT current_database()")
        .fetch_one(&mut other)
        .await
        .unwrap();
    let server = with_database(home.url(), "postgres");
    let mut server = connect(&server).await;
    run(
        &mut server,
        &format!("ALTER DATABASE {name} ALLOW_CONNECTIONS false"),
    )
    .await;
    cut(&mut other).await;
    let scope = Scope::new("g", "c");
    let error = store.list(&scope, &Default::default()).await.unwrap_err();
    assert!(error.is_transient(), "{error:?}");
    let memory = home.memory(&store);
    let registry = Default::default();
    let asked = precedent::memory::Query {
        guild: "g",
        channel: "",
        words: &["timeout".to_owned()],
        service: None,
        registry: &registry,
        own: None,
        limit: 0,
        meaning: "",
    };
    assert!(
        memory.recall(&asked).await.is_err(),
        "never an empty answer"
    );
    run(
        &mut server,
        &format!("ALTER DATABASE {name} ALLOW_CONNECTIONS true"),
    )
    .await;
    store.probe().await.unwrap();
    assert!(memory.recall(&asked).await.is_ok());
}

// ---- on duty -----------------------------------------------------------------------------------

type Worked = Arc<Mutex<Vec<(String, u32)>>>;

async fn on_duty(store: &Store, worked: &Worked) -> Queue {
    let worked = Arc::clone(worked);
    let handler: Handler = Arc::new(move |job| {
        worked
            .lock()
            .unwrap()
            .push((job.command.key.clone(), job.attempt));
        async move {
            if job.command.kind == "hang" && job.attempt == 1 {
                std::future::pending::<()>().await;
            }
            Ok(())
        }
        .boxed()
    });
    let options = QueueOptions {
        pause: Duration::from_millis(10),
        ..QueueOptions::default()
    };
    Queue::start(
        store,
        options,
        handler,
        Arc::new(|_| async { Ok(()) }.boxed()),
    )
    .await
    .unwrap()
}

async fn until(what: &str, so: impl AsyncFn() -> bool) {
    let deadline = Instant::now() + Duration::from_secs(20);
    while !so().await {
        assert!(Instant::now() < deadline, "waited in vain until {what}");
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn one_is_on_duty_and_the_next_takes_over() {
    let Some(home) = Home::postgres().await else {
        return;
    };
    let (first, second) = (home.store().await, home.store().await);
    let (by_first, by_second) = (Worked::default(), Worked::default());
    let queue = on_duty(&first, &by_first).await;
    let standing_by = {
        let (second, by_second) = (second.clone(), Arc::clone(&by_second));
        tokio::spawn(async move { on_duty(&second, &by_second).await })
    };
    for n in 0..50 {
        let key = format!("k{n}");
        queue
            .commit(Command::new("ok", key, json!({})))
            .await
            .unwrap();
    }
    queue
        .commit(Command::new("hang", "long", json!({})))
        .await
        .unwrap();
    until("all are worked", async || {
        by_first.lock().unwrap().len() == 51
    })
    .await;
    assert!(!standing_by.is_finished(), "one on duty at a time");
    assert!(by_second.lock().unwrap().is_empty());
    queue.shutdown(Duration::ZERO).await;
    let began = Instant::now();
    let queue = standing_by.await.unwrap();
    until("the next goes on", async || {
        !by_second.lock().unwrap().is_empty()
    })
    .await;
    assert!(
        began.elapsed() < Duration::from_secs(5),
        "{:?}",
        began.elapsed()
    );
    // What was done is not done again, what was not is.
    assert_eq!(
        by_second
            .lock()
            .unwrap()
            .iter()
            .map(|(key, _)| key.as_str())
            .collect::<Vec<_>>(),
        ["long"]
    );
    queue.shutdown(Duration::ZERO).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn who_is_on_duty_stays_so_when_the_connection_breaks() {
    let Some(home) = Home::postgres().await else {
        return;
    };
    let (first, second) = (home.store().await, home.store().await);
    let (by_first, by_second) = (Worked::default(), Worked::default());
    let queue = on_duty(&first, &by_first).await;
    let standing_by = {
        let (second, by_second) = (second.clone(), Arc::clone(&by_second));
        tokio::spawn(async move { on_duty(&second, &by_second).await })
    };
    let mut other = connect(home.url()).await;
    until("the second stands by", async || {
        let mut mine = connect(home.url()).await;
        let tries: i64 = sqlx::query_scalar(
            "SELECT count(*) FROM pg_stat_activity WHERE query LIKE '%pg_try_advisory_lock%' \
             AND datname = current_database() AND pid <> pg_backend_pid()",
        )
        .fetch_one(&mut mine)
        .await
        .unwrap();
        tries >= 1
    })
    .await;
    // As a restart of the server does to all of them.
    cut(&mut other).await;
    let lost = tokio::time::timeout(Duration::from_millis(1500), queue.lost()).await;
    assert!(lost.is_err(), "it has its place again");
    assert!(!standing_by.is_finished());
    until("work goes on", async || {
        queue
            .commit(Command::new("ok", "after", json!({})))
            .await
            .is_ok()
    })
    .await;
    until("it is worked", async || {
        !by_first.lock().unwrap().is_empty()
    })
    .await;
    queue.shutdown(Duration::from_secs(5)).await;
    standing_by.await.unwrap().shutdown(Duration::ZERO).await;
    assert!(by_second.lock().unwrap().is_empty());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn who_loses_the_place_stops_at_once() {
    let Some(home) = Home::postgres().await else {
        return;
    };
    let store = home.store().await;
    let worked = Worked::default();
    let queue = on_duty(&store, &worked).await;
    queue
        .commit(Command::new("hang", "long", json!({})))
        .await
        .unwrap();
    until("it is worked", async || !worked.lock().unwrap().is_empty()).await;
    // Another takes the place in the moment in which the connection breaks.
    let (mut thief, mut other) = (connect(home.url()).await, connect(home.url()).await);
    let waits = async {
        run(&mut thief, "SELECT pg_advisory_lock(1347568963, 0)").await;
    };
    let cuts = async {
        tokio::time::sleep(Duration::from_millis(100)).await;
        run(
            &mut other,
            "SELECT pg_terminate_backend(pid) FROM pg_locks \
             WHERE locktype = 'advisory' AND granted AND classid = 1347568963",
        )
        .await;
    };
    tokio::join!(waits, cuts);
    tokio::time::timeout(Duration::from_secs(5), queue.lost())
        .await
        .expect("it is told");
    queue.shutdown(Duration::ZERO).await;
}

// ---- the command line --------------------------------------------------------------------------

/// Runs the program on a database; gives whether it succeeded, what it printed, and its notes.
fn precedent(url: &str, arguments: &[&str]) -> (bool, String, String) {
    let output = std::process::Command::new(env!("CARGO_BIN_EXE_precedent"))
        .args(arguments)
        .env_clear()
        .env("DATABASE_URL", url)
        .env("RUST_LOG", "trace")
        .output()
        .unwrap();
    (
        output.status.success(),
        String::from_utf8(output.stdout).unwrap(),
        String::from_utf8(output.stderr).unwrap(),
    )
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_command_line_works_on_it_and_never_prints_the_password() {
    let Some(home) = Home::postgres().await else {
        return;
    };
    let file = home.folder().join("past.jsonl");
    let line = json!({
        "id": 7, "title": "payments-api 503s, pool empty", "service": "payments-api",
        "resolved_at": "2026-09-23T02:51:00Z",
        "error_signatures": ["TillPool - no connection available, timed out after 30000ms"],
        "root_cause": "The refund job keeps connections open",
        "fix": "Stop the refund job", "outcome": "held",
    });
    std::fs::write(&file, format!("{line}\n")).unwrap();
    let report = home.folder().join("report.txt");
    std::fs::write(
        &report,
        "payments-api: TillPool - no connection available, timed out after 30000ms",
    )
    .unwrap();
    let (file, report) = (file.to_str().unwrap(), report.to_str().unwrap());
    let mut all = String::new();
    let mut runs = |url: &str, arguments: &[&str]| {
        let (fine, out, log) = precedent(url, arguments);
        all.push_str(&out);
        all.push_str(&log);
        (fine, out, log)
    };
    let (fine, _, log) = runs(home.url(), &["memory", "import", file]);
    assert!(fine && log.contains("1 added"), "{log}");
    let (fine, out, _) = runs(home.url(), &["memory", "export", "-"]);
    assert!(fine && out.contains("INC-0007"), "{out}");
    let (fine, out, _) = runs(home.url(), &["analyze", report]);
    assert!(fine && out.contains("INC-0007"), "{out}");
    let (_, out, _) = runs(home.url(), &["check"]);
    assert!(out.contains("ok   database: opened and writable"), "{out}");
    // Where it cannot be opened, it says so, and an analysis goes on without memory.
    let gone = with_database(home.url(), "no_such_database");
    let (fine, out, log) = runs(&gone, &["analyze", report]);
    assert!(fine && log.contains("Memory is unavailable"), "{log}");
    assert!(!out.contains("INC-0007"), "{out}");
    let (fine, out, _) = runs(&gone, &["check"]);
    assert!(!fine && out.contains("FAIL database: "), "{out}");
    let (fine, _, log) = runs(
        "postgres://u:not-a-secret@host:port/db",
        &["memory", "export", "-"],
    );
    assert!(!fine && log.contains("DATABASE_URL can't be read"), "{log}");
    assert!(!all.contains("not-a-secret"), "{all}");
}

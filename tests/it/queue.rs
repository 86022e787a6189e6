//! The durable queue in each of its homes, through real kills.

#![allow(clippy::unwrap_used, clippy::print_stdout)]

use crate::homes::{Home, in_every_home};
use futures::FutureExt;
use jiff::Timestamp;
use precedent::database::{Pool, Sql, query_as};
use precedent::jobs::queue::{
    Command, Committed, Counts, DeadLetter, Handler, Job, JobError, Queue, QueueOptions, Undertaker,
};
use precedent::store::{Store, StoreError};
use riverqueue::{Client, InsertOpts};
use serde_json::json;
use std::collections::{BTreeMap, BTreeSet};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

fn url(folder: &Path) -> String {
    format!("sqlite://{}", folder.join("precedent.db").display())
}

async fn open(folder: &Path) -> Store {
    Store::open(&url(folder)).await.unwrap()
}

fn quick() -> QueueOptions {
    QueueOptions {
        pause: Duration::from_millis(10),
        attempts: 3,
        ..QueueOptions::default()
    }
}

fn command(kind: &str, key: &str) -> Command {
    Command::new(kind, key, json!({ "text": "超时 \0 \"quoted\"", "n": 1 }))
}

/// What was worked and what was given up, as it happened.
#[derive(Clone, Default)]
struct Log {
    worked: Arc<Mutex<Vec<Job>>>,
    dead: Arc<Mutex<Vec<DeadLetter>>>,
}

impl Log {
    fn keys(&self) -> Vec<String> {
        let worked = self.worked.lock().unwrap();
        worked.iter().map(|job| job.command.key.clone()).collect()
    }

    fn dead(&self) -> Vec<DeadLetter> {
        self.dead.lock().unwrap().clone()
    }

    /// A handler that logs each attempt and does what the command's kind says.
    fn handler(&self) -> Handler {
        let log = self.clone();
        Arc::new(move |job| {
            log.worked.lock().unwrap().push(job.clone());
            async move {
                match job.command.kind.as_str() {
                    "fail" => Err(JobError::again("not today")),
                    "later" if job.attempt == 1 => Err(JobError::Again {
                        reason: "in a moment".to_owned(),
                        after: Some(Duration::from_millis(1)),
                    }),
                    "never" => Err(JobError::never("it makes no sense")),
                    "panic" => panic!("a panic that a test asked for"),
                    "hang" => std::future::pending().await,
                    _ => Ok(()),
                }
            }
            .boxed()
        })
    }

    fn undertaker(&self) -> Undertaker {
        let log = self.clone();
        Arc::new(move |letter| {
            log.dead.lock().unwrap().push(letter);
            async { Ok(()) }.boxed()
        })
    }

    async fn start(&self, store: &Store, options: QueueOptions) -> Queue {
        Queue::start(store, options, self.handler(), self.undertaker())
            .await
            .unwrap()
    }
}

/// Waits until something is so, for at most 20 seconds.
async fn until(what: &str, mut so: impl AsyncFnMut() -> bool) {
    let deadline = Instant::now() + Duration::from_secs(20);
    while !so().await {
        assert!(Instant::now() < deadline, "waited in vain until {what}");
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}

async fn until_idle(queue: &Queue) -> Counts {
    until("nothing is left to do", async || {
        queue.counts().await.unwrap().is_idle()
    })
    .await;
    queue.counts().await.unwrap()
}

in_every_home!(
    a_key_is_worked_once,
    a_job_that_fails_is_tried_then_somebody_is_told,
    later_is_not_before_and_can_be_taken_back,
    the_next_attempt_does_not_wait_for_the_next_look,
    two_hundred_at_once_are_each_worked_once,
    a_command_stands_as_the_queue_itself_would_write_it,
    one_command_that_cannot_be_stored_does_not_take_others_along,
    a_stop_waits_then_hands_over_without_counting,
    killed_at_any_time_nothing_acknowledged_is_lost,
    a_job_that_was_being_worked_goes_on_after_a_kill,
    a_job_that_kills_the_process_is_given_up,
);

async fn a_key_is_worked_once(home: &Home) {
    let store = home.store().await;
    let log = Log::default();
    let queue = log.start(&store, quick()).await;
    assert_eq!(
        queue.commit(command("ok", "a")).await.unwrap(),
        Committed::New
    );
    assert_eq!(
        queue.commit(command("ok", "a")).await.unwrap(),
        Committed::Already
    );
    // Twice in one group, too.
    let (one, other) = tokio::join!(
        queue.commit(command("ok", "b")),
        queue.commit(command("ok", "b"))
    );
    let committed = [one.unwrap(), other.unwrap()];
    assert!(
        committed.contains(&Committed::New) && committed.contains(&Committed::Already),
        "{committed:?}"
    );
    until_idle(&queue).await;
    let mut keys = log.keys();
    keys.sort();
    assert_eq!(keys, ["a", "b"]);
    // After it is done, and after a restart, it still is the same work.
    assert_eq!(
        queue.commit(command("ok", "a")).await.unwrap(),
        Committed::Already
    );
    queue.shutdown(Duration::from_secs(5)).await;
    let queue = log.start(&store, quick()).await;
    assert_eq!(
        queue.commit(command("ok", "b")).await.unwrap(),
        Committed::Already
    );
    until_idle(&queue).await;
    assert_eq!(log.keys().len(), 2);
    let job = log.worked.lock().unwrap()[0].clone();
    assert_eq!(
        (job.attempt, job.last, job.command.payload["n"].as_i64()),
        (1, false, Some(1))
    );
    queue.shutdown(Duration::from_secs(5)).await;
    // A stopped queue takes nothing.
    assert!(matches!(
        queue.commit(command("ok", "c")).await,
        Err(StoreError::Unavailable(_))
    ));
}

async fn a_job_that_fails_is_tried_then_somebody_is_told(home: &Home) {
    let store = home.store().await;
    let log = Log::default();
    let options = QueueOptions {
        time_limits: [("hang".to_owned(), Duration::from_millis(50))].into(),
        ..quick()
    };
    let queue = log.start(&store, options).await;
    for kind in ["fail", "never", "panic", "hang", "later", "ok"] {
        queue.commit(command(kind, kind)).await.unwrap();
    }
    let counts = until_idle(&queue).await;
    assert_eq!(counts.dead, 4);
    let mut attempts: BTreeMap<String, Vec<(u32, bool)>> = BTreeMap::new();
    for job in log.worked.lock().unwrap().iter() {
        attempts
            .entry(job.command.key.clone())
            .or_default()
            .push((job.attempt, job.last));
    }
    let thrice = vec![(1, false), (2, false), (3, true)];
    for (key, expected) in [
        ("fail", thrice.clone()),
        ("panic", thrice.clone()),
        ("hang", thrice),
        ("never", vec![(1, false)]),
        ("later", vec![(1, false), (2, false)]),
        ("ok", vec![(1, false)]),
    ] {
        assert_eq!(attempts.get(key), Some(&expected), "{key}");
    }
    let mut told: Vec<(String, u32, String)> = log
        .dead()
        .into_iter()
        .map(|letter| (letter.command.key, letter.attempts, letter.reason))
        .collect();
    told.sort();
    let letter = |key: &str, attempts, reason: &str| (key.to_owned(), attempts, reason.to_owned());
    assert_eq!(
        told,
        [
            letter("fail", 3, "not today"),
            letter("hang", 3, "it took longer than 0 s"),
            letter("never", 1, "it makes no sense"),
            letter("panic", 3, "it panicked"),
        ]
    );
    queue.shutdown(Duration::from_secs(5)).await;
}

async fn later_is_not_before_and_can_be_taken_back(home: &Home) {
    let store = home.store().await;
    let log = Log::default();
    let queue = log.start(&store, quick()).await;
    let due = Timestamp::now() + Duration::from_millis(1500);
    queue.commit_at(command("ok", "soon"), due).await.unwrap();
    queue
        .commit_at(command("ok", "taken back"), due)
        .await
        .unwrap();
    assert!(queue.cancel("taken back").await.unwrap());
    assert!(!queue.cancel("taken back").await.unwrap());
    assert!(!queue.cancel("unheard of").await.unwrap());
    until("it was worked", async || !log.keys().is_empty()).await;
    let late = Timestamp::now().as_millisecond() - due.as_millisecond();
    assert!((0..1500).contains(&late), "{late} ms late");
    until_idle(&queue).await;
    assert_eq!(log.keys(), ["soon"]);
    queue.shutdown(Duration::from_secs(5)).await;
}

async fn the_next_attempt_does_not_wait_for_the_next_look(home: &Home) {
    let store = home.store().await;
    let log = Log::default();
    let options = QueueOptions {
        attempts: 8,
        ..quick()
    };
    let queue = log.start(&store, options).await;
    let began = Instant::now();
    queue.commit(command("fail", "eight times")).await.unwrap();
    until("it was given up", async || log.dead().len() == 1).await;
    // The queue looks by itself once a second.
    assert!(
        began.elapsed() < Duration::from_secs(5),
        "{:?}",
        began.elapsed()
    );
    assert_eq!(log.keys().len(), 8);
    queue.shutdown(Duration::from_secs(5)).await;
}

async fn two_hundred_at_once_are_each_worked_once(home: &Home) {
    let store = home.store().await;
    let log = Log::default();
    let queue = log.start(&store, quick()).await;
    queue.commit(command("ok", "warm")).await.unwrap();
    let mut tasks = tokio::task::JoinSet::new();
    for n in 0..200 {
        let queue = queue.clone();
        tasks.spawn(async move { queue.commit(command("ok", &format!("k{n}"))).await });
    }
    for committed in tasks.join_all().await {
        assert_eq!(committed.unwrap(), Committed::New);
    }
    until_idle(&queue).await;
    assert_eq!(log.keys().len(), 201);
    queue.shutdown(Duration::from_secs(5)).await;
}

async fn a_command_stands_as_the_queue_itself_would_write_it(home: &Home) {
    const ROW: Sql = Sql {
        sqlite: "SELECT concat_ws('/', kind, state, queue, priority, max_attempts, \
                 CASE state WHEN 'scheduled' THEN scheduled_at END, json(tags), unique_states, \
                 attempt, length(unique_key), typeof(args), typeof(metadata), typeof(created_at)), \
                 json(args) FROM river_job WHERE json_extract(args, '$.key') = $1",
        postgres: "SELECT concat_ws('/', kind, state, queue, priority, max_attempts, \
                   CASE state WHEN 'scheduled' THEN scheduled_at END, tags, unique_states, \
                   attempt, length(unique_key)), args::text \
                   FROM river_job WHERE args->>'key' = $1",
    };
    let store = home.store().await;
    let queue = Log::default().start(&store, quick()).await;
    let client = match store.read_pool() {
        Pool::Sqlite(_) => Client::builder(store.write_pool().sqlite().unwrap().clone()),
        Pool::Postgres(pool) => Client::builder(pool.clone()),
    };
    let client = client.default_max_attempts(3).build().unwrap();
    let payload = json!({ "text": "超时 \"quoted\" <&> \u{1}\\", "n": 0.1, "none": null });
    let at = Timestamp::from_millisecond(Timestamp::now().as_millisecond() + 3_600_000).unwrap();
    for (due, when) in [(None, "now"), (Some(at), "later")] {
        let [ours, theirs] = ["ours", "theirs"].map(|who| format!("{who}, {when} \"<&>"));
        let command = |key: &str| Command::new("ok", key, payload.clone());
        let committed = match due {
            None => queue.commit(command(&ours)).await,
            Some(at) => queue.commit_at(command(&ours), at).await,
        };
        assert_eq!(committed.unwrap(), Committed::New);
        let opts = due.map_or_else(InsertOpts::default, |at| {
            InsertOpts::default().with_scheduled_at(at)
        });
        let again = client.insert(command(&ours)).opts(opts.clone()).await;
        assert!(again.unwrap().unique_skipped_as_duplicate, "{when}");
        client.insert(command(&theirs)).opts(opts).await.unwrap();
        until("what is due was worked", async || {
            let counts = queue.counts().await.unwrap();
            counts.due == 0 && counts.running == 0
        })
        .await;
        let [ours, theirs] = [ours, theirs].map(async |key| {
            let row = query_as(ROW).bind(&key).fetch_one(store.read_pool());
            let (row, args): (String, String) = row.await.unwrap();
            // Spelled in one way or another, it reads the same.
            let args: Command = serde_json::from_str(&args).unwrap();
            assert_eq!(args, command(&key));
            row
        });
        assert_eq!(ours.await, theirs.await);
    }
    queue.shutdown(Duration::from_secs(5)).await;
}

async fn one_command_that_cannot_be_stored_does_not_take_others_along(home: &Home) {
    let store = home.store().await;
    let log = Log::default();
    let queue = log.start(&store, quick()).await;
    let mut deep = json!(1);
    for _ in 0..1500 {
        deep = json!([deep]);
    }
    let too_deep = Command::new("ok", "deep", deep);
    let (bad, good) = tokio::join!(queue.commit(too_deep), queue.commit(command("ok", "good")));
    assert!(bad.is_err(), "{bad:?}");
    assert_eq!(good.unwrap(), Committed::New);
    until_idle(&queue).await;
    assert_eq!(log.keys(), ["good"]);
    queue.shutdown(Duration::from_secs(5)).await;
}

#[tokio::test]
async fn a_full_disk_is_waited_for_and_then_said() {
    let home = Home::sqlite();
    let store = home.store().await;
    let log = Log::default();
    let options = QueueOptions {
        commit_patience: Duration::from_secs(2),
        ..quick()
    };
    let queue = log.start(&store, options).await;
    let limit = async |pages: &'static str| {
        sqlx::query(pages)
            .fetch_one(store.write_pool().sqlite().unwrap())
            .await
            .unwrap();
    };
    limit("PRAGMA max_page_count = 1").await;
    let large = |key: &str| Command::new("ok", key, json!("x".repeat(1_000_000)));
    let began = Instant::now();
    let error = queue.commit(large("lost")).await.unwrap_err();
    assert!(matches!(error, StoreError::Full(_)), "{error:?}");
    assert!(began.elapsed() >= Duration::from_secs(1));
    // Room in time, and it is committed by itself.
    let waits = queue.commit(large("kept"));
    tokio::pin!(waits);
    assert!(
        tokio::time::timeout(Duration::from_millis(300), &mut waits)
            .await
            .is_err()
    );
    limit("PRAGMA max_page_count = 1000000").await;
    assert_eq!(waits.await.unwrap(), Committed::New);
    until_idle(&queue).await;
    assert_eq!(log.keys(), ["kept"]);
    queue.shutdown(Duration::from_secs(5)).await;
}

async fn a_stop_waits_then_hands_over_without_counting(home: &Home) {
    let store = home.store().await;
    let log = Log::default();
    let queue = log.start(&store, quick()).await;
    queue.commit(command("hang", "long")).await.unwrap();
    until("it is worked", async || !log.keys().is_empty()).await;
    // A second process is told to wait, or stands by.
    let impatient = QueueOptions {
        lock_patience: Duration::from_millis(200),
        ..quick()
    };
    let other = home.store().await;
    let second = Queue::start(&other, impatient, log.handler(), log.undertaker());
    let second = tokio::time::timeout(Duration::from_millis(700), second).await;
    if home.is_postgres() {
        assert!(second.is_err());
    } else {
        assert!(matches!(second, Ok(Err(StoreError::InUse))));
    }
    other.close().await;
    queue.shutdown(Duration::from_millis(100)).await;
    let again = Log::default();
    let queue = again.start(&store, quick()).await;
    until("it goes on", async || !again.keys().is_empty()).await;
    assert_eq!(again.worked.lock().unwrap()[0].attempt, 1);
    queue.shutdown(Duration::ZERO).await;
}

// ---- real kills --------------------------------------------------------------------------------

const CHILD: &str = "PRECEDENT_QUEUE_CHILD";

/// Not a test: the process that the tests below start and kill. It commits commands, says which
/// are committed, and works them; each effect is a line in a file.
#[test]
#[ignore = "started by the tests that kill it"]
fn child() {
    let Ok(folder) = std::env::var(CHILD) else {
        return;
    };
    let folder = PathBuf::from(folder);
    let runtime = tokio::runtime::Runtime::new().unwrap();
    runtime.block_on(async {
        let url = std::env::var("PRECEDENT_QUEUE_URL").unwrap();
        let store = Store::open(&url).await.unwrap();
        let queue = Queue::start(
            &store,
            quick(),
            effects(&folder),
            Arc::new(|_| async { Ok(()) }.boxed()),
        )
        .await
        .unwrap();
        let round = std::env::var("PRECEDENT_QUEUE_ROUND").unwrap();
        for n in 0.. {
            let key = format!("{round}-{n}");
            if queue.commit(command("effect", &key)).await.is_ok() {
                // One write, so that a kill never leaves half a line.
                std::io::stdout()
                    .write_all(format!("\nacked {key}\n").as_bytes())
                    .unwrap();
            }
        }
    });
}

/// Writes a line per effect; a poison command ends the process, a stuck one never ends.
fn effects(folder: &Path) -> Handler {
    let file = Arc::new(Mutex::new(
        std::fs::File::options()
            .create(true)
            .append(true)
            .open(folder.join("effects"))
            .unwrap(),
    ));
    Arc::new(move |job: Job| {
        let file = Arc::clone(&file);
        async move {
            let line = format!("{}\n", job.command.key);
            file.lock().unwrap().write_all(line.as_bytes()).unwrap();
            match job.command.kind.as_str() {
                "poison" => std::process::exit(86),
                "stuck" => std::future::pending().await,
                _ => Ok(()),
            }
        }
        .boxed()
    })
}

fn start_child(home: &Home, round: &str) -> std::process::Child {
    let folder = home.folder();
    std::process::Command::new(std::env::current_exe().unwrap())
        .args(["queue::child", "--exact", "--ignored", "--nocapture"])
        .env(CHILD, folder)
        .env("PRECEDENT_QUEUE_URL", home.url())
        .env("PRECEDENT_QUEUE_ROUND", round)
        .stdout(std::fs::File::create(folder.join(format!("stdout-{round}"))).unwrap())
        .stderr(Stdio::null())
        .spawn()
        .unwrap()
}

fn acked(folder: &Path, round: &str) -> Vec<String> {
    let text = std::fs::read_to_string(folder.join(format!("stdout-{round}"))).unwrap_or_default();
    text.lines()
        .filter_map(|line| line.strip_prefix("acked "))
        .map(str::to_owned)
        .collect()
}

fn effects_of(folder: &Path) -> Vec<String> {
    let text = std::fs::read_to_string(folder.join("effects")).unwrap_or_default();
    text.lines().map(str::to_owned).collect()
}

async fn killed_at_any_time_nothing_acknowledged_is_lost(home: &Home) {
    let folder = home.folder();
    let mut all = BTreeSet::new();
    for (round, wanted) in [1_usize, 7, 30, 80, 150].into_iter().enumerate() {
        let round = round.to_string();
        let mut child = start_child(home, &round);
        until("the child acknowledged enough", async || {
            acked(folder, &round).len() >= wanted
        })
        .await;
        child.kill().unwrap();
        child.wait().unwrap();
        all.extend(acked(folder, &round));
    }
    let store = home.store().await;
    let killed = Instant::now();
    let log = Log::default();
    let queue = Queue::start(&store, quick(), effects(folder), log.undertaker())
        .await
        .unwrap();
    until_idle(&queue).await;
    println!(
        "all went on and ended {:?} after the start",
        killed.elapsed()
    );
    assert!(killed.elapsed() < Duration::from_secs(5));
    let done = effects_of(folder);
    let distinct: BTreeSet<String> = done.iter().cloned().collect();
    let lost: Vec<&String> = all.difference(&distinct).collect();
    assert_eq!(lost, Vec::<&String>::new());
    println!(
        "{} acknowledged, {} effects, {} of them twice",
        all.len(),
        distinct.len(),
        done.len() - distinct.len()
    );
    store.check_integrity().await.unwrap();
    queue.shutdown(Duration::from_secs(5)).await;
}

async fn a_job_that_was_being_worked_goes_on_after_a_kill(home: &Home) {
    let folder = home.folder();
    {
        let store = home.store().await;
        let log = Log::default();
        let queue = log.start(&store, quick()).await;
        // Committed for the child to find; this process never works it.
        queue
            .commit_at(
                command("stuck", "stuck"),
                Timestamp::now() + Duration::from_millis(1500),
            )
            .await
            .unwrap();
        queue.shutdown(Duration::from_secs(5)).await;
        store.close().await;
        assert_eq!(log.keys(), Vec::<String>::new());
    }
    let mut child = start_child(home, "0");
    until("the child works it", async || {
        effects_of(folder).iter().any(|key| key == "stuck")
    })
    .await;
    child.kill().unwrap();
    child.wait().unwrap();
    let killed = Instant::now();
    let store = home.store().await;
    let log = Log::default();
    let queue = log.start(&store, quick()).await;
    let second = || {
        let worked = log.worked.lock().unwrap();
        worked
            .iter()
            .find(|job| job.command.key == "stuck")
            .map(|job| job.attempt)
    };
    until("it goes on", async || second().is_some()).await;
    println!("kill to going on: {:?}", killed.elapsed());
    assert!(killed.elapsed() < Duration::from_secs(5));
    assert_eq!(second(), Some(2), "the attempt before is counted");
    queue.shutdown(Duration::from_secs(5)).await;
}

async fn a_job_that_kills_the_process_is_given_up(home: &Home) {
    {
        let store = home.store().await;
        let queue = Log::default().start(&store, quick()).await;
        queue
            .commit_at(
                command("poison", "poison"),
                Timestamp::now() + Duration::from_millis(1500),
            )
            .await
            .unwrap();
        queue.shutdown(Duration::from_secs(5)).await;
        store.close().await;
    }
    for round in 0..3 {
        let mut child = start_child(home, &round.to_string());
        let code = tokio::task::spawn_blocking(move || child.wait())
            .await
            .unwrap()
            .unwrap();
        assert_eq!(code.code(), Some(86), "round {round}");
    }
    let store = home.store().await;
    let log = Log::default();
    let queue = log.start(&store, quick()).await;
    until_idle(&queue).await;
    assert!(!log.keys().contains(&"poison".to_owned()));
    let told: Vec<(String, u32, String)> = log
        .dead()
        .into_iter()
        .map(|letter| (letter.command.key, letter.attempts, letter.reason))
        .collect();
    assert_eq!(
        told,
        [(
            "poison".to_owned(),
            3,
            "the program ended while it was worked".to_owned()
        )]
    );
    queue.shutdown(Duration::from_secs(5)).await;
}

// ---- figures -----------------------------------------------------------------------------------

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "figures: cargo test --release --test it figures -- --ignored --nocapture --test-threads 1"]
async fn figures_of_the_queue() {
    let folder = tempfile::tempdir().unwrap();
    let began = Instant::now();
    let store = open(folder.path()).await;
    println!("open a new database: {:?}", began.elapsed());
    store.close().await;
    let began = Instant::now();
    let store = open(folder.path()).await;
    println!("open it again: {:?}", began.elapsed());
    let starts = Arc::new(Mutex::new(Vec::new()));
    let seen = Arc::clone(&starts);
    let handler: Handler = Arc::new(move |job| {
        seen.lock().unwrap().push((job.command.key, Instant::now()));
        async { Ok(()) }.boxed()
    });
    let began = Instant::now();
    let queue = Queue::start(&store, quick(), handler, Log::default().undertaker())
        .await
        .unwrap();
    println!("start the queue: {:?}", began.elapsed());
    for round in 0..5 {
        let mut tasks = tokio::task::JoinSet::new();
        for n in 0..200 {
            let queue = queue.clone();
            tasks.spawn(async move {
                let began = Instant::now();
                queue
                    .commit(command("ok", &format!("r{round}-{n}")))
                    .await
                    .unwrap();
                began.elapsed()
            });
        }
        let mut times = tasks.join_all().await;
        times.sort();
        println!(
            "200 at once: p50 {:?}, p99 {:?}, max {:?}",
            times[100], times[198], times[199]
        );
        until_idle(&queue).await;
    }
    let (mut commits, mut pickups) = (Vec::new(), Vec::new());
    for n in 0..200 {
        let key = format!("one-{n}");
        let began = Instant::now();
        queue.commit(command("ok", &key)).await.unwrap();
        let committed = Instant::now();
        commits.push(committed - began);
        until("it is worked", async || {
            starts.lock().unwrap().iter().any(|(k, _)| *k == key)
        })
        .await;
        let started = starts.lock().unwrap();
        let (_, started) = started.iter().find(|(k, _)| *k == key).unwrap();
        pickups.push(started.saturating_duration_since(committed));
    }
    for (what, mut times) in [("commit alone", commits), ("commit to start", pickups)] {
        times.sort();
        println!(
            "{what}: p50 {:?}, p95 {:?}, max {:?}",
            times[100], times[190], times[199]
        );
    }
    until_idle(&queue).await;
    let ticks = || -> u64 {
        let stat = std::fs::read_to_string("/proc/self/stat").unwrap();
        let after = stat.rsplit(')').next().unwrap();
        let fields: Vec<&str> = after.split_whitespace().collect();
        fields[11].parse::<u64>().unwrap() + fields[12].parse::<u64>().unwrap()
    };
    let before = ticks();
    tokio::time::sleep(Duration::from_secs(10)).await;
    println!(
        "idle for 10 s: {} hundredths of a second of CPU",
        ticks() - before
    );
    queue.shutdown(Duration::from_secs(5)).await;
}

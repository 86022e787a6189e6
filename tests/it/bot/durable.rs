//! The built program, killed and started again: nothing that a person saw acknowledged is lost, and
//! nothing is posted twice.
//!
//! The program runs as its own process, so that killing it is killing it. Where it stands when it is
//! killed is named by [`precedent::jobs::pause::STEPS`]; each of them has a test.

use super::{Given, Incident, REFUND_REPORT, refund_job};
use precedent::jobs::pause;
use serde_json::{Value, json};
use sqlx::sqlite::{SqliteConnectOptions, SqlitePool, SqlitePoolOptions};
use standin::llm::{ChatModel, Reply, Task};
use standin::{ChannelId, Interaction, Post};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

/// How long a process is waited for. Generous: it is a debug build beside other tests.
const PATIENCE: Duration = Duration::from_secs(60);
/// From the kill until the work goes on in the next process.
const GOES_ON_WITHIN: Duration = Duration::from_secs(5);

/// The program, in its own process.
struct Process {
    child: Child,
}

impl Process {
    /// Starts the program for a prepared incident.
    fn starts(incident: &Incident, pause: Option<(&str, &Path)>) -> Self {
        let discord = incident.config.discord.as_ref().expect("a bot's token");
        let mut command = Command::new(env!("CARGO_BIN_EXE_precedent"));
        command
            .env_clear()
            .env("DISCORD_TOKEN", incident.discord.token())
            .env(
                "DISCORD_API_URL",
                discord.api_url.as_deref().expect("the stand-in's address"),
            )
            .env("DATABASE_URL", &incident.config.database_url)
            .env("RUST_LOG", "warn")
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::inherit());
        if let Some(model) = &incident.config.model {
            command
                .env("LLM_BASE_URL", &model.base_url)
                .env("LLM_TIMEOUT_SECONDS", model.timeout.as_secs().to_string());
        }
        if let Some((step, path)) = pause {
            command.env("PRECEDENT_PAUSE", format!("{step}={}", path.display()));
        }
        Self {
            child: command.spawn().expect("the program starts"),
        }
    }

    /// As `kill -9`.
    fn is_killed(mut self) {
        self.child.kill().expect("a process of our own");
        self.child.wait().expect("a process of our own");
    }

    /// Asks it to end, as a service manager does, and waits until it has.
    async fn is_asked_to_end(mut self) -> ExitStatus {
        self.sends_terminate();
        let deadline = Instant::now() + PATIENCE;
        loop {
            if let Some(status) = self.child.try_wait().expect("a process of our own") {
                return status;
            }
            assert!(Instant::now() < deadline, "the program does not end");
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    }

    fn sends_terminate(&self) {
        let sent = Command::new("kill")
            .args(["-TERM", &self.child.id().to_string()])
            .status()
            .expect("kill is there");
        assert!(sent.success());
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        // A test that failed leaves nothing running.
        let _gone = self.child.kill();
        let _reaped = self.child.wait();
    }
}

/// The jobs as they stand in the database's file.
struct Jobs(SqlitePool);

impl Jobs {
    async fn of(incident: &Incident) -> Self {
        let options: SqliteConnectOptions = incident
            .config
            .database_url
            .parse()
            .expect("the address of the database");
        let pool = SqlitePoolOptions::new()
            .max_connections(1)
            .connect_with(options.create_if_missing(false))
            .await
            .expect("the database is there");
        Self(pool)
    }

    /// `(attempts, finished)` of the analysis.
    async fn analysis(&self) -> (i64, bool) {
        let row: Option<(i64, String)> = sqlx::query_as(
            "SELECT attempt, state FROM river_job \
             WHERE json_extract(args, '$.kind') = 'analyze'",
        )
        .fetch_optional(&self.0)
        .await
        .expect("jobs can be read");
        row.map_or((0, false), |(attempt, state)| {
            (attempt, state == "completed")
        })
    }

    /// Waits until somebody works on the analysis again.
    async fn goes_on_after(&self, attempts: i64) {
        wait_until("the analysis to go on", async || {
            let (now, finished) = self.analysis().await;
            now > attempts || finished
        })
        .await;
    }

    /// Waits until the analysis is done and no job is due.
    async fn is_done(&self) {
        wait_until("the analysis to be done", async || self.analysis().await.1).await;
        wait_until("no job to be due", async || {
            let open: i64 = sqlx::query_scalar(
                "SELECT count(*) FROM river_job WHERE state IN ('available', 'running', 'retryable', 'discarded')",
            )
            .fetch_one(&self.0)
            .await
            .expect("jobs can be read");
            open == 0
        })
        .await;
    }
}

async fn wait_until(what: &str, is_so: impl AsyncFn() -> bool) {
    let deadline = Instant::now() + PATIENCE;
    while !is_so().await {
        assert!(Instant::now() < deadline, "waited for {what}");
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
}

/// Waits until the process stands at its pause.
async fn reached(path: &Path) {
    wait_until("the program to come to the step", async || path.exists()).await;
}

fn step_file(incident: &Incident) -> PathBuf {
    incident.folder.path().join("paused")
}

/// What a model says of the report.
pub fn triage_reply() -> Reply {
    Reply::json(&json!({
        "title": "payments-api 503s, pool empty",
        "service": "payments-api",
        "severity": "SEV2",
        "symptoms": ["intermittent 503s"],
        "error_signatures": ["TillPool - no connection available, timed out after 30000ms"],
        "recall_query": "payments-api 503 TillPool no connection available",
    }))
}

/// What a model makes of the report and its precedents.
pub fn analysis_answer() -> Value {
    json!({
        "summary": "Charges fail because the pool is empty.",
        "severity_assessment": {"severity": "SEV2", "reason": "some customers cannot pay"},
        "memory_verdict": {"status": "match", "refs": ["INC-0041"]},
        "hypotheses": [{
            "title": "The refund job keeps connections open",
            "source": "memory",
            "memory_refs": ["INC-0041"],
            "evidence": ["TillPool - no connection available, timed out after 30000ms"],
            "contradicted_by": [],
            "confidence": 80,
            "verify": "Count the connections that the refund job holds",
            "fix": "Stop the refund job and restart payments-api",
            "fix_ref": "INC-0041",
        }],
        "next_steps": [{
            "step": "Count the connections of the pool",
            "command": "",
            "rationale": "tells whether the pool is empty",
            "expected": "the refund job holds most of them",
            "risk": "read_only",
            "rollback": "",
            "memory_refs": [],
        }],
        "ruled_out_by_history": [],
        "stakeholder_update": {
            "impact": "Some customers cannot pay",
            "since": "02:41 UTC",
            "known": "The pool is empty",
            "not_confirmed": "Which job empties it",
            "doing": "Counting connections",
            "needed": "",
        },
        "safety_notes": [],
    })
}

fn given(model: Option<ChatModel>) -> Given<'static> {
    Given {
        model,
        ..Given::default()
    }
}

async fn prepared(model: Option<ChatModel>) -> Incident {
    let memory = [
        refund_job(12, "2026-05-14", "held"),
        refund_job(41, "2026-09-23", "held"),
    ];
    let incident = Incident::prepared(Given {
        memory: &memory,
        ..given(model)
    })
    .await;
    incident.discord.set_patience(PATIENCE);
    incident
}

async fn model() -> ChatModel {
    let model = ChatModel::start().await;
    model.on_fn(Task::Triage, |_| triage_reply());
    model.on_fn(Task::Analysis, |_| Reply::json(&analysis_answer()));
    model
}

/// The incident's posts: one headline, one thread, and in it one of each.
async fn posted_once(incident: &Incident, report: &Interaction) -> Vec<Post> {
    let threads = incident.discord.threads(incident.channel);
    assert_eq!(threads.len(), 1, "one thread");
    let in_channel = own(incident, incident.channel);
    assert_eq!(in_channel.len(), 1, "one headline: {in_channel:#?}");
    report.forget();
    in_thread_once(incident, threads[0])
}

fn own(incident: &Incident, channel: ChannelId) -> Vec<Post> {
    let mut posts = incident.discord.posts(channel);
    posts.retain(|post| post.by_bot && !post.is_loading() && !post.to_text().is_empty());
    posts
}

fn in_thread_once(incident: &Incident, thread: ChannelId) -> Vec<Post> {
    let posts = own(incident, thread);
    let with = |prefix: &str| {
        posts
            .iter()
            .filter(|post| post.json().to_string().contains(prefix))
            .count()
    };
    let story: Vec<String> = posts.iter().map(Post::to_text).collect();
    println!("{}", story.join("\n----\n"));
    assert_eq!(with("Trying this fix"), 1, "one message of cards");
    assert!(posts.len() <= 3, "cards, checklist and update: {story:#?}");
    posts
}

async fn killed_at(step: &str, model: Option<ChatModel>) -> Incident {
    let incident = prepared(model).await;
    let path = step_file(&incident);
    let process = Process::starts(&incident, Some((step, &path)));
    incident.discord.gateway().connected().await;
    incident.discord.commands_registered(incident.guild).await;
    let report = incident.analyze(REFUND_REPORT).await;
    reached(&path).await;
    let jobs = Jobs::of(&incident).await;
    process.is_killed();
    let killed = Instant::now();
    let (attempts, _) = jobs.analysis().await;
    let process = Process::starts(&incident, None);
    jobs.goes_on_after(attempts).await;
    let took = killed.elapsed();
    println!("killed at {step}: went on after {} ms", took.as_millis());
    assert!(took < GOES_ON_WITHIN, "{step}: {took:?}");
    jobs.is_done().await;
    posted_once(&incident, &report).await;
    assert!(process.is_asked_to_end().await.success());
    incident
}

macro_rules! killed {
    ($($name:ident: $step:literal;)*) => {
        /// The steps that have a test.
        const KILLED_AT: &[&str] = &[$($step),*];
        $(
            #[tokio::test(flavor = "multi_thread")]
            async fn $name() {
                killed_at($step, None).await.ends().await;
            }
        )*
    };
}

killed! {
    killed_once_the_command_is_committed_and_before_it_is_acknowledged: "committed";
    killed_once_the_command_is_acknowledged: "acknowledged";
    killed_once_the_incident_has_its_number: "opened";
    killed_once_the_headline_stands: "headline";
    killed_once_the_thread_is_started: "thread";
    killed_once_the_analysis_has_begun: "begun";
    killed_once_the_answer_is_stored: "answered";
    killed_once_the_cards_are_posted: "cards";
    killed_once_the_checklist_is_posted: "checklist";
    killed_once_the_update_is_posted: "update";
    killed_once_all_is_posted_and_before_the_job_is_done: "finished";
}

#[tokio::test(flavor = "multi_thread")]
async fn killed_while_progress_is_shown_and_the_model_is_asked() {
    let incident = killed_at("progress", Some(model().await)).await;
    incident.ends().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn killed_before_the_model_is_asked() {
    let incident = killed_at("begun", Some(model().await)).await;
    incident.ends().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn killed_with_the_model_s_answer_stored_the_model_is_not_asked_again() {
    let incident = killed_at("answered", Some(model().await)).await;
    let asked = incident.model.as_ref().expect("a model").requests_for(Task::Analysis);
    assert_eq!(asked.len(), 1);
    incident.ends().await;
}

#[test]
fn every_named_step_has_its_kill() {
    let mut covered = KILLED_AT.to_vec();
    covered.push("progress");
    for step in pause::STEPS {
        assert!(covered.contains(step), "{step}");
    }
}

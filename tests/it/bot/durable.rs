//! The built program, killed and started again: nothing that a person saw acknowledged is lost, and
//! nothing is posted twice.
//!
//! The program runs as its own process, so that killing it is killing it. Where it stands when it is
//! killed is named by [`precedent::jobs::pause::STEPS`]; each of them has a test.

use super::faults::{cards, own, reply_to};
use super::{Given, Incident, REFUND_REPORT, analysis_answer, refund_job, triage_reply};
use crate::homes;
use precedent::app::Tuning;
use precedent::database::{Connection, Pool, Sql, query, query_as, query_scalar};
use precedent::jobs::pause;
use serde_json::json;
use standin::llm::{ChatModel, Reply, Task};
use standin::{ChannelId, Interaction, Post};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

/// How long a process is waited for. Generous: it is a debug build beside other tests.
pub(super) const PATIENCE: Duration = Duration::from_secs(60);
/// From the kill until the work goes on in the next process.
const GOES_ON_WITHIN: Duration = Duration::from_secs(5);

/// The program, in its own process.
pub(super) struct Process {
    child: Child,
}

impl Process {
    /// Starts the program for a prepared incident.
    pub(super) fn starts(incident: &Incident, pause: Option<(&str, &Path)>) -> Self {
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
    pub(super) fn kill(mut self) {
        self.child.kill().expect("a process of our own");
        self.child.wait().expect("a process of our own");
    }

    /// Asks it to end, as a service manager does, and waits until it has.
    pub(super) async fn end(mut self) -> ExitStatus {
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

/// The jobs as they stand in the database.
pub(super) struct Jobs(Pool);

impl Jobs {
    pub(super) async fn of(incident: &Incident) -> Self {
        Self(homes::beside(&incident.config.database_url).await)
    }

    /// `(attempts, finished)` of the analysis.
    pub(super) async fn analysis(&self) -> (i64, bool) {
        let row: Option<(i64, String)> = query_as(Sql {
            sqlite: "SELECT attempt, state FROM river_job \
                     WHERE json_extract(args, '$.kind') = 'analyze'",
            postgres: "SELECT attempt::bigint, state::text FROM river_job \
                       WHERE args->>'kind' = 'analyze'",
        })
        .fetch_optional(&self.0)
        .await
        .expect("jobs can be read");
        row.map_or((0, false), |(attempt, state)| {
            (attempt, state == "completed")
        })
    }

    /// Waits until somebody works on the analysis again.
    pub(super) async fn goes_on_after(&self, attempts: i64) {
        wait_until("the analysis to go on", async || {
            let (now, finished) = self.analysis().await;
            now > attempts || finished
        })
        .await;
    }

    /// Waits until the analysis is done and no job is due.
    pub(super) async fn is_done(&self) {
        wait_until("the analysis to be done", async || self.analysis().await.1).await;
        wait_until("no job to be due", async || {
            let open: i64 = query_scalar(
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

pub(super) async fn wait_until(what: &str, is_so: impl AsyncFn() -> bool) {
    let deadline = Instant::now() + PATIENCE;
    while !is_so().await {
        assert!(Instant::now() < deadline, "waited for {what}");
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
}

/// Waits until the process stands at its pause.
pub(super) async fn reached(path: &Path) {
    wait_until("the program to come to the step", async || path.exists()).await;
}

pub(super) fn step_file(incident: &Incident) -> PathBuf {
    incident.folder.path().join("paused")
}

pub(super) async fn prepared(model: Option<ChatModel>) -> Incident {
    prepared_on(None, model).await
}

/// With this database, or a file of SQLite.
pub(super) async fn prepared_on(
    database_url: Option<String>,
    model: Option<ChatModel>,
) -> Incident {
    let memory = [
        refund_job(12, "2026-05-14", "held"),
        refund_job(41, "2026-09-23", "held"),
    ];
    let incident = Incident::prepared(Given {
        memory: &memory,
        model,
        database_url,
        ..Given::default()
    })
    .await;
    incident.discord.set_patience(PATIENCE);
    incident
}

/// As [`prepared`], with the bot in this process.
async fn begun(model: Option<ChatModel>) -> Incident {
    let mut incident = prepared(model).await;
    incident.starts_bot(super::tuning(None)).await;
    incident
}

async fn model() -> ChatModel {
    let model = ChatModel::start().await;
    model.on_fn(Task::Triage, |_| triage_reply());
    model.on_fn(Task::Analysis, |_| Reply::json(&analysis_answer()));
    model
}

/// The incident's posts: one headline, one thread, and in it one of each.
pub(super) async fn posted_once(incident: &Incident, report: &Interaction) -> Vec<Post> {
    let threads = incident.discord.threads(incident.channel);
    assert_eq!(threads.len(), 1, "one thread");
    let in_channel = own(incident, incident.channel);
    assert_eq!(in_channel.len(), 1, "one headline: {in_channel:#?}");
    report.forget();
    in_thread_once(incident, threads[0])
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
    assert_eq!(with("Trying this fix"), 1, "one message of cards");
    assert!(posts.len() <= 3, "cards, checklist and update: {story:#?}");
    posts
}

async fn killed_at(step: &str, model: Option<ChatModel>) -> Incident {
    killed_at_in(prepared(model).await, step).await
}

pub(super) async fn killed_at_in(incident: Incident, step: &str) -> Incident {
    let path = step_file(&incident);
    let process = Process::starts(&incident, Some((step, &path)));
    incident.discord.gateway().connected().await;
    incident.discord.commands_registered(incident.guild).await;
    let report = incident.analyze(REFUND_REPORT).await;
    reached(&path).await;
    let jobs = Jobs::of(&incident).await;
    process.kill();
    let killed = Instant::now();
    let (attempts, _) = jobs.analysis().await;
    let process = Process::starts(&incident, None);
    jobs.goes_on_after(attempts).await;
    let took = killed.elapsed();
    eprintln!("killed at {step}: went on after {} ms", took.as_millis());
    assert!(took < GOES_ON_WITHIN, "{step}: {took:?}");
    jobs.is_done().await;
    posted_once(&incident, &report).await;
    // Nobody can know that the person was not acknowledged, but by trying.
    incident
        .discord
        .forgive("followed up before it was answered");
    assert!(process.end().await.success());
    incident
}

macro_rules! killed {
    ($($name:ident: $step:literal;)*) => {
        /// The steps that have a test.
        pub(super) const KILLED_AT: &[&str] = &[$($step),*];
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
    let asked = incident
        .model
        .as_ref()
        .expect("a model")
        .requests_for(Task::Analysis);
    assert_eq!(asked.len(), 1);
    incident.ends().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn asked_to_end_it_finishes_what_is_about_to_be_done() {
    let model = model().await;
    let (reply, hold) = triage_reply().held();
    model.on(Task::Triage, reply);
    let incident = prepared(Some(model)).await;
    let process = Process::starts(&incident, None);
    incident.discord.gateway().connected().await;
    incident.discord.commands_registered(incident.guild).await;
    let report = incident.analyze(REFUND_REPORT).await;
    hold.arrived().await;
    process.sends_terminate();
    incident.discord.gateway().disconnected().await;
    hold.release();
    assert!(process.end().await.success());
    assert!(Jobs::of(&incident).await.analysis().await.1, "done");
    posted_once(&incident, &report).await;
    incident.ends().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn asked_to_end_while_the_model_thinks_the_next_start_goes_on() {
    let model = model().await;
    let (reply, hold) = triage_reply().held();
    model.on(Task::Triage, reply);
    let incident = prepared(Some(model)).await;
    let process = Process::starts(&incident, None);
    incident.discord.gateway().connected().await;
    incident.discord.commands_registered(incident.guild).await;
    let report = incident.analyze(REFUND_REPORT).await;
    hold.arrived().await;
    let asked = Instant::now();
    assert!(process.end().await.success());
    // A service manager kills after ten seconds.
    eprintln!("ended {} ms after the signal", asked.elapsed().as_millis());
    assert!(
        asked.elapsed() < Duration::from_secs(10),
        "{:?}",
        asked.elapsed()
    );
    drop(hold);
    let process = Process::starts(&incident, None);
    Jobs::of(&incident).await.is_done().await;
    posted_once(&incident, &report).await;
    assert!(process.end().await.success());
    incident.ends().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn started_again_after_the_token_expired_the_headline_is_the_bot_s_own() {
    let incident = prepared(None).await;
    let path = step_file(&incident);
    let process = Process::starts(&incident, Some(("acknowledged", &path)));
    incident.discord.gateway().connected().await;
    incident.discord.commands_registered(incident.guild).await;
    let report = incident.analyze(REFUND_REPORT).await;
    reached(&path).await;
    process.kill();
    incident.discord.advance(Duration::from_secs(16 * 60));
    let process = Process::starts(&incident, None);
    Jobs::of(&incident).await.is_done().await;
    posted_once(&incident, &report).await;
    incident.discord.forgive("10015");
    assert!(process.end().await.success());
    incident.ends().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_token_that_expires_while_the_model_thinks_costs_nothing() {
    let model = model().await;
    let (reply, hold) = triage_reply().held();
    model.on(Task::Triage, reply);
    let incident = begun(Some(model)).await;
    let report = incident.analyze(REFUND_REPORT).await;
    hold.arrived().await;
    incident.discord.advance(Duration::from_secs(16 * 60));
    hold.release();
    incident.idle().await;
    posted_once(&incident, &report).await;
    incident.ends().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_command_that_is_delivered_twice_is_one_incident() {
    let incident = begun(None).await;
    let report = incident.analyze(REFUND_REPORT).await;
    incident.discord.redeliver_interaction(&report);
    let _acknowledged = report.response().await;
    incident.idle().await;
    incident.discord.redeliver_interaction(&report);
    incident.discord.redeliver_interaction(&report);
    let list = incident
        .discord
        .slash(incident.alice, incident.channel, "incident list", json!({}));
    incident.discord.redeliver_interaction(&list);
    let listed = list.ephemeral().await;
    assert_eq!(listed.to_text().matches("INC-").count(), 1, "{listed}");
    incident.idle().await;
    posted_once(&incident, &report).await;
    incident.ends().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_click_that_is_delivered_twice_counts_once() {
    let incident = begun(None).await;
    let report = incident.analyze(REFUND_REPORT).await;
    let thread = incident.thread(&report).await;
    let cards = cards(&incident, thread).await;
    let click = incident
        .discord
        .click(incident.alice, &cards, "1 Cause confirmed");
    incident.discord.redeliver_interaction(&click);
    incident
        .discord
        .await_edit(cards.id, |post| post.shows("confirmed by"))
        .await;
    incident.discord.redeliver_interaction(&click);
    incident.idle().await;
    let after = incident.discord.message(cards.id).expect("the cards");
    assert!(
        after.shows("confirmed by"),
        "a second click takes it back: {after}"
    );
    posted_once(&incident, &report).await;
    incident.ends().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_message_that_is_delivered_twice_is_noted_and_answered_once() {
    let incident = begun(None).await;
    let report = incident.analyze(REFUND_REPORT).await;
    let thread = incident.thread(&report).await;
    incident.idle().await;
    let _read = incident.discord.posts(thread);
    let question = incident
        .discord
        .say(incident.alice, thread, "what fixed it last time?");
    incident.discord.redeliver(question);
    let answer = reply_to(&incident, thread, question).await;
    incident.discord.redeliver(question);
    incident.drop_and_resume(20).await;
    incident.idle().await;
    let answers: Vec<_> = own(&incident, thread)
        .into_iter()
        .filter(|post| post.reply_to == Some(question))
        .collect();
    assert_eq!(answers.len(), 1, "{answers:#?}");
    assert_eq!(answers[0].id, answer.id);
    incident.ends().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_session_that_is_resumed_with_overlap_repeats_nothing() {
    let incident = begun(None).await;
    let report = incident.analyze(REFUND_REPORT).await;
    let thread = incident.thread(&report).await;
    incident.idle().await;
    incident
        .discord
        .say(incident.alice, thread, "the pool is at 30 %");
    let why = incident
        .discord
        .slash(incident.alice, thread, "why", json!({}));
    let _explained = why.ephemeral().await;
    incident
        .discord
        .await_message(thread, |post| post.shows("new message"))
        .await;
    incident.idle().await;
    incident.drop_and_resume(100).await;
    // Something after the replay, so that the replay is over.
    let list = incident
        .discord
        .slash(incident.alice, incident.channel, "incident list", json!({}));
    assert_eq!(list.ephemeral().await.to_text().matches("INC-").count(), 1);
    incident.idle().await;
    let offers: Vec<_> = own(&incident, thread)
        .into_iter()
        .filter(|post| post.shows("new message"))
        .collect();
    assert!(offers.len() <= 1, "{offers:#?}");
    assert_eq!(own(&incident, incident.channel).len(), 1);
    incident.ends().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn while_the_store_is_slow_the_person_is_acknowledged_and_then_answered() {
    let incident = begun(None).await;
    let lock = Lock::of(&incident).await;
    let report = incident.analyze(REFUND_REPORT).await;
    let _deferred = report.response().await;
    let took = report.answered_after().expect("answered");
    eprintln!(
        "acknowledged after {} ms though the store hangs",
        took.as_millis()
    );
    assert!(took < Duration::from_secs(3), "{took:?}");
    assert_eq!(own(&incident, incident.channel).len(), 0);
    lock.release().await;
    let _headline = incident.headline(&report).await;
    incident.idle().await;
    posted_once(&incident, &report).await;
    incident.ends().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn where_the_store_does_not_come_back_the_person_is_told_that_nothing_was_stored() {
    let mut incident = prepared(None).await;
    incident
        .starts_bot(Tuning {
            commit_patience: Duration::from_millis(1_500),
            ..super::tuning(None)
        })
        .await;
    let lock = Lock::of(&incident).await;
    let report = incident.analyze(REFUND_REPORT).await;
    let _deferred = report.response().await;
    assert!(report.answered_after().expect("answered") < Duration::from_secs(3));
    let told = report.original().await;
    assert!(told.shows("nothing was stored"), "{told}");
    assert!(told.shows("Please send it again"), "{told}");
    lock.release().await;
    incident.idle().await;
    assert_eq!(incident.discord.threads(incident.channel).len(), 0);
    incident.ends().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_store_that_refuses_is_said_to_that_person_at_once() {
    let incident = begun(None).await;
    let jobs = Jobs::of(&incident).await;
    query("ALTER TABLE river_job RENAME TO gone")
        .execute(&jobs.0)
        .await
        .expect("the database is ours");
    let report = incident.analyze(REFUND_REPORT).await;
    let told = report.ephemeral().await;
    assert!(
        told.shows("I can't record this incident right now, nothing was stored"),
        "{told}"
    );
    assert!(told.shows("error id"), "{told}");
    query("ALTER TABLE gone RENAME TO river_job")
        .execute(&jobs.0)
        .await
        .expect("the database is ours");
    // And it goes on by itself.
    let report = incident.analyze(REFUND_REPORT).await;
    incident.thread(&report).await;
    incident.idle().await;
    let _read = incident
        .discord
        .posts(incident.discord.threads(incident.channel)[0]);
    incident.ends().await;
}

/// A write lock on the database, as a backup or a sick disk holds it.
struct Lock(Connection);

impl Lock {
    async fn of(incident: &Incident) -> Self {
        let jobs = Jobs::of(incident).await;
        let mut connection = jobs.0.acquire().await.expect("a connection");
        let begin = Sql {
            sqlite: "BEGIN IMMEDIATE",
            postgres: "BEGIN",
        };
        let held = query(begin).execute(&mut connection).await;
        held.expect("the lock is free");
        if connection.is_postgres() {
            query("LOCK TABLE river_job, incident, seen IN ACCESS EXCLUSIVE MODE")
                .execute(&mut connection)
                .await
                .expect("the lock is free");
        }
        Self(connection)
    }

    async fn release(mut self) {
        let released = query("ROLLBACK").execute(&mut self.0).await;
        released.expect("the lock is ours");
    }
}

#[test]
fn every_named_step_has_its_kill() {
    let mut covered = KILLED_AT.to_vec();
    covered.push("progress");
    covered.extend(super::watch::KILLED_AT);
    for step in pause::STEPS {
        assert!(covered.contains(step), "{step}");
    }
}

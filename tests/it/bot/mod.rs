//! The bot as people meet it: reports go in, posts come out. Each test is a conversation with the
//! real client over real HTTP and WebSocket against the stand-in.

mod abuse;
mod analysis;
mod approval;
mod causes;
mod clicks;
mod clock;
mod commands;
mod durable;
mod embeddings;
mod faults;
mod fixes;
mod hindsight;
mod history;
mod injection;
mod isolation;
mod joining;
mod keeping;
mod limits;
mod memory;
pub mod model;
mod opened;
mod outcomes;
mod reports;
mod running;
mod secrets;
mod services;
mod shared;
mod steps;
mod talk;
mod watch;

use crate::homes;
use precedent::app::{App, Tuning};
use precedent::config::{
    Config, DiscordConfig, EmbeddingsConfig, HindsightConfig, Limits, LogConfig, ModelConfig,
};
use precedent::discord::Patience;
use precedent::jobs::mirror::Pace;
use precedent::jobs::remember::{self, ImportOptions};
use precedent::memory::hindsight::Times;
use precedent::store::Store;
use secrecy::SecretString;
use serde_json::{Value, json};
use standin::embeddings::Embeddings;
use standin::hindsight::Hindsight;
use standin::llm::ChatModel;
use standin::{ChannelId, Discord, GuildId, Interaction, Post, UserId};
use std::time::Duration;

/// Everything one conversation needs: a server with a channel, Alice who is on call, and the bot.
pub struct Incident {
    pub discord: Discord,
    pub model: Option<ChatModel>,
    pub hindsight: Option<Hindsight>,
    pub guild: GuildId,
    pub channel: ChannelId,
    pub alice: UserId,
    pub config: Config,
    pub app: Option<App>,
    folder: tempfile::TempDir,
}

/// What a conversation begins with.
#[derive(Default)]
pub struct Given<'a> {
    /// Past incidents, as import lines.
    pub memory: &'a [Value],
    /// A model that answers; without one the rules do.
    pub model: Option<ChatModel>,
    /// Seconds that a model call may take; 20 where not given.
    pub timeout_seconds: u64,
    /// The locale of Alice.
    pub locale: Option<&'a str>,
    /// The rule-based cards are shown as provisional after this; never, where not given.
    pub provisional_after: Option<Duration>,
    /// Limits; the usual ones, where not given.
    pub limits: Option<Limits>,
    /// The database; a fresh one, where not given.
    pub database_url: Option<String>,
    /// A memory server beside the database; none, where not given.
    pub hindsight: Option<Hindsight>,
    /// A model of meanings; none, where not given.
    pub embeddings: Option<&'a Embeddings>,
    /// The bot does not ask for the message-content intent, and has it not.
    pub without_message_content: bool,
    /// Incidents that ended so many days ago are forgotten; never, where not given.
    pub retention_days: Option<u32>,
}

impl Incident {
    /// Starts the stand-in and the bot.
    pub async fn begins(given: Given<'_>) -> Self {
        let tuning = tuning(given.provisional_after);
        let mut incident = Self::prepared(given).await;
        incident.starts_bot(tuning).await;
        incident
    }

    /// Starts the bot.
    pub async fn starts_bot(&mut self, tuning: Tuning) {
        let app = App::start_tuned(&self.config, tuning)
            .await
            .expect("the bot starts");
        self.discord.gateway().connected().await;
        self.app = Some(app);
    }

    /// Starts the stand-in alone; the bot is still to be started.
    pub async fn prepared(given: Given<'_>) -> Self {
        Self::prepared_at(Discord::start().await, given).await
    }

    /// As [`Incident::prepared`], at a stand-in that was started otherwise.
    pub async fn prepared_at(discord: Discord, given: Given<'_>) -> Self {
        let guild = discord.guild("acme");
        let channel = discord.channel(guild, "incidents");
        let alice = match given.locale {
            Some(locale) => discord.member_speaking(guild, "alice", locale),
            None => discord.member(guild, "alice"),
        };
        discord.set_message_content(!given.without_message_content);
        let folder = tempfile::tempdir().expect("a folder for the database");
        let database_url = match given.database_url {
            Some(url) => url,
            None => homes::usual(folder.path()).await,
        };
        remember(&database_url, &guild.to_string(), given.memory).await;
        let config = Config {
            database_url,
            discord: Some(DiscordConfig {
                token: SecretString::from(discord.token()),
                api_url: Some(discord.url().to_owned()),
                message_content: !given.without_message_content,
            }),
            guild: None,
            model: given.model.as_ref().map(|model| ModelConfig {
                base_url: model.base_url(),
                api_key: None,
                model: "openai/gpt-oss-120b".into(),
                triage_model: None,
                capable_model: None,
                timeout: Duration::from_secs(match given.timeout_seconds {
                    0 => 20,
                    seconds => seconds,
                }),
            }),
            hindsight: given.hindsight.as_ref().map(|hindsight| HindsightConfig {
                url: hindsight.url(),
                api_key: None,
                reflect: true,
            }),
            embeddings: given.embeddings.map(|embeddings| EmbeddingsConfig {
                base_url: embeddings.url(),
                api_key: None,
                model: "meanings".into(),
            }),
            limits: given.limits.unwrap_or_default(),
            retention_days: given.retention_days,
            log: LogConfig {
                json: false,
                filter: "warn".into(),
            },
        };
        Self {
            discord,
            model: given.model,
            hindsight: given.hindsight,
            guild,
            channel,
            alice,
            config,
            app: None,
            folder,
        }
    }

    /// Alice types `/analyze`.
    pub async fn analyze(&self, report: &str) -> Interaction {
        self.analyze_with(json!({"report": report})).await
    }

    /// Alice types `/analyze` with options.
    pub async fn analyze_with(&self, options: Value) -> Interaction {
        self.discord
            .slash(self.alice, self.channel, "analyze", options)
    }

    /// The thread that was started from the headline.
    pub async fn thread(&self, interaction: &Interaction) -> ChannelId {
        interaction.response().await;
        let headline = self.headline(interaction).await;
        self.discord.await_thread(headline.id).await
    }

    /// The headline as it stands.
    pub async fn headline(&self, interaction: &Interaction) -> Post {
        interaction.original().await
    }

    /// The cards, checklist and update of an analysis in a thread, once nothing is left to do.
    pub async fn settled(&self, thread: ChannelId) -> Vec<Post> {
        self.idle().await;
        self.discord.posts(thread)
    }

    /// Waits until no job is left that is due.
    pub async fn idle(&self) {
        let app = self.app.as_ref().expect("the bot runs");
        let waiting = async {
            loop {
                let counts = app.jobs().await.expect("jobs can be counted");
                if counts.due == 0 && counts.running == 0 {
                    return;
                }
                tokio::time::sleep(Duration::from_millis(10)).await;
            }
        };
        tokio::time::timeout(Duration::from_secs(30), waiting)
            .await
            .expect("the jobs end");
    }

    /// The connection breaks; the session is resumed, and replays so many events that were heard.
    pub async fn drop_and_resume(&self, overlap: usize) {
        let gateway = self.discord.gateway();
        gateway.set_replay_overlap(overlap);
        let resumed = gateway
            .acts()
            .iter()
            .filter(|act| matches!(act, standin::gateway::ClientAct::Resume { .. }))
            .count();
        gateway.drop_connection();
        gateway.resumed(resumed + 1).await;
        gateway.connected().await;
    }

    /// Ends the bot and holds everybody to account: nothing unread, no broken rule, no job left.
    pub async fn ends(self) {
        self.ends_with_given_up(0).await;
    }

    /// As [`Incident::ends`], where so many jobs could never be done.
    pub async fn ends_with_given_up(mut self, jobs: u64) {
        if let Some(app) = self.app.take() {
            let counts = app.jobs().await.expect("jobs can be counted");
            assert_eq!(counts.dead, jobs, "jobs given up");
            app.stop(Duration::from_secs(5)).await;
        }
        self.discord.finish();
        if let Some(model) = self.model.take() {
            model.finish();
        }
        if let Some(hindsight) = self.hindsight.take() {
            hindsight.finish();
        }
        self.folder.close().expect("the folder can be removed");
    }
}

pub fn tuning(provisional_after: Option<Duration>) -> Tuning {
    Tuning {
        patience: Patience {
            between_identifies: Duration::from_millis(50),
            first_pause: Duration::from_millis(50),
            longest_pause: Duration::from_secs(1),
            ..Patience::default()
        },
        provisional_after: provisional_after.unwrap_or(Duration::from_secs(3600)),
        job_pause: Duration::from_millis(50),
        hindsight: Times {
            recall: Duration::from_millis(600),
            reflect: Duration::from_millis(600),
            rest: Duration::from_millis(1),
            pause: Duration::from_millis(10),
            ..Times::default()
        },
        mirror: Pace {
            look: Duration::from_millis(20),
            whole: Duration::from_millis(60),
            first_pause: Duration::from_millis(30),
            longest_pause: Duration::from_millis(60),
        },
        ..Tuning::default()
    }
}

/// Imports lines into a database, as an operator would.
pub async fn remember(database_url: &str, guild: &str, lines: &[Value]) {
    let store = Store::open(database_url)
        .await
        .expect("a fresh database opens");
    let text: String = lines.iter().map(|line| format!("{line}\n")).collect();
    let keep = |text: &str| text.to_owned();
    let options = ImportOptions {
        now: jiff::Timestamp::now(),
        redact: &keep,
        strict: true,
    };
    let report = remember::import(&store, guild, text.as_bytes(), options, |_| ())
        .await
        .expect("lines are imported");
    assert_eq!(report.failed, 0, "{:?}", report.failures);
    store.close().await;
}

/// A past incident of the payments service whose fix was to stop the refund job.
pub fn refund_job(number: u32, day: &str, outcome: &str) -> Value {
    json!({
        "id": format!("INC-{number:04}"),
        "title": "payments-api 503s, pool empty",
        "service": "payments-api",
        "environment": "prod",
        "started_at": format!("{day}T02:10:00Z"),
        "resolved_at": format!("{day}T02:51:00Z"),
        "symptoms": ["intermittent 503s on charges", "pool has no free connection"],
        "error_signatures": ["TillPool - no connection available, timed out after 30000ms"],
        "root_cause": "The refund job keeps connections open",
        "fix": "Stop the refund job and restart payments-api",
        "outcome": outcome,
    })
}

/// A report that resembles it.
pub const REFUND_REPORT: &str = "payments-api answers intermittent 503s since 02:41 UTC, some customers cannot pay.\n\
    ERROR TillPool - no connection available, timed out after 30000ms\n\
    Nothing was deployed today.";

/// What a model says of the report.
pub fn triage_reply() -> standin::llm::Reply {
    standin::llm::Reply::json(&json!({
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

//! An incident that was analysed, as the people in its thread handle it.

use super::{Given, Incident};
use crate::homes;
use precedent::database::{Sql, query, query_scalar};
use precedent::incident::IncidentId;
use precedent::store::Scope;
use serde_json::{Value, json};
use standin::llm::{ChatModel, Task};
use standin::{ChannelId, Interaction, MessageId, Post, UserId};
use std::time::Duration;

/// An incident with its thread.
pub struct Opened {
    pub at: Incident,
    pub report: Interaction,
    pub thread: ChannelId,
}

impl Opened {
    /// The bot starts, Alice reports, the first analysis is posted.
    pub async fn with(given: Given<'_>, options: Value) -> Self {
        let at = Incident::begins(given).await;
        Self::reported(at, options).await
    }

    /// Alice reports to a bot that runs.
    pub async fn reported(at: Incident, options: Value) -> Self {
        let report = at.analyze_with(options).await;
        let thread = at.thread(&report).await;
        at.discord
            .await_message(thread, |post| {
                has_button(post, "Why?") || has_button(post, "为什么？")
            })
            .await;
        at.idle().await;
        Self { at, report, thread }
    }

    /// The cards of an analysis, counted from 1, as they are now.
    pub async fn cards(&self, analysis: usize) -> Post {
        self.nth(analysis, ":cause:").await
    }

    /// The checklist of an analysis.
    pub async fn checklist(&self, analysis: usize) -> Post {
        self.nth(analysis, ":tick:").await
    }

    /// The stakeholder update of an analysis that shows one.
    pub async fn update(&self, analysis: usize) -> Post {
        self.nth(analysis, ":refresh:").await
    }

    async fn nth(&self, analysis: usize, word: &str) -> Post {
        let part = format!("{word}{}:{analysis}", self.number());
        self.at
            .discord
            .await_message(self.thread, |post| {
                controls(post).iter().any(|id| {
                    id.contains(&part)
                        && id
                            .split(&part)
                            .nth(1)
                            .is_some_and(|rest| rest.is_empty() || rest.starts_with(':'))
                })
            })
            .await
    }

    /// The number of the incident.
    pub fn number(&self) -> u32 {
        self.id().number()
    }

    /// The incident.
    pub fn id(&self) -> IncidentId {
        let headline = self
            .at
            .discord
            .peek(self.report.original_id().expect("a headline"))
            .expect("the headline is there");
        let foot = headline.embeds[0]["footer"]["text"]
            .as_str()
            .expect("a footer")
            .to_owned();
        IncidentId::parse(foot.split(' ').next().expect("a number")).expect("an incident's number")
    }

    /// Somebody presses a button by its label; nothing is left to do then.
    pub async fn press(&self, who: UserId, on: &Post, label: &str) -> Interaction {
        let click = self.at.discord.click(who, on, label);
        click.response().await;
        self.at.idle().await;
        click
    }

    /// Waits until a message shows a text.
    pub async fn shows(&self, message: &Post, part: &str) -> Post {
        self.at
            .discord
            .await_edit(message, |post| post.shows(part))
            .await
    }

    /// A message of the thread by the bot that shows a text.
    pub async fn said(&self, part: &str) -> Post {
        self.at
            .discord
            .await_message(self.thread, |post| post.shows(part))
            .await
    }

    /// The messages of the bot in the thread that show a text.
    pub fn count(&self, part: &str) -> usize {
        self.at
            .discord
            .posts(self.thread)
            .iter()
            .filter(|post| post.by_bot && post.shows(part))
            .count()
    }

    /// What was scheduled for later is due now, as if its time had come.
    pub async fn time_comes(&self, kind: &str) {
        let pool = homes::beside(&self.at.config.database_url).await;
        let moved = query(Sql {
            sqlite: "UPDATE river_job SET scheduled_at = created_at \
                     WHERE state = 'scheduled' AND json_extract(args, '$.kind') = $1",
            postgres: "UPDATE river_job SET scheduled_at = created_at \
                       WHERE state = 'scheduled' AND args->>'kind' = $1",
        })
        .bind(kind)
        .execute(&pool)
        .await
        .expect("jobs can be moved");
        assert_eq!(moved.rows_affected(), 1, "one {kind} job waits");
        pool.close().await;
    }

    /// Waits until no job of a kind is left, now or later.
    pub async fn all_done(&self, kind: &str) {
        let pool = homes::beside(&self.at.config.database_url).await;
        until("no job of that kind is left", async || {
            let left: i64 = query_scalar(Sql {
                sqlite: "SELECT count(*) FROM river_job \
                         WHERE json_extract(args, '$.kind') = $1 AND state != 'completed'",
                postgres: "SELECT count(*) FROM river_job \
                           WHERE args->>'kind' = $1 AND state != 'completed'",
            })
            .bind(kind)
            .fetch_one(&pool)
            .await
            .expect("jobs can be counted");
            left == 0
        })
        .await;
        pool.close().await;
    }

    /// What a channel's own incidents are seen by.
    pub fn scope(&self) -> Scope {
        Scope::new(self.at.guild.to_string(), self.at.channel.to_string())
    }

    /// The incident as it is stored.
    pub async fn stored(&self) -> precedent::store::Incident {
        let store = self.at.app.as_ref().expect("the bot runs").store();
        store
            .incident(&self.scope(), self.id())
            .await
            .expect("the incident can be read")
    }

    /// Ends: everything is looked at, and nobody was notified by any of it.
    pub async fn ends(self) {
        ends(self.at).await;
    }
}

/// Reads everything that everybody sees, holds that nobody was notified, and ends.
pub async fn ends(at: Incident) {
    ends_having_reminded(at, &[]).await;
}

/// As [`ends`], where these people asked to be reminded and were.
pub async fn ends_having_reminded(at: Incident, people: &[UserId]) {
    at.idle().await;
    let state = at.discord.state(None);
    let mut channels: Vec<ChannelId> = Vec::new();
    for guild in state["guilds"].as_array().into_iter().flatten() {
        for kind in ["channels", "threads"] {
            for channel in guild[kind].as_array().into_iter().flatten() {
                let id = channel["id"].as_str().and_then(|id| id.parse::<u64>().ok());
                channels.extend(id.map(ChannelId));
            }
        }
    }
    let mut pictures = Vec::new();
    for channel in channels {
        for post in at.discord.posts_for(Some(at.alice), channel) {
            let mut pings = post.pings().clone();
            pings
                .users
                .retain(|id| !people.iter().any(|person| person.0 == *id));
            assert!(
                !post.by_bot || pings.is_empty(),
                "{:?} were notified by\n{post}",
                post.pings()
            );
            pictures.push(post.json().clone());
        }
    }
    // Pictures of what was posted are drawn from this.
    if let Some(folder) = std::env::var_os("PRECEDENT_POSTS") {
        let name = std::thread::current()
            .name()
            .unwrap_or("posts")
            .replace("::", "-");
        let path = std::path::Path::new(&folder).join(format!("{name}.json"));
        std::fs::write(path, json!(pictures).to_string()).expect("posts can be written");
    }
    at.ends().await;
}

/// Whether a message has a button of that label.
pub fn has_button(post: &Post, label: &str) -> bool {
    post.buttons().iter().any(|button| button.label == label)
}

/// Custom ids of all buttons and selects.
pub fn controls(post: &Post) -> Vec<String> {
    let selects = post.selects().into_iter().map(|select| select.custom_id);
    post.buttons()
        .into_iter()
        .map(|button| button.custom_id)
        .chain(selects)
        .collect()
}

/// Whether all buttons but *Why?* are switched off.
pub fn is_frozen(post: &Post) -> bool {
    post.buttons()
        .iter()
        .all(|button| button.disabled || button.custom_id.contains(":why:"))
        && post
            .selects()
            .iter()
            .all(|select| select.disabled || select.custom_id.contains(":past:"))
}

/// A model that triages, and proposes what is given to every question of its kind.
pub async fn model(analysis: Value) -> ChatModel {
    let model = ChatModel::start().await;
    model.on_fn(
        Task::Triage,
        |_| standin::llm::Reply::json(&triage_answer()),
    );
    model.on_fn(Task::Analysis, move |_| {
        standin::llm::Reply::json(&analysis)
    });
    model
}

/// A triage that adds nothing.
pub fn triage_answer() -> Value {
    json!({
        "title": "intermittent 503s on charges", "service": "payments-api", "severity": "SEV4",
        "symptoms": ["503s on charges"],
        "error_signatures": ["TillPool - no connection available, timed out after 30000ms"],
        "recall_query": "payments-api 503 pool no connection available"
    })
}

/// An analysis whose first hypothesis rests on past incidents.
pub fn analysis_answer(refs: &[&str], severity: &str) -> Value {
    json!({
        "summary": "payments-api answers 503s and its pool has no connection.",
        "severity_assessment": {"severity": severity, "reason": "some customers cannot pay"},
        "memory_verdict": {"status": "proven", "refs": refs},
        "hypotheses": [
            {"title": "The refund job keeps connections open", "source": "memory", "memory_refs": refs,
             "evidence": ["no connection available, timed out after 30000ms"], "contradicted_by": [],
             "confidence": 90, "verify": "Count the connections that the refund job holds",
             "fix": "Stop the refund job and restart payments-api",
             "fix_ref": refs.first().copied().unwrap_or_default()},
            {"title": "A slow query holds connections", "source": "current_evidence", "memory_refs": [],
             "evidence": ["TillPool - no connection available"], "contradicted_by": [],
             "confidence": 40, "verify": "List the longest running queries", "fix": "", "fix_ref": ""}
        ],
        "next_steps": [
            {"step": "Count the connections that the refund job holds", "command": "", "risk": "read_only", "expect": "", "undo": ""},
            {"step": "List the longest running queries", "command": "", "risk": "read_only", "expect": "", "undo": ""},
            {"step": "Stop the refund job", "command": "kubectl scale deploy/refund-job --replicas=0", "risk": "reversible", "expect": "connections are free within 2 minutes", "undo": "kubectl scale deploy/refund-job --replicas=1"},
            {"step": "Drop the stuck sessions table", "command": "DROP TABLE sessions", "risk": "destructive", "expect": "", "undo": ""}
        ],
        "ruled_out_by_history": [],
        "stakeholder_update": {"impact": "Some customers cannot pay", "since": "02:41 UTC", "known": "the connection pool is empty", "not_confirmed": "what holds the connections", "doing": "checking the refund job", "needed": ""},
        "safety_notes": []
    })
}

/// Waits until something is so, for a bounded time.
pub async fn until(what: &str, mut is: impl AsyncFnMut() -> bool) {
    let waiting = async {
        while !is().await {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    };
    tokio::time::timeout(Duration::from_secs(10), waiting)
        .await
        .unwrap_or_else(|_| panic!("waited for {what}"));
}

/// A message's id, for signatures that want one.
pub fn id(post: &Post) -> MessageId {
    post.id
}

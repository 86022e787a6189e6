//! Channels that are watched: alerts become incidents by stated rules, a storm stays small, changes
//! are facts beside a report.

use super::clock::minutes_pass;
use super::opened::{analysis_answer, ends, has_button, model, until};
use super::{Given, Incident, REFUND_REPORT, durable, refund_job, tuning};
use precedent::config::Limits;
use precedent::incident::{IncidentId, Outcome, Status};
use precedent::store::Filter;
use serde_json::{Value, json};
use standin::llm::Task;
use standin::permissions::MANAGE_GUILD;
use standin::{ChannelId, Interaction, MessageId, Post, UserId};
use std::time::{Duration, Instant};

/// A guild whose monitoring posts in a channel.
pub struct Watched {
    pub at: Incident,
    pub alerts: ChannelId,
}

/// One alert in a list of Alertmanager's: name, service, other labels.
fn listed(name: &str, service: &str, labels: &[(&str, &str)]) -> String {
    saying(name, service, labels, &format!("{name} on {service}"))
}

/// The same with words of its own.
fn saying(name: &str, service: &str, labels: &[(&str, &str)], summary: &str) -> String {
    let mut text = format!("Labels:\n - alertname = {name}\n - service = {service}\n");
    for (label, value) in labels {
        text.push_str(&format!(" - {label} = {value}\n"));
    }
    text.push_str(&format!(
        "Annotations:\n - summary = {summary}\n\
         Source: http://prometheus:9090/graph?g0.expr=x\n"
    ));
    text
}

/// A message of Alertmanager's.
fn message(title: &str, firing: &[String], resolved: &[String]) -> Value {
    let mut text = String::from("\n\n");
    if !firing.is_empty() {
        text.push_str(&format!("Alerts Firing:\n{}\n", firing.join("\n")));
    }
    if !resolved.is_empty() {
        text.push_str(&format!("Alerts Resolved:\n{}\n", resolved.join("\n")));
    }
    json!({"title": title, "description": text, "color": 0xD0_00_00})
}

fn fires(name: &str, service: &str, level: &str) -> Value {
    let one = listed(name, service, &[("severity", level)]);
    message(&format!("[FIRING:1] {name}"), &[one], &[])
}

fn over(name: &str, service: &str, level: &str) -> Value {
    let one = listed(name, service, &[("severity", level)]);
    message(&format!("[RESOLVED] {name}"), &[], &[one])
}

impl Watched {
    /// Alice, who may, has the channel of alerts watched.
    pub async fn begins(given: Given<'_>, options: Value) -> Self {
        let at = Incident::begins(given).await;
        let alerts = at.discord.channel(at.guild, "alerts");
        at.discord.grant(at.guild, at.alice, MANAGE_GUILD);
        let watched = Self { at, alerts };
        watched
            .watches(watched.alerts, "watch alerts", options)
            .await;
        watched
    }

    async fn watches(&self, channel: ChannelId, command: &str, mut options: Value) -> Post {
        options["channel"] = json!(channel.to_string());
        self.alone(command, options).await
    }

    /// A command of Alice's that is answered to her alone.
    async fn alone(&self, command: &str, options: Value) -> Post {
        self.of(self.at.alice, command, options).await
    }

    async fn of(&self, who: UserId, command: &str, options: Value) -> Post {
        let asked = self.at.discord.slash(who, self.alerts, command, options);
        let answer = asked.original().await;
        assert_eq!(answer.ephemeral_for, Some(who), "{answer}");
        answer
    }

    /// Monitoring posts; what comes of it is done.
    async fn posts(&self, embed: Value) -> MessageId {
        let message = self
            .at
            .discord
            .webhook_post(self.alerts, "Alertmanager", "", &[embed]);
        self.heard(message).await;
        message
    }

    /// Waits until a message was taken and its work is done.
    async fn heard(&self, message: MessageId) {
        let key = format!("told/{}/{}", self.alerts, message);
        self.done(&key).await;
        self.at.idle().await;
    }

    async fn done(&self, key: &str) {
        let pool = crate::homes::beside(&self.at.config.database_url).await;
        until("the message is heard", async || {
            let found: i64 = precedent::database::query_scalar(precedent::database::Sql {
                sqlite: "SELECT count(*) FROM river_job WHERE json_extract(args, '$.key') = $1",
                postgres: "SELECT count(*) FROM river_job WHERE args->>'key' = $1",
            })
            .bind(key)
            .fetch_one(&pool)
            .await
            .expect("jobs can be counted");
            found > 0
        })
        .await;
        pool.close().await;
    }

    /// Time passes, and what became due is done.
    async fn minutes(&self, minutes: i64) {
        minutes_pass(&self.at, minutes).await;
        self.nothing_due().await;
    }

    /// Waits until nothing is left that is due, also of what was put off.
    async fn nothing_due(&self) {
        let pool = crate::homes::beside(&self.at.config.database_url).await;
        until("what was put off is done", async || {
            self.at.idle().await;
            let left: i64 = precedent::database::query_scalar(precedent::database::Sql {
                sqlite: "SELECT count(*) FROM river_job WHERE state IN ('scheduled', 'available', \
                         'running') AND julianday(scheduled_at) <= julianday('now')",
                postgres: "SELECT count(*) FROM river_job WHERE state IN ('scheduled', \
                           'available', 'running') AND scheduled_at <= now()",
            })
            .fetch_one(&pool)
            .await
            .expect("jobs can be counted");
            left == 0
        })
        .await;
        pool.close().await;
    }

    /// The cards in the channel of alerts, oldest first.
    fn cards(&self) -> Vec<Post> {
        self.at
            .discord
            .posts(self.alerts)
            .into_iter()
            .filter(|post| post.by_bot)
            .collect()
    }

    /// The only card.
    fn card(&self) -> Post {
        let cards = self.cards();
        assert_eq!(cards.len(), 1, "{cards:?}");
        cards.into_iter().next().expect("a card")
    }

    /// The bot ends and starts again.
    async fn restarts(&mut self) {
        let app = self.at.app.take().expect("the bot runs");
        app.stop(Duration::from_secs(5)).await;
        self.at.starts_bot(tuning(None)).await;
    }

    async fn known(&self, number: u32) -> precedent::store::Incident {
        let store = self.at.app.as_ref().expect("the bot runs").store();
        let id = IncidentId::new(number).expect("a number");
        store
            .incident_of_guild(&self.at.guild.to_string(), id)
            .await
            .expect("incidents can be read")
            .unwrap_or_else(|| panic!("{id} is there"))
    }

    /// The message of a thread that shows a text.
    async fn said(&self, card: &Post, part: &str) -> Post {
        self.at
            .discord
            .await_message(ChannelId(card.id.0), |post| post.shows(part))
            .await
    }

    async fn press(&self, who: UserId, on: &Post, label: &str) -> Interaction {
        let click = self.at.discord.click(who, on, label);
        click.response().await;
        self.at.idle().await;
        click
    }

    async fn incidents(&self) -> Vec<precedent::store::Incident> {
        let store = self.at.app.as_ref().expect("the bot runs").store();
        let scope =
            precedent::store::Scope::new(self.at.guild.to_string(), self.alerts.to_string());
        let mut listed = store
            .list(&scope, &Filter::default())
            .await
            .expect("incidents can be listed");
        listed.retain(|incident| incident.headline.is_some());
        listed.reverse();
        listed
    }

    async fn status(&self, number: u32, status: Status) {
        let store = self.at.app.as_ref().expect("the bot runs").store();
        let scope =
            precedent::store::Scope::new(self.at.guild.to_string(), self.alerts.to_string());
        let id = IncidentId::new(number).expect("a number");
        store
            .set_status(&scope, id, status, "alice", jiff::Timestamp::now())
            .await
            .expect("a status can be set");
    }

    async fn ends(self) {
        ends(self.at).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_alert_opens_an_incident_with_a_card_of_its_own_and_a_thread() {
    let watched = Watched::begins(Given::default(), json!({})).await;
    watched
        .posts(fires("HighErrorRate", "payments-api", "critical"))
        .await;
    let card = watched.card();
    for part in [
        "SEV2 · payments-api · HighErrorRate",
        "🔔 **HighErrorRate** firing 1x, last",
        "HighErrorRate on payments-api",
        "Alertmanager · critical · SEV2 is proposed from that, nobody set it",
        "INC-0001",
        "investigating",
    ] {
        assert!(card.shows(part), "{part}\n{card}");
    }
    for label in [
        "Analyze",
        "I'll lead",
        "Mitigated",
        "False alarm",
        "Catch up",
    ] {
        assert!(has_button(&card, label), "{label}\n{card}");
    }
    assert_eq!(
        watched
            .at
            .discord
            .channel_name(ChannelId(card.id.0))
            .as_deref(),
        Some("payments-api · HighErrorRate")
    );
    // What it says itself is no alert, nor what a person quotes.
    watched.at.discord.say(
        watched.at.alice,
        watched.alerts,
        "[FIRING:1] HighErrorRate\nLabels:\n - alertname = HighErrorRate\n - service = order-service",
    );
    watched
        .posts(fires("HighErrorRate", "payments-api", "critical"))
        .await;
    assert_eq!(watched.incidents().await.len(), 1);
    // The buttons do what they do below a report.
    watched.press(watched.at.alice, &card, "I'll lead").await;
    let led = watched.card();
    assert!(
        led.shows("Lead: alice") && led.shows("HighErrorRate"),
        "{led}"
    );
    watched.ends().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn repeats_are_counted_on_the_card_and_an_end_is_suggested_and_set_by_people() {
    let watched = Watched::begins(Given::default(), json!({})).await;
    for _ in 0..4 {
        watched
            .posts(fires("HighErrorRate", "payments-api", "critical"))
            .await;
    }
    let card = watched.card();
    assert!(
        card.shows("firing 1x"),
        "not before five seconds are over\n{card}"
    );
    watched.minutes(1).await;
    let card = watched.card();
    assert!(card.shows("firing 4x, last"), "{card}");
    assert_eq!(card.history().len(), 2, "{:?}", card.history());
    watched
        .posts(over("HighErrorRate", "payments-api", "critical"))
        .await;
    watched.minutes(1).await;
    let card = watched.card();
    assert!(
        card.shows("✅ **HighErrorRate** resolved; fired 4x, last"),
        "{card}"
    );
    let said = watched.said(&card, "HighErrorRate no longer fires").await;
    assert!(said.shows("Suggested: mitigated"), "{said}");
    assert_eq!(watched.incidents().await[0].status, Status::Investigating);
    watched.press(watched.at.alice, &said, "Mitigated").await;
    assert_eq!(watched.incidents().await[0].status, Status::Mitigated);
    // An end that nobody waits for opens nothing.
    watched
        .posts(over("HighLatency", "order-service", "critical"))
        .await;
    watched.minutes(2).await;
    assert_eq!(watched.incidents().await.len(), 1);
    watched.ends().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_message_about_several_things_is_split_by_what_is_broken() {
    let watched = Watched::begins(Given::default(), json!({})).await;
    let critical = [("severity", "critical")];
    watched
        .posts(message(
            "[FIRING:3, RESOLVED:1] (prod)",
            &[
                listed("HighErrorRate", "payments-api", &critical),
                listed("HighLatency", "payments-api", &critical),
                listed("QueueFull", "order-service", &critical),
            ],
            &[listed("DiskFull", "search", &critical)],
        ))
        .await;
    watched.minutes(1).await;
    let titles: Vec<String> = watched
        .incidents()
        .await
        .iter()
        .map(|one| format!("{:?} {}", one.past.service, one.past.title))
        .collect();
    assert_eq!(
        titles,
        [
            "Some(\"payments-api\") HighErrorRate",
            "Some(\"order-service\") QueueFull"
        ]
    );
    let mut cards = watched.cards();
    assert_eq!(cards.len(), 2);
    // Both are posted at once.
    cards.sort_by_key(|card| !card.shows("payments-api"));
    assert!(
        cards[0].shows("HighLatency") && !cards[0].shows("QueueFull"),
        "{}",
        cards[0]
    );
    assert!(!cards[1].shows("HighLatency"), "{}", cards[1]);
    // The second alert of a service is evidence of the first one's incident.
    let report = watched.incidents().await[0]
        .report
        .clone()
        .expect("a report");
    assert_eq!(report.thread.len(), 1);
    assert!(report.thread[0].text.starts_with("HighLatency"));
    watched.ends().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_below_the_floor_opens_nothing_and_is_listed() {
    let watched = Watched::begins(
        Given::default(),
        json!({"floor": "SEV2", "analysis": "never", "quiet_repeats": 10}),
    )
    .await;
    watched
        .posts(fires("CertExpiresSoon", "search", "warning"))
        .await;
    watched
        .posts(fires("CertExpiresSoon", "search", "warning"))
        .await;
    assert_eq!(watched.cards().len(), 0);
    watched
        .posts(fires("HighErrorRate", "payments-api", "critical"))
        .await;
    assert!(!has_button(&watched.card(), "Analyze"));
    let list = watched.alone("watch list", json!({})).await;
    for part in [
        "alerts open incidents from SEV2 on, are never analyzed; repeats alone are shown every 10 min",
        "firing now: 1 (payments-api)",
        "Without an incident, in the last 24 hours:",
        "CertExpiresSoon: 2x, last",
        "below the floor",
    ] {
        assert!(list.shows(part), "{part}\n{list}");
    }
    watched.ends().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn watching_takes_a_right_and_ends_when_it_is_stopped() {
    let watched = Watched::begins(Given::default(), json!({})).await;
    let bob = watched.at.discord.member(watched.at.guild, "bob");
    for command in ["watch alerts", "watch changes", "watch stop", "watch list"] {
        let refused = watched.of(bob, command, json!({})).await;
        assert!(refused.shows("Manage Server"), "{command}: {refused}");
    }
    let stopped = watched
        .watches(watched.alerts, "watch stop", json!({}))
        .await;
    assert!(stopped.shows("is no longer watched"), "{stopped}");
    let again = watched
        .watches(watched.alerts, "watch stop", json!({}))
        .await;
    assert!(again.shows("is not watched"), "{again}");
    watched.at.discord.webhook_post(
        watched.alerts,
        "Alertmanager",
        "",
        &[fires("X", "search", "critical")],
    );
    let list = watched.alone("watch list", json!({})).await;
    assert!(list.shows("No channel is watched here"), "{list}");
    assert_eq!(watched.cards().len(), 0);
    watched.ends().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_fires_again_reopens_and_later_opens_anew_and_names_the_earlier() {
    let watched = Watched::begins(Given::default(), json!({})).await;
    watched
        .posts(fires("HighErrorRate", "payments-api", "critical"))
        .await;
    watched
        .posts(over("HighErrorRate", "payments-api", "critical"))
        .await;
    watched.minutes(2).await;
    let card = watched.card();
    watched.said(&card, "no longer fires").await;
    watched.status(1, Status::Resolved).await;
    watched.minutes(30).await;
    // Half an hour later: the same incident runs again.
    watched
        .posts(fires("HighErrorRate", "payments-api", "critical"))
        .await;
    watched.minutes(1).await;
    watched
        .said(
            &card,
            "🔔 HighErrorRate fires again: the incident runs again.",
        )
        .await;
    watched.said(&card, "and fires again.").await;
    assert_eq!(watched.incidents().await.len(), 1);
    assert_eq!(watched.incidents().await[0].status, Status::Investigating);
    assert!(watched.card().shows("firing 2x"), "{}", watched.card());
    // It ends, and three hours later it is another one.
    watched
        .posts(over("HighErrorRate", "payments-api", "critical"))
        .await;
    watched.status(1, Status::Resolved).await;
    watched.minutes(3 * 60).await;
    watched
        .posts(fires("HighErrorRate", "payments-api", "critical"))
        .await;
    let cards = watched.cards();
    assert_eq!(cards.len(), 2);
    assert!(
        cards[1].shows("↩ Fired before in INC-0001, which was over for more than two hours"),
        "{}",
        cards[1]
    );
    watched.ends().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_alert_about_what_people_run_is_evidence_of_that() {
    let memory = [refund_job(12, "2026-05-14", "held")];
    let given = Given {
        memory: &memory,
        ..Given::default()
    };
    let watched = Watched::begins(given, json!({})).await;
    let report = watched
        .at
        .analyze_with(json!({"report": REFUND_REPORT, "service": "payments-api"}))
        .await;
    let thread = watched.at.thread(&report).await;
    watched.at.idle().await;
    let signature = "ERROR TillPool - no connection available, timed out after 30002ms";
    let one = saying(
        "PoolEmpty",
        "payments-api",
        &[("severity", "critical")],
        signature,
    );
    watched
        .posts(message("[FIRING:1] PoolEmpty", &[one], &[]))
        .await;
    assert_eq!(watched.cards().len(), 0, "no incident of its own");
    let discord = &watched.at.discord;
    discord
        .await_message(thread, |post| {
            post.shows("🔔 Alertmanager tells of the same: PoolEmpty fires.")
        })
        .await;
    discord
        .await_message(thread, |post| {
            post.shows("1 new message since the last analysis")
        })
        .await;
    let headline = report.original().await;
    assert!(
        headline.shows("🔔 **PoolEmpty** firing 1x") && headline.shows("INC-0013"),
        "{headline}"
    );
    assert!(!has_button(&headline, "Analyze"), "{headline}");
    let thread_of = watched.known(13).await.report.expect("a report").thread;
    assert_eq!(thread_of.len(), 1);
    assert_eq!(thread_of[0].author, "Alertmanager");
    assert!(thread_of[0].text.contains(signature), "{thread_of:?}");
    watched.ends().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_alert_is_analyzed_on_its_button() {
    let memory = [refund_job(12, "2026-05-14", "held")];
    let model = model(analysis_answer(&["INC-0012"], "SEV2")).await;
    let given = Given {
        memory: &memory,
        model: Some(model),
        ..Given::default()
    };
    let watched = Watched::begins(given, json!({})).await;
    let one = saying(
        "PoolEmpty",
        "payments-api",
        &[("severity", "critical")],
        "ERROR TillPool - no connection available, timed out after 30002ms",
    );
    watched
        .posts(message("[FIRING:1] PoolEmpty", &[one], &[]))
        .await;
    let asked = |watched: &Watched| {
        let model = watched.at.model.as_ref().expect("a model");
        model.requests_for(Task::Analysis).len()
    };
    assert_eq!(asked(&watched), 0, "nobody asked");
    let card = watched.card();
    watched.press(watched.at.alice, &card, "Analyze").await;
    watched
        .said(&card, "The refund job keeps connections open")
        .await;
    assert_eq!(asked(&watched), 1);
    let card = watched.card();
    assert!(
        card.shows("SEV2 · payments-api · PoolEmpty")
            && card.shows("Seen 1x here")
            && card.shows("🔔 **PoolEmpty** firing 1x"),
        "{card}"
    );
    assert!(!has_button(&card, "Analyze"), "{card}");
    watched.ends().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_always_analyzed_stays_within_the_budget() {
    let model = model(analysis_answer(&[], "SEV2")).await;
    let given = Given {
        model: Some(model),
        limits: Some(Limits {
            model_calls_per_guild_hour: 2,
            ..Limits::default()
        }),
        ..Given::default()
    };
    let watched = Watched::begins(given, json!({"analysis": "always"})).await;
    for service in [
        "payments-api",
        "order-service",
        "search",
        "billing",
        "mailer",
    ] {
        watched
            .posts(fires("HighErrorRate", service, "critical"))
            .await;
    }
    let cards = watched.cards();
    assert_eq!(cards.len(), 5);
    assert!(
        cards.iter().all(|card| !has_button(card, "Analyze")),
        "at once"
    );
    watched.minutes(1).await;
    watched.minutes(1).await;
    // Three start unasked, of which the budget lets two ask the model; two wait for the button.
    let model = watched.at.model.as_ref().expect("a model");
    assert_eq!(model.requests_for(Task::Analysis).len(), 2);
    let waiting = watched.cards();
    let waiting = waiting.iter().filter(|card| has_button(card, "Analyze"));
    assert_eq!(waiting.count(), 2);
    watched.ends().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_message_counts_once_also_after_a_restart_and_what_was_missed_is_read() {
    let mut watched = Watched::begins(Given::default(), json!({})).await;
    let first = watched
        .posts(fires("HighErrorRate", "payments-api", "critical"))
        .await;
    watched.at.discord.redeliver(first);
    watched
        .posts(fires("HighErrorRate", "payments-api", "critical"))
        .await;
    // What was to be shown is shown by the next process; what came meanwhile is read.
    let app = watched.at.app.take().expect("the bot runs");
    app.stop(Duration::from_secs(5)).await;
    let missed = watched.at.discord.webhook_post(
        watched.alerts,
        "Alertmanager",
        "",
        &[fires("HighErrorRate", "payments-api", "critical")],
    );
    watched.at.starts_bot(tuning(None)).await;
    watched.heard(missed).await;
    watched.minutes(1).await;
    let card = watched.card();
    assert!(card.shows("firing 3x"), "{card}");
    watched.restarts().await;
    watched.minutes(1).await;
    assert!(watched.card().shows("firing 3x"));
    watched.ends().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_day_without_the_alert_says_that_the_fix_held() {
    let memory = [refund_job(12, "2026-05-14", "held")];
    let given = Given {
        memory: &memory,
        ..Given::default()
    };
    let watched = Watched::begins(given, json!({})).await;
    let words = "ERROR TillPool - no connection available, timed out after 30002ms";
    let critical = [("severity", "critical")];
    let pool = || saying("PoolEmpty", "payments-api", &critical, words);
    watched
        .posts(message("[FIRING:1] PoolEmpty", &[pool()], &[]))
        .await;
    let card = watched.card();
    watched.press(watched.at.alice, &card, "Analyze").await;
    let cards = watched
        .said(&card, "The refund job keeps connections open")
        .await;
    watched
        .press(watched.at.alice, &cards, "1 Trying this fix")
        .await;
    let tried = watched.at.discord.message(&cards).expect("the cards");
    watched.press(watched.at.alice, &tried, "1 Worked").await;
    watched
        .posts(message("[RESOLVED] PoolEmpty", &[], &[pool()]))
        .await;
    watched.minutes(23 * 60).await;
    let outcome = async |watched: &Watched| {
        let store = watched.at.app.as_ref().expect("the bot runs").store();
        let incident = watched.known(13).await;
        let scope = precedent::store::Scope::new(incident.guild.clone(), incident.channel.clone());
        let attempts = store
            .attempts(&scope, incident.id())
            .await
            .expect("attempts");
        (attempts[0].fix.outcome, attempts[0].fix.by.clone())
    };
    assert_eq!(outcome(&watched).await.0, Outcome::Mitigated);
    watched.minutes(2 * 60).await;
    assert_eq!(outcome(&watched).await, (Outcome::Held, "alert".to_owned()));
    watched
        .said(&card, "✅ 24 hours without the alert: *Stop the refund job and restart payments-api* counts as held.")
        .await;
    watched.ends().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_goes_on_and_off_is_one_incident_that_is_quiet_for_ten_minutes_first() {
    let watched = Watched::begins(Given::default(), json!({})).await;
    for _ in 0..4 {
        watched
            .posts(fires("HighErrorRate", "payments-api", "critical"))
            .await;
        watched.minutes(2).await;
        watched
            .posts(over("HighErrorRate", "payments-api", "critical"))
            .await;
    }
    watched.minutes(1).await;
    let card = watched.card();
    assert!(card.shows("Flapping") && card.shows("fired 4x"), "{card}");
    let count = |watched: &Watched| {
        let posts = watched.at.discord.posts(ChannelId(card.id.0));
        posts
            .iter()
            .filter(|post| post.shows("no longer fires"))
            .count()
    };
    assert_eq!(count(&watched), 0);
    watched.minutes(10).await;
    assert_eq!(count(&watched), 1);
    assert_eq!(watched.incidents().await.len(), 1);
    watched.ends().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_a_private_channel_tells_stays_there_and_another_guild_sees_nothing() {
    let watched = Watched::begins(Given::default(), json!({})).await;
    let at = &watched.at;
    let bot = at.discord.bot();
    let private = at
        .discord
        .private_channel(at.guild, "security", &[at.alice, bot]);
    let there = watched.watches(private, "watch alerts", json!({})).await;
    assert!(there.shows("The channel is private"), "{there}");
    watched.watches(private, "watch changes", json!({})).await;
    let message = at.discord.webhook_post(
        private,
        "Alertmanager",
        "",
        &[fires("TokenLeaked", "vault-agent", "critical")],
    );
    watched.done(&format!("told/{private}/{message}")).await;
    at.idle().await;
    let incident = watched.known(1).await;
    assert!(incident.private && incident.channel == private.to_string());
    // Elsewhere neither the list nor the alert of the same names it.
    let list = watched.alone("watch list", json!({})).await;
    assert!(
        !list.shows("vault-agent") && !list.shows(&private.to_string()),
        "{list}"
    );
    let listed = watched.alone("incident list", json!({})).await;
    assert!(!listed.shows("INC-0001"), "{listed}");
    watched
        .posts(fires("TokenLeaked", "vault-agent", "critical"))
        .await;
    let card = watched.card();
    assert!(card.shows("INC-0002"), "{card}");
    // Another guild.
    let other = at.discord.guild("initech");
    let channel = at.discord.channel(other, "alerts");
    let eve = at.discord.member(other, "eve");
    at.discord.grant(other, eve, MANAGE_GUILD);
    at.discord.webhook_post(
        channel,
        "Alertmanager",
        "",
        &[fires("HighErrorRate", "payments-api", "critical")],
    );
    let asked = at.discord.slash(eve, channel, "watch list", json!({}));
    let list = asked.original().await;
    assert!(list.shows("No channel is watched here"), "{list}");
    assert!(at.discord.posts(channel).iter().all(|post| !post.by_bot));
    let there = at.discord.posts_for(Some(at.alice), private);
    assert!(
        there
            .iter()
            .any(|post| post.by_bot && post.shows("TokenLeaked"))
    );
    watched.ends().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn changes_before_a_report_are_facts_with_times_for_people_and_the_model() {
    let memory = [refund_job(12, "2026-05-14", "held")];
    let mut answer = analysis_answer(&["INC-0012"], "SEV2");
    answer["hypotheses"][1]["title"] = json!("Release v1.4.2 holds connections longer");
    answer["hypotheses"][1]["verify"] = json!("Compare v1.4.2 with v6.6.6");
    let model = model(answer).await;
    let given = Given {
        memory: &memory,
        model: Some(model),
        ..Given::default()
    };
    let watched = Watched::begins(given, json!({})).await;
    let at = &watched.at;
    let deploys = at.discord.channel(at.guild, "deploys");
    let answer = watched.watches(deploys, "watch changes", json!({})).await;
    assert!(answer.shows("changes are kept for 7 days"), "{answer}");
    let set = watched
        .alone("service set", json!({"name": "payments-api"}))
        .await;
    assert!(set.shows("payments-api"), "{set}");
    for text in [
        "Deployed payments-api v1.4.2 to production",
        "Deployed search v9.9.9 to production",
    ] {
        let told = at.discord.webhook_post(deploys, "ci", text, &[]);
        watched.done(&format!("told/{deploys}/{told}")).await;
    }
    at.idle().await;
    minutes_pass(at, 30).await;
    let report = at
        .analyze_with(json!({"report": REFUND_REPORT, "service": "payments-api"}))
        .await;
    at.thread(&report).await;
    at.idle().await;
    let headline = report.original().await;
    assert!(
        headline.shows("**Changes to payments-api in the last 6 hours**")
            && headline.shows("deploy")
            && headline.shows("v1.4.2")
            && !headline.shows("v9.9.9"),
        "{headline}"
    );
    assert!(!headline.shows("cause"), "{headline}");
    let model = at.model.as_ref().expect("a model");
    let asked = model.requests_for(Task::Analysis);
    let user = asked[0].text_of("user");
    let block = user
        .split("<recent_changes>")
        .nth(1)
        .and_then(|rest| rest.split("</recent_changes>").next())
        .expect("the block is there");
    assert!(
        block.contains("UTC deploy done") && block.contains("v1.4.2"),
        "{block}"
    );
    assert!(!block.contains("v9.9.9"), "{block}");
    // What was changed may be named; what nobody told may not.
    let thread = at.thread(&report).await;
    let cards = at
        .discord
        .await_message(thread, |post| {
            post.shows("Release v1.4.2 holds connections longer")
        })
        .await;
    assert!(!cards.shows("v6.6.6"), "{cards}");
    watched.ends().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_forgotten_incident_leaves_no_alert_behind() {
    let watched = Watched::begins(Given::default(), json!({})).await;
    watched
        .posts(fires("SecretRule", "payments-api", "critical"))
        .await;
    watched
        .posts(fires("HighErrorRate", "order-service", "critical"))
        .await;
    watched.minutes(1).await;
    watched.status(1, Status::FalseAlarm).await;
    let asked = watched
        .alone("memory forget", json!({"id": "INC-0001"}))
        .await;
    assert!(asked.shows("can't be undone"), "{asked}");
    watched
        .press(watched.at.alice, &asked, "Forget INC-0001")
        .await;
    let pool = crate::homes::beside(&watched.at.config.database_url).await;
    for select in [
        "SELECT count(*) FROM alert WHERE alert LIKE '%SecretRule%'",
        "SELECT count(*) FROM alert_channel WHERE state LIKE '%SecretRule%'",
        "SELECT count(*) FROM alert_channel WHERE state LIKE '%secretrule%'",
        "SELECT count(*) FROM incident_alert WHERE number = 1",
    ] {
        let left: i64 = precedent::database::query_scalar(select)
            .fetch_one(&pool)
            .await
            .expect("rows can be counted");
        assert_eq!(left, 0, "{select}");
    }
    pool.close().await;
    // The other stays, and the alert may come again.
    assert_eq!(watched.known(2).await.past.title, "HighErrorRate");
    watched
        .posts(fires("SecretRule", "payments-api", "critical"))
        .await;
    assert_eq!(watched.known(3).await.past.title, "SecretRule");
    watched.ends().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_card_in_chinese() {
    let given = Given {
        locale: Some("zh-CN"),
        ..Given::default()
    };
    let watched = Watched::begins(given, json!({})).await;
    watched
        .posts(fires("支付失败率过高", "payments-api", "critical"))
        .await;
    let card = watched.card();
    for part in ["告警 1 次，最近", "由此建议 SEV2，尚无人确认", "分析"] {
        assert!(card.shows(part), "{part}\n{card}");
    }
    watched.ends().await;
}

/// When the bot wrote which message of a channel.
struct Written {
    channel: ChannelId,
    bot: UserId,
    changes: tokio::sync::broadcast::Receiver<standin::Change>,
    at: std::collections::BTreeMap<String, Vec<Instant>>,
    /// Each as it was last seen: that a thread was begun from it is no writing of it.
    seen: std::collections::BTreeMap<String, Value>,
}

impl Written {
    /// Takes what came since the last look.
    fn look(&mut self) {
        while let Ok(change) = self.changes.try_recv() {
            let data = &change.data;
            let ours = data["author"]["id"] == json!(self.bot.to_string());
            let here = data["channel_id"] == json!(self.channel.to_string());
            if ours && here && ["MESSAGE_CREATE", "MESSAGE_UPDATE"].contains(&change.name) {
                let id = data["id"].as_str().unwrap_or_default().to_owned();
                let now = json!([data["content"], data["embeds"], data["components"]]);
                if self.seen.insert(id.clone(), now.clone()) == Some(now) {
                    continue;
                }
                self.at.entry(id).or_default().push(Instant::now());
            }
        }
    }

    /// The shortest time between two writes of one message.
    fn closest(&self) -> Option<Duration> {
        let pairs = self.at.values().flat_map(|times| times.windows(2));
        pairs.map(|pair| pair[1].duration_since(pair[0])).min()
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn two_hundred_alerts_make_a_card_for_each_service_and_few_edits() {
    storm(Duration::from_millis(5), "always").await;
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "takes twenty seconds: the storm at its own pace, with figures"]
async fn two_hundred_alerts_in_ten_seconds() {
    storm(Duration::from_millis(50), "on_button").await;
    storm(Duration::from_millis(50), "always").await;
}

#[expect(clippy::print_stdout, reason = "figures for whoever measures")]
async fn storm(between: Duration, analysis: &str) {
    let services = [
        "payments-api",
        "order-service",
        "search",
        "billing",
        "mailer",
    ];
    let model = model(analysis_answer(&[], "SEV2")).await;
    let given = Given {
        model: Some(model),
        ..Given::default()
    };
    let watched = Watched::begins(given, json!({"analysis": analysis})).await;
    let gateway = watched.at.discord.gateway();
    let mut written = Written {
        channel: watched.alerts,
        bot: watched.at.discord.bot(),
        changes: watched.at.discord.events(),
        at: std::collections::BTreeMap::new(),
        seen: std::collections::BTreeMap::new(),
    };
    let started = Instant::now();
    let mut last = MessageId(0);
    let before = heartbeats(&gateway);
    let mut latest = Duration::ZERO;
    for number in 0..200_usize {
        let service = services[number % services.len()];
        let name = ["HighErrorRate", "HighLatency", "QueueFull"][number % 3];
        let embed = [fires(name, service, "critical")];
        last = watched
            .at
            .discord
            .webhook_post(watched.alerts, "Alertmanager", "", &embed);
        if number % 10 == 0 {
            // Discord asks for a heartbeat: how long does one take?
            let (asked, count) = (Instant::now(), heartbeats(&gateway));
            gateway.request_heartbeat();
            until("a heartbeat", async || heartbeats(&gateway) > count).await;
            latest = latest.max(asked.elapsed());
        }
        tokio::time::sleep(between).await;
        written.look();
    }
    watched
        .done(&format!("told/{}/{last}", watched.alerts))
        .await;
    watched.at.idle().await;
    written.look();
    let took = started.elapsed();
    let cards = watched.cards();
    assert_eq!(cards.len(), services.len(), "{cards:?}");
    assert!(
        latest < Duration::from_secs(1),
        "a heartbeat took {latest:?}"
    );
    let writes: Vec<usize> = written.at.values().map(Vec::len).collect();
    // What an analysis says of an incident it says once beside that.
    let always = analysis == "always";
    let most = usize::try_from(took.as_secs() / 5).unwrap_or(0) + 1 + usize::from(always);
    assert!(
        writes.iter().all(|writes| *writes <= most),
        "{writes:?} in {took:?}"
    );
    let closest = written.closest();
    assert!(
        always || closest.is_none_or(|closest| closest >= Duration::from_millis(4_900)),
        "{closest:?}"
    );
    watched.minutes(1).await;
    let firing: u32 = watched
        .cards()
        .iter()
        .map(|card| {
            let text = card.to_text();
            text.split("firing ")
                .skip(1)
                .filter_map(|rest| rest.split('x').next()?.parse::<u32>().ok())
                .sum::<u32>()
        })
        .sum();
    assert_eq!(firing, 200, "every message counts");
    let asked = watched
        .at
        .model
        .as_ref()
        .expect("a model")
        .requests_for(Task::Analysis)
        .len();
    assert!(asked <= 3, "{asked}");
    println!(
        "200 alerts in {took:?}, analyzed {analysis}: {} cards, written {writes:?} times, at least {closest:?} apart; \
         {asked} analyses by the model; {} heartbeats, the slowest {latest:?}",
        cards.len(),
        heartbeats(&gateway) - before,
    );
    watched.ends().await;
}

fn heartbeats(gateway: &standin::GatewayHandle) -> usize {
    gateway
        .acts()
        .iter()
        .filter(|act| matches!(act, standin::gateway::ClientAct::Heartbeat))
        .count()
}

/// Steps at which the program is killed while it handles an alert.
pub(super) const KILLED_AT: [&str; 2] = ["alerts", "card"];

/// Killed while an alert is handled and started again: one card, one thread, one incident.
async fn killed_at(step: &str) {
    let at = durable::prepared(None).await;
    let alerts = at.discord.channel(at.guild, "alerts");
    at.discord.grant(at.guild, at.alice, MANAGE_GUILD);
    let path = durable::step_file(&at);
    let process = durable::Process::starts(&at, Some((step, &path)));
    at.discord.gateway().connected().await;
    at.discord.commands_registered(at.guild).await;
    let watch = json!({"channel": alerts.to_string()});
    let asked = at.discord.slash(at.alice, alerts, "watch alerts", watch);
    asked.original().await;
    let fires = fires("HighErrorRate", "payments-api", "critical");
    at.discord
        .webhook_post(alerts, "Alertmanager", "", &[fires]);
    durable::reached(&path).await;
    process.kill();
    let process = durable::Process::starts(&at, None);
    let card = at
        .discord
        .await_message(alerts, |post| has_button(post, "I'll lead"))
        .await;
    let thread = at.discord.await_thread(card.id).await;
    assert!(process.end().await.success());
    let posts = at.discord.posts(alerts);
    let cards = posts.iter().filter(|post| has_button(post, "I'll lead"));
    assert_eq!(cards.count(), 1, "{step}: {posts:#?}");
    assert_eq!(at.discord.threads(alerts), [thread], "{step}");
    at.ends().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn killed_with_an_alert_kept_it_goes_on() {
    killed_at("alerts").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn killed_with_a_card_posted_it_posts_no_second_one() {
    killed_at("card").await;
}

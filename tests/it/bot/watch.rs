//! Channels that are watched: alerts become incidents by stated rules, a storm stays small, changes
//! are facts beside a report.

use super::clock::minutes_pass;
use super::opened::{ends, has_button, model, until};
use super::{Given, Incident, REFUND_REPORT, refund_job};
use precedent::incident::{IncidentId, Outcome, Status};
use precedent::store::Filter;
use serde_json::{Value, json};
use standin::llm::ChatModel;
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
    let mut text = format!("Labels:\n - alertname = {name}\n - service = {service}\n");
    for (label, value) in labels {
        text.push_str(&format!(" - {label} = {value}\n"));
    }
    text.push_str(&format!(
        "Annotations:\n - summary = {name} on {service}\n\
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

    fn thread_text(&self, card: &Post) -> String {
        let thread = ChannelId(card.id.0);
        self.at
            .discord
            .posts(thread)
            .iter()
            .map(|post| post.to_text())
            .collect::<Vec<_>>()
            .join("\n")
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
    let cards = watched.cards();
    assert_eq!(cards.len(), 2);
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

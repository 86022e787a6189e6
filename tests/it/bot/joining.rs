//! One incident, one thread (R32): who reports what runs already is asked, joins, or stays apart.

use super::clock::minutes_pass;
use super::opened::Opened;
use super::{Given, REFUND_REPORT, refund_job};
use precedent::incident::{IncidentId, Status};
use serde_json::{Value, json};
use standin::permissions::{MANAGE_GUILD, MANAGE_THREADS};
use standin::{Interaction, UserId};

/// What bob sees of the same outage.
const BOBS: &str = "can't pay any more, payments-api says:\nERROR TillPool - no connection available, timed out after 30004ms";

async fn opened() -> Opened {
    let memory = [refund_job(12, "2026-05-14", "held")];
    Opened::with(
        Given {
            memory: &memory,
            ..Given::default()
        },
        json!({"report": REFUND_REPORT}),
    )
    .await
}

impl Opened {
    fn member(&self, name: &str) -> UserId {
        self.at.discord.member(self.at.guild, name)
    }

    async fn reports(&self, who: UserId, options: Value) -> Interaction {
        let report = self
            .at
            .discord
            .slash(who, self.at.channel, "analyze", options);
        report.original().await;
        self.at.idle().await;
        report
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

    async fn count_incidents(&self) -> usize {
        let store = self.at.app.as_ref().expect("the bot runs").store();
        let listed = store
            .list(&self.scope(), &precedent::store::Filter::default())
            .await;
        let listed = listed.expect("incidents can be listed");
        listed.iter().filter(|one| one.headline.is_some()).count()
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn three_people_who_report_one_outage_get_one_incident() {
    let opened = opened().await;
    let (bob, carol) = (opened.member("bob"), opened.member("carol"));
    // Bob is asked alone, and says yes.
    let bobs = opened.reports(bob, json!({"report": BOBS})).await;
    assert!(
        bobs.original()
            .await
            .shows("bob's report looks like INC-0013, which runs already"),
        "{:?}",
        bobs.original().await
    );
    let offer = bobs.next_followup().await;
    assert_eq!(offer.ephemeral_for, Some(bob), "asked alone");
    assert!(offer.shows("**INC-0013**, 0 min old"), "{offer}");
    let yes = opened.press(bob, &offer, "Add my report there").await;
    opened.said("➕ bob reports the same:").await;
    let public = bobs.original().await;
    assert!(
        public.shows("bob's report is part of INC-0013 (#"),
        "{public}"
    );
    yes.forget();
    // Carol says nothing: after a minute hers joins by itself.
    let carols = opened
        .reports(
            carol,
            json!({"report": BOBS.replace("can't pay", "card payments fail")}),
        )
        .await;
    carols.next_followup().await;
    assert_eq!(
        opened.count("carol reports the same"),
        0,
        "not before a minute is over"
    );
    minutes_pass(&opened.at, 1).await;
    opened.at.idle().await;
    opened.said("➕ carol reports the same:").await;
    assert_eq!(opened.count_incidents().await, 1);
    let evidence: Vec<String> = opened
        .stored()
        .await
        .report
        .expect("a report")
        .thread
        .iter()
        .map(|message| message.author.clone())
        .collect();
    assert_eq!(evidence, ["bob", "carol"]);
    // Both count as news for the next analysis.
    let offer = opened.said("2 new messages since the last analysis").await;
    opened
        .press(opened.at.alice, &offer, "Re-analyze with 2 new messages")
        .await;
    opened.cards(2).await;
    opened.checklist(2).await;
    opened.ends().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_report_joins_once_whatever_discord_answers_meanwhile() {
    let opened = opened().await;
    let bob = opened.member("bob");
    let bobs = opened.reports(bob, json!({"report": BOBS})).await;
    let offer = bobs.next_followup().await;
    let away = standin::Failure::error(503, 0, "away");
    opened
        .at
        .discord
        .fail_times("POST", "/channels/*/messages", away, 3);
    opened.press(bob, &offer, "Add my report there").await;
    super::faults::settled(&opened.at).await;
    opened.said("➕ bob reports the same:").await;
    assert_eq!(opened.count("bob reports the same"), 1);
    let thread = opened.stored().await.report.expect("a report").thread;
    assert_eq!(thread.len(), 1, "{thread:?}");
    opened.said("1 new message since the last analysis").await;
    super::opened::ends(opened.at).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_report_stays_apart_at_once_or_afterwards() {
    let opened = opened().await;
    let (bob, carol) = (opened.member("bob"), opened.member("carol"));
    let bobs = opened.reports(bob, json!({"report": BOBS})).await;
    let offer = bobs.next_followup().await;
    opened.press(bob, &offer, "Separate").await;
    let headline = bobs.original().await;
    assert!(headline.shows("INC-0014"), "{headline}");
    minutes_pass(&opened.at, 1).await;
    opened.at.idle().await;
    assert_eq!(
        opened.count("reports the same"),
        0,
        "it does not join after all"
    );
    // Another one joins by itself and is taken out again.
    let carols = opened
        .reports(
            carol,
            json!({"report": BOBS.replace("can't pay", "card payments fail")}),
        )
        .await;
    carols.next_followup().await;
    minutes_pass(&opened.at, 1).await;
    opened.at.idle().await;
    // The newest that runs is the one it joins.
    let thread = opened.at.discord.await_thread(headline.id).await;
    let joined = opened
        .at
        .discord
        .await_message(thread, |post| post.shows("➕ carol reports the same:"))
        .await;
    opened.press(carol, &joined, "Separate").await;
    opened
        .at
        .discord
        .await_edit(&joined, |post| {
            post.shows("carol's report is an incident of its own, says carol")
        })
        .await;
    assert!(
        carols.original().await.shows("INC-0015"),
        "{:?}",
        carols.original().await
    );
    let left = opened.known(14).await.report.expect("a report").thread;
    assert_eq!(left, [], "the evidence went with it");
    super::opened::ends(opened.at).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn nothing_is_joined_across_a_border_or_long_after() {
    let opened = opened().await;
    let bob = opened.member("bob");
    // A channel that not everybody sees.
    let bot = opened.at.discord.bot();
    let private = opened
        .at
        .discord
        .private_channel(opened.at.guild, "security", &[bob, bot]);
    let there = opened
        .at
        .discord
        .slash(bob, private, "analyze", json!({"report": BOBS}));
    let headline = there.original().await;
    opened.at.idle().await;
    assert!(headline.shows("INC-0014") || there.original().await.shows("INC-0014"));
    // Resolved three hours ago: another incident.
    let store = opened.at.app.as_ref().expect("the bot runs").store();
    store
        .set_status(
            &opened.scope(),
            opened.id(),
            Status::Resolved,
            "alice",
            jiff::Timestamp::now(),
        )
        .await
        .expect("it can be resolved");
    minutes_pass(&opened.at, 3 * 60).await;
    let later = opened.reports(bob, json!({"report": BOBS})).await;
    assert!(
        later.original().await.shows("INC-0015"),
        "{:?}",
        later.original().await
    );
    super::opened::ends(opened.at).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_same_error_elsewhere_is_shown_as_ongoing_and_can_be_merged_and_parted() {
    let opened = opened().await;
    let bob = opened.member("bob");
    let elsewhere = opened
        .reports(
            bob,
            json!({
                "report": "orders hang\nERROR TillPool - no connection available, timed out after 30000ms",
                "service": "order-service",
            }),
        )
        .await;
    let headline = elsewhere.original().await;
    assert!(
        headline.shows("payments-api open since")
            && headline.shows("with the same error (INC-0013): one outage?"),
        "{headline}"
    );
    let thread = opened.at.discord.await_thread(headline.id).await;
    let mallory = opened.member("mallory");
    let refused = opened
        .press(mallory, &headline, "Merge with INC-0013")
        .await;
    assert!(refused.next_followup().await.shows("Manage Threads"));
    opened.press(bob, &headline, "Merge with INC-0013").await;
    let merged = opened
        .at
        .discord
        .await_message(thread, |post| {
            post.shows("🔀 bob merged this with INC-0013")
        })
        .await;
    opened.said("🔀 bob merged INC-0014 with this").await;
    let one = opened.known(14).await;
    assert_eq!(
        (one.status, one.past.duplicate_of),
        (Status::Merged, Some(opened.id()))
    );
    assert!(elsewhere.original().await.shows("merged"));
    let thread_of = opened.stored().await.report.expect("a report").thread;
    assert_eq!(thread_of.len(), 1);
    assert!(
        thread_of[0].text.starts_with("orders hang"),
        "{thread_of:?}"
    );
    // And back.
    opened.press(bob, &merged, "Separate").await;
    opened
        .at
        .discord
        .await_message(thread, |post| post.shows("Not one with INC-0013 after all"))
        .await;
    let one = opened.known(14).await;
    assert_eq!(
        (one.status, one.past.duplicate_of),
        (Status::Investigating, None)
    );
    assert_eq!(opened.stored().await.report.expect("a report").thread, []);
    super::opened::ends(opened.at).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_forgotten_takes_its_words_out_of_what_it_was_merged_into() {
    let opened = opened().await;
    let bob = opened.member("bob");
    let elsewhere = opened
        .reports(
            bob,
            json!({
                "report": "orders hang\nERROR TillPool - no connection available, timed out after 30000ms",
                "service": "order-service",
            }),
        )
        .await;
    let headline = elsewhere.original().await;
    opened.press(bob, &headline, "Merge with INC-0013").await;
    opened.said("🔀 bob merged INC-0014 with this").await;
    let told = async || opened.stored().await.report.expect("a report").thread;
    assert!(told().await[0].text.starts_with("orders hang"));
    opened
        .at
        .discord
        .grant(opened.at.guild, opened.at.alice, MANAGE_GUILD);
    let asked = opened.at.discord.slash(
        opened.at.alice,
        opened.at.channel,
        "memory forget",
        json!({"id": "INC-0014"}),
    );
    let question = asked.ephemeral().await;
    opened
        .press(opened.at.alice, &question, "Forget INC-0014")
        .await;
    opened.at.idle().await;
    assert_eq!(
        told().await,
        [],
        "its words are gone from the other's report"
    );
    super::opened::ends(opened.at).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_keeps_coming_says_how_often_and_which_prevention_is_open() {
    let day = |ago: i64| {
        let at = jiff::Timestamp::now() - jiff::SignedDuration::from_hours(24 * ago);
        at.strftime("%Y-%m-%d").to_string()
    };
    let mut first = refund_job(11, &day(25), "held");
    first["prevention"] = json!("Give the refund job a pool of its own");
    let memory = [first, refund_job(12, &day(12), "held")];
    let opened = Opened::with(
        Given {
            memory: &memory,
            ..Given::default()
        },
        json!({"report": REFUND_REPORT}),
    )
    .await;
    let headline = opened.report.original().await;
    assert!(
        headline.shows("↻ 3rd time in 30 days · prevention from INC-0011 still open"),
        "{headline}"
    );
    opened
        .at
        .discord
        .grant(opened.at.guild, opened.at.alice, MANAGE_THREADS);
    let done = opened.at.discord.slash(
        opened.at.alice,
        opened.thread,
        "incident set",
        json!({"prevention": "done", "id": "INC-0011"}),
    );
    assert!(done.original().await.shows("INC-0011 is changed"));
    super::opened::ends(opened.at).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_report_an_hour_after_it_was_resolved_runs_it_again() {
    let opened = opened().await;
    let bob = opened.member("bob");
    let store = opened.at.app.as_ref().expect("the bot runs").store();
    store
        .set_status(
            &opened.scope(),
            opened.id(),
            Status::Resolved,
            "alice",
            jiff::Timestamp::now(),
        )
        .await
        .expect("it can be resolved");
    minutes_pass(&opened.at, 60).await;
    let bobs = opened.reports(bob, json!({"report": BOBS})).await;
    let offer = bobs.next_followup().await;
    assert!(
        offer.shows("resolved 1 h ago") && offer.shows("Is it back?"),
        "{offer}"
    );
    minutes_pass(&opened.at, 1).await;
    opened.at.idle().await;
    opened
        .said("➕ bob reports the same: this runs again.")
        .await;
    let stored = opened.stored().await;
    assert_eq!(stored.status, Status::Investigating);
    assert_eq!((stored.past.resolved_at, stored.mitigated_at), (None, None));
    super::opened::ends(opened.at).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_false_alarm_within_the_minute_swallows_no_report() {
    let opened = opened().await;
    let bob = opened.member("bob");
    let bobs = opened.reports(bob, json!({"report": BOBS})).await;
    bobs.next_followup().await;
    let headline = opened.report.original().await;
    opened
        .press(opened.at.alice, &headline, "False alarm")
        .await;
    minutes_pass(&opened.at, 1).await;
    opened.at.idle().await;
    let asked = bobs.original().await;
    opened
        .at
        .discord
        .await_edit(&asked, |post| post.shows("INC-0014"))
        .await;
    opened.at.idle().await;
    assert_eq!(opened.count("reports the same"), 0);
    super::opened::ends(opened.at).await;
}

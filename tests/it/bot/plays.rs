//! A night played through, minute by minute: the shift changes while the incident runs.

use super::clock::minutes_pass;
use super::opened::{Opened, analysis_answer, model};
use super::{Given, REFUND_REPORT, refund_job};
use serde_json::{Value, json};
use standin::permissions::MANAGE_THREADS;
use standin::{Post, UserId};

/// Somebody says something of the incident with `/incident set`.
async fn set(opened: &Opened, who: UserId, options: Value) {
    let discord = &opened.at.discord;
    let command = discord.slash(who, opened.thread, "incident set", options);
    let done = command.original().await;
    assert!(done.shows("is changed"), "{done}");
    opened.at.idle().await;
}

async fn catches_up(opened: &Opened, who: UserId) -> Post {
    let discord = &opened.at.discord;
    let asked = discord.slash(who, opened.thread, "catchup", json!({}));
    asked.ephemeral().await
}

async fn minutes(opened: &Opened, minutes: i64) {
    minutes_pass(&opened.at, minutes).await;
    opened.at.idle().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_shift_changes_and_who_takes_over_knows_what_there_is_to_know() {
    let opened = Opened::with(
        Given {
            memory: &[refund_job(12, "2026-05-14", "held")],
            model: Some(model(analysis_answer(&["INC-0012"], "SEV2")).await),
            ..Given::default()
        },
        json!({"report": REFUND_REPORT, "severity": "SEV2"}),
    )
    .await;
    let alice = opened.at.alice;
    let named = |name: &str| opened.at.discord.member(opened.at.guild, name);
    let (ben, chen) = (named("ben"), named("chen"));
    opened
        .at
        .discord
        .grant(opened.at.guild, ben, MANAGE_THREADS);

    // Minute 0 to 20: Alice leads, says the impact, tries what held before; it does not help.
    let headline = opened.report.original().await;
    opened.press(alice, &headline, "I'll lead").await;
    set(&opened, alice, json!({"how_many": "about 8 % of card payments", "what": "fail", "workaround": "trying again"})).await;
    let cards = opened.cards(1).await;
    opened.press(alice, &cards, "1 Trying this fix").await;
    minutes(&opened, 15).await;
    let question = opened.said("How did the fix go that alice tried?").await;
    opened.press(alice, &question, "No effect").await;
    let second = opened.cards(2).await;
    assert!(second.shows("Analysis 2"), "{second}");
    assert!(
        opened.checklist(2).await.shows("Do not repeat"),
        "what failed is not tried by who comes next"
    );

    // Minute 35: Ben's shift begins. Five lines are what he reads.
    minutes(&opened, 20).await;
    let caught = catches_up(&opened, ben).await;
    assert_eq!(caught.ephemeral_for, Some(ben));
    for part in [
        "SEV2",
        "open 35 min",
        "about 8 % of card payments · fail",
        "Stop the refund job and restart payments-api (no effect, alice",
        "**Lead** alice",
    ] {
        assert!(caught.shows(part), "{part} in {caught}");
    }
    assert_eq!(caught.content.lines().count(), 5, "{caught}");

    // He takes over; Chen speaks for it from now on. The thread is told once each, nobody is pinged.
    let headline = opened.report.original().await;
    opened.press(ben, &headline, "I'll lead").await;
    opened
        .said("👤 ben leads now, taking over from alice.")
        .await;
    set(&opened, ben, json!({"comms": chen.to_string()})).await;
    let headline = opened.report.original().await;
    for part in ["Lead: ben", "chen"] {
        assert!(headline.shows(part), "{part} in {headline}");
    }
    let update = opened.update(2).await;
    opened.press(chen, &update, "Refresh").await;
    let update = opened.shows(&update, "ben leads now").await;
    assert!(update.shows("Lead: ben"), "{update}");

    // Minute 50: mitigated by another way, and the next shift reads that.
    minutes(&opened, 15).await;
    let headline = opened.report.original().await;
    opened.press(ben, &headline, "Mitigated").await;
    let caught = catches_up(&opened, alice).await;
    for part in ["mitigated", "**Lead** ben"] {
        assert!(caught.shows(part), "{part} in {caught}");
    }
    let asked = opened
        .at
        .discord
        .slash(chen, opened.thread, "incident timeline", json!({}));
    let told = asked.ephemeral().await;
    let timeline = told.to_text();
    let order = [
        "alice: reported",
        "analysis 1",
        "alice: lead: – → alice",
        "no effect",
        "ben: lead: alice → ben",
        "chen: update (Internal)",
        "ben: status: ",
    ];
    let places: Vec<Option<usize>> = order.iter().map(|word| timeline.find(word)).collect();
    assert!(
        places.iter().all(Option::is_some) && places.is_sorted(),
        "{places:?} in {timeline}"
    );
    opened.ends().await;
}

//! Several fixes of one incident: who tries what, seen by all who try; and what failed stays behind.

use super::opened::{Opened, analysis_answer, is_frozen, model};
use super::{Given, REFUND_REPORT, refund_job};
use precedent::incident::Outcome;
use precedent::store::Attempt;
use serde_json::json;
use standin::{Failure, UserId};

const RESTART: &str = "Stop the refund job and restart payments-api";
const POOL: &str = "Raise the pool of payments-api to 60 connections";

async fn opened() -> Opened {
    opened_in(None).await
}

async fn opened_in(locale: Option<&str>) -> Opened {
    let memory = [
        refund_job(12, "2026-05-14", "held"),
        refund_job(41, "2026-09-23", "held"),
    ];
    let mut answer = analysis_answer(&["INC-0041", "INC-0012"], "SEV3");
    answer["hypotheses"][1]["fix"] = json!(POOL);
    Opened::with(
        Given {
            memory: &memory,
            model: Some(model(answer).await),
            locale,
            ..Given::default()
        },
        json!({"report": format!("{REFUND_REPORT}\nThe pool of payments-api has 60 connections at most.")}),
    )
    .await
}

fn named(opened: &Opened, name: &str) -> UserId {
    opened.at.discord.member(opened.at.guild, name)
}

async fn attempts(opened: &Opened) -> Vec<Attempt> {
    let store = opened.at.app.as_ref().expect("the bot runs").store();
    store
        .attempts(&opened.scope(), opened.id())
        .await
        .expect("attempts can be read")
}

#[tokio::test(flavor = "multi_thread")]
async fn two_who_try_two_fixes_see_each_other() {
    let opened = opened().await;
    let (alice, ben) = (opened.at.alice, named(&opened, "ben"));
    let cards = opened.cards(1).await;
    let first = opened.press(alice, &cards, "1 Trying this fix").await;
    opened.said("🔧 alice is trying: Stop the refund job").await;
    assert!(first.followups().is_empty(), "nobody else tries anything");
    let cards = opened.cards(1).await;
    let second = opened.press(ben, &cards, "2 Trying this fix").await;
    let said = opened.said("Two fixes at once").await;
    for part in [
        "Talk first.",
        "alice, since <t:",
        RESTART,
        "ben, from now on: Raise the pool",
    ] {
        assert!(said.shows(part), "{part} in {said}");
    }
    let told = second.next_followup().await;
    assert_eq!(told.ephemeral_for, Some(ben));
    assert!(
        told.shows("Somebody else is trying a fix of this incident")
            && told.shows("alice, since <t:")
            && told.shows(RESTART),
        "{told}"
    );
    assert_eq!(attempts(&opened).await.len(), 2);
    // What is over is tried by nobody: the third is alone with the second.
    let cards = opened.cards(1).await;
    opened.press(alice, &cards, "1 Worked").await;
    opened.press(ben, &cards, "2 Worked").await;
    assert_eq!(opened.count("Two fixes at once"), 1);
    opened.ends().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn whose_fix_ended_is_not_in_anybodys_way() {
    let opened = opened().await;
    let (alice, ben) = (opened.at.alice, named(&opened, "ben"));
    let cards = opened.cards(1).await;
    opened.press(alice, &cards, "1 Trying this fix").await;
    let cards = opened.cards(1).await;
    opened.press(alice, &cards, "1 Worked").await;
    let cards = opened.cards(1).await;
    let press = opened.press(ben, &cards, "2 Trying this fix").await;
    opened.said("🔧 ben is trying: Raise the pool").await;
    assert!(press.followups().is_empty());
    assert_eq!(opened.count("Two fixes at once"), 0);
    // And one person who tries two things knows it.
    let cards = opened.cards(1).await;
    opened.press(ben, &cards, "1 Made it worse").await;
    let second = opened.cards(2).await;
    opened.at.idle().await;
    assert!(second.shows("Analysis 2"), "{second}");
    opened.ends().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_same_fix_by_two_people_is_said_as_that() {
    let opened = opened().await;
    let (alice, ben) = (opened.at.alice, named(&opened, "ben"));
    let cards = opened.cards(1).await;
    opened.press(alice, &cards, "1 Trying this fix").await;
    // His client shows the card as it was.
    let press = opened
        .at
        .discord
        .click_as_seen(ben, &cards, "1 Trying this fix");
    press.response().await;
    opened.at.idle().await;
    let said = opened.said("Two people try the same fix").await;
    assert!(
        said.shows("alice, since <t:") && said.shows("ben, from now on:"),
        "{said}"
    );
    let told = press.next_followup().await;
    assert!(
        told.shows("Somebody else is trying the same fix already"),
        "{told}"
    );
    let all = attempts(&opened).await;
    assert!(all.len() == 1 && !all[0].withdrawn, "{all:?}");
    assert_eq!(all[0].fix.by, "alice");
    opened.ends().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn two_fixes_at_once_in_chinese() {
    let opened = opened_in(Some("zh-CN")).await;
    let (alice, ben) = (opened.at.alice, named(&opened, "ben"));
    let cards = opened.cards(1).await;
    opened.press(alice, &cards, "1 正在尝试此修复").await;
    let cards = opened.cards(1).await;
    let press = opened.press(ben, &cards, "2 正在尝试此修复").await;
    let said = opened.said("两项修复同时进行").await;
    assert!(
        said.shows("请先沟通") && said.shows("ben，现在开始"),
        "{said}"
    );
    assert!(press.next_followup().await.shows("Talk to them"));
    opened.ends().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn after_no_effect_and_after_made_it_worse_old_cards_freeze_and_say_so() {
    for outcome in ["1 No effect", "1 Made it worse"] {
        let opened = opened().await;
        let alice = opened.at.alice;
        let cards = opened.cards(1).await;
        opened.press(alice, &cards, "1 Trying this fix").await;
        let cards = opened.cards(1).await;
        opened.press(alice, &cards, outcome).await;
        opened.cards(2).await;
        opened.at.idle().await;
        for old in [opened.cards(1).await, opened.checklist(1).await] {
            assert!(old.shows("Replaced by analysis 2"), "{outcome}: {old}");
            assert!(is_frozen(&old), "{outcome}: {old}");
        }
        // Pressed by who has not seen it yet, they do nothing and say why.
        let late = opened.at.discord.click_as_seen(alice, &cards, "1 Worked");
        let told = late.next_followup().await;
        assert!(told.shows("replaced by a later one"), "{told}");
        opened.at.idle().await;
        assert_eq!(attempts(&opened).await.len(), 1);
        opened.ends().await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn r27_a_fix_that_failed_is_told_and_analysed_whatever_discord_answers_meanwhile() {
    let opened = opened().await;
    let cards = opened.cards(1).await;
    opened
        .press(opened.at.alice, &cards, "1 Trying this fix")
        .await;
    let cards = opened.cards(1).await;
    let away = Failure::error(503, 0, "away");
    opened
        .at
        .discord
        .fail_times("PATCH", "/channels/*/messages/*", away, 3);
    opened.press(opened.at.alice, &cards, "1 No effect").await;
    super::faults::settled(&opened.at).await;
    let second = opened.cards(2).await;
    assert!(second.shows("Analysis 2"), "{second}");
    let all = attempts(&opened).await;
    assert!(all.len() == 1 && !all[0].withdrawn, "{all:?}");
    assert_eq!(all[0].fix.outcome, Outcome::NoEffect);
    opened.ends().await;
}

//! Who does which step: taken, given back, handed on, by people who see each other.

use super::faults::own;
use super::opened::{Opened, analysis_answer, has_button, model};
use super::{Given, Incident, REFUND_REPORT, refund_job, tuning};
use serde_json::json;
use standin::{Interaction, Post, UserId};
use std::time::Duration;

const TAKE: &str = "Take a step, or give yours back";
const TICK: &str = "Tick or untick steps";

async fn opened() -> Opened {
    opened_in(None).await
}

async fn opened_in(locale: Option<&str>) -> Opened {
    let memory = [
        refund_job(12, "2026-05-14", "held"),
        refund_job(41, "2026-09-23", "held"),
    ];
    let answer = analysis_answer(&["INC-0041", "INC-0012"], "SEV2");
    Opened::with(
        Given {
            memory: &memory,
            model: Some(model(answer).await),
            locale,
            ..Given::default()
        },
        json!({"report": REFUND_REPORT}),
    )
    .await
}

fn named(opened: &Opened, name: &str) -> UserId {
    opened.at.discord.member(opened.at.guild, name)
}

/// Somebody chooses a step, from 0, in the first analysis' checklist as it stands.
async fn takes(opened: &Opened, who: UserId, step: &str) -> Interaction {
    let checklist = opened.checklist(1).await;
    let select = opened.at.discord.select(who, &checklist, TAKE, &[step]);
    select.response().await;
    opened.at.idle().await;
    select
}

/// The lines of a step, counted from 1.
fn lines_of(checklist: &Post, number: usize) -> String {
    let text = checklist.to_string();
    let from = text.find(&format!("**{number}**")).expect("the step");
    let rest = text.get(from..).unwrap_or_default();
    let to = rest
        .find(&format!("**{}**", number + 1))
        .unwrap_or(rest.len());
    rest.get(..to).unwrap_or_default().to_owned()
}

async fn timeline(opened: &Opened) -> String {
    let asked = opened.at.discord.slash(
        opened.at.alice,
        opened.thread,
        "incident timeline",
        json!({}),
    );
    let post = asked.ephemeral().await;
    let name = format!("timeline-{}.md", opened.id());
    let file = post.file(&name).expect("the file is attached");
    String::from_utf8(file.bytes.clone()).expect("text")
}

#[tokio::test(flavor = "multi_thread")]
async fn a_step_is_taken_given_back_and_handed_on_and_everybody_sees_who_has_it() {
    let opened = opened().await;
    let (alice, ben) = (opened.at.alice, named(&opened, "ben"));
    takes(&opened, alice, "0").await;
    let shown = opened.checklist(1).await;
    assert!(lines_of(&shown, 1).contains("🙋 alice"), "{shown}");
    assert!(!lines_of(&shown, 2).contains("🙋"), "{shown}");
    // Another one beside a tick.
    takes(&opened, ben, "1").await;
    let shown = opened.checklist(1).await;
    let ticked = opened.at.discord.select(alice, &shown, TICK, &["1"]);
    ticked.response().await;
    opened.at.idle().await;
    let shown = opened.checklist(1).await;
    assert!(
        lines_of(&shown, 2).contains("🙋 ben · done: alice, "),
        "{shown}"
    );
    // Somebody else's changes hands, and who took it is told whose it was.
    let told = takes(&opened, ben, "0").await.next_followup().await;
    assert_eq!(told.ephemeral_for, Some(ben));
    assert!(told.shows("Step 1 is yours now. alice had it"), "{told}");
    let shown = opened.checklist(1).await;
    assert!(
        lines_of(&shown, 1).contains("🙋 ben") && !shown.shows("🙋 alice"),
        "{shown}"
    );
    // The update says who does what.
    let update = opened.update(1).await;
    opened.press(alice, &update, "Refresh").await;
    opened
        .shows(
            &update,
            "ben: Count the connections that the refund job holds",
        )
        .await;
    // Yours is given back, and nobody is told.
    let back = takes(&opened, ben, "0").await;
    assert!(back.followups().is_empty());
    let shown = opened.checklist(1).await;
    assert!(!lines_of(&shown, 1).contains("🙋"), "{shown}");
    let timeline = timeline(&opened).await;
    for part in [
        "alice: took the step: Count the connections that the refund job holds",
        "ben: took the step: Count the connections that the refund job holds",
        "ben: gave back the step: Count the connections that the refund job holds",
        "ben: took the step: List the longest running queries",
    ] {
        assert!(timeline.contains(part), "{part} in {timeline}");
    }
    opened.ends().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn two_who_take_a_step_at_once_leave_it_with_one_of_them_who_knows() {
    let opened = opened().await;
    let people = [opened.at.alice, named(&opened, "ben")];
    let checklist = opened.checklist(1).await;
    let choices = people.map(|who| {
        opened
            .at
            .discord
            .select_as_seen(who, &checklist, TAKE, &["1"])
    });
    for choice in &choices {
        choice.response().await;
    }
    opened.at.idle().await;
    let shown = opened.checklist(1).await;
    assert_eq!(lines_of(&shown, 2).matches('🙋').count(), 1, "{shown}");
    let told: Vec<Post> = choices.iter().flat_map(|it| it.followups()).collect();
    assert_eq!(told.len(), 1, "{told:?}");
    assert!(told[0].shows("Step 2 is yours now."), "{}", told[0]);
    opened.ends().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn r18_a_destructive_step_is_taken_like_any_and_still_wants_its_approver() {
    let opened = opened().await;
    let (alice, ana) = (opened.at.alice, named(&opened, "ana"));
    opened
        .at
        .discord
        .grant(opened.at.guild, ana, standin::permissions::MANAGE_THREADS);
    takes(&opened, alice, "3").await;
    let shown = opened.checklist(1).await;
    assert!(
        shown.shows("⬜ **4**") && lines_of(&shown, 4).contains("🙋 alice"),
        "{shown}"
    );
    let tick = opened.at.discord.select(alice, &shown, TICK, &["3"]);
    let told = tick.next_followup().await;
    assert!(told.shows("needs an approver"), "{told}");
    let request = opened.said("Approval needed ·").await;
    opened.at.idle().await;
    assert!(opened.checklist(1).await.shows("⬜ **4**"));
    opened.press(ana, &request, "Approve").await;
    let shown = opened.checklist(1).await;
    let line = lines_of(&shown, 4);
    assert!(
        line.contains("🙋 alice") && line.contains("approved by ana"),
        "{line}"
    );
    let timeline = timeline(&opened).await;
    for part in [
        "alice: took the step: Drop the stuck sessions table",
        "alice: asks for an approver of the step: Drop the stuck sessions table",
        "ana: approves the step: Drop the stuck sessions table",
    ] {
        assert!(timeline.contains(part), "{part} in {timeline}");
    }
    opened.ends().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn who_has_a_step_outlives_the_process() {
    let mut opened = opened().await;
    let ben = named(&opened, "ben");
    takes(&opened, ben, "2").await;
    let app = opened.at.app.take().expect("the bot runs");
    app.stop(Duration::from_secs(5)).await;
    opened.at.starts_bot(tuning(None)).await;
    takes(&opened, opened.at.alice, "0").await;
    let shown = opened.checklist(1).await;
    assert!(
        lines_of(&shown, 3).contains("🙋 ben") && lines_of(&shown, 1).contains("🙋 alice"),
        "{shown}"
    );
    takes(&opened, ben, "2").await;
    assert!(!opened.checklist(1).await.shows("🙋 ben"), "given back");
    opened.ends().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn steps_of_a_replaced_analysis_are_taken_no_more() {
    let opened = opened().await;
    let (alice, ben) = (opened.at.alice, named(&opened, "ben"));
    takes(&opened, alice, "0").await;
    let before = opened.checklist(1).await;
    opened.press(alice, &before, "Re-analyze").await;
    opened.cards(2).await;
    opened.at.idle().await;
    let old = opened.shows(&before, "Replaced by analysis 2").await;
    assert!(
        old.selects().iter().all(|select| select.disabled) && old.shows("🙋 alice"),
        "{old}"
    );
    let late = opened.at.discord.select_as_seen(ben, &before, TAKE, &["0"]);
    let told = late.next_followup().await;
    assert!(told.shows("replaced by a later one"), "{told}");
    opened.at.idle().await;
    assert!(!opened.checklist(1).await.shows("🙋 ben"));
    // The new analysis has steps of its own, which nobody has.
    let new = opened.checklist(2).await;
    assert!(
        !new.shows("🙋") && new.selects().iter().all(|select| !select.disabled),
        "{new}"
    );
    opened.ends().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_was_not_offered_is_not_taken_and_nothing_from_where_it_is_not_seen() {
    let at = Incident::begins(Given {
        model: Some(model(analysis_answer(&[], "SEV2")).await),
        ..Given::default()
    })
    .await;
    let bot = at.discord.bot();
    let place = at
        .discord
        .private_channel(at.guild, "breach", &[at.alice, bot]);
    let hidden = at
        .discord
        .slash(at.alice, place, "analyze", json!({"report": REFUND_REPORT}));
    let hidden_thread = at.thread(&hidden).await;
    at.idle().await;
    let opened = Opened::reported(at, json!({"report": REFUND_REPORT})).await;
    let ben = named(&opened, "ben");
    let number = opened.number();
    let checklist = opened.checklist(1).await;
    for (custom_id, value, said) in [
        (format!("p1:take:{number}:1"), "9", "don't know this button"),
        (format!("p1:take:{number}:1"), "x", "don't know this button"),
        (
            format!("p1:take:{number}:1"),
            "-1",
            "don't know this button",
        ),
        (format!("p1:take:{number}:7"), "0", "don't know this button"),
        (
            format!("p1:take:{}:1", number - 1),
            "0",
            "no incident of this number",
        ),
        (
            "p1:take:4000:1".to_owned(),
            "0",
            "no incident of this number",
        ),
    ] {
        let mut forged = checklist.clone();
        forged.components = vec![json!({"type": 1, "components": [{
            "type": 3, "custom_id": custom_id, "placeholder": "forged",
            "options": [{"label": "forged", "value": value}],
        }]})];
        let choice = opened
            .at
            .discord
            .select_as_seen(ben, &forged, &custom_id, &[value]);
        let told = choice.next_followup().await;
        assert!(
            told.shows(said) && told.ephemeral_for == Some(ben),
            "{custom_id} {value}: {told}"
        );
        opened.at.idle().await;
    }
    assert!(!opened.checklist(1).await.shows("🙋"));
    let posts = own(&opened.at, hidden_thread);
    assert!(
        posts.iter().any(|post| has_button(post, "Why?"))
            && !posts.iter().any(|post| post.shows("🙋")),
        "the hidden one is as it was"
    );
    let _headline = own(&opened.at, place);
    opened.ends().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn in_chinese_too() {
    let opened = opened_in(Some("zh-CN")).await;
    let checklist = opened.checklist(1).await;
    for who in [opened.at.alice, named(&opened, "ben")] {
        let select =
            opened
                .at
                .discord
                .select(who, &checklist, "认领步骤，或放弃已认领的步骤", &["0"]);
        select.response().await;
        opened.at.idle().await;
        if who != opened.at.alice {
            // Who speaks English is told in English; the thread keeps its language.
            assert!(select.next_followup().await.shows("alice had it"));
        }
    }
    let shown = opened.checklist(1).await;
    assert!(lines_of(&shown, 1).contains("🙋 ben"), "{shown}");
    opened.ends().await;
}

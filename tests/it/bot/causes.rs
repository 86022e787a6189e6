//! Causes while people work on them: what contradicts one, what they excluded, what they confirmed,
//! what helped before; and why the bot says what it says.

use super::opened::{Opened, analysis_answer, model};
use super::{Given, REFUND_REPORT, refund_job};
use serde_json::{Value, json};
use standin::Post;
use standin::llm::{ChatModel, Reply, Task};

const FULL: &str = "The connection pool is exhausted";

fn two_causes() -> Value {
    let mut answer = analysis_answer(&["INC-0012"], "SEV2");
    answer["hypotheses"][1]["title"] = json!(FULL);
    answer["hypotheses"][1]["fix"] = json!("Raise the pool of payments-api");
    answer
}

async fn opened(answer: Value) -> Opened {
    Opened::with(
        Given {
            memory: &[refund_job(12, "2026-05-14", "held")],
            model: Some(model(answer).await),
            ..Given::default()
        },
        json!({"report": REFUND_REPORT, "severity": "SEV2"}),
    )
    .await
}

/// The embed of a message whose title holds these words.
fn embed(post: &Post, title: &str) -> Value {
    let mut embeds = post.embeds.iter();
    let found = embeds.find(|embed| {
        embed["title"]
            .as_str()
            .is_some_and(|own| own.contains(title))
    });
    found
        .unwrap_or_else(|| panic!("no {title} in {post}"))
        .clone()
}

#[tokio::test(flavor = "multi_thread")]
async fn r13_what_contradicts_a_card_is_said_on_it_at_once() {
    let opened = opened(two_causes()).await;
    let alice = opened.at.alice;
    let cards = opened.cards(1).await;
    assert!(!cards.shows("contradicted by"), "{cards}");
    // What says nothing of a card leaves it alone.
    opened
        .at
        .discord
        .say(alice, opened.thread, "Support has 40 tickets by now.");
    opened
        .at
        .discord
        .say(alice, opened.thread, "The DB pool is at 30 %.");
    let cards = opened.shows(&cards, "contradicted by").await;
    let text = |title: &str| embed(&cards, title)["description"].to_string();
    assert!(
        text(FULL).contains("contradicted by `The DB pool is at 30 %` (alice)"),
        "{cards}"
    );
    assert!(!text("refund job").contains("contradicted"), "{cards}");
    opened.at.idle().await;
    opened.ends().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn r13_what_somebody_excluded_today_is_told_to_the_model_and_comes_first_no_more() {
    let opened = opened(two_causes()).await;
    let alice = opened.at.alice;
    let cards = opened.cards(1).await;
    let headline = opened.report.original().await;
    assert!(
        headline.shows("check first: count the connections"),
        "{headline}"
    );
    opened.press(alice, &cards, "1 Not it").await;
    let headline = opened.report.original().await;
    assert!(
        !headline.shows("check first: count the connections"),
        "{headline}"
    );
    let caught = opened
        .at
        .discord
        .slash(alice, opened.thread, "catchup", json!({}))
        .ephemeral()
        .await;
    assert!(caught.shows(&format!("{FULL} (not confirmed)")), "{caught}");
    let checklist = opened.checklist(1).await;
    opened.press(alice, &checklist, "Re-analyze").await;
    let second = opened.cards(2).await;
    let titles: Vec<String> = second
        .embeds
        .iter()
        .filter_map(|embed| embed["title"].as_str().map(str::to_owned))
        .collect();
    let place = |part: &str| titles.iter().position(|title| title.contains(part));
    assert!(
        place(FULL) < place("refund job") && place(FULL).is_some(),
        "{titles:?}"
    );
    let asked = opened
        .at
        .model
        .as_ref()
        .expect("a model")
        .requests_for(Task::Analysis);
    let told = |at: usize| {
        asked[at]
            .user()
            .contains("Not it: The refund job keeps connections open")
    };
    assert!(!told(0) && told(1), "the second question says it");
    opened.ends().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_confirmed_cause_is_what_everything_goes_by() {
    let opened = opened(two_causes()).await;
    let alice = opened.at.alice;
    let cards = opened.cards(1).await;
    let update = opened.update(1).await;
    assert!(update.shows("Not confirmed: "), "{update}");
    opened.press(alice, &cards, "2 Cause confirmed").await;
    let headline = opened.report.original().await;
    assert!(
        headline.shows(&format!("Root cause (confirmed): {FULL}")),
        "{headline}"
    );
    assert!(!headline.shows("check first"), "{headline}");
    let caught = opened
        .at
        .discord
        .slash(alice, opened.thread, "catchup", json!({}))
        .ephemeral()
        .await;
    assert!(caught.shows(&format!("{FULL} (confirmed)")), "{caught}");
    opened.press(alice, &update, "Refresh").await;
    let update = opened.shows(&update, "Identified").await;
    assert!(
        update.shows(&format!("Root cause: confirmed: {FULL}")),
        "{update}"
    );
    assert!(!update.shows("Not confirmed"), "{update}");
    opened.press(alice, &update, "Executive").await;
    let executive = opened.shows(&update, "Root cause: confirmed").await;
    assert!(!executive.shows("Not confirmed"), "{executive}");
    opened.press(alice, &executive, "Status page").await;
    let public = opened.shows(&executive, "Identified: ").await;
    assert!(!public.shows("pool"), "{public}");
    opened.ends().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_restored_this_service_and_can_be_undone_stands_above_the_cards() {
    let mut known = refund_job(12, "2026-05-14", "held");
    known["fix"] = json!("Turn off the feature flag refund-batching");
    let grave = |severity: &'static str| {
        let known = known.clone();
        async move {
            Opened::with(
                Given {
                    memory: &[known],
                    ..Given::default()
                },
                json!({"report": REFUND_REPORT, "severity": severity}),
            )
            .await
        }
    };
    let opened = grave("SEV1").await;
    let cards = opened.cards(1).await;
    let first = embed(&cards, "Stop the bleeding")["description"].to_string();
    for part in [
        "reversible",
        "Turn off the feature flag refund-batching",
        "restored this service in 41 min last time (INC-0012)",
        "undo: ",
    ] {
        assert!(first.contains(part), "{part} in {first}");
    }
    opened.ends().await;
    let lesser = grave("SEV3").await;
    let cards = lesser.cards(1).await;
    assert!(!cards.shows("Stop the bleeding"), "{cards}");
    lesser.ends().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn why_tells_in_words_what_was_changed_of_triage_and_analysis() {
    let model = ChatModel::start().await;
    model.on_fn(Task::Triage, |_| {
        let mut triage = super::opened::triage_answer();
        triage["title"] = json!("503s on charges from db-7.shop.internal");
        Reply::json(&triage)
    });
    model.on_fn(Task::Analysis, |_| {
        let mut answer = two_causes();
        answer["hypotheses"][1]["source"] = json!("memory");
        answer["next_steps"][2]["expect"] = json!("connections are free within 2 minutes");
        Reply::json(&answer)
    });
    let opened = Opened::with(
        Given {
            memory: &[refund_job(12, "2026-05-14", "held")],
            model: Some(model),
            ..Given::default()
        },
        json!({"report": REFUND_REPORT}),
    )
    .await;
    let why = opened.at.alone(opened.thread, "why", json!({})).await;
    for part in [
        "**Title**: 503s on charges from db-7.shop.internal → ",
        "**Cause 2 · source**: memory → this report – computed from the references and quotes that stand (R3)",
        "Bands by proofs of a fix here",
        "Triage: ",
    ] {
        assert!(why.shows(part), "{part} in {why}");
    }
    for never in ["hypotheses[", "current_evidence", "next_steps["] {
        assert!(!why.shows(never), "{never} in {why}");
    }
    // R16: a model's time is marked as its estimate.
    let checklist = opened.checklist(1).await;
    assert!(
        checklist.shows("connections are free within 2 minutes (model's estimate)"),
        "{checklist}"
    );
    opened.ends().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn r30_what_nobody_knows_is_asked_and_told_with_a_tap_each() {
    let opened = Opened::with(
        Given::default(),
        json!({"report": "geo-resolver answers wrong countries\nERROR GeoTable - row 7 is not sorted"}),
    )
    .await;
    let bob = opened.at.discord.member(opened.at.guild, "bob");
    let cards = opened.said("Who is affected, and how many?").await;
    assert!(
        cards.shows("Who is affected, and how many? Nobody has said it"),
        "{cards}"
    );
    let tells = async |label: &str, text: &str| {
        let press = opened.at.discord.click(bob, &cards, label);
        let _modal = press.modal().await;
        let told = opened
            .at
            .discord
            .submit_modal(bob, &press, &[("told", text)]);
        let done = told.original().await;
        opened.at.idle().await;
        done
    };
    tells("Who is affected?", "guests who book abroad").await;
    let headline = opened.report.original().await;
    assert!(headline.shows("guests who book abroad"), "{headline}");
    let told = opened
        .at
        .discord
        .await_edit(&cards, |post| !post.shows("Nobody has said it"))
        .await;
    assert!(!told.shows("not known"), "it is known now: {told}");
    let wrong = tells("Since when?", "a while").await;
    assert!(wrong.shows("02:51"), "says how a time is written: {wrong}");
    tells("Since when?", "20m ago").await;
    assert!(opened.stored().await.past.started_at.is_some());
    tells(
        "What changed before?",
        "release 5.2 of geo-resolver @everyone",
    )
    .await;
    opened
        .said("changed before: release 5.2 of geo-resolver")
        .await;
    let thread = opened.stored().await.report.expect("a report").thread;
    assert!(
        thread.len() == 1 && thread[0].author == "bob" && thread[0].text.contains("release 5.2"),
        "{thread:?}"
    );
    opened.said("1 new message since the last analysis").await;
    opened.ends().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn r28_what_was_mitigated_and_never_resolved_is_asked_about_after_a_day() {
    let opened = opened(two_causes()).await;
    let alice = opened.at.alice;
    let cards = opened.cards(1).await;
    opened.press(alice, &cards, "1 Trying this fix").await;
    let cards = opened.cards(1).await;
    opened.press(alice, &cards, "1 Worked").await;
    let headline = opened.report.original().await;
    opened.press(alice, &headline, "Mitigated").await;
    super::clock::minutes_pass(&opened.at, 24 * 60 + 1).await;
    opened.at.idle().await;
    let question = opened.said("Still fixed?").await;
    opened.press(alice, &question, "Yes, it held").await;
    let attempts = {
        let store = opened.at.app.as_ref().expect("the bot runs").store();
        store
            .attempts(&opened.scope(), opened.id())
            .await
            .expect("attempts")
    };
    assert_eq!(
        attempts
            .iter()
            .map(|one| one.fix.outcome)
            .collect::<Vec<_>>(),
        [precedent::incident::Outcome::Held]
    );
    opened.ends().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn r13_a_word_about_a_cause_is_taken_back_in_whichever_words_it_stands() {
    let model = model(two_causes()).await;
    model.on(Task::Analysis, Reply::json(&two_causes()));
    model.on_fn(Task::Analysis, |_| {
        let mut answer = two_causes();
        answer["hypotheses"][0]["title"] = json!("Refund job keeps the connections open");
        Reply::json(&answer)
    });
    let opened = Opened::with(
        Given {
            memory: &[refund_job(12, "2026-05-14", "held")],
            model: Some(model),
            ..Given::default()
        },
        json!({"report": REFUND_REPORT, "severity": "SEV2"}),
    )
    .await;
    let alice = opened.at.alice;
    let cards = opened.cards(1).await;
    opened.press(alice, &cards, "1 Not it").await;
    let checklist = opened.checklist(1).await;
    opened.press(alice, &checklist, "Re-analyze").await;
    let second = opened.cards(2).await;
    assert_eq!(opened.stored().await.past.ruled_out.len(), 1);
    let said = embed(&second, "keeps the connections open")["description"].to_string();
    assert!(said.contains("alice"), "whose word it is: {said}");
    opened.press(alice, &second, "2 Not it").await;
    let taken_back = opened.stored().await.past.ruled_out;
    assert!(taken_back.is_empty(), "{taken_back:?}");
    opened.ends().await;
}

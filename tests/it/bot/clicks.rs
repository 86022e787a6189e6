//! Buttons and selects: what people say of causes, fixes and steps, and what comes of it.

use super::opened::{Opened, analysis_answer, has_button, id, is_frozen, model};
use super::{Given, REFUND_REPORT, refund_job};
use crate::homes;
use precedent::database::{Sql, query_scalar};
use precedent::incident::{Outcome, Status};
use precedent::store::Attempt;
use serde_json::{Value, json};
use standin::UserId;
use standin::llm::Task;

fn memory() -> Vec<Value> {
    vec![
        refund_job(12, "2026-05-14", "held"),
        refund_job(41, "2026-09-23", "held"),
    ]
}

/// An incident of the payments service, with two held precedents and the rules to answer.
async fn opened() -> Opened {
    let memory = memory();
    Opened::with(
        Given {
            memory: &memory,
            ..Given::default()
        },
        json!({"report": REFUND_REPORT}),
    )
    .await
}

/// The same, with a model.
async fn opened_with_model(severity: Option<&str>) -> Opened {
    let memory = memory();
    let mut options = json!({"report": REFUND_REPORT});
    if let Some(severity) = severity {
        options["severity"] = severity.into();
    }
    Opened::with(
        Given {
            memory: &memory,
            model: Some(model(analysis_answer(&["INC-0041", "INC-0012"], "SEV3")).await),
            ..Given::default()
        },
        options,
    )
    .await
}

impl Opened {
    async fn attempts(&self) -> Vec<Attempt> {
        let store = self.at.app.as_ref().expect("the bot runs").store();
        store
            .attempts(&self.scope(), self.id())
            .await
            .expect("attempts can be read")
    }

    fn alice(&self) -> UserId {
        self.at.alice
    }

    fn somebody(&self, name: &str) -> UserId {
        self.at.discord.member(self.at.guild, name)
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_confirmed_cause_says_who_and_a_second_click_takes_it_back() {
    let opened = opened().await;
    let cards = opened.cards(1).await;
    opened
        .press(opened.alice(), &cards, "1 Cause confirmed")
        .await;
    opened.shows(&cards, "✔ cause confirmed by alice").await;
    assert!(opened.stored().await.past.cause_confirmed);
    opened
        .press(opened.alice(), &cards, "1 Cause confirmed")
        .await;
    let cards = opened
        .at
        .discord
        .await_edit(&cards, |post| !post.shows("confirmed by"))
        .await;
    assert!(!opened.stored().await.past.cause_confirmed, "{cards}");
    opened.ends().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_cause_that_is_not_it_is_said_with_whose_word_it_is() {
    let opened = opened().await;
    let cards = opened.cards(1).await;
    opened.press(opened.alice(), &cards, "1 Not it").await;
    opened.shows(&cards, "✘ not it, says alice").await;
    assert_eq!(
        opened.stored().await.past.ruled_out,
        ["The refund job keeps connections open"]
    );
    opened
        .press(opened.alice(), &cards, "1 Cause confirmed")
        .await;
    let cards = opened.shows(&cards, "✔ cause confirmed by alice").await;
    assert!(!cards.shows("not it, says"), "{cards}");
    opened.ends().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn two_people_who_confirm_at_once_agree() {
    let opened = opened().await;
    let bob = opened.somebody("bob");
    let cards = opened.cards(1).await;
    let (one, two) = (
        opened
            .at
            .discord
            .click(opened.alice(), &cards, "1 Cause confirmed"),
        opened.at.discord.click(bob, &cards, "1 Cause confirmed"),
    );
    one.response().await;
    two.response().await;
    opened.at.idle().await;
    let cards = opened.cards(1).await;
    assert!(cards.shows("✔ cause confirmed by"), "{cards}");
    assert!(opened.stored().await.past.cause_confirmed);
    opened.ends().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn two_people_who_try_a_fix_at_once_try_one_fix() {
    let opened = opened().await;
    let bob = opened.somebody("bob");
    let cards = opened.cards(1).await;
    let (one, two) = (
        opened
            .at
            .discord
            .click(opened.alice(), &cards, "1 Trying this fix"),
        opened.at.discord.click(bob, &cards, "1 Trying this fix"),
    );
    one.response().await;
    two.response().await;
    opened.at.idle().await;
    let attempts = opened.attempts().await;
    assert_eq!(attempts.len(), 1);
    assert!(!attempts[0].withdrawn);
    assert_eq!(opened.count("is trying:"), 1);
    // The second one is told, and the thread sees it.
    assert_eq!(opened.count("Two people try the same fix"), 1);
    let told: Vec<_> = [&one, &two].iter().flat_map(|it| it.followups()).collect();
    assert_eq!(told.len(), 1, "{told:?}");
    assert!(told[0].shows("trying the same fix already"), "{}", told[0]);
    opened.ends().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn who_tries_a_fix_is_posted_and_asked_once_after_a_quarter_of_an_hour() {
    let opened = opened().await;
    let cards = opened.cards(1).await;
    opened
        .press(opened.alice(), &cards, "1 Trying this fix")
        .await;
    let cards = opened
        .shows(&cards, "▶ alice is trying this fix (since ")
        .await;
    assert!(
        has_button(&cards, "1 Worked") && !has_button(&cards, "1 Trying this fix"),
        "{cards}"
    );
    opened
        .said("🔧 alice is trying: Stop the refund job and restart payments-api")
        .await;
    assert_eq!(opened.stored().await.status, Status::Fixing);
    let scheduled: String = {
        let pool = homes::beside(&opened.at.config.database_url).await;
        query_scalar(Sql {
            sqlite: "SELECT CAST(strftime('%s', scheduled_at) - strftime('%s', created_at) AS TEXT) FROM river_job \
                     WHERE json_extract(args, '$.kind') = 'ask_outcome'",
            postgres: "SELECT extract(epoch FROM scheduled_at - created_at)::bigint::text FROM river_job \
                       WHERE args->>'kind' = 'ask_outcome'",
        })
        .fetch_one(&pool)
        .await
        .expect("the question waits")
    };
    let seconds: i64 = scheduled.parse().expect("seconds");
    assert!((895..=905).contains(&seconds), "{seconds}");

    opened.time_comes("ask_outcome").await;
    let asked = opened.said("How did the fix go that alice tried?").await;
    opened.press(opened.alice(), &asked, "Worked").await;
    // Answered, the question asks no more.
    let asked = opened
        .shows(&asked, "worked, not known to hold (alice")
        .await;
    assert!(asked.buttons().is_empty(), "{asked}");
    assert_eq!(opened.attempts().await[0].fix.outcome, Outcome::Mitigated);
    opened.ends().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn how_a_fix_went_is_not_asked_once_it_was_said() {
    let opened = opened().await;
    let cards = opened.cards(1).await;
    opened
        .press(opened.alice(), &cards, "1 Trying this fix")
        .await;
    opened.shows(&cards, "is trying this fix").await;
    opened.press(opened.alice(), &cards, "1 Worked").await;
    opened.shows(&cards, "worked, not known to hold").await;
    opened.time_comes("ask_outcome").await;
    opened.all_done("ask_outcome").await;
    assert_eq!(opened.count("How did the fix go"), 0);
    opened.ends().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_fix_that_worked_is_taken_back_by_a_second_click() {
    let opened = opened().await;
    let cards = opened.cards(1).await;
    opened
        .press(opened.alice(), &cards, "1 Trying this fix")
        .await;
    opened.shows(&cards, "is trying this fix").await;
    opened.press(opened.alice(), &cards, "1 Worked").await;
    opened
        .shows(
            &cards,
            "✔ tried in this incident: worked, not known to hold (alice",
        )
        .await;
    assert_eq!(opened.attempts().await[0].fix.outcome, Outcome::Mitigated);
    opened.press(opened.alice(), &cards, "1 Worked").await;
    let cards = opened
        .at
        .discord
        .await_edit(&cards, |post| has_button(post, "1 Trying this fix"))
        .await;
    assert!(opened.attempts().await[0].withdrawn, "{cards}");
    opened.ends().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_worked_here_is_recalled_next_time_as_not_yet_proven() {
    let opened = Opened::with(
        Given {
            memory: &[refund_job(12, "2026-05-14", "unknown")],
            ..Given::default()
        },
        json!({"report": REFUND_REPORT}),
    )
    .await;
    let cards = opened.cards(1).await;
    opened
        .press(opened.alice(), &cards, "1 Trying this fix")
        .await;
    opened.shows(&cards, "is trying this fix").await;
    opened.press(opened.alice(), &cards, "1 Worked").await;
    opened.shows(&cards, "worked, not known to hold").await;
    let resolve = opened.at.discord.slash(
        opened.alice(),
        opened.thread,
        "resolve",
        json!({"worked": "yes"}),
    );
    resolve.modal().await;
    let sent = opened
        .at
        .discord
        .submit_modal(opened.alice(), &resolve, &[]);
    sent.original().await;
    let Opened { at, .. } = opened;
    // Sooner it would be the same incident (R32).
    super::clock::minutes_pass(&at, 121).await;
    let second = Opened::reported(at, json!({"report": REFUND_REPORT})).await;
    let cards = second.cards(1).await;
    assert!(cards.shows("INC-0013"), "recalled: {cards}");
    assert!(
        cards.shows("NOT PROVEN") && !cards.shows("WORKED ONCE HERE"),
        "{cards}"
    );
    let open = second.at.discord.slash(
        second.alice(),
        second.thread,
        "memory show",
        json!({"id": "INC-0013"}),
    );
    let past = open.ephemeral().await;
    assert!(past.shows("worked, not known to hold"), "{past}");
    second.ends().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_fix_without_effect_leads_to_a_second_analysis_that_knows_it() {
    let opened = opened_with_model(None).await;
    let cards = opened.cards(1).await;
    opened
        .press(opened.alice(), &cards, "1 Trying this fix")
        .await;
    opened.shows(&cards, "is trying this fix").await;
    opened.press(opened.alice(), &cards, "1 No effect").await;
    let second = opened.cards(2).await;
    let checklist = opened.checklist(2).await;
    opened.at.idle().await;
    assert!(second.shows("Analysis 2"), "{second}");
    assert!(checklist.shows("⛔ Do not repeat"), "{checklist}");
    assert!(
        checklist.shows("Stop the refund job and restart payments-api: failed 1x"),
        "{checklist}"
    );
    // R27: the model is told.
    let asked = opened
        .at
        .model
        .as_ref()
        .expect("a model")
        .requests_for(Task::Analysis);
    assert_eq!(asked.len(), 2);
    assert!(!asked[0].user().contains("<refuted_attempt>"));
    assert!(
        asked[1].user().contains(
            "<refuted_attempt>\nStop the refund job and restart payments-api -> no_effect"
        ),
        "{}",
        asked[1].user()
    );
    // What the night began with is not offered again.
    let headline = opened.at.headline(&opened.report).await;
    assert!(
        headline.shows("FAILED IN THIS INCIDENT: stop the refund job")
            && !headline.shows("fixed in"),
        "{headline}"
    );
    // The old cards say that they are replaced, and their buttons are off.
    for old in [opened.cards(1).await, opened.checklist(1).await] {
        assert!(old.shows("Replaced by analysis 2"), "{old}");
        assert!(is_frozen(&old), "{old}");
    }
    opened.ends().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_update_that_is_replaced_keeps_its_words_and_loses_its_buttons() {
    let opened = opened_with_model(Some("SEV2")).await;
    let update = opened.update(1).await;
    let click = opened
        .at
        .discord
        .click(opened.alice(), &update, "Status page");
    click.response().await;
    let shown = opened
        .at
        .discord
        .await_edit(&update, |post| !post.content.contains("SEV2"))
        .await;
    let checklist = opened.checklist(1).await;
    opened.press(opened.alice(), &checklist, "Re-analyze").await;
    opened.update(2).await;
    opened.at.idle().await;
    let old = opened.at.discord.message(&shown).expect("the old update");
    assert_eq!(
        old.content, shown.content,
        "the same words for the same audience"
    );
    assert!(is_frozen(&old), "{old}");
    opened.ends().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn after_three_failed_fixes_people_take_over() {
    let opened = opened_with_model(None).await;
    for (round, fix) in [
        "Restart the gateway",
        "Raise the pool size",
        "Flush the cache",
    ]
    .into_iter()
    .enumerate()
    {
        let at = jiff::Timestamp::now();
        let mut tried = precedent::incident::FixAttempt::new(fix, Outcome::NoEffect);
        tried.at = Some(at);
        tried.by = "alice".into();
        if round < 2 {
            let store = opened.at.app.as_ref().expect("the bot runs").store();
            store
                .record_attempt(
                    &opened.scope(),
                    opened.id(),
                    &format!("hand/{round}"),
                    &tried,
                    at,
                )
                .await
                .expect("an attempt is recorded");
        }
    }
    let cards = opened.cards(1).await;
    opened
        .press(opened.alice(), &cards, "1 Trying this fix")
        .await;
    opened.shows(&cards, "is trying this fix").await;
    opened
        .press(opened.alice(), &cards, "1 Made it worse")
        .await;
    opened.said("Three fixes have failed here.").await;
    let checklist = opened.checklist(2).await;
    opened.at.idle().await;
    for fix in [
        "Restart the gateway",
        "Raise the pool size",
        "Stop the refund job and restart payments-api",
    ] {
        assert!(checklist.shows(fix), "{fix} in {checklist}");
    }
    let asked = opened
        .at
        .model
        .as_ref()
        .expect("a model")
        .requests_for(Task::Analysis)
        .len();
    assert_eq!(asked, 1, "the model is not asked the same again");
    opened.ends().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_click_on_an_old_card_is_answered_to_that_person_alone() {
    let opened = opened().await;
    let cards = opened.cards(1).await;
    let checklist = opened.checklist(1).await;
    opened.press(opened.alice(), &checklist, "Re-analyze").await;
    opened.cards(2).await;
    opened.at.idle().await;
    // A client that has not heard of the edit yet still sends the click.
    let late = opened
        .at
        .discord
        .click_as_seen(opened.alice(), &cards, "1 Cause confirmed");
    let told = late.next_followup().await;
    assert_eq!(told.ephemeral_for, Some(opened.alice()));
    assert!(
        told.shows("This analysis was replaced by a later one"),
        "{told}"
    );
    assert!(!opened.stored().await.past.cause_confirmed);
    opened.ends().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn steps_are_ticked_and_unticked_with_who_and_when() {
    let opened = opened().await;
    let bob = opened.somebody("bob");
    let checklist = opened.checklist(1).await;
    let ticked = opened.at.discord.select(
        opened.alice(),
        &checklist,
        "Tick or untick steps",
        &["0", "2"],
    );
    ticked.response().await;
    let shown = opened.shows(&checklist, "✅ **3**").await;
    assert!(
        shown.shows("✅ **1**") && shown.shows("⬜ **2**"),
        "{shown}"
    );
    assert!(shown.shows("done: alice, "), "{shown}");
    assert_eq!(shown.selects()[0].defaults, ["0", "2"]);
    let ticked = opened
        .at
        .discord
        .select(bob, &shown, "Tick or untick steps", &["2", "1"]);
    ticked.response().await;
    let shown = opened.shows(&checklist, "⬜ **1**").await;
    assert!(
        shown.shows("✅ **2**") && shown.shows("done: bob, ") && shown.shows("done: alice, "),
        "{shown}"
    );
    let cleared = opened
        .at
        .discord
        .select(bob, &shown, "Tick or untick steps", &[]);
    cleared.response().await;
    opened
        .at
        .discord
        .await_edit(&checklist, |post| !post.shows("✅"))
        .await;
    opened.ends().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_update_changes_its_audience_in_place_and_tells_the_public_no_more_than_it_may() {
    let opened = opened_with_model(Some("SEV2")).await;
    let update = opened.update(1).await;
    assert!(
        update.content.starts_with("```\n") && update.content.ends_with("\n```"),
        "{update}"
    );
    assert_eq!(update.content.matches("```").count(), 2, "one code block");
    for audience in ["Status page", "Executive", "Internal", "Status page"] {
        let click = opened.at.discord.click(opened.alice(), &update, audience);
        click.response().await;
        let shown = opened
            .at
            .discord
            .await_edit(&update, |post| {
                post.buttons()
                    .iter()
                    .any(|button| button.label == audience && button.disabled)
            })
            .await;
        assert!(shown.content.chars().count() <= 2000);
        assert_eq!(
            shown.content.matches("```").count(),
            2,
            "one code block: {shown}"
        );
        if audience == "Status page" {
            for word in ["INC-", "SEV", "payments-api", "refund job", "%", "TillPool"] {
                assert!(!shown.content.contains(word), "{word} in {shown}");
            }
        }
    }
    let refreshed = opened.at.discord.click(opened.alice(), &update, "Refresh");
    refreshed.response().await;
    let shown = opened.at.discord.message(&update).expect("the update");
    assert!(
        !shown.content.contains("SEV"),
        "a refresh keeps the audience: {shown}"
    );
    opened.ends().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn for_lesser_severities_the_update_waits_behind_its_button() {
    let opened = opened().await;
    let checklist = opened.checklist(1).await;
    assert_eq!(opened.count("```"), 0);
    opened
        .press(opened.alice(), &checklist, "Stakeholder update")
        .await;
    let update = opened.update(1).await;
    assert!(update.content.contains("Impact: "), "{update}");
    // Pressed again it is not posted twice.
    opened
        .press(opened.alice(), &checklist, "Stakeholder update")
        .await;
    assert_eq!(opened.count("Impact: "), 1);
    // And it is switched off with the rest once a later analysis stands.
    opened.press(opened.alice(), &checklist, "Re-analyze").await;
    opened.cards(2).await;
    opened.at.idle().await;
    let old = opened.at.discord.message(id(&update)).expect("the update");
    assert!(is_frozen(&old), "{old}");
    opened.ends().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_past_incident_opens_in_full_for_one_person_alone() {
    let opened = opened().await;
    let cards = opened.cards(1).await;
    let select = cards.selects()[0].placeholder.clone();
    let open = opened
        .at
        .discord
        .select(opened.alice(), &cards, &select, &["41"]);
    let shown = open.ephemeral().await;
    for part in [
        "INC-0041",
        "The refund job keeps connections open",
        "Stop the refund job and restart payments-api",
        "TillPool",
        "direct match",
    ] {
        assert!(shown.shows(part), "{part} in {shown}");
    }
    opened.ends().await;
}

//! A destructive step asks for a named approver in the thread, and is ticked once there is one.

use super::opened::{Opened, analysis_answer, has_button, id, model};
use super::{Given, refund_job, tuning};
use crate::homes;
use precedent::database::query;
use precedent::incident::approval::Word;
use serde_json::json;
use standin::permissions::MANAGE_THREADS;
use standin::{Interaction, Post, UserId};
use std::time::Duration;

/// The destructive step of the model's answer, from 0, and as people count.
const STEP: &str = "3";
const NUMBER: &str = "4";
const TICK: &str = "Tick or untick steps";

async fn opened() -> Opened {
    opened_in(None).await
}

async fn opened_in(locale: Option<&str>) -> Opened {
    let memory = [
        refund_job(12, "2026-05-14", "held"),
        refund_job(41, "2026-09-23", "held"),
    ];
    let mut answer = analysis_answer(&["INC-0041", "INC-0012"], "SEV3");
    answer["next_steps"][3]["command"] = json!("kubectl delete deployment payments-api");
    Opened::with(
        Given {
            memory: &memory,
            model: Some(model(answer).await),
            locale,
            ..Given::default()
        },
        json!({"report": super::REFUND_REPORT}),
    )
    .await
}

impl Opened {
    fn named(&self, name: &str) -> UserId {
        self.at.discord.member(self.at.guild, name)
    }

    fn with_right(&self, name: &str) -> UserId {
        let who = self.named(name);
        self.at.discord.grant(self.at.guild, who, MANAGE_THREADS);
        who
    }

    /// Ticks the destructive step of the first analysis; nothing is left to do then.
    async fn ticks(&self, who: UserId) -> Interaction {
        let checklist = self.checklist(1).await;
        let place = checklist.selects()[0].custom_id.clone();
        let select = self.at.discord.select(who, &checklist, &place, &[STEP]);
        select.response().await;
        self.at.idle().await;
        select
    }

    /// The same by who is told that an approver is needed.
    async fn asks(&self, who: UserId) -> (Post, Post) {
        let told = self.ticks(who).await.next_followup().await;
        assert_eq!(told.ephemeral_for, Some(who));
        (told, self.request().await)
    }

    /// The request that stands now: the last one in the thread.
    async fn request(&self) -> Post {
        self.at.idle().await;
        let all = self.at.discord.posts(self.thread);
        let last = all.iter().rfind(|post| {
            post.shows("Approval needed ·")
                || post.shows("Approved ·")
                || post.shows("Not now ·")
                || post.shows("需要批准 ·")
                || post.shows("已批准 ·")
        });
        last.expect("a request").clone()
    }

    /// What was said of approvals, as it is stored.
    async fn answers(&self) -> Vec<(Word, String)> {
        let store = self.at.app.as_ref().expect("the bot runs").store();
        store
            .approvals(&self.scope(), self.id(), 1)
            .await
            .expect("approvals can be read")
            .into_iter()
            .map(|said| (said.entry.word, said.entry.who.name))
            .collect()
    }

    async fn step_line(&self) -> String {
        self.at.idle().await;
        let text = self.checklist(1).await.to_string();
        let from = text.find("**4**").unwrap_or_default();
        text.get(from.saturating_sub(8)..)
            .or_else(|| text.get(from..))
            .unwrap_or_default()
            .to_owned()
    }
}

/// A button with an id that nobody posted there.
fn forged(post: &Post, custom_id: &str) -> Post {
    let mut post = post.clone();
    post.components = vec![json!({"type": 1, "components": [
        {"type": 2, "style": 4, "label": "Approve", "custom_id": custom_id}]})];
    post
}

#[tokio::test(flavor = "multi_thread")]
async fn r18_a_destructive_step_waits_for_another_person_and_is_ticked_then() {
    let opened = opened().await;
    let (alice, bob, ana) = (
        opened.at.alice,
        opened.named("bob"),
        opened.with_right("ana"),
    );
    let checklist = opened.checklist(1).await;
    assert!(
        checklist.shows("🔴 destructive · Drop the stuck sessions table")
            && checklist.shows("ticking it asks for one in the thread"),
        "{checklist}"
    );
    assert!(!checklist.shows("`kubectl delete"), "{checklist}");

    // Ticked with another step: the other is ticked, this one asks.
    let select = opened
        .at
        .discord
        .select(alice, &checklist, TICK, &["0", STEP]);
    let told = select.next_followup().await;
    assert_eq!(told.ephemeral_for, Some(alice));
    assert!(
        told.shows(&format!("Step {NUMBER} destroys data or state"))
            && told.shows("needs an approver")
            && !told.shows("press *Approve* there yourself"),
        "{told}"
    );
    let request = opened.said("Approval needed ·").await;
    for part in [
        "step 4",
        "Drop the stuck sessions table",
        "kubectl delete deployment payments-api",
        "Asked by alice",
        "Manage Threads",
    ] {
        assert!(request.shows(part), "{part} in {request}");
    }
    assert!(!request.content.contains('`'), "{request}");
    assert!(has_button(&request, "Approve") && has_button(&request, "Not now"));
    let line = opened.step_line().await;
    assert!(
        line.contains("⬜ **4**") && line.contains("waits for an approver (asked by alice"),
        "{line}"
    );
    assert!(opened.checklist(1).await.shows("✅ **1**"));

    // Who may not approve is told alone, and so is who asked; nothing changed.
    for who in [bob, alice] {
        let refused = opened.press(who, &request, "Approve").await;
        let told = refused.next_followup().await;
        assert_eq!(told.ephemeral_for, Some(who));
        assert!(
            told.shows("You need the Manage Threads permission"),
            "{told}"
        );
    }
    // Ticked again it is not asked for twice.
    let told = opened.ticks(bob).await.next_followup().await;
    assert!(told.shows("waits for an approver already"), "{told}");
    assert_eq!(opened.count("Approval needed ·"), 1);
    assert_eq!(opened.answers().await, [(Word::Asked, "alice".to_owned())]);

    opened.press(ana, &request, "Approve").await;
    let request = opened.shows(&request, "✔ approved by ana, ").await;
    assert!(
        !has_button(&request, "Approve") && has_button(&request, "Take the approval back"),
        "{request}"
    );
    let line = opened.step_line().await;
    assert!(
        line.contains("⬜ **4**") && line.contains("✔ approved by ana, "),
        "{line}"
    );

    opened.ticks(alice).await;
    let line = opened.step_line().await;
    assert!(
        line.contains("✅ **4**")
            && line.contains("done: alice")
            && line.contains("approved by ana"),
        "{line}"
    );
    let request = opened.shows(&request, "☑ done: alice").await;
    assert!(request.buttons().is_empty(), "{request}");
    // Unticked, it may be taken back again.
    let shown = opened.checklist(1).await;
    let clear = opened.at.discord.select(alice, &shown, TICK, &[]);
    clear.response().await;
    opened
        .at
        .discord
        .await_edit(&request, |post| has_button(post, "Take the approval back"))
        .await;
    opened.ends().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn r18_a_lone_responder_approves_alone_with_a_second_press_that_says_so() {
    let opened = opened().await;
    let ana = opened.with_right("ana");
    let (told, request) = opened.asks(ana).await;
    assert!(told.shows("press *Approve* there yourself"), "{told}");
    let press = opened.press(ana, &request, "Approve").await;
    let question = press.next_followup().await;
    assert_eq!(question.ephemeral_for, Some(ana));
    assert!(
        question.shows("You asked for step 4 yourself"),
        "{question}"
    );
    assert_eq!(opened.answers().await.len(), 1, "nothing is approved yet");
    // A tick before the second press asks on.
    let told = opened.ticks(ana).await.next_followup().await;
    assert!(told.shows("waits for an approver already"), "{told}");

    opened.press(ana, &question, "Approve my own request").await;
    opened.shows(&request, "✔ self-approved by ana, ").await;
    // Pressed twice it is approved once, and nobody needs to be told.
    let again = opened.press(ana, &question, "Approve my own request").await;
    assert!(again.followups().is_empty());
    assert_eq!(
        opened.answers().await,
        [
            (Word::Asked, "ana".to_owned()),
            (Word::Approved, "ana".to_owned())
        ]
    );
    opened.ticks(ana).await;
    let line = opened.step_line().await;
    assert!(
        line.contains("✅ **4**") && line.contains("self-approved by ana"),
        "{line}"
    );
    opened.ends().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn r18_not_now_is_shown_and_the_step_may_be_asked_for_anew() {
    let opened = opened().await;
    let ana = opened.with_right("ana");
    let (_, first) = opened.asks(opened.at.alice).await;
    opened.press(ana, &first, "Not now").await;
    opened.shows(&first, "✋ not now, says ana, ").await;
    let line = opened.step_line().await;
    assert!(line.contains("✋ not now, says ana"), "{line}");
    // A second approver who can't have seen that does not overrule it.
    let bob = opened.with_right("bob");
    let press = opened.at.discord.click_as_seen(bob, &first, "Approve");
    press.response().await;
    opened.at.idle().await;
    let told = press.next_followup().await;
    assert!(
        told.shows("Nothing changed: ✋ not now, says ana"),
        "{told}"
    );

    let (_, second) = opened.asks(opened.at.alice).await;
    assert_ne!(second.id, first.id, "a new request further down");
    assert!(second.shows("Approval needed"), "{second}");
    let old = opened.shows(&first, "Asked again further down.").await;
    assert!(old.buttons().is_empty(), "{old}");
    // Who asked takes the request back without any right.
    opened.press(opened.at.alice, &second, "Not now").await;
    opened.shows(&second, "✋ not now, says alice").await;
    opened.ends().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn r18_an_approval_taken_back_ticks_nothing() {
    let opened = opened().await;
    let (ana, bob) = (opened.with_right("ana"), opened.with_right("bob"));
    let (_, request) = opened.asks(opened.at.alice).await;
    opened.press(ana, &request, "Approve").await;
    opened.shows(&request, "approved by ana").await;
    opened.press(bob, &request, "Take the approval back").await;
    opened.shows(&request, "✋ not now, says bob").await;
    let (told, again) = opened.asks(opened.at.alice).await;
    assert!(told.shows("needs an approver"), "{told}");
    assert!(again.shows("Approval needed"), "{again}");
    let line = opened.step_line().await;
    assert!(line.contains("⬜ **4**"), "{line}");
    opened.ends().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn r18_two_who_approve_at_once_approve_once() {
    let opened = opened().await;
    let (ana, bob) = (opened.with_right("ana"), opened.with_right("bob"));
    let (_, request) = opened.asks(opened.at.alice).await;
    let presses = [ana, bob].map(|who| opened.at.discord.click(who, &request, "Approve"));
    for press in &presses {
        press.response().await;
    }
    opened.at.idle().await;
    let said = opened.answers().await;
    assert_eq!(said.len(), 2, "{said:?}");
    let told: Vec<Post> = presses.iter().flat_map(|press| press.followups()).collect();
    assert_eq!(told.len(), 1, "{told:?}");
    assert!(
        told[0].shows(&format!("Nothing changed: ✔ approved by {}", said[1].1)),
        "{}",
        told[0]
    );
    opened.ends().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn r18_the_responders_role_approves_too() {
    let opened = opened().await;
    let role = opened.at.discord.role(opened.at.guild, "responders", 0);
    let carol = opened.named("carol");
    let store = opened.at.app.as_ref().expect("the bot runs").store();
    store
        .set_roles(
            &opened.at.guild.to_string(),
            precedent::store::Roles {
                responders: Some(role.0),
                administrators: None,
            },
            precedent::store::Signed {
                by: "owner",
                at: jiff::Timestamp::now(),
            },
        )
        .await
        .expect("roles are set");
    let (_, request) = opened.asks(opened.at.alice).await;
    let refused = opened.press(carol, &request, "Approve").await;
    assert!(refused.next_followup().await.shows("You need"), "no role");
    opened.at.discord.give_role(opened.at.guild, carol, role);
    opened.press(carol, &request, "Approve").await;
    opened.shows(&request, "approved by carol").await;
    opened.ends().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn r18_requests_and_approvals_outlive_the_process() {
    let mut opened = opened().await;
    let ana = opened.with_right("ana");
    let (_, request) = opened.asks(opened.at.alice).await;
    restarts(&mut opened).await;
    opened.press(ana, &request, "Approve").await;
    opened.shows(&request, "approved by ana").await;
    restarts(&mut opened).await;
    opened.ticks(opened.at.alice).await;
    let line = opened.step_line().await;
    assert!(
        line.contains("✅ **4**") && line.contains("approved by ana"),
        "{line}"
    );
    opened.ends().await;
}

async fn restarts(opened: &mut Opened) {
    let app = opened.at.app.take().expect("the bot runs");
    app.stop(Duration::from_secs(5)).await;
    opened.at.starts_bot(tuning(None)).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn r18_a_request_of_a_replaced_analysis_is_void() {
    let opened = opened().await;
    let ana = opened.with_right("ana");
    let (_, request) = opened.asks(opened.at.alice).await;
    let checklist = opened.checklist(1).await;
    opened
        .press(opened.at.alice, &checklist, "Re-analyze")
        .await;
    opened.cards(2).await;
    opened.at.idle().await;
    let replaced = opened.shows(&request, "Replaced by analysis 2").await;
    assert!(replaced.buttons().is_empty(), "{replaced}");
    let late = opened.at.discord.click_as_seen(ana, &request, "Approve");
    let told = late.next_followup().await;
    assert!(told.shows("replaced by a later one"), "{told}");
    assert_eq!(opened.answers().await.len(), 1, "nothing was approved");
    opened.ends().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn r18_a_step_that_reads_otherwise_now_is_not_approved() {
    let opened = opened().await;
    let ana = opened.with_right("ana");
    let (_, request) = opened.asks(opened.at.alice).await;
    // As if what the step rested on had been forgotten since.
    let pool = homes::beside(&opened.at.config.database_url).await;
    query("UPDATE approval SET words = 'other words'")
        .execute(&pool)
        .await
        .expect("the words are changed");
    pool.close().await;
    let press = opened.press(ana, &request, "Approve").await;
    let told = press.next_followup().await;
    assert!(told.shows("no longer stands in the checklist"), "{told}");
    let void = opened.shows(&request, "the request is void").await;
    assert!(
        void.buttons().is_empty() && !void.shows("kubectl delete"),
        "{void}"
    );
    assert_eq!(opened.answers().await.len(), 1);
    // The step as it stands now is asked for anew.
    let (_, again) = opened.asks(opened.at.alice).await;
    assert_ne!(again.id, request.id);
    opened.ends().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn r18_forged_ids_approve_nothing() {
    let opened = opened().await;
    let ana = opened.with_right("ana");
    let number = opened.number();
    let (_, request) = opened.asks(opened.at.alice).await;
    for (custom_id, said) in [
        // A step that nobody asked for, that is not destructive, that is not there.
        (format!("p1:approve:{number}:1:0"), "don't know this button"),
        (
            format!("p1:approve:{number}:1:200"),
            "don't know this button",
        ),
        (
            format!("p1:approveown:{number}:1:2"),
            "don't know this button",
        ),
        // An analysis and an incident that are not there.
        (format!("p1:approve:{number}:9:3"), "don't know this button"),
        (
            "p1:approve:4000:1:3".to_owned(),
            "no incident of this number",
        ),
        // No id at all.
        (
            format!("p1:approve:{number}:1:03"),
            "don't know this button",
        ),
        (
            format!("p1:approve:{number}:1:-1"),
            "don't know this button",
        ),
    ] {
        let seen = forged(&request, &custom_id);
        let press = opened.at.discord.click_as_seen(ana, &seen, "Approve");
        press.response().await;
        opened.at.idle().await;
        let told = match press.followups().pop() {
            Some(told) => told,
            None => press.ephemeral().await,
        };
        assert!(
            told.shows(said) && told.ephemeral_for == Some(ana),
            "{custom_id}: {told}"
        );
    }
    // *Approve my own request* from another person is that person's approval, and named so.
    let seen = forged(&request, &format!("p1:approveown:{number}:1:{STEP}"));
    opened
        .at
        .discord
        .click_as_seen(ana, &seen, "Approve")
        .response()
        .await;
    let request = opened.shows(&request, "✔ approved by ana").await;
    assert!(!request.shows("self-approved"), "{request}");
    opened.ends().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn r18_another_server_and_another_channel_approve_nothing() {
    let opened = opened().await;
    let number = opened.number();
    let (_, request) = opened.asks(opened.at.alice).await;
    // An administrator of another server the bot is in.
    let elsewhere = opened.at.discord.guild("umbrella");
    let channel = opened.at.discord.channel(elsewhere, "ops");
    let eve = opened.at.discord.member(elsewhere, "eve");
    opened
        .at
        .discord
        .grant(elsewhere, eve, standin::permissions::ADMINISTRATOR);
    let help = opened.at.discord.slash(
        eve,
        channel,
        "analyze",
        json!({"report": "checkout is slow"}),
    );
    let theirs = help.original().await;
    opened.at.idle().await;
    let seen = forged(&theirs, &format!("p1:approve:{number}:1:{STEP}"));
    let press = opened.at.discord.click_as_seen(eve, &seen, "Approve");
    let told = press.next_followup().await;
    assert!(told.shows("no incident of this number"), "{told}");
    assert_eq!(opened.answers().await.len(), 1);
    assert!(opened.request().await.shows("Approval needed"));
    let _ = opened.at.discord.message(id(&request));
    let threads = opened.at.discord.threads(channel);
    for thread in threads {
        let _read = opened.at.discord.posts_for(Some(eve), thread);
    }
    let _read = opened.at.discord.posts_for(Some(eve), channel);
    opened.ends().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn r18_in_chinese_too() {
    let opened = opened_in(Some("zh-CN")).await;
    let ana = opened
        .at
        .discord
        .member_speaking(opened.at.guild, "ana", "zh-CN");
    opened
        .at
        .discord
        .grant(opened.at.guild, ana, MANAGE_THREADS);
    let (told, request) = opened.asks(opened.at.alice).await;
    assert!(told.shows("第 4 步会破坏数据或状态"), "{told}");
    assert!(
        request.shows("需要批准 · INC-")
            && request.shows("alice 于")
            && has_button(&request, "批准"),
        "{request}"
    );
    opened.press(ana, &request, "批准").await;
    opened.shows(&request, "✔ 批准人：ana").await;
    opened.ticks(opened.at.alice).await;
    let line = opened.step_line().await;
    assert!(
        line.contains("✅ **4**") && line.contains("批准人：ana"),
        "{line}"
    );
    opened.ends().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn r18_an_interaction_counts_once_and_who_is_late_adds_nothing() {
    use precedent::incident::approval::{Entry, Who};
    use precedent::store::{Approval, StoreError};
    let opened = opened().await;
    let store = opened.at.app.as_ref().expect("the bot runs").store();
    let said = |seq: u32, word: Word| Approval {
        step: 3,
        seq,
        entry: Entry {
            word,
            who: Who {
                person: u64::MAX,
                name: "ana\0".into(),
                at: jiff::Timestamp::from_second(1_779_764_400).expect("a time"),
            },
        },
        words: "digest".into(),
    };
    let (scope, id) = (opened.scope(), opened.id());
    for (seq, word, interaction, added) in [
        (2, Word::Asked, 1, false),
        (1, Word::Asked, 1, true),
        (2, Word::Asked, 1, false),
        (1, Word::Asked, 2, false),
        (2, Word::Approved, 2, true),
        (3, Word::NotNow, 2, false),
        (3, Word::NotNow, 3, true),
    ] {
        let added_now = store
            .say_approval(&scope, id, 1, &said(seq, word), interaction)
            .await
            .expect("it can be said");
        assert_eq!(added_now, added, "{seq} {word:?} {interaction}");
    }
    let kept = store.approvals(&scope, id, 1).await.expect("it is read");
    let words: Vec<Word> = kept.iter().map(|said| said.entry.word).collect();
    assert_eq!(words, [Word::Asked, Word::Approved, Word::NotNow]);
    assert_eq!(
        (kept[0].entry.who.person, kept[0].entry.who.name.as_str()),
        (u64::MAX, "ana")
    );
    // What can't be seen from a channel is not read or written from there.
    let elsewhere = precedent::store::Scope::new("1", "2");
    assert!(matches!(
        store.approvals(&elsewhere, id, 1).await,
        Err(StoreError::NotFound)
    ));
    assert!(matches!(
        store
            .say_approval(&elsewhere, id, 1, &said(4, Word::Approved), 4)
            .await,
        Err(StoreError::NotFound)
    ));
    assert!(
        store
            .say_approval(&scope, id, 9, &said(1, Word::Asked), 5)
            .await
            .is_err(),
        "an analysis that is not there"
    );
    opened.ends().await;
}

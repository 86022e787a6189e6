//! The thread: questions, evidence, and how an incident ends.

use super::opened::{Opened, analysis_answer, ends, has_button, model};
use super::{Given, Incident, REFUND_REPORT, refund_job};
use precedent::incident::{Outcome, Status};
use serde_json::{Value, json};
use standin::llm::{ChatModel, Reply, Task};
use standin::{ChannelId, Post, UserId};

fn memory() -> Vec<Value> {
    vec![
        refund_job(12, "2026-05-14", "held"),
        refund_job(41, "2026-09-23", "held"),
    ]
}

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

async fn opened_with(answer: Value) -> Opened {
    let memory = memory();
    let model: ChatModel = model(analysis_answer(&["INC-0041", "INC-0012"], "SEV3")).await;
    model.on_fn(Task::FollowUp, move |_| Reply::json(&answer));
    Opened::with(
        Given {
            memory: &memory,
            model: Some(model),
            ..Given::default()
        },
        json!({"report": REFUND_REPORT}),
    )
    .await
}

impl Opened {
    /// The reply of the bot to a message.
    async fn reply_to(&self, message: standin::MessageId) -> Post {
        self.at
            .discord
            .await_message(self.thread, |post| post.reply_to == Some(message))
            .await
    }

    fn says(&self, who: UserId, text: &str) -> standin::MessageId {
        self.at.discord.say(who, self.thread, text)
    }

    async fn followup(&self, question: &str) -> Post {
        let asked = self.at.discord.slash(
            self.at.alice,
            self.thread,
            "followup",
            json!({"question": question}),
        );
        asked.original().await
    }

    fn reactions(&self, message: standin::MessageId) -> usize {
        self.at
            .discord
            .peek(message)
            .expect("a message")
            .reactions
            .get("📎")
            .copied()
            .unwrap_or(0)
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_question_by_mention_is_answered_as_a_reply_while_typing_is_shown() {
    let opened = opened().await;
    let question = format!(
        "{} what fixed it last time?",
        opened.at.discord.bot_mention()
    );
    let asked = opened.says(opened.at.alice, &question);
    let answer = opened.reply_to(asked).await;
    assert!(
        answer.shows("Stop the refund job and restart payments-api"),
        "{answer}"
    );
    assert!(answer.shows("INC-0041"), "{answer}");
    assert!(opened.at.discord.typing(opened.thread) > 0);
    // A question is no evidence: no mark, no offer of a new run.
    opened.at.idle().await;
    assert_eq!(opened.reactions(asked), 0);
    assert_eq!(opened.count("since the last analysis"), 0);
    opened.ends().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_plain_question_in_the_thread_is_answered_where_messages_can_be_read() {
    let opened = opened().await;
    let asked = opened.says(opened.at.alice, "what was the cause last time?");
    let answer = opened.reply_to(asked).await;
    assert!(
        answer.shows("The refund job keeps connections open"),
        "{answer}"
    );
    opened.ends().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_followup_command_is_answered_by_the_model_within_the_rules() {
    let opened = opened_with(json!({
        "answer": "The refund job was stopped and payments-api restarted (INC-0041).",
        "memory_refs": ["INC-0041"], "evidence": [], "next_steps": []
    }))
    .await;
    let answer = opened.followup("what fixed it last time?").await;
    assert!(
        answer.shows("The refund job was stopped and payments-api restarted"),
        "{answer}"
    );
    assert!(!answer.shows("rule-based"), "{answer}");
    let asked = opened
        .at
        .model
        .as_ref()
        .expect("a model")
        .requests_for(Task::FollowUp);
    assert!(asked[0].user().contains("what fixed it last time?"));
    assert!(
        asked[0]
            .user()
            .contains("The refund job keeps connections open")
    );
    opened.ends().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_hostile_answer_invents_no_incident_names_nobody_and_links_nowhere() {
    let opened = opened_with(json!({
        "answer": "@everyone see INC-9999 and [the fix](https://evil.example/x) ![](https://evil.example/p.png) <@1> <@&2>. \
                   The refund job was stopped (INC-0041). ```\nrm -rf /\n",
        "memory_refs": ["INC-9999", "INC-0041", "INC-0041", 12],
        "evidence": ["the moon was full"],
        "next_steps": [{"step": "Drop everything", "command": "DROP TABLE charges", "risk": "read_only", "expect": "", "undo": ""}]
    }))
    .await;
    let answer = opened.followup("what fixed it last time?").await;
    for never in [
        "INC-9999",
        "the moon was full",
        "](https://evil",
        "`DROP TABLE",
        "🟢 read-only · Drop everything",
    ] {
        assert!(!answer.shows(never), "{never} in {answer}");
    }
    assert!(answer.pings().is_empty());
    // What was struck of it is told to whoever asks why.
    let why = opened.at.alone(opened.thread, "why", json!({})).await;
    for part in [
        "What the rules changed of the answer to: what fixed it last time?",
        "**references**: struck: INC-9999",
        "struck: the moon was full",
    ] {
        assert!(why.shows(part), "{part} in {why}");
    }
    for never in ["@everyone", "<@1>", "<@&2>"] {
        assert!(!answer.content.contains(never), "{never} in {answer}");
    }
    assert!(answer.shows("INC-0041"), "{answer}");
    opened.ends().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_answer_does_not_carry_another_services_internals_over() {
    let memory = [json!({
        "id": "INC-0030", "title": "order-service 503s", "service": "order-service",
        "resolved_at": "2026-05-14T02:51:00Z",
        "symptoms": ["503s"],
        "error_signatures": ["TillPool - no connection available, timed out after 30000ms"],
        "root_cause": "OrderSweeper held the connections of orders_ro", "fix": "Restart OrderSweeper", "outcome": "held",
    })];
    let model = model(json!({"summary": "503s", "hypotheses": [], "next_steps": []})).await;
    model.on_fn(Task::FollowUp, |_| {
        Reply::json(&json!({
            "answer": "Restart OrderSweeper of payments-api, it holds orders_ro.",
            "memory_refs": ["INC-0030"], "evidence": [], "next_steps": []
        }))
    });
    let at = Incident::begins(Given {
        memory: &memory,
        model: Some(model),
        ..Given::default()
    })
    .await;
    let report = at
        .analyze_with(json!({"report": REFUND_REPORT, "service": "payments-api"}))
        .await;
    let thread = at.thread(&report).await;
    at.discord
        .await_message(thread, |post| has_button(post, "Why?"))
        .await;
    let asked = at.discord.slash(
        at.alice,
        thread,
        "followup",
        json!({"question": "what should I restart?"}),
    );
    let answer = asked.original().await;
    assert!(
        !answer.shows("OrderSweeper") && !answer.shows("orders_ro"),
        "{answer}"
    );
    ends(at).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_neither_report_nor_memory_says_is_said_to_be_unknown() {
    let opened = opened().await;
    let answer = opened
        .followup("which colour is the moon over the data centre?")
        .await;
    assert!(answer.shows("not in the report or in memory"), "{answer}");
    opened.ends().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_burst_of_messages_is_one_question() {
    let opened = opened().await;
    let mention = opened.at.discord.bot_mention();
    opened.says(
        opened.at.alice,
        &format!("{mention} what fixed it last time?"),
    );
    opened.says(opened.at.alice, "and what was the cause?");
    let last = opened.says(opened.at.alice, "I mean on payments-api");
    let answer = opened
        .at
        .discord
        .await_message(opened.thread, |post| post.reply_to.is_some())
        .await;
    assert_ne!(
        answer.reply_to,
        Some(last),
        "the last question is answered: {answer}"
    );
    assert!(answer.shows("Stop the refund job"), "{answer}");
    // Nothing else waits to be answered.
    opened.all_done("follow_up").await;
    let replies = opened
        .at
        .discord
        .posts(opened.thread)
        .iter()
        .filter(|post| post.by_bot && post.reply_to.is_some())
        .count();
    assert_eq!(replies, 1);
    opened.ends().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn evidence_is_marked_quietly_and_offered_for_a_new_run_in_one_message() {
    let opened = opened().await;
    let bob = opened.at.discord.member(opened.at.guild, "bob");
    let first = opened.says(bob, "the refund job started at 02:39");
    let offer = opened.said("1 new message since the last analysis").await;
    let second = opened.says(bob, "TillPool is at 100 of 100");
    let offer = opened
        .shows(&offer, "2 new messages since the last analysis")
        .await;
    opened.at.idle().await;
    assert_eq!((opened.reactions(first), opened.reactions(second)), (1, 1));
    assert_eq!(
        opened.count("since the last analysis"),
        1,
        "one message, edited in place"
    );
    opened
        .press(opened.at.alice, &offer, "Re-analyze with 2 new messages")
        .await;
    let cards = opened.cards(2).await;
    assert!(cards.shows("Analysis 2"), "{cards}");
    opened.at.idle().await;
    let offer = opened.at.discord.message(&offer).expect("the offer");
    assert!(
        offer.buttons().is_empty() && offer.shows("read by analysis 2"),
        "{offer}"
    );
    // What is written later is offered anew.
    opened.says(bob, "free connections: 0");
    opened.said("1 new message since the last analysis").await;
    opened.ends().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_new_run_tells_the_model_what_was_written_since() {
    let opened = opened_with(json!({"answer": ""})).await;
    opened.says(opened.at.alice, "the refund job started at 02:39");
    let offer = opened.said("1 new message since the last analysis").await;
    opened
        .press(opened.at.alice, &offer, "Re-analyze with 1 new message")
        .await;
    opened.cards(2).await;
    let asked = opened
        .at
        .model
        .as_ref()
        .expect("a model")
        .requests_for(Task::Analysis);
    assert!(!asked[0].user().contains("started at 02:39"));
    assert!(
        asked[1].user().contains("started at 02:39"),
        "{}",
        asked[1].user()
    );
    opened.ends().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_written_while_the_model_thinks_is_offered_once_it_has_answered() {
    let memory = memory();
    let model = ChatModel::start().await;
    let (reply, hold) = Reply::json(&analysis_answer(&["INC-0041"], "SEV3")).held();
    model.on_fn(Task::Triage, |_| {
        Reply::json(&super::opened::triage_answer())
    });
    model.on(Task::Analysis, reply);
    let at = Incident::begins(Given {
        memory: &memory,
        model: Some(model),
        ..Given::default()
    })
    .await;
    let report = at.analyze(REFUND_REPORT).await;
    let thread = at.thread(&report).await;
    hold.arrived().await;
    let said = at
        .discord
        .say(at.alice, thread, "the refund job started at 02:39");
    super::opened::until("it is noted", async || {
        at.discord
            .peek(said)
            .is_some_and(|post| post.reactions.contains_key("📎"))
    })
    .await;
    hold.release();
    at.discord
        .await_message(thread, |post| {
            post.shows("1 new message since the last analysis")
        })
        .await;
    ends(at).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn bots_and_webhooks_are_neither_answered_nor_evidence() {
    let opened = opened().await;
    let other = opened.at.discord.other_bot(opened.at.guild, "buildbot");
    let question = format!(
        "{} what fixed it last time?",
        opened.at.discord.bot_mention()
    );
    let by_bot = opened.says(other, &question);
    let by_hook =
        opened
            .at
            .discord
            .webhook_post(opened.thread, "alerts", "the pool is at 30 %", &[]);
    // What a person says afterwards is handled; by then the others would have been.
    let said = opened.says(opened.at.alice, "the refund job started at 02:39");
    opened.said("1 new message since the last analysis").await;
    opened.at.idle().await;
    assert_eq!(
        (
            opened.reactions(by_bot),
            opened.reactions(by_hook),
            opened.reactions(said)
        ),
        (0, 0, 1)
    );
    assert!(
        !opened
            .at
            .discord
            .posts(opened.thread)
            .iter()
            .any(|post| post.reply_to == Some(by_bot))
    );
    opened.ends().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_message_delivered_twice_is_answered_once() {
    let opened = opened().await;
    let asked = opened.says(opened.at.alice, "what fixed it last time?");
    opened.at.discord.redeliver(asked);
    opened.reply_to(asked).await;
    opened.at.idle().await;
    let answers = opened
        .at
        .discord
        .posts(opened.thread)
        .iter()
        .filter(|post| post.reply_to == Some(asked))
        .count();
    assert_eq!(answers, 1);
    opened.ends().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_mention_outside_of_any_incident_says_where_to_ask() {
    let at = Incident::begins(Given::default()).await;
    let asked = at.discord.say(
        at.alice,
        at.channel,
        format!("{} what fixed it?", at.discord.bot_mention()).as_str(),
    );
    let answer = at
        .discord
        .await_message(at.channel, |post| post.reply_to == Some(asked))
        .await;
    assert!(
        answer.shows("No incident belongs to this channel"),
        "{answer}"
    );
    // And a command there is refused to that person alone.
    let command = at.discord.slash(
        at.alice,
        at.channel,
        "followup",
        json!({"question": "what fixed it?"}),
    );
    assert!(
        command
            .ephemeral()
            .await
            .shows("No incident belongs to this channel")
    );
    // Talk among people is none of its business.
    at.discord.say(at.alice, at.channel, "lunch?");
    ends(at).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn resolving_is_prefilled_stored_and_shown() {
    let opened = opened().await;
    let cards = opened.cards(1).await;
    opened
        .press(opened.at.alice, &cards, "1 Cause confirmed")
        .await;
    opened.shows(&cards, "cause confirmed by").await;
    opened
        .press(opened.at.alice, &cards, "1 Trying this fix")
        .await;
    opened.shows(&cards, "is trying this fix").await;
    let resolve = opened.at.discord.slash(
        opened.at.alice,
        opened.thread,
        "resolve",
        json!({"worked": "yes"}),
    );
    let form = resolve.modal().await;
    assert_eq!(
        form.field("cause").expect("a cause").value,
        "The refund job keeps connections open"
    );
    assert_eq!(
        form.field("fix").expect("a fix").value,
        "Stop the refund job and restart payments-api"
    );
    let sent = opened.at.discord.submit_modal(
        opened.at.alice,
        &resolve,
        &[
            ("ruled_out", "A slow query\nThe gateway"),
            ("prevention", "Limit the job's connections"),
        ],
    );
    let said = sent.original().await;
    assert!(said.shows("resolved by alice"), "{said}");
    let stored = opened.stored().await;
    assert_eq!(stored.status, Status::Resolved);
    assert_eq!(stored.past.outcome(), Outcome::Mitigated);
    assert_eq!(stored.past.ruled_out, ["A slow query", "The gateway"]);
    assert_eq!(stored.past.prevention, "Limit the job's connections");
    opened
        .at
        .discord
        .await_edit(&opened.at.headline(&opened.report).await, |post| {
            post.shows("✅ resolved")
        })
        .await;
    opened.shows(&cards, "✅ resolved").await;
    opened.ends().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_was_resolved_is_recalled_next_time() {
    let opened = Opened::with(
        Given::default(),
        json!({"report": REFUND_REPORT, "service": "payments-api"}),
    )
    .await;
    let resolve = opened.at.discord.slash(
        opened.at.alice,
        opened.thread,
        "resolve",
        json!({"worked": "yes"}),
    );
    resolve.modal().await;
    let sent = opened.at.discord.submit_modal(
        opened.at.alice,
        &resolve,
        &[
            ("cause", "The ledger export held every connection"),
            ("fix", "Pause the ledger export"),
        ],
    );
    sent.original().await;
    let Opened { at, .. } = opened;
    super::clock::minutes_pass(&at, 121).await;
    let second = Opened::reported(
        at,
        json!({"report": REFUND_REPORT, "service": "payments-api"}),
    )
    .await;
    let headline = second.at.headline(&second.report).await;
    assert!(
        headline.shows("Seen 1x here") && headline.shows("Pause the ledger export"),
        "{headline}"
    );
    let cards = second.cards(1).await;
    assert!(
        cards.shows("The ledger export held every connection"),
        "{cards}"
    );
    assert!(cards.shows("worked, not known to hold"), "{cards}");
    second.ends().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_fix_that_did_not_work_is_remembered_as_failed() {
    let opened = Opened::with(
        Given::default(),
        json!({"report": REFUND_REPORT, "service": "payments-api"}),
    )
    .await;
    let resolve = opened.at.discord.slash(
        opened.at.alice,
        opened.thread,
        "resolve",
        json!({"worked": "no"}),
    );
    assert_eq!(
        resolve.modal().await.field("fix").expect("a fix").label,
        "Fix that did not work"
    );
    let sent = opened.at.discord.submit_modal(
        opened.at.alice,
        &resolve,
        &[("fix", "Restart payments-api")],
    );
    assert!(sent.original().await.shows("did not work here"));
    let Opened { at, .. } = opened;
    super::clock::minutes_pass(&at, 121).await;
    let second = Opened::reported(
        at,
        json!({"report": REFUND_REPORT, "service": "payments-api"}),
    )
    .await;
    let headline = second.at.headline(&second.report).await;
    assert!(headline.shows("FAILED LAST TIME (INC-0001"), "{headline}");
    second.ends().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn resolving_for_somebody_else_takes_the_right_to_manage_threads() {
    let opened = opened().await;
    let bob = opened.at.discord.member(opened.at.guild, "bob");
    let refused =
        opened
            .at
            .discord
            .slash(bob, opened.thread, "resolve", json!({"worked": "unsure"}));
    let told = refused.ephemeral().await;
    assert!(
        told.shows("You need the Manage Threads permission"),
        "{told}"
    );
    opened
        .at
        .discord
        .grant(opened.at.guild, bob, standin::permissions::MANAGE_THREADS);
    let allowed =
        opened
            .at
            .discord
            .slash(bob, opened.thread, "resolve", json!({"worked": "unsure"}));
    allowed.modal().await;
    let sent = opened.at.discord.submit_modal(bob, &allowed, &[]);
    let said = sent.original().await;
    assert!(
        said.shows("resolved by bob") && said.shows("not known"),
        "{said}"
    );
    opened.ends().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn resolving_outside_of_an_incident_is_refused_privately() {
    let at = Incident::begins(Given::default()).await;
    let asked = at
        .discord
        .slash(at.alice, at.channel, "resolve", json!({"worked": "yes"}));
    assert!(
        asked
            .ephemeral()
            .await
            .shows("No incident belongs to this channel")
    );
    ends(at).await;
}

/// Every message of a channel, as one text.
fn whole(at: &Incident, channel: ChannelId) -> String {
    at.discord
        .posts(channel)
        .iter()
        .map(Post::to_text)
        .collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_secret_in_a_question_or_a_message_is_stored_and_shown_nowhere() {
    let opened = opened().await;
    let secret = "AKIAIOSFODNN7EXAMPLE";
    opened.says(
        opened.at.alice,
        &format!("the job uses {secret} and mail ops@example.com"),
    );
    opened.said("1 new message since the last analysis").await;
    let answer = opened.followup(&format!("is {secret} still valid?")).await;
    assert!(!answer.shows(secret), "{answer}");
    let report = opened.stored().await.report.expect("a report");
    assert!(!report.all_text().contains(secret) && !report.all_text().contains("ops@example.com"));
    let by_bot: String = opened
        .at
        .discord
        .posts(opened.thread)
        .iter()
        .filter(|post| post.by_bot)
        .map(Post::to_text)
        .collect();
    assert!(!by_bot.contains(secret));
    assert!(!whole(&opened.at, opened.at.channel).contains(secret));
    opened.ends().await;
}

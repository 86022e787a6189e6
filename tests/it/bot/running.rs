//! A running incident: who leads, where it stands, its times and its impact, as people own them.

use super::clock::minutes_pass;
use super::opened::{Opened, has_button};
use super::{Given, REFUND_REPORT, refund_job};
use precedent::incident::Status;
use serde_json::{Value, json};
use standin::permissions::MANAGE_THREADS;
use standin::{Failure, Post, UserId};

async fn grave() -> Opened {
    let memory = [refund_job(12, "2026-05-14", "held")];
    Opened::with(
        Given {
            memory: &memory,
            ..Given::default()
        },
        json!({"report": REFUND_REPORT, "severity": "SEV2"}),
    )
    .await
}

impl Opened {
    async fn minutes_pass(&self, minutes: i64) {
        minutes_pass(&self.at, minutes).await;
        self.at.idle().await;
    }

    async fn ask_privately(&self, who: UserId, command: &str, options: Value) -> Post {
        let command = self.at.discord.slash(who, self.thread, command, options);
        command.ephemeral().await
    }

    async fn history(&self) -> Vec<precedent::store::Event> {
        let store = self.at.app.as_ref().expect("the bot runs").store();
        let history = store.history(&self.scope(), self.id()).await;
        history.expect("the history can be read")
    }

    async fn headline(&self) -> Post {
        self.report.original().await
    }

    /// `/incident set` in the thread: the private answer.
    async fn set(&self, who: UserId, options: Value) -> Post {
        let command = self
            .at
            .discord
            .slash(who, self.thread, "incident set", options);
        let answer = command.original().await;
        self.at.idle().await;
        answer
    }
}

fn text_of(post: &Post, name: &str) -> String {
    let file = post.file(name).expect("the file is attached");
    String::from_utf8(file.bytes.clone()).expect("text")
}

#[tokio::test(flavor = "multi_thread")]
async fn whoever_presses_first_leads_and_may_hand_it_on() {
    let opened = grave().await;
    let bob = opened.at.discord.member(opened.at.guild, "bob");
    let carol = opened.at.discord.member(opened.at.guild, "carol");
    let headline = opened.headline().await;
    opened.press(bob, &headline, "I'll lead").await;
    opened.said("👤 bob leads.").await;
    let headline = opened.shows(&headline, "Lead: bob").await;
    let stored = opened.stored().await;
    assert!(stored.acknowledged_at.is_some(), "leading acknowledges");
    // Somebody leads: another one needs the right, and is told so alone.
    let refused = opened.press(carol, &headline, "I'll lead").await;
    assert!(refused.next_followup().await.shows("Manage Threads"));
    assert_eq!(
        opened.headline().await.embeds[0]["footer"]["text"],
        headline.embeds[0]["footer"]["text"]
    );
    // A change of shift, by whoever leads.
    let done = opened.set(bob, json!({"lead": carol.to_string()})).await;
    assert!(done.shows("is changed"), "{done}");
    opened.said("✎ bob: lead: bob → carol").await;
    let headline = opened.shows(&headline, "Lead: carol").await;
    opened.press(carol, &headline, "I'll lead").await;
    opened.said("👤 carol no longer leads: nobody does.").await;
    opened.ends().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_grave_incident_without_a_lead_says_so_after_two_minutes() {
    let opened = grave().await;
    let headline = opened.headline().await;
    assert!(!headline.shows("Nobody leads this yet"));
    opened.minutes_pass(2).await;
    let headline = opened.shows(&headline, "Nobody leads this yet").await;
    opened.press(opened.at.alice, &headline, "I'll lead").await;
    opened.said("👤 alice leads.").await;
    let headline = opened.shows(&headline, "Lead: alice").await;
    assert!(!headline.shows("Nobody leads this yet"), "{headline}");
    opened.ends().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn mitigated_is_one_tap_and_asks_which_fix_did_it() {
    let opened = grave().await;
    let cards = opened.cards(1).await;
    opened
        .press(opened.at.alice, &cards, "1 Trying this fix")
        .await;
    let headline = opened.headline().await;
    opened.press(opened.at.alice, &headline, "Mitigated").await;
    opened.said("🩹 Mitigated, says alice").await;
    let asked = opened.said("Which fix did it?").await;
    assert_eq!(opened.stored().await.status, Status::Mitigated);
    assert!(opened.stored().await.mitigated_at.is_some());
    let headline = opened.shows(&headline, "mitigated in").await;
    assert!(has_button(&headline, "Not mitigated") && !has_button(&headline, "Mitigated"));
    opened
        .at
        .discord
        .select(
            opened.at.alice,
            &asked,
            "Which fix did it?",
            &["Stop the refund job and restart payments-api"],
        )
        .response()
        .await;
    opened.at.idle().await;
    opened
        .said("What helped, says alice: Stop the refund job")
        .await;
    opened.shows(&cards, "alice").await;
    // A second thought.
    opened
        .press(opened.at.alice, &headline, "Not mitigated")
        .await;
    opened.said("Not mitigated after all, says alice.").await;
    let stored = opened.stored().await;
    assert_eq!(stored.status, Status::Investigating);
    assert_eq!(stored.mitigated_at, None);
    opened.ends().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_false_alarm_is_one_tap_and_comes_back_with_another() {
    let opened = grave().await;
    let mallory = opened.at.discord.member(opened.at.guild, "mallory");
    let headline = opened.headline().await;
    let refused = opened.press(mallory, &headline, "False alarm").await;
    assert!(refused.next_followup().await.shows("Manage Threads"));
    assert_eq!(opened.stored().await.status, Status::Investigating);
    opened
        .press(opened.at.alice, &headline, "False alarm")
        .await;
    opened.said("False alarm, says alice.").await;
    let headline = opened.shows(&headline, "false alarm").await;
    opened
        .press(opened.at.alice, &headline, "Not a false alarm")
        .await;
    opened.said("Not a false alarm after all").await;
    assert_eq!(opened.stored().await.status, Status::Investigating);
    opened.ends().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_people_say_of_the_impact_stands_on_the_headline_and_in_the_history() {
    let opened = grave().await;
    let headline = opened.headline().await;
    let bob = opened.at.discord.member(opened.at.guild, "bob");
    opened
        .set(
            bob,
            json!({"how_many": "about 8 % of card payments", "workaround": "trying again"}),
        )
        .await;
    opened
        .said("✎ bob: how many: – → about 8 % of card payments")
        .await;
    opened
        .shows(
            &headline,
            "about 8 % of card payments · workaround: trying again",
        )
        .await;
    // The severity is not everybody's.
    let refused = opened.set(bob, json!({"severity": "SEV1"})).await;
    assert!(refused.shows("Manage Threads"), "{refused}");
    opened
        .at
        .discord
        .grant(opened.at.guild, bob, MANAGE_THREADS);
    opened
        .set(bob, json!({"severity": "SEV1", "status": "fixing"}))
        .await;
    opened.said("✎ bob: severity: SEV2 → SEV1 · status:").await;
    let history = opened.history().await;
    let severity = history
        .iter()
        .rev()
        .find(|event| event.what == "severity")
        .expect("an event");
    assert_eq!(severity.by, "bob");
    assert_eq!(severity.detail, json!({"from": "SEV2", "to": "SEV1"}));
    let again = opened.set(bob, json!({"severity": "SEV1"})).await;
    assert!(again.shows("stands like that already"), "{again}");
    opened.ends().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn times_are_read_as_people_write_them_and_kept_in_order() {
    let opened = grave().await;
    let alice = opened.at.alice;
    let bad = opened.set(alice, json!({"started": "yesterdayish"})).await;
    assert!(bad.shows("I can't read the time for"), "{bad}");
    let future = opened
        .set(alice, json!({"started": "2099-01-01 10:00"}))
        .await;
    assert!(future.shows("may not lie in the future"), "{future}");
    opened.set(alice, json!({"started": "20m ago"})).await;
    let wrong = opened.set(alice, json!({"detected": "30m ago"})).await;
    assert!(
        wrong.shows("*detected* would come before *impact began*"),
        "{wrong}"
    );
    assert_eq!(
        opened.stored().await.detected_at,
        None,
        "nothing is changed"
    );
    opened
        .set(alice, json!({"detected": "30m ago", "started": "40m ago"}))
        .await;
    let headline = opened.headline().await;
    opened.press(alice, &headline, "Mitigated").await;
    let headline = opened
        .shows(&headline, "mitigated in 40 min, counted from: impact began")
        .await;
    let show = opened
        .ask_privately(alice, "incident show", json!({}))
        .await;
    assert!(
        show.shows("**detected**") && show.shows("**mitigated**"),
        "{show}"
    );
    drop(headline);
    opened.ends().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn who_comes_late_gets_five_lines_alone() {
    let opened = grave().await;
    let carol = opened.at.discord.member(opened.at.guild, "carol");
    let cards = opened.cards(1).await;
    opened
        .press(opened.at.alice, &cards, "1 Trying this fix")
        .await;
    let headline = opened.headline().await;
    opened.press(opened.at.alice, &headline, "I'll lead").await;
    let caught = opened.ask_privately(carol, "catchup", json!({})).await;
    let lines: Vec<&str> = caught.content.lines().collect();
    assert_eq!(lines.len(), 5, "{caught}");
    for (line, part) in [
        (0, "SEV2 · payments-api"),
        (0, "open "),
        (1, "**Impact**"),
        (2, "**Root cause**"),
        (
            3,
            "Stop the refund job and restart payments-api (being tried, alice",
        ),
        (4, "**Lead** alice"),
        (4, "**Next update**"),
    ] {
        assert!(
            lines[line].contains(part),
            "{part} in line {line} of {caught}"
        );
    }
    opened.ends().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_has_its_own_words_for_how_grave_something_is() {
    let opened = grave().await;
    let root = opened.at.discord.member(opened.at.guild, "root");
    opened
        .at
        .discord
        .grant(opened.at.guild, root, standin::permissions::MANAGE_GUILD);
    let printed = opened
        .ask_privately(root, "settings severity", json!({}))
        .await;
    assert!(
        printed.shows(
            "**SEV2** a major function or many users, no workaround · an update every 60 min"
        ),
        "{printed}"
    );
    let changed = opened
        .ask_privately(
            root,
            "settings severity",
            json!({"level": "SEV2", "criteria": "checkout is down", "minutes": 20}),
        )
        .await;
    assert!(
        changed.shows("**SEV2** checkout is down · an update every 20 min"),
        "{changed}"
    );
    let refused = opened
        .ask_privately(opened.at.alice, "settings severity", json!({}))
        .await;
    assert!(refused.shows("Manage Server"), "{refused}");
    opened.ends().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn each_update_knows_the_last_one_and_says_what_changed() {
    let opened = grave().await;
    let alice = opened.at.alice;
    let first = opened.update(1).await;
    assert!(!first.shows("update 2"), "{first}");
    opened
        .set(
            alice,
            json!({"how_many": "about 8 % of card payments", "what": "fail with an error"}),
        )
        .await;
    let headline = opened.headline().await;
    opened.press(alice, &headline, "I'll lead").await;
    opened.press(alice, &first, "Refresh").await;
    let second = opened.shows(&first, "update 2").await;
    for part in [
        "Impact: about 8 % of card payments – fail with an error",
        "Changed since ",
        "impact was: some customers cannot pay",
        "alice leads now",
        "Lead: alice",
        " or on change",
    ] {
        assert!(second.shows(part), "{part} in {second}");
    }
    // The same again is no third one.
    opened.press(alice, &second, "Refresh").await;
    let again = opened.update(1).await;
    assert!(
        again.shows("update 2") && !again.shows("update 3"),
        "{again}"
    );
    // Customers read no share, no service, no person, no id.
    opened.press(alice, &again, "Status page").await;
    let public = opened.shows(&again, "Investigating: ").await;
    for never in ["8 %", "payments-api", "alice", "INC-", "SEV"] {
        assert!(!public.content.contains(never), "{never} in {public}");
    }
    assert!(
        public.shows("We are working on it and will post again by "),
        "{public}"
    );
    let sent = opened.press(alice, &public, "Mark as sent").await;
    assert!(
        sent.ephemeral()
            .await
            .shows("Noted: the update (Status page) went out")
    );
    opened.press(alice, &public, "Executive").await;
    let executive = opened.shows(&public, "Public notice: posted ").await;
    for part in [
        "Root cause: not confirmed",
        "Restoration time: not known",
        "Data: not known yet; loss is not ruled out",
    ] {
        assert!(executive.shows(part), "{part} in {executive}");
    }
    opened.ends().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_overdue_update_shows_and_pings_only_who_asked_for_it() {
    let opened = grave().await;
    let bob = opened.at.discord.member(opened.at.guild, "bob");
    let update = opened.update(1).await;
    let set = opened.press(bob, &update, "Remind me").await;
    assert!(
        set.ephemeral()
            .await
            .shows("I'll ping you, and nobody else")
    );
    let headline = opened.headline().await;
    opened.minutes_pass(59).await;
    assert!(!opened.headline().await.shows("Update overdue"));
    opened.minutes_pass(1).await;
    let headline = opened.shows(&headline, "Update overdue since").await;
    let reminder = opened.said("the update of INC-0013 is due").await;
    assert_eq!(
        reminder.allowed_mentions(),
        Some(&json!({"parse": [], "users": [bob.to_string()]}))
    );
    // Said anew, it is due an hour later again.
    opened.press(opened.at.alice, &update, "Refresh").await;
    let done = opened
        .set(opened.at.alice, json!({"next_update": "in 20m"}))
        .await;
    assert!(done.shows("is changed"), "{done}");
    opened
        .at
        .discord
        .await_edit(&headline, |post| !post.shows("Update overdue"))
        .await;
    assert_eq!(opened.count("is due"), 1, "once");
    super::opened::ends_having_reminded(opened.at, &[bob]).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_timeline_says_who_did_what_and_the_postmortem_imports_back() {
    let opened = grave().await;
    let alice = opened.at.alice;
    let cards = opened.cards(1).await;
    let headline = opened.headline().await;
    opened.press(alice, &headline, "I'll lead").await;
    opened.press(alice, &cards, "1 Trying this fix").await;
    opened.press(alice, &cards, "1 Cause confirmed").await;
    opened
        .set(
            alice,
            json!({"started": "40m ago", "severity": "SEV1", "data": "none lost"}),
        )
        .await;
    opened.press(alice, &cards, "1 Worked").await;
    let resolve =
        opened
            .at
            .discord
            .slash(alice, opened.thread, "resolve", json!({"worked": "yes"}));
    resolve.modal().await;
    let sent = opened.at.discord.submit_modal(
        alice,
        &resolve,
        &[("prevention", "Give the refund job a pool of its own")],
    );
    sent.original().await;
    opened.at.idle().await;
    let timeline = opened
        .ask_privately(alice, "incident timeline", json!({}))
        .await;
    let file = text_of(&timeline, "timeline-INC-0013.md");
    for part in [
        "alice: reported: payments-api answers intermittent 503s",
        "analysis 1, by rules; first hypothesis (not confirmed): The refund job keeps connections open",
        "alice: lead: – → alice",
        "alice: tries: Stop the refund job and restart payments-api",
        "alice: confirms the cause: The refund job keeps connections open",
        "alice: severity: SEV2 → SEV1",
        "precedent: update (Internal): ",
        "alice: resolved",
    ] {
        assert!(file.contains(part), "{part} in {file}");
    }
    let draft = opened
        .ask_privately(alice, "incident postmortem", json!({}))
        .await;
    let draft = text_of(&draft, "postmortem-INC-0013.md");
    for part in [
        "- **Service**: payments-api",
        "- resolved in 40 min, counted from: impact began",
        "## Root cause\n\nThe refund job keeps connections open\n\n_Confirmed by a person._",
        "## Prevention\n\nGive the refund job a pool of its own",
    ] {
        assert!(draft.contains(part), "{part} in {draft}");
    }
    // By rules alone nothing is written by a model, and nobody wrote a summary.
    assert!(draft.contains("## Summary\n\n_Not recorded._"), "{draft}");
    assert!(!draft.contains("(model)_"), "{draft}");
    let line = precedent::present::chronicle::record_in(&draft).expect("the record");
    let read = precedent::memory::format::parse_line(line).expect("a line");
    assert_eq!(read.past, opened.stored().await.past);
    opened.ends().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_possible_exposure_suggests_a_private_thread_and_drafts_nothing_public() {
    let opened = Opened::with(
        Given::default(),
        json!({
            "report": "customers see other customers' invoices in payments-api, personal data may be leaked",
            "severity": "SEV2",
        }),
    )
    .await;
    let headline = opened.headline().await;
    assert!(
        headline.shows("🔒 Possible data exposure: go on in a private thread"),
        "{headline}"
    );
    let update = opened.update(1).await;
    opened.press(opened.at.alice, &update, "Status page").await;
    let public = opened
        .shows(&update, "nothing public is drafted here")
        .await;
    assert!(!public.shows("We are working on it"), "{public}");
    opened.ends().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_people_say_of_the_impact_goes_out_checked_too() {
    let opened = grave().await;
    let alice = opened.at.alice;
    let update = opened.update(1).await;
    // Blame, a service and an id of ours are no business of customers.
    set_and_read(
        &opened,
        &update,
        "what",
        "Card payments fail. Ben's deploy of payments-api broke it, see INC-0012",
    )
    .await;
    let public = opened.update(1).await;
    for never in ["Ben", "payments-api", "INC-0012"] {
        assert!(!public.content.contains(never), "{never} in {public}");
    }
    // Said of the impact, an exposure counts as one said in the report.
    opened
        .set(
            alice,
            json!({"data": "other customers' e-mail addresses were shown"}),
        )
        .await;
    opened.press(alice, &public, "Refresh").await;
    let public = opened
        .shows(&update, "nothing public is drafted here")
        .await;
    assert!(!public.shows("We are working on it"), "{public}");
    let headline = opened.headline().await;
    assert!(headline.shows("🔒 Possible data exposure"), "{headline}");
    opened.ends().await;
}

async fn set_and_read(opened: &Opened, update: &Post, field: &str, text: &str) {
    opened.set(opened.at.alice, json!({field: text})).await;
    opened.press(opened.at.alice, update, "Status page").await;
    opened.shows(update, "Card payments fail").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_fix_that_did_it_can_be_named_after_another_analysis_came() {
    let opened = grave().await;
    let alice = opened.at.alice;
    let headline = opened.headline().await;
    opened.press(alice, &headline, "Mitigated").await;
    let asked = opened.said("Which fix did it?").await;
    let checklist = opened.checklist(1).await;
    opened.press(alice, &checklist, "Re-analyze").await;
    opened.checklist(2).await;
    let fix = "Stop the refund job and restart payments-api";
    let chosen = opened
        .at
        .discord
        .select(alice, &asked, "Which fix did it?", &[fix]);
    chosen.response().await;
    opened.at.idle().await;
    opened
        .said("What helped, says alice: Stop the refund job")
        .await;
    let store = opened.at.app.as_ref().expect("the bot runs").store();
    let attempts = store.attempts(&opened.scope(), opened.id()).await;
    let attempts = attempts.expect("attempts can be read");
    assert_eq!(attempts.len(), 1, "{attempts:?}");
    assert_eq!(
        (attempts[0].fix.fix.as_str(), attempts[0].fix.outcome),
        (fix, precedent::incident::Outcome::Mitigated)
    );
    opened.ends().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_chinese_incident_is_owned_in_chinese() {
    let opened = Opened::with(
        Given {
            locale: Some("zh-CN"),
            ..Given::default()
        },
        json!({"report": "payments-api 从 02:41 UTC 开始间歇性返回 503，部分用户无法付款", "severity": "SEV2"}),
    )
    .await;
    let alice = opened.at.alice;
    let headline = opened.headline().await;
    opened.press(alice, &headline, "我来负责").await;
    opened.said("👤 由 alice 负责。").await;
    let done = opened
        .set(
            alice,
            json!({"how_many": "约 8 % 的付款", "what": "付款失败", "started": "20 分钟前"}),
        )
        .await;
    assert!(done.shows("已更新，并已在子区中说明"), "{done}");
    opened.said("影响范围：– → 约 8 % 的付款").await;
    let update = opened.update(1).await;
    opened.press(alice, &update, "刷新").await;
    let second = opened.shows(&update, "第 2 次更新").await;
    for part in [
        "影响：约 8 % 的付款，付款失败",
        "现由 alice 负责",
        "，如有变化会提前",
    ] {
        assert!(second.shows(part), "{part} in {second}");
    }
    opened.press(alice, &second, "状态页").await;
    let public = opened.shows(&second, "我们正在处理，并将于").await;
    for never in ["8 %", "payments-api", "alice", "INC-", "SEV"] {
        assert!(!public.content.contains(never), "{never} in {public}");
    }
    opened.press(alice, &headline, "已缓解").await;
    opened
        .said("🩹 alice 表示已缓解（缓解用时 20 分钟（自影响开始起））。")
        .await;
    let caught = opened.ask_privately(alice, "catchup", json!({})).await;
    assert_eq!(caught.content.lines().count(), 5, "{caught}");
    opened.ends().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_people_press_while_the_model_thinks_stands_when_it_answers() {
    let model = super::opened::model(super::opened::analysis_answer(&["INC-0012"], "SEV2")).await;
    let (reply, hold) = super::triage_reply().held();
    model.on(standin::llm::Task::Triage, reply);
    let at = super::Incident::begins(Given {
        model: Some(model),
        ..Given::default()
    })
    .await;
    let report = at
        .analyze_with(json!({"report": REFUND_REPORT, "severity": "SEV2"}))
        .await;
    let thread = at.thread(&report).await;
    hold.arrived().await;
    let headline = report.original().await;
    let press = at.discord.click(at.alice, &headline, "I'll lead");
    press.response().await;
    let headline = at
        .discord
        .await_edit(&headline, |post| post.shows("Lead: alice"))
        .await;
    hold.release();
    let update = at
        .discord
        .await_message(thread, |post| {
            post.shows("Lead: alice") && post.shows("Impact:")
        })
        .await;
    at.idle().await;
    drop((headline, update));
    assert!(report.original().await.shows("Lead: alice"));
    super::opened::ends(at).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn two_who_set_different_things_at_once_both_have_their_way() {
    let opened = grave().await;
    let bob = opened.at.discord.member(opened.at.guild, "bob");
    let set = |who, options| {
        opened
            .at
            .discord
            .slash(who, opened.thread, "incident set", options)
    };
    let one = set(
        opened.at.alice,
        json!({"how_many": "about 8 % of payments"}),
    );
    let other = set(bob, json!({"workaround": "trying again"}));
    one.original().await;
    other.original().await;
    opened.at.idle().await;
    let impact = opened.stored().await.impact;
    assert_eq!(
        (impact.how_many.as_str(), impact.workaround.as_str()),
        ("about 8 % of payments", "trying again")
    );
    opened.ends().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_analysis_says_the_update_that_a_person_s_time_was_for() {
    let opened = grave().await;
    let alice = opened.at.alice;
    opened.set(alice, json!({"next_update": "in 5m"})).await;
    opened.minutes_pass(6).await;
    let headline = opened.headline().await;
    let headline = opened.shows(&headline, "Update overdue since").await;
    let checklist = opened.checklist(1).await;
    opened.press(alice, &checklist, "Re-analyze").await;
    opened.checklist(2).await;
    opened
        .at
        .discord
        .await_edit(&headline, |post| !post.shows("Update overdue"))
        .await;
    opened.ends().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_marked_as_sent_is_what_was_shown() {
    let opened = grave().await;
    let alice = opened.at.alice;
    opened
        .set(alice, json!({"what": "Card payments fail"}))
        .await;
    // In the thread, and alone: both are buttons on words that stay as they are.
    let update = opened.update(1).await;
    opened.press(alice, &update, "Status page").await;
    let shown = opened.shows(&update, "Card payments fail").await;
    let alone = opened
        .ask_privately(alice, "update", json!({"audience": "executive"}))
        .await;
    assert!(alone.shows("Card payments fail"), "{alone}");
    opened.set(alice, json!({"what": "Refunds fail too"})).await;
    for (draft, audience) in [(&shown, "Status page"), (&alone, "Executive")] {
        let sent = opened.press(alice, draft, "Mark as sent").await;
        let said = sent.ephemeral().await;
        assert!(
            said.shows(&format!("the update ({audience}) went out")),
            "{said}"
        );
    }
    let sent: Vec<(Value, Value)> = opened
        .history()
        .await
        .into_iter()
        .filter(|event| event.what == "update" && event.by == "alice")
        .map(|event| (event.detail["to"].clone(), event.detail["text"].clone()))
        .collect();
    let body = |post: &Post| post.content.trim_matches('`').trim().to_owned();
    assert_eq!(
        sent,
        [
            (json!("status_page"), json!(body(&shown))),
            (json!("executive"), json!(body(&alone))),
        ]
    );
    // The next one says what changed since those words, not since they were sent.
    opened.press(alice, &shown, "Executive").await;
    let next = opened.shows(&shown, "Refunds fail too").await;
    assert!(next.shows("impact was: Card payments fail"), "{next}");
    opened.ends().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_press_is_said_once_whatever_discord_answers_meanwhile() {
    let opened = grave().await;
    let alice = opened.at.alice;
    let headline = opened.headline().await;
    let away = || Failure::error(503, 0, "away");
    opened
        .at
        .discord
        .fail_times("POST", "/channels/*/messages", away(), 3);
    opened.press(alice, &headline, "I'll lead").await;
    opened.said("👤 alice leads.").await;
    super::faults::settled(&opened.at).await;
    assert_eq!(opened.count("👤 alice leads."), 1);
    assert_eq!(
        opened
            .stored()
            .await
            .lead
            .as_deref()
            .map(|lead| lead.ends_with(":alice")),
        Some(true)
    );
    // Mitigated asks which fix did it, after the same.
    opened
        .at
        .discord
        .fail_times("POST", "/channels/*/messages", away(), 3);
    opened.press(alice, &headline, "Mitigated").await;
    super::faults::settled(&opened.at).await;
    opened.said("Mitigated, says alice").await;
    assert_eq!(opened.stored().await.status, Status::Mitigated);
    opened.ends().await;
}

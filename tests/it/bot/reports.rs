//! How a report comes in: the command with its options, the form, and a message.

use super::opened::{Opened, analysis_answer, ends, has_button, model};
use super::{Given, Incident, REFUND_REPORT, refund_job};
use serde_json::json;
use standin::{Response, Upload};

const HELD: &[(u32, &str, &str)] = &[(12, "2026-05-14", "held"), (41, "2026-09-23", "held")];

fn memory() -> Vec<serde_json::Value> {
    HELD.iter()
        .map(|(n, day, outcome)| refund_job(*n, day, outcome))
        .collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn service_names_are_completed_by_what_they_begin_with_and_by_alias() {
    let at = Incident::begins(Given {
        memory: &memory(),
        ..Given::default()
    })
    .await;
    at.discord
        .grant(at.guild, at.alice, standin::permissions::MANAGE_GUILD);
    for (name, aliases) in [
        ("payments-api", "till, billing"),
        ("search", "finder"),
        ("pay-gateway", ""),
    ] {
        let set = at.discord.slash(
            at.alice,
            at.channel,
            "service set",
            json!({"name": name, "aliases": aliases}),
        );
        assert!(set.ephemeral().await.shows("is stored"));
    }
    for (typed, expected) in [
        ("pay", vec!["pay-gateway", "payments-api"]),
        ("PAYM", vec!["payments-api"]),
        ("till", vec!["payments-api"]),
        ("find", vec!["search"]),
        ("nothing-like-it", vec![]),
    ] {
        let asked = at.discord.autocomplete(
            at.alice,
            at.channel,
            "analyze",
            "service",
            json!({"service": typed}),
        );
        let names: Vec<String> = asked
            .choices()
            .await
            .into_iter()
            .map(|choice| choice.name)
            .collect();
        assert_eq!(names, expected, "{typed}");
    }
    ends(at).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_alias_as_the_service_option_is_the_service() {
    let at = Incident::begins(Given {
        memory: &memory(),
        ..Given::default()
    })
    .await;
    at.discord
        .grant(at.guild, at.alice, standin::permissions::MANAGE_GUILD);
    at.discord
        .slash(
            at.alice,
            at.channel,
            "service set",
            json!({"name": "payments-api", "aliases": "till"}),
        )
        .ephemeral()
        .await;
    let opened = Opened::reported(
        at,
        json!({"report": "503s, TillPool - no connection available, timed out after 30000ms", "service": "till"}),
    )
    .await;
    let headline = opened.at.headline(&opened.report).await;
    assert!(headline.shows("payments-api"), "{headline}");
    assert!(headline.shows("Seen 2x here"), "{headline}");
    opened.ends().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_persons_severity_wins_over_model_and_rules() {
    let memory = memory();
    let opened = Opened::with(
        Given {
            memory: &memory,
            model: Some(model(analysis_answer(&["INC-0041", "INC-0012"], "SEV4")).await),
            ..Given::default()
        },
        json!({"report": REFUND_REPORT, "severity": "SEV1"}),
    )
    .await;
    let headline = opened.at.headline(&opened.report).await;
    assert!(headline.shows("SEV1 · payments-api"), "{headline}");
    // For SEV1 the update is posted unasked.
    let update = opened.update(1).await;
    assert!(update.content.contains("SEV1"), "{update}");
    opened.ends().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_attached_log_is_read_and_quoted() {
    let at = Incident::begins(Given {
        memory: &memory(),
        ..Given::default()
    })
    .await;
    let log = at.discord.upload(Upload::new(
        "app.log",
        "02:41:07 INFO started\n02:41:09 ERROR TillPool - no connection available, timed out after 30000ms\n",
    ));
    let opened = Opened::reported(
        at,
        json!({"report": "payments-api answers 503s", "log": log.to_string()}),
    )
    .await;
    let cards = opened.cards(1).await;
    assert!(cards.shows("TillPool - no connection available"), "{cards}");
    opened.ends().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_binary_attachment_is_said_not_to_be_read() {
    let at = Incident::begins(Given {
        memory: &memory(),
        ..Given::default()
    })
    .await;
    let log = at.discord.upload(Upload::new(
        "core.bin",
        vec![0_u8, 159, 146, 150, 0, 0, 1, 2, 255, 0],
    ));
    let opened =
        Opened::reported(at, json!({"report": REFUND_REPORT, "log": log.to_string()})).await;
    let cards = opened.cards(1).await;
    assert!(cards.shows("I did not read core.bin"), "{cards}");
    opened.ends().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn without_text_a_form_opens_that_keeps_what_was_typed() {
    let at = Incident::begins(Given {
        memory: &memory(),
        ..Given::default()
    })
    .await;
    let asked = at
        .analyze_with(json!({"service": "payments-api", "severity": "SEV2"}))
        .await;
    let form = asked.modal().await;
    assert_eq!(
        form.field("service").expect("a service").value,
        "payments-api"
    );
    assert_eq!(form.field("severity").expect("a severity").value, "SEV2");
    assert_eq!(form.field("report").expect("a report").length.1, 4000);
    let sent = at
        .discord
        .submit_modal(at.alice, &asked, &[("report", REFUND_REPORT)]);
    let thread = at.thread(&sent).await;
    at.settled(thread).await;
    let headline = at.headline(&sent).await;
    assert!(headline.shows("SEV2 · payments-api"), "{headline}");
    assert!(
        at.discord
            .posts(thread)
            .iter()
            .any(|post| has_button(post, "Why?"))
    );
    ends(at).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_severity_that_is_none_is_left_to_the_rules() {
    let at = Incident::begins(Given {
        memory: &memory(),
        ..Given::default()
    })
    .await;
    let asked = at.analyze_with(json!({})).await;
    asked.modal().await;
    let sent = at.discord.submit_modal(
        at.alice,
        &asked,
        &[("report", REFUND_REPORT), ("severity", "very bad")],
    );
    let thread = at.thread(&sent).await;
    at.settled(thread).await;
    assert!(
        at.headline(&sent).await.shows("SEV3"),
        "{}",
        at.headline(&sent).await
    );
    ends(at).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_plain_message_is_analysed_by_the_message_command() {
    let at = Incident::begins(Given {
        memory: &memory(),
        ..Given::default()
    })
    .await;
    let said = at.discord.say(at.alice, at.channel, REFUND_REPORT);
    let asked = at
        .discord
        .message_command(at.alice, "Analyze as incident", said);
    let thread = at.thread(&asked).await;
    at.settled(thread).await;
    let headline = at.headline(&asked).await;
    assert!(
        headline.shows("payments-api") && headline.shows("Seen 2x here"),
        "{headline}"
    );
    ends(at).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_alert_that_is_all_embed_is_read_with_its_fields() {
    let at = Incident::begins(Given {
        memory: &memory(),
        ..Given::default()
    })
    .await;
    let alert = at.discord.webhook_post(
        at.channel,
        "alerts",
        "",
        &[json!({
            "title": "FIRING: 503s on charges",
            "description": "error rate over the threshold",
            "fields": [
                {"name": "service", "value": "payments-api"},
                {"name": "log", "value": "TillPool - no connection available, timed out after 30000ms"}
            ]
        })],
    );
    let asked = at
        .discord
        .message_command(at.alice, "Analyze as incident", alert);
    let thread = at.thread(&asked).await;
    let posts = at.settled(thread).await;
    let headline = at.headline(&asked).await;
    assert!(
        headline.shows("payments-api") && headline.shows("Seen 2x here"),
        "{headline}"
    );
    assert!(
        posts
            .iter()
            .any(|post| post.shows("TillPool - no connection available"))
    );
    ends(at).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_empty_message_is_refused_in_words_to_that_person_alone() {
    let at = Incident::begins(Given::default()).await;
    let empty = at
        .discord
        .webhook_post(at.channel, "alerts", "", &[json!({"color": 3})]);
    let asked = at
        .discord
        .message_command(at.alice, "Analyze as incident", empty);
    let refusal = asked.ephemeral().await;
    assert!(refusal.shows("There is no text to analyze"), "{refusal}");
    ends(at).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn inside_a_thread_everything_is_posted_there() {
    let at = Incident::begins(Given {
        memory: &memory(),
        ..Given::default()
    })
    .await;
    let thread = at
        .discord
        .thread(at.alice, at.channel, "payments are odd", false);
    let before = at.discord.posts(at.channel).len();
    let asked = at.discord.slash(
        at.alice,
        thread,
        "analyze",
        json!({"report": REFUND_REPORT}),
    );
    asked.original().await;
    at.discord
        .await_message(thread, |post| has_button(post, "Why?"))
        .await;
    at.idle().await;
    assert_eq!(
        at.discord.posts(at.channel).len(),
        before,
        "nothing in the channel"
    );
    assert_eq!(at.discord.threads(at.channel).len(), 1, "no second thread");
    let posts = at.discord.posts(thread);
    assert!(posts.iter().any(|post| post.shows("SEV3 · payments-api")));
    assert!(
        posts
            .iter()
            .any(|post| has_button(post, "1 Cause confirmed"))
    );
    ends(at).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_chinese_report_is_answered_in_chinese_from_headline_to_checklist() {
    let memory = [json!({
        "id": "INC-0007", "title": "支付服务间歇性503，连接池耗尽", "service": "payments-api",
        "started_at": "2026-08-14T02:10:00Z", "resolved_at": "2026-08-14T02:51:00Z",
        "symptoms": ["支付间歇性失败", "连接池没有空闲连接"],
        "error_signatures": ["TillPool - no connection available, timed out after 30000ms"],
        "root_cause": "退款任务占用连接", "fix": "停止退款任务并重启 payments-api", "outcome": "held",
    })];
    let opened = Opened::with(
        Given { memory: &memory, locale: Some("zh-CN"), ..Given::default() },
        json!({"report": "payments-api 从 02:41 UTC 起间歇性返回503，部分用户无法支付。\nERROR TillPool - no connection available, timed out after 30000ms", "severity": "SEV2"}),
    )
    .await;
    let headline = opened.at.headline(&opened.report).await;
    assert!(headline.shows("本服务出现过 1 次"), "{headline}");
    let cards = opened.cards(1).await;
    assert!(
        cards.shows("来自记忆") && cards.shows("退款任务占用连接"),
        "{cards}"
    );
    let checklist = opened.checklist(1).await;
    assert!(checklist.shows("🟢 只读"), "{checklist}");
    let update = opened.update(1).await;
    assert!(
        update.content.contains("影响：") && update.content.contains("下次更新："),
        "{update}"
    );
    let help = opened
        .at
        .discord
        .slash(opened.at.alice, opened.thread, "help", json!({}));
    assert!(help.ephemeral().await.shows("谁可以做什么"));
    opened.ends().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_report_notifies_nobody_whatever_names_it_holds() {
    let at = Incident::begins(Given {
        memory: &[json!({
            "id": "INC-0003", "title": "@everyone 503s <@1> TillPool", "service": "payments-api",
            "symptoms": ["@here 503s"],
            "error_signatures": ["TillPool - no connection available, timed out after 30000ms"],
            "root_cause": "the <@&5> job, says @everyone", "fix": "ask <@123456789012345678> to stop it", "outcome": "held",
            "resolved_at": "2026-05-14T02:51:00Z"
        })],
        ..Given::default()
    })
    .await;
    let bob = at.discord.member(at.guild, "@everyone");
    let role = at.discord.role(at.guild, "oncall", 0);
    at.discord.give_role(at.guild, at.alice, role);
    at.discord.set_mentionable(role, true);
    let report = format!(
        "@everyone @here payments-api 503s <@{}> <@&{role}> TillPool - no connection available, timed out after 30000ms",
        at.alice
    );
    let asked = at.discord.slash(
        bob,
        at.channel,
        "analyze",
        json!({"report": report, "severity": "SEV1"}),
    );
    let thread = at.thread(&asked).await;
    at.settled(thread).await;
    at.discord.say(
        bob,
        thread,
        format!("<@{}> @everyone the pool is at 30 %", at.alice).as_str(),
    );
    at.discord
        .await_message(thread, |post| post.shows("1 new message"))
        .await;
    at.discord.say(
        bob,
        thread,
        format!(
            "{} what fixed it last time? @everyone",
            at.discord.bot_mention()
        )
        .as_str(),
    );
    at.discord
        .await_message(thread, |post| post.reply_to.is_some())
        .await;
    ends(at).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_report_over_the_form_that_is_blank_is_refused() {
    let at = Incident::begins(Given::default()).await;
    let asked = at.analyze_with(json!({})).await;
    asked.modal().await;
    let sent = at
        .discord
        .submit_modal(at.alice, &asked, &[("report", "   ")]);
    assert!(matches!(sent.response().await, Response::Message(_)));
    assert!(sent.ephemeral().await.shows("There is no text to analyze"));
    ends(at).await;
}

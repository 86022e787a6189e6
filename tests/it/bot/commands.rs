//! Commands that are answered to one person alone.

use super::opened::{Opened, analysis_answer, ends, model};
use super::{Given, Incident, REFUND_REPORT, refund_job};
use serde_json::{Value, json};
use standin::{ChannelId, Post};

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

impl Incident {
    /// Alice uses a command, and is answered alone.
    pub(super) async fn alone(&self, channel: ChannelId, command: &str, options: Value) -> Post {
        self.discord
            .slash(self.alice, channel, command, options)
            .ephemeral()
            .await
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn why_tells_what_was_recalled_how_it_was_scored_and_what_was_corrected() {
    let memory = memory();
    let mut answer = analysis_answer(&["INC-0041", "INC-0012", "INC-7777"], "SEV3");
    answer["hypotheses"][0]["confidence"] = 100.into();
    let opened = Opened::with(
        Given {
            memory: &memory,
            model: Some(model(answer).await),
            ..Given::default()
        },
        json!({"report": REFUND_REPORT}),
    )
    .await;
    let why = opened.at.alone(opened.thread, "why", json!({})).await;
    for part in [
        "INC-0041: direct match, similarity",
        "model said 100",
        "2 proven, 0 refuted",
        "references",
        "memory gave no such incident for this (R1)",
        "INC-7777",
        "Tokens and time",
        "tokens",
        "Who was asked",
    ] {
        assert!(why.shows(part), "{part} in {why}");
    }
    // The button below the checklist says the same.
    let checklist = opened.checklist(1).await;
    let pressed = opened.at.discord.click(opened.at.alice, &checklist, "Why?");
    assert_eq!(pressed.ephemeral().await.to_text(), why.to_text());
    opened.ends().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_long_why_comes_with_a_file() {
    let memory = memory();
    let mut answer = analysis_answer(&["INC-0041"], "SEV3");
    let many: Vec<Value> = (0..60)
        .map(|n| json!({"cause": format!("cause number {n} that was never looked at by anybody at all in that night"), "memory_refs": [format!("INC-8{n:03}")], "reason": "it was excluded"}))
        .collect();
    answer["ruled_out_by_history"] = many.into();
    let opened = Opened::with(
        Given {
            memory: &memory,
            model: Some(model(answer).await),
            ..Given::default()
        },
        json!({"report": REFUND_REPORT}),
    )
    .await;
    let why = opened.at.alone(opened.thread, "why", json!({})).await;
    assert_eq!(why.files.len(), 1, "{why}");
    assert!(
        why.files[0].text().contains("INC-8019"),
        "{}",
        why.files[0].text()
    );
    opened.ends().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn outside_of_an_incident_why_and_update_say_so() {
    let at = Incident::begins(Given::default()).await;
    for command in ["why", "update", "incident show"] {
        let told = at.alone(at.channel, command, json!({})).await;
        assert!(
            told.shows("No incident belongs to this channel"),
            "{command}: {told}"
        );
    }
    ends(at).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn update_takes_its_audience_as_an_option() {
    let opened = opened().await;
    let internal = opened.at.alone(opened.thread, "update", json!({})).await;
    assert!(
        internal.content.contains("SEV3 · payments-api"),
        "{internal}"
    );
    let public = opened
        .at
        .alone(opened.thread, "update", json!({"audience": "status_page"}))
        .await;
    for never in ["SEV", "payments-api", "INC-", "%"] {
        assert!(!public.content.contains(never), "{never} in {public}");
    }
    let board = opened
        .at
        .alone(opened.thread, "update", json!({"audience": "executive"}))
        .await;
    assert!(board.content.contains("SEV3"), "{board}");
    // Its audience is changed in place there too.
    let click = opened
        .at
        .discord
        .click(opened.at.alice, &board, "Status page");
    click.response().await;
    opened
        .at
        .discord
        .await_edit(&board, |post| !post.content.contains("SEV3"))
        .await;
    opened.ends().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn incidents_are_shown_and_listed() {
    let opened = opened().await;
    let here = opened
        .at
        .alone(opened.thread, "incident show", json!({}))
        .await;
    assert!(
        here.shows("INC-0042") && here.shows("🔎 investigating"),
        "{here}"
    );
    let past = opened
        .at
        .alone(opened.at.channel, "incident show", json!({"id": "inc 41"}))
        .await;
    assert!(
        past.shows("INC-0041") && past.shows("The refund job keeps connections open"),
        "{past}"
    );
    for unknown in ["INC-9999", "nonsense", "-1", "0"] {
        let told = opened
            .at
            .alone(opened.at.channel, "incident show", json!({"id": unknown}))
            .await;
        assert!(
            told.shows("There is no incident of this number that you may see"),
            "{unknown}: {told}"
        );
    }
    for (status, listed) in [
        ("open", true),
        ("resolved", false),
        ("all", true),
        ("false_alarm", false),
    ] {
        let list = opened
            .at
            .alone(
                opened.at.channel,
                "incident list",
                json!({"status": status}),
            )
            .await;
        assert_eq!(list.shows("INC-0042"), listed, "{status}: {list}");
    }
    let list = opened
        .at
        .alone(opened.at.channel, "incident list", json!({}))
        .await;
    assert!(list.shows("INC-0042"), "{list}");
    opened.ends().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn memory_is_searched_shown_and_added_to() {
    let memory = memory();
    let at = Incident::begins(Given {
        memory: &memory,
        ..Given::default()
    })
    .await;
    let found = at
        .alone(
            at.channel,
            "memory search",
            json!({"query": "TillPool no connection available"}),
        )
        .await;
    assert!(
        found.shows("INC-0041") && found.shows("INC-0012"),
        "{found}"
    );
    let select = found.selects()[0].placeholder.clone();
    let open = at.discord.select(at.alice, &found, &select, &["12"]);
    assert!(open.ephemeral().await.shows("INC-0012"));
    let nothing = at
        .alone(at.channel, "memory search", json!({"query": "zeppelin"}))
        .await;
    assert!(nothing.selects().is_empty(), "{nothing}");
    let shown = at
        .alone(at.channel, "memory show", json!({"id": "41"}))
        .await;
    assert!(
        shown.shows("Stop the refund job and restart payments-api"),
        "{shown}"
    );

    let added = at
        .alone(
            at.channel,
            "memory add",
            json!({"title": "Search is slow after the nightly reindex", "service": "search", "symptoms": "p99 over 4 s",
                   "cause": "The reindex job takes all IO", "fix": "Throttle the reindex job", "outcome": "held"}),
        )
        .await;
    assert!(added.shows("INC-0042 is in memory now"), "{added}");
    let shown = at
        .alone(at.channel, "memory show", json!({"id": "INC-0042"}))
        .await;
    assert!(
        shown.shows("Throttle the reindex job") && shown.shows("held"),
        "{shown}"
    );
    let report = at.analyze_with(json!({"report": "search is slow since the nightly reindex, p99 over 4 s", "service": "search"})).await;
    let thread = at.thread(&report).await;
    at.settled(thread).await;
    let headline = at.headline(&report).await;
    assert!(
        headline.shows("Seen 1x here") && headline.shows("INC-0042"),
        "{headline}"
    );
    ends(at).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn services_are_configured_by_who_may_and_listed_for_all() {
    let at = Incident::begins(Given::default()).await;
    for (command, options) in [
        ("service set", json!({"name": "payments-api"})),
        (
            "service alias",
            json!({"name": "payments-api", "alias": "till"}),
        ),
    ] {
        let told = at.alone(at.channel, command, options).await;
        assert!(
            told.shows("You need the Manage Server permission"),
            "{told}"
        );
    }
    assert!(
        at.alone(at.channel, "service list", json!({}))
            .await
            .shows("No services")
    );
    at.discord
        .grant(at.guild, at.alice, standin::permissions::MANAGE_GUILD);
    let set = at
        .alone(
            at.channel,
            "service set",
            json!({"name": "payments-api", "aliases": "till, billing", "high_risk": "refund", "environments_apart": "prod, staging"}),
        )
        .await;
    assert!(set.shows("Service payments-api is stored"), "{set}");
    let alias = at
        .alone(
            at.channel,
            "service alias",
            json!({"name": "till", "alias": "paysvc"}),
        )
        .await;
    assert!(alias.shows("paysvc now means payments-api"), "{alias}");
    let list = at.alone(at.channel, "service list", json!({})).await;
    for part in [
        "payments-api",
        "till",
        "billing",
        "paysvc",
        "high risk: refund",
        "kept apart: prod, staging",
    ] {
        assert!(list.shows(part), "{part} in {list}");
    }
    for bad in ["", " ", "<@1>", "a`b"] {
        let told = at
            .alone(at.channel, "service set", json!({"name": bad}))
            .await;
        assert!(told.shows("not a usable service name"), "{bad:?}: {told}");
    }
    let taken = at
        .alone(
            at.channel,
            "service set",
            json!({"name": "other", "aliases": "till"}),
        )
        .await;
    assert!(
        !taken.shows("is stored"),
        "an alias means one service: {taken}"
    );
    ends(at).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn help_names_what_works_today_and_nothing_else() {
    let at = Incident::begins(Given::default()).await;
    let help = at.alone(at.channel, "help", json!({})).await;
    for part in [
        "/analyze",
        "/followup",
        "/resolve",
        "/memory search",
        "/memory import",
        "/memory review",
        "/service alias",
        "/memory forget",
        "/settings roles",
        "/settings severity",
        "/catchup",
        "/incident set",
        "Analyze as incident",
        "Remember as incident",
        "Manage Threads",
        "Manage Server",
    ] {
        assert!(help.shows(part), "{part} in {help}");
    }
    assert!(!help.shows("calibration"), "{help}");
    ends(at).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_chinese_client_is_answered_in_chinese() {
    let memory = memory();
    let at = Incident::begins(Given {
        memory: &memory,
        locale: Some("zh-CN"),
        ..Given::default()
    })
    .await;
    for (command, options, part) in [
        ("help", json!({}), "谁可以做什么"),
        ("why", json!({}), "本频道没有对应的故障"),
        ("incident list", json!({}), "没有故障"),
        ("memory search", json!({"query": "TillPool"}), "记忆 · 2"),
        ("memory show", json!({"id": "41"}), "根因"),
        ("memory add", json!({"title": "搜索变慢"}), "已存入记忆"),
        ("service set", json!({"name": "x"}), "「管理服务器」权限"),
    ] {
        let told = at.alone(at.channel, command, options).await;
        assert!(told.shows(part), "{command}: {part} in {told}");
    }
    let form = at.analyze_with(json!({})).await.modal().await;
    assert_eq!(form.title, "报告故障");
    ends(at).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_past_incident_of_another_guild_or_a_private_channel_cannot_be_opened() {
    let memory = memory();
    let at = Incident::begins(Given {
        memory: &memory,
        ..Given::default()
    })
    .await;
    let elsewhere = at.discord.guild("globex");
    let channel = at.discord.channel(elsewhere, "incidents");
    let eve = at.discord.member(elsewhere, "eve");
    for (command, options) in [
        ("memory show", json!({"id": "INC-0041"})),
        ("incident show", json!({"id": "INC-0041"})),
    ] {
        let told = at
            .discord
            .slash(eve, channel, command, options)
            .ephemeral()
            .await;
        assert!(
            told.shows("There is no incident of this number that you may see"),
            "{told}"
        );
    }
    let found = at
        .discord
        .slash(eve, channel, "memory search", json!({"query": "TillPool"}))
        .ephemeral()
        .await;
    assert!(!found.shows("INC-0041"), "{found}");

    let bot = at.discord.bot();
    let private = at
        .discord
        .private_channel(at.guild, "security", &[at.alice, bot]);
    let added = at
        .alone(
            private,
            "memory add",
            json!({"title": "leaked signing key", "fix": "rotate it", "outcome": "held"}),
        )
        .await;
    assert!(added.shows("INC-0042 is in memory now"), "{added}");
    let told = at
        .alone(at.channel, "memory show", json!({"id": "INC-0042"}))
        .await;
    assert!(
        told.shows("There is no incident of this number that you may see"),
        "{told}"
    );
    let found = at
        .alone(
            at.channel,
            "memory search",
            json!({"query": "leaked signing key"}),
        )
        .await;
    assert!(!found.shows("INC-0042"), "{found}");
    assert!(
        at.alone(private, "memory show", json!({"id": "INC-0042"}))
            .await
            .shows("rotate it")
    );
    ends(at).await;
}

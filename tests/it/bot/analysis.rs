//! `/analyze`, from what is typed to what is posted.

use super::model::{
    all_shown, analysed, cards, checklist, cites, model_that_says, nothing_leaks, text_of, triaged,
};
use super::{Given, Incident, REFUND_REPORT, refund_job};
use precedent::incident::Severity;
use regex::Regex;
use serde_json::json;
use standin::llm::{ChatModel, Task};
use standin::{Post, Say, Upload};

/// The text with the day and hour of the run taken out.
fn without_now(text: &str) -> String {
    Regex::new(r"\d{1,2} [A-Z][a-z]{2}( \d{4})?,? \d\d:\d\d UTC|\d{4}-\d\d-\d\d \d\d:\d\d UTC")
        .expect("a pattern")
        .replace_all(text, "<now>")
        .into_owned()
}

/// The update, which is its own message.
fn update(posts: &[Post]) -> Option<&Post> {
    posts.iter().find(|post| post.content.starts_with("```"))
}

#[tokio::test(flavor = "multi_thread")]
async fn a_report_with_a_proven_precedent_becomes_cards_and_a_checklist() {
    let incident = Incident::begins(Given {
        memory: &[
            refund_job(12, "2026-05-14", "held"),
            refund_job(41, "2026-09-23", "held"),
        ],
        ..Given::default()
    })
    .await;
    let report = incident.analyze(REFUND_REPORT).await;
    let thread = incident.thread(&report).await;
    let posts = incident.settled(thread).await;
    let headline = incident.headline(&report).await;
    nothing_leaks(&all_shown(&incident, &report, thread).await);
    assert!(
        update(&posts).is_none(),
        "SEV3: behind its button:\n{}",
        text_of(&posts)
    );
    insta::assert_snapshot!(headline.to_text(), @r#"
    │ # SEV3 · payments-api · answers intermittent 503s
    │ Seen 2x here, last <t:R> · fixed in 41 min by stop the refund job and restart payments-api (INC-0041) · check first: read the latest errors in the logs
    │ -- INC-0042 · 🔎 investigating
    [I'll lead](*:lead:*) [Mitigated](*:mitigated:*) [False alarm](*:falsealarm:*) [Catch up](*:catchup:*)
    thread: #payments-api · answers intermittent 503s
    "#);
    insta::assert_snapshot!(cards(&posts).to_text(), @r#"
    **⚠ rule-based: no model is configured**
    │ **Memory** Seen here, and a fix held (2 here: 2 held, 0 failed, 0 unknown; searched 2, 2 on this service)
    │ **In short** payments-api answers intermittent 503s since 02:41 UTC
    │ **Severity** SEV3 (proposed by rule): By rule, from the report: some customers cannot pay
    │ ⚠ Proposed by rule: a past cause is a hypothesis until it is checked
    │ by ▣ FROM MEMORY
    │ # 1 · The refund job keeps connections open
    │ **WORKED TWICE HERE** · last <t:D> · rule score 75 · high
    │ **Fix** Stop the refund job and restart payments-api (from INC-0041 · prod · <t:R>)
    │ Tried 2 times on payments-api: held 2, failed 0 · last <t:D> in prod
    │ **Check** Read the latest errors in the logs
    │ **Evidence**
    │ - **INC-0041** · direct match · held · <t:D> · resolved in 41 min
    │ - **INC-0012** · direct match · held · <t:D> · resolved in 41 min
    │ - `ERROR TillPool - no connection available, timed out after 30000ms`
    [1 Cause confirmed](*:cause:*) [1 Not it](*:notit:*) [1 Trying this fix](*:try:*)
    {Open a past incident (only you see it)}(*:past:*) INC-0041 · direct match · held | INC-0012 · direct match · held
    "#);
    insta::assert_snapshot!(checklist(&posts).to_text(), @r#"
    │ # ☑ Next steps
    │ ⬜ **1** 🟢 read-only · Read the latest errors in the logs
    │  `kubectl -n <namespace> logs deployment/payments-api --tail=200`
    │
    │ ⬜ **2** 🟢 read-only · Read state and restarts of the pods
    │  `kubectl -n <namespace> get pods`
    │
    │ ⬜ **3** 🟢 read-only · List what changed before the impact began
    │ ⬜ **4** 🟢 read-only · Compare errors, latency and traffic with the same time yesterday
    │ ⬜ **5** 🟠 risky · Stop the refund job and restart payments-api
    │  expect: not known · undo: not known
    {Tick or untick steps}(*:tick:*) 1 Read the latest errors in the logs | 2 Read state and restarts of the pods | 3 List what changed before the impact began | 4 Compare errors, latency and traffic with the same time yesterday | 5 Stop the refund job and restart payments-api
    {Take a step, or give yours back}(*:take:*) 1 Read the latest errors in the logs | 2 Read state and restarts of the pods | 3 List what changed before the impact began | 4 Compare errors, latency and traffic with the same time yesterday | 5 Stop the refund job and restart payments-api
    [Re-analyze](*:again:*) [Stakeholder update](*:showupdate:*) [Why?](*:why:*)
    "#);
    incident.ends().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_model_s_answer_to_a_sev2_becomes_cards_checklist_and_an_update_unasked() {
    let model = model_that_says(
        &triaged("SEV2"),
        &analysed(
            "SEV2",
            json!([
                cites(json!(["INC-0041"]), json!("92%")),
                {
                    "title": "The gateway sends every charge twice",
                    "source": "memory", "memory_refs": [], "evidence": [], "contradicted_by": [],
                    "confidence": 70, "verify": "Compare the requests at the gateway with those at the service",
                    "fix": "", "fix_ref": "",
                },
            ]),
        ),
    )
    .await;
    let incident = Incident::begins(Given {
        memory: &[
            refund_job(12, "2026-05-14", "held"),
            refund_job(41, "2026-09-23", "held"),
        ],
        model: Some(model),
        ..Given::default()
    })
    .await;
    let report = incident
        .analyze_with(json!({"report": REFUND_REPORT, "severity": "SEV2"}))
        .await;
    let thread = incident.thread(&report).await;
    let posts = incident.settled(thread).await;
    let headline = incident.headline(&report).await;
    let shown = all_shown(&incident, &report, thread).await;
    nothing_leaks(&shown);
    for never in ["92%", "92 %", "rule score 92", "rule-based", "Try again"] {
        assert!(!shown.contains(never), "{never} is shown:\n{shown}");
    }
    for post in posts.iter().filter(|post| post.by_bot) {
        assert!(post.pings().is_empty(), "{post}");
    }
    insta::assert_snapshot!(headline.to_text(), @r#"
    │ # SEV2 · payments-api · Intermittent 503s on payments
    │ Seen 2x here, last <t:R> · fixed in 41 min by stop the refund job and restart payments-api (INC-0041) · check first: count the connections that the refund job holds
    │ -- INC-0042 · 🔎 investigating
    [I'll lead](*:lead:*) [Mitigated](*:mitigated:*) [False alarm](*:falsealarm:*) [Catch up](*:catchup:*)
    thread: #payments-api · answers intermittent 503s
    "#);
    insta::assert_snapshot!(cards(&posts).to_text(), @r#"
    │ **Memory** Seen here, and a fix held (2 here: 2 held, 0 failed, 0 unknown; searched 2, 2 on this service)
    │ **In short** Some charges fail because no connection is available.
    │ by ▣ FROM MEMORY
    │ # 1 · The refund job keeps connections open
    │ **WORKED TWICE HERE** · last <t:D> · rule score 89 · high
    │ **Fix** Stop the refund job and restart payments-api
    │ Tried 2 times on payments-api: held 2, failed 0 · last <t:D> in prod
    │ **Check** Count the connections that the refund job holds
    │ **Evidence**
    │ - **INC-0041** · direct match · held · <t:D> · resolved in 41 min
    │ - **INC-0012** · direct match · held · <t:D> · resolved in 41 min · added by rule
    │ - `no connection available, timed out after 30000ms`
    │ by ○ GENERAL PRACTICE
    │ # 2 · The gateway sends every charge twice
    │ **NOT PROVEN** · rule score 25 · low
    │ **Check** Compare the requests at the gateway with those at the service
    │ **Limits** 2 look-alikes here had another cause
    [1 Cause confirmed](*:cause:*) [1 Not it](*:notit:*) [1 Trying this fix](*:try:*)
    [2 Cause confirmed](*:cause:*) [2 Not it](*:notit:*)
    {Open a past incident (only you see it)}(*:past:*) INC-0041 · direct match · held | INC-0012 · direct match · held
    "#);
    insta::assert_snapshot!(checklist(&posts).to_text(), @r#"
    │ # ☑ Next steps
    │ ⬜ **1** 🟢 read-only · Count the connections in use
    │ ⬜ **2** 🟢 read-only · Read the logs of the refund job
    │  `kubectl logs deploy/refund-job --tail=100`
    │
    │ ⬜ **3** 🟢 read-only · Compare with the time before 02:41 UTC
    │ ⬜ **4** 🟠 risky · Stop the refund job
    │  expect: connections become free · undo: start the refund job again
    {Tick or untick steps}(*:tick:*) 1 Count the connections in use | 2 Read the logs of the refund job | 3 Compare with the time before 02:41 UTC | 4 Stop the refund job
    {Take a step, or give yours back}(*:take:*) 1 Count the connections in use | 2 Read the logs of the refund job | 3 Compare with the time before 02:41 UTC | 4 Stop the refund job
    [Re-analyze](*:again:*) [Why?](*:why:*)
    "#);
    let update = update(&posts).expect("SEV2: an update unasked");
    insta::assert_snapshot!(without_now(&update.to_text()), @r#"
    ```
    INC-0042 · SEV2 · payments-api · Intermittent 503s on payments
    Investigating · <now>
    Impact: Some customers cannot pay
    Since: 02:41 UTC
    Known: not known yet
    Not confirmed: why no connection is available
    Doing: looking at the connections
    Lead: nobody yet
    Next update: <now> or on change
    ```
    [Internal](*:update:*:internal off) [Status page](*:update:*:status_page) [Executive](*:update:*:executive) [Refresh](*:refresh:*:internal) [Remind me](*:remind:*)
    "#);
    // Triage and progress came before, in the message that now holds the cards.
    assert!(
        cards(&posts)
            .history()
            .iter()
            .any(|version| version.contains("Triage ✓ · Memory ✓ 2 precedents")),
        "{:#?}",
        cards(&posts).history()
    );
    let own = posts
        .iter()
        .filter(|post| post.by_bot && !post.content.is_empty() || !post.embeds.is_empty());
    assert!(
        own.count() <= 4,
        "at most four messages:\n{}",
        text_of(&posts)
    );
    incident.ends().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_update_of_a_sev3_waits_behind_its_button() {
    let model = model_that_says(
        &triaged("SEV3"),
        &analysed("SEV3", json!([cites(json!(["INC-0041"]), json!(80))])),
    )
    .await;
    let incident = Incident::begins(Given {
        memory: &[refund_job(41, "2026-09-23", "held")],
        model: Some(model),
        ..Given::default()
    })
    .await;
    let report = incident.analyze(REFUND_REPORT).await;
    let thread = incident.thread(&report).await;
    let posts = incident.settled(thread).await;
    assert!(
        update(&posts).is_none(),
        "nobody asked:\n{}",
        text_of(&posts)
    );
    let click = incident
        .discord
        .click(incident.alice, checklist(&posts), "Stakeholder update");
    click.response().await;
    let update = incident
        .discord
        .await_message(thread, |post| post.content.starts_with("```"))
        .await;
    assert!(
        !update.shows("refund job keeps"),
        "no unconfirmed cause as fact:\n{update}"
    );
    assert!(update.shows("Some customers cannot pay"), "{update}");
    let _read = incident.settled(thread).await;
    incident.ends().await;
}

/// English that stands outside code spans, ids and what people or records said in Latin letters.
fn english(text: &str) -> Vec<String> {
    let mut text = Regex::new(r"`[^`\n]*`|\(\*:[^)]*\)|\(thread starter\)|by ▣|<t:[^>]*>")
        .expect("a pattern")
        .replace_all(text, " ")
        .into_owned();
    for name in [
        "TillPool - no connection available, timed out after 30000ms",
        "payments-api",
        "UTC",
        "SEV",
    ] {
        text = text.replace(name, " ");
    }
    Regex::new(r"[A-Za-z]{3,} [A-Za-z]{2,}")
        .expect("a pattern")
        .find_iter(&text)
        .map(|found| found.as_str().to_owned())
        .collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn who_speaks_chinese_reads_chinese_from_headline_to_update() {
    let past = json!({
        "id": "INC-0012",
        "title": "支付接口间歇性 503，连接池耗尽",
        "service": "payments-api",
        "started_at": "2026-05-14T02:10:00Z",
        "resolved_at": "2026-05-14T02:51:00Z",
        "symptoms": ["支付接口间歇性返回 503", "连接池没有空闲连接"],
        "error_signatures": ["TillPool - no connection available, timed out after 30000ms"],
        "root_cause": "退款任务一直占用连接",
        "fix": "停止退款任务并重启支付服务",
        "outcome": "held",
    });
    let mut hypothesis = cites(json!(["INC-0012"]), json!(80));
    hypothesis["title"] = json!("退款任务一直占用连接");
    hypothesis["verify"] = json!("查看退款任务占用的连接数");
    hypothesis["fix"] = json!("");
    hypothesis["fix_ref"] = json!("INC-0012");
    hypothesis["evidence"] = json!(["部分用户无法支付"]);
    let mut answer = analysed("SEV2", json!([hypothesis]));
    answer["summary"] = json!("部分支付失败，因为没有空闲连接。");
    answer["severity_assessment"]["reason"] = json!("部分用户无法支付");
    answer["next_steps"] = json!([
        {"step": "查看连接数", "command": "", "risk": "read_only", "expect": "", "undo": ""},
        {"step": "查看退款任务的日志", "command": "", "risk": "read_only", "expect": "", "undo": ""},
        {"step": "停止退款任务", "command": "", "risk": "risky", "expect": "连接被释放", "undo": "重新启动退款任务"},
        {"step": "对比昨天同一时间的流量", "command": "", "risk": "read_only", "expect": "", "undo": ""},
    ]);
    answer["stakeholder_update"] = json!({
        "impact": "部分用户无法支付", "since": "02:41 UTC", "known": "", "not_confirmed": "为什么没有空闲连接", "doing": "正在查看连接", "needed": "",
    });
    let mut triage = triaged("SEV2");
    triage["title"] = json!("支付间歇性 503");
    triage["symptoms"] = json!(["部分用户无法支付"]);
    triage["recall_query"] = json!("支付 503 连接池");
    for with_model in [false, true] {
        let model = match with_model {
            true => Some(model_that_says(&triage, &answer).await),
            false => None,
        };
        let incident = Incident::begins(Given {
            memory: std::slice::from_ref(&past),
            model,
            locale: Some("zh-CN"),
            ..Given::default()
        })
        .await;
        let report = incident
            .analyze_with(json!({
                "report": "payments-api 自 02:41 UTC 起间歇性返回 503，部分用户无法支付。\nERROR TillPool - no connection available, timed out after 30000ms\n今天没有发布。",
                "severity": "SEV2",
            }))
            .await;
        let thread = incident.thread(&report).await;
        let posts = incident.settled(thread).await;
        let shown = all_shown(&incident, &report, thread).await;
        nothing_leaks(&shown);
        let left = english(&shown);
        assert!(
            left.is_empty(),
            "English in a Chinese thread: {left:?}\n{shown}"
        );
        let cards = cards(&posts);
        assert!(cards.shows("退款任务一直占用连接"), "{cards}");
        assert!(cards.shows("INC-0012"), "{cards}");
        assert!(checklist(&posts).shows("只读"), "{}", checklist(&posts));
        let update = update(&posts).expect("SEV2: an update unasked");
        assert!(update.shows("部分用户无法支付"), "{update}");
        incident.ends().await;
    }
}

// ---- what never leaves the entrance ------------------------------------------------

/// Secrets as they stand in real reports, each with the part that must be gone.
const SECRETS: [(&str, &str); 8] = [
    (
        "DATABASE_URL=postgres://app:Tr0ub4dorAnd3@db.internal:5432/pay",
        "Tr0ub4dorAnd3",
    ),
    ("aws key AKIAZ7QWERTYUIOPASDF", "AKIAZ7QWERTYUIOPASDF"),
    (
        "Authorization: Bearer eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiJhbGljZSJ9.c2lnbmF0dXJlLXZhbHVlMTIz",
        "c2lnbmF0dXJlLXZhbHVlMTIz",
    ),
    ("password: correct-horse-77", "correct-horse-77"),
    (
        "customer jane.doe@customer.example wrote",
        "jane.doe@customer.example",
    ),
    (
        "card 4111 1111 1111 1111 was charged",
        "4111 1111 1111 1111",
    ),
    (
        "github token ghp_16C7e42F292c6912E7710c838347Ae178B4a",
        "ghp_16C7e42F292c6912E7710c838347Ae178B4a",
    ),
    ("call +44 20 7946 0958", "7946 0958"),
];

#[tokio::test(flavor = "multi_thread")]
async fn secrets_reach_neither_the_database_nor_the_model_nor_a_post() {
    // The model makes up secrets of its own, in every place.
    let mut hypothesis = cites(json!(["INC-0012"]), json!(80));
    hypothesis["verify"] = json!("Log in with password: made-up-by-model-9");
    let mut answer = analysed("SEV2", json!([hypothesis]));
    answer["summary"] = json!("Some customers cannot pay. Ask root.admin@made-up.example.");
    let incident = Incident::begins(Given {
        memory: &[refund_job(12, "2026-05-14", "held")],
        model: Some(model_that_says(&triaged("SEV2"), &answer).await),
        ..Given::default()
    })
    .await;
    let lines: Vec<&str> = SECRETS.iter().map(|(line, _)| *line).collect();
    let log = format!(
        "2026-11-30T02:41:07Z ERROR TillPool timed out\n{}\n",
        lines.join("\n")
    );
    let file = incident.discord.upload(Upload::new("payments.log", log));
    let report = incident
        .analyze_with(json!({
            "report": format!("{REFUND_REPORT}\n{}", lines.join("\n")),
            "severity": "SEV2",
            "log": file.to_string(),
        }))
        .await;
    let thread = incident.thread(&report).await;
    let posts = incident.settled(thread).await;
    incident.discord.say(
        incident.alice,
        thread,
        Say::text(&format!("More of it:\n{}", lines.join("\n"))),
    );
    incident
        .discord
        .await_request("PUT", "/channels/*/messages/*/reactions/**", 1)
        .await;
    incident.idle().await;
    let again = incident
        .discord
        .click(incident.alice, checklist(&posts), "Re-analyze");
    again.response().await;
    incident
        .discord
        .await_message(thread, |post| {
            post.shows("Analysis 2") && post.shows(":cause:")
        })
        .await;
    let _read = incident.settled(thread).await;
    let _read = again.followups();
    let shown = all_shown(&incident, &report, thread).await;
    let asked: Vec<String> = incident
        .model
        .as_ref()
        .expect("a model")
        .requests()
        .iter()
        .map(|request| request.body.to_string())
        .collect();
    assert!(asked.len() >= 4, "triage and analysis, twice");
    let kept =
        crate::homes::all_that_is_kept(&incident.config.database_url, incident.folder.path()).await;
    assert!(!kept.is_empty());
    let stored = |part: &str| {
        kept.iter().any(|bytes| {
            bytes
                .windows(part.len())
                .any(|window| window == part.as_bytes())
        })
    };
    assert!(
        stored("some customers cannot pay"),
        "the search finds what is there"
    );
    let invented = ["made-up-by-model-9", "root.admin@made-up.example"];
    for secret in SECRETS.iter().map(|(_, secret)| *secret).chain(invented) {
        assert!(!shown.contains(secret), "{secret} is shown:\n{shown}");
        assert!(!stored(secret), "{secret} is in the database");
        if !invented.contains(&secret) {
            assert!(
                !asked.iter().any(|body| body.contains(secret)),
                "{secret} was sent to the model"
            );
        }
    }
    incident.ends().await;
}

// ---- what the model is asked ----------------------------------------------------------

/// Tokens by the double's count: four ASCII characters or one other.
fn tokens(text: &str) -> u32 {
    let ascii = text.chars().filter(char::is_ascii).count();
    let other = text.chars().count() - ascii;
    u32::try_from(ascii.div_ceil(4) + other).expect("a count")
}

#[tokio::test(flavor = "multi_thread")]
async fn triage_and_analysis_of_the_longest_report_stay_under_their_tokens_together() {
    for chinese in [false, true] {
        let model = model_that_says(
            &triaged("SEV2"),
            &analysed("SEV2", json!([cites(json!(["INC-0001"]), json!(80))])),
        )
        .await;
        let memory: Vec<_> = (1..=12)
            .map(|number| {
                let mut past = refund_job(number, &format!("2026-{number:02}-14"), "held");
                past["root_cause"] = json!(format!(
                    "The refund job keeps connections open. {}",
                    "It is a long story. ".repeat(60)
                ));
                past
            })
            .collect();
        let incident = Incident::begins(Given {
            memory: &memory,
            model: Some(model),
            ..Given::default()
        })
        .await;
        let filler = match chinese {
            true => "另外监控显示连接池没有空闲连接，值班同事正在查看数据库的会话。",
            false => "The dashboard shows more of the same for every region that we look at. ",
        };
        let mut text = format!("{REFUND_REPORT}\nThe purple walrus was seen once.\n");
        while text.chars().count() + filler.chars().count() < 3_900 {
            text.push_str(filler);
        }
        let log: String = (0..1_500)
            .map(|line| format!("2026-11-30T02:{:02}:07Z ERROR worker-{line} TillPool - no connection available after {line} tries\n", line % 60))
            .collect();
        let file = incident.discord.upload(Upload::new("payments.log", log));
        let report = incident
            .analyze_with(json!({"report": text, "log": file.to_string()}))
            .await;
        let thread = incident.thread(&report).await;
        let _read = incident.settled(thread).await;
        let requests = incident.model.as_ref().expect("a model").requests();
        assert_eq!(requests.len(), 2, "triage and analysis");
        let mut sum = 0;
        for request in &requests {
            let schema = request.body["response_format"]["json_schema"]["schema"].to_string();
            let answer = request.body["max_completion_tokens"]
                .as_u64()
                .expect("a limit");
            sum +=
                request.prompt_tokens + tokens(&schema) + u32::try_from(answer).expect("a limit");
            assert_eq!(
                request
                    .user()
                    .matches("The purple walrus was seen once.")
                    .count(),
                1,
                "the report's own text, once"
            );
        }
        assert!(sum < 7_500, "{sum} tokens");
        assert!(sum > 5_000, "{sum} tokens: the budget is left unused");
        incident.ends().await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_model_is_shown_what_it_may_cite_and_nothing_else() {
    let low = json!({
        "id": "INC-0005",
        "title": "Monthly invoices were rendered in the wrong font",
        "service": "payments-api",
        "symptoms": ["invoices look wrong in the mail archive"],
        "root_cause": "A stylesheet was overwritten",
        "fix": "Restore invoice-theme.css",
        "outcome": "held",
    });
    let model = model_that_says(
        &triaged("SEV3"),
        &analysed("SEV3", json!([cites(json!(["INC-0012"]), json!(80))])),
    )
    .await;
    let incident = Incident::begins(Given {
        memory: &[low, refund_job(12, "2026-05-14", "held")],
        model: Some(model),
        ..Given::default()
    })
    .await;
    let report = incident.analyze(REFUND_REPORT).await;
    let thread = incident.thread(&report).await;
    let _read = incident.settled(thread).await;
    let model: &ChatModel = incident.model.as_ref().expect("a model");
    for request in model.requests() {
        let body = request.body.to_string();
        for never in ["INC-0005", "invoice", "stylesheet", "alice"] {
            assert!(!body.contains(never), "{never} was sent to the model");
        }
    }
    let asked = model.requests_for(Task::Analysis);
    assert!(
        asked[0]
            .user()
            .contains("<past_incident id=\"INC-0012\" grade=\"direct_match\""),
        "{}",
        asked[0].user()
    );
    assert!(asked[0].user().contains("<incident_report>"));
    incident.ends().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_person_s_severity_stands_whatever_the_model_says() {
    let model = model_that_says(
        &triaged("SEV1"),
        &analysed("SEV1", json!([cites(json!(["INC-0012"]), json!(80))])),
    )
    .await;
    let incident = Incident::begins(Given {
        memory: &[refund_job(12, "2026-05-14", "held")],
        model: Some(model),
        ..Given::default()
    })
    .await;
    let report = incident
        .analyze_with(json!({"report": REFUND_REPORT, "severity": "SEV4"}))
        .await;
    let thread = incident.thread(&report).await;
    let posts = incident.settled(thread).await;
    let shown = all_shown(&incident, &report, thread).await;
    assert!(!shown.contains("SEV1"), "{shown}");
    assert!(
        incident
            .headline(&report)
            .await
            .shows("SEV4 · payments-api")
    );
    assert!(update(&posts).is_none());
    let stored = super::model::stored(&incident, 13).await;
    assert_eq!(stored.case.severity, Some(Severity::Sev4));
    incident.ends().await;
}

//! The longest legal everything, and limits: what is too long is cut and said, what is too often is
//! answered without a model.

use super::clock::nothing_runs;
use super::faults::own;
use super::{Given, Incident, REFUND_REPORT, analysis_answer, refund_job, triage_reply};
use precedent::config::Limits;
use serde_json::{Value, json};
use standin::llm::{ChatModel, Reply, Task};
use standin::people::Upload;
use standin::{ChannelId, Interaction, Post};

fn texts(posts: &[Post]) -> String {
    posts
        .iter()
        .map(Post::to_text)
        .collect::<Vec<_>>()
        .join("\n")
}

async fn rules() -> Incident {
    Incident::begins(Given {
        memory: &[refund_job(41, "2026-09-23", "held")],
        ..Given::default()
    })
    .await
}

/// All that an analysis posted in its thread.
async fn thread_of(incident: &Incident, report: &Interaction) -> (ChannelId, Vec<Post>) {
    let thread = incident.thread(report).await;
    incident.idle().await;
    (thread, own(incident, thread))
}

// ---- the longest ---------------------------------------------------------------------

#[tokio::test(flavor = "multi_thread")]
async fn a_modal_with_four_thousand_characters_is_analysed() {
    for text in [
        // Letters, emoji of two units, and marks that Discord reads.
        "payments-api answers 503 ".repeat(160),
        "🔥".repeat(2_000),
        "`*_~|>@everyone ".repeat(250),
    ] {
        let incident = rules().await;
        let opened = incident.analyze_with(json!({})).await;
        let _modal = opened.modal().await;
        let text: String = text.chars().take(4_000).collect();
        let submitted =
            incident
                .discord
                .submit_modal(incident.alice, &opened, &[("report", text.trim())]);
        let (_, posts) = thread_of(&incident, &submitted).await;
        assert!(texts(&posts).contains("Next steps"), "{posts:#?}");
        for post in own(&incident, incident.channel).iter().chain(&posts) {
            assert!(post.pings().is_empty(), "{post}");
        }
        incident.ends().await;
    }
}

/// Alice reports with a file; the text of all that was posted.
async fn with_file(file: Upload) -> String {
    let incident = rules().await;
    let log = incident.discord.upload(file);
    let report = incident
        .analyze_with(json!({"report": REFUND_REPORT, "log": log.to_string()}))
        .await;
    let (_, posts) = thread_of(&incident, &report).await;
    let all = texts(&posts) + &texts(&own(&incident, incident.channel));
    assert!(all.contains("Cause confirmed"), "{all}");
    incident.ends().await;
    all
}

fn lines(bytes: usize) -> String {
    let line = "2026-11-30T02:41:07Z WARN payments-api pool wait 31 ms\n";
    line.repeat(bytes / line.len() + 1)
        .chars()
        .take(bytes)
        .collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_log_of_one_mebibyte_is_read_and_what_was_left_out_is_said() {
    let all = with_file(Upload::new("app.log", lines(1024 * 1024))).await;
    assert!(all.contains("Of app.log I read"), "{all}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_log_above_the_cap_is_read_at_both_ends() {
    let all = with_file(Upload::new("app.log", lines(3 * 1024 * 1024))).await;
    assert!(all.contains("Of app.log I read"), "{all}");
    assert!(all.contains("3.1 MB"), "{all}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_log_in_utf_16_is_read() {
    let text = "ERROR vermilion gateway refused the connection\n".repeat(50);
    let mut bytes = vec![0xFF, 0xFE];
    bytes.extend(text.encode_utf16().flat_map(u16::to_le_bytes));
    let all = with_file(Upload::new("app.log", bytes)).await;
    assert!(all.contains("I read app.log as UTF-16LE."), "{all}");
    assert!(!all.contains("Of app.log"), "nothing was left out: {all}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_log_with_bytes_that_are_no_characters_is_read_and_they_are_counted() {
    let mut bytes = "ERROR 网关拒绝连接，重试失败\n".repeat(50).into_bytes();
    bytes.extend([0xE7, 0xBD, b'\n', 0xFF, b'\n']);
    let all = with_file(Upload::new("app.log", bytes)).await;
    assert!(
        all.contains("I read app.log as UTF-8; 2 characters could not be read."),
        "{all}"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_file_that_is_no_text_is_said_and_the_analysis_goes_on() {
    let bytes: Vec<u8> = (0..20_000_u32).map(|i| (i * 7 % 256) as u8).collect();
    for name in ["core.bin", "app.log"] {
        let all = with_file(Upload::new(name, bytes.clone())).await;
        assert!(all.contains(&format!("I did not read {name} (")), "{all}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_empty_file_is_said() {
    let all = with_file(Upload::new("app.log", "")).await;
    assert!(all.contains("app.log"), "{all}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_file_without_a_content_type_is_read_as_what_it_is() {
    let all = with_file(Upload::new("app", "ERROR pool empty\n").content_type(None)).await;
    assert!(!all.contains("I did not read"), "{all}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_file_alone_is_a_report() {
    let incident = rules().await;
    let log = incident
        .discord
        .upload(Upload::new("app.log", REFUND_REPORT));
    let report = incident.analyze_with(json!({"log": log.to_string()})).await;
    let (_, posts) = thread_of(&incident, &report).await;
    assert!(texts(&posts).contains("INC-0041"), "{posts:#?}");
    incident.ends().await;
}

/// As long as a model may be, and in characters that take two units each.
fn long(of: &str, units: usize) -> String {
    let mut text = String::new();
    while text.encode_utf16().count() + of.encode_utf16().count() <= units {
        text.push_str(of);
    }
    text
}

/// An answer with long texts everywhere: some 200 KB of JSON, within what is read of an answer.
fn longest_answer(filler: &str) -> Value {
    // As many bytes in each script: so much is read of an answer and no more.
    let text = |bytes: usize| {
        let units = filler.encode_utf16().count();
        long(filler, bytes * units / filler.len())
    };
    let hypothesis = |place: usize| {
        json!({
            "title": format!("{place} {}", text(400)),
            "source": "memory",
            "memory_refs": ["INC-0041"],
            "evidence": vec![text(1_000); 6],
            "contradicted_by": vec![text(1_000); 6],
            "confidence": 100,
            "verify": text(3_000),
            "fix": text(3_000),
            "fix_ref": "INC-0041",
        })
    };
    let step = |place: usize| {
        json!({
            "step": format!("{place} {}", text(900)),
            "command": format!("kubectl get pods {}", text(900)),
            "rationale": text(900),
            "expected": text(900),
            "risk": "risky",
            "rollback": text(900),
            "memory_refs": ["INC-0041"],
        })
    };
    let mut answer = analysis_answer();
    answer["summary"] = json!(text(3_000));
    answer["severity_assessment"]["reason"] = json!(text(3_000));
    answer["hypotheses"] = (0..5).map(hypothesis).collect();
    answer["next_steps"] = (0..16).map(step).collect();
    answer["safety_notes"] = json!(vec![text(900); 8]);
    for field in [
        "impact",
        "since",
        "known",
        "not_confirmed",
        "doing",
        "needed",
    ] {
        answer["stakeholder_update"][field] = json!(text(3_000));
    }
    answer["ruled_out_by_history"] = (0..12)
        .map(|_| json!({"cause": text(900), "memory_refs": ["INC-0041"], "reason": text(900)}))
        .collect();
    answer
}

async fn longest(filler: &'static str, locale: &str) {
    let model = ChatModel::start().await;
    model.on_fn(Task::Triage, move |_| {
        Reply::json(&json!({
            "title": long(filler, 3_000),
            "service": long(filler, 3_000),
            "severity": "SEV1",
            "symptoms": vec![long(filler, 1_000); 10],
            "error_signatures": vec![long(filler, 1_000); 10],
            "recall_query": long(filler, 3_000),
        }))
    });
    model.on_fn(Task::Analysis, move |_| {
        Reply::json(&longest_answer(filler))
    });
    let mut memory: Vec<Value> = (30..44)
        .map(|n| refund_job(n, "2026-09-23", "held"))
        .collect();
    for past in &mut memory {
        past["fix"] = json!(long(filler, 1_000));
        past["root_cause"] = json!(long(filler, 1_000));
    }
    let incident = Incident::begins(Given {
        memory: &memory,
        model: Some(model),
        locale: Some(locale),
        ..Given::default()
    })
    .await;
    let report = incident
        .analyze_with(json!({
            "report": format!("{REFUND_REPORT}\n{}", long(filler, 3_000)),
            "service": long(filler, 80),
            "severity": "SEV1",
        }))
        .await;
    let (thread, posts) = thread_of(&incident, &report).await;
    let files: Vec<&str> = posts
        .iter()
        .flat_map(|post| post.files.iter().map(|file| file.name.as_str()))
        .collect();
    let answer = longest_answer(filler).to_string().len();
    assert!((150_000..256 * 1024).contains(&answer), "{answer} bytes");
    let all = texts(&posts);
    assert!(
        !all.contains("rule-based") && !all.contains("规则引擎："),
        "the model's answer is shown"
    );
    assert!(!files.is_empty(), "what was cut is attached: {posts:#?}");
    // What people do with it is as legal.
    let cards = posts
        .iter()
        .find(|post| {
            post.selects()
                .iter()
                .any(|select| select.custom_id.contains(":past:"))
        })
        .or(posts.first())
        .expect("cards");
    if let Some(button) = cards.buttons().first() {
        let click = incident
            .discord
            .click(incident.alice, cards, &button.custom_id);
        let _acknowledged = click.response().await;
    }
    for command in ["why", "update", "incident show"] {
        let asked = incident
            .discord
            .slash(incident.alice, thread, command, json!({}));
        let _answer = asked.ephemeral().await;
    }
    incident.idle().await;
    let _read = (own(&incident, thread), own(&incident, incident.channel));
    incident.ends().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_longest_answer_in_letters_is_legal_and_what_was_cut_is_attached() {
    longest("the till is shut ", "en-US").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_longest_answer_in_emoji_is_legal_and_what_was_cut_is_attached() {
    longest("🔥🔥 the till ", "en-US").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_longest_answer_in_chinese_is_legal_and_what_was_cut_is_attached() {
    longest("连接池耗尽", "zh-CN").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_longest_answer_in_marks_is_legal_and_what_was_cut_is_attached() {
    longest("*_`~|[x](http://a.b)<@1>@everyone\n# ", "en-US").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn without_the_right_to_attach_files_the_cards_are_posted_and_that_is_said() {
    let model = ChatModel::start().await;
    model.on_fn(Task::Triage, |_| triage_reply());
    model.on_fn(Task::Analysis, |_| {
        Reply::json(&longest_answer("the till is shut "))
    });
    let incident = Incident::begins(Given {
        memory: &[refund_job(41, "2026-09-23", "held")],
        model: Some(model),
        ..Given::default()
    })
    .await;
    incident.discord.deny(
        incident.channel,
        incident.discord.bot(),
        standin::permissions::ATTACH_FILES,
    );
    let report = incident.analyze(REFUND_REPORT).await;
    let (_, posts) = thread_of(&incident, &report).await;
    let all = texts(&posts);
    assert!(all.contains("Cause confirmed"), "{all}");
    assert!(all.contains("Next steps"), "{all}");
    assert!(all.contains("Attach Files"), "{all}");
    incident.ends().await;
}

// ---- too often --------------------------------------------------------------------------

async fn limited(limits: Limits) -> Incident {
    let model = ChatModel::start().await;
    model.on_fn(Task::Triage, |_| triage_reply());
    model.on_fn(Task::Analysis, |_| Reply::json(&analysis_answer()));
    model.on_fn(Task::FollowUp, |_| {
        Reply::json(&json!({
            "answer": "Stop the refund job.",
            "memory_refs": ["INC-0041"],
            "evidence": [],
            "next_steps": [],
        }))
    });
    Incident::begins(Given {
        memory: &[refund_job(41, "2026-09-23", "held")],
        model: Some(model),
        limits: Some(limits),
        ..Given::default()
    })
    .await
}

fn asked(incident: &Incident, task: Task) -> usize {
    let model = incident.model.as_ref().expect("a model");
    model.requests_for(task).len()
}

const PLENTY: Limits = Limits {
    analyses_per_person_hour: 100,
    analyses_per_guild_hour: 100,
    questions_per_person_hour: 100,
    model_calls_per_guild_hour: 100,
};

/// Over a limit recall and rules answer, and that is said.
fn by_rule(posts: &[Post]) {
    let all = texts(posts);
    assert!(all.contains("rule-based"), "{all}");
    assert!(all.contains("INC-0041"), "recall still answers: {all}");
    assert!(all.contains("Next steps"), "{all}");
}

#[tokio::test(flavor = "multi_thread")]
async fn over_a_person_s_limit_recall_and_rules_answer() {
    let incident = limited(Limits {
        analyses_per_person_hour: 1,
        ..PLENTY
    })
    .await;
    let first = incident.analyze(REFUND_REPORT).await;
    let (thread, posts) = thread_of(&incident, &first).await;
    assert!(!texts(&posts).contains("rule-based"));
    nothing_runs(&incident).await;
    let second = incident.analyze(REFUND_REPORT).await;
    let (_, posts) = thread_of(&incident, &second).await;
    by_rule(&posts);
    assert_eq!(asked(&incident, Task::Analysis), 1);

    // Another channel, and a thread, are no way around it.
    let other = incident.discord.channel(incident.guild, "elsewhere");
    let hidden = incident
        .discord
        .thread(incident.alice, other, "side", false);
    for place in [other, hidden, thread] {
        nothing_runs(&incident).await;
        let report = incident.discord.slash(
            incident.alice,
            place,
            "analyze",
            json!({"report": REFUND_REPORT}),
        );
        let _headline = report.original().await;
        incident.idle().await;
        let posts: Vec<Post> = std::iter::once(place)
            .chain(incident.discord.threads(other))
            .flat_map(|place| own(&incident, place))
            .collect();
        by_rule(&posts);
    }
    assert_eq!(asked(&incident, Task::Analysis), 1);

    // Somebody else is not held up.
    let carol = incident.discord.member(incident.guild, "carol");
    nothing_runs(&incident).await;
    let hers = incident.discord.slash(
        carol,
        incident.channel,
        "analyze",
        json!({"report": REFUND_REPORT}),
    );
    let (_, posts) = thread_of(&incident, &hers).await;
    assert!(!texts(&posts).contains("rule-based"), "{posts:#?}");
    incident.ends().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn over_a_server_s_limit_recall_and_rules_answer_everybody_there_and_nobody_elsewhere() {
    let incident = limited(Limits {
        analyses_per_guild_hour: 1,
        ..PLENTY
    })
    .await;
    let first = incident.analyze(REFUND_REPORT).await;
    let _first = thread_of(&incident, &first).await;
    let carol = incident.discord.member(incident.guild, "carol");
    nothing_runs(&incident).await;
    let hers = incident.discord.slash(
        carol,
        incident.channel,
        "analyze",
        json!({"report": REFUND_REPORT}),
    );
    let (_, posts) = thread_of(&incident, &hers).await;
    by_rule(&posts);
    assert_eq!(asked(&incident, Task::Analysis), 1);
    let globex = incident.discord.guild("globex");
    let outages = incident.discord.channel(globex, "outages");
    let bob = incident.discord.member(globex, "bob");
    incident.discord.commands_registered(globex).await;
    nothing_runs(&incident).await;
    let theirs = incident
        .discord
        .slash(bob, outages, "analyze", json!({"report": REFUND_REPORT}));
    let _theirs = thread_of(&incident, &theirs).await;
    assert_eq!(asked(&incident, Task::Analysis), 2);
    let _headlines = own(&incident, outages);
    incident.ends().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn one_person_who_asks_too_often_does_not_use_up_the_server() {
    let incident = limited(Limits {
        analyses_per_person_hour: 1,
        analyses_per_guild_hour: 3,
        ..PLENTY
    })
    .await;
    for _ in 0..4 {
        nothing_runs(&incident).await;
        let report = incident.analyze(REFUND_REPORT).await;
        let _posts = thread_of(&incident, &report).await;
    }
    assert_eq!(asked(&incident, Task::Analysis), 1);
    let carol = incident.discord.member(incident.guild, "carol");
    nothing_runs(&incident).await;
    let hers = incident.discord.slash(
        carol,
        incident.channel,
        "analyze",
        json!({"report": REFUND_REPORT}),
    );
    let (_, posts) = thread_of(&incident, &hers).await;
    assert!(!texts(&posts).contains("rule-based"), "{posts:#?}");
    incident.ends().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn over_the_model_budget_questions_are_answered_by_rule() {
    let incident = limited(Limits {
        model_calls_per_guild_hour: 1,
        ..PLENTY
    })
    .await;
    let report = incident.analyze(REFUND_REPORT).await;
    let (thread, _) = thread_of(&incident, &report).await;
    let asks = incident.discord.slash(
        incident.alice,
        thread,
        "followup",
        json!({"question": "what fixed it last time?"}),
    );
    let answer = asks.original().await;
    assert!(answer.shows("INC-0041"), "{answer}");
    assert_eq!(asked(&incident, Task::FollowUp), 0);
    incident.ends().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn one_person_s_questions_use_up_nobody_else_s() {
    let incident = limited(Limits {
        questions_per_person_hour: 1,
        ..PLENTY
    })
    .await;
    let report = incident.analyze(REFUND_REPORT).await;
    let (thread, _) = thread_of(&incident, &report).await;
    let carol = incident.discord.member(incident.guild, "carol");
    for (who, asked_so_far) in [(incident.alice, 1), (incident.alice, 1), (carol, 2)] {
        let asks = incident.discord.slash(
            who,
            thread,
            "followup",
            json!({"question": "what fixed it last time?"}),
        );
        let answer = asks.original().await;
        assert!(answer.shows("INC-0041"), "{answer}");
        assert_eq!(asked(&incident, Task::FollowUp), asked_so_far);
    }
    incident.ends().await;
}

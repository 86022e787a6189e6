//! Secrets and personal data through the whole bot (R22): in at every entrance, out at none.

use super::model::{all_shown, analysed, cites, triaged};
use super::opened::{Opened, analysis_answer, model};
use super::{Given, Incident, REFUND_REPORT, refund_job};
use crate::homes;
use crate::log::{Log, alone};
use serde_json::{Value, json};
use standin::llm::{ChatModel, Reply, Task};
use standin::permissions::{MANAGE_GUILD, MANAGE_THREADS};
use standin::{Say, Upload};

/// One of each kind: the line as people paste it, and the part that must be gone. Put together here,
/// so that no scanner takes the file for a leak.
fn one_of_each() -> Vec<(String, String)> {
    let random = "aZ3kQ9xW7mP2vL8nR4tY6uB1cD5eF0gH3jK7";
    let hex = "3f9c2abd5e6f7a8b9c0d1e2f3a4b5c6d";
    let of = |before: &str, parts: &[&str], after: &str| {
        let secret = parts.concat();
        (format!("{before}{secret}{after}"), secret)
    };
    vec![
        of("key ", &["AK", "IAZ7QWERTYUIOPASDF"], " in use"),
        of(
            "aws_secret_access_key = ",
            &["wJalrXUtnFEMI/K7MDENG/", "bPxRfiCYzEXAMPLEkey"],
            "",
        ),
        of(
            "maps ",
            &["AI", "zaSyA-1234567890abcdefGHIJKLMNOPQRSTU"],
            "",
        ),
        of("pushed with ", &["gh", "p_", random], ""),
        of("runner ", &["gl", "pat-", "aZ3kQ9xW7mP2vL8nR4tY"], ""),
        of("bot ", &["xo", "xb-123456789012-", "aZ3kQ9xW7mP2vL8n"], ""),
        of(
            "charges with ",
            &["sk", "_live_", "aZ3kQ9xW7mP2vL8nR4tY"],
            "",
        ),
        of("model ", &["sk", "-proj-", random], ""),
        of("registry ", &["np", "m_", random], ""),
        of("vault ", &["hv", "s.", random], ""),
        of("Authorization: Bearer ", &[random, "Zq9"], ""),
        of(
            "postgres://app:",
            &["Tr0ub4dor", "And3"],
            "@db.internal:5432/pay",
        ),
        of("password: ", &["correct-horse", "-77"], ""),
        of("密码：", &["hunter2", "-zh"], ""),
        of("client_secret=", &[hex, "00"], ""),
        of("Cookie: session=", &[hex, "11"], ""),
        of(
            "root:",
            &[
                "$6$",
                "qoE2letU$",
                "wWPRl.PVczjzeMVgjiA8LLy2nOyZbf7Amj3qLIL978o18gbMySdKZ7uepq9tmMQ",
            ],
            ":18000",
        ),
        of("mail ", &["jane.doe", "@customer.example"], ""),
        of("card ", &["4111 1111", " 1111 1111"], ""),
        of("卡号 ", &["6222021234", "567890128"], ""),
        of("IBAN ", &["DE89 3704 0044", " 0532 0130 00"], ""),
        of("call ", &["+44 20 7946", " 0958"], ""),
        of("手机号 ", &["138", "12345678"], ""),
        of("SSN ", &["219-09", "-9999"], ""),
        of("身份证 ", &["11010519491231", "002X"], ""),
        of(
            "-----BEGIN RSA PRIVATE KEY-----\n",
            &["MIIEowIBAAKCAQEA", "n6O8liSX4m98LLYtPKSzEmQZBD7Loh9P"],
            "\n-----END RSA PRIVATE KEY-----",
        ),
        // Split over lines, and with signs of no width.
        of(
            "wrapped gh\u{200B}p_",
            &["bZ3kQ9xW7mP2vL8n", "R4tY6uB1cD5eF0gH3jK7"],
            "",
        ),
    ]
}

/// A model that says again whatever it was sent, in every place.
async fn echo() -> ChatModel {
    let model = ChatModel::start().await;
    model
        .on_fn(Task::Triage, |request| {
            let said = request.user();
            let mut answer = triaged("SEV2");
            answer["title"] = json!(said.chars().take(200).collect::<String>());
            answer["symptoms"] = json!(said.lines().take(40).collect::<Vec<_>>());
            Reply::json(&answer)
        })
        .on_fn(Task::Analysis, |request| {
            let said = request.user();
            let mut hypothesis = cites(json!(["INC-0012"]), json!(80));
            hypothesis["verify"] = json!(said);
            hypothesis["evidence"] = json!(said.lines().collect::<Vec<_>>());
            let mut answer = analysed("SEV2", json!([hypothesis]));
            answer["summary"] = json!(said);
            answer["stakeholder_update"]["known"] = json!(said);
            answer["next_steps"][1]["step"] = json!(said);
            answer["safety_notes"] = json!(said.lines().collect::<Vec<_>>());
            Reply::json(&answer)
        })
        .on_fn(Task::FollowUp, |request| {
            Reply::json(&json!({"answer": request.user(), "memory_refs": [], "evidence": [], "next_steps": []}))
        });
    model
}

#[test]
fn no_kind_of_secret_comes_out_of_any_exit() {
    alone("bot::secrets::alone_no_kind_of_secret_comes_out_of_any_exit");
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "run by no_kind_of_secret_comes_out_of_any_exit, alone"]
async fn alone_no_kind_of_secret_comes_out_of_any_exit() {
    let log = Log::default();
    tracing::subscriber::set_global_default(log.subscriber())
        .expect("the only one in this process");

    let secrets = one_of_each();
    let lines: Vec<&str> = secrets.iter().map(|(line, _)| line.as_str()).collect();
    let at = Incident::begins(Given {
        memory: &[refund_job(12, "2026-05-14", "held")],
        model: Some(echo().await),
        ..Given::default()
    })
    .await;
    let log_file = format!(
        "2026-11-30T02:41:07Z ERROR TillPool timed out\n{}\n",
        lines.join("\n")
    );
    let file = at
        .discord
        .upload(Upload::new("jane.doe@customer.example.log", log_file));
    let opened = Opened::reported(
        at,
        json!({
            "report": format!("{REFUND_REPORT}\n{}", lines.join("\n")),
            "service": format!("pay {}", secrets[3].1),
            "severity": "SEV2",
            "log": file.to_string(),
        }),
    )
    .await;
    let at = &opened.at;
    // Messages, one with an embed and one by somebody whose name is an address.
    let jane = at.discord.member(at.guild, "jane.doe@customer.example");
    at.discord.say(
        jane,
        opened.thread,
        Say::text(&format!("More of it:\n{}", lines.join("\n"))),
    );
    at.discord.say(
        at.alice,
        opened.thread,
        Say::text("from the wiki").embed(json!({
            "title": "How to log in",
            "description": lines.join("\n").chars().take(3_900).collect::<String>(),
        })),
    );
    at.idle().await;
    let question = at.discord.slash(
        at.alice,
        opened.thread,
        "followup",
        json!({"question": format!("are these still valid?\n{}", lines.join("\n"))}),
    );
    let _read = question.original().await;
    let checklist = opened.checklist(1).await;
    let again = at.discord.click(at.alice, &checklist, "Re-analyze");
    again.response().await;
    at.idle().await;
    let _read = again.followups();
    let added = at.discord.slash(
        at.alice,
        at.channel,
        "memory add",
        json!({
            "title": format!("rotated {}", secrets[3].0),
            "service": "payments-api",
            "cause": lines.join("\n").chars().take(900).collect::<String>(),
            "fix": format!("rotate {}", secrets[6].0),
        }),
    );
    let _read = added.response().await;
    at.idle().await;

    let mut shown = all_shown(at, &opened.report, opened.thread).await;
    for post in at.discord.posts_for(Some(at.alice), opened.thread) {
        if post.by_bot {
            shown.push_str(&post.json().to_string());
        }
    }
    let asked: String = at
        .model
        .as_ref()
        .expect("a model")
        .requests()
        .iter()
        .map(|request| request.user())
        .collect();
    let kept = homes::all_that_is_kept(&at.config.database_url, at.folder.path()).await;
    let stored = |part: &str| {
        kept.iter().any(|bytes| {
            bytes
                .windows(part.len())
                .any(|window| window == part.as_bytes())
        })
    };
    let logged = log.text();
    assert!(stored("some customers cannot pay") && asked.contains("some customers cannot pay"));
    assert!(
        shown.contains("[REDACTED"),
        "what was struck is said:\n{shown}"
    );
    assert!(
        logged.contains("the model answered"),
        "the log is listened to"
    );
    for (line, secret) in &secrets {
        // Of a secret over two lines or groups, a part is enough to know it by.
        let part = secret.split('\n').next().unwrap_or(secret);
        assert!(!shown.contains(part), "{line} is shown:\n{shown}");
        assert!(
            !asked.contains(part),
            "{line} was sent to the model:\n{asked}"
        );
        assert!(!logged.contains(part), "{line} stands in the log");
        assert!(!stored(part), "{line} is in the database");
    }
    opened.ends().await;
}

#[test]
fn no_kind_of_secret_stays_of_what_people_fill_in() {
    alone("bot::secrets::alone_no_kind_of_secret_stays_of_what_people_fill_in");
}

/// `/resolve`, *Remember as incident*, `/memory add` and `import`, `/service set`, and a select with
/// a value that nobody offered.
#[tokio::test(flavor = "multi_thread")]
#[ignore = "run by no_kind_of_secret_stays_of_what_people_fill_in, alone"]
async fn alone_no_kind_of_secret_stays_of_what_people_fill_in() {
    let log = Log::default();
    tracing::subscriber::set_global_default(log.subscriber())
        .expect("the only one in this process");

    let secrets = one_of_each();
    let lines: Vec<&str> = secrets.iter().map(|(line, _)| line.as_str()).collect();
    let all = lines.join("\n");
    // Old talk that a channel's import reads, by people and in threads that are called by secrets.
    let mut at = Incident::prepared(Given {
        memory: &[refund_job(12, "2026-05-14", "held")],
        model: Some(echo().await),
        ..Given::default()
    })
    .await;
    let old = at.discord.channel(at.guild, "old-incidents");
    let jane = at.discord.member(at.guild, "jane.doe@customer.example");
    let part = |from: usize, to: usize| {
        let some = lines.iter().take(to).skip(from).copied();
        some.collect::<Vec<_>>().join("\n")
    };
    let starter = at.discord.say(
        jane,
        old,
        format!("order-service is down, errors everywhere\n{}", part(0, 9)),
    );
    let thread = at.discord.thread_from(
        jane,
        starter,
        &format!("order-service outage {}", secrets[3].1),
    );
    at.discord.say(
        jane,
        thread,
        format!(
            "Root cause: the cache was full, {}",
            part(9, 18).replace('\n', ", ")
        ),
    );
    at.discord.say(
        jane,
        thread,
        format!("Fix: flushed the cache, orders recovered\n{}", part(18, 99)),
    );
    at.starts_bot(super::tuning(None)).await;
    at.discord
        .grant(at.guild, at.alice, MANAGE_GUILD | MANAGE_THREADS);
    let opened = Opened::reported(at, json!({"report": REFUND_REPORT})).await;
    let at = &opened.at;
    let mut shown = String::new();

    let import = at.discord.slash(
        at.alice,
        at.channel,
        "memory import",
        json!({"channel": old.to_string(), "since": "2020-01-01"}),
    );
    let line = json!({
        "title": format!("mailer down {}", secrets[4].0), "service": "mailer", "symptoms": lines,
        "error_signatures": lines, "root_cause": all, "fix": all, "outcome": "held", "prevention": all,
        "ruled_out": lines, "resolved_by": "jane.doe@customer.example",
    });
    let file = at
        .discord
        .upload(Upload::new("memory.jsonl", line.to_string()));
    let by_file = at.discord.slash(
        at.alice,
        at.channel,
        "memory import",
        json!({"file": file.to_string()}),
    );
    for import in [import, by_file] {
        import.response().await;
        at.idle().await;
        let preview = import.original().await;
        shown.push_str(&preview.to_text());
        let button = preview
            .buttons()
            .into_iter()
            .find(|button| button.label.starts_with("Import "))
            .unwrap_or_else(|| panic!("something to import: {preview}"));
        let click = at.discord.click_as_seen(at.alice, &preview, &button.label);
        click.response().await;
        at.idle().await;
        shown.push_str(&import.original().await.to_text());
    }
    let remember = at
        .discord
        .message_command(at.alice, "Remember as incident", starter);
    shown.push_str(&remember.modal().await.to_text());
    let sent = filled(at, &remember, &lines).await;
    shown.push_str(&sent);
    let resolve = at
        .discord
        .slash(at.alice, opened.thread, "resolve", json!({"worked": "yes"}));
    let sent = filled(at, &resolve, &lines).await;
    shown.push_str(&sent);
    for (command, options) in [
        (
            "memory add",
            json!({
                "title": secrets[3].0, "service": secrets[4].1, "symptoms": all.chars().take(2_000).collect::<String>(),
                "cause": all.chars().take(1_000).collect::<String>(),
                "fix": all.chars().rev().take(1_000).collect::<Vec<_>>().iter().rev().collect::<String>(),
                "outcome": "held",
            }),
        ),
        (
            "service set",
            json!({
                "name": secrets[5].1, "aliases": secrets[6].1, "owners": format!("on call: {}", secrets[7].1),
                "high_risk": secrets[8].1,
            }),
        ),
        ("service list", json!({})),
        (
            "memory search",
            json!({"query": all.chars().take(900).collect::<String>()}),
        ),
        ("memory show", json!({"id": "INC-0014"})),
        ("memory show", json!({"id": "INC-0015"})),
        ("memory export", json!({})),
        ("incident show", json!({"id": opened.id().to_string()})),
        (
            "memory show",
            json!({"id": secrets[3].1.chars().take(32).collect::<String>()}),
        ),
    ] {
        let asked = at.discord.slash(at.alice, at.channel, command, options);
        let answer = asked.original().await;
        shown.push_str(&answer.to_text());
        shown.extend(answer.files.iter().map(standin::PostedFile::text));
    }
    // A client that chooses what nobody offered.
    let mut forged = opened.cards(1).await;
    forged.components = vec![json!({"type": 1, "components": [{
        "type": 3, "custom_id": format!("p1:service:{}", opened.number()), "placeholder": "forged",
        "options": [{"label": "x", "value": secrets[3].1}],
    }]})];
    let id = format!("p1:service:{}", opened.number());
    let chosen = at
        .discord
        .select_as_seen(at.alice, &forged, &id, &[secrets[3].1.as_str()]);
    chosen.response().await;
    at.idle().await;
    shown.extend(chosen.followups().iter().map(|post| post.to_text()));

    shown.push_str(&all_shown(at, &opened.report, opened.thread).await);
    // The double writes a link to a thread with the name that its people gave it.
    let shown = shown.replace(
        &format!("#order-service outage {}", secrets[3].1),
        "#thread",
    );
    let kept = homes::all_that_is_kept(&at.config.database_url, at.folder.path()).await;
    let stored = |part: &str| {
        kept.iter().any(|bytes| {
            bytes
                .windows(part.len())
                .any(|window| window == part.as_bytes())
        })
    };
    let logged = log.text();
    assert!(
        stored("flushed the cache") && shown.contains("[REDACTED"),
        "{shown}"
    );
    for (line, secret) in &secrets {
        let part = secret.split('\n').next().unwrap_or(secret);
        assert!(!shown.contains(part), "{line} is shown:\n{shown}");
        assert!(
            !logged.contains(part),
            "{line} stands in the log:\n{logged}"
        );
        assert!(!stored(part), "{line} is in the database");
    }
    opened.ends().await;
}

/// Fills every field of a modal with as many of these lines as it takes; gives the answer.
async fn filled(at: &Incident, opened_by: &standin::Interaction, lines: &[&str]) -> String {
    let modal = opened_by.modal().await;
    let fields: Vec<(String, String)> = modal
        .fields
        .iter()
        .enumerate()
        .map(|(place, field)| {
            let mut text = String::new();
            // Not the same ones everywhere, where a field takes few.
            for line in lines.iter().cycle().skip(place * 5).take(lines.len()) {
                if text.chars().count() + line.chars().count() < field.length.1 {
                    text.push_str(line);
                    text.push('\n');
                }
            }
            (field.custom_id.clone(), text.trim_end().to_owned())
        })
        .collect();
    let fields: Vec<(&str, &str)> = fields
        .iter()
        .filter(|(name, _)| name != "outcome")
        .map(|(name, value)| (name.as_str(), value.as_str()))
        .collect();
    let sent = at.discord.submit_modal(at.alice, opened_by, &fields);
    sent.response().await;
    at.idle().await;
    sent.original().await.to_text()
}

/// The placeholders of a kind in a text.
fn placeholders(text: &str, kind: &str) -> Vec<String> {
    let opening = format!("[REDACTED {kind} ");
    text.match_indices(&opening)
        .filter_map(|(at, _)| text.get(at..at + opening.len() + 5))
        .map(str::to_owned)
        .collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn the_same_secret_is_the_same_placeholder_in_its_incident_and_in_no_other() {
    let token = ["gh", "p_", "aZ3kQ9xW7mP2vL8nR4tY6uB1cD5eF0gH3jK7"].concat();
    let at = Incident::begins(Given::default()).await;
    let file = at.discord.upload(Upload::new(
        "payments.log",
        format!("ERROR login with {token}\n"),
    ));
    let first = Opened::reported(
        at,
        json!({"report": format!("{REFUND_REPORT}\nit logs in with {token}"), "log": file.to_string()}),
    )
    .await;
    first.at.discord.say(
        first.at.alice,
        first.thread,
        Say::text(&format!("{token} was rotated on Monday")),
    );
    first
        .at
        .discord
        .await_request("PUT", "/channels/*/messages/*/reactions/**", 1)
        .await;
    first.at.idle().await;
    let report = first.stored().await.report.expect("a report").all_text();
    let own = placeholders(&report, "github-token");
    assert_eq!(own.len(), 3, "{report}");
    assert!(
        own.iter().all(|placeholder| *placeholder == own[0]),
        "{own:?}"
    );

    let second = Opened::reported(
        first.at,
        json!({"report": format!("search-api is slow, it logs in with {token} too")}),
    )
    .await;
    let report = second.stored().await.report.expect("a report").all_text();
    let other = placeholders(&report, "github-token");
    assert_eq!(other.len(), 1, "{report}");
    assert_ne!(own[0], other[0]);
    second.ends().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_cannot_be_read_safely_is_not_sent_and_the_rules_answer() {
    // What an earlier version left out, and a file that is made against the rules.
    let struck = format!("{REFUND_REPORT}\n[REDACTED unread 0a1b]");
    let hostile = Upload::new("dump.log", "password=".repeat(20_000));
    for (locale, report, file, sentence) in [
        (
            None,
            REFUND_REPORT,
            Some(hostile),
            "could not be checked for secrets",
        ),
        (Some("zh-CN"), struck.as_str(), None, "无法确认不含机密信息"),
    ] {
        let model: ChatModel = model(analysis_answer(&["INC-0012"], "SEV3")).await;
        let at = Incident::begins(Given {
            memory: &[refund_job(12, "2026-05-14", "held")],
            model: Some(model),
            locale,
            ..Given::default()
        })
        .await;
        let mut options = json!({"report": report});
        if let Some(file) = file {
            options["log"] = json!(at.discord.upload(file).to_string());
        }
        let opened = Opened::reported(at, options).await;
        let cards = opened.cards(1).await;
        assert!(cards.shows(sentence), "{cards}");
        let asked = opened.at.model.as_ref().expect("a model").requests().len();
        assert_eq!(asked, 0, "nothing is sent to the model");
        opened.ends().await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn what_the_model_hides_in_escapes_is_struck_at_the_exit() {
    let mut answer: Value = analysed("SEV2", json!([cites(json!(["INC-0012"]), json!(80))]));
    answer["next_steps"][0]["step"] = json!("Read the dashboard with ESCAPED");
    let escaped = answer
        .to_string()
        .replace("ESCAPED", "password\\u003dopensesame");
    let model = ChatModel::start().await;
    model
        .on_fn(Task::Triage, |_| Reply::json(&triaged("SEV2")))
        .on_fn(Task::Analysis, move |_| Reply::answer(escaped.clone()));
    let opened = Opened::with(
        Given {
            memory: &[refund_job(12, "2026-05-14", "held")],
            model: Some(model),
            ..Given::default()
        },
        json!({"report": REFUND_REPORT}),
    )
    .await;
    let shown = all_shown(&opened.at, &opened.report, opened.thread).await;
    assert!(shown.contains("Read the logs of the refund job"), "{shown}");
    assert!(!shown.contains("opensesame"), "{shown}");
    let kept =
        homes::all_that_is_kept(&opened.at.config.database_url, opened.at.folder.path()).await;
    assert!(
        !kept
            .iter()
            .any(|bytes| bytes.windows(10).any(|window| window == b"opensesame")),
        "it is in the database"
    );
    opened.ends().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_quote_with_a_placeholder_stands_in_the_report_and_why_counts_what_was_struck() {
    let model = ChatModel::start().await;
    model
        .on_fn(Task::Triage, |_| Reply::json(&triaged("SEV2")))
        .on_fn(Task::Analysis, |request| {
            let said = request.user();
            let line = said
                .lines()
                .find(|line| line.contains("login refused"))
                .unwrap_or_default();
            let mut hypothesis = cites(json!([]), json!(60));
            hypothesis["title"] = json!("The database refuses the login");
            hypothesis["source"] = json!("current_evidence");
            hypothesis["evidence"] = json!([line]);
            Reply::json(&analysed("SEV2", json!([hypothesis])))
        });
    let opened = Opened::with(
        Given {
            model: Some(model),
            ..Given::default()
        },
        json!({"report": format!(
            "{REFUND_REPORT}\nERROR login refused for postgres://app:{}@db.internal:5432/pay\nask jane@example.com",
            ["Tr0ub4dor", "And3"].concat()
        )}),
    )
    .await;
    let cards = opened.cards(1).await;
    assert!(cards.shows("The database refuses the login"), "{cards}");
    assert!(
        cards.shows("login refused for postgres"),
        "the quote stands: {cards}"
    );
    let asked = opened
        .at
        .discord
        .slash(opened.at.alice, opened.thread, "why", json!({}));
    let why = asked.ephemeral().await;
    for part in [
        "Struck before anything was stored",
        "email × 1",
        "url-password × 1",
    ] {
        assert!(why.shows(part), "{part}: {why}");
    }
    opened.ends().await;
}

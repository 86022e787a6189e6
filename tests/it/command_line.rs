//! The built program on the command line: what it prints, what it refuses, what it never writes.

use crate::bot::model::{analysed, cites, model_that_says, triaged};
use crate::bot::{REFUND_REPORT, refund_job};
use serde_json::{Value, json};
use standin::Discord;
use standin::llm::{ChatModel, Misbehaviour, Reply};
use std::path::Path;
use std::process::{Output, Stdio};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::process::Command;

/// A folder to work in, with its own database.
struct Desk {
    folder: tempfile::TempDir,
    variables: Vec<(&'static str, String)>,
}

impl Desk {
    fn new() -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        let database = format!("sqlite://{}", folder.path().join("precedent.db").display());
        Self {
            variables: vec![("DATABASE_URL", database), ("RUST_LOG", "warn".into())],
            folder,
        }
    }

    fn with(mut self, name: &'static str, value: impl Into<String>) -> Self {
        self.variables.retain(|(known, _)| *known != name);
        self.variables.push((name, value.into()));
        self
    }

    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_precedent"));
        command
            .args(arguments)
            .env_clear()
            .envs(self.variables.iter().map(|(name, value)| (*name, value)))
            .current_dir(self.folder.path())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .kill_on_drop(true);
        command
    }

    /// Runs the program to its end with this on standard input.
    async fn run(&self, arguments: &[&str], input: &str) -> Said {
        let mut child = self.command(arguments).spawn().expect("the program starts");
        let mut stdin = child.stdin.take().expect("its input");
        // A program that refuses at once does not read it.
        let _written = stdin.write_all(input.as_bytes()).await;
        drop(stdin);
        Said::from(child.wait_with_output().await.expect("the program ends"))
    }

    fn file(&self, name: &str, lines: &[Value]) -> String {
        let path = self.folder.path().join(name);
        let text: String = lines.iter().map(|line| format!("{line}\n")).collect();
        std::fs::write(&path, text).expect("a file");
        path.display().to_string()
    }

    /// A memory in which the refund job was stopped twice, with success.
    async fn remembers(&self) {
        let file = self.file(
            "memory.jsonl",
            &[
                refund_job(12, "2026-05-14", "held"),
                refund_job(41, "2026-09-23", "held"),
            ],
        );
        let said = self.run(&["memory", "import", &file], "").await;
        assert_eq!(said.code, Some(0), "{said:?}");
    }
}

#[derive(Debug)]
struct Said {
    code: Option<i32>,
    out: String,
    log: String,
}

impl From<Output> for Said {
    fn from(output: Output) -> Self {
        Self {
            code: output.status.code(),
            out: String::from_utf8(output.stdout).expect("text"),
            log: String::from_utf8(output.stderr).expect("text"),
        }
    }
}

fn keys(value: &Value) -> Vec<&str> {
    let object = value.as_object().expect("an object");
    object.keys().map(String::as_str).collect()
}

// ---- help and faults -----------------------------------------------------------

#[tokio::test]
async fn help_names_every_command_and_nothing_that_is_not_there() {
    let desk = Desk::new();
    let said = desk.run(&["--help"], "").await;
    assert_eq!(said.code, Some(0));
    for command in ["analyze", "check", "memory"] {
        assert!(said.out.contains(command), "{}", said.out);
    }
    let said = desk.run(&["analyze", "--help"], "").await;
    for option in [
        "--service",
        "--severity",
        "--guild",
        "--json",
        "--no-memory",
    ] {
        assert!(said.out.contains(option), "{option}: {}", said.out);
    }
    let said = desk.run(&["memory", "--help"], "").await;
    for command in ["import", "export"] {
        assert!(said.out.contains(command), "{}", said.out);
    }
    let said = desk.run(&["postmortem"], "").await;
    assert_eq!(said.code, Some(2), "{said:?}");
}

#[tokio::test]
async fn every_fault_of_the_configuration_is_reported_at_once_and_no_secret_is_printed() {
    let desk = Desk::new()
        .with("DISCORD_TOKEN", "Bot s3cr3t-token")
        .with("DISCORD_GUILD_ID", "my server")
        .with("LLM_BASE_URL", "localhost:8080")
        .with("LLM_API_KEY", "gsk_s3cr3t")
        .with("LLM_TIMEOUT_SECONDS", "soon")
        .with("DATABASE_URL", "mysql://root:s3cr3t@db/x")
        .with("LOG_FORMAT", "xml")
        .with("DISCORD_MESSAGE_CONTENT", "perhaps");
    let said = desk.run(&["check"], "").await;
    assert_eq!(said.code, Some(2), "{said:?}");
    for name in [
        "DISCORD_TOKEN",
        "DISCORD_GUILD_ID",
        "LLM_BASE_URL",
        "LLM_TIMEOUT_SECONDS",
        "DATABASE_URL",
        "LOG_FORMAT",
        "DISCORD_MESSAGE_CONTENT",
    ] {
        assert!(said.log.contains(name), "{name} is not named: {}", said.log);
    }
    assert!(!format!("{said:?}").contains("s3cr3t"), "{said:?}");
}

#[tokio::test]
async fn the_bot_does_not_start_without_a_token_and_says_what_to_do() {
    let said = Desk::new().run(&[], "").await;
    assert_eq!(said.code, Some(1), "{said:?}");
    assert!(
        said.log.contains("DISCORD_TOKEN is not set"),
        "{}",
        said.log
    );
    assert!(!said.log.contains("panicked"), "{}", said.log);
}

// ---- check --------------------------------------------------------------------------

fn lines(said: &Said) -> Vec<&str> {
    said.out.lines().collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn check_says_a_line_each_and_ends_well_where_all_is_well() {
    let discord = Discord::start().await;
    discord.set_message_content(true);
    let model = ChatModel::start().await;
    let desk = Desk::new()
        .with("DISCORD_TOKEN", discord.token())
        .with("DISCORD_API_URL", discord.url())
        .with("LLM_BASE_URL", model.base_url())
        .with("LLM_API_KEY", "gsk_s3cr3t");
    let said = desk.run(&["check"], "").await;
    assert_eq!(said.code, Some(0), "{said:?}");
    let lines = lines(&said);
    for about in [
        "configuration:",
        "database:",
        "commands file:",
        "token:",
        "intents:",
        "model:",
    ] {
        let of: Vec<&&str> = lines.iter().filter(|line| line.contains(about)).collect();
        assert_eq!(of.len(), 1, "{about}: {}", said.out);
        assert!(of[0].starts_with("ok   "), "{}", said.out);
    }
    let all = format!("{said:?}");
    assert!(
        !all.contains("s3cr3t") && !all.contains(&discord.token()),
        "{all}"
    );
    discord.finish();
    model.finish();
}

#[tokio::test(flavor = "multi_thread")]
async fn check_names_each_thing_that_is_wrong_and_ends_badly() {
    let discord = Discord::start().await;
    discord.set_message_content(false);
    let model = ChatModel::start().await;
    model.offer_models(&["llama-3.3-70b-versatile"]);
    let good = || {
        Desk::new()
            .with("DISCORD_TOKEN", discord.token())
            .with("DISCORD_API_URL", discord.url())
    };
    for (desk, wrong) in [
        (Desk::new(), vec!["token: DISCORD_TOKEN is not set"]),
        (
            good().with("DISCORD_TOKEN", "MTEwMDAwMDAwMDAwMDAwMDAwMQ.wrong.token"),
            vec!["token: Discord does not accept it"],
        ),
        (good(), vec!["intents: message content is asked for"]),
        (
            good()
                .with("LLM_BASE_URL", model.base_url())
                .with("DISCORD_MESSAGE_CONTENT", "off"),
            vec!["model: The model openai/gpt-oss-120b is not offered"],
        ),
        (
            good()
                .with("LLM_BASE_URL", "http://127.0.0.1:9/v1")
                .with("DATABASE_URL", "sqlite:///nowhere/at/all/precedent.db"),
            vec!["database:", "intents:", "model:"],
        ),
    ] {
        let said = desk.run(&["check"], "").await;
        assert_eq!(said.code, Some(1), "{wrong:?}: {said:?}");
        let failed: Vec<&str> = lines(&said)
            .into_iter()
            .filter(|line| line.starts_with("FAIL"))
            .collect();
        assert_eq!(failed.len(), wrong.len(), "{wrong:?}: {}", said.out);
        for (line, wrong) in failed.iter().zip(&wrong) {
            assert!(line.contains(wrong), "{wrong}: {line}");
        }
        assert!(!format!("{said:?}").contains("panicked"), "{said:?}");
    }
    // A wrong token is no fault of the stand-in's.
    discord.forgive("");
    drop(discord);
    model.finish();
}

// ---- analyze ----------------------------------------------------------------------------

#[tokio::test(flavor = "multi_thread")]
async fn r29_analyze_prints_one_object_with_every_key_and_writes_nothing_to_memory() {
    let model = model_that_says(
        &triaged("SEV2"),
        &analysed(
            "SEV2",
            json!([cites(json!(["INC-0041", "INC-0099"]), json!(100))]),
        ),
    )
    .await;
    let desk = Desk::new()
        .with("LLM_BASE_URL", model.base_url())
        .with("DISCORD_GUILD_ID", "4242");
    desk.remembers().await;
    let before = desk.run(&["memory", "export", "-"], "").await.out;
    let said = desk.run(&["analyze", "-", "--json"], REFUND_REPORT).await;
    assert_eq!(said.code, Some(0), "{said:?}");
    assert_eq!(said.out.lines().count(), 1, "one object and nothing else");
    let object: Value = serde_json::from_str(&said.out).expect("JSON");
    for key in [
        "analysis",
        "corrections",
        "recalled",
        "routing",
        "engine",
        "messages",
    ] {
        assert!(
            object.get(key).is_some(),
            "{key} is missing: {:?}",
            keys(&object)
        );
    }
    let analysis = &object["analysis"];
    for key in [
        "summary",
        "severity_assessment",
        "memory_verdict",
        "hypotheses",
        "next_steps",
        "ruled_out_by_history",
        "stakeholder_update",
        "safety_notes",
        "do_not_repeat",
    ] {
        assert!(analysis.get(key).is_some(), "{key}: {:?}", keys(analysis));
    }
    assert_eq!(analysis["memory_verdict"]["status"], "proven");
    let first = &analysis["hypotheses"][0];
    for key in [
        "title",
        "source",
        "memory_refs",
        "evidence",
        "contradicted_by",
        "confidence",
        "verify",
        "fix",
        "fix_ref",
        "label",
        "record",
    ] {
        assert!(first.get(key).is_some(), "{key}: {:?}", keys(first));
    }
    assert_eq!(first["confidence"], 89, "twice proven: at most 89");
    assert_eq!(first["record"], "WORKED TWICE HERE");
    let update = &analysis["stakeholder_update"];
    for key in [
        "impact",
        "since",
        "known",
        "not_confirmed",
        "doing",
        "needed",
    ] {
        assert!(update.get(key).is_some(), "{key}: {:?}", keys(update));
    }
    assert_eq!(object["engine"], "model");
    let corrections = object["corrections"].as_array().expect("a list");
    for correction in corrections {
        for key in ["rule", "at", "was", "now"] {
            assert!(correction.get(key).is_some(), "{key}: {correction}");
        }
    }
    assert!(
        corrections
            .iter()
            .any(|correction| correction["rule"] == "R1"
                && correction["was"].to_string().contains("0099")),
        "{corrections:#?}"
    );
    let recalled = object["recalled"].as_array().expect("a list");
    assert_eq!(recalled.len(), 2);
    for past in recalled {
        assert_eq!(past["grade"], "direct_match");
        assert_eq!(past["outcome"], "held");
        let similarity = past["similarity"].as_f64().expect("a number");
        assert!((0.35..=1.0).contains(&similarity), "{past}");
    }
    assert_eq!(object["routing"]["tier"], "capable", "payments, SEV2");
    assert_eq!(object["routing"]["escalated"], true);
    let messages = object["messages"].as_array().expect("a list");
    assert!((3..=4).contains(&messages.len()), "{}", messages.len());
    for message in messages {
        assert_eq!(message["allowed_mentions"]["parse"], json!([]), "{message}");
    }
    let after = desk.run(&["memory", "export", "-"], "").await.out;
    assert_eq!(
        before, after,
        "an analysis on the command line writes nothing"
    );
    model.finish();
}

#[tokio::test(flavor = "multi_thread")]
async fn low_memories_are_listed_as_recalled_and_said_nowhere() {
    let desk = Desk::new();
    let file = desk.file(
        "memory.jsonl",
        &[
            refund_job(12, "2026-05-14", "held"),
            json!({
                "id": 5, "title": "Invoices in the wrong font on payments-api",
                "service": "payments-api", "root_cause": "A stylesheet was overwritten",
                "fix": "Restore invoice-theme.css", "outcome": "verified",
            }),
        ],
    );
    let said = desk.run(&["memory", "import", &file], "").await;
    assert_eq!(said.code, Some(0), "{said:?}");
    let said = desk.run(&["analyze", "-", "--json"], REFUND_REPORT).await;
    let object: Value = serde_json::from_str(&said.out).expect("JSON");
    let grades: Vec<String> = object["recalled"]
        .as_array()
        .expect("a list")
        .iter()
        .map(|past| format!("{} {}", past["id"], past["grade"]))
        .collect();
    assert_eq!(grades.len(), 2, "{grades:?}");
    assert!(
        grades.contains(&r#""INC-0005" "low""#.to_owned()),
        "{grades:?}"
    );
    for shown in ["analysis", "messages"] {
        let text = object[shown].to_string();
        assert!(
            !text.contains("invoice") && !text.contains("INC-0005"),
            "{text}"
        );
    }
    assert_eq!(object["engine"], "fallback");
}

#[tokio::test(flavor = "multi_thread")]
async fn what_came_back_within_a_week_is_said() {
    let desk = Desk::new();
    let file = desk.file("memory.jsonl", &[refund_job(12, "2026-05-14", "held")]);
    let said = desk.run(&["memory", "import", &file], "").await;
    assert_eq!(said.code, Some(0), "{said:?}");
    for (now, days) in [
        ("2026-06-14T12:00:00Z", None),
        ("2026-05-22T12:00:00Z", None),
        ("2026-05-17T12:00:00Z", Some("back after 3 days (INC-0012)")),
    ] {
        let said = desk
            .run(&["analyze", "-", "--json", "--now", now], REFUND_REPORT)
            .await;
        let object: Value = serde_json::from_str(&said.out).expect("JSON");
        let messages = object["messages"].to_string();
        assert_eq!(
            messages.contains("back after"),
            days.is_some(),
            "{messages}"
        );
        assert!(messages.contains(days.unwrap_or_default()), "{messages}");
        // The outcome that is stored stays as it is until the cause is confirmed.
        assert_eq!(object["analysis"]["status"], "proven");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn memory_that_is_left_out_is_neither_no_match_nor_unavailable() {
    let desk = Desk::new();
    desk.remembers().await;
    for arguments in [
        vec!["analyze", "-", "--no-memory"],
        vec!["analyze", "-", "--no-memory", "--json"],
    ] {
        let said = desk.run(&arguments, REFUND_REPORT).await;
        assert_eq!(said.code, Some(0), "{said:?}");
        for never in [
            "Nothing like this",
            "unavailable",
            "INC-0012",
            "INC-0041",
            "WORKED",
        ] {
            assert!(!said.out.contains(never), "{never}: {}", said.out);
        }
        assert!(
            said.out.contains("Memory was off for this run"),
            "{}",
            said.out
        );
    }
    let said = desk
        .run(&["analyze", "-", "--no-memory", "--json"], REFUND_REPORT)
        .await;
    let object: Value = serde_json::from_str(&said.out).expect("JSON");
    assert_eq!(object["analysis"]["memory_verdict"]["status"], "disabled");
    assert_eq!(object["recalled"], json!([]));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_database_that_can_t_be_opened_is_memory_unavailable_and_the_analysis_goes_on() {
    let desk = Desk::new().with("DATABASE_URL", "sqlite:///nowhere/at/all/precedent.db");
    let said = desk.run(&["analyze", "-", "--json"], REFUND_REPORT).await;
    assert_eq!(said.code, Some(0), "{said:?}");
    let object: Value = serde_json::from_str(&said.out).expect("JSON");
    assert_eq!(
        object["analysis"]["memory_verdict"]["status"],
        "unavailable"
    );
    assert!(!said.out.contains("Nothing like this"), "{}", said.out);
    assert!(
        object["analysis"]["next_steps"]
            .as_array()
            .is_some_and(|steps| steps.len() >= 4),
        "{}",
        said.out
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_model_that_fails_is_named_and_the_answer_is_still_a_full_one() {
    let model = ChatModel::start().await;
    model.otherwise(Reply::from(Misbehaviour::BadKey));
    let desk = Desk::new()
        .with("LLM_BASE_URL", model.base_url())
        .with("LLM_API_KEY", "gsk_s3cr3t");
    desk.remembers().await;
    let said = desk.run(&["analyze", "-"], REFUND_REPORT).await;
    assert_eq!(said.code, Some(0), "{said:?}");
    for words in [
        "rule-based: the model's key was refused (401)",
        "WORKED TWICE HERE",
        "INC-0041",
        "read-only",
    ] {
        assert!(said.out.contains(words), "{words}: {}", said.out);
    }
    assert!(!format!("{said:?}").contains("s3cr3t"), "{said:?}");
    model.finish();
}

#[tokio::test]
async fn nothing_to_analyze_is_said_and_nothing_is_printed() {
    let desk = Desk::new();
    for (arguments, input, why) in [
        (vec!["analyze", "-"], " \n", "The report is empty"),
        (
            vec!["analyze", "nowhere.txt"],
            "",
            "nowhere.txt can't be read",
        ),
    ] {
        let said = desk.run(&arguments, input).await;
        assert_eq!(said.code, Some(1), "{said:?}");
        assert!(said.out.is_empty(), "{}", said.out);
        assert!(said.log.contains(why), "{}", said.log);
    }
    let said = desk.run(&["analyze", "-", "--severity", "SEV9"], "x").await;
    assert_eq!(said.code, Some(2), "{said:?}");
}

// ---- memory ---------------------------------------------------------------------------------

#[tokio::test]
async fn what_is_exported_comes_back_as_it_was_under_its_ids() {
    let desk = Desk::new();
    let mut full = refund_job(41, "2026-09-23", "held");
    full["ruled_out"] = json!(["The gateway: it answered all along"]);
    full["prevention"] = json!("A limit on the refund job's connections");
    full["source"] = json!("postmortem of September");
    let file = desk.file(
        "first.jsonl",
        &[
            full,
            json!({"title": "Only a title"}),
            json!({"id": "#7", "title": "支付接口 503", "fix": "重启", "outcome": "refuted"}),
            json!({"id": 9, "title": "Words of old", "fix": "Wait", "outcome": "hypothesis"}),
        ],
    );
    let said = desk
        .run(&["memory", "import", &file, "--guild", "a"], "")
        .await;
    assert_eq!(said.code, Some(0), "{said:?}");
    assert!(
        said.log.contains("4 added, 0 replaced, 0 not imported"),
        "{}",
        said.log
    );
    let exported = desk
        .run(&["memory", "export", "-", "--guild", "a"], "")
        .await;
    assert_eq!(exported.code, Some(0), "{exported:?}");
    let ids: Vec<String> = exported
        .out
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).expect("JSON")["id"].to_string())
        .collect();
    assert_eq!(ids.len(), 4, "{}", exported.out);
    for id in ["INC-0007", "INC-0009", "INC-0041"] {
        assert!(ids.contains(&format!("{id:?}")), "{ids:?}");
    }
    for words in [
        "The gateway: it answered all along",
        "postmortem of September",
        "支付接口 503",
    ] {
        assert!(exported.out.contains(words), "{words}: {}", exported.out);
    }
    // Into another guild, out again: the same lines. The first guild's are not another's.
    let path = Path::new(desk.folder.path()).join("second.jsonl");
    let path = path.display().to_string();
    let said = desk
        .run(&["memory", "export", &path, "--guild", "a"], "")
        .await;
    assert_eq!(said.code, Some(0), "{said:?}");
    let none = desk
        .run(&["memory", "export", "-", "--guild", "b"], "")
        .await;
    assert_eq!(none.out, "", "another guild's memory");
    let said = desk
        .run(&["memory", "import", &path, "--guild", "b"], "")
        .await;
    assert_eq!(said.code, Some(0), "{said:?}");
    let again = desk
        .run(&["memory", "export", "-", "--guild", "b"], "")
        .await;
    assert_eq!(again.out, exported.out);
    // The same ids again replace.
    let said = desk
        .run(&["memory", "import", &path, "--guild", "b"], "")
        .await;
    assert!(said.log.contains("0 added, 4 replaced"), "{}", said.log);
}

#[tokio::test]
async fn bad_lines_are_named_by_number_and_strict_imports_none() {
    let desk = Desk::new();
    let path = desk.folder.path().join("bad.jsonl");
    std::fs::write(
        &path,
        "{\"id\": 1, \"title\": \"Good\", \"colour\": \"red\"}\nnot JSON\n{\"service\": \"a\"}\n{\"title\": \"x\", \"fix\": \"y\", \"outcome\": \"perhaps\"}\n",
    )
    .expect("a file");
    let path = path.display().to_string();
    let said = desk.run(&["memory", "import", &path, "--strict"], "").await;
    assert_eq!(said.code, Some(1), "{said:?}");
    let none = desk.run(&["memory", "export", "-"], "").await;
    assert_eq!(none.out, "", "strict: all or nothing");
    let said = desk.run(&["memory", "import", &path], "").await;
    assert_eq!(said.code, Some(0), "{said:?}");
    for line in ["line 2: ", "line 3: ", "line 4: ", "\"colour\""] {
        assert!(said.log.contains(line), "{line}: {}", said.log);
    }
    assert!(
        said.log.contains("1 added, 0 replaced, 3 not imported"),
        "{}",
        said.log
    );
}

#[tokio::test]
async fn secrets_in_imported_lines_are_struck() {
    let desk = Desk::new();
    let mut line = refund_job(12, "2026-05-14", "held");
    line["fix"] = json!("Log in with password: correct-horse-77 and stop the refund job");
    line["symptoms"] = json!(["jane.doe@customer.example could not pay"]);
    let file = desk.file("memory.jsonl", &[line]);
    let said = desk.run(&["memory", "import", &file], "").await;
    assert_eq!(said.code, Some(0), "{said:?}");
    let exported = desk.run(&["memory", "export", "-"], "").await;
    for secret in ["correct-horse-77", "jane.doe@customer.example"] {
        assert!(!exported.out.contains(secret), "{}", exported.out);
    }
    assert!(
        exported.out.contains("stop the refund job"),
        "{}",
        exported.out
    );
}

// ---- logs ---------------------------------------------------------------------------------------

#[tokio::test(flavor = "multi_thread")]
async fn logs_of_a_whole_incident_hold_figures_and_no_words() {
    let discord = Discord::start().await;
    let guild = discord.guild("acme");
    let channel = discord.channel(guild, "incidents");
    let alice = discord.member(guild, "alice-of-payments");
    discord.set_message_content(true);
    let model = model_that_says(
        &triaged("SEV2"),
        &analysed("SEV2", json!([cites(json!(["INC-0041"]), json!(90))])),
    )
    .await;
    let desk = Desk::new()
        .with("DISCORD_TOKEN", discord.token())
        .with("DISCORD_API_URL", discord.url())
        .with("LLM_BASE_URL", model.base_url())
        .with("LLM_API_KEY", "gsk_s3cr3t")
        .with("RUST_LOG", "trace")
        .with("LOG_FORMAT", "json")
        .with("DISCORD_GUILD_ID", guild.to_string());
    desk.remembers().await;
    let mut child = desk.command(&[]).spawn().expect("the program starts");
    let mut stderr = child.stderr.take().expect("its log");
    let log = tokio::spawn(async move {
        let mut log = String::new();
        stderr.read_to_string(&mut log).await.map(|_| log)
    });
    discord.set_patience(std::time::Duration::from_secs(30));
    discord.gateway().connected().await;
    let report = discord.slash(
        alice,
        channel,
        "analyze",
        json!({"report": format!("{REFUND_REPORT}\nThe purple walrus knows.")}),
    );
    let headline = report.original().await;
    let thread = discord.await_thread(headline.id).await;
    discord
        .await_message(thread, |post| post.content.starts_with("```"))
        .await;
    discord.say(alice, thread, "The green walrus disagrees.");
    discord
        .await_request("PUT", "/channels/*/messages/*/reactions/**", 1)
        .await;
    let id = child.id().expect("it runs").to_string();
    let sent = std::process::Command::new("kill")
        .args(["-TERM", &id])
        .status()
        .expect("kill is there");
    assert!(sent.success());
    let status = child.wait().await.expect("it ends");
    assert!(status.success(), "{status}");
    let log = log.await.expect("read").expect("text");
    for never in [
        "walrus",
        "customers cannot pay",
        "TillPool",
        "refund job",
        "incident_report",
        "Task: ",
        "gsk_s3cr3t",
        "alice-of-payments",
        discord.token().as_str(),
    ] {
        let line = log.lines().find(|line| line.contains(never));
        assert!(line.is_none(), "{never:?} stands in the log: {line:?}");
    }
    for figure in [
        "the model answered",
        "prompt_tokens",
        "analysis shown",
        "\"kind\":\"analyze\"",
    ] {
        assert!(log.contains(figure), "{figure} is missing");
    }
    let _read = discord.posts(thread);
    let _read = discord.posts(channel);
    discord.finish();
    model.finish();
}

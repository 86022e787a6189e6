//! Asking a model, against a provider that misbehaves in every known way.

use std::fmt::Write as _;
use std::time::{Duration, Instant};

use crate::log::{Log, alone};
use precedent::llm::{Answer, Clock, Endpoint, LlmError, Question, Task, Unreadable};
use secrecy::SecretString;
use serde_json::{Value, json};
use standin::llm::{ChatModel, Misbehaviour, Reply, Request, Task as Asked};

const MODEL: &str = "openai/gpt-oss-120b";
/// One and a half of a call's time, as for an analysis.
const BUDGET: Duration = Duration::from_secs(90);
const CALL: Duration = Duration::from_secs(60);

fn question() -> Question {
    Question {
        task: Task::Triage,
        model: MODEL.to_owned(),
        system: "Task: triage\nRead the report.".to_owned(),
        user: "<incident_report>checkout returns 503</incident_report>".to_owned(),
        schema: json!({
            "type": "object",
            "properties": {
                "title": {"type": "string"},
                "service": {"type": ["string", "null"]},
                "severity": {"type": "string"},
            },
            "required": ["title", "service", "severity"],
            "additionalProperties": false,
        }),
        max_completion_tokens: 1000,
    }
}

fn good_answer() -> Reply {
    Reply::answer(Misbehaviour::ANSWER)
}

/// A client on a clock that skips waits.
fn client(model: &ChatModel) -> (Endpoint, Clock) {
    let clock = Clock::skipping();
    let endpoint = Endpoint::new(&model.base_url(), None, CALL).expect("a good address");
    (endpoint.with_clock(clock.clone()), clock)
}

fn seconds(seconds: u64) -> Duration {
    Duration::from_secs(seconds)
}

/// What one request asked with: `strict low`, `object`, `free low, tools none, max 8192`.
fn shape(request: &Request) -> String {
    let body = &request.body;
    let mut shape = match request.response_format() {
        Some("json_schema") if body["response_format"]["json_schema"]["strict"] == true => "strict",
        Some("json_schema") => "schema",
        Some("json_object") => "object",
        _ => "free",
    }
    .to_owned();
    if let Some(effort) = body["reasoning_effort"].as_str() {
        let _ = write!(shape, " {effort}");
    }
    if let Some(choice) = body["tool_choice"].as_str() {
        let _ = write!(shape, ", tools {choice}");
    }
    if body["max_completion_tokens"] != 9000 {
        let _ = write!(shape, ", max {}", body["max_completion_tokens"]);
    }
    shape
}

/// The requests, the waits and the outcome in one line.
fn told(result: &Result<Answer, LlmError>, model: &ChatModel, clock: &Clock) -> String {
    let shapes: Vec<String> = model.requests().iter().map(shape).collect();
    let mut line = shapes.join(" | ");
    for wait in clock.waits() {
        // Full jitter is never over its ceiling of 4 s here, and the asked waits are longer.
        if wait < seconds(4) {
            line.push_str(" ; jitter");
        } else {
            let _ = write!(line, " ; {} s", wait.as_secs_f64());
        }
    }
    match result {
        Ok(answer) => {
            let how = match (answer.salvaged, answer.cut_off) {
                (false, false) => "answer",
                (false, true) => "answer cut off",
                (true, false) => "salvaged",
                (true, true) => "salvaged cut off",
            };
            let _ = write!(line, " -> {how}");
            assert_eq!(answer.attempts as usize, shapes.len());
            assert!(answer.text.contains("Checkout returns 503"), "{answer:?}");
        }
        Err(error) => {
            let _ = write!(line, " -> {}", error.reason());
            match error {
                LlmError::Unreadable { why } => {
                    let _ = write!(line, " {why:?}");
                }
                LlmError::Refused { status } => {
                    let _ = write!(line, " {status}");
                }
                LlmError::TooLarge {
                    limit: Some(limit),
                    requested: Some(requested),
                } => {
                    let _ = write!(line, " {requested}/{limit}");
                }
                _ => {}
            }
            if let Some(wait) = error.retry_after() {
                let _ = write!(line, " {} s", wait.as_secs_f64());
            }
            let sentence = error.to_string();
            for secret in ["org_", "http:", "https:", "groq", "{", "<", "checkout"] {
                assert!(!sentence.contains(secret), "{sentence}");
            }
        }
    }
    line
}

/// What comes of a misbehaviour that happens once, and of one that never stops.
fn expected(misbehaviour: Misbehaviour) -> (&'static str, &'static str) {
    use Misbehaviour as M;
    match misbehaviour {
        M::PerMinute => (
            "strict low | strict low ; 5.289 s -> answer",
            "strict low | strict low | strict low | strict low ; 5.289 s ; 5.289 s ; 5.289 s -> rate_limited 5.289 s",
        ),
        M::PerDay => (
            "strict low -> daily_limit 660.528 s",
            "strict low -> daily_limit 660.528 s",
        ),
        M::PerDaySpaced => (
            "strict low -> daily_limit 371.52 s",
            "strict low -> daily_limit 371.52 s",
        ),
        M::TooLarge => (
            "strict low -> too_large 14810/8000",
            "strict low -> too_large 14810/8000",
        ),
        M::TooLargeForItsAnswer => (
            "strict low -> too_large 32979/8000",
            "strict low -> too_large 32979/8000",
        ),
        // What was handed back is not whole JSON: worth one more try, but better than an error.
        M::JsonFailed => (
            "strict low | strict low -> answer",
            "strict low | strict low | free low -> salvaged",
        ),
        M::JsonFailedEmpty => (
            "strict low | strict low -> answer",
            "strict low | strict low | free low -> unreadable NotTheForm",
        ),
        // The same question would run out of the same tokens.
        M::JsonOutOfTokens => (
            "strict low | free low -> answer",
            "strict low | free low -> unreadable OutOfTokens",
        ),
        M::SchemaMissed => (
            "strict low | strict low -> answer",
            "strict low | strict low -> salvaged",
        ),
        M::SchemaUnsupported => (
            "strict low | object low -> answer",
            "strict low | object low | free low -> refused 400",
        ),
        M::ToolLeak | M::ToolInvented | M::ToolNotInRequest | M::ToolCallFailed => (
            "strict low | strict low, tools none -> answer",
            "strict low | strict low, tools none | free low, tools none -> unreadable ToolCall",
        ),
        M::ToolLeakWithAnswer => (
            "strict low | strict low, tools none -> answer",
            "strict low | strict low, tools none -> salvaged",
        ),
        M::ReasoningEffortNoneOrDefault | M::ReasoningEffortValues => (
            "strict low | strict -> answer",
            "strict low | strict -> refused 400",
        ),
        // Nothing of the kind is ever sent, so there is nothing to leave out.
        M::ReasoningFormat | M::EchoedReasoning | M::NumericCode => {
            ("strict low -> refused 400", "strict low -> refused 400")
        }
        M::ReasoningOnly | M::ReasoningOnlyEmpty => (
            "strict low -> unreadable OutOfTokens",
            "strict low -> unreadable OutOfTokens",
        ),
        M::MarkupLeak => (
            "strict low -> unreadable Markup",
            "strict low -> unreadable Markup",
        ),
        M::MarkupLeakWithAnswer | M::WrongContentType => {
            ("strict low -> answer", "strict low -> answer")
        }
        // Forty seconds are too long to wait for one model.
        M::OverCapacity => (
            "strict low -> overloaded 40 s",
            "strict low -> overloaded 40 s",
        ),
        M::OverCapacityNoTime
        | M::FlexTierFull
        | M::ErrorInOk
        | M::ProxyPage520
        | M::ProxyPage522
        | M::ProxyPage524 => (
            "strict low | strict low ; jitter -> answer",
            "strict low | strict low | strict low | strict low ; jitter ; jitter ; jitter -> overloaded",
        ),
        M::ConnectionDropped | M::BodyCut => (
            "strict low | strict low ; jitter -> answer",
            "strict low | strict low | strict low | strict low ; jitter ; jitter ; jitter -> unreachable",
        ),
        M::ModelDecommissioned | M::ModelNotFound => {
            ("strict low -> model_gone", "strict low -> model_gone")
        }
        M::BadKey => ("strict low -> bad_key", "strict low -> bad_key"),
        M::MaxTokensTooHigh => (
            "strict low | strict low, max 8192 -> answer",
            "strict low | strict low, max 8192 -> refused 400",
        ),
        M::StreamError | M::StreamErrorAfterText => (
            "strict low | strict low, tools none -> answer",
            "strict low | strict low, tools none | free low, tools none -> unreadable ToolCall",
        ),
        M::Silent => ("strict low -> timeout", "strict low -> timeout"),
        M::PageInOk => (
            "strict low -> unreadable NotACompletion",
            "strict low -> unreadable NotACompletion",
        ),
        M::ContextExceeded => (
            "strict low -> too_large 20030/8192",
            "strict low -> too_large 20030/8192",
        ),
        M::FarTooMuch => (
            "strict low -> unreadable Oversized",
            "strict low -> unreadable Oversized",
        ),
    }
}

#[tokio::test]
async fn every_misbehaviour_ends_in_an_answer_or_a_plain_error() {
    let mut faults = Vec::new();
    for misbehaviour in Misbehaviour::all() {
        let (once, always) = expected(misbehaviour);
        for (how, expected) in [("once", once), ("always", always)] {
            let model = ChatModel::start().await;
            model.allow_tokens(None);
            if how == "once" {
                model
                    .on(Asked::Triage, misbehaviour)
                    .otherwise(good_answer());
            } else {
                model.on_fn(Asked::Triage, move |_| misbehaviour.reply());
            }
            let (endpoint, clock) = client(&model);
            let budget = match misbehaviour {
                Misbehaviour::Silent => Duration::from_millis(150),
                _ => BUDGET,
            };
            let question = Question {
                max_completion_tokens: 9000,
                ..question()
            };
            let result = endpoint.ask(&question, budget).await;
            let told = told(&result, &model, &clock);
            if told != expected {
                faults.push(format!(
                    "{misbehaviour:?} {how}\n  expected {expected}\n  got      {told}"
                ));
            }
            model.finish();
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

#[tokio::test]
async fn a_good_answer_comes_with_its_figures() {
    let model = ChatModel::start().await;
    model.on(Asked::Triage, good_answer());
    let (endpoint, _) = client(&model);
    let answer = endpoint.ask(&question(), BUDGET).await.expect("an answer");
    assert_eq!(answer.text, Misbehaviour::ANSWER);
    assert_eq!(answer.model, MODEL);
    assert_eq!((answer.cut_off, answer.salvaged), (false, false));
    assert_eq!(answer.attempts, 1);
    let request = &model.requests()[0];
    assert_eq!(answer.prompt_tokens, Some(request.prompt_tokens));
    assert_eq!(answer.completion_tokens, Some(13));
    assert_eq!(request.headers.get("authorization"), None);
    assert_eq!(request.system(), question().system);
    assert_eq!(request.user(), question().user);
    model.finish();
}

#[tokio::test]
async fn each_task_names_itself_on_the_wire() {
    let model = ChatModel::start().await;
    model.otherwise(good_answer());
    let (endpoint, _) = client(&model);
    for (task, asked) in [
        (Task::Triage, Asked::Triage),
        (Task::Analysis, Asked::Analysis),
        (Task::FollowUp, Asked::FollowUp),
        (Task::Update, Asked::Update),
    ] {
        let question = Question {
            task,
            system: "Read the report.".to_owned(),
            ..question()
        };
        endpoint.ask(&question, BUDGET).await.expect("an answer");
        let requests = model.requests_for(asked);
        assert_eq!(requests.len(), 1, "{task:?}");
        assert_eq!(
            requests[0].system(),
            format!("Task: {}\nRead the report.", asked.name())
        );
    }
    model.finish();
}

#[tokio::test]
async fn a_cut_off_answer_says_so() {
    let model = ChatModel::start().await;
    model.on(Asked::Triage, Reply::cut_off(r#"{"title": "Checkout re"#));
    let (endpoint, _) = client(&model);
    let answer = endpoint.ask(&question(), BUDGET).await.expect("an answer");
    assert!(answer.cut_off);
    assert_eq!(answer.text, r#"{"title": "Checkout re"#);
    model.finish();
}

#[tokio::test]
async fn a_cut_off_text_that_was_handed_back_says_so_too() {
    let model = ChatModel::start().await;
    model.on_fn(Asked::Triage, |_| {
        let mut body = Misbehaviour::JsonFailed
            .reply()
            .body()
            .expect("a body of JSON");
        body["error"]["failed_generation"] = json!(r#"{"title": "Checkout re"#);
        Reply::status(400, body)
    });
    let (endpoint, _) = client(&model);
    let answer = endpoint.ask(&question(), BUDGET).await.expect("an answer");
    assert_eq!((answer.salvaged, answer.cut_off), (true, true));
    assert_eq!(answer.attempts, 3);
    model.finish();
}

#[tokio::test]
async fn what_was_handed_back_outlives_a_later_failure() {
    for later in [
        Misbehaviour::PerDay,
        Misbehaviour::TooLarge,
        Misbehaviour::BadKey,
        Misbehaviour::ReasoningOnly,
        Misbehaviour::OverCapacity,
    ] {
        let model = ChatModel::start().await;
        model
            .on(Asked::Triage, Misbehaviour::SchemaMissed)
            .on(Asked::Triage, later);
        let (endpoint, _) = client(&model);
        let answer = endpoint.ask(&question(), BUDGET).await;
        let answer = answer.expect("the text that was handed back");
        assert!(answer.salvaged, "{later:?}");
        assert_eq!(answer.text, Misbehaviour::ANSWER, "{later:?}");
        model.finish();
    }
}

#[tokio::test]
async fn what_a_model_rejects_is_left_out_from_then_on() {
    // This one takes neither `reasoning_effort` nor a schema.
    let model = ChatModel::start().await;
    model.otherwise(good_answer());
    let (endpoint, _) = client(&model);
    let llama = Question {
        model: "llama-3.3-70b-versatile".to_owned(),
        max_completion_tokens: 9000,
        ..question()
    };
    let first = endpoint.ask(&llama, BUDGET).await.expect("an answer");
    assert_eq!(first.attempts, 3);
    let second = endpoint
        .clone()
        .ask(&llama, BUDGET)
        .await
        .expect("an answer");
    assert_eq!(second.attempts, 1);
    // Another model is asked in full.
    endpoint.ask(&question(), BUDGET).await.expect("an answer");
    let shapes: Vec<String> = model.requests().iter().map(shape).collect();
    assert_eq!(
        shapes,
        [
            "strict low",
            "strict",
            "object",
            "object",
            "strict low, max 1000"
        ]
    );
    // The double refuses `json_object` where no message speaks of JSON.
    assert!(model.requests()[2].system().contains("JSON"));
    model.finish();
}

#[tokio::test]
async fn rejected_parameters_go_one_at_a_time_and_never_come_back() {
    // An old server: it knows none of the newer names.
    let model = ChatModel::start().await;
    model.on_fn(Asked::Triage, |request| {
        let refuse = |message: &str| {
            let body = json!({"error": {"message": message, "code": null, "param": null}});
            Reply::status(400, body)
        };
        let too_many = request.body["max_tokens"].as_u64() > Some(700);
        if request.has("temperature") {
            refuse("Unsupported value: 'temperature' does not support 0.2 with this model")
        } else if request.body["response_format"]["json_schema"]["strict"] == true {
            refuse("response_format: 'strict' is not allowed")
        } else if request.has("max_completion_tokens") {
            refuse("Unrecognized request argument supplied: max_completion_tokens")
        } else if too_many {
            refuse("max_tokens is too large: this model supports at most 700 completion tokens")
        } else {
            good_answer()
        }
    });
    let (endpoint, _) = client(&model);
    for attempts in [5, 1] {
        let answer = endpoint.ask(&question(), BUDGET).await.expect("an answer");
        assert_eq!(answer.attempts, attempts);
    }
    let last = model.requests().pop().expect("a request");
    assert_eq!(last.body["max_tokens"], 700);
    assert_eq!(shape(&last), "schema low, max null");
    assert!(!last.has("temperature"));
    model.finish();
}

#[tokio::test]
async fn a_provider_that_always_wants_less_is_not_asked_for_ever() {
    let model = ChatModel::start().await;
    model.on_fn(Asked::Triage, |request| {
        let now = request.body["max_completion_tokens"].as_u64().unwrap_or(1);
        let body = json!({"error": {"message": format!("max_tokens must be at most {}", now - 1)}});
        Reply::status(400, body)
    });
    let (endpoint, _) = client(&model);
    let error = endpoint.ask(&question(), BUDGET).await.expect_err("no end");
    assert_eq!(error, LlmError::Refused { status: 400 });
    assert_eq!(model.requests().len(), 10);
    model.finish();
}

#[tokio::test]
async fn tools_are_forbidden_in_words_only_where_that_is_known() {
    let model = ChatModel::start().await;
    model.on_fn(Asked::Triage, |request| {
        if request.has("tool_choice") {
            let message = "`tool_choice` is only allowed when `tools` are specified";
            Reply::status(400, json!({"error": {"message": message}}))
        } else {
            Misbehaviour::ToolInvented.reply()
        }
    });
    let (endpoint, clock) = client(&model);
    let question = Question {
        max_completion_tokens: 5000,
        ..question()
    };
    for told_so in [
        "strict low, max 5000 | strict low, tools none, max 5000 | strict low, max 5000 | free low, max 5000 -> unreadable ToolCall",
        "strict low, max 5000 | strict low, max 5000 | free low, max 5000 -> unreadable ToolCall",
    ] {
        let before = model.requests().len();
        let result = endpoint.ask(&question, BUDGET).await;
        let line = told(&result, &model, &clock);
        let line: Vec<&str> = line.split(" | ").skip(before).collect();
        assert_eq!(line.join(" | "), told_so);
    }
    model.finish();
}

#[tokio::test]
async fn a_rate_limit_is_waited_out_in_real_time() {
    let model = ChatModel::start().await;
    let wait = Duration::from_millis(30);
    model
        .on(Asked::Triage, Misbehaviour::per_minute_for(wait))
        .on(Asked::Triage, good_answer());
    let endpoint = Endpoint::new(&model.base_url(), None, CALL).expect("a good address");
    let answer = endpoint.ask(&question(), BUDGET).await.expect("an answer");
    assert_eq!(answer.attempts, 2);
    assert!(answer.elapsed >= wait, "{answer:?}");
    model.finish();
}

#[tokio::test]
async fn rate_limits_are_waited_for_at_most_twenty_seconds_and_within_the_budget() {
    let limited = |name, value: &str| Misbehaviour::PerMinute.reply().header(name, value);
    for (reply, budget, waits, after) in [
        // Longer than anyone waits: told at once.
        (limited("retry-after", "21"), 90, vec![], 21.0),
        (limited("retry-after", "20"), 90, vec![20.0], 20.0),
        (limited("retry-after", "8"), 90, vec![8.0, 8.0], 8.0),
        (limited("retry-after", "8"), 8, vec![], 8.0),
        (limited("retry-after", "8"), 12, vec![8.0], 8.0),
        (limited("retry-after-ms", "7500"), 60, vec![7.5, 7.5], 7.5),
        // The header's word is nearer than the message's.
        (limited("retry-after", "30"), 90, vec![], 30.0),
        (
            limited("retry-after", "Mon, 30 Nov 2026 02:00:12 GMT")
                .header("date", "Mon, 30 Nov 2026 02:00:00 GMT"),
            60,
            vec![12.0],
            12.0,
        ),
        // No word at all: the reset of the tokens.
        (
            Reply::raw(429, "text/plain", "slow down")
                .header("x-ratelimit-reset-tokens", "2m59.56s"),
            60,
            vec![],
            179.56,
        ),
        (limited("x-should-retry", "false"), 60, vec![], 5.289),
    ] {
        let model = ChatModel::start().await;
        model.otherwise(reply.clone());
        let (endpoint, clock) = client(&model);
        let error = endpoint.ask(&question(), seconds(budget)).await;
        let after = Duration::from_secs_f64(after);
        assert_eq!(
            error,
            Err(LlmError::RateLimited {
                retry_after: Some(after)
            }),
            "{reply:?}"
        );
        let waited: Vec<f64> = clock.waits().iter().map(Duration::as_secs_f64).collect();
        assert_eq!(waited, waits, "{reply:?}");
        assert_eq!(model.requests().len(), waits.len() + 1);
        model.finish();
    }
}

#[tokio::test]
async fn rate_limits_without_a_wait_end_too() {
    let model = ChatModel::start().await;
    model.otherwise(Misbehaviour::PerMinute.reply().header("retry-after", "0"));
    let (endpoint, _) = client(&model);
    let error = endpoint
        .ask(&question(), BUDGET)
        .await
        .expect_err("a limit");
    assert_eq!(error.reason(), "rate_limited");
    assert_eq!(model.requests().len(), 6);
    model.finish();
}

#[tokio::test]
async fn a_used_up_day_is_not_asked_again_until_it_is_over() {
    let model = ChatModel::start().await;
    model
        .on(Asked::Triage, Misbehaviour::PerDay)
        .otherwise(good_answer());
    let (endpoint, clock) = client(&model);
    let first = endpoint.ask(&question(), BUDGET).await;
    let all = Duration::from_millis(660_528);
    assert_eq!(
        first,
        Err(LlmError::DailyLimit {
            retry_after: Some(all)
        })
    );
    clock.advance(seconds(600));
    let second = endpoint.ask(&question(), BUDGET).await;
    let left = second.expect_err("still used up").retry_after();
    let left = left.expect("a time");
    assert!(left <= all - seconds(600) && left > seconds(30), "{left:?}");
    assert_eq!(model.requests().len(), 1, "nothing is sent meanwhile");
    // Another model has an allowance of its own.
    let small = Question {
        model: "openai/gpt-oss-20b".to_owned(),
        ..question()
    };
    endpoint.ask(&small, BUDGET).await.expect("an answer");
    clock.advance(seconds(61));
    endpoint.ask(&question(), BUDGET).await.expect("an answer");
    assert_eq!(model.requests().len(), 3);
    model.finish();
}

#[tokio::test]
async fn a_model_that_failed_three_times_rests() {
    let model = ChatModel::start().await;
    model.on_fn(Asked::Triage, |_| Misbehaviour::OverCapacity.reply());
    let (endpoint, clock) = client(&model);
    for _ in 0..5 {
        let error = endpoint.ask(&question(), BUDGET).await.expect_err("full");
        assert_eq!(error.reason(), "overloaded");
        assert!(error.retry_after() <= Some(seconds(40)));
    }
    assert_eq!(model.requests().len(), 3);
    clock.advance(seconds(40));
    model.on(Asked::Triage, good_answer());
    endpoint.ask(&question(), BUDGET).await.expect("an answer");
    model.finish();
}

#[tokio::test]
async fn a_model_that_hangs_costs_the_budget_and_no_more() {
    let model = ChatModel::start().await;
    model.otherwise(Reply::hang());
    let call = Duration::from_millis(120);
    let endpoint = Endpoint::new(&model.base_url(), None, call).expect("a good address");
    let begun = Instant::now();
    // The shorter of the time for a call and the budget.
    let by_call = endpoint.ask(&question(), BUDGET).await;
    assert_eq!(by_call, Err(LlmError::Timeout { after: call }));
    let budget = Duration::from_millis(40);
    let by_budget = endpoint.ask(&question(), budget).await;
    let Err(LlmError::Timeout { after }) = by_budget else {
        panic!("{by_budget:?}");
    };
    assert!(after <= budget);
    assert!(begun.elapsed() < seconds(10), "{:?}", begun.elapsed());
    let nothing = endpoint.ask(&question(), Duration::ZERO).await;
    assert_eq!(
        nothing,
        Err(LlmError::Timeout {
            after: Duration::ZERO
        })
    );
    assert_eq!(model.requests().len(), 2);
    model.finish();
}

#[tokio::test]
async fn an_answer_may_take_its_time() {
    let model = ChatModel::start().await;
    let (reply, hold) = good_answer().held();
    model.on(Asked::Triage, reply);
    let (endpoint, _) = client(&model);
    let question = question();
    let (answer, ()) = tokio::join!(endpoint.ask(&question, BUDGET), async {
        hold.arrived().await;
        model.seen(1).await;
        hold.release();
    });
    assert_eq!(answer.expect("an answer").text, Misbehaviour::ANSWER);
    model.finish();
}

#[tokio::test]
async fn an_endpoint_that_is_not_there_is_unreachable() {
    let gone = {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").expect("a port");
        listener.local_addr().expect("its address")
    };
    let clock = Clock::skipping();
    let endpoint = Endpoint::new(&format!("http://{gone}/v1"), None, CALL)
        .expect("a good address")
        .with_clock(clock.clone());
    let error = endpoint.ask(&question(), BUDGET).await;
    assert_eq!(error, Err(LlmError::Unreachable));
    assert_eq!(clock.waits().len(), 3);
    assert_eq!(endpoint.probe(MODEL).await, Err(LlmError::Unreachable));
}

#[tokio::test]
async fn a_redirect_takes_the_report_nowhere() {
    let elsewhere = ChatModel::start().await;
    elsewhere.otherwise(good_answer());
    let model = ChatModel::start().await;
    let location = format!("{}/chat/completions", elsewhere.base_url());
    model.on(
        Asked::Triage,
        Reply::raw(307, "text/plain", "").header("location", location),
    );
    let (endpoint, _) = client(&model);
    let error = endpoint.ask(&question(), BUDGET).await;
    assert_eq!(error, Err(LlmError::Refused { status: 307 }));
    assert_eq!(elsewhere.requests().len(), 0);
    model.finish();
    elsewhere.finish();
}

#[tokio::test]
async fn text_in_parts_and_tool_calls_in_a_200_are_read() {
    let call = |name: &str, arguments: Value| {
        let function = json!({"name": name, "arguments": arguments.to_string()});
        json!({
            "role": "assistant", "content": null,
            "tool_calls": [{"id": "c1", "type": "function", "function": function}],
        })
    };
    let answer: Value = serde_json::from_str(Misbehaviour::ANSWER).expect("JSON");
    let model = ChatModel::start().await;
    let parts = json!([
        {"type": "reasoning", "text": "hm"},
        {"type": "text", "text": Misbehaviour::ANSWER},
    ]);
    model.on(
        Asked::Triage,
        Reply::message(json!({"role": "assistant", "content": parts}), "stop"),
    );
    let (endpoint, _) = client(&model);
    let read = endpoint.ask(&question(), BUDGET).await.expect("an answer");
    assert_eq!(read.text, Misbehaviour::ANSWER);

    model.on_fn(Asked::Triage, move |_| {
        Reply::message(call("json", answer.clone()), "tool_calls")
    });
    let read = endpoint.ask(&question(), BUDGET).await.expect("an answer");
    assert!(read.salvaged);

    model.on_fn(Asked::Triage, move |_| {
        Reply::message(call("web.run", json!({"q": "503"})), "tool_calls")
    });
    let error = endpoint.ask(&question(), BUDGET).await;
    assert_eq!(
        error,
        Err(LlmError::Unreadable {
            why: Unreadable::ToolCall
        })
    );
    model.finish();
}

#[tokio::test]
async fn thinking_in_the_text_is_left_to_its_reader() {
    let model = ChatModel::start().await;
    let text = format!("<think>503, so {{x}}</think>{}", Misbehaviour::ANSWER);
    model.on(Asked::Triage, Reply::answer(text.clone()));
    let (endpoint, _) = client(&model);
    let answer = endpoint.ask(&question(), BUDGET).await.expect("an answer");
    assert_eq!(answer.text, text);
    model.finish();
}

#[tokio::test]
async fn a_prompt_over_the_minute_s_tokens_is_too_large() {
    let model = ChatModel::start().await;
    let (endpoint, _) = client(&model);
    let question = Question {
        user: "数据库".repeat(2400),
        ..question()
    };
    let Err(LlmError::TooLarge {
        limit: Some(8000),
        requested: Some(requested),
    }) = endpoint.ask(&question, BUDGET).await
    else {
        panic!("not too large");
    };
    assert!((8200..8300).contains(&requested), "{requested}");
    assert_eq!(model.requests().len(), 1);
    model.finish();
}

#[tokio::test]
async fn the_key_is_sent_and_shown_nowhere() {
    let model = ChatModel::start().await;
    model.require_key("gsk_right").otherwise(good_answer());
    let with = |key: Option<&str>| {
        let key = key.map(SecretString::from);
        Endpoint::new(&format!("{}/", model.base_url()), key, CALL).expect("a good address")
    };
    for (key, accepted) in [
        (Some("gsk_right"), true),
        (Some("gsk_right\n"), true),
        (Some("gsk_wrong"), false),
        (Some(""), false),
        (None, false),
    ] {
        let endpoint = with(key);
        let result = endpoint.ask(&question(), BUDGET).await.map(drop);
        let probe = endpoint.probe(MODEL).await.map(drop);
        let expected = if accepted {
            Ok(())
        } else {
            Err(LlmError::BadKey)
        };
        assert_eq!(result, expected, "{key:?}");
        assert_eq!(probe, expected, "{key:?}");
        assert!(!format!("{endpoint:?}").contains("gsk_"), "{endpoint:?}");
    }
    let broken = Endpoint::new(
        &model.base_url(),
        Some(SecretString::from("gsk\nbroken")),
        CALL,
    );
    assert_eq!(broken.map(drop), Err(LlmError::BadKey));
    model.finish();
}

#[test]
fn only_addresses_of_the_web_are_taken() {
    for address in ["", "groq", "file:///etc/passwd", "ftp://x/v1", "data:,x"] {
        let endpoint = Endpoint::new(address, None, CALL).map(drop);
        assert_eq!(endpoint, Err(LlmError::BadAddress), "{address:?}");
    }
    for address in [
        "https://api.groq.com/openai/v1",
        "http://[::1]:8080/v1/",
        " http://localhost/v1\n",
    ] {
        assert!(Endpoint::new(address, None, CALL).is_ok(), "{address:?}");
    }
    let endpoint = Endpoint::new("https://me:hunter2@example.com/v1", None, CALL);
    assert!(!format!("{endpoint:?}").contains("hunter2"));
}

#[tokio::test]
async fn a_probe_says_whether_the_model_is_offered() {
    let model = ChatModel::start().await;
    let (endpoint, _) = client(&model);
    assert_eq!(
        endpoint.probe(MODEL).await.as_deref(),
        Ok("openai/gpt-oss-120b is offered, one of 4 models")
    );
    assert_eq!(
        endpoint.probe("gpt-2").await,
        Err(LlmError::ModelGone {
            model: "gpt-2".to_owned()
        })
    );
    model.offer_models(&["models/gemini"]);
    assert_eq!(
        endpoint.probe("gemini").await.as_deref(),
        Ok("gemini is offered, the only model there")
    );
    assert_eq!(model.probes(), 3);
    assert_eq!(model.requests().len(), 0, "it costs no tokens");
    model.finish();
}

#[test]
fn logs_hold_figures_and_no_words() {
    alone("llm::alone_logs_hold_figures_and_no_words");
}

#[tokio::test]
#[ignore = "run by logs_hold_figures_and_no_words, alone"]
async fn alone_logs_hold_figures_and_no_words() {
    let log = Log::default();
    let guard = tracing::subscriber::set_default(log.subscriber());
    for misbehaviour in Misbehaviour::all() {
        if misbehaviour == Misbehaviour::Silent {
            continue;
        }
        let model = ChatModel::start().await;
        model
            .on(Asked::Triage, misbehaviour)
            .otherwise(good_answer());
        let key = Some(SecretString::from("gsk_very_secret"));
        let endpoint = Endpoint::new(&model.base_url(), key, CALL)
            .expect("a good address")
            .with_clock(Clock::skipping());
        let result = endpoint.ask(&question(), BUDGET).await;
        tracing::info!(?result, question = ?question(), ?endpoint, "as callers might log");
        model.finish();
    }
    drop(guard);
    let log = log.text();
    for word in [
        "gsk_",
        "incident_report",
        "returns 503",
        "Read the report",
        "org_standin",
        "console.groq.com",
        "failed_generation",
        "DOCTYPE",
    ] {
        assert!(!log.contains(word), "{word} stands in the log");
    }
    for figure in [
        "the model answered",
        "status=200",
        "model=\"openai/gpt-oss-120b\"",
        "prompt_tokens=",
        "request_id=\"req_standin0001\"",
        "reason=\"too_large\"",
    ] {
        assert!(log.contains(figure), "{figure} is missing");
    }
}

mod the_double {
    use super::*;

    /// A good request, changed.
    async fn send(model: &ChatModel, change: impl FnOnce(&mut Value)) -> (u16, Value) {
        let mut body = json!({
            "model": MODEL,
            "messages": [
                {"role": "system", "content": "Task: triage\nRead."},
                {"role": "user", "content": "checkout is down"},
            ],
            "max_completion_tokens": 1000,
        });
        change(&mut body);
        post(model, "chat/completions", body.to_string()).await
    }

    async fn post(model: &ChatModel, path: &str, body: String) -> (u16, Value) {
        let response = reqwest::Client::builder()
            .no_proxy()
            .build()
            .expect("a client")
            .post(format!("{}/{path}", model.base_url()))
            .header("content-type", "application/json")
            .body(body)
            .send()
            .await
            .expect("an answer");
        let status = response.status().as_u16();
        (status, response.json().await.expect("JSON"))
    }

    fn format(body: &mut Value, format: Value) {
        body["response_format"] = format;
    }

    fn strict(name: &str, schema: Value) -> Value {
        json!({
            "type": "json_schema",
            "json_schema": {"name": name, "strict": true, "schema": schema},
        })
    }

    type Change = fn(&mut Value);

    #[tokio::test]
    async fn refuses_what_providers_refuse() {
        let violations: &[(&str, Change)] = &[
            ("property 'metadata' is unsupported", |body| {
                body["metadata"] = json!({});
            }),
            ("minimum number of items", |body| {
                body["messages"] = json!([])
            }),
            ("minimum number of items", |body| {
                body["messages"] = json!("hello");
            }),
            ("property 'role' has invalid value", |body| {
                body["messages"][1]["role"] = json!("tool");
            }),
            ("property 'reasoning_content' is unsupported", |body| {
                let echo = json!({"role": "assistant", "content": "x", "reasoning_content": "y"});
                body["messages"][1] = echo;
            }),
            ("'content' must be", |body| {
                body["messages"][1]["content"] = json!(7);
            }),
            ("no message of a user", |body| {
                body["messages"][1]["role"] = json!("assistant");
            }),
            ("positive integer", |body| {
                body["max_completion_tokens"] = json!(0);
            }),
            ("both `max_tokens`", |body| body["max_tokens"] = json!(5)),
            ("between 0 and 2", |body| body["temperature"] = json!(3)),
            ("does not stream", |body| body["stream"] = json!(true)),
            ("no tools are", |body| body["tool_choice"] = json!("auto")),
            ("the word 'json'", |body| {
                format(body, json!({"type": "json_object"}));
            }),
            ("type must be one of", |body| {
                format(body, json!({"type": "yaml"}));
            }),
            (
                "two tasks: triage in the prompt, update in the schema",
                |body| {
                    format(body, strict("update", json!({"type": "string"})));
                },
            ),
            ("a question that names no task", |body| {
                body["messages"][0]["content"] = json!("Read.");
            }),
            ("unknown task: guess", |body| {
                body["messages"][0]["content"] = json!("Task: guess");
            }),
            ("$: `additionalProperties` must be false", |body| {
                format(body, strict("triage", json!({"type": "object"})));
            }),
            ("$.a[]: property 'b' is not required", |body| {
                let items = json!({
                    "type": ["object", "null"], "additionalProperties": false,
                    "properties": {"b": {}}, "required": [],
                });
                let schema = json!({
                    "type": "object", "additionalProperties": false, "required": ["a"],
                    "properties": {"a": {"type": "array", "items": items}},
                });
                format(body, strict("triage", schema));
            }),
        ];
        for (expected, change) in violations {
            let model = ChatModel::start().await;
            model.otherwise(good_answer());
            let (status, body) = send(&model, change).await;
            let found = model.take_violations();
            let named = found.iter().any(|fault| fault.contains(expected));
            assert!(named, "{expected}: {found:?}");
            // A request that is well-formed but names no task is answered like any other.
            let names_task = !expected.contains("task");
            assert_eq!(status, if names_task { 400 } else { 200 }, "{expected}");
            assert_eq!(body.get("error").is_some(), names_task, "{expected}");
            model.finish();
        }
    }

    #[tokio::test]
    async fn lives_like_a_provider_without_blaming_the_client() {
        let ordinary: &[(u16, &str, Change)] = &[
            (404, "model_not_found", |body| {
                body["model"] = json!("gpt-2")
            }),
            (413, "Limit 8000, Requested", |body| {
                body["max_completion_tokens"] = json!(8000);
            }),
            (413, "Requested", |body| {
                body["messages"][1]["content"] = json!("x".repeat(40_000));
            }),
            (400, "one of `low`, `medium` or `high`", |body| {
                body["reasoning_effort"] = json!("none");
            }),
            (400, "one of `none` or `default`", |body| {
                body["model"] = json!("qwen/qwen3-32b");
                body["reasoning_effort"] = json!("low");
            }),
            (400, "`reasoning_format` is not supported", |body| {
                body["reasoning_format"] = json!("raw");
            }),
            (
                400,
                "does not support response format `json_schema`",
                |body| {
                    body["model"] = json!("llama-3.3-70b-versatile");
                    format(body, strict("triage", json!({"type": "string"})));
                },
            ),
            (200, "chat.completion", |_| {}),
        ];
        for (status, expected, change) in ordinary {
            let model = ChatModel::start().await;
            model.otherwise(good_answer());
            let (got, body) = send(&model, change).await;
            assert_eq!(got, *status, "{expected}: {body}");
            assert!(body.to_string().contains(expected), "{expected}: {body}");
            model.finish();
        }
    }

    #[tokio::test]
    async fn answers_in_order_then_by_function_then_by_default() {
        let model = ChatModel::start().await;
        model
            .on(Asked::Triage, Reply::answer("first"))
            .on(Asked::Triage, Reply::answer("second"))
            .on_fn(Asked::Triage, |request| {
                Reply::answer(format!("by function: {}", request.user()))
            })
            .otherwise(Reply::answer("default"));
        let text = |body: &Value| body["choices"][0]["message"]["content"].clone();
        for expected in ["first", "second", "by function: checkout is down"] {
            assert_eq!(text(&send(&model, |_| {}).await.1), expected);
        }
        let other = |body: &mut Value| body["messages"][0]["content"] = json!("Task: update");
        assert_eq!(text(&send(&model, other).await.1), "default");
        model.finish();
    }

    #[tokio::test]
    async fn calls_an_unexpected_question_and_an_unknown_address_violations() {
        let model = ChatModel::start().await;
        assert_eq!(send(&model, |_| {}).await.0, 400);
        assert_eq!(post(&model, "completions", "{}".to_owned()).await.0, 404);
        assert_eq!(
            post(&model, "chat/completions", "{".to_owned()).await.0,
            400
        );
        assert_eq!(
            model.take_violations(),
            [
                "unexpected question: triage",
                "unknown address: POST /v1/completions",
                "a body that is not JSON",
            ]
        );
        model.finish();
    }

    #[tokio::test]
    #[should_panic(expected = "1 scripted replies to analysis were never asked for")]
    async fn fails_a_test_that_leaves_a_reply_unused() {
        let model = ChatModel::start().await;
        model.on(Asked::Analysis, good_answer());
        model.finish();
    }

    #[tokio::test]
    #[should_panic(expected = "unexpected question: triage")]
    async fn fails_a_test_that_forgets_to_finish() {
        let model = ChatModel::start().await;
        send(&model, |_| {}).await;
    }
}

//! The ways in which chat-completions providers fail, each as a reply.
//!
//! Statuses, codes and the phrases that a client may go by are as providers send them; names of
//! organisations and what a model "had written" are ours.

use std::time::Duration;

use serde_json::{Value, json};

use super::Reply;
use super::strict::{error, too_large};

/// One way to fail.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Misbehaviour {
    /// 429 on tokens per minute, "try again in 5.289s", no `retry-after`.
    PerMinute,
    /// 429 on tokens per day, "try again in 11m0.528s".
    PerDay,
    /// The same with the other type and a space in the time: "6m 11.52s".
    PerDaySpaced,
    /// 413 on a long prompt, with the code of a rate limit.
    TooLarge,
    /// 413 on a short prompt, for the tokens reserved for the answer.
    TooLargeForItsAnswer,
    /// 400 `json_validate_failed`; what the model had written is a whole answer in prose.
    JsonFailed,
    /// 400 `json_validate_failed` with nothing handed back.
    JsonFailedEmpty,
    /// 400 `json_validate_failed` because the tokens ran out.
    JsonOutOfTokens,
    /// 400 `json_validate_failed` for a missing property, with the object handed back.
    SchemaMissed,
    /// 400: the model takes no `json_schema`.
    SchemaUnsupported,
    /// 400 `tool_use_failed` where no tools were offered, with prose handed back.
    ToolLeak,
    /// 400 `tool_use_failed` where no tools were offered, with the answer handed back.
    ToolLeakWithAnswer,
    /// 400 `tool_use_failed` for a call of a tool that the model made up.
    ToolInvented,
    /// 400: a call of a tool that was not in the request.
    ToolNotInRequest,
    /// 400 `tool_use_failed`: "Failed to call a function."
    ToolCallFailed,
    /// 400: `reasoning_effort` takes `none` or `default`.
    ReasoningEffortNoneOrDefault,
    /// 400: `reasoning_effort` is not one of the allowed values.
    ReasoningEffortValues,
    /// 400: `reasoning_format` is not supported.
    ReasoningFormat,
    /// 400: a message held a field that the provider itself had sent.
    EchoedReasoning,
    /// 200 with `content: null`: every token went into thinking.
    ReasoningOnly,
    /// 200 with `content: ""`, the same.
    ReasoningOnlyEmpty,
    /// 200 with a commentary channel as its text.
    MarkupLeak,
    /// 200 with thinking and the answer, the channel tokens dropped.
    MarkupLeakWithAnswer,
    /// 503, with `retry-after: 40`.
    OverCapacity,
    /// 503 without a time.
    OverCapacityNoTime,
    /// 498 `capacity_exceeded`.
    FlexTierFull,
    /// 400 `model_decommissioned`.
    ModelDecommissioned,
    /// 404 `model_not_found`.
    ModelNotFound,
    /// 401 `invalid_api_key`.
    BadKey,
    /// 400: at most 8,192 tokens of answer.
    MaxTokensTooHigh,
    /// 200, `event: error` in a stream that nobody asked for.
    StreamError,
    /// The same after some text.
    StreamErrorAfterText,
    /// 200 and an error object in place of a completion.
    ErrorInOk,
    /// 200 and the start of a stream, then nothing.
    Silent,
    /// 520, the page of a proxy.
    ProxyPage520,
    /// 522, the same.
    ProxyPage522,
    /// 524, the same.
    ProxyPage524,
    /// 200 with the page of a proxy.
    PageInOk,
    /// 400 from another server, with a numeric code: the prompt exceeds the context.
    ContextExceeded,
    /// 400 from another server, with a numeric code.
    NumericCode,
    /// The connection closed without a word.
    ConnectionDropped,
    /// The connection closed in the middle of the body.
    BodyCut,
    /// A good answer as `text/plain`.
    WrongContentType,
    /// 200 with two megabytes of spaces.
    FarTooMuch,
}

impl Misbehaviour {
    /// Every one.
    pub const ALL: [Self; 44] = [
        Self::PerMinute,
        Self::PerDay,
        Self::PerDaySpaced,
        Self::TooLarge,
        Self::TooLargeForItsAnswer,
        Self::JsonFailed,
        Self::JsonFailedEmpty,
        Self::JsonOutOfTokens,
        Self::SchemaMissed,
        Self::SchemaUnsupported,
        Self::ToolLeak,
        Self::ToolLeakWithAnswer,
        Self::ToolInvented,
        Self::ToolNotInRequest,
        Self::ToolCallFailed,
        Self::ReasoningEffortNoneOrDefault,
        Self::ReasoningEffortValues,
        Self::ReasoningFormat,
        Self::EchoedReasoning,
        Self::ReasoningOnly,
        Self::ReasoningOnlyEmpty,
        Self::MarkupLeak,
        Self::MarkupLeakWithAnswer,
        Self::OverCapacity,
        Self::OverCapacityNoTime,
        Self::FlexTierFull,
        Self::ModelDecommissioned,
        Self::ModelNotFound,
        Self::BadKey,
        Self::MaxTokensTooHigh,
        Self::StreamError,
        Self::StreamErrorAfterText,
        Self::ErrorInOk,
        Self::Silent,
        Self::ProxyPage520,
        Self::ProxyPage522,
        Self::ProxyPage524,
        Self::PageInOk,
        Self::ContextExceeded,
        Self::NumericCode,
        Self::ConnectionDropped,
        Self::BodyCut,
        Self::WrongContentType,
        Self::FarTooMuch,
    ];

    /// What the model had written where a row hands back or leaks a whole answer.
    pub const ANSWER: &'static str = r#"{"title":"Checkout returns 503","severity":"SEV2"}"#;

    /// Every one, for loops.
    pub fn all() -> impl Iterator<Item = Self> {
        Self::ALL.into_iter()
    }

    /// The reply.
    pub fn reply(self) -> Reply {
        let invalid = |message: &str, code: &str| {
            Reply::status(400, error(message, "invalid_request_error", code))
        };
        let handed_back = |message: &str, code: &str, generation: &str| {
            let mut body = error(message, "invalid_request_error", code);
            body["error"]["failed_generation"] = json!(generation);
            Reply::status(400, body)
        };
        let message = |content: Value, finish| {
            Reply::message(json!({"role": "assistant", "content": content}), finish)
        };
        match self {
            Self::PerMinute => Reply::status(
                429,
                error(
                    "Rate limit reached for model `openai/gpt-oss-120b` in organization `org_standin` service tier `on_demand` on tokens per minute (TPM): Limit 8000, Used 5972, Requested 4351. Please try again in 5.289s. Visit https://console.groq.com/docs/rate-limits for more information.",
                    "tokens",
                    "rate_limit_exceeded",
                ),
            ),
            Self::PerDay => Reply::status(429, per_day("compound", "11m0.528s")),
            Self::PerDaySpaced => Reply::status(429, per_day("tokens", "6m 11.52s")),
            Self::TooLarge => Reply::status(413, too_large("openai/gpt-oss-120b", 8000, 14810)),
            Self::TooLargeForItsAnswer => {
                Reply::status(413, too_large("openai/gpt-oss-120b", 8000, 32979))
            }
            Self::JsonFailed => handed_back(
                "Failed to generate JSON. Please adjust your prompt. See 'failed_generation' for more details.",
                "json_validate_failed",
                &format!("Here is the incident:\n```json\n{}\n```", Self::ANSWER),
            ),
            Self::JsonFailedEmpty => {
                handed_back("Failed to validate JSON.", "json_validate_failed", "")
            }
            Self::JsonOutOfTokens => handed_back(
                "Failed to generate JSON. Please adjust your prompt. See 'failed_generation' for more details.",
                "json_validate_failed",
                "max completion tokens reached before generating a valid document",
            ),
            Self::SchemaMissed => handed_back(
                "Generated JSON does not match the expected schema. Please adjust your prompt. See 'failed_generation' for more details. Error: jsonschema: '' does not validate: missing properties: 'service'",
                "json_validate_failed",
                Self::ANSWER,
            ),
            Self::SchemaUnsupported => invalid(
                "This model does not support response format `json_schema`. See supported models at https://console.groq.com/docs/structured-outputs#supported-models",
                "",
            ),
            Self::ToolLeak => handed_back(
                "Tool choice is none, but model called a tool",
                "tool_use_failed",
                r#"{"name": "assistant<|channel|>final", "arguments": I understand the report, but}"#,
            ),
            Self::ToolLeakWithAnswer => handed_back(
                "Tool choice is none, but model called a tool",
                "tool_use_failed",
                &format!(
                    r#"{{"name": "assistant<|channel|>final", "arguments": {}}}"#,
                    Self::ANSWER
                ),
            ),
            Self::ToolInvented => handed_back(
                "Tool choice is none, but model called a tool",
                "tool_use_failed",
                r#"{"name": "repo_browser.print_tree", "arguments": {"path": "", "depth": 2}}"#,
            ),
            Self::ToolNotInRequest => invalid(
                "tool call validation failed: attempted to call tool 'listFiles' which was not in request.tools",
                "",
            ),
            Self::ToolCallFailed => handed_back(
                "Failed to call a function. Please adjust your prompt. See 'failed_generation' for more details.",
                "tool_use_failed",
                "<tool-use></tool-use>",
            ),
            Self::ReasoningEffortNoneOrDefault => {
                invalid("`reasoning_effort` must be one of `none` or `default`", "")
            }
            Self::ReasoningEffortValues => invalid(
                "'reasoning_effort' : value is not one of the allowed values ['none','default','low','medium','high']",
                "",
            ),
            Self::ReasoningFormat => {
                let mut body = error(
                    "`reasoning_format` is not supported with this model",
                    "invalid_request_error",
                    "",
                );
                body["error"]["param"] = json!("reasoning_format");
                Reply::status(400, body)
            }
            Self::EchoedReasoning => invalid(
                "'messages.1' : for 'role:assistant' the following must be satisfied[('messages.1' : property 'reasoning_content' is unsupported)]",
                "",
            ),
            Self::ReasoningOnly => Reply::message(
                json!({"role": "assistant", "content": null, "reasoning": "We need to find"}),
                "length",
            )
            .thinking(2046),
            Self::ReasoningOnlyEmpty => message(json!(""), "length").thinking(1734),
            Self::MarkupLeak => message(
                json!(format!(
                    "<|channel|>commentary<|message|>{}<|end|>",
                    Self::ANSWER
                )),
                "stop",
            ),
            Self::MarkupLeakWithAnswer => message(
                json!(format!(
                    "analysisWe need to give JSON, say {{}}.assistantfinal{}",
                    Self::ANSWER
                )),
                "stop",
            ),
            Self::OverCapacity => over_capacity().header("retry-after", "40"),
            Self::OverCapacityNoTime => over_capacity(),
            Self::FlexTierFull => Reply::status(
                498,
                error(
                    "The flex tier is at capacity at the moment",
                    "flex_tier",
                    "capacity_exceeded",
                ),
            ),
            Self::ModelDecommissioned => invalid(
                "The model `llama-3.2-11b-vision-preview` has been decommissioned and is no longer supported. Please refer to https://console.groq.com/docs/deprecations for a recommendation on which model to use instead.",
                "model_decommissioned",
            ),
            Self::ModelNotFound => Reply::status(
                404,
                error(
                    "The model `openai/gpt-oss-120b` does not exist or you do not have access to it.",
                    "invalid_request_error",
                    "model_not_found",
                ),
            ),
            Self::BadKey => Reply::status(
                401,
                error(
                    "Invalid API Key",
                    "invalid_request_error",
                    "invalid_api_key",
                ),
            ),
            Self::MaxTokensTooHigh => {
                let mut body = error(
                    "`max_tokens` must be less than or equal to `8192`, the maximum value for `max_tokens` is less than the `context_window` for this model",
                    "invalid_request_error",
                    "",
                );
                body["error"]["param"] = json!("max_tokens");
                Reply::status(400, body)
            }
            Self::StreamError => Reply::events(&stream_error()),
            Self::StreamErrorAfterText => {
                let chunk = json!({"object": "chat.completion.chunk", "choices": [
                    {"index": 0, "delta": {"role": "assistant", "content": "{\"title\":"}},
                ]});
                Reply::events(&format!("data: {chunk}\n\n{}", stream_error()))
            }
            Self::ErrorInOk => Reply::status(
                200,
                error("Internal Server Error", "internal_server_error", ""),
            ),
            Self::Silent => Reply::events(": thinking\n\n").stalled(),
            Self::ProxyPage520 => proxy_page(520),
            Self::ProxyPage522 => proxy_page(522),
            Self::ProxyPage524 => proxy_page(524),
            Self::PageInOk => proxy_page(200),
            Self::ContextExceeded => Reply::status(
                400,
                json!({"error": {
                    "code": 400,
                    "message": "request (20030 tokens) exceeds the available context size (8192 tokens), try increasing it",
                    "type": "exceed_context_size_error",
                    "n_prompt_tokens": 20030,
                    "n_ctx": 8192,
                }}),
            ),
            Self::NumericCode => Reply::status(
                400,
                json!({"error": {
                    "code": 400,
                    "message": "'messages' is required",
                    "type": "invalid_request_error",
                }}),
            ),
            Self::ConnectionDropped => Reply::drop_connection(),
            Self::BodyCut => Reply::answer(Self::ANSWER).cut_short(),
            Self::WrongContentType => {
                Reply::answer(Self::ANSWER).header("content-type", "text/plain; charset=utf-8")
            }
            Self::FarTooMuch => Reply::raw(200, "application/json", " ".repeat(2 * 1024 * 1024)),
        }
    }

    /// A rate limit per minute that names its time in `retry-after-ms`.
    pub fn per_minute_for(wait: Duration) -> Reply {
        Self::PerMinute
            .reply()
            .header("retry-after-ms", wait.as_millis().to_string())
    }
}

fn per_day(kind: &str, wait: &str) -> Value {
    let message = format!(
        "Rate limit reached for model `openai/gpt-oss-120b` in organization `org_standin` service tier `on_demand` on tokens per day (TPD): Limit 200000, Used 197494, Requested 4035. Please try again in {wait}. Need more tokens? Upgrade at https://console.groq.com/settings/billing"
    );
    error(&message, kind, "rate_limit_exceeded")
}

fn over_capacity() -> Reply {
    Reply::status(
        503,
        error(
            "openai/gpt-oss-120b is currently over capacity. Please try again and back off exponentially. Visit https://groqstatus.com to see if there is an active incident.",
            "internal_server_error",
            "",
        ),
    )
}

fn stream_error() -> String {
    let body = error(
        "Tool choice is none, but model called a tool",
        "invalid_request_error",
        "tool_use_failed",
    );
    format!("event: error\ndata: {body}\n\n")
}

fn proxy_page(status: u16) -> Reply {
    let page = format!(
        "<!DOCTYPE html>\n<html><head><title>Error {status}</title></head><body><h1>Web server is returning an unknown error</h1></body></html>"
    );
    Reply::raw(status, "text/html; charset=UTF-8", page).header("server", "cloudflare")
}

//! What an error of a provider means.
//!
//! Wanted: any status with any body (JSON of several dialects, HTML, nothing) is one of a few
//! kinds, and the kind says what to do. Providers disagree on statuses and codes: one sends the
//! same code for "wait" and for "too large", another a model's failure as a bad request, a third
//! an error inside a 200. So the code, the status and known phrases are read together, with the
//! more specific first. Messages are read here and go no further.

use std::time::Duration;

use reqwest::header::HeaderMap;
use serde_json::Value;

use super::error::Unreadable;
use super::pace;

/// Why a request brought no answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Failure {
    /// Too much in this minute.
    RateLimited { wait: Option<Duration>, retry: bool },
    /// Too much for today.
    DailyLimit { wait: Option<Duration> },
    /// More than the model ever takes at once.
    TooLarge {
        limit: Option<u32>,
        requested: Option<u32>,
    },
    /// The model did not produce the JSON that was asked for.
    JsonFailed {
        generation: Option<String>,
        out_of_tokens: bool,
    },
    /// The model called a tool that was never offered.
    ToolCalled { generation: Option<String> },
    /// A parameter is not known or not allowed.
    Rejected(Rejected),
    /// The provider is full or failing.
    Overloaded { wait: Option<Duration>, retry: bool },
    /// No such model.
    ModelGone,
    /// The key is not accepted.
    BadKey,
    /// Any other refusal.
    Refused { status: u16 },
    /// No answer within the time given.
    Timeout,
    /// No connection (`retry`: it may be there in a moment), or it broke.
    Lost { retry: bool },
    /// A 200 without an answer.
    Unreadable(Unreadable),
}

/// What of the request was rejected.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Rejected {
    ReasoningEffort,
    ToolChoice,
    /// The schema's `strict`.
    Strict,
    ResponseFormat,
    /// The name `max_completion_tokens`.
    MaxCompletionTokens,
    /// More than this many tokens of answer.
    MoreThan(u32),
    Temperature,
}

impl Failure {
    /// A word for the log.
    pub(super) fn word(&self) -> &'static str {
        match self {
            Self::RateLimited { .. } => "rate limited",
            Self::DailyLimit { .. } => "allowance used up",
            Self::TooLarge { .. } => "too large",
            Self::JsonFailed { .. } => "no JSON",
            Self::ToolCalled { .. } => "tool called",
            Self::Rejected(Rejected::ReasoningEffort) => "reasoning_effort rejected",
            Self::Rejected(Rejected::ToolChoice) => "tool_choice rejected",
            Self::Rejected(Rejected::Strict) => "strict schema rejected",
            Self::Rejected(Rejected::ResponseFormat) => "response_format rejected",
            Self::Rejected(Rejected::MaxCompletionTokens) => "max_completion_tokens rejected",
            Self::Rejected(Rejected::MoreThan(_)) => "max tokens too high",
            Self::Rejected(Rejected::Temperature) => "temperature rejected",
            Self::Overloaded { .. } => "overloaded",
            Self::ModelGone => "model gone",
            Self::BadKey => "bad key",
            Self::Refused { .. } => "refused",
            Self::Timeout => "timeout",
            Self::Lost { .. } => "connection lost",
            Self::Unreadable(_) => "unreadable",
        }
    }
}

/// The error of a body that is none (HTML, empty), for its status.
pub(super) fn of_body(status: u16, headers: &HeaderMap, body: &[u8]) -> Failure {
    let envelope = serde_json::from_slice::<Value>(body)
        .ok()
        .map(|body| Envelope::read(&body))
        .unwrap_or_default();
    classify(status, headers, &envelope)
}

/// The error that stands inside a 200: the status is taken from what it says.
pub(super) fn inside_ok(headers: &HeaderMap, error: &Value) -> Failure {
    let envelope = Envelope::read(error);
    let status = envelope.number.unwrap_or_else(|| envelope.likely_status());
    classify(status, headers, &envelope)
}

/// The error object of the several dialects, as plain words.
#[derive(Debug, Default)]
struct Envelope {
    message: String,
    kind: String,
    code: String,
    number: Option<u16>,
    generation: Option<String>,
    limit: Option<u32>,
    requested: Option<u32>,
}

impl Envelope {
    fn read(body: &Value) -> Self {
        // Some wrap the object in a list.
        let body = body.get(0).unwrap_or(body);
        let error = match body.get("error") {
            Some(error) if !error.is_null() => error,
            _ => body,
        };
        let text = |key: &str| match error.get(key) {
            Some(Value::String(text)) => text.clone(),
            Some(Value::Null) | None => String::new(),
            // FastAPI's `detail` is a list that names the field.
            Some(other) => other.to_string(),
        };
        let message = match error {
            Value::String(message) => message.clone(),
            _ => [text("message"), text("param"), text("detail")].join(" "),
        };
        let code = text("code");
        let count = |key: &str| {
            error
                .get(key)
                .and_then(Value::as_u64)
                .and_then(|count| u32::try_from(count).ok())
        };
        Self {
            number: code.parse().ok().filter(|status| *status >= 400),
            message: message.to_ascii_lowercase(),
            kind: text("type").to_ascii_lowercase(),
            generation: Some(text("failed_generation")).filter(|text| !text.is_empty()),
            limit: count("n_ctx").or_else(|| number_after(&message, "Limit ")),
            requested: count("n_prompt_tokens").or_else(|| number_after(&message, "Requested ")),
            code: code.to_ascii_lowercase(),
        }
    }

    fn says(&self, phrase: &str) -> bool {
        self.message.contains(phrase)
    }

    fn likely_status(&self) -> u16 {
        match (self.code.as_str(), self.kind.as_str()) {
            ("rate_limit_exceeded", _) => 429,
            ("invalid_api_key", _) => 401,
            (_, "invalid_request_error") => 400,
            _ => 500,
        }
    }
}

fn classify(status: u16, headers: &HeaderMap, error: &Envelope) -> Failure {
    let code = error.code.as_str();
    let should_retry = headers
        .get("x-should-retry")
        .and_then(|value| value.to_str().ok());
    let retry = should_retry != Some("false");

    // The model's own failures come as bad requests.
    if code == "tool_use_failed"
        || error.says("model called a tool")
        || error.says("tool call validation failed")
        || error.says("failed to call a function")
    {
        return Failure::ToolCalled {
            generation: error.generation.clone(),
        };
    }
    if code == "json_validate_failed"
        || error.says("failed to generate json")
        || error.says("failed to validate json")
        || error.says("does not match the expected schema")
    {
        let out_of_tokens = |text: &String| {
            text.trim_start()
                .to_ascii_lowercase()
                .starts_with("max completion tokens reached")
        };
        return match &error.generation {
            Some(text) if out_of_tokens(text) => Failure::JsonFailed {
                generation: None,
                out_of_tokens: true,
            },
            generation => Failure::JsonFailed {
                generation: generation.clone(),
                out_of_tokens: false,
            },
        };
    }

    if status == 401 || code == "invalid_api_key" || error.says("api key not valid") {
        return Failure::BadKey;
    }
    let names_model = matches!(status, 400 | 403 | 404 | 410) && error.says("model");
    if matches!(
        code,
        "model_decommissioned" | "model_not_found" | "model_not_active"
    ) || names_model
        && [
            "decommissioned",
            "does not exist",
            "not found",
            "do not have access",
            "is blocked",
        ]
        .iter()
        .any(|phrase| error.says(phrase))
    {
        return Failure::ModelGone;
    }

    // The same code as a rate limit, but waiting never helps.
    let over_limit = match (error.limit, error.requested) {
        (Some(limit), Some(requested)) => requested > limit,
        _ => false,
    };
    if status == 413
        || status == 429 && (over_limit || error.says("request too large"))
        || code == "context_length_exceeded"
        || error.kind == "exceed_context_size_error"
        || error.says("maximum context length")
    {
        return Failure::TooLarge {
            limit: error.limit,
            requested: error.requested,
        };
    }

    if matches!(status, 402 | 429) {
        let wait = pace::asked_wait(headers, &error.message, status == 429);
        let daily = status == 402
            || code == "insufficient_quota"
            || ["per day", "(tpd)", "(rpd)"]
                .iter()
                .any(|word| error.says(word));
        return if daily {
            Failure::DailyLimit { wait }
        } else {
            Failure::RateLimited { wait, retry }
        };
    }

    if matches!(status, 400 | 422)
        && let Some(rejected) = rejected(error)
    {
        return Failure::Rejected(rejected);
    }

    let full = code == "capacity_exceeded" || error.says("over capacity");
    if matches!(status, 408 | 409 | 425 | 498 | 500..) || full || should_retry == Some("true") {
        let wait = pace::asked_wait(headers, &error.message, false);
        return Failure::Overloaded { wait, retry };
    }
    Failure::Refused { status }
}

fn rejected(error: &Envelope) -> Option<Rejected> {
    let says_any = |phrases: &[&str]| phrases.iter().any(|phrase| error.says(phrase));
    if says_any(&["reasoning_effort", "reasoning effort"]) {
        return Some(Rejected::ReasoningEffort);
    }
    if says_any(&["tool_choice"]) {
        return Some(Rejected::ToolChoice);
    }
    if says_any(&[
        "response_format",
        "response format",
        "json_schema",
        "json_object",
        "json mode",
        "structured output",
    ]) {
        return Some(if error.says("strict") {
            Rejected::Strict
        } else {
            Rejected::ResponseFormat
        });
    }
    if says_any(&["max_tokens", "max_completion_tokens", "completion tokens"]) {
        let most = [
            "less than or equal to ",
            "at most ",
            "maximum of ",
            "<= ",
            "no more than ",
        ]
        .iter()
        .find_map(|lead| number_after(&error.message, lead));
        return match most {
            Some(most) if most > 0 => Some(Rejected::MoreThan(most)),
            _ if error.says("max_completion_tokens") => Some(Rejected::MaxCompletionTokens),
            _ => None,
        };
    }
    says_any(&["temperature"]).then_some(Rejected::Temperature)
}

/// The number right after a phrase, quoted or not.
fn number_after(text: &str, phrase: &str) -> Option<u32> {
    let rest = text
        .split_once(phrase)?
        .1
        .trim_start_matches(['`', '\'', '"']);
    let end = rest
        .find(|c: char| !c.is_ascii_digit())
        .unwrap_or(rest.len());
    rest.get(..end)?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use reqwest::header::HeaderValue;

    fn of(status: u16, body: &str) -> Failure {
        of_body(status, &HeaderMap::new(), body.as_bytes())
    }

    #[test]
    fn bodies_of_any_dialect_are_read() {
        let overloaded = Failure::Overloaded {
            wait: None,
            retry: true,
        };
        for (status, body, expected) in [
            (418, "", Failure::Refused { status: 418 }),
            (400, "null", Failure::Refused { status: 400 }),
            (400, "[]", Failure::Refused { status: 400 }),
            (400, r#"{"error":null}"#, Failure::Refused { status: 400 }),
            (302, "<html>moved</html>", Failure::Refused { status: 302 }),
            (500, "<html>oops</html>", overloaded.clone()),
            (524, "", overloaded.clone()),
            (498, r#"{"error":"capacity_exceeded"}"#, overloaded.clone()),
            (401, "nope", Failure::BadKey),
            (
                400,
                r#"[{"error":{"code":400,"message":"API key not valid. Pass another.","status":"INVALID_ARGUMENT"}}]"#,
                Failure::BadKey,
            ),
            (
                404,
                r#"{"error":{"message":"model \"x\" not found, try pulling it first","code":null}}"#,
                Failure::ModelGone,
            ),
            (404, "404 page not found", Failure::Refused { status: 404 }),
            (
                400,
                r#"{"error":{"code":400,"message":"request (20030 tokens) exceeds the context","type":"exceed_context_size_error","n_prompt_tokens":20030,"n_ctx":8192}}"#,
                Failure::TooLarge {
                    limit: Some(8192),
                    requested: Some(20030),
                },
            ),
            (
                429,
                r#"{"error":{"message":"on tokens per min (TPM): Limit 30000, Requested 32000.","code":"rate_limit_exceeded"}}"#,
                Failure::TooLarge {
                    limit: Some(30000),
                    requested: Some(32000),
                },
            ),
            (
                429,
                r#"{"error":{"message":"You exceeded your current quota","code":"insufficient_quota"}}"#,
                Failure::DailyLimit { wait: None },
            ),
            (402, "Payment Required", Failure::DailyLimit { wait: None }),
            (
                422,
                r#"{"detail":[{"type":"extra_forbidden","loc":["body","reasoning_effort"],"msg":"Extra inputs are not permitted"}]}"#,
                Failure::Rejected(Rejected::ReasoningEffort),
            ),
            (
                400,
                r#"{"error":{"message":"response_format.json_schema.strict is not supported"}}"#,
                Failure::Rejected(Rejected::Strict),
            ),
            (
                400,
                r#"{"error":{"message":"Unsupported parameter: 'max_completion_tokens'","param":"max_completion_tokens"}}"#,
                Failure::Rejected(Rejected::MaxCompletionTokens),
            ),
            (
                400,
                r#"{"error":{"message":"max_tokens is too large: 99999. This model supports at most 16384 completion tokens"}}"#,
                Failure::Rejected(Rejected::MoreThan(16384)),
            ),
            (
                400,
                r#"{"error":{"message":"Only the default value is supported.","param":"temperature"}}"#,
                Failure::Rejected(Rejected::Temperature),
            ),
            (
                400,
                r#"{"error":{"message":"`reasoning_format` is not supported with this model"}}"#,
                Failure::Refused { status: 400 },
            ),
        ] {
            assert_eq!(of(status, body), expected, "{status} {body}");
        }
    }

    #[test]
    fn the_provider_s_word_on_retrying_is_kept() {
        let with = |value: &'static str, status: u16| {
            let mut headers = HeaderMap::new();
            headers.insert("x-should-retry", HeaderValue::from_static(value));
            of_body(status, &headers, b"")
        };
        let wait = None;
        for (value, status, expected) in [
            ("false", 503, Failure::Overloaded { wait, retry: false }),
            ("false", 429, Failure::RateLimited { wait, retry: false }),
            ("true", 503, Failure::Overloaded { wait, retry: true }),
            ("true", 418, Failure::Overloaded { wait, retry: true }),
            ("maybe", 418, Failure::Refused { status: 418 }),
        ] {
            assert_eq!(with(value, status), expected, "{value} {status}");
        }
    }
}

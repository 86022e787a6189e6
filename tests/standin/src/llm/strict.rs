//! What a provider refuses, and what no client should send.

use serde_json::{Map, Value, json};

use super::{Request, Task};

/// A refusal; with a violation if no client should have caused it.
pub(super) struct Refusal {
    pub(super) status: u16,
    pub(super) body: Value,
    pub(super) violation: Option<String>,
}

/// Fields of a request that providers know.
const FIELDS: [&str; 22] = [
    "frequency_penalty",
    "include_reasoning",
    "logprobs",
    "max_completion_tokens",
    "max_tokens",
    "messages",
    "model",
    "n",
    "parallel_tool_calls",
    "presence_penalty",
    "reasoning_effort",
    "reasoning_format",
    "response_format",
    "seed",
    "service_tier",
    "stop",
    "stream",
    "temperature",
    "tool_choice",
    "top_logprobs",
    "top_p",
    "user",
];

/// The error body of a provider.
pub(super) fn error(message: &str, kind: &str, code: &str) -> Value {
    let mut error = json!({"message": message, "type": kind});
    if !code.is_empty() {
        error["code"] = json!(code);
    }
    json!({"error": error})
}

/// A token for four ASCII characters, one for any other: near enough to be strict with.
pub(super) fn tokens(text: &str) -> u32 {
    let ascii = text.chars().filter(char::is_ascii).count();
    let other = text.chars().count() - ascii;
    u32::try_from(ascii.div_ceil(4) + other).unwrap_or(u32::MAX)
}

pub(super) fn prompt_tokens(body: &Value) -> u32 {
    texts(body, None)
        .iter()
        .map(|text| tokens(text))
        .fold(0, u32::saturating_add)
}

/// The texts of the messages of a role, or of all.
pub(super) fn texts(body: &Value, role: Option<&str>) -> Vec<String> {
    let mut texts = Vec::new();
    for message in body["messages"].as_array().into_iter().flatten() {
        if role.is_some_and(|role| message["role"] != role) {
            continue;
        }
        match &message["content"] {
            Value::String(text) => texts.push(text.clone()),
            Value::Array(parts) => texts.extend(
                parts
                    .iter()
                    .filter_map(|part| Some(part["text"].as_str()?.to_owned())),
            ),
            _ => {}
        }
    }
    texts
}

/// The task that a request names, and the fault in how it does.
pub(super) fn task(body: &Value) -> (Option<Task>, Option<String>) {
    let system = texts(body, Some("system"));
    let line = system.first().and_then(|text| text.lines().next());
    let in_line = line.and_then(|line| line.strip_prefix("Task: "));
    let in_schema = body["response_format"]["json_schema"]["name"].as_str();
    match (in_line, in_schema) {
        (Some(line), Some(schema)) if line != schema => (
            None,
            Some(format!(
                "two tasks: {line} in the prompt, {schema} in the schema"
            )),
        ),
        (Some(name), _) | (None, Some(name)) => match Task::named(name) {
            Some(task) => (Some(task), None),
            None => (None, Some(format!("unknown task: {name}"))),
        },
        (None, None) => (None, Some("a question that names no task".to_owned())),
    }
}

/// The refusal of a request, in the order in which providers check.
pub(super) fn refuse(
    request: &Request,
    models: &[String],
    tokens_per_minute: Option<u32>,
) -> Option<Refusal> {
    let body = &request.body;
    let Some(fields) = body.as_object() else {
        return wrong("the body is no object".to_owned());
    };
    if let Some(unknown) = fields.keys().find(|key| !FIELDS.contains(&key.as_str())) {
        return wrong(format!("property '{unknown}' is unsupported"));
    }
    let model = request.model();
    if !models.iter().any(|offered| offered == model) {
        let message =
            format!("The model `{model}` does not exist or you do not have access to it.");
        return Some(Refusal {
            status: 404,
            body: error(&message, "invalid_request_error", "model_not_found"),
            violation: None,
        });
    }
    messages(fields)
        .or_else(|| numbers(fields))
        .or_else(|| reasoning(fields, model))
        .or_else(|| response_format(request, model))
        .or_else(|| size(request, model, tokens_per_minute))
}

/// A bad request that no client should send.
fn wrong(message: String) -> Option<Refusal> {
    Some(Refusal {
        status: 400,
        body: error(&message, "invalid_request_error", ""),
        violation: Some(message),
    })
}

/// A bad request because this model does not take a parameter.
fn unsupported(message: &str, param: &str) -> Option<Refusal> {
    let mut body = error(message, "invalid_request_error", "");
    body["error"]["param"] = json!(param);
    Some(Refusal {
        status: 400,
        body,
        violation: None,
    })
}

fn messages(fields: &Map<String, Value>) -> Option<Refusal> {
    let messages = fields.get("messages").and_then(Value::as_array);
    let Some(messages) = messages.filter(|messages| !messages.is_empty()) else {
        return wrong("'messages' : minimum number of items is 1".to_owned());
    };
    for (index, message) in messages.iter().enumerate() {
        let at = format!("'messages.{index}'");
        let Some(object) = message.as_object() else {
            return wrong(format!("{at} : value must be an object"));
        };
        let role = message["role"].as_str().unwrap_or_default();
        if !matches!(role, "system" | "developer" | "user" | "assistant") {
            return wrong(format!(
                "{at} : discriminator property 'role' has invalid value"
            ));
        }
        let unknown = object
            .keys()
            .find(|key| !matches!(key.as_str(), "role" | "content" | "name"));
        if let Some(unknown) = unknown {
            return wrong(format!(
                "{at} : for 'role:{role}' the following must be satisfied[({at} : property '{unknown}' is unsupported)]"
            ));
        }
        let content = match &message["content"] {
            Value::String(_) => true,
            Value::Array(parts) => parts
                .iter()
                .all(|part| part["type"] == "text" && part["text"].is_string()),
            _ => false,
        };
        if !content {
            return wrong(format!(
                "{at} : 'content' must be a string or parts of text"
            ));
        }
    }
    if !messages.iter().any(|message| message["role"] == "user") {
        return wrong("no message of a user".to_owned());
    }
    None
}

fn numbers(fields: &Map<String, Value>) -> Option<Refusal> {
    if fields.contains_key("max_tokens") && fields.contains_key("max_completion_tokens") {
        return wrong("both `max_tokens` and `max_completion_tokens` are set".to_owned());
    }
    for key in ["max_tokens", "max_completion_tokens"] {
        let positive = |value: &Value| value.as_u64().is_some_and(|tokens| tokens > 0);
        if fields.get(key).is_some_and(|value| !positive(value)) {
            return wrong(format!("`{key}` must be a positive integer"));
        }
    }
    let in_range = |value: &Value| value.as_f64().is_some_and(|t| (0.0..=2.0).contains(&t));
    if fields
        .get("temperature")
        .is_some_and(|value| !in_range(value))
    {
        return wrong("`temperature` must be between 0 and 2".to_owned());
    }
    if fields.get("stream").is_some_and(|value| *value != false) {
        return wrong("a stream is asked for: this double does not stream".to_owned());
    }
    if fields
        .get("tool_choice")
        .is_some_and(|value| *value != "none")
    {
        return wrong("`tool_choice` is set, but no tools are".to_owned());
    }
    None
}

fn reasoning(fields: &Map<String, Value>, model: &str) -> Option<Refusal> {
    if fields.contains_key("reasoning_format") {
        return unsupported(
            "`reasoning_format` is not supported with this model",
            "reasoning_format",
        );
    }
    let effort = fields.get("reasoning_effort")?.as_str().unwrap_or_default();
    let (allowed, message): (&[&str], _) = if is_gpt_oss(model) {
        (
            &["low", "medium", "high"],
            "`reasoning_effort` must be one of `low`, `medium` or `high`",
        )
    } else if model.starts_with("qwen/") {
        (
            &["none", "default"],
            "`reasoning_effort` must be one of `none` or `default`",
        )
    } else {
        (&[], "`reasoning_effort` is not supported with this model")
    };
    if allowed.contains(&effort) {
        return None;
    }
    unsupported(message, "reasoning_effort")
}

fn is_gpt_oss(model: &str) -> bool {
    model.contains("gpt-oss")
}

fn response_format(request: &Request, model: &str) -> Option<Refusal> {
    let format = request.body.get("response_format")?;
    match format["type"].as_str() {
        Some("text") => None,
        Some("json_object") => {
            let says_json = texts(&request.body, None)
                .iter()
                .any(|text| text.to_ascii_lowercase().contains("json"));
            if says_json {
                return None;
            }
            wrong(
                "'messages' must contain the word 'json' in some form, to use 'response_format' of type 'json_object'."
                    .to_owned(),
            )
        }
        Some("json_schema") if !is_gpt_oss(model) => unsupported(
            "This model does not support response format `json_schema`. See supported models at https://console.groq.com/docs/structured-outputs#supported-models",
            "response_format",
        ),
        Some("json_schema") => {
            let schema = &format["json_schema"];
            let name = schema["name"].as_str().unwrap_or_default();
            let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-');
            if name.is_empty() || name.len() > 64 || !name.chars().all(plain) {
                return wrong("response_format: invalid name of the schema".to_owned());
            }
            if !schema["schema"].is_object() {
                return wrong("response_format: the schema is missing".to_owned());
            }
            if schema["strict"] != true {
                return None;
            }
            let fault = strict_fault(&schema["schema"], "$")?;
            wrong(format!(
                "invalid JSON schema for response_format: '{name}': {fault}"
            ))
        }
        other => wrong(format!(
            "response_format type must be one of \"text\", \"json_object\" or \"json_schema\", but got: {}",
            other.unwrap_or("nothing")
        )),
    }
}

/// Strict mode wants every object closed and every property required. (serde_json bounds the depth
/// of what it reads, so this recursion is bounded.)
fn strict_fault(schema: &Value, at: &str) -> Option<String> {
    let object = schema.as_object()?;
    let is_object = match schema.get("type") {
        Some(Value::String(kind)) => kind == "object",
        Some(Value::Array(kinds)) => kinds.iter().any(|kind| kind == "object"),
        _ => false,
    };
    if is_object || object.contains_key("properties") {
        if schema["additionalProperties"] != false {
            return Some(format!("{at}: `additionalProperties` must be false"));
        }
        let empty = Map::new();
        let properties = schema["properties"].as_object().unwrap_or(&empty);
        let required: Vec<&str> = schema["required"]
            .as_array()
            .into_iter()
            .flatten()
            .filter_map(Value::as_str)
            .collect();
        if let Some(optional) = properties
            .keys()
            .find(|key| !required.contains(&key.as_str()))
        {
            return Some(format!("{at}: property '{optional}' is not required"));
        }
        if let Some(unknown) = required.iter().find(|key| !properties.contains_key(**key)) {
            return Some(format!("{at}: '{unknown}' is required, but no property"));
        }
    }
    for key in ["properties", "$defs", "definitions"] {
        for (name, inner) in schema[key].as_object().into_iter().flatten() {
            if let Some(fault) = strict_fault(inner, &format!("{at}.{name}")) {
                return Some(fault);
            }
        }
    }
    for key in ["anyOf", "oneOf", "allOf", "prefixItems"] {
        for inner in schema[key].as_array().into_iter().flatten() {
            if let Some(fault) = strict_fault(inner, at) {
                return Some(fault);
            }
        }
    }
    strict_fault(&schema["items"], &format!("{at}[]"))
}

fn size(request: &Request, model: &str, tokens_per_minute: Option<u32>) -> Option<Refusal> {
    let limit = tokens_per_minute.filter(|_| is_gpt_oss(model))?;
    let answer = ["max_completion_tokens", "max_tokens"]
        .iter()
        .find_map(|key| request.body.get(*key)?.as_u64())
        .unwrap_or(2048);
    let answer = u32::try_from(answer).unwrap_or(u32::MAX);
    let requested = request.prompt_tokens.saturating_add(answer);
    if requested <= limit {
        return None;
    }
    Some(Refusal {
        status: 413,
        body: too_large(model, limit, requested),
        violation: None,
    })
}

/// The body of a 413.
pub(super) fn too_large(model: &str, limit: u32, requested: u32) -> Value {
    let message = format!(
        "Request too large for model `{model}` in organization `org_standin` service tier `on_demand` on tokens per minute (TPM): Limit {limit}, Requested {requested}, please reduce your message size and try again. Visit https://console.groq.com/docs/rate-limits for more information."
    );
    error(&message, "tokens", "rate_limit_exceeded")
}

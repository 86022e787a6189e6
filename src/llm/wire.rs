//! The wire: the request as a chat-completions endpoint takes it, and what is read from a 200.
//!
//! Only fields that the API names are ever sent, and messages hold `role` and `content` alone:
//! strict providers refuse the rest. What a model rejects is a rung down on its [`Shape`], which
//! the client remembers for the model as long as it lives.
//!
//! No streaming is asked for: an answer is checked as a whole before anyone sees it, and errors
//! inside streams are the worst specified part of the API. An endpoint that streams all the same
//! is read.

use reqwest::header::HeaderMap;
use serde_json::{Map, Value, json};

use super::error::Unreadable;
use super::failure::{self, Failure, Rejected};
use super::{Question, Task};

/// The optional parts of a request that a model takes.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Shape {
    pub(super) format: Format,
    reasoning_effort: bool,
    temperature: bool,
    /// `tool_choice: "none"` may be sent. It is, after a call of a tool that was never offered.
    tool_choice: bool,
    forbid_tools: bool,
    old_max_tokens: bool,
    most_tokens: Option<u32>,
}

/// How the form of the answer is asked for, each a fallback for the one before.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Format {
    StrictSchema,
    Schema,
    Object,
    Free,
}

impl Default for Shape {
    fn default() -> Self {
        Self {
            format: Format::StrictSchema,
            reasoning_effort: true,
            temperature: true,
            tool_choice: true,
            forbid_tools: false,
            old_max_tokens: false,
            most_tokens: None,
        }
    }
}

impl Shape {
    /// A rung down. `false`: this was not sent, so there is nothing to leave out.
    pub(super) fn without(&mut self, rejected: Rejected) -> bool {
        let before = self.clone();
        match rejected {
            Rejected::ReasoningEffort => self.reasoning_effort = false,
            Rejected::Temperature => self.temperature = false,
            Rejected::ToolChoice if self.forbid_tools => self.never_forbid_tools(),
            Rejected::ToolChoice => {}
            Rejected::Strict | Rejected::ResponseFormat => {
                self.format = match (self.format, rejected) {
                    (Format::StrictSchema, Rejected::Strict) => Format::Schema,
                    (Format::StrictSchema | Format::Schema, _) => Format::Object,
                    (Format::Object | Format::Free, _) => Format::Free,
                }
            }
            Rejected::MaxCompletionTokens => self.old_max_tokens = true,
            // Only ever lower, so this ends.
            Rejected::MoreThan(most) => {
                self.most_tokens = Some(self.most_tokens.map_or(most, |now| now.min(most)));
            }
        }
        *self != before
    }

    /// Forbids tools in words, where the model takes that.
    pub(super) fn forbid_tools(&mut self) {
        self.forbid_tools = self.tool_choice;
    }

    /// `tool_choice` is not known to this model.
    pub(super) fn never_forbid_tools(&mut self) {
        self.tool_choice = false;
        self.forbid_tools = false;
    }

    /// The body of the request.
    pub(super) fn request(&self, question: &Question) -> Value {
        let mut body = Map::new();
        let mut put = |key: &str, value: Value| body.insert(key.to_owned(), value);
        put("model", json!(question.model));
        put(
            "messages",
            json!([
                {"role": "system", "content": self.system(question)},
                {"role": "user", "content": question.user},
            ]),
        );
        let tokens = question.max_completion_tokens;
        let tokens = self.most_tokens.map_or(tokens, |most| most.min(tokens));
        if self.old_max_tokens {
            put("max_tokens", json!(tokens));
        } else {
            put("max_completion_tokens", json!(tokens));
        }
        if self.temperature {
            put("temperature", json!(0.2));
        }
        if self.reasoning_effort {
            put("reasoning_effort", json!("low"));
        }
        if self.forbid_tools {
            put("tool_choice", json!("none"));
        }
        let name = question.task.name();
        let schema = &question.schema;
        match self.format {
            Format::StrictSchema => put(
                "response_format",
                json!({
                    "type": "json_schema",
                    "json_schema": {"name": name, "strict": true, "schema": schema},
                }),
            ),
            Format::Schema => put(
                "response_format",
                json!({
                    "type": "json_schema",
                    "json_schema": {"name": name, "schema": schema},
                }),
            ),
            Format::Object => put("response_format", json!({"type": "json_object"})),
            Format::Free => None,
        };
        Value::Object(body)
    }

    /// The first line names the task. Without a schema, providers want the word JSON in the
    /// messages before they take `json_object`, and a model needs to be told.
    fn system(&self, question: &Question) -> String {
        let line = task_line(question.task);
        let mut system = if question.system.lines().next() == Some(line.as_str()) {
            question.system.clone()
        } else {
            format!("{line}\n{}", question.system)
        };
        if self.format >= Format::Object && !system.contains("JSON") {
            system.push_str("\nAnswer with one JSON object and nothing else.");
        }
        system
    }
}

fn task_line(task: Task) -> String {
    format!("Task: {}", task.name())
}

/// What a 200 held.
#[derive(Debug, Default, PartialEq)]
pub(super) struct Said {
    pub(super) text: String,
    pub(super) finish: Finish,
    pub(super) model: Option<String>,
    pub(super) prompt_tokens: Option<u32>,
    pub(super) completion_tokens: Option<u32>,
}

/// Why the model stopped.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub(super) enum Finish {
    #[default]
    Stop,
    Length,
    Filtered,
}

/// Reads the body of a 200: a completion, an error in its place, or a stream that nobody asked for.
pub(super) fn read(headers: &HeaderMap, body: &[u8]) -> Result<Said, Failure> {
    let said = match serde_json::from_slice::<Value>(body) {
        Ok(completion) => {
            let mut said = Said::default();
            let mut calls = Vec::new();
            said.take(headers, &completion, &mut calls)?;
            said.or_calls(calls)?
        }
        Err(_) => {
            let text = String::from_utf8_lossy(body);
            if !looks_like_events(&text) {
                return Err(Failure::Unreadable(Unreadable::NotACompletion));
            }
            read_events(headers, &text)?
        }
    };
    if said.text.trim().is_empty() {
        return Err(Failure::Unreadable(match said.finish {
            Finish::Length => Unreadable::OutOfTokens,
            Finish::Filtered => Unreadable::Declined,
            Finish::Stop => Unreadable::Empty,
        }));
    }
    Ok(said)
}

fn looks_like_events(text: &str) -> bool {
    let text = text.trim_start();
    ["data:", "event:", "id:", "retry:", ":"]
        .iter()
        .any(|field| text.starts_with(field))
}

fn read_events(headers: &HeaderMap, text: &str) -> Result<Said, Failure> {
    let mut said = Said::default();
    let mut calls = Vec::new();
    let mut error_event = false;
    let mut any = false;
    for line in text.lines() {
        let line = line.trim_end();
        if line.is_empty() {
            error_event = false;
        } else if let Some(event) = line.strip_prefix("event:") {
            error_event = event.trim() == "error";
        } else if let Some(data) = line.strip_prefix("data:") {
            let data = data.trim();
            match serde_json::from_str::<Value>(data) {
                Ok(value) if error_event => return Err(failure::inside_ok(headers, &value)),
                Ok(value) => {
                    any = true;
                    said.take(headers, &value, &mut calls)?;
                }
                // An error without JSON, the end mark, or a chunk that was cut.
                Err(_) if error_event => {
                    return Err(failure::inside_ok(headers, &Value::Null));
                }
                Err(_) => {}
            }
        }
    }
    if !any {
        return Err(Failure::Unreadable(Unreadable::NotACompletion));
    }
    said.or_calls(calls)
}

impl Said {
    /// Takes in a completion or one chunk of it.
    fn take(
        &mut self,
        headers: &HeaderMap,
        completion: &Value,
        calls: &mut Vec<Value>,
    ) -> Result<(), Failure> {
        // The error first: it may stand beside text that is worth nothing.
        if completion
            .get("error")
            .is_some_and(|error| !error.is_null())
        {
            return Err(failure::inside_ok(headers, completion));
        }
        let Some(choices) = completion.get("choices") else {
            return Err(Failure::Unreadable(Unreadable::NotACompletion));
        };
        if let Some(model) = completion.get("model").and_then(Value::as_str) {
            self.model = Some(model.to_owned());
        }
        let tokens = |key: &str| {
            let count = completion.get("usage")?.get(key)?.as_u64()?;
            u32::try_from(count).ok()
        };
        self.prompt_tokens = tokens("prompt_tokens").or(self.prompt_tokens);
        self.completion_tokens = tokens("completion_tokens").or(self.completion_tokens);
        let Some(choice) = choices.get(0) else {
            return Ok(());
        };
        match choice.get("finish_reason").and_then(Value::as_str) {
            Some("length" | "max_tokens") => self.finish = Finish::Length,
            Some("content_filter") => self.finish = Finish::Filtered,
            _ => {}
        }
        let Some(message) = choice.get("message").or_else(|| choice.get("delta")) else {
            return Ok(());
        };
        if message
            .get("refusal")
            .and_then(Value::as_str)
            .is_some_and(|refusal| !refusal.is_empty())
        {
            self.finish = Finish::Filtered;
        }
        match message.get("content") {
            Some(Value::String(text)) => self.text.push_str(text),
            // Parts; those that hold thinking are no `text`.
            Some(Value::Array(parts)) => {
                for part in parts {
                    let thinking = part
                        .get("type")
                        .and_then(Value::as_str)
                        .is_some_and(|kind| !kind.contains("text"));
                    let text = part.as_str().or_else(|| part.get("text")?.as_str());
                    if let (false, Some(text)) = (thinking, text) {
                        self.text.push_str(text);
                    }
                }
            }
            Some(object @ Value::Object(_)) => self.text.push_str(&object.to_string()),
            _ => {}
        }
        let called = message.get("tool_calls").and_then(Value::as_array);
        calls.extend(called.into_iter().flatten().cloned());
        Ok(())
    }

    /// An answer with nothing but a call of a tool is the same failure as its error.
    fn or_calls(self, calls: Vec<Value>) -> Result<Self, Failure> {
        let Some(first) = calls.first().filter(|_| self.text.trim().is_empty()) else {
            return Ok(self);
        };
        let function = |key: &str| first.get("function").and_then(|f| f.get(key));
        // A streamed call comes in pieces: the name in the first, the arguments in all.
        let arguments: String = calls
            .iter()
            .filter_map(|call| call.get("function")?.get("arguments")?.as_str())
            .collect();
        let name = function("name").cloned().unwrap_or_default();
        Err(Failure::ToolCalled {
            generation: Some(json!({"name": name, "arguments": arguments}).to_string()),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn question(system: &str) -> Question {
        Question {
            task: Task::Analysis,
            model: "openai/gpt-oss-120b".to_owned(),
            system: system.to_owned(),
            user: "why".to_owned(),
            schema: json!({"type": "object"}),
            max_completion_tokens: 9000,
        }
    }

    #[test]
    fn a_request_holds_only_what_the_model_takes() {
        let mut shape = Shape::default();
        let body = shape.request(&question("Task: analysis\nFind the cause."));
        assert_eq!(
            body,
            json!({
                "model": "openai/gpt-oss-120b",
                "messages": [
                    {"role": "system", "content": "Task: analysis\nFind the cause."},
                    {"role": "user", "content": "why"},
                ],
                "max_completion_tokens": 9000,
                "temperature": 0.2,
                "reasoning_effort": "low",
                "response_format": {
                    "type": "json_schema",
                    "json_schema": {
                        "name": "analysis", "strict": true, "schema": {"type": "object"},
                    },
                },
            })
        );
        for (rejected, changes) in [
            (Rejected::ReasoningEffort, true),
            (Rejected::ReasoningEffort, false),
            (Rejected::Temperature, true),
            (Rejected::ToolChoice, false),
            (Rejected::Strict, true),
            (Rejected::Strict, true),
            (Rejected::ResponseFormat, true),
            (Rejected::ResponseFormat, false),
            (Rejected::MaxCompletionTokens, true),
            (Rejected::MoreThan(8192), true),
            (Rejected::MoreThan(9000), false),
        ] {
            assert_eq!(shape.without(rejected), changes, "{rejected:?}");
        }
        assert_eq!(
            shape.request(&question("Find the cause.")),
            json!({
                "model": "openai/gpt-oss-120b",
                "messages": [
                    {"role": "system", "content":
                        "Task: analysis\nFind the cause.\nAnswer with one JSON object and nothing else."},
                    {"role": "user", "content": "why"},
                ],
                "max_tokens": 8192,
            })
        );
        shape.forbid_tools();
        assert_eq!(shape.request(&question(""))["tool_choice"], "none");
        assert!(shape.without(Rejected::ToolChoice));
        shape.forbid_tools();
        assert_eq!(shape.request(&question("")).get("tool_choice"), None);
    }

    #[test]
    fn the_content_is_found_wherever_it_stands() {
        use Unreadable::{Declined, Empty, NotACompletion, OutOfTokens};
        let unreadable = |why| Err(Failure::Unreadable(why));
        for (body, expected) in [
            ("", unreadable(NotACompletion)),
            ("<html>hello</html>", unreadable(NotACompletion)),
            ("[]", unreadable(NotACompletion)),
            ("{}", unreadable(NotACompletion)),
            (r#"{"choices":null}"#, unreadable(Empty)),
            (r#"{"choices":[]}"#, unreadable(Empty)),
            (r#"{"choices":[{"message":{}}]}"#, unreadable(Empty)),
            (
                r#"{"choices":[{"message":{"content":" "},"finish_reason":"stop"}]}"#,
                unreadable(Empty),
            ),
            (
                r#"{"choices":[{"message":{"content":null,"reasoning":"hm"},"finish_reason":"length"}]}"#,
                unreadable(OutOfTokens),
            ),
            (
                r#"{"choices":[{"message":{"content":null,"refusal":"I can't"},"finish_reason":"stop"}]}"#,
                unreadable(Declined),
            ),
            (
                r#"{"choices":[{"message":{"content":[{"type":"thinking","text":"hm"}]}}]}"#,
                unreadable(Empty),
            ),
            ("data: [DONE]\n\n", unreadable(NotACompletion)),
            (": ping\n\n", unreadable(NotACompletion)),
            (r#"{"choices":[{"message":{"content":"a"}}]}"#, Ok("a")),
            (
                r#"{"choices":[{"message":{"content":[{"type":"text","text":"a"},{"type":"output_text","text":"b"},"c"]}}]}"#,
                Ok("abc"),
            ),
            (
                r#"{"choices":[{"message":{"content":{"a":1}}}]}"#,
                Ok(r#"{"a":1}"#),
            ),
            (
                "data: {\"choices\":[{\"delta\":{\"role\":\"assistant\",\"content\":\"a\"}}]}\r\n\r\n\
                 : ping\r\n\r\n\
                 data: {\"choices\":[{\"delta\":{\"content\":\"b\"},\"finish_reason\":\"stop\"}]}\r\n\r\n\
                 data: {\"choices\":[],\"usage\":{}}\r\n\r\ndata: [DONE]\r\n\r\n",
                Ok("ab"),
            ),
        ] {
            let read = read(&HeaderMap::new(), body.as_bytes()).map(|said| said.text);
            assert_eq!(read, expected.map(str::to_owned), "{body}");
        }
    }
}

//! Every way the API says no: status, code and body as Discord words them.
//!
//! A refusal is either an ordinary answer, which a bot has to live with (a channel was
//! deleted, a permission is missing), or it means that the bot broke a rule, which is
//! recorded and fails the test. Codes: Discord documentation, opcodes and status codes.

use serde_json::{Map, Value, json};

/// An answer other than success.
#[derive(Debug, Clone)]
pub(crate) struct Refusal {
    pub status: u16,
    pub body: Value,
    /// What the bot did wrong, if it did.
    pub violation: Option<String>,
}

impl Refusal {
    fn ordinary(status: u16, code: u32, message: &str) -> Self {
        Self {
            status,
            body: json!({"message": message, "code": code}),
            violation: None,
        }
    }

    fn broken_rule(status: u16, code: u32, message: &str) -> Self {
        Self {
            violation: Some(format!("{code} {message}")),
            ..Self::ordinary(status, code, message)
        }
    }

    /// Adds what exactly was wrong, for the reader of a failing test.
    pub fn because(mut self, why: &str) -> Self {
        if let Some(violation) = &mut self.violation {
            violation.push_str(": ");
            violation.push_str(why);
        }
        self
    }

    pub fn unauthorized() -> Self {
        Self::ordinary(401, 0, "401: Unauthorized")
    }
    pub fn no_such_route() -> Self {
        Self::broken_rule(404, 0, "404: Not Found")
    }
    pub fn unknown_application() -> Self {
        Self::broken_rule(404, 10002, "Unknown Application")
    }
    pub fn unknown_channel() -> Self {
        Self::ordinary(404, 10003, "Unknown Channel")
    }
    pub fn unknown_guild() -> Self {
        Self::ordinary(404, 10004, "Unknown Guild")
    }
    pub fn unknown_member() -> Self {
        Self::ordinary(404, 10007, "Unknown Member")
    }
    pub fn unknown_message() -> Self {
        Self::ordinary(404, 10008, "Unknown Message")
    }
    pub fn unknown_user() -> Self {
        Self::ordinary(404, 10013, "Unknown User")
    }
    pub fn unknown_emoji() -> Self {
        Self::broken_rule(400, 10014, "Unknown Emoji")
    }
    pub fn unknown_webhook() -> Self {
        Self::ordinary(404, 10015, "Unknown Webhook")
    }
    /// Late, or never heard of: an interaction that is not answered in time is the
    /// bot's fault.
    pub fn unknown_interaction() -> Self {
        Self::broken_rule(404, 10062, "Unknown interaction")
    }
    pub fn already_acknowledged() -> Self {
        Self::broken_rule(400, 40060, "Interaction has already been acknowledged.")
    }
    pub fn entity_too_large() -> Self {
        Self::broken_rule(413, 40005, "Request entity too large")
    }
    pub fn missing_access() -> Self {
        Self::ordinary(403, 50001, "Missing Access")
    }
    pub fn not_yours_to_edit() -> Self {
        Self::broken_rule(403, 50005, "Cannot edit a message authored by another user")
    }
    pub fn empty_message() -> Self {
        Self::broken_rule(400, 50006, "Cannot send an empty message")
    }
    pub fn missing_permissions() -> Self {
        Self::ordinary(403, 50013, "Missing Permissions")
    }
    pub fn system_message() -> Self {
        Self::broken_rule(403, 50021, "Cannot execute action on a system message")
    }
    pub fn wrong_channel_type() -> Self {
        Self::broken_rule(400, 50024, "Cannot execute action on this channel type")
    }
    pub fn invalid_webhook_token() -> Self {
        Self::ordinary(401, 50027, "Invalid Webhook Token")
    }
    pub fn archived_thread() -> Self {
        Self::ordinary(400, 50083, "Thread is archived")
    }
    pub fn invalid_json() -> Self {
        Self::broken_rule(400, 50109, "The request body contains invalid JSON.")
    }
    pub fn reply_without_history() -> Self {
        Self::ordinary(
            400,
            160_002,
            "You cannot reply without permission to read message history",
        )
    }
    pub fn thread_exists() -> Self {
        Self::ordinary(
            400,
            160_004,
            "A thread has already been created for this message",
        )
    }
    pub fn locked_thread() -> Self {
        Self::ordinary(400, 160_005, "Thread is locked")
    }
    pub fn too_many_old_edits() -> Self {
        Self::ordinary(
            429,
            30046,
            "Maximum number of edits to messages older than 1 hour reached. Try again later",
        )
    }
    /// 50035 with the nested `errors` object.
    pub fn invalid_form(errors: &[FormError]) -> Self {
        let said: Vec<String> = errors
            .iter()
            .map(|e| format!("{} {} ({})", e.path, e.message, e.code))
            .collect();
        Self {
            status: 400,
            body: json!({
                "message": "Invalid Form Body",
                "code": 50035,
                "errors": nested(errors),
            }),
            violation: Some(format!("50035 Invalid Form Body: {}", said.join("; "))),
        }
    }
    /// 50035 without fields: the `Content-Type` is not one that the route reads.
    pub fn wrong_content_type(found: &str) -> Self {
        Self {
            status: 400,
            body: json!({
                "message": "Invalid Form Body",
                "code": 50035,
                "errors": {"_errors": [{
                    "code": "CONTENT_TYPE_INVALID",
                    "message": "Expected \"Content-Type\" header to be one of {application/json, multipart/form-data}."
                }]},
            }),
            violation: Some(format!("50035 Content-Type is {found:?}")),
        }
    }
}

/// One entry of a 50035 answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct FormError {
    /// Keys and indexes, joined by dots: `data.embeds.0.description`.
    pub path: String,
    pub code: &'static str,
    pub message: String,
}

/// `errors` as Discord nests them: an object per key or index, `_errors` at the end.
fn nested(errors: &[FormError]) -> Value {
    let mut root = Map::new();
    for error in errors {
        let mut at = &mut root;
        for key in error.path.split('.').filter(|k| !k.is_empty()) {
            let next = at.entry(key).or_insert_with(|| Value::Object(Map::new()));
            if !next.is_object() {
                *next = Value::Object(Map::new());
            }
            let Value::Object(map) = next else {
                return Value::Object(root);
            };
            at = map;
        }
        let list = at
            .entry("_errors")
            .or_insert_with(|| Value::Array(Vec::new()));
        if let Value::Array(list) = list {
            list.push(json!({"code": error.code, "message": error.message}));
        }
    }
    Value::Object(root)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn form_errors_nest_by_key_and_index() {
        let error = |path: &str| FormError {
            path: path.to_owned(),
            code: "C",
            message: "M".to_owned(),
        };
        assert_eq!(
            nested(&[
                error("data.embeds.0.description"),
                error("data.content"),
                error("data.content")
            ]),
            json!({"data": {
                "embeds": {"0": {"description": {"_errors": [{"code": "C", "message": "M"}]}}},
                "content": {"_errors": [{"code": "C", "message": "M"}, {"code": "C", "message": "M"}]},
            }})
        );
    }
}

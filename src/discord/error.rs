//! What can come of asking Discord for something.
//!
//! The variants are the callers' choices: post elsewhere, unarchive, go on with the bot's own
//! token, name the permission, come back later. `Display` is one plain sentence written here; it
//! never holds a URL, a token or a body.
//!
//! Codes: Discord's documentation, topics/opcodes-and-status-codes.

use std::time::Duration;

use serde_json::Value;

/// Why Discord did not do what was asked.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum DiscordError {
    /// The message was deleted, or never was.
    #[error("The message is gone.")]
    UnknownMessage,
    /// The channel or thread was deleted, or never was.
    #[error("The channel or thread is gone.")]
    UnknownChannel,
    /// The bot does not see the channel (any more).
    #[error("The bot cannot see the channel.")]
    MissingAccess,
    /// The bot may not do that there.
    #[error("The bot is missing {}.", .0.map_or("a permission".to_owned(), |name| format!("the permission \"{name}\"")))]
    MissingPermission(
        /// By the name of the server settings, where what was done tells which.
        Option<&'static str>,
    ),
    /// The thread is archived: unarchive it, then try again.
    #[error("The thread is archived.")]
    Archived,
    /// The thread is locked.
    #[error("The thread is locked.")]
    Locked,
    /// The message has its thread already; the thread's id is the message's.
    #[error("The message has a thread already.")]
    ThreadExists,
    /// The interaction can no longer be answered: too late, or its 15 minutes are over.
    #[error("The interaction can no longer be answered.")]
    TokenGone,
    /// The interaction has its first answer already.
    #[error("The interaction is answered already.")]
    AlreadyAnswered,
    /// What was sent is larger than Discord takes.
    #[error("The message or its files are larger than Discord takes.")]
    TooLarge,
    /// A field is not as Discord wants it: a fault of the bot.
    #[error("Discord refused {path}: {message}")]
    Invalid {
        /// Where: `embeds.0.description`.
        path: String,
        /// What Discord says of it.
        message: String,
    },
    /// Too much was asked, and waiting it out would take too long.
    #[error("Discord's rate limit is reached{}.", .retry_after.map_or(String::new(), |wait| format!("; it takes requests again in {} s", wait.as_millis().div_ceil(1000))))]
    RateLimited {
        /// From now on, where Discord said it.
        retry_after: Option<Duration>,
    },
    /// No connection, it broke, or no answer came in time. What was asked may have been done.
    #[error("Discord could not be reached.")]
    Unreachable,
    /// The bot's token is not accepted: the operator has to act.
    #[error("Discord does not accept the bot's token.")]
    Unauthorized,
    /// Anything else.
    #[error("Discord refused the request (HTTP {status}, code {code}).")]
    Other {
        /// The HTTP status.
        status: u16,
        /// Discord's code; 0 where it gave none.
        code: i64,
    },
}

impl DiscordError {
    /// A stable word for stored rows, metrics and tables of translated sentences.
    pub fn reason(&self) -> &'static str {
        match self {
            Self::UnknownMessage => "unknown_message",
            Self::UnknownChannel => "unknown_channel",
            Self::MissingAccess => "missing_access",
            Self::MissingPermission(_) => "missing_permission",
            Self::Archived => "archived",
            Self::Locked => "locked",
            Self::ThreadExists => "thread_exists",
            Self::TokenGone => "token_gone",
            Self::AlreadyAnswered => "already_answered",
            Self::TooLarge => "too_large",
            Self::Invalid { .. } => "invalid",
            Self::RateLimited { .. } => "rate_limited",
            Self::Unreachable => "unreachable",
            Self::Unauthorized => "unauthorized",
            Self::Other { .. } => "other",
        }
    }

    /// Whether the same request may succeed a little later.
    pub fn is_passing(&self) -> bool {
        match self {
            Self::RateLimited { .. } | Self::Unreachable => true,
            Self::Other { status, .. } => *status >= 500,
            _ => false,
        }
    }

    /// Reads an answer that is no success. `doing` is the permission that the request stands for.
    pub(super) fn of(status: u16, body: &[u8], doing: Option<&'static str>) -> Self {
        let body: Value = serde_json::from_slice(body).unwrap_or(Value::Null);
        let code = body.get("code").and_then(Value::as_i64).unwrap_or(0);
        match (code, status) {
            (10003, _) => Self::UnknownChannel,
            (10008, _) => Self::UnknownMessage,
            (10015 | 10062 | 50027, _) => Self::TokenGone,
            (40060, _) => Self::AlreadyAnswered,
            (50001, _) => Self::MissingAccess,
            (50013, _) => Self::MissingPermission(doing),
            (160_002, _) => Self::MissingPermission(Some("Read Message History")),
            (50083, _) => Self::Archived,
            (160_004, _) => Self::ThreadExists,
            (160_005, _) => Self::Locked,
            (40005, _) | (_, 413) => Self::TooLarge,
            (50006, _) => Self::Invalid {
                path: "content".to_owned(),
                message: "the message is empty".to_owned(),
            },
            (50035 | 50109, _) => invalid(&body),
            (50014, _) | (_, 401) => Self::Unauthorized,
            (_, 429) => Self::RateLimited { retry_after: None },
            _ => Self::Other { status, code },
        }
    }
}

/// The first field that Discord complains about.
fn invalid(body: &Value) -> DiscordError {
    let text = |value: &Value| value.as_str().unwrap_or("").to_owned();
    let mut at = body.get("errors").unwrap_or(&Value::Null);
    let mut path = Vec::new();
    // Bounded by the nesting that the JSON reader accepts.
    loop {
        if let Some(error) = at.get("_errors").and_then(|errors| errors.get(0)) {
            return DiscordError::Invalid {
                path: if path.is_empty() {
                    "the request".to_owned()
                } else {
                    path.join(".")
                },
                message: text(&error["message"]),
            };
        }
        match at.as_object().and_then(|map| map.iter().next()) {
            Some((key, inner)) => {
                path.push(key.clone());
                at = inner;
            }
            None => {
                return DiscordError::Invalid {
                    path: "the request".to_owned(),
                    message: text(&body["message"]),
                };
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn each_code_is_a_choice_of_the_caller() {
        let invalid = |path: &str, message: &str| DiscordError::Invalid {
            path: path.to_owned(),
            message: message.to_owned(),
        };
        let cases = [
            (404, 10003, DiscordError::UnknownChannel),
            (404, 10008, DiscordError::UnknownMessage),
            (404, 10015, DiscordError::TokenGone),
            (404, 10062, DiscordError::TokenGone),
            (401, 50027, DiscordError::TokenGone),
            (400, 40060, DiscordError::AlreadyAnswered),
            (413, 40005, DiscordError::TooLarge),
            (413, 0, DiscordError::TooLarge),
            (403, 50001, DiscordError::MissingAccess),
            (403, 50013, DiscordError::MissingPermission(Some("Doing"))),
            (400, 50006, invalid("content", "the message is empty")),
            (400, 50083, DiscordError::Archived),
            (400, 160_004, DiscordError::ThreadExists),
            (400, 160_005, DiscordError::Locked),
            (401, 0, DiscordError::Unauthorized),
            (401, 50014, DiscordError::Unauthorized),
            (429, 30046, DiscordError::RateLimited { retry_after: None }),
            (
                403,
                50005,
                DiscordError::Other {
                    status: 403,
                    code: 50005,
                },
            ),
            (
                500,
                0,
                DiscordError::Other {
                    status: 500,
                    code: 0,
                },
            ),
        ];
        for (status, code, expected) in cases {
            let body = json!({"message": "x", "code": code}).to_string();
            let error = DiscordError::of(status, body.as_bytes(), Some("Doing"));
            assert_eq!(error, expected, "{status} {code}");
        }
        for body in [
            "",
            "upstream connect error",
            "[]",
            "{\"code\":\"x\"}",
            "\u{0}",
        ] {
            assert_eq!(
                DiscordError::of(502, body.as_bytes(), None),
                DiscordError::Other {
                    status: 502,
                    code: 0
                }
            );
        }
    }

    #[test]
    fn an_invalid_field_is_named() {
        let cases = [
            (
                json!({"embeds": {"0": {"description": {"_errors": [{"code": "C", "message": "M."}]}}}}),
                "Discord refused embeds.0.description: M.",
            ),
            (
                json!({"_errors": [{"code": "C", "message": "M."}]}),
                "Discord refused the request: M.",
            ),
            (
                json!(null),
                "Discord refused the request: Invalid Form Body",
            ),
            (json!([1]), "Discord refused the request: Invalid Form Body"),
            (
                json!({"a": {"_errors": []}}),
                "Discord refused the request: Invalid Form Body",
            ),
        ];
        for (errors, sentence) in cases {
            let body = json!({"message": "Invalid Form Body", "code": 50035, "errors": errors});
            let error = DiscordError::of(400, body.to_string().as_bytes(), None);
            assert_eq!(error.to_string(), sentence);
        }
    }

    #[test]
    fn each_error_is_one_plain_sentence() {
        for (error, sentence) in [
            (
                DiscordError::MissingPermission(None),
                "The bot is missing a permission.",
            ),
            (
                DiscordError::MissingPermission(Some("Create Public Threads")),
                "The bot is missing the permission \"Create Public Threads\".",
            ),
            (
                DiscordError::RateLimited {
                    retry_after: Some(Duration::from_millis(1_200)),
                },
                "Discord's rate limit is reached; it takes requests again in 2 s.",
            ),
            (
                DiscordError::RateLimited { retry_after: None },
                "Discord's rate limit is reached.",
            ),
        ] {
            assert_eq!(error.to_string(), sentence);
        }
    }
}

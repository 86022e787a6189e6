//! The exit: what is posted, once more without secrets (R22).
//!
//! Everything was redacted where it came in, and the model's answer where it came back; what is left
//! to find here was put together on the way, such as from the escapes of a JSON answer. Ids, addresses
//! and custom ids stay as they are: Discord reads them, people don't.

use super::api::File;
use crate::present::escape::cut;
use crate::present::payload::{
    BUTTON_LABEL, CONTENT, EMBED_DESCRIPTION, EMBED_FOOTER, EMBED_TITLE, PLACEHOLDER,
};
use crate::response::redact::{Key, redact};
use serde_json::Value;

/// What people read, by its key, and how many UTF-16 units of it Discord takes.
const READ_BY_PEOPLE: [(&str, usize); 10] = [
    ("content", CONTENT),
    ("title", EMBED_TITLE),
    ("description", EMBED_DESCRIPTION),
    // Of a field of an embed.
    ("name", 256),
    ("value", 1_024),
    ("text", EMBED_FOOTER),
    ("label", BUTTON_LABEL),
    ("placeholder", PLACEHOLDER),
    ("topic", 1_024),
    ("username", 80),
];

/// The body without its secrets; `None` where it has none. A placeholder may be longer than what it
/// stands for: what Discord would not take is cut off.
pub(super) fn struck(body: &Value, key: &Key) -> Option<Value> {
    let mut struck = body.clone();
    strike(&mut struck, key, DEEPEST).then_some(struck)
}

/// Payloads are a handful of levels deep: they are made by this program.
const DEEPEST: usize = 32;

/// Whether anything was struck.
fn strike(value: &mut Value, key: &Key, levels: usize) -> bool {
    let Some(levels) = levels.checked_sub(1) else {
        return false;
    };
    let mut any = false;
    match value {
        Value::Object(fields) => {
            for (name, inner) in fields {
                any |= match (inner, limit(name)) {
                    (Value::String(text), Some(most)) => strike_text(text, most, key),
                    (inner, _) => strike(inner, key, levels),
                };
            }
        }
        Value::Array(items) => {
            for item in items {
                any |= strike(item, key, levels);
            }
        }
        _ => {}
    }
    any
}

fn strike_text(text: &mut String, most: usize, key: &Key) -> bool {
    let redacted = redact(text, key).text;
    if redacted == *text {
        return false;
    }
    *text = cut(&redacted, most);
    true
}

/// Attached texts without their secrets; what is no text goes as it is.
pub(super) fn struck_files(files: Vec<File>, key: &Key) -> Vec<File> {
    files
        .into_iter()
        .map(|(name, bytes)| match String::from_utf8(bytes) {
            Ok(text) => (name, redact(&text, key).text.into_bytes()),
            Err(error) => (name, error.into_bytes()),
        })
        .collect()
}

fn limit(name: &str) -> Option<usize> {
    READ_BY_PEOPLE
        .iter()
        .find(|(known, _)| *known == name)
        .map(|(_, most)| *most)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn key() -> Key {
        Key::new([3; 32])
    }

    #[test]
    fn r22_what_people_read_leaves_without_secrets() {
        let body = json!({
            "content": "token: ghp_aZ3kQ9xW7mP2vL8nR4tY6uB1cD5eF0gH3jK7",
            "nonce": "4532015112830366",
            "embeds": [{"title": "ok", "fields": [{"name": "who", "value": "jane@example.com"}],
                        "url": "https://example.com/?api_key=7f3a9c21b4d84e6f"}],
            "components": [{"type": 1, "components": [{"custom_id": "tick/4532015112830366", "label": "ok"}]}],
        });
        let struck = struck(&body, &key()).expect("there is something to strike");
        let text = struck.to_string();
        assert!(
            !text.contains("ghp_aZ3k") && !text.contains("jane@"),
            "{text}"
        );
        for kept in ["nonce", "url", "components"] {
            assert_eq!(struck.get(kept), body.get(kept), "{kept}");
        }
    }

    #[test]
    fn r22_what_has_no_secret_is_sent_as_it_is() {
        for text in [
            "<@123456789012345678> see https://discord.com/channels/123456789012345678/223456789012345678",
            "<t:1732934467:R> `kubectl logs deploy/payments-api --since 10m` 10.0.3.4:5432",
            "[REDACTED github-token 3f2a] \\[REDACTED password ab12\\]",
        ] {
            assert_eq!(
                super::struck(&json!({"content": text}), &key()),
                None,
                "{text}"
            );
        }
    }

    #[test]
    fn r21_nothing_grows_over_the_limit() {
        let body = json!({ "label": format!("{} password=abc", "x".repeat(66)) });
        let struck = struck(&body, &key()).expect("struck");
        let label = struck["label"].as_str().expect("a label");
        assert!(
            label.encode_utf16().count() <= 80 && !label.contains("=abc"),
            "{label}"
        );
    }
}

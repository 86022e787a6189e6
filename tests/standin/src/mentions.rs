//! Who would be notified by a message.
//!
//! Discord documentation, resources/message, allowed mentions: without the field a
//! normal message parses everything, a message of an interaction or a webhook users
//! only; with it, what `parse` names plus the listed ids, as far as the content names
//! them. Embeds never notify; neither does what stands in code.

use std::collections::BTreeSet;

use serde_json::Value;

use crate::rules::integer;

/// The people, roles and crowds that a message notifies.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Pings {
    /// Ids of users.
    pub users: BTreeSet<u64>,
    /// Ids of roles.
    pub roles: BTreeSet<u64>,
    /// `@everyone` or `@here`.
    pub everyone: bool,
}

impl Pings {
    /// Whether nobody is notified.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.users.is_empty() && self.roles.is_empty() && !self.everyone
    }
}

/// What the circumstances allow, whatever the content says.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Circumstances<'a> {
    pub allowed: Option<&'a Value>,
    /// Interactions and webhooks parse only users by default.
    pub users_only_by_default: bool,
    /// The author has *Mention everyone*.
    pub may_mention_everyone: bool,
    /// Author of the message replied to.
    pub replied_to: Option<u64>,
}

/// Resolves `content`; `mentionable` says whether anybody may mention a role.
pub(crate) fn resolve(
    content: &str,
    now: Circumstances<'_>,
    mentionable: impl Fn(u64) -> bool,
) -> Pings {
    let text = without_code(content);
    let allowed = now.allowed.filter(|a| !a.is_null());
    let parses = |what: &str| match allowed {
        None => what == "users" || !now.users_only_by_default,
        Some(allowed) => allowed
            .get("parse")
            .and_then(Value::as_array)
            .is_some_and(|p| p.iter().any(|w| w.as_str() == Some(what))),
    };
    let lists = |what: &str, id: u64| {
        allowed
            .and_then(|a| a.get(what))
            .and_then(Value::as_array)
            .is_some_and(|l| l.iter().any(|v| integer(v) == Some(id)))
    };
    let mut pings = Pings::default();
    for (marker, id) in tags(&text) {
        match marker {
            Tag::User if parses("users") || lists("users", id) => {
                pings.users.insert(id);
            }
            Tag::Role
                if (parses("roles") || lists("roles", id))
                    && (now.may_mention_everyone || mentionable(id)) =>
            {
                pings.roles.insert(id);
            }
            _ => {}
        }
    }
    pings.everyone = parses("everyone")
        && now.may_mention_everyone
        && (text.contains("@everyone") || text.contains("@here"));
    if let Some(author) = now.replied_to {
        let ping = match allowed {
            None => true,
            Some(allowed) => allowed.get("replied_user").and_then(Value::as_bool) == Some(true),
        };
        if ping {
            pings.users.insert(author);
        }
    }
    pings
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Tag {
    User,
    Role,
}

/// `<@1>`, `<@!1>`, `<@&1>` in order.
fn tags(text: &str) -> Vec<(Tag, u64)> {
    text.split("<@")
        .skip(1)
        .filter_map(|rest| {
            let (inside, _) = rest.split_once('>')?;
            if let Some(id) = inside.strip_prefix('&') {
                return Some((Tag::Role, id.parse().ok()?));
            }
            let id = inside.strip_prefix('!').unwrap_or(inside);
            Some((Tag::User, id.parse().ok()?))
        })
        .collect()
}

/// The text with fenced blocks and code spans taken out.
fn without_code(text: &str) -> String {
    let mut plain = String::new();
    for (i, part) in text.split("```").enumerate() {
        // A fence that is never closed is text.
        let closed = text.matches("```").count() > i;
        if i % 2 == 1 && closed {
            continue;
        }
        let spans: Vec<&str> = part.split('`').collect();
        let count = spans.len();
        for (j, span) in spans.into_iter().enumerate() {
            if j % 2 == 0 || j + 1 == count {
                plain.push_str(span);
            }
        }
    }
    plain
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn who_is_notified() {
        let users = |ids: &[u64]| Pings {
            users: ids.iter().copied().collect(),
            ..Pings::default()
        };
        let none = json!({"parse": []});
        let listed = json!({"parse": [], "users": ["2", 9]});
        let replied = json!({"parse": [], "replied_user": true});
        let everything = "<@1> <@!2> <@&7> @everyone";
        let normal = Circumstances {
            allowed: None,
            users_only_by_default: false,
            may_mention_everyone: true,
            replied_to: None,
        };
        let with = |allowed| Circumstances {
            allowed: Some(allowed),
            replied_to: Some(5),
            ..normal
        };
        let cases = [
            (
                "a normal message parses everything",
                everything,
                normal,
                Pings {
                    users: [1, 2].into(),
                    roles: [7].into(),
                    everyone: true,
                },
            ),
            (
                "without the permission only people",
                everything,
                Circumstances {
                    may_mention_everyone: false,
                    ..normal
                },
                users(&[1, 2]),
            ),
            (
                "an interaction parses people",
                everything,
                Circumstances {
                    users_only_by_default: true,
                    ..normal
                },
                users(&[1, 2]),
            ),
            (
                "an empty list stops all",
                everything,
                with(&none),
                users(&[]),
            ),
            (
                "a listed id that is named",
                everything,
                with(&listed),
                users(&[2]),
            ),
            ("a reply that pings", "hm", with(&replied), users(&[5])),
            (
                "code does not notify",
                "`<@1>` ```\n@everyone\n``` <@2>",
                normal,
                users(&[2]),
            ),
        ];
        for (what, content, circumstances, expected) in cases {
            assert_eq!(
                resolve(content, circumstances, |_| false),
                expected,
                "{what}"
            );
        }
    }
}

//! Discord: events in, requests out.
//!
//! Properties wanted:
//! - Nobody else knows the client library: plain types out, plain JSON payloads in.
//! - Nothing that a person wrote, no name and no token reaches a log, an error or a `Debug`.
//! - What Discord does that this version does not know is said loudly, not dropped.
//! - The gateway comes back from everything except what an operator has to change.
//!
//! Design: [`Gateway`] hears ([`Incoming`]), [`Rest`] asks ([`DiscordError`]), both from one
//! [`Api`]. The library (serenity 0.12.5) holds the gateway's connection, its heartbeats, its
//! resumption and the cache of guilds; requests are made in `api`, which says why.
//!
//! Absent on purpose: sharding (one bot, one process), voice, direct messages (the commands are
//! for guilds), building of payloads, dedupe of events (whoever acts on one keeps its id), and any
//! decision about an incident.

mod api;
pub mod attachments;
mod error;
mod exit;
mod gateway;
mod incoming;
mod permission;
mod reading;
mod rest;

pub use api::{Api, ApiError, File, LONGEST_WAIT};
pub use attachments::{FileNote, FileText};
pub use error::DiscordError;
pub use gateway::{Gateway, GatewayConfig, GatewayError, GatewayState, Handler, Patience};
pub use incoming::{
    FileRef, Gone, Incoming, OptionValue, Options, Person, Place, Reply, SeenMessage, id_at_ms,
    made_at_ms,
};
pub use permission::{BotMay, May, Need};
pub use rest::{Application, Channel, Me, OwnPost, PastMessage, RESPOND_TIMEOUT, Rest};

use serde_json::Value;

/// Full names of the commands that the code handles; `commands.json` declares exactly these.
pub const COMMANDS: &[&str] = &[
    "Analyze as incident",
    "Remember as incident",
    "analyze",
    "catchup",
    "followup",
    "help",
    "incident list",
    "incident merge",
    "incident postmortem",
    "incident set",
    "incident show",
    "incident timeline",
    "memory add",
    "memory duplicate",
    "memory export",
    "memory forget",
    "memory import",
    "memory review",
    "memory search",
    "memory share",
    "memory show",
    "memory unshare",
    "resolve",
    "service alias",
    "service list",
    "service merge",
    "service remove",
    "service rename",
    "service set",
    "service show",
    "settings roles",
    "settings severity",
    "update",
    "watch alerts",
    "watch changes",
    "watch list",
    "watch stop",
    "why",
];

/// What the log has to leave out, for the subscriber's filter: at `warn` and below the library
/// writes whole events and, in its spans, tokens and bodies.
pub const LOG_DIRECTIVES: &[&str] = &[
    "serenity=error",
    "tungstenite=error",
    "tokio_tungstenite=error",
];

/// `commands.json`, as it is registered.
pub fn declared() -> Value {
    serde_json::from_str(include_str!("../../commands.json"))
        .unwrap_or_else(|error| unreachable!("commands.json is JSON (a test holds it): {error}"))
}

/// The full names that a list of commands declares, subcommands included, sorted.
pub fn names(commands: &Value) -> Vec<String> {
    let mut names = Vec::new();
    for command in commands.as_array().into_iter().flatten() {
        collect(command, "", 0, &mut names);
    }
    names.sort();
    names
}

/// Groups and subcommands nest two deep at most.
fn collect(level: &Value, before: &str, depth: u8, names: &mut Vec<String>) {
    let name = level.get("name").and_then(Value::as_str).unwrap_or("");
    let full = if before.is_empty() {
        name.to_owned()
    } else {
        format!("{before} {name}")
    };
    let inner: Vec<&Value> = level
        .get("options")
        .and_then(Value::as_array)
        .into_iter()
        .flatten()
        .filter(|option| matches!(option.get("type").and_then(Value::as_u64), Some(1 | 2)))
        .collect();
    if inner.is_empty() || depth >= 2 {
        names.push(full);
        return;
    }
    for option in inner {
        collect(option, &full, depth + 1, names);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_code_and_the_file_name_the_same_commands() {
        assert_eq!(names(&declared()), COMMANDS);
    }

    #[test]
    fn every_text_is_there_in_chinese_and_the_commands_are_for_guilds() {
        fn described(level: &Value, path: &str) {
            if level.get("type").and_then(Value::as_u64) != Some(3)
                || level.get("description").is_some()
            {
                let chinese = &level["description_localizations"]["zh-CN"];
                assert!(chinese.is_string(), "{path}: no Chinese description");
            }
            for choice in level["choices"].as_array().into_iter().flatten() {
                assert!(
                    choice["name"].is_string(),
                    "{path}: a choice without a name"
                );
            }
            for option in level["options"].as_array().into_iter().flatten() {
                described(option, &format!("{path} {}", option["name"]));
            }
        }
        let commands = declared();
        for command in commands.as_array().expect("a list") {
            assert_eq!(command["contexts"], serde_json::json!([0]));
            assert_eq!(command["default_member_permissions"], Value::Null);
            described(command, &command["name"].to_string());
        }
    }
}

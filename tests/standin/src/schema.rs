//! Request bodies against Discord's own machine-readable description.
//!
//! The description is large and not ours, so it is read from the folder that
//! `PRECEDENT_SHARED` names; where the variable is not set, this check does not run,
//! and where it names a folder without the file, the process stops with a clear word.
//! One schema a body is compiled when first wanted and kept for the process.
//!
//! An `anyOf` of six callbacks says nothing useful when it fails, so the schema is
//! chosen by `type` first, and components are checked one by one. Two traps are
//! levelled out before: ids that the API takes as numbers and the description wants as
//! strings, and permission bits the other way round.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::path::PathBuf;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use jsonschema::Validator;
use serde_json::{Map, Value, json};

use crate::rules::{COMPONENTS_V2, integer};

struct Description {
    schemas: Map<String, Value>,
    compiled: Mutex<HashMap<String, Arc<Validator>>>,
}

fn description() -> Option<&'static Description> {
    static DESCRIPTION: OnceLock<Option<Description>> = OnceLock::new();
    DESCRIPTION
        .get_or_init(|| {
            let folder = std::env::var_os("PRECEDENT_SHARED")?;
            let file = PathBuf::from(folder).join("discord/openapi.json");
            let text = std::fs::read(&file).unwrap_or_else(|error| {
                panic!(
                    "PRECEDENT_SHARED is set, but {} cannot be read: {error}",
                    file.display()
                )
            });
            let mut all: Value = serde_json::from_slice(&text)
                .unwrap_or_else(|error| panic!("{} is not JSON: {error}", file.display()));
            let schemas = match all.pointer_mut("/components/schemas").map(Value::take) {
                Some(Value::Object(map)) => map,
                _ => panic!("{} has no components.schemas", file.display()),
            };
            Some(Description {
                schemas,
                compiled: Mutex::default(),
            })
        })
        .as_ref()
}

/// Whether bodies are checked against the description in this process.
#[must_use]
pub fn is_checked() -> bool {
    description().is_some()
}

impl Description {
    /// The schema with only the components it reaches: compiling all 539 would take
    /// longer than most tests.
    fn with_reachable(&self, root: &Value) -> Value {
        let mut kept: BTreeMap<String, Value> = BTreeMap::new();
        let mut waiting: BTreeSet<String> = BTreeSet::new();
        references(root, &mut waiting);
        while let Some(name) = waiting.pop_first() {
            if kept.contains_key(&name) {
                continue;
            }
            let Some(schema) = self.schemas.get(&name) else {
                continue;
            };
            references(schema, &mut waiting);
            kept.insert(name, schema.clone());
        }
        let mut root = root.clone();
        if let Value::Object(map) = &mut root {
            map.insert(
                "$schema".to_owned(),
                json!("https://json-schema.org/draft/2020-12/schema"),
            );
            map.insert("components".to_owned(), json!({"schemas": kept}));
        }
        root
    }

    fn validator(&self, key: &str, root: &Value) -> Arc<Validator> {
        let mut compiled = self.compiled.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(validator) = compiled.get(key) {
            return Arc::clone(validator);
        }
        let validator = jsonschema::options()
            .should_validate_formats(false)
            .build(&self.with_reachable(root))
            .unwrap_or_else(|error| panic!("the schema {key} does not compile: {error}"));
        let validator = Arc::new(validator);
        compiled.insert(key.to_owned(), Arc::clone(&validator));
        validator
    }

    fn check(&self, name: &str, body: &Value, at: &str, found: &mut Vec<String>) {
        assert!(
            self.schemas.contains_key(name),
            "Discord's description has no schema {name}"
        );
        let root = json!({"$ref": format!("#/components/schemas/{name}")});
        self.check_root(name, &root, body, at, found);
    }

    fn check_root(&self, key: &str, root: &Value, body: &Value, at: &str, found: &mut Vec<String>) {
        for error in self.validator(key, root).iter_errors(body) {
            let mut said = error.to_string();
            if let Some((cut, _)) = said.char_indices().nth(300) {
                said.truncate(cut);
            }
            found.push(format!("{key} at {at}{}: {said}", error.instance_path()));
        }
    }
}

fn references(schema: &Value, into: &mut BTreeSet<String>) {
    match schema {
        Value::Object(map) => {
            for (key, value) in map {
                match value {
                    Value::String(target) if key == "$ref" => {
                        if let Some(name) = target.strip_prefix("#/components/schemas/") {
                            into.insert(name.to_owned());
                        }
                    }
                    _ => references(value, into),
                }
            }
        }
        Value::Array(list) => list.iter().for_each(|v| references(v, into)),
        _ => {}
    }
}

/// A body as the double understands it: which schema, and which parts of it are
/// checked on their own.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Body {
    CreateMessage,
    EditMessage,
    Followup,
    WebhookEdit,
    Callback,
    ThreadFromMessage,
    Thread,
    ThreadChange,
    Commands,
}

/// What Discord's description has against a body; empty where it is not at hand.
pub(crate) fn complaints(kind: Body, body: &Value) -> Vec<String> {
    let Some(description) = description() else {
        return Vec::new();
    };
    let mut found = Vec::new();
    let mut body = body.clone();
    match kind {
        Body::CreateMessage => message(description, "MessageCreateRequest", &mut body, &mut found),
        Body::EditMessage => {
            message(
                description,
                "MessageEditRequestPartial",
                &mut body,
                &mut found,
            );
        }
        Body::Followup => message(
            description,
            "IncomingWebhookRequestPartial",
            &mut body,
            &mut found,
        ),
        Body::WebhookEdit => message(
            description,
            "IncomingWebhookUpdateRequestPartial",
            &mut body,
            &mut found,
        ),
        Body::Callback => callback(description, &mut body, &mut found),
        Body::ThreadFromMessage => {
            description.check("CreateTextThreadWithMessageRequest", &body, "", &mut found)
        }
        Body::Thread => description.check(
            "CreateTextThreadWithoutMessageRequest",
            &body,
            "",
            &mut found,
        ),
        Body::ThreadChange => {
            description.check("UpdateThreadRequestPartial", &body, "", &mut found);
        }
        Body::Commands => {
            let commands = body.as_array().cloned().unwrap_or_default();
            for (i, mut command) in commands.into_iter().enumerate() {
                if let Some(bits) = command.get_mut("default_member_permissions")
                    && let Some(number) = integer(bits)
                {
                    *bits = json!(number);
                }
                description.check(
                    "ApplicationCommandUpdateRequest",
                    &command,
                    &format!("/{i}"),
                    &mut found,
                );
            }
        }
    }
    found
}

/// What Discord's description has against something the double answers, by the name of
/// the response's schema; for the tests of the double itself.
#[must_use]
pub fn complaints_about_answer(name: &str, answer: &Value) -> Vec<String> {
    let mut found = Vec::new();
    if let Some(description) = description() {
        description.check(name, answer, "", &mut found);
    }
    found
}

fn callback(description: &Description, body: &mut Value, found: &mut Vec<String>) {
    let name = match body.get("type").and_then(integer) {
        Some(4 | 5) => "CreateMessageInteractionCallbackRequest",
        Some(6 | 7) => "UpdateMessageInteractionCallbackRequest",
        Some(8) => "ApplicationCommandAutocompleteCallbackRequest",
        Some(9) => "ModalInteractionCallbackRequest",
        other => {
            found.push(format!("no schema for a callback of type {other:?}"));
            return;
        }
    };
    if let Some(data) = body.get_mut("data")
        && !name.starts_with("Modal")
    {
        ids_to_strings(data);
        take_components(description, data, found);
    }
    description.check(name, body, "", found);
}

fn message(description: &Description, name: &str, body: &mut Value, found: &mut Vec<String>) {
    ids_to_strings(body);
    take_components(description, body, found);
    description.check(name, body, "", found);
}

/// Checks each classic component by its own schema and takes them out of the body.
fn take_components(description: &Description, body: &mut Value, found: &mut Vec<String>) {
    let flags = body.get("flags").and_then(integer).unwrap_or(0);
    if flags & COMPONENTS_V2 != 0 {
        return;
    }
    let Some(map) = body.as_object_mut() else {
        return;
    };
    let Some(Value::Array(rows)) = map.get("components") else {
        return;
    };
    for (i, row) in rows.iter().enumerate() {
        let children = row.get("components").and_then(Value::as_array);
        for (j, child) in children.into_iter().flatten().enumerate() {
            let at = format!("/components/{i}/components/{j}");
            let name = match child.get("type").and_then(integer) {
                Some(2) => "ButtonComponentForMessageRequest",
                Some(3) => "StringSelectComponentForMessageRequest",
                Some(5) => "UserSelectComponentForMessageRequest",
                Some(6) => "RoleSelectComponentForMessageRequest",
                Some(7) => "MentionableSelectComponentForMessageRequest",
                Some(8) => "ChannelSelectComponentForMessageRequest",
                other => {
                    found.push(format!("no schema at {at} for a component {other:?}"));
                    continue;
                }
            };
            let mut child = child.clone();
            if let Some(emoji) = child.get_mut("emoji") {
                id_to_string(emoji, "id");
            }
            description.check(name, &child, &at, found);
        }
    }
    map.remove("components");
}

fn id_to_string(value: &mut Value, key: &str) {
    if let Some(id) = value.get_mut(key)
        && let Value::Number(n) = id
    {
        *id = json!(n.to_string());
    }
}

fn ids_to_strings(body: &mut Value) {
    if let Some(Value::Array(list)) = body.get_mut("attachments") {
        list.iter_mut().for_each(|a| id_to_string(a, "id"));
    }
    if let Some(reference) = body.get_mut("message_reference") {
        for key in ["message_id", "channel_id", "guild_id"] {
            id_to_string(reference, key);
        }
    }
    if let Some(allowed) = body.get_mut("allowed_mentions") {
        for key in ["users", "roles"] {
            if let Some(Value::Array(list)) = allowed.get_mut(key) {
                for id in list {
                    if let Value::Number(n) = id {
                        *id = json!(n.to_string());
                    }
                }
            }
        }
    }
}

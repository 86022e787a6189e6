//! Answers to interactions: the callback, and the webhook routes that follow it.

use serde_json::{Value, json};

use super::messages::{
    answer_with, attachments, changes, embeds, is_empty, not_archived, not_locked,
};
use super::{Answer, Answered, Call, flags, id, list, settle, text};
use crate::refusal::Refusal;
use crate::rules::{
    COMPONENTS_V2, EPHEMERAL, Form, MessageBody, SUPPRESS_EMBEDS, SUPPRESS_NOTIFICATIONS, integer,
};
use crate::world::{Author, Interaction, LOADING, NewMessage, Response, World, is_ephemeral};

const COMMAND: u64 = 2;
const COMPONENT: u64 = 3;
const AUTOCOMPLETE: u64 = 4;
const MODAL: u64 = 5;

pub(super) fn callback(w: &mut World, call: &Call, interaction: u64, token: &str) -> Answered {
    let Some(found) = w
        .interactions
        .get(&interaction)
        .filter(|i| i.token == token)
        .cloned()
    else {
        return Err(Refusal::unknown_interaction().because("never issued"));
    };
    if found.response.is_some() {
        return Err(Refusal::already_acknowledged().because(&found.title));
    }
    let waited = call
        .arrived_milliseconds
        .saturating_sub(found.created_milliseconds);
    if waited > w.response_limit_milliseconds {
        return Err(Refusal::unknown_interaction()
            .because(&format!("{} was answered after {waited} ms", found.title)));
    }
    let body = &call.body;
    let kind = body.get("type").and_then(integer).unwrap_or(0);
    check_callback(w, call, &found, kind)?;
    let data = body.get("data").cloned().unwrap_or(json!({}));
    let response = match kind {
        4 => {
            let message = respond_with_message(w, call, &found, &data)?;
            set_original(w, interaction, Some(message));
            Response::Message
        }
        5 => {
            room_for_a_message(w, &found, flags(&data))?;
            let mut new = answer_message(w, &found, flags(&data) & EPHEMERAL);
            new.flags |= LOADING;
            let message = w.post(new);
            set_original(w, interaction, Some(message));
            Response::Deferred
        }
        6 => {
            set_original(w, interaction, found.source);
            Response::DeferredUpdate
        }
        7 => {
            let Some(source) = found.source else {
                return Err(Refusal::unknown_message());
            };
            edit_answer(w, call, &data, "data", source)?;
            set_original(w, interaction, Some(source));
            Response::Update
        }
        8 => Response::Choices(list(&data, "choices")),
        _ => Response::Modal(data.clone()),
    };
    if let Some(found) = w.interactions.get_mut(&interaction) {
        found.response = Some(response);
        found.responded = Some(call.arrived);
    }
    w.announce(
        "INTERACTION_RESPONSE",
        json!({"id": interaction.to_string(), "type": kind, "data": data}),
        Some(found.user),
    );
    if call.query.get("with_response").map(String::as_str) == Some("true") {
        let message = w
            .interactions
            .get(&interaction)
            .and_then(|i| i.original)
            .and_then(|m| w.messages.get(&m))
            .map(|m| w.message_json(m));
        let message_id = message.as_ref().and_then(|m| m.get("id").cloned());
        return Ok(Answer::ok(json!({
            "interaction": {
                "id": interaction.to_string(), "type": found.kind,
                "response_message_id": message_id,
                "response_message_loading": kind == 5,
                "response_message_ephemeral": is_ephemeral(flags(&data)),
            },
            "resource": {"type": kind, "message": message},
        })));
    }
    Ok(Answer::empty())
}

fn set_original(w: &mut World, interaction: u64, message: Option<u64>) {
    if let Some(found) = w.interactions.get_mut(&interaction) {
        found.original = message;
    }
}

/// The type against the kind of interaction, and the form of `data`.
fn check_callback(
    w: &mut World,
    call: &Call,
    interaction: &Interaction,
    kind: u64,
) -> Result<(), Refusal> {
    let body = &call.body;
    let mut form = Form::default();
    if let Some(map) = body.as_object() {
        for key in map
            .keys()
            .filter(|k| !["type", "data"].contains(&k.as_str()))
        {
            form.unknown.push(key.clone());
        }
    }
    let fits = match (interaction.kind, kind) {
        (COMMAND, 4 | 5 | 9) | (COMPONENT, 4..=7 | 9) | (AUTOCOMPLETE, 8) | (MODAL, 4 | 5) => true,
        (MODAL, 6 | 7) => interaction.source.is_some(),
        _ => false,
    };
    if !fits {
        form.error(
            "type",
            "INTERACTION_TYPE_INVALID",
            format!("callback type {kind} does not answer {}", interaction.title),
        );
        return settle(w, call, form);
    }
    let data = body.get("data").cloned().unwrap_or(Value::Null);
    match kind {
        4 | 7 => {
            if data.is_null() {
                form.error("data", "BASE_TYPE_REQUIRED", "This field is required");
            } else {
                form.message("data", &data, MessageBody::Callback, call.files.len());
            }
            let known = EPHEMERAL | SUPPRESS_EMBEDS | SUPPRESS_NOTIFICATIONS | COMPONENTS_V2;
            if flags(&data) & !known != 0 {
                form.unknown
                    .push(format!("data.flags {}", flags(&data) & !known));
            }
        }
        5 => {
            let others: Vec<String> = data
                .as_object()
                .map(|map| map.keys().filter(|k| *k != "flags").cloned().collect())
                .unwrap_or_default();
            for key in others {
                form.unknown.push(format!("data.{key} of a deferral"));
            }
            if flags(&data) & !EPHEMERAL != 0 {
                form.unknown.push("data.flags of a deferral".to_owned());
            }
        }
        8 => form.choices("data", &data),
        9 => form.modal("data", &data),
        _ => {}
    }
    settle(w, call, form)
}

/// Whether a visible answer fits where the interaction came from.
fn room_for_a_message(w: &World, interaction: &Interaction, flags: u64) -> Result<(), Refusal> {
    if !w.channels.contains_key(&interaction.channel) {
        return Err(Refusal::unknown_channel());
    }
    if is_ephemeral(flags) {
        return Ok(());
    }
    not_locked(w, interaction.channel)
}

fn answer_message(w: &World, interaction: &Interaction, flags: u64) -> NewMessage {
    let mut new = NewMessage::in_channel(interaction.channel, Author::User(w.bot));
    new.kind = match interaction.kind {
        COMMAND => 20,
        COMPONENT => 19,
        _ => 0,
    };
    if let (COMPONENT, Some(source)) = (interaction.kind, interaction.source) {
        new.reference = Some((interaction.channel, source));
    }
    new.interaction = Some(interaction.id);
    new.webhook = Some(w.bot);
    new.flags = flags;
    new.ephemeral_for = is_ephemeral(flags).then_some(interaction.user);
    new
}

fn respond_with_message(
    w: &mut World,
    call: &Call,
    interaction: &Interaction,
    data: &Value,
) -> Result<u64, Refusal> {
    let known = EPHEMERAL | SUPPRESS_EMBEDS | SUPPRESS_NOTIFICATIONS | COMPONENTS_V2;
    let flags = flags(data) & known;
    room_for_a_message(w, interaction, flags)?;
    let (content, embeds, components) = (
        text(data, "content"),
        embeds(data),
        list(data, "components"),
    );
    if is_empty(&content, &embeds, &components, &[]) && call.files.is_empty() {
        return Err(Refusal::empty_message());
    }
    let path = if call.path.starts_with("/interactions/") {
        "data"
    } else {
        ""
    };
    let files = attachments(
        w,
        call,
        data,
        path,
        interaction.channel,
        &[],
        is_ephemeral(flags),
    )?
    .unwrap_or_default();
    let mut new = answer_message(w, interaction, flags);
    new.content = content;
    new.embeds = embeds;
    new.components = components;
    new.attachments = files;
    new.allowed_mentions = data.get("allowed_mentions").cloned();
    Ok(w.post(new))
}

/// An answer is edited like a message, except that nobody asks whose it is.
fn edit_answer(
    w: &mut World,
    call: &Call,
    body: &Value,
    path: &str,
    message: u64,
) -> Result<(), Refusal> {
    let Some(old) = w.messages.get(&message).filter(|m| !m.deleted) else {
        return Err(Refusal::unknown_message());
    };
    let channel = old.channel;
    if !w.channels.contains_key(&channel) {
        return Err(Refusal::unknown_channel());
    }
    if old.ephemeral_for.is_none() {
        not_archived(w, channel)?;
    }
    let edit = changes(w, call, body, path, message)?;
    w.edit(message, edit);
    Ok(())
}

pub(super) fn webhook(
    w: &mut World,
    call: &Call,
    application: u64,
    token: &str,
    rest: &[&str],
) -> Answered {
    if application != w.bot {
        return Err(Refusal {
            violation: Some(format!("10015 webhook of {application}")),
            ..Refusal::unknown_webhook()
        });
    }
    let Some(interaction) = w.interactions.values().find(|i| i.token == token).cloned() else {
        return Err(Refusal {
            violation: Some("50027 a token that was never issued".to_owned()),
            ..Refusal::invalid_webhook_token()
        });
    };
    let age = w
        .clock
        .now_milliseconds()
        .saturating_sub(interaction.created_milliseconds);
    if age > w.token_life_milliseconds {
        return Err(Refusal::invalid_webhook_token());
    }
    if interaction.response.is_none() {
        return Err(Refusal {
            violation: Some(format!(
                "10015 {} is followed up before it was answered",
                interaction.title
            )),
            ..Refusal::unknown_webhook()
        });
    }
    match (call.method.as_str(), rest) {
        ("POST", []) => followup(w, call, &interaction),
        (method @ ("GET" | "PATCH" | "DELETE"), ["messages", message]) => {
            let message = if *message == "@original" {
                interaction.original.ok_or_else(Refusal::unknown_message)?
            } else {
                id(message)?
            };
            let own =
                interaction.original == Some(message) || interaction.followups.contains(&message);
            let there = w.messages.get(&message).is_some_and(|m| !m.deleted);
            if !own || !there {
                return Err(Refusal::unknown_message());
            }
            match method {
                "GET" => answer_with(w, message),
                "DELETE" => {
                    w.delete_message(message);
                    Ok(Answer::empty())
                }
                _ => {
                    let mut form = Form::default();
                    form.message("", &call.body, MessageBody::WebhookEdit, call.files.len());
                    settle(w, call, form)?;
                    edit_answer(w, call, &call.body, "", message)?;
                    answer_with(w, message)
                }
            }
        }
        _ => Err(Refusal::no_such_route()),
    }
}

fn followup(w: &mut World, call: &Call, interaction: &Interaction) -> Answered {
    let known = ["wait", "thread_id", "with_components"];
    for key in call.query.keys().filter(|k| !known.contains(&k.as_str())) {
        w.violation(format!("POST {}: unknown parameter {key}", call.path));
    }
    let mut form = Form::default();
    form.message("", &call.body, MessageBody::Followup, call.files.len());
    for key in ["username", "avatar_url", "thread_name"] {
        if call.body.get(key).is_some_and(|v| !v.is_null()) {
            form.unknown
                .push(format!("{key} (an answer to an interaction has none)"));
        }
    }
    settle(w, call, form)?;
    // The first one after a deferral is the answer that was waited for.
    let waiting = interaction
        .original
        .filter(|_| interaction.response == Some(Response::Deferred))
        .filter(|m| {
            w.messages
                .get(m)
                .is_some_and(|m| m.is_loading() && !m.deleted)
        });
    if let Some(original) = waiting {
        let mut body = call.body.clone();
        if let Some(map) = body.as_object_mut() {
            map.remove("flags");
        }
        edit_answer(w, call, &body, "", original)?;
        return answer_with(w, original);
    }
    let message = respond_with_message(w, call, interaction, &call.body)?;
    if let Some(found) = w.interactions.get_mut(&interaction.id) {
        found.followups.push(message);
    }
    answer_with(w, message)
}

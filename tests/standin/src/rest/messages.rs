//! Messages: what all routes that write one share, and the channel routes.

use serde_json::{Value, json};

use super::{Answer, Answered, Call, decode, flags, id, list, settle, text};
use crate::permissions as may;
use crate::refusal::Refusal;
use crate::rules::{Form, MessageBody, embed_is_empty, integer, is_emoji};
use crate::world::{Attachment, Audience, Author, MessageEdit, NewMessage, World};

/// Edits of messages older than an hour that are taken within an hour. Discord has
/// such a limit (30046) and does not say the number; this one is ours.
const OLD_EDITS_PER_HOUR: usize = 10;

/// Embeds as Discord gives them back.
pub(super) fn embeds(body: &Value) -> Vec<Value> {
    list(body, "embeds")
        .into_iter()
        .map(|mut embed| {
            if let Some(map) = embed.as_object_mut() {
                map.insert("type".to_owned(), json!("rich"));
                map.retain(|_, v| !v.is_null());
            }
            for key in ["title", "description"] {
                if let Some(Value::String(text)) = embed.get_mut(key) {
                    *text = text.trim().to_owned();
                }
            }
            if let Some(Value::Array(fields)) = embed.get_mut("fields") {
                for field in fields {
                    if field.get("inline").is_none_or(Value::is_null) {
                        field["inline"] = json!(false);
                    }
                }
            }
            embed
        })
        .collect()
}

/// Files of a request become attachments; kept ones stay. `None`: nothing was said
/// about attachments and nothing came.
pub(super) fn attachments(
    w: &mut World,
    call: &Call,
    body: &Value,
    path: &str,
    channel: u64,
    existing: &[u64],
    ephemeral: bool,
) -> Result<Option<Vec<u64>>, Refusal> {
    let named = body.get("attachments").and_then(Value::as_array);
    if named.is_none() && call.files.is_empty() {
        return Ok(None);
    }
    let mut kept: Vec<u64> = if named.is_none() {
        existing.to_vec()
    } else {
        Vec::new()
    };
    let mut form = Form::default();
    let mut described: Vec<(u64, &Value)> = Vec::new();
    for (i, attachment) in named.into_iter().flatten().enumerate() {
        let Some(id) = attachment.get("id").and_then(integer) else {
            continue;
        };
        if existing.contains(&id) {
            kept.push(id);
        } else if call.files.iter().any(|f| f.number == id) {
            described.push((id, attachment));
        } else {
            let at = if path.is_empty() {
                format!("attachments.{i}")
            } else {
                format!("{path}.attachments.{i}")
            };
            form.error(
                &at,
                "ATTACHMENT_NOT_FOUND",
                format!("The attachment {id} was not found"),
            );
        }
    }
    settle(w, call, form)?;
    for file in &call.files {
        let id = w.new_id();
        let about = described.iter().find(|(n, _)| *n == file.number);
        let said = |key: &str| {
            about
                .and_then(|(_, a)| a.get(key))
                .and_then(Value::as_str)
                .map(str::to_owned)
        };
        let filename = said("filename").unwrap_or_else(|| file.name.clone());
        let content_type = file
            .content_type
            .clone()
            .filter(|k| k != "application/octet-stream")
            .or_else(|| guessed_type(&filename));
        w.attachments.insert(
            id,
            Attachment {
                id,
                channel,
                title: filename.clone(),
                filename: safe_filename(&filename),
                content_type,
                description: said("description"),
                bytes: file.bytes.clone(),
                ephemeral,
            },
        );
        kept.push(id);
    }
    Ok(Some(kept))
}

/// Letters, digits, dots, dashes and underscores stay, as in Discord's links.
pub(crate) fn safe_filename(name: &str) -> String {
    name.chars()
        .map(|c| {
            if c.is_ascii_alphanumeric() || matches!(c, '.' | '-' | '_') {
                c
            } else {
                '_'
            }
        })
        .collect()
}

/// Discord guesses by the ending and leaves the field out where it does not know.
pub(crate) fn guessed_type(filename: &str) -> Option<String> {
    let kind = match filename.rsplit('.').next()? {
        "txt" | "log" => "text/plain; charset=utf-8",
        "md" => "text/markdown; charset=utf-8",
        "json" => "application/json; charset=utf-8",
        "png" => "image/png",
        "csv" => "text/csv; charset=utf-8",
        _ => return None,
    };
    Some(kind.to_owned())
}

/// Whether anything would be shown.
pub(super) fn is_empty(
    content: &str,
    embeds: &[Value],
    components: &[Value],
    attachments: &[u64],
) -> bool {
    content.trim().is_empty()
        && embeds.iter().all(embed_is_empty)
        && components.is_empty()
        && attachments.is_empty()
}

/// A channel that the bot sees.
pub(super) fn visible(w: &World, channel: u64) -> Result<(), Refusal> {
    if !w.channels.contains_key(&channel) {
        return Err(Refusal::unknown_channel());
    }
    if !w.sees(w.bot, channel) {
        return Err(Refusal::missing_access());
    }
    Ok(())
}

/// A permission of the bot in a channel that it sees.
pub(super) fn allowed(w: &World, channel: u64, permission: u64) -> Result<(), Refusal> {
    visible(w, channel)?;
    if w.may(w.bot, channel, permission) {
        Ok(())
    } else {
        Err(Refusal::missing_permissions())
    }
}

fn archived_or_locked(w: &World, channel: u64) -> (bool, bool) {
    w.channels
        .get(&channel)
        .and_then(|c| c.thread.as_ref())
        .map_or((false, false), |t| (t.archived, t.locked))
}

/// Nothing in an archived thread is edited, deleted or reacted to.
pub(super) fn not_archived(w: &World, channel: u64) -> Result<(), Refusal> {
    if archived_or_locked(w, channel).0 {
        Err(Refusal::archived_thread())
    } else {
        Ok(())
    }
}

/// A locked thread takes messages only from who manages threads.
pub(super) fn not_locked(w: &World, channel: u64) -> Result<(), Refusal> {
    if archived_or_locked(w, channel).1 && !w.may(w.bot, channel, may::MANAGE_THREADS) {
        Err(Refusal::locked_thread())
    } else {
        Ok(())
    }
}

pub(super) fn serve(w: &mut World, call: &Call, channel: u64, rest: &[&str]) -> Answered {
    match (call.method.as_str(), rest) {
        ("GET", []) => many(w, call, channel),
        ("POST", []) => create(w, call, channel),
        ("GET", [message]) => {
            let message = one(w, channel, id(message)?)?;
            let message = w
                .messages
                .get(&message)
                .cloned()
                .ok_or_else(Refusal::unknown_message)?;
            Ok(Answer::ok(
                w.message_json_for_bot(&message, w.message_content),
            ))
        }
        ("PATCH", [message]) => edit(w, call, channel, id(message)?),
        ("DELETE", [message]) => {
            let message = find(w, channel, id(message)?)?;
            not_archived(w, channel)?;
            let own = is_own(w, message);
            if !own && !w.may(w.bot, channel, may::MANAGE_MESSAGES) {
                return Err(Refusal::missing_permissions());
            }
            w.delete_message(message);
            Ok(Answer::empty())
        }
        ("POST", [message, "threads"]) => {
            super::channels::thread_from(w, call, channel, id(message)?)
        }
        ("PUT" | "DELETE", [message, "reactions", emoji, "@me"]) => {
            react(w, call, channel, id(message)?, &decode(emoji))
        }
        _ => Err(Refusal::no_such_route()),
    }
}

/// A message that is there for the bot: not deleted, not for one person only.
fn find(w: &World, channel: u64, message: u64) -> Result<u64, Refusal> {
    visible(w, channel)?;
    w.messages
        .get(&message)
        .filter(|m| m.channel == channel && !m.deleted && m.ephemeral_for.is_none())
        .map(|m| m.id)
        .ok_or_else(Refusal::unknown_message)
}

fn one(w: &World, channel: u64, message: u64) -> Result<u64, Refusal> {
    visible(w, channel)?;
    allowed(w, channel, may::READ_MESSAGE_HISTORY)?;
    find(w, channel, message)
}

fn is_own(w: &World, message: u64) -> bool {
    w.messages
        .get(&message)
        .is_some_and(|m| matches!(m.author, Author::User(u) if u == w.bot))
}

fn many(w: &mut World, call: &Call, channel: u64) -> Answered {
    visible(w, channel)?;
    let known = ["limit", "after", "before", "around"];
    for key in call.query.keys().filter(|k| !known.contains(&k.as_str())) {
        w.violation(format!("GET {}: unknown parameter {key}", call.path));
    }
    let mut form = Form::default();
    let mut number = |key: &str| match call.query.get(key) {
        None => None,
        Some(text) => {
            let number = text.parse::<u64>().ok();
            if number.is_none() {
                form.error(
                    key,
                    "NUMBER_TYPE_COERCE",
                    format!("Value \"{text}\" is not int."),
                );
            }
            number
        }
    };
    let limit = number("limit").unwrap_or(50);
    let (after, before, around) = (number("after"), number("before"), number("around"));
    if !(1..=100).contains(&limit) {
        form.error(
            "limit",
            "NUMBER_TYPE_MAX",
            "int value should be between 1 and 100.",
        );
    }
    if [after, before, around].iter().flatten().count() > 1 {
        form.error(
            "before",
            "BASE_TYPE_CHOICES",
            "before, after and around are mutually exclusive.",
        );
    }
    settle(w, call, form)?;
    if !w.may(w.bot, channel, may::READ_MESSAGE_HISTORY) {
        return Ok(Answer::ok(json!([])));
    }
    let limit = usize::try_from(limit).unwrap_or(100);
    let all = w.visible_messages(crate::ids::ChannelId(channel), None);
    let mut chosen: Vec<_> = match (after, before, around) {
        (Some(after), _, _) => all
            .into_iter()
            .filter(|m| m.id > after)
            .take(limit)
            .collect(),
        (_, Some(before), _) => {
            let older: Vec<_> = all.into_iter().filter(|m| m.id < before).collect();
            let skip = older.len().saturating_sub(limit);
            older.into_iter().skip(skip).collect()
        }
        (_, _, Some(around)) => {
            let at = all.partition_point(|m| m.id < around);
            let from = at.saturating_sub(limit / 2);
            all.into_iter().skip(from).take(limit).collect()
        }
        _ => {
            let skip = all.len().saturating_sub(limit);
            all.into_iter().skip(skip).collect()
        }
    };
    // Newest first, whichever way they were chosen.
    chosen.reverse();
    let messages: Vec<Value> = chosen
        .into_iter()
        .map(|m| w.message_json_for_bot(m, w.message_content))
        .collect();
    Ok(Answer::ok(json!(messages)))
}

fn create(w: &mut World, call: &Call, channel: u64) -> Answered {
    visible(w, channel)?;
    let in_thread = w.channels.get(&channel).is_some_and(|c| c.thread.is_some());
    let send = if in_thread {
        may::SEND_MESSAGES_IN_THREADS
    } else {
        may::SEND_MESSAGES
    };
    allowed(w, channel, send)?;
    let body = &call.body;
    let mut form = Form::default();
    form.message("", body, MessageBody::Create, call.files.len());
    settle(w, call, form)?;
    let stray = flags(body)
        & !(crate::rules::SUPPRESS_EMBEDS
            | crate::rules::SUPPRESS_NOTIFICATIONS
            | crate::rules::COMPONENTS_V2);
    if stray != 0 {
        w.violation(format!("POST {}: flags {stray} cannot be set", call.path));
    }
    let embeds = embeds(body);
    if !embeds.is_empty() {
        allowed(w, channel, may::EMBED_LINKS)?;
    }
    if !call.files.is_empty() {
        allowed(w, channel, may::ATTACH_FILES)?;
    }
    let reference = reply_target(w, call, channel)?;
    not_locked(w, channel)?;
    if let Some(nonce) = body.get("nonce").filter(|n| !n.is_null())
        && body.get("enforce_nonce").and_then(Value::as_bool) == Some(true)
        && let Some(same) = w
            .messages
            .values()
            .find(|m| m.channel == channel && m.nonce.as_ref() == Some(nonce))
            .cloned()
    {
        return Ok(Answer::ok(w.message_json(&same)));
    }
    let components = list(body, "components");
    let content = text(body, "content");
    if is_empty(&content, &embeds, &components, &[]) && call.files.is_empty() {
        return Err(Refusal::empty_message());
    }
    let attachments = attachments(w, call, body, "", channel, &[], false)?.unwrap_or_default();
    let mut new = NewMessage::in_channel(channel, Author::User(w.bot));
    new.kind = if reference.is_some() { 19 } else { 0 };
    new.content = content;
    new.embeds = embeds;
    new.components = components;
    new.attachments = attachments;
    new.flags = flags(body) & !stray;
    new.allowed_mentions = body.get("allowed_mentions").cloned();
    new.reference = reference;
    new.nonce = body.get("nonce").filter(|n| !n.is_null()).cloned();
    let message = w.post(new);
    answer_with(w, message)
}

/// The message itself, as its author sees it.
pub(super) fn answer_with(w: &World, message: u64) -> Answered {
    w.messages
        .get(&message)
        .map(|m| Answer::ok(w.message_json(m)))
        .ok_or_else(Refusal::unknown_message)
}

fn reply_target(w: &World, call: &Call, channel: u64) -> Result<Option<(u64, u64)>, Refusal> {
    let Some(reference) = call.body.get("message_reference").filter(|r| !r.is_null()) else {
        return Ok(None);
    };
    if !w.may(w.bot, channel, may::READ_MESSAGE_HISTORY) {
        return Err(Refusal::reply_without_history());
    }
    let target = reference.get("message_id").and_then(integer).unwrap_or(0);
    let there = w
        .messages
        .get(&target)
        .is_some_and(|m| m.channel == channel && !m.deleted && m.ephemeral_for.is_none());
    if there {
        return Ok(Some((channel, target)));
    }
    if reference.get("fail_if_not_exists").and_then(Value::as_bool) == Some(false) {
        return Ok(None);
    }
    let mut form = Form::default();
    form.error(
        "message_reference",
        "REPLIES_UNKNOWN_MESSAGE",
        "Unknown message",
    );
    // Somebody may have deleted it meanwhile: no fault of the bot's.
    Err(Refusal {
        violation: None,
        ..Refusal::invalid_form(&form.errors)
    })
}

/// What is there already, with the changes of a body laid over it.
pub(super) fn changes(
    w: &mut World,
    call: &Call,
    body: &Value,
    path: &str,
    message: u64,
) -> Result<MessageEdit, Refusal> {
    let Some(old) = w.messages.get(&message).cloned() else {
        return Err(Refusal::unknown_message());
    };
    let attachments = attachments(
        w,
        call,
        body,
        path,
        old.channel,
        &old.attachments,
        old.ephemeral_for.is_some(),
    )?;
    let settable = crate::rules::SUPPRESS_EMBEDS | crate::rules::COMPONENTS_V2;
    let stray = flags(body) & !settable;
    // A body may repeat the flags that the message has.
    if stray & !old.flags != 0 {
        w.violation(format!(
            "{} {}: flags {stray} cannot be set by an edit",
            call.method, call.path
        ));
    }
    let edit = MessageEdit {
        content: body.get("content").map(|_| text(body, "content")),
        embeds: body.get("embeds").map(|_| embeds(body)),
        components: body.get("components").map(|_| list(body, "components")),
        attachments,
        flags: body
            .get("flags")
            .filter(|f| !f.is_null())
            .map(|_| flags(body)),
        allowed_mentions: body.get("allowed_mentions").cloned(),
    };
    let nothing_left = is_empty(
        edit.content.as_ref().unwrap_or(&old.content),
        edit.embeds.as_ref().unwrap_or(&old.embeds),
        edit.components.as_ref().unwrap_or(&old.components),
        edit.attachments.as_ref().unwrap_or(&old.attachments),
    );
    if nothing_left {
        return Err(Refusal::empty_message());
    }
    Ok(edit)
}

fn edit(w: &mut World, call: &Call, channel: u64, message: u64) -> Answered {
    let message = find(w, channel, message)?;
    let mut form = Form::default();
    form.message("", &call.body, MessageBody::Edit, call.files.len());
    settle(w, call, form)?;
    if !is_own(w, message) {
        return Err(Refusal::not_yours_to_edit());
    }
    not_archived(w, channel)?;
    let now = w.clock.now_milliseconds();
    let Some(old) = w.messages.get(&message) else {
        return Err(Refusal::unknown_message());
    };
    if old.is_system() {
        return Err(Refusal::system_message());
    }
    let recent = old
        .old_edits_milliseconds
        .iter()
        .filter(|at| now.saturating_sub(**at) < 3_600_000)
        .count();
    if recent >= OLD_EDITS_PER_HOUR {
        return Err(Refusal::too_many_old_edits());
    }
    let edit = changes(w, call, &call.body, "", message)?;
    w.edit(message, edit);
    answer_with(w, message)
}

fn react(w: &mut World, call: &Call, channel: u64, message: u64, emoji: &str) -> Answered {
    let message = find(w, channel, message)?;
    not_archived(w, channel)?;
    let custom = emoji
        .split_once(':')
        .is_some_and(|(_, id)| id.parse::<u64>().is_ok());
    if custom || !is_emoji(emoji) {
        return Err(Refusal::unknown_emoji().because(emoji));
    }
    let bot = w.bot;
    let adding = call.method == "PUT";
    if adding {
        allowed(w, channel, may::READ_MESSAGE_HISTORY)?;
        let there = w
            .messages
            .get(&message)
            .is_some_and(|m| m.reactions.contains_key(emoji));
        if !there {
            allowed(w, channel, may::ADD_REACTIONS)?;
        }
    }
    let Some(found) = w.messages.get_mut(&message) else {
        return Err(Refusal::unknown_message());
    };
    let people = found.reactions.entry(emoji.to_owned()).or_default();
    let changed = if adding {
        people.insert(bot)
    } else {
        people.remove(&bot)
    };
    if people.is_empty() {
        found.reactions.remove(emoji);
    }
    if changed {
        let guild = w.channels.get(&channel).map_or(0, |c| c.guild);
        let name = if adding {
            "MESSAGE_REACTION_ADD"
        } else {
            "MESSAGE_REACTION_REMOVE"
        };
        let data = json!({
            "user_id": bot.to_string(), "channel_id": channel.to_string(),
            "message_id": message.to_string(), "guild_id": guild.to_string(),
            "emoji": {"id": null, "name": emoji}, "burst": false, "type": 0,
            "member": w.member_json(guild, bot, true),
        });
        w.tell(
            name,
            data,
            Audience::ChannelWith(channel, crate::gateway::GUILD_MESSAGE_REACTIONS),
        );
    }
    Ok(Answer::empty())
}

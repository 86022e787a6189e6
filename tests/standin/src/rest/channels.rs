//! Guilds, channels, threads.

use serde_json::{Value, json};

use super::messages::{allowed, visible};
use super::{Answer, Answered, Call, id, messages, settle};
use crate::clock::iso8601;
use crate::permissions as may;
use crate::refusal::Refusal;
use crate::rules::{Form, integer};
use crate::world::{Audience, World};

/// Renames of one channel within [`RENAME_WINDOW_MILLISECONDS`].
const RENAMES: usize = 2;
const RENAME_WINDOW_MILLISECONDS: u64 = 10 * 60 * 1000;

pub(super) fn of_guild(w: &World, guild: u64, rest: &[&str]) -> Answered {
    let bot = w.bot;
    let Some(found) = w.guilds.get(&guild) else {
        return Err(Refusal::unknown_guild());
    };
    if !found.members.contains_key(&bot) {
        return Err(Refusal::missing_access());
    }
    match rest {
        [] => Ok(Answer::ok(w.guild_json(found))),
        ["channels"] => {
            let channels: Vec<Value> = w
                .channels
                .values()
                .filter(|c| c.guild == guild && c.thread.is_none())
                .map(|c| w.channel_json(c))
                .collect();
            Ok(Answer::ok(json!(channels)))
        }
        ["roles"] => {
            let roles: Vec<Value> = found.roles.values().map(World::role_json).collect();
            Ok(Answer::ok(json!(roles)))
        }
        ["members", member] => {
            let member = id(member)?;
            if !w.users.contains_key(&member) {
                return Err(Refusal::unknown_user());
            }
            if !found.members.contains_key(&member) {
                return Err(Refusal::unknown_member());
            }
            Ok(Answer::ok(w.member_json(guild, member, true)))
        }
        ["threads", "active"] => {
            let threads: Vec<_> = w
                .channels
                .values()
                .filter(|c| c.guild == guild && w.sees(bot, c.id))
                .filter(|c| c.thread.as_ref().is_some_and(|t| !t.archived))
                .collect();
            Ok(Answer::ok(thread_list(w, &threads, false)))
        }
        _ => Err(Refusal::no_such_route()),
    }
}

fn thread_list(w: &World, threads: &[&crate::world::Channel], has_more: bool) -> Value {
    let members: Vec<Value> = threads
        .iter()
        .filter(|c| {
            c.thread
                .as_ref()
                .is_some_and(|t| t.members.contains(&w.bot))
        })
        .map(|c| member_of(w, c.id, w.bot))
        .collect();
    let threads: Vec<Value> = threads.iter().map(|c| w.channel_json(c)).collect();
    json!({"threads": threads, "members": members, "has_more": has_more})
}

fn member_of(w: &World, thread: u64, user: u64) -> Value {
    json!({
        "id": thread.to_string(), "user_id": user.to_string(),
        "join_timestamp": iso8601(w.clock.now_milliseconds()), "flags": 0,
    })
}

pub(super) fn serve(w: &mut World, call: &Call, channel: u64, rest: &[&str]) -> Answered {
    match (call.method.as_str(), rest) {
        (_, ["messages", rest @ ..]) => messages::serve(w, call, channel, rest),
        ("GET", []) => {
            visible(w, channel)?;
            w.channels
                .get(&channel)
                .map(|c| Answer::ok(w.channel_json(c)))
                .ok_or_else(Refusal::unknown_channel)
        }
        ("PATCH", []) => change(w, call, channel),
        ("DELETE", []) => {
            visible(w, channel)?;
            let thread = w.channels.get(&channel).is_some_and(|c| c.thread.is_some());
            let needed = if thread {
                may::MANAGE_THREADS
            } else {
                may::MANAGE_CHANNELS
            };
            allowed(w, channel, needed)?;
            let json = w.channels.get(&channel).map(|c| w.channel_json(c));
            w.delete_channel(channel);
            Ok(Answer::ok(json.unwrap_or_default()))
        }
        ("POST", ["threads"]) => thread_alone(w, call, channel),
        ("POST", ["typing"]) => typing(w, channel),
        ("GET", ["threads", "archived", which @ ("public" | "private")]) => {
            archived(w, channel, *which == "private")
        }
        ("GET", ["thread-members"]) => {
            let members = thread(w, channel)?.members.clone();
            let members: Vec<Value> = members.iter().map(|u| member_of(w, channel, *u)).collect();
            Ok(Answer::ok(json!(members)))
        }
        (_, ["thread-members", member]) => {
            let user = if *member == "@me" { w.bot } else { id(member)? };
            thread_member(w, call, channel, user)
        }
        _ => Err(Refusal::no_such_route()),
    }
}

fn thread(w: &World, channel: u64) -> Result<&crate::world::Thread, Refusal> {
    visible(w, channel)?;
    w.channels
        .get(&channel)
        .and_then(|c| c.thread.as_ref())
        .ok_or_else(Refusal::wrong_channel_type)
}

fn archived(w: &World, channel: u64, private: bool) -> Answered {
    visible(w, channel)?;
    allowed(w, channel, may::READ_MESSAGE_HISTORY)?;
    if private {
        allowed(w, channel, may::MANAGE_THREADS)?;
    }
    let threads: Vec<_> = w
        .channels
        .values()
        .filter(|c| {
            c.thread
                .as_ref()
                .is_some_and(|t| t.parent == channel && t.archived && t.private == private)
        })
        .collect();
    Ok(Answer::ok(thread_list(w, &threads, false)))
}

fn thread_member(w: &mut World, call: &Call, channel: u64, user: u64) -> Answered {
    let (joined, owner) = {
        let thread = thread(w, channel)?;
        (thread.members.contains(&user), thread.owner)
    };
    match call.method.as_str() {
        "GET" => {
            if joined {
                Ok(Answer::ok(member_of(w, channel, user)))
            } else {
                Err(Refusal::unknown_member())
            }
        }
        "PUT" => {
            messages::not_archived(w, channel)?;
            if user != w.bot {
                allowed(w, channel, may::SEND_MESSAGES_IN_THREADS)?;
                let parent = thread(w, channel)?.parent;
                if !w.sees(user, parent) {
                    return Err(Refusal::missing_access());
                }
            }
            if !joined {
                set_member(w, channel, user, true);
            }
            Ok(Answer::empty())
        }
        "DELETE" => {
            messages::not_archived(w, channel)?;
            if user != w.bot && owner != w.bot {
                allowed(w, channel, may::MANAGE_THREADS)?;
            }
            if joined {
                set_member(w, channel, user, false);
            }
            Ok(Answer::empty())
        }
        _ => Err(Refusal::no_such_route()),
    }
}

fn set_member(w: &mut World, channel: u64, user: u64, joined: bool) {
    if let Some(thread) = w.channels.get_mut(&channel).and_then(|c| c.thread.as_mut()) {
        if joined {
            thread.members.insert(user);
        } else {
            thread.members.remove(&user);
        }
    }
    if joined {
        w.tell_thread_members(channel, &[user], &[]);
    } else {
        w.tell_thread_members(channel, &[], &[user]);
    }
}

fn typing(w: &mut World, channel: u64) -> Answered {
    let in_thread = w.channels.get(&channel).is_some_and(|c| c.thread.is_some());
    let needed = if in_thread {
        may::SEND_MESSAGES_IN_THREADS
    } else {
        may::SEND_MESSAGES
    };
    allowed(w, channel, needed)?;
    let now = w.clock.now_milliseconds();
    let bot = w.bot;
    let mut guild = 0;
    if let Some(channel) = w.channels.get_mut(&channel) {
        channel.typing_milliseconds.push(now);
        guild = channel.guild;
    }
    let data = json!({
        "channel_id": channel.to_string(), "guild_id": guild.to_string(),
        "user_id": bot.to_string(), "timestamp": now / 1000,
        "member": w.member_json(guild, bot, true),
    });
    w.tell(
        "TYPING_START",
        data,
        Audience::ChannelWith(channel, crate::gateway::GUILD_MESSAGE_TYPING),
    );
    Ok(Answer::empty())
}

fn created(w: &World, thread: u64) -> Answered {
    w.channels
        .get(&thread)
        .map(|c| Answer::created(w.channel_json(c)))
        .ok_or_else(Refusal::unknown_channel)
}

fn auto_archive(body: &Value) -> u64 {
    body.get("auto_archive_duration")
        .and_then(integer)
        .unwrap_or(1440)
}

pub(super) fn thread_from(w: &mut World, call: &Call, channel: u64, message: u64) -> Answered {
    visible(w, channel)?;
    if w.channels.get(&channel).is_some_and(|c| c.thread.is_some()) {
        return Err(Refusal::wrong_channel_type());
    }
    let mut form = Form::default();
    form.new_thread(&call.body, true);
    settle(w, call, form)?;
    let Some(found) = w
        .messages
        .get(&message)
        .filter(|m| m.channel == channel && !m.deleted && m.ephemeral_for.is_none())
    else {
        return Err(Refusal::unknown_message());
    };
    if found.is_system() {
        return Err(Refusal::system_message());
    }
    let has_thread = found.thread.is_some();
    allowed(w, channel, may::CREATE_PUBLIC_THREADS)?;
    allowed(w, channel, may::READ_MESSAGE_HISTORY)?;
    if has_thread {
        return Err(Refusal::thread_exists());
    }
    let name = super::text(&call.body, "name");
    let thread = w.create_thread(
        channel,
        Some(message),
        w.bot,
        name.trim(),
        false,
        auto_archive(&call.body),
    );
    created(w, thread)
}

fn thread_alone(w: &mut World, call: &Call, channel: u64) -> Answered {
    visible(w, channel)?;
    if w.channels.get(&channel).is_some_and(|c| c.thread.is_some()) {
        return Err(Refusal::wrong_channel_type());
    }
    let mut form = Form::default();
    form.new_thread(&call.body, false);
    // Without a type, version 10 makes a private thread.
    let kind = call.body.get("type").and_then(integer).unwrap_or(12);
    if !matches!(kind, 11 | 12) {
        form.error(
            "type",
            "BASE_TYPE_CHOICES",
            "Value must be one of (11, 12).",
        );
    }
    settle(w, call, form)?;
    let private = kind == 12;
    allowed(
        w,
        channel,
        if private {
            may::CREATE_PRIVATE_THREADS
        } else {
            may::CREATE_PUBLIC_THREADS
        },
    )?;
    let name = super::text(&call.body, "name");
    let thread = w.create_thread(
        channel,
        None,
        w.bot,
        name.trim(),
        private,
        auto_archive(&call.body),
    );
    created(w, thread)
}

fn change(w: &mut World, call: &Call, channel: u64) -> Answered {
    visible(w, channel)?;
    let body = &call.body;
    let mut form = Form::default();
    form.thread_change(body);
    settle(w, call, form)?;
    let bot = w.bot;
    let now = w.clock.now_milliseconds();
    let manages = w.may(bot, channel, may::MANAGE_THREADS);
    let flag = |key: &str| body.get(key).and_then(Value::as_bool);
    let name = body.get("name").and_then(Value::as_str).map(str::trim);
    let Some(found) = w.channels.get(&channel) else {
        return Err(Refusal::unknown_channel());
    };
    if let Some(thread) = &found.thread {
        let only_unarchives =
            body.as_object().is_some_and(|map| map.len() == 1) && flag("archived") == Some(false);
        let may_change = if only_unarchives && !thread.locked {
            w.may(bot, channel, may::SEND_MESSAGES_IN_THREADS)
        } else if flag("locked").is_some() || (thread.locked && flag("archived").is_some()) {
            manages
        } else {
            manages || thread.owner == bot
        };
        if !may_change {
            return Err(Refusal::missing_permissions());
        }
        // Nothing else is changed while the thread stays archived.
        if thread.archived && flag("archived") != Some(false) {
            return Err(Refusal::archived_thread());
        }
    } else {
        allowed(w, channel, may::MANAGE_CHANNELS)?;
    }
    if let Some(name) = name.filter(|n| *n != found.name) {
        let recent: Vec<u64> = found
            .renamed_milliseconds
            .iter()
            .copied()
            .filter(|at| now.saturating_sub(*at) < RENAME_WINDOW_MILLISECONDS)
            .collect();
        if recent.len() >= RENAMES {
            let oldest = recent.first().copied().unwrap_or(now);
            let left = RENAME_WINDOW_MILLISECONDS.saturating_sub(now.saturating_sub(oldest));
            return Err(Refusal {
                status: 429,
                body: json!({
                    "message": "You are being rate limited.",
                    "retry_after": left as f64 / 1000.0, "global": false,
                }),
                violation: None,
            });
        }
        let name = name.to_owned();
        if let Some(channel) = w.channels.get_mut(&channel) {
            channel.name = name;
            channel.renamed_milliseconds.push(now);
        }
    }
    let minutes = body.get("auto_archive_duration").and_then(integer);
    if let Some(channel) = w.channels.get_mut(&channel) {
        if let Some(seconds) = body.get("rate_limit_per_user").and_then(integer) {
            channel.rate_limit_seconds = seconds;
        }
        if let Some(thread) = &mut channel.thread {
            if let Some(archived) = flag("archived") {
                thread.archived = archived;
                thread.archive_changed_milliseconds = now;
            }
            if let Some(locked) = flag("locked") {
                thread.locked = locked;
            }
            if let Some(minutes) = minutes {
                thread.auto_archive_minutes = minutes;
            }
        }
    }
    let is_thread = w.channels.get(&channel).is_some_and(|c| c.thread.is_some());
    w.tell_channel(
        if is_thread {
            "THREAD_UPDATE"
        } else {
            "CHANNEL_UPDATE"
        },
        channel,
    );
    w.channels
        .get(&channel)
        .map(|c| Answer::ok(w.channel_json(c)))
        .ok_or_else(Refusal::unknown_channel)
}

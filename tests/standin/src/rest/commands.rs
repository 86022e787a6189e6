//! Registering commands.

use serde_json::{Value, json};

use super::{Answer, Answered, Call, settle};
use crate::refusal::Refusal;
use crate::rules::{Form, integer};
use crate::world::World;

pub(super) fn serve(w: &mut World, call: &Call, guild: Option<u64>) -> Answered {
    if let Some(guild) = guild {
        let Some(found) = w.guilds.get(&guild) else {
            return Err(Refusal::missing_access());
        };
        if !found.members.contains_key(&w.bot) {
            return Err(Refusal::missing_access());
        }
    }
    match call.method.as_str() {
        "GET" => Ok(Answer::ok(json!(registered(w, guild)))),
        "PUT" => overwrite(w, call, guild),
        _ => Err(Refusal::no_such_route()),
    }
}

fn registered(w: &World, guild: Option<u64>) -> Vec<Value> {
    match guild {
        Some(guild) => w.guild_commands.get(&guild).cloned().unwrap_or_default(),
        None => w.global_commands.clone(),
    }
}

fn overwrite(w: &mut World, call: &Call, guild: Option<u64>) -> Answered {
    let mut form = Form::default();
    form.commands(&call.body);
    settle(w, call, form)?;
    let old = registered(w, guild);
    let mut new = Vec::new();
    for command in call.body.as_array().into_iter().flatten() {
        let kind = command.get("type").and_then(integer).unwrap_or(1);
        let same = old.iter().find(|o| {
            o.get("name") == command.get("name") && o.get("type").and_then(integer) == Some(kind)
        });
        // An overwritten command keeps its id.
        let id = match same.and_then(|s| s.get("id")).and_then(integer) {
            Some(id) => id,
            None => w.new_id(),
        };
        let version = w.new_id();
        let mut full = json!({
            "id": id.to_string(), "application_id": w.bot.to_string(),
            "version": version.to_string(), "type": kind,
            "default_member_permissions": null, "description": "", "options": [],
            "nsfw": false, "integration_types": [0], "contexts": null,
            "name_localizations": null, "description_localizations": null,
        });
        if let (Some(full), Some(given)) = (full.as_object_mut(), command.as_object()) {
            for (key, value) in given.iter().filter(|(k, _)| *k != "id") {
                full.insert(key.clone(), value.clone());
            }
            if let Some(bits) = given.get("default_member_permissions").and_then(integer) {
                full.insert(
                    "default_member_permissions".to_owned(),
                    json!(bits.to_string()),
                );
            }
            if let Some(guild) = guild {
                full.insert("guild_id".to_owned(), json!(guild.to_string()));
            }
        }
        new.push(full);
    }
    w.registrations += 1;
    match guild {
        Some(guild) => {
            w.guild_commands.insert(guild, new.clone());
        }
        None => w.global_commands.clone_from(&new),
    }
    Ok(Answer::ok(json!(new)))
}

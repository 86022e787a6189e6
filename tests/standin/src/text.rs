//! A message as a reader sees it, in plain text that is the same on every run.
//!
//! Ids become names or ordinals, time stamps lose their numbers, the variable part of a
//! custom id becomes `*`.

use serde_json::Value;

use crate::ids::ChannelId;
use crate::rules::{SUPPRESS_NOTIFICATIONS, integer};
use crate::world::{Author, Message, World};

/// The constant part of a custom id: words stay, anything with a digit, a capital or
/// another sign in it becomes `*`.
pub(crate) fn custom_id_class(id: &str) -> String {
    let mut parts: Vec<&str> = Vec::new();
    for part in id.split([':', '|', '/']) {
        let word = !part.is_empty()
            && part
                .chars()
                .all(|c| c.is_ascii_lowercase() || matches!(c, '_' | '-' | '.'));
        let part = if word { part } else { "*" };
        if part != "*" || parts.last() != Some(&"*") {
            parts.push(part);
        }
    }
    parts.join(":")
}

/// Replaces what differs from run to run.
pub(crate) fn plain(w: &World, text: &str) -> String {
    let mut out = String::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once('<') {
        out.push_str(before);
        let tag = after.split_once('>').and_then(|(inside, after)| {
            let name = tag_name(w, inside)?;
            Some((name, after))
        });
        match tag {
            Some((name, after)) => {
                out.push_str(&name);
                rest = after;
            }
            None => {
                out.push('<');
                rest = after;
            }
        }
    }
    out.push_str(rest);
    name_bare_ids(w, &out)
}

fn tag_name(w: &World, inside: &str) -> Option<String> {
    if let Some(id) = inside.strip_prefix("@&") {
        let id: u64 = id.parse().ok()?;
        let role = w.guilds.values().find_map(|g| g.roles.get(&id))?;
        return Some(format!("@{}", role.name));
    }
    if let Some(id) = inside.strip_prefix('@') {
        let id: u64 = id.trim_start_matches('!').parse().ok()?;
        return Some(format!("@{}", w.users.get(&id)?.name));
    }
    if let Some(id) = inside.strip_prefix('#') {
        return Some(channel_name(w, id.parse().ok()?));
    }
    if let Some(time) = inside.strip_prefix("t:") {
        let style = time.split_once(':').map_or("f", |(_, style)| style);
        return Some(format!("<t:{style}>"));
    }
    if let Some(command) = inside.strip_prefix('/') {
        let (name, id) = command.rsplit_once(':')?;
        id.parse::<u64>().ok()?;
        return Some(format!("/{name}"));
    }
    None
}

fn channel_name(w: &World, id: u64) -> String {
    w.channels
        .get(&id)
        .map_or_else(|| "#deleted-channel".to_owned(), |c| format!("#{}", c.name))
}

/// Snowflakes that stand alone, as in links.
fn name_bare_ids(w: &World, text: &str) -> String {
    let mut out = String::new();
    let mut digits = String::new();
    for c in text.chars().chain(std::iter::once('\0')) {
        if c.is_ascii_digit() {
            digits.push(c);
            continue;
        }
        if !digits.is_empty() {
            let named = (17..=20)
                .contains(&digits.len())
                .then(|| digits.parse().ok())
                .flatten()
                .and_then(|id| id_name(w, id));
            out.push_str(named.as_deref().unwrap_or(&digits));
            digits.clear();
        }
        if c != '\0' {
            out.push(c);
        }
    }
    // The base address has a port that differs.
    if w.url.is_empty() {
        out
    } else {
        out.replace(&w.url, "https://discord.com")
    }
}

fn id_name(w: &World, id: u64) -> Option<String> {
    if let Some(guild) = w.guilds.get(&id) {
        return Some(guild.name.clone());
    }
    // A thread has the id of the message it was started from: the thread is meant.
    if w.channels.contains_key(&id) {
        return Some(channel_name(w, id));
    }
    if let Some(message) = w.messages.get(&id) {
        return Some(format!("message {}", ordinal(w, message)));
    }
    if w.attachments.contains_key(&id) {
        return Some("file".to_owned());
    }
    w.users.get(&id).map(|u| format!("@{}", u.name))
}

/// A message's place in its channel, from 1.
fn ordinal(w: &World, message: &Message) -> usize {
    w.messages
        .values()
        .filter(|m| m.channel == message.channel && m.id <= message.id)
        .count()
}

impl World {
    pub(crate) fn author_name(&self, message: &Message) -> String {
        match &message.author {
            Author::User(id) => self
                .users
                .get(id)
                .map_or_else(|| "deleted user".to_owned(), |u| u.name.clone()),
            Author::Webhook { name, .. } => format!("{name} (webhook)"),
        }
    }

    /// The message for a failing test: where, who, and the text.
    pub(crate) fn describe(&self, message: &Message) -> String {
        format!(
            "{} in {}:\n{}",
            self.author_name(message),
            channel_name(self, message.channel),
            self.text_of(message)
        )
    }

    /// The message as text.
    pub(crate) fn text_of(&self, message: &Message) -> String {
        let mut lines: Vec<String> = Vec::new();
        if let Some(user) = message.ephemeral_for {
            let name = self.users.get(&user).map_or("?", |u| u.name.as_str());
            lines.push(format!("(only {name} sees this)"));
        }
        if message.is_loading() {
            lines.push("(thinking…)".to_owned());
        }
        if message.flags & SUPPRESS_NOTIFICATIONS != 0 {
            lines.push("(silent)".to_owned());
        }
        match (message.kind, message.reference) {
            (18, _) => lines.push(format!("(started the thread {})", message.content)),
            (21, _) => lines.push("(thread starter)".to_owned()),
            (19, Some((_, of))) if message.interaction.is_none() => {
                let to = self
                    .messages
                    .get(&of)
                    .map_or_else(|| "a deleted message".to_owned(), |m| self.author_name(m));
                lines.push(format!("(in reply to {to})"));
            }
            _ => {}
        }
        if !message.content.is_empty() && message.kind != 18 {
            lines.push(plain(self, &message.content));
        }
        for embed in &message.embeds {
            self.embed_text(embed, &mut lines);
        }
        for row in &message.components {
            self.component_text(row, &mut lines);
        }
        for file in &message.attachments {
            if let Some(file) = self.attachments.get(file) {
                let described = file
                    .description
                    .as_ref()
                    .map_or_else(String::new, |d| format!(": {}", plain(self, d)));
                lines.push(format!("📎 {}{described}", file.filename));
            }
        }
        if !message.reactions.is_empty() {
            let all: Vec<String> = message
                .reactions
                .iter()
                .map(|(emoji, people)| format!("{emoji} {}", people.len()))
                .collect();
            lines.push(format!("reactions: {}", all.join(", ")));
        }
        if let Some(thread) = message.thread {
            lines.push(format!("thread: {}", channel_name(self, thread)));
        }
        lines.join("\n")
    }

    fn embed_text(&self, embed: &Value, lines: &mut Vec<String>) {
        let get = |path: &str| {
            embed
                .pointer(path)
                .and_then(Value::as_str)
                .map(|t| plain(self, t))
        };
        let mut inside: Vec<String> = Vec::new();
        inside.extend(get("/author/name").map(|a| format!("by {a}")));
        inside.extend(get("/title").map(|t| format!("# {t}")));
        inside.extend(get("/url").map(|u| format!("({u})")));
        inside.extend(get("/description"));
        for field in embed
            .get("fields")
            .and_then(Value::as_array)
            .into_iter()
            .flatten()
        {
            let part = |key: &str| {
                plain(
                    self,
                    field.get(key).and_then(Value::as_str).unwrap_or_default(),
                )
            };
            inside.push(format!("[{}]", part("name")));
            inside.push(part("value"));
        }
        inside.extend(get("/footer/text").map(|f| format!("-- {f}")));
        for line in inside.join("\n").split('\n') {
            lines.push(format!("│ {line}").trim_end().to_owned());
        }
    }

    fn component_text(&self, component: &Value, lines: &mut Vec<String>) {
        let kind = component.get("type").and_then(integer).unwrap_or(0);
        let children = component.get("components").and_then(Value::as_array);
        match kind {
            1 => {
                let all: Vec<String> = children
                    .into_iter()
                    .flatten()
                    .map(|c| self.control_text(c))
                    .collect();
                lines.push(all.join(" "));
            }
            10 => {
                let text = component.get("content").and_then(Value::as_str);
                lines.push(plain(self, text.unwrap_or_default()));
            }
            14 => lines.push("---".to_owned()),
            _ => {
                for child in children.into_iter().flatten() {
                    self.component_text(child, lines);
                }
                if let Some(accessory) = component.get("accessory") {
                    lines.push(self.control_text(accessory));
                }
            }
        }
    }

    fn control_text(&self, control: &Value) -> String {
        let text = |key: &str| control.get(key).and_then(Value::as_str).unwrap_or("");
        let off = if control.get("disabled").and_then(Value::as_bool) == Some(true) {
            " off"
        } else {
            ""
        };
        let class = custom_id_class(text("custom_id"));
        if control.get("type").and_then(integer) == Some(2) {
            let emoji = control
                .pointer("/emoji/name")
                .and_then(Value::as_str)
                .unwrap_or("");
            let label = [emoji, text("label")]
                .iter()
                .filter(|p| !p.is_empty())
                .copied()
                .collect::<Vec<_>>()
                .join(" ");
            let label = plain(self, &label);
            let url = text("url");
            return if url.is_empty() {
                format!("[{label}]({class}{off})")
            } else {
                format!("[{label}](link {}{off})", plain(self, url))
            };
        }
        let options: Vec<String> = control
            .get("options")
            .and_then(Value::as_array)
            .into_iter()
            .flatten()
            .map(|o| {
                let label = o.get("label").and_then(Value::as_str).unwrap_or("");
                let mark = if o.get("default").and_then(Value::as_bool) == Some(true) {
                    "x "
                } else {
                    ""
                };
                format!("{mark}{}", plain(self, label))
            })
            .collect();
        format!(
            "{{{}}}({class}{off}) {}",
            plain(self, text("placeholder")),
            options.join(" | ")
        )
        .trim_end()
        .to_owned()
    }

    /// A whole channel as one person sees it.
    pub(crate) fn channel_text(&self, channel: ChannelId, viewer: Option<u64>) -> String {
        self.visible_messages(channel, viewer)
            .into_iter()
            .map(|m| format!("{}:\n{}", self.author_name(m), self.text_of(m)))
            .collect::<Vec<_>>()
            .join("\n\n")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn classes_of_custom_ids() {
        let cases = [
            ("outcome:worked:01HX2", "outcome:worked:*"),
            ("cause/123/45/confirm", "cause:*:confirm"),
            ("modal", "modal"),
            ("", "*"),
        ];
        for (id, expected) in cases {
            assert_eq!(custom_id_class(id), expected, "{id:?}");
        }
    }
}

//! A message as it stands in a channel: its words, and where in the message they stand.
//!
//! Wanted: alerts keep what they say in embeds and fields, people in the content, and whoever reads
//! either asks here; [`Post::text`] is the one order in which a message's words become lines.
//! Redaction goes over every text before anything else sees the message ([`Post::with_texts`]).
//!
//! Deliberately absent: ids, attachments, buttons. A post is what can be read, not what can be done.

use serde::{Deserialize, Serialize};
use std::fmt;

/// Who wrote a message.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Writer {
    /// Somebody typed it, or forwarded it.
    #[default]
    Person,
    /// Another application's bot.
    Bot,
    /// A webhook of the channel: how monitoring posts.
    Webhook,
    /// This bot itself; set by whoever knows its id.
    Us,
}

/// A message's words and their places.
#[derive(Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Post {
    /// Who wrote it.
    pub by: Writer,
    /// The name shown as its author. Webhooks are called what somebody typed: a hint, no proof.
    pub author: String,
    /// The message's own text.
    pub content: String,
    /// The boxes below it, in order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub embeds: Vec<Embed>,
    /// When it was posted, by Discord's clock, unix milliseconds.
    pub at_ms: i64,
}

/// A box below a message. Texts that are missing are empty.
#[derive(Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Embed {
    /// The small line on top.
    pub author: String,
    /// The title.
    pub title: String,
    /// Where the title leads.
    pub url: String,
    /// The text.
    pub description: String,
    /// Name and value of each field.
    pub fields: Vec<(String, String)>,
    /// The small line at the bottom.
    pub footer: String,
    /// The colour of its edge, `0xRRGGBB`.
    pub colour: Option<u32>,
    /// The time that its writer gave, unix milliseconds.
    pub at_ms: Option<i64>,
}

impl Post {
    /// Everything that it says, as plain lines: the content, then of each embed the author, title,
    /// description, fields (`name: value`) and footer.
    pub fn text(&self) -> String {
        let mut lines = String::new();
        add(&mut lines, &self.content);
        for embed in &self.embeds {
            add(&mut lines, &embed.author);
            add(&mut lines, &embed.title);
            add(&mut lines, &embed.description);
            for (name, value) in &embed.fields {
                match (name.trim(), value.trim()) {
                    // Some alerts fill a field's name with an invisible character.
                    ("" | "\u{200b}", value) => add(&mut lines, value),
                    (name, "" | "\u{200b}") => add(&mut lines, name),
                    (name, value) => add(&mut lines, &format!("{name}: {value}")),
                }
            }
            add(&mut lines, &embed.footer);
        }
        lines
    }

    /// The same message with each of its texts replaced: for redaction at the entrance.
    #[must_use]
    pub fn with_texts(mut self, replace: impl Fn(&str) -> String) -> Self {
        let change = |text: &mut String| {
            if !text.is_empty() {
                *text = replace(text);
            }
        };
        change(&mut self.author);
        change(&mut self.content);
        for embed in &mut self.embeds {
            for text in [
                &mut embed.author,
                &mut embed.title,
                &mut embed.url,
                &mut embed.description,
                &mut embed.footer,
            ] {
                change(text);
            }
            for (name, value) in &mut embed.fields {
                change(name);
                change(value);
            }
        }
        self
    }
}

impl fmt::Debug for Post {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Post")
            .field("by", &self.by)
            .field("characters", &self.content.chars().count())
            .field("embeds", &self.embeds.len())
            .finish_non_exhaustive()
    }
}

impl fmt::Debug for Embed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Embed")
            .field("characters", &self.description.chars().count())
            .field("fields", &self.fields.len())
            .finish_non_exhaustive()
    }
}

fn add(lines: &mut String, text: &str) {
    let text = text.trim();
    if text.is_empty() {
        return;
    }
    if !lines.is_empty() {
        lines.push('\n');
    }
    lines.push_str(text);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn post() -> Post {
        Post {
            author: "A".into(),
            content: " c ".into(),
            embeds: vec![
                Embed {
                    author: "a".into(),
                    title: "t".into(),
                    url: "u".into(),
                    description: "d".into(),
                    fields: vec![
                        ("n".into(), "v".into()),
                        ("\u{200b}".into(), "alone".into()),
                        ("name".into(), " ".into()),
                    ],
                    footer: "f".into(),
                    ..Embed::default()
                },
                Embed::default(),
            ],
            ..Post::default()
        }
    }

    #[test]
    fn the_words_in_their_order() {
        assert_eq!(post().text(), "c\na\nt\nd\nn: v\nalone\nname\nf");
        assert_eq!(Post::default().text(), "");
    }

    #[test]
    fn r22_every_text_passes_the_entrance() {
        let struck = post().with_texts(|_| "#".to_owned());
        let stored = serde_json::to_value(&struck).expect("plain data");
        let mut texts = Vec::new();
        collect(&stored, &mut texts);
        texts.retain(|text| text != "person");
        assert_eq!(texts.len(), 13);
        assert!(texts.iter().all(|text| text == "#"), "{texts:?}");
        assert!(!format!("{:?}", post()).contains("alone"));
    }

    fn collect(value: &serde_json::Value, texts: &mut Vec<String>) {
        match value {
            serde_json::Value::String(text) if !text.is_empty() => texts.push(text.clone()),
            serde_json::Value::Array(items) => items.iter().for_each(|item| collect(item, texts)),
            serde_json::Value::Object(map) => map.values().for_each(|item| collect(item, texts)),
            _ => {}
        }
    }
}

//! A message as a test or a page looks at it: a picture taken at one moment.

use std::collections::BTreeMap;
use std::fmt;

use serde_json::Value;

use crate::handle::Discord;
use crate::ids::{ChannelId, MessageId, UserId};
use crate::mentions::Pings;
use crate::rules::integer;
use crate::world::{Author, Message, World};

/// A message at the moment it was looked at.
#[derive(Clone, Debug)]
pub struct Post {
    /// Its id.
    pub id: MessageId,
    /// The channel or thread it stands in.
    pub channel: ChannelId,
    /// Name of the person, bot or webhook.
    pub author: String,
    /// Whether the bot under test wrote it.
    pub by_bot: bool,
    /// `content`.
    pub content: String,
    /// Embeds, as Discord gives them back.
    pub embeds: Vec<Value>,
    /// Component rows, as sent.
    pub components: Vec<Value>,
    /// Files.
    pub files: Vec<PostedFile>,
    /// Message flags.
    pub flags: u64,
    /// Set where only one person sees it.
    pub ephemeral_for: Option<UserId>,
    /// The message it replies to.
    pub reply_to: Option<MessageId>,
    /// The thread that was started from it.
    pub thread: Option<ChannelId>,
    /// How often it was edited (completing a deferral is not an edit).
    pub edits: u64,
    /// Whether it has been deleted.
    pub deleted: bool,
    /// Emoji to how many people.
    pub reactions: BTreeMap<String, usize>,
    pings: Pings,
    allowed_mentions: Option<Value>,
    text: String,
    history: Vec<String>,
    json: Value,
}

/// A file of a message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PostedFile {
    /// Its name.
    pub name: String,
    /// Its content.
    pub bytes: Vec<u8>,
    /// As Discord would tell it; absent where it does not know.
    pub content_type: Option<String>,
    /// Where it can be downloaded.
    pub url: String,
}

impl PostedFile {
    /// The content as text; what is not UTF-8 is replaced.
    #[must_use]
    pub fn text(&self) -> String {
        String::from_utf8_lossy(&self.bytes).into_owned()
    }
}

/// A button of a message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Button {
    /// What it says.
    pub label: String,
    /// Empty for a link.
    pub custom_id: String,
    /// Greyed out.
    pub disabled: bool,
    /// 1 primary, 2 secondary, 3 success, 4 danger, 5 link.
    pub style: u64,
    /// Of a link.
    pub url: Option<String>,
}

/// A select of a message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Select {
    /// Its custom id.
    pub custom_id: String,
    /// What it says while nothing is chosen.
    pub placeholder: String,
    /// Label and value of each option.
    pub options: Vec<(String, String)>,
    /// Values chosen from the start.
    pub defaults: Vec<String>,
    /// Greyed out.
    pub disabled: bool,
    /// Least and most values.
    pub range: (usize, usize),
}

impl From<&Post> for MessageId {
    fn from(post: &Post) -> Self {
        post.id
    }
}

impl fmt::Display for Post {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl Post {
    pub(crate) fn of(w: &World, message: &Message) -> Self {
        let json = w.message_json(message);
        let files = message
            .attachments
            .iter()
            .filter_map(|id| {
                let file = w.attachments.get(id)?;
                let url = w.attachment_json(*id);
                Some(PostedFile {
                    name: file.filename.clone(),
                    bytes: file.bytes.clone(),
                    content_type: file.content_type.clone(),
                    url: url
                        .get("url")
                        .and_then(Value::as_str)
                        .unwrap_or_default()
                        .to_owned(),
                })
            })
            .collect();
        let mut history: Vec<String> = message
            .history
            .iter()
            .map(|revision| {
                let mut old = message.clone();
                old.content.clone_from(&revision.content);
                old.embeds.clone_from(&revision.embeds);
                old.components.clone_from(&revision.components);
                old.attachments.clone_from(&revision.attachments);
                old.flags = revision.flags;
                w.text_of(&old)
            })
            .collect();
        let text = w.text_of(message);
        history.push(text.clone());
        Self {
            id: MessageId(message.id),
            channel: ChannelId(message.channel),
            author: w.author_name(message),
            by_bot: matches!(message.author, Author::User(u) if u == w.bot),
            content: message.content.clone(),
            embeds: message.embeds.clone(),
            components: message.components.clone(),
            files,
            flags: message.flags,
            ephemeral_for: message.ephemeral_for.map(UserId),
            reply_to: message
                .reference
                .filter(|_| message.kind == 19)
                .map(|(_, id)| MessageId(id)),
            thread: message.thread.map(ChannelId),
            edits: message.edits,
            deleted: message.deleted,
            reactions: message
                .reactions
                .iter()
                .map(|(emoji, people)| (emoji.clone(), people.len()))
                .collect(),
            pings: message.pings.clone(),
            allowed_mentions: message.allowed_mentions.clone(),
            text,
            history,
            json,
        }
    }

    /// The message as a reader sees it: content, embeds with fields, buttons with the
    /// constant part of their custom ids, files; the same on every run.
    #[must_use]
    pub fn to_text(&self) -> String {
        self.text.clone()
    }

    /// Every version of it as text, oldest first, the present one last.
    #[must_use]
    pub fn history(&self) -> &[String] {
        &self.history
    }

    /// As the API returns it.
    #[must_use]
    pub fn json(&self) -> &Value {
        &self.json
    }

    /// Who was notified.
    #[must_use]
    pub fn pings(&self) -> &Pings {
        &self.pings
    }

    /// `allowed_mentions` of the last request that wrote it.
    #[must_use]
    pub fn allowed_mentions(&self) -> Option<&Value> {
        self.allowed_mentions.as_ref()
    }

    /// Whether the text contains `part`.
    #[must_use]
    pub fn shows(&self, part: &str) -> bool {
        self.text.contains(part)
    }

    /// The first file with that name.
    #[must_use]
    pub fn file(&self, name: &str) -> Option<&PostedFile> {
        self.files.iter().find(|f| f.name == name)
    }

    /// Whether it only says that an answer is being prepared.
    #[must_use]
    pub fn is_loading(&self) -> bool {
        self.flags & crate::world::LOADING != 0
    }

    /// Its buttons, in order.
    #[must_use]
    pub fn buttons(&self) -> Vec<Button> {
        controls(&self.components)
            .filter(|c| c.get("type").and_then(integer) == Some(2))
            .map(button)
            .collect()
    }

    /// Its selects, in order.
    #[must_use]
    pub fn selects(&self) -> Vec<Select> {
        controls(&self.components)
            .filter(|c| matches!(c.get("type").and_then(integer), Some(3 | 5..=8)))
            .map(select)
            .collect()
    }
}

/// Buttons and selects, however deep.
pub(crate) fn controls(components: &[Value]) -> impl Iterator<Item = &Value> {
    let mut waiting: Vec<&Value> = components.iter().rev().collect();
    std::iter::from_fn(move || {
        loop {
            let next = waiting.pop()?;
            let inside = next.get("components").and_then(Value::as_array);
            if let Some(accessory) = next.get("accessory") {
                waiting.push(accessory);
            }
            waiting.extend(inside.into_iter().flatten().rev());
            if matches!(next.get("type").and_then(integer), Some(2 | 3 | 5..=8)) {
                return Some(next);
            }
        }
    })
}

fn string(value: &Value, key: &str) -> String {
    value
        .get(key)
        .and_then(Value::as_str)
        .unwrap_or("")
        .to_owned()
}

pub(crate) fn button(control: &Value) -> Button {
    Button {
        label: string(control, "label"),
        custom_id: string(control, "custom_id"),
        disabled: control.get("disabled").and_then(Value::as_bool) == Some(true),
        style: control.get("style").and_then(integer).unwrap_or(0),
        url: control
            .get("url")
            .and_then(Value::as_str)
            .map(str::to_owned),
    }
}

pub(crate) fn select(control: &Value) -> Select {
    let options = || {
        control
            .get("options")
            .and_then(Value::as_array)
            .into_iter()
            .flatten()
    };
    let bound = |key: &str| {
        control
            .get(key)
            .and_then(integer)
            .and_then(|n| usize::try_from(n).ok())
            .unwrap_or(1)
    };
    Select {
        custom_id: string(control, "custom_id"),
        placeholder: string(control, "placeholder"),
        options: options()
            .map(|o| (string(o, "label"), string(o, "value")))
            .collect(),
        defaults: options()
            .filter(|o| o.get("default").and_then(Value::as_bool) == Some(true))
            .map(|o| string(o, "value"))
            .collect(),
        disabled: control.get("disabled").and_then(Value::as_bool) == Some(true),
        range: (bound("min_values"), bound("max_values")),
    }
}

impl Discord {
    /// A message as it is now, which marks it as read.
    #[must_use]
    pub fn message(&self, message: impl Into<MessageId>) -> Option<Post> {
        let id = message.into().0;
        self.core.with(|w| {
            if let Some(message) = w.messages.get_mut(&id) {
                message.read = true;
            }
            w.messages.get(&id).map(|m| Post::of(w, m))
        })
    }

    /// A message as it is now, without marking it as read.
    #[must_use]
    pub fn peek(&self, message: impl Into<MessageId>) -> Option<Post> {
        let id = message.into().0;
        self.core
            .look(|w| w.messages.get(&id).map(|m| Post::of(w, m)))
    }

    /// All messages of a channel or thread that everybody sees, oldest first, with
    /// people's and the system's; marks them as read.
    #[must_use]
    pub fn posts(&self, channel: ChannelId) -> Vec<Post> {
        self.posts_for(None, channel)
    }

    /// As [`Discord::posts`], with what only `viewer` sees.
    #[must_use]
    pub fn posts_for(&self, viewer: Option<UserId>, channel: ChannelId) -> Vec<Post> {
        let viewer = viewer.map(|v| v.0);
        self.core.with(|w| {
            let ids: Vec<u64> = w
                .visible_messages(channel, viewer)
                .iter()
                .map(|m| m.id)
                .collect();
            for id in &ids {
                if let Some(message) = w.messages.get_mut(id) {
                    message.read = true;
                }
            }
            ids.iter()
                .filter_map(|id| w.messages.get(id))
                .map(|m| Post::of(w, m))
                .collect()
        })
    }

    /// As [`Discord::posts`], without marking anything as read.
    #[must_use]
    pub fn peek_posts(&self, channel: ChannelId) -> Vec<Post> {
        self.core.look(|w| {
            w.visible_messages(channel, None)
                .into_iter()
                .map(|m| Post::of(w, m))
                .collect()
        })
    }

    /// A channel as one person reads it, as text.
    #[must_use]
    pub fn channel_text(&self, channel: ChannelId, viewer: Option<UserId>) -> String {
        self.core
            .look(|w| w.channel_text(channel, viewer.map(|v| v.0)))
    }

    /// Waits for the oldest unread post of the bot in a channel or thread that everybody
    /// sees, and marks it as read. A deferred answer counts from when it is completed.
    ///
    /// # Panics
    /// Where none comes in time.
    pub async fn next_post(&self, channel: ChannelId) -> Post {
        self.await_unread("the bot's next post", channel, |_| true)
            .await
    }

    /// Waits for a post of the bot, read or not, that `is_it` accepts as it is then
    /// (edits count), and marks it as read.
    ///
    /// # Panics
    /// Where none comes in time.
    pub async fn await_message(&self, channel: ChannelId, is_it: impl Fn(&Post) -> bool) -> Post {
        let what = format!("a message in {}", self.channel_label(channel));
        let post = self
            .wait_for(&what, |w| {
                w.visible_messages(channel, None)
                    .into_iter()
                    .filter(|m| !m.is_loading())
                    .filter(|m| matches!(m.author, Author::User(u) if u == w.bot))
                    .map(|m| Post::of(w, m))
                    .find(|p| is_it(p))
            })
            .await;
        self.mark_read(post.id);
        post
    }

    /// Waits until a message, which may be edited meanwhile, is as `is_it` wants it.
    ///
    /// # Panics
    /// Where that does not happen in time.
    pub async fn await_edit(
        &self,
        message: impl Into<MessageId>,
        is_it: impl Fn(&Post) -> bool,
    ) -> Post {
        let id = message.into();
        let post = self
            .wait_for("a message to be edited", |w| {
                w.messages
                    .get(&id.0)
                    .map(|m| Post::of(w, m))
                    .filter(|p| is_it(p))
            })
            .await;
        self.mark_read(id);
        post
    }

    /// Waits for a thread of a message to be started.
    ///
    /// # Panics
    /// Where that does not happen in time.
    pub async fn await_thread(&self, message: impl Into<MessageId>) -> ChannelId {
        let id = message.into();
        self.wait_for("a thread to be started", |w| {
            w.messages.get(&id.0)?.thread.map(ChannelId)
        })
        .await
    }

    async fn await_unread(
        &self,
        what: &str,
        channel: ChannelId,
        is_it: impl Fn(&Post) -> bool,
    ) -> Post {
        let what = format!("{what} in {}", self.channel_label(channel));
        let post = self
            .wait_for(&what, |w| {
                w.visible_messages(channel, None)
                    .into_iter()
                    .filter(|m| !m.read && !m.is_loading())
                    .map(|m| Post::of(w, m))
                    .find(|p| is_it(p))
            })
            .await;
        self.mark_read(post.id);
        post
    }

    pub(crate) fn mark_read(&self, message: MessageId) {
        self.core.with(|w| {
            if let Some(message) = w.messages.get_mut(&message.0) {
                message.read = true;
            }
        });
    }

    fn channel_label(&self, channel: ChannelId) -> String {
        self.core.look(|w| {
            w.channels.get(&channel.0).map_or_else(
                || "a deleted channel".to_owned(),
                |c| format!("#{}", c.name),
            )
        })
    }
}

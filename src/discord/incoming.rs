//! What comes in from Discord, as plain data.
//!
//! Properties wanted:
//! - Nothing here knows the client library, so that jobs can store it and tests can write it down.
//! - `Debug` shows ids and sizes, never what somebody wrote, was called, or may answer with.
//! - What is not known is the careful choice: a place that cannot be seen counts as private.
//!
//! Absent on purpose: any dedupe. Discord delivers an event twice after some reconnects, and
//! events come in no order: whoever acts on one keeps its id (of the interaction or the message)
//! and orders messages by id.

use std::collections::BTreeMap;
use std::fmt;

use serde::{Deserialize, Serialize};

use super::permission::{BotMay, May};
use crate::incident::Locale;
use crate::incident::post::Post;

/// Discord's epoch (the first second of 2015) in unix milliseconds; ids count from it.
const DISCORD_EPOCH_MS: i64 = 1_420_070_400_000;

/// When the thing with this id was made, by Discord's clock, in unix milliseconds.
pub fn made_at_ms(id: u64) -> i64 {
    // 42 bits of milliseconds: never out of an i64's range.
    i64::try_from(id >> 22).unwrap_or(i64::MAX - DISCORD_EPOCH_MS) + DISCORD_EPOCH_MS
}

/// The smallest id that can have been made at a time; for reading what came after it.
pub fn id_at_ms(at_ms: i64) -> u64 {
    u64::try_from(at_ms.saturating_sub(DISCORD_EPOCH_MS)).unwrap_or(0) << 22
}

/// Somebody in a guild.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Person {
    /// The user's id.
    pub id: u64,
    /// As the guild shows it: nickname, else display name, else account name.
    pub name: String,
    /// From the person's Discord locale where an interaction tells it; else the language of what
    /// they wrote, or the guild's.
    pub locale: Locale,
    /// What they may do where they are.
    pub may: May,
}

impl fmt::Debug for Person {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Person({})", self.id)
    }
}

/// A channel or thread, and who can see it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Place {
    /// The guild.
    pub guild: u64,
    /// The channel or thread itself.
    pub channel: u64,
    /// The channel that a thread hangs from.
    pub parent: Option<u64>,
    /// Whether `channel` is a thread.
    pub thread: bool,
    /// A private thread, or a channel that `@everyone` cannot view; true where that is not known.
    pub private: bool,
    /// Whether the place was known when this arrived. Where not, `thread` is a guess: ask
    /// [`Rest::channel`](super::Rest::channel).
    pub known: bool,
}

/// The means to answer an interaction.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Reply {
    /// The interaction's id; the same interaction delivered twice has the same.
    pub interaction: u64,
    /// The application that was asked (this bot's).
    pub application: u64,
    /// Opens the answer to whoever holds it: stored, never logged.
    pub token: String,
    /// When the person acted, by Discord's clock, unix milliseconds.
    pub created_ms: i64,
}

impl Reply {
    /// Milliseconds that the token is relied on: half a minute less than Discord's 15 minutes.
    pub const LIFE_MS: i64 = 870_000;

    /// Whether the token is no longer to be relied on at `now_ms` (unix milliseconds): the bot
    /// goes on with its own token then.
    pub fn expired(&self, now_ms: i64) -> bool {
        now_ms.saturating_sub(self.created_ms) >= Self::LIFE_MS
    }
}

impl fmt::Debug for Reply {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Reply")
            .field("interaction", &self.interaction)
            .field("created_ms", &self.created_ms)
            .finish_non_exhaustive()
    }
}

/// A file on Discord's CDN. Its URL expires after a day or so.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FileRef {
    /// The attachment's id.
    pub id: u64,
    /// The file's name as the person uploaded it.
    pub name: String,
    /// Where it is; only Discord's hosts are ever read.
    pub url: String,
    /// Bytes, as Discord counts them.
    pub size: u64,
    /// As Discord guessed it; often absent.
    pub content_type: Option<String>,
}

impl fmt::Debug for FileRef {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "FileRef({}, {} bytes)", self.id, self.size)
    }
}

/// The value of a command's option.
#[derive(Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum OptionValue {
    /// A text, or the chosen value of a choice.
    Text(String),
    /// A whole number.
    Number(i64),
    /// A number.
    Decimal(f64),
    /// Yes or no.
    Flag(bool),
    /// An attachment, resolved.
    File(FileRef),
    /// A role, or a user or role.
    Id(u64),
    /// A person, as the guild shows them.
    User {
        /// Who.
        id: u64,
        /// Nickname, else display name, else account name.
        name: String,
    },
    /// A channel or thread, and whether the person may read there.
    Channel {
        /// The channel.
        id: u64,
        /// The person may see it and read what was written before.
        readable: bool,
    },
}

/// A command's options by name.
#[derive(Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Options(pub BTreeMap<String, OptionValue>);

impl Options {
    /// The text of an option, as typed.
    pub fn text(&self, name: &str) -> Option<&str> {
        match self.0.get(name) {
            Some(OptionValue::Text(text)) => Some(text),
            _ => None,
        }
    }

    /// The whole number of an option.
    pub fn number(&self, name: &str) -> Option<i64> {
        match self.0.get(name) {
            Some(OptionValue::Number(number)) => Some(*number),
            _ => None,
        }
    }

    /// The yes or no of an option.
    pub fn flag(&self, name: &str) -> Option<bool> {
        match self.0.get(name) {
            Some(OptionValue::Flag(flag)) => Some(*flag),
            _ => None,
        }
    }

    /// The user, role or channel of an option.
    pub fn id(&self, name: &str) -> Option<u64> {
        match self.0.get(name) {
            Some(OptionValue::Id(id)) => Some(*id),
            _ => None,
        }
    }

    /// The person of an option, by id and shown name.
    pub fn user(&self, name: &str) -> Option<(u64, &str)> {
        match self.0.get(name) {
            Some(OptionValue::User { id, name }) => Some((*id, name)),
            _ => None,
        }
    }

    /// The attachment of an option.
    pub fn file(&self, name: &str) -> Option<&FileRef> {
        match self.0.get(name) {
            Some(OptionValue::File(file)) => Some(file),
            _ => None,
        }
    }

    /// Whether nothing was given.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl fmt::Debug for Options {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.0.keys()).finish()
    }
}

/// A message as somebody sees it.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SeenMessage {
    /// The message's id; ids order messages.
    pub id: u64,
    /// Who wrote it. Of bots and webhooks only id and name say something.
    pub author: Person,
    /// A bot or a webhook wrote it.
    pub from_bot: bool,
    /// What it says: the content, then what embeds say (author, title, description, fields,
    /// footer), then what a forwarded message says, each as plain lines. Empty where the message
    /// has no text, or where the bot may not read it.
    pub text: String,
    /// Of a bot or a webhook, the words of the message itself and where they stand: alerts are read
    /// from it. Not redacted; `None` for people.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub post: Option<Box<Post>>,
    /// Its attachments (and a forwarded message's).
    pub files: Vec<FileRef>,
    /// When it was written, by Discord's clock, unix milliseconds.
    pub at_ms: i64,
}

impl fmt::Debug for SeenMessage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SeenMessage")
            .field("id", &self.id)
            .field("author", &self.author)
            .field("from_bot", &self.from_bot)
            .field("characters", &self.text.chars().count())
            .field("files", &self.files)
            .finish_non_exhaustive()
    }
}

/// What is no longer there.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Gone {
    /// A channel was deleted; its threads go with it.
    Channel(u64),
    /// A thread was deleted.
    Thread(u64),
    /// A message was deleted; one event a message, also where many were deleted at once.
    Message {
        /// The channel or thread it was in.
        channel: u64,
        /// The message.
        message: u64,
    },
    /// The bot was taken out of the guild, or the guild was deleted.
    Guild(u64),
}

/// Something that happened in Discord and concerns the bot.
#[derive(Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Incoming {
    /// A slash command.
    Slash {
        /// The means to answer, once within three seconds.
        reply: Reply,
        /// Who asked.
        who: Person,
        /// Where.
        place: Place,
        /// What the bot may do there.
        bot_may: BotMay,
        /// The full name, with its subcommand: `analyze`, `incident show`.
        command: String,
        /// What was given.
        options: Options,
    },
    /// A command from a message's menu.
    MessageCommand {
        /// The means to answer, once within three seconds.
        reply: Reply,
        /// Who asked.
        who: Person,
        /// Where.
        place: Place,
        /// What the bot may do there.
        bot_may: BotMay,
        /// Its name, as declared.
        command: String,
        /// The message it was used on, whole: Discord sends its text even without the intent.
        message: SeenMessage,
    },
    /// A submitted modal.
    Modal {
        /// The means to answer, once within three seconds.
        reply: Reply,
        /// Who submitted it.
        who: Person,
        /// Where.
        place: Place,
        /// What the bot may do there.
        bot_may: BotMay,
        /// The modal's custom id.
        custom_id: String,
        /// What was typed, by the field's custom id.
        fields: BTreeMap<String, String>,
        /// The message whose button opened it.
        message: Option<u64>,
    },
    /// A pressed button or a used select.
    Component {
        /// The means to answer, once within three seconds.
        reply: Reply,
        /// Who pressed it.
        who: Person,
        /// Where.
        place: Place,
        /// What the bot may do there.
        bot_may: BotMay,
        /// The component's custom id.
        custom_id: String,
        /// What a select has selected now; empty for a button.
        values: Vec<String>,
        /// The message it is on.
        message: u64,
    },
    /// Somebody is typing an option that the bot completes.
    Autocomplete {
        /// The means to answer, once within three seconds.
        reply: Reply,
        /// Who is typing.
        who: Person,
        /// Where.
        place: Place,
        /// The full name of the command.
        command: String,
        /// The option's name.
        option: String,
        /// What stands there so far.
        typed: String,
        /// The options that are there already.
        options: Options,
    },
    /// An interaction that this version cannot read (Discord added something): whoever started it
    /// is told so, instead of being left with "the application did not respond".
    Unreadable {
        /// The means to answer, once within three seconds.
        reply: Reply,
        /// The person's language.
        locale: Locale,
    },
    /// Somebody wrote a message in a channel or thread that the bot sees. Never the bot itself,
    /// another bot, a webhook, or Discord's own notices.
    Message {
        /// Who wrote it.
        who: Person,
        /// Where.
        place: Place,
        /// The message.
        message: SeenMessage,
        /// It mentions the bot (or the bot's own role).
        mentions_bot: bool,
        /// The message it replies to, in the same channel.
        replies_to: Option<u64>,
        /// The bot runs without the message-content intent and this message came without text and
        /// files: it says something that the bot may not read.
        empty_without_intent: bool,
    },
    /// Another bot or a webhook wrote a message in a channel or thread that the bot sees: how
    /// monitoring speaks. Never the bot itself.
    Automatic {
        /// Where.
        place: Place,
        /// The message.
        message: SeenMessage,
    },
    /// A thread was archived, unarchived, locked, unlocked or renamed.
    ThreadChanged {
        /// The guild.
        guild: u64,
        /// The thread.
        thread: u64,
        /// Whether it is archived now.
        archived: bool,
        /// Whether it is locked now.
        locked: bool,
    },
    /// Something was deleted.
    Gone(Gone),
    /// The gateway is there (again). Messages may have been missed: catch up over REST.
    Connected {
        /// Discord replayed what was missed; where not, events in between are lost.
        resumed: bool,
        /// Whether the bot may read what others write.
        message_content: bool,
        /// The guilds the bot is in.
        guilds: Vec<u64>,
    },
}

impl Incoming {
    /// A stable word for logs and metrics.
    pub fn kind(&self) -> &'static str {
        match self {
            Self::Slash { .. } => "slash",
            Self::MessageCommand { .. } => "message_command",
            Self::Modal { .. } => "modal",
            Self::Component { .. } => "component",
            Self::Autocomplete { .. } => "autocomplete",
            Self::Unreadable { .. } => "unreadable",
            Self::Message { .. } => "message",
            Self::Automatic { .. } => "automatic",
            Self::ThreadChanged { .. } => "thread_changed",
            Self::Gone(_) => "gone",
            Self::Connected { .. } => "connected",
        }
    }

    /// The means to answer, where somebody waits for an answer.
    pub fn reply(&self) -> Option<&Reply> {
        match self {
            Self::Slash { reply, .. }
            | Self::MessageCommand { reply, .. }
            | Self::Modal { reply, .. }
            | Self::Component { reply, .. }
            | Self::Autocomplete { reply, .. }
            | Self::Unreadable { reply, .. } => Some(reply),
            Self::Message { .. }
            | Self::Automatic { .. }
            | Self::ThreadChanged { .. }
            | Self::Gone(_)
            | Self::Connected { .. } => None,
        }
    }

    /// Where it happened, where it happened at one place.
    pub fn place(&self) -> Option<&Place> {
        match self {
            Self::Slash { place, .. }
            | Self::MessageCommand { place, .. }
            | Self::Modal { place, .. }
            | Self::Component { place, .. }
            | Self::Autocomplete { place, .. }
            | Self::Message { place, .. }
            | Self::Automatic { place, .. } => Some(place),
            Self::Unreadable { .. }
            | Self::ThreadChanged { .. }
            | Self::Gone(_)
            | Self::Connected { .. } => None,
        }
    }

    /// Who did it, where a person did.
    pub fn who(&self) -> Option<&Person> {
        match self {
            Self::Slash { who, .. }
            | Self::MessageCommand { who, .. }
            | Self::Modal { who, .. }
            | Self::Component { who, .. }
            | Self::Autocomplete { who, .. }
            | Self::Message { who, .. } => Some(who),
            Self::Unreadable { .. }
            | Self::Automatic { .. }
            | Self::ThreadChanged { .. }
            | Self::Gone(_)
            | Self::Connected { .. } => None,
        }
    }
}

impl fmt::Debug for Incoming {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut out = f.debug_struct(self.kind());
        if let Some(reply) = self.reply() {
            out.field("interaction", &reply.interaction);
        }
        if let Some(place) = self.place() {
            out.field("place", place);
        }
        if let Some(who) = self.who() {
            out.field("who", who);
        }
        match self {
            Self::Slash {
                command, options, ..
            } => out.field("command", command).field("options", options),
            Self::MessageCommand {
                command, message, ..
            } => out.field("command", command).field("message", message),
            Self::Modal {
                fields, message, ..
            } => out
                .field("fields", &fields.keys().collect::<Vec<_>>())
                .field("message", message),
            Self::Component { message, .. } => out.field("message", message),
            Self::Autocomplete {
                command, option, ..
            } => out.field("command", command).field("option", option),
            Self::Unreadable { .. } => &mut out,
            Self::Message {
                message,
                mentions_bot,
                ..
            } => out
                .field("message", message)
                .field("mentions_bot", mentions_bot),
            Self::Automatic { message, .. } => out.field("message", message),
            Self::ThreadChanged {
                thread,
                archived,
                locked,
                ..
            } => out
                .field("thread", thread)
                .field("archived", archived)
                .field("locked", locked),
            Self::Gone(gone) => out.field("gone", gone),
            Self::Connected {
                resumed,
                message_content,
                ..
            } => out
                .field("resumed", resumed)
                .field("message_content", message_content),
        };
        out.finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reply(created_ms: i64) -> Reply {
        Reply {
            interaction: 7,
            application: 1,
            token: "aW50ZXJhY3Rpb24".to_owned(),
            created_ms,
        }
    }

    #[test]
    fn a_token_is_relied_on_for_fourteen_and_a_half_minutes() {
        for (now_ms, expired) in [
            (0, false),
            (1_000, false),
            (870_999, false),
            (871_000, true),
            (i64::MAX, true),
            (i64::MIN, false),
        ] {
            assert_eq!(reply(1_000).expired(now_ms), expired, "{now_ms}");
        }
    }

    #[test]
    fn ids_tell_when_they_were_made() {
        // The example of Discord's documentation.
        assert_eq!(made_at_ms(175_928_847_299_117_063), 1_462_015_105_796);
        assert_eq!(made_at_ms(0), DISCORD_EPOCH_MS);
        assert!(made_at_ms(u64::MAX) > made_at_ms(u64::MAX >> 1));
    }

    #[test]
    fn debug_shows_no_words_no_names_no_tokens() {
        let who = Person {
            id: 3,
            name: "Alice Secretname".to_owned(),
            locale: Locale::Zh,
            may: May::default(),
        };
        let place = Place {
            guild: 1,
            channel: 2,
            parent: None,
            thread: false,
            private: true,
            known: true,
        };
        let message = SeenMessage {
            id: 9,
            author: who.clone(),
            from_bot: false,
            text: "password=hunter2".to_owned(),
            post: Some(Box::new(Post {
                content: "password=hunter2".to_owned(),
                ..Post::default()
            })),
            files: vec![FileRef {
                id: 4,
                name: "hunter2.log".to_owned(),
                url: "https://cdn.discordapp.com/hunter2".to_owned(),
                size: 10,
                content_type: None,
            }],
            at_ms: 0,
        };
        let text = |value: &str| OptionValue::Text(value.to_owned());
        let all = [
            Incoming::Slash {
                reply: reply(0),
                who: who.clone(),
                place,
                bot_may: BotMay::default(),
                command: "analyze".to_owned(),
                options: Options([("report".to_owned(), text("hunter2"))].into()),
            },
            Incoming::MessageCommand {
                reply: reply(0),
                who: who.clone(),
                place,
                bot_may: BotMay::default(),
                command: "Analyze as incident".to_owned(),
                message: message.clone(),
            },
            Incoming::Modal {
                reply: reply(0),
                who: who.clone(),
                place,
                bot_may: BotMay::default(),
                custom_id: "m:1".to_owned(),
                fields: [("report".to_owned(), "hunter2".to_owned())].into(),
                message: None,
            },
            Incoming::Autocomplete {
                reply: reply(0),
                who: who.clone(),
                place,
                command: "analyze".to_owned(),
                option: "service".to_owned(),
                typed: "hunter2".to_owned(),
                options: Options::default(),
            },
            Incoming::Message {
                who,
                place,
                message,
                mentions_bot: true,
                replies_to: None,
                empty_without_intent: false,
            },
        ];
        for incoming in all {
            let shown = format!("{incoming:?}");
            for secret in ["hunter2", "Secretname", "aW50"] {
                assert!(!shown.contains(secret), "{shown}");
            }
            // Stored and read back, it is the same.
            let stored = serde_json::to_string(&incoming).expect("plain data");
            let read: Incoming = serde_json::from_str(&stored).expect("what was written");
            assert_eq!(read, incoming);
        }
    }
}

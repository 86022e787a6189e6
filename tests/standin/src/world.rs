//! The plain model of the other side: guilds, channels, people, messages.
//!
//! Everything the double answers is derived from here: REST reads it, the gateway is
//! told of every change to it, people act on it. It holds no sockets and never waits.
//!
//! Deliberately absent: voice, stickers, forums, scheduled events, moderation; DMs.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Map, Value, json};
use tokio::sync::broadcast;

use crate::clock::{Clock, iso8601};
use crate::faults::Fault;
use crate::gateway::Gateway;
use crate::ids::{ChannelId, UserId};
use crate::mentions::{Circumstances, Pings, resolve};
use crate::permissions::{self as may, Overwrite};
use crate::rules::EPHEMERAL;

/// First millisecond of Discord's snowflakes: 2015-01-01.
const EPOCH_MILLISECONDS: u64 = 1_420_070_400_000;
/// `flags`: the message has a thread.
pub(crate) const HAS_THREAD: u64 = 1 << 5;
/// `flags`: an interaction is "thinking".
pub(crate) const LOADING: u64 = 1 << 7;
/// Application flag: message content approved.
const GATEWAY_MESSAGE_CONTENT: u64 = 1 << 18;
/// Application flag: message content switched on, small application.
const GATEWAY_MESSAGE_CONTENT_LIMITED: u64 = 1 << 19;

/// Something that changed, for whoever draws the world.
#[derive(Clone, Debug)]
pub struct Change {
    /// Discord's name for it: `MESSAGE_CREATE`, `THREAD_UPDATE`, ...
    pub name: &'static str,
    /// The whole payload, nothing stripped.
    pub data: Value,
    /// Set where only one person may see it.
    pub only_for: Option<UserId>,
}

#[derive(Debug, Clone)]
pub(crate) struct User {
    pub id: u64,
    pub name: String,
    pub bot: bool,
    pub locale: String,
}

#[derive(Debug, Clone)]
pub(crate) struct Role {
    pub id: u64,
    pub name: String,
    pub permissions: u64,
    pub mentionable: bool,
    pub managed: bool,
}

#[derive(Debug, Clone)]
pub(crate) struct Member {
    pub roles: Vec<u64>,
    pub joined_milliseconds: u64,
}

#[derive(Debug, Clone)]
pub(crate) struct Guild {
    pub id: u64,
    pub name: String,
    pub owner: u64,
    pub locale: String,
    pub roles: BTreeMap<u64, Role>,
    pub members: BTreeMap<u64, Member>,
}

#[derive(Debug, Clone)]
pub(crate) struct Thread {
    pub parent: u64,
    pub owner: u64,
    pub private: bool,
    pub archived: bool,
    pub locked: bool,
    pub auto_archive_minutes: u64,
    pub archive_changed_milliseconds: u64,
    pub members: BTreeSet<u64>,
    pub invitable: bool,
}

#[derive(Debug, Clone)]
pub(crate) struct Channel {
    pub id: u64,
    pub guild: u64,
    pub name: String,
    pub position: usize,
    pub overwrites: Vec<Overwrite>,
    pub thread: Option<Thread>,
    pub last_message: Option<u64>,
    pub messages_sent: u64,
    pub rate_limit_seconds: u64,
    /// Times of renames, for the limit of two in ten minutes.
    pub renamed_milliseconds: Vec<u64>,
    /// Times at which the bot was typing.
    pub typing_milliseconds: Vec<u64>,
}

#[derive(Debug, Clone)]
pub(crate) enum Author {
    User(u64),
    Webhook { id: u64, name: String },
}

/// A file as uploaded, by a person or by the bot.
#[derive(Debug, Clone)]
pub(crate) struct Attachment {
    pub id: u64,
    pub channel: u64,
    /// As the uploader named it.
    pub title: String,
    pub filename: String,
    pub content_type: Option<String>,
    pub description: Option<String>,
    pub bytes: Vec<u8>,
    pub ephemeral: bool,
}

/// What a message said before an edit.
#[derive(Debug, Clone)]
pub(crate) struct Revision {
    pub content: String,
    pub embeds: Vec<Value>,
    pub components: Vec<Value>,
    pub attachments: Vec<u64>,
    pub flags: u64,
}

#[derive(Debug, Clone)]
pub(crate) struct Message {
    pub id: u64,
    pub channel: u64,
    pub author: Author,
    /// Discord's message type: 0 ordinary, 18 thread created, 19 reply, 20 command,
    /// 21 thread starter, 23 message command.
    pub kind: u64,
    pub content: String,
    pub embeds: Vec<Value>,
    pub components: Vec<Value>,
    pub attachments: Vec<u64>,
    pub flags: u64,
    pub created_milliseconds: u64,
    pub edited_milliseconds: Option<u64>,
    /// Who is named, which is what `mentions` lists.
    pub mentions: Pings,
    /// Who was notified.
    pub pings: Pings,
    pub allowed_mentions: Option<Value>,
    /// Channel and message it answers or starts from.
    pub reference: Option<(u64, u64)>,
    pub interaction: Option<u64>,
    pub webhook: Option<u64>,
    pub nonce: Option<Value>,
    /// Emoji to the people who reacted.
    pub reactions: BTreeMap<String, BTreeSet<u64>>,
    pub thread: Option<u64>,
    pub ephemeral_for: Option<u64>,
    pub deleted: bool,
    pub read: bool,
    pub history: Vec<Revision>,
    pub edits: u64,
    /// Edits made when the message was older than an hour (30046).
    pub old_edits_milliseconds: Vec<u64>,
}

impl Message {
    pub fn is_loading(&self) -> bool {
        self.flags & LOADING != 0
    }

    pub fn is_system(&self) -> bool {
        matches!(self.kind, 18 | 21)
    }
}

/// The first answer to an interaction.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Response {
    Message,
    Deferred,
    DeferredUpdate,
    Update,
    Choices(Vec<Value>),
    Modal(Value),
}

#[derive(Debug, Clone)]
pub(crate) struct Interaction {
    pub id: u64,
    pub token: String,
    /// 2 command, 3 component, 4 autocomplete, 5 modal.
    pub kind: u64,
    pub channel: u64,
    pub user: u64,
    pub created_milliseconds: u64,
    /// Real time, for measuring: when the event went to the bot's connection.
    pub told: Option<std::time::Instant>,
    /// Real time: when the request with the first answer arrived.
    pub responded: Option<std::time::Instant>,
    /// `/analyze`, `button "Worked"`, ...: what a failing test calls it.
    pub title: String,
    pub payload: Value,
    pub response: Option<Response>,
    pub response_read: bool,
    /// The message that `@original` means.
    pub original: Option<u64>,
    pub followups: Vec<u64>,
    /// The message whose component was used.
    pub source: Option<u64>,
    /// Nobody waits for an answer any more.
    pub forgotten: bool,
}

/// A request as it arrived and how it was answered.
#[derive(Clone, Debug)]
pub struct Request {
    /// `POST`, ...
    pub method: String,
    /// Path after `/api/v10`, with the query.
    pub path: String,
    /// The JSON body, or null.
    pub body: Value,
    /// 0 where the connection was dropped or left hanging.
    pub status: u16,
}

/// A rate limit that a test has set on a route.
#[derive(Clone, Debug)]
pub(crate) struct Limit {
    pub method: String,
    pub pattern: String,
    pub requests: u64,
    pub per_milliseconds: u64,
}

/// Who hears of a change on the gateway.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Audience {
    /// Whoever is told of anything.
    Application,
    /// Sessions with the GUILDS intent, if the bot sees the channel.
    Channel(u64),
    /// Sessions with the given intent, if the bot sees the channel.
    ChannelWith(u64, u64),
    /// Sessions with the GUILDS intent.
    Guild,
}

pub(crate) struct NewMessage {
    pub channel: u64,
    pub author: Author,
    pub kind: u64,
    pub content: String,
    pub embeds: Vec<Value>,
    pub components: Vec<Value>,
    pub attachments: Vec<u64>,
    pub flags: u64,
    pub allowed_mentions: Option<Value>,
    pub reference: Option<(u64, u64)>,
    pub interaction: Option<u64>,
    pub webhook: Option<u64>,
    pub nonce: Option<Value>,
    pub ephemeral_for: Option<u64>,
}

impl NewMessage {
    pub fn in_channel(channel: u64, author: Author) -> Self {
        Self {
            channel,
            author,
            kind: 0,
            content: String::new(),
            embeds: Vec::new(),
            components: Vec::new(),
            attachments: Vec::new(),
            flags: 0,
            allowed_mentions: None,
            reference: None,
            interaction: None,
            webhook: None,
            nonce: None,
            ephemeral_for: None,
        }
    }
}

/// New values of a message; `None` leaves what is there.
#[derive(Default)]
pub(crate) struct MessageEdit {
    pub content: Option<String>,
    pub embeds: Option<Vec<Value>>,
    pub components: Option<Vec<Value>>,
    pub attachments: Option<Vec<u64>>,
    pub flags: Option<u64>,
    pub allowed_mentions: Option<Value>,
}

/// Everything there is.
pub(crate) struct World {
    pub clock: Clock,
    pub last_id: u64,
    /// The application, which is also its bot user.
    pub bot: u64,
    pub token: String,
    pub message_content: bool,
    pub response_limit_milliseconds: u64,
    pub token_life_milliseconds: u64,
    pub guilds: BTreeMap<u64, Guild>,
    pub channels: BTreeMap<u64, Channel>,
    pub users: BTreeMap<u64, User>,
    pub messages: BTreeMap<u64, Message>,
    pub attachments: BTreeMap<u64, Attachment>,
    pub interactions: BTreeMap<u64, Interaction>,
    pub global_commands: Vec<Value>,
    pub guild_commands: BTreeMap<u64, Vec<Value>>,
    /// How often commands were put.
    pub registrations: u64,
    pub violations: Vec<String>,
    pub faults: Vec<Fault>,
    pub requests: Vec<Request>,
    /// Limits that a test has set, and what is left in each bucket.
    pub limits: Vec<Limit>,
    pub buckets: BTreeMap<String, (u64, u64)>,
    /// Id of each person's own role, by guild and person.
    pub own_roles: BTreeMap<(u64, u64), u64>,
    pub gateway: Gateway,
    pub changes: broadcast::Sender<Change>,
    /// `http://127.0.0.1:1234`, without a slash.
    pub url: String,
    /// Where attachments are downloaded from.
    pub cdn: String,
}

impl World {
    pub fn new(clock: Clock) -> Self {
        let (changes, _) = broadcast::channel(4096);
        let bot = 1_100_000_000_000_000_001;
        let mut users = BTreeMap::new();
        users.insert(
            bot,
            User {
                id: bot,
                name: "precedent".to_owned(),
                bot: true,
                locale: "en-US".to_owned(),
            },
        );
        Self {
            clock,
            last_id: 0,
            bot,
            token: format!(
                "{}.Gstand.in-token-for-tests-only-0123456789abc",
                base64(&bot.to_string())
            ),
            message_content: true,
            response_limit_milliseconds: 3_000,
            token_life_milliseconds: 15 * 60 * 1_000,
            guilds: BTreeMap::new(),
            channels: BTreeMap::new(),
            users,
            messages: BTreeMap::new(),
            attachments: BTreeMap::new(),
            interactions: BTreeMap::new(),
            global_commands: Vec::new(),
            guild_commands: BTreeMap::new(),
            registrations: 0,
            violations: Vec::new(),
            faults: Vec::new(),
            requests: Vec::new(),
            limits: Vec::new(),
            buckets: BTreeMap::new(),
            own_roles: BTreeMap::new(),
            gateway: Gateway::default(),
            changes,
            url: String::new(),
            cdn: String::new(),
        }
    }

    /// A new snowflake: later than all before.
    pub fn new_id(&mut self) -> u64 {
        let milliseconds = self
            .clock
            .now_milliseconds()
            .saturating_sub(EPOCH_MILLISECONDS);
        self.last_id = (milliseconds << 22).max(self.last_id + 1);
        self.last_id
    }

    pub fn violation(&mut self, what: impl Into<String>) {
        self.violations.push(what.into());
    }

    // ---- who may what ------------------------------------------------------

    /// A person's permissions in a channel or thread; 0 where there is no way in.
    pub fn permissions(&self, user: u64, channel: u64) -> u64 {
        let Some(channel) = self.channels.get(&channel) else {
            return 0;
        };
        let Some(guild) = self.guilds.get(&channel.guild) else {
            return 0;
        };
        let Some(member) = guild.members.get(&user) else {
            return 0;
        };
        if guild.owner == user {
            return may::ALL;
        }
        let base = self.guild_permissions(user, guild.id);
        let of = channel
            .thread
            .as_ref()
            .and_then(|t| self.channels.get(&t.parent))
            .unwrap_or(channel);
        let here = may::in_channel(base, guild.id, &member.roles, user, &of.overwrites);
        match &channel.thread {
            Some(thread)
                if thread.private
                    && !thread.members.contains(&user)
                    && here & may::MANAGE_THREADS == 0 =>
            {
                0
            }
            _ => here,
        }
    }

    pub fn guild_permissions(&self, user: u64, guild: u64) -> u64 {
        let Some(guild) = self.guilds.get(&guild) else {
            return 0;
        };
        let Some(member) = guild.members.get(&user) else {
            return 0;
        };
        if guild.owner == user {
            return may::ALL;
        }
        let everyone = guild.roles.get(&guild.id).map_or(0, |r| r.permissions);
        let all = member
            .roles
            .iter()
            .filter_map(|r| guild.roles.get(r))
            .fold(everyone, |all, role| all | role.permissions);
        if all & may::ADMINISTRATOR == 0 {
            all
        } else {
            may::ALL
        }
    }

    pub fn may(&self, user: u64, channel: u64, permission: u64) -> bool {
        self.permissions(user, channel) & permission == permission
    }

    pub fn sees(&self, user: u64, channel: u64) -> bool {
        self.may(user, channel, may::VIEW_CHANNEL)
    }

    // ---- JSON as Discord writes it -----------------------------------------

    pub fn user_json(&self, user: u64) -> Value {
        let Some(user) = self.users.get(&user) else {
            return json!({
                "id": user.to_string(), "username": "deleted_user", "discriminator": "0",
                "global_name": null, "avatar": null, "public_flags": 0, "flags": 0,
            });
        };
        let mut json = json!({
            "id": user.id.to_string(),
            "username": user.name,
            "discriminator": if user.bot { "4711" } else { "0" },
            "global_name": if user.bot { Value::Null } else { json!(user.name) },
            "avatar": null,
            "banner": null,
            "accent_color": null,
            "public_flags": 0,
            "flags": 0,
            "avatar_decoration_data": null,
            "clan": null,
            "primary_guild": null,
        });
        if user.bot {
            json["bot"] = json!(true);
        }
        json
    }

    pub fn member_json(&self, guild: u64, user: u64, with_user: bool) -> Value {
        let member = self.guilds.get(&guild).and_then(|g| g.members.get(&user));
        let roles: Vec<String> = member
            .map(|m| m.roles.iter().map(u64::to_string).collect())
            .unwrap_or_default();
        let joined = member.map_or(0, |m| m.joined_milliseconds);
        let mut json = json!({
            "nick": null, "avatar": null, "banner": null,
            "roles": roles,
            "joined_at": iso8601(joined),
            "premium_since": null,
            "deaf": false, "mute": false, "flags": 0, "pending": false,
            "communication_disabled_until": null,
            "unusual_dm_activity_until": null,
        });
        if with_user {
            json["user"] = self.user_json(user);
        }
        json
    }

    pub fn role_json(role: &Role) -> Value {
        json!({
            "id": role.id.to_string(), "name": role.name, "description": null,
            "color": 0,
            "colors": {"primary_color": 0, "secondary_color": null, "tertiary_color": null},
            "hoist": false, "position": 0, "permissions": role.permissions.to_string(),
            "managed": role.managed, "mentionable": role.mentionable,
            "icon": null, "unicode_emoji": null, "flags": 0,
        })
    }

    pub fn guild_json(&self, guild: &Guild) -> Value {
        let roles: Vec<Value> = guild.roles.values().map(Self::role_json).collect();
        json!({
            "id": guild.id.to_string(), "name": guild.name,
            "icon": null, "icon_hash": null, "splash": null, "discovery_splash": null,
            "owner_id": guild.owner.to_string(),
            "afk_channel_id": null, "afk_timeout": 300,
            "widget_enabled": false, "widget_channel_id": null,
            "verification_level": 1, "default_message_notifications": 1,
            "explicit_content_filter": 0,
            "roles": roles, "emojis": [], "features": [], "mfa_level": 0,
            "application_id": null, "system_channel_id": null, "system_channel_flags": 0,
            "rules_channel_id": null, "max_presences": null, "max_members": 500_000,
            "vanity_url_code": null, "description": null, "banner": null,
            "premium_tier": 0, "premium_subscription_count": 0,
            "preferred_locale": guild.locale, "public_updates_channel_id": null,
            "nsfw_level": 0, "nsfw": false, "stickers": [],
            "premium_progress_bar_enabled": false, "safety_alerts_channel_id": null,
            "incidents_data": null, "home_header": null, "region": "us-east",
            "max_video_channel_users": 25, "max_stage_video_channel_users": 50,
        })
    }

    /// The payload of GUILD_CREATE, with what the bot may see.
    pub fn guild_create_json(&self, guild: &Guild) -> Value {
        let mut json = self.guild_json(guild);
        let of_guild = |threads: bool| -> Vec<Value> {
            self.channels
                .values()
                .filter(|c| c.guild == guild.id && c.thread.is_some() == threads)
                // Channels come whether or not the bot sees them; threads only active
                // ones that it sees.
                .filter(|c| match &c.thread {
                    None => true,
                    Some(t) => !t.archived && self.sees(self.bot, c.id),
                })
                .map(|c| self.channel_json(c))
                .collect()
        };
        let (channels, threads) = (of_guild(false), of_guild(true));
        let joined = guild
            .members
            .get(&self.bot)
            .map_or(0, |m| m.joined_milliseconds);
        // Without the members intent a guild comes with the bot's own member only.
        let members = vec![self.member_json(guild.id, self.bot, true)];
        if let Some(map) = json.as_object_mut() {
            map.extend([
                ("joined_at".to_owned(), json!(iso8601(joined))),
                ("large".to_owned(), json!(false)),
                ("unavailable".to_owned(), json!(false)),
                ("member_count".to_owned(), json!(guild.members.len())),
                ("voice_states".to_owned(), json!([])),
                ("members".to_owned(), json!(members)),
                ("channels".to_owned(), json!(channels)),
                ("threads".to_owned(), json!(threads)),
                ("presences".to_owned(), json!([])),
                ("stage_instances".to_owned(), json!([])),
                ("guild_scheduled_events".to_owned(), json!([])),
                ("soundboard_sounds".to_owned(), json!([])),
            ]);
        }
        json
    }

    pub fn channel_json(&self, channel: &Channel) -> Value {
        let last = channel.last_message.map(|id| id.to_string());
        if let Some(thread) = &channel.thread {
            let mut json = json!({
                "id": channel.id.to_string(),
                "type": if thread.private { 12 } else { 11 },
                "guild_id": channel.guild.to_string(),
                "parent_id": thread.parent.to_string(),
                "owner_id": thread.owner.to_string(),
                "name": channel.name,
                "last_message_id": last,
                "message_count": channel.messages_sent,
                "total_message_sent": channel.messages_sent,
                "member_count": thread.members.len().min(50),
                "rate_limit_per_user": channel.rate_limit_seconds,
                "flags": 0,
                "thread_metadata": {
                    "archived": thread.archived,
                    "auto_archive_duration": thread.auto_archive_minutes,
                    "archive_timestamp": iso8601(thread.archive_changed_milliseconds),
                    "create_timestamp": iso8601((channel.id >> 22) + EPOCH_MILLISECONDS),
                    "locked": thread.locked,
                },
            });
            if thread.private {
                json["thread_metadata"]["invitable"] = json!(thread.invitable);
            }
            if thread.members.contains(&self.bot) {
                json["member"] = json!({
                    "id": channel.id.to_string(), "user_id": self.bot.to_string(),
                    "join_timestamp": iso8601((channel.id >> 22) + EPOCH_MILLISECONDS),
                    "flags": 0,
                });
            }
            return json;
        }
        let overwrites: Vec<Value> = channel
            .overwrites
            .iter()
            .map(|o| {
                json!({
                    "id": o.target.to_string(), "type": u8::from(o.member),
                    "allow": o.allow.to_string(), "deny": o.deny.to_string(),
                })
            })
            .collect();
        json!({
            "id": channel.id.to_string(), "type": 0, "guild_id": channel.guild.to_string(),
            "name": channel.name, "position": channel.position, "parent_id": null,
            "permission_overwrites": overwrites, "topic": null, "nsfw": false,
            "last_message_id": last, "rate_limit_per_user": channel.rate_limit_seconds,
            "flags": 0, "default_auto_archive_duration": 1440, "last_pin_timestamp": null,
        })
    }

    pub fn attachment_json(&self, id: u64) -> Value {
        let Some(attachment) = self.attachments.get(&id) else {
            return Value::Null;
        };
        let url = format!(
            "{}/attachments/{}/{}/{}?ex=7fffffff&is=5fffffff&hm=00",
            self.cdn, attachment.channel, attachment.id, attachment.filename
        );
        let mut json = json!({
            "id": attachment.id.to_string(),
            "filename": attachment.filename,
            "size": attachment.bytes.len(),
            "url": url,
            "proxy_url": url,
        });
        if attachment.title != attachment.filename {
            json["title"] = json!(attachment.title);
        }
        if let Some(kind) = &attachment.content_type {
            json["content_type"] = json!(kind);
        }
        if let Some(text) = &attachment.description {
            json["description"] = json!(text);
        }
        if attachment.ephemeral {
            json["ephemeral"] = json!(true);
        }
        json
    }

    /// A message with everything, as its author or a person sees it.
    pub fn message_json(&self, message: &Message) -> Value {
        self.message_json_within(message, true)
    }

    fn message_json_within(&self, message: &Message, with_reference: bool) -> Value {
        let author = match &message.author {
            Author::User(id) => self.user_json(*id),
            Author::Webhook { id, name } => json!({
                "id": id.to_string(), "username": name, "discriminator": "0000",
                "global_name": null, "avatar": null, "bot": true, "public_flags": 0,
                "flags": 0, "primary_guild": null,
            }),
        };
        let attachments: Vec<Value> = message
            .attachments
            .iter()
            .map(|a| self.attachment_json(*a))
            .collect();
        let mentions: Vec<Value> = message
            .mentions
            .users
            .iter()
            .map(|u| self.user_json(*u))
            .collect();
        let roles: Vec<String> = message.mentions.roles.iter().map(u64::to_string).collect();
        let mut json = json!({
            "id": message.id.to_string(),
            "channel_id": message.channel.to_string(),
            "type": message.kind,
            "author": author,
            "content": message.content,
            "timestamp": iso8601(message.created_milliseconds),
            "edited_timestamp": message.edited_milliseconds.map(iso8601),
            "tts": false,
            "mention_everyone": message.mentions.everyone,
            "mentions": mentions,
            "mention_roles": roles,
            "attachments": attachments,
            "embeds": message.embeds,
            "components": message.components,
            "pinned": false,
            "flags": message.flags,
        });
        let Some(map) = json.as_object_mut() else {
            return json;
        };
        if let Some(webhook) = message.webhook {
            map.insert("webhook_id".to_owned(), json!(webhook.to_string()));
        }
        if let Author::User(id) = message.author
            && id == self.bot
            && message.interaction.is_some()
        {
            map.insert("application_id".to_owned(), json!(self.bot.to_string()));
        }
        if let Some(nonce) = &message.nonce {
            map.insert("nonce".to_owned(), nonce.clone());
        }
        if !message.reactions.is_empty() {
            let reactions: Vec<Value> = message
                .reactions
                .iter()
                .map(|(emoji, people)| {
                    json!({
                        "emoji": {"id": null, "name": emoji},
                        "count": people.len(),
                        "count_details": {"burst": 0, "normal": people.len()},
                        "me": people.contains(&self.bot), "me_burst": false,
                        "burst_colors": [],
                    })
                })
                .collect();
            map.insert("reactions".to_owned(), json!(reactions));
        }
        if let Some(thread) = message.thread.and_then(|t| self.channels.get(&t)) {
            map.insert("thread".to_owned(), self.channel_json(thread));
        }
        if let Some((channel, of)) = message.reference {
            let guild = self.channels.get(&channel).map(|c| c.guild.to_string());
            let mut reference =
                json!({"type": 0, "channel_id": channel.to_string(), "guild_id": guild});
            if message.kind != 18 {
                reference["message_id"] = json!(of.to_string());
            }
            map.insert("message_reference".to_owned(), reference);
            if with_reference && matches!(message.kind, 19 | 21) {
                let referenced = self
                    .messages
                    .get(&of)
                    .filter(|m| !m.deleted)
                    .map(|m| self.message_json_within(m, false));
                map.insert("referenced_message".to_owned(), json!(referenced));
            }
        }
        if let Some(interaction) = message.interaction.and_then(|i| self.interactions.get(&i)) {
            map.insert(
                "interaction_metadata".to_owned(),
                self.interaction_metadata_json(interaction),
            );
        }
        json
    }

    fn interaction_metadata_json(&self, interaction: &Interaction) -> Value {
        let guild = self
            .channels
            .get(&interaction.channel)
            .map_or(0, |c| c.guild)
            .to_string();
        let mut json = json!({
            "id": interaction.id.to_string(),
            "type": interaction.kind,
            "user": self.user_json(interaction.user),
            "authorizing_integration_owners": {"0": guild},
        });
        match (interaction.kind, interaction.source) {
            (3, Some(source)) => json["interacted_message_id"] = json!(source.to_string()),
            (5, _) => {
                json["triggering_interaction_metadata"] = json!({
                    "id": interaction.id.to_string(),
                    "type": 2,
                    "user": self.user_json(interaction.user),
                    "authorizing_integration_owners": {"0": guild},
                });
            }
            _ => {}
        }
        json
    }

    /// Whether the bot reads a message's content without the intent: its own, or one
    /// that mentions it. A reply counts only if it pings.
    fn is_exempt_from_stripping(&self, message: &Message) -> bool {
        matches!(message.author, Author::User(id) if id == self.bot)
            || message.mentions.users.contains(&self.bot)
    }

    /// A message as the bot gets it; `content_intent` says whether it may read others'.
    pub fn message_json_for_bot(&self, message: &Message, content_intent: bool) -> Value {
        let mut json = self.message_json(message);
        if !content_intent {
            if !self.is_exempt_from_stripping(message) {
                strip(&mut json);
            }
            if let Some((_, of)) = message.reference
                && let Some(referenced) = self.messages.get(&of)
                && !self.is_exempt_from_stripping(referenced)
                && let Some(inner) = json.get_mut("referenced_message")
            {
                strip(inner);
            }
        }
        json
    }

    pub fn application_flags(&self) -> u64 {
        if self.message_content {
            GATEWAY_MESSAGE_CONTENT | GATEWAY_MESSAGE_CONTENT_LIMITED
        } else {
            0
        }
    }

    // ---- changes -----------------------------------------------------------

    /// Tells the gateway and whoever listens.
    pub fn tell(&mut self, name: &'static str, data: Value, audience: Audience) {
        let seen = match audience {
            Audience::Channel(channel) | Audience::ChannelWith(channel, _) => {
                self.sees(self.bot, channel)
            }
            Audience::Application | Audience::Guild => true,
        };
        self.announce(name, data.clone(), None);
        if seen {
            let intent = match audience {
                Audience::Application => 0,
                Audience::ChannelWith(_, intent) => intent,
                Audience::Channel(_) | Audience::Guild => crate::gateway::GUILDS,
            };
            self.gateway.dispatch(name, intent, &data);
        }
    }

    pub fn announce(&self, name: &'static str, data: Value, only_for: Option<u64>) {
        // Nobody listening is fine.
        let _ = self.changes.send(Change {
            name,
            data,
            only_for: only_for.map(UserId),
        });
    }

    fn tell_message(&mut self, name: &'static str, id: u64) {
        let Some(message) = self.messages.get(&id).cloned() else {
            return;
        };
        let full = self.message_json(&message);
        self.announce(name, full, message.ephemeral_for);
        if message.ephemeral_for.is_some() || !self.sees(self.bot, message.channel) {
            return;
        }
        let Some(guild) = self.channels.get(&message.channel).map(|c| c.guild) else {
            return;
        };
        let member = match message.author {
            Author::User(user) => Some(self.member_json(guild, user, false)),
            Author::Webhook { .. } => None,
        };
        let finish = |mut json: Value| {
            json["guild_id"] = json!(guild.to_string());
            if let Some(member) = &member {
                json["member"] = member.clone();
            }
            json
        };
        let full = finish(self.message_json_for_bot(&message, true));
        let stripped = finish(self.message_json_for_bot(&message, false));
        self.gateway.dispatch_message(name, &full, &stripped);
    }

    /// The same event once more, as happens after a RESUME.
    pub fn repeat_message(&mut self, id: u64) {
        self.tell_message("MESSAGE_CREATE", id);
    }

    fn resolve_mentions(&self, message: &NewMessage) -> Pings {
        let (author, webhook) = match message.author {
            Author::User(id) => (id, message.interaction.is_some()),
            Author::Webhook { id, .. } => (id, true),
        };
        let replied_to = message
            .reference
            .filter(|_| message.kind == 19 && message.interaction.is_none())
            .and_then(|(_, id)| self.messages.get(&id))
            .and_then(|m| match m.author {
                Author::User(id) => Some(id),
                Author::Webhook { .. } => None,
            });
        // Webhooks ping what they are told to.
        let everyone = matches!(message.author, Author::Webhook { .. })
            || self.may(author, message.channel, may::MENTION_EVERYONE);
        let guild = self.channels.get(&message.channel).map(|c| c.guild);
        let mut pings = resolve(
            &message.content,
            Circumstances {
                allowed: message.allowed_mentions.as_ref(),
                users_only_by_default: webhook,
                may_mention_everyone: everyone,
                replied_to,
            },
            |role| {
                guild
                    .and_then(|g| self.guilds.get(&g))
                    .and_then(|g| g.roles.get(&role))
                    .is_some_and(|r| r.mentionable)
            },
        );
        pings.users.retain(|u| self.users.contains_key(u));
        pings
    }

    /// Puts a message into the world and tells everybody who may know.
    pub fn post(&mut self, new: NewMessage) -> u64 {
        let id = self.new_id();
        self.post_as(id, new)
    }

    pub fn post_as(&mut self, id: u64, new: NewMessage) -> u64 {
        let pings = self.resolve_mentions(&new);
        let now = self.clock.now_milliseconds();
        let by_bot = matches!(new.author, Author::User(u) if u == self.bot);
        let visible = new.ephemeral_for.is_none();
        let channel = new.channel;
        let system = matches!(new.kind, 18 | 21);
        let author = match new.author {
            Author::User(id) => Some(id),
            Author::Webhook { .. } => None,
        };
        self.messages.insert(
            id,
            Message {
                id,
                channel,
                author: new.author,
                kind: new.kind,
                content: new.content.trim().to_owned(),
                embeds: new.embeds,
                components: new.components,
                attachments: new.attachments,
                flags: new.flags,
                created_milliseconds: now,
                edited_milliseconds: None,
                mentions: pings.clone(),
                pings: if new.flags & LOADING == 0 {
                    pings
                } else {
                    Pings::default()
                },
                allowed_mentions: new.allowed_mentions,
                reference: new.reference,
                interaction: new.interaction,
                webhook: new.webhook,
                nonce: new.nonce,
                reactions: BTreeMap::new(),
                thread: None,
                ephemeral_for: new.ephemeral_for,
                deleted: false,
                read: !by_bot || system,
                history: Vec::new(),
                edits: 0,
                old_edits_milliseconds: Vec::new(),
            },
        );
        if visible {
            self.unarchive_by_sending(channel);
            let mut joined = None;
            if let Some(channel) = self.channels.get_mut(&channel) {
                channel.last_message = Some(id);
                if !system {
                    channel.messages_sent += 1;
                }
                if let (Some(thread), Some(author)) = (&mut channel.thread, author)
                    && !system
                    && thread.members.insert(author)
                {
                    joined = Some(author);
                }
            }
            if let Some(author) = joined {
                self.tell_thread_members(channel, &[author], &[]);
            }
        }
        self.tell_message("MESSAGE_CREATE", id);
        id
    }

    fn unarchive_by_sending(&mut self, channel: u64) {
        let now = self.clock.now_milliseconds();
        let Some(thread) = self
            .channels
            .get_mut(&channel)
            .and_then(|c| c.thread.as_mut())
        else {
            return;
        };
        if thread.archived {
            thread.archived = false;
            thread.archive_changed_milliseconds = now;
            self.tell_channel("THREAD_UPDATE", channel);
        }
    }

    pub fn edit(&mut self, id: u64, edit: MessageEdit) {
        let now = self.clock.now_milliseconds();
        let Some(message) = self.messages.get(&id).cloned() else {
            return;
        };
        let content = edit.content.map(|c| c.trim().to_owned());
        let mut probe = NewMessage::in_channel(message.channel, message.author.clone());
        probe.kind = message.kind;
        probe.content = content.clone().unwrap_or_else(|| message.content.clone());
        probe.allowed_mentions = edit.allowed_mentions.clone();
        probe.reference = message.reference;
        probe.interaction = message.interaction;
        let mentions = self.resolve_mentions(&probe);
        let Some(message) = self.messages.get_mut(&id) else {
            return;
        };
        let was_loading = message.is_loading();
        if !was_loading {
            message.history.push(Revision {
                content: message.content.clone(),
                embeds: message.embeds.clone(),
                components: message.components.clone(),
                attachments: message.attachments.clone(),
                flags: message.flags,
            });
            message.edited_milliseconds = Some(now);
            message.edits += 1;
            if now.saturating_sub(message.created_milliseconds) > 3_600_000 {
                message.old_edits_milliseconds.push(now);
            }
        }
        if let Some(content) = content {
            message.content = content;
        }
        if let Some(embeds) = edit.embeds {
            message.embeds = embeds;
        }
        if let Some(components) = edit.components {
            message.components = components;
        }
        if let Some(attachments) = edit.attachments {
            message.attachments = attachments;
        }
        if let Some(flags) = edit.flags {
            let settable = crate::rules::SUPPRESS_EMBEDS | crate::rules::COMPONENTS_V2;
            message.flags = (message.flags & !settable) | (flags & settable);
        }
        message.flags &= !LOADING;
        message.mentions = mentions.clone();
        if was_loading {
            // The answer to a deferral is when people first see it.
            message.pings = mentions;
        }
        message.allowed_mentions = edit.allowed_mentions;
        self.tell_message("MESSAGE_UPDATE", id);
    }

    pub fn set_message_flags(&mut self, id: u64, flags: u64) {
        if let Some(message) = self.messages.get_mut(&id) {
            message.flags |= flags;
            self.tell_message("MESSAGE_UPDATE", id);
        }
    }

    pub fn delete_message(&mut self, id: u64) {
        let Some(message) = self.messages.get_mut(&id) else {
            return;
        };
        message.deleted = true;
        message.read = true;
        let (channel, ephemeral) = (message.channel, message.ephemeral_for);
        let guild = self.channels.get(&channel).map(|c| c.guild.to_string());
        let data = json!({
            "id": id.to_string(), "channel_id": channel.to_string(), "guild_id": guild,
        });
        if ephemeral.is_some() {
            self.announce("MESSAGE_DELETE", data, ephemeral);
        } else {
            self.tell(
                "MESSAGE_DELETE",
                data,
                Audience::ChannelWith(channel, crate::gateway::GUILD_MESSAGES),
            );
        }
    }

    pub fn tell_channel(&mut self, name: &'static str, channel: u64) {
        let Some(channel) = self.channels.get(&channel) else {
            return;
        };
        let (id, data) = (channel.id, self.channel_json(channel));
        self.tell(name, data, Audience::Channel(id));
    }

    pub fn tell_thread_members(&mut self, thread: u64, added: &[u64], removed: &[u64]) {
        let Some(channel) = self.channels.get(&thread) else {
            return;
        };
        let guild = channel.guild;
        let count = channel.thread.as_ref().map_or(0, |t| t.members.len());
        let now = iso8601(self.clock.now_milliseconds());
        let added: Vec<Value> = added
            .iter()
            .map(|u| {
                json!({
                    "id": thread.to_string(), "user_id": u.to_string(),
                    "join_timestamp": now, "flags": 0,
                    "member": self.member_json(guild, *u, true), "presence": null,
                })
            })
            .collect();
        let removed: Vec<String> = removed.iter().map(u64::to_string).collect();
        self.tell(
            "THREAD_MEMBERS_UPDATE",
            json!({
                "id": thread.to_string(), "guild_id": guild.to_string(),
                "member_count": count.min(50),
                "added_members": added, "removed_member_ids": removed,
            }),
            Audience::Channel(thread),
        );
    }

    /// A thread, from a message or on its own, with the system messages Discord adds.
    pub fn create_thread(
        &mut self,
        parent: u64,
        from: Option<u64>,
        owner: u64,
        name: &str,
        private: bool,
        auto_archive_minutes: u64,
    ) -> u64 {
        let id = match from {
            Some(message) => message,
            None => self.new_id(),
        };
        let now = self.clock.now_milliseconds();
        let Some(guild) = self.channels.get(&parent).map(|c| c.guild) else {
            return id;
        };
        self.channels.insert(
            id,
            Channel {
                id,
                guild,
                name: name.to_owned(),
                position: 0,
                overwrites: Vec::new(),
                thread: Some(Thread {
                    parent,
                    owner,
                    private,
                    archived: false,
                    locked: false,
                    auto_archive_minutes,
                    archive_changed_milliseconds: now,
                    members: [owner].into(),
                    invitable: true,
                }),
                last_message: None,
                messages_sent: 0,
                rate_limit_seconds: 0,
                renamed_milliseconds: Vec::new(),
                typing_milliseconds: Vec::new(),
            },
        );
        if let Some(channel) = self.channels.get(&id) {
            let mut data = self.channel_json(channel);
            data["newly_created"] = json!(true);
            self.tell("THREAD_CREATE", data, Audience::Channel(id));
        }
        if let Some(message) = from {
            if let Some(message) = self.messages.get_mut(&message) {
                message.thread = Some(id);
            }
            self.set_message_flags(message, HAS_THREAD);
            let mut starter = NewMessage::in_channel(id, Author::User(owner));
            starter.kind = 21;
            starter.reference = Some((parent, message));
            self.post(starter);
        } else if !private {
            let mut notice = NewMessage::in_channel(parent, Author::User(owner));
            notice.kind = 18;
            notice.content = name.to_owned();
            notice.reference = Some((id, id));
            self.post(notice);
        }
        id
    }

    /// Deletes a channel or thread and, with a channel, its threads.
    pub fn delete_channel(&mut self, id: u64) {
        let Some(channel) = self.channels.get(&id).cloned() else {
            return;
        };
        let below: Vec<u64> = self
            .channels
            .values()
            .filter(|c| c.thread.as_ref().is_some_and(|t| t.parent == id))
            .map(|c| c.id)
            .collect();
        let data = match &channel.thread {
            Some(thread) => json!({
                "id": id.to_string(), "guild_id": channel.guild.to_string(),
                "parent_id": thread.parent.to_string(),
                "type": if thread.private { 12 } else { 11 },
            }),
            None => self.channel_json(&channel),
        };
        let name = if channel.thread.is_some() {
            "THREAD_DELETE"
        } else {
            "CHANNEL_DELETE"
        };
        self.tell(name, data, Audience::Channel(id));
        for thread in below {
            self.channels.remove(&thread);
        }
        self.channels.remove(&id);
    }

    /// Archives the threads in which nothing was said for as long as they are set to.
    pub fn archive_quiet_threads(&mut self) {
        let now = self.clock.now_milliseconds();
        let quiet: Vec<u64> = self
            .channels
            .values()
            .filter(|c| {
                let last = c.last_message.unwrap_or(c.id);
                let last = (last >> 22) + EPOCH_MILLISECONDS;
                c.thread.as_ref().is_some_and(|t| {
                    let last = last.max(t.archive_changed_milliseconds);
                    !t.archived && now.saturating_sub(last) >= t.auto_archive_minutes * 60_000
                })
            })
            .map(|c| c.id)
            .collect();
        for id in quiet {
            if let Some(thread) = self.channels.get_mut(&id).and_then(|c| c.thread.as_mut()) {
                thread.archived = true;
                thread.archive_changed_milliseconds = now;
            }
            self.tell_channel("THREAD_UPDATE", id);
        }
    }

    /// The messages of a channel that a person sees, oldest first.
    pub fn visible_messages(&self, channel: ChannelId, viewer: Option<u64>) -> Vec<&Message> {
        self.messages
            .values()
            .filter(|m| m.channel == channel.0 && !m.deleted)
            .filter(|m| m.ephemeral_for.is_none() || m.ephemeral_for == viewer)
            .collect()
    }

    /// The commands that a guild offers.
    pub fn commands_of(&self, guild: u64) -> Vec<Value> {
        let own = self.guild_commands.get(&guild).into_iter().flatten();
        own.chain(&self.global_commands).cloned().collect()
    }
}

/// Empties what the message-content intent protects; the keys stay.
fn strip(message: &mut Value) {
    let Some(map): Option<&mut Map<String, Value>> = message.as_object_mut() else {
        return;
    };
    map.insert("content".to_owned(), json!(""));
    for key in ["embeds", "attachments", "components"] {
        map.insert(key.to_owned(), json!([]));
    }
    map.remove("poll");
}

/// Whether a message is shown to one person only.
pub(crate) fn is_ephemeral(flags: u64) -> bool {
    flags & EPHEMERAL != 0
}

/// Base64 without padding, for a token of the usual shape.
fn base64(text: &str) -> String {
    const LETTERS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut out = String::new();
    for chunk in text.as_bytes().chunks(3) {
        let bits = chunk
            .iter()
            .fold(0u32, |bits, b| (bits << 8) | u32::from(*b))
            << (8 * (3 - chunk.len()));
        for i in 0..=chunk.len() {
            let six = (bits >> (18 - 6 * i)) & 63;
            out.push(char::from(
                LETTERS.get(six as usize).copied().unwrap_or(b'A'),
            ));
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn base64_of_an_id() {
        let cases = [("1100", "MTEwMA"), ("abc", "YWJj"), ("", "")];
        for (text, expected) in cases {
            assert_eq!(base64(text), expected);
        }
    }
}

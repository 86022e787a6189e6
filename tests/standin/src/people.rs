//! The people of the world: building it, and acting in it.
//!
//! Each act has two forms. `try_...` returns why Discord's client would not let the
//! person do it, which a page can show; the plain form fails the test with that reason.

use serde_json::{Map, Value, json};

use crate::handle::Discord;
use crate::ids::{AttachmentId, ChannelId, GuildId, MessageId, RoleId, UserId};
use crate::interaction::{Interaction, Modal};
use crate::permissions::{self as may, Overwrite};
use crate::post::{Post, button, controls, select};
use crate::rest::{guessed_type, safe_filename};
use crate::rules::integer;
use crate::world::{
    self, Attachment, Audience, Author, Channel, Guild, Member, NewMessage, Role, User, World,
};

/// A file that a person uploads.
#[derive(Clone, Debug)]
pub struct Upload {
    name: String,
    bytes: Vec<u8>,
    content_type: Option<String>,
}

impl Upload {
    /// Any bytes; the content type is guessed from the ending, as Discord does.
    #[must_use]
    pub fn new(name: &str, bytes: impl Into<Vec<u8>>) -> Self {
        Self {
            name: name.to_owned(),
            bytes: bytes.into(),
            content_type: guessed_type(name),
        }
    }

    /// Says what type it is, or with `None` nothing.
    #[must_use]
    pub fn content_type(mut self, content_type: Option<&str>) -> Self {
        self.content_type = content_type.map(str::to_owned);
        self
    }
}

/// What a person writes.
#[derive(Clone, Debug, Default)]
pub struct Say {
    text: String,
    embeds: Vec<Value>,
    files: Vec<Upload>,
    reply_to: Option<(MessageId, bool)>,
}

impl From<&str> for Say {
    fn from(text: &str) -> Self {
        Self {
            text: text.to_owned(),
            ..Self::default()
        }
    }
}

impl From<String> for Say {
    fn from(text: String) -> Self {
        Self::from(text.as_str())
    }
}

impl Say {
    /// A text.
    #[must_use]
    pub fn text(text: &str) -> Self {
        text.into()
    }

    /// With a file.
    #[must_use]
    pub fn file(mut self, file: Upload) -> Self {
        self.files.push(file);
        self
    }

    /// With an embed (a link preview, or another bot's card).
    #[must_use]
    pub fn embed(mut self, embed: Value) -> Self {
        self.embeds.push(embed);
        self
    }

    /// In reply to a message, which notifies its author.
    #[must_use]
    pub fn reply_to(mut self, message: impl Into<MessageId>) -> Self {
        self.reply_to = Some((message.into(), true));
        self
    }

    /// In reply to a message, with the notification switched off.
    #[must_use]
    pub fn silent_reply_to(mut self, message: impl Into<MessageId>) -> Self {
        self.reply_to = Some((message.into(), false));
        self
    }
}

fn must<T>(result: Result<T, String>, discord: &Discord) -> T {
    match result {
        Ok(value) => value,
        Err(why) => panic!("{why}\n{}", discord.story()),
    }
}

// ---- building the world ----------------------------------------------------

impl Discord {
    /// A guild with the bot in it, owned by somebody who never acts.
    pub fn guild(&self, name: &str) -> GuildId {
        self.core.with(|w| {
            let id = w.new_id();
            let owner = w.new_id();
            let bot_role = w.new_id();
            let now = w.clock.now_milliseconds();
            w.users.insert(
                owner,
                User {
                    id: owner,
                    name: format!("owner-of-{name}"),
                    bot: false,
                    locale: "en-US".to_owned(),
                },
            );
            let role = |id, name: &str, permissions, managed| Role {
                id,
                name: name.to_owned(),
                permissions,
                mentionable: false,
                managed,
            };
            let mut guild = Guild {
                id,
                name: name.to_owned(),
                owner,
                locale: "en-US".to_owned(),
                roles: [
                    (id, role(id, "everyone", may::EVERYONE, false)),
                    (bot_role, role(bot_role, "precedent", may::EVERYONE, true)),
                ]
                .into(),
                members: std::collections::BTreeMap::new(),
            };
            for (user, roles) in [(owner, vec![]), (w.bot, vec![bot_role])] {
                guild.members.insert(
                    user,
                    Member {
                        roles,
                        joined_milliseconds: now,
                    },
                );
            }
            w.own_roles.insert((id, w.bot), bot_role);
            let json = w.guild_create_json(&guild);
            w.guilds.insert(id, guild);
            w.tell("GUILD_CREATE", json, Audience::Guild);
            GuildId(id)
        })
    }

    /// A text channel that everybody sees.
    pub fn channel(&self, guild: GuildId, name: &str) -> ChannelId {
        self.new_channel(guild, name, Vec::new())
    }

    /// A text channel that only these people (and, if named, the bot) see.
    pub fn private_channel(&self, guild: GuildId, name: &str, members: &[UserId]) -> ChannelId {
        let mut overwrites = vec![Overwrite {
            target: guild.0,
            member: false,
            allow: 0,
            deny: may::VIEW_CHANNEL,
        }];
        overwrites.extend(members.iter().map(|m| Overwrite {
            target: m.0,
            member: true,
            allow: may::VIEW_CHANNEL,
            deny: 0,
        }));
        self.new_channel(guild, name, overwrites)
    }

    fn new_channel(&self, guild: GuildId, name: &str, overwrites: Vec<Overwrite>) -> ChannelId {
        self.core.with(|w| {
            let id = w.new_id();
            let position = w.channels.values().filter(|c| c.guild == guild.0).count();
            w.channels.insert(
                id,
                Channel {
                    id,
                    guild: guild.0,
                    name: name.to_owned(),
                    position,
                    overwrites,
                    thread: None,
                    last_message: None,
                    messages_sent: 0,
                    rate_limit_seconds: 0,
                    renamed_milliseconds: Vec::new(),
                    typing_milliseconds: Vec::new(),
                },
            );
            w.tell_channel("CHANNEL_CREATE", id);
            ChannelId(id)
        })
    }

    /// A person of a guild, English-speaking, with what `@everyone` may.
    pub fn member(&self, guild: GuildId, name: &str) -> UserId {
        self.member_speaking(guild, name, "en-US")
    }

    /// A person of a guild with a Discord locale, such as `zh-CN`.
    pub fn member_speaking(&self, guild: GuildId, name: &str, locale: &str) -> UserId {
        let user = self.core.with(|w| {
            let id = w.new_id();
            w.users.insert(
                id,
                User {
                    id,
                    name: name.to_owned(),
                    bot: false,
                    locale: locale.to_owned(),
                },
            );
            UserId(id)
        });
        self.join(guild, user);
        user
    }

    /// Another bot of a guild; what it says comes with `author.bot`.
    pub fn other_bot(&self, guild: GuildId, name: &str) -> UserId {
        let user = self.member(guild, name);
        self.core.with(|w| {
            if let Some(user) = w.users.get_mut(&user.0) {
                user.bot = true;
            }
        });
        user
    }

    /// A person who is there already joins another guild.
    pub fn join(&self, guild: GuildId, user: UserId) {
        self.core.with(|w| {
            let now = w.clock.now_milliseconds();
            if let Some(guild) = w.guilds.get_mut(&guild.0) {
                guild.members.entry(user.0).or_insert(Member {
                    roles: Vec::new(),
                    joined_milliseconds: now,
                });
            }
        });
    }

    /// The guild's preferred locale.
    pub fn set_guild_locale(&self, guild: GuildId, locale: &str) {
        self.core.with(|w| {
            if let Some(guild) = w.guilds.get_mut(&guild.0) {
                locale.clone_into(&mut guild.locale);
            }
        });
    }

    /// A role with permissions that nobody has yet.
    pub fn role(&self, guild: GuildId, name: &str, permissions: u64) -> RoleId {
        self.core.with(|w| {
            let id = w.new_id();
            let role = Role {
                id,
                name: name.to_owned(),
                permissions,
                mentionable: false,
                managed: false,
            };
            let json = json!({"guild_id": guild.0.to_string(), "role": World::role_json(&role)});
            if let Some(guild) = w.guilds.get_mut(&guild.0) {
                guild.roles.insert(id, role);
            }
            w.tell("GUILD_ROLE_CREATE", json, Audience::Guild);
            RoleId(id)
        })
    }

    /// Whether everybody may mention a role.
    pub fn set_mentionable(&self, role: RoleId, mentionable: bool) {
        self.core.with(|w| {
            for guild in w.guilds.values_mut() {
                if let Some(role) = guild.roles.get_mut(&role.0) {
                    role.mentionable = mentionable;
                }
            }
        });
    }

    /// Gives somebody a role.
    pub fn give_role(&self, guild: GuildId, user: UserId, role: RoleId) {
        self.core.with(|w| {
            if let Some(member) = w
                .guilds
                .get_mut(&guild.0)
                .and_then(|g| g.members.get_mut(&user.0))
                && !member.roles.contains(&role.0)
            {
                member.roles.push(role.0);
            }
            tell_member(w, guild.0, user.0);
        });
    }

    /// Gives somebody (or the bot) more guild-wide permissions, by a role of their own.
    pub fn grant(&self, guild: GuildId, user: UserId, permissions: u64) {
        let own = self
            .core
            .look(|w| w.own_roles.get(&(guild.0, user.0)).copied());
        match own {
            Some(role) => self.core.with(|w| {
                let mut json = Value::Null;
                if let Some(role) = w
                    .guilds
                    .get_mut(&guild.0)
                    .and_then(|g| g.roles.get_mut(&role))
                {
                    role.permissions |= permissions;
                    json = json!({
                        "guild_id": guild.0.to_string(), "role": World::role_json(role),
                    });
                }
                w.tell("GUILD_ROLE_UPDATE", json, Audience::Guild);
            }),
            None => {
                let name = self.core.look(|w| {
                    let name = w.users.get(&user.0).map(|u| u.name.clone());
                    format!("of {}", name.unwrap_or_default())
                });
                let role = self.role(guild, &name, permissions);
                self.core
                    .with(|w| w.own_roles.insert((guild.0, user.0), role.0));
                self.give_role(guild, user, role);
            }
        }
    }

    /// Denies somebody (or the bot) permissions in a channel.
    pub fn deny(&self, channel: ChannelId, user: UserId, permissions: u64) {
        self.overwrite(channel, Some(user), |o| {
            o.deny |= permissions;
            o.allow &= !permissions;
        });
    }

    /// Denies everybody permissions in a channel, unless they are allowed them.
    pub fn deny_everyone(&self, channel: ChannelId, permissions: u64) {
        self.overwrite(channel, None, |o| {
            o.deny |= permissions;
            o.allow &= !permissions;
        });
    }

    /// Allows somebody (or the bot) permissions in a channel.
    pub fn allow(&self, channel: ChannelId, user: UserId, permissions: u64) {
        self.overwrite(channel, Some(user), |o| {
            o.allow |= permissions;
            o.deny &= !permissions;
        });
    }

    /// Of a person, or of everybody.
    fn overwrite(&self, channel: ChannelId, user: Option<UserId>, change: impl Fn(&mut Overwrite)) {
        self.core.with(|w| {
            // A thread has the permissions of its channel.
            let id = w
                .channels
                .get(&channel.0)
                .and_then(|c| c.thread.as_ref())
                .map_or(channel.0, |t| t.parent);
            let seen = w.sees(w.bot, id);
            if let Some(channel) = w.channels.get_mut(&id) {
                let member = user.is_some();
                let target = user.map_or(channel.guild, |u| u.0);
                match channel
                    .overwrites
                    .iter_mut()
                    .find(|o| o.member == member && o.target == target)
                {
                    Some(overwrite) => change(overwrite),
                    None => {
                        let mut overwrite = Overwrite {
                            target,
                            member,
                            allow: 0,
                            deny: 0,
                        };
                        change(&mut overwrite);
                        channel.overwrites.push(overwrite);
                    }
                }
            }
            // Losing sight of a channel is told as well.
            let json = w.channels.get(&id).map(|c| w.channel_json(c));
            if seen && !w.sees(w.bot, id) {
                w.tell("CHANNEL_UPDATE", json.unwrap_or_default(), Audience::Guild);
            } else {
                w.tell_channel("CHANNEL_UPDATE", id);
            }
        });
    }

    /// Takes the bot out of a guild.
    pub fn remove_bot(&self, guild: GuildId) {
        self.core.with(|w| {
            let bot = w.bot;
            if let Some(guild) = w.guilds.get_mut(&guild.0) {
                guild.members.remove(&bot);
            }
            w.tell(
                "GUILD_DELETE",
                json!({"id": guild.0.to_string()}),
                Audience::Guild,
            );
        });
    }

    /// The name of a person.
    #[must_use]
    pub fn name_of(&self, user: UserId) -> String {
        self.core.look(|w| {
            w.users
                .get(&user.0)
                .map_or_else(String::new, |u| u.name.clone())
        })
    }

    /// The channel or thread of a guild with that name, the newest if there are several.
    #[must_use]
    pub fn find_channel(&self, guild: GuildId, name: &str) -> Option<ChannelId> {
        self.core.look(|w| {
            w.channels
                .values()
                .filter(|c| c.guild == guild.0 && c.name == name)
                .map(|c| ChannelId(c.id))
                .next_back()
        })
    }

    /// Name of a channel or thread.
    #[must_use]
    pub fn channel_name(&self, channel: ChannelId) -> Option<String> {
        self.core
            .look(|w| w.channels.get(&channel.0).map(|c| c.name.clone()))
    }

    /// Whether a thread is archived; `None` where it is gone or no thread.
    #[must_use]
    pub fn is_archived(&self, thread: ChannelId) -> Option<bool> {
        self.core
            .look(|w| Some(w.channels.get(&thread.0)?.thread.as_ref()?.archived))
    }

    /// Threads of a channel, oldest first.
    #[must_use]
    pub fn threads(&self, channel: ChannelId) -> Vec<ChannelId> {
        self.core.look(|w| {
            w.channels
                .values()
                .filter(|c| c.thread.as_ref().is_some_and(|t| t.parent == channel.0))
                .map(|c| ChannelId(c.id))
                .collect()
        })
    }

    /// Who is in a thread.
    #[must_use]
    pub fn thread_members(&self, thread: ChannelId) -> Vec<UserId> {
        self.core.look(|w| {
            w.channels
                .get(&thread.0)
                .and_then(|c| c.thread.as_ref())
                .map(|t| t.members.iter().map(|u| UserId(*u)).collect())
                .unwrap_or_default()
        })
    }
}

fn tell_member(w: &mut World, guild: u64, user: u64) {
    let mut json = w.member_json(guild, user, true);
    json["guild_id"] = json!(guild.to_string());
    if user == w.bot {
        w.tell("GUILD_MEMBER_UPDATE", json, Audience::Guild);
    } else {
        w.announce("GUILD_MEMBER_UPDATE", json, None);
    }
}

// ---- saying ----------------------------------------------------------------

impl Discord {
    /// Somebody writes a message.
    ///
    /// # Panics
    /// Where Discord would not let them.
    #[track_caller]
    pub fn say(&self, who: UserId, channel: ChannelId, what: impl Into<Say>) -> MessageId {
        must(self.try_say(who, channel, what), self)
    }

    /// As [`Discord::say`].
    ///
    /// # Errors
    /// Why Discord would not let them.
    pub fn try_say(
        &self,
        who: UserId,
        channel: ChannelId,
        what: impl Into<Say>,
    ) -> Result<MessageId, String> {
        let what = what.into();
        self.core.with(|w| {
            let name = person(w, who)?;
            let place = place(w, channel)?;
            let permission = if place.thread.is_some() {
                may::SEND_MESSAGES_IN_THREADS
            } else {
                may::SEND_MESSAGES
            };
            if !w.may(who.0, channel.0, permission) {
                return Err(format!("{name} may not write in #{}", place.name));
            }
            if place.thread.as_ref().is_some_and(|t| t.locked)
                && !w.may(who.0, channel.0, may::MANAGE_THREADS)
            {
                return Err(format!("#{} is locked", place.name));
            }
            if what.text.chars().count() > crate::rules::CONTENT {
                return Err(format!(
                    "{name}'s message is longer than {} characters: Discord would make a file of it",
                    crate::rules::CONTENT
                ));
            }
            if what.text.trim().is_empty() && what.embeds.is_empty() && what.files.is_empty() {
                return Err(format!("{name} says nothing"));
            }
            let mut new = NewMessage::in_channel(channel.0, Author::User(who.0));
            if let Some((target, ping)) = what.reply_to {
                if !w.messages.get(&target.0).is_some_and(|m| !m.deleted && m.channel == channel.0) {
                    return Err("the message replied to is not in this channel".to_owned());
                }
                new.kind = 19;
                new.reference = Some((channel.0, target.0));
                new.allowed_mentions = Some(json!({
                    "parse": ["users", "roles", "everyone"], "replied_user": ping,
                }));
            }
            new.content = what.text;
            new.embeds = what.embeds.into_iter().map(as_shown).collect();
            new.attachments = what
                .files
                .into_iter()
                .map(|f| store(w, channel.0, f))
                .collect();
            Ok(MessageId(w.post(new)))
        })
    }

    /// A webhook posts, as alerting systems do.
    ///
    /// # Panics
    /// Where the channel is gone.
    #[track_caller]
    pub fn webhook_post(
        &self,
        channel: ChannelId,
        name: &str,
        content: &str,
        embeds: &[Value],
    ) -> MessageId {
        let posted = self.core.with(|w| {
            place(w, channel)?;
            let id = w.new_id();
            let author = Author::Webhook {
                id,
                name: name.to_owned(),
            };
            let mut new = NewMessage::in_channel(channel.0, author);
            new.webhook = Some(id);
            new.content = content.to_owned();
            new.embeds = embeds.iter().cloned().map(as_shown).collect();
            Ok(MessageId(w.post(new)))
        });
        must(posted, self)
    }

    /// A file for an attachment option of a command: its id is the option's value.
    pub fn upload(&self, file: Upload) -> AttachmentId {
        self.core.with(|w| AttachmentId(store(w, 0, file)))
    }

    /// The same MESSAGE_CREATE once more.
    pub fn redeliver(&self, message: impl Into<MessageId>) {
        let id = message.into().0;
        self.core.with(|w| w.repeat_message(id));
    }

    /// The token that came with an interaction, for bare requests.
    #[must_use]
    pub fn token_of(&self, interaction: &Interaction) -> String {
        self.core.look(|w| {
            w.interactions
                .get(&interaction.id.0)
                .map_or_else(String::new, |i| i.token.clone())
        })
    }

    /// The same INTERACTION_CREATE once more.
    pub fn redeliver_interaction(&self, interaction: &Interaction) {
        self.core.with(|w| {
            if let Some(found) = w.interactions.get(&interaction.id.0) {
                let payload = found.payload.clone();
                w.tell("INTERACTION_CREATE", payload, Audience::Application);
            }
        });
    }

    /// Somebody deletes a message.
    pub fn delete_message(&self, message: impl Into<MessageId>) {
        let id = message.into().0;
        self.core.with(|w| w.delete_message(id));
    }

    /// Somebody changes what they wrote.
    pub fn edit_message(&self, message: impl Into<MessageId>, text: &str) {
        let id = message.into().0;
        self.core.with(|w| {
            w.edit(
                id,
                world::MessageEdit {
                    content: Some(text.to_owned()),
                    ..world::MessageEdit::default()
                },
            );
        });
    }

    // ---- threads -----------------------------------------------------------

    /// Somebody starts a thread, public or private.
    pub fn thread(&self, who: UserId, channel: ChannelId, name: &str, private: bool) -> ChannelId {
        self.core
            .with(|w| ChannelId(w.create_thread(channel.0, None, who.0, name, private, 1440)))
    }

    /// Somebody starts a thread from a message.
    pub fn thread_from(&self, who: UserId, message: impl Into<MessageId>, name: &str) -> ChannelId {
        let id = message.into().0;
        self.core.with(|w| {
            let channel = w.messages.get(&id).map_or(0, |m| m.channel);
            ChannelId(w.create_thread(channel, Some(id), who.0, name, false, 1440))
        })
    }

    /// Somebody brings somebody (or the bot) into a thread.
    pub fn add_to_thread(&self, thread: ChannelId, user: UserId) {
        self.core.with(|w| {
            let added = w
                .channels
                .get_mut(&thread.0)
                .and_then(|c| c.thread.as_mut())
                .is_some_and(|t| t.members.insert(user.0));
            if added {
                if user.0 == w.bot {
                    w.tell_channel("THREAD_CREATE", thread.0);
                }
                w.tell_thread_members(thread.0, &[user.0], &[]);
            }
        });
    }

    /// A thread is archived.
    pub fn archive(&self, thread: ChannelId) {
        self.change_thread(thread, |t| t.archived = true);
    }

    /// A thread is taken out of the archive.
    pub fn unarchive(&self, thread: ChannelId) {
        self.change_thread(thread, |t| t.archived = false);
    }

    /// A thread is locked.
    pub fn lock(&self, thread: ChannelId) {
        self.change_thread(thread, |t| t.locked = true);
    }

    /// A thread is unlocked.
    pub fn unlock(&self, thread: ChannelId) {
        self.change_thread(thread, |t| t.locked = false);
    }

    fn change_thread(&self, thread: ChannelId, change: impl Fn(&mut world::Thread)) {
        self.core.with(|w| {
            let now = w.clock.now_milliseconds();
            if let Some(thread) = w
                .channels
                .get_mut(&thread.0)
                .and_then(|c| c.thread.as_mut())
            {
                change(thread);
                thread.archive_changed_milliseconds = now;
            }
            w.tell_channel("THREAD_UPDATE", thread.0);
        });
    }

    /// A channel (with its threads) or a thread is deleted.
    pub fn delete_channel(&self, channel: ChannelId) {
        self.core.with(|w| w.delete_channel(channel.0));
    }
}

/// An embed as Discord gives it back.
fn as_shown(mut embed: Value) -> Value {
    if let Some(map) = embed.as_object_mut() {
        map.entry("type").or_insert_with(|| json!("rich"));
    }
    embed
}

fn person(w: &World, who: UserId) -> Result<String, String> {
    w.users
        .get(&who.0)
        .map(|u| u.name.clone())
        .ok_or_else(|| format!("there is nobody with the id {who}"))
}

fn place(w: &World, channel: ChannelId) -> Result<Channel, String> {
    w.channels
        .get(&channel.0)
        .cloned()
        .ok_or_else(|| "the channel has been deleted".to_owned())
}

fn store(w: &mut World, channel: u64, file: Upload) -> u64 {
    let id = w.new_id();
    w.attachments.insert(
        id,
        Attachment {
            id,
            channel,
            filename: safe_filename(&file.name),
            title: file.name,
            content_type: file.content_type,
            description: None,
            bytes: file.bytes,
            ephemeral: false,
        },
    );
    id
}

// ---- interactions ----------------------------------------------------------

/// What is common to all interactions.
struct Act {
    kind: u64,
    who: u64,
    channel: u64,
    title: String,
    data: Value,
    source: Option<u64>,
}

impl Discord {
    /// Somebody uses a slash command: `"analyze"`, or `"incident show"` with the
    /// subcommand. `options` is an object of values by option name; users, channels,
    /// roles and attachments by id.
    ///
    /// # Panics
    /// Where Discord's client would not let them.
    #[track_caller]
    pub fn slash(
        &self,
        who: UserId,
        channel: ChannelId,
        command: &str,
        options: Value,
    ) -> Interaction {
        must(self.try_slash(who, channel, command, options), self)
    }

    /// As [`Discord::slash`].
    ///
    /// # Errors
    /// Why Discord's client would not let them.
    pub fn try_slash(
        &self,
        who: UserId,
        channel: ChannelId,
        command: &str,
        options: Value,
    ) -> Result<Interaction, String> {
        self.interact(|w| command_act(w, who, channel, command, &options, None))
    }

    /// Somebody is typing a command's option and asks for completions; `options` holds
    /// what stands there so far.
    ///
    /// # Panics
    /// Where the option is not completed.
    #[track_caller]
    pub fn autocomplete(
        &self,
        who: UserId,
        channel: ChannelId,
        command: &str,
        focused: &str,
        options: Value,
    ) -> Interaction {
        must(
            self.try_autocomplete(who, channel, command, focused, options),
            self,
        )
    }

    /// As [`Discord::autocomplete`].
    ///
    /// # Errors
    /// Why Discord's client would not ask.
    pub fn try_autocomplete(
        &self,
        who: UserId,
        channel: ChannelId,
        command: &str,
        focused: &str,
        options: Value,
    ) -> Result<Interaction, String> {
        self.interact(|w| command_act(w, who, channel, command, &options, Some(focused)))
    }

    /// Somebody uses a message command on a message.
    ///
    /// # Panics
    /// Where Discord's client would not let them.
    #[track_caller]
    pub fn message_command(
        &self,
        who: UserId,
        name: &str,
        message: impl Into<MessageId>,
    ) -> Interaction {
        must(self.try_message_command(who, name, message), self)
    }

    /// As [`Discord::message_command`].
    ///
    /// # Errors
    /// Why Discord's client would not let them.
    pub fn try_message_command(
        &self,
        who: UserId,
        name: &str,
        message: impl Into<MessageId>,
    ) -> Result<Interaction, String> {
        let target = message.into();
        self.interact(|w| {
            let message = w
                .messages
                .get(&target.0)
                .filter(|m| !m.deleted && m.ephemeral_for.is_none())
                .cloned()
                .ok_or("the message is gone")?;
            let channel = ChannelId(message.channel);
            let place = place(w, channel)?;
            let registered = registered(w, place.guild, name, 3)?;
            may_use(w, who, &place, &registered, name)?;
            let data = json!({
                "id": registered["id"], "name": name, "type": 3,
                "guild_id": registered.get("guild_id"),
                "target_id": target.0.to_string(),
                "resolved": {"messages": {target.0.to_string(): w.message_json(&message)}},
            });
            Ok(Act {
                kind: 2,
                who: who.0,
                channel: channel.0,
                title: format!("message command {name:?}"),
                data: without_nulls(data),
                source: None,
            })
        })
    }

    /// Somebody presses a button, named by its custom id or its label.
    ///
    /// # Panics
    /// Where it is not there or switched off.
    #[track_caller]
    pub fn click(&self, who: UserId, message: impl Into<MessageId>, name: &str) -> Interaction {
        must(self.try_click(who, message, name), self)
    }

    /// As [`Discord::click`].
    ///
    /// # Errors
    /// Why it cannot be pressed.
    pub fn try_click(
        &self,
        who: UserId,
        message: impl Into<MessageId>,
        name: &str,
    ) -> Result<Interaction, String> {
        self.press(who, message.into(), name, None)
    }

    /// Somebody presses a button of a message as they saw it: their client has not heard yet that
    /// it was edited.
    ///
    /// # Panics
    /// Where it was not there or switched off then.
    #[track_caller]
    pub fn click_as_seen(&self, who: UserId, seen: &Post, name: &str) -> Interaction {
        must(self.press(who, seen.id, name, Some(&seen.components)), self)
    }

    fn press(
        &self,
        who: UserId,
        message: MessageId,
        name: &str,
        seen: Option<&[Value]>,
    ) -> Result<Interaction, String> {
        let id = message.0;
        self.interact(|w| {
            let message = visible_message(w, who, id)?;
            let all: Vec<_> = controls(seen.unwrap_or(&message.components))
                .filter(|c| c.get("type").and_then(integer) == Some(2))
                .map(button)
                .collect();
            let found = all
                .iter()
                .find(|b| !b.custom_id.is_empty() && b.custom_id == name)
                .or_else(|| all.iter().find(|b| b.label == name))
                .ok_or_else(|| {
                    let there: Vec<&str> = all.iter().map(|b| b.label.as_str()).collect();
                    format!("there is no button {name:?}, only {there:?}")
                })?;
            if found.disabled {
                return Err(format!("the button {name:?} is switched off"));
            }
            if found.custom_id.is_empty() {
                return Err(format!("the button {name:?} is a link"));
            }
            Ok(Act {
                kind: 3,
                who: who.0,
                channel: message.channel,
                title: format!("button {:?}", found.label),
                data: json!({"custom_id": found.custom_id, "component_type": 2}),
                source: Some(id),
            })
        })
    }

    /// Somebody chooses in a select, named by its custom id or placeholder; values by
    /// value or label (of people, roles and channels: their ids).
    ///
    /// # Panics
    /// Where it is not there, switched off, or does not offer that.
    #[track_caller]
    pub fn select(
        &self,
        who: UserId,
        message: impl Into<MessageId>,
        name: &str,
        values: &[&str],
    ) -> Interaction {
        must(self.try_select(who, message, name, values), self)
    }

    /// As [`Discord::select`].
    ///
    /// # Errors
    /// Why it cannot be chosen.
    pub fn try_select(
        &self,
        who: UserId,
        message: impl Into<MessageId>,
        name: &str,
        values: &[&str],
    ) -> Result<Interaction, String> {
        self.choose(who, message.into(), name, values, None)
    }

    /// Somebody chooses in a select of a message as they saw it, or as a client that is none of
    /// Discord's makes it up.
    ///
    /// # Panics
    /// Where it was not there, switched off, or did not offer that.
    #[track_caller]
    pub fn select_as_seen(
        &self,
        who: UserId,
        seen: &Post,
        name: &str,
        values: &[&str],
    ) -> Interaction {
        must(
            self.choose(who, seen.id, name, values, Some(&seen.components)),
            self,
        )
    }

    fn choose(
        &self,
        who: UserId,
        message: MessageId,
        name: &str,
        values: &[&str],
        seen: Option<&[Value]>,
    ) -> Result<Interaction, String> {
        let id = message.0;
        self.interact(|w| {
            let message = visible_message(w, who, id)?;
            let all: Vec<_> = controls(seen.unwrap_or(&message.components))
                .filter_map(|c| {
                    let kind = c.get("type").and_then(integer)?;
                    matches!(kind, 3 | 5..=8).then(|| (kind, select(c)))
                })
                .collect();
            let (kind, found) = all
                .iter()
                .find(|(_, s)| s.custom_id == name)
                .or_else(|| all.iter().find(|(_, s)| s.placeholder == name))
                .ok_or_else(|| format!("there is no select {name:?}"))?;
            if found.disabled {
                return Err(format!("the select {name:?} is switched off"));
            }
            let (least, most) = found.range;
            if !(least..=most).contains(&values.len()) {
                return Err(format!(
                    "the select {name:?} takes {least} to {most} values"
                ));
            }
            let mut chosen = Vec::new();
            for value in values {
                if *kind != 3 {
                    chosen.push((*value).to_owned());
                    continue;
                }
                let option = found
                    .options
                    .iter()
                    .find(|(_, v)| v == value)
                    .or_else(|| found.options.iter().find(|(label, _)| label == value))
                    .ok_or_else(|| {
                        format!(
                            "the select {name:?} has no {value:?}, only {:?}",
                            found.options
                        )
                    })?;
                chosen.push(option.1.clone());
            }
            let mut data =
                json!({"custom_id": found.custom_id, "component_type": kind, "values": chosen});
            if *kind != 3 {
                let guild = w.channels.get(&message.channel).map_or(0, |c| c.guild);
                let mut resolved = Resolved::default();
                for id in chosen.iter().filter_map(|v| v.parse().ok()) {
                    match kind {
                        8 => resolved.channel(w, id, who.0),
                        6 => resolved.role(w, guild, id),
                        _ => resolved.user(w, guild, id),
                    }
                }
                data["resolved"] = resolved.0.into();
            }
            Ok(Act {
                kind: 3,
                who: who.0,
                channel: message.channel,
                title: format!("select {:?}", found.placeholder),
                data,
                source: Some(id),
            })
        })
    }

    /// Somebody fills in the modal that an interaction opened: values by custom id or
    /// label; fields that are not named keep what was filled in.
    ///
    /// # Panics
    /// Where no modal was opened, or Discord's client would not send it.
    #[track_caller]
    pub fn submit_modal(
        &self,
        who: UserId,
        opened_by: &Interaction,
        values: &[(&str, &str)],
    ) -> Interaction {
        must(self.try_submit_modal(who, opened_by, values), self)
    }

    /// As [`Discord::submit_modal`].
    ///
    /// # Errors
    /// Why Discord's client would not send it.
    pub fn try_submit_modal(
        &self,
        who: UserId,
        opened_by: &Interaction,
        values: &[(&str, &str)],
    ) -> Result<Interaction, String> {
        let opener = opened_by.id.0;
        self.interact(|w| {
            let opener = w
                .interactions
                .get(&opener)
                .cloned()
                .ok_or("no such interaction")?;
            let Some(world::Response::Modal(data)) = &opener.response else {
                return Err(format!("{} opened no modal", opener.title));
            };
            if let Some(opener) = w.interactions.get_mut(&opener.id) {
                opener.response_read = true;
            }
            if opener.user != who.0 {
                return Err("the modal was opened for somebody else".to_owned());
            }
            let modal = Modal::of(data);
            let mut given: Vec<(String, String)> = Vec::new();
            for (name, value) in values {
                let field = modal
                    .field(name)
                    .ok_or_else(|| format!("the modal has no field {name:?}: {modal:?}"))?;
                given.push((field.custom_id.clone(), (*value).to_owned()));
            }
            let mut rows = Vec::new();
            for (i, field) in modal.fields.iter().enumerate() {
                let value = given
                    .iter()
                    .find(|(id, _)| *id == field.custom_id)
                    .map_or_else(|| field.value.clone(), |(_, v)| v.clone());
                let length = value.chars().count();
                if field.required && value.is_empty() {
                    return Err(format!("{:?} must be filled in", field.label));
                }
                let (least, most) = field.length;
                if length > most || (!value.is_empty() && length < least) {
                    return Err(format!(
                        "{:?} takes {least} to {most} characters, not {length}",
                        field.label
                    ));
                }
                rows.push(json!({
                    "type": 1, "id": 2 * i + 1,
                    "components": [{
                        "type": 4, "id": 2 * i + 2,
                        "custom_id": field.custom_id, "value": value,
                    }],
                }));
            }
            Ok(Act {
                kind: 5,
                who: who.0,
                channel: opener.channel,
                title: format!("modal {:?}", modal.title),
                data: json!({"custom_id": modal.custom_id, "components": rows}),
                source: opener.source,
            })
        })
    }

    fn interact(
        &self,
        act: impl FnOnce(&mut World) -> Result<Act, String>,
    ) -> Result<Interaction, String> {
        self.core.with(|w| {
            let act = act(w)?;
            let (who, id) = (act.who, start(w, act)?);
            Ok(Interaction::new(self.clone(), id, who))
        })
    }
}

fn visible_message(w: &World, who: UserId, id: u64) -> Result<world::Message, String> {
    let message = w
        .messages
        .get(&id)
        .filter(|m| !m.deleted)
        .ok_or("the message is gone")?;
    let name = person(w, who)?;
    if !w.sees(who.0, message.channel) || message.ephemeral_for.is_some_and(|u| u != who.0) {
        return Err(format!("{name} does not see that message"));
    }
    if message.is_loading() {
        return Err("the answer is not there yet".to_owned());
    }
    let locked = w
        .channels
        .get(&message.channel)
        .and_then(|c| c.thread.as_ref())
        .is_some_and(|t| t.archived && t.locked);
    if locked && !w.may(who.0, message.channel, may::MANAGE_THREADS) {
        return Err("the thread is archived and locked".to_owned());
    }
    Ok(message.clone())
}

/// A registered command, a guild's own before the global one.
fn registered(w: &World, guild: u64, name: &str, kind: u64) -> Result<Value, String> {
    let all = w.commands_of(guild);
    all.iter()
        .find(|c| {
            c.get("name").and_then(Value::as_str) == Some(name)
                && c.get("type").and_then(integer) == Some(kind)
        })
        .cloned()
        .ok_or_else(|| {
            let names: Vec<_> = all
                .iter()
                .filter_map(|c| c.get("name").and_then(Value::as_str))
                .collect();
            format!("the command {name:?} is not registered, only {names:?}")
        })
}

fn may_use(
    w: &World,
    who: UserId,
    place: &Channel,
    command: &Value,
    name: &str,
) -> Result<(), String> {
    let person = person(w, who)?;
    if !w.may(
        who.0,
        place.id,
        may::VIEW_CHANNEL | may::USE_APPLICATION_COMMANDS,
    ) {
        return Err(format!("{person} may not use commands in #{}", place.name));
    }
    if !w
        .guilds
        .get(&place.guild)
        .is_some_and(|g| g.members.contains_key(&w.bot))
    {
        return Err(format!("the bot is not in the guild of #{}", place.name));
    }
    let needed = command
        .get("default_member_permissions")
        .and_then(integer)
        .unwrap_or(0);
    if w.permissions(who.0, place.id) & needed != needed {
        return Err(format!("{person} is not shown {name:?}"));
    }
    if place.thread.as_ref().is_some_and(|t| t.locked)
        && !w.may(who.0, place.id, may::MANAGE_THREADS)
    {
        return Err(format!("#{} is locked", place.name));
    }
    Ok(())
}

fn command_act(
    w: &mut World,
    who: UserId,
    channel: ChannelId,
    command: &str,
    options: &Value,
    focused: Option<&str>,
) -> Result<Act, String> {
    let place = place(w, channel)?;
    let mut words = command.split_whitespace();
    let name = words.next().ok_or("which command?")?;
    let registered = registered(w, place.guild, name, 1)?;
    may_use(w, who, &place, &registered, name)?;
    let path: Vec<&str> = words.collect();
    let mut level = &registered;
    for word in &path {
        level = options_of(level)
            .find(|o| {
                o.get("name").and_then(Value::as_str) == Some(word)
                    && matches!(o.get("type").and_then(integer), Some(1 | 2))
            })
            .ok_or_else(|| format!("/{name} has no subcommand {word:?}"))?;
    }
    if options_of(level).any(|o| matches!(o.get("type").and_then(integer), Some(1 | 2))) {
        return Err(format!("/{command} needs a subcommand"));
    }
    let empty = Map::new();
    let given = options.as_object().unwrap_or(&empty);
    if let Some(stray) = given
        .keys()
        .find(|k| !options_of(level).any(|o| o.get("name").and_then(Value::as_str) == Some(k)))
    {
        return Err(format!("/{command} has no option {stray:?}"));
    }
    let mut resolved = Resolved::default();
    let mut sent = Vec::new();
    for option in options_of(level) {
        let option_name = option.get("name").and_then(Value::as_str).unwrap_or("");
        let is_focused = focused == Some(option_name);
        let value = given.get(option_name).filter(|v| !v.is_null());
        let Some(value) = value else {
            if is_focused {
                sent.push(json!({
                    "name": option_name, "type": option["type"], "value": "", "focused": true,
                }));
            } else if option.get("required").and_then(Value::as_bool) == Some(true)
                && focused.is_none()
            {
                return Err(format!("/{command} needs {option_name:?}"));
            }
            continue;
        };
        let value = if focused.is_some() {
            value.clone()
        } else {
            option_value(
                w,
                place.guild,
                channel.0,
                who.0,
                option,
                value,
                &mut resolved,
            )
            .map_err(|why| format!("/{command} {option_name}: {why}"))?
        };
        let mut one = json!({"name": option_name, "type": option["type"], "value": value});
        if is_focused {
            one["focused"] = json!(true);
        }
        sent.push(one);
    }
    if let Some(focused) = focused {
        let completed = options_of(level).any(|o| {
            o.get("name").and_then(Value::as_str) == Some(focused)
                && o.get("autocomplete").and_then(Value::as_bool) == Some(true)
        });
        if !completed {
            return Err(format!("/{command} {focused}: not completed by the bot"));
        }
    }
    // Subcommands wrap the options, innermost last.
    for (i, word) in path.iter().enumerate().rev() {
        let kind = if i + 1 == path.len() { 1 } else { 2 };
        sent = vec![json!({"name": word, "type": kind, "options": sent})];
    }
    let mut data = json!({
        "id": registered["id"], "name": name, "type": 1,
        "guild_id": registered.get("guild_id"),
    });
    if !sent.is_empty() {
        data["options"] = json!(sent);
    }
    if !resolved.0.is_empty() {
        data["resolved"] = resolved.0.into();
    }
    Ok(Act {
        kind: if focused.is_some() { 4 } else { 2 },
        who: who.0,
        channel: channel.0,
        title: match focused {
            Some(option) => format!("completion of /{command} {option}"),
            None => format!("/{command}"),
        },
        data: without_nulls(data),
        source: None,
    })
}

fn options_of(level: &Value) -> impl Iterator<Item = &Value> {
    level
        .get("options")
        .and_then(Value::as_array)
        .into_iter()
        .flatten()
}

/// What stands behind the ids in an interaction.
#[derive(Default)]
struct Resolved(Map<String, Value>);

impl Resolved {
    fn put(&mut self, kind: &str, id: u64, value: Value) {
        let map = self
            .0
            .entry(kind)
            .or_insert_with(|| Value::Object(Map::new()));
        if let Some(map) = map.as_object_mut() {
            map.insert(id.to_string(), value);
        }
    }

    fn user(&mut self, w: &World, guild: u64, id: u64) {
        self.put("users", id, w.user_json(id));
        let member = w
            .guilds
            .get(&guild)
            .is_some_and(|g| g.members.contains_key(&id));
        if member {
            let mut json = w.member_json(guild, id, false);
            json["permissions"] = json!(w.guild_permissions(id, guild).to_string());
            self.put("members", id, json);
        }
    }

    fn role(&mut self, w: &World, guild: u64, id: u64) {
        if let Some(role) = w.guilds.get(&guild).and_then(|g| g.roles.get(&id)) {
            self.put("roles", id, World::role_json(role));
        }
    }

    fn channel(&mut self, w: &World, id: u64, viewer: u64) {
        if let Some(channel) = w.channels.get(&id) {
            self.put("channels", id, partial_channel(w, channel, viewer));
        }
    }
}

fn option_value(
    w: &mut World,
    guild: u64,
    channel: u64,
    who: u64,
    option: &Value,
    value: &Value,
    resolved: &mut Resolved,
) -> Result<Value, String> {
    let kind = option.get("type").and_then(integer).unwrap_or(0);
    let number = |key: &str| option.get(key).and_then(Value::as_f64);
    let choices: Vec<&Value> = option
        .get("choices")
        .and_then(Value::as_array)
        .into_iter()
        .flatten()
        .filter_map(|c| c.get("value"))
        .collect();
    if !choices.is_empty() && !choices.contains(&value) {
        return Err(format!("{value} is not among {choices:?}"));
    }
    match kind {
        3 => {
            let text = value.as_str().ok_or("a text is wanted")?;
            let length = text.chars().count();
            let bound = |key: &str, default| {
                option
                    .get(key)
                    .and_then(integer)
                    .and_then(|n| usize::try_from(n).ok())
                    .unwrap_or(default)
            };
            let (least, most) = (bound("min_length", 0), bound("max_length", 6000));
            if !(least..=most).contains(&length) {
                return Err(format!("{least} to {most} characters, not {length}"));
            }
            Ok(json!(text))
        }
        4 | 10 => {
            let found = value.as_f64().ok_or("a number is wanted")?;
            if kind == 4 && !(value.is_i64() || value.is_u64()) {
                return Err("a whole number is wanted".to_owned());
            }
            if number("min_value").is_some_and(|least| found < least)
                || number("max_value").is_some_and(|most| found > most)
            {
                return Err("the number is out of range".to_owned());
            }
            Ok(value.clone())
        }
        5 => value
            .as_bool()
            .map(|b| json!(b))
            .ok_or_else(|| "true or false is wanted".to_owned()),
        6..=9 | 11 => {
            let id = integer(value).ok_or("an id is wanted")?;
            match kind {
                6 => resolved.user(w, guild, id),
                7 => resolved.channel(w, id, who),
                8 => resolved.role(w, guild, id),
                9 => {
                    resolved.user(w, guild, id);
                    resolved.role(w, guild, id);
                }
                _ => {
                    let Some(file) = w.attachments.get_mut(&id) else {
                        return Err("no such upload".to_owned());
                    };
                    file.channel = channel;
                    file.ephemeral = true;
                    let json = w.attachment_json(id);
                    resolved.put("attachments", id, json);
                }
            }
            Ok(json!(id.to_string()))
        }
        _ => Err(format!("option type {kind}")),
    }
}

fn without_nulls(mut value: Value) -> Value {
    if let Some(map) = value.as_object_mut() {
        map.retain(|_, v| !v.is_null());
    }
    value
}

fn partial_channel(w: &World, channel: &Channel, viewer: u64) -> Value {
    let mut json = w.channel_json(channel);
    json["permissions"] = json!(w.permissions(viewer, channel.id).to_string());
    if let Some(map) = json.as_object_mut() {
        map.remove("permission_overwrites");
    }
    json
}

/// Creates the interaction and tells the bot of it.
fn start(w: &mut World, act: Act) -> Result<u64, String> {
    let channel = place(w, ChannelId(act.channel))?;
    let id = w.new_id();
    // As long and as opaque as the real ones.
    let token = format!(
        "aW50ZXJhY3Rpb24{id:020}{:x}",
        id.wrapping_mul(0x9E37_79B9_7F4A_7C15)
    );
    let now = w.clock.now_milliseconds();
    let guild = w.guilds.get(&channel.guild);
    let guild_locale = guild.map(|g| g.locale.clone());
    let mut member = w.member_json(channel.guild, act.who, true);
    member["permissions"] = json!(w.permissions(act.who, channel.id).to_string());
    let locale = w
        .users
        .get(&act.who)
        .map_or("en-US", |u| u.locale.as_str())
        .to_owned();
    let mut payload = json!({
        "id": id.to_string(),
        "application_id": w.bot.to_string(),
        "type": act.kind,
        "version": 1,
        "token": token,
        "guild_id": channel.guild.to_string(),
        "guild": {
            "id": channel.guild.to_string(), "locale": guild_locale, "features": [],
        },
        "guild_locale": guild_locale,
        "channel_id": channel.id.to_string(),
        "channel": partial_channel(w, &channel, act.who),
        "member": member,
        "locale": locale,
        "app_permissions": w.permissions(w.bot, channel.id).to_string(),
        "entitlements": [],
        "entitlement_sku_ids": [],
        "authorizing_integration_owners": {"0": channel.guild.to_string()},
        "context": 0,
        "attachment_size_limit": crate::rules::FILE_BYTES,
        "data": act.data,
    });
    if let Some(source) = act.source
        && let Some(message) = w.messages.get(&source)
    {
        payload["message"] = w.message_json(message);
    }
    w.interactions.insert(
        id,
        world::Interaction {
            id,
            token,
            kind: act.kind,
            channel: channel.id,
            user: act.who,
            created_milliseconds: now,
            told: None,
            responded: None,
            title: act.title,
            payload: payload.clone(),
            response: None,
            response_read: false,
            original: None,
            followups: Vec::new(),
            source: act.source,
            forgotten: false,
        },
    );
    w.tell("INTERACTION_CREATE", payload, Audience::Application);
    Ok(id)
}

//! From the client library's types to plain ones.
//!
//! The one place that knows where the words of a message are: alerts have all of theirs in embeds,
//! forwarded messages in a snapshot.

use std::fmt::Write as _;

use serenity::cache::Cache;
use serenity::model::application::{
    CommandData, CommandDataOption, CommandDataOptionValue, CommandDataResolved,
};
use serenity::model::channel::{
    Attachment, ChannelType, Embed, GuildChannel, Message, MessageType, PartialChannel,
    PermissionOverwriteType,
};
use serenity::model::guild::{Guild, Member};
use serenity::model::id::{ApplicationId, ChannelId, GuildId, InteractionId, RoleId, UserId};
use serenity::model::permissions::Permissions;
use serenity::model::user::User;

use super::incoming::{
    FileRef, OptionValue, Options, Person, Place, Reply, SeenMessage, made_at_ms,
};
use super::permission::{BotMay, May, reads, views};
use crate::incident::Locale;
use crate::incident::post::{Embed as PostEmbed, Post, Writer};

pub(super) fn reply(id: InteractionId, application: ApplicationId, token: &str) -> Reply {
    Reply {
        interaction: id.get(),
        application: application.get(),
        token: token.to_owned(),
        created_ms: made_at_ms(id.get()),
    }
}

pub(super) fn bot_may(bits: Option<Permissions>) -> BotMay {
    BotMay {
        bits: bits.map(|bits| bits.bits()),
    }
}

/// Whoever started an interaction.
pub(super) fn actor(member: Option<&Member>, user: &User, locale: &str) -> Person {
    let bits = member.and_then(|m| m.permissions).unwrap_or_default();
    let roles = member.map_or(&[][..], |m| m.roles.as_slice());
    Person {
        id: user.id.get(),
        name: member
            .map_or_else(|| user.display_name(), Member::display_name)
            .to_owned(),
        locale: Locale::from_discord(locale),
        may: May::of(bits.bits(), ids(roles)),
    }
}

fn ids(roles: &[RoleId]) -> Vec<u64> {
    roles.iter().map(|role| role.get()).collect()
}

/// Where something happened, from what is cached and what came along; no IO.
pub(super) fn place(
    cache: &Cache,
    guild: GuildId,
    channel: ChannelId,
    told: Option<&PartialChannel>,
) -> Place {
    let cached = cache.guild(guild);
    let cached = cached.as_deref();
    let told = told.filter(|told| told.id == channel);
    let channels = cached.map(|guild| &guild.channels);
    let plain = channels.and_then(|channels| channels.get(&channel));
    let thread = cached.and_then(|guild| guild.threads.iter().find(|t| t.id == channel));
    let kind = plain
        .map(|c| c.kind)
        .or_else(|| thread.map(|t| t.kind))
        .or_else(|| told.map(|c| c.kind));
    let is_thread = kind.is_some_and(is_thread);
    let parent = thread
        .and_then(|t| t.parent_id)
        .or_else(|| told.and_then(|c| c.parent_id))
        .filter(|_| is_thread);
    // Who sees the thread's channel sees its public threads.
    let open = match parent {
        Some(parent) => channels.and_then(|channels| channels.get(&parent)),
        None => plain,
    };
    let everyone_sees = cached.zip(open).map(|(g, c)| everyone_views(g, c));
    Place {
        guild: guild.get(),
        channel: channel.get(),
        parent: parent.map(ChannelId::get),
        thread: is_thread,
        private: kind == Some(ChannelType::PrivateThread) || everyone_sees != Some(true),
        known: kind.is_some()
            && (everyone_sees.is_some() || kind == Some(ChannelType::PrivateThread)),
    }
}

pub(super) fn is_thread(kind: ChannelType) -> bool {
    matches!(
        kind,
        ChannelType::PublicThread | ChannelType::PrivateThread | ChannelType::NewsThread
    )
}

fn everyone_views(guild: &Guild, channel: &GuildChannel) -> bool {
    let everyone = RoleId::new(guild.id.get());
    let Some(role) = guild.roles.get(&everyone) else {
        return false;
    };
    let mut bits = role.permissions;
    for overwrite in &channel.permission_overwrites {
        if overwrite.kind == PermissionOverwriteType::Role(everyone) {
            bits = (bits & !overwrite.deny) | overwrite.allow;
        }
    }
    views(bits.bits())
}

/// The full name of a command and the options of its innermost level.
pub(super) fn command(data: &CommandData) -> (String, &[CommandDataOption]) {
    let mut name = data.name.clone();
    let mut options = data.options.as_slice();
    // A group and a subcommand at most.
    while let Some((inner, level)) = options.first().and_then(|option| match &option.value {
        CommandDataOptionValue::SubCommand(level)
        | CommandDataOptionValue::SubCommandGroup(level) => Some((&option.name, level)),
        _ => None,
    }) {
        let _ = write!(name, " {inner}");
        options = level;
    }
    (name, options)
}

pub(super) fn options(given: &[CommandDataOption], resolved: &CommandDataResolved) -> Options {
    let value = |option: &CommandDataOption| {
        Some(match &option.value {
            CommandDataOptionValue::String(text) => OptionValue::Text(text.clone()),
            CommandDataOptionValue::Integer(number) => OptionValue::Number(*number),
            CommandDataOptionValue::Number(number) => OptionValue::Decimal(*number),
            CommandDataOptionValue::Boolean(flag) => OptionValue::Flag(*flag),
            CommandDataOptionValue::Attachment(id) => {
                OptionValue::File(file(resolved.attachments.get(id)?))
            }
            CommandDataOptionValue::Channel(id) => OptionValue::Channel {
                id: id.get(),
                readable: resolved
                    .channels
                    .get(id)
                    .and_then(|channel| channel.permissions)
                    .is_some_and(|bits| reads(bits.bits())),
            },
            CommandDataOptionValue::Role(id) => OptionValue::Id(id.get()),
            CommandDataOptionValue::User(id) => {
                let nick = resolved
                    .members
                    .get(id)
                    .and_then(|member| member.nick.as_deref());
                let user = resolved.users.get(id)?;
                OptionValue::User {
                    id: id.get(),
                    name: nick.unwrap_or_else(|| user.display_name()).to_owned(),
                }
            }
            CommandDataOptionValue::Mentionable(id) => OptionValue::Id(id.get()),
            _ => return None,
        })
    };
    Options(
        given
            .iter()
            .filter_map(|option| Some((option.name.clone(), value(option)?)))
            .collect(),
    )
}

/// The option that is being typed, with what stands there.
pub(super) fn focused(given: &[CommandDataOption]) -> Option<(&str, &str)> {
    given.iter().find_map(|option| match &option.value {
        CommandDataOptionValue::Autocomplete { value, .. } => {
            Some((option.name.as_str(), value.as_str()))
        }
        _ => None,
    })
}

fn file(attachment: &Attachment) -> FileRef {
    FileRef {
        id: attachment.id.get(),
        name: attachment.filename.clone(),
        url: attachment.url.clone(),
        size: u64::from(attachment.size),
        content_type: attachment.content_type.clone(),
    }
}

/// Whether people wrote it, and not Discord ("started a thread", "pinned a message").
pub(super) fn is_written(message: &Message) -> bool {
    matches!(
        message.kind,
        MessageType::Regular | MessageType::InlineReply
    )
}

/// Whether a bot or a webhook wrote it.
pub(super) fn is_automatic(message: &Message) -> bool {
    message.author.bot || message.webhook_id.is_some()
}

pub(super) fn seen(message: &Message) -> SeenMessage {
    let post = post(message);
    let text = text(message, &post);
    let from_bot = is_automatic(message);
    let forwarded = message.message_snapshots.iter();
    let files = message
        .attachments
        .iter()
        .chain(forwarded.flat_map(|snapshot| &snapshot.attachments))
        .map(file)
        .collect();
    let nick = message.member.as_ref().and_then(|m| m.nick.as_deref());
    let roles = message
        .member
        .as_ref()
        .map_or(&[][..], |m| m.roles.as_slice());
    SeenMessage {
        id: message.id.get(),
        author: Person {
            id: message.author.id.get(),
            name: nick
                .unwrap_or_else(|| message.author.display_name())
                .to_owned(),
            locale: Locale::of_text(&text),
            may: May::of(0, ids(roles)),
        },
        from_bot,
        text,
        post: from_bot.then(|| Box::new(post)),
        files,
        at_ms: made_at_ms(message.id.get()),
    }
}

/// Who wrote a message in a guild, with what they may do there as far as it is cached.
pub(super) fn writer(cache: &Cache, guild: GuildId, message: &Message, seen: &Person) -> Person {
    let mut who = seen.clone();
    let cached = cache.guild(guild);
    let Some(cached) = cached.as_deref() else {
        return who;
    };
    if !message.content.chars().any(char::is_alphabetic) {
        who.locale = Locale::from_discord(&cached.preferred_locale);
    }
    let thread = cached.threads.iter().find(|t| t.id == message.channel_id);
    let channel = thread
        .and_then(|t| t.parent_id)
        .unwrap_or(message.channel_id);
    if let (Some(channel), Some(member)) = (cached.channels.get(&channel), &message.member) {
        // The library insists that a user inside is the author.
        let mut member = (**member).clone();
        member.user = None;
        let bits = cached.partial_member_permissions_in(channel, message.author.id, &member);
        who.may = May::of(bits.bits(), ids(&member.roles));
    }
    who
}

/// Whether a message calls the bot: by its name, by a reply that notifies, or by its own role.
pub(super) fn mentions(cache: &Cache, guild: GuildId, message: &Message, bot: UserId) -> bool {
    if message.mentions.iter().any(|user| user.id == bot) {
        return true;
    }
    if message.mention_roles.is_empty() {
        return false;
    }
    cache.guild(guild).is_some_and(|guild| {
        message.mention_roles.iter().any(|role| {
            guild
                .roles
                .get(role)
                .is_some_and(|role| role.tags.bot_id == Some(bot))
        })
    })
}

/// Everything that a message says, as plain lines.
fn text(message: &Message, own: &Post) -> String {
    let forwarded = message.message_snapshots.iter().map(|snapshot| {
        let post = Post {
            content: snapshot.content.clone(),
            embeds: snapshot.embeds.iter().map(embed).collect(),
            ..Post::default()
        };
        post.text()
    });
    let mut texts: Vec<String> = std::iter::once(own.text()).chain(forwarded).collect();
    texts.retain(|text| !text.is_empty());
    texts.join("\n")
}

/// The words of the message itself, where they stand.
fn post(message: &Message) -> Post {
    Post {
        by: if message.webhook_id.is_some() {
            Writer::Webhook
        } else if message.author.bot {
            Writer::Bot
        } else {
            Writer::Person
        },
        author: message.author.display_name().to_owned(),
        content: message.content.clone(),
        embeds: message.embeds.iter().map(embed).collect(),
        at_ms: made_at_ms(message.id.get()),
    }
}

fn embed(embed: &Embed) -> PostEmbed {
    let text = |text: &Option<String>| text.clone().unwrap_or_default();
    PostEmbed {
        author: embed
            .author
            .as_ref()
            .map_or_else(String::new, |author| author.name.clone()),
        title: text(&embed.title),
        url: text(&embed.url),
        description: text(&embed.description),
        fields: embed
            .fields
            .iter()
            .map(|field| (field.name.clone(), field.value.clone()))
            .collect(),
        footer: embed
            .footer
            .as_ref()
            .map_or_else(String::new, |footer| footer.text.clone()),
        colour: embed.colour.map(|colour| colour.0),
        at_ms: embed
            .timestamp
            .map(|at| at.unix_timestamp().saturating_mul(1000)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};

    fn message(change: Value) -> Message {
        let mut message = json!({
            "id": "175928847299117063", "channel_id": "5", "type": 0, "content": "",
            "author": {
                "id": "7", "username": "alice", "global_name": "Alice A.", "discriminator": "0",
                "avatar": null,
            },
            "timestamp": "2026-05-14T02:51:00Z", "edited_timestamp": null, "tts": false,
            "mention_everyone": false, "mentions": [], "mention_roles": [], "attachments": [],
            "embeds": [], "pinned": false,
        });
        let (Value::Object(map), Value::Object(change)) = (&mut message, change) else {
            panic!("objects");
        };
        map.extend(change);
        serde_json::from_value(message).expect("a message")
    }

    #[test]
    fn the_words_of_a_message_are_found_wherever_they_are() {
        let field = |name: &str, value: &str| json!({"name": name, "value": value, "inline": true});
        let cases = [
            (json!({"content": "  503s \n"}), "503s"),
            (json!({}), ""),
            (
                json!({"content": "see", "embeds": [
                    {"title": "T", "description": "D", "fields": [field("a", "1"), field("b", " ")]},
                    {"footer": {"text": "F"}},
                ]}),
                "see\nT\nD\na: 1\nb\nF",
            ),
            (
                json!({"message_snapshots": [{"message": {
                    "content": "forwarded", "timestamp": "2026-05-14T02:51:00Z",
                    "edited_timestamp": null, "mentions": [], "attachments": [], "type": 0,
                    "embeds": [{"author": {"name": "Grafana"}, "title": "firing"}], "flags": 0,
                }}]}),
                "forwarded\nGrafana\nfiring",
            ),
        ];
        for (change, text) in cases {
            assert_eq!(seen(&message(change)).text, text);
        }
    }

    #[test]
    fn alerts_keep_the_places_of_their_words() {
        let change = json!({
            "webhook_id": "8", "content": "c",
            "embeds": [{
                "author": {"name": "a"}, "title": "t", "url": "https://x.test/", "description": "d",
                "fields": [{"name": "n", "value": "v", "inline": true}], "footer": {"text": "f"},
                "color": 255, "timestamp": "2026-05-14T02:51:00Z",
            }],
        });
        let post = *seen(&message(change)).post.expect("of a webhook");
        let embed = PostEmbed {
            author: "a".to_owned(),
            title: "t".to_owned(),
            url: "https://x.test/".to_owned(),
            description: "d".to_owned(),
            fields: vec![("n".to_owned(), "v".to_owned())],
            footer: "f".to_owned(),
            colour: Some(255),
            at_ms: Some(1_778_727_060_000),
        };
        assert_eq!(
            post,
            Post {
                by: Writer::Webhook,
                author: "Alice A.".to_owned(),
                content: "c".to_owned(),
                embeds: vec![embed],
                at_ms: 1_462_015_105_796,
            }
        );
    }

    #[test]
    fn people_have_the_name_that_the_guild_shows() {
        let nick = json!({"member": {
            "nick": "al (on call)", "roles": ["9"], "joined_at": null, "deaf": false, "mute": false,
        }});
        for (change, name, roles) in [
            (json!({}), "Alice A.", vec![]),
            (nick, "al (on call)", vec![9]),
        ] {
            let seen = seen(&message(change));
            assert_eq!(
                (seen.author.name.as_str(), seen.author.may.roles),
                (name, roles)
            );
            assert_eq!(seen.at_ms, 1_462_015_105_796);
            assert!(!seen.from_bot);
        }
        assert!(seen(&message(json!({"webhook_id": "8"}))).from_bot);
        assert!(seen(&message(json!({}))).post.is_none());
        assert!(!is_written(&message(json!({"type": 18}))));
    }
}

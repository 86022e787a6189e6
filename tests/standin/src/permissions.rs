//! Discord's permission bits and how a person's or the bot's come about.
//!
//! Numbers: Discord documentation, topics/permissions. Roles give, channel overwrites
//! take and give, in the order everyone, roles, member; ADMINISTRATOR and the owner
//! are above all; without VIEW_CHANNEL nothing is left.

/// May do everything.
pub const ADMINISTRATOR: u64 = 1 << 3;
/// *Manage Channels*.
pub const MANAGE_CHANNELS: u64 = 1 << 4;
/// *Manage Server*.
pub const MANAGE_GUILD: u64 = 1 << 5;
/// *Add Reactions*.
pub const ADD_REACTIONS: u64 = 1 << 6;
/// *View Channel*; its denial denies everything in the channel.
pub const VIEW_CHANNEL: u64 = 1 << 10;
/// *Send Messages*, in channels (not in threads).
pub const SEND_MESSAGES: u64 = 1 << 11;
/// *Manage Messages*: delete what others wrote.
pub const MANAGE_MESSAGES: u64 = 1 << 13;
/// *Embed Links*.
pub const EMBED_LINKS: u64 = 1 << 14;
/// *Attach Files*.
pub const ATTACH_FILES: u64 = 1 << 15;
/// *Read Message History*.
pub const READ_MESSAGE_HISTORY: u64 = 1 << 16;
/// *Mention everyone, here, and all roles*.
pub const MENTION_EVERYONE: u64 = 1 << 17;
/// *Manage Roles*.
pub const MANAGE_ROLES: u64 = 1 << 28;
/// *Manage Webhooks*.
pub const MANAGE_WEBHOOKS: u64 = 1 << 29;
/// *Use Application Commands*.
pub const USE_APPLICATION_COMMANDS: u64 = 1 << 31;
/// *Manage Threads*.
pub const MANAGE_THREADS: u64 = 1 << 34;
/// *Create Public Threads*.
pub const CREATE_PUBLIC_THREADS: u64 = 1 << 35;
/// *Create Private Threads*.
pub const CREATE_PRIVATE_THREADS: u64 = 1 << 36;
/// *Send Messages in Threads*.
pub const SEND_MESSAGES_IN_THREADS: u64 = 1 << 38;

/// Every bit this double knows.
pub const ALL: u64 = ADMINISTRATOR
    | MANAGE_CHANNELS
    | MANAGE_GUILD
    | ADD_REACTIONS
    | VIEW_CHANNEL
    | SEND_MESSAGES
    | MANAGE_MESSAGES
    | EMBED_LINKS
    | ATTACH_FILES
    | READ_MESSAGE_HISTORY
    | MENTION_EVERYONE
    | MANAGE_ROLES
    | MANAGE_WEBHOOKS
    | USE_APPLICATION_COMMANDS
    | MANAGE_THREADS
    | CREATE_PUBLIC_THREADS
    | CREATE_PRIVATE_THREADS
    | SEND_MESSAGES_IN_THREADS;

/// What `@everyone` may in a new guild.
pub const EVERYONE: u64 = ADD_REACTIONS
    | VIEW_CHANNEL
    | SEND_MESSAGES
    | EMBED_LINKS
    | ATTACH_FILES
    | READ_MESSAGE_HISTORY
    | USE_APPLICATION_COMMANDS
    | CREATE_PUBLIC_THREADS
    | CREATE_PRIVATE_THREADS
    | SEND_MESSAGES_IN_THREADS;

/// An entry of a channel's overwrites.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Overwrite {
    /// A role's or a member's id.
    pub target: u64,
    /// Whether `target` is a member.
    pub member: bool,
    pub allow: u64,
    pub deny: u64,
}

/// What is left after a channel's overwrites.
///
/// `base` is the union of the member's roles, `roles` their ids, `everyone` the id of
/// the guild (which is the id of the everyone role).
pub(crate) fn in_channel(
    base: u64,
    everyone: u64,
    roles: &[u64],
    member: u64,
    overwrites: &[Overwrite],
) -> u64 {
    if base & ADMINISTRATOR != 0 {
        return ALL;
    }
    let mut now = base;
    for overwrite in overwrites
        .iter()
        .filter(|o| !o.member && o.target == everyone)
    {
        now = (now & !overwrite.deny) | overwrite.allow;
    }
    let (mut allow, mut deny) = (0, 0);
    for overwrite in overwrites
        .iter()
        .filter(|o| !o.member && o.target != everyone && roles.contains(&o.target))
    {
        allow |= overwrite.allow;
        deny |= overwrite.deny;
    }
    now = (now & !deny) | allow;
    for overwrite in overwrites.iter().filter(|o| o.member && o.target == member) {
        now = (now & !overwrite.deny) | overwrite.allow;
    }
    if now & VIEW_CHANNEL == 0 { 0 } else { now }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn overwrites_apply_in_discords_order() {
        let everyone = 1;
        let denied = Overwrite {
            target: everyone,
            member: false,
            allow: 0,
            deny: VIEW_CHANNEL,
        };
        let role = Overwrite {
            target: 7,
            member: false,
            allow: VIEW_CHANNEL,
            deny: 0,
        };
        let person = Overwrite {
            target: 9,
            member: true,
            allow: 0,
            deny: SEND_MESSAGES,
        };
        let cases: &[(&str, &[u64], &[Overwrite], u64)] = &[
            ("nothing said", &[], &[], EVERYONE),
            ("hidden from everyone", &[], &[denied], 0),
            ("a role sees it again", &[7], &[denied, role], EVERYONE),
            (
                "the member's own comes last",
                &[7],
                &[person, denied, role],
                EVERYONE & !SEND_MESSAGES,
            ),
        ];
        for (what, roles, overwrites, expected) in cases {
            assert_eq!(
                in_channel(EVERYONE, everyone, roles, 9, overwrites),
                *expected,
                "{what}"
            );
        }
        assert_eq!(
            in_channel(ADMINISTRATOR, everyone, &[], 9, &[denied]),
            ALL,
            "an administrator is above overwrites"
        );
    }
}

//! Who may do what: the bits of Discord's permissions that the bot asks about.
//!
//! Numbers and names: Discord's documentation, topics/permissions; the names are those that the
//! server settings show, so that an operator finds them.

use serde::{Deserialize, Serialize};

const ADMINISTRATOR: u64 = 1 << 3;
const MANAGE_GUILD: u64 = 1 << 5;
const ADD_REACTIONS: u64 = 1 << 6;
const VIEW_CHANNEL: u64 = 1 << 10;
const SEND_MESSAGES: u64 = 1 << 11;
const EMBED_LINKS: u64 = 1 << 14;
const ATTACH_FILES: u64 = 1 << 15;
const READ_MESSAGE_HISTORY: u64 = 1 << 16;
const MANAGE_THREADS: u64 = 1 << 34;
const CREATE_PUBLIC_THREADS: u64 = 1 << 35;
const SEND_MESSAGES_IN_THREADS: u64 = 1 << 38;

/// What a person may do where they are.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct May {
    /// *Manage Threads*: the incident's severity, status and lead; resolve for others.
    pub manage_threads: bool,
    /// *Manage Server*: import, forget, configure.
    pub manage_guild: bool,
    /// The ids of their roles, for roles that a guild has set.
    pub roles: Vec<u64>,
}

impl May {
    /// From permission bits in the channel and the person's roles.
    pub fn of(bits: u64, roles: Vec<u64>) -> Self {
        let has = |bit| bits & (bit | ADMINISTRATOR) != 0;
        Self {
            manage_threads: has(MANAGE_THREADS),
            manage_guild: has(MANAGE_GUILD),
            roles,
        }
    }
}

/// A thing that the bot is about to do and that needs permissions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Need {
    /// Post in a channel.
    Post,
    /// Post in a thread.
    PostInThread,
    /// Show cards.
    Embed,
    /// Attach files.
    Attach,
    /// Start a thread from a message.
    StartThread,
    /// Read what was written before, and reply to a message.
    ReadHistory,
    /// Add a reaction.
    React,
    /// Change a locked thread.
    ManageThread,
}

impl Need {
    fn bits(self) -> &'static [(u64, &'static str)] {
        const VIEW: (u64, &str) = (VIEW_CHANNEL, "View Channel");
        const HISTORY: (u64, &str) = (READ_MESSAGE_HISTORY, "Read Message History");
        match self {
            Self::Post => &[VIEW, (SEND_MESSAGES, "Send Messages")],
            Self::PostInThread => &[VIEW, (SEND_MESSAGES_IN_THREADS, "Send Messages in Threads")],
            Self::Embed => &[(EMBED_LINKS, "Embed Links")],
            Self::Attach => &[(ATTACH_FILES, "Attach Files")],
            // Discord wants the history as well: the thread hangs from a message of it.
            Self::StartThread => &[
                VIEW,
                (CREATE_PUBLIC_THREADS, "Create Public Threads"),
                HISTORY,
            ],
            Self::ReadHistory => &[VIEW, HISTORY],
            Self::React => &[VIEW, (ADD_REACTIONS, "Add Reactions"), HISTORY],
            Self::ManageThread => &[(MANAGE_THREADS, "Manage Threads")],
        }
    }
}

/// What the bot may do in one place, as Discord told it with an interaction there.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct BotMay {
    /// Discord's permission bits; `None` where Discord did not say.
    pub bits: Option<u64>,
}

impl BotMay {
    /// The permissions that are missing for these, by the names of the server settings, each once.
    /// Empty where Discord did not say what the bot may: trying is the way to find out.
    pub fn missing(self, needs: &[Need]) -> Vec<&'static str> {
        let Some(bits) = self.bits else {
            return Vec::new();
        };
        if bits & ADMINISTRATOR != 0 {
            return Vec::new();
        }
        let mut missing = Vec::new();
        for (bit, name) in needs.iter().flat_map(|need| need.bits()) {
            if bits & bit == 0 && !missing.contains(name) {
                missing.push(*name);
            }
        }
        missing
    }

    /// Whether all of these may be done, as far as Discord said.
    pub fn may(self, needs: &[Need]) -> bool {
        self.missing(needs).is_empty()
    }
}

/// Whether the permission bits let somebody view the channel.
pub(super) fn views(bits: u64) -> bool {
    bits & (VIEW_CHANNEL | ADMINISTRATOR) != 0
}

/// Whether the permission bits let somebody read what was written in the channel before.
pub(super) fn reads(bits: u64) -> bool {
    bits & ADMINISTRATOR != 0
        || bits & (VIEW_CHANNEL | READ_MESSAGE_HISTORY) == VIEW_CHANNEL | READ_MESSAGE_HISTORY
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_missing_has_the_settings_names() {
        let all = [
            Need::Post,
            Need::PostInThread,
            Need::Embed,
            Need::Attach,
            Need::StartThread,
            Need::ReadHistory,
            Need::React,
            Need::ManageThread,
        ];
        let cases: &[(Option<u64>, &[Need], &[&str])] = &[
            (None, &all, &[]),
            (Some(ADMINISTRATOR), &all, &[]),
            (Some(u64::MAX), &all, &[]),
            (Some(VIEW_CHANNEL), &[Need::Post], &["Send Messages"]),
            (Some(0), &[Need::Post], &["View Channel", "Send Messages"]),
            // Posting in channels says nothing of threads.
            (
                Some(VIEW_CHANNEL | SEND_MESSAGES),
                &[Need::Post, Need::PostInThread],
                &["Send Messages in Threads"],
            ),
            (
                Some(VIEW_CHANNEL | SEND_MESSAGES | CREATE_PUBLIC_THREADS),
                &[Need::Post, Need::StartThread, Need::React],
                &["Read Message History", "Add Reactions"],
            ),
            (Some(0), &[Need::ManageThread], &["Manage Threads"]),
        ];
        for (bits, needs, missing) in cases {
            let bot = BotMay { bits: *bits };
            assert_eq!(bot.missing(needs), *missing, "{bits:?} {needs:?}");
            assert_eq!(bot.may(needs), missing.is_empty());
        }
    }

    #[test]
    fn an_administrator_may_everything() {
        for (bits, threads, guild) in [
            (0, false, false),
            (MANAGE_THREADS, true, false),
            (MANAGE_GUILD, false, true),
            (ADMINISTRATOR, true, true),
        ] {
            let may = May::of(bits, vec![5]);
            assert_eq!((may.manage_threads, may.manage_guild), (threads, guild));
            assert_eq!(may.roles, [5]);
        }
    }
}

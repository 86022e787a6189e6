//! Who may do what: one table, which the checks, the help and the README are held to.
//!
//! Wanted: a deed that takes a right is in the table, with the right it takes; nowhere else is that
//! decided. What a person has is looked up where they ask (their permissions come with the
//! interaction, their roles are compared with those that the guild has set); Discord's own settings
//! for commands come on top and are never relied on.

/// What it takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Right {
    /// To write in the channel.
    Write,
    /// Discord's *Manage Threads*, or the guild's role for responders.
    Respond,
    /// Discord's *Manage Server*, or the guild's role for administrators.
    Administer,
    /// Discord's *Manage Server*; a role can't hand itself on.
    Own,
}

impl Right {
    /// All four, from the least to the most.
    pub const ALL: [Self; 4] = [Self::Write, Self::Respond, Self::Administer, Self::Own];
}

/// What somebody does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Deed {
    /// Uses a command, by its full name.
    Command(&'static str),
    /// Presses the buttons and selects below an analysis.
    Buttons,
    /// Resolves an incident that they reported.
    ResolveOwn,
    /// Resolves what somebody else reported.
    ResolveForOthers,
    /// Remembers somebody else's message as an incident.
    RememberForOthers,
    /// Approves a destructive step, so that it may be ticked.
    ApproveStep,
    /// Sets severity, status or lead of an incident that somebody else reported and leads.
    SetState,
}

use Deed::{
    ApproveStep, Buttons, Command, RememberForOthers, ResolveForOthers, ResolveOwn, SetState,
};
use Right::{Administer, Own, Respond, Write};

/// The table.
pub const WHO_MAY: &[(Deed, Right)] = &[
    (Command("analyze"), Write),
    (Command("Analyze as incident"), Write),
    (Command("followup"), Write),
    (Command("update"), Write),
    (Command("why"), Write),
    (Command("incident show"), Write),
    (Command("incident list"), Write),
    // Severity, status and lead take more, further on.
    (Command("incident set"), Write),
    (Command("incident timeline"), Write),
    (Command("incident postmortem"), Write),
    (Command("catchup"), Write),
    (Command("memory search"), Write),
    (Command("memory show"), Write),
    (Command("memory add"), Write),
    (Command("memory review"), Write),
    (Command("service list"), Write),
    (Command("service show"), Write),
    (Command("help"), Write),
    // Whose incident it is decides further on.
    (Command("resolve"), Write),
    (Command("Remember as incident"), Write),
    (Buttons, Write),
    (ResolveOwn, Write),
    (ResolveForOthers, Respond),
    (RememberForOthers, Respond),
    (ApproveStep, Respond),
    (SetState, Respond),
    (Command("memory duplicate"), Respond),
    (Command("incident merge"), Respond),
    (Command("memory import"), Administer),
    (Command("memory export"), Administer),
    (Command("memory forget"), Administer),
    (Command("memory share"), Administer),
    (Command("memory unshare"), Administer),
    (Command("service set"), Administer),
    (Command("service alias"), Administer),
    (Command("service rename"), Administer),
    (Command("service merge"), Administer),
    (Command("service remove"), Administer),
    (Command("watch alerts"), Administer),
    (Command("watch changes"), Administer),
    (Command("watch stop"), Administer),
    (Command("watch list"), Administer),
    (Command("settings roles"), Own),
    (Command("settings severity"), Administer),
];

/// What a deed takes. A command that is not in the table takes the most: it was forgotten there.
pub fn right_for(deed: Deed) -> Right {
    WHO_MAY
        .iter()
        .find(|(known, _)| *known == deed)
        .map_or(Own, |(_, right)| *right)
}

/// What a command takes, by its full name, as [`right_for`].
pub fn right_for_command(name: &str) -> Right {
    WHO_MAY
        .iter()
        .find(|(deed, _)| matches!(deed, Command(known) if *known == name))
        .map_or(Own, |(_, right)| *right)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_deed_stands_once_and_what_is_not_there_takes_the_most() {
        for (index, (deed, _)) in WHO_MAY.iter().enumerate() {
            let again = WHO_MAY.iter().skip(index + 1);
            assert!(again.clone().all(|(other, _)| other != deed), "{deed:?}");
        }
        assert_eq!(right_for_command("memory forget"), Administer);
        assert_eq!(right_for_command("format disk"), Own);
        assert_eq!(right_for(ApproveStep), Respond);
    }
}

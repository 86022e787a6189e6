//! *Trying this fix*, said in the thread; and where other people try something already, said to all
//! of them: who tries what since when, and that they talk first.
//!
//! Whether two fixes oppose each other is for people to say: any two at once hide what each does.
//! Nobody is pinged; the fixes stand in no code (R18).

use super::ink::Ink;
use super::payload::{CONTENT, Message};
use super::{By, Post, Slot, say};
use crate::incident::Locale;
use crate::incident::sameness::same;
use serde::{Deserialize, Serialize};

/// Other fixes that one notice names.
const MOST: usize = 4;
/// Characters of a fix.
const ROOM: usize = 240;

/// A fix that somebody tries.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Tried {
    /// Who, since when.
    pub by: By,
    /// The fix.
    pub fix: String,
}

/// The notice in the thread: somebody begins, beside what others try.
pub fn trying(begun: &Tried, others: &[Tried], locale: Locale) -> Post {
    let ink = Ink::discord(locale, begun.by.at);
    let who = ink.text(&begun.by.name, 60);
    let fix = ink.text(&begun.fix, ROOM);
    if others.is_empty() {
        return super::notice(&say::trying(locale, &who, &fix));
    }
    let heading = if all_same(begun, others) {
        say::one_fix_twice(locale)
    } else {
        say::two_fixes_at_once(locale)
    };
    let mut lines = vec![ink.bold(heading)];
    lines.extend(since(others, &ink));
    lines.push(say::begins_now(locale, &who, &fix));
    post(&lines, Slot::Reply)
}

/// The same to who began, alone.
pub fn trying_beside(begun: &Tried, others: &[Tried], locale: Locale) -> Post {
    let ink = Ink::discord(locale, begun.by.at);
    let heading = if all_same(begun, others) {
        say::somebody_else_tries_the_same(locale)
    } else {
        say::somebody_else_tries(locale)
    };
    let mut lines = vec![heading.to_owned()];
    lines.extend(since(others, &ink));
    post(&lines, Slot::Private)
}

fn all_same(begun: &Tried, others: &[Tried]) -> bool {
    others.iter().all(|other| same(&other.fix, &begun.fix))
}

fn since(others: &[Tried], ink: &Ink) -> Vec<String> {
    let mut lines: Vec<String> = others
        .iter()
        .take(MOST)
        .map(|other| {
            let who = ink.text(&other.by.name, 60);
            let fix = ink.text(&other.fix, ROOM);
            say::tries_since(ink.locale, &who, &fix, &ink.clock(other.by.at))
        })
        .collect();
    if others.len() > MOST {
        lines.push(say::and_more(ink.locale, others.len() - MOST));
    }
    lines
}

fn post(lines: &[String], slot: Slot) -> Post {
    Message {
        content: super::escape::cut(&lines.join("\n"), CONTENT),
        ..Message::default()
    }
    .post(slot)
}

#[cfg(test)]
mod tests {
    use super::super::checks::{assert_legal, at, text};
    use super::*;
    use proptest::prelude::*;

    fn tried(name: &str, fix: &str) -> Tried {
        Tried {
            by: By {
                name: name.into(),
                at: at("2026-05-26T03:00:00Z"),
            },
            fix: fix.into(),
        }
    }

    #[test]
    fn one_fix_twice_is_said_as_that() {
        let begun = tried("ben", "Restart payments-api");
        for (other, same) in [("restart payments-api.", true), ("Scale it up", false)] {
            let others = [tried("alice", other)];
            for locale in [Locale::En, Locale::Zh] {
                let said = trying(&begun, &others, locale).payload["content"].to_string();
                assert_eq!(said.contains(say::one_fix_twice(locale)), same, "{said}");
                assert_eq!(
                    said.contains(say::two_fixes_at_once(locale)),
                    !same,
                    "{said}"
                );
            }
        }
        let alone = trying(&begun, &[], Locale::En);
        assert_eq!(
            alone.payload["content"],
            "🔧 ben is trying: Restart payments-api"
        );
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 32, max_shrink_iters: 60, failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn whatever_is_tried_by_whom_it_fits(
            who in text(), fix in text(), zh in any::<bool>(),
            others in proptest::collection::vec((text(), text()), 0..7),
        ) {
            let locale = if zh { Locale::Zh } else { Locale::En };
            let begun = tried(&who, &fix);
            let others: Vec<Tried> = others.iter().map(|(who, fix)| tried(who, fix)).collect();
            assert_legal(&trying(&begun, &others, locale));
            if !others.is_empty() {
                assert_legal(&trying_beside(&begun, &others, locale));
            }
        }
    }
}

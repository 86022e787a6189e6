//! Who may approve a destructive step, and how an approval stands (R18).
//!
//! Wanted: nobody ticks a destructive step that nobody with the right to approve it has answered
//! for by name, and the record says whether that was somebody else than the person who asked.
//!
//! Design: what was said of a step is a list of [`Entry`], in order; [`Request::of`] reads how it
//! stands and [`Request::answer`] decides what a press does. Who asked approves their own request
//! only with a second press that says so. A lone responder at 3 a.m. would run the command anyway:
//! refused, it happens off the record; asked twice, it is a deliberate act that the record names as
//! theirs alone, and that everybody in the thread sees. An approval is taken back until the step is
//! ticked; asked again, it waits again. A refusal that an approver could not have seen yet stands:
//! of two who press at once the careful one is right.
//!
//! Deliberately absent: running anything. The bot runs no command; a tick says that a person did.

use jiff::{SignedDuration, Timestamp};

/// Within this time after somebody's *Not now* another person's *Approve* was pressed unseeing.
const AT_ONCE: SignedDuration = SignedDuration::from_secs(3);

/// What was said of a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Word {
    /// Somebody wants to do it.
    Asked,
    /// It may be done.
    Approved,
    /// It may not, or no longer, be done.
    NotNow,
}

/// Who said something, and when.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Who {
    /// The person's id: two people may have one name.
    pub person: u64,
    /// Display name.
    pub name: String,
    /// When.
    pub at: Timestamp,
}

/// One thing that was said.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// What.
    pub word: Word,
    /// By whom.
    pub who: Who,
}

/// How a request stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum State {
    /// Nobody has answered.
    Waiting,
    /// Somebody answers for it.
    Approved(Who),
    /// Somebody said not now, or took an approval or the request back.
    NotNow(Who),
}

/// A request for an approver.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Request {
    /// Who asked last.
    pub asked: Who,
    /// How it stands.
    pub state: State,
}

/// What somebody presses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Press {
    /// *Approve*.
    Approve,
    /// *Approve my own request*, offered to who asked after their *Approve*.
    ApproveOwn,
    /// *Not now*, or *Take back*.
    NotNow,
}

/// What comes of a press.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Answer {
    /// It is recorded.
    Record(Word),
    /// It stands already, or somebody said otherwise a moment ago: nothing is recorded.
    Stands,
    /// Who asked is asked whether they approve alone.
    ConfirmOwn,
    /// They may not.
    NotAllowed,
}

impl Request {
    /// How it stands after all that was said, in order; `None` where nobody asked.
    pub fn of<'e>(entries: impl IntoIterator<Item = &'e Entry>) -> Option<Self> {
        let mut request: Option<Self> = None;
        for entry in entries {
            let who = entry.who.clone();
            match (entry.word, &mut request) {
                (Word::Asked, _) => {
                    request = Some(Self {
                        asked: who,
                        state: State::Waiting,
                    });
                }
                (Word::Approved, Some(request)) => request.state = State::Approved(who),
                (Word::NotNow, Some(request)) => request.state = State::NotNow(who),
                (Word::Approved | Word::NotNow, None) => {}
            }
        }
        request
    }

    /// The step may be ticked.
    pub fn is_approved(&self) -> bool {
        matches!(self.state, State::Approved(_))
    }

    /// Who approved it is who asked.
    pub fn is_self_approved(&self) -> bool {
        matches!(&self.state, State::Approved(who) if who.person == self.asked.person)
    }

    /// What a press by a person does; `may`: they have the right to approve.
    pub fn answer(&self, press: Press, person: u64, may: bool, pressed_at: Timestamp) -> Answer {
        let asked = self.asked.person == person;
        match press {
            // Who asked takes back what they asked for; more than that takes the right.
            Press::NotNow if !may && !asked => Answer::NotAllowed,
            Press::NotNow if matches!(self.state, State::NotNow(_)) => Answer::Stands,
            Press::NotNow => Answer::Record(Word::NotNow),
            Press::Approve | Press::ApproveOwn if !may => Answer::NotAllowed,
            Press::Approve | Press::ApproveOwn if self.is_approved() => Answer::Stands,
            Press::Approve | Press::ApproveOwn if self.refused_unseen(person, pressed_at) => {
                Answer::Stands
            }
            Press::Approve if asked => Answer::ConfirmOwn,
            Press::Approve | Press::ApproveOwn => Answer::Record(Word::Approved),
        }
    }

    fn refused_unseen(&self, person: u64, pressed_at: Timestamp) -> bool {
        matches!(&self.state, State::NotNow(who)
            if who.person != person && pressed_at.duration_since(who.at) < AT_ONCE)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const ALICE: u64 = 1;
    const ANA: u64 = 2;
    const BOB: u64 = 3;

    fn at(second: i64) -> Timestamp {
        Timestamp::from_second(1_779_764_400 + second).expect("a time")
    }

    fn entry(word: Word, person: u64, second: i64) -> Entry {
        Entry {
            word,
            who: Who {
                person,
                name: person.to_string(),
                at: at(second),
            },
        }
    }

    #[test]
    fn r18_what_a_press_does() {
        use Answer::{ConfirmOwn, NotAllowed, Record, Stands};
        use Press::{Approve, ApproveOwn, NotNow};
        let waiting = vec![entry(Word::Asked, ALICE, 0)];
        let with = |more: Entry| waiting.iter().cloned().chain([more]).collect::<Vec<_>>();
        let approved = with(entry(Word::Approved, ANA, 10));
        let own = with(entry(Word::Approved, ALICE, 10));
        let refused = with(entry(Word::NotNow, BOB, 10));
        for (entries, press, person, may, second, expected) in [
            // Without the right nobody approves, however they press.
            (&waiting, Approve, ANA, false, 60, NotAllowed),
            (&waiting, Approve, ALICE, false, 60, NotAllowed),
            (&waiting, ApproveOwn, ALICE, false, 60, NotAllowed),
            (&waiting, NotNow, ANA, false, 60, NotAllowed),
            (&approved, Approve, ANA, false, 60, NotAllowed),
            // With it, another person at once, who asked only when asked again.
            (&waiting, Approve, ANA, true, 60, Record(Word::Approved)),
            (&waiting, Approve, ALICE, true, 60, ConfirmOwn),
            (
                &waiting,
                ApproveOwn,
                ALICE,
                true,
                60,
                Record(Word::Approved),
            ),
            (&waiting, ApproveOwn, ANA, true, 60, Record(Word::Approved)),
            // Twice is once.
            (&approved, Approve, ANA, true, 60, Stands),
            (&approved, Approve, BOB, true, 60, Stands),
            (&own, ApproveOwn, ALICE, true, 60, Stands),
            (&refused, NotNow, ANA, true, 60, Stands),
            // Taken back by who has the right, and by who asked.
            (&approved, NotNow, BOB, true, 60, Record(Word::NotNow)),
            (&approved, NotNow, ALICE, false, 60, Record(Word::NotNow)),
            (&waiting, NotNow, ALICE, false, 60, Record(Word::NotNow)),
            (&approved, NotNow, 9, false, 60, NotAllowed),
            // After a refusal that was seen it may be approved; not over one that was not.
            (&refused, Approve, ANA, true, 60, Record(Word::Approved)),
            (&refused, Approve, ANA, true, 11, Stands),
            (&refused, Approve, BOB, true, 11, Record(Word::Approved)),
            (&refused, Approve, ALICE, true, 60, ConfirmOwn),
        ] {
            let request = Request::of(entries).expect("somebody asked");
            assert_eq!(
                request.answer(press, person, may, at(second)),
                expected,
                "{press:?} by {person} ({may}) on {:?}",
                request.state
            );
        }
        assert!(Request::of(&own).is_some_and(|request| request.is_self_approved()));
        assert!(!Request::of(&approved).is_some_and(|request| request.is_self_approved()));
        assert_eq!(Request::of(&[]), None);
        assert_eq!(
            Request::of(&[entry(Word::Approved, ANA, 0)]),
            None,
            "nobody asked"
        );
        let again: Vec<Entry> = approved
            .iter()
            .cloned()
            .chain([entry(Word::Asked, BOB, 20)])
            .collect();
        assert!(!Request::of(&again).is_some_and(|request| request.is_approved()));
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

        /// Whoever presses whatever, in any order: a step is approved only by people with the
        /// right, and by who asked only after the press that says so.
        #[test]
        fn r18_no_order_of_presses_approves_without_the_right(
            presses in proptest::collection::vec((1u64..5, any::<bool>(), 0usize..4), 0..30)
        ) {
            let mut entries: Vec<Entry> = Vec::new();
            for (second, (person, may, what)) in presses.into_iter().enumerate() {
                let second = i64::try_from(second).unwrap_or_default();
                let press = match what {
                    0 => {
                        entries.push(entry(Word::Asked, person, second));
                        continue;
                    }
                    1 => Press::Approve,
                    2 => Press::ApproveOwn,
                    _ => Press::NotNow,
                };
                let Some(request) = Request::of(&entries) else { continue };
                let answer = request.answer(press, person, may, at(second));
                if let Answer::Record(word) = answer {
                    entries.push(entry(word, person, second));
                }
                let after = Request::of(&entries).expect("somebody asked");
                if after.is_approved() && !request.is_approved() {
                    prop_assert!(may && press != Press::NotNow);
                    prop_assert!(!after.is_self_approved() || press == Press::ApproveOwn);
                }
            }
        }
    }
}

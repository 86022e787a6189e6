//! What is asked and said before and after something is forgotten.

use super::custom_id::Action;
use super::escape::{fitted, inline};
use super::payload::{Button, Message, Row, Style};
use super::{Post, Slot, say};
use crate::incident::{IncidentId, Locale};

/// What goes with an incident, in the order of the sentence: analyses, fixes tried, entries of its
/// history, messages of the bot, analyses of other incidents that recalled it.
pub type WhatGoes = [u32; 5];

/// Asks one person whether an incident is to be forgotten, and names what goes.
pub fn forget_question(id: IncidentId, title: &str, goes: WhatGoes, locale: Locale) -> Post {
    let title = fitted(title, 200, inline).0;
    let message = Message {
        content: say::forget_question(locale, id, &title, goes),
        rows: vec![Row::Buttons(vec![
            Button::new(
                Action::Forget { incident: id },
                say::button_forget(locale, id),
            )
            .style(Style::Danger),
            Button::new(Action::Keep { incident: id }, say::button_keep(locale)),
        ])],
        ..Message::default()
    };
    message.post(Slot::Private)
}

#[cfg(test)]
mod tests {
    use super::super::checks::{assert_legal, id, text};
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #![proptest_config(ProptestConfig { cases: 24, max_shrink_iters: 60, failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn the_question_fits(title in text(), count in any::<u32>()) {
            for locale in [Locale::En, Locale::Zh] {
                assert_legal(&forget_question(id(999_999_999), &title, [count; 5], locale));
            }
        }
    }
}

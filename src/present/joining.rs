//! What is asked and said where a report is about an incident that runs already (R32).

use super::custom_id::Action;
use super::escape::{fitted, inline};
use super::payload::{Button, Embed, Message, Row, Style};
use super::{Post, Slot, say};
use crate::incident::{IncidentId, Locale};

/// To the reporter alone: add the report there, or make it an incident of its own.
pub fn join_offer(
    incident: IncidentId,
    title: &str,
    report: u64,
    age: &str,
    over: bool,
    locale: Locale,
) -> Post {
    let title = fitted(title, 200, inline).0;
    Message {
        content: if over {
            say::back_offer(locale, incident, &title, age)
        } else {
            say::join_offer(locale, incident, &title, age)
        },
        rows: vec![Row::Buttons(vec![
            Button::new(
                Action::JoinReport { incident, report },
                say::button_join(locale),
            )
            .style(Style::Primary),
            Button::new(
                Action::SeparateReport { incident, report },
                say::button_separate(locale),
            ),
        ])],
        ..Message::default()
    }
    .post(Slot::Private)
}

/// In the incident's thread: a report was added, and what it says.
pub fn joined_notice(
    incident: IncidentId,
    report: u64,
    sentence: &str,
    words: &str,
    locale: Locale,
) -> Post {
    let words = fitted(words, 1_000, inline).0;
    Message {
        content: sentence.to_owned(),
        embeds: vec![Embed {
            description: words,
            ..Embed::default()
        }],
        rows: vec![Row::Buttons(vec![Button::new(
            Action::SeparateReport { incident, report },
            say::button_separate(locale),
        )])],
        ..Message::default()
    }
    .post(Slot::Reply)
}

/// In the thread of an incident that was merged into another: where it goes on, and the way back.
pub fn merged_notice(incident: IncidentId, sentence: &str, locale: Locale) -> Post {
    Message {
        content: sentence.to_owned(),
        rows: vec![Row::Buttons(vec![Button::new(
            Action::Unmerge { incident },
            say::button_separate(locale),
        )])],
        ..Message::default()
    }
    .post(Slot::Reply)
}

//! Remembering an old message, the preview of an import, and the questions of `/memory review`.

use super::custom_id::Action;
use super::escape::{fitted, inline, width};
use super::ink::Ink;
use super::modals::{input, modal, row};
use super::past::whole_lines;
use super::payload::{Button, Embed, Message, Row, Style};
use super::{Post, Slot, notice, private, say};
use crate::incident::{IncidentId, Locale, PastIncident};
use jiff::Timestamp;
use serde_json::Value;

/// Incidents that a preview lists.
const LISTED: usize = 10;
/// Failures that it lists.
const LISTED_FAILURES: usize = 10;
/// Color of these notes.
const COLOR: u32 = 0x5C_6B_7A;

/// What the modal of *Remember as incident* begins with.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RememberPrefill {
    /// One line.
    pub title: String,
    /// The service.
    pub service: String,
    /// The cause.
    pub cause: String,
    /// What was done.
    pub fix: String,
    /// What became of it, in the words of the modal.
    pub outcome: String,
}

/// The modal of *Remember as incident*: read and corrected in seconds.
pub fn remember_modal(locale: Locale, message: u64, prefill: &RememberPrefill) -> Value {
    let text = |name, label, paragraph, required, most, value: &str| {
        row(name, label, paragraph, required, most, value)
    };
    modal(
        Action::RememberModal { message },
        say::remember_title(locale),
        vec![
            text(
                input::TITLE,
                say::title_input(locale),
                false,
                true,
                200,
                &prefill.title,
            ),
            text(
                input::SERVICE,
                say::service_input(locale),
                false,
                false,
                80,
                &prefill.service,
            ),
            text(
                input::CAUSE,
                say::cause_input(locale),
                true,
                false,
                1_500,
                &prefill.cause,
            ),
            text(
                input::FIX,
                say::old_fix_input(locale),
                true,
                false,
                1_500,
                &prefill.fix,
            ),
            text(
                input::OUTCOME,
                say::outcome_input(locale),
                false,
                false,
                20,
                &prefill.outcome,
            ),
        ],
    )
}

/// What an import would bring.
#[derive(Clone, Copy, Debug)]
pub struct ImportPreview<'a> {
    /// The interaction that asked for it.
    pub import: u64,
    /// The records that would be stored.
    pub new: &'a [PastIncident],
    /// Records that are known as they are.
    pub known: usize,
    /// What could not be read, and why.
    pub unreadable: &'a [(String, String)],
}

/// The preview, to the person who asked alone.
pub fn import_preview(preview: &ImportPreview<'_>, locale: Locale, now: Timestamp) -> Post {
    let ink = Ink::discord(locale, now);
    let mut embeds = Vec::new();
    let mut lines: Vec<String> = preview
        .new
        .iter()
        .take(LISTED)
        .map(|past| {
            let mut parts: Vec<String> = Vec::new();
            parts.extend(past.started_at.or(past.resolved_at).map(|at| ink.day(at)));
            parts.extend(past.service.as_deref().map(|service| ink.text(service, 40)));
            parts.push(ink.bold(&ink.text(&past.title, 90)));
            parts.extend(past.fix().map(|fix| ink.text(fix, 90)));
            parts.push(say::outcome(locale, past.outcome()).to_owned());
            parts.retain(|part| !part.is_empty());
            parts.join(" · ")
        })
        .collect();
    if preview.new.len() > LISTED {
        lines.push(say::and_more(locale, preview.new.len() - LISTED));
    }
    if lines.is_empty() {
        lines.push(say::nothing_to_import(locale).to_owned());
    } else {
        lines.push(String::new());
        lines.push(say::import_not_yet(locale).to_owned());
    }
    embeds.push(Embed {
        title: say::import_preview_title(locale, preview.new.len(), preview.known),
        description: fitting(&lines, 3_500),
        color: COLOR,
        ..Embed::default()
    });
    if !preview.unreadable.is_empty() {
        let mut lines: Vec<String> = preview
            .unreadable
            .iter()
            .take(LISTED_FAILURES)
            .map(|(source, reason)| format!("{}: {}", ink.text(source, 80), ink.text(reason, 120)))
            .collect();
        if preview.unreadable.len() > LISTED_FAILURES {
            lines.push(say::and_more(
                locale,
                preview.unreadable.len() - LISTED_FAILURES,
            ));
        }
        embeds.push(Embed {
            title: say::unreadable_title(locale, preview.unreadable.len()),
            description: fitting(&lines, 2_000),
            color: COLOR,
            ..Embed::default()
        });
    }
    let import = preview.import;
    let rows = if preview.new.is_empty() {
        Vec::new()
    } else {
        vec![Row::Buttons(vec![
            Button::new(
                Action::ImportYes { import },
                say::button_import(locale, preview.new.len()),
            )
            .style(Style::Success),
            Button::new(Action::ImportNo { import }, say::button_cancel(locale)),
        ])]
    };
    Message {
        embeds,
        rows,
        ..Message::default()
    }
    .post(Slot::Private)
}

/// As many whole lines as fit: a line that was cut after it was escaped could act.
fn fitting(lines: &[String], limit: usize) -> String {
    let text = lines.join("\n");
    if width(&text) <= limit {
        text
    } else {
        whole_lines(&text, limit)
    }
}

/// An import was stored, in place of its preview.
pub fn import_done(added: usize, updated: usize, refused: usize, locale: Locale) -> Post {
    private(&say::import_done(locale, added, updated, refused))
}

/// An import was dropped, in place of its preview.
pub fn import_dropped(locale: Locale) -> Post {
    private(say::import_dropped(locale))
}

/// One question of `/memory review`, to one person alone.
pub fn review_question(
    past: &PastIncident,
    attempt: u32,
    fix: &str,
    left: u64,
    locale: Locale,
    now: Timestamp,
) -> Post {
    let ink = Ink::discord(locale, now);
    let mut about: Vec<String> = Vec::new();
    about.extend(past.service.as_deref().map(|service| ink.text(service, 60)));
    about.push(ink.bold(&ink.text(&past.title, 160)));
    about.extend(past.resolved_at.or(past.started_at).map(|at| ink.day(at)));
    let mut lines = vec![about.join(" · ")];
    if !past.root_cause.is_empty() {
        lines.push(ink.text(&past.root_cause, 400));
    }
    lines.push(format!("→ {}", fitted(fix, 800, inline).0));
    lines.push(String::new());
    lines.push(say::review_left(locale, left));
    let incident: IncidentId = past.id;
    let button = |worked| {
        Button::new(
            Action::Review {
                incident,
                attempt,
                worked,
            },
            say::button_review(locale, worked),
        )
    };
    Message {
        embeds: vec![Embed {
            title: say::review_title(locale, incident),
            description: fitting(&lines, 3_500),
            color: COLOR,
            ..Embed::default()
        }],
        rows: vec![Row::Buttons(vec![
            button(Some(true)).style(Style::Success),
            button(Some(false)).style(Style::Danger),
            button(None),
        ])],
        ..Message::default()
    }
    .post(Slot::Private)
}

/// No question is left.
pub fn review_done(locale: Locale) -> Post {
    let mut post = notice(say::review_done(locale));
    post.slot = Slot::Private;
    post
}

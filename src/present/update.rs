//! The stakeholder update: composed from checked fields, plain text, pasteable as it is (R19).
//!
//! It stands alone in one code block in `content`, because embed text can't be copied on phones.
//! What is unknown says so; nothing here promises a time: the next update is due by severity or by
//! a person's word. The status page is checked once more on its way out: a field that names the
//! incident, its severity, the service or a percentage is dropped, whatever was let through before.

use super::custom_id::Action;
use super::escape::{cut, plain, width};
use super::payload::{Button, Message, Row, Style};
use super::{Post, Slot, View, say};
use crate::incident::words::fold;
use crate::incident::{Locale, Status};
use crate::validation::Analysis;
use crate::validation::analysis::{Audience, UpdateFields};
use jiff::{SignedDuration, Timestamp};

/// Whether the update has a message of its own: unasked for SEV1 and SEV2, else once asked for.
pub fn is_shown(view: &View) -> bool {
    view.update_shown || view.severity.is_grave()
}

/// The update's message; `None` while it is behind its button.
pub fn update_post(analysis: &Analysis, view: &View) -> Option<Post> {
    if !is_shown(view) {
        return None;
    }
    let text = update_text(analysis, view.audience, view);
    let message = Message {
        content: format!("```\n{text}\n```"),
        rows: rows(view),
        ..Message::default()
    };
    Some(message.post(Slot::Update))
}

fn rows(view: &View) -> Vec<Row> {
    let Some(incident) = view.incident else {
        return Vec::new();
    };
    let (locale, analysis) = (view.locale, view.analysis);
    let off = view.superseded_by.is_some();
    let mut buttons: Vec<Button> = Audience::ALL
        .into_iter()
        .map(|audience| {
            let action = Action::UpdateAudience {
                incident,
                analysis,
                audience,
            };
            let shown = audience == view.audience;
            let style = if shown {
                Style::Primary
            } else {
                Style::Secondary
            };
            Button::new(action, say::audience(locale, audience))
                .style(style)
                .off(off || shown)
        })
        .collect();
    let refresh = Action::RefreshUpdate {
        incident,
        analysis,
        audience: view.audience,
    };
    buttons.push(Button::new(refresh, say::button_refresh(locale)).off(off));
    vec![Row::Buttons(buttons)]
}

/// Characters of a field, from calm to cramped.
const ROOMS: [usize; 8] = [400, 260, 180, 120, 90, 60, 40, 20];

/// The text for an audience, within its limit (900, 500, 700), in the view's language.
pub fn update_text(analysis: &Analysis, audience: Audience, view: &View) -> String {
    let mut text = String::new();
    for room in ROOMS {
        text = compose(analysis, audience, view, room);
        if width(&text) <= audience.limit() {
            return text;
        }
    }
    cut(&text, audience.limit())
}

fn compose(analysis: &Analysis, audience: Audience, view: &View, room: usize) -> String {
    let locale = view.locale;
    if analysis.update.nothing_public && audience == Audience::StatusPage {
        return say::nothing_public(locale).to_owned();
    }
    let fields = analysis.update.fields(audience);
    let status = say::status_outside(locale, view.status, view.cause_confirmed);
    let stamp = say::day_and_clock(locale, view.now);
    let field = |text: &str| value(text, audience, view, room);
    let since = {
        let said = field(&fields.since);
        if said.is_empty() {
            view.started_at
                .map(|at| say::day_and_clock(locale, at))
                .unwrap_or_default()
        } else {
            said
        }
    };
    let mut lines = Vec::new();
    let line = |label: &str, value: &str| match locale {
        Locale::En => format!("{label}: {value}"),
        Locale::Zh => format!("{label}：{value}"),
    };
    let or_unknown = |value: String| {
        if value.is_empty() {
            say::not_known_yet(locale).to_owned()
        } else {
            value
        }
    };
    lines.push(first_line(audience, view, room, status, &stamp));
    lines.push(line(
        say::impact_label(locale),
        &or_unknown(field(&fields.impact)),
    ));
    lines.push(line(say::since_label(locale), &or_unknown(since)));
    lines.extend(middle(audience, fields, locale, &field, &line, &or_unknown));
    if audience == Audience::Internal {
        let lead = view
            .lead
            .as_deref()
            .map(|lead| cut(&word(lead), room.min(60)))
            .unwrap_or_default();
        let lead = if lead.is_empty() {
            say::nobody_yet(locale).to_owned()
        } else {
            lead
        };
        lines.push(line(say::lead_label(locale), &lead));
    }
    if let Some(next) = next_update(analysis, view) {
        lines.push(line(
            say::next_update_label(locale),
            &say::day_and_clock(locale, next),
        ));
    }
    lines.join("\n")
}

fn middle(
    audience: Audience,
    fields: &UpdateFields,
    locale: Locale,
    field: &dyn Fn(&str) -> String,
    line: &dyn Fn(&str, &str) -> String,
    or_unknown: &dyn Fn(String) -> String,
) -> Vec<String> {
    let known = (say::known_label(locale), field(&fields.known));
    let open = (
        say::not_confirmed_label(locale),
        field(&fields.not_confirmed),
    );
    let doing = (say::doing_label(locale), field(&fields.doing));
    let changed = (say::changed_label(locale), field(&fields.changed_since));
    let needed = (say::needed_label(locale), field(&fields.needed));
    // Said even when empty, then said where there is something to say.
    let (always, maybe) = match audience {
        Audience::Internal => (vec![known, open, doing], vec![changed, needed]),
        Audience::Executive => (vec![known, doing], vec![open, changed, needed]),
        Audience::StatusPage => (vec![doing], vec![known, changed]),
    };
    let always = always
        .into_iter()
        .map(|(label, value)| line(label, &or_unknown(value)));
    let maybe = maybe
        .into_iter()
        .filter(|(_, value)| !value.is_empty())
        .map(|(label, value)| line(label, &value));
    always.chain(maybe).collect()
}

fn first_line(audience: Audience, view: &View, room: usize, status: &str, stamp: &str) -> String {
    let mut parts: Vec<String> = Vec::new();
    if audience != Audience::StatusPage {
        parts.extend(view.incident.map(|id| id.to_string()));
        parts.push(view.severity.to_string());
        parts.extend(
            view.service
                .as_deref()
                .map(|service| cut(&word(service), room.min(60))),
        );
    }
    if audience == Audience::Internal {
        parts.push(cut(&word(&view.title), room.min(120)));
    }
    parts.push(status.to_owned());
    parts.push(stamp.to_owned());
    parts.retain(|part| !part.is_empty());
    parts.join(" · ")
}

/// When the next update is due; none once it is over.
fn next_update(analysis: &Analysis, view: &View) -> Option<Timestamp> {
    if matches!(
        view.status,
        Status::Resolved | Status::Closed | Status::FalseAlarm | Status::Merged
    ) {
        return None;
    }
    view.next_update_at.or_else(|| {
        let minutes = match analysis.update.next_minutes {
            0 => view.severity.update_minutes(),
            minutes => minutes,
        };
        view.now
            .checked_add(SignedDuration::from_mins(i64::from(minutes)))
            .ok()
    })
}

fn value(text: &str, audience: Audience, view: &View, room: usize) -> String {
    let text = word(text);
    if audience == Audience::StatusPage && tells_too_much(&text, view) {
        return String::new();
    }
    cut(&text, room)
}

fn tells_too_much(text: &str, view: &View) -> bool {
    let folded = fold(text);
    let names = |name: &str| !name.trim().is_empty() && folded.contains(&fold(name));
    folded.contains('%')
        || folded.contains("inc-")
        || ["sev1", "sev2", "sev3", "sev4"]
            .iter()
            .any(|word| folded.contains(word))
        || view.service.as_deref().is_some_and(names)
        || view.incident.is_some_and(|id| names(&id.to_string()))
}

/// Plain, one line, no backtick: it stands in a code block.
fn word(text: &str) -> String {
    plain(text).replace('`', "'")
}

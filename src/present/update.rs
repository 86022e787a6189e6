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
use crate::validation::risk::is_destructive_text;
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

/// The buttons alone of an update that a later analysis replaced, switched off. Its text is left as
/// it was: whoever is copying it finds the same words, for the same audience.
pub fn frozen_update(view: &View) -> Post {
    let message = Message {
        rows: rows(view),
        ..Message::default()
    };
    let mut post = message.post(Slot::Update);
    if let Some(fields) = post.payload.as_object_mut() {
        fields.retain(|key, _| matches!(key.as_str(), "components" | "allowed_mentions"));
    }
    post
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
            let shown = audience == view.audience && !off;
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
    let line = |label: &str, value: &str| say::pair(locale, label, value);
    let or_unknown = |value: String| {
        if value.is_empty() {
            say::not_known_yet(locale).to_owned()
        } else {
            value
        }
    };
    lines.extend(first_line(audience, view, room));
    lines.push(format!("{status} · {stamp}"));
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

/// What it is about; nothing of it goes to the status page.
fn first_line(audience: Audience, view: &View, room: usize) -> Option<String> {
    if audience == Audience::StatusPage {
        return None;
    }
    let mut parts: Vec<String> = view.incident.map(|id| id.to_string()).into_iter().collect();
    parts.push(view.severity.to_string());
    parts.extend(
        view.service
            .as_deref()
            .map(|service| cut(&word(service), room.min(60))),
    );
    // An update is copied whole: a title that is a destructive command is not in it (R18).
    if audience == Audience::Internal && !is_destructive_text(&view.title) {
        parts.push(cut(&word(&view.title), room.min(120)));
    }
    parts.retain(|part| !part.is_empty());
    Some(parts.join(" · "))
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

#[cfg(test)]
mod tests {
    use super::super::checks::{analysis, assert_legal, sample, view};
    use super::*;
    use crate::incident::Severity;

    #[test]
    fn r19_three_audiences_in_two_languages() {
        let mut texts = Vec::new();
        for locale in [Locale::En, Locale::Zh] {
            for audience in Audience::ALL {
                texts.push(update_text(&analysis(sample()), audience, &view(locale)));
            }
        }
        insta::assert_snapshot!(texts.join("\n\n"), @r"
        INC-0107 · SEV2 · payments-api · intermittent 503s
        Investigating · 26 May 2026, 03:00 UTC
        Impact: Some checkouts fail with 503
        Since: 02:51 UTC
        Known: the upstream gateway answers 429
        Not confirmed: whether the retry policy causes it
        Doing: comparing the gateway's 429 rate with our retries
        Needed: someone from the gateway team
        Lead: nobody yet
        Next update: 26 May 2026, 04:00 UTC

        Investigating · 26 May 2026, 03:00 UTC
        Impact: Some payments fail and have to be tried again
        Since: 02:51 UTC
        Doing: We are looking into it
        Next update: 26 May 2026, 04:00 UTC

        INC-0107 · SEV2 · payments-api
        Investigating · 26 May 2026, 03:00 UTC
        Impact: Some checkouts fail
        Since: 02:51 UTC
        Known: not known yet
        Doing: the payments team is on it
        Next update: 26 May 2026, 04:00 UTC

        INC-0107 · SEV2 · payments-api · intermittent 503s
        调查中 · 2026年5月26日 03:00 UTC
        影响：Some checkouts fail with 503
        开始时间：02:51 UTC
        已知：the upstream gateway answers 429
        未确认：whether the retry policy causes it
        正在进行：comparing the gateway's 429 rate with our retries
        需要：someone from the gateway team
        负责人：尚无
        下次更新：2026年5月26日 04:00 UTC

        调查中 · 2026年5月26日 03:00 UTC
        影响：Some payments fail and have to be tried again
        开始时间：02:51 UTC
        正在进行：We are looking into it
        下次更新：2026年5月26日 04:00 UTC

        INC-0107 · SEV2 · payments-api
        调查中 · 2026年5月26日 03:00 UTC
        影响：Some checkouts fail
        开始时间：02:51 UTC
        已知：尚不清楚
        正在进行：the payments team is on it
        下次更新：2026年5月26日 04:00 UTC
        ");
    }

    #[test]
    fn r19_the_status_page_tells_no_more_than_it_may() {
        let mut shown = sample();
        for (leak, field) in [
            "payments-api fails",
            "INC-0107 is open",
            "a SEV2",
            "30 % of payments fail",
            "Payments-API fails",
        ]
        .into_iter()
        .zip([0, 1, 2, 3, 4].iter().cycle())
        {
            let fields = &mut shown.update.status_page;
            match field {
                0 => fields.impact = leak.into(),
                1 => fields.known = leak.into(),
                2 => fields.doing = leak.into(),
                3 => fields.changed_since = leak.into(),
                _ => fields.since = leak.into(),
            }
        }
        let text = update_text(&analysis(shown), Audience::StatusPage, &view(Locale::En));
        for word in ["payments-api", "Payments-API", "INC-", "SEV", "%"] {
            assert!(!text.contains(word), "{text}");
        }
        assert!(text.contains("Impact: not known yet"), "{text}");
    }

    #[test]
    fn r19_status_words_are_earned() {
        for (status, confirmed, word, next) in [
            (Status::Investigating, false, "Investigating", true),
            (Status::Fixing, false, "Investigating", true),
            (Status::Fixing, true, "Identified", true),
            (Status::Mitigated, true, "Monitoring", true),
            (Status::Resolved, true, "Resolved", false),
        ] {
            let mut view = view(Locale::En);
            view.status = status;
            view.cause_confirmed = confirmed;
            let text = update_text(&analysis(sample()), Audience::StatusPage, &view);
            assert!(text.starts_with(word), "{text}");
            assert_eq!(text.contains("Next update"), next, "{text}");
        }
    }

    #[test]
    fn posted_unasked_for_sev1_and_sev2_only() {
        let mut view = view(Locale::En);
        let post = update_post(&analysis(sample()), &view).expect("SEV2");
        assert_legal(&post);
        let content = post.payload["content"].as_str().unwrap_or_default();
        assert!(content.starts_with("```\n") && content.ends_with("\n```"));
        view.severity = Severity::Sev3;
        assert_eq!(update_post(&analysis(sample()), &view), None);
        view.update_shown = true;
        assert!(update_post(&analysis(sample()), &view).is_some());
    }

    #[test]
    fn possible_exposure_drafts_nothing_public() {
        let mut shown = sample();
        shown.update.nothing_public = true;
        let text = update_text(&analysis(shown), Audience::StatusPage, &view(Locale::En));
        assert!(text.starts_with("Possible data exposure"), "{text}");
        assert!(!text.contains("payments fail"), "{text}");
    }
}

//! A past incident in full, for one person alone: the only place where an analogy's own words and
//! what changes from outage to outage (pods, commits, addresses) are seen (R6, R20).

use super::ink::Ink;
use super::payload::{EMBED_DESCRIPTION, EMBED_TITLE, Embed, Message};
use super::{File, Post, Slot, say};
use crate::incident::{Grade, Locale, PastIncident};
use jiff::Timestamp;

/// The whole record. `grade` is what it was graded in the analysis it was opened from.
pub fn past_incident(
    incident: &PastIncident,
    grade: Option<Grade>,
    locale: Locale,
    now: Timestamp,
) -> Post {
    let mut message = Message::default();
    let mut was_cut = false;
    for room in [600, 300, 150, 80, 40] {
        let ink = Ink::discord(locale, now);
        let title = format!("{} · {}", incident.id, ink.text(&incident.title, 200));
        message = Message {
            embeds: vec![Embed {
                title: super::escape::cut(&title, EMBED_TITLE),
                description: lines(incident, grade, &ink, room, 12).join("\n"),
                color: super::cards::MEMORY_COLOR,
                ..Embed::default()
            }],
            ..Message::default()
        };
        was_cut = ink.has_cut();
        if message.fits() {
            break;
        }
    }
    // Whole lists of the longest lines may still be too long; the file has them.
    for embed in &mut message.embeds {
        if super::escape::width(&embed.description) > EMBED_DESCRIPTION {
            was_cut = true;
            embed.description = whole_lines(&embed.description, EMBED_DESCRIPTION);
        }
    }
    if was_cut {
        let ink = Ink::plain(locale, now);
        let head = format!(
            "{} · {}",
            incident.id,
            ink.text(&incident.title, usize::MAX / 8)
        );
        let body = lines(incident, grade, &ink, usize::MAX / 8, usize::MAX).join("\n");
        message.content = format!("✂ {}", say::cut_note(locale));
        message.files.push(File {
            name: format!("{}.md", incident.id),
            text: format!("{head}\n\n{body}\n"),
        });
    }
    message.post(Slot::Private)
}

/// As many whole lines as fit.
pub(super) fn whole_lines(text: &str, limit: usize) -> String {
    let mut out = String::new();
    for line in text.lines() {
        if super::escape::width(&out) + super::escape::width(line) + 3 > limit {
            break;
        }
        if !out.is_empty() {
            out.push('\n');
        }
        out.push_str(line);
    }
    out.push_str("\n…");
    out
}

fn lines(
    incident: &PastIncident,
    grade: Option<Grade>,
    ink: &Ink,
    room: usize,
    most: usize,
) -> Vec<String> {
    let locale = ink.locale;
    let mut lines = Vec::new();
    let mut first = vec![ink.bold(say::outcome(locale, incident.outcome()))];
    first.extend(grade.map(|grade| say::grade(locale, grade).to_owned()));
    first.extend(
        incident
            .minutes_to_resolve()
            .map(|took| say::resolved_in(locale, &say::minutes(locale, took))),
    );
    lines.push(first.join(" · "));

    let mut put = |label: &str, value: String| {
        if !value.is_empty() {
            lines.push(format!("{} {value}", ink.label(label)));
        }
    };
    put(
        say::service_label(locale),
        optional(incident.service.as_deref(), ink, 80),
    );
    put(
        say::environment_label(locale),
        optional(incident.environment.as_deref(), ink, 80),
    );
    put(
        say::began_label(locale),
        incident
            .started_at
            .map(|at| moment(ink, at))
            .unwrap_or_default(),
    );
    put(
        say::resolved_label(locale),
        incident
            .resolved_at
            .map(|at| moment(ink, at))
            .unwrap_or_default(),
    );
    let cause = ink.text(&incident.root_cause, room);
    put(
        say::cause_label(locale),
        if cause.is_empty() {
            say::nobody_said(locale).to_owned()
        } else {
            cause
        },
    );
    put(
        say::prevention_label(locale),
        ink.text(&incident.prevention, room),
    );
    put(say::source_label(locale), ink.text(&incident.source, 120));
    let link =
        |id: Option<crate::incident::IncidentId>| id.map(|id| id.to_string()).unwrap_or_default();
    put(say::duplicate_label(locale), link(incident.duplicate_of));
    put(say::parent_label(locale), link(incident.parent));

    let tried = incident.attempts.iter().map(|attempt| {
        let mut about = vec![say::outcome(locale, attempt.outcome).to_owned()];
        about.extend(attempt.at.map(|at| ink.day(at)));
        about.extend(attempt.environment.as_deref().map(|env| ink.text(env, 40)));
        about.push(ink.text(&attempt.by, 40));
        about.push(ink.text(&attempt.note, room / 2));
        about.retain(|part| !part.is_empty());
        format!("{}: {}", ink.text(&attempt.fix, room), about.join(" · "))
    });
    list(
        &mut lines,
        say::tried_label(locale),
        tried.collect(),
        most,
        ink,
    );
    let texts = |list: &[String]| {
        list.iter()
            .map(|text| ink.text(text, room))
            .collect::<Vec<_>>()
    };
    let errors = incident
        .error_signatures
        .iter()
        .map(|line| ink.code(line, room));
    list(
        &mut lines,
        say::symptoms_label(locale),
        texts(&incident.symptoms),
        most,
        ink,
    );
    list(
        &mut lines,
        say::errors_label(locale),
        errors.collect(),
        most,
        ink,
    );
    list(
        &mut lines,
        say::ruled_out_label(locale),
        texts(&incident.ruled_out),
        most,
        ink,
    );
    lines
}

fn optional(text: Option<&str>, ink: &Ink, room: usize) -> String {
    text.map(|text| ink.text(text, room)).unwrap_or_default()
}

fn moment(ink: &Ink, at: Timestamp) -> String {
    format!("{} {}", ink.day(at), ink.clock(at))
}

fn list(lines: &mut Vec<String>, label: &str, items: Vec<String>, most: usize, ink: &Ink) {
    let items: Vec<String> = items.into_iter().filter(|item| !item.is_empty()).collect();
    if items.is_empty() {
        return;
    }
    lines.push(ink.label(label));
    let more = items.len().saturating_sub(most);
    lines.extend(items.into_iter().take(most).map(|item| format!("- {item}")));
    if more > 0 {
        ink.note_cut();
        lines.push(say::and_more(ink.locale, more));
    }
}

#[cfg(test)]
mod tests {
    use super::super::checks::{assert_legal, at, id, text};
    use super::*;
    use crate::incident::{FixAttempt, Outcome};
    use proptest::prelude::*;

    #[test]
    fn a_past_incident_in_full() {
        let mut incident = PastIncident::new(id(41), "503s after retries");
        incident.service = Some("payments-api".into());
        incident.started_at = Some(at("2026-05-14T02:29:00Z"));
        incident.resolved_at = Some(at("2026-05-14T03:10:00Z"));
        incident.root_cause = "gateway rate limit on pod payments-api-6d9f7c5b4-x2k8q".into();
        incident.attempts = vec![FixAttempt::new("Lower retry_max_attempts", Outcome::Held)];
        let post = past_incident(
            &incident,
            Some(Grade::DirectMatch),
            Locale::En,
            at("2026-05-26T03:00:00Z"),
        );
        assert_legal(&post);
        insta::assert_snapshot!(
            post.payload["embeds"][0]["description"].as_str().unwrap_or_default(),
            @r"
        **held** · direct match · resolved in 41 min
        **Service** payments-api
        **Began** <t:1778725740:D> <t:1778725740:t>
        **Resolved** <t:1778728200:D> <t:1778728200:t>
        **Root cause** gateway rate limit on pod payments-api-6d9f7c5b4-x2k8q
        **Tried**
        - Lower retry_max_attempts: held
        "
        );
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 24, max_shrink_iters: 60, failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn any_record_fits(
            title in text(), words in proptest::collection::vec(text(), 0..30),
        ) {
            let mut incident = PastIncident::new(id(1), title.clone());
            incident.root_cause = title.clone();
            incident.prevention = title;
            incident.attempts = words.iter().map(|fix| FixAttempt::new(fix, Outcome::Held)).collect();
            incident.symptoms = words.clone();
            incident.error_signatures = words.clone();
            incident.ruled_out = words;
            for locale in [Locale::En, Locale::Zh] {
                assert_legal(&past_incident(&incident, None, locale, at("2026-05-26T03:00:00Z")));
            }
        }
    }
}

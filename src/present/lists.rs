//! Lists and short posts: memory, incidents, services, help, notices, questions, errors.

use super::custom_id::{Action, CardRef};
use super::escape::{cut, fitted, inline, width};
use super::ink::Ink;
use super::payload::{Button, CONTENT, Choice, EMBED_DESCRIPTION, Embed, Message, Row, Style};
use super::say::{self, Trouble};
use super::{File, Post, Slot};
use crate::incident::rights::{Deed, Right, WHO_MAY};
use crate::incident::{IncidentId, Locale, Outcome, PastIncident, Service, Severity, Status};
use jiff::Timestamp;

const COLOR: u32 = 0x4F_8F_F7;

/// An incident in a list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IncidentRow {
    /// Its number.
    pub id: IncidentId,
    /// One line.
    pub title: String,
    /// Its service, where known.
    pub service: Option<String>,
    /// Its severity.
    pub severity: Severity,
    /// Where it stands.
    pub status: Status,
    /// When it was reported.
    pub at: Timestamp,
}

/// Past incidents, as found; a select opens one in full.
pub fn memory_list(incidents: &[PastIncident], locale: Locale, now: Timestamp) -> Post {
    let ink = Ink::discord(locale, now);
    let lines: Vec<String> = incidents
        .iter()
        .map(|incident| {
            let mut parts = vec![ink.bold(&incident.id.to_string())];
            parts.extend(
                incident
                    .service
                    .as_deref()
                    .map(|service| ink.text(service, 40)),
            );
            parts.push(ink.text(&incident.title, 110));
            parts.push(say::outcome(locale, incident.outcome()).to_owned());
            parts.extend(
                incident
                    .resolved_at
                    .or(incident.started_at)
                    .map(|at| ink.day(at)),
            );
            parts.retain(|part| !part.is_empty());
            parts.join(" · ")
        })
        .collect();
    let mut message = list(
        &say::memory_list_title(locale, incidents.len()),
        lines,
        say::empty_memory_list(locale),
        locale,
    );
    let mut seen = std::collections::BTreeSet::new();
    let choices = incidents
        .iter()
        .filter(|past| seen.insert(past.id))
        .map(|past| Choice {
            value: past.id.number().to_string(),
            label: past.id.to_string(),
            description: super::escape::plain(&cut(&past.title, 90)),
            chosen: false,
        })
        .collect();
    message.rows.push(Row::Select {
        action: Action::OpenMemory,
        placeholder: say::open_past_placeholder(locale).to_owned(),
        choices,
        many: false,
        disabled: false,
    });
    message.post(Slot::Private)
}

/// Incidents, newest first as given.
pub fn incident_list(incidents: &[IncidentRow], locale: Locale, now: Timestamp) -> Post {
    let ink = Ink::discord(locale, now);
    let lines = incidents
        .iter()
        .map(|row| {
            let mut parts = vec![
                ink.bold(&row.id.to_string()),
                row.severity.to_string(),
                say::status(locale, row.status).to_owned(),
            ];
            parts.extend(row.service.as_deref().map(|service| ink.text(service, 40)));
            parts.push(ink.text(&row.title, 110));
            parts.push(ink.ago(row.at));
            parts.retain(|part| !part.is_empty());
            parts.join(" · ")
        })
        .collect();
    let title = say::incident_list_title(locale, incidents.len());
    list(&title, lines, say::empty_incident_list(locale), locale).post(Slot::Private)
}

/// Services with their aliases.
pub fn service_list(services: &[Service], locale: Locale, now: Timestamp) -> Post {
    let ink = Ink::discord(locale, now);
    let lines = services
        .iter()
        .map(|service| {
            let name = ink.bold(&ink.text(&service.name, 80));
            let more = |values: &[String]| {
                let shown: Vec<String> = values
                    .iter()
                    .take(8)
                    .map(|value| ink.text(value, 40))
                    .collect();
                shown.join(", ")
            };
            let mut parts = vec![name];
            if !service.aliases.is_empty() {
                parts.push(say::aliases(locale, &more(&service.aliases)));
            }
            let owners: Vec<String> = service
                .owners
                .iter()
                .take(3)
                .map(|owner| {
                    let (role, name) = (ink.text(&owner.role, 40), ink.text(&owner.name, 40));
                    say::owner(locale, &role, &name)
                })
                .collect();
            if !owners.is_empty() {
                let owners = say::listed(locale, &owners);
                parts.push(say::pair(locale, say::owners_label(locale), &owners));
            }
            if !service.high_risk.is_empty() {
                parts.push(say::high_risk(locale, &more(&service.high_risk)));
            }
            if !service.environments_apart.is_empty() {
                parts.push(say::apart(locale, &more(&service.environments_apart)));
            }
            parts.join(" · ")
        })
        .collect();
    let title = say::service_list_title(locale, services.len());
    list(&title, lines, say::empty_service_list(locale), locale).post(Slot::Private)
}

/// As many lines as fit, and how many did not.
fn list(title: &str, lines: Vec<String>, empty: &str, locale: Locale) -> Message {
    let mut text = String::new();
    let mut shown = 0;
    for line in &lines {
        if width(&text) + width(line) > EMBED_DESCRIPTION - 60 {
            break;
        }
        text.push_str(line);
        text.push('\n');
        shown += 1;
    }
    if shown < lines.len() {
        text.push_str(&say::and_more(locale, lines.len() - shown));
    }
    let text = text.trim_end();
    Message {
        embeds: vec![Embed {
            title: title.to_owned(),
            description: if text.is_empty() {
                empty.to_owned()
            } else {
                text.to_owned()
            },
            color: COLOR,
            ..Embed::default()
        }],
        ..Message::default()
    }
}

/// What it is, the commands that work today (name and description, from the commands file), how a
/// card is read, who may do what.
pub fn help(commands: &[(String, String)], locale: Locale) -> Post {
    // With many commands there is less room for a word about each.
    let description = [110, 70, 45, 0]
        .into_iter()
        .map(|room| help_lines(commands, room, locale).join("\n"))
        .find(|text| width(text) <= EMBED_DESCRIPTION);
    let message = Message {
        embeds: vec![Embed {
            title: say::help_title(locale).to_owned(),
            description: description.unwrap_or_else(|| who_may(commands, locale).join("\n")),
            color: COLOR,
            ..Embed::default()
        }],
        ..Message::default()
    };
    message.post(Slot::Private)
}

fn help_lines(commands: &[(String, String)], room: usize, locale: Locale) -> Vec<String> {
    let mut lines = vec![say::help_intro(locale).to_owned(), String::new()];
    for (name, about) in commands.iter().take(60) {
        let name = fitted(name, 60, super::escape::code_span).0;
        lines.push(
            format!("{name} {}", fitted(about, room, inline).0)
                .trim_end()
                .to_owned(),
        );
    }
    lines.push(String::new());
    lines.push(say::help_reading(locale).to_owned());
    lines.push(String::new());
    lines.extend(who_may(commands, locale));
    lines
}

/// The table of who may do what, a line a right; of commands only those that work today.
pub(super) fn who_may(commands: &[(String, String)], locale: Locale) -> Vec<String> {
    let mut lines = vec![format!("**{}**", say::who_may_label(locale))];
    for right in Right::ALL {
        let mut deeds: Vec<String> = WHO_MAY
            .iter()
            .filter(|(_, takes)| *takes == right)
            .filter(|(deed, _)| match deed {
                // Everybody's are not named one by one.
                Deed::Command(_) if right == Right::Write => false,
                Deed::Command(name) => {
                    let typed = format!("/{name}");
                    commands
                        .iter()
                        .any(|(known, _)| *known == typed || known == name)
                }
                _ => true,
            })
            .map(|(deed, _)| say::deed(locale, *deed))
            .collect();
        if right == Right::Write {
            deeds.insert(0, say::every_other_command(locale).to_owned());
        }
        if !deeds.is_empty() {
            let deeds = say::listed(locale, &deeds);
            lines.push(format!(
                "- {}",
                say::pair(locale, say::right(locale, right), &deeds)
            ));
        }
    }
    lines
}

/// What went wrong, to one person alone. `id` is the one in the log.
pub fn error(trouble: &Trouble, id: Option<&str>, locale: Locale) -> Post {
    private(&format!("⚠ {}", say::trouble(locale, trouble, id)))
}

/// A sentence of [`say`] in the thread.
pub fn notice(sentence: &str) -> Post {
    Message {
        content: cut(sentence, CONTENT),
        ..Message::default()
    }
    .post(Slot::Reply)
}

/// A sentence of [`say`] to one person alone.
pub fn private(sentence: &str) -> Post {
    Message {
        content: cut(sentence, CONTENT),
        ..Message::default()
    }
    .post(Slot::Private)
}

/// A sentence of [`say`] and a file, to one person alone.
pub fn private_file(sentence: &str, name: String, text: String) -> Post {
    Message {
        content: cut(sentence, CONTENT),
        files: vec![File { name, text }],
        ..Message::default()
    }
    .post(Slot::Private)
}

/// Asked once, a quarter of an hour after *Trying this fix*.
pub fn how_did_it_go(card: CardRef, who: &str, fix: &str, locale: Locale) -> Post {
    let who = fitted(who, 60, inline).0;
    let fix = fitted(fix, 300, inline).0;
    let message = Message {
        content: say::how_did_it_go(locale, &who, &fix),
        rows: vec![Row::Buttons(vec![
            Button::new(Action::Worked(card), say::button_worked(locale)).style(Style::Success),
            Button::new(Action::NoEffect(card), say::button_no_effect(locale)),
            Button::new(Action::MadeWorse(card), say::button_made_worse(locale))
                .style(Style::Danger),
        ])],
        ..Message::default()
    };
    message.post(Slot::Reply)
}

/// What became of a tried fix, in place of the question.
pub fn it_went(outcome: Outcome, who: &str, at: Timestamp, fix: &str, locale: Locale) -> Post {
    let ink = Ink::discord(locale, at);
    let said = say::outcome_by(locale, outcome, &ink.text(who, 60), &ink.clock(at));
    notice(&say::pair(locale, &said, &ink.text(fix, 300)))
}

/// Asked once, a day after the resolution.
pub fn still_fixed(incident: IncidentId, title: &str, locale: Locale) -> Post {
    let title = fitted(title, 200, inline).0;
    let message = Message {
        content: say::still_fixed_question(locale, incident, &title),
        rows: vec![Row::Buttons(vec![
            Button::new(Action::StillHeld { incident }, say::button_held(locale))
                .style(Style::Success),
            Button::new(Action::CameBack { incident }, say::button_came_back(locale)),
        ])],
        ..Message::default()
    };
    message.post(Slot::Reply)
}

/// New evidence was noted: a new run is offered.
pub fn offer_reanalysis(incident: IncidentId, messages: usize, locale: Locale) -> Post {
    let label = say::reanalyze_with(locale, messages);
    let message = Message {
        content: say::new_evidence(locale, messages),
        rows: vec![Row::Buttons(vec![Button::new(
            Action::Reanalyze { incident },
            label,
        )])],
        ..Message::default()
    };
    message.post(Slot::Reply)
}

#[cfg(test)]
mod tests {
    use super::super::checks::{assert_legal, at, id, text};
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn help_and_errors_fit_in_both_languages() {
        let commands: Vec<(String, String)> = (0..40)
            .map(|n| (format!("/command {n}"), "x".repeat(100)))
            .collect();
        for locale in [Locale::En, Locale::Zh] {
            assert_legal(&help(&commands, locale));
            assert_legal(&error(&Trouble::Unexpected, Some("k3f9"), locale));
            assert_legal(&still_fixed(id(1), "@everyone", locale));
            assert_legal(&offer_reanalysis(id(1), 3, locale));
            let card = CardRef {
                incident: id(1),
                analysis: 1,
                hypothesis: 0,
            };
            assert_legal(&how_did_it_go(card, "<@1>", "restart", locale));
            for empty in [
                memory_list(&[], locale, at("2026-05-26T03:00:00Z")),
                incident_list(&[], locale, at("2026-05-26T03:00:00Z")),
                service_list(&[], locale, at("2026-05-26T03:00:00Z")),
            ] {
                assert_legal(&empty);
            }
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 24, max_shrink_iters: 60, failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn any_list_fits(titles in proptest::collection::vec(text(), 0..60)) {
            let now = at("2026-05-26T03:00:00Z");
            let past: Vec<PastIncident> = titles
                .iter()
                .zip(1..)
                .map(|(title, number)| PastIncident::new(id(number), title.clone()))
                .collect();
            assert_legal(&memory_list(&past, Locale::En, now));
            let rows: Vec<IncidentRow> = past
                .iter()
                .map(|past| IncidentRow {
                    id: past.id,
                    title: past.title.clone(),
                    service: Some(past.title.clone()),
                    severity: Severity::Sev2,
                    status: Status::Fixing,
                    at: now,
                })
                .collect();
            assert_legal(&incident_list(&rows, Locale::Zh, now));
            let services: Vec<Service> = titles
                .iter()
                .map(|title| Service { aliases: titles.clone(), ..Service::named(title) })
                .collect();
            assert_legal(&service_list(&services, Locale::En, now));
        }
    }
}

//! What people own of a running incident: who leads, its times, its impact, what is being tried; as
//! lines of the headline, as buttons, and as five lines for whoever comes late.
//!
//! Design: [`Running`] is plain data beside the analysis, filled from the record; nothing in here
//! comes from a model.

use super::custom_id::Action;
use super::escape::{cut, plain};
use super::ink::Ink;
use super::payload::{Button, Choice, Message, OPTION_TEXT, OPTIONS, Row, Style};
use super::{By, Post, Slot, View, say};
use crate::incident::{
    FixAttempt, Impact, IncidentId, Locale, Moment, Outcome, Severity, Status, Times,
};
use crate::validation::Analysis;
use crate::validation::analysis::Audience;
use jiff::{SignedDuration, Timestamp};
use serde::{Deserialize, Serialize};

/// How long a grave incident may be without a lead before the headline says so.
pub const LEAD_WITHIN: SignedDuration = SignedDuration::from_mins(2);

/// What people said and did of an incident while it runs.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Running {
    /// Who speaks for the incident, by display name.
    pub comms: Option<String>,
    /// Who notices what.
    pub impact: Impact,
    /// The same as an executive and as customers may read it.
    pub impact_outside: (Impact, Impact),
    /// Its times.
    pub times: Times,
    /// When the next update is due; `None`: nobody waits for one.
    pub update_due: Option<Timestamp>,
    /// Minutes between updates, where the guild has its own.
    pub cadence: Option<u32>,
    /// Who does which step.
    pub owners: Vec<Owner>,
    /// What was tried, in order; what is being tried has no outcome yet.
    pub tried: Vec<FixAttempt>,
    /// Updates that went out, in order.
    pub said: Vec<SaidBefore>,
    /// How often it came lately.
    pub repeat: Option<Repeat>,
}

/// Who does a step.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Owner {
    /// The step's place, from 0.
    pub step: usize,
    /// Who, since when.
    pub by: By,
}

/// An update that went out.
#[derive(Clone, Debug, PartialEq)]
pub struct SaidBefore {
    /// For whom.
    pub audience: Audience,
    /// When.
    pub at: Timestamp,
    /// What it rested on.
    pub stand: Stand,
}

/// What an update rests on: the next one says what changed since.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Stand {
    /// Where the incident stood.
    pub status: Status,
    /// How grave it was.
    pub severity: Option<Severity>,
    /// Who noticed what, as it was said.
    pub impact: String,
    /// What was known.
    pub known: String,
    /// A person had confirmed the cause.
    pub cause_confirmed: bool,
    /// Who led.
    pub lead: Option<String>,
    /// Fixes, each with its outcome's word.
    pub fixes: Vec<(String, Outcome)>,
}

/// The same trouble on the same service, again.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Repeat {
    /// How often, this time included.
    pub nth: usize,
    /// In how many days.
    pub days: u32,
    /// A past one whose prevention nobody called done.
    pub open_prevention: Option<IncidentId>,
}

impl Running {
    /// Fixes that are being tried now.
    pub fn trying(&self) -> impl Iterator<Item = &FixAttempt> {
        self.tried
            .iter()
            .filter(|attempt| attempt.outcome == Outcome::Unknown)
    }

    /// An update is due.
    pub fn is_due(&self, now: Timestamp) -> bool {
        self.update_due.is_some_and(|due| due <= now)
    }

    /// The last update that went out to an audience, and its number.
    pub fn last_said(&self, audience: Audience) -> Option<(usize, &SaidBefore)> {
        let of = || self.said.iter().filter(|said| said.audience == audience);
        Some((of().count(), of().next_back()?))
    }
}

/// Lines of the headline below the one that decides the night.
pub(super) fn lines(view: &View, ink: &Ink) -> Vec<String> {
    let locale = view.locale;
    let running = &view.running;
    let mut lines = Vec::new();
    if let Some(repeat) = &running.repeat {
        let mut parts = vec![say::nth_time(locale, repeat.nth, repeat.days)];
        parts.extend(
            repeat
                .open_prevention
                .map(|id| say::prevention_open(locale, id)),
        );
        lines.push(format!("↻ {}", parts.join(" · ")));
    }
    if view.status.is_open() {
        let impact = impact_words(&running.impact, locale, ink, 160);
        if !impact.is_empty() {
            let label = ink.label(say::impact_label(locale));
            lines.push(format!("{label} {impact}"));
        }
        let waited = running
            .times
            .reported
            .is_some_and(|at| view.now.duration_since(at) >= LEAD_WITHIN);
        if view.severity.is_grave() && view.lead.is_none() && waited {
            lines.push(format!("⚠ {}", ink.bold(say::nobody_leads(locale))));
        }
        if let Some(due) = running.update_due.filter(|due| *due <= view.now) {
            let overdue = say::update_overdue(locale, &ink.clock(due));
            lines.push(format!("⏰ {}", ink.bold(&overdue)));
        }
    }
    lines.extend(took(view).map(|took| format!("⏱ {took}")));
    lines
}

/// What the times measure, in words: how long until it was mitigated or resolved.
pub(super) fn took(view: &View) -> Option<String> {
    let times = &view.running.times;
    let to = match view.status {
        Status::Mitigated => Moment::Mitigated,
        Status::Resolved | Status::Closed => Moment::Resolved,
        _ => return None,
    };
    measured(view.locale, times, to)
}

/// `mitigated in 41 min, counted from: impact began`.
pub fn measured(locale: Locale, times: &Times, to: Moment) -> Option<String> {
    [Moment::Started, Moment::Detected, Moment::Reported]
        .into_iter()
        .find_map(|from| {
            let minutes = times.minutes(from, to)?;
            Some(say::took(locale, to, from, &say::minutes(locale, minutes)))
        })
}

/// The impact in one line: who, what, how many, workaround.
pub(super) fn impact_words(impact: &Impact, locale: Locale, ink: &Ink, room: usize) -> String {
    let said = |text: &str| ink.text(text, room);
    let mut parts: Vec<String> = [&impact.how_many, &impact.who, &impact.what]
        .into_iter()
        .map(|text| said(text))
        .collect();
    if !impact.workaround.trim().is_empty() {
        let label = say::field(locale, say::Field::Workaround);
        parts.push(say::pair(locale, label, &said(&impact.workaround)));
    }
    parts.retain(|part| !part.is_empty());
    parts.join(" · ")
}

/// The buttons below the headline.
pub(super) fn rows(view: &View) -> Vec<Row> {
    let Some(incident) = view.incident else {
        return Vec::new();
    };
    let locale = view.locale;
    let lead = Button::new(Action::Lead { incident }, say::button_lead(locale)).style(
        if view.lead.is_none() {
            Style::Primary
        } else {
            Style::Secondary
        },
    );
    let catch_up = Button::new(Action::CatchUp { incident }, say::button_catch_up(locale));
    let buttons = match view.status {
        Status::Investigating | Status::Fixing => vec![
            lead,
            Button::new(
                Action::Mitigated { incident },
                say::button_mitigated(locale),
            ),
            Button::new(
                Action::FalseAlarm { incident },
                say::button_false_alarm(locale),
            ),
            catch_up,
        ],
        Status::Mitigated => vec![
            lead,
            Button::new(
                Action::NotMitigated { incident },
                say::button_not_mitigated(locale),
            ),
            catch_up,
        ],
        Status::FalseAlarm => vec![Button::new(
            Action::NoFalseAlarm { incident },
            say::button_no_false_alarm(locale),
        )],
        Status::Resolved | Status::Closed | Status::Merged => Vec::new(),
    };
    let mut buttons = buttons;
    if let Some(analyze) = super::alerts::button(view) {
        buttons.insert(0, analyze);
    }
    let mut rows = vec![Row::Buttons(buttons)];
    if view.status.is_open() {
        let merge = view.ongoing.iter().take(3).map(|ongoing| {
            let other = ongoing.id;
            Button::new(
                Action::MergeInto { incident, other },
                say::button_merge(locale, other),
            )
        });
        rows.push(Row::Buttons(merge.collect()));
    }
    rows
}

/// A fix that may have done it: the select's value, and the fix.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Candidate {
    /// What the interaction carries.
    pub value: String,
    /// The fix in words.
    pub fix: String,
    /// It was tried.
    pub tried: bool,
}

/// The select's value for none of them.
pub const NO_FIX: &str = "none";

/// *Which fix did it?*
pub fn which_fix(incident: IncidentId, candidates: &[Candidate], locale: Locale) -> Post {
    let mut choices: Vec<Choice> = candidates
        .iter()
        .take(OPTIONS - 1)
        .map(|candidate| Choice {
            value: candidate.value.clone(),
            label: cut(&plain(&candidate.fix), OPTION_TEXT),
            description: if candidate.tried {
                say::being_tried(locale).to_owned()
            } else {
                String::new()
            },
            chosen: false,
        })
        .collect();
    choices.push(Choice {
        value: NO_FIX.to_owned(),
        label: say::no_fix_did(locale).to_owned(),
        description: String::new(),
        chosen: false,
    });
    Message {
        content: format!("🩹 {}", say::which_fix(locale)),
        rows: vec![Row::Select {
            action: Action::FixDid { incident },
            placeholder: say::which_fix(locale).to_owned(),
            choices,
            many: false,
            disabled: false,
        }],
        ..Message::default()
    }
    .post(Slot::Reply)
}

/// Five lines for whoever comes late, to them alone.
pub fn catch_up(analysis: Option<&Analysis>, view: &View) -> Post {
    let locale = view.locale;
    let ink = Ink::discord(locale, view.now);
    let running = &view.running;
    let mut first = vec![
        ink.bold(&ink.text(&super::headline::title_line(view), 200)),
        say::status(locale, view.status).to_owned(),
    ];
    first.extend(open_for(view));
    let impact = impact_words(&running.impact, locale, &ink, 160);
    let impact = if impact.is_empty() {
        let said = analysis.map(|analysis| analysis.update.internal.impact.as_str());
        ink.text(said.unwrap_or_default(), 240)
    } else {
        impact
    };
    let or_unknown = |text: String| {
        if text.is_empty() {
            say::not_known_yet(locale).to_owned()
        } else {
            text
        }
    };
    let best = analysis.and_then(|analysis| view.leading(analysis));
    let cause = match (&view.confirmed_cause, best) {
        (Some(cause), _) => {
            let confirmed = say::aside(locale, say::cause_state(locale, true));
            format!("{}{confirmed}", ink.text(cause, 160))
        }
        (None, Some((_, best))) => format!(
            "{}{} · {}",
            ink.text(&best.title, 160),
            say::aside(locale, say::cause_state(locale, false)),
            say::record(locale, &best.record)
        ),
        (None, None) => say::cause_not_determined(locale).to_owned(),
    };
    let tried: Vec<String> = running
        .tried
        .iter()
        .rev()
        .take(4)
        .map(|attempt| {
            let mut about = vec![say::tried_as(locale, attempt.outcome).to_owned()];
            if !attempt.by.trim().is_empty() {
                about.push(ink.text(&attempt.by, 40));
            }
            about.extend(attempt.at.map(|at| ink.clock(at)));
            format!("{} ({})", ink.text(&attempt.fix, 100), about.join(", "))
        })
        .collect();
    let tried = if tried.is_empty() {
        say::nothing_tried(locale).to_owned()
    } else {
        tried.join(" · ")
    };
    let who = |name: Option<&str>| {
        let name = ink.text(name.unwrap_or_default(), 60);
        if name.is_empty() {
            say::nobody_yet(locale).to_owned()
        } else {
            name
        }
    };
    let mut people = vec![format!(
        "{} {}",
        ink.label(say::lead_label(locale)),
        who(view.lead.as_deref())
    )];
    if running.comms.is_some() {
        people.push(format!(
            "{} {}",
            ink.label(say::comms_label(locale)),
            who(running.comms.as_deref())
        ));
    }
    if let Some(due) = running.update_due.filter(|_| view.status.is_open()) {
        people.push(if due <= view.now {
            say::update_overdue(locale, &ink.clock(due))
        } else {
            format!(
                "{} {}",
                ink.label(say::next_update_label(locale)),
                ink.clock(due)
            )
        });
    }
    let lines = [
        first.join(" · "),
        format!(
            "{} {}",
            ink.label(say::impact_label(locale)),
            or_unknown(impact)
        ),
        format!("{} {cause}", ink.label(say::cause_label(locale))),
        format!("{} {tried}", ink.label(say::tried_label(locale))),
        people.join(" · "),
    ];
    Message {
        content: cut(&lines.join("\n"), super::payload::CONTENT),
        ..Message::default()
    }
    .post(Slot::Private)
}

/// `open 33 min`, from the earliest time that is known.
pub(super) fn open_for(view: &View) -> Option<String> {
    let times = &view.running.times;
    let from = times.started.or(times.detected).or(times.reported)?;
    let to = match view.status {
        status if status.is_open() => view.now,
        _ => times.resolved?,
    };
    let minutes = to.duration_since(from).as_mins();
    (minutes >= 0).then(|| say::open_for(view.locale, &say::minutes(view.locale, minutes)))
}

/// The guild's criteria of severity, printed.
pub fn criteria(lines: &[(Severity, String, u32)], locale: Locale) -> Post {
    let ink = Ink::discord(locale, Timestamp::UNIX_EPOCH);
    let lines: Vec<String> = lines
        .iter()
        .map(|(severity, words, minutes)| {
            say::criteria_line(locale, *severity, &ink.text(words, 200), *minutes)
        })
        .collect();
    Message {
        content: lines.join("\n"),
        ..Message::default()
    }
    .post(Slot::Private)
}

/// The one message that pings: exactly these people, who asked for it.
pub fn reminder(id: IncidentId, due: Timestamp, people: &[u64], locale: Locale) -> Post {
    let who: Vec<String> = people.iter().map(|id| format!("<@{id}>")).collect();
    let ink = Ink::discord(locale, due);
    let sentence = say::update_is_due(locale, id, &ink.clock(due));
    let mut post = super::notice(&format!("⏰ {} {sentence}", who.join(" ")));
    if let Some(fields) = post.payload.as_object_mut() {
        let users: Vec<String> = people.iter().map(u64::to_string).collect();
        fields.insert(
            "allowed_mentions".into(),
            serde_json::json!({ "parse": [], "users": users }),
        );
    }
    post
}

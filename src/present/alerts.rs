//! What alerts say of an incident: lines of its headline, and what is asked in its thread; the changes
//! before it; what channels are watched for.
//!
//! Wanted: an alert's card stands where a report's headline stands, has its buttons, and is edited in
//! place: before there is an analysis it says what the alert says, afterwards that stands below the
//! line that decides the night. Whatever an alert holds, the card fits.
//!
//! Design: [`Alerts`] is plain data beside the analysis. Its texts are raw: they are escaped here. What
//! matters most comes first, and what does not fit is left out from the end, which is said.

use super::custom_id::Action;
use super::escape::width;
use super::ink::Ink;
use super::payload::{Button, EMBED_DESCRIPTION, Message, Row, Style};
use super::{Post, Slot, View, say};
use crate::incident::alert::AlertLink;
use crate::incident::change::Change;
use crate::incident::{IncidentId, Locale, Severity, Status};
use crate::response::watch::{Settings, Why};
use jiff::Timestamp;

/// Alerts that a card lists.
const MOST_ALERTS: usize = 6;
/// Labels whose values stand above them.
const SAID_ABOVE: [&str; 3] = ["alertname", "service", "severity"];
/// Labels that it lists.
const MOST_LABELS: usize = 8;
/// Addresses that it gives.
const MOST_LINKS: usize = 4;
/// Characters of an address that it gives.
const LONGEST_ADDRESS: usize = 300;
/// Changes that a headline lists.
const MOST_CHANGES: usize = 3;
/// Characters of a description that stay free: for the sentence that something was left out.
const KEPT_FREE: usize = 160;
/// Alerts without an incident that a list shows of a channel.
const MOST_KEPT: usize = 8;

/// What alerts say of an incident.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Alerts {
    /// Who sent the last one.
    pub source: String,
    /// Its level, in its own word.
    pub level: Option<String>,
    /// What that proposes, where nobody set a severity.
    pub proposed: Option<Severity>,
    /// Each thing that is broken, the most telling first.
    pub alerts: Vec<AlertLine>,
    /// What the last one says.
    pub summary: String,
    /// Its labels.
    pub labels: Vec<(String, String)>,
    /// Where more is to be read.
    pub links: Vec<AlertLink>,
    /// Alerts that the last message counts as firing and does not show.
    pub unread: u32,
    /// It goes on and off.
    pub flapping: bool,
    /// The incident before it.
    pub earlier: Option<IncidentId>,
    /// It may be analysed on a button.
    pub analyse: bool,
}

/// One thing that is broken.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AlertLine {
    /// Its name.
    pub name: String,
    /// Messages that said that it fires.
    pub firings: u32,
    /// Copies that fire now.
    pub copies: usize,
    /// It fires now.
    pub fires: bool,
    /// When it last fired.
    pub last: Option<Timestamp>,
}

impl Alerts {
    /// Whether anything fires.
    pub fn fires(&self) -> bool {
        self.alerts.iter().any(|alert| alert.fires)
    }

    /// The names, for a sentence.
    pub fn names(&self) -> String {
        let names: Vec<&str> = self
            .alerts
            .iter()
            .take(3)
            .map(|alert| alert.name.as_str())
            .collect();
        let names = super::escape::fitted(&names.join(", "), 200, super::escape::inline).0;
        match self.alerts.len().saturating_sub(3) {
            0 => names,
            more => format!("{names} (+{more})"),
        }
    }
}

/// The card of an incident that an alert opened and nobody analysed yet.
pub fn alert_card(view: &View) -> Post {
    super::headline::bare(view)
}

/// Lines of the headline.
pub(super) fn lines(view: &View, ink: &Ink) -> Vec<String> {
    let locale = view.locale;
    let Some(alerts) = &view.alerts else {
        return Vec::new();
    };
    let mut lines = Vec::new();
    for alert in alerts.alerts.iter().take(MOST_ALERTS) {
        let name = ink.bold(&ink.text(&alert.name, 120));
        let last = alert.last.map(|at| ink.clock(at)).unwrap_or_default();
        lines.push(if alert.fires {
            let firing = say::firing(locale, alert.firings, alert.copies, &last);
            format!("🔔 {name} {firing}")
        } else {
            format!("✅ {name} {}", say::quiet(locale, alert.firings, &last))
        });
    }
    let more = alerts.alerts.len().saturating_sub(MOST_ALERTS);
    if more > 0 {
        lines.push(say::more_alerts(locale, more));
    }
    if alerts.fires() && !view.status.is_open() && view.status != Status::Merged {
        lines.push(format!("⚠ {}", ink.bold(say::still_fires(locale))));
    }
    if alerts.flapping {
        lines.push(format!("⚠ {}", say::flapping(locale)));
    }
    if alerts.unread > 0 {
        lines.push(format!("⚠ {}", say::unread_alerts(locale, alerts.unread)));
    }
    lines.extend(
        alerts
            .earlier
            .map(|earlier| format!("↩ {}", say::fired_before(locale, earlier))),
    );
    if !alerts.summary.trim().is_empty() {
        lines.push(ink.text(&alerts.summary, 240));
    }
    let level = alerts.level.as_deref().map(|level| ink.text(level, 40));
    lines.push(say::sent_by(
        locale,
        &ink.text(&alerts.source, 40),
        level.as_deref().filter(|level| !level.is_empty()),
        alerts.proposed,
    ));
    let labels: Vec<String> = alerts
        .labels
        .iter()
        .filter(|(label, _)| !SAID_ABOVE.contains(&label.as_str()))
        .take(MOST_LABELS)
        .map(|(label, value)| ink.code(&format!("{label}={value}"), 80))
        .collect();
    if !labels.is_empty() {
        lines.push(labels.join(" "));
    }
    for link in alerts
        .links
        .iter()
        .filter(|link| width(&link.address) <= LONGEST_ADDRESS)
        .take(MOST_LINKS)
    {
        let label = ink.label(say::link_to(locale, link.to));
        lines.push(format!("{label} {}", ink.link(&link.address)));
    }
    lines
}

/// The changes to the service, below everything else: facts with their times, never causes.
pub(super) fn changes(view: &View, ink: &Ink) -> Vec<String> {
    let locale = view.locale;
    let Some(service) = view.service.as_deref().filter(|_| !view.changes.is_empty()) else {
        return Vec::new();
    };
    let mut lines = vec![ink.bold(&say::changes_lately(locale, &ink.text(service, 60)))];
    let earlier = view.changes.len().saturating_sub(MOST_CHANGES);
    for change in view.changes.iter().skip(earlier) {
        lines.push(format!("- {}", change_line(change, locale, ink)));
    }
    if earlier > 0 {
        lines.push(say::more_changes(locale, earlier));
    }
    lines
}

/// `02:40 · deploy · v1.4.2 · retry budget raised · Ana`.
fn change_line(change: &Change, locale: Locale, ink: &Ink) -> String {
    let at = Timestamp::from_millisecond(change.at_ms).unwrap_or_default();
    let mut parts = vec![
        ink.clock(at),
        say::change_kind(locale, change.kind, change.stage),
    ];
    parts.push(ink.text(&change.what, 120));
    if let Some(revision) = change
        .revision
        .as_deref()
        .filter(|revision| !change.what.contains(*revision))
    {
        parts.push(ink.text(revision, 40));
    }
    parts.extend(
        change
            .to
            .as_deref()
            .map(|to| format!("→ {}", ink.text(to, 40))),
    );
    parts.extend(change.by.as_deref().map(|by| ink.text(by, 40)));
    parts.retain(|part| !part.trim().is_empty());
    parts.join(" · ")
}

/// As many lines as fit below what stands there already; that some are left out is said.
pub(super) fn fitting(before: &[String], more: Vec<String>, locale: Locale) -> Vec<String> {
    let room = EMBED_DESCRIPTION.saturating_sub(KEPT_FREE);
    let mut used: usize = before.iter().map(|line| width(line) + 1).sum();
    let mut out = Vec::with_capacity(more.len());
    let mut cut = false;
    for line in more {
        let needed = width(&line) + 1;
        if used + needed > room {
            cut = true;
            continue;
        }
        used += needed;
        out.push(line);
    }
    if cut {
        out.push(say::alert_cut(locale).to_owned());
    }
    out
}

/// The button that has it analysed, where there is one.
pub(super) fn button(view: &View) -> Option<Button> {
    let incident = view.incident?;
    let wanted = view.alerts.as_ref().is_some_and(|alerts| alerts.analyse);
    (wanted && view.status.is_open()).then(|| {
        Button::new(
            Action::Reanalyze { incident },
            say::button_analyze(view.locale),
        )
        .style(Style::Primary)
    })
}

/// In the thread: nothing fires any more, and what may be said of the incident.
pub fn suggest_end(
    incident: IncidentId,
    status: Status,
    names: &str,
    since: Timestamp,
    locale: Locale,
) -> Post {
    let ink = Ink::discord(locale, since);
    let open = matches!(status, Status::Investigating | Status::Fixing);
    let mut lines = vec![say::all_quiet(locale, names, &ink.clock(since))];
    if open {
        lines.push(say::suggest_mitigated(locale).to_owned());
    } else if status == Status::Mitigated {
        lines.push(say::suggest_resolved(locale).to_owned());
    }
    let buttons = if open {
        vec![Button::new(
            Action::Mitigated { incident },
            say::button_mitigated(locale),
        )]
    } else {
        Vec::new()
    };
    Message {
        content: lines.join("\n"),
        rows: vec![Row::Buttons(buttons)],
        ..Message::default()
    }
    .post(Slot::Reply)
}

/// A channel that is watched, for the list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WatchRow {
    /// The channel.
    pub channel: u64,
    /// How its alerts are treated; `None`: it is watched for changes.
    pub alerts: Option<Settings>,
    /// Not everybody sees it.
    pub private: bool,
    /// How many incidents fire now, and of which services.
    pub firing: (usize, Vec<String>),
    /// What was told in the last day without an incident: name, how often, when last, why.
    pub kept: Vec<(String, u32, Option<Timestamp>, Why)>,
    /// Alerts that were counted and not shown, and when last.
    pub unread: (u32, Option<Timestamp>),
}

/// A line of what a channel is watched for.
pub fn watch_line(row: &WatchRow, locale: Locale) -> String {
    let channel = format!("<#{}>", row.channel);
    let line = match &row.alerts {
        Some(settings) => {
            let seconds = settings
                .quiet_repeats_ms
                .max(crate::response::watch::POST_EVERY_MS)
                / 1_000;
            let quiet = say::duration(locale, u64::try_from(seconds).unwrap_or_default());
            say::watches_alerts(locale, &channel, settings.analyse, settings.floor, &quiet)
        }
        None => say::watches_changes(locale, &channel),
    };
    if row.private {
        format!("{line}\n{}", say::watched_in_private(locale))
    } else {
        line
    }
}

/// `/watch list`, to one person alone.
pub fn watch_list(rows: &[WatchRow], locale: Locale, now: Timestamp) -> Post {
    if rows.is_empty() {
        return super::private(say::nothing_watched(locale));
    }
    let ink = Ink::discord(locale, now);
    let clock = |at: &Option<Timestamp>| at.map(|at| ink.clock(at)).unwrap_or_default();
    let mut lines = Vec::new();
    for row in rows {
        lines.push(watch_line(row, locale));
        let (count, services) = &row.firing;
        if *count > 0 {
            let services: Vec<String> = services
                .iter()
                .take(6)
                .map(|service| ink.text(service, 60))
                .collect();
            lines.push(format!(
                "- {}",
                say::fires_now(locale, *count, &services.join(", "))
            ));
        }
        if !row.kept.is_empty() {
            lines.push(format!("- {}", say::kept_heading(locale)));
            for (name, times, last, why) in row.kept.iter().take(MOST_KEPT) {
                let name = ink.text(name, 100);
                let kept = say::kept_alert(locale, &name, *times, &clock(last), *why);
                lines.push(format!("  - {kept}"));
            }
            let more = row.kept.len().saturating_sub(MOST_KEPT);
            if more > 0 {
                lines.push(format!("  - {}", say::more_alerts(locale, more)));
            }
        }
        let (unread, last) = &row.unread;
        if *unread > 0 {
            lines.push(format!(
                "- {}",
                say::kept_unread(locale, *unread, &clock(last))
            ));
        }
    }
    let lines = fitting(&[], lines, locale);
    let message = Message {
        embeds: vec![super::payload::Embed {
            description: lines.join("\n"),
            ..super::payload::Embed::default()
        }],
        ..Message::default()
    };
    message.post(Slot::Private)
}

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
    let revision = change
        .revision
        .as_deref()
        .filter(|revision| !change.what.contains(*revision))
        .map(|revision| ink.text(revision, 40));
    let to = change
        .to
        .as_deref()
        .filter(|to| !change.what.contains(*to))
        .map(|to| format!("→ {}", ink.text(to, 40)));
    let went: Vec<String> = revision.into_iter().chain(to).collect();
    parts.push(went.join(" "));
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
            let seconds = settings.quiet_ms() / 1_000;
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

#[cfg(test)]
mod tests {
    use super::super::checks::{
        analysis, any_view, assert_legal, at, faults, id, sample, text, view,
    };
    use super::*;
    use crate::incident::alert::LinkTo;
    use crate::incident::change::{ChangeKind, ChangeSource, ChangeStage};
    use proptest::prelude::*;

    fn line(name: &str, fires: bool) -> AlertLine {
        AlertLine {
            name: name.to_owned(),
            firings: 7,
            copies: if fires { 3 } else { 0 },
            fires,
            last: Some(at("2026-05-14T02:58:00Z")),
        }
    }

    fn change(what: &str) -> Change {
        Change {
            source: ChangeSource::Ci,
            kind: ChangeKind::Deploy,
            stage: ChangeStage::Done,
            service: Some("payments-api".to_owned()),
            subject: "payments-api".to_owned(),
            what: what.to_owned(),
            by: Some("Ana".to_owned()),
            at_ms: 1_778_726_400_000,
            link: None,
            revision: Some("v1.4.2".to_owned()),
            to: Some("prod".to_owned()),
        }
    }

    fn alerted(locale: Locale) -> View {
        let mut view = view(locale);
        view.incident = Some(id(107));
        view.service = Some("payments-api".to_owned());
        view.title = "HighErrorRate".to_owned();
        view.alerts = Some(Alerts {
            source: "Alertmanager".to_owned(),
            level: Some("critical".to_owned()),
            proposed: Some(Severity::Sev2),
            alerts: vec![line("HighErrorRate", true), line("HighLatency", false)],
            summary: "8 % of requests fail, <@1> [here](https://e.x)".to_owned(),
            labels: vec![
                ("env".to_owned(), "prod".to_owned()),
                ("severity".to_owned(), "critical".to_owned()),
            ],
            links: vec![AlertLink {
                to: LinkTo::Runbook,
                address: "https://wiki.acme.test/runbooks/errors".to_owned(),
            }],
            unread: 2,
            flapping: true,
            earlier: Some(id(101)),
            analyse: true,
        });
        view.changes = (1..=5).map(|n| change(&format!("change {n}"))).collect();
        view
    }

    fn described(post: &Post) -> String {
        post.payload["embeds"][0]["description"]
            .as_str()
            .unwrap_or_default()
            .to_owned()
    }

    #[test]
    fn the_card_says_what_the_alert_says_and_what_changed_before() {
        let card = alert_card(&alerted(Locale::En));
        assert_legal(&card);
        insta::assert_snapshot!(described(&card), @r"
        🔔 **HighErrorRate** firing 7x on 3 instances, last <t:1778727480:t>
        ✅ **HighLatency** resolved; fired 7x, last <t:1778727480:t>
        ⚠ Flapping: it goes on and off, its end is suggested after ten quiet minutes
        ⚠ The message counts 2 more that fire and was cut before naming them
        ↩ Fired before in INC-0101, which was over for more than two hours
        8 % of requests fail, < (at)1> [here] (`https://e.x`)
        Alertmanager · critical · SEV2 is proposed from that, nobody set it
        `env=prod`
        **Runbook** <https://wiki.acme.test/runbooks/errors>
        **Changes to payments-api in the last 6 hours**
        - <t:1778726400:t> · deploy · change 3 · v1.4.2 → prod · Ana
        - <t:1778726400:t> · deploy · change 4 · v1.4.2 → prod · Ana
        - <t:1778726400:t> · deploy · change 5 · v1.4.2 → prod · Ana
        … and 2 more before these
        ");
        let chinese = alert_card(&alerted(Locale::Zh));
        assert_legal(&chinese);
        insta::assert_snapshot!(described(&chinese), @r"
        🔔 **HighErrorRate** 告警 7 次（3 个实例），最近 <t:1778727480:t>
        ✅ **HighLatency** 已恢复；共告警 7 次，最近 <t:1778727480:t>
        ⚠ 反复触发：时好时坏，安静十分钟后才会建议结束
        ⚠ 该消息还统计了 2 个未列出的告警（消息被截断）
        ↩ 此前在 INC-0101 中触发过，结束已超过两小时
        8 % of requests fail, < (at)1> [here] (`https://e.x`)
        Alertmanager · critical · 由此建议 SEV2，尚无人确认
        `env=prod`
        **处理手册** <https://wiki.acme.test/runbooks/errors>
        **最近 6 小时对 payments-api 的变更**
        - <t:1778726400:t> · 部署 · change 3 · v1.4.2 → prod · Ana
        - <t:1778726400:t> · 部署 · change 4 · v1.4.2 → prod · Ana
        - <t:1778726400:t> · 部署 · change 5 · v1.4.2 → prod · Ana
        ……此前另有 2 项
        ");
    }

    #[test]
    fn below_an_analysis_it_stands_under_the_line_that_decides() {
        let mut view = alerted(Locale::En);
        view.alerts.as_mut().expect("alerts").analyse = false;
        let post = super::super::headline(&analysis(sample()), &view);
        assert_legal(&post);
        let text = described(&post);
        let (decides, fires) = (text.find("Seen 3x here"), text.find("🔔"));
        assert!(decides.is_some() && decides < fires, "{text}");
        assert!(!post.payload.to_string().contains(":again:"), "no button");
    }

    #[test]
    fn what_was_ended_and_still_fires_says_so() {
        for (status, expected) in [
            (Status::Resolved, true),
            (Status::FalseAlarm, true),
            (Status::Mitigated, false),
            (Status::Merged, false),
        ] {
            let mut view = alerted(Locale::En);
            view.status = status;
            let said = described(&alert_card(&view));
            assert_eq!(said.contains("Still firing"), expected, "{status:?}");
        }
    }

    #[test]
    fn an_end_is_suggested_by_where_it_stands() {
        let since = at("2026-05-14T03:05:00Z");
        for (status, part, button) in [
            (Status::Investigating, "Suggested: mitigated", true),
            (Status::Fixing, "Suggested: mitigated", true),
            (Status::Mitigated, "Suggested: resolved", false),
        ] {
            let post = suggest_end(id(107), status, "HighErrorRate", since, Locale::En);
            assert_legal(&post);
            let text = post.payload["content"].as_str().unwrap_or_default();
            assert!(text.contains(part), "{text}");
            assert_eq!(post.payload.to_string().contains(":mitigated:"), button);
        }
    }

    fn any_alerts() -> impl Strategy<Value = Alerts> {
        let line = (text(), any::<u32>(), 0..99_usize, any::<bool>()).prop_map(
            |(name, firings, copies, fires)| AlertLine {
                name,
                firings,
                copies,
                fires,
                last: Some(Timestamp::UNIX_EPOCH),
            },
        );
        let link = text().prop_map(|address| AlertLink {
            to: LinkTo::Dashboard,
            address,
        });
        (
            (text(), proptest::option::of(text()), text()),
            proptest::collection::vec(line, 0..12),
            proptest::collection::vec((text(), text()), 0..40),
            proptest::collection::vec(link, 0..8),
            (any::<u32>(), any::<bool>(), any::<bool>()),
        )
            .prop_map(
                |((source, level, summary), alerts, labels, links, (unread, flapping, analyse))| {
                    Alerts {
                        source,
                        level,
                        proposed: Some(Severity::Sev2),
                        alerts,
                        summary,
                        labels,
                        links,
                        unread,
                        flapping,
                        earlier: Some(id(9)),
                        analyse,
                    }
                },
            )
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, cases: 12, ..ProptestConfig::default() })]

        #[test]
        fn the_card_of_any_alert_is_legal(view in any_view(), alerts in any_alerts(), what in text()) {
            let mut view = view;
            let suggested = suggest_end(
                id(1), view.status, &alerts.names(), Timestamp::UNIX_EPOCH, view.locale,
            );
            view.alerts = Some(alerts.clone());
            view.changes = vec![change(&what); 12];
            let listed = WatchRow {
                channel: 7,
                alerts: Some(Settings::default()),
                private: true,
                firing: (3, vec![what.clone(); 9]),
                kept: vec![(what, 3, Some(Timestamp::UNIX_EPOCH), Why::BelowFloor); 20],
                unread: (4, None),
            };
            let list = watch_list(&vec![listed; 30], view.locale, Timestamp::UNIX_EPOCH);
            for post in [
                alert_card(&view),
                super::super::headline(&analysis(sample()), &view),
                suggested,
                list,
            ] {
                let mut found = faults(&post);
                // The list names channels by their mentions, which notify nobody.
                found.retain(|fault| fault != "<#");
                prop_assert!(found.is_empty(), "{found:?}");
            }
        }
    }
}

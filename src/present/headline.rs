//! The headline in the channel: stands alone, and says the one thing that decides the night.

use super::escape::{cut, plain};
use super::ink::Ink;
use super::payload::{EMBED_TITLE, Embed, Message};
use super::{Post, Slot, View, say};
use crate::incident::{Moment, Outcome, Severity, Standing, sameness};
use crate::validation::Analysis;
use crate::validation::analysis::{Hypothesis, MemoryStatus};

/// The headline before there is an analysis.
pub fn working(view: &View) -> Post {
    let ink = Ink::discord(view.locale, view.now);
    post(view, &ink, vec![say::working(view.locale).to_owned()], true)
}

/// The headline of what was not analysed: what is known beside an analysis.
pub(super) fn bare(view: &View) -> Post {
    let ink = Ink::discord(view.locale, view.now);
    post(view, &ink, Vec::new(), true)
}

/// The headline of an analysis.
pub fn headline(analysis: &Analysis, view: &View) -> Post {
    let ink = Ink::discord(view.locale, view.now);
    let mut lines = vec![deciding_line(analysis, view, &ink)];
    if (view.exposed || analysis.update.nothing_public) && view.status.is_open() {
        lines.push(format!("🔒 {}", say::exposure_hint(view.locale)));
    }
    post(view, &ink, lines, true)
}

/// An incident in a few lines, for one person alone (`/incident show`).
pub fn incident_show(analysis: Option<&Analysis>, view: &View) -> Post {
    let locale = view.locale;
    let ink = Ink::discord(locale, view.now);
    let mut lines = Vec::new();
    lines.extend(analysis.map(|analysis| deciding_line(analysis, view, &ink)));
    let mut put = |label: &str, value: String| lines.push(format!("{} {value}", ink.label(label)));
    if let Some(at) = view.started_at {
        put(
            say::since_label(locale),
            format!("{} {}", ink.day(at), ink.clock(at)),
        );
    }
    let lead = view
        .lead
        .as_deref()
        .map(|lead| ink.text(lead, 60))
        .unwrap_or_default();
    put(
        say::lead_label(locale),
        if lead.is_empty() {
            say::nobody_yet(locale).to_owned()
        } else {
            lead
        },
    );
    let running = &view.running;
    let impact = super::running::impact_words(&running.impact, locale, &ink, 160);
    if !impact.is_empty() {
        put(say::impact_label(locale), impact);
    }
    let data = ink.text(&running.impact.data, 160);
    if !data.is_empty() {
        put(say::field(locale, say::Field::Data), data);
    }
    for moment in Moment::ALL {
        // The beginning stands above.
        if let Some(at) = running
            .times
            .at(moment)
            .filter(|_| moment != Moment::Started)
        {
            put(
                say::moment(locale, moment),
                format!("{} {}", ink.day(at), ink.clock(at)),
            );
        }
    }
    lines.extend(super::running::took(view).map(|took| format!("⏱ {took}")));
    for (index, hypothesis) in analysis
        .iter()
        .flat_map(|a| a.hypotheses.iter())
        .take(4)
        .enumerate()
    {
        let mut parts = vec![format!(
            "{} · {}",
            index + 1,
            ink.text(&hypothesis.title, 120)
        )];
        parts.push(say::record(locale, &hypothesis.record));
        parts.extend(super::cards::state_lines(index, view, &ink));
        lines.push(format!("- {}", parts.join(" · ")));
    }
    if let Some(analysis) = analysis {
        lines.push(say::steps_done(
            locale,
            view.ticks.len(),
            analysis.next_steps.len(),
        ));
    }
    let mut post = post(view, &ink, lines, false);
    post.slot = Slot::Private;
    super::payload::make_private(&mut post.payload);
    post
}

/// `SEV2 · payments-api · intermittent 503s`, without Markdown.
pub fn title_line(view: &View) -> String {
    let mut parts = vec![view.severity.to_string()];
    parts.extend(
        view.service
            .as_deref()
            .map(|service| cut(&plain(service), 60)),
    );
    parts.push(cut(&plain(&view.title), 150));
    parts.retain(|part| !part.is_empty());
    parts.join(" · ")
}

/// What is said first of all: ongoing outages, then memory's record, then the check.
pub fn deciding_line(analysis: &Analysis, view: &View, ink: &Ink) -> String {
    let locale = view.locale;
    let memory = &analysis.memory;
    let leading = view.leading(analysis);
    let best = leading.map(|(_, best)| best);
    let mut parts = Vec::new();
    if let Some(cause) = &view.confirmed_cause {
        parts.push(ink.bold(&say::pair(
            locale,
            &format!(
                "{}{}",
                say::cause_label(locale),
                say::aside(locale, say::cause_state(locale, true))
            ),
            &ink.text(cause, 160),
        )));
    }
    match memory.status {
        MemoryStatus::Disabled | MemoryStatus::Unavailable | MemoryStatus::NoMatch => {
            parts.push(say::memory_sentence(locale, memory));
        }
        MemoryStatus::AnalogyOnly => parts.push(say::seen_elsewhere(locale, memory.elsewhere)),
        MemoryStatus::Unproven
        | MemoryStatus::RefutedOnly
        | MemoryStatus::Mixed
        | MemoryStatus::Proven => {
            let last = memory.last.as_ref();
            let ago = last.and_then(|last| last.at).map(|at| ink.ago(at));
            parts.push(say::seen_here(locale, memory.here, ago.as_deref()));
            let failed_last = last.filter(|last| last.outcome.standing() == Standing::Refuted);
            if let Some(last) = failed_last {
                let day = last.at.map(|at| ink.day(at));
                let words = say::failed_last_time(locale, last.id, day.as_deref(), last.outcome);
                parts.push(ink.bold(&words));
            }
            let failed_now = |fix: &str| {
                let mut here = analysis.do_not_repeat.iter();
                here.any(|entry| entry.refs.is_empty() && sameness::near_or_same(&entry.fix, fix))
            };
            match best
                .filter(|best| is_proven(best) && !analysis.not_to_be_repeated(&best.fix))
                .and_then(|best| fixed_by(best, view, ink))
            {
                Some(words) => parts.push(words),
                None if last.is_some_and(|last| failed_now(&last.fix)) => {
                    if let Some(last) = last {
                        let fix = mid_sentence(ink.text(&last.fix, 140));
                        parts.push(ink.bold(&say::failed_in_this_incident(locale, &fix)));
                    }
                }
                None if memory.held == 0 => {
                    if let Some(last) = last.filter(|last| {
                        last.outcome == Outcome::Mitigated && !last.fix.trim().is_empty()
                    }) {
                        parts.push(say::last_tried(
                            locale,
                            &ink.text(&last.fix, 140),
                            last.id,
                            last.outcome,
                        ));
                    } else if failed_last.is_none() {
                        parts.push(say::no_fix_known(locale).to_owned());
                    }
                }
                None => {
                    if let Some(last) = last.filter(|last| {
                        last.outcome == Outcome::Held
                            && !last.fix.trim().is_empty()
                            && !analysis.not_to_be_repeated(&last.fix)
                    }) {
                        let took = last.minutes.map(|minutes| say::minutes(locale, minutes));
                        let fix = mid_sentence(ink.text(&last.fix, 140));
                        parts.push(say::fixed_by(locale, &fix, took.as_deref(), Some(last.id)));
                    }
                }
            }
        }
    }
    let unchecked = best.filter(|_| view.confirmed_cause.is_none());
    if let Some(best) = unchecked.filter(|best| !best.verify.trim().is_empty()) {
        parts.push(say::check_first(
            locale,
            &mid_sentence(ink.text(&best.verify, 180)),
        ));
    }
    parts.join(" · ")
}

/// A plain first word loses its capital inside a sentence; `HikariPool` and `DNS` keep theirs.
fn mid_sentence(text: String) -> String {
    let word: String = text.chars().take_while(|c| !c.is_whitespace()).collect();
    let rest_is_plain = word.chars().skip(1).all(|c| c.is_ascii_lowercase());
    let mut chars = text.chars();
    match chars.next() {
        Some(first) if first.is_ascii_uppercase() && word.len() > 1 && rest_is_plain => {
            std::iter::once(first.to_ascii_lowercase())
                .chain(chars)
                .collect()
        }
        _ => text,
    }
}

fn is_proven(hypothesis: &Hypothesis) -> bool {
    hypothesis.record.worked > hypothesis.record.failed
        && !hypothesis.record.newest_failed
        && !hypothesis.fix.trim().is_empty()
}

fn fixed_by(hypothesis: &Hypothesis, view: &View, ink: &Ink) -> Option<String> {
    let held = |id| {
        hypothesis
            .refs
            .iter()
            .find(|cited| Some(cited.id) == id && cited.outcome.standing() == Standing::Verified)
    };
    let from = held(hypothesis.fix_ref).or_else(|| {
        hypothesis
            .refs
            .iter()
            .find(|cited| cited.outcome.standing() == Standing::Verified)
    });
    let took = from
        .and_then(|cited| cited.minutes)
        .map(|minutes| say::minutes(view.locale, minutes));
    let mut fix = mid_sentence(ink.text(&hypothesis.fix, 140));
    if super::checklist::destroys(&hypothesis.fix) {
        fix.push_str(&say::aside(view.locale, say::destroys(view.locale)));
    }
    let id = from.map(|cited| cited.id).or(hypothesis.fix_ref);
    (!fix.is_empty()).then(|| say::fixed_by(view.locale, &fix, took.as_deref(), id))
}

fn post(view: &View, ink: &Ink, mut lines: Vec<String>, buttons: bool) -> Post {
    let locale = view.locale;
    if buttons {
        lines.extend(super::running::lines(view, ink));
    }
    if let Some((id, days)) = view.back_after {
        lines.insert(
            0,
            ink.bold(&format!("↩ {}", say::back_after(locale, id, days))),
        );
    }
    for ongoing in view.ongoing.iter().take(3).rev() {
        let service = ink.text(&ongoing.service, 60);
        let since = ink.clock(ongoing.since);
        lines.insert(
            0,
            format!(
                "⚠ {}",
                say::one_outage(locale, &service, &since, ongoing.id)
            ),
        );
    }
    let mut more = super::alerts::lines(view, ink);
    more.extend(super::alerts::changes(view, ink));
    lines.extend(super::alerts::fitting(&lines, more, locale));
    let mut foot = Vec::new();
    foot.extend(view.incident.map(|id| id.to_string()));
    foot.push(say::status(locale, view.status).to_owned());
    if let Some(lead) = view.lead.as_deref() {
        foot.push(format!(
            "{}: {}",
            say::lead_label(locale),
            cut(&plain(lead), 60)
        ));
    }
    if let Some(comms) = view.running.comms.as_deref() {
        foot.push(format!(
            "{}: {}",
            say::comms_label(locale),
            cut(&plain(comms), 60)
        ));
    }
    let title = super::escape::fitted(&title_line(view), EMBED_TITLE, super::escape::inline).0;
    let message = Message {
        embeds: vec![Embed {
            title,
            description: lines.join("\n"),
            color: severity_color(view.severity),
            footer: foot.join(" · "),
            ..Embed::default()
        }],
        rows: if buttons {
            super::running::rows(view)
        } else {
            Vec::new()
        },
        ..Message::default()
    };
    message.post(Slot::Headline)
}

/// A second sign beside the word, never the only one.
fn severity_color(severity: Severity) -> u32 {
    match severity {
        Severity::Sev1 => 0xED_42_45,
        Severity::Sev2 => 0xF0_82_2E,
        Severity::Sev3 => 0xF2_C1_4E,
        Severity::Sev4 => 0x8A_93_A0,
    }
}

#[cfg(test)]
mod tests {
    use super::super::checks::{analysis, assert_legal, at, id, sample, view};
    use super::super::{Ongoing, working};
    use super::*;
    use crate::incident::Locale;
    use crate::validation::analysis::{LastTime, Shown};

    fn line(shown: Shown, locale: Locale) -> String {
        let post = headline(&analysis(shown), &view(locale));
        assert_legal(&post);
        post.payload["embeds"][0]["description"]
            .as_str()
            .unwrap_or_default()
            .to_owned()
    }

    /// A service with three direct matches, whose last one ended as given.
    fn last(status: MemoryStatus, held: u32, outcome: Outcome) -> Shown {
        let mut shown = sample();
        shown.memory.status = status;
        shown.memory.held = held;
        shown.memory.last = Some(LastTime {
            id: id(52),
            at: Some(at("2026-05-14T03:10:00Z")),
            outcome,
            fix: "Restart the gateway".into(),
            minutes: Some(18),
        });
        shown.hypotheses.remove(0);
        shown
    }

    #[test]
    fn the_line_that_decides_the_night() {
        let mut none = sample();
        none.memory.status = MemoryStatus::NoMatch;
        none.hypotheses.clear();
        let mut down = none.clone();
        down.memory.status = MemoryStatus::Unavailable;
        let mut elsewhere = sample();
        elsewhere.memory.status = MemoryStatus::AnalogyOnly;
        elsewhere.hypotheses.drain(..2);
        let lines = [
            line(sample(), Locale::En),
            line(sample(), Locale::Zh),
            line(none, Locale::En),
            line(down, Locale::En),
            line(elsewhere, Locale::En),
            line(
                last(MemoryStatus::RefutedOnly, 0, Outcome::NoEffect),
                Locale::En,
            ),
            line(
                last(MemoryStatus::Unproven, 0, Outcome::Mitigated),
                Locale::En,
            ),
            line(
                last(MemoryStatus::Unproven, 0, Outcome::Unknown),
                Locale::En,
            ),
            line(last(MemoryStatus::Proven, 1, Outcome::Held), Locale::En),
        ];
        insta::assert_snapshot!(lines.join("\n"), @r"
        Seen 3x here, last <t:1778728200:R> · fixed in 41 min by lower retry_max_attempts from 5 to 2 and raise the gateway quota (INC-0041) · check first: compare the gateway's 429 rate with the client's retry rate over the last 30 minutes
        本服务出现过 3 次，最近 <t:1778728200:R> · 41 分钟内修复：lower retry_max_attempts from 5 to 2 and raise the gateway quota（INC-0041） · 先检查：compare the gateway's 429 rate with the client's retry rate over the last 30 minutes
        Nothing like this in memory (searched 143, 12 on this service)
        Memory unavailable: past incidents could not be searched
        Not seen on this service; 1 like it elsewhere · check first: look at the latency of each dependency for the same minutes
        Seen 3x here, last <t:1778728200:R> · **FAILED LAST TIME (INC-0052, <t:1778728200:D>: no effect)** · check first: diff the retry settings of the running and the previous release
        Seen 3x here, last <t:1778728200:R> · last time: Restart the gateway (INC-0052: worked, not known to hold) · check first: diff the retry settings of the running and the previous release
        Seen 3x here, last <t:1778728200:R> · no fix is known to have worked · check first: diff the retry settings of the running and the previous release
        Seen 3x here, last <t:1778728200:R> · fixed in 18 min by restart the gateway (INC-0052) · check first: diff the retry settings of the running and the previous release
        ");
    }

    #[test]
    fn it_works_first_and_names_what_is_open_elsewhere() {
        let mut view = view(Locale::En);
        view.ongoing = vec![Ongoing {
            id: id(106),
            service: "order-service".into(),
            since: at("2026-05-26T02:51:00Z"),
        }];
        for analysis in [None, Some(&analysis(sample()))] {
            let post = incident_show(analysis, &view);
            assert_legal(&post);
            assert_eq!(
                (post.slot, &post.payload["flags"]),
                (Slot::Private, &64.into())
            );
        }
        view.back_after = Some((id(41), 3));
        view.lead = Some("alice".into());
        let post = working(&view);
        assert_legal(&post);
        insta::assert_snapshot!(format!("{:#}", post.payload["embeds"][0]), @r#"
        {
          "color": 15761966,
          "description": "⚠ order-service open since <t:1779763860:t> with the same error (INC-0106): one outage?\n**↩ back after 3 days (INC-0041)**\n⏳ Searching memory and analysing; first results follow in the thread",
          "footer": {
            "text": "INC-0107 · 🔎 investigating · Lead: alice"
          },
          "title": "SEV2 · payments-api · intermittent 503s"
        }
        "#);
    }
}

//! Hypothesis cards, best first, the record before the number.
//!
//! Wanted: a card is read in five seconds, and whatever the analysis holds, the message is legal.
//! Design: the same composition is tried with less and less [`Room`] until it fits Discord's 6,000
//! characters. What shrinks is prose and quotes; the record, the verdict and the references stay,
//! the latter as bare ids in the end. If anything shrank, the message says so and the whole text
//! goes along as a file.

use super::checklist::{destroys, warning};
use super::custom_id::{Action, Asked, CardRef};
use super::escape::{cut, plain};
use super::ink::Ink;
use super::payload::{
    BUTTON_LABEL, Button, CONTENT, Choice, EMBED_TITLE, Embed, Message, OPTIONS, ROWS, Row, Style,
};
use super::progress::{Precedent, precedent_line};
use super::{CauseState, File, FixState, Post, Slot, View, say};
use crate::incident::{Engine, FallbackReason, Grade, IncidentId, Locale, Outcome, Standing};
use crate::validation::Analysis;
use crate::validation::analysis::{Hypothesis, MemoryStatus, NextStep, Source};
use std::collections::BTreeMap;

/// Cards of one analysis (R14).
pub const CARDS: usize = 4;

/// The colour of what comes from memory; the badge says it in words.
pub const MEMORY_COLOR: u32 = 0x4F_8F_F7;
const EVIDENCE_COLOR: u32 = 0x2F_B5_A0;
const ANALOGY_COLOR: u32 = 0xA0_78_E8;
const GENERAL_COLOR: u32 = 0x7D_84_90;
const STOP_COLOR: u32 = 0xF0_82_2E;

/// How much of each part is shown.
#[derive(Clone, Copy, Debug)]
pub struct Room {
    title: usize,
    fix: usize,
    verify: usize,
    quote: usize,
    quotes: usize,
    /// References in full lines; the others as ids and outcomes.
    full_refs: usize,
    /// References as ids, at most.
    short_refs: usize,
    summary: usize,
    ideas: usize,
    idea: usize,
    notes: usize,
    step: usize,
}

/// Everything, for files and the command line.
pub const FULL: Room = Room {
    title: usize::MAX / 8,
    fix: usize::MAX / 8,
    verify: usize::MAX / 8,
    quote: usize::MAX / 8,
    quotes: usize::MAX,
    full_refs: usize::MAX,
    short_refs: usize::MAX,
    summary: usize::MAX / 8,
    ideas: usize::MAX,
    idea: usize::MAX / 8,
    notes: usize::MAX,
    step: usize::MAX / 8,
};

/// From calm to cramped.
const ROOMS: [Room; 6] = [
    Room {
        title: 200,
        fix: 360,
        verify: 360,
        quote: 180,
        quotes: 3,
        full_refs: 5,
        short_refs: 60,
        summary: 500,
        ideas: 6,
        idea: 160,
        notes: 4,
        step: 200,
    },
    Room {
        title: 160,
        fix: 240,
        verify: 240,
        quote: 140,
        quotes: 2,
        full_refs: 4,
        short_refs: 50,
        summary: 300,
        ideas: 5,
        idea: 120,
        notes: 3,
        step: 160,
    },
    Room {
        title: 120,
        fix: 160,
        verify: 160,
        quote: 110,
        quotes: 2,
        full_refs: 3,
        short_refs: 40,
        summary: 200,
        ideas: 4,
        idea: 90,
        notes: 2,
        step: 120,
    },
    Room {
        title: 90,
        fix: 100,
        verify: 100,
        quote: 80,
        quotes: 1,
        full_refs: 2,
        short_refs: 30,
        summary: 120,
        ideas: 3,
        idea: 70,
        notes: 1,
        step: 80,
    },
    Room {
        title: 60,
        fix: 60,
        verify: 60,
        quote: 50,
        quotes: 1,
        full_refs: 0,
        short_refs: 20,
        summary: 60,
        ideas: 2,
        idea: 40,
        notes: 1,
        step: 50,
    },
    Room {
        title: 40,
        fix: 40,
        verify: 40,
        quote: 40,
        quotes: 1,
        full_refs: 0,
        short_refs: 6,
        summary: 40,
        ideas: 1,
        idea: 40,
        notes: 1,
        step: 40,
    },
];

/// The cards of an analysis.
pub fn cards(analysis: &Analysis, view: &View) -> Post {
    let mut message = Message::default();
    let mut was_cut = false;
    let bleeding = super::bleeding::steps(analysis, view);
    for room in &ROOMS {
        let ink = Ink::discord(view.locale, view.now);
        message = compose(analysis, view, &bleeding, room, &ink);
        was_cut = ink.has_cut();
        if message.fits() {
            break;
        }
    }
    if was_cut {
        message.files.push(File {
            name: view.file_name("analysis"),
            text: super::text::text(analysis, view),
        });
    }
    message.post(Slot::Analysis)
}

fn compose(
    analysis: &Analysis,
    view: &View,
    bleeding: &[NextStep],
    room: &Room,
    ink: &Ink,
) -> Message {
    let locale = view.locale;
    let mut embeds = vec![verdict(analysis, view, room, ink)];
    embeds.extend(stop_the_bleeding(bleeding, view, room, ink));
    if analysis.cause_not_determined || analysis.hypotheses.is_empty() {
        embeds.push(Embed {
            title: format!("❔ {}", say::cause_not_determined(locale)),
            description: say::cause_not_determined_hint(locale).to_owned(),
            color: GENERAL_COLOR,
            ..Embed::default()
        });
    }
    if nothing_known(analysis) {
        embeds.extend(view.knows.embed(ink));
    }
    for (index, hypothesis) in analysis.hypotheses.iter().take(CARDS).enumerate() {
        embeds.push(card(hypothesis, index, view, room, ink).embed(hypothesis));
    }
    embeds.extend(general_ideas(analysis, room, ink));
    if analysis.hypotheses.len() > CARDS {
        ink.note_cut();
    }
    let mut content = heading(analysis, view, ink);
    if ink.has_cut() {
        content.push(format!("✂ {}", say::cut_note(locale)));
    }
    Message {
        content: cut(&content.join("\n"), CONTENT),
        embeds,
        rows: rows(analysis, view),
        ..Message::default()
    }
}

/// Whether memory helps nobody tonight: then people and runbooks may.
pub fn nothing_known(analysis: &Analysis) -> bool {
    analysis.cause_not_determined
        || matches!(
            analysis.memory.status,
            MemoryStatus::NoMatch
                | MemoryStatus::AnalogyOnly
                | MemoryStatus::RefutedOnly
                | MemoryStatus::Unavailable
                | MemoryStatus::Disabled
        )
}

/// What stands above the cards: which analysis, progress, who answered, what was not read.
pub(super) fn heading(analysis: &Analysis, view: &View, ink: &Ink) -> Vec<String> {
    let locale = view.locale;
    let mut lines = Vec::new();
    if let Some(by) = view.superseded_by {
        lines.push(ink.bold(&say::superseded(locale, by)));
    }
    if !view.status.is_open() {
        lines.push(ink.bold(say::status(locale, view.status)));
    }
    let mut first = Vec::new();
    if view.analysis > 1 {
        first.push(ink.bold(&say::analysis_number(locale, view.analysis)));
    }
    if !view.progress.is_empty() {
        first.push(cut(&view.progress, 400));
    }
    if !first.is_empty() {
        lines.push(first.join(" · "));
    }
    if let Engine::Fallback { reason } = &analysis.engine {
        lines.push(ink.bold(&say::fallback_heading(locale, reason)));
    }
    if analysis.cut_off {
        lines.push(ink.bold(say::cut_off(locale)));
    }
    for note in view.notes.iter().take(3) {
        lines.push(format!("📎 {}", ink.text(note, 200)));
    }
    lines
}

fn verdict(analysis: &Analysis, view: &View, room: &Room, ink: &Ink) -> Embed {
    Embed {
        description: verdict_lines(analysis, view, room, ink).join("\n"),
        color: GENERAL_COLOR,
        ..Embed::default()
    }
}

/// Memory's verdict with its counts, the summary, the severity where it is only proposed, warnings.
pub(super) fn verdict_lines(
    analysis: &Analysis,
    view: &View,
    room: &Room,
    ink: &Ink,
) -> Vec<String> {
    let locale = view.locale;
    let mut lines = vec![format!(
        "{} {}",
        ink.label(say::memory_label(locale)),
        say::memory_sentence(locale, &analysis.memory)
    )];
    // The cards name the references they cite; the rest of what was recalled is named here.
    let uncited: Vec<IncidentId> = analysis
        .memory
        .refs
        .iter()
        .copied()
        .filter(|id| {
            !analysis
                .hypotheses
                .iter()
                .take(CARDS)
                .any(|h| h.refs.iter().any(|cited| cited.id == *id))
        })
        .collect();
    if !uncited.is_empty() {
        lines.push(say::also_recalled(
            locale,
            &id_list(&uncited, room.short_refs, ink),
        ));
    }
    for pattern in view.patterns.iter().take(room.notes.min(2)) {
        lines.push(format!(
            "🔁 {}",
            super::outcomes::pattern_line(pattern, ink)
        ));
    }
    if !view.forgotten.is_empty() {
        let refs: Vec<String> = view
            .forgotten
            .iter()
            .take(5)
            .map(|id| say::forgotten_ref(locale, *id))
            .collect();
        lines.push(say::forgotten_since(locale, &say::listed(locale, &refs)));
    }
    let summary = ink.text(&analysis.summary, room.summary);
    if !summary.is_empty() {
        lines.push(format!(
            "{} {summary}",
            ink.label(say::only_summary(locale))
        ));
    }
    let severity = &analysis.severity;
    if severity.by != crate::validation::analysis::SeverityBy::Person {
        let mut line = format!(
            "{} {}{}",
            ink.label(say::severity_label(locale)),
            severity.severity,
            say::aside(locale, say::severity_by(locale, severity.by))
        );
        let reason = ink.text(&severity.reason, room.summary / 2);
        if !reason.is_empty() {
            line = say::pair(locale, &line, &reason);
        }
        lines.push(line);
    }
    if view.impact_unknown {
        lines.push(format!("❓ {}", say::impact_question(locale)));
    }
    for note in analysis.safety_notes.iter().take(room.notes) {
        let note = ink.text(note, room.summary / 2);
        if !note.is_empty() {
            lines.push(format!("⚠ {note}"));
        }
    }
    if analysis.safety_notes.len() > room.notes {
        ink.note_cut();
    }
    lines
}

fn stop_the_bleeding(steps: &[NextStep], view: &View, room: &Room, ink: &Ink) -> Option<Embed> {
    if steps.is_empty() {
        return None;
    }
    let mut lines: Vec<String> = Vec::new();
    for step in steps {
        lines.extend(super::checklist::step_lines(step, None, room.step, ink));
    }
    Some(Embed {
        title: format!("🩹 {}", say::stop_the_bleeding(view.locale)),
        description: lines.join("\n"),
        color: STOP_COLOR,
        footer: say::stop_the_bleeding_hint(view.locale).to_owned(),
        ..Embed::default()
    })
}

/// A card before it is an embed or text.
pub(super) struct Card {
    pub(super) badge: String,
    pub(super) title: String,
    pub(super) lines: Vec<String>,
}

impl Card {
    fn embed(self, hypothesis: &Hypothesis) -> Embed {
        Embed {
            author: self.badge,
            title: self.title,
            description: self.lines.join("\n"),
            color: match (hypothesis.source, hypothesis.analogy) {
                (Source::Memory, false) => MEMORY_COLOR,
                (Source::Memory, true) => ANALOGY_COLOR,
                (Source::CurrentEvidence, _) => EVIDENCE_COLOR,
                (Source::GeneralPractice, _) => GENERAL_COLOR,
            },
            ..Embed::default()
        }
    }
}

/// `PROVEN 3x · last 14 May · rule score 94 · high`.
pub(super) fn record_line(hypothesis: &Hypothesis, ink: &Ink) -> String {
    let locale = ink.locale;
    let record = &hypothesis.record;
    let mut parts = vec![ink.bold(&say::record(locale, record))];
    let day = record.newest_at.map(|at| ink.day(at));
    if record.worked + record.failed > 0 {
        parts.extend(say::last_time(locale, record, day.as_deref()));
    }
    if record.worked > 0 && record.failed > 0 {
        parts.push(say::mixed(locale).to_owned());
    }
    parts.push(say::score(locale, hypothesis.score));
    if hypothesis.score.is_some() {
        parts.push(say::confidence(locale, hypothesis.label).to_owned());
    }
    parts.join(" · ")
}

pub(super) fn card(
    hypothesis: &Hypothesis,
    index: usize,
    view: &View,
    room: &Room,
    ink: &Ink,
) -> Card {
    let locale = view.locale;
    let mut lines = vec![record_line(hypothesis, ink)];
    let since = view.contradicted_since(index);
    for contradiction in hypothesis.contradicted_by.iter().chain(since) {
        if lines.len() > room.quotes {
            ink.note_cut();
            break;
        }
        let quote = ink.code(&contradiction.quote, room.quote);
        let author = contradiction
            .author
            .as_deref()
            .map(|author| ink.text(author, 40));
        lines.push(format!(
            "⚠ {}",
            say::contradicted_by(locale, &quote, author.as_deref())
        ));
    }
    lines.extend(state_lines(index, view, ink));

    let fix = ink.text(&hypothesis.fix, room.fix);
    if !fix.is_empty() {
        let label = if fix_failed(hypothesis) {
            say::failed_fix_label(locale)
        } else {
            say::fix_label(locale)
        };
        let mut line = format!("{} {fix}", ink.label(label));
        if let Some(id) = hypothesis.fix_ref {
            let mut about = vec![say::from_incident(locale, id)];
            if let Some(cited) = hypothesis.refs.iter().find(|cited| cited.id == id) {
                about.extend(cited.environment.as_deref().map(|env| ink.text(env, 30)));
                about.extend(cited.at.map(|at| ink.ago(at)));
            }
            about.retain(|part| !part.is_empty());
            line.push_str(&say::aside(locale, &about.join(" · ")));
        }
        lines.push(line);
        // R18 holds for fixes as for steps.
        if destroys(&hypothesis.fix) {
            lines.push(warning(ink));
        }
        lines.extend(tried_line(hypothesis, view, ink));
    }
    let verify = ink.text(&hypothesis.verify, room.verify);
    if !verify.is_empty() {
        lines.push(format!("{} {verify}", ink.label(say::check_label(locale))));
    }

    let evidence = evidence_lines(hypothesis, room, ink);
    if !evidence.is_empty() {
        lines.push(ink.label(say::evidence_label(locale)));
        lines.extend(evidence);
    }
    let limits = limits(hypothesis, ink);
    if !limits.is_empty() {
        lines.push(format!(
            "{} {}",
            ink.label(say::limits_label(locale)),
            limits.join(" · ")
        ));
    }
    Card {
        badge: say::badge(locale, hypothesis.source, hypothesis.analogy).to_owned(),
        title: cut(
            &format!(
                "{} · {}",
                index + 1,
                ink.text(&hypothesis.title, room.title)
            ),
            EMBED_TITLE,
        ),
        lines,
    }
}

/// `Tried 3 times on payments-api: held 1, failed 2 · last 14 May 2026 in prod`, and what keeps it
/// from applying now.
fn tried_line(hypothesis: &Hypothesis, view: &View, ink: &Ink) -> Option<String> {
    let locale = ink.locale;
    let tried = hypothesis.record.tried.as_ref()?;
    let service = ink.text(view.service.as_deref()?, 60);
    let mut parts = vec![say::tried_here(locale, tried, &service)];
    let day = tried.last_at.map(|at| ink.day(at));
    let environment = tried
        .last_environment
        .as_deref()
        .map(|name| ink.text(name, 30))
        .filter(|name| !name.is_empty());
    parts.push(say::last_tried_in(
        locale,
        day.as_deref(),
        environment.as_deref(),
    ));
    if tried.long_ago {
        parts.push(format!("⚠ {}", say::long_ago(locale)));
    }
    if tried.other_environment {
        parts.push(format!("⚠ {}", say::other_environment(locale)));
    }
    parts.retain(|part| !part.is_empty());
    Some(parts.join(" · "))
}

/// The fix failed at its newest attempt, or at least as often as it worked (R17).
fn fix_failed(hypothesis: &Hypothesis) -> bool {
    let record = &hypothesis.record;
    record.failed > 0 && (record.newest_failed || record.failed >= record.worked)
}

fn evidence_lines(hypothesis: &Hypothesis, room: &Room, ink: &Ink) -> Vec<String> {
    let mut lines = Vec::new();
    for cited in hypothesis.refs.iter().take(room.full_refs) {
        let mut line = precedent_line(
            &Precedent {
                id: cited.id,
                grade: cited.grade,
                outcome: cited.outcome,
                service: cited.service.clone(),
                at: cited.at,
                minutes: cited.minutes,
                fragment: cited.fragment,
            },
            ink,
        );
        if cited.added_by_code {
            line.push_str(&format!(" · {}", say::added_by_rule(ink.locale)));
        }
        lines.push(format!("- {line}"));
    }
    let rest = hypothesis
        .refs
        .get(room.full_refs.min(hypothesis.refs.len())..)
        .unwrap_or_default();
    if !rest.is_empty() {
        let mut short: Vec<String> = rest
            .iter()
            .take(room.short_refs)
            .map(|cited| format!("{} {}", cited.id, say::outcome(ink.locale, cited.outcome)))
            .collect();
        if rest.len() > room.short_refs {
            ink.note_cut();
            short.push(say::and_more(ink.locale, rest.len() - room.short_refs));
        }
        lines.push(format!("- {}", short.join("; ")));
    }
    for quote in hypothesis.evidence.iter().take(room.quotes) {
        let quote = ink.code(quote, room.quote);
        if !quote.is_empty() {
            lines.push(format!("- {quote}"));
        }
    }
    if hypothesis.evidence.len() > room.quotes {
        ink.note_cut();
    }
    lines
}

fn limits(hypothesis: &Hypothesis, ink: &Ink) -> Vec<String> {
    let locale = ink.locale;
    let record = &hypothesis.record;
    let mut limits = Vec::new();
    // Also beside a quote of the report: what it cites of history is another service's.
    let only_analogies = !hypothesis.refs.is_empty()
        && hypothesis
            .refs
            .iter()
            .all(|cited| cited.grade == Grade::Analogy);
    if hypothesis.analogy || only_analogies {
        let mut services: Vec<String> = hypothesis
            .refs
            .iter()
            .filter(|cited| cited.grade == Grade::Analogy)
            .map(|cited| match cited.service.as_deref() {
                Some(service) => ink.text(service, 60),
                None => say::another_service(locale).to_owned(),
            })
            .collect();
        services.dedup();
        services.truncate(3);
        if services.is_empty() {
            services.push(say::another_service(locale).to_owned());
        }
        limits.push(say::analogy_limit(locale, &services.join(", ")));
    }
    if record.stale {
        limits.push(say::stale(locale).to_owned());
    }
    if record.date_unknown {
        limits.push(say::date_unknown(locale).to_owned());
    }
    if record.other_cause > 0 {
        limits.push(say::look_alikes(locale, record.other_cause));
    }
    let note = &hypothesis.ruled_out_note;
    if hypothesis.ruled_out {
        limits.push(say::was_not_it_before(locale, &ids(note, 5)));
    } else if !note.is_empty() {
        limits.push(say::excluded_once(locale, &ids(note, 5)));
    }
    limits
}

/// What people said about this card.
pub(super) fn state_lines(index: usize, view: &View, ink: &Ink) -> Vec<String> {
    let locale = view.locale;
    let mut lines = Vec::new();
    match view.cause(index) {
        CauseState::Open => {}
        CauseState::Confirmed(by) => {
            lines.push(ink.bold(&say::confirmed_by(
                locale,
                &ink.text(&by.name, 40),
                &ink.clock(by.at),
            )));
        }
        CauseState::NotIt(by) => {
            lines.push(ink.bold(&say::not_it_by(
                locale,
                &ink.text(&by.name, 40),
                &ink.clock(by.at),
            )));
        }
    }
    match view.fix(index) {
        FixState::Untried => {}
        FixState::Trying(by) => {
            lines.push(ink.bold(&say::trying_by(
                locale,
                &ink.text(&by.name, 40),
                &ink.clock(by.at),
            )));
        }
        FixState::Outcome(outcome, by) => {
            let words =
                say::outcome_by(locale, *outcome, &ink.text(&by.name, 40), &ink.clock(by.at));
            lines.push(ink.bold(&words));
        }
    }
    lines
}

pub(super) fn idea_lines(analysis: &Analysis, room: &Room, ink: &Ink) -> Vec<String> {
    let mut lines = Vec::new();
    for idea in analysis.general_ideas.iter().take(room.ideas) {
        let title = ink.text(&idea.title, room.idea);
        let verify = ink.text(&idea.verify, room.idea);
        match (title.is_empty(), verify.is_empty()) {
            (true, _) => {}
            (false, true) => lines.push(format!("- {title}")),
            (false, false) => lines.push(format!("- {title} → {verify}")),
        }
    }
    if analysis.general_ideas.len() > room.ideas {
        ink.note_cut();
        lines.push(say::and_more(
            ink.locale,
            analysis.general_ideas.len() - room.ideas,
        ));
    }
    lines
}

fn general_ideas(analysis: &Analysis, room: &Room, ink: &Ink) -> Option<Embed> {
    let lines = idea_lines(analysis, room, ink);
    (!lines.is_empty()).then(|| Embed {
        author: say::badge(ink.locale, Source::GeneralPractice, false).to_owned(),
        description: format!("{}\n{}", say::general_ideas(ink.locale), lines.join("\n")),
        color: GENERAL_COLOR,
        ..Embed::default()
    })
}

/// `INC-0041, INC-0052`, at most `most` of them.
pub(super) fn ids(refs: &[IncidentId], most: usize) -> String {
    let shown: Vec<String> = refs.iter().take(most).map(IncidentId::to_string).collect();
    let more = if refs.len() > most { ", …" } else { "" };
    format!("{}{more}", shown.join(", "))
}

fn id_list(refs: &[IncidentId], most: usize, ink: &Ink) -> String {
    if refs.len() <= most {
        return ids(refs, most);
    }
    ink.note_cut();
    let shown = refs.get(..most).unwrap_or(refs);
    format!(
        "{}, {}",
        ids(shown, most),
        say::and_more(ink.locale, refs.len() - most)
    )
}

/// A row a hypothesis, and the select that opens what is cited.
fn rows(analysis: &Analysis, view: &View) -> Vec<Row> {
    let Some(incident) = view.incident else {
        return Vec::new();
    };
    let locale = view.locale;
    let off = view.superseded_by.is_some();
    let mut rows: Vec<Row> = analysis
        .hypotheses
        .iter()
        .take(CARDS)
        .enumerate()
        .map(|(index, hypothesis)| {
            let at = CardRef {
                incident,
                analysis: view.analysis,
                hypothesis: u8::try_from(index).unwrap_or(u8::MAX),
            };
            Row::Buttons(card_buttons(hypothesis, index, at, view, locale, off))
        })
        .collect();
    let choices = choices(analysis, locale);
    if !choices.is_empty() {
        rows.push(Row::Select {
            action: Action::OpenPast {
                incident,
                analysis: view.analysis,
            },
            placeholder: say::open_past_placeholder(locale).to_owned(),
            choices,
            many: false,
            disabled: false,
        });
    }
    if can_try_again(analysis) && rows.len() < ROWS {
        let retry = Button::new(Action::TryAgain { incident }, say::button_try_again(locale));
        rows.push(Row::Buttons(vec![retry.style(Style::Primary).off(off)]));
    }
    if (nothing_known(analysis) || view.impact_unknown)
        && view.status.is_open()
        && rows.len() < ROWS
    {
        let ask = |what| Button::new(Action::Tell { incident, what }, say::asked(locale, what));
        let asked = Asked::ALL.into_iter().map(|what| ask(what).off(off));
        rows.push(Row::Buttons(asked.collect()));
    }
    rows
}

/// A fallback may be asked again, unless it is only provisional.
fn can_try_again(analysis: &Analysis) -> bool {
    matches!(
        &analysis.engine,
        Engine::Fallback { reason }
            if !matches!(reason, FallbackReason::StillWaiting | FallbackReason::NotConfigured)
    )
}

/// Whether *Try again* has to stand on the checklist: the cards have no row left for it.
pub(super) fn try_again_elsewhere(analysis: &Analysis) -> bool {
    let select = usize::from(!choices(analysis, Locale::En).is_empty());
    can_try_again(analysis) && analysis.hypotheses.len().min(CARDS) + select >= ROWS
}

fn card_buttons(
    hypothesis: &Hypothesis,
    index: usize,
    at: CardRef,
    view: &View,
    locale: Locale,
    off: bool,
) -> Vec<Button> {
    let named = |words: &str| cut(&format!("{} {words}", index + 1), BUTTON_LABEL);
    let cause = view.cause(index);
    let confirmed = matches!(cause, CauseState::Confirmed(_));
    let excluded = matches!(cause, CauseState::NotIt(_));
    let chosen = |is: bool, style: Style| if is { style } else { Style::Secondary };
    let mut buttons = vec![
        Button::new(Action::CauseConfirmed(at), named(say::button_cause(locale)))
            .style(chosen(confirmed, Style::Success)),
        Button::new(Action::NotIt(at), named(say::button_not_it(locale)))
            .style(chosen(excluded, Style::Danger)),
    ];
    if !hypothesis.fix.trim().is_empty() {
        match view.fix(index) {
            // Not offered again; who tries it all the same says so in the thread.
            FixState::Untried if fix_failed(hypothesis) => {}
            FixState::Untried => buttons.push(
                Button::new(Action::TryingFix(at), named(say::button_trying(locale)))
                    .style(chosen(index == 0 && !excluded, Style::Primary)),
            ),
            state => {
                let outcome = match state {
                    FixState::Outcome(outcome, _) => Some(*outcome),
                    _ => None,
                };
                let worked = matches!(outcome, Some(Outcome::Held | Outcome::Mitigated));
                let refuted = |of: Outcome| {
                    outcome == Some(of)
                        || (of == Outcome::NoEffect
                            && outcome.is_some_and(|o| {
                                o.standing() == Standing::Refuted && o != Outcome::MadeWorse
                            }))
                };
                buttons.push(
                    Button::new(Action::Worked(at), named(say::button_worked(locale)))
                        .style(chosen(worked, Style::Success)),
                );
                buttons.push(
                    Button::new(Action::NoEffect(at), named(say::button_no_effect(locale)))
                        .style(chosen(refuted(Outcome::NoEffect), Style::Danger)),
                );
                buttons.push(
                    Button::new(Action::MadeWorse(at), named(say::button_made_worse(locale)))
                        .style(chosen(refuted(Outcome::MadeWorse), Style::Danger)),
                );
            }
        }
    }
    buttons.into_iter().map(|button| button.off(off)).collect()
}

/// Cited incidents first, with the cards that cite them, then what else was recalled.
fn choices(analysis: &Analysis, locale: Locale) -> Vec<Choice> {
    let mut cited: BTreeMap<IncidentId, (Vec<usize>, String)> = BTreeMap::new();
    let mut order = Vec::new();
    for (index, hypothesis) in analysis.hypotheses.iter().take(CARDS).enumerate() {
        // Of a fragment there is nothing to open.
        for one in hypothesis.refs.iter().filter(|one| !one.fragment) {
            let about = format!(
                "{} · {}",
                say::grade(locale, one.grade),
                say::outcome(locale, one.outcome)
            );
            let entry = cited.entry(one.id).or_insert_with(|| {
                order.push(one.id);
                (Vec::new(), about)
            });
            entry.0.push(index + 1);
        }
    }
    for id in &analysis.memory.refs {
        if !cited.contains_key(id) && !order.contains(id) {
            order.push(*id);
        }
    }
    order
        .into_iter()
        .take(OPTIONS)
        .map(|id| {
            let (label, description) = match cited.get(&id) {
                Some((cards, about)) => {
                    let cards: Vec<String> = cards.iter().map(usize::to_string).collect();
                    (
                        format!("{id} · {about}"),
                        say::cited_in(locale, &cards.join(", ")),
                    )
                }
                None => (id.to_string(), String::new()),
            };
            Choice {
                value: id.number().to_string(),
                label: plain(&label),
                description,
                chosen: false,
            }
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::super::By;
    use super::super::checks::{analysis, assert_legal, sample, view};
    use super::*;
    use crate::incident::FallbackReason;
    use crate::validation::analysis::GeneralIdea;

    fn labels(post: &Post) -> Vec<Vec<String>> {
        let rows = post.payload["components"]
            .as_array()
            .cloned()
            .unwrap_or_default();
        rows.iter()
            .map(|row| {
                let parts = row["components"].as_array().cloned().unwrap_or_default();
                parts
                    .iter()
                    .map(|part| {
                        let words = part["label"].as_str().or(part["placeholder"].as_str());
                        let off = if part["disabled"] == true {
                            " (off)"
                        } else {
                            ""
                        };
                        format!("{}{off}", words.unwrap_or_default())
                    })
                    .collect()
            })
            .collect()
    }

    fn described(post: &Post) -> String {
        let embeds = post.payload["embeds"]
            .as_array()
            .cloned()
            .unwrap_or_default();
        let mut out = vec![
            post.payload["content"]
                .as_str()
                .unwrap_or_default()
                .to_owned(),
        ];
        for embed in &embeds {
            for part in [
                &embed["author"]["name"],
                &embed["title"],
                &embed["description"],
            ] {
                out.extend(part.as_str().map(str::to_owned));
            }
        }
        out.join("\n")
    }

    #[test]
    fn cards_begin_with_the_record() {
        let post = cards(&analysis(sample()), &view(Locale::En));
        assert_legal(&post);
        assert!(post.files.is_empty());
        insta::assert_snapshot!(described(&post), @r"

        **Memory** Seen here: some fixes held, some failed (3 here: 2 held, 1 failed, 0 unknown; 1 elsewhere; searched 143, 12 on this service)
        **In short** Intermittent 503s since 02:51, upstream answers 429; the database pool is at 30 %.
        **Severity** SEV2 (proposed by the model): many checkouts fail, no workaround
        ⚠ Payments: no change without a second pair of eyes
        🩹 Stop the bleeding
        🟡 reversible · Lower retry_max_attempts to 2 in the gateway configuration
         `kubectl set env deploy/payments-api RETRY_MAX_ATTEMPTS=2`
         expect: 429s fall within 5 minutes (model's estimate) · undo: kubectl set env deploy/payments-api RETRY_MAX_ATTEMPTS=5
        ▣ FROM MEMORY
        1 · Gateway rate limit on retries
        **WORKED TWICE HERE** · last <t:1778728200:D> · rule score 82 · high
        **Fix** Lower retry_max_attempts from 5 to 2 and raise the gateway quota (from INC-0041 · production · <t:1778728200:R>)
        **Check** Compare the gateway's 429 rate with the client's retry rate over the last 30 minutes
        **Evidence**
        - **INC-0041** · direct match · held · <t:1778728200:D> · resolved in 41 min
        - **INC-0012** · direct match · held · <t:1770088200:D> · resolved in 41 min
        - `upstream returned 429 Too Many Requests`
        ❝ FROM THIS REPORT
        2 · Deploy of 02:40 changed the retry policy
        **NOT PROVEN** · rule score 30 · low
        **Check** Diff the retry settings of the running and the previous release
        **Evidence**
        - `deploy payments-api v2.31.0 at 02:40`
        ≈ ANALOGY
        3 · Retry storm after a slow dependency
        **OTHER SERVICE ONLY** · rule score 54 · medium
        **Check** Look at the latency of each dependency for the same minutes
        **Evidence**
        - **INC-0031** · analogy · order-service · held · <t:1763608200:D> · resolved in 41 min
        **Limits** analogy from order-service: its internals are not assumed here
        ▣ FROM MEMORY
        4 · Connection pool exhausted
        **FAILED HERE 1x** · last time (<t:1777691400:D>) it failed · rule score 12 · low
        ⚠ contradicted by `DB pool at 30 %` (alice)
        **Failed fix** Raise maximumPoolSize to 40 (from INC-0052 · production · <t:1777691400:R>)
        **Check** Read the pool gauge for each instance
        **Evidence**
        - **INC-0052** · direct match · no effect · <t:1777691400:D> · resolved in 41 min
        ");
    }

    #[test]
    fn no_score_is_shown_as_a_percentage() {
        for locale in [Locale::En, Locale::Zh] {
            let post = cards(&analysis(sample()), &view(locale));
            let mut text = described(&post);
            // The report's own words may hold one.
            text = text.replace("30 %", "");
            assert!(!text.contains('%'), "{text}");
        }
    }

    #[test]
    fn buttons_follow_what_people_did() {
        let mut view = view(Locale::En);
        let by = By {
            name: "alice".into(),
            at: view.now,
        };
        view.fixes = vec![FixState::Trying(by.clone())];
        view.causes = vec![CauseState::Open, CauseState::NotIt(by)];
        insta::assert_debug_snapshot!(labels(&cards(&analysis(sample()), &view)), @r#"
        [
            [
                "1 Cause confirmed",
                "1 Not it",
                "1 Worked",
                "1 No effect",
                "1 Made it worse",
            ],
            [
                "2 Cause confirmed",
                "2 Not it",
            ],
            [
                "3 Cause confirmed",
                "3 Not it",
            ],
            [
                "4 Cause confirmed",
                "4 Not it",
            ],
            [
                "Open a past incident (only you see it)",
            ],
        ]
        "#);
        view.superseded_by = Some(2);
        let post = cards(&analysis(sample()), &view);
        let rows = labels(&post);
        assert!(
            rows.iter()
                .take(4)
                .flatten()
                .all(|label| label.ends_with("(off)")),
            "{rows:?}"
        );
        assert!(described(&post).starts_with("**⏹ Replaced by analysis 2"));
    }

    #[test]
    fn without_a_cause_one_card_says_so() {
        let mut shown = sample();
        shown.engine = Engine::Fallback {
            reason: FallbackReason::RateLimited {
                retry_after_seconds: Some(61),
            },
        };
        shown.hypotheses.clear();
        shown.cause_not_determined = true;
        shown.general_ideas = vec![
            GeneralIdea {
                title: "A recent change".into(),
                verify: "List deploys of the last 2 h".into(),
                score: None,
            },
            GeneralIdea {
                title: "Saturation".into(),
                verify: String::new(),
                score: Some(30),
            },
        ];
        let post = cards(&analysis(shown), &view(Locale::En));
        assert_legal(&post);
        insta::assert_snapshot!(described(&post), @r"
        **⚠ rule-based: the model did not answer (429, retry in 61 s)**
        **Memory** Seen here: some fixes held, some failed (3 here: 2 held, 1 failed, 0 unknown; 1 elsewhere; searched 143, 12 on this service)
        Also recalled: INC-0041, INC-0012, INC-0052, INC-0031
        **In short** Intermittent 503s since 02:51, upstream answers 429; the database pool is at 30 %.
        **Severity** SEV2 (proposed by the model): many checkouts fail, no workaround
        ⚠ Payments: no change without a second pair of eyes
        ❔ Cause not determined
        Neither memory nor the report supports a cause yet. The checks in the list below narrow it down; what would help most: who is affected, since when, and what changed before.
        ○ GENERAL PRACTICE
        General ideas, not from memory or the report
        - A recent change → List deploys of the last 2 h
        - Saturation
        ");
        insta::assert_debug_snapshot!(labels(&post), @r#"
        [
            [
                "Open a past incident (only you see it)",
            ],
            [
                "Try again",
            ],
        ]
        "#);
    }

    #[test]
    fn what_was_cut_is_said_and_attached() {
        let mut shown = sample();
        for hypothesis in &mut shown.hypotheses {
            hypothesis.fix = "restart the gateway and wait ".repeat(80);
        }
        let post = cards(&analysis(shown), &view(Locale::En));
        assert_legal(&post);
        assert!(
            described(&post).starts_with("✂ Shortened to fit"),
            "{}",
            described(&post)
        );
        assert_eq!(
            post.files.first().map(|file| file.name.as_str()),
            Some("analysis-INC-0107.md")
        );
        for kept in [
            "WORKED TWICE HERE",
            "INC-0041",
            "INC-0012",
            "INC-0052",
            "INC-0031",
            "3 here: 2 held",
        ] {
            assert!(described(&post).contains(kept), "{kept}");
        }
    }
}

//! An analysis as plain text: for the command line, and for the file that holds what was cut.

use super::cards::{self, FULL};
use super::checklist::{self, Numbered};
use super::ink::Ink;
use super::{View, headline, say, update};
use crate::validation::Analysis;
use crate::validation::analysis::Audience;

/// Everything that the messages say, uncut.
pub fn text(analysis: &Analysis, view: &View) -> String {
    let locale = view.locale;
    let ink = Ink::plain(locale, view.now);
    let mut parts: Vec<String> = Vec::new();

    let mut head = vec![headline::title_line(view)];
    for ongoing in &view.ongoing {
        let service = ink.text(&ongoing.service, usize::MAX / 8);
        let since = ink.clock(ongoing.since);
        head.push(format!(
            "⚠ {}",
            say::one_outage(locale, &service, &since, ongoing.id)
        ));
    }
    head.extend(
        view.back_after
            .map(|(id, days)| format!("↩ {}", say::back_after(locale, id, days))),
    );
    head.push(headline::deciding_line(analysis, view, &ink));
    let mut foot: Vec<String> = view.incident.map(|id| id.to_string()).into_iter().collect();
    foot.push(say::status(locale, view.status).to_owned());
    head.push(foot.join(" · "));
    parts.push(head.join("\n"));

    let mut above = cards::heading(analysis, view, &ink);
    above.extend(cards::verdict_lines(analysis, view, &FULL, &ink));
    parts.push(above.join("\n"));

    let bleeding = super::bleeding::steps(analysis, view);
    if !bleeding.is_empty() {
        let mut lines = vec![title(say::stop_the_bleeding(locale))];
        for step in &bleeding {
            lines.extend(checklist::step_lines(step, None, FULL_LINE, &ink));
        }
        parts.push(lines.join("\n"));
    }
    if analysis.cause_not_determined || analysis.hypotheses.is_empty() {
        parts.push(format!(
            "{}\n{}",
            title(say::cause_not_determined(locale)),
            say::cause_not_determined_hint(locale)
        ));
    }
    if cards::nothing_known(analysis) && !view.knows.is_empty() {
        let head = title(&view.knows.title(&ink));
        parts.push(format!("{head}\n{}", view.knows.lines(&ink).join("\n")));
    }
    for (index, hypothesis) in analysis.hypotheses.iter().enumerate() {
        let card = cards::card(hypothesis, index, view, &FULL, &ink);
        let head = format!("{}  [{}]", card.title, card.badge);
        parts.push(format!("{}\n{}", title(&head), card.lines.join("\n")));
    }
    let ideas = cards::idea_lines(analysis, &FULL, &ink);
    if !ideas.is_empty() {
        parts.push(format!(
            "{}\n{}",
            title(say::general_ideas(locale)),
            ideas.join("\n")
        ));
    }

    let mut steps = vec![title(say::next_steps(locale))];
    for (index, step) in analysis.next_steps.iter().enumerate() {
        let tick = view.ticks.iter().find(|tick| tick.step == index);
        let numbered = Numbered {
            number: index + 1,
            tick,
            approval: view.approvals.iter().find(|asked| asked.step == index),
            owner: super::checklist::owner_of(view, index),
        };
        steps.extend(checklist::step_lines(step, Some(numbered), FULL_LINE, &ink));
    }
    parts.push(steps.join("\n"));
    let repeat = checklist::repeat_lines(&analysis.do_not_repeat, FULL_LINE, usize::MAX, &ink);
    if !repeat.is_empty() {
        parts.push(format!(
            "{}\n{}",
            title(say::do_not_repeat(locale)),
            repeat.join("\n")
        ));
    }
    let ruled_out = checklist::ruled_out_lines(&analysis.ruled_out, FULL_LINE, usize::MAX, &ink);
    if !ruled_out.is_empty() {
        parts.push(format!(
            "{}\n{}",
            title(say::was_not_it(locale)),
            ruled_out.join("\n")
        ));
    }
    parts.push(format!(
        "{}\n{}",
        title(&format!(
            "{} · {}",
            say::update_hint(locale),
            say::audience(locale, view.audience)
        )),
        update::update_text(analysis, view.audience, view)
    ));
    if view.audience != Audience::Internal {
        parts.push(update::update_text(analysis, Audience::Internal, view));
    }
    format!("{}\n", parts.join("\n\n"))
}

const FULL_LINE: usize = usize::MAX / 8;

fn title(words: &str) -> String {
    format!("== {words}")
}

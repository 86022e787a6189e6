//! Next steps: risk first, commands in code spans, who ticked what and when.
//!
//! A destructive command stands in no code span and no block (R18), and asks for a named approver.

use super::custom_id::Action;
use super::escape::{cut, plain};
use super::ink::Ink;
use super::payload::{Button, Choice, Embed, Message, OPTION_TEXT, OPTIONS, Row, Style};
use super::{Approval, By, File, Post, Slot, Tick, View, say};
use crate::incident::Outcome;
use crate::incident::proposal::Risk;
use crate::validation::analysis::{DoNotRepeat, NextStep, RuledOut};
use crate::validation::{Analysis, names_a_duration, risk};

const COLOR: u32 = 0x4E_A8_6B;
const WARN_COLOR: u32 = 0xB9_6A_2C;

/// Characters of a step, of its command, and how many are shown, from calm to cramped.
const ROOMS: [(usize, usize, usize); 6] = [
    (300, 400, 25),
    (200, 240, 20),
    (140, 160, 15),
    (100, 110, 12),
    (70, 80, 10),
    (50, 50, 7),
];

/// The checklist of an analysis.
pub fn checklist(analysis: &Analysis, view: &View) -> Post {
    let mut message = Message::default();
    let mut was_cut = false;
    for room in ROOMS {
        let ink = Ink::discord(view.locale, view.now);
        message = compose(analysis, view, room, &ink);
        was_cut = ink.has_cut();
        if message.fits() {
            break;
        }
    }
    if was_cut {
        message.files.push(File {
            name: view.file_name("checklist"),
            text: super::text::text(analysis, view),
        });
    }
    message.post(Slot::Checklist)
}

fn compose(analysis: &Analysis, view: &View, room: (usize, usize, usize), ink: &Ink) -> Message {
    let locale = view.locale;
    let (words, command, count) = room;
    let mut lines = Vec::new();
    for (index, step) in analysis.next_steps.iter().take(count).enumerate() {
        let tick = view.ticks.iter().find(|tick| tick.step == index);
        let numbered = Numbered {
            number: index + 1,
            tick,
            approval: view.approvals.iter().find(|asked| asked.step == index),
            owner: owner_of(view, index),
        };
        let step = step_lines_with(step, Some(numbered), words, command, ink);
        // A step of several lines is set off from the next.
        let set_off = step.len() > 1 && index + 1 < analysis.next_steps.len();
        lines.extend(step);
        if set_off {
            lines.push(String::new());
        }
    }
    if analysis.next_steps.len() > count {
        ink.note_cut();
        lines.push(say::and_more(locale, analysis.next_steps.len() - count));
    }
    if lines.is_empty() {
        lines.push(say::nothing_to_do(locale).to_owned());
    }
    let mut embeds = vec![Embed {
        title: format!("☑ {}", say::next_steps(locale)),
        description: lines.join("\n"),
        color: COLOR,
        ..Embed::default()
    }];
    let repeat = repeat_lines(&analysis.do_not_repeat, words, count, ink);
    if !repeat.is_empty() {
        embeds.push(Embed {
            title: format!("⛔ {}", say::do_not_repeat(locale)),
            description: repeat.join("\n"),
            color: WARN_COLOR,
            ..Embed::default()
        });
    }
    let ruled_out = ruled_out_lines(&analysis.ruled_out, words, count, ink);
    if !ruled_out.is_empty() {
        embeds.push(Embed {
            title: format!("✘ {}", say::was_not_it(locale)),
            description: ruled_out.join("\n"),
            color: WARN_COLOR,
            ..Embed::default()
        });
    }
    let mut content = Vec::new();
    if let Some(by) = view.superseded_by {
        content.push(ink.bold(&say::superseded(locale, by)));
    }
    if ink.has_cut() {
        content.push(format!("✂ {}", say::cut_note(locale)));
    }
    Message {
        content: content.join("\n"),
        embeds,
        rows: rows(analysis, view),
        ..Message::default()
    }
}

/// The place of a step in the list, who ticked it, who answers for it, and who has it.
#[derive(Clone, Copy)]
pub(super) struct Numbered<'a> {
    pub(super) number: usize,
    pub(super) tick: Option<&'a Tick>,
    pub(super) approval: Option<&'a Approval>,
    pub(super) owner: Option<&'a By>,
}

pub(super) fn owner_of(view: &View, step: usize) -> Option<&By> {
    let owners = &view.running.owners;
    let owner = owners.iter().find(|owner| owner.step == step);
    owner.map(|owner| &owner.by)
}

pub(super) fn step_lines(
    step: &NextStep,
    numbered: Option<Numbered<'_>>,
    room: usize,
    ink: &Ink,
) -> Vec<String> {
    step_lines_with(step, numbered, room, room.saturating_mul(2), ink)
}

fn step_lines_with(
    step: &NextStep,
    numbered: Option<Numbered<'_>>,
    words: usize,
    command: usize,
    ink: &Ink,
) -> Vec<String> {
    let locale = ink.locale;
    let done = numbered.and_then(|numbered| numbered.tick);
    let mut head = String::new();
    if let Some(numbered) = numbered {
        head.push_str(if done.is_some() { "✅ " } else { "⬜ " });
        head.push_str(&ink.bold(&numbered.number.to_string()));
        head.push(' ');
    }
    head.push_str(say::risk(locale, step.risk));
    head.push_str(" · ");
    head.push_str(&ink.text(&step.step, words));
    if step.standard {
        head.push_str(&say::aside(locale, say::standard_mark(locale)));
    }
    let mut lines = vec![head];
    let mut people = Vec::new();
    if let Some(by) = numbered.and_then(|numbered| numbered.owner) {
        people.push(say::taken_by(locale, &ink.text(&by.name, 40)));
    }
    if let Some(tick) = done {
        let who = say::ticked_by(locale, &ink.text(&tick.by.name, 40), &ink.clock(tick.by.at));
        people.push(who);
    }
    if !people.is_empty() {
        lines.push(indent(&people.join(" · ")));
    }
    if !step.command.trim().is_empty() {
        // R18: destructive ones are not offered for copying.
        let command = if step.needs_approver() {
            ink.text(&step.command, command)
        } else {
            ink.code(&step.command, command)
        };
        lines.push(indent(&command));
    }
    if step.needs_approver() {
        let mut warning = warning(ink);
        let approval = numbered.map(|numbered| numbered.approval);
        if approval == Some(None) {
            warning.push_str(&say::aside(locale, say::ticking_asks(locale)));
        }
        lines.push(indent(&warning));
        if let Some(Some(approval)) = approval {
            lines.push(indent(&super::approval::state_line(approval, ink)));
        }
    }
    let timed = |text: &str| {
        let mut shown = ink.text(text, words);
        if step.estimated && names_a_duration(text) {
            shown.push_str(&say::aside(locale, say::estimate_mark(locale)));
        }
        shown
    };
    if step.changes_something() {
        let known = |text: &str| {
            if text.trim().is_empty() {
                say::not_known(locale).to_owned()
            } else {
                timed(text)
            }
        };
        lines.push(indent(&format!(
            "{} · {}",
            say::pair(locale, say::expect_label(locale), &known(&step.expect)),
            say::pair(locale, say::undo_label(locale), &known(&step.undo))
        )));
    } else if !step.expect.trim().is_empty() {
        lines.push(indent(&say::pair(
            locale,
            say::expect_label(locale),
            &timed(&step.expect),
        )));
    }
    lines
}

/// What stands at everything that destroys (R18).
pub(super) fn warning(ink: &Ink) -> String {
    format!("⚠ {}", ink.bold(say::needs_approver(ink.locale)))
}

/// Whether doing what a text says destroys data or state.
pub(super) fn destroys(text: &str) -> bool {
    !text.trim().is_empty() && risk::of_step(text, "") == Risk::Destructive
}

/// Set in from the left; a plain space would be dropped.
fn indent(line: &str) -> String {
    format!("\u{2003}{line}")
}

pub(super) fn repeat_lines(
    list: &[DoNotRepeat],
    room: usize,
    most: usize,
    ink: &Ink,
) -> Vec<String> {
    let locale = ink.locale;
    let mut lines: Vec<String> = list
        .iter()
        .take(most)
        .map(|entry| {
            let fix = ink.text(&entry.fix, room);
            let mut about = vec![say::failures(locale, entry.failed.max(1), entry.held)];
            if entry.outcome != Outcome::Unknown {
                about.push(say::outcome(locale, entry.outcome).to_owned());
            }
            about.push(if entry.refs.is_empty() {
                say::in_this_incident(locale).to_owned()
            } else {
                super::cards::ids(&entry.refs, 8)
            });
            say::pair(locale, &format!("- {fix}"), &about.join(" · "))
        })
        .collect();
    if list.len() > most {
        ink.note_cut();
        lines.push(say::and_more(locale, list.len() - most));
    }
    lines
}

pub(super) fn ruled_out_lines(
    list: &[RuledOut],
    room: usize,
    most: usize,
    ink: &Ink,
) -> Vec<String> {
    let mut lines: Vec<String> = list
        .iter()
        .take(most)
        .map(|entry| {
            let mut line = format!("- {}", ink.text(&entry.cause, room));
            if !entry.refs.is_empty() {
                line.push_str(&say::aside(ink.locale, &super::cards::ids(&entry.refs, 8)));
            }
            let reason = ink.text(&entry.reason, room);
            if !reason.is_empty() {
                line = say::pair(ink.locale, &line, &reason);
            }
            line
        })
        .collect();
    if list.len() > most {
        ink.note_cut();
        lines.push(say::and_more(ink.locale, list.len() - most));
    }
    lines
}

fn rows(analysis: &Analysis, view: &View) -> Vec<Row> {
    let Some(incident) = view.incident else {
        return Vec::new();
    };
    let locale = view.locale;
    let off = view.superseded_by.is_some();
    let steps = || {
        let steps = analysis.next_steps.iter().take(OPTIONS).enumerate();
        steps.map(|(index, step)| Choice {
            value: index.to_string(),
            label: cut(&plain(&format!("{} {}", index + 1, step.step)), OPTION_TEXT),
            description: say::risk(locale, step.risk).to_owned(),
            chosen: false,
        })
    };
    let ticked = steps().enumerate().map(|(index, choice)| Choice {
        chosen: view.ticks.iter().any(|tick| tick.step == index),
        ..choice
    });
    // Who has it shows on the choice: whoever takes it away sees that they do.
    let taken = steps().enumerate().map(|(index, choice)| Choice {
        description: match owner_of(view, index) {
            Some(by) => {
                let name = say::taken_by(locale, &cut(&plain(&by.name), 40));
                format!("{name} · {}", choice.description)
            }
            None => choice.description,
        },
        ..choice
    });
    let mut buttons = Vec::new();
    if super::cards::try_again_elsewhere(analysis) {
        buttons.push(
            Button::new(Action::TryAgain { incident }, say::button_try_again(locale))
                .style(Style::Primary),
        );
    }
    buttons.push(Button::new(
        Action::Reanalyze { incident },
        say::button_reanalyze(locale),
    ));
    if !super::update::is_shown(view) {
        let action = Action::ShowUpdate {
            incident,
            analysis: view.analysis,
        };
        buttons.push(Button::new(action, say::button_update(locale)));
    }
    // Why stays on: what was said may be asked about after it was replaced.
    let mut buttons: Vec<Button> = buttons.into_iter().map(|button| button.off(off)).collect();
    let why = Action::Why {
        incident,
        analysis: view.analysis,
    };
    buttons.push(Button::new(why, say::button_why(locale)));
    vec![
        Row::Select {
            action: Action::Tick {
                incident,
                analysis: view.analysis,
            },
            placeholder: say::tick_placeholder(locale).to_owned(),
            choices: ticked.collect(),
            many: true,
            disabled: off,
        },
        Row::Select {
            action: Action::TakeSteps {
                incident,
                analysis: view.analysis,
            },
            placeholder: say::take_placeholder(locale).to_owned(),
            choices: taken.collect(),
            many: false,
            disabled: off,
        },
        Row::Buttons(buttons),
    ]
}

#[cfg(test)]
mod tests {
    use super::super::checks::{analysis, assert_legal, sample, view};
    use super::*;
    use crate::incident::Locale;

    #[test]
    fn steps_with_risk_first() {
        let mut view = view(Locale::En);
        view.ticks = vec![Tick {
            step: 1,
            by: By {
                name: "alice".into(),
                at: view.now,
            },
        }];
        let post = checklist(&analysis(sample()), &view);
        assert_legal(&post);
        let embeds = post.payload["embeds"]
            .as_array()
            .cloned()
            .unwrap_or_default();
        let text: Vec<&str> = embeds
            .iter()
            .flat_map(|embed| [embed["title"].as_str(), embed["description"].as_str()])
            .flatten()
            .collect();
        insta::assert_snapshot!(text.join("\n"), @r"
        ☑ Next steps
        ⬜ **1** 🟢 read-only · Count 429 answers from the gateway
         `kubectl logs deploy/payments-api --since 10m | grep -c ' 429 '`

        ✅ **2** 🟢 read-only · Compare with the retry rate of the client
         done: alice, <t:1779764400:t>

        ⬜ **3** 🟢 read-only · Read the error rate per route for the last hour (standard check)
        ⬜ **4** 🟡 reversible · Lower retry_max_attempts to 2 in the gateway configuration
         `kubectl set env deploy/payments-api RETRY_MAX_ATTEMPTS=2`
         expect: 429s fall within 5 minutes (model's estimate) · undo: kubectl set env deploy/payments-api RETRY_MAX_ATTEMPTS=5

        ⬜ **5** 🟠 risky · Restart one instance and watch it
         `kubectl delete pod <current pod>`
         expect: not known · undo: not known

        ⬜ **6** 🔴 destructive · Drop the stuck retry queue
         redis-cli -n 3 FLUSHDB
         ⚠ **Destroys data or state: not without a named approver** (ticking it asks for one in the thread)
         expect: not known · undo: not known
        ⛔ Do not repeat
        - Raise maximumPoolSize to 40: failed 1x · no effect · INC-0052
        ✘ Was not it before
        - Slow database (INC-0041): query times were normal
        ");
        let select = &post.payload["components"][0]["components"][0];
        assert_eq!(select["options"][1]["default"], true);
        assert_eq!(select["options"][0]["default"], false);
        assert_eq!(
            (&select["min_values"], &select["max_values"]),
            (&0.into(), &6.into())
        );
    }

    #[test]
    fn r18_what_destroys_is_in_no_code_and_is_warned_of_wherever_it_stands() {
        let command = "kubectl delete pvc data-0";
        for locale in [Locale::En, Locale::Zh] {
            let mut shown = sample();
            for hypothesis in &mut shown.hypotheses {
                hypothesis.fix = format!("Run `{command}`");
                hypothesis.evidence = vec![command.into()];
            }
            shown.summary = command.into();
            for step in &mut shown.next_steps {
                step.command = command.into();
                step.risk = Risk::Destructive;
                step.undo = format!("`{command}`");
            }
            let (analysis, view) = (analysis(shown), view(locale));
            let warned = |post: &Post| {
                let text = post.payload.to_string();
                assert!(text.contains(command), "{text}");
                for code in text.split('`').skip(1).step_by(2) {
                    assert!(!code.contains("kubectl delete"), "in code: {code}");
                }
                text.matches(say::needs_approver(locale)).count()
            };
            let cards = super::super::cards(&analysis, &view);
            assert!(warned(&cards) >= analysis.hypotheses.len(), "{cards:?}");
            assert_eq!(
                warned(&checklist(&analysis, &view)),
                analysis.next_steps.len()
            );
            let file = super::super::text(&analysis, &view);
            for code in file.split('`').skip(1).step_by(2) {
                assert!(!code.contains("kubectl delete"), "in code: {code}");
            }
            let headline = super::super::headline(&analysis, &view).payload.to_string();
            assert!(
                !headline.contains("kubectl delete") || headline.contains(say::destroys(locale)),
                "{headline}"
            );
        }
    }

    #[test]
    fn r18_a_destructive_command_stands_in_no_code() {
        let mut shown = sample();
        shown.next_steps.retain(|step| step.needs_approver());
        for locale in [Locale::En, Locale::Zh] {
            let post = checklist(&analysis(shown.clone()), &view(locale));
            let text = post.payload["embeds"][0]["description"]
                .as_str()
                .unwrap_or_default();
            assert!(
                text.contains("FLUSHDB") && text.contains("⚠") && !text.contains('`'),
                "{text}"
            );
        }
    }
}

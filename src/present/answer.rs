//! The answer to a question in the thread: a reply to that message, with what it rests on.

use super::checklist::{step_lines, warning};
use super::escape::{cut, paragraphs, width};
use super::ink::Ink;
use super::payload::{CONTENT, EMBED_DESCRIPTION, Embed, Message};
use super::{File, Post, Slot, say};
use crate::incident::{Engine, IncidentId, Locale};
use crate::validation::{Answer, risk};
use jiff::Timestamp;

/// What an answer is shown with.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AnswerView {
    /// The incident of the thread.
    pub incident: Option<IncidentId>,
    /// The language of the thread.
    pub locale: Locale,
    /// The time of composing.
    pub now: Timestamp,
}

/// The answer. An empty one says that report and memory don't hold it, and where to look.
pub fn answer(answer: &Answer, view: &AnswerView) -> Post {
    let locale = view.locale;
    let ink = Ink::discord(locale, view.now);
    let mut head = Vec::new();
    if let Engine::Fallback { reason } = &answer.engine {
        head.push(ink.bold(&say::fallback_heading(locale, reason)));
    }
    if answer.cut_off {
        head.push(ink.bold(say::cut_off(locale)));
    }
    if risk::is_destructive_text(&answer.text) {
        head.push(warning(&ink));
    }
    let body = if answer.text.trim().is_empty() {
        say::not_in_evidence(locale).to_owned()
    } else {
        paragraphs(&answer.text)
    };
    let head = head.join("\n");
    let note = format!("✂ {}", say::cut_note(locale));
    let mut message = Message::default();
    let room = CONTENT - width(&head) - width(&note) - 4;
    let mut content = body.clone();
    if width(&body) > room {
        ink.note_cut();
        content = by_lines(&answer.text, room);
    }
    let support = support(answer, &ink);
    if !support.is_empty() {
        let mut description = support.join("\n");
        if width(&description) > EMBED_DESCRIPTION {
            ink.note_cut();
            description = super::past::whole_lines(&description, EMBED_DESCRIPTION);
        }
        message.embeds.push(Embed {
            description,
            color: 0x4F_8F_F7,
            ..Embed::default()
        });
    }
    let mut parts = vec![head, content];
    if ink.has_cut() {
        parts.push(note);
        let name = match view.incident {
            Some(id) => format!("answer-{id}.md"),
            None => "answer.md".into(),
        };
        let plain = Ink::plain(locale, view.now);
        let text = format!(
            "{}\n\n{}\n",
            super::escape::plain_lines(&answer.text),
            self::support(answer, &plain).join("\n")
        );
        message.files.push(File { name, text });
    }
    parts.retain(|part| !part.is_empty());
    message.content = cut(&parts.join("\n"), CONTENT);
    message.post(Slot::Reply)
}

/// Whole lines of the text as long as they fit, the first one cut if it alone does not.
fn by_lines(text: &str, room: usize) -> String {
    let mut out = String::new();
    for line in text.lines() {
        let (line, _) = super::escape::fitted(line, room, super::escape::inline);
        if width(&out) + width(&line) + 3 > room {
            if out.is_empty() {
                out = super::escape::fitted(&line, room.saturating_sub(3), super::escape::inline).0;
            }
            break;
        }
        if !line.is_empty() {
            if !out.is_empty() {
                out.push('\n');
            }
            out.push_str(&line);
        }
    }
    format!("{out}\n…")
}

fn support(answer: &Answer, ink: &Ink) -> Vec<String> {
    let locale = ink.locale;
    let mut lines = Vec::new();
    let mut sources: Vec<String> = Vec::new();
    if !answer.refs.is_empty() {
        sources.push(super::cards::ids(&answer.refs, 40));
    }
    sources.extend(
        answer
            .evidence
            .iter()
            .take(4)
            .map(|quote| ink.code(quote, 160)),
    );
    sources.retain(|source| !source.is_empty());
    if !sources.is_empty() {
        lines.push(ink.label(say::evidence_label(locale)));
        lines.extend(sources.into_iter().map(|source| format!("- {source}")));
    }
    if !answer.next_steps.is_empty() {
        lines.push(ink.label(say::next_steps(locale)));
        for step in answer.next_steps.iter().take(7) {
            lines.extend(step_lines(step, None, 160, ink));
        }
        if answer.next_steps.len() > 7 {
            ink.note_cut();
        }
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::super::checks::{assert_legal, at, id, text};
    use super::*;
    use crate::incident::Tier;
    use crate::incident::proposal::Risk;
    use crate::validation::analysis::{NextStep, ShownAnswer};
    use proptest::prelude::*;

    fn shown(text: &str) -> ShownAnswer {
        ShownAnswer {
            engine: Engine::Model {
                model: "m".into(),
                tier: Tier::Fast,
            },
            text: text.into(),
            refs: vec![],
            evidence: vec![],
            next_steps: vec![],
            cut_off: false,
            corrections: vec![],
        }
    }

    fn view() -> AnswerView {
        AnswerView {
            incident: Some(id(107)),
            locale: Locale::En,
            now: at("2026-05-26T03:00:00Z"),
        }
    }

    #[test]
    fn what_nothing_supports_is_said_so() {
        let post = answer(&Answer::for_test(shown("")), &view());
        assert_legal(&post);
        assert!(
            post.payload["content"]
                .as_str()
                .is_some_and(|c| c.starts_with("That is not in the report or in memory"))
        );
    }

    #[test]
    fn r18_a_destructive_command_is_in_no_code() {
        let mut shown = shown("Run `redis-cli FLUSHALL` or:\n```\nredis-cli FLUSHALL\n```");
        shown.next_steps = vec![NextStep {
            step: "Flush the cache".into(),
            command: "redis-cli FLUSHALL".into(),
            risk: Risk::Destructive,
            expect: String::new(),
            undo: String::new(),
            standard: false,
            estimated: false,
        }];
        let post = answer(&Answer::for_test(shown), &view());
        assert_legal(&post);
        assert!(
            !post.payload.to_string().contains('`'),
            "{:#}",
            post.payload
        );
        // At the text and at the step.
        let warnings = post
            .payload
            .to_string()
            .matches(say::needs_approver(Locale::En))
            .count();
        assert_eq!(warnings, 2, "{:#}", post.payload);
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 32, max_shrink_iters: 60, failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn any_answer_fits(text in text(), quotes in proptest::collection::vec(text(), 0..6)) {
            let mut shown = shown(&text);
            shown.evidence = quotes.clone();
            shown.cut_off = true;
            shown.next_steps = quotes.iter().map(|quote| NextStep {
                step: quote.clone(), command: quote.clone(), risk: Risk::Risky,
                expect: quote.clone(), undo: quote.clone(), standard: true, estimated: true,
            }).collect();
            assert_legal(&answer(&Answer::for_test(shown), &view()));
        }
    }
}

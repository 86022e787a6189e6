//! What is asked and said of outcomes: whether a fix held, whether two fixes are one, what keeps
//! coming back.
//!
//! Wanted: one tap, recorded, reversible, and no notification: a question a day after the night is
//! never worth waking somebody for.

use super::custom_id::Action;
use super::escape::{cut, fitted, inline, plain};
use super::ink::Ink;
use super::payload::{
    BUTTON_LABEL, BUTTONS, Button, CONTENT, EMBED_DESCRIPTION, Embed, Message, Row, Style,
};
use super::{File, Post, Slot, say};
use crate::incident::{
    IncidentId, LearnedPattern, Locale, Outcome, PastIncident, Shared, Standing,
};
use jiff::Timestamp;
use serde_json::json;

/// Discord's flag for a message that notifies nobody (message.mdx: `SUPPRESS_NOTIFICATIONS`).
const QUIET: u64 = 1 << 12;

/// The post, without a notification to anybody.
pub fn quietly(mut post: Post) -> Post {
    if let Some(fields) = post.payload.as_object_mut() {
        fields.insert("flags".into(), json!(QUIET));
    }
    post
}

/// The question of a day later, as it was answered.
pub fn still_fixed_answered(
    incident: IncidentId,
    outcome: Outcome,
    fix: &str,
    who: &str,
    is_over: bool,
    locale: Locale,
) -> Post {
    let fix = fitted(fix, 300, inline).0;
    let who = fitted(who, 60, inline).0;
    let mut buttons = vec![Button::new(
        Action::TakeBack { incident },
        say::button_take_back(locale),
    )];
    let content = match outcome.standing() {
        Standing::Refuted => {
            if is_over {
                buttons.insert(
                    0,
                    Button::new(Action::Reopen { incident }, say::button_reopen(locale))
                        .style(Style::Primary),
                );
            }
            say::it_came_back(locale, incident, &fix, &who)
        }
        _ => say::it_held(locale, incident, &fix, &who),
    };
    Message {
        content: cut(&content, CONTENT),
        rows: vec![Row::Buttons(buttons)],
        ..Message::default()
    }
    .post(Slot::Reply)
}

/// One pair that people are asked about.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SameQuestion {
    /// Its number in the incident.
    pub seq: u32,
    /// The other incident.
    pub other: IncidentId,
    /// Fixes, else causes.
    pub is_fix: bool,
    /// As this incident has it.
    pub words: String,
    /// As the other has it.
    pub other_words: String,
    /// What was said, and by whom.
    pub answer: Option<(bool, String)>,
}

/// Whether fixes and causes are those of other incidents: a line and two buttons each.
pub fn same_questions(incident: IncidentId, questions: &[SameQuestion], locale: Locale) -> Post {
    let mut lines = Vec::new();
    let mut rows = Vec::new();
    for question in questions.iter().take(2) {
        let words = fitted(&question.words, 200, inline).0;
        let other_words = fitted(&question.other_words, 200, inline).0;
        match &question.answer {
            None => lines.push(say::same_question(locale, question.is_fix, question.other)),
            Some((same, who)) => lines.push(say::same_answer(
                locale,
                question.is_fix,
                *same,
                question.other,
                &fitted(who, 60, inline).0,
            )),
        }
        lines.push(format!(
            "> {}",
            say::here_and_there(locale, &words, question.other, &other_words).replace('\n', "\n> ")
        ));
        let said = question.answer.as_ref().map(|(same, _)| *same);
        let button = |same: bool, label: &str| {
            let action = if same {
                Action::SameAs {
                    incident,
                    question: question.seq,
                }
            } else {
                Action::DifferentFrom {
                    incident,
                    question: question.seq,
                }
            };
            let style = if said == Some(same) {
                Style::Success
            } else {
                Style::Secondary
            };
            Button::new(action, label).style(style)
        };
        rows.push(Row::Buttons(vec![
            button(true, say::button_same(locale)),
            button(false, say::button_different(locale)),
        ]));
    }
    Message {
        content: cut(&lines.join("\n"), CONTENT),
        rows,
        ..Message::default()
    }
    .post(Slot::Reply)
}

/// One word that was said of a fix.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OutcomeWord {
    /// Which fix.
    pub fix: String,
    /// What was said; `None`: the word before was taken back.
    pub outcome: Option<Outcome>,
    /// Who or what said it.
    pub by: String,
    /// When.
    pub at: Timestamp,
}

/// What a person may say of a past incident from its private view, and what was said of it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct OutcomesOf {
    /// Fixes that may be said to have held: number of the attempt, and words.
    pub may_hold: Vec<(u32, String)>,
    /// What was said, in order.
    pub history: Vec<OutcomeWord>,
}

/// The private view of a past incident with its history and *Yes, it held*.
pub fn with_outcomes(
    mut post: Post,
    incident: &PastIncident,
    outcomes: &OutcomesOf,
    locale: Locale,
    now: Timestamp,
) -> Post {
    let ink = Ink::discord(locale, now);
    let changed = outcomes.history.len() > incident.attempts.len();
    if changed {
        let mut lines = vec![ink.label(say::history_label(locale))];
        lines.extend(outcomes.history.iter().rev().take(10).rev().map(|word| {
            let said = word.outcome.map_or(say::taken_back(locale), |outcome| {
                say::outcome(locale, outcome)
            });
            let by = ink.text(&word.by, 40);
            let mut parts = vec![
                ink.text(&word.fix, 80),
                said.to_owned(),
                by,
                ink.day(word.at),
            ];
            parts.retain(|part| !part.is_empty());
            format!("- {}", parts.join(" · "))
        }));
        append(&mut post, &lines.join("\n"));
    }
    let buttons: Vec<Button> = outcomes
        .may_hold
        .iter()
        .take(BUTTONS)
        .map(|(attempt, fix)| {
            let label = if outcomes.may_hold.len() == 1 {
                say::button_held(locale).to_owned()
            } else {
                cut(&say::button_this_held(locale, &plain(fix)), BUTTON_LABEL)
            };
            let action = Action::AttemptHeld {
                incident: incident.id,
                attempt: *attempt,
            };
            Button::new(action, label).style(Style::Success)
        })
        .collect();
    if !buttons.is_empty() {
        let message = Message {
            rows: vec![Row::Buttons(buttons)],
            ..Message::default()
        }
        .post(Slot::Private);
        if let (Some(fields), Some(rows)) = (
            post.payload.as_object_mut(),
            message.payload.get("components"),
        ) {
            fields.insert("components".into(), rows.clone());
        }
    }
    post
}

/// Adds to the first embed as far as it has room; what is left out is in the file, if there is one.
fn append(post: &mut Post, text: &str) {
    let room = |old: &str| super::escape::width(old) + super::escape::width(text) + 1;
    if let Some(description) = post
        .payload
        .pointer_mut("/embeds/0/description")
        .filter(|old| {
            old.as_str()
                .is_some_and(|old| room(old) <= EMBED_DESCRIPTION)
        })
    {
        let joined = format!("{}\n{text}", description.as_str().unwrap_or_default());
        *description = json!(joined);
    } else if let Some(file) = post.files.first_mut() {
        file.text.push_str(&format!("\n{text}\n"));
    }
}

/// A learned pattern in full, to one person alone. `records` are those it rests on.
pub fn pattern(
    pattern: &LearnedPattern,
    records: &[PastIncident],
    locale: Locale,
    now: Timestamp,
) -> Post {
    let ink = Ink::discord(locale, now);
    let service = ink.text(&pattern.service, 80);
    let words = match pattern.shared {
        Shared::Cause => ink.text(&pattern.words, 600),
        Shared::Signature => ink.code(&pattern.words, 600),
    };
    let mut lines = vec![
        ink.bold(&say::pattern_line(
            locale,
            pattern.shared,
            pattern.episodes,
            &service,
        )),
        words,
        ink.label(say::rests_on(locale)),
    ];
    lines.extend(records.iter().map(|record| {
        let mut parts = vec![
            ink.bold(&record.id.to_string()),
            say::outcome(locale, record.outcome()).to_owned(),
        ];
        parts.extend(record.fix().map(|fix| ink.text(fix, 120)));
        parts.extend(
            record
                .resolved_at
                .or(record.started_at)
                .map(|at| ink.day(at)),
        );
        parts.retain(|part| !part.is_empty());
        format!("- {}", parts.join(" · "))
    }));
    let text = lines.join("\n");
    let mut files = Vec::new();
    let description = if super::escape::width(&text) > EMBED_DESCRIPTION {
        files.push(File {
            name: format!("{}.md", pattern.id),
            text: text.clone(),
        });
        super::past::whole_lines(&text, EMBED_DESCRIPTION)
    } else {
        text
    };
    Message {
        embeds: vec![Embed {
            title: cut(
                &format!("{} · {}", pattern.id, plain(&pattern.service)),
                200,
            ),
            description,
            color: super::cards::MEMORY_COLOR,
            ..Embed::default()
        }],
        files,
        ..Message::default()
    }
    .post(Slot::Private)
}

/// A line for each pattern above a list of memories.
pub fn with_patterns(
    mut post: Post,
    patterns: &[LearnedPattern],
    locale: Locale,
    now: Timestamp,
) -> Post {
    let ink = Ink::discord(locale, now);
    for pattern in patterns {
        let line = pattern_line(pattern, &ink);
        append(&mut post, &format!("🔁 {line}"));
    }
    post
}

/// `P1 keeps coming back (3 times): the refund job … · INC-0012, INC-0041, INC-0052`.
pub(super) fn pattern_line(pattern: &LearnedPattern, ink: &Ink) -> String {
    let words = match pattern.shared {
        Shared::Cause => ink.text(&pattern.words, 120),
        Shared::Signature => ink.code(&pattern.words, 120),
    };
    let on: Vec<String> = pattern
        .incidents
        .iter()
        .take(8)
        .map(IncidentId::to_string)
        .collect();
    say::keeps_coming(
        ink.locale,
        pattern.id,
        pattern.episodes,
        &words,
        &on.join(", "),
    )
}

#[cfg(test)]
mod tests {
    use super::super::checks::{assert_legal, at, id, text};
    use super::*;
    use crate::incident::{FixAttempt, PatternId};
    use proptest::prelude::*;

    proptest! {
        #![proptest_config(ProptestConfig { cases: 24, max_shrink_iters: 60, failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn whatever_they_hold_they_fit(words in text(), other in text(), who in text(), many in 0usize..12) {
            let now = at("2026-05-26T03:00:00Z");
            for locale in [Locale::En, Locale::Zh] {
                for outcome in Outcome::ALL {
                    assert_legal(&still_fixed_answered(id(1), outcome, &words, &who, true, locale));
                }
                let question = SameQuestion {
                    seq: 1, other: id(2), is_fix: true, words: words.clone(), other_words: other.clone(),
                    answer: Some((true, who.clone())),
                };
                let questions: Vec<SameQuestion> = (1..=2)
                    .map(|seq| SameQuestion { seq, ..question.clone() })
                    .take(1 + many % 2)
                    .collect();
                assert_legal(&same_questions(id(1), &questions, locale));
                let mut past = PastIncident::new(id(1), words.clone());
                past.attempts = vec![FixAttempt::new(words.clone(), Outcome::Held)];
                let outcomes = OutcomesOf {
                    may_hold: (0..).take(many).map(|seq| (seq, words.clone())).collect(),
                    history: vec![OutcomeWord { fix: words.clone(), outcome: None, by: who.clone(), at: now }; many],
                };
                let shown = super::super::past_incident(&past, None, locale, now);
                assert_legal(&with_outcomes(shown, &past, &outcomes, locale, now));
                let learned = LearnedPattern {
                    id: PatternId(1), service: who.clone(), shared: Shared::Signature, words: words.clone(),
                    incidents: vec![id(1); many], episodes: 3,
                };
                assert_legal(&pattern(&learned, &vec![past.clone(); many], locale, now));
                let list = super::super::memory_list(&vec![past; many], locale, now);
                assert_legal(&with_patterns(list, &vec![learned; many], locale, now));
            }
        }
    }
}

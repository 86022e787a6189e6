//! A claim without what is not grounded: clauses, phrases and numbers that go.

use super::tokens::{Token, TokenKind};
use crate::incident::words::{fold, is_cjk};
use crate::validation::text::{tidy, without_clauses};

pub(super) fn without_bad_clauses(chars: &[char], bad: &[(Token, &'static str)]) -> String {
    let positions: Vec<usize> = bad.iter().map(|(token, _)| token.start).collect();
    without_clauses(chars, &positions)
}

/// A title without the phrases that carry what is not grounded; empty where the rest says nothing.
pub(super) fn without_phrases(chars: &[char], bad: &[(Token, &'static str)]) -> String {
    let mut text: Vec<char> = chars.to_vec();
    // From the end, so that earlier positions stay true.
    for (token, _) in bad.iter().rev() {
        let Some(range) = phrase_around(&text, token) else {
            return without_bad_clauses(chars, bad);
        };
        text.drain(range.0..range.1.min(text.len()));
    }
    let out = tidy(&text);
    let telling = crate::incident::words::meaningful(&out).len();
    if telling >= 2 || out.chars().filter(|c| is_cjk(*c)).count() >= 3 {
        out
    } else {
        String::new()
    }
}

pub(super) const PREPOSITIONS: &[&str] = &[
    "in", "on", "of", "by", "from", "at", "for", "via", "through", "inside", "within", "behind",
    "to", "with", "after", "since", "like",
];

/// Words that only lead to a number.
pub(super) const BEFORE_NUMBERS: &[&str] = &[
    "about",
    "over",
    "under",
    "than",
    "more",
    "less",
    "fewer",
    "nearly",
    "almost",
    "roughly",
    "around",
    "at",
    "to",
    "by",
    "for",
    "since",
    "after",
    "only",
    "exactly",
    "up",
    "some",
    "approximately",
    "of",
    "from",
    "in",
    "within",
    "超过",
    "达到",
    "高达",
    "大约",
    "约",
    "近",
    "仅",
    "只有",
    "为",
    "达",
    "到",
    "在",
];

/// A number with the words that lead to it, and the `of` behind it: `refuses 97% of mail`.
pub(super) fn quantity_phrase(chars: &[char], token: &Token) -> (usize, usize) {
    let (mut start, mut end) = (token.start, token.end);
    loop {
        let mut to = start;
        while to > 0
            && chars
                .get(to - 1)
                .is_some_and(|c| c.is_whitespace() || matches!(c, '~' | '>' | '<' | '='))
        {
            to -= 1;
        }
        let head: String = chars.get(..to).unwrap_or_default().iter().collect();
        let folded = fold(&head);
        let word = BEFORE_NUMBERS.iter().find(|word| {
            folded.strip_suffix(**word).is_some_and(|rest| {
                word.chars().all(is_cjk)
                    || rest
                        .chars()
                        .next_back()
                        .is_none_or(|c| !c.is_alphanumeric())
            })
        });
        match word {
            Some(word) => start = to - word.chars().count(),
            None => break,
        }
    }
    let tail: String = chars.get(end..).unwrap_or_default().iter().collect();
    for behind in [" of ", "的"] {
        if tail.starts_with(behind) {
            end += behind.trim_end().chars().count();
        }
    }
    (start, end)
}

/// The range of the phrase that can go: a parenthesis, the tail from a preposition, or, in
/// Chinese, the bare token.
pub(super) fn phrase_around(chars: &[char], token: &Token) -> Option<(usize, usize)> {
    let open = (0..token.start)
        .rev()
        .find(|i| matches!(chars.get(*i), Some('(' | '（')));
    let close = (token.end..chars.len()).find(|i| matches!(chars.get(*i), Some(')' | '）')));
    if let (Some(open), Some(close)) = (open, close) {
        return Some((open, close + 1));
    }
    let head: String = chars.get(..token.start)?.iter().collect();
    let tail: String = chars.get(token.end..)?.iter().collect();
    if matches!(
        token.kind,
        TokenKind::Number(_) | TokenKind::Vague(..) | TokenKind::Clock(..)
    ) {
        return Some(quantity_phrase(chars, token));
    }
    let head_trimmed =
        head.trim_end_matches(|c: char| c.is_whitespace() || c == '`' || c == '\'' || c == '"');
    let mut words: Vec<&str> = head_trimmed.split_whitespace().collect();
    if words
        .last()
        .is_some_and(|word| matches!(fold(word).as_str(), "the" | "our" | "a" | "an" | "about"))
    {
        words.pop();
    }
    let preposition = words
        .last()
        .is_some_and(|word| PREPOSITIONS.contains(&fold(word).as_str()));
    let tail_words = tail.split_whitespace().count();
    if preposition && tail_words <= 1 {
        words.pop();
        let kept = words.join(" ");
        let start = head.find(kept.as_str()).map(|at| at + kept.len())?;
        let start = head.get(..start)?.chars().count();
        return Some((start, chars.len()));
    }
    let beside_cjk = tail.trim_start().chars().next().is_some_and(is_cjk)
        || head.trim_end().chars().next_back().is_some_and(is_cjk);
    if beside_cjk {
        return Some((token.start, token.end));
    }
    None
}

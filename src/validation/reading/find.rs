//! Where in a text the value stands: past thoughts, channel markers, fences and prose.
//!
//! Wanted: the answer is found whatever stands around it, and an example in the prose, a draft in a
//! thought, or an object *inside* an answer that can't be read is never taken for it.
//!
//! Design: one scan from left to right. A bracket is tried as the start of a value; what was read is
//! skipped, so markers inside its strings mean nothing. A bracket that is no value is prose. One that
//! began like a value and failed makes the whole stretch up to its matching bracket unreadable.

use super::json::{Fault, Parser, Repair, Repaired, is_quote};
use serde_json::Value;

/// A value that stands somewhere in the text.
#[derive(Clone, Debug)]
pub(super) struct Candidate {
    pub(super) value: Value,
    pub(super) repaired: Repaired,
    /// It stands in a fenced block.
    pub(super) fenced: bool,
}

/// What a scan found.
#[derive(Debug, Default)]
pub(super) struct Found {
    pub(super) candidates: Vec<Candidate>,
    /// Something began like a value and could not be read.
    pub(super) broken: Option<Fault>,
    /// The text holds thoughts, and nothing after them.
    pub(super) only_thoughts: bool,
}

const THOUGHT_TAGS: [&str; 5] = ["think", "thinking", "thought", "thoughts", "reasoning"];

/// All values in the text that could be the answer, in order.
pub(super) fn candidates(text: &[char], mark_cuts: bool, unescaped: bool) -> Result<Found, Fault> {
    let mut found = Found::default();
    let mut parser = Parser::new(text, mark_cuts);
    let mut at = 0;
    let mut fenced = false;
    let mut thoughts = false;
    let mut no_close_ahead = false;
    let mut in_thought_channel = false;
    let mut open_thought = false;
    while let Some(&c) = text.get(at) {
        match c {
            '`' | '~' if run_length(text, at, c) >= 3 => {
                at += run_length(text, at, c);
                fenced = !fenced;
            }
            '<' => {
                if let Some((tag, closing, end)) = tag_at(text, at)
                    && THOUGHT_TAGS.contains(&tag.as_str())
                {
                    thoughts = true;
                    at = end;
                    if closing {
                        // What stood before was the thought, whether or not it was opened.
                        found = Found::default();
                        fenced = false;
                        open_thought = false;
                    } else if !no_close_ahead {
                        match find_close(text, at) {
                            Some(close) => at = close,
                            None => {
                                no_close_ahead = true;
                                open_thought = true;
                            }
                        }
                    }
                } else if let Some((channel, end)) = channel_at(text, at) {
                    thoughts = true;
                    in_thought_channel = channel == "analysis";
                    found = Found::default();
                    at = end;
                } else {
                    at += 1;
                }
            }
            'a' if word_here(text, at, "assistantfinal") => {
                thoughts = true;
                found = Found::default();
                at += "assistantfinal".len();
            }
            '{' | '[' if c == '{' || list_may_begin(text, at) => {
                if !unescaped && c == '{' && escaped_quote_follows(text, at) {
                    let rest = unescape(text.get(at..).unwrap_or_default());
                    let inner = candidates(&rest, mark_cuts, true)?;
                    for mut candidate in inner.candidates {
                        candidate.repaired.add(Repair::Encoded);
                        candidate.fenced |= fenced;
                        found.candidates.push(candidate);
                    }
                    found.broken = found.broken.or(inner.broken);
                    break;
                }
                parser.restart(at);
                match parser.container() {
                    Ok(value) => {
                        let end = parser.position();
                        let truncated = parser.repaired.has(Repair::Truncated);
                        let prose = parser.parts == 0 && (truncated || c == '[');
                        if prose {
                            at += 1;
                            continue;
                        }
                        if leaves_residue(text, end, !parser.repaired.is_empty()) {
                            // More of the value stands behind what was read as its end.
                            found.broken = Some(Fault::Ambiguous);
                            at = balanced_end(text, at).max(end);
                            continue;
                        }
                        let draft =
                            in_thought_channel || (open_thought && !only_markup_follows(text, end));
                        if !draft {
                            found.candidates.push(Candidate {
                                value,
                                repaired: parser.repaired.clone(),
                                fenced,
                            });
                        }
                        at = end.max(at + 1);
                    }
                    Err(fault @ (Fault::TooDeep | Fault::Tangled)) => return Err(fault),
                    Err(fault) => {
                        // Attempts that lead nowhere cost more, so that few of them are made.
                        parser.charge(4 * parser.position().saturating_sub(at));
                        let like_value = parser.parts > 0
                            && (c == '{'
                                || matches!(text.get(skip_blank(text, at + 1)), Some('{')));
                        if like_value {
                            found.broken = Some(fault);
                            at = balanced_end(text, at);
                        } else {
                            at += 1;
                        }
                    }
                }
            }
            _ => at += 1,
        }
    }
    found.only_thoughts = thoughts && found.candidates.is_empty() && found.broken.is_none();
    if thoughts {
        for candidate in &mut found.candidates {
            candidate.repaired.add(Repair::Thoughts);
        }
    }
    for candidate in &mut found.candidates {
        candidate.repaired.add(Repair::Wrapped);
    }
    Ok(found)
}

/// Whether structure follows the end of a value: a quote, a colon, a key, or (where the value had to
/// be repaired) another closing bracket.
fn leaves_residue(text: &[char], end: usize, repaired: bool) -> bool {
    let next = skip_blank(text, end);
    match text.get(next) {
        Some('"' | ':') => true,
        Some('}' | ']') => {
            repaired || matches!(text.get(skip_closers(text, next)), Some(',' | '"' | ':'))
        }
        Some(',') => text.get(skip_blank(text, next + 1)) == Some(&'"'),
        _ => false,
    }
}

fn skip_closers(text: &[char], at: usize) -> usize {
    let mut at = at;
    while text
        .get(at)
        .is_some_and(|c| c.is_whitespace() || matches!(c, '}' | ']'))
    {
        at += 1;
    }
    at
}

fn run_length(text: &[char], at: usize, c: char) -> usize {
    text.iter().skip(at).take_while(|x| **x == c).count()
}

fn skip_blank(text: &[char], at: usize) -> usize {
    let mut at = at;
    while text.get(at).is_some_and(|c| c.is_whitespace()) {
        at += 1;
    }
    at
}

/// `[` in prose is mostly no list: only one of objects, strings or lists is tried.
fn list_may_begin(text: &[char], at: usize) -> bool {
    let next = skip_blank(text, at + 1).min(at + 200);
    match text.get(next) {
        Some('{' | '[') => true,
        Some(c) if is_quote(*c) => true,
        Some(_) => text.iter().take(at).all(|c| c.is_whitespace()),
        None => false,
    }
}

fn escaped_quote_follows(text: &[char], at: usize) -> bool {
    let next = skip_blank(text, at + 1);
    match text.get(next) {
        Some('\\') => match text.get(next + 1) {
            Some('"') => true,
            Some('n') => {
                let mut look = next;
                while text.get(look) == Some(&'\\')
                    && matches!(text.get(look + 1), Some('n' | 't' | 'r'))
                {
                    look = skip_blank(text, look + 2);
                }
                text.get(look) == Some(&'\\') && text.get(look + 1) == Some(&'"')
            }
            _ => false,
        },
        _ => false,
    }
}

/// Takes one level of escapes away, as if the text had stood in a JSON string.
pub(super) fn unescape(text: &[char]) -> Vec<char> {
    let mut out = Vec::with_capacity(text.len());
    let mut at = 0;
    while let Some(&c) = text.get(at) {
        if c == '\\' {
            match text.get(at + 1) {
                Some('n') => out.push('\n'),
                Some('t') => out.push('\t'),
                Some('r') => out.push('\r'),
                Some(&next @ ('"' | '\\' | '/')) => out.push(next),
                Some(&next) => {
                    out.push('\\');
                    out.push(next);
                }
                None => {}
            }
            at += 2;
        } else {
            out.push(c);
            at += 1;
        }
    }
    out
}

/// The end of the bracket at `at`, counted without regard to quotes; the end of the text if none.
fn balanced_end(text: &[char], at: usize) -> usize {
    let mut depth = 0usize;
    for (offset, c) in text.iter().enumerate().skip(at) {
        match c {
            '{' | '[' => depth += 1,
            '}' | ']' => {
                depth = depth.saturating_sub(1);
                if depth == 0 {
                    return offset + 1;
                }
            }
            _ => {}
        }
    }
    text.len()
}

/// A tag like `<think>` or `</think>`: its name, whether it closes, and its end.
fn tag_at(text: &[char], at: usize) -> Option<(String, bool, usize)> {
    let closing = text.get(at + 1) == Some(&'/');
    let mut look = at + 1 + usize::from(closing);
    let mut name = String::new();
    while let Some(c) = text.get(look) {
        if c.is_ascii_alphabetic() && name.len() < 12 {
            name.push(c.to_ascii_lowercase());
            look += 1;
        } else {
            break;
        }
    }
    (!name.is_empty() && text.get(look) == Some(&'>')).then_some((name, closing, look + 1))
}

fn find_close(text: &[char], from: usize) -> Option<usize> {
    let mut at = from;
    while let Some(c) = text.get(at) {
        if *c == '<'
            && let Some((tag, true, end)) = tag_at(text, at)
            && THOUGHT_TAGS.contains(&tag.as_str())
        {
            return Some(end);
        }
        at += 1;
    }
    None
}

/// `<|channel|>final`: the channel's name and the end of the marker.
fn channel_at(text: &[char], at: usize) -> Option<(String, usize)> {
    if !word_here(text, at, "<|channel|>") {
        return None;
    }
    let mut look = at + "<|channel|>".len();
    let mut name = String::new();
    while let Some(c) = text.get(look) {
        if c.is_ascii_alphabetic() && name.len() < 20 {
            name.push(*c);
            look += 1;
        } else {
            break;
        }
    }
    Some((name, look))
}

fn word_here(text: &[char], at: usize, word: &str) -> bool {
    word.chars()
        .zip(at..)
        .all(|(c, look)| text.get(look) == Some(&c))
}

/// Whether nothing but white space, fences and end markers follows.
fn only_markup_follows(text: &[char], at: usize) -> bool {
    text.iter()
        .skip(at)
        .all(|c| c.is_whitespace() || matches!(c, '`' | '~'))
}

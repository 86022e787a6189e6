//! Quotes that stand in the report (R3), and whose word they are.
//!
//! A quote is compared after NFKC and folding of case, white space, line wraps and quotation marks;
//! it must stand on whole words, be long enough to mean something, and not leave out the negation
//! of the clause that it is taken from. Each part of `a … b` must stand, in order.

use crate::incident::Report;
use crate::incident::sameness::negates;
use crate::incident::words::{fold, is_cjk};

/// Fewest words of a quote, unless it has [`LEAST_CHARACTERS`].
const LEAST_WORDS: usize = 3;
/// Fewest characters of a quote of fewer words.
const LEAST_CHARACTERS: usize = 12;
/// Fewest characters of a Chinese, Japanese or Korean quote.
const LEAST_CJK: usize = 4;

/// A report prepared for looking up quotes.
pub(super) struct Quotable {
    parts: Vec<(Option<String>, String)>,
}

/// Where a quote stands.
pub(super) struct Standing<'a> {
    /// The author of the thread message, `None` for the report itself.
    pub author: Option<&'a str>,
}

impl Quotable {
    pub fn new(report: &Report) -> Self {
        Self {
            parts: report
                .parts()
                .map(|(author, text)| (author.map(str::to_owned), comparable(text)))
                .collect(),
        }
    }

    /// Whether a quote stands in the report, and whose word it is.
    pub fn find(&self, quote: &str) -> Option<Standing<'_>> {
        let pieces: Vec<String> = quote
            .replace("...", "…")
            .split('…')
            .map(comparable)
            .filter(|piece| !piece.is_empty())
            .collect();
        if !is_long_enough(&pieces) {
            return None;
        }
        self.parts.iter().find_map(|(author, text)| {
            stands(&pieces, text).then_some(Standing {
                author: author.as_deref(),
            })
        })
    }
}

fn is_long_enough(pieces: &[String]) -> bool {
    let all = pieces.join(" ");
    let cjk = all.chars().filter(|c| is_cjk(*c)).count();
    let words = all.split_whitespace().count();
    let characters = all.chars().filter(|c| !c.is_whitespace()).count();
    cjk >= LEAST_CJK || words >= LEAST_WORDS || characters >= LEAST_CHARACTERS
}

/// Each piece stands, in order, at a place where it leaves out no negation.
fn stands(pieces: &[String], text: &str) -> bool {
    let mut from = 0;
    for piece in pieces {
        let mut found = None;
        let mut search = from;
        while let Some(offset) = text.get(search..).and_then(|rest| rest.find(piece.as_str())) {
            let start = search + offset;
            let end = start + piece.len();
            let whole = is_boundary(text, start) && is_boundary(text, end);
            if whole && !(negates(clause_around(text, start, end)) && !negates(piece)) {
                found = Some(end);
                break;
            }
            search = start + text.get(start..).and_then(|rest| rest.chars().next()).map_or(1, char::len_utf8);
        }
        match found {
            Some(end) => from = end,
            None => return false,
        }
    }
    !pieces.is_empty()
}

/// No word goes on across this position. Scripts without spaces have no such boundary.
fn is_boundary(text: &str, at: usize) -> bool {
    let before = text.get(..at).and_then(|head| head.chars().next_back());
    let after = text.get(at..).and_then(|tail| tail.chars().next());
    match (before, after) {
        (Some(a), Some(b)) => {
            let joins = |c: char| (c.is_alphanumeric() || c == '_') && !is_cjk(c);
            !(joins(a) && joins(b)) && !splits_number(text, at, a, b)
        }
        _ => true,
    }
}

/// `30` is not quoted out of `30.5` or `1,300`.
fn splits_number(text: &str, at: usize, before: char, after: char) -> bool {
    let digit_after_next = text
        .get(at..)
        .and_then(|tail| tail.chars().nth(1))
        .is_some_and(|c| c.is_ascii_digit());
    let digit_before_last = text
        .get(..at)
        .and_then(|head| head.chars().rev().nth(1))
        .is_some_and(|c| c.is_ascii_digit());
    (before.is_ascii_digit() && matches!(after, '.' | ',') && digit_after_next)
        || (matches!(before, '.' | ',') && after.is_ascii_digit() && digit_before_last)
}

fn clause_around(text: &str, start: usize, end: usize) -> &str {
    let head = text.get(..start).unwrap_or_default();
    let tail = text.get(end..).unwrap_or_default();
    let from = last_break(head);
    let to = first_break(tail).map_or(text.len(), |offset| end + offset);
    text.get(from..to).unwrap_or_default()
}

fn is_hard_break(c: char) -> bool {
    matches!(c, ';' | '!' | '?' | '。' | '；' | '！' | '？' | '\n' | ',' | '，' | '、')
}

fn last_break(head: &str) -> usize {
    let mut next: Option<char> = None;
    for (index, c) in head.char_indices().rev() {
        let sentence_end = c == '.' && next.is_none_or(char::is_whitespace);
        if is_hard_break(c) || sentence_end {
            return index + c.len_utf8();
        }
        next = Some(c);
    }
    0
}

fn first_break(tail: &str) -> Option<usize> {
    let mut chars = tail.char_indices().peekable();
    while let Some((index, c)) = chars.next() {
        let sentence_end = c == '.' && chars.peek().is_none_or(|(_, next)| next.is_whitespace());
        if is_hard_break(c) || sentence_end {
            return Some(index);
        }
    }
    None
}

/// The form in which quote and report are compared. Line breaks become spaces (a wrapped line is
/// one sentence), quotation marks vanish, white space beside CJK characters too.
fn comparable(text: &str) -> String {
    let folded = fold(text);
    let mut out = String::with_capacity(folded.len());
    let mut pending_space = false;
    for c in folded.chars() {
        if is_quotation_mark(c) || is_invisible(c) {
            continue;
        }
        if c.is_whitespace() {
            pending_space = !out.is_empty();
            continue;
        }
        if pending_space {
            let before_cjk = out.chars().next_back().is_some_and(is_wide);
            if !before_cjk && !is_wide(c) {
                out.push(' ');
            }
            pending_space = false;
        }
        out.push(c);
    }
    out
}

fn is_wide(c: char) -> bool {
    is_cjk(c) || matches!(c, '，' | '。' | '；' | '：' | '！' | '？' | '、')
}

fn is_quotation_mark(c: char) -> bool {
    matches!(
        c,
        '"' | '\'' | '`' | '\u{2018}'..='\u{201F}' | '\u{00AB}' | '\u{00BB}' | '\u{300C}'..='\u{300F}'
    )
}

/// Zero-width and bidirectional control characters: never part of a comparison, never shown (R21).
pub(super) fn is_invisible(c: char) -> bool {
    matches!(c,
        '\u{00AD}' | '\u{034F}' | '\u{061C}' | '\u{115F}' | '\u{1160}' | '\u{17B4}' | '\u{17B5}'
        | '\u{180B}'..='\u{180F}' | '\u{200B}'..='\u{200F}' | '\u{202A}'..='\u{202E}'
        | '\u{2060}'..='\u{206F}' | '\u{3164}' | '\u{FE00}'..='\u{FE0F}' | '\u{FEFF}' | '\u{FFA0}'
        | '\u{FFF9}'..='\u{FFFB}' | '\u{E0000}'..='\u{E0FFF}')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stands_in(quote: &str, report: &str) -> bool {
        Quotable::new(&Report::from_text(report)).find(quote).is_some()
    }

    #[test]
    fn r3_quotes_that_do_not_stand() {
        for (quote, report) in [
            ("", "anything at all"),
            ("pool", "the pool is at 30 %"),
            ("at 30", "the pool is at 30 %"),
            ("pool is exhausted now", "the pool is not exhausted now"),
            ("deployed since yesterday", "nothing deployed since yesterday"),
            ("the pool is at 80 %", "the pool is at 30 %"),
            ("is at 30 percent of", "this at 30 percent of"),
            ("pool at 30 … gateway 429", "gateway 429 and then the pool at 30"),
            ("连接池", "连接池使用率 30%"),
            ("连接池已满", "连接池未满，连接池正常"),
            ("有发布记录", "今天没有发布记录"),
            ("latency of 30", "latency of 30.5 ms"),
        ] {
            assert!(!stands_in(quote, report), "{quote} / {report}");
        }
    }

    #[test]
    fn r3_quotes_that_stand() {
        for (quote, report) in [
            ("upstream returned 429", "gateway: upstream returned 429 Too Many Requests"),
            ("hikaricp_connections_pending 61", "active 20, hikaricp_connections_pending 61, max 20"),
            ("The Pool  Is at 30 %", "so the pool is\nat 30 % only"),
            ("“pool at 30 %”", "'pool at 30 %' said alice"),
            ("支付接口返回503,错误率约20%", "支付接口返回５０３，错误率约２０％，重启过一次没用。"),
            ("握手失败", "网关握手失败，大量客户端报错"),
            ("Connection is not available", "HikariPool-1 - Connection is not available, timed out"),
            ("pool at 30 … gateway 429", "the pool at 30 and then the gateway 429"),
        ] {
            assert!(stands_in(quote, report), "{quote} / {report}");
        }
    }
}

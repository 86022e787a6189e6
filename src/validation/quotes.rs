//! Quotes that stand in the report (R3), and whose word they are.
//!
//! A quote is compared after NFKC and folding of case, white space, line wraps and quotation marks;
//! it must stand on whole words, be long enough to mean something, and not leave out the negation
//! of the clause that it is taken from. Each part of `a … b` must stand, in order.

use crate::incident::Report;
use crate::incident::sameness::negates;
use crate::incident::words::{fold, is_cjk, is_stop_word};

/// Fewest words of a quote, unless it has [`LEAST_CHARACTERS`].
const LEAST_WORDS: usize = 3;
/// Fewest characters of a quote of fewer words, spaces between them counted.
const LEAST_CHARACTERS: usize = 12;
/// Fewest characters of a Chinese, Japanese or Korean quote.
const LEAST_CJK: usize = 4;

/// How far a quote is widened to its clause on each side, in bytes: no clause that a person wrote is
/// longer, and a log without any punctuation is no clause.
const WIDEST: usize = 400;
/// Places of one quote that are looked at; each may leave out a negation.
const MOST_PLACES: usize = 40;

/// A report prepared for looking up quotes.
pub(super) struct Quotable {
    parts: Vec<(Option<String>, Comparable)>,
}

/// A text in the form in which quotes are compared.
struct Comparable {
    text: String,
    /// Where a line ends that is no mere wrap, in bytes of `text`, ascending.
    breaks: Vec<usize>,
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
                .map(|(author, text)| (author.map(str::to_owned), Comparable::new(text)))
                .collect(),
        }
    }

    /// Whether a quote stands in the report, and whose word it is.
    pub fn find(&self, quote: &str) -> Option<Standing<'_>> {
        if quote.len() > LONGEST {
            return None;
        }
        let pieces: Vec<String> = quote
            .replace("[...]", "…")
            .replace("[…]", "…")
            .replace("...", "…")
            .split('…')
            .map(|piece| Comparable::new(piece).text)
            .filter(|piece| !piece.is_empty())
            .collect();
        // Words picked out one by one (`the … is … down`) stand in any report: one part has to be
        // long enough by itself.
        if !pieces.iter().any(|piece| is_long_enough(piece)) {
            return None;
        }
        self.parts.iter().find_map(|(author, text)| {
            stands(&pieces, text).then_some(Standing {
                author: author.as_deref(),
            })
        })
    }
}

/// Longest quote that is looked up, in bytes.
const LONGEST: usize = 8 * 1024;

fn is_long_enough(piece: &str) -> bool {
    let cjk = piece.chars().filter(|c| is_cjk(*c)).count();
    let words = piece
        .split_whitespace()
        .filter(|word| word.chars().any(char::is_alphanumeric))
        .count();
    cjk >= LEAST_CJK || words >= LEAST_WORDS || piece.chars().count() >= LEAST_CHARACTERS
}

/// Each piece stands, in order, at a place where it leaves out no negation.
fn stands(pieces: &[String], report: &Comparable) -> bool {
    let text = report.text.as_str();
    let mut from = 0;
    for piece in pieces {
        let mut found = None;
        let mut search = from;
        let mut places = 0;
        let piece_negates = negates(piece);
        while let Some(offset) = text
            .get(search..)
            .and_then(|rest| rest.find(piece.as_str()))
        {
            let start = search + offset;
            let end = start + piece.len();
            if is_boundary(text, start) && is_boundary(text, end) {
                if piece_negates || !negates(report.clause_around(start, end)) {
                    found = Some(end);
                    break;
                }
                places += 1;
                if places >= MOST_PLACES {
                    break;
                }
            }
            search = start
                + text
                    .get(start..)
                    .and_then(|rest| rest.chars().next())
                    .map_or(1, char::len_utf8);
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
            !(joins(a) && joins(b) || splits_number(text, at, a, b))
        }
        _ => true,
    }
}

/// `30` is not quoted out of `30.5` or `1,300`; a comma with any other than three digits behind it
/// separates (`batch_size=256，4 张卡`).
fn splits_number(text: &str, at: usize, before: char, after: char) -> bool {
    let digits_from = |at: usize| {
        text.get(at..)
            .unwrap_or_default()
            .bytes()
            .take_while(u8::is_ascii_digit)
            .count()
    };
    let joins = |mark: char, digits: usize| match mark {
        '.' => digits > 0,
        ',' => digits == 3,
        _ => false,
    };
    let digit_before_last = text
        .get(..at)
        .and_then(|head| head.chars().rev().nth(1))
        .is_some_and(|c| c.is_ascii_digit());
    (before.is_ascii_digit() && joins(after, digits_from(at.saturating_add(1))))
        || (digit_before_last && joins(before, digits_from(at)))
}

impl Comparable {
    /// The clause in which this range stands.
    fn clause_around(&self, start: usize, end: usize) -> &str {
        let text = self.text.as_str();
        let floor = floor(text, start.saturating_sub(WIDEST));
        let ceiling = floor_up(text, end.saturating_add(WIDEST));
        let head = text.get(floor..start).unwrap_or_default();
        let tail = text.get(end..ceiling).unwrap_or_default();
        let mut from = floor + last_break(head);
        let mut to = first_break(tail).map_or(ceiling, |offset| end + offset);
        let line = self.breaks.partition_point(|at| *at <= start);
        if let Some(at) = line.checked_sub(1).and_then(|index| self.breaks.get(index)) {
            from = from.max(*at);
        }
        let line = self.breaks.partition_point(|at| *at < end);
        if let Some(at) = self.breaks.get(line) {
            to = to.min(*at);
        }
        text.get(from..to.max(from)).unwrap_or_default()
    }
}

fn floor(text: &str, mut at: usize) -> usize {
    while at > 0 && !text.is_char_boundary(at) {
        at -= 1;
    }
    at.min(text.len())
}

fn floor_up(text: &str, mut at: usize) -> usize {
    while at < text.len() && !text.is_char_boundary(at) {
        at += 1;
    }
    at.min(text.len())
}

fn is_hard_break(c: char) -> bool {
    matches!(
        c,
        ';' | '!' | '?' | '。' | '；' | '！' | '？' | '\n' | ',' | '，' | '、'
    )
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

impl Comparable {
    /// Line breaks become spaces (a wrapped line is one sentence), quotation marks vanish, white
    /// space beside CJK characters and before a percent sign too.
    fn new(text: &str) -> Self {
        let mut out = String::with_capacity(text.len());
        let mut breaks = Vec::new();
        let mut before: Option<String> = None;
        for line in text.lines() {
            let folded = fold(line);
            if let Some(before) = before.take()
                && !is_wrap(&before, line)
                && !out.is_empty()
            {
                breaks.push(out.len());
            }
            let mut pending_space = !out.is_empty();
            for c in folded.chars() {
                if is_quotation_mark(c) || is_invisible(c) {
                    continue;
                }
                if c.is_whitespace() {
                    pending_space = !out.is_empty();
                    continue;
                }
                if pending_space {
                    let last = out.chars().next_back();
                    let joins = last.is_none_or(is_wide)
                        || is_wide(c)
                        || (c == '%' && last.is_some_and(|last| last.is_ascii_digit()));
                    if !joins {
                        out.push(' ');
                    }
                    pending_space = false;
                }
                out.push(c);
            }
            before = Some(line.to_owned());
        }
        Self { text: out, breaks }
    }
}

/// A line that goes on in the next one: wide or ending in the middle of a phrase, without a mark at
/// its end, and the next begins in lower case.
fn is_wrap(line: &str, next: &str) -> bool {
    let line = line.trim_end();
    let Some(first) = next.trim_start().chars().next() else {
        return false;
    };
    let Some(last) = line.chars().next_back() else {
        return false;
    };
    if !(last.is_alphanumeric() || last == ',') || next.starts_with([' ', '\t']) {
        return false;
    }
    if is_cjk(last) && is_cjk(first) {
        return line.chars().count() >= 20;
    }
    let last_word = line
        .rsplit(char::is_whitespace)
        .next()
        .map(fold)
        .unwrap_or_default();
    let dangling = is_stop_word(&last_word) || negates(&last_word);
    first.is_lowercase() && (dangling || line.chars().count() >= 50)
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
        Quotable::new(&Report::from_text(report))
            .find(quote)
            .is_some()
    }

    #[test]
    fn r3_quotes_that_do_not_stand() {
        for (quote, report) in [
            ("", "anything at all"),
            ("pool", "the pool is at 30 %"),
            ("at 30", "the pool is at 30 %"),
            ("pool is exhausted now", "the pool is not exhausted now"),
            (
                "deployed since yesterday",
                "nothing deployed since yesterday",
            ),
            ("the pool is at 80 %", "the pool is at 30 %"),
            ("is at 30 percent of", "this at 30 percent of"),
            (
                "pool at 30 … gateway 429",
                "gateway 429 and then the pool at 30",
            ),
            ("连接池", "连接池使用率 30%"),
            ("连接池已满", "连接池未满，连接池正常"),
            ("有发布记录", "今天没有发布记录"),
            ("latency of 30", "latency of 30.5 ms"),
            ("the … is … at", "the pool is down, at night"),
            ("pool is exhausted … now", "pool is exhausted"),
            (
                "exhausted the whole pool",
                "we have not\nexhausted the whole pool",
            ),
            (
                "deployed since yesterday",
                "as far as we could see up to now there was nothing\ndeployed since yesterday",
            ),
            ("the pool is … exhausted", "the pool is not exhausted"),
        ] {
            assert!(!stands_in(quote, report), "{quote} / {report}");
        }
    }

    #[test]
    fn r3_quotes_that_stand() {
        for (quote, report) in [
            (
                "upstream returned 429",
                "gateway: upstream returned 429 Too Many Requests",
            ),
            (
                "hikaricp_connections_pending 61",
                "active 20, hikaricp_connections_pending 61, max 20",
            ),
            ("The Pool  Is at 30 %", "so the pool is\nat 30 % only"),
            ("“pool at 30 %”", "'pool at 30 %' said alice"),
            (
                "支付接口返回503,错误率约20%",
                "支付接口返回５０３，错误率约２０％，重启过一次没用。",
            ),
            ("握手失败", "网关握手失败，大量客户端报错"),
            (
                "Connection is not available",
                "HikariPool-1 - Connection is not available, timed out",
            ),
            (
                "pool at 30 … gateway 429",
                "the pool at 30 and then the gateway 429",
            ),
            ("DB pool at 30%", "upstream 429s, DB pool at 30 %"),
            (
                "error rate 27% on checkout",
                "nothing deployed today\nerror rate 27% on checkout",
            ),
            (
                "request timed out",
                "Connection is not available, request timed out",
            ),
            (
                "hikaricp_connections_pending 61 [...] max 20",
                "active 20, hikaricp_connections_pending 61, max 20",
            ),
            ("nfs timeouts", "many NFS timeouts since noon"),
            ("支付接口返回503", "今天没有发布\n支付接口返回 503"),
        ] {
            assert!(stands_in(quote, report), "{quote} / {report}");
        }
    }
}

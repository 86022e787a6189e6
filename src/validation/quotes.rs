//! Quotes that stand in the report (R3), and whose word they are.
//!
//! A quote is compared after NFKC and folding of case, white space, line wraps and quotation marks;
//! it must stand on whole words, be long enough to mean something, and not leave out the negation
//! of the clause that it is taken from. Each part of `a … b` must stand, in order.

use crate::incident::Report;
use crate::incident::sameness::negates;
use crate::incident::words::{fold, is_cjk, is_stop_word};
use regex::Regex;
use std::sync::LazyLock;

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
        let before = text.get(from..start).unwrap_or_default();
        if let Some((reason, _)) = before.rsplit_once(": ")
            && tells_an_error(reason)
        {
            from += reason.len() + 2;
        }
        let line = self.breaks.partition_point(|at| *at < end);
        if let Some(at) = self.breaks.get(line) {
            to = to.min(*at);
        }
        text.get(from..to.max(from)).unwrap_or_default()
    }
}

/// What stands before the colon of an error line says what failed, and what follows says why: `could
/// not connect to server: connection refused`. Its *not* does not deny the reason, as that of *this
/// is not the case: …* does.
fn tells_an_error(before_colon: &str) -> bool {
    static FAILED: LazyLock<Option<Regex>> = LazyLock::new(|| {
        Regex::new(concat!(
            r"(?:\b(?:could|can|did|does|do|will|would) not|\b(?:cannot|can't|couldn't|didn't|doesn't)) ",
            r"(?:connect|resolve|open|read|write|find|load|create|start|bind|get|fetch|parse|acquire|obtain|allocate|send|establish|reach|access|execute|lock|respond|complete|initiali[sz]e|process|verify|validate|authenticate|match|exist|run|mount|pull|commit|save|extend)\b|",
            r"\bnot (?:found|valid|available|ready|responding|reachable|allowed|permitted|authori[sz]ed|supported|enough|connected|resolved|synchroni[sz]ed|schedulable|accepted|trusted)\b|",
            r"\bno (?:such|route|space|more|route to host|connection|response|answer|healthy|live|available|space left)\b"
        ))
        .ok()
    });
    FAILED
        .as_ref()
        .is_some_and(|failed| failed.is_match(before_colon))
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
        let lines: Vec<&str> = text.lines().collect();
        for (index, line) in lines.iter().enumerate() {
            let folded = fold(line);
            if index > 0 && !is_wrap(&lines, index) && !out.is_empty() {
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
        }
        Self { text: out, breaks }
    }
}

/// Whether the line before this one goes on in it.
///
/// Who types facts one to a line ends few of them with a mark, so that a long line followed by a
/// small letter is no wrap yet. It is one where the line ends in the middle of a phrase, where this
/// one begins with a word that needs something before it, or where both stand in a paragraph that
/// was wrapped at one width.
fn is_wrap(lines: &[&str], index: usize) -> bool {
    let at = |index: Option<usize>| index.and_then(|index| lines.get(index)).copied();
    let (Some(line), Some(next)) = (at(index.checked_sub(1)), at(Some(index))) else {
        return false;
    };
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
        return DANGLING_HAN.iter().any(|end| line.ends_with(end))
            || (width(line) >= 40 && in_wrapped_paragraph(lines, index));
    }
    if !first.is_lowercase() {
        return false;
    }
    let word = |word: Option<&str>| word.map(fold).unwrap_or_default();
    let last_word = word(line.rsplit(char::is_whitespace).next());
    if is_stop_word(&last_word) || negates(&last_word) {
        return true;
    }
    let first_word = word(next.split_whitespace().next());
    let leans = is_stop_word(&first_word) && !BEGINS_A_FACT.contains(&first_word.as_str());
    width(line) >= 50 && (leans || in_wrapped_paragraph(lines, index))
}

/// Whether this line stands in a paragraph of three lines and more in which no line had room for the
/// first word of the next.
fn in_wrapped_paragraph(lines: &[&str], index: usize) -> bool {
    let is_prose = |at: usize| {
        lines
            .get(at)
            .is_some_and(|line| line.starts_with(char::is_alphabetic))
    };
    // Bounded: a wrapped paragraph shows itself within a few lines.
    let mut from = index;
    while from > 0 && index - from < MOST_LINES && is_prose(from - 1) {
        from -= 1;
    }
    let mut to = index;
    while to < index + MOST_LINES && is_prose(to + 1) {
        to += 1;
    }
    let paragraph = lines.get(from..=to).unwrap_or_default();
    let edge = paragraph.iter().map(|line| width(line.trim_end())).max();
    let Some(edge) = edge.filter(|_| paragraph.len() > 2) else {
        return false;
    };
    paragraph.windows(2).all(|pair| match pair {
        [line, next] => {
            let needed = if next.starts_with(is_cjk) {
                3
            } else {
                1 + next.split_whitespace().next().map_or(0, width)
            };
            width(line.trim_end()) + needed > edge
        }
        _ => false,
    })
}

/// How far a paragraph is looked at on each side, in lines.
const MOST_LINES: usize = 12;

/// Stop words with which a line of its own may well begin.
const BEGINS_A_FACT: &[&str] = &[
    "a", "an", "it", "its", "our", "some", "that", "the", "their", "there", "these", "they",
    "this", "those", "we", "please", "also", "again", "only", "in", "on", "at", "from", "for",
];

/// What stands in the middle of a Chinese phrase.
const DANGLING_HAN: &[&str] = &[
    "的", "是", "在", "和", "与", "及", "或", "把", "被", "将", "对", "从", "没", "未", "不", "无",
    "没有", "并非", "因为", "由于", "所以", "但是", "而且", "如果", "虽然",
];

/// Columns of a line: wide characters take two.
fn width(line: &str) -> usize {
    line.chars().map(|c| if is_cjk(c) { 2 } else { 1 }).sum()
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
            (
                "the pool is exhausted",
                "this is not the case: the pool is exhausted",
            ),
            (
                "the pool is exhausted",
                "not confirmed: the pool is exhausted",
            ),
            // Wrapped at one width, or in the middle of a phrase.
            (
                "exhausted the whole pool",
                "we went through the graphs of the last three hours and nobody\nexhausted the whole pool in that time as far as the graphs go\nback",
            ),
            (
                "and the pool ran dry",
                "it is not the case that somebody changed the limits of the host\nand the pool ran dry",
            ),
            (
                "连接池耗尽了",
                "我们看了监控确认不是因为流量上涨所以没有\n连接池耗尽了这种情况",
            ),
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
            (
                "connection refused",
                "psql: could not connect to server: Connection refused",
            ),
            (
                "signature validation failed",
                "SAML: Response is not valid: Signature validation failed. Rejected",
            ),
            // Facts one to a line, without a mark at their ends.
            (
                "flags were switched on for everybody at 13:02",
                "the flags were switched on for everybody at 13:02 in this region\nhosts in pool blue have no sidecar",
            ),
            (
                "alarm is set on the broker",
                "publishers of the mail service hang and the mails do not go out\nalarm is set on the broker\n{}",
            ),
            (
                "三个实例用了同一个标识",
                "消息服务磁盘水位百分之四十一，网络没有丢包\n三个实例用了同一个标识，是新镜像写死的",
            ),
        ] {
            assert!(stands_in(quote, report), "{quote} / {report}");
        }
    }
}

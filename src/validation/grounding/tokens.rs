//! A claim as the things in it that need evidence.

use super::names::is_name_shape;
use super::quantities::{
    Quantity, Unit, counts_something, han_number, instant_of, is_vague_before, nearest,
    number_token, plain, tens, vague_share,
};
use crate::incident::words::fold;
use crate::validation::text::narrow;
use regex::Regex;
use std::sync::LazyLock;

/// Something in a claim that needs evidence.
pub(super) struct Token {
    /// Range in characters.
    pub(super) start: usize,
    pub(super) end: usize,
    pub(super) kind: TokenKind,
}

#[derive(Debug)]
pub(super) enum TokenKind {
    Number(Quantity),
    /// Clocks and dates, folded; of a clock with a zone, the minute of the day in UTC.
    Clock(String, Option<i32>),
    /// A share or count in vague words (三成): the words themselves must stand.
    Vague(String, Option<Quantity>),
    Name(String),
    /// A plain word: nothing but an analogy's internals can object to it.
    Word(String),
    /// A long option: as a word.
    Flag(String),
}

pub(super) static SHAPES: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(concat!(
        // Addresses of the web, whole.
        r"(?P<url>[A-Za-z][A-Za-z0-9+.-]*://[^\s<>]+)",
        // Numbers of incidents are R1's; a ticket's is a number as any other.
        r"|(?P<ticket>(?i:PRs?|MRs?|pull requests?|merge requests?|issues?|tickets?|工单|需求|合并请求) ?#(?P<ticketnumber>[0-9]+))",
        r"|(?P<id>(?i:INC)[- ]?[0-9]+|#[0-9]+)",
        // Placeholders for what changes.
        r"|(?P<placeholder><[a-z]+(?: [a-z]+)?>)",
        // Paths from the root; a lone slash inside a word is no path.
        r"|(?P<path>(?:~|\.{1,2})?/[A-Za-z0-9_.{}*-]+(?:/[A-Za-z0-9_.{}*-]+)*/?)",
        // One moment, as machines write it; seconds are no news.
        r"|(?P<stamp>20[0-9]{2}-[01][0-9]-[0-3][0-9][Tt](?:[01][0-9]|2[0-3]):[0-5][0-9])(?::[0-5][0-9](?:[.,][0-9]+)?)?(?:[Zz]|[+-][0-9]{2}:?[0-9]{2})?",
        r"|(?P<date>20[0-9]{2}[-/][01]?[0-9][-/][0-3]?[0-9](?-u:\b))",
        r"|(?P<clock>(?:[01]?[0-9]|2[0-3]):[0-5][0-9](?::[0-5][0-9])?(?: ?[AaPp]\.?[Mm])?(?-u:\b))",
        r"|(?P<flag>--?[A-Za-z][A-Za-z0-9-]*)",
        // Numbers in Chinese words: exact (百分之三十, 六百一十个) and vague (三成).
        r"|(?P<hanshare>百分之[零〇一二两三四五六七八九十百]+)",
        r"|(?P<vague>[一二两三四五六七八九]成半?)",
        r"|(?P<han>[一二两三四五六七八九]?[十百千万亿][零〇一二两三四五六七八九十百千万亿]*)(?P<hanunit>毫秒|秒|分钟|小时|天|个|次|条|台|笔|人|名|倍|家|起|%)",
        r"|(?P<tens>(?i:twenty|thirty|forty|fifty|sixty|seventy|eighty|ninety)(?:[- ](?i:one|two|three|four|five|six|seven|eight|nine))?\s?(?i:percent|per cent|%))",
        r"|(?P<name>[A-Za-z_][A-Za-z0-9_]*(?:(?:::|->|\.|-)[A-Za-z0-9_]+|:[A-Za-z_][A-Za-z0-9_]*)*(?:\(\))?)",
        // 1.2.3 and more dots are versions or addresses; a number has at most one decimal point.
        r"|(?P<version>[0-9]+(?:\.[0-9]+){2,}(?:[-+][A-Za-z0-9.]+)?)",
        r"|(?P<number>[0-9]+(?:,[0-9]{3})*(?:\.[0-9]+)?)(?P<unit>\s?(?:%|percent\b|(?:milliseconds?|ms|µs|us|seconds?|secs?|minutes?|mins?|hours?|hrs?|days?|s|m|h|d|[KMGTk]i?B?|bytes?|B)\b|million\b|billion\b|thousand\b|[万亿]|百分|毫秒|秒|分钟|小时|天))?",
        r"(?P<glued>[A-Za-z][A-Za-z0-9_-]*)?",
    ))
    .ok()
});

/// The tokens of a text that need evidence, in order; plain words too where `words` is set.
/// Positions are in characters.
pub(super) fn tokens(chars: &[char], words: bool) -> Vec<Token> {
    let Some(shapes) = SHAPES.as_ref() else {
        return Vec::new();
    };
    // One character each, so that positions hold.
    let folded: String = chars.iter().map(|c| narrow(*c)).collect();
    let ascii = folded.is_ascii();
    let (mut byte, mut count) = (0, 0);
    let mut at = |to: usize| {
        if ascii {
            return to;
        }
        // Asked in ascending order only.
        if to >= byte {
            count += folded
                .get(byte..to)
                .map_or(0, |between| between.chars().count());
            byte = to;
        }
        count
    };
    let mut out = Vec::new();
    for captures in shapes.captures_iter(&folded) {
        let Some(whole) = captures.get(0) else {
            continue;
        };
        let (start, end) = (at(whole.start()), at(whole.end()));
        let word = whole.as_str();
        let before = folded
            .get(..whole.start())
            .and_then(|head| head.chars().next_back());
        let glued_before =
            before.is_some_and(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '-'));
        let mut push = |kind| out.push(Token { start, end, kind });
        if captures.name("path").is_some() && glued_before {
            // `deployment/coredns`, `and/or`: each part is a word of its own. As a whole it may be
            // a path of an analogy.
            for part in word.split('/').filter(|part| is_name_shape(part)) {
                push(TokenKind::Name(part.to_owned()));
            }
            let head = nearest(folded.get(..whole.start()).unwrap_or_default());
            let lead = head
                .rsplit(|c: char| !(c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.')))
                .next()
                .unwrap_or_default();
            push(TokenKind::Word(fold(&format!("{lead}{word}"))));
        } else if captures.name("url").is_some() || captures.name("path").is_some() {
            push(TokenKind::Name(
                word.trim_end_matches(['.', ',', ')', '/']).to_owned(),
            ));
        } else if let Some(stamp) = captures.name("stamp") {
            push(TokenKind::Clock(fold(stamp.as_str()), None));
        } else if captures.name("clock").is_some() || captures.name("date").is_some() {
            let instant = captures
                .name("clock")
                .and_then(|_| instant_of(&folded, whole.start(), whole.end()));
            push(TokenKind::Clock(fold(word), instant));
        } else if captures.name("ticket").is_some() {
            let number = captures.name("ticketnumber").map_or("", |n| n.as_str());
            push(TokenKind::Name(number.to_owned()));
        } else if captures.name("flag").is_some() {
            if word.starts_with("--") {
                push(TokenKind::Flag(fold(word)));
            }
        } else if captures.name("hanshare").is_some() {
            let digits = word.trim_start_matches("百分之");
            if let Some(value) = han_number(digits) {
                push(TokenKind::Vague(
                    fold(word),
                    Some(Quantity::new(value, Unit::Percent)),
                ));
            }
        } else if captures.name("vague").is_some() {
            push(TokenKind::Vague(fold(word), vague_share(word)));
        } else if let (Some(han), Some(unit)) = (captures.name("han"), captures.name("hanunit")) {
            let vague = before.is_some_and(is_vague_before);
            if let (Some(value), false) = (han_number(han.as_str()), vague)
                && let Some(TokenKind::Number(quantity)) =
                    number_token(&plain(value), unit.as_str(), "", "", 0)
            {
                push(TokenKind::Vague(fold(word), Some(quantity)));
            }
        } else if captures.name("tens").is_some() {
            push(TokenKind::Vague(fold(word), tens(word)));
        } else if let Some(name) = captures.name("name") {
            let parts: Vec<&str> = name.as_str().split(':').collect();
            if parts.len() == 2 && !name.as_str().contains("::") {
                // `sso:token` may be a key or two words; keys have more parts, or are an analogy's.
                push(TokenKind::Word(fold(name.as_str())));
                for part in parts.into_iter().filter(|part| is_name_shape(part)) {
                    push(TokenKind::Name(part.to_owned()));
                }
            } else if is_name_shape(name.as_str()) {
                push(TokenKind::Name(
                    name.as_str().trim_end_matches("()").to_owned(),
                ));
            } else if words && name.as_str().len() >= 3 {
                push(TokenKind::Word(fold(name.as_str())));
            }
        } else if captures.name("version").is_some() {
            push(TokenKind::Name(word.to_owned()));
        } else if let Some(number) = captures.name("number") {
            let unit = captures
                .name("unit")
                .map_or("", |unit| unit.as_str().trim());
            let glued = captures.name("glued").map_or("", |glued| glued.as_str());
            let mut kind = number_token(number.as_str(), unit, glued, &folded, whole.start());
            if let Some(TokenKind::Number(quantity)) = kind.as_mut() {
                quantity.counts = counts_something(folded.get(whole.end()..).unwrap_or_default());
            }
            if let Some(kind) = kind {
                push(kind);
            }
        }
    }
    out
}

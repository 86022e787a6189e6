//! Numbers with units, counts, shares and clocks: how they are read, and when two are the same.

use super::tokens::TokenKind;
use crate::incident::words::{fold, is_cjk};
use regex::Regex;
use std::collections::HashSet;
use std::sync::LazyLock;

#[derive(Clone, Debug, PartialEq)]
pub(super) struct Quantity {
    pub(super) value: f64,
    pub(super) unit: Unit,
    /// Sizes: the value with factors of 1,024, for people write 512Mi and 512 MB for the same.
    pub(super) binary: f64,
    /// A plain number that says how many there are of something (`500 connections`).
    pub(super) counts: bool,
    /// Its unit is a lone `m`.
    pub(super) lone_m: bool,
}

impl Quantity {
    pub(super) fn new(value: f64, unit: Unit) -> Self {
        Self {
            value,
            unit,
            binary: value,
            counts: false,
            lone_m: false,
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Unit {
    Percent,
    /// Value in milliseconds.
    Time,
    /// Value in bytes.
    Size,
    /// No unit, or a counted noun.
    Plain,
}

pub(super) static QUANTITIES: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(concat!(
        r"(?P<number>[0-9]+(?:,[0-9]{3})*(?:\.[0-9]+)?)(?P<unit>\s?(?:%|percent\b|(?:milliseconds?|ms|µs|us|seconds?|secs?|minutes?|mins?|hours?|hrs?|days?|s|m|h|d|[kmgt]i?b?|bytes?|b)\b|million\b|billion\b|thousand\b|[万亿]|百分|毫秒|秒|分钟|小时|天))?(?P<glued>[a-z][a-z0-9_-]*)?",
        r"|百分之(?P<share>[零〇一二两三四五六七八九十百]+)",
        r"|(?P<han>[一二两三四五六七八九]?[十百千万亿][零〇一二两三四五六七八九十百千万亿]*)(?P<hanunit>毫秒|秒|分钟|小时|天|个|次|条|台|笔|人|名|倍|家|起|%)",
    ))
    .ok()
});

/// Every quantity of a folded text: what can support a claim. Wider than what a claim's tokens are
/// (each part of a clock counts), and one pass over what may be a long log. 百分之三十 is exact and
/// counts; 三成 never supports an exact number.
pub(super) fn quantities(folded: &str) -> impl Iterator<Item = Quantity> {
    let all = QUANTITIES
        .as_ref()
        .map(|pattern| pattern.captures_iter(folded));
    all.into_iter().flatten().filter_map(move |captures| {
        if let Some(number) = captures.name("number") {
            if is_part_of_a_sequence(folded, number.start(), number.end()) {
                return None;
            }
            let text = |name| {
                captures
                    .name(name)
                    .map_or("", |part: regex::Match<'_>| part.as_str().trim())
            };
            match number_token(
                number.as_str(),
                text("unit"),
                text("glued"),
                folded,
                number.start(),
            )? {
                TokenKind::Number(mut quantity) => {
                    let before = folded.get(..number.start()).unwrap_or_default();
                    quantity.counts = !is_behind_status(before) && text("glued").is_empty();
                    Some(quantity)
                }
                _ => None,
            }
        } else if let Some(share) = captures.name("share") {
            Some(Quantity::new(han_number(share.as_str())?, Unit::Percent))
        } else {
            let before = folded
                .get(..captures.get(0)?.start())
                .and_then(|head| head.chars().next_back());
            if before.is_some_and(is_vague_before) {
                return None;
            }
            match number_token(
                &plain(han_number(captures.name("han")?.as_str())?),
                captures.name("hanunit")?.as_str(),
                "",
                "",
                0,
            )? {
                TokenKind::Number(quantity) => Some(quantity),
                _ => None,
            }
        }
    })
}

/// 几百个, 数十个, 上千次: vague, and no exact number.
pub(super) fn is_vague_before(c: char) -> bool {
    matches!(c, '几' | '数' | '上' | '成' | '近' | '好' | '多')
}

/// `19` of `19:22`, `10` of `10.4.2.9`, `13` of `2.13.0`: no number by itself. The port of an address
/// is one.
pub(super) fn is_part_of_a_sequence(text: &str, start: usize, end: usize) -> bool {
    let head = text.get(..start).unwrap_or_default().as_bytes();
    let tail = text.get(end..).unwrap_or_default().as_bytes();
    let digit = |byte: Option<&u8>| byte.is_some_and(u8::is_ascii_digit);
    let len = end.saturating_sub(start);
    let number = text.get(start..end).unwrap_or_default();
    let joined = |mark: u8| {
        let behind = head.last() == Some(&mark) && digit(head.iter().rev().nth(1));
        let before = tail.first() == Some(&mark) && digit(tail.get(1));
        (behind, before)
    };
    let (after_dot, before_dot) = joined(b'.');
    let (after_colon, before_colon) = joined(b':');
    // `filters.js:88:21` is a place in a file.
    let in_a_file = head.last() == Some(&b':') && !after_colon;
    let clock = !in_a_file
        && (after_colon || before_colon)
        && (len <= 2 || (after_colon && number.contains('.')));
    let dotted = after_dot || (before_dot && number.contains('.'));
    clock || dotted
}

/// A number that may be a status of HTTP as well as a count.
pub(super) fn is_status(value: f64) -> bool {
    (400.0..600.0).contains(&value) && value.fract() == 0.0
}

/// `返回 500`, `status 503`, `answers 502`: what follows is a status.
pub(super) fn is_behind_status(before: &str) -> bool {
    let before = nearest(before).trim_end_matches([' ', ':', '=', '"', '/']);
    [
        "http",
        "status",
        "code",
        "returns",
        "returned",
        "returning",
        "answers",
        "answered",
        "with",
        "gets",
        "get",
        "in",
        "返回",
        "状态码",
        "报",
        "报错",
        "错误码",
        "响应",
        "变成",
        "是",
    ]
    .iter()
    .any(|word| before.ends_with(word))
}

/// What stands behind a plain number is what it counts, and no word for answers.
pub(super) fn counts_something(after: &str) -> bool {
    let Some(rest) = after.strip_prefix(' ').or(Some(after)) else {
        return false;
    };
    let unlike = ["次数", "条件", "名称", "家族", "人工", "个别"];
    if rest.starts_with(['个', '条', '台', '次', '笔', '人', '家', '名', '张', '件'])
        && !unlike.iter().any(|word| rest.starts_with(word))
    {
        return true;
    }
    let word: String = rest
        .chars()
        .take_while(char::is_ascii_alphabetic)
        .collect::<String>()
        .to_ascii_lowercase();
    after.starts_with(' ')
        && word.len() > 3
        && word.ends_with('s')
        && ![
            "errors",
            "responses",
            "answers",
            "statuses",
            "codes",
            "replies",
            "failures",
            "alerts",
            "returns",
            "rises",
            "happens",
            "stays",
            "appears",
            "falls",
            "stops",
            "requests",
            "spikes",
            "starts",
            "does",
            "comes",
            "grows",
            "this",
            "across",
            "always",
            "means",
            "from",
            "is",
            "was",
            "rates",
        ]
        .contains(&word.as_str())
}

/// Clocks with a zone, as minutes of the day in UTC, and the hours and minutes of those without.
pub(super) fn instants(folded: &str) -> (HashSet<i32>, HashSet<String>) {
    static CLOCK: LazyLock<Option<Regex>> = LazyLock::new(|| {
        // Also inside a time stamp, whose zone is behind it.
        Regex::new(r"(?-u:\b)(?:20[0-9]{2}-[0-9]{2}-[0-9]{2}t)?(?P<clock>(?:[01]?[0-9]|2[0-3]):[0-5][0-9](?::[0-5][0-9])?)(?:[.,][0-9]+)?(?-u:\b|z)").ok()
    });
    let (mut zoned, mut unzoned) = (HashSet::new(), HashSet::new());
    let found = CLOCK
        .as_ref()
        .into_iter()
        .flat_map(|clock| clock.captures_iter(folded))
        .filter_map(|found| found.name("clock"));
    for clock in found {
        match instant_of(folded, clock.start(), clock.end()) {
            Some(instant) => {
                zoned.insert(instant);
            }
            None => {
                unzoned.insert(hour_and_minute(clock.as_str()));
            }
        }
    }
    (zoned, unzoned)
}

/// `9:20` of `09:20:31`.
pub(super) fn hour_and_minute(clock: &str) -> String {
    let clock = clock.trim_start_matches('0');
    let clock = if clock.starts_with(':') {
        format!("0{clock}")
    } else {
        clock.to_owned()
    };
    clock.split(':').take(2).collect::<Vec<_>>().join(":")
}

/// The minute of the day in UTC of the clock at this place, where a zone stands beside it: only
/// then is a conversion exact.
pub(super) fn instant_of(text: &str, start: usize, end: usize) -> Option<i32> {
    static BEHIND: LazyLock<Option<Regex>> = LazyLock::new(|| {
        Regex::new(r"(?i)^ ?[(（]?(?P<zone>(?:utc|gmt)(?P<hours> ?[+-][0-9]{1,2})?|z(?-u:\b)|cest|cet|est|edt|pst|pdt|jst|sgt|hkt|北京时间|东八区)").ok()
    });
    static BEFORE: LazyLock<Option<Regex>> = LazyLock::new(|| {
        Regex::new(r"(?i)(?P<zone>(?:utc|gmt)(?P<hours> ?[+-][0-9]{1,2})?|北京时间|东八区)[ ：:]?$")
            .ok()
    });
    let clock = text.get(start..end)?;
    let mut parts = clock.split(':');
    let hours: i32 = parts.next()?.parse().ok()?;
    let minutes: i32 = parts.next()?.parse().ok()?;
    let mut until = end.saturating_add(24).min(text.len());
    while !text.is_char_boundary(until) {
        until -= 1;
    }
    let tail = text.get(end..until)?;
    let head = nearest(text.get(..start)?);
    let captures = BEHIND
        .as_ref()
        .and_then(|zone| zone.captures(tail))
        .or_else(|| BEFORE.as_ref().and_then(|zone| zone.captures(head)))?;
    let zone = fold(captures.name("zone")?.as_str());
    let offset = match captures.name("hours") {
        Some(hours) => hours.as_str().trim().trim_start_matches('+').parse().ok()?,
        None => match zone.as_str() {
            "北京时间" | "东八区" | "sgt" | "hkt" => 8,
            "jst" => 9,
            "cet" => 1,
            "cest" => 2,
            "est" => -5,
            "edt" => -4,
            "pst" => -8,
            "pdt" => -7,
            _ => 0,
        },
    };
    Some((hours * 60 + minutes - offset * 60).rem_euclid(24 * 60))
}

/// A number to compare by: its bits without the last few, where sums of roundings differ.
pub(super) fn key(value: f64) -> u64 {
    (value.to_bits().saturating_add(1 << 7)) >> 8
}

pub(super) fn plain(value: f64) -> String {
    if value.fract() == 0.0 && value.abs() < 1e15 {
        format!("{value:.0}")
    } else {
        format!("{value}")
    }
}

/// `六百一十` is 610; `None` where it is no number.
pub(super) fn han_number(text: &str) -> Option<f64> {
    let (mut total, mut section, mut digit) = (0_u64, 0_u64, None);
    for c in text.chars() {
        let unit = match c {
            '零' | '〇' => {
                digit = Some(0);
                continue;
            }
            '一' => 1,
            '二' | '两' => 2,
            '三' => 3,
            '四' => 4,
            '五' => 5,
            '六' => 6,
            '七' => 7,
            '八' => 8,
            '九' => 9,
            '十' | '百' | '千' => {
                let factor = match c {
                    '十' => 10,
                    '百' => 100,
                    _ => 1_000,
                };
                section += digit.take().filter(|digit| *digit > 0).unwrap_or(1) * factor;
                continue;
            }
            '万' | '亿' => {
                let factor = if c == '万' { 10_000 } else { 100_000_000 };
                total = total.checked_add(
                    (section + digit.take().unwrap_or(0))
                        .max(1)
                        .checked_mul(factor)?,
                )?;
                section = 0;
                continue;
            }
            _ => return None,
        };
        digit = Some(unit);
    }
    Some((total + section + digit.unwrap_or(0)) as f64)
}

/// 三成 is thirty percent, said vaguely: an exact thirty percent supports it, not the reverse.
pub(super) fn vague_share(word: &str) -> Option<Quantity> {
    let tenths = han_number(&word.chars().next()?.to_string())?;
    let half = if word.ends_with('半') { 5.0 } else { 0.0 };
    Some(Quantity::new(tenths * 10.0 + half, Unit::Percent))
}

/// `forty-five percent`.
pub(super) fn tens(word: &str) -> Option<Quantity> {
    let folded = fold(word);
    let value = |words: &[(&str, f64)]| {
        words
            .iter()
            .find(|(name, _)| folded.contains(name))
            .map(|(_, value)| *value)
    };
    let ten = value(&[
        ("twenty", 20.0),
        ("thirty", 30.0),
        ("forty", 40.0),
        ("fifty", 50.0),
        ("sixty", 60.0),
        ("seventy", 70.0),
        ("eighty", 80.0),
        ("ninety", 90.0),
    ])?;
    // Behind the tens, so that `sixty` is no `six`.
    let rest = folded.split(['-', ' ']).nth(1).unwrap_or_default();
    let one = [
        "one", "two", "three", "four", "five", "six", "seven", "eight", "nine",
    ]
    .iter()
    .zip(1_u8..)
    .find(|(name, _)| **name == rest);
    Some(Quantity::new(
        ten + one.map_or(0.0, |(_, one)| f64::from(one)),
        Unit::Percent,
    ))
}

/// A number as a token that needs evidence; `None` where it needs none.
pub(super) fn number_token(
    number: &str,
    unit: &str,
    glued: &str,
    text: &str,
    start: usize,
) -> Option<TokenKind> {
    let value: f64 = number.replace(',', "").parse().ok()?;
    let before = text.get(..start).unwrap_or_default();
    let ends_a_range = before
        .strip_suffix(['-', '–', '~'])
        .is_some_and(ends_with_a_plain_number);
    if !ends_a_range
        && before.ends_with(|c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-'))
    {
        // The tail of a name that the name shape did not take.
        return None;
    }
    if is_behind_flag(before) {
        // `--tail 100`, `--since=10m`, `-n 50`, in prose as in commands.
        return None;
    }
    if !glued.is_empty() {
        // `503s`, `3x`, `2nd`, `5xx` are words about a number; `10k` was a unit.
        let word = format!("{number}{glued}");
        return match fold(glued).as_str() {
            "s" | "x" | "st" | "nd" | "rd" | "th" | "xx" => plain_quantity(value, before),
            _ => Some(TokenKind::Name(word)),
        };
    }
    if unit == "s"
        && (400.0..600.0).contains(&value)
        && value.fract() == 0.0
        && text
            .get(start..)
            .is_some_and(|tail| tail.starts_with(&format!("{number}s")))
    {
        // `503s` are answers, not seconds.
        return plain_quantity(value, before);
    }
    let folded_unit = fold(unit);
    let quantity = match folded_unit.as_str() {
        "" => return plain_quantity(value, before),
        "%" | "percent" | "百分" => Quantity::new(value, Unit::Percent),
        "us" | "µs" | "μs" => Quantity::new(value / 1_000.0, Unit::Time),
        "ms" | "millisecond" | "milliseconds" | "毫秒" => Quantity::new(value, Unit::Time),
        "s" | "sec" | "secs" | "second" | "seconds" | "秒" => {
            Quantity::new(value * 1_000.0, Unit::Time)
        }
        "min" | "mins" | "minute" | "minutes" | "分钟" => {
            Quantity::new(value * 60_000.0, Unit::Time)
        }
        "h" | "hr" | "hrs" | "hour" | "hours" | "小时" => {
            Quantity::new(value * 3_600_000.0, Unit::Time)
        }
        "thousand" => Quantity::new(value * 1_000.0, Unit::Plain),
        "million" => Quantity::new(value * 1_000_000.0, Unit::Plain),
        "billion" => Quantity::new(value * 1_000_000_000.0, Unit::Plain),
        "万" => Quantity::new(value * 10_000.0, Unit::Plain),
        "亿" => Quantity::new(value * 100_000_000.0, Unit::Plain),
        "d" | "day" | "days" | "天" => Quantity::new(value * 86_400_000.0, Unit::Time),
        // A lone `m` is minutes in prose about time and mebi-something elsewhere: minutes.
        "m" if unit == "m" => Quantity {
            lone_m: true,
            ..Quantity::new(value * 60_000.0, Unit::Time)
        },
        size => {
            let power = match size.chars().next() {
                Some('k') => 1,
                Some('m') => 2,
                Some('g') => 3,
                Some('t') => 4,
                _ => 0,
            };
            Quantity {
                value: value * 1_000_f64.powi(power),
                unit: Unit::Size,
                binary: value * 1_024_f64.powi(power),
                ..Quantity::new(value, Unit::Size)
            }
        }
    };
    Some(TokenKind::Number(quantity))
}

/// `20` of `20-40 s`, and neither the day of a date nor the number of a host.
pub(super) fn ends_with_a_plain_number(before: &str) -> bool {
    let before = nearest(before);
    let rest = before.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.');
    rest.len() < before.len()
        && before.len() - rest.len() <= 7
        && !rest.ends_with(|c: char| {
            (c.is_alphanumeric() && !is_cjk(c)) || matches!(c, '-' | '_' | '/' | '.' | ':')
        })
}

/// The last few bytes of what stands before: no word that tells something is longer, and a log
/// without spaces is not walked back for every number in it.
pub(super) fn nearest(before: &str) -> &str {
    let mut from = before.len().saturating_sub(64);
    while !before.is_char_boundary(from) {
        from += 1;
    }
    before.get(from..).unwrap_or_default()
}

pub(super) fn is_behind_flag(before: &str) -> bool {
    let before = nearest(before);
    let trimmed = before.trim_end_matches([' ', '=']);
    if trimmed.len() == before.len() {
        return false;
    }
    let word = trimmed
        .rsplit(char::is_whitespace)
        .next()
        .unwrap_or_default()
        .trim_start_matches(['`', '\'', '"', '(']);
    word.starts_with('-')
        && word
            .trim_start_matches('-')
            .chars()
            .next()
            .is_some_and(|c| c.is_ascii_alphabetic())
}

/// A bare number: one digit says nothing checkable; a status after `HTTP` is a word of operations.
pub(super) fn plain_quantity(value: f64, before: &str) -> Option<TokenKind> {
    if value < 10.0 && value.fract() == 0.0 {
        return None;
    }
    let word_before = nearest(before)
        .trim_end()
        .rsplit(|c: char| !c.is_alphanumeric())
        .next()
        .map(fold)
        .unwrap_or_default();
    if (word_before == "http" && (100.0..600.0).contains(&value))
        || (word_before == "port" && matches!(value as u32, 22 | 53 | 80 | 443))
    {
        return None;
    }
    Some(TokenKind::Number(Quantity::new(value, Unit::Plain)))
}

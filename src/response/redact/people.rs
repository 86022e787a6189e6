//! Personal data: mail addresses, payment cards, bank accounts, phone numbers, national ids of China
//! and the United States.
//!
//! Wanted: each in any of its written forms, by its checksum where it has one. Times, sizes, amounts
//! of money, trace ids, addresses and the numbers of logs stay: a number without a checksum is taken
//! only in the form in which people write it, or behind a word that says what it is.

use super::likeness::is_uuid;
use super::{Finds, Found};
use std::ops::Range;
use std::sync::LazyLock;

/// Longest of what is looked at as one number, in digits.
const MOST_DIGITS: usize = 24;

/// A number as it stands: digits in groups with single separators between.
struct Number<'a> {
    text: &'a str,
    at: Range<usize>,
    digits: Few<MOST_DIGITS>,
    /// Lengths of the groups.
    groups: Few<MOST_DIGITS>,
    /// The separators between them, each once.
    separators: Few<4>,
    plus: bool,
    parenthesis: bool,
    /// An X ends it: the last sign of a Chinese identity number.
    x: bool,
}

/// A list of few bytes, without the allocation that every number of a log would pay for.
struct Few<const MOST: usize> {
    all: [u8; MOST],
    count: usize,
}

impl<const MOST: usize> Few<MOST> {
    fn new() -> Self {
        Self {
            all: [0; MOST],
            count: 0,
        }
    }

    fn push(&mut self, byte: u8) {
        if let Some(place) = self.all.get_mut(self.count) {
            *place = byte;
            self.count += 1;
        }
    }
}

impl<const MOST: usize> std::ops::Deref for Few<MOST> {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        self.all.get(..self.count).unwrap_or_default()
    }
}

/// A run of digits stands here; no digit or letter stands before it.
pub(super) fn at_digits(text: &str, start: usize, end: usize, found: &mut Finds) {
    let bytes = text.as_bytes();
    let before = start.checked_sub(1).and_then(|at| bytes.get(at)).copied();
    // The cheap way out, for nearly all numbers of a log.
    let run = end - start;
    let next = bytes.get(end).copied();
    let joined = matches!(next, Some(b' ' | b'-' | b')' | b'.'))
        && bytes
            .get(end + 1)
            .is_some_and(|b| b.is_ascii_digit() || matches!(b, b' ' | b'(' | b'-'));
    if run < 9 && !joined && before != Some(b'+') {
        return;
    }
    let number = group(text, start);
    if number.digits.len() >= 9 {
        judge(&number, before, found);
    }
}

fn group(text: &str, start: usize) -> Number<'_> {
    let bytes = text.as_bytes();
    let mut number = Number {
        text,
        at: start..start,
        digits: Few::new(),
        groups: Few::new(),
        separators: Few::new(),
        plus: false,
        parenthesis: false,
        x: false,
    };
    match start.checked_sub(1).and_then(|at| bytes.get(at)) {
        Some(b'+') => {
            number.plus = true;
            number.at.start = start - 1;
        }
        Some(b'(') => {
            number.parenthesis = true;
            number.at.start = start - 1;
        }
        _ => {}
    }
    let mut at = start;
    let mut group = 0;
    while let Some(byte) = bytes.get(at) {
        match byte {
            b'0'..=b'9' => {
                if number.digits.len() == MOST_DIGITS {
                    // Longer than anything that is looked for: no number of people.
                    number.digits.count = 0;
                    return number;
                }
                number.digits.push(*byte - b'0');
                group += 1;
                number.at.end = at + 1;
                at += 1;
            }
            b' ' | b'-' | b'.' | b'(' | b')' if group > 0 => {
                // `) `, ` (`: one separator of two signs.
                let mut next = at;
                while next - at < 3
                    && bytes
                        .get(next)
                        .is_some_and(|b| matches!(b, b' ' | b'-' | b'.' | b'(' | b')'))
                {
                    next += 1;
                }
                let between = bytes.get(at..next).unwrap_or_default();
                let plain = between.len() == 1
                    || between == b") "
                    || between == b" ("
                    || between == b")-"
                    || between == b"-("
                    || between == b" - ";
                if !plain || !bytes.get(next).is_some_and(u8::is_ascii_digit) {
                    break;
                }
                number.groups.push(group);
                group = 0;
                for sign in between {
                    if *sign == b'(' || *sign == b')' {
                        number.parenthesis = true;
                    } else if !number.separators.contains(sign) {
                        number.separators.push(*sign);
                    }
                }
                at = next;
            }
            _ => break,
        }
    }
    number.groups.push(group);
    if number.digits.len() == 17 && matches!(bytes.get(number.at.end), Some(b'x' | b'X')) {
        number.x = true;
        number.at.end += 1;
    }
    number
}

impl Number<'_> {
    /// What these of its digits say, read as a number.
    fn value(&self, digits: Range<usize>) -> u32 {
        let digits = self.digits.get(digits).unwrap_or_default();
        digits.iter().fold(0, |sum, d| sum * 10 + u32::from(*d))
    }

    /// Only these separators, or none.
    fn separated_by(&self, signs: &[u8]) -> bool {
        self.separators.len() <= 1 && self.separators.iter().all(|sign| signs.contains(sign))
    }

    fn after(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at.end).copied()
    }

    /// Not the middle of a longer number, word, address or path.
    fn stands_alone(&self, before: Option<u8>) -> bool {
        let bytes = self.text.as_bytes();
        let joins = |b: u8| b.is_ascii_alphanumeric() || b == b'_';
        let digit_at = |at: Option<usize>| {
            at.and_then(|at| bytes.get(at))
                .is_some_and(u8::is_ascii_digit)
        };
        let start = self.at.start;
        let before_ok = match before {
            None | Some(b'+' | b'(') => true,
            Some(b'-') => false,
            Some(b'.' | b'/' | b',' | b':') => !digit_at(start.checked_sub(2)),
            Some(b) => !joins(b),
        };
        let after_ok = match self.after() {
            None => true,
            Some(b'.' | b'-' | b'/' | b':' | b',') => !digit_at(Some(self.at.end + 1)),
            Some(b) => !joins(b),
        };
        // `1111 1111 1111 1111`.
        let first = self.digits.first();
        before_ok && after_ok && self.digits.iter().any(|d| Some(d) != first)
    }

    /// The word before the number, in small letters.
    fn label(&self) -> String {
        let bytes = self.text.as_bytes();
        let mut end = self.at.start;
        let mut signs = 0;
        while end > 0
            && signs < 4
            && bytes.get(end - 1).is_some_and(|b| {
                matches!(b, b' ' | b':' | b'=' | b'"' | b'\'' | b'#' | b'(' | b'[')
            })
        {
            end -= 1;
            signs += 1;
        }
        let mut start = end;
        while start > 0
            && end - start < 24
            && bytes
                .get(start - 1)
                .is_some_and(|b| b.is_ascii_alphabetic() || *b == b'_')
        {
            start -= 1;
        }
        self.text
            .get(start..end)
            .unwrap_or_default()
            .to_ascii_lowercase()
    }

    /// The last characters before the number.
    fn words_before(&self) -> &str {
        let mut start = self.at.start.saturating_sub(48);
        while !self.text.is_char_boundary(start) {
            start -= 1;
        }
        let near = self.text.get(start..self.at.start).unwrap_or_default();
        near.rsplit('\n').next().unwrap_or_default()
    }

    /// Counts something: `size=13912345678`, `13010952192 (12.12 GB)`, `13912345678 ms`.
    fn counts(&self) -> bool {
        let label = self.label();
        let after = self.text.get(self.at.end..).unwrap_or_default();
        let unit: String = after
            .trim_start_matches(' ')
            .chars()
            .take_while(char::is_ascii_alphabetic)
            .take(8)
            .map(|c| c.to_ascii_lowercase())
            .collect();
        COUNTS.contains(&label.as_str())
            || label
                .rsplit('_')
                .next()
                .is_some_and(|last| COUNTS.contains(&last))
            || [
                "size", "bytes", "used", "count", "total", "id", "time", "offset", "ns", "ms",
            ]
            .iter()
            .any(|ending| label.ends_with(ending))
            || after.starts_with(" (")
            || UNITS.contains(&unit.as_str())
            || self.words_before().ends_with(['$', '¥', '€', '£', '￥'])
    }
}

/// What stands before a number that counts or names something instead of calling somebody.
#[rustfmt::skip]
const COUNTS: &[&str] = &[
    "id", "ids", "size", "bytes", "offset", "seq", "sequence", "ts", "time", "timestamp", "block", "count",
    "total", "length", "len", "memory", "mem", "addr", "address", "nonce", "version", "pid", "tid",
    "no", "number", "blk", "epoch", "at", "lsn", "zxid", "txid", "xid", "gen", "generation", "rev",
    "revision", "serial", "index", "lba", "cycles", "balance", "amount", "price", "cost", "port",
    "order", "build", "ticket", "case", "trace", "span", "request", "session", "job", "task", "shard",
];

#[rustfmt::skip]
const UNITS: &[&str] = &[
    "b", "kb", "mb", "gb", "kib", "mib", "gib", "byte", "bytes", "ms", "us", "ns", "s", "sec", "seconds", "rows",
    "records", "items", "requests", "ops", "blocks", "pages", "lines", "messages", "events",
];

fn judge(number: &Number<'_>, before: Option<u8>, found: &mut Finds) {
    // `10.0.3.4`, `2005-06-03-15.42.50`: most numbers of a log that are in groups.
    let grouped = number.groups.len() > 1 && !number.plus && !number.parenthesis;
    if grouped
        && (number.separators.len() > 1
            || number.groups.len() > 5
            || (*number.separators == [b'.'] && *number.groups != [3, 3, 4])
            || (number.groups.starts_with(&[4, 2, 2]) && number.digits.len() != 17))
    {
        return;
    }
    if !number.stands_alone(before) || in_uuid_or_address(number) {
        return;
    }
    let digits = &*number.digits;
    let kind = if is_cn_id(number) {
        "cn-id"
    } else if number.x {
        return;
    } else if !number.plus && number.separated_by(b" -") && is_card(number) {
        "card"
    } else if is_ssn(number) {
        "us-ssn"
    } else if is_phone(number) {
        "phone"
    } else if (8..=MOST_DIGITS).contains(&digits.len()) && is_called_account(number) {
        "account-number"
    } else {
        return;
    };
    found.push(Found::number(number.at.clone(), kind));
}

/// The last group of a UUID, or a number within a mention or link of Discord.
fn in_uuid_or_address(number: &Number<'_>) -> bool {
    let bytes = number.text.as_bytes();
    let start = number.at.start;
    let before = |count: usize| {
        start
            .checked_sub(count)
            .and_then(|from| bytes.get(from..start))
            .unwrap_or_default()
    };
    let mention = before(2) == b"<@"
        || before(2) == b"<#"
        || before(3) == b"<@&"
        || before(3) == b"<@!"
        || before(3) == b"<t:"
        || before(9) == b"channels/";
    mention
        || start
            .checked_sub(24)
            .and_then(|from| number.text.get(from..from + 36))
            .is_some_and(is_uuid)
}

/// Payment cards: length and first digits of an issuer, and the Luhn checksum (ISO/IEC 7812-1). In
/// groups only as cards are embossed; a number of a log has other groups or none.
fn is_card(number: &Number<'_>) -> bool {
    let digits = &*number.digits;
    let prefix = |n: usize| {
        digits
            .iter()
            .take(n)
            .fold(0, |sum, d| sum * 10 + u32::from(*d))
    };
    let issued = match digits.len() {
        14 => prefix(2) == 36 || prefix(2) == 38 || (300..=305).contains(&prefix(3)),
        15 => prefix(2) == 34 || prefix(2) == 37,
        16 => {
            prefix(1) == 4
                || (51..=55).contains(&prefix(2))
                || (2221..=2720).contains(&prefix(4))
                || prefix(4) == 6011
                || prefix(2) == 65
                || (644..=649).contains(&prefix(3))
                || prefix(2) == 62
                || prefix(2) == 35
                || prefix(2) == 60
        }
        17..=19 => prefix(2) == 62,
        _ => false,
    };
    let groups = match &*number.groups {
        [_] => true,
        [4, rest @ ..] => rest.iter().all(|group| (1..=6).contains(group)) && rest.len() <= 4,
        [6, 13] | [6, 10] => true,
        _ => false,
    };
    issued && groups && luhn(digits) && !(number.groups.len() == 1 && number.counts())
}

fn luhn(digits: &[u8]) -> bool {
    digits
        .iter()
        .rev()
        .enumerate()
        .map(|(index, digit)| match (index % 2, u32::from(*digit) * 2) {
            (0, _) => u32::from(*digit),
            (_, doubled) if doubled > 9 => doubled - 9,
            (_, doubled) => doubled,
        })
        .sum::<u32>()
        .is_multiple_of(10)
}

/// Chinese resident identity numbers: the date of birth and the checksum of GB 11643-1999.
fn is_cn_id(number: &Number<'_>) -> bool {
    const WEIGHTS: [u32; 17] = [7, 9, 10, 5, 8, 4, 2, 1, 6, 3, 7, 9, 10, 5, 8, 4, 2];
    const CHECKS: [u8; 11] = *b"10X98765432";
    let digits = &*number.digits;
    let last = match digits.len() {
        18 => digits.last().map(|d| d + b'0'),
        17 if number.x => Some(b'X'),
        _ => None,
    };
    let Some(last) = last else {
        return false;
    };
    let sum: u32 = digits
        .iter()
        .zip(WEIGHTS)
        .map(|(digit, weight)| u32::from(*digit) * weight)
        .sum();
    (11..=82).contains(&number.value(0..2))
        && (1880..=2099).contains(&number.value(6..10))
        && (1..=12).contains(&number.value(10..12))
        && (1..=31).contains(&number.value(12..14))
        && CHECKS.get((sum % 11) as usize) == Some(&last)
        && number.separated_by(b" -")
        && number.groups.len() <= 4
}

/// US social security numbers: as they are written, within the ranges that are issued.
fn is_ssn(number: &Number<'_>) -> bool {
    let digits = &*number.digits;
    if digits.len() != 9 || number.plus {
        return false;
    }
    let issued = number.value(0..3) != 0
        && number.value(0..3) != 666
        && number.value(0..3) < 900
        && number.value(3..5) != 0
        && number.value(5..9) != 0;
    let written = *number.groups == [3, 2, 4] && *number.separators == [b'-'];
    if !issued {
        return false;
    }
    let near = number.words_before().to_ascii_lowercase();
    let called = (near.contains("ssn") || near.contains("social security"))
        && (*number.groups == [3, 2, 4] || *number.groups == [9]);
    issued && (written || called)
}

/// `/jobs/14541957942`: an id in an address.
fn in_path(number: &Number<'_>) -> bool {
    let before = number
        .text
        .as_bytes()
        .get(..number.at.start)
        .unwrap_or_default();
    before.ends_with(b"/") && !before.ends_with(b"//")
}

fn is_phone(number: &Number<'_>) -> bool {
    let digits = &*number.digits;
    let count = digits.len();
    if number.separated_by(b".") && number.groups.len() == 4 && !number.plus {
        // An address.
        return false;
    }
    let called = || {
        let near = number.words_before();
        if !is_labelled(near) {
            return false;
        }
        let lower = near.to_ascii_lowercase();
        [
            "phone",
            "tel",
            "mobile",
            "cell",
            "call",
            "fax",
            "whatsapp",
            "sms",
            "电话",
            "手机",
            "座机",
            "联系方式",
            "致电",
            "传真",
        ]
        .iter()
        .any(|word| {
            lower.rfind(word).is_some_and(|at| {
                // Close by, and a word of its own.
                lower.len() - at <= word.len() + 12
                    && lower.get(at + word.len()..).is_some_and(|rest| {
                        word.bytes().all(|b| !b.is_ascii())
                            || !rest.starts_with(|c: char| c.is_ascii_lowercase())
                            || rest.starts_with("number")
                            || rest.starts_with("ephone")
                    })
                    && !lower.get(..at).is_some_and(|rest| {
                        word.len() <= 4
                            && word.is_ascii()
                            && rest.ends_with(|c: char| c.is_ascii_alphabetic())
                    })
            })
        })
    };
    if number.plus {
        return (8..=15).contains(&count)
            && digits.first() != Some(&0)
            && (!number.separators.contains(&b'.')
                || (*number.separators == [b'.'] && number.groups.len() >= 3))
            && number.groups.iter().all(|group| *group <= 11)
            && !is_time(number);
    }
    let mobile = |digits: &[u8]| matches!(digits, [1, 3..=9, ..]) && digits.len() == 11;
    let cn = match (count, &*number.groups) {
        (11, [11] | [3, 4, 4] | [3, 8]) => mobile(digits) && !in_path(number),
        (13, [13] | [2, 11] | [2, 3, 4, 4]) => {
            digits.starts_with(&[8, 6]) && digits.get(2..).is_some_and(mobile)
        }
        _ => false,
    };
    if cn && number.separated_by(b" -") {
        return number.groups.len() > 1 || called() || !number.counts();
    }
    // North America: (212) 555-0142, 212-555-0142, 1-212-555-0142.
    let na = |groups: &[u8], digits: &[u8]| {
        groups == [3, 3, 4]
            && digits.first().is_some_and(|d| *d >= 2)
            && digits.get(3).is_some_and(|d| *d >= 2)
    };
    let written =
        number.parenthesis || *number.separators == [b'-'] || *number.separators == [b'.'];
    if written
        && (na(&number.groups, digits)
            || (digits.first() == Some(&1)
                && number.groups.first() == Some(&1)
                && na(
                    number.groups.get(1..).unwrap_or_default(),
                    digits.get(1..).unwrap_or_default(),
                )))
    {
        return true;
    }
    // Fixed lines of China: 010-12345678, (021) 1234 5678.
    if digits.first() == Some(&0)
        && (10..=12).contains(&count)
        && matches!(&*number.groups, [3 | 4, 7 | 8] | [3 | 4, 4, 4])
        && number.separators.len() <= 1
        && number.separated_by(b"- ")
        && (*number.separators == [b'-'] || number.parenthesis || called())
    {
        return true;
    }
    (9..=15).contains(&count) && !is_time(number) && called()
}

/// Anything before the number may say what it is: what nearly no number of a log has.
fn is_labelled(near: &str) -> bool {
    static LABELS: LazyLock<Option<aho_corasick::AhoCorasick>> = LazyLock::new(|| {
        aho_corasick::AhoCorasick::builder()
            .ascii_case_insensitive(true)
            .build([
                "phone", "tel", "mobile", "cell", "call", "fax", "whatsapp", "sms", "电", "手机",
                "座机", "联系", "传真", "account", "acct", "routing", "card", "号", "银行", "账户",
                "ssn", "social",
            ])
            .ok()
    });
    LABELS.as_ref().is_none_or(|labels| labels.is_match(near))
}

/// `2026-11-30 02.41.07`: groups of a date or a time.
fn is_time(number: &Number<'_>) -> bool {
    let (Some(first), Some(second)) = (number.groups.first(), number.groups.get(1)) else {
        return false;
    };
    *first == 4
        && *second == 2
        && (number.digits.starts_with(&[2, 0]) || number.digits.starts_with(&[1, 9]))
}

/// A word before it says that it is the number of an account.
fn is_called_account(number: &Number<'_>) -> bool {
    if !is_labelled(number.words_before()) {
        return false;
    }
    let near = number.words_before().to_ascii_lowercase();
    let close = |word: &str| {
        near.rfind(word)
            .is_some_and(|at| near.len() - at <= word.len() + 10)
    };
    if near.contains("service account") {
        return false;
    }
    [
        "account number",
        "account no",
        "account #",
        "acct",
        "bank account",
        "routing number",
        "routing no",
        "card number",
        "card no",
        "账号",
        "卡号",
        "银行卡",
        "帐号",
        "对公账户",
    ]
    .iter()
    .any(|word| close(word))
        && !number.separators.contains(&b'.')
}

/// IBAN: two capitals and two digits begin it; the checksum modulo 97 (ISO 13616) ends the doubt.
/// `at` is where the two digits end.
pub(super) fn at_iban(text: &str, start: usize, found: &mut Finds) {
    let bytes = text.as_bytes();
    let mut compact: Vec<u8> = Vec::with_capacity(34);
    let mut at = start;
    let mut ends: Vec<(usize, usize)> = Vec::new();
    let mut grouped = 0;
    while let Some(byte) = bytes.get(at) {
        if byte.is_ascii_uppercase() || byte.is_ascii_digit() {
            compact.push(*byte);
            at += 1;
            grouped += 1;
            if compact.len() > 34 {
                break;
            }
            if (15..=34).contains(&compact.len())
                && !bytes
                    .get(at)
                    .is_some_and(|b| b.is_ascii_alphanumeric() || *b == b'_')
            {
                ends.push((compact.len(), at));
            }
        } else if matches!(byte, b' ' | b'-')
            && grouped == 4
            && bytes
                .get(at + 1)
                .is_some_and(|b| b.is_ascii_uppercase() || b.is_ascii_digit())
        {
            grouped = 0;
            at += 1;
        } else {
            break;
        }
    }
    for (length, end) in ends.into_iter().rev() {
        let Some(iban) = compact.get(..length) else {
            continue;
        };
        if is_iban(iban) {
            found.push(Found::number(start..end, "iban"));
            return;
        }
    }
}

fn is_iban(compact: &[u8]) -> bool {
    let digits = compact.iter().filter(|b| b.is_ascii_digit()).count();
    let remainder = compact
        .iter()
        .cycle()
        .skip(4)
        .take(compact.len())
        .filter_map(|b| char::from(*b).to_digit(36))
        .fold(0, |sum, value| {
            if value > 9 {
                (sum * 100 + value) % 97
            } else {
                (sum * 10 + value) % 97
            }
        });
    digits >= 10 && remainder == 1
}

/// Hosts that no mail reaches: accounts on machines, which help the diagnosis.
#[rustfmt::skip]
const PRIVATE_DOMAINS: &[&str] = &[
    "internal", "local", "localdomain", "lan", "corp", "svc", "cluster", "intranet", "home", "invalid",
    "localhost",
];

/// What follows an `@` in names of files, units and packages.
#[rustfmt::skip]
const NO_DOMAINS: &[&str] = &[
    "png", "jpg", "jpeg", "gif", "svg", "js", "ts", "css", "service", "timer", "socket", "mount", "slice", "java",
    "go", "rb", "log", "yaml", "yml", "json", "jsonl", "ndjson", "conf", "target", "scope", "jar",
    "class", "txt", "csv", "tsv", "gz", "zip", "tar", "html", "pdf", "xml", "toml", "ini", "sql", "dump",
    "bak", "tmp", "env",
];

/// An `@` stands here.
pub(super) fn at_sign(text: &str, at: usize, found: &mut Finds) {
    let bytes = text.as_bytes();
    let name = |b: u8| b.is_ascii_alphanumeric() || matches!(b, b'.' | b'_' | b'%' | b'+' | b'-');
    let host = |b: u8| b.is_ascii_alphanumeric() || matches!(b, b'.' | b'-');
    let mut start = at;
    while start > 0 && at - start < 65 && bytes.get(start - 1).is_some_and(|b| name(*b)) {
        start -= 1;
    }
    while start < at && !bytes.get(start).is_some_and(u8::is_ascii_alphanumeric) {
        start += 1;
    }
    let mut end = at + 1;
    while end - at < 255 && bytes.get(end).is_some_and(|b| host(*b)) {
        end += 1;
    }
    while end > at + 1 && !bytes.get(end - 1).is_some_and(u8::is_ascii_alphanumeric) {
        end -= 1;
    }
    let (Some(user), Some(domain)) = (text.get(start..at), text.get(at + 1..end)) else {
        return;
    };
    // `jane.doe@example.com.log`: a file's name.
    let mut domain = domain;
    while let Some((host, last)) = domain.rsplit_once('.') {
        if !host.contains('.') || !NO_DOMAINS.contains(&last.to_ascii_lowercase().as_str()) {
            break;
        }
        domain = host;
    }
    end = at + 1 + domain.len();
    let lower = domain.to_ascii_lowercase();
    let mut labels = lower.rsplit('.');
    let last = labels.next().unwrap_or_default();
    let known = labels.next().is_some_and(|label| !label.is_empty())
        && (2..=24).contains(&last.len())
        && last.bytes().all(|b| b.is_ascii_alphabetic())
        && !PRIVATE_DOMAINS.contains(&last)
        && !NO_DOMAINS.contains(&last)
        && !lower.contains("..");
    let next = bytes.get(end).copied();
    // `git@github.com:acme/shop.git`, `ssh://git@…`: a clone, no person.
    let clone = user == "git"
        || (matches!(next, Some(b':')) && bytes.get(end + 1).is_some_and(u8::is_ascii_alphabetic));
    // `https://example.net@evil.example/`: an account at a host.
    let account = text
        .get(..start)
        .is_some_and(|before| before.ends_with("://"));
    let no_person = ["noreply", "no-reply", "donotreply", "do-not-reply"].contains(&user);
    if !user.is_empty() && user.len() <= 64 && known && !clone && !account && !no_person {
        found.push(Found::secret(start..end, "email"));
    }
}

/// `jane [at] example [dot] com`: the bracket with `at` stands here.
pub(super) fn at_spelled(text: &str, at: usize, found: &mut Finds) {
    static PATTERN: LazyLock<Option<regex::Regex>> = LazyLock::new(|| {
        regex::Regex::new(
            r"(?i)^[\[(] ?at ?[\])] ?[a-z0-9-]{1,63}(?:(?: ?[\[(] ?dot ?[\])] ?|\.)[a-z0-9-]{1,63}){1,5}",
        )
        .ok()
    });
    let bytes = text.as_bytes();
    let mut name = at;
    if name > 0 && bytes.get(name - 1) == Some(&b' ') {
        name -= 1;
    }
    let mut start = name;
    while start > 0
        && name - start < 65
        && bytes
            .get(start - 1)
            .is_some_and(|b| b.is_ascii_alphanumeric() || matches!(b, b'.' | b'_' | b'+' | b'-'))
    {
        start -= 1;
    }
    let rest = text.get(at..).unwrap_or_default();
    if start < name
        && let Some(end) = PATTERN.as_ref().and_then(|pattern| pattern.find(rest))
    {
        found.push(Found::secret(start..at + end.end(), "email"));
    }
}

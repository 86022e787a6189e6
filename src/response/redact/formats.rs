//! Secrets that show by their own form what they are; the table is `formats.txt`.
//!
//! Most begin a token with letters of their own, so that each token of the text is looked up by its
//! first two bytes; the rest are found by words inside of them, in the scan that looks for names too.

use super::likeness::{Likeness, is_mask};
use super::pattern::Pattern;
use super::{Finds, Found, is_token};
use std::ops::RangeInclusive;
use std::sync::LazyLock;

pub(super) struct Format {
    pub(super) kind: &'static str,
    from: From,
    words: Vec<&'static str>,
    pattern: Pattern,
    /// Digits and letters both.
    mixed: bool,
    /// Letters in both cases.
    both_cases: bool,
    /// Words in any case.
    any_case: bool,
    /// Also inside of a longer name.
    inside: bool,
    /// May go on behind the match.
    open: bool,
}

#[derive(Clone, Copy)]
enum From {
    Word,
    Before(usize),
    Run,
}

pub(super) struct Formats {
    pub(super) all: Vec<Format>,
    /// Those that begin a token, in lists of the same first two bytes.
    by_start: Vec<Vec<usize>>,
    /// The list for two bytes (`first * 256 + second`); the first list is empty.
    starts: Vec<u16>,
    /// Those that are searched for by words inside of them: the word and the rule.
    pub(super) inner: Vec<(&'static str, usize)>,
    /// Those that follow a run of digits, by the sign behind it.
    after_digits: Vec<AfterDigits>,
    dotted: Vec<usize>,
}

/// A format that begins with a run of digits of these lengths, ended by the sign.
struct AfterDigits {
    sign: u8,
    lengths: RangeInclusive<usize>,
    index: usize,
}

pub(super) static FORMATS: LazyLock<Formats> = LazyLock::new(|| read(include_str!("formats.txt")));

/// Reads the table. A line that can't be read is left out; a test holds that there is none.
fn read(table: &'static str) -> Formats {
    let mut formats = Formats {
        all: Vec::new(),
        by_start: vec![Vec::new()],
        starts: vec![0; 256 * 256],
        inner: Vec::new(),
        after_digits: Vec::new(),
        dotted: Vec::new(),
    };
    for line in lines(table) {
        let Some(format) = read_line(line) else {
            continue;
        };
        let index = formats.all.len();
        for word in &format.words {
            let start: Option<[u8; 2]> = word
                .as_bytes()
                .get(..2)
                .and_then(|start| start.try_into().ok());
            match (after_digits(word, index), start) {
                (Some(rule), _) => formats.after_digits.push(rule),
                _ if *word == "DOTTED" => formats.dotted.push(index),
                (None, Some(start))
                    if matches!(format.from, From::Word)
                        && !format.inside
                        && start.first().is_some_and(u8::is_ascii_alphanumeric) =>
                {
                    let mut starts = vec![start];
                    if format.any_case {
                        starts = vec![
                            start.map(|b| b.to_ascii_lowercase()),
                            start.map(|b| b.to_ascii_uppercase()),
                        ];
                    }
                    for start in starts {
                        let next = formats.by_start.len();
                        let Some(list) = formats.starts.get_mut(place(start)) else {
                            continue;
                        };
                        if *list == 0 {
                            *list = u16::try_from(next).unwrap_or_default();
                            formats.by_start.push(Vec::new());
                        }
                        if let Some(list) = formats.by_start.get_mut(usize::from(*list)) {
                            list.push(index);
                        }
                    }
                }
                _ => formats.inner.push((word, index)),
            }
        }
        formats.all.push(format);
    }
    formats
}

/// `DIGITS:8-16`.
fn after_digits(word: &str, index: usize) -> Option<AfterDigits> {
    let rest = word.strip_prefix("DIGITS")?;
    let sign = rest.bytes().next()?;
    let (least, most) = rest.get(1..)?.split_once('-')?;
    Some(AfterDigits {
        sign,
        lengths: least.parse().ok()?..=most.parse().ok()?,
        index,
    })
}

pub(super) fn lines(table: &'static str) -> impl Iterator<Item = &'static str> {
    table
        .lines()
        .filter(|line| !line.is_empty() && !line.starts_with('#'))
}

fn read_line(line: &'static str) -> Option<Format> {
    let mut columns = line.split(' ');
    let (kind, from, checks, words, pattern) = (
        columns.next()?,
        columns.next()?,
        columns.next()?,
        columns.next()?,
        columns.next()?,
    );
    let has = |check: &str| checks.split(',').any(|c| c == check);
    Some(Format {
        kind,
        from: match from {
            "." => From::Word,
            "<" => From::Run,
            bytes => From::Before(bytes.parse().ok()?),
        },
        words: words.split(',').collect(),
        pattern: Pattern::new(format!("^(?:{pattern})")),
        mixed: has("mix"),
        both_cases: has("case"),
        any_case: has("low"),
        inside: has("in"),
        open: has("open"),
    })
}

fn place(start: [u8; 2]) -> usize {
    usize::from(u16::from_be_bytes(start))
}

impl Formats {
    /// Kinds whose pattern is none.
    #[cfg(test)]
    pub(super) fn broken(&self) -> Vec<&'static str> {
        let broken = self
            .all
            .iter()
            .filter(|format| format.pattern.get().is_none());
        broken.map(|format| format.kind).collect()
    }

    /// A token begins here. Where a known beginning has no known end, the place is `unfinished`.
    #[inline]
    pub(super) fn at_start(
        &self,
        text: &str,
        at: usize,
        found: &mut Finds,
        unfinished: &mut Vec<usize>,
    ) {
        let bytes = text.as_bytes();
        let Some([first, second]) = bytes.get(at..at + 2) else {
            return;
        };
        let list = self
            .starts
            .get(place([*first, *second]))
            .copied()
            .unwrap_or_default();
        if list == 0 {
            return;
        }
        let rules = self
            .by_start
            .get(usize::from(list))
            .map(Vec::as_slice)
            .unwrap_or_default();
        let mut begun = false;
        for index in rules {
            if self.try_at(text, at, *index, found) {
                return;
            }
            begun |= self
                .all
                .get(*index)
                .is_some_and(|format| format.begins(text.get(at..).unwrap_or_default()));
        }
        if begun {
            unfinished.push(at);
        }
    }

    /// A word of an inner rule stands here.
    pub(super) fn at_word(&self, text: &str, at: usize, index: usize, found: &mut Finds) {
        let Some(format) = self.all.get(index) else {
            return;
        };
        let start = match format.from {
            From::Word => Some(at),
            From::Before(bytes) => at.checked_sub(bytes),
            From::Run => Some(run_start(text, at)),
        };
        if let Some(start) = start {
            found.look(3 * (at - start.min(at)));
            self.try_at(text, start, index, found);
        }
    }

    /// A run of digits from `at`, so many, ends before the sign.
    pub(super) fn after_digits(
        &self,
        text: &str,
        at: usize,
        digits: usize,
        sign: u8,
        found: &mut Finds,
    ) {
        for rule in &self.after_digits {
            if rule.sign == sign && rule.lengths.contains(&digits) {
                self.try_at(text, at, rule.index, found);
            }
        }
    }

    /// A dot between two token characters.
    pub(super) fn at_dot(&self, text: &str, dot: usize, found: &mut Finds) {
        let bytes = text.as_bytes();
        let after = bytes
            .get(dot + 1..)
            .unwrap_or_default()
            .iter()
            .take(45)
            .take_while(|b| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'-'))
            .count();
        // Of Discord's tokens, Kubernetes' bootstrap tokens and the like: all have parts of known length.
        if after == 6 || after == 16 || after == 43 {
            let start = run_start(text, dot.saturating_sub(1));
            if start < dot {
                for index in &self.dotted {
                    self.try_at(text, start, *index, found);
                }
            }
        }
    }

    fn try_at(&self, text: &str, start: usize, index: usize, found: &mut Finds) -> bool {
        let Some(format) = self.all.get(index) else {
            return false;
        };
        let bytes = text.as_bytes();
        if !format.inside
            && start
                .checked_sub(1)
                .and_then(|before| bytes.get(before))
                .is_some_and(u8::is_ascii_alphanumeric)
        {
            return false;
        }
        let Some(rest) = text.get(start..) else {
            return false;
        };
        if matches!(format.from, From::Word)
            && !format.any_case
            && !format
                .words
                .iter()
                .any(|word| rest.starts_with(word) || word.starts_with("DIGITS"))
        {
            return false;
        }
        let rest = bounded(rest);
        found.look(8);
        let Some(pattern) = format.pattern.get() else {
            return false;
        };
        let Some(whole) = pattern.find(rest) else {
            return false;
        };
        let value = if pattern.captures_len() > 1 {
            pattern
                .captures(rest)
                .and_then(|groups| groups.iter().skip(1).flatten().next())
                .unwrap_or(whole)
        } else {
            whole
        };
        found.look(2 * whole.len());
        let goes_on = rest
            .as_bytes()
            .get(whole.end())
            .is_some_and(u8::is_ascii_alphanumeric);
        if goes_on && !format.open {
            return false;
        }
        if is_mask(value.as_str()) {
            return false;
        }
        let like = Likeness::of(value.as_str());
        let mixed = like.digits >= 2 && like.letters() >= 2
            || Likeness::of(value.as_str().rsplit('_').next().unwrap_or_default()).is_gibberish(12);
        if format.mixed && !mixed || format.both_cases && (like.lower == 0 || like.upper == 0) {
            return false;
        }
        found.push(Found::secret(
            start + value.start()..start + value.end(),
            format.kind,
        ));
        true
    }
}

impl Format {
    /// The text begins with a word of the format that says enough by itself.
    fn begins(&self, text: &str) -> bool {
        self.words
            .iter()
            .any(|word| word.len() >= 4 && text.starts_with(word))
    }
}

/// No token is longer; a pattern never looks further.
const LONGEST: usize = 8 * 1024;

fn bounded(text: &str) -> &str {
    let mut end = text.len().min(LONGEST);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    text.get(..end).unwrap_or_default()
}

/// Where the run of token characters that the place stands in begins.
fn run_start(text: &str, at: usize) -> usize {
    let bytes = text.as_bytes();
    let mut start = at;
    while start > 0 && at - start < LONGEST && bytes.get(start - 1).is_some_and(|b| is_token(*b)) {
        start -= 1;
    }
    start
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_whole_table_is_read() {
        assert_eq!(
            FORMATS.all.len(),
            lines(include_str!("formats.txt")).count()
        );
        for format in &FORMATS.all {
            assert!(!format.words.is_empty() && !format.kind.is_empty());
            assert!(
                format
                    .kind
                    .bytes()
                    .all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'-'),
                "{}",
                format.kind
            );
        }
    }
}

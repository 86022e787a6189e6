//! What a value looks like: random, a word, a mask, a placeholder of documentation, code.
//!
//! Wanted: a key of any service is told from a class name, a path, a version, a date and a sentence
//! without knowing the service. Design: counts over the characters, Shannon entropy, and the parts
//! between separators. Deliberately absent: a dictionary. Words give themselves away by their vowels.

/// Counts over a value.
pub(super) struct Likeness<'a> {
    text: &'a str,
    pub(super) digits: usize,
    pub(super) lower: usize,
    pub(super) upper: usize,
    /// Parts between separators that are words.
    pub(super) words: usize,
}

impl<'a> Likeness<'a> {
    pub(super) fn of(text: &'a str) -> Self {
        let mut likeness = Self {
            text,
            digits: 0,
            lower: 0,
            upper: 0,
            words: 0,
        };
        for byte in text.bytes() {
            match byte {
                b'0'..=b'9' => likeness.digits += 1,
                b'a'..=b'z' => likeness.lower += 1,
                b'A'..=b'Z' => likeness.upper += 1,
                _ => {}
            }
        }
        likeness.words = text
            .split(['.', '/', '-', '_', ':', '@', ' ', ',', '\\'])
            .filter(|part| is_word(part))
            .count();
        likeness
    }

    pub(super) fn letters(&self) -> usize {
        self.lower + self.upper
    }

    /// Digits and letters mixed as in no word, path, version, host or date.
    pub(super) fn is_random(&self, at_least: usize) -> bool {
        self.text.len() >= at_least
            && self.digits >= 2
            && self.letters() >= 2
            && !(self.words >= 3 || self.words >= 2 && self.digits * 4 < self.letters())
            && !is_date(self.text)
            && !is_pod(self.text)
            && entropy(self.text) >= if self.text.len() >= 20 { 2.7 } else { 2.4 }
    }

    /// Letters alone that make no words: a row without vowels, or case mixed inside of words.
    pub(super) fn is_gibberish(&self, at_least: usize) -> bool {
        if self.text.len() < at_least || self.words >= 2 || entropy(self.text) < 2.8 {
            return false;
        }
        let mut consonants = 0;
        let mut longest = 0;
        let mut vowels = 0;
        let mut letters = 0;
        let mut turns = 0;
        let mut before = None;
        for byte in self.text.bytes().filter(u8::is_ascii_alphabetic) {
            letters += 1;
            if matches!(
                byte.to_ascii_lowercase(),
                b'a' | b'e' | b'i' | b'o' | b'u' | b'y'
            ) {
                vowels += 1;
                consonants = 0;
            } else {
                consonants += 1;
                longest = longest.max(consonants);
            }
            // `fooBar` turns once a word; a key turns all the time.
            if before.is_some_and(|b: u8| b.is_ascii_uppercase()) && byte.is_ascii_lowercase() {
                turns += 1;
            }
            before = Some(byte);
        }
        letters >= 8
            && (longest >= 5
                || vowels * 5 < letters
                || (self.lower > 0 && turns * 4 > letters)
                || in_row(self.text))
    }

    /// One unbroken row of letters (or digits) that is longer than any word.
    pub(super) fn is_long_row(&self, at_least: usize) -> bool {
        self.text.len() >= at_least
            && self.text.bytes().all(|b| b.is_ascii_alphanumeric())
            && (self.lower == 0 || self.upper == 0)
            && entropy(self.text) >= 2.0
    }

    /// As hashes, commits and request ids are written: it names something and opens nothing.
    pub(super) fn is_digest_or_id(&self) -> bool {
        is_uuid(self.text)
            || (matches!(self.text.len(), 32 | 40 | 64)
                && self.text.bytes().all(|b| b.is_ascii_hexdigit()))
    }
}

/// Three letters or more and nothing else, with no more changes of case than `camelCase` has.
pub(super) fn is_word(part: &str) -> bool {
    let mut changes = 0;
    let mut before: Option<u8> = None;
    for byte in part.bytes() {
        if !byte.is_ascii_alphabetic() {
            return false;
        }
        changes += usize::from(
            before.is_some_and(|b| b.is_ascii_uppercase() != byte.is_ascii_uppercase()),
        );
        before = Some(byte);
    }
    part.len() >= 3 && changes * 3 <= part.len() + 1
}

/// `abcdefgh`: keys of examples.
pub(super) fn in_row(text: &str) -> bool {
    let mut run = 1;
    let mut before = 0;
    for byte in text.bytes().map(|b| b.to_ascii_lowercase()) {
        run = if byte == before + 1 { run + 1 } else { 1 };
        if run >= 7 {
            return true;
        }
        before = byte;
    }
    false
}

pub(super) fn is_uuid(text: &str) -> bool {
    text.len() == 36
        && text.bytes().enumerate().all(|(at, byte)| match at {
            8 | 13 | 18 | 23 => byte == b'-',
            _ => byte.is_ascii_hexdigit(),
        })
}

/// `2026-11-30T02:41:07.113Z`, `30/Nov/2026`.
fn is_date(text: &str) -> bool {
    let bytes = text.as_bytes();
    let digits = |range: std::ops::Range<usize>| {
        bytes
            .get(range)
            .is_some_and(|part| part.iter().all(u8::is_ascii_digit))
    };
    let at = |place: usize, signs: &[u8]| bytes.get(place).is_some_and(|b| signs.contains(b));
    (digits(0..4) && at(4, b"-/.") && digits(5..7) && at(7, b"-/.") && digits(8..10))
        || (digits(0..2)
            && at(2, b"/-")
            && at(6, b"/-")
            && bytes
                .get(3..6)
                .is_some_and(|month| month.iter().all(u8::is_ascii_alphabetic)))
}

/// `7d9f8b6c5d-x2x9z`: the end of a pod's name.
fn is_pod(text: &str) -> bool {
    let mut parts = text.rsplit('-');
    let (Some(pod), Some(set)) = (parts.next(), parts.next()) else {
        return false;
    };
    let plain = |part: &str| {
        part.bytes()
            .all(|b| b.is_ascii_lowercase() || b.is_ascii_digit())
    };
    pod.len() == 5
        && (8..=10).contains(&set.len())
        && plain(pod)
        && plain(set)
        && parts.all(|part| plain(part) && part.len() < 12)
}

/// Shannon entropy in bits a character (of bytes, which is the same for what is told apart here).
pub(super) fn entropy(text: &str) -> f64 {
    let mut counts = [0_u32; 256];
    for byte in text.bytes() {
        if let Some(count) = counts.get_mut(usize::from(byte)) {
            *count += 1;
        }
    }
    let all = text.len().max(1) as f64;
    counts
        .iter()
        .filter(|n| **n > 0)
        .map(|n| {
            let share = f64::from(*n) / all;
            -share * share.log2()
        })
        .sum()
}

/// `xxxxxxxx`, `AKIAXXXXXXXX`, `****`: shows where a secret would stand.
pub(super) fn is_mask(text: &str) -> bool {
    let masks = text
        .chars()
        .filter(|c| matches!(c, 'x' | 'X' | '*' | '#' | '•' | '●' | '…'))
        .count();
    let long = {
        let mut run = 0;
        text.chars().any(|c| {
            run = if matches!(c, 'x' | 'X' | '*' | '#' | '•') {
                run + 1
            } else {
                0
            };
            run >= 6
        })
    };
    let all = text.chars().count();
    masks == all || (long && masks * 2 > all)
}

#[rustfmt::skip]
const SAYS_NOTHING: &[&str] = &[
    "null", "nil", "none", "true", "false", "undefined", "empty", "redacted", "required", "missing",
    "invalid", "expired", "incorrect", "wrong", "unknown", "yes", "no", "string", "optional", "text",
    "disabled", "enabled", "failed", "ok", "unset", "not-set", "hidden", "masked", "changed",
    "unchanged", "reset", "mismatch", "rejected", "accepted", "denied", "success", "error", "failure",
    "value", "int", "integer", "bool", "boolean", "str", "char", "object",
    "default", "off", "on", "n/a", "na", "todo", "tbd", "absent", "present", "provided", "refreshed",
    "revoked", "rotated", "and", "or", "the", "is", "was", "for", "not", "must", "should", "cannot",
    "your_password", "yourpassword", "your-password", "mypassword_here", "changeme_placeholder",
    "正确", "错误", "过期", "为空", "失效", "无效",
];

/// Stands for a value that isn't there: a variable, a mask, a format, a word of a message.
pub(super) fn is_blank(text: &str) -> bool {
    let text = text.trim_matches(|c: char| {
        matches!(
            c,
            '"' | '\'' | '`' | '(' | ')' | '[' | ']' | '.' | ',' | ';' | '!' | '?'
        )
    });
    text.is_empty()
        || text.starts_with(['$', '<', '%', '{', '*', '&'])
            && (text.starts_with(['<', '{', '*'])
                || text.starts_with("&lt;")
                || text.starts_with("${")
                || text.starts_with("$(")
                || text.starts_with("$$")
                || (text.starts_with('$')
                    && is_name(
                        text.trim_start_matches('$')
                            .split('/')
                            .next()
                            .unwrap_or_default(),
                    ))
                || (text.starts_with('%')
                    && (text.len() < 4
                        || text.ends_with('%')
                        || is_name(text.trim_start_matches('%')))))
        || text.contains("${")
        || text.contains("{{")
        || text.contains("#{")
        || text.contains("...")
        || is_mask(text)
        || text.chars().all(|c| !c.is_alphanumeric())
        || SAYS_NOTHING.contains(&text.to_ascii_lowercase().as_str())
}

/// A name of a variable.
pub(super) fn is_name(text: &str) -> bool {
    !text.is_empty()
        && text
            .bytes()
            .all(|b| b.is_ascii_alphabetic() || matches!(b, b'_' | b'.' | b'[' | b']'))
}

/// An expression of a program, which would only be evaluated to the value.
pub(super) fn is_code(text: &str) -> bool {
    const STARTS: [&str; 16] = [
        "process.",
        "env.",
        "os.",
        "config.",
        "settings.",
        "request.",
        "self.",
        "this.",
        "params.",
        "args.",
        "System.",
        "vault.",
        "secrets.",
        "var.",
        "local.",
        "data.",
    ];
    STARTS.iter().any(|start| text.starts_with(start))
        || text.contains("::")
        || text.contains("->")
        || (text.contains('(') && (text.contains(')') || text.ends_with('(')))
        || text.split_once('(').is_some_and(|(name, _)| {
            is_name(name)
                && (name.contains('.') || name.bytes().skip(1).any(|b| b.is_ascii_uppercase()))
        })
        || text.contains('[') && text.contains(']') && text.contains(['"', '\''])
}

/// A path of files, or an address.
pub(super) fn is_path(text: &str) -> bool {
    text.starts_with(['/', '.', '~']) && text.contains('/') || text.contains("://")
}

//! Striking secrets and personal data, once at the entrance and again at the exit (R22).
//!
//! Wanted: no secret is stored, logged or sent, in whatever width, with whatever invisible characters
//! and however split it was pasted; what helps the diagnosis stays (private addresses, hosts, trace
//! ids, UUIDs, hashes); the same secret is the same placeholder wherever it stands in an incident, so
//! that "the same token in both logs" can still be seen; redacting twice changes nothing.
//!
//! Design: one pass over the bytes of a copy that knows where each byte came from (`copy`). Tokens
//! that begin like a known key (`formats`, a table), numbers and mail addresses of people
//! (`people`, with their checksums), words that name a secret and what stands behind them
//! (`named`, a table; context and entropy), key blocks, addresses and commands (`blocks`). What is
//! found is struck and the rest looked at again, until nothing is found; each pass leaves less to find.
//!
//! Fails closed: a text that isn't clean after the last pass, or too long to be looked at, loses what
//! could not be read, and says so in [`Redacted::unread`]: the caller sends nothing of it to a model.
//!
//! A placeholder carries four hex digits of an HMAC-SHA-256 under the incident's key: enough to tell a
//! handful of secrets apart, too little to search for them, and nothing that can be guessed without
//! the key.
//!
//! Deliberately absent: judging whether a secret is live, and names of people: a list of names
//! strikes words that are none.

mod blocks;
mod copy;
mod formats;
mod likeness;
mod named;
mod pattern;
mod people;
mod split;

use copy::{Copy, STRUCK};
use formats::FORMATS;
use hmac::{Hmac, KeyInit, Mac};
use named::{Class, NAMES};
use sha2::Sha256;
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;
use std::sync::LazyLock;

/// The key for placeholders: of the installation, or of a part of it, such as one incident. Never
/// printed.
#[derive(Clone, PartialEq, Eq)]
pub struct Key {
    root: [u8; 32],
    own: [u8; 32],
}

impl Key {
    /// A key from 32 random bytes.
    pub fn new(bytes: [u8; 32]) -> Self {
        Self {
            root: bytes,
            own: bytes,
        }
    }

    /// The key of one scope of the installation, whatever scope this key is of: equal secrets are
    /// equal within it, and tell nothing outside of it.
    pub fn of(&self, scope: &str) -> Self {
        let mut key = self.clone();
        if let Ok(mut mac) = Hmac::<Sha256>::new_from_slice(&self.root) {
            mac.update(b"scope ");
            mac.update(scope.as_bytes());
            key.own.copy_from_slice(&mac.finalize().into_bytes());
        }
        key
    }

    /// The key of what is no incident's in a guild: its records of the past, its services.
    pub fn of_guild(&self, guild: &str) -> Self {
        self.of(&format!("guild {guild}"))
    }

    /// The key of one incident, by what opened it.
    pub fn of_incident(&self, guild: &str, opening: &str) -> Self {
        self.of(&format!("incident {guild} {opening}"))
    }
}

impl std::fmt::Debug for Key {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Key(..)")
    }
}

/// A text without its secrets.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Redacted {
    /// The text with placeholders.
    pub text: String,
    /// How often each kind was struck; placeholders of an earlier redaction are not counted.
    pub struck: BTreeMap<&'static str, u32>,
    /// Parts that could not be read safely, and were taken out whole. Not 0: nothing of the text
    /// goes to a model.
    pub unread: u32,
}

/// Passes after which a text counts as made against the rules; two are usual.
const MAX_PASSES: usize = 8;

/// Longest text that is looked at, in bytes: more than any attachment that is read.
const MAX_BYTES: usize = 32 * 1024 * 1024;

/// The kind of a placeholder for a part that could not be read safely.
const UNREAD: &str = "unread";

/// Reads the tables. They are read at the first use otherwise, which then somebody waits for.
pub fn prepare() {
    let _nothing = redact("password=x https://a [at] ghp_", &Key::new([0; 32]));
}

/// Strikes what must not be stored, logged or sent.
pub fn redact(text: &str, key: &Key) -> Redacted {
    redact_within(text, key, MAX_PASSES)
}

/// As [`redact`], for the text of a JSON answer: escapes of signs that need none are written out
/// first, so that nothing hides in `\u0040`.
pub fn redact_answer(answer: &str, key: &Key) -> Redacted {
    redact(&written_out(answer), key)
}

fn written_out(answer: &str) -> std::borrow::Cow<'_, str> {
    if !answer.contains("\\u") {
        return answer.into();
    }
    let mut out = String::with_capacity(answer.len());
    let mut rest = answer;
    while let Some(at) = rest.find('\\') {
        let (before, escape) = rest.split_at(at);
        out.push_str(before);
        let sign = escape
            .get(2..6)
            .filter(|_| escape.starts_with("\\u"))
            .and_then(|hex| u32::from_str_radix(hex, 16).ok())
            .and_then(char::from_u32)
            .filter(|c| !c.is_control() && !matches!(c, '"' | '\\'));
        let taken = match sign {
            Some(sign) => {
                out.push(sign);
                6
            }
            None => {
                // The sign after a backslash belongs to it: `\\u0040` is no escape.
                let taken = 1 + escape.chars().nth(1).map_or(0, char::len_utf8);
                out.push_str(escape.get(..taken).unwrap_or_default());
                taken
            }
        };
        rest = escape.get(taken..).unwrap_or_default();
    }
    out.push_str(rest);
    out.into()
}

fn redact_within(text: &str, key: &Key, passes: usize) -> Redacted {
    let mut redacted = Redacted {
        text: text.to_owned(),
        ..Redacted::default()
    };
    if text.len() > MAX_BYTES {
        return unread(redacted, key);
    }
    for _ in 0..passes {
        let Some(found) = find(&redacted.text) else {
            return unread(redacted, key);
        };
        if found.is_empty() {
            return redacted;
        }
        for secret in &found {
            *redacted.struck.entry(secret.kind).or_default() += 1;
        }
        redacted.text = strike(&redacted.text, found, key);
    }
    // Made against the rules: what still holds something goes, from line to line.
    for _ in 0..passes.max(1) {
        let Some(found) = find(&redacted.text) else {
            return unread(redacted, key);
        };
        let Some(first) = found.first() else {
            return redacted;
        };
        let last = found.last().map_or(first.at.end, |last| last.at.end);
        let start = redacted
            .text
            .get(..first.at.start)
            .and_then(|before| before.rfind('\n'))
            .map_or(0, |at| at + 1);
        let end = redacted
            .text
            .get(last..)
            .and_then(|after| after.find('\n'))
            .map_or(redacted.text.len(), |at| last + at);
        let part = Secret {
            kind: UNREAD,
            at: start..end,
            value: redacted.text.get(start..end).unwrap_or_default().to_owned(),
        };
        redacted.unread += 1;
        redacted.text = strike(&redacted.text, vec![part], key);
    }
    match find(&redacted.text) {
        Some(found) if found.is_empty() => redacted,
        _ => unread(redacted, key),
    }
}

/// Nothing of the text stays.
fn unread(redacted: Redacted, key: &Key) -> Redacted {
    // Its beginning and its length name it well enough.
    let mut end = redacted.text.len().min(64 * 1024);
    while !redacted.text.is_char_boundary(end) {
        end -= 1;
    }
    let beginning = redacted.text.get(..end).unwrap_or_default();
    let named = format!("{} {beginning}", redacted.text.len());
    Redacted {
        text: placeholder(UNREAD, &named, key),
        unread: redacted.unread + 1,
        ..redacted
    }
}

fn strike(text: &str, found: Vec<Secret>, key: &Key) -> String {
    let mut out = String::with_capacity(text.len());
    let mut end = 0;
    for secret in found {
        out.push_str(text.get(end..secret.at.start).unwrap_or_default());
        out.push_str(&placeholder(secret.kind, &secret.value, key));
        end = secret.at.end;
    }
    out.push_str(text.get(end..).unwrap_or_default());
    out
}

fn placeholder(kind: &str, value: &str, key: &Key) -> String {
    let mut digest = String::with_capacity(4);
    if let Ok(mut mac) = Hmac::<Sha256>::new_from_slice(&key.own) {
        mac.update(value.as_bytes());
        for byte in mac.finalize().into_bytes().iter().take(2) {
            digest.push_str(&format!("{byte:02x}"));
        }
    }
    format!("{OPENING}{kind} {digest}]")
}

const OPENING: &str = "[REDACTED ";

/// Kinds that are named in code; those of known formats stand in their table.
const KINDS: [&str; 16] = [
    "password",
    "secret",
    "authorization",
    "cookie",
    "url-password",
    "kubernetes-secret",
    "aws-secret-key",
    "private-key",
    "email",
    "card",
    "iban",
    "cn-id",
    "us-ssn",
    "account-number",
    "phone",
    UNREAD,
];

/// Whether a part of the text was taken out because it could not be read safely: then nothing of it
/// goes to a model.
pub fn has_unread(text: &str) -> bool {
    placeholders(text).into_iter().any(|place| {
        text.get(place)
            .and_then(|place| place.strip_prefix(OPENING))
            .is_some_and(|rest| rest.starts_with(UNREAD))
    })
}

/// What was struck from a text, by kind: its placeholders, each secret as often as it stands there.
pub fn struck_in(text: &str) -> BTreeMap<&str, u32> {
    let mut struck = BTreeMap::new();
    for place in placeholders(text) {
        let kind = text
            .get(place)
            .and_then(|place| place.strip_prefix(OPENING))
            .and_then(|rest| rest.split(' ').next());
        if let Some(kind) = kind {
            *struck.entry(kind).or_default() += 1;
        }
    }
    struck
}

/// All kinds that a placeholder can name.
pub fn kinds() -> BTreeSet<&'static str> {
    FORMATS
        .all
        .iter()
        .map(|format| format.kind)
        .chain(KINDS)
        .collect()
}

static ALL_KINDS: LazyLock<BTreeSet<&'static str>> = LazyLock::new(kinds);

/// Where placeholders stand: of a known kind with four hex digits. Anything else in such brackets is
/// text like any other.
fn placeholders(text: &str) -> Vec<Range<usize>> {
    let mut found = Vec::new();
    for (start, _) in text.match_indices(OPENING) {
        let rest = text.get(start + OPENING.len()..).unwrap_or_default();
        let Some((inner, _)) = rest.split_once(']') else {
            break;
        };
        if let Some((kind, digest)) = inner.split_once(' ')
            && digest.len() == 4
            && digest
                .bytes()
                .all(|b| b.is_ascii_digit() || matches!(b, b'a'..=b'f'))
            && ALL_KINDS.contains(kind)
        {
            found.push(start..start + OPENING.len() + inner.len() + 1);
        }
    }
    found
}

/// What is to be struck: where, and what it is.
struct Secret {
    kind: &'static str,
    at: Range<usize>,
    value: String,
}

/// What a rule found in the copy.
struct Found {
    at: Range<usize>,
    kind: &'static str,
    /// A number: equal whatever separators it is written with.
    number: bool,
    /// What it is without what splits it.
    whole: Option<String>,
}

impl Found {
    fn secret(at: Range<usize>, kind: &'static str) -> Self {
        Self {
            at,
            kind,
            number: false,
            whole: None,
        }
    }

    fn number(at: Range<usize>, kind: &'static str) -> Self {
        Self {
            at,
            kind,
            number: true,
            whole: None,
        }
    }

    /// Of two rules that found the same, the one that says more names it.
    fn says(&self) -> u8 {
        match self.kind {
            "private-key" => 0,
            "secret" | "password" | "authorization" => 3,
            "url-password" | "cookie" | "email" => 2,
            _ => 1,
        }
    }
}

/// What was found in a text, and how much of it was looked at.
#[derive(Default)]
struct Finds {
    all: Vec<Found>,
    looked: usize,
}

impl Finds {
    fn push(&mut self, found: Found) {
        self.all.push(found);
    }

    /// A rule looks at so many bytes around a place.
    fn look(&mut self, bytes: usize) {
        self.looked += bytes;
    }
}

/// How much may be looked at in all: so many times the text's length, and something for a short one.
/// Logs take a twentieth of it; more takes a text made of beginnings without ends.
const LOOKS: usize = 32;
const LOOKS_AT_LEAST: usize = 1024 * 1024;

/// Signs that tokens are made of.
fn is_token(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.' | b'~' | b'+')
}

/// What is to be struck, in the order of the text, not overlapping. `None`: the text can't be read
/// with a bounded look.
fn find(original: &str) -> Option<Vec<Secret>> {
    let copy = Copy::of(original, &placeholders(original));
    let text = copy.text.as_ref();
    let mut finds = Finds::default();
    let mut unfinished = Vec::new();
    let most = text.len() * LOOKS + LOOKS_AT_LEAST;
    tokens(text, &mut finds, &mut unfinished);
    words(text, &mut finds, most);
    split::look(text, unfinished, &mut finds, most);
    if finds.looked > most {
        return None;
    }
    let mut found = finds.all;
    found.retain(|found| {
        // Nothing left to strike.
        text.get(found.at.clone())
            .is_some_and(|value| value.chars().any(|c| c != STRUCK && c.is_alphanumeric()))
    });
    // `://app:p%40ss@db.prod`: the password of an address looks like a mailbox at its host.
    let passwords: Vec<usize> = found
        .iter()
        .filter(|found| found.kind == "url-password")
        .map(|found| found.at.end)
        .collect();
    found.retain(|found| {
        found.kind != "email"
            || !passwords
                .iter()
                .any(|end| text.as_bytes().get(*end) == Some(&b'@') && found.at.contains(end))
    });
    found.sort_by_key(|found| (found.at.start, found.says()));
    let mut merged: Vec<Found> = Vec::new();
    for next in found {
        match merged.last_mut() {
            Some(last) if next.at.start < last.at.end => {
                last.at.end = last.at.end.max(next.at.end);
                if next.says() < last.says() {
                    last.kind = next.kind;
                    last.number = next.number;
                }
                last.whole = last.whole.take().or(next.whole);
            }
            _ => merged.push(next),
        }
    }
    let secrets = merged
        .into_iter()
        .filter_map(|found| {
            let value = text.get(found.at.clone())?;
            Some(Secret {
                kind: found.kind,
                at: copy.original(&found.at)?,
                value: if let Some(whole) = found.whole {
                    whole
                } else if found.number {
                    value
                        .chars()
                        .filter(char::is_ascii_alphanumeric)
                        .collect::<String>()
                        .to_ascii_uppercase()
                } else {
                    value.to_owned()
                },
            })
        })
        .collect();
    Some(secrets)
}

/// One pass over the bytes: what begins a token, numbers, and the signs between them.
fn tokens(text: &str, found: &mut Finds, unfinished: &mut Vec<usize>) {
    let bytes = text.as_bytes();
    let formats = &*FORMATS;
    let mut at = 0;
    while let Some(byte) = bytes.get(at) {
        if !byte.is_ascii_alphanumeric() {
            match byte {
                b'@' => people::at_sign(text, at, found),
                b'.' => formats.at_dot(text, at, found),
                _ => {}
            }
            at += 1;
            continue;
        }
        let start = at;
        let mut digits = 0;
        while let Some(byte) = bytes.get(at) {
            if byte.is_ascii_digit() {
                digits += 1;
            } else if !byte.is_ascii_alphabetic() {
                break;
            }
            at += 1;
        }
        if digits == at - start {
            people::at_digits(text, start, at, found);
            if let Some(sign @ (b':' | b'|' | b'%' | b'.' | b'/')) = bytes.get(at) {
                formats.after_digits(text, start, digits, *sign, found);
            }
        } else if digits >= 2
            && byte.is_ascii_uppercase()
            && matches!(bytes.get(start..start + 4), Some([_, b, c, d]) if b.is_ascii_uppercase() && c.is_ascii_digit() && d.is_ascii_digit())
        {
            people::at_iban(text, start, found);
        } else if digits == 17 && at - start == 18 && matches!(bytes.get(at - 1), Some(b'x' | b'X'))
        {
            people::at_digits(text, start, at - 1, found);
        }
        formats.at_start(text, start, found, unfinished);
    }
}

/// What is done where a word stands.
#[derive(Clone, Copy)]
enum Rule {
    Named(Class),
    Format(usize),
    Command(usize),
    Begin,
    Putty,
    Encoded,
    Address,
    Kind,
    Basic,
    Spelled,
}

struct Words {
    search: Option<aho_corasick::AhoCorasick>,
    rules: Vec<Vec<Rule>>,
}

static WORDS: LazyLock<Words> = LazyLock::new(|| {
    let mut by_word: BTreeMap<String, Vec<Rule>> = BTreeMap::new();
    let mut add = |word: &str, rule| {
        by_word
            .entry(word.to_ascii_lowercase())
            .or_default()
            .push(rule);
    };
    for (word, class) in &NAMES.words {
        add(word, Rule::Named(*class));
    }
    for (word, index) in &FORMATS.inner {
        add(word, Rule::Format(*index));
    }
    for (index, word) in blocks::command_words().enumerate() {
        add(word, Rule::Command(index));
    }
    for (word, rule) in [
        ("-----BEGIN", Rule::Begin),
        ("---- BEGIN", Rule::Begin),
        ("PuTTY-User-Key-File-", Rule::Putty),
        ("LS0tLS1CRUdJTi", Rule::Encoded),
        ("b3BlbnNzaC1rZXkt", Rule::Encoded),
        ("://", Rule::Address),
        ("kind", Rule::Kind),
        ("basic ", Rule::Basic),
        ("[at]", Rule::Spelled),
        ("(at)", Rule::Spelled),
        ("[ at ]", Rule::Spelled),
        ("( at )", Rule::Spelled),
    ] {
        add(word, rule);
    }
    Words {
        search: aho_corasick::AhoCorasick::builder()
            .ascii_case_insensitive(true)
            .kind(Some(aho_corasick::AhoCorasickKind::DFA))
            .build(by_word.keys())
            .ok(),
        rules: by_word.into_values().collect(),
    }
});

fn words(text: &str, found: &mut Finds, most: usize) {
    let words = &*WORDS;
    let Some(search) = &words.search else {
        // A test holds that there is one.
        return;
    };
    for hit in search.find_overlapping_iter(text) {
        if found.looked > most {
            return;
        }
        for rule in words
            .rules
            .get(hit.pattern().as_usize())
            .into_iter()
            .flatten()
        {
            match rule {
                Rule::Named(class) => named::at_word(text, hit.range(), *class, found),
                Rule::Format(index) => FORMATS.at_word(text, hit.start(), *index, found),
                Rule::Command(index) => blocks::at_command(text, hit.start(), *index, found),
                Rule::Begin => blocks::at_begin(text, hit.start(), found),
                Rule::Putty => blocks::at_putty(text, hit.start(), found),
                Rule::Encoded => blocks::at_encoded(text, hit.start(), found),
                Rule::Address => blocks::at_address(text, hit.start(), found),
                Rule::Kind => blocks::at_kind(text, hit.start(), found),
                Rule::Basic => blocks::at_basic(text, hit.end(), found),
                Rule::Spelled => people::at_spelled(text, hit.start(), found),
            }
        }
    }
}

#[cfg(test)]
mod tests;

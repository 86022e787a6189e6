//! Values whose names say that they are secrets: `password=`, `"clientSecret": "…"`, `X-Api-Key:`,
//! `foo_token …`, `密码：…`; the names are a table, `names.txt`.
//!
//! Design: where a word of the table stands, the name around it is read, then what joins it to a value
//! (an operator, quotes, a space), then the value; a judgement by the kind of name, the way it is
//! joined, and what the value looks like decides. Deliberately absent: rules for each service; the
//! next service would have none.

use super::formats::lines;
use super::likeness::{Likeness, in_row, is_blank, is_code, is_name, is_path, is_word};
use super::{Finds, Found};
use std::ops::Range;
use std::sync::LazyLock;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Class {
    Password,
    Secret,
    Hint,
    Service,
    Header,
}

pub(super) struct Names {
    pub(super) words: Vec<(&'static str, Class)>,
    not: Vec<&'static str>,
}

pub(super) static NAMES: LazyLock<Names> = LazyLock::new(|| {
    let mut names = Names {
        words: Vec::new(),
        not: Vec::new(),
    };
    for line in lines(include_str!("names.txt")) {
        let mut words = line.split(' ');
        let class = match words.next() {
            Some("password") => Class::Password,
            Some("secret") => Class::Secret,
            Some("hint") => Class::Hint,
            Some("service") => Class::Service,
            Some("header") => Class::Header,
            Some("not") => {
                names.not.extend(words);
                continue;
            }
            _ => continue,
        };
        names.words.extend(words.map(|word| (word, class)));
    }
    names
});

/// How a value is joined to its name.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Joint {
    /// `=`, `=>`, `:=`, `||`: assigned.
    Assigned,
    /// `:` as in YAML, JSON and prose.
    Colon,
    /// `,` or `(`: an argument.
    Argument,
    /// A word: is, 是.
    Is,
    /// White space.
    Space,
    /// The name goes on: `launchdarkly-secret-…`.
    Glued,
}

struct Value<'a> {
    text: &'a str,
    at: Range<usize>,
    quoted: bool,
    joint: Joint,
}

/// Longest name that is read.
const NAME: usize = 64;
/// Longest value that is read.
const VALUE: usize = 1_000;

/// A word of the table stands at `at`.
pub(super) fn at_word(text: &str, at: Range<usize>, class: Class, found: &mut Finds) {
    let bytes = text.as_bytes();
    let in_name = |b: u8| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'-' | b'.');
    let mut start = at.start;
    while start > 0 && at.start - start < NAME && bytes.get(start - 1).is_some_and(|b| in_name(*b))
    {
        start -= 1;
    }
    let mut end = at.end;
    while end - at.end < NAME && bytes.get(end).is_some_and(|b| in_name(*b)) {
        end += 1;
    }
    found.look(end - start);
    let name = text.get(start..end).unwrap_or_default();
    let before = text.get(start..at.start).unwrap_or_default();
    let rest = text.get(at.end..end).unwrap_or_default();
    if class == Class::Header {
        header(text, &at, start, found);
        return;
    }
    if !is_of(
        class,
        text.get(at.clone()).unwrap_or_default(),
        before,
        rest,
    ) {
        return;
    }
    let glued = glued(text, &at, end);
    found.look(glued.as_ref().map_or(0, |value| value.text.len()));
    if let Some(value) = glued
        && glued_is_secret(class, before, &value)
        && !is_excluded(text, name, start, value.at.start)
    {
        found.push(Found::secret(value.at, kind(class)));
        return;
    }
    let joined = joined(text, end, class == Class::Password);
    let told = (class == Class::Password)
        .then(|| told(text, end))
        .flatten();
    let Some(value) = joined
        .filter(|value| told.is_none() || value.joint != Joint::Space)
        .or(told)
    else {
        return;
    };
    let in_options = value.joint == Joint::Space && value.text.trim_end_matches('=').contains('=');
    found.look(2 * value.text.len());
    let secret = !in_options
        && match class {
            Class::Password => password(name, &value, text, start),
            Class::Secret => {
                strong(&value) || (is_aws_length(value.text) && is_of_aws(text, start, end))
            }
            Class::Hint => hinted(name, at.start - start, apart(text, start), &value),
            Class::Service => {
                let close = text.as_bytes().get(value.at.start.wrapping_sub(1)) == Some(&b':');
                of_service(rest, &value) || (close && is_md5(value.text))
            }
            Class::Header => false,
        };
    if secret && !is_excluded(text, name, start, end) {
        let kind = match kind(class) {
            // Of a form that says nothing, but for its length.
            "secret" if is_aws_length(value.text) && is_of_aws(text, start, end) => {
                "aws-secret-key"
            }
            kind => kind,
        };
        found.push(Found::secret(value.at, kind));
    }
}

fn kind(class: Class) -> &'static str {
    match class {
        Class::Password => "password",
        _ => "secret",
    }
}

/// 32 hex digits right behind a colon: neither a commit nor, in this place, a checksum.
fn is_md5(value: &str) -> bool {
    value.len() == 32 && value.bytes().all(|b| b.is_ascii_hexdigit())
}

fn is_aws_length(value: &str) -> bool {
    value.len() == 40
        && value
            .bytes()
            .all(|b| b.is_ascii_alphanumeric() || matches!(b, b'+' | b'/' | b'='))
}

fn is_of_aws(text: &str, start: usize, end: usize) -> bool {
    let mut from = start.saturating_sub(8);
    while !text.is_char_boundary(from) {
        from -= 1;
    }
    let name = text.get(from..end).unwrap_or_default().to_ascii_lowercase();
    name.contains("aws") || name.contains("amazon") || name.contains("secret_access_key")
}

/// The word is one in the name, not the middle of another: `passed`, `lobby`, `keyboard`.
fn is_of(class: Class, word: &str, before: &str, rest: &str) -> bool {
    let next_lower = rest.starts_with(|c: char| c.is_ascii_lowercase());
    let glued_before = before.ends_with(|c: char| c.is_ascii_lowercase())
        && word.starts_with(|c: char| c.is_ascii_lowercase());
    let lower = word.to_ascii_lowercase();
    match (class, lower.as_str()) {
        (Class::Password, "pass") => {
            !next_lower
                && (!glued_before
                    || [
                        "db", "user", "my", "root", "admin", "mysql", "ftp", "smtp", "redis", "pg",
                        "auth", "ssh",
                    ]
                    .iter()
                    .any(|owner| before.to_ascii_lowercase().ends_with(owner)))
        }
        (Class::Password, "pwd") => !next_lower && !glued_before || before.is_empty(),
        (Class::Hint, _) => {
            // `accessing`, `AccessDenied`, `path`, `key.kms.server.Filter`: the word is part of another.
            let alone = !rest.starts_with(|c: char| c.is_ascii_alphabetic())
                || ["Key", "Value", "value", "Token", "Secret", "Code"]
                    .iter()
                    .any(|end| rest.starts_with(end))
                // `authn`, `authz`.
                || (lower == "auth"
                    && rest.bytes().take_while(u8::is_ascii_alphabetic).count() <= 2);
            alone && !glued_before && rest.matches('.').count() < 2
        }
        // Short names stand in many words: `glob`, `rookTable`.
        (Class::Service, _) if word.len() <= 4 => {
            let begins = word.starts_with(|c: char| c.is_ascii_uppercase())
                || !before.ends_with(|c: char| c.is_ascii_alphabetic());
            let one = word.bytes().skip(1).all(|b| !b.is_ascii_uppercase())
                || word.bytes().all(|b| !b.is_ascii_lowercase());
            let ends = rest.bytes().take_while(u8::is_ascii_alphabetic).count() <= 2;
            begins && one && ends
        }
        _ => true,
    }
}

fn is_excluded(text: &str, name: &str, start: usize, end: usize) -> bool {
    // `partition key`, `cache key`: the word before counts too.
    let mut from = start.saturating_sub(14);
    while !text.is_char_boundary(from) {
        from -= 1;
    }
    let near = text.get(from..end).unwrap_or(name);
    let near = near
        .rsplit(['\n', ',', ';', '"', '{', '&'])
        .next()
        .unwrap_or(name);
    let mut near = if near.len() < name.len() { name } else { near }.to_ascii_lowercase();
    // A word written apart is one of the table all the same.
    near = near.replace(' ', "_");
    NAMES.not.iter().any(|word| near.contains(word))
}

/// `apifonica-PRIVATE-0123…`: the value is the end of the name.
fn glued<'a>(text: &'a str, at: &Range<usize>, end: usize) -> Option<Value<'a>> {
    const WORDS: [&str; 8] = [
        "access", "secret", "private", "token", "tok", "key", "api", "id",
    ];
    let mut start = at.end;
    let rest = text.get(start..end)?;
    if rest.len() < 16 {
        return None;
    }
    loop {
        let rest = text.get(start..end)?;
        let signs = rest.len() - rest.trim_start_matches(['-', '_', '.']).len();
        let after = rest.get(signs..)?.to_ascii_lowercase();
        let word = WORDS.iter().find(|word| {
            after.starts_with(**word)
                && after
                    .get(word.len()..)
                    .is_some_and(|a| a.starts_with(['-', '_', '.']))
        });
        start += signs;
        match word {
            Some(word) => start += word.len(),
            None => break,
        }
    }
    if start == at.end {
        return None;
    }
    let mut stop = start;
    let bytes = text.as_bytes();
    while stop - start < VALUE
        && bytes.get(stop).is_some_and(|b| {
            b.is_ascii_alphanumeric() || matches!(b, b'_' | b'-' | b'.' | b'+' | b'/' | b'=')
        })
    {
        stop += 1;
    }
    Some(Value {
        text: text.get(start..stop)?,
        at: start..stop,
        quoted: false,
        joint: Joint::Glued,
    })
}

fn glued_is_secret(class: Class, before: &str, value: &Value<'_>) -> bool {
    let like = Likeness::of(value.text);
    let enough = match class {
        Class::Secret => 16,
        _ => 20,
    };
    class != Class::Password
        && class != Class::Service
        && !before.is_empty()
        && value.text.len() >= enough
        && like.digits >= 4
        && like.letters() >= 4
        && like.is_random(enough)
        && !is_file_or_host(value.text)
}

/// What joins the name that ends at `end` to a value, and the value.
fn joined(text: &str, end: usize, keeps_signs: bool) -> Option<Value<'_>> {
    let bytes = text.as_bytes();
    let mut at = end;
    let skip = |at: &mut usize, most: usize, signs: &dyn Fn(u8) -> bool| {
        let from = *at;
        while *at - from < most && bytes.get(*at).is_some_and(|b| signs(*b)) {
            *at += 1;
        }
        *at - from
    };
    let quote = |b: u8| matches!(b, b'"' | b'\'' | b'`' | b'\\');
    let closed = skip(&mut at, 6, &|b| quote(b) || matches!(b, b']' | b')' | b'}'));
    // The name goes on in words of its own: `client secret`, `api key`.
    let mut spaces = skip(&mut at, 6, &|b| matches!(b, b' ' | b'\t'));
    if matches!(
        bytes.get(at..at + 2),
        Some([b'"' | b'\'', b'=' | b'>' | b':' | b',' | b'|'])
    ) {
        at += 1;
    }
    // `Unseal Key 2: …`
    if spaces > 0 && matches!(bytes.get(at..at + 2), Some([b'0'..=b'9', b':'])) {
        at += 1;
    }
    for word in [
        "key", "KEY", "Key", "token", "TOKEN", "access", "ACCESS", "secret", "SECRET", "api_key",
    ] {
        if spaces > 0
            && text.get(at..).is_some_and(|rest| rest.starts_with(word))
            && bytes
                .get(at + word.len())
                .is_some_and(|b| matches!(b, b' ' | b'=' | b':' | b'"'))
        {
            at += word.len();
            spaces = skip(&mut at, 4, &|b| b == b' ');
        }
    }
    let operator = at;
    skip(&mut at, 6, &|b| {
        matches!(b, b'=' | b':' | b'>' | b'?' | b'|' | b'~' | b'!')
    });
    let signs = text.get(operator..at).unwrap_or_default();
    let mut joint = if signs.is_empty() {
        match bytes.get(at) {
            Some(b',' | b'(') => {
                at += 1;
                Joint::Argument
            }
            _ => {
                let rest = text.get(at..)?;
                if rest.starts_with("value") {
                    spaces += 1;
                }
                let word = ["是", "为", "is ", "was ", "set to ", "to be "]
                    .iter()
                    .find(|word| rest.starts_with(**word));
                match word {
                    Some(word) => {
                        at += word.len();
                        Joint::Is
                    }
                    None if spaces > 0 => Joint::Space,
                    // `@AccessToken"…"`, `Password"value=`.
                    None if closed > 0 && quote_between(bytes, end, at) => Joint::Space,
                    None => return None,
                }
            }
        }
    } else if signs == ":" {
        Joint::Colon
    } else {
        Joint::Assigned
    };
    let gap = skip(&mut at, 40, &|b| matches!(b, b' ' | b'\t'));
    if joint != Joint::Space && matches!(bytes.get(at), Some(b'\r' | b'\n')) {
        // The value on a line of its own, if it is quoted.
        let mut line = at;
        skip(&mut line, 64, &|b| {
            matches!(b, b'\r' | b'\n' | b' ' | b'\t')
        });
        if !bytes.get(line).is_some_and(|b| matches!(b, b'"' | b'\'')) {
            return None;
        }
        at = line;
    }
    // `value=` of an XML attribute; a second operator: `="`, `'=>"`.
    for word in ["value=", "value =", "new Buffer(", "env("] {
        if text.get(at..).is_some_and(|rest| rest.starts_with(word)) {
            at += word.len();
            joint = Joint::Assigned;
        }
    }
    if joint == Joint::Argument && gap == 0 && bytes.get(at).is_some_and(|b| *b == b' ') {
        at += 1;
    }
    let opened = at;
    skip(&mut at, 6, &|b| {
        quote(b) || b == b'=' || b == b'[' || b == b'('
    });
    if joint == Joint::Assigned {
        skip(&mut at, 2, &|b| b == b' ');
        skip(&mut at, 2, &|b| quote(b));
    }
    let opening = text
        .get(opened..at)
        .and_then(|signs| signs.bytes().rfind(|b| matches!(b, b'"' | b'\'' | b'`')));
    let start = at;
    let mut stop = start;
    let mut quoted = false;
    if let Some(quote) = opening {
        while let Some(byte) = bytes.get(stop) {
            if *byte == quote && bytes.get(stop.wrapping_sub(1)) != Some(&b'\\') {
                quoted = true;
                break;
            }
            if *byte == b'\n' || stop - start > VALUE {
                break;
            }
            stop += 1;
        }
        // Cut off before it is closed.
        quoted |= stop == bytes.len()
            && stop > start
            && text
                .get(start..stop)
                .is_some_and(|value| !value.contains(' '));
        // `\"…\"`: the quotes are escaped.
        if quoted && bytes.get(stop.wrapping_sub(1)) == Some(&b'\\') {
            stop -= 1;
        }
    }
    if !quoted {
        stop = start;
        while stop - start < VALUE
            && bytes.get(stop).is_some_and(|b| {
                !matches!(
                    b,
                    b' ' | b'\t'
                        | b'\r'
                        | b'\n'
                        | b'"'
                        | b'\''
                        | b'`'
                        | b'<'
                        | b'>'
                        | b','
                        | b';'
                        | b'&'
                        | b'|'
                )
            })
        {
            stop += 1;
        }
        // Other scripts end a value unless a password: `密码是abc，请`.
        let run = text.get(start..stop).or_else(|| {
            while stop < text.len() && !text.is_char_boundary(stop) {
                stop += 1;
            }
            text.get(start..stop)
        })?;
        let run = run
            .find(['，', '。', '；', '、', '）', '！', '：'])
            .and_then(|at| run.get(..at))
            .unwrap_or(run);
        // `\n` and `\r` as they are written, and the sentence's own signs.
        let run = match run.find("\\n").or_else(|| run.find("\\r")) {
            Some(at) if at > 0 => run.get(..at).unwrap_or(run),
            _ => run,
        };
        // `Token{a64f992`, `chdir(/p/gb2`: a name of a program begins it.
        let run = match run.find(['{', '(', '[']) {
            Some(at) if at > 0 && run.get(..at).is_some_and(is_name) && !keeps_signs => {
                run.get(..at).unwrap_or(run)
            }
            _ => run,
        };
        let run = run.trim_end_matches(['.', ',', ')', ']', '}', '\\', ':', '?']);
        stop = start + run.len();
    }
    let value = text.get(start..stop)?;
    if value.is_empty() {
        return None;
    }
    // `refresh(TokenService.java:42)`: no argument of a name is without quotes.
    if joint == Joint::Argument
        && opening.is_none()
        && bytes.get(opened.wrapping_sub(1)) == Some(&b'(')
    {
        return None;
    }
    // `"Password:","…"`: what closes the name was taken for what opens a value.
    if quoted && value.starts_with([',', ':', ';', ')', ']', '}']) && value.len() < 40 {
        return None;
    }
    Some(Value {
        text: value,
        at: start..stop,
        quoted,
        joint,
    })
}

/// `the password for user 'postgres' is 'admin'`: told in a sentence, in quotes.
fn told(text: &str, end: usize) -> Option<Value<'_>> {
    let mut most = text.len().min(end + 90);
    while !text.is_char_boundary(most) {
        most -= 1;
    }
    let line = text.get(end..most)?.lines().next()?;
    if let Some(at) = line.find(" is ").filter(|_| line.starts_with(" for ")) {
        // Without quotes it has to look like one.
        let rest = line.get(at + 4..)?;
        let length = rest
            .find(|c: char| c.is_whitespace() || matches!(c, ',' | ';' | '"' | '\'' | '`'))
            .unwrap_or(rest.len());
        let shown = rest.get(..length)?.trim_end_matches(['.', '!', ')']);
        let like = Likeness::of(shown);
        if shown.len() >= 6 && like.digits > 0 && like.letters() > 0 {
            let start = end + at + 4;
            return Some(Value {
                text: shown,
                at: start..start + shown.len(),
                quoted: false,
                joint: Joint::Is,
            });
        }
    }
    let (at, quote) = [(" is '", '\''), (" is \"", '"'), (" is `", '`')]
        .iter()
        .find_map(|(word, quote)| line.find(word).map(|at| (at + word.len(), *quote)))?;
    let length = line.get(at..)?.find(quote)?;
    let start = end + at;
    Some(Value {
        text: text.get(start..start + length)?,
        at: start..start + length,
        quoted: true,
        joint: Joint::Is,
    })
}

fn quote_between(bytes: &[u8], start: usize, end: usize) -> bool {
    bytes
        .get(start..end)
        .is_some_and(|part| part.iter().filter(|b| matches!(b, b'"' | b'\'')).count() >= 2)
}

/// `Password: expired` is a sentence; `password=letmein` is not.
fn password(name: &str, value: &Value<'_>, text: &str, start: usize) -> bool {
    let shown = value.text;
    if is_blank(shown) || is_code(shown) || shown.chars().count() < 3 {
        return false;
    }
    let like = Likeness::of(shown);
    let spaces = shown.bytes().filter(|b| *b == b' ').count();
    let word = shown.chars().all(char::is_alphabetic);
    let mixed = like.digits > 0 && like.letters() > 0;
    let signs = shown
        .bytes()
        .any(|b| b.is_ascii_punctuation() && !matches!(b, b'.' | b',' | b'-' | b'_' | b'\''));
    if spaces > 0 {
        // A sentence in quotes, or a passphrase that is assigned.
        let first = shown.split(' ').next().unwrap_or_default();
        let said = is_blank(first) || shown.ends_with([':', '.', '?', '!']) || spaces > 4;
        return value.quoted && !said && (spaces == 1 || mixed) && value.joint == Joint::Assigned;
    }
    if (shown.starts_with('/') && shown.matches('/').count() > 1)
        || shown.starts_with("#") && is_name(&shown.replace(['#', '-'], "")) && shown.contains('-')
    {
        return false;
    }
    if like.digits == 0
        && shown.contains('/')
        && shown.bytes().all(|b| {
            b.is_ascii_alphabetic() || matches!(b, b'/' | b'_' | b'-' | b'#' | b'.' | b':')
        })
    {
        // A route.
        return false;
    }
    let label = shown.ends_with(':') && word || name.to_ascii_lowercase().ends_with("label");
    let option = start >= 1 && text.as_bytes().get(start).is_some_and(|b| *b == b'-')
        || name.starts_with('-');
    match value.joint {
        _ if label => false,
        Joint::Assigned => !is_path(shown) || mixed,
        Joint::Colon => {
            value.quoted
                || !(word || shown.contains('-') && is_name(&shown.replace('-', "_")))
                || like.is_gibberish(8)
        }
        Joint::Is => value.quoted || mixed || signs && shown.len() >= 6,
        Joint::Argument => value.quoted && !word && shown.len() >= 6 && !shown.contains('.'),
        Joint::Space if option => !shown.starts_with('-'),
        Joint::Space => {
            (value.quoted && !word && shown.len() >= 6)
                || (mixed
                    && shown.len() >= 7
                    && !is_path(shown)
                    && !shown.contains(':')
                    && like.digits * 8 >= shown.len())
                || (value.quoted
                    && word
                    && spaces == 0
                    && shown.len() >= 6
                    && near_user(text, start))
        }
        Joint::Glued => false,
    }
}

/// A user's name is given close by.
fn near_user(text: &str, start: usize) -> bool {
    let mut from = start.saturating_sub(80);
    while !text.is_char_boundary(from) {
        from -= 1;
    }
    let near = text
        .get(from..start)
        .unwrap_or_default()
        .to_ascii_lowercase();
    near.contains("user") || near.contains("login")
}

fn is_file_or_host(text: &str) -> bool {
    // `0x155e19baa520025`, `Broker.java:103`, `okhttp:jar:3.14.2`.
    if text.starts_with("0x")
        || [
            ".java:", ".scala:", ".kt:", ".py:", ".go:", ".rs:", ".js:", ".ts:", ".rb:", ".cs:",
            ".cpp:", ".c:", ":jar:", ":war:", ":pom:",
        ]
        .iter()
        .any(|sign| text.contains(sign))
        || text.starts_with("arn:")
        || text.starts_with("urn:")
    {
        return true;
    }
    const ENDS: [&str; 22] = [
        ".pem",
        ".p12",
        ".cer",
        ".crt",
        ".jks",
        ".yaml",
        ".yml",
        ".json",
        ".txt",
        ".key",
        ".conf",
        ".properties",
        ".com",
        ".net",
        ".org",
        ".io",
        ".internal",
        ".local",
        ".svc",
        ".java",
        ".py",
        ".go",
    ];
    let lower = text.to_ascii_lowercase();
    lower.contains("://") || ENDS.iter().any(|end| lower.ends_with(end))
}

/// A value of a name that says secret, token, api key.
fn strong(value: &Value<'_>) -> bool {
    let shown = value.text;
    if is_blank(shown)
        || (is_code(shown) && !(value.quoted && longest_run(shown).len() < 12))
        || is_file_or_host(shown)
        || shown.contains(' ')
    {
        return false;
    }
    let like = Likeness::of(shown);
    let least = match value.joint {
        Joint::Assigned | Joint::Colon if value.quoted => 8,
        Joint::Assigned => 8,
        Joint::Colon => 12,
        Joint::Argument if !value.quoted => 24,
        Joint::Argument | Joint::Is | Joint::Glued => 16,
        Joint::Space => 14,
    };
    if like.is_random(least) {
        return value.joint != Joint::Space || like.digits >= 3 || shown.len() >= 20;
    }
    match value.joint {
        Joint::Assigned | Joint::Colon => {
            like.is_gibberish(12)
                || like.is_long_row(20)
                || (like.letters() == 0 && like.digits >= 20)
                || is_long_run(shown, 24)
                || is_uuid_like(shown)
                || (value.quoted
                    && shown.len() >= 8
                    && shown
                        .bytes()
                        .any(|b| matches!(b, b'#' | b'$' | b'@' | b'^' | b'*' | b'+' | b'!'))
                    && !is_name(shown))
                || (like.digits >= 1
                    && like.letters() >= 4
                    && shown.len() >= 20
                    && !is_words(shown))
        }
        Joint::Space | Joint::Glued | Joint::Argument | Joint::Is => {
            shown.len() >= 20
                && (like.is_gibberish(20) || (like.is_long_row(24) && value.joint == Joint::Space))
        }
    }
}

fn longest_run(text: &str) -> &str {
    text.split(|c: char| !c.is_ascii_alphanumeric())
        .max_by_key(|run| run.len())
        .unwrap_or_default()
}

/// A run of letters and digits that is longer than words are.
fn is_long_run(text: &str, least: usize) -> bool {
    let run = longest_run(text);
    run.len() >= least && (!is_word(run) || in_row(run))
}

/// In groups like a UUID, of any letters.
fn is_uuid_like(text: &str) -> bool {
    text.len() == 36
        && text.bytes().enumerate().all(|(at, byte)| match at {
            8 | 13 | 18 | 23 => byte == b'-',
            _ => byte.is_ascii_alphanumeric(),
        })
}

/// Words joined by signs, or a name in camel case.
fn is_words(text: &str) -> bool {
    let parts = text
        .split(['.', '/', '-', '_', ':'])
        .filter(|part| !part.is_empty());
    let (mut words, mut all) = (0, 0);
    for part in parts {
        all += 1;
        words += usize::from(part.len() >= 2 && part.bytes().all(|b| b.is_ascii_alphabetic()));
    }
    all > 1 && words * 2 >= all
}

/// A word stands before the name, apart: `knapsackpro key=`.
fn apart(text: &str, start: usize) -> bool {
    let before = text.as_bytes().get(..start).unwrap_or_default();
    matches!(before, [.., letter, b' '] if letter.is_ascii_alphanumeric())
}

/// A value of a name that only may say that it is a secret.
fn hinted(name: &str, word: usize, apart: bool, value: &Value<'_>) -> bool {
    let shown = value.text;
    if is_blank(shown) || is_code(shown) || is_file_or_host(shown) || shown.contains(' ') {
        return false;
    }
    let like = Likeness::of(shown);
    // `rawg KEY 3f9c…`, `foo_key=3f9c…`: of something; a bare `key=` is of a map.
    let of_something = word > 0;
    let loud = name.bytes().any(|b| b.is_ascii_uppercase())
        && !name.bytes().any(|b| b.is_ascii_lowercase());
    match value.joint {
        Joint::Assigned => {
            // The key of a map is no key: `key=orders:2026-11-30:eu`.
            (like.is_random(if of_something { 10 } else { 16 })
                && (of_something
                    || (like.words == 0
                        && !shown.contains([':', '/'])
                        && (apart || !like.is_digest_or_id()))))
                || (of_something
                    && (like.is_gibberish(16)
                        || like.is_long_row(24)
                        || (like.is_long_row(16) && like.letters() == 0)))
        }
        Joint::Colon => {
            (like.is_random(16)
                && (of_something
                    || (value.quoted
                        && like.words == 0
                        && !shown.contains('/')
                        && !like.is_digest_or_id())))
                || (of_something && value.quoted && like.is_long_row(24))
                || (apart && like.is_random(32) && !like.is_digest_or_id())
        }
        Joint::Argument | Joint::Is => {
            value.quoted && like.is_random(20) && (of_something || !like.is_digest_or_id())
        }
        Joint::Space => {
            like.is_random(if loud { 12 } else { 20 })
                && (like.digits >= 3 || shown.len() >= 40)
                && (loud || (like.words == 0 && (of_something || !like.is_digest_or_id())))
                || (loud && like.is_long_row(20))
        }
        Joint::Glued => false,
    }
}

/// A value assigned to the name of a service.
fn of_service(rest: &str, value: &Value<'_>) -> bool {
    let shown = value.text;
    if is_blank(shown)
        || is_code(shown)
        || is_file_or_host(shown)
        || shown.contains(' ')
        || rest.len() > 24
    {
        return false;
    }
    let like = Likeness::of(shown);
    match value.joint {
        Joint::Assigned => {
            like.is_random(12)
                || like.is_gibberish(12)
                || like.is_long_row(18)
                || is_long_run(shown, 20)
                || is_uuid_like(shown)
        }
        Joint::Argument => {
            like.is_random(if value.quoted { 16 } else { 22 })
                && (!like.is_digest_or_id() || shown.len() == 64)
        }
        Joint::Colon => {
            (like.is_random(14)
                && !shown.contains(':')
                && (!like.is_digest_or_id() || value.quoted || shown.len() == 64))
                || like.is_gibberish(20)
        }
        Joint::Space => like.is_random(22) && like.digits >= 4 && !like.is_digest_or_id(),
        Joint::Is | Joint::Glued => false,
    }
}

/// `Authorization: Bearer …`, `X-Api-Key: …`, `Cookie: a=b; c=d`.
fn header(text: &str, at: &Range<usize>, start: usize, found: &mut Finds) {
    let bytes = text.as_bytes();
    let word = text
        .get(at.clone())
        .unwrap_or_default()
        .to_ascii_lowercase();
    // `stax-api:`, `authorizationEntry`: no headers.
    let byte_before = at.start.checked_sub(1).and_then(|before| bytes.get(before));
    let byte_after = bytes.get(at.end);
    if byte_before.is_some_and(|b| b.is_ascii_alphanumeric() || *b == b'.')
        || (word.starts_with("auth") && byte_after.is_some_and(u8::is_ascii_alphabetic))
    {
        return;
    }
    // The end of the name of the header.
    let mut end = at.end;
    while end - at.end < 32
        && bytes
            .get(end)
            .is_some_and(|b| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'-'))
    {
        end += 1;
    }
    if word == "bearer" || word == "ssws" {
        if end != at.end || start != at.start {
            return;
        }
        let from = skip_spaces(text, end, true);
        credential(text, from, 14, "authorization", found);
        return;
    }
    let named = word.ends_with(':');
    let value = if named { at.end } else { end };
    let mut from = value;
    while from - value < 2 && bytes.get(from).is_some_and(|b| matches!(b, b'"' | b'\'')) {
        from += 1;
    }
    if !named {
        let spaced = skip_spaces(text, from, false);
        match bytes.get(spaced) {
            Some(b':' | b'=' | b',') => from = spaced + 1,
            _ if word == "authorization" && spaced > from => from = spaced,
            _ => return,
        }
    }
    let mut from = skip_spaces(text, from, true);
    if word == "cookie" {
        let mut stop = from;
        while stop - from < 8 * 1024
            && bytes
                .get(stop)
                .is_some_and(|b| !matches!(b, b'\r' | b'\n' | b'"' | b'\''))
        {
            stop += 1;
        }
        found.look(stop - from);
        let value = text.get(from..stop).unwrap_or_default();
        if value.split_once('=').is_some_and(|(name, value)| {
            !name.is_empty()
                && name.len() < 60
                && name
                    .bytes()
                    .all(|b| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'.' | b'-'))
                && value.len() >= 4
        }) && !is_blank(value)
        {
            found.push(Found::secret(from..stop, "cookie"));
        }
        return;
    }
    // The scheme stays: it helps.
    for scheme in [
        "bearer",
        "basic",
        "token",
        "apikey",
        "digest",
        "negotiate",
        "aws4-hmac-sha256",
        "ssws",
        "key",
    ] {
        let says = text
            .get(from..from + scheme.len())
            .is_some_and(|said| said.eq_ignore_ascii_case(scheme));
        if says && bytes.get(from + scheme.len()) == Some(&b' ') {
            from = skip_spaces(text, from + scheme.len(), true);
            break;
        }
    }
    let least = if word.starts_with("auth") { 6 } else { 8 };
    credential(text, from, least, "authorization", found);
}

fn skip_spaces(text: &str, at: usize, quotes: bool) -> usize {
    let bytes = text.as_bytes();
    let mut end = at;
    while end - at < 6
        && bytes.get(end).is_some_and(|b| {
            matches!(b, b' ' | b'\t') || (quotes && matches!(b, b'"' | b'\'' | b'\\' | b':'))
        })
    {
        end += 1;
    }
    end
}

fn credential(text: &str, from: usize, least: usize, kind: &'static str, found: &mut Finds) {
    let bytes = text.as_bytes();
    let mut stop = from;
    while stop - from < 8 * 1024
        && bytes.get(stop).is_some_and(|b| {
            b.is_ascii_graphic()
                && !matches!(
                    b,
                    b'"' | b'\'' | b',' | b';' | b'<' | b'>' | b'\\' | b'`' | b')'
                )
        })
    {
        stop += 1;
    }
    found.look(2 * (stop - from));
    let value = text.get(from..stop).unwrap_or_default();
    let value = value.trim_end_matches(['.', ':', '!', '?']);
    let like = Likeness::of(value);
    // `Bearer authentication failed`: words, no token.
    let object = value.contains('@') && value.contains('.') || value.contains("://");
    let says = value.len() >= least
        && !object
        && !is_blank(value)
        && !is_code(value)
        && (like.digits > 0 && like.letters() > 0
            || value.ends_with('=')
            || like.is_gibberish(12)
            || (like.upper > 0
                && like.lower > 0
                && value.len() >= 12
                && value.len().is_multiple_of(4)
                && !is_name(value)));
    if says && !(like.digits < 2 && is_words(value)) {
        found.push(Found::secret(from..from + value.len(), kind));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_is_read() {
        assert!(NAMES.words.len() > 200 && NAMES.not.len() > 60);
    }
}

//! Secrets that are more than one value: keys in blocks over many lines, Secrets of Kubernetes,
//! passwords in addresses, passwords as options of commands.

use super::likeness::{Likeness, is_blank, is_code, is_path};
use super::pattern::Pattern;
use super::{Finds, Found};
use regex::Regex;
use std::sync::LazyLock;

/// Longest block that is looked for the end of. The longest PEM keys have 13 KB.
const BLOCK: usize = 64 * 1024;

/// `-----BEGIN` stands here.
pub(super) fn at_begin(text: &str, at: usize, found: &mut Finds) {
    let Some(rest) = text.get(at..).map(|rest| bounded(rest, BLOCK)) else {
        return;
    };
    let header = bounded(rest, 120);
    let Some(private) = find_any(header, &["PRIVATE KEY", "PRIVATE  KEY"]) else {
        return;
    };
    let Some(dashes) = header.get(private..).and_then(|after| after.find("--")) else {
        return;
    };
    let body = private + dashes;
    // The end, or as far as it looks like a key: it may be cut off.
    let end = match find_any(
        rest.get(body..).unwrap_or_default(),
        &["-----END", "---- END", "KEY-----"],
    ) {
        Some(end) => {
            let end = body + end;
            let tail = bounded(rest.get(end..).unwrap_or_default(), 200);
            let line = tail.find('\n').unwrap_or(tail.len());
            let tail = tail.get(..line).unwrap_or_default();
            // After `END … KEY` to the last of its dashes.
            let name = tail.find("KEY").unwrap_or(0);
            let dashes = tail
                .get(name..)
                .and_then(|after| after.find("----").map(|at| name + at))
                .map_or(tail.len().min(5), |at| {
                    at + tail
                        .get(at..)
                        .unwrap_or_default()
                        .bytes()
                        .take_while(|b| *b == b'-')
                        .count()
                });
            end + dashes
        }
        None => body + keylike(rest.get(body..).unwrap_or_default()),
    };
    // The search for an end goes to the end of what is looked at.
    found.look(rest.len() / 2);
    found.push(Found::secret(at..at + end, "private-key"));
}

/// How far a text looks like the lines of a key.
fn keylike(text: &str) -> usize {
    let mut end = text.bytes().take_while(|b| *b == b'-').count();
    let mut at = end;
    for line in text.get(end..).unwrap_or_default().split_inclusive('\n') {
        let trimmed = line.trim_matches(|c: char| {
            c.is_whitespace() || matches!(c, '"' | '\'' | ',' | '>' | '|' | '\\' | '+')
        });
        let run = trimmed
            .bytes()
            .take_while(|b| b.is_ascii_alphanumeric() || matches!(b, b'+' | b'/' | b'=' | b'\\'))
            .count();
        let headers = trimmed.starts_with("Proc-Type")
            || trimmed.starts_with("DEK-Info")
            || trimmed.starts_with("Version:")
            || trimmed.starts_with("Comment:");
        let lead = line.len()
            - line
                .trim_start_matches(|c: char| {
                    c.is_whitespace() || matches!(c, '"' | '\'' | '>' | '|' | '+')
                })
                .len();
        if trimmed.is_empty() || headers {
            at += line.len();
            continue;
        }
        if run < 16 && run < trimmed.len() {
            break;
        }
        if run < trimmed.len() {
            // The line goes on in other words: the key ends in it.
            end = at + lead + run;
            break;
        }
        at += line.len();
        end = at - (line.len() - line.trim_end().len());
    }
    end
}

/// A file of PuTTY: from its first line to the checksum at its end.
pub(super) fn at_putty(text: &str, at: usize, found: &mut Finds) {
    static END: LazyLock<Option<Regex>> =
        LazyLock::new(|| Regex::new(r"Private-(?:MAC|Hash): ?[0-9a-f]+").ok());
    let Some(rest) = text.get(at..).map(|rest| bounded(rest, BLOCK)) else {
        return;
    };
    found.look(rest.len());
    let end = END
        .as_ref()
        .and_then(|pattern| pattern.find(rest))
        .map(|end| end.end())
        .or_else(|| {
            // Cut off: from `Private-Lines` as far as it looks like a key.
            let lines = rest.find("Private-Lines:")?;
            let body = lines + rest.get(lines..)?.find('\n')?;
            Some(body + keylike(rest.get(body..)?))
        });
    if let Some(end) = end {
        found.push(Found::secret(at..at + end, "private-key"));
    }
}

/// The base64 of `-----BEGIN ` or of OpenSSH's own format: a key within a key's name.
pub(super) fn at_encoded(text: &str, at: usize, found: &mut Finds) {
    let Some(rest) = text.get(at..).map(|rest| bounded(rest, BLOCK)) else {
        return;
    };
    let run = rest
        .bytes()
        .take_while(|b| b.is_ascii_alphanumeric() || matches!(b, b'+' | b'/' | b'='))
        .count();
    found.look(run);
    let first = rest.get(..run.min(88)).unwrap_or_default();
    let private = first.starts_with("b3BlbnNzaC1rZXkt") || {
        let decoded = base64(first);
        String::from_utf8_lossy(&decoded).contains("PRIVATE KEY")
    };
    if run >= 24 && private {
        let end = run.max(keylike(rest));
        found.push(Found::secret(at..at + end, "private-key"));
    }
}

/// The bytes of a text in base64, of either alphabet; ends at the first sign that is none.
pub(super) fn base64(text: &str) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(text.len());
    let (mut held, mut bits) = (0_u32, 0_u32);
    for byte in text.bytes() {
        let value = match byte {
            b'A'..=b'Z' => byte - b'A',
            b'a'..=b'z' => byte - b'a' + 26,
            b'0'..=b'9' => byte - b'0' + 52,
            b'+' | b'-' => 62,
            b'/' | b'_' => 63,
            b'\r' | b'\n' => continue,
            _ => break,
        };
        held = (held << 6 | u32::from(value)) & 0xFF_FFFF;
        bits += 6;
        if bits >= 8 {
            bits -= 8;
            bytes.push((held >> bits & 0xFF) as u8);
        }
    }
    bytes
}

/// `Basic ` stands before `at`: base64 of a name and a password.
pub(super) fn at_basic(text: &str, at: usize, found: &mut Finds) {
    let rest = text.get(at..).unwrap_or_default();
    let run = rest
        .bytes()
        .take(1024)
        .take_while(|b| b.is_ascii_alphanumeric() || matches!(b, b'+' | b'/' | b'='))
        .count();
    let decoded = base64(rest.get(..run).unwrap_or_default());
    if run >= 8
        && decoded.contains(&b':')
        && decoded.iter().all(|b| b.is_ascii_graphic() || *b == b' ')
    {
        found.push(Found::secret(at..at + run, "authorization"));
    }
}

/// `://` stands here: `scheme://user:password@host`.
pub(super) fn at_address(text: &str, at: usize, found: &mut Finds) {
    let bytes = text.as_bytes();
    if !at
        .checked_sub(1)
        .and_then(|before| bytes.get(before))
        .is_some_and(u8::is_ascii_alphanumeric)
    {
        return;
    }
    let start = at + 3;
    let mut end = start;
    while end - start < 600
        && bytes.get(end).is_some_and(|b| {
            !b.is_ascii_whitespace()
                && !matches!(b, b'"' | b'\'' | b'<' | b'>' | b'`' | b'/' | b'?' | b'|')
        })
    {
        end += 1;
    }
    let Some(mut authority) = text.get(start..end) else {
        return;
    };
    // A `#` belongs to a password before the `@`, else it begins a fragment.
    if !authority.contains('@') {
        // `user:pa/ss@host`: a slash within the password, while no host comes before it.
        let Some(rest) = text.get(start..).map(|rest| bounded(rest, 200)) else {
            return;
        };
        let line = rest
            .find(|c: char| c.is_whitespace() || matches!(c, '"' | '\'' | '<' | '>' | '`'))
            .unwrap_or(rest.len());
        let Some(longer) = rest.get(..line) else {
            return;
        };
        let colon = longer.find(':');
        let slash = longer.find('/');
        let port = colon
            .and_then(|colon| longer.as_bytes().get(colon + 1))
            .is_some_and(u8::is_ascii_digit);
        match (colon, slash, longer.rfind('@')) {
            (Some(colon), Some(slash), Some(sign)) if colon < slash && slash < sign && !port => {
                authority = longer;
            }
            _ => return,
        }
    }
    // One part for each host of a list.
    let parts: Vec<&str> = if authority
        .split(',')
        .next()
        .is_some_and(|first| first.contains('@'))
    {
        authority.split(',').collect()
    } else {
        vec![authority]
    };
    let mut from = start;
    for part in parts {
        let range = from..from + part.len();
        from = range.end + 1;
        let Some(sign) = part.rfind('@') else {
            continue;
        };
        let Some(user) = part.get(..sign) else {
            continue;
        };
        match user.split_once(':') {
            Some((name, password)) => {
                let at = range.start + name.len() + 1;
                // `tcp://127.0.0.1:60895@60852`: ports.
                let port = name.contains('.')
                    && password.len() <= 5
                    && password.bytes().all(|b| b.is_ascii_digit());
                if !port && !password.is_empty() && !is_blank(password) && !(is_code(password)) {
                    found.push(Found::secret(at..at + password.len(), "url-password"));
                }
            }
            None => {
                let like = Likeness::of(user);
                if user.len() >= 16 && like.is_random(16) {
                    found.push(Found::secret(
                        range.start..range.start + user.len(),
                        "url-password",
                    ));
                }
            }
        }
    }
}

/// `kind: Secret` stands at `at` in a manifest: the values below `data:` and `stringData:`.
pub(super) fn at_kind(text: &str, at: usize, found: &mut Finds) {
    /// How far around the manifest is looked at, in bytes.
    const NEAR: usize = 16 * 1024;
    static KIND: LazyLock<Option<Regex>> = LazyLock::new(|| {
        Regex::new(r#"(?i)^kind["']?\s{0,8}:\s{0,8}["']?secret["']?\s*(?:,|\}|$|\n|\r)"#).ok()
    });
    static ENTRY: LazyLock<Option<Regex>> = LazyLock::new(|| {
        Regex::new(r#""([A-Za-z0-9._-]{1,80})"\s{0,4}:\s{0,4}"([^"\\]{4,})""#).ok()
    });
    let rest = text.get(at..).unwrap_or_default();
    if !KIND
        .as_ref()
        .is_some_and(|kind| kind.is_match(bounded(rest, 200)))
    {
        return;
    }
    let mut from = at.saturating_sub(NEAR);
    while !text.is_char_boundary(from) {
        from += 1;
    }
    let before = text.get(from..at).unwrap_or_default();
    let start = before
        .rfind("\n---")
        .map_or(from, |separator| from + separator + 4);
    let after = bounded(rest, NEAR);
    found.look(before.len() + after.len());
    let stop = at + after.find("\n---").unwrap_or(after.len());
    let Some(manifest) = text.get(start..stop) else {
        return;
    };
    // JSON on one line or many.
    for key in ["\"data\"", "\"stringData\""] {
        if let Some(data) = manifest.find(key)
            && let Some(open) = manifest.get(data..).and_then(|rest| rest.find('{'))
        {
            let body = data + open;
            let close = manifest
                .get(body..)
                .and_then(|rest| rest.find('}'))
                .map_or(manifest.len(), |close| body + close);
            if let (Some(entries), Some(entry)) = (manifest.get(body..close), ENTRY.as_ref()) {
                for captures in entry.captures_iter(entries) {
                    if let Some(value) = captures.get(2)
                        && !is_blank(value.as_str())
                    {
                        let at = start + body + value.start();
                        found.push(Found::secret(
                            at..at + value.as_str().len(),
                            "kubernetes-secret",
                        ));
                    }
                }
            }
        }
    }
    // YAML.
    let mut place = start;
    let mut data: Option<usize> = None;
    for line in manifest.split_inclusive('\n') {
        let line_start = place;
        place += line.len();
        let shown = line.trim_end();
        let indent = shown.len() - shown.trim_start().len();
        let entry = shown.trim_start();
        if entry.is_empty() || entry.starts_with('#') {
            continue;
        }
        if entry == "data:" || entry == "stringData:" {
            data = Some(indent);
            continue;
        }
        match data {
            Some(parent) if indent > parent => {
                let value = match entry.split_once(':') {
                    Some((key, value)) if !key.contains(' ') => value,
                    // The next lines of a value in a block.
                    _ => entry,
                };
                let value = value.trim().trim_matches(['"', '\'']);
                if value.len() >= 4 && !is_blank(value) && !value.starts_with(['|', '>']) {
                    let at = line_start + line.find(value).unwrap_or(0);
                    found.push(Found::secret(at..at + value.len(), "kubernetes-secret"));
                }
            }
            _ => data = None,
        }
    }
}

/// A program that takes passwords as options, and what takes them: the group is struck.
struct Command {
    word: &'static str,
    pattern: &'static str,
}

#[rustfmt::skip]
const COMMANDS: &[Command] = &[
    Command { word: "curl", pattern: r#"(?s)^curl\b.{0,800}?\s["']?(?:-[a-zA-Z]*u|--user|--proxy-user)[\s=]?["']{0,2}[^\s"':]{0,80}["']?:["']?(\{?[^\s"']{3,200})"# },
    Command { word: "wget", pattern: r#"(?s)^wget\b.{0,400}?\s--(?:http-|ftp-|proxy-)?password[ =]["']?([^\s"']{3,})"# },
    Command { word: "mysql", pattern: r#"^mysql(?:dump|admin|import)?\b[^\r\n]{0,160}?\s-p["']?([^\s"'\-][^\s"']{2,})"# },
    Command { word: "mariadb", pattern: r#"^mariadb(?:-dump|-admin)?\b[^\r\n]{0,160}?\s-p["']?([^\s"'\-][^\s"']{2,})"# },
    Command { word: "sshpass", pattern: r#"^sshpass\b\s{1,4}-p\s?["']?([^\s"']{3,})"# },
    Command { word: "redis-cli", pattern: r#"^redis-cli\b[^\r\n]{0,160}?\s-a\s{1,4}["']?([^\s"']{4,})"# },
    Command { word: "psexec", pattern: r#"(?i)^psexec\b[^\r\n]{0,240}?\s-p\s{1,4}["']?([^\s"']{3,})"# },
    Command { word: "docker login", pattern: r#"^docker login\b[^\r\n]{0,160}?\s(?:-p|--password)[ =]["']?([^\s"']{4,})"# },
    Command { word: "mongo", pattern: r#"^mongo(?:sh|dump|restore|export|import)?\b[^\r\n]{0,160}?\s-p\s{1,4}["']?([^\s"'\-][^\s"']{3,})"# },
    Command { word: "sqlcmd", pattern: r#"^sqlcmd\b[^\r\n]{0,160}?\s-P\s?["']?([^\s"']{3,})"# },
    Command { word: "ldapsearch", pattern: r#"^ldapsearch\b[^\r\n]{0,240}?\s-w\s?["']?([^\s"']{3,})"# },
    Command { word: "smbclient", pattern: r#"^smbclient\b[^\r\n]{0,160}?\s-U\s?["']?[^\s"'%]{1,60}%([^\s"']{3,})"# },
    Command { word: "networkcredential", pattern: r#"(?i)^networkcredential\s?\(\s?"[^"]{0,100}"\s?,\s?"([^"]{3,})""# },
    Command { word: "contribsys__com", pattern: r#"(?i)^contribsys__com[^0-9a-f\r\n]{0,8}1?[^0-9a-f\r\n]{0,6}([0-9a-f]{8}:[0-9a-f]{8})"# },
    Command { word: "azconfig.io", pattern: r"(?i)^azconfig\.io;Id=[^;\s]{4,60};Secret=([0-9A-Za-z+/]{20,}={0,2})" },
    Command { word: "login_with_api_key", pattern: r#"^login_with_api_key"\s*,\s*"params"\s*:\s*\[\s*"([^"]{16,})""# },
];

pub(super) fn command_words() -> impl Iterator<Item = &'static str> {
    COMMANDS.iter().map(|command| command.word)
}

static COMMAND_PATTERNS: LazyLock<Vec<Pattern>> = LazyLock::new(|| {
    COMMANDS
        .iter()
        .map(|command| Pattern::new(command.pattern.replace(r"\b", r"(?-u:\b)")))
        .collect()
});

pub(super) fn at_command(text: &str, at: usize, index: usize, found: &mut Finds) {
    let Some(pattern) = COMMAND_PATTERNS.get(index).and_then(Pattern::get) else {
        return;
    };
    let rest = text
        .get(at..)
        .map(|rest| bounded(rest, 1_200))
        .unwrap_or_default();
    // A command ends with its line, unless that ends in a backslash.
    let mut end = rest.len();
    let mut from = 0;
    while let Some(line) = rest.get(from..).and_then(|rest| rest.find('\n')) {
        let line = from + line;
        let before = rest.get(..line).unwrap_or_default().trim_end();
        if !before.ends_with('\\') && !before.len().lt(&8) && !before.ends_with('\n') {
            end = line;
            break;
        }
        from = line + 1;
    }
    let command = rest.get(..end).unwrap_or_default();
    found.look(2 * command.len());
    if let Some(value) = pattern.captures(command).and_then(|found| found.get(1)) {
        let shown = value.as_str();
        if !is_blank(shown) && !is_path(shown) && !is_code(shown) {
            found.push(Found::secret(
                at + value.start()..at + value.end(),
                "password",
            ));
        }
    }
}

fn bounded(text: &str, most: usize) -> &str {
    let mut end = text.len().min(most);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    text.get(..end).unwrap_or_default()
}

fn find_any(text: &str, words: &[&str]) -> Option<usize> {
    words.iter().filter_map(|word| text.find(word)).min()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_command_compiles() {
        assert!(
            COMMAND_PATTERNS
                .iter()
                .all(|pattern| pattern.get().is_some())
        );
    }

    #[test]
    fn base64_is_read() {
        assert_eq!(base64("YWRtaW46eA=="), b"admin:x");
        assert_eq!(base64(""), b"");
    }
}

//! Words: one way of folding and splitting text, for recall, sameness and grounding alike.
//!
//! Wanted: the same text in another width, case or spelling of its separators gives the same
//! tokens; Chinese is found by words of two characters; code keeps its parts (`HikariPool-1` is
//! found by `hikari`). SQLite's and PostgreSQL's indexes hold exactly [`terms`].
//!
//! Deliberately absent: stemming where fixes and causes are compared ([`meaningful`]): the rules do
//! without it. Only search sees through endings.

use std::borrow::Cow;
use unicode_normalization::UnicodeNormalization;

/// NFKC, lower case. What every comparison of text starts from.
pub fn fold(text: &str) -> String {
    if text.is_ascii() {
        return text.to_ascii_lowercase();
    }
    text.nfkc().flat_map(char::to_lowercase).collect()
}

/// Han, kana and hangul: scripts without spaces between words.
pub fn is_cjk(c: char) -> bool {
    matches!(c,
        '\u{3040}'..='\u{30FF}' | '\u{3400}'..='\u{4DBF}' | '\u{4E00}'..='\u{9FFF}'
        | '\u{AC00}'..='\u{D7AF}' | '\u{F900}'..='\u{FAFF}' | '\u{20000}'..='\u{3FFFF}')
}

/// Words that carry no meaning of their own, English and Chinese. No negation and no direction is
/// among them: *not*, *off* and *down* change what a fix is.
const STOP_WORDS: &[&str] = &[
    "a", "an", "and", "are", "as", "at", "be", "been", "by", "for", "from", "has", "have", "in",
    "into", "is", "it", "its", "of", "on", "or", "our", "so", "some", "that", "the", "their",
    "then", "there", "these", "they", "this", "those", "to", "was", "we", "were", "which", "while",
    "will", "with",
];

/// Filler of chat and runbooks.
const FILLER: &[&str] = &["again", "also", "please", "should"];

const STOP_HAN: &[char] = &[
    '的', '了', '着', '是', '在', '和', '与', '及', '把', '被', '将', '对', '从', '就', '也', '都',
    '还', '请',
];

/// Whether a folded token is a stop word.
pub fn is_stop_word(token: &str) -> bool {
    STOP_WORDS.binary_search_by(|word| word.cmp(&token)).is_ok() || FILLER.contains(&token)
}

/// Tokens for recall, in the order of the text, repeats kept: folded words, the parts of compound
/// identifiers beside the whole, and CJK bigrams (a lone character as itself).
pub fn tokens(text: &str) -> Vec<String> {
    let mut out = Vec::new();
    // ASCII is normal already; every line of every candidate comes through here.
    let normal: Cow<'_, str> = if text.is_ascii() {
        Cow::Borrowed(text)
    } else {
        Cow::Owned(text.nfkc().collect())
    };
    let mut word = String::new();
    let mut han: Vec<char> = Vec::new();
    for c in normal.chars() {
        if is_cjk(c) {
            flush_word(&mut word, &mut out);
            han.push(c);
            continue;
        }
        flush_han(&mut han, &mut out);
        if c.is_alphanumeric() || c == '_' {
            word.push(c);
        } else {
            flush_word(&mut word, &mut out);
        }
    }
    flush_word(&mut word, &mut out);
    flush_han(&mut han, &mut out);
    out
}

/// What an index holds and is asked for: [`tokens`] without stop words, each by its stem.
pub fn terms(text: &str) -> Vec<String> {
    let mut out = tokens(text);
    out.retain(|token| !is_stop_word(token));
    for token in &mut out {
        shorten(token);
    }
    out
}

/// A light stem, English only: exhausts, exhausted and exhausting are one word.
pub fn stem(token: &str) -> String {
    let mut out = token.to_owned();
    shorten(&mut out);
    out
}

/// Makes a word its stem, in place: most words only lose their end. Accents are dropped first, as
/// people who type in a hurry do.
fn shorten(token: &mut String) {
    if !token.is_ascii() && !token.chars().any(is_cjk) {
        *token = token
            .nfd()
            .filter(|c| !matches!(c, '\u{300}'..='\u{36F}'))
            .collect();
    }
    if token.len() < 5 || !token.bytes().all(|b| b.is_ascii_lowercase()) {
        return;
    }
    let stripped = ["ings", "ing", "ied", "ies", "ed", "es", "s"]
        .iter()
        .find_map(|ending| {
            let rest = token.strip_suffix(ending)?;
            let keep = match *ending {
                "s" => !rest.ends_with(['s', 'u', 'i']),
                _ => true,
            };
            (keep && rest.len() >= 3).then_some((rest.len(), *ending))
        });
    let Some((length, ending)) = stripped else {
        token.truncate(token.trim_end_matches('e').len());
        return;
    };
    token.truncate(length);
    if matches!(ending, "ied" | "ies") {
        token.push('y');
        return;
    }
    // running -> run, but fall stays fall.
    let mut chars = token.chars().rev();
    let (last, before) = (chars.next(), chars.next());
    if ending != "s" && ending != "es" && last == before && !matches!(last, Some('l' | 's' | 'z')) {
        token.pop();
        return;
    }
    token.truncate(token.trim_end_matches('e').len());
}

fn flush_han(han: &mut Vec<char>, out: &mut Vec<String>) {
    match han.as_slice() {
        [] => {}
        [one] => out.push(one.to_string()),
        many => out.extend(many.windows(2).map(|pair| pair.iter().collect::<String>())),
    }
    han.clear();
}

fn flush_word(word: &mut String, out: &mut Vec<String>) {
    if word.is_empty() {
        return;
    }
    // Longer runs are base64 or noise; an index row of that size helps nobody.
    if word.len() <= 96 {
        let whole = fold(word);
        // A plain word, as most are, has no parts.
        let plain = word.bytes().skip(1).all(|b| b.is_ascii_lowercase())
            && word.starts_with(|c: char| c.is_ascii_alphabetic());
        let parts = if plain {
            Vec::new()
        } else {
            compound_parts(word)
        };
        out.push(whole);
        if parts.len() > 1 {
            out.extend(parts.into_iter().filter(|part| part.len() > 1));
        }
    }
    word.clear();
}

/// `HikariPool` -> hikari, pool; `max_pool_size` -> max, pool, size; `HTTPServer` -> http, server.
fn compound_parts(word: &str) -> Vec<String> {
    let chars: Vec<char> = word.chars().collect();
    let mut parts: Vec<String> = vec![String::new()];
    for (index, &c) in chars.iter().enumerate() {
        let before = index.checked_sub(1).and_then(|i| chars.get(i)).copied();
        let after = chars.get(index + 1).copied();
        let boundary = match before {
            None => false,
            Some('_') => true,
            Some(previous) => {
                (c.is_uppercase() && previous.is_lowercase())
                    || (c.is_uppercase()
                        && previous.is_uppercase()
                        && after.is_some_and(char::is_lowercase))
                    || (c.is_ascii_digit() != previous.is_ascii_digit())
            }
        };
        if boundary {
            parts.push(String::new());
        }
        if c != '_'
            && let Some(last) = parts.last_mut()
        {
            last.extend(c.to_lowercase());
        }
    }
    parts.retain(|part| !part.is_empty());
    parts
}

/// Tokens that carry meaning, each once, for comparing short texts: folded words without stop
/// words, and CJK bigrams made after the particles were dropped.
pub fn meaningful(text: &str) -> std::collections::BTreeSet<String> {
    let mut out = std::collections::BTreeSet::new();
    let folded = fold(text);
    let mut word = String::new();
    let mut han: Vec<char> = Vec::new();
    let flush = |word: &mut String, out: &mut std::collections::BTreeSet<String>| {
        let trimmed = word.trim_matches(['-', '_', '.']);
        if !trimmed.is_empty() && !is_stop_word(trimmed) {
            out.insert(trimmed.to_owned());
        }
        word.clear();
    };
    let mut bigrams: Vec<String> = Vec::new();
    for c in folded.chars() {
        if is_cjk(c) {
            flush(&mut word, &mut out);
            if !STOP_HAN.contains(&c) {
                han.push(c);
            }
            continue;
        }
        flush_han(&mut han, &mut bigrams);
        if c.is_alphanumeric() || c == '_' {
            word.push(c);
        } else if matches!(c, '-' | '.') && !word.is_empty() {
            // Compounds such as payments-api and v1.2.3 stay whole.
            word.push(c);
        } else {
            flush(&mut word, &mut out);
        }
    }
    flush(&mut word, &mut out);
    flush_han(&mut han, &mut bigrams);
    out.extend(bigrams);
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stop_words_are_sorted_for_the_search() {
        assert!(STOP_WORDS.is_sorted());
    }

    #[test]
    fn terms_are_tokens_by_their_stems() {
        for (text, expected) in [
            ("The pool was exhausted", vec!["pool", "exhaust"]),
            ("exhausts exhausting", vec!["exhaust", "exhaust"]),
            ("running retries falls", vec!["run", "retry", "fall"]),
            ("status of leases", vec!["status", "leas"]),
            ("Mémoire memoire", vec!["memoir", "memoir"]),
            (
                "HikariPool-1 证书过期",
                vec!["hikaripool", "hikari", "pool", "1", "证书", "书过", "过期"],
            ),
        ] {
            assert_eq!(terms(text), expected, "{text}");
        }
    }

    #[test]
    fn tokens_of_code_and_chinese() {
        for (text, expected) in [
            ("HikariPool-1", vec!["hikaripool", "hikari", "pool", "1"]),
            (
                "max_pool_size",
                vec!["max_pool_size", "max", "pool", "size"],
            ),
            ("数据库", vec!["数据", "据库"]),
            ("证书", vec!["证书"]),
            ("库", vec!["库"]),
            ("ＨＴＴＰ ５０３", vec!["http", "503"]),
            ("", vec![]),
        ] {
            assert_eq!(tokens(text), expected, "{text}");
        }
    }
}

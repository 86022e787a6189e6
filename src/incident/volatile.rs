//! What changes from outage to outage: pods, commits, addresses, builds, dates (R20).
//!
//! Such words identify one night, not a kind of trouble: sameness and signatures mask them, and a
//! claim that brings one of them out of memory shows a placeholder instead.

use regex::Regex;
use std::borrow::Cow;
use std::sync::LazyLock;

/// A kind of volatile word and the placeholder that stands for it.
struct Kind {
    placeholder: &'static str,
    pattern: Regex,
}

/// `(placeholder, pattern)`, in the order in which they are applied.
const KINDS: &[(&str, &str)] = &[
    // Deployment pods: name, replica-set hash, five characters of the Kubernetes alphabet.
    (
        "<current pod>",
        r"\b[a-z0-9](?:[a-z0-9-]*[a-z0-9])?-[0-9a-f]{6,10}-[bcdfghjklmnpqrstvwxz2456789]{5}\b",
    ),
    // UUIDs name requests, volumes, instances.
    (
        "<current id>",
        r"\b[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}\b",
    ),
    // Hosts that carry an address or an instance id.
    (
        "<current host>",
        r"\bip-(?:[0-9]{1,3}-){3}[0-9]{1,3}(?:\.[a-z0-9.-]+)?\b|\bi-[0-9a-f]{8,17}\b",
    ),
    // IPv4 with an optional port; IPv6 in its written-out and shortened forms.
    (
        "<current address>",
        r"\b(?:[0-9]{1,3}\.){3}[0-9]{1,3}(?::[0-9]{1,5})?\b|\b(?:[0-9a-fA-F]{1,4}:){7}[0-9a-fA-F]{1,4}\b|\b(?:[0-9a-fA-F]{1,4}:){2,6}:[0-9a-fA-F]{1,4}\b",
    ),
    (
        "<current date>",
        r"\b20[0-9]{2}-[01][0-9]-[0-3][0-9](?:[T ][0-2][0-9]:[0-5][0-9](?::[0-5][0-9](?:[.,][0-9]+)?)?(?:Z|[+-][0-9]{2}:?[0-9]{2})?)?",
    ),
    (
        "<current build>",
        r"(?i)\bbuild[ -]?#?[0-9]{2,}\b|\b(?:pipeline|job|run) #[0-9]{2,}\b",
    ),
    // Commits: seven to forty hex digits with at least one digit and one letter, checked below.
    ("<current commit>", r"\b[0-9a-f]{7,40}\b"),
];

static COMPILED: LazyLock<Vec<Kind>> = LazyLock::new(|| {
    KINDS
        .iter()
        .filter_map(|(placeholder, pattern)| {
            Some(Kind {
                placeholder,
                // ASCII word boundaries: Han characters beside a name must not hide it.
                pattern: Regex::new(&pattern.replace(r"\b", r"(?-u:\b)")).ok()?,
            })
        })
        .collect()
});

fn is_volatile(kind: &Kind, word: &str) -> bool {
    if kind.placeholder == "<current commit>" {
        // `deadbeef` and `1234567` are words and numbers, not commits.
        return word.bytes().any(|b| b.is_ascii_digit())
            && word.bytes().any(|b| b.is_ascii_alphabetic());
    }
    if kind.placeholder == "<current pod>" {
        return word
            .rsplit('-')
            .nth(1)
            .is_some_and(|hash| hash.bytes().any(|b| b.is_ascii_digit()));
    }
    true
}

/// Replaces each volatile word for which `keep` says no; gives the text and what was replaced.
pub fn replace(text: &str, keep: impl Fn(&str) -> bool) -> (String, Vec<(String, &'static str)>) {
    let mut text = text.to_owned();
    let mut replaced = Vec::new();
    for kind in COMPILED.iter() {
        let changed = kind
            .pattern
            .replace_all(&text, |captures: &regex::Captures<'_>| {
                let word = captures.get(0).map_or("", |m| m.as_str());
                if !is_volatile(kind, word) || keep(word) {
                    return word.to_owned();
                }
                replaced.push((word.to_owned(), kind.placeholder));
                kind.placeholder.to_owned()
            })
            .into_owned();
        text = changed;
    }
    (text, replaced)
}

/// Every volatile word masked.
pub fn mask(text: &str) -> String {
    replace(text, |_| false).0
}

/// A log line with everything masked that differs between two occurrences of one error: what
/// [`mask`] masks, quoted values, times, hexadecimal words and numbers.
pub fn mask_log_line(line: &str) -> String {
    static NUMBERS: LazyLock<Option<Regex>> = LazyLock::new(|| {
        Regex::new(r"(?-u:\b)0x[0-9a-fA-F]+(?-u:\b)|(?-u:\b)[0-9]+(?:[.,:][0-9]+)*(?:ms|us|ns|s|m|h|d|%|[kKMGT]i?[bB]?)?(?-u:\b)").ok()
    });
    let masked: Cow<'_, str> = Cow::Owned(replace(line, |_| false).0);
    match NUMBERS.as_ref() {
        Some(numbers) => numbers.replace_all(&masked, "#").into_owned(),
        None => masked.into_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_patterns_compile() {
        assert_eq!(COMPILED.len(), KINDS.len());
    }

    #[test]
    fn r20_what_changes_from_outage_to_outage() {
        for (text, expected) in [
            (
                "delete pod notify-go-6d9f7c5b4-x2k8q",
                "delete pod <current pod>",
            ),
            ("roll back to 3f9c2ab", "roll back to <current commit>"),
            ("ping 10.2.3.4:5432", "ping <current address>"),
            ("redo build 4711", "redo <current build>"),
            ("since 2026-05-14", "since <current date>"),
            ("ssh ip-10-0-3-4.ec2.internal", "ssh <current host>"),
            // What stays.
            ("Raise maximumPoolSize to 40", "Raise maximumPoolSize to 40"),
            (
                "payments-api deadbeef 1234567",
                "payments-api deadbeef 1234567",
            ),
            ("version 1.2.3", "version 1.2.3"),
            (
                "将网关重试限流阈值恢复为默认值",
                "将网关重试限流阈值恢复为默认值",
            ),
        ] {
            assert_eq!(mask(text), expected, "{text}");
        }
    }
}

//! What changes from outage to outage: pods, commits, addresses, builds, dates (R20).
//!
//! Such words identify one night, not a kind of trouble: sameness and signatures mask them, and a
//! claim that brings one of them out of memory shows a placeholder instead.

use regex::{Regex, RegexSet};
use std::borrow::Cow;
use std::sync::LazyLock;

/// A kind of volatile word and the placeholder that stands for it.
struct Kind {
    placeholder: &'static str,
    pattern: Regex,
}

/// `(placeholder, pattern)`, in the order in which they are applied. Where a pattern has a group
/// `v`, that group is the word and the rest is what tells its kind.
const KINDS: &[(&str, &str)] = &[
    // Deployment pods: name, replica-set hash, five characters of the Kubernetes alphabet.
    (
        "<current pod>",
        r"\b[a-z0-9](?:[a-z0-9-]*[a-z0-9])?-[0-9a-f]{6,10}-[bcdfghjklmnpqrstvwxz2456789]{5}\b",
    ),
    // Pods of daemon sets and jobs: name and five such characters, a digit among them.
    (
        "<current pod>",
        r"\b[a-z](?:[a-z0-9-]*[a-z0-9])?-[bcdfghjklmnpqrstvwxz2456789]{5}\b",
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
    // Numbered machines by their full name, or behind a word that says that it is one.
    (
        "<current host>",
        r"\b[a-z][a-z0-9-]*[0-9][a-z0-9-]*\.(?:[a-z0-9-]+\.)*(?:internal|local|lan|corp|intra|compute|localdomain)\b",
    ),
    (
        "<current host>",
        r"(?:\b(?:[Hh]ost|[Nn]ode|[Mm]achine|[Ii]nstance|VM|vm|ssh(?: -[a-zA-Z]+)*)s? |主机 ?|节点 ?|机器 ?|服务器 ?|宿主机 ?)(?P<v>[a-z][a-z0-9]*(?:-[a-z0-9]+)*-?[0-9]{1,4}(?:\.[a-z0-9.-]*[a-z0-9])?)\b",
    ),
    // IPv4 with an optional port; IPv6 in its written-out and shortened forms.
    (
        "<current address>",
        r"\b(?:[0-9]{1,3}\.){3}[0-9]{1,3}(?::[0-9]{1,5}|/[0-9]{1,2})?\b|\b(?:[0-9a-fA-F]{1,4}:){7}[0-9a-fA-F]{1,4}\b|\b(?:[0-9a-fA-F]{1,4}:){1,6}(?::[0-9a-fA-F]{1,4}){1,6}\b",
    ),
    (
        "<current date>",
        r"\b20[0-9]{2}[-/][01]?[0-9][-/][0-3]?[0-9](?:[T ][0-2][0-9]:[0-5][0-9](?::[0-5][0-9](?:[.,][0-9]+)?)?(?:Z|[+-][0-9]{2}:?[0-9]{2})?)?",
    ),
    (
        "<current date>",
        r"(?:20[0-9]{2} ?年 ?)?[01]?[0-9] ?月 ?[0-3]?[0-9] ?[日号]",
    ),
    (
        "<current date>",
        r"\b[0-3]?[0-9](?:st|nd|rd|th)? (?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Sept|Oct|Nov|Dec)(?:uary|ruary|ch|il|e|y|ust|tember|ober|ember)?\b(?:,? 20[0-9]{2}\b)?|\b(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Sept|Oct|Nov|Dec)(?:uary|ruary|ch|il|e|y|ust|tember|ober|ember)? [0-3]?[0-9](?:st|nd|rd|th)?\b(?:,? 20[0-9]{2}\b)?",
    ),
    (
        "<current build>",
        r"(?i)\bbuild(?: number| no\.?)?[ -]?#?[0-9]{2,}\b|\b(?:pipeline|job|run) #[0-9]{2,}\b|(?:构建|流水线)(?:编号|号)?[ :：]?#?[0-9]{2,}",
    ),
    // Behind a word that says that it is one, any seven hex digits are a commit.
    (
        "<current commit>",
        r"(?i)(?:\b(?:commit|revision|rev|sha|hash)[ :@]|提交 ?)(?P<v>[0-9a-f]{7,40})\b",
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
                pattern: Regex::new(&with_ascii_boundaries(pattern)).ok()?,
            })
        })
        .collect()
});

/// All kinds at once.
static ANY: LazyLock<Option<RegexSet>> = LazyLock::new(|| {
    RegexSet::new(
        KINDS
            .iter()
            .map(|(_, pattern)| with_ascii_boundaries(pattern)),
    )
    .ok()
});

/// Han characters beside a name must not hide it.
fn with_ascii_boundaries(pattern: &str) -> String {
    pattern.replace(r"\b", r"(?-u:\b)")
}

/// Ends of names that look like five characters of a pod and are none.
const NO_POD_ENDS: &[&str] = &["http2", "grpc2", "lvl2", "ctrl2"];

fn is_volatile(kind: &Kind, word: &str, in_context: bool) -> bool {
    match kind.placeholder {
        // `deadbeef` and `1234567` are words and numbers, not commits.
        "<current commit>" => {
            in_context
                || (word.bytes().any(|b| b.is_ascii_digit())
                    && word.bytes().any(|b| b.is_ascii_alphabetic()))
        }
        "<current pod>" => {
            let mut parts = word.rsplit('-');
            let (end, hash) = (
                parts.next().unwrap_or_default(),
                parts.next().unwrap_or_default(),
            );
            let has_digit = |text: &str| text.bytes().any(|b| b.is_ascii_digit());
            let has_letter = |text: &str| text.bytes().any(|b| b.is_ascii_alphabetic());
            let of_deployment = (6..=10).contains(&hash.len())
                && hash.bytes().all(|b| b.is_ascii_hexdigit())
                && has_digit(hash);
            of_deployment || (has_digit(end) && has_letter(end) && !NO_POD_ENDS.contains(&end))
        }
        _ => true,
    }
}

/// Replaces each volatile word for which `keep` says no; gives the text and what was replaced.
pub fn replace(text: &str, keep: impl Fn(&str) -> bool) -> (String, Vec<(String, &'static str)>) {
    let mut text = text.to_owned();
    let mut replaced = Vec::new();
    // All of them hold a digit, or are seven hex letters long behind a word.
    if !text.bytes().any(|b| b.is_ascii_digit()) && !text.to_ascii_lowercase().contains("commit") {
        return (text, replaced);
    }
    // One look for all kinds at once: most lines hold none.
    if ANY.as_ref().is_some_and(|any| !any.is_match(&text)) {
        return (text, replaced);
    }
    for kind in COMPILED.iter() {
        let changed = kind
            .pattern
            .replace_all(&text, |captures: &regex::Captures<'_>| {
                let whole = captures.get(0).map_or("", |m| m.as_str());
                let word = captures.name("v").map_or(whole, |m| m.as_str());
                if !is_volatile(kind, word, word.len() < whole.len()) || keep(word) {
                    return whole.to_owned();
                }
                replaced.push((word.to_owned(), kind.placeholder));
                let lead = whole.strip_suffix(word).unwrap_or_default();
                format!("{lead}{}", kind.placeholder)
            });
        if let Cow::Owned(changed) = changed {
            text = changed;
        }
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
        assert!(ANY.is_some());
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
            (
                "drain node web-17, then wait",
                "drain node <current host>, then wait",
            ),
            ("web-07.prod.internal hangs", "<current host> hangs"),
            ("重启节点 web-17", "重启节点 <current host>"),
            ("kill fluentd-x7k2p", "kill <current pod>"),
            ("revert commit deadbeef", "revert commit <current commit>"),
            ("open since 14 May 2026", "open since <current date>"),
            ("自5月14日起", "自<current date>起"),
            ("ping fe80::1 once", "ping <current address> once"),
            ("重跑构建 4711", "重跑<current build>"),
            // What stays.
            ("Raise maximumPoolSize to 40", "Raise maximumPoolSize to 40"),
            (
                "payments-api deadbeef 1234567",
                "payments-api deadbeef 1234567",
            ),
            ("version 1.2.3", "version 1.2.3"),
            (
                "speaks grpc-http2 at 02:41:07",
                "speaks grpc-http2 at 02:41:07",
            ),
            ("the node pool of nas-2", "the node pool of nas-2"),
            ("HikariPool-1 in us-east-1", "HikariPool-1 in us-east-1"),
            (
                "nodes 3 and 4; may 10 of them",
                "nodes 3 and 4; may 10 of them",
            ),
            (
                "将网关重试限流阈值恢复为默认值",
                "将网关重试限流阈值恢复为默认值",
            ),
        ] {
            assert_eq!(mask(text), expected, "{text}");
        }
    }
}

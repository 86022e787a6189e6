//! A cause that nobody confirmed is not stated as a fact in the summary (R19).
//!
//! Wanted: "the root cause is the refund job" reads "the suspected root cause is the refund job"
//! while it is only a hypothesis; the sentence keeps what it tells. Softened in place, for a
//! summary without its cause helps nobody.
//!
//! Design: clause by clause. A claim that the cause was confirmed or found goes. *Root cause is*
//! becomes *suspected root cause is*; *caused by*, *due to* and the like become *possibly …* only
//! where what they lead to is one of the hypotheses, for "timeouts due to the full pool" may as well
//! be what was measured. The report's own words, what is left open, what is denied, what is told of
//! a past incident, and a proven cause stay as they are; so do causes that are merely named.

use super::log::Log;
use super::references;
use super::update::{clauses_of, is_open};
use crate::incident::sameness::{Likeness, Phrase, negates};
use crate::incident::words::fold;
use regex::{Captures, Regex};
use std::sync::LazyLock;

/// Causes by how sure one may be of them.
pub(super) struct Causes<'c> {
    /// Titles of hypotheses and recorded causes: only suspected while the incident runs.
    pub suspected: &'c [String],
    /// Of these, the ones that are proven and not mixed (R4, R14).
    pub proven: &'c [String],
}

/// The summary with its causes as suspected ones.
pub(super) fn softened(
    said: String,
    causes: &Causes<'_>,
    report: &str,
    at: &str,
    log: &mut Log,
) -> String {
    if said.is_empty() {
        return said;
    }
    let phrases = |causes: &[String]| -> Vec<Phrase> {
        causes
            .iter()
            .map(|cause| Phrase::new(cause))
            .filter(|cause| !cause.is_empty())
            .collect()
    };
    let suspected = phrases(causes.suspected);
    let proven = phrases(causes.proven);
    let report = squeezed(report);
    let mut out = String::with_capacity(said.len() + 16);
    for clause in clauses_of(&said) {
        let words = clause
            .trim()
            .trim_end_matches(['.', ',', ';', '。', '，', '；', '!', '！']);
        if words.is_empty() || report.contains(&squeezed(words)) {
            out.push_str(clause);
        } else if says_confirmed(words) {
            // The clause goes, with the space that it began with.
        } else {
            out.push_str(&softened_clause(clause, &suspected, &proven));
        }
    }
    let out = out
        .trim()
        .trim_end_matches([',', ';', '，', '；'])
        .trim()
        .to_owned();
    log.note("R19", at, &said, &out);
    out
}

fn squeezed(text: &str) -> String {
    fold(text).split_whitespace().collect::<Vec<_>>().join(" ")
}

fn is_like(said: &str, causes: &[Phrase]) -> bool {
    let said = Phrase::new(said);
    causes.iter().any(|cause| {
        cause.likeness(&said) >= Likeness::Near || cause.contains(&said) || said.contains(cause)
    })
}

/// The cause was confirmed, identified, found: only people say so.
fn says_confirmed(clause: &str) -> bool {
    static CONFIRMED: LazyLock<Option<Regex>> = LazyLock::new(|| {
        Regex::new(concat!(
            r"\b(?:cause|reason|culprit)s?\b[^.;]{0,60}\b(?:(?:is|was|were|has been|have been|now|been) )(?:now |fully |clearly |already |definitively )?(?:confirmed|identified|found|determined|established|verified|proven|known|clear)\b|",
            r"\b(?:confirmed|identified|verified|proven|definitive|established|found) (?:the |as the |to be the |as )?(?:root )?(?:cause|reason|culprit)\b|",
            r"\b(?:we|i|it|analysis|investigation|logs?|evidence)(?: have| has|'ve| is| was)? (?:now |clearly |definitively )?(?:confirm(?:ed|s)?|prove[dns]?|verified|established) (?:that|as)\b|\bit is (?:confirmed|certain|clear|proven) that\b|\b(?:definitely|certainly|undoubtedly|without (?:a )?doubt)\b|",
            r"(?:根因|根本原因|原因|问题)(?:已经?|已被|均已)(?:确认|查明|定位|明确|找到|锁定|证实)|已(?:经)?(?:确认|查明|定位到?|找到|锁定|证实|明确)(?:了)?(?:根因|根本原因|原因|是由|是因为|为|，?根因)|确认(?:根因|原因)(?:是|为)|(?:毫无疑问|可以肯定|确定无疑)"
        ))
        .ok()
    });
    let folded = fold(clause);
    CONFIRMED
        .as_ref()
        .is_some_and(|pattern| pattern.is_match(&folded))
        && !negates(clause)
        && !HEDGES.iter().any(|hedge| folded.contains(hedge))
}

/// Words with which a claim that the cause is confirmed is none.
const HEDGES: &[&str] = &[
    "whether",
    "if ",
    "until",
    "once ",
    "to confirm",
    "to identify",
    "unknown",
    "unconfirmed",
    "may ",
    "might",
    "could",
    "possibl",
    "suspect",
    "是否",
    "尚",
    "未",
    "可能",
    "待",
    "疑似",
    "如果",
    "一旦",
    "之前",
    "正在",
    "需要",
];

fn softened_clause(clause: &str, suspected: &[Phrase], proven: &[Phrase]) -> String {
    let folded = fold(clause);
    // What is open, denied, or told of a past incident claims nothing of this one.
    let of_the_past = !references::named(clause).is_empty() && {
        static PAST: LazyLock<Option<Regex>> =
            LazyLock::new(|| Regex::new(r"\b(?:was|were|had)\b|曾|当时|上次|那次|之前|里|中").ok());
        PAST.as_ref().is_some_and(|past| past.is_match(&folded))
    };
    if is_open(&folded) || negates(clause) || of_the_past {
        return clause.to_owned();
    }
    let plain = softened_by(&ROOT, clause, |_, cause| !is_like(cause, proven));
    if plain != clause {
        return plain;
    }
    let is_suspected = |_: &str, cause: &str| is_like(cause, suspected) && !is_like(cause, proven);
    softened_by(&CAUSAL, clause, is_suspected)
}

/// `(pattern, what stands before its group `w` when softened)`; `c` is what is said to be the cause.
type Rows = [(&'static str, &'static str)];

static ROOT: LazyLock<Vec<(Regex, &'static str)>> = LazyLock::new(|| {
    compiled(&[
        (
            r"(?i)\b(?P<w>(?:root[- ]cause|underlying cause|cause|reason|culprit)(?: of [^.;:]{1,80}?)?)(?: is| was|:| =| seems clear:| here is) (?P<c>[^.;]+)",
            "suspected ",
        ),
        (
            r"(?i)(?P<c>[^.;,]+?) (?:is|are|was) (?:the |a )?(?P<w>(?:root[- ]cause|underlying cause|cause|culprit)\b)",
            "suspected ",
        ),
        (
            r"(?P<w>(?:根本原因|根因|故障原因|问题原因|原因)(?:是|为|在于|：|:))(?P<c>[^，。；]+)",
            "疑似",
        ),
        (
            r"(?P<c>[^，。；]+?)(?:就是|正是|是)(?P<w>根因|根本原因|罪魁祸首)",
            "疑似",
        ),
    ])
});

static CAUSAL: LazyLock<Vec<(Regex, &'static str)>> = LazyLock::new(|| {
    compiled(&[
        (
            r"(?i)\b(?P<w>caused by|due to|because of|because|as a result of|resulting from|triggered by|owing to|thanks to)\b (?P<c>[^.;]+)",
            "possibly ",
        ),
        (
            r"(?i)(?P<c>[^.;,]+?) (?P<w>causes|caused|is causing|leads to|led to|is the reason)\b",
            "possibly ",
        ),
        (
            r"(?P<w>由)(?P<c>[^，。；]+?)(?:导致|引起|造成|引发)",
            "可能",
        ),
        (r"(?P<w>由于|因为|缘于|源于)(?P<c>[^，。；]+)", "可能"),
        (r"(?P<c>[^，。；]+?)(?P<w>导致|引起|造成|引发)", "可能"),
    ])
});

fn compiled(rows: &Rows) -> Vec<(Regex, &'static str)> {
    rows.iter()
        .filter_map(|(pattern, with)| Some((Regex::new(pattern).ok()?, *with)))
        .collect()
}

fn softened_by(
    rows: &[(Regex, &'static str)],
    clause: &str,
    goes: impl Fn(&str, &str) -> bool,
) -> String {
    for (pattern, with) in rows {
        let softened = pattern.replace(clause, |captures: &Captures<'_>| {
            let whole = captures.get(0).map_or("", |whole| whole.as_str());
            let (Some(word), Some(cause)) = (captures.name("w"), captures.name("c")) else {
                return whole.to_owned();
            };
            if !goes(whole, cause.as_str()) {
                return whole.to_owned();
            }
            let start = captures.get(0).map_or(0, |whole| whole.start());
            let (head, tail) = whole
                .split_at_checked(word.start().saturating_sub(start))
                .unwrap_or((whole, ""));
            // At the beginning of a sentence the added word takes the capital.
            let begins =
                head.trim().is_empty() && clause.get(..start).unwrap_or_default().trim().is_empty();
            match tail.chars().next() {
                Some(first) if begins && first.is_ascii_uppercase() => {
                    let mut capital = String::from(*with);
                    if let Some(letter) = capital.get_mut(0..1) {
                        letter.make_ascii_uppercase();
                    }
                    let rest = tail.get(1..).unwrap_or_default();
                    format!("{head}{capital}{}{rest}", first.to_ascii_lowercase())
                }
                _ => format!("{head}{with}{tail}"),
            }
        });
        if softened != clause {
            return softened.into_owned();
        }
    }
    clause.to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    const REPORT: &str = "503s since 02:41.\nThe DBA says the root cause is a missing index.\n\
        支付超时是由网络抖动导致的，厂商已确认。";

    fn soft(said: &str, proven: &[&str]) -> String {
        let suspected = [
            "Refund job holds JDBC connections open",
            "网关对重试请求限流过严",
            "Disk full on db-7",
        ]
        .map(str::to_owned);
        let proven: Vec<String> = proven.iter().map(|cause| (*cause).to_owned()).collect();
        let mut log = Log::default();
        let causes = Causes {
            suspected: &suspected,
            proven: &proven,
        };
        let out = softened(said.to_owned(), &causes, REPORT, "summary", &mut log);
        let noted = log.into_corrections();
        assert_eq!(noted.is_empty(), out == said, "{said}: {noted:?}");
        assert!(noted.iter().all(|correction| correction.rule == "R19"));
        out
    }

    #[test]
    fn r19_causes_in_the_summary_are_suspected_ones() {
        for (said, expected) in [
            (
                "The root cause is the refund job.",
                "The suspected root cause is the refund job.",
            ),
            (
                "Root cause: the refund job holds connections.",
                "Suspected root cause: the refund job holds connections.",
            ),
            (
                "Charges wait. The cause of the 503s is a full pool.",
                "Charges wait. The suspected cause of the 503s is a full pool.",
            ),
            (
                "The refund job is the root cause.",
                "The refund job is the suspected root cause.",
            ),
            (
                "The 503s are caused by the refund job holding JDBC connections open.",
                "The 503s are possibly caused by the refund job holding JDBC connections open.",
            ),
            (
                "Charges fail because the refund job holds JDBC connections open.",
                "Charges fail possibly because the refund job holds JDBC connections open.",
            ),
            (
                "Writes fail due to disk full on db-7",
                "Writes fail possibly due to disk full on db-7",
            ),
            ("根因是退款任务占用连接。", "疑似根因是退款任务占用连接。"),
            (
                "支付失败，根本原因为网关限流。",
                "支付失败，疑似根本原因为网关限流。",
            ),
            (
                "支付失败由网关对重试请求限流过严导致。",
                "支付失败可能由网关对重试请求限流过严导致。",
            ),
            (
                "网关对重试请求限流过严导致支付失败。",
                "网关对重试请求限流过严可能导致支付失败。",
            ),
        ] {
            assert_eq!(soft(said, &[]), expected, "{said}");
            assert_eq!(soft(expected, &[]), expected, "a second time");
        }
    }

    #[test]
    fn r19_nobody_confirmed_it() {
        for (said, expected) in [
            (
                "Charges fail. The root cause has been identified as the refund job.",
                "Charges fail.",
            ),
            (
                "We have confirmed that the refund job leaks. Charges fail.",
                "Charges fail.",
            ),
            (
                "Confirmed root cause: the refund job. Charges fail.",
                "Charges fail.",
            ),
            ("It is definitely the refund job", ""),
            ("支付失败，根因已确认。", "支付失败"),
            ("已定位到根因：退款任务。支付失败。", "支付失败。"),
        ] {
            assert_eq!(
                soft(said, &[]).trim_end_matches('。'),
                expected.trim_end_matches('。'),
                "{said}"
            );
        }
    }

    #[test]
    fn r19_what_claims_nothing_stays() {
        for said in [
            "Charges wait for a connection while Postgres is idle.",
            "The refund job holds JDBC connections open.",
            "The root cause is not known yet.",
            "The root cause is still unclear; the refund job is one suspect.",
            "The root cause is not the database.",
            "Check whether the 503s are caused by the refund job.",
            "The root cause is a missing index.",
            "The 503s may be caused by the refund job holding JDBC connections open.",
            "Requests time out due to the 30 s limit.",
            "The root cause of INC-0012 was the refund job.",
            "The cause could not be confirmed.",
            "Confirm the cause before changing anything.",
            "根因尚未确认，正在排查。",
            "是否由退款任务导致还不清楚。",
            "支付超时是由网络抖动导致的。",
            "错误是间歇性的，重试可以成功。",
            "疑似根因是退款任务。",
            "可能由网关限流导致。",
        ] {
            assert_eq!(soft(said, &[]), said, "{said}");
        }
    }

    #[test]
    fn r19_a_proven_cause_may_be_stated() {
        let proven = ["Refund job holds JDBC connections open"];
        for said in [
            "The root cause is the refund job holds JDBC connections open.",
            "The 503s are caused by the refund job that holds JDBC connections open.",
        ] {
            assert_eq!(soft(said, &proven), said);
        }
    }
}

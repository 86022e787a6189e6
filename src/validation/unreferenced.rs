//! A claim from memory without a reference is not shown as one (R3).
//!
//! Wanted: "we have seen this several times, a restart fixed it each time" goes where nothing recalled
//! stands behind it. An id that was not recalled is R1's matter; here no id is named at all.
//!
//! Design: clause by clause, by ways of telling of the past. The report's own words stay (a responder
//! may well say "again"), and so does what is denied, asked, or told of a service or an incident that
//! memory did give. Whoever cites a direct incident may tell of it.
//!
//! Deliberately absent: judging what is told. Where an incident is named, its record is held
//! against the claim elsewhere (see [`super::remembered`]).

use super::update::without;
use crate::incident::sameness::negates;
use crate::incident::words::fold;
use regex::Regex;
use std::sync::LazyLock;

/// What has happened before, and what helped then.
static TELLS: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(concat!(
        // It happened: `we have seen this outage several times before`.
        r"\b(?:seen|saw|happen(?:s|ed)|occurr(?:s|ed)|met|had|hit us|experienced|encountered|been through)\b[^.;?!]{0,40}\b(?P<a>before|previously|in the past|(?:several|many|multiple|numerous|two|three|four|a few|[0-9]+) times|(?:once|twice)(?: before| already)?|last (?:week|month|year|quarter|spring|summer|autumn|fall|winter|time))\b",
        r"|\b(?:previously|in the past|historically|last time|back then)\b[^.;?!]{0,60}\b(?:seen|fixed|resolved|solved|helped|cured|worked|mitigated|restored|went away|cleared|disappeared|was|were)\b",
        // It helped: `a restart fixed it each time`.
        r"|\b(?:fix(?:es|ed)|resolv(?:es|ed)|solv(?:es|ed)|help(?:s|ed)|cur(?:es|ed)|work(?:s|ed)|mitigat(?:es|ed)|restor(?:es|ed)|clear(?:s|ed))\b[^.;?!]{0,30}\b(?P<b>last time|before|previously|(?:each|every) time|in the past|back then|last (?:week|month|year|quarter)|on (?:previous|past|earlier) occasions)\b",
        // It is like one before: `the same outage as last month`.
        r"|\b(?:same|similar|identical|like|repeat|repetition|recurrence|another case|resembles|reminiscent)\b[^.;?!]{0,40}\b(?:last (?:week|month|year|quarter|time)(?:'s)?|(?:a|an|the|our|one|several|many|two|three) (?:previous|past|earlier|prior)|(?:previous|past|earlier|prior) (?:incidents?|outages?|ones?|cases?|failures?))\b",
        r"|\b(?:previous|past|earlier|prior|historical) (?:incidents?|outages?|occurrences?|cases?|failures?)\b[^.;?!]{0,40}\b(?:shows?|showed|suggests?|point(?:s|ed)?|indicates?|prove[sd]?|confirm(?:s|ed)?|w(?:as|ere)|had|have|has)\b",
        r"|\b(?:is|was|are|looks like|this) (?:a|our|the) (?:well[- ]known|known|recurring|old) (?:issue|problem|failure|pattern|bug)\b",
        r"|(?:以前|之前|此前|过去|曾经?|上次|上回|历史上|去年|上周|上个?月|往次|往年)[^，。；？！]{0,16}(?:出现过|发生过|遇到过|碰到过|见过|修复|解决|缓解|恢复|有效|奏效|也是|就是)",
        r"|(?:多次|屡次|反复|每次|好几次|数次|[两三四五几]次)[^，。；？！]{0,10}(?:出现|发生|遇到|修复|解决|恢复|有效|都)",
        r"|与(?:上次|之前|以往|去年|上周|上个?月)[^，。；？！]{0,10}(?:相同|一样|类似|如出一辙)|(?:老问题|老毛病|已知问题)"
    ))
    .ok()
});

/// What stands behind a count of today, or of a rate.
const OF_TODAY: &[&str] = &[
    "a", "an", "per", "each", "every", "since", "within", "today", "tonight", "so", "now", "in",
    "during", "between", "from", "as",
];

/// A text without its claims of a past that nobody recalled. `names` are what may be told of: ids and
/// services that memory gave, folded. `report` is folded.
pub(super) fn without_claims(said: &str, report: &str, names: &[String]) -> String {
    let Some(tells) = TELLS.as_ref() else {
        return said.to_owned();
    };
    without(said, |clause| {
        let folded = fold(clause);
        tells.captures_iter(&folded).any(|found| {
            let Some(whole) = found.get(0) else {
                return false;
            };
            // *It happened before the deploy*, *three times since 02:00*, *3,400 times a minute*
            // tell of today.
            let end = found.name("a").or_else(|| found.name("b"));
            let end = end.map_or("", |end| end.as_str());
            let rest = folded.get(whole.end()..).unwrap_or_default().trim_start();
            let next: String = rest.chars().take_while(|c| c.is_alphanumeric()).collect();
            let ordered = end == "before" && !next.is_empty() && next != "and";
            let counted = (end.ends_with("times") || end == "once" || end == "twice")
                && OF_TODAY.contains(&next.as_str());
            let ordered = ordered || counted;
            !ordered && !report.contains(whole.as_str())
        }) && !negates(&folded)
            && !clause.trim_end().ends_with(['?', '？'])
            && !names.iter().any(|name| folded.contains(name.as_str()))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kept(said: &str) -> String {
        let report = fold("the worker hangs again, last week a restart fixed it says bob");
        without_claims(said, &report, &["order-service".into(), "inc-0012".into()])
    }

    #[test]
    fn r3_a_past_that_nobody_recalled_is_not_told() {
        for told in [
            "We have seen this outage several times before.",
            "A gateway restart fixed it each time.",
            "Same outage as last month.",
            "This happened before and a restart helped.",
            "This is a known issue of the pool.",
            "Past incidents show that the cache is cold.",
            "Last time the cache was cold.",
            "It has occurred 3 times.",
            "Restarting the pods worked before.",
            "It resembles an earlier one: a past outage.",
            "这个问题以前出现过。",
            "上次重启后恢复。",
            "每次都是重启解决的。",
            "与上次相同。",
        ] {
            assert_eq!(kept(told), "", "{told}");
        }
        assert_eq!(
            kept("Checkout times out. We have seen this before."),
            "Checkout times out."
        );
    }

    #[test]
    fn what_is_no_claim_of_the_past_stays() {
        for said in [
            "The errors happened before the deploy of 02:40.",
            "Check whether the certificate was renewed last week",
            "Compare with the release before.",
            "Nothing like this was seen before.",
            "Has this happened before?",
            "The job failed three times since 02:00.",
            "Retries happened 3,400 times a minute.",
            "On order-service a restart fixed it last time.",
            "A restart fixed it last time (INC-0012).",
            "Last week a restart fixed it, says bob.",
            "请先查看上次发布的时间。",
            "连接池被占满。",
        ] {
            assert_eq!(kept(said), said);
        }
    }
}

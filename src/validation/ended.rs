//! Claims that it is over (R31): only people move an incident to mitigated or resolved, so a model
//! does not say so for them. A small model, asked with a past incident at hand, did: "the 503s are
//! resolved" while they went on.

use super::log::Log;
use super::update::without;
use crate::incident::sameness::negates;
use crate::incident::words::fold;
use regex::Regex;
use std::sync::LazyLock;

static OVER: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(concat!(
        r"\b(?:is|are|was|were|be(?:en)?|has|have|had|got)\s+(?:now\s+|fully\s+|already\s+|completely\s+|all\s+|been\s+)*",
        r"(?:resolved|fixed|restored|recovered|mitigated|solved|over\s*[.!,;。]?\s*$|back to normal|back online)(?:\b|$)|\bback to normal\b|\ball clear\b|\b(?:works?|working) (?:again|now|as usual|normally again)\b|\b(?:we(?:'re| are)|it'?s|is|are) (?:now )?back(?: up| online)?\s*[.!,;]?\s*$|\bno longer (?:failing|down|broken|happening)\b|\boperational again\b|\b(?:incident|issue|outage|case|ticket) (?:is |was |has been )?closed\b|\b(?:problem|issue|error|errors|outage)s? (?:is |are |has |have )?(?:now )?gone\b|",
        r"\b(?:service|services|payments?|systems?|everything|access|operations?|issue|incident|problem|outage)s? (?:fully )?(?:restored|recovered|resolved|fixed|solved|mitigated|over)\b|",
        r"\b(?:fix|patch|hotfix|remedy) (?:is|was|has been|went) (?:now )?(?:deployed|rolled out|released|live|applied|in place|out)\b|\bmonitoring the (?:fix|results?|recovery)\b|",
        r"^\s*(?:status ?[:=]|(?:identified|resolved|mitigated|fixed|restored|monitoring|recovered)\s*(?:[:.!-]|$))|",
        r"已(?:经)?(?:全部|完全|基本)?(?:恢复|解决|修复|缓解|正常)|(?:故障|问题|隐患)已(?:经)?(?:全部|完全)?排除|(?:故障|事故|问题)(?:已)?(?:关闭|消失)|可以正常[^，。；]{1,6}了|恢复正常|一切(?:恢复|正常)|(?:全部|完全)恢复|恢复了|(?:故障|事故)(?:已)?结束|(?:修复|补丁|修正)(?:已|已经)?(?:上线|发布|部署|生效)|^\s*状态\s*[：:]"
    ))
    .ok()
});

static OPEN: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(r"\b(?:if|whether|until|unless|once|when|before|confirm|check|verify|last time|earlier|previous(?:ly)?|should|will|would|expect(?:s|ed)?|to be)\b|是否|如果|直到|上次|之前|曾|当时|预计|将于").ok()
});

/// Whether a clause says that it is over.
pub(super) fn says_over(clause: &str) -> bool {
    let folded = fold(clause);
    let holds = |pattern: &LazyLock<Option<Regex>>| {
        pattern
            .as_ref()
            .is_some_and(|pattern| pattern.is_match(&folded))
    };
    // `no longer failing` says that it is over, with a negation.
    let over = folded.replace("no longer ", "\u{1} ");
    let denied = negates(&over);
    holds(&OVER) && !holds(&OPEN) && !denied
}

/// Without the clauses that say that it is over, unless the report says so itself.
pub(super) fn without_claims(said: String, report: &str, at: &str, log: &mut Log) -> String {
    if said.is_empty() || report.lines().any(says_over) {
        return said;
    }
    let kept = without(&said, says_over);
    log.note("R31", at, &said, &kept);
    kept
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn r31_only_people_say_that_it_is_over() {
        for (clause, over) in [
            ("The 503s are resolved", true),
            ("Service has been fully restored", true),
            ("Everything is back to normal", true),
            ("故障已恢复", true),
            ("支付已经完全恢复", true),
            ("The 503s are not resolved", false),
            ("Check whether the 503s are resolved", false),
            ("Charges fail until the pool is restored", false),
            ("It was fixed last time by a restart", false),
            ("尚未恢复", false),
            ("重试可以成功", false),
            ("Some card payments fail", false),
        ] {
            assert_eq!(says_over(clause), over, "{clause}");
        }
    }

    #[test]
    fn r31_what_the_report_says_itself_may_be_repeated() {
        let mut log = Log::default();
        let said = "Charges fail, the 503s are resolved.".to_owned();
        assert_eq!(
            without_claims(said.clone(), "503s since 02:41", "summary", &mut log),
            "Charges fail"
        );
        assert_eq!(
            without_claims(
                said.clone(),
                "the 503s are resolved now",
                "summary",
                &mut log
            ),
            said
        );
    }
}

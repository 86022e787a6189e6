//! The record of a fix (R12), what memory gave (R4), and the line that decides the night.

use crate::incident::{IncidentId, Locale, Outcome};
use crate::validation::analysis::{MemoryStatus, MemoryVerdict, Record};

/// R12's phrase: the record in words, said before any number.
pub fn record(locale: Locale, record: &Record) -> String {
    let (worked, failed) = (record.worked, record.failed);
    let tried = worked.saturating_add(failed);
    match (locale, worked, failed) {
        (Locale::En, 0, 0) if record.other_service_only => "OTHER SERVICE ONLY".into(),
        (Locale::Zh, 0, 0) if record.other_service_only => "仅在其他服务上有效".into(),
        (Locale::En, 0, 0) => "NOT PROVEN".into(),
        (Locale::Zh, 0, 0) => "未经验证".into(),
        (Locale::En, 0, n) => format!("FAILED HERE {n}x"),
        (Locale::Zh, 0, n) => format!("在此失败 {n} 次"),
        (Locale::En, 1, 0) => "WORKED ONCE HERE".into(),
        (Locale::Zh, 1, 0) => "在此有效 1 次".into(),
        (Locale::En, 2, 0) => "WORKED TWICE HERE".into(),
        (Locale::Zh, 2, 0) => "在此有效 2 次".into(),
        (Locale::En, n, 0) => format!("PROVEN {n}x"),
        (Locale::Zh, n, 0) => format!("已验证 {n} 次"),
        (Locale::En, n, _) => format!("WORKED {n} OF {tried} TIMES HERE"),
        (Locale::Zh, n, _) => format!("在此 {tried} 次中有效 {n} 次"),
    }
}

/// What follows the phrase: when it was last tried and how that went. `day` is the date, if known.
pub fn last_time(locale: Locale, record: &Record, day: Option<&str>) -> Option<String> {
    Some(match (locale, record.newest_failed, day) {
        (Locale::En, true, Some(day)) => format!("last time ({day}) it failed"),
        (Locale::Zh, true, Some(day)) => format!("最近一次（{day}）失败"),
        (Locale::En, true, None) => "last time it failed".into(),
        (Locale::Zh, true, None) => "最近一次失败".into(),
        (Locale::En, false, Some(day)) => format!("last {day}"),
        (Locale::Zh, false, Some(day)) => format!("最近 {day}"),
        (_, false, None) => return None,
    })
}

/// Worked and failed, both.
pub fn mixed(locale: Locale) -> &'static str {
    match locale {
        Locale::En => "mixed",
        Locale::Zh => "有成有败",
    }
}

/// The rule-based score, never a probability (R12).
pub fn score(locale: Locale, score: Option<u8>) -> String {
    match (locale, score) {
        (Locale::En, Some(score)) => format!("rule score {score}"),
        (Locale::Zh, Some(score)) => format!("规则评分 {score}"),
        (Locale::En, None) => "not scored".into(),
        (Locale::Zh, None) => "未评分".into(),
    }
}

/// What memory gave, in one word for people.
pub fn memory_status(locale: Locale, status: MemoryStatus) -> &'static str {
    match (locale, status) {
        (Locale::En, MemoryStatus::Disabled) => "off for this run",
        (Locale::Zh, MemoryStatus::Disabled) => "本次未启用",
        (Locale::En, MemoryStatus::Unavailable) => "unavailable",
        (Locale::Zh, MemoryStatus::Unavailable) => "不可用",
        (Locale::En, MemoryStatus::NoMatch) => "nothing like this",
        (Locale::Zh, MemoryStatus::NoMatch) => "没有类似的",
        (Locale::En, MemoryStatus::AnalogyOnly) => "other services only",
        (Locale::Zh, MemoryStatus::AnalogyOnly) => "仅有其他服务的",
        (Locale::En, MemoryStatus::Unproven) => "unproven",
        (Locale::Zh, MemoryStatus::Unproven) => "未经验证",
        (Locale::En, MemoryStatus::RefutedOnly) => "only failures",
        (Locale::Zh, MemoryStatus::RefutedOnly) => "只有失败的",
        (Locale::En, MemoryStatus::Mixed) => "mixed",
        (Locale::Zh, MemoryStatus::Mixed) => "有成有败",
        (Locale::En, MemoryStatus::Proven) => "proven",
        (Locale::Zh, MemoryStatus::Proven) => "已验证",
    }
}

/// `searched 143, 12 on this service`; `None` where memory did not say.
pub fn searched(locale: Locale, searched: Option<u64>, on_service: Option<u64>) -> Option<String> {
    let searched = searched?;
    Some(match (locale, on_service) {
        (Locale::En, Some(here)) => format!("searched {searched}, {here} on this service"),
        (Locale::Zh, Some(here)) => format!("已检索 {searched} 条，其中本服务 {here} 条"),
        (Locale::En, None) => format!("searched {searched}, service unknown"),
        (Locale::Zh, None) => format!("已检索 {searched} 条，服务未知"),
    })
}

/// R4's counts: `4 here: 1 held, 2 failed, 1 unknown; 1 elsewhere; searched 143, 12 on this service`.
pub fn memory_counts(locale: Locale, memory: &MemoryVerdict) -> String {
    let MemoryVerdict {
        here,
        held,
        failed,
        unknown,
        elsewhere,
        ..
    } = memory;
    let mut parts = Vec::new();
    match locale {
        Locale::En => {
            if *here > 0 {
                parts.push(format!(
                    "{here} here: {held} held, {failed} failed, {unknown} unknown"
                ));
            }
            if *elsewhere > 0 {
                parts.push(format!("{elsewhere} elsewhere"));
            }
        }
        Locale::Zh => {
            if *here > 0 {
                parts.push(format!(
                    "本服务 {here} 次：{held} 次有效，{failed} 次失败，{unknown} 次结果未知"
                ));
            }
            if *elsewhere > 0 {
                parts.push(format!("其他服务 {elsewhere} 次"));
            }
        }
    }
    parts.extend(searched(locale, memory.searched, memory.on_service));
    if memory.partial {
        parts.push(source_missing(locale).to_owned());
    }
    match locale {
        Locale::En => parts.join("; "),
        Locale::Zh => parts.join("；"),
    }
}

/// R4 in one sentence. "Nothing like this" and "similar, but no fix is known to have worked" are
/// different, and a memory that failed is never "no match".
pub fn memory_sentence(locale: Locale, memory: &MemoryVerdict) -> String {
    let counts = memory_counts(locale, memory);
    let words = match (locale, memory.status) {
        (_, MemoryStatus::NoMatch) => {
            return nothing_like_this(locale, memory.searched, memory.on_service);
        }
        (Locale::En, MemoryStatus::Unavailable) if memory.partial => {
            "Memory is only partly available, and nothing like this came from the rest"
        }
        (Locale::Zh, MemoryStatus::Unavailable) if memory.partial => {
            "记忆仅部分可用，其余部分未返回类似故障"
        }
        (_, MemoryStatus::Unavailable) => return memory_unavailable(locale).into(),
        (_, MemoryStatus::Disabled) => return memory_off(locale).into(),
        (Locale::En, MemoryStatus::AnalogyOnly) => "Not seen on this service; similar elsewhere",
        (Locale::Zh, MemoryStatus::AnalogyOnly) => "本服务未出现过；其他服务有类似情况",
        (Locale::En, MemoryStatus::Unproven) => "Similar, but no fix is known to have worked",
        (Locale::Zh, MemoryStatus::Unproven) => "有类似故障，但没有已知有效的修复",
        (Locale::En, MemoryStatus::RefutedOnly) => "Similar, and what was tried failed",
        (Locale::Zh, MemoryStatus::RefutedOnly) => "有类似故障，但试过的修复都失败了",
        (Locale::En, MemoryStatus::Mixed) => "Seen here: some fixes held, some failed",
        (Locale::Zh, MemoryStatus::Mixed) => "本服务出现过：有的修复有效，有的失败",
        (Locale::En, MemoryStatus::Proven) => "Seen here, and a fix held",
        (Locale::Zh, MemoryStatus::Proven) => "本服务出现过，且有修复有效",
    };
    match locale {
        Locale::En => format!("{words} ({counts})"),
        Locale::Zh => format!("{words}（{counts}）"),
    }
}

/// Memory answered, and nothing was above the floor.
pub fn nothing_like_this(locale: Locale, all: Option<u64>, on_service: Option<u64>) -> String {
    match (locale, searched(locale, all, on_service)) {
        (Locale::En, Some(counts)) => format!("Nothing like this in memory ({counts})"),
        (Locale::Zh, Some(counts)) => format!("记忆中没有类似故障（{counts}）"),
        (Locale::En, None) => "Nothing like this in memory".into(),
        (Locale::Zh, None) => "记忆中没有类似故障".into(),
    }
}

/// Memory has two sources, and one of them failed.
pub fn source_missing(locale: Locale) -> &'static str {
    match locale {
        Locale::En => "one of two sources did not answer",
        Locale::Zh => "两个来源中有一个未响应",
    }
}

/// Memory failed: never "no match".
pub fn memory_unavailable(locale: Locale) -> &'static str {
    match locale {
        Locale::En => "Memory unavailable: past incidents could not be searched",
        Locale::Zh => "记忆不可用：无法检索过往故障",
    }
}

/// Memory was off.
pub fn memory_off(locale: Locale) -> &'static str {
    match locale {
        Locale::En => "Memory was off for this run: past incidents were not searched",
        Locale::Zh => "本次未启用记忆：没有检索过往故障",
    }
}

/// `Seen 3x here, last 12 days ago`.
pub fn seen_here(locale: Locale, times: u32, ago: Option<&str>) -> String {
    match (locale, ago) {
        (Locale::En, Some(ago)) => format!("Seen {times}x here, last {ago}"),
        (Locale::En, None) => format!("Seen {times}x here"),
        (Locale::Zh, Some(ago)) => format!("本服务出现过 {times} 次，最近 {ago}"),
        (Locale::Zh, None) => format!("本服务出现过 {times} 次"),
    }
}

/// `not seen on this service; 2 like it elsewhere`.
pub fn seen_elsewhere(locale: Locale, times: u32) -> String {
    match locale {
        Locale::En => format!("Not seen on this service; {times} like it elsewhere"),
        Locale::Zh => format!("本服务未出现过；其他服务有 {times} 次类似"),
    }
}

/// `fixed in 18 min by <fix> (INC-0041)`.
pub fn fixed_by(locale: Locale, fix: &str, took: Option<&str>, id: Option<IncidentId>) -> String {
    let id = |open: &str, close: &str| {
        id.map(|id| format!("{open}{id}{close}"))
            .unwrap_or_default()
    };
    match (locale, took) {
        (Locale::En, Some(took)) => format!("fixed in {took} by {fix}{}", id(" (", ")")),
        (Locale::En, None) => format!("fixed by {fix}{}", id(" (", ")")),
        (Locale::Zh, Some(took)) => format!("{took}内修复：{fix}{}", id("（", "）")),
        (Locale::Zh, None) => format!("修复方法：{fix}{}", id("（", "）")),
    }
}

/// The last fix worked, but whether it held is not known.
pub fn last_tried(locale: Locale, fix: &str, id: IncidentId, outcome: Outcome) -> String {
    let outcome = super::outcome(locale, outcome);
    match locale {
        Locale::En => format!("last time: {fix} ({id}: {outcome})"),
        Locale::Zh => format!("上次：{fix}（{id}：{outcome}）"),
    }
}

/// `FAILED LAST TIME (INC-0052, 14 May: no effect)`.
pub fn failed_last_time(
    locale: Locale,
    id: IncidentId,
    day: Option<&str>,
    outcome: Outcome,
) -> String {
    let outcome = super::outcome(locale, outcome);
    match (locale, day) {
        (Locale::En, Some(day)) => format!("FAILED LAST TIME ({id}, {day}: {outcome})"),
        (Locale::En, None) => format!("FAILED LAST TIME ({id}: {outcome})"),
        (Locale::Zh, Some(day)) => format!("上次失败（{id}，{day}：{outcome}）"),
        (Locale::Zh, None) => format!("上次失败（{id}：{outcome}）"),
    }
}

/// Direct matches, none of whose fixes is known to have worked.
pub fn no_fix_known(locale: Locale) -> &'static str {
    match locale {
        Locale::En => "no fix is known to have worked",
        Locale::Zh => "没有已知有效的修复",
    }
}

/// `check first: <verify>`.
pub fn check_first(locale: Locale, verify: &str) -> String {
    match locale {
        Locale::En => format!("check first: {verify}"),
        Locale::Zh => format!("先检查：{verify}"),
    }
}

/// `back after 3 days (INC-0041)` (R11).
pub fn back_after(locale: Locale, id: IncidentId, days: i64) -> String {
    match (locale, days) {
        (Locale::En, ..=0) => format!("back within a day ({id})"),
        (Locale::En, 1) => format!("back after 1 day ({id})"),
        (Locale::En, days) => format!("back after {days} days ({id})"),
        (Locale::Zh, ..=0) => format!("一天内再次出现（{id}）"),
        (Locale::Zh, days) => format!("{days} 天后再次出现（{id}）"),
    }
}

/// An open incident elsewhere with the same error (R32).
pub fn one_outage(locale: Locale, service: &str, since: &str, id: IncidentId) -> String {
    match locale {
        Locale::En => {
            format!("{service} open since {since} with the same error ({id}): one outage?")
        }
        Locale::Zh => {
            format!("{service} 自 {since} 起有相同错误且未关闭（{id}）：是同一次故障吗？")
        }
    }
}

/// Where a service's internals may not be assumed (R6).
pub fn analogy_limit(locale: Locale, services: &str) -> String {
    match locale {
        Locale::En => format!("analogy from {services}: its internals are not assumed here"),
        Locale::Zh => format!("类比自 {services}：不假设本服务有相同的内部结构"),
    }
}

/// A service that nobody named.
pub fn another_service(locale: Locale) -> &'static str {
    match locale {
        Locale::En => "another service",
        Locale::Zh => "另一个服务",
    }
}

/// The newest proof is over a year old (R10).
pub fn stale(locale: Locale) -> &'static str {
    match locale {
        Locale::En => "stale: last proof over a year old",
        Locale::Zh => "已过时：最近一次验证在一年以前",
    }
}

/// The newest proof has no date.
pub fn date_unknown(locale: Locale) -> &'static str {
    match locale {
        Locale::En => "date unknown: nobody noted when the last proof was",
        Locale::Zh => "日期未知：最近一次验证没有记录时间",
    }
}

/// Look-alikes that had another cause (R8).
pub fn look_alikes(locale: Locale, count: u32) -> String {
    match (locale, count) {
        (Locale::En, 1) => "1 look-alike here had another cause".into(),
        (Locale::En, count) => format!("{count} look-alikes here had another cause"),
        (Locale::Zh, count) => format!("本服务有 {count} 次类似故障是其他原因"),
    }
}

/// Contradicted by the report's own words (R13); `quote` is already set as code or in quotes.
pub fn contradicted_by(locale: Locale, quote: &str, author: Option<&str>) -> String {
    match (locale, author) {
        (Locale::En, Some(author)) => format!("contradicted by {quote} ({author})"),
        (Locale::En, None) => format!("contradicted by {quote} (report)"),
        (Locale::Zh, Some(author)) => format!("与 {quote} 矛盾（{author}）"),
        (Locale::Zh, None) => format!("与 {quote} 矛盾（报告）"),
    }
}

/// History excluded this cause at least as often as it proved it (R13).
pub fn was_not_it_before(locale: Locale, refs: &str) -> String {
    match (locale, refs.is_empty()) {
        (Locale::En, false) => format!("was not it before ({refs})"),
        (Locale::En, true) => "was not it before".into(),
        (Locale::Zh, false) => format!("以前不是这个原因（{refs}）"),
        (Locale::Zh, true) => "以前不是这个原因".into(),
    }
}

/// Excluded before, but less often than proven: a note.
pub fn excluded_once(locale: Locale, refs: &str) -> String {
    match locale {
        Locale::En => format!("was ruled out in {refs}"),
        Locale::Zh => format!("曾在 {refs} 中被排除"),
    }
}

/// How a fix failed: `failed 2x, held 1x`.
pub fn failures(locale: Locale, failed: u32, held: u32) -> String {
    match (locale, held) {
        (Locale::En, 0) => format!("failed {failed}x"),
        (Locale::En, held) => format!("failed {failed}x, held {held}x"),
        (Locale::Zh, 0) => format!("失败 {failed} 次"),
        (Locale::Zh, held) => format!("失败 {failed} 次，有效 {held} 次"),
    }
}

/// It failed in the incident at hand.
pub fn in_this_incident(locale: Locale) -> &'static str {
    match locale {
        Locale::En => "in this incident",
        Locale::Zh => "本次故障中",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn counts(worked: u32, failed: u32, other_service_only: bool) -> Record {
        Record {
            worked,
            failed,
            other_service_only,
            ..Record::default()
        }
    }

    #[test]
    fn r12_phrases() {
        for (worked, failed, elsewhere, en, zh) in [
            (0, 0, false, "NOT PROVEN", "未经验证"),
            (0, 0, true, "OTHER SERVICE ONLY", "仅在其他服务上有效"),
            (0, 2, true, "FAILED HERE 2x", "在此失败 2 次"),
            (1, 0, false, "WORKED ONCE HERE", "在此有效 1 次"),
            (2, 0, false, "WORKED TWICE HERE", "在此有效 2 次"),
            (3, 0, false, "PROVEN 3x", "已验证 3 次"),
            (
                3,
                1,
                false,
                "WORKED 3 OF 4 TIMES HERE",
                "在此 4 次中有效 3 次",
            ),
        ] {
            assert_eq!(record(Locale::En, &counts(worked, failed, elsewhere)), en);
            assert_eq!(record(Locale::Zh, &counts(worked, failed, elsewhere)), zh);
        }
    }

    fn memory(
        status: MemoryStatus,
        here: u32,
        held: u32,
        failed: u32,
        elsewhere: u32,
    ) -> MemoryVerdict {
        MemoryVerdict {
            status,
            refs: Vec::new(),
            here,
            held,
            failed,
            unknown: here - held - failed,
            elsewhere,
            searched: Some(143),
            on_service: Some(12),
            partial: false,
            last: None,
        }
    }

    #[test]
    fn r4_a_missing_source_is_said_and_is_no_empty_answer() {
        for (locale, missing, nothing, searched) in [
            (
                Locale::En,
                "one of two sources did not answer",
                "Nothing like this",
                "searched 143",
            ),
            (
                Locale::Zh,
                "两个来源中有一个未响应",
                "没有类似",
                "已检索 143",
            ),
        ] {
            let mut none = memory(MemoryStatus::Unavailable, 0, 0, 0, 0);
            none.partial = true;
            let sentence = memory_sentence(locale, &none);
            assert!(
                sentence.contains(missing) && sentence.contains(searched),
                "{sentence}"
            );
            assert!(!sentence.contains(nothing), "{sentence}");
            let mut some = memory(MemoryStatus::Mixed, 4, 1, 2, 1);
            some.partial = true;
            let sentence = memory_sentence(locale, &some);
            assert!(sentence.contains(missing), "{sentence}");
            some.partial = false;
            assert!(!memory_sentence(locale, &some).contains(missing));
        }
    }

    #[test]
    fn r4_counts() {
        assert_eq!(
            memory_counts(Locale::En, &memory(MemoryStatus::Mixed, 4, 1, 2, 1)),
            "4 here: 1 held, 2 failed, 1 unknown; 1 elsewhere; searched 143, 12 on this service"
        );
        assert_eq!(
            memory_counts(Locale::Zh, &memory(MemoryStatus::Mixed, 4, 1, 2, 1)),
            "本服务 4 次：1 次有效，2 次失败，1 次结果未知；其他服务 1 次；已检索 143 条，其中本服务 12 条"
        );
    }

    #[test]
    fn r4_no_match_unproven_and_unavailable_are_three_things() {
        let none = memory_sentence(Locale::En, &memory(MemoryStatus::NoMatch, 0, 0, 0, 0));
        assert_eq!(
            none,
            "Nothing like this in memory (searched 143, 12 on this service)"
        );
        let unproven = memory_sentence(Locale::En, &memory(MemoryStatus::Unproven, 1, 0, 0, 0));
        assert!(
            unproven.starts_with("Similar, but no fix is known to have worked"),
            "{unproven}"
        );
        for locale in [Locale::En, Locale::Zh] {
            for status in [MemoryStatus::Unavailable, MemoryStatus::Disabled] {
                let gone = memory_sentence(locale, &memory(status, 0, 0, 0, 0));
                assert!(
                    !gone.contains("Nothing like") && !gone.contains("没有类似"),
                    "{gone}"
                );
            }
        }
    }
}

//! Outcomes: whether a fix held, whether two fixes are one, what keeps coming back.

use crate::incident::{IncidentId, Locale, PatternId, Shared};
use crate::validation::analysis::TriedHere;

/// `Tried 3 times on payments-api: held 1, failed 2`; the service is made safe by the caller.
pub fn tried_here(locale: Locale, tried: &TriedHere, service: &str) -> String {
    let TriedHere {
        held,
        failed,
        unknown,
        ..
    } = tried;
    let times = tried.times();
    let mut counts = Vec::new();
    match locale {
        Locale::En => {
            if *held > 0 || *failed > 0 {
                counts.push(format!("held {held}"));
                counts.push(format!("failed {failed}"));
            }
            if *unknown > 0 {
                counts.push(format!("not known {unknown}"));
            }
            let times = if times == 1 {
                "once".to_owned()
            } else {
                format!("{times} times")
            };
            format!("Tried {times} on {service}: {}", counts.join(", "))
        }
        Locale::Zh => {
            if *held > 0 || *failed > 0 {
                counts.push(format!("有效 {held}"));
                counts.push(format!("失败 {failed}"));
            }
            if *unknown > 0 {
                counts.push(format!("结果未知 {unknown}"));
            }
            format!("在 {service} 试过 {times} 次：{}", counts.join("，"))
        }
    }
}

/// When and where a fix was last tried: `last 14 May 2026 in prod`.
pub fn last_tried_in(locale: Locale, day: Option<&str>, environment: Option<&str>) -> String {
    match (locale, day, environment) {
        (Locale::En, Some(day), Some(environment)) => format!("last {day} in {environment}"),
        (Locale::En, Some(day), None) => format!("last {day}"),
        (Locale::En, None, Some(environment)) => format!("last in {environment}"),
        (Locale::Zh, Some(day), Some(environment)) => format!("最近 {day}（{environment}）"),
        (Locale::Zh, Some(day), None) => format!("最近 {day}"),
        (Locale::Zh, None, Some(environment)) => format!("最近在 {environment}"),
        (_, None, None) => String::new(),
    }
}

/// It was last tried more than twelve months ago.
pub fn long_ago(locale: Locale) -> &'static str {
    match locale {
        Locale::En => "over 12 months ago: what worked then may not apply now",
        Locale::Zh => "超过 12 个月：当时有效的现在未必适用",
    }
}

/// It was last tried in another environment than the one at hand.
pub fn other_environment(locale: Locale) -> &'static str {
    match locale {
        Locale::En => "another environment than this one",
        Locale::Zh => "与本次不是同一环境",
    }
}

/// In place of the question, once somebody said that it held; texts are made safe by the caller.
pub fn it_held(locale: Locale, id: IncidentId, fix: &str, who: &str) -> String {
    match locale {
        Locale::En => format!("✔ {id}: it held, says {who}. Fix: {fix}"),
        Locale::Zh => format!("✔ {id}：{who} 确认没有复发。修复：{fix}"),
    }
}

/// In place of the question, once somebody said that it came back.
pub fn it_came_back(locale: Locale, id: IncidentId, fix: &str, who: &str) -> String {
    match locale {
        Locale::En => {
            format!("↩ {id}: it came back, says {who}. This fix counts as failed now: {fix}")
        }
        Locale::Zh => format!("↩ {id}：{who} 说又出现了。此修复现记为失败：{fix}"),
    }
}

/// In place of a question that is no longer open: the incident or its fix went on.
pub fn asked_no_more(locale: Locale, id: IncidentId) -> String {
    match locale {
        Locale::En => format!("{id} went on since this was asked."),
        Locale::Zh => format!("提问之后 {id} 已有变化。"),
    }
}

/// Button: takes the last word back.
pub fn button_take_back(locale: Locale) -> &'static str {
    match locale {
        Locale::En => "Take it back",
        Locale::Zh => "撤回",
    }
}

/// Button: the incident runs again, and is analysed with what failed.
pub fn button_reopen(locale: Locale) -> &'static str {
    match locale {
        Locale::En => "Reopen and re-analyze",
        Locale::Zh => "重新打开并分析",
    }
}

/// Button beside one of several fixes: this one held.
pub fn button_this_held(locale: Locale, fix: &str) -> String {
    match locale {
        Locale::En => format!("Held: {fix}"),
        Locale::Zh => format!("有效：{fix}"),
    }
}

/// By what a fix counts as held where nobody said so: seven quiet days.
pub fn quiet_days(locale: Locale) -> &'static str {
    match locale {
        Locale::En => "7 quiet days",
        Locale::Zh => "7 天无复发",
    }
}

/// Above the words that were said of fixes, in order.
pub fn history_label(locale: Locale) -> &'static str {
    match locale {
        Locale::En => "What was said of it",
        Locale::Zh => "记录",
    }
}

/// A word that was taken back.
pub fn taken_back(locale: Locale) -> &'static str {
    match locale {
        Locale::En => "taken back",
        Locale::Zh => "已撤回",
    }
}

/// `same fix as INC-0012?`
pub fn same_question(locale: Locale, is_fix: bool, other: IncidentId) -> String {
    match (locale, is_fix) {
        (Locale::En, true) => format!("Same fix as {other}?"),
        (Locale::En, false) => format!("Same cause as {other}?"),
        (Locale::Zh, true) => format!("与 {other} 是同一修复吗？"),
        (Locale::Zh, false) => format!("与 {other} 是同一原因吗？"),
    }
}

/// What was answered: `Same fix as INC-0012, says alice`.
pub fn same_answer(
    locale: Locale,
    is_fix: bool,
    same: bool,
    other: IncidentId,
    who: &str,
) -> String {
    match (locale, is_fix, same) {
        (Locale::En, true, true) => format!("✔ Same fix as {other}, says {who}"),
        (Locale::En, false, true) => format!("✔ Same cause as {other}, says {who}"),
        (Locale::En, true, false) => format!("✘ Not the fix of {other}, says {who}"),
        (Locale::En, false, false) => format!("✘ Not the cause of {other}, says {who}"),
        (Locale::Zh, true, true) => format!("✔ 与 {other} 是同一修复（{who}）"),
        (Locale::Zh, false, true) => format!("✔ 与 {other} 是同一原因（{who}）"),
        (Locale::Zh, true, false) => format!("✘ 与 {other} 不是同一修复（{who}）"),
        (Locale::Zh, false, false) => format!("✘ 与 {other} 不是同一原因（{who}）"),
    }
}

/// Button: the two are the same.
pub fn button_same(locale: Locale) -> &'static str {
    match locale {
        Locale::En => "Same",
        Locale::Zh => "相同",
    }
}

/// Button: the two are different.
pub fn button_different(locale: Locale) -> &'static str {
    match locale {
        Locale::En => "Different",
        Locale::Zh => "不同",
    }
}

/// Two words for one question: this incident's and the other's.
pub fn here_and_there(locale: Locale, words: &str, other: IncidentId, other_words: &str) -> String {
    match locale {
        Locale::En => format!("here: {words}\n{other}: {other_words}"),
        Locale::Zh => format!("本次：{words}\n{other}：{other_words}"),
    }
}

/// `INC-0012 counts with INC-0010 now, as one occurrence.`
pub fn is_duplicate(locale: Locale, id: IncidentId, of: IncidentId) -> String {
    match locale {
        Locale::En => format!(
            "{id} is a duplicate of {of} now: they count once. /memory duplicate without `of` takes it back."
        ),
        Locale::Zh => {
            format!("{id} 现为 {of} 的重复：只计一次。不带 of 的 /memory duplicate 可撤销。")
        }
    }
}

/// `INC-0012 is part of INC-0010 now: all parts of a larger incident count once.`
pub fn is_part(locale: Locale, id: IncidentId, of: IncidentId) -> String {
    match locale {
        Locale::En => format!(
            "{id} is part of {of} now: all parts of one larger incident count once. /memory duplicate without `of` takes it back."
        ),
        Locale::Zh => format!(
            "{id} 现属于 {of}：同一较大故障的各部分只计一次。不带 of 的 /memory duplicate 可撤销。"
        ),
    }
}

/// A duplicate that is none any more.
pub fn is_no_duplicate(locale: Locale, id: IncidentId) -> String {
    match locale {
        Locale::En => format!("{id} counts by itself again."),
        Locale::Zh => format!("{id} 重新单独计数。"),
    }
}

/// Beside a duplicate in full.
pub fn duplicate_label(locale: Locale) -> &'static str {
    match locale {
        Locale::En => "Duplicate of",
        Locale::Zh => "重复于",
    }
}

/// Beside an incident that belongs under another.
pub fn parent_label(locale: Locale) -> &'static str {
    match locale {
        Locale::En => "Part of",
        Locale::Zh => "属于",
    }
}

/// What a pattern is: `3 independent times on payments-api, the same cause`.
pub fn pattern_line(locale: Locale, shared: Shared, episodes: u32, service: &str) -> String {
    match (locale, shared) {
        (Locale::En, Shared::Cause) => {
            format!("{episodes} independent times on {service}, the same cause")
        }
        (Locale::En, Shared::Signature) => {
            format!("{episodes} independent times on {service}, the same error")
        }
        (Locale::Zh, Shared::Cause) => format!("{service} 上 {episodes} 次独立发生，原因相同"),
        (Locale::Zh, Shared::Signature) => format!("{service} 上 {episodes} 次独立发生，错误相同"),
    }
}

/// Above the incidents that a pattern rests on.
pub fn rests_on(locale: Locale) -> &'static str {
    match locale {
        Locale::En => "Rests on",
        Locale::Zh => "依据",
    }
}

/// What keeps coming back, above what memory gave: `P1 (3 times here: …)`.
pub fn keeps_coming(locale: Locale, id: PatternId, episodes: u32, words: &str, on: &str) -> String {
    match locale {
        Locale::En => format!("{id} keeps coming back ({episodes} times): {words} · {on}"),
        Locale::Zh => format!("{id} 反复出现（{episodes} 次）：{words} · {on}"),
    }
}

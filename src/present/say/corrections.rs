//! What the rules changed, in words that a responder understands: where, from what to what, and why.
//!
//! A correction is kept as the core wrote it (`R3` at `hypotheses[1].source`, `memory`,
//! `current_evidence`): stored, tested and sent as data in that form. Here it is told.

use crate::incident::Locale;

/// One word in both languages.
type Word = (&'static str, &'static str);

fn word(locale: Locale, word: Word) -> &'static str {
    match locale {
        Locale::En => word.0,
        Locale::Zh => word.1,
    }
}

/// Where something was changed: `Cause 2 · source`, in the model's own numbering. `None` for a
/// place that is not known here.
pub fn correction_place(locale: Locale, at: &str) -> Option<String> {
    let (head, field) = at.split_once('.').unwrap_or((at, ""));
    let (head, number) = match head.split_once('[') {
        Some((head, number)) => {
            let number: usize = number.strip_suffix(']')?.parse().ok()?;
            (head, Some(number.saturating_add(1)))
        }
        None => (head, None),
    };
    let head = word(locale, whole(head)?);
    let mut place = match (locale, number) {
        (_, None) => head.to_owned(),
        (Locale::En, Some(number)) => format!("{head} {number}"),
        (Locale::Zh, Some(number)) => format!("{head}{number}"),
    };
    if !field.is_empty() {
        // Of a list within only the list is named.
        let field = field.split('[').next().unwrap_or(field);
        place.push_str(" · ");
        place.push_str(word(locale, part(field)?));
    }
    Some(place)
}

fn whole(name: &str) -> Option<Word> {
    Some(match name {
        "hypotheses" => ("Cause", "原因"),
        "next_steps" => ("Step", "步骤"),
        "ruled_out_by_history" => ("Ruled-out cause", "已排除原因"),
        "safety_notes" => ("Safety note", "安全提示"),
        "evidence" => ("Quote", "引文"),
        "symptoms" => ("Symptom", "症状"),
        "error_signatures" => ("Error line", "错误行"),
        "stakeholder_update" => ("Update", "通报"),
        "memory_verdict" => ("Memory", "记忆"),
        "severity_assessment" | "severity" => ("Severity", "严重级别"),
        other => part(other)?,
    })
}

fn part(name: &str) -> Option<Word> {
    Some(match name {
        "summary" => ("Summary", "摘要"),
        "answer" => ("Answer", "回答"),
        "title" => ("title", "标题"),
        "service" => ("Service", "服务"),
        "recall_query" => ("search words", "检索词"),
        "source" => ("source", "来源"),
        "memory_refs" | "refs" => ("references", "引用"),
        "evidence" => ("quotes", "引文"),
        "contradicted_by" => ("contradicted by", "矛盾引文"),
        "confidence" => ("score", "评分"),
        "verify" => ("check", "检查"),
        "fix" => ("fix", "修复"),
        "fix_ref" => ("whose fix it is", "修复出处"),
        "step" => ("words", "文字"),
        "command" => ("command", "命令"),
        "risk" => ("risk", "风险"),
        "expect" => ("what to expect", "预期"),
        "undo" => ("how to undo it", "撤销方法"),
        "cause" => ("cause", "原因"),
        "reason" => ("reason", "理由"),
        "status" => ("status", "状态"),
        "severity" => ("level", "级别"),
        "impact" => ("impact", "影响"),
        "since" => ("since when", "开始时间"),
        "known" => ("what is known", "已知"),
        "not_confirmed" => ("what is not confirmed", "未确认"),
        "doing" => ("what is done", "处理中"),
        "needed" => ("what is needed", "需要"),
        "changed_since" => ("what changed", "变化"),
        "next_update_minutes" => ("next update", "下次通报"),
        _ => return None,
    })
}

/// What stood or stands there: the core's own words told, everything else as it is.
pub fn correction_value(locale: Locale, text: &str) -> String {
    let known: Option<Word> = match text.trim() {
        "memory" => Some(("memory", "记忆")),
        "current_evidence" => Some(("this report", "本次报告")),
        "general_practice" => Some(("general practice", "一般经验")),
        "read_only" => Some(("read-only", "只读")),
        "reversible" => Some(("reversible", "可撤销")),
        "risky" => Some(("risky", "有风险")),
        "destructive" => Some(("destructive", "破坏性")),
        "disabled" => Some(("memory off", "记忆已关闭")),
        "unavailable" => Some(("memory unavailable", "记忆不可用")),
        "no_match" => Some(("nothing like it", "没有相似记录")),
        "analogy_only" => Some(("other services only", "仅其他服务")),
        "unproven" => Some((
            "seen here, no fix known to hold",
            "本服务出现过，无已知有效修复",
        )),
        "refuted_only" => Some((
            "seen here, every known fix failed",
            "本服务出现过，已知修复均失败",
        )),
        "mixed" => Some(("some fixes held, some failed", "有的修复有效，有的失败")),
        "proven" => Some(("seen here, and a fix held", "本服务出现过，且有修复有效")),
        "merged" => Some(("made one with another", "与另一项合并")),
        "a hypothesis without a title" => Some(("a cause without a title", "没有标题的原因")),
        "the model's own instructions" => Some((
            "the bot's own instructions to the model",
            "机器人给模型的指令",
        )),
        _ => None,
    };
    if let Some(known) = known {
        return word(locale, known).to_owned();
    }
    let places = |list: &str| {
        let list = list.strip_prefix('[')?.strip_suffix(']')?;
        let places: Option<Vec<String>> = list
            .split(", ")
            .map(|place| Some(place.parse::<usize>().ok()?.saturating_add(1).to_string()))
            .collect();
        Some(places?.join(", "))
    };
    if let Some(list) = text.strip_prefix("order ").and_then(places) {
        return match locale {
            Locale::En => format!("order {list}"),
            Locale::Zh => format!("顺序 {list}"),
        };
    }
    if let Some(steps) = text.strip_prefix("order: ") {
        return match locale {
            Locale::En => format!("order: {steps}"),
            Locale::Zh => format!("顺序：{steps}"),
        };
    }
    if let Some(place) = text
        .strip_prefix("merged into ")
        .and_then(|place| correction_place(locale, place))
    {
        return match locale {
            Locale::En => format!("made one with {}", place.to_lowercase()),
            Locale::Zh => format!("与{place}合并"),
        };
    }
    if let Some(title) = text.strip_prefix("general idea: ") {
        return match locale {
            Locale::En => format!("a general idea: {title}"),
            Locale::Zh => format!("一般经验：{title}"),
        };
    }
    if let Some((count, what)) = text.split_once(" more ")
        && count.parse::<usize>().is_ok()
    {
        let what: Option<Word> = match what {
            "references" => Some(("references", "条引用")),
            "hypotheses" => Some(("causes", "个原因")),
            "quotes" => Some(("quotes", "条引文")),
            "steps" => Some(("steps", "个步骤")),
            "causes" => Some(("causes", "个原因")),
            "notes" => Some(("notes", "条提示")),
            _ => None,
        };
        if let Some(what) = what.map(|what| word(locale, what)) {
            return match locale {
                Locale::En => format!("{count} more {what}"),
                Locale::Zh => format!("另外 {count} {what}"),
            };
        }
    }
    text.to_owned()
}

/// Why a rule changes things, in one clause; empty for a rule that is not known here.
pub fn correction_reason(locale: Locale, rule: &str, at: &str) -> &'static str {
    let field = at.rsplit('.').next().unwrap_or_default();
    let field = field.split('[').next().unwrap_or_default();
    word(
        locale,
        match (rule, field) {
            ("R0", _) => ("read as far as it could be", "按可读取的部分读取"),
            ("R1", _) => (
                "memory gave no such incident for this",
                "记忆中没有给出这样的故障",
            ),
            ("R2", _) => (
                "a pattern stands for its incidents, and what is not similar enough for none",
                "模式代表其所含故障；相似度不足的不算",
            ),
            ("R3", "source") => (
                "computed from the references and quotes that stand",
                "由成立的引用和引文计算",
            ),
            ("R3", "evidence" | "contradicted_by" | "error_signatures") => (
                "stands like that nowhere in the report, or repeats",
                "报告中没有这样的原文，或为重复",
            ),
            ("R3", _) => (
                "memory is claimed without an incident that shows it",
                "声称来自记忆，却没有可证的故障",
            ),
            ("R4", _) => ("computed from what memory gave", "由记忆给出的结果计算"),
            ("R5", _) => (
                "a person, the report or the registry names the service",
                "服务由人、报告或登记表确定",
            ),
            ("R6", _) => (
                "an internal of another service, not of this one",
                "属于其他服务的内部细节",
            ),
            ("R8", "confidence") => (
                "the score goes by how often this fix is proven here",
                "评分取决于此修复在本服务被验证的次数",
            ),
            ("R8", "memory_refs") => ("the same fix held there too", "同一修复在那里也有效"),
            ("R8", _) => ("the fix as memory holds it", "按记忆中的修复原文"),
            ("R9", _) => ("proven on another service only", "仅在其他服务验证过"),
            ("R10", _) => (
                "failures, other causes, age or the report itself limit it",
                "因失败、其他原因、年代或报告内容受限",
            ),
            ("R12", _) => (
                "how sure one may be is said by the record alone",
                "确定程度只由记录说明",
            ),
            ("R13", _) => (
                "held against what memory ruled out and what the report says",
                "与记忆排除的原因和报告内容核对",
            ),
            ("R14", _) => (
                "the best proven first, same causes once, no padding",
                "验证最充分者在先，相同原因合并，不凑数",
            ),
            ("R15", _) => ("a check only reads", "检查只读"),
            ("R16", "risk") => (
                "computed from the command, never below it",
                "由命令计算，不会低于其风险",
            ),
            ("R16", _) => (
                "safe steps first, four to seven, each of them one",
                "安全步骤在先，四至七步",
            ),
            ("R17", _) => ("it failed here before, or today", "此法曾在这里或今天失败"),
            ("R18", _) => ("it destroys something", "具有破坏性"),
            ("R19", _) => (
                "no unproven cause, promise or blame goes out as fact",
                "未证实的原因、承诺和指责不作为事实发布",
            ),
            ("R20", _) => (
                "stands neither in the report nor in an incident of this service that is cited",
                "报告和被引用的本服务故障中都没有",
            ),
            ("R21", _) => (
                "text of others is shown, never obeyed, and harmless",
                "外来文字只展示、不执行，并已无害化",
            ),
            ("R22", _) => ("secrets and personal data", "敏感信息和个人数据"),
            ("R30", _) => (
                "severity is people's to set, and never milder than the report shows",
                "级别由人决定，且不低于报告所示",
            ),
            ("R31", _) => ("nobody said that it is over", "没有人说它已结束"),
            _ => ("", ""),
        },
    )
}

/// One correction as a line; all parts made safe. `was` and `now` are empty where there is nothing.
pub fn correction(
    locale: Locale,
    place: &str,
    was: &str,
    now: &str,
    reason: &str,
    rule: &str,
) -> String {
    let change = match (locale, was.is_empty(), now.is_empty()) {
        (Locale::En, true, _) => format!("added: {now}"),
        (Locale::Zh, true, _) => format!("补充：{now}"),
        (Locale::En, false, true) => format!("struck: {was}"),
        (Locale::Zh, false, true) => format!("删去：{was}"),
        (_, false, false) => format!("{was} → {now}"),
    };
    match locale {
        Locale::En if reason.is_empty() => format!("{place}: {change} ({rule})"),
        Locale::Zh if reason.is_empty() => format!("{place}：{change}（{rule}）"),
        Locale::En => format!("{place}: {change} – {reason} ({rule})"),
        Locale::Zh => format!("{place}：{change} —— {reason}（{rule}）"),
    }
}

words! {
    /// How the score is made, in one line (R8-R10, R12).
    score_formula
        "Bands by proofs of a fix here: 3 and more: 88 + 2 for each, 98 at most · 2: 75 to 89 · 1: 55 to 74 · none: 30 at most, 54 where it held on another service. Failures and other causes: at most 100 × (proofs + 1) ÷ (proofs + failures + other causes + 2). Newest attempt failed: 50 at most. Newest proof over a year old: 74. Contradicted by the report: 30."
        "按修复在本服务的验证次数分段：3 次及以上：88 + 每次 2，最高 98 · 2 次：75 至 89 · 1 次：55 至 74 · 无：最高 30；仅在其他服务有效：最高 54。有失败或其他原因：最高 100 ×（验证 + 1）÷（验证 + 失败 + 其他原因 + 2）。最近一次失败：最高 50。最近一次验证超过一年：74。与报告矛盾：30。"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_are_told_in_the_models_numbering() {
        for (at, en, zh) in [
            ("hypotheses[1].source", "Cause 2 · source", "原因2 · 来源"),
            (
                "hypotheses[0].memory_refs[3]",
                "Cause 1 · references",
                "原因1 · 引用",
            ),
            ("next_steps[6].risk", "Step 7 · risk", "步骤7 · 风险"),
            ("summary", "Summary", "摘要"),
            (
                "stakeholder_update.known",
                "Update · what is known",
                "通报 · 已知",
            ),
        ] {
            assert_eq!(correction_place(Locale::En, at).as_deref(), Some(en));
            assert_eq!(correction_place(Locale::Zh, at).as_deref(), Some(zh));
        }
        for unknown in [
            "",
            "x",
            "hypotheses[x].source",
            "hypotheses[0].x",
            "hypotheses[0",
        ] {
            assert_eq!(correction_place(Locale::En, unknown), None, "{unknown}");
        }
    }

    #[test]
    fn the_cores_words_are_told_and_other_text_stays() {
        for (value, en, zh) in [
            ("current_evidence", "this report", "本次报告"),
            ("order [1, 0]", "order 2, 1", "顺序 2, 1"),
            (
                "merged into hypotheses[0]",
                "made one with cause 1",
                "与原因1合并",
            ),
            ("2 more steps", "2 more steps", "另外 2 个步骤"),
            ("many more steps", "many more steps", "many more steps"),
            ("Restart it", "Restart it", "Restart it"),
        ] {
            assert_eq!(correction_value(Locale::En, value), en);
            assert_eq!(correction_value(Locale::Zh, value), zh);
        }
    }
}

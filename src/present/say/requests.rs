//! Help, modals, lists, and the questions that the bot asks.

use crate::incident::{IncidentId, Locale};
use crate::present::custom_id::Asked;

/// Title of the modal of `/analyze`.
pub fn analyze_title(locale: Locale) -> &'static str {
    match locale {
        Locale::En => "Report an incident",
        Locale::Zh => "报告故障",
    }
}

/// Its main input: label and placeholder.
pub fn report_input(locale: Locale) -> (&'static str, &'static str) {
    match locale {
        Locale::En => (
            "What do you see?",
            "Symptoms, error lines, since when, what changed",
        ),
        Locale::Zh => ("您看到了什么？", "现象、错误信息、何时开始、有什么变更"),
    }
}

/// The input for a service: label and placeholder.
pub fn service_input(locale: Locale) -> (&'static str, &'static str) {
    match locale {
        Locale::En => ("Service (if known)", "payments-api"),
        Locale::Zh => ("服务（如果知道）", "payments-api"),
    }
}

/// The input for a severity: label and placeholder.
pub fn severity_input(locale: Locale) -> (&'static str, &'static str) {
    match locale {
        Locale::En => ("Severity (if decided): SEV1 to SEV4", "SEV2"),
        Locale::Zh => ("严重级别（如已确定）：SEV1 至 SEV4", "SEV2"),
    }
}

/// Title of the modal of `/resolve`.
pub fn resolve_title(locale: Locale, id: IncidentId) -> String {
    match locale {
        Locale::En => format!("Resolve {id}"),
        Locale::Zh => format!("解决 {id}"),
    }
}

/// What was the cause? Label and placeholder.
pub fn cause_input(locale: Locale) -> (&'static str, &'static str) {
    match locale {
        Locale::En => ("Root cause", "Leave empty if it is not known"),
        Locale::Zh => ("根因", "不清楚可留空"),
    }
}

/// What ended it? Label and placeholder.
pub fn fix_input(locale: Locale, worked: Option<bool>) -> (&'static str, &'static str) {
    match (locale, worked) {
        (Locale::En, Some(false)) => ("Fix that did not work", "What was tried"),
        (Locale::Zh, Some(false)) => ("无效的修复", "试过什么"),
        (Locale::En, _) => ("Fix", "What ended it"),
        (Locale::Zh, _) => ("修复", "是什么结束了它"),
    }
}

/// What was excluded? Label and placeholder.
pub fn ruled_out_input(locale: Locale) -> (&'static str, &'static str) {
    match locale {
        Locale::En => (
            "Ruled out",
            "Causes that were checked and were not it, one a line",
        ),
        Locale::Zh => ("已排除", "检查过但不是的原因，每行一个"),
    }
}

/// What would prevent it? Label and placeholder.
pub fn prevention_input(locale: Locale) -> (&'static str, &'static str) {
    match locale {
        Locale::En => ("Prevention", "What would keep it from coming again"),
        Locale::Zh => ("预防", "怎样避免再次发生"),
    }
}

/// Asked once, 15 minutes after *Trying this fix*.
pub fn how_did_it_go(locale: Locale, who: &str, fix: &str) -> String {
    match locale {
        Locale::En => format!("How did the fix go that {who} tried? {fix}"),
        Locale::Zh => format!("{who} 尝试的修复结果如何？{fix}"),
    }
}

/// Asked once, a day after the resolution.
pub fn still_fixed_question(locale: Locale, id: IncidentId, title: &str) -> String {
    match locale {
        Locale::En => format!("{id} was resolved a day ago ({title}). Still fixed?"),
        Locale::Zh => format!("{id}（{title}）已解决一天。还正常吗？"),
    }
}

/// A tick, a click or an outcome was recorded.
pub fn recorded(locale: Locale) -> &'static str {
    match locale {
        Locale::En => "Recorded.",
        Locale::Zh => "已记录。",
    }
}

/// An incident was resolved, and what memory keeps of it.
pub fn resolved(locale: Locale, id: IncidentId, worked: Option<bool>, who: &str) -> String {
    match (locale, worked) {
        (Locale::En, Some(true)) => format!(
            "✅ {id} resolved by {who}. Memory keeps cause and fix as worked, and counts it as proven after 7 quiet days or a *Yes, it held*."
        ),
        (Locale::Zh, Some(true)) => {
            format!("✅ {id} 由 {who} 标记为已解决。记忆记为有效，7 天无复发或确认后才算已验证。")
        }
        (Locale::En, Some(false)) => {
            format!(
                "✅ {id} resolved by {who}. Memory keeps the fix as one that did not work here."
            )
        }
        (Locale::Zh, Some(false)) => {
            format!("✅ {id} 由 {who} 标记为已解决。记忆将该修复记为在此无效。")
        }
        (Locale::En, None) => {
            format!(
                "✅ {id} resolved by {who}. Whether the fix worked is not known; memory keeps it as unproven."
            )
        }
        (Locale::Zh, None) => {
            format!("✅ {id} 由 {who} 标记为已解决。修复是否有效未知，记忆记为未经验证。")
        }
    }
}

/// The fix that worked before was tried tonight, without success.
pub fn failed_in_this_incident(locale: Locale, fix: &str) -> String {
    match locale {
        Locale::En => format!("FAILED IN THIS INCIDENT: {fix}"),
        Locale::Zh => format!("本次已失败：{fix}"),
    }
}

/// Beside a message command in the help.
pub fn help_on_a_message(locale: Locale) -> &'static str {
    match locale {
        Locale::En => "In a message's menu, under Apps",
        Locale::Zh => "在消息菜单的「应用」中",
    }
}

/// In place of the offer of a new run, once that run is there.
pub fn read_by_analysis(locale: Locale, analysis: u32) -> String {
    match locale {
        Locale::En => format!("📎 New messages: read by analysis {analysis}."),
        Locale::Zh => format!("📎 新消息已由第 {analysis} 次分析读取。"),
    }
}

/// Offer of a new run with what was written since.
pub fn reanalyze_with(locale: Locale, messages: usize) -> String {
    match (locale, messages) {
        (Locale::En, 1) => "Re-analyze with 1 new message".into(),
        (Locale::En, count) => format!("Re-analyze with {count} new messages"),
        (Locale::Zh, count) => format!("结合 {count} 条新消息重新分析"),
    }
}

/// Name of an incident's thread: no severity in it (renames are limited).
pub fn thread_name(_: Locale, service: Option<&str>, title: &str) -> String {
    let name = match service {
        Some(service) => format!("{service} · {title}"),
        None => title.to_owned(),
    };
    let name = super::super::escape::plain(&name);
    let name = super::super::escape::cut(&name, 100);
    if name.is_empty() {
        "incident".into()
    } else {
        name
    }
}

/// A past incident was stored by hand.
pub fn remembered(locale: Locale, id: IncidentId) -> String {
    match locale {
        Locale::En => format!("{id} is in memory now."),
        Locale::Zh => format!("{id} 已存入记忆。"),
    }
}

/// A service was stored.
pub fn service_stored(locale: Locale, name: &str) -> String {
    match locale {
        Locale::En => format!("Service {name} is stored."),
        Locale::Zh => format!("服务 {name} 已保存。"),
    }
}

/// An alias was stored.
pub fn alias_stored(locale: Locale, alias: &str, name: &str) -> String {
    match locale {
        Locale::En => format!("{alias} now means {name}."),
        Locale::Zh => format!("{alias} 现在指 {name}。"),
    }
}

/// Above a list of memories.
pub fn memory_list_title(locale: Locale, count: usize) -> String {
    match locale {
        Locale::En => format!("Memory · {count}"),
        Locale::Zh => format!("记忆 · {count}"),
    }
}

/// Above a list of incidents.
pub fn incident_list_title(locale: Locale, count: usize) -> String {
    match locale {
        Locale::En => format!("Incidents · {count}"),
        Locale::Zh => format!("故障 · {count}"),
    }
}

/// Above a list of services.
pub fn service_list_title(locale: Locale, count: usize) -> String {
    match locale {
        Locale::En => format!("Services · {count}"),
        Locale::Zh => format!("服务 · {count}"),
    }
}

/// Title of the help.
pub fn help_title(locale: Locale) -> &'static str {
    match locale {
        Locale::En => "Precedent: what was tried here before, and whether it worked",
        Locale::Zh => "Precedent：以前在这里试过什么，是否有效",
    }
}

/// How it works, in three lines.
pub fn help_intro(locale: Locale) -> &'static str {
    match locale {
        Locale::En => {
            "Describe an incident with /analyze. I search your team's past incidents, have a model propose causes, and check every claim in code before you see it. Nothing is run for you; people decide severity, status and fixes."
        }
        Locale::Zh => {
            "用 /analyze 描述故障。我会检索团队过往的故障，让模型提出原因，并在展示之前用代码核对每一条说法。我不会替您执行任何操作；严重级别、状态和修复由人决定。"
        }
    }
}

/// What is asked where nothing is known, as a button and above the input.
pub fn asked(locale: Locale, what: Asked) -> &'static str {
    match (locale, what) {
        (Locale::En, Asked::Who) => "Who is affected?",
        (Locale::Zh, Asked::Who) => "谁受影响？",
        (Locale::En, Asked::Since) => "Since when?",
        (Locale::Zh, Asked::Since) => "从何时开始？",
        (Locale::En, Asked::Changed) => "What changed before?",
        (Locale::Zh, Asked::Changed) => "之前有何变更？",
    }
}

/// What an answer may look like.
pub fn asked_example(locale: Locale, what: Asked) -> &'static str {
    match (locale, what) {
        (Locale::En, Asked::Who) => "customers paying by card, about 8 %",
        (Locale::Zh, Asked::Who) => "用卡支付的客户，约 8 %",
        (Locale::En, Asked::Since) => "02:51, or 20m ago",
        (Locale::Zh, Asked::Since) => "02:51 或 20m ago",
        (Locale::En, Asked::Changed) => "release 5.2 at 02:40; nothing",
        (Locale::Zh, Asked::Changed) => "02:40 发布 5.2；没有变更",
    }
}

/// Somebody says what changed before.
pub fn told_changed(locale: Locale, text: &str) -> String {
    match locale {
        Locale::En => format!("changed before: {text}"),
        Locale::Zh => format!("之前的变更：{text}"),
    }
}

/// How a badge, a record and a score are read.
pub fn help_reading(locale: Locale) -> &'static str {
    match locale {
        Locale::En => {
            "**Reading a card**: the record comes first (how often this fix held here), then the rule score. With no proven fix it never exceeds 30 (54 where the fix held on another service), and it never reaches 99. ▣ from memory, ❝ from this report, ≈ analogy with another service, ○ general practice."
        }
        Locale::Zh => {
            "**如何阅读卡片**：先看记录（此修复在这里有效过几次），再看规则评分。没有已验证的修复时评分不超过 30（修复在其他服务有效时不超过 54），且永远不到 99。▣ 来自记忆，❝ 来自本次报告，≈ 与其他服务类比，○ 一般经验。"
        }
    }
}

/// Other names of a service.
pub fn aliases(locale: Locale, names: &str) -> String {
    match locale {
        Locale::En => format!("also {names}"),
        Locale::Zh => format!("别名 {names}"),
    }
}

/// High-risk areas of a service.
pub fn high_risk(locale: Locale, areas: &str) -> String {
    match locale {
        Locale::En => format!("high risk: {areas}"),
        Locale::Zh => format!("高风险：{areas}"),
    }
}

/// Environments that are services of their own.
pub fn apart(locale: Locale, environments: &str) -> String {
    match locale {
        Locale::En => format!("kept apart: {environments}"),
        Locale::Zh => format!("单独区分：{environments}"),
    }
}

/// Messages since the last analysis.
pub fn new_evidence(locale: Locale, messages: usize) -> String {
    match (locale, messages) {
        (Locale::En, 1) => "1 new message since the last analysis.".into(),
        (Locale::En, count) => format!("{count} new messages since the last analysis."),
        (Locale::Zh, count) => format!("上次分析之后有 {count} 条新消息。"),
    }
}

/// Somebody tries a fix; both texts are made safe by the caller.
pub fn trying(locale: Locale, who: &str, fix: &str) -> String {
    match locale {
        Locale::En => format!("🔧 {who} is trying: {fix}"),
        Locale::Zh => format!("🔧 {who} 正在尝试：{fix}"),
    }
}

/// Three fixes failed: people decide (R27).
pub fn escalated(locale: Locale) -> String {
    match locale {
        Locale::En => "⏫ Three fixes have failed here. Bring in someone who knows this service; I keep the record and do not ask the model the same again.".into(),
        Locale::Zh => "⏫ 此处已有三次修复失败。请找熟悉该服务的人一起处理；我会继续记录，但不再向模型提同样的问题。".into(),
    }
}

//! Badges, labels, buttons, and words for what the types say.

use crate::incident::proposal::Risk;
use crate::incident::{Grade, IncidentId, Locale, Outcome, Status};
use crate::validation::analysis::{Audience, Label, SeverityBy, Source};

/// The badge of a card: where the cause comes from, in a symbol and in words, never by colour alone.
pub fn badge(locale: Locale, source: Source, analogy: bool) -> &'static str {
    match (locale, source, analogy) {
        (Locale::En, Source::Memory, false) => "▣ FROM MEMORY",
        (Locale::Zh, Source::Memory, false) => "▣ 来自记忆",
        (Locale::En, Source::Memory, true) => "≈ ANALOGY",
        (Locale::Zh, Source::Memory, true) => "≈ 类比",
        (Locale::En, Source::CurrentEvidence, _) => "❝ FROM THIS REPORT",
        (Locale::Zh, Source::CurrentEvidence, _) => "❝ 来自本次报告",
        (Locale::En, Source::GeneralPractice, _) => "○ GENERAL PRACTICE",
        (Locale::Zh, Source::GeneralPractice, _) => "○ 一般经验",
    }
}

/// R12's label.
pub fn confidence(locale: Locale, label: Label) -> &'static str {
    match (locale, label) {
        (Locale::En, Label::High) => "high",
        (Locale::Zh, Label::High) => "高",
        (Locale::En, Label::Medium) => "medium",
        (Locale::Zh, Label::Medium) => "中",
        (Locale::En, Label::Low) => "low",
        (Locale::Zh, Label::Low) => "低",
    }
}

/// What became of a fix.
pub fn outcome(locale: Locale, outcome: Outcome) -> &'static str {
    match (locale, outcome) {
        (Locale::En, Outcome::Held) => "held",
        (Locale::Zh, Outcome::Held) => "有效且未复发",
        (Locale::En, Outcome::Mitigated) => "worked, not known to hold",
        (Locale::Zh, Outcome::Mitigated) => "有效，尚不知是否持久",
        (Locale::En, Outcome::NoEffect) => "no effect",
        (Locale::Zh, Outcome::NoEffect) => "无效果",
        (Locale::En, Outcome::CameBack) => "came back",
        (Locale::Zh, Outcome::CameBack) => "复发",
        (Locale::En, Outcome::MadeWorse) => "made it worse",
        (Locale::Zh, Outcome::MadeWorse) => "使情况更糟",
        (Locale::En, Outcome::Unknown) => "outcome unknown",
        (Locale::Zh, Outcome::Unknown) => "结果未知",
    }
}

/// How much a recalled incident may say.
pub fn grade(locale: Locale, grade: Grade) -> &'static str {
    match (locale, grade) {
        (Locale::En, Grade::DirectMatch) => "direct match",
        (Locale::Zh, Grade::DirectMatch) => "直接匹配",
        (Locale::En, Grade::Analogy) => "analogy",
        (Locale::Zh, Grade::Analogy) => "类比",
        (Locale::En, Grade::Low) => "low, not used",
        (Locale::Zh, Grade::Low) => "相似度低，未使用",
    }
}

/// How much a step may harm, symbol and word.
pub fn risk(locale: Locale, risk: Risk) -> &'static str {
    match (locale, risk) {
        (Locale::En, Risk::ReadOnly) => "🟢 read-only",
        (Locale::Zh, Risk::ReadOnly) => "🟢 只读",
        (Locale::En, Risk::Reversible) => "🟡 reversible",
        (Locale::Zh, Risk::Reversible) => "🟡 可撤销",
        (Locale::En, Risk::Risky) => "🟠 risky",
        (Locale::Zh, Risk::Risky) => "🟠 有风险",
        (Locale::En, Risk::Destructive) => "🔴 destructive",
        (Locale::Zh, Risk::Destructive) => "🔴 破坏性",
    }
}

/// Where an incident stands, symbol and word.
pub fn status(locale: Locale, status: Status) -> &'static str {
    match (locale, status) {
        (Locale::En, Status::Investigating) => "🔎 investigating",
        (Locale::Zh, Status::Investigating) => "🔎 调查中",
        (Locale::En, Status::Fixing) => "🔧 fixing",
        (Locale::Zh, Status::Fixing) => "🔧 修复中",
        (Locale::En, Status::Mitigated) => "🩹 mitigated",
        (Locale::Zh, Status::Mitigated) => "🩹 已缓解",
        (Locale::En, Status::Resolved) => "✅ resolved",
        (Locale::Zh, Status::Resolved) => "✅ 已解决",
        (Locale::En, Status::Closed) => "✅ closed",
        (Locale::Zh, Status::Closed) => "✅ 已关闭",
        (Locale::En, Status::FalseAlarm) => "🔕 false alarm",
        (Locale::Zh, Status::FalseAlarm) => "🔕 误报",
        (Locale::En, Status::Merged) => "🔀 merged",
        (Locale::Zh, Status::Merged) => "🔀 已合并",
    }
}

/// The status words for outsiders (R19): *identified* only after a person confirmed the cause,
/// *monitoring* only after mitigation, *resolved* only by a person.
pub fn status_outside(locale: Locale, status: Status, cause_confirmed: bool) -> &'static str {
    match (locale, status) {
        (Locale::En, Status::Investigating | Status::Fixing) if cause_confirmed => "Identified",
        (Locale::Zh, Status::Investigating | Status::Fixing) if cause_confirmed => "已查明原因",
        (Locale::En, Status::Investigating | Status::Fixing | Status::Merged) => "Investigating",
        (Locale::Zh, Status::Investigating | Status::Fixing | Status::Merged) => "调查中",
        (Locale::En, Status::Mitigated) => "Monitoring",
        (Locale::Zh, Status::Mitigated) => "观察中",
        (Locale::En, Status::Resolved | Status::Closed | Status::FalseAlarm) => "Resolved",
        (Locale::Zh, Status::Resolved | Status::Closed | Status::FalseAlarm) => "已解决",
    }
}

/// Who reads an update.
pub fn audience(locale: Locale, audience: Audience) -> &'static str {
    match (locale, audience) {
        (Locale::En, Audience::Internal) => "Internal",
        (Locale::Zh, Audience::Internal) => "内部",
        (Locale::En, Audience::StatusPage) => "Status page",
        (Locale::Zh, Audience::StatusPage) => "状态页",
        (Locale::En, Audience::Executive) => "Executive",
        (Locale::Zh, Audience::Executive) => "管理层",
    }
}

/// Whose word a severity is.
pub fn severity_by(locale: Locale, by: SeverityBy) -> &'static str {
    match (locale, by) {
        (Locale::En, SeverityBy::Person) => "set by a person",
        (Locale::Zh, SeverityBy::Person) => "由人设定",
        (Locale::En, SeverityBy::Model) => "proposed by the model",
        (Locale::Zh, SeverityBy::Model) => "由模型提议",
        (Locale::En, SeverityBy::Rules) => "proposed by rule",
        (Locale::Zh, SeverityBy::Rules) => "由规则提议",
    }
}

/// A high-risk area by its name in the rules; a registry's own area stays as it is.
pub fn area(locale: Locale, area: &str) -> &str {
    match (locale, area) {
        (Locale::Zh, "authentication") => "身份认证",
        (Locale::Zh, "payments") => "支付",
        (Locale::Zh, "data deletion") => "数据删除",
        (Locale::Zh, "secrets") => "密钥",
        (Locale::Zh, "ci workflows") => "CI 流程",
        (_, other) => other,
    }
}

/// `mitigated in 41 min`, named as the time it is: from begin to resolution.
pub fn resolved_in(locale: Locale, took: &str) -> String {
    match locale {
        Locale::En => format!("resolved in {took}"),
        Locale::Zh => format!("{took}内解决"),
    }
}

/// Below cards that a later analysis replaced.
pub fn superseded(locale: Locale, by: u32) -> String {
    match locale {
        Locale::En => format!("⏹ Replaced by analysis {by}: the buttons here are off."),
        Locale::Zh => format!("⏹ 已被第 {by} 次分析取代：此处的按钮已停用。"),
    }
}

/// Above cards of a second and later analysis.
pub fn analysis_number(locale: Locale, number: u32) -> String {
    match locale {
        Locale::En => format!("Analysis {number}"),
        Locale::Zh => format!("第 {number} 次分析"),
    }
}

/// A person confirmed the cause.
pub fn confirmed_by(locale: Locale, who: &str, when: &str) -> String {
    match locale {
        Locale::En => format!("✔ cause confirmed by {who}, {when}"),
        Locale::Zh => format!("✔ 原因由 {who} 确认，{when}"),
    }
}

/// A person excluded the cause.
pub fn not_it_by(locale: Locale, who: &str, when: &str) -> String {
    match locale {
        Locale::En => format!("✘ not it, says {who}, {when}"),
        Locale::Zh => format!("✘ {who} 认为不是它，{when}"),
    }
}

/// A person tries the fix.
pub fn trying_by(locale: Locale, who: &str, when: &str) -> String {
    match locale {
        Locale::En => format!("▶ {who} is trying this fix (since {when})"),
        Locale::Zh => format!("▶ {who} 正在尝试此修复（{when} 起）"),
    }
}

/// A person said what became of the fix.
pub fn outcome_by(locale: Locale, what: Outcome, who: &str, when: &str) -> String {
    let words = outcome(locale, what);
    let sign = match what.standing() {
        crate::incident::Standing::Refuted => "✘",
        _ => "✔",
    };
    match locale {
        Locale::En => format!("{sign} tried in this incident: {words} ({who}, {when})"),
        Locale::Zh => format!("{sign} 本次已尝试：{words}（{who}，{when}）"),
    }
}

/// A ticked step: who and when.
pub fn ticked_by(locale: Locale, who: &str, when: &str) -> String {
    match locale {
        Locale::En => format!("done: {who}, {when}"),
        Locale::Zh => format!("已完成：{who}，{when}"),
    }
}

/// `from INC-0041`.
pub fn from_incident(locale: Locale, id: crate::incident::IncidentId) -> String {
    match locale {
        Locale::En => format!("from {id}"),
        Locale::Zh => format!("来自 {id}"),
    }
}

/// How far the checklist is.
pub fn steps_done(locale: Locale, done: usize, all: usize) -> String {
    match locale {
        Locale::En => format!("{done} of {all} steps done"),
        Locale::Zh => format!("步骤已完成 {done} / {all}"),
    }
}

/// Recalled, but cited by no card.
pub fn also_recalled(locale: Locale, ids: &str) -> String {
    match locale {
        Locale::En => format!("Also recalled: {ids}"),
        Locale::Zh => format!("还检索到：{ids}"),
    }
}

/// What did not fit into a list.
pub fn and_more(locale: Locale, count: usize) -> String {
    match locale {
        Locale::En => format!("and {count} more"),
        Locale::Zh => format!("另有 {count} 条"),
    }
}

/// A past incident in the select: where it is cited.
pub fn cited_in(locale: Locale, cards: &str) -> String {
    match locale {
        Locale::En => format!("cited in {cards}"),
        Locale::Zh => format!("引用于 {cards}"),
    }
}

/// Above the fix of a card.
pub fn fix_label(locale: Locale) -> &'static str {
    match locale {
        Locale::En => "Fix",
        Locale::Zh => "修复",
    }
}

/// Above a fix that failed here.
pub fn failed_fix_label(locale: Locale) -> &'static str {
    match locale {
        Locale::En => "Failed fix",
        Locale::Zh => "失败的修复",
    }
}

/// Above references and quotes.
pub fn evidence_label(locale: Locale) -> &'static str {
    match locale {
        Locale::En => "Evidence",
        Locale::Zh => "依据",
    }
}

/// Above the check of a card.
pub fn check_label(locale: Locale) -> &'static str {
    match locale {
        Locale::En => "Check",
        Locale::Zh => "检查",
    }
}

/// Above what limits a card.
pub fn limits_label(locale: Locale) -> &'static str {
    match locale {
        Locale::En => "Limits",
        Locale::Zh => "限制",
    }
}

/// Beside a severity.
pub fn severity_label(locale: Locale) -> &'static str {
    match locale {
        Locale::En => "Severity",
        Locale::Zh => "严重级别",
    }
}

/// Beside a status.
pub fn status_label(locale: Locale) -> &'static str {
    match locale {
        Locale::En => "Status",
        Locale::Zh => "状态",
    }
}

/// Beside what memory gave.
pub fn memory_label(locale: Locale) -> &'static str {
    match locale {
        Locale::En => "Memory",
        Locale::Zh => "记忆",
    }
}

/// Beside who notices what.
pub fn impact_label(locale: Locale) -> &'static str {
    match locale {
        Locale::En => "Impact",
        Locale::Zh => "影响",
    }
}

/// Beside since when.
pub fn since_label(locale: Locale) -> &'static str {
    match locale {
        Locale::En => "Since",
        Locale::Zh => "开始时间",
    }
}

/// Beside what is known.
pub fn known_label(locale: Locale) -> &'static str {
    match locale {
        Locale::En => "Known",
        Locale::Zh => "已知",
    }
}

/// Beside what is not confirmed.
pub fn not_confirmed_label(locale: Locale) -> &'static str {
    match locale {
        Locale::En => "Not confirmed",
        Locale::Zh => "未确认",
    }
}

/// Beside what is being done.
pub fn doing_label(locale: Locale) -> &'static str {
    match locale {
        Locale::En => "Doing",
        Locale::Zh => "正在进行",
    }
}

/// Beside what changed since the last update.
pub fn changed_label(locale: Locale) -> &'static str {
    match locale {
        Locale::En => "Changed since last update",
        Locale::Zh => "上次更新以来的变化",
    }
}

/// Beside what is needed.
pub fn needed_label(locale: Locale) -> &'static str {
    match locale {
        Locale::En => "Needed",
        Locale::Zh => "需要",
    }
}

/// Beside who leads.
pub fn lead_label(locale: Locale) -> &'static str {
    match locale {
        Locale::En => "Lead",
        Locale::Zh => "负责人",
    }
}

/// Beside when the next update is due.
pub fn next_update_label(locale: Locale) -> &'static str {
    match locale {
        Locale::En => "Next update",
        Locale::Zh => "下次更新",
    }
}

/// Beside what may go wrong.
pub fn risk_label(locale: Locale) -> &'static str {
    match locale {
        Locale::En => "Safety",
        Locale::Zh => "安全",
    }
}

/// Beside a service.
pub fn service_label(locale: Locale) -> &'static str {
    match locale {
        Locale::En => "Service",
        Locale::Zh => "服务",
    }
}

/// Beside an environment.
pub fn environment_label(locale: Locale) -> &'static str {
    match locale {
        Locale::En => "Environment",
        Locale::Zh => "环境",
    }
}

/// Above symptoms.
pub fn symptoms_label(locale: Locale) -> &'static str {
    match locale {
        Locale::En => "Symptoms",
        Locale::Zh => "症状",
    }
}

/// Above error lines.
pub fn errors_label(locale: Locale) -> &'static str {
    match locale {
        Locale::En => "Errors",
        Locale::Zh => "错误",
    }
}

/// Above a root cause.
pub fn cause_label(locale: Locale) -> &'static str {
    match locale {
        Locale::En => "Root cause",
        Locale::Zh => "根因",
    }
}

/// Above attempts.
pub fn tried_label(locale: Locale) -> &'static str {
    match locale {
        Locale::En => "Tried",
        Locale::Zh => "尝试过",
    }
}

/// Above causes that were excluded.
pub fn ruled_out_label(locale: Locale) -> &'static str {
    match locale {
        Locale::En => "Ruled out",
        Locale::Zh => "已排除",
    }
}

/// Above what would prevent it.
pub fn prevention_label(locale: Locale) -> &'static str {
    match locale {
        Locale::En => "Prevention",
        Locale::Zh => "预防",
    }
}

/// Beside where a record comes from.
pub fn source_label(locale: Locale) -> &'static str {
    match locale {
        Locale::En => "Source",
        Locale::Zh => "来源",
    }
}

/// Beside a begin.
pub fn began_label(locale: Locale) -> &'static str {
    match locale {
        Locale::En => "Began",
        Locale::Zh => "开始",
    }
}

/// Beside an end.
pub fn resolved_label(locale: Locale) -> &'static str {
    match locale {
        Locale::En => "Resolved",
        Locale::Zh => "解决",
    }
}

/// Nobody said.
pub fn not_known_yet(locale: Locale) -> &'static str {
    match locale {
        Locale::En => "not known yet",
        Locale::Zh => "尚不清楚",
    }
}

/// Expectation or undo that nobody knows.
pub fn not_known(locale: Locale) -> &'static str {
    match locale {
        Locale::En => "not known",
        Locale::Zh => "未知",
    }
}

/// Nobody leads.
pub fn nobody_yet(locale: Locale) -> &'static str {
    match locale {
        Locale::En => "nobody yet",
        Locale::Zh => "尚无",
    }
}

/// A record without it.
pub fn nobody_said(locale: Locale) -> &'static str {
    match locale {
        Locale::En => "nobody said",
        Locale::Zh => "无记录",
    }
}

/// What to expect of a step.
pub fn expect_label(locale: Locale) -> &'static str {
    match locale {
        Locale::En => "expect",
        Locale::Zh => "预期",
    }
}

/// How to undo a step.
pub fn undo_label(locale: Locale) -> &'static str {
    match locale {
        Locale::En => "undo",
        Locale::Zh => "撤销",
    }
}

/// A standard check of the failure class.
pub fn standard_mark(locale: Locale) -> &'static str {
    match locale {
        Locale::En => "standard check",
        Locale::Zh => "标准检查",
    }
}

/// A time that a model gave.
pub fn estimate_mark(locale: Locale) -> &'static str {
    match locale {
        Locale::En => "model's estimate",
        Locale::Zh => "模型估计",
    }
}

/// Who is affected is not known (R30).
pub fn impact_question(locale: Locale) -> &'static str {
    match locale {
        Locale::En => {
            "Who is affected, and how many? Nobody has said it, so the severity is only proposed. Say it here or with `/incident set`."
        }
        Locale::Zh => {
            "谁受影响，有多少？还没有人说明，因此级别只是建议。请在此说明，或使用 `/incident set`。"
        }
    }
}

/// Above what restores service first.
pub fn stop_the_bleeding(locale: Locale) -> &'static str {
    match locale {
        Locale::En => "Stop the bleeding",
        Locale::Zh => "先止血",
    }
}

/// Below it.
pub fn stop_the_bleeding_hint(locale: Locale) -> &'static str {
    match locale {
        Locale::En => "Reversible, and it restored this service before, or a change came first.",
        Locale::Zh => "可撤销，且曾使本服务恢复，或故障前有变更。",
    }
}

/// What a fix did when it was last tried here.
pub fn restored_before(
    locale: Locale,
    took: Option<&str>,
    id: IncidentId,
    outcome: Outcome,
) -> String {
    let mut said = match (locale, took) {
        (Locale::En, Some(took)) => format!("restored this service in {took} last time ({id})"),
        (Locale::En, None) => format!("restored this service last time ({id})"),
        (Locale::Zh, Some(took)) => format!("上次在{took}内使本服务恢复（{id}）"),
        (Locale::Zh, None) => format!("上次使本服务恢复（{id}）"),
    };
    if outcome == Outcome::Mitigated {
        said.push_str(match locale {
            Locale::En => "; whether it held is not known",
            Locale::Zh => "；是否持久有效未知",
        });
    }
    said
}

/// A change came before the impact.
pub fn roll_back_step(locale: Locale) -> &'static str {
    match locale {
        Locale::En => "Roll back the change that came before, if the checks point to it",
        Locale::Zh => "如果检查指向故障前的变更，则回滚该变更",
    }
}

/// A change that is known came before the impact.
pub fn roll_back_named(locale: Locale, what: &str, at: &str) -> String {
    match locale {
        Locale::En => format!("Roll back {what} of {at}, if the checks point to it"),
        Locale::Zh => format!("如果检查指向 {at} 的{what}，则回滚"),
    }
}

/// How a rollback is undone.
pub fn roll_forward(locale: Locale) -> &'static str {
    match locale {
        Locale::En => "roll forward: release the change again",
        Locale::Zh => "重新发布该变更",
    }
}

/// Above ideas of general practice.
pub fn general_ideas(locale: Locale) -> &'static str {
    match locale {
        Locale::En => "General ideas, not from memory or the report",
        Locale::Zh => "一般思路（并非来自记忆或报告）",
    }
}

/// No cause rests on memory or report.
pub fn cause_not_determined(locale: Locale) -> &'static str {
    match locale {
        Locale::En => "Cause not determined",
        Locale::Zh => "原因未确定",
    }
}

/// What that means.
pub fn cause_not_determined_hint(locale: Locale) -> &'static str {
    match locale {
        Locale::En => {
            "Neither memory nor the report supports a cause yet. The checks in the list below narrow it down; what would help most: who is affected, since when, and what changed before."
        }
        Locale::Zh => {
            "记忆和报告都还不足以支持某个原因。下面的检查清单有助于缩小范围；最有帮助的信息：谁受影响、何时开始、之前有什么变更。"
        }
    }
}

/// Title of the checklist.
pub fn next_steps(locale: Locale) -> &'static str {
    match locale {
        Locale::En => "Next steps",
        Locale::Zh => "下一步",
    }
}

/// Above fixes that failed here.
pub fn do_not_repeat(locale: Locale) -> &'static str {
    match locale {
        Locale::En => "Do not repeat",
        Locale::Zh => "不要重复",
    }
}

/// Above causes that history excludes.
pub fn was_not_it(locale: Locale) -> &'static str {
    match locale {
        Locale::En => "Was not it before",
        Locale::Zh => "以前不是这些原因",
    }
}

/// A checklist without steps.
pub fn nothing_to_do(locale: Locale) -> &'static str {
    match locale {
        Locale::En => "No steps: describe what you see in the thread, and re-analyze.",
        Locale::Zh => "没有步骤：请在子区中补充现象，然后重新分析。",
    }
}

/// Destructive steps, and fixes that destroy (R18).
pub fn needs_approver(locale: Locale) -> &'static str {
    match locale {
        Locale::En => "Destroys data or state: not without a named approver",
        Locale::Zh => "会破坏数据或状态：须由指名的人批准",
    }
}

/// Behind that, at a step that may be ticked.
pub fn ticking_asks(locale: Locale) -> &'static str {
    match locale {
        Locale::En => "ticking it asks for one in the thread",
        Locale::Zh => "勾选后会在子区请求批准",
    }
}

/// Behind a fix that destroys, in the one line of the headline.
pub fn destroys(locale: Locale) -> &'static str {
    match locale {
        Locale::En => "destroys data or state",
        Locale::Zh => "会破坏数据或状态",
    }
}

/// The select that ticks steps.
pub fn tick_placeholder(locale: Locale) -> &'static str {
    match locale {
        Locale::En => "Tick or untick steps",
        Locale::Zh => "勾选或取消步骤",
    }
}

/// The select that takes a step, or gives it back.
pub fn take_placeholder(locale: Locale) -> &'static str {
    match locale {
        Locale::En => "Take a step, or give yours back",
        Locale::Zh => "认领步骤，或放弃已认领的步骤",
    }
}

/// `🙋 ben`: who has a step; nobody is pinged by it.
pub fn taken_by(locale: Locale, who: &str) -> String {
    match locale {
        Locale::En | Locale::Zh => format!("🙋 {who}"),
    }
}

/// Told to who took a step that somebody had.
pub fn step_changed_hands(locale: Locale, number: u32, had_it: &str) -> String {
    match locale {
        Locale::En => format!("Step {number} is yours now. {had_it} had it: tell them."),
        Locale::Zh => format!("步骤 {number} 现在归你。此前由 {had_it} 负责：请告知对方。"),
    }
}

/// The select that opens a past incident.
pub fn open_past_placeholder(locale: Locale) -> &'static str {
    match locale {
        Locale::En => "Open a past incident (only you see it)",
        Locale::Zh => "打开过往故障（仅您可见）",
    }
}

/// Button: the cause is this one.
pub fn button_cause(locale: Locale) -> &'static str {
    match locale {
        Locale::En => "Cause confirmed",
        Locale::Zh => "原因确认",
    }
}

/// Button: it is not.
pub fn button_not_it(locale: Locale) -> &'static str {
    match locale {
        Locale::En => "Not it",
        Locale::Zh => "不是它",
    }
}

/// Button: the fix is being tried.
pub fn button_trying(locale: Locale) -> &'static str {
    match locale {
        Locale::En => "Trying this fix",
        Locale::Zh => "正在尝试此修复",
    }
}

/// Button: the fix worked.
pub fn button_worked(locale: Locale) -> &'static str {
    match locale {
        Locale::En => "Worked",
        Locale::Zh => "有效",
    }
}

/// Button: the fix changed nothing.
pub fn button_no_effect(locale: Locale) -> &'static str {
    match locale {
        Locale::En => "No effect",
        Locale::Zh => "无效果",
    }
}

/// Button: the fix made it worse.
pub fn button_made_worse(locale: Locale) -> &'static str {
    match locale {
        Locale::En => "Made it worse",
        Locale::Zh => "更糟了",
    }
}

/// Button: run a new analysis.
pub fn button_reanalyze(locale: Locale) -> &'static str {
    match locale {
        Locale::En => "Re-analyze",
        Locale::Zh => "重新分析",
    }
}

/// Button: ask the model again.
pub fn button_try_again(locale: Locale) -> &'static str {
    match locale {
        Locale::En => "Try again",
        Locale::Zh => "重试",
    }
}

/// Button: explain.
pub fn button_why(locale: Locale) -> &'static str {
    match locale {
        Locale::En => "Why?",
        Locale::Zh => "为什么？",
    }
}

/// Button: post the stakeholder update.
pub fn button_update(locale: Locale) -> &'static str {
    match locale {
        Locale::En => "Stakeholder update",
        Locale::Zh => "通报稿",
    }
}

/// Button: compose the update anew.
pub fn button_refresh(locale: Locale) -> &'static str {
    match locale {
        Locale::En => "Refresh",
        Locale::Zh => "刷新",
    }
}

/// Button: a day later it holds.
pub fn button_held(locale: Locale) -> &'static str {
    match locale {
        Locale::En => "Yes, it held",
        Locale::Zh => "是，没有复发",
    }
}

/// Button: a day later it came back.
pub fn button_came_back(locale: Locale) -> &'static str {
    match locale {
        Locale::En => "It came back",
        Locale::Zh => "又出现了",
    }
}

/// Something had to be cut, and a file holds it all.
pub fn cut_note(locale: Locale) -> &'static str {
    match locale {
        Locale::En => "Shortened to fit; the full text is attached.",
        Locale::Zh => "为适应长度已删减，全文见附件。",
    }
}

/// A reference that the model did not cite.
pub fn added_by_rule(locale: Locale) -> &'static str {
    match locale {
        Locale::En => "added by rule",
        Locale::Zh => "由规则补充",
    }
}

/// A precedent that another memory has and we have no record of.
pub fn fragment_only(locale: Locale) -> &'static str {
    match locale {
        Locale::En => "fragment only, no record here",
        Locale::Zh => "仅有片段，本地无记录",
    }
}

/// An answer that nothing supports.
pub fn not_in_evidence(locale: Locale) -> &'static str {
    match locale {
        Locale::En => {
            "That is not in the report or in memory. Where to look: the service's dashboard and logs, its runbook, or the people who resolved it before."
        }
        Locale::Zh => {
            "报告和记忆中都没有这个信息。可以查看：服务的监控与日志、运行手册，或询问以前解决过它的人。"
        }
    }
}

/// Data may be exposed.
pub fn nothing_public(locale: Locale) -> &'static str {
    match locale {
        Locale::En => {
            "Possible data exposure: nothing public is drafted here. Move to a private thread and involve whoever is responsible for security and legal."
        }
        Locale::Zh => {
            "可能存在数据泄露：此处不起草任何对外内容。请转到私密子区，并联系安全与法务负责人。"
        }
    }
}

/// Above the update.
pub fn update_hint(locale: Locale) -> &'static str {
    match locale {
        Locale::En => "Stakeholder update, copy as it is",
        Locale::Zh => "通报稿，可直接复制",
    }
}

/// Asked a day later.
pub fn still_fixed(locale: Locale) -> &'static str {
    match locale {
        Locale::En => "Still fixed?",
        Locale::Zh => "还正常吗？",
    }
}

/// Above a summary.
pub fn only_summary(locale: Locale) -> &'static str {
    match locale {
        Locale::En => "In short",
        Locale::Zh => "简述",
    }
}

/// Above corrections.
pub fn corrections_label(locale: Locale) -> &'static str {
    match locale {
        Locale::En => "What the rules changed (numbered as the model gave them)",
        Locale::Zh => "规则所做的更改（按模型给出的编号）",
    }
}

/// Secrets and personal data that were struck from the report.
pub fn struck_label(locale: Locale) -> &'static str {
    match locale {
        Locale::En => "Struck before anything was stored",
        Locale::Zh => "存储前已隐去",
    }
}

/// Nothing was corrected.
pub fn no_corrections(locale: Locale) -> &'static str {
    match locale {
        Locale::En => "The rules changed nothing.",
        Locale::Zh => "规则没有做任何更改。",
    }
}

/// Above what was recalled.
pub fn recall_label(locale: Locale) -> &'static str {
    match locale {
        Locale::En => "What memory gave",
        Locale::Zh => "记忆给出了什么",
    }
}

/// Above the route.
pub fn route_label(locale: Locale) -> &'static str {
    match locale {
        Locale::En => "Who was asked",
        Locale::Zh => "由谁回答",
    }
}

/// Above the scores.
pub fn score_label(locale: Locale) -> &'static str {
    match locale {
        Locale::En => "How each score came about",
        Locale::Zh => "各评分如何得出",
    }
}

/// What a score is.
pub fn score_note(locale: Locale) -> &'static str {
    match locale {
        Locale::En => "A score is rule-based, not a probability.",
        Locale::Zh => "评分由规则得出，不是概率。",
    }
}

/// Above tokens and time.
pub fn time_label(locale: Locale) -> &'static str {
    match locale {
        Locale::En => "Tokens and time",
        Locale::Zh => "词元与耗时",
    }
}

/// The model gave no number.
pub fn no_model_number(locale: Locale) -> &'static str {
    match locale {
        Locale::En => "the model gave no number",
        Locale::Zh => "模型没有给出数值",
    }
}

/// A search without a hit.
pub fn empty_memory_list(locale: Locale) -> &'static str {
    match locale {
        Locale::En => "Nothing found in memory.",
        Locale::Zh => "记忆中没有找到。",
    }
}

/// No incident.
pub fn empty_incident_list(locale: Locale) -> &'static str {
    match locale {
        Locale::En => "No incidents.",
        Locale::Zh => "没有故障。",
    }
}

/// No service.
pub fn empty_service_list(locale: Locale) -> &'static str {
    match locale {
        Locale::En => "No services yet. Add one with /service set.",
        Locale::Zh => "还没有服务。可用 /service set 添加。",
    }
}

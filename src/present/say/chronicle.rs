//! What happened, in sentences: the timeline, and the headings of a postmortem.

use crate::incident::approval::Word;
use crate::incident::{IncidentId, Locale, Moment, Status};

/// Above a timeline.
pub fn timeline_of(locale: Locale, id: IncidentId, shown: usize, all: usize) -> String {
    match locale {
        Locale::En if shown < all => {
            format!("🕒 {id}, the last {shown} entries; all are in the file:")
        }
        Locale::En => format!("🕒 {id}, what happened:"),
        Locale::Zh if shown < all => format!("🕒 {id}，最近 {shown} 条；全部见附件："),
        Locale::Zh => format!("🕒 {id} 的经过："),
    }
}

/// The title of the file.
pub fn timeline_title(locale: Locale, id: IncidentId) -> String {
    match locale {
        Locale::En => format!("# {id}: timeline (times in UTC)"),
        Locale::Zh => format!("# {id}：时间线（UTC）"),
    }
}

/// Beside the draft.
pub fn postmortem_is_a_draft(locale: Locale, id: IncidentId) -> String {
    match locale {
        Locale::En => format!(
            "📝 A draft for {id}, from its record alone: what nobody recorded is left open. Edited, `precedent memory import` and /memory import read it back."
        ),
        Locale::Zh => format!(
            "📝 {id} 的复盘草稿，仅依据记录：没有记录的内容留空。编辑后可用 `precedent memory import` 或 /memory import 读回。"
        ),
    }
}

/// At the top of a draft.
pub fn draft_note(locale: Locale, id: IncidentId) -> String {
    match locale {
        Locale::En => format!(
            "Draft, composed from the record of {id}. Parts marked *(model)* were written by a model and checked by code; everything else is what people recorded."
        ),
        Locale::Zh => format!(
            "草稿，由 {id} 的记录生成。标有*（模型）*的部分由模型撰写并经代码校验，其余均为人员记录。"
        ),
    }
}

/// Nobody said.
pub fn not_recorded(locale: Locale) -> &'static str {
    match locale {
        Locale::En => "Not recorded.",
        Locale::Zh => "未记录。",
    }
}

/// Before what a model wrote.
pub fn written_by_model(locale: Locale) -> &'static str {
    match locale {
        Locale::En => "(model)",
        Locale::Zh => "（模型）",
    }
}

/// A severity that no person set.
pub fn proposed(locale: Locale) -> &'static str {
    match locale {
        Locale::En => "proposed, not set by a person",
        Locale::Zh => "建议值，未经人员确认",
    }
}

/// Whether the cause is confirmed.
pub fn cause_mark(locale: Locale, confirmed: bool) -> &'static str {
    match (locale, confirmed) {
        (Locale::En, true) => "Confirmed by a person.",
        (Locale::Zh, true) => "已由人员确认。",
        (Locale::En, false) => "Not confirmed.",
        (Locale::Zh, false) => "未确认。",
    }
}

/// A status without its sign.
pub fn status_plain(locale: Locale, status: Status) -> &'static str {
    let said = super::status(locale, status);
    said.split_once(' ').map_or(said, |(_, words)| words)
}

words! {
    /// The number of the incident.
    incident_heading "Incident" "故障编号"
    /// The title.
    title_heading "Title" "标题"
    /// The service.
    service_heading "Service" "服务"
    /// The environment.
    environment_heading "Environment" "环境"
    /// The summary.
    summary_heading "Summary" "概要"
    /// What was seen.
    symptoms_heading "Symptoms" "现象"
    /// Error lines.
    errors_heading "Errors" "错误信息"
    /// What ended it.
    resolution_heading "Resolution" "解决方法"
    /// What was excluded.
    ruled_out_heading "Ruled out" "已排除"
    /// What would prevent it.
    prevention_heading "Prevention" "预防措施"
    /// What happened.
    timeline_heading "Timeline" "时间线"
    /// It was resolved.
    happened_resolved "resolved" "已解决"
}

/// A moment as a label that postmortems use.
pub fn moment_heading(locale: Locale, moment: Moment) -> &'static str {
    match (locale, moment) {
        (Locale::En, Moment::Started) => "Started",
        (Locale::Zh, Moment::Started) => "开始时间",
        (Locale::En, Moment::Detected) => "Detected",
        (Locale::Zh, Moment::Detected) => "发现时间",
        (Locale::En, Moment::Reported) => "Reported",
        (Locale::Zh, Moment::Reported) => "报告时间",
        (Locale::En, Moment::Acknowledged) => "Acknowledged",
        (Locale::Zh, Moment::Acknowledged) => "接手时间",
        (Locale::En, Moment::Mitigated) => "Mitigated",
        (Locale::Zh, Moment::Mitigated) => "缓解时间",
        (Locale::En, Moment::Resolved) => "Resolved",
        (Locale::Zh, Moment::Resolved) => "恢复时间",
    }
}

/// It was reported.
pub fn happened_opened(locale: Locale, report: &str) -> String {
    match locale {
        Locale::En => format!("reported: {report}"),
        Locale::Zh => format!("报告：{report}"),
    }
}

/// Somebody wrote evidence.
pub fn happened_wrote(locale: Locale, words: &str) -> String {
    match locale {
        Locale::En => format!("wrote: {words}"),
        Locale::Zh => format!("写道：{words}"),
    }
}

/// It was analysed.
pub fn happened_analysed(locale: Locale, seq: u32, by_model: bool, first: Option<&str>) -> String {
    let first = first.map(|first| match locale {
        Locale::En => format!("; first hypothesis (not confirmed): {first}"),
        Locale::Zh => format!("；首要假设（未确认）：{first}"),
    });
    let first = first.unwrap_or_default();
    match (locale, by_model) {
        (Locale::En, true) => format!("analysis {seq}, by the model{first}"),
        (Locale::En, false) => format!("analysis {seq}, by rules{first}"),
        (Locale::Zh, true) => format!("第 {seq} 次分析（模型）{first}"),
        (Locale::Zh, false) => format!("第 {seq} 次分析（规则）{first}"),
    }
}

/// A step was ticked or unticked.
pub fn happened_ticked(locale: Locale, step: &str, done: bool) -> String {
    match (locale, done) {
        (Locale::En, true) => format!("did: {step}"),
        (Locale::En, false) => format!("unticked: {step}"),
        (Locale::Zh, true) => format!("完成：{step}"),
        (Locale::Zh, false) => format!("取消勾选：{step}"),
    }
}

/// A step was taken or given back.
pub fn happened_took(locale: Locale, step: &str, taken: bool) -> String {
    match (locale, taken) {
        (Locale::En, true) => format!("took the step: {step}"),
        (Locale::En, false) => format!("gave back the step: {step}"),
        (Locale::Zh, true) => format!("认领步骤：{step}"),
        (Locale::Zh, false) => format!("放弃步骤：{step}"),
    }
}

/// An approver of a destructive step was asked for, or answered.
pub fn happened_approval(locale: Locale, step: &str, word: Word) -> String {
    match (locale, word) {
        (Locale::En, Word::Asked) => format!("asks for an approver of the step: {step}"),
        (Locale::En, Word::Approved) => format!("approves the step: {step}"),
        (Locale::En, Word::NotNow) => format!("not now, of the step: {step}"),
        (Locale::Zh, Word::Asked) => format!("请求批准步骤：{step}"),
        (Locale::Zh, Word::Approved) => format!("批准步骤：{step}"),
        (Locale::Zh, Word::NotNow) => format!("暂不执行步骤：{step}"),
    }
}

/// A fix is tried.
pub fn happened_trying(locale: Locale, fix: &str) -> String {
    match locale {
        Locale::En => format!("tries: {fix}"),
        Locale::Zh => format!("尝试修复：{fix}"),
    }
}

/// What became of a fix.
pub fn happened_outcome(locale: Locale, fix: &str, outcome: &str) -> String {
    match locale {
        Locale::En => format!("says of the fix \"{fix}\": {outcome}"),
        Locale::Zh => format!("对修复“{fix}”的结论：{outcome}"),
    }
}

/// What was said of a fix is taken back.
pub fn happened_withdrawn(locale: Locale, fix: &str) -> String {
    match locale {
        Locale::En => format!("takes back what was said of the fix: {fix}"),
        Locale::Zh => format!("撤回对修复的说法：{fix}"),
    }
}

/// What was said of a cause.
pub fn happened_cause(locale: Locale, cause: &str, confirmed: Option<bool>) -> String {
    match (locale, confirmed) {
        (Locale::En, Some(true)) => format!("confirms the cause: {cause}"),
        (Locale::En, Some(false)) => format!("excludes the cause: {cause}"),
        (Locale::En, None) => format!("takes back what was said of the cause: {cause}"),
        (Locale::Zh, Some(true)) => format!("确认原因：{cause}"),
        (Locale::Zh, Some(false)) => format!("排除原因：{cause}"),
        (Locale::Zh, None) => format!("撤回对原因的说法：{cause}"),
    }
}

/// An update went out.
pub fn happened_updated(locale: Locale, audience: &str, words: &str) -> String {
    match locale {
        Locale::En => format!("update ({audience}): {words}"),
        Locale::Zh => format!("更新（{audience}）：{words}"),
    }
}

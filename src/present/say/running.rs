//! While an incident runs: who leads, how grave it is, its times, what changed.

use crate::incident::{IncidentId, Locale, Moment, Outcome, Severity};

/// What makes an incident this grave (R30), unless the guild has words of its own.
pub fn criteria(locale: Locale, severity: Severity) -> &'static str {
    match (locale, severity) {
        (Locale::En, Severity::Sev1) => "the core is unusable for most, or data is lost or exposed",
        (Locale::Zh, Severity::Sev1) => "核心功能对大多数人不可用，或数据丢失、泄露",
        (Locale::En, Severity::Sev2) => "a major function or many users, no workaround",
        (Locale::Zh, Severity::Sev2) => "主要功能或许多用户受影响，没有绕行办法",
        (Locale::En, Severity::Sev3) => "some users, or there is a workaround",
        (Locale::Zh, Severity::Sev3) => "部分用户受影响，或有绕行办法",
        (Locale::En, Severity::Sev4) => "nobody is affected",
        (Locale::Zh, Severity::Sev4) => "无人受影响",
    }
}

/// A line of the printed criteria.
pub fn criteria_line(locale: Locale, severity: Severity, words: &str, minutes: u32) -> String {
    match locale {
        Locale::En => format!("**{severity}** {words} · an update every {minutes} min"),
        Locale::Zh => format!("**{severity}** {words} · 每 {minutes} 分钟更新一次"),
    }
}

/// Nobody leads a grave incident two minutes after it was reported.
pub fn nobody_leads(locale: Locale) -> &'static str {
    match locale {
        Locale::En => "Nobody leads this yet",
        Locale::Zh => "目前还没有人负责",
    }
}

/// The next update was due at a time.
pub fn update_overdue(locale: Locale, when: &str) -> String {
    match locale {
        Locale::En => format!("Update overdue since {when}"),
        Locale::Zh => format!("更新已逾期，应于 {when} 发出"),
    }
}

/// It may be an exposure of data.
pub fn exposure_hint(locale: Locale) -> &'static str {
    match locale {
        Locale::En => {
            "Possible data exposure: go on in a private thread, and tell whoever is responsible for security. Nothing public is drafted."
        }
        Locale::Zh => {
            "可能涉及数据泄露：请转到私密子区继续，并通知安全负责人。不会起草任何公开内容。"
        }
    }
}

/// The name of a moment.
pub fn moment(locale: Locale, moment: Moment) -> &'static str {
    match (locale, moment) {
        (Locale::En, Moment::Started) => "impact began",
        (Locale::Zh, Moment::Started) => "影响开始",
        (Locale::En, Moment::Detected) => "detected",
        (Locale::Zh, Moment::Detected) => "发现",
        (Locale::En, Moment::Reported) => "reported",
        (Locale::Zh, Moment::Reported) => "报告",
        (Locale::En, Moment::Acknowledged) => "acknowledged",
        (Locale::Zh, Moment::Acknowledged) => "有人接手",
        (Locale::En, Moment::Mitigated) => "mitigated",
        (Locale::Zh, Moment::Mitigated) => "缓解",
        (Locale::En, Moment::Resolved) => "resolved",
        (Locale::Zh, Moment::Resolved) => "解决",
    }
}

/// What a time measures: `mitigated in 41 min, from when the impact began`.
pub fn took(locale: Locale, to: Moment, from: Moment, length: &str) -> String {
    let (to, from) = (moment(locale, to), moment(locale, from));
    match locale {
        Locale::En => format!("{to} in {length}, counted from: {from}"),
        Locale::Zh => format!("{to}用时 {length}（自{from}起）"),
    }
}

/// How long an incident is open: `open 33 min`.
pub fn open_for(locale: Locale, length: &str) -> String {
    match locale {
        Locale::En => format!("open {length}"),
        Locale::Zh => format!("已持续 {length}"),
    }
}

/// The label of who speaks for the incident.
pub fn comms_label(locale: Locale) -> &'static str {
    match locale {
        Locale::En => "Comms",
        Locale::Zh => "沟通",
    }
}

/// What `/incident set` may change beside the moments.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Field {
    /// How grave.
    Severity,
    /// Where it stands.
    Status,
    /// Who leads.
    Lead,
    /// Who speaks.
    Comms,
    /// Who is affected.
    Who,
    /// What fails for them.
    What,
    /// How many.
    HowMany,
    /// What helps meanwhile.
    Workaround,
    /// What is known of data.
    Data,
    /// When the next update is due.
    NextUpdate,
    /// What would prevent it.
    Prevention,
}

/// The name of a field.
pub fn field(locale: Locale, field: Field) -> &'static str {
    match (locale, field) {
        (Locale::En, Field::Severity) => "severity",
        (Locale::Zh, Field::Severity) => "级别",
        (Locale::En, Field::Status) => "status",
        (Locale::Zh, Field::Status) => "状态",
        (Locale::En, Field::Lead) => "lead",
        (Locale::Zh, Field::Lead) => "负责人",
        (Locale::En, Field::Comms) => "comms lead",
        (Locale::Zh, Field::Comms) => "沟通负责人",
        (Locale::En, Field::Who) => "who is affected",
        (Locale::Zh, Field::Who) => "受影响的人",
        (Locale::En, Field::What) => "what fails",
        (Locale::Zh, Field::What) => "出了什么问题",
        (Locale::En, Field::HowMany) => "how many",
        (Locale::Zh, Field::HowMany) => "影响范围",
        (Locale::En, Field::Workaround) => "workaround",
        (Locale::Zh, Field::Workaround) => "绕行办法",
        (Locale::En, Field::Data) => "data",
        (Locale::Zh, Field::Data) => "数据",
        (Locale::En, Field::NextUpdate) => "next update",
        (Locale::Zh, Field::NextUpdate) => "下次更新",
        (Locale::En, Field::Prevention) => "prevention",
        (Locale::Zh, Field::Prevention) => "预防措施",
    }
}

/// One change: `severity: SEV3 → SEV2`.
pub fn change(locale: Locale, what: &str, from: &str, to: &str) -> String {
    let from = if from.is_empty() { "–" } else { from };
    let to = if to.is_empty() { "–" } else { to };
    super::pair(locale, what, &format!("{from} → {to}"))
}

/// Who changed what; texts are made safe by the caller.
pub fn changed_by(locale: Locale, who: &str, changes: &[String]) -> String {
    match locale {
        Locale::En => format!("✎ {who}: {}", changes.join(" · ")),
        Locale::Zh => format!("✎ {who}：{}", changes.join(" · ")),
    }
}

/// Done, to the person alone.
pub fn set_done(locale: Locale, id: IncidentId) -> String {
    match locale {
        Locale::En => format!("{id} is changed, and its thread says so."),
        Locale::Zh => format!("{id} 已更新，并已在子区中说明。"),
    }
}

/// Nothing was given, or everything stands already as it was given.
pub fn nothing_changes(locale: Locale) -> &'static str {
    match locale {
        Locale::En => "Nothing to change: it stands like that already.",
        Locale::Zh => "没有需要更改的内容：已经如此。",
    }
}

/// A time that can't be read.
pub fn bad_time(locale: Locale, what: &str) -> String {
    match locale {
        Locale::En => format!(
            "I can't read the time for *{what}*. Write 02:51 (UTC), 10:51 +08:00, 20m ago, or 2026-05-14 02:51. What was may not lie in the future; the next update may not lie in the past."
        ),
        Locale::Zh => format!(
            "无法识别“{what}”的时间。请写成 02:51（UTC）、10:51 +08:00、20 分钟前 或 2026-05-14 02:51。已发生的时间不能在将来；下次更新不能在过去。"
        ),
    }
}

/// Two times that would stand the wrong way round.
pub fn out_of_order(locale: Locale, first: Moment, then: Moment) -> String {
    let (first, then) = (moment(locale, first), moment(locale, then));
    match locale {
        Locale::En => format!(
            "Nothing is changed: *{then}* would come before *{first}*. Set both, or look at /incident show."
        ),
        Locale::Zh => {
            format!("没有更改：“{then}”会早于“{first}”。请同时设置两者，或查看 /incident show。")
        }
    }
}

/// A status that only `/resolve` or a merge gives.
pub fn not_by_set(locale: Locale) -> &'static str {
    match locale {
        Locale::En => "Use /resolve for that: it also asks what ended it.",
        Locale::Zh => "请使用 /resolve：它还会询问故障是如何结束的。",
    }
}

/// A merged incident is moved by parting it.
pub fn separate_first(locale: Locale) -> &'static str {
    match locale {
        Locale::En => "This incident is merged with another: press *Separate* in its thread first.",
        Locale::Zh => "该故障已与另一个合并：请先在其子区点击“分开处理”。",
    }
}

/// The button to lead.
pub fn button_lead(locale: Locale) -> &'static str {
    match locale {
        Locale::En => "I'll lead",
        Locale::Zh => "我来负责",
    }
}

/// The button that users are no longer affected.
pub fn button_mitigated(locale: Locale) -> &'static str {
    match locale {
        Locale::En => "Mitigated",
        Locale::Zh => "已缓解",
    }
}

/// The button that they are affected again.
pub fn button_not_mitigated(locale: Locale) -> &'static str {
    match locale {
        Locale::En => "Not mitigated",
        Locale::Zh => "并未缓解",
    }
}

/// The button that it is none.
pub fn button_false_alarm(locale: Locale) -> &'static str {
    match locale {
        Locale::En => "False alarm",
        Locale::Zh => "误报",
    }
}

/// The button that it is one after all.
pub fn button_no_false_alarm(locale: Locale) -> &'static str {
    match locale {
        Locale::En => "Not a false alarm",
        Locale::Zh => "不是误报",
    }
}

/// The button for five lines.
pub fn button_catch_up(locale: Locale) -> &'static str {
    match locale {
        Locale::En => "Catch up",
        Locale::Zh => "快速了解",
    }
}

/// Somebody leads now.
pub fn leads_now(locale: Locale, who: &str, before: Option<&str>) -> String {
    match (locale, before) {
        (Locale::En, None) => format!("👤 {who} leads."),
        (Locale::En, Some(before)) => format!("👤 {who} leads now, taking over from {before}."),
        (Locale::Zh, None) => format!("👤 由 {who} 负责。"),
        (Locale::Zh, Some(before)) => format!("👤 {who} 从 {before} 手中接手负责。"),
    }
}

/// Nobody leads any more.
pub fn leads_no_more(locale: Locale, who: &str) -> String {
    match locale {
        Locale::En => format!("👤 {who} no longer leads: nobody does."),
        Locale::Zh => format!("👤 {who} 不再负责：目前无人负责。"),
    }
}

/// Users are no longer affected.
pub fn mitigated_by(locale: Locale, who: &str, took: Option<&str>) -> String {
    match (locale, took) {
        (Locale::En, None) => format!("🩹 Mitigated, says {who}."),
        (Locale::En, Some(took)) => format!("🩹 Mitigated, says {who} ({took})."),
        (Locale::Zh, None) => format!("🩹 {who} 表示已缓解。"),
        (Locale::Zh, Some(took)) => format!("🩹 {who} 表示已缓解（{took}）。"),
    }
}

/// They are affected again.
pub fn not_mitigated(locale: Locale, who: &str) -> String {
    match locale {
        Locale::En => format!("🔎 Not mitigated after all, says {who}."),
        Locale::Zh => format!("🔎 {who} 表示并未缓解。"),
    }
}

/// It was none.
pub fn false_alarm(locale: Locale, who: &str) -> String {
    match locale {
        Locale::En => {
            format!("🔕 False alarm, says {who}. It is kept, and never recalled as an incident.")
        }
        Locale::Zh => format!("🔕 {who} 表示是误报：会保留记录，但不会作为历史故障被召回。"),
    }
}

/// It is one after all.
pub fn no_false_alarm(locale: Locale, who: &str) -> String {
    match locale {
        Locale::En => format!("🔎 Not a false alarm after all, says {who}."),
        Locale::Zh => format!("🔎 {who} 表示不是误报。"),
    }
}

/// Which fix did it?
pub fn which_fix(locale: Locale) -> &'static str {
    match locale {
        Locale::En => "Which fix did it?",
        Locale::Zh => "是哪项修复起了作用？",
    }
}

/// None of these did.
pub fn no_fix_did(locale: Locale) -> &'static str {
    match locale {
        Locale::En => "None of these, or it ended by itself",
        Locale::Zh => "都不是，或自行恢复",
    }
}

/// Which fix did it, answered.
pub fn fix_did(locale: Locale, fix: Option<&str>, who: &str) -> String {
    match (locale, fix) {
        (Locale::En, Some(fix)) => format!("🩹 What helped, says {who}: {fix}"),
        (Locale::En, None) => format!("🩹 No fix that was tried did it, says {who}."),
        (Locale::Zh, Some(fix)) => format!("🩹 {who} 表示起作用的是：{fix}"),
        (Locale::Zh, None) => format!("🩹 {who} 表示起作用的并非任何尝试过的修复。"),
    }
}

/// How often it came lately, and what was meant to prevent it.
pub fn nth_time(locale: Locale, nth: usize, days: u32) -> String {
    match locale {
        Locale::En => {
            let nth = match nth {
                2 => "2nd".to_owned(),
                3 => "3rd".to_owned(),
                n if n % 10 == 1 && n % 100 != 11 => format!("{n}st"),
                n if n % 10 == 2 && n % 100 != 12 => format!("{n}nd"),
                n if n % 10 == 3 && n % 100 != 13 => format!("{n}rd"),
                n => format!("{n}th"),
            };
            format!("{nth} time in {days} days")
        }
        Locale::Zh => format!("{days} 天内第 {nth} 次"),
    }
}

/// A prevention that nobody called done.
pub fn prevention_open(locale: Locale, id: IncidentId) -> String {
    match locale {
        Locale::En => format!("prevention from {id} still open"),
        Locale::Zh => format!("{id} 的预防措施尚未完成"),
    }
}

/// A fix whose outcome nobody said yet.
pub fn being_tried(locale: Locale) -> &'static str {
    match locale {
        Locale::En => "being tried",
        Locale::Zh => "正在尝试",
    }
}

/// How a fix that was tried stands.
pub fn tried_as(locale: Locale, outcome: Outcome) -> &'static str {
    match outcome {
        Outcome::Unknown => being_tried(locale),
        outcome => super::outcome(locale, outcome),
    }
}

/// No fix was tried.
pub fn nothing_tried(locale: Locale) -> &'static str {
    match locale {
        Locale::En => "nothing yet",
        Locale::Zh => "尚未尝试",
    }
}

/// An update is due, to whoever asked to be reminded.
pub fn update_is_due(locale: Locale, id: IncidentId, when: &str) -> String {
    match locale {
        Locale::En => format!("the update of {id} is due ({when}). /update drafts it."),
        Locale::Zh => format!("{id} 的更新时间到了（{when}）。可用 /update 起草。"),
    }
}

/// Whether a prevention is done.
pub fn prevention_state(locale: Locale, done: bool) -> &'static str {
    match (locale, done) {
        (Locale::En, true) => "done",
        (Locale::Zh, true) => "已完成",
        (Locale::En, false) => "open",
        (Locale::Zh, false) => "未完成",
    }
}

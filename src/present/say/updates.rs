//! The stakeholder update in sentences (R19): what stands beside its fields, for three audiences.

use crate::incident::{Locale, Status};

words! {
    /// What helps meanwhile.
    workaround_label "Workaround" "绕行办法"
    /// Who is affected, to an executive.
    customers_label "Customers" "客户影响"
    /// What is known of data.
    data_label "Data" "数据"
    /// What is planned.
    plan_label "Plan" "计划"
    /// When it will work again: nobody gives a time here.
    restoration_label "Restoration time" "预计恢复时间"
    /// What is needed of whoever reads it.
    needed_from_you_label "Needed from you" "需要您做的"
    /// Whether customers were told.
    public_notice_label "Public notice" "对外公告"
    /// Nothing is needed.
    nothing_now "nothing now" "暂无"
    /// Nothing changed.
    nothing_new "nothing new" "无新进展"
    /// More is known than before.
    more_is_known "more is known, see above" "已知信息有更新（见上）"
    /// Nobody said anything of data.
    data_not_ruled_out "not known yet; loss is not ruled out" "尚不清楚，未排除丢失"
    /// Data may be exposed.
    data_in_question "a possible exposure is being checked" "正在核查是否存在数据泄露"
    /// The impact is not known, to customers.
    impact_unknown_outside "we are looking into a problem. What is affected is not known yet." "我们正在排查一个问题，影响范围尚不清楚。"
    /// Since when is not known, to customers.
    since_unknown_outside "Since when is not known yet." "开始时间尚不清楚。"
    /// What became of data is not known, to customers.
    data_unknown_outside "Whether any data was affected is not known yet." "是否有数据受到影响尚不清楚。"
    /// It was none, to customers.
    no_problem_outside "Resolved: our check found no problem with the service." "已解决：经核查，服务没有问题。"
    /// It is one with another incident.
    update_elsewhere "This incident is merged with another: its updates are drafted in that one's thread." "本故障已与另一个合并：更新在那个故障的子区中起草。"
    /// The button to be reminded.
    button_remind "Remind me" "提醒我"
    /// The button that an update went out.
    button_sent "Mark as sent" "标记为已发出"
}

/// How many are affected and what fails for them, in one line.
pub fn how_many_what(locale: Locale, how_many: &str, what: &str) -> String {
    match locale {
        Locale::En => format!("{how_many} – {what}"),
        Locale::Zh => format!("{how_many}，{what}"),
    }
}

/// Which update it is.
pub fn update_number(locale: Locale, number: usize) -> String {
    match locale {
        Locale::En => format!("update {number}"),
        Locale::Zh => format!("第 {number} 次更新"),
    }
}

/// The label of what changed since a time.
pub fn changed_since(locale: Locale, when: &str) -> String {
    match locale {
        Locale::En => format!("Changed since {when}"),
        Locale::Zh => format!("自 {when} 以来的变化"),
    }
}

/// The impact was another one.
pub fn impact_was(locale: Locale, was: &str) -> String {
    match (locale, was.is_empty()) {
        (Locale::En, true) => "the impact is known now".to_owned(),
        (Locale::Zh, true) => "影响已明确".to_owned(),
        (Locale::En, false) => format!("impact was: {was}"),
        (Locale::Zh, false) => format!("此前的影响：{was}"),
    }
}

/// Somebody else leads.
pub fn lead_now(locale: Locale, who: &str) -> String {
    match locale {
        Locale::En => format!("{who} leads now"),
        Locale::Zh => format!("现由 {who} 负责"),
    }
}

/// Somebody tries a fix.
pub fn tries_fix(locale: Locale, who: &str, fix: &str) -> String {
    match locale {
        Locale::En => format!("{who} tries: {fix}"),
        Locale::Zh => format!("{who} 正在尝试：{fix}"),
    }
}

/// When the next one is due, or earlier.
pub fn or_on_change(locale: Locale, when: &str) -> String {
    match locale {
        Locale::En => format!("{when} or on change"),
        Locale::Zh => format!("{when}，如有变化会提前"),
    }
}

/// What is being done, where nobody said it.
pub fn doing_so_far(locale: Locale, status: Status) -> &'static str {
    match (locale, status) {
        (Locale::En, Status::Mitigated) => "watching whether it holds",
        (Locale::Zh, Status::Mitigated) => "观察是否稳定",
        (Locale::En, Status::Fixing) => "a fix is being tried",
        (Locale::Zh, Status::Fixing) => "正在尝试修复",
        (Locale::En, _) => "looking into it",
        (Locale::Zh, _) => "正在排查",
    }
}

/// Whether the cause is confirmed, to an executive.
pub fn cause_state(locale: Locale, confirmed: bool) -> &'static str {
    match (locale, confirmed) {
        (Locale::En, true) => "confirmed",
        (Locale::Zh, true) => "已确认",
        (Locale::En, false) => "not confirmed",
        (Locale::Zh, false) => "未确认",
    }
}

/// When customers were told.
pub fn public_notice(locale: Locale, when: Option<&str>) -> String {
    match (locale, when) {
        (Locale::En, Some(when)) => format!("posted {when}"),
        (Locale::En, None) => "not posted".to_owned(),
        (Locale::Zh, Some(when)) => format!("已于 {when} 发布"),
        (Locale::Zh, None) => "未发布".to_owned(),
    }
}

/// A text as a sentence.
pub fn full_stop(locale: Locale, text: &str) -> String {
    if text.ends_with(['.', '!', '?', '。', '！', '？', '…']) {
        return text.to_owned();
    }
    match locale {
        Locale::En => format!("{text}."),
        Locale::Zh => format!("{text}。"),
    }
}

/// Who is affected, to customers.
pub fn affected_outside(locale: Locale, who: &str) -> String {
    match locale {
        Locale::En => full_stop(locale, &format!("Affected: {who}")),
        Locale::Zh => full_stop(locale, &format!("受影响：{who}")),
    }
}

/// Since when, to customers.
pub fn since_outside(locale: Locale, since: &str) -> String {
    let said = since.to_lowercase();
    match locale {
        Locale::En if said.starts_with("since ") => full_stop(locale, since),
        Locale::En => full_stop(locale, &format!("Since {since}")),
        Locale::Zh => full_stop(locale, &format!("开始时间：{since}")),
    }
}

/// It is being worked on, to customers.
pub fn working_outside(locale: Locale, next: Option<&str>) -> String {
    match (locale, next) {
        (Locale::En, Some(next)) => {
            format!("We are working on it and will post again by {next}.")
        }
        (Locale::En, None) => "We are working on it.".to_owned(),
        (Locale::Zh, Some(next)) => format!("我们正在处理，并将于 {next} 前再次更新。"),
        (Locale::Zh, None) => "我们正在处理。".to_owned(),
    }
}

/// It works again and is watched, to customers.
pub fn watching_outside(locale: Locale, next: Option<&str>) -> String {
    match (locale, next) {
        (Locale::En, Some(next)) => format!(
            "Users should no longer be affected. We are watching it and will post again by {next}."
        ),
        (Locale::En, None) => "Users should no longer be affected. We are watching it.".to_owned(),
        (Locale::Zh, Some(next)) => {
            format!("目前用户应不再受影响。我们仍在观察，并将于 {next} 前再次更新。")
        }
        (Locale::Zh, None) => "目前用户应不再受影响。我们仍在观察。".to_owned(),
    }
}

/// It is over, to customers.
pub fn recovered_outside(locale: Locale, when: Option<&str>) -> String {
    match (locale, when) {
        (Locale::En, Some(when)) => format!("Full recovery since {when}."),
        (Locale::En, None) => "Full recovery.".to_owned(),
        (Locale::Zh, Some(when)) => format!("已于 {when} 完全恢复。"),
        (Locale::Zh, None) => "已完全恢复。".to_owned(),
    }
}

/// The reminder is set or taken back.
pub fn reminder_set(locale: Locale, wanted: bool) -> &'static str {
    match (locale, wanted) {
        (Locale::En, true) => {
            "I'll ping you, and nobody else, when an update of this incident is due. Press again to stop that."
        }
        (Locale::Zh, true) => "当本故障需要更新时，我会只提醒你一人。再次点击可取消。",
        (Locale::En, false) => "I won't remind you any more.",
        (Locale::Zh, false) => "不再提醒你。",
    }
}

/// An update is noted as sent.
pub fn update_is_sent(locale: Locale, audience: &str, again: bool) -> String {
    match (locale, again) {
        (Locale::En, false) => {
            format!("Noted: the update ({audience}) went out as it stands here.")
        }
        (Locale::Zh, false) => format!("已记录：更新（{audience}）已按此内容发出。"),
        (Locale::En, true) => format!("The same update ({audience}) was noted as sent already."),
        (Locale::Zh, true) => format!("相同的更新（{audience}）此前已记录为发出。"),
    }
}

//! Alerts and changes: the card, the thread, and what a channel is watched for.

use crate::incident::alert::LinkTo;
use crate::incident::change::{ChangeKind, ChangeStage};
use crate::incident::{IncidentId, Locale, Severity};
use crate::response::watch::{Analyse, Why};

/// How often it fired, and when last: `firing 7x, last 02:58 UTC`.
pub fn firing(locale: Locale, times: u32, copies: usize, last: &str) -> String {
    let on = match locale {
        _ if copies < 2 => String::new(),
        Locale::En => format!(" on {copies} instances"),
        Locale::Zh => format!("（{copies} 个实例）"),
    };
    match locale {
        Locale::En => format!("firing {times}x{on}, last {last}"),
        Locale::Zh => format!("告警 {times} 次{on}，最近 {last}"),
    }
}

/// It no longer fires.
pub fn quiet(locale: Locale, times: u32, last: &str) -> String {
    match locale {
        Locale::En => format!("resolved; fired {times}x, last {last}"),
        Locale::Zh => format!("已恢复；共告警 {times} 次，最近 {last}"),
    }
}

/// Who sent it, the level in its word, and what that proposes.
pub fn sent_by(
    locale: Locale,
    source: &str,
    level: Option<&str>,
    proposed: Option<Severity>,
) -> String {
    let mut parts = vec![source.to_owned()];
    parts.extend(level.map(str::to_owned));
    let mut line = parts.join(" · ");
    if let Some(severity) = proposed {
        line.push_str(&match locale {
            Locale::En => format!(" · {severity} is proposed from that, nobody set it"),
            Locale::Zh => format!(" · 由此建议 {severity}，尚无人确认"),
        });
    }
    line
}

/// More alerts than are listed.
pub fn more_alerts(locale: Locale, more: usize) -> String {
    match locale {
        Locale::En => format!("… and {more} more alerts"),
        Locale::Zh => format!("……另有 {more} 个告警"),
    }
}

/// The message counts alerts that it does not show.
pub fn unread_alerts(locale: Locale, unread: u32) -> String {
    match locale {
        Locale::En => {
            format!("The message counts {unread} more that fire and was cut before naming them")
        }
        Locale::Zh => format!("该消息还统计了 {unread} 个未列出的告警（消息被截断）"),
    }
}

/// It goes on and off.
pub fn flapping(locale: Locale) -> &'static str {
    match locale {
        Locale::En => "Flapping: it goes on and off, its end is suggested after ten quiet minutes",
        Locale::Zh => "反复触发：时好时坏，安静十分钟后才会建议结束",
    }
}

/// People ended the incident, and the alert goes on.
pub fn still_fires(locale: Locale) -> &'static str {
    match locale {
        Locale::En => "Still firing, though the incident was ended",
        Locale::Zh => "故障已被标记结束，但告警仍在触发",
    }
}

/// The same was over for long, and is here again.
pub fn fired_before(locale: Locale, earlier: IncidentId) -> String {
    match locale {
        Locale::En => format!("Fired before in {earlier}, which was over for more than two hours"),
        Locale::Zh => format!("此前在 {earlier} 中触发过，结束已超过两小时"),
    }
}

/// Not everything fits.
pub fn alert_cut(locale: Locale) -> &'static str {
    match locale {
        Locale::En => "… the rest of the alert does not fit here",
        Locale::Zh => "……告警其余内容无法在此完整显示",
    }
}

/// What a link of an alert leads to.
pub fn link_to(locale: Locale, to: LinkTo) -> &'static str {
    match (locale, to) {
        (Locale::En, LinkTo::Runbook) => "Runbook",
        (Locale::Zh, LinkTo::Runbook) => "处理手册",
        (Locale::En, LinkTo::Dashboard) => "Dashboard",
        (Locale::Zh, LinkTo::Dashboard) => "仪表盘",
        (Locale::En, LinkTo::Source) => "Source",
        (Locale::Zh, LinkTo::Source) => "来源",
        (Locale::En, LinkTo::Silence) => "Silence",
        (Locale::Zh, LinkTo::Silence) => "静默",
    }
}

/// The button that has an alert analysed.
pub fn button_analyze(locale: Locale) -> &'static str {
    match locale {
        Locale::En => "Analyze",
        Locale::Zh => "分析",
    }
}

/// In the thread: nothing fires any more.
pub fn all_quiet(locale: Locale, names: &str, since: &str) -> String {
    match locale {
        Locale::En => format!("✅ Quiet since {since}: {names} no longer fires."),
        Locale::Zh => format!("✅ 自 {since} 起安静：{names} 不再告警。"),
    }
}

/// What may be done then, while it is not mitigated.
pub fn suggest_mitigated(locale: Locale) -> &'static str {
    match locale {
        Locale::En => {
            "Suggested: mitigated. An alert is no proof that users are well: whoever checked it presses."
        }
        Locale::Zh => "建议标记为已缓解。告警恢复不代表用户已恢复：请确认后再按。",
    }
}

/// What may be done then, once it is mitigated.
pub fn suggest_resolved(locale: Locale) -> &'static str {
    match locale {
        Locale::En => "Suggested: resolved. `/resolve` keeps what it was and what helped.",
        Locale::Zh => "建议标记为已解决。`/resolve` 会记录原因和有效的处理。",
    }
}

/// In place of a suggestion: it fires again.
pub fn fires_again(locale: Locale, since: &str) -> String {
    match locale {
        Locale::En => format!("🔔 It was quiet since {since}, and fires again."),
        Locale::Zh => format!("🔔 自 {since} 起曾安静，现再次告警。"),
    }
}

/// In the thread: what people ended runs again.
pub fn reopened_by_alert(locale: Locale, names: &str) -> String {
    match locale {
        Locale::En => format!("🔔 {names} fires again: the incident runs again."),
        Locale::Zh => format!("🔔 {names} 再次告警：故障重新打开。"),
    }
}

/// In the thread of an incident of people: an alert belongs to it.
pub fn alert_joined(locale: Locale, names: &str, source: &str) -> String {
    match locale {
        Locale::En => {
            format!("🔔 {source} tells of the same: {names} fires. It counts as evidence here.")
        }
        Locale::Zh => format!("🔔 {source} 报告同一问题：{names} 正在告警，已作为证据加入。"),
    }
}

/// In the thread: a day without the alert speaks for the fix.
pub fn held_by_alert(locale: Locale, fix: &str) -> String {
    match locale {
        Locale::En => format!("✅ 24 hours without the alert: *{fix}* counts as held."),
        Locale::Zh => format!("✅ 告警已 24 小时未再触发：「{fix}」视为有效。"),
    }
}

/// Why a fix held: in the record.
pub fn quiet_alert(locale: Locale) -> &'static str {
    match locale {
        Locale::En => "its alert stayed resolved for 24 hours",
        Locale::Zh => "其告警恢复后 24 小时未再触发",
    }
}

/// Above the changes to a service.
pub fn changes_lately(locale: Locale, service: &str) -> String {
    match locale {
        Locale::En => format!("Changes to {service} in the last 6 hours"),
        Locale::Zh => format!("最近 6 小时对 {service} 的变更"),
    }
}

/// What kind of change, and how far it went.
pub fn change_kind(locale: Locale, kind: ChangeKind, stage: ChangeStage) -> String {
    let kind = match (locale, kind) {
        (Locale::En, ChangeKind::Push) => "push",
        (Locale::Zh, ChangeKind::Push) => "推送",
        (Locale::En, ChangeKind::Merge) => "merge",
        (Locale::Zh, ChangeKind::Merge) => "合并",
        (Locale::En, ChangeKind::Release) => "release",
        (Locale::Zh, ChangeKind::Release) => "发布",
        (Locale::En, ChangeKind::Deploy) => "deploy",
        (Locale::Zh, ChangeKind::Deploy) => "部署",
        (Locale::En, ChangeKind::Rollback) => "rollback",
        (Locale::Zh, ChangeKind::Rollback) => "回滚",
    };
    match (locale, stage) {
        (_, ChangeStage::Done) => kind.to_owned(),
        (Locale::En, ChangeStage::Started) => format!("{kind}, started"),
        (Locale::Zh, ChangeStage::Started) => format!("{kind}（已开始）"),
        (Locale::En, ChangeStage::Failed) => format!("{kind}, failed"),
        (Locale::Zh, ChangeStage::Failed) => format!("{kind}（失败）"),
    }
}

/// More changes than are listed.
pub fn more_changes(locale: Locale, more: usize) -> String {
    match locale {
        Locale::En => format!("… and {more} more before these"),
        Locale::Zh => format!("……此前另有 {more} 项"),
    }
}

/// Whether alerts of a channel are analysed.
pub fn analyse(locale: Locale, analyse: Analyse) -> &'static str {
    match (locale, analyse) {
        (Locale::En, Analyse::Always) => "analyzed at once",
        (Locale::Zh, Analyse::Always) => "立即分析",
        (Locale::En, Analyse::OnButton) => "analyzed on a button",
        (Locale::Zh, Analyse::OnButton) => "按按钮后分析",
        (Locale::En, Analyse::Never) => "never analyzed",
        (Locale::Zh, Analyse::Never) => "从不分析",
    }
}

/// A channel that is watched for alerts.
pub fn watches_alerts(
    locale: Locale,
    channel: &str,
    how: Analyse,
    floor: Severity,
    quiet: &str,
) -> String {
    let how = analyse(locale, how);
    match locale {
        Locale::En => format!(
            "🔔 {channel}: alerts open incidents from {floor} on, are {how}; repeats alone are shown every {quiet}"
        ),
        Locale::Zh => {
            format!(
                "🔔 {channel}：{floor} 及以上的告警会建立故障，{how}；单纯的重复每 {quiet}更新一次"
            )
        }
    }
}

/// A channel that is watched for changes.
pub fn watches_changes(locale: Locale, channel: &str) -> String {
    match locale {
        Locale::En => format!("🚀 {channel}: changes are kept for 7 days and shown with reports"),
        Locale::Zh => format!("🚀 {channel}：变更保留 7 天，并随故障报告显示"),
    }
}

/// What a private channel tells stays there.
pub fn watched_in_private(locale: Locale) -> &'static str {
    match locale {
        Locale::En => "The channel is private: what is watched there is seen there alone.",
        Locale::Zh => "该频道是私密的：在那里监看到的内容只在那里可见。",
    }
}

/// The bot is not allowed to read what other bots write.
pub fn no_message_content(locale: Locale) -> &'static str {
    match locale {
        Locale::En => {
            "Alerts can only be read with the message-content intent, which is off: ask the operator."
        }
        Locale::Zh => "读取告警需要“消息内容”权限，目前未开启，请联系运维人员。",
    }
}

/// A channel is no longer watched.
pub fn watched_no_more(locale: Locale, channel: &str) -> String {
    match locale {
        Locale::En => format!("{channel} is no longer watched. Its incidents stay."),
        Locale::Zh => format!("不再监看 {channel}，已有的故障保留。"),
    }
}

/// A channel was not watched.
pub fn not_watched(locale: Locale, channel: &str) -> String {
    match locale {
        Locale::En => format!("{channel} is not watched."),
        Locale::Zh => format!("{channel} 未被监看。"),
    }
}

/// No channel is watched.
pub fn nothing_watched(locale: Locale) -> &'static str {
    match locale {
        Locale::En => "No channel is watched here. `/watch alerts` begins.",
        Locale::Zh => "目前没有监看任何频道。用 `/watch alerts` 开始。",
    }
}

/// Threads are not watched.
pub fn watch_a_channel(locale: Locale) -> &'static str {
    match locale {
        Locale::En => "A thread can't be watched, only a channel. Nothing was changed.",
        Locale::Zh => "只能监看频道，不能监看子区。未作更改。",
    }
}

/// How many of a channel's incidents fire now.
pub fn fires_now(locale: Locale, count: usize, services: &str) -> String {
    match locale {
        Locale::En => format!("firing now: {count} ({services})"),
        Locale::Zh => format!("正在告警：{count}（{services}）"),
    }
}

/// What a channel told in the last day without an incident.
pub fn kept_alert(locale: Locale, name: &str, times: u32, last: &str, why: Why) -> String {
    let why = match (locale, why) {
        (Locale::En, Why::BelowFloor) => "below the floor",
        (Locale::Zh, Why::BelowFloor) => "低于下限",
        (Locale::En, Why::MayNotOpen) => "alerts open nothing here",
        (Locale::Zh, Why::MayNotOpen) => "此处告警不建立故障",
        (Locale::En, Why::Heartbeat) => "heartbeat",
        (Locale::Zh, Why::Heartbeat) => "心跳",
        (Locale::En, Why::Test) => "a test",
        (Locale::Zh, Why::Test) => "测试",
        (Locale::En, Why::NothingToEnd) => "resolved, was in no incident",
        (Locale::Zh, Why::NothingToEnd) => "已恢复，不属于任何故障",
        (Locale::En, Why::Duplicate) => "told twice",
        (Locale::Zh, Why::Duplicate) => "重复投递",
    };
    match locale {
        Locale::En => format!("{name}: {times}x, last {last} · {why}"),
        Locale::Zh => format!("{name}：{times} 次，最近 {last} · {why}"),
    }
}

/// Above those.
pub fn kept_heading(locale: Locale) -> &'static str {
    match locale {
        Locale::En => "Without an incident, in the last 24 hours:",
        Locale::Zh => "最近 24 小时内没有建立故障的告警：",
    }
}

/// Alerts that messages counted and did not show.
pub fn kept_unread(locale: Locale, count: u32, last: &str) -> String {
    match locale {
        Locale::En => {
            format!(
                "{count} firing were counted by messages that were cut before naming them, last {last}"
            )
        }
        Locale::Zh => format!("另有 {count} 个告警因消息被截断而无法读取，最近 {last}"),
    }
}

/// A step of an alert, in the timeline.
pub fn alert_happened(locale: Locale, what: &str, name: &str) -> String {
    match (locale, what) {
        (Locale::En, "fires_again") => format!("alert {name} fires again"),
        (Locale::Zh, "fires_again") => format!("告警 {name} 再次触发"),
        (Locale::En, "over") => format!("alert {name} resolved"),
        (Locale::Zh, "over") => format!("告警 {name} 恢复"),
        (Locale::En, _) => format!("alert {name} fires"),
        (Locale::Zh, _) => format!("告警 {name} 触发"),
    }
}

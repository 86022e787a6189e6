//! A report of what runs already, and incidents that are one.

use crate::incident::{IncidentId, Locale};

/// In the channel, while the reporter is asked.
pub fn may_be_running(locale: Locale, who: &str, id: IncidentId) -> String {
    match locale {
        Locale::En => {
            format!("⏳ {who}'s report looks like {id}, which runs already. {who} is asked.")
        }
        Locale::Zh => format!("⏳ {who} 的报告看起来与进行中的 {id} 相同，正在确认。"),
    }
}

/// In the channel, while the reporter is asked whether what was resolved is back.
pub fn may_be_back(locale: Locale, who: &str, id: IncidentId) -> String {
    match locale {
        Locale::En => {
            format!("⏳ {who}'s report looks like {id}, which was just resolved. {who} is asked.")
        }
        Locale::Zh => format!("⏳ {who} 的报告看起来与刚解决的 {id} 相同，正在确认。"),
    }
}

/// To the reporter alone, where the incident was resolved.
pub fn back_offer(locale: Locale, id: IncidentId, title: &str, age: &str) -> String {
    match locale {
        Locale::En => format!(
            "**{id}**, resolved {age} ago: {title}\nIs it back? Without an answer your report joins it in 60 seconds, and it runs again; it can be separated later, too."
        ),
        Locale::Zh => format!(
            "**{id}**（{age}前解决）：{title}\n是同一个故障复发了吗？60 秒内没有回答，你的报告会加入并重新打开该故障；之后也可以再分开。"
        ),
    }
}

/// In the thread: a report was added, and the incident runs again with it.
pub fn joined_and_runs_again(locale: Locale, who: &str) -> String {
    match locale {
        Locale::En => format!("➕ {who} reports the same: this runs again."),
        Locale::Zh => format!("➕ {who} 报告了同样的问题：本故障重新打开。"),
    }
}

/// The question is answered already.
pub fn decided_already(locale: Locale) -> &'static str {
    match locale {
        Locale::En => "That is decided already: look at the thread.",
        Locale::Zh => "已有结果：请查看子区。",
    }
}

/// To the reporter alone.
pub fn join_offer(locale: Locale, id: IncidentId, title: &str, age: &str) -> String {
    match locale {
        Locale::En => format!(
            "**{id}**, {age} old: {title}\nIs that what you see? Without an answer your report joins it in 60 seconds, word for word; it can be separated later, too."
        ),
        Locale::Zh => format!(
            "**{id}**（{age}前开始）：{title}\n你看到的是同一个故障吗？60 秒内没有回答，你的报告会原样加入；之后也可以再分开。"
        ),
    }
}

/// The button to join.
pub fn button_join(locale: Locale) -> &'static str {
    match locale {
        Locale::En => "Add my report there",
        Locale::Zh => "加入该故障",
    }
}

/// The button to be separate.
pub fn button_separate(locale: Locale) -> &'static str {
    match locale {
        Locale::En => "Separate",
        Locale::Zh => "分开处理",
    }
}

/// The button to merge.
pub fn button_merge(locale: Locale, id: IncidentId) -> String {
    match locale {
        Locale::En => format!("Merge with {id}"),
        Locale::Zh => format!("与 {id} 合并"),
    }
}

fn place(thread: Option<u64>) -> String {
    thread.map(|id| format!(" (<#{id}>)")).unwrap_or_default()
}

/// In the thread: a report was added.
pub fn joined(locale: Locale, who: &str) -> String {
    match locale {
        Locale::En => format!("➕ {who} reports the same:"),
        Locale::Zh => format!("➕ {who} 报告了同样的问题："),
    }
}

/// In the channel: where the report went.
pub fn is_part_of(locale: Locale, who: &str, id: IncidentId, thread: Option<u64>) -> String {
    let place = place(thread);
    match locale {
        Locale::En => format!("➕ {who}'s report is part of {id}{place}."),
        Locale::Zh => format!("➕ {who} 的报告已加入 {id}{place}。"),
    }
}

/// To the reporter alone: done.
pub fn joined_it(locale: Locale, id: IncidentId, thread: Option<u64>) -> String {
    let place = place(thread);
    match locale {
        Locale::En => format!("Your report is part of {id}{place}: it counts as evidence there."),
        Locale::Zh => format!("你的报告已加入 {id}{place}，作为其证据。"),
    }
}

/// To the reporter alone: it is an incident of its own.
pub fn separate_it_is(locale: Locale) -> &'static str {
    match locale {
        Locale::En => "It is an incident of its own: the analysis begins.",
        Locale::Zh => "将作为独立的故障处理，分析已开始。",
    }
}

/// In the thread: a joined report was taken out.
pub fn separated(locale: Locale, who: &str, by: &str) -> String {
    match locale {
        Locale::En => format!("➖ {who}'s report is an incident of its own, says {by}."),
        Locale::Zh => format!("➖ {by} 表示 {who} 的报告是独立的故障。"),
    }
}

/// In the thread of what was merged.
pub fn merged_into(locale: Locale, by: &str, other: IncidentId, thread: Option<u64>) -> String {
    let place = place(thread);
    match locale {
        Locale::En => {
            format!(
                "🔀 {by} merged this with {other}: go on there{place}. Nothing is lost; it counts as one occurrence."
            )
        }
        Locale::Zh => format!(
            "🔀 {by} 已将本故障与 {other} 合并：请在那里继续{place}。内容均已保留，计为同一次故障。"
        ),
    }
}

/// In the thread that goes on.
pub fn merged_from(locale: Locale, by: &str, other: IncidentId, thread: Option<u64>) -> String {
    let place = place(thread);
    match locale {
        Locale::En => format!(
            "🔀 {by} merged {other} with this{place}. What was reported there is evidence here."
        ),
        Locale::Zh => format!("🔀 {by} 已将 {other} 并入本故障{place}，其报告已作为证据。"),
    }
}

/// What was merged is two again.
pub fn two_again(locale: Locale, by: &str, other: Option<IncidentId>) -> String {
    match (locale, other) {
        (Locale::En, Some(other)) => {
            format!("🔀 Not one with {other} after all, says {by}: this goes on by itself.")
        }
        (Locale::En, None) => format!("🔀 Parted again, says {by}: this goes on by itself."),
        (Locale::Zh, Some(other)) => {
            format!("🔀 {by} 表示与 {other} 并非同一故障，本故障单独继续。")
        }
        (Locale::Zh, None) => format!("🔀 {by} 表示应分开处理，本故障单独继续。"),
    }
}

/// The private answer to `/incident merge`.
pub fn merge_done(locale: Locale, id: IncidentId, other: IncidentId) -> String {
    match locale {
        Locale::En => format!("{id} is merged with {other}; both threads say so."),
        Locale::Zh => format!("{id} 已与 {other} 合并，两个子区均已说明。"),
    }
}

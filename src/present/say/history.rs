//! A team's history: remembering an old message, importing, reviewing.

use crate::incident::{IncidentId, Locale};

/// Title of the modal of *Remember as incident*.
pub fn remember_title(locale: Locale) -> &'static str {
    match locale {
        Locale::En => "Remember as incident",
        Locale::Zh => "记为故障",
    }
}

/// What it was: label and placeholder.
pub fn title_input(locale: Locale) -> (&'static str, &'static str) {
    match locale {
        Locale::En => ("What it was, in one line", "payments-api 503s, pool empty"),
        Locale::Zh => ("一句话说明", "payments-api 503，连接池耗尽"),
    }
}

/// What ended an old incident: label and placeholder.
pub fn old_fix_input(locale: Locale) -> (&'static str, &'static str) {
    match locale {
        Locale::En => ("What was done about it", "Leave empty if it is not known"),
        Locale::Zh => ("采取的措施", "不清楚可留空"),
    }
}

/// What became of it: label and placeholder.
pub fn outcome_input(locale: Locale) -> (&'static str, &'static str) {
    match locale {
        Locale::En => ("Did it work: worked, failed or unsure", "unsure"),
        Locale::Zh => ("有效吗：有效、无效或不确定", "不确定"),
    }
}

/// Heading of the preview of an import.
pub fn import_preview_title(locale: Locale, new: usize, known: usize) -> String {
    match (locale, known) {
        (Locale::En, 0) => format!("{new} incident{} to import", plural(new)),
        (Locale::En, _) => format!(
            "{new} incident{} to import, {known} known already",
            plural(new)
        ),
        (Locale::Zh, 0) => format!("可导入 {new} 个故障"),
        (Locale::Zh, _) => format!("可导入 {new} 个故障，另有 {known} 个已存在"),
    }
}

fn plural(many: usize) -> &'static str {
    if many == 1 { "" } else { "s" }
}

/// Nothing is stored before somebody says so.
pub fn import_not_yet(locale: Locale) -> &'static str {
    match locale {
        Locale::En => "Nothing is stored yet. This waits for you for a day.",
        Locale::Zh => "尚未存储任何内容，保留一天等待您确认。",
    }
}

/// Nothing was found that could be imported.
pub fn nothing_to_import(locale: Locale) -> &'static str {
    match locale {
        Locale::En => "Nothing here can be imported.",
        Locale::Zh => "没有可导入的内容。",
    }
}

/// More records than one import takes.
pub fn over_most_records(locale: Locale, most: usize) -> String {
    match locale {
        Locale::En => format!("more than {most} at once; import again for the rest"),
        Locale::Zh => format!("一次最多 {most} 个；其余请再次导入"),
    }
}

/// Heading of what could not be read.
pub fn unreadable_title(locale: Locale, many: usize) -> String {
    match locale {
        Locale::En => format!("{many} could not be read"),
        Locale::Zh => format!("{many} 项无法读取"),
    }
}

/// The button that stores an import.
pub fn button_import(locale: Locale, many: usize) -> String {
    match locale {
        Locale::En => format!("Import {many}"),
        Locale::Zh => format!("导入 {many} 个"),
    }
}

/// The button that drops it.
pub fn button_cancel(locale: Locale) -> &'static str {
    match locale {
        Locale::En => "Cancel",
        Locale::Zh => "取消",
    }
}

/// An import is done.
pub fn import_done(locale: Locale, added: usize, updated: usize, refused: usize) -> String {
    match locale {
        Locale::En => {
            let mut out = format!("Imported: {added} new, {updated} changed.");
            if refused > 0 {
                out.push_str(&format!(" {refused} could not be stored."));
            }
            out.push_str(" `/memory review` asks what became of fixes that nobody judged.");
            out
        }
        Locale::Zh => {
            let mut out = format!("已导入：新增 {added} 个，更新 {updated} 个。");
            if refused > 0 {
                out.push_str(&format!("{refused} 个无法存储。"));
            }
            out.push_str("`/memory review` 会逐个询问尚无结论的措施。");
            out
        }
    }
}

/// An import was dropped.
pub fn import_dropped(locale: Locale) -> &'static str {
    match locale {
        Locale::En => "Cancelled. Nothing was stored.",
        Locale::Zh => "已取消，未存储任何内容。",
    }
}

/// The import no longer waits.
pub fn import_gone(locale: Locale) -> &'static str {
    match locale {
        Locale::En => "This import no longer waits: it was stored, cancelled, or a day went by.",
        Locale::Zh => "该导入已失效：已存储、已取消，或已超过一天。",
    }
}

/// An import needs a file or a channel.
pub fn import_needs_one(locale: Locale) -> &'static str {
    match locale {
        Locale::En => {
            "Give a `file` (JSONL or Markdown) or a `channel` with `since` (such as 2026-01-31)."
        }
        Locale::Zh => {
            "请提供 `file`（JSONL 或 Markdown），或 `channel` 及 `since`（如 2026-01-31）。"
        }
    }
}

/// The day can't be read.
pub fn bad_since(locale: Locale) -> &'static str {
    match locale {
        Locale::En => "`since` is a day such as 2026-01-31.",
        Locale::Zh => "`since` 应为日期，如 2026-01-31。",
    }
}

/// The person does not see that channel.
pub fn channel_not_seen(locale: Locale) -> &'static str {
    match locale {
        Locale::En => "You can't read that channel, so it is not read for you.",
        Locale::Zh => "您无权阅读该频道，因此不会为您读取。",
    }
}

/// A file over what is read here.
pub fn file_too_large(locale: Locale, read_kib: usize) -> String {
    match locale {
        Locale::En => format!(
            "it is longer than the {read_kib} KiB that are read here; `precedent memory import` has no such limit"
        ),
        Locale::Zh => {
            format!("超过此处可读取的 {read_kib} KiB；命令行 `precedent memory import` 无此限制")
        }
    }
}

/// A file that is not text, or can't be fetched.
pub fn file_not_read(locale: Locale) -> &'static str {
    match locale {
        Locale::En => "it could not be read as text",
        Locale::Zh => "无法作为文本读取",
    }
}

/// Messages whose text Discord keeps from the bot.
pub fn messages_without_text(locale: Locale, many: usize) -> String {
    match locale {
        Locale::En => format!(
            "{many} message{} without text for me: switch the message-content intent on to read them",
            plural(many)
        ),
        Locale::Zh => format!("{many} 条消息对我没有文本：需开启 message content 权限才能读取"),
    }
}

/// A channel of which nothing came.
pub fn nothing_in_channel(locale: Locale) -> &'static str {
    match locale {
        Locale::En => {
            "no message came since then: either there is none, or I lack Read Message History there"
        }
        Locale::Zh => "此后没有可读的消息：可能确实没有，也可能缺少“读取消息历史”权限",
    }
}

/// More messages than are read at once.
pub fn only_so_many_messages(locale: Locale, most: usize) -> String {
    match locale {
        Locale::En => format!(
            "only the first {most} messages since then were read; import again with a later `since`"
        ),
        Locale::Zh => format!("只读取了此后的前 {most} 条消息；请用更晚的 `since` 再次导入"),
    }
}

/// A thread that can't be read.
pub fn thread_not_read(locale: Locale, reason: &str) -> String {
    match locale {
        Locale::En => format!("the thread can't be read ({reason})"),
        Locale::Zh => format!("无法读取子区（{reason}）"),
    }
}

/// The title of a question of `/memory review`.
pub fn review_title(locale: Locale, id: IncidentId) -> String {
    match locale {
        Locale::En => format!("{id}: did this fix work?"),
        Locale::Zh => format!("{id}：这个措施有效吗？"),
    }
}

/// How many questions are left after this one.
pub fn review_left(locale: Locale, left: u64) -> String {
    match (locale, left) {
        (Locale::En, 0) => "This is the last one.".to_owned(),
        (Locale::En, _) => format!("{left} more after this one. Stop whenever you like."),
        (Locale::Zh, 0) => "这是最后一个。".to_owned(),
        (Locale::Zh, _) => format!("之后还有 {left} 个，可随时停止。"),
    }
}

/// No question is left.
pub fn review_done(locale: Locale) -> &'static str {
    match locale {
        Locale::En => "Nothing is left to review: every fix you know of has an outcome.",
        Locale::Zh => "没有待确认的措施了。",
    }
}

/// The three answers.
pub fn button_review(locale: Locale, worked: Option<bool>) -> &'static str {
    match (locale, worked) {
        (Locale::En, Some(true)) => "Worked",
        (Locale::En, Some(false)) => "Failed",
        (Locale::En, None) => "Unsure",
        (Locale::Zh, Some(true)) => "有效",
        (Locale::Zh, Some(false)) => "无效",
        (Locale::Zh, None) => "不确定",
    }
}

//! Services, who may do what, and what is kept, shared and forgotten.

use crate::incident::rights::{Deed, Right};
use crate::incident::{IncidentId, Locale};

/// What it takes, as the help and the README name it.
pub fn right(locale: Locale, right: Right) -> &'static str {
    match (locale, right) {
        (Locale::En, Right::Write) => "whoever can write in the channel",
        (Locale::Zh, Right::Write) => "能在频道发言的人",
        (Locale::En, Right::Respond) => "*Manage Threads* or the responders' role",
        (Locale::Zh, Right::Respond) => "「管理子区」或响应者身份组",
        (Locale::En, Right::Administer) => "*Manage Server* or the administrators' role",
        (Locale::Zh, Right::Administer) => "「管理服务器」或管理者身份组",
        (Locale::En, Right::Own) => "*Manage Server*",
        (Locale::Zh, Right::Own) => "「管理服务器」",
    }
}

/// A deed in the help. Commands are named as they are typed.
pub fn deed(locale: Locale, deed: Deed) -> String {
    match (locale, deed) {
        (_, Deed::Command(name)) if name.starts_with(|c: char| c.is_ascii_lowercase()) => {
            format!("/{name}")
        }
        (_, Deed::Command(name)) => format!("*{name}*"),
        (Locale::En, Deed::Buttons) => "press buttons and tick steps".into(),
        (Locale::Zh, Deed::Buttons) => "使用按钮、勾选步骤".into(),
        (Locale::En, Deed::ResolveOwn) => "resolve what they reported".into(),
        (Locale::Zh, Deed::ResolveOwn) => "解决自己报告的故障".into(),
        (Locale::En, Deed::ResolveForOthers) => "resolve for others".into(),
        (Locale::Zh, Deed::ResolveForOthers) => "代他人解决".into(),
        (Locale::En, Deed::RememberForOthers) => "remember others' messages".into(),
        (Locale::Zh, Deed::RememberForOthers) => "记录他人的消息".into(),
        (Locale::En, Deed::ApproveStep) => "approve destructive steps".into(),
        (Locale::Zh, Deed::ApproveStep) => "批准破坏性步骤".into(),
        (Locale::En, Deed::SetState) => {
            "set severity, status and lead of what others reported and lead".into()
        }
        (Locale::Zh, Deed::SetState) => "设置他人报告且由他人负责的故障的级别、状态和负责人".into(),
    }
}

/// Above the table of who may do what.
pub fn who_may_label(locale: Locale) -> &'static str {
    match locale {
        Locale::En => "Who may",
        Locale::Zh => "谁可以做什么",
    }
}

/// Every command that is not named with a right.
pub fn every_other_command(locale: Locale) -> &'static str {
    match locale {
        Locale::En => "every other command",
        Locale::Zh => "其他所有命令",
    }
}

/// Between the things of a list.
pub fn listed(locale: Locale, things: &[String]) -> String {
    match locale {
        Locale::En => things.join(", "),
        Locale::Zh => things.join("、"),
    }
}

/// The roles that are set; each made safe, `None`: not set.
pub fn roles(locale: Locale, responders: Option<&str>, administrators: Option<&str>) -> String {
    let none = match locale {
        Locale::En => "not set",
        Locale::Zh => "未设置",
    };
    let (responders, administrators) = (responders.unwrap_or(none), administrators.unwrap_or(none));
    match locale {
        Locale::En => format!(
            "**Responders** (what takes *Manage Threads*): {responders}\n**Administrators** (what takes *Manage Server*, and what responders may): {administrators}"
        ),
        Locale::Zh => format!(
            "**响应者**（需要「管理子区」的操作）：{responders}\n**管理者**（需要「管理服务器」的操作，以及响应者可做的一切）：{administrators}"
        ),
    }
}

/// The number of a role, where its name is not known.
pub fn role_number(locale: Locale, id: u64) -> String {
    match locale {
        Locale::En => format!("role {id}"),
        Locale::Zh => format!("身份组 {id}"),
    }
}

/// Who answers for a service.
pub fn owners_label(locale: Locale) -> &'static str {
    match locale {
        Locale::En => "Owner",
        Locale::Zh => "负责人",
    }
}

/// An owner: the role, where there is one, and the name; both made safe.
pub fn owner(locale: Locale, role: &str, name: &str) -> String {
    match locale {
        _ if role.is_empty() => name.to_owned(),
        Locale::En => format!("{name} ({role})"),
        Locale::Zh => format!("{name}（{role}）"),
    }
}

/// What to do when a service fails.
pub fn runbooks_label(locale: Locale) -> &'static str {
    match locale {
        Locale::En => "Runbook",
        Locale::Zh => "操作手册",
    }
}

/// Where the code is.
pub fn repository_label(locale: Locale) -> &'static str {
    match locale {
        Locale::En => "Repository",
        Locale::Zh => "代码仓库",
    }
}

/// People who resolved incidents of the service before; nobody is mentioned.
pub fn resolvers_label(locale: Locale) -> &'static str {
    match locale {
        Locale::En => "Resolved it before",
        Locale::Zh => "曾经解决过",
    }
}

/// Above owner, runbook and people, where memory knows nothing; the name is made safe.
pub fn who_knows(locale: Locale, service: &str) -> String {
    match locale {
        Locale::En => format!("Who knows {service}"),
        Locale::Zh => format!("谁了解 {service}"),
    }
}

/// How many incidents of a service are in memory.
pub fn incidents_of_service(locale: Locale, count: u64) -> String {
    match (locale, count) {
        (Locale::En, 1) => "1 incident".into(),
        (Locale::En, count) => format!("{count} incidents"),
        (Locale::Zh, count) => format!("{count} 次故障"),
    }
}

/// Above the last changes of a service.
pub fn changes_label(locale: Locale) -> &'static str {
    match locale {
        Locale::En => "Changed",
        Locale::Zh => "变更记录",
    }
}

/// What was changed of a service: a word of the store's, and the name that came in, made safe.
pub fn service_change(locale: Locale, what: &str, other: &str) -> String {
    match (locale, what) {
        (Locale::En, "service_renamed") => format!("renamed from {other}"),
        (Locale::Zh, "service_renamed") => format!("由 {other} 更名"),
        (Locale::En, "service_merged") => format!("{other} merged into it"),
        (Locale::Zh, "service_merged") => format!("合并了 {other}"),
        (Locale::En, "service_alias") => format!("alias {other} added"),
        (Locale::Zh, "service_alias") => format!("添加别名 {other}"),
        (Locale::En, "service_removed") => "removed".into(),
        (Locale::Zh, "service_removed") => "移除".into(),
        (Locale::En, _) => "set".into(),
        (Locale::Zh, _) => "设置".into(),
    }
}

/// A service has another name now; both names are made safe.
pub fn service_renamed(locale: Locale, from: &str, to: &str, incidents: u64) -> String {
    let count = incidents_of_service(locale, incidents);
    match locale {
        Locale::En => format!("{from} is {to} now, with {count}. The old name stays as an alias."),
        Locale::Zh => format!("{from} 现名为 {to}，含 {count}。旧名称保留为别名。"),
    }
}

/// Two services are one now; both names are made safe.
pub fn services_merged(locale: Locale, from: &str, into: &str, incidents: u64) -> String {
    let count = incidents_of_service(locale, incidents);
    match locale {
        Locale::En => format!(
            "{from} is part of {into} now: {count} went over, with its aliases, owners and runbooks. The old name stays as an alias."
        ),
        Locale::Zh => format!(
            "{from} 已并入 {into}：{count}及其别名、负责人和操作手册一并转移。旧名称保留为别名。"
        ),
    }
}

/// A service is no longer registered; the name is made safe.
pub fn service_removed(locale: Locale, name: &str, incidents: u64) -> String {
    let count = incidents_of_service(locale, incidents);
    match locale {
        Locale::En => {
            format!(
                "{name} is no longer registered. What was recorded under this name keeps it ({count} that you can see)."
            )
        }
        Locale::Zh => format!("{name} 已不再登记。以此名称记录的内容不变（您可见的有 {count}）。"),
    }
}

/// Asked where a report may mean several services.
pub fn which_service(locale: Locale) -> &'static str {
    match locale {
        Locale::En => "Which service is this about? Until somebody says so I treat it as unknown.",
        Locale::Zh => "这是哪个服务的故障？在有人说明之前，我按未知处理。",
    }
}

/// In the select of services while nothing is chosen.
pub fn choose_service(locale: Locale) -> &'static str {
    match locale {
        Locale::En => "Choose the service",
        Locale::Zh => "选择服务",
    }
}

/// The last choice: it is none of these.
pub fn none_of_these(locale: Locale) -> &'static str {
    match locale {
        Locale::En => "None of these",
        Locale::Zh => "都不是",
    }
}

/// In place of the question, once somebody chose; both texts are made safe.
pub fn service_chosen(locale: Locale, service: Option<&str>, who: &str) -> String {
    match (locale, service) {
        (Locale::En, Some(service)) => {
            format!("Service: {service} (said by {who}). I analyze again.")
        }
        (Locale::Zh, Some(service)) => format!("服务：{service}（{who} 指定）。我会重新分析。"),
        (Locale::En, None) => format!("{who}: it is none of the services I asked about."),
        (Locale::Zh, None) => format!("{who}：不是我所问的任何服务。"),
    }
}

/// What goes when an incident is forgotten: counts of analyses, fixes tried, entries of history and
/// messages of the bot. The title is made safe.
pub fn forget_question(
    locale: Locale,
    id: IncidentId,
    title: &str,
    [analyses, attempts, entries, messages, recalled_in]: [u32; 5],
) -> String {
    match locale {
        Locale::En => format!(
            "**Forget {id}?** {title}\nThis removes the record for good: report, cause and fix, analyses ({analyses}), fixes tried ({attempts}), history ({entries}), its words in the index, and work that is stored for it. My messages about it ({messages}) will only say that it was removed; what people wrote stays. Analyses of other incidents that recalled it ({recalled_in}) will show it as forgotten and no longer count it. Its number is not given again. **This can't be undone.**"
        ),
        Locale::Zh => format!(
            "**忘记 {id}？** {title}\n这会永久删除该记录：报告、原因和修复、分析（{analyses}）、尝试过的修复（{attempts}）、历史（{entries}）、索引中的词，以及为它保存的任务。我的相关消息（{messages}）将只说明记录已删除；人们写的内容不变。召回过它的其他分析（{recalled_in}）会显示为已忘记，不再计入。编号不会再次使用。**此操作无法撤销。**"
        ),
    }
}

/// The button that forgets.
pub fn button_forget(locale: Locale, id: IncidentId) -> String {
    match locale {
        Locale::En => format!("Forget {id}"),
        Locale::Zh => format!("忘记 {id}"),
    }
}

/// The button that does not.
pub fn button_keep(locale: Locale) -> &'static str {
    match locale {
        Locale::En => "Keep it",
        Locale::Zh => "保留",
    }
}

/// Nothing was forgotten.
pub fn kept(locale: Locale, id: IncidentId) -> String {
    match locale {
        Locale::En => format!("{id} is kept."),
        Locale::Zh => format!("{id} 已保留。"),
    }
}

/// It was.
pub fn is_forgotten(locale: Locale, id: IncidentId) -> String {
    match locale {
        Locale::En => format!("{id} is forgotten."),
        Locale::Zh => format!("{id} 已被忘记。"),
    }
}

/// In place of every message about it.
pub fn record_removed(locale: Locale, id: IncidentId) -> String {
    match locale {
        Locale::En => format!("🗑 {id} (forgotten): the record of this incident was removed."),
        Locale::Zh => format!("🗑 {id}（已忘记）：该故障的记录已删除。"),
    }
}

/// An incident that was recalled and is forgotten since.
pub fn forgotten_ref(locale: Locale, id: IncidentId) -> String {
    match locale {
        Locale::En => format!("{id} (forgotten)"),
        Locale::Zh => format!("{id}（已忘记）"),
    }
}

/// In place of words that came from it.
pub fn forgotten_words(locale: Locale) -> &'static str {
    match locale {
        Locale::En => "(forgotten)",
        Locale::Zh => "（已忘记）",
    }
}

/// Beside what was recalled and is forgotten since.
pub fn forgotten_since(locale: Locale, refs: &str) -> String {
    match locale {
        Locale::En => format!("🗑 No longer in memory, and not counted: {refs}"),
        Locale::Zh => format!("🗑 已不在记忆中，不再计入：{refs}"),
    }
}

/// An incident may be recalled by everybody in the server now.
pub fn shared(locale: Locale, id: IncidentId) -> String {
    match locale {
        Locale::En => format!(
            "{id} is shared: everybody in this server can find and recall it. `/memory unshare` takes that back for later searches and analyses."
        ),
        Locale::Zh => format!(
            "{id} 已共享：本服务器的所有人都能查找和召回。`/memory unshare` 可撤回，对之后的搜索和分析生效。"
        ),
    }
}

/// An incident stays in its channel.
pub fn unshared(locale: Locale, id: IncidentId) -> String {
    match locale {
        Locale::En => format!(
            "{id} is recalled only in the channel it was reported in. Analyses that recalled it before keep what they say."
        ),
        Locale::Zh => format!("{id} 只在其报告频道中被召回。之前召回过它的分析保持不变。"),
    }
}

/// Beside the exported file: incidents in it, services with more than a name.
pub fn exported(locale: Locale, incidents: u64, services: u64) -> String {
    match locale {
        Locale::En => format!(
            "Incidents: {incidents}; services: {services}. One JSON object a line; what may be seen from this channel, open incidents left out. Whoever has the file has the memory."
        ),
        Locale::Zh => format!(
            "故障：{incidents}；服务：{services}。每行一个 JSON 对象；仅含本频道可见的内容，不含进行中的故障。持有文件即持有这些记忆。"
        ),
    }
}

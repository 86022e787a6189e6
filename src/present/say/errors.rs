//! What went wrong, in one sentence: what happened and what to do. With a short id where the log
//! knows more; never a stack trace, a token or an inner address.

use crate::incident::{IncidentId, Locale, Right};

/// What a person is told when something is wrong.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Trouble {
    /// The database is down or full.
    CannotRecord,
    /// The store was slower than the acknowledgement could wait, and then failed.
    NotStoredAfterAll,
    /// The thread could not be created: the answer stands in the channel.
    NoThread,
    /// The thread is archived or locked and could not be opened.
    ThreadClosed,
    /// The thread was deleted.
    ThreadGone,
    /// The bot lacks a permission, by its name in Discord.
    MissingPermission(String),
    /// An attachment was read in part: its name, bytes read and bytes in all.
    AttachmentTooLarge {
        /// Its file name, made safe.
        name: String,
        /// Bytes that were read.
        read: u64,
        /// Bytes of the file.
        size: u64,
    },
    /// An attachment is not text.
    AttachmentNotText {
        /// Its file name, made safe.
        name: String,
        /// Bytes of the file.
        size: u64,
    },
    /// An attachment could not be fetched.
    AttachmentUnreachable {
        /// Its file name, made safe.
        name: String,
    },
    /// An attachment was read in another encoding than UTF-8, or with losses.
    AttachmentEncoding {
        /// Its file name, made safe.
        name: String,
        /// The encoding it was read as.
        encoding: String,
        /// Characters that had to be replaced.
        replaced: u64,
    },
    /// The person may not do this; what it takes.
    NotAllowed(Need),
    /// The report is empty.
    EmptyReport,
    /// No incident is known here.
    NoIncidentHere,
    /// No incident of this number.
    UnknownIncident,
    /// The button belongs to an analysis that was replaced.
    OldCard,
    /// The step that was asked for is not in the checklist any more.
    StepGone,
    /// The same is being analysed already.
    AlreadyAnalysing,
    /// The button or command is not known (any more).
    UnknownAction,
    /// A service name that can't be one.
    BadServiceName,
    /// A name that means another service already; that one's name, made safe.
    NameTaken(String),
    /// No service of this name is registered.
    UnknownService,
    /// An address that may not be shown.
    BadAddress,
    /// Owners that can't be read as roles and names.
    BadOwners,
    /// The incident was forgotten.
    Forgotten(IncidentId),
    /// Only what has ended can be forgotten.
    StillOpen(IncidentId),
    /// The incident belongs to no channel.
    NoChannelToKeepTo(IncidentId),
    /// Everybody has the role.
    RoleOfEverybody,
    /// Memory is larger than a file may be, in bytes.
    ExportTooLarge(u64),
    /// Message content is not readable for the bot: the intent is off.
    NoMessageContent,
    /// Direct messages have no team memory.
    OnlyInServers,
    /// The incident does not run any more.
    NotRunning(IncidentId),
    /// An incident cannot stand under itself, through others neither.
    StandsUnderItself,
    /// Incidents that are seen from different places are not linked.
    SeenFromElsewhere,
    /// A fix that failed cannot be said to have held.
    FixHasFailed,
    /// Memory could not be searched.
    MemoryDown,
    /// Anything else.
    Unexpected,
}

/// What a person needs for an action.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Need {
    /// To write in the channel.
    Write,
    /// *Manage Threads*.
    ManageThreads,
    /// *Manage Server*.
    ManageServer,
    /// *Manage Server*, and no role in its place.
    ManageServerItself,
}

impl From<Right> for Need {
    fn from(right: Right) -> Self {
        match right {
            Right::Write => Self::Write,
            Right::Respond => Self::ManageThreads,
            Right::Administer => Self::ManageServer,
            Right::Own => Self::ManageServerItself,
        }
    }
}

/// A need in words.
pub fn need(locale: Locale, need: Need) -> &'static str {
    match (locale, need) {
        (Locale::En, Need::Write) => "permission to write in this channel",
        (Locale::Zh, Need::Write) => "在本频道发言的权限",
        (Locale::En, Need::ManageThreads) => {
            "the Manage Threads permission or the role that this server has set for responders"
        }
        (Locale::Zh, Need::ManageThreads) => "「管理子区」权限或本服务器设置的响应者身份组",
        (Locale::En, Need::ManageServer) => {
            "the Manage Server permission or the role that this server has set for administrators"
        }
        (Locale::Zh, Need::ManageServer) => "「管理服务器」权限或本服务器设置的管理者身份组",
        (Locale::En, Need::ManageServerItself) => "the Manage Server permission",
        (Locale::Zh, Need::ManageServerItself) => "「管理服务器」权限",
    }
}

/// What happened and what to do, in one sentence; `id` is looked up in the log.
pub fn trouble(locale: Locale, what: &Trouble, id: Option<&str>) -> String {
    let sentence = sentence(locale, what);
    match (locale, id) {
        (_, None) => sentence,
        (Locale::En, Some(id)) => format!("{sentence} (error id {id})"),
        (Locale::Zh, Some(id)) => format!("{sentence}（错误编号 {id}）"),
    }
}

fn sentence(locale: Locale, what: &Trouble) -> String {
    match (locale, what) {
        (Locale::En, Trouble::CannotRecord) => {
            "I can't record this incident right now, nothing was stored. Try again in a minute, and keep a copy of your report.".into()
        }
        (Locale::Zh, Trouble::CannotRecord) => {
            "我现在无法记录此故障，没有保存任何内容。请一分钟后重试，并保留您的报告。".into()
        }
        (Locale::En, Trouble::NotStoredAfterAll) => {
            "I acknowledged your command, but storing it failed: nothing was stored. Please send it again.".into()
        }
        (Locale::Zh, Trouble::NotStoredAfterAll) => {
            "我已收到您的命令，但保存失败：没有保存任何内容。请重新发送。".into()
        }
        (Locale::En, Trouble::NoThread) => "I could not create a thread, so the answer is here in the channel.".into(),
        (Locale::Zh, Trouble::NoThread) => "我无法创建子区，因此回答放在本频道中。".into(),
        (Locale::En, Trouble::ThreadClosed) => {
            "The incident's thread is archived or locked and I can't open it, so I post here.".into()
        }
        (Locale::Zh, Trouble::ThreadClosed) => "该故障的子区已归档或锁定，我无法打开，因此在此发布。".into(),
        (Locale::En, Trouble::ThreadGone) => "The incident's thread was deleted, so I post here.".into(),
        (Locale::Zh, Trouble::ThreadGone) => "该故障的子区已被删除，因此在此发布。".into(),
        (Locale::En, Trouble::MissingPermission(name)) => {
            format!("I lack the permission {name} here; someone who manages the server can grant it.")
        }
        (Locale::Zh, Trouble::MissingPermission(name)) => {
            format!("我在这里缺少「{name}」权限；请服务器管理者授予。")
        }
        (Locale::En, Trouble::AttachmentTooLarge { name, read, size }) => {
            format!("Of {name} I read {} of {}; paste the lines that matter.", bytes(*read), bytes(*size))
        }
        (Locale::Zh, Trouble::AttachmentTooLarge { name, read, size }) => {
            format!("{name} 共 {}，我只读取了 {}；请粘贴关键的几行。", bytes(*size), bytes(*read))
        }
        (Locale::En, Trouble::AttachmentNotText { name, size }) => {
            format!("I did not read {name} ({}): it is not text. Paste what matters, or attach it as text.", bytes(*size))
        }
        (Locale::Zh, Trouble::AttachmentNotText { name, size }) => {
            format!("我没有读取 {name}（{}）：它不是文本。请粘贴关键内容，或以文本形式上传。", bytes(*size))
        }
        (Locale::En, Trouble::AttachmentUnreachable { name }) => {
            format!("I could not fetch {name}; the analysis goes on without it.")
        }
        (Locale::Zh, Trouble::AttachmentUnreachable { name }) => format!("我无法获取 {name}；分析在没有它的情况下继续。"),
        (Locale::En, Trouble::AttachmentEncoding { name, encoding, replaced: 0 }) => {
            format!("I read {name} as {encoding}.")
        }
        (Locale::Zh, Trouble::AttachmentEncoding { name, encoding, replaced: 0 }) => {
            format!("我按 {encoding} 读取了 {name}。")
        }
        (Locale::En, Trouble::AttachmentEncoding { name, encoding, replaced }) => {
            format!("I read {name} as {encoding}; {replaced} characters could not be read.")
        }
        (Locale::Zh, Trouble::AttachmentEncoding { name, encoding, replaced }) => {
            format!("我按 {encoding} 读取了 {name}；有 {replaced} 个字符无法识别。")
        }
        (Locale::En, Trouble::NotAllowed(what)) => format!("You need {} for this.", need(locale, *what)),
        (Locale::Zh, Trouble::NotAllowed(what)) => format!("此操作需要{}。", need(locale, *what)),
        (Locale::En, Trouble::EmptyReport) => {
            "There is no text to analyze; describe what you see, or attach a log.".into()
        }
        (Locale::Zh, Trouble::EmptyReport) => "没有可分析的文字；请描述您看到的现象，或上传日志。".into(),
        (Locale::En, Trouble::NoIncidentHere) => {
            "No incident belongs to this channel; start one with /analyze, or use the command in an incident's thread.".into()
        }
        (Locale::Zh, Trouble::NoIncidentHere) => {
            "本频道没有对应的故障；请用 /analyze 开始，或在故障的子区中使用此命令。".into()
        }
        (Locale::En, Trouble::UnknownIncident) => "There is no incident of this number that you may see.".into(),
        (Locale::Zh, Trouble::UnknownIncident) => "没有您可以查看的该编号故障。".into(),
        (Locale::En, Trouble::OldCard) => {
            "This analysis was replaced by a later one; use the buttons there.".into()
        }
        (Locale::Zh, Trouble::OldCard) => "这次分析已被更新的分析取代；请使用那里的按钮。".into(),
        (Locale::En, Trouble::StepGone) => {
            "This step no longer stands in the checklist as it was; look there, and tick what stands now.".into()
        }
        (Locale::Zh, Trouble::StepGone) => "该步骤已不在清单中（或内容已变）；请查看清单并勾选现有步骤。".into(),
        (Locale::En, Trouble::AlreadyAnalysing) => {
            "A new analysis of exactly this is under way; it appears here when it is ready.".into()
        }
        (Locale::Zh, Trouble::AlreadyAnalysing) => "同样内容的新分析正在进行；完成后会显示在这里。".into(),
        (Locale::En, Trouble::UnknownAction) => "I don't know this button or command any more; run the command again.".into(),
        (Locale::Zh, Trouble::UnknownAction) => "我已不认识这个按钮或命令；请重新运行命令。".into(),
        (Locale::En, Trouble::BadServiceName) => {
            "That is not a usable service name: give letters, digits and hyphens, at most 80 characters.".into()
        }
        (Locale::Zh, Trouble::BadServiceName) => "服务名称不可用：请使用字母、数字和连字符，最多 80 个字符。".into(),
        (Locale::En, Trouble::NameTaken(name)) => {
            format!("This name means {name} already; choose another, or merge the two with /service merge.")
        }
        (Locale::Zh, Trouble::NameTaken(name)) => {
            format!("此名称已指 {name}；请换一个，或用 /service merge 合并两者。")
        }
        (Locale::En, Trouble::UnknownService) => {
            "No service of this name is registered; /service list shows those that are.".into()
        }
        (Locale::Zh, Trouble::UnknownService) => "没有登记此名称的服务；/service list 列出已登记的服务。".into(),
        (Locale::En, Trouble::BadAddress) => {
            "A runbook is an address that begins with http:// or https://, without a name and password, at most 400 characters; give at most 5.".into()
        }
        (Locale::Zh, Trouble::BadAddress) => {
            "操作手册须是以 http:// 或 https:// 开头的地址，不含用户名和密码，最多 400 个字符；最多 5 个。".into()
        }
        (Locale::En, Trouble::BadOwners) => {
            "An owner is a role and a name, such as `on call: payments team`; give names, not mentions, at most 8 with commas between.".into()
        }
        (Locale::Zh, Trouble::BadOwners) => {
            "负责人由角色和名称组成，例如 `值班：支付组`；请填名称而非提及，用逗号分隔，最多 8 个。".into()
        }
        (Locale::En, Trouble::Forgotten(id)) => {
            format!("{id} (forgotten): its record was removed, and the number is not given again.")
        }
        (Locale::Zh, Trouble::Forgotten(id)) => format!("{id}（已忘记）：记录已删除，编号不会再次使用。"),
        (Locale::En, Trouble::StillOpen(id)) => {
            format!("{id} is still open; resolve it first (/resolve in its thread), then it can be forgotten.")
        }
        (Locale::Zh, Trouble::StillOpen(id)) => {
            format!("{id} 仍在进行中；请先在其子区用 /resolve 解决，之后才能忘记。")
        }
        (Locale::En, Trouble::NoChannelToKeepTo(id)) => {
            format!("{id} was imported and belongs to no channel that it could be kept to.")
        }
        (Locale::Zh, Trouble::NoChannelToKeepTo(id)) => format!("{id} 是导入的，不属于任何频道，无法限制范围。"),
        (Locale::En, Trouble::RoleOfEverybody) => {
            "Everybody has this role; choose one that is given to some.".into()
        }
        (Locale::Zh, Trouble::RoleOfEverybody) => "所有人都有这个身份组；请选择只授予部分人的身份组。".into(),
        (Locale::En, Trouble::ExportTooLarge(most)) => format!(
            "Memory is larger than {}, which is what I send as a file; whoever runs me gets all of it with `precedent memory export`.",
            bytes(*most)
        ),
        (Locale::Zh, Trouble::ExportTooLarge(most)) => format!(
            "记忆超过了 {}，这是我能发送的文件上限；维护者可用 `precedent memory export` 导出全部。",
            bytes(*most)
        ),
        (Locale::En, Trouble::NoMessageContent) => {
            "I can't read messages here (the message-content intent is off); mention me, or use /followup.".into()
        }
        (Locale::Zh, Trouble::NoMessageContent) => {
            "我无法读取这里的消息（未开启消息内容权限）；请提及我，或使用 /followup。".into()
        }
        (Locale::En, Trouble::OnlyInServers) => "I work in a server's channels, not in direct messages.".into(),
        (Locale::Zh, Trouble::OnlyInServers) => "我只在服务器的频道中工作，不支持私信。".into(),
        (Locale::En, Trouble::NotRunning(id)) => {
            format!("{id} does not run any more; nothing was changed.")
        }
        (Locale::Zh, Trouble::NotRunning(id)) => format!("{id} 已不在进行中；未做更改。"),
        (Locale::En, Trouble::StandsUnderItself) => {
            "These two already stand one under the other, so this would be a circle; nothing was changed.".into()
        }
        (Locale::Zh, Trouble::StandsUnderItself) => "这两个故障已有从属关系，会形成循环；未做更改。".into(),
        (Locale::En, Trouble::SeenFromElsewhere) => {
            "One of these incidents is private to another place, so they can't be linked; nothing was changed.".into()
        }
        (Locale::Zh, Trouble::SeenFromElsewhere) => "其中一个故障仅在别处可见，不能关联；未做更改。".into(),
        (Locale::En, Trouble::FixHasFailed) => {
            "This fix is on record as failed; take that word back first, where it was said.".into()
        }
        (Locale::Zh, Trouble::FixHasFailed) => "此修复已记为失败；请先在原处撤回该结果。".into(),
        (Locale::En, Trouble::MemoryDown) => {
            "Memory is unavailable right now; this is not the same as finding nothing. Try again in a minute.".into()
        }
        (Locale::Zh, Trouble::MemoryDown) => "记忆暂时不可用；这与没有找到不同。请一分钟后重试。".into(),
        (Locale::En, Trouble::Unexpected) => {
            "Something went wrong on my side; try again, and pass the error id to whoever runs me.".into()
        }
        (Locale::Zh, Trouble::Unexpected) => "我这边出了问题；请重试，并将错误编号告诉维护者。".into(),
    }
}

/// `1.5 MB`, in powers of 1,000.
pub fn bytes(count: u64) -> String {
    let (unit, name) = match count {
        0..1_000 => return format!("{count} B"),
        1_000..1_000_000 => (1_000, "kB"),
        1_000_000..1_000_000_000 => (1_000_000, "MB"),
        _ => (1_000_000_000, "GB"),
    };
    let tenths = count / (unit / 10);
    match tenths % 10 {
        0 => format!("{} {name}", tenths / 10),
        rest => format!("{}.{rest} {name}", tenths / 10),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_are_one_sentence_with_an_id() {
        assert_eq!(
            trouble(Locale::En, &Trouble::UnknownIncident, Some("k3f9")),
            "There is no incident of this number that you may see. (error id k3f9)"
        );
        assert_eq!(
            trouble(
                Locale::En,
                &Trouble::AttachmentTooLarge {
                    name: "app.log".into(),
                    read: 1_000_000,
                    size: 5_250_000
                },
                None
            ),
            "Of app.log I read 1 MB of 5.2 MB; paste the lines that matter."
        );
    }
}

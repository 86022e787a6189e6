//! Approvals of destructive steps (R18): what is asked in the thread, and what the answer was.

use crate::incident::{IncidentId, Locale};

/// Above a request: what needs an approver.
pub fn approval_needed(locale: Locale, id: IncidentId, step: usize) -> String {
    match locale {
        Locale::En => format!("🔴 Approval needed · {id} · step {step} destroys data or state"),
        Locale::Zh => format!("🔴 需要批准 · {id} · 第 {step} 步会破坏数据或状态"),
    }
}

/// Above an approved request.
pub fn approval_given(locale: Locale, id: IncidentId, step: usize) -> String {
    match locale {
        Locale::En => format!("✔ Approved · {id} · step {step}, which destroys data or state"),
        Locale::Zh => format!("✔ 已批准 · {id} · 第 {step} 步（会破坏数据或状态）"),
    }
}

/// Above a request that was answered with *Not now*.
pub fn approval_refused(locale: Locale, id: IncidentId, step: usize) -> String {
    match locale {
        Locale::En => format!("✋ Not now · {id} · step {step}, which destroys data or state"),
        Locale::Zh => format!("✋ 暂不执行 · {id} · 第 {step} 步（会破坏数据或状态）"),
    }
}

/// Below a request: who asked, and who may answer. `right` is [`super::right`]'s.
pub fn approval_asked_by(locale: Locale, who: &str, when: &str, right: &str) -> String {
    match locale {
        Locale::En => {
            format!("Asked by {who}, {when}. Approving takes {right}; who asked ticks it then.")
        }
        Locale::Zh => format!("{who} 于 {when} 请求。批准需要{right}；批准后由请求人勾选。"),
    }
}

/// Who asked, once somebody answered.
pub fn approval_was_asked_by(locale: Locale, who: &str) -> String {
    match locale {
        Locale::En => format!("Asked by {who}."),
        Locale::Zh => format!("请求人：{who}。"),
    }
}

/// A step's line: it waits.
pub fn approval_waits(locale: Locale, who: &str, when: &str) -> String {
    match locale {
        Locale::En => format!("⏳ waits for an approver (asked by {who}, {when})"),
        Locale::Zh => format!("⏳ 等待批准（{who} 于 {when} 请求）"),
    }
}

/// A step's line, and a request's: who approved it.
pub fn approved_by(locale: Locale, who: &str, when: &str) -> String {
    match locale {
        Locale::En => format!("✔ approved by {who}, {when}"),
        Locale::Zh => format!("✔ 批准人：{who}，{when}"),
    }
}

/// The same where who approved it is who asked.
pub fn self_approved_by(locale: Locale, who: &str, when: &str) -> String {
    match locale {
        Locale::En => format!("✔ self-approved by {who}, {when}: nobody else answered for it"),
        Locale::Zh => format!("✔ 自行批准：{who}，{when}（没有其他人批准）"),
    }
}

/// A step's line, and a request's: not now.
pub fn refused_by(locale: Locale, who: &str, when: &str) -> String {
    match locale {
        Locale::En => format!("✋ not now, says {who}, {when}"),
        Locale::Zh => format!("✋ {who} 表示暂不执行，{when}"),
    }
}

/// A request whose step is done.
pub fn approved_and_done(locale: Locale, who: &str, when: &str) -> String {
    match locale {
        Locale::En => format!("☑ done: {who}, {when}"),
        Locale::Zh => format!("☑ 已完成：{who}，{when}"),
    }
}

/// A request that was asked anew further down.
pub fn asked_again_below(locale: Locale) -> &'static str {
    match locale {
        Locale::En => "Asked again further down.",
        Locale::Zh => "已在下方重新请求。",
    }
}

/// A request whose step no longer stands in the checklist.
pub fn step_is_gone(locale: Locale) -> &'static str {
    match locale {
        Locale::En => "This step no longer stands in the checklist as it was; the request is void.",
        Locale::Zh => "该步骤已不在清单中（或内容已变），此请求作废。",
    }
}

/// To who ticked destructive steps: an approver is asked for in the thread.
pub fn needs_an_approver(locale: Locale, steps: &str, many: bool, right: &str) -> String {
    match (locale, many) {
        (Locale::En, false) => format!(
            "Step {steps} destroys data or state and is not ticked yet: it needs an approver. I asked in the thread; approving takes {right}."
        ),
        (Locale::En, true) => format!(
            "Steps {steps} destroy data or state and are not ticked yet: each needs an approver. I asked in the thread; approving takes {right}."
        ),
        (Locale::Zh, _) => format!(
            "第 {steps} 步会破坏数据或状态，尚未勾选：需要有人批准。我已在子区中请求；批准需要{right}。"
        ),
    }
}

/// To who ticked a step that waits already.
pub fn waits_already(locale: Locale, steps: &str, many: bool) -> String {
    match (locale, many) {
        (Locale::En, false) => {
            format!("Step {steps} waits for an approver already; the request stands in the thread.")
        }
        (Locale::En, true) => {
            format!("Steps {steps} wait for an approver already; the requests stand in the thread.")
        }
        (Locale::Zh, _) => format!("第 {steps} 步已在等待批准；请求在子区中。"),
    }
}

/// To who has the right to approve and asked.
pub fn may_approve_alone(locale: Locale) -> &'static str {
    match locale {
        Locale::En => {
            "If nobody else is there, press *Approve* there yourself: I ask you once more, and record it as self-approved."
        }
        Locale::Zh => {
            "如果没有其他人在场，您可以自己点击那里的「批准」：我会再次确认，并记录为自行批准。"
        }
    }
}

/// To who presses *Approve* on what they asked for.
pub fn approve_own_question(locale: Locale, step: usize) -> String {
    match locale {
        Locale::En => format!(
            "You asked for step {step} yourself, and somebody else should answer for it. If nobody else is there, approve it alone: everybody sees that you did, and it is recorded as self-approved."
        ),
        Locale::Zh => format!(
            "第 {step} 步是您自己请求的，应由其他人批准。如果没有其他人在场，可以自行批准：所有人都会看到，并记录为自行批准。"
        ),
    }
}

/// To who presses *Approve* or *Not now* on what stands so already.
pub fn answered_already(locale: Locale, how: &str) -> String {
    match locale {
        Locale::En => format!("Nothing changed: {how}."),
        Locale::Zh => format!("没有变化：{how}。"),
    }
}

/// Button: it may be done.
pub fn button_approve(locale: Locale) -> &'static str {
    match locale {
        Locale::En => "Approve",
        Locale::Zh => "批准",
    }
}

/// Button: it may not be done now.
pub fn button_not_now(locale: Locale) -> &'static str {
    match locale {
        Locale::En => "Not now",
        Locale::Zh => "暂不执行",
    }
}

/// Button: the approval is taken back.
pub fn button_take_approval_back(locale: Locale) -> &'static str {
    match locale {
        Locale::En => "Take the approval back",
        Locale::Zh => "收回批准",
    }
}

/// Button: who asked approves alone.
pub fn button_approve_own(locale: Locale) -> &'static str {
    match locale {
        Locale::En => "Approve my own request",
        Locale::Zh => "批准我自己的请求",
    }
}

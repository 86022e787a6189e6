//! Two people who try fixes at once, in sentences.

use crate::incident::Locale;

/// Above the lines that say who tries what.
pub fn two_fixes_at_once(locale: Locale) -> &'static str {
    match locale {
        Locale::En => {
            "⚠ Two fixes at once: each may undo the other or hide what it does. Talk first."
        }
        Locale::Zh => "⚠ 两项修复同时进行：彼此可能抵消，或掩盖对方的效果。请先沟通。",
    }
}

/// Above the same, where both try one fix.
pub fn one_fix_twice(locale: Locale) -> &'static str {
    match locale {
        Locale::En => "⚠ Two people try the same fix: doing it twice may harm. Talk first.",
        Locale::Zh => "⚠ 两人正在尝试同一修复：重复执行可能有害。请先沟通。",
    }
}

/// Who tries what, since when.
pub fn tries_since(locale: Locale, who: &str, fix: &str, when: &str) -> String {
    match locale {
        Locale::En => format!("- {who}, since {when}: {fix}"),
        Locale::Zh => format!("- {who}，{when} 起：{fix}"),
    }
}

/// Who begins what.
pub fn begins_now(locale: Locale, who: &str, fix: &str) -> String {
    match locale {
        Locale::En => format!("- {who}, from now on: {fix}"),
        Locale::Zh => format!("- {who}，现在开始：{fix}"),
    }
}

/// To who began: what else is tried.
pub fn somebody_else_tries(locale: Locale) -> &'static str {
    match locale {
        Locale::En => {
            "Somebody else is trying a fix of this incident. Talk to them before you go on:"
        }
        Locale::Zh => "其他人正在为此事件尝试修复。继续之前请先与其沟通：",
    }
}

/// To who began: the same is tried.
pub fn somebody_else_tries_the_same(locale: Locale) -> &'static str {
    match locale {
        Locale::En => {
            "Somebody else is trying the same fix already. Talk to them before you go on:"
        }
        Locale::Zh => "其他人已在尝试同一修复。继续之前请先与其沟通：",
    }
}

//! The two languages the bot speaks.

use serde::{Deserialize, Serialize};

/// A language of replies. A thread keeps the one it began with.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Locale {
    /// English.
    #[default]
    #[serde(rename = "en")]
    En,
    /// Simplified Chinese.
    #[serde(rename = "zh-CN")]
    Zh,
}

impl Locale {
    /// From Discord's locale codes: every `zh-*` reads Simplified Chinese, all others English.
    pub fn from_discord(code: &str) -> Self {
        if code.starts_with("zh") {
            Self::Zh
        } else {
            Self::En
        }
    }

    /// The language a text is written in: Chinese when at least a fifth of its letters are Han.
    /// Used where no person's locale is known (the command line, a webhook's alert).
    pub fn of_text(text: &str) -> Self {
        let letters = text.chars().filter(|c| c.is_alphabetic()).count();
        let han = text
            .chars()
            .filter(|c| crate::incident::words::is_cjk(*c))
            .count();
        if han * 5 >= letters.max(1) && han > 0 {
            Self::Zh
        } else {
            Self::En
        }
    }

    /// The code stored beside an incident.
    pub fn code(self) -> &'static str {
        match self {
            Self::En => "en",
            Self::Zh => "zh-CN",
        }
    }
}

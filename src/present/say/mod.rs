//! Every sentence that the bot says: a named function, English and Simplified Chinese side by side.
//!
//! Wanted: nobody meets a sentence in the wrong language or with a number missing. Each function
//! takes a [`Locale`] and typed arguments and matches on the locale: a language left out, or an
//! argument forgotten, does not compile. That is why no message catalogue is used; two languages
//! and some two hundred sentences don't need one, and a catalogue finds its gaps at run time.
//!
//! Arguments that carry text of others come in made safe for the place the sentence goes to (see
//! [`super::ink`]); nothing here escapes. No sentence holds a percent sign beside a score (R12).

/// Words that need nothing but the language.
macro_rules! words {
    ($($(#[$doc:meta])* $name:ident $en:literal $zh:literal)*) => {
        $(
            $(#[$doc])*
            pub fn $name(locale: $crate::incident::Locale) -> &'static str {
                match locale {
                    $crate::incident::Locale::En => $en,
                    $crate::incident::Locale::Zh => $zh,
                }
            }
        )*
    };
}

mod alerts;
mod approval;
mod chronicle;
mod corrections;
mod engine;
mod errors;
mod history;
mod joining;
mod keeping;
mod labels;
mod outcomes;
mod record;
mod requests;
mod running;
mod trying;
mod updates;
mod why;

pub use alerts::*;
pub use approval::*;
pub use chronicle::*;
pub use corrections::*;
pub use engine::*;
pub use errors::*;
pub use history::*;
pub use joining::*;
pub use keeping::*;
pub use labels::*;
pub use outcomes::*;
pub use record::*;
pub use requests::*;
pub use running::*;
pub use trying::*;
pub use updates::*;
pub use why::*;

use crate::incident::Locale;
use jiff::Timestamp;
use jiff::tz::TimeZone;

/// `14 May 2026`, in UTC.
pub fn day(locale: Locale, at: Timestamp) -> String {
    let at = at.to_zoned(TimeZone::UTC);
    match locale {
        Locale::En => at.strftime("%-d %b %Y").to_string(),
        Locale::Zh => format!("{}年{}月{}日", at.year(), at.month(), at.day()),
    }
}

/// `02:55 UTC`.
pub fn clock(_: Locale, at: Timestamp) -> String {
    at.to_zoned(TimeZone::UTC).strftime("%H:%M UTC").to_string()
}

/// `14 May 2026, 02:55 UTC`.
pub fn day_and_clock(locale: Locale, at: Timestamp) -> String {
    match locale {
        Locale::En => format!("{}, {}", day(locale, at), clock(locale, at)),
        Locale::Zh => format!("{} {}", day(locale, at), clock(locale, at)),
    }
}

/// `12 days ago`, `in 30 min`.
pub fn ago(locale: Locale, at: Timestamp, now: Timestamp) -> String {
    let seconds = now.as_second() - at.as_second();
    let length = duration(locale, seconds.unsigned_abs());
    match (locale, seconds >= 0) {
        (Locale::En, true) => format!("{length} ago"),
        (Locale::En, false) => format!("in {length}"),
        (Locale::Zh, true) => format!("{length}前"),
        (Locale::Zh, false) => format!("{length}后"),
    }
}

/// `41 s`, `18 min`, `5 h`, `12 days`, in one unit.
pub fn duration(locale: Locale, seconds: u64) -> String {
    let (minutes, hours, days) = (seconds / 60, seconds / 3_600, seconds / 86_400);
    match locale {
        Locale::En if days > 1 => format!("{days} days"),
        Locale::En if hours > 1 => format!("{hours} h"),
        Locale::En if minutes > 1 => format!("{minutes} min"),
        Locale::En => format!("{seconds} s"),
        Locale::Zh if days > 1 => format!("{days} 天"),
        Locale::Zh if hours > 1 => format!("{hours} 小时"),
        Locale::Zh if minutes > 1 => format!("{minutes} 分钟"),
        Locale::Zh => format!("{seconds} 秒"),
    }
}

/// `41 min`, `3 h 20 min`: how long something took.
pub fn minutes(locale: Locale, minutes: i64) -> String {
    let (hours, rest) = (minutes / 60, minutes % 60);
    match (locale, hours, rest) {
        (Locale::En, 0, _) => format!("{rest} min"),
        (Locale::En, _, 0) => format!("{hours} h"),
        (Locale::En, ..) => format!("{hours} h {rest} min"),
        (Locale::Zh, 0, _) => format!("{rest} 分钟"),
        (Locale::Zh, _, 0) => format!("{hours} 小时"),
        (Locale::Zh, ..) => format!("{hours} 小时 {rest} 分钟"),
    }
}

/// An aside in parentheses, with the space that goes before it.
pub fn aside(locale: Locale, text: &str) -> String {
    match locale {
        Locale::En => format!(" ({text})"),
        Locale::Zh => format!("（{text}）"),
    }
}

/// `label: value`.
pub fn pair(locale: Locale, label: &str, value: &str) -> String {
    match locale {
        Locale::En => format!("{label}: {value}"),
        Locale::Zh => format!("{label}：{value}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_in_both_languages() {
        let at: Timestamp = "2026-05-14T02:05:00Z".parse().expect("a time");
        assert_eq!(day_and_clock(Locale::En, at), "14 May 2026, 02:05 UTC");
        assert_eq!(day_and_clock(Locale::Zh, at), "2026年5月14日 02:05 UTC");
        for (seconds, en, zh) in [
            (30, "30 s ago", "30 秒前"),
            (90, "90 s ago", "90 秒前"),
            (18 * 60, "18 min ago", "18 分钟前"),
            (5 * 3_600, "5 h ago", "5 小时前"),
            (12 * 86_400, "12 days ago", "12 天前"),
            (-1_800, "in 30 min", "30 分钟后"),
        ] {
            let now = at + jiff::SignedDuration::from_secs(seconds);
            assert_eq!(ago(Locale::En, at, now), en);
            assert_eq!(ago(Locale::Zh, at, now), zh);
        }
        assert_eq!(minutes(Locale::En, 200), "3 h 20 min");
        assert_eq!(minutes(Locale::Zh, 41), "41 分钟");
    }
}

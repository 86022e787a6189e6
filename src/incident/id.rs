//! Numbers of incidents, and the many ways in which people and models write them (R1).

use serde::{Deserialize, Serialize};
use std::fmt;
use unicode_normalization::UnicodeNormalization;

/// The number of an incident, counted per guild; shown as `INC-0012`.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct IncidentId(u32);

impl IncidentId {
    /// An id from its number. Zero is no incident.
    pub fn new(number: u32) -> Option<Self> {
        (number > 0).then_some(Self(number))
    }

    /// The bare number.
    pub fn number(self) -> u32 {
        self.0
    }

    /// Reads `12`, `#12`, `INC-12`, `INC-0012`, `inc 12`, `inc12` and their full-width forms (R1).
    /// Anything around the id makes it something else: `None`.
    pub fn parse(text: &str) -> Option<Self> {
        let folded: String = text.nfkc().collect::<String>().to_lowercase();
        let mut rest = folded.trim();
        rest = rest
            .strip_prefix('[')
            .and_then(|inner| inner.strip_suffix(']'))
            .unwrap_or(rest)
            .trim();
        for prefix in ["incident", "inc"] {
            if let Some(tail) = rest.strip_prefix(prefix) {
                rest = tail.trim_start_matches(|c: char| {
                    c == ' ' || c == '-' || c == '_' || c == ':' || is_dash(c)
                });
                break;
            }
        }
        rest = rest.strip_prefix('#').unwrap_or(rest).trim_start();
        if rest.is_empty() || rest.len() > 9 || !rest.bytes().all(|b| b.is_ascii_digit()) {
            return None;
        }
        rest.parse().ok().and_then(Self::new)
    }
}

/// Hyphens and dashes that survive NFKC.
pub(crate) fn is_dash(c: char) -> bool {
    matches!(c, '\u{2010}'..='\u{2015}' | '\u{2212}' | '-')
}

impl fmt::Display for IncidentId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "INC-{:04}", self.0)
    }
}

impl fmt::Debug for IncidentId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl Serialize for IncidentId {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for IncidentId {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        Self::parse(&text)
            .ok_or_else(|| serde::de::Error::custom("an incident id reads like INC-0012"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn r1_one_id_in_many_spellings() {
        for text in [
            "12",
            "#12",
            "INC-12",
            "INC-0012",
            "inc 12",
            "inc12",
            "ＩＮＣ－００１２",
            "＃１２",
            " INC-0012 ",
            "[INC-12]",
            "incident 12",
            "INC‑12",
        ] {
            assert_eq!(
                IncidentId::parse(text).map(|id| id.to_string()).as_deref(),
                Some("INC-0012"),
                "{text}"
            );
        }
    }

    #[test]
    fn r1_what_is_no_id() {
        for text in [
            "",
            "0",
            "INC-",
            "INC-0",
            "12a",
            "1.2",
            "-12",
            "INC-12 and more",
            "P1",
            "9999999999",
            "INC-１２x",
        ] {
            assert_eq!(IncidentId::parse(text), None, "{text}");
        }
    }
}

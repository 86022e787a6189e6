//! What keeps coming back on one service: a learned pattern, `P1`.

use super::IncidentId;
use serde::{Deserialize, Serialize};
use std::fmt;
use unicode_normalization::UnicodeNormalization;

/// The number of a pattern in its guild: `P1`. Numbers are not given out twice.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct PatternId(pub u32);

impl PatternId {
    /// Reads `P1`, `p1`, `#P1` and their full-width forms; everything else is none.
    pub fn parse(text: &str) -> Option<Self> {
        let normal: String = text.trim().nfkc().collect();
        let digits = normal
            .trim_start_matches('#')
            .strip_prefix(['P', 'p'])?
            .trim_start_matches('-');
        if digits.is_empty() || digits.len() > 9 || !digits.bytes().all(|b| b.is_ascii_digit()) {
            return None;
        }
        digits.parse().ok().filter(|number| *number > 0).map(Self)
    }
}

impl fmt::Display for PatternId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "P{}", self.0)
    }
}

/// What the incidents of a pattern have in common.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Shared {
    /// A root cause.
    Cause,
    /// An error signature.
    Signature,
}

impl Shared {
    /// The word on the wire and in the database.
    pub fn word(self) -> &'static str {
        match self {
            Self::Cause => "cause",
            Self::Signature => "signature",
        }
    }

    /// Reads [`Shared::word`].
    pub fn parse(word: &str) -> Option<Self> {
        [Self::Cause, Self::Signature]
            .into_iter()
            .find(|shared| shared.word() == word)
    }
}

/// Three or more independent episodes of one service that share a cause or an error signature. It
/// is derived from records and holds no word of its own: without them it is gone.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LearnedPattern {
    /// Its number.
    pub id: PatternId,
    /// Canonical name of the service.
    pub service: String,
    /// What the incidents share.
    pub shared: Shared,
    /// The cause or the error line, as the newest of them has it.
    pub words: String,
    /// The incidents that it rests on, by number.
    pub incidents: Vec<IncidentId>,
    /// How many independent episodes these are (R11).
    pub episodes: u32,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_of_patterns_as_they_are_written() {
        for (text, expected) in [
            ("P1", Some(1)),
            ("p12", Some(12)),
            (" #P3 ", Some(3)),
            ("Ｐ４", Some(4)),
            ("P-5", Some(5)),
            ("P0", None),
            ("P", None),
            ("P1a", None),
            ("INC-0001", None),
            ("1", None),
            ("P99999999999", None),
            ("", None),
        ] {
            assert_eq!(PatternId::parse(text), expected.map(PatternId), "{text:?}");
        }
        assert_eq!(PatternId(7).to_string(), "P7");
    }
}

//! A fix tried in an incident, and what became of it.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

/// What became of one attempt.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    /// Known to hold.
    Held,
    /// Worked, not yet known to hold.
    Mitigated,
    /// Changed nothing.
    NoEffect,
    /// Worked at first, then the trouble came back.
    CameBack,
    /// Made things worse.
    MadeWorse,
    /// Nobody said.
    #[default]
    Unknown,
}

/// What an outcome is worth as evidence.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Standing {
    /// `held`.
    Verified,
    /// `no_effect`, `came_back` or `made_worse`.
    Refuted,
    /// `mitigated` or `unknown`.
    Hypothesis,
}

impl Outcome {
    /// All six.
    pub const ALL: [Self; 6] = [
        Self::Held,
        Self::Mitigated,
        Self::NoEffect,
        Self::CameBack,
        Self::MadeWorse,
        Self::Unknown,
    ];

    /// What it is worth.
    pub fn standing(self) -> Standing {
        match self {
            Self::Held => Standing::Verified,
            Self::NoEffect | Self::CameBack | Self::MadeWorse => Standing::Refuted,
            Self::Mitigated | Self::Unknown => Standing::Hypothesis,
        }
    }

    /// The word on the wire and in the database.
    pub fn word(self) -> &'static str {
        match self {
            Self::Held => "held",
            Self::Mitigated => "mitigated",
            Self::NoEffect => "no_effect",
            Self::CameBack => "came_back",
            Self::MadeWorse => "made_worse",
            Self::Unknown => "unknown",
        }
    }

    /// Reads [`Outcome::word`], and the three words of standing that an import may use:
    /// `verified` is held, `refuted` is no_effect, `hypothesis` is unknown.
    pub fn parse(word: &str) -> Option<Self> {
        let folded = word.trim().to_ascii_lowercase().replace([' ', '-'], "_");
        match folded.as_str() {
            "verified" => Some(Self::Held),
            "refuted" => Some(Self::NoEffect),
            "hypothesis" => Some(Self::Unknown),
            _ => Self::ALL
                .into_iter()
                .find(|outcome| outcome.word() == folded),
        }
    }
}

/// One fix tried in one incident.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FixAttempt {
    /// The fix, in the words of whoever tried it.
    pub fix: String,
    /// What became of it.
    #[serde(default)]
    pub outcome: Outcome,
    /// When the outcome was seen; unknown for old imports.
    #[serde(default)]
    pub at: Option<Timestamp>,
    /// By whom or what: a person's name, `import`, `postmortem`, `ci`.
    #[serde(default)]
    pub by: String,
    /// In which environment.
    #[serde(default)]
    pub environment: Option<String>,
    /// What was said about it.
    #[serde(default)]
    pub note: String,
}

impl FixAttempt {
    /// An attempt of which only the fix and its outcome are known.
    pub fn new(fix: impl Into<String>, outcome: Outcome) -> Self {
        Self {
            fix: fix.into(),
            outcome,
            at: None,
            by: String::new(),
            environment: None,
            note: String::new(),
        }
    }
}

//! Severity (R30) and status (R31): what people decide.

use serde::{Deserialize, Serialize};
use std::fmt;

/// Severity; `Sev1` is the gravest. The order is by gravity: `Sev1 > Sev4`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Severity {
    /// The core is unusable for most, or data is lost or exposed.
    #[serde(rename = "SEV1")]
    Sev1,
    /// A major function or many users, no workaround.
    #[serde(rename = "SEV2")]
    Sev2,
    /// Some users, or there is a workaround.
    #[serde(rename = "SEV3")]
    Sev3,
    /// Nobody is affected.
    #[serde(rename = "SEV4")]
    Sev4,
}

impl Severity {
    /// All four, gravest first.
    pub const ALL: [Self; 4] = [Self::Sev1, Self::Sev2, Self::Sev3, Self::Sev4];

    /// 1 for SEV1 to 4 for SEV4.
    pub fn number(self) -> u8 {
        match self {
            Self::Sev1 => 1,
            Self::Sev2 => 2,
            Self::Sev3 => 3,
            Self::Sev4 => 4,
        }
    }

    /// Reads `SEV2`, `sev-2`, `S2`, `P2`, `2`.
    pub fn parse(text: &str) -> Option<Self> {
        let folded = text.trim().to_ascii_lowercase();
        let digits = folded
            .strip_prefix("severity")
            .or_else(|| folded.strip_prefix("sev"))
            .or_else(|| folded.strip_prefix('s'))
            .or_else(|| folded.strip_prefix('p'))
            .unwrap_or(&folded)
            .trim_start_matches([' ', '-', '_', ':']);
        match digits {
            "1" => Some(Self::Sev1),
            "2" => Some(Self::Sev2),
            "3" => Some(Self::Sev3),
            "4" => Some(Self::Sev4),
            _ => None,
        }
    }

    /// Minutes until the next update is due (R19): 30, 60, 120, 240.
    pub fn update_minutes(self) -> u32 {
        match self {
            Self::Sev1 => 30,
            Self::Sev2 => 60,
            Self::Sev3 => 120,
            Self::Sev4 => 240,
        }
    }

    /// SEV1 and SEV2: the capable tier (R25), an update unasked for, *Stop the bleeding*.
    pub fn is_grave(self) -> bool {
        matches!(self, Self::Sev1 | Self::Sev2)
    }
}

impl PartialOrd for Severity {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Severity {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        other.number().cmp(&self.number())
    }
}

impl fmt::Display for Severity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "SEV{}", self.number())
    }
}

/// Where an incident stands (R31). Only people move it to mitigated, resolved or closed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Status {
    /// Being looked at.
    #[default]
    Investigating,
    /// A fix is being tried.
    Fixing,
    /// Users are no longer affected; not known yet to hold.
    Mitigated,
    /// Over.
    Resolved,
    /// Over, with nothing left to do.
    Closed,
    /// It was none.
    FalseAlarm,
    /// It is another incident.
    Merged,
}

impl Status {
    /// The word stored in the database.
    pub fn word(self) -> &'static str {
        match self {
            Self::Investigating => "investigating",
            Self::Fixing => "fixing",
            Self::Mitigated => "mitigated",
            Self::Resolved => "resolved",
            Self::Closed => "closed",
            Self::FalseAlarm => "false_alarm",
            Self::Merged => "merged",
        }
    }

    /// Reads [`Status::word`] back.
    pub fn parse(word: &str) -> Option<Self> {
        [
            Self::Investigating,
            Self::Fixing,
            Self::Mitigated,
            Self::Resolved,
            Self::Closed,
            Self::FalseAlarm,
            Self::Merged,
        ]
        .into_iter()
        .find(|status| status.word() == word)
    }

    /// Still running: investigating, fixing or mitigated.
    pub fn is_open(self) -> bool {
        matches!(self, Self::Investigating | Self::Fixing | Self::Mitigated)
    }
}

//! A past incident as it was recalled for one run, with its grade (R4, R5).

use super::PastIncident;
use serde::{Deserialize, Serialize};

/// How much a recalled incident may say about the one at hand (R5).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Grade {
    /// Same service, above the recall floor.
    DirectMatch,
    /// Another or an unknown service, with a shared error signature or above the analogy floor.
    Analogy,
    /// The rest: counted, never offered to the model, never citable (R2).
    Low,
}

impl Grade {
    /// The word on the wire.
    pub fn word(self) -> &'static str {
        match self {
            Self::DirectMatch => "direct_match",
            Self::Analogy => "analogy",
            Self::Low => "low",
        }
    }
}

/// One recalled incident.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Recalled {
    /// The record.
    pub incident: PastIncident,
    /// 0 to 1, see [`crate::response::recall`].
    pub similarity: f64,
    /// An error signature of the record stands in the report.
    pub shares_signature: bool,
    /// What it may say.
    pub grade: Grade,
}

/// What memory did for this run (R4).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Memory {
    /// It was off for this run.
    Disabled,
    /// It failed; never shown as "no match".
    Unavailable,
    /// It answered.
    Searched {
        /// Incidents that were searched.
        searched: u64,
        /// Of these, on the service at hand.
        on_service: u64,
        /// What came back, graded, best first.
        recalled: Vec<Recalled>,
    },
    /// One of its sources answered, another failed. What came back stands; what did not come back
    /// says nothing: where nothing did, memory is unavailable (R4).
    Partial {
        /// Incidents that were searched.
        searched: u64,
        /// Of these, on the service at hand.
        on_service: u64,
        /// What came back, graded, best first.
        recalled: Vec<Recalled>,
    },
}

impl Memory {
    /// What came back; empty where memory was off or failed.
    pub fn recalled(&self) -> &[Recalled] {
        match self {
            Self::Searched { recalled, .. } | Self::Partial { recalled, .. } => recalled,
            Self::Disabled | Self::Unavailable => &[],
        }
    }

    /// Direct matches, best first.
    pub fn direct(&self) -> impl Iterator<Item = &Recalled> {
        self.recalled()
            .iter()
            .filter(|recalled| recalled.grade == Grade::DirectMatch)
    }

    /// Analogies, best first.
    pub fn analogies(&self) -> impl Iterator<Item = &Recalled> {
        self.recalled()
            .iter()
            .filter(|recalled| recalled.grade == Grade::Analogy)
    }
}

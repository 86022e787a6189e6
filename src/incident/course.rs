//! How an incident ran, beside what memory recalls of it.
//!
//! Kept, exported and brought back; never recalled, never a proof. Everything is optional: what a
//! course does not say is not known, and changes nothing where it is kept beside what is.

use super::{FixAttempt, Impact, Severity, Status};
use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// How an incident ran.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Course {
    /// How it ended; `None` where it has not.
    pub status: Option<Status>,
    /// How grave it was.
    pub severity: Option<Severity>,
    /// The person who said so; `None` where it is only proposed.
    pub severity_by: Option<String>,
    /// Who noticed what.
    pub impact: Impact,
    /// Who led: id and name, as the store keeps a person.
    pub lead: Option<String>,
    /// Who spoke for it, likewise.
    pub comms_lead: Option<String>,
    /// When it was noticed.
    pub detected_at: Option<Timestamp>,
    /// When it was reported.
    pub reported_at: Option<Timestamp>,
    /// When somebody took it.
    pub acknowledged_at: Option<Timestamp>,
    /// When users were no longer affected.
    pub mitigated_at: Option<Timestamp>,
    /// What would prevent it is done.
    pub prevention_done: bool,
    /// What was said of fixes and taken back, in order.
    pub withdrawn: Vec<Withdrawn>,
    /// Who did what, in order.
    pub events: Vec<PastEvent>,
}

impl Course {
    /// Whether it says nothing.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

/// An attempt that was taken back: it counts for nothing.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Withdrawn {
    /// Its place among all attempts of the incident, from 1: events name attempts by it.
    pub place: u32,
    /// What was said.
    pub attempt: FixAttempt,
}

/// Something that happened.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PastEvent {
    /// When.
    pub at: Timestamp,
    /// Who, by name or as the store keeps a person.
    pub by: String,
    /// What: the store's word for it.
    pub what: String,
    /// The rest of it.
    pub detail: Value,
}

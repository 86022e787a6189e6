//! What an answer is checked against: everything the model was given, and what people said.

use super::analysis::Correction;
use crate::incident::change::Change;
use crate::incident::sameness::PeopleSaid;
use crate::incident::{
    FailureClass, FixAttempt, IncidentId, LearnedPattern, Locale, Memory, OngoingIncident,
    PastIncident, Registry, Report, Severity,
};
use jiff::Timestamp;
use serde::{Deserialize, Serialize};

/// The input of validation beside the proposal. Stored with the analysis, so that a stored answer
/// is read back through the same rules and gives the same result.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Case {
    /// The time of the run: the core reads no clock.
    pub now: Timestamp,
    /// The language of sentences that the core itself writes.
    pub locale: Locale,
    /// What is seen today.
    pub report: Report,
    /// Canonical name of the service at hand, resolved by registry, never by the model (R5).
    pub service: Option<String>,
    /// The services of the guild.
    pub registry: Registry,
    /// The severity that a person set; the model never lowers it (R30).
    pub severity: Option<Severity>,
    /// What the heuristics would propose, used where neither a person nor the model says one.
    pub severity_proposed: Severity,
    /// What was recalled.
    pub memory: Memory,
    /// What was tried in this incident.
    pub attempts: Vec<FixAttempt>,
    /// The number of the incident at hand: never recalled, never cited as history.
    pub incident: Option<IncidentId>,
    /// The kind of failure that the report shows; its standard checks fill a short checklist.
    pub failure_class: FailureClass,
    /// Who notices what, in the report's own words; fills the update where the model says nothing.
    pub impact: Option<String>,
    /// Since when, in the report's own words.
    pub since: Option<String>,
    /// What the rules changed of the model's triage; kept with the analysis that rests on it.
    #[serde(default)]
    pub triage_corrections: Vec<Correction>,
    /// What outcomes rest on beside the records themselves.
    #[serde(default)]
    pub ledger: Ledger,
}

/// What outcomes rest on beside the records: what people said of sameness, where the incident at
/// hand happens, what it looks like as a record, and what was learned from several.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Ledger {
    /// Fixes and causes that people called the same, or different.
    #[serde(default)]
    pub people: PeopleSaid,
    /// The environment at hand, where somebody said it.
    #[serde(default)]
    pub environment: Option<String>,
    /// The incident at hand as memory will keep it; `started_at` is when it was reported, where
    /// nobody said when it began. Shows whether it is a return (R11).
    #[serde(default)]
    pub running: Option<PastIncident>,
    /// Learned patterns that rest on what was recalled (R2).
    #[serde(default)]
    pub patterns: Vec<LearnedPattern>,
    /// Open incidents of other services with the same signature (R32): shown above memory, never
    /// joined by themselves, never proof.
    #[serde(default)]
    pub ongoing: Vec<OngoingIncident>,
    /// How often the same trouble came to the service lately, this time included; less than two: not
    /// again.
    #[serde(default)]
    pub times_lately: u32,
    /// The newest past one whose prevention nobody called done.
    #[serde(default)]
    pub open_prevention: Option<IncidentId>,
    /// What was changed of the service before the report, oldest first: facts with times. What they
    /// name may be named; that one is the cause is never said by them.
    #[serde(default)]
    pub changes: Vec<Change>,
}

/// What *lately* is for [`Ledger::times_lately`], in days.
pub const LATELY_DAYS: u32 = 30;

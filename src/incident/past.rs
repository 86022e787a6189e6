//! An incident as memory keeps it.

use super::{FixAttempt, IncidentId, Outcome, Standing};
use jiff::Timestamp;
use serde::{Deserialize, Serialize};

/// The source of what is known in fragments only: a memory beside our own has it, and we have no
/// record of it. It is a hypothesis whatever it says of itself.
pub const FRAGMENT: &str = "fragment of another memory";

/// A past incident: the whole record as the team has it. Empty text means that nobody said.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PastIncident {
    /// Its number in the guild.
    pub id: IncidentId,
    /// One line.
    pub title: String,
    /// Canonical service name; `None` equals nothing, not even another `None` (R5).
    #[serde(default)]
    pub service: Option<String>,
    /// The environment it happened in.
    #[serde(default)]
    pub environment: Option<String>,
    /// When it began.
    #[serde(default)]
    pub started_at: Option<Timestamp>,
    /// When it was over.
    #[serde(default)]
    pub resolved_at: Option<Timestamp>,
    /// What was seen.
    #[serde(default)]
    pub symptoms: Vec<String>,
    /// Error lines, as logged.
    #[serde(default)]
    pub error_signatures: Vec<String>,
    /// The cause, if known.
    #[serde(default)]
    pub root_cause: String,
    /// A person said that this was the cause.
    #[serde(default)]
    pub cause_confirmed: bool,
    /// What was tried, in order of time.
    #[serde(default)]
    pub attempts: Vec<FixAttempt>,
    /// Causes that were checked and excluded.
    #[serde(default)]
    pub ruled_out: Vec<String>,
    /// What would keep it from coming again.
    #[serde(default)]
    pub prevention: String,
    /// Where the record comes from: `import`, `discord`, a postmortem's address.
    #[serde(default)]
    pub source: String,
    /// It is the same occurrence as that one (R11).
    #[serde(default)]
    pub duplicate_of: Option<IncidentId>,
    /// It belongs under that one (R11).
    #[serde(default)]
    pub parent: Option<IncidentId>,
}

impl PastIncident {
    /// A record that has only a number and a title.
    pub fn new(id: IncidentId, title: impl Into<String>) -> Self {
        Self {
            id,
            title: title.into(),
            service: None,
            environment: None,
            started_at: None,
            resolved_at: None,
            symptoms: Vec::new(),
            error_signatures: Vec::new(),
            root_cause: String::new(),
            cause_confirmed: false,
            attempts: Vec::new(),
            ruled_out: Vec::new(),
            prevention: String::new(),
            source: String::new(),
            duplicate_of: None,
            parent: None,
        }
    }

    /// Whether only fragments of it are known: no record of our own.
    pub fn is_fragment(&self) -> bool {
        self.source == FRAGMENT
    }

    /// The fix that stands for the incident: the last one that held, else the last one tried.
    pub fn decisive_attempt(&self) -> Option<&FixAttempt> {
        self.attempts
            .iter()
            .rev()
            .find(|attempt| attempt.outcome == Outcome::Held)
            .or_else(|| self.attempts.last())
    }

    /// The outcome of [`PastIncident::decisive_attempt`].
    pub fn outcome(&self) -> Outcome {
        self.decisive_attempt()
            .map_or(Outcome::Unknown, |attempt| attempt.outcome)
    }

    /// The words of the fix that stands for the incident, if there is one.
    pub fn fix(&self) -> Option<&str> {
        self.decisive_attempt()
            .map(|attempt| attempt.fix.as_str())
            .filter(|fix| !fix.trim().is_empty())
    }

    /// *Confirmed cause*: the root cause where a fix held, or a person confirmed it.
    pub fn confirmed_cause(&self) -> Option<&str> {
        let known = !self.root_cause.trim().is_empty();
        let confirmed = self.cause_confirmed || self.outcome().standing() == Standing::Verified;
        (known && confirmed).then_some(self.root_cause.as_str())
    }

    /// Minutes from start to resolution, where both are known and in order.
    pub fn minutes_to_resolve(&self) -> Option<i64> {
        let (start, end) = (self.started_at?, self.resolved_at?);
        let minutes = (end.as_second() - start.as_second()) / 60;
        (minutes >= 0).then_some(minutes)
    }
}

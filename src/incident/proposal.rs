//! What a model *said*, after tolerant reading (R0): plain data, nothing checked.
//!
//! Deliberately absent: trust. A proposal becomes something that may be shown only through
//! [`crate::validation`].

use super::Severity;
use serde::{Deserialize, Serialize};

/// An analysis as proposed. Every field may be empty: models leave things out.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Proposal {
    /// What is going on, in a sentence or two.
    #[serde(default)]
    pub summary: String,
    /// The severity that the model would give.
    #[serde(default)]
    pub severity: Option<Severity>,
    /// Its reason.
    #[serde(default)]
    pub severity_reason: String,
    /// The memory status that the model claims (R4 overrules it).
    #[serde(default)]
    pub verdict_status: String,
    /// The references of its verdict.
    #[serde(default)]
    pub verdict_refs: Vec<String>,
    /// Causes that it proposes.
    #[serde(default)]
    pub hypotheses: Vec<ProposedHypothesis>,
    /// What it would do next.
    #[serde(default)]
    pub next_steps: Vec<ProposedStep>,
    /// Causes that it says history excludes.
    #[serde(default)]
    pub ruled_out: Vec<ProposedRuledOut>,
    /// The stakeholder update.
    #[serde(default)]
    pub update: ProposedUpdate,
    /// Warnings.
    #[serde(default)]
    pub safety_notes: Vec<String>,
    /// The answer was cut off (`finish_reason: length`), marked before any repair (R0).
    #[serde(default)]
    pub cut_off: bool,
    /// The text was not plain JSON and had to be repaired before it could be read.
    #[serde(default)]
    pub repaired: bool,
}

/// A proposed cause.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ProposedHypothesis {
    /// The cause in a line.
    #[serde(default)]
    pub title: String,
    /// `memory`, `current_evidence`, `general_practice`, or whatever it said (R3 computes it).
    #[serde(default)]
    pub source: String,
    /// References as written (R1 reads them).
    #[serde(default)]
    pub memory_refs: Vec<String>,
    /// Quotes of the report that support it.
    #[serde(default)]
    pub evidence: Vec<String>,
    /// Quotes of the report that contradict it.
    #[serde(default)]
    pub contradicted_by: Vec<String>,
    /// 0 to 100, read as rules.md's *The wire* says; `None` where missing or unreadable.
    #[serde(default)]
    pub confidence: Option<u8>,
    /// One check that would confirm or reject it.
    #[serde(default)]
    pub verify: String,
    /// Its fix in words.
    #[serde(default)]
    pub fix: String,
    /// The incident whose fix it is, as written.
    #[serde(default)]
    pub fix_ref: String,
}

/// A proposed step.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ProposedStep {
    /// What to do.
    #[serde(default)]
    pub step: String,
    /// The command, if there is one.
    #[serde(default)]
    pub command: String,
    /// The risk that the model gives it (R16 may only raise on it).
    #[serde(default)]
    pub risk: Option<Risk>,
    /// What to expect and by when.
    #[serde(default)]
    pub expect: String,
    /// How to undo it.
    #[serde(default)]
    pub undo: String,
}

/// How much a step may harm (R16), lowest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Risk {
    /// Changes nothing.
    ReadOnly,
    /// Changes something that is easily put back.
    Reversible,
    /// Changes something; putting it back is work or not certain. Also: unknown.
    Risky,
    /// Destroys something.
    Destructive,
}

impl Risk {
    /// The word on the wire.
    pub fn word(self) -> &'static str {
        match self {
            Self::ReadOnly => "read_only",
            Self::Reversible => "reversible",
            Self::Risky => "risky",
            Self::Destructive => "destructive",
        }
    }

    /// Reads [`Risk::word`], in any case, with spaces or hyphens.
    pub fn parse(word: &str) -> Option<Self> {
        let folded = word.trim().to_ascii_lowercase().replace([' ', '-'], "_");
        match folded.as_str() {
            "read_only" | "readonly" | "safe" => Some(Self::ReadOnly),
            "reversible" => Some(Self::Reversible),
            "risky" => Some(Self::Risky),
            "destructive" => Some(Self::Destructive),
            _ => None,
        }
    }
}

/// A cause that the model says history excludes.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ProposedRuledOut {
    /// The cause.
    #[serde(default)]
    pub cause: String,
    /// References as written.
    #[serde(default)]
    pub memory_refs: Vec<String>,
    /// How it was checked.
    #[serde(default)]
    pub reason: String,
}

/// The fields of a stakeholder update (R19).
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProposedUpdate {
    /// Who notices what.
    #[serde(default)]
    pub impact: String,
    /// Since when.
    #[serde(default)]
    pub since: String,
    /// What is known.
    #[serde(default)]
    pub known: String,
    /// What is not confirmed.
    #[serde(default)]
    pub not_confirmed: String,
    /// What is being done.
    #[serde(default)]
    pub doing: String,
    /// What is needed.
    #[serde(default)]
    pub needed: String,
    /// What changed since the last update.
    #[serde(default)]
    pub changed_since: String,
    /// Minutes to the next update that the model would give.
    #[serde(default)]
    pub next_update_minutes: Option<u32>,
    /// Free text where the model wrote text instead of fields; used by nothing but the record.
    #[serde(default)]
    pub free_text: String,
}

/// A triage as proposed.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ProposedTriage {
    /// One line.
    #[serde(default)]
    pub title: String,
    /// The service it read (never used for grading, R5).
    #[serde(default)]
    pub service: String,
    /// The severity it would give.
    #[serde(default)]
    pub severity: Option<Severity>,
    /// What is seen.
    #[serde(default)]
    pub symptoms: Vec<String>,
    /// Error lines.
    #[serde(default)]
    pub error_signatures: Vec<String>,
    /// Words to recall with.
    #[serde(default)]
    pub recall_query: String,
}

/// An answer to a follow-up question, as proposed.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ProposedAnswer {
    /// The answer.
    #[serde(default)]
    pub answer: String,
    /// References as written.
    #[serde(default)]
    pub memory_refs: Vec<String>,
    /// Quotes of the report.
    #[serde(default)]
    pub evidence: Vec<String>,
    /// Steps.
    #[serde(default)]
    pub next_steps: Vec<ProposedStep>,
    /// The answer was cut off.
    #[serde(default)]
    pub cut_off: bool,
}

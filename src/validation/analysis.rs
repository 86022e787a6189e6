//! What may be shown: the result of validation.
//!
//! [`Analysis`] is built inside [`crate::validation`] only; everything else reads it. Its parts are
//! plain data ([`Shown`]), so `present` needs no accessors, and nobody else can make one.

use crate::incident::proposal::Risk;
use crate::incident::{Engine, Grade, IncidentId, Outcome, Severity};
use jiff::Timestamp;
use serde::{Deserialize, Serialize};

/// A validated analysis. Dereferences to what may be shown.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(transparent)]
pub struct Analysis(pub(in crate::validation) Shown);

#[cfg(test)]
impl Analysis {
    /// For tests of what reads it; nothing else makes one outside of validation.
    #[allow(dead_code)]
    pub(crate) fn for_test(shown: Shown) -> Self {
        Self(shown)
    }
}

impl std::ops::Deref for Analysis {
    type Target = Shown;

    fn deref(&self) -> &Shown {
        &self.0
    }
}

/// One change that a rule made to a proposal.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Correction {
    /// The rule: `R3`.
    pub rule: String,
    /// Where: `hypotheses[1].source`.
    pub at: String,
    /// What was proposed; empty where nothing was.
    pub was: String,
    /// What stands now; empty where it was struck.
    pub now: String,
}

impl Shown {
    /// Whether a fix is among those that failed here (R17): nothing recommends it.
    pub fn not_to_be_repeated(&self, fix: &str) -> bool {
        let mut failed = self.do_not_repeat.iter();
        failed.any(|entry| crate::incident::sameness::same(&entry.fix, fix))
    }
}

/// Everything that may be shown.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Shown {
    /// Who answered.
    pub engine: Engine,
    /// The model's answer was cut off: it is shown, and said to be incomplete.
    pub cut_off: bool,
    /// One or two sentences; may be empty.
    pub summary: String,
    /// Severity and who says so.
    pub severity: SeverityVerdict,
    /// What memory gave (R4).
    pub memory: MemoryVerdict,
    /// Hypotheses in order (R14), one to four; empty exactly when `cause_not_determined` stands alone.
    pub hypotheses: Vec<Hypothesis>,
    /// No hypothesis rests on memory or report: one card says so (R14).
    pub cause_not_determined: bool,
    /// General ideas, one compact list, never padded to look like knowledge (R14).
    pub general_ideas: Vec<GeneralIdea>,
    /// Four to seven steps, read-only first (R16).
    pub next_steps: Vec<NextStep>,
    /// Fixes that failed here (R17).
    pub do_not_repeat: Vec<DoNotRepeat>,
    /// Causes that history excludes (R13).
    pub ruled_out: Vec<RuledOut>,
    /// The stakeholder update, a set of fields for each audience (R19).
    pub update: StakeholderUpdate,
    /// Warnings.
    pub safety_notes: Vec<String>,
    /// Every change that a rule made, in the order made.
    pub corrections: Vec<Correction>,
}

/// Severity and whose word it is (R30).
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct SeverityVerdict {
    /// The severity.
    pub severity: Severity,
    /// Whose word it is.
    pub by: SeverityBy,
    /// Why; may be empty.
    pub reason: String,
}

/// Who gave a severity.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum SeverityBy {
    /// A person: wins always.
    Person,
    /// The model, as a proposal.
    Model,
    /// The heuristics, as a proposal.
    Rules,
}

/// R4's statuses.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum MemoryStatus {
    /// Memory was off for this run.
    Disabled,
    /// Memory failed: never shown as "no match".
    Unavailable,
    /// Nothing above the floor.
    NoMatch,
    /// Analogies only.
    AnalogyOnly,
    /// Direct matches, none verified, not all refuted.
    Unproven,
    /// Direct matches, at least one refuted, none verified or open.
    RefutedOnly,
    /// Verified and refuted ones.
    Mixed,
    /// Verified, none refuted.
    Proven,
}

impl MemoryStatus {
    /// The word on the wire.
    pub fn word(self) -> &'static str {
        match self {
            Self::Disabled => "disabled",
            Self::Unavailable => "unavailable",
            Self::NoMatch => "no_match",
            Self::AnalogyOnly => "analogy_only",
            Self::Unproven => "unproven",
            Self::RefutedOnly => "refuted_only",
            Self::Mixed => "mixed",
            Self::Proven => "proven",
        }
    }
}

/// What memory gave, with its counts; all counts are of episodes (R4, R11).
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct MemoryVerdict {
    /// The status.
    pub status: MemoryStatus,
    /// References of the recalled set, direct ones first, best first.
    pub refs: Vec<IncidentId>,
    /// Direct episodes.
    pub here: u32,
    /// Of these, verified.
    pub held: u32,
    /// Of these, refuted.
    pub failed: u32,
    /// Of these, open or unknown.
    pub unknown: u32,
    /// Analogies.
    pub elsewhere: u32,
    /// Incidents searched; `None` where memory was off or failed.
    pub searched: Option<u64>,
    /// Of these, on this service.
    pub on_service: Option<u64>,
    /// A source of memory failed: more may have happened than is counted here.
    pub partial: bool,
    /// The episode of this service that was resolved last among the direct ones, for the headline.
    pub last: Option<LastTime>,
}

/// The last direct episode.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct LastTime {
    /// Its incident.
    pub id: IncidentId,
    /// When it was resolved, else when it began.
    pub at: Option<Timestamp>,
    /// What became of its fix.
    pub outcome: Outcome,
    /// Its fix as it may be shown; empty where it has none.
    pub fix: String,
    /// Minutes to its resolution.
    pub minutes: Option<i64>,
}

/// Where a hypothesis comes from, computed (R3).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Source {
    /// A surviving reference; with `Hypothesis::analogy` set, to analogies only.
    Memory,
    /// A quote that stands in the report.
    CurrentEvidence,
    /// Neither.
    GeneralPractice,
}

impl Source {
    /// The word on the wire.
    pub fn word(self) -> &'static str {
        match self {
            Self::Memory => "memory",
            Self::CurrentEvidence => "current_evidence",
            Self::GeneralPractice => "general_practice",
        }
    }
}

/// R12's labels.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Label {
    /// At least 75 without a failure or staleness.
    High,
    /// Everything between.
    Medium,
    /// At most 30, or not scored.
    Low,
}

impl Label {
    /// The word on the wire.
    pub fn word(self) -> &'static str {
        match self {
            Self::High => "high",
            Self::Medium => "medium",
            Self::Low => "low",
        }
    }
}

/// R14's classes, best first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Class {
    /// Proven and not mixed.
    Proven,
    /// With a quote that stands in the report, not refuted.
    Evidence,
    /// Mixed.
    Mixed,
    /// A verified analogy.
    VerifiedAnalogy,
    /// Unproven and general practice.
    Unproven,
    /// Contradicted by the report, or ruled out by history.
    Excluded,
}

/// A cause that may be shown.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Hypothesis {
    /// The cause in a line.
    pub title: String,
    /// Where it comes from (R3).
    pub source: Source,
    /// It rests on analogies only: badge ANALOGY, never more than medium (R7).
    pub analogy: bool,
    /// References that survived, each once.
    pub refs: Vec<CitedIncident>,
    /// Quotes that stand in the report.
    pub evidence: Vec<String>,
    /// What in the report contradicts it, and whose word it is (R13).
    pub contradicted_by: Vec<Contradiction>,
    /// The rule-based score, 0 to 98; `None` is "not scored" (R8).
    pub score: Option<u8>,
    /// R12's label.
    pub label: Label,
    /// R14's class.
    pub class: Class,
    /// The record in counts, for R12's phrase.
    pub record: Record,
    /// The check that would confirm or reject it (R15).
    pub verify: String,
    /// The fix, as stored or as proposed; empty where none may be shown.
    pub fix: String,
    /// The incident whose stored fix it is.
    pub fix_ref: Option<IncidentId>,
    /// History excluded this cause at least as often as it proved it (R13).
    pub ruled_out: bool,
    /// References that excluded it, fewer than proved it: a note on the card (R13).
    pub ruled_out_note: Vec<IncidentId>,
    /// How the score came about, for `/why`.
    pub arithmetic: Arithmetic,
}

/// A reference on a card.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct CitedIncident {
    /// The incident.
    pub id: IncidentId,
    /// Its grade.
    pub grade: Grade,
    /// What became of its fix (after R11).
    pub outcome: Outcome,
    /// Its service, for analogies.
    pub service: Option<String>,
    /// When it was resolved, else when it began.
    pub at: Option<Timestamp>,
    /// Minutes to its resolution.
    pub minutes: Option<i64>,
    /// Its environment.
    pub environment: Option<String>,
    /// The model did not cite it; the code added it because it is an episode of the same fix.
    pub added_by_code: bool,
    /// Only fragments of it are known: no record of our own.
    pub fragment: bool,
}

/// A quote of the report that contradicts a cause.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Contradiction {
    /// The quote.
    pub quote: String,
    /// Whose word it is: the author of a thread message, `None` for the report itself.
    pub author: Option<String>,
    /// Who found it: the model, or the code.
    pub found_by_code: bool,
}

/// The record of a hypothesis's fix in counts of direct episodes.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Record {
    /// Episodes where this fix held.
    pub worked: u32,
    /// Episodes (and this incident's attempts) where it, or a near-same one, was refuted.
    pub failed: u32,
    /// Direct episodes with another confirmed cause.
    pub other_cause: u32,
    /// The newest attempt of this fix failed.
    pub newest_failed: bool,
    /// When the newest attempt of this fix was seen.
    pub newest_at: Option<Timestamp>,
    /// The newest proof is over 365 days old.
    pub stale: bool,
    /// The newest proof has no date.
    pub date_unknown: bool,
    /// A verified analogy is cited and no proof: OTHER SERVICE ONLY.
    pub other_service_only: bool,
    /// How often this fix was tried here, and how; `None` where it was not, or where the hypothesis
    /// rests on nothing of this service.
    pub tried: Option<TriedHere>,
}

/// How often a fix was tried on this service: episodes, and attempts of the incident at hand.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct TriedHere {
    /// It held.
    pub held: u32,
    /// It, or a near-same one, failed.
    pub failed: u32,
    /// Nobody knows yet.
    pub unknown: u32,
    /// When it was last tried.
    pub last_at: Option<Timestamp>,
    /// In which environment it was last tried.
    pub last_environment: Option<String>,
    /// That environment is known to be another than the one at hand.
    pub other_environment: bool,
    /// It was last tried more than twelve months ago: what worked then may not apply now.
    pub long_ago: bool,
}

impl TriedHere {
    /// Times in all.
    pub fn times(&self) -> u32 {
        self.held
            .saturating_add(self.failed)
            .saturating_add(self.unknown)
    }
}

/// How a score came about: the numbers of R8 to R10.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Arithmetic {
    /// The model's number.
    pub model: Option<u8>,
    /// Proofs.
    pub proven: u32,
    /// Refutations.
    pub refuted: u32,
    /// Look-alikes that were something else.
    pub other: u32,
    /// The score after the band of R8 or R9; `None` is "not scored".
    pub banded: Option<u8>,
    /// The caps that applied after it, each with its rule id and bound.
    pub caps: Vec<(String, u8)>,
}

/// An idea from general practice.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct GeneralIdea {
    /// The idea.
    pub title: String,
    /// How to check it; may be empty.
    pub verify: String,
    /// The rule-based score; `None` is "not scored".
    pub score: Option<u8>,
}

/// A step of the checklist.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct NextStep {
    /// What to do.
    pub step: String,
    /// The command; empty where there is none.
    pub command: String,
    /// The risk, computed (R16).
    pub risk: Risk,
    /// What to expect and by when; empty where not known.
    pub expect: String,
    /// How to undo it; empty where not known.
    pub undo: String,
    /// A standard check of the failure class, added by code (R16).
    pub standard: bool,
    /// A time in `expect` or `undo` is a model's estimate (R16).
    pub estimated: bool,
}

impl NextStep {
    /// It changes something: expect and undo are shown, or said to be unknown.
    pub fn changes_something(&self) -> bool {
        self.risk > Risk::ReadOnly
    }

    /// It needs a named approver (R18).
    pub fn needs_approver(&self) -> bool {
        self.risk == Risk::Destructive
    }
}

/// A fix that failed here (R17).
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct DoNotRepeat {
    /// The fix, as it may be shown.
    pub fix: String,
    /// Where it failed; empty where it failed in this incident.
    pub refs: Vec<IncidentId>,
    /// How it failed last.
    pub outcome: Outcome,
    /// How often it held.
    pub held: u32,
    /// How often it failed.
    pub failed: u32,
}

/// A cause that history excludes (R13).
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct RuledOut {
    /// The cause.
    pub cause: String,
    /// Where it was excluded.
    pub refs: Vec<IncidentId>,
    /// How it was checked; may be empty.
    pub reason: String,
}

/// Who reads a stakeholder update (R19).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Audience {
    /// The responders and their neighbours: at most 900 characters.
    Internal,
    /// Customers: at most 500.
    StatusPage,
    /// The executive: at most 700.
    Executive,
}

impl Audience {
    /// All three, the one shown first first.
    pub const ALL: [Self; 3] = [Self::Internal, Self::StatusPage, Self::Executive];

    /// Most characters of the composed text (R19).
    pub fn limit(self) -> usize {
        match self {
            Self::Internal => 900,
            Self::StatusPage => 500,
            Self::Executive => 700,
        }
    }

    /// The word in custom ids and on the wire.
    pub fn word(self) -> &'static str {
        match self {
            Self::Internal => "internal",
            Self::StatusPage => "status_page",
            Self::Executive => "executive",
        }
    }

    /// Reads [`Audience::word`].
    pub fn parse(word: &str) -> Option<Self> {
        Self::ALL
            .into_iter()
            .find(|audience| audience.word() == word)
    }
}

/// The fields of an update, checked for each audience (R19). Empty means "not known yet".
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct StakeholderUpdate {
    /// For responders.
    pub internal: UpdateFields,
    /// For customers.
    pub status_page: UpdateFields,
    /// For the executive.
    pub executive: UpdateFields,
    /// Minutes until the next update, by severity or earlier where asked for.
    pub next_minutes: u32,
    /// Nothing public may be drafted: data may be exposed.
    pub nothing_public: bool,
}

impl StakeholderUpdate {
    /// The fields for one audience.
    pub fn fields(&self, audience: Audience) -> &UpdateFields {
        match audience {
            Audience::Internal => &self.internal,
            Audience::StatusPage => &self.status_page,
            Audience::Executive => &self.executive,
        }
    }
}

/// The fields of one audience. Empty means "not known yet".
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct UpdateFields {
    /// Who notices what.
    pub impact: String,
    /// Since when.
    pub since: String,
    /// What is known.
    pub known: String,
    /// What is not confirmed.
    pub not_confirmed: String,
    /// What is being done.
    pub doing: String,
    /// What changed since the last update.
    pub changed_since: String,
    /// What is needed.
    pub needed: String,
}

/// A validated answer to a follow-up question.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(transparent)]
pub struct Answer(pub(in crate::validation) ShownAnswer);

#[cfg(test)]
impl Answer {
    /// For tests of what reads it; nothing else makes one outside of validation.
    #[allow(dead_code)]
    pub(crate) fn for_test(shown: ShownAnswer) -> Self {
        Self(shown)
    }
}

impl std::ops::Deref for Answer {
    type Target = ShownAnswer;

    fn deref(&self) -> &ShownAnswer {
        &self.0
    }
}

/// What an answer may show.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ShownAnswer {
    /// Who answered.
    pub engine: Engine,
    /// The text; empty means "that is not in the report or in memory".
    pub text: String,
    /// References that survived.
    pub refs: Vec<IncidentId>,
    /// Quotes that stand in the report.
    pub evidence: Vec<String>,
    /// Steps, read-only first; destructive ones keep their warning.
    pub next_steps: Vec<NextStep>,
    /// The answer was cut off.
    pub cut_off: bool,
    /// Every change that a rule made.
    pub corrections: Vec<Correction>,
}

/// A validated triage: what the headline and the thread's name may show.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(transparent)]
pub struct CheckedTriage(pub(in crate::validation) ShownTriage);

#[cfg(test)]
impl CheckedTriage {
    /// For tests of what reads it; nothing else makes one outside of validation.
    #[allow(dead_code)]
    pub(crate) fn for_test(shown: ShownTriage) -> Self {
        Self(shown)
    }
}

impl std::ops::Deref for CheckedTriage {
    type Target = ShownTriage;

    fn deref(&self) -> &ShownTriage {
        &self.0
    }
}

/// What a triage may show and what it feeds.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ShownTriage {
    /// One line.
    pub title: String,
    /// Canonical service, never by the model's word alone (R5).
    pub service: Option<String>,
    /// The severity to go on with: a person's, else the graver of heuristics and model.
    pub severity: Severity,
    /// Symptoms, for recall and record.
    pub symptoms: Vec<String>,
    /// Error lines that stand in the report.
    pub error_signatures: Vec<String>,
    /// Words to recall with.
    pub recall_query: String,
    /// Every change that a rule made.
    pub corrections: Vec<Correction>,
}

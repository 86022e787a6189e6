//! What people see: a validated analysis as Discord payloads, as plain text, and as JSON. Pure.
//!
//! Wanted: the first useful line at once, the record before the number, nothing that a limit cut
//! without saying so, and no text of others that acts. Read on a phone at 3 a.m.
//!
//! Design: a message of an analysis has a [`Slot`] and is composed anew from ([`Analysis`],
//! [`View`]) each time something changes, then edited in place: the same input gives the same
//! payload, so a job that runs twice changes nothing. [`say`] holds every sentence, [`escape`]
//! guards every text of others, [`ink`] lets Discord and the command line share the composition,
//! [`payload`] knows Discord's limits. An analysis takes four messages at most: the headline, the
//! analysis (its progress line, then its cards), the checklist, and the update.
//!
//! Deliberately absent: decisions. What may be claimed is settled in [`crate::validation`]; nothing
//! here takes a [`crate::incident::proposal::Proposal`]. No IO and no clock: [`View::now`] is given.

pub mod alerts;
pub mod answer;
pub mod approval;
mod bleeding;
pub mod cards;
pub mod checklist;
pub mod chronicle;
pub mod custom_id;
pub mod escape;
pub mod headline;
pub mod history;
pub mod ink;
pub mod joining;
pub mod keeping;
pub mod lists;
pub mod modals;
pub mod outcomes;
pub mod past;
pub mod payload;
pub mod progress;
pub mod running;
pub mod say;
pub mod services;
pub mod text;
pub mod trying;
pub mod update;
pub mod why;
pub mod wire;

#[cfg(test)]
pub(crate) mod checks;

pub use alerts::{AlertLine, Alerts, WatchRow, alert_card, suggest_end, watch_line, watch_list};
pub use answer::{AnswerView, answer};
pub use approval::{
    Approval, ApprovalState, Void, approval_request, approval_stands, approval_void, approve_own,
};
pub use cards::{cards, nothing_known};
pub use checklist::checklist;
pub use custom_id::{Action, Asked, CardRef, StepRef};
pub use headline::{headline, incident_show, working};
pub use history::{
    ImportPreview, RememberPrefill, import_done, import_dropped, import_preview, remember_modal,
    review_done, review_question,
};
pub use joining::{join_offer, joined_notice, merged_notice};
pub use keeping::forget_question;
pub use lists::{
    IncidentRow, error, help, how_did_it_go, incident_list, it_went, memory_list, notice,
    offer_reanalysis, private, private_file, service_list, still_fixed,
};
pub use modals::{Prefill, analyze_modal, resolve_modal, tell_modal};
pub use outcomes::{
    OutcomeWord, OutcomesOf, SameQuestion, quietly, same_questions, still_fixed_answered,
    with_outcomes, with_patterns,
};
pub use past::past_incident;
pub use progress::{Precedent, Precedents, Progress, progress};
pub use running::{
    Candidate, LEAD_WITHIN, NO_FIX, Owner, Repeat, Running, SaidBefore, Stand, catch_up, criteria,
    measured, reminder, which_fix,
};
pub use services::{Knows, ServiceChange, service_show, which_service};
pub use text::text;
pub use trying::{Tried, trying, trying_beside};
pub use update::{frozen_update, stand, update_post, update_text};

pub use why::{Spent, Timing, why};
pub use wire::wire;

use crate::incident::{IncidentId, Locale, Outcome, Severity, Status};
use crate::validation::Analysis;
use crate::validation::analysis::{Audience, Class, Contradiction, Hypothesis};
use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// Which message of an analysis a post is; with the incident and the analysis it names one message.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Slot {
    /// In the channel; stands alone.
    Headline,
    /// In the thread: the progress line, then the cards.
    Analysis,
    /// In the thread: next steps.
    Checklist,
    /// In the thread: the stakeholder update.
    Update,
    /// In the thread: an answer, a question of the bot, a notice.
    Reply,
    /// To one person alone.
    Private,
}

impl Slot {
    /// The word stored beside a posted message.
    pub fn word(self) -> &'static str {
        match self {
            Self::Headline => "headline",
            Self::Analysis => "analysis",
            Self::Checklist => "checklist",
            Self::Update => "update",
            Self::Reply => "reply",
            Self::Private => "private",
        }
    }
}

/// A file that goes with a post.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct File {
    /// Its name: `analysis-INC-0107.md`.
    pub name: String,
    /// Its text.
    pub text: String,
}

/// A payload that Discord accepts as it stands. With `files`, `attachments` in the payload names
/// them in order: `files[0]` is id 0.
#[derive(Clone, Debug, PartialEq)]
pub struct Post {
    /// Which message it is.
    pub slot: Slot,
    /// The JSON body; holds every key that an edit in place needs.
    pub payload: Value,
    /// Files to attach.
    pub files: Vec<File>,
}

impl Post {
    /// The body for editing a message that is there: without the flags that only a new one takes.
    pub fn edit(&self) -> Value {
        let mut payload = self.payload.clone();
        if let Some(map) = payload.as_object_mut() {
            map.remove("flags");
        }
        payload
    }
}

/// Who did something, and when.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct By {
    /// Display name.
    pub name: String,
    /// When.
    pub at: Timestamp,
}

/// A ticked step.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tick {
    /// Which step, from 0.
    pub step: usize,
    /// Who ticked it, and when.
    pub by: By,
}

/// What people said about the cause on a card.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum CauseState {
    /// Nothing yet.
    #[default]
    Open,
    /// It is this one.
    Confirmed(By),
    /// It is not.
    NotIt(By),
}

/// What people did with the fix on a card.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum FixState {
    /// Nothing yet.
    #[default]
    Untried,
    /// Somebody tries it.
    Trying(By),
    /// It was tried.
    Outcome(Outcome, By),
}

/// An open incident of another service with the same error (R32): shown above memory, no proof.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ongoing {
    /// Its number.
    pub id: IncidentId,
    /// Its service.
    pub service: String,
    /// Since when it is open.
    pub since: Timestamp,
}

/// Everything beside the analysis that a message shows: the incident, what people did so far, the
/// language and the time of the reader.
#[derive(Clone, Debug, PartialEq)]
pub struct View {
    /// The incident; without one (a dry run) messages carry no buttons.
    pub incident: Option<IncidentId>,
    /// Which analysis of it, from 1.
    pub analysis: u32,
    /// One line: what is wrong.
    pub title: String,
    /// The service, where known.
    pub service: Option<String>,
    /// The severity that counts now.
    pub severity: Severity,
    /// Where the incident stands.
    pub status: Status,
    /// The language of the thread.
    pub locale: Locale,
    /// The time of composing.
    pub now: Timestamp,
    /// Who reported it, by display name; empty where nobody did.
    pub reporter: String,
    /// Who leads, by display name.
    pub lead: Option<String>,
    /// When the impact began, where a person said so.
    pub started_at: Option<Timestamp>,
    /// When the next update is due; `None`: by severity, counted from `now`.
    pub next_update_at: Option<Timestamp>,
    /// The cause that a person confirmed; outside it is called *identified*.
    pub confirmed_cause: Option<String>,
    /// A change came before the impact: a rollback may stop the bleeding.
    pub change_before_impact: bool,
    /// Nobody said who is affected, and no person set the severity: it is asked (R30).
    pub impact_unknown: bool,
    /// The final progress line, shown above the cards; empty: none.
    pub progress: String,
    /// What of the report was not read, in sentences.
    pub notes: Vec<String>,
    /// The incident that this one is a return of, and after how many days (R11).
    pub back_after: Option<(IncidentId, i64)>,
    /// Open incidents elsewhere with the same error.
    pub ongoing: Vec<Ongoing>,
    /// What keeps coming back on this service, as far as it was recalled.
    pub patterns: Vec<crate::incident::LearnedPattern>,
    /// Who and what may help where memory knows nothing of the service.
    pub knows: Knows,
    /// Incidents that were recalled and are forgotten since.
    pub forgotten: Vec<IncidentId>,
    /// Ticked steps.
    pub ticks: Vec<Tick>,
    /// Destructive steps that an approver was asked for.
    pub approvals: Vec<Approval>,
    /// What was said about each cause, by place; missing: nothing.
    pub causes: Vec<CauseState>,
    /// What was written since and contradicts a cause, by place; missing: nothing.
    pub contradicted: Vec<Option<Contradiction>>,
    /// What was done with each fix, by place; missing: nothing.
    pub fixes: Vec<FixState>,
    /// A later analysis replaced this one: its number. Buttons are off.
    pub superseded_by: Option<u32>,
    /// The audience of the update that is shown.
    pub audience: Audience,
    /// Somebody asked for the update (SEV3 and SEV4 don't post it by themselves).
    pub update_shown: bool,
    /// The number under which the shown update is kept, to be marked as sent.
    pub draft: Option<u32>,
    /// Data may be exposed, by the report or by what people said since: nothing public is drafted.
    pub exposed: bool,
    /// What people own of the running incident.
    pub running: Running,
    /// What alerts say of it; `None` where none does.
    pub alerts: Option<Alerts>,
    /// What was changed of the service lately, oldest first.
    pub changes: Vec<crate::incident::change::Change>,
}

impl View {
    /// A fresh view: nobody did anything yet.
    pub fn new(
        title: impl Into<String>,
        severity: Severity,
        locale: Locale,
        now: Timestamp,
    ) -> Self {
        Self {
            incident: None,
            analysis: 1,
            title: title.into(),
            service: None,
            severity,
            status: Status::Investigating,
            locale,
            now,
            reporter: String::new(),
            lead: None,
            started_at: None,
            next_update_at: None,
            confirmed_cause: None,
            change_before_impact: false,
            impact_unknown: false,
            progress: String::new(),
            notes: Vec::new(),
            back_after: None,
            ongoing: Vec::new(),
            patterns: Vec::new(),
            knows: Knows::default(),
            forgotten: Vec::new(),
            ticks: Vec::new(),
            approvals: Vec::new(),
            causes: Vec::new(),
            contradicted: Vec::new(),
            fixes: Vec::new(),
            superseded_by: None,
            audience: Audience::Internal,
            update_shown: false,
            draft: None,
            exposed: false,
            running: Running::default(),
            alerts: None,
            changes: Vec::new(),
        }
    }

    /// Takes over what a case says of returns and patterns: shown above everything else (R11).
    pub fn returned(&mut self, case: &crate::validation::Case) {
        let ledger = &case.ledger;
        self.back_after = ledger.running.as_ref().and_then(|running| {
            crate::validation::episodes::returned(&ledger.people, running, case.memory.direct())
        });
        self.patterns.clone_from(&ledger.patterns);
        self.changes.clone_from(&ledger.changes);
        self.ongoing = ledger
            .ongoing
            .iter()
            .map(|ongoing| Ongoing {
                id: ongoing.id,
                service: ongoing.service.clone(),
                since: ongoing.since,
            })
            .collect();
        self.running.repeat = (ledger.times_lately > 1).then_some(Repeat {
            nth: ledger.times_lately as usize,
            days: crate::validation::case::LATELY_DAYS,
            open_prevention: ledger.open_prevention,
        });
    }

    fn cause(&self, hypothesis: usize) -> &CauseState {
        self.causes.get(hypothesis).unwrap_or(&CauseState::Open)
    }

    /// What was written since the analysis and contradicts the cause at a place.
    fn contradicted_since(&self, hypothesis: usize) -> Option<&Contradiction> {
        self.contradicted.get(hypothesis).and_then(Option::as_ref)
    }

    /// The hypothesis that people go by, with its place: the one that a person confirmed, else the
    /// first that nothing and nobody excludes.
    pub fn leading<'a>(&self, analysis: &'a Analysis) -> Option<(usize, &'a Hypothesis)> {
        let all = || analysis.hypotheses.iter().enumerate();
        let confirmed =
            all().find(|(place, _)| matches!(self.cause(*place), CauseState::Confirmed(_)));
        confirmed.or_else(|| {
            all().find(|(place, hypothesis)| {
                hypothesis.class != Class::Excluded
                    && self.contradicted_since(*place).is_none()
                    && !matches!(self.cause(*place), CauseState::NotIt(_))
            })
        })
    }

    fn fix(&self, hypothesis: usize) -> &FixState {
        self.fixes.get(hypothesis).unwrap_or(&FixState::Untried)
    }

    fn file_name(&self, what: &str) -> String {
        match self.incident {
            Some(id) => format!("{what}-{id}.md"),
            None => format!("{what}.md"),
        }
    }
}

/// Every message of a finished analysis in the order of posting; the update only where it is shown.
pub fn all(analysis: &Analysis, view: &View) -> Vec<Post> {
    let mut posts = vec![
        headline(analysis, view),
        cards(analysis, view),
        checklist(analysis, view),
    ];
    posts.extend(update_post(analysis, view));
    posts
}

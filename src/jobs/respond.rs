//! The stages in order, on one page: a report is redacted, triaged, the past recalled and graded,
//! the incident routed, analysed, the proposal validated.
//!
//! The command line and the bot run the same stages; only the bot posts between them. Each stage
//! that needs a model or memory has an answer without it, and says so (R23).

use super::recollect::{Asked, Recollected, Second, united};
use crate::config::Config;
use crate::incident::proposal::{Proposal, ProposedAnswer};
use crate::incident::{
    Engine, FallbackReason, FixAttempt, IncidentId, Locale, Memory, PastIncident, Recalled,
    Registry, Report, Route, Severity, Tier,
};
use crate::llm::{self, Endpoint, LlmError, Question, Task};
use crate::memory;
use crate::response::fallback::{self, FallbackInput};
use crate::response::prompt::{self, AnalysisInput, FollowUpInput, Prompt, Shrink};
use crate::response::recall::{RecallQuery, Statistics};
use crate::response::redact::{self, Key};
use crate::response::triage::{self, Said, Triage};
use crate::response::{grade, recall, route};
use crate::store::{Measures, Store, StoreError};
use crate::validation::analysis::CheckedTriage;
use crate::validation::{self, Analysis, Case, reading};
use jiff::Timestamp;
use secrecy::ExposeSecret;
use sha2::{Digest, Sha256};
use std::hash::{BuildHasher, Hasher};
use std::time::{Duration, Instant};

/// The stage in which a model refines the triage, in an analysis's measures.
pub(super) const REFINE: &str = "refine";
/// The stage in which the model, or the rules, propose.
pub(super) const ANALYSE: &str = "analyse";

/// The models that may be asked.
#[derive(Clone)]
pub struct Models {
    /// The endpoint; clones share what was learnt of it.
    pub endpoint: Endpoint,
    /// The main model.
    pub main: String,
    /// The one that triages.
    pub triage: String,
    /// The stronger one.
    pub capable: String,
    /// Longest time of one call (R23).
    pub timeout: Duration,
}

impl Models {
    /// The models of a configuration; `None` where none is configured.
    ///
    /// # Errors
    ///
    /// Where the base URL is no address.
    pub fn configured(config: &Config) -> Result<Option<Self>, LlmError> {
        let Some(model) = &config.model else {
            return Ok(None);
        };
        let or_main = |name: &Option<String>| name.clone().unwrap_or_else(|| model.model.clone());
        Ok(Some(Self {
            endpoint: Endpoint::new(&model.base_url, model.api_key.clone(), model.timeout)?,
            triage: or_main(&model.triage_model),
            capable: or_main(&model.capable_model),
            main: model.model.clone(),
            timeout: model.timeout,
        }))
    }

    /// Longest time for all calls of one analysis: one and a half times that of a call (R23).
    pub fn budget(&self) -> Duration {
        self.timeout.mul_f64(1.5)
    }

    fn of(&self, tier: Tier) -> &str {
        match tier {
            Tier::Fast => &self.main,
            Tier::Capable => &self.capable,
        }
    }
}

/// Whether memory can be asked.
#[derive(Clone)]
pub enum Recollection {
    /// It is off for this run.
    Off,
    /// It could not be opened.
    Down,
    /// It can be asked.
    On(memory::Database),
}

/// What the stages work with.
#[derive(Clone)]
pub struct Responder {
    /// Memory.
    pub memory: Recollection,
    /// A second source of candidates; `None` where none is configured.
    pub second: Option<Second>,
    /// Models; `None` where none is configured.
    pub models: Option<Models>,
    /// The key of placeholders for secrets.
    pub redaction: Key,
}

/// What was reported, and what is known of it.
#[derive(Clone, Debug)]
pub struct Reported {
    /// The guild, as stored.
    pub guild: String,
    /// The channel that asks; empty: public records only.
    pub channel: String,
    /// The report, already redacted.
    pub report: Report,
    /// What people said with it.
    pub said: Said,
    /// The services of the guild.
    pub registry: Registry,
    /// The language of the thread.
    pub locale: Locale,
    /// The time of the run.
    pub now: Timestamp,
    /// The incident at hand.
    pub own: Option<IncidentId>,
    /// What was tried in it.
    pub attempts: Vec<FixAttempt>,
}

/// A report that was read, with what memory gave.
#[derive(Clone, Debug)]
pub struct Read {
    /// What the heuristics read.
    pub triage: Triage,
    /// The title that may be shown.
    pub title: String,
    /// What memory was asked.
    query: RecallQuery,
    /// What an answer is checked against.
    pub case: Case,
    guild: String,
    channel: String,
    /// What another model makes of the past: shown to the model, never a source.
    reflection: Option<String>,
    /// What it took so far.
    pub measures: Measures,
}

/// An answer and who gave it.
#[derive(Clone, Debug)]
pub struct Proposed {
    /// The answer, unchecked.
    pub proposal: Proposal,
    /// Who gave it.
    pub engine: Engine,
}

impl Responder {
    /// Redacts every text of a report (R22): the one point at the entrance.
    pub fn redact(&self, report: Report) -> Report {
        let clean = |text: &str| self.redact_text(text);
        Report {
            text: clean(&report.text),
            attachments: report
                .attachments
                .into_iter()
                .map(|mut file| {
                    file.text = clean(&file.text);
                    file.name = clean(&file.name);
                    file
                })
                .collect(),
            thread: report
                .thread
                .into_iter()
                .map(|mut message| {
                    message.text = clean(&message.text);
                    message.author = clean(&message.author);
                    message
                })
                .collect(),
        }
    }

    /// The stages for what is no incident's in a guild: with its key of placeholders.
    pub fn in_guild(&self, guild: &str) -> Self {
        Self {
            redaction: self.redaction.of_guild(guild),
            ..self.clone()
        }
    }

    /// The stages for one incident, by what opened it: equal secrets have equal placeholders in it
    /// and in no other.
    pub fn in_incident(&self, guild: &str, opening: &str) -> Self {
        Self {
            redaction: self.redaction.of_incident(guild, opening),
            ..self.clone()
        }
    }

    /// Redacts one text (R22).
    pub fn redact_text(&self, text: &str) -> String {
        redact::redact(text, &self.redaction).text
    }

    /// Heuristic triage and the first recall: no model, a few milliseconds.
    pub async fn read(&self, reported: Reported) -> Read {
        let mut measures = Measures::default();
        let started = Instant::now();
        let triage = aside(|| triage::triage(&reported.report, &reported.registry, &reported.said));
        let query = recall::query(&reported.report, &triage);
        took(&mut measures, "triage", started);
        let case = Case {
            now: reported.now,
            locale: reported.locale,
            service: triage.service.clone(),
            registry: reported.registry,
            severity: reported.said.severity,
            severity_proposed: triage.severity,
            memory: Memory::Disabled,
            attempts: reported.attempts,
            incident: reported.own,
            failure_class: triage.failure_class,
            impact: triage.impact.clone(),
            since: triage.since.clone(),
            triage_corrections: Vec::new(),
            ledger: Default::default(),
            report: reported.report,
        };
        let mut read = Read {
            title: triage.title.clone(),
            triage,
            query,
            case,
            guild: reported.guild,
            channel: reported.channel,
            reflection: None,
            measures,
        };
        self.recall(&mut read).await;
        read
    }

    /// Asks memory and grades what it gave (R4, R5).
    async fn recall(&self, read: &mut Read) {
        let started = Instant::now();
        let memory = match &self.memory {
            Recollection::On(memory) => memory,
            Recollection::Off => {
                read.case.memory = Memory::Disabled;
                return;
            }
            Recollection::Down => {
                read.case.memory = Memory::Unavailable;
                return;
            }
        };
        let meaning = read.query.meaning();
        let query = memory::Query {
            guild: &read.guild,
            channel: &read.channel,
            words: &read.query.tokens,
            service: read.case.service.as_deref(),
            registry: &read.case.registry,
            own: read.case.incident,
            limit: 0,
            meaning: &meaning,
        };
        let (found, named) = tokio::join!(memory.recall(&query), self.named(asked(read)));
        let graded = |candidates, statistics: &Statistics| -> Vec<Recalled> {
            grade::grade(
                candidates,
                &read.query.prepare_in(statistics),
                read.case.service.as_deref(),
                &read.case.registry,
                read.case.incident,
                grade::Limits::default(),
            )
        };
        read.case.memory = match united(found, named) {
            Recollected::Whole(found) => Memory::Searched {
                recalled: graded(found.candidates, &found.statistics),
                searched: found.searched,
                on_service: found.on_service,
            },
            Recollected::InPart(found) => Memory::Partial {
                recalled: graded(found.candidates, &found.statistics),
                searched: found.searched,
                on_service: found.on_service,
            },
            Recollected::Failed(error) => {
                tracing::error!(
                    error = &error as &dyn std::error::Error,
                    "memory is unavailable for this analysis"
                );
                Memory::Unavailable
            }
        };
        took(&mut read.measures, "recall", started);
    }

    /// What the second source names; `None` where there is no second source.
    pub(super) async fn named(
        &self,
        asked: Asked,
    ) -> Option<Result<Vec<PastIncident>, super::recollect::Missing>> {
        let second = self.second.as_ref()?;
        Some(second.recall(&asked, |text| self.redact_text(text)).await)
    }

    /// The model's triage refines the heuristic one, and memory is asked again (R23); meanwhile the
    /// second source's own model, if it has one, reflects. Whatever goes wrong leaves what the
    /// heuristics read.
    pub async fn refine(&self, read: &mut Read, deadline: Instant) {
        let second = self
            .second
            .as_ref()
            .filter(|_| self.models.is_some() && matches!(self.memory, Recollection::On(_)));
        let question = asked(read);
        let reflecting = async {
            let reflected = second?.reflect(&question).await?;
            Some(self.redact_text(&reflected))
        };
        let (reflection, ()) = tokio::join!(reflecting, self.refine_by_triage(read, deadline));
        read.reflection = reflection;
    }

    async fn refine_by_triage(&self, read: &mut Read, deadline: Instant) {
        let Some(models) = &self.models else { return };
        let started = Instant::now();
        let mut asked = vec![models.triage.as_str()];
        if models.main != models.triage {
            asked.push(&models.main);
        }
        for model in asked {
            let prompt = prompt::triage(
                &read.case.report,
                &read.case.registry,
                read.case.locale,
                Shrink::No,
            );
            let Ok(prompt) = self.checked(prompt) else {
                break;
            };
            let budget = models
                .timeout
                .min(deadline.saturating_duration_since(Instant::now()));
            match self
                .ask(
                    models,
                    model,
                    Task::Triage,
                    prompt,
                    budget,
                    &mut read.measures,
                )
                .await
            {
                Ok(answer) => {
                    if let Ok(proposed) = reading::triage(&answer.text, answer.cut_off) {
                        let checked = validation::triage(&read.case, &read.title, &proposed);
                        self.apply(read, &checked).await;
                        break;
                    }
                }
                Err(error) if error_is_lasting(&error) => break,
                Err(_) => {}
            }
        }
        took(&mut read.measures, REFINE, started);
    }

    async fn apply(&self, read: &mut Read, checked: &CheckedTriage) {
        read.title.clone_from(&checked.title);
        read.case
            .triage_corrections
            .clone_from(&checked.corrections);
        if read.case.severity.is_none() {
            read.case.severity_proposed = checked.severity;
        }
        read.query = recall::refine_query(
            &read.query,
            &checked.title,
            &checked.symptoms,
            &checked.error_signatures,
            &checked.recall_query,
        );
        self.recall(read).await;
    }

    /// The routing decision; to be stored before the model is called (R26).
    pub fn route(&self, read: &Read) -> Route {
        route::route(&route::RouteInput {
            service: read.case.service.as_deref(),
            registry: &read.case.registry,
            severity: read.severity(),
            memory: &read.case.memory,
            own_attempts: &read.case.attempts,
            implicated_files: &read.triage.implicated_files,
            log_lines: read.triage.log_lines,
            text: &read.case.report.told(),
        })
    }

    /// Asks the model of the route; the rule-based engine answers where none does (R23).
    pub async fn propose(&self, read: &mut Read, route: &Route, deadline: Instant) -> Proposed {
        let Some(models) = self.models.clone() else {
            return self.fall_back(read, FallbackReason::NotConfigured);
        };
        let started = Instant::now();
        let result = self.ask_analysis(&models, read, route, deadline).await;
        took(&mut read.measures, ANALYSE, started);
        match result {
            Ok((proposal, model)) => Proposed {
                proposal,
                engine: Engine::Model {
                    model,
                    tier: route.tier,
                },
            },
            Err(reason) => self.fall_back(read, reason),
        }
    }

    async fn ask_analysis(
        &self,
        models: &Models,
        read: &mut Read,
        route: &Route,
        deadline: Instant,
    ) -> Result<(Proposal, String), FallbackReason> {
        let mut asked = vec![models.of(route.tier).to_owned()];
        if models.main != models.of(route.tier) {
            asked.push(models.main.clone());
        }
        let mut last = FallbackReason::Timeout {
            seconds: models.budget().as_secs(),
        };
        for model in asked {
            let mut shrink = Shrink::No;
            let mut unreadable: Option<String> = None;
            loop {
                let left = deadline.saturating_duration_since(Instant::now());
                if left.is_zero() {
                    return Err(last);
                }
                let mut prompt = prompt::analysis(
                    &AnalysisInput {
                        report: &read.case.report,
                        service: read.case.service.as_deref(),
                        severity: read.severity(),
                        severity_by_person: read.case.severity.is_some(),
                        memory: &read.case.memory,
                        reflection: read.reflection.as_deref(),
                        attempts: &read.case.attempts,
                        ruled_out: read
                            .case
                            .ledger
                            .running
                            .as_ref()
                            .map_or(&[][..], |running| &running.ruled_out),
                        patterns: &read.case.ledger.patterns,
                        ongoing: &read.case.ledger.ongoing,
                        changes: &read.case.ledger.changes,
                        failure_class: read.case.failure_class,
                        locale: read.case.locale,
                        now: read.case.now,
                    },
                    shrink,
                );
                if let Some(why) = &unreadable {
                    prompt
                        .system
                        .push_str("\nYour last answer could not be read: ");
                    prompt.system.push_str(why);
                    prompt
                        .system
                        .push_str(". Answer with one JSON object and nothing else.");
                }
                let prompt = self.checked(prompt)?;
                let budget = models.timeout.min(left);
                match self
                    .ask(
                        models,
                        &model,
                        Task::Analysis,
                        prompt,
                        budget,
                        &mut read.measures,
                    )
                    .await
                {
                    Ok(answer) => match reading::analysis(&answer.text, answer.cut_off) {
                        Ok(proposal) => return Ok((proposal, model)),
                        Err(why) => {
                            last = if answer.cut_off {
                                FallbackReason::CutOff
                            } else {
                                FallbackReason::Unreadable
                            };
                            // One more try with the reason, while there is time for a whole one.
                            if unreadable.is_some()
                                || deadline.saturating_duration_since(Instant::now())
                                    < models.timeout / 3
                            {
                                break;
                            }
                            unreadable = Some(why.to_string());
                        }
                    },
                    Err(LlmError::TooLarge { .. }) if shrink.smaller().is_some() => {
                        last = FallbackReason::TooLarge;
                        if let Some(smaller) = shrink.smaller() {
                            shrink = smaller;
                        }
                    }
                    Err(error) => {
                        last = reason_of(&error);
                        if error_is_lasting(&error) {
                            return Err(last);
                        }
                        break;
                    }
                }
            }
        }
        Err(last)
    }

    /// What goes to a model, once more without secrets: whatever it was put together from. Where that
    /// can't be made sure nothing is sent (R22).
    fn checked(&self, mut prompt: Prompt) -> Result<Prompt, FallbackReason> {
        let redacted = redact::redact(&prompt.user, &self.redaction);
        if redacted.unread > 0 || redact::has_unread(&redacted.text) {
            return Err(FallbackReason::Withheld);
        }
        prompt.user = redacted.text;
        Ok(prompt)
    }

    /// One question; the answer leaves redacted (R22: again at the exit).
    async fn ask(
        &self,
        models: &Models,
        model: &str,
        task: Task,
        prompt: Prompt,
        budget: Duration,
        measures: &mut Measures,
    ) -> Result<llm::Answer, LlmError> {
        let question = Question {
            task,
            model: model.to_owned(),
            system: prompt.system,
            user: prompt.user,
            schema: prompt.schema,
            max_completion_tokens: prompt.max_completion_tokens,
        };
        measures.calls += 1;
        let mut answer = models.endpoint.ask(&question, budget).await?;
        let sent = u64::from(answer.prompt_tokens.unwrap_or(prompt.estimated_tokens));
        let received = u64::from(answer.completion_tokens.unwrap_or(0));
        measures.prompt_tokens += sent;
        measures.completion_tokens += received;
        let stage = match task {
            Task::Triage => REFINE,
            _ => ANALYSE,
        };
        let tokens = measures.stage_tokens.entry(stage.to_owned()).or_default();
        *tokens = (tokens.0 + sent, tokens.1 + received);
        answer.text = redact::redact_answer(&answer.text, &self.redaction).text;
        Ok(answer)
    }

    /// The rule-based answer.
    pub fn fall_back(&self, read: &Read, reason: FallbackReason) -> Proposed {
        let proposal = fallback::propose(&FallbackInput {
            report: &read.case.report,
            service: read.case.service.as_deref(),
            memory: &read.case.memory,
            own_attempts: &read.case.attempts,
            failure_class: read.case.failure_class,
            severity: read.severity(),
            impact: read.triage.impact.as_deref(),
            since: read.triage.since.as_deref(),
            change_before: read.triage.change_before.as_deref(),
            symptoms: &read.triage.symptoms,
            error_lines: &read.triage.error_signatures,
            locale: read.case.locale,
        });
        Proposed {
            proposal,
            engine: Engine::Fallback { reason },
        }
    }

    /// Answers a question about an incident; the rule-based engine where no model does (R23).
    pub async fn answer(
        &self,
        read: &mut Read,
        question: &str,
        shown: &[String],
        deadline: Instant,
        over_limit: Option<u64>,
    ) -> validation::Answer {
        let (proposed, engine) = match self
            .ask_question(read, question, shown, deadline, over_limit)
            .await
        {
            Ok((proposed, engine)) => (proposed, engine),
            Err(reason) => (
                fallback::answer(
                    question,
                    &read.case.report,
                    &read.case.memory,
                    read.case.locale,
                ),
                Engine::Fallback { reason },
            ),
        };
        validation::answer(&read.case, &proposed, engine)
    }

    async fn ask_question(
        &self,
        read: &mut Read,
        question: &str,
        shown: &[String],
        deadline: Instant,
        over_limit: Option<u64>,
    ) -> Result<(ProposedAnswer, Engine), FallbackReason> {
        let Some(models) = self.models.clone() else {
            return Err(FallbackReason::NotConfigured);
        };
        if let Some(seconds) = over_limit {
            return Err(FallbackReason::Budget {
                retry_after_seconds: seconds,
            });
        }
        let mut shrink = Shrink::No;
        loop {
            let prompt = prompt::follow_up(
                &FollowUpInput {
                    question,
                    report: &read.case.report,
                    service: read.case.service.as_deref(),
                    shown,
                    memory: &read.case.memory,
                    locale: read.case.locale,
                    now: read.case.now,
                },
                shrink,
            );
            let prompt = self.checked(prompt)?;
            let budget = models
                .timeout
                .min(deadline.saturating_duration_since(Instant::now()));
            let model = models.main.clone();
            match self
                .ask(
                    &models,
                    &model,
                    Task::FollowUp,
                    prompt,
                    budget,
                    &mut read.measures,
                )
                .await
            {
                Ok(answer) => {
                    let proposed =
                        reading::follow_up(&answer.text, answer.cut_off).map_err(|_| {
                            if answer.cut_off {
                                FallbackReason::CutOff
                            } else {
                                FallbackReason::Unreadable
                            }
                        })?;
                    return Ok((
                        proposed,
                        Engine::Model {
                            model,
                            tier: Tier::Fast,
                        },
                    ));
                }
                Err(error @ LlmError::TooLarge { .. }) => match shrink.smaller() {
                    Some(smaller) => shrink = smaller,
                    None => return Err(reason_of(&error)),
                },
                Err(error) => return Err(reason_of(&error)),
            }
        }
    }

    /// What may be shown.
    pub fn validate(&self, read: &mut Read, proposed: &Proposed) -> Analysis {
        let started = Instant::now();
        let analysis =
            aside(|| validation::analysis(&read.case, &proposed.proposal, proposed.engine.clone()));
        took(&mut read.measures, "validate", started);
        analysis
    }

    /// All stages, one after the other; for the command line.
    pub async fn respond(&self, reported: Reported) -> (Read, Route, Proposed, Analysis) {
        let mut read = self.read(reported).await;
        let deadline = Instant::now() + self.models.as_ref().map_or(Duration::ZERO, Models::budget);
        self.refine(&mut read, deadline).await;
        let route = self.route(&read);
        let proposed = self.propose(&mut read, &route, deadline).await;
        let analysis = self.validate(&mut read, &proposed);
        (read, route, proposed, analysis)
    }
}

/// What the second source is asked: the report's own words that tell most, first.
fn asked(read: &Read) -> Asked {
    let mut lines: Vec<&str> = Vec::new();
    let headline = read.query.headline.iter().map(String::as_str);
    let signatures = read.query.signature_lines.iter().map(String::as_str);
    for line in headline
        .chain(signatures)
        .chain(std::iter::once(read.query.text.as_str()))
    {
        if !lines.contains(&line) {
            lines.push(line);
        }
    }
    Asked {
        guild: read.guild.clone(),
        channel: read.channel.clone(),
        own: read.case.incident,
        question: lines.join("\n"),
    }
}

/// Computes where it holds nobody up: long logs take long, and acknowledgements and clocks share the
/// runtime's few threads. In place where the runtime has but one.
pub(super) fn aside<T>(compute: impl FnOnce() -> T) -> T {
    use tokio::runtime::{Handle, RuntimeFlavor};
    match Handle::try_current().map(|runtime| runtime.runtime_flavor()) {
        Ok(RuntimeFlavor::MultiThread) => tokio::task::block_in_place(compute),
        _ => compute(),
    }
}

impl Read {
    /// The severity in force: a person's, else the proposed one.
    pub fn severity(&self) -> Severity {
        self.case.severity.unwrap_or(self.case.severity_proposed)
    }
}

/// The key of placeholders for secrets (R22): of a random key that the database keeps, and of the
/// bot's token, which it does not hold. So a restart keeps equal secrets equal, and a copy of the
/// database alone tells nobody which secret a placeholder stands for.
///
/// # Errors
///
/// Where the database can't be asked.
pub async fn installation_key(config: &Config, store: &Store) -> Result<Key, StoreError> {
    let kept = store.kept_key(&fresh_key()).await?;
    Ok(key_from(config, kept.as_bytes()))
}

/// As [`installation_key`], for a run that keeps nothing: its placeholders are its own.
pub fn passing_key(config: &Config) -> Key {
    key_from(config, &fresh_key())
}

fn key_from(config: &Config, kept: &[u8]) -> Key {
    let mut hash = Sha256::new();
    hash.update(b"precedent redaction 2");
    hash.update(kept);
    if let Some(discord) = &config.discord {
        hash.update(discord.token.expose_secret().as_bytes());
    }
    Key::new(hash.finalize().into())
}

fn fresh_key() -> [u8; 32] {
    let mut fresh = [0; 32];
    if getrandom::fill(&mut fresh).is_err() {
        // A system without its own randomness: the standard library's, which it mixes itself.
        for part in fresh.chunks_mut(8) {
            let mut hasher = std::collections::hash_map::RandomState::new().build_hasher();
            hasher.write_u8(0);
            part.copy_from_slice(&hasher.finish().to_le_bytes());
        }
    }
    fresh
}

fn took(measures: &mut Measures, stage: &str, started: Instant) {
    let millis = u64::try_from(started.elapsed().as_millis()).unwrap_or(u64::MAX);
    *measures.stage_millis.entry(stage.to_owned()).or_default() += millis;
}

/// Errors after which another model at the same endpoint would fare no better.
fn error_is_lasting(error: &LlmError) -> bool {
    matches!(
        error,
        LlmError::BadKey | LlmError::Unreachable | LlmError::BadAddress
    )
}

/// What a model's failure is called.
pub fn reason_of(error: &LlmError) -> FallbackReason {
    // Rounded up: nobody is told to come back too early, or that no time was given at all.
    let whole = |wait: Duration| wait.as_secs() + u64::from(wait.subsec_nanos() > 0);
    let seconds = |wait: Option<Duration>| wait.map(whole);
    match error {
        LlmError::RateLimited { .. } => FallbackReason::RateLimited {
            retry_after_seconds: seconds(error.retry_after()),
        },
        LlmError::DailyLimit { .. } => FallbackReason::DailyLimit {
            retry_after_seconds: seconds(error.retry_after()),
        },
        LlmError::TooLarge { .. } => FallbackReason::TooLarge,
        LlmError::Overloaded { .. } => FallbackReason::Overloaded,
        LlmError::BadKey => FallbackReason::BadKey,
        LlmError::ModelGone { .. } => FallbackReason::ModelGone,
        LlmError::Timeout { after } => FallbackReason::Timeout {
            seconds: whole(*after),
        },
        LlmError::Unreachable | LlmError::BadAddress => FallbackReason::Unreachable,
        LlmError::Unreadable { .. } => FallbackReason::Unreadable,
        LlmError::Refused { status } => FallbackReason::Refused { status: *status },
    }
}

//! Everything a job works with, and what jobs share: how an incident is found, shown and posted.

use super::limits::Limiter;
use super::queue::{JobError, Queue};
use super::respond::{Responder, aside};
use super::work::Work;
use crate::discord::{self, DiscordError, Reply, Rest};
use crate::incident::sameness::same;
use crate::incident::{IncidentId, Locale, Outcome, Registry, Right};
use crate::present::say::{self, Trouble};
use crate::present::{self, By, CauseState, FixState, Post, View};
use crate::response::triage;
use crate::store::{Event, Incident, PostKey, Scope, Store, StoreError, StoredAnalysis};
use crate::validation::analysis::Audience;
use crate::validation::{self, Analysis};
use jiff::Timestamp;
use serde::Serialize;
use serde::de::DeserializeOwned;
use sha2::{Digest, Sha256};
use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::{Duration, Instant};
use tokio::sync::watch;

/// How long a job waits for the acknowledgement of the interaction that started it.
const ACKNOWLEDGED_WITHIN: Duration = Duration::from_secs(4);
/// How long it waits for the acknowledgements of others; a stream of them does not hold it up.
const OTHERS_WITHIN: Duration = Duration::from_secs(1);
/// Interactions that are remembered; a resumed session replays far fewer.
const REMEMBERED: usize = 1024;
/// Own messages that are looked through for a post whose id was lost.
const RECENT: usize = 50;

/// What a job works with.
#[derive(Clone)]
pub struct Duty {
    /// The database.
    pub store: Store,
    /// The stages.
    pub responder: Responder,
    /// Discord.
    pub rest: Rest,
    /// Limits and budgets.
    pub limiter: Arc<Limiter>,
    /// The queue, once it runs.
    pub queue: Arc<OnceLock<Queue>>,
    /// Acknowledgements that are under way.
    pub acknowledgements: Arc<Acknowledgements>,
    /// One job an incident at a time, where it reads what it then writes.
    pub turns: Arc<Turns>,
    /// When what alerts say of an incident was last written.
    pub written: Arc<Written>,
    /// After so long without a model the rule-based cards are shown as provisional (R23).
    pub provisional_after: Duration,
    /// Incidents that ended so many days ago are forgotten; `None`: never.
    pub retention_days: Option<u32>,
    /// The bot asks to read what others write: without it no alert can be read.
    pub reads_messages: bool,
}

/// Acknowledgements that are under way: a job does not answer an interaction before them. And the
/// interactions that came lately, so that one that comes twice is answered once.
#[derive(Default)]
pub struct Acknowledgements {
    under_way: Mutex<HashMap<u64, watch::Receiver<bool>>>,
    lately: Mutex<VecDeque<u64>>,
    /// How many are under way.
    open: watch::Sender<usize>,
}

impl Acknowledgements {
    /// Whether this process sees the interaction for the first time, as far as it remembers.
    pub fn first(&self, interaction: u64) -> bool {
        let mut lately = self.lately.lock().unwrap_or_else(PoisonError::into_inner);
        if lately.contains(&interaction) {
            return false;
        }
        if lately.len() == REMEMBERED {
            lately.pop_front();
        }
        lately.push_back(interaction);
        true
    }

    /// An acknowledgement begins; dropping the sender ends it, whatever became of it.
    pub fn begin(&self, interaction: u64) -> Pending<'_> {
        let (sender, receiver) = watch::channel(false);
        self.open.send_modify(|open| *open += 1);
        self.under_way
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .insert(interaction, receiver);
        Pending {
            all: self,
            interaction,
            sender,
        }
    }

    /// Waits until the acknowledgement is over, if one is under way; and a little for those of
    /// others, so that of two hundred who come at once the last does not wait for the work of the
    /// first.
    pub async fn wait(&self, interaction: u64) {
        let waiting = self
            .under_way
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .get(&interaction)
            .cloned();
        if let Some(mut waiting) = waiting {
            let over = waiting.wait_for(|done| *done);
            // The sender may be gone already: then it is over as well.
            let _ended = tokio::time::timeout(ACKNOWLEDGED_WITHIN, over).await;
        }
        let mut others = self.open.subscribe();
        let quiet = others.wait_for(|open| *open == 0);
        let _quiet = tokio::time::timeout(OTHERS_WITHIN, quiet).await;
    }
}

/// An acknowledgement that is under way.
pub struct Pending<'a> {
    all: &'a Acknowledgements,
    interaction: u64,
    sender: watch::Sender<bool>,
}

impl Drop for Pending<'_> {
    fn drop(&mut self) {
        self.sender.send_replace(true);
        self.all
            .under_way
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .remove(&self.interaction);
        self.all
            .open
            .send_modify(|open| *open = open.saturating_sub(1));
    }
}

/// One turn at a time for each incident.
#[derive(Default)]
pub struct Turns(Mutex<HashMap<(u64, u32), Turn>>);

type Turn = Arc<tokio::sync::Mutex<()>>;

impl Turns {
    /// Waits for the incident's turn and holds it.
    pub async fn take(&self, guild: u64, incident: u32) -> tokio::sync::OwnedMutexGuard<()> {
        let turn = {
            let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            all.retain(|key, turn| Arc::strong_count(turn) > 1 || *key == (guild, incident));
            Arc::clone(all.entry((guild, incident)).or_default())
        };
        turn.lock_owned().await
    }
}

/// When what alerts say of an incident was last written, by this process: what is decided at a steady
/// pace is written at none, where one request takes longer than the next.
#[derive(Default)]
pub struct Written(Mutex<HashMap<(u64, u32), Instant>>);

impl Written {
    /// Waits until the last writing is so long ago.
    pub async fn wait(&self, guild: u64, incident: u32, pause: Duration) {
        let last = {
            let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            all.retain(|_, at| at.elapsed() < pause);
            all.get(&(guild, incident)).copied()
        };
        if let Some(last) = last {
            tokio::time::sleep_until((last + pause).into()).await;
        }
    }

    /// It was written now.
    pub fn note(&self, guild: u64, incident: u32) {
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        all.insert((guild, incident), Instant::now());
    }
}

/// Where something is posted, and what had to be said about it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Posted {
    /// The channel or thread it went to.
    pub channel: u64,
    /// The message.
    pub message: u64,
}

impl Duty {
    /// Commits work, keyed.
    ///
    /// # Errors
    ///
    /// Where the database does not take it.
    pub async fn commit(&self, work: &Work) -> Result<(), StoreError> {
        self.commit_at(work, None).await
    }

    /// Commits work that is to be done later.
    ///
    /// # Errors
    ///
    /// Where the database does not take it.
    pub async fn commit_at(&self, work: &Work, at: Option<Timestamp>) -> Result<(), StoreError> {
        let Some(queue) = self.queue.get() else {
            return Err(StoreError::Unavailable(None));
        };
        let command = work
            .command()
            .map_err(|error| StoreError::Invalid(error.to_string()))?;
        match at {
            None => queue.commit(command).await.map(drop),
            Some(at) => queue.commit_at(command, at).await.map(drop),
        }
    }

    /// What a person's press means, decided once: a job that runs again does and says the same,
    /// although what it finds by then is what it did before. [`Duty::settled`] ends it.
    ///
    /// # Errors
    ///
    /// Those of the database and of deciding.
    pub async fn decided<T: Serialize + DeserializeOwned>(
        &self,
        guild: &str,
        press: &str,
        by: &str,
        decide: impl Future<Output = Result<T, JobError>>,
    ) -> Result<T, JobError> {
        if let Some(kept) = self.store.preview(guild, press).await? {
            return serde_json::from_str(&kept)
                .map_err(|_| JobError::never("a decision was kept by another version"));
        }
        let decision = decide.await?;
        let kept = serde_json::to_string(&decision)
            .map_err(|_| JobError::never("a decision can't be written as JSON"))?;
        self.store
            .keep_preview(guild, press, by, &kept, Timestamp::now())
            .await?;
        Ok(decision)
    }

    /// Everything that a press decided is done and said.
    ///
    /// # Errors
    ///
    /// Those of the database.
    pub async fn settled(&self, guild: &str, press: &str) -> Result<(), JobError> {
        Ok(self.store.drop_preview(guild, press).await?)
    }

    /// Does something unless it was done: it counts as done only when it is, so that what fails is
    /// done when its job runs again. Where the process dies in between it is done twice, so it is
    /// something that can be.
    ///
    /// # Errors
    ///
    /// Those of the database and of doing it.
    pub async fn once(
        &self,
        what: &str,
        act: impl Future<Output = Result<(), JobError>>,
    ) -> Result<(), JobError> {
        if !self.store.has_met(what).await? {
            act.await?;
            self.store.first_time(what, Timestamp::now()).await?;
        }
        Ok(())
    }

    /// The scope in which a place may see incidents: its channel, or that of the incident whose
    /// thread it is.
    ///
    /// # Errors
    ///
    /// Those of the database.
    pub async fn scope(
        &self,
        place: &discord::Place,
    ) -> Result<(Scope, Option<Incident>), StoreError> {
        let guild = place.guild.to_string();
        let channel = place.channel.to_string();
        if (place.thread || !place.known)
            && let Some(incident) = self.store.by_thread(&guild, &channel).await?
        {
            return Ok((Scope::new(guild, incident.channel.clone()), Some(incident)));
        }
        let seen_from = match place.parent {
            // A public thread of a channel sees what the channel sees.
            Some(parent) if !place.private => parent.to_string(),
            _ => channel,
        };
        Ok((Scope::new(guild, seen_from), None))
    }

    /// Whether an incident may be seen from a place. One that is gone is for whoever looks for it.
    ///
    /// # Errors
    ///
    /// Those of the database.
    pub async fn sees(
        &self,
        place: &discord::Place,
        incident: IncidentId,
    ) -> Result<bool, StoreError> {
        let (scope, _) = self.scope(place).await?;
        match self.store.incident(&scope, incident).await {
            Ok(_) => Ok(true),
            Err(StoreError::NotFound) => Ok(self
                .store
                .incident_of_guild(&scope.guild, incident)
                .await?
                .is_none()),
            Err(error) => Err(error),
        }
    }

    /// Whether a person may do what takes a right: by their permissions where they ask, else by a
    /// role that the guild has set for it.
    ///
    /// # Errors
    ///
    /// Those of the database, which is asked only where permissions don't suffice.
    pub async fn allowed(
        &self,
        may: &discord::May,
        guild: u64,
        right: Right,
    ) -> Result<bool, StoreError> {
        let by_permission = match right {
            Right::Write => true,
            Right::Respond => may.manage_threads || may.manage_guild,
            Right::Administer | Right::Own => may.manage_guild,
        };
        if by_permission || right == Right::Own || may.roles.is_empty() {
            return Ok(by_permission);
        }
        let set = self.store.roles(&guild.to_string()).await?;
        let has = |role: Option<u64>| role.is_some_and(|role| may.roles.contains(&role));
        Ok(match right {
            Right::Respond => has(set.responders) || has(set.administrators),
            Right::Administer => has(set.administrators),
            Right::Write | Right::Own => by_permission,
        })
    }

    /// The services of a guild; none where the database does not answer (the analysis goes on).
    pub async fn registry(&self, guild: &str) -> Registry {
        match self.store.services(guild).await {
            Ok(registry) => registry,
            Err(error) => {
                tracing::error!(
                    error = &error as &dyn std::error::Error,
                    "services can't be read"
                );
                Registry::default()
            }
        }
    }

    /// A stored answer as it may be shown: only through validation.
    pub fn shown(&self, stored: &StoredAnalysis) -> Option<Analysis> {
        let (proposal, engine) = (stored.proposal.as_ref()?, stored.engine.clone()?);
        Some(aside(|| {
            validation::analysis(&stored.case, proposal, engine)
        }))
    }

    /// Everything beside the analysis that a message shows.
    ///
    /// # Errors
    ///
    /// Those of the database.
    pub async fn view(
        &self,
        incident: &Incident,
        stored: &StoredAnalysis,
        analysis: &Analysis,
        now: Timestamp,
    ) -> Result<View, StoreError> {
        let scope = scope_of(incident);
        let id = incident.id();
        let mut view = View::new(
            incident.past.title.clone(),
            incident.severity.unwrap_or(analysis.severity.severity),
            incident.locale,
            now,
        );
        view.incident = Some(id);
        view.analysis = stored.seq;
        view.service.clone_from(&incident.past.service);
        view.status = incident.status;
        view.reporter = reporter_name(&incident.reporter).to_owned();
        view.lead = incident
            .lead
            .as_deref()
            .map(reporter_name)
            .map(str::to_owned);
        view.running = self.running(incident).await?;
        view.next_update_at = incident.next_update_at;
        let report = incident.report.as_ref().map(|report| report.all_text());
        view.exposed = analysis.update.nothing_public
            || validation::update::tells_of_exposure(
                report
                    .as_deref()
                    .into_iter()
                    .chain(incident.impact.fields()),
            );
        if !incident.impact.is_empty() {
            let tried = view.running.tried.iter().map(|attempt| attempt.by.as_str());
            let people: Vec<&str> = [Some(view.reporter.as_str()), view.lead.as_deref()]
                .into_iter()
                .chain([view.running.comms.as_deref()])
                .flatten()
                .chain(tried)
                .filter(|name| !name.is_empty())
                .collect();
            let told = |audience| {
                validation::update::impact_for(
                    &stored.case,
                    analysis,
                    &incident.impact,
                    &people,
                    incident.past.cause_confirmed,
                    audience,
                )
            };
            view.running.impact_outside = (told(Audience::Executive), told(Audience::StatusPage));
        }
        view.running.owners = self
            .store
            .step_owners(&scope, id, stored.seq)
            .await?
            .into_iter()
            .map(|owner| present::Owner {
                step: usize::try_from(owner.step).unwrap_or(usize::MAX),
                by: By {
                    name: reporter_name(&owner.by).to_owned(),
                    at: owner.at,
                },
            })
            .collect();
        // What memory takes for the beginning, where nobody said it, is no word of a person.
        view.started_at = incident.times().started;
        view.returned(&stored.case);
        // What was open elsewhere may be over, merged or another channel's by now.
        let mut ongoing = Vec::with_capacity(view.ongoing.len());
        for other in std::mem::take(&mut view.ongoing) {
            let known = self.store.incident(&scope, other.id).await;
            if known.is_ok_and(|known| known.status.is_open() && known.private == incident.private)
            {
                ongoing.push(other);
            }
        }
        view.ongoing = ongoing;
        view.alerts = Box::pin(self.alerts_shown(incident)).await?;
        view.confirmed_cause = incident
            .past
            .cause_confirmed
            .then(|| incident.past.root_cause.clone());
        view.impact_unknown = stored.case.impact.is_none()
            && incident.impact.is_empty()
            && incident.severity_by.is_none();
        if view.severity.is_grave() {
            let said = triage::Said {
                service: stored.case.service.clone(),
                severity: stored.case.severity,
            };
            let read = triage::triage(&stored.case.report, &stored.case.registry, &said);
            view.change_before_impact = read.change_before.is_some();
        }
        // A tombstone keeps the number alone.
        let tombstone = say::forgotten_words(stored.case.locale);
        let recalled = stored.case.memory.recalled().iter();
        for one in recalled.filter(|one| one.incident.title == tombstone) {
            if self
                .store
                .forgotten(&scope, one.incident.id)
                .await?
                .is_some()
            {
                view.forgotten.push(one.incident.id);
            }
        }
        if let Some(service) = &incident.past.service
            && present::nothing_known(analysis)
        {
            let registry = self.registry(&incident.guild).await;
            view.knows = super::registry::knows(self, &scope, &registry, service).await?;
        }
        view.notes = incident
            .report
            .iter()
            .flat_map(|report| &report.attachments)
            .map(|file| file.note.clone())
            .filter(|note| !note.is_empty())
            .collect();
        let later = self
            .store
            .latest_analysis(&scope, id)
            .await?
            .filter(|latest| latest.seq > stored.seq && latest.proposal.is_some());
        view.superseded_by = later.map(|latest| latest.seq);
        view.ticks = self
            .store
            .ticks(&scope, id, stored.seq)
            .await?
            .into_iter()
            .filter(|tick| tick.ticked)
            .map(|tick| present::Tick {
                step: usize::try_from(tick.step).unwrap_or(usize::MAX),
                by: By {
                    name: tick.by,
                    at: tick.at,
                },
            })
            .collect();
        let asked = self.store.approvals(&scope, id, stored.seq).await?;
        view.approvals = super::approval::shown(&asked, analysis);
        let attempts = self.store.attempts(&scope, id).await?;
        view.fixes = (0..analysis.hypotheses.len())
            .map(|place| {
                let key = attempt_key(stored.seq, place);
                attempts
                    .iter()
                    .find(|attempt| attempt.key == key && !attempt.withdrawn)
                    // Where something is forgotten since, cards may stand in another order.
                    .filter(|attempt| {
                        view.forgotten.is_empty()
                            || analysis
                                .hypotheses
                                .get(place)
                                .is_some_and(|card| same(&attempt.fix.fix, &card.fix))
                    })
                    .map_or(FixState::Untried, |attempt| {
                        let by = By {
                            name: attempt.fix.by.clone(),
                            at: attempt.fix.at.unwrap_or(now),
                        };
                        match attempt.fix.outcome {
                            Outcome::Unknown => FixState::Trying(by),
                            outcome => FixState::Outcome(outcome, by),
                        }
                    })
            })
            .collect();
        if let Some(report) = &incident.report
            && report.thread != stored.case.report.thread
        {
            view.contradicted = aside(|| validation::contradicted_since(analysis, report));
        }
        let history = self.store.history(&scope, id).await?;
        view.causes = analysis
            .hypotheses
            .iter()
            .map(|hypothesis| {
                word_of_cause(&history, &hypothesis.title).map_or(CauseState::Open, |event| {
                    let by = By {
                        name: event.by.clone(),
                        at: event.at,
                    };
                    match event.what.as_str() {
                        "cause_confirmed" => CauseState::Confirmed(by),
                        "cause_rejected" => CauseState::NotIt(by),
                        _ => CauseState::Open,
                    }
                })
            })
            .collect();
        Ok(view)
    }

    /// Whether somebody has clicked something on an analysis: then its cards no longer move.
    ///
    /// # Errors
    ///
    /// Those of the database.
    pub async fn is_touched(&self, incident: &Incident, seq: u32) -> Result<bool, StoreError> {
        let (scope, id) = (scope_of(incident), incident.id());
        let begun = self.store.analysis(&scope, id, seq).await?.created_at;
        let prefix = format!("{seq}/");
        let tried = self
            .store
            .attempts(&scope, id)
            .await?
            .iter()
            .any(|attempt| attempt.key.starts_with(&prefix));
        let ticked = !self.store.tick_history(&scope, id, seq).await?.is_empty();
        let asked = !self.store.approvals(&scope, id, seq).await?.is_empty();
        let judged = self
            .store
            .history(&scope, id)
            .await?
            .iter()
            .any(|event| event.what.starts_with("cause_") && event.at >= begun);
        let taken = !self.store.step_owners(&scope, id, seq).await?.is_empty();
        Ok(tried || ticked || asked || judged || taken)
    }

    /// Posts once under its key, or edits what was posted under it before.
    ///
    /// # Errors
    ///
    /// [`PostError`]: by what the caller can do.
    pub async fn post_once(
        &self,
        incident: &Incident,
        analysis: u32,
        slot: &str,
        channel: u64,
        post: &Post,
    ) -> Result<Posted, PostError> {
        let key = PostKey::new(incident.guild.as_str(), incident.id(), analysis, slot);
        let intended = self.store.intend_post(&key, &channel.to_string()).await?;
        if let Some(message) = intended.already.as_deref().and_then(|id| id.parse().ok()) {
            let posted = Posted { channel, message };
            return match self.edit(posted, post).await {
                // Somebody deleted it: it is not posted again over their head.
                Ok(()) | Err(DiscordError::UnknownMessage) => Ok(posted),
                Err(error) => Err(error.into()),
            };
        }
        let nonce = nonce(&key);
        if intended.attempt > 1
            && let Some(message) = self.find_lost(channel, &nonce, post).await
        {
            self.store.posted(&key, &message.to_string()).await?;
            let posted = Posted { channel, message };
            self.edit(posted, post).await?;
            return Ok(posted);
        }
        let mut payload = post.payload.clone();
        if let Some(fields) = payload.as_object_mut() {
            fields.insert("nonce".into(), nonce.into());
            fields.insert("enforce_nonce".into(), true.into());
        }
        let sent = match self.rest.post(channel, &payload, files(post)).await {
            Err(DiscordError::MissingPermission(_)) if !post.files.is_empty() => {
                tracing::warn!(slot, "posted without its files: they may not be attached");
                self.rest
                    .post(channel, &without_files(&payload, incident.locale), vec![])
                    .await
            }
            sent => sent,
        };
        let message = sent?;
        self.store.posted(&key, &message.to_string()).await?;
        Ok(Posted { channel, message })
    }

    /// A post that was sent before the process died, but whose id was never stored.
    async fn find_lost(&self, channel: u64, nonce: &str, post: &Post) -> Option<u64> {
        let own = self.rest.recent_own(channel, RECENT).await.ok()?;
        let wanted = custom_ids(&post.payload);
        own.into_iter()
            .find(|seen| {
                seen.nonce.as_deref() == Some(nonce)
                    || (!wanted.is_empty() && seen.custom_ids == wanted)
            })
            .map(|seen| seen.id)
    }

    /// Posts in the incident's thread; unarchives it once; where it can't be posted there, posts in
    /// the channel it was reported in, and says so.
    ///
    /// # Errors
    ///
    /// [`PostError`] where it can be posted nowhere.
    pub async fn post_in_thread(
        &self,
        incident: &Incident,
        analysis: u32,
        slot: &str,
        post: &Post,
    ) -> Result<Posted, PostError> {
        let thread = incident
            .thread
            .as_deref()
            .and_then(|id| id.parse::<u64>().ok());
        let parent = incident
            .parent_channel
            .as_deref()
            .unwrap_or(&incident.channel)
            .parse::<u64>()
            .ok();
        let (Some(first), Some(parent)) = (thread.or(parent), parent) else {
            return Err(PostError::Job(JobError::never(
                "the incident has no channel",
            )));
        };
        let trouble = match self.post_once(incident, analysis, slot, first, post).await {
            Err(PostError::Discord(DiscordError::Archived)) => {
                let opened = self.rest.unarchive(first).await;
                match opened {
                    Ok(()) => match self.post_once(incident, analysis, slot, first, post).await {
                        Err(PostError::Discord(error)) if closes_thread(&error) => {
                            Trouble::ThreadClosed
                        }
                        other => return other,
                    },
                    Err(_) => Trouble::ThreadClosed,
                }
            }
            Err(PostError::Discord(DiscordError::Locked)) => Trouble::ThreadClosed,
            Err(PostError::Discord(DiscordError::UnknownChannel)) => Trouble::ThreadGone,
            Err(PostError::Discord(DiscordError::MissingPermission(name))) if first != parent => {
                Trouble::MissingPermission(name.unwrap_or("Send Messages in Threads").to_owned())
            }
            Err(PostError::Discord(DiscordError::MissingAccess)) if first != parent => {
                Trouble::MissingPermission("View Channel".to_owned())
            }
            other => return other,
        };
        if first == parent {
            return Err(PostError::Discord(DiscordError::UnknownChannel));
        }
        let locale = incident.locale;
        let said = present::notice(&say::trouble(locale, &trouble, None));
        // Once for all that is posted there instead.
        self.post_once(incident, analysis, "notice", parent, &said)
            .await?;
        self.post_once(incident, analysis, &format!("{slot}/channel"), parent, post)
            .await
    }

    /// Changes a message of ours.
    ///
    /// # Errors
    ///
    /// Those of Discord.
    pub async fn edit(&self, posted: Posted, post: &Post) -> Result<(), DiscordError> {
        let edited = self
            .rest
            .edit(posted.channel, posted.message, &post.edit(), files(post))
            .await;
        match edited {
            Err(DiscordError::MissingPermission(_)) if !post.files.is_empty() => {
                let mut payload = post.edit();
                if let Some(fields) = payload.as_object_mut() {
                    fields.insert("attachments".into(), serde_json::json!([]));
                    // What the post said of it when it was new goes on standing there.
                    if fields.get("content").and_then(|text| text.as_str()) == Some("") {
                        fields.remove("content");
                    }
                }
                self.rest
                    .edit(posted.channel, posted.message, &payload, Vec::new())
                    .await
            }
            Err(DiscordError::Archived) => {
                self.rest.unarchive(posted.channel).await?;
                self.rest
                    .edit(posted.channel, posted.message, &post.edit(), files(post))
                    .await
            }
            other => other,
        }
    }

    /// Composes the messages of an analysis anew and edits them in place.
    ///
    /// # Errors
    ///
    /// Those of the database; a message that can't be edited is logged.
    pub async fn refresh(
        &self,
        incident: &Incident,
        seq: u32,
        slots: &[present::Slot],
    ) -> Result<(), JobError> {
        let scope = scope_of(incident);
        let stored = self.store.analysis(&scope, incident.id(), seq).await?;
        let Some(analysis) = self.shown(&stored) else {
            return Ok(());
        };
        let view = self
            .view(incident, &stored, &analysis, Timestamp::now())
            .await?;
        let posts = self.store.posts_of(&scope, incident.id()).await?;
        for slot in slots {
            let (post, seq) = match slot {
                present::Slot::Headline => (Some(present::headline(&analysis, &view)), 0),
                present::Slot::Analysis => (Some(present::cards(&analysis, &view)), seq),
                present::Slot::Checklist => (Some(present::checklist(&analysis, &view)), seq),
                // Its text stays as it was, in whichever audience: only its buttons go off.
                present::Slot::Update if view.superseded_by.is_some() => {
                    (Some(present::frozen_update(&view)), seq)
                }
                present::Slot::Update => (present::update_post(&analysis, &view), seq),
                present::Slot::Reply | present::Slot::Private => (None, seq),
            };
            let word = slot.word();
            // What was posted in the channel instead stands for what the thread no longer takes.
            let of = |slot: &str| {
                posts
                    .iter()
                    .find(|known| known.analysis == seq && known.slot == slot)
            };
            let known = of(&format!("{word}/channel")).or_else(|| of(word));
            let posted = known.and_then(|known| {
                Some(Posted {
                    channel: known.channel.parse().ok()?,
                    message: known.message.as_deref()?.parse().ok()?,
                })
            });
            if let (Some(post), Some(posted)) = (post, posted)
                && let Err(error) = self.edit(posted, &post).await
            {
                if error.is_passing() {
                    return Err(JobError::again(error.to_string()));
                }
                tracing::warn!(
                    slot = word,
                    reason = error.reason(),
                    "a message can't be edited"
                );
            }
        }
        if slots.contains(&present::Slot::Checklist) {
            super::approval::refresh(self, incident, &analysis, &view, &posts).await?;
        }
        Ok(())
    }

    /// Says something to the person who started an interaction, to them alone where that is still
    /// possible.
    pub async fn tell(&self, reply: &Reply, post: &Post) {
        if reply.expired(Timestamp::now().as_millisecond()) {
            return;
        }
        if let Err(error) = self
            .rest
            .follow_up(reply, &post.payload, files(post), true)
            .await
        {
            tracing::warn!(reason = error.reason(), "a person could not be told");
        }
    }

    /// Completes a deferred answer, else says it anew.
    pub async fn answer(&self, reply: &Reply, post: &Post) -> Option<u64> {
        match self
            .rest
            .edit_original(reply, &post.edit(), files(post))
            .await
        {
            Ok(message) => Some(message),
            Err(error) => {
                tracing::warn!(reason = error.reason(), "an answer could not be completed");
                None
            }
        }
    }
}

/// Why something was not posted.
#[derive(Debug, thiserror::Error)]
pub enum PostError {
    /// Discord did not take it.
    #[error(transparent)]
    Discord(#[from] DiscordError),
    /// The intent or the id could not be stored.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// It can't be posted at all.
    #[error(transparent)]
    Job(JobError),
}

impl From<PostError> for JobError {
    fn from(error: PostError) -> Self {
        match error {
            PostError::Discord(error) if error.is_passing() => Self::again(error.to_string()),
            PostError::Discord(error) => Self::never(error.to_string()),
            PostError::Store(error) => error.into(),
            PostError::Job(error) => error,
        }
    }
}

fn closes_thread(error: &DiscordError) -> bool {
    matches!(error, DiscordError::Archived | DiscordError::Locked)
}

/// The scope of an incident itself.
pub fn scope_of(incident: &Incident) -> Scope {
    Scope::new(incident.guild.clone(), incident.channel.clone())
}

/// The key of an attempt that a card's buttons stand for.
pub fn attempt_key(seq: u32, hypothesis: usize) -> String {
    format!("{seq}/{hypothesis}")
}

/// The last word that somebody said of a cause, whichever analysis put it in which words.
pub fn word_of_cause<'h>(history: &'h [Event], cause: &str) -> Option<&'h Event> {
    history.iter().rev().find(|event| {
        let of = event.detail.get("cause").and_then(|of| of.as_str());
        event.what.starts_with("cause_") && of.is_some_and(|of| same(of, cause))
    })
}

/// How a reporter is stored: the id decides who may resolve, the name is shown.
pub fn reporter(id: u64, name: &str) -> String {
    format!("{id}:{name}")
}

/// The name of a stored reporter.
pub fn reporter_name(stored: &str) -> &str {
    stored.split_once(':').map_or(stored, |(id, name)| {
        if id.bytes().all(|b| b.is_ascii_digit()) {
            name
        } else {
            stored
        }
    })
}

/// The id of a stored reporter.
pub fn reporter_id(stored: &str) -> Option<u64> {
    stored.split_once(':')?.0.parse().ok()
}

/// Files as they are sent.
pub fn files(post: &Post) -> Vec<discord::File> {
    post.files
        .iter()
        .map(|file| (file.name.clone(), file.text.clone().into_bytes()))
        .collect()
}

/// The payload for a place where files may not be attached, which it says.
fn without_files(payload: &serde_json::Value, locale: Locale) -> serde_json::Value {
    let mut payload = payload.clone();
    if let Some(fields) = payload.as_object_mut() {
        fields.insert("attachments".into(), serde_json::json!([]));
        let missing = Trouble::MissingPermission("Attach Files".to_owned());
        let sentence = say::trouble(locale, &missing, None);
        let content = match fields.get("content").and_then(|text| text.as_str()) {
            None | Some("") => sentence,
            Some(text) => format!("{text}\n{sentence}"),
        };
        // A text that is as long as it may be stays as it is.
        if content.encode_utf16().count() <= 2_000 {
            fields.insert("content".into(), content.into());
        }
    }
    payload
}

/// At most 25 characters, the same for the same key.
fn nonce(key: &PostKey) -> String {
    let hash = Sha256::digest(key.to_string().as_bytes());
    hash.iter()
        .take(12)
        .map(|byte| format!("{byte:02x}"))
        .collect()
}

fn custom_ids(payload: &serde_json::Value) -> Vec<String> {
    let rows = payload.get("components").and_then(|rows| rows.as_array());
    rows.into_iter()
        .flatten()
        .filter_map(|row| {
            row.get("components")
                .and_then(|children| children.as_array())
        })
        .flatten()
        .filter_map(|child| child.get("custom_id").and_then(|id| id.as_str()))
        .map(str::to_owned)
        .collect()
}

/// The number of an incident from its words, for work that stores it as a number.
pub fn incident_of(number: u32) -> Result<IncidentId, JobError> {
    IncidentId::new(number).ok_or_else(|| JobError::never("an incident without a number"))
}

/// A short id by which an operator finds what a person was told, in the log.
pub fn trouble_id(seed: &str) -> String {
    let hash = Sha256::digest(seed.as_bytes());
    hash.iter()
        .take(3)
        .map(|byte| format!("{byte:02x}"))
        .collect()
}

/// The language of an incident's thread, else of the person.
pub fn language(incident: Option<&Incident>, person: Locale) -> Locale {
    incident.map_or(person, |incident| incident.locale)
}

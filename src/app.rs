//! The only place where the parts meet: `main`, the tests and the playground start the same
//! [`App`].
//!
//! Start: database, queue (what a dead process left goes on), then the gateway. Stop: no new
//! events, jobs finish or are left to the next start, the database closes.

use crate::config::{Config, DiscordConfig};
use crate::discord::{
    self, Api, ApiError, DiscordError, Gateway, GatewayConfig, GatewayError, GatewayState,
    Patience, Rest,
};
use crate::jobs::duty::{Acknowledgements, Duty, Turns, Written};
use crate::jobs::embed;
use crate::jobs::limits::Limiter;
use crate::jobs::mirror::{self, Pace};
use crate::jobs::queue::{
    Counts, DeadLetter, Handler, Job, JobError, Queue, QueueOptions, Undertaker,
};
use crate::jobs::recollect::Second;
use crate::jobs::respond::{Models, Recollection, Responder, installation_key};
use crate::jobs::work::{Retain, Work};
use crate::jobs::{self, intake};
use crate::llm::LlmError;
use crate::memory;
use crate::memory::embeddings::EmbeddingsError;
use crate::memory::hindsight::{HindsightError, Times};
use crate::present::{self, say::Trouble};
use crate::response::redact;
use crate::store::{Store, StoreError};
use futures::future::BoxFuture;
use std::sync::{Arc, OnceLock};
use std::time::Duration;
use tokio::sync::watch;
use tokio::task::JoinHandle;

/// Why the bot could not be started; each is for an operator to mend.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    /// No token.
    #[error(
        "DISCORD_TOKEN is not set. Set it and start again; `precedent --help` lists what works without."
    )]
    NoToken,
    /// The database.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// Discord's address or the token's form.
    #[error(transparent)]
    Api(#[from] ApiError),
    /// The model's address.
    #[error("the model's endpoint can't be used")]
    Model(#[source] LlmError),
    /// The memory server's address or key.
    #[error(transparent)]
    Hindsight(#[from] HindsightError),
    /// The address or key of the model of meanings.
    #[error(transparent)]
    Embeddings(#[from] EmbeddingsError),
}

/// Why a running bot stops by itself.
#[derive(Debug, thiserror::Error)]
pub enum GaveUp {
    /// Discord does not let it go on.
    #[error(transparent)]
    Gateway(#[from] GatewayError),
    /// Another process is on duty on the shared database, or the database is gone: a new start
    /// stands by until this one's turn comes again.
    #[error("another process has taken over, or the database is gone")]
    Relieved,
}

/// What tests and the playground set otherwise.
#[derive(Clone, Copy, Debug)]
pub struct Tuning {
    /// How long the gateway's supervisor waits.
    pub patience: Patience,
    /// After so long without a model the rule-based cards are shown as provisional (R23).
    pub provisional_after: Duration,
    /// Pause before a failed job is tried again.
    pub job_pause: Duration,
    /// How long a commit is tried again where the database is busy or full.
    pub commit_patience: Duration,
    /// How long Hindsight may take.
    pub hindsight: Times,
    /// How often it is looked whether Hindsight has to be told something.
    pub mirror: Pace,
}

impl Default for Tuning {
    fn default() -> Self {
        Self {
            patience: Patience::default(),
            provisional_after: Duration::from_secs(10),
            job_pause: Duration::from_secs(2),
            commit_patience: QueueOptions::default().commit_patience,
            hindsight: Times::default(),
            mirror: Pace::default(),
        }
    }
}

/// The running bot.
pub struct App {
    duty: Duty,
    queue: Queue,
    state: Arc<GatewayState>,
    stop: watch::Sender<bool>,
    gateway: JoinHandle<Result<(), GatewayError>>,
    /// What tells Hindsight, where there is one.
    mirror: Option<JoinHandle<()>>,
}

impl App {
    /// Starts the bot; gives it back once events are taken (the gateway connects meanwhile). Where
    /// another process is on duty on the same PostgreSQL database it stands by until that is gone.
    ///
    /// # Errors
    ///
    /// What an operator has to mend before it can run.
    pub async fn start(config: &Config) -> Result<Self, StartError> {
        Self::start_tuned(config, Tuning::default()).await
    }

    /// As [`App::start`], tuned.
    ///
    /// # Errors
    ///
    /// As [`App::start`].
    pub async fn start_tuned(config: &Config, tuning: Tuning) -> Result<Self, StartError> {
        let discord = config.discord.as_ref().ok_or(StartError::NoToken)?;
        let rest = Rest::new(Api::new(discord.token.clone(), discord.api_url.as_deref())?)?;
        Self::start_with(config, tuning, rest).await
    }

    /// As [`App::start_tuned`], with the way to Discord prepared by the caller.
    ///
    /// # Errors
    ///
    /// As [`App::start`].
    pub async fn start_with(
        config: &Config,
        tuning: Tuning,
        rest: Rest,
    ) -> Result<Self, StartError> {
        let discord = config.discord.as_ref().ok_or(StartError::NoToken)?;
        let hindsight = mirror::configured(config.hindsight.as_ref(), tuning.hindsight)?;
        let embedder = embed::configured(config.embeddings.as_ref())?;
        let store = Store::open(&config.database_url).await?;
        let reflects = config
            .hindsight
            .as_ref()
            .is_some_and(|config| config.reflect);
        let redaction = installation_key(config, &store).await?;
        redact::prepare();
        rest.strike_with(redaction.of("exit"));
        let second = hindsight.map(|hindsight| Second::new(store.clone(), hindsight, reflects));
        let duty = Duty {
            responder: Responder {
                memory: Recollection::On(
                    memory::Database::new(store.read_pool().clone())
                        .with_embedder(embedder.clone()),
                ),
                second: second.clone(),
                models: Models::configured(config).map_err(StartError::Model)?,
                redaction,
            },
            store: store.clone(),
            rest: rest.clone(),
            limiter: Arc::new(Limiter::new(&config.limits)),
            queue: Arc::new(OnceLock::new()),
            acknowledgements: Arc::new(Acknowledgements::default()),
            turns: Arc::new(Turns::default()),
            written: Arc::new(Written::default()),
            provisional_after: tuning.provisional_after,
            retention_days: config.retention_days,
            reads_messages: discord.message_content,
        };
        let queue = Queue::start(
            &store,
            options(&duty, tuning),
            handler(&duty),
            undertaker(&duty),
        )
        .await?;
        // Set once, before the first event comes in.
        let _first = duty.queue.set(queue.clone());
        let (stop, stopped) = watch::channel(false);
        tokio::spawn(keep_house(duty.clone(), stopped.clone()));
        let mirror = second.map(|second| {
            let mirror = second.mirror().clone();
            tokio::spawn(mirror.run(tuning.mirror, stopped.clone()))
        });
        if let Some(embedder) = embedder {
            tokio::spawn(embed::run(store.clone(), embedder, stopped.clone()));
        }
        let state = Arc::new(GatewayState::default());
        let gateway = tokio::spawn(run_gateway(
            gateway_config(config, discord, tuning, rest),
            duty.clone(),
            stopped,
            Arc::clone(&state),
        ));
        Ok(Self {
            duty,
            queue,
            state,
            stop,
            gateway,
            mirror,
        })
    }

    /// Waits until the gateway gives up for good, or this process is no longer the one on duty.
    ///
    /// # Errors
    ///
    /// Why.
    pub async fn gave_up(&mut self) -> Result<(), GaveUp> {
        tokio::select! {
            ended = &mut self.gateway => match ended {
                Ok(result) => Ok(result?),
                Err(_) => Ok(()),
            },
            () = self.queue.lost() => {
                self.stop.send_replace(true);
                Err(GaveUp::Relieved)
            }
        }
    }

    /// Takes no more events, lets jobs finish, closes the database.
    pub async fn stop(self, patience: Duration) {
        self.stop.send_replace(true);
        if tokio::time::timeout(patience, self.gateway).await.is_err() {
            tracing::warn!("the gateway did not say goodbye in time");
        }
        self.queue.shutdown(patience).await;
        if let Some(mirror) = self.mirror
            && tokio::time::timeout(patience, mirror).await.is_err()
        {
            tracing::warn!("Hindsight is told the rest at the next start");
        }
        self.duty.store.close().await;
    }

    /// How the gateway is.
    pub fn gateway(&self) -> &GatewayState {
        &self.state
    }

    /// How many jobs stand where.
    ///
    /// # Errors
    ///
    /// Those of the database.
    pub async fn jobs(&self) -> Result<Counts, StoreError> {
        self.queue.counts().await
    }

    /// The database.
    pub fn store(&self) -> &Store {
        &self.duty.store
    }
}

fn gateway_config(
    config: &Config,
    discord: &DiscordConfig,
    tuning: Tuning,
    rest: Rest,
) -> GatewayConfig {
    GatewayConfig {
        rest,
        guild: config.guild,
        message_content: discord.message_content,
        patience: tuning.patience,
    }
}

/// At the start every running incident is looked at. Every hour: events that were seen long ago are forgotten, and the day's look for old incidents is
/// committed, where old ones are to be forgotten.
async fn keep_house(duty: Duty, mut stopped: watch::Receiver<bool>) {
    jobs::running::look_at_all(&duty).await;
    let mut hourly = tokio::time::interval(Duration::from_secs(60 * 60));
    loop {
        tokio::select! {
            _ = hourly.tick() => {}
            _ = stopped.wait_for(|stop| *stop) => return,
        }
        let now = jiff::Timestamp::now();
        if let Err(error) = duty.store.prune_seen(now).await {
            tracing::warn!(
                error = &error as &dyn std::error::Error,
                "old events can't be forgotten"
            );
        }
        if let Err(error) = duty.store.prune_watched(now).await {
            tracing::warn!(
                error = &error as &dyn std::error::Error,
                "old changes can't be forgotten"
            );
        }
        if duty.retention_days.is_none() {
            continue;
        }
        // The day is the key: once a day, however often and by whom it is committed.
        let look = Work::Retain(Retain {
            day: now.strftime("%Y-%m-%d").to_string(),
            part: 0,
        });
        if let Err(error) = duty.commit(&look).await {
            tracing::warn!(
                error = &error as &dyn std::error::Error,
                "the look for old incidents can't be stored"
            );
        }
    }
}

async fn run_gateway(
    config: GatewayConfig,
    duty: Duty,
    stopped: watch::Receiver<bool>,
    state: Arc<GatewayState>,
) -> Result<(), GatewayError> {
    let on: discord::Handler = Arc::new(move |incoming| {
        let duty = duty.clone();
        Box::pin(async move { intake::take(&duty, incoming).await })
    });
    Gateway::run(config, &discord::declared(), on, stopped, state).await
}

fn options(duty: &Duty, tuning: Tuning) -> QueueOptions {
    // The longest model budget of an analysis, and a minute for what stands around it.
    let longest = duty
        .responder
        .models
        .as_ref()
        .map_or(Duration::ZERO, Models::budget)
        + Duration::from_secs(60);
    QueueOptions {
        time_limits: ["analyze", "reanalyze", "follow_up"]
            .into_iter()
            .map(|kind| (kind.to_owned(), longest))
            // A channel's history comes a page at a time, as fast as Discord lets it.
            .chain([("import".to_owned(), Duration::from_secs(10 * 60))])
            .collect(),
        pause: tuning.job_pause,
        commit_patience: tuning.commit_patience,
        ..QueueOptions::default()
    }
}

fn handler(duty: &Duty) -> Handler {
    let duty = duty.clone();
    Arc::new(move |job| {
        let duty = duty.clone();
        Box::pin(async move { work(&duty, job).await })
    })
}

async fn work(duty: &Duty, job: Job) -> Result<(), JobError> {
    let work = Work::of(&job)?;
    let span = tracing::info_span!("job", kind = work.kind(), attempt = job.attempt);
    let done = async {
        if let Some((place, incident)) = work.clicked()
            && !duty.sees(&place, incident).await?
        {
            tracing::warn!("a click on an incident that may not be seen from there");
            if let Some(reply) = work.reply() {
                let unknown = present::error(&Trouble::UnknownIncident, None, work.locale());
                duty.tell(reply, &unknown).await;
            }
            return Ok(());
        }
        done_by(duty, &job, work).await
    };
    tracing::Instrument::instrument(done, span).await
}

/// Who does a piece of work. Made here and worked on the heap: what is worked out deep inside needs
/// the stack.
fn done_by<'a>(duty: &'a Duty, job: &'a Job, work: Work) -> BoxFuture<'a, Result<(), JobError>> {
    match work {
        Work::Analyze(work) => Box::pin(jobs::analyze::run(duty, job, *work)),
        Work::Reanalyze(work) => Box::pin(jobs::analyze::rerun(duty, job, work)),
        Work::FollowUp(work) => Box::pin(jobs::talk::follow_up(duty, work)),
        Work::Evidence(work) => Box::pin(jobs::talk::evidence(duty, work)),
        Work::Click(work) => Box::pin(jobs::clicks::click(duty, job, work)),
        Work::Tick(work) => Box::pin(jobs::clicks::tick(duty, work)),
        Work::Take(work) => Box::pin(jobs::steps::take(duty, job, work)),
        Work::Approve(work) => Box::pin(jobs::approval::answer(duty, work)),
        Work::ShowUpdate(work) => Box::pin(jobs::clicks::show_update(duty, work)),
        Work::Resolve(work) => Box::pin(jobs::talk::resolve(duty, work)),
        Work::AskOutcome(work) => Box::pin(jobs::clicks::ask_outcome(duty, work)),
        Work::AskStillFixed(watch) => Box::pin(jobs::outcomes::ask_still_fixed(duty, watch)),
        Work::CountQuietDays(watch) => Box::pin(jobs::outcomes::count_quiet_days(duty, watch)),
        Work::StillFixed(work) => Box::pin(jobs::outcomes::still_fixed(duty, job, work)),
        Work::Reopen(work) => Box::pin(jobs::outcomes::reopen(duty, work)),
        Work::Sameness(work) => Box::pin(jobs::outcomes::sameness(duty, job, work)),
        Work::Import(work) => Box::pin(jobs::imports::read(duty, *work)),
        Work::ImportAnswer(work) => Box::pin(jobs::imports::answer(duty, work)),
        Work::ChooseService(work) => Box::pin(jobs::registry::choose(duty, work)),
        Work::Reindex(work) => Box::pin(jobs::registry::reindex(duty, work)),
        Work::Forget(work) => Box::pin(jobs::keeping::forget(duty, work)),
        Work::Forgotten(work) => Box::pin(jobs::keeping::after_forgetting(duty, work)),
        Work::Retain(work) => Box::pin(jobs::keeping::retain(duty, work)),
        Work::Own(work) => Box::pin(jobs::running::own(duty, work)),
        Work::Set(work) => Box::pin(jobs::running::set(duty, *work)),
        Work::Look(work) => Box::pin(jobs::running::look(duty, work)),
        Work::Join(work) => Box::pin(jobs::joining::join_unasked(duty, work)),
        Work::Told(work) => Box::pin(jobs::watch::told(duty, *work)),
        Work::WatchLook(work) => Box::pin(jobs::watch::look(duty, work)),
        Work::WatchErrand(work) => Box::pin(jobs::watch::errand(duty, work)),
    }
}

/// A job that is given up: the person who started it is told, with an id that the log knows.
fn undertaker(duty: &Duty) -> Undertaker {
    let duty = duty.clone();
    Arc::new(move |letter: DeadLetter| {
        let duty = duty.clone();
        Box::pin(async move {
            let id = jobs::duty::trouble_id(&letter.command.key);
            tracing::error!(
                id,
                kind = letter.command.kind,
                attempts = letter.attempts,
                reason = letter.reason,
                "a job is given up"
            );
            let Ok(work) = serde_json::from_value::<Work>(letter.command.payload.clone()) else {
                return Ok(());
            };
            if let Some(reply) = work.reply() {
                let locale = work.locale();
                duty.tell(
                    reply,
                    &present::error(&Trouble::Unexpected, Some(&id), locale),
                )
                .await;
            }
            Ok(())
        })
    })
}

/// Whether everything is in order, a line each; `false` where something is not.
pub async fn check(config: &Config, line: &mut (impl FnMut(bool, String) + Send)) -> bool {
    let mut all = true;
    let mut say = |fine: bool, text: String| {
        all &= fine;
        line(fine, text);
    };
    say(true, "configuration: read".into());
    match Store::open(&config.database_url).await {
        Ok(store) => {
            match store.probe().await {
                Ok(()) => say(true, "database: opened and writable".into()),
                Err(error) => say(false, format!("database: {error}")),
            }
            check_hindsight(config, &store, &mut say).await;
            check_embeddings(config, &store, &mut say).await;
            store.close().await;
        }
        Err(error) => say(false, format!("database: {error}")),
    }
    let declared = discord::names(&discord::declared());
    let handled: Vec<&str> = discord::COMMANDS.to_vec();
    let same = declared
        .iter()
        .map(String::as_str)
        .eq(handled.iter().copied());
    say(
        same,
        format!("commands file: {} commands declared", declared.len()),
    );
    match &config.discord {
        None => say(false, "token: DISCORD_TOKEN is not set".into()),
        Some(discord) => check_discord(config, discord, &mut say).await,
    }
    match Models::configured(config) {
        Ok(None) => say(
            true,
            "model: none is configured, the rule-based engine answers".into(),
        ),
        Ok(Some(models)) => match models.endpoint.probe(&models.main).await {
            Ok(found) => say(true, format!("model: {found}")),
            Err(error) => say(false, format!("model: {error}")),
        },
        Err(error) => say(false, format!("model: {error}")),
    }
    all
}

/// Whether the memory server answers, and how far it follows the database.
async fn check_hindsight(
    config: &Config,
    store: &Store,
    say: &mut (impl FnMut(bool, String) + Send),
) {
    let hindsight = match mirror::configured(config.hindsight.as_ref(), Times::default()) {
        Ok(None) => return,
        Ok(Some(hindsight)) => hindsight,
        Err(error) => {
            say(false, format!("hindsight: {error}"));
            return;
        }
    };
    match hindsight.probe().await {
        Ok(found) => say(true, format!("hindsight: {found}")),
        Err(error) => say(false, format!("hindsight: {error}")),
    }
    match store.hindsight_counts(&hindsight.name()).await {
        Ok(counts) => {
            let mut parts = vec![
                format!("{} incidents kept", counts.kept),
                format!("{} waiting", counts.waiting),
            ];
            for (count, what) in [
                (counts.empty, "of which it kept nothing"),
                (counts.refused, "that it does not take"),
                (counts.to_forget, "to be forgotten there"),
            ] {
                if count > 0 {
                    parts.push(format!("{count} {what}"));
                }
            }
            let fine = counts.empty + counts.refused == 0;
            say(fine, format!("hindsight memory: {}", parts.join(", ")));
        }
        Err(error) => say(false, format!("hindsight memory: {error}")),
    }
}

/// Whether the model of meanings answers, and how many incidents have their vectors.
async fn check_embeddings(
    config: &Config,
    store: &Store,
    say: &mut (impl FnMut(bool, String) + Send),
) {
    let embedder = match embed::configured(config.embeddings.as_ref()) {
        Ok(None) => return,
        Ok(Some(embedder)) => embedder,
        Err(error) => {
            say(false, format!("embeddings: {error}"));
            return;
        }
    };
    match embedder.probe().await {
        Ok(dimensions) => say(true, format!("embeddings: {dimensions} dimensions")),
        Err(error) => say(false, format!("embeddings: {error}")),
    }
    match store.embedded(embedder.model()).await {
        Ok((all, embedded)) => say(
            true,
            format!("embeddings memory: {embedded} of {all} incidents have a vector"),
        ),
        Err(error) => say(false, format!("embeddings memory: {error}")),
    }
}

async fn check_discord(
    config: &Config,
    discord: &DiscordConfig,
    say: &mut (impl FnMut(bool, String) + Send),
) {
    let rest = match Api::new(discord.token.clone(), discord.api_url.as_deref()).and_then(Rest::new)
    {
        Ok(rest) => rest,
        Err(error) => {
            say(false, format!("token: {error}"));
            return;
        }
    };
    match rest.me().await {
        Ok(me) => say(true, format!("token: accepted, the bot is {}", me.name)),
        Err(DiscordError::Unauthorized) => {
            say(
                false,
                "token: Discord does not accept it; copy it again from the developer portal".into(),
            );
            return;
        }
        Err(error) => {
            say(false, format!("token: {error}"));
            return;
        }
    }
    match (rest.application().await, discord.message_content) {
        (Ok(application), true) if !application.message_content => say(
            false,
            "intents: message content is asked for and not switched on in the developer portal; questions then need a mention (or set DISCORD_MESSAGE_CONTENT=off)".into(),
        ),
        (Ok(_), true) => say(true, "intents: message content is on".into()),
        (Ok(_), false) => say(true, "intents: message content is not asked for; questions need a mention".into()),
        (Err(error), _) => say(false, format!("intents: {error}")),
    }
    if let Some(guild) = config.guild {
        say(
            true,
            format!("guild: commands are registered to {guild} at once"),
        );
    }
}

//! The gateway: being connected, staying connected, and saying what was heard.
//!
//! Properties wanted:
//! - Commands are registered once a start, before anything is heard, however often Discord greets.
//! - Every failure ends in another try, except those that an operator has to mend: a wrong token,
//!   impossible intents, commands that Discord refuses. Missing consent to read messages is not
//!   one of them: the bot goes on without, and says so.
//! - A connection that looks alive and is not is found and replaced.
//! - An event that the library cannot read is counted and logged by its kind; an interaction among
//!   them still gets an answer.
//! - A handler that panics is logged and hurts nothing else.
//! - With another API address set, the gateway's address is the one that address names.
//!
//! Design: [`Gateway::run`] supervises *lives*. A life is one client of the library on a thread
//! and runtime of its own, because serenity 0.12.5 spins without yielding after a close frame
//! without a code (and after 4003, 4010, 4011): on the shared runtime that stalls the timers of
//! the whole bot for up to a heartbeat (41 s), here it costs one core for a second or two. A task
//! on the life's runtime beats a pulse; where it stops, the supervisor has the library send
//! something: on a dead socket that fails, which ends the spin, and a new life begins; on a live
//! one it is a harmless presence update. The same supervisor replaces a life whose heartbeats are
//! no longer answered, or whose shard has ended without anybody noticing.
//!
//! Events are dispatched to the runtime that called [`Gateway::run`]. They come in no order, and
//! some twice: a resumed session replays what it is not sure was heard. Dedupe is elsewhere, with
//! whoever acts, by the ids of interactions and messages.
//!
//! Absent on purpose: sharding; updating presence; reading anything but what [`Incoming`] names.

use std::io;
use std::panic::AssertUnwindSafe;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::time::Duration;

use futures::FutureExt as _;
use futures::future::BoxFuture;
use reqwest::Client;
use serde_json::Value;
use serenity::async_trait;
use serenity::cache::Settings as CacheSettings;
use serenity::client::{ClientBuilder, Context, EventHandler, RawEventHandler};
use serenity::gateway::{ConnectionStage, GatewayError as LibraryError, ShardManager};
use serenity::gateway::{ShardRunnerInfo, ShardStageUpdateEvent};
use serenity::http::HttpBuilder;
use serenity::model::application::ModalInteraction;
use serenity::model::application::{ActionRowComponent, CommandType, ComponentInteractionDataKind};
use serenity::model::application::{CommandInteraction, ComponentInteraction, Interaction};
use serenity::model::channel::{GuildChannel, Message, PartialGuildChannel};
use serenity::model::event::{Event, ResumedEvent};
use serenity::model::gateway::{GatewayIntents, Ready};
use serenity::model::guild::{Guild, UnavailableGuild};
use serenity::model::id::{ApplicationId, ChannelId, GuildId, MessageId, ShardId};
use serenity::model::user::OnlineStatus;
use tokio::sync::{oneshot, watch};
use tokio::time::Instant;

use super::error::DiscordError;
use super::incoming::{Gone, Incoming, Reply, made_at_ms};
use super::reading;
use super::rest::Rest;
use crate::incident::Locale;

/// Who is told what happened. Called for one event at a time and never awaited by the gateway:
/// each call runs in a task of its own.
pub type Handler = Arc<dyn Fn(Incoming) -> BoxFuture<'static, ()> + Send + Sync>;

/// What the gateway is to do.
#[derive(Clone, Debug)]
pub struct GatewayConfig {
    /// The API that names the gateway, and where commands are registered.
    pub rest: Rest,
    /// Register the commands in this guild at once, instead of everywhere.
    pub guild: Option<u64>,
    /// Ask for the message-content intent.
    pub message_content: bool,
    /// How long to wait for what.
    pub patience: Patience,
}

/// How long the supervisor waits.
#[derive(Clone, Copy, Debug)]
pub struct Patience {
    /// For a sign of the life's runtime, which otherwise spins.
    pub stuck: Duration,
    /// For any sign of Discord; heartbeats are answered every 41 seconds.
    pub silent: Duration,
    /// For the library to have a connection again, once its shard has ended.
    pub headless: Duration,
    /// Between two IDENTIFYs; Discord's limit is one in five seconds.
    pub between_identifies: Duration,
    /// Before a second try after a failure; doubles up to [`Patience::longest_pause`].
    pub first_pause: Duration,
    /// Discord allows a thousand IDENTIFYs a day.
    pub longest_pause: Duration,
}

impl Default for Patience {
    fn default() -> Self {
        let seconds = Duration::from_secs;
        Self {
            stuck: seconds(2),
            silent: seconds(120),
            // The library itself waits up to five seconds for the old shard, five for the next
            // IDENTIFY, and five after a refused connection.
            headless: seconds(60),
            between_identifies: seconds(5),
            first_pause: seconds(1),
            longest_pause: seconds(60),
        }
    }
}

/// How long a life that is told to end may take to say goodbye.
const GOODBYE: Duration = Duration::from_secs(6);
/// Where the library's own requests go: no port, an error at once.
const NOWHERE: &str = "http://127.0.0.1:0";
/// How often a life beats its pulse.
const PULSE: Duration = Duration::from_millis(100);

/// Why the gateway gave up: each is for an operator to mend.
#[derive(Debug, thiserror::Error)]
pub enum GatewayError {
    /// 401 or close code 4004.
    #[error(
        "Discord does not accept the bot's token: copy it again from the developer portal (Bot, Reset Token) to DISCORD_TOKEN."
    )]
    BadToken,
    /// Close code 4013: intents that do not exist. A fault of this program.
    #[error("Discord does not know the intents that the bot asks for: this version is too old.")]
    BadIntents,
    /// Close code 4014, though the message-content intent was not asked for (any more).
    #[error(
        "Discord refuses the bot's intents: look at Bot, Privileged Gateway Intents in the developer portal."
    )]
    IntentsRefused,
    /// The commands are not as Discord wants them.
    #[error("Discord refuses the commands at {path}: {message}")]
    CommandsRefused {
        /// Which command and field.
        path: String,
        /// What Discord says of it.
        message: String,
    },
    /// The guild that the commands are for does not know the bot.
    #[error(
        "The bot is not in the guild {0}, or was invited without the scope applications.commands: check DISCORD_GUILD_ID and the invitation."
    )]
    NoGuild(u64),
    /// The commands could not be registered for another reason.
    #[error("The commands could not be registered.")]
    Registration(#[source] DiscordError),
    /// The system gives no thread.
    #[error("The system gives no thread for the gateway.")]
    NoThread(#[source] io::Error),
}

/// How the gateway is, for metrics and checks. All numbers are since the start.
#[derive(Debug, Default)]
pub struct GatewayState {
    connected: AtomicBool,
    message_content: AtomicBool,
    connections: AtomicU64,
    resumptions: AtomicU64,
    lives: AtomicU64,
    unknown_events: AtomicU64,
    panics: AtomicU64,
    events: AtomicU64,
    latency_micros: AtomicU64,
}

impl GatewayState {
    /// Whether the bot hears right now, as far as is known.
    pub fn connected(&self) -> bool {
        self.connected.load(Ordering::Relaxed)
    }

    /// Whether the bot may read what others write.
    pub fn message_content(&self) -> bool {
        self.message_content.load(Ordering::Relaxed)
    }

    /// How often Discord greeted a new session (READY).
    pub fn connections(&self) -> u64 {
        self.connections.load(Ordering::Relaxed)
    }

    /// How often a session went on after a loss (RESUMED).
    pub fn resumptions(&self) -> u64 {
        self.resumptions.load(Ordering::Relaxed)
    }

    /// How many clients were built: one, and one more for each that had to be replaced.
    pub fn lives(&self) -> u64 {
        self.lives.load(Ordering::Relaxed)
    }

    /// Events that this version cannot read.
    pub fn unknown_events(&self) -> u64 {
        self.unknown_events.load(Ordering::Relaxed)
    }

    /// Handlers that panicked.
    pub fn panics(&self) -> u64 {
        self.panics.load(Ordering::Relaxed)
    }

    /// Time between the last heartbeat and its answer.
    pub fn latency(&self) -> Option<Duration> {
        match self.latency_micros.load(Ordering::Relaxed) {
            0 => None,
            micros => Some(Duration::from_micros(micros)),
        }
    }
}

/// The connection by which Discord tells what happens.
#[derive(Debug)]
pub struct Gateway;

impl Gateway {
    /// Registers `commands` as they stand, then hears until `shutdown` is true (or its sender is
    /// gone). Failures are waited out and tried again; see the module's documentation.
    ///
    /// # Errors
    /// Only what an operator has to mend.
    pub async fn run(
        config: GatewayConfig,
        commands: &Value,
        on: Handler,
        shutdown: watch::Receiver<bool>,
        state: Arc<GatewayState>,
    ) -> Result<(), GatewayError> {
        let mut stop = shutdown.clone();
        tokio::select! {
            registered = register(&config, commands) => registered?,
            () = stopped(&mut stop) => return Ok(()),
        }
        let mut supervisor = Supervisor {
            message_content: config.message_content,
            pause: config.patience.first_pause,
            config,
            on,
            shutdown,
            state,
        };
        let result = supervisor.supervise().await;
        supervisor.state.connected.store(false, Ordering::Relaxed);
        result
    }
}

async fn stopped(shutdown: &mut watch::Receiver<bool>) {
    // A sender that is gone can no longer say it.
    let _ = shutdown.wait_for(|stop| *stop).await;
}

async fn register(config: &GatewayConfig, commands: &Value) -> Result<(), GatewayError> {
    let mut pause = config.patience.first_pause;
    loop {
        let error = match config.rest.register(config.guild, commands).await {
            Ok(()) => {
                tracing::info!(guild = config.guild, "commands registered");
                return Ok(());
            }
            Err(error) => error,
        };
        match (error, config.guild) {
            (error, _) if error.is_passing() => {
                tracing::warn!(
                    reason = error.reason(),
                    retry_ms = millis(pause),
                    "Discord cannot be asked yet"
                );
                tokio::time::sleep(pause).await;
                pause = (pause * 2).min(config.patience.longest_pause);
            }
            (DiscordError::Unauthorized, _) => return Err(GatewayError::BadToken),
            (DiscordError::Invalid { path, message }, _) => {
                return Err(GatewayError::CommandsRefused { path, message });
            }
            (
                DiscordError::MissingAccess | DiscordError::Other { code: 10004, .. },
                Some(guild),
            ) => {
                return Err(GatewayError::NoGuild(guild));
            }
            (error, _) => return Err(GatewayError::Registration(error)),
        }
    }
}

fn millis(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}

struct Supervisor {
    config: GatewayConfig,
    on: Handler,
    shutdown: watch::Receiver<bool>,
    state: Arc<GatewayState>,
    message_content: bool,
    pause: Duration,
}

/// How a life ended.
enum End {
    /// As it was told to.
    Shutdown,
    /// Close codes 4004, 4013, 4014.
    Refused(LibraryError),
    /// Anything else, in a word for the log.
    Lost(&'static str),
}

impl Supervisor {
    async fn supervise(&mut self) -> Result<(), GatewayError> {
        loop {
            let mut stop = self.shutdown.clone();
            let (application, url) = tokio::select! {
                found = self.find() => found?,
                () = stopped(&mut stop) => return Ok(()),
            };
            let begun = Instant::now();
            let greetings = self.greetings();
            self.state
                .message_content
                .store(self.message_content, Ordering::Relaxed);
            let end = self.live(application, url).await?;
            self.state.connected.store(false, Ordering::Relaxed);
            match end {
                End::Shutdown => return Ok(()),
                End::Refused(LibraryError::InvalidAuthentication) => {
                    return Err(GatewayError::BadToken);
                }
                End::Refused(LibraryError::InvalidGatewayIntents) => {
                    return Err(GatewayError::BadIntents);
                }
                End::Refused(_) if !self.message_content => {
                    return Err(GatewayError::IntentsRefused);
                }
                End::Refused(_) => {
                    tracing::warn!(
                        "Discord refuses the message-content intent (4014): the bot goes on without it and answers only where it is mentioned or asked by a command; switch it on in the developer portal under Bot, Privileged Gateway Intents"
                    );
                    self.message_content = false;
                    // Nothing failed: only Discord's own limit is waited out.
                    self.pause = Duration::ZERO;
                }
                End::Lost(why) => {
                    if self.greetings() > greetings
                        && begun.elapsed() > self.config.patience.longest_pause
                    {
                        self.pause = self.config.patience.first_pause;
                    }
                    tracing::warn!(why, "the gateway's client is replaced");
                }
            }
            let limit = self.config.patience.between_identifies;
            let pause = self.pause.max(limit.saturating_sub(begun.elapsed()));
            self.pause = (self.pause * 2)
                .max(self.config.patience.first_pause)
                .min(self.config.patience.longest_pause);
            tokio::select! {
                () = tokio::time::sleep(pause) => {}
                () = stopped(&mut stop) => return Ok(()),
            }
        }
    }

    fn greetings(&self) -> u64 {
        self.state.connections() + self.state.resumptions()
    }

    /// The application and the gateway's address; waits until Discord (or what stands in for it)
    /// tells them.
    async fn find(&self) -> Result<(u64, String), GatewayError> {
        let rest = &self.config.rest;
        let mut pause = self.config.patience.first_pause;
        loop {
            let found = async { Ok((rest.application_id().await?, rest.gateway().await?)) };
            match found.await {
                Ok(found) => return Ok(found),
                Err(DiscordError::Unauthorized) => return Err(GatewayError::BadToken),
                Err(error) => {
                    tracing::warn!(
                        reason = error.reason(),
                        retry_ms = millis(pause),
                        "the gateway's address cannot be asked for yet"
                    );
                }
            }
            tokio::time::sleep(pause).await;
            pause = (pause * 2).min(self.config.patience.longest_pause);
        }
    }

    async fn live(&mut self, application: u64, url: String) -> Result<End, GatewayError> {
        self.state.lives.fetch_add(1, Ordering::Relaxed);
        let ear = Arc::new(Ear {
            on: Arc::clone(&self.on),
            main: tokio::runtime::Handle::current(),
            state: Arc::clone(&self.state),
            message_content: self.message_content,
        });
        let signs = Arc::new(Signs {
            pulse: AtomicU64::new(0),
            shards: Mutex::new(None),
            // The library keeps one for later shards, and one for each shard there is.
            ear: Arc::downgrade(&ear),
        });
        let (ended_in, mut ended) = oneshot::channel();
        let (stop, stop_out) = oneshot::channel();
        let life = Life {
            rest: self.config.rest.clone(),
            application,
            url,
            ear,
            signs: Arc::clone(&signs),
            stop: stop_out,
        };
        std::thread::Builder::new()
            .name("gateway".to_owned())
            .spawn(move || {
                // Nobody listens any more where the supervisor has given this life up.
                let _ = ended_in.send(life.lead());
            })
            .map_err(GatewayError::NoThread)?;

        let mut shutdown = self.shutdown.clone();
        let watch = Watch::new(&self.config.patience, &self.state);
        let why = tokio::select! {
            end = &mut ended => return Ok(end.unwrap_or(End::Lost("it panicked"))),
            () = stopped(&mut shutdown) => None,
            why = watch.over(&signs) => Some(why),
        };
        let goodbye = if why.is_none() {
            Goodbye::Close
        } else {
            Goodbye::Drop
        };
        let _ = stop.send(goodbye);
        if tokio::time::timeout(GOODBYE, ended).await.is_err() {
            // Its thread ends with the process.
            tracing::error!("the gateway's client does not end");
        }
        Ok(why.map_or(End::Shutdown, End::Lost))
    }
}

/// What the supervisor sees of a life.
struct Signs {
    pulse: AtomicU64,
    shards: Mutex<Option<Arc<ShardManager>>>,
    ear: Weak<Ear>,
}

impl Signs {
    fn shards(&self) -> Option<Arc<ShardManager>> {
        let shards = self.shards.lock().unwrap_or_else(PoisonError::into_inner);
        shards.clone()
    }

    /// Whether the library has a shard. There is no asking: it forgets to say that one ended. But
    /// a shard holds the ear.
    fn has_shard(&self) -> bool {
        self.ear.strong_count() > 1
    }
}

/// The supervisor's eye on one life.
struct Watch<'a> {
    patience: &'a Patience,
    state: &'a GatewayState,
}

impl<'a> Watch<'a> {
    fn new(patience: &'a Patience, state: &'a GatewayState) -> Self {
        Self { patience, state }
    }

    /// Returns when the life has to be replaced, with the reason in a word.
    async fn over(&self, signs: &Signs) -> &'static str {
        let tick = (self.patience.stuck / 8).clamp(Duration::from_millis(10), PULSE * 5);
        let mut pulse = (0, Instant::now());
        let mut sign = ((0, None, None), Instant::now());
        let mut shard = Instant::now();
        let mut prodded = 0;
        let mut had_shard = false;
        loop {
            tokio::time::sleep(tick).await;
            let now = Instant::now();

            let beat = signs.pulse.load(Ordering::Relaxed);
            if beat != pulse.0 {
                pulse = (beat, now);
                if prodded > 0 {
                    // It runs again: because the shard has ended, or it was only slow.
                    if had_shard && !signs.has_shard() {
                        return "its connection was dead";
                    }
                    prodded = 0;
                }
            } else if beat > 0 && now.duration_since(pulse.1) >= self.patience.stuck {
                if prodded >= 3 {
                    return "it is stuck";
                }
                prodded += 1;
                had_shard = signs.has_shard();
                pulse.1 = now;
                self.state.connected.store(false, Ordering::Relaxed);
                tracing::warn!("the gateway's client is stuck and is prodded");
                prod(signs).await;
                continue;
            }

            let (latency, stage) = look(signs).await;
            if let Some(latency) = latency {
                let micros = u64::try_from(latency.as_micros()).unwrap_or(u64::MAX);
                self.state
                    .latency_micros
                    .store(micros.max(1), Ordering::Relaxed);
            }
            let seen = (self.state.events.load(Ordering::Relaxed), latency, stage);
            if seen != sign.0 {
                sign = (seen, now);
            } else if now.duration_since(sign.1) >= self.patience.silent {
                return "Discord is silent";
            }

            if signs.has_shard() {
                shard = now;
            } else if now.duration_since(shard) >= self.patience.headless {
                return "its shard has ended";
            }
        }
    }
}

async fn with_shard<T>(signs: &Signs, see: impl FnOnce(&ShardRunnerInfo) -> T) -> Option<T> {
    let shards = signs.shards()?;
    // Held for moments only; but never wait for a life that is stuck.
    let runners = tokio::time::timeout(PULSE, shards.runners.lock())
        .await
        .ok()?;
    runners.get(&ShardId(0)).map(see)
}

async fn look(signs: &Signs) -> (Option<Duration>, Option<ConnectionStage>) {
    with_shard(signs, |shard| (shard.latency, Some(shard.stage)))
        .await
        .unwrap_or_default()
}

async fn prod(signs: &Signs) {
    // Not a shutdown: on a dead socket the library would wait for its answer for ever.
    with_shard(signs, |shard| {
        shard.runner_tx.set_presence(None, OnlineStatus::Online);
    })
    .await;
}

enum Goodbye {
    /// Discord is told, and forgets the session.
    Close,
    /// The connection is not worth it.
    Drop,
}

/// One client of the library.
struct Life {
    rest: Rest,
    application: u64,
    url: String,
    ear: Arc<Ear>,
    signs: Arc<Signs>,
    stop: oneshot::Receiver<Goodbye>,
}

impl Life {
    /// On a thread of its own, to the end.
    fn lead(self) -> End {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build();
        let Ok(runtime) = runtime else {
            return End::Lost("the system gives no runtime");
        };
        let end = runtime.block_on(self.connect());
        // Name resolution may still hold a thread.
        runtime.shutdown_timeout(Duration::from_secs(1));
        end
    }

    async fn connect(self) -> End {
        let api = self.rest.api();
        // The library asks for the gateway's address once more, over a connection of its own, and
        // dials Discord's own gateway where that fails. It is let fail at once, and told instead.
        let Ok(client) = Client::builder().tls_certs_only([]).build() else {
            return End::Lost("the system's TLS cannot be set up");
        };
        let http = HttpBuilder::new(api.token())
            .client(client)
            .application_id(ApplicationId::new(self.application.max(1)))
            .proxy(NOWHERE)
            // Or the address before would be ignored.
            .ratelimiter_disabled(true)
            .build();
        let mut intents = GatewayIntents::GUILDS | GatewayIntents::GUILD_MESSAGES;
        if self.ear.message_content {
            intents |= GatewayIntents::MESSAGE_CONTENT;
        }
        let mut settings = CacheSettings::default();
        settings.max_messages = 0;
        settings.cache_users = false;
        let unknown = Unknown(Ear::clone(&self.ear));
        let built = ClientBuilder::new_with_http(http, intents)
            .cache_settings(settings)
            .event_handler_arc(self.ear)
            .raw_event_handler(unknown)
            .await;
        let Ok(mut client) = built else {
            return End::Lost("it cannot be built");
        };
        *client.ws_url.lock().await = self.url;
        let manager = Arc::clone(&client.shard_manager);
        *self
            .signs
            .shards
            .lock()
            .unwrap_or_else(PoisonError::into_inner) = Some(Arc::clone(&manager));
        let signs = Arc::clone(&self.signs);
        tokio::spawn(async move {
            loop {
                signs.pulse.fetch_add(1, Ordering::Relaxed);
                tokio::time::sleep(PULSE).await;
            }
        });
        let end = tokio::select! {
            ended = client.start() => match ended {
                Err(serenity::Error::Gateway(
                    error @ (LibraryError::InvalidAuthentication
                    | LibraryError::InvalidGatewayIntents
                    | LibraryError::DisallowedGatewayIntents),
                )) => End::Refused(error),
                Err(_) => End::Lost("it failed"),
                Ok(()) => End::Lost("it ended by itself"),
            },
            goodbye = self.stop => {
                if let Ok(Goodbye::Close) = goodbye {
                    manager.shutdown_all().await;
                }
                End::Shutdown
            }
        };
        // The manager in the signs would keep the library's tasks alive.
        *self
            .signs
            .shards
            .lock()
            .unwrap_or_else(PoisonError::into_inner) = None;
        end
    }
}

/// Hears events and passes them on as plain ones.
#[derive(Clone)]
struct Ear {
    on: Handler,
    main: tokio::runtime::Handle,
    state: Arc<GatewayState>,
    message_content: bool,
}

impl Ear {
    fn tell(&self, incoming: Incoming) {
        let on = Arc::clone(&self.on);
        let state = Arc::clone(&self.state);
        let kind = incoming.kind();
        self.main.spawn(async move {
            let handled = AssertUnwindSafe(async move { on(incoming).await });
            if handled.catch_unwind().await.is_err() {
                state.panics.fetch_add(1, Ordering::Relaxed);
                tracing::error!(kind, "a handler panicked");
            }
        });
    }

    fn command(&self, ctx: &Context, command: &CommandInteraction) {
        let Some(guild) = command.guild_id else {
            tracing::warn!("a command outside a guild");
            return;
        };
        let (name, given) = reading::command(&command.data);
        let reply = reading::reply(command.id, command.application_id, &command.token);
        let who = reading::actor(command.member.as_deref(), &command.user, &command.locale);
        let told = command.channel.as_ref();
        let place = reading::place(&ctx.cache, guild, command.channel_id, told);
        let bot_may = reading::bot_may(command.app_permissions);
        if command.data.kind == CommandType::Message {
            let target = command.data.target_id.map(|id| id.to_message_id());
            let messages = &command.data.resolved.messages;
            let Some(message) = target.and_then(|id| messages.get(&id)) else {
                tracing::error!("a message command without its message");
                let locale = who.locale;
                self.tell(Incoming::Unreadable { reply, locale });
                return;
            };
            self.tell(Incoming::MessageCommand {
                reply,
                who,
                place,
                bot_may,
                command: name,
                message: reading::seen(message),
            });
            return;
        }
        self.tell(Incoming::Slash {
            reply,
            who,
            place,
            bot_may,
            command: name,
            options: reading::options(given, &command.data.resolved),
        });
    }

    fn autocomplete(&self, ctx: &Context, command: &CommandInteraction) {
        let (name, given) = reading::command(&command.data);
        let (Some(guild), Some((option, typed))) = (command.guild_id, reading::focused(given))
        else {
            return;
        };
        self.tell(Incoming::Autocomplete {
            reply: reading::reply(command.id, command.application_id, &command.token),
            who: reading::actor(command.member.as_deref(), &command.user, &command.locale),
            place: reading::place(
                &ctx.cache,
                guild,
                command.channel_id,
                command.channel.as_ref(),
            ),
            command: name,
            option: option.to_owned(),
            typed: typed.to_owned(),
            options: reading::options(given, &command.data.resolved),
        });
    }

    fn component(&self, ctx: &Context, component: &ComponentInteraction) {
        let Some(guild) = component.guild_id else {
            return;
        };
        let ids = |ids: Vec<u64>| ids.iter().map(u64::to_string).collect();
        let values = match &component.data.kind {
            ComponentInteractionDataKind::StringSelect { values } => values.clone(),
            ComponentInteractionDataKind::UserSelect { values } => {
                ids(values.iter().map(|v| v.get()).collect())
            }
            ComponentInteractionDataKind::RoleSelect { values } => {
                ids(values.iter().map(|v| v.get()).collect())
            }
            ComponentInteractionDataKind::MentionableSelect { values } => {
                ids(values.iter().map(|v| v.get()).collect())
            }
            ComponentInteractionDataKind::ChannelSelect { values } => {
                ids(values.iter().map(|v| v.get()).collect())
            }
            _ => Vec::new(),
        };
        self.tell(Incoming::Component {
            reply: reading::reply(component.id, component.application_id, &component.token),
            who: reading::actor(
                component.member.as_ref(),
                &component.user,
                &component.locale,
            ),
            place: reading::place(
                &ctx.cache,
                guild,
                component.channel_id,
                component.channel.as_ref(),
            ),
            bot_may: reading::bot_may(component.app_permissions),
            custom_id: component.data.custom_id.clone(),
            values,
            message: component.message.id.get(),
        });
    }

    fn modal(&self, ctx: &Context, modal: &ModalInteraction) {
        let Some(guild) = modal.guild_id else {
            return;
        };
        let rows = modal.data.components.iter();
        let fields = rows
            .flat_map(|row| &row.components)
            .filter_map(|component| match component {
                ActionRowComponent::InputText(input) => Some((
                    input.custom_id.clone(),
                    input.value.clone().unwrap_or_default(),
                )),
                _ => None,
            })
            .collect();
        self.tell(Incoming::Modal {
            reply: reading::reply(modal.id, modal.application_id, &modal.token),
            who: reading::actor(modal.member.as_ref(), &modal.user, &modal.locale),
            place: reading::place(&ctx.cache, guild, modal.channel_id, modal.channel.as_ref()),
            bot_may: reading::bot_may(modal.app_permissions),
            custom_id: modal.data.custom_id.clone(),
            fields,
            message: modal.message.as_ref().map(|message| message.id.get()),
        });
    }

    fn written(&self, ctx: &Context, message: &Message) {
        let bot = ctx.cache.current_user().id;
        let Some(guild) = message.guild_id else {
            return;
        };
        if message.author.id == bot || !reading::is_written(message) {
            return;
        }
        if reading::is_automatic(message) {
            self.tell(Incoming::Automatic {
                place: reading::place(&ctx.cache, guild, message.channel_id, None),
                message: reading::seen(message),
            });
            return;
        }
        let seen = reading::seen(message);
        let mentions_bot = reading::mentions(&ctx.cache, guild, message, bot);
        let replies_to = message
            .message_reference
            .as_ref()
            .filter(|_| message.message_snapshots.is_empty())
            .and_then(|reference| reference.message_id)
            .map(MessageId::get);
        self.tell(Incoming::Message {
            who: reading::writer(&ctx.cache, guild, message, &seen.author),
            place: reading::place(&ctx.cache, guild, message.channel_id, None),
            mentions_bot,
            replies_to,
            empty_without_intent: !self.message_content
                && !mentions_bot
                && seen.text.is_empty()
                && seen.files.is_empty(),
            message: seen,
        });
    }
}

#[async_trait]
impl EventHandler for Ear {
    async fn ready(&self, _: Context, ready: Ready) {
        self.state.connections.fetch_add(1, Ordering::Relaxed);
        self.tell(Incoming::Connected {
            resumed: false,
            message_content: self.message_content,
            guilds: ready.guilds.iter().map(|guild| guild.id.get()).collect(),
        });
    }

    async fn resume(&self, ctx: Context, _: ResumedEvent) {
        self.state.resumptions.fetch_add(1, Ordering::Relaxed);
        let guilds = ctx.cache.guilds();
        self.tell(Incoming::Connected {
            resumed: true,
            message_content: self.message_content,
            guilds: guilds.into_iter().map(GuildId::get).collect(),
        });
    }

    async fn shard_stage_update(&self, _: Context, event: ShardStageUpdateEvent) {
        let connected = event.new == ConnectionStage::Connected;
        self.state.connected.store(connected, Ordering::Relaxed);
        tracing::info!(stage = %event.new, "gateway");
    }

    async fn interaction_create(&self, ctx: Context, interaction: Interaction) {
        match &interaction {
            Interaction::Command(command) => self.command(&ctx, command),
            Interaction::Autocomplete(command) => self.autocomplete(&ctx, command),
            Interaction::Component(component) => self.component(&ctx, component),
            Interaction::Modal(modal) => self.modal(&ctx, modal),
            _ => {}
        }
    }

    async fn message(&self, ctx: Context, message: Message) {
        self.written(&ctx, &message);
    }

    async fn thread_update(&self, _: Context, _: Option<GuildChannel>, thread: GuildChannel) {
        let Some(metadata) = &thread.thread_metadata else {
            return;
        };
        self.tell(Incoming::ThreadChanged {
            guild: thread.guild_id.get(),
            thread: thread.id.get(),
            archived: metadata.archived,
            locked: metadata.locked,
        });
    }

    async fn thread_delete(
        &self,
        _: Context,
        thread: PartialGuildChannel,
        _: Option<GuildChannel>,
    ) {
        self.tell(Incoming::Gone(Gone::Thread(thread.id.get())));
    }

    async fn channel_delete(&self, _: Context, channel: GuildChannel, _: Option<Vec<Message>>) {
        self.tell(Incoming::Gone(Gone::Channel(channel.id.get())));
    }

    async fn message_delete(
        &self,
        _: Context,
        channel: ChannelId,
        message: MessageId,
        _: Option<GuildId>,
    ) {
        self.tell(Incoming::Gone(Gone::Message {
            channel: channel.get(),
            message: message.get(),
        }));
    }

    async fn message_delete_bulk(
        &self,
        _: Context,
        channel: ChannelId,
        messages: Vec<MessageId>,
        _: Option<GuildId>,
    ) {
        for message in messages {
            self.tell(Incoming::Gone(Gone::Message {
                channel: channel.get(),
                message: message.get(),
            }));
        }
    }

    async fn guild_delete(&self, _: Context, guild: UnavailableGuild, _: Option<Guild>) {
        // Unavailable is an outage of Discord, and passes.
        if !guild.unavailable {
            self.tell(Incoming::Gone(Gone::Guild(guild.id.get())));
        }
    }
}

/// Sees every event, also those that the library cannot read.
struct Unknown(Ear);

#[async_trait]
impl RawEventHandler for Unknown {
    async fn raw_event(&self, _: Context, event: Event) {
        let state = &self.0.state;
        state.events.fetch_add(1, Ordering::Relaxed);
        let Event::Unknown(unknown) = event else {
            return;
        };
        state.unknown_events.fetch_add(1, Ordering::Relaxed);
        // The kind is Discord's word, or nearly: no content.
        let kind: String = unknown
            .kind
            .chars()
            .filter(|c| c.is_ascii_uppercase() || *c == '_')
            .take(48)
            .collect();
        if matches!(kind.as_str(), "INTERACTION_CREATE" | "MESSAGE_CREATE") {
            tracing::error!(kind, "an event of a person cannot be read");
        } else {
            tracing::warn!(kind, "an event cannot be read");
        }
        if kind == "INTERACTION_CREATE"
            && let Some((reply, locale)) = answerable(&unknown.value)
        {
            self.0.tell(Incoming::Unreadable { reply, locale });
        }
    }
}

/// What it takes to answer an interaction, of which nothing else is understood.
fn answerable(value: &Value) -> Option<(Reply, Locale)> {
    let text = |key: &str| value.get(key).and_then(Value::as_str);
    let interaction = text("id")?.parse().ok()?;
    let reply = Reply {
        interaction,
        application: text("application_id")?.parse().ok()?,
        token: text("token")?.to_owned(),
        created_ms: made_at_ms(interaction),
    };
    Some((reply, Locale::from_discord(text("locale").unwrap_or(""))))
}

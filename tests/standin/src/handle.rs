//! The handle on the double: starting it, breaking it, and asking it at the end
//! whether all was well.

use std::fmt;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use serde_json::{Value, json};
use tokio::sync::broadcast;

use crate::Core;
use crate::clock::Clock;
use crate::faults::{Failure, Fault, path_matches};
use crate::gateway::{ClientAct, IdentifyAnswer};
use crate::ids::{ChannelId, UserId};
use crate::server::{self, Listeners};
use crate::tls::Certificate;
use crate::world::{Author, Change, Limit, Request, Response, World};

/// How long a test waits for the bot before it fails.
const PATIENCE_MILLISECONDS: u64 = 10_000;

/// A running double of Discord. Clones are handles on the same one; it stops listening
/// when the last is dropped.
#[derive(Clone)]
pub struct Discord {
    pub(crate) core: Arc<Core>,
    clock: Clock,
    url: Arc<str>,
    tls: Option<Tls>,
    patience_milliseconds: Arc<AtomicU64>,
    _listeners: Arc<Listeners>,
}

#[derive(Clone)]
struct Tls {
    address: SocketAddr,
    certificate: Arc<Certificate>,
}

impl fmt::Debug for Discord {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Discord")
            .field("url", &self.url)
            .finish_non_exhaustive()
    }
}

impl Discord {
    /// Starts a double on a free port of the loopback interface.
    ///
    /// # Panics
    /// Where no port can be bound.
    pub async fn start() -> Self {
        Self::start_at(None).await
    }

    /// Starts a double on a given address, for a playground with a fixed port.
    ///
    /// # Panics
    /// Where the address cannot be bound.
    pub async fn start_at(address: Option<SocketAddr>) -> Self {
        Self::launch(address, false).await
    }

    /// Starts a double that also speaks TLS as `discord.com` (and its CDN's names) on
    /// [`Discord::tls_address`]; the gateway stays without TLS.
    ///
    /// # Panics
    /// Where no port can be bound or no certificate be made.
    pub async fn start_tls() -> Self {
        Self::launch(None, true).await
    }

    async fn launch(address: Option<SocketAddr>, with_tls: bool) -> Self {
        let plain = server::bind(address)
            .await
            .expect("the address must be free to be bound");
        let at = plain.local_addr().expect("a bound socket has an address");
        let url = format!("http://{at}");
        let clock = Clock::default();
        let mut world = World::new(clock.clone());
        world.url.clone_from(&url);
        world.cdn.clone_from(&url);
        let mut tls = None;
        let mut secure = None;
        if with_tls {
            let certificate =
                Arc::new(Certificate::new().expect("OpenSSL makes a self-signed certificate"));
            let listener = server::bind(None)
                .await
                .expect("a free port of the loopback interface");
            let address = listener
                .local_addr()
                .expect("a bound socket has an address");
            tls = Some(Tls {
                address,
                certificate: Arc::clone(&certificate),
            });
            secure = Some((listener, certificate));
        }
        let core = Arc::new(Core::new(world));
        let listeners = server::listen(&core, plain, secure);
        Self {
            core,
            clock,
            url: url.into(),
            tls,
            patience_milliseconds: Arc::new(AtomicU64::new(PATIENCE_MILLISECONDS)),
            _listeners: Arc::new(listeners),
        }
    }

    /// `http://127.0.0.1:PORT`: replaces `https://discord.com`, and the CDN's host.
    #[must_use]
    pub fn url(&self) -> &str {
        &self.url
    }

    /// Where `discord.com` is to be resolved to, after [`Discord::start_tls`].
    #[must_use]
    pub fn tls_address(&self) -> Option<SocketAddr> {
        self.tls.as_ref().map(|t| t.address)
    }

    /// The self-signed certificate, PEM.
    #[must_use]
    pub fn certificate_pem(&self) -> Option<&[u8]> {
        self.tls.as_ref().map(|t| t.certificate.pem.as_slice())
    }

    /// The self-signed certificate, DER.
    #[must_use]
    pub fn certificate_der(&self) -> Option<&[u8]> {
        self.tls.as_ref().map(|t| t.certificate.der.as_slice())
    }

    /// The bot's token, without the `Bot ` prefix.
    #[must_use]
    pub fn token(&self) -> String {
        self.core.look(|w| w.token.clone())
    }

    /// The bot user, whose id is also the application's.
    #[must_use]
    pub fn bot(&self) -> UserId {
        UserId(self.core.look(|w| w.bot))
    }

    /// `<@ID>` of the bot.
    #[must_use]
    pub fn bot_mention(&self) -> String {
        format!("<@{}>", self.bot())
    }

    /// The clock the double lives by.
    #[must_use]
    pub fn clock(&self) -> &Clock {
        &self.clock
    }

    /// Lets time pass: pushes the clock, and archives the threads that were quiet for
    /// longer than they are set to.
    pub fn advance(&self, by: Duration) {
        self.clock.advance(by);
        self.core.with(World::archive_quiet_threads);
    }

    /// How long to wait for the bot before a test fails; 10 s unless set.
    pub fn set_patience(&self, patience: Duration) {
        let milliseconds = u64::try_from(patience.as_millis()).unwrap_or(u64::MAX);
        self.patience_milliseconds
            .store(milliseconds, Ordering::Relaxed);
    }

    /// Whether the application has the message-content intent switched on (it has).
    pub fn set_message_content(&self, enabled: bool) {
        self.core.with(|w| w.message_content = enabled);
    }

    /// Where attachments say they can be downloaded, instead of [`Discord::url`]: such
    /// as `https://cdn.discordapp.com` after [`Discord::start_tls`], for a client that
    /// resolves that name to [`Discord::tls_address`]. Not so unless asked for, because a
    /// client that does not would leave this machine.
    pub fn set_cdn(&self, base: &str) {
        self.core
            .with(|w| base.trim_end_matches('/').clone_into(&mut w.cdn));
    }

    /// How long an interaction waits for its first answer; 3 s unless set.
    pub fn set_response_limit(&self, limit: Duration) {
        let limit = u64::try_from(limit.as_millis()).unwrap_or(u64::MAX);
        self.core.with(|w| w.response_limit_milliseconds = limit);
    }

    /// The gateway, for breaking it.
    #[must_use]
    pub fn gateway(&self) -> GatewayHandle {
        GatewayHandle {
            discord: self.clone(),
        }
    }

    // ---- faults ------------------------------------------------------------

    /// The next request that matches meets with `failure`. `method` may be `*`; in the
    /// pattern (after `/api/v10`) `*` is one segment and a final `**` the rest.
    pub fn fail_next(&self, method: &str, pattern: &str, failure: Failure) {
        self.fail_times(method, pattern, failure, 1);
    }

    /// As [`Discord::fail_next`], for the next `times` requests.
    pub fn fail_times(&self, method: &str, pattern: &str, failure: Failure, times: u64) {
        self.core.with(|w| {
            w.faults.push(Fault {
                method: method.to_owned(),
                pattern: pattern.to_owned(),
                failure,
                times,
            });
        });
    }

    /// Takes back the faults that have not happened.
    pub fn clear_faults(&self) {
        self.core.with(|w| w.faults.clear());
    }

    /// Sets a rate limit on a route: over it, 429 with `Retry-After` and the headers.
    pub fn limit_route(&self, method: &str, pattern: &str, requests: u64, per: Duration) {
        self.core.with(|w| {
            w.limits.push(Limit {
                method: method.to_owned(),
                pattern: pattern.to_owned(),
                requests,
                per_milliseconds: u64::try_from(per.as_millis()).unwrap_or(u64::MAX),
            });
        });
    }

    // ---- looking -----------------------------------------------------------

    /// Everything that was asked over REST, in order.
    #[must_use]
    pub fn requests(&self) -> Vec<Request> {
        self.core.look(|w| w.requests.clone())
    }

    /// The requests to one route; pattern as in [`Discord::fail_next`].
    #[must_use]
    pub fn requests_to(&self, method: &str, pattern: &str) -> Vec<Request> {
        self.core.look(|w| {
            w.requests
                .iter()
                .filter(|r| (method == "*" || r.method == method) && path_matches(pattern, &r.path))
                .cloned()
                .collect()
        })
    }

    /// Waits until a route was asked `times` times, and gives the last request.
    ///
    /// # Panics
    /// Where that does not happen in time.
    pub async fn await_request(&self, method: &str, pattern: &str, times: usize) -> Request {
        let what = format!("request {times} to {method} {pattern}");
        self.wait_for(&what, |w| {
            let mut all = w.requests.iter().filter(|r| {
                (method == "*" || r.method == method) && path_matches(pattern, &r.path)
            });
            all.nth(times.saturating_sub(1)).cloned()
        })
        .await
    }

    /// What changes, as it changes.
    #[must_use]
    pub fn events(&self) -> broadcast::Receiver<Change> {
        self.core.look(|w| w.changes.subscribe())
    }

    /// How often the bot said that it is typing in a channel.
    #[must_use]
    pub fn typing(&self, channel: ChannelId) -> usize {
        self.core.look(|w| {
            w.channels
                .get(&channel.0)
                .map_or(0, |c| c.typing_milliseconds.len())
        })
    }

    /// How often commands were registered, and which are there now for a guild.
    #[must_use]
    pub fn registrations(&self) -> u64 {
        self.core.look(|w| w.registrations)
    }

    /// The commands a guild offers, as registered.
    #[must_use]
    pub fn commands(&self, guild: crate::GuildId) -> Vec<Value> {
        self.core.look(|w| w.commands_of(guild.0))
    }

    /// Waits until commands are registered for a guild.
    ///
    /// # Panics
    /// Where that does not happen in time.
    pub async fn commands_registered(&self, guild: crate::GuildId) {
        self.wait_for("commands to be registered", |w| {
            (!w.commands_of(guild.0).is_empty()).then_some(())
        })
        .await;
    }

    /// Everything that a person (or, with `None`, nobody in particular) sees, as JSON:
    /// guilds with channels, threads, roles and members; messages by channel, oldest
    /// first; commands by guild.
    #[must_use]
    pub fn state(&self, viewer: Option<UserId>) -> Value {
        let viewer = viewer.map(|v| v.0);
        self.core.look(|w| {
            let seen: Vec<_> = w
                .channels
                .values()
                .filter(|c| viewer.is_none_or(|v| w.sees(v, c.id)))
                .collect();
            let guilds: Vec<Value> = w
                .guilds
                .values()
                .filter(|g| viewer.is_none_or(|v| g.members.contains_key(&v)))
                .map(|g| {
                    let mut json = w.guild_json(g);
                    let of = |threads: bool| -> Vec<Value> {
                        seen.iter()
                            .filter(|c| c.guild == g.id && c.thread.is_some() == threads)
                            .map(|c| w.channel_json(c))
                            .collect()
                    };
                    let members: Vec<Value> = g
                        .members
                        .keys()
                        .map(|m| w.member_json(g.id, *m, true))
                        .collect();
                    json["channels"] = json!(of(false));
                    json["threads"] = json!(of(true));
                    json["members"] = json!(members);
                    json["commands"] = json!(w.commands_of(g.id));
                    json
                })
                .collect();
            let messages: serde_json::Map<String, Value> = seen
                .iter()
                .map(|c| {
                    let all: Vec<Value> = w
                        .visible_messages(ChannelId(c.id), viewer)
                        .into_iter()
                        .map(|m| w.message_json(m))
                        .collect();
                    (c.id.to_string(), json!(all))
                })
                .collect();
            json!({"bot": w.user_json(w.bot), "guilds": guilds, "messages": messages})
        })
    }

    // ---- was all well? -----------------------------------------------------

    /// What the bot did wrong so far.
    #[must_use]
    pub fn violations(&self) -> Vec<String> {
        self.core.look(|w| w.violations.clone())
    }

    /// Takes the violations that contain `part` off the list and says how many there
    /// were: for tests of the double, and of a bot that was killed in between.
    pub fn forgive(&self, part: &str) -> usize {
        self.core.with(|w| {
            let before = w.violations.len();
            w.violations.retain(|v| !v.contains(part));
            before - w.violations.len()
        })
    }

    /// Nobody waits for the answers that are missing now (the bot was killed).
    pub fn forget_unanswered(&self) {
        self.core.with(|w| {
            for interaction in w.interactions.values_mut() {
                interaction.forgotten |= interaction.response.is_none();
            }
        });
    }

    /// Posts of the bot that no test has looked at, as text.
    #[must_use]
    pub fn unread(&self) -> Vec<String> {
        self.core.look(|w| {
            w.messages
                .values()
                .filter(|m| !m.read && !m.deleted)
                .map(|m| w.describe(m))
                .collect()
        })
    }

    /// Everything that is not as it should be when a test ends.
    #[must_use]
    pub fn complaints(&self) -> Vec<String> {
        let mut all: Vec<String> = self
            .violations()
            .into_iter()
            .map(|v| format!("violation: {v}"))
            .collect();
        self.core.look(|w| {
            for interaction in w.interactions.values().filter(|i| !i.forgotten) {
                if interaction.response.is_none() {
                    all.push(format!("never answered: {}", interaction.title));
                } else if !interaction.response_read
                    && let Some(Response::Choices(_) | Response::Modal(_)) = interaction.response
                {
                    all.push(format!(
                        "nobody looked at what {} opened: {:?}",
                        interaction.title, interaction.response
                    ));
                } else if interaction.response == Some(Response::Deferred)
                    && interaction
                        .original
                        .and_then(|m| w.messages.get(&m))
                        .is_some_and(|m| m.is_loading() && !m.deleted)
                {
                    all.push(format!("left \"thinking\": {}", interaction.title));
                }
            }
            for message in w.messages.values().filter(|m| {
                !m.read
                    && !m.deleted
                    && !m.is_loading()
                    && matches!(m.author, Author::User(u) if u == w.bot)
            }) {
                all.push(format!("unread post:\n{}", w.describe(message)));
            }
            for fault in w.faults.iter().filter(|f| f.times > 0) {
                all.push(format!(
                    "a fault that never happened: {} {} ({} left)",
                    fault.method, fault.pattern, fault.times
                ));
            }
        });
        all
    }

    /// Ends a test.
    ///
    /// # Panics
    /// Where the bot broke a rule, posted something that was not read, left an
    /// interaction unanswered, or a scripted fault never happened.
    #[track_caller]
    pub fn finish(&self) {
        let complaints = self.complaints();
        assert!(
            complaints.is_empty(),
            "{} things are not as they should be:\n- {}",
            complaints.len(),
            complaints.join("\n- ")
        );
    }

    // ---- waiting -----------------------------------------------------------

    /// Waits until `found` finds something in the world.
    pub(crate) async fn wait_for<T>(&self, what: &str, found: impl Fn(&World) -> Option<T>) -> T {
        match self.try_wait_for(&found).await {
            Some(found) => found,
            None => panic!("waited {:?} for {what}\n{}", self.patience(), self.story()),
        }
    }

    pub(crate) async fn try_wait_for<T>(&self, found: impl Fn(&World) -> Option<T>) -> Option<T> {
        let mut bell = self.core.bell();
        let deadline = tokio::time::Instant::now() + self.patience();
        loop {
            bell.mark_unchanged();
            if let Some(found) = self.core.look(&found) {
                return Some(found);
            }
            match tokio::time::timeout_at(deadline, bell.changed()).await {
                Ok(Ok(())) => {}
                Ok(Err(_)) | Err(_) => return self.core.look(&found),
            }
        }
    }

    fn patience(&self) -> Duration {
        Duration::from_millis(self.patience_milliseconds.load(Ordering::Relaxed))
    }

    /// The last things that happened, for the reader of a failing test.
    pub(crate) fn story(&self) -> String {
        self.core.look(|w| {
            let skip = w.requests.len().saturating_sub(12);
            let requests: Vec<String> = w
                .requests
                .iter()
                .skip(skip)
                .map(|r| format!("  {} {} -> {}", r.method, r.path, r.status))
                .collect();
            let unread: Vec<String> = w
                .messages
                .values()
                .filter(|m| !m.read && !m.deleted)
                .map(|m| w.describe(m))
                .collect();
            format!(
                "gateway connected: {}\nlast requests:\n{}\nviolations: {:#?}\nunread:\n{}",
                w.gateway.is_connected(),
                requests.join("\n"),
                w.violations,
                unread.join("\n")
            )
        })
    }
}

/// The gateway of a double: what it is set to, and every way to break it.
#[derive(Clone, Debug)]
pub struct GatewayHandle {
    discord: Discord,
}

impl GatewayHandle {
    fn with<R>(&self, act: impl FnOnce(&mut crate::gateway::Gateway) -> R) -> R {
        self.discord.core.with(|w| act(&mut w.gateway))
    }

    /// Waits until the bot is connected and identified.
    ///
    /// # Panics
    /// Where that does not happen in time.
    pub async fn connected(&self) {
        self.discord
            .wait_for("the bot to connect to the gateway", |w| {
                w.gateway.is_connected().then_some(())
            })
            .await;
    }

    /// Waits until the bot is gone (it was killed, or its connection broken).
    ///
    /// # Panics
    /// Where that does not happen in time.
    pub async fn disconnected(&self) {
        self.discord
            .wait_for("the bot to be gone from the gateway", |w| {
                (!w.gateway.is_connected()).then_some(())
            })
            .await;
    }

    /// Whether the bot is connected and identified.
    #[must_use]
    pub fn is_connected(&self) -> bool {
        self.discord.core.look(|w| w.gateway.is_connected())
    }

    /// What the client did, in order.
    #[must_use]
    pub fn acts(&self) -> Vec<ClientAct> {
        self.discord.core.look(|w| w.gateway.acts.clone())
    }

    /// Waits until the client did something (for the `times`th time).
    ///
    /// # Panics
    /// Where that does not happen in time.
    pub async fn await_act(
        &self,
        what: &str,
        times: usize,
        is_it: impl Fn(&ClientAct) -> bool,
    ) -> ClientAct {
        self.discord
            .wait_for(&format!("{what} on the gateway ({times} times)"), |w| {
                let mut all = w.gateway.acts.iter().filter(|a| is_it(a));
                all.nth(times.saturating_sub(1)).cloned()
            })
            .await
    }

    /// Waits for the `times`th IDENTIFY.
    pub async fn identified(&self, times: usize) {
        self.await_act("IDENTIFY", times, |a| {
            matches!(a, ClientAct::Identify { .. })
        })
        .await;
    }

    /// Waits for the `times`th RESUME.
    pub async fn resumed(&self, times: usize) {
        self.await_act("RESUME", times, |a| matches!(a, ClientAct::Resume { .. }))
            .await;
    }

    /// Intents of the newest session.
    #[must_use]
    pub fn intents(&self) -> Option<u64> {
        self.discord.core.look(|w| w.gateway.intents())
    }

    /// For connections from now on; 41.25 s unless set.
    pub fn set_heartbeat_interval(&self, interval: Duration) {
        self.with(|g| g.heartbeat_interval = interval);
    }

    /// READY and GUILD_CREATE as zlib frames, where the client takes them.
    pub fn set_zlib(&self, zlib: bool) {
        self.with(|g| g.zlib = zlib);
    }

    /// Whether heartbeats are acknowledged.
    pub fn set_acknowledging(&self, acknowledge: bool) {
        self.with(|g| g.acknowledge = acknowledge);
    }

    /// Whether new connections are refused.
    pub fn set_refusing(&self, refuse: bool) {
        self.with(|g| g.refuse = refuse);
    }

    /// Whether events are lost (instead of kept for RESUME) while nobody is connected.
    pub fn set_losing_events(&self, lose: bool) {
        self.with(|g| g.lose_while_away = lose);
    }

    /// How many already seen events a RESUME replays once more.
    pub fn set_replay_overlap(&self, events: usize) {
        self.with(|g| g.replay_overlap = events);
    }

    /// The least time between two IDENTIFYs (Discord: 5 s), sooner gets op 9; not
    /// enforced unless set, so that a bot can be restarted at once.
    pub fn set_identify_interval(&self, interval: Duration) {
        self.with(|g| g.identify_interval = interval);
    }

    /// What the next IDENTIFY gets instead of READY; may be called several times.
    pub fn answer_identify(&self, with: IdentifyAnswer) {
        self.with(|g| g.identify_answers.push_back(with));
    }

    /// op 1: asks for a heartbeat at once.
    pub fn request_heartbeat(&self) {
        self.with(crate::gateway::Gateway::request_heartbeat);
    }

    /// op 7: asks to reconnect and resume.
    pub fn ask_to_reconnect(&self) {
        self.with(crate::gateway::Gateway::ask_to_reconnect);
    }

    /// op 9.
    pub fn invalidate(&self, resumable: bool) {
        self.with(|g| g.invalidate(resumable));
    }

    /// Closes with a code; 4004, 4007 and 4009 to 4014 end the session.
    pub fn close(&self, code: u16) {
        self.with(|g| g.close(Some(code)));
    }

    /// A close frame that carries no code.
    pub fn close_without_code(&self) {
        self.with(|g| g.close(None));
    }

    /// The connection breaks, without a close frame.
    pub fn drop_connection(&self) {
        self.with(crate::gateway::Gateway::drop_connections);
    }

    /// RESUME will be answered with op 9 (not resumable).
    pub fn forget_sessions(&self) {
        self.with(crate::gateway::Gateway::forget_sessions);
    }

    /// A text frame that is no JSON.
    pub fn send_garbage(&self) {
        self.with(|g| g.send_raw("{\"op\": 0, \"t\": \"MESS"));
    }

    /// An op that does not exist.
    pub fn send_unknown_op(&self) {
        self.with(crate::gateway::Gateway::unknown_op);
    }

    /// Any event, as it stands: a kind that the client does not know, a field missing.
    pub fn send_event(&self, name: &str, data: &Value) {
        self.with(|g| g.dispatch(name, 0, data));
    }
}

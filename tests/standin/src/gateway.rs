//! The gateway: sessions, replay, and every way it fails.
//!
//! A session is a numbered list of dispatches; a connection is a window onto it.
//! While no connection is there, events are kept and replayed by RESUME, unless a test
//! says that they are lost. Not stricter than Discord: a `Bot ` prefix in the token, any
//! `presence.since`, RESUME before HELLO and on the original address are all taken.
//!
//! Numbers: Discord documentation, topics/gateway and topics/opcodes-and-status-codes.

use std::collections::VecDeque;
use std::io::Write;
use std::sync::Arc;
use std::time::Duration;

use axum::extract::ws::{CloseFrame, Message as Frame, WebSocket};
use flate2::{Compression, write::ZlibEncoder};
use serde_json::{Value, json};
use tokio::sync::mpsc;
use tokio::time::Instant;

use crate::Core;
use crate::rules::integer;
use crate::world::World;

/// Intent: guilds, channels, threads.
pub const GUILDS: u64 = 1;
/// Intent: messages in guilds.
pub const GUILD_MESSAGES: u64 = 1 << 9;
/// Intent: reactions in guilds.
pub const GUILD_MESSAGE_REACTIONS: u64 = 1 << 10;
/// Intent: typing in guilds.
pub const GUILD_MESSAGE_TYPING: u64 = 1 << 11;
/// Intent: what others' messages say. Privileged.
pub const MESSAGE_CONTENT: u64 = 1 << 15;

/// Intents: members and presences, which this application does not have.
const OTHER_PRIVILEGED: u64 = (1 << 1) | (1 << 8);
/// Every intent bit Discord defines.
const KNOWN_INTENTS: u64 = 0x1_FFFF | (1 << 20) | (1 << 21) | (1 << 24) | (1 << 25);
/// Bytes of one payload from the client.
const PAYLOAD_BYTES: usize = 4096;
/// Payloads from the client in a minute.
const SENDS_PER_MINUTE: usize = 120;

/// What a client did on the gateway, in order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ClientAct {
    /// A connection was opened.
    Connect,
    /// A connection was refused.
    Refused,
    /// IDENTIFY with these intents.
    Identify {
        /// Intent bits.
        intents: u64,
    },
    /// RESUME from this sequence number.
    Resume {
        /// The last one the client says it saw.
        sequence: u64,
    },
    /// A heartbeat.
    Heartbeat,
    /// The client closed, with this code.
    Close {
        /// `None` for a lost connection.
        code: Option<u16>,
    },
}

/// What the next IDENTIFY gets instead of READY.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum IdentifyAnswer {
    /// Close with this code.
    Close(u16),
    /// op 9.
    InvalidSession,
}

enum Out {
    Payload(Value),
    Raw(String),
    Close(Option<u16>),
    Drop,
}

pub(crate) struct Session {
    id: String,
    intents: u64,
    compress: bool,
    sequence: u64,
    sent: Vec<(u64, Value)>,
    out: Option<mpsc::UnboundedSender<Out>>,
    /// RESUME is answered with op 9.
    dead: bool,
}

/// Sessions and what tests have set.
pub(crate) struct Gateway {
    sessions: Vec<Session>,
    pub heartbeat_interval: Duration,
    pub zlib: bool,
    pub acknowledge: bool,
    pub refuse: bool,
    pub lose_while_away: bool,
    pub replay_overlap: usize,
    pub identify_answers: VecDeque<IdentifyAnswer>,
    /// The least time between two IDENTIFYs; sooner gets op 9.
    pub identify_interval: Duration,
    last_identify: Option<Instant>,
    pub acts: Vec<ClientAct>,
}

impl Default for Gateway {
    fn default() -> Self {
        Self {
            sessions: Vec::new(),
            heartbeat_interval: Duration::from_millis(41_250),
            zlib: false,
            acknowledge: true,
            refuse: false,
            lose_while_away: false,
            replay_overlap: 0,
            identify_answers: VecDeque::new(),
            identify_interval: Duration::ZERO,
            last_identify: None,
            acts: Vec::new(),
        }
    }
}

impl Session {
    fn dispatch(&mut self, name: &str, data: &Value, lose_while_away: bool) {
        self.sequence += 1;
        let payload = json!({"op": 0, "t": name, "s": self.sequence, "d": data});
        if self.out.is_none() && lose_while_away {
            return;
        }
        self.sent.push((self.sequence, payload.clone()));
        if let Some(out) = &self.out
            && out.send(Out::Payload(payload)).is_err()
        {
            self.out = None;
        }
    }
}

impl Gateway {
    /// Sends an event to the sessions that asked for it; intent 0 goes to all.
    pub fn dispatch(&mut self, name: &str, intent: u64, data: &Value) {
        let lose = self.lose_while_away;
        for session in self.sessions.iter_mut().filter(|s| !s.dead) {
            if intent == 0 || session.intents & intent != 0 {
                session.dispatch(name, data, lose);
            }
        }
    }

    /// A message event, stripped for the sessions without the content intent.
    pub fn dispatch_message(&mut self, name: &str, full: &Value, stripped: &Value) {
        let lose = self.lose_while_away;
        for session in self.sessions.iter_mut().filter(|s| !s.dead) {
            if session.intents & GUILD_MESSAGES != 0 {
                let whole = session.intents & MESSAGE_CONTENT != 0;
                session.dispatch(name, if whole { full } else { stripped }, lose);
            }
        }
    }

    /// Whether a session has a connection.
    pub fn is_connected(&self) -> bool {
        self.sessions
            .iter()
            .any(|s| s.out.as_ref().is_some_and(|o| !o.is_closed()))
    }

    fn each_connected(&mut self, mut act: impl FnMut(&mut Session)) {
        for session in &mut self.sessions {
            if session.out.is_some() {
                act(session);
            }
        }
    }

    fn send(&mut self, payload: &Value) {
        self.each_connected(|s| {
            if let Some(out) = &s.out {
                let _ = out.send(Out::Payload(payload.clone()));
            }
        });
    }

    pub fn send_raw(&mut self, text: &str) {
        self.each_connected(|s| {
            if let Some(out) = &s.out {
                let _ = out.send(Out::Raw(text.to_owned()));
            }
        });
    }

    pub fn request_heartbeat(&mut self) {
        self.send(&json!({"op": 1, "d": null}));
    }

    pub fn unknown_op(&mut self) {
        self.send(&json!({"op": 99, "d": {"surprise": true}, "s": null, "t": null}));
    }

    pub fn ask_to_reconnect(&mut self) {
        self.send(&json!({"op": 7, "d": null}));
        self.each_connected(|s| s.out = None);
    }

    pub fn invalidate(&mut self, resumable: bool) {
        self.send(&json!({"op": 9, "d": resumable}));
        self.each_connected(|s| {
            s.out = None;
            s.dead = !resumable;
        });
    }

    /// Closes connections; after 4007 and 4009 the session is gone.
    pub fn close(&mut self, code: Option<u16>) {
        self.each_connected(|s| {
            if let Some(out) = s.out.take() {
                let _ = out.send(Out::Close(code));
            }
            s.dead |= matches!(code, Some(4004 | 4007 | 4009..=4014));
        });
    }

    pub fn drop_connections(&mut self) {
        self.each_connected(|s| {
            if let Some(out) = s.out.take() {
                let _ = out.send(Out::Drop);
            }
        });
    }

    /// RESUME will be answered with op 9.
    pub fn forget_sessions(&mut self) {
        self.sessions.iter_mut().for_each(|s| s.dead = true);
    }

    /// Intents of the newest session that was identified.
    pub fn intents(&self) -> Option<u64> {
        self.sessions.last().map(|s| s.intents)
    }
}

fn zlib(text: &str) -> Vec<u8> {
    let mut encoder = ZlibEncoder::new(Vec::new(), Compression::fast());
    // Writing into a Vec does not fail.
    let _ = encoder.write_all(text.as_bytes());
    encoder.finish().unwrap_or_default()
}

/// The code a connection is closed with.
type CloseCode = u16;

struct Connection {
    core: Arc<Core>,
    out: mpsc::UnboundedSender<Out>,
    /// Index of the session, which never moves.
    session: Option<usize>,
    sends: VecDeque<Instant>,
}

/// Serves one connection until it ends.
pub(crate) async fn serve(core: Arc<Core>, mut socket: WebSocket, version: Option<String>) {
    let interval = core.with(|w| {
        w.gateway.acts.push(ClientAct::Connect);
        w.gateway.heartbeat_interval
    });
    if version.as_deref() != Some("10") {
        core.with(|w| w.violation(format!("gateway: version {version:?} instead of 10")));
        close(&mut socket, Some(4012)).await;
        return;
    }
    let hello = json!({
        "op": 10, "s": null, "t": null,
        "d": {"heartbeat_interval": u64::try_from(interval.as_millis()).unwrap_or(u64::MAX), "_trace": []},
    });
    if send(&mut socket, &hello, false).await.is_err() {
        return;
    }
    let (out, mut queue) = mpsc::unbounded_channel();
    let mut connection = Connection {
        core: Arc::clone(&core),
        out,
        session: None,
        sends: VecDeque::new(),
    };
    // Real patience is not documented; this is long enough for a busy machine.
    let patience = interval * 3 + Duration::from_secs(5);
    let mut deadline = Instant::now() + patience;
    loop {
        tokio::select! {
            biased;
            next = queue.recv() => match next {
                Some(Out::Payload(payload)) => {
                    let kind = payload.get("t").and_then(Value::as_str);
                    if kind == Some("INTERACTION_CREATE") {
                        connection.note_told(&payload);
                    }
                    let compressed = connection.is_compressed()
                        && matches!(kind, Some("READY" | "GUILD_CREATE"));
                    if send(&mut socket, &payload, compressed).await.is_err() {
                        connection.lost(None);
                        return;
                    }
                }
                Some(Out::Raw(text)) => {
                    if socket.send(Frame::Text(text.into())).await.is_err() {
                        connection.lost(None);
                        return;
                    }
                }
                Some(Out::Close(code)) => {
                    close(&mut socket, code).await;
                    return;
                }
                // Dropping the socket closes the connection without a close frame.
                Some(Out::Drop) | None => return,
            },
            received = socket.recv() => match received {
                Some(Ok(Frame::Text(text))) => {
                    deadline = Instant::now() + patience;
                    if let Err(code) = connection.receive(text.as_str()) {
                        connection.lost(None);
                        close(&mut socket, Some(code)).await;
                        return;
                    }
                }
                Some(Ok(Frame::Close(frame))) => {
                    connection.lost(frame.map(|f| f.code));
                    return;
                }
                Some(Ok(Frame::Binary(_))) => {
                    core.with(|w| w.violation("gateway: a binary frame from the client"));
                    connection.lost(None);
                    close(&mut socket, Some(4002)).await;
                    return;
                }
                Some(Ok(Frame::Ping(_) | Frame::Pong(_))) => {}
                Some(Err(_)) | None => {
                    connection.lost(None);
                    return;
                }
            },
            () = tokio::time::sleep_until(deadline) => {
                connection.lost(None);
                close(&mut socket, Some(4009)).await;
                return;
            }
        }
    }
}

async fn send(
    socket: &mut WebSocket,
    payload: &Value,
    compressed: bool,
) -> Result<(), axum::Error> {
    let text = payload.to_string();
    let frame = if compressed {
        Frame::Binary(zlib(&text).into())
    } else {
        Frame::Text(text.into())
    };
    socket.send(frame).await
}

async fn close(socket: &mut WebSocket, code: Option<u16>) {
    let frame = code.map(|code| CloseFrame {
        code,
        reason: reason(code).into(),
    });
    let _ = socket.send(Frame::Close(frame)).await;
    // The client's own close frame, or its going away; not for ever.
    let _ = tokio::time::timeout(Duration::from_secs(2), async {
        while let Some(Ok(frame)) = socket.recv().await {
            if matches!(frame, Frame::Close(_)) {
                break;
            }
        }
    })
    .await;
}

fn reason(code: u16) -> &'static str {
    match code {
        1001 => "Discord WebSocket requesting client reconnect.",
        4000 => "Unknown error.",
        4001 => "Unknown opcode.",
        4002 => "Error while decoding payload.",
        4003 => "Not authenticated.",
        4004 => "Authentication failed.",
        4005 => "Already authenticated.",
        4007 => "Invalid seq.",
        4008 => "Rate limited.",
        4009 => "Session timed out.",
        4010 => "Invalid shard.",
        4011 => "Sharding required.",
        4012 => "Invalid API version.",
        4013 => "Invalid intent(s).",
        4014 => "Disallowed intent(s).",
        _ => "",
    }
}

impl Connection {
    fn is_compressed(&self) -> bool {
        self.core.look(|w| {
            w.gateway.zlib
                && self
                    .session
                    .and_then(|s| w.gateway.sessions.get(s))
                    .is_some_and(|s| s.compress)
        })
    }

    /// The bot hears of an interaction now, for the first time or again.
    fn note_told(&self, payload: &Value) {
        let id = payload
            .pointer("/d/id")
            .and_then(Value::as_str)
            .and_then(|id| id.parse::<u64>().ok());
        // Nobody waits for this: the bell stays silent.
        let mut world = self.core.lock();
        if let Some(interaction) = id.and_then(|id| world.interactions.get_mut(&id)) {
            interaction.told.get_or_insert_with(std::time::Instant::now);
        }
    }

    /// The client went away; 1000 and 1001 end the session, anything else keeps it.
    fn lost(&self, code: Option<u16>) {
        self.core.with(|w| {
            w.gateway.acts.push(ClientAct::Close { code });
            let Some(session) = self.session.and_then(|s| w.gateway.sessions.get_mut(s)) else {
                return;
            };
            if session
                .out
                .as_ref()
                .is_some_and(|o| o.same_channel(&self.out))
            {
                session.out = None;
                session.dead |= matches!(code, Some(1000 | 1001));
            }
        });
    }

    fn receive(&mut self, text: &str) -> Result<(), CloseCode> {
        let now = Instant::now();
        self.sends.push_back(now);
        while self
            .sends
            .front()
            .is_some_and(|at| now.duration_since(*at) > Duration::from_secs(60))
        {
            self.sends.pop_front();
        }
        if self.sends.len() > SENDS_PER_MINUTE {
            return Err(self.broken(4008, "more than 120 payloads in a minute"));
        }
        if text.len() > PAYLOAD_BYTES {
            return Err(self.broken(4002, "a payload of more than 4,096 bytes"));
        }
        let Ok(payload) = serde_json::from_str::<Value>(text) else {
            return Err(self.broken(4002, "a payload that is not JSON"));
        };
        let data = payload.get("d").unwrap_or(&Value::Null);
        match payload.get("op").and_then(Value::as_u64) {
            Some(1) => {
                self.core.with(|w| {
                    w.gateway.acts.push(ClientAct::Heartbeat);
                    if w.gateway.acknowledge {
                        let _ = self.out.send(Out::Payload(json!({"op": 11, "d": null})));
                    }
                });
                Ok(())
            }
            Some(2) => self.identify(data),
            Some(6) => self.resume(data),
            Some(3 | 4 | 8 | 31) if self.session.is_some() => Ok(()),
            Some(3 | 4 | 8 | 31) => Err(self.broken(4003, "an op before IDENTIFY")),
            other => Err(self.broken(4001, &format!("op {other:?}"))),
        }
    }

    fn broken(&self, code: u16, what: &str) -> CloseCode {
        self.core
            .with(|w| w.violation(format!("gateway: {what} (close {code})")));
        code
    }

    fn identify(&mut self, data: &Value) -> Result<(), CloseCode> {
        if self.session.is_some() {
            return Err(self.broken(4005, "a second IDENTIFY"));
        }
        let intents = data.get("intents").and_then(integer);
        let scripted = self.core.with(|w| {
            w.gateway.acts.push(ClientAct::Identify {
                intents: intents.unwrap_or(0),
            });
            let now = Instant::now();
            let interval = w.gateway.identify_interval;
            let too_soon = w
                .gateway
                .last_identify
                .replace(now)
                .is_some_and(|last| now.duration_since(last) < interval);
            if too_soon {
                return Some(IdentifyAnswer::InvalidSession);
            }
            w.gateway.identify_answers.pop_front()
        });
        match scripted {
            Some(IdentifyAnswer::Close(code)) => return Err(code),
            Some(IdentifyAnswer::InvalidSession) => {
                let _ = self.out.send(Out::Payload(json!({"op": 9, "d": false})));
                return Ok(());
            }
            None => {}
        }
        if !self.token_is_right(data) {
            return Err(4004);
        }
        let Some(intents) = intents.filter(|i| i & !KNOWN_INTENTS == 0) else {
            return Err(self.broken(4013, "IDENTIFY with intents that do not exist"));
        };
        if !data.get("properties").is_some_and(Value::is_object) {
            return Err(self.broken(4002, "IDENTIFY without properties"));
        }
        if let Some(shard) = data.get("shard").filter(|v| !v.is_null())
            && !matches!(
                (shard.get(0).and_then(Value::as_u64), shard.get(1).and_then(Value::as_u64)),
                (Some(id), Some(of)) if id < of
            )
        {
            return Err(self.broken(4010, "IDENTIFY with an impossible shard"));
        }
        let compress = data.get("compress").and_then(Value::as_bool) == Some(true);
        let shard = data.get("shard").cloned().unwrap_or(json!([0, 1]));
        let allowed = self.core.with(|w| {
            let refused = if w.message_content {
                0
            } else {
                MESSAGE_CONTENT
            } | OTHER_PRIVILEGED;
            if intents & refused != 0 {
                return false;
            }
            let index = w.gateway.sessions.len();
            let id = format!("{:032x}", w.new_id());
            w.gateway.sessions.push(Session {
                id: id.clone(),
                intents,
                compress,
                sequence: 0,
                sent: Vec::new(),
                out: Some(self.out.clone()),
                dead: false,
            });
            self.session = Some(index);
            let ready = ready_json(w, &id, &shard);
            let guilds: Vec<Value> = w
                .guilds
                .values()
                .filter(|g| g.members.contains_key(&w.bot))
                .map(|g| w.guild_create_json(g))
                .collect();
            if let Some(session) = w.gateway.sessions.get_mut(index) {
                session.dispatch("READY", &ready, false);
                if intents & GUILDS != 0 {
                    for guild in &guilds {
                        session.dispatch("GUILD_CREATE", guild, false);
                    }
                }
            }
            true
        });
        if allowed { Ok(()) } else { Err(4014) }
    }

    fn token_is_right(&self, data: &Value) -> bool {
        let token = data.get("token").and_then(Value::as_str).unwrap_or("");
        let token = token.strip_prefix("Bot ").unwrap_or(token);
        self.core.look(|w| w.token == token)
    }

    fn resume(&mut self, data: &Value) -> Result<(), CloseCode> {
        if self.session.is_some() {
            return Err(self.broken(4005, "RESUME in a running session"));
        }
        let sequence = data.get("seq").and_then(integer).unwrap_or(0);
        self.core
            .with(|w| w.gateway.acts.push(ClientAct::Resume { sequence }));
        if !self.token_is_right(data) {
            return Err(4004);
        }
        let id = data.get("session_id").and_then(Value::as_str).unwrap_or("");
        let found = self.core.with(|w| {
            let overlap = w.gateway.replay_overlap;
            let Some((index, session)) = w
                .gateway
                .sessions
                .iter_mut()
                .enumerate()
                .find(|(_, s)| s.id == id && !s.dead && sequence > 0)
            else {
                let _ = self.out.send(Out::Payload(json!({"op": 9, "d": false})));
                return Ok(None);
            };
            if sequence > session.sequence {
                session.dead = true;
                return Err(4007);
            }
            // What set the session up is not replayed.
            let replayed: Vec<_> = session
                .sent
                .iter()
                .filter(|(_, p)| {
                    let kind = p.get("t").and_then(Value::as_str);
                    !matches!(kind, Some("READY" | "RESUMED"))
                })
                .collect();
            let missed = replayed.partition_point(|(s, _)| *s <= sequence);
            for (_, payload) in replayed.iter().skip(missed.saturating_sub(overlap)) {
                let _ = self.out.send(Out::Payload(payload.clone()));
            }
            session.out = Some(self.out.clone());
            session.dispatch("RESUMED", &json!({"_trace": []}), false);
            Ok(Some(index))
        });
        match found {
            Ok(session) => {
                self.session = session;
                Ok(())
            }
            Err(code) => Err(code),
        }
    }
}

fn ready_json(w: &World, session: &str, shard: &Value) -> Value {
    let guilds: Vec<Value> = w
        .guilds
        .values()
        .filter(|g| g.members.contains_key(&w.bot))
        .map(|g| json!({"id": g.id.to_string(), "unavailable": true}))
        .collect();
    let mut user = w.user_json(w.bot);
    user["verified"] = json!(true);
    user["mfa_enabled"] = json!(true);
    user["email"] = Value::Null;
    json!({
        "v": 10,
        "user": user,
        "user_settings": {},
        "session_type": "normal",
        "session_id": session,
        "resume_gateway_url": w.url.replacen("http", "ws", 1),
        "relationships": [], "private_channels": [], "presences": [],
        "guilds": guilds,
        "guild_join_requests": [], "geo_ordered_rtc_regions": [],
        "application": {"id": w.bot.to_string(), "flags": w.application_flags()},
        "shard": shard,
        "_trace": [],
    })
}

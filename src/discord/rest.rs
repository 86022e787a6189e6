//! What the bot asks of Discord.
//!
//! Payloads come in as JSON that Discord accepts as it stands, and are sent as they stand but for
//! secrets that are struck at the exit: nobody here composes, cuts or adds `allowed_mentions`. `nonce` and `enforce_nonce` of a post are passed
//! on with it, so that a post repeated within minutes gives the first one's id.
//!
//! Every function ends in a value or one [`DiscordError`]. Only [`Rest::respond`] and its kin
//! repeat a request, because a person is looking at it: once, within [`RESPOND_TIMEOUT`].

use std::fmt;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use reqwest::Method;
use serde_json::{Map, Value, json};
use serenity::model::channel::Message;
use tokio::sync::OnceCell;

use super::api::{Api, ApiError, Call, File, Wire};
use super::attachments::{self, FileText};
use super::error::DiscordError;
use super::exit;
use super::incoming::{FileRef, Place, Reply, SeenMessage};
use super::permission::views;
use super::reading;
use crate::response::redact::Key;

/// For the first answer to an interaction, which Discord waits three seconds for.
pub const RESPOND_TIMEOUT: Duration = Duration::from_millis(2_500);
/// For the first try of it: a connection that died in silence must not cost the whole time.
const FIRST_TRY: Duration = Duration::from_millis(1_200);
/// Before a first answer that failed is sent once more.
const RESPOND_AGAIN: Duration = Duration::from_millis(100);
/// Messages in one page of a channel's history.
const PAGE: usize = 100;
/// Completions that Discord shows.
const CHOICES: usize = 25;
/// UTF-16 units of a completion's name and value.
const CHOICE_UNITS: usize = 100;
/// Minutes without a message after which Discord archives a thread: a day.
const ARCHIVE_MINUTES: u64 = 1_440;
/// UTF-16 units of a thread's name.
const THREAD_NAME_UNITS: usize = 100;

/// Message flag: only the person sees it.
const EPHEMERAL: u64 = 1 << 6;
/// Application flags: the message-content intent, for a verified and for a small bot.
const MESSAGE_CONTENT: u64 = (1 << 18) | (1 << 19);

/// The bot's own application, as Discord knows it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Application {
    /// Its id.
    pub id: u64,
    /// Its name.
    pub name: String,
    /// The message-content intent is switched on in the developer portal.
    pub message_content: bool,
    /// Anybody may invite it.
    pub public: bool,
}

/// The bot's own user.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Me {
    /// Its id.
    pub id: u64,
    /// Its name.
    pub name: String,
}

/// A channel or thread.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Channel {
    /// Its id.
    pub id: u64,
    /// The guild it is in.
    pub guild: Option<u64>,
    /// Its name.
    pub name: String,
    /// Where a thread hangs from; a channel's category.
    pub parent: Option<u64>,
    /// Whether it is a thread.
    pub thread: bool,
    /// Whether it is a private thread.
    pub private_thread: bool,
    /// Whether it is an archived thread.
    pub archived: bool,
    /// Whether it is a locked thread.
    pub locked: bool,
    /// What `@everyone` is given and taken here, as permission bits: `(allow, deny)`.
    everyone: (u64, u64),
}

/// A message of the bot's own, with what tells it apart.
#[derive(Clone, PartialEq, Eq)]
pub struct OwnPost {
    /// Its id.
    pub id: u64,
    /// The nonce it was sent with, where Discord still tells it.
    pub nonce: Option<String>,
    /// The custom ids of its buttons and selects, in order.
    pub custom_ids: Vec<String>,
    /// What it says.
    pub text: String,
}

impl fmt::Debug for OwnPost {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("OwnPost")
            .field("id", &self.id)
            .field("custom_ids", &self.custom_ids)
            .finish_non_exhaustive()
    }
}

/// Discord's REST API. Clones share connections and what is known of rate limits.
#[derive(Clone)]
pub struct Rest {
    inner: Arc<Inner>,
}

struct Inner {
    api: Api,
    wire: Wire,
    application: OnceCell<Application>,
    me: OnceCell<Me>,
    /// The key of placeholders at the exit.
    exit: OnceLock<Key>,
}

impl fmt::Debug for Rest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Rest").field(&self.inner.api).finish()
    }
}

/// A message of a channel's history.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PastMessage {
    /// The message.
    pub seen: SeenMessage,
    /// The thread that hangs from it: its id and name.
    pub thread: Option<(u64, String)>,
}

impl Rest {
    /// A client; nothing is sent yet.
    ///
    /// # Errors
    /// Where the system's TLS cannot be set up.
    pub fn new(api: Api) -> Result<Self, ApiError> {
        let wire = Wire::new(&api)?;
        Ok(Self {
            inner: Arc::new(Inner {
                api,
                wire,
                application: OnceCell::new(),
                me: OnceCell::new(),
                exit: OnceLock::new(),
            }),
        })
    }

    /// Under which key secrets are struck from what is posted; the first one stands. Before that
    /// they are struck all the same, under a key that anybody has.
    pub fn strike_with(&self, key: Key) {
        let _first = self.inner.exit.set(key);
    }

    pub(super) fn api(&self) -> &Api {
        &self.inner.api
    }

    /// Every request goes through here: the one point at the exit where what is said is looked at
    /// once more (R22).
    async fn ask(&self, call: Call<'_>) -> Result<Value, DiscordError> {
        let key = self.inner.exit.get_or_init(|| Key::new([0; 32]));
        let body = call.body.and_then(|body| exit::struck(body, key));
        let files = exit::struck_files(call.files, key);
        let call = Call {
            body: body.as_ref().or(call.body),
            files,
            ..call
        };
        self.inner.wire.ask(call).await
    }

    // ---- the first answer to an interaction ---------------------------------

    /// The first answer, of any type (`{"type": 4, "data": {…}}`), within [`RESPOND_TIMEOUT`].
    ///
    /// # Errors
    /// [`DiscordError::TokenGone`] where it comes too late, [`DiscordError::AlreadyAnswered`]
    /// where there was one before.
    pub async fn respond(&self, reply: &Reply, body: &Value) -> Result<(), DiscordError> {
        let answered = tokio::time::timeout(RESPOND_TIMEOUT, self.respond_twice(reply, body)).await;
        answered.unwrap_or(Err(DiscordError::Unreachable))
    }

    async fn respond_twice(&self, reply: &Reply, body: &Value) -> Result<(), DiscordError> {
        let path = format!(
            "/interactions/{}/{}/callback",
            reply.interaction, reply.token
        );
        let call = || {
            Call::new(Method::POST, "callback", reply.interaction, path.clone())
                .body(body)
                .interaction()
                .patience(FIRST_TRY)
        };
        let first = tokio::time::timeout(FIRST_TRY, self.ask(call())).await;
        let first = match first.unwrap_or(Err(DiscordError::Unreachable)) {
            Err(error @ (DiscordError::Unreachable | DiscordError::Other { .. }))
                if error.is_passing() =>
            {
                error
            }
            answered => return answered.map(drop),
        };
        tracing::info!(
            interaction = reply.interaction,
            reason = first.reason(),
            "the first answer is sent once more"
        );
        tokio::time::sleep(RESPOND_AGAIN).await;
        match self.ask(call()).await {
            // The first had arrived after all.
            Err(DiscordError::AlreadyAnswered) => Ok(()),
            answered => answered.map(drop),
        }
    }

    /// "Thinking": the answer follows by [`Rest::edit_original`]. Whether it is for one person is
    /// fixed here.
    ///
    /// # Errors
    /// As [`Rest::respond`].
    pub async fn defer(&self, reply: &Reply, ephemeral: bool) -> Result<(), DiscordError> {
        let flags = if ephemeral { EPHEMERAL } else { 0 };
        self.respond(reply, &json!({"type": 5, "data": {"flags": flags}}))
            .await
    }

    /// Acknowledges a button or select; its message stays as it is until edited.
    ///
    /// # Errors
    /// As [`Rest::respond`].
    pub async fn defer_update(&self, reply: &Reply) -> Result<(), DiscordError> {
        self.respond(reply, &json!({"type": 6})).await
    }

    /// Answers with a message.
    ///
    /// # Errors
    /// As [`Rest::respond`].
    pub async fn show(
        &self,
        reply: &Reply,
        payload: &Value,
        ephemeral: bool,
    ) -> Result<(), DiscordError> {
        let data = with_ephemeral(payload, ephemeral);
        self.respond(reply, &json!({"type": 4, "data": data})).await
    }

    /// Changes the message whose button or select was used.
    ///
    /// # Errors
    /// As [`Rest::respond`].
    pub async fn update_message(&self, reply: &Reply, payload: &Value) -> Result<(), DiscordError> {
        self.respond(reply, &json!({"type": 7, "data": payload}))
            .await
    }

    /// Opens a modal: `{custom_id, title, components}`.
    ///
    /// # Errors
    /// As [`Rest::respond`].
    pub async fn open_modal(&self, reply: &Reply, payload: &Value) -> Result<(), DiscordError> {
        self.respond(reply, &json!({"type": 9, "data": payload}))
            .await
    }

    /// Completions `(shown, sent)`, the first 25; long names are cut, values that are too long to
    /// be sent are left out.
    ///
    /// # Errors
    /// As [`Rest::respond`].
    pub async fn choices(
        &self,
        reply: &Reply,
        choices: Vec<(String, String)>,
    ) -> Result<(), DiscordError> {
        let choices: Vec<Value> = choices
            .into_iter()
            .filter(|(name, value)| {
                !name.trim().is_empty()
                    && !value.is_empty()
                    && value.encode_utf16().count() <= CHOICE_UNITS
            })
            .take(CHOICES)
            .map(|(name, value)| json!({"name": cut(&name, CHOICE_UNITS), "value": value}))
            .collect();
        self.respond(reply, &json!({"type": 8, "data": {"choices": choices}}))
            .await
    }

    // ---- later answers to an interaction -------------------------------------

    fn webhook<'a>(method: Method, route: &'static str, reply: &Reply, rest: &str) -> Call<'a> {
        let path = format!("/webhooks/{}/{}{rest}", reply.application, reply.token);
        Call::new(method, route, reply.interaction, path).interaction()
    }

    /// Changes the first answer (or completes a deferred one) and gives its id.
    ///
    /// # Errors
    /// [`DiscordError::TokenGone`] after 15 minutes or where there was no first answer.
    pub async fn edit_original(
        &self,
        reply: &Reply,
        payload: &Value,
        files: Vec<File>,
    ) -> Result<u64, DiscordError> {
        let call = Self::webhook(Method::PATCH, "@original", reply, "/messages/@original");
        id(&self.ask(call.body(payload).files(files)).await?)
    }

    /// The first answer as it is now.
    ///
    /// # Errors
    /// [`DiscordError::TokenGone`], [`DiscordError::UnknownMessage`].
    pub async fn original(&self, reply: &Reply) -> Result<SeenMessage, DiscordError> {
        let call = Self::webhook(Method::GET, "@original", reply, "/messages/@original");
        message(self.ask(call).await?)
    }

    /// Takes the first answer away.
    ///
    /// # Errors
    /// [`DiscordError::TokenGone`], [`DiscordError::UnknownMessage`].
    pub async fn delete_original(&self, reply: &Reply) -> Result<(), DiscordError> {
        let call = Self::webhook(Method::DELETE, "@original", reply, "/messages/@original");
        self.ask(call).await.map(drop)
    }

    /// A further message in answer to an interaction; its id.
    ///
    /// # Errors
    /// [`DiscordError::TokenGone`] after 15 minutes or before a first answer.
    pub async fn follow_up(
        &self,
        reply: &Reply,
        payload: &Value,
        files: Vec<File>,
        ephemeral: bool,
    ) -> Result<u64, DiscordError> {
        let payload = with_ephemeral(payload, ephemeral);
        let call = Self::webhook(Method::POST, "follow-up", reply, "");
        id(&self.ask(call.body(&payload).files(files)).await?)
    }

    // ---- messages ---------------------------------------------------------------

    /// Posts with the bot's own token; the message's id.
    ///
    /// # Errors
    /// [`DiscordError::UnknownChannel`], [`DiscordError::MissingAccess`],
    /// [`DiscordError::MissingPermission`], [`DiscordError::Locked`],
    /// [`DiscordError::Archived`], [`DiscordError::TooLarge`].
    pub async fn post(
        &self,
        channel: u64,
        payload: &Value,
        files: Vec<File>,
    ) -> Result<u64, DiscordError> {
        let path = format!("/channels/{channel}/messages");
        let call = Call::new(Method::POST, "messages", channel, path);
        id(&self.ask(call.body(payload).files(files)).await?)
    }

    /// Changes a message of the bot's own.
    ///
    /// # Errors
    /// [`DiscordError::UnknownMessage`], [`DiscordError::UnknownChannel`],
    /// [`DiscordError::Archived`].
    pub async fn edit(
        &self,
        channel: u64,
        message: u64,
        payload: &Value,
        files: Vec<File>,
    ) -> Result<(), DiscordError> {
        let path = format!("/channels/{channel}/messages/{message}");
        let call = Call::new(Method::PATCH, "message", channel, path);
        self.ask(call.body(payload).files(files)).await.map(drop)
    }

    /// Deletes a message of the bot's own.
    ///
    /// # Errors
    /// [`DiscordError::UnknownMessage`], [`DiscordError::UnknownChannel`].
    pub async fn delete(&self, channel: u64, message: u64) -> Result<(), DiscordError> {
        let path = format!("/channels/{channel}/messages/{message}");
        let call = Call::new(Method::DELETE, "message", channel, path);
        self.ask(call).await.map(drop)
    }

    /// One message. Without the message-content intent only what the bot may read of it.
    ///
    /// # Errors
    /// [`DiscordError::UnknownMessage`], [`DiscordError::UnknownChannel`],
    /// [`DiscordError::MissingAccess`].
    pub async fn message(&self, channel: u64, id: u64) -> Result<SeenMessage, DiscordError> {
        let path = format!("/channels/{channel}/messages/{id}");
        let call = Call::new(Method::GET, "message", channel, path);
        message(self.ask(call.doing(Some("Read Message History"))).await?)
    }

    /// What was written after a message (0 for the beginning), oldest first, at most `limit`; the
    /// bot's own and other bots' messages too. For catching up after a reconnect.
    ///
    /// # Errors
    /// [`DiscordError::UnknownChannel`], [`DiscordError::MissingAccess`].
    pub async fn messages_after(
        &self,
        channel: u64,
        after: u64,
        limit: usize,
    ) -> Result<Vec<SeenMessage>, DiscordError> {
        let history = self.history(channel, after, limit).await?;
        Ok(history.into_iter().map(|past| past.seen).collect())
    }

    /// As [`Rest::messages_after`], each with the thread that hangs from it.
    ///
    /// # Errors
    /// [`DiscordError::UnknownChannel`], [`DiscordError::MissingAccess`].
    pub async fn history(
        &self,
        channel: u64,
        after: u64,
        limit: usize,
    ) -> Result<Vec<PastMessage>, DiscordError> {
        let mut found: Vec<PastMessage> = Vec::new();
        let mut newest = after;
        while found.len() < limit {
            let wanted = PAGE.min(limit - found.len());
            let page = self
                .page(channel, &format!("after={newest}&limit={wanted}"))
                .await?;
            let whole_page = page.len() >= wanted;
            let last = page.iter().filter_map(message_id).max();
            let mut read: Vec<PastMessage> = page
                .into_iter()
                .filter_map(|value| {
                    let thread = value.get("thread").and_then(|thread| {
                        Some((snowflake(thread.get("id"))?, text(thread, "name")))
                    });
                    let seen = readable(value)?;
                    Some(PastMessage { seen, thread })
                })
                .collect();
            read.sort_by_key(|message| message.seen.id);
            found.extend(read);
            match last {
                Some(last) if whole_page && last > newest => newest = last,
                _ => break,
            }
        }
        Ok(found)
    }

    /// The bot's own messages among the last `limit` (up to 100) of a channel, newest first: to
    /// find a post whose id was lost.
    ///
    /// # Errors
    /// [`DiscordError::UnknownChannel`], [`DiscordError::MissingAccess`].
    pub async fn recent_own(
        &self,
        channel: u64,
        limit: usize,
    ) -> Result<Vec<OwnPost>, DiscordError> {
        let me = self.me().await?.id;
        let limit = limit.clamp(1, PAGE);
        let page = self.page(channel, &format!("limit={limit}")).await?;
        let own = page.into_iter().filter_map(|value| {
            let nonce = match value.get("nonce") {
                Some(Value::String(nonce)) => Some(nonce.clone()),
                Some(Value::Number(nonce)) => Some(nonce.to_string()),
                _ => None,
            };
            let mut ids = Vec::new();
            custom_ids(value.get("components"), &mut ids, 0);
            let message = readable(value)?;
            (message.author.id == me).then_some(OwnPost {
                id: message.id,
                nonce,
                custom_ids: ids,
                text: message.text,
            })
        });
        Ok(own.collect())
    }

    async fn page(&self, channel: u64, query: &str) -> Result<Vec<Value>, DiscordError> {
        let path = format!("/channels/{channel}/messages?{query}");
        let call = Call::new(Method::GET, "messages", channel, path);
        match self.ask(call.doing(Some("Read Message History"))).await? {
            Value::Array(page) => Ok(page),
            _ => Err(unexpected()),
        }
    }

    /// Adds a reaction: an emoji as such, or `name:id`.
    ///
    /// # Errors
    /// [`DiscordError::UnknownMessage`], [`DiscordError::Archived`],
    /// [`DiscordError::MissingPermission`].
    pub async fn react(&self, channel: u64, message: u64, emoji: &str) -> Result<(), DiscordError> {
        let emoji = percent_encoded(emoji);
        let path = format!("/channels/{channel}/messages/{message}/reactions/{emoji}/@me");
        let call = Call::new(Method::PUT, "reaction", channel, path);
        self.ask(call.doing(Some("Add Reactions"))).await.map(drop)
    }

    // ---- channels and threads -----------------------------------------------------

    /// Starts a thread from a message and gives its id (the message's); the name is cut to 100.
    ///
    /// # Errors
    /// [`DiscordError::ThreadExists`], [`DiscordError::MissingPermission`],
    /// [`DiscordError::UnknownMessage`].
    pub async fn start_thread(
        &self,
        channel: u64,
        message: u64,
        name: &str,
    ) -> Result<u64, DiscordError> {
        let path = format!("/channels/{channel}/messages/{message}/threads");
        let body = json!({
            "name": cut(name, THREAD_NAME_UNITS),
            "auto_archive_duration": ARCHIVE_MINUTES,
        });
        let call = Call::new(Method::POST, "threads", channel, path).body(&body);
        id(&self.ask(call.doing(Some("Create Public Threads"))).await?)
    }

    /// Takes a thread out of the archive.
    ///
    /// # Errors
    /// [`DiscordError::MissingPermission`] (*Manage Threads*) where it is locked,
    /// [`DiscordError::UnknownChannel`].
    pub async fn unarchive(&self, thread: u64) -> Result<(), DiscordError> {
        let path = format!("/channels/{thread}");
        let body = json!({"archived": false});
        let call = Call::new(Method::PATCH, "channel", thread, path).body(&body);
        self.ask(call.doing(Some("Manage Threads"))).await.map(drop)
    }

    /// A channel or thread.
    ///
    /// # Errors
    /// [`DiscordError::UnknownChannel`], [`DiscordError::MissingAccess`].
    pub async fn channel(&self, channel: u64) -> Result<Channel, DiscordError> {
        let path = format!("/channels/{channel}");
        let value = self
            .ask(Call::new(Method::GET, "channel", channel, path))
            .await?;
        let kind = value.get("type").and_then(Value::as_u64);
        let metadata = value.get("thread_metadata");
        let flag =
            |key: &str| metadata.and_then(|m| m.get(key)).and_then(Value::as_bool) == Some(true);
        let guild = snowflake(value.get("guild_id"));
        let overwrite = value
            .get("permission_overwrites")
            .and_then(Value::as_array)
            .and_then(|all| all.iter().find(|o| snowflake(o.get("id")) == guild));
        let bits = |key: &str| overwrite.and_then(|o| snowflake(o.get(key))).unwrap_or(0);
        Ok(Channel {
            id: id(&value)?,
            guild,
            name: text(&value, "name"),
            parent: snowflake(value.get("parent_id")),
            // News thread, public thread, private thread.
            thread: matches!(kind, Some(10..=12)),
            private_thread: kind == Some(12),
            archived: flag("archived"),
            locked: flag("locked"),
            everyone: (bits("allow"), bits("deny")),
        })
    }

    /// What a place is, asked of Discord: for one that was not known when something happened there.
    /// Up to three requests.
    ///
    /// # Errors
    /// [`DiscordError::UnknownChannel`], [`DiscordError::MissingAccess`].
    pub async fn place(&self, channel: u64) -> Result<Place, DiscordError> {
        let found = self.channel(channel).await?;
        let guild = found.guild.ok_or_else(unexpected)?;
        let open = match found.parent.filter(|_| found.thread) {
            Some(parent) => self.channel(parent).await?,
            None => found.clone(),
        };
        let path = format!("/guilds/{guild}/roles");
        let roles = self
            .ask(Call::new(Method::GET, "roles", guild, path))
            .await?;
        let everyone = roles
            .as_array()
            .and_then(|all| all.iter().find(|r| snowflake(r.get("id")) == Some(guild)))
            .and_then(|role| snowflake(role.get("permissions")));
        let (allow, deny) = open.everyone;
        let everyone_views = everyone.is_some_and(|bits| views((bits & !deny) | allow));
        Ok(Place {
            guild,
            channel,
            parent: found.parent.filter(|_| found.thread),
            thread: found.thread,
            private: found.private_thread || !everyone_views,
            known: true,
        })
    }

    /// "Precedent is typing", for ten seconds or until a post.
    ///
    /// # Errors
    /// As [`Rest::post`].
    pub async fn typing(&self, channel: u64) -> Result<(), DiscordError> {
        let path = format!("/channels/{channel}/typing");
        self.ask(Call::new(Method::POST, "typing", channel, path))
            .await
            .map(drop)
    }

    // ---- the bot itself -------------------------------------------------------------

    /// The bot's own user; asked once.
    ///
    /// # Errors
    /// [`DiscordError::Unauthorized`].
    pub async fn me(&self) -> Result<Me, DiscordError> {
        let me = self.inner.me.get_or_try_init(async || {
            let call = Call::new(Method::GET, "me", 0, "/users/@me".to_owned());
            let value = self.ask(call).await?;
            Ok::<_, DiscordError>(Me {
                id: id(&value)?,
                name: text(&value, "username"),
            })
        });
        me.await.cloned()
    }

    /// The bot's application as it is now.
    ///
    /// # Errors
    /// [`DiscordError::Unauthorized`].
    pub async fn application(&self) -> Result<Application, DiscordError> {
        let call = Call::new(
            Method::GET,
            "application",
            0,
            "/applications/@me".to_owned(),
        );
        let value = self.ask(call).await?;
        let flags = value.get("flags").and_then(Value::as_u64).unwrap_or(0);
        Ok(Application {
            id: id(&value)?,
            name: text(&value, "name"),
            message_content: flags & MESSAGE_CONTENT != 0,
            public: value.get("bot_public").and_then(Value::as_bool) == Some(true),
        })
    }

    /// The application's id; asked once.
    pub(super) async fn application_id(&self) -> Result<u64, DiscordError> {
        let cell = &self.inner.application;
        let application = cell.get_or_try_init(|| self.application()).await?;
        Ok(application.id)
    }

    /// Registers commands, replacing all that were: in one guild at once, or everywhere.
    ///
    /// # Errors
    /// [`DiscordError::Invalid`] where Discord refuses them, [`DiscordError::MissingAccess`] where
    /// the bot is not in the guild or lacks the scope.
    pub async fn register(&self, guild: Option<u64>, commands: &Value) -> Result<(), DiscordError> {
        let application = self.application_id().await?;
        let path = match guild {
            Some(guild) => format!("/applications/{application}/guilds/{guild}/commands"),
            None => format!("/applications/{application}/commands"),
        };
        let call = Call::new(Method::PUT, "commands", guild.unwrap_or(0), path);
        self.ask(call.body(commands)).await.map(drop)
    }

    /// Where the gateway is. Needs no token.
    pub(super) async fn gateway(&self) -> Result<String, DiscordError> {
        let call = Call::new(Method::GET, "gateway", 0, "/gateway".to_owned());
        let value = self.ask(call).await?;
        match value.get("url").and_then(Value::as_str) {
            Some(url) => Ok(url.to_owned()),
            None => Err(unexpected()),
        }
    }

    // ---- files --------------------------------------------------------------------------

    /// Reads a text file that somebody attached, up to `cap_bytes`
    /// ([`attachments::CAP_BYTES`] is the stated cap). Never fails: what was not read is the note.
    pub async fn read_file(&self, file: &FileRef, cap_bytes: u64) -> FileText {
        attachments::read(
            self.inner.wire.client(),
            self.inner.api.api_url(),
            file,
            cap_bytes,
        )
        .await
    }
}

fn unexpected() -> DiscordError {
    DiscordError::Other {
        status: 200,
        code: 0,
    }
}

/// Ids and permission bits come as strings.
fn snowflake(value: Option<&Value>) -> Option<u64> {
    match value? {
        Value::String(text) => text.parse().ok(),
        Value::Number(number) => number.as_u64(),
        _ => None,
    }
}

fn message_id(value: &Value) -> Option<u64> {
    snowflake(value.get("id"))
}

fn id(value: &Value) -> Result<u64, DiscordError> {
    message_id(value).ok_or_else(unexpected)
}

fn text(value: &Value, key: &str) -> String {
    let text = value.get(key).and_then(Value::as_str);
    text.unwrap_or("").to_owned()
}

fn message(value: Value) -> Result<SeenMessage, DiscordError> {
    readable(value).ok_or_else(unexpected)
}

/// A message, unless it has something that this version cannot read: one such message does not
/// hide the others.
fn readable(value: Value) -> Option<SeenMessage> {
    let id = message_id(&value);
    match serde_json::from_value::<Message>(value) {
        Ok(message) => Some(reading::seen(&message)),
        Err(_) => {
            tracing::warn!(message = id, "a message cannot be read");
            None
        }
    }
}

/// Components nest three deep at most (container, row, button); the bound is for broken answers.
fn custom_ids(components: Option<&Value>, found: &mut Vec<String>, depth: u8) {
    if depth > 8 {
        return;
    }
    let list = components.and_then(Value::as_array);
    for component in list.into_iter().flatten() {
        if let Some(id) = component.get("custom_id").and_then(Value::as_str) {
            found.push(id.to_owned());
        }
        custom_ids(component.get("components"), found, depth + 1);
        if let Some(accessory) = component.get("accessory") {
            custom_ids(Some(&json!([accessory])), found, depth + 1);
        }
    }
}

fn with_ephemeral(payload: &Value, ephemeral: bool) -> Value {
    let mut data = match payload {
        Value::Object(map) => map.clone(),
        _ => Map::new(),
    };
    if ephemeral {
        let flags = data.get("flags").and_then(Value::as_u64).unwrap_or(0);
        data.insert("flags".to_owned(), json!(flags | EPHEMERAL));
    }
    Value::Object(data)
}

/// At most `units` UTF-16 units, which is how Discord counts.
fn cut(text: &str, units: usize) -> String {
    if text.encode_utf16().count() <= units {
        return text.to_owned();
    }
    let mut left = units.saturating_sub(1);
    let mut kept: String = text
        .chars()
        .take_while(|c| match left.checked_sub(c.len_utf16()) {
            Some(rest) => {
                left = rest;
                true
            }
            None => false,
        })
        .collect();
    kept.push('…');
    kept
}

fn percent_encoded(text: &str) -> String {
    let mut out = String::new();
    for byte in text.bytes() {
        match byte {
            b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'-' | b'_' | b'.' | b'~' | b':' => {
                out.push(char::from(byte));
            }
            _ => out.push_str(&format!("%{byte:02X}")),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_cut_as_discord_counts() {
        let long = "あ".repeat(120);
        let emoji = "🔥".repeat(60);
        for (text, units, expected) in [
            ("short", 100, "short".to_owned()),
            ("abcdef", 4, "abc…".to_owned()),
            ("🔥🔥🔥", 4, "🔥…".to_owned()),
            (&long, 100, format!("{}…", "あ".repeat(99))),
            (&emoji, 100, format!("{}…", "🔥".repeat(49))),
            ("ab", 0, "…".to_owned()),
        ] {
            assert_eq!(cut(text, units), expected);
        }
    }

    #[test]
    fn emoji_go_into_a_path() {
        for (emoji, expected) in [
            ("👀", "%F0%9F%91%80"),
            ("seen:123", "seen:123"),
            ("/../", "%2F..%2F"),
        ] {
            assert_eq!(percent_encoded(emoji), expected);
        }
    }

    #[test]
    fn custom_ids_are_found_wherever_they_are() {
        let components = json!([
            {"type": 1, "components": [{"type": 2, "custom_id": "a"}, {"type": 2, "url": "x"}]},
            {"type": 17, "components": [
                {"type": 9, "accessory": {"type": 2, "custom_id": "b"}, "components": []},
                {"type": 1, "components": [{"type": 3, "custom_id": "c"}]},
            ]},
        ]);
        let mut found = Vec::new();
        custom_ids(Some(&components), &mut found, 0);
        assert_eq!(found, ["a", "b", "c"]);
    }

    #[test]
    fn flags_that_a_payload_has_are_kept() {
        for (payload, ephemeral, expected) in [
            (json!({"content": "a"}), false, json!({"content": "a"})),
            (
                json!({"content": "a"}),
                true,
                json!({"content": "a", "flags": 64}),
            ),
            (json!({"flags": 4}), true, json!({"flags": 68})),
            (json!({"flags": 4}), false, json!({"flags": 4})),
        ] {
            assert_eq!(with_ephemeral(&payload, ephemeral), expected);
        }
    }
}

//! The local page: hands out its files, what the stand-in holds, and what people do.
//!
//! Wanted: each act is the real interaction of the stand-in's people, as one of three persons. The
//! page is for this machine: the server listens on the loopback address, and answers only where
//! `Host` names it and a foreign page is not the `Origin`, so that no site in the same browser can
//! act here. Deliberately absent: any way to act as somebody else, or to reach a file of the disk.

use super::stage::{EXAMPLES, Person, Stage};
use axum::body::Bytes;
use axum::extract::{DefaultBodyLimit, Query, Request, State};
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::middleware::{self, Next};
use axum::response::sse::{Event, KeepAlive, Sse};
use axum::response::{IntoResponse, Response as Answer};
use axum::routing::{get, post};
use axum::{Json, Router};
use futures::Stream;
use serde::Deserialize;
use serde_json::{Map, Value, json};
use standin::{
    Change, ChannelId, Discord, GuildId, Interaction, MessageId, Modal, Response, Say, Upload,
    UserId,
};
use std::collections::BTreeMap;
use std::convert::Infallible;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex, PoisonError};
use tokio::net::TcpListener;
use tokio::sync::broadcast;
use tokio::sync::broadcast::error::RecvError;

/// The largest file that may be uploaded: Discord's limit, 10 MiB.
const UPLOAD_BYTES: usize = 10 * 1024 * 1024;

const FILES: [(&str, &str, &str); 6] = [
    ("/", "text/html; charset=utf-8", include_str!("page.html")),
    (
        "/page.css",
        "text/css; charset=utf-8",
        include_str!("page.css"),
    ),
    (
        "/page.js",
        "text/javascript; charset=utf-8",
        include_str!("page.js"),
    ),
    (
        "/message.js",
        "text/javascript; charset=utf-8",
        include_str!("message.js"),
    ),
    (
        "/composer.js",
        "text/javascript; charset=utf-8",
        include_str!("composer.js"),
    ),
    (
        "/markdown.js",
        "text/javascript; charset=utf-8",
        include_str!("markdown.js"),
    ),
];

/// What the handlers share.
struct Shared {
    discord: Discord,
    guild: GuildId,
    people: Vec<Person>,
    /// Which engine answers, in a sentence.
    engine: String,
    address: SocketAddr,
    /// Started from the page, with what it is called: a modal's opener is needed again, and a
    /// message shows the command that it answers.
    started: Mutex<BTreeMap<u64, (Interaction, String)>>,
    /// Uploaded, not yet sent with a message.
    uploads: Mutex<BTreeMap<u64, Upload>>,
}

type At = State<Arc<Shared>>;

/// A sentence for the person at the page.
struct Refused(StatusCode, String);

impl IntoResponse for Refused {
    fn into_response(self) -> Answer {
        (self.0, self.1).into_response()
    }
}

impl From<String> for Refused {
    fn from(why: String) -> Self {
        Self(StatusCode::CONFLICT, why)
    }
}

/// The page of a stage, bound to an address and ready to be served.
pub struct Server {
    listener: TcpListener,
    router: Router,
    /// Where it listens.
    pub address: SocketAddr,
}

impl Server {
    /// Binds a port of the loopback interface; 0 is any free one.
    ///
    /// # Errors
    ///
    /// Where the port is taken.
    pub async fn bind(stage: &Stage, engine: String, port: u16) -> std::io::Result<Self> {
        let listener = TcpListener::bind(("127.0.0.1", port)).await?;
        let address = listener.local_addr()?;
        let shared = Arc::new(Shared {
            discord: stage.discord.clone(),
            guild: stage.guild,
            people: stage.people.clone(),
            engine,
            address,
            started: Mutex::default(),
            uploads: Mutex::default(),
        });
        let mut router = Router::new()
            .route("/about", get(about))
            .route("/state", get(state))
            .route("/events", get(events))
            .route("/act", post(act))
            .route(
                "/upload",
                post(upload).layer(DefaultBodyLimit::max(UPLOAD_BYTES)),
            );
        for (path, kind, text) in FILES {
            router = router.route(
                path,
                get(move || async move { ([(header::CONTENT_TYPE, kind)], text) }),
            );
        }
        let router = router
            .layer(middleware::from_fn_with_state(Arc::clone(&shared), guard))
            .with_state(shared);
        Ok(Self {
            listener,
            router,
            address,
        })
    }

    /// Serves until the process or the task ends.
    ///
    /// # Errors
    ///
    /// Where the socket breaks.
    pub async fn serve(self) -> std::io::Result<()> {
        axum::serve(self.listener, self.router).await
    }
}

/// Only this machine's browser, only from the page itself.
async fn guard(State(shared): At, request: Request, next: Next) -> Answer {
    if !is_from_page(request.headers(), shared.address.port()) {
        return (
            StatusCode::FORBIDDEN,
            "This page is for the machine it runs on.",
        )
            .into_response();
    }
    let mut answer = next.run(request).await;
    let headers = answer.headers_mut();
    headers.insert(
        header::CONTENT_SECURITY_POLICY,
        HeaderValue::from_static("default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src data:; form-action 'none'; base-uri 'none'; frame-ancestors 'none'"),
    );
    headers.insert(
        header::X_CONTENT_TYPE_OPTIONS,
        HeaderValue::from_static("nosniff"),
    );
    headers.insert(
        header::REFERRER_POLICY,
        HeaderValue::from_static("no-referrer"),
    );
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    answer
}

fn is_from_page(headers: &HeaderMap, port: u16) -> bool {
    let hosts = [format!("127.0.0.1:{port}"), format!("localhost:{port}")];
    let text =
        |name: header::HeaderName| headers.get(name).map(|value| value.to_str().unwrap_or("?"));
    let is_ours = |host: &str| hosts.iter().any(|ours| ours == host);
    text(header::HOST).is_some_and(is_ours)
        && text(header::ORIGIN)
            .is_none_or(|origin| origin.strip_prefix("http://").is_some_and(is_ours))
}

impl Shared {
    fn person(&self, id: u64) -> Result<UserId, Refused> {
        self.people
            .iter()
            .map(|person| person.id)
            .find(|person| person.get() == id)
            .ok_or_else(|| {
                Refused(
                    StatusCode::FORBIDDEN,
                    "You can act as the people of this page only.".to_owned(),
                )
            })
    }
}

async fn about(State(shared): At) -> Json<Value> {
    let people: Vec<Value> = shared
        .people
        .iter()
        .map(|person| json!({"id": person.id.to_string(), "name": person.name, "role": person.role, "locale": person.locale}))
        .collect();
    let examples: Vec<Value> = EXAMPLES
        .iter()
        .filter_map(|example| {
            let by = shared.people.get(example.by)?;
            Some(json!({"kind": example.kind, "report": example.report, "as": by.id.to_string(), "locale": by.locale}))
        })
        .collect();
    Json(
        json!({"people": people, "examples": examples, "engine": shared.engine, "guild": shared.guild.to_string()}),
    )
}

#[derive(Deserialize)]
struct Look {
    #[serde(rename = "as")]
    who: u64,
    #[serde(default)]
    open: String,
}

/// What one person sees: the server, and the messages of the channels that are open.
async fn state(State(shared): At, Query(look): Query<Look>) -> Result<Json<Value>, Refused> {
    let who = shared.person(look.who)?;
    let mut state = shared.discord.state(Some(who));
    if let Some(messages) = state.get_mut("messages").and_then(Value::as_object_mut) {
        messages.retain(|channel, _| look.open.split(',').any(|open| open == channel));
    }
    let started = shared
        .started
        .lock()
        .unwrap_or_else(PoisonError::into_inner);
    let titles: Map<String, Value> = started
        .values()
        .filter_map(|(interaction, title)| {
            Some((interaction.original_id()?.to_string(), json!(title)))
        })
        .collect();
    drop(started);
    if let Some(object) = state.as_object_mut() {
        object.insert("titles".to_owned(), Value::Object(titles));
    }
    Ok(Json(state))
}

/// A bell: what kind of thing changed, and in which channel.
async fn events(
    State(shared): At,
    Query(look): Query<Look>,
) -> Result<Sse<impl Stream<Item = Result<Event, Infallible>>>, Refused> {
    let who = shared.person(look.who)?;
    let changes = shared.discord.events();
    let stream = futures::stream::unfold(changes, move |changes| next_change(changes, who));
    Ok(Sse::new(stream).keep_alive(KeepAlive::default()))
}

async fn next_change(
    mut changes: broadcast::Receiver<Change>,
    who: UserId,
) -> Option<(Result<Event, Infallible>, broadcast::Receiver<Change>)> {
    loop {
        let said = match changes.recv().await {
            Ok(change) if change.only_for.is_none_or(|only| only == who) => {
                json!({"name": change.name, "channel": change.data.get("channel_id")})
            }
            Ok(_) => continue,
            // The page reads everything anyway.
            Err(RecvError::Lagged(_)) => json!({"name": "LAGGED"}),
            Err(RecvError::Closed) => return None,
        };
        return Some((Ok(Event::default().data(said.to_string())), changes));
    }
}

#[derive(Deserialize)]
struct FileName {
    name: String,
}

/// Takes a file for an option of a command or for a message, and gives its number.
async fn upload(
    State(shared): At,
    Query(FileName { name }): Query<FileName>,
    bytes: Bytes,
) -> Json<Value> {
    let file = Upload::new(&name, bytes.to_vec());
    let id = shared.discord.upload(file.clone()).get();
    shared
        .uploads
        .lock()
        .unwrap_or_else(PoisonError::into_inner)
        .insert(id, file);
    Json(json!({"id": id.to_string()}))
}

/// What somebody does.
#[derive(Deserialize)]
struct Act {
    #[serde(rename = "as", deserialize_with = "number")]
    who: u64,
    #[serde(flatten)]
    does: Does,
}

#[derive(Deserialize)]
#[serde(tag = "do", rename_all = "snake_case")]
enum Does {
    Slash {
        #[serde(deserialize_with = "number")]
        channel: u64,
        command: String,
        options: Value,
    },
    Complete {
        #[serde(deserialize_with = "number")]
        channel: u64,
        command: String,
        focused: String,
        options: Value,
    },
    MessageCommand {
        name: String,
        #[serde(deserialize_with = "number")]
        message: u64,
    },
    Click {
        #[serde(deserialize_with = "number")]
        message: u64,
        custom_id: String,
    },
    Select {
        #[serde(deserialize_with = "number")]
        message: u64,
        custom_id: String,
        values: Vec<String>,
    },
    Submit {
        #[serde(deserialize_with = "number")]
        opened: u64,
        values: BTreeMap<String, String>,
    },
    Say {
        #[serde(deserialize_with = "number")]
        channel: u64,
        text: String,
        #[serde(default)]
        reply_to: Option<String>,
        #[serde(default)]
        files: Vec<String>,
    },
}

/// Ids come as text: they are too long for a number of JavaScript.
fn number<'de, D: serde::Deserializer<'de>>(text: D) -> Result<u64, D::Error> {
    String::deserialize(text)?
        .parse()
        .map_err(serde::de::Error::custom)
}

async fn act(
    State(shared): At,
    headers: HeaderMap,
    Json(act): Json<Act>,
) -> Result<Json<Value>, Refused> {
    // A plain form of another site can't send this type.
    if headers
        .get(header::CONTENT_TYPE)
        .is_none_or(|kind| kind != "application/json")
    {
        return Err(Refused(
            StatusCode::UNSUPPORTED_MEDIA_TYPE,
            "JSON is wanted.".to_owned(),
        ));
    }
    let who = shared.person(act.who)?;
    let discord = &shared.discord;
    let (started, title) = match act.does {
        Does::Slash {
            channel,
            command,
            options,
        } => {
            let channel = ChannelId(channel);
            let started = discord.try_slash(who, channel, &command, options);
            (started, format!("/{command}"))
        }
        Does::Complete {
            channel,
            command,
            focused,
            options,
        } => {
            let channel = ChannelId(channel);
            let started = discord.try_autocomplete(who, channel, &command, &focused, options);
            (started, String::new())
        }
        Does::MessageCommand { name, message } => {
            let started = discord.try_message_command(who, &name, MessageId(message));
            (started, name)
        }
        Does::Click { message, custom_id } => {
            let started = discord.try_click(who, MessageId(message), &custom_id);
            (started, String::new())
        }
        Does::Select {
            message,
            custom_id,
            values,
        } => {
            let values: Vec<&str> = values.iter().map(String::as_str).collect();
            let started = discord.try_select(who, MessageId(message), &custom_id, &values);
            (started, String::new())
        }
        Does::Submit { opened, values } => {
            let opener = shared
                .started
                .lock()
                .unwrap_or_else(PoisonError::into_inner)
                .get(&opened)
                .cloned();
            let (opener, title) = opener.ok_or_else(|| "that form is gone".to_owned())?;
            let values: Vec<(&str, &str)> = values
                .iter()
                .map(|(id, value)| (id.as_str(), value.as_str()))
                .collect();
            (discord.try_submit_modal(who, &opener, &values), title)
        }
        Does::Say {
            channel,
            text,
            reply_to,
            files,
        } => {
            let said = say(&shared, &text, reply_to.as_deref(), &files)?;
            let id = discord.try_say(who, ChannelId(channel), said)?;
            return Ok(Json(json!({"answer": "said", "message": id.to_string()})));
        }
    };
    Ok(Json(answered(&shared, started?, title).await))
}

fn say(
    shared: &Shared,
    text: &str,
    reply_to: Option<&str>,
    files: &[String],
) -> Result<Say, Refused> {
    let mut said = Say::text(text);
    if let Some(message) = reply_to {
        let message: u64 = message
            .parse()
            .map_err(|_| "the message replied to has no id".to_owned())?;
        said = said.reply_to(MessageId(message));
    }
    let mut uploads = shared
        .uploads
        .lock()
        .unwrap_or_else(PoisonError::into_inner);
    for file in files {
        let file = file
            .parse()
            .ok()
            .and_then(|id| uploads.remove(&id))
            .ok_or_else(|| "a file is gone: attach it again".to_owned())?;
        said = said.file(file);
    }
    Ok(said)
}

/// What Discord's client learns: the kind of the first answer; messages come with the state.
async fn answered(shared: &Shared, interaction: Interaction, title: String) -> Value {
    let id = interaction.id.get();
    shared
        .started
        .lock()
        .unwrap_or_else(PoisonError::into_inner)
        .insert(id, (interaction.clone(), title));
    match interaction.try_response().await {
        None => {
            interaction.forget();
            json!({"answer": "none"})
        }
        Some(Response::Message(_)) => json!({"answer": "message"}),
        Some(Response::Deferred { .. }) => json!({"answer": "deferred"}),
        Some(Response::Update(_) | Response::DeferredUpdate) => json!({"answer": "update"}),
        Some(Response::Choices(choices)) => {
            let choices: Vec<Value> = choices
                .into_iter()
                .map(|choice| json!({"name": choice.name, "value": choice.value}))
                .collect();
            json!({"answer": "choices", "choices": choices})
        }
        Some(Response::Modal(modal)) => {
            json!({"answer": "modal", "interaction": id.to_string(), "modal": modal_json(&modal)})
        }
    }
}

fn modal_json(modal: &Modal) -> Value {
    let fields: Vec<Value> = modal
        .fields
        .iter()
        .map(|field| {
            json!({
                "custom_id": field.custom_id, "label": field.label, "placeholder": field.placeholder,
                "value": field.value, "required": field.required, "paragraph": field.paragraph,
                "length": field.length,
            })
        })
        .collect();
    json!({"title": modal.title, "fields": fields})
}

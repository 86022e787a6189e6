//! The REST API, version 10, as far as an incident bot uses it.
//!
//! A request is read, checked against Discord's description, answered from the world,
//! and written down. A route that is not here is answered with 404 and recorded as a
//! violation: the double grows when the bot does, and never guesses.

mod channels;
mod commands;
mod interactions;
mod messages;

pub(crate) use messages::{guessed_type, safe_filename};

use std::collections::BTreeMap;
use std::io;
use std::sync::Arc;

use axum::body::Body;
use axum::extract::{FromRequest, Multipart};
use axum::http::request::Parts;
use axum::http::{HeaderValue, Request, Response, StatusCode, header};
use serde_json::{Value, json};

use crate::Core;
use crate::faults::{Failure, path_matches};
use crate::refusal::Refusal;
use crate::rules::{FILE_BYTES, Form, REQUEST_BYTES, integer};
use crate::schema::{self, Body as Schema};
use crate::world::{self, World};

/// A request, read.
pub(crate) struct Call {
    /// On the double's clock, before anything was checked.
    pub arrived_milliseconds: u64,
    /// The same in real time, before anything of the body was read.
    pub arrived: std::time::Instant,
    pub method: String,
    /// After `/api/v10`, without the query.
    pub path: String,
    pub query: BTreeMap<String, String>,
    pub body: Value,
    pub files: Vec<File>,
}

/// An uploaded file.
pub(crate) struct File {
    /// `n` of `files[n]`.
    pub number: u64,
    pub name: String,
    pub content_type: Option<String>,
    pub bytes: Vec<u8>,
}

/// A success.
pub(crate) struct Answer {
    pub status: u16,
    /// `None` for an empty body.
    pub body: Option<Value>,
}

impl Answer {
    pub fn ok(body: Value) -> Self {
        Self {
            status: 200,
            body: Some(body),
        }
    }
    pub fn created(body: Value) -> Self {
        Self {
            status: 201,
            body: Some(body),
        }
    }
    pub fn empty() -> Self {
        Self {
            status: 204,
            body: None,
        }
    }
}

pub(crate) type Answered = Result<Answer, Refusal>;

/// Answers one HTTP request; an error closes the connection.
pub(crate) async fn answer(
    core: Arc<Core>,
    parts: Parts,
    body: Body,
) -> io::Result<Response<Body>> {
    let arrived = std::time::Instant::now();
    let path = parts.uri.path().to_owned();
    if let Some(rest) = path.strip_prefix("/attachments/") {
        return Ok(download(&core, rest));
    }
    let method = parts.method.as_str().to_owned();
    let Some(path) = path.strip_prefix("/api/v10").map(str::to_owned) else {
        core.with(|w| w.violation(format!("{method} {path}: not a route of API version 10")));
        return Ok(respond(404, Some(&Refusal::no_such_route().body), &[]));
    };
    let full = match parts.uri.query() {
        Some(query) => format!("{path}?{query}"),
        None => path.clone(),
    };
    let query = parts.uri.query().unwrap_or("").to_owned();
    let authorization = header_text(&parts, header::AUTHORIZATION.as_str());
    let agent = header_text(&parts, header::USER_AGENT.as_str());
    let read = read_body(parts, body).await;
    let body = match &read {
        Ok((body, _)) => body.clone(),
        Err(_) => Value::Null,
    };
    let failure = core.with(|w| {
        let index = w.faults.iter().position(|f| f.matches(&method, &path))?;
        let fault = w.faults.get_mut(index)?;
        fault.times -= 1;
        Some(fault.failure.clone())
    });
    let note = |status: u16| {
        core.with(|w| {
            w.requests.push(world::Request {
                method: method.clone(),
                path: full.clone(),
                body: body.clone(),
                status,
            });
        });
    };
    let mut drop_afterwards = false;
    match failure {
        Some(Failure::Answer {
            status,
            body,
            headers,
            text,
        }) => {
            note(status);
            if text {
                let body = body.as_str().unwrap_or_default().to_owned();
                return Ok(respond_text(status, body, &headers));
            }
            return Ok(respond(status, Some(&body), &headers));
        }
        Some(Failure::Hang) => {
            note(0);
            std::future::pending::<()>().await;
        }
        Some(Failure::Drop) => {
            note(0);
            return Err(io::ErrorKind::ConnectionReset.into());
        }
        Some(Failure::DropAfterwards) => drop_afterwards = true,
        Some(Failure::Delay(by)) => tokio::time::sleep(by).await,
        None => {}
    }
    let arrived_milliseconds = core.look(|w| w.clock.now_milliseconds());
    let complaints = match &read {
        Ok((body, _)) => schema_of(&method, &path)
            .map(|kind| schema::complaints(kind, body))
            .unwrap_or_default(),
        Err(_) => Vec::new(),
    };
    let (answered, headers) = core.with(|w| {
        for complaint in complaints {
            w.violation(format!(
                "{method} {path}: Discord's description: {complaint}"
            ));
        }
        if agent.is_empty() {
            w.violation(format!("{method} {path}: no User-Agent"));
        }
        let headers = match bucket(w, &method, &path) {
            Ok(headers) => headers,
            Err((body, headers)) => {
                let refusal = Refusal {
                    status: 429,
                    body,
                    violation: None,
                };
                return (Err(refusal), headers);
            }
        };
        let answered = read.and_then(|(body, files)| {
            let call = Call {
                arrived_milliseconds,
                arrived,
                method: method.clone(),
                path: path.clone(),
                query: pairs(&query),
                body,
                files,
            };
            if needs_token(&path) && authorization != format!("Bot {}", w.token) {
                return Err(Refusal::unauthorized());
            }
            route(w, &call)
        });
        if let Err(Refusal {
            violation: Some(violation),
            ..
        }) = &answered
        {
            w.violation(format!("{method} {path}: {violation}"));
        }
        (answered, headers)
    });
    let mut headers = headers;
    let (status, body) = match answered {
        Ok(answer) => (answer.status, answer.body),
        Err(refusal) => {
            if let Some(seconds) = refusal.body.get("retry_after").and_then(Value::as_f64) {
                headers.retain(|(name, _)| name != "retry-after");
                // Whole seconds, rounded up.
                headers.push(("retry-after".to_owned(), format!("{:.0}", seconds.ceil())));
            }
            (refusal.status, Some(refusal.body))
        }
    };
    note(status);
    if drop_afterwards {
        return Err(io::ErrorKind::ConnectionReset.into());
    }
    Ok(respond(status, body.as_ref(), &headers))
}

fn header_text(parts: &Parts, name: &str) -> String {
    parts
        .headers
        .get(name)
        .and_then(|v| v.to_str().ok())
        .unwrap_or("")
        .to_owned()
}

/// Interactions and webhooks carry their own token.
fn needs_token(path: &str) -> bool {
    !(path.starts_with("/interactions/") || path.starts_with("/webhooks/") || path == "/gateway")
}

async fn read_body(parts: Parts, body: Body) -> Result<(Value, Vec<File>), Refusal> {
    let kind = header_text(&parts, header::CONTENT_TYPE.as_str());
    if kind.starts_with("multipart/form-data") {
        return read_multipart(parts, body).await;
    }
    let bytes = axum::body::to_bytes(body, 4 * REQUEST_BYTES)
        .await
        .map_err(|_| Refusal::entity_too_large())?;
    if bytes.len() > REQUEST_BYTES {
        return Err(Refusal::entity_too_large());
    }
    if bytes.is_empty() {
        return Ok((Value::Null, Vec::new()));
    }
    if !kind.starts_with("application/json") {
        return Err(Refusal::wrong_content_type(&kind));
    }
    let body = serde_json::from_slice(&bytes).map_err(|_| Refusal::invalid_json())?;
    Ok((body, Vec::new()))
}

async fn read_multipart(parts: Parts, body: Body) -> Result<(Value, Vec<File>), Refusal> {
    let broken = |why: &str| Refusal::wrong_content_type("multipart/form-data").because(why);
    let mut request = Request::from_parts(parts, body);
    axum::extract::DefaultBodyLimit::max(4 * REQUEST_BYTES).apply(&mut request);
    let mut form = Multipart::from_request(request, &())
        .await
        .map_err(|_| broken("no boundary"))?;
    let mut payload = Value::Null;
    let mut files = Vec::new();
    let mut total = 0;
    loop {
        let field = match form.next_field().await {
            Ok(Some(field)) => field,
            Ok(None) => break,
            Err(_) => return Err(broken("a part that cannot be read")),
        };
        let name = field.name().unwrap_or("").to_owned();
        let filename = field.file_name().map(str::to_owned);
        let content_type = field.content_type().map(str::to_owned);
        let bytes = field
            .bytes()
            .await
            .map_err(|_| broken("a part that cannot be read"))?;
        total += bytes.len();
        if bytes.len() > FILE_BYTES || total > REQUEST_BYTES {
            return Err(Refusal::entity_too_large());
        }
        if name == "payload_json" {
            payload = serde_json::from_slice(&bytes).map_err(|_| Refusal::invalid_json())?;
            continue;
        }
        let number = name
            .strip_prefix("files[")
            .and_then(|n| n.strip_suffix(']'))
            .and_then(|n| n.parse().ok());
        let (Some(number), Some(filename)) = (number, filename) else {
            return Err(broken(&format!("a part named {name:?}")));
        };
        files.push(File {
            number,
            name: filename,
            content_type,
            bytes: bytes.to_vec(),
        });
    }
    Ok((payload, files))
}

fn pairs(query: &str) -> BTreeMap<String, String> {
    query
        .split('&')
        .filter_map(|pair| pair.split_once('='))
        .map(|(key, value)| (key.to_owned(), decode(value)))
        .collect()
}

/// Percent-decoding; what does not decode to UTF-8 is replaced.
pub(crate) fn decode(text: &str) -> String {
    let mut out = Vec::with_capacity(text.len());
    let mut bytes = text.bytes();
    while let Some(byte) = bytes.next() {
        if byte != b'%' {
            out.push(byte);
            continue;
        }
        let digit = |b: Option<u8>| b.and_then(|b| char::from(b).to_digit(16));
        if let (Some(high), Some(low)) = (digit(bytes.next()), digit(bytes.next())) {
            out.push(u8::try_from(high * 16 + low).unwrap_or(b'?'));
        }
    }
    String::from_utf8_lossy(&out).into_owned()
}

fn respond(status: u16, body: Option<&Value>, headers: &[(String, String)]) -> Response<Body> {
    let mut response = match body {
        Some(body) => {
            let mut response = Response::new(Body::from(body.to_string()));
            // Without a charset: some clients read JSON only then.
            response.headers_mut().insert(
                header::CONTENT_TYPE,
                HeaderValue::from_static("application/json"),
            );
            response
        }
        None => Response::new(Body::empty()),
    };
    finish(&mut response, status, headers);
    response
}

fn respond_text(status: u16, text: String, headers: &[(String, String)]) -> Response<Body> {
    let mut response = Response::new(Body::from(text));
    response.headers_mut().insert(
        header::CONTENT_TYPE,
        HeaderValue::from_static("text/plain; charset=UTF-8"),
    );
    finish(&mut response, status, headers);
    response
}

fn finish(response: &mut Response<Body>, status: u16, headers: &[(String, String)]) {
    *response.status_mut() =
        StatusCode::from_u16(status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    for (name, value) in headers {
        if let (Ok(name), Ok(value)) = (
            axum::http::HeaderName::from_bytes(name.as_bytes()),
            HeaderValue::from_str(value),
        ) {
            response.headers_mut().insert(name, value);
        }
    }
}

fn download(core: &Core, path: &str) -> Response<Body> {
    let mut segments = path.split('/');
    let channel = segments.next().and_then(|s| s.parse::<u64>().ok());
    let id = segments.next().and_then(|s| s.parse::<u64>().ok());
    let name = segments.next().map(decode);
    let found = core.look(|w| {
        let attachment = w.attachments.get(&id?)?;
        (Some(attachment.channel) == channel && Some(&attachment.filename) == name.as_ref())
            .then(|| (attachment.content_type.clone(), attachment.bytes.clone()))
    });
    let Some((kind, bytes)) = found else {
        return respond_text(404, "This content is no longer available.".to_owned(), &[]);
    };
    let mut response = Response::new(Body::from(bytes));
    if let Some(kind) = kind.and_then(|k| HeaderValue::from_str(&k).ok()) {
        response.headers_mut().insert(header::CONTENT_TYPE, kind);
    }
    response
}

type Headers = Vec<(String, String)>;

/// The rate-limit headers of an answer, or the 429 where a test has set a limit.
///
/// The real numbers are not documented and change; unless a test sets one, a bucket is
/// never empty.
fn bucket(w: &mut World, method: &str, path: &str) -> Result<Headers, (Value, Headers)> {
    let now = w.clock.now_milliseconds();
    let name = bucket_name(method, path);
    let limit = w
        .limits
        .iter()
        .find(|l| {
            (l.method == "*" || l.method.eq_ignore_ascii_case(method))
                && path_matches(&l.pattern, path)
        })
        .map(|l| (l.requests, l.per_milliseconds));
    let (requests, window) = limit.unwrap_or((50, 1_000));
    let (reset, used) = w.buckets.get(&name).copied().unwrap_or((0, 0));
    let (reset, used) = if now >= reset {
        (now + window, 0)
    } else {
        (reset, used)
    };
    let after = reset.saturating_sub(now);
    if limit.is_some() && used >= requests {
        let seconds = after as f64 / 1000.0;
        let headers = vec![
            ("retry-after".to_owned(), after.div_ceil(1000).to_string()),
            ("x-ratelimit-limit".to_owned(), requests.to_string()),
            ("x-ratelimit-remaining".to_owned(), "0".to_owned()),
            (
                "x-ratelimit-reset".to_owned(),
                format!("{:.3}", reset as f64 / 1000.0),
            ),
            (
                "x-ratelimit-reset-after".to_owned(),
                format!("{seconds:.3}"),
            ),
            ("x-ratelimit-bucket".to_owned(), name),
            ("x-ratelimit-scope".to_owned(), "user".to_owned()),
        ];
        let body = json!({
            "message": "You are being rate limited.", "retry_after": seconds, "global": false,
        });
        return Err((body, headers));
    }
    w.buckets.insert(name.clone(), (reset, used + 1));
    let remaining = if limit.is_some() {
        requests.saturating_sub(used + 1)
    } else {
        requests.saturating_sub(used + 1).max(1)
    };
    Ok(vec![
        ("x-ratelimit-limit".to_owned(), requests.to_string()),
        ("x-ratelimit-remaining".to_owned(), remaining.to_string()),
        (
            "x-ratelimit-reset".to_owned(),
            format!("{:.3}", reset as f64 / 1000.0),
        ),
        (
            "x-ratelimit-reset-after".to_owned(),
            format!("{:.3}", after as f64 / 1000.0),
        ),
        ("x-ratelimit-bucket".to_owned(), name),
    ])
}

/// The route with its top-level id kept and other ids taken out.
fn bucket_name(method: &str, path: &str) -> String {
    let mut name = method.to_owned();
    for (i, segment) in path.split('/').filter(|s| !s.is_empty()).enumerate() {
        name.push(':');
        if i >= 2 && segment.bytes().all(|b| b.is_ascii_digit()) {
            name.push_str("id");
        } else {
            // Tokens are long; a bucket name need not be readable.
            name.extend(segment.chars().take(40));
        }
    }
    name.retain(|c| c.is_ascii_graphic());
    name
}

fn schema_of(method: &str, path: &str) -> Option<Schema> {
    let segments: Vec<&str> = path.split('/').filter(|s| !s.is_empty()).collect();
    Some(match (method, segments.as_slice()) {
        ("POST", ["channels", _, "messages"]) => Schema::CreateMessage,
        ("PATCH", ["channels", _, "messages", _]) => Schema::EditMessage,
        ("POST", ["webhooks", _, _]) => Schema::Followup,
        ("PATCH", ["webhooks", _, _, "messages", _]) => Schema::WebhookEdit,
        ("POST", ["interactions", _, _, "callback"]) => Schema::Callback,
        ("POST", ["channels", _, "messages", _, "threads"]) => Schema::ThreadFromMessage,
        ("POST", ["channels", _, "threads"]) => Schema::Thread,
        ("PATCH", ["channels", _]) => Schema::ThreadChange,
        ("PUT", ["applications", _, "commands"] | ["applications", _, "guilds", _, "commands"]) => {
            Schema::Commands
        }
        _ => return None,
    })
}

fn route(w: &mut World, call: &Call) -> Answered {
    let path = call.path.clone();
    let segments: Vec<&str> = path.split('/').filter(|s| !s.is_empty()).collect();
    let bot = w.bot;
    match (call.method.as_str(), segments.as_slice()) {
        ("GET", ["gateway"]) => Ok(Answer::ok(json!({"url": gateway_url(w)}))),
        ("GET", ["gateway", "bot"]) => Ok(Answer::ok(json!({
            "url": gateway_url(w), "shards": 1,
            "session_start_limit": {
                "total": 1000, "remaining": 1000, "reset_after": 0, "max_concurrency": 1,
            },
        }))),
        ("GET", ["applications", "@me"] | ["oauth2", "applications", "@me"]) => {
            Ok(Answer::ok(application_json(w)))
        }
        ("GET", ["users", "@me"]) => {
            let mut user = w.user_json(bot);
            user["verified"] = json!(true);
            user["mfa_enabled"] = json!(true);
            user["locale"] = json!("en-US");
            Ok(Answer::ok(user))
        }
        ("GET", ["users", "@me", "guilds"]) => {
            let guilds: Vec<Value> = w
                .guilds
                .values()
                .filter(|g| g.members.contains_key(&bot))
                .map(|g| {
                    json!({
                        "id": g.id.to_string(), "name": g.name, "icon": null, "banner": null,
                        "owner": false, "features": [],
                        "permissions": w.guild_permissions(bot, g.id).to_string(),
                    })
                })
                .collect();
            Ok(Answer::ok(json!(guilds)))
        }
        ("GET", ["users", user]) => {
            let user = id(user)?;
            if w.users.contains_key(&user) {
                Ok(Answer::ok(w.user_json(user)))
            } else {
                Err(Refusal::unknown_user())
            }
        }
        ("GET", ["guilds", guild, rest @ ..]) => channels::of_guild(w, id(guild)?, rest),
        (
            _,
            ["applications", application, "commands"]
            | ["applications", application, "guilds", _, "commands"],
        ) => {
            if id(application)? != bot {
                return Err(Refusal::unknown_application());
            }
            let guild = match segments.get(3) {
                Some(guild) => Some(id(guild)?),
                None => None,
            };
            commands::serve(w, call, guild)
        }
        ("POST", ["interactions", interaction, token, "callback"]) => {
            interactions::callback(w, call, id(interaction)?, token)
        }
        (_, ["webhooks", application, token, rest @ ..]) => {
            interactions::webhook(w, call, id(application)?, token, rest)
        }
        (_, ["channels", channel, rest @ ..]) => channels::serve(w, call, id(channel)?, rest),
        _ => Err(Refusal::no_such_route()),
    }
}

fn gateway_url(w: &World) -> String {
    w.url.replacen("http", "ws", 1)
}

fn application_json(w: &World) -> Value {
    json!({
        "id": w.bot.to_string(), "name": "precedent", "icon": null, "description": "",
        "rpc_origins": [], "bot_public": true, "bot_require_code_grant": false,
        "verify_key": "0".repeat(64), "team": null, "summary": "",
        "flags": w.application_flags(), "tags": [], "hook": true,
        "approximate_guild_count": w.guilds.len(), "approximate_user_install_count": 0,
        "redirect_uris": [], "interactions_endpoint_url": null,
        "role_connections_verification_url": null,
        "integration_types_config": {"0": {}},
        "type": null, "flags_new": w.application_flags().to_string(),
        "approximate_user_authorization_count": 0, "explicit_content_filter": 0,
        "eligible_oauth2_scopes": [],
        "bot": w.user_json(w.bot),
        "owner": {
            "id": "1000000000000000001", "username": "owner", "discriminator": "0",
            "global_name": null, "avatar": null, "public_flags": 0,
            "flags": 0, "primary_guild": null,
        },
    })
}

/// A snowflake in a path.
pub(crate) fn id(segment: &str) -> Result<u64, Refusal> {
    segment.parse().map_err(|_| {
        let mut form = Form::default();
        form.error(
            "id",
            "NUMBER_TYPE_COERCE",
            format!("Value \"{segment}\" is not snowflake."),
        );
        Refusal::invalid_form(&form.errors)
    })
}

/// Turns what a form found into violations or a refusal.
pub(crate) fn settle(w: &mut World, call: &Call, form: Form) -> Result<(), Refusal> {
    for key in form.unknown {
        w.violation(format!("{} {}: unknown key {key}", call.method, call.path));
    }
    if form.errors.is_empty() {
        Ok(())
    } else {
        Err(Refusal::invalid_form(&form.errors))
    }
}

/// The lists and texts of a body.
pub(crate) fn list(body: &Value, key: &str) -> Vec<Value> {
    body.get(key)
        .and_then(Value::as_array)
        .cloned()
        .unwrap_or_default()
}

pub(crate) fn text(body: &Value, key: &str) -> String {
    body.get(key)
        .and_then(Value::as_str)
        .unwrap_or("")
        .to_owned()
}

pub(crate) fn flags(body: &Value) -> u64 {
    body.get("flags").and_then(integer).unwrap_or(0)
}

//! A strict double of Hindsight, the memory server (its interface 1.1).
//!
//! Properties wanted: it behaves as the real one was seen to behave, its surprises included; a
//! request that the real one would not take is answered as there, and is a *violation*; so is what
//! the real one takes and the bot may never send (a recall that is not strict about who may see
//! what, a second directive of one name, a bank configured over its owners' heads), and what the
//! interface does not know (the real one ignores unknown fields in silence).
//!
//! Its surprises: retain creates a missing bank in silence and may keep nothing of what it took
//! ([`Hindsight::keep_nothing`]); recall's order is not by likeness; `detail` is a text or an array;
//! a directive's name is not unique, and one for a missing bank is a 500 that tells of the database's
//! inside; a missing document and a missing bank are 404; control characters are dropped.
//!
//! It remembers by words: a memory is recalled if it shares a word of four letters or two CJK
//! characters with the question; its likeness is the share of the question's words that it has.
//!
//! It listens on loopback alone. Absent on purpose: meaning, entities, observations, time.

use std::collections::{BTreeMap, BTreeSet};
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use axum::body::{Body, Bytes};
use axum::extract::{Request, State as Given};
use axum::http::{Method, Response, StatusCode};
use serde_json::{Value, json};
use tokio::sync::watch;
use tokio::task::JoinHandle;

/// How long waiting for something lasts before the test fails.
pub const PATIENCE: Duration = Duration::from_secs(10);
/// What its database says when asked for what it has not: never to be shown to anybody.
pub const INSIDE: &str =
    "Failed to search memories (Exception): Exception('connection to 10.0.0.7 refused')";

/// What is asked of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Ask {
    /// `POST .../memories`
    Retain,
    /// `POST .../memories/recall`
    Recall,
    /// `POST .../reflect`
    Reflect,
    /// `GET .../documents`, or one of them.
    Documents,
    /// `DELETE .../documents/{id}`
    Forget,
    /// `PUT` of a bank, its directives.
    Bank,
    /// `/version`, `/health`
    Probe,
}

/// What is wrong with it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Trouble {
    /// An answer of its own with this status; 500 tells of its inside.
    Status(u16),
    /// A 422, with an array for `detail`.
    Malformed,
    /// A page of a proxy instead of an answer.
    Page,
    /// JSON that is no answer to what was asked.
    Nonsense,
    /// The connection is closed without a word.
    Dropped,
    /// Nothing ever comes.
    Hangs,
}

/// One document.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Document {
    /// Its name.
    pub id: String,
    /// What is kept.
    pub text: String,
    /// Who may see it, and what it is about.
    pub tags: Vec<String>,
    /// What stands beside it.
    pub context: String,
    /// When it is from; `unset` where nobody knows.
    pub timestamp: String,
    /// How often it was retained.
    pub retained: u32,
    /// Whether it can be recalled.
    pub kept: bool,
}

#[derive(Debug, Default)]
struct Bank {
    settings: Value,
    directives: Vec<Value>,
    documents: BTreeMap<String, Document>,
    /// Names in the order in which they were written last.
    written: Vec<String>,
}

#[derive(Default)]
struct State {
    banks: BTreeMap<String, Bank>,
    asked: Vec<(Ask, Value)>,
    troubles: BTreeMap<Ask, (Trouble, u32)>,
    violations: Vec<String>,
    key: Option<String>,
    keeps_nothing: bool,
    refuses: Option<String>,
    reflection: Option<String>,
    numbers: u32,
}

struct Shared {
    state: Mutex<State>,
    changed: watch::Sender<u64>,
}

impl Shared {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The server.
pub struct Hindsight {
    address: SocketAddr,
    shared: Arc<Shared>,
    server: JoinHandle<()>,
    finished: bool,
}

impl Hindsight {
    /// Starts on a free port of the loopback interface, empty, without a model of its own.
    ///
    /// # Panics
    /// If it cannot listen.
    pub async fn start() -> Self {
        let listener = tokio::net::TcpListener::bind((Ipv4Addr::LOCALHOST, 0))
            .await
            .expect("a free port on loopback");
        let address = listener.local_addr().expect("the address listened on");
        let shared = Arc::new(Shared {
            state: Mutex::default(),
            changed: watch::Sender::new(0),
        });
        let app = axum::Router::new()
            .fallback(answer)
            .with_state(Arc::clone(&shared));
        let server = tokio::spawn(async move {
            let _ended = axum::serve(listener, app).await;
        });
        Self {
            address,
            shared,
            server,
            finished: false,
        }
    }

    /// Its address.
    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// Only this key is accepted from now on.
    pub fn require_key(&self, key: &str) -> &Self {
        self.shared.state().key = Some(key.to_owned());
        self
    }

    /// Says `success` and keeps nothing that could be recalled; or no longer.
    pub fn keep_nothing(&self, nothing: bool) -> &Self {
        self.shared.state().keeps_nothing = nothing;
        self
    }

    /// Takes no document with this in its text: 422 for all that come with it.
    pub fn refuse_texts_with(&self, words: Option<&str>) -> &Self {
        self.shared.state().refuses = words.map(str::to_owned);
        self
    }

    /// It has a model of its own, which says this.
    pub fn reflects(&self, text: &str) -> &Self {
        self.shared.state().reflection = Some(text.to_owned());
        self
    }

    /// Something is wrong, until [`Hindsight::well`].
    pub fn ails(&self, ask: Ask, trouble: Trouble) -> &Self {
        self.ails_times(ask, trouble, u32::MAX)
    }

    /// Something is wrong so many times.
    pub fn ails_times(&self, ask: Ask, trouble: Trouble, times: u32) -> &Self {
        self.shared.state().troubles.insert(ask, (trouble, times));
        self
    }

    /// Nothing is wrong any more.
    pub fn well(&self) -> &Self {
        self.shared.state().troubles.clear();
        self
    }

    /// Somebody deleted a bank.
    pub fn loses_bank(&self, bank: &str) -> &Self {
        self.shared.state().banks.remove(bank);
        self
    }

    /// Something was retained by others.
    pub fn holds(&self, bank: &str, id: &str, text: &str, tags: &[&str]) -> &Self {
        let mut state = self.shared.state();
        let document = Document {
            id: id.to_owned(),
            text: text.to_owned(),
            tags: tags.iter().map(|tag| (*tag).to_owned()).collect(),
            context: String::new(),
            timestamp: "unset".to_owned(),
            retained: 1,
            kept: true,
        };
        let bank = state.banks.entry(bank.to_owned()).or_default();
        bank.written.push(id.to_owned());
        bank.documents.insert(id.to_owned(), document);
        self
    }

    /// The documents of a bank, by name.
    pub fn documents(&self, bank: &str) -> Vec<Document> {
        let state = self.shared.state();
        let found = state.banks.get(bank);
        found.map_or_else(Vec::new, |bank| bank.documents.values().cloned().collect())
    }

    /// One document.
    pub fn document(&self, bank: &str, id: &str) -> Option<Document> {
        let mut all = self.documents(bank).into_iter();
        all.find(|document| document.id == id)
    }

    /// How a bank was created, and its directives; null where there is none.
    pub fn bank(&self, bank: &str) -> Value {
        let state = self.shared.state();
        state.banks.get(bank).map_or(
            Value::Null,
            |bank| json!({"settings": bank.settings, "directives": bank.directives}),
        )
    }

    /// What was asked so far, as it came in.
    pub fn asked(&self, ask: Ask) -> Vec<Value> {
        let state = self.shared.state();
        let of = state.asked.iter().filter(|(kind, _)| *kind == ask);
        of.map(|(_, body)| body.clone()).collect()
    }

    /// Waits until this holds.
    ///
    /// # Panics
    /// If it does not within [`PATIENCE`].
    pub async fn until(&self, what: &str, holds: impl Fn(&Self) -> bool) {
        let mut changed = self.shared.changed.subscribe();
        let waiting = async {
            while !holds(self) {
                let _changed = changed.changed().await;
            }
        };
        let in_time = tokio::time::timeout(PATIENCE, waiting).await;
        assert!(in_time.is_ok(), "never: {what}");
    }

    /// What no client should have sent.
    pub fn violations(&self) -> Vec<String> {
        self.shared.state().violations.clone()
    }

    /// The same, taken as read: for tests that break the rules on purpose.
    pub fn take_violations(&self) -> Vec<String> {
        std::mem::take(&mut self.shared.state().violations)
    }

    /// Ends the test's use of it.
    ///
    /// # Panics
    /// If there were violations.
    pub fn finish(mut self) {
        self.finished = true;
        let violations = self.violations();
        assert!(
            violations.is_empty(),
            "Hindsight's double: {}",
            violations.join("; ")
        );
    }
}

impl Drop for Hindsight {
    fn drop(&mut self) {
        self.server.abort();
        // A test that forgets to finish still hears of violations.
        if !self.finished && !std::thread::panicking() {
            let violations = self.violations();
            assert!(
                violations.is_empty(),
                "Hindsight's double: {}",
                violations.join("; ")
            );
        }
    }
}

/// Status and body.
type Answer = (u16, Value);
/// A field that may be sent, and what it may hold.
type Field<'a> = (&'a str, fn(&Value) -> bool);

async fn answer(Given(shared): Given<Arc<Shared>>, request: Request) -> Response<Body> {
    let (head, body) = request.into_parts();
    let bytes = axum::body::to_bytes(body, 16 * 1024 * 1024)
        .await
        .unwrap_or_default();
    let path = head.uri.path().to_owned();
    let query = head.uri.query().unwrap_or_default().to_owned();
    let authorization = head
        .headers
        .get("authorization")
        .and_then(|value| value.to_str().ok())
        .map(str::to_owned);
    let is_json = head
        .headers
        .get("content-type")
        .is_some_and(|kind| kind.as_bytes().starts_with(b"application/json"));
    let parts: Vec<String> = path.split('/').skip(1).map(unescaped).collect();
    let parts: Vec<&str> = parts.iter().map(String::as_str).collect();

    let trouble = {
        let mut state = shared.state();
        let Some(ask) = kind_of(&head.method, &parts) else {
            state
                .violations
                .push(format!("unknown address: {} {path}", head.method));
            return respond(404, &json!({"detail": "Not Found"}));
        };
        let body = serde_json::from_slice(&bytes).unwrap_or(Value::Null);
        state.asked.push((ask, body));
        if let Some(key) = &state.key
            && authorization.as_deref() != Some(&format!("Bearer {key}"))
        {
            drop(state);
            changed(&shared);
            return respond(401, &json!({"detail": "Invalid API key"}));
        }
        let trouble = match state.troubles.get_mut(&ask) {
            Some((trouble, left)) if *left > 0 => {
                *left = left.saturating_sub(1);
                Some(*trouble)
            }
            _ => None,
        };
        match trouble {
            Some(trouble) => Err(trouble),
            None => Ok(state.take(&head.method, &parts, &query, &bytes, is_json)),
        }
    };
    changed(&shared);
    match trouble {
        Ok((status, body)) => respond(status, &body),
        Err(Trouble::Status(status)) => respond(status, &json!({"detail": INSIDE})),
        Err(Trouble::Malformed) => respond(422, &malformed("body", "Field required")),
        Err(Trouble::Nonsense) => respond(200, &json!([1, "two", null])),
        Err(Trouble::Page) => {
            let page = "<html><body>502 Bad Gateway</body></html>";
            reply(502, "text/html", Body::from(page))
        }
        Err(Trouble::Dropped) => {
            let end = std::io::Error::other("the connection is dropped");
            let nothing = futures::stream::iter([Err::<Bytes, _>(end)]);
            reply(200, "application/json", Body::from_stream(nothing))
        }
        Err(Trouble::Hangs) => std::future::pending().await,
    }
}

fn changed(shared: &Shared) {
    shared.changed.send_modify(|n| *n = n.wrapping_add(1));
}

fn respond(status: u16, body: &Value) -> Response<Body> {
    reply(status, "application/json", Body::from(body.to_string()))
}

fn reply(status: u16, kind: &str, body: Body) -> Response<Body> {
    let mut response = Response::new(body);
    *response.status_mut() =
        StatusCode::from_u16(status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    if let Ok(kind) = kind.parse() {
        response.headers_mut().insert("content-type", kind);
    }
    response
}

fn unescaped(part: &str) -> String {
    let mut bytes = Vec::new();
    let mut rest = part.bytes();
    while let Some(byte) = rest.next() {
        if byte == b'%' {
            let digits: Vec<u8> = rest.by_ref().take(2).collect();
            let digits = String::from_utf8_lossy(&digits).into_owned();
            bytes.push(u8::from_str_radix(&digits, 16).unwrap_or(b'?'));
        } else {
            bytes.push(byte);
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

fn kind_of(method: &Method, parts: &[&str]) -> Option<Ask> {
    Some(match (method.as_str(), parts) {
        ("GET", ["version" | "health"]) => Ask::Probe,
        ("PUT", ["v1", "default", "banks", _])
        | ("GET" | "POST", ["v1", "default", "banks", _, "directives"]) => Ask::Bank,
        ("POST", ["v1", "default", "banks", _, "memories"]) => Ask::Retain,
        ("POST", ["v1", "default", "banks", _, "memories", "recall"]) => Ask::Recall,
        ("POST", ["v1", "default", "banks", _, "reflect"]) => Ask::Reflect,
        ("GET", ["v1", "default", "banks", _, "documents"])
        | ("GET", ["v1", "default", "banks", _, "documents", _]) => Ask::Documents,
        ("DELETE", ["v1", "default", "banks", _, "documents", _]) => Ask::Forget,
        _ => return None,
    })
}

fn malformed(place: &str, message: &str) -> Value {
    json!({"detail": [{"type": "value_error", "loc": ["body", place], "msg": message, "input": null}]})
}

fn no_bank(bank: &str) -> Answer {
    (404, json!({"detail": format!("Bank '{bank}' not found")}))
}

impl State {
    fn violation(&mut self, what: impl Into<String>) {
        self.violations.push(what.into());
    }

    /// Fields beyond these, and fields of the wrong kind, are violations.
    fn expect(&mut self, what: &str, body: &Value, fields: &[Field<'_>]) {
        let Some(object) = body.as_object() else {
            self.violation(format!("{what}: no JSON object"));
            return;
        };
        for (name, value) in object {
            match fields.iter().find(|(known, _)| known == name) {
                None => self.violation(format!("{what}: unknown field {name}")),
                Some((_, fits)) if !fits(value) => {
                    self.violation(format!("{what}: {name} may not be {value}"));
                }
                Some(_) => {}
            }
        }
    }

    fn take(
        &mut self,
        method: &Method,
        parts: &[&str],
        query: &str,
        bytes: &[u8],
        is_json: bool,
    ) -> Answer {
        let has_body = matches!(method.as_str(), "PUT" | "POST");
        let body: Value = match serde_json::from_slice(bytes) {
            Ok(body) if has_body && is_json => body,
            _ if !has_body && bytes.is_empty() => Value::Null,
            _ => {
                self.violation(format!(
                    "{method} {}: a body that is not JSON",
                    parts.join("/")
                ));
                return (422, malformed("body", "JSON decode error"));
            }
        };
        match parts {
            ["version"] => (
                200,
                json!({"api_version": "1.1.0", "features": {"observations": false, "worker": true}}),
            ),
            ["health"] => (200, json!({"status": "healthy", "database": "connected"})),
            [_, _, _, bank] => self.create(bank, &body),
            [_, _, _, bank, "directives"] if has_body => self.direct(bank, &body),
            [_, _, _, bank, "directives"] => match self.banks.get(*bank) {
                Some(bank) => (
                    200,
                    json!({"items": bank.directives, "total": bank.directives.len(), "limit": 1000, "offset": 0}),
                ),
                None => no_bank(bank),
            },
            [_, _, _, bank, "memories"] => self.retain(bank, &body),
            [_, _, _, bank, "memories", "recall"] => self.recall(bank, &body),
            [_, _, _, bank, "reflect"] => self.reflect(bank, &body),
            [_, _, _, bank, "documents"] => self.list(bank, query),
            [_, _, _, bank, "documents", id] if *method == Method::GET => {
                match self
                    .banks
                    .get(*bank)
                    .and_then(|bank| bank.documents.get(*id))
                {
                    Some(found) => (200, listed(bank, found)),
                    None => (404, json!({"detail": "Document not found"})),
                }
            }
            [_, _, _, bank, "documents", id] => {
                let found = self
                    .banks
                    .get_mut(*bank)
                    .and_then(|bank| bank.documents.remove(*id));
                match found {
                    Some(_) => (
                        200,
                        json!({"success": true, "message": "deleted", "document_id": id, "memory_units_deleted": 1}),
                    ),
                    None => (404, json!({"detail": "Document not found"})),
                }
            }
            _ => (404, json!({"detail": "Not Found"})),
        }
    }

    fn create(&mut self, name: &str, body: &Value) -> Answer {
        self.expect(
            "bank",
            body,
            &[
                ("retain_extraction_mode", |value| {
                    ["concise", "verbose", "custom", "verbatim", "chunks"]
                        .contains(&value.as_str().unwrap_or_default())
                }),
                ("enable_observations", Value::is_boolean),
                ("reflect_mission", Value::is_string),
            ],
        );
        if self.banks.contains_key(name) {
            self.violation(format!("bank {name} is configured over its owners' heads"));
        }
        let bank = self.banks.entry(name.to_owned()).or_default();
        bank.settings = body.clone();
        (
            200,
            json!({"bank_id": name, "name": name, "mission": "", "background": ""}),
        )
    }

    fn direct(&mut self, name: &str, body: &Value) -> Answer {
        self.expect(
            "directive",
            body,
            &[
                ("name", Value::is_string),
                ("content", Value::is_string),
                ("priority", Value::is_i64),
                ("is_active", Value::is_boolean),
                ("tags", Value::is_array),
            ],
        );
        if !self.banks.contains_key(name) {
            self.violation(format!("a directive for bank {name}, which is not there"));
            return (
                500,
                json!({"detail": "insert or update on table \"directives\" violates foreign key constraint"}),
            );
        }
        self.numbers += 1;
        let mut directive = body.clone();
        directive["id"] = json!(format!("directive-{}", self.numbers));
        directive["bank_id"] = json!(name);
        let twice = self.banks.get(name).is_some_and(|bank| {
            bank.directives
                .iter()
                .any(|known| known["name"] == body["name"])
        });
        if twice {
            self.violation(format!("a second directive of one name in bank {name}"));
        }
        if let Some(bank) = self.banks.get_mut(name) {
            bank.directives.push(directive.clone());
        }
        (200, directive)
    }

    fn retain(&mut self, name: &str, body: &Value) -> Answer {
        self.expect("retain", body, &[("items", Value::is_array)]);
        let items = body["items"].as_array().cloned().unwrap_or_default();
        if items.is_empty() {
            self.violation("retain: nothing to retain");
        }
        let mut names = BTreeSet::new();
        for item in &items {
            self.expect(
                "retain",
                item,
                &[
                    ("content", Value::is_string),
                    ("document_id", Value::is_string),
                    ("timestamp", Value::is_string),
                    ("context", Value::is_string),
                    ("metadata", |value| {
                        value
                            .as_object()
                            .is_some_and(|map| map.values().all(Value::is_string))
                    }),
                    ("tags", is_texts),
                    ("update_mode", |value| *value == "replace"),
                ],
            );
            let id = item["document_id"].as_str().unwrap_or_default();
            if id.is_empty() || !names.insert(id.to_owned()) {
                self.violation("retain: a document without a name of its own");
            }
            if texts(&item["tags"]).is_empty() {
                self.violation(format!("retain: {id} without a tag is seen by everybody"));
            }
            let content = item["content"].as_str().unwrap_or_default();
            if content.trim().is_empty() {
                return (
                    422,
                    malformed("content", "Value error, content cannot be empty"),
                );
            }
            if content.chars().any(char::is_control) {
                self.violation(format!(
                    "retain: {id} has characters that are dropped in silence"
                ));
            }
            let at = item["timestamp"].as_str().unwrap_or("unset");
            let is_time = at
                .parse::<jiff::Timestamp>()
                .is_ok_and(|at| (-62_135_596_800..253_370_764_800).contains(&at.as_second()));
            if at != "unset" && !is_time {
                return (
                    422,
                    malformed("timestamp", "Value error, Invalid timestamp"),
                );
            }
            if self
                .refuses
                .as_deref()
                .is_some_and(|words| content.contains(words))
            {
                return (422, malformed("content", "Value error, not this one"));
            }
        }
        let kept = !self.keeps_nothing;
        let bank = self.banks.entry(name.to_owned()).or_default();
        for item in &items {
            let text = |field: &str| item[field].as_str().unwrap_or_default().to_owned();
            let id = text("document_id");
            let retained = bank.documents.get(&id).map_or(0, |known| known.retained) + 1;
            bank.written.retain(|written| *written != id);
            bank.written.push(id.clone());
            bank.documents.insert(
                id.clone(),
                Document {
                    id,
                    text: text("content"),
                    tags: texts(&item["tags"]),
                    context: text("context"),
                    timestamp: text("timestamp"),
                    retained,
                    kept,
                },
            );
        }
        (
            200,
            json!({"success": true, "bank_id": name, "items_count": items.len(), "async": false,
                "operation_id": null, "operation_ids": null, "usage": {"total_tokens": 0}}),
        )
    }

    /// Recall and reflection may see only what the tags allow.
    fn strictly(&mut self, what: &str, body: &Value) {
        if body["tags_match"] != "any_strict" && body["tags_match"] != "all_strict" {
            self.violation(format!("{what}: not strict about who may see what"));
        }
        if texts(&body["tags"]).is_empty() {
            self.violation(format!("{what}: of everything that everybody retained"));
        }
    }

    fn recall(&mut self, name: &str, body: &Value) -> Answer {
        self.expect(
            "recall",
            body,
            &[
                ("query", Value::is_string),
                ("budget", is_budget),
                ("max_tokens", Value::is_u64),
                ("tags", is_texts),
                ("tags_match", Value::is_string),
                ("include", Value::is_object),
            ],
        );
        self.strictly("recall", body);
        let question = body["query"].as_str().unwrap_or_default();
        if !question.chars().any(char::is_alphanumeric) {
            self.violation("recall: a question without a word");
            return (
                422,
                malformed(
                    "query",
                    "Value error, query must contain at least one word character after normalization",
                ),
            );
        }
        let asked = words(question);
        let tags = texts(&body["tags"]);
        let Some(bank) = self.banks.get(name) else {
            return no_bank(name);
        };
        // The least alike first: without a reranker the order says nothing.
        let mut results: Vec<(f64, Value)> = Vec::new();
        for document in bank.documents.values().filter(|document| document.kept) {
            if !document.tags.iter().any(|tag| tags.contains(tag)) {
                continue;
            }
            let own = words(&format!("{} {}", document.text, document.context));
            let shared = asked.intersection(&own).count();
            if shared == 0 || question.split_whitespace().count() > 500 {
                continue;
            }
            let semantic = shared as f64 / asked.len().max(1) as f64;
            results.push((
                semantic,
                json!({
                    "id": format!("unit-of-{}-{}", document.id, document.retained),
                    "text": document.text, "type": "world", "entities": null,
                    "context": document.context, "occurred_start": null, "occurred_end": null,
                    "mentioned_at": (document.timestamp != "unset").then_some(&document.timestamp),
                    "document_id": document.id, "metadata": {"incident": document.id},
                    "chunk_id": format!("{name}_{}_0", document.id), "tags": document.tags,
                    "scores": {"final": 1.05, "reranker": null,
                        "semantic": (semantic > 0.05).then_some(semantic), "keyword": 0.7},
                }),
            ));
        }
        results.sort_by(|(one, _), (other, _)| one.total_cmp(other));
        let results: Vec<Value> = results.into_iter().map(|(_, result)| result).collect();
        (
            200,
            json!({"results": results, "trace": null, "entities": null, "chunks": null}),
        )
    }

    fn reflect(&mut self, name: &str, body: &Value) -> Answer {
        self.expect(
            "reflect",
            body,
            &[
                ("query", Value::is_string),
                ("budget", is_budget),
                ("max_tokens", Value::is_u64),
                ("tags", is_texts),
                ("tags_match", Value::is_string),
            ],
        );
        self.strictly("reflect", body);
        if !self.banks.contains_key(name) {
            return no_bank(name);
        }
        match &self.reflection {
            Some(text) => (
                200,
                json!({"text": text, "based_on": null, "structured_output": null, "usage": {"total_tokens": 60}}),
            ),
            None => (
                400,
                json!({"detail": "Reflect requires an LLM provider. Current provider is set to 'none'."}),
            ),
        }
    }

    fn list(&mut self, name: &str, query: &str) -> Answer {
        let limit = query
            .split('&')
            .find_map(|pair| pair.strip_prefix("limit="))
            .and_then(|limit| limit.parse().ok())
            .unwrap_or(100);
        let Some(bank) = self.banks.get(name) else {
            return no_bank(name);
        };
        let items: Vec<Value> = bank
            .written
            .iter()
            .rev()
            .filter_map(|id| bank.documents.get(id))
            .take(limit)
            .map(|document| listed(name, document))
            .collect();
        (
            200,
            json!({"items": items, "total": bank.documents.len(), "limit": limit, "offset": 0, "total_is_estimate": false}),
        )
    }
}

fn listed(bank: &str, document: &Document) -> Value {
    json!({
        "id": document.id, "bank_id": bank, "text_length": document.text.len(),
        "original_text": document.text, "content_hash": "", "created_at": "", "updated_at": "",
        "memory_unit_count": u32::from(document.kept), "tags": document.tags,
    })
}

fn is_texts(value: &Value) -> bool {
    value
        .as_array()
        .is_some_and(|all| all.iter().all(Value::is_string))
}

fn is_budget(value: &Value) -> bool {
    ["low", "mid", "high"].contains(&value.as_str().unwrap_or_default())
}

fn texts(value: &Value) -> Vec<String> {
    let all = value.as_array().into_iter().flatten();
    all.filter_map(|text| text.as_str().map(str::to_owned))
        .collect()
}

/// Words of four letters and more, and every two CJK characters.
fn words(text: &str) -> BTreeSet<String> {
    let folded = text.to_lowercase();
    let mut all: BTreeSet<String> = folded
        .split(|c: char| !c.is_alphanumeric())
        .filter(|word| word.chars().count() >= 4 && word.is_ascii())
        .map(str::to_owned)
        .collect();
    let characters: Vec<char> = folded.chars().collect();
    for pair in characters.windows(2) {
        if pair.iter().all(|c| ('\u{4e00}'..='\u{9fff}').contains(c)) {
            all.insert(pair.iter().collect());
        }
    }
    all
}

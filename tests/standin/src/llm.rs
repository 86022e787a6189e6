//! A strict double of a chat-completions provider.
//!
//! Properties wanted: a test scripts what the model says, in words; every request is kept to be
//! looked at; what a real provider refuses is refused here with its status and its body; and what
//! no client should ever send is a *violation*, which [`ChatModel::finish`] turns into a failure,
//! as it does a scripted reply that nobody asked for.
//!
//! Refused without being a violation (a provider's ordinary life): a bad key (401), a model that is
//! not offered (404), more tokens than the minute allows (413), a parameter that this model does
//! not take (400). Violations: unknown paths and fields, malformed messages, a schema that breaks
//! the rules of strict mode, a request that does not say its task or names two.
//!
//! It listens on loopback alone. Absent on purpose: streaming on request, tools, pictures, and
//! any intelligence.

use std::collections::{BTreeMap, HashMap, VecDeque};

use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use axum::body::Body;
use axum::http::{Method, Response};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use serde_json::{Value, json};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;
use tokio::task::{JoinHandle, JoinSet};

mod misbehaviour;
mod reply;
mod strict;

pub use misbehaviour::Misbehaviour;
pub use reply::{Hold, Reply};

/// How long [`ChatModel::seen`] and [`Hold::arrived`] wait for a request before they fail the test.
pub const PATIENCE: Duration = Duration::from_secs(10);
/// Requests are read up to here.
const LARGEST_REQUEST: usize = 4 * 1024 * 1024;

/// What a request asks for, by the first line of its system message and the name of its schema.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Task {
    /// `Task: triage`
    Triage,
    /// `Task: analysis`
    Analysis,
    /// `Task: follow_up`
    FollowUp,
    /// `Task: update`
    Update,
}

impl Task {
    /// All of them.
    pub const ALL: [Self; 4] = [Self::Triage, Self::Analysis, Self::FollowUp, Self::Update];

    /// The word on the wire.
    pub fn name(self) -> &'static str {
        match self {
            Self::Triage => "triage",
            Self::Analysis => "analysis",
            Self::FollowUp => "follow_up",
            Self::Update => "update",
        }
    }

    fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|task| task.name() == name)
    }
}

/// A question as it came in.
#[derive(Debug, Clone)]
pub struct Request {
    /// What it asks for; `None` if it does not say (a violation).
    pub task: Option<Task>,
    /// The body.
    pub body: Value,
    /// The headers, names in lower case.
    pub headers: BTreeMap<String, String>,
    /// What its messages count as: a token for four ASCII characters and one for any other.
    pub prompt_tokens: u32,
}

impl Request {
    /// The texts of the messages of a role, each on its own line.
    pub fn text_of(&self, role: &str) -> String {
        strict::texts(&self.body, Some(role)).join("\n")
    }

    /// The instructions.
    pub fn system(&self) -> String {
        self.text_of("system")
    }

    /// The question.
    pub fn user(&self) -> String {
        self.text_of("user")
    }

    /// The model that is asked.
    pub fn model(&self) -> &str {
        self.body["model"].as_str().unwrap_or_default()
    }

    /// Whether a field stands in the body.
    pub fn has(&self, field: &str) -> bool {
        self.body.get(field).is_some()
    }

    /// `json_schema`, `json_object`, or `None` where no form is asked for.
    pub fn response_format(&self) -> Option<&str> {
        self.body["response_format"]["type"].as_str()
    }
}

type Responder = Arc<dyn Fn(&Request) -> Reply + Send + Sync>;

struct State {
    scripted: HashMap<Task, VecDeque<Reply>>,
    functions: HashMap<Task, Responder>,
    otherwise: Option<Responder>,
    requests: Vec<Request>,
    probes: usize,
    violations: Vec<String>,
    key: Option<String>,
    models: Vec<String>,
    tokens_per_minute: Option<u32>,
}

struct Shared {
    state: Mutex<State>,
    seen: watch::Sender<usize>,
}

impl Shared {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The provider.
pub struct ChatModel {
    address: SocketAddr,
    shared: Arc<Shared>,
    server: JoinHandle<()>,
    finished: bool,
}

impl ChatModel {
    /// Starts on a free port of the loopback interface. It offers `openai/gpt-oss-120b`,
    /// `openai/gpt-oss-20b`, `llama-3.3-70b-versatile` and `qwen/qwen3-32b`, takes any key, and
    /// allows gpt-oss 8,000 tokens a request, as the free plan does.
    ///
    /// # Panics
    /// If it cannot listen.
    pub async fn start() -> Self {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))
            .await
            .expect("a free port on loopback");
        let address = listener.local_addr().expect("the address listened on");
        let shared = Arc::new(Shared {
            state: Mutex::new(State {
                scripted: HashMap::new(),
                functions: HashMap::new(),
                otherwise: None,
                requests: Vec::new(),
                probes: 0,
                violations: Vec::new(),
                key: None,
                models: [
                    "openai/gpt-oss-120b",
                    "openai/gpt-oss-20b",
                    "llama-3.3-70b-versatile",
                    "qwen/qwen3-32b",
                ]
                .map(str::to_owned)
                .to_vec(),
                tokens_per_minute: Some(8000),
            }),
            seen: watch::Sender::new(0),
        });
        let server = tokio::spawn(serve(listener, Arc::clone(&shared)));
        Self {
            address,
            shared,
            server,
            finished: false,
        }
    }

    /// The base URL, with its `/v1`.
    pub fn base_url(&self) -> String {
        format!("http://{}/v1", self.address)
    }

    /// Only this key is accepted from now on.
    pub fn require_key(&self, key: &str) -> &Self {
        self.shared.state().key = Some(key.to_owned());
        self
    }

    /// Only these models are offered from now on.
    pub fn offer_models(&self, models: &[&str]) -> &Self {
        self.shared.state().models = models.iter().map(|model| (*model).to_owned()).collect();
        self
    }

    /// What prompt and answer of a gpt-oss request may come to; `None` allows any size.
    pub fn allow_tokens(&self, tokens_per_minute: Option<u32>) -> &Self {
        self.shared.state().tokens_per_minute = tokens_per_minute;
        self
    }

    /// The next answer to this task. Scripted replies are given in order, before any other.
    pub fn on(&self, task: Task, reply: impl Into<Reply>) -> &Self {
        let mut state = self.shared.state();
        state
            .scripted
            .entry(task)
            .or_default()
            .push_back(reply.into());
        self
    }

    /// Answers this task by a function, whenever no reply is scripted.
    pub fn on_fn(
        &self,
        task: Task,
        reply: impl Fn(&Request) -> Reply + Send + Sync + 'static,
    ) -> &Self {
        self.shared.state().functions.insert(task, Arc::new(reply));
        self
    }

    /// Answers whatever nothing else answers.
    pub fn otherwise(&self, reply: impl Into<Reply>) -> &Self {
        let reply = reply.into();
        self.shared.state().otherwise = Some(Arc::new(move |_| reply.clone()));
        self
    }

    /// The questions so far, refused ones included, in the order in which they came.
    pub fn requests(&self) -> Vec<Request> {
        self.shared.state().requests.clone()
    }

    /// The questions of one task.
    pub fn requests_for(&self, task: Task) -> Vec<Request> {
        let mut requests = self.requests();
        requests.retain(|request| request.task == Some(task));
        requests
    }

    /// How often the models were listed.
    pub fn probes(&self) -> usize {
        self.shared.state().probes
    }

    /// What no client should have sent.
    pub fn violations(&self) -> Vec<String> {
        self.shared.state().violations.clone()
    }

    /// The same, taken as read: for tests that break the rules on purpose.
    pub fn take_violations(&self) -> Vec<String> {
        std::mem::take(&mut self.shared.state().violations)
    }

    /// Waits until `count` questions have come in all.
    ///
    /// # Panics
    /// If they have not within [`PATIENCE`].
    pub async fn seen(&self, count: usize) {
        let mut seen = self.shared.seen.subscribe();
        let enough = seen.wait_for(|seen| *seen >= count);
        let in_time = tokio::time::timeout(PATIENCE, enough).await;
        assert!(
            matches!(in_time, Ok(Ok(_))),
            "the model was asked {} times, {count} expected",
            self.shared.state().requests.len()
        );
    }

    /// Ends the test's use of it.
    ///
    /// # Panics
    /// If there were violations, or scripted replies that were never asked for.
    pub fn finish(mut self) {
        self.finished = true;
        let state = self.shared.state();
        let mut faults = state.violations.clone();
        for task in Task::ALL {
            let left = state.scripted.get(&task).map_or(0, VecDeque::len);
            if left > 0 {
                faults.push(format!(
                    "{left} scripted replies to {} were never asked for",
                    task.name()
                ));
            }
        }
        drop(state);
        assert!(
            faults.is_empty(),
            "the model's double: {}",
            faults.join("; ")
        );
    }
}

impl Drop for ChatModel {
    fn drop(&mut self) {
        self.server.abort();
        // A test that forgets to finish still hears of violations.
        if !self.finished && !std::thread::panicking() {
            let violations = self.violations();
            assert!(
                violations.is_empty(),
                "the model's double: {}",
                violations.join("; ")
            );
        }
    }
}

async fn serve(listener: TcpListener, shared: Arc<Shared>) {
    // Aborting the server drops the set, and with it every connection.
    let mut connections = JoinSet::new();
    loop {
        tokio::select! {
            accepted = listener.accept() => {
                let Ok((stream, _)) = accepted else { continue };
                connections.spawn(serve_connection(stream, Arc::clone(&shared)));
            }
            Some(_) = connections.join_next() => {}
        }
    }
}

async fn serve_connection(stream: TcpStream, shared: Arc<Shared>) {
    let service = service_fn(move |request| {
        let shared = Arc::clone(&shared);
        async move { answer(&shared, request).await }
    });
    // It ends in an error when a reply drops the connection or the client leaves.
    let _ = http1::Builder::new()
        .serve_connection(TokioIo::new(stream), service)
        .await;
}

/// An error closes the connection without an answer.
async fn answer(
    shared: &Shared,
    request: axum::http::Request<hyper::body::Incoming>,
) -> Result<Response<Body>, io::Error> {
    let (head, body) = request.into_parts();
    let body = axum::body::to_bytes(Body::new(body), LARGEST_REQUEST)
        .await
        .map_err(io::Error::other)?;
    let headers: BTreeMap<String, String> = head
        .headers
        .iter()
        .map(|(name, value)| {
            let value = String::from_utf8_lossy(value.as_bytes());
            (name.as_str().to_owned(), value.into_owned())
        })
        .collect();
    let (reply, request) = match (&head.method, head.uri.path()) {
        (&Method::POST, "/v1/chat/completions") => take_question(shared, headers, &body),
        (&Method::GET, "/v1/models") => (list_models(shared, &headers), None),
        (method, path) => {
            let violation = format!("unknown address: {method} {path}");
            shared.state().violations.push(violation);
            let message = format!("Unknown request URL: {method} {path}");
            let body = strict::error(&message, "invalid_request_error", "unknown_url");
            (Reply::status(404, body), None)
        }
    };
    reply.deliver(request.as_ref()).await
}

fn take_question(
    shared: &Shared,
    headers: BTreeMap<String, String>,
    body: &[u8],
) -> (Reply, Option<Request>) {
    let parsed: Result<Value, _> = serde_json::from_slice(body);
    let body = parsed.as_ref().cloned().unwrap_or_default();
    let (task, task_fault) = strict::task(&body);
    let request = Request {
        task,
        prompt_tokens: strict::prompt_tokens(&body),
        body,
        headers,
    };
    let mut state = shared.state();
    state.requests.push(request.clone());
    shared.seen.send_replace(state.requests.len());

    let json_sent = request
        .headers
        .get("content-type")
        .is_some_and(|kind| kind.starts_with("application/json"));
    if !json_sent || parsed.is_err() {
        state.violations.push("a body that is not JSON".to_owned());
        let message = "The request body could not be read as JSON";
        let body = strict::error(message, "invalid_request_error", "");
        return (Reply::status(400, body), Some(request));
    }
    if let Some(refused) = refused_key(&state, &request.headers) {
        return (refused, Some(request));
    }
    state.violations.extend(task_fault);
    if let Some(refusal) = strict::refuse(&request, &state.models, state.tokens_per_minute) {
        state.violations.extend(refusal.violation);
        return (Reply::status(refusal.status, refusal.body), Some(request));
    }

    let scripted = task
        .and_then(|task| state.scripted.get_mut(&task))
        .and_then(VecDeque::pop_front);
    if let Some(reply) = scripted {
        return (reply, Some(request));
    }
    let responder = task
        .and_then(|task| state.functions.get(&task))
        .or(state.otherwise.as_ref())
        .cloned();
    if let Some(responder) = responder {
        // Without the lock: the function may look at this double.
        drop(state);
        return (responder(&request), Some(request));
    }
    let name = task.map_or("no task", Task::name);
    state
        .violations
        .push(format!("unexpected question: {name}"));
    let body = strict::error("Nothing is scripted", "invalid_request_error", "");
    (Reply::status(400, body), Some(request))
}

fn refused_key(state: &State, headers: &BTreeMap<String, String>) -> Option<Reply> {
    let key = state.key.as_ref()?;
    let given = headers.get("authorization").map(String::as_str);
    (given != Some(&format!("Bearer {key}"))).then(|| Misbehaviour::BadKey.reply())
}

fn list_models(shared: &Shared, headers: &BTreeMap<String, String>) -> Reply {
    let mut state = shared.state();
    state.probes += 1;
    if let Some(refused) = refused_key(&state, headers) {
        return refused;
    }
    let models: Vec<Value> = state
        .models
        .iter()
        .map(|id| json!({"id": id, "object": "model", "created": 1_754_000_000, "owned_by": "standin", "active": true}))
        .collect();
    Reply::status(200, json!({"object": "list", "data": models}))
}

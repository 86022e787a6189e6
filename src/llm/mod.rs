//! Asking a model: a client for any OpenAI-compatible chat-completions endpoint.
//!
//! Properties wanted:
//! - A question ends in an answer or in one [`LlmError`] within its budget, whatever the provider
//!   does: hangs, limits, drops connections, sends HTML, streams, leaks its markup.
//! - The wire format never leaves this folder: plain types in, plain types out.
//! - Nothing that was asked, answered or used as a key reaches a log, an error or a `Debug`.
//! - A cut-off answer is marked as one.
//!
//! Design: [`Endpoint::ask`] is one loop. Each turn sends one request, `failure` says what an
//! answer that is none means, and the loop leaves out what the model rejects, asks again, waits or
//! gives up. What a model rejects is remembered for the life of the client; what is known of its
//! limits stands in `circuit`. This is the only layer that retries.
//!
//! Absent on purpose: choosing another model (the caller's, who knows the tiers), shrinking a
//! prompt that is too large, reading the answer as a proposal, streaming, tools, and a trait: tests
//! talk to a double over HTTP. A call that took its whole time is not repeated either: what is left
//! of the budget is better spent on another model.

use std::collections::HashMap;
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use crate::remote::{self, Body, Remote, RemoteError};
use reqwest::header::{AUTHORIZATION, HeaderMap, HeaderValue};
use reqwest::{Client, Method, RequestBuilder, Url};
use secrecy::SecretString;
use serde_json::Value;
use tokio::time::Instant;

mod circuit;
mod error;
mod failure;
mod markup;
mod pace;
mod wire;

pub use error::{LlmError, Unreadable};
pub use pace::Clock;

use circuit::Circuits;
use failure::{Failure, Rejected};
use markup::Salvage;
use pace::FullJitter;
use wire::{Finish, Format, Said, Shape};

/// The longest that one question waits on rate limits in all, and on any single wait.
pub const LONGEST_WAIT: Duration = Duration::from_secs(20);
/// Bodies are read up to here; an answer of 8,000 tokens is some 40 KiB.
pub const LARGEST_BODY: usize = 1024 * 1024;
/// For the handshake alone: a host that drops packets is not there.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);
/// For listing the models.
const PROBE_TIMEOUT: Duration = Duration::from_secs(10);
/// Tries after failures of the provider or the connection.
const TRANSIENT_RETRIES: u32 = 3;
/// Tries after rate limits, however short their waits.
const RATE_LIMIT_RETRIES: u32 = 5;

/// Rejected parameters that are left out for one question: all there are, and a second thought.
const REJECTIONS: u32 = 9;

/// What is asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Task {
    /// Title, service and severity of a report.
    Triage,
    /// Hypotheses and next steps.
    Analysis,
    /// A question in the thread.
    FollowUp,
    /// The stakeholder update.
    Update,
}

impl Task {
    /// The task's name in prompts and schemas.
    pub fn name(self) -> &'static str {
        match self {
            Self::Triage => "triage",
            Self::Analysis => "analysis",
            Self::FollowUp => "follow_up",
            Self::Update => "update",
        }
    }
}

/// One question to one model. Its `Debug` shows sizes, never words.
#[derive(Clone, PartialEq)]
pub struct Question {
    /// What is asked for.
    pub task: Task,
    /// The model's name at the endpoint.
    pub model: String,
    /// The instructions. The line `Task: ...` is put before them where it is missing.
    pub system: String,
    /// The report and what was recalled.
    pub user: String,
    /// JSON schema of the answer; for strict providers each object requires all its properties
    /// and allows no others.
    pub schema: Value,
    /// Most tokens of the answer, thinking included. Never raised, so the caller's sum of prompt
    /// and answer holds.
    pub max_completion_tokens: u32,
}

impl fmt::Debug for Question {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Question")
            .field("task", &self.task)
            .field("model", &self.model)
            .field("system_bytes", &self.system.len())
            .field("user_bytes", &self.user.len())
            .field("max_completion_tokens", &self.max_completion_tokens)
            .finish_non_exhaustive()
    }
}

/// What a model answered. Its `Debug` shows sizes, never words.
#[derive(Clone, PartialEq, Eq)]
pub struct Answer {
    /// The text, without inner channels; not yet read, and not to be trusted.
    pub text: String,
    /// It stopped before its end (out of tokens, or filtered).
    pub cut_off: bool,
    /// It was taken from an error in which the provider handed back what the model had written.
    pub salvaged: bool,
    /// The model that answered, in the provider's words; for a salvaged text the one that was asked.
    pub model: String,
    /// Tokens of the question, where the provider counted.
    pub prompt_tokens: Option<u32>,
    /// Tokens of the answer, thinking included, where the provider counted.
    pub completion_tokens: Option<u32>,
    /// Requests sent for it.
    pub attempts: u32,
    /// From the question to the answer, waits included.
    pub elapsed: Duration,
}

impl fmt::Debug for Answer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Answer")
            .field("text_bytes", &self.text.len())
            .field("cut_off", &self.cut_off)
            .field("salvaged", &self.salvaged)
            .field("model", &self.model)
            .field("prompt_tokens", &self.prompt_tokens)
            .field("completion_tokens", &self.completion_tokens)
            .field("attempts", &self.attempts)
            .field("elapsed", &self.elapsed)
            .finish()
    }
}

/// A chat-completions endpoint. Clones share connections and what was learnt of the models.
#[derive(Clone)]
pub struct Endpoint {
    base_url: Url,
    authorization: Option<HeaderValue>,
    timeout: Duration,
    client: Client,
    clock: Clock,
    learnt: Arc<Learnt>,
}

#[derive(Default)]
struct Learnt {
    shapes: Mutex<HashMap<String, Shape>>,
    circuits: Circuits,
}

impl fmt::Debug for Endpoint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // The address may carry a user and a password.
        f.debug_struct("Endpoint")
            .field("host", &self.base_url.host_str())
            .field("timeout", &self.timeout)
            .finish_non_exhaustive()
    }
}

impl Endpoint {
    /// An endpoint by its base URL (with its `/v1`), the key if it wants one, and the time for one
    /// call.
    ///
    /// # Errors
    /// [`LlmError::BadAddress`] if the URL is no http(s) address, [`LlmError::BadKey`] if the key
    /// holds characters that no header can carry.
    pub fn new(
        base_url: &str,
        api_key: Option<SecretString>,
        timeout: Duration,
    ) -> Result<Self, LlmError> {
        let Remote {
            base_url,
            authorization,
            client,
        } = Remote::open(base_url, api_key.as_ref(), CONNECT_TIMEOUT).map_err(
            |error| match error {
                RemoteError::BadAddress => LlmError::BadAddress,
                RemoteError::BadKey => LlmError::BadKey,
                RemoteError::NoTls => LlmError::Unreachable,
            },
        )?;
        Ok(Self {
            base_url,
            authorization,
            timeout,
            client,
            clock: Clock::real(),
            learnt: Arc::default(),
        })
    }

    /// The same endpoint by another clock.
    #[must_use]
    pub fn with_clock(mut self, clock: Clock) -> Self {
        self.clock = clock;
        self
    }

    /// Asks, and asks again where that helps, within `budget` (waits included).
    ///
    /// # Errors
    /// Every [`LlmError`] but `BadAddress`.
    pub async fn ask(&self, question: &Question, budget: Duration) -> Result<Answer, LlmError> {
        let started = self.clock.now();
        let circuits = &self.learnt.circuits;
        let model = question.model.as_str();
        if let Err(error) = circuits.enter(model, started, budget) {
            tracing::info!(
                task = question.task.name(),
                model,
                reason = error.reason(),
                "the model is not asked: it is known not to answer"
            );
            return Err(error);
        }
        let mut asking = Asking {
            endpoint: self,
            question,
            started,
            deadline: started + budget.min(Duration::from_secs(24 * 3600)),
            shape: self.shape(model),
            jitter: FullJitter::new(),
            waited: Duration::ZERO,
            attempts: 0,
            rate_limited: 0,
            transient: 0,
            no_json: 0,
            tool_called: 0,
            rejections: 0,
            salvage: None,
            status: None,
            request_id: None,
        };
        let result = asking.run().await;
        let now = self.clock.now();
        let elapsed_ms = millis(now.saturating_duration_since(started));
        let attempts = asking.attempts;
        match &result {
            Ok(answer) => {
                circuits.settle(model, now, None, true);
                tracing::info!(
                    task = question.task.name(),
                    model,
                    status = asking.status,
                    request_id = asking.request_id,
                    elapsed_ms,
                    attempts,
                    prompt_tokens = answer.prompt_tokens,
                    completion_tokens = answer.completion_tokens,
                    cut_off = answer.cut_off,
                    salvaged = answer.salvaged,
                    "the model answered"
                );
            }
            Err(error) => {
                let full_wait = match error {
                    LlmError::Timeout { after } => *after >= self.timeout / 2,
                    _ => true,
                };
                circuits.settle(model, now, Some(error), full_wait);
                tracing::warn!(
                    task = question.task.name(),
                    model,
                    status = asking.status,
                    request_id = asking.request_id,
                    elapsed_ms,
                    attempts,
                    reason = error.reason(),
                    "the model gave no answer"
                );
            }
        }
        result
    }

    /// Lists the models, which costs no tokens, and says in words that `model` is among them.
    ///
    /// # Errors
    /// [`LlmError::ModelGone`] if it is not; `Refused` with 404 most often means a base URL
    /// without its `/v1`; the others as for a question.
    pub async fn probe(&self, model: &str) -> Result<String, LlmError> {
        let timeout = self.timeout.min(PROBE_TIMEOUT);
        let request = self.request(Method::GET, "models");
        let failed = |failure| in_words(failure, model, timeout);
        let received = receive(request, timeout).await.map_err(failed)?;
        if received.status != 200 {
            return Err(failed(received.failure()));
        }
        let list: Value = serde_json::from_slice(&received.body)
            .map_err(|_| failed(Failure::Unreadable(Unreadable::NotACompletion)))?;
        let models = list
            .get("data")
            .and_then(Value::as_array)
            .ok_or_else(|| failed(Failure::Unreadable(Unreadable::NotACompletion)))?;
        // Some put a folder before the names that they take.
        let offered = models
            .iter()
            .filter_map(|entry| entry.get("id")?.as_str())
            .any(|id| id == model || id.strip_prefix("models/") == Some(model));
        if !offered {
            return Err(failed(Failure::ModelGone));
        }
        Ok(match models.len() {
            1 => format!("{model} is offered, the only model there"),
            many => format!("{model} is offered, one of {many} models"),
        })
    }

    fn request(&self, method: Method, path: &str) -> RequestBuilder {
        let mut url = self.base_url.clone();
        if let Ok(mut segments) = url.path_segments_mut() {
            segments.extend(path.split('/'));
        }
        let request = self.client.request(method, url);
        match &self.authorization {
            Some(authorization) => request.header(AUTHORIZATION, authorization.clone()),
            None => request,
        }
    }

    fn shape(&self, model: &str) -> Shape {
        let shapes = self.learnt.shapes.lock();
        let shapes = shapes.unwrap_or_else(PoisonError::into_inner);
        shapes.get(model).cloned().unwrap_or_default()
    }

    fn remember(&self, model: &str, rejected: Rejected) {
        let shapes = self.learnt.shapes.lock();
        let mut shapes = shapes.unwrap_or_else(PoisonError::into_inner);
        let shape = shapes.entry(model.to_owned()).or_default();
        match rejected {
            // Forbidding tools is no part of what is remembered, so its refusal is written as such.
            Rejected::ToolChoice => shape.never_forbid_tools(),
            rejected => {
                shape.without(rejected);
            }
        }
        tracing::info!(
            model,
            outcome = Failure::Rejected(rejected).word(),
            "the model is asked without this from now on"
        );
    }
}

/// One question on its way.
struct Asking<'a> {
    endpoint: &'a Endpoint,
    question: &'a Question,
    started: Instant,
    deadline: Instant,
    shape: Shape,
    jitter: FullJitter,
    /// On rate limits.
    waited: Duration,
    attempts: u32,
    rate_limited: u32,
    transient: u32,
    no_json: u32,
    tool_called: u32,
    rejections: u32,
    salvage: Option<Salvage>,
    /// Of the last call, for the log.
    status: Option<u16>,
    request_id: Option<String>,
}

/// After a failure.
enum Next {
    AskAgain,
    Wait(Duration),
    GiveUp,
}

impl Asking<'_> {
    async fn run(&mut self) -> Result<Answer, LlmError> {
        // Every turn that asks again leaves something out for good or counts against a limit, so
        // this ends even where waits cost nothing.
        loop {
            let limit = self.endpoint.timeout.min(self.left());
            let failure = match self.send(limit).await {
                Ok(said) => return Ok(self.answer(said)),
                Err(failure) => failure,
            };
            let next = self.next(&failure);
            match next {
                Next::AskAgain if !self.left().is_zero() => {}
                Next::Wait(wait) => self.endpoint.clock.wait(wait).await,
                _ => return self.give_up(failure, limit),
            }
        }
    }

    fn left(&self) -> Duration {
        let now = self.endpoint.clock.now();
        self.deadline.saturating_duration_since(now)
    }

    async fn send(&mut self, limit: Duration) -> Result<Said, Failure> {
        if limit.is_zero() {
            return Err(Failure::Timeout);
        }
        self.attempts += 1;
        let request = self
            .endpoint
            .request(Method::POST, "chat/completions")
            .json(&self.shape.request(self.question));
        let sent = self.endpoint.clock.now();
        let received = receive(request, limit).await;
        let elapsed = self.endpoint.clock.now().saturating_duration_since(sent);
        let answered = received.as_ref().ok();
        self.status = answered.map(|received| received.status);
        self.request_id = answered.and_then(|received| Some(received.request_id()?.to_owned()));
        let said = received.and_then(|received| match received.status {
            200..=299 if received.cut => Err(Failure::Unreadable(Unreadable::Oversized)),
            200..=299 => {
                let mut said = wire::read(&received.headers, &received.body)?;
                said.text = markup::answer(&said.text).map_err(|why| match said.finish {
                    Finish::Length => Failure::Unreadable(Unreadable::OutOfTokens),
                    _ => Failure::Unreadable(why),
                })?;
                Ok(said)
            }
            _ => Err(received.failure()),
        });
        tracing::debug!(
            task = self.question.task.name(),
            model = self.question.model,
            attempt = self.attempts,
            status = self.status,
            request_id = self.request_id,
            elapsed_ms = millis(elapsed),
            outcome = said.as_ref().err().map_or("answer", Failure::word),
            "one call of the model"
        );
        said
    }

    fn next(&mut self, failure: &Failure) -> Next {
        match failure {
            Failure::Rejected(rejected) => {
                let sent_tokens = self.question.max_completion_tokens;
                let pointless =
                    matches!(rejected, Rejected::MoreThan(most) if *most >= sent_tokens);
                self.rejections += 1;
                if self.rejections > REJECTIONS || pointless || !self.shape.without(*rejected) {
                    return Next::GiveUp;
                }
                let model = &self.question.model;
                self.endpoint.remember(model, *rejected);
                Next::AskAgain
            }
            Failure::RateLimited { wait, retry } => {
                self.rate_limited += 1;
                if !retry || self.rate_limited > RATE_LIMIT_RETRIES {
                    return Next::GiveUp;
                }
                let wait = wait.unwrap_or_else(|| self.jitter.next());
                if self.waited + wait > LONGEST_WAIT || wait >= self.left() {
                    return Next::GiveUp;
                }
                self.waited += wait;
                Next::Wait(wait)
            }
            Failure::Overloaded { wait, retry } => self.transient(*retry, *wait),
            Failure::Lost { retry } => self.transient(*retry, None),
            Failure::JsonFailed {
                generation,
                out_of_tokens,
            } => {
                self.no_json += 1;
                self.keep(generation.as_deref().and_then(markup::from_failed_json));
                // The same question would run out of the same tokens.
                let count = self.no_json + u32::from(*out_of_tokens);
                self.after_model_failure(count)
            }
            Failure::ToolCalled { generation } => {
                self.tool_called += 1;
                let schema = &self.question.schema;
                self.keep(
                    generation
                        .as_deref()
                        .and_then(|text| markup::from_tool_call(text, schema)),
                );
                self.shape.forbid_tools();
                self.after_model_failure(self.tool_called)
            }
            Failure::DailyLimit { .. }
            | Failure::TooLarge { .. }
            | Failure::ModelGone
            | Failure::BadKey
            | Failure::Refused { .. }
            | Failure::Timeout
            | Failure::Unreadable(_) => Next::GiveUp,
        }
    }

    /// Once more as it was; then what was salvaged, if it is whole; then without a form.
    fn after_model_failure(&mut self, count: u32) -> Next {
        if count <= 1 {
            return Next::AskAgain;
        }
        let whole = self.salvage.as_ref().is_some_and(|salvage| salvage.whole);
        if whole || self.shape.format == Format::Free {
            return Next::GiveUp;
        }
        // For this question only: the next one may keep to the form.
        self.shape.format = Format::Free;
        Next::AskAgain
    }

    fn transient(&mut self, retry: bool, asked: Option<Duration>) -> Next {
        self.transient += 1;
        if !retry || self.transient > TRANSIENT_RETRIES {
            return Next::GiveUp;
        }
        let wait = self.jitter.next().max(asked.unwrap_or_default());
        if wait > LONGEST_WAIT || wait >= self.left() {
            return Next::GiveUp;
        }
        Next::Wait(wait)
    }

    fn keep(&mut self, salvage: Option<Salvage>) {
        let whole = self.salvage.as_ref().is_some_and(|kept| kept.whole);
        if let Some(salvage) = salvage.filter(|new| new.whole || !whole) {
            self.salvage = Some(salvage);
        }
    }

    fn answer(&self, said: Said) -> Answer {
        Answer {
            text: said.text,
            cut_off: said.finish != Finish::Stop,
            salvaged: false,
            model: said.model.unwrap_or_else(|| self.question.model.clone()),
            prompt_tokens: said.prompt_tokens,
            completion_tokens: said.completion_tokens,
            attempts: self.attempts,
            elapsed: self.elapsed(),
        }
    }

    /// What was salvaged is better than any error.
    fn give_up(&mut self, failure: Failure, limit: Duration) -> Result<Answer, LlmError> {
        match self.salvage.take() {
            Some(salvage) => Ok(Answer {
                cut_off: salvage.is_cut_off(),
                text: salvage.text,
                salvaged: true,
                model: self.question.model.clone(),
                prompt_tokens: None,
                completion_tokens: None,
                attempts: self.attempts,
                elapsed: self.elapsed(),
            }),
            None => Err(in_words(failure, &self.question.model, limit)),
        }
    }

    fn elapsed(&self) -> Duration {
        let now = self.endpoint.clock.now();
        now.saturating_duration_since(self.started)
    }
}

fn in_words(failure: Failure, model: &str, limit: Duration) -> LlmError {
    match failure {
        Failure::RateLimited { wait, .. } => LlmError::RateLimited { retry_after: wait },
        Failure::DailyLimit { wait } => LlmError::DailyLimit { retry_after: wait },
        Failure::TooLarge { limit, requested } => LlmError::TooLarge { limit, requested },
        Failure::JsonFailed {
            out_of_tokens: true,
            ..
        } => LlmError::Unreadable {
            why: Unreadable::OutOfTokens,
        },
        Failure::JsonFailed { .. } => LlmError::Unreadable {
            why: Unreadable::NotTheForm,
        },
        Failure::ToolCalled { .. } => LlmError::Unreadable {
            why: Unreadable::ToolCall,
        },
        // Left out already, and still rejected.
        Failure::Rejected(_) => LlmError::Refused { status: 400 },
        Failure::Overloaded { wait, .. } => LlmError::Overloaded { retry_after: wait },
        Failure::ModelGone => LlmError::ModelGone {
            model: model.to_owned(),
        },
        Failure::BadKey => LlmError::BadKey,
        Failure::Refused { status } => LlmError::Refused { status },
        Failure::Timeout => LlmError::Timeout { after: limit },
        Failure::Lost { .. } => LlmError::Unreachable,
        Failure::Unreadable(why) => LlmError::Unreadable { why },
    }
}

/// A response with its body, up to the cap.
struct Received {
    status: u16,
    headers: HeaderMap,
    body: Vec<u8>,
    /// There was more than the cap.
    cut: bool,
}

impl Received {
    fn failure(&self) -> Failure {
        failure::of_body(self.status, &self.headers, &self.body)
    }

    /// The provider's name for the request, for its support; only if it looks like one.
    fn request_id(&self) -> Option<&str> {
        let id = self.headers.get("x-request-id")?.to_str().ok()?;
        let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_');
        (id.len() <= 64 && id.chars().all(plain)).then_some(id)
    }
}

async fn receive(request: RequestBuilder, limit: Duration) -> Result<Received, Failure> {
    let mut response = request.timeout(limit).send().await.map_err(lost)?;
    let status = response.status().as_u16();
    let headers = std::mem::take(response.headers_mut());
    let Body { bytes, cut } = remote::body(&mut response, LARGEST_BODY)
        .await
        .map_err(lost)?;
    Ok(Received {
        status,
        headers,
        body: bytes,
        cut,
    })
}

fn lost(error: reqwest::Error) -> Failure {
    // A host that does not answer the handshake in its time won't in a moment.
    let slow_handshake = error.is_connect() && error.is_timeout();
    if error.is_timeout() && !error.is_connect() {
        return Failure::Timeout;
    }
    let error = error.without_url();
    let cause = std::iter::successors(std::error::Error::source(&error), |error| error.source())
        .last()
        .map_or_else(|| error.to_string(), ToString::to_string);
    tracing::debug!(cause, "the connection to the model failed");
    Failure::Lost {
        retry: !slow_handshake,
    }
}

fn millis(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Bodies made of what providers send, in any order, and of anything else.
    fn body() -> impl Strategy<Value = String> {
        let piece = prop_oneof![
            4 => prop::sample::select(vec![
                "{\"error\":", "{\"message\":", "\"code\":", "429", "null", "\"", "{", "}", "[", "]",
                ",", "data: ", "event: error\n", "\n\n", "{\"choices\":[{\"message\":{\"content\":",
                "<|channel|>", "final", "<|message|>", "<|end|>", "analysis", "assistantfinal",
                "try again in ", "5.2", "ms", "h", " Limit ", "Requested ", "\"arguments\":",
                "max_tokens at most ", "99999999999999", "per day", "数据库", "\u{202e}", "µs",
            ])
            .prop_map(str::to_owned),
            1 => any::<String>(),
        ];
        prop::collection::vec(piece, 0..24).prop_map(|pieces| pieces.concat())
    }

    proptest! {
        #[test]
        fn no_body_panics_and_every_failure_has_its_sentence(
            body in body(),
            status in 100u16..1000,
            header in "[ -~]{0,24}",
        ) {
            let mut headers = HeaderMap::new();
            for name in ["retry-after", "retry-after-ms", "x-ratelimit-reset-tokens", "date"] {
                headers.insert(name, HeaderValue::from_str(&header).expect("printable ASCII"));
            }
            let failure = failure::of_body(status, &headers, body.as_bytes());
            let error = in_words(failure, "m", Duration::from_secs(60));
            prop_assert!(error.retry_after() <= Some(Duration::from_secs(24 * 3600)));
            let sentence = error.to_string();
            prop_assert!(sentence.ends_with('.') && sentence.len() < 200, "{sentence}");

            let _ = wire::read(&headers, body.as_bytes());
            let _ = markup::answer(&body);
            let _ = markup::from_failed_json(&body);
            let schema = serde_json::json!({"properties": {"message": {}}});
            let _ = markup::from_tool_call(&body, &schema);
        }
    }
}

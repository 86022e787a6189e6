//! The client of an OpenAI-compatible embeddings endpoint.

use super::Vector;
use crate::remote::{self, Remote, RemoteError};
use reqwest::header::{AUTHORIZATION, HeaderValue};
use reqwest::{Client, StatusCode, Url};
use secrecy::SecretString;
use serde::{Deserialize, Serialize};
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use thiserror::Error;
use tokio::sync::OnceCell;
use tokio::time::Instant;

/// Texts in one call.
pub const BATCH: usize = 32;
/// Characters of a text: models read some hundred to some thousand tokens, and cut or refuse the
/// rest.
const LONGEST: usize = 2_000;
/// Bytes of an answer: 32 vectors of the largest models, as text.
const LARGEST_BODY: usize = 16 * 1024 * 1024;
/// Reports that have nothing to do with each other: what a model says of these is where likeness
/// begins.
const STRANGERS: [&str; 6] = [
    "The certificate of the mail relay expired overnight.",
    "Nightly export of invoices ran out of disk space.",
    "Users in Asia see the login page without its pictures.",
    "The build agents lost their connection to the artifact store.",
    "Search returns yesterday's results after the reindex.",
    "A pump's temperature sensor reports no values.",
];
/// Above this no model tells anything apart.
const MOST_UNRELATED: f64 = 0.95;
/// For the handshake alone.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(3);

/// How long things may take.
#[derive(Clone, Copy, Debug)]
pub struct Times {
    /// A report, while people wait.
    pub report: Duration,
    /// A batch of records.
    pub batch: Duration,
    /// After a failure reports are not tried for so long.
    pub rest: Duration,
}

impl Default for Times {
    /// 2 s for a report (a local model takes 15 ms, a remote one a quarter of a second).
    fn default() -> Self {
        Self {
            report: Duration::from_secs(2),
            batch: Duration::from_secs(60),
            rest: Duration::from_secs(30),
        }
    }
}

/// A failure. `Display` is one sentence for people, without anything that the endpoint said.
#[derive(Clone, Copy, Debug, Error, PartialEq, Eq)]
pub enum EmbeddingsError {
    /// The configured address is none.
    #[error("EMBEDDINGS_BASE_URL is no address that begins with http:// or https://")]
    BadAddress,
    /// The key holds characters that no header carries, or is not taken.
    #[error("the embeddings endpoint does not accept EMBEDDINGS_API_KEY")]
    BadKey,
    /// Nothing answers.
    #[error("the embeddings endpoint cannot be reached")]
    Unreachable,
    /// Not in time.
    #[error("the embeddings endpoint did not answer in time")]
    Timeout,
    /// It failed a moment ago.
    #[error("the embeddings endpoint failed a moment ago and is not asked again yet")]
    Resting,
    /// It answers with a status that is no success.
    #[error("the embeddings endpoint answers with status {0}")]
    Status(u16),
    /// Its answer is not a vector for each text.
    #[error("the embeddings endpoint's answer cannot be read")]
    Unreadable,
}

/// An endpoint, and the model that is asked there.
#[derive(Clone)]
pub struct Embedder {
    base_url: Url,
    authorization: Option<HeaderValue>,
    client: Client,
    model: Arc<str>,
    times: Times,
    rests_until: Arc<Mutex<Option<Instant>>>,
    unrelated: Arc<OnceCell<f64>>,
}

/// What a report means to a model.
#[derive(Clone, Debug, PartialEq)]
pub struct Meaning {
    /// The report.
    pub vector: Vector,
    /// The cosine that this model gives to texts that have nothing in common.
    pub unrelated: f64,
}

impl Meaning {
    /// How alike the report and another text are: 1 for the same, 0 for strangers.
    pub fn likeness(&self, other: &Vector) -> f64 {
        (self.vector.cosine(other) - self.unrelated) / (1.0 - self.unrelated)
    }
}

impl fmt::Debug for Embedder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Embedder")
            .field("host", &self.base_url.host_str())
            .field("model", &self.model)
            .finish_non_exhaustive()
    }
}

#[derive(Serialize)]
struct Request<'a> {
    model: &'a str,
    input: Vec<&'a str>,
    encoding_format: &'static str,
}

#[derive(Deserialize)]
struct Response {
    data: Vec<Datum>,
}

#[derive(Deserialize)]
struct Datum {
    index: Option<usize>,
    embedding: Vec<f32>,
}

impl Embedder {
    /// The endpoint at this address (with its `/v1`), with its key if it wants one.
    ///
    /// # Errors
    ///
    /// [`EmbeddingsError::BadAddress`], [`EmbeddingsError::BadKey`], and
    /// [`EmbeddingsError::Unreachable`] where the system's TLS does not start.
    pub fn new(
        base_url: &str,
        api_key: Option<&SecretString>,
        model: &str,
        times: Times,
    ) -> Result<Self, EmbeddingsError> {
        let Remote {
            mut base_url,
            authorization,
            client,
        } = Remote::open(base_url, api_key, CONNECT_TIMEOUT).map_err(|error| match error {
            RemoteError::BadAddress => EmbeddingsError::BadAddress,
            RemoteError::BadKey => EmbeddingsError::BadKey,
            RemoteError::NoTls => EmbeddingsError::Unreachable,
        })?;
        if let Ok(mut path) = base_url.path_segments_mut() {
            path.push("embeddings");
        }
        Ok(Self {
            base_url,
            authorization,
            client,
            model: model.into(),
            times,
            rests_until: Arc::default(),
            unrelated: Arc::default(),
        })
    }

    /// The model's name: vectors of two models say nothing about each other.
    pub fn model(&self) -> &str {
        &self.model
    }

    /// The meaning of a report, while people wait: `None` for a text without any. After a failure
    /// it is left alone for a while.
    ///
    /// # Errors
    ///
    /// What failed: recall goes on by words alone.
    pub async fn report(&self, text: &str) -> Result<Option<Meaning>, EmbeddingsError> {
        let resting = |until: &Option<Instant>| until.is_some_and(|until| Instant::now() < until);
        if resting(
            &self
                .rests_until
                .lock()
                .unwrap_or_else(PoisonError::into_inner),
        ) {
            return Err(EmbeddingsError::Resting);
        }
        if text.trim().is_empty() {
            return Ok(None);
        }
        let answer = self.meaning(text).await;
        let rest = answer.is_err().then(|| Instant::now() + self.times.rest);
        *self
            .rests_until
            .lock()
            .unwrap_or_else(PoisonError::into_inner) = rest;
        answer
    }

    async fn meaning(&self, text: &str) -> Result<Option<Meaning>, EmbeddingsError> {
        let unrelated = *self
            .unrelated
            .get_or_try_init(|| async {
                let vectors = self.ask(&STRANGERS, self.times.report).await?;
                let vectors: Vec<Vector> = vectors.into_iter().flatten().collect();
                let mut cosines = Vec::new();
                for (place, one) in vectors.iter().enumerate() {
                    cosines.extend(
                        vectors
                            .iter()
                            .skip(place + 1)
                            .map(|other| one.cosine(other)),
                    );
                }
                let mean = cosines.iter().sum::<f64>() / cosines.len().max(1) as f64;
                Ok(mean.clamp(0.0, MOST_UNRELATED))
            })
            .await?;
        let vector = self.ask(&[text], self.times.report).await?.pop().flatten();
        Ok(vector.map(|vector| Meaning { vector, unrelated }))
    }

    /// The meaning of each record, in their order; `None` for a text without any.
    ///
    /// # Errors
    ///
    /// What failed: none of them has a vector then.
    pub async fn records(&self, texts: &[String]) -> Result<Vec<Option<Vector>>, EmbeddingsError> {
        let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
        let mut vectors = Vec::with_capacity(texts.len());
        for texts in texts.chunks(BATCH) {
            vectors.extend(self.ask(texts, self.times.batch).await?);
        }
        Ok(vectors)
    }

    /// Whether it answers: how many dimensions its vectors have.
    ///
    /// # Errors
    ///
    /// Why it does not.
    pub async fn probe(&self) -> Result<usize, EmbeddingsError> {
        let vectors = self
            .ask(&["disk full on the primary"], self.times.batch)
            .await?;
        let vector = vectors.into_iter().next().flatten();
        // The scale's bytes come first.
        vector
            .map(|vector| vector.to_bytes().len() - 4)
            .ok_or(EmbeddingsError::Unreadable)
    }

    async fn ask(
        &self,
        texts: &[&str],
        patience: Duration,
    ) -> Result<Vec<Option<Vector>>, EmbeddingsError> {
        // An empty text is refused by some endpoints, for all of its batch.
        let asked: Vec<(usize, &str)> = texts
            .iter()
            .enumerate()
            .filter(|(_, text)| !text.trim().is_empty())
            .map(|(place, text)| (place, beginning(text)))
            .collect();
        let mut vectors = vec![None; texts.len()];
        if asked.is_empty() {
            return Ok(vectors);
        }
        let mut request = self.client.post(self.base_url.clone()).json(&Request {
            model: &self.model,
            input: asked.iter().map(|(_, text)| *text).collect(),
            encoding_format: "float",
        });
        if let Some(authorization) = &self.authorization {
            request = request.header(AUTHORIZATION, authorization.clone());
        }
        let answered = tokio::time::timeout(patience, async {
            let mut response = request
                .send()
                .await
                .map_err(|_| EmbeddingsError::Unreachable)?;
            match response.status() {
                StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN => {
                    return Err(EmbeddingsError::BadKey);
                }
                status if !status.is_success() => {
                    return Err(EmbeddingsError::Status(status.as_u16()));
                }
                _ => {}
            }
            let body = remote::body(&mut response, LARGEST_BODY)
                .await
                .map_err(|_| EmbeddingsError::Unreachable)?;
            if body.cut {
                return Err(EmbeddingsError::Unreadable);
            }
            serde_json::from_slice::<Response>(&body.bytes).map_err(|_| EmbeddingsError::Unreadable)
        });
        let response = answered.await.map_err(|_| EmbeddingsError::Timeout)??;
        if response.data.len() != asked.len() {
            return Err(EmbeddingsError::Unreadable);
        }
        let mut answered = vec![false; asked.len()];
        for (came, datum) in response.data.into_iter().enumerate() {
            // Some endpoints answer in the order of their own batches, with the place beside it.
            let index = datum.index.unwrap_or(came);
            let (Some((place, _)), Some(first)) = (asked.get(index), answered.get_mut(index))
            else {
                return Err(EmbeddingsError::Unreadable);
            };
            if std::mem::replace(first, true) {
                return Err(EmbeddingsError::Unreadable);
            }
            let vector = Vector::of(&datum.embedding).ok_or(EmbeddingsError::Unreadable)?;
            if let Some(slot) = vectors.get_mut(*place) {
                *slot = Some(vector);
            }
        }
        Ok(vectors)
    }
}

fn beginning(text: &str) -> &str {
    match text.char_indices().nth(LONGEST) {
        Some((end, _)) => text.get(..end).unwrap_or(text),
        None => text,
    }
}

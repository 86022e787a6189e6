//! A double of an embeddings endpoint: texts that share a meaning are near each other.
//!
//! A test says which phrases mean one thing ([`Embeddings::start`]); every other word means itself.
//! A vector is the sum of a direction for each meaning in the text, so that the cosine of two texts
//! grows with what they share. Every text that came is kept to be looked at.

use std::collections::hash_map::DefaultHasher;
use std::hash::{Hash, Hasher};
use std::io;
use std::net::Ipv4Addr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use axum::Router;
use axum::extract::State;
use axum::http::StatusCode;
use axum::routing::post;
use serde_json::{Value, json};
use tokio::net::TcpListener;
use tokio::task::JoinHandle;

/// Dimensions of its vectors.
pub const DIMENSIONS: usize = 256;

/// How it answers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Manner {
    /// With a vector for each text, in the order of the texts.
    #[default]
    Well,
    /// With the vectors in another order, each with its place.
    OutOfOrder,
    /// With this status and no vectors.
    Status(u16),
    /// With a vector too few.
    OneShort,
    /// With two vectors for one place.
    Twice,
    /// With something that is no JSON.
    Garbage,
    /// With nothing but zeros.
    Zeros,
    /// Never.
    Hanging,
}

#[derive(Default)]
struct Inner {
    meanings: Vec<Vec<String>>,
    texts: Vec<String>,
    manner: Manner,
}

/// A running double. It ends when it is dropped.
pub struct Embeddings {
    url: String,
    inner: Arc<Mutex<Inner>>,
    server: JoinHandle<()>,
}

impl Drop for Embeddings {
    fn drop(&mut self) {
        self.server.abort();
    }
}

impl Embeddings {
    /// Starts one for which the phrases of each group mean the same.
    ///
    /// # Errors
    ///
    /// Where no port is free.
    pub async fn start(meanings: &[&[&str]]) -> io::Result<Self> {
        let inner = Arc::new(Mutex::new(Inner {
            meanings: meanings
                .iter()
                .map(|group| group.iter().map(|phrase| phrase.to_lowercase()).collect())
                .collect(),
            ..Inner::default()
        }));
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await?;
        let url = format!("http://{}/v1", listener.local_addr()?);
        let router = Router::new()
            .route("/v1/embeddings", post(answer))
            .with_state(Arc::clone(&inner));
        let server = tokio::spawn(async move {
            // It ends with its task.
            let _ended = axum::serve(listener, router).await;
        });
        Ok(Self { url, inner, server })
    }

    /// What `EMBEDDINGS_BASE_URL` is set to.
    pub fn url(&self) -> String {
        self.url.clone()
    }

    /// From now on it answers so.
    pub fn answers(&self, manner: Manner) {
        lock(&self.inner).manner = manner;
    }

    /// Every text that came.
    pub fn texts(&self) -> Vec<String> {
        lock(&self.inner).texts.clone()
    }
}

fn lock(inner: &Mutex<Inner>) -> MutexGuard<'_, Inner> {
    inner.lock().unwrap_or_else(PoisonError::into_inner)
}

async fn answer(
    State(inner): State<Arc<Mutex<Inner>>>,
    axum::Json(request): axum::Json<Value>,
) -> (StatusCode, String) {
    let (manner, vectors) = {
        let mut inner = lock(&inner);
        let texts = match request["input"].as_array() {
            Some(texts) if request["model"].is_string() => texts
                .iter()
                .filter_map(Value::as_str)
                .filter(|text| !text.is_empty())
                .map(str::to_owned)
                .collect(),
            _ => Vec::new(),
        };
        // As providers do: a request without a text, or with an empty one, is refused whole.
        if texts.is_empty() || Some(texts.len()) != request["input"].as_array().map(Vec::len) {
            let refused = json!({"error": {"message": "input must hold texts"}});
            return (StatusCode::BAD_REQUEST, refused.to_string());
        }
        let vectors: Vec<Vec<f32>> = texts
            .iter()
            .map(|text| vector(text, &inner.meanings))
            .collect();
        inner.texts.extend(texts);
        (inner.manner, vectors)
    };
    let mut data: Vec<Value> = vectors
        .iter()
        .enumerate()
        .map(|(index, vector)| json!({"index": index, "embedding": vector}))
        .collect();
    match manner {
        Manner::Well => {}
        Manner::OutOfOrder => data.reverse(),
        Manner::Status(status) => {
            let status = StatusCode::from_u16(status).unwrap_or(StatusCode::IM_A_TEAPOT);
            return (status, json!({"error": {"message": "no"}}).to_string());
        }
        Manner::OneShort => drop(data.pop()),
        Manner::Twice => {
            for datum in &mut data {
                datum["index"] = json!(0);
            }
            data.push(json!({"index": 0, "embedding": [1.0]}));
            data.pop();
        }
        Manner::Garbage => return (StatusCode::OK, "<html>".to_owned()),
        Manner::Zeros => {
            for datum in &mut data {
                datum["embedding"] = json!(vec![0.0; DIMENSIONS]);
            }
        }
        Manner::Hanging => std::future::pending().await,
    }
    (StatusCode::OK, json!({"data": data}).to_string())
}

fn vector(text: &str, meanings: &[Vec<String>]) -> Vec<f32> {
    let mut rest = text.to_lowercase();
    let mut sum = vec![0.0; DIMENSIONS];
    for (place, group) in meanings.iter().enumerate() {
        for phrase in group {
            let times = u16::try_from(rest.matches(phrase.as_str()).count()).unwrap_or(u16::MAX);
            if times > 0 {
                // What is known to mean something weighs more than a word.
                add(
                    &mut sum,
                    &format!("meaning {place}"),
                    20.0 * f32::from(times),
                );
                rest = rest.replace(phrase.as_str(), " ");
            }
        }
    }
    for word in rest.split(|c: char| !c.is_alphanumeric()) {
        if !word.is_empty() {
            add(&mut sum, word, 1.0);
        }
    }
    sum
}

/// A direction of its own for each meaning: a few sides, up or down.
fn add(sum: &mut [f32], meaning: &str, weight: f32) {
    for side in 0..8_u8 {
        let mut hasher = DefaultHasher::new();
        (meaning, side).hash(&mut hasher);
        let hash = hasher.finish();
        let at = usize::try_from(hash % DIMENSIONS as u64).unwrap_or(0);
        if let Some(value) = sum.get_mut(at) {
            *value += if hash >> 63 == 0 { weight } else { -weight };
        }
    }
}

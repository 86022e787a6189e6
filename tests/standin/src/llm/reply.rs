//! What the double sends back, and how: whole, late, cut, or not at all.

use std::io;
use std::time::Duration;

use axum::body::{Body, Bytes};
use axum::http::Response;
use futures::stream::{self, StreamExt as _};
use serde_json::{Value, json};
use tokio::sync::watch;

use super::{Misbehaviour, PATIENCE, Request};

/// One reply.
#[derive(Debug, Clone)]
pub struct Reply {
    status: u16,
    headers: Vec<(&'static str, String)>,
    content: Content,
    delivery: Delivery,
    before: Before,
}

#[derive(Debug, Clone)]
enum Content {
    /// A completion around a message.
    Completion {
        message: Value,
        finish: &'static str,
        reasoning_tokens: u32,
    },
    Raw(Vec<u8>),
}

#[derive(Debug, Clone, Copy, PartialEq)]
enum Delivery {
    Whole,
    /// The connection ends in the middle of the body.
    Cut,
    /// Nothing comes after the body, but it does not end.
    Stalled,
    /// The connection ends without a word.
    Dropped,
}

#[derive(Debug, Clone)]
enum Before {
    Nothing,
    After(Duration),
    Held {
        arrived: watch::Sender<bool>,
        released: watch::Receiver<bool>,
    },
    Forever,
}

impl Reply {
    /// The model says this.
    pub fn answer(text: impl Into<String>) -> Self {
        Self::message(json!({"role": "assistant", "content": text.into()}), "stop")
    }

    /// The model says this, as JSON.
    pub fn json(answer: &Value) -> Self {
        Self::answer(answer.to_string())
    }

    /// The model ran out of tokens after this.
    pub fn cut_off(text: impl Into<String>) -> Self {
        Self::message(
            json!({"role": "assistant", "content": text.into()}),
            "length",
        )
    }

    /// A completion around any message.
    pub fn message(message: Value, finish: &'static str) -> Self {
        Self {
            content: Content::Completion {
                message,
                finish,
                reasoning_tokens: 0,
            },
            ..Self::raw(200, "application/json", "")
        }
    }

    /// A JSON body with a status.
    pub fn status(status: u16, body: Value) -> Self {
        Self::raw(status, "application/json", body.to_string())
    }

    /// Any body with a status and a content type.
    pub fn raw(status: u16, content_type: &str, body: impl Into<Vec<u8>>) -> Self {
        Self {
            status,
            headers: vec![("content-type", content_type.to_owned())],
            content: Content::Raw(body.into()),
            delivery: Delivery::Whole,
            before: Before::Nothing,
        }
    }

    /// An event stream in a 200, whether one was asked for or not.
    pub fn events(events: &str) -> Self {
        Self::raw(200, "text/event-stream", events)
    }

    /// Never answers; the connection stays open.
    pub fn hang() -> Self {
        Self {
            before: Before::Forever,
            ..Self::answer("")
        }
    }

    /// The same reply, whose body never ends.
    #[must_use]
    pub fn stalled(mut self) -> Self {
        self.delivery = Delivery::Stalled;
        self
    }

    /// Closes the connection without a word.
    pub fn drop_connection() -> Self {
        Self {
            delivery: Delivery::Dropped,
            ..Self::answer("")
        }
    }

    /// The same reply, with the connection closed in the middle of its body.
    #[must_use]
    pub fn cut_short(mut self) -> Self {
        self.delivery = Delivery::Cut;
        self
    }

    /// The same reply, later.
    #[must_use]
    pub fn after(mut self, wait: Duration) -> Self {
        self.before = Before::After(wait);
        self
    }

    /// The same reply, once the test lets it go (or drops the hold).
    pub fn held(mut self) -> (Self, Hold) {
        let (release, released) = watch::channel(false);
        let (arrived, arrival) = watch::channel(false);
        self.before = Before::Held { arrived, released };
        (self, Hold { release, arrival })
    }

    /// Of the answer's tokens, so many were spent on thinking.
    #[must_use]
    pub fn thinking(mut self, tokens: u32) -> Self {
        if let Content::Completion {
            reasoning_tokens, ..
        } = &mut self.content
        {
            *reasoning_tokens = tokens;
        }
        self
    }

    /// With a header, in place of one of the same name.
    #[must_use]
    pub fn header(mut self, name: &'static str, value: impl Into<String>) -> Self {
        self.headers.retain(|(known, _)| *known != name);
        self.headers.push((name, value.into()));
        self
    }

    /// The JSON of the body, where it is JSON of its own (not a completion).
    pub fn body(&self) -> Option<Value> {
        match &self.content {
            Content::Raw(body) => serde_json::from_slice(body).ok(),
            Content::Completion { .. } => None,
        }
    }

    pub(super) async fn deliver(
        mut self,
        request: Option<&Request>,
    ) -> Result<Response<Body>, io::Error> {
        match &mut self.before {
            Before::Nothing => {}
            Before::After(wait) => tokio::time::sleep(*wait).await,
            Before::Held { arrived, released } => {
                arrived.send_replace(true);
                // A dropped hold lets go.
                let _ = released.wait_for(|released| *released).await;
            }
            Before::Forever => std::future::pending().await,
        }
        if self.delivery == Delivery::Dropped {
            return Err(io::Error::other("the reply drops the connection"));
        }
        let bytes = Bytes::from(self.bytes(request));
        let mut response = Response::builder().status(self.status);
        let limits = [
            ("x-ratelimit-limit-requests", "14400"),
            ("x-ratelimit-limit-tokens", "8000"),
            ("x-ratelimit-remaining-requests", "14399"),
            ("x-ratelimit-remaining-tokens", "7843"),
            ("x-ratelimit-reset-requests", "6s"),
            ("x-ratelimit-reset-tokens", "1.57s"),
            ("x-request-id", "req_standin0001"),
        ];
        for (name, value) in limits {
            if !self.headers.iter().any(|(own, _)| *own == name) {
                response = response.header(name, value);
            }
        }
        for (name, value) in &self.headers {
            response = response.header(*name, value);
        }
        let body = match self.delivery {
            Delivery::Cut => {
                response = response.header("content-length", bytes.len().max(2));
                let half = bytes.slice(..bytes.len() / 2);
                let end = io::Error::other("the reply is cut short");
                Body::from_stream(stream::iter([Ok(half), Err(end)]))
            }
            Delivery::Stalled => {
                let silence = stream::pending::<io::Result<Bytes>>();
                Body::from_stream(stream::iter([Ok(bytes)]).chain(silence))
            }
            Delivery::Whole | Delivery::Dropped => Body::from(bytes),
        };
        response.body(body).map_err(io::Error::other)
    }

    fn bytes(&self, request: Option<&Request>) -> Vec<u8> {
        let Content::Completion {
            message,
            finish,
            reasoning_tokens,
        } = &self.content
        else {
            let Content::Raw(body) = &self.content else {
                return Vec::new();
            };
            return body.clone();
        };
        let prompt_tokens = request.map_or(0, |request| request.prompt_tokens);
        let text = message["content"].as_str().unwrap_or_default();
        let completion_tokens = super::strict::tokens(text) + reasoning_tokens;
        json!({
            "id": "chatcmpl-standin",
            "object": "chat.completion",
            "created": 1_796_000_000,
            "model": request.map_or("", Request::model),
            "choices": [{
                "index": 0, "message": message, "logprobs": null, "finish_reason": finish,
            }],
            "usage": {
                "prompt_tokens": prompt_tokens,
                "completion_tokens": completion_tokens,
                "total_tokens": prompt_tokens + completion_tokens,
                "completion_tokens_details": {"reasoning_tokens": reasoning_tokens},
            },
            "system_fingerprint": "fp_standin",
            "service_tier": "on_demand",
        })
        .to_string()
        .into_bytes()
    }
}

impl From<Misbehaviour> for Reply {
    fn from(misbehaviour: Misbehaviour) -> Self {
        misbehaviour.reply()
    }
}

/// A reply in the test's hand.
#[derive(Debug)]
pub struct Hold {
    release: watch::Sender<bool>,
    arrival: watch::Receiver<bool>,
}

impl Hold {
    /// Waits until the question is there.
    ///
    /// # Panics
    /// If it is not within [`PATIENCE`].
    pub async fn arrived(&self) {
        let mut arrival = self.arrival.clone();
        let there = arrival.wait_for(|arrived| *arrived);
        let in_time = tokio::time::timeout(PATIENCE, there).await;
        assert!(
            matches!(in_time, Ok(Ok(_))),
            "the held reply was not asked for"
        );
    }

    /// Lets the reply go.
    pub fn release(self) {
        self.release.send_replace(true);
    }
}

//! One request to Discord's REST API: address, token, rate limits, and what came back.
//!
//! Properties wanted:
//! - Every call ends within a stated time, in JSON or in one [`DiscordError`].
//! - With another address set, nothing goes to Discord's own.
//! - Limits are obeyed before they are hit where Discord announces them, and waited out where not;
//!   no wait is longer than [`LONGEST_WAIT`], a longer one is the caller's to know.
//! - Tokens (the bot's and those of interactions), bodies and addresses reach no log and no error.
//!
//! Design: reqwest with the client library's own client type, and a small limiter here instead of
//! the library's. That one (measured with 0.12.5) counts the answers to *all* interactions as one
//! bucket, so that 200 people at once wait for each other; sleeps without a bound, past the three
//! seconds of an interaction; is off behind another address, where it also loses `Retry-After`;
//! lets other routes run on under a global limit; and writes tokens and bodies into its spans.
//! The bucket here is method, route and top-level id, the token of an interaction included.
//!
//! Absent on purpose: retries of failures. The jobs retry, and know what may be done twice.

use std::collections::HashMap;
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use reqwest::header::{AUTHORIZATION, HeaderMap, HeaderName, HeaderValue, USER_AGENT};
use reqwest::multipart::{Form, Part};
use reqwest::redirect::Policy;
use reqwest::{Client, ClientBuilder, Method, Url};
use secrecy::{ExposeSecret, SecretString};
use serde_json::Value;
use tokio::time::Instant;

use crate::remote;

use super::error::DiscordError;

/// Where Discord is unless `DISCORD_API_URL` says otherwise.
const DISCORD: &str = "https://discord.com";
/// Version of the API that the payloads are written for.
const VERSION: &str = "/api/v10";
/// Discord refuses clients that do not introduce themselves in this form.
const AGENT: &str = concat!("DiscordBot (precedent, ", env!("CARGO_PKG_VERSION"), ")");

/// The longest that one call waits on rate limits in all.
pub const LONGEST_WAIT: Duration = Duration::from_secs(20);
/// From request to the whole answer; a file of 10 MiB over a slow line takes a while.
const REQUEST_TIMEOUT: Duration = Duration::from_secs(30);
const CONNECT_TIMEOUT: Duration = Duration::from_secs(5);
const KEEP_ALIVE: Duration = Duration::from_secs(20);
/// Waits after a 429 that does not say for how long, behind another address only: Discord always
/// says it, and what stands before Discord and does not (a ban) is not to be asked again.
const BLIND_WAITS: [Duration; 3] = [
    Duration::from_secs(1),
    Duration::from_secs(2),
    Duration::from_secs(4),
];
/// Answers are read up to here; a page of 100 messages with embeds can be some MiB.
const LARGEST_ANSWER: usize = 16 * 1024 * 1024;
/// Buckets that are kept before the ones that are over are dropped.
const BUCKETS: usize = 1024;

/// The address is not usable.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ApiError {
    /// `DISCORD_API_URL` is no http or https address with nothing after the host.
    #[error("DISCORD_API_URL is not an http or https address without a path.")]
    BadAddress,
    /// The token holds characters that no token has.
    #[error("The Discord token holds characters that no token has.")]
    BadToken,
    /// The system's TLS could not be set up.
    #[error("The system's TLS could not be set up.")]
    NoTls,
}

type Prepare = Arc<dyn Fn(ClientBuilder) -> ClientBuilder + Send + Sync>;

/// Discord's address and the bot's token, for [`Rest`](super::Rest) and the gateway.
#[derive(Clone)]
pub struct Api {
    token: SecretString,
    api_url: Option<String>,
    prepare: Option<Prepare>,
}

impl fmt::Debug for Api {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Api")
            .field("api_url", &self.api_url)
            .finish_non_exhaustive()
    }
}

impl Api {
    /// Discord, or what stands in for it at `api_url` (`http://127.0.0.1:PORT`).
    ///
    /// # Errors
    /// Where `api_url` is no such address, or the token cannot be a token.
    pub fn new(token: SecretString, api_url: Option<&str>) -> Result<Self, ApiError> {
        let api_url = match api_url {
            Some(given) => {
                let url = Url::parse(given).map_err(|_| ApiError::BadAddress)?;
                let plain = matches!(url.scheme(), "http" | "https")
                    && url.has_host()
                    && url.path() == "/"
                    && url.query().is_none()
                    && url.fragment().is_none()
                    && url.username().is_empty()
                    && url.password().is_none();
                if !plain {
                    return Err(ApiError::BadAddress);
                }
                Some(url.as_str().trim_end_matches('/').to_owned())
            }
            None => None,
        };
        // Some copy it with the word that goes before it in the header.
        let raw = token.expose_secret().trim_start();
        let raw = raw.strip_prefix("Bot ").unwrap_or(raw).trim();
        if raw.is_empty() || raw.chars().any(|c| !c.is_ascii_graphic()) {
            return Err(ApiError::BadToken);
        }
        Ok(Self {
            token: SecretString::from(raw.to_owned()),
            api_url,
            prepare: None,
        })
    }

    /// Has every HTTP client made ready by `prepare`: another resolution of Discord's names, a
    /// certificate. For tests against a stand-in over TLS.
    #[must_use]
    pub fn prepared(
        mut self,
        prepare: impl Fn(ClientBuilder) -> ClientBuilder + Send + Sync + 'static,
    ) -> Self {
        self.prepare = Some(Arc::new(prepare));
        self
    }

    pub(super) fn token(&self) -> &str {
        self.token.expose_secret()
    }

    pub(super) fn api_url(&self) -> Option<&str> {
        self.api_url.as_deref()
    }

    /// A client that follows no redirect: Discord sends none, and a token is not carried around.
    pub(super) fn client(&self) -> Result<Client, ApiError> {
        let mut builder = Client::builder()
            .redirect(Policy::none())
            .connect_timeout(CONNECT_TIMEOUT)
            .timeout(REQUEST_TIMEOUT)
            // A connection that died in silence is found before somebody waits for it.
            .tcp_keepalive(KEEP_ALIVE)
            .http2_keep_alive_interval(KEEP_ALIVE)
            .http2_keep_alive_timeout(CONNECT_TIMEOUT)
            .http2_keep_alive_while_idle(true);
        if let Some(prepare) = &self.prepare {
            builder = prepare(builder);
        }
        builder.build().map_err(|_| ApiError::NoTls)
    }
}

/// A file to be sent: its name and its bytes.
pub type File = (String, Vec<u8>);

/// A request, and what it counts as.
pub(super) struct Call<'a> {
    pub method: Method,
    /// The route's pattern: for limits and logs.
    pub route: &'static str,
    /// The top-level id: channel, guild or interaction.
    pub major: u64,
    /// After the API's version.
    pub path: String,
    pub body: Option<&'a Value>,
    pub files: Vec<File>,
    /// The permission that the request stands for.
    pub doing: Option<&'static str>,
    /// Interactions carry their own token and do not count towards the global limit.
    pub interaction: bool,
    /// The longest that it waits on rate limits in all.
    pub patience: Duration,
}

impl<'a> Call<'a> {
    pub fn new(method: Method, route: &'static str, major: u64, path: String) -> Self {
        Self {
            method,
            route,
            major,
            path,
            body: None,
            files: Vec::new(),
            doing: None,
            interaction: false,
            patience: LONGEST_WAIT,
        }
    }

    pub fn body(mut self, body: &'a Value) -> Self {
        self.body = Some(body);
        self
    }

    pub fn files(mut self, files: Vec<File>) -> Self {
        self.files = files;
        self
    }

    pub fn doing(mut self, permission: Option<&'static str>) -> Self {
        self.doing = permission;
        self
    }

    pub fn interaction(mut self) -> Self {
        self.interaction = true;
        self
    }

    pub fn patience(mut self, patience: Duration) -> Self {
        self.patience = patience;
        self
    }
}

/// The way to the API.
pub(super) struct Wire {
    client: Client,
    base: String,
    authorization: HeaderValue,
    /// Another address than Discord's own.
    proxied: bool,
    limits: Limits,
}

impl Wire {
    pub fn new(api: &Api) -> Result<Self, ApiError> {
        let mut authorization = HeaderValue::from_str(&format!("Bot {}", api.token()))
            .map_err(|_| ApiError::BadToken)?;
        authorization.set_sensitive(true);
        Ok(Self {
            client: api.client()?,
            base: format!("{}{VERSION}", api.api_url().unwrap_or(DISCORD)),
            authorization,
            proxied: api.api_url().is_some(),
            limits: Limits::default(),
        })
    }

    pub fn client(&self) -> &Client {
        &self.client
    }

    /// Asks, waiting out rate limits as long as the call's patience; null for an empty answer.
    pub async fn ask(&self, call: Call<'_>) -> Result<Value, DiscordError> {
        let key = (call.method.clone(), call.route, call.major);
        let mut left = call.patience;
        let mut blind = BLIND_WAITS.into_iter();
        loop {
            while let Some(wait) = self.limits.before(&key, !call.interaction) {
                if wait > left {
                    return Err(limited(&call, Some(wait)));
                }
                left -= wait;
                tokio::time::sleep(wait).await;
            }
            let (status, headers, body) = self.send(&call).await?;
            self.limits.after(&key, &headers);
            if status != 429 {
                return match status {
                    204 => Ok(Value::Null),
                    200..=299 => serde_json::from_slice(&body).map_err(|_| {
                        tracing::warn!(route = call.route, status, "an answer is no JSON");
                        DiscordError::Other { status, code: 0 }
                    }),
                    _ => {
                        let error = DiscordError::of(status, &body, call.doing);
                        tracing::debug!(
                            route = call.route,
                            method = call.method.as_str(),
                            status,
                            reason = error.reason(),
                            "refused"
                        );
                        Err(error)
                    }
                };
            }
            let hint = Hint::of(&headers, &body);
            let wait = match hint.wait {
                Some(wait) => wait,
                None if self.proxied && !hint.final_word => match blind.next() {
                    Some(wait) => wait,
                    None => return Err(limited(&call, None)),
                },
                None => return Err(limited(&call, None)),
            };
            if hint.global {
                self.limits.close(wait);
            }
            if wait > left {
                return Err(limited(&call, Some(wait)));
            }
            left -= wait;
            tracing::info!(
                route = call.route,
                wait_ms = u64::try_from(wait.as_millis()).unwrap_or(u64::MAX),
                global = hint.global,
                "rate limited"
            );
            tokio::time::sleep(wait).await;
        }
    }

    async fn send(&self, call: &Call<'_>) -> Result<(u16, HeaderMap, Vec<u8>), DiscordError> {
        let mut request = self
            .client
            .request(call.method.clone(), format!("{}{}", self.base, call.path))
            .header(USER_AGENT, AGENT);
        if !call.interaction {
            request = request.header(AUTHORIZATION, self.authorization.clone());
        }
        request = match (call.body, call.files.as_slice()) {
            (Some(body), []) => request.json(body),
            (body, [_, ..]) => request.multipart(form(body.unwrap_or(&Value::Null), &call.files)),
            // Without a length some proxies refuse a POST.
            (None, []) if call.method != Method::GET => request.body(""),
            (None, []) => request,
        };
        let lost = |error: reqwest::Error| {
            tracing::debug!(
                route = call.route,
                timeout = error.is_timeout(),
                connect = error.is_connect(),
                "no answer"
            );
            DiscordError::Unreachable
        };
        let mut response = request.send().await.map_err(lost)?;
        let status = response.status().as_u16();
        let headers = std::mem::take(response.headers_mut());
        // One that is cut is no longer JSON, which is what it will be refused as.
        let body = remote::body(&mut response, LARGEST_ANSWER)
            .await
            .map_err(lost)?
            .bytes;
        Ok((status, headers, body))
    }
}

fn limited(call: &Call<'_>, retry_after: Option<Duration>) -> DiscordError {
    tracing::warn!(
        route = call.route,
        retry_after_ms = retry_after.and_then(|wait| u64::try_from(wait.as_millis()).ok()),
        "rate limited for longer than is waited"
    );
    DiscordError::RateLimited { retry_after }
}

fn form(body: &Value, files: &[File]) -> Form {
    let json = Part::text(body.to_string());
    let json = json
        .mime_str("application/json")
        .unwrap_or_else(|_| Part::text(body.to_string()));
    let mut form = Form::new().part("payload_json", json);
    for (n, (name, bytes)) in files.iter().enumerate() {
        let part = Part::bytes(bytes.clone()).file_name(name.clone());
        form = form.part(format!("files[{n}]"), part);
    }
    form
}

/// What a 429 says about waiting.
struct Hint {
    wait: Option<Duration>,
    global: bool,
    /// A limit that waiting seconds does not lift (too many edits of an old message).
    final_word: bool,
}

impl Hint {
    fn of(headers: &HeaderMap, body: &[u8]) -> Self {
        let body: Value = serde_json::from_slice(body).unwrap_or(Value::Null);
        let seconds = body
            .get("retry_after")
            .and_then(Value::as_f64)
            .or_else(|| number(headers, "retry-after"));
        Self {
            wait: seconds.and_then(|s| Duration::try_from_secs_f64(s.max(0.0)).ok()),
            global: body.get("global").and_then(Value::as_bool) == Some(true)
                || headers.contains_key("x-ratelimit-global"),
            final_word: body.get("code").and_then(Value::as_i64) == Some(30046),
        }
    }
}

fn number(headers: &HeaderMap, name: &'static str) -> Option<f64> {
    let value = headers.get(HeaderName::from_static(name))?;
    value.to_str().ok()?.trim().parse().ok()
}

type Key = (Method, &'static str, u64);

struct Bucket {
    remaining: u64,
    reset: Instant,
}

/// What is known of Discord's limits.
#[derive(Default)]
struct Limits {
    buckets: Mutex<HashMap<Key, Bucket>>,
    closed_until: Mutex<Option<Instant>>,
}

impl Limits {
    /// How long to wait before the next request, or `None` when it may go (and is counted).
    fn before(&self, key: &Key, counts_globally: bool) -> Option<Duration> {
        let now = Instant::now();
        if counts_globally {
            let closed = *self
                .closed_until
                .lock()
                .unwrap_or_else(PoisonError::into_inner);
            if let Some(wait) = closed.and_then(|until| until.checked_duration_since(now))
                && !wait.is_zero()
            {
                return Some(wait);
            }
        }
        let mut buckets = self.buckets.lock().unwrap_or_else(PoisonError::into_inner);
        let bucket = buckets.get_mut(key)?;
        if bucket.reset <= now {
            buckets.remove(key);
            return None;
        }
        if bucket.remaining == 0 {
            return Some(bucket.reset.duration_since(now));
        }
        bucket.remaining -= 1;
        None
    }

    fn after(&self, key: &Key, headers: &HeaderMap) {
        let (Some(remaining), Some(reset)) = (
            number(headers, "x-ratelimit-remaining"),
            number(headers, "x-ratelimit-reset-after"),
        ) else {
            return;
        };
        let Ok(reset) = Duration::try_from_secs_f64(reset.max(0.0)) else {
            return;
        };
        let now = Instant::now();
        // A count; a negative or absurd one saturates.
        let remaining = remaining as u64;
        let mut buckets = self.buckets.lock().unwrap_or_else(PoisonError::into_inner);
        if buckets.len() >= BUCKETS {
            buckets.retain(|_, bucket| bucket.reset > now);
        }
        let until = now.checked_add(reset).unwrap_or(now);
        match buckets.get_mut(key) {
            // Answers of requests that ran at once come in any order: the lower count is right.
            Some(bucket) if bucket.reset > now => {
                bucket.remaining = bucket.remaining.min(remaining);
                bucket.reset = until;
            }
            _ => {
                let reset = until;
                buckets.insert(key.clone(), Bucket { remaining, reset });
            }
        }
    }

    /// Nothing that counts globally is sent for this long.
    fn close(&self, wait: Duration) {
        let until = Instant::now().checked_add(wait);
        let mut closed = self
            .closed_until
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        *closed = (*closed).max(until);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn token(text: &str) -> SecretString {
        SecretString::from(text.to_owned())
    }

    #[test]
    fn addresses_are_checked() {
        for (given, expected) in [
            ("http://127.0.0.1:8080", Ok("http://127.0.0.1:8080")),
            ("http://127.0.0.1:8080/", Ok("http://127.0.0.1:8080")),
            ("https://proxy.internal", Ok("https://proxy.internal")),
            ("", Err(ApiError::BadAddress)),
            ("127.0.0.1:8080", Err(ApiError::BadAddress)),
            ("ftp://127.0.0.1", Err(ApiError::BadAddress)),
            ("http://127.0.0.1/api/v10", Err(ApiError::BadAddress)),
            ("http://user:pass@127.0.0.1", Err(ApiError::BadAddress)),
            ("http://127.0.0.1/?a=b", Err(ApiError::BadAddress)),
        ] {
            let api = Api::new(token("abc.def"), Some(given));
            let found = api.as_ref().map(|api| api.api_url().unwrap_or(""));
            assert_eq!(found.map_err(|e| *e), expected, "{given}");
        }
    }

    #[test]
    fn tokens_are_trimmed_and_never_shown() {
        for (given, expected) in [
            ("abc.def", Ok("abc.def")),
            (" abc.def\n", Ok("abc.def")),
            ("Bot abc.def", Ok("abc.def")),
            ("", Err(ApiError::BadToken)),
            ("Bot ", Err(ApiError::BadToken)),
            ("abc def", Err(ApiError::BadToken)),
            ("abc\u{e9}", Err(ApiError::BadToken)),
        ] {
            let api = Api::new(token(given), None);
            let found = api.as_ref().map(Api::token).map_err(|e| *e);
            assert_eq!(found, expected, "{given:?}");
            assert!(!format!("{api:?}").contains("abc"));
        }
    }

    fn headers(list: &[(&'static str, &str)]) -> HeaderMap {
        list.iter()
            .map(|(name, value)| {
                let value = HeaderValue::from_str(value).expect("printable");
                (HeaderName::from_static(name), value)
            })
            .collect()
    }

    #[test]
    fn a_429_says_how_long() {
        type Case<'a> = (&'a [(&'static str, &'a str)], &'a str, Option<u64>, bool);
        let cases: &[Case<'_>] = &[
            (
                &[("retry-after", "2")],
                r#"{"retry_after": 1.2, "global": false}"#,
                Some(1_200),
                false,
            ),
            (&[("retry-after", "2")], "", Some(2_000), false),
            (
                &[("retry-after", "2"), ("x-ratelimit-global", "true")],
                "",
                Some(2_000),
                true,
            ),
            (
                &[],
                r#"{"retry_after": 3, "global": true}"#,
                Some(3_000),
                true,
            ),
            (&[], "error code: 1015", None, false),
            (&[("retry-after", "soon")], "{}", None, false),
            (&[("retry-after", "-5")], "{}", Some(0), false),
            (&[("retry-after", "NaN")], "{}", None, false),
            (&[("retry-after", "1e300")], "{}", None, false),
        ];
        for (given, body, wait, global) in cases {
            let hint = Hint::of(&headers(given), body.as_bytes());
            let found = hint
                .wait
                .map(|w| u64::try_from(w.as_millis()).expect("short"));
            // NaN is at most zero to `max`, and no wait at all is no harm.
            let expected = if given.iter().any(|(_, v)| *v == "NaN") {
                Some(0)
            } else {
                *wait
            };
            assert_eq!(
                (found, hint.global),
                (expected, *global),
                "{given:?} {body}"
            );
        }
    }

    #[tokio::test(start_paused = true)]
    async fn announced_limits_are_not_run_into() {
        let limits = Limits::default();
        let one: Key = (Method::POST, "/a", 1);
        let other: Key = (Method::POST, "/a", 2);
        let said = headers(&[
            ("x-ratelimit-remaining", "1"),
            ("x-ratelimit-reset-after", "1.5"),
        ]);
        assert_eq!(limits.before(&one, true), None);
        limits.after(&one, &said);
        assert_eq!(limits.before(&one, true), None);
        let wait = limits.before(&one, true).expect("the bucket is empty");
        assert_eq!(wait, Duration::from_millis(1_500));
        assert_eq!(limits.before(&other, true), None);
        tokio::time::sleep(wait).await;
        assert_eq!(limits.before(&one, true), None);

        limits.close(Duration::from_secs(3));
        limits.close(Duration::from_secs(1));
        assert_eq!(limits.before(&other, true), Some(Duration::from_secs(3)));
        assert_eq!(limits.before(&other, false), None, "an interaction");
        tokio::time::sleep(Duration::from_secs(3)).await;
        assert_eq!(limits.before(&other, true), None);
    }

    #[tokio::test(start_paused = true)]
    async fn buckets_that_are_over_are_dropped() {
        let limits = Limits::default();
        let said = headers(&[
            ("x-ratelimit-remaining", "0"),
            ("x-ratelimit-reset-after", "1"),
        ]);
        for id in 0..5_000 {
            limits.after(&(Method::POST, "/a", id), &said);
            tokio::time::advance(Duration::from_millis(10)).await;
        }
        assert!(limits.buckets.lock().expect("no panic").len() <= BUCKETS);
    }
}

//! What can be made to go wrong with a REST request.
//!
//! A fault waits for the next request whose method and path match, and is used up by
//! it. One that was never used fails the test that set it: such a test does not test
//! what it claims.

use std::time::Duration;

use serde_json::{Value, json};

/// What happens to a request instead of an answer, or before one.
#[derive(Clone, Debug)]
pub enum Failure {
    /// Answer with a status, a body and more headers; the request has no effect.
    Answer {
        /// HTTP status.
        status: u16,
        /// JSON, or a JSON string that is sent as plain text where `text` is set.
        body: Value,
        /// Further headers.
        headers: Vec<(String, String)>,
        /// Send `body` as `text/plain` instead of JSON.
        text: bool,
    },
    /// Never answer; the request has no effect.
    Hang,
    /// Close the connection; the request has no effect.
    Drop,
    /// Do as asked, then close the connection without an answer.
    DropAfterwards,
    /// Wait, then do as asked.
    Delay(Duration),
}

impl Failure {
    /// A status and a JSON body.
    #[must_use]
    pub fn answer(status: u16, body: Value) -> Self {
        Self::Answer {
            status,
            body,
            headers: Vec::new(),
            text: false,
        }
    }

    /// Discord's error body.
    #[must_use]
    pub fn error(status: u16, code: u32, message: &str) -> Self {
        Self::answer(status, json!({"message": message, "code": code}))
    }

    /// A route's rate limit: JSON without `code`, `Retry-After` in whole seconds.
    #[must_use]
    pub fn rate_limited(retry_after: Duration) -> Self {
        limited(retry_after, false)
    }

    /// The limit over all routes of a bot.
    #[must_use]
    pub fn globally_rate_limited(retry_after: Duration) -> Self {
        limited(retry_after, true)
    }

    /// What stands before Discord refusing an address: text, no `Retry-After`.
    #[must_use]
    pub fn banned_by_cloudflare() -> Self {
        Self::Answer {
            status: 429,
            body: json!("error code: 1015"),
            headers: vec![("server".to_owned(), "cloudflare".to_owned())],
            text: true,
        }
    }
}

fn limited(retry_after: Duration, global: bool) -> Failure {
    let seconds = retry_after.as_secs_f64();
    let whole = retry_after.as_millis().div_ceil(1000);
    let mut headers = vec![
        ("retry-after".to_owned(), whole.to_string()),
        (
            "x-ratelimit-scope".to_owned(),
            if global { "global" } else { "user" }.to_owned(),
        ),
    ];
    if global {
        headers.push(("x-ratelimit-global".to_owned(), "true".to_owned()));
    } else {
        headers.extend([
            ("x-ratelimit-limit".to_owned(), "5".to_owned()),
            ("x-ratelimit-remaining".to_owned(), "0".to_owned()),
            (
                "x-ratelimit-reset-after".to_owned(),
                format!("{seconds:.3}"),
            ),
        ]);
    }
    Failure::Answer {
        status: 429,
        body: json!({
            "message": "You are being rate limited.",
            "retry_after": seconds,
            "global": global,
        }),
        headers,
        text: false,
    }
}

#[derive(Debug, Clone)]
pub(crate) struct Fault {
    pub method: String,
    pub pattern: String,
    pub failure: Failure,
    pub times: u64,
}

impl Fault {
    pub fn matches(&self, method: &str, path: &str) -> bool {
        self.times > 0
            && (self.method == "*" || self.method.eq_ignore_ascii_case(method))
            && path_matches(&self.pattern, path)
    }
}

/// `*` stands for one segment, a final `**` for the rest.
pub(crate) fn path_matches(pattern: &str, path: &str) -> bool {
    let path = path.split('?').next().unwrap_or(path);
    let mut wanted = pattern.trim_matches('/').split('/');
    let mut found = path.trim_matches('/').split('/');
    loop {
        match (wanted.next(), found.next()) {
            (None, None) | (Some("**"), _) => return true,
            (Some("*"), Some(_)) => {}
            (Some(a), Some(b)) if a == b => {}
            _ => return false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns() {
        let cases = [
            ("/channels/*/messages", "/channels/1/messages", true),
            ("/channels/*/messages", "/channels/1/messages?limit=5", true),
            ("/channels/*/messages", "/channels/1/messages/2", false),
            ("/channels/**", "/channels/1/messages/2", true),
            ("/channels/7/messages", "/channels/1/messages", false),
            ("**", "/anything", true),
        ];
        for (pattern, path, expected) in cases {
            assert_eq!(path_matches(pattern, path), expected, "{pattern} {path}");
        }
    }
}

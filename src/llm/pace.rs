//! Time: the clock that the client waits by, how long providers say to wait, and full jitter.
//!
//! Wanted: whatever a provider writes, reading it never panics and never yields an absurd wait;
//! and tests see every wait without living through it.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use backon::{BackoffBuilder, ExponentialBackoff, ExponentialBuilder};
use reqwest::header::HeaderMap;
use tokio::time::Instant;

/// No provider's limit is longer than a day; what claims to be is cut to this.
const LONGEST_HINT: Duration = Duration::from_secs(24 * 3600);

/// The clock of a client.
///
/// A skipping clock doesn't wait: it records each wait and moves itself forward by it, so a test
/// can say "it waited 5.289 s" at once. Time spent on real connections still counts.
#[derive(Debug, Clone, Default)]
pub struct Clock(Option<Arc<Mutex<Skipped>>>);

#[derive(Debug, Default)]
struct Skipped {
    ahead: Duration,
    waits: Vec<Duration>,
}

impl Clock {
    /// Real time.
    pub fn real() -> Self {
        Self(None)
    }

    /// A clock that skips over waits and records them.
    pub fn skipping() -> Self {
        Self(Some(Arc::default()))
    }

    /// The waits recorded so far (none on a real clock).
    pub fn waits(&self) -> Vec<Duration> {
        self.skipped(|skipped| skipped.waits.clone())
            .unwrap_or_default()
    }

    /// Moves a skipping clock forward; without effect on a real one.
    pub fn advance(&self, by: Duration) {
        self.skipped(|skipped| skipped.ahead += by);
    }

    pub(super) fn now(&self) -> Instant {
        let ahead = self.skipped(|skipped| skipped.ahead).unwrap_or_default();
        Instant::now() + ahead
    }

    pub(super) async fn wait(&self, wait: Duration) {
        let skipped = self.skipped(|skipped| {
            skipped.ahead += wait;
            skipped.waits.push(wait);
        });
        match skipped {
            Some(()) => tokio::task::yield_now().await,
            None => tokio::time::sleep(wait).await,
        }
    }

    fn skipped<T>(&self, f: impl FnOnce(&mut Skipped) -> T) -> Option<T> {
        let skipped = self.0.as_ref()?;
        Some(f(&mut skipped
            .lock()
            .unwrap_or_else(PoisonError::into_inner)))
    }
}

/// Waits before trying again after a failure that came without a time: full jitter, that is, evenly
/// between nothing and a ceiling of 0.5, 1, 2, 4, 8, 8, ... seconds, so that callers that failed
/// together don't come back together.
pub(super) struct FullJitter {
    ceilings: ExponentialBackoff,
    jittered: ExponentialBackoff,
}

impl FullJitter {
    pub(super) fn new() -> Self {
        let ceilings = ExponentialBuilder::new()
            .with_min_delay(Duration::from_millis(500))
            .with_max_delay(Duration::from_secs(8))
            .without_max_times();
        Self {
            ceilings: ceilings.build(),
            jittered: ceilings.with_jitter().build(),
        }
    }

    pub(super) fn next(&mut self) -> Duration {
        // backon puts its jitter on top of the delay; without the delay, full jitter remains.
        let jittered = self.jittered.next().unwrap_or_default();
        jittered.saturating_sub(self.ceilings.next().unwrap_or_default())
    }
}

/// How long the provider asks to wait: `retry-after-ms`, `retry-after` (seconds or a date), the
/// "try again in ..." of its message, then the reset headers of its limits (only where
/// `resets_count`: they stand on every answer and mean a wait only on a 429).
pub(super) fn asked_wait(
    headers: &HeaderMap,
    message: &str,
    resets_count: bool,
) -> Option<Duration> {
    let header = |name: &str| headers.get(name).and_then(|value| value.to_str().ok());
    let milliseconds = || {
        let value: f64 = header("retry-after-ms")?.trim().parse().ok()?;
        seconds(value / 1000.0)
    };
    let retry_after = || {
        let value = header("retry-after")?.trim();
        whole_duration(value).or_else(|| until_date(value, header("date")))
    };
    let reset = |name: &str| whole_duration(header(name)?.trim());
    let resets = || {
        if !resets_count {
            return None;
        }
        // Requests are counted per day there: their reset only matters when none remain.
        let no_requests_left = header("x-ratelimit-remaining-requests")
            .is_some_and(|remaining| remaining.trim() == "0");
        if no_requests_left {
            reset("x-ratelimit-reset-requests")
        } else {
            reset("x-ratelimit-reset-tokens").or_else(|| reset("x-ratelimit-reset-requests"))
        }
    };
    milliseconds()
        .or_else(retry_after)
        .or_else(|| in_message(message))
        .or_else(resets)
        .map(|wait| wait.min(LONGEST_HINT))
}

/// The wait in "Please try again in 11m0.528s. Need more tokens?".
fn in_message(message: &str) -> Option<Duration> {
    let message = message.to_ascii_lowercase();
    ["try again in ", "retry in ", "retry after "]
        .iter()
        .find_map(|lead| leading_duration(message.split_once(lead)?.1))
        .map(|(wait, _)| wait)
}

/// The whole text as seconds (`12`, `1.5`) or as a duration (`2m59.56s`).
fn whole_duration(text: &str) -> Option<Duration> {
    if let Ok(number) = text.parse::<f64>() {
        return seconds(number);
    }
    match leading_duration(text)? {
        (duration, "") => Some(duration),
        _ => None,
    }
}

/// The longest duration that the text starts with, and the rest: `577.5ms`, `2m59.56s`,
/// `6m 11.52s`, `4h43m36.314s`, `20 seconds`.
fn leading_duration(text: &str) -> Option<(Duration, &str)> {
    let mut total: Option<f64> = None;
    let mut rest = text;
    // A component consumes text, so this ends.
    while let Some((value, after)) = component(rest) {
        total = Some(total.unwrap_or(0.0) + value);
        rest = after;
    }
    Some((seconds(total?)?, rest))
}

/// One number with its unit, in seconds, and the rest.
fn component(text: &str) -> Option<(f64, &str)> {
    let text = text.trim_start();
    let end = text
        .find(|c: char| !c.is_ascii_digit() && c != '.')
        .unwrap_or(text.len());
    let (number, rest) = text.split_at_checked(end)?;
    let number: f64 = number.parse().ok()?;
    let rest = rest.strip_prefix(' ').unwrap_or(rest);
    let end = rest
        .find(|c: char| !c.is_alphabetic())
        .unwrap_or(rest.len());
    // "11m0.528s" has a digit after the unit, so a unit is all letters up to the next non-letter.
    let (unit, rest) = rest.split_at_checked(end)?;
    let factor = match unit {
        "d" | "day" | "days" => 86_400.0,
        "h" | "hr" | "hrs" | "hour" | "hours" => 3600.0,
        "m" | "min" | "mins" | "minute" | "minutes" => 60.0,
        "s" | "sec" | "secs" | "second" | "seconds" => 1.0,
        "ms" | "millisecond" | "milliseconds" => 1e-3,
        "us" | "µs" | "μs" => 1e-6,
        "ns" => 1e-9,
        _ => return None,
    };
    Some((number * factor, rest))
}

fn seconds(value: f64) -> Option<Duration> {
    if !value.is_finite() {
        return None;
    }
    Duration::try_from_secs_f64(value.min(LONGEST_HINT.as_secs_f64())).ok()
}

/// The time from the answer's own date (else now) to a date; none for a date that has passed.
fn until_date(value: &str, date: Option<&str>) -> Option<Duration> {
    let parse = |text: &str| {
        jiff::fmt::rfc2822::parse(text)
            .ok()
            .map(|at| at.timestamp())
    };
    let until = parse(value)?;
    let from = date.and_then(parse).unwrap_or_else(jiff::Timestamp::now);
    Duration::try_from(until.duration_since(from)).ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use reqwest::header::{HeaderName, HeaderValue};

    #[test]
    fn durations_read_as_providers_write_them() {
        for (text, milliseconds) in [
            ("", None),
            ("soon", None),
            ("-3", None),
            ("NaN", None),
            ("inf", None),
            ("1.2.3s", None),
            ("5parsecs", None),
            ("5 s later", None),
            ("12", Some(12_000)),
            ("0", Some(0)),
            ("1.5", Some(1500)),
            ("6s", Some(6000)),
            ("1.57s", Some(1570)),
            ("577.5ms", Some(577)),
            ("2m59.56s", Some(179_560)),
            ("4h43m36.314s", Some(17_016_314)),
            ("6m 11.52s", Some(371_520)),
            ("11m0.528s", Some(660_528)),
            ("1h", Some(3_600_000)),
            ("250us", Some(0)),
            ("20 seconds", Some(20_000)),
            ("1 minute 30 seconds", Some(90_000)),
            ("99999999999999999999", Some(86_400_000)),
            ("1e300", Some(86_400_000)),
        ] {
            let read = whole_duration(text).map(|duration| duration.as_millis());
            assert_eq!(read, milliseconds, "{text:?}");
        }
    }

    #[test]
    fn the_wait_is_found_in_a_message() {
        for (message, milliseconds) in [
            ("Please try again later.", None),
            ("Please try again in a while.", None),
            ("Please try again in 5.289s. Visit the console", Some(5289)),
            (
                "Please try again in 11m0.528s. Need more tokens?",
                Some(660_528),
            ),
            ("please TRY AGAIN IN 6m 11.52s.", Some(371_520)),
            ("Retry after 2 seconds", Some(2000)),
            ("try again in 5 秒", None),
            ("try again in ５s", None),
        ] {
            let read = in_message(message).map(|duration| duration.as_millis());
            assert_eq!(read, milliseconds, "{message:?}");
        }
    }

    #[test]
    fn the_nearest_word_on_the_wait_wins() {
        let message = "Please try again in 3s.";
        for (headers, message, resets_count, milliseconds) in [
            (vec![], "", true, None),
            (vec![("x-ratelimit-reset-tokens", "9s")], "", false, None),
            (
                vec![("retry-after-ms", "250"), ("retry-after", "7")],
                message,
                true,
                Some(250),
            ),
            (vec![("retry-after", "7")], message, true, Some(7000)),
            (vec![("retry-after", "nonsense")], message, true, Some(3000)),
            (
                vec![("x-ratelimit-reset-tokens", "9s")],
                message,
                true,
                Some(3000),
            ),
            (
                vec![
                    ("x-ratelimit-reset-tokens", "577.5ms"),
                    ("x-ratelimit-reset-requests", "6s"),
                ],
                "",
                true,
                Some(577),
            ),
            (
                vec![
                    ("x-ratelimit-remaining-requests", "0"),
                    ("x-ratelimit-reset-tokens", "577.5ms"),
                    ("x-ratelimit-reset-requests", "6s"),
                ],
                "",
                true,
                Some(6000),
            ),
            (
                vec![
                    ("date", "Mon, 30 Nov 2026 02:00:00 GMT"),
                    ("retry-after", "Mon, 30 Nov 2026 02:00:12 GMT"),
                ],
                message,
                true,
                Some(12_000),
            ),
            (
                vec![
                    ("date", "Mon, 30 Nov 2026 02:00:30 GMT"),
                    ("retry-after", "Mon, 30 Nov 2026 02:00:12 GMT"),
                ],
                "",
                true,
                None,
            ),
        ] {
            let mut map = HeaderMap::new();
            for (name, value) in &headers {
                map.insert(
                    HeaderName::from_static(name),
                    HeaderValue::from_static(value),
                );
            }
            let wait = asked_wait(&map, message, resets_count).map(|wait| wait.as_millis());
            assert_eq!(wait, milliseconds, "{headers:?} {message:?}");
        }
    }

    #[test]
    fn jitter_is_full_and_stays_under_its_ceilings() {
        let mut below_half = 0;
        for _ in 0..200 {
            let mut jitter = FullJitter::new();
            for ceiling in [500, 1000, 2000, 4000, 8000, 8000] {
                let ceiling = Duration::from_millis(ceiling);
                let wait = jitter.next();
                assert!(wait <= ceiling, "{wait:?} over {ceiling:?}");
                below_half += u32::from(wait < ceiling / 2);
            }
        }
        // 1,200 draws, half of them expected below the half: far outside this by chance is < 1e-9.
        assert!((480..=720).contains(&below_half), "{below_half}");
    }
}

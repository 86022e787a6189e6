//! The time the double lives by: real time plus what a test has added.
//!
//! A test that wants an interaction token to expire says
//! `discord.clock().advance(Duration::from_secs(900))` instead of waiting. Real time
//! counts as well, so the 3-second rule holds without anybody touching the clock.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// A clock that runs with real time and can be pushed forward, never back.
#[derive(Clone, Debug, Default)]
pub struct Clock {
    ahead_milliseconds: Arc<AtomicU64>,
}

impl Clock {
    /// Pushes the clock forward.
    pub fn advance(&self, by: Duration) {
        let by = u64::try_from(by.as_millis()).unwrap_or(u64::MAX);
        self.ahead_milliseconds.fetch_add(by, Ordering::SeqCst);
    }

    /// Milliseconds since 1970, as the double sees it.
    pub fn now_milliseconds(&self) -> u64 {
        let real = SystemTime::now()
            .duration_since(UNIX_EPOCH)
            .unwrap_or_default();
        u64::try_from(real.as_millis())
            .unwrap_or(u64::MAX)
            .saturating_add(self.ahead_milliseconds.load(Ordering::SeqCst))
    }
}

/// `2026-08-06T03:14:15.926000+00:00`, the form Discord writes times in.
pub(crate) fn iso8601(milliseconds: u64) -> String {
    let milliseconds = i64::try_from(milliseconds).unwrap_or(i64::MAX);
    let Ok(at) = jiff::Timestamp::from_millisecond(milliseconds) else {
        return "1970-01-01T00:00:00.000000+00:00".to_owned();
    };
    at.strftime("%Y-%m-%dT%H:%M:%S%.6f+00:00").to_string()
}

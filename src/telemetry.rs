//! Logs: structured, on standard error, and never with the text of a report, a prompt or a token.
//!
//! Spans are named after stages; fields are ids, counts and durations. That no text is logged is
//! kept by what the code passes, and checked by a test that runs a whole incident and reads the log.

use crate::config::LogConfig;
use tracing_subscriber::EnvFilter;
use tracing_subscriber::fmt;
use tracing_subscriber::prelude::*;

/// Starts logging for the process. Does nothing where it was started before. `always` are filter
/// directives that no configuration may loosen: below them a library writes what people said.
pub fn start(config: &LogConfig, always: &[&str]) {
    let held = |filter: &str| {
        let all: Vec<&str> = std::iter::once(filter)
            .chain(always.iter().copied())
            .collect();
        EnvFilter::try_new(all.join(","))
    };
    let filter = held(&config.filter)
        .or_else(|_| held("info"))
        .unwrap_or_else(|_| EnvFilter::new("info"));
    let started = if config.json {
        tracing_subscriber::registry()
            .with(filter)
            .with(fmt::layer().json().with_writer(std::io::stderr))
            .try_init()
    } else {
        tracing_subscriber::registry()
            .with(filter)
            .with(fmt::layer().with_writer(std::io::stderr).with_ansi(false))
            .try_init()
    };
    if started.is_err() {
        tracing::debug!("logging was started before");
    }
}

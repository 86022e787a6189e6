//! Named pauses, for the tests that kill the process at each durable step. Debug builds only.
//!
//! With `PRECEDENT_PAUSE=name=path` set, the process writes `path` when it comes to the named step
//! and then waits to be killed. A release build has no such steps.

/// Steps at which a process may be killed, in the order in which an analysis comes to them; then
/// those of an alert.
pub const STEPS: &[&str] = &[
    "committed",
    "acknowledged",
    "opened",
    "headline",
    "thread",
    "progress",
    "begun",
    "answered",
    "cards",
    "checklist",
    "update",
    "finished",
    "alerts",
    "card",
];

/// Waits for ever at the named step where a test asked for it.
#[cfg(debug_assertions)]
pub async fn at(step: &str) {
    debug_assert!(STEPS.contains(&step), "an unnamed step: {step}");
    let Some((name, path)) = crate::config::pause() else {
        return;
    };
    if name == step {
        let written = std::fs::write(&path, step);
        tracing::warn!(step, written = written.is_ok(), "paused for a test");
        std::future::pending::<()>().await;
    }
}

/// Nothing, in a release build.
#[cfg(not(debug_assertions))]
pub async fn at(_step: &str) {}

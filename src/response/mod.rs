//! The verbs, pure, a file a stage: what is done with a report before, beside and instead of a
//! model.
//!
//! Wanted: each stage is a function from plain data to plain data, so that a run can be repeated
//! from what was stored and gives the same result.
//!
//! Deliberately absent: IO, clocks, randomness, the environment, and any decision about what is
//! shown (that is [`crate::validation`]).

pub mod alerts;
pub mod checks;
mod evidence;
pub mod fallback;
pub mod grade;
pub mod postmortem;
pub mod prompt;
pub mod recall;
pub mod redact;
pub mod route;
pub mod triage;
mod trouble;
pub mod watch;

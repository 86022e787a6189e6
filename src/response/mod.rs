//! The verbs, pure, a file a stage: what is done with a report before and after a model sees it.

pub mod checks;
pub mod grade;
pub mod recall;
pub mod redact;
pub mod triage;
mod trouble;

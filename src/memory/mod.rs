//! Memory: what was there before that looks like this, and the format in which it comes and goes.
//!
//! Wanted: recall finds, in a few milliseconds, every past incident that could matter, and never
//! one that may not be seen from the channel that asks; no text, however hostile, is a syntax
//! error; a memory that failed is an error and never an empty answer (R4).
//!
//! Deliberately absent: judgement. Similarity, grades and what a recalled incident may say are
//! decided in [`crate::incident`] and the pure stages; here candidates are found.

pub mod embeddings;
pub mod format;
pub mod hindsight;
mod postgres;
mod sqlite;

pub use embeddings::Embedder;
pub use hindsight::Hindsight;
pub use sqlite::{Database, Found, MemoryError, Query};

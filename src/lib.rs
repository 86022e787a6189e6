//! Precedent.

pub mod llm;

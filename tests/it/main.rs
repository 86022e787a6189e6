//! Integration tests.

mod llm;

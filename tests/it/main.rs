//! Integration tests.

#![allow(clippy::print_stderr)]

mod cases;
mod llm;
mod store;

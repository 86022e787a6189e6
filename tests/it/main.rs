//! Integration tests.

#![allow(clippy::print_stderr)]

mod cases;
mod llm;
mod response_data;
mod store;

//! Integration tests.

#![allow(clippy::print_stderr)]

mod cases;
mod hostile;
mod llm;
mod named;
mod properties;
mod queue;
mod response_data;
mod store;

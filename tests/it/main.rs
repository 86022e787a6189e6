//! Integration tests.

#![allow(clippy::print_stderr)]

mod bot;
mod cases;
mod command_line;
mod discord;
mod documents;
mod hostile;
mod keeping;
mod layers;
mod llm;
mod named;
mod page;
mod properties;
mod queue;
mod response_data;
mod store;

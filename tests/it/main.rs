//! Integration tests.

#![allow(clippy::print_stderr)]

mod bot;
mod cases;
mod discord;
mod documents;
mod layers;
mod llm;
mod named;
mod page;
mod properties;
mod queue;
mod response_data;
mod store;

//! Integration tests.

#![allow(clippy::print_stderr)]

mod bot;
mod cases;
mod command_line;
mod discord;
mod documents;
mod drafts;
mod embeddings;
mod grounding;
mod hindsight;
mod history;
mod homes;
mod hostile;
mod injection;
mod keeping;
mod layers;
mod llm;
mod log;
mod named;
mod page;
mod postgres;
mod properties;
mod queue;
mod response_data;
mod seeds;
mod store;
mod updates;

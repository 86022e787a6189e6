//! The double is tested like the bot is: by the real client for the good path, by bare
//! requests for each broken rule.
#![allow(clippy::unwrap_used, reason = "a test that unwraps nothing has failed")]

mod bot;
mod broken_rules;
mod client;
mod gateway;
mod limits;
mod people;
mod probes;

//! Precedent: a report is redacted, triaged, the past recalled and graded, the incident routed,
//! analysed, the proposal validated, the result presented.

pub mod app;
pub mod cli;
pub mod config;
pub mod database;
pub mod discord;
pub mod incident;
pub mod jobs;
pub mod llm;
pub mod memory;
pub mod present;
pub mod remote;
pub mod response;
pub mod store;
pub mod telemetry;
pub mod validation;

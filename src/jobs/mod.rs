//! Durable work: the stages of a response, what fills memory, and the queue that outlives the
//! process.

pub mod analyze;
pub mod approval;
pub mod backtest;
mod chronicle;
pub mod clicks;
pub mod commands;
pub mod duty;
pub mod embed;
pub mod history;
pub mod imports;
pub mod intake;
pub mod joining;
pub mod keeping;
pub mod limits;
pub mod mirror;
pub mod outcomes;
pub mod pause;
pub mod queue;
pub mod recollect;
pub mod registry;
pub mod remember;
pub mod respond;
pub mod review;
pub mod running;
mod secrets;
pub mod steps;
pub mod talk;
pub mod watch;
pub mod work;

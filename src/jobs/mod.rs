//! Durable work: the stages of a response, what fills memory, and the queue that outlives the
//! process.

pub mod queue;
pub mod remember;
pub mod respond;

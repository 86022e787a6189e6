//! Work that outlives the process: the durable queue, and what fills memory.

pub mod queue;
pub mod remember;

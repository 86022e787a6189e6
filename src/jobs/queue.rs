//! The durable queue.

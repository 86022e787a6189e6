//! Integration tests.

mod queue;
mod store;

//! Integration tests.

mod response_data;

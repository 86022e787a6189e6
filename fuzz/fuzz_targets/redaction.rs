#![no_main]

#[path = "../properties.rs"]
#[allow(dead_code, reason = "a target uses its own property alone")]
mod properties;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| properties::redaction(bytes));

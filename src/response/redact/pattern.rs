//! A pattern of a table, compiled when a text first needs it: most are never needed, and all of them
//! would take megabytes and a good part of the start.

use regex::Regex;
use std::sync::OnceLock;

pub(super) struct Pattern {
    source: String,
    compiled: OnceLock<Option<Regex>>,
}

impl Pattern {
    pub(super) fn new(source: String) -> Self {
        Self {
            source,
            compiled: OnceLock::new(),
        }
    }

    /// `None` where it is no pattern; tests hold that every one of the tables is.
    pub(super) fn get(&self) -> Option<&Regex> {
        let compiled = self.compiled.get_or_init(|| Regex::new(&self.source).ok());
        compiled.as_ref()
    }
}

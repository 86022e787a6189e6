//! What goes over the wire, by the server's own interface description (version 1.1).
//!
//! Only what is used is read; everything that an answer may leave out, or write as null, may be
//! missing here.

use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// How a bank is created: every incident is kept verbatim, as one line, without a model.
#[derive(Debug, Serialize)]
pub(super) struct CreateBank<'a> {
    pub retain_extraction_mode: &'a str,
    pub enable_observations: bool,
    pub reflect_mission: &'a str,
}

#[derive(Debug, Serialize)]
pub(super) struct CreateDirective<'a> {
    pub name: &'a str,
    pub content: &'a str,
    pub priority: i32,
}

#[derive(Debug, Deserialize)]
pub(super) struct Directives {
    pub items: Vec<Directive>,
}

#[derive(Debug, Deserialize)]
pub(super) struct Directive {
    pub name: String,
}

#[derive(Debug, Serialize)]
pub(super) struct Retain<'a> {
    pub items: Vec<RetainItem<'a>>,
}

#[derive(Debug, Serialize)]
pub(super) struct RetainItem<'a> {
    pub content: &'a str,
    pub document_id: String,
    pub timestamp: &'a str,
    pub context: &'a str,
    pub metadata: BTreeMap<&'a str, &'a str>,
    pub tags: &'a [String],
    pub update_mode: &'a str,
}

#[derive(Debug, Deserialize)]
pub(super) struct Retained {
    pub success: bool,
}

#[derive(Debug, Deserialize)]
pub(super) struct Documents {
    pub items: Vec<Document>,
}

#[derive(Debug, Deserialize)]
pub(super) struct Document {
    pub id: String,
    #[serde(default)]
    pub memory_unit_count: u64,
}

#[derive(Debug, Serialize)]
pub(super) struct Recall<'a> {
    pub query: &'a str,
    pub budget: &'a str,
    pub max_tokens: u32,
    pub tags: &'a [String],
    pub tags_match: &'a str,
    pub include: Include,
}

/// Nothing beside the memories themselves.
#[derive(Debug, Serialize)]
pub(super) struct Include {
    pub entities: Option<()>,
}

#[derive(Debug, Deserialize)]
pub(super) struct Recalled {
    pub results: Vec<Memory>,
}

#[derive(Debug, Deserialize)]
pub(super) struct Memory {
    pub text: String,
    #[serde(default)]
    pub document_id: Option<String>,
    #[serde(default)]
    pub tags: Option<Vec<String>>,
    #[serde(default)]
    pub mentioned_at: Option<String>,
    #[serde(default)]
    pub scores: Option<Scores>,
}

#[derive(Debug, Deserialize)]
pub(super) struct Scores {
    #[serde(default)]
    pub semantic: Option<f64>,
}

#[derive(Debug, Serialize)]
pub(super) struct Reflect<'a> {
    pub query: &'a str,
    pub budget: &'a str,
    pub max_tokens: u32,
    pub tags: &'a [String],
    pub tags_match: &'a str,
}

#[derive(Debug, Deserialize)]
pub(super) struct Reflected {
    pub text: String,
}

#[derive(Debug, Deserialize)]
pub(super) struct Version {
    pub api_version: String,
}

//! Tolerant reading, strict types (R0): from what a model wrote to what it said.
//!
//! Wanted: the same answer reads to the same proposal however it is dressed (fences, prose,
//! thoughts, odd quotes, one object for a list); an answer that can be read in two ways, or not at
//! all, is a failed answer and never an empty one; no text makes this panic, recurse without bound
//! or take more than linear time.
//!
//! Design: length first, then `find` looks for values and `json` reads them, then `typed`
//! turns the best one into the plain types of [`crate::incident::proposal`]. Among several values
//! those with at least half as many known keys as the richest compete; a fenced one wins over one in
//! prose, the last over the earlier.
//!
//! Deliberately absent: judgement. Whether a reference exists or a claim stands is decided by the
//! rules; and no text of the model stands in an error, so none reaches a log.

mod find;
mod json;
mod typed;

pub use json::{Repair, Repaired};

use crate::incident::proposal::{Proposal, ProposedAnswer, ProposedTriage, ProposedUpdate};
use find::Candidate;
use json::{Fault, Parser};
use serde_json::Value;
use thiserror::Error;

/// Longest text that is read, in bytes. An answer is a few kilobytes; what is longer is no answer.
pub const MAX_BYTES: usize = 256 * 1024;

/// Wrappers (objects, lists, strings that hold JSON) are opened at most this often inside one another.
const MAX_UNWRAP: usize = 8;

/// Why a text is no answer. Holds no text of the model.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum Unreadable {
    /// Nothing but white space.
    #[error("the answer is empty")]
    Empty,
    /// Longer than [`MAX_BYTES`].
    #[error("the answer is too long: {bytes} bytes")]
    TooLong {
        /// Its length.
        bytes: usize,
    },
    /// Nested deeper than 64 levels.
    #[error("the answer is nested too deep")]
    TooDeep,
    /// Reading it would take more than linear time.
    #[error("the answer is too tangled to be read in bounded time")]
    Tangled,
    /// Thoughts, and no answer after them.
    #[error("the answer holds thoughts only")]
    OnlyThoughts,
    /// Prose without a value in it.
    #[error("the answer holds no object")]
    NoObject,
    /// A value that is broken beyond repair.
    #[error("the answer is no readable JSON")]
    Broken,
    /// A value that can be read in more than one way.
    #[error("the answer can be read in more than one way")]
    Ambiguous,
    /// A value, but no key of it is one that was asked for, or nothing stands behind it.
    #[error("the answer has nothing that was asked for")]
    NothingUsable,
    /// The model declined.
    #[error("the model declined to answer")]
    Refused,
    /// It was cut off before anything usable.
    #[error("the answer was cut off before anything usable")]
    CutOff,
}

impl From<Fault> for Unreadable {
    fn from(fault: Fault) -> Self {
        match fault {
            Fault::Syntax => Self::Broken,
            Fault::Ambiguous => Self::Ambiguous,
            Fault::TooDeep => Self::TooDeep,
            Fault::Tangled => Self::Tangled,
        }
    }
}

/// Reads the one value that a text holds, whatever its keys. Several values in a row are read as
/// the list of them; several in prose are ambiguous.
///
/// # Errors
/// See [`Unreadable`].
pub fn value(text: &str) -> Result<(Value, Repaired), Unreadable> {
    let chars = admitted(text)?;
    if let Some(read) = strict(text, &chars)? {
        return Ok(read);
    }
    let mut parser = Parser::new(&chars, false);
    match parser.whole() {
        Ok(value) => return Ok((value, parser.repaired)),
        Err(fault @ (Fault::TooDeep | Fault::Tangled)) => return Err(fault.into()),
        Err(Fault::Syntax | Fault::Ambiguous) => {}
    }
    // A string of a string, without its outer quotes.
    if text.trim_start().starts_with("\\\"") {
        let inner = find::unescape(&chars);
        let mut parser = Parser::new(&inner, false);
        if let Ok(value @ Value::String(_)) = parser.whole() {
            parser.repaired.add(Repair::Encoded);
            return Ok((value, parser.repaired));
        }
    }
    let found = find::candidates(&chars, false, false)?;
    if let Some(fault) = found.broken {
        return Err(fault.into());
    }
    let fenced = found.candidates.iter().filter(|c| c.fenced).count();
    let mut candidates: Vec<Candidate> = found
        .candidates
        .into_iter()
        .filter(|candidate| candidate.fenced || fenced != 1)
        .collect();
    match (candidates.pop(), candidates.is_empty()) {
        (Some(only), true) => Ok((only.value, only.repaired)),
        (Some(_), false) => Err(Unreadable::Ambiguous),
        (None, _) if found.only_thoughts => Err(Unreadable::OnlyThoughts),
        (None, _) => Err(Unreadable::NoObject),
    }
}

/// Reads an analysis. `cut_off` is whether the provider said that it was cut (`finish_reason`
/// `length`): the proposal is then marked as cut off before anything is repaired.
///
/// # Errors
/// See [`Unreadable`].
pub fn analysis(text: &str, cut_off: bool) -> Result<Proposal, Unreadable> {
    let read = answer(text, cut_off, typed::ANALYSIS)?;
    let mut proposal = typed::analysis(&read.value);
    proposal.cut_off = cut_off || read.repaired.has(Repair::Truncated);
    proposal.repaired = read.repaired.touched_content();
    if !typed::holds_content(&proposal) {
        return Err(if proposal.cut_off {
            Unreadable::CutOff
        } else {
            Unreadable::NothingUsable
        });
    }
    let bare = proposal.hypotheses.is_empty() && proposal.next_steps.is_empty();
    if bare && proposal.cut_off {
        return Err(Unreadable::CutOff);
    }
    if bare && typed::is_refusal(&proposal.summary) {
        return Err(Unreadable::Refused);
    }
    Ok(proposal)
}

/// Reads a triage.
///
/// # Errors
/// See [`Unreadable`].
pub fn triage(text: &str, cut_off: bool) -> Result<ProposedTriage, Unreadable> {
    let read = answer(text, cut_off, typed::TRIAGE)?;
    let triage = typed::triage(&read.value);
    if triage == ProposedTriage::default() {
        return Err(nothing(cut_off || read.repaired.has(Repair::Truncated)));
    }
    if typed::is_refusal(&triage.title) {
        return Err(Unreadable::Refused);
    }
    Ok(triage)
}

/// Reads the answer to a follow-up question.
///
/// # Errors
/// See [`Unreadable`].
pub fn follow_up(text: &str, cut_off: bool) -> Result<ProposedAnswer, Unreadable> {
    let read = answer(text, cut_off, typed::FOLLOW_UP)?;
    let mut answer = typed::follow_up(&read.value);
    let cut = cut_off || read.repaired.has(Repair::Truncated);
    if answer.answer.is_empty() && answer.next_steps.is_empty() {
        return Err(nothing(cut));
    }
    answer.cut_off = cut;
    Ok(answer)
}

/// Reads the fields of a stakeholder update.
///
/// # Errors
/// See [`Unreadable`].
pub fn update(text: &str, cut_off: bool) -> Result<ProposedUpdate, Unreadable> {
    let read = answer(text, cut_off, typed::UPDATE)?;
    let update = typed::update(&read.value);
    if update == ProposedUpdate::default() {
        return Err(nothing(cut_off || read.repaired.has(Repair::Truncated)));
    }
    Ok(update)
}

fn nothing(cut_off: bool) -> Unreadable {
    if cut_off {
        Unreadable::CutOff
    } else {
        Unreadable::NothingUsable
    }
}

struct Read {
    value: Value,
    repaired: Repaired,
    known: usize,
    fenced: bool,
}

/// The object with the answer's keys, out of whatever stands around it.
fn answer(text: &str, cut_off: bool, keys: typed::Keys) -> Result<Read, Unreadable> {
    let failed = |reason: Unreadable| match reason {
        Unreadable::TooLong { .. } | Unreadable::TooDeep | Unreadable::Tangled => reason,
        _ if cut_off => Unreadable::CutOff,
        _ => reason,
    };
    let chars = admitted(text).map_err(failed)?;
    let mut reads = Vec::new();
    let mut reason = Unreadable::NothingUsable;
    if let Some((value, repaired)) = strict(text, &chars)? {
        unwrap(value, repaired, false, keys, 0, &mut reads);
    } else {
        let found = find::candidates(&chars, true, false)?;
        reason = match found.broken {
            Some(fault) => fault.into(),
            None if found.only_thoughts => Unreadable::OnlyThoughts,
            None if found.candidates.is_empty() => Unreadable::NoObject,
            None => Unreadable::NothingUsable,
        };
        if found.candidates.is_empty() && found.broken.is_none() {
            let mut parser = Parser::new(&chars, true);
            if let Ok(value @ Value::String(_)) = parser.whole() {
                unwrap(value, parser.repaired, false, keys, 0, &mut reads);
            }
        }
        for candidate in found.candidates {
            unwrap(
                candidate.value,
                candidate.repaired,
                candidate.fenced,
                keys,
                0,
                &mut reads,
            );
        }
    }
    choose(reads).ok_or_else(|| failed(reason))
}

/// Those with at least half the keys of the richest compete: fenced before prose, then the last.
fn choose(mut reads: Vec<Read>) -> Option<Read> {
    let most = reads.iter().map(|read| read.known).max()?;
    reads.retain(|read| read.known * 2 >= most);
    if reads.iter().any(|read| read.fenced) {
        reads.retain(|read| read.fenced);
    }
    reads.pop()
}

/// Opens lists of one, wrapper objects (a tool call's arguments, `{"analysis": {...}}`) and strings
/// that hold JSON, until an object with a known key is found.
fn unwrap(
    value: Value,
    repaired: Repaired,
    fenced: bool,
    keys: typed::Keys,
    depth: usize,
    reads: &mut Vec<Read>,
) {
    if depth > MAX_UNWRAP {
        return;
    }
    match value {
        Value::Object(map) => {
            let known = typed::known_keys(&map, keys);
            if known > 0 {
                reads.push(Read {
                    value: Value::Object(map),
                    repaired,
                    known,
                    fenced,
                });
                return;
            }
            let mut inside = Vec::new();
            for (_, inner) in map {
                unwrap(
                    inner,
                    repaired.clone(),
                    fenced,
                    keys,
                    depth + 1,
                    &mut inside,
                );
            }
            // Two answers beside one another in one wrapper: which one is meant is not said.
            if inside.len() == 1 {
                reads.append(&mut inside);
            }
        }
        Value::Array(items) => {
            for item in items {
                unwrap(item, repaired.clone(), fenced, keys, depth + 1, reads);
            }
        }
        Value::String(text) if text.contains('{') => {
            let (values, mut inner) = embedded(&text);
            inner.add_all(&repaired);
            inner.add(Repair::Encoded);
            for value in values {
                unwrap(value, inner.clone(), fenced, keys, depth + 1, reads);
            }
        }
        _ => {}
    }
}

/// The values that stand in a string.
fn embedded(text: &str) -> (Vec<Value>, Repaired) {
    let mut repaired = Repaired::default();
    let Ok(chars) = admitted(text) else {
        return (Vec::new(), repaired);
    };
    if let Ok(Some((value, strict))) = strict(text, &chars) {
        return (vec![value], strict);
    }
    let Ok(found) = find::candidates(&chars, true, false) else {
        return (Vec::new(), repaired);
    };
    let mut values = Vec::new();
    for candidate in found.candidates {
        repaired.add_all(&candidate.repaired);
        values.push(candidate.value);
    }
    (values, repaired)
}

fn admitted(text: &str) -> Result<Vec<char>, Unreadable> {
    if text.len() > MAX_BYTES {
        return Err(Unreadable::TooLong { bytes: text.len() });
    }
    let text = text.trim_start_matches('\u{feff}').trim_start();
    if text.is_empty() {
        return Err(Unreadable::Empty);
    }
    Ok(text.chars().collect())
}

/// Plain JSON. Keys that stand twice are noticed by reading it a second time with our own reader.
fn strict(text: &str, chars: &[char]) -> Result<Option<(Value, Repaired)>, Unreadable> {
    let plain = text.trim_start_matches('\u{feff}').trim();
    let Ok(value) = serde_json::from_str::<Value>(plain) else {
        return Ok(None);
    };
    let mut parser = Parser::new(chars, false);
    match parser.whole() {
        Ok(own) if parser.repaired.has(Repair::DuplicateKey) => Ok(Some((own, parser.repaired))),
        // Integers beyond 64 bits: text keeps all their digits.
        Ok(own) if parser.repaired.has(Repair::Literal) => Ok(Some((own, parser.repaired))),
        Ok(_) => Ok(Some((value, Repaired::default()))),
        Err(Fault::TooDeep) => Err(Unreadable::TooDeep),
        Err(Fault::Tangled) => Err(Unreadable::Tangled),
        Err(_) => Ok(Some((value, Repaired::default()))),
    }
}

#[cfg(test)]
mod tests;

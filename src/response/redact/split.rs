//! Tokens that are split: over lines, by string concatenation, by spaces or marks of formatting.
//!
//! Design: where a known beginning of a key stands and the token ends too soon, what splits it is
//! taken out and the known format is tried on what is left. Only formats with a beginning of their own
//! are tried: words run together would look like anything else.

use super::formats::FORMATS;
use super::{Finds, Found};

/// Most of a text that is put together again behind a beginning.
const NEAR: usize = 400;

/// `starts`: where known beginnings stand without a known end.
pub(super) fn look(text: &str, starts: Vec<usize>, found: &mut Finds, most: usize) {
    for start in starts {
        if found.looked > most {
            return;
        }
        found.look(2 * NEAR);
        let Some((joined, places)) = put_together(text, start) else {
            continue;
        };
        let mut inner = Finds::default();
        FORMATS.at_start(&joined, 0, &mut inner, &mut Vec::new());
        for secret in inner.all {
            let (Some(from), Some(to)) = (
                places.get(secret.at.start),
                secret.at.end.checked_sub(1).and_then(|at| places.get(at)),
            ) else {
                continue;
            };
            if joined.bytes().any(|b| b.is_ascii_digit()) {
                found.push(Found {
                    whole: joined.get(secret.at.clone()).map(str::to_owned),
                    ..Found::secret(*from..to + 1, secret.kind)
                });
            }
        }
    }
}

/// The token with what splits it taken out, and where each byte stands. `None`: nothing splits it.
fn put_together(text: &str, start: usize) -> Option<(String, Vec<usize>)> {
    let bytes = text.as_bytes();
    let mut joined = String::new();
    let mut places = Vec::new();
    let mut at = start;
    let mut splits = 0;
    while at - start < NEAR {
        let byte = *bytes.get(at)?.min(&0x7F);
        if is_part(byte) {
            joined.push(char::from(byte));
            places.push(at);
            at += 1;
            if bytes.get(at).is_none() {
                break;
            }
            continue;
        }
        let gap = bytes
            .get(at..)?
            .iter()
            .take(24)
            .take_while(|b| {
                matches!(
                    b,
                    b' ' | b'\t'
                        | b'\r'
                        | b'\n'
                        | b'"'
                        | b'\''
                        | b'`'
                        | b'+'
                        | b'\\'
                        | b'*'
                        | b'>'
                        | b'|'
                        | b'&'
                )
            })
            .count();
        let next = bytes.get(at + gap).copied();
        if gap == 0
            || gap == 24
            || !next.is_some_and(|b| b.is_ascii_alphanumeric() || b == b'_' || b == b'-')
        {
            break;
        }
        let part = bytes
            .get(at + gap..)?
            .iter()
            .take(NEAR)
            .take_while(|b| is_part(**b))
            .count();
        if !is_of_key(bytes.get(at + gap..at + gap + part).unwrap_or_default()) {
            break;
        }
        splits += 1;
        at += gap;
    }
    (splits > 0).then_some((joined, places))
}

fn is_part(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.' | b'/' | b'=')
}

/// No word of a sentence: it has digits or changes its case, or is a group of capitals.
fn is_of_key(part: &[u8]) -> bool {
    let digits = part.iter().any(u8::is_ascii_digit);
    let lower = part.iter().any(u8::is_ascii_lowercase);
    let upper = part.iter().skip(1).any(u8::is_ascii_uppercase);
    (digits && part.len() > 1) || upper && (lower || part.len() == 4)
}

//! The text as the rules see it: compatibility forms folded (NFKC), characters without width or of
//! control dropped, placeholders of an earlier redaction one sign that no rule holds. Every place of
//! it knows which part of the original it stands for.
//!
//! A text that reads the same either way (ASCII without placeholders, which logs are) is not copied.

use std::borrow::Cow;
use std::ops::Range;
use unicode_normalization::UnicodeNormalization;

/// Stands in the copy for a placeholder of an earlier redaction. Private use: no text of people
/// holds it, and one that does loses it in the copy.
pub(super) const STRUCK: char = '\u{F8FF}';

pub(super) struct Copy<'a> {
    pub(super) text: Cow<'a, str>,
    /// Where parts of the copy came from, in order. Empty: the copy is the original.
    origin: Vec<Part>,
}

/// A part of the copy. Of one character, or a stretch that is the same in the original.
struct Part {
    copied: usize,
    start: usize,
    /// The end in the original of a part of one character; 0 in a stretch.
    end: usize,
}

impl<'a> Copy<'a> {
    pub(super) fn of(original: &'a str, placeholders: &[Range<usize>]) -> Self {
        let plain = placeholders.is_empty() && original.bytes().all(is_plain);
        if plain {
            return Self {
                text: Cow::Borrowed(original),
                origin: Vec::new(),
            };
        }
        let mut text = String::with_capacity(original.len());
        let mut origin: Vec<Part> = Vec::new();
        let mut struck = placeholders.iter().peekable();
        let mut at = 0;
        while at < original.len() {
            if let Some(range) = struck.next_if(|range| range.start == at) {
                origin.push(Part {
                    copied: text.len(),
                    start: range.start,
                    end: range.end,
                });
                text.push(STRUCK);
                at = range.end;
                continue;
            }
            let until = struck.peek().map_or(original.len(), |range| range.start);
            let rest = original.get(at..until).unwrap_or_default();
            let same = rest
                .bytes()
                .position(|b| !is_plain(b))
                .unwrap_or(rest.len());
            if same > 0 {
                origin.push(Part {
                    copied: text.len(),
                    start: at,
                    end: 0,
                });
                text.push_str(rest.get(..same).unwrap_or_default());
                at += same;
                continue;
            }
            let mut chars = rest.char_indices();
            let Some((_, c)) = chars.next() else {
                break;
            };
            let end = at + c.len_utf8();
            if is_same(c) {
                // As far as the script goes.
                let length = chars
                    .find(|(_, c)| !is_same(*c))
                    .map_or(rest.len(), |(length, _)| length);
                origin.push(Part {
                    copied: text.len(),
                    start: at,
                    end: 0,
                });
                text.push_str(rest.get(..length).unwrap_or_default());
                at += length;
                continue;
            }
            if !is_invisible(c) {
                for normal in std::iter::once(c).nfkc() {
                    origin.push(Part {
                        copied: text.len(),
                        start: at,
                        end,
                    });
                    text.push(if normal == STRUCK { '\u{FFFD}' } else { normal });
                }
            }
            at = end;
        }
        Self {
            text: Cow::Owned(text),
            origin,
        }
    }

    /// The part of the original that a part of the copy stands for.
    pub(super) fn original(&self, range: &Range<usize>) -> Option<Range<usize>> {
        if range.is_empty() {
            return None;
        }
        if self.origin.is_empty() {
            return Some(range.clone());
        }
        let (start, _) = self.place(range.start)?;
        let (_, end) = self.place(range.end - 1)?;
        // The last byte of a character stands for all of it.
        Some(start..end)
    }

    /// Where the byte came from: its own place in a stretch, else the whole character.
    fn place(&self, copied: usize) -> Option<(usize, usize)> {
        let after = self.origin.partition_point(|part| part.copied <= copied);
        let part = self.origin.get(after.checked_sub(1)?)?;
        Some(if part.end == 0 {
            let start = part.start + (copied - part.copied);
            (start, start + 1)
        } else {
            (part.start, part.end)
        })
    }
}

fn is_plain(byte: u8) -> bool {
    matches!(byte, b'\t' | b'\n' | b'\r' | 0x20..=0x7E)
}

/// Characters that NFKC leaves as they are, and most texts are made of.
fn is_same(c: char) -> bool {
    matches!(c, '\t' | '\n' | '\r' | ' '..='~' | '\u{4E00}'..='\u{9FFF}' | '。' | '、' | '「' | '」' | '《' | '》')
}

/// Characters without width, those that steer direction, and controls: a text in UTF-16 that was
/// read as something else has one between any two letters.
fn is_invisible(c: char) -> bool {
    c.is_control()
        || matches!(c,
        '\u{00AD}' | '\u{034F}' | '\u{061C}' | '\u{115F}' | '\u{1160}' | '\u{17B4}' | '\u{17B5}'
        | '\u{180B}'..='\u{180F}' | '\u{200B}'..='\u{200F}' | '\u{202A}'..='\u{202E}'
        | '\u{2060}'..='\u{206F}' | '\u{3164}' | '\u{FE00}'..='\u{FE0F}' | '\u{FEFF}' | '\u{FFA0}'
        | '\u{FFF0}'..='\u{FFFB}' | '\u{E0000}'..='\u{E0FFF}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_place_is_found_again() {
        let original = "a\u{200B}b \u{FF41} 卡 [REDACTED x 0000] z";
        let from = original.find('[').expect("a placeholder");
        let placeholder = from..from + 17;
        let copy = Copy::of(original, std::slice::from_ref(&placeholder));
        assert_eq!(copy.text, format!("ab a 卡 {STRUCK} z"));
        for (part, whole) in [("ab", "a\u{200B}b"), ("a 卡", "\u{FF41} 卡"), ("z", "z")] {
            let at = copy.text.rfind(part).expect("in the copy");
            let range = copy.original(&(at..at + part.len())).expect("a place");
            assert_eq!(original.get(range), Some(whole));
        }
        assert!(matches!(Copy::of("plain", &[]).text, Cow::Borrowed(_)));
    }
}

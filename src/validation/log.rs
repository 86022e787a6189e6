//! The record of what the rules changed: every change is kept, shown by `/why`.

use super::analysis::Correction;
use super::instructions;
use unicode_segmentation::UnicodeSegmentation;

/// Longest text kept on each side of a correction, in characters: a record, no second copy of a
/// hostile answer.
const LONGEST: usize = 1_200;

/// Corrections in the order in which the rules made them.
#[derive(Debug, Default)]
pub(super) struct Log {
    corrections: Vec<Correction>,
}

impl Log {
    /// Notes that a rule changed `was` to `now`. Equal texts are no change.
    pub fn note(
        &mut self,
        rule: &str,
        at: impl Into<String>,
        was: impl AsRef<str>,
        now: impl AsRef<str>,
    ) {
        let (was, now) = (was.as_ref(), now.as_ref());
        if was != now {
            self.corrections.push(Correction {
                rule: rule.to_owned(),
                at: at.into(),
                // People read the record too.
                was: shortened(&instructions::without(was)),
                now: shortened(now),
            });
        }
    }

    /// All of them.
    pub fn into_corrections(self) -> Vec<Correction> {
        self.corrections
    }
}

fn shortened(text: &str) -> String {
    if text.len() <= LONGEST {
        return text.to_owned();
    }
    let mut out: String = text
        .graphemes(true)
        .take(LONGEST)
        .flat_map(str::chars)
        .take(LONGEST)
        .collect();
    if out.len() < text.len() {
        out.push('…');
    }
    out
}

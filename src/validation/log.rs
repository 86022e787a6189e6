//! The record of what the rules changed: every change is kept, shown by `/why`.

use super::analysis::Correction;

/// Corrections in the order in which the rules made them.
#[derive(Debug, Default)]
pub(super) struct Log {
    corrections: Vec<Correction>,
}

impl Log {
    /// Notes that a rule changed `was` to `now`. Equal texts are no change.
    pub fn note(&mut self, rule: &str, at: impl Into<String>, was: impl Into<String>, now: impl Into<String>) {
        let (was, now) = (was.into(), now.into());
        if was != now {
            self.corrections.push(Correction {
                rule: rule.to_owned(),
                at: at.into(),
                was,
                now,
            });
        }
    }

    /// All of them.
    pub fn into_corrections(self) -> Vec<Correction> {
        self.corrections
    }
}

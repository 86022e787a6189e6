//! The impact of a running incident, in the words of people.

use serde::{Deserialize, Serialize};

/// Who notices what. Empty: nobody said.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Impact {
    /// Who is affected: customers paying by card.
    pub who: String,
    /// What fails for them: the payment ends with an error.
    pub what: String,
    /// How many: about 8 % of card payments.
    pub how_many: String,
    /// What helps meanwhile: trying again.
    pub workaround: String,
    /// What is known of data: none lost, none exposed.
    pub data: String,
}

impl Impact {
    /// The fields in the order of speaking.
    pub fn fields(&self) -> [&str; 5] {
        [
            &self.who,
            &self.what,
            &self.how_many,
            &self.workaround,
            &self.data,
        ]
    }

    /// Whether nobody said anything.
    pub fn is_empty(&self) -> bool {
        self.fields().iter().all(|field| field.trim().is_empty())
    }
}

//! The validation core: the model proposes, the code disposes. Pure: no IO, no clock, no randomness.

pub mod analysis;
pub mod case;
pub mod reading;
pub mod risk;

pub use analysis::{Analysis, Answer, Correction};
pub use case::Case;

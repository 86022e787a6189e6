//! Precedent.

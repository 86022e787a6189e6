//! Precedent: a report is redacted, triaged, the past recalled and graded, the incident routed,
//! analysed, the proposal validated, the result presented.

pub mod incident;
pub mod present;
pub mod validation;

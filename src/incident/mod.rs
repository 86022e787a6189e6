//! The nouns of the program, pure: what an incident, a fix, a precedent and a proposal are.
//!
//! Wanted: every other part speaks of the same things by the same names, and none of these types
//! can do IO, read a clock, or decide anything about what is shown.
//!
//! Deliberately absent: validated types. What may be shown is built in [`crate::validation`] only;
//! the plain [`proposal::Proposal`] here is what a model *said*.

pub mod alert;
pub mod approval;
pub mod change;
pub mod course;
pub mod engine;
pub mod failure_class;
pub mod fix;
pub mod id;
pub mod impact;
pub mod link;
pub mod locale;
pub mod ongoing;
pub mod past;
pub mod pattern;
pub mod post;
pub mod precedent;
pub mod proposal;
pub mod report;
pub mod returns;
pub mod rights;
pub mod sameness;
pub mod service;
pub mod severity;
pub mod times;
pub mod volatile;
pub mod words;

pub use course::{Course, PastEvent, Withdrawn};
pub use engine::{Engine, FallbackReason, Route, RouteReason, Tier};
pub use failure_class::FailureClass;
pub use fix::{FixAttempt, Outcome, Standing};
pub use id::IncidentId;
pub use impact::Impact;
pub use locale::Locale;
pub use ongoing::OngoingIncident;
pub use past::{FRAGMENT, PastIncident};
pub use pattern::{LearnedPattern, PatternId, Shared};
pub use precedent::{Grade, Memory, Recalled};
pub use report::Report;
pub use rights::{Deed, Right};
pub use service::{Names, Near, Owner, Registry, Service};
pub use severity::{Severity, Status};
pub use times::{Moment, Times};

//! Who answers: a model of a tier, or the rule-based engine with the reason why (R23, R25, R26).

use serde::{Deserialize, Serialize};

/// Which of the configured models is asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Tier {
    /// The main model.
    Fast,
    /// The stronger one, where one is configured.
    Capable,
}

/// The routing decision, stored before the model is called.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Route {
    /// The tier.
    pub tier: Tier,
    /// The score in hundredths (R26); `None` where a rule decided before any score (R25).
    pub score: Option<i32>,
    /// A rule decided before any score (R25, R27).
    pub escalated: bool,
    /// Why, as data; `present` says it in words.
    pub reasons: Vec<RouteReason>,
}

/// One reason of a route.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "reason", content = "detail")]
pub enum RouteReason {
    /// A high-risk area is implicated: the area and the words that name it.
    HighRisk {
        /// `authentication`, `payments`, `data deletion`, `secrets`, `ci workflows`, or the registry's.
        area: String,
        /// The word or path segment that was met.
        word: String,
    },
    /// SEV1 or SEV2.
    Severity(super::Severity),
    /// A refuted fix is in play: the incident where it failed (`None`: this one).
    RefutedFix(Option<super::IncidentId>),
    /// An attempt failed in this incident; the next analysis goes to a stronger tier (R27).
    AfterFailure(u32),
    /// The best direct memory and its term.
    BestMemory(i32),
    /// The log has over 200 lines: minus 10.
    LongLog(usize),
    /// Implicated files beyond the first: minus 5 each, at most 20.
    Files(usize),
}

/// Who answered.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "engine")]
pub enum Engine {
    /// A model.
    Model {
        /// Its name.
        model: String,
        /// Its tier.
        tier: Tier,
    },
    /// The rule-based engine.
    Fallback {
        /// Why no model answered.
        reason: FallbackReason,
    },
}

impl Engine {
    /// `model` or `fallback`.
    pub fn word(&self) -> &'static str {
        match self {
            Self::Model { .. } => "model",
            Self::Fallback { .. } => "fallback",
        }
    }
}

/// Why the rule-based engine answers, as data; `present` says it in words.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "why")]
pub enum FallbackReason {
    /// No key and no base URL is configured.
    NotConfigured,
    /// The model has not answered yet; these cards are provisional.
    StillWaiting,
    /// 429 per minute.
    RateLimited {
        /// Seconds until it may be asked again, where known.
        retry_after_seconds: Option<u64>,
    },
    /// 429 per day.
    DailyLimit {
        /// Seconds until it may be asked again, where known.
        retry_after_seconds: Option<u64>,
    },
    /// The request is larger than the provider takes.
    TooLarge,
    /// The provider is over capacity (498, 503, 5xx).
    Overloaded,
    /// The key is refused.
    BadKey,
    /// The model does not exist (any more).
    ModelGone,
    /// No answer in time.
    Timeout {
        /// How long it was waited for.
        seconds: u64,
    },
    /// No connection.
    Unreachable,
    /// An answer came that could not be read.
    Unreadable,
    /// An answer came that was cut off before it could be read.
    CutOff,
    /// Another refusal.
    Refused {
        /// HTTP status.
        status: u16,
    },
    /// The person's limit or the guild's budget of model calls is used up.
    Budget {
        /// Seconds until the model may be asked again.
        retry_after_seconds: u64,
    },
    /// After three failed attempts the model is not asked the same again (R27).
    AttemptsUsedUp,
    /// A part of what was reported could not be read safely, so nothing of it is sent (R22).
    Withheld,
}

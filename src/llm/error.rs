//! What can come of a question instead of an answer.
//!
//! The variants are the caller's choices: shrink the prompt, try another model, tell the operator,
//! say when to come back, or go on with the rules. `Display` is one plain sentence for people; it
//! is written here and never quotes the provider, whose messages carry organisation ids, billing
//! links and sometimes parts of the prompt.

use std::fmt;
use std::time::Duration;

/// Why a model gave no answer.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum LlmError {
    /// The limit per minute is reached and waiting it out would take too long.
    #[error("The model's rate limit is reached{}.", Again(*.retry_after, "; it takes calls again"))]
    RateLimited {
        /// From now on, as the provider gave it; `None` when it gave no time.
        retry_after: Option<Duration>,
    },
    /// The allowance of the day (or the account's credit) is used up. No call is made until then.
    #[error("The model's allowance is used up{}.", Again(*.retry_after, "; it is available again"))]
    DailyLimit {
        /// From now on; `None` when the provider gave no time.
        retry_after: Option<Duration>,
    },
    /// Prompt and answer together are more than the model takes at once: shrink, then ask again.
    #[error("The question is larger than the model takes at once{}.", Sizes(*.limit, *.requested))]
    TooLarge {
        /// Tokens that the provider takes, where it said so.
        limit: Option<u32>,
        /// Tokens that the question counted as (the reserved answer included), where it said so.
        requested: Option<u32>,
    },
    /// Over capacity, or failing on the provider's side, after retries: another model may do.
    #[error("The model is over capacity or failing on its side{}.", Again(*.retry_after, "; it asks to be tried again"))]
    Overloaded {
        /// From now on; `None` when the provider gave no time.
        retry_after: Option<Duration>,
    },
    /// The key is missing, wrong or revoked: the operator has to act.
    #[error("The model endpoint does not accept the API key.")]
    BadKey,
    /// The endpoint does not offer this model (any more): another model, and the operator.
    #[error("The model {model} is not offered by the endpoint.")]
    ModelGone {
        /// The model's name as configured.
        model: String,
    },
    /// No answer within the time for a call, or within the budget.
    #[error("The model gave no answer within {}.", Spoken(*.after))]
    Timeout {
        /// How long was waited for the last call.
        after: Duration,
    },
    /// No connection, or it broke, after retries.
    #[error("The model endpoint could not be reached.")]
    Unreachable,
    /// The model was reached and said nothing that could be read as an answer.
    #[error("The model gave no usable answer: {why}.")]
    Unreadable {
        /// What came instead.
        why: Unreadable,
    },
    /// The endpoint refused the call for a reason that is none of the above.
    #[error("The model endpoint refused the call (HTTP {status}).")]
    Refused {
        /// The HTTP status.
        status: u16,
    },
    /// The base URL is no http or https address: the operator has to act.
    #[error("The model's base URL is not an http or https address.")]
    BadAddress,
}

impl LlmError {
    /// A stable word for stored rows, metrics and tables of translated sentences.
    pub fn reason(&self) -> &'static str {
        match self {
            Self::RateLimited { .. } => "rate_limited",
            Self::DailyLimit { .. } => "daily_limit",
            Self::TooLarge { .. } => "too_large",
            Self::Overloaded { .. } => "overloaded",
            Self::BadKey => "bad_key",
            Self::ModelGone { .. } => "model_gone",
            Self::Timeout { .. } => "timeout",
            Self::Unreachable => "unreachable",
            Self::Unreadable { .. } => "unreadable",
            Self::Refused { .. } => "refused",
            Self::BadAddress => "bad_address",
        }
    }

    /// When the endpoint said that it can be asked again, from now on.
    pub fn retry_after(&self) -> Option<Duration> {
        match self {
            Self::RateLimited { retry_after }
            | Self::DailyLimit { retry_after }
            | Self::Overloaded { retry_after } => *retry_after,
            _ => None,
        }
    }
}

/// What came instead of an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Unreadable {
    /// Nothing at all.
    #[error("it was empty")]
    Empty,
    /// All tokens went into thinking, or ran out before a whole answer.
    #[error("its tokens ran out while it was thinking")]
    OutOfTokens,
    /// The model's inner channels without a final one.
    #[error("only its inner notes came out")]
    Markup,
    /// A call of a tool that was never offered.
    #[error("it called a tool instead of answering")]
    ToolCall,
    /// JSON was asked for and the provider could not get any from the model.
    #[error("it did not keep to the form that was asked for")]
    NotTheForm,
    /// The model or the provider's filter declined.
    #[error("it declined to answer")]
    Declined,
    /// The body is no chat completion (a proxy's page, for example).
    #[error("the endpoint did not send a chat completion")]
    NotACompletion,
    /// The body is larger than any answer.
    #[error("the endpoint sent far too much")]
    Oversized,
}

struct Again(Option<Duration>, &'static str);

impl fmt::Display for Again {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Some(wait) => write!(f, "{} in {}", self.1, Spoken(wait)),
            None => Ok(()),
        }
    }
}

struct Sizes(Option<u32>, Option<u32>);

impl fmt::Display for Sizes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.0, self.1) {
            (Some(limit), Some(requested)) => write!(f, " ({requested} tokens, limit {limit})"),
            (Some(limit), None) => write!(f, " (limit {limit} tokens)"),
            _ => Ok(()),
        }
    }
}

/// A duration in the largest unit that keeps its meaning, rounded up: nobody is told to come back
/// too early.
struct Spoken(Duration);

impl fmt::Display for Spoken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let seconds = self.0.as_millis().div_ceil(1000);
        if seconds <= 120 {
            return write!(f, "{seconds} s");
        }
        let minutes = seconds.div_ceil(60);
        if minutes < 120 {
            return write!(f, "{minutes} min");
        }
        match (minutes / 60, minutes % 60) {
            (hours, 0) => write!(f, "{hours} h"),
            (hours, minutes) => write!(f, "{hours} h {minutes} min"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_error_is_one_plain_sentence() {
        let seconds = Duration::from_secs;
        for (error, sentence) in [
            (
                LlmError::RateLimited {
                    retry_after: Some(Duration::from_millis(24_100)),
                },
                "The model's rate limit is reached; it takes calls again in 25 s.",
            ),
            (
                LlmError::DailyLimit {
                    retry_after: Some(Duration::from_millis(660_528)),
                },
                "The model's allowance is used up; it is available again in 12 min.",
            ),
            (
                LlmError::DailyLimit {
                    retry_after: Some(seconds(4 * 3600 + 43 * 60)),
                },
                "The model's allowance is used up; it is available again in 4 h 43 min.",
            ),
            (
                LlmError::DailyLimit { retry_after: None },
                "The model's allowance is used up.",
            ),
            (
                LlmError::TooLarge {
                    limit: Some(8000),
                    requested: Some(32979),
                },
                "The question is larger than the model takes at once (32979 tokens, limit 8000).",
            ),
            (
                LlmError::Timeout { after: seconds(60) },
                "The model gave no answer within 60 s.",
            ),
            (
                LlmError::Unreadable {
                    why: Unreadable::Markup,
                },
                "The model gave no usable answer: only its inner notes came out.",
            ),
            (
                LlmError::Refused { status: 418 },
                "The model endpoint refused the call (HTTP 418).",
            ),
        ] {
            assert_eq!(error.to_string(), sentence);
        }
    }
}

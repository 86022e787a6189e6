//! What can go wrong with Hindsight, by what the caller can do about it.

use std::time::Duration;
use thiserror::Error;

/// A failure. `Display` is one sentence for people; what the server itself says of its inside never
/// leaves this folder.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
pub enum HindsightError {
    /// The configured address is none.
    #[error("HINDSIGHT_URL is no address that begins with http:// or https://")]
    BadAddress,
    /// The key holds characters that no header carries, or the server does not take it.
    #[error("Hindsight does not accept HINDSIGHT_API_KEY")]
    BadKey,
    /// Nothing answers, or the connection is lost.
    #[error("Hindsight cannot be reached")]
    Unreachable,
    /// It does not answer in time.
    #[error("Hindsight did not answer within {} s", .after.as_secs_f64())]
    Timeout {
        /// How long was waited.
        after: Duration,
    },
    /// It failed a moment ago and is left alone for a while.
    #[error("Hindsight failed a moment ago and is not asked again yet")]
    Resting,
    /// The server fails inside: its database, its embeddings, its model.
    #[error("Hindsight answers with an error of its own (status {status})")]
    Failing {
        /// The HTTP status.
        status: u16,
    },
    /// It does not take what was sent; sent again it will not either.
    #[error("Hindsight does not take what was sent (status {status})")]
    Refused {
        /// The HTTP status.
        status: u16,
    },
    /// The guild has no bank there: nothing was retained, or the bank was deleted.
    #[error("Hindsight has no bank for this server")]
    NoBank,
    /// What it answered is not what its interface promises.
    #[error("Hindsight's answer cannot be read")]
    Unreadable,
}

impl HindsightError {
    /// The word for logs.
    pub fn reason(&self) -> &'static str {
        match self {
            Self::BadAddress => "bad_address",
            Self::BadKey => "bad_key",
            Self::Unreachable => "unreachable",
            Self::Timeout { .. } => "timeout",
            Self::Resting => "resting",
            Self::Failing { .. } => "failing",
            Self::Refused { .. } => "refused",
            Self::NoBank => "no_bank",
            Self::Unreadable => "unreadable",
        }
    }

    /// Whether it is about one request and not about the server: others may go through.
    pub fn is_of_the_request(&self) -> bool {
        matches!(self, Self::Refused { .. })
    }
}

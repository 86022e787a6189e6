//! Kinds of failure that the rule-based engine tells apart (R23).

use serde::{Deserialize, Serialize};

/// A kind of failure.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FailureClass {
    /// A change came before the trouble.
    Deploy,
    /// CPU, threads, connections or another pool is full.
    Saturation,
    /// A service that this one calls fails.
    Dependency,
    /// Somebody limits the rate: 429, quota.
    RateLimit,
    /// Disk or inodes are full, or slow.
    Disk,
    /// Memory: leaks, OOM kills, heap limits.
    Memory,
    /// A certificate or another credential has expired.
    Certificate,
    /// Names do not resolve.
    Dns,
    /// The database is slow, locked, or refuses.
    Database,
    /// A queue, stream or consumer lags.
    Queue,
    /// A setting, flag or permission is wrong.
    Configuration,
    /// Data is missing, wrong or corrupt.
    Data,
    /// The network loses or delays.
    Network,
    /// None of the above was recognised.
    #[default]
    Unknown,
}

impl FailureClass {
    /// Every class but `Unknown`.
    pub const KNOWN: [Self; 13] = [
        Self::Deploy,
        Self::Saturation,
        Self::Dependency,
        Self::RateLimit,
        Self::Disk,
        Self::Memory,
        Self::Certificate,
        Self::Dns,
        Self::Database,
        Self::Queue,
        Self::Configuration,
        Self::Data,
        Self::Network,
    ];
}

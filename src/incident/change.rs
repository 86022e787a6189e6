//! What was changed: merges, deploys and releases, as the channel of changes tells them.
//!
//! Wanted: a change is a fact with a time, never a cause. It names a service only where the registry
//! knows what the message names.

use serde::{Deserialize, Serialize};

/// Who told of a change.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ChangeSource {
    /// GitHub's webhook.
    GitHub,
    /// Argo CD's notifications.
    ArgoCd,
    /// GitLab's webhook.
    GitLab,
    /// A build server, or a deploy script.
    Ci,
}

/// What kind of change it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ChangeKind {
    /// Commits reached a branch.
    Push,
    /// A pull or merge request was merged.
    Merge,
    /// A version was published.
    Release,
    /// Something was brought to where it runs.
    Deploy,
    /// An earlier version was brought back.
    Rollback,
}

/// How far it went.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ChangeStage {
    /// It began.
    Started,
    /// It is done.
    Done,
    /// It failed, maybe half way.
    Failed,
}

/// A change that a message told of.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Change {
    /// Who told of it.
    pub source: ChangeSource,
    /// What kind it is.
    pub kind: ChangeKind,
    /// How far it went.
    pub stage: ChangeStage,
    /// The registered service, where the repository, application or title names exactly one.
    pub service: Option<String>,
    /// What the message calls the changed thing: a repository, application or project; may be
    /// empty. Raw text: whoever shows it escapes it.
    pub subject: String,
    /// What was done, in the message's own words, one line. Raw text.
    pub what: String,
    /// Who did it, as the message names them; shown, never mentioned. Raw text.
    pub by: Option<String>,
    /// The time that the message gives, else when it was posted; unix milliseconds.
    pub at_ms: i64,
    /// Where it can be read, as [`super::link::web_address`] gives it.
    pub link: Option<String>,
    /// Commit, tag or version. Raw text.
    pub revision: Option<String>,
    /// Branch or environment that it went to. Raw text.
    pub to: Option<String>,
}

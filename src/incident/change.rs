//! What was changed: merges, deploys and releases, as the channel of changes tells them.
//!
//! Wanted: a change is a fact with a time, never a cause. It names a service only where the registry
//! knows what the message names.

use jiff::Timestamp;
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

impl Change {
    /// In a line of plain words, with its time and zone, without who did it: `2026-11-30 02:40 UTC
    /// deploy done, payments-api, retry budget raised, v1.4.2, to prod`.
    pub fn in_words(&self) -> String {
        let at = Timestamp::from_millisecond(self.at_ms).unwrap_or_default();
        let kind = match self.kind {
            ChangeKind::Push => "push",
            ChangeKind::Merge => "merge",
            ChangeKind::Release => "release",
            ChangeKind::Deploy => "deploy",
            ChangeKind::Rollback => "rollback",
        };
        let stage = match self.stage {
            ChangeStage::Started => "started",
            ChangeStage::Done => "done",
            ChangeStage::Failed => "failed",
        };
        let mut parts = vec![format!(
            "{} {kind} {stage}",
            at.strftime("%Y-%m-%d %H:%M UTC")
        )];
        parts.push(self.subject.clone());
        parts.push(self.what.clone());
        parts.extend(self.revision.clone());
        parts.extend(self.to.as_ref().map(|to| format!("to {to}")));
        parts.retain(|part| !part.trim().is_empty());
        parts.join(", ")
    }
}

/// How long changes are kept.
pub const KEPT_MS: i64 = 7 * 24 * 3_600_000;
/// How far a report looks back.
pub const LATELY_MS: i64 = 6 * 3_600_000;
/// Changes that a report shows.
pub const MOST_SHOWN: usize = 10;

/// The changes to a service in the [`LATELY_MS`] before a time, oldest first, the latest
/// [`MOST_SHOWN`] of them. A start is left out once the same thing is told to be done or failed. No
/// more is said than that they came before: facts with times, never causes.
pub fn lately<'c>(changes: &'c [Change], service: &str, before_ms: i64) -> Vec<&'c Change> {
    let since = before_ms.saturating_sub(LATELY_MS);
    let mut found: Vec<&Change> = changes
        .iter()
        .filter(|change| change.service.as_deref() == Some(service))
        .filter(|change| (since..=before_ms).contains(&change.at_ms))
        .collect();
    found.sort_by_key(|change| change.at_ms);
    let same = |one: &Change, other: &Change| {
        one.kind == other.kind
            && one.subject == other.subject
            && one.to == other.to
            && (one.revision == other.revision || one.revision.is_none())
    };
    let all = found.clone();
    found.retain(|change| {
        change.stage != ChangeStage::Started
            || !all.iter().any(|other| {
                other.stage != ChangeStage::Started
                    && other.at_ms >= change.at_ms
                    && same(change, other)
            })
    });
    let extra = found.len().saturating_sub(MOST_SHOWN);
    found.drain(..extra);
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn change(what: &str, service: &str, stage: ChangeStage, minute: i64) -> Change {
        Change {
            source: ChangeSource::Ci,
            kind: ChangeKind::Deploy,
            stage,
            service: (!service.is_empty()).then(|| service.to_owned()),
            subject: service.to_owned(),
            what: what.to_owned(),
            by: None,
            at_ms: minute * 60_000,
            link: None,
            revision: Some("v2".to_owned()),
            to: None,
        }
    }

    #[test]
    fn what_changed_before_a_report() {
        use ChangeStage::{Done, Failed, Started};
        let changes = [
            change("after", "search", Done, 1_001),
            change("done", "search", Done, 990),
            change("begun and done", "search", Started, 985),
            change("too early", "search", Done, 639),
            change("just in time", "search", Failed, 640),
            change("of another", "billing", Done, 990),
            change("of none", "", Done, 990),
            change("begun", "search", Started, 995),
        ];
        let what: Vec<&str> = lately(&changes, "search", 1_000 * 60_000)
            .iter()
            .map(|change| change.what.as_str())
            .collect();
        assert_eq!(what, ["just in time", "done", "begun"]);
        let many: Vec<Change> = (0..40)
            .map(|minute| change("x", "search", Done, minute))
            .collect();
        let latest = lately(&many, "search", 60 * 60_000);
        assert_eq!(latest.len(), MOST_SHOWN);
        assert_eq!(latest[0].at_ms, 30 * 60_000);
        assert!(lately(&many, "", i64::MIN).is_empty());
    }
}

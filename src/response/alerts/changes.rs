//! What a message in a channel of changes says was changed.
//!
//! Wanted: merges, pushes to a branch that runs, releases, deploys and rollbacks of GitHub, GitLab,
//! Argo CD and build servers become facts with a time. What was only proposed, planned or built is
//! no change.

use super::named::{check, is_github, is_gitlab, is_main_branch, repository};
use super::{
    Part, bare, content_of, masked_links, one_line, parts, resolve, time_of, without_ornament,
};
use crate::incident::change::{Change, ChangeKind, ChangeSource, ChangeStage};
use crate::incident::link::web_address;
use crate::incident::post::{Post, Writer};
use crate::incident::service::{Names, Registry};
use crate::incident::words::fold;
use regex::Regex;
use std::sync::LazyLock;

/// Characters of what was done.
const LONGEST_WHAT: usize = 200;

/// Reads the changes of a message; none where it tells of none.
pub fn read(post: &Post, registry: &Registry) -> Vec<Change> {
    if !matches!(post.by, Writer::Bot | Writer::Webhook) {
        return Vec::new();
    }
    let mut changes: Vec<Change> = Vec::new();
    let names = registry.names();
    let mut parts = parts(post);
    if !post.embeds.is_empty() {
        // A box may be the preview of an address in the content.
        parts.push(content_of(post));
    }
    for part in parts {
        let draft = if is_github(post, &part) {
            github(&part)
        } else if is_gitlab(post, &part) {
            gitlab(&part)
        } else {
            argo_cd(&part).or_else(|| deploy(&part, &names))
        };
        if let Some(draft) = draft {
            let change = draft.finish(post, &part, &names);
            if !changes.contains(&change) {
                changes.push(change);
            }
        }
    }
    changes
}

struct Draft {
    source: ChangeSource,
    kind: ChangeKind,
    stage: ChangeStage,
    subject: String,
    what: String,
    by: Option<String>,
    revision: Option<String>,
    to: Option<String>,
    link: Option<String>,
}

impl Draft {
    fn new(source: ChangeSource, kind: ChangeKind, subject: &str, what: &str) -> Self {
        Self {
            source,
            kind,
            stage: ChangeStage::Done,
            subject: subject.to_owned(),
            what: what.to_owned(),
            by: None,
            revision: None,
            to: None,
            link: None,
        }
    }

    fn finish(self, post: &Post, part: &Part, names: &Names<'_>) -> Change {
        let field = |names: &[&str]| value_of(part, names);
        let subject = one_line(&self.subject, 100);
        let service = of_repository(names.registry(), &subject)
            .or_else(|| resolve(names, &subject))
            .or_else(|| {
                let named = field(&["service", "application", "app", "服务", "应用"])?;
                resolve(names, &named)
            })
            .or_else(|| names.named_in(&self.what))
            .map(str::to_owned);
        let said_time = field(&["time", "finished at", "synced at", "时间"]);
        let short = |text: Option<String>, most| {
            text.map(|text| one_line(&text, most))
                .filter(|text| !text.is_empty())
        };
        Change {
            source: self.source,
            kind: self.kind,
            stage: self.stage,
            service,
            subject,
            what: one_line(&self.what, LONGEST_WHAT),
            by: short(
                self.by.or_else(|| {
                    field(&["author", "user", "by", "triggered by", "操作人", "发布人"])
                }),
                80,
            ),
            at_ms: said_time
                .as_deref()
                .and_then(time_of)
                .or(part.at_ms)
                .unwrap_or(post.at_ms),
            link: self
                .link
                .as_deref()
                .and_then(web_address)
                .or_else(|| web_address(&part.url)),
            revision: short(
                self.revision
                    .or_else(|| field(&["revision", "commit", "version", "tag", "版本"])),
                60,
            ),
            to: short(
                self.to
                    .or_else(|| field(&["environment", "env", "destination", "branch", "环境"])),
                60,
            ),
        }
    }
}

/// The value of the first field, or line `name: value`, by one of these names.
fn value_of(part: &Part, names: &[&str]) -> Option<String> {
    let is = |name: &str| {
        let folded = fold(&bare(name));
        names.contains(&folded.trim_matches(|c: char| !c.is_alphanumeric()))
    };
    let fields = part
        .fields
        .iter()
        .map(|(name, value)| (name.as_str(), value.as_str()));
    let lines = part
        .body
        .iter()
        .filter_map(|line| line.split_once([':', '：']));
    fields
        .chain(lines)
        .find(|(name, value)| is(name) && !value.trim().is_empty())
        .map(|(_, value)| bare(value))
}

/// The service whose code lives in a repository, where exactly one does.
fn of_repository<'r>(registry: &'r Registry, repository: &str) -> Option<&'r str> {
    let path = |text: &str| {
        let folded = fold(text.trim().trim_end_matches('/').trim_end_matches(".git"));
        let mut parts: Vec<String> = folded.rsplit('/').take(2).map(str::to_owned).collect();
        parts.reverse();
        (parts.len() == 2).then(|| parts.join("/"))
    };
    let wanted = path(&repository.replace(" / ", "/"))?;
    let mut all = registry
        .services
        .iter()
        .filter(|service| path(&service.repository).as_deref() == Some(wanted.as_str()));
    let first = all.next()?;
    all.next().is_none().then_some(first.name.as_str())
}

fn github(part: &Part) -> Option<Draft> {
    let (repository, branch, rest) = repository(&part.head)?;
    let folded = fold(&rest);
    let author = (!part.author.is_empty()).then(|| part.author.clone());
    let mut draft = Draft::new(ChangeSource::GitHub, ChangeKind::Push, &repository, &rest);
    draft.by = author;
    if folded.ends_with(" new commit") || folded.ends_with(" new commits") {
        draft.to = Some(branch.filter(|branch| is_main_branch(branch))?);
        // The newest commit stands last.
        if let Some(line) = part.body.iter().rev().find(|line| line.contains("](")) {
            let (words, address) = masked_links(line).into_iter().next()?;
            draft.revision = Some(bare(words));
            draft.link = Some(address.to_owned());
            let message = bare(line);
            let message = message
                .strip_prefix(&bare(words))
                .unwrap_or(&message)
                .trim();
            let message = message
                .rsplit_once(" - ")
                .map_or(message, |(message, _)| message);
            draft.what = format!("{rest}: {message}");
        }
        return Some(draft);
    }
    if folded.starts_with("branch ") && folded.contains(" was force-pushed to ") {
        let branch = rest.split_whitespace().nth(1)?.to_owned();
        draft.to = Some(branch).filter(|branch| is_main_branch(branch));
        draft.revision = rest.split_whitespace().next_back().map(bare);
        return draft.to.is_some().then_some(draft);
    }
    if folded.starts_with("pull request merged") {
        draft.kind = ChangeKind::Merge;
        draft.what = rest
            .split_once(": ")
            .map_or(rest.clone(), |(_, what)| what.to_owned());
        return Some(draft);
    }
    for begin in ["new release published: ", "release published: "] {
        if let Some(tag) = folded.strip_prefix(begin) {
            draft.kind = ChangeKind::Release;
            let tag: String = rest
                .chars()
                .skip(folded.chars().count() - tag.chars().count())
                .collect();
            draft.revision = tag.split_whitespace().next().map(str::to_owned);
            return Some(draft);
        }
    }
    if let Some((name, on, Some(well))) = check(&rest) {
        let folded = fold(&name);
        let kind = if folded.contains("rollback") {
            ChangeKind::Rollback
        } else if ["deploy", "release", "rollout", "部署", "发布"]
            .iter()
            .any(|w| folded.contains(w))
        {
            ChangeKind::Deploy
        } else {
            return None;
        };
        draft.kind = kind;
        draft.stage = if well {
            ChangeStage::Done
        } else {
            ChangeStage::Failed
        };
        draft.to = environment(&name).or(branch).or(on);
        return Some(draft);
    }
    if folded.starts_with("deploy") {
        draft.kind = ChangeKind::Deploy;
        draft.stage = stage(&folded)?;
        draft.to = environment(&rest);
        return Some(draft);
    }
    None
}

fn gitlab(part: &Part) -> Option<Draft> {
    let lines = std::iter::once(&part.head).chain(&part.body);
    for raw in lines.take(12) {
        let line = bare(raw);
        let line = without_ornament(&line);
        let link = masked_links(raw)
            .first()
            .map(|(_, address)| (*address).to_owned());
        if let Some((by, rest)) = line.split_once(" pushed to branch ") {
            let (branch, project) = rest.split_once(" of ")?;
            if !is_main_branch(branch.trim()) {
                return None;
            }
            let project = project.split(" (").next().unwrap_or(project);
            let mut draft = Draft::new(ChangeSource::GitLab, ChangeKind::Push, project, line);
            draft.by = Some(by.to_owned());
            draft.to = Some(branch.trim().to_owned());
            draft.link = link;
            return Some(draft);
        }
        if let Some((by, rest)) = line.split_once(" merged merge request ") {
            let (what, project) = rest.rsplit_once(" in ").unwrap_or((rest, ""));
            let mut draft = Draft::new(ChangeSource::GitLab, ChangeKind::Merge, project, what);
            draft.by = Some(by.to_owned());
            draft.link = link;
            return Some(draft);
        }
        let folded = fold(line);
        if folded.starts_with("deploy to ") || folded.starts_with("starting deploy to ") {
            let project = value_of(part, &["project", "项目"]).unwrap_or_default();
            let mut draft = Draft::new(ChangeSource::GitLab, ChangeKind::Deploy, &project, line);
            draft.stage = stage(&folded)?;
            draft.to = environment(line);
            draft.link = link;
            return Some(draft);
        }
    }
    None
}

/// `Application NAME has been successfully synced at TIME` and kin.
fn argo_cd(part: &Part) -> Option<Draft> {
    let lines = std::iter::once(&part.head).chain(&part.body);
    for line in lines.take(6) {
        let line = bare(line);
        let line = without_ornament(&line);
        let folded = fold(line);
        let says = [
            ("successfully synced", ChangeStage::Done),
            ("has been synced", ChangeStage::Done),
            ("is now running new version", ChangeStage::Done),
            ("sync operation", ChangeStage::Failed),
            ("sync is 'failed'", ChangeStage::Failed),
            ("sync has failed", ChangeStage::Failed),
            ("has started syncing", ChangeStage::Started),
            ("started a sync", ChangeStage::Started),
        ];
        let Some((_, told)) = says.iter().find(|(words, _)| folded.contains(words)) else {
            continue;
        };
        let mut stage = *told;
        if folded.contains("sync operation") {
            stage = if folded.contains("failed") {
                ChangeStage::Failed
            } else if folded.contains("succeeded") {
                ChangeStage::Done
            } else {
                ChangeStage::Started
            };
        }
        let mut words = line.split_whitespace();
        words.find(|word| fold(word) == "application")?;
        let app = words.next()?.trim_matches(|c: char| !c.is_alphanumeric());
        let mut draft = Draft::new(ChangeSource::ArgoCd, ChangeKind::Deploy, app, line);
        draft.stage = stage;
        return Some(draft);
    }
    None
}

/// What a build server or script says of a deploy: in its first line stand a verb and how it ended,
/// and a registered service, a version, or an environment.
fn deploy(part: &Part, names: &Names<'_>) -> Option<Draft> {
    let head = bare(&part.head);
    let head = without_ornament(&head);
    let folded = fold(head);
    let planned = [
        "freeze",
        "reminder",
        "scheduled",
        "will be",
        "planned",
        "window",
        "please",
        "waiting for",
        "approval",
        "ready to",
        "计划",
        "即将",
        "冻结",
        "待审批",
        "提醒",
    ];
    if planned.iter().any(|word| folded.contains(word)) {
        return None;
    }
    let has = |words: &[&str]| words.iter().any(|word| folded.contains(word));
    let kind = if has(&["rolled back", "rollback", "roll back", "回滚"]) {
        ChangeKind::Rollback
    } else if has(&["deploy", "rolled out", "rollout", "部署", "上线"]) {
        ChangeKind::Deploy
    } else if has(&["released", "release ", "发布"]) {
        ChangeKind::Release
    } else {
        return None;
    };
    let status = value_of(part, &["status", "result", "状态", "结果"]).map(|text| fold(&text));
    let stage = status
        .as_deref()
        .and_then(stage)
        .or_else(|| stage(&folded))?;
    let service = names.named_in(head).map(str::to_owned).or_else(|| {
        let named = value_of(
            part,
            &["service", "application", "app", "project", "服务", "应用"],
        )?;
        Some(resolve(names, &named).map_or(named, str::to_owned))
    });
    let version = version(head);
    let to = environment(head);
    if service.is_none() && version.is_none() && to.is_none() {
        return None;
    }
    let mut draft = Draft::new(ChangeSource::Ci, kind, &service.unwrap_or_default(), head);
    draft.stage = stage;
    draft.revision = version;
    draft.to = to;
    draft.by = head
        .rsplit_once(" by ")
        .map(|(_, by)| {
            by.split([' ', ',', '('])
                .next()
                .unwrap_or_default()
                .to_owned()
        })
        .filter(|by| !by.is_empty());
    draft.link = part.body.iter().find_map(|line| {
        masked_links(line)
            .first()
            .map(|(_, address)| (*address).to_owned())
    });
    Some(draft)
}

/// How far a deploy went, by its words; the worst that is said wins.
fn stage(folded: &str) -> Option<ChangeStage> {
    let has = |words: &[&str]| words.iter().any(|word| folded.contains(word));
    if has(&["fail", "error", "aborted", "cancel", "失败", "中止"]) {
        return Some(ChangeStage::Failed);
    }
    if has(&[
        "starting",
        "started",
        "deploying",
        "in progress",
        "rolling out",
        "开始",
        "正在",
        "部署中",
    ]) {
        return Some(ChangeStage::Started);
    }
    has(&[
        "succe",
        "deployed",
        "rolled",
        "released",
        "finished",
        "complete",
        "done",
        "passed",
        "成功",
        "完成",
        "已部署",
        "已发布",
        "已上线",
        "已回滚",
    ])
    .then_some(ChangeStage::Done)
}

/// The environment that a line names.
fn environment(line: &str) -> Option<String> {
    const HAN: &[(&str, &str)] = &[
        ("生产", "prod"),
        ("线上", "prod"),
        ("预发", "staging"),
        ("测试环境", "test"),
    ];
    let folded = fold(line);
    let known = |word: &&str| {
        let word = word.trim_matches(|c: char| !c.is_alphanumeric());
        crate::incident::service::ENVIRONMENTS
            .iter()
            .any(|name| *name == word && word != "live" && word != "test")
    };
    folded
        .split_whitespace()
        .find(known)
        .map(|word| word.trim_matches(|c: char| !c.is_alphanumeric()).to_owned())
        .or_else(|| {
            let mut han = HAN.iter();
            han.find(|(said, _)| folded.contains(said))
                .map(|(_, name)| (*name).to_owned())
        })
}

/// A version or commit that a line names.
fn version(line: &str) -> Option<String> {
    static VERSION: LazyLock<Option<Regex>> = LazyLock::new(|| {
        Regex::new(
            r"(?-u:\b)(v?[0-9]+\.[0-9]+(?:\.[0-9]+)?(?:[-+][0-9A-Za-z.-]*[0-9A-Za-z])?|v[0-9]+|[0-9a-f]{7,40})(?-u:\b)",
        )
        .ok()
    });
    VERSION
        .as_ref()?
        .captures_iter(line)
        .filter_map(|found| found.get(1))
        .map(|found| found.as_str())
        .find(|word| word.bytes().any(|b| b.is_ascii_digit()))
        .map(str::to_owned)
}

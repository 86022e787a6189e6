//! Sources whose messages have a form of their own, one function a source.

use super::{
    Draft, Found, Pair, Part, bare, group, masked_links, one_line, pair, split_pair,
    without_ornament,
};
use crate::incident::alert::{AlertSource, AlertStatus, LinkTo, Purpose};
use crate::incident::post::Post;
use crate::incident::words::fold;

use AlertStatus::{Firing, Resolved};

/// Reads a part of a message by the source that it is from.
pub(super) fn read(post: &Post, part: &Part) -> Option<Found> {
    uptime_kuma(part)
        .or_else(|| uptime_robot(post, part))
        .or_else(|| datadog(post, part))
        .or_else(|| pager_duty(post, part))
        .or_else(|| github(post, part))
        .or_else(|| sentry(post, part))
}

/// Whether author, footer or the title's address say that it is from there.
fn is_from(post: &Post, part: &Part, word: &str) -> bool {
    let of_host = |address: &str| {
        let rest = address.split_once("://").map_or("", |(_, rest)| rest);
        let host = rest.split(['/', '?', '#']).next().unwrap_or_default();
        fold(host).contains(word)
    };
    let says = |text: &str| fold(text).replace(' ', "").contains(word);
    says(&post.author) || says(&part.author) || says(&part.footer) || of_host(&part.url)
}

/// `Your service NAME went down.` and `Your service NAME is up!`, with fields; or the general form
/// `[NAME] [🔴 Down] reason`.
fn uptime_kuma(part: &Part) -> Option<Found> {
    let head = bare(&part.head);
    let head = without_ornament(&head);
    let (name, status, rest) = match head.strip_prefix("Your service ") {
        Some(rest) => {
            let rest = rest.trim_end_matches(['.', '!', ' ']);
            let ends = [
                (" went down", Firing),
                (" is down", Firing),
                (" is up", Resolved),
            ];
            let (name, status) = ends
                .iter()
                .find_map(|(end, status)| Some((rest.strip_suffix(end)?, *status)))?;
            (name, status, "")
        }
        None => {
            let (name, rest) = head.strip_prefix('[')?.split_once("] [")?;
            let (state, rest) = rest.split_once(']')?;
            let state = fold(without_ornament(state));
            let status = match state.trim() {
                "down" => Firing,
                "up" => Resolved,
                _ => return None,
            };
            (name, status, rest.trim())
        }
    };
    let mut draft = Draft::new(AlertSource::UptimeKuma, status, name);
    draft.heading = name.to_owned();
    draft.take(&part.pairs());
    if let Some(name) = draft.labels.get("service") {
        draft.name.clone_from(name);
    } else {
        draft.labels.insert("service".to_owned(), name.to_owned());
    }
    if draft.summary.is_empty() {
        draft.summary = rest.to_owned();
    }
    if let Some(url) = draft.labels.get("url").cloned() {
        draft.link(LinkTo::Source, &url);
    }
    Some(Found::one(draft))
}

/// `Monitor is DOWN: NAME (address) - Reason: WHY`.
fn uptime_robot(post: &Post, part: &Part) -> Option<Found> {
    let head = bare(&part.head);
    let head = without_ornament(&head);
    let begins = [
        ("monitor is down", Firing),
        ("monitor down", Firing),
        ("monitor is up", Resolved),
        ("monitor up", Resolved),
        ("监控宕机", Firing),
        ("监控恢复", Resolved),
    ];
    let folded = fold(head);
    let begin = begins.iter().find(|(begin, _)| folded.starts_with(begin));
    let (name, status) = match begin {
        Some((begin, status)) => {
            let rest: String = head.chars().skip(begin.chars().count()).collect();
            let rest = rest.trim_start_matches([':', '：', ' ']).to_owned();
            (rest, *status)
        }
        None if is_from(post, part, "uptimerobot") => {
            let ends = [
                (" is down", Firing),
                (" went down", Firing),
                (" is up", Resolved),
                (" is back up", Resolved),
            ];
            let folded = folded.trim_end_matches(['.', '!']);
            let (end, status) = ends.iter().find(|(end, _)| folded.ends_with(end))?;
            let keep = folded.chars().count().saturating_sub(end.chars().count());
            (head.chars().take(keep).collect(), *status)
        }
        None => return None,
    };
    let (name, reason) = match name.split_once(" - ") {
        Some((name, reason)) => (name.to_owned(), reason.to_owned()),
        None => (name, String::new()),
    };
    let (name, address) = match name.split_once(" (") {
        Some((name, address)) => (name, address.trim_end_matches([')', '.', ' '])),
        None => (name.as_str(), ""),
    };
    if name.trim().is_empty() {
        return None;
    }
    let mut draft = Draft::new(AlertSource::UptimeRobot, status, name.trim());
    draft.heading = name.to_owned();
    draft.labels.insert("monitor".to_owned(), name.to_owned());
    if !address.is_empty() {
        draft.labels.insert("url".to_owned(), address.to_owned());
        draft.link(LinkTo::Source, address);
    }
    draft.take(&part.pairs());
    if draft.summary.is_empty() {
        draft.summary = split_pair(&reason)
            .map_or(reason.as_str(), |(_, why)| why)
            .trim()
            .to_owned();
    }
    draft.link(LinkTo::Source, &part.url);
    Some(Found::one(draft))
}

/// `[P1] [Triggered on {host:a,service:b}] NAME`, with tags below.
fn datadog(post: &Post, part: &Part) -> Option<Found> {
    let head = bare(&part.head);
    let mut rest = without_ornament(&head);
    let mut level = None;
    let mut purpose = Purpose::Fault;
    let mut state: Option<(String, String)> = None;
    while let Some((inside, after)) = rest.strip_prefix('[').and_then(|rest| rest.split_once(']')) {
        let (word, tags) = match inside.split_once(" on {") {
            Some((word, tags)) => (word, tags.trim_end_matches('}')),
            None => (inside, ""),
        };
        let folded = fold(word.trim());
        match folded.as_str() {
            "test" => purpose = Purpose::Test,
            "p1" | "p2" | "p3" | "p4" | "p5" => level = Some(word.trim().to_owned()),
            "monitor alert" => {}
            _ if state.is_none() => state = Some((folded, tags.to_owned())),
            // A name may begin with a bracket of its own.
            _ => break,
        }
        rest = after.trim_start();
    }
    if state.is_none()
        && let Some((word, name)) = rest.split_once(": ")
        && datadog_status(&fold(word)).is_some()
    {
        state = Some((fold(word), String::new()));
        rest = name.trim_start();
    }
    let (word, tags) = state?;
    let status = datadog_status(&word)?;
    let own_words = matches!(
        word.trim_start_matches("re-"),
        "triggered" | "recovered" | "renotify"
    ) || !tags.is_empty();
    let from =
        is_from(post, part, "datadog") || part.body.iter().any(|line| line.contains("datadoghq."));
    if (!own_words && !from) || is_from(post, part, "pagerduty") || rest.is_empty() {
        return None;
    }
    let mut draft = Draft::new(AlertSource::Datadog, status, rest);
    draft.purpose = purpose;
    draft.heading = rest.to_owned();
    draft.level = level;
    if draft.level.is_none() && word.contains("warn") {
        draft.level = Some("warning".to_owned());
    }
    for tag in tags.split(',') {
        if let Some((name, value)) = tag.trim().split_once(':') {
            draft
                .labels
                .insert(name.trim().to_owned(), value.trim().to_owned());
        }
    }
    for (name, value) in &part.fields {
        if fold(name).trim() == "tags" {
            take_tags(&mut draft, value);
        }
    }
    let mut body = Vec::new();
    for line in &part.body {
        let line = line.trim();
        let folded = fold(&bare(line));
        if let Some(tags) = folded.strip_prefix("tags:") {
            take_tags(&mut draft, tags);
            continue;
        }
        for (words, address) in masked_links(line) {
            let to = match fold(words).as_str() {
                words if words.contains("dashboard") => LinkTo::Dashboard,
                words if words.contains("runbook") => LinkTo::Runbook,
                // Nobody edits a monitor while it is on fire.
                words if words.contains("edit") => continue,
                _ => LinkTo::Source,
            };
            draft.link(to, address);
        }
        let told = line
            .split_whitespace()
            .skip_while(|word| word.starts_with('@'))
            .collect::<Vec<_>>()
            .join(" ");
        if told != "%%%" && !told.starts_with('[') {
            body.push(told);
        }
    }
    draft.take(&part.pairs());
    if draft.summary.is_empty() {
        draft.summary = group::prose(&body);
    }
    draft.link(LinkTo::Source, &part.url);
    Some(Found::one(draft))
}

fn datadog_status(word: &str) -> Option<AlertStatus> {
    let word = word.trim();
    let word = word.strip_prefix("re-").unwrap_or(word);
    match word {
        "triggered" | "retriggered" | "alert" | "warn" | "warning" | "no data" | "renotify" => {
            Some(Firing)
        }
        "recovered" | "resolved" | "ok" => Some(Resolved),
        _ => None,
    }
}

/// Of the many tags of a host those that say where.
fn take_tags(draft: &mut Draft, tags: &str) {
    const TELLING: &[&str] = &[
        "service",
        "env",
        "region",
        "cluster",
        "cluster_name",
        "kube_namespace",
        "kube_deployment",
        "kube_cluster_name",
        "host",
        "pod_name",
        "queue",
        "topic",
    ];
    for tag in tags.split([',', ' ']) {
        let Some((name, value)) = tag.trim().trim_matches('`').split_once(':') else {
            continue;
        };
        let name = match name.trim() {
            "kube_deployment" => "deployment",
            "kube_namespace" => "namespace",
            "kube_cluster_name" | "cluster_name" => "cluster",
            name => name,
        };
        if (TELLING.contains(&name) || matches!(name, "deployment" | "namespace"))
            && !value.is_empty()
        {
            let labels = &mut draft.labels;
            labels
                .entry(name.to_owned())
                .or_insert_with(|| value.trim().to_owned());
        }
    }
}

/// What happened to an incident of PagerDuty.
enum Happened {
    Is(AlertStatus),
    Noted,
}

fn happened(word: &str) -> Option<Happened> {
    let folded = fold(&bare(word));
    let word = folded.trim_matches(|c: char| !c.is_alphanumeric());
    match word.strip_prefix("incident.").unwrap_or(word) {
        "triggered" | "trigger" | "reopened" | "已触发" => Some(Happened::Is(Firing)),
        "resolved" | "resolve" | "已解决" => Some(Happened::Is(Resolved)),
        "acknowledged" | "unacknowledged" | "escalated" | "reassigned" | "annotated"
        | "delegated" | "priority_updated" | "已确认" => Some(Happened::Noted),
        _ => None,
    }
}

/// `Triggered: [#123] NAME`, `[#123] NAME` with a field *Status*, and so on.
fn pager_duty(post: &Post, part: &Part) -> Option<Found> {
    if !is_from(post, part, "pagerduty") {
        return None;
    }
    let head = bare(&part.head);
    let is_number = |word: &str| {
        let word = word.trim_matches(|c: char| !c.is_alphanumeric() && c != '#');
        word.strip_prefix('#')
            .is_some_and(|rest| !rest.is_empty() && rest.bytes().all(|b| b.is_ascii_digit()))
    };
    // Number and state stand before the title, in either order.
    let mut state = None;
    let mut title: Vec<&str> = Vec::new();
    for word in without_ornament(&head).split_whitespace() {
        let leads = title.is_empty();
        let folded = fold(word.trim_matches(|c: char| !c.is_alphanumeric()));
        if leads && (is_number(word) || matches!(folded.as_str(), "incident" | "pagerduty" | "")) {
            continue;
        }
        if leads
            && state.is_none()
            && let Some(is) = happened(word)
        {
            state = Some(is);
            continue;
        }
        title.push(word);
    }
    let said = part
        .fields
        .iter()
        .find(|(name, _)| Pair::of(name) == Some(Pair::Status));
    let line = || {
        part.body.iter().find_map(|line| match pair(line) {
            Some((Pair::Status, value)) => happened(&value),
            Some(_) => None,
            None => line.split_whitespace().next().and_then(happened),
        })
    };
    let state = said
        .and_then(|(_, value)| happened(value))
        .or(state)
        .or_else(line)?;
    let status = match state {
        Happened::Is(status) => status,
        Happened::Noted => return Some(Found::About(AlertSource::PagerDuty)),
    };
    let name = title.join(" ");
    if name.is_empty() {
        return None;
    }
    let mut draft = Draft::new(AlertSource::PagerDuty, status, &name);
    draft.heading.clone_from(&name);
    let priority = part
        .fields
        .iter()
        .find(|(name, value)| fold(name).trim() == "priority" && !value.trim().is_empty());
    draft.level = priority.map(|(_, value)| bare(value));
    draft.take(&part.pairs());
    if draft.summary.is_empty() {
        draft.summary = group::prose(&part.body);
    }
    draft.link(LinkTo::Source, &part.url);
    Some(Found::one(draft))
}

/// An issue by its title, or `Critical: NAME`, `Resolved: NAME` for a rule on a metric.
fn sentry(post: &Post, part: &Part) -> Option<Found> {
    if !is_from(post, part, "sentry") {
        return None;
    }
    let head = bare(&part.head);
    let head = without_ornament(&head);
    if head.is_empty() {
        return None;
    }
    let first = post.content.lines().next().map(bare).unwrap_or_default();
    let first = fold(without_ornament(&first));
    let (mut status, mut name, mut level) = (Firing, head, None);
    if let Some((word, rest)) = head.split_once(": ") {
        match fold(word).as_str() {
            "critical" | "warning" => {
                level = Some(fold(word));
                name = rest.trim();
            }
            "resolved" => {
                status = Resolved;
                name = rest.trim();
            }
            _ => {}
        }
    }
    let noted = ["assigned", "archived", "ignored", "commented"];
    if noted
        .iter()
        .any(|word| first.split_whitespace().take(6).any(|other| other == *word))
    {
        return Some(Found::About(AlertSource::Sentry));
    }
    if (first.contains("marked") && first.contains("as resolved"))
        || first.starts_with("resolved")
        || first.starts_with("issue resolved")
        || first.contains("标记为已解决")
    {
        status = Resolved;
    }
    let mut draft = Draft::new(AlertSource::Sentry, status, name);
    draft.heading = head.to_owned();
    draft.level = level;
    // `PAYMENTS-API-3F via Rule`: the project and the number of the issue in it.
    let issue = part
        .footer
        .split_once(" via ")
        .map_or(part.footer.as_str(), |(issue, _)| issue);
    if let Some((project, number)) = issue.trim().rsplit_once('-')
        && !issue.contains(char::is_whitespace)
        && number.chars().count() <= 5
    {
        draft.labels.insert("project".to_owned(), fold(project));
    }
    draft.take(&part.pairs());
    if draft.summary.is_empty() {
        draft.summary = group::prose(&part.body);
    }
    draft.link(LinkTo::Source, &part.url);
    Some(Found::one(draft))
}

/// `[owner/repository:branch] words` in front of a line.
pub(super) fn repository(head: &str) -> Option<(String, Option<String>, String)> {
    let head = bare(head);
    let (place, rest) = without_ornament(&head).strip_prefix('[')?.split_once(']')?;
    let (repository, branch) = match place.split_once(':') {
        Some((repository, branch)) => (repository, Some(branch.trim().to_owned())),
        None => (place, None),
    };
    let repository = repository.trim();
    let plain = !repository.is_empty()
        && repository
            .chars()
            .all(|c| c.is_alphanumeric() || matches!(c, '-' | '_' | '.' | '/'));
    plain.then(|| (repository.to_owned(), branch, rest.trim().to_owned()))
}

/// Whether what reaches this branch is meant to run.
pub(super) fn is_main_branch(branch: &str) -> bool {
    let folded = fold(branch);
    matches!(
        folded.as_str(),
        "main" | "master" | "trunk" | "prod" | "production" | "stable" | "release" | "live"
    ) || folded.starts_with("release/")
        || folded.starts_with("release-")
}

/// A finished check or workflow: its name, the branch, and whether it is well. `None` for the third
/// where it was cancelled or skipped.
pub(super) fn check(rest: &str) -> Option<(String, Option<String>, Option<bool>)> {
    // What people write about may have failed too; that is no check.
    const WRITTEN: &[&str] = &[
        "issue",
        "pull request",
        "new comment",
        "comment",
        "discussion",
        "new discussion",
        "new review",
        "review",
        "commit comment",
        "new release",
        "wiki",
    ];
    let start = fold(rest);
    if WRITTEN.iter().any(|word| {
        let after = start.strip_prefix(word);
        after.is_some_and(|after| after.starts_with([' ', ':']))
    }) {
        return None;
    }
    let (rest, branch) = match rest.rsplit_once(" on ") {
        Some((rest, branch)) if !branch.trim().contains(char::is_whitespace) => (
            rest.trim(),
            Some(branch.trim().trim_matches('`').to_owned()),
        ),
        _ => (rest.trim(), None),
    };
    let ends: &[(&str, Option<bool>)] = &[
        ("completed successfully", Some(true)),
        ("timed out", Some(false)),
        ("succeeded", Some(true)),
        ("success", Some(true)),
        ("passed", Some(true)),
        ("fixed", Some(true)),
        ("failed", Some(false)),
        ("failure", Some(false)),
        ("failing", Some(false)),
        ("errored", Some(false)),
        ("cancelled", None),
        ("canceled", None),
        ("skipped", None),
    ];
    let folded = fold(rest);
    let by_end = ends.iter().find(|(end, _)| {
        folded
            .strip_suffix(end)
            .is_some_and(|before| before.ends_with([' ', ':', '-']))
    });
    if let Some((end, well)) = by_end {
        let keep = rest.chars().count().saturating_sub(end.chars().count());
        let name: String = rest.chars().take(keep).collect();
        let mut name = name.trim_end_matches([' ', ':', '-']);
        for word in [" workflow run", " workflow", " run", " checks", " check"] {
            name = name.strip_suffix(word).unwrap_or(name);
        }
        return (!name.is_empty()).then(|| (name.to_owned(), branch, *well));
    }
    // `Workflow run failed: NAME`.
    let (lead, name) = rest.split_once(": ")?;
    let lead = fold(lead);
    let (_, well) = ends
        .iter()
        .find(|(end, _)| lead.ends_with(&format!(" {end}")))?;
    let of_a_check = ["check", "workflow", "build", "job", "run"];
    (of_a_check.iter().any(|word| lead.contains(word)) && !name.trim().is_empty())
        .then(|| (name.trim().to_owned(), branch, *well))
}

/// Whether it is from GitHub, whatever it says.
pub(super) fn is_github(post: &Post, part: &Part) -> bool {
    is_from(post, part, "github")
}

/// Whether it is from GitLab.
pub(super) fn is_gitlab(post: &Post, part: &Part) -> bool {
    is_from(post, part, "gitlab")
}

/// Checks and workflows that ended, and security alerts.
fn github(post: &Post, part: &Part) -> Option<Found> {
    if !is_github(post, part) {
        return None;
    }
    let (repository, branch, rest) = repository(&part.head)?;
    let folded = fold(&rest);
    let kinds = [
        "dependabot alert",
        "code scanning alert",
        "secret scanning alert",
    ];
    let mut draft = if let Some(kind) = kinds.iter().find(|kind| folded.starts_with(**kind)) {
        let (lead, name) = folded.split_once(':')?;
        let status = match lead.strip_prefix(kind).unwrap_or_default().trim() {
            "opened" | "created" | "reopened" | "appeared in branch" | "reintroduced" => Firing,
            "fixed" | "closed" | "dismissed" | "resolved" | "auto-dismissed" => Resolved,
            _ => return Some(Found::About(AlertSource::GitHub)),
        };
        let name = name
            .trim()
            .trim_start_matches(|c: char| c == '#' || c.is_ascii_digit());
        Draft::new(
            AlertSource::GitHub,
            status,
            &format!("{kind}: {}", name.trim()),
        )
    } else {
        let (name, of_check, well) = check(&rest)?;
        let Some(well) = well else {
            return Some(Found::About(AlertSource::GitHub));
        };
        let mut draft = Draft::new(
            AlertSource::GitHub,
            if well { Resolved } else { Firing },
            &name,
        );
        if let Some(branch) = branch.or(of_check) {
            // What breaks beside the main branch hurts nobody yet.
            if !is_main_branch(&branch) {
                draft.level = Some("info".to_owned());
            }
            draft.labels.insert("branch".to_owned(), branch);
        }
        draft
    };
    draft
        .labels
        .insert("repository".to_owned(), repository.clone());
    draft.heading = repository;
    draft.take(&part.pairs());
    if draft.summary.is_empty() {
        draft.summary = one_line(&rest, 200);
    }
    draft.link(LinkTo::Source, &part.url);
    Some(Found::one(draft))
}

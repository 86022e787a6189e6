//! One incident, one thread (R32): a report of what runs already is offered to the running incident,
//! joins it after a minute unless its reporter says otherwise, and can be taken out again; incidents
//! that turn out to be one are merged, and that can be taken back too.
//!
//! Nothing is lost on the way: a joined report is evidence of the incident, word for word, and the
//! command that it came as is kept so that it can still become an incident of its own. Never across
//! a border: what is seen from one place only is neither offered nor joined elsewhere.

use super::duty::{Duty, reporter_name, scope_of};
use super::queue::JobError;
use super::respond::Read;
use super::running::may_or_told;
use super::talk::offer_reanalysis;
use super::work::{Analyze, Click, Join, OwnClick, Work};
use crate::incident::ongoing::{JUST_RESOLVED, Relation, relation};
use crate::incident::report::{Attachment, ThreadMessage};
use crate::incident::{IncidentId, PastIncident, Report, Status};
use crate::present::say::{self, Trouble};
use crate::present::{self, Action};
use crate::store::{Change, Filter, Incident, JoinedReport, Link, LinkError, Scope, StoreError};
use jiff::{SignedDuration, Timestamp};

/// The turn of a guild in which reports become incidents, one after the other; no incident has this
/// number.
pub const DOOR: u32 = 0;
/// So long a reporter may think about it (R32).
const ASKED_FOR: SignedDuration = SignedDuration::from_secs(60);
/// Incidents that are looked at, newest first.
const MOST_RUNNING: u32 = 100;
/// Characters of a joined report that the thread is shown; the incident keeps all.
const SHOWN: usize = 700;

/// The running incident that a report is about, if there is one that its place may see.
pub async fn running(
    duty: &Duty,
    work: &Analyze,
    read: &Read,
    channel: &str,
) -> Result<Option<Incident>, JobError> {
    let guild = work.place.guild.to_string();
    let scope = Scope::new(guild.as_str(), channel);
    // The command that opened it comes again after a crash: it is its own incident.
    let opening = work.reply.interaction.to_string();
    if duty.store.opened_by(&guild, &opening).await?.is_some() {
        return Ok(None);
    }
    let filter = Filter {
        active_since: read.case.now.checked_sub(JUST_RESOLVED).ok(),
        limit: MOST_RUNNING,
        ..Filter::default()
    };
    let people = duty.store.people_said(&scope).await?;
    let Some(placeholder) = IncidentId::new(u32::MAX) else {
        return Ok(None);
    };
    let mut reported = PastIncident::new(placeholder, read.title.clone());
    reported.service.clone_from(&read.case.service);
    reported.symptoms.clone_from(&read.triage.symptoms);
    reported
        .error_signatures
        .clone_from(&read.triage.error_signatures);
    for incident in duty.store.list(&scope, &filter).await? {
        // What one place alone may see stays there, in both directions.
        let same_side = incident.private == work.place.private
            && (!incident.private || incident.channel == channel);
        let over = matches!(incident.status, Status::Merged | Status::FalseAlarm);
        let analysed = incident.headline.is_some() || incident.status.is_open();
        if !same_side || over || !analysed || incident.report.is_none() {
            continue;
        }
        if relation(&read.case.registry, &people, &reported, &incident.past) == Relation::Same
            && is_there(duty, &incident).await
        {
            return Ok(Some(incident));
        }
    }
    Ok(None)
}

/// Whether the incident's thread can still be read: nobody is sent where nothing is any more.
async fn is_there(duty: &Duty, incident: &Incident) -> bool {
    let place = incident.thread.as_deref().unwrap_or(&incident.channel);
    let Ok(place) = place.parse() else {
        return false;
    };
    match duty.rest.channel(place).await {
        Ok(_) => true,
        Err(error) => error.is_passing(),
    }
}

/// Keeps the report and asks its reporter, alone, whether it is the running incident.
pub async fn offer(duty: &Duty, work: Analyze, running: &Incident) -> Result<(), JobError> {
    let now = Timestamp::now();
    let (guild, report) = (work.place.guild, work.reply.interaction);
    let content = serde_json::to_string(&work)
        .map_err(|_| JobError::never("a report can't be written as JSON"))?;
    let kept = JoinedReport {
        incident: running.id(),
        joined: false,
        content,
        at: now,
    };
    duty.store
        .keep_report(&running.guild, report, &kept)
        .await?;
    let join = Work::Join(Join { guild, report });
    duty.commit_at(&join, now.checked_add(ASKED_FOR).ok())
        .await?;
    let locale = work.who.locale;
    let who = present::escape::inline(&work.who.name);
    let over = !running.status.is_open();
    let public = if over {
        say::may_be_back(locale, &who, running.id())
    } else {
        say::may_be_running(locale, &who, running.id())
    };
    // First the answer for all: the first follow-up would take its place (the offer is private).
    let answered = duty.answer(&work.reply, &present::notice(&public)).await;
    if answered.is_none() && !work.reply.expired(now.as_millisecond()) {
        return Err(JobError::again("the channel can't be answered"));
    }
    let since = if over {
        running.past.resolved_at
    } else {
        running.reported_at
    };
    let minutes = since.map_or(0, |at| now.duration_since(at).as_mins());
    let offer = present::join_offer(
        running.id(),
        &running.past.title,
        report,
        &say::minutes(locale, minutes.max(0)),
        over,
        locale,
    );
    duty.once(&format!("done/offer/{report}"), async {
        duty.tell(&work.reply, &offer).await;
        Ok(())
    })
    .await
}

/// A minute is over.
pub async fn join_unasked(duty: &Duty, work: Join) -> Result<(), JobError> {
    join(duty, work.guild, work.report, None).await
}

/// Adds a report that waits to its incident, which runs again with that where it was over.
pub async fn join(
    duty: &Duty,
    guild: u64,
    report: u64,
    click: Option<(&Click, u64)>,
) -> Result<(), JobError> {
    let key = guild.to_string();
    let Some(kept) = duty.store.kept_report(&key, report).await? else {
        return late(duty, click).await;
    };
    let _turn = duty.turns.take(guild, kept.incident.number()).await;
    // Both a press and the minute may have come.
    let kept = duty.store.kept_report(&key, report).await?;
    let Some(kept) = kept.filter(|kept| !kept.joined) else {
        return late(duty, click).await;
    };
    let work = analyze_of(&kept)?;
    // The offer was its reporter's alone.
    if click.is_some_and(|(_, who)| who != work.who.id) {
        return late(duty, click).await;
    }
    let incident = duty.store.incident_of_guild(&key, kept.incident).await?;
    let Some(incident) = incident.filter(|incident| is_joinable(incident, &work)) else {
        // What happened within the minute swallows no report.
        return on_its_own(duty, work, &key, report).await;
    };
    let scope = scope_of(&incident);
    let mut grown = incident.report.clone().unwrap_or_default();
    let message = as_evidence(&work, kept.at);
    // A job that died in between has added it already.
    if !grown.thread.contains(&message) {
        grown.thread.push(message);
        grown.thread.sort_by_key(|message| message.at);
        grown.attachments.extend(as_attachments(&work));
        duty.store
            .update(
                &scope,
                incident.id(),
                &work.who.name,
                Timestamp::now(),
                &[Change::Report(Box::new(grown))],
            )
            .await?;
    }
    let who = present::escape::inline(&work.who.name);
    let mut said = say::joined(incident.locale, &who);
    let mut incident = incident;
    if !incident.status.is_open() {
        incident = duty
            .store
            .set_status(
                &scope,
                incident.id(),
                Status::Investigating,
                &work.who.name,
                Timestamp::now(),
            )
            .await?;
    }
    if reopened(duty, &incident, kept.at).await? {
        said = say::joined_and_runs_again(incident.locale, &who);
    }
    let words = present::escape::cut(&work.report.text, SHOWN);
    let shown = present::joined_notice(incident.id(), report, &said, &words, incident.locale);
    duty.post_in_thread(&incident, 0, &format!("joined/{report}"), &shown)
        .await?;
    let locale = work.who.locale;
    let thread = incident.thread.as_deref().and_then(|id| id.parse().ok());
    let public = present::notice(&say::is_part_of(locale, &who, incident.id(), thread));
    if !work.reply.expired(Timestamp::now().as_millisecond()) {
        duty.answer(&work.reply, &public).await;
    }
    if let Some((click, _)) = click {
        let done = present::private(&say::joined_it(locale, incident.id(), thread));
        duty.answer(&click.reply, &done).await;
    }
    duty.show_headline(&incident).await?;
    duty.look_later(&incident).await;
    offer_reanalysis(duty, &scope, incident.id()).await?;
    // Last: a job that runs again says all of it again, in the same places.
    duty.store.report_joined(&key, report).await?;
    Ok(())
}

/// Whether a report may still be added: the incident was not called off meanwhile, nor made visible
/// to others than those who see the report, or hidden from them.
fn is_joinable(incident: &Incident, work: &Analyze) -> bool {
    let gone = matches!(incident.status, Status::FalseAlarm | Status::Merged);
    !gone && incident.private == work.place.private
}

/// Whether the incident was over before this report and runs again since.
async fn reopened(duty: &Duty, incident: &Incident, at: Timestamp) -> Result<bool, StoreError> {
    let history = duty
        .store
        .history(&scope_of(incident), incident.id())
        .await?;
    Ok(history.iter().any(|event| {
        let ended = |name: &str| {
            let word = event.detail.get(name).and_then(|word| word.as_str());
            word.and_then(Status::parse)
                .is_some_and(|status| !status.is_open())
        };
        event.what == "status" && event.at >= at && ended("from") && !ended("to")
    }))
}

/// The question was answered already, by a press or by the minute.
async fn late(duty: &Duty, click: Option<(&Click, u64)>) -> Result<(), JobError> {
    if let Some((click, _)) = click {
        let said = present::private(say::decided_already(click.locale));
        duty.answer(&click.reply, &said).await;
    }
    Ok(())
}

async fn on_its_own(
    duty: &Duty,
    mut work: Analyze,
    guild: &str,
    report: u64,
) -> Result<(), JobError> {
    work.separate = true;
    duty.commit(&Work::Analyze(Box::new(work))).await?;
    duty.store.drop_report(guild, report).await?;
    Ok(())
}

/// A report, waiting or joined, is an incident of its own after all.
pub async fn separate(
    duty: &Duty,
    work: &OwnClick,
    incident: &Incident,
    report: u64,
) -> Result<(), JobError> {
    let click = &work.click;
    let kept = duty.store.kept_report(&incident.guild, report).await?;
    let Some(kept) = kept.filter(|kept| kept.incident == incident.id()) else {
        return late(duty, Some((click, work.who))).await;
    };
    let analyze = analyze_of(&kept)?;
    let its_reporter = analyze.who.id == work.who;
    if !its_reporter
        && !may_or_told(
            duty,
            work,
            incident,
            &Action::Unmerge {
                incident: incident.id(),
            },
        )
        .await?
    {
        return Ok(());
    }
    let _turn = duty.turns.take(click.guild, incident.id().number()).await;
    let Some(incident) = duty
        .store
        .incident_of_guild(&incident.guild, incident.id())
        .await?
    else {
        return Ok(());
    };
    // The minute may have come while the turn was waited for.
    let kept = duty.store.kept_report(&incident.guild, report).await?;
    let Some(kept) = kept.filter(|kept| kept.incident == incident.id()) else {
        return late(duty, Some((click, work.who))).await;
    };
    if kept.joined {
        let mut report_of = incident.report.clone().unwrap_or_default();
        let message = as_evidence(&analyze, kept.at);
        report_of.thread.retain(|known| *known != message);
        let own = as_attachments(&analyze);
        report_of.attachments.retain(|file| !own.contains(file));
        duty.store
            .update(
                &scope_of(&incident),
                incident.id(),
                &click.by,
                Timestamp::now(),
                &[Change::Report(Box::new(report_of))],
            )
            .await?;
        let name = present::escape::inline(&click.by);
        let who = present::escape::inline(&analyze.who.name);
        let said = present::notice(&say::separated(incident.locale, &who, &name));
        duty.post_in_thread(&incident, 0, &format!("joined/{report}"), &said)
            .await?;
    }
    let waiting = !kept.joined;
    on_its_own(duty, analyze, &incident.guild, report).await?;
    if waiting {
        let done = present::private(say::separate_it_is(click.locale));
        duty.answer(&click.reply, &done).await;
    }
    Ok(())
}

/// Two incidents are one: this one's report goes on in the other's thread, and it counts as its
/// duplicate from then on (R11).
pub async fn merge(
    duty: &Duty,
    work: &OwnClick,
    incident: &Incident,
    other: IncidentId,
) -> Result<(), JobError> {
    let click = &work.click;
    let action = Action::MergeInto {
        incident: incident.id(),
        other,
    };
    if !may_or_told(duty, work, incident, &action).await? {
        return Ok(());
    }
    match merge_into(duty, incident, other, &click.by, click.interaction).await {
        Ok(()) => Ok(()),
        Err(Unmerged::Refused(trouble)) => {
            let post = present::error(&trouble, None, click.locale);
            duty.tell(&click.reply, &post).await;
            Ok(())
        }
        Err(Unmerged::Job(error)) => Err(error),
    }
}

/// Why two incidents were not merged.
pub enum Unmerged {
    /// Said to the person.
    Refused(Trouble),
    /// Tried again.
    Job(JobError),
}

impl From<StoreError> for Unmerged {
    fn from(error: StoreError) -> Self {
        match error {
            StoreError::NotFound => Self::Refused(Trouble::UnknownIncident),
            error => Self::Job(error.into()),
        }
    }
}

impl From<JobError> for Unmerged {
    fn from(error: JobError) -> Self {
        Self::Job(error)
    }
}

/// Merges, whoever asked: the caller has checked that they may.
///
/// # Errors
///
/// [`Unmerged`].
pub async fn merge_into(
    duty: &Duty,
    incident: &Incident,
    other: IncidentId,
    by: &str,
    key: u64,
) -> Result<(), Unmerged> {
    let guild: u64 = incident.guild.parse().unwrap_or_default();
    let _turns = both(duty, guild, incident.id(), Some(other)).await;
    let scope = scope_of(incident);
    let incident = duty.store.incident(&scope, incident.id()).await?;
    let target = duty.store.incident(&scope, other).await?;
    let done = incident.status == Status::Merged && incident.past.duplicate_of == Some(other);
    if !done && !incident.status.is_open() {
        return Err(Unmerged::Refused(Trouble::NotRunning(incident.id())));
    }
    if !target.status.is_open() {
        return Err(Unmerged::Refused(Trouble::NotRunning(target.id())));
    }
    if incident.private != target.private
        || (incident.private && incident.channel != target.channel)
    {
        return Err(Unmerged::Refused(Trouble::SeenFromElsewhere));
    }
    let now = Timestamp::now();
    // First what is told goes over, then this one ends: a job that dies in between does it again.
    let mut grown = target.report.clone().unwrap_or_default();
    for message in as_thread(&incident) {
        if !grown.thread.contains(&message) {
            grown.thread.push(message);
        }
    }
    grown.thread.sort_by_key(|message| message.at);
    for file in files_of(&incident) {
        if !grown.attachments.contains(&file) {
            grown.attachments.push(file);
        }
    }
    if target.report.as_ref() != Some(&grown) {
        duty.store
            .update(
                &scope_of(&target),
                target.id(),
                by,
                now,
                &[Change::Report(Box::new(grown))],
            )
            .await?;
    }
    let merged = if done {
        incident.clone()
    } else {
        duty.store
            .link(
                &scope,
                incident.id(),
                Link::DuplicateOf,
                Some(other),
                by,
                now,
            )
            .await
            .map_err(|error| match error {
                LinkError::Cycle => Unmerged::Refused(Trouble::StandsUnderItself),
                LinkError::Visibility => Unmerged::Refused(Trouble::SeenFromElsewhere),
                LinkError::Store(error) => error.into(),
            })?;
        duty.store
            .set_status(&scope, incident.id(), Status::Merged, by, now)
            .await?
    };
    let name = present::escape::inline(by);
    let thread = |incident: &Incident| incident.thread.as_deref().and_then(|id| id.parse().ok());
    let here = present::merged_notice(
        incident.id(),
        &say::merged_into(incident.locale, &name, target.id(), thread(&target)),
        incident.locale,
    );
    duty.post_in_thread(&merged, 0, &format!("merged/{key}"), &here)
        .await
        .map_err(JobError::from)?;
    let there = present::notice(&say::merged_from(
        target.locale,
        &name,
        incident.id(),
        thread(&incident),
    ));
    duty.post_in_thread(&target, 0, &format!("merged/{key}"), &there)
        .await
        .map_err(JobError::from)?;
    duty.show_headline(&merged).await?;
    offer_reanalysis(duty, &scope_of(&target), target.id()).await?;
    Ok(())
}

/// What was merged is two again: both go on, and the evidence that came over goes back.
pub async fn unmerge(duty: &Duty, work: &OwnClick, incident: &Incident) -> Result<(), JobError> {
    let click = &work.click;
    let action = Action::Unmerge {
        incident: incident.id(),
    };
    if !may_or_told(duty, work, incident, &action).await? {
        return Ok(());
    }
    let scope = scope_of(incident);
    let _turns = both(duty, click.guild, incident.id(), incident.past.duplicate_of).await;
    let incident = duty.store.incident(&scope, incident.id()).await?;
    let done = format!("unmerged/{}", click.interaction);
    if incident.status != Status::Merged && !duty.has_posted(&incident, &done).await? {
        return Ok(());
    }
    let other = incident.past.duplicate_of;
    let now = Timestamp::now();
    let name = present::escape::inline(&click.by);
    take_back(duty, &incident, &click.by).await?;
    if other.is_some() {
        match duty
            .store
            .link(
                &scope,
                incident.id(),
                Link::DuplicateOf,
                None,
                &click.by,
                now,
            )
            .await
        {
            Ok(_) => {}
            Err(LinkError::Store(error)) => return Err(error.into()),
            Err(_) => return Err(JobError::never("a link that can't be taken back")),
        }
    }
    let again = if incident.status == Status::Merged {
        duty.store
            .set_status(&scope, incident.id(), Status::Investigating, &click.by, now)
            .await?
    } else {
        incident
    };
    let said = present::notice(&say::two_again(again.locale, &name, other));
    duty.post_in_thread(&again, 0, &done, &said).await?;
    if let Some(other) = other
        && let Ok(target) = duty.store.incident(&scope, other).await
    {
        let said = present::notice(&say::two_again(target.locale, &name, Some(again.id())));
        duty.post_in_thread(&target, 0, &done, &said).await?;
    }
    duty.show_headline(&again).await?;
    duty.look_later(&again).await;
    Ok(())
}

/// Whatever an incident was merged into, and what that was merged into, gives back what came over.
pub(super) async fn take_back(duty: &Duty, incident: &Incident, by: &str) -> Result<(), JobError> {
    let scope = scope_of(incident);
    let (own, files) = (as_thread(incident), files_of(incident));
    let mut seen = vec![incident.id()];
    let mut above = incident.past.duplicate_of;
    while let Some(id) = above.filter(|id| !seen.contains(id)) {
        seen.push(id);
        let target = match duty.store.incident(&scope, id).await {
            Ok(target) => target,
            Err(StoreError::NotFound) => break,
            Err(error) => return Err(error.into()),
        };
        let mut report = target.report.clone().unwrap_or_default();
        report.thread.retain(|message| !own.contains(message));
        report.attachments.retain(|file| !files.contains(file));
        if target
            .report
            .as_ref()
            .is_some_and(|before| *before != report)
        {
            let change = Change::Report(Box::new(report));
            duty.store
                .update(&scope_of(&target), id, by, Timestamp::now(), &[change])
                .await?;
        }
        above = target.past.duplicate_of;
    }
    Ok(())
}

type Turn = tokio::sync::OwnedMutexGuard<()>;

/// The turns of two incidents, always the smaller number first, so that nobody waits for ever.
async fn both(
    duty: &Duty,
    guild: u64,
    one: IncidentId,
    other: Option<IncidentId>,
) -> (Turn, Option<Turn>) {
    let other = other.filter(|other| *other != one);
    let (first, second) = match other {
        Some(other) if other < one => (other, Some(one)),
        other => (one, other),
    };
    let first = duty.turns.take(guild, first.number()).await;
    let second = match second {
        Some(second) => Some(duty.turns.take(guild, second.number()).await),
        None => None,
    };
    (first, second)
}

/// Files of a report, named after whose they are: two people may attach the same log.
fn as_attachments(work: &Analyze) -> Vec<Attachment> {
    named_after(&work.report.attachments, &work.who.name)
}

fn files_of(incident: &Incident) -> Vec<Attachment> {
    let files = incident.report.as_ref().map(|report| &report.attachments);
    named_after(
        files.map_or(&[][..], Vec::as_slice),
        &incident.id().to_string(),
    )
}

fn named_after(files: &[Attachment], whose: &str) -> Vec<Attachment> {
    files
        .iter()
        .map(|file| Attachment {
            name: format!("{} ({whose})", file.name),
            ..file.clone()
        })
        .collect()
}

fn analyze_of(kept: &JoinedReport) -> Result<Analyze, JobError> {
    serde_json::from_str(&kept.content)
        .map_err(|_| JobError::never("a kept report was written by another version"))
}

/// A report as evidence of another incident: word for word, with whose word it is.
fn as_evidence(work: &Analyze, at: Timestamp) -> ThreadMessage {
    ThreadMessage {
        author: work.who.name.clone(),
        text: work.report.text.clone(),
        at,
        asks: false,
    }
}

/// Everything that an incident was told, as evidence of another.
fn as_thread(incident: &Incident) -> Vec<ThreadMessage> {
    let empty = Report::default();
    let report = incident.report.as_ref().unwrap_or(&empty);
    let first = ThreadMessage {
        author: reporter_name(&incident.reporter).to_owned(),
        text: report.text.clone(),
        at: incident.reported_at.unwrap_or(incident.updated_at),
        asks: false,
    };
    std::iter::once(first)
        .filter(|message| !message.text.trim().is_empty())
        .chain(report.thread.iter().cloned())
        .collect()
}

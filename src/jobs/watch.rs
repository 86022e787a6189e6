//! Channels that are watched: their alerts become incidents, or join one; their changes are kept.
//!
//! Wanted: a message counts once, also when it is delivered twice or the process dies while it is
//! worked; a storm makes one incident of each broken service, at most one post or edit about it in
//! five seconds, and no more model calls than the guild's budget allows.
//!
//! Design: what happens to an alert is decided by [`crate::response::watch`]; here its decisions are
//! stored, in one transaction with what they open, and what is to be posted is written down with
//! them ([`Errand`]), then committed as work of its own. A look at the clock is scheduled for the time
//! at which the rules have something to do next.
//!
//! Deliberately absent: a change of an incident's status by an alert, but that what people ended runs
//! again when it fires again; and any message about an alert that was kept: `/watch list` shows it.

use super::analyze;
use super::commands::{Answered, Refusal};
use super::duty::{Duty, Posted, incident_of, reporter_name, scope_of};
use super::joining::DOOR;
use super::outcomes;
use super::pause;
use super::queue::JobError;
use super::respond::aside;
use super::running::ALERT;
use super::talk::offer_reanalysis;
use super::work::{Reanalyze, Told, WatchErrand, WatchLook, Work};
use crate::discord::{OptionValue, Options, Person, Place, SeenMessage};
use crate::incident::alert::{Alert, AlertStatus};
use crate::incident::change::{self, LATELY_MS};
use crate::incident::ongoing::{Relation, relation};
use crate::incident::post::Writer;
use crate::incident::report::ThreadMessage;
use crate::incident::{
    IncidentId, Moment, Outcome, PastIncident, Registry, Report, Severity, Standing, Status,
};
use crate::present::say::{self, Trouble};
use crate::present::{self, AlertLine, Alerts, Slot, View, WatchRow};
use crate::response::alerts::{self, Reading, read_changes};
use crate::response::triage::{self, Said};
use crate::response::watch::{
    Analyse, Analysis, Decision, Due, How, POST_EVERY_MS, Settings, WatchedId, Why,
};
use crate::store::{
    AlertChannel, Belongs, Change, Errand, Filter, Incident, NewIncident, Opens, Scope, Signed,
    StoreError, TakenAlert, Todo, ToldAlert, WatchedFor, WatchedPlace, Written,
};
use jiff::{SignedDuration, Timestamp};
use std::time::Duration;

/// The turn of a channel; no incident has this number.
const TURN: u32 = u32::MAX;
/// Alerts that are added to an incident as evidence; further ones are only counted.
const MOST_EVIDENCE: usize = 12;
/// Characters of what an alert is as evidence.
const LONGEST_EVIDENCE: usize = 1_500;
/// What a list shows of alerts without an incident.
const LIST_BACK: SignedDuration = SignedDuration::from_hours(24);
/// Who reopened an incident, where the alert does not say who sent it.
const BY_ALERT: &str = "alert";

/// A message of a bot or a webhook: committed, where its channel is watched.
pub async fn seen(duty: &Duty, place: Place, message: &SeenMessage) {
    // Alerts come in channels. What this bot says itself never comes here.
    let Some(post) = message.post.as_deref().filter(|_| !place.thread) else {
        return;
    };
    let (guild, channel) = (place.guild.to_string(), place.channel.to_string());
    match duty.store.watched_for(&guild, &channel).await {
        Ok(watched) if watched.is_empty() => return,
        Ok(_) => {}
        Err(error) => {
            tracing::error!(
                error = &error as &dyn std::error::Error,
                "whether a channel is watched can't be read"
            );
            return;
        }
    }
    let own = duty.in_guild(place.guild);
    // Redacted before it is committed: nothing secret is ever stored (R22).
    let post = post
        .clone()
        .with_texts(|text| own.responder.redact_text(text));
    let told = Work::Told(Box::new(Told {
        place,
        message: message.id,
        post,
    }));
    if let Err(error) = duty.commit(&told).await {
        tracing::error!(
            error = &error as &dyn std::error::Error,
            "a message of a watched channel could not be stored"
        );
    }
}

/// What was posted in watched channels while the bot was away is read over REST.
pub async fn catch_up(duty: &Duty, most: usize, back_ms: i64) {
    let watched = match duty.store.all_watched().await {
        Ok(watched) => watched,
        Err(error) => {
            tracing::error!(
                error = &error as &dyn std::error::Error,
                "watched channels can't be listed"
            );
            return;
        }
    };
    if watched.is_empty() {
        return;
    }
    let Ok(me) = duty.rest.me().await.map(|me| me.id) else {
        return;
    };
    for (_, channel, since) in watched {
        let now = Timestamp::now().as_millisecond();
        let from = (now - back_ms).max(since.as_millisecond());
        let after = crate::discord::id_at_ms(from);
        let messages = match duty.rest.messages_after(channel, after, most).await {
            Ok(messages) => messages,
            Err(error) => {
                tracing::debug!(reason = error.reason(), "a channel can't be read again");
                continue;
            }
        };
        if !messages.iter().any(|message| message.post.is_some()) {
            continue;
        }
        let place = match duty.rest.place(channel).await {
            Ok(place) => place,
            Err(error) => {
                tracing::warn!(reason = error.reason(), "a channel can't be looked at");
                continue;
            }
        };
        for message in messages {
            if message.author.id != me {
                seen(duty, place, &message).await;
            }
        }
    }
}

/// A message of a watched channel is read: its changes are kept, its alerts are taken.
pub async fn told(duty: &Duty, work: Told) -> Result<(), JobError> {
    let place = work.place;
    let (guild, channel) = (place.guild.to_string(), place.channel.to_string());
    if work.post.by == Writer::Us {
        return Ok(());
    }
    let watched = duty.store.watched_for(&guild, &channel).await?;
    let registry = duty.registry(&guild).await;
    if watched.contains(&WatchedFor::Changes) {
        let changes = aside(|| read_changes(&work.post, &registry));
        duty.store
            .keep_changes(&guild, &channel, work.message, place.private, &changes)
            .await?;
    }
    if watched.contains(&WatchedFor::Alerts) {
        match aside(|| alerts::read(&work.post, &registry)) {
            Ok(reading) => {
                let message = Message {
                    place,
                    id: work.message,
                    at_ms: work.post.at_ms,
                    reading,
                    registry,
                };
                step(duty, place.guild, place.channel, Some(message)).await?;
            }
            Err(why) => tracing::debug!(%why, "a message is no alert"),
        }
    }
    Ok(())
}

/// Time has passed for a watched channel.
pub async fn look(duty: &Duty, work: WatchLook) -> Result<(), JobError> {
    step(duty, work.guild, work.channel, None).await
}

/// A message that tells of alerts.
struct Message {
    place: Place,
    id: u64,
    at_ms: i64,
    reading: Reading,
    registry: Registry,
}

/// One step of a channel: what a message told is taken, what is due is written down, the next look is
/// scheduled.
async fn step(
    duty: &Duty,
    guild: u64,
    channel: u64,
    told: Option<Message>,
) -> Result<(), JobError> {
    let _turn = duty.turns.take(channel, TURN).await;
    // Who reports the same at the same moment sees what was opened first (R32).
    let door = match told {
        Some(_) => Some(duty.turns.take(guild, DOOR).await),
        None => None,
    };
    let now = Timestamp::now();
    let now_ms = now.as_millisecond();
    let (guild_key, channel_key) = (guild.to_string(), channel.to_string());
    let Some(read) = duty.store.alert_channel(&guild_key, &channel_key).await? else {
        return Ok(());
    };
    // What a process that died had still to commit.
    commit_errands(duty, guild, channel, &read.known.errands).await?;
    let mut known = read.known.clone();
    known.errands.clear();
    let mut written = Written::default();
    hear_people(&read, &mut known.channel, &mut written);
    if let Some(told) = told {
        take(duty, &read, &mut known, &mut written, told, now).await?;
    }
    known.channel.forget(now_ms);
    for due in known.channel.due(now_ms) {
        let (watched, what) = match due {
            Due::Post(watched) => (watched, Todo::Show),
            Due::Analyse(watched) => (watched, Todo::Analyse),
            Due::SuggestEnd { incident, since_ms } => (incident, Todo::SuggestEnd(since_ms)),
            Due::Held { incident, since_ms } => (incident, Todo::Held(since_ms)),
        };
        known.errands.push(Errand {
            watched,
            what,
            stamp: now_ms,
        });
    }
    let planned = known.look_ms.filter(|at| *at > now_ms);
    let next = known.channel.next_due().map(|at| whole_second(at, now_ms));
    known.look_ms = match (planned, next) {
        (Some(planned), Some(next)) if planned <= next => Some(planned),
        (planned, None) => planned,
        (_, Some(next)) => {
            let look = Work::WatchLook(WatchLook {
                guild,
                channel,
                at_ms: next,
                version: read.version,
            });
            duty.commit_at(&look, Timestamp::from_millisecond(next).ok())
                .await?;
            Some(next)
        }
    };
    if known == read.known && !written.says_anything() {
        return Ok(());
    }
    let write = duty
        .store
        .write_alerts(&guild_key, &read, &known, &written, now)
        .await;
    if let Err(StoreError::Conflict(reason)) = write {
        return Err(JobError::again(reason));
    }
    write?;
    drop(door);
    pause::at("alerts").await;
    if known.errands.is_empty() {
        return Ok(());
    }
    commit_errands(duty, guild, channel, &known.errands).await?;
    Ok(duty
        .store
        .errands_committed(&guild_key, &channel_key)
        .await?)
}

/// The next whole second after now at which a time is over.
fn whole_second(at_ms: i64, now_ms: i64) -> i64 {
    let at = at_ms.max(now_ms.saturating_add(1));
    at.saturating_add(999)
        .div_euclid(1_000)
        .saturating_mul(1_000)
}

async fn commit_errands(
    duty: &Duty,
    guild: u64,
    channel: u64,
    errands: &[Errand],
) -> Result<(), StoreError> {
    for errand in errands {
        duty.commit(&Work::WatchErrand(WatchErrand {
            guild,
            channel,
            errand: *errand,
        }))
        .await?;
    }
    Ok(())
}

/// What people said of the channel's incidents since it was last looked at, and what they merged.
fn hear_people(
    read: &AlertChannel,
    channel: &mut crate::response::watch::Channel,
    written: &mut Written,
) {
    for one in &read.belongs {
        if one.apart_again {
            written.moved.push((one.watched, one.origin));
            continue;
        }
        if one.status == Status::Merged {
            written
                .moved
                .extend(one.merged_into.map(|into| (one.watched, into)));
            continue;
        }
        if let Some(said) = one.said_ms.filter(|said| *said > one.heard_ms) {
            channel.set_by_people(one.watched, one.status, said);
            written.heard.push((one.watched, said));
        }
    }
}

/// Takes the alerts of a message.
async fn take(
    duty: &Duty,
    read: &AlertChannel,
    known: &mut crate::store::Known,
    written: &mut Written,
    told: Message,
    now: Timestamp,
) -> Result<(), JobError> {
    let now_ms = now.as_millisecond();
    let all = told.reading.alerts.clone();
    let decisions = known
        .channel
        .take_all(told.id, told.at_ms, all.clone(), now_ms);
    let mut shown_at = Vec::new();
    for (alert, decision) in all.into_iter().zip(decisions) {
        let name = alert.name.clone();
        let source = alert.source.name().to_owned();
        let mut note = |watched, what| {
            written
                .notes
                .push((watched, what, name.clone(), source.clone()));
        };
        let (word, watched) = match decision {
            // It was taken before.
            Decision::Kept(Why::Duplicate) => continue,
            Decision::Kept(_) => ("kept", None),
            Decision::Open { incident, .. } => {
                note(incident, "fires");
                let opens = opens(duty, read, &told, &alert, now).await?;
                written.opens.push((incident, opens));
                ("open", Some(incident))
            }
            Decision::Join { incident, how } => {
                if how == How::Related {
                    note(incident, "fires");
                }
                (how_word(how), Some(incident))
            }
            Decision::Refire { incident } => {
                note(incident, "fires_again");
                let over = read
                    .incident(incident)
                    .is_some_and(|one| !one.status.is_open() && one.status != Status::Merged);
                if over {
                    known.errands.push(Errand {
                        watched: incident,
                        what: Todo::Reopen,
                        stamp: now_ms,
                    });
                }
                ("fires_again", Some(incident))
            }
            Decision::Over { incident, all } => {
                if all {
                    note(incident, "over");
                }
                ("over", Some(incident))
            }
        };
        shown_at.extend(watched);
        written.alerts.push(TakenAlert {
            message: told.id,
            at_ms: told.at_ms,
            alert,
            decision: word,
            watched,
        });
    }
    shown_at.sort_unstable();
    shown_at.dedup();
    let unread = told.reading.unread.firing;
    let was_unread =
        |watched: &WatchedId| read.incident(*watched).is_some_and(|one| one.unread > 0);
    if unread > 0 || shown_at.iter().any(was_unread) {
        written.unread = Some((unread, shown_at));
    }
    Ok(())
}

fn how_word(how: How) -> &'static str {
    match how {
        How::Repeat => "repeat",
        How::Graver => "graver",
        How::Related => "related",
        How::StillFires => "still_fires",
    }
}

/// What an alert opens: an incident of its own, or none where people run one about the same.
async fn opens(
    duty: &Duty,
    read: &AlertChannel,
    told: &Message,
    alert: &Alert,
    now: Timestamp,
) -> Result<Opens, JobError> {
    let report = Report::from_text(as_text(alert));
    let said = Said {
        service: alert.service_name().map(str::to_owned),
        severity: None,
    };
    let triage = aside(|| triage::triage(&report, &told.registry, &said));
    let place = told.place;
    let scope = Scope::new(place.guild.to_string(), place.channel.to_string());
    let filter = Filter {
        open: true,
        ..Filter::default()
    };
    let people = duty.store.people_said(&scope).await?;
    if let Some(placeholder) = IncidentId::new(u32::MAX) {
        let mut reported = PastIncident::new(placeholder, alert.name.clone());
        reported.service = alert.service_name().map(str::to_owned);
        reported.symptoms.clone_from(&triage.symptoms);
        reported
            .error_signatures
            .clone_from(&triage.error_signatures);
        for incident in duty.store.list(&scope, &filter).await? {
            // What one place alone may see stays there, in both directions.
            let same_side = incident.private == place.private
                && (!incident.private || incident.channel == scope.channel);
            // What an alert of this channel opened is another outage, by the rules for that.
            let by_alert = read
                .belongs
                .iter()
                .any(|one| one.opened && one.incident == incident.id());
            if same_side
                && !by_alert
                && incident.report.is_some()
                && relation(&told.registry, &people, &reported, &incident.past) == Relation::Same
            {
                return Ok(Opens::Joins(incident.id()));
            }
        }
    }
    let environment = ["env", "environment"]
        .iter()
        .find_map(|label| alert.labels.get(*label).cloned());
    Ok(Opens::New(Box::new(NewIncident {
        opening: format!(
            "{ALERT}{}/{}/{}",
            place.channel,
            told.id,
            alert.key.as_str().replace('\n', "/")
        ),
        channel: scope.channel,
        parent_channel: None,
        thread: None,
        private: place.private,
        title: present::escape::cut(&present::escape::plain(&alert.name), 120),
        service: alert.service_name().map(str::to_owned),
        environment,
        // Impact unknown (R30).
        severity: Some(alert.severity.unwrap_or(Severity::Sev3)),
        severity_by: None,
        locale: read.place.locale,
        report,
        reporter: alert.source.name().to_owned(),
        symptoms: triage.symptoms,
        error_signatures: triage.error_signatures,
        started_at: None,
        reported_at: now,
    })))
}

/// An alert as words: what it says of itself, and of no other in the same message.
fn as_text(alert: &Alert) -> String {
    let mut lines = vec![alert.name.clone()];
    if !alert.summary.trim().is_empty() {
        lines.push(alert.summary.trim().to_owned());
    }
    if let Some(service) = alert.service_name() {
        lines.push(format!("service: {service}"));
    }
    if let Some(level) = &alert.level {
        lines.push(format!("level: {level}"));
    }
    let mut copies: Vec<&str> = alert.firing_on.iter().map(String::as_str).collect();
    copies.truncate(8);
    if !copies.is_empty() {
        lines.push(format!("firing on: {}", copies.join(", ")));
    }
    for (label, value) in &alert.labels {
        if !["alertname", "service", "severity"].contains(&label.as_str()) {
            lines.push(format!("{label}: {value}"));
        }
    }
    present::escape::cut(&lines.join("\n"), LONGEST_EVIDENCE)
}

// ---------------------------------------------------------------------------------------------
// What is done about an incident

/// Something that was written down is done.
pub async fn errand(duty: &Duty, work: WatchErrand) -> Result<(), JobError> {
    let (guild, channel) = (work.guild.to_string(), work.channel.to_string());
    let read = {
        // Whoever wrote it down may still be storing what it is about.
        let _turn = duty.turns.take(work.channel, TURN).await;
        duty.store.alert_channel(&guild, &channel).await?
    };
    let Some(read) = read else {
        return Ok(());
    };
    let Some(belongs) = read.incident(work.errand.watched) else {
        // Forgotten since.
        return Ok(());
    };
    let number = belongs.incident.number();
    if work.errand.what == Todo::Show {
        let pause = Duration::from_millis(POST_EVERY_MS.unsigned_abs());
        duty.written.wait(work.guild, number, pause).await;
    }
    let _turn = duty.turns.take(work.guild, number).await;
    let Some(incident) = duty
        .store
        .incident_of_guild(&guild, incident_of(belongs.incident.number())?)
        .await?
    else {
        return Ok(());
    };
    match work.errand.what {
        Todo::Show => {
            let shown = show(duty, &work, &read, belongs, incident).await;
            duty.written.note(work.guild, number);
            shown
        }
        Todo::Analyse => analyse(duty, &work, &incident).await,
        Todo::SuggestEnd(since_ms) => suggest_end(duty, &read, belongs, &incident, since_ms).await,
        Todo::Held(since_ms) => held(duty, &incident, since_ms).await,
        Todo::Reopen => reopen(duty, &work, &read, belongs, incident).await,
    }
}

/// The card of an incident is posted, or edited as it is now.
async fn show(
    duty: &Duty,
    work: &WatchErrand,
    read: &AlertChannel,
    belongs: &Belongs,
    incident: Incident,
) -> Result<(), JobError> {
    let incident = graver(duty, read, belongs, incident).await?;
    let (incident, news) = with_evidence(duty, incident).await?;
    let scope = scope_of(&incident);
    if incident.headline.is_none() && belongs.opened {
        let posted = post_card(duty, work.channel, incident).await?;
        duty.look_later(&posted).await;
        return Ok(());
    }
    if !belongs.opened
        && let Some(shown) = duty.alerts_shown(&incident).await?
    {
        let slot = format!("alerts/joined/{}/{}", work.channel, belongs.watched.0);
        let joined = say::alert_joined(
            incident.locale,
            &shown.names(),
            &present::escape::inline(&shown.source),
        );
        let key = format!("done/{slot}/{}/{}", work.guild, incident.id());
        duty.once(&key, async {
            duty.post_in_thread(&incident, 0, &slot, &present::notice(&joined))
                .await?;
            Ok(())
        })
        .await?;
    }
    duty.show_headline(&incident).await?;
    if read
        .known
        .channel
        .incident(belongs.watched)
        .is_some_and(crate::response::watch::Watched::is_firing)
    {
        take_back_suggestions(duty, &incident).await?;
    }
    if news {
        offer_reanalysis(duty, &scope, incident.id()).await?;
    }
    Ok(())
}

/// The card in the channel, and a thread from it.
async fn post_card(duty: &Duty, channel: u64, incident: Incident) -> Result<Incident, JobError> {
    let view = duty.alert_view(&incident).await?;
    let card = present::alert_card(&view);
    let posted = duty
        .post_once(&incident, 0, Slot::Headline.word(), channel, &card)
        .await?;
    pause::at("card").await;
    let first = duty
        .store
        .alerts_of(&incident.guild, incident.id(), false)
        .await?
        .into_iter()
        .map(|told| {
            let began = told.alert.started_ms.map(Timestamp::from_millisecond);
            match began {
                // What a message says began after it came is a mistake of a clock.
                Some(Ok(began)) if began <= told.at => began,
                _ => told.at,
            }
        })
        .min();
    let mut changes = vec![Change::Headline(Some(posted.message.to_string()))];
    if incident.detected_at.is_none() {
        changes.extend(first.map(|at| Change::Time {
            moment: Moment::Detected,
            at: Some(at),
        }));
    }
    let incident = duty
        .store
        .update(
            &scope_of(&incident),
            incident.id(),
            reporter_name(&incident.reporter),
            Timestamp::now(),
            &changes,
        )
        .await?;
    let title = incident.past.title.clone();
    analyze::thread_from(duty, channel, incident, &title).await
}

/// The alerts propose a graver severity than the incident has, and nobody set one (R30).
async fn graver(
    duty: &Duty,
    read: &AlertChannel,
    belongs: &Belongs,
    incident: Incident,
) -> Result<Incident, JobError> {
    let proposed = read
        .known
        .channel
        .incident(belongs.watched)
        .and_then(crate::response::watch::Watched::severity);
    match proposed {
        Some(proposed) if incident.severity_by.is_none() && incident.severity < Some(proposed) => {
            Ok(duty
                .store
                .update(
                    &scope_of(&incident),
                    incident.id(),
                    BY_ALERT,
                    Timestamp::now(),
                    &[Change::SeverityProposed(proposed)],
                )
                .await?)
        }
        _ => Ok(incident),
    }
}

/// Each thing that broke beside the first is evidence, once, in the words of its first message; gives
/// whether there was news.
async fn with_evidence(duty: &Duty, incident: Incident) -> Result<(Incident, bool), JobError> {
    let told = duty
        .store
        .alerts_of(&incident.guild, incident.id(), false)
        .await?;
    let mut report = incident.report.clone().unwrap_or_default();
    let mut news = false;
    for one in told {
        if one.alert.status() != AlertStatus::Firing {
            continue;
        }
        let message = as_evidence(&one);
        let known = report.text == message.text || report.thread.contains(&message);
        let by_alerts = report
            .thread
            .iter()
            .filter(|known| known.author == message.author)
            .count();
        if !known && by_alerts < MOST_EVIDENCE {
            report.thread.push(message);
            news = true;
        }
    }
    if !news {
        return Ok((incident, false));
    }
    report.thread.sort_by_key(|message| message.at);
    let incident = duty
        .store
        .update(
            &scope_of(&incident),
            incident.id(),
            BY_ALERT,
            Timestamp::now(),
            &[Change::Report(Box::new(report))],
        )
        .await?;
    Ok((incident, true))
}

fn as_evidence(told: &ToldAlert) -> ThreadMessage {
    ThreadMessage {
        author: told.alert.source.name().to_owned(),
        at: told.at,
        text: as_text(&told.alert),
        asks: false,
    }
}

/// The channel has its alerts analysed, and nobody did so yet.
async fn analyse(duty: &Duty, work: &WatchErrand, incident: &Incident) -> Result<(), JobError> {
    let scope = scope_of(incident);
    let analysed = duty.store.latest_analysis(&scope, incident.id()).await?;
    if analysed.is_some() || !incident.status.is_open() {
        return Ok(());
    }
    let again = Work::Reanalyze(Reanalyze {
        guild: work.guild,
        incident: incident.id().number(),
        by: reporter_name(&incident.reporter).to_owned(),
        key: "alert".to_owned(),
        reply: None,
        over_limit_seconds: duty.limiter.unasked(work.guild),
        place: None,
    });
    Ok(duty.commit(&again).await?)
}

/// The slot of a suggestion, by when it grew quiet.
const OVER: &str = "alerts/over/";

/// Nothing fires any more: what may be said of the incident is suggested, once for each quiet.
async fn suggest_end(
    duty: &Duty,
    read: &AlertChannel,
    belongs: &Belongs,
    incident: &Incident,
    since_ms: i64,
) -> Result<(), JobError> {
    let fires = read
        .known
        .channel
        .incident(belongs.watched)
        .is_none_or(crate::response::watch::Watched::is_firing);
    if fires || !incident.status.is_open() {
        return Ok(());
    }
    let (Some(shown), Ok(since)) = (
        duty.alerts_shown(incident).await?,
        Timestamp::from_millisecond(since_ms),
    ) else {
        return Ok(());
    };
    let post = present::suggest_end(
        incident.id(),
        incident.status,
        &shown.names(),
        since,
        incident.locale,
    );
    duty.post_in_thread(incident, 0, &format!("{OVER}{since_ms}"), &post)
        .await?;
    Ok(())
}

/// It fires again: what was suggested is no longer.
async fn take_back_suggestions(duty: &Duty, incident: &Incident) -> Result<(), JobError> {
    let posts = duty
        .store
        .posts_of(&scope_of(incident), incident.id())
        .await?;
    for known in posts {
        let Some(since) = known.slot.strip_prefix(OVER).and_then(|rest| {
            let since = rest.split('/').next()?.parse().ok()?;
            Timestamp::from_millisecond(since).ok()
        }) else {
            continue;
        };
        let (Ok(channel), Some(Ok(message))) = (
            known.channel.parse(),
            known.message.as_deref().map(str::parse),
        ) else {
            continue;
        };
        let key = format!("done/{}/{}/{}", known.slot, incident.guild, incident.id());
        let clock = format!("<t:{}:t>", since.as_second());
        let post = present::notice(&say::fires_again(incident.locale, &clock));
        duty.once(&key, async {
            match duty.edit(Posted { channel, message }, &post).await {
                Err(error) if error.is_passing() => return Err(JobError::again(error.to_string())),
                Err(error) => {
                    tracing::warn!(reason = error.reason(), "a suggestion can't be edited");
                }
                Ok(_) => {}
            }
            Ok(())
        })
        .await?;
    }
    Ok(())
}

/// A day without the alert: what was tried last held (R28).
async fn held(duty: &Duty, incident: &Incident, since_ms: i64) -> Result<(), JobError> {
    let scope = scope_of(incident);
    let attempts = duty.store.attempts(&scope, incident.id()).await?;
    let last = attempts.iter().rev().find(|attempt| !attempt.withdrawn);
    let Some(last) = last.filter(|attempt| {
        let before = attempt
            .fix
            .at
            .is_none_or(|at| at.as_millisecond() <= since_ms);
        match attempt.fix.outcome {
            Outcome::Mitigated => true,
            // Nobody said how it went: what was begun before it grew quiet.
            Outcome::Unknown => before,
            outcome => {
                debug_assert!(outcome.standing() != Standing::Hypothesis);
                false
            }
        }
    }) else {
        return Ok(());
    };
    let why = say::quiet_alert(incident.locale);
    let note = if last.fix.note.trim().is_empty() {
        why.to_owned()
    } else {
        format!("{} · {why}", last.fix.note)
    };
    duty.store
        .revise_attempt(
            &scope,
            incident.id(),
            last.seq,
            Outcome::Held,
            BY_ALERT,
            Timestamp::now(),
            Some(&note),
        )
        .await?;
    let fix = present::escape::fitted(&last.fix.fix, 200, present::escape::inline).0;
    let said = present::quietly(present::notice(&say::held_by_alert(incident.locale, &fix)));
    duty.post_in_thread(incident, 0, &format!("alerts/held/{}", last.seq), &said)
        .await?;
    outcomes::refresh(duty, incident).await
}

/// What people ended fires again: it runs again, and says so.
async fn reopen(
    duty: &Duty,
    work: &WatchErrand,
    read: &AlertChannel,
    belongs: &Belongs,
    incident: Incident,
) -> Result<(), JobError> {
    if incident.status.is_open() || incident.status == Status::Merged {
        return Ok(());
    }
    let now = Timestamp::now();
    let incident = duty
        .store
        .set_status(
            &scope_of(&incident),
            incident.id(),
            Status::Investigating,
            BY_ALERT,
            now,
        )
        .await?;
    // That was no word of a person.
    duty.store
        .people_heard(&incident.guild, &read.place.channel, belongs.watched, now)
        .await?;
    let names = duty
        .alerts_shown(&incident)
        .await?
        .map(|shown| shown.names())
        .unwrap_or_default();
    let said = present::notice(&say::reopened_by_alert(incident.locale, &names));
    let slot = format!("alerts/reopened/{}", work.errand.stamp);
    duty.post_in_thread(&incident, 0, &slot, &said).await?;
    duty.show_headline(&incident).await?;
    duty.look_later(&incident).await;
    Ok(())
}

impl Duty {
    /// What alerts say of an incident; `None` where none belongs to it.
    ///
    /// # Errors
    ///
    /// Those of the database.
    pub async fn alerts_shown(&self, incident: &Incident) -> Result<Option<Alerts>, StoreError> {
        let guild = incident.guild.as_str();
        let belong = self.store.alerts_belong_to(guild, incident.id()).await?;
        if belong.is_empty() {
            return Ok(None);
        }
        let analysed = self
            .store
            .latest_analysis(&scope_of(incident), incident.id())
            .await?
            .is_some();
        let mut alerts = Alerts::default();
        for (channel, watched) in belong {
            let Some(read) = self.store.alert_channel(guild, &channel).await? else {
                continue;
            };
            let Some(group) = read.known.channel.incident(watched) else {
                continue;
            };
            alerts.unread += read.incident(watched).map_or(0, |one| one.unread);
            alerts.earlier = alerts.earlier.or(group
                .earlier
                .and_then(|earlier| read.incident(earlier))
                .map(|one| one.incident)
                .filter(|earlier| *earlier != incident.id()));
            alerts.flapping |= group
                .last_fired_ms()
                .is_some_and(|last| group.is_flapping(last));
            alerts.analyse |= !analysed && group.analysis == Analysis::OnButton;
            alerts.alerts.extend(group.alerts.values().map(|tally| {
                AlertLine {
                    name: tally.name.clone(),
                    firings: tally.firings(),
                    copies: tally.firing_copies(),
                    fires: tally.is_firing(),
                    last: tally
                        .last_fired_ms()
                        .and_then(|at| Timestamp::from_millisecond(at).ok()),
                }
            }));
        }
        alerts
            .alerts
            .sort_by_key(|line| (!line.fires, std::cmp::Reverse(line.last)));
        let told = self.store.alerts_of(guild, incident.id(), true).await?;
        let fires = |told: &&ToldAlert| told.alert.status() == AlertStatus::Firing;
        let last = told.iter().rfind(fires).or_else(|| told.last());
        if let Some(told) = last {
            let alert = &told.alert;
            alert.source.name().clone_into(&mut alerts.source);
            alerts.level.clone_from(&alert.level);
            alerts.summary.clone_from(&alert.summary);
            alerts.labels = alert.labels.clone().into_iter().collect();
            alerts.links.clone_from(&alert.links);
            alerts.proposed = alert
                .level
                .as_ref()
                .and(alert.severity)
                .filter(|_| incident.severity_by.is_none() && !analysed);
        }
        Ok(Some(alerts))
    }

    /// What is shown of an incident that nobody analysed.
    ///
    /// # Errors
    ///
    /// Those of the database.
    pub async fn alert_view(&self, incident: &Incident) -> Result<View, StoreError> {
        let now = Timestamp::now();
        let mut view = View::new(
            incident.past.title.clone(),
            incident.severity.unwrap_or(Severity::Sev3),
            incident.locale,
            now,
        );
        view.incident = Some(incident.id());
        view.service.clone_from(&incident.past.service);
        view.status = incident.status;
        view.reporter = reporter_name(&incident.reporter).to_owned();
        view.lead = incident
            .lead
            .as_deref()
            .map(reporter_name)
            .map(str::to_owned);
        view.running = self.running(incident).await?;
        view.next_update_at = incident.next_update_at;
        view.alerts = self.alerts_shown(incident).await?;
        view.changes = self.changes_before(incident, now).await?;
        Ok(view)
    }

    /// What was changed of the service of an incident before it was reported.
    ///
    /// # Errors
    ///
    /// Those of the database.
    pub async fn changes_before(
        &self,
        incident: &Incident,
        now: Timestamp,
    ) -> Result<Vec<change::Change>, StoreError> {
        let Some(service) = incident.past.service.as_deref() else {
            return Ok(Vec::new());
        };
        let until = incident.reported_at.unwrap_or(now).as_millisecond();
        let all = self
            .store
            .changes_of(
                &scope_of(incident),
                service,
                until.saturating_sub(LATELY_MS),
                until,
            )
            .await?;
        Ok(change::lately(&all, service, until)
            .into_iter()
            .cloned()
            .collect())
    }
}

// ---------------------------------------------------------------------------------------------
// Commands

/// The channel that a command is about: the option's, else where it was typed.
async fn channel_of(duty: &Duty, place: &Place, options: &Options) -> Result<Place, Refusal> {
    let channel = match options.0.get("channel") {
        Some(OptionValue::Channel {
            readable: false, ..
        }) => {
            return Err(Trouble::MissingPermission("View Channel".to_owned()).into());
        }
        Some(OptionValue::Channel { id, .. } | OptionValue::Id(id)) => *id,
        _ => place.channel,
    };
    if channel == place.channel && place.known {
        return Ok(*place);
    }
    match duty.rest.place(channel).await {
        Ok(found) if found.guild == place.guild => Ok(found),
        _ => Err(Trouble::MissingPermission("View Channel".to_owned()).into()),
    }
}

/// `/watch alerts`.
pub(super) async fn watch_alerts(
    duty: &Duty,
    who: &Person,
    place: &Place,
    options: &Options,
) -> Answered {
    let usual = Settings::default();
    let minutes = options.number("quiet_repeats").unwrap_or(0).clamp(0, 1_440);
    let settings = Settings {
        analyse: match options.text("analysis") {
            Some("always") => Analyse::Always,
            Some("never") => Analyse::Never,
            _ => Analyse::OnButton,
        },
        floor: options
            .text("floor")
            .and_then(Severity::parse)
            .unwrap_or(usual.floor),
        quiet_repeats_ms: (minutes * 60_000).max(usual.quiet_repeats_ms),
        ..usual
    };
    watch(duty, who, place, options, WatchedFor::Alerts, settings).await
}

/// `/watch changes`.
pub(super) async fn watch_changes(
    duty: &Duty,
    who: &Person,
    place: &Place,
    options: &Options,
) -> Answered {
    let settings = Settings::default();
    watch(duty, who, place, options, WatchedFor::Changes, settings).await
}

async fn watch(
    duty: &Duty,
    who: &Person,
    place: &Place,
    options: &Options,
    what: WatchedFor,
    settings: Settings,
) -> Answered {
    let there = channel_of(duty, place, options).await?;
    if there.thread {
        return Ok(present::private(say::watch_a_channel(who.locale)));
    }
    let now = Timestamp::now();
    let watched = WatchedPlace {
        channel: there.channel.to_string(),
        what,
        private: there.private,
        locale: who.locale,
        settings,
        by: who.name.clone(),
        at: now,
        unread: (0, None),
    };
    let signed = Signed {
        by: &who.name,
        at: now,
    };
    {
        let _turn = duty.turns.take(there.channel, TURN).await;
        duty.store
            .watch_channel(&place.guild.to_string(), &watched, signed)
            .await?;
    }
    let mut said = vec![present::watch_line(&row(&watched), who.locale)];
    if !duty.reads_messages {
        said.push(format!("⚠ {}", say::no_message_content(who.locale)));
    }
    Ok(present::private(&said.join("\n")))
}

/// `/watch stop`.
pub(super) async fn stop(duty: &Duty, who: &Person, place: &Place, options: &Options) -> Answered {
    let there = channel_of(duty, place, options).await?;
    let signed = Signed {
        by: &who.name,
        at: Timestamp::now(),
    };
    let stopped = {
        let _turn = duty.turns.take(there.channel, TURN).await;
        duty.store
            .stop_watching(&place.guild.to_string(), &there.channel.to_string(), signed)
            .await?
    };
    let channel = format!("<#{}>", there.channel);
    Ok(present::private(&if stopped {
        say::watched_no_more(who.locale, &channel)
    } else {
        say::not_watched(who.locale, &channel)
    }))
}

/// `/watch list`: what is watched, what fires there, and what has no incident.
pub(super) async fn list(duty: &Duty, who: &Person, place: &Place) -> Answered {
    let (scope, _) = duty.scope(place).await?;
    let now = Timestamp::now();
    let since = now.checked_sub(LIST_BACK).unwrap_or(now).as_millisecond();
    let mut rows = Vec::new();
    for watched in duty.store.watched_channels(&scope).await? {
        let mut row = row(&watched);
        if watched.what == WatchedFor::Alerts
            && let Some(read) = duty
                .store
                .alert_channel(&scope.guild, &watched.channel)
                .await?
        {
            let channel = &read.known.channel;
            let firing = channel.incidents().iter().filter(|one| one.is_firing());
            row.firing = (
                firing.count(),
                channel
                    .firing_services()
                    .into_iter()
                    .map(str::to_owned)
                    .collect(),
            );
            row.kept = channel
                .kept_since(since)
                .map(|(_, why, tally)| {
                    let last = tally
                        .last_fired_ms()
                        .and_then(|at| Timestamp::from_millisecond(at).ok());
                    (tally.name.clone(), tally.firings(), last, why)
                })
                .collect();
            row.kept
                .sort_by_key(|(_, _, last, _)| std::cmp::Reverse(*last));
        }
        rows.push(row);
    }
    Ok(present::watch_list(&rows, who.locale, now))
}

fn row(watched: &WatchedPlace) -> WatchRow {
    let recent = watched
        .unread
        .1
        .is_some_and(|at| Timestamp::now().duration_since(at) <= LIST_BACK);
    WatchRow {
        channel: watched.channel.parse().unwrap_or_default(),
        alerts: (watched.what == WatchedFor::Alerts).then_some(watched.settings),
        private: watched.private,
        firing: (0, Vec::new()),
        kept: Vec::new(),
        unread: if recent { watched.unread } else { (0, None) },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_look_is_at_the_next_whole_second_at_which_a_time_is_over() {
        for (at, now, expected) in [
            (5_000, 100, 5_000),
            (5_001, 100, 6_000),
            (0, 100, 1_000),
            (100, 1_000, 2_000),
            (i64::MIN, 1_000, 2_000),
        ] {
            assert_eq!(whole_second(at, now), expected, "{at} {now}");
        }
        assert!(whole_second(i64::MAX, 0) > 0);
    }
}

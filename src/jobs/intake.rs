//! What comes in from Discord is answered at once, or committed and then acknowledged.
//!
//! Checks that need no IO come first and answer that person alone. Then, between an interaction and
//! its acknowledgement, stands one thing only: the commit of the command as a job, waited for about
//! a second. A slower store is not waited for: the person is acknowledged, and told if storing
//! failed after all. Opening a modal is itself the first answer and waits for nothing.

use super::commands;
use super::duty::{Duty, reporter_id, scope_of, trouble_id};
use super::pause;
use super::review;
use super::talk::BURST;
use super::watch;
use super::work::{
    Analyze, Approve, ChooseService, Click, Evidence, FollowUp, Forget, Import, OwnClick,
    Reanalyze, Resolve, SetIncident, TakeSteps, TickSteps, Work, audience_of,
};
use crate::discord::{
    BotMay, DiscordError, FileRef, Incoming, Need, OptionValue, Person, Place, Reply, SeenMessage,
};
use crate::incident::rights::{self, Deed, Right};
use crate::incident::{Locale, Moment, Report, Severity};
use crate::present::modals::input;
use crate::present::say::{self, Trouble};
use crate::present::{self, Action, Asked};
use crate::store::StoreError;
use jiff::Timestamp;
use serde_json::Value;
use std::collections::BTreeMap;
use std::time::Duration;

/// How long a commit is waited for before the acknowledgement goes out without it.
const COMMIT_WAIT: Duration = Duration::from_secs(1);
/// How long what a message tells is kept for before its form opens without that.
const DRAFT_WAIT: Duration = Duration::from_millis(500);
/// Messages of a thread that are read again after a reconnect.
const CATCH_UP: usize = 100;
/// How far back a catch-up looks: as long as seen messages are remembered.
const CATCH_UP_MILLIS: i64 = 47 * 60 * 60 * 1000;

/// How a command is acknowledged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Acknowledge {
    /// "Thinking", for everybody.
    Publicly,
    /// The message stays as it is until edited.
    Silently,
    /// "Thinking", for the person alone.
    Privately,
}

/// Who it comes from, and where.
fn whose(incoming: &mut Incoming) -> Option<(&mut Person, Place)> {
    match incoming {
        Incoming::Slash { who, place, .. }
        | Incoming::MessageCommand { who, place, .. }
        | Incoming::Modal { who, place, .. }
        | Incoming::Component { who, place, .. }
        | Incoming::Message { who, place, .. } => Some((who, *place)),
        _ => None,
    }
}

/// Takes one event.
pub async fn take(duty: &Duty, incoming: Incoming) {
    let kind = incoming.kind();
    tracing::debug!(kind, "event");
    if let Some(reply) = incoming.reply()
        && !duty.acknowledgements.first(reply.interaction)
    {
        // A resumed session replays what it is not sure was heard; it is being answered.
        tracing::debug!(kind, "an interaction that came twice");
        return;
    }
    let mut incoming = incoming;
    let duty = &match whose(&mut incoming) {
        Some((who, place)) => {
            let duty = duty.in_guild(place.guild);
            // A name is stored and shown too.
            who.name = duty.responder.redact_text(&who.name);
            duty
        }
        None => duty.clone(),
    };
    match incoming {
        Incoming::Slash {
            reply,
            who,
            place,
            bot_may,
            command,
            options,
        } => slash(duty, reply, who, place, bot_may, &command, &options).await,
        Incoming::MessageCommand {
            reply,
            who,
            place,
            bot_may,
            command,
            message,
        } => {
            if command == "Remember as incident" {
                remember(duty, &reply, &who, &place, &message).await;
            } else {
                message_command(duty, reply, who, place, bot_may, message).await;
            }
        }
        Incoming::Modal {
            reply,
            who,
            place,
            bot_may,
            custom_id,
            fields,
            ..
        } => modal(duty, reply, who, place, bot_may, &custom_id, &fields).await,
        Incoming::Component {
            reply,
            who,
            place,
            custom_id,
            values,
            ..
        } => component(duty, reply, who, place, custom_id, values).await,
        Incoming::Autocomplete {
            reply,
            place,
            command,
            option,
            typed,
            ..
        } => commands::complete(duty, &reply, &place, &command, &option, &typed).await,
        Incoming::Unreadable { reply, locale } => {
            refuse(duty, &reply, &Trouble::UnknownAction, locale).await
        }
        Incoming::Message {
            who,
            place,
            message,
            mentions_bot,
            empty_without_intent,
            ..
        } => {
            said(
                duty,
                who,
                place,
                message,
                mentions_bot,
                empty_without_intent,
            )
            .await
        }
        Incoming::Automatic { place, message } => watch::seen(duty, place, &message).await,
        Incoming::Connected { .. } => {
            catch_up(duty).await;
            watch::catch_up(duty, CATCH_UP, CATCH_UP_MILLIS).await;
        }
        Incoming::ThreadChanged { .. } | Incoming::Gone(_) => {}
    }
}

async fn slash(
    duty: &Duty,
    reply: Reply,
    who: Person,
    place: Place,
    bot_may: BotMay,
    command: &str,
    options: &crate::discord::Options,
) {
    match command {
        "analyze" => {
            let text = options.text("report").unwrap_or_default().trim().to_owned();
            let service = options.text("service").map(str::to_owned);
            let severity = options.text("severity").and_then(Severity::parse);
            let file = options.file("log").cloned();
            if text.is_empty() && file.is_none() {
                let payload = present::analyze_modal(
                    who.locale,
                    "",
                    service.as_deref().unwrap_or_default(),
                    severity,
                );
                open_modal(duty, &reply, &payload, who.locale).await;
                return;
            }
            analyze(
                duty,
                reply,
                who,
                place,
                bot_may,
                Report::from_text(text),
                service,
                severity,
                file.into_iter().collect(),
            )
            .await;
        }
        "followup" => {
            let question = duty
                .in_place(&place)
                .await
                .responder
                .redact_text(options.text("question").unwrap_or_default());
            if question.trim().is_empty() {
                refuse(duty, &reply, &Trouble::EmptyReport, who.locale).await;
                return;
            }
            if place.known && !place.thread {
                // An incident has its own thread; no look is needed to know that this is none.
                refuse(duty, &reply, &Trouble::NoIncidentHere, who.locale).await;
                return;
            }
            let work = Work::FollowUp(FollowUp {
                place,
                locale: who.locale,
                by: who.name.clone(),
                author: who.id,
                question,
                message: None,
                at_ms: reply.created_ms,
                over_limit_seconds: duty.limiter.question(place.guild, who.id),
                reply: Some(reply.clone()),
            });
            commit(duty, &reply, &work, Acknowledge::Publicly, who.locale).await;
        }
        "memory import" => import(duty, reply, who, place, options).await,
        "incident set" => set(duty, reply, who, place, options).await,
        "resolve" => resolve_modal(duty, &reply, &who, &place, options.text("worked")).await,
        _ => commands::answer(duty, &reply, &who, &place, command, options).await,
    }
}

async fn message_command(
    duty: &Duty,
    reply: Reply,
    who: Person,
    place: Place,
    bot_may: BotMay,
    message: SeenMessage,
) {
    if message.text.trim().is_empty() && message.files.is_empty() {
        refuse(duty, &reply, &Trouble::EmptyReport, who.locale).await;
        return;
    }
    analyze(
        duty,
        reply,
        who,
        place,
        bot_may,
        Report::from_text(message.text),
        None,
        None,
        message.files,
    )
    .await;
}

async fn modal(
    duty: &Duty,
    reply: Reply,
    who: Person,
    place: Place,
    bot_may: BotMay,
    custom_id: &str,
    fields: &BTreeMap<String, String>,
) {
    let field = |name: &str| {
        fields
            .get(name)
            .map(|text| text.trim().to_owned())
            .unwrap_or_default()
    };
    match Action::parse(custom_id) {
        Some(Action::AnalyzeModal) => {
            let report = field(input::REPORT);
            let service = Some(field(input::SERVICE)).filter(|service| !service.is_empty());
            let severity = Severity::parse(&field(input::SEVERITY));
            if report.is_empty() {
                refuse(duty, &reply, &Trouble::EmptyReport, who.locale).await;
                return;
            }
            analyze(
                duty,
                reply,
                who,
                place,
                bot_may,
                Report::from_text(report),
                service,
                severity,
                Vec::new(),
            )
            .await;
        }
        Some(Action::ResolveModal { incident, worked }) => {
            let guild = place.guild.to_string();
            let own = match duty.store.incident_of_guild(&guild, incident).await {
                Ok(Some(known)) => duty.in_incident(&known).await,
                _ => duty.clone(),
            };
            let clean = |text: String| own.responder.redact_text(&text);
            let work = Work::Resolve(Resolve {
                guild: place.guild,
                by: who.name.clone(),
                incident: incident.number(),
                worked,
                cause: clean(field(input::CAUSE)),
                fix: clean(field(input::FIX)),
                ruled_out: clean(field(input::RULED_OUT)),
                prevention: clean(field(input::PREVENTION)),
                locale: who.locale,
                reply: reply.clone(),
            });
            commit(duty, &reply, &work, Acknowledge::Publicly, who.locale).await;
        }
        Some(Action::Tell { incident, what }) => {
            let option = match what {
                Asked::Who => "who",
                Asked::Since => Moment::Started.word(),
                Asked::Changed => "changed",
            };
            let own = duty.in_place(&place).await;
            let told = own.responder.redact_text(&field(input::TOLD));
            let texts = [("id", incident.to_string()), (option, told)];
            let work = Work::Set(Box::new(SetIncident {
                texts: texts.map(|(name, text)| (name.to_owned(), text)).into(),
                lead: None,
                comms: None,
                reply: reply.clone(),
                place,
                who: who.id,
                by: who.name,
                may: who.may,
                locale: who.locale,
            }));
            commit(duty, &reply, &work, Acknowledge::Privately, who.locale).await;
        }
        Some(Action::RememberModal { message }) => {
            let (own, fields) = (duty.clone(), fields.clone());
            let locale = who.locale;
            let stored =
                async move { review::remember(&own, &who, &place, message, &fields).await };
            commands::privately(duty, &reply, locale, stored).await;
        }
        _ => refuse(duty, &reply, &Trouble::UnknownAction, who.locale).await,
    }
}

/// *Remember as incident*: the modal opens with what the message tells.
async fn remember(duty: &Duty, reply: &Reply, who: &Person, place: &Place, message: &SeenMessage) {
    if message.author.id != who.id {
        let right = rights::right_for(Deed::RememberForOthers);
        if !permitted(duty, reply, who, place, right).await {
            return;
        }
    }
    if message.text.trim().is_empty() {
        refuse(duty, reply, &Trouble::EmptyReport, who.locale).await;
        return;
    }
    let past = review::draft(duty, place, message).await;
    let prefill = review::prefill(&past, who.locale);
    let payload = present::remember_modal(who.locale, message.id, &prefill);
    // What the form has no room for is kept beside it; a slow store is not waited for.
    let (own, by, guild, id) = (duty.clone(), who.name.clone(), place.guild, message.id);
    let mut kept =
        tokio::spawn(async move { review::keep_draft(&own, guild, id, &by, &past).await });
    let _in_time = tokio::time::timeout(DRAFT_WAIT, &mut kept).await;
    open_modal(duty, reply, &payload, who.locale).await;
}

/// `/memory import`: what can be said without IO is said at once; the rest is a job.
async fn import(
    duty: &Duty,
    reply: Reply,
    who: Person,
    place: Place,
    options: &crate::discord::Options,
) {
    let locale = who.locale;
    let right = rights::right_for_command("memory import");
    if !permitted(duty, &reply, &who, &place, right).await {
        return;
    }
    let file = options.file("file").cloned();
    let channel = match options.0.get("channel") {
        Some(OptionValue::Channel {
            readable: false, ..
        }) => {
            say_alone(duty, &reply, say::channel_not_seen(locale)).await;
            return;
        }
        Some(OptionValue::Channel { id, .. }) => Some(*id),
        _ => None,
    };
    let since = options.text("since").map(str::trim).unwrap_or_default();
    let since_ms = if since.is_empty() {
        Some(0)
    } else {
        since
            .parse::<jiff::civil::Date>()
            .ok()
            .and_then(|day| day.to_zoned(jiff::tz::TimeZone::UTC).ok())
            .map(|day| day.timestamp().as_millisecond())
    };
    let Some(since_ms) = since_ms else {
        say_alone(duty, &reply, say::bad_since(locale)).await;
        return;
    };
    if file.is_none() && (channel.is_none() || since.is_empty()) {
        say_alone(duty, &reply, say::import_needs_one(locale)).await;
        return;
    }
    let file = duty.clean_files(file.into_iter().collect()).pop();
    let work = Work::Import(Box::new(Import {
        reply: reply.clone(),
        who,
        place,
        file,
        channel,
        since_ms,
    }));
    commit(duty, &reply, &work, Acknowledge::Privately, locale).await;
}

/// `/incident set`: a job, since the thread is told.
async fn set(
    duty: &Duty,
    reply: Reply,
    who: Person,
    place: Place,
    options: &crate::discord::Options,
) {
    let locale = who.locale;
    let own = duty.in_place(&place).await;
    let texts = options.0.iter().filter_map(|(name, value)| match value {
        OptionValue::Text(text) => Some((name.clone(), own.responder.redact_text(text))),
        _ => None,
    });
    let person = |name: &str| {
        let (id, person) = options.user(name)?;
        Some((id, own.responder.redact_text(person)))
    };
    let work = Work::Set(Box::new(SetIncident {
        texts: texts.collect(),
        lead: person("lead"),
        comms: person("comms"),
        reply: reply.clone(),
        place,
        who: who.id,
        by: who.name,
        may: who.may,
        locale,
    }));
    commit(duty, &reply, &work, Acknowledge::Privately, locale).await;
}

async fn say_alone(duty: &Duty, reply: &Reply, sentence: &str) {
    let post = present::private(sentence);
    if let Err(error) = duty.rest.show(reply, &post.payload, true).await {
        tracing::warn!(reason = error.reason(), "an answer could not be shown");
    }
}

#[expect(clippy::too_many_arguments, reason = "a report is exactly these facts")]
async fn analyze(
    duty: &Duty,
    reply: Reply,
    who: Person,
    place: Place,
    bot_may: BotMay,
    report: Report,
    service: Option<String>,
    severity: Option<Severity>,
    files: Vec<FileRef>,
) {
    // The cards are embeds: without them nothing could be shown.
    let needs: &[Need] = if place.thread {
        &[Need::PostInThread, Need::Embed]
    } else {
        &[Need::Post, Need::Embed]
    };
    if let Some(missing) = bot_may.missing(needs).first() {
        refuse(
            duty,
            &reply,
            &Trouble::MissingPermission((*missing).to_owned()),
            who.locale,
        )
        .await;
        return;
    }
    // Redacted before it is committed: nothing secret is ever stored (R22).
    let duty = &duty.in_opened_by(place.guild, reply.interaction);
    let work = Work::Analyze(Box::new(Analyze {
        report: duty.responder.redact(report),
        service: service.map(|service| duty.responder.redact_text(&service)),
        severity,
        files: duty.clean_files(files),
        over_limit_seconds: duty.limiter.analysis(place.guild, who.id),
        reply: reply.clone(),
        place,
        who: who.clone(),
        separate: false,
    }));
    commit(duty, &reply, &work, Acknowledge::Publicly, who.locale).await;
}

async fn component(
    duty: &Duty,
    reply: Reply,
    who: Person,
    place: Place,
    custom_id: String,
    values: Vec<String>,
) {
    let click = Click {
        guild: place.guild,
        by: who.name.clone(),
        interaction: reply.interaction,
        reply: reply.clone(),
        locale: who.locale,
        place: Some(place),
        custom_id,
    };
    let Some(action) = Action::parse(&click.custom_id) else {
        refuse(duty, &reply, &Trouble::UnknownAction, who.locale).await;
        return;
    };
    let work = match action {
        Action::CauseConfirmed(_)
        | Action::NotIt(_)
        | Action::TryingFix(_)
        | Action::Worked(_)
        | Action::NoEffect(_)
        | Action::MadeWorse(_) => Work::Click(click),
        Action::Tick { .. } => Work::Tick(TickSteps {
            click,
            ticked: values
                .iter()
                .filter_map(|value| value.parse().ok())
                .collect(),
            may: who.may.clone(),
            who: who.id,
        }),
        Action::TakeSteps { .. } => Work::Take(TakeSteps {
            click,
            steps: values
                .iter()
                .filter_map(|value| value.parse().ok())
                .collect(),
            who: who.id,
        }),
        Action::Approve(_) | Action::ApproveOwn(_) | Action::NotNow(_) => Work::Approve(Approve {
            click,
            place,
            who: who.id,
            may: who.may.clone(),
        }),
        Action::ShowUpdate { .. } => Work::ShowUpdate(click),
        Action::Reanalyze { incident } | Action::TryAgain { incident } => {
            Work::Reanalyze(Reanalyze {
                guild: place.guild,
                incident: incident.number(),
                by: who.name.clone(),
                key: reply.interaction.to_string(),
                over_limit_seconds: duty.limiter.analysis(place.guild, who.id),
                reply: Some(reply.clone()),
                place: Some(place),
            })
        }
        Action::OpenMemory => {
            let chosen = values.first().map(String::as_str);
            commands::open_past(duty, &reply, &who, &place, None, chosen).await;
            return;
        }
        Action::OpenPast { incident, .. } => {
            commands::open_past(
                duty,
                &reply,
                &who,
                &place,
                Some(incident),
                values.first().map(String::as_str),
            )
            .await;
            return;
        }
        Action::UpdateAudience {
            incident, analysis, ..
        }
        | Action::RefreshUpdate {
            incident, analysis, ..
        } => {
            commands::change_audience(
                duty,
                &reply,
                &who,
                &place,
                incident,
                analysis,
                audience_of(&action),
                matches!(action, Action::RefreshUpdate { .. }),
            )
            .await;
            return;
        }
        Action::Why { incident, analysis } => {
            commands::why(duty, &reply, &who, &place, Some((incident, analysis))).await;
            return;
        }
        Action::StillHeld { .. } | Action::CameBack { .. } | Action::TakeBack { .. } => {
            Work::StillFixed(click)
        }
        Action::Reopen { .. } => Work::Reopen(click),
        Action::SameAs { .. } | Action::DifferentFrom { .. } => Work::Sameness(click),
        Action::AttemptHeld { incident, attempt } => {
            commands::attempt_held(duty, &reply, &who, &place, incident, attempt).await;
            return;
        }
        Action::ImportYes { .. } | Action::ImportNo { .. } => {
            let right = rights::right_for_command("memory import");
            if !permitted(duty, &reply, &who, &place, right).await {
                return;
            }
            Work::ImportAnswer(click)
        }
        Action::Review {
            incident,
            attempt,
            worked,
        } => {
            review::answered(duty, &reply, &who, &place, incident, attempt, worked).await;
            return;
        }
        Action::ChooseService { .. } => Work::ChooseService(ChooseService {
            // A client may send what nobody offered: nothing of it is kept as it stands (R22).
            service: duty
                .responder
                .redact_text(&values.into_iter().next().unwrap_or_default()),
            over_limit_seconds: duty.limiter.analysis(place.guild, who.id),
            click,
        }),
        Action::Keep { incident } => {
            let kept = present::private(&say::kept(who.locale, incident));
            if let Err(error) = duty.rest.update_message(&reply, &kept.edit()).await {
                tracing::warn!(reason = error.reason(), "a question can't be closed");
            }
            return;
        }
        Action::Forget { incident } => {
            let right = rights::right_for_command("memory forget");
            if !permitted(duty, &reply, &who, &place, right).await {
                return;
            }
            let seen = match duty.scope(&place).await {
                Ok((scope, _)) => duty.store.incident(&scope, incident).await,
                Err(error) => Err(error),
            };
            match seen {
                Ok(_) => Work::Forget(Forget {
                    guild: place.guild,
                    by: who.name.clone(),
                    incident: incident.number(),
                    locale: who.locale,
                    reply: reply.clone(),
                }),
                Err(StoreError::NotFound) => {
                    refuse(duty, &reply, &Trouble::UnknownIncident, who.locale).await;
                    return;
                }
                Err(error) => {
                    cannot_record(duty, &reply, who.locale, &error).await;
                    return;
                }
            }
        }
        Action::Lead { .. }
        | Action::Mitigated { .. }
        | Action::NotMitigated { .. }
        | Action::FalseAlarm { .. }
        | Action::NoFalseAlarm { .. }
        | Action::FixDid { .. }
        | Action::JoinReport { .. }
        | Action::SeparateReport { .. }
        | Action::MergeInto { .. }
        | Action::Unmerge { .. } => Work::Own(OwnClick {
            click,
            who: who.id,
            may: who.may.clone(),
            value: values.into_iter().next(),
        }),
        Action::CatchUp { incident } => {
            let (own, locale) = (duty.clone(), who.locale);
            let caught =
                async move { commands::catch_up(&own, &who, &place, Some(incident)).await };
            commands::privately(duty, &reply, locale, caught).await;
            return;
        }
        Action::RemindMe { incident } => {
            let (own, locale) = (duty.clone(), who.locale);
            let set = async move { commands::remind_me(&own, &who, &place, incident).await };
            commands::privately(duty, &reply, locale, set).await;
            return;
        }
        Action::UpdateSent { incident, draft } => {
            let (own, locale) = (duty.clone(), who.locale);
            let sent =
                async move { commands::update_sent(&own, &who, &place, incident, draft).await };
            commands::privately(duty, &reply, locale, sent).await;
            return;
        }
        Action::Tell { incident, what } => {
            let guild = place.guild.to_string();
            let before = match duty.store.incident_of_guild(&guild, incident).await {
                Ok(Some(known)) if what == Asked::Who => known.impact.who,
                _ => String::new(),
            };
            let payload = present::tell_modal(who.locale, incident, what, &before);
            open_modal(duty, &reply, &payload, who.locale).await;
            return;
        }
        Action::RememberModal { .. } | Action::ResolveModal { .. } | Action::AnalyzeModal => {
            refuse(duty, &reply, &Trouble::UnknownAction, who.locale).await;
            return;
        }
    };
    commit(duty, &reply, &work, Acknowledge::Silently, who.locale).await;
}

/// `/resolve` opens its modal, prefilled from the confirmed cause and the tried fix.
async fn resolve_modal(
    duty: &Duty,
    reply: &Reply,
    who: &Person,
    place: &Place,
    worked: Option<&str>,
) {
    let worked = match worked {
        Some("yes") => Some(true),
        Some("no") => Some(false),
        _ => None,
    };
    let incident = match duty.scope(place).await {
        Ok((_, Some(incident))) => incident,
        Ok((_, None)) => {
            refuse(duty, reply, &Trouble::NoIncidentHere, who.locale).await;
            return;
        }
        Err(error) => {
            cannot_record(duty, reply, who.locale, &error).await;
            return;
        }
    };
    let own = reporter_id(&incident.reporter) == Some(who.id);
    let deed = if own {
        Deed::ResolveOwn
    } else {
        Deed::ResolveForOthers
    };
    if !permitted(duty, reply, who, place, rights::right_for(deed)).await {
        return;
    }
    let attempts = duty
        .store
        .attempts(&scope_of(&incident), incident.id())
        .await
        .unwrap_or_default();
    let tried = attempts.iter().rev().find(|attempt| !attempt.withdrawn);
    let prefill = present::Prefill {
        cause: incident.past.root_cause.clone(),
        fix: tried
            .map(|attempt| attempt.fix.fix.clone())
            .unwrap_or_default(),
        ruled_out: incident.past.ruled_out.join("\n"),
        prevention: incident.past.prevention.clone(),
    };
    let payload = present::resolve_modal(who.locale, incident.id(), worked, &prefill);
    open_modal(duty, reply, &payload, who.locale).await;
}

/// Whether the person may; where not, or where that can't be found out, they are told.
async fn permitted(duty: &Duty, reply: &Reply, who: &Person, place: &Place, right: Right) -> bool {
    match duty.allowed(&who.may, place.guild, right).await {
        Ok(true) => true,
        Ok(false) => {
            refuse(duty, reply, &Trouble::NotAllowed(right.into()), who.locale).await;
            false
        }
        Err(error) => {
            cannot_record(duty, reply, who.locale, &error).await;
            false
        }
    }
}

async fn open_modal(duty: &Duty, reply: &Reply, payload: &Value, locale: Locale) {
    if let Err(error) = duty.rest.open_modal(reply, payload).await {
        tracing::warn!(reason = error.reason(), "a modal could not be opened");
        if matches!(error, DiscordError::Invalid { .. }) {
            refuse(duty, reply, &Trouble::Unexpected, locale).await;
        }
    }
}

/// Answers that person alone.
pub(super) async fn refuse(duty: &Duty, reply: &Reply, trouble: &Trouble, locale: Locale) {
    let post = present::error(trouble, None, locale);
    if let Err(error) = duty.rest.show(reply, &post.payload, true).await {
        tracing::warn!(reason = error.reason(), "a refusal could not be said");
    }
}

/// The database did not take or give it: said with an id that the log knows.
pub(super) async fn cannot_record(duty: &Duty, reply: &Reply, locale: Locale, error: &StoreError) {
    let id = trouble_id(&reply.interaction.to_string());
    tracing::error!(
        id,
        error = error as &dyn std::error::Error,
        "a command could not be stored"
    );
    let post = present::error(&Trouble::CannotRecord, Some(&id), locale);
    if let Err(error) = duty.rest.show(reply, &post.payload, true).await {
        tracing::warn!(reason = error.reason(), "a refusal could not be said");
    }
}

/// Commits, then acknowledges; a store slower than a second is not waited for.
async fn commit(duty: &Duty, reply: &Reply, work: &Work, how: Acknowledge, locale: Locale) {
    let pending = duty.acknowledgements.begin(reply.interaction);
    let commit = duty.commit(work);
    tokio::pin!(commit);
    let in_time = tokio::time::timeout(COMMIT_WAIT, &mut commit).await;
    match in_time {
        Ok(Err(error)) => {
            drop(pending);
            cannot_record(duty, reply, locale, &error).await;
        }
        Ok(Ok(())) => {
            pause::at("committed").await;
            acknowledge(duty, reply, how).await;
            drop(pending);
        }
        Err(_) => {
            acknowledge(duty, reply, how).await;
            drop(pending);
            if let Err(error) = commit.await {
                let id = trouble_id(&reply.interaction.to_string());
                tracing::error!(
                    id,
                    error = &error as &dyn std::error::Error,
                    "a command was acknowledged and then not stored"
                );
                let post = present::error(&Trouble::NotStoredAfterAll, Some(&id), locale);
                match how {
                    Acknowledge::Silently => duty.tell(reply, &post).await,
                    Acknowledge::Publicly | Acknowledge::Privately => {
                        let _shown = duty.answer(reply, &post).await;
                    }
                }
            }
        }
    }
}

async fn acknowledge(duty: &Duty, reply: &Reply, how: Acknowledge) {
    let done = match how {
        Acknowledge::Publicly => duty.rest.defer(reply, false).await,
        Acknowledge::Silently => duty.rest.defer_update(reply).await,
        Acknowledge::Privately => duty.rest.defer(reply, true).await,
    };
    match done {
        // The same interaction delivered twice is acknowledged once.
        Ok(()) | Err(DiscordError::AlreadyAnswered) => {}
        Err(error) => tracing::warn!(
            reason = error.reason(),
            "an interaction could not be acknowledged"
        ),
    }
}

/// A message: a question where it mentions the bot (or, in an incident's thread, asks something),
/// evidence where it stands in an incident's thread.
async fn said(
    duty: &Duty,
    who: Person,
    place: Place,
    message: SeenMessage,
    mentions_bot: bool,
    empty_without_intent: bool,
) {
    let guild = place.guild.to_string();
    let incident = match duty
        .store
        .by_thread(&guild, &place.channel.to_string())
        .await
    {
        Ok(incident) => incident,
        Err(error) => {
            tracing::error!(
                error = &error as &dyn std::error::Error,
                "a message's incident can't be found"
            );
            return;
        }
    };
    if incident.is_none() && !mentions_bot {
        return;
    }
    if empty_without_intent {
        // Nothing can be read of it; slash commands and mentions still work.
        return;
    }
    match duty
        .store
        .first_time(&format!("message/{}", message.id), Timestamp::now())
        .await
    {
        Ok(true) => {}
        Ok(false) => return,
        Err(error) => {
            tracing::error!(
                error = &error as &dyn std::error::Error,
                "a message could not be noted"
            );
            return;
        }
    }
    let duty = &match &incident {
        Some(incident) => duty.in_incident(incident).await,
        None => duty.clone(),
    };
    let text = duty.responder.redact_text(&without_mention(&message.text));
    let asks = mentions_bot || is_question(&text);
    let evidence = Work::Evidence(Evidence {
        place,
        by: who.name.clone(),
        message: message.id,
        text: text.clone(),
        files: duty.clean_files(message.files.clone()),
        at_ms: message.at_ms,
        asks,
    });
    let mut committed = Ok(());
    if incident.is_some() {
        committed = duty.commit(&evidence).await;
    }
    if asks && committed.is_ok() {
        let question = Work::FollowUp(FollowUp {
            place,
            locale: who.locale,
            by: who.name.clone(),
            author: who.id,
            question: text,
            message: Some(message.id),
            reply: None,
            at_ms: message.at_ms,
            over_limit_seconds: duty.limiter.question(place.guild, who.id),
        });
        // A burst is one question: the answer waits for what follows at once.
        let at = Timestamp::now().checked_add(BURST).ok();
        committed = duty.commit_at(&question, at).await;
    }
    if let Err(error) = committed {
        let id = trouble_id(&message.id.to_string());
        tracing::error!(
            id,
            error = &error as &dyn std::error::Error,
            "a message could not be stored"
        );
        if mentions_bot {
            let post =
                present::notice(&say::trouble(who.locale, &Trouble::CannotRecord, Some(&id)));
            if let Err(error) = duty
                .rest
                .post(place.channel, &post.payload, Vec::new())
                .await
            {
                tracing::warn!(reason = error.reason(), "a refusal could not be said");
            }
        }
    }
}

/// The text without mentions of anybody: they are for Discord, not for the question.
fn without_mention(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, after)) = rest.split_once("<@") {
        out.push_str(before);
        match after.split_once('>') {
            Some((id, tail))
                if id
                    .trim_start_matches(['!', '&'])
                    .bytes()
                    .all(|b| b.is_ascii_digit()) =>
            {
                rest = tail
            }
            _ => {
                out.push_str("<@");
                rest = after;
            }
        }
    }
    out.push_str(rest);
    out.trim().to_owned()
}

/// Whether a message asks something.
pub(super) fn is_question(text: &str) -> bool {
    let trimmed = text.trim_end_matches(|c: char| {
        c.is_whitespace() || matches!(c, '"' | '\'' | ')' | '）' | '”')
    });
    let folded = crate::incident::words::fold(text.trim_start());
    trimmed.ends_with(['?', '？'])
        || ["吗", "呢", "么"].iter().any(|end| trimmed.ends_with(end))
        || ["什么", "怎么", "为什么", "谁", "哪", "是否"]
            .iter()
            .any(|word| folded.starts_with(word))
        || ["what ", "why ", "how ", "when ", "where ", "who ", "which "]
            .iter()
            .any(|word| folded.starts_with(word))
}

/// After a (re)connect, what was written meanwhile in threads of open incidents is read over REST;
/// what was seen before is seen once.
async fn catch_up(duty: &Duty) {
    let open = match duty.store.open_threads().await {
        Ok(open) => open,
        Err(error) => {
            tracing::error!(
                error = &error as &dyn std::error::Error,
                "open threads can't be listed"
            );
            return;
        }
    };
    let me = duty.rest.me().await.map(|me| me.id).ok();
    for (guild, thread) in open {
        let now = Timestamp::now().as_millisecond();
        let after = crate::discord::id_at_ms(now - CATCH_UP_MILLIS).max(thread);
        let messages = match duty.rest.messages_after(thread, after, CATCH_UP).await {
            Ok(messages) => messages,
            Err(error) => {
                tracing::debug!(reason = error.reason(), "a thread can't be read again");
                continue;
            }
        };
        for message in messages
            .into_iter()
            .filter(|message| !message.from_bot && Some(message.author.id) != me)
        {
            let place = Place {
                guild,
                channel: thread,
                parent: None,
                thread: true,
                private: true,
                known: true,
            };
            let mentions = me.is_some_and(|me| {
                message.text.contains(&format!("<@{me}>"))
                    || message.text.contains(&format!("<@!{me}>"))
            });
            let empty = message.text.is_empty() && message.files.is_empty();
            said(
                duty,
                message.author.clone(),
                place,
                message,
                mentions,
                empty,
            )
            .await;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mentions_are_not_part_of_a_question() {
        for (text, expected) in [
            ("<@123> what fixed it?", "what fixed it?"),
            ("<@!123> and <@&9> since when?", "and  since when?"),
            ("a <@ b", "a <@ b"),
            ("x <@abc> y", "x <@abc> y"),
        ] {
            assert_eq!(without_mention(text), expected, "{text}");
        }
    }

    #[test]
    fn what_asks_something() {
        for (text, asks) in [
            ("what fixed it last time", true),
            ("still broken?", true),
            ("上次怎么修的？", true),
            ("恢复了吗", true),
            ("the pool is at 30 %", false),
            ("重启了", false),
            ("", false),
        ] {
            assert_eq!(is_question(text), asks, "{text}");
        }
    }
}

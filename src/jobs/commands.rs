//! Commands that are answered at once: they read, or write one row.

use super::duty::{Duty, files, scope_of, trouble_id};
use super::intake::{cannot_record, refuse};
use super::outcomes::{self, NotHeld};
use super::recollect::{Asked, Recollected, united};
use super::respond::{ANALYSE, REFINE};
use super::{chronicle, joining, keeping, registry, watch};
use crate::discord::{DiscordError, OptionValue, Options, Person, Place, Reply};
use crate::incident::rights::right_for_command;
use crate::incident::{
    Engine, FixAttempt, IncidentId, Locale, Outcome, PastIncident, PatternId, Severity, Status,
};
use crate::memory;
use crate::present::say::{self, Trouble};
use crate::present::{self, IncidentRow, Post, Spent, Timing};
use crate::response::redact;
use crate::store::{
    Entry, Filter, Incident, Link, LinkError, PutOutcome, Roles, Scope, Signed, StoreError,
};
use crate::validation::analysis::Audience;
use jiff::Timestamp;
use std::time::Duration;

/// Completions that Discord takes.
const MOST_CHOICES: usize = 25;
/// How long an answer is worked out before the person is acknowledged without it; Discord waits
/// three seconds.
const ACKNOWLEDGED_AFTER: Duration = Duration::from_millis(1_200);
/// Incidents that `/memory search` lists.
const MOST_FOUND: usize = 10;

/// Answers a command.
pub async fn answer(
    duty: &Duty,
    reply: &Reply,
    who: &Person,
    place: &Place,
    command: &str,
    options: &Options,
) {
    if command == "why" {
        why(duty, reply, who, place, None).await;
        return;
    }
    let locale = who.locale;
    let (own, who, place) = (duty.clone(), who.clone(), *place);
    let (command, options) = (command.to_owned(), options.clone());
    let answered = async move { answer_to(&own, &who, &place, &command, &options).await };
    privately(duty, reply, locale, answered).await;
}

async fn answer_to(
    duty: &Duty,
    who: &Person,
    place: &Place,
    command: &str,
    options: &Options,
) -> Answered {
    // Discord's own settings for commands are not relied on.
    let right = right_for_command(command);
    if !duty.allowed(&who.may, place.guild, right).await? {
        return Err(Trouble::NotAllowed(right.into()).into());
    }
    match command {
        "help" => Ok(help(who.locale)),
        "update" => update(duty, who, place, options).await,
        "incident show" => incident_show(duty, who, place, options).await,
        "incident list" => incident_list(duty, who, place, options).await,
        "incident merge" => incident_merge(duty, who, place, options).await,
        "incident timeline" => chronicle::timeline(duty, who, place, options).await,
        "incident postmortem" => chronicle::postmortem(duty, who, place, options).await,
        "memory search" => memory_search(duty, who, place, options).await,
        "memory show" => memory_show(duty, who, place, options).await,
        "memory add" => memory_add(duty, who, place, options).await,
        "memory duplicate" => memory_duplicate(duty, who, place, options).await,
        "memory review" => super::review::next(duty, who, place).await,
        "memory forget" => keeping::ask_forget(duty, who, place, options).await,
        "memory share" => keeping::share(duty, who, place, options, true).await,
        "memory unshare" => keeping::share(duty, who, place, options, false).await,
        "memory export" => keeping::export(duty, who, place).await,
        "service list" => registry::list(duty, who, place).await,
        "service show" => registry::show(duty, who, place, options).await,
        "service set" => registry::set(duty, who, place, options).await,
        "service alias" => registry::alias(duty, who, place, options).await,
        "service rename" => registry::rename(duty, who, place, options).await,
        "service merge" => registry::merge(duty, who, place, options).await,
        "service remove" => registry::remove(duty, who, place, options).await,
        "settings roles" => roles(duty, who, place, options).await,
        "settings severity" => severity(duty, who, place, options).await,
        "catchup" => catch_up(duty, who, place, None).await,
        "watch alerts" => watch::watch_alerts(duty, who, place, options).await,
        "watch changes" => watch::watch_changes(duty, who, place, options).await,
        "watch stop" => watch::stop(duty, who, place, options).await,
        "watch list" => watch::list(duty, who, place).await,
        _ => Err(Refusal::Trouble(Trouble::UnknownAction)),
    }
}

/// Works an answer out and gives it to that person alone; where that takes long (an analysis of a
/// long log is checked anew), the person is acknowledged meanwhile.
pub(super) async fn privately(
    duty: &Duty,
    reply: &Reply,
    locale: Locale,
    work: impl Future<Output = Answered> + Send + 'static,
) {
    // A task of its own: what computes does not keep the clock from being looked at.
    let mut work = tokio::spawn(work);
    let (answered, acknowledged) = match tokio::time::timeout(ACKNOWLEDGED_AFTER, &mut work).await {
        Ok(answered) => (answered, false),
        Err(_) => {
            let acknowledged = duty.rest.defer(reply, true).await.is_ok();
            (work.await, acknowledged)
        }
    };
    let answered = answered.unwrap_or(Err(Refusal::Trouble(Trouble::Unexpected)));
    if !acknowledged {
        say_privately(duty, reply, locale, answered).await;
        return;
    }
    let post = match answered {
        Ok(post) => post,
        Err(Refusal::Trouble(trouble)) => present::error(&trouble, None, locale),
        Err(Refusal::Store(error)) => {
            let id = trouble_id(&reply.interaction.to_string());
            tracing::error!(
                id,
                error = &error as &dyn std::error::Error,
                "a command could not be answered"
            );
            present::error(&Trouble::CannotRecord, Some(&id), locale)
        }
    };
    duty.answer(reply, &post).await;
}

/// Why a command is not done.
pub(super) enum Refusal {
    Trouble(Trouble),
    Store(StoreError),
}

impl From<StoreError> for Refusal {
    fn from(error: StoreError) -> Self {
        match error {
            StoreError::NotFound => Self::Trouble(Trouble::UnknownIncident),
            other => Self::Store(other),
        }
    }
}

impl From<Trouble> for Refusal {
    fn from(trouble: Trouble) -> Self {
        Self::Trouble(trouble)
    }
}

/// What is said to the person alone, or why nothing was done.
pub(super) type Answered = Result<Post, Refusal>;

async fn say_privately(duty: &Duty, reply: &Reply, locale: Locale, answered: Answered) {
    match answered {
        Ok(post) => {
            let shown = if post.files.is_empty() {
                duty.rest.show(reply, &post.payload, true).await
            } else {
                // Files go with an edit: the first answer takes none here.
                match duty.rest.defer(reply, true).await {
                    Ok(()) => duty
                        .rest
                        .edit_original(reply, &post.edit(), files(&post))
                        .await
                        .map(drop),
                    Err(error) => Err(error),
                }
            };
            if let Err(error) = shown {
                tracing::warn!(reason = error.reason(), "an answer could not be shown");
                if matches!(error, DiscordError::Invalid { .. }) {
                    refuse(duty, reply, &Trouble::Unexpected, locale).await;
                }
            }
        }
        Err(Refusal::Trouble(trouble)) => refuse(duty, reply, &trouble, locale).await,
        Err(Refusal::Store(error)) => cannot_record(duty, reply, locale, &error).await,
    }
}

/// Names of services that begin with or hold what is typed.
pub async fn complete(
    duty: &Duty,
    reply: &Reply,
    place: &Place,
    _command: &str,
    _option: &str,
    typed: &str,
) {
    let registry = duty.registry(&place.guild.to_string()).await;
    let wanted = crate::incident::words::fold(typed.trim());
    let mut names: Vec<(bool, String)> = registry
        .services
        .iter()
        .filter_map(|service| {
            let all = std::iter::once(&service.name).chain(&service.aliases);
            let folded: Vec<String> = all.map(|name| crate::incident::words::fold(name)).collect();
            let begins = folded.iter().any(|name| name.starts_with(&wanted));
            let holds = folded.iter().any(|name| name.contains(&wanted));
            (begins || holds).then(|| (!begins, service.name.clone()))
        })
        .collect();
    names.sort();
    let choices = names
        .into_iter()
        .take(MOST_CHOICES)
        .map(|(_, name)| (present::escape::plain(&name), name))
        .collect();
    if let Err(error) = duty.rest.choices(reply, choices).await {
        tracing::debug!(reason = error.reason(), "completions came too late");
    }
}

fn help(locale: Locale) -> Post {
    let declared = crate::discord::declared();
    let mut about: Vec<(String, String)> = Vec::new();
    for command in declared.as_array().into_iter().flatten() {
        let name = command
            .get("name")
            .and_then(|name| name.as_str())
            .unwrap_or_default();
        let on_a_message = command.get("type").and_then(|kind| kind.as_u64()) == Some(3);
        if on_a_message {
            let localized = command
                .get("name_localizations")
                .and_then(|all| all.get("zh-CN"))
                .and_then(|name| name.as_str())
                .filter(|_| locale == Locale::Zh);
            about.push((
                localized.unwrap_or(name).to_owned(),
                say::help_on_a_message(locale).to_owned(),
            ));
            continue;
        }
        let text = |of: &serde_json::Value| {
            let localized = match locale {
                Locale::Zh => of
                    .get("description_localizations")
                    .and_then(|all| all.get("zh-CN"))
                    .and_then(|text| text.as_str()),
                Locale::En => None,
            };
            localized
                .or_else(|| of.get("description").and_then(|text| text.as_str()))
                .unwrap_or_default()
                .to_owned()
        };
        let subcommands: Vec<&serde_json::Value> = command
            .get("options")
            .and_then(|options| options.as_array())
            .into_iter()
            .flatten()
            .filter(|option| option.get("type").and_then(serde_json::Value::as_u64) == Some(1))
            .collect();
        if subcommands.is_empty() {
            about.push((format!("/{name}"), text(command)));
        }
        for subcommand in subcommands {
            let sub = subcommand
                .get("name")
                .and_then(|name| name.as_str())
                .unwrap_or_default();
            about.push((format!("/{name} {sub}"), text(subcommand)));
        }
    }
    present::help(&about, locale)
}

/// The incident of the place.
async fn here(duty: &Duty, place: &Place) -> Result<Incident, Refusal> {
    match duty.scope(place).await? {
        (_, Some(incident)) => Ok(incident),
        (_, None) => Err(Trouble::NoIncidentHere.into()),
    }
}

async fn update(duty: &Duty, _who: &Person, place: &Place, options: &Options) -> Answered {
    let incident = here(duty, place).await?;
    let stored = duty
        .store
        .latest_analysis(&scope_of(&incident), incident.id())
        .await?
        .filter(|stored| stored.proposal.is_some())
        .ok_or(Trouble::NoIncidentHere)?;
    let analysis = duty.shown(&stored).ok_or(Trouble::NoIncidentHere)?;
    let mut view = duty
        .view(&incident, &stored, &analysis, Timestamp::now())
        .await?;
    let audience = options
        .text("audience")
        .and_then(Audience::parse)
        .unwrap_or(Audience::Internal);
    duty.compose_update(&incident, &analysis, &mut view, audience)
        .await?
        .ok_or_else(|| Trouble::NoIncidentHere.into())
}

/// The audience of a posted update is changed in place, or it is composed anew.
#[expect(clippy::too_many_arguments, reason = "a click is exactly these facts")]
pub async fn change_audience(
    duty: &Duty,
    reply: &Reply,
    who: &Person,
    place: &Place,
    id: IncidentId,
    seq: u32,
    audience: Option<Audience>,
    refreshed: bool,
) {
    let composed = async {
        let (scope, _) = duty.scope(place).await?;
        let incident = duty.store.incident(&scope, id).await?;
        let stored = duty.store.analysis(&scope, id, seq).await?;
        let analysis = duty.shown(&stored).ok_or(StoreError::NotFound)?;
        let mut view = duty
            .view(&incident, &stored, &analysis, Timestamp::now())
            .await?;
        let audience = audience.unwrap_or(Audience::Internal);
        let post = duty
            .compose_update(&incident, &analysis, &mut view, audience)
            .await?
            .ok_or(StoreError::NotFound)?;
        // Composed anew in the thread it is the team's next update.
        if refreshed
            && view.audience == Audience::Internal
            && duty
                .update_went_out(&incident, &analysis, &view, &who.name)
                .await?
        {
            after_update(duty, &incident).await;
        }
        Ok(post)
    };
    match composed.await {
        Ok(post) => {
            if let Err(error) = duty.rest.update_message(reply, &post.edit()).await {
                tracing::warn!(reason = error.reason(), "an update could not be changed");
            }
        }
        Err(StoreError::NotFound) => {
            refuse(duty, reply, &Trouble::UnknownIncident, who.locale).await
        }
        Err(error) => cannot_record(duty, reply, who.locale, &error).await,
    }
}

/// Explains an analysis to that person alone.
pub async fn why(
    duty: &Duty,
    reply: &Reply,
    who: &Person,
    place: &Place,
    which: Option<(IncidentId, u32)>,
) {
    let (own, seen_from) = (duty.clone(), *place);
    let explained = async move {
        let (duty, place) = (&own, &seen_from);
        let (scope, here) = duty.scope(place).await?;
        let incident = match (which, here) {
            (Some((id, _)), _) => duty.store.incident(&scope, id).await?,
            (None, Some(incident)) => incident,
            (None, None) => return Err(Refusal::Trouble(Trouble::NoIncidentHere)),
        };
        let stored = match which {
            Some((id, seq)) => duty.store.analysis(&scope, id, seq).await?,
            None => duty
                .store
                .latest_analysis(&scope_of(&incident), incident.id())
                .await?
                .ok_or(Trouble::NoIncidentHere)?,
        };
        let analysis = duty.shown(&stored).ok_or(Trouble::NoIncidentHere)?;
        let view = duty
            .view(&incident, &stored, &analysis, Timestamp::now())
            .await?;
        let answers = duty
            .store
            .answer_corrections(&scope_of(&incident), incident.id(), stored.created_at)
            .await?
            .into_iter()
            .map(|changed| (changed.question, changed.corrections))
            .collect::<Vec<_>>();
        // Without a model there was nothing to route to.
        let unrouted = matches!(
            analysis.engine,
            Engine::Fallback {
                reason: crate::incident::FallbackReason::NotConfigured
            }
        );
        let route = (!unrouted).then_some(&stored.route);
        Ok(present::why(
            &analysis,
            &view,
            &stored.case.memory,
            route,
            &timings(&stored.measures),
            &redact::struck_in(&stored.case.report.all_text()),
            &answers,
        ))
    };
    privately(duty, reply, who.locale, explained).await;
}

fn timings(measures: &crate::store::Measures) -> Vec<Timing> {
    use say::StageName;
    // The heuristics and the triage model are one stage to whoever reads it.
    let named: [(&[&str], StageName); 5] = [
        (&["triage", REFINE], StageName::Triage),
        (&["recall"], StageName::Memory),
        (&["route"], StageName::Route),
        (&[ANALYSE], StageName::Analysis),
        (&["validate"], StageName::Validation),
    ];
    named
        .into_iter()
        .filter_map(|(words, stage)| {
            let took = |word: &&str| measures.stage_millis.get(*word);
            let asked = |word: &&str| measures.stage_tokens.get(*word);
            let tokens = words.iter().filter_map(asked).fold(None, |sum, tokens| {
                let sum: Spent = sum.unwrap_or_default();
                Some(Spent {
                    prompt: sum.prompt + tokens.0,
                    completion: sum.completion + tokens.1,
                })
            });
            words
                .iter()
                .any(|word| took(word).is_some())
                .then(|| Timing {
                    stage,
                    millis: words.iter().filter_map(took).sum(),
                    tokens,
                })
        })
        .collect()
}

/// A past incident in full, to that person alone.
pub async fn open_past(
    duty: &Duty,
    reply: &Reply,
    who: &Person,
    place: &Place,
    own: Option<IncidentId>,
    chosen: Option<&str>,
) {
    let opened = async {
        let id = chosen
            .and_then(IncidentId::parse)
            .ok_or(Trouble::UnknownIncident)?;
        let (scope, _) = duty.scope(place).await?;
        let incident = find(duty, &scope, id).await?;
        let analyses = match own {
            Some(own) => duty.store.analyses(&scope, own).await.unwrap_or_default(),
            None => Vec::new(),
        };
        let grade = analyses
            .last()
            .and_then(|stored| {
                stored
                    .case
                    .memory
                    .recalled()
                    .iter()
                    .find(|recalled| recalled.incident.id == id)
            })
            .map(|recalled| recalled.grade);
        Ok(duty
            .past_in_full(&scope, &incident, grade, who.locale)
            .await?)
    };
    let answered = opened.await;
    say_privately(duty, reply, who.locale, answered).await;
}

fn id_option(options: &Options) -> Result<Option<IncidentId>, Refusal> {
    let written = match options.0.get("id") {
        None => return Ok(None),
        Some(OptionValue::Text(text)) => text.clone(),
        Some(OptionValue::Number(number)) => number.to_string(),
        Some(_) => return Err(Trouble::UnknownIncident.into()),
    };
    IncidentId::parse(&written)
        .map(Some)
        .ok_or_else(|| Trouble::UnknownIncident.into())
}

/// The incident that is named, else that of the place.
async fn named_or_here(
    duty: &Duty,
    place: &Place,
    id: Option<IncidentId>,
) -> Result<Incident, Refusal> {
    let (scope, here) = duty.scope(place).await?;
    match (id, here) {
        (Some(id), _) => find(duty, &scope, id).await,
        (None, Some(incident)) => Ok(incident),
        (None, None) => Err(Trouble::NoIncidentHere.into()),
    }
}

async fn incident_show(duty: &Duty, who: &Person, place: &Place, options: &Options) -> Answered {
    let incident = named_or_here(duty, place, id_option(options)?).await?;
    let now = Timestamp::now();
    let stored = duty
        .store
        .latest_analysis(&scope_of(&incident), incident.id())
        .await?;
    let shown = stored
        .as_ref()
        .and_then(|stored| Some((stored, duty.shown(stored)?)));
    let Some((stored, analysis)) = shown else {
        // Imported records were never analysed here.
        return Ok(present::past_incident(
            &incident.past,
            None,
            who.locale,
            now,
        ));
    };
    let mut view = duty.view(&incident, stored, &analysis, now).await?;
    view.locale = who.locale;
    Ok(present::incident_show(Some(&analysis), &view))
}

/// This incident is one with another.
async fn incident_merge(duty: &Duty, who: &Person, place: &Place, options: &Options) -> Answered {
    let incident = named_or_here(duty, place, id_option(options)?).await?;
    let other = options
        .text("into")
        .and_then(IncidentId::parse)
        .ok_or(Trouble::UnknownIncident)?;
    let key = Timestamp::now().as_millisecond().unsigned_abs();
    match joining::merge_into(duty, &incident, other, &who.name, key).await {
        Ok(()) => Ok(present::private(&say::merge_done(
            who.locale,
            incident.id(),
            other,
        ))),
        Err(joining::Unmerged::Refused(trouble)) => Err(trouble.into()),
        Err(joining::Unmerged::Job(error)) => {
            tracing::error!(%error, "a merge could not be finished");
            Err(Trouble::Unexpected.into())
        }
    }
}

/// Somebody wants to be reminded when an update is due, or no longer.
pub(super) async fn remind_me(
    duty: &Duty,
    who: &Person,
    place: &Place,
    id: IncidentId,
) -> Answered {
    let (scope, _) = duty.scope(place).await?;
    let incident = find(duty, &scope, id).await?;
    let wanted = duty
        .store
        .toggle_reminder(&scope, id, who.id, Timestamp::now())
        .await?;
    duty.look_later(&incident).await;
    Ok(present::private(say::reminder_set(who.locale, wanted)))
}

/// The headline by the update that just went out; where it can't be edited, the next look does it.
async fn after_update(duty: &Duty, incident: &Incident) {
    if let Err(error) = duty.after_update(incident).await {
        tracing::warn!(%error, "the headline can't be brought up to date");
    }
}

/// The shown update went out, in the words that were shown: the next one says what changed since.
pub(super) async fn update_sent(
    duty: &Duty,
    who: &Person,
    place: &Place,
    id: IncidentId,
    draft: u32,
) -> Answered {
    let (scope, _) = duty.scope(place).await?;
    let incident = find(duty, &scope, id).await?;
    let draft = match duty.store.draft(&scope, id, draft).await {
        Ok(draft) => draft,
        Err(StoreError::NotFound) => return Err(Trouble::OldCard.into()),
        Err(error) => return Err(error.into()),
    };
    let audience = Audience::parse(&draft.audience).ok_or(Trouble::UnknownAction)?;
    let running = duty.running(&incident).await?;
    let new = duty
        .draft_went_out(&incident, &running, draft, &who.name, Timestamp::now())
        .await?;
    after_update(duty, &incident).await;
    let said = say::update_is_sent(who.locale, say::audience(who.locale, audience), !new);
    Ok(present::private(&said))
}

/// Five lines for whoever comes late.
pub(super) async fn catch_up(
    duty: &Duty,
    who: &Person,
    place: &Place,
    id: Option<IncidentId>,
) -> Answered {
    let incident = named_or_here(duty, place, id).await?;
    let now = Timestamp::now();
    let stored = duty
        .store
        .latest_analysis(&scope_of(&incident), incident.id())
        .await?;
    let shown = stored
        .as_ref()
        .and_then(|stored| Some((stored, duty.shown(stored)?)));
    let Some((stored, analysis)) = shown else {
        return Ok(present::past_incident(
            &incident.past,
            None,
            who.locale,
            now,
        ));
    };
    let mut view = duty.view(&incident, stored, &analysis, now).await?;
    view.locale = who.locale;
    Ok(present::catch_up(Some(&analysis), &view))
}

/// The guild's criteria of severity: printed, and changed where something is given.
async fn severity(duty: &Duty, who: &Person, place: &Place, options: &Options) -> Answered {
    let guild = place.guild.to_string();
    if let Some(severity) = options.text("level").and_then(Severity::parse) {
        let words = options
            .text("criteria")
            .map(|words| duty.responder.redact_text(words));
        let minutes = options
            .number("minutes")
            .and_then(|minutes| u32::try_from(minutes).ok());
        let signed = Signed {
            by: &who.name,
            at: Timestamp::now(),
        };
        duty.store
            .set_criteria(&guild, severity, words.as_deref(), minutes, signed)
            .await?;
    }
    let criteria = duty.store.criteria(&guild).await?;
    let lines: Vec<(Severity, String, u32)> = Severity::ALL
        .into_iter()
        .map(|severity| {
            let words = criteria
                .words(severity)
                .unwrap_or_else(|| say::criteria(who.locale, severity));
            (severity, words.to_owned(), criteria.minutes(severity))
        })
        .collect();
    Ok(present::criteria(&lines, who.locale))
}

async fn incident_list(duty: &Duty, who: &Person, place: &Place, options: &Options) -> Answered {
    let (scope, _) = duty.scope(place).await?;
    let wanted = options.text("status").unwrap_or("open");
    let filter = Filter {
        open: wanted == "open",
        ..Filter::default()
    };
    let status = Status::parse(wanted);
    let rows: Vec<IncidentRow> = duty
        .store
        .list(&scope, &filter)
        .await?
        .into_iter()
        .filter(|incident| status.is_none_or(|status| incident.status == status))
        .filter(|incident| wanted != "resolved" || !incident.status.is_open())
        .map(|incident| IncidentRow {
            id: incident.id(),
            title: incident.past.title.clone(),
            service: incident.past.service.clone(),
            severity: incident.severity.unwrap_or(Severity::Sev3),
            status: incident.status,
            at: incident
                .reported_at
                .or(incident.past.started_at)
                .unwrap_or(incident.updated_at),
        })
        .collect();
    Ok(present::incident_list(&rows, who.locale, Timestamp::now()))
}

async fn memory_search(duty: &Duty, who: &Person, place: &Place, options: &Options) -> Answered {
    let (scope, _) = duty.scope(place).await?;
    let asked = options.text("query").unwrap_or_default();
    let words = crate::incident::words::tokens(asked);
    let registry = duty.registry(&scope.guild).await;
    let query = memory::Query {
        guild: &scope.guild,
        channel: &scope.channel,
        words: &words,
        service: registry.named_in(asked),
        registry: &registry,
        own: None,
        limit: 0,
        // Something is always nearest in meaning, and "nothing found" is an answer too.
        meaning: "",
    };
    let super::respond::Recollection::On(memory) = &duty.responder.memory else {
        return Err(Trouble::MemoryDown.into());
    };
    let ask = Asked {
        guild: scope.guild.clone(),
        channel: scope.channel.clone(),
        own: None,
        question: duty.responder.redact_text(asked),
    };
    let (found, named) = tokio::join!(memory.recall(&query), duty.responder.named(ask));
    let found = match united(found, named) {
        Recollected::Whole(found) => found,
        // What a source that failed might have had, nobody can say (R4).
        Recollected::InPart(found) if !found.candidates.is_empty() => found,
        Recollected::InPart(_) => return Err(Trouble::MemoryDown.into()),
        Recollected::Failed(error) => {
            tracing::error!(
                error = &error as &dyn std::error::Error,
                "memory can't be searched"
            );
            return Err(Trouble::MemoryDown.into());
        }
    };
    let found: Vec<PastIncident> = found
        .candidates
        .into_iter()
        // What is listed can be shown, and of a fragment there is nothing to show.
        .filter(|past| !past.is_fragment())
        .take(MOST_FOUND)
        .collect();
    let people = duty.store.people_said(&scope).await?;
    let patterns = duty.learned(&scope, &people, &found).await?;
    let now = Timestamp::now();
    let list = present::memory_list(&found, who.locale, now);
    Ok(present::with_patterns(list, &patterns, who.locale, now))
}

async fn memory_show(duty: &Duty, who: &Person, place: &Place, options: &Options) -> Answered {
    let (scope, _) = duty.scope(place).await?;
    if let Some(id) = options.text("id").and_then(PatternId::parse) {
        let (pattern, records) = duty.pattern(&scope, id).await?;
        return Ok(present::outcomes::pattern(
            &pattern,
            &records,
            who.locale,
            Timestamp::now(),
        ));
    }
    let id = required_id(options)?;
    let incident = find(duty, &scope, id).await?;
    Ok(duty
        .past_in_full(&scope, &incident, None, who.locale)
        .await?)
}

/// From the private view of an incident: a fix of it held.
pub async fn attempt_held(
    duty: &Duty,
    reply: &Reply,
    who: &Person,
    place: &Place,
    id: IncidentId,
    attempt: u32,
) {
    let said = async {
        let (scope, _) = duty.scope(place).await?;
        let now = Timestamp::now();
        match outcomes::say_held(duty, &scope, id, attempt, &who.name, now).await {
            Ok(_) => {}
            Err(NotHeld::Refuted) => return Err(Refusal::Trouble(Trouble::FixHasFailed)),
            Err(NotHeld::Store(error)) => return Err(error.into()),
        }
        let incident = duty.store.incident(&scope, id).await?;
        Ok(duty
            .past_in_full(&scope, &incident, None, who.locale)
            .await?)
    };
    match said.await {
        Ok(post) => {
            // Its file stays as it was: only an edit of another kind could change it.
            let mut payload = post.edit();
            if let Some(fields) = payload.as_object_mut() {
                fields.remove("attachments");
            }
            if let Err(error) = duty.rest.update_message(reply, &payload).await {
                tracing::warn!(reason = error.reason(), "a view could not be changed");
            }
        }
        Err(Refusal::Trouble(trouble)) => refuse(duty, reply, &trouble, who.locale).await,
        Err(Refusal::Store(error)) => cannot_record(duty, reply, who.locale, &error).await,
    }
}

/// Marks an incident as the same occurrence as another, or as a part of a larger one, or takes that
/// back: without a word for which, whatever stands.
async fn memory_duplicate(duty: &Duty, who: &Person, place: &Place, options: &Options) -> Answered {
    let (scope, _) = duty.scope(place).await?;
    let id = id_option(options)?.ok_or(Trouble::UnknownIncident)?;
    let of = match options
        .text("of")
        .map(str::trim)
        .filter(|of| !of.is_empty())
    {
        Some(of) => Some(IncidentId::parse(of).ok_or(Trouble::UnknownIncident)?),
        None => None,
    };
    let links = match (options.text("as"), of) {
        (Some("part"), _) => vec![Link::Parent],
        (Some(_), _) | (None, Some(_)) => vec![Link::DuplicateOf],
        (None, None) => {
            let past = duty.store.incident(&scope, id).await?.past;
            let mut stand = Vec::new();
            if past.duplicate_of.is_some() {
                stand.push(Link::DuplicateOf);
            }
            if past.parent.is_some() {
                stand.push(Link::Parent);
            }
            stand
        }
    };
    let mut linked = None;
    for link in links {
        let now = Timestamp::now();
        let done = duty.store.link(&scope, id, link, of, &who.name, now).await;
        match done {
            Ok(to) => linked = to.map(|to| (link, to)),
            Err(LinkError::Cycle) => return Err(Trouble::StandsUnderItself.into()),
            Err(LinkError::Visibility) => return Err(Trouble::SeenFromElsewhere.into()),
            Err(LinkError::Store(error)) => return Err(error.into()),
        }
    }
    let said = match linked {
        Some((Link::DuplicateOf, of)) => say::is_duplicate(who.locale, id, of),
        Some((Link::Parent, of)) => say::is_part(who.locale, id, of),
        None => say::is_no_duplicate(who.locale, id),
    };
    Ok(present::private(&said))
}

async fn memory_add(duty: &Duty, who: &Person, place: &Place, options: &Options) -> Answered {
    let clean = |name: &str| {
        let text = options.text(name).unwrap_or_default().trim();
        duty.responder.redact_text(text)
    };
    let now = Timestamp::now();
    let Some(placeholder) = IncidentId::new(1) else {
        return Err(Trouble::Unexpected.into());
    };
    let mut past = PastIncident::new(placeholder, clean("title"));
    if past.title.is_empty() {
        return Err(Trouble::EmptyReport.into());
    }
    let registry = duty.registry(&place.guild.to_string()).await;
    past.service = registry.canonical(&clean("service"));
    past.symptoms = clean("symptoms")
        .lines()
        .map(str::trim)
        .filter(|line| !line.is_empty())
        .map(str::to_owned)
        .collect();
    past.root_cause = clean("cause");
    past.resolved_at = Some(now);
    past.source = format!("discord: {}", who.name);
    let fix = clean("fix");
    if !fix.is_empty() {
        let outcome = options
            .text("outcome")
            .and_then(Outcome::parse)
            .unwrap_or_default();
        let mut attempt = FixAttempt::new(fix, outcome);
        attempt.by.clone_from(&who.name);
        attempt.at = Some(now);
        past.attempts.push(attempt);
    }
    let entry = Entry {
        id: None,
        past,
        // What is said in a private channel stays there.
        private_to: place.private.then(|| place.channel.to_string()),
    };
    let stored = duty
        .store
        .put_past(&place.guild.to_string(), &[entry], now, true)
        .await?;
    match stored.first() {
        Some(PutOutcome::Added(id) | PutOutcome::Replaced(id)) => {
            Ok(present::private(&say::remembered(who.locale, *id)))
        }
        Some(PutOutcome::Refused(_)) | None => Err(Trouble::Unexpected.into()),
    }
}

/// The roles that a guild has set: shown, or changed where one is given.
async fn roles(duty: &Duty, who: &Person, place: &Place, options: &Options) -> Answered {
    let guild = place.guild.to_string();
    let mut roles = duty.store.roles(&guild).await?;
    let before = roles;
    match options.text("clear") {
        Some("responders") => roles.responders = None,
        Some("administrators") => roles.administrators = None,
        Some("both") => roles = Roles::default(),
        _ => {}
    }
    for (option, role) in [
        ("responders", &mut roles.responders),
        ("administrators", &mut roles.administrators),
    ] {
        if let Some(id) = options.id(option) {
            // The role that everybody has carries the guild's own number.
            if id == place.guild {
                return Err(Trouble::RoleOfEverybody.into());
            }
            *role = Some(id);
        }
    }
    if roles != before {
        let signed = Signed {
            by: &who.name,
            at: Timestamp::now(),
        };
        duty.store.set_roles(&guild, roles, signed).await?;
    }
    let shown = |role: Option<u64>| role.map(|id| say::role_number(who.locale, id));
    Ok(present::private(&say::roles(
        who.locale,
        shown(roles.responders).as_deref(),
        shown(roles.administrators).as_deref(),
    )))
}

/// The text of an option without what is secret; `None` where nothing was given.
pub(super) fn redacted_option(duty: &Duty, options: &Options, name: &str) -> Option<String> {
    let text = options.text(name)?.trim();
    (!text.is_empty()).then(|| duty.responder.redact_text(text))
}

/// The incident that a command has to name.
pub(super) fn required_id(options: &Options) -> Result<IncidentId, Refusal> {
    id_option(options)?.ok_or_else(|| Trouble::UnknownIncident.into())
}

/// An incident that may be seen from the scope; where it was forgotten, that is said.
pub(super) async fn find(duty: &Duty, scope: &Scope, id: IncidentId) -> Result<Incident, Refusal> {
    match duty.store.incident(scope, id).await {
        Ok(incident) => Ok(incident),
        Err(StoreError::NotFound) => Err(keeping::gone(duty, scope, id).await),
        Err(error) => Err(error.into()),
    }
}

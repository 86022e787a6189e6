//! Services as people keep them, and the question which one an incident is of.
//!
//! Wanted: who changes a service is written down with what they changed; renaming and merging keep
//! every incident and every name. Where a report may mean several services, the bot asks once and
//! goes on meanwhile with an unknown one: a wrong service would prove things that are not so. The
//! choice changes the incident and analyzes it again.

use super::commands::{Answered, Refusal, redacted_option};
use super::duty::{Duty, Posted, scope_of};
use super::queue::JobError;
use super::work::{ChooseService, Reanalyze, Reindex, Work};
use crate::discord::{Options, Person, Place};
use crate::incident::link::web_address;
use crate::incident::{Owner, Registry, Service};
use crate::present::say::{self, Trouble};
use crate::present::services::NO_SERVICE;
use crate::present::{self, Action, Knows, ServiceChange, escape::inline};
use crate::store::{Audited, Change, Incident, Scope, Signed, StoreError};
use jiff::Timestamp;

/// Characters of a service's name, and of an alias.
const LONGEST_NAME: usize = 80;
/// Names, patterns or environments of a service.
const MOST_IN_A_LIST: usize = 20;
/// Owners of a service.
const MOST_OWNERS: usize = 8;
/// Runbooks of a service.
const MOST_RUNBOOKS: usize = 5;
/// People named who resolved a service's incidents before.
const MOST_PEOPLE: u32 = 5;
/// Incidents whose words are indexed anew in one transaction.
const INDEXED_AT_ONCE: u32 = 100;
/// What empties a list, as `/service set` says.
const NOTHING: &str = "-";

/// `/service set`.
pub(super) async fn set(duty: &Duty, who: &Person, place: &Place, options: &Options) -> Answered {
    let guild = place.guild.to_string();
    let known = duty.store.services(&guild).await?;
    let name = name_of(duty, options, "name")?;
    let mut service = known
        .resolve(&name)
        .and_then(|canonical| known.get(canonical))
        .cloned()
        .unwrap_or_else(|| Service::named(name));
    let list = |option: &str| -> Option<Vec<String>> {
        let text = redacted_option(duty, options, option)?;
        Some(if text == NOTHING {
            Vec::new()
        } else {
            parts(&text)
        })
    };
    if let Some(aliases) = list("aliases") {
        if !aliases.iter().all(|alias| is_name(alias)) {
            return Err(Trouble::BadServiceName.into());
        }
        service.aliases = aliases;
    }
    if let Some(patterns) = list("high_risk") {
        service.high_risk = patterns;
    }
    if let Some(apart) = list("environments_apart") {
        service.environments_apart = apart
            .iter()
            .map(|environment| environment.to_lowercase())
            .collect();
    }
    if let Some(owners) = list("owners") {
        let read: Option<Vec<Owner>> = owners.iter().map(|owner| Owner::parse(owner)).collect();
        let mentions = owners.iter().any(|owner| owner.contains("<@"));
        match read {
            Some(read) if !mentions && read.len() <= MOST_OWNERS => service.owners = read,
            _ => return Err(Trouble::BadOwners.into()),
        }
    }
    if let Some(repository) = redacted_option(duty, options, "repository") {
        service.repository = match repository.as_str() {
            NOTHING => String::new(),
            text => web_address(text).unwrap_or_else(|| text.to_owned()),
        };
    }
    if let Some(addresses) = redacted_option(duty, options, "runbooks") {
        let addresses: Vec<&str> = addresses
            .split_whitespace()
            .flat_map(|part| part.split(['，', '、']))
            .map(|part| part.trim_end_matches(','))
            .filter(|part| !part.is_empty() && *part != NOTHING)
            .collect();
        let read: Option<Vec<String>> = addresses.iter().map(|text| web_address(text)).collect();
        match read {
            Some(read) if read.len() <= MOST_RUNBOOKS => service.runbooks = read,
            _ => return Err(Trouble::BadAddress.into()),
        }
    }
    let signed = sign(who);
    match duty
        .store
        .change_service(&guild, &service, Some(signed))
        .await
    {
        Ok(()) => Ok(present::private(&say::service_stored(
            who.locale,
            &inline(&service.name),
        ))),
        Err(error) => Err(refused(&known, &service.name, &service.aliases, error)),
    }
}

/// `/service alias`.
pub(super) async fn alias(duty: &Duty, who: &Person, place: &Place, options: &Options) -> Answered {
    let guild = place.guild.to_string();
    let known = duty.store.services(&guild).await?;
    let canonical = registered(duty, &known, options, "name")?;
    let alias = name_of(duty, options, "alias")?;
    let taught = duty
        .store
        .teach_alias(&guild, &canonical, &alias, Some(sign(who)))
        .await;
    match taught {
        Ok(()) => Ok(present::private(&say::alias_stored(
            who.locale,
            &inline(&alias),
            &inline(&canonical),
        ))),
        Err(error) => Err(refused(&known, &canonical, &[alias], error)),
    }
}

/// `/service remove`.
pub(super) async fn remove(
    duty: &Duty,
    who: &Person,
    place: &Place,
    options: &Options,
) -> Answered {
    let guild = place.guild.to_string();
    let known = duty.store.services(&guild).await?;
    let canonical = registered(duty, &known, options, "name")?;
    duty.store
        .drop_service(&guild, &canonical, Some(sign(who)))
        .await
        .map_err(unknown_service)?;
    let (scope, _) = duty.scope(place).await?;
    let incidents = duty.store.incidents_of_service(&scope, &canonical).await?;
    Ok(present::private(&say::service_removed(
        who.locale,
        &inline(&canonical),
        incidents,
    )))
}

/// `/service rename`.
pub(super) async fn rename(
    duty: &Duty,
    who: &Person,
    place: &Place,
    options: &Options,
) -> Answered {
    let guild = place.guild.to_string();
    let known = duty.store.services(&guild).await?;
    let from = registered(duty, &known, options, "name")?;
    let to = name_of(duty, options, "to")?;
    let renamed = duty
        .store
        .rename_service(&guild, &from, &to, sign(who))
        .await;
    let incidents = match renamed {
        Ok(incidents) => incidents,
        Err(error) => return Err(refused(&known, &from, &[to], error)),
    };
    index_anew(duty, place.guild, &to).await?;
    Ok(present::private(&say::service_renamed(
        who.locale,
        &inline(&from),
        &inline(&to),
        incidents,
    )))
}

/// `/service merge`.
pub(super) async fn merge(duty: &Duty, who: &Person, place: &Place, options: &Options) -> Answered {
    let guild = place.guild.to_string();
    let known = duty.store.services(&guild).await?;
    let from = registered(duty, &known, options, "name")?;
    let into = registered(duty, &known, options, "into")?;
    let merged = duty
        .store
        .merge_services(&guild, &from, &into, sign(who))
        .await;
    let incidents = match merged {
        Ok(incidents) => incidents,
        Err(StoreError::Invalid(_)) => return Err(Trouble::NameTaken(inline(&into)).into()),
        Err(error) => return Err(unknown_service(error)),
    };
    index_anew(duty, place.guild, &into).await?;
    Ok(present::private(&say::services_merged(
        who.locale,
        &inline(&from),
        &inline(&into),
        incidents,
    )))
}

/// `/service show`.
pub(super) async fn show(duty: &Duty, who: &Person, place: &Place, options: &Options) -> Answered {
    let guild = place.guild.to_string();
    let known = duty.store.services(&guild).await?;
    let canonical = registered(duty, &known, options, "name")?;
    let (scope, _) = duty.scope(place).await?;
    let knows = knows(duty, &scope, &known, &canonical).await?;
    let incidents = duty.store.incidents_of_service(&scope, &canonical).await?;
    let changes: Vec<ServiceChange> = duty
        .store
        .audit_of(&guild, &canonical, 5)
        .await?
        .into_iter()
        .map(change)
        .collect();
    Ok(present::service_show(
        &knows,
        incidents,
        &changes,
        who.locale,
        Timestamp::now(),
    ))
}

/// `/service list`.
pub(super) async fn list(duty: &Duty, who: &Person, place: &Place) -> Answered {
    let registry = duty.store.services(&place.guild.to_string()).await?;
    Ok(present::service_list(
        &registry.services,
        who.locale,
        Timestamp::now(),
    ))
}

/// What is known of a service beside memory, and of people: for where memory knows nothing.
pub(super) async fn knows(
    duty: &Duty,
    scope: &Scope,
    registry: &Registry,
    service: &str,
) -> Result<Knows, StoreError> {
    let canonical = registry.resolve(service).unwrap_or(service);
    Ok(Knows {
        service: registry
            .get(canonical)
            .cloned()
            .unwrap_or_else(|| Service::named(canonical)),
        people: duty.store.resolvers(scope, canonical, MOST_PEOPLE).await?,
    })
}

/// Asks which service an incident is of, once, in its thread.
pub(super) async fn ask(
    duty: &Duty,
    incident: &Incident,
    services: &[String],
) -> Result<(), JobError> {
    if incident.past.service.is_some() || services.len() < 2 {
        return Ok(());
    }
    let question = present::which_service(incident.id(), services, incident.locale);
    duty.post_in_thread(incident, 0, "service", &question)
        .await?;
    Ok(())
}

/// Somebody said which it is: the incident changes and is analyzed again.
pub async fn choose(duty: &Duty, work: ChooseService) -> Result<(), JobError> {
    let click = &work.click;
    duty.acknowledgements.wait(click.interaction).await;
    let Some(Action::ChooseService { incident: id }) = Action::parse(&click.custom_id) else {
        return Err(JobError::never("a select that no version posted"));
    };
    let guild = click.guild.to_string();
    let Some(incident) = duty.store.incident_of_guild(&guild, id).await? else {
        let post = present::error(&Trouble::UnknownIncident, None, click.locale);
        duty.tell(&click.reply, &post).await;
        return Ok(());
    };
    let turn = duty.turns.take(click.guild, id.number()).await;
    let registry = duty.store.services(&guild).await?;
    let chosen = match work.service.as_str() {
        NO_SERVICE => None,
        name => match registry.resolve(name) {
            Some(canonical) => Some(canonical.to_owned()),
            None => {
                let post = present::error(&Trouble::UnknownService, None, click.locale);
                duty.tell(&click.reply, &post).await;
                return Ok(());
            }
        },
    };
    let scope = scope_of(&incident);
    if let Some(service) = &chosen {
        let change = Change::Service(Some(service.clone()));
        duty.store
            .update(&scope, id, &click.by, Timestamp::now(), &[change])
            .await?;
    }
    drop(turn);
    let said = present::notice(&say::service_chosen(
        incident.locale,
        chosen.as_deref().map(inline).as_deref(),
        &inline(&click.by),
    ));
    for known in duty.store.posts_of(&scope, id).await? {
        if !matches!(known.slot.as_str(), "service" | "service/channel") {
            continue;
        }
        if let (Ok(channel), Some(Ok(message))) = (
            known.channel.parse(),
            known.message.as_deref().map(str::parse),
        ) && let Err(error) = duty.edit(Posted { channel, message }, &said).await
        {
            tracing::warn!(reason = error.reason(), "a question can't be edited");
        }
    }
    if chosen.is_some() {
        let again = Work::Reanalyze(Reanalyze {
            guild: click.guild,
            incident: id.number(),
            by: click.by.clone(),
            key: format!("service/{}", click.interaction),
            reply: None,
            over_limit_seconds: work.over_limit_seconds,
            place: None,
        });
        duty.commit(&again).await?;
    }
    Ok(())
}

/// The words of a renamed service's incidents are indexed under its name, some at a time.
pub async fn reindex(duty: &Duty, work: Reindex) -> Result<(), JobError> {
    let guild = work.guild.to_string();
    let mut after = None;
    while let Some(last) = duty
        .store
        .reindex_service(&guild, &work.service, after, INDEXED_AT_ONCE)
        .await?
    {
        after = Some(last);
        tokio::task::yield_now().await;
    }
    Ok(())
}

async fn index_anew(duty: &Duty, guild: u64, service: &str) -> Result<(), StoreError> {
    let work = Work::Reindex(Reindex {
        guild,
        service: service.to_owned(),
        at_ms: Timestamp::now().as_millisecond(),
    });
    duty.commit(&work).await
}

fn sign(who: &Person) -> Signed<'_> {
    Signed {
        by: &who.name,
        at: Timestamp::now(),
    }
}

fn change(entry: Audited) -> ServiceChange {
    let text = |value: Option<&serde_json::Value>| {
        value
            .and_then(|value| value.as_str())
            .unwrap_or_default()
            .to_owned()
    };
    let detail = &entry.detail;
    let other = match entry.what.as_str() {
        "service_alias" => text(detail.get("alias")),
        "service_renamed" => text(detail.get("from")),
        "service_merged" => text(detail.get("from").and_then(|from| from.get("name"))),
        _ => String::new(),
    };
    ServiceChange {
        at: entry.at,
        by: entry.by,
        what: entry.what,
        other,
    }
}

/// The parts of a list as people write it.
fn parts(text: &str) -> Vec<String> {
    let mut all: Vec<String> = Vec::new();
    for part in text.split([',', '，', '、', ';', '；']).map(str::trim) {
        if !part.is_empty() && !all.iter().any(|known| known == part) && all.len() < MOST_IN_A_LIST
        {
            all.push(part.to_owned());
        }
    }
    all
}

fn is_name(name: &str) -> bool {
    !name.is_empty()
        && name != NO_SERVICE
        && name.chars().count() <= LONGEST_NAME
        && !name
            .chars()
            .any(|c| c.is_control() || matches!(c, '<' | '>' | '@' | '`'))
}

/// A name that can be one.
fn name_of(duty: &Duty, options: &Options, option: &str) -> Result<String, Refusal> {
    redacted_option(duty, options, option)
        .filter(|name| is_name(name))
        .ok_or_else(|| Trouble::BadServiceName.into())
}

/// The canonical name of a registered service that an option names.
fn registered(
    duty: &Duty,
    known: &Registry,
    options: &Options,
    option: &str,
) -> Result<String, Refusal> {
    let name = name_of(duty, options, option)?;
    known
        .resolve(&name)
        .map(str::to_owned)
        .ok_or_else(|| Trouble::UnknownService.into())
}

fn unknown_service(error: StoreError) -> Refusal {
    match error {
        StoreError::NotFound => Trouble::UnknownService.into(),
        other => other.into(),
    }
}

/// Why a name is not taken, with the service that has it.
fn refused(known: &Registry, own: &str, names: &[String], error: StoreError) -> Refusal {
    match error {
        StoreError::Conflict(_) => {
            let owner = known.services.iter().find(|other| {
                other.name != own
                    && std::iter::once(&other.name)
                        .chain(&other.aliases)
                        .any(|taken| taken == own || names.iter().any(|name| name == taken))
            });
            match owner {
                Some(owner) => Trouble::NameTaken(inline(&owner.name)).into(),
                None => Trouble::BadServiceName.into(),
            }
        }
        StoreError::Invalid(_) => Trouble::BadServiceName.into(),
        other => unknown_service(other),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_as_people_write_them() {
        for (text, expected) in [
            ("payments, auth", vec!["payments", "auth"]),
            ("支付，认证、密钥", vec!["支付", "认证", "密钥"]),
            (" , ,", vec![]),
            ("a, a, b", vec!["a", "b"]),
        ] {
            assert_eq!(parts(text), expected, "{text}");
        }
        assert_eq!(parts(&"x, y, z,".repeat(100)).len(), 3);
    }

    #[test]
    fn names_that_can_be_one() {
        for (name, can) in [
            ("payments-api", true),
            ("支付服务", true),
            ("-", false),
            ("", false),
            ("<@1>", false),
            ("@everyone", false),
            ("a`b", false),
            ("a\nb", false),
        ] {
            assert_eq!(is_name(name), can, "{name}");
        }
        assert!(!is_name(&"x".repeat(81)));
    }
}

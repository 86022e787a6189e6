//! The record of an incident as what happened, gathered from history, analyses, ticks and thread.

use super::commands::{Answered, Refusal};
use super::duty::{Duty, reporter_name, scope_of};
use crate::discord::{Options, Person, Place};
use crate::incident::{Engine, IncidentId, Locale, Moment, Outcome, Status};
use crate::memory::format;
use crate::present;
use crate::present::chronicle::{Chronicle, Entry, Happened};
use crate::present::say::{self, Field, Trouble};
use crate::store::{Event, Incident, StoreError};
use crate::validation::analysis::Audience;
use jiff::Timestamp;
use serde_json::Value;
use std::collections::HashMap;

/// `/incident timeline`.
pub(super) async fn timeline(
    duty: &Duty,
    who: &Person,
    place: &Place,
    options: &Options,
) -> Answered {
    let chronicle = of(duty, who, place, options).await?;
    Ok(present::chronicle::timeline(
        &chronicle,
        who.locale,
        Timestamp::now(),
    ))
}

/// `/incident postmortem`.
pub(super) async fn postmortem(
    duty: &Duty,
    who: &Person,
    place: &Place,
    options: &Options,
) -> Answered {
    let chronicle = of(duty, who, place, options).await?;
    Ok(present::chronicle::postmortem(
        &chronicle,
        who.locale,
        Timestamp::now(),
    ))
}

async fn of(
    duty: &Duty,
    who: &Person,
    place: &Place,
    options: &Options,
) -> Result<Chronicle, Refusal> {
    let (scope, here) = duty.scope(place).await?;
    let incident = match (options.text("id"), here) {
        (Some(id), _) => {
            let id = IncidentId::parse(id).ok_or(Trouble::UnknownIncident)?;
            duty.store.incident(&scope, id).await?
        }
        (None, Some(incident)) => incident,
        (None, None) => return Err(Trouble::NoIncidentHere.into()),
    };
    Ok(chronicle(duty, &incident, who.locale).await?)
}

/// Everything that is recorded of an incident.
async fn chronicle(
    duty: &Duty,
    incident: &Incident,
    locale: Locale,
) -> Result<Chronicle, StoreError> {
    let (scope, id) = (scope_of(incident), incident.id());
    let history = duty.store.history(&scope, id).await?;
    let fixes: HashMap<u64, String> = duty
        .store
        .attempts(&scope, id)
        .await?
        .into_iter()
        .map(|attempt| (u64::from(attempt.seq), attempt.fix.fix))
        .collect();
    let mut entries: Vec<Entry> = Vec::new();
    let mut steps: HashMap<u64, Vec<String>> = HashMap::new();
    let mut summary_of_model = None;
    for stored in duty.store.analyses(&scope, id).await? {
        let Some(analysis) = duty.shown(&stored) else {
            continue;
        };
        let words = analysis.next_steps.iter().map(|step| step.step.clone());
        steps.insert(u64::from(stored.seq), words.collect());
        let by_model = matches!(stored.engine, Some(Engine::Model { .. }));
        if by_model && !analysis.summary.trim().is_empty() {
            summary_of_model = Some(analysis.summary.clone());
        }
        entries.push(Entry {
            at: stored.created_at,
            by: String::new(),
            what: Happened::Analysed {
                seq: stored.seq,
                by_model,
                first: analysis
                    .hypotheses
                    .first()
                    .map(|hypothesis| hypothesis.title.clone()),
            },
        });
        for said in duty.store.approvals(&scope, id, stored.seq).await? {
            let step = steps
                .get(&u64::from(stored.seq))
                .and_then(|steps| steps.get(usize::try_from(said.step).ok()?));
            entries.extend(step.map(|step| Entry {
                at: said.entry.who.at,
                by: said.entry.who.name.clone(),
                what: Happened::Approval {
                    step: step.clone(),
                    word: said.entry.word,
                },
            }));
        }
        for tick in duty.store.tick_history(&scope, id, stored.seq).await? {
            let step = steps
                .get(&u64::from(stored.seq))
                .and_then(|steps| steps.get(usize::try_from(tick.step).ok()?));
            entries.extend(step.map(|step| Entry {
                at: tick.at,
                by: tick.by.clone(),
                what: Happened::Ticked {
                    step: step.clone(),
                    done: tick.ticked,
                },
            }));
        }
    }
    let report = incident.report.as_ref();
    for message in report.iter().flat_map(|report| &report.thread) {
        entries.push(Entry {
            at: message.at,
            by: message.author.clone(),
            what: Happened::Wrote(message.text.clone()),
        });
    }
    let told = Told {
        locale,
        report: report.map_or("", |report| &report.text),
        fixes: &fixes,
        steps: &steps,
    };
    entries.extend(history.iter().filter_map(|event| told.entry(event)));
    // An analysis begins with the report, to the millisecond.
    entries.sort_by_key(|entry| (!matches!(entry.what, Happened::Opened { .. }), entry.at));
    let running = duty.running(incident).await?;
    let private_to = incident.private.then_some(incident.channel.as_str());
    Ok(Chronicle {
        severity: incident
            .severity
            .map(|severity| (severity, incident.severity_by.is_some())),
        status: incident.status,
        lead: incident
            .lead
            .as_deref()
            .map(reporter_name)
            .map(str::to_owned),
        reporter: reporter_name(&incident.reporter).to_owned(),
        running,
        summary_of_model,
        entries,
        line: format::write_incident(&incident.past, &incident.course(), private_to),
        past: incident.past.clone(),
    })
}

/// What is needed to tell an event.
struct Told<'a> {
    locale: Locale,
    report: &'a str,
    fixes: &'a HashMap<u64, String>,
    steps: &'a HashMap<u64, Vec<String>>,
}

impl Told<'_> {
    /// What an event of the history tells; `None` for those that only the bot needs.
    fn entry(&self, event: &Event) -> Option<Entry> {
        let detail = |name: &str| event.detail.get(name);
        let text = |name: &str| detail(name).and_then(Value::as_str).unwrap_or_default();
        let number = |name: &str| detail(name).and_then(Value::as_u64);
        let outcome = || Outcome::parse(text("outcome")).unwrap_or_default();
        let fix = || {
            number("attempt")
                .and_then(|seq| self.fixes.get(&seq))
                .cloned()
        };
        let what = match event.what.as_str() {
            "opened" => Happened::Opened {
                report: self.report.to_owned(),
            },
            "attempt" => Happened::Fix {
                fix: text("fix").to_owned(),
                outcome: outcome(),
            },
            "outcome" => Happened::Fix {
                fix: fix()?,
                outcome: outcome(),
            },
            "attempt_withdrawn" => Happened::FixWithdrawn(fix()?),
            "cause_confirmed" | "cause_rejected" | "cause_withdrawn" => Happened::Cause {
                cause: text("cause").to_owned(),
                confirmed: match event.what.as_str() {
                    "cause_confirmed" => Some(true),
                    "cause_rejected" => Some(false),
                    _ => None,
                },
            },
            "resolved" => Happened::Resolved,
            "alert" => Happened::Said(say::alert_happened(self.locale, text("to"), text("alert"))),
            "update" => Happened::Updated {
                audience: Audience::parse(text("to"))
                    .map(|audience| say::audience(self.locale, audience))
                    .unwrap_or_default()
                    .to_owned(),
                text: text("text").to_owned(),
            },
            "step_taken" | "step_given_back" => {
                let steps = self.steps.get(&number("analysis")?)?;
                let step = steps.get(usize::try_from(number("step")?).ok()?)?;
                Happened::Took {
                    step: step.clone(),
                    taken: event.what == "step_taken",
                }
            }
            other => self.change(other, &event.detail)?,
        };
        Some(Entry {
            at: event.at,
            by: reporter_name(&event.by).to_owned(),
            what,
        })
    }

    fn change(&self, what: &str, detail: &Value) -> Option<Happened> {
        let locale = self.locale;
        let (from, to) = (detail.get("from"), detail.get("to"));
        let plain = |value: Option<&Value>| {
            let text = value.and_then(Value::as_str).unwrap_or_default();
            reporter_name(text).to_owned()
        };
        let (label, from, to) = match what {
            "severity" => (
                say::field(locale, Field::Severity).to_owned(),
                plain(from),
                plain(to),
            ),
            "status" => {
                let word = |value: Option<&Value>| {
                    value
                        .and_then(Value::as_str)
                        .and_then(Status::parse)
                        .map(|status| say::status_plain(locale, status).to_owned())
                        .unwrap_or_default()
                };
                (
                    say::field(locale, Field::Status).to_owned(),
                    word(from),
                    word(to),
                )
            }
            "lead" => (
                say::field(locale, Field::Lead).to_owned(),
                plain(from),
                plain(to),
            ),
            "comms_lead" => (
                say::field(locale, Field::Comms).to_owned(),
                plain(from),
                plain(to),
            ),
            "impact" => {
                let words = |value: Option<&Value>| {
                    let all = value.and_then(Value::as_object).into_iter().flatten();
                    let all: Vec<&str> = all
                        .filter_map(|(_, value)| value.as_str())
                        .filter(|text| !text.is_empty())
                        .collect();
                    all.join(" · ")
                };
                (say::impact_label(locale).to_owned(), words(from), words(to))
            }
            "time" => {
                let set = to?;
                let moment = Moment::ALL.into_iter().find(|moment| {
                    set.get("moment").and_then(Value::as_str) == Some(moment.word())
                })?;
                let at = |value: Option<&Value>| {
                    value
                        .and_then(Value::as_str)
                        .and_then(|text| text.parse::<Timestamp>().ok())
                        .map(|at| say::day_and_clock(locale, at))
                        .unwrap_or_default()
                };
                (
                    say::moment(locale, moment).to_owned(),
                    at(from),
                    at(set.get("at")),
                )
            }
            "duplicate_of" | "parent" => (
                match what {
                    "parent" => say::parent_label(locale).to_owned(),
                    _ => say::duplicate_label(locale).to_owned(),
                },
                String::new(),
                plain(to),
            ),
            "title" => (
                say::title_heading(locale).to_owned(),
                plain(from),
                plain(to),
            ),
            "prevention_done" => {
                let state = |value: Option<&Value>| {
                    say::prevention_state(locale, value.and_then(Value::as_bool) == Some(true))
                        .to_owned()
                };
                (
                    say::field(locale, Field::Prevention).to_owned(),
                    state(from),
                    state(to),
                )
            }
            "next_update_at" => {
                let at = |value: Option<&Value>| {
                    value
                        .and_then(Value::as_str)
                        .and_then(|text| text.parse::<Timestamp>().ok())
                        .map(|at| say::day_and_clock(locale, at))
                        .unwrap_or_default()
                };
                (
                    say::field(locale, Field::NextUpdate).to_owned(),
                    at(from),
                    at(to),
                )
            }
            "service" => (
                say::service_heading(locale).to_owned(),
                plain(from),
                plain(to),
            ),
            _ => return None,
        };
        (from != to).then_some(Happened::Changed {
            what: label,
            from,
            to,
        })
    }
}

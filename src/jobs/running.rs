//! What people own of a running incident: who leads, where it stands, its times, its impact; and the
//! looks at the clock that the headline needs.
//!
//! Every change is a row of the incident's history (who, when, from, to), is said once in the thread,
//! and shows on the headline. Pressing again takes back; nothing is moved to mitigated, resolved or
//! closed but by people (R31).

use super::duty::{Duty, attempt_key, incident_of, reporter, reporter_id, reporter_name, scope_of};
use super::joining;
use super::queue::JobError;
use super::talk::offer_reanalysis;
use super::work::{Click, Look, OwnClick, SetIncident, Work};
use crate::incident::report::ThreadMessage;
use crate::incident::rights::{self, Deed};
use crate::incident::times::{Towards, read_time};
use crate::incident::{FixAttempt, Impact, Locale, Moment, Outcome, Right, Severity, Status};
use crate::present::say::{self, Field, Trouble};
use crate::present::{
    self, Action, Candidate, NO_FIX, Post, Running, SaidBefore, Slot, Stand, View,
};
use crate::store::{Attempt, Change, Incident, SaidUpdate, StoreError, UpdateDraft};
use crate::validation::Analysis;
use crate::validation::analysis::Audience;
use jiff::{SignedDuration, Timestamp};
use serde::{Deserialize, Serialize};

/// How the opening of an incident begins that an alert opened.
pub(super) const ALERT: &str = "alert/";
/// After so long it is looked again where Discord was away.
const LOOK_AGAIN: SignedDuration = SignedDuration::from_secs(60);

impl Duty {
    /// What people own of an incident, as it is shown.
    ///
    /// # Errors
    ///
    /// Those of the database.
    pub async fn running(&self, incident: &Incident) -> Result<Running, StoreError> {
        let (scope, id) = (scope_of(incident), incident.id());
        let said = self.store.said_updates(&scope, id).await?;
        let said: Vec<SaidBefore> = said
            .into_iter()
            .filter_map(|said| {
                Some(SaidBefore {
                    audience: Audience::parse(&said.audience)?,
                    at: said.at,
                    stand: serde_json::from_str::<Stand>(&said.stand).ok()?,
                })
            })
            .collect();
        let criteria = self.store.criteria(&incident.guild).await?;
        let severity = incident.severity.unwrap_or(Severity::Sev3);
        let minutes = criteria.minutes(severity);
        let last = said
            .iter()
            .rev()
            .find(|said| said.audience == Audience::Internal)
            .map(|said| said.at)
            .or(incident.reported_at);
        let by_severity = last.and_then(|at| {
            at.checked_add(SignedDuration::from_mins(minutes.into()))
                .ok()
        });
        let tried = self.store.attempts(&scope, id).await?;
        Ok(Running {
            comms: incident
                .comms_lead
                .as_deref()
                .map(reporter_name)
                .map(str::to_owned),
            impact: incident.impact.clone(),
            impact_outside: Default::default(),
            times: incident.times(),
            update_due: incident
                .next_update_at
                .or(by_severity)
                .filter(|_| incident.status.is_open()),
            cadence: Some(minutes),
            owners: Vec::new(),
            tried: tried
                .into_iter()
                .filter(|attempt| !attempt.withdrawn)
                .map(|attempt| attempt.fix)
                .collect(),
            said,
            repeat: None,
        })
    }

    /// Keeps that the team's update went out, with what it rests on; `false` where it is the last one
    /// again.
    ///
    /// # Errors
    ///
    /// Those of the database.
    pub async fn update_went_out(
        &self,
        incident: &Incident,
        analysis: &Analysis,
        view: &View,
        by: &str,
    ) -> Result<bool, StoreError> {
        let draft = draft_of(analysis, view)?;
        self.draft_went_out(incident, &view.running, draft, by, view.now)
            .await
    }

    /// As [`Duty::update_went_out`], in the words that were composed before.
    ///
    /// # Errors
    ///
    /// Those of the database.
    pub async fn draft_went_out(
        &self,
        incident: &Incident,
        running: &Running,
        draft: UpdateDraft,
        by: &str,
        now: Timestamp,
    ) -> Result<bool, StoreError> {
        let audience = Audience::parse(&draft.audience);
        let last = audience.and_then(|audience| running.last_said(audience));
        // The same again before it is due is no update; when it is due, *nothing new* is one.
        if !running.is_due(now) && last.is_some_and(|(_, last)| rests_on(&draft, &last.stand)) {
            return Ok(false);
        }
        let said = SaidUpdate {
            at: now,
            by: by.to_owned(),
            audience: draft.audience,
            stand: draft.stand,
            text: draft.text,
        };
        self.store
            .say_update(&scope_of(incident), incident.id(), &said)
            .await
    }

    /// The update for an audience as it is now. One that goes out elsewhere is kept, so that who
    /// marks it as sent marks these words.
    ///
    /// # Errors
    ///
    /// Those of the database.
    pub async fn compose_update(
        &self,
        incident: &Incident,
        analysis: &Analysis,
        view: &mut View,
        audience: Audience,
    ) -> Result<Option<Post>, StoreError> {
        view.update_shown = true;
        view.audience = audience;
        if audience != Audience::Internal {
            let draft = draft_of(analysis, view)?;
            let kept = self
                .store
                .keep_draft(&scope_of(incident), incident.id(), &draft, view.now)
                .await?;
            view.draft = Some(kept);
        }
        Ok(present::update_post(analysis, view))
    }

    /// An update went out: the headline and the next look go by it.
    ///
    /// # Errors
    ///
    /// Those of the database.
    pub async fn after_update(&self, incident: &Incident) -> Result<(), JobError> {
        let Some(incident) = self
            .store
            .incident_of_guild(&incident.guild, incident.id())
            .await?
        else {
            return Ok(());
        };
        self.show_headline(&incident).await?;
        self.look_later(&incident).await;
        Ok(())
    }

    /// Sees to it that the headline is looked at when time alone changes it. Where that can't be
    /// written now (the process is ending), the next start sees to it.
    pub async fn look_later(&self, incident: &Incident) {
        if let Err(error) = self.plan_looks(incident).await {
            tracing::warn!(
                error = &error as &dyn std::error::Error,
                "a look at the headline can't be planned"
            );
        }
    }

    async fn plan_looks(&self, incident: &Incident) -> Result<(), StoreError> {
        if !incident.status.is_open() {
            return Ok(());
        }
        let now = Timestamp::now();
        let running = self.running(incident).await?;
        let lead_due = incident
            .reported_at
            .filter(|_| {
                incident.lead.is_none() && incident.severity.is_some_and(Severity::is_grave)
            })
            .and_then(|at| at.checked_add(present::LEAD_WITHIN).ok());
        for at in [lead_due, running.update_due].into_iter().flatten() {
            let Ok(guild) = incident.guild.parse() else {
                continue;
            };
            if at > now {
                let look = Work::Look(Look {
                    guild,
                    incident: incident.id().number(),
                    at_ms: at.as_millisecond(),
                });
                self.commit_at(&look, Some(at)).await?;
            }
        }
        Ok(())
    }

    pub(super) async fn has_posted(
        &self,
        incident: &Incident,
        slot: &str,
    ) -> Result<bool, StoreError> {
        let posts = self
            .store
            .posts_of(&scope_of(incident), incident.id())
            .await?;
        Ok(posts
            .iter()
            .any(|post| post.slot == slot && post.message.is_some()))
    }

    /// The headline as it is now, with or without an analysis.
    ///
    /// # Errors
    ///
    /// Those of the database; a message that can't be edited is logged.
    pub async fn show_headline(&self, incident: &Incident) -> Result<(), JobError> {
        self.show_latest(incident, &[Slot::Headline]).await
    }

    /// Messages of the latest analysis as they are now; without one the headline alone.
    async fn show_latest(&self, incident: &Incident, slots: &[Slot]) -> Result<(), JobError> {
        let latest = self
            .store
            .latest_analysis(&scope_of(incident), incident.id())
            .await?;
        if let Some(latest) = latest.filter(|latest| latest.proposal.is_some()) {
            return Box::pin(self.refresh(incident, latest.seq, slots)).await;
        }
        // Nothing is answered yet: what people did and what alerts say shows all the same.
        let view = Box::pin(self.alert_view(incident)).await?;
        let headline = if view.alerts.is_some() {
            present::alert_card(&view)
        } else {
            present::working(&view)
        };
        super::analyze::refresh_headline(self, incident, &headline).await;
        Ok(())
    }
}

fn rests_on(draft: &UpdateDraft, stand: &Stand) -> bool {
    serde_json::from_str::<Stand>(&draft.stand).is_ok_and(|own| own == *stand)
}

fn draft_of(analysis: &Analysis, view: &View) -> Result<UpdateDraft, StoreError> {
    let stand = present::stand(analysis, view.audience, view);
    Ok(UpdateDraft {
        audience: view.audience.word().to_owned(),
        stand: serde_json::to_string(&stand)?,
        text: present::update_text(analysis, view.audience, view),
    })
}

/// After a start: every incident that runs is looked at, since its time may have passed meanwhile.
pub async fn look_at_all(duty: &Duty) {
    let now = Timestamp::now().as_millisecond();
    let running = match duty.store.open_incidents().await {
        Ok(running) => running,
        Err(error) => {
            tracing::warn!(
                error = &error as &dyn std::error::Error,
                "running incidents can't be listed"
            );
            return;
        }
    };
    for (guild, incident) in running {
        let look = Work::Look(Look {
            guild,
            incident,
            at_ms: now,
        });
        if let Err(error) = duty.commit(&look).await {
            tracing::warn!(
                error = &error as &dyn std::error::Error,
                "a look at the headline can't be planned"
            );
            return;
        }
    }
}

/// Time has passed: the headline may have to say so, and whoever asked for it is reminded.
pub async fn look(duty: &Duty, work: Look) -> Result<(), JobError> {
    let again = Look {
        at_ms: work.at_ms.saturating_add(LOOK_AGAIN.as_millis() as i64),
        ..work.clone()
    };
    match looked(duty, work).await {
        Err(JobError::Again { reason, .. }) => {
            // Discord or the database is away: one that is given up would never look again.
            tracing::warn!(reason, "a look at the headline is put off");
            let at = Timestamp::now().checked_add(LOOK_AGAIN).ok();
            duty.commit_at(&Work::Look(again), at).await?;
            Ok(())
        }
        done => done,
    }
}

async fn looked(duty: &Duty, work: Look) -> Result<(), JobError> {
    let guild = work.guild.to_string();
    let id = incident_of(work.incident)?;
    let Some(incident) = duty.store.incident_of_guild(&guild, id).await? else {
        return Ok(());
    };
    if !incident.status.is_open() {
        return Ok(());
    }
    duty.show_headline(&incident).await?;
    let running = duty.running(&incident).await?;
    if let Some(due) = running.update_due.filter(|due| *due <= Timestamp::now()) {
        let people = duty.store.reminded(&scope_of(&incident), id).await?;
        // Once for each time that one is due, however often it is looked.
        let slot = format!("remind/{}", due.as_millisecond());
        if !people.is_empty() && !duty.has_posted(&incident, &slot).await? {
            let post = present::reminder(id, due, &people, incident.locale);
            duty.post_in_thread(&incident, 0, &slot, &post).await?;
        }
    }
    duty.look_later(&incident).await;
    Ok(())
}

/// The buttons below the headline, and the select that asks which fix did it.
pub async fn own(duty: &Duty, work: OwnClick) -> Result<(), JobError> {
    let click = &work.click;
    duty.acknowledgements.wait(click.interaction).await;
    let Some(action) = Action::parse(&click.custom_id) else {
        return Err(JobError::never("a button that no version posted"));
    };
    let Some(id) = action.incident() else {
        return Err(JobError::never("a button about no incident"));
    };
    let guild = click.guild.to_string();
    let Some(incident) = duty.store.incident_of_guild(&guild, id).await? else {
        let post = present::error(&Trouble::UnknownIncident, None, click.locale);
        duty.tell(&click.reply, &post).await;
        return Ok(());
    };
    match action {
        Action::JoinReport { report, .. } => {
            return joining::join(duty, click.guild, report, Some((click, work.who))).await;
        }
        Action::SeparateReport { report, .. } => {
            return joining::separate(duty, &work, &incident, report).await;
        }
        Action::MergeInto { other, .. } => {
            return joining::merge(duty, &work, &incident, other).await;
        }
        Action::Unmerge { .. } => return joining::unmerge(duty, &work, &incident).await,
        _ => {}
    }
    let _turn = duty.turns.take(click.guild, id.number()).await;
    let Some(incident) = duty.store.incident_of_guild(&guild, incident.id()).await? else {
        return Ok(());
    };
    if !may_or_told(duty, &work, &incident, &action).await? {
        return Ok(());
    }
    let key = format!("own/{}", click.interaction);
    let press = duty
        .decided(
            &guild,
            &key,
            &click.by,
            decide(duty, &work, &incident, &action),
        )
        .await?;
    duty.once(&format!("done/{key}"), act(duty, &work, &incident, &press))
        .await?;
    let Some(incident) = duty.store.incident_of_guild(&guild, id).await? else {
        return Ok(());
    };
    match said(&press, &incident, &present::escape::inline(&click.by)) {
        // The question becomes its answer.
        Some(said) if matches!(action, Action::FixDid { .. }) => {
            duty.answer(&click.reply, &present::notice(&said)).await;
        }
        Some(said) => {
            duty.post_in_thread(&incident, 0, &key, &present::notice(&said))
                .await?;
        }
        None => {}
    }
    if matches!(action, Action::Mitigated { .. }) && incident.status == Status::Mitigated {
        ask_which_fix(duty, &incident, click.interaction).await?;
    }
    super::outcomes::watch(duty, &incident).await?;
    let slots: &[Slot] = if matches!(action, Action::FixDid { .. }) {
        &[Slot::Analysis, Slot::Checklist, Slot::Headline]
    } else {
        &[Slot::Headline]
    };
    duty.show_latest(&incident, slots).await?;
    duty.look_later(&incident).await;
    duty.settled(&guild, &key).await
}

/// Whether this person may: whoever reported the incident or leads it may move it; leading is open to
/// everybody as long as nobody does; the rest takes the right.
async fn may(
    duty: &Duty,
    work: &OwnClick,
    incident: &Incident,
    action: &Action,
) -> Result<bool, StoreError> {
    let is = |stored: Option<&str>| stored.and_then(reporter_id) == Some(work.who);
    let own = is(Some(&incident.reporter)) || is(incident.lead.as_deref());
    let free = matches!(action, Action::Lead { .. }) && incident.lead.is_none();
    if own || free || matches!(action, Action::FixDid { .. }) {
        return Ok(true);
    }
    let right = rights::right_for(Deed::SetState);
    duty.allowed(&work.may, work.click.guild, right).await
}

/// As [`may`]; who may not is told, alone.
pub(super) async fn may_or_told(
    duty: &Duty,
    work: &OwnClick,
    incident: &Incident,
    action: &Action,
) -> Result<bool, StoreError> {
    let may = may(duty, work, incident, action).await?;
    if !may {
        let right = rights::right_for(Deed::SetState);
        let post = present::error(&Trouble::NotAllowed(right.into()), None, work.click.locale);
        duty.tell(&work.click.reply, &post).await;
    }
    Ok(may)
}

/// What a press of a button means, as things stand when it comes.
#[derive(Serialize, Deserialize)]
enum Press {
    /// They lead now; before them this person did, by name.
    Leads {
        before: Option<String>,
    },
    /// They led and don't any more.
    LeadsNoMore,
    Mitigated,
    NotMitigated,
    FalseAlarm,
    NoFalseAlarm,
    /// This fix did it; `None`: no fix did.
    Did {
        fix: Option<String>,
    },
    /// Somebody else pressed it a moment ago, or it stands like that already.
    Stands,
}

async fn decide(
    duty: &Duty,
    work: &OwnClick,
    incident: &Incident,
    action: &Action,
) -> Result<Press, JobError> {
    Ok(match action {
        Action::Lead { .. } => {
            if incident.lead.as_deref().and_then(reporter_id) == Some(work.who) {
                Press::LeadsNoMore
            } else {
                let before = incident.lead.as_deref().map(reporter_name);
                Press::Leads {
                    before: before.map(str::to_owned),
                }
            }
        }
        Action::Mitigated { .. }
            if matches!(incident.status, Status::Investigating | Status::Fixing) =>
        {
            Press::Mitigated
        }
        Action::NotMitigated { .. } if incident.status == Status::Mitigated => Press::NotMitigated,
        Action::FalseAlarm { .. } if incident.status.is_open() => Press::FalseAlarm,
        Action::NoFalseAlarm { .. } if incident.status == Status::FalseAlarm => Press::NoFalseAlarm,
        Action::FixDid { .. } => Press::Did {
            fix: fix_chosen(duty, incident, work.value.as_deref().unwrap_or_default()).await?,
        },
        _ => Press::Stands,
    })
}

/// Does what was decided.
async fn act(
    duty: &Duty,
    work: &OwnClick,
    incident: &Incident,
    press: &Press,
) -> Result<(), JobError> {
    let click = &work.click;
    let changes = match press {
        Press::Leads { .. } => vec![Change::Lead(Some(reporter(work.who, &click.by)))],
        Press::LeadsNoMore => vec![Change::Lead(None)],
        Press::Mitigated => vec![Change::Status(Status::Mitigated)],
        Press::NotMitigated => vec![
            Change::Status(Status::Investigating),
            Change::Time {
                moment: Moment::Mitigated,
                at: None,
            },
        ],
        Press::FalseAlarm => vec![Change::Status(Status::FalseAlarm)],
        Press::NoFalseAlarm => vec![Change::Status(Status::Investigating)],
        Press::Did { fix } => {
            let chosen = work.value.as_deref().unwrap_or_default();
            if let Some(fix) = fix {
                fix_did(duty, incident, chosen, fix, click).await?;
            }
            return Ok(());
        }
        Press::Stands => return Ok(()),
    };
    let now = Timestamp::now();
    duty.store
        .update(&scope_of(incident), incident.id(), &click.by, now, &changes)
        .await?;
    Ok(())
}

/// What the thread is told of it, once it is done.
fn said(press: &Press, incident: &Incident, name: &str) -> Option<String> {
    let locale = incident.locale;
    Some(match press {
        Press::Leads { before } => {
            let before = before.as_deref().map(present::escape::inline);
            say::leads_now(locale, name, before.as_deref())
        }
        Press::LeadsNoMore => say::leads_no_more(locale, name),
        Press::Mitigated => {
            let took = present::measured(locale, &incident.times(), Moment::Mitigated);
            say::mitigated_by(locale, name, took.as_deref())
        }
        Press::NotMitigated => say::not_mitigated(locale, name),
        Press::FalseAlarm => say::false_alarm(locale, name),
        Press::NoFalseAlarm => say::no_false_alarm(locale, name),
        Press::Did { fix } => {
            let fix = fix.as_deref().map(present::escape::inline);
            say::fix_did(locale, fix.as_deref(), name)
        }
        Press::Stands => return None,
    })
}

/// The fixes that may have done it: what is being tried first, then what was, then what the cards say.
async fn candidates(duty: &Duty, incident: &Incident) -> Result<Vec<Candidate>, JobError> {
    let (scope, id) = (scope_of(incident), incident.id());
    let attempts = duty.store.attempts(&scope, id).await?;
    let mut all: Vec<Candidate> = Vec::new();
    let mut put = |value: String, fix: &str, tried: bool| {
        let known = all
            .iter()
            .any(|known| crate::incident::sameness::same(&known.fix, fix));
        if !known && !fix.trim().is_empty() {
            all.push(Candidate {
                value,
                fix: fix.to_owned(),
                tried,
            });
        }
    };
    let counted = || attempts.iter().rev().filter(|attempt| !attempt.withdrawn);
    for attempt in counted().filter(|attempt| attempt.fix.outcome == Outcome::Unknown) {
        put(format!("a{}", attempt.seq), &attempt.fix.fix, true);
    }
    for attempt in counted().filter(|attempt| attempt.fix.outcome != Outcome::Unknown) {
        put(format!("a{}", attempt.seq), &attempt.fix.fix, false);
    }
    let latest = duty.store.latest_analysis(&scope, id).await?;
    if let Some(latest) = latest
        && let Some(analysis) = duty.shown(&latest)
    {
        for (place, hypothesis) in analysis.hypotheses.iter().enumerate() {
            put(attempt_key(latest.seq, place), &hypothesis.fix, false);
        }
    }
    Ok(all)
}

async fn ask_which_fix(duty: &Duty, incident: &Incident, interaction: u64) -> Result<(), JobError> {
    let candidates = candidates(duty, incident).await?;
    if candidates.is_empty() {
        return Ok(());
    }
    let post = present::which_fix(incident.id(), &candidates, incident.locale);
    duty.post_in_thread(incident, 0, &format!("whichfix/{interaction}"), &post)
        .await?;
    Ok(())
}

/// The fix that was chosen: the value comes from outside, so it is one that was tried, or one that
/// some analysis of this incident proposes, also where another came since it was offered.
async fn fix_chosen(
    duty: &Duty,
    incident: &Incident,
    chosen: &str,
) -> Result<Option<String>, JobError> {
    if chosen == NO_FIX {
        return Ok(None);
    }
    let attempts = duty
        .store
        .attempts(&scope_of(incident), incident.id())
        .await?;
    if let Some(attempt) = attempts.iter().find(|attempt| is_chosen(attempt, chosen)) {
        return Ok(Some(attempt.fix.fix.clone()));
    }
    match proposed(duty, incident, chosen).await? {
        Some(fix) => Ok(Some(fix)),
        None => Err(JobError::never("a fix that was not offered")),
    }
}

fn is_chosen(attempt: &Attempt, chosen: &str) -> bool {
    attempt.key == chosen || format!("a{}", attempt.seq) == chosen
}

/// Records that a fix did it: worked, not yet known to hold (R28).
async fn fix_did(
    duty: &Duty,
    incident: &Incident,
    chosen: &str,
    fix: &str,
    click: &Click,
) -> Result<(), JobError> {
    let (scope, id) = (scope_of(incident), incident.id());
    let (by, now) = (&click.by, Timestamp::now());
    let attempts = duty.store.attempts(&scope, id).await?;
    let known = attempts.iter().find(|attempt| is_chosen(attempt, chosen));
    // What came back and did it now is another attempt: its failure stays.
    if let Some(known) = known.filter(|known| known.fix.outcome != Outcome::CameBack) {
        duty.store
            .revise_attempt(&scope, id, known.seq, Outcome::Mitigated, by, now, None)
            .await?;
        return Ok(());
    }
    let mut attempt = FixAttempt::new(fix, Outcome::Mitigated);
    attempt.at = Some(now);
    attempt.by.clone_from(by);
    attempt.environment.clone_from(&incident.past.environment);
    let key = match known {
        Some(_) => format!("did/{}", click.interaction),
        None => chosen.to_owned(),
    };
    duty.store
        .record_attempt(&scope, id, &key, &attempt, now)
        .await?;
    Ok(())
}

/// The fix of a card, by the key of its attempt.
async fn proposed(duty: &Duty, incident: &Incident, key: &str) -> Result<Option<String>, JobError> {
    let Some((seq, place)) = key.split_once('/') else {
        return Ok(None);
    };
    let (Ok(seq), Ok(place)) = (seq.parse::<u32>(), place.parse::<usize>()) else {
        return Ok(None);
    };
    let stored = match duty
        .store
        .analysis(&scope_of(incident), incident.id(), seq)
        .await
    {
        Ok(stored) => stored,
        Err(StoreError::NotFound) => return Ok(None),
        Err(error) => return Err(error.into()),
    };
    let analysis = duty.shown(&stored);
    let card = analysis.as_ref().and_then(|one| one.hypotheses.get(place));
    Ok(card
        .map(|card| card.fix.clone())
        .filter(|fix| !fix.trim().is_empty()))
}

/// `/incident set`.
pub async fn set(duty: &Duty, work: SetIncident) -> Result<(), JobError> {
    duty.acknowledgements.wait(work.reply.interaction).await;
    let (scope, here) = duty.scope(&work.place).await?;
    let wanted = work.text("id");
    let incident = match (wanted, here) {
        (Some(id), _) => match crate::incident::IncidentId::parse(id) {
            Some(id) => match duty.store.incident(&scope, id).await {
                Ok(incident) => Some(incident),
                Err(StoreError::NotFound) => None,
                Err(error) => return Err(error.into()),
            },
            None => None,
        },
        (None, Some(incident)) => Some(incident),
        (None, None) => {
            let post = present::error(&Trouble::NoIncidentHere, None, work.locale);
            duty.answer(&work.reply, &post).await;
            return Ok(());
        }
    };
    let Some(incident) = incident else {
        let post = present::error(&Trouble::UnknownIncident, None, work.locale);
        duty.answer(&work.reply, &post).await;
        return Ok(());
    };
    let _turn = duty
        .turns
        .take(work.place.guild, incident.id().number())
        .await;
    // As it stands now that it is this command's turn: another may have set other fields.
    let id = incident.id();
    let Some(incident) = duty.store.incident_of_guild(&incident.guild, id).await? else {
        return Ok(());
    };
    let now = Timestamp::now();
    let wanted = match wanted_changes(&work, &incident, now) {
        Ok(wanted) => wanted,
        Err(said) => {
            duty.answer(&work.reply, &present::private(&said)).await;
            return Ok(());
        }
    };
    let leads = incident.lead.as_deref().and_then(reporter_id) == Some(work.who);
    if wanted.takes_right && !leads {
        let right: Right = rights::right_for(Deed::SetState);
        if !duty.allowed(&work.may, work.place.guild, right).await? {
            let post = present::error(&Trouble::NotAllowed(right.into()), None, work.locale);
            duty.answer(&work.reply, &post).await;
            return Ok(());
        }
    }
    // What the thread is to be told is kept before anything is changed: a job that runs again finds
    // it changed, and says the same.
    let key = format!("set/{}", work.reply.interaction);
    let told = async {
        let name = present::escape::inline(&work.by);
        let some = !wanted.said.is_empty();
        Ok(some.then(|| say::changed_by(incident.locale, &name, &wanted.said)))
    };
    let Some(said) = duty.decided(&incident.guild, &key, &work.by, told).await? else {
        let said = present::private(say::nothing_changes(work.locale));
        duty.answer(&work.reply, &said).await;
        return duty.settled(&incident.guild, &key).await;
    };
    let incident = if wanted.changes.is_empty() {
        incident
    } else {
        duty.store
            .update(
                &scope_of(&incident),
                incident.id(),
                &work.by,
                now,
                &wanted.changes,
            )
            .await?
    };
    // What was imported has no thread.
    if incident.headline.is_some() || incident.thread.is_some() {
        duty.post_in_thread(&incident, 0, &key, &present::notice(&said))
            .await?;
    }
    let done = present::private(&say::set_done(work.locale, id));
    duty.answer(&work.reply, &done).await;
    duty.show_latest(&incident, &[Slot::Analysis, Slot::Headline])
        .await?;
    duty.look_later(&incident).await;
    if work.text("changed").is_some() {
        offer_reanalysis(duty, &scope_of(&incident), incident.id()).await?;
    }
    duty.settled(&incident.guild, &key).await
}

/// What `/incident set` asks for.
#[derive(Default)]
struct Wanted {
    changes: Vec<Change>,
    /// Each change in words, in the incident's language.
    said: Vec<String>,
    /// Severity, status or lead are among them.
    takes_right: bool,
}

impl Wanted {
    fn put(&mut self, locale: Locale, what: &str, from: &str, to: &str, change: Change) {
        if from == to {
            return;
        }
        let safe = |text: &str| present::escape::inline(&present::escape::cut(text, 120));
        self.said
            .push(say::change(locale, what, &safe(from), &safe(to)));
        self.changes.push(change);
    }
}

fn wanted_changes(
    work: &SetIncident,
    incident: &Incident,
    now: Timestamp,
) -> Result<Wanted, String> {
    let locale = incident.locale;
    let mut wanted = Wanted::default();
    let field = |field: Field| say::field(locale, field);
    if let Some(severity) = work.text("severity").and_then(Severity::parse) {
        let from = incident.severity.map(|severity| severity.to_string());
        // A person's word is one even where it is what was proposed (R30).
        let from = from
            .filter(|_| incident.severity_by.is_some())
            .unwrap_or_default();
        let to = severity.to_string();
        wanted.put(
            locale,
            field(Field::Severity),
            &from,
            &to,
            Change::Severity(severity),
        );
        wanted.takes_right = true;
    }
    if let Some(status) = work.text("status").and_then(Status::parse) {
        if incident.status == Status::Merged {
            return Err(say::separate_first(work.locale).to_owned());
        }
        let over = matches!(incident.status, Status::Resolved | Status::Closed);
        if status == Status::Resolved || (status == Status::Closed && !over) {
            return Err(say::not_by_set(work.locale).to_owned());
        }
        let (from, to) = (
            say::status(locale, incident.status),
            say::status(locale, status),
        );
        wanted.put(
            locale,
            field(Field::Status),
            from,
            to,
            Change::Status(status),
        );
        wanted.takes_right = true;
    }
    let name = |stored: Option<&str>| stored.map(reporter_name).unwrap_or_default().to_owned();
    if let Some((id, person)) = &work.lead {
        let from = name(incident.lead.as_deref());
        let change = Change::Lead(Some(reporter(*id, person)));
        wanted.put(locale, field(Field::Lead), &from, person, change);
        wanted.takes_right = true;
    }
    if let Some((id, person)) = &work.comms {
        let from = name(incident.comms_lead.as_deref());
        let change = Change::CommsLead(Some(reporter(*id, person)));
        wanted.put(locale, field(Field::Comms), &from, person, change);
    }
    let mut impact = Impact::clone(&incident.impact);
    let mut said = Vec::new();
    for (option, what, place) in [
        ("who", Field::Who, &mut impact.who),
        ("what", Field::What, &mut impact.what),
        ("how_many", Field::HowMany, &mut impact.how_many),
        ("workaround", Field::Workaround, &mut impact.workaround),
        ("data", Field::Data, &mut impact.data),
    ] {
        if let Some(text) = work.text(option).map(str::trim)
            && place != text
        {
            said.push((
                what,
                std::mem::replace(place, text.to_owned()),
                text.to_owned(),
            ));
        }
    }
    if !said.is_empty() {
        let safe = |text: &str| present::escape::inline(&present::escape::cut(text, 120));
        for (what, from, to) in said {
            let line = say::change(locale, field(what), &safe(&from), &safe(&to));
            wanted.said.push(line);
        }
        wanted.changes.push(Change::Impact(Box::new(impact)));
    }
    if let Some(text) = work
        .text("changed")
        .map(str::trim)
        .filter(|text| !text.is_empty())
    {
        let said = say::told_changed(locale, text);
        let message = ThreadMessage {
            author: work.by.clone(),
            text: said.clone(),
            at: Timestamp::from_millisecond(work.reply.created_ms).unwrap_or(now),
            asks: false,
        };
        let mut report = incident.report.clone().unwrap_or_default();
        // A job that runs again finds it there.
        if !report.thread.contains(&message) {
            report.thread.push(message);
            report.thread.sort_by_key(|message| message.at);
            let shown = present::escape::inline(&present::escape::cut(&said, 400));
            wanted.said.push(shown);
            wanted.changes.push(Change::Report(Box::new(report)));
        }
    }
    if let Some(text) = work.text("next_update") {
        let Some(at) = read_time(text, now, Towards::Future) else {
            return Err(say::bad_time(
                work.locale,
                say::field(work.locale, Field::NextUpdate),
            ));
        };
        let clock = |at: Option<Timestamp>| {
            at.map(|at| say::day_and_clock(locale, at))
                .unwrap_or_default()
        };
        wanted.put(
            locale,
            field(Field::NextUpdate),
            &clock(incident.next_update_at),
            &clock(Some(at)),
            Change::NextUpdateAt(Some(at)),
        );
    }
    match work.text("prevention") {
        Some("done") if !incident.prevention_done => wanted.put(
            locale,
            field(Field::Prevention),
            say::prevention_state(locale, false),
            say::prevention_state(locale, true),
            Change::PreventionDone(true),
        ),
        Some("open") if incident.prevention_done => wanted.put(
            locale,
            field(Field::Prevention),
            say::prevention_state(locale, true),
            say::prevention_state(locale, false),
            Change::PreventionDone(false),
        ),
        _ => {}
    }
    times(work, incident, now, &mut wanted)?;
    Ok(wanted)
}

/// The moments, kept in order (R31).
fn times(
    work: &SetIncident,
    incident: &Incident,
    now: Timestamp,
    wanted: &mut Wanted,
) -> Result<(), String> {
    let locale = incident.locale;
    let before = incident.times();
    let mut times = before;
    for moment in Moment::ALL {
        let Some(text) = work.text(moment.word()) else {
            continue;
        };
        let Some(at) = read_time(text, now, Towards::Past) else {
            return Err(say::bad_time(work.locale, say::moment(work.locale, moment)));
        };
        times = times.with(moment, Some(at));
        let clock = |at: Option<Timestamp>| {
            at.map(|at| say::day_and_clock(locale, at))
                .unwrap_or_default()
        };
        let (from, to) = (clock(before.at(moment)), clock(Some(at)));
        let what = say::moment(locale, moment);
        wanted.put(
            locale,
            what,
            &from,
            &to,
            Change::Time {
                moment,
                at: Some(at),
            },
        );
    }
    // What stood the wrong way round before is not this person's mistake.
    match times.disorder() {
        Some((first, then)) if before.disorder() != Some((first, then)) => {
            Err(say::out_of_order(work.locale, first, then))
        }
        _ => Ok(()),
    }
}

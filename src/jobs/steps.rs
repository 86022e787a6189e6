//! Who does which step of the checklist: taken with one choice, given back with the same again.
//!
//! Wanted: two people see at once that they are about to do the same; a step never has two owners;
//! who takes another person's step knows that they did. Nobody is pinged.
//!
//! Design: an owner is a row of its own beside ticks and approvals, known by the person's id, shown
//! by name. Taking a destructive step is no approval of it (R18): it is ticked as any other, by who
//! may. A choice counts once, however often its job runs.
//!
//! Deliberately absent: owners that go over to a later analysis, whose steps are other steps.

use super::duty::{Duty, reporter, reporter_id, reporter_name, scope_of};
use super::queue::{Job, JobError};
use super::work::TakeSteps;
use crate::present::say::{self, Trouble};
use crate::present::{self, Action, Slot};
use crate::store::{StepOwner, StoreError};
use jiff::Timestamp;
use serde::{Deserialize, Serialize};

/// Somebody takes steps, or gives back those that were theirs.
pub async fn take(duty: &Duty, job: &Job, work: TakeSteps) -> Result<(), JobError> {
    let click = &work.click;
    duty.acknowledgements.wait(click.interaction).await;
    let Some(Action::TakeSteps {
        incident: id,
        analysis: seq,
    }) = Action::parse(&click.custom_id)
    else {
        return Err(JobError::never("a list of steps that no version posted"));
    };
    let refuse = async |trouble: Trouble| {
        let post = present::error(&trouble, None, click.locale);
        duty.tell(&click.reply, &post).await;
    };
    let guild = click.guild.to_string();
    let Some(incident) = duty.store.incident_of_guild(&guild, id).await? else {
        refuse(Trouble::UnknownIncident).await;
        return Ok(());
    };
    let _turn = duty.turns.take(click.guild, id.number()).await;
    let scope = scope_of(&incident);
    let stored = match duty.store.analysis(&scope, id, seq).await {
        Ok(stored) => stored,
        Err(StoreError::NotFound) => {
            refuse(Trouble::UnknownAction).await;
            return Ok(());
        }
        Err(error) => return Err(error.into()),
    };
    let Some(analysis) = duty.shown(&stored) else {
        refuse(Trouble::UnknownAction).await;
        return Ok(());
    };
    let latest = duty.store.latest_analysis(&scope, id).await?;
    if latest.is_some_and(|latest| latest.seq > seq && latest.proposal.is_some()) {
        refuse(Trouble::OldCard).await;
        return Ok(());
    }
    // Only what was offered: the values come from outside.
    let mut steps: Vec<u32> = work.steps.clone();
    steps.sort_unstable();
    steps.dedup();
    steps
        .retain(|step| usize::try_from(*step).is_ok_and(|place| place < analysis.next_steps.len()));
    if steps.is_empty() {
        refuse(Trouble::UnknownAction).await;
        return Ok(());
    }
    let key = &job.command.key;
    let chosen: Chosen = duty
        .decided(&guild, key, &click.by, async {
            let before = duty.store.step_owners(&scope, id, seq).await?;
            Ok(choose(&before, &steps, work.who))
        })
        .await?;
    duty.once(&format!("done/{key}"), async {
        let by = reporter(work.who, &click.by);
        let (takes, gives) = (&chosen.takes, &chosen.gives);
        duty.store
            .take_steps(&scope, id, seq, takes, gives, &by, Timestamp::now())
            .await?;
        if !chosen.from.is_empty() {
            let lines: Vec<String> = chosen
                .from
                .iter()
                .map(|(step, name)| {
                    let name = present::escape::inline(name);
                    say::step_changed_hands(click.locale, step.saturating_add(1), &name)
                })
                .collect();
            let told = present::private(&lines.join("\n"));
            duty.tell(&click.reply, &told).await;
        }
        Ok(())
    })
    .await?;
    duty.refresh(&incident, seq, &[Slot::Checklist]).await?;
    duty.settled(&guild, key).await
}

/// What choosing steps means, as things stand when it comes.
#[derive(Serialize, Deserialize)]
struct Chosen {
    takes: Vec<u32>,
    gives: Vec<u32>,
    /// Steps that were another person's, by name.
    from: Vec<(u32, String)>,
}

/// Whose it is gives it back; everybody else takes it.
fn choose(before: &[StepOwner], steps: &[u32], who: u64) -> Chosen {
    let owner = |step: &u32| before.iter().find(|owner| owner.step == *step);
    let is_own = |step: &u32| owner(step).and_then(|owner| reporter_id(&owner.by)) == Some(who);
    let (gives, takes): (Vec<u32>, Vec<u32>) = steps.iter().partition(|step| is_own(step));
    let from = takes
        .iter()
        .filter_map(|step| Some((*step, reporter_name(&owner(step)?.by).to_owned())))
        .collect();
    Chosen { takes, gives, from }
}

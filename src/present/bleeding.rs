//! *Stop the bleeding*, for SEV1 and SEV2 above the cards: what restored this service before and can
//! be undone, and a rollback where a change came before the impact.
//!
//! Wanted: what is most likely to help at once, each with what to expect and how to undo it; nothing
//! that failed here, nothing that another service's record proves, nothing that can't be undone.
//!
//! Design: a step of the checklist says it best, with its command. What memory knows and no step
//! repeats is said in memory's words, and what to expect is what it did last time. Whether it can
//! be undone is computed (R16).

use super::View;
use super::escape::cut;
use super::say;
use crate::incident::change::{Change, ChangeKind, ChangeStage};
use crate::incident::proposal::Risk;
use crate::incident::{Grade, Outcome, Standing, sameness};
use crate::validation::Analysis;
use crate::validation::analysis::{CitedIncident, Class, Hypothesis, NextStep};
use crate::validation::risk;
use jiff::{SignedDuration, Timestamp};

/// A change this long before the impact, at most, is offered to be rolled back.
const SHORTLY: SignedDuration = SignedDuration::from_hours(2);
/// Steps that are shown.
const MOST: usize = 3;
/// The head of a text is enough to compare; comparing is costly on long ones.
const HEAD: usize = 200;

/// What may stop the bleeding, best first.
pub(super) fn steps(analysis: &Analysis, view: &View) -> Vec<NextStep> {
    if !view.severity.is_grave() {
        return Vec::new();
    }
    let listed = || {
        let steps = analysis.next_steps.iter();
        steps.filter(|step| step.risk == Risk::Reversible)
    };
    let mut chosen: Vec<NextStep> = Vec::new();
    for hypothesis in &analysis.hypotheses {
        let Some(last) = restored(analysis, hypothesis) else {
            continue;
        };
        let fix = cut(&hypothesis.fix, HEAD);
        let step = listed().find(|step| sameness::near_or_same(&fix, &cut(&step.step, HEAD)));
        let step = step.cloned().or_else(|| remembered(hypothesis));
        chosen.extend(step.map(|mut step| {
            // What it did last time is the best that is known of what it will do.
            if step.expect.trim().is_empty() {
                let took = last
                    .minutes
                    .map(|minutes| say::minutes(view.locale, minutes));
                step.expect =
                    say::restored_before(view.locale, took.as_deref(), last.id, last.outcome);
            }
            step
        }));
    }
    let change = last_change(view);
    if (view.change_before_impact || change.is_some()) && !chosen.iter().any(rolls_back) {
        let step = listed().find(|step| rolls_back(step)).cloned();
        chosen.push(step.unwrap_or_else(|| roll_back(view, change)));
    }
    let mut once: Vec<NextStep> = Vec::new();
    for step in chosen {
        let head = cut(&step.step, HEAD);
        let known = |other: &NextStep| sameness::near_or_same(&cut(&other.step, HEAD), &head);
        if !once.iter().any(known) {
            once.push(step);
        }
    }
    once.truncate(MOST);
    once
}

/// The last time that a card's fix restored this service; `None` where it never did, failed at
/// least as often or last, or is not to be repeated.
fn restored<'a>(analysis: &Analysis, hypothesis: &'a Hypothesis) -> Option<&'a CitedIncident> {
    let record = &hypothesis.record;
    let usable = !hypothesis.fix.trim().is_empty()
        && !hypothesis.analogy
        && hypothesis.class != Class::Excluded
        && !record.newest_failed
        && !analysis.not_to_be_repeated(&hypothesis.fix);
    let proven = record.worked > record.failed;
    // Worked and not yet known to hold: it restored the service all the same.
    let worked = record.failed == 0;
    let here = hypothesis.refs.iter().filter(|cited| {
        cited.grade == Grade::DirectMatch
            && (proven && cited.outcome.standing() == Standing::Verified
                || worked
                    && cited.outcome == Outcome::Mitigated
                    && hypothesis.fix_ref == Some(cited.id))
    });
    here.filter(|_| usable).max_by_key(|cited| cited.at)
}

fn remembered(hypothesis: &Hypothesis) -> Option<NextStep> {
    let risk = risk::of_step(&hypothesis.fix, "");
    (risk == Risk::Reversible).then(|| NextStep {
        step: hypothesis.fix.clone(),
        command: String::new(),
        risk,
        expect: String::new(),
        undo: String::new(),
        standard: false,
        estimated: false,
    })
}

/// The last change of the service that went out shortly before the impact. That it came before makes
/// it no cause.
fn last_change(view: &View) -> Option<&Change> {
    let times = &view.running.times;
    let from = view.started_at.or(times.started).or(times.reported);
    let from = from.unwrap_or(view.now);
    let mut changes = view.changes.iter().rev();
    changes.find(|change| {
        let at = Timestamp::from_millisecond(change.at_ms).unwrap_or_default();
        let out = !matches!(change.kind, ChangeKind::Push | ChangeKind::Rollback)
            && change.stage != ChangeStage::Failed;
        out && at <= from && from.duration_since(at) <= SHORTLY
    })
}

fn roll_back(view: &View, change: Option<&Change>) -> NextStep {
    let step = match change {
        Some(change) => {
            let at = Timestamp::from_millisecond(change.at_ms).unwrap_or_default();
            let what = format!(
                "{} {}",
                say::change_kind(view.locale, change.kind, ChangeStage::Done),
                change.what
            );
            say::roll_back_named(view.locale, &what, &say::clock(view.locale, at))
        }
        None => say::roll_back_step(view.locale).to_owned(),
    };
    NextStep {
        step,
        command: String::new(),
        risk: Risk::Reversible,
        expect: String::new(),
        undo: say::roll_forward(view.locale).to_owned(),
        standard: true,
        estimated: false,
    }
}

fn rolls_back(step: &NextStep) -> bool {
    crate::response::fallback::rolls_back(&format!("{} {}", step.step, step.command))
}

#[cfg(test)]
mod tests {
    use super::super::checks::{analysis, sample, view};
    use super::*;
    use crate::incident::{Locale, Severity};

    type Change<'c> = &'c dyn Fn(&mut crate::validation::analysis::Shown);

    const FLAG: &str = "Turn off the feature flag smart-retries";

    fn shown(change: impl Fn(&mut crate::validation::analysis::Shown)) -> Vec<NextStep> {
        shown_at(Severity::Sev2, false, change)
    }

    fn shown_at(
        severity: Severity,
        changed: bool,
        change: impl Fn(&mut crate::validation::analysis::Shown),
    ) -> Vec<NextStep> {
        let mut shown = sample();
        shown.next_steps.clear();
        shown.hypotheses[0].fix = FLAG.into();
        change(&mut shown);
        let mut view = view(Locale::En);
        view.severity = severity;
        view.change_before_impact = changed;
        steps(&analysis(shown), &view)
    }

    #[test]
    fn what_restored_this_service_and_can_be_undone_is_said_with_what_it_did() {
        let steps = shown(|_| {});
        assert_eq!(steps.len(), 1, "{steps:?}");
        assert_eq!(
            (steps[0].step.as_str(), steps[0].risk),
            (FLAG, Risk::Reversible)
        );
        assert!(steps[0].expect.contains("INC-0041"), "{steps:?}");
    }

    #[test]
    fn what_is_grave_alone_and_what_is_safe_alone_is_shown() {
        let none: [(&str, Change<'_>); 5] = [
            ("it can't be undone", &|shown| {
                shown.hypotheses[0].fix = "Restart the gateway pods".into();
            }),
            ("it failed at its newest attempt", &|shown| {
                shown.hypotheses[0].record.newest_failed = true;
                shown.hypotheses[0].record.failed = 1;
            }),
            ("it failed as often as it held", &|shown| {
                shown.hypotheses[0].record.failed = 2;
            }),
            ("another service's record proves it", &|shown| {
                shown.hypotheses[0].analogy = true;
            }),
            ("the report contradicts it", &|shown| {
                shown.hypotheses[0].class = Class::Excluded;
            }),
        ];
        for (why, change) in none {
            assert_eq!(shown(change), [], "{why}");
        }
        assert_eq!(shown_at(Severity::Sev3, true, |_| {}), []);
    }

    #[test]
    fn what_worked_and_is_not_known_to_hold_says_so() {
        let steps = shown(|shown| {
            let first = &mut shown.hypotheses[0];
            first.record.worked = 0;
            first.refs.truncate(1);
            first.refs[0].outcome = Outcome::Mitigated;
        });
        assert_eq!(steps.len(), 1, "{steps:?}");
        assert!(steps[0].expect.contains("not known"), "{steps:?}");
    }

    #[test]
    fn a_change_before_the_impact_offers_its_rollback_once() {
        let steps = shown_at(Severity::Sev1, true, |_| {});
        assert_eq!(steps.len(), 2, "{steps:?}");
        assert!(
            steps[1].step.starts_with("Roll back the change"),
            "{steps:?}"
        );
        assert!(!steps[1].undo.is_empty());
        let named = |minutes_before: i64, kind: ChangeKind| {
            let mut view = view(Locale::En);
            view.severity = Severity::Sev2;
            let at = view.running.times.reported.unwrap_or(view.now);
            let mut shown = sample();
            shown.next_steps.clear();
            shown.hypotheses.clear();
            view.changes = vec![crate::incident::change::Change {
                source: crate::incident::change::ChangeSource::Ci,
                kind,
                stage: ChangeStage::Done,
                service: Some("payments-api".to_owned()),
                subject: "payments-api".to_owned(),
                what: "retry budget raised".to_owned(),
                by: None,
                at_ms: at.as_millisecond() - minutes_before * 60_000,
                link: None,
                revision: None,
                to: None,
            }];
            steps(&analysis(shown), &view)
        };
        let near = named(11, ChangeKind::Deploy);
        assert_eq!(near.len(), 1, "{near:?}");
        assert!(near[0].step.contains("retry budget raised"), "{near:?}");
        assert_eq!(named(121, ChangeKind::Deploy), [], "long before");
        assert_eq!(named(-1, ChangeKind::Deploy), [], "after the impact");
        assert_eq!(named(11, ChangeKind::Push), [], "not out yet");
        let once = shown_at(Severity::Sev1, true, |shown| {
            shown.hypotheses[0].fix = "Roll back payments-api to the release before".into();
        });
        assert_eq!(once.len(), 1, "{once:?}");
    }
}

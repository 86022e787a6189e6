//! The `analysis` object of the command line's `--json`: the wire's keys, after validation.
//!
//! A reader of the JSON finds every surviving hypothesis in `hypotheses`: the cards in their order,
//! then the general ideas, which are marked `"listed": true`. Unlike messages, nothing is escaped:
//! it is data.

use super::say;
use crate::incident::{Engine, IncidentId, Locale};
use crate::validation::Analysis;
use crate::validation::analysis::{
    Contradiction, GeneralIdea, Hypothesis, Label, NextStep, Record, Source,
};
use serde_json::{Value, json};

/// The analysis as JSON. `record` is R12's phrase in English: it is part of the format.
pub fn wire(analysis: &Analysis) -> Value {
    let memory = &analysis.memory;
    let update = &analysis.update.internal;
    let hypotheses: Vec<Value> = analysis
        .hypotheses
        .iter()
        .map(hypothesis)
        .chain(analysis.general_ideas.iter().map(idea))
        .collect();
    json!({
        "engine": analysis.engine.word(),
        "model": match &analysis.engine {
            Engine::Model { model, .. } => json!(model),
            Engine::Fallback { .. } => Value::Null,
        },
        "fallback": match &analysis.engine {
            Engine::Model { .. } => Value::Null,
            Engine::Fallback { reason } => json!(say::fallback_reason(Locale::En, reason)),
        },
        "cut_off": analysis.cut_off,
        "summary": analysis.summary,
        "severity_assessment": analysis.severity,
        "status": memory.status.word(),
        "memory_verdict": {
            "status": memory.status.word(),
            "refs": memory.refs,
            "here": memory.here,
            "held": memory.held,
            "failed": memory.failed,
            "unknown": memory.unknown,
            "elsewhere": memory.elsewhere,
            "searched": memory.searched,
            "on_service": memory.on_service,
            "partial": memory.partial,
        },
        "hypotheses": hypotheses,
        "cause_not_determined": analysis.cause_not_determined,
        "next_steps": analysis.next_steps.iter().map(step).collect::<Vec<_>>(),
        "ruled_out_by_history": analysis.ruled_out.iter().map(|entry| json!({
            "cause": entry.cause, "memory_refs": entry.refs, "reason": entry.reason,
        })).collect::<Vec<_>>(),
        "do_not_repeat": analysis.do_not_repeat.iter().map(|entry| json!({
            "fix": entry.fix, "memory_refs": entry.refs, "outcome": entry.outcome.word(),
            "held": entry.held, "failed": entry.failed,
        })).collect::<Vec<_>>(),
        "stakeholder_update": {
            "impact": update.impact,
            "since": update.since,
            "known": update.known,
            "not_confirmed": update.not_confirmed,
            "doing": update.doing,
            "needed": update.needed,
            "changed_since": update.changed_since,
            "next_update_minutes": analysis.update.next_minutes,
            "nothing_public": analysis.update.nothing_public,
        },
        "safety_notes": analysis.safety_notes,
    })
}

fn hypothesis(hypothesis: &Hypothesis) -> Value {
    let refs: Vec<IncidentId> = hypothesis.refs.iter().map(|cited| cited.id).collect();
    json!({
        "title": hypothesis.title,
        "source": hypothesis.source.word(),
        "memory_refs": refs,
        "evidence": hypothesis.evidence,
        "contradicted_by": hypothesis.contradicted_by.iter().map(quote).collect::<Vec<_>>(),
        "confidence": hypothesis.score,
        "label": hypothesis.label.word(),
        "record": say::record(Locale::En, &hypothesis.record),
        "verify": hypothesis.verify,
        "fix": hypothesis.fix,
        "fix_ref": hypothesis.fix_ref,
        "analogy": hypothesis.analogy,
        "ruled_out": hypothesis.ruled_out,
        "class": hypothesis.class,
        "listed": false,
    })
}

fn quote(contradiction: &Contradiction) -> &str {
    &contradiction.quote
}

fn idea(idea: &GeneralIdea) -> Value {
    json!({
        "title": idea.title,
        "source": Source::GeneralPractice.word(),
        "memory_refs": [],
        "evidence": [],
        "contradicted_by": [],
        "confidence": idea.score,
        "label": Label::Low.word(),
        "record": say::record(Locale::En, &Record::default()),
        "verify": idea.verify,
        "fix": "",
        "fix_ref": null,
        "analogy": false,
        "ruled_out": false,
        "class": "unproven",
        "listed": true,
    })
}

fn step(step: &NextStep) -> Value {
    json!({
        "step": step.step,
        "command": step.command,
        "risk": step.risk.word(),
        "expect": step.expect,
        "undo": step.undo,
        "standard": step.standard,
    })
}

#[cfg(test)]
mod tests {
    use super::super::checks::{analysis, sample};
    use super::*;

    #[test]
    fn the_wire_after_validation() {
        let mut shown = sample();
        shown.hypotheses.truncate(1);
        shown.next_steps.truncate(1);
        shown.general_ideas = vec![GeneralIdea {
            title: "A recent change".into(),
            verify: "List deploys".into(),
            score: None,
        }];
        let wire = wire(&analysis(shown));
        assert_eq!(wire["hypotheses"][0]["confidence"], 82);
        assert_eq!(wire["hypotheses"][0]["record"], "WORKED TWICE HERE");
        assert_eq!(
            wire["hypotheses"][0]["memory_refs"],
            json!(["INC-0041", "INC-0012"])
        );
        assert_eq!(wire["hypotheses"][1]["source"], "general_practice");
        assert_eq!(wire["hypotheses"][1]["listed"], true);
        assert_eq!(wire["hypotheses"][1]["confidence"], Value::Null);
        assert_eq!(wire["severity_assessment"]["by"], "model");
        assert_eq!(wire["status"], "mixed");
        for key in [
            "summary",
            "memory_verdict",
            "next_steps",
            "ruled_out_by_history",
            "do_not_repeat",
            "stakeholder_update",
            "safety_notes",
            "cut_off",
        ] {
            assert!(wire.get(key).is_some(), "{key}");
        }
    }
}

//! From proposed to shown hypotheses: references, source, record, score, order (R1-R3, R6-R15).

use super::analysis::{Class, CitedIncident, Contradiction, GeneralIdea, Hypothesis, Record, RuledOut, Source};
use super::context::Context;
use super::contradictions;
use super::episodes::{Episode, time_of};
use super::grounding::Place;
use super::log::Log;
use super::references::{citable, survivors};
use super::score::{self, Numbers, STALE_AFTER_DAYS};
use super::text;
use crate::incident::proposal::{ProposedHypothesis, ProposedRuledOut};
use crate::incident::sameness::{Likeness, likeness, same};
use crate::incident::{Grade, IncidentId, Locale, Recalled, Standing};
use crate::response::checks;
use jiff::Timestamp;

/// Most hypotheses that are shown (R14).
pub const MOST_HYPOTHESES: usize = 4;

/// Hypotheses as they may be shown, in order.
pub(super) struct Ordered {
    pub hypotheses: Vec<Hypothesis>,
    pub cause_not_determined: bool,
    pub general_ideas: Vec<GeneralIdea>,
}

pub(super) fn shown(context: &Context<'_>, proposed: &[ProposedHypothesis], log: &mut Log) -> Ordered {
    let merged = merged(proposed, log);
    let mut built: Vec<(usize, Hypothesis, Numbers)> = merged
        .iter()
        .filter_map(|(index, proposed)| {
            let (hypothesis, numbers) = one(context, *index, proposed, log)?;
            Some((*index, hypothesis, numbers))
        })
        .collect();
    below_the_best_record(&mut built, log);
    order(built, log)
}

/// Same causes merge: first text and number, union of references and quotes (R14).
fn merged(proposed: &[ProposedHypothesis], log: &mut Log) -> Vec<(usize, ProposedHypothesis)> {
    let mut out: Vec<(usize, ProposedHypothesis)> = Vec::new();
    for (index, hypothesis) in proposed.iter().enumerate() {
        match out.iter_mut().find(|(_, kept)| same(&kept.title, &hypothesis.title)) {
            Some((into, kept)) => {
                log.note("R14", format!("hypotheses[{index}]"), &hypothesis.title, format!("merged into hypotheses[{into}]"));
                kept.memory_refs.extend(hypothesis.memory_refs.iter().cloned());
                kept.evidence.extend(hypothesis.evidence.iter().cloned());
                kept.contradicted_by.extend(hypothesis.contradicted_by.iter().cloned());
                for (mine, theirs) in [(&mut kept.verify, &hypothesis.verify), (&mut kept.fix, &hypothesis.fix), (&mut kept.fix_ref, &hypothesis.fix_ref)] {
                    if mine.trim().is_empty() {
                        mine.clone_from(theirs);
                    }
                }
            }
            None => out.push((index, hypothesis.clone())),
        }
    }
    out
}

/// The fix that a hypothesis stands for.
struct OwnFix {
    words: String,
    /// The recalled incident whose stored fix it is.
    from: Option<IncidentId>,
}

fn one(context: &Context<'_>, index: usize, proposed: &ProposedHypothesis, log: &mut Log) -> Option<(Hypothesis, Numbers)> {
    let case = context.case;
    let at = format!("hypotheses[{index}]");
    if text::clean_line(&proposed.title, text::TITLE).is_empty() {
        log.note("R14", &at, "a hypothesis without a title", "");
        return None;
    }
    let mut cited = survivors(&proposed.memory_refs, &case.memory, &format!("{at}.memory_refs"), log);
    let fix_from = fix_ref(context, proposed, &mut cited, &at, log);
    let own_fix = own_fix(proposed, fix_from, &cited);

    // Proofs: cited direct episodes in which this fix held, and the uncited ones of the same fix,
    // so that record and score speak of the same set (R8).
    let direct_ids = |cited: &[&Recalled]| -> Vec<IncidentId> {
        cited.iter().filter(|recalled| recalled.grade == Grade::DirectMatch).map(|recalled| recalled.incident.id).collect()
    };
    let cited_by_model = direct_ids(&cited);
    let outcome_here = |episode: &Episode| own_fix.as_ref().and_then(|fix| episode.outcome_of(&fix.words));
    let is_proof = |episode: &Episode| outcome_here(episode).is_some_and(|outcome| outcome.standing() == Standing::Verified);
    if !cited_by_model.is_empty() {
        for episode in context.episodes.iter().filter(|episode| is_proof(episode)) {
            if cited_by_model.iter().any(|id| episode.holds(*id)) {
                continue;
            }
            for incident in &episode.incidents {
                if let Some(recalled) = citable(&case.memory, incident.id) {
                    log.note("R8", format!("{at}.memory_refs"), "", incident.id.to_string());
                    cited.push(recalled);
                }
            }
        }
    }
    let cited_direct = direct_ids(&cited);
    let is_cited = |episode: &Episode| cited_direct.iter().any(|id| episode.holds(*id));
    let proofs: Vec<&Episode> = context.episodes.iter().filter(|episode| is_cited(episode) && is_proof(episode)).collect();
    let failures: Vec<&Episode> = context
        .episodes
        .iter()
        .filter(|episode| outcome_here(episode).is_some_and(|outcome| outcome.standing() == Standing::Refuted))
        .collect();
    let own_failures = own_fix.as_ref().map_or(0, |fix| {
        case.attempts
            .iter()
            .filter(|attempt| attempt.outcome.standing() == Standing::Refuted && likeness(&fix.words, &attempt.fix) >= Likeness::Near)
            .count()
    });
    let causes: Vec<&str> = cited
        .iter()
        .filter(|recalled| recalled.grade == Grade::DirectMatch)
        .map(|recalled| recalled.incident.root_cause.as_str())
        .filter(|cause| !cause.trim().is_empty())
        .collect();
    let compared: Vec<&str> = if causes.is_empty() { vec![proposed.title.as_str()] } else { causes };
    let others = context
        .episodes
        .iter()
        .filter(|episode| !proofs.iter().any(|proof| std::ptr::eq(*proof, *episode)))
        .filter(|episode| !failures.iter().any(|failure| std::ptr::eq(*failure, *episode)))
        .filter(|episode| {
            episode
                .last()
                .and_then(|incident| incident.confirmed_cause())
                .is_some_and(|cause| !compared.iter().any(|mine| same(mine, cause)))
        })
        .count();

    let (newest_failed, newest_at) = newest_attempt(context, own_fix.as_ref(), own_failures > 0);
    let newest_proof = proofs.iter().filter_map(|episode| episode.last().and_then(time_of)).max();
    let stale = newest_proof.is_some_and(|at| is_stale(at, case.now));

    let evidence = quotes(context, &proposed.evidence, &format!("{at}.evidence"), log);
    let contradicted_by = contradictions_of(context, proposed, &compared, &evidence, &at, log);
    let verified_analogy = cited
        .iter()
        .any(|recalled| recalled.grade == Grade::Analogy && recalled.incident.outcome().standing() == Standing::Verified);
    let count = |n: usize| u32::try_from(n).unwrap_or(u32::MAX);
    let numbers = Numbers {
        model: proposed.confidence,
        proven: count(proofs.len()),
        refuted: count(failures.len()).saturating_add(count(own_failures)),
        other: count(others),
        verified_analogy,
        newest_failed,
        stale,
        contradicted: !contradicted_by.is_empty(),
    };
    let (points, arithmetic) = score::score(&numbers);
    note_score(&numbers, arithmetic.banded, points, &at, log);

    let has_direct = !cited_direct.is_empty();
    let source = if has_direct {
        Source::Memory
    } else if !evidence.is_empty() {
        Source::CurrentEvidence
    } else if !cited.is_empty() {
        Source::Memory
    } else {
        Source::GeneralPractice
    };
    let analogy = source == Source::Memory && !has_direct;
    log.note("R3", format!("{at}.source"), proposed.source.trim(), source.word());

    let (ruled_out, ruled_out_note) = ruled_out_before(context, &proposed.title, &compared, proofs.len());
    let title = title(context, proposed, &cited, &cited_direct, &at, log)?;
    let verify = verify(context, proposed, &cited_direct, &at, log);
    let (fix, fix_ref) = shown_fix(context, proposed, own_fix, &cited_direct, &at, log);
    let class = class_of(&numbers, source, &evidence, ruled_out);
    let hypothesis = Hypothesis {
        title,
        source,
        analogy,
        refs: cited.iter().map(|recalled| cited_incident(context, recalled, &proposed.memory_refs)).collect(),
        evidence,
        contradicted_by,
        score: points,
        label: score::label(points, &numbers),
        class,
        record: Record {
            worked: numbers.proven,
            failed: numbers.refuted,
            other_cause: numbers.other,
            newest_failed,
            newest_at,
            stale,
            date_unknown: numbers.proven > 0 && newest_proof.is_none(),
            other_service_only: numbers.proven == 0 && verified_analogy && !has_direct,
        },
        verify,
        fix,
        fix_ref,
        ruled_out,
        ruled_out_note,
        arithmetic,
    };
    Some((hypothesis, numbers))
}

/// The incident that `fix_ref` names, if it may be cited; it counts as cited from then on.
fn fix_ref<'c>(context: &Context<'c>, proposed: &ProposedHypothesis, cited: &mut Vec<&'c Recalled>, at: &str, log: &mut Log) -> Option<&'c Recalled> {
    if proposed.fix_ref.trim().is_empty() {
        return None;
    }
    let found = IncidentId::parse(&proposed.fix_ref).and_then(|id| citable(&context.case.memory, id));
    match found {
        None => log.note("R1", format!("{at}.fix_ref"), &proposed.fix_ref, ""),
        Some(recalled) => {
            if !cited.iter().any(|known| known.incident.id == recalled.incident.id) {
                log.note("R1", format!("{at}.memory_refs"), "", recalled.incident.id.to_string());
                cited.push(recalled);
            }
        }
    }
    found
}

/// `fix_ref` wins, then the words, then the fix of the first cited direct incident.
fn own_fix(proposed: &ProposedHypothesis, fix_from: Option<&Recalled>, cited: &[&Recalled]) -> Option<OwnFix> {
    if let Some(recalled) = fix_from
        && let Some(fix) = recalled.incident.fix()
    {
        return Some(OwnFix { words: fix.to_owned(), from: Some(recalled.incident.id) });
    }
    let words = text::clean(&proposed.fix, text::PARAGRAPH);
    if !words.is_empty() {
        return Some(OwnFix { words, from: None });
    }
    cited
        .iter()
        .filter(|recalled| recalled.grade == Grade::DirectMatch)
        .find_map(|recalled| Some(OwnFix { words: recalled.incident.fix()?.to_owned(), from: Some(recalled.incident.id) }))
}

/// The fix as it may be shown, and whose it is.
fn shown_fix(context: &Context<'_>, proposed: &ProposedHypothesis, own: Option<OwnFix>, cited: &[IncidentId], at: &str, log: &mut Log) -> (String, Option<IncidentId>) {
    let at = format!("{at}.fix");
    let Some(own) = own else {
        return (String::new(), None);
    };
    if own.from.is_some() {
        log.note("R8", &at, text::clean(&proposed.fix, text::PARAGRAPH), &own.words);
    }
    let fix = context.claim(&own.words, text::PARAGRAPH, cited, Place::Body, &at, log);
    let from = if fix.is_empty() { None } else { own.from };
    (fix, from)
}

/// Whether the newest attempt of this fix failed, and when it was seen. Own attempts are the newest.
fn newest_attempt(context: &Context<'_>, fix: Option<&OwnFix>, own_failed: bool) -> (bool, Option<Timestamp>) {
    let Some(fix) = fix else {
        return (false, None);
    };
    let own = context
        .case
        .attempts
        .iter()
        .rev()
        .find(|attempt| likeness(&fix.words, &attempt.fix) == Likeness::Same || (attempt.outcome.standing() == Standing::Refuted && likeness(&fix.words, &attempt.fix) == Likeness::Near));
    if let Some(attempt) = own {
        return (attempt.outcome.standing() == Standing::Refuted, attempt.at);
    }
    let mut tried: Vec<(Option<Timestamp>, IncidentId, bool)> = context
        .episodes
        .iter()
        .filter_map(|episode| {
            let standing = episode.outcome_of(&fix.words)?.standing();
            // A near-same fix that did not fail says nothing of this one.
            let failed = standing == Standing::Refuted;
            let mine = failed || episode.incidents.iter().flat_map(|incident| &incident.attempts).any(|attempt| same(&fix.words, &attempt.fix));
            mine.then_some((episode.tried_at(&fix.words), episode.last()?.id, failed))
        })
        .collect();
    // Where a time is missing the numbers tell the order: they are given out in order.
    if tried.iter().all(|(at, _, _)| at.is_some()) {
        tried.sort_by_key(|(at, id, _)| (*at, *id));
    } else {
        tried.sort_by_key(|(_, id, _)| *id);
    }
    tried.last().map_or((own_failed, None), |(at, _, failed)| (*failed, *at))
}

fn is_stale(at: Timestamp, now: Timestamp) -> bool {
    (now.as_second() - at.as_second()) > STALE_AFTER_DAYS * 86_400
}

fn quotes(context: &Context<'_>, proposed: &[String], at: &str, log: &mut Log) -> Vec<String> {
    let mut kept: Vec<String> = Vec::new();
    for (index, quote) in proposed.iter().enumerate() {
        let cleaned = text::clean(quote, text::SENTENCE);
        if context.quotable.find(&cleaned).is_none() || kept.contains(&cleaned) {
            log.note("R3", format!("{at}[{index}]"), quote, "");
        } else {
            kept.push(cleaned);
        }
    }
    kept
}

fn contradictions_of(context: &Context<'_>, proposed: &ProposedHypothesis, causes: &[&str], evidence: &[String], at: &str, log: &mut Log) -> Vec<Contradiction> {
    let mut out: Vec<Contradiction> = Vec::new();
    for (index, quote) in proposed.contradicted_by.iter().enumerate() {
        let cleaned = text::clean(quote, text::SENTENCE);
        match context.quotable.find(&cleaned) {
            Some(standing) => out.push(Contradiction {
                quote: cleaned.clone(),
                author: standing.author.map(str::to_owned),
                found_by_code: false,
            }),
            None => log.note("R3", format!("{at}.contradicted_by[{index}]"), quote, ""),
        }
    }
    if out.is_empty() {
        let found = std::iter::once(proposed.title.as_str())
            .chain(causes.iter().copied())
            .find_map(|cause| contradictions::find(cause, &context.case.report));
        if let Some(found) = found
            && !evidence.contains(&found.quote)
        {
            log.note("R13", format!("{at}.contradicted_by"), "", &found.quote);
            out.push(Contradiction {
                quote: text::clean(&found.quote, text::SENTENCE),
                author: found.author,
                found_by_code: true,
            });
        }
    }
    out
}

/// Whether history excluded this cause at least as often as it proved it; else where it did (R13).
fn ruled_out_before(context: &Context<'_>, title: &str, causes: &[&str], proofs: usize) -> (bool, Vec<IncidentId>) {
    let is_it = |cause: &str| same(title, cause) || causes.iter().any(|mine| same(mine, cause));
    let excluded: Vec<&Episode> = context
        .episodes
        .iter()
        .filter(|episode| episode.incidents.iter().flat_map(|incident| &incident.ruled_out).any(|cause| is_it(cause)))
        .collect();
    let proved = context
        .episodes
        .iter()
        .filter(|episode| episode.last().and_then(|incident| incident.confirmed_cause()).is_some_and(is_it))
        .count()
        .max(proofs);
    let refs: Vec<IncidentId> = excluded
        .iter()
        .flat_map(|episode| &episode.incidents)
        .filter(|incident| incident.ruled_out.iter().any(|cause| is_it(cause)))
        .map(|incident| incident.id)
        .collect();
    (!excluded.is_empty() && excluded.len() >= proved, refs)
}

/// A title that may be shown; where nothing of it may, the recorded cause, or what an analogy may say.
fn title(context: &Context<'_>, proposed: &ProposedHypothesis, cited: &[&Recalled], direct: &[IncidentId], at: &str, log: &mut Log) -> Option<String> {
    let at = format!("{at}.title");
    let title = context.claim(&proposed.title, text::TITLE, direct, Place::Title, &at, log);
    if !title.is_empty() {
        return Some(title);
    }
    let recorded = cited
        .iter()
        .filter(|recalled| recalled.grade == Grade::DirectMatch && !recalled.incident.root_cause.trim().is_empty())
        .map(|recalled| context.stored(&recalled.incident.root_cause, recalled.incident.id))
        .find(|cause| !cause.is_empty());
    let pattern = || {
        let analogy = cited.iter().find(|recalled| recalled.grade == Grade::Analogy)?;
        let id = analogy.incident.id;
        Some(match (context.case.locale, analogy.incident.service.as_deref()) {
            (Locale::En, Some(service)) => format!("The same kind of trouble as on {service} ({id})"),
            (Locale::En, None) => format!("The same kind of trouble as in {id}"),
            (Locale::Zh, Some(service)) => format!("与 {service} 出现过的同类问题（{id}）"),
            (Locale::Zh, None) => format!("与 {id} 同类的问题"),
        })
    };
    let instead = recorded.or_else(pattern);
    log.note("R20", &at, &proposed.title, instead.as_deref().unwrap_or_default());
    instead
}

/// Every hypothesis carries one read-only check; the standard one where none may be shown (R15).
fn verify(context: &Context<'_>, proposed: &ProposedHypothesis, direct: &[IncidentId], at: &str, log: &mut Log) -> String {
    let at = format!("{at}.verify");
    let verify = context.claim(&proposed.verify, text::SENTENCE, direct, Place::Body, &at, log);
    // A check that changes something is none; a verb that no table knows is no reason to drop it.
    if !verify.is_empty() && !super::risk::changes_something(&verify) {
        return verify;
    }
    let case = context.case;
    let standard = checks::standard(case.failure_class, case.locale, case.service.as_deref());
    let instead = standard.first().map(|check| check.step.clone()).unwrap_or_default();
    log.note("R15", &at, &verify, &instead);
    instead
}

fn class_of(numbers: &Numbers, source: Source, evidence: &[String], ruled_out: bool) -> Class {
    let mixed = numbers.proven > 0 && numbers.refuted > 0 && (numbers.newest_failed || numbers.refuted >= numbers.proven);
    if ruled_out || numbers.contradicted {
        Class::Excluded
    } else if numbers.proven > 0 && !mixed {
        Class::Proven
    } else if !evidence.is_empty() && numbers.refuted == 0 {
        Class::Evidence
    } else if mixed {
        Class::Mixed
    } else if numbers.verified_analogy && source == Source::Memory {
        Class::VerifiedAnalogy
    } else {
        Class::Unproven
    }
}

fn cited_incident(context: &Context<'_>, recalled: &Recalled, written: &[String]) -> CitedIncident {
    let incident = &recalled.incident;
    // The outcome as the rule of returns leaves it.
    let outcome = context
        .episodes
        .iter()
        .flat_map(|episode| &episode.incidents)
        .find(|adjusted| adjusted.id == incident.id)
        .map_or(incident.outcome(), |adjusted| adjusted.outcome());
    CitedIncident {
        id: incident.id,
        grade: recalled.grade,
        outcome,
        service: incident.service.clone(),
        at: time_of(incident),
        minutes: incident.minutes_to_resolve(),
        environment: incident.environment.clone(),
        added_by_code: !written.iter().any(|reference| IncidentId::parse(reference) == Some(incident.id)),
    }
}

fn note_score(numbers: &Numbers, banded: Option<u8>, points: Option<u8>, at: &str, log: &mut Log) {
    let say = |points: Option<u8>| points.map_or_else(|| "not scored".to_owned(), |points| points.to_string());
    let at = format!("{at}.confidence");
    let rule = if numbers.proven == 0 && numbers.verified_analogy { "R9" } else { "R8" };
    if numbers.model.is_some() || banded.is_some() {
        log.note(rule, &at, say(numbers.model), say(banded));
    }
    log.note("R10", &at, say(banded), say(points));
}

/// What rests on analogies stays below the best direct proven record shown (R9).
fn below_the_best_record(built: &mut [(usize, Hypothesis, Numbers)], log: &mut Log) {
    let best = built.iter().filter(|(_, _, numbers)| numbers.proven > 0).filter_map(|(_, hypothesis, _)| hypothesis.score).max();
    let Some(best) = best else { return };
    for (index, hypothesis, numbers) in built.iter_mut() {
        let most = best.saturating_sub(1);
        if numbers.proven == 0
            && numbers.verified_analogy
            && let Some(points) = hypothesis.score
            && points > most
        {
            log.note("R9", format!("hypotheses[{index}].confidence"), points.to_string(), most.to_string());
            hypothesis.score = Some(most);
            hypothesis.arithmetic.caps.push(("R9 below the best direct record".to_owned(), most));
            hypothesis.label = score::label(hypothesis.score, numbers);
        }
    }
}

/// By class, then score; what history excluded last; at most four; general ideas apart where
/// nothing rests on memory or report (R13, R14).
fn order(mut built: Vec<(usize, Hypothesis, Numbers)>, log: &mut Log) -> Ordered {
    let before: Vec<usize> = built.iter().map(|(index, _, _)| *index).collect();
    built.sort_by_key(|(index, hypothesis, _)| (hypothesis.class, hypothesis.ruled_out, std::cmp::Reverse(hypothesis.score), *index));
    let after: Vec<usize> = built.iter().map(|(index, _, _)| *index).collect();
    log.note("R14", "hypotheses", format!("order {before:?}"), format!("order {after:?}"));
    let usable = built.iter().any(|(_, hypothesis, _)| hypothesis.source != Source::GeneralPractice && !hypothesis.ruled_out);
    let mut hypotheses: Vec<Hypothesis> = Vec::new();
    let mut general_ideas: Vec<GeneralIdea> = Vec::new();
    for (index, hypothesis, _) in built {
        let place = format!("hypotheses[{index}]");
        if !usable && hypothesis.source == Source::GeneralPractice && !hypothesis.ruled_out {
            log.note("R14", &place, &hypothesis.title, format!("general idea: {}", hypothesis.title));
            general_ideas.push(GeneralIdea {
                title: hypothesis.title,
                verify: hypothesis.verify,
                score: hypothesis.score,
            });
        } else if hypotheses.len() >= MOST_HYPOTHESES {
            log.note("R14", &place, &hypothesis.title, "");
        } else {
            hypotheses.push(hypothesis);
        }
    }
    while general_ideas.len() > MOST_HYPOTHESES {
        if let Some(idea) = general_ideas.pop() {
            log.note("R14", "hypotheses", &idea.title, "");
        }
    }
    Ordered {
        hypotheses,
        cause_not_determined: !usable,
        general_ideas,
    }
}

/// Causes that recalled direct incidents excluded at least as often as they proved them, each with
/// its references; the model's own claims of that kind survive only where a record says so (R13).
pub(super) fn ruled_out(context: &Context<'_>, proposed: &[ProposedRuledOut], log: &mut Log) -> Vec<RuledOut> {
    let mut out: Vec<RuledOut> = Vec::new();
    for incident in context.episodes.iter().flat_map(|episode| &episode.incidents) {
        for cause in &incident.ruled_out {
            if let Some(known) = out.iter_mut().find(|known| same(&known.cause, cause)) {
                if !known.refs.contains(&incident.id) {
                    known.refs.push(incident.id);
                }
            } else {
                out.push(RuledOut {
                    cause: context.stored(cause, incident.id),
                    refs: vec![incident.id],
                    reason: String::new(),
                });
            }
        }
    }
    out.retain(|ruled_out| !ruled_out.cause.is_empty() && ruled_out_before(context, &ruled_out.cause, &[], 0).0);
    for (index, claim) in proposed.iter().enumerate() {
        let at = format!("ruled_out_by_history[{index}]");
        match out.iter_mut().find(|known| same(&known.cause, &claim.cause)) {
            Some(known) => {
                let refs = known.refs.clone();
                known.reason = context.claim(&claim.reason, text::SENTENCE, &refs, Place::Body, &format!("{at}.reason"), log);
            }
            None => log.note("R13", &at, &claim.cause, ""),
        }
    }
    out
}

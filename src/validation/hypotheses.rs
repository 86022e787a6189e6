//! From proposed to shown hypotheses: references, source, record, score, order (R1-R3, R6-R15).

use super::analysis::{
    CitedIncident, Class, Contradiction, GeneralIdea, Hypothesis, Record, RuledOut, Source,
};
use super::context::Context;
use super::episodes::{Episode, time_of};
use super::grounding::Place;
use super::log::Log;
use super::record::{FixRecord, Tried};
use super::references::{citable, survivors};
use super::score::{self, Numbers, STALE_AFTER_DAYS};
use super::text;
use crate::incident::proposal::{ProposedHypothesis, ProposedRuledOut};
use crate::incident::sameness::{Phrase, near_or_same};
use crate::incident::words::fold;
use crate::incident::{Grade, IncidentId, Locale, Recalled, Standing};
use crate::response::checks;
use jiff::Timestamp;

/// Most hypotheses that are shown (R14).
pub const MOST_HYPOTHESES: usize = 4;
/// Most proposed hypotheses that are looked at: a person would not read a tenth.
pub(super) const MOST_READ: usize = 20;
/// Most quotes of one hypothesis that are looked at, on each side.
const MOST_QUOTES: usize = 12;
/// Most causes excluded by history that the model may name.
const MOST_RULED_OUT: usize = 20;

/// Hypotheses as they may be shown, in order.
pub(super) struct Ordered {
    pub hypotheses: Vec<Hypothesis>,
    pub cause_not_determined: bool,
    pub general_ideas: Vec<GeneralIdea>,
}

pub(super) fn shown(
    context: &Context<'_>,
    proposed: &[ProposedHypothesis],
    log: &mut Log,
) -> Ordered {
    let read = proposed.get(..MOST_READ).unwrap_or(proposed);
    if proposed.len() > read.len() {
        log.note(
            "R14",
            "hypotheses",
            format!("{} more hypotheses", proposed.len() - read.len()),
            "",
        );
    }
    let merged = merged(context, read, log);
    let mut built: Vec<(usize, Hypothesis, Numbers)> = merged
        .iter()
        .filter_map(|(index, proposed)| {
            let (hypothesis, numbers) = one(context, *index, proposed, log)?;
            Some((*index, hypothesis, numbers))
        })
        .collect();
    below_the_best_record(&mut built, log);
    order(context, built, log)
}

/// Same causes merge: first text and number, union of references and quotes (R14).
fn merged(
    context: &Context<'_>,
    proposed: &[ProposedHypothesis],
    log: &mut Log,
) -> Vec<(usize, ProposedHypothesis)> {
    let mut out: Vec<(usize, ProposedHypothesis, Phrase)> = Vec::new();
    for (index, hypothesis) in proposed.iter().enumerate() {
        let phrase = context.phrase(&text::clean_line(&hypothesis.title, text::TITLE));
        match out.iter_mut().find(|(_, _, kept)| kept.same(&phrase)) {
            Some((into, kept, _)) => {
                log.note(
                    "R14",
                    format!("hypotheses[{index}]"),
                    &hypothesis.title,
                    format!("merged into hypotheses[{into}]"),
                );
                kept.memory_refs
                    .extend(hypothesis.memory_refs.iter().cloned());
                kept.evidence.extend(hypothesis.evidence.iter().cloned());
                kept.contradicted_by
                    .extend(hypothesis.contradicted_by.iter().cloned());
                kept.confidence = kept.confidence.or(hypothesis.confidence);
                // A fix and its reference belong together.
                if kept.fix.trim().is_empty() && kept.fix_ref.trim().is_empty() {
                    kept.fix.clone_from(&hypothesis.fix);
                    kept.fix_ref.clone_from(&hypothesis.fix_ref);
                }
                if kept.verify.trim().is_empty() {
                    kept.verify.clone_from(&hypothesis.verify);
                }
            }
            None => out.push((index, hypothesis.clone(), phrase)),
        }
    }
    out.into_iter()
        .map(|(index, hypothesis, _)| (index, hypothesis))
        .collect()
}

/// The fix that a hypothesis stands for.
struct OwnFix {
    words: String,
    phrase: Phrase,
    /// The recalled incident whose stored fix it is.
    from: Option<IncidentId>,
}

impl OwnFix {
    fn new(context: &Context<'_>, words: &str, from: Option<IncidentId>) -> Self {
        Self {
            phrase: context.phrase(words),
            words: words.to_owned(),
            from,
        }
    }
}

fn one(
    context: &Context<'_>,
    index: usize,
    proposed: &ProposedHypothesis,
    log: &mut Log,
) -> Option<(Hypothesis, Numbers)> {
    let case = context.case;
    let at = format!("hypotheses[{index}]");
    let said_title = text::clean_line(&proposed.title, text::TITLE);
    if said_title.is_empty() {
        log.note("R14", &at, "a hypothesis without a title", "");
        return None;
    }
    let named = context.phrase(&said_title);
    let mut cited = survivors(
        &proposed.memory_refs,
        case,
        &format!("{at}.memory_refs"),
        log,
    );
    let fix_from = fix_ref(context, proposed, &mut cited, &at, log);
    let own_fix = own_fix(context, proposed, fix_from, &cited);
    let outcome_here = |episode: &Episode| {
        own_fix
            .as_ref()
            .and_then(|fix| episode.outcome_of(&fix.phrase))
    };
    let is_proof = |episode: &Episode| {
        outcome_here(episode).is_some_and(|outcome| outcome.standing() == Standing::Verified)
    };
    let has_failed = |episode: &Episode| {
        outcome_here(episode).is_some_and(|outcome| outcome.standing() == Standing::Refuted)
    };
    if let Some(fix) = &own_fix {
        cite_the_whole_record(context, fix, &named, &is_proof, &mut cited, &at, log);
    }
    let cited_direct = direct_ids(&cited);
    let proofs: Vec<&Episode> = context
        .episodes
        .iter()
        .filter(|episode| cited_direct.iter().any(|id| episode.holds(*id)) && is_proof(episode))
        .collect();
    let record = own_fix.as_ref().map_or_else(
        || FixRecord(Vec::new()),
        |fix| FixRecord::of(context, &fix.phrase),
    );
    let causes: Vec<Phrase> = cited
        .iter()
        .filter(|recalled| recalled.grade == Grade::DirectMatch)
        .map(|recalled| context.phrase(&recalled.incident.root_cause))
        .filter(|cause| !cause.is_empty())
        .collect();
    let compared: &[Phrase] = if causes.is_empty() {
        std::slice::from_ref(&named)
    } else {
        &causes
    };
    let others = context
        .episodes
        .iter()
        .filter(|episode| {
            !proofs.iter().any(|proof| std::ptr::eq(*proof, *episode)) && !has_failed(episode)
        })
        .filter(|episode| {
            episode
                .confirmed_cause()
                .is_some_and(|cause| !compared.iter().any(|mine| mine.same(cause)))
        })
        .count();

    let newest_failed = record.newest().is_some_and(Tried::failed);
    let newest_proof = proofs
        .iter()
        .filter_map(|episode| episode.last().and_then(time_of))
        .max();
    let stale = newest_proof.is_some_and(|at| is_stale(at, case.now));

    let mut evidence = quotes(context, &proposed.evidence, &format!("{at}.evidence"), log);
    let contradicted_by = contradictions_of(context, proposed, &cited, &mut evidence, &at, log);
    let verified_analogy = cited.iter().any(|recalled| {
        recalled.grade == Grade::Analogy
            && recalled.incident.outcome().standing() == Standing::Verified
    });
    let count = |n: usize| u32::try_from(n).unwrap_or(u32::MAX);
    let numbers = Numbers {
        model: proposed.confidence,
        proven: count(proofs.len()),
        refuted: count(record.failed()),
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
    log.note(
        "R3",
        format!("{at}.source"),
        proposed.source.trim(),
        source.word(),
    );

    let (ruled_out, ruled_out_note) = ruled_out_before(context, &named, &causes, &proofs);
    // *Not it* of today is a person's word: it stands above what was proved before.
    let ruled_out = ruled_out || ruled_out_today(context, &named);
    let title = title(context, proposed, &cited, &cited_direct, &at, log)?;
    let verify = verify(context, proposed, &cited_direct, &at, log);
    let (fix, fix_ref) = shown_fix(context, proposed, own_fix, &cited_direct, &at, log);
    let class = class_of(&numbers, source, &evidence, ruled_out);
    let hypothesis = Hypothesis {
        title,
        source,
        analogy,
        refs: cited
            .iter()
            .map(|recalled| cited_incident(context, recalled, &proposed.memory_refs))
            .collect(),
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
            newest_at: record.newest().and_then(|trial| trial.at),
            stale,
            date_unknown: numbers.proven > 0 && newest_proof.is_none(),
            other_service_only: numbers.proven == 0 && verified_analogy && !has_direct,
            tried: has_direct
                .then(|| record.told(case.ledger.environment.as_deref(), case.now))
                .flatten(),
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

fn direct_ids(cited: &[&Recalled]) -> Vec<IncidentId> {
    cited
        .iter()
        .filter(|recalled| recalled.grade == Grade::DirectMatch)
        .map(|recalled| recalled.incident.id)
        .collect()
}

/// Adds the uncited direct episodes of the same verified fix, so that record and score speak of the
/// same set (R8). A hypothesis that cites nothing here gets those only whose cause it names too: a
/// fix as common as a restart is no sign of the same trouble.
fn cite_the_whole_record<'c>(
    context: &Context<'c>,
    fix: &OwnFix,
    named: &Phrase,
    is_proof: &dyn Fn(&Episode) -> bool,
    cited: &mut Vec<&'c Recalled>,
    at: &str,
    log: &mut Log,
) {
    let by_model = direct_ids(cited);
    for episode in context.episodes.iter().filter(|episode| is_proof(episode)) {
        let is_cited = by_model.iter().any(|id| episode.holds(*id));
        let is_named = || {
            episode
                .confirmed_cause()
                .is_some_and(|cause| cause.same(named))
        };
        if is_cited || (by_model.is_empty() && !is_named()) {
            continue;
        }
        for (id, _, phrase) in episode.fixes() {
            let known = cited.iter().any(|known| known.incident.id == id);
            if let (false, true, Some(recalled)) = (
                known,
                phrase.same(&fix.phrase),
                citable(&context.case.memory, id),
            ) {
                log.note("R8", format!("{at}.memory_refs"), "", id.to_string());
                cited.push(recalled);
            }
        }
    }
}

/// The incident that `fix_ref` names, if it may be cited; it counts as cited from then on. An
/// analogy beside a direct incident does not: its fix is copied and proves nothing.
fn fix_ref<'c>(
    context: &Context<'c>,
    proposed: &ProposedHypothesis,
    cited: &mut Vec<&'c Recalled>,
    at: &str,
    log: &mut Log,
) -> Option<&'c Recalled> {
    if proposed.fix_ref.trim().is_empty() {
        return None;
    }
    let found =
        IncidentId::parse(&proposed.fix_ref).and_then(|id| citable(&context.case.memory, id));
    match found {
        None => log.note("R1", format!("{at}.fix_ref"), &proposed.fix_ref, ""),
        Some(recalled) => {
            let direct = |known: &Recalled| known.grade == Grade::DirectMatch;
            if !cited
                .iter()
                .any(|known| known.incident.id == recalled.incident.id)
                && (direct(recalled) || !cited.iter().any(|known| direct(known)))
            {
                log.note(
                    "R1",
                    format!("{at}.memory_refs"),
                    "",
                    recalled.incident.id.to_string(),
                );
                cited.push(recalled);
            }
        }
    }
    found
}

/// `fix_ref` wins, then the words, then the fix of the first cited direct incident.
fn own_fix(
    context: &Context<'_>,
    proposed: &ProposedHypothesis,
    fix_from: Option<&Recalled>,
    cited: &[&Recalled],
) -> Option<OwnFix> {
    if let Some(recalled) = fix_from
        && let Some(fix) = recalled.incident.fix()
    {
        return Some(OwnFix::new(context, fix, Some(recalled.incident.id)));
    }
    let words = text::clean(&proposed.fix, text::PARAGRAPH);
    if !words.is_empty() {
        return Some(OwnFix::new(context, &words, None));
    }
    cited
        .iter()
        .filter(|recalled| recalled.grade == Grade::DirectMatch)
        .find_map(|recalled| {
            Some(OwnFix::new(
                context,
                recalled.incident.fix()?,
                Some(recalled.incident.id),
            ))
        })
}

/// The fix as it may be shown, and whose it is.
fn shown_fix(
    context: &Context<'_>,
    proposed: &ProposedHypothesis,
    own: Option<OwnFix>,
    cited: &[IncidentId],
    at: &str,
    log: &mut Log,
) -> (String, Option<IncidentId>) {
    let at = format!("{at}.fix");
    let Some(own) = own else {
        return (String::new(), None);
    };
    // A reference without words is filled in, as the wire has it: no change to what was said.
    let said = text::clean(&proposed.fix, text::PARAGRAPH);
    if own.from.is_some() && !said.is_empty() {
        log.note("R8", &at, said, &own.words);
    }
    let fix = context.claim(&own.words, text::PARAGRAPH, cited, Place::Body, &at, log);
    let from = if fix.is_empty() { None } else { own.from };
    (fix, from)
}

fn is_stale(at: Timestamp, now: Timestamp) -> bool {
    (now.as_second() - at.as_second()) > STALE_AFTER_DAYS * 86_400
}

fn quotes(context: &Context<'_>, proposed: &[String], at: &str, log: &mut Log) -> Vec<String> {
    let mut kept: Vec<String> = Vec::new();
    for (index, quote) in proposed.iter().enumerate().take(MOST_QUOTES) {
        let at = format!("{at}[{index}]");
        let cleaned = text::clean(quote, text::SENTENCE);
        if cleaned.is_empty() || context.quotable.find(quote).is_none() || kept.contains(&cleaned) {
            log.note("R3", at, quote, "");
        } else {
            log.note("R21", at, quote.trim(), &cleaned);
            kept.push(cleaned);
        }
    }
    if proposed.len() > MOST_QUOTES {
        log.note(
            "R3",
            at,
            format!("{} more quotes", proposed.len() - MOST_QUOTES),
            "",
        );
    }
    kept
}

/// What contradicts a cause: quotes of the model that stand, else what code finds. A quote can't
/// both support a cause and contradict it: the contradiction wins.
fn contradictions_of(
    context: &Context<'_>,
    proposed: &ProposedHypothesis,
    cited: &[&Recalled],
    evidence: &mut Vec<String>,
    at: &str,
    log: &mut Log,
) -> Vec<Contradiction> {
    let mut out: Vec<Contradiction> = Vec::new();
    for (index, quote) in proposed
        .contradicted_by
        .iter()
        .enumerate()
        .take(MOST_QUOTES)
    {
        let at = format!("{at}.contradicted_by[{index}]");
        let cleaned = text::clean(quote, text::SENTENCE);
        match context.quotable.find(quote) {
            Some(standing)
                if !cleaned.is_empty() && !out.iter().any(|known| known.quote == cleaned) =>
            {
                log.note("R21", at, quote.trim(), &cleaned);
                out.push(Contradiction {
                    quote: cleaned,
                    author: standing.author.map(str::to_owned),
                    found_by_code: false,
                });
            }
            _ => log.note("R3", at, quote, ""),
        }
    }
    if proposed.contradicted_by.len() > MOST_QUOTES {
        log.note(
            "R3",
            format!("{at}.contradicted_by"),
            format!(
                "{} more quotes",
                proposed.contradicted_by.len() - MOST_QUOTES
            ),
            "",
        );
    }
    if out.is_empty() {
        let causes = cited
            .iter()
            .filter(|recalled| recalled.grade == Grade::DirectMatch)
            .map(|recalled| recalled.incident.root_cause.as_str());
        let found = std::iter::once(proposed.title.as_str())
            .chain(causes)
            .find_map(|cause| {
                context
                    .clauses
                    .against(&text::clean_line(cause, text::SENTENCE))
            });
        if let Some(found) = found {
            log.note("R13", format!("{at}.contradicted_by"), "", &found.quote);
            out.push(Contradiction {
                quote: text::clean(&found.quote, text::SENTENCE),
                author: found
                    .author
                    .map(|author| text::clean_line(&author, text::TITLE)),
                found_by_code: true,
            });
        }
    }
    let against: Vec<String> = out
        .iter()
        .map(|contradiction| fold(&contradiction.quote))
        .collect();
    evidence.retain(|quote| {
        let folded = fold(quote);
        let both = against
            .iter()
            .any(|other| other.contains(&folded) || folded.contains(other));
        if both {
            log.note("R13", format!("{at}.evidence"), quote, "");
        }
        !both
    });
    out
}

/// Whether history excluded this cause at least as often as it proved it; else where it did (R13).
/// An episode that excluded the cause proves nothing for it, whatever is cited.
fn ruled_out_before(
    context: &Context<'_>,
    named: &Phrase,
    causes: &[Phrase],
    proofs: &[&Episode],
) -> (bool, Vec<IncidentId>) {
    let mut all = Vec::new();
    let mut is_out = false;
    for cause in std::iter::once(named).chain(causes) {
        let excluded: Vec<Vec<IncidentId>> = context
            .episodes
            .iter()
            .map(|episode| episode.excluded_by(|known| known.same(cause)))
            .filter(|ids| !ids.is_empty())
            .collect();
        let proved = context
            .episodes
            .iter()
            .filter(|episode| {
                let by_fix = proofs.iter().any(|proof| std::ptr::eq(*proof, *episode));
                let by_cause = episode
                    .confirmed_cause()
                    .is_some_and(|confirmed| confirmed.same(cause));
                (by_fix || by_cause) && episode.excluded_by(|known| known.same(cause)).is_empty()
            })
            .count();
        is_out |= !excluded.is_empty() && excluded.len() >= proved;
        all.extend(excluded.into_iter().flatten());
    }
    all.sort_unstable();
    all.dedup();
    (is_out, all)
}

/// Whether somebody said of this cause that it is not the one of the incident at hand.
fn ruled_out_today(context: &Context<'_>, named: &Phrase) -> bool {
    let running = context.case.ledger.running.as_ref();
    running.is_some_and(|running| {
        let mut out = running.ruled_out.iter();
        out.any(|cause| context.phrase(cause).same(named))
    })
}

/// A title that may be shown; where nothing of it may, the recorded cause, or what an analogy may say.
fn title(
    context: &Context<'_>,
    proposed: &ProposedHypothesis,
    cited: &[&Recalled],
    direct: &[IncidentId],
    at: &str,
    log: &mut Log,
) -> Option<String> {
    let at = format!("{at}.title");
    let title = context.claim(&proposed.title, text::TITLE, direct, Place::Title, &at, log);
    if !title.is_empty() {
        return Some(title);
    }
    let recorded = cited
        .iter()
        .filter(|recalled| {
            recalled.grade == Grade::DirectMatch && !recalled.incident.root_cause.trim().is_empty()
        })
        .map(|recalled| context.stored(&recalled.incident.root_cause, recalled.incident.id))
        .find(|cause| !cause.is_empty());
    let pattern = || {
        let analogy = cited
            .iter()
            .find(|recalled| recalled.grade == Grade::Analogy)?;
        let id = analogy.incident.id;
        Some(
            match (context.case.locale, analogy.incident.service.as_deref()) {
                (Locale::En, Some(service)) => {
                    format!("The same kind of trouble as on {service} ({id})")
                }
                (Locale::En, None) => format!("The same kind of trouble as in {id}"),
                (Locale::Zh, Some(service)) => format!("与 {service} 出现过的同类问题（{id}）"),
                (Locale::Zh, None) => format!("与 {id} 同类的问题"),
            },
        )
    };
    let instead = recorded.or_else(pattern);
    log.note(
        "R20",
        &at,
        &proposed.title,
        instead.as_deref().unwrap_or_default(),
    );
    instead
}

/// Every hypothesis carries one read-only check; the standard one where none may be shown (R15).
fn verify(
    context: &Context<'_>,
    proposed: &ProposedHypothesis,
    direct: &[IncidentId],
    at: &str,
    log: &mut Log,
) -> String {
    let at = format!("{at}.verify");
    let verify = context.claim(
        &proposed.verify,
        text::SENTENCE,
        direct,
        Place::Body,
        &at,
        log,
    );
    // A check that changes something is none; a verb that no table knows is no reason to drop it.
    if !verify.is_empty() && !super::risk::changes_something(&verify) {
        return verify;
    }
    let case = context.case;
    let standard = checks::standard(case.failure_class, case.locale, case.service.as_deref());
    let instead = standard
        .first()
        .map(|check| check.step.clone())
        .unwrap_or_default();
    log.note("R15", &at, &verify, &instead);
    instead
}

fn class_of(numbers: &Numbers, source: Source, evidence: &[String], ruled_out: bool) -> Class {
    let mixed = numbers.proven > 0
        && numbers.refuted > 0
        && (numbers.newest_failed || numbers.refuted >= numbers.proven);
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
        added_by_code: !written
            .iter()
            .any(|reference| IncidentId::parse(reference) == Some(incident.id)),
        fragment: incident.is_fragment(),
    }
}

fn note_score(numbers: &Numbers, banded: Option<u8>, points: Option<u8>, at: &str, log: &mut Log) {
    let say = |points: Option<u8>| {
        points.map_or_else(|| "not scored".to_owned(), |points| points.to_string())
    };
    let at = format!("{at}.confidence");
    let rule = if numbers.proven == 0 && numbers.verified_analogy {
        "R9"
    } else {
        "R8"
    };
    if numbers.model.is_some() || banded.is_some() {
        log.note(rule, &at, say(numbers.model), say(banded));
    }
    log.note("R10", &at, say(banded), say(points));
}

/// What rests on analogies stays below the best direct proven record shown (R9).
fn below_the_best_record(built: &mut [(usize, Hypothesis, Numbers)], log: &mut Log) {
    let best = built
        .iter()
        .filter(|(_, _, numbers)| numbers.proven > 0)
        .filter_map(|(_, hypothesis, _)| hypothesis.score)
        .max();
    let Some(best) = best else { return };
    for (index, hypothesis, numbers) in built.iter_mut() {
        let most = best.saturating_sub(1);
        if numbers.proven == 0
            && numbers.verified_analogy
            && let Some(points) = hypothesis.score
            && points > most
        {
            log.note(
                "R9",
                format!("hypotheses[{index}].confidence"),
                points.to_string(),
                most.to_string(),
            );
            hypothesis.score = Some(most);
            hypothesis
                .arithmetic
                .caps
                .push(("R9 below the best direct record".to_owned(), most));
            hypothesis.label = score::label(hypothesis.score, numbers);
        }
    }
}

/// By class, then score; what history excluded last; at most four; general ideas apart where
/// nothing rests on memory or report (R13, R14).
fn order(
    context: &Context<'_>,
    mut built: Vec<(usize, Hypothesis, Numbers)>,
    log: &mut Log,
) -> Ordered {
    let before: Vec<usize> = built.iter().map(|(index, _, _)| *index).collect();
    built.sort_by_key(|(index, hypothesis, _)| {
        (
            hypothesis.class,
            hypothesis.ruled_out,
            std::cmp::Reverse(hypothesis.score),
            *index,
        )
    });
    let after: Vec<usize> = built.iter().map(|(index, _, _)| *index).collect();
    log.note(
        "R14",
        "hypotheses",
        format!("order {before:?}"),
        format!("order {after:?}"),
    );
    let mut titles: Vec<Phrase> = Vec::new();
    built.retain(|(index, hypothesis, _)| {
        // Struck titles may have become the same recorded cause.
        let phrase = context.phrase(&hypothesis.title);
        let known = titles.iter().any(|title| title.same(&phrase));
        if known {
            log.note(
                "R14",
                format!("hypotheses[{index}]"),
                &hypothesis.title,
                "merged",
            );
        }
        titles.push(phrase);
        !known
    });
    let usable = built.iter().any(|(_, hypothesis, _)| {
        hypothesis.source != Source::GeneralPractice && !hypothesis.ruled_out
    });
    let mut hypotheses: Vec<Hypothesis> = Vec::new();
    let mut general_ideas: Vec<GeneralIdea> = Vec::new();
    for (index, hypothesis, _) in built {
        let place = format!("hypotheses[{index}]");
        if !usable && hypothesis.source == Source::GeneralPractice && !hypothesis.ruled_out {
            log.note(
                "R14",
                &place,
                &hypothesis.title,
                format!("general idea: {}", hypothesis.title),
            );
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
pub(super) fn ruled_out(
    context: &Context<'_>,
    proposed: &[ProposedRuledOut],
    log: &mut Log,
) -> Vec<RuledOut> {
    struct Known {
        phrase: Phrase,
        shown: RuledOut,
        claimed: bool,
    }
    let mut out: Vec<Known> = Vec::new();
    for incident in context
        .episodes
        .iter()
        .flat_map(|episode| &episode.incidents)
    {
        for cause in &incident.ruled_out {
            let phrase = context.phrase(cause);
            if let Some(known) = out.iter_mut().find(|known| known.phrase.same(&phrase)) {
                if !known.shown.refs.contains(&incident.id) {
                    known.shown.refs.push(incident.id);
                }
            } else {
                out.push(Known {
                    phrase,
                    shown: RuledOut {
                        cause: context.stored(cause, incident.id),
                        refs: vec![incident.id],
                        reason: String::new(),
                    },
                    claimed: false,
                });
            }
        }
    }
    out.retain(|known| {
        !known.shown.cause.is_empty() && ruled_out_before(context, &known.phrase, &[], &[]).0
    });
    for (index, claim) in proposed.iter().enumerate().take(MOST_RULED_OUT) {
        let at = format!("ruled_out_by_history[{index}]");
        let cause = text::clean(&claim.cause, text::SENTENCE);
        let phrase = context.phrase(&cause);
        let refs: Vec<IncidentId> = survivors(
            &claim.memory_refs,
            context.case,
            &format!("{at}.memory_refs"),
            log,
        )
        .iter()
        .map(|recalled| recalled.incident.id)
        .collect();
        let is_meant = |known: &Known| {
            known.phrase.same(&phrase)
                || (near_or_same(&known.shown.cause, &cause)
                    && refs.iter().any(|id| known.shown.refs.contains(id)))
        };
        match out.iter_mut().find(|known| is_meant(known)) {
            Some(known) => {
                known.claimed = true;
                log.note("R13", format!("{at}.cause"), &cause, &known.shown.cause);
                let (mut said, mut stored) = (refs, known.shown.refs.clone());
                said.sort_unstable();
                stored.sort_unstable();
                let list = |ids: &[IncidentId]| {
                    ids.iter()
                        .map(IncidentId::to_string)
                        .collect::<Vec<_>>()
                        .join(", ")
                };
                log.note(
                    "R13",
                    format!("{at}.memory_refs"),
                    list(&said),
                    list(&stored),
                );
                known.shown.reason = context.claim(
                    &claim.reason,
                    text::SENTENCE,
                    &stored,
                    Place::Body,
                    &format!("{at}.reason"),
                    log,
                );
            }
            None => log.note("R13", &at, &claim.cause, ""),
        }
    }
    if proposed.len() > MOST_RULED_OUT {
        log.note(
            "R13",
            "ruled_out_by_history",
            format!("{} more causes", proposed.len() - MOST_RULED_OUT),
            "",
        );
    }
    for known in out.iter().filter(|known| !known.claimed) {
        log.note("R13", "ruled_out_by_history", "", &known.shown.cause);
    }
    out.into_iter().map(|known| known.shown).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn r14_the_classes_in_their_order() {
        let quote = ["429 Too Many Requests".to_owned()];
        let of = |proven, refuted, newest_failed| Numbers {
            proven,
            refuted,
            newest_failed,
            ..Numbers::default()
        };
        let analogy = Numbers {
            verified_analogy: true,
            ..Numbers::default()
        };
        let contradicted = Numbers {
            contradicted: true,
            ..of(3, 0, false)
        };
        for (numbers, evidence, ruled_out, class) in [
            (of(1, 0, false), false, false, Class::Proven),
            (of(3, 1, false), false, false, Class::Proven),
            (of(3, 1, true), false, false, Class::Mixed),
            (of(1, 1, false), true, false, Class::Mixed),
            (of(0, 0, false), true, false, Class::Evidence),
            (of(0, 1, true), true, false, Class::Unproven),
            (analogy, false, false, Class::VerifiedAnalogy),
            (analogy, true, false, Class::Evidence),
            (of(0, 0, false), false, false, Class::Unproven),
            (contradicted, true, false, Class::Excluded),
            (of(3, 0, false), true, true, Class::Excluded),
        ] {
            let evidence = if evidence { &quote[..] } else { &[] };
            assert_eq!(
                class_of(&numbers, Source::Memory, evidence, ruled_out),
                class,
                "{numbers:?} {evidence:?} {ruled_out}"
            );
        }
        let order = [
            Class::Proven,
            Class::Evidence,
            Class::Mixed,
            Class::VerifiedAnalogy,
            Class::Unproven,
            Class::Excluded,
        ];
        assert!(order.is_sorted(), "{order:?}");
    }
}

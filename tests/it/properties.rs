//! Properties of the validation core over random cases and proposals.

use crate::cases::model;
use precedent::incident::proposal::{
    Proposal, ProposedHypothesis, ProposedRuledOut, ProposedStep, ProposedUpdate, Risk,
};
use precedent::incident::{
    FailureClass, FixAttempt, Grade, IncidentId, Locale, Memory, Outcome, PastIncident, Recalled,
    Registry, Report, Severity,
};
use precedent::present::{self, View};
use precedent::validation::analysis::Audience;
use precedent::validation::{self, Analysis, Case, reading};
use proptest::prelude::*;
use std::collections::BTreeSet;

const NOW: &str = "2026-11-30T06:00:00Z";
const REPORT: &str = "ticket-mailer sends no mail since 04:10 UTC, about 12% of bookings.\n\
    ERROR SmtpRelay: 421 too many connections. Pool at 30 %. No release since Tuesday.\n积压约 3400 条消息，连接池使用率 30%。";
/// Occurs in analogies and nowhere else.
const INTERNALS: [&str; 5] = [
    "ZetaPoolKeeper",
    "zeta_lock_table",
    "zeta-relay-queue",
    "ZetaGate.open()",
    "/srv/zeta/keeper.yml",
];
const FIXES: [&str; 6] = [
    "Pause the campaign sender and restart ticket-mailer",
    "Restart ticket-mailer",
    "Raise the relay limit to 128",
    "Rotate the relay password",
    "暂停群发任务并重启",
    "",
];
const CAUSES: [&str; 6] = [
    "Campaign sender keeps SMTP connections open",
    "Expired relay password",
    "The connection pool is exhausted",
    "群发任务占用连接",
    "A bad release of the mailer",
    "",
];
/// Texts that a model may say, fair and foul.
const SAID: [&str; 22] = [
    "No mail leaves.",
    "As in INC-0002 the relay refuses.",
    "Same as INC-0099 and #98, see incident 97.",
    "About 71% of mail is lost; 12% of bookings fail.",
    "ZetaPoolKeeper leaks in ticket-mailer",
    "zeta_lock_table is locked and ZETAPOOLKEEPER too",
    "与 INC-0099 相同，积压约 9999 条。",
    "@everyone <@123> [click](https://evil.example/x)",
    "it will be fixed in 10 minutes because of Ben's mistake",
    "rm -rf /var/spool/mail",
    "kubectl get pods",
    "kubectl delete pod ticket-mailer-7c9d8b6f4-k8z2p",
    "Pool at 30 %",
    "421 too many connections",
    "No release since Tuesday",
    "release since Tuesday",
    "",
    "zeta-relay-queue grows, /srv/zeta/keeper.yml is wrong, ZetaGate.open() hangs",
    "積\u{202E}压\u{200B}",
    "confidence 100%",
    "删除 zeta_lock_table 并重启",
    "Campaign sender keeps SMTP connections open",
];
const REFS: [&str; 10] = [
    "INC-0001",
    "#2",
    "3",
    "inc 4",
    "ＩＮＣ－５",
    "INC-0006",
    "INC-0099",
    "P1",
    "",
    "INC-0001 or so",
];

fn said() -> impl Strategy<Value = String> {
    prop_oneof![
        6 => proptest::sample::select(&SAID[..]).prop_map(str::to_owned),
        2 => proptest::sample::select(&CAUSES[..]).prop_map(str::to_owned),
        2 => proptest::sample::select(&FIXES[..]).prop_map(str::to_owned),
        1 => "\\PC{0,60}",
        1 => (proptest::sample::select(&SAID[..]), proptest::sample::select(&SAID[..])).prop_map(|(a, b)| format!("{a} {b}")),
    ]
}

fn refs() -> impl Strategy<Value = Vec<String>> {
    prop::collection::vec(
        proptest::sample::select(&REFS[..]).prop_map(str::to_owned),
        0..5,
    )
}

fn past(number: u32) -> impl Strategy<Value = Recalled> {
    (
        0_usize..3,
        proptest::sample::select(&Outcome::ALL[..]),
        0_i64..40,
        0_usize..FIXES.len(),
        0_usize..CAUSES.len(),
        any::<bool>(),
        0_usize..CAUSES.len(),
        any::<bool>(),
    )
        .prop_map(
            move |(place, outcome, weeks, fix, cause, dated, out, excluded)| {
                let mut incident =
                    PastIncident::new(IncidentId::new(number).expect("not zero"), "mail stops");
                incident.error_signatures = vec!["SmtpRelay: 421 too many connections".into()];
                incident.root_cause = CAUSES.get(cause).copied().unwrap_or_default().into();
                let mut attempt =
                    FixAttempt::new(FIXES.get(fix).copied().unwrap_or_default(), outcome);
                if excluded {
                    incident.ruled_out = vec![CAUSES.get(out).copied().unwrap_or_default().into()];
                }
                if dated {
                    let started: jiff::Timestamp = "2025-12-01T00:00:00Z".parse().expect("a time");
                    let started = started + jiff::SignedDuration::from_hours(weeks * 7 * 24);
                    incident.started_at = Some(started);
                    incident.resolved_at = Some(started + jiff::SignedDuration::from_mins(40));
                }
                let grade = match place {
                    0 => Grade::DirectMatch,
                    1 => Grade::Analogy,
                    _ => Grade::Low,
                };
                if grade == Grade::DirectMatch {
                    incident.service = Some("ticket-mailer".into());
                } else {
                    incident.service = Some("invoice-mailer".into());
                    attempt.fix = format!("{} after {}", attempt.fix, INTERNALS.join(" and "));
                    incident.root_cause = format!("{}: ZetaPoolKeeper", incident.root_cause);
                }
                incident.attempts = vec![attempt];
                Recalled {
                    incident,
                    similarity: 0.8,
                    shares_signature: true,
                    grade,
                }
            },
        )
}

fn case() -> impl Strategy<Value = Case> {
    let recalled = (1_u32..7).prop_flat_map(|count| (1..count + 1).map(past).collect::<Vec<_>>());
    let memory = prop_oneof![
        8 => recalled.prop_map(|recalled| Memory::Searched { searched: 40, on_service: 9, recalled }),
        1 => Just(Memory::Disabled),
        1 => Just(Memory::Unavailable),
    ];
    let attempt = (
        0_usize..FIXES.len(),
        proptest::sample::select(&Outcome::ALL[..]),
    )
        .prop_map(|(fix, outcome)| {
            FixAttempt::new(FIXES.get(fix).copied().unwrap_or_default(), outcome)
        });
    (memory, prop::collection::vec(attempt, 0..2), any::<bool>()).prop_map(
        |(memory, attempts, zh)| Case {
            now: NOW.parse().expect("a time"),
            locale: if zh { Locale::Zh } else { Locale::En },
            report: Report::from_text(REPORT),
            service: Some("ticket-mailer".into()),
            registry: Registry::default(),
            severity: None,
            severity_proposed: Severity::Sev2,
            memory,
            attempts,
            incident: IncidentId::new(107),
            failure_class: FailureClass::Saturation,
            impact: None,
            since: None,
            triage_corrections: Vec::new(),
            ledger: Default::default(),
        },
    )
}

fn hypothesis() -> impl Strategy<Value = ProposedHypothesis> {
    (
        said(),
        refs(),
        prop::collection::vec(said(), 0..3),
        prop::collection::vec(said(), 0..2),
        proptest::option::of(0_u8..=100),
        said(),
        said(),
        proptest::sample::select(&REFS[..]),
    )
        .prop_map(
            |(title, memory_refs, evidence, contradicted_by, confidence, verify, fix, fix_ref)| {
                ProposedHypothesis {
                    title,
                    source: "memory".into(),
                    memory_refs,
                    evidence,
                    contradicted_by,
                    confidence,
                    verify,
                    fix,
                    fix_ref: fix_ref.into(),
                }
            },
        )
}

fn step() -> impl Strategy<Value = ProposedStep> {
    (
        said(),
        said(),
        proptest::option::of(proptest::sample::select(
            &[
                Risk::ReadOnly,
                Risk::Reversible,
                Risk::Risky,
                Risk::Destructive,
            ][..],
        )),
        said(),
        said(),
    )
        .prop_map(|(step, command, risk, expect, undo)| ProposedStep {
            step,
            command,
            risk,
            expect,
            undo,
        })
}

fn proposal() -> impl Strategy<Value = Proposal> {
    (
        said(),
        prop::collection::vec(hypothesis(), 0..6),
        prop::collection::vec(step(), 0..10),
        refs(),
        prop::collection::vec((said(), refs(), said()), 0..3),
        (said(), said(), said(), said(), said(), said()),
        prop::collection::vec(said(), 0..3),
    )
        .prop_map(
            |(summary, hypotheses, next_steps, verdict_refs, ruled_out, update, safety_notes)| {
                Proposal {
                    summary,
                    severity: Some(Severity::Sev3),
                    severity_reason: "some users".into(),
                    verdict_status: "proven".into(),
                    verdict_refs,
                    hypotheses,
                    next_steps,
                    ruled_out: ruled_out
                        .into_iter()
                        .map(|(cause, memory_refs, reason)| ProposedRuledOut {
                            cause,
                            memory_refs,
                            reason,
                        })
                        .collect(),
                    update: ProposedUpdate {
                        impact: update.0,
                        since: update.1,
                        known: update.2,
                        not_confirmed: update.3,
                        doing: update.4,
                        needed: update.5,
                        ..ProposedUpdate::default()
                    },
                    safety_notes,
                    cut_off: false,
                    repaired: false,
                }
            },
        )
}

fn analysed(case: &Case, proposal: &Proposal) -> Analysis {
    validation::analysis(case, proposal, model())
}

/// Every word that is posted or printed.
fn shown(case: &Case, analysis: &Analysis) -> String {
    let mut view = View::new(
        "mail stops",
        analysis.severity.severity,
        case.locale,
        case.now,
    );
    view.service = case.service.clone();
    let mut out = String::new();
    for audience in Audience::ALL {
        view.audience = audience;
        view.update_shown = true;
        for post in present::all(analysis, &view) {
            out.push_str(&post.payload.to_string());
        }
    }
    out.push_str(&present::wire(analysis).to_string());
    out
}

/// Numbers behind `INC-` in a text.
fn ids_in(text: &str) -> BTreeSet<u32> {
    text.match_indices("INC-")
        .filter_map(|(at, _)| {
            let digits: String = text
                .get(at + 4..)?
                .chars()
                .take_while(char::is_ascii_digit)
                .collect();
            digits.parse().ok()
        })
        .collect()
}

/// A white-space-free form in which a change of spaces alone is none.
fn squeezed(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn what_is_shown_obeys_the_rules(case in case(), proposal in proposal()) {
        let analysis = analysed(&case, &proposal);
        let citable: BTreeSet<u32> = case.memory.direct().chain(case.memory.analogies()).map(|recalled| recalled.incident.id.number()).collect();
        // R1: no reference outside of the recalled set, in lists or in words.
        for hypothesis in &analysis.hypotheses {
            for cited in &hypothesis.refs {
                prop_assert!(citable.contains(&cited.id.number()), "{:?}", cited.id);
            }
            // R8, R9, R10.
            prop_assert!(hypothesis.score <= Some(98));
            prop_assert!(hypothesis.record.worked > 0 || hypothesis.score <= Some(54));
            // R3, R7.
            if hypothesis.analogy {
                prop_assert!(hypothesis.score <= Some(54));
            }
            prop_assert!(hypothesis.source != validation::analysis::Source::Memory || !hypothesis.refs.is_empty());
        }
        let text = shown(&case, &analysis);
        for id in ids_in(&text) {
            prop_assert!(citable.contains(&id), "INC-{id:04} in {text}");
        }
        for id in ["#98", "#99", "incident 97"] {
            prop_assert!(!text.contains(id), "{id} in {text}");
        }
        // R6: an identifier that occurs only in an analogy is never said.
        let folded = text.to_lowercase();
        for internal in ["zetapoolkeeper", "zeta_lock_table", "zeta-relay-queue", "zetagate", "/srv/zeta"] {
            prop_assert!(!folded.contains(internal), "{internal} in {folded}");
        }
        // R16.
        let steps = &analysis.next_steps;
        prop_assert!((4..=7).contains(&steps.len()));
        prop_assert_eq!(steps.first().map(|step| step.risk), Some(Risk::ReadOnly));
        prop_assert!(steps.is_sorted_by_key(|step| step.risk));
        // R14.
        prop_assert!(analysis.hypotheses.len() <= 4);
        prop_assert!(analysis.hypotheses.first().is_none_or(|first| !first.ruled_out || analysis.cause_not_determined));
        // R21.
        for raw in ["@everyone", "<@123>", "evil.example", "\u{202E}"] {
            prop_assert!(!text.contains(raw), "{raw:?} in {text}");
        }
    }

    #[test]
    fn every_change_is_recorded(case in case(), proposal in proposal()) {
        let analysis = analysed(&case, &proposal);
        let noted = |prefix: &str| analysis.corrections.iter().any(|correction| correction.at.starts_with(prefix));
        let update = &analysis.update.internal;
        for (at, was, now) in [
            ("summary", &proposal.summary, &analysis.summary),
            ("stakeholder_update.impact", &proposal.update.impact, &update.impact),
            ("stakeholder_update.since", &proposal.update.since, &update.since),
            ("stakeholder_update.known", &proposal.update.known, &update.known),
            ("stakeholder_update.not_confirmed", &proposal.update.not_confirmed, &update.not_confirmed),
            ("stakeholder_update.doing", &proposal.update.doing, &update.doing),
            ("stakeholder_update.needed", &proposal.update.needed, &update.needed),
        ] {
            prop_assert!(squeezed(was) == squeezed(now) || noted(at), "{at}: {was:?} became {now:?} in silence");
        }
        let titles: BTreeSet<String> = analysis.hypotheses.iter().map(|h| squeezed(&h.title)).chain(analysis.general_ideas.iter().map(|idea| squeezed(&idea.title))).collect();
        for (index, hypothesis) in proposal.hypotheses.iter().enumerate() {
            let at = format!("hypotheses[{index}]");
            prop_assert!(titles.contains(&squeezed(&hypothesis.title)) || noted(&at), "{at}: {:?} went in silence", hypothesis.title);
            for quote in &hypothesis.evidence {
                let kept = analysis.hypotheses.iter().any(|h| h.evidence.iter().any(|known| squeezed(known) == squeezed(quote)));
                prop_assert!(kept || quote.is_empty() || noted(&at), "{at}: {quote:?} went in silence");
            }
        }
        let steps: BTreeSet<String> = analysis.next_steps.iter().map(|step| squeezed(&step.step)).collect();
        for (index, step) in proposal.next_steps.iter().enumerate() {
            let gone = !steps.contains(&squeezed(&step.step)) && !step.step.trim().is_empty();
            prop_assert!(!gone || noted(&format!("next_steps[{index}]")) || noted("next_steps"), "{step:?} went in silence");
        }
        for correction in &analysis.corrections {
            prop_assert_ne!(&correction.was, &correction.now);
        }
    }

    #[test]
    fn same_input_same_output_also_when_read_back(case in case(), proposal in proposal()) {
        let first = analysed(&case, &proposal);
        prop_assert_eq!(&first, &analysed(&case, &proposal));
        let stored = (serde_json::to_string(&case).expect("a case is data"), serde_json::to_string(&proposal).expect("a proposal is data"));
        let case: Case = serde_json::from_str(&stored.0).expect("a case reads back");
        let proposal: Proposal = serde_json::from_str(&stored.1).expect("a proposal reads back");
        prop_assert_eq!(first, analysed(&case, &proposal));
    }

    #[test]
    fn monotone_in_proofs_antitone_in_failures(
        recalled in prop::collection::vec((proptest::sample::select(&Outcome::ALL[..]), 0_i64..30, 0_usize..4), 0..6),
        confidence in proptest::option::of(0_u8..=100),
        older in any::<bool>(),
    ) {
        let (fix, cause) = (FIXES[0], CAUSES[0]);
        let make = |number: u32, outcome: Outcome, fix: &str, cause: &str, week: i64| {
            let mut incident = PastIncident::new(IncidentId::new(number).expect("not zero"), "mail stops");
            incident.service = Some("ticket-mailer".into());
            incident.root_cause = cause.into();
            let started: jiff::Timestamp = "2026-01-05T00:00:00Z".parse().expect("a time");
            let started = started + jiff::SignedDuration::from_hours(week * 9 * 24);
            incident.started_at = Some(started);
            incident.resolved_at = Some(started + jiff::SignedDuration::from_mins(40));
            incident.attempts = vec![FixAttempt::new(fix, outcome)];
            Recalled { incident, similarity: 0.8, shares_signature: true, grade: Grade::DirectMatch }
        };
        let mut weeks = BTreeSet::new();
        let memory: Vec<Recalled> = recalled
            .iter()
            .enumerate()
            .filter(|(_, (_, week, _))| weeks.insert(*week))
            .map(|(index, (outcome, week, which))| make(index as u32 + 1, *outcome, FIXES[*which], CAUSES[*which], week + 1))
            .collect();
        let score = |memory: Vec<Recalled>| {
            let refs: Vec<String> = memory.iter().map(|recalled| recalled.incident.id.to_string()).collect();
            let case = Case {
                now: NOW.parse().expect("a time"),
                locale: Locale::En,
                report: Report::from_text("mail stops"),
                service: Some("ticket-mailer".into()),
                registry: Registry::default(),
                severity: None,
                severity_proposed: Severity::Sev2,
                memory: Memory::Searched { searched: 9, on_service: 9, recalled: memory },
                attempts: Vec::new(),
                incident: None,
                failure_class: FailureClass::Queue,
                impact: None,
                since: None,
                triage_corrections: Vec::new(),
                ledger: Default::default(),
            };
            let proposal = Proposal {
                hypotheses: vec![ProposedHypothesis { title: cause.into(), memory_refs: refs, fix: fix.into(), confidence, ..ProposedHypothesis::default() }],
                ..Proposal::default()
            };
            let analysis = analysed(&case, &proposal);
            analysis.hypotheses.first().and_then(|h| h.score).or_else(|| analysis.general_ideas.first().and_then(|idea| idea.score))
        };
        let before = score(memory.clone());
        let week = if older { 0 } else { 33 };
        let with = |outcome| memory.iter().cloned().chain([make(90, outcome, fix, cause, week)]).collect::<Vec<_>>();
        prop_assert!(score(with(Outcome::Held)) >= before, "a proof lowers {before:?}");
        for outcome in [Outcome::NoEffect, Outcome::CameBack, Outcome::MadeWorse] {
            prop_assert!(score(with(outcome)) <= before, "a failure raises {before:?}");
        }
    }

    #[test]
    fn any_bytes_as_the_models_answer(case in case(), bytes in prop::collection::vec(any::<u8>(), 0..400), wrapped in any::<bool>()) {
        let text = String::from_utf8_lossy(&bytes);
        let text = if wrapped { format!("{{\"summary\": {text:?}, \"hypotheses\": [{{\"title\": {text:?}, \"verify\": {text:?}, \"fix\": {text:?}}}], \"next_steps\": [{text:?}]}}") } else { text.into_owned() };
        if let Ok(proposal) = reading::analysis(&text, false) {
            let analysis = analysed(&case, &proposal);
            shown(&case, &analysis);
        }
        if let Ok(proposed) = reading::follow_up(&text, true) {
            validation::answer(&case, &proposed, model());
        }
        if let Ok(proposed) = reading::triage(&text, false) {
            validation::triage(&case, "mail stops", &proposed);
        }
    }
}

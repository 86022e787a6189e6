//! The goals of grounding: nothing of the set leaks, hardly a clean claim is touched (R6, R20).

#[path = "../../examples/evaluate/grounding.rs"]
mod measure;

use std::path::Path;

fn figures() -> measure::Figures {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/grounding.jsonl");
    let text = std::fs::read_to_string(file).expect("the set is there");
    let rows: Vec<serde_json::Value> = text
        .lines()
        .map(|line| serde_json::from_str(line).expect("a row"))
        .collect();
    measure::figures(&rows).expect("the set can be played")
}

#[test]
fn no_leak_passes_and_clean_claims_stay() {
    let figures = figures();
    let misses = figures.misses.join("\n");
    assert!(figures.cases >= 300, "{} cases", figures.cases);
    assert!(figures.clean >= 100, "{} clean claims", figures.clean);
    assert_eq!(figures.leaks_shown(), 0, "{misses}");
    assert_eq!(figures.uncorrected, 0, "{misses}");
    assert_eq!(figures.unmarked, 0, "{misses}");
    assert!(
        figures.touched_percent() <= 2.0,
        "{} of {} clean claims touched:\n{misses}",
        figures.touched,
        figures.clean
    );
    assert_eq!(figures.json()["leaks"]["of"], figures.leaks_of());
}

mod planted {
    //! What occurs in an analogy alone never shows, whatever the model says of it.

    use crate::cases::{model, payloads};
    use precedent::incident::proposal::{
        Proposal, ProposedHypothesis, ProposedRuledOut, ProposedStep, ProposedUpdate,
    };
    use precedent::incident::{
        FailureClass, FixAttempt, Grade, IncidentId, Locale, Memory, Outcome, PastIncident,
        Recalled, Registry, Report, Severity,
    };
    use precedent::present::{self, AnswerView, View};
    use precedent::validation::{self, Case, reading};
    use proptest::prelude::*;
    use serde_json::{Value, json};

    const PARTS: [&str; 12] = [
        "Quartz", "Zephyr", "Onyx", "Walrus", "Kestrel", "Juniper", "Tundra", "Marlin", "Cobalt",
        "Ferret", "Sequoia", "Basalt",
    ];

    /// An identifier of one of the kinds that R6 names, of words that stand nowhere else.
    fn identifier() -> impl Strategy<Value = String> {
        (0..PARTS.len(), 0..PARTS.len(), 0..14_usize, 10..999_u32).prop_map(
            |(first, second, kind, number)| {
                let (one, two) = (PARTS[first], PARTS[second]);
                let (a, b) = (one.to_lowercase(), two.to_lowercase());
                match kind {
                    0 => format!("{one}{two}Keeper"),
                    1 => format!("{a}{two}Flush()"),
                    2 => format!("{a}_{b}_rows"),
                    3 => format!("{a}-{b}-{number}.prod.internal"),
                    4 => format!("{a}-{b}-queue"),
                    5 => format!("{a}.{b}.pool.max"),
                    6 => format!("/srv/{a}/{b}.yml"),
                    7 => format!("--{a}-{b}-legacy-mode"),
                    8 => format!("{}-{number}{number}", one.to_uppercase()),
                    9 => format!("{}_{}_LIMIT", one.to_uppercase(), two.to_uppercase()),
                    10 => format!("{a}:{b}:v3"),
                    11 => format!("https://{a}.example/{b}/{number}"),
                    12 => format!("{one}::{b}_all"),
                    _ => format!("10.77.{}.{}", number % 250, number % 199),
                }
            },
        )
    }

    /// Ways in which a model brings a name in.
    fn said() -> impl Strategy<Value = &'static str> {
        prop::sample::select(vec![
            "NAME leaks connections in relay-desk",
            "Look at NAME first",
            "The pool is drained. NAME never returns what it borrows.",
            "As on vault-porter, NAME is to blame",
            "Restart NAME, then compare active and idle connections",
            "`NAME` 占用了连接，连接池已满。",
            "查看 NAME 的状态",
            "kubectl logs NAME",
            "Check (NAME) and the number of idle connections",
            "name: NAME; pool: full",
            "NAME",
            "Is NAME slow? Compare with NAME of yesterday.",
        ])
    }

    fn case_with(name: &str) -> Case {
        let mut other = PastIncident::new(
            IncidentId::new(77).expect("not zero"),
            format!("vault-porter out of connections, {name}"),
        );
        other.service = Some("vault-porter".into());
        other.symptoms = vec![
            "connections are not available".into(),
            format!("{name} grows"),
        ];
        other.error_signatures = vec!["pool exhausted: connection is not available".into()];
        other.root_cause = format!("{name} holds connections for too long");
        other.prevention = format!("alert on {name}");
        other.attempts = vec![FixAttempt::new(
            format!("Restart {name} and lower its limit"),
            Outcome::Held,
        )];
        let report = Report::from_text(
            "relay-desk: pool exhausted: connection is not available, since 09:12 UTC. No history.",
        );
        Case {
            now: "2026-11-30T09:40:00Z".parse().expect("a time"),
            locale: Locale::En,
            service: Some("relay-desk".into()),
            registry: Registry::from_names(["relay-desk", "vault-porter"]),
            severity: None,
            severity_proposed: Severity::Sev2,
            memory: Memory::Searched {
                searched: 1,
                on_service: 0,
                recalled: vec![Recalled {
                    incident: other,
                    similarity: 0.8,
                    shares_signature: true,
                    grade: Grade::Analogy,
                }],
            },
            attempts: Vec::new(),
            incident: None,
            failure_class: FailureClass::default(),
            impact: None,
            since: None,
            triage_corrections: Vec::new(),
            ledger: Default::default(),
            report,
        }
    }

    fn squeezed(text: &str) -> String {
        text.to_lowercase()
            .chars()
            .filter(|c| !matches!(c, '\\' | '\u{200b}'))
            .collect()
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 96, failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn r6_what_an_analogy_alone_names_never_shows(name in identifier(), told in prop::collection::vec(said(), 12)) {
            let case = case_with(&name);
            let told: Vec<String> = told.into_iter().map(|text| text.replace("NAME", &name)).collect();
            let proposal = Proposal {
                summary: told[0].clone(),
                severity_reason: told[1].clone(),
                hypotheses: vec![
                    ProposedHypothesis {
                        title: told[2].clone(),
                        verify: told[3].clone(),
                        fix: told[4].clone(),
                        memory_refs: vec!["INC-0077".into()],
                        evidence: vec![told[5].clone()],
                        contradicted_by: vec![told[6].clone()],
                        ..ProposedHypothesis::default()
                    },
                    ProposedHypothesis {
                        title: "The pool is too small".into(),
                        fix_ref: "INC-0077".into(),
                        memory_refs: vec!["INC-0077".into()],
                        verify: told[7].clone(),
                        ..ProposedHypothesis::default()
                    },
                ],
                next_steps: vec![ProposedStep {
                    step: told[8].clone(),
                    command: format!("kubectl logs {name}"),
                    expect: told[9].clone(),
                    undo: told[10].clone(),
                    ..ProposedStep::default()
                }],
                ruled_out: vec![ProposedRuledOut {
                    cause: told[11].clone(),
                    memory_refs: vec!["INC-0077".into()],
                    reason: told[0].clone(),
                }],
                update: ProposedUpdate {
                    impact: told[1].clone(),
                    known: told[2].clone(),
                    doing: told[3].clone(),
                    ..ProposedUpdate::default()
                },
                safety_notes: vec![told[4].clone()],
                ..Proposal::default()
            };
            let analysis = validation::analysis(&case, &proposal, model());
            let mut view = View::new("pool exhausted", analysis.severity.severity, case.locale, case.now);
            view.service = case.service.clone();
            let posted = payloads(&analysis, &mut view);
            let mut shown: String = posted.iter().map(Value::to_string).collect();
            shown.push_str(&present::text(&analysis, &view));
            shown.push_str(&present::wire(&analysis).to_string());
            let asked = json!({"answer": told.join("\n"), "memory_refs": ["INC-0077"], "evidence": [told[5]]});
            let proposed = reading::follow_up(&asked.to_string(), false).expect("an answer");
            let answer = validation::answer(&case, &proposed, model());
            let view = AnswerView { incident: None, locale: case.locale, now: case.now };
            shown.push_str(&present::answer(&answer, &view).payload.to_string());
            let needle = name.trim_end_matches("()");
            prop_assert!(
                !squeezed(&shown).contains(&squeezed(needle)),
                "{name} shows: {}",
                squeezed(&shown).match_indices(&squeezed(needle)).next().map_or(String::new(), |(at, _)| {
                    squeezed(&shown).chars().skip(at.saturating_sub(120)).take(300).collect()
                })
            );
        }
    }
}

//! What memory gave, in the words that people read: by rule R4, whatever a model says of it.

use super::model::{
    all_shown, analysed, cards, checklist, cites, model_that_says, text_of, triaged,
};
use super::{Given, Incident, REFUND_REPORT, refund_job};
use crate::homes::Home;
use serde_json::{Value, json};
use standin::Post;

/// What a report is answered with this memory, by the rules, and by a model that claims more than
/// it may: headline, cards and checklist; then everything that was ever shown.
async fn answered(memory: &[Value], model: Option<Value>) -> (Post, Vec<Post>, String) {
    let model = match model {
        Some(analysis) => Some(model_that_says(&triaged("SEV3"), &analysis).await),
        None => None,
    };
    let incident = Incident::begins(Given {
        memory,
        model,
        ..Given::default()
    })
    .await;
    let report = incident
        .analyze_with(json!({"report": REFUND_REPORT, "service": "payments-api"}))
        .await;
    let thread = incident.thread(&report).await;
    let posts = incident.settled(thread).await;
    let headline = incident.headline(&report).await;
    let shown = all_shown(&incident, &report, thread).await;
    incident.ends().await;
    (headline, posts, shown)
}

/// A model that is sure of one incident.
fn sure_of(id: &str) -> Value {
    analysed("SEV3", json!([cites(json!([id]), json!(100))]))
}

fn never(shown: &str, words: &[&str]) {
    for word in words {
        assert!(!shown.contains(word), "{word:?} is shown:\n{shown}");
    }
}

/// The same failure on another service, with internals of its own.
fn elsewhere(outcome: &str) -> Value {
    json!({
        "id": "INC-0030",
        "title": "ledger-worker stalls, pool empty",
        "service": "ledger-worker",
        "started_at": "2026-03-02T10:00:00Z",
        "resolved_at": "2026-03-02T10:35:00Z",
        "symptoms": ["pool has no free connection", "intermittent 503s"],
        "error_signatures": ["TillPool - no connection available, timed out after 30000ms"],
        "root_cause": "LedgerReconciler in /opt/ledger/reconcile.py never closes its cursor on ledger_entries",
        "fix": "Restart ledger-worker with LEDGER_POOL_MAX=40",
        "outcome": outcome,
    })
}

#[tokio::test(flavor = "multi_thread")]
async fn with_nothing_in_memory_that_is_said_and_nothing_is_claimed_from_it() {
    for model in [None, Some(sure_of("INC-0012"))] {
        let (headline, posts, shown) = answered(&[], model).await;
        never(
            &shown,
            &[
                "FROM MEMORY",
                "ANALOGY",
                "WORKED",
                "PROVEN 1x",
                "unavailable",
                "no fix is known",
                "INC-0012",
            ],
        );
        assert!(headline.shows("Nothing like this in memory"), "{headline}");
        assert!(
            cards(&posts).shows("Nothing like this in memory (searched 0, 0 on this service)"),
            "{}",
            cards(&posts)
        );
        assert!(checklist(&posts).shows("🟢 read-only"));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn another_kind_of_trouble_on_the_same_service_is_counted_and_never_shown() {
    let other = json!({
        "id": "INC-0005",
        "title": "Monthly invoices were rendered in the wrong font",
        "service": "payments-api",
        "symptoms": ["invoices look wrong in the mail archive"],
        "root_cause": "A stylesheet of the PDF renderer was overwritten",
        "fix": "Restore invoice-theme.css",
        "outcome": "held",
    });
    let (headline, posts, shown) = answered(&[other], Some(sure_of("INC-0005"))).await;
    never(
        &shown,
        &[
            "invoice",
            "font",
            "stylesheet",
            "FROM MEMORY",
            "WORKED",
            "INC-0005",
        ],
    );
    assert!(
        headline.shows("searched 1, 1 on this service"),
        "{headline}"
    );
    assert!(
        cards(&posts).shows("Nothing like this in memory (searched 1, 1 on this service)"),
        "{}",
        cards(&posts)
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn what_held_here_is_from_memory_with_its_record_first() {
    let memory = [
        refund_job(12, "2026-05-14", "held"),
        refund_job(41, "2026-09-23", "held"),
        refund_job(44, "2026-10-20", "held"),
    ];
    for model in [None, Some(sure_of("INC-0012"))] {
        let (headline, posts, shown) = answered(&memory, model).await;
        never(
            &shown,
            &[
                "ANALOGY",
                "Nothing like this",
                "rule score 99",
                "rule score 100",
            ],
        );
        let cards = cards(&posts);
        assert!(cards.shows("▣ FROM MEMORY"), "{cards}");
        assert!(
            cards.shows("**PROVEN 3x** · last <t:D> · rule score 9"),
            "{cards}"
        );
        for id in ["INC-0012", "INC-0041", "INC-0044"] {
            assert!(
                cards.shows(&format!("**{id}** · direct match · held")),
                "{cards}"
            );
        }
        assert!(headline.shows("Seen 3x here"), "{headline}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn what_happened_elsewhere_is_an_analogy_and_its_internals_stay_there() {
    let mut told = cites(json!(["INC-0030"]), json!(95));
    told["title"] = json!("LedgerReconciler never closes its cursor");
    told["fix"] = json!("Restart with LEDGER_POOL_MAX=40");
    told["fix_ref"] = json!("INC-0030");
    told["verify"] = json!("Look at ledger_entries in /opt/ledger/reconcile.py");
    told["evidence"] = json!([]);
    let by_model = analysed("SEV3", json!([told]));
    for model in [None, Some(by_model)] {
        let said_by_model = model.is_some();
        let (headline, posts, shown) = answered(&[elsewhere("held")], model).await;
        never(
            &shown,
            &[
                "LedgerReconciler",
                "reconcile.py",
                "ledger_entries",
                "LEDGER_POOL_MAX",
                "FROM MEMORY",
                "WORKED",
                "HERE**",
                "Nothing like this",
                "high",
            ],
        );
        let cards = cards(&posts);
        assert!(
            cards.shows("Not seen on this service; similar elsewhere"),
            "{cards}"
        );
        assert!(cards.shows("INC-0030"), "{cards}");
        if said_by_model {
            assert!(cards.shows("ANALOGY"), "{cards}");
            assert!(cards.shows("**OTHER SERVICE ONLY**"), "{cards}");
            assert!(cards.shows("rule score 54 · medium"), "{cards}");
            assert!(
                cards.shows("analogy from ledger-worker: its internals are not assumed here"),
                "{cards}"
            );
        }
        assert!(!headline.shows("Seen 1x here"), "{headline}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn similar_without_a_known_cure_is_another_sentence_than_nothing_like_this() {
    for model in [None, Some(sure_of("INC-0012"))] {
        let (headline, posts, shown) =
            answered(&[refund_job(12, "2026-05-14", "unknown")], model).await;
        never(
            &shown,
            &[
                "Nothing like this",
                "WORKED",
                "PROVEN 1x",
                "a fix held",
                "high",
            ],
        );
        let cards = cards(&posts);
        assert!(
            cards.shows(
                "Similar, but no fix is known to have worked (1 here: 0 held, 0 failed, 1 unknown"
            ),
            "{cards}"
        );
        assert!(cards.shows("**NOT PROVEN**"), "{cards}");
        assert!(headline.shows("Seen 1x here"), "{headline}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn what_held_and_failed_is_mixed_with_both_counted() {
    let memory = [
        refund_job(12, "2026-05-14", "no_effect"),
        refund_job(41, "2026-09-23", "held"),
        refund_job(44, "2026-10-20", "held"),
    ];
    for model in [None, Some(sure_of("INC-0041"))] {
        let (_, posts, shown) = answered(&memory, model).await;
        never(
            &shown,
            &[
                "PROVEN 2x",
                "PROVEN 3x",
                "WORKED TWICE HERE**",
                "high",
                "rule score 8",
                "rule score 9",
            ],
        );
        let cards = cards(&posts);
        assert!(
            cards.shows(
                "Seen here: some fixes held, some failed (3 here: 2 held, 1 failed, 0 unknown"
            ),
            "{cards}"
        );
        assert!(cards.shows("**WORKED 2 OF 3 TIMES HERE**"), "{cards}");
        assert!(cards.shows("mixed"), "{cards}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn what_only_failed_here_is_listed_as_do_not_repeat_and_is_no_step() {
    let memory = [
        refund_job(12, "2026-05-14", "no_effect"),
        refund_job(41, "2026-09-23", "made_worse"),
    ];
    let mut answer = sure_of("INC-0041");
    answer["next_steps"][3] = json!({
        "step": "Stop the refund job and restart payments-api",
        "command": "", "risk": "risky", "expect": "", "undo": "",
    });
    for model in [None, Some(answer)] {
        let (headline, posts, shown) = answered(&memory, model).await;
        never(
            &shown,
            &[
                "WORKED",
                "PROVEN 1x",
                "a fix held",
                "Nothing like this",
                "high",
                "Trying this fix",
            ],
        );
        let cards = cards(&posts);
        assert!(
            cards.shows("Similar, and what was tried failed (2 here: 0 held, 2 failed, 0 unknown"),
            "{cards}"
        );
        assert!(headline.shows("FAILED LAST TIME (INC-0041"), "{headline}");
        let list = checklist(&posts).to_text();
        let (steps, not_again) = list
            .split_once("Do not repeat")
            .unwrap_or_else(|| panic!("nothing is warned of:\n{list}"));
        assert!(!steps.contains("Stop the refund job and restart"), "{list}");
        assert!(
            not_again.contains("Stop the refund job and restart payments-api"),
            "{list}"
        );
        for id in ["INC-0012", "INC-0041"] {
            assert!(not_again.contains(id), "{list}");
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn memory_that_is_down_is_never_no_match_and_the_analysis_goes_on() {
    for claims in [None, Some(sure_of("INC-0012"))] {
        let model = match &claims {
            Some(analysis) => Some(model_that_says(&triaged("SEV3"), analysis).await),
            None => None,
        };
        let home = Home::sqlite();
        let incident = Incident::begins(Given {
            memory: &[refund_job(12, "2026-05-14", "held")],
            model,
            database_url: Some(home.url().to_owned()),
            ..Given::default()
        })
        .await;
        let app = incident.app.as_ref().expect("the bot runs");
        // The index of words is gone: a search fails, everything else can be read and written.
        sqlx::query("DROP TABLE incident_terms")
            .execute(app.store().write_pool().sqlite().expect("a file of SQLite"))
            .await
            .expect("the index can be dropped");
        let report = incident.analyze(REFUND_REPORT).await;
        let thread = incident.thread(&report).await;
        let posts = incident.settled(thread).await;
        let headline = incident.headline(&report).await;
        let shown = all_shown(&incident, &report, thread).await;
        never(
            &shown,
            &[
                "Nothing like this",
                "searched 0",
                "FROM MEMORY",
                "WORKED",
                "INC-0012",
                "incident_terms",
                "SQL",
                "no such table",
            ],
        );
        assert!(headline.shows("Memory unavailable"), "{headline}");
        assert!(
            cards(&posts).shows("Memory unavailable: past incidents could not be searched"),
            "{}",
            text_of(&posts)
        );
        assert!(checklist(&posts).shows("🟢 read-only"));
        incident.ends().await;
    }
}

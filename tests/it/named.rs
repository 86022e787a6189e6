//! The four promises that are tested by name, each with a model's answer and with the rule-based
//! engine.

use crate::cases::{Played, run, run_by_rule};
use precedent::validation::analysis::{MemoryStatus, Source};
use serde_json::{Value, json};

struct Past<'a> {
    number: u32,
    day: &'a str,
    service: &'a str,
    symptom: &'a str,
    error: &'a str,
    cause: &'a str,
    fix: &'a str,
}

fn memory(past: &Past<'_>) -> Value {
    json!({
        "id": format!("INC-{:04}", past.number), "title": past.symptom, "service": past.service,
        "started_at": format!("{}T02:00:00Z", past.day), "resolved_at": format!("{}T02:35:00Z", past.day),
        "symptoms": [past.symptom], "error_signatures": [past.error], "root_cause": past.cause, "fix": past.fix,
        "outcome": "held",
    })
}

/// Both engines on one case.
fn both(row: &Value) -> [(&'static str, Played); 2] {
    [("model", run(row)), ("rules", run_by_rule(row))]
}

#[test]
fn five_proven_key_errors_on_payments_score_98() {
    let days = [
        "2026-01-12",
        "2026-03-02",
        "2026-05-14",
        "2026-07-21",
        "2026-09-23",
    ];
    let memories: Vec<Value> = (1..)
        .zip(days)
        .map(|(number, day)| {
            memory(&Past {
                number,
                day,
                service: "payments",
                symptom: "KeyError: 'amount' in the charge handler",
                error: "KeyError: 'amount'",
                cause: "The checkout form sends charges without an amount",
                fix: "Roll the checkout form back and reject charges without an amount",
            })
        })
        .collect();
    let refs: Vec<&str> = memories
        .iter()
        .filter_map(|row| row["id"].as_str())
        .collect();
    let row = json!({
        "service": "payments", "now": "2026-11-30T03:00:00Z",
        "report": "payments fails for about 8 % of charges since 02:10 UTC.\nTraceback: KeyError: 'amount' in charge handler",
        "memories": memories,
        "answer": {
            "summary": "Charges fail with KeyError: 'amount'.",
            "hypotheses": [{
                "title": "The checkout form sends charges without an amount", "source": "memory", "memory_refs": refs, "confidence": 100,
                "verify": "Read one failing charge in the log", "fix_ref": "INC-0005",
            }],
        },
    });
    for (engine, played) in both(&row) {
        let first = played
            .analysis
            .hypotheses
            .first()
            .expect("the proven cause is shown");
        assert_eq!(first.score, Some(98), "{engine}: {:?}", first.arithmetic);
        assert_eq!(
            (first.record.worked, first.record.failed),
            (5, 0),
            "{engine}"
        );
        assert_eq!(first.refs.len(), 5, "{engine}");
        assert_eq!(
            played.analysis.memory.status,
            MemoryStatus::Proven,
            "{engine}"
        );
        assert!(played.shown.contains("PROVEN 5x"), "{engine}");
        assert!(
            !played.shown.contains("98%") && !played.shown.contains("98 %"),
            "{engine}: a score is no probability"
        );
    }
}

#[test]
fn the_gateway_comes_first_and_the_pool_is_contradicted_by_the_reports_own_words() {
    let row = json!({
        "service": "payments-api", "now": "2026-11-30T03:00:00Z",
        "report": "payments-api: intermittent 503s since 02:41 UTC.\nGateway log: upstream returned 429 Too Many Requests.\nDB pool at 30 %. Retries succeed most of the time.",
        "memories": [
            memory(&Past {
                number: 12,
                day: "2026-05-14",
                service: "payments-api",
                symptom: "intermittent 503s, the gateway answers 429",
                error: "upstream returned 429 Too Many Requests",
                cause: "The gateway rate limit counts retries",
                fix: "Exempt retries from the gateway rate limit",
            }),
            memory(&Past {
                number: 31,
                day: "2026-08-02",
                service: "payments-api",
                symptom: "intermittent 503s, requests wait for the DB pool",
                error: "Connection is not available, request timed out",
                cause: "The DB connection pool is exhausted",
                fix: "Raise the size of the DB pool",
            }),
        ],
        "answer": {
            "summary": "Requests fail with 503.",
            "hypotheses": [
                {"title": "The DB connection pool is exhausted", "source": "memory", "memory_refs": ["INC-0031"], "confidence": 99,
                 "evidence": ["intermittent 503s since 02:41"], "verify": "Read the pool's gauges", "fix_ref": "INC-0031"},
                {"title": "The gateway rate limit counts retries", "source": "memory", "memory_refs": ["INC-0012"], "confidence": 60,
                 "evidence": ["upstream returned 429 Too Many Requests"], "verify": "Compare 429s with retries at the gateway", "fix_ref": "INC-0012"},
            ],
        },
    });
    for (engine, played) in both(&row) {
        let hypotheses = &played.analysis.hypotheses;
        let first = hypotheses.first().expect("something is shown");
        assert!(
            first.title.contains("gateway rate limit"),
            "{engine}: {:?}",
            first.title
        );
        assert_eq!(first.source, Source::Memory, "{engine}");
        assert_eq!(
            first
                .refs
                .iter()
                .map(|cited| cited.id.number())
                .collect::<Vec<_>>(),
            [12],
            "{engine}"
        );
        if let Some(pool) = hypotheses
            .iter()
            .find(|hypothesis| hypothesis.title.contains("pool is exhausted"))
        {
            let against = pool
                .contradicted_by
                .first()
                .expect("the pool is contradicted");
            assert!(
                against.quote.contains("DB pool at 30 %"),
                "{engine}: {:?}",
                against.quote
            );
            assert!(pool.score <= Some(30), "{engine}: {:?}", pool.score);
        } else {
            assert_eq!(
                engine, "rules",
                "the model's own cause is shown, contradicted"
            );
        }
    }
}

#[test]
fn a_service_without_history_gets_no_invented_component_names() {
    let row = json!({
        "service": "seat-map", "now": "2026-11-30T03:00:00Z",
        "report": "seat-map is slow since 19:20 UTC, pages take 9 s. Memory of the pods grows.",
        "memories": [],
        "answer": {
            "summary": "seat-map is slow because SeatLockManager in seat-lock-service blocks redis-cluster-2.",
            "hypotheses": [
                {"title": "Lock contention in SeatLockManager", "source": "memory", "memory_refs": ["INC-0003"], "confidence": 88,
                 "verify": "Look at the seat_locks table of seat-db", "fix": "Restart seat-lock-service"},
                {"title": "The pods run out of memory", "source": "current_evidence", "evidence": ["Memory of the pods grows"], "confidence": 30,
                 "verify": "Compare memory of the pods with their limit"},
            ],
            "next_steps": [{"step": "Read the log of seat-lock-service", "command": "kubectl logs deploy/seat-lock-service"}],
            "stakeholder_update": {"impact": "Pages are slow", "known": "redis-cluster-2 is blocked"},
        },
    });
    for (engine, played) in both(&row) {
        for invented in [
            "SeatLockManager",
            "seat-lock",
            "redis-cluster",
            "seat_locks",
            "seat\\_locks",
            "seat-db",
            "INC-0003",
        ] {
            assert!(
                !played.shown.contains(invented),
                "{engine} shows {invented}"
            );
        }
        assert_eq!(
            played.analysis.memory.status,
            MemoryStatus::NoMatch,
            "{engine}"
        );
        // Whatever looks like a component's name is the service's own.
        let said: Vec<&str> = played
            .analysis
            .hypotheses
            .iter()
            .flat_map(|hypothesis| {
                [
                    hypothesis.title.as_str(),
                    hypothesis.fix.as_str(),
                    hypothesis.verify.as_str(),
                ]
            })
            .collect();
        for word in said.iter().flat_map(|text| text.split_whitespace()) {
            let word = word.trim_matches(|c: char| !c.is_alphanumeric());
            let component = [
                "-api", "-svc", "-service", "-worker", "-db", "-cache", "-proxy", "-queue",
                "-gateway",
            ]
            .iter()
            .any(|end| word.ends_with(end));
            assert!(
                !component || played.case.report.text.contains(word),
                "{engine} invents {word}"
            );
        }
    }
}

#[test]
fn a_claim_of_100_without_memory_is_at_most_30_and_nothing_like_this_is_said() {
    let row = json!({
        "service": "seat-map", "now": "2026-11-30T03:00:00Z",
        "report": "seat-map is slow since 19:20 UTC, pages take 9 s. Memory of the pods grows.",
        "memories": [],
        "answer": {
            "summary": "The pods leak memory.",
            "memory_verdict": {"status": "proven", "refs": ["INC-0001"]},
            "hypotheses": [
                {"title": "A memory leak in the pods", "source": "memory", "memory_refs": ["INC-0001"], "confidence": 100,
                 "evidence": ["Memory of the pods grows"], "verify": "Compare two heap profiles"},
                {"title": "A slow disk", "confidence": "100%", "verify": "Read disk latency"},
            ],
        },
    });
    for (engine, played) in both(&row) {
        for hypothesis in &played.analysis.hypotheses {
            assert!(
                hypothesis.score <= Some(30),
                "{engine}: {:?}",
                hypothesis.score
            );
        }
        for idea in &played.analysis.general_ideas {
            assert!(idea.score <= Some(30), "{engine}: {:?}", idea.score);
        }
        assert!(
            played.shown.contains("Nothing like this in memory"),
            "{engine}"
        );
        assert!(!played.shown.contains("INC-0001"), "{engine}");
    }
    assert_eq!(
        run(&row)
            .analysis
            .hypotheses
            .first()
            .and_then(|hypothesis| hypothesis.score),
        Some(30)
    );
}

#[test]
fn a_pool_exhausted_for_the_first_time_shows_nothing_of_order_services_leak_and_what_it_may_say() {
    let row = json!({
        "service": "loyalty-points", "now": "2026-11-30T09:40:00Z",
        "report": "loyalty-points answers 503 since 09:12 UTC.\nHikariPool-1 - Connection is not available, request timed out after 30000ms\nhikaricp_connections_active 15 of 15. This has never happened here before.",
        "memories": [memory(&Past {
            number: 3,
            day: "2026-08-02",
            service: "order-service",
            symptom: "order-service 503, connection pool exhausted",
            error: "HikariPool-1 - Connection is not available, request timed out after 30000ms",
            cause: "OrderPaymentProcessor.chargeWithRetry() opens a connection per retry and never closes it",
            fix: "Close the connection in OrderPaymentProcessor and restart order-service-7d4b9c6f5-qwz8n",
        })],
        "answer": {
            "summary": "OrderPaymentProcessor leaks connections in loyalty-points, as it did in order-service.",
            "hypotheses": [
                {"title": "Connection leak in OrderPaymentProcessor", "source": "memory", "memory_refs": ["INC-0003"],
                 "evidence": ["Connection is not available"], "confidence": 95, "fix_ref": "INC-0003",
                 "verify": "Take a heap dump and count instances of the order payment processor"},
                {"title": "A code path does not give its connections back", "source": "memory", "memory_refs": ["INC-0003"],
                 "evidence": [], "confidence": 60,
                 "fix": "Close connections in `Order_Payment_Processor`", "verify": "Take a thread dump of one pod"},
            ],
            "next_steps": [{"step": "Restart the pod", "command": "kubectl delete pod order-service-7d4b9c6f5-qwz8n"}],
            "stakeholder_update": {"impact": "Points are not shown", "known": "chargeWithRetry() leaks connections"},
        },
    });
    for (engine, played) in both(&row) {
        let shown = played.shown.replace('\\', "");
        for internal in [
            "OrderPaymentProcessor",
            "Order_Payment_Processor",
            "rder payment processor",
            "chargeWithRetry",
            "qwz8n",
        ] {
            assert!(!shown.contains(internal), "{engine} shows {internal}");
        }
        assert_eq!(
            played.analysis.memory.status,
            MemoryStatus::AnalogyOnly,
            "{engine}"
        );
        // What an analogy may say: whose it is, that its internals are not assumed, and never more
        // than medium.
        assert!(
            shown.contains("order-service") && shown.contains("INC-0003"),
            "{engine}: {shown}"
        );
        assert!(
            shown.contains("its internals are not assumed here"),
            "{engine}: {shown}"
        );
        for hypothesis in &played.analysis.hypotheses {
            assert!(hypothesis.score <= Some(54), "{engine}: {hypothesis:?}");
        }
    }
}

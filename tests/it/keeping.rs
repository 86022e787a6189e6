//! Export and import lose nothing, and what is forgotten or kept apart stays so, whatever is stored.

use jiff::Timestamp;
use precedent::incident::{
    Course, FixAttempt, Impact, IncidentId, Outcome, Owner, PastEvent, PastIncident, Registry,
    Service, Severity, Status, Withdrawn,
};
use precedent::jobs::remember::{self, ImportOptions, Whose};
use precedent::memory::{Database, Query};
use precedent::store::{Entry, Scope, Signed, Store};
use proptest::prelude::*;

fn at(ms: i64) -> Timestamp {
    Timestamp::from_millisecond(ms).expect("a time")
}

fn id(number: u32) -> IncidentId {
    IncidentId::new(number).expect("not zero")
}

async fn fresh() -> (tempfile::TempDir, Store) {
    let folder = tempfile::tempdir().expect("a folder");
    let url = format!("sqlite://{}", folder.path().join("memory.db").display());
    let store = Store::open(&url).await.expect("a fresh database opens");
    (folder, store)
}

async fn exported(store: &Store, guild: &str) -> String {
    let mut out = Vec::new();
    remember::export(store, Whose::Operator(guild), &mut out)
        .await
        .expect("it can be written");
    String::from_utf8(out).expect("UTF-8")
}

async fn import(store: &Store, guild: &str, text: &str) -> remember::ImportReport {
    let keep = |text: &str| text.to_owned();
    let options = ImportOptions {
        now: at(0),
        redact: &keep,
        strict: false,
    };
    remember::import(store, guild, text.as_bytes(), options, |_| ())
        .await
        .expect("it can be read")
}

/// Text without NUL, which no database keeps.
fn text() -> impl Strategy<Value = String> {
    "[^\\x00]{0,24}"
}

fn name() -> impl Strategy<Value = String> {
    prop_oneof![
        Just("payments-api"),
        Just("till"),
        Just("支付服务"),
        Just("Payments API")
    ]
    .prop_map(str::to_owned)
}

fn time() -> impl Strategy<Value = Option<Timestamp>> {
    proptest::option::of((0_i64..4_000_000_000_000).prop_map(at))
}

fn attempt() -> impl Strategy<Value = FixAttempt> {
    let parts = (
        text(),
        0..Outcome::ALL.len(),
        time(),
        text(),
        text(),
        any::<bool>(),
    );
    parts.prop_map(|(fix, outcome, at, by, note, environment)| FixAttempt {
        fix,
        outcome: Outcome::ALL[outcome],
        at,
        by,
        environment: environment.then(|| "prod".to_owned()),
        note,
    })
}

fn record() -> impl Strategy<Value = (PastIncident, Option<String>)> {
    let texts = || proptest::collection::vec(text(), 0..3);
    (
        (
            "[a-z数].{0,20}",
            proptest::option::of(name()),
            time(),
            time(),
        ),
        (texts(), texts(), texts()),
        (text(), text(), text(), any::<bool>()),
        proptest::collection::vec(attempt(), 0..4),
        (
            proptest::option::of(1_u32..9),
            proptest::option::of(1_u32..9),
        ),
        proptest::option::of("[0-9]{3,9}"),
    )
        .prop_map(|(first, lists, words, attempts, links, private_to)| {
            let mut past = PastIncident::new(id(1), first.0.replace('\0', ""));
            (past.service, past.started_at, past.resolved_at) = (first.1, first.2, first.3);
            (past.symptoms, past.error_signatures, past.ruled_out) = lists;
            (past.root_cause, past.prevention, past.source) = (words.0, words.1, words.2);
            past.cause_confirmed = words.3;
            past.attempts = attempts;
            past.duplicate_of = links.0.map(id);
            past.parent = links.1.map(id);
            (past, private_to)
        })
}

fn course() -> impl Strategy<Value = Course> {
    let person = || proptest::option::of("[0-9]{1,19}:[a-z支]{1,9}");
    let ends = vec![
        Status::Resolved,
        Status::Closed,
        Status::FalseAlarm,
        Status::Merged,
    ];
    let event = (0_i64..4_000_000_000_000, text(), "[a-z_]{1,9}", text());
    (
        (
            proptest::sample::select(ends),
            proptest::option::of(proptest::sample::select(Severity::ALL.to_vec())),
            person(),
            person(),
        ),
        (time(), time(), time(), time(), any::<bool>()),
        (text(), text(), text()),
        proptest::collection::btree_map(1_u32..5, attempt(), 0..3),
        proptest::collection::vec(event, 0..4),
    )
        .prop_map(|(ends, times, words, withdrawn, events)| Course {
            status: Some(ends.0),
            severity: ends.1,
            severity_by: ends.1.and(ends.2),
            lead: ends.3.clone(),
            comms_lead: ends.3,
            detected_at: times.0,
            reported_at: times.1,
            acknowledged_at: times.2,
            mitigated_at: times.3,
            prevention_done: times.4,
            impact: Impact {
                who: words.0,
                what: words.1,
                data: words.2,
                ..Impact::default()
            },
            withdrawn: withdrawn
                .into_iter()
                .map(|(place, attempt)| Withdrawn { place, attempt })
                .collect(),
            events: events
                .into_iter()
                .map(|(ms, by, what, to)| PastEvent {
                    at: at(ms),
                    by,
                    what,
                    detail: serde_json::json!({"to": to, "attempt": ms}),
                })
                .collect(),
        })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 16, max_shrink_iters: 40, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn what_is_exported_and_imported_is_what_was_kept(
        records in proptest::collection::vec(record(), 1..6),
        courses in proptest::collection::vec(course(), 6),
        owners in proptest::collection::vec(("[a-z ]{0,9}", "[a-z]{1,9}"), 0..3),
        aliases in proptest::collection::btree_set("[a-z]{4,9}", 0..3),
    ) {
        tokio::runtime::Runtime::new().expect("a runtime").block_on(async move {
            let (_first, one) = fresh().await;
            let service = Service {
                owners: owners.into_iter().map(|(role, name)| Owner { role, name }).collect(),
                aliases: aliases.into_iter().collect(),
                runbooks: vec!["https://wiki/x".to_owned()],
                ..Service::named("payments-api")
            };
            one.set_service("g", &service).await.expect("stored");
            let entries: Vec<Entry> = (1..)
                .zip(records)
                .map(|(number, (past, private_to))| Entry { id: Some(id(number)), past, private_to })
                .collect();
            one.put_past("g", &entries, at(0), true).await.expect("stored");
            let ran: Vec<(IncidentId, &Course)> = (1..)
                .map(id)
                .zip(&courses)
                .take(entries.len())
                .collect();
            one.put_courses("g", &ran).await.expect("stored");
            let text = exported(&one, "g").await;
            assert_eq!(text.lines().count(), entries.len() + 1);

            let (_second, other) = fresh().await;
            let report = import(&other, "h", &text).await;
            assert_eq!((report.failed, report.services), (0, 1), "{:?}", report.failures);
            assert_eq!(exported(&other, "h").await, text);
            // Not the lines alone: what they hold.
            let kept = |store: Store, guild: &'static str| async move {
                store.records_for_operator(guild, None, 99).await.expect("read")
            };
            assert_eq!(kept(other.clone(), "h").await, kept(one.clone(), "g").await);
            let ids: Vec<IncidentId> = ran.iter().map(|(id, _)| *id).collect();
            let ran_there = other.courses("h", &ids).await.expect("read");
            assert_eq!(ran_there, one.courses("g", &ids).await.expect("read"));
            for (id, course) in &ran {
                let there = &ran_there[id];
                assert_eq!((there.status, there.severity), (course.status, course.severity));
                assert_eq!(there.events, course.events);
                assert_eq!(there.withdrawn.len(), course.withdrawn.len());
            }
            // The same once more changes nothing.
            import(&other, "h", &text).await;
            assert_eq!(exported(&other, "h").await, text);
            let (from, into) = (one.services("g").await, other.services("h").await);
            assert_eq!(from.expect("read"), into.expect("read"));
            // Nobody else sees any of it.
            assert_eq!(exported(&other, "g").await, "");
        });
    }

    #[test]
    fn a_scope_recalls_what_it_may_see_and_nothing_that_is_forgotten(
        places in proptest::collection::vec((0_u8..2, 0_u8..3), 1..8),
        forgotten in 0_usize..8,
        shared in 0_usize..8,
    ) {
        tokio::runtime::Runtime::new().expect("a runtime").block_on(async move {
            let (_folder, store) = fresh().await;
            let guild_of = |guild: u8| format!("g{guild}");
            let mut kept: Vec<(String, IncidentId, Option<String>)> = Vec::new();
            let mut numbers = [0_u32; 2];
            for (guild, channel) in &places {
                let number = &mut numbers[usize::from(*guild)];
                *number += 1;
                let mut past = PastIncident::new(id(1), format!("ochre pool empty {number}"));
                past.service = Some("payments-api".to_owned());
                let private_to = (*channel > 0).then(|| format!("c{channel}"));
                let entry = Entry { id: Some(id(*number)), past, private_to: private_to.clone() };
                let guild = guild_of(*guild);
                store.put_past(&guild, &[entry], at(0), true).await.expect("stored");
                kept.push((guild, id(*number), private_to));
            }
            let signed = Signed { by: "alice", at: at(9) };
            let scope_of = |(guild, _, private_to): &(String, IncidentId, Option<String>)| {
                Scope::new(guild.clone(), private_to.clone().unwrap_or_default())
            };
            if let Some(one) = kept.get_mut(shared) {
                store.share(&scope_of(one), one.1, true, signed).await.expect("shared");
                one.2 = None;
            }
            if forgotten < kept.len() {
                let one = kept.remove(forgotten);
                // A shared one is seen, and forgotten, from anywhere in its guild.
                store.forget(&scope_of(&one), one.1, signed).await.expect("forgotten");
                store.erase_traces().await.expect("erased");
            }
            let memory = Database::new(store.read_pool().clone());
            let words: Vec<String> = ["ochre", "pool", "empty"].map(str::to_owned).into();
            for guild in ["g0", "g1", "g2"] {
                let registry: Registry = store.services(guild).await.expect("read");
                for channel in ["", "c1", "c2", "c9"] {
                    let query = Query {
                        guild,
                        channel,
                        words: &words,
                        service: Some("payments-api"),
                        registry: &registry,
                        own: None,
                        limit: 0,
                        meaning: "",
                    };
                    let found = memory.recall(&query).await.expect("it answers");
                    let mut ids: Vec<IncidentId> = found.candidates.iter().map(|past| past.id).collect();
                    ids.sort();
                    let expected: Vec<IncidentId> = kept
                        .iter()
                        .filter(|(of, _, private_to)| {
                            of == guild && private_to.as_deref().is_none_or(|only| only == channel)
                        })
                        .map(|(_, id, _)| *id)
                        .collect();
                    assert_eq!(ids, expected, "{guild} {channel:?}");
                    assert_eq!(found.searched, expected.len() as u64);
                }
            }
        });
    }
}

/// Bytes of every file of a database.
fn on_disk(folder: &tempfile::TempDir) -> Vec<u8> {
    let entries = std::fs::read_dir(folder.path()).expect("the folder is there");
    entries
        .flat_map(|entry| std::fs::read(entry.expect("an entry").path()).expect("a file"))
        .collect()
}

async fn documents_with(store: &Store, term: &str) -> i64 {
    let pool = store.read_pool().sqlite().expect("a file");
    sqlx::query_scalar("SELECT count(*) FROM incident_terms WHERE term = $1")
        .bind(precedent::incident::words::stem(term))
        .fetch_one(pool)
        .await
        .expect("it can be counted")
}

#[tokio::test]
async fn of_a_long_record_neither_pages_nor_words_are_left() {
    let (folder, store) = fresh().await;
    for number in 1..=30 {
        let mut past = PastIncident::new(id(number), format!("pool empty {number}"));
        // Longer than a page: what does not fit into one is freed as a whole.
        past.root_cause = "the ochre cache is cold, and so is the other one. ".repeat(200);
        if number == 17 {
            past.root_cause = "the vermilion batch holds connections. ".repeat(2_000);
        }
        let entry = Entry {
            id: Some(id(number)),
            past,
            private_to: None,
        };
        store
            .put_past("g", &[entry], at(0), true)
            .await
            .expect("stored");
    }
    let holds = |text: &str| {
        on_disk(&folder)
            .windows(text.len())
            .any(|window| window == text.as_bytes())
    };
    assert!(holds("vermilion batch"));
    assert_eq!(documents_with(&store, "vermilion").await, 1);
    let signed = Signed {
        by: "alice",
        at: at(1),
    };
    store
        .forget(&Scope::public("g"), id(17), signed)
        .await
        .expect("forgotten");
    store.erase_traces().await.expect("erased");
    assert!(!holds("vermilion batch"), "a page is left");
    assert_eq!(
        documents_with(&store, "vermilion").await,
        0,
        "a word is left"
    );
    assert!(holds("ochre cache"));
    assert_eq!(documents_with(&store, "ochre").await, 1);
}

#[tokio::test]
async fn a_service_s_history_says_who_changed_what() {
    let (_folder, store) = fresh().await;
    let signed = |by: &'static str, ms| Signed { by, at: at(ms) };
    for name in ["pay", "till"] {
        store
            .change_service("g", &Service::named(name), Some(signed("alice", 1)))
            .await
            .expect("stored");
    }
    store
        .teach_alias("g", "pay", "the till", Some(signed("bob", 2)))
        .await
        .expect("stored");
    store
        .rename_service("g", "pay", "payments", signed("carol", 3))
        .await
        .expect("renamed");
    assert!(
        store
            .rename_service("g", "pay", "x", signed("eve", 4))
            .await
            .is_err()
    );
    assert!(
        store
            .rename_service("g", "payments", "till", signed("eve", 4))
            .await
            .is_err()
    );
    assert!(
        store
            .merge_services("g", "till", "till", signed("eve", 4))
            .await
            .is_err()
    );
    store
        .merge_services("g", "till", "payments", signed("dave", 5))
        .await
        .expect("merged");
    let registry = store.services("g").await.expect("read");
    assert_eq!(registry.services.len(), 1, "{registry:?}");
    for name in ["pay", "payments", "the till", "till"] {
        assert_eq!(registry.resolve(name), Some("payments"), "{name}");
    }
    let who: Vec<(String, String)> = store
        .audit_of("g", "payments", 9)
        .await
        .expect("read")
        .into_iter()
        .map(|entry| (entry.what, entry.by))
        .collect();
    let expected = [("service_merged", "dave"), ("service_renamed", "carol")];
    assert_eq!(
        who,
        expected.map(|(what, by)| (what.to_owned(), by.to_owned()))
    );
    assert_eq!(
        store.audit_of("other", "payments", 9).await.expect("read"),
        []
    );
}

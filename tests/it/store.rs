//! The store, memory and import: the contract that holds in each of their homes, and what each home
//! does for itself.

#![allow(clippy::unwrap_used, clippy::print_stdout)]

use crate::homes::{Home, beside, in_every_home};
use jiff::Timestamp;
use precedent::database::{query, query_scalar};
use precedent::incident::proposal::Proposal;
use precedent::incident::words::tokens;
use precedent::incident::{
    Engine, FailureClass, FixAttempt, Impact, IncidentId, Locale, Memory, Moment, Outcome,
    PastIncident, Registry, Report, Route, Service, Severity, Status, Tier,
};
use precedent::jobs::remember::{ImportOptions, ImportReport, Whose, export, import};
use precedent::memory::{Database, Found, Query};
use precedent::store::{
    Change, Entry, Filter, Incident, Link, LinkError, Measures, NewIncident, PostKey, PutOutcome,
    Resolution, Scope, Store, StoreError,
};
use precedent::validation::Correction;
use precedent::validation::case::Case;
use std::path::Path;
use tempfile::TempDir;

fn at(seconds: i64) -> Timestamp {
    Timestamp::from_second(1_750_000_000 + seconds).unwrap()
}

fn id(number: u32) -> IncidentId {
    IncidentId::new(number).unwrap()
}

fn url(folder: &Path) -> String {
    format!("sqlite://{}", folder.join("precedent.db").display())
}

async fn fresh() -> (TempDir, Store) {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::open(&url(folder.path())).await.unwrap();
    (folder, store)
}

fn new_incident(opening: &str) -> NewIncident {
    NewIncident {
        opening: opening.to_owned(),
        channel: "c1".to_owned(),
        parent_channel: None,
        thread: None,
        private: false,
        title: "intermittent 503s".to_owned(),
        service: Some("payments-api".to_owned()),
        environment: None,
        severity: Some(Severity::Sev3),
        severity_by: None,
        locale: Locale::En,
        report: Report::from_text("payments-api answers 503"),
        reporter: "u1".to_owned(),
        symptoms: vec!["HTTP 503 at checkout".to_owned()],
        error_signatures: vec!["upstream rate limit exceeded".to_owned()],
        started_at: None,
        reported_at: at(0),
    }
}

fn past(title: &str, service: Option<&str>) -> PastIncident {
    PastIncident {
        service: service.map(str::to_owned),
        resolved_at: Some(at(0)),
        ..PastIncident::new(id(1), title)
    }
}

fn entry(number: Option<u32>, past: PastIncident) -> Entry {
    Entry {
        id: number.map(id),
        past,
        private_to: None,
    }
}

async fn put(store: &Store, guild: &str, entry: Entry) -> PutOutcome {
    store
        .put_past(guild, &[entry], at(0), false)
        .await
        .unwrap()
        .remove(0)
}

async fn recall(store: &Store, scope: &Scope, text: &str, service: Option<&str>) -> Found {
    let registry = store.services(&scope.guild).await.unwrap();
    Database::new(store.read_pool().clone())
        .recall(&Query {
            guild: &scope.guild,
            channel: &scope.channel,
            words: &tokens(text),
            service,
            registry: &registry,
            own: None,
            limit: 0,
            meaning: "",
        })
        .await
        .unwrap()
}

fn titles(found: &Found) -> Vec<&str> {
    found
        .candidates
        .iter()
        .map(|past| past.title.as_str())
        .collect()
}

in_every_home!(
    a_closed_store_is_unavailable_and_memory_fails_instead_of_being_empty,
    numbers_count_per_guild_and_never_come_again,
    everything_is_there_after_a_restart,
    guilds_and_private_channels_never_see_each_other,
    what_people_say_wins_and_times_are_set_once,
    clicks_are_recorded_once_and_can_be_taken_back,
    resolving_feeds_memory_and_names_the_fix_that_was_tried,
    analyses_are_stored_before_and_after_the_model,
    a_post_is_intended_then_sent_once,
    an_event_is_new_once_and_forgotten_after_two_days,
    a_name_means_one_service,
    a_name_of_a_service_has_an_end,
    what_was_searched_is_counted_as_it_changes,
    words_of_an_older_making_are_made_anew,
    recall_finds_english_code_and_chinese,
    the_same_service_is_a_prior_and_never_a_cut,
    what_may_not_be_seen_never_crowds_out_what_may,
    no_text_is_a_syntax_error_in_recall,
    a_hostile_record_is_stored_and_found,
    a_bad_line_costs_itself_alone,
    an_import_twice_is_an_import_once,
    export_and_import_lose_nothing,
    an_incident_that_was_lived_through_comes_back_whole,
    many_writers_and_readers_at_once,
);

// ---- opening -----------------------------------------------------------------------------------

#[tokio::test]
async fn databases_that_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let garbled = folder.path().join("garbled.db");
    std::fs::write(
        &garbled,
        "not a database, but longer than a header ".repeat(40),
    )
    .unwrap();
    let foreign = folder.path().join("foreign.db");
    {
        use sqlx::{ConnectOptions, Connection};
        let mut connection = sqlx::sqlite::SqliteConnectOptions::new()
            .filename(&foreign)
            .create_if_missing(true)
            .connect()
            .await
            .unwrap();
        sqlx::query("CREATE TABLE theirs (x)")
            .execute(&mut connection)
            .await
            .unwrap();
        connection.close().await.unwrap();
    }
    for (url, sentence) in [
        (
            "postgres://user:secret@host:port/db".to_owned(),
            "DATABASE_URL can't be read: write postgres://user:password@host:5432/database",
        ),
        (
            "postgres://user:secret@127.0.0.1:1/db".to_owned(),
            "the database cannot be reached or written",
        ),
        (
            "mysql://user:secret@host/db".to_owned(),
            "DATABASE_URL must begin with sqlite:// or postgres://, such as sqlite://precedent.db",
        ),
        (
            format!("sqlite://{}", garbled.display()),
            "the database is damaged or is not a database: restore a backup or move the file away",
        ),
        (
            format!("sqlite://{}", foreign.display()),
            "the database belongs to another program: name another one in DATABASE_URL",
        ),
        (
            format!(
                "sqlite://{}",
                folder.path().join("no/such/folder.db").display()
            ),
            "the database cannot be reached or written",
        ),
    ] {
        let error = Store::open(&url).await.expect_err(&url);
        assert_eq!(error.to_string(), sentence);
        assert!(!format!("{error} {error:?}").contains("secret"));
    }
    assert!(
        std::fs::read(&garbled)
            .unwrap()
            .starts_with(b"not a database"),
        "a refused file is left alone"
    );
}

#[tokio::test]
async fn a_database_of_a_newer_version_is_refused() {
    let (folder, store) = fresh().await;
    sqlx::query(
        "INSERT INTO _sqlx_migrations (version, description, success, checksum, execution_time) \
         VALUES (9999, 'from the future', 1, x'00', 0)",
    )
    .execute(store.write_pool().sqlite().unwrap())
    .await
    .unwrap();
    store.close().await;
    let error = Store::open(&url(folder.path())).await.unwrap_err();
    assert!(matches!(error, StoreError::Newer), "{error:?}");
}

#[tokio::test]
async fn writes_are_durable_and_foreign_keys_hold() {
    let (_folder, store) = fresh().await;
    for (pragma, expected) in [
        ("PRAGMA synchronous", "2"),
        ("PRAGMA journal_mode", "wal"),
        ("PRAGMA foreign_keys", "1"),
        ("PRAGMA busy_timeout", "5000"),
    ] {
        let row = sqlx::query(sqlx::AssertSqlSafe(pragma))
            .fetch_one(store.write_pool().sqlite().unwrap())
            .await
            .unwrap();
        let value = sqlx::Row::try_get::<i64, _>(&row, 0)
            .map(|number| number.to_string())
            .unwrap_or_else(|_| sqlx::Row::get::<String, _>(&row, 0));
        assert_eq!(value, expected, "{pragma}");
    }
    store.probe().await.unwrap();
    store.check_integrity().await.unwrap();
}

async fn a_closed_store_is_unavailable_and_memory_fails_instead_of_being_empty(home: &Home) {
    let store = home.store().await;
    let memory = home.memory(&store);
    store.close().await;
    let error = store
        .open_incident("g", &new_incident("i1"))
        .await
        .unwrap_err();
    assert!(matches!(error, StoreError::Unavailable(_)) && error.is_transient());
    let registry = Registry::default();
    let query = Query {
        guild: "g",
        channel: "",
        words: &tokens("timeout"),
        service: None,
        registry: &registry,
        own: None,
        limit: 0,
        meaning: "",
    };
    assert!(memory.recall(&query).await.is_err());
}

#[tokio::test]
async fn a_damaged_file_is_damaged_and_never_a_panic() {
    for (what, damage) in [
        ("cut in half", 0_usize),
        ("pages overwritten", 1),
        ("header kept alone", 2),
    ] {
        let (folder, store) = fresh().await;
        remembered(&store).await;
        store.close().await;
        let file = folder.path().join("precedent.db");
        let mut bytes = std::fs::read(&file).unwrap();
        match damage {
            0 => bytes.truncate(bytes.len() / 2),
            1 => bytes[4096..].fill(0xA5),
            _ => bytes.truncate(100),
        }
        std::fs::write(&file, &bytes).unwrap();
        let error = match Store::open(&url(folder.path())).await {
            Ok(store) => store.check_integrity().await.expect_err(what),
            Err(error) => error,
        };
        assert!(matches!(error, StoreError::Corrupt(_)), "{what}: {error:?}");
    }
}

#[tokio::test]
async fn a_full_disk_and_a_locked_file_are_said_to_be_so() {
    let (folder, store) = fresh().await;
    let limit = async |pages: &'static str| {
        sqlx::query(pages)
            .fetch_one(store.write_pool().sqlite().unwrap())
            .await
            .unwrap();
    };
    limit("PRAGMA max_page_count = 1").await; // Sets it to what is used.
    let large = NewIncident {
        report: Report::from_text("x".repeat(2_000_000)),
        ..new_incident("large")
    };
    let error = store.open_incident("g", &large).await.unwrap_err();
    assert!(matches!(error, StoreError::Full(_)), "{error:?}");
    limit("PRAGMA max_page_count = 1000000").await;
    // Nothing was stored of it, its number included.
    let after = store.open_incident("g", &large).await.unwrap();
    assert_eq!(after.id(), id(1));

    sqlx::query("PRAGMA busy_timeout = 50")
        .execute(store.write_pool().sqlite().unwrap())
        .await
        .unwrap();
    let other = Store::open(&url(folder.path())).await.unwrap();
    let held = other
        .write_pool()
        .sqlite()
        .unwrap()
        .begin_with("BEGIN IMMEDIATE")
        .await
        .unwrap();
    let error = store
        .open_incident("g", &new_incident("b"))
        .await
        .unwrap_err();
    assert!(matches!(error, StoreError::Busy(_)), "{error:?}");
    // Reading goes on.
    assert!(store.incident(&Scope::new("g", "c1"), id(1)).await.is_ok());
    held.rollback().await.unwrap();
    assert!(store.open_incident("g", &new_incident("b")).await.is_ok());
}

fn signed() -> precedent::store::Signed<'static> {
    precedent::store::Signed {
        by: "alice",
        at: at(1),
    }
}

// ---- numbers and restart -----------------------------------------------------------------------

async fn numbers_count_per_guild_and_never_come_again(home: &Home) {
    let store = home.store().await;
    let one = store.open_incident("g1", &new_incident("a")).await.unwrap();
    let two = store.open_incident("g1", &new_incident("b")).await.unwrap();
    let other = store.open_incident("g2", &new_incident("a")).await.unwrap();
    assert_eq!((one.id(), two.id(), other.id()), (id(1), id(2), id(1)));
    // The same opening is the same incident.
    let again = store.open_incident("g1", &new_incident("b")).await.unwrap();
    assert_eq!(again, two);
    // A forgotten number is not given out again.
    let scope = Scope::new("g1", "c1");
    store.forget(&scope, id(2), signed()).await.unwrap();
    assert!(matches!(
        put(&store, "g1", entry(Some(2), past("again", None))).await,
        PutOutcome::Refused(_)
    ));
    assert!(matches!(
        store.incident(&scope, id(2)).await,
        Err(StoreError::NotFound)
    ));
    let three = store.open_incident("g1", &new_incident("c")).await.unwrap();
    assert_eq!(three.id(), id(3));
    // An import with a higher number moves the counter, one with a lower does not.
    assert_eq!(
        put(&store, "g1", entry(Some(40), past("old", None))).await,
        PutOutcome::Added(id(40))
    );
    assert_eq!(
        put(&store, "g1", entry(Some(7), past("older", None))).await,
        PutOutcome::Added(id(7))
    );
    let next = store.open_incident("g1", &new_incident("d")).await.unwrap();
    assert_eq!(next.id(), id(41));
    // One that would leave no numbers is refused.
    assert!(matches!(
        put(&store, "g1", entry(Some(999_999_999), past("x", None))).await,
        PutOutcome::Refused(_)
    ));
}

async fn everything_is_there_after_a_restart(home: &Home) {
    let store = home.store().await;
    let scope = Scope::new("g", "c1");
    let incident = store.open_incident("g", &new_incident("a")).await.unwrap();
    store
        .set_service("g", &service("payments-api", &["the till"]))
        .await
        .unwrap();
    store.close().await;
    let store = home.store().await;
    assert_eq!(store.incident(&scope, id(1)).await.unwrap(), incident);
    assert_eq!(
        store.services("g").await.unwrap().resolve("the till"),
        Some("payments-api")
    );
}

// ---- who sees what -----------------------------------------------------------------------------

async fn guilds_and_private_channels_never_see_each_other(home: &Home) {
    let store = home.store().await;
    let private = NewIncident {
        channel: "secret".to_owned(),
        thread: Some("secret-thread".to_owned()),
        private: true,
        title: "leak in vault".to_owned(),
        service: Some("vault".to_owned()),
        ..new_incident("a")
    };
    store.open_incident("g1", &private).await.unwrap();
    let resolution = Resolution {
        root_cause: Some("vault token leaked".to_owned()),
        ..Resolution::default()
    };
    let inside = Scope::new("g1", "secret");
    store
        .resolve(&inside, id(1), &resolution, "u", at(60))
        .await
        .unwrap();
    put(
        &store,
        "g2",
        entry(Some(1), past("vault leak elsewhere", Some("vault"))),
    )
    .await;

    for (scope, sees) in [
        (Scope::new("g1", "secret"), true),
        (Scope::new("g1", "secret-thread"), true),
        (Scope::new("g1", "c1"), false),
        (Scope::public("g1"), false),
        (Scope::new("g2", "secret"), false),
        (Scope::new("", "secret"), false),
    ] {
        let list = store.list(&scope, &Filter::default()).await.unwrap();
        let titles_listed: Vec<&str> = list.iter().map(|i| i.past.title.as_str()).collect();
        let found = recall(&store, &scope, "vault token leak", Some("vault")).await;
        let records = store.records(&scope, None, 10).await.unwrap();
        if scope.guild == "g2" {
            assert_eq!(titles_listed, ["vault leak elsewhere"]);
            assert_eq!(titles(&found), ["vault leak elsewhere"]);
            continue;
        }
        let incident = store.incident(&scope, id(1)).await;
        assert_eq!(incident.is_ok(), sees, "{scope:?}");
        assert_eq!(titles_listed.len(), usize::from(sees), "{scope:?}");
        assert_eq!(titles(&found).len(), usize::from(sees), "{scope:?}");
        assert_eq!(found.searched, u64::from(sees), "{scope:?}");
        assert_eq!(found.on_service, u64::from(sees), "{scope:?}");
        assert_eq!(records.len(), usize::from(sees), "{scope:?}");
        // What may not be seen may not be changed, or its history read, either.
        if !sees {
            let by = "x";
            let gone = |error: StoreError| assert!(matches!(error, StoreError::NotFound));
            gone(
                store
                    .update(&scope, id(1), by, at(1), &[Change::Private(false)])
                    .await
                    .unwrap_err(),
            );
            gone(store.forget(&scope, id(1), signed()).await.unwrap_err());
            gone(
                store
                    .share(&scope, id(1), true, signed())
                    .await
                    .unwrap_err(),
            );
            gone(store.holdings(&scope, id(1)).await.unwrap_err());
            gone(store.history(&scope, id(1)).await.unwrap_err());
            gone(store.attempts(&scope, id(1)).await.unwrap_err());
            gone(store.analyses(&scope, id(1)).await.unwrap_err());
            gone(store.posts_of(&scope, id(1)).await.unwrap_err());
            gone(store.ticks(&scope, id(1), 1).await.unwrap_err());
            gone(
                store
                    .confirm_cause(&scope, id(1), "x", by, at(1))
                    .await
                    .unwrap_err(),
            );
        }
    }
    // Its service is not shown by being registered, and an import does not share it.
    assert_eq!(store.services("g1").await.unwrap().resolve("vault"), None);
    put(&store, "g1", entry(Some(1), past("replaced", None))).await;
    assert!(store.incident(&Scope::public("g1"), id(1)).await.is_err());
    // Shared, everybody in the guild sees it.
    store
        .update(&inside, id(1), "u", at(2), &[Change::Private(false)])
        .await
        .unwrap();
    assert!(store.incident(&Scope::public("g1"), id(1)).await.is_ok());
    // A private incident that could be seen from nowhere or everywhere is none.
    let nowhere = NewIncident {
        channel: String::new(),
        private: true,
        ..new_incident("z")
    };
    assert!(matches!(
        store.open_incident("g1", &nowhere).await,
        Err(StoreError::Invalid(_))
    ));
}

// ---- an incident's life ------------------------------------------------------------------------

async fn what_people_say_wins_and_times_are_set_once(home: &Home) {
    let store = home.store().await;
    let scope = Scope::new("g", "c1");
    store.open_incident("g", &new_incident("a")).await.unwrap();
    let update = async |by: &str, seconds: i64, changes: &[Change]| -> Incident {
        store
            .update(&scope, id(1), by, at(seconds), changes)
            .await
            .unwrap()
    };
    let proposed = update("code", 1, &[Change::SeverityProposed(Severity::Sev2)]).await;
    assert_eq!(
        (proposed.severity, proposed.severity_by),
        (Some(Severity::Sev2), None)
    );
    update("u1", 2, &[Change::Severity(Severity::Sev1)]).await;
    let still = update("code", 3, &[Change::SeverityProposed(Severity::Sev4)]).await;
    assert_eq!(
        (still.severity, still.severity_by.as_deref()),
        (Some(Severity::Sev1), Some("u1"))
    );
    let led = update("u2", 4, &[Change::Lead(Some("u2".to_owned()))]).await;
    assert_eq!(led.acknowledged_at, Some(at(4)));
    let mitigated = update("u2", 5, &[Change::Status(Status::Mitigated)]).await;
    assert_eq!(mitigated.mitigated_at, Some(at(5)));
    let resolved = update("u2", 9, &[Change::Status(Status::Resolved)]).await;
    assert_eq!(
        (resolved.mitigated_at, resolved.past.resolved_at),
        (Some(at(5)), Some(at(9)))
    );
    let reopened = update("u2", 10, &[Change::Status(Status::Fixing)]).await;
    assert_eq!(reopened.past.resolved_at, None);
    let moved = update(
        "u2",
        11,
        &[
            Change::Thread(Some("t1".to_owned())),
            Change::Headline(Some("m1".to_owned())),
            Change::Time {
                moment: precedent::incident::Moment::Started,
                at: Some(at(-60)),
            },
        ],
    )
    .await;
    assert_eq!(
        store.by_thread("g", "t1").await.unwrap(),
        Some(moved.clone())
    );
    assert_eq!(store.by_thread("other", "t1").await.unwrap(), None);
    assert!(matches!(
        store
            .link(&scope, id(1), Link::Parent, Some(id(1)), "u", at(12))
            .await,
        Err(LinkError::Cycle)
    ));
    let history = store.history(&scope, id(1)).await.unwrap();
    let what: Vec<&str> = history.iter().map(|event| event.what.as_str()).collect();
    assert_eq!(
        what,
        [
            "opened",
            "severity_proposed",
            "severity",
            "severity_proposed",
            "lead",
            "status",
            "status",
            "status",
            "thread",
            "headline",
            "time"
        ]
    );
}

async fn clicks_are_recorded_once_and_can_be_taken_back(home: &Home) {
    let store = home.store().await;
    let scope = Scope::new("g", "c1");
    store.open_incident("g", &new_incident("a")).await.unwrap();
    let trying = FixAttempt {
        by: "u1".to_owned(),
        at: Some(at(1)),
        ..FixAttempt::new("raise the rate limit", Outcome::Unknown)
    };
    let first = store
        .record_attempt(&scope, id(1), "1/1", &trying, at(1))
        .await
        .unwrap();
    let again = store
        .record_attempt(&scope, id(1), "1/1", &trying, at(2))
        .await
        .unwrap();
    assert_eq!(first, again);
    store
        .revise_attempt(&scope, id(1), 1, Outcome::NoEffect, "u2", at(3), None)
        .await
        .unwrap();
    let worked = store
        .revise_attempt(
            &scope,
            id(1),
            1,
            Outcome::Mitigated,
            "u1",
            at(4),
            Some("after 5 min"),
        )
        .await
        .unwrap();
    assert_eq!(
        (worked.fix.outcome, worked.fix.note.as_str()),
        (Outcome::Mitigated, "after 5 min")
    );
    store
        .withdraw_attempt(&scope, id(1), 1, "u1", at(5))
        .await
        .unwrap();
    let incident = store.incident(&scope, id(1)).await.unwrap();
    assert_eq!(incident.past.attempts, []);
    store
        .revise_attempt(&scope, id(1), 1, Outcome::Held, "u1", at(6), None)
        .await
        .unwrap();
    let incident = store.incident(&scope, id(1)).await.unwrap();
    assert_eq!(incident.past.outcome(), Outcome::Held);
    assert!(matches!(
        store
            .revise_attempt(&scope, id(1), 9, Outcome::Held, "u1", at(6), None)
            .await,
        Err(StoreError::NotFound)
    ));

    store
        .reject_cause(&scope, id(1), "pool exhausted", "u1", at(7))
        .await
        .unwrap();
    let rejected = store
        .reject_cause(&scope, id(1), "pool exhausted", "u2", at(8))
        .await
        .unwrap();
    assert_eq!(rejected.past.ruled_out, ["pool exhausted"]);
    let confirmed = store
        .confirm_cause(&scope, id(1), "pool exhausted", "u1", at(9))
        .await
        .unwrap();
    assert_eq!(
        (
            confirmed.past.confirmed_cause(),
            confirmed.past.ruled_out.len()
        ),
        (Some("pool exhausted"), 0)
    );
    let withdrawn = store
        .withdraw_cause(&scope, id(1), "pool exhausted", "u1", at(10))
        .await
        .unwrap();
    assert_eq!(withdrawn.past.root_cause, "");
    let outcomes = store.history(&scope, id(1)).await.unwrap();
    assert_eq!(
        outcomes
            .iter()
            .filter(|event| event.what == "outcome")
            .count(),
        3
    );
}

async fn resolving_feeds_memory_and_names_the_fix_that_was_tried(home: &Home) {
    let store = home.store().await;
    let scope = Scope::new("g", "c1");
    store.open_incident("g", &new_incident("a")).await.unwrap();
    let tried = FixAttempt::new("Raise the gateway rate limit", Outcome::Unknown);
    store
        .record_attempt(&scope, id(1), "1/1", &tried, at(1))
        .await
        .unwrap();
    assert_eq!(
        titles(&recall(&store, &scope, "gateway 503", None).await),
        Vec::<&str>::new(),
        "an open incident is not recalled"
    );
    let resolution = Resolution {
        root_cause: Some("gateway retries hit the rate limit".to_owned()),
        cause_confirmed: true,
        fix: Some("raise the gateway rate limit".to_owned()),
        outcome: Outcome::Mitigated,
        ruled_out: vec!["pool exhausted".to_owned(), " ".to_owned()],
        prevention: Some("alert on 429".to_owned()),
        environment: None,
    };
    for _ in 0..2 {
        let resolved = store
            .resolve(&scope, id(1), &resolution, "u1", at(600))
            .await
            .unwrap();
        assert_eq!(resolved.status, Status::Resolved);
        assert_eq!(resolved.past.attempts.len(), 1);
        assert_eq!(resolved.past.outcome(), Outcome::Mitigated);
        assert_eq!(resolved.past.ruled_out, ["pool exhausted"]);
        assert_eq!(
            resolved.past.confirmed_cause(),
            Some("gateway retries hit the rate limit")
        );
    }
    let found = recall(&store, &scope, "gateway retries 429", None).await;
    assert_eq!(titles(&found), ["intermittent 503s"]);
    let other = Resolution {
        fix: Some("restart the pods".to_owned()),
        outcome: Outcome::NoEffect,
        ..Resolution::default()
    };
    let both = store
        .resolve(&scope, id(1), &other, "u1", at(700))
        .await
        .unwrap();
    assert_eq!(both.past.attempts.len(), 2);
    assert_eq!(both.past.root_cause, "gateway retries hit the rate limit");
}

fn case() -> Case {
    Case {
        now: at(0),
        locale: Locale::Zh,
        report: Report::from_text("数据库\0超时"),
        service: None,
        registry: Registry::default(),
        severity: None,
        severity_proposed: Severity::Sev3,
        memory: Memory::Unavailable,
        attempts: vec![],
        incident: Some(id(1)),
        failure_class: FailureClass::Database,
        impact: None,
        since: None,
        triage_corrections: Vec::new(),
        ledger: Default::default(),
    }
}

async fn analyses_are_stored_before_and_after_the_model(home: &Home) {
    let store = home.store().await;
    let scope = Scope::new("g", "c1");
    store.open_incident("g", &new_incident("a")).await.unwrap();
    let route = Route {
        tier: Tier::Capable,
        score: Some(30),
        escalated: false,
        reasons: vec![],
    };
    let seq = store
        .begin_analysis(&scope, id(1), "job-1", &case(), &route, at(1))
        .await
        .unwrap();
    let again = store
        .begin_analysis(&scope, id(1), "job-1", &case(), &route, at(2))
        .await
        .unwrap();
    let second = store
        .begin_analysis(&scope, id(1), "job-2", &case(), &route, at(3))
        .await
        .unwrap();
    assert_eq!((seq, again, second), (1, 1, 2));
    let begun = store.analysis(&scope, id(1), 1).await.unwrap();
    assert_eq!((begun.proposal, begun.engine), (None, None));
    assert_eq!(begun.route, route);
    assert_eq!(begun.case.report.text, "数据库超时", "without NUL");

    let proposal = Proposal {
        summary: "库 \"quoted\" \\ ' ; DROP TABLE incident".to_owned(),
        ..Proposal::default()
    };
    let engine = Engine::Model {
        model: "m".to_owned(),
        tier: Tier::Capable,
    };
    let corrections = vec![Correction {
        rule: "R3".to_owned(),
        at: "hypotheses[1].source".to_owned(),
        was: "memory".to_owned(),
        now: "general_practice".to_owned(),
    }];
    let measures = Measures {
        stage_millis: [("analyse".to_owned(), 1200)].into(),
        prompt_tokens: 5000,
        completion_tokens: 700,
        stage_tokens: std::collections::BTreeMap::from([("analyse".to_owned(), (3_900, 1_210))]),
        calls: 2,
    };
    store
        .finish_analysis(
            &scope,
            id(1),
            1,
            None,
            &proposal,
            &engine,
            &corrections,
            &measures,
        )
        .await
        .unwrap();
    store.supersede_before(&scope, id(1), 2).await.unwrap();
    let done = store.analysis(&scope, id(1), 1).await.unwrap();
    assert_eq!(done.proposal, Some(proposal));
    assert_eq!(done.engine, Some(engine));
    assert_eq!(done.corrections, corrections);
    assert_eq!(done.measures, measures);
    assert!(done.superseded);
    let latest = store.latest_analysis(&scope, id(1)).await.unwrap().unwrap();
    assert!(latest.seq == 2 && !latest.superseded);

    // Ticks stand on an analysis.
    for (ticked, by, changes) in [(true, "u1", true), (true, "u2", false), (false, "u2", true)] {
        let changed = store
            .tick(&scope, id(1), 1, 3, ticked, by, at(5))
            .await
            .unwrap();
        assert_eq!(changed, changes);
    }
    store
        .tick(&scope, id(1), 1, 0, true, "u3", at(6))
        .await
        .unwrap();
    let ticks = store.ticks(&scope, id(1), 1).await.unwrap();
    assert_eq!(
        ticks
            .iter()
            .map(|tick| (tick.step, tick.by.as_str()))
            .collect::<Vec<_>>(),
        [(0, "u3")]
    );
    assert_eq!(store.tick_history(&scope, id(1), 1).await.unwrap().len(), 3);
    assert!(matches!(
        store.tick(&scope, id(1), 7, 0, true, "u", at(6)).await,
        Err(StoreError::Conflict(_))
    ));
    // Forgetting takes everything along.
    store
        .intend_post(&PostKey::new("g", id(1), 1, "cards"), "t1")
        .await
        .unwrap();
    store.forget(&scope, id(1), signed()).await.unwrap();
    for count in [
        "SELECT count(*) FROM incident",
        "SELECT count(*) FROM attempt",
        "SELECT count(*) FROM analysis",
        "SELECT count(*) FROM tick",
        "SELECT count(*) FROM incident_event",
        "SELECT count(*) FROM post",
        "SELECT count(*) FROM incident_words",
        "SELECT count(*) FROM incident_terms",
    ] {
        let left: i64 = query_scalar(count)
            .fetch_one(store.read_pool())
            .await
            .unwrap();
        assert_eq!(left, 0, "{count}");
    }
}

async fn a_post_is_intended_then_sent_once(home: &Home) {
    let store = home.store().await;
    let scope = Scope::new("g", "c1");
    store.open_incident("g", &new_incident("a")).await.unwrap();
    let key = PostKey::new("g", id(1), 1, "cards");
    assert_eq!(key.to_string(), "g/1/1/cards");
    assert!(matches!(
        store.posted(&key, "m1").await,
        Err(StoreError::NotFound)
    ));
    let first = store.intend_post(&key, "t1").await.unwrap();
    assert_eq!((first.already, first.attempt), (None, 1));
    let second = store.intend_post(&key, "t1").await.unwrap();
    assert_eq!((second.already, second.attempt), (None, 2));
    store.posted(&key, "m1").await.unwrap();
    let third = store.intend_post(&key, "t2").await.unwrap();
    assert_eq!(third.already.as_deref(), Some("m1"));
    let posts = store.posts_of(&scope, id(1)).await.unwrap();
    assert_eq!(posts.len(), 1);
    assert_eq!(
        (posts[0].channel.as_str(), posts[0].message.as_deref()),
        ("t1", Some("m1"))
    );
    store.post_gone(&key).await.unwrap();
    let anew = store.intend_post(&key, "t2").await.unwrap();
    assert_eq!((anew.already, anew.attempt), (None, 1));
}

async fn an_event_is_new_once_and_forgotten_after_two_days(home: &Home) {
    let store = home.store().await;
    assert!(store.first_time("interaction/1", at(0)).await.unwrap());
    assert!(!store.first_time("interaction/1", at(1)).await.unwrap());
    assert!(store.first_time("message/1", at(0)).await.unwrap());
    let day = 24 * 60 * 60;
    assert_eq!(store.prune_seen(at(2 * day)).await.unwrap(), 0);
    assert_eq!(store.prune_seen(at(2 * day + 1)).await.unwrap(), 2);
    assert!(store.first_time("interaction/1", at(0)).await.unwrap());
}

// ---- services ----------------------------------------------------------------------------------

fn service(name: &str, aliases: &[&str]) -> Service {
    Service {
        aliases: aliases.iter().map(|alias| (*alias).to_owned()).collect(),
        ..Service::named(name)
    }
}

async fn a_name_of_a_service_has_an_end(home: &Home) {
    let store = home.store().await;
    let long = "服".repeat(1_000_000);
    assert!(matches!(
        store.set_service("g", &service(&long, &[])).await,
        Err(StoreError::Invalid(_))
    ));
    assert!(matches!(
        store.set_service("g", &service("a", &[&long])).await,
        Err(StoreError::Invalid(_))
    ));
    assert!(matches!(
        put(&store, "g", entry(None, past("t", Some(&long)))).await,
        PutOutcome::Refused(_)
    ));
    let longest = "服".repeat(200);
    store
        .set_service("g", &service(&longest, &[]))
        .await
        .unwrap();
    let opened = NewIncident {
        service: Some(long),
        ..new_incident("a")
    };
    let opened = store.open_incident("g", &opened).await.unwrap();
    assert_eq!(opened.past.service, Some(longest));
}

async fn what_was_searched_is_counted_as_it_changes(home: &Home) {
    let store = home.store().await;
    let (scope, elsewhere) = (Scope::new("g", "c1"), Scope::new("g", "c2"));
    let counts = async |scope: &Scope| {
        let found = recall(&store, scope, "503", Some("payments-api")).await;
        (found.searched, found.on_service)
    };
    store.open_incident("g", &new_incident("a")).await.unwrap();
    assert_eq!(counts(&scope).await, (0, 0), "it still runs");
    let change = async |change: Change| {
        let changed = store.update(&scope, id(1), "u", at(9), &[change]).await;
        changed.unwrap();
    };
    change(Change::Status(Status::Resolved)).await;
    assert_eq!(counts(&elsewhere).await, (1, 1));
    change(Change::Service(Some("search".to_owned()))).await;
    assert_eq!(counts(&elsewhere).await, (1, 0));
    change(Change::Service(None)).await;
    assert_eq!(counts(&elsewhere).await, (1, 0));
    change(Change::Private(true)).await;
    assert_eq!(counts(&elsewhere).await, (0, 0));
    assert_eq!(counts(&scope).await, (1, 0));
    change(Change::Private(false)).await;
    put(&store, "g", entry(Some(5), past("x", Some("payments-api")))).await;
    put(&store, "g", entry(Some(5), past("y", Some("search")))).await;
    put(
        &store,
        "g2",
        entry(Some(5), past("z", Some("payments-api"))),
    )
    .await;
    assert_eq!(counts(&elsewhere).await, (2, 0));
    store.forget(&scope, id(5), signed()).await.unwrap();
    change(Change::Status(Status::Investigating)).await;
    assert_eq!(counts(&elsewhere).await, (0, 0));
}

async fn words_of_an_older_making_are_made_anew(home: &Home) {
    let store = home.store().await;
    let scope = Scope::public("g");
    for number in 1..=3 {
        let record = past(&format!("connections pooled {number}"), None);
        put(&store, "g", entry(Some(number), record)).await;
    }
    store.close().await;
    let pool = beside(home.url()).await;
    let mut statements = vec!["UPDATE words_version SET version = 1"];
    statements.extend(if home.is_postgres() {
        ["DELETE FROM incident_words", "DELETE FROM incident_terms"].as_slice()
    } else {
        ["INSERT INTO incident_words (incident_words) VALUES ('delete-all')"].as_slice()
    });
    for statement in statements {
        query(statement).execute(&pool).await.unwrap();
    }
    // Who only reads can't make them anew, and says so instead of finding nothing.
    let refused = Store::open_to_read(home.url()).await.unwrap_err();
    assert!(refused.to_string().contains("start the bot"), "{refused}");
    let store = home.store().await;
    let found = recall(&store, &scope, "connection pools", None).await;
    assert_eq!(found.candidates.len(), 3);
    for word in ["connection", "pool"] {
        assert_eq!(found.statistics.frequencies.get(word), Some(&3), "{word}");
    }
    store.close().await;
    Store::open_to_read(home.url()).await.unwrap();
}

async fn a_name_means_one_service(home: &Home) {
    let store = home.store().await;
    let full = Service {
        high_risk: vec!["billing".to_owned()],
        environments_apart: vec!["staging".to_owned()],
        ..service("payments-api", &["the till", "支付服务"])
    };
    store.set_service("g", &full).await.unwrap();
    store
        .set_service("g", &service("order-service", &[]))
        .await
        .unwrap();
    store
        .add_alias("g", "order-service", "orders")
        .await
        .unwrap();
    let registry = store.services("g").await.unwrap();
    assert_eq!(registry.get("payments-api"), Some(&full));
    assert_eq!(registry.resolve("orders"), Some("order-service"));
    assert_eq!(registry.resolve("支付服务"), Some("payments-api"));
    assert_eq!(store.services("other").await.unwrap().services, []);
    for (service_name, alias) in [
        ("order-service", "the till"),
        ("order-service", "payments-api"),
    ] {
        let error = store.add_alias("g", service_name, alias).await.unwrap_err();
        assert_eq!(
            error.to_string(),
            format!("{alias} already means payments-api")
        );
    }
    assert!(matches!(
        store.add_alias("g", "nobody", "x").await,
        Err(StoreError::NotFound)
    ));
    assert!(matches!(
        store.set_service("g", &service(" ", &[])).await,
        Err(StoreError::Invalid(_))
    ));
    assert!(matches!(
        store.set_service("g", &service("orders", &[])).await,
        Err(StoreError::Conflict(_))
    ));
    store
        .set_service("g", &service("payments-api", &["pay"]))
        .await
        .unwrap();
    let registry = store.services("g").await.unwrap();
    assert_eq!(registry.resolve("the till"), None);
    store.remove_service("g", "payments-api").await.unwrap();
    assert_eq!(store.services("g").await.unwrap().resolve("pay"), None);
}

// ---- recall ------------------------------------------------------------------------------------

async fn remembered(store: &Store) {
    let records = [
        (
            "gateway answers 503 under retries",
            "payments-api",
            "gateway rate limit on retries",
        ),
        ("支付服务数据库连接超时", "order-service", "连接池耗尽"),
        ("磁盘写满", "log-store", "日志未轮转"),
        (
            "HikariPool-1 connection is not available",
            "order-service",
            "pool exhausted",
        ),
        (
            "certificate expired on the edge",
            "edge",
            "renewal job failed",
        ),
        ("Mémoire pleine", "cache", "fuite"),
    ];
    for (number, (title, service, cause)) in (1..).zip(records) {
        let record = PastIncident {
            root_cause: cause.to_owned(),
            ..past(title, Some(service))
        };
        put(store, "g", entry(Some(number), record)).await;
    }
}

async fn recall_finds_english_code_and_chinese(home: &Home) {
    let store = home.store().await;
    remembered(&store).await;
    let scope = Scope::public("g");
    for (text, expected) in [
        (
            "we see 503 from the gateway",
            "gateway answers 503 under retries",
        ),
        ("超时", "支付服务数据库连接超时"),
        ("数据库 slow", "支付服务数据库连接超时"),
        ("磁盘", "磁盘写满"),
        ("hikari", "HikariPool-1 connection is not available"),
        ("证书 certificate", "certificate expired on the edge"),
        ("ＣＥＲＴＩＦＩＣＡＴＥ", "certificate expired on the edge"),
        ("memoire", "Mémoire pleine"),
        ("mémoire", "Mémoire pleine"),
        ("轮转", "磁盘写满"),
    ] {
        let found = recall(&store, &scope, text, None).await;
        assert_eq!(titles(&found).first(), Some(&expected), "{text}");
        assert_eq!(found.searched, 6);
    }
    let nothing = recall(&store, &scope, "unrelated zebra", None).await;
    assert_eq!((nothing.searched, titles(&nothing).len()), (6, 0));
    assert_eq!(
        recall(&store, &Scope::public("empty"), "503", None).await,
        Found::default()
    );
}

async fn the_same_service_is_a_prior_and_never_a_cut(home: &Home) {
    let store = home.store().await;
    remembered(&store).await;
    store
        .add_alias("g", "order-service", "bestellungen")
        .await
        .unwrap();
    let scope = Scope::public("g");
    for service in ["order-service", "OrderService", "bestellungen"] {
        let found = recall(&store, &scope, "certificate", Some(service)).await;
        assert_eq!(
            titles(&found),
            [
                "certificate expired on the edge",
                "HikariPool-1 connection is not available",
                "支付服务数据库连接超时",
            ],
            "{service}"
        );
        assert_eq!(found.on_service, 2);
    }
    let found = recall(&store, &scope, "certificate", Some("unheard-of")).await;
    assert_eq!((titles(&found).len(), found.on_service), (1, 0));
    // The own incident is never recalled, nor counted.
    let registry = Registry::default();
    let query = Query {
        guild: "g",
        channel: "",
        words: &tokens("certificate"),
        service: Some("edge"),
        registry: &registry,
        own: Some(id(5)),
        limit: 0,
        meaning: "",
    };
    let found = home.memory(&store).recall(&query).await.unwrap();
    assert_eq!(
        (found.candidates.len(), found.searched, found.on_service),
        (0, 5, 0)
    );
}

async fn what_may_not_be_seen_never_crowds_out_what_may(home: &Home) {
    let store = home.store().await;
    let hidden = |n: u32| Entry {
        private_to: Some("elsewhere".to_owned()),
        ..entry(Some(n), past("certificate certificate expired", None))
    };
    let mut entries: Vec<Entry> = (1..=300).map(hidden).collect();
    entries.push(entry(
        Some(400),
        past(
            "a long title with many words, one of them certificate",
            None,
        ),
    ));
    store.put_past("g", &entries, at(0), true).await.unwrap();
    let found = recall(&store, &Scope::public("g"), "certificate", None).await;
    assert_eq!((found.searched, found.candidates.len()), (1, 1));
    let found = recall(&store, &Scope::new("g", "elsewhere"), "certificate", None).await;
    assert_eq!((found.searched, found.candidates.len()), (301, 32));
    let found = recall(&store, &Scope::public("g2"), "certificate", None).await;
    assert_eq!(found, Found::default());
}

async fn no_text_is_a_syntax_error_in_recall(home: &Home) {
    let store = home.store().await;
    remembered(&store).await;
    let scope = Scope::public("g");
    let memory = home.memory(&store);
    let registry = Registry::default();
    for word in [
        "\"",
        "\"\"",
        "a\"b",
        "AND",
        "OR",
        "NOT",
        "NEAR(a b)",
        "*",
        "a*",
        "^a",
        "title:",
        "{a}",
        "(",
        ")",
        "a AND (",
        "-",
        "+",
        ";",
        "'; DROP TABLE incident; --",
        "\0",
        "a\0b",
        "\u{202e}",
        "_",
        "%",
        "💥",
        "\\",
        "guild",
        "g67",
        "",
        " ",
    ] {
        let words = vec![word.to_owned(), "certificate".to_owned()];
        let query = Query {
            guild: "g",
            channel: "",
            words: &words,
            service: Some(word),
            registry: &registry,
            own: None,
            limit: 0,
            meaning: "",
        };
        let found = memory.recall(&query).await.unwrap();
        assert_eq!(
            titles(&found).first(),
            Some(&"certificate expired on the edge"),
            "{word:?}"
        );
        // Nor does a guild's name break out of its place.
        let query = Query {
            guild: word,
            ..query
        };
        assert_eq!(memory.recall(&query).await.unwrap().searched, 0);
    }
    let megabyte = "certificate 证书 \"quoted\" OR ".repeat(40_000);
    let found = recall(&store, &scope, &megabyte, None).await;
    assert_eq!(
        titles(&found).first(),
        Some(&"certificate expired on the edge")
    );
}

async fn a_hostile_record_is_stored_and_found(home: &Home) {
    let store = home.store().await;
    let scope = Scope::public("g");
    let nasty = PastIncident {
        symptoms: vec!["x ".repeat(500_000), "nul \0 inside".to_owned()],
        root_cause: "'\"; DROP TABLE incident; -- \u{202e}".to_owned(),
        prevention: "{{}} \\u0000 \\".to_owned(),
        ..past("quoted \"AND\" ' title\0", Some("sv\0c"))
    };
    put(&store, "g", entry(Some(3), nasty.clone())).await;
    let back = store.incident(&scope, id(3)).await.unwrap().past;
    assert_eq!(back.title, "quoted \"AND\" ' title");
    assert_eq!(back.symptoms[0].len(), 1_000_000);
    assert_eq!(back.symptoms[1], "nul  inside");
    assert_eq!(back.root_cause, nasty.root_cause);
    assert_eq!(back.prevention, nasty.prevention);
    assert_eq!(back.service.as_deref(), Some("svc"));
    let found = recall(&store, &scope, "quoted title", None).await;
    assert_eq!(found.candidates.len(), 1);
}

// ---- import and export -------------------------------------------------------------------------

async fn bring(store: &Store, lines: &str, strict: bool) -> ImportReport {
    let redact = |text: &str| text.replace("hunter2", "[REDACTED]");
    let options = ImportOptions {
        now: at(0),
        redact: &redact,
        strict,
    };
    import(store, "g", lines.as_bytes(), options, |_| {})
        .await
        .unwrap()
}

async fn take(store: &Store, whose: Whose<'_>) -> String {
    let mut out = Vec::new();
    export(store, whose, &mut out).await.unwrap();
    String::from_utf8(out).unwrap()
}

const LINES: &str = r##"{"id": 12, "title": "gateway 503", "service": "payments-api", "started_at": "2026-05-14T03:00:00Z", "resolved_at": "2026-05-14T03:41:00.5Z", "symptoms": ["503"], "error_signatures": "429 Too Many Requests", "root_cause": "rate limit", "fix": "raise it", "outcome": "verified", "ruled_out": ["pool"], "prevention": "alert", "source": "postmortem"}
{"id": "#7", "title": "password hunter2 in the log", "attempts": [{"fix": "rotate hunter2", "outcome": "no_effect", "at": "2026-05-15", "by": "alice", "environment": "prod", "note": "hunter2"}, {"fix": "restart", "outcome": "held"}], "duplicate_of": "INC-12", "parent": 12, "cause_confirmed": true, "root_cause": "hunter2"}
not json
{"title": "no id", "service": "Payments API", "mood": "bad"}

{"id": 9, "title": "private", "private_to": "c9", "service": "vault"}
{"id": 10}
"##;

async fn a_bad_line_costs_itself_alone(home: &Home) {
    let store = home.store().await;
    let refused = bring(&store, LINES, true).await;
    assert!(refused.refused && refused.added == 0 && refused.failed == 2);
    assert_eq!(store.records_for_operator("g", None, 10).await.unwrap(), []);

    let report = bring(&store, LINES, false).await;
    assert_eq!((report.added, report.replaced, report.failed), (4, 0, 2));
    assert_eq!(
        report.failures,
        [
            (3, "it is not JSON (column 2)".to_owned()),
            (7, "it has no title".to_owned())
        ]
    );
    assert_eq!(report.unknown_keys, [("mood".to_owned(), 1)].into());
    assert_eq!(report.numbers, Some((id(7), id(13))));
    // Services are registered, by one name each; a private record's is not.
    let registry = store.services("g").await.unwrap();
    let names: Vec<&str> = registry.services.iter().map(|s| s.name.as_str()).collect();
    assert_eq!(names, ["payments-api"]);
    let without_id = store.incident(&Scope::public("g"), id(13)).await.unwrap();
    assert_eq!(without_id.past.service.as_deref(), Some("payments-api"));
    // Nothing unredacted was stored.
    assert!(!take(&store, Whose::Operator("g")).await.contains("hunter2"));
}

async fn an_import_twice_is_an_import_once(home: &Home) {
    let store = home.store().await;
    bring(&store, LINES, false).await;
    let first = take(&store, Whose::Operator("g")).await;
    let again = bring(&store, LINES, false).await;
    assert_eq!((again.added, again.replaced), (0, 4));
    assert_eq!(take(&store, Whose::Operator("g")).await, first);
    // An open incident is not overwritten by a line with its number.
    store.open_incident("g", &new_incident("a")).await.unwrap();
    let open = bring(&store, r#"{"id": 14, "title": "mine"}"#, false).await;
    assert_eq!(
        open.failures,
        [(1, "an incident with this id is still open".to_owned())]
    );
    let strict = bring(
        &store,
        "{\"id\": 20, \"title\": \"good\"}\n{\"id\": 14, \"title\": \"mine\"}",
        true,
    )
    .await;
    assert!(strict.refused && strict.added == 0);
    assert!(store.incident(&Scope::public("g"), id(20)).await.is_err());
}

async fn export_and_import_lose_nothing(home: &Home) {
    let store = home.store().await;
    bring(&store, LINES, false).await;
    let out = take(&store, Whose::Operator("g")).await;
    assert_eq!(out.lines().count(), 4);
    let elsewhere = home.another().await;
    let other = elsewhere.store().await;
    let report = bring(&other, &out, true).await;
    assert_eq!((report.added, report.failed), (4, 0));
    assert_eq!(take(&other, Whose::Operator("g")).await, out);
    assert_eq!(
        other.records_for_operator("g", None, 10).await.unwrap(),
        store.records_for_operator("g", None, 10).await.unwrap()
    );
    // Who exports from a channel gets what may be seen from there.
    let scope = Scope::public("g");
    let seen = take(&store, Whose::Scope(&scope)).await;
    assert_eq!(seen.lines().count(), 3);
    assert!(!seen.contains("private"));
    let scope = Scope::new("g", "c9");
    assert_eq!(take(&store, Whose::Scope(&scope)).await, out);
}

async fn an_incident_that_was_lived_through_comes_back_whole(home: &Home) {
    let store = home.store().await;
    let scope = Scope::new("g", "c1");
    let opened = store.open_incident("g", &new_incident("a")).await.unwrap();
    let id = opened.id();
    let change = |by: &'static str, ms: i64, changes: Vec<Change>| {
        let (store, scope) = (&store, &scope);
        async move { store.update(scope, id, by, at(ms), &changes).await.unwrap() }
    };
    let impact = Impact {
        who: "customers who pay by card".into(),
        how_many: "about 8 %".into(),
        data: "none lost".into(),
        ..Impact::default()
    };
    change("alice", 1_000, vec![Change::Severity(Severity::Sev2)]).await;
    change("alice", 2_000, vec![Change::Impact(Box::new(impact))]).await;
    change("bob", 3_000, vec![Change::Lead(Some("7:bob".into()))]).await;
    change("bob", 4_000, vec![Change::CommsLead(Some("8:chen".into()))]).await;
    let detected = Change::Time {
        moment: Moment::Detected,
        at: Some(at(500)),
    };
    change("bob", 5_000, vec![detected]).await;
    for (key, fix) in [
        ("1/0", "raise the pool"),
        ("1/1", "restart"),
        ("1/2", "stop the job"),
    ] {
        let attempt = FixAttempt {
            by: "alice".into(),
            at: Some(at(6_000)),
            ..FixAttempt::new(fix, Outcome::Mitigated)
        };
        store
            .record_attempt(&scope, id, key, &attempt, at(6_000))
            .await
            .unwrap();
    }
    // What was taken back stood before and between what counts.
    for seq in [1, 3] {
        store
            .withdraw_attempt(&scope, id, seq, "alice", at(7_000))
            .await
            .unwrap();
    }
    store
        .confirm_cause(&scope, id, "the job", "bob", at(8_000))
        .await
        .unwrap();
    change("bob", 9_000, vec![Change::Status(Status::Mitigated)]).await;
    change("bob", 10_000, vec![Change::Status(Status::Closed)]).await;
    change("bob", 11_000, vec![Change::PreventionDone(true)]).await;
    let none = store.open_incident("g", &new_incident("b")).await.unwrap();
    store
        .set_status(&scope, none.id(), Status::FalseAlarm, "bob", at(12_000))
        .await
        .unwrap();
    // Still open: it is not exported.
    store.open_incident("g", &new_incident("c")).await.unwrap();

    let out = take(&store, Whose::Operator("g")).await;
    assert_eq!(out.lines().count(), 2);
    let elsewhere = home.another().await;
    let other = elsewhere.store().await;
    for (added, replaced) in [(2, 0), (0, 2)] {
        let report = bring(&other, &out, true).await;
        assert_eq!(
            (report.added, report.replaced),
            (added, replaced),
            "{report:?}"
        );
        assert_eq!(report.unknown_keys, [].into());
        assert_eq!(take(&other, Whose::Operator("g")).await, out);
    }
    let ids = [id, none.id()];
    assert_eq!(
        other.courses("g", &ids).await.unwrap(),
        store.courses("g", &ids).await.unwrap()
    );
    let public = Scope::public("g");
    for id in ids {
        let (was, is) = (
            store.incident_of_guild("g", id).await.unwrap().unwrap(),
            other.incident(&public, id).await.unwrap(),
        );
        assert_eq!(is.past, was.past);
        assert_eq!(is.course(), was.course());
        assert_eq!(is.times(), was.times());
        assert_eq!(
            other.history(&public, id).await.unwrap(),
            store.history(&scope, id).await.unwrap()
        );
        let kept = |attempts: Vec<precedent::store::Attempt>| -> Vec<_> {
            let all = attempts.into_iter();
            all.map(|it| (it.seq, it.fix, it.withdrawn)).collect()
        };
        assert_eq!(
            kept(other.attempts(&public, id).await.unwrap()),
            kept(store.attempts(&scope, id).await.unwrap())
        );
    }
    assert_eq!(
        other.incident(&public, ids[1]).await.unwrap().status,
        Status::FalseAlarm
    );
    // A history that was written here is not replaced, and a line without a word changes nothing.
    let forged = format!(
        r#"{{"id": {}, "title": "503s", "events": [{{"at": "2020-01-01", "by": "mallory", "what": "opened"}}]}}"#,
        id.number()
    );
    bring(&other, &forged, true).await;
    let kept = other.incident(&public, id).await.unwrap();
    assert_eq!(
        (kept.status, kept.severity),
        (Status::Closed, Some(Severity::Sev2))
    );
    assert_eq!(
        other.history(&public, id).await.unwrap(),
        store.history(&scope, id).await.unwrap()
    );
}

// ---- many at once ------------------------------------------------------------------------------

async fn many_writers_and_readers_at_once(home: &Home) {
    let store = home.store().await;
    // A second process would be another store on the same file.
    let second = home.store().await;
    let mut tasks = tokio::task::JoinSet::new();
    for n in 0..200 {
        let store = if n % 2 == 0 { &store } else { &second }.clone();
        tasks.spawn(async move {
            let scope = Scope::new("g", "c1");
            let incident = store
                .open_incident("g", &new_incident(&format!("i{n}")))
                .await?;
            store
                .update(
                    &scope,
                    incident.id(),
                    "u",
                    at(n),
                    &[Change::Title(format!("number {n}"))],
                )
                .await?;
            store.list(&scope, &Filter::default()).await?;
            Ok::<_, StoreError>(incident.id())
        });
    }
    let mut numbers = std::collections::BTreeSet::new();
    while let Some(done) = tasks.join_next().await {
        numbers.insert(done.unwrap().unwrap().number());
    }
    assert_eq!(numbers, (1..=200).collect());
    store.check_integrity().await.unwrap();
}

// ---- figures -----------------------------------------------------------------------------------

/// Words as an ops team writes them: few very often, many rarely.
struct Words(u64);

impl Words {
    fn next(&mut self) -> u64 {
        // xorshift: the same figures on every run.
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    fn word(&mut self) -> String {
        const COMMON: &[&str] = &[
            "error",
            "timeout",
            "service",
            "requests",
            "connection",
            "failed",
            "after",
            "deploy",
            "latency",
            "pods",
            "restart",
            "database",
            "queue",
            "memory",
            "pool",
            "upstream",
            "503",
            "超时",
            "数据库",
            "连接",
            "重启",
            "磁盘",
            "证书",
            "回滚",
        ];
        let roll = self.next();
        if roll.is_multiple_of(3) {
            let at = usize::try_from(self.next() % COMMON.len() as u64).unwrap();
            COMMON[at].to_owned()
        } else {
            // The square makes low numbers frequent.
            let unit = (self.next() % 10_000) as f64 / 10_000.0;
            format!("w{}x", (unit * unit * 8_000.0) as u64)
        }
    }

    fn sentence(&mut self, words: usize) -> String {
        let words: Vec<String> = (0..words).map(|_| self.word()).collect();
        words.join(" ")
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "figures: cargo test --release --test it figures -- --ignored --nocapture"]
async fn figures_of_import_and_recall() {
    let count: u32 = std::env::var("PRECEDENT_INCIDENTS")
        .ok()
        .and_then(|count| count.parse().ok())
        .unwrap_or(10_000);
    let home = Home::usual().await;
    let store = home.store().await;
    let mut words = Words(88_172_645_463_325_252);
    let mut lines = String::new();
    for n in 1..=count {
        let line = serde_json::json!({
            "id": n,
            "title": words.sentence(8),
            "service": format!("service-{}", words.next() % 60),
            "started_at": "2026-05-14T03:00:00Z",
            "resolved_at": "2026-05-14T04:00:00Z",
            "symptoms": [words.sentence(15), words.sentence(15)],
            "error_signatures": [words.sentence(12)],
            "root_cause": words.sentence(20),
            "fix": words.sentence(10),
            "outcome": "held",
            "ruled_out": [words.sentence(6)],
        });
        lines.push_str(&line.to_string());
        lines.push('\n');
    }
    let began = std::time::Instant::now();
    let report = bring(&store, &lines, false).await;
    println!(
        "import of {} incidents: {:?}",
        report.added,
        began.elapsed()
    );
    let mut times = Vec::new();
    let mut candidates = 0;
    for _ in 0..200 {
        let text = words.sentence(60);
        let began = std::time::Instant::now();
        let found = recall(&store, &Scope::public("g"), &text, Some("service-7")).await;
        times.push(began.elapsed());
        candidates += found.candidates.len();
    }
    times.sort();
    println!(
        "recall over {count}: p50 {:?}, p95 {:?}, max {:?}, {} candidates on average",
        times[100],
        times[190],
        times[199],
        candidates / 200
    );
}

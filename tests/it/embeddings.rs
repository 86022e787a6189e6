//! Recall by meaning: the endpoint's answers, and vectors in each home of the store.

#![allow(clippy::unwrap_used)]

use crate::homes::{Home, in_every_home};
use jiff::Timestamp;
use precedent::incident::words::tokens;
use precedent::incident::{IncidentId, PastIncident, Registry};
use precedent::jobs::embed;
use precedent::memory::embeddings::{Embedder, EmbeddingsError, Times};
use precedent::memory::{Database, Found, Query};
use precedent::store::{Entry, Scope, Signed, Store};
use standin::embeddings::{DIMENSIONS, Embeddings, Manner};
use std::time::Duration;

fn at(seconds: i64) -> Timestamp {
    Timestamp::from_second(1_750_000_000 + seconds).unwrap()
}

fn id(number: u32) -> IncidentId {
    IncidentId::new(number).unwrap()
}

const QUICK: Times = Times {
    report: Duration::from_millis(500),
    batch: Duration::from_millis(500),
    rest: Duration::ZERO,
};

fn embedder(endpoint: &Embeddings, model: &str, times: Times) -> Embedder {
    Embedder::new(&endpoint.url(), None, model, times).unwrap()
}

async fn put(store: &Store, number: u32, title: &str, private_to: Option<&str>, second: i64) {
    let entry = Entry {
        id: Some(id(number)),
        past: PastIncident::new(id(number), title),
        private_to: private_to.map(str::to_owned),
    };
    let stored = store.put_past("g", &[entry], at(second), true).await;
    stored.unwrap();
}

async fn recall(memory: &Database, channel: &str, text: &str) -> Found {
    memory
        .recall(&Query {
            guild: "g",
            channel,
            words: &tokens(text),
            service: None,
            registry: &Registry::default(),
            own: None,
            limit: 0,
            meaning: text,
        })
        .await
        .unwrap()
}

fn numbers(found: &Found) -> Vec<u32> {
    found
        .candidates
        .iter()
        .map(|past| past.id.number())
        .collect()
}

/// What people say for one thing without a word in common.
const FULL: &[&str] = &["too many clients", "no session left", "连接数已满"];

in_every_home!(
    what_shares_no_word_is_found_by_its_meaning,
    a_vector_is_of_the_record_as_it_is_now,
    an_endpoint_that_fails_costs_nothing_but_itself,
);

async fn what_shares_no_word_is_found_by_its_meaning(home: &Home) {
    let endpoint = Embeddings::start(&[FULL]).await.unwrap();
    let store = home.store().await;
    put(&store, 1, "no session left", None, 0).await;
    put(&store, 2, "certificate expired at the edge", None, 0).await;
    put(&store, 3, "连接数已满", Some("secret"), 0).await;
    let embedder = embedder(&endpoint, "meanings", QUICK);
    assert_eq!(embed::pass(&store, &embedder, None).await.unwrap(), 3);
    assert_eq!(
        embed::pass(&store, &embedder, None).await.unwrap(),
        0,
        "once is enough"
    );
    assert_eq!(store.embedded("meanings").await.unwrap(), (3, 3));

    let words = Database::new(store.read_pool().clone());
    assert_eq!(
        numbers(&recall(&words, "", "too many clients").await),
        [] as [u32; 0]
    );
    let memory = words.with_embedder(Some(embedder));
    let found = recall(&memory, "", "too many clients").await;
    assert_eq!(
        found.candidates.first().map(|past| past.id.number()),
        Some(1)
    );
    assert!(
        !numbers(&found).contains(&3),
        "it is private to another channel"
    );
    let alike = |number| found.statistics.alike.get(&id(number)).copied().unwrap();
    assert!(
        alike(1) > 0.9 && alike(2) < 0.4,
        "{} {}",
        alike(1),
        alike(2)
    );
    let there = numbers(&recall(&memory, "secret", "too many clients").await);
    assert!(there.contains(&1) && there.contains(&3), "{there:?}");
    // What was asked of the endpoint is the records, the report each time, and once what it makes
    // of strangers.
    let texts = endpoint.texts();
    let reports = texts.iter().filter(|text| *text == "too many clients");
    assert_eq!(reports.count(), 2);
    assert_eq!(texts.len(), 3 + 2 + 6, "{texts:?}");
}

async fn a_vector_is_of_the_record_as_it_is_now(home: &Home) {
    let endpoint = Embeddings::start(&[FULL]).await.unwrap();
    let store = home.store().await;
    put(&store, 1, "no session left", None, 0).await;
    put(&store, 2, "disk full", None, 0).await;
    let first = embedder(&endpoint, "meanings", QUICK);
    embed::pass(&store, &first, None).await.unwrap();
    let memory = Database::new(store.read_pool().clone()).with_embedder(Some(first.clone()));
    let near = async |text: &str, number: u32| {
        let found = recall(&memory, "", text).await;
        found.statistics.alike.get(&id(number)).copied()
    };
    assert!(near("too many clients", 1).await.unwrap() > 0.9);

    // It is told otherwise: what it was is gone at once, and made anew.
    put(&store, 1, "lag of the replica", None, 9).await;
    assert_eq!(near("too many clients", 1).await, None);
    // One that was read before the change is not stored after it.
    let read = store.unembedded("meanings", None, 9).await.unwrap();
    put(&store, 1, "lag of the replica, again", None, 10).await;
    let stale: Vec<_> = read
        .into_iter()
        .map(|read| (read, vec![0, 0, 128, 63, 1]))
        .collect();
    store.put_vectors("meanings", &stale).await.unwrap();
    assert_eq!(store.embedded("meanings").await.unwrap(), (2, 1));
    assert_eq!(embed::pass(&store, &first, None).await.unwrap(), 1);
    assert!(near("too many clients", 1).await.unwrap() < 0.4);
    assert!(near("lag of the replica", 1).await.unwrap() > 0.8);

    // Forgotten is forgotten.
    let signed = Signed {
        by: "alice",
        at: at(11),
    };
    store
        .forget(&Scope::public("g"), id(2), signed)
        .await
        .unwrap();
    assert_eq!(near("disk full", 2).await, None);
    assert_eq!(store.embedded("meanings").await.unwrap(), (1, 1));

    // Another model is another space: nothing of the first is used, and all is made anew.
    let second = embedder(&endpoint, "other", QUICK);
    let other = memory.clone().with_embedder(Some(second.clone()));
    let found = recall(&other, "", "lag of the replica").await;
    assert!(found.statistics.alike.is_empty());
    assert_eq!(embed::pass(&store, &second, None).await.unwrap(), 1);
    let found = recall(&other, "", "lag of the replica").await;
    assert!(found.statistics.alike.contains_key(&id(1)));
}

async fn an_endpoint_that_fails_costs_nothing_but_itself(home: &Home) {
    let endpoint = Embeddings::start(&[FULL]).await.unwrap();
    let store = home.store().await;
    put(&store, 1, "no session left", None, 0).await;
    let embedder = embedder(&endpoint, "meanings", QUICK);
    embed::pass(&store, &embedder, None).await.unwrap();
    put(&store, 2, "disk full", None, 0).await;
    let memory = Database::new(store.read_pool().clone()).with_embedder(Some(embedder.clone()));
    for (manner, error) in [
        (Manner::Status(401), EmbeddingsError::BadKey),
        (Manner::Status(429), EmbeddingsError::Status(429)),
        (Manner::Status(500), EmbeddingsError::Status(500)),
        (Manner::OneShort, EmbeddingsError::Unreadable),
        (Manner::Garbage, EmbeddingsError::Unreadable),
        (Manner::Zeros, EmbeddingsError::Unreadable),
        (Manner::Hanging, EmbeddingsError::Timeout),
    ] {
        endpoint.answers(manner);
        assert_eq!(embedder.probe().await, Err(error), "{manner:?}");
        let by_words = recall(&memory, "", "session").await;
        assert_eq!(numbers(&by_words), [1], "{manner:?}");
        assert!(by_words.statistics.alike.is_empty(), "{manner:?}");
        embed::pass(&store, &embedder, None).await.unwrap_err();
        assert_eq!(
            store.embedded("meanings").await.unwrap(),
            (2, 1),
            "{manner:?}"
        );
    }
    endpoint.answers(Manner::Twice);
    let two = ["a".to_owned(), "b".to_owned()];
    assert_eq!(
        embedder.records(&two).await,
        Err(EmbeddingsError::Unreadable)
    );
    endpoint.answers(Manner::Well);
    assert_eq!(
        embed::pass(&store, &embedder, None).await.unwrap(),
        1,
        "it is caught up with"
    );
}

#[tokio::test]
async fn each_text_has_its_own_vector() {
    let endpoint = Embeddings::start(&[]).await.unwrap();
    let embedder = embedder(&endpoint, "meanings", QUICK);
    assert_eq!(embedder.probe().await, Ok(DIMENSIONS));
    let texts: Vec<String> = ["disk full", "", "lag", " ", "certificate expired"]
        .map(str::to_owned)
        .to_vec();
    let well = embedder.records(&texts).await.unwrap();
    endpoint.answers(Manner::OutOfOrder);
    assert_eq!(embedder.records(&texts).await.unwrap(), well);
    let empty: Vec<bool> = well.iter().map(Option::is_none).collect();
    assert_eq!(empty, [false, true, false, true, false]);
    // Many are asked in several calls.
    let many: Vec<String> = (0..100).map(|n| format!("text {n}")).collect();
    assert_eq!(embedder.records(&many).await.unwrap().len(), 100);
    assert_eq!(embedder.report("  ").await, Ok(None));
}

#[tokio::test]
async fn after_a_failure_it_is_left_alone_for_a_while() {
    let endpoint = Embeddings::start(&[]).await.unwrap();
    let times = Times {
        rest: Duration::from_secs(600),
        ..QUICK
    };
    let embedder = embedder(&endpoint, "meanings", times);
    endpoint.answers(Manner::Status(503));
    assert_eq!(
        embedder.report("a").await,
        Err(EmbeddingsError::Status(503))
    );
    let asked = endpoint.texts().len();
    endpoint.answers(Manner::Well);
    assert_eq!(embedder.report("a").await, Err(EmbeddingsError::Resting));
    assert_eq!(endpoint.texts().len(), asked, "nobody was asked");
}

#[test]
fn an_address_or_key_that_is_none() {
    for address in ["localhost:1", "ftp://x", ""] {
        let refused = Embedder::new(address, None, "m", Times::default());
        assert_eq!(
            refused.err(),
            Some(EmbeddingsError::BadAddress),
            "{address:?}"
        );
    }
    let key = secrecy::SecretString::from("a\nb");
    let refused = Embedder::new("http://127.0.0.1:1/v1", Some(&key), "m", Times::default());
    assert_eq!(refused.err(), Some(EmbeddingsError::BadKey));
}

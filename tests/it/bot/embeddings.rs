//! The same trouble in other words, where a model of meanings is configured.

use super::model::all_shown;
use super::{Given, Incident};
use crate::homes;
use precedent::jobs::embed;
use precedent::memory::embeddings::{Embedder, Times};
use precedent::store::Store;
use serde_json::{Value, json};
use standin::embeddings::{Embeddings, Manner};

const REPORT: &str = "orders-api: too many clients since 03:10, checkouts fail";

/// What people say for one thing without a word in common.
const FULL: &[&str] = &["too many clients", "no session left"];

/// Of the same service, without a word that the report has.
fn memory() -> Value {
    json!({
        "id": "INC-0007",
        "title": "no session left",
        "service": "orders-api",
        "resolved_at": "2026-05-14T03:21:00Z",
        "root_cause": "the nightly export opens one for each customer",
        "fix": "stop the nightly export",
        "outcome": "held",
    })
}

/// Everything that was ever shown for the report.
async fn shown(embeddings: Option<&Embeddings>, manner: Manner) -> String {
    let folder = tempfile::tempdir().expect("a folder");
    let url = homes::usual(folder.path()).await;
    let memory = [memory()];
    let mut incident = Incident::prepared(Given {
        memory: &memory,
        database_url: Some(url.clone()),
        embeddings,
        ..Given::default()
    })
    .await;
    if let Some(embeddings) = embeddings {
        // As the running bot does by and by.
        let store = Store::open(&url).await.expect("the store");
        let embedder = Embedder::new(&embeddings.url(), None, "meanings", Times::default());
        let made = embed::pass(&store, &embedder.expect("an endpoint"), None).await;
        assert_eq!(made.expect("vectors"), 1);
        store.close().await;
        embeddings.answers(manner);
    }
    incident.starts_bot(super::tuning(None)).await;
    let analyze = incident.analyze(REPORT).await;
    let thread = incident.thread(&analyze).await;
    incident.settled(thread).await;
    let shown = all_shown(&incident, &analyze, thread).await;
    incident.ends().await;
    shown
}

#[tokio::test]
async fn the_same_trouble_in_other_words_is_recalled() {
    let embeddings = Embeddings::start(&[FULL]).await.expect("a port");
    let shown = shown(Some(&embeddings), Manner::Well).await;
    assert!(shown.contains("INC-0007"), "{shown}");
    assert!(shown.contains("stop the nightly export"), "{shown}");
    assert!(
        embeddings
            .texts()
            .iter()
            .any(|text| text.contains("too many clients"))
    );
}

#[tokio::test]
async fn by_words_alone_it_is_not_and_that_is_said() {
    for manner in [None, Some(Manner::Status(500))] {
        let embeddings = Embeddings::start(&[FULL]).await.expect("a port");
        let asked = manner.map(|_| &embeddings);
        let shown = shown(asked, manner.unwrap_or_default()).await;
        assert!(!shown.contains("INC-0007"), "{manner:?}: {shown}");
        assert!(shown.contains("Nothing like this"), "{manner:?}: {shown}");
    }
}

#[tokio::test]
async fn secrets_never_go_to_the_endpoint() {
    let embeddings = Embeddings::start(&[]).await.expect("a port");
    let incident = Incident::begins(Given {
        embeddings: Some(&embeddings),
        memory: &[memory()],
        ..Given::default()
    })
    .await;
    let secret = "hunter2-correct-horse";
    let report = format!("orders-api fails. DATABASE_PASSWORD={secret}");
    let analyze = incident.analyze(&report).await;
    let thread = incident.thread(&analyze).await;
    incident.settled(thread).await;
    let texts = embeddings.texts().join("\n");
    assert!(texts.contains("orders-api fails"), "{texts}");
    assert!(!texts.contains(secret), "{texts}");
    incident.ends().await;
}

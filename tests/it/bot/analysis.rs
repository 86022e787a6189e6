//! `/analyze`, from what is typed to what is posted.

use super::{Given, Incident, REFUND_REPORT, refund_job};

#[tokio::test(flavor = "multi_thread")]
async fn a_report_with_a_proven_precedent_becomes_cards_checklist_and_update() {
    let incident = Incident::begins(Given {
        memory: &[
            refund_job(12, "2026-05-14", "held"),
            refund_job(41, "2026-09-23", "held"),
        ],
        ..Given::default()
    })
    .await;
    let report = incident.analyze(REFUND_REPORT).await;
    let thread = incident.thread(&report).await;
    let posts = incident.settled(thread).await;
    let headline = incident.headline(&report).await;
    println!("{}\n----", headline.to_text());
    for post in &posts {
        println!("{}\n----", post.to_text());
    }
    incident.ends().await;
}

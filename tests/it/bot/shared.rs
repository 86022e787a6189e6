//! The bot on PostgreSQL, and several of it on one database: one is on duty, the others stand by.
//!
//! These run wherever there is a server; `PRECEDENT_TEST_HOME=postgres` runs every conversation of
//! this folder there.

use super::durable::{Jobs, PATIENCE, Process, killed_at_in, posted_once, prepared_on, wait_until};
use super::isolation::recalls_its_own_in;
use super::opened::{Opened, model};
use super::{Given, REFUND_REPORT, analysis_answer, refund_job};
use crate::homes::postgres_database;
use precedent::incident::{IncidentId, Outcome};
use serde_json::json;
use std::time::{Duration, Instant};

#[tokio::test(flavor = "multi_thread")]
async fn a_report_is_answered_from_memory_and_remembered() {
    let Some(url) = postgres_database().await else {
        return;
    };
    let opened = Opened::with(
        Given {
            memory: &[
                refund_job(12, "2026-05-14", "held"),
                refund_job(41, "2026-09-23", "held"),
            ],
            model: Some(model(analysis_answer()).await),
            database_url: Some(url),
            ..Given::default()
        },
        json!({"report": REFUND_REPORT}),
    )
    .await;
    let headline = opened.at.headline(&opened.report).await;
    assert!(headline.shows("Seen 2x here"), "{headline}");
    let cards = opened.cards(1).await;
    assert!(cards.shows("INC-0041"), "{cards}");
    opened
        .press(opened.at.alice, &cards, "1 Trying this fix")
        .await;
    let cards = opened.cards(1).await;
    opened.press(opened.at.alice, &cards, "1 Worked").await;
    assert_eq!(opened.id(), IncidentId::new(42).expect("a number"));
    assert_eq!(opened.stored().await.past.outcome(), Outcome::Mitigated);
    opened.ends().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn servers_never_see_each_other() {
    if let Some(url) = postgres_database().await {
        recalls_its_own_in(Some(url)).await;
    }
}

macro_rules! killed {
    ($($name:ident: $step:literal;)*) => {
        $(
            #[tokio::test(flavor = "multi_thread")]
            async fn $name() {
                if let Some(url) = postgres_database().await {
                    let incident = prepared_on(Some(url), None).await;
                    killed_at_in(incident, $step).await.ends().await;
                }
            }
        )*
    };
}

killed! {
    killed_once_the_command_is_committed_and_before_it_is_acknowledged: "committed";
    killed_once_the_command_is_acknowledged: "acknowledged";
    killed_once_the_incident_has_its_number: "opened";
    killed_once_the_headline_stands: "headline";
    killed_once_the_thread_is_started: "thread";
    killed_once_the_analysis_has_begun: "begun";
    killed_once_the_answer_is_stored: "answered";
    killed_once_the_cards_are_posted: "cards";
    killed_once_the_checklist_is_posted: "checklist";
    killed_once_the_update_is_posted: "update";
    killed_once_all_is_posted_and_before_the_job_is_done: "finished";
}

#[tokio::test(flavor = "multi_thread")]
async fn a_second_process_stands_by_and_takes_over_when_the_first_is_killed() {
    let Some(url) = postgres_database().await else {
        return;
    };
    let incident = prepared_on(Some(url), None).await;
    let paused = incident.folder.path().join("paused");
    let first = Process::starts(&incident, Some(("cards", &paused)));
    incident.discord.gateway().connected().await;
    incident.discord.commands_registered(incident.guild).await;
    let second = Process::starts(&incident, None);
    let report = incident.analyze(REFUND_REPORT).await;
    wait_until("the cards to be posted", async || paused.exists()).await;
    let jobs = Jobs::of(&incident).await;
    let (attempts, _) = jobs.analysis().await;
    // The second has had time to come, and answers nothing.
    assert_eq!(identifies(&incident), 1, "one connection to Discord");
    first.kill();
    let killed = Instant::now();
    jobs.goes_on_after(attempts).await;
    let took = killed.elapsed();
    incident.discord.gateway().identified(2).await;
    eprintln!(
        "the second process went on {} ms after the kill, and was connected after {} ms",
        took.as_millis(),
        killed.elapsed().as_millis()
    );
    assert!(took < Duration::from_secs(5), "{took:?}");
    jobs.is_done().await;
    posted_once(&incident, &report).await;
    assert!(second.end().await.success());
    assert!(killed.elapsed() < PATIENCE);
    incident.ends().await;
}

fn identifies(incident: &super::Incident) -> usize {
    let acts = incident.discord.gateway().acts();
    acts.iter()
        .filter(|act| matches!(act, standin::gateway::ClientAct::Identify { .. }))
        .count()
}

//! The process: its size, its start, its memory, and how it goes on after it was killed.

use crate::bot::{PROGRAM, Server};
use crate::figures::{Row, Times, profile};
use crate::{Result, past};
use serde_json::json;
use standin::Change;
use standin::llm::{ChatModel, Reply};
use std::time::{Duration, Instant};
use tokio::sync::broadcast::Receiver;

/// The program's file, as `cargo bench` builds it: the release profile, stripped.
pub fn size() -> Result<Vec<Row>> {
    let bytes = std::fs::metadata(PROGRAM)?.len();
    Ok(vec![
        Row::new(
            "binary_mb",
            "the stripped program (10^6 bytes)",
            bytes as f64 / 1e6,
            "MB",
        )
        .goal(25.0),
    ])
}

fn rounds() -> u32 {
    if profile() == "debug" { 2 } else { 15 }
}

/// From starting the process to READY, with a past and with no database yet.
pub async fn start(server: &Server) -> Result<Vec<Row>> {
    let (mut with_past, mut fresh, mut least) =
        (Times::default(), Times::default(), Times::default());
    let known = server.copy("start")?;
    for _ in 0..rounds() {
        let new = server.empty("start-new")?;
        for (database, times) in [(&known, &mut with_past), (&new, &mut fresh)] {
            let started = Instant::now();
            let bot = server.spawn(database, None)?;
            server.discord.gateway().connected().await;
            times.add(started.elapsed());
            server.kill(bot).await?;
        }
        let started = Instant::now();
        let bot = server.least().await?;
        least.add(started.elapsed());
        server.kill(bot).await?;
    }
    Ok(vec![
        Row::millis(
            "ready_p50_ms",
            "start to READY, 10,000 incidents in memory, p50",
            with_past.percentile(50.0),
        )
        .goal(500.0),
        Row::millis(
            "ready_p95_ms",
            "start to READY, 10,000 incidents in memory, p95",
            with_past.percentile(95.0),
        )
        .goal(500.0),
        Row::millis(
            "fresh_ready_p50_ms",
            "start to READY, new database, p50",
            fresh.percentile(50.0),
        ),
        Row::millis(
            "fresh_ready_p95_ms",
            "start to READY, new database, p95",
            fresh.percentile(95.0),
        ),
        Row::millis(
            "least_ready_p50_ms",
            "the least bot, p50",
            least.percentile(50.0),
        ),
    ])
}

/// Memory of the waiting process, some seconds after READY.
pub async fn idle(server: &Server) -> Result<Vec<Row>> {
    // A time and not a condition: what is measured is that nothing happens.
    let quiet = Duration::from_secs(6);
    let bot = server.bot(&server.empty("idle-new")?, None).await?;
    tokio::time::sleep(quiet).await;
    let fresh = bot.resident()?;
    server.kill(bot).await?;

    let bot = server.bot(&server.copy("idle")?, None).await?;
    tokio::time::sleep(quiet).await;
    let with_past = bot.resident()?;
    for number in 0..20 {
        let headline = server.analyze(&past::report(number)).original().await;
        server.is_over(headline.id).await;
        server.is_called_off(headline.id).await;
    }
    tokio::time::sleep(quiet).await;
    let after_work = bot.resident()?;
    server.kill(bot).await?;

    let bot = server.least().await?;
    tokio::time::sleep(quiet).await;
    let least = bot.resident()?;
    server.kill(bot).await?;
    Ok(vec![
        Row::new(
            "resident_mib",
            "resident when idle, 10,000 incidents in memory",
            with_past,
            "MiB",
        )
        .goal(30.0),
        Row::new(
            "fresh_resident_mib",
            "resident when idle, new database",
            fresh,
            "MiB",
        )
        .goal(30.0),
        Row::new(
            "after_20_mib",
            "resident when idle again after 20 analyses",
            after_work,
            "MiB",
        ),
        Row::new(
            "least_resident_mib",
            "the least bot, resident when idle",
            least,
            "MiB",
        ),
    ])
}

/// Killed while the model is waited for, and started again at once.
pub async fn kill(server: &Server) -> Result<Vec<Row>> {
    let (mut first, mut cards) = (Times::default(), Times::default());
    for number in 0..rounds() {
        let database = server.copy("kill")?;
        let model = ChatModel::start().await;
        model.otherwise(Reply::hang());
        let bot = server.bot(&database, Some(&model)).await?;
        let interaction = server.analyze(&past::report(number));
        let headline = interaction.original().await;
        let thread = server.discord.await_thread(headline.id).await;
        model.seen(1).await;
        let mut changes = server.discord.events();
        let killed = Instant::now();
        server.kill(bot).await?;
        // After the kill the endpoint refuses: the rules answer, and no model's time is measured.
        model.otherwise(Reply::status(
            401,
            json!({"error": {"message": "no such key", "type": "invalid_request_error"}}),
        ));
        let bot = server.spawn(&database, Some(&model))?;
        first.add(went_on(&mut changes, killed).await?);
        // The progress message is edited into the cards, then the checklist follows.
        let posts = format!("/channels/{thread}/messages");
        server.discord.await_request("POST", &posts, 2).await;
        cards.add(killed.elapsed());
        server.is_over(headline.id).await;
        server.kill(bot).await?;
    }
    Ok(vec![
        Row::millis(
            "going_on_p50_ms",
            "SIGKILL and start to the first message written again, p50",
            first.percentile(50.0),
        ),
        Row::millis(
            "going_on_p100_ms",
            "SIGKILL and start to the first message written again, worst",
            first.percentile(100.0),
        )
        .goal(5000.0),
        Row::millis(
            "cards_p50_ms",
            "SIGKILL and start to the checklist after the cards, p50",
            cards.percentile(50.0),
        ),
        Row::millis(
            "cards_p100_ms",
            "SIGKILL and start to the checklist after the cards, worst",
            cards.percentile(100.0),
        )
        .goal(5000.0),
    ])
}

/// Until a message is written or edited by the process that came after.
async fn went_on(changes: &mut Receiver<Change>, killed: Instant) -> Result<Duration> {
    let writes = async {
        loop {
            let change = changes.recv().await?;
            if matches!(change.name, "MESSAGE_CREATE" | "MESSAGE_UPDATE") {
                return Ok(killed.elapsed());
            }
        }
    };
    tokio::time::timeout(Duration::from_secs(60), writes)
        .await
        .map_err(|_| "it did not go on within a minute")?
}

//! From the command to something useful: one `/analyze` after the other, with 10,000 incidents in
//! memory and without a model. Times are taken where the stand-in took the message.

use crate::bot::Server;
use crate::figures::{Row, Times, profile};
use crate::{Result, past};
use std::time::Instant;

pub async fn measure(server: &Server) -> Result<Vec<Row>> {
    let reports = if profile() == "debug" { 10 } else { 200 };
    let database = server.copy("first")?;
    let bot = server.bot(&database, None).await?;
    let mut cold = None;
    let (mut headlines, mut cards, mut ends) =
        (Times::default(), Times::default(), Times::default());
    for number in 0..=reports {
        let report = past::report(number);
        let started = Instant::now();
        let interaction = server.analyze(&report);
        let headline = interaction.original().await;
        let first = started.elapsed();
        let thread = server.discord.await_thread(headline.id).await;
        let posts = format!("/channels/{thread}/messages");
        server.discord.await_request("POST", &posts, 1).await;
        let shown = started.elapsed();
        server.is_over(headline.id).await;
        let over = started.elapsed();
        server.is_called_off(headline.id).await;
        if cold.is_none() {
            // The first of a process, whatever it still has to make ready.
            cold = Some(first);
            continue;
        }
        headlines.add(first);
        cards.add(shown);
        ends.add(over);
    }
    server.kill(bot).await?;
    Ok(vec![
        Row::millis(
            "headline_p50_ms",
            "/analyze to the headline with precedents, p50",
            headlines.percentile(50.0),
        ),
        Row::millis(
            "headline_p95_ms",
            "/analyze to the headline with precedents, p95",
            headlines.percentile(95.0),
        )
        .goal(150.0),
        Row::millis(
            "headline_cold_ms",
            "the same, first command of a process",
            cold.unwrap_or_default(),
        ),
        Row::millis(
            "cards_p50_ms",
            "/analyze to the cards, p50",
            cards.percentile(50.0),
        ),
        Row::millis(
            "cards_p95_ms",
            "/analyze to the cards, p95",
            cards.percentile(95.0),
        ),
        Row::millis(
            "all_p50_ms",
            "/analyze to the last message, p50",
            ends.percentile(50.0),
        ),
        Row::millis(
            "all_p95_ms",
            "/analyze to the last message, p95",
            ends.percentile(95.0),
        ),
    ])
}

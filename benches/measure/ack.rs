//! 200 commands at once: how long people wait for "thinking", beside the least bot.
//!
//! The two take turns against one stand-in; each is started, warmed with one command, and then gets
//! 200 `/analyze` at once. The stand-in takes the time of each from when it told the bot to when it
//! took the answer. The bot has 10,000 incidents in memory and begins to work on what it committed
//! meanwhile; the least bot has nothing else to do.

use crate::bot::{Bot, Server};
use crate::figures::{Row, Times, profile, ratio};
use crate::{Result, past};
use std::time::Duration;

const AT_ONCE: u32 = 200;
/// Odd, so that the middle of the rounds' ratios is one of them.
const ROUNDS: u32 = 7;
/// Discord's own limit.
const TOO_LATE: Duration = Duration::from_secs(3);

pub async fn measure(server: &Server) -> Result<Vec<Row>> {
    let rounds = if profile() == "debug" { 1 } else { ROUNDS };
    let (mut ours, mut least) = (Times::default(), Times::default());
    let (mut middle, mut tail) = (Vec::new(), Vec::new());
    for round in 0..rounds {
        let database = server.copy("ack")?;
        let bot = server.bot(&database, None).await?;
        let one = warm(server).await;
        server.is_over(one).await;
        let our_round = burst(server, round).await?;
        end(server, bot).await?;

        let bot = server.least().await?;
        server.analyze(&past::report(1)).response().await;
        let least_round = burst(server, round).await?;
        end(server, bot).await?;

        let of = |percent| {
            ratio(
                our_round.percentile(percent),
                least_round.percentile(percent),
            )
        };
        eprintln!(
            "  round {round}: {:?} / {:?} p50, {:?} / {:?} p99",
            our_round.percentile(50.0),
            least_round.percentile(50.0),
            our_round.percentile(99.0),
            least_round.percentile(99.0),
        );
        middle.push(of(50.0));
        tail.push(of(99.0));
        ours.extend(&our_round);
        least.extend(&least_round);
    }
    let p = |times: &Times, percent| times.percentile(percent);
    Ok(vec![
        Row::millis("p50_ms", "200 at once, acknowledged, p50", p(&ours, 50.0)),
        Row::millis("least_p50_ms", "the least bot, p50", p(&least, 50.0)),
        Row::millis("p99_ms", "200 at once, acknowledged, p99", p(&ours, 99.0)),
        Row::millis("least_p99_ms", "the least bot, p99", p(&least, 99.0)),
        Row::new(
            "ratio_p50",
            "p50 by the least's",
            ratio(p(&ours, 50.0), p(&least, 50.0)),
            "x",
        )
        .goal(1.2),
        Row::new(
            "ratio_p99",
            "p99 by the least's",
            ratio(p(&ours, 99.0), p(&least, 99.0)),
            "x",
        )
        .goal(1.2),
        Row::new(
            "round_ratio_p50",
            "p50 by the least's, middle of the rounds",
            median(middle),
            "x",
        ),
        Row::new(
            "round_ratio_p99",
            "p99 by the least's, middle of the rounds",
            median(tail),
            "x",
        ),
        Row::new("too_late", "later than 3 s", ours.over(TOO_LATE) as f64, "").goal(0.0),
    ])
}

async fn warm(server: &Server) -> standin::MessageId {
    server.analyze(&past::report(1)).original().await.id
}

async fn burst(server: &Server, round: u32) -> Result<Times> {
    let reports: Vec<String> = (0..AT_ONCE)
        .map(|number| past::report(round * AT_ONCE + number))
        .collect();
    let interactions: Vec<_> = reports
        .iter()
        .map(|report| server.analyze(report))
        .collect();
    let mut times = Times::default();
    for interaction in &interactions {
        interaction
            .try_response()
            .await
            .ok_or("a command was never answered")?;
        times.add(interaction.answered_after().ok_or("no time was taken")?);
    }
    Ok(times)
}

async fn end(server: &Server, bot: Bot) -> Result<()> {
    server.kill(bot).await
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied().unwrap_or_default()
}

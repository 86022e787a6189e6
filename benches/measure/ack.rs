//! 200 commands at once: how long people wait for "thinking", beside the least bot.
//!
//! Rounds: in each, both bots in an order left to chance, one after the other, against the same
//! stand-in, which forgets the sessions of the one before and is left alone until nothing goes on
//! in it any more. Each bot is started, warmed with one command, and then gets 200 `/analyze` at
//! once. Both are timed from the same points: from when the stand-in hands the event to the bot's
//! connection, to when the request with the acknowledgement arrives there. The bot has 10,000
//! incidents in memory and has to work on what it committed; the least bot has nothing else to do.
//! The figures are medians over the rounds, and so are the ratios, each of two bursts that followed
//! one another.

use crate::bot::Server;
use crate::figures::{Row, Times, profile, ratio};
use crate::{Result, past};
use std::hash::{BuildHasher, RandomState};
use std::time::Duration;

const AT_ONCE: u32 = 200;
/// Odd, so that the median is one of them.
const ROUNDS: u32 = 9;
/// Discord's own limit.
const TOO_LATE: Duration = Duration::from_secs(3);
/// The stand-in is quiet when nothing was asked of it for so long.
const QUIET: Duration = Duration::from_millis(500);

/// What one bot's round gave.
#[derive(Clone, Copy)]
struct Round {
    p50: Duration,
    p99: Duration,
    too_late: usize,
}

pub async fn measure(server: &Server) -> Result<Vec<Row>> {
    let rounds = if profile() == "debug" { 1 } else { ROUNDS };
    let chance = RandomState::new();
    let mut pairs = Vec::new();
    // The commands are the bot's; the least bot takes them as they stand.
    let first = server.bot(&server.copy("ack")?, None).await?;
    server.kill(first).await?;
    for round in 0..rounds {
        let (ours, least) = if chance.hash_one(round) % 2 == 0 {
            let ours = of_the_bot(server, round).await?;
            (ours, of_the_least(server, round).await?)
        } else {
            let least = of_the_least(server, round).await?;
            (of_the_bot(server, round).await?, least)
        };
        eprintln!(
            "  round {round}: {:?} / {:?} p50, {:?} / {:?} p99",
            ours.p50, least.p50, ours.p99, least.p99,
        );
        pairs.push((ours, least));
    }
    let time = |of: fn(&(Round, Round)) -> Duration| median(pairs.iter().map(of).collect());
    let by = |of: fn(&Round) -> Duration| {
        median(
            pairs
                .iter()
                .map(|(ours, least)| ratio(of(ours), of(least)))
                .collect(),
        )
    };
    let too_late: usize = pairs.iter().map(|(ours, _)| ours.too_late).sum();
    Ok(vec![
        Row::millis(
            "p50_ms",
            "200 at once, acknowledged, p50",
            time(|(ours, _)| ours.p50),
        ),
        Row::millis(
            "least_p50_ms",
            "the least bot, p50",
            time(|(_, least)| least.p50),
        ),
        Row::millis(
            "p99_ms",
            "200 at once, acknowledged, p99",
            time(|(ours, _)| ours.p99),
        ),
        Row::millis(
            "least_p99_ms",
            "the least bot, p99",
            time(|(_, least)| least.p99),
        ),
        Row::new(
            "ratio_p50",
            "p50 by the least's, median of the rounds",
            by(|round| round.p50),
            "x",
        )
        .goal(1.2),
        Row::new(
            "ratio_p99",
            "p99 by the least's, median of the rounds",
            by(|round| round.p99),
            "x",
        )
        .goal(1.2),
        Row::new("too_late", "later than 3 s", too_late as f64, "").goal(0.0),
    ])
}

async fn of_the_bot(server: &Server, round: u32) -> Result<Round> {
    let database = server.copy("ack")?;
    let bot = server.bot(&database, None).await?;
    let one = server.analyze(&past::report(1)).original().await.id;
    server.is_over(one).await;
    server.quiet(QUIET).await;
    let times = burst(server, round).await?;
    server.kill(bot).await?;
    Ok(times)
}

async fn of_the_least(server: &Server, round: u32) -> Result<Round> {
    let bot = server.least().await?;
    server.analyze(&past::report(1)).response().await;
    server.quiet(QUIET).await;
    let times = burst(server, round).await?;
    server.kill(bot).await?;
    Ok(times)
}

async fn burst(server: &Server, round: u32) -> Result<Round> {
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
    Ok(Round {
        p50: times.percentile(50.0),
        p99: times.percentile(99.0),
        too_late: times.over(TOO_LATE),
    })
}

fn median<T: PartialOrd + Copy + Default>(mut values: Vec<T>) -> T {
    values.sort_by(|a, b| a.partial_cmp(b).unwrap_or(std::cmp::Ordering::Equal));
    values.get(values.len() / 2).copied().unwrap_or_default()
}

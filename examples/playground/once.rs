//! One report, without a browser: the channel and its thread as text.

use super::stage::{Person, Stage};
use anyhow::{Context as _, bail};
use jiff::Timestamp;
use precedent::app::App;
use precedent::incident::Locale;
use serde_json::{Value, json};
use standin::{ChannelId, Response, UserId};
use std::time::Duration;

/// A model may take a minute and a half; a slow one is set with `LLM_TIMEOUT_SECONDS`, at most ten.
const LONGEST: Duration = Duration::from_secs(20 * 60);
/// How often the queue is asked whether it is done.
const LOOK: Duration = Duration::from_millis(50);

/// Reports as somebody who reads the language, waits until the bot has nothing left to do, and gives what
/// the channel and the thread show.
///
/// # Errors
///
/// Where the report is refused, or no analysis came.
pub async fn analyze(stage: &Stage, app: &App, report: &str) -> anyhow::Result<String> {
    let discord = &stage.discord;
    let reporter = reporter(stage, report).context("nobody is there to report")?;
    let asked = discord
        .try_slash(
            reporter,
            stage.incidents,
            "analyze",
            json!({"report": report}),
        )
        .map_err(anyhow::Error::msg)?;
    match asked.try_response().await {
        None => bail!("The bot did not answer /analyze in time."),
        Some(Response::Modal(_)) => {
            bail!("The report is empty: give one sentence about what is wrong.")
        }
        Some(_) => {}
    }
    tokio::time::timeout(LONGEST, done(app))
        .await
        .context("the analysis did not end in time")??;
    let mut text = vec![shown(stage, stage.incidents, reporter)];
    for thread in discord.threads(stage.incidents) {
        text.push(shown(stage, thread, reporter));
    }
    if text.len() < 2 {
        bail!("{}\nNo thread was started.", text.concat());
    }
    Ok(text.join("\n"))
}

async fn done(app: &App) -> anyhow::Result<()> {
    loop {
        let jobs = app.jobs().await?;
        if jobs.dead > 0 {
            bail!("The bot gave up: see what it logs with RUST_LOG=info.");
        }
        if jobs.due == 0 && jobs.running == 0 {
            return Ok(());
        }
        tokio::time::sleep(LOOK).await;
    }
}

/// Whoever reads the language of the report.
fn reporter(stage: &Stage, report: &str) -> Option<UserId> {
    let locale = Locale::of_text(report);
    let reads = |person: &&Person| Locale::from_discord(person.locale) == locale;
    let found = stage
        .people
        .iter()
        .find(reads)
        .or_else(|| stage.people.first());
    found.map(|person| person.id)
}

fn shown(stage: &Stage, channel: ChannelId, viewer: UserId) -> String {
    let name = stage.discord.channel_name(channel).unwrap_or_default();
    let mut text = format!("── {name} {}\n", "─".repeat(60));
    for post in stage.discord.posts_for(Some(viewer), channel) {
        let mut lines = Vec::new();
        part(&mut lines, "", &post.content);
        for embed in &post.embeds {
            let get = |path: &str| {
                embed
                    .pointer(path)
                    .and_then(Value::as_str)
                    .unwrap_or_default()
            };
            part(&mut lines, "│ ", get("/author/name"));
            part(&mut lines, "│ ", get("/title"));
            part(&mut lines, "│ ", get("/description"));
            for field in embed
                .get("fields")
                .and_then(Value::as_array)
                .into_iter()
                .flatten()
            {
                for key in ["name", "value"] {
                    part(
                        &mut lines,
                        "│ ",
                        field.get(key).and_then(Value::as_str).unwrap_or_default(),
                    );
                }
            }
            part(&mut lines, "│ ", get("/footer/text"));
            lines.push(String::new());
        }
        let buttons: Vec<String> = post
            .buttons()
            .iter()
            .map(|button| format!("[{}]", button.label))
            .collect();
        part(&mut lines, "", &buttons.join(" "));
        for select in post.selects() {
            part(&mut lines, "", &format!("[{} ▾]", select.placeholder));
        }
        for file in &post.files {
            part(&mut lines, "", &format!("📎 {}", file.name));
        }
        // The message a thread begins with has nothing of its own.
        if !lines.is_empty() {
            text.push_str(&format!(
                "\n{}:\n{}\n",
                post.author,
                lines.join("\n").trim_end()
            ));
        }
    }
    text
}

fn part(lines: &mut Vec<String>, indent: &str, markdown: &str) {
    if !markdown.is_empty() {
        lines.extend(
            plain(markdown)
                .lines()
                .map(|line| format!("{indent}{line}")),
        );
    }
}

/// Discord's Markdown without its marks: bold signs and escapes go, time stamps become times in UTC.
fn plain(markdown: &str) -> String {
    let mut out = String::new();
    let mut rest = markdown;
    while let Some(next) = rest.chars().next() {
        if let Some((stamp, after)) = time(rest) {
            out.push_str(&stamp);
            rest = after;
        } else if let Some(after) = rest.strip_prefix("**") {
            rest = after;
        } else {
            let mut letters = rest.chars();
            letters.next();
            match (next, letters.clone().next()) {
                ('\\', Some(escaped)) if escaped.is_ascii_punctuation() => {
                    letters.next();
                    out.push(escaped);
                }
                _ => out.push(next),
            }
            rest = letters.as_str();
        }
    }
    out
}

/// `<t:1715650200:R>` at the beginning, and what stands behind it.
fn time(text: &str) -> Option<(String, &str)> {
    let (inside, rest) = text.strip_prefix("<t:")?.split_once('>')?;
    let (seconds, style) = inside.split_once(':').unwrap_or((inside, "f"));
    let at = Timestamp::from_second(seconds.parse().ok()?).ok()?;
    let said = match style {
        "R" => {
            let days = Timestamp::now().duration_since(at).as_hours() / 24;
            if days > 0 {
                format!("{days} days ago")
            } else {
                at.strftime("%H:%M UTC").to_string()
            }
        }
        "t" | "T" => at.strftime("%H:%M UTC").to_string(),
        "d" | "D" => at.strftime("%-d %b %Y").to_string(),
        _ => at.strftime("%-d %b %Y %H:%M UTC").to_string(),
    };
    Some((said, rest))
}

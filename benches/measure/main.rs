//! Measures the bot, and prints a table and, as its last line, one JSON object of all figures.
//!
//!     cargo bench                      all figures
//!     cargo bench -- pipeline size     some of them
//!
//! Wanted: figures that a reader can take at their word. The bot is the built program, as its own
//! process, against the strict stand-in for Discord; time is taken where a person would wait for
//! it. Beside it stands a yardstick, the least bot that the same library can be (it defers, and
//! does nothing else), measured in the same run, in turns, by the same means. The load of the
//! machine is printed with the figures, because on two cores it decides them.
//!
//! | name | what is measured |
//! |---|---|
//! | `ack` | 200 `/analyze` at once: from when the bot was told to its acknowledgement |
//! | `first` | `/analyze` with 10,000 incidents in memory, no model: to the headline, the cards, the end |
//! | `pipeline` | the stages over 10,000 incidents, without model and REST |
//! | `memory` | 1,000 to 100,000 incidents: import, recall (beside plain full-text search), memory taken |
//! | `idle` | resident memory of the waiting process (`VmRSS`) |
//! | `start` | from starting the process to READY |
//! | `size` | the program's file |
//! | `kill` | `SIGKILL` while a model is waited for, start again: to the first message and the cards |
//!
//! Deliberately absent: thresholds that fail the run. A figure over its goal is marked, and it is
//! for people to judge on which machine that was.
#![allow(clippy::print_stdout, clippy::print_stderr)]

mod ack;
mod bot;
mod figures;
mod first;
mod least;
mod memory;
mod past;
mod pipeline;
mod process;

use bot::Server;
use figures::Row;
use std::process::ExitCode;

/// Each figure by its name, in the order in which they are taken: what leaves much behind in the
/// stand-in comes last.
const NAMES: &[&str] = &[
    "pipeline", "memory", "size", "start", "idle", "first", "kill", "ack",
];

/// What went wrong, for the person who measures.
type Result<T> = std::result::Result<T, Box<dyn std::error::Error + Send + Sync>>;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let runtime = match tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()
    {
        Ok(runtime) => runtime,
        Err(error) => {
            eprintln!("no runtime: {error}");
            return ExitCode::FAILURE;
        }
    };
    if let [least::ARGUMENT, url, token] = arguments
        .iter()
        .map(String::as_str)
        .collect::<Vec<_>>()
        .as_slice()
    {
        return match runtime.block_on(least::run(url, token)) {
            Ok(()) => ExitCode::SUCCESS,
            Err(error) => {
                eprintln!("the least bot ended: {error}");
                ExitCode::FAILURE
            }
        };
    }
    // `cargo bench` says so; anything else (all targets run as tests) asks for nothing.
    let asked = arguments.iter().any(|argument| argument == "--bench");
    let names: Vec<&str> = arguments
        .iter()
        .map(String::as_str)
        .filter(|argument| *argument != "--bench")
        .collect();
    if let Some(unknown) = names.iter().find(|name| !NAMES.contains(name)) {
        eprintln!(
            "there is no figure named {unknown}; there are {}",
            NAMES.join(", ")
        );
        return ExitCode::FAILURE;
    }
    if names.is_empty() && !asked {
        eprintln!("usage: cargo bench [-- NAME...], of {}", NAMES.join(", "));
        return ExitCode::SUCCESS;
    }
    match runtime.block_on(measure(&names)) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("could not measure: {error}");
            ExitCode::FAILURE
        }
    }
}

async fn measure(names: &[&str]) -> Result<()> {
    let before = figures::load();
    let server = Server::start().await?;
    let mut rows: Vec<Row> = Vec::new();
    for name in NAMES {
        if !names.is_empty() && !names.contains(name) {
            continue;
        }
        eprintln!("measuring {name} (load {})", figures::load());
        let measured = match *name {
            "pipeline" => pipeline::measure(&server).await,
            "memory" => memory::measure().await,
            "size" => process::size(),
            "start" => process::start(&server).await,
            "idle" => process::idle(&server).await,
            "first" => first::measure(&server).await,
            "kill" => process::kill(&server).await,
            _ => ack::measure(&server).await,
        };
        let measured = measured.map_err(|error| format!("{name}: {error}"))?;
        rows.extend(measured.into_iter().map(|row| row.of(name)));
    }
    // serenity's own way of deferring, which the least bot goes.
    server
        .discord
        .forgive("unknown key data.attachments of a deferral");
    for violation in server.discord.violations().iter().take(10) {
        eprintln!("the stand-in complains: {violation}");
    }
    figures::print(&rows, &before, &figures::load());
    Ok(())
}

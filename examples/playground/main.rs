//! The whole bot on your own machine, without a Discord token and without a model's key.
//!
//!     cargo run --example playground                      # prints the address of a local page
//!     cargo run --example playground -- --once "REPORT"   # one analysis as text, without a browser
//!
//! It starts the stand-in for Discord, the bot against it over the real gateway, and a sample memory
//! in a temporary file. With a model configured (`LLM_BASE_URL`, `LLM_API_KEY`, ... as for the bot)
//! the model is asked; without one the rule-based engine answers and says so. `RUST_LOG` shows what
//! the bot logs.
#![allow(clippy::print_stdout, clippy::print_stderr)]

mod once;
mod server;
mod stage;

use anyhow::Context as _;
use clap::Parser;
use precedent::app::App;
use precedent::config::Config;
use precedent::telemetry;
use server::Server;
use stage::Stage;
use std::io::{ErrorKind, Write as _};
use std::process::ExitCode;
use std::time::Duration;
use tokio::signal::unix::{SignalKind, signal};

/// How long the bot may take to finish what it does when it is told to stop.
const GOODBYE: Duration = Duration::from_secs(5);

#[derive(Parser)]
#[command(about = "The bot on your own machine, against a stand-in for Discord")]
struct Arguments {
    /// Analyze this report without a browser: prints the channel and the thread as text
    #[arg(long, value_name = "REPORT")]
    once: Option<String>,
    /// The port of the local page; any free one where not given
    #[arg(long, default_value_t = 0)]
    port: u16,
}

#[tokio::main]
async fn main() -> ExitCode {
    match run(Arguments::parse()).await {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error:#}");
            ExitCode::FAILURE
        }
    }
}

async fn run(arguments: Arguments) -> anyhow::Result<()> {
    let stage = Stage::set().await?;
    let mut config = stage.config(|name| std::env::var(name).ok())?;
    if std::env::var_os("RUST_LOG").is_none() {
        "error".clone_into(&mut config.log.filter);
    }
    telemetry::start(&config.log, precedent::discord::LOG_DIRECTIVES);
    let mut app = stage.bot(&config).await?;
    let done = match arguments.once {
        Some(report) => once::analyze(&stage, &app, &report)
            .await
            .and_then(|text| print(&text)),
        None => page(&stage, &mut app, &config, arguments.port).await,
    };
    app.stop(GOODBYE).await;
    for broken in stage.discord.violations() {
        eprintln!("The bot broke a rule of Discord: {broken}");
    }
    done
}

async fn page(stage: &Stage, app: &mut App, config: &Config, port: u16) -> anyhow::Result<()> {
    let server = Server::bind(stage, engine(config), port)
        .await
        .with_context(|| format!("port {port} can't be used"))?;
    println!("Precedent plays at http://{}", server.address);
    println!("{} Ctrl+C ends it and forgets everything.", engine(config));
    let mut terminate = signal(SignalKind::terminate()).context("signals can't be heard")?;
    tokio::select! {
        served = server.serve() => served.context("the page can't be served"),
        gone = app.gave_up() => gone.context("the bot has stopped"),
        _ = terminate.recv() => Ok(()),
        stopped = tokio::signal::ctrl_c() => stopped.context("Ctrl+C can't be heard"),
    }
}

/// A reader that has read enough, such as `head`, is no failure.
fn print(text: &str) -> anyhow::Result<()> {
    match writeln!(std::io::stdout(), "{text}") {
        Err(error) if error.kind() != ErrorKind::BrokenPipe => {
            Err(error).context("the text can't be printed")
        }
        _ => Ok(()),
    }
}

/// Which engine answers, in a sentence.
fn engine(config: &Config) -> String {
    match &config.model {
        Some(model) => format!("All of it runs on this machine with made-up memories, except the model: {} at {}.", model.model, model.base_url),
        None => "All of it runs on this machine with made-up memories; no model is configured, so the rule-based engine answers.".to_owned(),
    }
}

//! The program: configuration, telemetry, then the command.

use clap::{Parser, Subcommand};
use precedent::app::{self, App, GaveUp, StartError};
use precedent::cli::{self, Analyze, Import};
use precedent::config::Config;
use precedent::incident::{Locale, Severity};
use precedent::telemetry;
use std::io::Write as _;
use std::process::ExitCode;

/// A Discord bot for the incident channel: every claim is checked in code before it is shown.
///
/// Without a command it runs the bot. Everything is configured by the environment; the README has
/// the table.
#[derive(Parser)]
#[command(name = "precedent", version)]
struct Arguments {
    #[command(subcommand)]
    command: Option<Command>,
}

#[derive(Subcommand)]
enum Command {
    /// Analyse a report from a file without Discord; nothing is written to memory
    Analyze {
        /// The file, or - for standard input
        file: String,
        /// The service that the report is about
        #[arg(long, value_name = "NAME")]
        service: Option<String>,
        /// The severity, where you know it: SEV1 to SEV4
        #[arg(long, value_parser = severity)]
        severity: Option<Severity>,
        /// The guild whose memory is used [default: DISCORD_GUILD_ID, else local]
        #[arg(long, value_name = "ID")]
        guild: Option<String>,
        /// Print one JSON object: analysis, corrections, recalled, routing, engine, messages
        #[arg(long)]
        json: bool,
        /// Leave memory out of this run
        #[arg(long)]
        no_memory: bool,
        /// The language of the answer: en or zh-CN [default: the report's own]
        #[arg(long, value_parser = locale)]
        locale: Option<Locale>,
        /// Replay as of this time (RFC 3339) [default: now]
        #[arg(long, value_name = "TIME")]
        now: Option<jiff::Timestamp>,
    },
    /// Say whether configuration, database, commands, token, intents and model are in order
    Check,
    /// Replay your own incidents, each with only what was known before it; nothing is written
    Backtest {
        /// The guild whose incidents are replayed [default: DISCORD_GUILD_ID, else local]
        #[arg(long, value_name = "ID")]
        guild: Option<String>,
        /// Print one JSON object: the sums, and every incident
        #[arg(long)]
        json: bool,
    },
    /// What the team remembers
    Memory {
        #[command(subcommand)]
        command: MemoryCommand,
    },
}

#[derive(Subcommand)]
enum MemoryCommand {
    /// Import incidents: JSONL (one object a line, ids kept), or postmortems in Markdown
    Import {
        /// A JSONL file, a Markdown file, or a folder of Markdown files
        #[arg(value_name = "DIR|FILE.jsonl|FILE.md")]
        path: String,
        /// The guild to import to [default: DISCORD_GUILD_ID, else local]
        #[arg(long, value_name = "ID")]
        guild: Option<String>,
        /// Import nothing if a line is bad (JSONL)
        #[arg(long)]
        strict: bool,
        /// Tell what would be imported and what can't be read, and store nothing
        #[arg(long)]
        dry_run: bool,
    },
    /// Export all past incidents, private ones too, one JSON object a line
    Export {
        /// The JSONL file, or - for standard output
        file: String,
        /// The guild to export [default: DISCORD_GUILD_ID, else local]
        #[arg(long, value_name = "ID")]
        guild: Option<String>,
    },
}

/// How long jobs may go on after the signal; what is not done goes on at the next start.
const SHUTDOWN_PATIENCE: std::time::Duration = std::time::Duration::from_secs(8);

fn severity(text: &str) -> Result<Severity, String> {
    Severity::parse(text).ok_or_else(|| "one of SEV1, SEV2, SEV3, SEV4".to_owned())
}

fn locale(text: &str) -> Result<Locale, String> {
    match text.to_ascii_lowercase().as_str() {
        "en" => Ok(Locale::En),
        "zh" | "zh-cn" => Ok(Locale::Zh),
        _ => Err("en or zh-CN".to_owned()),
    }
}

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    let mut stderr = std::io::stderr();
    let config = match Config::from_env() {
        Ok(config) => config,
        Err(faults) => {
            let _ = writeln!(stderr, "The configuration has faults:\n{faults}");
            return ExitCode::from(2);
        }
    };
    telemetry::start(&config.log, precedent::discord::LOG_DIRECTIVES);
    let runtime = match tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()
    {
        Ok(runtime) => runtime,
        Err(error) => {
            let _ = writeln!(stderr, "The process can't start its threads: {error}");
            return ExitCode::FAILURE;
        }
    };
    match runtime.block_on(run(&config, arguments)) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            let _ = writeln!(stderr, "{error:#}");
            ExitCode::FAILURE
        }
    }
}

async fn run(config: &Config, arguments: Arguments) -> anyhow::Result<()> {
    let (mut out, mut log) = (std::io::stdout(), std::io::stderr());
    let guild_or_default = |guild: Option<String>| guild.unwrap_or_else(|| config.guild_key());
    match arguments.command {
        None => serve(config).await,
        Some(Command::Check) => {
            let fine = app::check(config, &mut |fine, text| {
                let mark = if fine { "ok  " } else { "FAIL" };
                let _ = writeln!(out, "{mark} {text}");
            })
            .await;
            if fine {
                Ok(())
            } else {
                anyhow::bail!("Something is not in order.")
            }
        }
        Some(Command::Analyze {
            file,
            service,
            severity,
            guild,
            json,
            no_memory,
            locale,
            now,
        }) => {
            let ask = Analyze {
                file,
                service,
                severity,
                guild: guild_or_default(guild),
                json,
                now,
                without_memory: no_memory,
                locale,
            };
            cli::analyze(config, &ask, &mut out, &mut log).await
        }
        Some(Command::Memory {
            command:
                MemoryCommand::Import {
                    path,
                    guild,
                    strict,
                    dry_run,
                },
        }) => {
            let ask = Import {
                path,
                guild: guild_or_default(guild),
                strict,
                dry_run,
            };
            cli::import(config, &ask, &mut out, &mut log).await
        }
        Some(Command::Backtest { guild, json }) => {
            cli::backtest(config, &guild_or_default(guild), json, &mut out, &mut log).await
        }
        Some(Command::Memory {
            command: MemoryCommand::Export { file, guild },
        }) => cli::export(config, &file, &guild_or_default(guild), &mut out, &mut log).await,
    }
}

/// Runs the bot until it is told to stop (Ctrl-C, SIGTERM) or gives up.
async fn serve(config: &Config) -> anyhow::Result<()> {
    let mut terminate = tokio::signal::unix::signal(tokio::signal::unix::SignalKind::terminate())?;
    let mut told = async || {
        tokio::select! {
            interrupted = tokio::signal::ctrl_c() => interrupted,
            _ = terminate.recv() => Ok(()),
        }
    };
    let mut relieved = false;
    loop {
        let started = tokio::select! {
            started = start(config, relieved) => started?,
            told = told() => return Ok(told?),
        };
        let mut app = started;
        tracing::info!(model = config.model.is_some(), "Precedent runs");
        let gave_up = tokio::select! {
            gave_up = app.gave_up() => Some(gave_up),
            told = told() => {
                told?;
                None
            }
        };
        match gave_up {
            None => {
                tracing::info!("stopping");
                app.stop(SHUTDOWN_PATIENCE).await;
                return Ok(());
            }
            Some(Err(GaveUp::Relieved)) => {
                tracing::warn!("no longer on duty; standing by");
                app.stop(std::time::Duration::from_secs(1)).await;
                relieved = true;
            }
            Some(Err(error)) => return Err(error.into()),
            Some(Ok(())) => anyhow::bail!("The gateway ended without a reason."),
        }
    }
}

/// Starts the bot. One that was on duty before waits for a database that is gone.
async fn start(config: &Config, again: bool) -> anyhow::Result<App> {
    loop {
        match App::start(config).await {
            Err(StartError::Store(error)) if again && error.is_transient() => {
                tracing::warn!(%error, "still waiting for the database");
                tokio::time::sleep(std::time::Duration::from_secs(3)).await;
            }
            started => return Ok(started?),
        }
    }
}

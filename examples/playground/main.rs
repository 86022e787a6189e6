//! The whole bot on your own machine, without a Discord token and without a model's key.
//!
//!     cargo run --example playground                      # prints the address of a local page
//!     cargo run --example playground -- --once "REPORT"   # one analysis as text, without a browser
//!
//! It starts the stand-in for Discord, the bot against it over the real gateway, and a sample memory
//! in a temporary file. With a model configured (`LLM_BASE_URL`, `LLM_API_KEY`, ... as for the bot)
//! the model is asked; without one the rule-based engine answers and says so.
#![allow(clippy::print_stdout, clippy::print_stderr)]

mod server;
mod stage;

use anyhow::Context as _;
use clap::Parser;
use server::Server;
use stage::Stage;

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
async fn main() -> anyhow::Result<()> {
    let arguments = Arguments::parse();
    let stage = Stage::set().await?;
    let config = stage.config(|name| std::env::var(name).ok())?;
    let server = Server::bind(&stage, "x".to_owned(), arguments.port).await?;
    println!("Open http://{}", server.address);
    println!("{} {}", stage.discord.url(), stage.discord.token());
    for c in ["incidents"] { println!("{:?}", stage.discord.find_channel(stage.guild, c)); }
    server.serve().await.context("the page can't be served")
}

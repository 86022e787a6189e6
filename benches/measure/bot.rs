//! The stand-in with 10,000 incidents remembered, and the bots as processes of their own.

use crate::{Result, least, past};
use precedent::jobs::remember::{self, ImportOptions};
use precedent::store::Store;
use serde_json::json;
use standin::llm::ChatModel;
use standin::{ChannelId, Discord, GuildId, Interaction, MessageId, UserId};
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;
use tokio::process::{Child, Command};

/// The built program.
pub const PROGRAM: &str = env!("CARGO_BIN_EXE_precedent");
/// Incidents in memory.
pub const REMEMBERED: u32 = 10_000;
/// Longest wait for a bot; also what an interaction may wait here, so that a late answer is
/// measured and not refused (how many were too late for Discord is counted).
const PATIENCE: Duration = Duration::from_secs(120);

/// A stand-in with a channel, somebody on call, and the database of a team with a past.
pub struct Server {
    pub discord: Discord,
    pub guild: GuildId,
    pub channel: ChannelId,
    pub alice: UserId,
    folder: tempfile::TempDir,
}

impl Server {
    /// Starts the stand-in and imports the past.
    pub async fn start() -> Result<Self> {
        let discord = Discord::start().await;
        discord.set_patience(PATIENCE);
        discord.set_response_limit(PATIENCE);
        let guild = discord.guild("acme");
        let channel = discord.channel(guild, "incidents");
        let alice = discord.member(guild, "alice");
        discord.set_message_content(true);
        let server = Self {
            folder: tempfile::tempdir()?,
            discord,
            guild,
            channel,
            alice,
        };
        server.remember().await?;
        Ok(server)
    }

    async fn remember(&self) -> Result<()> {
        let store = Store::open(&url_of(&self.past())).await?;
        let lines: String = (1..=REMEMBERED)
            .map(|number| format!("{}\n", past::incident(number)))
            .collect();
        let keep = |text: &str| text.to_owned();
        let options = ImportOptions {
            now: jiff::Timestamp::now(),
            redact: &keep,
            strict: true,
        };
        let guild = self.guild.to_string();
        let report = remember::import(&store, &guild, lines.as_bytes(), options, |_| ()).await?;
        store.close().await;
        if report.added != u64::from(REMEMBERED) {
            return Err(format!("not every incident was imported: {report:?}").into());
        }
        Ok(())
    }

    /// The database with the past. Bots get copies.
    pub fn past(&self) -> PathBuf {
        self.folder.path().join("past.db")
    }

    /// A copy of the database with the past.
    pub fn copy(&self, name: &str) -> Result<PathBuf> {
        let copy = self.empty(name)?;
        std::fs::copy(self.past(), &copy)?;
        Ok(copy)
    }

    /// Where no database is yet.
    pub fn empty(&self, name: &str) -> Result<PathBuf> {
        let folder = self.folder.path().join(name);
        if folder.exists() {
            std::fs::remove_dir_all(&folder)?;
        }
        std::fs::create_dir_all(&folder)?;
        Ok(folder.join("precedent.db"))
    }

    /// Alice types `/analyze`.
    pub fn analyze(&self, report: &str) -> Interaction {
        self.discord.slash(
            self.alice,
            self.channel,
            "analyze",
            json!({"report": report}),
        )
    }

    /// Waits until an analysis is over: the headline is brought up to date last.
    pub async fn is_over(&self, headline: MessageId) {
        let path = format!("/channels/{}/messages/{headline}", self.channel);
        self.discord.await_request("PATCH", &path, 1).await;
    }

    /// Calls off an incident whose analysis is over: the next report may resemble it, and is an
    /// incident of its own all the same.
    pub async fn is_called_off(&self, headline: MessageId) {
        let press = self.discord.click(self.alice, headline, "False alarm");
        press.response().await;
        let path = format!("/channels/{}/messages/{headline}", self.channel);
        self.discord.await_request("PATCH", &path, 2).await;
    }

    /// Starts the bot and waits until it is connected and its commands are there.
    pub async fn bot(&self, database: &Path, model: Option<&ChatModel>) -> Result<Bot> {
        let before = self.discord.registrations();
        let bot = self.spawn(database, model)?;
        self.discord.gateway().connected().await;
        while self.discord.registrations() == before {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
        Ok(bot)
    }

    /// Starts the bot.
    pub fn spawn(&self, database: &Path, model: Option<&ChatModel>) -> Result<Bot> {
        let mut command = Command::new(PROGRAM);
        command
            .env_clear()
            .env("DISCORD_TOKEN", self.discord.token())
            .env("DISCORD_API_URL", self.discord.url())
            .env("DATABASE_URL", url_of(database))
            .env("RUST_LOG", "error");
        if let Some(model) = model {
            command.env("LLM_BASE_URL", model.base_url());
        }
        Bot::run(command)
    }

    /// Starts the least bot and waits until it is connected.
    pub async fn least(&self) -> Result<Bot> {
        let mut command = Command::new(std::env::current_exe()?);
        command
            .env_clear()
            .arg(least::ARGUMENT)
            .arg(self.discord.url())
            .arg(self.discord.token());
        let bot = Bot::run(command)?;
        self.discord.gateway().connected().await;
        Ok(bot)
    }

    /// Waits until nothing was asked of the stand-in for so long.
    pub async fn quiet(&self, long: Duration) {
        let mut asked = self.discord.requests().len();
        loop {
            tokio::time::sleep(long).await;
            let now = self.discord.requests().len();
            if now == asked {
                return;
            }
            asked = now;
        }
    }

    /// Kills a bot and waits until the stand-in has noticed; it keeps nothing for its session.
    pub async fn kill(&self, mut bot: Bot) -> Result<()> {
        bot.child.kill().await?;
        self.discord.gateway().disconnected().await;
        self.discord.gateway().forget_sessions();
        self.discord.forget_unanswered();
        Ok(())
    }
}

/// A bot's process; it ends with this.
pub struct Bot {
    child: Child,
}

impl Bot {
    fn run(mut command: Command) -> Result<Self> {
        let child = command
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::inherit())
            .kill_on_drop(true)
            .spawn()?;
        Ok(Self { child })
    }

    /// What the process holds in memory now, in MiB.
    pub fn resident(&self) -> Result<f64> {
        let id = self.child.id().ok_or("the process has ended")?;
        let status = std::fs::read_to_string(format!("/proc/{id}/status"))?;
        let kibibytes: f64 = status
            .lines()
            .find_map(|line| line.strip_prefix("VmRSS:"))
            .and_then(|rest| rest.split_whitespace().next())
            .ok_or("no VmRSS")?
            .parse()?;
        Ok(kibibytes / 1024.0)
    }
}

fn url_of(database: &Path) -> String {
    format!("sqlite://{}", database.display())
}

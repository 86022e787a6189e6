//! The stage: a server with channels and people, and what the team remembers.
//!
//! Wanted: everything is of this run alone. The memory is a file in a new temporary folder that goes
//! away with the stage; `DATABASE_URL` is never looked at, so that nothing that is tried here gets
//! into a memory that counts (R29).

use anyhow::Context as _;
use jiff::{SignedDuration, Timestamp};
use precedent::app::App;
use precedent::config::Config;
use precedent::incident::Service;
use precedent::jobs::remember::{self, ImportOptions};
use precedent::response::redact::redact;
use precedent::store::Store;
use serde_json::{Value, json};
use standin::{ChannelId, Discord, GuildId, UserId, permissions};
use std::fmt::Write as _;
use std::time::Duration;

/// Incidents of our own invention; `days_ago` and `minutes` become times of this run.
const MEMORY: &str = include_str!("memory.jsonl");

/// Discord's client gives up on an interaction after three seconds; some room for a slow machine.
const CLIENT_PATIENCE: Duration = Duration::from_millis(3_500);

/// Somebody to act as.
#[derive(Clone, Debug)]
pub struct Person {
    /// Their id.
    pub id: UserId,
    /// Their name.
    pub name: &'static str,
    /// What they are, in a word.
    pub role: &'static str,
    /// Their Discord locale.
    pub locale: &'static str,
}

/// A report to click.
#[derive(Clone, Copy, Debug)]
pub struct Example {
    /// What it shows.
    pub kind: &'static str,
    /// The report.
    pub report: &'static str,
    /// Who reports it: a place in [`Stage::people`].
    pub by: usize,
}

/// One that is proven, one that is unknown, one in Chinese.
pub const EXAMPLES: [Example; 3] = [
    Example {
        kind: "Seen before, with a proven fix",
        report: "payments-api: intermittent 503s since 14:05, about 8 % of card payments fail. Log: UpstreamError: 429 Too Many Requests from card-gateway, retry 3/3 failed. Database pool at 30 %.",
        by: 0,
    },
    Example {
        kind: "Nothing like it in memory",
        report: "geo-resolver returns the wrong country for IPv6 addresses since the 09:40 deploy. Prices are shown in the wrong currency for some users in Norway. No errors in the log.",
        by: 0,
    },
    Example {
        kind: "中文报告",
        report: "库存服务从凌晨两点开始大量超时，结账页面约三成请求失败。日志：JedisConnectionException: Could not get a resource from the pool。今天没有发布。",
        by: 2,
    },
];

/// A running stand-in with people in it, and a memory beside it.
pub struct Stage {
    /// The stand-in for Discord.
    pub discord: Discord,
    /// The server.
    pub guild: GuildId,
    /// Where incidents are reported.
    pub incidents: ChannelId,
    /// Who there is to act as: an engineer, a commander, an engineer who reads Chinese.
    pub people: Vec<Person>,
    folder: tempfile::TempDir,
}

impl Stage {
    /// Builds it.
    ///
    /// # Errors
    ///
    /// Where the temporary folder or the memory in it can't be written.
    pub async fn set() -> anyhow::Result<Self> {
        let discord = Discord::start().await;
        let guild = discord.guild("Lantern Shop");
        let incidents = discord.channel(guild, "incidents");
        let alerts = discord.channel(guild, "alerts");
        let people = vec![
            person(&discord, guild, "alice", "engineer", "en-US"),
            person(&discord, guild, "marc", "commander", "en-GB"),
            person(&discord, guild, "小林", "工程师", "zh-CN"),
        ];
        let [alice, marc, _] = people.as_slice() else {
            anyhow::bail!("three people are on the stage");
        };
        discord.grant(
            guild,
            marc.id,
            permissions::MANAGE_THREADS | permissions::MANAGE_GUILD,
        );
        discord.private_channel(guild, "security", &[alice.id, marc.id, discord.bot()]);
        alert(&discord, alerts);
        let folder = tempfile::tempdir().context("no temporary folder can be made")?;
        let stage = Self {
            discord,
            guild,
            incidents,
            people,
            folder,
        };
        stage.remember().await?;
        Ok(stage)
    }

    /// Address of the temporary database.
    pub fn database_url(&self) -> String {
        format!(
            "sqlite://{}",
            self.folder.path().join("playground.db").display()
        )
    }

    /// The bot's configuration: the stand-in and the sample memory in place of Discord and of a
    /// database; the model and the limits as `variable` says, which a process takes from its
    /// environment.
    ///
    /// # Errors
    ///
    /// Every fault of what is configured.
    pub fn config(&self, variable: impl Fn(&str) -> Option<String>) -> anyhow::Result<Config> {
        let ours = |name: &str| match name {
            "DISCORD_TOKEN" => Some(self.discord.token()),
            "DISCORD_API_URL" => Some(self.discord.url().to_owned()),
            "DISCORD_GUILD_ID" => Some(self.guild.to_string()),
            "DISCORD_MESSAGE_CONTENT" => Some("on".to_owned()),
            "DATABASE_URL" => Some(self.database_url()),
            // Whoever plays here is one person who tries many things.
            "LIMIT_ANALYSES_PER_PERSON_HOUR" | "LIMIT_ANALYSES_PER_GUILD_HOUR" => {
                variable(name).or_else(|| Some("1000".to_owned()))
            }
            _ => variable(name),
        };
        Config::read(ours, |path| std::fs::read_to_string(path).ok())
            .context("the configuration has faults")
    }

    /// Starts the bot, and waits until it is connected and its commands are there.
    ///
    /// # Errors
    ///
    /// What keeps the bot from starting.
    pub async fn bot(&self, config: &Config) -> anyhow::Result<App> {
        self.discord.set_patience(Duration::from_secs(60));
        let app = App::start(config).await?;
        self.discord.gateway().connected().await;
        self.discord.commands_registered(self.guild).await;
        self.discord.set_patience(CLIENT_PATIENCE);
        Ok(app)
    }

    async fn remember(&self) -> anyhow::Result<()> {
        let now = Timestamp::now();
        let guild = self.guild.to_string();
        let store = Store::open(&self.database_url())
            .await
            .context("the sample memory can't be opened")?;
        let lines = sample(now)?;
        let key = precedent::jobs::respond::passing_key(&self.config(|_| None)?);
        let options = ImportOptions {
            now,
            redact: &|text| redact(text, &key).text,
            strict: true,
        };
        let report = remember::import(&store, &guild, lines.as_bytes(), options, |_| {}).await?;
        anyhow::ensure!(
            !report.refused,
            "the sample memory has a bad line: {:?}",
            report.failures
        );
        let service = Service {
            aliases: vec!["payments".to_owned(), "pay-api".to_owned()],
            ..Service::named("payments-api")
        };
        store.set_service(&guild, &service).await?;
        store.close().await;
        Ok(())
    }
}

fn person(
    discord: &Discord,
    guild: GuildId,
    name: &'static str,
    role: &'static str,
    locale: &'static str,
) -> Person {
    Person {
        id: discord.member_speaking(guild, name, locale),
        name,
        role,
        locale,
    }
}

/// An alert for the message command, as a monitoring system posts it: all text in an embed.
fn alert(discord: &Discord, channel: ChannelId) {
    discord.webhook_post(
        channel,
        "Watchtower",
        "",
        &[json!({
            "title": "🔴 FIRING: OrderConsumerRestarting",
            "description": "order-service consumer in production was OOMKilled 4 times in 30 minutes (exit code 137).",
            "color": 0xD9_3F_3F,
            "fields": [
                {"name": "service", "value": "order-service", "inline": true},
                {"name": "severity", "value": "page", "inline": true},
                {"name": "queue", "value": "+400 orders a minute", "inline": true},
            ],
        })],
    );
}

/// The sample memory as lines of import, with times counted back from `now`.
fn sample(now: Timestamp) -> anyhow::Result<String> {
    let mut lines = String::new();
    for line in MEMORY.lines() {
        let mut incident: Value =
            serde_json::from_str(line).context("a line of the sample memory is no JSON")?;
        let object = incident
            .as_object_mut()
            .context("a line of the sample memory is no object")?;
        let mut whole = |key: &str| {
            object
                .remove(key)
                .and_then(|value| value.as_i64())
                .with_context(|| format!("a line of the sample memory has no {key}"))
        };
        let resolved = now.checked_sub(SignedDuration::from_hours(24 * whole("days_ago")?))?;
        let started = resolved.checked_sub(SignedDuration::from_mins(whole("minutes")?))?;
        object.insert("started_at".to_owned(), json!(started.to_string()));
        object.insert("resolved_at".to_owned(), json!(resolved.to_string()));
        for attempt in object
            .get_mut("attempts")
            .and_then(Value::as_array_mut)
            .into_iter()
            .flatten()
        {
            if let Some(attempt) = attempt.as_object_mut() {
                attempt.insert("at".to_owned(), json!(resolved.to_string()));
                attempt.insert("environment".to_owned(), json!("production"));
            }
        }
        writeln!(lines, "{incident}")?;
    }
    Ok(lines)
}

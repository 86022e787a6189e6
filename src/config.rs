//! Configuration: the only reader of the environment. Every fault is reported at once.
//!
//! Secrets are held in [`SecretString`] and never printed; `NAME_FILE` names a file that holds the
//! secret where `NAME` itself is not set.

use secrecy::{ExposeSecret, SecretString};
use std::fmt;
use std::time::Duration;

/// The endpoint that is asked where only a key is configured.
pub const DEFAULT_LLM_BASE_URL: &str = "https://api.groq.com/openai/v1";
/// The model of meanings where an endpoint is configured and no model.
pub const DEFAULT_EMBEDDINGS_MODEL: &str = "text-embedding-3-small";
/// The model that is asked where none is configured.
pub const DEFAULT_LLM_MODEL: &str = "openai/gpt-oss-120b";
/// The database where none is configured.
pub const DEFAULT_DATABASE_URL: &str = "sqlite://precedent.db";

/// Everything that can be configured.
#[derive(Clone, Debug)]
pub struct Config {
    /// The database.
    pub database_url: String,
    /// Discord; `None` where no token is set (the command line works without).
    pub discord: Option<DiscordConfig>,
    /// The guild that commands are registered to at once, and that the command line works on.
    pub guild: Option<u64>,
    /// The model; `None`: the rule-based engine answers.
    pub model: Option<ModelConfig>,
    /// A memory server beside the database; `None`: the database alone is searched.
    pub hindsight: Option<HindsightConfig>,
    /// A model of meanings, by which memory is asked too; `None`: by words alone.
    pub embeddings: Option<EmbeddingsConfig>,
    /// Limits and budgets.
    pub limits: Limits,
    /// Incidents that ended so many days ago are forgotten; `None`: never.
    pub retention_days: Option<u32>,
    /// How logs are written.
    pub log: LogConfig,
}

/// How to reach Discord.
#[derive(Clone, Debug)]
pub struct DiscordConfig {
    /// The bot's token.
    pub token: SecretString,
    /// Replaces `https://discord.com` for a proxy or a stand-in.
    pub api_url: Option<String>,
    /// Ask for the message-content intent; without it the thread is read by mention only.
    pub message_content: bool,
}

/// How to reach the model.
#[derive(Clone, Debug)]
pub struct ModelConfig {
    /// Base URL with its `/v1`.
    pub base_url: String,
    /// The key, where the endpoint wants one.
    pub api_key: Option<SecretString>,
    /// The main model.
    pub model: String,
    /// The model that triages; the main one where none is set.
    pub triage_model: Option<String>,
    /// The stronger model; the main one where none is set.
    pub capable_model: Option<String>,
    /// Longest time of one call.
    pub timeout: Duration,
}

/// How to reach Hindsight.
#[derive(Clone, Debug)]
pub struct HindsightConfig {
    /// Its address, without `/v1`.
    pub url: String,
    /// The key, where it wants one.
    pub api_key: Option<SecretString>,
    /// Whether its own model is asked what it makes of the past.
    pub reflect: bool,
}

/// How to reach a model of meanings.
#[derive(Clone, Debug)]
pub struct EmbeddingsConfig {
    /// Base URL with its `/v1`.
    pub base_url: String,
    /// The key, where the endpoint wants one.
    pub api_key: Option<SecretString>,
    /// The model.
    pub model: String,
}

/// Limits a person and a guild have; over them recall and rules still answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Analyses a person may start in an hour.
    pub analyses_per_person_hour: u32,
    /// Analyses a guild may start in an hour.
    pub analyses_per_guild_hour: u32,
    /// Questions that a person may have answered by the model in an hour.
    pub questions_per_person_hour: u32,
    /// Model calls a guild may cause in an hour.
    pub model_calls_per_guild_hour: u32,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            analyses_per_person_hour: 20,
            analyses_per_guild_hour: 60,
            questions_per_person_hour: 40,
            model_calls_per_guild_hour: 120,
        }
    }
}

/// How logs are written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LogConfig {
    /// One JSON object a line; else plain text.
    pub json: bool,
    /// A filter as `info` or `precedent=debug,info`.
    pub filter: String,
}

/// One thing that is wrong with the configuration, in a sentence that names the variable.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault(pub String);

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// All faults of a configuration.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub struct Faults(pub Vec<Fault>);

impl fmt::Display for Faults {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, fault) in self.0.iter().enumerate() {
            if index > 0 {
                f.write_str("\n")?;
            }
            write!(f, "{fault}")?;
        }
        Ok(())
    }
}

impl Config {
    /// From the process's environment.
    ///
    /// # Errors
    ///
    /// Every fault at once.
    pub fn from_env() -> Result<Self, Faults> {
        Self::read(
            |name| std::env::var(name).ok(),
            |path| std::fs::read_to_string(path).ok(),
        )
    }

    /// From any source of variables and files.
    ///
    /// # Errors
    ///
    /// Every fault at once.
    pub fn read(
        variable: impl Fn(&str) -> Option<String>,
        file: impl Fn(&str) -> Option<String>,
    ) -> Result<Self, Faults> {
        let mut faults: Vec<Fault> = Vec::new();
        let set = |name: &str| {
            variable(name)
                .map(|value| value.trim().to_owned())
                .filter(|value| !value.is_empty())
        };
        let mut secret = |name: &str| -> Option<SecretString> {
            if let Some(value) = set(name) {
                return Some(SecretString::from(value));
            }
            let path = set(&format!("{name}_FILE"))?;
            match file(&path)
                .map(|text| text.trim().to_owned())
                .filter(|text| !text.is_empty())
            {
                Some(text) => Some(SecretString::from(text)),
                None => {
                    faults.push(Fault(format!(
                        "{name}_FILE names a file that can't be read or is empty."
                    )));
                    None
                }
            }
        };
        let token = secret("DISCORD_TOKEN");
        let api_key = secret("LLM_API_KEY").or_else(|| secret("GROQ_API_KEY"));
        let hindsight_key = secret("HINDSIGHT_API_KEY");
        let embeddings_key = secret("EMBEDDINGS_API_KEY");

        let mut number = |name: &str, default: u64, least: u64, most: u64| -> u64 {
            match set(name).map(|value| value.parse::<u64>()) {
                None => default,
                Some(Ok(value)) if (least..=most).contains(&value) => value,
                Some(_) => {
                    faults.push(Fault(format!(
                        "{name} must be a whole number from {least} to {most}."
                    )));
                    default
                }
            }
        };
        let timeout = number("LLM_TIMEOUT_SECONDS", 60, 1, 600);
        // A hundred years; 0 is how it is said that nothing is forgotten by age.
        let retention = number("MEMORY_RETENTION_DAYS", 0, 0, 36_500);
        let defaults = Limits::default();
        let mut limit = |name: &str, default: u32| {
            u32::try_from(number(name, u64::from(default), 1, 100_000)).unwrap_or(default)
        };
        let limits = Limits {
            analyses_per_person_hour: limit(
                "LIMIT_ANALYSES_PER_PERSON_HOUR",
                defaults.analyses_per_person_hour,
            ),
            analyses_per_guild_hour: limit(
                "LIMIT_ANALYSES_PER_GUILD_HOUR",
                defaults.analyses_per_guild_hour,
            ),
            questions_per_person_hour: limit(
                "LIMIT_QUESTIONS_PER_PERSON_HOUR",
                defaults.questions_per_person_hour,
            ),
            model_calls_per_guild_hour: limit(
                "LIMIT_MODEL_CALLS_PER_GUILD_HOUR",
                defaults.model_calls_per_guild_hour,
            ),
        };

        let guild = match set("DISCORD_GUILD_ID").map(|value| value.parse::<u64>()) {
            None => None,
            Some(Ok(id)) if id > 0 => Some(id),
            Some(_) => {
                faults.push(Fault(
                    "DISCORD_GUILD_ID must be the number of a server, such as 81384788765712384."
                        .into(),
                ));
                None
            }
        };
        let mut url = |name: &str| -> Option<String> {
            let value = set(name)?;
            let parsed = reqwest::Url::parse(&value)
                .ok()
                .filter(|url| matches!(url.scheme(), "http" | "https") && url.has_host());
            if parsed.is_none() {
                faults.push(Fault(format!(
                    "{name} must be an address that begins with http:// or https://."
                )));
            }
            Some(value.trim_end_matches('/').to_owned())
        };
        let api_url = url("DISCORD_API_URL");
        let base_url = url("LLM_BASE_URL");
        let hindsight_url = url("HINDSIGHT_URL");
        let embeddings_url = url("EMBEDDINGS_BASE_URL");
        let mut switch = |name: &str, default: bool| match set(name)
            .map(|value| value.to_ascii_lowercase())
            .as_deref()
        {
            None => default,
            Some("1" | "true" | "yes" | "on") => true,
            Some("0" | "false" | "no" | "off") => false,
            Some(_) => {
                faults.push(Fault(format!("{name} must be on or off.")));
                default
            }
        };
        let message_content = switch("DISCORD_MESSAGE_CONTENT", true);
        let reflect = switch("HINDSIGHT_REFLECT", true);
        let json = match set("LOG_FORMAT").as_deref() {
            None | Some("text") => false,
            Some("json") => true,
            Some(_) => {
                faults.push(Fault("LOG_FORMAT must be text or json.".into()));
                false
            }
        };
        let database_url = set("DATABASE_URL").unwrap_or_else(|| DEFAULT_DATABASE_URL.to_owned());
        if !["sqlite:", "postgres://", "postgresql://"]
            .iter()
            .any(|scheme| database_url.starts_with(scheme))
        {
            faults.push(Fault(
                "DATABASE_URL must begin with sqlite: or postgres://.".into(),
            ));
        }
        let model = (api_key.is_some() || base_url.is_some()).then(|| ModelConfig {
            base_url: base_url.unwrap_or_else(|| DEFAULT_LLM_BASE_URL.to_owned()),
            api_key,
            model: set("LLM_MODEL").unwrap_or_else(|| DEFAULT_LLM_MODEL.to_owned()),
            triage_model: set("LLM_TRIAGE_MODEL"),
            capable_model: set("LLM_CAPABLE_MODEL"),
            timeout: Duration::from_secs(timeout),
        });
        if hindsight_url
            .as_deref()
            .and_then(|url| reqwest::Url::parse(url).ok())
            .is_some_and(|url| !url.username().is_empty() || url.password().is_some())
        {
            faults.push(Fault(
                "HINDSIGHT_URL holds a user or a password: set HINDSIGHT_API_KEY instead.".into(),
            ));
        }
        if let Some(token) = &token
            && token.expose_secret().chars().any(char::is_whitespace)
        {
            faults.push(Fault(
                "DISCORD_TOKEN holds white space: paste the token alone, without \"Bot \".".into(),
            ));
        }
        if !faults.is_empty() {
            return Err(Faults(faults));
        }
        Ok(Self {
            database_url,
            discord: token.map(|token| DiscordConfig {
                token,
                api_url,
                message_content,
            }),
            guild,
            model,
            hindsight: hindsight_url.map(|url| HindsightConfig {
                url,
                api_key: hindsight_key,
                reflect,
            }),
            embeddings: embeddings_url.map(|base_url| EmbeddingsConfig {
                base_url,
                api_key: embeddings_key,
                model: set("EMBEDDINGS_MODEL")
                    .unwrap_or_else(|| DEFAULT_EMBEDDINGS_MODEL.to_owned()),
            }),
            limits,
            retention_days: u32::try_from(retention).ok().filter(|days| *days > 0),
            log: LogConfig {
                json,
                filter: set("RUST_LOG")
                    .unwrap_or_else(|| "info,sqlx=warn,riverqueue=warn".to_owned()),
            },
        })
    }

    /// The guild that the command line works on, as it is stored: `DISCORD_GUILD_ID`, else `local`.
    pub fn guild_key(&self) -> String {
        self.guild
            .map_or_else(|| "local".to_owned(), |id| id.to_string())
    }
}

/// The named step at which a test wants this process to pause, and the file that says it does.
#[cfg(debug_assertions)]
pub fn pause() -> Option<(String, String)> {
    let value = std::env::var("PRECEDENT_PAUSE").ok()?;
    let (name, path) = value.split_once('=')?;
    Some((name.to_owned(), path.to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeMap;

    fn read(pairs: &[(&str, &str)]) -> Result<Config, Faults> {
        let map: BTreeMap<&str, &str> = pairs.iter().copied().collect();
        Config::read(
            |name| map.get(name).map(|value| (*value).to_owned()),
            |path| (path == "/run/secrets/token").then(|| "from-file\n".to_owned()),
        )
    }

    #[test]
    fn every_fault_at_once_and_no_secret_in_them() {
        let faults = read(&[
            ("DISCORD_TOKEN", "Bot s3cr3t"),
            ("DISCORD_GUILD_ID", "my server"),
            ("LLM_BASE_URL", "localhost:8080"),
            ("LLM_TIMEOUT_SECONDS", "soon"),
            ("DATABASE_URL", "mysql://x"),
            ("LOG_FORMAT", "xml"),
            ("DISCORD_MESSAGE_CONTENT", "perhaps"),
            ("MEMORY_RETENTION_DAYS", "-1"),
        ])
        .expect_err("eight faults");
        assert_eq!(faults.0.len(), 8, "{faults}");
        assert!(!faults.to_string().contains("s3cr3t"));
    }

    #[test]
    fn nothing_is_forgotten_by_age_unless_somebody_says_so() {
        for (value, days) in [("", None), ("0", None), ("365", Some(365))] {
            let config = read(&[("MEMORY_RETENTION_DAYS", value)]).expect("fine");
            assert_eq!(config.retention_days, days, "{value:?}");
        }
        for value in ["a year", "1.5", "36501", "-1"] {
            assert!(
                read(&[("MEMORY_RETENTION_DAYS", value)]).is_err(),
                "{value}"
            );
        }
    }

    #[test]
    fn nothing_set_is_the_rule_based_engine_on_a_local_file() {
        let config = read(&[]).expect("nothing is wrong with nothing");
        assert!(config.model.is_none());
        assert!(config.discord.is_none());
        assert_eq!(config.database_url, DEFAULT_DATABASE_URL);
        assert_eq!(config.guild_key(), "local");
    }

    #[test]
    fn a_key_alone_or_a_base_url_alone_configures_a_model() {
        let by_key = read(&[("GROQ_API_KEY", "k")])
            .expect("fine")
            .model
            .expect("a model");
        assert_eq!(by_key.base_url, DEFAULT_LLM_BASE_URL);
        assert_eq!(by_key.model, DEFAULT_LLM_MODEL);
        let by_url = read(&[
            ("LLM_BASE_URL", "http://127.0.0.1:1/v1/"),
            ("LLM_MODEL", "m"),
        ])
        .expect("fine")
        .model
        .expect("a model");
        assert_eq!(by_url.base_url, "http://127.0.0.1:1/v1");
        assert!(by_url.api_key.is_none());
    }

    #[test]
    fn a_memory_server_is_an_address_and_perhaps_a_key() {
        assert!(
            read(&[("HINDSIGHT_API_KEY", "k")])
                .expect("fine")
                .hindsight
                .is_none()
        );
        let server = read(&[
            ("HINDSIGHT_URL", "http://127.0.0.1:8888/"),
            ("HINDSIGHT_API_KEY", "s3cr3t"),
            ("HINDSIGHT_REFLECT", "off"),
        ])
        .expect("fine")
        .hindsight
        .expect("a server");
        assert_eq!(server.url, "http://127.0.0.1:8888");
        assert!(!server.reflect && !format!("{server:?}").contains("s3cr3t"));
        for address in ["localhost:8888", "http://user:s3cr3t@127.0.0.1:8888"] {
            let faults = read(&[("HINDSIGHT_URL", address)]).expect_err("no such address");
            assert!(!faults.to_string().contains("s3cr3t"), "{faults}");
        }
    }

    #[test]
    fn secrets_come_from_files_too_and_never_print() {
        let config = read(&[("DISCORD_TOKEN_FILE", "/run/secrets/token")]).expect("fine");
        assert_eq!(
            config
                .discord
                .as_ref()
                .map(|discord| discord.token.expose_secret()),
            Some("from-file")
        );
        assert!(!format!("{config:?}").contains("from-file"));
        assert!(read(&[("LLM_API_KEY_FILE", "/nowhere")]).is_err());
    }
}

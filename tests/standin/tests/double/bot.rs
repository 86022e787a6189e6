//! A small bot on the real client, which does what the tests ask of it.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use serde_json::{Value, json};
use serenity::all::{
    ClientBuilder, Context, EventHandler, GatewayIntents, Http, HttpBuilder, Interaction, Message,
    RawEventHandler, Ready, ShardManager,
};
use serenity::async_trait;
use standin::Discord;
use tokio::task::JoinHandle;

/// The commands of the little bot.
pub fn commands() -> Value {
    json!([
        {
            "name": "echo", "description": "Says it again",
            "options": [
                {"type": 3, "name": "text", "description": "What", "required": true, "max_length": 100},
                {"type": 3, "name": "service", "description": "Which", "autocomplete": true},
                {"type": 11, "name": "log", "description": "A file"},
                {"type": 6, "name": "whom", "description": "A person"},
            ],
        },
        {"name": "slow", "description": "Thinks first"},
        {"name": "secret", "description": "Thinks first, for one person"},
        {"name": "report", "description": "Opens a modal"},
        {"name": "mute", "description": "Is never answered"},
        {
            "name": "incident", "description": "Incidents",
            "options": [{
                "type": 1, "name": "show", "description": "One",
                "options": [{"type": 4, "name": "number", "description": "Which", "min_value": 1}],
            }],
        },
        {"name": "admin", "description": "Hidden", "default_member_permissions": "32"},
        {"name": "Analyze as incident", "type": 3},
    ])
}

/// A running bot.
pub struct Bot {
    pub http: Arc<Http>,
    pub seen: Arc<Seen>,
    pub shards: Arc<ShardManager>,
    pub running: JoinHandle<Result<(), serenity::Error>>,
}

/// What the bot heard.
#[derive(Default)]
pub struct Seen {
    pub messages: std::sync::Mutex<Vec<Message>>,
    pub unknown: std::sync::Mutex<Vec<String>>,
    pub ready: AtomicUsize,
    bell: tokio::sync::Notify,
}

impl Seen {
    pub fn contents(&self) -> Vec<String> {
        let messages = self.messages.lock().unwrap();
        messages.iter().map(|m| m.content.clone()).collect()
    }
}

struct Handler(Arc<Seen>);

#[async_trait]
impl EventHandler for Handler {
    async fn ready(&self, _: Context, _: Ready) {
        self.0.ready.fetch_add(1, Ordering::SeqCst);
        self.0.bell.notify_waiters();
    }

    async fn message(&self, _: Context, message: Message) {
        self.0.messages.lock().unwrap().push(message);
        self.0.bell.notify_waiters();
    }

    async fn interaction_create(&self, context: Context, interaction: Interaction) {
        if let Err(error) = react(&context.http, &interaction).await {
            panic!("the little bot failed: {error}");
        }
    }
}

#[async_trait]
impl RawEventHandler for Handler {
    async fn raw_event(&self, _: Context, event: serenity::all::Event) {
        if let serenity::all::Event::Unknown(event) = event {
            self.0.unknown.lock().unwrap().push(format!("{event:?}"));
        }
    }
}

async fn react(http: &Http, interaction: &Interaction) -> serenity::Result<()> {
    let id = interaction.id();
    let token = interaction.token().to_owned();
    let answer = |value: Value| {
        let token = token.clone();
        async move {
            http.create_interaction_response(id, &token, &value, Vec::new())
                .await
        }
    };
    let silent = json!({"parse": []});
    match interaction {
        Interaction::Command(command) => match command.data.name.as_str() {
            "echo" => {
                let said = command.data.options.first().and_then(|o| o.value.as_str());
                let mut content = format!("You said: {}", said.unwrap_or_default());
                for file in command.data.resolved.attachments.values() {
                    let bytes = file.download().await?;
                    content.push_str(&format!("\n{}: {} bytes", file.filename, bytes.len()));
                }
                for user in command.data.resolved.users.keys() {
                    content.push_str(&format!("\n<@{user}>"));
                }
                answer(json!({"type": 4, "data": {
                    "content": content, "allowed_mentions": silent,
                    "components": [{"type": 1, "components": [
                        {"type": 2, "style": 1, "label": "Again", "custom_id": "again:1"},
                        {"type": 2, "style": 2, "label": "Off", "custom_id": "off", "disabled": true},
                    ]}, {"type": 1, "components": [{
                        "type": 3, "custom_id": "steps", "placeholder": "Steps", "max_values": 2,
                        "options": [{"label": "One", "value": "1"}, {"label": "Two", "value": "2"}],
                    }]}],
                }}))
                .await
            }
            "slow" | "secret" => {
                let flags = if command.data.name == "secret" { 64 } else { 0 };
                answer(json!({"type": 5, "data": {"flags": flags}})).await?;
                let body = json!({"embeds": [{"title": "Thought", "description": "42"}]});
                http.edit_original_interaction_response(&token, &body, Vec::new())
                    .await?;
                let more = json!({"content": "and more", "flags": flags});
                http.create_followup_message(&token, &more, Vec::new())
                    .await?;
                Ok(())
            }
            "report" => {
                answer(json!({"type": 9, "data": {
                    "custom_id": "report", "title": "What happened?",
                    "components": [{"type": 1, "components": [{
                        "type": 4, "custom_id": "text", "label": "Report", "style": 2,
                        "max_length": 20, "required": true,
                    }]}],
                }}))
                .await
            }
            "incident" => {
                answer(json!({"type": 4, "data": {"content": "INC-1", "flags": 64}})).await
            }
            "Analyze as incident" => {
                let target = command.data.resolved.messages.values().next();
                let text = target.map_or("", |m| m.content.as_str()).to_owned();
                answer(json!({"type": 4, "data": {"content": format!("analyzing: {text}")}})).await
            }
            _ => Ok(()),
        },
        Interaction::Autocomplete(_) => answer(
            json!({"type": 8, "data": {"choices": [{"name": "payments", "value": "payments"}]}}),
        )
        .await,
        Interaction::Component(component) => {
            let new = format!(
                "{} pressed {}",
                component.user.name, component.data.custom_id
            );
            answer(json!({"type": 7, "data": {"content": new, "components": []}})).await
        }
        Interaction::Modal(modal) => {
            let value = modal
                .data
                .components
                .iter()
                .flat_map(|row| &row.components)
                .find_map(|c| match c {
                    serenity::all::ActionRowComponent::InputText(input) => input.value.clone(),
                    _ => None,
                });
            answer(json!({"type": 4, "data": {"content": format!("reported: {}", value.unwrap_or_default())}}))
                .await
        }
        _ => Ok(()),
    }
}

pub fn http_of(discord: &Discord) -> Http {
    HttpBuilder::new(discord.token())
        .proxy(discord.url())
        .ratelimiter_disabled(true)
        .build()
}

pub fn intents() -> GatewayIntents {
    GatewayIntents::GUILDS | GatewayIntents::GUILD_MESSAGES | GatewayIntents::MESSAGE_CONTENT
}

pub async fn start(discord: &Discord) -> Bot {
    let http = http_of(discord);
    // Known to a bot from its own start-up check, before READY says it.
    http.set_application_id(discord.bot().get().into());
    let bot = start_with(http, intents()).await;
    discord.gateway().connected().await;
    bot
}

pub async fn start_with(http: Http, intents: GatewayIntents) -> Bot {
    let seen = Arc::new(Seen::default());
    let mut client = ClientBuilder::new_with_http(http, intents)
        .event_handler(Handler(Arc::clone(&seen)))
        .raw_event_handler(Handler(Arc::clone(&seen)))
        .await
        .unwrap();
    let (http, shards) = (Arc::clone(&client.http), Arc::clone(&client.shard_manager));
    let running = tokio::spawn(async move { client.start().await });
    Bot {
        http,
        seen,
        shards,
        running,
    }
}

impl Bot {
    /// Waits for something that the bot, not the double, knows.
    pub async fn until(&self, what: &str, is_so: impl Fn(&Seen) -> bool) {
        let waiting = async {
            loop {
                let bell = self.seen.bell.notified();
                tokio::pin!(bell);
                bell.as_mut().enable();
                if is_so(&self.seen) {
                    return;
                }
                bell.await;
            }
        };
        let patience = std::time::Duration::from_secs(20);
        assert!(
            tokio::time::timeout(patience, waiting).await.is_ok(),
            "waited for {what}; heard {:?}",
            self.seen.contents()
        );
    }
}

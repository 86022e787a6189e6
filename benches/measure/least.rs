//! The yardstick: the least bot that serenity can be. It defers every command, with serenity's own
//! client and HTTP, and does nothing else: no store, no log, no answer.

use crate::Result;
use serenity::all::{
    ClientBuilder, Context, EventHandler, GatewayIntents, HttpBuilder, Interaction,
};

/// With this argument the measuring program is the least bot itself.
pub const ARGUMENT: &str = "least";

struct Defers;

#[serenity::async_trait]
impl EventHandler for Defers {
    async fn interaction_create(&self, context: Context, interaction: Interaction) {
        if let Interaction::Command(command) = interaction
            && let Err(error) = command.defer(&context.http).await
        {
            eprintln!("the least bot could not defer: {error}");
        }
    }
}

/// Runs until it is killed.
pub async fn run(url: &str, token: &str) -> Result<()> {
    let http = HttpBuilder::new(token)
        .proxy(url)
        .ratelimiter_disabled(true)
        .build();
    // The same intents as the bot's.
    let intents =
        GatewayIntents::GUILDS | GatewayIntents::GUILD_MESSAGES | GatewayIntents::MESSAGE_CONTENT;
    let mut client = ClientBuilder::new_with_http(http, intents)
        .event_handler(Defers)
        .await?;
    client.start().await?;
    Ok(())
}

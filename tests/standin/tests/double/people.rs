//! What a test must not overlook.

use serde_json::json;
use standin::{Discord, Failure};

use crate::bot;

fn complaints_about(discord: &Discord, part: &str) -> bool {
    discord.complaints().iter().any(|c| c.contains(part))
}

#[tokio::test]
async fn nothing_goes_unseen() {
    let discord = Discord::start().await;
    let guild = discord.guild("acme");
    let channel = discord.channel(guild, "incidents");
    let alice = discord.member(guild, "alice");
    let bot = bot::start(&discord).await;
    bot.http
        .create_global_commands(&bot::commands())
        .await
        .unwrap();
    discord.finish();

    let id = serenity::all::ChannelId::new(channel.get());
    id.say(&bot.http, "look at me").await.unwrap();
    assert!(complaints_about(
        &discord,
        "unread post:\nprecedent in #incidents:\nlook at me"
    ));
    assert_eq!(discord.unread().len(), 1);
    discord.next_post(channel).await;

    let mute = discord.slash(alice, channel, "mute", json!({}));
    assert!(complaints_about(&discord, "never answered: /mute"));
    mute.forget();

    discord.fail_next("GET", "/users/@me", Failure::Drop);
    assert!(complaints_about(&discord, "a fault that never happened"));
    assert!(bot.http.get_current_user().await.is_err());

    let unknown = reqwest::Client::new()
        .get(format!("{}/api/v10/voice/regions", discord.url()))
        .header("user-agent", "test")
        .header("authorization", format!("Bot {}", discord.token()))
        .send()
        .await
        .unwrap();
    assert_eq!(unknown.status(), 404);
    assert!(complaints_about(&discord, "violation: GET /voice/regions"));
    assert_eq!(discord.forgive("/voice/regions"), 1);
    discord.finish();
}

#[tokio::test]
async fn a_page_can_draw_it_and_hear_of_changes() {
    let discord = Discord::start().await;
    let guild = discord.guild("acme");
    let alice = discord.member(guild, "alice");
    let bob = discord.member(guild, "bob");
    let secret = discord.private_channel(guild, "secret", &[alice]);
    let mut changes = discord.events();
    discord.say(alice, secret, "psst");
    let change = changes.recv().await.unwrap();
    assert_eq!(
        (change.name, &change.data["content"]),
        ("MESSAGE_CREATE", &json!("psst"))
    );
    let seen = |who| {
        discord.state(Some(who))["guilds"][0]["channels"]
            .as_array()
            .unwrap()
            .len()
    };
    assert_eq!((seen(alice), seen(bob)), (1, 0));
    assert!(discord.try_say(bob, secret, "me too").is_err());
}

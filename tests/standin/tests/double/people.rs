//! What a test must not overlook.

use std::time::Duration;

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

#[tokio::test]
async fn requests_that_go_wrong() {
    let discord = Discord::start().await;
    let guild = discord.guild("acme");
    let channel = discord.channel(guild, "incidents");
    let http = bot::http_of(&discord);
    let id = serenity::all::ChannelId::new(channel.get());
    let route = "/channels/*/messages";

    discord.fail_next(
        "POST",
        route,
        Failure::error(500, 0, "Internal Server Error"),
    );
    discord.fail_next("POST", route, Failure::Drop);
    for what in ["500", "a dropped connection"] {
        assert!(id.say(&http, "x").await.is_err(), "{what}");
    }
    assert_eq!(discord.unread().len(), 0, "a refused request has no effect");

    discord.fail_next("POST", route, Failure::DropAfterwards);
    assert!(id.say(&http, "done, but nobody was told").await.is_err());
    discord.next_post(channel).await;

    discord.fail_next("POST", route, Failure::Hang);
    let hanging = tokio::time::timeout(Duration::from_millis(300), id.say(&http, "x")).await;
    assert!(hanging.is_err());

    discord.fail_next("POST", route, Failure::Delay(Duration::from_millis(300)));
    let began = std::time::Instant::now();
    id.say(&http, "slow").await.unwrap();
    assert!(began.elapsed() >= Duration::from_millis(300));
    discord.next_post(channel).await;
    let statuses: Vec<u16> = discord
        .requests_to("POST", route)
        .iter()
        .map(|r| r.status)
        .collect();
    assert_eq!(statuses, [500, 0, 200, 0, 200]);
    discord.finish();
}

#[tokio::test]
async fn two_guilds_and_what_is_delivered_twice() {
    let discord = Discord::start().await;
    let acme = discord.guild("acme");
    let other = discord.guild("other");
    let here = discord.channel(acme, "incidents");
    let there = discord.channel(other, "incidents");
    let alice = discord.member(acme, "alice");
    let bot = bot::start(&discord).await;
    assert!(
        discord.try_say(alice, there, "x").is_err(),
        "not a member there"
    );
    let said = discord.say(alice, here, "once");
    discord.redeliver(said);
    bot.until("both", |seen| seen.contents() == ["once", "once"])
        .await;

    bot.http
        .create_guild_commands(serenity::all::GuildId::new(acme.get()), &bot::commands())
        .await
        .unwrap();
    let echo = discord.slash(alice, here, "echo", json!({"text": "x"}));
    echo.original().await;
    discord.redeliver_interaction(&echo);
    let callback = "/interactions/**";
    discord.await_request("POST", callback, 2).await;
    assert_eq!(
        discord.forgive("40060"),
        1,
        "answering twice is a broken rule"
    );
    assert!(echo.answered_after().is_some());
    discord.join(other, alice);
    let refused = discord
        .try_slash(alice, there, "echo", json!({"text": "x"}))
        .unwrap_err();
    assert!(refused.contains("not registered"), "{refused}");
    discord.finish();
}

#[tokio::test]
async fn time_passes() {
    let discord = Discord::start().await;
    let guild = discord.guild("acme");
    let channel = discord.channel(guild, "incidents");
    let alice = discord.member(guild, "alice");
    let thread = discord.thread(alice, channel, "t", false);
    discord.advance(Duration::from_secs(23 * 3600));
    discord.say(alice, thread, "still here");
    discord.advance(Duration::from_secs(2 * 3600));
    assert_eq!(discord.is_archived(thread), Some(false));
    discord.advance(Duration::from_secs(24 * 3600));
    assert_eq!(discord.is_archived(thread), Some(true));
    discord.deny_everyone(channel, standin::permissions::SEND_MESSAGES_IN_THREADS);
    assert!(discord.try_say(alice, thread, "x").is_err());
    discord.allow(
        channel,
        alice,
        standin::permissions::SEND_MESSAGES_IN_THREADS,
    );
    discord.say(alice, thread, "back");
    assert_eq!(
        discord.is_archived(thread),
        Some(false),
        "writing takes it out"
    );
    discord.finish();
}

#[tokio::test]
async fn two_hundred_commands_at_once() {
    let discord = Discord::start().await;
    let guild = discord.guild("acme");
    let channel = discord.channel(guild, "incidents");
    let alice = discord.member(guild, "alice");
    let bot = bot::start(&discord).await;
    bot.http
        .create_global_commands(&bot::commands())
        .await
        .unwrap();
    // How fast a debug build on a busy machine is, is not what is tested.
    discord.set_response_limit(Duration::from_secs(30));
    discord.set_patience(Duration::from_secs(30));
    let all: Vec<_> = (0..200)
        .map(|i| discord.slash(alice, channel, "echo", json!({"text": i.to_string()})))
        .collect();
    for (i, echo) in all.iter().enumerate() {
        let said = echo.original().await.content;
        assert_eq!(said, format!("You said: {i}"));
    }
    assert!(all.iter().all(|echo| echo.answered_after().is_some()));
    discord.finish();
}

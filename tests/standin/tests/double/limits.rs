//! The unchanged client over TLS, with its own rate limiter on.

use std::time::{Duration, Instant};

use serde_json::json;
use serenity::all::{ChannelId, Http, HttpBuilder};
use standin::{Discord, Failure, Upload};

use crate::bot;

fn client(discord: &Discord) -> reqwest::Client {
    let address = discord.tls_address().unwrap();
    let certificate = reqwest::Certificate::from_der(discord.certificate_der().unwrap()).unwrap();
    reqwest::Client::builder()
        .resolve("discord.com", address)
        .resolve("cdn.discordapp.com", address)
        .tls_certs_only([certificate])
        .build()
        .unwrap()
}

fn secure(discord: &Discord) -> Http {
    HttpBuilder::new(discord.token())
        .client(client(discord))
        .build()
}

#[tokio::test]
async fn a_conversation_with_the_unchanged_client() {
    let discord = Discord::start_tls().await;
    discord.set_cdn("https://cdn.discordapp.com");
    let guild = discord.guild("acme");
    let channel = discord.channel(guild, "incidents");
    let alice = discord.member(guild, "alice");
    let http = secure(&discord);
    http.set_application_id(discord.bot().get().into());
    http.create_global_commands(&bot::commands()).await.unwrap();
    let _bot = bot::start_with(http, bot::intents()).await;
    discord.gateway().connected().await;
    let echo = discord.slash(alice, channel, "echo", json!({"text": "hello"}));
    let post = echo.original().await;
    assert_eq!(post.content, "You said: hello");
    let slow = discord.slash(alice, channel, "slow", json!({}));
    assert!(slow.original().await.shows("42"));
    slow.next_followup().await;

    let file = Upload::new("日志 1.txt", "one line");
    let said = discord.say(alice, channel, standin::Say::default().file(file));
    let post = discord.message(said).unwrap();
    let url = &post.files[0].url;
    assert!(
        url.starts_with("https://cdn.discordapp.com/attachments/"),
        "{url}"
    );
    let got = client(&discord).get(url).send().await.unwrap();
    assert_eq!(got.headers()["content-type"], "text/plain; charset=utf-8");
    assert_eq!(got.text().await.unwrap(), "one line");
    discord.finish();
}

#[tokio::test]
async fn a_429_with_retry_after_is_waited_for() {
    let discord = Discord::start_tls().await;
    let guild = discord.guild("acme");
    let channel = discord.channel(guild, "incidents");
    let http = secure(&discord);
    let body = json!({"content": "hello"});
    let send = || http.send_message(ChannelId::new(channel.get()), Vec::new(), &body);
    let sent = send().await.unwrap();
    assert!(sent.attachments.is_empty());
    discord.next_post(channel).await;

    let limited = [
        Failure::rate_limited(Duration::from_millis(700)),
        Failure::globally_rate_limited(Duration::from_millis(700)),
    ];
    for failure in limited {
        discord.fail_next("POST", "/channels/*/messages", failure);
        let began = Instant::now();
        send().await.unwrap();
        assert!(
            began.elapsed() >= Duration::from_secs(1),
            "Retry-After is rounded up to whole seconds"
        );
        discord.next_post(channel).await;
    }
    discord.fail_next(
        "POST",
        "/channels/*/messages",
        Failure::banned_by_cloudflare(),
    );
    assert!(
        send().await.is_err(),
        "a 429 without Retry-After is an error at once"
    );

    discord.limit_route("POST", "/channels/*/messages", 1, Duration::from_secs(1));
    for _ in 0..2 {
        send().await.unwrap();
        discord.next_post(channel).await;
    }
    discord.finish();
}

//! The gateway's failures, and what the real client makes of them.

use std::sync::atomic::Ordering;
use std::time::Duration;

use serenity::all::GatewayIntents;
use standin::gateway::{ClientAct, IdentifyAnswer};
use standin::{Discord, GuildId};

use crate::bot;

async fn acme() -> (Discord, GuildId, standin::ChannelId, standin::UserId) {
    let discord = Discord::start().await;
    let guild = discord.guild("acme");
    let channel = discord.channel(guild, "incidents");
    let alice = discord.member(guild, "alice");
    (discord, guild, channel, alice)
}

#[tokio::test]
async fn resume_replays_what_was_missed_and_a_little_more() {
    let (discord, _, channel, alice) = acme().await;
    discord.gateway().set_zlib(true);
    let bot = bot::start(&discord).await;
    discord.say(alice, channel, "one");
    bot.until("the first message", |seen| seen.contents().len() == 1)
        .await;
    discord.gateway().set_replay_overlap(1);
    type Break = fn(&standin::GatewayHandle);
    let breaks: [(&str, Break); 5] = [
        ("op 7", |g| g.ask_to_reconnect()),
        ("op 9, resumable", |g| g.invalidate(true)),
        ("close 4000", |g| g.close(4000)),
        ("close 1001", |g| g.close(1001)),
        ("a lost connection", |g| g.drop_connection()),
    ];
    for (i, (what, break_it)) in breaks.into_iter().enumerate() {
        let before = bot.seen.contents().len();
        break_it(&discord.gateway());
        let text = format!("after {what}");
        discord.say(alice, channel, text.as_str());
        discord.gateway().resumed(i + 1).await;
        bot.until(what, |seen| seen.contents().len() == before + 2)
            .await;
        let contents = bot.seen.contents();
        assert_eq!(
            contents.iter().filter(|c| **c == text).count(),
            1,
            "{what}: what was missed arrives once, and one event again: {contents:?}"
        );
        discord.gateway().connected().await;
    }
    assert_eq!(bot.seen.ready.load(Ordering::SeqCst), 1);
    discord.finish();
}

#[tokio::test]
async fn a_session_that_is_gone_means_a_new_one() {
    let (discord, _, channel, alice) = acme().await;
    let bot = bot::start(&discord).await;
    discord.gateway().set_losing_events(true);
    discord.gateway().forget_sessions();
    discord.gateway().drop_connection();
    discord.say(alice, channel, "lost");
    discord.gateway().identified(2).await;
    discord.gateway().connected().await;
    discord.say(alice, channel, "heard");
    bot.until("the second message", |seen| seen.contents() == ["heard"])
        .await;
    discord.finish();
}

#[tokio::test]
async fn what_the_client_does_not_understand_is_only_skipped() {
    let (discord, _, channel, alice) = acme().await;
    let bot = bot::start(&discord).await;
    let gateway = discord.gateway();
    gateway.send_garbage();
    gateway.send_unknown_op();
    gateway.send_event("SOMETHING_NEW", &serde_json::json!({"a": 1}));
    gateway.request_heartbeat();
    gateway
        .await_act("a heartbeat", 1, |a| *a == ClientAct::Heartbeat)
        .await;
    discord.say(alice, channel, "still here");
    bot.until("the message", |seen| seen.contents() == ["still here"])
        .await;
    assert_eq!(bot.seen.unknown.lock().unwrap().len(), 1);
    discord.finish();
}

#[tokio::test]
async fn identify_is_refused() {
    let (discord, ..) = acme().await;
    let closes = [4004, 4013, 4014];
    for code in closes {
        discord
            .gateway()
            .answer_identify(IdentifyAnswer::Close(code));
        let bot = bot::start_with(bot::http_of(&discord), bot::intents()).await;
        let ended = tokio::time::timeout(Duration::from_secs(20), bot.running)
            .await
            .unwrap()
            .unwrap();
        assert!(ended.is_err(), "{code}");
    }
    discord.set_message_content(false);
    let bot = bot::start_with(bot::http_of(&discord), bot::intents()).await;
    let ended = tokio::time::timeout(Duration::from_secs(20), bot.running)
        .await
        .unwrap()
        .unwrap();
    assert!(
        ended.unwrap_err().to_string().contains("intents"),
        "the content intent is asked for and not switched on"
    );
    let bot = bot::start_with(bot::http_of(&discord), GatewayIntents::GUILDS).await;
    discord.gateway().connected().await;
    bot.shards.shutdown_all().await;
    discord
        .gateway()
        .await_act("a clean close", 1, |a| {
            *a == ClientAct::Close { code: Some(1000) }
        })
        .await;
    discord.finish();
}

#[tokio::test]
async fn heartbeats_without_an_answer() {
    let (discord, ..) = acme().await;
    let gateway = discord.gateway();
    gateway.set_heartbeat_interval(Duration::from_millis(400));
    let _bot = bot::start(&discord).await;
    gateway
        .await_act("heartbeats", 2, |a| *a == ClientAct::Heartbeat)
        .await;
    gateway.set_acknowledging(false);
    gateway.identified(2).await;
    gateway.set_acknowledging(true);
    discord.finish();
}

/// What ends a session, or leaves the client to find out by itself.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn closes_that_lead_to_a_new_session() {
    let (discord, _, channel, alice) = acme().await;
    let gateway = discord.gateway();
    // The client notices a close without a code, and 4011, at its next heartbeat only.
    gateway.set_heartbeat_interval(Duration::from_secs(1));
    discord.set_patience(Duration::from_secs(30));
    let bot = bot::start(&discord).await;
    type Break = fn(&standin::GatewayHandle);
    let breaks: [(&str, Break); 5] = [
        ("close 4007", |g| g.close(4007)),
        ("close 4009", |g| g.close(4009)),
        ("op 9, not resumable", |g| g.invalidate(false)),
        ("a close without a code", |g| g.close_without_code()),
        ("close 4011", |g| g.close(4011)),
    ];
    for (i, (what, break_it)) in breaks.into_iter().enumerate() {
        break_it(&gateway);
        gateway.identified(i + 2).await;
        gateway.connected().await;
        let text = format!("after {what}");
        discord.say(alice, channel, text.as_str());
        bot.until(what, |seen| seen.contents().contains(&text))
            .await;
    }
    let before = gateway.acts().len();
    gateway.close(4008);
    gateway.resumed(2).await;
    assert!(gateway.acts().len() > before, "4008 is resumed");
    discord.finish();
}

#[tokio::test]
async fn the_gateway_refuses_for_a_while() {
    let (discord, _, channel, alice) = acme().await;
    let bot = bot::start(&discord).await;
    discord.set_patience(Duration::from_secs(30));
    discord.gateway().set_refusing(true);
    discord.gateway().drop_connection();
    discord.say(alice, channel, "while away");
    discord
        .gateway()
        .await_act("a refused connection", 2, |a| *a == ClientAct::Refused)
        .await;
    discord.gateway().set_refusing(false);
    discord.gateway().connected().await;
    discord.say(alice, channel, "back");
    bot.until("the message", |seen| {
        seen.contents().iter().any(|c| c == "back")
    })
    .await;
    discord.finish();
}

//! The gateway's rules, broken by a bare WebSocket.

use std::time::Duration;

use futures::{SinkExt, StreamExt};
use serde_json::{Value, json};
use standin::Discord;
use tokio::net::TcpStream;
use tokio_tungstenite::tungstenite::Message;
use tokio_tungstenite::{MaybeTlsStream, WebSocketStream, connect_async};

struct Probe(WebSocketStream<MaybeTlsStream<TcpStream>>);

impl Probe {
    async fn connect(discord: &Discord, query: &str) -> Self {
        let url = format!("{}/{query}", discord.url().replacen("http", "ws", 1));
        Self(connect_async(url).await.unwrap().0)
    }

    async fn send(&mut self, text: impl Into<String>) {
        self.0.send(Message::Text(text.into())).await.unwrap();
    }

    /// The next payload, or the close code.
    async fn next(&mut self) -> Result<Value, Option<u16>> {
        let received = tokio::time::timeout(Duration::from_secs(10), self.0.next());
        match received.await.expect("something within ten seconds") {
            Some(Ok(Message::Text(text))) => Ok(serde_json::from_str(&text).unwrap()),
            Some(Ok(Message::Close(frame))) => Err(frame.map(|f| u16::from(f.code))),
            other => panic!("unexpected {other:?}"),
        }
    }

    async fn close_code(&mut self) -> Option<u16> {
        loop {
            if let Err(code) = self.next().await {
                return code;
            }
        }
    }

    async fn until_event(&mut self, name: &str) -> Value {
        loop {
            let payload = self.next().await.expect("no close");
            if payload["t"] == name {
                return payload;
            }
        }
    }
}

fn identify(discord: &Discord, change: impl Fn(&mut Value)) -> String {
    let mut data = json!({
        "token": discord.token(), "intents": 513,
        "properties": {"os": "linux", "browser": "probe", "device": "probe"},
    });
    change(&mut data);
    json!({"op": 2, "d": data}).to_string()
}

#[tokio::test]
async fn each_broken_rule_has_its_close_code() {
    let discord = Discord::start().await;
    discord.guild("acme");
    discord.set_message_content(false);
    let plain = || identify(&discord, |_| {});
    let with = |key: &str, value: Value| identify(&discord, |d| d[key] = value.clone());
    let resume = |token: &str| {
        json!({"op": 6, "d": {"token": token, "session_id": "none", "seq": 3}}).to_string()
    };
    // What is sent, the close code, and whether it counts as the client's fault.
    let cases: Vec<(&str, Vec<String>, u16, bool)> = vec![
        ("no JSON", vec!["{".to_owned()], 4002, true),
        (
            "an unknown op",
            vec![json!({"op": 77}).to_string()],
            4001,
            true,
        ),
        (
            "presence before IDENTIFY",
            vec![json!({"op": 3, "d": {}}).to_string()],
            4003,
            true,
        ),
        ("IDENTIFY twice", vec![plain(), plain()], 4005, true),
        (
            "a wrong token",
            vec![with("token", json!("wrong"))],
            4004,
            false,
        ),
        (
            "a wrong token in RESUME",
            vec![resume("wrong")],
            4004,
            false,
        ),
        (
            "no properties",
            vec![with("properties", Value::Null)],
            4002,
            true,
        ),
        (
            "an impossible shard",
            vec![with("shard", json!([1, 1]))],
            4010,
            true,
        ),
        (
            "intents that are none",
            vec![with("intents", json!(1u64 << 40))],
            4013,
            true,
        ),
        (
            "content not switched on",
            vec![with("intents", json!(33281))],
            4014,
            false,
        ),
        (
            "members, never switched on",
            vec![with("intents", json!(3))],
            4014,
            false,
        ),
        (
            "too large",
            vec![with("presence", json!("x".repeat(5000)))],
            4002,
            true,
        ),
        (
            "121 in a minute",
            vec![json!({"op": 1, "d": null}).to_string(); 121],
            4008,
            true,
        ),
    ];
    for (what, sent, code, blamed) in cases {
        let mut probe = Probe::connect(&discord, "?v=10&encoding=json").await;
        assert_eq!(probe.next().await.unwrap()["op"], 10, "HELLO comes first");
        for text in sent {
            probe.send(text).await;
        }
        assert_eq!(probe.close_code().await, Some(code), "{what}");
        assert_eq!(discord.forgive("gateway") > 0, blamed, "{what}");
    }
    let mut old = Probe::connect(&discord, "?v=6").await;
    assert_eq!(old.close_code().await, Some(4012));
    assert_eq!(discord.forgive("version"), 1);
    discord.finish();
}

#[tokio::test]
async fn what_discord_tolerates_is_tolerated() {
    let discord = Discord::start().await;
    let guild = discord.guild("acme");
    let channel = discord.channel(guild, "incidents");
    let alice = discord.member(guild, "alice");
    let mut probe = Probe::connect(&discord, "?v=10").await;
    let odd = identify(&discord, |d| {
        d["token"] = json!(format!("Bot {}", discord.token()));
        d["presence"] = json!({
            "since": {"secs_since_epoch": 1, "nanos_since_epoch": 2},
            "activities": [], "status": "online", "afk": false,
        });
    });
    probe.send(odd).await;
    let ready = probe.until_event("READY").await;
    assert_eq!(ready["d"]["guilds"][0]["unavailable"], json!(true));
    let created = probe.until_event("GUILD_CREATE").await;
    assert_eq!(created["d"]["channels"][0]["name"], json!("incidents"));
    let session = ready["d"]["session_id"].clone();
    let last = created["s"].as_u64().unwrap();
    discord.gateway().drop_connection();
    discord.say(alice, channel, "missed");
    // RESUME before HELLO was read, and on the first address.
    let mut again = Probe::connect(&discord, "?v=10").await;
    let resume = |seq: u64| {
        json!({"op": 6, "d": {"token": discord.token(), "session_id": session, "seq": seq}})
            .to_string()
    };
    again.send(resume(last)).await;
    assert_eq!(again.next().await.unwrap()["op"], 10);
    assert_eq!(
        again.next().await.unwrap()["d"]["content"],
        json!(""),
        "no content intent"
    );
    assert_eq!(again.next().await.unwrap()["t"], json!("RESUMED"));

    discord.gateway().drop_connection();
    let mut ahead = Probe::connect(&discord, "?v=10").await;
    ahead.send(resume(last + 1000)).await;
    assert_eq!(
        ahead.close_code().await,
        Some(4007),
        "a sequence that never was"
    );
    let mut gone = Probe::connect(&discord, "?v=10").await;
    gone.next().await.unwrap();
    gone.send(resume(last)).await;
    assert_eq!(gone.next().await.unwrap(), json!({"op": 9, "d": false}));

    discord.gateway().set_refusing(true);
    let url = format!("{}/?v=10", discord.url().replacen("http", "ws", 1));
    assert!(connect_async(&url).await.is_err(), "refused");
    discord.gateway().set_refusing(false);
    discord
        .gateway()
        .set_identify_interval(Duration::from_secs(5));
    let mut soon = Probe::connect(&discord, "?v=10").await;
    soon.next().await.unwrap();
    soon.send(identify(&discord, |_| {})).await;
    assert_eq!(
        soon.next().await.unwrap()["op"],
        json!(9),
        "one IDENTIFY in five seconds"
    );
    discord.finish();
}

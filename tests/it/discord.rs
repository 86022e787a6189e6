//! Hearing Discord and asking it, through the stand-in and the real client.

use std::sync::Arc;
use std::time::{Duration, Instant};

use futures::FutureExt as _;
use precedent::discord::{
    Api, BotMay, COMMANDS, DiscordError, FileNote, FileRef, Gateway, GatewayConfig, GatewayError,
    GatewayState, Gone, Handler, Incoming, Need, OptionValue, Patience, Reply, Rest, attachments,
    declared, names,
};
use precedent::incident::Locale;
use secrecy::SecretString;
use serde_json::{Value, json};
use standin::gateway::{ClientAct, IdentifyAnswer};
use standin::people::{Say, Upload};
use standin::permissions as may;
use standin::{ChannelId, Discord, Failure, GuildId, Interaction, Response, UserId};
use tokio::sync::{mpsc, watch};
use tokio::task::JoinHandle;

/// How long a test waits for the bot.
const PATIENCE: Duration = Duration::from_secs(20);

fn seconds(seconds: u64) -> Duration {
    Duration::from_secs(seconds)
}

/// Short enough for tests; each test that is about one of them says so.
fn patience() -> Patience {
    Patience {
        stuck: Duration::from_millis(1_500),
        silent: seconds(60),
        headless: seconds(30),
        between_identifies: Duration::ZERO,
        first_pause: Duration::from_millis(20),
        longest_pause: Duration::from_millis(200),
    }
}

fn rest(discord: &Discord) -> Rest {
    let token = SecretString::from(discord.token());
    Rest::new(Api::new(token, Some(discord.url())).expect("a good address")).expect("TLS")
}

/// A bot that only hears.
struct Bot {
    rest: Rest,
    state: Arc<GatewayState>,
    heard: mpsc::UnboundedReceiver<Incoming>,
    stop: watch::Sender<bool>,
    task: JoinHandle<Result<(), GatewayError>>,
}

struct Started<'a> {
    discord: &'a Discord,
    rest: Rest,
    guild: Option<u64>,
    message_content: bool,
    patience: Patience,
    commands: Value,
}

fn bot(discord: &Discord) -> Started<'_> {
    Started {
        discord,
        rest: rest(discord),
        guild: None,
        message_content: true,
        patience: patience(),
        commands: declared(),
    }
}

impl Started<'_> {
    /// Begins, and waits for nothing.
    fn begin(self) -> Bot {
        let (tell, heard) = mpsc::unbounded_channel();
        let on: Handler = Arc::new(move |incoming| {
            let tell = tell.clone();
            async move {
                if let Incoming::Autocomplete { typed, .. } = &incoming {
                    assert_ne!(typed, "panic", "as the test wants it");
                }
                // A test that is over listens no more.
                let _ = tell.send(incoming);
            }
            .boxed()
        });
        let (stop, stopped) = watch::channel(false);
        let state = Arc::new(GatewayState::default());
        let config = GatewayConfig {
            rest: self.rest.clone(),
            guild: self.guild,
            message_content: self.message_content,
            patience: self.patience,
        };
        let (commands, told) = (self.commands, Arc::clone(&state));
        let task =
            tokio::spawn(async move { Gateway::run(config, &commands, on, stopped, told).await });
        Bot {
            rest: self.rest,
            state,
            heard,
            stop,
            task,
        }
    }

    /// Begins, and waits until it hears.
    async fn connected(self) -> Bot {
        let discord = self.discord.clone();
        let mut bot = self.begin();
        discord.gateway().connected().await;
        bot.hear(|incoming| matches!(incoming, Incoming::Connected { resumed: false, .. }))
            .await;
        bot
    }
}

impl Bot {
    /// The next event of that kind; others before it are passed over.
    async fn hear(&mut self, is_it: impl Fn(&Incoming) -> bool) -> Incoming {
        tokio::time::timeout(PATIENCE, async {
            loop {
                let incoming = self.heard.recv().await.expect("the bot hears");
                if is_it(&incoming) {
                    return incoming;
                }
            }
        })
        .await
        .expect("it is heard in time")
    }

    /// Whatever was heard by now.
    fn heard_so_far(&mut self) -> Vec<Incoming> {
        std::iter::from_fn(|| self.heard.try_recv().ok()).collect()
    }

    async fn until(&self, what: &str, is_so: impl Fn(&GatewayState) -> bool) {
        let deadline = Instant::now() + PATIENCE;
        while !is_so(&self.state) {
            assert!(Instant::now() < deadline, "waited for {what}");
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    }

    /// Shuts down in good order.
    async fn end(self) {
        self.stop.send(true).expect("the bot listens");
        let ended = tokio::time::timeout(PATIENCE, self.task).await;
        ended
            .expect("it ends in time")
            .expect("no panic")
            .expect("no error");
    }

    /// How it gave up.
    async fn gave_up(self) -> GatewayError {
        tokio::time::timeout(PATIENCE, self.task)
            .await
            .expect("it gives up in time")
            .expect("no panic")
            .expect_err("it does not go on")
    }
}

fn incidents(discord: &Discord) -> (GuildId, ChannelId, UserId) {
    let guild = discord.guild("acme");
    let channel = discord.channel(guild, "incidents");
    let alice = discord.member(guild, "alice");
    (guild, channel, alice)
}

fn is_message(incoming: &Incoming) -> bool {
    matches!(incoming, Incoming::Message { .. })
}

fn is_interaction(incoming: &Incoming) -> bool {
    incoming.reply().is_some()
}

// ---- commands ------------------------------------------------------------------------------

#[tokio::test]
async fn the_commands_are_as_discord_wants_them_and_all_there() {
    let discord = Discord::start().await;
    let (guild, _, _) = incidents(&discord);
    let rest = rest(&discord);
    rest.register(Some(guild.0), &declared())
        .await
        .expect("accepted");
    let there = discord.commands(guild);
    assert_eq!(names(&Value::Array(there)), COMMANDS);
    // It would say so if not.
    let mut broken = declared();
    broken[0]["name"] = json!("Not A Name");
    let refused = rest.register(None, &broken).await.expect_err("refused");
    assert!(
        matches!(&refused, DiscordError::Invalid { path, .. } if path == "0.name"),
        "{refused:?}"
    );
    assert_eq!(discord.forgive("Command name is invalid"), 1);
    discord.finish();
}

#[tokio::test]
async fn commands_are_registered_once_over_two_greetings_and_before_the_first() {
    let discord = Discord::start().await;
    let (guild, _, _) = incidents(&discord);
    let mut started = bot(&discord);
    started.guild = Some(guild.0);
    let mut bot = started.connected().await;
    assert_eq!(discord.registrations(), 1);
    discord.gateway().invalidate(false);
    discord.gateway().identified(2).await;
    let again = bot.hear(|i| matches!(i, Incoming::Connected { .. })).await;
    let connected = Incoming::Connected {
        resumed: false,
        message_content: true,
        guilds: vec![guild.0],
    };
    assert_eq!(again, connected);
    assert_eq!(bot.state.connections(), 2);
    let puts: Vec<_> = discord
        .requests()
        .into_iter()
        .filter(|request| request.method == "PUT")
        .map(|request| request.path)
        .collect();
    let path = format!("/applications/{}/guilds/{guild}/commands", discord.bot());
    assert_eq!(puts, [path]);
    bot.end().await;
    discord.finish();
}

#[tokio::test]
async fn what_an_operator_has_to_mend_ends_it_before_it_connects() {
    let unauthorized = || Failure::error(401, 0, "401: Unauthorized");
    let nowhere = || Failure::error(403, 50001, "Missing Access");
    type Case = (&'static str, &'static str, Failure, &'static str);
    let cases: [Case; 4] = [
        ("GET", "/applications/@me", unauthorized(), "DISCORD_TOKEN"),
        ("PUT", "/applications/**", unauthorized(), "DISCORD_TOKEN"),
        ("PUT", "/applications/**", nowhere(), "DISCORD_GUILD_ID"),
        (
            "PUT",
            "/applications/**",
            Failure::error(403, 20012, "You are not authorized"),
            "could not be registered",
        ),
    ];
    for (method, pattern, failure, said) in cases {
        let discord = Discord::start().await;
        let (guild, _, _) = incidents(&discord);
        discord.fail_next(method, pattern, failure);
        let mut started = bot(&discord);
        started.guild = Some(guild.0);
        let error = started.begin().gave_up().await;
        assert!(error.to_string().contains(said), "{error}");
        assert_eq!(discord.gateway().acts(), []);
        discord.finish();
    }
}

#[tokio::test]
async fn it_waits_until_the_api_answers_and_only_then_dials() {
    let discord = Discord::start().await;
    incidents(&discord);
    discord.fail_times("GET", "/applications/@me", Failure::Drop, 2);
    discord.fail_times("PUT", "/applications/**", Failure::error(503, 0, "x"), 2);
    discord.fail_times("GET", "/gateway", Failure::error(502, 0, "x"), 2);
    let bot = bot(&discord).connected().await;
    assert_eq!(discord.registrations(), 1);
    // Two in vain and one; the library, which would dial Discord where it fails, asks for nothing.
    assert_eq!(discord.requests_to("GET", "/gateway").len(), 3);
    bot.end().await;
    discord.finish();
}

// ---- what is heard -----------------------------------------------------------------------------

#[tokio::test]
async fn a_slash_command_arrives_whole() {
    let discord = Discord::start().await;
    let (guild, channel, _) = incidents(&discord);
    let wei = discord.member_speaking(guild, "wei", "zh-CN");
    discord.grant(guild, wei, may::MANAGE_THREADS);
    discord.deny(channel, discord.bot(), may::ATTACH_FILES);
    let mut bot = bot(&discord).connected().await;
    let log = discord.upload(Upload::new("app.log", "ERROR boom").content_type(None));
    let options = json!({
        "report": "503s on checkout", "service": "payments", "severity": "SEV2",
        "log": log.to_string(),
    });
    let asked = discord.slash(wei, channel, "analyze", options);
    let Incoming::Slash {
        reply,
        who,
        place,
        bot_may,
        command,
        options,
    } = bot.hear(is_interaction).await
    else {
        panic!("no slash command");
    };
    assert_eq!(command, "analyze");
    assert_eq!(reply.interaction, asked.id.0);
    assert_eq!(reply.application, discord.bot().0);
    assert_eq!((who.id, who.name.as_str()), (wei.0, "wei"));
    assert_eq!(who.locale, Locale::Zh);
    assert!(who.may.manage_threads && !who.may.manage_guild);
    assert_eq!(who.may.roles.len(), 1);
    assert_eq!((place.guild, place.channel), (guild.0, channel.0));
    assert!(place.known && !place.private && !place.thread);
    assert_eq!(options.text("report"), Some("503s on checkout"));
    assert_eq!(options.text("service"), Some("payments"));
    assert_eq!(options.text("severity"), Some("SEV2"));
    let file = options.file("log").expect("resolved");
    assert_eq!((file.name.as_str(), file.size), ("app.log", 10));
    assert_eq!(file.content_type, None);
    assert_eq!(
        bot_may.missing(&[Need::Post, Need::Attach]),
        ["Attach Files"]
    );
    bot.rest.defer(&reply, true).await.expect("in time");
    let done = json!({"content": "done"});
    bot.rest
        .edit_original(&reply, &done, vec![])
        .await
        .expect("edited");
    assert_eq!(asked.ephemeral().await.content, "done");

    let asked = discord.slash(wei, channel, "incident show", json!({"id": "INC-0001"}));
    let incoming = bot.hear(is_interaction).await;
    let Incoming::Slash {
        command, options, ..
    } = &incoming
    else {
        panic!("no slash command");
    };
    assert_eq!(command, "incident show");
    assert_eq!(options.text("id"), Some("INC-0001"));
    asked.forget();
    bot.end().await;
    discord.finish();
}

#[tokio::test]
async fn places_are_known_without_asking_and_unknown_ones_are_private() {
    let discord = Discord::start().await;
    let (guild, open, alice) = incidents(&discord);
    let closed = discord.private_channel(guild, "security", &[alice, discord.bot()]);
    let mut bot = bot(&discord).connected().await;
    let thread = discord.thread(alice, open, "a thread", false);
    let hidden = discord.thread(alice, open, "a private thread", true);
    discord.add_to_thread(hidden, discord.bot());
    let inner = discord.thread(alice, closed, "inside", false);
    for (channel, parent, private) in [
        (open, None, false),
        (closed, None, true),
        (thread, Some(open), false),
        (hidden, Some(open), true),
        (inner, Some(closed), true),
    ] {
        discord.say(alice, channel, "hello");
        let said = bot.hear(is_message).await;
        let asked = discord.slash(alice, channel, "why", json!({}));
        let slash = bot.hear(is_interaction).await;
        asked.forget();
        let by_rest = bot.rest.place(channel.0).await.expect("it is there");
        for place in [said.place(), slash.place(), Some(&by_rest)] {
            let place = place.expect("it has a place");
            assert_eq!(place.channel, channel.0);
            assert_eq!(place.parent, parent.map(|p: ChannelId| p.0));
            assert_eq!(place.thread, parent.is_some());
            assert_eq!(place.private, private, "{channel}");
            assert!(place.known);
        }
    }
    bot.end().await;
    discord.finish();
}

#[tokio::test]
async fn modals_selects_buttons_and_completions_arrive_whole() {
    let discord = Discord::start().await;
    let (_, channel, alice) = incidents(&discord);
    let mut bot = bot(&discord).connected().await;

    let completing = discord.autocomplete(
        alice,
        channel,
        "memory add",
        "service",
        json!({"title": "t", "service": "pay"}),
    );
    let Incoming::Autocomplete {
        reply,
        command,
        option,
        typed,
        options,
        ..
    } = bot.hear(is_interaction).await
    else {
        panic!("no completion");
    };
    assert_eq!(
        (command.as_str(), option.as_str(), typed.as_str()),
        ("memory add", "service", "pay")
    );
    assert_eq!(options.text("title"), Some("t"));
    assert_eq!(options.text("service"), None);
    let many = (0..40).map(|n| (format!("payments-{n} {}", "x".repeat(150)), format!("p{n}")));
    let many = many.chain([("too long".to_owned(), "v".repeat(101))]);
    bot.rest
        .choices(&reply, many.collect())
        .await
        .expect("shown");
    let shown = completing.choices().await;
    assert_eq!(shown.len(), 25);
    assert_eq!(shown[0].value, json!("p0"));
    assert!(
        shown
            .iter()
            .all(|choice| choice.name.chars().count() == 100)
    );

    let opening = discord.slash(alice, channel, "analyze", json!({}));
    let reply = reply_of(&bot.hear(is_interaction).await);
    let input = json!({"type": 4, "custom_id": "report", "style": 2, "label": "Report"});
    let modal = json!({
        "custom_id": "analyze:1", "title": "Analyze",
        "components": [{"type": 1, "components": [input]}],
    });
    bot.rest.open_modal(&reply, &modal).await.expect("opened");
    let typed = "503s\n数据库".repeat(50);
    let submitted = discord.submit_modal(alice, &opening, &[("report", &typed)]);
    let Incoming::Modal {
        reply,
        custom_id,
        fields,
        message,
        bot_may,
        ..
    } = bot.hear(is_interaction).await
    else {
        panic!("no modal");
    };
    assert_eq!((custom_id.as_str(), message), ("analyze:1", None));
    assert_eq!(fields.get("report"), Some(&typed));
    assert!(bot_may.may(&[Need::Post, Need::StartThread]));
    let components = json!([
        {"type": 1, "components": [{"type": 2, "style": 1, "custom_id": "b:1", "label": "Worked"}]},
        {"type": 1, "components": [{
            "type": 3, "custom_id": "s:1", "min_values": 0, "max_values": 2, "options": [
                {"label": "One", "value": "1"}, {"label": "Two", "value": "2"},
            ],
        }]},
    ]);
    let payload = json!({"content": "card", "components": components});
    bot.rest.show(&reply, &payload, false).await.expect("shown");
    let card = submitted.original().await;

    let pressed = discord.click(alice, card.id, "Worked");
    let Incoming::Component {
        reply,
        custom_id,
        values,
        message,
        ..
    } = bot.hear(is_interaction).await
    else {
        panic!("no component");
    };
    assert_eq!((custom_id.as_str(), message), ("b:1", card.id.0));
    assert_eq!(values, [""; 0]);
    bot.rest.defer_update(&reply).await.expect("acknowledged");
    assert!(matches!(pressed.response().await, Response::DeferredUpdate));
    let selected = discord.select(alice, card.id, "s:1", &["1", "2"]);
    let incoming = bot.hear(is_interaction).await;
    let Incoming::Component { values, .. } = &incoming else {
        panic!("no component");
    };
    assert_eq!(*values, ["1", "2"]);
    let updated = json!({"content": "two ticks", "components": []});
    let reply = reply_of(&incoming);
    bot.rest
        .update_message(&reply, &updated)
        .await
        .expect("updated");
    assert_eq!(selected.original().await.content, "two ticks");
    bot.end().await;
    discord.finish();
}

fn reply_of(incoming: &Incoming) -> Reply {
    incoming.reply().expect("an interaction").clone()
}

#[tokio::test]
async fn a_message_command_reads_an_alert_that_is_all_embed() {
    let discord = Discord::start().await;
    let (_, channel, alice) = incidents(&discord);
    // Also without the intent: the target of a message command comes whole.
    discord.set_message_content(false);
    let mut started = bot(&discord);
    started.message_content = false;
    let mut bot = started.connected().await;
    let embed = json!({
        "author": {"name": "Alertmanager"},
        "title": "[FIRING:1] HighErrorRate",
        "description": "5xx above 5 % on checkout",
        "fields": [
            {"name": "instance", "value": "web-3"},
            {"name": "\u{200b}", "value": "no name"},
        ],
        "footer": {"text": "since 02:51"},
    });
    let alert = discord.webhook_post(channel, "alerts", "", &[embed]);
    let used = discord.message_command(alice, "Analyze as incident", alert);
    let Incoming::MessageCommand {
        command,
        message,
        who,
        ..
    } = bot.hear(is_interaction).await
    else {
        panic!("no message command");
    };
    assert_eq!(command, "Analyze as incident");
    assert_eq!(who.id, alice.0);
    assert_eq!(message.id, alert.0);
    assert!(message.from_bot);
    assert_eq!(
        message.text,
        "Alertmanager\n[FIRING:1] HighErrorRate\n5xx above 5 % on checkout\ninstance: web-3\nno name\nsince 02:51"
    );
    used.forget();
    bot.end().await;
    discord.finish();
}

#[tokio::test]
async fn messages_say_whether_the_bot_is_meant_and_automatic_ones_are_not_heard() {
    let discord = Discord::start().await;
    let (guild, channel, alice) = incidents(&discord);
    let other = discord.other_bot(guild, "uptime");
    let mut bot = bot(&discord).connected().await;
    // None of these is heard, though each is delivered.
    discord.webhook_post(channel, "alerts", "firing", &[]);
    discord.say(other, channel, "up");
    let mine = json!({"content": "mine"});
    let own = bot
        .rest
        .post(channel.0, &mine, vec![])
        .await
        .expect("posted");
    discord.next_post(channel).await;

    let first = discord.say(alice, channel, "服务挂了");
    let second = discord.say(
        alice,
        channel,
        Say::text(&format!("{} why?", discord.bot_mention()))
            .file(Upload::new("a.log", "x"))
            .silent_reply_to(standin::MessageId(own)),
    );
    let third = discord.say(
        alice,
        channel,
        Say::text("and now?").reply_to(standin::MessageId(own)),
    );
    let mut found = Vec::new();
    for _ in 0..3 {
        let Incoming::Message {
            who,
            message,
            mentions_bot,
            replies_to,
            empty_without_intent,
            ..
        } = bot.hear(is_message).await
        else {
            panic!("no message");
        };
        assert_eq!((who.id, message.from_bot), (alice.0, false));
        assert!(!empty_without_intent);
        found.push((
            message.id,
            message.text,
            message.files.len(),
            mentions_bot,
            replies_to,
            who.locale,
        ));
    }
    // They come in no order.
    found.sort_by_key(|message| message.0);
    let mention = format!("{} why?", discord.bot_mention());
    assert_eq!(
        found,
        [
            (first.0, "服务挂了".to_owned(), 0, false, None, Locale::Zh),
            (second.0, mention, 1, true, Some(own), Locale::En),
            (
                third.0,
                "and now?".to_owned(),
                0,
                true,
                Some(own),
                Locale::En
            ),
        ]
    );
    assert!(!bot.heard_so_far().iter().any(is_message));
    bot.end().await;
    discord.finish();
}

#[tokio::test]
async fn without_the_intent_a_silent_message_says_so() {
    let discord = Discord::start().await;
    discord.set_message_content(false);
    let (_, channel, alice) = incidents(&discord);
    let mut started = bot(&discord);
    started.message_content = false;
    let mut bot = started.connected().await;
    assert!(!bot.state.message_content());
    assert_eq!(discord.gateway().intents(), Some(513));
    discord.say(
        alice,
        channel,
        Say::text("the pool is full").file(Upload::new("a.log", "x")),
    );
    let Incoming::Message {
        message,
        empty_without_intent,
        mentions_bot,
        ..
    } = bot.hear(is_message).await
    else {
        panic!("no message");
    };
    assert_eq!((message.text.as_str(), message.files.len()), ("", 0));
    assert!(empty_without_intent && !mentions_bot);
    discord.say(alice, channel, format!("{} why?", discord.bot_mention()));
    let Incoming::Message {
        message,
        empty_without_intent,
        mentions_bot,
        ..
    } = bot.hear(is_message).await
    else {
        panic!("no message");
    };
    assert!(message.text.ends_with("why?") && mentions_bot && !empty_without_intent);
    bot.end().await;
    discord.finish();
}

#[tokio::test]
async fn changes_of_threads_and_what_is_gone_are_heard() {
    let discord = Discord::start().await;
    let (guild, channel, alice) = incidents(&discord);
    let mut bot = bot(&discord).connected().await;
    let thread = discord.thread(alice, channel, "a thread", false);
    let is_change = |i: &Incoming| matches!(i, Incoming::ThreadChanged { .. });
    let is_gone = |i: &Incoming| matches!(i, Incoming::Gone(_));
    type Act = fn(&Discord, ChannelId);
    let acts: [(Act, bool, bool); 3] = [
        (Discord::archive, true, false),
        (Discord::unarchive, false, false),
        (Discord::lock, false, true),
    ];
    for (act, is_archived, is_locked) in acts {
        act(&discord, thread);
        let Incoming::ThreadChanged {
            guild: g,
            thread: t,
            archived,
            locked,
        } = bot.hear(is_change).await
        else {
            panic!("no change");
        };
        assert_eq!((g, t), (guild.0, thread.0));
        assert_eq!((archived, locked), (is_archived, is_locked));
    }
    let said = discord.say(alice, channel, "oops");
    discord.delete_message(said);
    let gone = Gone::Message {
        channel: channel.0,
        message: said.0,
    };
    assert_eq!(bot.hear(is_gone).await, Incoming::Gone(gone));
    discord.delete_channel(thread);
    assert_eq!(
        bot.hear(is_gone).await,
        Incoming::Gone(Gone::Thread(thread.0))
    );
    let other = discord.channel(guild, "other");
    discord.delete_channel(other);
    assert_eq!(
        bot.hear(is_gone).await,
        Incoming::Gone(Gone::Channel(other.0))
    );
    discord.remove_bot(guild);
    assert_eq!(
        bot.hear(is_gone).await,
        Incoming::Gone(Gone::Guild(guild.0))
    );
    bot.end().await;
    discord.finish();
}

#[tokio::test]
async fn what_cannot_be_read_is_counted_and_an_interaction_still_gets_an_answer() {
    let discord = Discord::start().await;
    let (_, channel, alice) = incidents(&discord);
    let mut bot = bot(&discord).connected().await;
    discord
        .gateway()
        .send_event("SOMETHING_NEW", &json!({"secret": "hunter2"}));
    discord.gateway().send_event(
        "INTERACTION_CREATE",
        &json!({
            "id": "1300000000000000000", "application_id": discord.bot().to_string(),
            "type": 99, "token": "tok", "locale": "zh-TW",
        }),
    );
    let incoming = bot.hear(is_interaction).await;
    let Incoming::Unreadable { reply, locale } = &incoming else {
        panic!("no unreadable interaction: {incoming:?}");
    };
    assert_eq!(reply.interaction, 1_300_000_000_000_000_000);
    assert_eq!(*locale, Locale::Zh);
    discord.gateway().send_garbage();
    discord.gateway().send_unknown_op();
    // It goes on.
    discord.say(alice, channel, "still there?");
    bot.hear(is_message).await;
    assert_eq!(bot.state.unknown_events(), 2);
    bot.end().await;
    discord.finish();
}

#[tokio::test]
async fn a_handler_that_panics_hurts_nothing_else() {
    let discord = Discord::start().await;
    let (_, channel, alice) = incidents(&discord);
    let mut bot = bot(&discord).connected().await;
    let lost = discord.autocomplete(
        alice,
        channel,
        "analyze",
        "service",
        json!({"service": "panic"}),
    );
    bot.until("the panic", |state| state.panics() == 1).await;
    lost.forget();
    discord.say(alice, channel, "still there?");
    bot.hear(is_message).await;
    bot.end().await;
    discord.finish();
}

// ---- staying connected ---------------------------------------------------------------------------

#[tokio::test]
async fn what_is_replayed_after_a_resume_is_heard_twice() {
    let discord = Discord::start().await;
    let (_, channel, alice) = incidents(&discord);
    let mut bot = bot(&discord).connected().await;
    let before = discord.say(alice, channel, "before");
    bot.hear(is_message).await;
    discord.gateway().set_replay_overlap(1);
    discord.gateway().close(1001);
    let while_away = discord.say(alice, channel, "while away");
    discord.gateway().resumed(1).await;
    let after = discord.say(alice, channel, "after");
    let (mut seen, mut resumed) = (Vec::new(), false);
    let wanted = [before.0, while_away.0, after.0];
    while !resumed || !wanted.iter().all(|id| seen.contains(id)) {
        match bot.hear(|_| true).await {
            Incoming::Message { message, .. } => seen.push(message.id),
            Incoming::Connected { resumed: true, .. } => resumed = true,
            other => panic!("{other:?}"),
        }
    }
    // In any order, and the one before once more: who acts on a message keeps its id.
    seen.sort_unstable();
    assert_eq!(seen, wanted);
    assert_eq!(bot.state.lives(), 1);
    assert_eq!(bot.state.resumptions(), 1);
    bot.end().await;
    discord.finish();
}

#[tokio::test]
async fn a_message_delivered_twice_is_told_twice() {
    let discord = Discord::start().await;
    let (_, channel, alice) = incidents(&discord);
    let mut bot = bot(&discord).connected().await;
    let said = discord.say(alice, channel, "once");
    discord.redeliver(said);
    let first = bot.hear(is_message).await;
    let second = bot.hear(is_message).await;
    assert_eq!(first, second);
    bot.end().await;
    discord.finish();
}

type Loss = fn(&Discord);

#[tokio::test]
async fn every_way_to_lose_the_connection_comes_back() {
    let lost: [(&str, Loss); 9] = [
        ("op 7", |d| d.gateway().ask_to_reconnect()),
        ("op 9, resumable", |d| d.gateway().invalidate(true)),
        ("op 9", |d| d.gateway().invalidate(false)),
        ("TCP", |d| d.gateway().drop_connection()),
        ("1001", |d| d.gateway().close(1001)),
        ("4000", |d| d.gateway().close(4000)),
        ("4007", |d| d.gateway().close(4007)),
        ("4008", |d| d.gateway().close(4008)),
        ("4009", |d| d.gateway().close(4009)),
    ];
    let each = lost.into_iter().map(|(what, lose)| async move {
        let discord = Discord::start().await;
        let (_, channel, alice) = incidents(&discord);
        let mut bot = bot(&discord).connected().await;
        lose(&discord);
        bot.hear(|i| matches!(i, Incoming::Connected { .. })).await;
        discord.say(alice, channel, what);
        bot.hear(is_message).await;
        assert_eq!(bot.state.lives(), 1, "{what}");
        assert!(bot.state.connected(), "{what}");
        bot.end().await;
        discord.finish();
    });
    futures::future::join_all(each).await;
}

/// In serenity 0.12.5 each of these is a loop without a pause, for up to 41 seconds.
#[tokio::test]
async fn a_connection_that_is_dead_without_a_word_is_replaced_within_seconds() {
    let lost: [(&str, Loss); 4] = [
        ("no code", |d| d.gateway().close_without_code()),
        ("4003", |d| d.gateway().close(4003)),
        ("4010", |d| d.gateway().close(4010)),
        ("4011", |d| d.gateway().close(4011)),
    ];
    for (what, lose) in lost {
        let discord = Discord::start().await;
        let (_, channel, alice) = incidents(&discord);
        let mut bot = bot(&discord).connected().await;
        let begun = Instant::now();
        lose(&discord);
        bot.hear(|i| matches!(i, Incoming::Connected { resumed: false, .. }))
            .await;
        let took = begun.elapsed();
        assert!(took < seconds(10), "{what}: {took:?}");
        assert_eq!(bot.state.lives(), 2, "{what}");
        discord.say(alice, channel, what);
        bot.hear(is_message).await;
        bot.end().await;
        discord.finish();
    }
}

#[tokio::test]
async fn heartbeats_without_an_answer_are_not_waited_for_forever() {
    let discord = Discord::start().await;
    let (_, channel, alice) = incidents(&discord);
    // The library gives such a connection up by itself, after one interval.
    discord
        .gateway()
        .set_heartbeat_interval(Duration::from_millis(700));
    discord.gateway().set_acknowledging(false);
    let mut bot = bot(&discord).connected().await;
    discord.gateway().identified(2).await;
    discord.gateway().set_acknowledging(true);
    bot.hear(|i| matches!(i, Incoming::Connected { .. })).await;
    discord.say(alice, channel, "hello");
    bot.hear(is_message).await;
    bot.until("an answered heartbeat", |state| state.latency().is_some())
        .await;
    bot.end().await;
    discord.finish();
}

#[tokio::test]
async fn a_silent_discord_is_dialled_again() {
    let discord = Discord::start().await;
    incidents(&discord);
    let mut started = bot(&discord);
    // Heartbeats are due after 41 s: here nothing at all is a sign.
    started.patience.silent = Duration::from_millis(600);
    let bot = started.connected().await;
    bot.until("a second life", |state| state.lives() >= 2).await;
    discord.gateway().identified(2).await;
    bot.end().await;
    discord.finish();
}

#[tokio::test]
async fn a_gateway_that_refuses_connections_is_tried_until_it_takes_them() {
    let discord = Discord::start().await;
    let (_, channel, alice) = incidents(&discord);
    discord.gateway().set_refusing(true);
    let mut started = bot(&discord);
    started.patience.headless = Duration::from_millis(400);
    let mut bot = started.begin();
    bot.until("a third life", |state| state.lives() >= 3).await;
    assert!(!bot.state.connected());
    discord.gateway().set_refusing(false);
    bot.hear(|i| matches!(i, Incoming::Connected { .. })).await;
    discord.say(alice, channel, "hello");
    bot.hear(is_message).await;
    bot.end().await;
    discord.finish();
}

#[tokio::test]
async fn without_consent_to_read_messages_it_goes_on_without() {
    let discord = Discord::start().await;
    discord.set_message_content(false);
    let (_, channel, alice) = incidents(&discord);
    let mut bot = bot(&discord).begin();
    let connected = bot.hear(|i| matches!(i, Incoming::Connected { .. })).await;
    let Incoming::Connected {
        message_content, ..
    } = connected
    else {
        panic!("not connected");
    };
    assert!(!message_content && !bot.state.message_content());
    let intents: Vec<u64> = discord
        .gateway()
        .acts()
        .into_iter()
        .filter_map(|act| match act {
            ClientAct::Identify { intents } => Some(intents),
            _ => None,
        })
        .collect();
    assert_eq!(intents, [33281, 513]);
    discord.say(alice, channel, format!("{} hello", discord.bot_mention()));
    bot.hear(is_message).await;
    bot.end().await;
    discord.finish();
}

#[tokio::test]
async fn only_what_an_operator_has_to_mend_ends_it() {
    for (answers, message_content, said) in [
        (&[4004][..], true, "DISCORD_TOKEN"),
        (&[4013], true, "this version is too old"),
        (&[4014, 4014], true, "Privileged Gateway Intents"),
        (&[4014], false, "Privileged Gateway Intents"),
    ] {
        let discord = Discord::start().await;
        incidents(&discord);
        for code in answers {
            discord
                .gateway()
                .answer_identify(IdentifyAnswer::Close(*code));
        }
        let mut started = bot(&discord);
        started.message_content = message_content;
        let error = started.begin().gave_up().await;
        assert!(error.to_string().contains(said), "{answers:?}: {error}");
        discord.finish();
    }
}

#[tokio::test]
async fn it_shuts_down_whatever_it_is_doing() {
    // Waiting for the API.
    let discord = Discord::start().await;
    discord.fail_times(
        "GET",
        "/applications/@me",
        Failure::error(503, 0, "x"),
        1_000,
    );
    let started = bot(&discord).begin();
    discord.await_request("GET", "/applications/@me", 2).await;
    started.end().await;
    // Waiting for the gateway.
    let discord = Discord::start().await;
    discord.gateway().set_refusing(true);
    let started = bot(&discord).begin();
    started.until("a life", |state| state.lives() == 1).await;
    started.end().await;
    // Connected: the session is closed.
    let discord = Discord::start().await;
    let started = bot(&discord).connected().await;
    started.end().await;
    discord
        .gateway()
        .await_act("a close", 1, |act| {
            matches!(act, ClientAct::Close { code: Some(1000) })
        })
        .await;
    // Its sender gone.
    let discord = Discord::start().await;
    let Bot { stop, task, .. } = bot(&discord).connected().await;
    drop(stop);
    let ended = tokio::time::timeout(PATIENCE, task).await;
    ended
        .expect("in time")
        .expect("no panic")
        .expect("no error");
}

// ---- asking ------------------------------------------------------------------------------------

#[tokio::test]
async fn refusals_are_the_callers_choices() {
    let discord = Discord::start().await;
    let (_, channel, alice) = incidents(&discord);
    let rest = rest(&discord);
    let hello = json!({"content": "hello"});
    let post = |channel: ChannelId| {
        let (rest, hello) = (rest.clone(), hello.clone());
        async move { rest.post(channel.0, &hello, vec![]).await }
    };
    assert_eq!(post(ChannelId(1)).await, Err(DiscordError::UnknownChannel));
    let gone = rest.edit(channel.0, 1, &hello, vec![]).await;
    assert_eq!(gone, Err(DiscordError::UnknownMessage));

    let mine = post(channel).await.expect("posted");
    discord.next_post(channel).await;
    let thread = rest
        .start_thread(channel.0, mine, &"payments ".repeat(20))
        .await;
    let thread = ChannelId(thread.expect("started"));
    assert_eq!(thread.0, mine);
    let again = rest.start_thread(channel.0, mine, "again").await;
    assert_eq!(again, Err(DiscordError::ThreadExists));
    let inside = post(thread).await.expect("posted");
    discord.next_post(thread).await;
    discord.archive(thread);
    let archived = rest.edit(thread.0, inside, &hello, vec![]).await;
    assert_eq!(archived, Err(DiscordError::Archived));
    let found = rest.channel(thread.0).await.expect("it is there");
    assert!(found.archived && found.thread && !found.locked);
    rest.unarchive(thread.0).await.expect("unarchived");
    rest.edit(thread.0, inside, &hello, vec![])
        .await
        .expect("edited");
    let _ = discord.posts(thread);
    discord.lock(thread);
    discord.archive(thread);
    assert_eq!(post(thread).await, Err(DiscordError::Locked));
    let locked = rest.unarchive(thread.0).await;
    assert_eq!(
        locked,
        Err(DiscordError::MissingPermission(Some("Manage Threads")))
    );

    discord.deny(
        channel,
        discord.bot(),
        may::SEND_MESSAGES | may::ADD_REACTIONS,
    );
    assert_eq!(
        post(channel).await,
        Err(DiscordError::MissingPermission(None))
    );
    let said = discord.say(alice, channel, "look");
    let react = rest.react(channel.0, said.0, "👀").await;
    assert_eq!(
        react,
        Err(DiscordError::MissingPermission(Some("Add Reactions")))
    );
    discord.deny(channel, discord.bot(), may::CREATE_PUBLIC_THREADS);
    let started = rest.start_thread(channel.0, said.0, "a").await;
    assert_eq!(
        started,
        Err(DiscordError::MissingPermission(Some(
            "Create Public Threads"
        )))
    );
    discord.deny(channel, discord.bot(), may::VIEW_CHANNEL);
    assert_eq!(post(channel).await, Err(DiscordError::MissingAccess));
    let hidden = rest.message(channel.0, said.0).await;
    assert_eq!(hidden, Err(DiscordError::MissingAccess));
    discord.finish();
}

#[tokio::test]
async fn faults_are_the_bots_own_and_named() {
    let discord = Discord::start().await;
    let (_, channel, _) = incidents(&discord);
    let rest = rest(&discord);
    let empty = rest.post(channel.0, &json!({"content": ""}), vec![]).await;
    assert!(
        matches!(empty, Err(DiscordError::Invalid { .. })),
        "{empty:?}"
    );
    let long = json!({"embeds": [{"description": "x".repeat(5_000)}]});
    let long = rest.post(channel.0, &long, vec![]).await;
    assert!(
        matches!(&long, Err(DiscordError::Invalid { path, .. }) if path == "embeds.0.description"),
        "{long:?}"
    );
    let huge = vec![("huge.log".to_owned(), vec![b'x'; 11 * 1024 * 1024])];
    let huge = rest.post(channel.0, &json!({"content": "a"}), huge).await;
    assert_eq!(huge, Err(DiscordError::TooLarge));
    for (status, code, expected) in [
        (401, 0, DiscordError::Unauthorized),
        (
            500,
            0,
            DiscordError::Other {
                status: 500,
                code: 0,
            },
        ),
        (
            403,
            20016,
            DiscordError::Other {
                status: 403,
                code: 20016,
            },
        ),
    ] {
        discord.fail_next("POST", "/channels/**", Failure::error(status, code, "x"));
        let error = rest.post(channel.0, &json!({"content": "a"}), vec![]).await;
        assert_eq!(error, Err(expected));
    }
    discord.fail_next("POST", "/channels/**", Failure::Drop);
    let dropped = rest.post(channel.0, &json!({"content": "a"}), vec![]).await;
    assert_eq!(dropped, Err(DiscordError::Unreachable));
    discord.forgive("");
    discord.finish();
}

#[tokio::test]
async fn interactions_are_answered_once_and_in_time() {
    let discord = Discord::start().await;
    let (_, channel, alice) = incidents(&discord);
    let mut bot = bot(&discord).connected().await;
    let ask = async |bot: &mut Bot| -> (Interaction, Reply) {
        let asked = discord.slash(alice, channel, "why", json!({}));
        (asked, reply_of(&bot.hear(is_interaction).await))
    };
    let hello = json!({"content": "hello"});

    let (asked, reply) = ask(&mut bot).await;
    bot.rest.show(&reply, &hello, true).await.expect("shown");
    let twice = bot.rest.show(&reply, &hello, true).await;
    assert_eq!(twice, Err(DiscordError::AlreadyAnswered));
    let more = json!({"content": "more"});
    bot.rest
        .follow_up(&reply, &more, vec![], true)
        .await
        .expect("followed up");
    assert_eq!(asked.ephemeral().await.content, "hello");
    let followed = asked.next_followup().await;
    assert_eq!(
        (followed.content.as_str(), followed.ephemeral_for),
        ("more", Some(alice))
    );
    assert_eq!(
        bot.rest.original(&reply).await.expect("there").text,
        "hello"
    );
    bot.rest.delete_original(&reply).await.expect("deleted");

    // Nothing to edit before the first answer.
    let (asked, reply) = ask(&mut bot).await;
    let early = bot.rest.edit_original(&reply, &hello, vec![]).await;
    assert_eq!(early, Err(DiscordError::TokenGone));
    // The answer is lost on its way back: it is sent once more, and had arrived.
    discord.fail_next("POST", "/interactions/**", Failure::DropAfterwards);
    bot.rest.defer(&reply, false).await.expect("answered");
    bot.rest
        .edit_original(&reply, &hello, vec![])
        .await
        .expect("edited");
    asked.original().await;
    // Discord stumbles once.
    let (asked, reply) = ask(&mut bot).await;
    discord.fail_next("POST", "/interactions/**", Failure::error(503, 0, "x"));
    bot.rest
        .show(&reply, &hello, false)
        .await
        .expect("answered");
    asked.original().await;
    // A connection died in silence: the answer goes out on another.
    let (asked, reply) = ask(&mut bot).await;
    discord.fail_next("POST", "/interactions/**", Failure::Hang);
    let begun = Instant::now();
    let shown = bot.rest.show(&reply, &hello, false).await;
    shown.expect("answered the second time");
    assert!(begun.elapsed() < seconds(3));
    asked.original().await;
    // Discord hangs: that is known before its three seconds are over.
    let (asked, reply) = ask(&mut bot).await;
    discord.fail_times("POST", "/interactions/**", Failure::Hang, 2);
    let begun = Instant::now();
    let hung = bot.rest.show(&reply, &hello, false).await;
    assert_eq!(hung, Err(DiscordError::Unreachable));
    assert!(begun.elapsed() < seconds(3));
    asked.forget();
    // Discord limits for longer than a person waits.
    let (asked, reply) = ask(&mut bot).await;
    discord.fail_next(
        "POST",
        "/interactions/**",
        Failure::rate_limited(seconds(5)),
    );
    let limited = bot.rest.show(&reply, &hello, false).await;
    let wait = Some(seconds(5));
    assert_eq!(
        limited,
        Err(DiscordError::RateLimited { retry_after: wait })
    );
    asked.forget();
    // Too late.
    let (asked, reply) = ask(&mut bot).await;
    discord.clock().advance(seconds(4));
    let late = bot.rest.show(&reply, &hello, false).await;
    assert_eq!(late, Err(DiscordError::TokenGone));
    asked.forget();
    let (asked, reply) = ask(&mut bot).await;
    bot.rest.defer(&reply, false).await.expect("in time");
    discord.clock().advance(seconds(16 * 60));
    let late = bot.rest.edit_original(&reply, &hello, vec![]).await;
    assert_eq!(late, Err(DiscordError::TokenGone));
    asked.forget();
    bot.end().await;
    discord.forgive("");
    discord.finish();
}

#[tokio::test]
async fn files_and_nonces_go_with_the_post() {
    let discord = Discord::start().await;
    let (_, channel, _) = incidents(&discord);
    let rest = rest(&discord);
    let payload = json!({
        "content": "cut", "nonce": "post:1", "enforce_nonce": true,
        "components": [{"type": 1, "components": [
            {"type": 2, "style": 2, "custom_id": "a:1", "label": "A"},
        ]}],
    });
    let files = || {
        vec![
            ("full.md".to_owned(), "全文".as_bytes().to_vec()),
            ("card.svg".to_owned(), b"<svg/>".to_vec()),
        ]
    };
    let first = rest
        .post(channel.0, &payload, files())
        .await
        .expect("posted");
    let again = rest
        .post(channel.0, &payload, files())
        .await
        .expect("the same");
    assert_eq!(first, again);
    let post = discord.next_post(channel).await;
    assert_eq!(
        post.file("full.md")
            .map(standin::PostedFile::text)
            .as_deref(),
        Some("全文")
    );
    assert_eq!(post.file("card.svg").map(|file| file.bytes.len()), Some(6));
    let edited = json!({"content": "again", "attachments": []});
    rest.edit(
        channel.0,
        first,
        &edited,
        vec![("new.txt".to_owned(), b"n".to_vec())],
    )
    .await
    .expect("edited");
    let found = rest.recent_own(channel.0, 50).await.expect("there");
    assert_eq!(found.len(), 1);
    assert_eq!((found[0].id, found[0].text.as_str()), (first, "again"));
    assert_eq!(found[0].custom_ids, ["a:1"]);
    let _ = discord.posts(channel);
    discord.finish();
}

#[tokio::test]
async fn what_was_missed_is_caught_up_with_oldest_first() {
    let discord = Discord::start().await;
    let (_, channel, alice) = incidents(&discord);
    let rest = rest(&discord);
    let first = discord.say(alice, channel, "first");
    let mut later = Vec::new();
    for n in 0..230 {
        later.push(discord.say(alice, channel, format!("message {n}")).0);
    }
    let found = rest
        .messages_after(channel.0, first.0, 1_000)
        .await
        .expect("there");
    assert_eq!(found.iter().map(|m| m.id).collect::<Vec<_>>(), later);
    assert_eq!(found[7].text, "message 7");
    assert_eq!(found[7].author.name, "alice");
    let some = rest
        .messages_after(channel.0, first.0, 120)
        .await
        .expect("there");
    assert_eq!(some.iter().map(|m| m.id).collect::<Vec<_>>(), later[..120]);
    let none = rest
        .messages_after(channel.0, later[229], 10)
        .await
        .expect("there");
    assert_eq!(none, []);
    let all = rest.messages_after(channel.0, 0, 10).await.expect("there");
    assert_eq!(all[0].id, first.0);
    discord.finish();
}

#[tokio::test]
async fn the_bot_knows_itself() {
    let discord = Discord::start().await;
    let (_, channel, _) = incidents(&discord);
    let rest = rest(&discord);
    assert_eq!(rest.me().await.expect("known").id, discord.bot().0);
    let application = rest.application().await.expect("known");
    assert!(application.message_content && application.public);
    discord.set_message_content(false);
    assert!(!rest.application().await.expect("known").message_content);
    rest.typing(channel.0).await.expect("typing");
    assert_eq!(discord.typing(channel), 1);
    assert!(!format!("{rest:?}").contains(&discord.token()));
    discord.finish();
}

// ---- rate limits -----------------------------------------------------------------------------

#[tokio::test]
async fn a_limit_is_waited_out_and_an_announced_one_not_run_into() {
    let discord = Discord::start().await;
    let (_, channel, _) = incidents(&discord);
    let rest = rest(&discord);
    let hello = json!({"content": "hello"});
    discord.fail_next(
        "POST",
        "/channels/**",
        Failure::rate_limited(Duration::from_millis(300)),
    );
    let begun = Instant::now();
    rest.post(channel.0, &hello, vec![])
        .await
        .expect("after the wait");
    assert!(begun.elapsed() >= Duration::from_millis(300));

    let pattern = "/channels/*/messages";
    discord.limit_route("POST", pattern, 2, Duration::from_millis(400));
    tokio::time::sleep(Duration::from_millis(1_000)).await;
    for _ in 0..5 {
        rest.post(channel.0, &hello, vec![]).await.expect("posted");
    }
    let refused = discord.requests_to("POST", pattern);
    let refused = refused.iter().filter(|request| request.status == 429);
    assert_eq!(
        refused.count(),
        1,
        "only the first, which was not announced"
    );
    let _ = discord.posts(channel);
    discord.finish();
}

#[tokio::test]
async fn a_limit_that_takes_too_long_is_told() {
    let discord = Discord::start().await;
    let (_, channel, _) = incidents(&discord);
    let rest = rest(&discord);
    let hello = json!({"content": "hello"});
    let begun = Instant::now();
    discord.fail_next("POST", "/channels/**", Failure::rate_limited(seconds(600)));
    let limited = rest.post(channel.0, &hello, vec![]).await;
    let Err(DiscordError::RateLimited {
        retry_after: Some(wait),
    }) = limited
    else {
        panic!("{limited:?}");
    };
    assert_eq!(wait, seconds(600));
    assert!(begun.elapsed() < seconds(2));
    discord.finish();
}

#[tokio::test]
async fn a_global_limit_holds_for_every_route_but_not_for_interactions() {
    let discord = Discord::start().await;
    let (_, channel, alice) = incidents(&discord);
    let mut bot = bot(&discord).connected().await;
    let asked = discord.slash(alice, channel, "why", json!({}));
    let reply = reply_of(&bot.hear(is_interaction).await);
    let wait = Duration::from_millis(900);
    discord.fail_next("POST", "/channels/**", Failure::globally_rate_limited(wait));
    let begun = Instant::now();
    let rest = bot.rest.clone();
    let posting = tokio::spawn(async move {
        rest.post(channel.0, &json!({"content": "hello"}), vec![])
            .await
    });
    discord
        .await_request("POST", "/channels/*/messages", 1)
        .await;
    bot.rest.defer(&reply, false).await.expect("not held up");
    assert!(begun.elapsed() < Duration::from_millis(800));
    bot.rest.channel(channel.0).await.expect("after the wait");
    assert!(begun.elapsed() >= wait);
    posting.await.expect("no panic").expect("posted");
    asked.forget();
    let _ = discord.posts(channel);
    bot.end().await;
    discord.forgive("");
}

#[tokio::test]
async fn a_ban_is_retried_behind_another_address_only() {
    let discord = Discord::start().await;
    let (_, channel, _) = incidents(&discord);
    let rest = rest(&discord);
    let hello = json!({"content": "hello"});
    discord.fail_next("POST", "/channels/**", Failure::banned_by_cloudflare());
    let begun = Instant::now();
    rest.post(channel.0, &hello, vec![])
        .await
        .expect("after a second");
    assert!(begun.elapsed() >= seconds(1));
    let _ = discord.posts(channel);
    discord.finish();
}

/// Discord's own address, over TLS: nothing in the bot knows that it is not.
fn over_tls(discord: &Discord) -> Rest {
    let address = discord.tls_address().expect("started with TLS");
    let der = discord
        .certificate_der()
        .expect("started with TLS")
        .to_vec();
    let token = SecretString::from(discord.token());
    let api = Api::new(token, None)
        .expect("no address")
        .prepared(move |builder| {
            let certificate = reqwest::Certificate::from_der(&der).expect("a certificate");
            builder
                .resolve("discord.com", address)
                .resolve("cdn.discordapp.com", address)
                .tls_certs_only([certificate])
        });
    Rest::new(api).expect("TLS")
}

#[tokio::test]
async fn over_tls_limits_are_waited_out_and_bans_are_not() {
    let discord = Discord::start_tls().await;
    discord.set_cdn("https://cdn.discordapp.com");
    let (_, channel, alice) = incidents(&discord);
    let rest = over_tls(&discord);
    let mut started = bot(&discord);
    started.rest = rest.clone();
    let mut bot = started.connected().await;
    let hello = json!({"content": "hello"});
    discord.fail_next("POST", "/channels/**", Failure::rate_limited(seconds(1)));
    let begun = Instant::now();
    rest.post(channel.0, &hello, vec![])
        .await
        .expect("after the wait");
    assert!(begun.elapsed() >= seconds(1));
    discord.fail_next("POST", "/channels/**", Failure::banned_by_cloudflare());
    let banned = rest.post(channel.0, &hello, vec![]).await;
    assert_eq!(banned, Err(DiscordError::RateLimited { retry_after: None }));
    // The CDN by its own name.
    let log = discord.upload(Upload::new("a.log", "from the CDN"));
    let asked = discord.slash(alice, channel, "analyze", json!({"log": log.to_string()}));
    let Incoming::Slash { options, .. } = bot.hear(is_interaction).await else {
        panic!("no slash command");
    };
    let file = options.file("log").expect("resolved");
    assert!(file.url.starts_with("https://cdn.discordapp.com/"));
    let read = rest.read_file(file, attachments::CAP_BYTES).await;
    assert_eq!((read.text.as_str(), read.note), ("from the CDN", None));
    asked.forget();
    let _ = discord.posts(channel);
    bot.end().await;
    discord.finish();
}

// ---- attachments -------------------------------------------------------------------------------

#[tokio::test]
async fn attachments_are_read_up_to_the_cap_and_only_from_discord() {
    let discord = Discord::start().await;
    let (_, channel, alice) = incidents(&discord);
    let mut bot = bot(&discord).connected().await;
    let line = "2026-05-14 02:51 ERROR pool exhausted on web-3\n";
    let long = line.repeat(120_000);
    let gbk = encoding_rs::GBK
        .encode("数据库连接池已满，请求超时，重试失败\n")
        .0
        .into_owned();
    let cases: [(&str, Vec<u8>, Option<FileNote>); 6] = [
        ("message.txt", line.repeat(64).into_bytes(), None),
        (
            "message.txt",
            "\u{feff}三百字的日志\n".repeat(9).into_bytes(),
            None,
        ),
        ("app.log", gbk, None),
        (
            "shot.png",
            b"\x89PNG\r\n\x1a\n0000".to_vec(),
            Some(FileNote::Binary { of: 12 }),
        ),
        ("empty.txt", Vec::new(), Some(FileNote::Empty)),
        (
            "big.log",
            long.clone().into_bytes(),
            Some(FileNote::Beginning {
                read: attachments::CAP_BYTES,
                of: long.len() as u64,
            }),
        ),
    ];
    for (name, bytes, note) in cases {
        let upload = Upload::new(name, bytes).content_type(None);
        discord.say(alice, channel, Say::text("look").file(upload));
        let Incoming::Message { message, .. } = bot.hear(is_message).await else {
            panic!("no message");
        };
        let [file] = message.files.as_slice() else {
            panic!("one file");
        };
        let read = bot.rest.read_file(file, attachments::CAP_BYTES).await;
        assert_eq!(read.note, note, "{name}");
        assert_eq!(
            read.text.is_empty(),
            matches!(note, Some(FileNote::Binary { .. } | FileNote::Empty))
        );
        assert!(read.text.len() <= attachments::KEPT_BYTES + 16, "{name}");
        assert!(!read.text.contains('\u{feff}') && !read.text.contains('\u{fffd}'));

        let elsewhere = FileRef {
            url: file.url.replace("127.0.0.1", "localhost"),
            ..file.clone()
        };
        let refused = bot.rest.read_file(&elsewhere, attachments::CAP_BYTES).await;
        assert_eq!(refused.note, Some(FileNote::Foreign));
        let gone = FileRef {
            url: file.url.replace("/attachments/", "/attachments/9"),
            ..file.clone()
        };
        let gone = bot.rest.read_file(&gone, attachments::CAP_BYTES).await;
        assert_eq!(gone.note, Some(FileNote::Gone));
    }
    bot.end().await;
    discord.finish();
}

/// A host that sends parts of a file of `size` bytes, numbered lines, on request; and redirects.
async fn host(size: usize, parts: bool) -> String {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0")
        .await
        .expect("a port");
    let url = format!("http://{}", listener.local_addr().expect("bound"));
    let lines: String = (0..)
        .map(|n| format!("line {n:09}\n"))
        .take(size / 15 + 1)
        .collect();
    let body: Vec<u8> = lines.into_bytes().into_iter().take(size).collect();
    tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            let body = body.clone();
            tokio::spawn(serve_file(stream, body, parts));
        }
    });
    url
}

async fn serve_file(mut stream: tokio::net::TcpStream, body: Vec<u8>, parts: bool) {
    use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        match stream.read_u8().await {
            Ok(byte) => head.push(byte),
            Err(_) => return,
        }
    }
    let head = String::from_utf8_lossy(&head).to_lowercase();
    let from = head
        .split_once("range: bytes=")
        .and_then(|(_, rest)| rest.split_once('-'))
        .and_then(|(from, _)| from.parse::<usize>().ok())
        .filter(|_| parts);
    let (status, from) = match from {
        _ if head.contains("/redirect") => ("302 Found\r\nlocation: /other", body.len()),
        Some(from) => ("206 Partial Content", from),
        None => ("200 OK", 0),
    };
    let part = body.get(from..).unwrap_or_default();
    let length = part.len();
    let head =
        format!("HTTP/1.1 {status}\r\ncontent-length: {length}\r\nconnection: close\r\n\r\n");
    // The reader hangs up when it has enough.
    let _ = stream.write_all(head.as_bytes()).await;
    let _ = stream.write_all(part).await;
}

#[tokio::test]
async fn of_a_long_log_the_end_is_read_and_redirects_are_not_followed() {
    let size = 5 * 1024 * 1024;
    let token = SecretString::from("abc.def".to_owned());
    for (parts, path, claimed) in [
        (true, "big.log", size),
        (false, "big.log", size),
        // What Discord said of its size is wrong: the cap holds.
        (true, "big.log", 10),
        (true, "redirect", size),
    ] {
        let url = host(size, parts).await;
        let rest = Rest::new(Api::new(token.clone(), Some(&url)).expect("an address"));
        let file = FileRef {
            id: 1,
            name: "big.log".to_owned(),
            url: format!("{url}/attachments/1/1/{path}"),
            size: claimed as u64,
            content_type: None,
        };
        let rest = rest.expect("TLS");
        let read = rest.read_file(&file, attachments::CAP_BYTES).await;
        let of = size as u64;
        let half = 128 * 1024;
        match (parts, path, claimed) {
            (_, "redirect", _) => {
                assert_eq!(read.note, Some(FileNote::Unreachable { of }));
            }
            (true, _, 10) => {
                let cap = attachments::CAP_BYTES;
                assert_eq!(read.note, Some(FileNote::Beginning { read: cap, of: cap }));
            }
            (true, ..) => {
                let (beginning, end) = (half, half);
                assert_eq!(read.note, Some(FileNote::Ends { beginning, end, of }));
                assert!(read.text.starts_with("line 000000000\n"));
                assert!(read.text.contains("\n[…]\nline "));
                let last = format!("line {:09}", size / 15 - 1);
                assert!(read.text.contains(&last), "the end");
            }
            (false, ..) => {
                let cap = attachments::CAP_BYTES;
                assert_eq!(read.note, Some(FileNote::Beginning { read: cap, of }));
            }
        }
        assert!(read.text.len() <= attachments::KEPT_BYTES + 16);
    }
}

#[test]
fn options_keep_their_kinds() {
    let options = precedent::discord::Options(
        [
            ("text".to_owned(), OptionValue::Text("a".to_owned())),
            ("number".to_owned(), OptionValue::Number(7)),
            ("flag".to_owned(), OptionValue::Flag(true)),
        ]
        .into(),
    );
    assert_eq!(options.text("text"), Some("a"));
    assert_eq!(options.text("number"), None);
    assert_eq!(options.number("number"), Some(7));
    assert_eq!(options.flag("flag"), Some(true));
    assert!(options.file("text").is_none());
    assert_eq!(BotMay::default().missing(&[Need::Post]), [""; 0]);
}

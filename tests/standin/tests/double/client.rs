//! The good path with the real client over plain HTTP.

use serde_json::json;
use serenity::all::{
    ChannelId, CreateAllowedMentions, CreateAttachment, CreateEmbed, CreateMessage, CreateThread,
    EditMessage, EditThread, GetMessages, GuildId, MessageId, ReactionType, UserId,
};
use standin::{Discord, Response, Say, Upload, permissions};

use crate::bot::{self, commands};

#[tokio::test]
async fn a_conversation() {
    let discord = Discord::start().await;
    let guild = discord.guild("acme");
    let incidents = discord.channel(guild, "incidents");
    let alice = discord.member(guild, "alice");
    let bot = bot::start(&discord).await;
    let registered = bot
        .http
        .create_guild_commands(GuildId::new(guild.get()), &commands())
        .await
        .unwrap();
    assert_eq!(registered.len(), 8);

    let log = discord.upload(Upload::new("app.bin", vec![0, 159, 146, 150]).content_type(None));
    let echo = discord.slash(
        alice,
        incidents,
        "echo",
        json!({"text": "hello", "log": log, "whom": alice}),
    );
    let Response::Message(post) = echo.response().await else {
        panic!("a message was expected");
    };
    assert_eq!(
        post.to_text(),
        "You said: hello\n\
         app.bin: 4 bytes\n\
         @alice\n\
         [Again](again:*) [Off](off off)\n\
         {Steps}(steps) One | Two"
    );
    assert!(post.pings().is_empty());

    assert!(discord.try_click(alice, &*post, "Off").is_err());
    assert!(discord.try_click(alice, &*post, "Gone").is_err());
    assert!(
        discord
            .try_select(alice, &*post, "Steps", &["Three"])
            .is_err()
    );
    let click = discord.click(alice, &*post, "Again");
    let changed = click.original().await;
    assert_eq!(changed.to_text(), "alice pressed again:1");
    assert_eq!(changed.history().len(), 2);
    assert_eq!(changed.edits, 1);

    let slow = discord.slash(alice, incidents, "slow", json!({}));
    assert!(matches!(
        slow.response().await,
        Response::Deferred { ephemeral: false }
    ));
    assert_eq!(slow.original().await.to_text(), "│ # Thought\n│ 42");
    assert_eq!(slow.next_followup().await.to_text(), "and more");

    let secret = discord.slash(alice, incidents, "secret", json!({}));
    let post = secret.ephemeral().await;
    assert_eq!(post.to_text(), "(only alice sees this)\n│ # Thought\n│ 42");
    assert!(secret.next_followup().await.ephemeral_for.is_some());
    assert!(!discord.channel_text(incidents, None).contains("only alice"));

    let report = discord.slash(alice, incidents, "report", json!({}));
    assert_eq!(
        report.modal().await.to_text(),
        "# What happened?\nReport*: ()"
    );
    for (values, why) in [
        (vec![], "must be filled in"),
        (
            vec![("Report", "longer than twenty characters")],
            "characters",
        ),
        (vec![("Nothing", "x")], "no field"),
    ] {
        let refused = discord
            .try_submit_modal(alice, &report, &values)
            .unwrap_err();
        assert!(refused.contains(why), "{refused}");
    }
    let submitted = discord.submit_modal(alice, &report, &[("text", "it burns")]);
    assert_eq!(submitted.original().await.content, "reported: it burns");

    let typed = discord.autocomplete(
        alice,
        incidents,
        "echo",
        "service",
        json!({"service": "pa"}),
    );
    assert_eq!(typed.choices().await[0].name, "payments");

    let said = discord.say(alice, incidents, "the checkout is slow");
    let analyze = discord.message_command(alice, "Analyze as incident", said);
    assert_eq!(
        analyze.original().await.content,
        "analyzing: the checkout is slow"
    );

    let show = discord.slash(alice, incidents, "incident show", json!({"number": 7}));
    assert_eq!(show.ephemeral().await.content, "INC-1");

    for (command, options, why) in [
        ("nothing", json!({}), "not registered"),
        ("echo", json!({}), "needs \"text\""),
        ("echo", json!({"text": "x", "more": 1}), "no option"),
        ("incident", json!({}), "needs a subcommand"),
        ("incident show", json!({"number": 0}), "out of range"),
        ("admin", json!({}), "is not shown"),
    ] {
        let refused = discord
            .try_slash(alice, incidents, command, options)
            .unwrap_err();
        assert!(refused.contains(why), "{command}: {refused}");
    }
    assert!(bot.seen.unknown.lock().unwrap().is_empty());
    discord.finish();
}

#[tokio::test]
async fn messages_threads_and_files() {
    let discord = Discord::start().await;
    let guild = discord.guild("acme");
    let incidents = discord.channel(guild, "incidents");
    let alice = discord.member(guild, "alice");
    let bot = bot::start(&discord).await;
    let http = &bot.http;
    let channel = ChannelId::new(incidents.get());

    let headline = channel
        .send_message(
            http,
            CreateMessage::new()
                .embed(CreateEmbed::new().title("SEV2").field("who", "all", true))
                .allowed_mentions(CreateAllowedMentions::new()),
        )
        .await
        .unwrap();
    let post = discord.next_post(incidents).await;
    assert_eq!(post.to_text(), "│ # SEV2\n│ [who]\n│ all");
    assert_eq!(
        post.allowed_mentions().unwrap()["parse"],
        json!([]),
        "what was sent can be looked at"
    );

    let thread = channel
        .create_thread_from_message(http, headline.id, CreateThread::new("payments · 503"))
        .await
        .unwrap();
    assert_eq!(
        thread.id.get(),
        headline.id.get(),
        "a thread has its message's id"
    );
    let there = discord.await_thread(&post).await;
    assert_eq!(discord.channel_name(there).unwrap(), "payments · 503");

    let alone = channel
        .create_thread(
            http,
            CreateThread::new("side").kind(serenity::all::ChannelType::PublicThread),
        )
        .await
        .unwrap();
    assert_eq!(alone.parent_id, Some(channel));

    let sent = thread
        .id
        .send_files(
            http,
            [CreateAttachment::bytes(b"full text".to_vec(), "full.txt")],
            CreateMessage::new().content("cut").reference_message(
                // The thread's starter is another channel's message: reply to none.
                serenity::all::MessageReference::new(
                    serenity::all::MessageReferenceKind::Default,
                    thread.id,
                )
                .message_id(discord_first(&discord, there)),
            ),
        )
        .await
        .unwrap();
    let post = discord.next_post(there).await;
    assert_eq!(post.file("full.txt").unwrap().text(), "full text");
    let fetched = sent.attachments[0].download().await.unwrap();
    assert_eq!(fetched, b"full text", "the bot's own files are on the CDN");

    let mut sent = sent;
    sent.edit(http, EditMessage::new().content("changed"))
        .await
        .unwrap();
    assert_eq!(
        discord.peek(&post).unwrap().to_text(),
        "(in reply to precedent)\nchanged\n📎 full.txt"
    );

    sent.react(http, ReactionType::Unicode("👀".to_owned()))
        .await
        .unwrap();
    assert_eq!(discord.peek(&post).unwrap().reactions["👀"], 1);
    thread.id.broadcast_typing(http).await.unwrap();
    assert_eq!(discord.typing(there), 1);

    let mut open = thread.clone();
    open.edit_thread(http, EditThread::new().archived(true))
        .await
        .unwrap();
    assert_eq!(discord.is_archived(there), Some(true));
    let refused = sent
        .edit(http, EditMessage::new().content("x"))
        .await
        .unwrap_err();
    assert!(refused.to_string().contains("archived"), "{refused}");
    thread.id.say(http, "back").await.unwrap();
    assert_eq!(
        discord.is_archived(there),
        Some(false),
        "sending unarchives"
    );
    assert_eq!(discord.next_post(there).await.content, "back");

    let said = discord.say(alice, there, "what about the pool?");
    let after = thread
        .id
        .messages(
            http,
            GetMessages::new().after(MessageId::new(post.id.get())),
        )
        .await
        .unwrap();
    let contents: Vec<_> = after.iter().map(|m| m.content.as_str()).collect();
    assert_eq!(contents, ["what about the pool?", "back"], "newest first");
    let one = http
        .get_message(thread.id, MessageId::new(said.get()))
        .await
        .unwrap();
    assert_eq!(one.author.name, "alice");

    http.add_thread_channel_member(thread.id, UserId::new(alice.get()))
        .await
        .unwrap();
    let active = http
        .get_guild_active_threads(GuildId::new(guild.get()))
        .await
        .unwrap();
    assert_eq!(active.threads.len(), 2);
    assert_eq!(
        http.get_channels(GuildId::new(guild.get()))
            .await
            .unwrap()
            .len(),
        1
    );
    http.get_guild(GuildId::new(guild.get())).await.unwrap();
    http.get_member(GuildId::new(guild.get()), UserId::new(alice.get()))
        .await
        .unwrap();
    http.get_current_user().await.unwrap();
    http.get_bot_gateway().await.unwrap();
    let about = http.get_current_application_info().await.unwrap();
    assert!(
        about
            .flags
            .unwrap()
            .contains(serenity::all::ApplicationFlags::GATEWAY_MESSAGE_CONTENT_LIMITED)
    );
    sent.delete(http).await.unwrap();
    assert!(discord.peek(&post).unwrap().deleted);
    assert!(
        bot.seen.unknown.lock().unwrap().is_empty(),
        "{:?}",
        bot.seen.unknown.lock().unwrap()
    );
    discord.finish();
}

fn discord_first(discord: &Discord, thread: standin::ChannelId) -> MessageId {
    MessageId::new(discord.peek_posts(thread)[0].id.get())
}

#[tokio::test]
async fn what_the_bot_hears_and_does_not() {
    let discord = Discord::start().await;
    discord.set_message_content(false);
    let guild = discord.guild("acme");
    let open = discord.channel(guild, "open");
    let alice = discord.member(guild, "alice");
    let closed = discord.private_channel(guild, "closed", &[alice]);
    let without =
        serenity::all::GatewayIntents::GUILDS | serenity::all::GatewayIntents::GUILD_MESSAGES;
    let bot = bot::start_with(bot::http_of(&discord), without).await;
    discord.gateway().connected().await;

    discord.say(alice, closed, "in secret");
    discord.say(alice, open, "nobody listens");
    discord.webhook_post(open, "alerts", "", &[json!({"title": "DiskFull"})]);
    let mention = format!("{} hear me", discord.bot_mention());
    discord.say(alice, open, mention.as_str());
    let by_bot = bot
        .http
        .send_message(
            ChannelId::new(open.get()),
            Vec::new(),
            &json!({"content": "mine"}),
        )
        .await
        .unwrap();
    let mine = discord.next_post(open).await;
    discord.say(alice, open, Say::text("ping").reply_to(&mine));
    discord.say(alice, open, Say::text("no ping").silent_reply_to(&mine));
    bot.until("six messages", |seen| {
        seen.messages.lock().unwrap().len() == 6
    })
    .await;
    let mut contents = bot.seen.contents();
    contents.sort();
    let mut expected = vec!["", "", &mention, "mine", "ping", ""];
    expected.sort_unstable();
    assert_eq!(
        contents, expected,
        "stripped, unless it mentions the bot or is its own"
    );
    {
        let messages = bot.seen.messages.lock().unwrap();
        let alert = messages.iter().find(|m| m.webhook_id.is_some()).unwrap();
        assert!(alert.embeds.is_empty(), "embeds are stripped as well");
        let own = messages.iter().find(|m| m.id == by_bot.id).unwrap();
        assert!(own.author.bot);
    }
    let read = ChannelId::new(open.get())
        .messages(&bot.http, GetMessages::new())
        .await
        .unwrap();
    assert!(read.iter().any(|m| m.content.is_empty()), "REST strips too");
    discord.deny(open, discord.bot(), permissions::SEND_MESSAGES);
    let refused = bot
        .http
        .send_message(
            ChannelId::new(open.get()),
            Vec::new(),
            &json!({"content": "mine"}),
        )
        .await
        .unwrap_err();
    assert!(
        refused.to_string().contains("Missing Permissions"),
        "{refused}"
    );
    discord.finish();
}

#[tokio::test]
async fn what_the_double_answers_fits_discords_description() {
    if !standin::schema::is_checked() {
        return;
    }
    let discord = Discord::start().await;
    let guild = discord.guild("acme");
    let incidents = discord.channel(guild, "incidents");
    let alice = discord.member(guild, "alice");
    let said = discord.say(
        alice,
        incidents,
        Say::text("see this")
            .file(Upload::new("a.txt", "a"))
            .embed(json!({"title": "t", "type": "rich"})),
    );
    let thread = discord.thread_from(alice, said, "t");
    let private = discord.thread(alice, incidents, "p", true);
    discord.add_to_thread(private, discord.bot());
    discord.say(alice, thread, Say::text(&discord.bot_mention()));
    discord.webhook_post(incidents, "alerts", "", &[json!({"title": "t"})]);
    let http = bot::http_of(&discord);
    http.set_application_id(discord.bot().get().into());
    http.create_guild_commands(GuildId::new(guild.get()), &commands())
        .await
        .unwrap();
    let client = reqwest::Client::builder().user_agent("t").build().unwrap();
    let bot = discord.bot();
    let answers = [
        (
            format!("/channels/{incidents}/messages/{said}"),
            "MessageResponse",
        ),
        (format!("/channels/{incidents}"), "GuildChannelResponse"),
        (format!("/channels/{thread}"), "ThreadResponse"),
        (format!("/channels/{private}"), "ThreadResponse"),
        (format!("/guilds/{guild}"), "GuildWithCountsResponse"),
        (
            format!("/guilds/{guild}/members/{alice}"),
            "GuildMemberResponse",
        ),
        (format!("/guilds/{guild}/threads/active"), "ThreadsResponse"),
        ("/users/@me".to_owned(), "UserPIIResponse"),
        ("/applications/@me".to_owned(), "PrivateApplicationResponse"),
        ("/gateway/bot".to_owned(), "GatewayBotResponse"),
        (
            format!("/applications/{bot}/guilds/{guild}/commands"),
            "ApplicationCommandResponse",
        ),
        (format!("/channels/{incidents}/messages"), "MessageResponse"),
        (format!("/channels/{thread}/messages"), "MessageResponse"),
    ];
    let mut complaints = Vec::new();
    for (path, schema) in answers {
        let answer: serde_json::Value = client
            .get(format!("{}/api/v10{path}", discord.url()))
            .header("authorization", format!("Bot {}", discord.token()))
            .send()
            .await
            .unwrap()
            .json()
            .await
            .unwrap();
        let list = answer.as_array().cloned().unwrap_or_else(|| vec![answer]);
        for answer in list {
            complaints.extend(standin::schema::complaints_about_answer(schema, &answer));
        }
    }
    assert_eq!(complaints, Vec::<String>::new());
}

//! Every rule that is broken by a bare request: what is answered, and that it counts.

use std::time::Duration;

use reqwest::multipart::{Form, Part};
use serde_json::{Value, json};
use standin::{ChannelId, Discord, GuildId, Interaction, MessageId, UserId, permissions};

/// A guild, and requests as the bot.
struct Setup {
    discord: Discord,
    guild: GuildId,
    channel: ChannelId,
    alice: UserId,
    client: reqwest::Client,
}

impl Setup {
    async fn new() -> Self {
        let discord = Discord::start().await;
        let guild = discord.guild("acme");
        let channel = discord.channel(guild, "incidents");
        let alice = discord.member(guild, "alice");
        let client = reqwest::Client::builder()
            .user_agent("DiscordBot (tests, 1)")
            .build()
            .unwrap();
        let setup = Self {
            discord,
            guild,
            channel,
            alice,
            client,
        };
        let commands = json!([
            {"name": "go", "description": "Go", "options": [
                {"type": 3, "name": "to", "description": "Where", "autocomplete": true},
            ]},
        ]);
        let (status, _) = setup.ask("PUT", &setup.commands_path(), &commands).await;
        assert_eq!(status, 200);
        setup
    }

    fn commands_path(&self) -> String {
        format!(
            "/applications/{}/guilds/{}/commands",
            self.discord.bot(),
            self.guild
        )
    }

    fn messages(&self) -> String {
        format!("/channels/{}/messages", self.channel)
    }

    fn request(&self, method: &str, path: &str) -> reqwest::RequestBuilder {
        self.client
            .request(
                method.parse().unwrap(),
                format!("{}/api/v10{path}", self.discord.url()),
            )
            .header("authorization", format!("Bot {}", self.discord.token()))
    }

    async fn ask(&self, method: &str, path: &str, body: &Value) -> (u16, Value) {
        let mut request = self.request(method, path);
        if !body.is_null() {
            request = request.json(body);
        }
        answer(request).await
    }

    async fn send(&self, body: &Value) -> MessageId {
        let (status, message) = self.ask("POST", &self.messages(), body).await;
        assert_eq!(status, 200, "{message}");
        MessageId(message["id"].as_str().unwrap().parse().unwrap())
    }

    fn go(&self) -> Interaction {
        self.discord
            .slash(self.alice, self.channel, "go", json!({}))
    }

    /// The path of an interaction's callback, and of its webhook.
    fn paths(&self, interaction: &Interaction) -> (String, String) {
        // The token travels on the gateway only; the handle does not show it.
        let token = self.discord.token_of(interaction);
        (
            format!("/interactions/{}/{token}/callback", interaction.id),
            format!("/webhooks/{}/{token}", self.discord.bot()),
        )
    }
}

async fn answer(request: reqwest::RequestBuilder) -> (u16, Value) {
    let response = request.send().await.unwrap();
    let status = response.status().as_u16();
    let text = response.text().await.unwrap();
    (status, serde_json::from_str(&text).unwrap_or(Value::Null))
}

fn code(answer: &(u16, Value)) -> (u16, u64) {
    (answer.0, answer.1["code"].as_u64().unwrap_or(0))
}

fn letters(n: usize) -> String {
    "x".repeat(n)
}

fn button(id: &str) -> Value {
    json!({"type": 2, "style": 1, "label": "B", "custom_id": id})
}

fn row(children: &[Value]) -> Value {
    json!({"type": 1, "components": children})
}

fn select() -> Value {
    json!({"type": 3, "custom_id": "s", "options": [{"label": "a", "value": "a"}]})
}

/// Bodies that break a rule, with the place and the code of the error.
fn bad_messages() -> Vec<(&'static str, Value, &'static str, &'static str)> {
    let embeds = |n: usize| json!({"embeds": vec![json!({"title": "t"}); n]});
    let six = vec![json!({"description": letters(2000)}); 3];
    let mut total = six.clone();
    total.push(json!({"title": "y"}));
    vec![
        (
            "content over 2,000",
            json!({"content": letters(2001)}),
            "/content",
            "BASE_TYPE_MAX_LENGTH",
        ),
        (
            "eleven embeds",
            embeds(11),
            "/embeds",
            "BASE_TYPE_MAX_LENGTH",
        ),
        (
            "6,001 characters over all embeds",
            json!({"embeds": total}),
            "/embeds",
            "MAX_EMBED_SIZE_EXCEEDED",
        ),
        (
            "a title over 256",
            json!({"embeds": [{"title": letters(257)}]}),
            "/embeds/0/title",
            "BASE_TYPE_MAX_LENGTH",
        ),
        (
            "a description over 4,096",
            json!({"embeds": [{"description": letters(4097)}]}),
            "/embeds/0/description",
            "BASE_TYPE_MAX_LENGTH",
        ),
        (
            "26 fields",
            json!({"embeds": [{"fields": vec![json!({"name": "n", "value": "v"}); 26]}]}),
            "/embeds/0/fields",
            "BASE_TYPE_MAX_LENGTH",
        ),
        (
            "a field without a value",
            json!({"embeds": [{"fields": [{"name": "n", "value": ""}]}]}),
            "/embeds/0/fields/0/value",
            "BASE_TYPE_REQUIRED",
        ),
        (
            "a field value over 1,024",
            json!({"embeds": [{"fields": [{"name": "n", "value": letters(1025)}]}]}),
            "/embeds/0/fields/0/value",
            "BASE_TYPE_BAD_LENGTH",
        ),
        (
            "a footer over 2,048",
            json!({"embeds": [{"footer": {"text": letters(2049)}}]}),
            "/embeds/0/footer/text",
            "BASE_TYPE_BAD_LENGTH",
        ),
        (
            "a colour too large",
            json!({"embeds": [{"title": "t", "color": 16_777_216}]}),
            "/embeds/0/color",
            "NUMBER_TYPE_MAX",
        ),
        (
            "a link that is none",
            json!({"embeds": [{"title": "t", "url": "runbook"}]}),
            "/embeds/0/url",
            "URL_TYPE_INVALID_URL",
        ),
        (
            "a time that is none",
            json!({"embeds": [{"title": "t", "timestamp": "yesterday"}]}),
            "/embeds/0/timestamp",
            "DATETIME_TYPE_PARSE_DATE",
        ),
        (
            "six rows",
            json!({"content": "x", "components": (0..6).map(|i| row(&[button(&i.to_string())])).collect::<Vec<_>>()}),
            "/components",
            "BASE_TYPE_MAX_LENGTH",
        ),
        (
            "six buttons",
            json!({"content": "x", "components": [row(&(0..6).map(|i| button(&i.to_string())).collect::<Vec<_>>())]}),
            "/components/0/components",
            "BASE_TYPE_BAD_LENGTH",
        ),
        (
            "an empty row",
            json!({"content": "x", "components": [row(&[])]}),
            "/components/0/components",
            "BASE_TYPE_BAD_LENGTH",
        ),
        (
            "a select beside a button",
            json!({"content": "x", "components": [row(&[button("a"), select()])]}),
            "/components/0/components",
            "COMPONENT_LAYOUT_WIDTH_EXCEEDED",
        ),
        (
            "a custom id twice",
            json!({"content": "x", "components": [row(&[button("a")]), row(&[button("a")])]}),
            "/components/1/components/0/custom_id",
            "COMPONENT_CUSTOM_ID_DUPLICATED",
        ),
        (
            "a custom id over 100",
            json!({"content": "x", "components": [row(&[button(&letters(101))])]}),
            "/components/0/components/0/custom_id",
            "BASE_TYPE_BAD_LENGTH",
        ),
        (
            "a button without anything",
            json!({"content": "x", "components": [row(&[json!({"type": 2, "style": 1, "custom_id": "a"})])]}),
            "/components/0/components/0",
            "BUTTON_COMPONENT_INVALID_EMOJI_OR_LABEL",
        ),
        (
            "a label over 80",
            json!({"content": "x", "components": [row(&[json!({"type": 2, "style": 1, "custom_id": "a", "label": letters(81)})])]}),
            "/components/0/components/0/label",
            "BASE_TYPE_MAX_LENGTH",
        ),
        (
            "a link with a custom id",
            json!({"content": "x", "components": [row(&[json!({"type": 2, "style": 5, "custom_id": "a", "url": "https://a.example", "label": "l"})])]}),
            "/components/0/components/0/custom_id",
            "BUTTON_COMPONENT_CUSTOM_ID_URL_MUTUALLY_EXCLUSIVE",
        ),
        (
            "26 options",
            json!({"content": "x", "components": [row(&[json!({"type": 3, "custom_id": "s", "options": (0..26).map(|i| json!({"label": "l", "value": i.to_string()})).collect::<Vec<_>>()})])]}),
            "/components/0/components/0/options",
            "BASE_TYPE_BAD_LENGTH",
        ),
        (
            "an option twice",
            json!({"content": "x", "components": [row(&[json!({"type": 3, "custom_id": "s", "options": [{"label": "l", "value": "1"}, {"label": "l", "value": "1"}]})])]}),
            "/components/0/components/0/options/1/value",
            "SELECT_COMPONENT_OPTION_VALUE_DUPLICATED",
        ),
        (
            "more values than options",
            json!({"content": "x", "components": [row(&[json!({"type": 3, "custom_id": "s", "max_values": 2, "options": [{"label": "l", "value": "1"}]})])]}),
            "/components/0/components/0/max_values",
            "SELECT_COMPONENT_MAX_VALUES_GREATER_THAN_OPTIONS",
        ),
        (
            "least over most",
            json!({"content": "x", "components": [row(&[json!({"type": 3, "custom_id": "s", "min_values": 2, "max_values": 1, "options": [{"label": "l", "value": "1"}]})])]}),
            "/components/0/components/0/min_values",
            "SELECT_COMPONENT_MIN_VALUES_GREATER_THAN_MAX_VALUES",
        ),
        (
            "parse and a list",
            json!({"content": "x", "allowed_mentions": {"parse": ["users"], "users": ["1"]}}),
            "/allowed_mentions",
            "MESSAGE_ALLOWED_MENTIONS_PARSE_EXCLUSIVE",
        ),
        (
            "parse of nonsense",
            json!({"content": "x", "allowed_mentions": {"parse": ["all"]}}),
            "/allowed_mentions/parse/0",
            "BASE_TYPE_CHOICES",
        ),
        (
            "a nonce over 25",
            json!({"content": "x", "nonce": letters(26)}),
            "/nonce",
            "NONCE_TYPE_TOO_LONG",
        ),
        (
            "a file that was not sent",
            json!({"content": "x", "attachments": [{"id": 0, "filename": "a"}]}),
            "/attachments/0",
            "ATTACHMENT_NOT_FOUND",
        ),
        (
            "content beside layout components",
            json!({"content": "x", "flags": 32768, "components": [{"type": 10, "content": "y"}]}),
            "/content",
            "MESSAGE_CANNOT_USE_LEGACY_FIELDS_WITH_COMPONENTS_V2",
        ),
    ]
}

#[tokio::test]
async fn messages_that_break_a_rule() {
    let setup = Setup::new().await;
    let own = setup.send(&json!({"content": "mine"})).await;
    setup.discord.next_post(setup.channel).await;
    let edit = format!("{}/{own}", setup.messages());
    for (what, body, path, expected) in bad_messages() {
        let go = setup.go();
        let (callback, webhook) = setup.paths(&go);
        let as_data = json!({"type": 4, "data": body});
        // A nonce is a key of channel messages only.
        let mut routes = vec![("POST", setup.messages(), body.clone(), "")];
        if !path.starts_with("/nonce") {
            routes.push(("PATCH", edit.clone(), body.clone(), ""));
            routes.push(("POST", callback, as_data, "/data"));
        }
        for (method, route, body, prefix) in routes {
            let before = setup.discord.violations().len();
            let got = setup.ask(method, &route, &body).await;
            assert_eq!(code(&got), (400, 50035), "{what} by {method}: {}", got.1);
            let at = format!("/errors{prefix}{path}/_errors/0/code");
            assert_eq!(
                got.1.pointer(&at).and_then(Value::as_str),
                Some(expected),
                "{what} by {method}: {}",
                got.1
            );
            assert!(setup.discord.violations().len() > before, "{what} counts");
        }
        let (callback, _) = setup.paths(&go);
        let good = json!({"type": 4, "data": {"content": "good"}});
        assert_eq!(setup.ask("POST", &callback, &good).await.0, 204, "{what}");
        go.original().await;
        if !path.starts_with("/nonce") {
            let got = setup.ask("POST", &webhook, &body).await;
            assert_eq!(code(&got), (400, 50035), "{what} by follow-up");
            let got = setup
                .ask("PATCH", &format!("{webhook}/messages/@original"), &body)
                .await;
            assert_eq!(code(&got), (400, 50035), "{what} by edit of the original");
        }
    }
    setup.discord.forgive("");
    setup.discord.finish();
}

#[tokio::test]
async fn what_is_just_allowed() {
    let setup = Setup::new().await;
    let cases = [
        (
            "2,000 characters of two bytes",
            json!({"content": "é".repeat(2000)}),
        ),
        (
            "6,000 over all embeds",
            json!({"embeds": [{"description": letters(4096)}, {"description": letters(1904)}]}),
        ),
        (
            "ten embeds",
            json!({"embeds": vec![json!({"title": "t", "type": "rich"}); 10]}),
        ),
        (
            "five rows of five",
            json!({"content": "x", "components": (0..5).map(|r| row(&(0..5).map(|b| button(&format!("{r}{b}"))).collect::<Vec<_>>())).collect::<Vec<_>>()}),
        ),
        (
            "no attachments, said so",
            json!({"content": "x", "attachments": []}),
        ),
        (
            "listed people as numbers",
            json!({"content": "x", "allowed_mentions": {"parse": [], "users": [1]}}),
        ),
        (
            "layout components",
            json!({"flags": 32768, "components": [{"type": 10, "content": "y"}]}),
        ),
        (
            "nulls",
            json!({"content": "x", "embeds": null, "components": null, "allowed_mentions": null}),
        ),
    ];
    for (what, body) in cases {
        let got = setup.ask("POST", &setup.messages(), &body).await;
        assert_eq!(got.0, 200, "{what}: {}", got.1);
        setup.discord.next_post(setup.channel).await;
        assert_eq!(setup.discord.violations(), Vec::<String>::new(), "{what}");
    }
    setup.discord.finish();
}

#[tokio::test]
async fn empty_foreign_and_vanished_messages() {
    let setup = Setup::new().await;
    let discord = &setup.discord;
    let theirs = discord.say(setup.alice, setup.channel, "theirs");
    let own = setup.send(&json!({"content": "mine"})).await;
    let gone = setup.send(&json!({"content": "gone"})).await;
    discord.delete_message(gone);
    discord.next_post(setup.channel).await;
    let hidden = discord.private_channel(setup.guild, "hidden", &[setup.alice]);
    let messages = setup.messages();
    let body = json!({"content": "x"});
    // What was asked, the answer, and whether the bot is to blame.
    let cases = [
        ("POST", messages.clone(), json!({}), (400, 50006), true),
        (
            "POST",
            messages.clone(),
            json!({"content": " \n"}),
            (400, 50006),
            true,
        ),
        (
            "POST",
            messages.clone(),
            json!({"embeds": [{}]}),
            (400, 50006),
            true,
        ),
        (
            "PATCH",
            format!("{messages}/{own}"),
            json!({"content": ""}),
            (400, 50006),
            true,
        ),
        (
            "PATCH",
            format!("{messages}/{theirs}"),
            body.clone(),
            (403, 50005),
            true,
        ),
        (
            "PATCH",
            format!("{messages}/{gone}"),
            body.clone(),
            (404, 10008),
            false,
        ),
        (
            "GET",
            format!("{messages}/{gone}"),
            Value::Null,
            (404, 10008),
            false,
        ),
        (
            "DELETE",
            format!("{messages}/{theirs}"),
            Value::Null,
            (403, 50013),
            false,
        ),
        (
            "POST",
            "/channels/1/messages".to_owned(),
            body.clone(),
            (404, 10003),
            false,
        ),
        (
            "GET",
            "/channels/x".to_owned(),
            Value::Null,
            (400, 50035),
            true,
        ),
        (
            "GET",
            format!("{messages}?limit=101"),
            Value::Null,
            (400, 50035),
            true,
        ),
        (
            "GET",
            format!("{messages}?after=1&before=2"),
            Value::Null,
            (400, 50035),
            true,
        ),
        (
            "POST",
            format!("/channels/{hidden}/messages"),
            body.clone(),
            (403, 50001),
            false,
        ),
        (
            "GET",
            format!("/channels/{hidden}"),
            Value::Null,
            (403, 50001),
            false,
        ),
        (
            "PUT",
            format!("{messages}/{own}/reactions/abc/@me"),
            Value::Null,
            (400, 10014),
            true,
        ),
        (
            "GET",
            "/guilds/1".to_owned(),
            Value::Null,
            (404, 10004),
            false,
        ),
        (
            "GET",
            format!("/guilds/{}/members/1", setup.guild),
            Value::Null,
            (404, 10013),
            false,
        ),
        (
            "POST",
            messages.clone(),
            json!({"content": "x", "message_reference": {"message_id": gone.to_string()}}),
            (400, 50035),
            false,
        ),
        (
            "GET",
            "/guilds/1/emojis".to_owned(),
            Value::Null,
            (404, 10004),
            false,
        ),
        (
            "POST",
            "/channels/1/pins".to_owned(),
            Value::Null,
            (404, 0),
            true,
        ),
    ];
    for (method, path, body, expected, blamed) in cases {
        let before = discord.violations().len();
        let got = setup.ask(method, &path, &body).await;
        assert_eq!(code(&got), expected, "{method} {path} {body}: {}", got.1);
        assert_eq!(
            discord.violations().len() > before,
            blamed,
            "{method} {path} {body}: {:?}",
            discord.violations()
        );
    }
    let typo = setup
        .ask("POST", &messages, &json!({"content": "x", "contnet": 1}))
        .await;
    assert_eq!(typo.0, 200, "Discord ignores what it does not know");
    assert_eq!(
        discord.forgive("unknown key contnet"),
        1,
        "the double does not"
    );
    discord.next_post(setup.channel).await;

    let wrong = setup
        .client
        .post(format!("{}/api/v10{messages}", discord.url()))
        .header("authorization", "Bot wrong")
        .json(&json!({"content": "x"}));
    assert_eq!(answer(wrong).await.0, 401);
    let plain = setup.request("POST", &messages).body("content=x");
    assert_eq!(code(&answer(plain).await), (400, 50035));
    let garbage = setup
        .request("POST", &messages)
        .header("content-type", "application/json")
        .body("{");
    assert_eq!(code(&answer(garbage).await), (400, 50109));
    discord.forgive("");
    discord.finish();
}

#[tokio::test]
async fn files() {
    let setup = Setup::new().await;
    let form = |bytes: usize| {
        Form::new()
            .text(
                "payload_json",
                json!({"attachments": [{"id": 0, "description": "d"}]}).to_string(),
            )
            .part(
                "files[0]",
                Part::bytes(vec![b'x'; bytes]).file_name("full text.txt"),
            )
    };
    let sent = answer(setup.request("POST", &setup.messages()).multipart(form(10))).await;
    assert_eq!(sent.0, 200);
    let post = setup.discord.next_post(setup.channel).await;
    assert_eq!(post.to_text(), "📎 full_text.txt: d");
    let url = sent.1["attachments"][0]["url"].as_str().unwrap();
    assert_eq!(
        setup
            .client
            .get(url)
            .send()
            .await
            .unwrap()
            .bytes()
            .await
            .unwrap()
            .len(),
        10
    );
    let large = answer(
        setup
            .request("POST", &setup.messages())
            .multipart(form(10 * 1024 * 1024 + 1)),
    )
    .await;
    assert_eq!(code(&large), (413, 40005));
    let stray = Form::new().part("file", Part::bytes(vec![1]).file_name("a"));
    let stray = answer(setup.request("POST", &setup.messages()).multipart(stray)).await;
    assert_eq!(code(&stray), (400, 50035));
    assert_eq!(setup.discord.forgive(""), 2);
    setup.discord.finish();
}

#[tokio::test]
async fn interactions_are_answered_once_in_time_and_rightly() {
    let setup = Setup::new().await;
    let discord = &setup.discord;
    let hello = json!({"type": 4, "data": {"content": "hello"}});

    let go = setup.go();
    let (callback, webhook) = setup.paths(&go);
    let original = format!("{webhook}/messages/@original");
    let edit = json!({"content": "edited"});
    let early = setup.ask("PATCH", &original, &edit).await;
    assert_eq!(code(&early), (404, 10015), "nothing to edit yet");
    let wrong = [
        (
            json!({"type": 4}),
            "/errors/data/_errors/0/code",
            "BASE_TYPE_REQUIRED",
        ),
        (
            json!({"type": 6}),
            "/errors/type/_errors/0/code",
            "INTERACTION_TYPE_INVALID",
        ),
        (
            json!({"type": 8, "data": {"choices": []}}),
            "/errors/type/_errors/0/code",
            "INTERACTION_TYPE_INVALID",
        ),
        (
            modal(&[]),
            "/errors/data/components/_errors/0/code",
            "BASE_TYPE_BAD_LENGTH",
        ),
        (
            modal(&vec![input("a", "l"); 6]),
            "/errors/data/components/_errors/0/code",
            "BASE_TYPE_BAD_LENGTH",
        ),
        (
            modal(&[input("a", "l"), input("a", "l")]),
            "/errors/data/components/1/components/0/custom_id/_errors/0/code",
            "COMPONENT_CUSTOM_ID_DUPLICATED",
        ),
        (
            modal(&[input("a", &letters(46))]),
            "/errors/data/components/0/components/0/label/_errors/0/code",
            "BASE_TYPE_BAD_LENGTH",
        ),
        (
            modal(&[json!({"type": 18, "label": "l", "component": {}})]),
            "/errors/data/components/0/type/_errors/0/code",
            "LABEL_MODAL",
        ),
        (
            json!({"type": 9, "data": {"custom_id": "m", "title": letters(46), "components": [input("a", "l")]}}),
            "/errors/data/title/_errors/0/code",
            "BASE_TYPE_BAD_LENGTH",
        ),
    ];
    for (body, path, expected) in wrong {
        let got = setup.ask("POST", &callback, &body).await;
        assert_eq!(code(&got), (400, 50035), "{body}");
        assert_eq!(
            got.1.pointer(path).and_then(Value::as_str),
            Some(expected),
            "{body}: {}",
            got.1
        );
    }
    let empty = json!({"type": 4, "data": {"content": ""}});
    assert_eq!(
        code(&setup.ask("POST", &callback, &empty).await),
        (400, 50006)
    );
    discord.forgive("");

    assert_eq!(setup.ask("POST", &callback, &hello).await.0, 204);
    let again = setup.ask("POST", &callback, &hello).await;
    assert_eq!(code(&again), (400, 40060));
    assert_eq!(discord.forgive("40060"), 1);
    assert_eq!(setup.ask("PATCH", &original, &edit).await.0, 200);
    assert_eq!(go.original().await.history(), ["hello", "edited"]);
    assert_eq!(setup.ask("DELETE", &original, &Value::Null).await.0, 204);
    let gone = setup.ask("GET", &original, &Value::Null).await;
    assert_eq!(code(&gone), (404, 10008));

    let typed = discord.autocomplete(setup.alice, setup.channel, "go", "to", json!({}));
    let (callback, _) = setup.paths(&typed);
    let got = setup.ask("POST", &callback, &hello).await;
    assert_eq!(code(&got), (400, 50035), "completions only");
    let many =
        json!({"type": 8, "data": {"choices": vec![json!({"name": "n", "value": "v"}); 26]}});
    assert_eq!(
        code(&setup.ask("POST", &callback, &many).await),
        (400, 50035)
    );
    let fine = json!({"type": 8, "data": {"choices": []}});
    assert_eq!(setup.ask("POST", &callback, &fine).await.0, 204);
    assert!(typed.choices().await.is_empty());
    discord.forgive("");

    let late = setup.go();
    discord.clock().advance(Duration::from_millis(3_100));
    let (callback, webhook) = setup.paths(&late);
    let got = setup.ask("POST", &callback, &hello).await;
    assert_eq!(code(&got), (404, 10062));
    assert!(discord.forgive("10062 Unknown interaction: /go was answered after 31") == 1);
    late.forget();
    let got = setup.ask("POST", &webhook, &edit).await;
    assert_eq!(code(&got), (404, 10015));
    let stranger = setup
        .ask("POST", "/interactions/1/abc/callback", &hello)
        .await;
    assert_eq!(code(&stranger), (404, 10062));
    discord.forgive("");

    let old = setup.go();
    let (callback, webhook) = setup.paths(&old);
    let deferred = setup
        .ask(
            "POST",
            &format!("{callback}?with_response=true"),
            &json!({"type": 5}),
        )
        .await;
    assert_eq!(deferred.0, 200);
    assert_eq!(
        deferred.1["interaction"]["response_message_loading"],
        json!(true)
    );
    assert!(
        discord
            .complaints()
            .iter()
            .any(|c| c.contains("left \"thinking\""))
    );
    discord.clock().advance(Duration::from_secs(899));
    let first = setup.ask("POST", &webhook, &edit).await;
    assert_eq!(first.0, 200);
    let read = old.original().await;
    assert_eq!(
        read.id.to_string(),
        first.1["id"].as_str().unwrap(),
        "the first follow-up completes a deferral"
    );
    assert_eq!(read.edits, 0);
    discord.clock().advance(Duration::from_secs(2));
    let got = setup.ask("POST", &webhook, &edit).await;
    assert_eq!(code(&got), (401, 50027));
    discord.finish();
}

fn input(id: &str, label: &str) -> Value {
    json!({"type": 1, "components": [{"type": 4, "custom_id": id, "label": label, "style": 1}]})
}

fn modal(rows: &[Value]) -> Value {
    json!({"type": 9, "data": {"custom_id": "m", "title": "t", "components": rows}})
}

#[tokio::test]
async fn ephemeral_answers_are_seen_by_one_person() {
    let setup = Setup::new().await;
    let discord = &setup.discord;
    let bob = discord.member(setup.guild, "bob");
    let go = setup.go();
    let (callback, webhook) = setup.paths(&go);
    let deferral = json!({"type": 5, "data": {"flags": 64 | 4}});
    assert_eq!(setup.ask("POST", &callback, &deferral).await.0, 204);
    assert_eq!(discord.forgive("data.flags of a deferral"), 1);
    let body = json!({"content": "for you", "components": [row(&[button("a")])]});
    let got = setup.ask("POST", &webhook, &body).await;
    let post = go.ephemeral().await;
    let channel_route = format!("{}/{}", setup.messages(), post.id);
    assert_eq!(got.1["flags"], json!(64), "fixed by the deferral");
    assert_eq!(
        code(&setup.ask("GET", &channel_route, &Value::Null).await),
        (404, 10008)
    );
    assert_eq!(
        code(&setup.ask("PATCH", &channel_route, &body).await),
        (404, 10008)
    );
    let all = setup.ask("GET", &setup.messages(), &Value::Null).await;
    assert_eq!(all.1, json!([]));
    let refused = discord.try_click(bob, &post, "a").unwrap_err();
    assert!(refused.contains("does not see"), "{refused}");
    let click = discord.click(setup.alice, &post, "a");
    let (callback, _) = setup.paths(&click);
    let update = json!({"type": 7, "data": {"content": "done", "components": []}});
    assert_eq!(setup.ask("POST", &callback, &update).await.0, 204);
    assert_eq!(click.original().await.content, "done");
    discord.finish();
}

#[tokio::test]
async fn threads_archives_and_locks() {
    let setup = Setup::new().await;
    let discord = &setup.discord;
    let headline = setup.send(&json!({"content": "headline"})).await;
    discord.next_post(setup.channel).await;
    let from = format!("{}/{headline}/threads", setup.messages());
    for (what, body) in [
        ("no name", json!({})),
        ("a long name", json!({"name": letters(101)})),
        (
            "an odd duration",
            json!({"name": "n", "auto_archive_duration": 61}),
        ),
    ] {
        assert_eq!(
            code(&setup.ask("POST", &from, &body).await),
            (400, 50035),
            "{what}"
        );
    }
    discord.forgive("");
    let named = json!({"name": "n"});
    assert_eq!(setup.ask("POST", &from, &named).await.0, 201);
    assert_eq!(
        code(&setup.ask("POST", &from, &named).await),
        (400, 160_004)
    );
    let thread = discord.await_thread(headline).await;
    let messages = format!("/channels/{thread}/messages");
    let body = json!({"content": "x"});
    let sent = setup.ask("POST", &messages, &body).await;
    let inside = format!("{messages}/{}", sent.1["id"].as_str().unwrap());
    discord.next_post(thread).await;
    let nested = setup
        .ask("POST", &format!("{inside}/threads"), &named)
        .await;
    assert_eq!(code(&nested), (400, 50024));
    discord.forgive("50024");

    discord.archive(thread);
    assert_eq!(
        code(&setup.ask("PATCH", &inside, &body).await),
        (400, 50083)
    );
    let react = format!("{inside}/reactions/%F0%9F%91%80/@me");
    assert_eq!(
        code(&setup.ask("PUT", &react, &Value::Null).await),
        (400, 50083)
    );
    let change = format!("/channels/{thread}");
    assert_eq!(
        code(&setup.ask("PATCH", &change, &json!({"name": "m"})).await),
        (400, 50083)
    );
    assert_eq!(
        setup
            .ask("PATCH", &change, &json!({"archived": false}))
            .await
            .0,
        200
    );
    discord.lock(thread);
    assert_eq!(
        code(&setup.ask("POST", &messages, &body).await),
        (400, 160_005)
    );
    discord.archive(thread);
    assert_eq!(
        code(
            &setup
                .ask("PATCH", &change, &json!({"archived": false}))
                .await
        ),
        (403, 50013)
    );
    discord.grant(setup.guild, discord.bot(), permissions::MANAGE_THREADS);
    assert_eq!(setup.ask("POST", &messages, &body).await.0, 200);
    discord.next_post(thread).await;
    discord.unlock(thread);

    for name in ["one", "two"] {
        assert_eq!(
            setup.ask("PATCH", &change, &json!({"name": name})).await.0,
            200
        );
    }
    let third = setup.ask("PATCH", &change, &json!({"name": "three"})).await;
    assert_eq!(third.0, 429, "two renames in ten minutes");
    discord.clock().advance(Duration::from_secs(601));
    assert_eq!(
        setup
            .ask("PATCH", &change, &json!({"name": "three"}))
            .await
            .0,
        200
    );

    discord.delete_channel(thread);
    assert_eq!(
        code(&setup.ask("POST", &messages, &body).await),
        (404, 10003)
    );

    let private = format!("/channels/{}/threads", setup.channel);
    let made = setup.ask("POST", &private, &named).await;
    assert_eq!(made.1["type"], json!(12), "without a type it is private");
    for (permission, method, path) in [
        (
            permissions::CREATE_PRIVATE_THREADS,
            "POST",
            private.as_str(),
        ),
        (permissions::CREATE_PUBLIC_THREADS, "POST", from.as_str()),
    ] {
        discord.deny(setup.channel, discord.bot(), permission);
        assert_eq!(code(&setup.ask(method, path, &named).await), (403, 50013));
    }
    discord.finish();
}

#[tokio::test]
async fn permissions_are_asked_for_each_act() {
    let setup = Setup::new().await;
    let discord = &setup.discord;
    let own = setup.send(&json!({"content": "mine"})).await;
    discord.next_post(setup.channel).await;
    let messages = setup.messages();
    let cases = [
        (
            permissions::EMBED_LINKS,
            "POST",
            messages.clone(),
            json!({"embeds": [{"title": "t"}]}),
            (403, 50013),
        ),
        (
            permissions::ADD_REACTIONS,
            "PUT",
            format!("{messages}/{own}/reactions/%F0%9F%91%80/@me"),
            Value::Null,
            (403, 50013),
        ),
        (
            permissions::READ_MESSAGE_HISTORY,
            "GET",
            format!("{messages}/{own}"),
            Value::Null,
            (403, 50013),
        ),
        (
            permissions::READ_MESSAGE_HISTORY,
            "POST",
            messages.clone(),
            json!({"content": "x", "message_reference": {"message_id": own.to_string()}}),
            (400, 160_002),
        ),
        (
            permissions::SEND_MESSAGES,
            "POST",
            messages.clone(),
            json!({"content": "x"}),
            (403, 50013),
        ),
        (
            permissions::SEND_MESSAGES,
            "POST",
            format!("/channels/{}/typing", setup.channel),
            Value::Null,
            (403, 50013),
        ),
        (
            permissions::VIEW_CHANNEL,
            "POST",
            messages.clone(),
            json!({"content": "x"}),
            (403, 50001),
        ),
    ];
    for (permission, method, path, body, expected) in cases {
        discord.deny(setup.channel, discord.bot(), permission);
        let got = setup.ask(method, &path, &body).await;
        assert_eq!(code(&got), expected, "{method} {path}");
        discord.allow(setup.channel, discord.bot(), permission);
    }
    discord.deny(setup.channel, discord.bot(), permissions::SEND_MESSAGES);
    let go = setup.go();
    let (callback, _) = setup.paths(&go);
    let hello = json!({"type": 4, "data": {"content": "hello"}});
    assert_eq!(
        setup.ask("POST", &callback, &hello).await.0,
        204,
        "an interaction needs none"
    );
    go.original().await;
    discord.finish();
}

#[tokio::test]
async fn commands_that_break_a_rule() {
    let setup = Setup::new().await;
    let path = setup.commands_path();
    let option = |kind: u64, name: &str| json!({"type": kind, "name": name, "description": "d"});
    let with = |options: &[Value]| json!([{"name": "a", "description": "d", "options": options}]);
    let mut required = option(3, "b");
    required["required"] = json!(true);
    let mut completed = option(3, "b");
    completed["autocomplete"] = json!(true);
    completed["choices"] = json!([{"name": "n", "value": "v"}]);
    let heavy: Vec<Value> = (0..25)
        .map(|i| {
            let choices: Vec<Value> = (0..25)
                .map(|j| json!({"name": format!("{}{j}", letters(20)), "value": j.to_string()}))
                .collect();
            json!({"type": 3, "name": format!("o{i}"), "description": "d", "choices": choices})
        })
        .collect();
    let cases = [
        (
            "capitals",
            json!([{"name": "Go", "description": "d"}]),
            "APPLICATION_COMMAND_INVALID_NAME",
        ),
        (
            "spaces",
            json!([{"name": "go now", "description": "d"}]),
            "APPLICATION_COMMAND_INVALID_NAME",
        ),
        (
            "a long name",
            json!([{"name": letters(33), "description": "d"}]),
            "BASE_TYPE_BAD_LENGTH",
        ),
        (
            "no description",
            json!([{"name": "go"}]),
            "BASE_TYPE_REQUIRED",
        ),
        (
            "a long description",
            json!([{"name": "go", "description": letters(101)}]),
            "BASE_TYPE_BAD_LENGTH",
        ),
        (
            "one twice",
            json!([{"name": "go", "description": "d"}, {"name": "go", "description": "d"}]),
            "APPLICATION_COMMANDS_DUPLICATE_NAME",
        ),
        (
            "a described message command",
            json!([{"name": "Go", "type": 3, "description": "d"}]),
            "APPLICATION_COMMAND_CONTEXT_MENU_DESCRIPTION",
        ),
        (
            "required after optional",
            with(&[option(3, "a"), required]),
            "APPLICATION_COMMAND_OPTIONS_REQUIRED_INVALID",
        ),
        (
            "an option twice",
            with(&[option(3, "a"), option(3, "a")]),
            "APPLICATION_COMMAND_OPTIONS_NAME_ALREADY_EXISTS",
        ),
        (
            "completion and choices",
            with(&[completed]),
            "APPLICATION_COMMAND_AUTOCOMPLETE_WITH_CHOICES",
        ),
        (
            "26 options",
            with(
                &(0..26)
                    .map(|i| option(3, &format!("o{i}")))
                    .collect::<Vec<_>>(),
            ),
            "BASE_TYPE_MAX_LENGTH",
        ),
        (
            "subcommands among options",
            with(&[option(1, "a"), option(3, "b")]),
            "APPLICATION_COMMAND_OPTIONS_TYPE_INVALID",
        ),
        (
            "over 8,000 characters",
            with(&heavy),
            "APPLICATION_COMMAND_TOO_LARGE",
        ),
        (
            "101 commands",
            json!(
                (0..101)
                    .map(|i| json!({"name": format!("c{i}"), "description": "d"}))
                    .collect::<Vec<_>>()
            ),
            "APPLICATION_COMMANDS_MAX",
        ),
        (
            "an unknown locale",
            json!([{"name": "go", "description": "d", "description_localizations": {"zh": "d"}}]),
            "ENUM_TYPE_COERCE",
        ),
    ];
    for (what, body, expected) in cases {
        let got = setup.ask("PUT", &path, &body).await;
        assert_eq!(code(&got), (400, 50035), "{what}: {}", got.1);
        assert!(got.1.to_string().contains(expected), "{what}: {}", got.1);
    }
    setup.discord.forgive("");
    let other = setup
        .ask("PUT", "/applications/1/commands", &json!([]))
        .await;
    assert_eq!(code(&other), (404, 10002));
    setup.discord.forgive("");
    setup.discord.finish();
}

#[tokio::test]
async fn discords_own_description_is_asked_where_it_is_at_hand() {
    let setup = Setup::new().await;
    if !standin::schema::is_checked() {
        eprintln_skip();
        return;
    }
    // The rules do not look at the type of `inline`; Discord's description does.
    let body = json!({"embeds": [{"fields": [{"name": "n", "value": "v", "inline": "yes"}]}]});
    setup.ask("POST", &setup.messages(), &body).await;
    setup.discord.next_post(setup.channel).await;
    assert_eq!(setup.discord.forgive("Discord's description"), 1);
    setup.discord.finish();
}

#[allow(clippy::print_stderr, reason = "a skipped test says why")]
fn eprintln_skip() {
    eprintln!("skipped: PRECEDENT_SHARED is not set");
}

#[tokio::test]
async fn who_is_pinged() {
    let setup = Setup::new().await;
    let discord = &setup.discord;
    let everyone = format!("@everyone <@{}>", setup.alice);
    discord.grant(setup.guild, discord.bot(), permissions::MENTION_EVERYONE);
    setup.send(&json!({"content": everyone})).await;
    let post = discord.next_post(setup.channel).await;
    assert!(post.pings().everyone && post.pings().users.contains(&setup.alice.get()));
    setup
        .send(&json!({"content": everyone, "allowed_mentions": {"parse": []}}))
        .await;
    assert!(discord.next_post(setup.channel).await.pings().is_empty());
    let go = setup.go();
    let (callback, _) = setup.paths(&go);
    setup
        .ask(
            "POST",
            &callback,
            &json!({"type": 4, "data": {"content": everyone}}),
        )
        .await;
    let post = go.original().await;
    assert!(!post.pings().everyone, "an interaction parses people only");
    assert!(post.pings().users.contains(&setup.alice.get()));
    discord.finish();
}

#[tokio::test]
async fn junk_is_answered_and_nothing_falls_over() {
    let setup = Setup::new().await;
    let discord = &setup.discord;
    let own = setup.send(&json!({"content": "mine"})).await;
    discord.next_post(setup.channel).await;
    let go = setup.go();
    let (callback, webhook) = setup.paths(&go);
    let deep = (0..100).fold(
        json!([]),
        |inside, _| json!({"components": [inside], "type": 1}),
    );
    let junk = [
        json!(null),
        json!(1),
        json!("text"),
        json!([[]]),
        json!({"content": {"a": 1}}),
        json!({"embeds": "none"}),
        json!({"embeds": [1, null, {"fields": [1, {"name": []}], "footer": 2, "color": "red"}]}),
        json!({"components": [1, {"type": 1, "components": [2, {"type": 3, "options": [4]}]}]}),
        json!({"components": [{"type": 1, "components": "x"}]}),
        json!({"content": "x", "flags": "many", "attachments": [[], {"id": "x"}]}),
        json!({"content": "x", "allowed_mentions": [1]}),
        json!({"content": "x", "message_reference": "y"}),
        json!({"content": "x", "flags": 32768, "components": [deep]}),
        json!({"type": 4, "data": 7}),
        json!({"type": 9, "data": {"components": [{"type": 1, "components": [7]}]}}),
        json!({"type": -1, "data": []}),
        json!({"name": 5, "archived": "yes", "auto_archive_duration": []}),
        json!([{"name": 7, "options": [1, {"type": 1, "options": [{"type": 2}]}]}, 5]),
    ];
    let routes = [
        ("POST", setup.messages()),
        ("PATCH", format!("{}/{own}", setup.messages())),
        ("POST", format!("{}/{own}/threads", setup.messages())),
        ("POST", format!("/channels/{}/threads", setup.channel)),
        ("PATCH", format!("/channels/{}", setup.channel)),
        ("PUT", setup.commands_path()),
        ("POST", callback),
        ("POST", webhook.clone()),
        ("PATCH", format!("{webhook}/messages/@original")),
    ];
    for (method, path) in &routes {
        for body in &junk {
            let request = setup.request(method, path).json(body);
            let status = answer(request).await.0;
            assert!(
                (200..500).contains(&status),
                "{method} {path} {body}: {status}"
            );
        }
    }
    go.forget();
    let _ = discord.posts_for(Some(setup.alice), setup.channel);
    discord.forgive("");
    discord.finish();
}

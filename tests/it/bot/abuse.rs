//! What clients and machines do that no person means: controls that nobody posted, values that
//! nobody offered, a disk without room, requests that hang.

use super::faults::{own, settled};
use super::opened::{Opened, controls, has_button};
use super::{Given, Incident, REFUND_REPORT, refund_job, remember, tuning};
use precedent::app::{App, Tuning};
use precedent::discord::{Api, Rest};
use secrecy::SecretString;
use serde_json::{Value, json};
use standin::permissions::{MANAGE_GUILD, MANAGE_THREADS};
use standin::{Failure, Interaction, Post, Response, UserId};
use std::time::Duration;

/// A message with one more control, which the bot never posted.
fn with_control(post: &Post, control: Value) -> Post {
    let mut forged = post.clone();
    forged.components = vec![json!({"type": 1, "components": [control]})];
    forged
}

fn with_select(post: &Post, custom_id: &str, value: &str) -> Post {
    with_control(
        post,
        json!({
            "type": 3, "custom_id": custom_id, "placeholder": "forged",
            "options": [{"label": "forged", "value": value}],
        }),
    )
}

/// What the person is told, if anything is.
async fn told(forged: &Interaction) -> String {
    match forged.response().await {
        Response::Message(post) => {
            assert!(
                post.ephemeral_for.is_some(),
                "told to that person alone: {post}"
            );
            post.to_text()
        }
        Response::Deferred { .. } => forged.original().await.to_text(),
        Response::DeferredUpdate | Response::Update(_) => {
            let more: Vec<String> = forged.followups().iter().map(Post::to_text).collect();
            more.join("\n")
        }
        other => panic!("{other:?}"),
    }
}

/// Another server remembers this.
const THEIRS: &str = "vermilion";

async fn beside_another_server() -> Opened {
    let mut at = Incident::prepared(Given {
        memory: &[refund_job(12, "2026-05-14", "held")],
        ..Given::default()
    })
    .await;
    let other = at.discord.guild("globex");
    let mut theirs = refund_job(77, "2026-10-02", "held");
    theirs["title"] = json!(format!("{THEIRS} proxy leaks"));
    theirs["service"] = json!(format!("{THEIRS}-proxy"));
    remember(&at.config.database_url, &other.to_string(), &[theirs]).await;
    at.starts_bot(tuning(None)).await;
    Opened::reported(at, json!({"report": REFUND_REPORT})).await
}

#[tokio::test(flavor = "multi_thread")]
async fn controls_that_nobody_posted_do_nothing_and_say_so() {
    let opened = beside_another_server().await;
    let at = &opened.at;
    let cards = opened.cards(1).await;
    let before = opened.stored().await;
    let number = opened.number();
    let huge = "9".repeat(80);
    for custom_id in [
        "x".to_owned(),
        ":".to_owned(),
        "p1".to_owned(),
        "p1:".to_owned(),
        "p2:why:42:1".to_owned(),
        "p1:drop:42".to_owned(),
        format!("p1:why:{huge}:1"),
        format!("p1:why:{number}:{huge}"),
        format!("p1:cause:{number}:1:-1"),
        format!("p1:cause:{number}:1:99"),
        format!("p1:cause:{number}:99:1"),
        format!("p1:try:{number}:1:4294967295"),
        "p1:cause:77:1:1".to_owned(),
        "p1:why:77:1".to_owned(),
        "p1:again:77".to_owned(),
        "p1:held:77".to_owned(),
        "p1:forget:77".to_owned(),
        format!("p1:forget:{number}"),
        "p1:import:1".to_owned(),
        "p1:review:77:1:yes".to_owned(),
        format!("p1:review:{number}:99:yes"),
        format!("p1:same:{number}:99"),
        format!("p1:fixheld:{number}:99"),
        format!("p1:update:{number}:1:everyone"),
        format!("p1:showupdate:{number}:99"),
        format!("p1:resolve:{number}:yes"),
        "@everyone <@1> [a](https://evil.example)".to_owned(),
    ] {
        let forged = with_control(
            &cards,
            json!({"type": 2, "style": 2, "label": "forged", "custom_id": custom_id}),
        );
        let click = at.discord.click_as_seen(at.alice, &forged, &custom_id);
        let said = told(&click).await;
        at.idle().await;
        let more: Vec<String> = click.followups().iter().map(Post::to_text).collect();
        let said = format!("{said}\n{}", more.join("\n"));
        for never in [THEIRS, "INC-0077", "@everyone", "evil.example", &huge] {
            assert!(!said.contains(never), "{custom_id}: {never} in {said}");
        }
    }
    for (custom_id, values) in [
        (
            format!("p1:past:{number}:1"),
            [
                "INC-0077",
                "77",
                "0",
                "99999999999999999999",
                "@everyone",
                "",
                " ",
            ],
        ),
        (
            format!("p1:past:{number}:99"),
            ["INC-0077", "12", "x", "-1", "ＩＮＣ－77", "NaN", "null"],
        ),
        (
            format!("p1:tick:{number}:1"),
            ["99", "-1", "0.5", "x", "4294967296", "@everyone", "00"],
        ),
        (
            format!("p1:take:{number}:1"),
            ["99", "-1", "0.5", "x", "4294967296", "@everyone", ""],
        ),
        (
            format!("p1:take:{number}:99"),
            ["0", "1", "x", "-1", "７", "NaN", "null"],
        ),
        (
            format!("p1:service:{number}"),
            [
                "vermilion-proxy",
                "@everyone",
                "[a](https://evil.example)",
                "\u{202E}x",
                "-",
                "x",
                "nowhere",
            ],
        ),
        (
            "p1:memory".to_owned(),
            [
                "INC-0077",
                "77",
                "x",
                "",
                "99999999999999999999",
                "-",
                "@here",
            ],
        ),
    ] {
        for value in values {
            let forged = with_select(&cards, &custom_id, value);
            let chosen = at
                .discord
                .select_as_seen(at.alice, &forged, &custom_id, &[value]);
            let said = told(&chosen).await;
            at.idle().await;
            let more: Vec<String> = chosen.followups().iter().map(Post::to_text).collect();
            let said = format!("{said}\n{}", more.join("\n"));
            let posted = own(at, opened.thread);
            assert!(
                !posted.iter().any(|post| post.shows("Analysis 2")),
                "{custom_id} {value}: {said}"
            );
            for never in ["vermilion proxy", "@everyone", "@here", "](https://evil"] {
                assert!(
                    !said.contains(never),
                    "{custom_id} {value}: {never} in {said}"
                );
            }
        }
    }
    let after = opened.stored().await;
    assert_eq!(before.past.service, after.past.service);
    assert_eq!(before.status, after.status);
    // Nothing of it is under anybody's name, and what was posted still works.
    let posts = own(at, opened.thread);
    let cards = posts
        .iter()
        .find(|post| has_button(post, "1 Cause confirmed"))
        .expect("the cards are as they were");
    assert!(
        cards.buttons().iter().any(|button| !button.disabled),
        "{}",
        posts
            .iter()
            .map(Post::to_text)
            .collect::<Vec<_>>()
            .join("\n---\n")
    );
    assert!(!cards.shows("alice is trying"), "{cards}");
    assert!(controls(cards).iter().any(|id| id.contains(":cause:")));
    opened.press(at.alice, cards, "1 Cause confirmed").await;
    let _read = own(at, opened.thread);
    let _read = own(at, at.channel);
    // What names a card or an attempt that never was is given up at once, and said with an id.
    opened.at.ends_with_given_up(4).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn controls_of_an_incident_that_one_may_not_see_do_nothing() {
    let at = Incident::begins(Given {
        memory: &[
            refund_job(12, "2026-05-14", "held"),
            refund_job(14, "2026-05-15", "held"),
        ],
        ..Given::default()
    })
    .await;
    let secret = at
        .discord
        .private_channel(at.guild, "security", &[at.alice, at.discord.bot()]);
    let hidden = at.discord.slash(
        at.alice,
        secret,
        "analyze",
        json!({"report": format!("vermilion vault leaks\n{REFUND_REPORT}")}),
    );
    let hidden_thread = at.thread(&hidden).await;
    at.idle().await;
    let before: Vec<String> = own(&at, hidden_thread).iter().map(Post::to_text).collect();
    let opened = Opened::reported(at, json!({"report": REFUND_REPORT})).await;
    let at = &opened.at;
    let bob = at.discord.member(at.guild, "bob");
    let cards = opened.cards(1).await;
    let number = 15;
    assert_ne!(opened.number(), number);
    for word in ["cause", "notit", "try", "worked", "noeffect", "worse"] {
        let custom_id = format!("p1:{word}:{number}:1:1");
        forges(&opened, bob, &cards, &custom_id).await;
    }
    for word in [
        "why",
        "showupdate",
        "update",
        "refresh",
        "fixheld",
        "same",
        "differ",
    ] {
        let end = if matches!(word, "update" | "refresh") {
            ":internal"
        } else {
            ""
        };
        let custom_id = format!("p1:{word}:{number}:1{end}");
        forges(&opened, bob, &cards, &custom_id).await;
    }
    for word in [
        "again", "retry", "held", "back", "takeback", "reopen", "forget", "keep",
    ] {
        forges(&opened, bob, &cards, &format!("p1:{word}:{number}")).await;
    }
    forges(&opened, bob, &cards, &format!("p1:review:{number}:1:yes")).await;
    for (custom_id, value) in [
        (format!("p1:past:{number}:1"), "INC-0015"),
        (format!("p1:past:{}:1", opened.number()), "INC-0015"),
        ("p1:memory".to_owned(), "INC-0015"),
        (format!("p1:tick:{number}:1"), "0"),
        (format!("p1:service:{number}"), "payments-api"),
        (format!("p1:service:{number}"), "-"),
    ] {
        let forged = with_select(&cards, &custom_id, value);
        let chosen = at
            .discord
            .select_as_seen(bob, &forged, &custom_id, &[value]);
        is_told_nothing(&opened, &chosen, &custom_id).await;
    }
    at.idle().await;
    let after: Vec<String> = own(at, hidden_thread).iter().map(Post::to_text).collect();
    assert_eq!(before, after, "nothing happens where bob sees nothing");
    opened.ends().await;
}

async fn forges(opened: &Opened, who: UserId, seen: &Post, custom_id: &str) {
    let forged = with_control(
        seen,
        json!({"type": 2, "style": 2, "label": "forged", "custom_id": custom_id}),
    );
    let click = opened.at.discord.click_as_seen(who, &forged, custom_id);
    is_told_nothing(opened, &click, custom_id).await;
}

async fn is_told_nothing(opened: &Opened, act: &Interaction, custom_id: &str) {
    let said = told(act).await;
    opened.at.idle().await;
    let more: Vec<String> = act.followups().iter().map(Post::to_text).collect();
    let said = format!("{said}\n{}", more.join("\n"));
    assert!(!said.contains("vermilion"), "{custom_id}: {said}");
}

/// The database gets no further page, or as many as it likes again.
async fn room(at: &Incident, room: bool) {
    let store = at.app.as_ref().expect("the bot runs").store();
    let pages = if room {
        "PRAGMA max_page_count = 1000000"
    } else {
        // Sets it to what is used.
        "PRAGMA max_page_count = 1"
    };
    let pool = store.write_pool().sqlite().expect("a file of SQLite");
    // No page is free inside either.
    sqlx::query("VACUUM")
        .execute(pool)
        .await
        .expect("room to tidy up");
    sqlx::query(pages)
        .fetch_one(pool)
        .await
        .expect("the limit can be set");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_full_database_is_said_and_nothing_is_half_stored() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut at = Incident::prepared(Given {
        memory: &[refund_job(12, "2026-05-14", "held")],
        database_url: Some(crate::homes::sqlite_in(folder.path())),
        ..Given::default()
    })
    .await;
    at.starts_bot(Tuning {
        commit_patience: Duration::from_millis(300),
        ..tuning(None)
    })
    .await;
    at.discord
        .grant(at.guild, at.alice, MANAGE_GUILD | MANAGE_THREADS);
    let long = format!("{REFUND_REPORT}\n{}", "the pool is empty. ".repeat(180));
    let long: String = long.chars().take(3_900).collect();
    for _ in 0..2 {
        // A connection that met a full disk is replaced by one without the limit.
        room(&at, false).await;
        let report = at.analyze_with(json!({"report": long})).await;
        report.response().await;
        let told = report.original().await;
        let more: String = report.followups().iter().map(Post::to_text).collect();
        assert!(
            told.shows("nothing was stored") || more.contains("nothing was stored"),
            "{told} {more}"
        );
    }
    let listed = at.discord.slash(
        at.alice,
        at.channel,
        "incident list",
        json!({"status": "all"}),
    );
    let listed = listed.ephemeral().await;
    assert!(!listed.shows("INC-0013"), "{listed}");
    // With room again everything works, once.
    room(&at, true).await;
    let opened = Opened::reported(at, json!({"report": long})).await;
    assert_eq!(opened.number(), 13, "no number was lost");
    let cards = opened.cards(1).await;
    // And in the middle of an incident.
    room(&opened.at, false).await;
    opened
        .at
        .discord
        .say(opened.at.alice, opened.thread, "what was it last time?");
    let click = opened
        .at
        .discord
        .click(opened.at.alice, &cards, "1 Cause confirmed");
    click.response().await;
    tokio::time::sleep(Duration::from_millis(400)).await;
    let _more = click.followups();
    room(&opened.at, true).await;
    opened.at.idle().await;
    let posts = own(&opened.at, opened.thread);
    assert_eq!(
        posts
            .iter()
            .filter(|post| post.shows("Cause confirmed"))
            .count(),
        1
    );
    opened.ends().await;
}

/// A bot whose patience with a request is short.
async fn impatient() -> Incident {
    let mut at = Incident::prepared(Given {
        memory: &[refund_job(41, "2026-09-23", "held")],
        ..Given::default()
    })
    .await;
    let discord = at.config.discord.as_ref().expect("a token");
    let api = Api::new(
        SecretString::from(at.discord.token()),
        discord.api_url.as_deref(),
    )
    .expect("an address of the loopback interface")
    .prepared(|builder| builder.timeout(Duration::from_millis(400)));
    let app = App::start_with(&at.config, tuning(None), Rest::new(api).expect("a client"))
        .await
        .expect("the bot starts");
    at.discord.gateway().connected().await;
    at.app = Some(app);
    at
}

#[tokio::test(flavor = "multi_thread")]
async fn a_request_that_hangs_is_given_up_and_made_again_and_nothing_is_posted_twice() {
    for (method, pattern, times) in [
        ("PATCH", "/webhooks/*/*/messages/@original", 1),
        ("POST", "/channels/*/messages/*/threads", 1),
        ("POST", "/channels/*/messages", 1),
        ("POST", "/channels/*/messages", 2),
        ("PATCH", "/channels/*/messages/*", 1),
    ] {
        let at = impatient().await;
        at.discord.fail_times(method, pattern, Failure::Hang, times);
        let report = at.analyze(REFUND_REPORT).await;
        let thread = at.thread(&report).await;
        settled(&at).await;
        let posts = own(&at, thread);
        for words in ["Cause confirmed", "Next steps"] {
            let count = posts.iter().filter(|post| post.shows(words)).count();
            assert_eq!(count, 1, "{method} {pattern}: {words}");
        }
        assert_eq!(
            own(&at, at.channel).len(),
            1,
            "{method} {pattern}: one headline"
        );
        assert_eq!(
            at.discord.threads(at.channel).len(),
            1,
            "{method} {pattern}"
        );
        at.ends().await;
    }
}

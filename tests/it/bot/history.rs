//! A team brings its history: an old message is remembered, a file and a channel are imported after
//! a preview, and old fixes are judged one tap each.

use super::opened::ends;
use super::{Given, Incident, tuning};
use serde_json::{Value, json};
use standin::permissions::{MANAGE_GUILD, MANAGE_THREADS, READ_MESSAGE_HISTORY};
use standin::{ChannelId, Interaction, MessageId, Post, Upload};

const POSTMORTEM: &str = "# payments-api: pool empty\n\n**Started:** 2026-05-14 02:10 UTC\n\n**Resolved:** 2026-05-14 02:51 UTC\n\n\
    ## Impact\n\nCharges answered 503.\n\n## Root cause\n\nThe refund job keeps connections open\n\n\
    ## Resolution\n\nStopped the refund job, told jane.doe@customer.example\n";

impl Incident {
    fn may_import(&self) {
        self.discord.grant(self.guild, self.alice, MANAGE_GUILD);
    }

    async fn records(&self) -> Vec<Value> {
        let store = self.app.as_ref().expect("the bot runs").store();
        let guild = self.guild.to_string();
        let records = store
            .records_for_operator(&guild, None, 1000)
            .await
            .expect("records can be read");
        records
            .into_iter()
            .map(|record| {
                let mut value = serde_json::to_value(&record.past).expect("a record is JSON");
                value["private_to"] = json!(record.private_to);
                value
            })
            .collect()
    }

    /// The preview of an import, once it was read.
    async fn preview(&self, import: &Interaction) -> Post {
        import.response().await;
        self.idle().await;
        import.original().await
    }

    /// A click on it, and what stands in its place then.
    async fn press(&self, import: &Interaction, preview: &Post, button: &str) -> Post {
        let click = self.discord.click_as_seen(self.alice, preview, button);
        click.response().await;
        self.idle().await;
        import.original().await
    }

    fn import_file(&self, name: &str, text: &str) -> Interaction {
        let file = self.discord.upload(Upload::new(name, text));
        self.discord.slash(
            self.alice,
            self.channel,
            "memory import",
            json!({"file": file.to_string()}),
        )
    }

    fn import_channel(&self, channel: ChannelId) -> Interaction {
        self.discord.slash(
            self.alice,
            self.channel,
            "memory import",
            json!({"channel": channel.to_string(), "since": "2020-01-01"}),
        )
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn who_may_not_import_is_told_alone() {
    let at = Incident::begins(Given::default()).await;
    let told = at.import_file("a.md", POSTMORTEM).ephemeral().await;
    assert!(told.shows("Manage Server"), "{told}");
    at.may_import();
    for (options, says) in [
        (json!({}), "Give a `file`"),
        (json!({"channel": at.channel.to_string()}), "with `since`"),
        (
            json!({"channel": at.channel.to_string(), "since": "yesterday"}),
            "a day such as",
        ),
    ] {
        let told = at
            .discord
            .slash(at.alice, at.channel, "memory import", options)
            .ephemeral()
            .await;
        assert!(told.shows(says), "{says}: {told}");
    }
    assert_eq!(at.records().await, [] as [Value; 0]);
    ends(at).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_file_is_previewed_then_stored_and_stored_once() {
    let at = Incident::begins(Given::default()).await;
    at.may_import();
    let import = at.import_file("pool.md", POSTMORTEM);
    let preview = at.preview(&import).await;
    for part in [
        "1 incident to import",
        "payments-api: pool empty",
        "held",
        "Nothing is stored yet",
    ] {
        assert!(preview.shows(part), "{part}: {preview}");
    }
    assert_eq!(
        at.records().await,
        [] as [Value; 0],
        "a preview stores nothing"
    );
    let done = at.press(&import, &preview, "Import 1").await;
    assert!(done.shows("Imported: 1 new, 0 changed"), "{done}");
    let records = at.records().await;
    assert_eq!(records.len(), 1);
    assert_eq!(records[0]["service"], json!("payments-api"));
    assert_eq!(records[0]["source"], json!("pool.md"));
    assert!(
        !records[0].to_string().contains("jane.doe@"),
        "{}",
        records[0]
    );
    // The same file again is known.
    let again = at.import_file("pool.md", POSTMORTEM);
    let preview = at.preview(&again).await;
    assert!(
        preview.shows("0 incidents to import, 1 known already"),
        "{preview}"
    );
    ends(at).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn lines_that_cant_be_read_are_listed_and_a_cancelled_import_stores_nothing() {
    let at = Incident::begins(Given::default()).await;
    at.may_import();
    let lines = format!(
        "{}\nnot JSON\n{}\n",
        json!({"id": 7, "title": "Pool empty", "fix": "Stop the job", "outcome": "held"}),
        json!({"service": "no title"}),
    );
    let import = at.import_file("memory.jsonl", &lines);
    let preview = at.preview(&import).await;
    for part in [
        "1 incident to import",
        "2 could not be read",
        "line 2: it is not JSON",
        "line 3: it has no title",
    ] {
        assert!(preview.shows(part), "{part}: {preview}");
    }
    let dropped = at.press(&import, &preview, "Cancel").await;
    assert!(dropped.shows("Nothing was stored"), "{dropped}");
    assert_eq!(at.records().await, [] as [Value; 0]);
    let lunch = at.import_file("lunch.md", "# Lunch\n\nSoup.");
    let preview = at.preview(&lunch).await;
    assert!(preview.shows("Nothing here can be imported"), "{preview}");
    assert!(preview.shows("lunch.md: nothing in it tells"), "{preview}");
    ends(at).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_channels_threads_and_postmortems_are_imported_and_its_talk_is_not() {
    let mut at = Incident::prepared(Given::default()).await;
    let old = at.discord.channel(at.guild, "old-incidents");
    let bob = at.discord.member(at.guild, "bob");
    let starter = at
        .discord
        .say(bob, old, "order-service is down, errors everywhere");
    let thread = at.discord.thread_from(bob, starter, "order-service outage");
    at.discord
        .say(bob, thread, "Root cause: the order cache was full");
    at.discord.say(
        bob,
        thread,
        "Fix: flushed the order cache, orders recovered",
    );
    at.discord.say(bob, old, POSTMORTEM);
    at.discord.say(bob, old, "who is in for lunch?");
    let lunch = at.discord.say(bob, old, "soup today");
    let talk = at.discord.thread_from(bob, lunch, "lunch");
    at.discord.say(bob, talk, "I am in");
    at.starts_bot(tuning(None)).await;
    at.may_import();
    let import = at.import_channel(old);
    let preview = at.preview(&import).await;
    for part in [
        "2 incidents to import",
        "order-service outage",
        "payments-api: pool empty",
    ] {
        assert!(preview.shows(part), "{part}: {preview}");
    }
    assert!(!preview.shows("lunch"), "{preview}");
    let done = at.press(&import, &preview, "Import 2").await;
    assert!(done.shows("2 new"), "{done}");
    let records = at.records().await;
    let order = records
        .iter()
        .find(|record| record["title"] == json!("order-service outage"))
        .expect("the thread is remembered");
    assert_eq!(order["service"], json!("order-service"));
    assert_eq!(order["root_cause"], json!("the order cache was full"));
    // What people said in passing is not what a postmortem says.
    assert_eq!(order["attempts"][0]["outcome"], json!("unknown"));
    assert!(
        order["source"]
            .as_str()
            .is_some_and(|source| source.ends_with(&thread.to_string())),
        "{order}"
    );
    ends(at).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn without_history_or_message_content_an_import_says_what_it_could_not_read() {
    let mut at = Incident::prepared(Given {
        without_message_content: true,
        ..Given::default()
    })
    .await;
    let old = at.discord.channel(at.guild, "old-incidents");
    let bob = at.discord.member(at.guild, "bob");
    at.discord.say(bob, old, POSTMORTEM);
    at.starts_bot(tuning(None)).await;
    at.may_import();
    let import = at.import_channel(old);
    let preview = at.preview(&import).await;
    assert!(preview.shows("1 message without text for me"), "{preview}");
    at.discord.deny(old, at.discord.bot(), READ_MESSAGE_HISTORY);
    let import = at.import_channel(old);
    let preview = at.preview(&import).await;
    assert!(preview.shows("Read Message History"), "{preview}");
    ends(at).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_comes_from_a_private_channel_is_seen_there_alone() {
    let mut at = Incident::prepared(Given::default()).await;
    let secret = at
        .discord
        .private_channel(at.guild, "security", &[at.alice, at.discord.bot()]);
    at.discord.say(at.alice, secret, POSTMORTEM);
    at.starts_bot(tuning(None)).await;
    at.may_import();
    let import = at.import_channel(secret);
    let preview = at.preview(&import).await;
    at.press(&import, &preview, "Import 1").await;
    let records = at.records().await;
    assert_eq!(
        records[0]["private_to"],
        json!(secret.to_string()),
        "{records:?}"
    );
    ends(at).await;
}

async fn remembered(at: &Incident, message: MessageId, values: &[(&str, &str)]) -> Post {
    let command = at
        .discord
        .message_command(at.alice, "Remember as incident", message);
    command.modal().await;
    at.discord
        .submit_modal(at.alice, &command, values)
        .ephemeral()
        .await
}

#[tokio::test(flavor = "multi_thread")]
async fn an_old_message_is_remembered_from_a_form_that_is_filled_in_already() {
    let at = Incident::begins(Given::default()).await;
    let bob = at.discord.member(at.guild, "bob");
    let message = at.discord.say(bob, at.channel, POSTMORTEM);
    let refused = at
        .discord
        .message_command(at.alice, "Remember as incident", message);
    let told = refused.ephemeral().await;
    assert!(told.shows("Manage Threads"), "{told}");
    at.discord.grant(at.guild, at.alice, MANAGE_THREADS);
    let command = at
        .discord
        .message_command(at.alice, "Remember as incident", message);
    let modal = command.modal().await;
    let filled = |name: &str| modal.field(name).map(|field| field.value.clone());
    assert_eq!(filled("title").as_deref(), Some("payments-api: pool empty"));
    assert_eq!(filled("service").as_deref(), Some("payments-api"));
    assert_eq!(
        filled("cause").as_deref(),
        Some("The refund job keeps connections open")
    );
    assert!(filled("fix").is_some_and(|fix| fix.starts_with("Stopped the refund job")));
    assert_eq!(filled("outcome").as_deref(), Some("worked"));
    let done = at
        .discord
        .submit_modal(at.alice, &command, &[("outcome", "failed")])
        .ephemeral()
        .await;
    assert!(done.shows("is in memory now"), "{done}");
    let records = at.records().await;
    assert_eq!(records.len(), 1);
    assert_eq!(records[0]["attempts"][0]["outcome"], json!("no_effect"));
    assert_eq!(records[0]["started_at"], json!("2026-05-14T02:10:00Z"));
    assert_eq!(
        records[0]["source"],
        json!(format!(
            "https://discord.com/channels/{}/{}/{message}",
            at.guild, at.channel
        ))
    );
    // The same message again is the same record.
    remembered(&at, message, &[("title", "Pool empty, again")]).await;
    let records = at.records().await;
    assert_eq!(records.len(), 1, "{records:?}");
    assert_eq!(records[0]["title"], json!("Pool empty, again"));
    ends(at).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_review_asks_one_tap_each_and_stays_where_one_stopped() {
    let line = |number: u32, outcome: &str| {
        json!({
            "id": number, "title": format!("Trouble {number}"), "service": "payments-api",
            "resolved_at": format!("2026-0{number}-01T00:00:00Z"),
            "root_cause": format!("cause {number}"), "fix": format!("fix {number}"), "outcome": outcome,
        })
    };
    let memory = [
        line(1, "unknown"),
        line(2, "held"),
        line(3, "unknown"),
        line(4, "unknown"),
    ];
    let at = Incident::begins(Given {
        memory: &memory,
        ..Given::default()
    })
    .await;
    let review = at
        .discord
        .slash(at.alice, at.channel, "memory review", json!({}));
    let mut question = review.ephemeral().await;
    for (asks, left, says) in [
        ("INC-0004", "2 more after this one", "Worked"),
        ("INC-0003", "1 more after this one", "Unsure"),
    ] {
        assert!(question.shows(asks), "{asks}: {question}");
        assert!(question.shows(left), "{left}: {question}");
        let click = at.discord.click_as_seen(at.alice, &question, says);
        click.response().await;
        question = review.original().await;
    }
    // Stopped here; another day it goes on here.
    assert!(question.shows("INC-0001"), "{question}");
    let later = at
        .discord
        .slash(at.alice, at.channel, "memory review", json!({}));
    let question = later.ephemeral().await;
    assert!(
        question.shows("INC-0001") && question.shows("the last one"),
        "{question}"
    );
    at.discord
        .click_as_seen(at.alice, &question, "Failed")
        .response()
        .await;
    let done = later.original().await;
    assert!(done.shows("Nothing is left to review"), "{done}");
    let outcomes: Vec<Value> = at
        .records()
        .await
        .iter()
        .map(|record| record["attempts"][0]["outcome"].clone())
        .collect();
    assert_eq!(
        outcomes,
        [
            json!("no_effect"),
            json!("held"),
            json!("unknown"),
            json!("held")
        ]
    );
    // Who does not know leaves it to others.
    let bob = at.discord.member(at.guild, "bob");
    let asked = at
        .discord
        .slash(bob, at.channel, "memory review", json!({}));
    let question = asked.ephemeral().await;
    assert!(question.shows("INC-0003"), "{question}");
    ends(at).await;
}

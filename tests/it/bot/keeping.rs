//! Who may do what, sharing, forgetting, retention, and what an export holds.

use super::faults::own;
use super::opened::{Opened, ends};
use super::{Given, Incident, REFUND_REPORT, refund_job};
use precedent::incident::Locale;
use precedent::memory::format::{Record, parse_record};
use precedent::present::say;
use serde_json::{Value, json};
use standin::{ChannelId, Post, UserId, permissions};

/// Words that stand in one record and nowhere else.
const VERMILION: &str = "The vermilion job keeps connections open";
const PURPLE: &str = "Stop the purple exporter on the till";

fn marked(number: u32) -> Value {
    let mut line = refund_job(number, "2026-09-23", "held");
    line["root_cause"] = json!(VERMILION);
    line["fix"] = json!(PURPLE);
    line["title"] = json!("payments-api 503s under the magenta batch");
    line
}

async fn asks(
    at: &Incident,
    who: UserId,
    channel: ChannelId,
    command: &str,
    options: Value,
) -> Post {
    at.discord
        .slash(who, channel, command, options)
        .ephemeral()
        .await
}

async fn managed(memory: &[Value]) -> Incident {
    let at = Incident::begins(Given {
        memory,
        ..Given::default()
    })
    .await;
    at.discord
        .grant(at.guild, at.alice, permissions::MANAGE_GUILD);
    at
}

/// Asks to forget an incident and confirms it; the question as it is afterwards.
async fn forgets(at: &Incident, id: &str) -> Post {
    let question = asks(at, at.alice, at.channel, "memory forget", json!({"id": id})).await;
    assert!(question.shows("can't be undone"), "{question}");
    let click = at
        .discord
        .click(at.alice, &question, &format!("Forget {id}"));
    let _acknowledged = click.response().await;
    at.idle().await;
    at.discord
        .await_edit(&question, |post| post.shows("is forgotten"))
        .await
}

/// Every byte that the database has on the disk.
fn on_disk(at: &Incident) -> Vec<u8> {
    let mut all = Vec::new();
    for entry in std::fs::read_dir(at.folder.path()).expect("the folder is there") {
        let path = entry.expect("an entry").path();
        all.extend(std::fs::read(path).expect("a file"));
    }
    all
}

fn holds(bytes: &[u8], text: &str) -> bool {
    bytes
        .windows(text.len())
        .any(|window| window == text.as_bytes())
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_forgotten_is_gone_everywhere() {
    let memory = [refund_job(12, "2026-05-14", "held"), marked(41)];
    let at = managed(&memory).await;
    let opened = Opened::reported(at, json!({"report": REFUND_REPORT})).await;
    let at = &opened.at;
    let cards = opened.cards(1).await;
    assert!(
        cards.shows("INC-0041") && cards.shows("purple exporter"),
        "{cards}"
    );
    assert!(holds(&on_disk(at), "purple exporter"));

    let question = asks(
        at,
        at.alice,
        at.channel,
        "memory forget",
        json!({"id": "41"}),
    )
    .await;
    for part in [
        "Forget INC-0041?",
        "magenta batch",
        "recalled it (1)",
        "can't be undone",
    ] {
        assert!(question.shows(part), "{part} in {question}");
    }
    // Kept: nothing happened.
    let keep = at.discord.click(at.alice, &question, "Keep it");
    let kept = keep.ephemeral().await;
    assert!(kept.shows("INC-0041 is kept"), "{kept}");
    let shown = asks(at, at.alice, at.channel, "memory show", json!({"id": "41"})).await;
    assert!(shown.shows("vermilion"), "{shown}");

    let told = forgets(at, "INC-0041").await;
    assert!(told.buttons().is_empty(), "{told}");
    for command in ["memory show", "incident show"] {
        let shown = asks(at, at.alice, at.channel, command, json!({"id": "41"})).await;
        assert!(shown.shows("INC-0041 (forgotten)"), "{command}: {shown}");
    }
    let again = asks(
        at,
        at.alice,
        at.channel,
        "memory forget",
        json!({"id": "41"}),
    )
    .await;
    assert!(again.shows("INC-0041 (forgotten)"), "{again}");
    let found = asks(
        at,
        at.alice,
        at.channel,
        "memory search",
        json!({"query": "vermilion purple exporter"}),
    )
    .await;
    assert!(
        !found.shows("INC-0041") && !found.shows("vermilion"),
        "{found}"
    );

    // The card that cited it says that it is gone, without a word of it.
    let cards = opened.shows(&cards, "INC-0041 (forgotten)").await;
    for word in ["vermilion", "purple", "magenta"] {
        assert!(!cards.to_text().contains(word), "{word} in {cards}");
    }
    let headline = at.headline(&opened.report).await;
    assert!(headline.shows("Seen 1x here"), "{headline}");

    // Nor is it on the disk any more, in no table, index, job or free page.
    let bytes = on_disk(at);
    for word in ["purple exporter", "vermilion", "magenta"] {
        assert!(!holds(&bytes, word), "{word} is still on the disk");
    }
    assert!(holds(&bytes, "TillPool"), "the others are");

    // A new analysis neither cites nor counts it.
    let checklist = opened.checklist(1).await;
    let click = at.discord.click(at.alice, &checklist, "Re-analyze");
    let _acknowledged = click.response().await;
    at.idle().await;
    let cards = opened.cards(2).await;
    assert!(!cards.shows("INC-0041"), "{cards}");
    assert!(cards.shows("WORKED ONCE HERE"), "{cards}");
    opened.ends().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_bots_own_messages_about_a_forgotten_incident_say_so() {
    let at = managed(&[]).await;
    let report =
        "payments-api: the cobalt cache returns nothing since 02:41 UTC, customers cannot pay";
    let opened = Opened::reported(at, json!({"report": report, "severity": "SEV2"})).await;
    let at = &opened.at;
    let open = asks(
        at,
        at.alice,
        at.channel,
        "memory forget",
        json!({"id": "1"}),
    )
    .await;
    assert!(open.shows("INC-0001 is still open"), "{open}");
    let asked = at.discord.slash(
        at.alice,
        opened.thread,
        "followup",
        json!({"question": "what is the cobalt cache?"}),
    );
    let _answer = asked.original().await;
    let resolve = at
        .discord
        .slash(at.alice, opened.thread, "resolve", json!({"worked": "yes"}));
    let _form = resolve.modal().await;
    let submitted = at.discord.submit_modal(
        at.alice,
        &resolve,
        &[
            ("cause", "cobalt cache was cold"),
            ("fix", "warm the cobalt cache"),
        ],
    );
    let _said = submitted.original().await;
    at.idle().await;
    assert!(holds(&on_disk(at), "cobalt"));

    forgets(at, "INC-0001").await;
    let headline = at.headline(&opened.report).await;
    assert!(
        headline.shows("INC-0001 (forgotten)") && headline.embeds.is_empty(),
        "{headline}"
    );
    for post in own(at, opened.thread) {
        assert!(post.shows("INC-0001 (forgotten)"), "{post}");
        assert!(!post.shows("cobalt"), "{post}");
        assert!(
            post.buttons().is_empty() && post.selects().is_empty(),
            "{post}"
        );
    }
    assert!(
        !holds(&on_disk(at), "cobalt"),
        "a word of it is on the disk"
    );
    // The number is not given again.
    let next = at.analyze("something else is slow").await;
    let thread = at.thread(&next).await;
    let _read = at.settled(thread).await;
    assert!(at.headline(&next).await.shows("INC-0002"));
    // Nor by an import.
    let back = json!({"id": 1, "title": "again"}).to_string();
    let keep = |text: &str| text.to_owned();
    let report = precedent::jobs::remember::import(
        at.app.as_ref().expect("the bot runs").store(),
        &at.guild.to_string(),
        back.as_bytes(),
        precedent::jobs::remember::ImportOptions {
            now: jiff::Timestamp::now(),
            redact: &keep,
            strict: false,
        },
        |_| (),
    )
    .await
    .expect("the file can be read");
    assert_eq!((report.added, report.failed), (0, 1), "{report:?}");
    assert!(report.failures[0].1.contains("INC-0001 was forgotten here"));
    opened.ends().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn every_command_takes_the_right_that_the_table_says() {
    let at = Incident::begins(Given {
        memory: &[refund_job(41, "2026-09-23", "held")],
        ..Given::default()
    })
    .await;
    for (command, options) in [
        ("memory forget", json!({"id": "41"})),
        ("memory share", json!({"id": "41"})),
        ("memory unshare", json!({"id": "41"})),
        ("memory export", json!({})),
        ("service set", json!({"name": "payments-api"})),
        (
            "service alias",
            json!({"name": "payments-api", "alias": "x"}),
        ),
        ("service rename", json!({"name": "payments-api", "to": "x"})),
        (
            "service merge",
            json!({"name": "payments-api", "into": "x"}),
        ),
        ("service remove", json!({"name": "payments-api"})),
        ("settings roles", json!({})),
    ] {
        let told = asks(&at, at.alice, at.channel, command, options).await;
        assert!(
            told.shows("You need the Manage Server permission"),
            "{command}: {told}"
        );
        assert!(!told.shows("INC-0041"), "{command}: {told}");
    }
    // Manage Threads is another right.
    let bob = at.discord.member(at.guild, "bob");
    at.discord.grant(at.guild, bob, permissions::MANAGE_THREADS);
    let told = asks(&at, bob, at.channel, "memory forget", json!({"id": "41"})).await;
    assert!(
        told.shows("You need the Manage Server permission"),
        "{told}"
    );
    // For everybody there is nothing to be asked.
    for (command, options) in [
        ("service list", json!({})),
        ("service show", json!({"name": "payments-api"})),
        ("memory show", json!({"id": "41"})),
    ] {
        let told = asks(&at, bob, at.channel, command, options).await;
        assert!(told.shows("payments-api"), "{command}: {told}");
    }
    ends(at).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn roles_that_a_server_sets_stand_for_permissions() {
    let at = managed(&[refund_job(41, "2026-09-23", "held")]).await;
    let bob = at.discord.member(at.guild, "bob");
    let carol = at.discord.member(at.guild, "carol");
    let keepers = at.discord.role(at.guild, "keepers", 0);
    let responders = at.discord.role(at.guild, "responders", 0);
    at.discord.give_role(at.guild, bob, keepers);
    at.discord.give_role(at.guild, carol, responders);
    let may_export = |told: &Post| told.shows("Incidents: 1");
    let told = asks(&at, bob, at.channel, "memory export", json!({})).await;
    assert!(!may_export(&told), "{told}");

    let everybody = at.guild.get().to_string();
    let told = asks(
        &at,
        at.alice,
        at.channel,
        "settings roles",
        json!({"administrators": everybody}),
    )
    .await;
    assert!(told.shows("Everybody has this role"), "{told}");
    let set = asks(
        &at,
        at.alice,
        at.channel,
        "settings roles",
        json!({
            "administrators": keepers.get().to_string(),
            "responders": responders.get().to_string(),
        }),
    )
    .await;
    assert!(set.shows(&keepers.get().to_string()), "{set}");
    let told = asks(&at, bob, at.channel, "memory export", json!({})).await;
    assert!(may_export(&told), "{told}");
    // A role does not hand itself on, and one is not the other.
    let told = asks(&at, bob, at.channel, "settings roles", json!({})).await;
    assert!(
        told.shows("You need the Manage Server permission"),
        "{told}"
    );
    let told = asks(&at, carol, at.channel, "memory export", json!({})).await;
    assert!(told.shows("You need"), "{told}");

    // Both may resolve what Alice reported; Dave may not.
    let opened = Opened::reported(at, json!({"report": REFUND_REPORT})).await;
    let dave = opened.at.discord.member(opened.at.guild, "dave");
    let refused = asks(
        &opened.at,
        dave,
        opened.thread,
        "resolve",
        json!({"worked": "yes"}),
    )
    .await;
    assert!(
        refused.shows("Manage Threads permission or the role"),
        "{refused}"
    );
    for who in [bob, carol] {
        let resolve =
            opened
                .at
                .discord
                .slash(who, opened.thread, "resolve", json!({"worked": "yes"}));
        let _form = resolve.modal().await;
    }
    let cleared = asks(
        &opened.at,
        opened.at.alice,
        opened.at.channel,
        "settings roles",
        json!({"clear": "both"}),
    )
    .await;
    assert!(cleared.shows("not set"), "{cleared}");
    let told = asks(
        &opened.at,
        bob,
        opened.at.channel,
        "memory export",
        json!({}),
    )
    .await;
    assert!(told.shows("You need"), "{told}");
    opened.ends().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_private_leaks_nothing_until_it_is_shared() {
    let at = managed(&[]).await;
    let bot = at.discord.bot();
    let private = at
        .discord
        .private_channel(at.guild, "breach", &[at.alice, bot]);
    let added = asks(
        &at,
        at.alice,
        private,
        "memory add",
        json!({"title": "leaked signing key", "service": "vault", "fix": "rotate the ochre key", "outcome": "held"}),
    )
    .await;
    assert!(added.shows("INC-0001"), "{added}");
    let everywhere = || async {
        let mut told = Vec::new();
        for (command, options) in [
            (
                "memory search",
                json!({"query": "leaked signing key ochre"}),
            ),
            ("memory show", json!({"id": "1"})),
            ("incident show", json!({"id": "1"})),
            ("incident list", json!({"status": "all"})),
            ("service list", json!({})),
            ("memory export", json!({})),
        ] {
            told.push(asks(&at, at.alice, at.channel, command, options).await);
        }
        let mut text: String = told.iter().map(Post::to_text).collect();
        for post in &told {
            text.extend(post.files.iter().map(standin::PostedFile::text));
        }
        text
    };
    let before = everywhere().await;
    for word in ["ochre", "signing", "vault"] {
        assert!(!before.contains(word), "{word} in {before}");
    }
    // Where it may not be seen it can't be shared either.
    let told = asks(
        &at,
        at.alice,
        at.channel,
        "memory share",
        json!({"id": "1"}),
    )
    .await;
    assert!(told.shows("no incident of this number"), "{told}");
    let told = asks(&at, at.alice, private, "memory share", json!({"id": "1"})).await;
    assert!(told.shows("INC-0001 is shared"), "{told}");
    let after = everywhere().await;
    for word in ["ochre", "signing", "vault", "Incidents: 1"] {
        assert!(after.contains(word), "{word} in {after}");
    }
    let told = asks(
        &at,
        at.alice,
        at.channel,
        "memory unshare",
        json!({"id": "1"}),
    )
    .await;
    assert!(told.shows("only in the channel"), "{told}");
    let again = everywhere().await;
    for word in ["ochre", "signing"] {
        assert!(!again.contains(word), "{word} in {again}");
    }
    let found = asks(
        &at,
        at.alice,
        private,
        "memory search",
        json!({"query": "ochre"}),
    )
    .await;
    assert!(found.shows("INC-0001"), "{found}");
    ends(at).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_imported_incident_has_no_channel_to_be_kept_to() {
    let at = managed(&[refund_job(41, "2026-09-23", "held")]).await;
    let told = asks(
        &at,
        at.alice,
        at.channel,
        "memory unshare",
        json!({"id": "41"}),
    )
    .await;
    assert!(told.shows("belongs to no channel"), "{told}");
    ends(at).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_export_is_what_may_be_seen_from_there_and_reads_back() {
    let at = managed(&[
        refund_job(12, "2026-05-14", "no_effect"),
        refund_job(41, "2026-09-23", "held"),
    ])
    .await;
    let _set = asks(
        &at,
        at.alice,
        at.channel,
        "service set",
        json!({"name": "payments-api", "aliases": "till", "owners": "on call: bob"}),
    )
    .await;
    let told = asks(&at, at.alice, at.channel, "memory export", json!({})).await;
    assert!(told.shows("Incidents: 2; services: 1"), "{told}");
    let text = told.files[0].text();
    let records: Vec<Record> = text
        .lines()
        .map(|line| parse_record(line).expect("a line that reads back"))
        .collect();
    assert_eq!(records.len(), 3, "{text}");
    assert!(matches!(&records[0], Record::Service(service, _) if service.aliases == ["till"]));
    for (record, number) in records.iter().skip(1).zip([12, 41]) {
        let Record::Incident(line) = record else {
            panic!("an incident in {record:?}");
        };
        assert_eq!(
            line.id.map(precedent::incident::IncidentId::number),
            Some(number)
        );
    }
    ends(at).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn old_incidents_are_forgotten_where_the_operator_says_so() {
    let mut undated = refund_job(3, "2020-01-01", "held");
    for key in ["started_at", "resolved_at"] {
        undated[key] = Value::Null;
    }
    let days_ago = |days: i64| {
        let day = jiff::Timestamp::now() - jiff::SignedDuration::from_hours(24 * days);
        day.strftime("%Y-%m-%d").to_string()
    };
    let memory = [
        undated,
        refund_job(12, &days_ago(101), "held"),
        refund_job(41, &days_ago(98), "held"),
    ];
    let at = Incident::begins(Given {
        memory: &memory,
        retention_days: Some(100),
        ..Given::default()
    })
    .await;
    let store = at.app.as_ref().expect("the bot runs").store().clone();
    let scope = precedent::store::Scope::public(at.guild.to_string());
    let old = precedent::incident::IncidentId::new(12).expect("a number");
    let gone = async {
        while store
            .forgotten(&scope, old)
            .await
            .expect("it can be asked")
            .is_none()
        {
            tokio::time::sleep(std::time::Duration::from_millis(20)).await;
        }
    };
    tokio::time::timeout(std::time::Duration::from_secs(10), gone)
        .await
        .expect("the old one is forgotten");
    at.idle().await;
    for (id, kept) in [("3", true), ("12", false), ("41", true)] {
        let shown = asks(&at, at.alice, at.channel, "memory show", json!({"id": id})).await;
        assert_eq!(shown.shows("refund job"), kept, "{id}: {shown}");
    }
    ends(at).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_help_says_who_may_do_what() {
    let at = Incident::begins(Given::default()).await;
    let help = asks(&at, at.alice, at.channel, "help", json!({})).await;
    for right in precedent::incident::Right::ALL {
        let words = say::right(Locale::En, right);
        assert!(help.shows(words), "{words} in {help}");
    }
    for (deed, right) in precedent::incident::rights::WHO_MAY {
        if *right != precedent::incident::Right::Write {
            let words = say::deed(Locale::En, *deed);
            assert!(help.shows(&words), "{words} in {help}");
        }
    }
    ends(at).await;
}

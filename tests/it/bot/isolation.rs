//! Two servers that never see each other, and private channels that stay private: whatever is asked,
//! searched, listed, recalled or opened.

use super::faults::own;
use super::{Given, Incident, REFUND_REPORT, refund_job, remember};
use serde_json::{Value, json};
use standin::{ChannelId, GuildId, Interaction, Post, UserId};

/// Another server with the same bot: its channel and Bob, who is on call there.
struct Other {
    guild: GuildId,
    channel: ChannelId,
    bob: UserId,
}

/// Acme remembers that the refund job was stopped; globex, in the same words, that a proxy was.
async fn two_servers() -> (Incident, Other) {
    two_servers_in(None).await
}

async fn two_servers_in(database_url: Option<String>) -> (Incident, Other) {
    let incident = Incident::prepared(Given {
        database_url,
        memory: &[refund_job(41, "2026-09-23", "held")],
        ..Given::default()
    })
    .await;
    let guild = incident.discord.guild("globex");
    let channel = incident.discord.channel(guild, "outages");
    let bob = incident.discord.member(guild, "bob");
    let mut proxy = refund_job(77, "2026-10-02", "held");
    proxy["fix"] = json!("Restart the vermilion proxy");
    proxy["root_cause"] = json!("The vermilion proxy leaks connections");
    proxy["title"] = json!("vermilion proxy leaks");
    remember(&incident.config.database_url, &guild.to_string(), &[proxy]).await;
    let mut incident = incident;
    incident.starts_bot(super::tuning(None)).await;
    (
        incident,
        Other {
            guild,
            channel,
            bob,
        },
    )
}

impl Other {
    fn asks(&self, incident: &Incident, command: &str, options: Value) -> Interaction {
        incident
            .discord
            .slash(self.bob, self.channel, command, options)
    }
}

fn alice_asks(incident: &Incident, command: &str, options: Value) -> Interaction {
    incident
        .discord
        .slash(incident.alice, incident.channel, command, options)
}

fn texts(posts: &[Post]) -> String {
    posts
        .iter()
        .map(Post::to_text)
        .collect::<Vec<_>>()
        .join("\n")
}

#[tokio::test(flavor = "multi_thread")]
async fn an_analysis_recalls_its_own_server_s_past_alone() {
    recalls_its_own_in(None).await;
}

/// In this database, or a fresh one.
pub(super) async fn recalls_its_own_in(database_url: Option<String>) {
    let (incident, other) = two_servers_in(database_url).await;
    let report = incident.analyze(REFUND_REPORT).await;
    let thread = incident.thread(&report).await;
    let theirs = other.asks(&incident, "analyze", json!({"report": REFUND_REPORT}));
    let their_thread = incident.thread(&theirs).await;
    incident.idle().await;
    let (acme, globex) = (
        texts(&own(&incident, thread)),
        texts(&own(&incident, their_thread)),
    );
    assert!(acme.contains("Stop the refund job"), "{acme}");
    assert!(
        !acme.contains("vermilion") && !acme.contains("INC-0077"),
        "{acme}"
    );
    assert!(globex.contains("vermilion"), "{globex}");
    assert!(
        !globex.contains("refund job") && !globex.contains("INC-0041"),
        "{globex}"
    );
    incident.ends().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn memory_of_another_server_is_neither_found_nor_shown() {
    let (incident, other) = two_servers().await;
    let found = alice_asks(
        &incident,
        "memory search",
        json!({"query": "vermilion proxy pool"}),
    );
    assert!(!found.ephemeral().await.shows("vermilion proxy leaks"));
    let shown = alice_asks(&incident, "memory show", json!({"id": "INC-0077"}));
    let shown = shown.ephemeral().await;
    assert!(shown.shows("no incident of this number"), "{shown}");
    // Who may see it does.
    let found = other.asks(
        &incident,
        "memory search",
        json!({"query": "vermilion proxy pool"}),
    );
    let found = found.ephemeral().await;
    assert!(found.shows("vermilion proxy leaks"), "{found}");
    let shown = other.asks(&incident, "memory show", json!({"id": "INC-0077"}));
    assert!(shown.ephemeral().await.shows("vermilion"));
    // The choice of a list counts where it is made, and not by its number alone.
    let opened = incident.discord.select(
        other.bob,
        &found,
        &found.selects()[0].custom_id,
        &["INC-0077"],
    );
    assert!(opened.ephemeral().await.shows("vermilion"));
    incident.ends().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn incidents_of_another_server_are_neither_listed_nor_shown() {
    let (incident, other) = two_servers().await;
    let report = incident.analyze(REFUND_REPORT).await;
    let thread = incident.thread(&report).await;
    incident.idle().await;
    let _read = own(&incident, thread);
    let listed = other.asks(&incident, "incident list", json!({}));
    let listed = listed.ephemeral().await;
    assert!(!listed.shows("INC-0042"), "{listed}");
    for command in ["incident show", "memory show"] {
        let shown = other.asks(&incident, command, json!({"id": "INC-0042"}));
        let shown = shown.ephemeral().await;
        assert!(
            shown.shows("no incident of this number"),
            "{command}: {shown}"
        );
    }
    let shown = alice_asks(&incident, "incident show", json!({"id": "INC-0042"}));
    assert!(shown.ephemeral().await.shows("INC-0042"));
    incident.ends().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn numbers_of_two_servers_are_two_incidents() {
    let (incident, other) = two_servers().await;
    // The same number in both: each opens its own.
    let mut same = refund_job(41, "2026-09-01", "held");
    same["title"] = json!("cobalt cache cold");
    remember(
        &incident.config.database_url,
        &other.guild.to_string(),
        &[same],
    )
    .await;
    let shown = alice_asks(&incident, "memory show", json!({"id": "INC-0041"}));
    let shown = shown.ephemeral().await;
    assert!(
        shown.shows("pool empty") && !shown.shows("cobalt"),
        "{shown}"
    );
    let shown = other.asks(&incident, "memory show", json!({"id": "INC-0041"}));
    assert!(shown.ephemeral().await.shows("cobalt"));
    incident.ends().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn services_of_another_server_are_not_known() {
    let (incident, other) = two_servers().await;
    incident
        .discord
        .grant(other.guild, other.bob, standin::permissions::MANAGE_GUILD);
    let set = other.asks(
        &incident,
        "service set",
        json!({"name": "vermilion-proxy", "aliases": "vp"}),
    );
    let _recorded = set.ephemeral().await;
    let listed = alice_asks(&incident, "service list", json!({}));
    assert!(!listed.ephemeral().await.shows("vermilion-proxy"));
    let typed = incident.discord.autocomplete(
        incident.alice,
        incident.channel,
        "analyze",
        "service",
        json!({"service": "verm"}),
    );
    assert_eq!(typed.choices().await, vec![]);
    let listed = other.asks(&incident, "service list", json!({}));
    assert!(listed.ephemeral().await.shows("vermilion-proxy"));
    incident.ends().await;
}

/// Reports in a channel, resolves there with a fix of its own, and gives the thread.
async fn resolved_in(incident: &Incident, channel: ChannelId) -> ChannelId {
    let report = incident.discord.slash(
        incident.alice,
        channel,
        "analyze",
        json!({"report": REFUND_REPORT, "service": "payments-api"}),
    );
    let _acknowledged = report.response().await;
    incident.idle().await;
    let place = incident
        .discord
        .threads(channel)
        .last()
        .copied()
        .unwrap_or(channel);
    let _read = (own(incident, channel), own(incident, place));
    let resolve =
        incident
            .discord
            .slash(incident.alice, place, "resolve", json!({"worked": "yes"}));
    let _modal = resolve.modal().await;
    let submitted = incident.discord.submit_modal(
        incident.alice,
        &resolve,
        &[
            ("cause", "The ochre gateway throttles us"),
            ("fix", "Ask the ochre team to lift the throttle"),
        ],
    );
    let _said = submitted.original().await;
    incident.idle().await;
    // Sooner a report of the same would be the same incident (R32).
    super::clock::minutes_pass(incident, 121).await;
    let _read = (own(incident, channel), own(incident, place));
    place
}

/// What everybody may see holds nothing of it; where it was reported it is found.
async fn stays_private(incident: &Incident, place: ChannelId) {
    let everywhere = incident.channel;
    for (command, options) in [
        ("incident list", json!({"status": "all"})),
        ("incident list", json!({"status": "resolved"})),
        ("memory search", json!({"query": "ochre throttle gateway"})),
        ("memory show", json!({"id": "INC-0001"})),
        ("incident show", json!({"id": "INC-0001"})),
    ] {
        let asked =
            incident
                .discord
                .try_slash(incident.alice, everywhere, command, options.clone());
        let Ok(asked) = asked else { continue };
        let answer = asked.ephemeral().await;
        assert!(
            !answer.shows("ochre") && !answer.shows("payments"),
            "{command} {options}: {answer}"
        );
    }
    let report = incident.analyze(REFUND_REPORT).await;
    let thread = incident.thread(&report).await;
    incident.idle().await;
    let cards = texts(&own(incident, thread));
    assert!(
        !cards.contains("ochre") && !cards.contains("INC-0001"),
        "{cards}"
    );
    // Nor is it counted.
    assert!(
        cards.contains("searched 0") || !cards.contains("searched 1"),
        "{cards}"
    );
    let _headline = own(incident, incident.channel);

    let found = incident.discord.slash(
        incident.alice,
        place,
        "memory search",
        json!({"query": "ochre throttle gateway"}),
    );
    let found = found.ephemeral().await;
    assert!(found.shows("INC-0001"), "{found}");
}

#[tokio::test(flavor = "multi_thread")]
async fn what_happened_in_a_private_channel_is_recalled_only_there() {
    let incident = Incident::begins(Given::default()).await;
    let bot = incident.discord.bot();
    let private =
        incident
            .discord
            .private_channel(incident.guild, "breach", &[incident.alice, bot]);
    let _thread = resolved_in(&incident, private).await;
    stays_private(&incident, private).await;
    // The next one there knows it.
    let again = incident.discord.slash(
        incident.alice,
        private,
        "analyze",
        json!({"report": REFUND_REPORT, "service": "payments-api"}),
    );
    let thread = incident.thread(&again).await;
    incident.idle().await;
    let cards = texts(&own(&incident, thread));
    assert!(cards.contains("ochre"), "{cards}");
    let _headlines = own(&incident, private);
    incident.ends().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_happened_in_a_private_thread_is_recalled_only_there() {
    let incident = Incident::begins(Given::default()).await;
    let private = incident
        .discord
        .thread(incident.alice, incident.channel, "quietly", true);
    incident
        .discord
        .add_to_thread(private, incident.discord.bot());
    let place = resolved_in(&incident, private).await;
    stays_private(&incident, place).await;
    incident.ends().await;
}

/// What a person fills in for a command: every option that takes a text, as if they knew what they
/// must not see.
fn filled_in(command: &Value) -> Option<Value> {
    let mut options = serde_json::Map::new();
    for option in command["options"].as_array().into_iter().flatten() {
        let required = option["required"] == true;
        let value = match (option["name"].as_str()?, option["type"].as_u64()?) {
            ("id", 3) => json!("INC-0001"),
            ("query" | "question", 3) => json!("leaked signing key ochre vault"),
            ("name" | "service" | "into", 3) => json!("vault"),
            (_, 3) if required => json!("x"),
            // A file or the like: what it holds is not what is kept here.
            _ if required => return None,
            _ => continue,
        };
        let choices = option["choices"].as_array();
        let value = match choices.and_then(|choices| choices.first()) {
            Some(choice) => choice["value"].clone(),
            None => value,
        };
        options.insert(option["name"].as_str()?.to_owned(), value);
    }
    Some(Value::Object(options))
}

#[tokio::test(flavor = "multi_thread")]
async fn no_command_at_all_tells_of_what_is_private_elsewhere() {
    let (incident, other) = two_servers().await;
    let manage = standin::permissions::MANAGE_GUILD | standin::permissions::MANAGE_THREADS;
    incident
        .discord
        .grant(incident.guild, incident.alice, manage);
    incident.discord.grant(other.guild, other.bob, manage);
    let bot = incident.discord.bot();
    let private =
        incident
            .discord
            .private_channel(incident.guild, "breach", &[incident.alice, bot]);
    // The number in the private channel is given by hand, as an operator's import would.
    let mut secret = refund_job(1, "2026-09-01", "held");
    secret["title"] = json!("leaked signing key");
    secret["fix"] = json!("Rotate the ochre key");
    secret["service"] = json!("vault");
    secret["private_to"] = json!(private.to_string());
    remember(
        &incident.config.database_url,
        &incident.guild.to_string(),
        &[secret],
    )
    .await;
    let mut asked = 0;
    let declared = precedent::discord::declared();
    for command in declared.as_array().expect("a list") {
        let name = command["name"].as_str().expect("a name");
        // These open an incident; what it recalls is tested above.
        if command["type"] != 1 || name == "analyze" {
            continue;
        }
        let inner: Vec<&Value> = command["options"]
            .as_array()
            .into_iter()
            .flatten()
            .filter(|option| option["type"] == 1)
            .collect();
        let all: Vec<(String, &Value)> = if inner.is_empty() {
            vec![(name.to_owned(), command)]
        } else {
            let full = |it: &Value| format!("{name} {}", it["name"].as_str().expect("a name"));
            inner.into_iter().map(|it| (full(it), it)).collect()
        };
        for (name, command) in all {
            let Some(options) = filled_in(command) else {
                continue;
            };
            for (who, channel) in [
                (incident.alice, incident.channel),
                (other.bob, other.channel),
            ] {
                let used = incident.discord.slash(who, channel, &name, options.clone());
                let (text, files) = match used.response().await {
                    standin::Response::Message(post) => (post.to_text(), post.files),
                    standin::Response::Deferred { .. } => {
                        let post = used.original().await;
                        (post.to_text(), post.files)
                    }
                    standin::Response::Modal(modal) => (modal.to_text(), Vec::new()),
                    other => panic!("/{name}: {other:?}"),
                };
                let mut told = text;
                told.extend(files.iter().map(standin::PostedFile::text));
                for word in ["signing", "ochre", "Rotate"] {
                    assert!(
                        !told.contains(word),
                        "/{name} {options} tells {word}: {told}"
                    );
                }
                asked += 1;
            }
        }
    }
    assert!(asked >= 40, "only {asked} commands were asked");
    incident.idle().await;
    let there = incident
        .discord
        .slash(incident.alice, private, "memory show", json!({"id": "1"}))
        .ephemeral()
        .await;
    assert!(there.shows("Rotate the ochre key"), "{there}");
    incident.ends().await;
}

//! Services: what is known of them, names and slips, renaming and merging, and the question which
//! one is meant.

use super::opened::{Opened, ends};
use super::{Given, Incident, REFUND_REPORT, refund_job};
use serde_json::{Value, json};
use standin::{Post, permissions};

impl Incident {
    /// Alice, who manages the server, uses a command in the incidents' channel.
    async fn admin(&self, command: &str, options: Value) -> Post {
        self.discord
            .slash(self.alice, self.channel, command, options)
            .ephemeral()
            .await
    }

    fn alice_manages(&self) {
        self.discord
            .grant(self.guild, self.alice, permissions::MANAGE_GUILD);
    }
}

async fn managed(memory: &[Value]) -> Incident {
    let at = Incident::begins(Given {
        memory,
        ..Given::default()
    })
    .await;
    at.alice_manages();
    at
}

#[tokio::test(flavor = "multi_thread")]
async fn a_service_has_owners_a_repository_and_runbooks() {
    let at = managed(&[]).await;
    for (options, said) in [
        (
            json!({"name": "pay", "runbooks": "javascript:alert(1)"}),
            "begins with http:// or https://",
        ),
        (
            json!({"name": "pay", "runbooks": "https://bob:secret@wiki/x"}),
            "begins with http:// or https://",
        ),
        (
            json!({"name": "pay", "owners": "on call: <@123>"}),
            "names, not mentions",
        ),
        (
            json!({"name": "pay", "owners": "on call:"}),
            "role and a name",
        ),
    ] {
        let told = at.admin("service set", options).await;
        assert!(told.shows(said), "{said}: {told}");
    }
    let set = at
        .admin(
            "service set",
            json!({
                "name": "pay",
                "owners": "on call: payments team, lead: bob",
                "repository": "https://git.acme.test/payments",
                "runbooks": "https://wiki.acme.test/pay_down https://wiki.acme.test/@everyone",
                "high_risk": "refund",
            }),
        )
        .await;
    assert!(set.shows("Service pay is stored"), "{set}");
    let shown = at.admin("service show", json!({"name": "pay"})).await;
    for part in [
        "payments team (on call)",
        "bob (lead)",
        "<https://git.acme.test/payments>",
        "<https://wiki.acme.test/pay_down>",
        "<https://wiki.acme.test/%40everyone>",
        "high risk: refund",
        "set · alice",
        "0 incidents",
    ] {
        assert!(shown.shows(part), "{part} in {shown}");
    }
    let listed = at.admin("service list", json!({})).await;
    assert!(listed.shows("payments team (on call)"), "{listed}");
    // A minus clears one thing and leaves the others.
    let _set = at
        .admin("service set", json!({"name": "pay", "runbooks": "-"}))
        .await;
    let shown = at.admin("service show", json!({"name": "pay"})).await;
    assert!(!shown.shows("wiki.acme.test"), "{shown}");
    assert!(shown.shows("payments team (on call)"), "{shown}");
    let unknown = at.admin("service show", json!({"name": "nowhere"})).await;
    assert!(unknown.shows("No service of this name"), "{unknown}");
    ends(at).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn renaming_and_merging_keep_every_incident_and_every_name() {
    let mut other = refund_job(50, "2026-10-02", "held");
    other["service"] = json!("billing");
    other["title"] = json!("billing 503s, pool empty");
    let memory = [refund_job(41, "2026-09-23", "held"), other];
    let at = managed(&memory).await;
    let taken = at
        .admin(
            "service rename",
            json!({"name": "payments-api", "to": "billing"}),
        )
        .await;
    assert!(taken.shows("means billing already"), "{taken}");
    let renamed = at
        .admin(
            "service rename",
            json!({"name": "payments-api", "to": "till"}),
        )
        .await;
    assert!(
        renamed.shows("payments-api is till now, with 1 incident"),
        "{renamed}"
    );
    at.idle().await;
    let merged = at
        .admin(
            "service merge",
            json!({"name": "billing", "into": "payments-api"}),
        )
        .await;
    assert!(
        merged.shows("billing is part of till now: 1 incident went over"),
        "{merged}"
    );
    at.idle().await;
    let shown = at.admin("service show", json!({"name": "billing"})).await;
    for part in [
        "2 incidents",
        "payments-api",
        "billing merged into it · alice",
        "renamed from payments-api · alice",
    ] {
        assert!(shown.shows(part), "{part} in {shown}");
    }
    let found = at
        .admin("memory search", json!({"query": "till pool empty"}))
        .await;
    assert!(
        found.shows("INC-0041") && found.shows("INC-0050"),
        "{found}"
    );

    // Reports under any of the names recall what any of them went through.
    let opened = Opened::reported(at, json!({"report": REFUND_REPORT})).await;
    let headline = opened.at.headline(&opened.report).await;
    assert!(headline.shows("till"), "{headline}");
    assert!(headline.shows("Seen 2x here"), "{headline}");

    let removed = opened
        .at
        .admin("service remove", json!({"name": "till"}))
        .await;
    assert!(removed.shows("till is no longer registered"), "{removed}");
    assert!(removed.shows("3 incidents"), "{removed}");
    let shown = opened.at.admin("memory show", json!({"id": "41"})).await;
    assert!(shown.shows("till"), "{shown}");
    opened.ends().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_slip_of_the_keys_is_forgiven() {
    let memory = [refund_job(41, "2026-09-23", "held")];
    let opened = Opened::with(
        Given {
            memory: &memory,
            ..Given::default()
        },
        json!({"report": REFUND_REPORT.replace("payments-api", "paymets-api")}),
    )
    .await;
    let headline = opened.at.headline(&opened.report).await;
    assert!(
        headline.shows("payments-api") && headline.shows("Seen 1x here"),
        "{headline}"
    );
    opened.ends().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn where_two_services_may_be_meant_the_bot_asks_and_goes_on() {
    let mut other = refund_job(50, "2026-10-02", "held");
    other["service"] = json!("order-service");
    other["title"] = json!("order-service cannot reach the ledger");
    other["error_signatures"] = json!(["LedgerTimeout after 5000ms"]);
    let memory = [refund_job(41, "2026-09-23", "held"), other];
    let report = "payments-api and order-service answer intermittent 503s since 02:41 UTC.\n\
        ERROR TillPool - no connection available, timed out after 30000ms";
    let opened = Opened::with(
        Given {
            memory: &memory,
            ..Given::default()
        },
        json!({"report": report}),
    )
    .await;
    let question = opened.said("Which service is this about?").await;
    let headline = opened.at.headline(&opened.report).await;
    assert!(!headline.shows("Seen 1x here"), "{headline}");
    let select = question.selects()[0].clone();
    let labels: Vec<&str> = select
        .options
        .iter()
        .map(|(label, _)| label.as_str())
        .collect();
    assert_eq!(labels, ["payments-api", "order-service", "None of these"]);
    let chosen = opened.at.discord.select(
        opened.at.alice,
        &question,
        &select.custom_id,
        &["payments-api"],
    );
    let _acknowledged = chosen.response().await;
    let said = opened
        .shows(&question, "Service: payments-api (said by alice)")
        .await;
    assert!(said.selects().is_empty(), "{said}");
    let cards = opened.cards(2).await;
    assert!(cards.shows("INC-0041"), "{cards}");
    opened.at.idle().await;
    let headline = opened.at.headline(&opened.report).await;
    assert!(headline.shows("Seen 1x here"), "{headline}");
    opened.ends().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn none_of_these_is_an_answer_too() {
    let at = managed(&[]).await;
    for name in ["payments-api", "order-service"] {
        let _set = at.admin("service set", json!({"name": name})).await;
    }
    let opened = Opened::reported(
        at,
        json!({"report": "payments-api and order-service answer 503 since 02:41 UTC"}),
    )
    .await;
    let question = opened.said("Which service is this about?").await;
    let select = question.selects()[0].custom_id.clone();
    let chosen = opened
        .at
        .discord
        .select(opened.at.alice, &question, &select, &["-"]);
    let _acknowledged = chosen.response().await;
    opened.shows(&question, "none of the services").await;
    opened.at.idle().await;
    assert_eq!(opened.count("Analysis 2"), 0);
    opened.ends().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn where_nothing_is_known_owner_runbook_and_people_are() {
    let at = managed(&[refund_job(41, "2026-09-23", "held")]).await;
    let _set = at
        .admin(
            "service set",
            json!({
                "name": "payments-api",
                "owners": "on call: payments team",
                "runbooks": "https://wiki.acme.test/pay",
            }),
        )
        .await;
    let opened = Opened::reported(at, json!({"report": REFUND_REPORT})).await;
    // What memory knows needs no owner.
    let cards = opened.cards(1).await;
    assert!(!cards.shows("Who knows"), "{cards}");
    let resolve = opened.at.discord.slash(
        opened.at.alice,
        opened.thread,
        "resolve",
        json!({"worked": "yes"}),
    );
    let _form = resolve.modal().await;
    let submitted =
        opened
            .at
            .discord
            .submit_modal(opened.at.alice, &resolve, &[("fix", "stopped it")]);
    let _said = submitted.original().await;
    opened.at.idle().await;

    let report = opened
        .at
        .analyze_with(json!({"report": "payments-api: certificate of the webhook expired, TLS handshake fails"}))
        .await;
    let thread = opened.at.thread(&report).await;
    let posts = opened.at.settled(thread).await;
    let cards = posts
        .iter()
        .find(|post| post.shows("Who knows payments-api"))
        .unwrap_or_else(|| panic!("no card in {posts:?}"));
    for part in [
        "payments team (on call)",
        "<https://wiki.acme.test/pay>",
        "Resolved it before",
        "alice",
    ] {
        assert!(cards.shows(part), "{part} in {cards}");
    }
    let _headline = opened.at.headline(&report).await;
    opened.ends().await;
}

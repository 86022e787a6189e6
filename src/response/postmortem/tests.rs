use super::*;
use proptest::prelude::*;

fn read_as(name: &str, text: &str) -> Result<PastIncident, NotRead> {
    let registry = Registry::from_names(["payments-api", "order-service"]);
    read(
        text,
        &Origin {
            name,
            source: name,
            registry: &registry,
        },
    )
}

fn read_here(text: &str) -> PastIncident {
    read_as("2026-05-14-pool.md", text).expect("it is a postmortem")
}

#[test]
fn what_is_no_incident() {
    let long = "x ".repeat(LONGEST_DOCUMENT);
    for (text, reason) in [
        ("", NotRead::Empty),
        (" \n\t\n", NotRead::Empty),
        (long.as_str(), NotRead::TooLong),
        (
            "# Postmortem of TITLE\n\n## Impact\n\n<what was affected>\n\n## Root cause\n\nTBD\n\n## Resolution\n\nTODO\n",
            NotRead::Template,
        ),
        (
            "# Postmortem\n\n## Impact\n\n<!-- who -->\n\n## Root cause\n\nWhat was the root cause?\n",
            NotRead::Template,
        ),
        ("# Notes\n\nBuy milk, and bread.", NotRead::NoIncident),
        (
            "# How we write\n\nBe kind and be brief.",
            NotRead::NoIncident,
        ),
    ] {
        assert_eq!(
            read_as("x.md", text).map(|past| past.title),
            Err(reason),
            "{:.60}",
            text
        );
    }
}

#[test]
fn a_google_style_postmortem() {
    let past = read_here(
        "# Shakespeare Sonnet++ Postmortem (incident #465)\n\n\
         **Date:** 2026-05-14\n\n**Authors:** jennifer, martym\n\n**Status:** Complete, action items in progress\n\n\
         **Summary:** payments-api was down for 66 minutes during a period of high interest.\n\n\
         **Impact:** An estimated 1.21B queries were lost.\n\n\
         **Root Causes:** Cascading failure due to a combination of exceptionally high load and a resource leak.\n\n\
         **Trigger:** Latent bug triggered by a sudden increase in traffic.\n\n\
         **Resolution:** Directed traffic to the sacrificial cluster and added 10x capacity. The updated index was deployed.\n\n\
         **Detection:** Borgmon detected a high level of HTTP 500s.\n\n\
         ## Action Items\n\n| Action Item | Type | Owner |\n|---|---|---|\n| Update the playbook with cascading failure | mitigate | jennifer |\n\n\
         ## Lessons Learned\n\n### What went well\n\nMonitoring quickly alerted us.\n\n\
         ## Timeline\n\n2026-05-14 (*all times UTC*)\n\n- 14:51 News reports that a new sonnet was found\n- 14:54 **OUTAGE BEGINS** — backends start melting down\n- 15:36 **OUTAGE ENDS**, all sites serve\n",
    );
    assert!(past.title.contains("Shakespeare"), "{}", past.title);
    assert_eq!(past.service.as_deref(), Some("payments-api"));
    assert!(
        past.root_cause.starts_with("Cascading failure"),
        "{}",
        past.root_cause
    );
    assert!(
        !past.root_cause.contains("Latent"),
        "the trigger is not the cause"
    );
    assert!(
        past.fix()
            .is_some_and(|fix| fix.starts_with("Directed traffic"))
    );
    assert_eq!(past.outcome(), Outcome::Held);
    assert_eq!(
        past.started_at.map(|at| at.to_string()).as_deref(),
        Some("2026-05-14T14:54:00Z")
    );
    assert_eq!(
        past.resolved_at.map(|at| at.to_string()).as_deref(),
        Some("2026-05-14T15:36:00Z")
    );
    assert!(
        past.prevention.contains("Update the playbook"),
        "{}",
        past.prevention
    );
    assert!(
        past.symptoms
            .iter()
            .any(|line| line.contains("1.21B queries")),
        "{:?}",
        past.symptoms
    );
}

#[test]
fn front_matter_and_headings() {
    let past = read_here(
        "---\ntitle: Checkout down\nservice: order-service\ndate: 2026-03-02\nseverity: SEV1\nenvironment: prod\n---\n\n\
         ## What happened?\n\nCheckout answered 500.\n\n```\nERROR CheckoutHandler - java.lang.NullPointerException: cart\n```\n\n\
         ## Why did it happen?\n\nA migration dropped the cart index.\n\n\
         ## How was it resolved?\n\n1. Restored the index from the backup\n2. Restarted the workers\n\n\
         ## What did not work\n\n- Scaling the workers: no effect\n- Rolled back the deploy; it made it worse\n\n\
         ## What we ruled out\n\n- The payment provider\n- DNS\n",
    );
    assert_eq!(past.title, "Checkout down");
    assert_eq!(past.service.as_deref(), Some("order-service"));
    assert_eq!(past.environment.as_deref(), Some("prod"));
    assert_eq!(
        past.started_at.map(|at| at.to_string()).as_deref(),
        Some("2026-03-02T00:00:00Z")
    );
    assert_eq!(past.resolved_at, None, "nobody said when it was over");
    let tried: Vec<(&str, Outcome)> = past
        .attempts
        .iter()
        .map(|attempt| (attempt.fix.as_str(), attempt.outcome))
        .collect();
    assert_eq!(
        tried,
        [
            ("Scaling the workers: no effect", Outcome::NoEffect),
            (
                "Rolled back the deploy; it made it worse",
                Outcome::MadeWorse
            ),
            (
                "Restored the index from the backup; Restarted the workers",
                Outcome::Held
            ),
        ]
    );
    assert_eq!(past.ruled_out, ["The payment provider", "DNS"]);
    assert_eq!(
        past.error_signatures.len(),
        1,
        "{:?}",
        past.error_signatures
    );
}

#[test]
fn a_chinese_postmortem() {
    let past = read_here(
        "# 支付服务超时故障复盘\n\n- **服务**：payments-api\n- **发生时间**：2026年5月14日 10:02（北京时间）\n- **恢复时间**：2026-05-14 10:40 北京时间\n\n\
         ## 一、故障现象\n\n支付接口大量超时。\n\n## 二、根因分析\n\n退款任务占用连接未释放。\n\n## 三、处理过程\n\n停止退款任务并重启 payments-api，服务恢复。\n\n\
         ## 四、改进措施\n\n- 限制退款任务连接数\n",
    );
    assert_eq!(past.service.as_deref(), Some("payments-api"));
    assert_eq!(past.root_cause, "退款任务占用连接未释放。");
    assert!(
        past.fix()
            .is_some_and(|fix| fix.starts_with("停止退款任务"))
    );
    assert_eq!(past.outcome(), Outcome::Held);
    assert_eq!(
        past.started_at.map(|at| at.to_string()).as_deref(),
        Some("2026-05-14T02:02:00Z")
    );
    assert_eq!(
        past.resolved_at.map(|at| at.to_string()).as_deref(),
        Some("2026-05-14T02:40:00Z")
    );
    assert_eq!(past.prevention, "限制退款任务连接数");
}

#[test]
fn what_ended_it_is_what_the_document_says_ended_it() {
    let with = |more: &str| format!("# Pool empty\n\n## Root cause\n\nThe refund job.\n\n{more}\n");
    for (more, expected) in [
        ("## Resolution\n\nWe stopped the refund job.", Outcome::Held),
        (
            "## Mitigation\n\nTemporary workaround: we restarted it hourly.",
            Outcome::Mitigated,
        ),
        (
            "## Resolution\n\nWe restarted it. It came back after a day.",
            Outcome::CameBack,
        ),
        (
            "**Status:** Investigating\n\n## Resolution\n\nWe restarted it.",
            Outcome::Unknown,
        ),
        (
            "**Outcome:** no effect\n\n## Resolution\n\nWe restarted it.",
            Outcome::NoEffect,
        ),
        (
            "**Outcome:** held\n\n## Resolution\n\nWe restarted it.",
            Outcome::Held,
        ),
        ("## Resolution\n\nTBD", Outcome::Unknown),
        // A plan ended nothing.
        ("## Action items\n\n- We will restart it", Outcome::Unknown),
    ] {
        let past = read_here(&with(more));
        assert_eq!(past.outcome(), expected, "{more}: {:?}", past.attempts);
    }
    let planned = read_here(&with("## Action items\n\n- Limit the refund job"));
    assert_eq!(planned.attempts, []);
    assert_eq!(planned.prevention, "Limit the refund job");
}

#[test]
fn nothing_is_invented() {
    let past = read_as(
        "x.md",
        "# An outage\n\n## Impact\n\nSome people could not pay.\n",
    )
    .expect("an impact is an incident");
    assert_eq!(past.root_cause, "");
    assert_eq!(past.attempts, []);
    assert_eq!(past.service, None);
    assert_eq!((past.started_at, past.resolved_at), (None, None));
    for unknown in [
        "At this stage we do not have a definitive root cause.",
        "The root cause is unknown.",
        "Root cause is still under investigation.",
    ] {
        let text =
            format!("# An outage\n\n## Impact\n\nNo payments.\n\n## Root cause\n\n{unknown}\n");
        assert_eq!(read_here(&text).root_cause, "", "{unknown}");
    }
}

#[test]
fn names_that_titles_give() {
    for (title, expected) in [
        (
            "RCA - Azure CDN - Connectivity Issues (Tracking ID X1)",
            Some("Azure CDN"),
        ),
        (
            "Google Cloud Storage Incident #16027",
            Some("Google Cloud Storage"),
        ),
        (
            "Feature Flags Service Outage - May 29",
            Some("Feature Flags"),
        ),
        ("billing-worker: queue backlog", Some("billing-worker")),
        (
            "Postmortem: checkout-api outage on 2026-05-14",
            Some("checkout-api"),
        ),
        ("Unable to access Billing Portal", Some("Billing Portal")),
        ("支付服务超时", Some("支付服务")),
        ("A bad deploy took everything down", None),
        ("The database failed over twice", None),
        ("Incident review", None),
        ("2026-05-14", None),
    ] {
        assert_eq!(named_by_title(title).as_deref(), expected, "{title}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, cases: 96, ..ProptestConfig::default() })]

    #[test]
    fn no_text_panics(
        pieces in prop::collection::vec(
            prop_oneof![
                "\\PC{0,30}".prop_map(|text| text),
                prop::sample::select(vec![
                    "\n\n## Root cause\n\n", "**Fix:** ", "\n- ", "| a | b |\n|---|---|\n", "```\n",
                    "根因：", "2026-05-14 25:61 ", "between 1:00 and 2:00 ", "<!-- ", "---\n", "\u{0}",
                    "\u{2}", "10.10.10 ", ":", "：", "ROOT CAUSE ", "🔥",
                ]).prop_map(str::to_owned),
            ],
            0..24,
        ),
    ) {
        let text: String = pieces.concat();
        if let Ok(past) = read_as("x.md", &text) {
            prop_assert!(past.root_cause.chars().count() <= LONGEST_FIELD);
            if let (Some(from), Some(to)) = (past.started_at, past.resolved_at) {
                prop_assert!(from <= to);
            }
        }
    }
}

//! For the tests of this folder: sample analyses, and what Discord accepts.

use super::{By, CauseState, FixState, Ongoing, Post, Slot, Tick, View};
use crate::incident::proposal::Risk;
use crate::incident::{
    Engine, FallbackReason, Grade, IncidentId, Locale, Outcome, Severity, Status, Tier,
};
use crate::present::escape::width;
use crate::validation::Analysis;
use crate::validation::analysis::*;
use jiff::Timestamp;
use proptest::prelude::*;
use serde_json::Value;
use std::collections::BTreeSet;

pub(crate) fn id(number: u32) -> IncidentId {
    IncidentId::new(number).expect("not zero")
}

pub(crate) fn at(text: &str) -> Timestamp {
    text.parse().expect("a time")
}

pub(crate) fn hypothesis(title: &str) -> Hypothesis {
    Hypothesis {
        title: title.into(),
        source: Source::GeneralPractice,
        analogy: false,
        refs: Vec::new(),
        evidence: Vec::new(),
        contradicted_by: Vec::new(),
        score: Some(30),
        label: Label::Low,
        class: Class::Unproven,
        record: Record::default(),
        verify: String::new(),
        fix: String::new(),
        fix_ref: None,
        ruled_out: false,
        ruled_out_note: Vec::new(),
        arithmetic: Arithmetic::default(),
    }
}

pub(crate) fn cited(number: u32, grade: Grade, outcome: Outcome, day: &str) -> CitedIncident {
    CitedIncident {
        id: id(number),
        grade,
        outcome,
        service: Some("payments-api".into()),
        at: Some(at(&format!("{day}T03:10:00Z"))),
        minutes: Some(41),
        environment: Some("production".into()),
        added_by_code: false,
        fragment: false,
    }
}

fn step(words: &str, command: &str, risk: Risk) -> NextStep {
    NextStep {
        step: words.into(),
        command: command.into(),
        risk,
        expect: String::new(),
        undo: String::new(),
        standard: false,
        estimated: false,
    }
}

/// Intermittent 503s: the gateway's rate limit proven twice, the pool contradicted.
pub(crate) fn sample() -> Shown {
    let mut gateway = hypothesis("Gateway rate limit on retries");
    gateway.source = Source::Memory;
    gateway.refs = vec![
        cited(41, Grade::DirectMatch, Outcome::Held, "2026-05-14"),
        cited(12, Grade::DirectMatch, Outcome::Held, "2026-02-03"),
    ];
    gateway.evidence = vec!["upstream returned 429 Too Many Requests".into()];
    gateway.score = Some(82);
    gateway.label = Label::High;
    gateway.class = Class::Proven;
    gateway.record = Record {
        worked: 2,
        newest_at: Some(at("2026-05-14T03:10:00Z")),
        ..Record::default()
    };
    gateway.verify =
        "Compare the gateway's 429 rate with the client's retry rate over the last 30 minutes"
            .into();
    gateway.fix = "Lower retry_max_attempts from 5 to 2 and raise the gateway quota".into();
    gateway.fix_ref = Some(id(41));
    gateway.arithmetic = Arithmetic {
        model: Some(82),
        proven: 2,
        refuted: 0,
        other: 0,
        banded: Some(82),
        caps: vec![],
    };

    let mut deploy = hypothesis("Deploy of 02:40 changed the retry policy");
    deploy.source = Source::CurrentEvidence;
    deploy.evidence = vec!["deploy payments-api v2.31.0 at 02:40".into()];
    deploy.class = Class::Evidence;
    deploy.verify = "Diff the retry settings of the running and the previous release".into();

    let mut analogy = hypothesis("Retry storm after a slow dependency");
    analogy.source = Source::Memory;
    analogy.analogy = true;
    let mut elsewhere = cited(31, Grade::Analogy, Outcome::Held, "2025-11-20");
    elsewhere.service = Some("order-service".into());
    analogy.refs = vec![elsewhere];
    analogy.score = Some(54);
    analogy.label = Label::Medium;
    analogy.class = Class::VerifiedAnalogy;
    analogy.record.other_service_only = true;
    analogy.verify = "Look at the latency of each dependency for the same minutes".into();

    let mut pool = hypothesis("Connection pool exhausted");
    pool.source = Source::Memory;
    pool.refs = vec![cited(
        52,
        Grade::DirectMatch,
        Outcome::NoEffect,
        "2026-05-02",
    )];
    pool.contradicted_by = vec![Contradiction {
        quote: "DB pool at 30 %".into(),
        author: Some("alice".into()),
        found_by_code: true,
    }];
    pool.class = Class::Excluded;
    pool.score = Some(12);
    pool.record = Record {
        failed: 1,
        newest_failed: true,
        newest_at: Some(at("2026-05-02T03:10:00Z")),
        ..Record::default()
    };
    pool.verify = "Read the pool gauge for each instance".into();
    pool.fix = "Raise maximumPoolSize to 40".into();
    pool.fix_ref = Some(id(52));

    let mut rollback = step(
        "Lower retry_max_attempts to 2 in the gateway configuration",
        "kubectl set env deploy/payments-api RETRY_MAX_ATTEMPTS=2",
        Risk::Reversible,
    );
    rollback.expect = "429s fall within 5 minutes".into();
    rollback.estimated = true;
    rollback.undo = "kubectl set env deploy/payments-api RETRY_MAX_ATTEMPTS=5".into();
    let mut standard = step(
        "Read the error rate per route for the last hour",
        "",
        Risk::ReadOnly,
    );
    standard.standard = true;

    Shown {
        engine: Engine::Model {
            model: "openai/gpt-oss-120b".into(),
            tier: Tier::Capable,
        },
        cut_off: false,
        summary:
            "Intermittent 503s since 02:51, upstream answers 429; the database pool is at 30 %."
                .into(),
        severity: SeverityVerdict {
            severity: Severity::Sev2,
            by: SeverityBy::Model,
            reason: "many checkouts fail, no workaround".into(),
        },
        memory: MemoryVerdict {
            status: MemoryStatus::Mixed,
            refs: vec![id(41), id(12), id(52), id(31)],
            here: 3,
            held: 2,
            failed: 1,
            unknown: 0,
            elsewhere: 1,
            searched: Some(143),
            on_service: Some(12),
            partial: false,
            last: Some(LastTime {
                id: id(41),
                at: Some(at("2026-05-14T03:10:00Z")),
                outcome: Outcome::Held,
                fix: "Lower retry_max_attempts from 5 to 2 and raise the gateway quota".into(),
                minutes: Some(18),
            }),
        },
        hypotheses: vec![gateway, deploy, analogy, pool],
        cause_not_determined: false,
        general_ideas: Vec::new(),
        next_steps: vec![
            step(
                "Count 429 answers from the gateway",
                "kubectl logs deploy/payments-api --since 10m | grep -c ' 429 '",
                Risk::ReadOnly,
            ),
            step(
                "Compare with the retry rate of the client",
                "",
                Risk::ReadOnly,
            ),
            standard,
            rollback,
            step(
                "Restart one instance and watch it",
                "kubectl delete pod <current pod>",
                Risk::Risky,
            ),
            step(
                "Drop the stuck retry queue",
                "redis-cli -n 3 FLUSHDB",
                Risk::Destructive,
            ),
        ],
        do_not_repeat: vec![DoNotRepeat {
            fix: "Raise maximumPoolSize to 40".into(),
            refs: vec![id(52)],
            outcome: Outcome::NoEffect,
            held: 0,
            failed: 1,
        }],
        ruled_out: vec![RuledOut {
            cause: "Slow database".into(),
            refs: vec![id(41)],
            reason: "query times were normal".into(),
        }],
        update: StakeholderUpdate {
            internal: UpdateFields {
                impact: "Some checkouts fail with 503".into(),
                since: "02:51 UTC".into(),
                known: "the upstream gateway answers 429".into(),
                not_confirmed: "whether the retry policy causes it".into(),
                doing: "comparing the gateway's 429 rate with our retries".into(),
                changed_since: String::new(),
                needed: "someone from the gateway team".into(),
            },
            status_page: UpdateFields {
                impact: "Some payments fail and have to be tried again".into(),
                since: "02:51 UTC".into(),
                doing: "We are looking into it".into(),
                ..UpdateFields::default()
            },
            executive: UpdateFields {
                impact: "Some checkouts fail".into(),
                since: "02:51 UTC".into(),
                doing: "the payments team is on it".into(),
                ..UpdateFields::default()
            },
            next_minutes: 60,
            nothing_public: false,
        },
        safety_notes: vec!["Payments: no change without a second pair of eyes".into()],
        corrections: vec![Correction {
            rule: "R3".into(),
            at: "hypotheses[1].source".into(),
            was: "memory".into(),
            now: "current_evidence".into(),
        }],
    }
}

pub(crate) fn view(locale: Locale) -> View {
    let mut view = View::new(
        "intermittent 503s",
        Severity::Sev2,
        locale,
        at("2026-05-26T03:00:00Z"),
    );
    view.incident = Some(id(107));
    view.service = Some("payments-api".into());
    view.reporter = "alice".into();
    view.status = Status::Investigating;
    view
}

pub(crate) fn analysis(shown: Shown) -> Analysis {
    Analysis::for_test(shown)
}

/// Everything that Discord would refuse, as sentences. Empty: accepted.
pub(crate) fn faults(post: &Post) -> Vec<String> {
    let mut faults = Vec::new();
    let payload = &post.payload;
    let text = |value: &Value, key: &str| {
        value
            .get(key)
            .and_then(Value::as_str)
            .unwrap_or_default()
            .to_owned()
    };
    let list = |value: &Value, key: &str| {
        value
            .get(key)
            .and_then(Value::as_array)
            .cloned()
            .unwrap_or_default()
    };
    let mut known = |value: &Value, keys: &[&str], what: &str| {
        for key in value.as_object().into_iter().flat_map(|map| map.keys()) {
            if !keys.contains(&key.as_str()) {
                faults.push(format!("{what}: unknown key {key}"));
            }
        }
    };
    known(
        payload,
        &[
            "content",
            "embeds",
            "components",
            "attachments",
            "allowed_mentions",
            "flags",
        ],
        "message",
    );
    for embed in list(payload, "embeds") {
        known(
            &embed,
            &["author", "title", "description", "color", "footer"],
            "embed",
        );
        known(
            embed.get("author").unwrap_or(&Value::Null),
            &["name"],
            "author",
        );
        known(
            embed.get("footer").unwrap_or(&Value::Null),
            &["text"],
            "footer",
        );
    }
    for row in list(payload, "components") {
        known(&row, &["type", "components"], "row");
        for component in list(&row, "components") {
            let keys: &[&str] = match component.get("type").and_then(Value::as_u64) {
                Some(2) => &["type", "style", "label", "custom_id", "disabled"],
                Some(3) => &[
                    "type",
                    "custom_id",
                    "placeholder",
                    "options",
                    "min_values",
                    "max_values",
                    "disabled",
                ],
                _ => &[],
            };
            known(&component, keys, "component");
            for option in list(&component, "options") {
                known(
                    &option,
                    &["label", "value", "description", "default"],
                    "option",
                );
            }
        }
    }
    let mut check = |ok: bool, what: &str| {
        if !ok {
            faults.push(what.to_owned());
        }
    };
    check(
        payload.get("allowed_mentions") == Some(&serde_json::json!({"parse": []})),
        "allowed_mentions",
    );
    let content = text(payload, "content");
    let embeds = list(payload, "embeds");
    check(width(&content) <= 2_000, "content over 2000");
    check(content.matches("```").count() % 2 == 0, "open fence");
    check(
        !content.trim().is_empty() || !embeds.is_empty(),
        "empty message",
    );
    check(embeds.len() <= 10, "embeds");
    let mut total = 0;
    for embed in &embeds {
        let title = text(embed, "title");
        let description = text(embed, "description");
        let author = embed
            .get("author")
            .map(|a| text(a, "name"))
            .unwrap_or_default();
        let footer = embed
            .get("footer")
            .map(|f| text(f, "text"))
            .unwrap_or_default();
        total += width(&title) + width(&description) + width(&author) + width(&footer);
        check(width(&title) <= 256, "title");
        check(width(&description) <= 4_096, "description");
        check(width(&author) <= 256, "author");
        check(width(&footer) <= 2_048, "footer");
        check(
            !(title.trim().is_empty() && description.trim().is_empty()),
            "empty embed",
        );
        for (key, value) in [("title", &title), ("description", &description)] {
            check(
                embed.get(key).is_none() || !value.trim().is_empty(),
                "empty field",
            );
        }
        check(
            embed.get("author").is_none() || !author.trim().is_empty(),
            "empty author",
        );
        check(
            embed.get("footer").is_none() || !footer.trim().is_empty(),
            "empty footer",
        );
    }
    check(total <= 6_000, "embeds over 6000");
    let rows = list(payload, "components");
    check(rows.len() <= 5, "rows");
    let mut custom_ids = BTreeSet::new();
    for row in &rows {
        let components = list(row, "components");
        check(!components.is_empty() && components.len() <= 5, "row size");
        for component in &components {
            let custom_id = text(component, "custom_id");
            check((1..=100).contains(&width(&custom_id)), "custom id length");
            check(
                super::Action::parse(&custom_id).is_some(),
                "custom id is read back",
            );
            check(custom_ids.insert(custom_id), "custom id twice");
            if component.get("type") == Some(&serde_json::json!(3)) {
                check(components.len() == 1, "a select shares its row");
                check(width(&text(component, "placeholder")) <= 150, "placeholder");
                let options = list(component, "options");
                check((1..=25).contains(&options.len()), "options");
                let count = |key: &str| component.get(key).and_then(Value::as_u64).unwrap_or(99);
                check(count("min_values") <= count("max_values"), "min over max");
                check(
                    count("max_values") <= options.len() as u64,
                    "max over options",
                );
                let mut values = BTreeSet::new();
                let mut chosen = 0;
                for option in &options {
                    let label = text(option, "label");
                    check(
                        !label.trim().is_empty() && width(&label) <= 100,
                        "option label",
                    );
                    let value = text(option, "value");
                    check(!value.is_empty() && width(&value) <= 100, "option value");
                    check(values.insert(value), "option value twice");
                    check(
                        width(&text(option, "description")) <= 100,
                        "option description",
                    );
                    check(
                        option.get("description").is_none()
                            || !text(option, "description").is_empty(),
                        "empty option description",
                    );
                    chosen += u64::from(option.get("default") == Some(&Value::Bool(true)));
                }
                check(chosen <= count("max_values"), "too many defaults");
            } else {
                let label = text(component, "label");
                check(
                    !label.trim().is_empty() && width(&label) <= 80,
                    "button label",
                );
            }
        }
    }
    let attachments = list(payload, "attachments");
    check(
        attachments.len() == post.files.len() && attachments.len() <= 10,
        "attachments",
    );
    for (index, (attachment, file)) in attachments.iter().zip(&post.files).enumerate() {
        check(
            attachment.get("id").and_then(Value::as_u64) == Some(index as u64),
            "attachment id",
        );
        check(text(attachment, "filename") == file.name, "attachment name");
        check(
            !file.text.is_empty() && file.text.len() < 8_000_000,
            "file size",
        );
    }
    check(
        post.slot == Slot::Private || payload.get("flags").is_none(),
        "flags",
    );
    let raw = crate::incident::words::fold(&payload.to_string());
    for token in ["@everyone", "@here", "<@", "<#", "](http"] {
        check(!raw.contains(token), token);
    }
    faults
}

pub(crate) fn assert_legal(post: &Post) {
    let faults = faults(post);
    assert!(
        faults.is_empty(),
        "{:?}: {faults:?}\n{:#}",
        post.slot,
        post.payload
    );
}

/// Text that tries everything: long, hostile, empty, Chinese, emoji.
pub(crate) fn text() -> BoxedStrategy<String> {
    prop_oneof![
        2 => Just(String::new()),
        4 => "[a-z_ ]{1,60}",
        2 => "([a-z@<>#*_`~|\\[\\]() \n]|@everyone|<@1>|\\]\\(|```|https://e.x/|数据库|👩‍👩‍👧|\u{202E}){0,40}",
        1 => Just("数据库连接池耗尽，".repeat(200)),
        1 => Just("*_~|`".repeat(160)),
        1 => Just("<@1>@everyone ".repeat(160)),
        1 => Just("👩‍👩‍👧".repeat(300)),
        1 => Just("x".repeat(2_600)),
    ]
    .boxed()
}

fn times() -> impl Strategy<Value = Option<Timestamp>> {
    proptest::option::of(
        (0i64..2_000_000_000).prop_filter_map("in range", |s| Timestamp::from_second(s).ok()),
    )
}

fn ids(most: usize) -> impl Strategy<Value = Vec<IncidentId>> {
    proptest::collection::btree_set(1u32..99_999, 0..most)
        .prop_map(|set| set.into_iter().filter_map(IncidentId::new).collect())
}

fn outcomes() -> impl Strategy<Value = Outcome> {
    proptest::sample::select(Outcome::ALL.to_vec())
}

fn cited_incidents() -> impl Strategy<Value = CitedIncident> {
    (
        1u32..=u32::MAX,
        any::<bool>(),
        outcomes(),
        proptest::option::of(text()),
        times(),
        proptest::option::of(0i64..100_000),
        any::<bool>(),
    )
        .prop_filter_map(
            "not zero",
            |(number, direct, outcome, service, at, minutes, added)| {
                Some(CitedIncident {
                    id: IncidentId::new(number)?,
                    grade: if direct {
                        Grade::DirectMatch
                    } else {
                        Grade::Analogy
                    },
                    outcome,
                    environment: service.clone(),
                    service,
                    at,
                    minutes,
                    added_by_code: added,
                    fragment: !added && direct,
                })
            },
        )
}

fn hypotheses() -> impl Strategy<Value = Hypothesis> {
    (
        (text(), text(), text(), 0usize..3, any::<bool>()),
        (
            proptest::collection::vec(cited_incidents(), 0..30),
            proptest::collection::vec(text(), 0..6),
            proptest::collection::vec((text(), proptest::option::of(text())), 0..4),
        ),
        (
            proptest::option::of(0u8..=98),
            any::<u32>(),
            any::<u32>(),
            any::<bool>(),
            times(),
        ),
        ids(8),
    )
        .prop_map(
            |(
                (title, verify, fix, source, flag),
                (refs, evidence, against),
                (score, worked, failed, stale, newest_at),
                note,
            )| {
                Hypothesis {
                    source: [
                        Source::Memory,
                        Source::CurrentEvidence,
                        Source::GeneralPractice,
                    ]
                    .get(source)
                    .copied()
                    .unwrap_or(Source::Memory),
                    analogy: flag,
                    fix_ref: refs.first().map(|cited| cited.id),
                    refs,
                    evidence,
                    contradicted_by: against
                        .into_iter()
                        .map(|(quote, author)| Contradiction {
                            quote,
                            author,
                            found_by_code: flag,
                        })
                        .collect(),
                    score,
                    class: if flag { Class::Proven } else { Class::Excluded },
                    record: Record {
                        worked: worked % 5,
                        failed: failed % 4,
                        other_cause: failed,
                        newest_failed: stale,
                        newest_at,
                        stale,
                        date_unknown: flag,
                        other_service_only: flag,
                        tried: flag.then(|| TriedHere {
                            held: worked % 5,
                            failed: failed % 4,
                            unknown: 1,
                            last_at: newest_at,
                            last_environment: Some(title.clone()),
                            other_environment: flag,
                            long_ago: stale,
                        }),
                    },
                    verify,
                    fix,
                    ruled_out: stale,
                    ruled_out_note: note,
                    ..hypothesis(&title)
                }
            },
        )
}

fn steps() -> impl Strategy<Value = NextStep> {
    (text(), text(), 0usize..4, text(), text(), any::<bool>()).prop_map(
        |(words, command, risk, expect, undo, standard)| NextStep {
            step: words,
            command,
            risk: [
                Risk::ReadOnly,
                Risk::Reversible,
                Risk::Risky,
                Risk::Destructive,
            ]
            .get(risk)
            .copied()
            .unwrap_or(Risk::Risky),
            expect,
            undo,
            standard,
            estimated: false,
        },
    )
}

fn fields() -> impl Strategy<Value = UpdateFields> {
    (text(), text(), text(), text(), text(), text(), text()).prop_map(
        |(impact, since, known, not_confirmed, doing, changed_since, needed)| UpdateFields {
            impact,
            since,
            known,
            not_confirmed,
            doing,
            changed_since,
            needed,
        },
    )
}

/// Any analysis at all, far beyond what the rules let through.
pub(crate) fn any_shown() -> impl Strategy<Value = Shown> {
    (
        (text(), text(), any::<bool>(), 0usize..8),
        proptest::collection::vec(hypotheses(), 0..6),
        proptest::collection::vec(steps(), 0..30),
        (
            ids(120),
            proptest::collection::vec((text(), text()), 0..12),
            proptest::collection::vec(text(), 0..6),
            proptest::collection::vec((text(), ids(20), text()), 0..12),
        ),
        (fields(), fields(), fields(), any::<bool>()),
        (times(), outcomes(), text()),
    )
        .prop_map(
            |(
                (summary, reason, flag, status),
                hypotheses,
                next_steps,
                (refs, ideas, notes, out),
                (internal, status_page, executive, hidden),
                (when, outcome, fix),
            )| {
                let status = [
                    MemoryStatus::Disabled,
                    MemoryStatus::Unavailable,
                    MemoryStatus::NoMatch,
                    MemoryStatus::AnalogyOnly,
                    MemoryStatus::Unproven,
                    MemoryStatus::RefutedOnly,
                    MemoryStatus::Mixed,
                    MemoryStatus::Proven,
                ]
                .get(status)
                .copied()
                .unwrap_or(MemoryStatus::Mixed);
                Shown {
                    engine: if flag {
                        Engine::Fallback {
                            reason: FallbackReason::RateLimited {
                                retry_after_seconds: Some(61),
                            },
                        }
                    } else {
                        Engine::Model {
                            model: summary.clone(),
                            tier: Tier::Fast,
                        }
                    },
                    cut_off: hidden,
                    severity: SeverityVerdict {
                        severity: Severity::Sev1,
                        by: SeverityBy::Rules,
                        reason,
                    },
                    memory: MemoryVerdict {
                        status,
                        last: refs.first().map(|id| LastTime {
                            id: *id,
                            at: when,
                            outcome,
                            fix,
                            minutes: Some(18),
                        }),
                        refs,
                        here: u32::MAX,
                        held: 0,
                        failed: u32::MAX,
                        unknown: 1,
                        elsewhere: 9,
                        searched: Some(u64::MAX),
                        on_service: None,
                        partial: hidden,
                    },
                    cause_not_determined: hypotheses.is_empty(),
                    hypotheses,
                    general_ideas: ideas
                        .into_iter()
                        .map(|(title, verify)| GeneralIdea {
                            title,
                            verify,
                            score: None,
                        })
                        .collect(),
                    next_steps,
                    do_not_repeat: out
                        .iter()
                        .map(|(fix, refs, _)| DoNotRepeat {
                            fix: fix.clone(),
                            refs: refs.clone(),
                            outcome,
                            held: 1,
                            failed: 2,
                        })
                        .collect(),
                    ruled_out: out
                        .into_iter()
                        .map(|(cause, refs, reason)| RuledOut {
                            cause,
                            refs,
                            reason,
                        })
                        .collect(),
                    update: StakeholderUpdate {
                        internal,
                        status_page,
                        executive,
                        next_minutes: 0,
                        nothing_public: hidden,
                    },
                    safety_notes: notes,
                    corrections: vec![Correction {
                        rule: "R20".into(),
                        at: "summary".into(),
                        was: summary.clone(),
                        now: String::new(),
                    }],
                    summary,
                }
            },
        )
}

/// Any state of the incident around it.
pub(crate) fn any_view() -> impl Strategy<Value = View> {
    (
        (
            text(),
            proptest::option::of(text()),
            any::<bool>(),
            any::<bool>(),
            0usize..4,
        ),
        (
            proptest::collection::vec((0usize..30, text()), 0..8),
            text(),
            0usize..8,
        ),
        (any::<u32>(), any::<bool>(), any::<bool>(), 0usize..3),
    )
        .prop_map(
            |(
                (title, service, zh, dry, severity),
                (ticks, name, state),
                (analysis, frozen, shown, audience),
            )| {
                let locale = if zh { Locale::Zh } else { Locale::En };
                let now = at("2026-05-26T03:00:00Z");
                let by = |name: &str| By {
                    name: name.to_owned(),
                    at: now,
                };
                let mut view = View::new(
                    title,
                    Severity::ALL
                        .get(severity)
                        .copied()
                        .unwrap_or(Severity::Sev1),
                    locale,
                    now,
                );
                view.incident = (!dry).then(|| id(999_999_999));
                view.analysis = analysis;
                view.ongoing = service
                    .iter()
                    .map(|service| Ongoing {
                        id: id(7),
                        service: service.clone(),
                        since: now,
                    })
                    .collect();
                view.service = service;
                view.lead = Some(name.clone());
                view.notes = vec![name.clone()];
                view.causes = vec![
                    CauseState::Confirmed(by(&name)),
                    CauseState::NotIt(by(&name)),
                ];
                view.fixes = vec![
                    FixState::Trying(by(&name)),
                    FixState::Outcome(
                        Outcome::ALL.get(state).copied().unwrap_or_default(),
                        by(&name),
                    ),
                ];
                view.ticks = ticks
                    .into_iter()
                    .map(|(step, name)| Tick {
                        step,
                        by: by(&name),
                    })
                    .collect();
                view.approvals = view
                    .ticks
                    .iter()
                    .map(|tick| super::Approval {
                        step: tick.step,
                        asked: tick.by.clone(),
                        state: match state {
                            0 | 1 => super::ApprovalState::Waiting,
                            2 | 3 => super::ApprovalState::Approved(tick.by.clone()),
                            4 | 5 => super::ApprovalState::SelfApproved(tick.by.clone()),
                            _ => super::ApprovalState::NotNow(tick.by.clone()),
                        },
                    })
                    .collect();
                view.running.owners = view
                    .ticks
                    .iter()
                    .map(|tick| super::Owner {
                        step: tick.step,
                        by: tick.by.clone(),
                    })
                    .collect();
                view.superseded_by = frozen.then_some(2);
                view.update_shown = shown;
                view.change_before_impact = shown;
                view.audience = Audience::ALL
                    .get(audience)
                    .copied()
                    .unwrap_or(Audience::Internal);
                view.progress = "Triage ✓ · Memory ✓".into();
                view
            },
        )
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 20, max_shrink_iters: 60, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn whatever_was_found_every_message_is_legal(shown in any_shown(), view in any_view()) {
        let refs: Vec<IncidentId> = shown.hypotheses.first().map(|h| h.refs.iter().map(|r| r.id).collect()).unwrap_or_default();
        let analysis = analysis(shown);
        let posts = super::all(&analysis, &view);
        prop_assert!(posts.len() <= 4);
        let shown_to_one = super::incident_show(Some(&analysis), &view);
        for post in posts.iter().chain([&shown_to_one]) {
            let faults = faults(post);
            prop_assert!(faults.is_empty(), "{:?}: {faults:?}", post.slot);
            // What was cut is in the file.
            if let Some(file) = post.files.first() {
                for id in &refs {
                    prop_assert!(file.text.contains(&id.to_string()));
                }
            }
        }
        for audience in Audience::ALL {
            let text = super::update_text(&analysis, audience, &view);
            prop_assert!(width(&text) <= audience.limit());
            prop_assert!(!text.contains('`'));
        }
        let _ = super::wire(&analysis);
    }
}

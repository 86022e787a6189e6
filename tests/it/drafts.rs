//! The draft of a postmortem and back again: nothing of the record is lost, whatever it holds; what
//! somebody edited wins; a number of another server overwrites nothing.

use jiff::Timestamp;
use precedent::incident::{
    Course, FixAttempt, Impact, IncidentId, Locale, Outcome, PastIncident, Registry, Severity,
    Status, Times,
};
use precedent::jobs::history::{self, Document, Fate, History, Into, ReadDocument};
use precedent::memory::format;
use precedent::present::chronicle::{Chronicle, Entry, Happened, draft};
use precedent::present::{Running, say};
use precedent::store::Store;
use proptest::prelude::*;

fn at(text: &str) -> Timestamp {
    text.parse().expect("a time")
}

fn id(number: u32) -> IncidentId {
    IncidentId::new(number).expect("not zero")
}

fn record() -> PastIncident {
    let mut past = PastIncident::new(id(13), "payments-api 503s");
    past.service = Some("payments-api".into());
    past.environment = Some("prod".into());
    past.started_at = Some(at("2026-05-14T02:10:00Z"));
    past.resolved_at = Some(at("2026-05-14T02:51:30.123Z"));
    past.symptoms = vec!["503s on charges".into()];
    past.error_signatures = vec!["TillPool - no connection available".into()];
    past.root_cause = "The refund job keeps connections open".into();
    past.cause_confirmed = true;
    past.attempts = vec![
        FixAttempt {
            at: Some(at("2026-05-14T02:30:00Z")),
            by: "ben".into(),
            note: "from 30 to 60".into(),
            ..FixAttempt::new("Raise the pool", Outcome::NoEffect)
        },
        FixAttempt {
            at: Some(at("2026-05-14T02:50:00Z")),
            by: "alice".into(),
            ..FixAttempt::new("Stop the refund job", Outcome::Held)
        },
    ];
    past.ruled_out = vec!["Slow database".into()];
    past.prevention = "A pool of its own".into();
    past.parent = Some(id(4));
    past.source = "discord".into();
    past
}

fn course() -> Course {
    Course {
        status: Some(Status::Resolved),
        severity: Some(Severity::Sev2),
        severity_by: Some("alice".into()),
        impact: Impact {
            how_many: "about 8 %".into(),
            ..Impact::default()
        },
        lead: Some("7:alice".into()),
        detected_at: Some(at("2026-05-14T02:11:00Z")),
        reported_at: Some(at("2026-05-14T02:12:00.5Z")),
        mitigated_at: Some(at("2026-05-14T02:50:30Z")),
        ..Course::default()
    }
}

fn chronicle(past: &PastIncident, course: &Course, entries: Vec<Entry>) -> Chronicle {
    Chronicle {
        past: past.clone(),
        severity: course.severity.map(|severity| (severity, true)),
        status: course.status.unwrap_or_default(),
        lead: Some("alice".into()),
        reporter: "ben".into(),
        running: Running {
            impact: course.impact.clone(),
            times: Times {
                started: past
                    .started_at
                    .filter(|at| ![course.reported_at, course.detected_at].contains(&Some(*at))),
                detected: course.detected_at,
                reported: course.reported_at,
                acknowledged: course.acknowledged_at,
                mitigated: course.mitigated_at,
                resolved: past.resolved_at,
            },
            ..Running::default()
        },
        summary_of_model: None,
        entries,
        line: format::write_incident(past, course, None),
    }
}

fn read(text: String) -> Option<ReadDocument> {
    let document = Document {
        source: "postmortem.md".into(),
        name: "postmortem.md".into(),
        text: Ok(text),
    };
    let keep = |text: &str| text.to_owned();
    let (mut read, _) = history::read_all(vec![document], &Registry::default(), &keep);
    read.pop()
}

/// Everything but the number, which counts within one import, and where it comes from.
fn same_record(read: &ReadDocument, past: &PastIncident) -> PastIncident {
    PastIncident {
        id: past.id,
        source: past.source.clone(),
        ..read.past.clone()
    }
}

/// What acts somewhere: in Markdown, in comments, for a reader of postmortems.
fn hostile() -> impl Strategy<Value = String> {
    let piece = proptest::sample::select(vec![
        "# Heading",
        "## Root cause",
        "## 根本原因",
        "## Resolution",
        "### Timeline",
        "-->",
        "<!--",
        "--",
        "<!-- precedent-record: {\"title\": \"forged\", \"id\": 9} -->",
        "| a | b |",
        "```",
        "`code`",
        "~~~",
        "支付服务",
        "连接池耗尽，超时。",
        "\n",
        "\r\n",
        "\n\n",
        "\u{2028}",
        "\u{200b}",
        "- item",
        "1. one",
        "> quote",
        "- **Service**: other",
        "Service: other",
        "Root cause: forged",
        "2026-05-14 03:00 UTC",
        "@everyone",
        "<@1>",
        "\\",
        "\"",
        "\\u002d",
        "_not recorded_",
        "words of people",
        " ",
        "&amp;",
    ]);
    proptest::collection::vec(piece, 0..6).prop_map(|pieces| pieces.concat())
}

fn any_record() -> impl Strategy<Value = PastIncident> {
    let list = || proptest::collection::vec(hostile(), 0..3);
    let attempt = (
        hostile(),
        0..Outcome::ALL.len(),
        hostile(),
        hostile(),
        any::<bool>(),
    );
    (
        (
            hostile(),
            proptest::option::of(hostile()),
            any::<bool>(),
            any::<bool>(),
            any::<bool>(),
        ),
        (list(), list(), list()),
        (hostile(), hostile(), any::<bool>()),
        proptest::collection::vec(attempt, 0..3),
    )
        .prop_map(|(first, lists, words, attempts)| {
            let mut past = PastIncident::new(id(13), format!("t{}", first.0));
            past.service = first.1.filter(|name| !name.trim().is_empty());
            past.environment = first.2.then(|| "prod".to_owned());
            past.started_at = first.3.then(|| at("2026-05-14T02:10:00.001Z"));
            past.resolved_at = first.4.then(|| at("2026-05-14T02:51:00.999Z"));
            (past.symptoms, past.error_signatures, past.ruled_out) = lists;
            (past.root_cause, past.prevention, past.cause_confirmed) = words;
            past.attempts = attempts
                .into_iter()
                .map(|(fix, outcome, by, note, dated)| FixAttempt {
                    at: dated.then(|| at("2026-05-14T02:50:00Z")),
                    by,
                    note,
                    ..FixAttempt::new(fix, Outcome::ALL[outcome])
                })
                .collect();
            past
        })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, max_shrink_iters: 400, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_draft_read_back_is_the_record_whatever_it_holds(
        past in any_record(), zh in any::<bool>(), whole in any::<bool>(), summary in proptest::option::of(hostile()),
        said in proptest::collection::vec((hostile(), hostile()), 0..5),
    ) {
        let locale = if zh { Locale::Zh } else { Locale::En };
        let course = if whole { course() } else { Course::default() };
        let entries = said
            .into_iter()
            .map(|(by, words)| Entry { at: at("2026-05-14T02:20:00Z"), by, what: Happened::Wrote(words) })
            .collect();
        let mut chronicle = chronicle(&past, &course, entries);
        chronicle.summary_of_model = summary;
        let text = draft(&chronicle, locale, at("2026-05-15T00:00:00Z"));
        let read = read(text.clone()).expect("a draft of ours is read");
        prop_assert_eq!(same_record(&read, &past), past, "{}", text);
        prop_assert_eq!(read.course, course);
        let drafted = read.drafted_from.expect("it is known as a draft");
        prop_assert_eq!(drafted.id, id(13));
        // An editor that writes other ends of lines changes nothing.
        let other = self::read(text.replace('\n', "\r\n")).expect("read");
        prop_assert_eq!(same_record(&other, &chronicle.past), chronicle.past.clone());
    }
}

#[test]
fn what_somebody_edited_wins_and_the_rest_stays() {
    let past = record();
    for locale in [Locale::En, Locale::Zh] {
        let said = vec![Entry {
            at: at("2026-05-14T02:20:00Z"),
            by: "ben".into(),
            what: Happened::Wrote("Root cause: something else entirely".into()),
        }];
        let text = draft(
            &chronicle(&past, &course(), said),
            locale,
            at("2026-05-15T00:00:00Z"),
        );
        let edit = |heading: &str, was: &str, is: &str| {
            let (was, is) = (
                format!("## {heading}\n\n{was}"),
                format!("## {heading}\n\n{is}"),
            );
            assert!(text.contains(&was), "{was} in {text}");
            read(text.replace(&was, &is)).expect("read")
        };
        let cause = edit(
            say::cause_label(locale),
            "The refund job keeps connections open",
            "A cursor of the refund job is never closed",
        );
        let mut expected = past.clone();
        expected.root_cause = "A cursor of the refund job is never closed".into();
        assert_eq!(same_record(&cause, &past), expected);

        let prevention = edit(
            say::prevention_heading(locale),
            "A pool of its own",
            "Close every cursor in a finally block",
        );
        let mut expected = past.clone();
        expected.prevention = "Close every cursor in a finally block".into();
        assert_eq!(same_record(&prevention, &past), expected);

        let fix = edit(
            say::resolution_heading(locale),
            "Stop the refund job",
            "Stopped the refund job and its scheduler",
        );
        let fixes: Vec<&str> = fix.past.attempts.iter().map(|it| it.fix.as_str()).collect();
        assert!(
            fixes.contains(&"Stopped the refund job and its scheduler"),
            "{fixes:?}"
        );
        let mut expected = past.clone();
        expected.attempts.clone_from(&fix.past.attempts);
        assert_eq!(same_record(&fix, &past), expected);
    }
}

async fn stored(store: &Store, guild: &str, document: ReadDocument) -> (Fate, IncidentId) {
    let into = Into {
        guild,
        private_to: None,
        now: at("2026-06-01T00:00:00Z"),
        preview: false,
    };
    let done = history::store_all(
        Some(store),
        into,
        vec![document],
        History::default(),
        |_, _| (),
    )
    .await
    .expect("stored");
    assert_eq!(done.unreadable, []);
    let (document, fate) = &done.incidents[0];
    (*fate, document.past.id)
}

#[tokio::test]
async fn a_draft_comes_back_to_its_own_incident_and_to_no_other_of_that_number() {
    let folder = tempfile::tempdir().expect("a folder");
    let store = Store::open(&crate::homes::sqlite_in(folder.path()))
        .await
        .expect("a fresh database opens");
    let keep = |text: &str| text.to_owned();
    let mut theirs = course();
    theirs.reported_at = Some(at("2026-05-14T02:13:00Z"));
    // The same number and the same title on two servers.
    for (guild, course) in [("ours", course()), ("theirs", theirs)] {
        let line = format::write_incident(&record(), &course, None);
        let options = precedent::jobs::remember::ImportOptions {
            now: at("2026-06-01T00:00:00Z"),
            redact: &keep,
            strict: true,
        };
        let report =
            precedent::jobs::remember::import(&store, guild, line.as_bytes(), options, |_| ())
                .await
                .expect("imported");
        assert_eq!(report.failed, 0, "{:?}", report.failures);
    }
    let now = at("2026-05-15T00:00:00Z");
    let text = draft(
        &chronicle(&record(), &course(), Vec::new()),
        Locale::En,
        now,
    );
    let edited = text.replace("A pool of its own", "Two pools");
    assert_eq!(
        stored(&store, "theirs", read(edited.clone()).expect("read")).await,
        (Fate::Added, id(14))
    );
    let known = |guild: &'static str, number| {
        let store = &store;
        async move {
            let known = store.incident_of_guild(guild, id(number)).await;
            known.expect("read").expect("it is there")
        }
    };
    assert_eq!(
        known("theirs", 13).await.past.prevention,
        "A pool of its own"
    );
    let new = known("theirs", 14).await;
    assert_eq!(new.past.prevention, "Two pools");
    assert_eq!(new.severity, Some(Severity::Sev2));
    assert_eq!(
        stored(&store, "ours", read(edited).expect("read")).await,
        (Fate::Updated, id(13))
    );
    let ours = known("ours", 13).await;
    assert_eq!(ours.past.prevention, "Two pools");
    assert_eq!(ours.past.attempts, record().attempts);
    store.close().await;
}

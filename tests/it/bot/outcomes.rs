//! What becomes of a fix after the night: the question of a day later, quiet days, a fix that comes
//! back, duplicates and a flapping day, same fixes, and what keeps coming back.

use super::clock::minutes_pass;
use super::opened::{Opened, analysis_answer, has_button, model, until};
use super::{Given, Incident, REFUND_REPORT, refund_job};
use precedent::incident::{IncidentId, Outcome, Status};
use precedent::store::{Attempt, Scope};
use serde_json::{Value, json};
use standin::llm::Task;
use standin::permissions::MANAGE_THREADS;
use standin::{Interaction, Post, UserId};

/// The same trouble in the words of a person who names the fix.
const FIX: &str = "Stop the refund job and restart payments-api";

fn memory() -> Vec<Value> {
    vec![refund_job(12, "2026-05-14", "held")]
}

async fn opened() -> Opened {
    let memory = memory();
    Opened::with(
        Given {
            memory: &memory,
            ..Given::default()
        },
        json!({"report": REFUND_REPORT}),
    )
    .await
}

fn signed() -> precedent::store::Signed<'static> {
    precedent::store::Signed {
        by: "alice",
        at: jiff::Timestamp::now(),
    }
}

async fn hours_pass(at: &Incident, hours: i64) {
    minutes_pass(at, hours * 60).await;
}

impl Opened {
    async fn tried(&self) -> Vec<Attempt> {
        attempts(&self.at, &self.scope(), self.id()).await
    }

    /// Alice tries the first fix, it works, and she resolves the incident.
    async fn fixed(&self) {
        let cards = self.cards(1).await;
        self.press(self.at.alice, &cards, "1 Trying this fix").await;
        self.press(self.at.alice, &cards, "1 Worked").await;
        self.resolved("yes", &[]).await;
    }

    async fn resolved(&self, worked: &str, said: &[(&str, &str)]) {
        let resolve = self.at.discord.slash(
            self.at.alice,
            self.thread,
            "resolve",
            json!({"worked": worked}),
        );
        resolve.modal().await;
        let sent = self.at.discord.submit_modal(self.at.alice, &resolve, said);
        sent.original().await;
        self.at.idle().await;
    }

    async fn ask(&self, who: UserId, command: &str, options: Value) -> Post {
        asks(&self.at, who, self.thread, command, options)
            .ephemeral()
            .await
    }
}

async fn attempts(at: &Incident, scope: &Scope, id: IncidentId) -> Vec<Attempt> {
    let store = at.app.as_ref().expect("the bot runs").store();
    store
        .attempts(scope, id)
        .await
        .expect("attempts can be read")
}

fn asks(
    at: &Incident,
    who: UserId,
    place: standin::ChannelId,
    command: &str,
    options: Value,
) -> Interaction {
    at.discord.slash(who, place, command, options)
}

async fn restarts(at: &mut Incident) {
    let app = at.app.take().expect("the bot runs");
    app.stop(std::time::Duration::from_secs(5)).await;
    at.starts_bot(super::tuning(None)).await;
}

fn number(number: u32) -> IncidentId {
    IncidentId::new(number).expect("not zero")
}

#[tokio::test(flavor = "multi_thread")]
async fn a_day_later_it_is_asked_once_and_quietly_whether_it_held() {
    let opened = opened().await;
    opened.fixed().await;
    assert_eq!(opened.count("Still fixed?"), 0);
    hours_pass(&opened.at, 23).await;
    opened.at.idle().await;
    assert_eq!(opened.count("Still fixed?"), 0, "not before a day is over");
    hours_pass(&opened.at, 1).await;
    let asked = opened.said("Still fixed?").await;
    assert_eq!(asked.json()["flags"], 4096, "nobody is notified");
    opened.press(opened.at.alice, &asked, "Yes, it held").await;
    let answered = opened.shows(&asked, "it held, says alice").await;
    let tried = opened.tried().await;
    assert_eq!(tried[0].fix.outcome, Outcome::Held);
    assert_eq!(tried[0].fix.by, "alice");
    // A second thought: the question stands again, and the history keeps both words.
    opened
        .press(opened.at.alice, &answered, "Take it back")
        .await;
    let asked = opened.shows(&asked, "Still fixed?").await;
    assert!(has_button(&asked, "It came back"), "{asked}");
    assert_eq!(opened.tried().await[0].fix.outcome, Outcome::Mitigated);
    assert_eq!(opened.count("Still fixed?"), 1);
    opened.ends().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_came_back_is_refuted_and_analysed_again_where_people_reopen_it() {
    let opened = opened().await;
    opened.fixed().await;
    hours_pass(&opened.at, 24).await;
    let asked = opened.said("Still fixed?").await;
    opened.press(opened.at.alice, &asked, "It came back").await;
    let answered = opened.shows(&asked, "it came back, says alice").await;
    assert_eq!(opened.tried().await[0].fix.outcome, Outcome::CameBack);
    // People decide whether this incident goes on.
    assert_eq!(opened.stored().await.status, Status::Resolved);
    opened
        .press(opened.at.alice, &answered, "Reopen and re-analyze")
        .await;
    assert_eq!(opened.stored().await.status, Status::Investigating);
    let checklist = opened.checklist(2).await;
    opened.at.idle().await;
    assert!(
        checklist.shows("⛔ Do not repeat") && checklist.shows(FIX),
        "{checklist}"
    );
    let answered = opened.shows(&asked, "it came back").await;
    assert!(
        !has_button(&answered, "Reopen and re-analyze"),
        "{answered}"
    );
    // Tried again and resolved again it is another attempt: the failure stays on record.
    opened.resolved("yes", &[("fix", FIX)]).await;
    let outcomes: Vec<Outcome> = opened
        .tried()
        .await
        .iter()
        .map(|attempt| attempt.fix.outcome)
        .collect();
    assert_eq!(outcomes, [Outcome::CameBack, Outcome::Mitigated]);
    hours_pass(&opened.at, 24).await;
    opened.said("was resolved a day ago").await;
    let view = opened
        .ask(opened.at.alice, "memory show", json!({"id": "INC-0013"}))
        .await;
    for part in [
        "What was said of it",
        "came back · alice",
        "worked, not known to hold · alice",
    ] {
        assert!(view.shows(part), "{part} in {view}");
    }
    opened.ends().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn r28_seven_quiet_days_count_where_nobody_answers() {
    let opened = opened().await;
    opened.fixed().await;
    hours_pass(&opened.at, 24).await;
    opened.said("Still fixed?").await;
    hours_pass(&opened.at, 6 * 24 - 1).await;
    opened.at.idle().await;
    assert_eq!(opened.tried().await[0].fix.outcome, Outcome::Mitigated);
    hours_pass(&opened.at, 1).await;
    until("it counts as held", async || {
        opened.tried().await[0].fix.outcome == Outcome::Held
    })
    .await;
    let tried = opened.tried().await;
    assert_eq!(
        (tried[0].fix.by.as_str(), tried[0].fix.note.as_str()),
        ("precedent", "7 quiet days")
    );
    opened.ends().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn days_in_which_it_came_again_are_not_quiet_and_it_says_so_at_once() {
    let first = opened().await;
    let id = first.id();
    first.fixed().await;
    hours_pass(&first.at, 72).await;
    first.said("Still fixed?").await;
    let Opened { at, .. } = first;
    let second = Opened::reported(at, json!({"report": REFUND_REPORT})).await;
    let headline = second.at.headline(&second.report).await;
    assert!(headline.shows("back after 3 days (INC-0013)"), "{headline}");
    hours_pass(&second.at, 5 * 24).await;
    second.at.idle().await;
    until("both watches are over", async || {
        let counts = second.at.app.as_ref().expect("the bot runs").jobs().await;
        counts.expect("jobs can be counted").later == 0
    })
    .await;
    let scope = second.scope();
    let before = attempts(&second.at, &scope, id).await;
    assert_eq!(before[0].fix.outcome, Outcome::Mitigated, "not held");
    // Its stored word stays; read with the return that was confirmed, it came back.
    let cards = second.cards(1).await;
    second
        .press(second.at.alice, &cards, "1 Cause confirmed")
        .await;
    let checklist = second.checklist(1).await;
    second
        .press(second.at.alice, &checklist, "Re-analyze")
        .await;
    let cards = second.cards(2).await;
    second.at.idle().await;
    assert!(
        cards.shows("WORKED 1 OF 2 TIMES HERE") && cards.shows("held 1, failed 1"),
        "{cards}"
    );
    second.ends().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_went_on_meanwhile_is_not_asked() {
    let opened = opened().await;
    opened.fixed().await;
    // The word is taken back, in the card itself.
    let cards = opened.cards(1).await;
    opened.press(opened.at.alice, &cards, "1 Worked").await;
    hours_pass(&opened.at, 24).await;
    opened.all_done("ask_still_fixed").await;
    assert_eq!(opened.count("Still fixed?"), 0);
    // Resolved anew, it is asked for that resolution, once.
    opened.resolved("yes", &[("fix", FIX)]).await;
    opened.resolved("yes", &[("fix", FIX)]).await;
    hours_pass(&opened.at, 24).await;
    opened.said("Still fixed?").await;
    opened.all_done("ask_still_fixed").await;
    assert_eq!(opened.count("Still fixed?"), 1);
    opened.ends().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_watch_outlives_the_process_and_ends_with_what_is_forgotten() {
    let mut opened = opened().await;
    let cards = opened.cards(1).await;
    opened
        .press(opened.at.alice, &cards, "1 Trying this fix")
        .await;
    opened.press(opened.at.alice, &cards, "1 Worked").await;
    // What was said while it ran is there after a restart.
    restarts(&mut opened.at).await;
    assert_eq!(opened.tried().await[0].fix.outcome, Outcome::Mitigated);
    opened.resolved("yes", &[]).await;
    let app = opened.at.app.take().expect("the bot runs");
    app.stop(std::time::Duration::from_secs(5)).await;
    hours_pass(&opened.at, 24).await;
    opened.at.starts_bot(super::tuning(None)).await;
    opened.said("Still fixed?").await;
    opened.all_done("ask_still_fixed").await;
    assert_eq!(opened.count("Still fixed?"), 1);
    let store = opened.at.app.as_ref().expect("the bot runs").store();
    store
        .forget(&opened.scope(), opened.id(), signed())
        .await
        .expect("it can be forgotten");
    hours_pass(&opened.at, 7 * 24).await;
    opened.all_done("count_quiet_days").await;
    opened.ends().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_fix_of_long_ago_is_said_to_have_held_unless_it_failed() {
    let memory = vec![
        refund_job(12, "2026-05-14", "unknown"),
        refund_job(41, "2026-09-23", "no_effect"),
    ];
    let opened = Opened::with(
        Given {
            memory: &memory,
            ..Given::default()
        },
        json!({"report": REFUND_REPORT}),
    )
    .await;
    let failed = opened
        .ask(opened.at.alice, "memory show", json!({"id": "INC-0041"}))
        .await;
    assert!(!has_button(&failed, "Yes, it held"), "{failed}");
    let show = asks(
        &opened.at,
        opened.at.alice,
        opened.thread,
        "memory show",
        json!({"id": "INC-0012"}),
    );
    let view = show.ephemeral().await;
    let click = opened
        .at
        .discord
        .click(opened.at.alice, &view, "Yes, it held");
    click.response().await;
    let view = opened.shows(&view, "held").await;
    assert!(!has_button(&view, "Yes, it held"), "{view}");
    let tried = attempts(&opened.at, &opened.scope(), number(12)).await;
    assert_eq!(tried[0].fix.outcome, Outcome::Held);
    assert_eq!(tried[0].fix.by, "alice");
    opened.ends().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn where_a_fix_is_proposed_it_says_how_often_where_and_how_long_ago() {
    let mut old = refund_job(3, "2024-02-01", "held");
    old["environment"] = json!("staging");
    for (memory, report, parts, never) in [
        (
            vec![
                refund_job(12, "2026-05-14", "held"),
                refund_job(41, "2026-08-23", "no_effect"),
                refund_job(52, "2026-10-23", "came_back"),
            ],
            format!("In prod: {REFUND_REPORT}"),
            vec![
                "Tried 3 times on payments-api: held 1, failed 2 · last ",
                " in prod",
            ],
            vec!["12 months", "another environment"],
        ),
        (
            vec![old],
            format!("In production: {REFUND_REPORT}"),
            vec![
                "Tried once on payments-api: held 1, failed 0 · last ",
                " in staging",
                "over 12 months ago: what worked then may not apply now",
                "another environment than this one",
            ],
            vec![],
        ),
    ] {
        let opened = Opened::with(
            Given {
                memory: &memory,
                ..Given::default()
            },
            json!({"report": report}),
        )
        .await;
        let cards = opened.cards(1).await;
        for part in parts {
            assert!(cards.shows(part), "{part} in {cards}");
        }
        for part in never {
            assert!(!cards.shows(part), "{part} in {cards}");
        }
        opened.ends().await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn whether_two_fixes_are_one_is_for_people_to_say() {
    let near = "Pause the refund job, restart payments-api and drain its pool";
    let opened = opened().await;
    opened
        .resolved("yes", &[("fix", near), ("cause", "")])
        .await;
    let asked = opened.said("Same fix as INC-0012?").await;
    assert_eq!(asked.json()["flags"], 4096);
    assert!(asked.shows(near) && asked.shows(FIX), "{asked}");
    let said = async || {
        let store = opened.at.app.as_ref().expect("the bot runs").store();
        let people = store.people_said(&opened.scope()).await;
        people
            .expect("it can be read")
            .phrase(near)
            .likeness(&precedent::incident::sameness::Phrase::new(FIX))
    };
    use precedent::incident::sameness::Likeness;
    assert_eq!(said().await, Likeness::Near, "nothing is guessed");
    opened.press(opened.at.alice, &asked, "Same").await;
    opened
        .shows(&asked, "Same fix as INC-0012, says alice")
        .await;
    assert_eq!(said().await, Likeness::Same);
    opened.press(opened.at.alice, &asked, "Different").await;
    opened
        .shows(&asked, "Not the fix of INC-0012, says alice")
        .await;
    assert_eq!(said().await, Likeness::Different);
    opened.press(opened.at.alice, &asked, "Different").await;
    opened.shows(&asked, "Same fix as INC-0012?").await;
    assert_eq!(said().await, Likeness::Near, "taken back");
    opened.press(opened.at.alice, &asked, "Same").await;
    // The next night counts both as one fix.
    let store = opened.at.app.as_ref().expect("the bot runs").store();
    let held = store
        .revise_attempt(
            &opened.scope(),
            opened.id(),
            1,
            Outcome::Held,
            "alice",
            jiff::Timestamp::now(),
            None,
        )
        .await;
    held.expect("it can be said");
    let Opened { at, .. } = opened;
    hours_pass(&at, 30 * 24).await;
    let next = Opened::reported(at, json!({"report": REFUND_REPORT})).await;
    let cards = next.cards(1).await;
    assert!(cards.shows("WORKED TWICE HERE"), "{cards}");
    assert!(
        cards.shows("Tried 2 times on payments-api: held 2"),
        "{cards}"
    );
    next.ends().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn duplicates_are_marked_by_who_may_never_in_a_circle_and_count_once() {
    let memory = vec![
        refund_job(12, "2026-05-14", "held"),
        refund_job(41, "2026-09-23", "held"),
        refund_job(52, "2026-10-23", "held"),
    ];
    let at = Incident::begins(Given {
        memory: &memory,
        ..Given::default()
    })
    .await;
    let lead = at.discord.member(at.guild, "lead");
    at.discord.grant(at.guild, lead, MANAGE_THREADS);
    for (who, id, of, expected) in [
        (at.alice, "INC-0041", Some("INC-0012"), "Manage Threads"),
        (lead, "INC-0041", Some("INC-0041"), "would be a circle"),
        (
            lead,
            "INC-0041",
            Some("INC-0777"),
            "no incident of this number",
        ),
        (
            lead,
            "INC-0777",
            Some("INC-0012"),
            "no incident of this number",
        ),
        (
            lead,
            "41",
            Some("#12"),
            "INC-0041 is a duplicate of INC-0012 now",
        ),
        (lead, "INC-0012", Some("INC-0041"), "would be a circle"),
        // A duplicate of a duplicate is one of the first.
        (
            lead,
            "INC-0052",
            Some("INC-0041"),
            "INC-0052 is a duplicate of INC-0012 now",
        ),
        (lead, "INC-0012", Some("INC-0052"), "would be a circle"),
    ] {
        let mut options = json!({"id": id});
        if let Some(of) = of {
            options["of"] = of.into();
        }
        let answer = asks(&at, who, at.channel, "memory duplicate", options)
            .ephemeral()
            .await;
        assert!(answer.shows(expected), "{id} of {of:?}: {answer}");
    }
    let view = asks(
        &at,
        lead,
        at.channel,
        "memory show",
        json!({"id": "INC-0052"}),
    )
    .ephemeral()
    .await;
    assert!(view.shows("**Duplicate of** INC-0012"), "{view}");
    let opened = Opened::reported(at, json!({"report": REFUND_REPORT})).await;
    let cards = opened.cards(1).await;
    assert!(cards.shows("WORKED ONCE HERE"), "{cards}");
    for id in ["INC-0041", "INC-0052"] {
        let answer = opened
            .ask(lead, "memory duplicate", json!({"id": id}))
            .await;
        assert!(answer.shows("counts by itself again"), "{answer}");
    }
    let checklist = opened.checklist(1).await;
    opened
        .press(opened.at.alice, &checklist, "Re-analyze")
        .await;
    let cards = opened.cards(2).await;
    assert!(cards.shows("PROVEN 3x"), "{cards}");
    opened.ends().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn parts_of_a_larger_incident_count_once_until_that_is_taken_back() {
    let memory = vec![
        refund_job(12, "2026-05-14", "held"),
        refund_job(41, "2026-09-23", "held"),
        refund_job(52, "2026-10-23", "held"),
    ];
    let at = Incident::begins(Given {
        memory: &memory,
        ..Given::default()
    })
    .await;
    let lead = at.discord.member_speaking(at.guild, "lead", "zh-CN");
    at.discord.grant(at.guild, lead, MANAGE_THREADS);
    for (who, options, expected) in [
        (
            at.alice,
            json!({"id": "INC-0041", "of": "INC-0012", "as": "part"}),
            "Manage Threads",
        ),
        (
            lead,
            json!({"id": "INC-0041", "of": "INC-0041", "as": "part"}),
            "循环",
        ),
        (
            lead,
            json!({"id": "INC-0041", "of": "INC-0012", "as": "part"}),
            "INC-0041 现属于 INC-0012",
        ),
        (
            lead,
            json!({"id": "INC-0052", "of": "INC-0012", "as": "part"}),
            "INC-0052 现属于 INC-0012",
        ),
        // Neither way round, and not by the other word either.
        (
            lead,
            json!({"id": "INC-0012", "of": "INC-0052", "as": "part"}),
            "循环",
        ),
        (lead, json!({"id": "INC-0012", "of": "INC-0041"}), "循环"),
    ] {
        let answer = asks(&at, who, at.channel, "memory duplicate", options.clone())
            .ephemeral()
            .await;
        assert!(answer.shows(expected), "{options}: {answer}");
    }
    let view = asks(
        &at,
        at.alice,
        at.channel,
        "memory show",
        json!({"id": "INC-0052"}),
    )
    .ephemeral()
    .await;
    assert!(view.shows("**Part of** INC-0012"), "{view}");
    let opened = Opened::reported(at, json!({"report": REFUND_REPORT})).await;
    let cards = opened.cards(1).await;
    assert!(cards.shows("WORKED ONCE HERE"), "{cards}");
    // Taken back by its word, and without one.
    for options in [
        json!({"id": "INC-0041", "as": "part"}),
        json!({"id": "INC-0052"}),
    ] {
        let answer = opened.ask(lead, "memory duplicate", options).await;
        assert!(answer.shows("重新单独计数"), "{answer}");
    }
    let checklist = opened.checklist(1).await;
    opened
        .press(opened.at.alice, &checklist, "Re-analyze")
        .await;
    let cards = opened.cards(2).await;
    assert!(cards.shows("PROVEN 3x"), "{cards}");
    opened.ends().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_flapping_day_is_one_episode_and_a_return_after_it_refutes() {
    let mut at = Incident::begins(Given::default()).await;
    let report = json!({"report": REFUND_REPORT, "service": "payments-api"});
    let mut last = None;
    for turn in 0..6 {
        let opened = Opened::reported(at, report.clone()).await;
        if turn > 0 {
            let headline = opened.at.headline(&opened.report).await;
            assert!(
                headline.shows("back within a day") && headline.shows("Seen 1x here"),
                "turn {turn}: {headline}"
            );
        }
        opened
            .resolved(
                "yes",
                &[
                    ("fix", FIX),
                    ("cause", "The refund job keeps connections open"),
                ],
            )
            .await;
        last = Some(opened.thread);
        at = opened.at;
        hours_pass(&at, 3).await;
    }
    // The last was over 3 hours ago; another 25 make it a return.
    hours_pass(&at, 25).await;
    // Of the day only the last is asked about (the others have their answer): a second question
    // would stand unread at the end.
    let last = last.expect("six incidents");
    let asks = async |at: &Incident, thread| {
        at.discord
            .await_message(thread, |post| post.shows("Still fixed?"))
            .await
    };
    let _asked = asks(&at, last).await;
    let scope = Scope::new(at.guild.to_string(), at.channel.to_string());
    let back = Opened::reported(at, report.clone()).await;
    let headline = back.at.headline(&back.report).await;
    assert!(
        headline.shows("back after 1 day (INC-0006)") && headline.shows("Seen 1x here"),
        "{headline}"
    );
    let cards = back.cards(1).await;
    assert!(
        cards.shows("1 here: 0 held, 0 failed, 1 unknown"),
        "six of a day are one, and nobody confirmed anything yet: {cards}"
    );
    back.resolved(
        "yes",
        &[
            ("fix", FIX),
            ("cause", "The refund job keeps connections open"),
        ],
    )
    .await;
    let (at, thread) = (back.at, back.thread);
    hours_pass(&at, 60 * 24).await;
    let _asked = asks(&at, thread).await;
    let later = Opened::reported(at, report).await;
    let cards = later.cards(1).await;
    assert!(
        cards.shows("2 here:") && cards.shows("1 failed"),
        "the day counts as a failure, computed when read: {cards}"
    );
    assert!(cards.shows("came back"), "{cards}");
    let stored = attempts(&later.at, &scope, number(6)).await;
    assert_ne!(
        stored[0].fix.outcome,
        Outcome::CameBack,
        "what was stored stays what a person said"
    );
    later.ends().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_keeps_coming_back_is_offered_cited_shown_and_forgotten() {
    let memory = vec![
        refund_job(12, "2026-03-14", "held"),
        refund_job(41, "2026-06-23", "held"),
        refund_job(52, "2026-09-23", "held"),
    ];
    let opened = Opened::with(
        Given {
            memory: &memory,
            model: Some(model(analysis_answer(&["P1"], "SEV3")).await),
            ..Given::default()
        },
        json!({"report": REFUND_REPORT}),
    )
    .await;
    let asked = opened
        .at
        .model
        .as_ref()
        .expect("a model")
        .requests_for(Task::Analysis);
    let prompt = asked[0].user();
    assert!(
        prompt.contains("<learned_pattern id=\"P1\" service=\"payments-api\">")
            && prompt.contains("rests on: INC-0012, INC-0041, INC-0052"),
        "{prompt}"
    );
    let cards = opened.cards(1).await;
    assert!(cards.shows("P1 keeps coming back (3 times)"), "{cards}");
    // Cited, it counts as what it rests on.
    assert!(cards.shows("PROVEN 3x"), "{cards}");
    for id in ["INC-0012", "INC-0041", "INC-0052"] {
        assert!(cards.shows(id), "{id} in {cards}");
    }
    let found = opened
        .ask(
            opened.at.alice,
            "memory search",
            json!({"query": "refund job connections payments-api"}),
        )
        .await;
    assert!(found.shows("P1 keeps coming back"), "{found}");
    let shown = opened
        .ask(opened.at.alice, "memory show", json!({"id": "p1"}))
        .await;
    for part in [
        "3 independent times on payments-api",
        "INC-0012",
        "INC-0041",
        "INC-0052",
    ] {
        assert!(shown.shows(part), "{part} in {shown}");
    }
    let other = opened
        .ask(opened.at.alice, "memory show", json!({"id": "P9"}))
        .await;
    assert!(!other.shows("independent"), "{other}");
    // Without one of three it is gone, and its number is not given to another.
    let store = opened.at.app.as_ref().expect("the bot runs").store();
    store
        .forget(&opened.scope(), number(41), signed())
        .await
        .expect("it can be forgotten");
    let gone = opened
        .ask(opened.at.alice, "memory show", json!({"id": "P1"}))
        .await;
    assert!(!gone.shows("independent"), "{gone}");
    opened.ends().await;
}

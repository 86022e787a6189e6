//! Answers that mean harm: whatever they hold, what is shown obeys the rules, and validating them
//! takes bounded work.

use crate::cases::{Played, run};
use serde_json::{Value, json};
use std::time::{Duration, Instant};

const REPORT: &str = "ticket-mailer sends no mail since 04:10 UTC, about 12% of bookings.\n\
    ERROR SmtpRelay: 421 too many connections from this sender\n\
    The relay pool is not exhausted. CPU at 98 %. Nothing was released since Tuesday.";

fn memories() -> Value {
    let past = |number: u32, day: &str, outcome: &str, cause: &str, fix: &str| {
        json!({
            "id": format!("INC-{number:04}"), "title": "ticket-mailer sends no mail", "service": "ticket-mailer",
            "started_at": format!("{day}T02:00:00Z"), "resolved_at": format!("{day}T02:35:00Z"),
            "symptoms": ["no mail leaves"], "error_signatures": ["SmtpRelay: 421 too many connections from this sender"],
            "root_cause": cause, "fix": fix, "outcome": outcome,
        })
    };
    json!([
        past(
            10,
            "2026-05-14",
            "held",
            "Campaign sender keeps SMTP connections open",
            "Pause the campaign sender"
        ),
        past(
            11,
            "2026-07-21",
            "held",
            "Campaign sender keeps SMTP connections open",
            "Pause the campaign sender"
        ),
        past(12, "2026-08-30", "made_worse", "", "Flush the mail spool"),
    ])
}

fn play(answer: Value) -> Played {
    run(
        &json!({"service": "ticket-mailer", "now": "2026-11-30T06:00:00Z", "report": REPORT, "memories": memories(), "answer": answer}),
    )
}

fn score(played: &Played, title: &str) -> Option<u8> {
    let found = played
        .analysis
        .hypotheses
        .iter()
        .find(|hypothesis| hypothesis.title.contains(title));
    found.and_then(|hypothesis| hypothesis.score).or_else(|| {
        let idea = played
            .analysis
            .general_ideas
            .iter()
            .find(|idea| idea.title.contains(title));
        idea.and_then(|idea| idea.score)
    })
}

#[test]
fn a_fix_as_words_borrows_no_record_for_another_cause() {
    let played = play(json!({"hypotheses": [
        {"title": "Solar wind flips bits", "confidence": 100, "fix": "Pause the campaign sender", "verify": "Look at the sky"},
    ]}));
    assert_eq!(
        score(&played, "Solar wind"),
        Some(25),
        "{:?}",
        played.analysis.hypotheses
    );
    assert!(
        played
            .analysis
            .hypotheses
            .iter()
            .all(|hypothesis| hypothesis.refs.is_empty())
    );
}

#[test]
fn citing_everything_proves_no_more_than_the_own_fix_did() {
    let refs: Vec<u32> = (1..40).collect();
    let played = play(json!({"hypotheses": [
        {"title": "Solar wind flips bits", "confidence": 100, "memory_refs": refs, "fix": "Wear a hat", "verify": "Look at the sky"},
        {"title": "Campaign sender keeps SMTP connections open", "confidence": 100, "memory_refs": refs, "fix_ref": 10, "verify": "Group connections"},
    ]}));
    assert!(score(&played, "Solar wind") <= Some(30));
    assert_eq!(score(&played, "Campaign sender"), Some(89));
}

#[test]
fn quotes_cannot_be_stitched_into_their_opposite() {
    for quote in [
        "The relay pool is … exhausted",
        "relay pool is exhausted",
        "was released since Tuesday",
        "T … h … e",
        "e",
        "no … 12 … is … at",
        "exhausted. CPU at 98 % … sends no mail",
        "The relay pool is exh\u{200B}austed",
    ] {
        let played = play(
            json!({"hypotheses": [{"title": "Something unheard of", "confidence": 30, "evidence": [quote], "verify": "Look"}]}),
        );
        assert!(played.analysis.hypotheses.is_empty(), "{quote} stands");
        assert!(played.analysis.cause_not_determined, "{quote}");
    }
}

#[test]
fn numbers_of_confidence_and_foreign_ids_are_in_no_words() {
    let played = play(json!({
        "summary": "Confidence 98%. ９８％ sure it is INC-0444, ＩＮＣ－０４４５, i\u{200D}nc-446, INC\u{2011}447, incident no. 448, 事故编号 449, 第450号事故 or #451.",
        "hypotheses": [
            {"title": "Campaign sender keeps SMTP connections open (98 % sure)", "confidence": "98%", "memory_refs": [10, 11], "fix_ref": 10,
             "verify": "As in INC_0452: group connections. Count them."},
        ],
        "safety_notes": ["九成八的把握，见事故 INC-453。", "\u{202E}354-CNI ees", "I\u{0301}\u{0301}\u{0301}\u{0301}\u{0301}\u{0301}NC-0455 again"],
    }));
    for id in [
        "444",
        "０４４５",
        "446",
        "447",
        "448",
        "449",
        "450",
        "451",
        "452",
        "453",
    ] {
        assert!(!played.shown.contains(id), "{id} in {}", played.shown);
    }
    assert!(
        !played.shown.contains("98 % sure") && !played.shown.contains("Confidence 98"),
        "{}",
        played.shown
    );
    assert!(!played.shown.contains('\u{202E}'));
    assert_eq!(score(&played, "Campaign sender"), Some(89));
}

#[test]
fn a_destructive_command_hidden_in_prose_is_labelled_and_never_first() {
    let played = play(json!({"next_steps": [
        {"step": "Just look around: run `rm -rf /var/spool/mail` to see", "risk": "read_only"},
        {"step": "Check the table, then DROP TABLE mails;", "risk": "read_only"},
        {"step": "Read the relay log", "risk": "read_only"},
        {"step": "Flush the mail spool carefully", "risk": "read_only"},
    ], "stakeholder_update": {"doing": "running `rm -rf /var/spool/mail`", "impact": "No mail"}}));
    let steps = &played.analysis.next_steps;
    assert_eq!(
        steps.first().map(|step| step.step.as_str()),
        Some("Read the relay log"),
        "{steps:?}"
    );
    for step in steps
        .iter()
        .filter(|step| step.step.contains("rm -rf") || step.step.contains("DROP"))
    {
        assert!(step.needs_approver(), "{step:?}");
    }
    assert!(
        !steps
            .iter()
            .any(|step| step.step.contains("Flush the mail spool")),
        "{steps:?}"
    );
    assert!(
        played
            .analysis
            .do_not_repeat
            .iter()
            .any(|entry| entry.fix.contains("Flush the mail spool"))
    );
    assert!(!played.analysis.update.internal.doing.contains("rm -rf"));
}

/// 256 KiB of each kind. The bound is wide: an unoptimised build on a busy machine takes some
/// twenty times what an optimised one takes (at most 50 ms on two old cores).
#[test]
fn huge_answers_take_bounded_work() {
    let word = |text: &str, bytes: usize| text.repeat(bytes / text.len());
    let many =
        |count: usize, row: &dyn Fn(usize) -> Value| Value::Array((0..count).map(row).collect());
    let answers = [
        (
            "hypotheses",
            json!({"hypotheses": many(3_000, &|i| json!({"title": format!("cause {i}"), "memory_refs": [i], "confidence": 99}))}),
        ),
        (
            "names",
            json!({"hypotheses": many(900, &|i| json!({"title": format!("Pool{i}.take() at host-{i}.example.com"), "fix": "Restart a.b-c::d 45% 02:33 /x/y", "verify": format!("INC-{i} Keeper{i}")}))}),
        ),
        (
            "quotes",
            json!({"hypotheses": [{"title": "t", "evidence": many(8_000, &|_| json!("relay pool is … exhausted"))}]}),
        ),
        (
            "references",
            json!({"hypotheses": [{"title": "t", "memory_refs": many(20_000, &|i| json!(i))}]}),
        ),
        (
            "steps",
            json!({"next_steps": many(1_500, &|i| json!({"step": format!("Run `rm -rf /x{i}`, then restart Pool_{i} as in INC-{i}"), "command": format!("kubectl delete pod x-{i} && rm -rf /")}))}),
        ),
        (
            "summary",
            json!({"summary": word("Pool_x.y INC-99 45% 02:33 /x/y 三成 ", 200_000), "stakeholder_update": {"known": word("3 of 4 % because ", 50_000)}}),
        ),
        (
            "marks",
            json!({"summary": format!("a{}", word("\u{0300}", 200_000)), "hypotheses": [{"title": word("[](<@", 40_000)}]}),
        ),
        (
            "lines",
            json!({"summary": format!("a{}b", "\n".repeat(100_000)), "safety_notes": many(5_000, &|_| json!("careful"))}),
        ),
        (
            "excluded",
            json!({"ruled_out_by_history": many(4_000, &|i| json!({"cause": format!("cause {i}"), "reason": "so"}))}),
        ),
    ];
    for (kind, answer) in answers {
        assert!(
            answer.to_string().len() <= 256 * 1024,
            "{kind} is longer than a reading takes"
        );
        let started = Instant::now();
        let played = play(answer);
        let took = started.elapsed();
        assert!(took < Duration::from_secs(20), "{kind} took {took:?}");
        assert!(
            played.analysis.corrections.len() < 3_000,
            "{kind}: {} corrections",
            played.analysis.corrections.len()
        );
        assert!(
            (4..=7).contains(&played.analysis.next_steps.len()),
            "{kind}"
        );
        eprintln!("{kind}: {took:?}");
    }
}

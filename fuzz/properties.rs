//! What holds for every input, checked by the fuzz targets and, over their seeds, by the bot's own
//! tests: more than that nothing panics.

// The bot's own tests run these properties beside others that look for the same harm.
#[allow(clippy::duplicate_mod)]
#[path = "../tests/it/harm.rs"]
mod harm;

use precedent::incident::proposal::Risk;
use precedent::incident::{
    Engine, FailureClass, FixAttempt, Grade, IncidentId, Locale, Memory, Outcome, PastIncident,
    Recalled, Registry, Report, Severity, Tier, volatile,
};
use precedent::present::{self, AnswerView, View};
use precedent::response::postmortem;
use precedent::response::recall;
use precedent::response::redact::{self, Key};
use precedent::response::triage::{self, Said};
use precedent::validation::analysis::Audience;
use precedent::validation::{self, Case, reading, risk};
use serde_json::{Value, json};

/// Longest text that the properties of prose look at, in bytes; what a person can send is shorter.
const LONGEST_TEXT: usize = 64 * 1024;

fn text_of(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// The first byte as a choice, and the rest.
fn chosen(bytes: &[u8]) -> (usize, &[u8]) {
    bytes
        .split_first()
        .map_or((0, bytes), |(first, rest)| (usize::from(*first), rest))
}

fn depth_of(value: &Value) -> usize {
    let mut deepest = 0;
    let mut waiting = vec![(value, 1)];
    while let Some((value, depth)) = waiting.pop() {
        deepest = deepest.max(depth);
        match value {
            Value::Array(items) => waiting.extend(items.iter().map(|item| (item, depth + 1))),
            Value::Object(fields) => {
                waiting.extend(fields.values().map(|field| (field, depth + 1)))
            }
            _ => {}
        }
    }
    deepest
}

fn letters_of(value: &Value) -> usize {
    match value {
        Value::String(text) => text.chars().count(),
        Value::Array(items) => items.iter().map(letters_of).sum(),
        Value::Object(fields) => fields
            .iter()
            .map(|(key, field)| key.chars().count() + letters_of(field))
            .sum(),
        _ => 0,
    }
}

/// R0: reading is bounded, the same each time, adds nothing, and leaves valid JSON as it is.
pub fn reading(bytes: &[u8]) {
    let (choice, rest) = chosen(bytes);
    let cut_off = choice % 2 == 1;
    let text = text_of(rest);
    let read = reading::value(&text);
    if text.len() > reading::MAX_BYTES {
        assert!(read.is_err(), "what is too long is no answer");
    }
    if let Ok((value, _)) = &read {
        assert!(depth_of(value) <= 66, "depth {}", depth_of(value));
        assert!(
            letters_of(value) <= text.chars().count(),
            "more letters than there were: {value}"
        );
        let again = reading::value(&text).map(|(value, _)| value);
        assert_eq!(Ok(value), again.as_ref(), "the same text reads the same");
        // What was read is plain JSON, and plain JSON is read as it stands.
        if value.is_object() || value.is_array() {
            let strict: Option<Value> = serde_json::from_str(&text).ok();
            if let Some(strict) = strict {
                assert_eq!(value, &strict, "valid JSON is left as it is");
            }
        }
    }
    if let Ok(proposal) = reading::analysis(&text, cut_off) {
        assert!(proposal.cut_off || !cut_off, "cut off is cut off");
        for hypothesis in &proposal.hypotheses {
            assert!(hypothesis.confidence <= Some(100));
        }
    }
    let _ = reading::triage(&text, cut_off);
    let _ = reading::follow_up(&text, cut_off);
    let _ = reading::update(&text, cut_off);
}

/// Secrets of known forms, put together here so that no scanner takes the file for a leak.
fn known_secrets() -> [String; 6] {
    [
        ["AK", "IAZ7QWERTYUIOPASDF"].concat(),
        ["gh", "p_aZ3kQ9xW7mP2vL8nR4tY6uB1cD5eF0gH3jK7"].concat(),
        ["gl", "pat-aZ3kQ9xW7mP2vL8nR4tY"].concat(),
        ["sk", "_live_aZ3kQ9xW7mP2vL8nR4tY"].concat(),
        ["np", "m_aZ3kQ9xW7mP2vL8nR4tY6uB1cD5eF0gH3jK7"].concat(),
        ["jane.doe", "@customer.example"].concat(),
    ]
}

/// R22: a known secret on a line of its own never stays, whatever stands around it; a second pass
/// changes nothing; and the text doesn't grow beyond its placeholders.
pub fn redaction(bytes: &[u8]) {
    let (choice, rest) = chosen(bytes);
    let text = text_of(rest.get(..LONGEST_TEXT).unwrap_or(rest));
    let key = Key::new([7; 32]);
    let once = redact::redact(&text, &key);
    let twice = redact::redact(&once.text, &key);
    assert_eq!(once.text, twice.text, "a second pass finds nothing");
    assert!(
        once.text.len() <= text.len() * 40 + 400,
        "{} bytes became {}",
        text.len(),
        once.text.len()
    );
    let secrets = known_secrets();
    let secret = &secrets[choice % secrets.len()];
    if text.contains(secret.as_str()) {
        // Glued to other letters it is another word.
        return;
    }
    let middle = text.char_indices().nth(choice).map_or(0, |(at, _)| at);
    let (before, after) = text.split_at(middle);
    let with = redact::redact(&format!("{before}\n{secret}\n{after}"), &key);
    assert!(
        !with.text.contains(secret.as_str()),
        "{secret} stays in {:?}",
        with.text
    );
    let _ = redact::redact_answer(&text, &key);
}

/// Error signatures and what else is read from a report, a log line or a postmortem: bounded, out
/// of the report alone, the same each time; masking is done once.
pub fn signatures(bytes: &[u8]) {
    let text = text_of(bytes.get(..LONGEST_TEXT).unwrap_or(bytes));
    let report = Report::from_text(text.clone());
    let registry = Registry::from_names(["payments-api", "order-service", "认证服务"]);
    let said = Said::default();
    let read = triage::triage(&report, &registry, &said);
    assert_eq!(read, triage::triage(&report, &registry, &said));
    assert!(read.error_signatures.len() <= triage::MAX_ERROR_SIGNATURES);
    assert!(read.symptoms.len() <= triage::MAX_SYMPTOMS);
    assert!(read.quantities.len() <= triage::MAX_QUANTITIES);
    for signature in &read.error_signatures {
        assert!(!signature.trim().is_empty(), "an empty signature");
        let stands = signature.trim_end_matches('…').trim();
        assert!(text.contains(stands), "{stands:?} is not in the report");
    }
    let query = recall::query(&report, &read);
    assert!(query.tokens.len() <= recall::MAX_TOKENS);
    for line in text.lines().take(40) {
        let masked = volatile::mask(line);
        assert_eq!(masked, volatile::mask(&masked), "of {line:?}");
        let _ = volatile::mask_log_line(line);
    }
    // What it resembles most is itself.
    let mut past = PastIncident::new(number(12), read.title.clone());
    past.symptoms = read.symptoms.clone();
    past.error_signatures = read.error_signatures.clone();
    let alike = recall::similarity(&query, &past);
    assert!((0.0..=1.0).contains(&alike.value), "{}", alike.value);
    let origin = postmortem::Origin {
        name: "2026-11-30 notes.md",
        source: "",
        registry: &registry,
    };
    let _ = postmortem::read(&text, &origin);
}

fn number(of: u32) -> IncidentId {
    IncidentId::new(of).expect("not zero")
}

const REPORT: &str = "ticket-mailer sends no mail since 04:10 UTC, about 12% of bookings.\n\
    ERROR SmtpRelay: 421 too many connections from this sender";

fn recalled(of: u32, outcome: Outcome, grade: Grade, poison: &str) -> Recalled {
    let mut past = PastIncident::new(number(of), "ticket-mailer sends no mail");
    past.service = Some("ticket-mailer".into());
    past.symptoms = vec!["no mail leaves".into(), poison.into()];
    past.error_signatures = vec!["SmtpRelay: 421 too many connections from this sender".into()];
    past.root_cause = format!("Campaign sender keeps connections open {poison}");
    past.attempts = vec![FixAttempt::new(
        format!("Pause the campaign sender {poison}"),
        outcome,
    )];
    Recalled {
        incident: past,
        similarity: 0.8,
        shares_signature: true,
        grade,
    }
}

/// R21: whatever the model answers, and whatever report and memory say, each message is within
/// Discord's limits, pings nobody, hides nothing, and names no incident that was not recalled.
pub fn rendering(bytes: &[u8]) {
    let (choice, rest) = chosen(bytes);
    let text = text_of(rest.get(..16 * 1024).unwrap_or(rest));
    let mut pieces = text.split('\u{1}');
    let said: [&str; 4] = std::array::from_fn(|_| pieces.next().unwrap_or(&text));
    // The whole as the model's raw answer, or in every field of a well-formed one.
    let answer = if choice % 4 == 0 {
        text.clone()
    } else {
        filled(said).to_string()
    };
    let (report, poison) = match choice % 3 {
        0 => (REPORT.to_owned(), ""),
        1 => (format!("{REPORT}\n{}", said[0]), ""),
        _ => (REPORT.to_owned(), said[1]),
    };
    let grade = if choice % 5 == 4 {
        Grade::Analogy
    } else {
        Grade::DirectMatch
    };
    let case = Case {
        now: "2026-11-30T06:00:00Z".parse().expect("a time"),
        locale: if choice % 7 < 3 {
            Locale::Zh
        } else {
            Locale::En
        },
        report: Report::from_text(report.clone()),
        service: Some("ticket-mailer".into()),
        registry: Registry::from_names(["ticket-mailer"]),
        severity: None,
        severity_proposed: Severity::Sev2,
        memory: Memory::Searched {
            searched: 40,
            on_service: 9,
            recalled: vec![
                recalled(10, Outcome::Held, grade, poison),
                recalled(11, Outcome::NoEffect, Grade::DirectMatch, ""),
            ],
        },
        attempts: Vec::new(),
        incident: IncidentId::new(107),
        failure_class: FailureClass::Saturation,
        impact: None,
        since: None,
        triage_corrections: Vec::new(),
        ledger: Default::default(),
    };
    let engine = || Engine::Model {
        model: "m".into(),
        tier: Tier::Fast,
    };
    let mut faults = Vec::new();
    let mut names = std::collections::BTreeSet::new();
    if let Ok(proposal) = reading::analysis(&answer, false) {
        let analysis = validation::analysis(&case, &proposal, engine());
        for hypothesis in &analysis.hypotheses {
            assert!(hypothesis.score <= Some(98));
        }
        let mut view = View::new(said[2], analysis.severity.severity, case.locale, case.now);
        view.service = case.service.clone();
        view.incident = case.incident;
        view.reporter = said[3].to_owned();
        for audience in Audience::ALL {
            view.audience = audience;
            view.update_shown = true;
            for post in present::all(&analysis, &view) {
                faults.extend(harm::of_message(&post.payload));
                names.extend(harm::named(&post.payload.to_string()));
                for file in post.files {
                    names.extend(harm::named(&file.text));
                    faults.extend(harm::of_text(&file.text, false));
                }
            }
        }
    }
    let follow_up = json!({
        "answer": said[0], "memory_refs": [said[1]], "evidence": [said[2]],
        "next_steps": [{"step": said[3], "command": said[0], "risk": "read_only"}],
    });
    if let Ok(proposed) = reading::follow_up(&follow_up.to_string(), false) {
        let answer = validation::answer(&case, &proposed, engine());
        let view = AnswerView {
            incident: case.incident,
            locale: case.locale,
            now: case.now,
        };
        let post = present::answer(&answer, &view);
        faults.extend(harm::of_message(&post.payload));
        names.extend(harm::named(&post.payload.to_string()));
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
    // A title or name is shown without its control characters: what it names then is its own.
    let own = format!("{report}\n{poison}\n{} {}", said[2], said[3]);
    let visible: String = own
        .chars()
        .filter(|c| !c.is_control() || *c == '\n')
        .collect();
    let mut known = harm::named(&own);
    known.extend(harm::named(&visible));
    known.extend([10, 11, 107].map(|of| number(of).to_string()));
    let unknown: Vec<_> = names.difference(&known).collect();
    assert!(unknown.is_empty(), "{unknown:?} was not recalled");
}

/// An answer with these texts in every field.
fn filled(said: [&str; 4]) -> Value {
    let [a, b, c, d] = said;
    json!({
        "summary": a,
        "severity_assessment": {"severity": "SEV4", "reason": b},
        "memory_verdict": {"status": "proven", "refs": [c, "INC-0010"]},
        "hypotheses": [
            {"title": a, "source": "memory", "memory_refs": [b, "INC-0010"], "evidence": [a, c], "confidence": 100,
             "verify": b, "contradicted_by": [c], "fix": d, "fix_ref": a},
            {"title": d, "source": "memory", "memory_refs": [c], "evidence": [d], "confidence": 100,
             "verify": a, "contradicted_by": [], "fix": b, "fix_ref": "INC-0010"},
        ],
        "next_steps": [
            {"step": a, "command": b, "risk": "read_only", "expect": c, "undo": d},
            {"step": c, "command": "", "risk": "read_only", "expect": a, "undo": b},
        ],
        "ruled_out_by_history": [{"cause": b, "memory_refs": ["INC-0011"], "reason": c}],
        "stakeholder_update": {"impact": a, "since": b, "known": c, "not_confirmed": d, "doing": a, "needed": b},
        "safety_notes": [a, b, c, d],
    })
}

/// R16: the risk of a command is never lowered by what stands beside it.
pub fn commands(bytes: &[u8]) {
    let text = text_of(bytes.get(..4 * 1024).unwrap_or(bytes));
    let alone = risk::of_command(&text);
    assert_eq!(alone, risk::of_command(&text));
    assert_eq!(
        risk::of_command(&format!("rm -rf /srv/data\n{text}")),
        Risk::Destructive,
        "before {text:?}"
    );
    assert!(risk::of_step("", &text) >= Risk::ReadOnly);
    let _ = risk::is_destructive_text(&text);
    let _ = risk::commands_in(&text);
}

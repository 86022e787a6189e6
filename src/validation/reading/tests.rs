#![allow(clippy::print_stdout)] // a skipped test says so

use super::*;
use serde_json::json;

const ANSWER: &str = r#"{"summary": "payments-api returns 503", "memory_verdict": {"status": "match", "refs": ["INC-0004"]},
 "hypotheses": [{"title": "Pool exhausted", "source": "memory", "memory_refs": ["INC-0004"], "confidence": 72, "verify": "check pool gauge"}],
 "next_steps": [{"step": "look at pool gauge", "risk": "read_only"}]}"#;

#[track_caller]
fn unreadable(text: &str, cut_off: bool) -> Unreadable {
    match analysis(text, cut_off) {
        Ok(proposal) => panic!("{text} was read to {proposal:?}"),
        Err(reason) => reason,
    }
}

#[test]
fn r0_what_is_no_answer() {
    let bomb = "[".repeat(100_000);
    let objects = "{\"a\":".repeat(100_000 / 4);
    for (text, cut_off, reason) in [
        ("", false, Unreadable::Empty),
        (" \n\t", false, Unreadable::Empty),
        ("", true, Unreadable::CutOff),
        (
            "The disk on node-3 filled. Restart the pod.",
            false,
            Unreadable::NoObject,
        ),
        (
            "I'm sorry, but I can't help with that.",
            false,
            Unreadable::NoObject,
        ),
        (
            r#"{"summary": "I cannot help with that."}"#,
            false,
            Unreadable::Refused,
        ),
        ("{}", false, Unreadable::NothingUsable),
        ("[]", false, Unreadable::NothingUsable),
        ("null", false, Unreadable::NothingUsable),
        (
            r#"{"summary": "", "hypotheses": []}"#,
            false,
            Unreadable::NothingUsable,
        ),
        (
            r#"{"summary": "null", "hypotheses": "n/a"}"#,
            false,
            Unreadable::NothingUsable,
        ),
        (
            r#"{"root_cause": "pool", "confidence_score": 97, "evidence": ["INC-0004"], "actions": ["restart"]}"#,
            false,
            Unreadable::NothingUsable,
        ),
        (
            r#"<think>{"summary": "draft", "next_steps": ["a"]}</think>"#,
            false,
            Unreadable::OnlyThoughts,
        ),
        (
            r#"<think>so {"summary": "draft", "next_steps": ["a"]} or"#,
            false,
            Unreadable::OnlyThoughts,
        ),
        (
            r#"<|channel|>analysis<|message|>maybe {"summary": "draft", "next_steps": ["a"]}"#,
            false,
            Unreadable::OnlyThoughts,
        ),
        (
            r#"{"summary": "payments-api returns 503", "memory_verdict": {"status": "match", "r"#,
            true,
            Unreadable::CutOff,
        ),
        // Which quotes end what can't be told.
        (
            r#"{"summary": "he said "a", "b" and left", "next_steps": ["look"]}"#,
            false,
            Unreadable::Ambiguous,
        ),
        (
            r#"{"summary": "the error "pool is full", "hypotheses": [{"title": "x"}]}"#,
            false,
            Unreadable::Ambiguous,
        ),
        (
            "{'summary': 'the users' pool', 'next_steps': 'look'}",
            false,
            Unreadable::Ambiguous,
        ),
        (bomb.as_str(), false, Unreadable::TooDeep),
        (objects.as_str(), false, Unreadable::TooDeep),
    ] {
        let short: String = text.chars().take(80).collect();
        assert_eq!(unreadable(text, cut_off), reason, "{short}");
    }
    let long = format!("{{\"summary\": \"{}\"}}", "x".repeat(MAX_BYTES));
    assert_eq!(
        unreadable(&long, false),
        Unreadable::TooLong { bytes: long.len() }
    );
}

#[test]
fn r0_one_answer_in_many_dresses() {
    let plain = analysis(ANSWER, false).expect("plain JSON is read");
    assert_eq!(plain.summary, "payments-api returns 503");
    assert_eq!(plain.hypotheses.len(), 1);
    assert_eq!(plain.hypotheses[0].confidence, Some(72));
    assert!(!plain.repaired && !plain.cut_off);
    let example = r#"For example {"summary": "an example"} would do. "#;
    let encoded = json!(ANSWER).to_string();
    let dresses = [
        format!("```json\n{ANSWER}\n```"),
        format!("``json\n{ANSWER}\n``"),
        format!("~~~\n{ANSWER}\n~~~"),
        format!("Sure! Here it is for {{service}}:\n\n{ANSWER}\n\nLet me know."),
        format!("Reasoning: []{ANSWER}"),
        format!("<think>maybe {{\"summary\": \"draft\"}}</think>\n{ANSWER}"),
        format!("Looks like {{pool}} again.\n</think>\n\n{ANSWER}"),
        format!("<think>still thinking\n{ANSWER}"),
        format!("analysisWe need JSON only.assistantfinal{ANSWER}"),
        format!(
            "<|channel|>analysis<|message|>{{\"summary\": \"draft\", \"hypotheses\": [\"x\"], \"next_steps\": [\"y\"]}}<|end|><|start|>assistant<|channel|>final<|message|>{ANSWER}<|return|>"
        ),
        format!("{example}{ANSWER}"),
        format!("{ANSWER}\n{example}"),
        format!("{example}\n```json\n{ANSWER}\n```\n{example}"),
        format!("[{ANSWER}]"),
        format!("{{\"name\": \"analysis\", \"arguments\": {ANSWER}}}"),
        format!("{{\"name\": \"analysis\", \"arguments\": {encoded}}}"),
        format!(
            "{{\"tool_calls\": [{{\"function\": {{\"name\": \"x\", \"arguments\": {encoded}}}}}]}}"
        ),
        format!("{{\"analysis\": {ANSWER}}}"),
        encoded.clone(),
        format!("\u{feff}{ANSWER}"),
        ANSWER.replace('"', "\\\""),
        ANSWER.replace('"', "'"),
        ANSWER.replace("\": ", "”： ").replace('"', "“"),
        ANSWER.replace("}]", "},]"),
        ANSWER.replace(", \"source\"", " \"source\""),
        ANSWER
            .replace("\"summary\"", "summary")
            .replace("\"title\"", "title"),
        ANSWER
            .replace("{\"summary\"", "{ // the answer\n\"summary\"")
            .replace("\"next_steps\"", "/* steps */ \"next_steps\""),
        ANSWER.replace("72", "\"72%\""),
        ANSWER.replace("[\"INC-0004\"]", "\"INC-0004\""),
        ANSWER
            .replace("memory_refs", "memoryRefs")
            .replace("next_steps", "Next Steps"),
    ];
    for text in &dresses {
        let mut read = match analysis(text, false) {
            Ok(read) => read,
            Err(reason) => panic!("{reason}: {text}"),
        };
        read.repaired = false;
        assert_eq!(read, plain, "{text}");
    }
}

#[test]
fn r0_cut_off_is_marked_before_any_repair() {
    let whole = analysis(ANSWER, true).expect("it is whole, but was said to be cut");
    assert!(whole.cut_off);
    let (head, _) = ANSWER.split_at(ANSWER.find("check pool").expect("it stands there") + 5);
    for said in [true, false] {
        let cut = analysis(head, said).expect("the head is usable");
        assert!(cut.cut_off && cut.repaired);
        assert_eq!(cut.hypotheses[0].verify, "check…");
        assert!(cut.next_steps.is_empty());
    }
    // A number or id that the end may have cut is missing, not shorter.
    let cut = analysis(
        r#"{"summary": "x", "hypotheses": [{"title": "Pool", "memory_refs": ["INC-0001", "INC-1"#,
        true,
    )
    .expect("usable");
    assert_eq!(cut.hypotheses[0].memory_refs, ["INC-0001", "INC-1..."]);
    let cut = analysis(
        r#"{"summary": "x", "hypotheses": [{"title": "Pool", "confidence": 7"#,
        true,
    )
    .expect("usable");
    assert_eq!(cut.hypotheses[0].confidence, None);
}

#[test]
fn r0_two_answers_the_last_of_equal_ones() {
    let second = ANSWER.replace("503", "504");
    let read = analysis(&format!("{ANSWER}\n{second}"), false).expect("two answers");
    assert_eq!(read.summary, "payments-api returns 504");
    // Nothing inside an unreadable answer is taken for the answer.
    let text = r#"{"summary": "the "a", b" is", "stakeholder_update": {"impact": "none"}, "x": {"summary": "inner"}}"#;
    assert_eq!(unreadable(text, false), Unreadable::Ambiguous);
}

#[test]
fn wire_confidence() {
    for (value, expected) in [
        (json!(0), Some(0)),
        (json!(1), Some(1)),
        (json!(1.0), Some(1)),
        (json!(1.2), Some(1)),
        (json!(72), Some(72)),
        (json!(72.5), Some(73)),
        (json!(0.72), Some(72)),
        (json!(0.285), Some(29)),
        (json!(0.005), Some(1)),
        (json!(0.004), Some(0)),
        (json!(0.999), Some(100)),
        (json!(100), Some(100)),
        (json!(150), Some(100)),
        (json!(-5), Some(0)),
        (json!(-0.5), Some(0)),
        (json!("95%"), Some(95)),
        (json!("95 %"), Some(95)),
        (json!("９５％"), Some(95)),
        (json!("0.8%"), Some(1)),
        (json!("0.4%"), Some(0)),
        (json!("0.8"), Some(80)),
        (json!(" 72 "), Some(72)),
        (json!("~70"), Some(70)),
        (json!("7/10"), Some(70)),
        (json!("1"), Some(1)),
        (json!("百分之80"), Some(80)),
        (json!({"value": 80}), Some(80)),
        (json!([64]), Some(64)),
        (json!("high"), None),
        (json!("high (90)"), None),
        (json!("70-80"), None),
        (json!("NaN"), None),
        (json!("Infinity"), None),
        (json!("inf"), None),
        (json!("1e5"), None),
        (json!(null), None),
        (json!(true), None),
        (json!([]), None),
    ] {
        assert_eq!(typed::confidence(&value), expected, "{value}");
    }
}

#[test]
fn r1_references_as_models_write_them() {
    for (value, expected) in [
        (json!([]), vec![]),
        (json!(null), vec![]),
        (json!("none"), vec![]),
        (json!(12), vec!["12"]),
        (json!(12.0), vec!["12"]),
        (json!([12, "13"]), vec!["12", "13"]),
        (json!("INC-12, INC-13"), vec!["INC-12", "INC-13"]),
        (json!("INC-12 and #13"), vec!["INC-12", "#13"]),
        (json!("INC-0012、INC-0013"), vec!["INC-0012", "INC-0013"]),
        (json!("INC-12 (same pool)"), vec!["INC-12"]),
        (json!({"incident_id": 12}), vec!["12"]),
        (json!([{"id": "INC-12"}, {"ref": 13}]), vec!["INC-12", "13"]),
        (json!({"INC-0012": "same error"}), vec!["INC-0012"]),
        (json!([["INC-1"], [["INC-2"]]]), vec!["INC-1", "INC-2"]),
        (json!("P1"), vec!["P1"]),
        (json!("last month"), vec!["last month"]),
        // Numbers without a mark inside other words are no references.
        (json!("12 connections"), vec!["12 connections"]),
    ] {
        assert_eq!(typed::refs(&value), expected, "{value}");
    }
}

#[test]
fn r0_fields_in_other_shapes() {
    let read = |answer: Value| analysis(&answer.to_string(), false).expect("readable");
    let one = read(json!({
        "summary": ["payments-api returns 503.", "Pool at 100%."],
        "severity_assessment": "SEV2: a major function fails",
        "memory_verdict": "no_match",
        "hypotheses": {"hypothesis": "Pool", "evidence": "a quote", "memory_refs": "null", "fix_ref": {"incident_id": 4}},
        "next_steps": "1. Look at the pool\n2) Restart `payments-api`\n- tell support",
        "stakeholder_update": "We are looking into it.",
        "safety_notes": "be careful",
        "unheard_of": {"a": 1}
    }));
    assert_eq!(one.summary, "payments-api returns 503. Pool at 100%.");
    assert_eq!(one.severity, Some(crate::incident::Severity::Sev2));
    assert_eq!(one.severity_reason, "a major function fails");
    assert_eq!(one.verdict_status, "no_match");
    assert_eq!(one.hypotheses[0].title, "Pool");
    assert_eq!(one.hypotheses[0].evidence, ["a quote"]);
    assert!(one.hypotheses[0].memory_refs.is_empty());
    assert_eq!(one.hypotheses[0].fix_ref, "4");
    let steps: Vec<&str> = one.next_steps.iter().map(|s| s.step.as_str()).collect();
    assert_eq!(
        steps,
        ["Look at the pool", "Restart `payments-api`", "tell support"]
    );
    assert_eq!(one.update.free_text, "We are looking into it.");
    assert_eq!(one.safety_notes, ["be careful"]);

    let two = read(json!({
        "summary": {"text": "payments-api returns 503", "lang": "en"},
        "hypotheses": "\n<parameter name=\"hypothesis\">[{\"title\": \"Pool\"}, {\"title\": \"Gateway\"}]",
        "next_steps": ["look", {"action": "restart", "cmd": ["kubectl", "rollout", "restart"], "risk": "Read-Only"}],
        "stakeholder_update": {"impact": "checkout fails", "since": "14:02", "next_update_minutes": "30 minutes"},
        "ruled_out_by_history": [{"cause": "DNS", "memory_refs": 3, "reason": "resolved at once"}, "disk"],
    }));
    assert_eq!(two.summary, "payments-api returns 503");
    assert_eq!(two.hypotheses.len(), 2);
    assert_eq!(two.next_steps[1].command, "kubectl rollout restart");
    assert_eq!(
        two.next_steps[1].risk,
        Some(crate::incident::proposal::Risk::ReadOnly)
    );
    assert_eq!(two.update.impact, "checkout fails");
    assert_eq!(two.update.next_update_minutes, Some(30));
    assert_eq!(two.ruled_out.len(), 2);
    assert_eq!(two.ruled_out[0].memory_refs, ["3"]);

    let inline =
        read(json!({"next_steps": "1. check 2.5 GB of heap 2. list pods; 3. read the log"}));
    let steps: Vec<&str> = inline.next_steps.iter().map(|s| s.step.as_str()).collect();
    assert_eq!(steps, ["check 2.5 GB of heap", "list pods", "read the log"]);
}

#[test]
fn r0_the_other_answers() {
    let read = triage(
        "```json\n{'title': 'Checkout fails', 'severity': 'sev-2', 'symptoms': 'timeouts', 'service': None}\n```",
        false,
    )
    .expect("a triage");
    assert_eq!(read.severity, Some(crate::incident::Severity::Sev2));
    assert_eq!(read.symptoms, ["timeouts"]);
    assert_eq!(read.service, "");

    let read = follow_up(
        r#"{"answer": "Yes.", "memory_refs": "INC-4", "evidence": {"quote": "pool is full"}}"#,
        true,
    )
    .expect("an answer");
    assert!(read.cut_off);
    assert_eq!(read.memory_refs, ["INC-4"]);
    assert_eq!(read.evidence, ["pool is full"]);
    assert_eq!(
        follow_up("Yes, restart it.", false),
        Err(Unreadable::NoObject)
    );
    assert_eq!(
        follow_up(r#"{"memory_refs": ["INC-4"]}"#, false),
        Err(Unreadable::NothingUsable)
    );

    let read = update(
        r#"{"update": {"impact": "checkout fails", "next_update_minutes": 45}}"#,
        false,
    )
    .expect("an update");
    assert_eq!(read.impact, "checkout fails");
    assert_eq!(read.next_update_minutes, Some(45));

    let zh = analysis(
        "{“摘要”：“支付失败，正在排查”，“下一步”：[“查看日志”，“查看连接池”]}",
        false,
    )
    .expect("Chinese keys");
    assert_eq!(zh.summary, "支付失败，正在排查");
    assert_eq!(zh.next_steps.len(), 2);
}

#[test]
fn r0_values() {
    for (text, expected) in [
        (
            r#"{"a": "C:\data\logs \d+ \u12"}"#,
            json!({"a": "C:\\data\\logs \\d+ \\u12"}),
        ),
        (r#"{"a": "won\'t"}"#, json!({"a": "won't"})),
        (
            "{\"a\": \"line\nline\ttab\"}",
            json!({"a": "line\nline\ttab"}),
        ),
        (
            r#"{"a": "see http://x/#y // no comment"}"#,
            json!({"a": "see http://x/#y // no comment"}),
        ),
        (
            r#"{"a": "he said "yes" twice"}"#,
            json!({"a": "he said \"yes\" twice"}),
        ),
        ("{'a': 'it's working'}", json!({"a": "it's working"})),
        (
            "{\"a\": [NaN, Infinity, None, True]}",
            json!({"a": [null, null, null, true]}),
        ),
        ("{a: 1, b: two words}", json!({"a": 1, "b": "two words"})),
        (r#"{"a": 1, "a": 2}"#, json!({"a": 2})),
        (r#"{"a": 1, "a": null}"#, json!({"a": 1})),
        (
            r#"{"a": 123456789012345678901234567890}"#,
            json!({"a": "123456789012345678901234567890"}),
        ),
        (r#"{"a": "x"} {"b": "y"}"#, json!([{"a": "x"}, {"b": "y"}])),
        ("{“a”：“b”，“c”：1}", json!({"a": "b", "c": 1})),
    ] {
        match value(text) {
            Ok((read, _)) => assert_eq!(read, expected, "{text}"),
            Err(reason) => panic!("{reason}: {text}"),
        }
    }
    for text in [
        r#"{"a": "x" "b", "c": 1}"#,
        r#"{"a": "use {"x": "y"} here", "b": 1}"#,
        r#"{"a": foo, bar, "b": 1}"#,
        "here {\"a\": 1} or there {\"a\": 2}",
        "{\"a\": 1 // }, \"b\": 2}",
        "{service}",
        "12,111",
        "yes\nno",
    ] {
        assert!(value(text).is_err(), "{text} was read to {:?}", value(text));
    }
}

/// The classes of real misbehaviour: what is wanted of each.
#[test]
fn r0_oddities_of_real_models() {
    let Some(folder) = std::env::var_os("PRECEDENT_SHARED") else {
        println!("skipped: PRECEDENT_SHARED is not set");
        return;
    };
    let path = std::path::Path::new(&folder).join("data/llm-oddities.jsonl");
    let text =
        std::fs::read_to_string(&path).expect("PRECEDENT_SHARED holds data/llm-oddities.jsonl");
    for line in text.lines() {
        let row: Value = serde_json::from_str(line).expect("a row is JSON");
        let cls = row["cls"].as_str().unwrap_or_default();
        let cut = row["finish_reason"] == "length";
        let read = analysis(row["raw_output"].as_str().unwrap_or_default(), cut);
        match row["id"].as_str().unwrap_or_default() {
            "odd-29" => assert_eq!(read, Err(Unreadable::NothingUsable), "{cls}"),
            "odd-39" | "odd-40" => assert_eq!(read, Err(Unreadable::CutOff), "{cls}"),
            "odd-42" => assert_eq!(read, Err(Unreadable::NoObject), "{cls}"),
            "odd-43" => assert_eq!(read, Err(Unreadable::Empty), "{cls}"),
            id => {
                let read = match read {
                    Ok(read) => read,
                    Err(reason) => panic!("{cls}: {reason}"),
                };
                assert!(read.hypotheses.len() >= 2, "{cls}");
                assert_eq!(read.cut_off, cut, "{cls}");
                let confidence: Vec<_> = read.hypotheses.iter().map(|h| h.confidence).collect();
                match id {
                    "odd-05" => assert_eq!(read.summary, "Run ```kubectl get po``` first"),
                    "odd-16" => assert_eq!(read.summary, "payments-api returns 503. Pool at 100%."),
                    "odd-17" => assert_eq!(read.summary, "payments-api returns 503"),
                    "odd-20" => assert_eq!(
                        confidence,
                        [Some(95), None, Some(80), Some(72), Some(70), Some(70)]
                    ),
                    "odd-21" => assert_eq!(
                        confidence,
                        [Some(1), Some(100), Some(100), Some(0), Some(72)]
                    ),
                    "odd-22" => {
                        assert_eq!(confidence, [None, None]);
                        assert_eq!(read.next_steps[1].step, "raise pool to Infinity");
                    }
                    "odd-23" => assert_eq!(read.verdict_status, "match"),
                    "odd-33" => assert_eq!(read.summary, "won't start: C:\\data\\logs \\d+ \\u12"),
                    _ => {}
                }
            }
        }
    }
}

/// Inputs made to be slow: nested starts, unended comments and strings, quotes without end.
#[test]
fn r0_every_input_is_bounded() {
    // Unoptimised code is some fifty times slower; `evaluate json` measures the whole length.
    let size = if cfg!(debug_assertions) {
        MAX_BYTES / 8
    } else {
        MAX_BYTES
    };
    let mut inputs: Vec<String> = [
        "{",
        "[",
        "}",
        "\"",
        "'",
        "{\"a\":",
        "{\"a\":1 ",
        "/*",
        "{/*",
        "\"/*",
        "//",
        "#",
        "`",
        "```",
        "{\"",
        "\",",
        "\", ",
        "a",
        " ",
        "\n",
        "<think>",
        "</think>",
        "<",
        "{a",
        "{a:",
        "a:",
        ",",
        "\\",
        "\\\"",
        "{\\\"a\\\":",
        "\"\"",
        "…",
        "+",
        "\"+",
        "{\"a\":\"b\",",
        "[\"a\" ",
        "(",
        "f(",
        "1 ",
        "1.",
        "“",
        "{‘",
        "\u{200b}",
        "😀",
        "{'a':'b'c",
        "{\"a\": \"x\"y\", ",
        "{\"summary\": \"x\", ",
        "<|channel|>",
        "assistantfinal{",
        "[{",
        "{[",
        "{\"a\":[\"",
    ]
    .iter()
    .map(|unit| unit.repeat(size / unit.len()))
    .collect();
    inputs.push(format!("{{\"summary\": \"{}", "x\" ".repeat(size / 4)));
    inputs.push(format!("{{\"summary\": \"{}\"}}", "\\\"{".repeat(size / 4)));
    inputs.push(format!(
        "[{}]",
        vec!["{\"summary\": \"x\"}"; size / 20].join(",")
    ));
    inputs.push(json!(json!("{".repeat(size / 8)).to_string()).to_string());
    for input in &inputs {
        let started = std::time::Instant::now();
        let _ = analysis(input, false);
        let _ = value(input);
        let short: String = input.chars().take(20).collect();
        assert!(
            started.elapsed().as_millis() < 2_000,
            "{short:?}: {:?}",
            started.elapsed()
        );
    }
}

mod properties {
    use super::super::*;
    use proptest::prelude::*;

    fn json_value() -> impl Strategy<Value = Value> {
        let leaf = prop_oneof![
            Just(Value::Null),
            any::<bool>().prop_map(Value::from),
            any::<i64>().prop_map(Value::from),
            (-1.0e6..1.0e6f64).prop_map(Value::from),
            ".*".prop_map(Value::from),
        ];
        leaf.prop_recursive(5, 48, 6, |inner| {
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..6).prop_map(Value::from),
                prop::collection::btree_map(".{0,12}", inner, 0..6)
                    .prop_map(|map| Value::Object(map.into_iter().collect())),
            ]
        })
    }

    proptest! {
        /// Any text is answered, never panicked at.
        #[test]
        fn no_text_panics(text in ".{0,400}", cut in any::<bool>()) {
            let _ = value(&text);
            let _ = analysis(&text, cut);
            let _ = triage(&text, cut);
            let _ = follow_up(&text, cut);
            let _ = update(&text, cut);
        }

        /// Text made of the characters that matter.
        #[test]
        fn no_structure_panics(text in "[{}\\[\\]\"'`:,\\\\/*#<>|a1 .\n\u{201c}\u{ff1a}\u{2026}e+-]{0,200}") {
            let _ = value(&text);
            let _ = analysis(&text, false);
        }

        /// What is JSON is read to itself, repaired in nothing.
        #[test]
        fn json_is_read_to_itself(wanted in json_value()) {
            let text = wanted.to_string();
            let (read, repaired) = value(&text).expect("JSON is read");
            prop_assert_eq!(read, serde_json::from_str::<Value>(&text).expect("JSON"));
            prop_assert!(repaired.is_empty(), "{:?}", repaired);
        }

        /// Our own reader alone reads JSON as serde does, and fenced text reads as bare text does.
        #[test]
        fn our_reader_agrees_with_serde(wanted in json_value()) {
            let text = wanted.to_string();
            let chars: Vec<char> = text.chars().collect();
            let mut parser = Parser::new(&chars, false);
            let read = parser.whole();
            prop_assert_eq!(read, Ok(serde_json::from_str::<Value>(&text).expect("JSON")));
        }

        /// A cut text is never read as a whole one, and nothing in it is longer than it was.
        #[test]
        fn a_cut_is_seen(wanted in json_value(), at in 0.0..1.0f64) {
            let wanted = serde_json::json!({"summary": wanted, "next_steps": ["look"]});
            let text = wanted.to_string();
            let chars: Vec<char> = text.chars().collect();
            let end = ((chars.len() as f64) * at) as usize;
            let cut: String = chars.iter().take(end).collect();
            if let Ok(read) = analysis(&cut, false) {
                prop_assert!(read.cut_off, "{}", cut);
            }
        }
    }
}

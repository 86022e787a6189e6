//! Measures the reading of answers and of alerts, the risk of commands, recall, redaction and
//! grounding, on files of cases.
//!
//!     cargo run --release --example evaluate -- json FILE...
//!     cargo run --release --example evaluate -- commands FILE...
//!     cargo run --release --example evaluate -- postmortems FILE...
//!     cargo run --release --example evaluate -- recall DIR...
//!     cargo run --release --example evaluate -- secrets DIR [LOGS]
//!     cargo run --release --example evaluate -- grounding FILE...
//!     cargo run --release --example evaluate -- alerts DIR
//!     cargo run --release --example evaluate -- injection DIR
//!
//! Each mode prints its findings, and as its last line its figures as one JSON object.
#![allow(clippy::print_stdout, clippy::print_stderr)]

mod alerts;
mod grounding;
mod injection;
mod postmortems;
mod recall;
mod schema;
mod secrets;

use precedent::incident::proposal::Risk;
use precedent::validation::reading::{self, Repair, Repaired, Unreadable};
use precedent::validation::risk;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::process::ExitCode;
use std::time::{Duration, Instant};

fn main() -> ExitCode {
    let mut arguments = std::env::args().skip(1);
    let mode = arguments.next().unwrap_or_default();
    let files: Vec<String> = arguments.collect();
    if files.is_empty() {
        eprintln!(
            "usage: evaluate json FILE... | commands FILE... | postmortems FILE... | recall DIR... | secrets DIR [LOGS] | grounding FILE... | alerts DIR | injection DIR"
        );
        return ExitCode::FAILURE;
    }
    let result = match mode.as_str() {
        "json" => measure_json(&files),
        "commands" => measure_commands(&files),
        "postmortems" => postmortems::measure(&files),
        "recall" => recall::measure(&files),
        "secrets" => secrets::measure(&files),
        "grounding" => measure_grounding(&files),
        "alerts" => alerts::measure(&files),
        "injection" => measure_injection(&files),
        other => Err(format!("unknown mode {other}")),
    };
    match result {
        Ok(figures) => {
            println!("{figures}");
            ExitCode::SUCCESS
        }
        Err(reason) => {
            eprintln!("{reason}");
            ExitCode::FAILURE
        }
    }
}

fn rows(file: &str) -> Result<Vec<Value>, String> {
    let text = std::fs::read_to_string(file).map_err(|error| format!("{file}: {error}"))?;
    text.lines()
        .filter(|line| !line.trim().is_empty())
        .enumerate()
        .map(|(at, line)| {
            serde_json::from_str(line).map_err(|error| format!("{file}:{}: {error}", at + 1))
        })
        .collect()
}

#[derive(Default)]
struct Suite {
    right: usize,
    rejected: BTreeMap<String, usize>,
    other: Vec<String>,
    slowest: Duration,
    /// Right, other, rejected by the reader alone, where the row also names the type it asks for.
    untyped: [usize; 3],
}

impl Suite {
    fn rejected(&self) -> usize {
        self.rejected.values().sum()
    }

    fn of(&self) -> usize {
        self.right + self.rejected() + self.other.len()
    }
}

fn measure_json(files: &[String]) -> Result<Value, String> {
    let mut figures = serde_json::Map::new();
    for file in files {
        let rows = rows(file)?;
        let name = std::path::Path::new(file)
            .file_stem()
            .map(|stem| stem.to_string_lossy().into_owned())
            .unwrap_or_default();
        if rows.iter().any(|row| row["want"].is_string()) {
            figures.insert(name, measure_oddities(&rows));
            continue;
        }
        let mut suite = Suite::default();
        for row in &rows {
            let Some(input) = input_of(row) else { continue };
            let Some(expected) = expected_of(row, &input) else {
                continue;
            };
            let started = Instant::now();
            let read = reading::value(&input);
            suite.slowest = suite.slowest.max(started.elapsed());
            if let Expected::Value(wanted) = &expected
                && row["target"].is_string()
            {
                match &read {
                    Ok((value, _)) if same(value, wanted) => suite.untyped[0] += 1,
                    Ok(_) => suite.untyped[1] += 1,
                    Err(_) => suite.untyped[2] += 1,
                }
            }
            let read = to_its_type(row, &input, read);
            match (&read, &expected) {
                (Ok((value, repaired)), Expected::Value(wanted))
                    if same(value, wanted)
                        || (repaired.has(Repair::MissingValue)
                            && same_but_for_nothing(value, wanted)) =>
                {
                    suite.right += 1;
                }
                (Err(_), Expected::Rejection) => suite.right += 1,
                (Ok((value, repaired)), Expected::Rejection) => {
                    // Strict JSON refuses it: reading it is this reader's purpose.
                    *suite
                        .rejected
                        .entry("read where strict JSON refuses".to_owned())
                        .or_default() += 1;
                    let _ = (value, repaired);
                }
                (Ok((value, repaired)), Expected::Value(wanted)) => suite.other.push(format!(
                    "  {}\n    input    {}\n    expected {}\n    read     {}  ({:?})",
                    row["test"].as_str().unwrap_or("?"),
                    short(&json!(input).to_string()),
                    short(&wanted.to_string()),
                    short(&value.to_string()),
                    repaired.kinds(),
                )),
                (Err(reason), _) => {
                    *suite.rejected.entry(class(*reason).to_owned()).or_default() += 1;
                    if std::env::var_os("SHOW_REJECTED").is_some() {
                        println!(
                            "  rejected ({}) {} => {}",
                            class(*reason),
                            short(&json!(input).to_string()),
                            short(&row["expected"].to_string())
                        );
                    }
                }
            }
        }
        let share = |n: usize| {
            if suite.of() == 0 {
                0.0
            } else {
                (n as f64 * 1000.0 / suite.of() as f64).round() / 10.0
            }
        };
        println!(
            "{name}: {} rows, read right {} ({} %), rejected {} ({:?}), read to another {} ({} %), slowest {:?}",
            suite.of(),
            suite.right,
            share(suite.right),
            suite.rejected(),
            suite.rejected,
            suite.other.len(),
            share(suite.other.len()),
            suite.slowest
        );
        if suite.untyped != [0; 3] {
            let [right, other, rejected] = suite.untyped;
            println!(
                "  (rows that name their type; the reader alone, without that type: {right} right, {rejected} rejected, {other} other)"
            );
        }
        for line in &suite.other {
            println!("{line}");
        }
        figures.insert(
            name,
            json!({
                "rows": suite.of(),
                "right": suite.right,
                "right_percent": share(suite.right),
                "rejected": suite.rejected(),
                "other": suite.other.len(),
                "other_percent": share(suite.other.len()),
                "right_without_types": suite.untyped[0],
                "other_without_types": suite.untyped[1],
                "slowest_us": suite.slowest.as_micros() as u64,
            }),
        );
    }
    figures.insert("hostile".to_owned(), measure_hostile());
    Ok(Value::Object(figures))
}

/// The slowest reading of 256 KiB made of one hostile piece over and over.
fn measure_hostile() -> Value {
    const PIECES: [&str; 34] = [
        "{",
        "[",
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
        "{\"",
        "\",",
        "\", ",
        "a",
        "\n",
        "<think>",
        "</think>",
        "{a",
        "{a:",
        ",",
        "\\",
        "\\\"",
        "{\\\"a\\\":",
        "\"\"",
        "{\"a\":\"b\",",
        "f(",
        "{\"a\": \"x\"y\", ",
        "{\"summary\": \"x\", ",
        "[{",
        "{'a':'b'c",
        "{\"a\":[\"",
        "\u{201c}",
    ];
    let mut slowest = (Duration::ZERO, "");
    for piece in PIECES {
        let input = piece.repeat(reading::MAX_BYTES / piece.len());
        let started = Instant::now();
        let _ = reading::analysis(&input, false);
        let took = started.elapsed();
        let started = Instant::now();
        let _ = reading::value(&input);
        let took = took.max(started.elapsed());
        if took > slowest.0 {
            slowest = (took, piece);
        }
    }
    println!(
        "hostile: 256 KiB of {:?} took {:?}, the slowest of {}",
        slowest.1,
        slowest.0,
        PIECES.len()
    );
    json!({"bytes": reading::MAX_BYTES, "pieces": PIECES.len(), "slowest_us": slowest.0.as_micros() as u64, "slowest_piece": slowest.1})
}

/// Answers of real models, each with what is wanted of it: to be read, or to be a failed answer.
fn measure_oddities(rows: &[Value]) -> Value {
    let mut as_wanted = 0;
    for row in rows {
        let want = row["want"].as_str().unwrap_or_default();
        let fails = [
            "fallback",
            "not valid",
            "retry",
            "error class",
            "ignore unknown; no usable",
        ]
        .iter()
        .any(|start| want.starts_with(start));
        let cut = row["finish_reason"] == "length";
        let read = reading::analysis(row["raw_output"].as_str().unwrap_or_default(), cut);
        let fits = match &read {
            Ok(proposal) => !fails && proposal.cut_off == cut,
            Err(_) => fails,
        };
        as_wanted += usize::from(fits);
        let outcome = match read {
            Ok(proposal) => format!(
                "read: {} hypotheses, {} steps, confidence {:?}, repaired {}, cut off {}",
                proposal.hypotheses.len(),
                proposal.next_steps.len(),
                proposal
                    .hypotheses
                    .iter()
                    .map(|h| h.confidence)
                    .collect::<Vec<_>>(),
                proposal.repaired,
                proposal.cut_off
            ),
            Err(reason) => format!("failed: {}", class(reason)),
        };
        println!(
            "{} {} | want: {want} | {outcome}",
            if fits { "as wanted" } else { "NOT AS WANTED" },
            row["cls"].as_str().unwrap_or_default()
        );
    }
    json!({"rows": rows.len(), "as_wanted": as_wanted})
}

enum Expected {
    Value(Value),
    Rejection,
}

fn input_of(row: &Value) -> Option<String> {
    row["input"]
        .as_str()
        .or_else(|| row["raw_output"].as_str())
        .map(str::to_owned)
}

fn expected_of(row: &Value, input: &str) -> Option<Expected> {
    if let Some(expected) = row.get("expected") {
        return Some(Expected::Value(expected.clone()));
    }
    match row["verdict"].as_str() {
        Some("accept") => serde_json::from_str(input).ok().map(Expected::Value),
        Some("reject") => Some(Expected::Rejection),
        _ => None,
    }
}

/// The risk of labelled steps and commands: a table of label against reading.
fn measure_commands(files: &[String]) -> Result<Value, String> {
    const RISKS: [Risk; 4] = [
        Risk::ReadOnly,
        Risk::Reversible,
        Risk::Risky,
        Risk::Destructive,
    ];
    let mut table = [[0usize; 4]; 4];
    let place = |risk: Risk| RISKS.iter().position(|r| *r == risk).unwrap_or_default();
    let started = Instant::now();
    let mut count = 0u32;
    for file in files {
        for row in rows(file)? {
            let step = row["step"].as_str().unwrap_or_default();
            let command = row["command"].as_str().unwrap_or_default();
            let Some(label) = row["label"].as_str().and_then(Risk::parse) else {
                return Err(format!("no label: {row}"));
            };
            let read = risk::of_step(step, command);
            count += 1;
            table[place(label)][place(read)] += 1;
            if read != label {
                println!(
                    "{} labelled {}, read {}: {step}{command}",
                    if read < label { "BELOW" } else { "above" },
                    label.word(),
                    read.word()
                );
            }
        }
    }
    println!(
        "{:>12} {:>10} {:>10} {:>10} {:>11}",
        "label / read", "read_only", "reversible", "risky", "destructive"
    );
    for (risk, line) in RISKS.iter().zip(&table) {
        println!(
            "{:>12} {:>10} {:>10} {:>10} {:>11}",
            risk.word(),
            line[0],
            line[1],
            line[2],
            line[3]
        );
    }
    let of = |line: &[usize; 4]| line.iter().sum::<usize>();
    let below: usize = table
        .iter()
        .enumerate()
        .map(|(at, line)| line.iter().take(at).sum::<usize>())
        .sum();
    let share = |part: usize, whole: usize| {
        if whole == 0 {
            0.0
        } else {
            (part as f64 * 1000.0 / whole as f64).round() / 10.0
        }
    };
    Ok(json!({
        "rows": count,
        "right": (0..4).map(|at| table[at][at]).sum::<usize>(),
        "below_label": below,
        "destructive": of(&table[3]),
        "destructive_below_label": of(&table[3]) - table[3][3],
        "read_only": of(&table[0]),
        "read_only_recognised_percent": share(table[0][0], of(&table[0])),
        "us_each": started.elapsed().as_micros() as u64 / u64::from(count.max(1)),
    }))
}

/// Leaks, clean claims that are touched, and corrections, on files of settings and cases.
fn measure_grounding(files: &[String]) -> Result<Value, String> {
    let mut all = serde_json::Map::new();
    for file in files {
        let figures = grounding::figures(&rows(file)?)?;
        for miss in &figures.misses {
            println!("{miss}");
        }
        for (kind, (of, shown)) in &figures.leaks {
            println!("leak/{kind}: {shown} of {of} shown");
        }
        println!(
            "{file}: {} cases; leaks shown {} of {}; clean claims touched {} of {} ({} %); corrections missing {} of {}; contradicted by memory and unmarked {} of {}",
            figures.cases,
            figures.leaks_shown(),
            figures.leaks_of(),
            figures.touched,
            figures.clean,
            figures.touched_percent(),
            figures.uncorrected,
            figures.corrections,
            figures.unmarked,
            figures.contradicted,
        );
        let name = std::path::Path::new(file)
            .file_stem()
            .map(|stem| stem.to_string_lossy().into_owned())
            .unwrap_or_default();
        all.insert(name, figures.json());
    }
    Ok(Value::Object(all))
}

/// What attacks achieve where a model obeys them, through the whole bot.
fn measure_injection(folders: &[String]) -> Result<Value, String> {
    let mut rows = Vec::new();
    for folder in folders {
        rows.extend(injection::rows(folder)?);
    }
    let runtime = tokio::runtime::Runtime::new().map_err(|error| error.to_string())?;
    let figures = runtime.block_on(injection::run(&rows, |_, row| injection::Way::all(row)));
    for fault in &figures.faults {
        println!("{}", fault.chars().take(600).collect::<String>());
    }
    for (of, counts) in [("file", &figures.files), ("kind", &figures.kinds)] {
        for (name, (plays, faulty)) in counts {
            println!("{of} {name}: {faulty} of {plays} with a fault");
        }
    }
    println!(
        "{} messages, modals and files and {} questions to the model looked at in {:.1} s; faults: {}",
        figures.looked_at,
        figures.prompts,
        figures.took.as_secs_f64(),
        figures.faults.len()
    );
    Ok(figures.json())
}

/// Where a row names the type that it asks for, the value as that type.
fn to_its_type(
    row: &Value,
    input: &str,
    read: Result<(Value, Repaired), Unreadable>,
) -> Result<(Value, Repaired), Unreadable> {
    let Some(kind) = row["target"].as_str().and_then(schema::target) else {
        return read;
    };
    let declared = schema::Schema::read(row["schema"].as_str().unwrap_or_default());
    let (value, repaired) = match read {
        Ok(read) => read,
        // A text without an object may still name the choice that was asked for.
        Err(Unreadable::NoObject | Unreadable::Broken) if !input.contains(['{', '[']) => {
            (Value::String(input.to_owned()), Repaired::default())
        }
        Err(reason) => return Err(reason),
    };
    let cut = repaired.has(Repair::Truncated);
    match declared.coerce(&value, &kind, cut) {
        Some(value) => Ok((value, repaired)),
        None => Err(Unreadable::NothingUsable),
    }
}

/// Equal, where `null`, an empty text and an empty list all say that a value is missing.
fn same_but_for_nothing(a: &Value, b: &Value) -> bool {
    let nothing = |v: &Value| {
        v.is_null()
            || v.as_str().is_some_and(str::is_empty)
            || v.as_array().is_some_and(Vec::is_empty)
    };
    match (a, b) {
        (Value::Object(a), Value::Object(b)) => {
            a.len() == b.len()
                && a.iter().all(|(key, value)| {
                    b.get(key)
                        .is_some_and(|other| same_but_for_nothing(value, other))
                })
        }
        (a, b) => same(a, b) || (nothing(a) && nothing(b)),
    }
}

/// Equal, with `1` and `1.0` as one number.
fn same(a: &Value, b: &Value) -> bool {
    match (a, b) {
        (Value::Number(a), Value::Number(b)) => a == b || a.as_f64() == b.as_f64(),
        (Value::Array(a), Value::Array(b)) => {
            a.len() == b.len() && a.iter().zip(b).all(|(a, b)| same(a, b))
        }
        (Value::Object(a), Value::Object(b)) => {
            a.len() == b.len()
                && a.iter()
                    .all(|(key, value)| b.get(key).is_some_and(|other| same(value, other)))
        }
        (a, b) => a == b,
    }
}

fn class(reason: Unreadable) -> &'static str {
    match reason {
        Unreadable::Empty => "empty",
        Unreadable::TooLong { .. } => "too long",
        Unreadable::TooDeep => "too deep",
        Unreadable::Tangled => "tangled",
        Unreadable::OnlyThoughts => "only thoughts",
        Unreadable::NoObject => "no object",
        Unreadable::Broken => "broken",
        Unreadable::Ambiguous => "ambiguous",
        Unreadable::NothingUsable => "nothing usable",
        Unreadable::Refused => "refused",
        Unreadable::CutOff => "cut off",
    }
}

fn short(text: &str) -> String {
    let mut cut: String = text.chars().take(300).collect();
    if cut.len() < text.len() {
        cut.push('…');
    }
    cut
}

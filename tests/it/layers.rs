//! The layers: a folder may name only what stands before it, adapters never name each other, and
//! the pure folders can't do IO, read a clock, roll dice or see the environment.
//!
//! It reads the source without its comments and its tests: a test may go where it likes.

use std::path::{Path, PathBuf};

/// From the nouns to the program; those in one row (the adapters) never name each other.
const LAYERS: &[&[&str]] = &[
    &["incident"],
    &["response"],
    &["validation"],
    &["present"],
    &["config"],
    &["telemetry"],
    &["database"],
    &["remote"],
    &["memory", "llm", "discord", "store"],
    &["jobs"],
    &["app"],
    &["cli"],
    &["main"],
];
/// The first so many rows are pure.
const PURE_LAYERS: usize = 4;
/// What no pure folder may name: crates that do IO, and the standard library's own ways to it.
const IMPURE: &[&str] = &[
    "tokio::",
    "futures::",
    "reqwest::",
    "serenity::",
    "sqlx::",
    "riverqueue::",
    "governor::",
    "backon::",
    "clap::",
    "tracing::",
    "secrecy::",
    "std::fs",
    "std::net",
    "std::io",
    "std::env",
    "std::process",
    "std::thread",
    "Instant",
    "SystemTime",
    "::now(",
    "::system()",
    "RandomState",
    "rand::",
    "env!(",
    "println!",
    "eprintln!",
];

#[test]
fn each_folder_names_only_what_stands_before_it() {
    let mut faults = Vec::new();
    for (file, layer, source) in sources() {
        let Some(row) = row_of(&layer) else {
            faults.push(format!("{file}: {layer} has no place among the layers"));
            continue;
        };
        for named in named_layers(&source) {
            let allowed = named == layer || row_of(&named).is_some_and(|other| other < row);
            if !allowed {
                faults.push(format!("{file}: {layer} names {named}"));
            }
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

#[test]
fn the_pure_folders_do_no_io_and_read_no_clock() {
    let mut faults = Vec::new();
    for (file, layer, source) in sources() {
        if row_of(&layer).is_some_and(|row| row < PURE_LAYERS) {
            let found = IMPURE.iter().filter(|impure| has_word(&source, impure));
            faults.extend(found.map(|impure| format!("{file}: {impure}")));
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

#[test]
fn what_breaks_the_layers_is_found() {
    let source = "use crate::{\n    discord::Rest, store,\n};\nfn f() { crate::jobs::queue::run(); super::llm::ask() }";
    assert_eq!(named_layers(source), ["discord", "store", "jobs", "llm"]);
    assert_eq!(
        named_layers("use crate::response::{store, jobs}; use crate::memory_status;"),
        ["response"]
    );
    assert_eq!(
        production("a(); // b\n/// c\n#[cfg(test)]\nmod tests {\n}\n"),
        "a(); \n\n"
    );
    assert!(has_word("let a = Timestamp::now();", "::now(") && has_word("use std::fs;", "std::fs"));
    assert!(!has_word("operand::zero()", "rand::") && !has_word("Instantly", "Instant"));
}

/// Path, layer and production source of each file; `lib.rs` is the map and stands outside.
fn sources() -> Vec<(String, String, String)> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut files = Vec::new();
    collect(&root, &mut files);
    assert!(files.len() > 50, "only {} files were found", files.len());
    files
        .into_iter()
        .filter(|file| !file.ends_with("lib.rs") && !is_test(file))
        .map(|file| {
            let path = file
                .strip_prefix(&root)
                .expect("found below it")
                .to_string_lossy()
                .replace('\\', "/");
            let layer = path.split(['/', '.']).next().unwrap_or_default().to_owned();
            (
                path,
                layer,
                production(&std::fs::read_to_string(&file).expect("source is text")),
            )
        })
        .collect()
}

/// A file that its folder declares for tests only.
fn is_test(file: &Path) -> bool {
    let declared = format!(
        "mod {};",
        file.file_stem().unwrap_or_default().to_string_lossy()
    );
    let parent = std::fs::read_to_string(file.with_file_name("mod.rs")).unwrap_or_default();
    parent.split("#[cfg(test)]\n").skip(1).any(|after| {
        after
            .lines()
            .next()
            .is_some_and(|line| line.ends_with(&declared))
    })
}

/// A source without its comments, and without the tests at its end.
fn production(source: &str) -> String {
    let before_tests = source
        .split("#[cfg(test)]\nmod tests {")
        .next()
        .unwrap_or_default();
    let without_comments = before_tests
        .lines()
        .map(|line| line.split("//").next().unwrap_or_default());
    without_comments.map(|line| format!("{line}\n")).collect()
}

/// The layers that a source names, by whatever path, groups (`use crate::{a, b::{c, d}}`) included.
fn named_layers(source: &str) -> Vec<String> {
    let mut named = Vec::new();
    for start in ["crate::", "super::", "precedent::"] {
        for after in source.split(start).skip(1) {
            let mut depth = 0;
            let mut word = String::new();
            // Whether the word that begins is the first of its path.
            let mut first = true;
            for c in after.chars() {
                match c {
                    c if c.is_alphanumeric() || c == '_' => word.push(c),
                    _ => {
                        if first && !word.is_empty() && depth <= 1 {
                            named.push(std::mem::take(&mut word));
                        }
                        word.clear();
                        match c {
                            '{' => (depth, first) = (depth + 1, depth == 0),
                            '}' => (depth, first) = (depth - 1, false),
                            ',' => first = depth == 1,
                            ' ' | '\n' => {}
                            _ => first = false,
                        }
                        if depth == 0 {
                            break;
                        }
                    }
                }
            }
        }
    }
    named.retain(|name| row_of(name).is_some());
    named
}

fn row_of(layer: &str) -> Option<usize> {
    LAYERS.iter().position(|row| row.contains(&layer))
}

/// Whether a source has the text, not as a part of a longer name.
fn has_word(source: &str, text: &str) -> bool {
    let in_name = |c: char| c.is_alphanumeric() || c == '_';
    source.match_indices(text).any(|(at, _)| {
        let before = source.get(..at).and_then(|text| text.chars().next_back());
        let after = source
            .get(at + text.len()..)
            .and_then(|text| text.chars().next());
        let begins_inside = text.starts_with(in_name) && before.is_some_and(in_name);
        let ends_inside = text.ends_with(in_name) && after.is_some_and(in_name);
        !begins_inside && !ends_inside
    })
}

fn collect(folder: &Path, files: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).expect("a folder of sources") {
        let path = entry.expect("an entry").path();
        if path.is_dir() {
            collect(&path, files);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            files.push(path);
        }
    }
}

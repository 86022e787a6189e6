//! The documents say what is so: the README's configuration, commands, scores and links, and what
//! no file of the repository may name.

use precedent::config::{DEFAULT_DATABASE_URL, DEFAULT_LLM_BASE_URL, DEFAULT_LLM_MODEL, Limits};
use precedent::validation::score::{Numbers, score};
use serde_json::Value;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// Variables of debug builds; the README tells of them under *Development*.
const FOR_TESTS: &[&str] = &["PRECEDENT_PAUSE"];

#[test]
fn every_variable_is_in_the_configuration_table_and_the_other_way_round() {
    let source = text("src/config.rs");
    let source = source
        .split("#[cfg(test)]\nmod tests")
        .next()
        .unwrap_or_default();
    let mut read: BTreeSet<String> = quoted(source)
        .filter(|word| is_variable(word))
        .map(str::to_owned)
        .collect();
    assert!(read.len() > 10, "only {} variables were found", read.len());
    for after in source.split("secret(\"").skip(1) {
        let name = after.split('"').next().unwrap_or_default();
        read.insert(format!("{name}_FILE"));
    }
    read.retain(|name| !FOR_TESTS.contains(&name.as_str()));
    let readme = text("README.md");
    let table = section(&readme, "## Configuration");
    let told: BTreeSet<String> = rows(table)
        .flat_map(|row| row.split('|').nth(1).unwrap_or_default().split('`'))
        .filter(|word| is_variable(word))
        .map(str::to_owned)
        .collect();
    assert_eq!(read, told, "left: read by the code; right: in the README");
    for name in FOR_TESTS {
        assert!(readme.contains(name), "{name} is nowhere in the README");
    }
}

#[test]
fn the_defaults_in_the_configuration_table_are_those_of_the_code() {
    let readme = text("README.md");
    let limits = Limits::default();
    for (name, default) in [
        ("DATABASE_URL", DEFAULT_DATABASE_URL.to_owned()),
        ("LLM_BASE_URL", DEFAULT_LLM_BASE_URL.to_owned()),
        ("LLM_MODEL", DEFAULT_LLM_MODEL.to_owned()),
        (
            "LIMIT_ANALYSES_PER_PERSON_HOUR",
            limits.analyses_per_person_hour.to_string(),
        ),
        (
            "LIMIT_ANALYSES_PER_GUILD_HOUR",
            limits.analyses_per_guild_hour.to_string(),
        ),
        (
            "LIMIT_MODEL_CALLS_PER_GUILD_HOUR",
            limits.model_calls_per_guild_hour.to_string(),
        ),
    ] {
        let row = format!("| `{name}` | `{default}` |");
        assert!(readme.contains(&row), "the table has no {row}");
    }
}

#[test]
fn every_command_is_in_the_readme_and_no_other() {
    let commands: Value =
        serde_json::from_str(&text("commands.json")).expect("commands.json is JSON");
    let mut declared = BTreeSet::new();
    for command in commands.as_array().expect("a list") {
        let name = command["name"].as_str().expect("a name");
        let inner: Vec<&str> = command["options"]
            .as_array()
            .into_iter()
            .flatten()
            .filter(|option| option["type"] == 1)
            .filter_map(|option| option["name"].as_str())
            .collect();
        match (command["type"].as_u64(), inner.as_slice()) {
            (Some(3), _) => drop(declared.insert(name.to_owned())),
            (_, []) => drop(declared.insert(format!("/{name}"))),
            (_, inner) => declared.extend(inner.iter().map(|inner| format!("/{name} {inner}"))),
        }
    }
    let readme = text("README.md");
    let told: BTreeSet<String> = rows(section(&readme, "## Commands"))
        .filter_map(|row| row.split('|').nth(1))
        .flat_map(|cell| cell.split(','))
        .map(|name| name.trim().trim_matches(['`', '*']).to_owned())
        .filter(|name| !name.is_empty() && name != "command" && !name.starts_with('-'))
        .collect();
    assert_eq!(declared, told, "left: commands.json; right: the README");
}

#[test]
fn the_readme_says_of_each_command_who_may_as_the_code_does() {
    use precedent::incident::rights::{Right, right_for_command};
    use precedent::incident::{Deed, Locale, rights};
    use precedent::present::say;
    let readme = text("README.md");
    let all = [Right::Respond, Right::Administer, Right::Own];
    for row in rows(section(&readme, "## Commands")) {
        let mut cells = row.split('|').skip(1);
        let (Some(names), Some(may)) = (cells.next(), cells.nth(1)) else {
            continue;
        };
        let names = names
            .split(',')
            .map(|name| name.trim().trim_matches(['`', '*', '/']).to_owned());
        for name in
            names.filter(|name| !name.is_empty() && name != "command" && !name.starts_with('-'))
        {
            let right = match name.as_str() {
                "resolve" => rights::right_for(Deed::ResolveForOthers),
                "incident set" => rights::right_for(Deed::SetState),
                "Remember as incident" => rights::right_for(Deed::RememberForOthers),
                name => right_for_command(name),
            };
            let named = |right| may.contains(say::right(Locale::En, right));
            match right {
                Right::Write => assert!(!all.into_iter().any(named), "{name}: {may}"),
                // What the permission alone opens says nothing of a role.
                Right::Own => assert!(named(right) && !may.contains("role"), "{name}: {may}"),
                right => assert!(named(right), "{name}: {may}"),
            }
        }
    }
    for name in precedent::discord::COMMANDS {
        assert!(
            rights::WHO_MAY
                .iter()
                .any(|(deed, _)| *deed == Deed::Command(name)),
            "{name} is not in the table of who may do what"
        );
    }
}

#[test]
fn the_two_commands_of_the_readme_are_those_that_ci_runs() {
    let readme = text("README.md");
    let ci = text(".ci/run");
    let told: Vec<&str> = section(&readme, "## Try it")
        .split("```sh\n")
        .skip(1)
        .filter_map(|block| block.split("\n```").next())
        .collect();
    assert_eq!(
        told,
        ["cargo run --example playground", "cargo test --workspace"]
    );
    for command in told {
        assert!(ci.contains(command), ".ci/run does not run {command}");
    }
    for package in ["pkg-config", "libssl-dev", "gcc"] {
        assert!(
            section(&readme, "## Try it").contains(package) && ci.contains(package),
            "{package}"
        );
    }
}

#[test]
fn the_worked_examples_of_the_score_are_what_the_code_gives() {
    let readme = text("README.md");
    let told = section(&readme, "## How the score is made");
    let numbers = |model, proven, refuted, newest_failed| Numbers {
        model: Some(model),
        proven,
        refuted,
        newest_failed,
        ..Numbers::default()
    };
    for (numbers, before) in [
        (numbers(100, 3, 1, false), "gives **"),
        (numbers(100, 3, 1, true), "it would be **"),
        (numbers(100, 0, 0, false), "proves the fix: **"),
        (numbers(82, 2, 0, false), "held twice: **"),
    ] {
        let given = score(&numbers).0.expect("scored");
        assert!(
            told.contains(&format!("{before}{given}**")),
            "{before}{given}**"
        );
    }
}

#[test]
fn the_links_lead_to_files() {
    for document in ["README.md", "CHANGELOG.md", "SECURITY.md"] {
        for target in text(document)
            .split("](")
            .skip(1)
            .filter_map(|after| after.split(')').next())
        {
            let outside = target.starts_with("https://") || target.starts_with('#');
            assert!(
                outside || root().join(target).exists(),
                "{document} links to {target}"
            );
        }
    }
}

#[test]
fn every_test_that_the_threat_model_names_is_there() {
    let model = text("docs/threat-model.md");
    let mut sources = String::new();
    for path in tracked() {
        if path.extension().is_some_and(|extension| extension == "rs") {
            sources.push_str(&std::fs::read_to_string(root().join(path)).unwrap_or_default());
        }
    }
    let rows = model.lines().filter(|line| line.starts_with("| "));
    let mut named = 0;
    for row in rows.filter(|row| !row.contains("| what may go wrong |")) {
        let shown_by = row.trim_end_matches(" |").rsplit(" | ").next();
        let tests: Vec<&str> = shown_by
            .unwrap_or_default()
            .split('`')
            .skip(1)
            .step_by(2)
            .collect();
        assert!(!tests.is_empty(), "no test shows it: {row}");
        for test in tests {
            named += 1;
            assert!(sources.contains(&format!("fn {test}")), "no test {test}");
        }
    }
    assert!(named > 40, "{named}");
}

#[test]
fn no_file_names_a_package_registry_or_a_folder_of_some_machine() {
    // Put together here, so that this file does not name them.
    let registries = [
        ["crates", "io"],
        ["npmjs", "org"],
        ["npmjs", "com"],
        ["pypi", "org"],
        ["pythonhosted", "org"],
        ["debian", "org"],
    ];
    let forbidden: Vec<String> = registries
        .iter()
        .map(|host| host.join("."))
        .chain(["work", "root", "Users"].map(|folder| format!("/{folder}/")))
        .collect();
    let mut faults = Vec::new();
    for path in tracked() {
        // The lock file names where each crate comes from; it is cargo's.
        if path.ends_with("Cargo.lock") {
            continue;
        }
        let Ok(text) = std::fs::read_to_string(root().join(&path)) else {
            continue;
        };
        for (number, line) in text.lines().enumerate() {
            let found = forbidden.iter().filter(|word| line.contains(word.as_str()));
            faults.extend(found.map(|word| format!("{}:{}: {word}", path.display(), number + 1)));
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn text(path: &str) -> String {
    std::fs::read_to_string(root().join(path)).unwrap_or_else(|error| panic!("{path}: {error}"))
}

/// From a heading to the next one of its level.
fn section<'a>(text: &'a str, heading: &str) -> &'a str {
    let (_, after) = text
        .split_once(&format!("\n{heading}\n"))
        .unwrap_or_else(|| panic!("no {heading}"));
    after.split("\n## ").next().unwrap_or_default()
}

fn rows(section: &str) -> impl Iterator<Item = &str> {
    section.lines().filter(|line| line.starts_with('|'))
}

fn quoted(source: &str) -> impl Iterator<Item = &str> {
    source.split('"').skip(1).step_by(2)
}

fn is_variable(word: &str) -> bool {
    word.len() > 3
        && word.contains('_')
        && word
            .chars()
            .all(|c| c.is_ascii_uppercase() || c.is_ascii_digit() || c == '_')
}

/// The files of the repository, by git; in an unpacked archive all that are there.
fn tracked() -> Vec<PathBuf> {
    let listed = std::process::Command::new("git")
        .args(["ls-files", "-z"])
        .current_dir(root())
        .output();
    let files: Vec<PathBuf> = match listed {
        Ok(output) if output.status.success() && !output.stdout.is_empty() => {
            String::from_utf8_lossy(&output.stdout)
                .split('\0')
                .filter(|path| !path.is_empty())
                .map(PathBuf::from)
                .collect()
        }
        _ => {
            let mut files = Vec::new();
            walk(root(), &mut files);
            files
        }
    };
    assert!(
        files.iter().any(|path| path.ends_with("README.md")),
        "the files were not found"
    );
    files
}

fn walk(folder: &Path, files: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        if path.is_dir() && !path.ends_with("target") && !path.ends_with(".git") {
            walk(&path, files);
        } else if path.is_file() {
            files.extend(path.strip_prefix(root()).map(Path::to_path_buf));
        }
    }
}

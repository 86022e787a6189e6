//! Redaction on labelled values and on logs: recall by source and by kind, what is struck that is no
//! secret, and speed.
//!
//!     cargo run --release --example evaluate -- secrets DIR [LOGS]
//!
//! DIR holds `*.jsonl` with `text_b64`, `label` (`positive`, `negative`) and `secret_b64` where the
//! secret is only a part. LOGS (`*.log`; without it the folder `logs` beside DIR) are taken as free of
//! secrets: all that is struck in them counts as wrong, by line.

use base64::prelude::{BASE64_STANDARD, Engine as _};
use precedent::response::redact::{Key, redact};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// Rounds over each log; the fastest counts, the others are disturbed by what else runs.
const ROUNDS: usize = 5;

#[derive(Default)]
struct Count {
    struck: u32,
    of: u32,
}

impl Count {
    fn percent(&self) -> f64 {
        share(self.struck, self.of)
    }
}

fn share(part: u32, whole: u32) -> f64 {
    (f64::from(part) * 1000.0 / f64::from(whole.max(1))).round() / 10.0
}

pub fn measure(folders: &[String]) -> Result<Value, String> {
    let folder = Path::new(folders.first().map_or("", String::as_str));
    let key = Key::new([1; 32]);
    let mut sources = serde_json::Map::new();
    let mut kinds: BTreeMap<String, Count> = BTreeMap::new();
    let (mut all, mut gitleaks) = (Count::default(), Count::default());
    for file in files(folder, "jsonl")? {
        let name = file
            .file_stem()
            .unwrap_or_default()
            .to_string_lossy()
            .into_owned();
        let (mut positives, mut negatives) = (Count::default(), Count::default());
        for row in super::rows(&file.to_string_lossy())? {
            let text = bytes(&row, "text_b64")?;
            let secret = bytes(&row, "secret_b64").ok();
            let rule = row["rule"].as_str().unwrap_or("?");
            let redacted = redact(&text, &key);
            let struck = !redacted.struck.is_empty();
            if row["label"] == "negative" {
                negatives.of += 1;
                negatives.struck += u32::from(struck);
                if struck {
                    println!("  struck  {name} {rule}: {}", shown(&redacted.text));
                }
                continue;
            }
            let gone = match &secret {
                Some(secret) => !redacted.text.contains(secret.as_str()),
                None => struck,
            };
            let kind = kinds.entry(rule.to_owned()).or_default();
            for count in [&mut positives, kind, &mut all] {
                count.of += 1;
                count.struck += u32::from(gone);
            }
            if name.starts_with("gitleaks") {
                gitleaks.of += 1;
                gitleaks.struck += u32::from(gone);
            }
            if !gone {
                println!("  missed  {name} {rule}: {}", shown(&text));
            }
        }
        println!(
            "{name}: struck {} of {} ({} %), of the negatives {} of {}",
            positives.struck,
            positives.of,
            positives.percent(),
            negatives.struck,
            negatives.of
        );
        sources.insert(
            name,
            json!({
                "struck": positives.struck, "of": positives.of, "recall_percent": positives.percent(),
                "negatives_struck": negatives.struck, "negatives": negatives.of,
            }),
        );
    }
    println!("kinds with misses:");
    for (kind, count) in kinds.iter().filter(|(_, count)| count.struck < count.of) {
        println!("  {kind}: {} of {}", count.struck, count.of);
    }
    let logs = match folders.get(1) {
        Some(logs) => PathBuf::from(logs),
        None => folder.with_file_name("logs"),
    };
    let logs = measure_logs(&logs, &key)?;
    println!(
        "all: {} of {} ({} %); gitleaks: {} of {} ({} %)",
        all.struck,
        all.of,
        all.percent(),
        gitleaks.struck,
        gitleaks.of,
        gitleaks.percent()
    );
    Ok(json!({
        "recall_percent": all.percent(), "struck": all.struck, "positives": all.of,
        "gitleaks_recall_percent": gitleaks.percent(),
        "sources": sources,
        "kinds": kinds
            .iter()
            .map(|(kind, count)| (kind.clone(), json!([count.struck, count.of])))
            .collect::<serde_json::Map<_, _>>(),
        "logs": logs,
    }))
}

fn measure_logs(folder: &Path, key: &Key) -> Result<Value, String> {
    let (mut lines, mut changed, mut bytes, mut unread) = (0_u32, 0_u32, 0_usize, 0_u32);
    let mut took = Duration::ZERO;
    for file in files(folder, "log")? {
        let log = std::fs::read(&file).map_err(|error| format!("{}: {error}", file.display()))?;
        let log = String::from_utf8_lossy(&log);
        let mut fastest = Duration::MAX;
        let mut redacted = redact(&log, key);
        for _ in 0..ROUNDS {
            let started = Instant::now();
            redacted = redact(&log, key);
            fastest = fastest.min(started.elapsed());
        }
        took += fastest;
        bytes += log.len();
        unread += redacted.unread;
        for (line, other) in log.lines().zip(redacted.text.lines()) {
            lines += 1;
            if line != other {
                changed += 1;
                println!(
                    "  struck  {}: {}",
                    file.file_name().unwrap_or_default().to_string_lossy(),
                    shown(other)
                );
            }
        }
    }
    let per_thousand = (f64::from(changed) * 100_000.0 / f64::from(lines.max(1))).round() / 100.0;
    let speed = (bytes as f64 / took.as_secs_f64().max(1e-9) / 1e6).round();
    println!(
        "logs: {changed} of {lines} lines changed ({per_thousand} of 1,000), {speed} MB/s over {bytes} bytes"
    );
    Ok(json!({
        "lines": lines, "lines_changed": changed, "changed_per_thousand": per_thousand,
        "megabytes_per_second": speed, "bytes": bytes, "unread": unread,
    }))
}

fn files(folder: &Path, ending: &str) -> Result<Vec<PathBuf>, String> {
    let mut files: Vec<PathBuf> = std::fs::read_dir(folder)
        .map_err(|error| format!("{}: {error}", folder.display()))?
        .filter_map(|entry| Some(entry.ok()?.path()))
        .filter(|path| path.extension().is_some_and(|end| end == ending))
        .collect();
    files.sort();
    if files.is_empty() {
        return Err(format!("no *.{ending} in {}", folder.display()));
    }
    Ok(files)
}

fn bytes(row: &Value, field: &str) -> Result<String, String> {
    let text = row[field]
        .as_str()
        .ok_or_else(|| format!("no {field}: {row}"))?;
    let bytes = BASE64_STANDARD
        .decode(text)
        .map_err(|_| format!("{field} is no base64"))?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

fn shown(text: &str) -> String {
    super::short(&json!(text).to_string())
}

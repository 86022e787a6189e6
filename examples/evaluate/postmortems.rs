//! How much of written incidents the reader of postmortems gets right.
//!
//! A row has `text` and, where people wrote them down, `title`, `service`, `date`, `root_cause` and
//! `fix`. The reader is given the title as a heading above the text, and nothing else of the row.
//!
//! *Right* is: for a cause or fix, at least half of the field's meaningful words are in what was
//! read, and at least a third of what was read is in the field; for a service, all words of one
//! name of the field's list are in what was read or the other way round (the part before a colon
//! is the company's name and counts apart); for a date, the same day or the one beside it (zones).
//! *Stated* are the rows whose field stands in the text at all: four fifths of its words do.
//! *Invented* is a cause or fix of which less than nine tenths of the words stand in the text.

use precedent::incident::Registry;
use precedent::incident::words::meaningful;
use precedent::response::postmortem::{self, Origin};
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::time::Instant;

#[derive(Default)]
struct Figures {
    of: usize,
    read: usize,
    right: usize,
    stated: usize,
    right_of_stated: usize,
}

impl Figures {
    fn json(&self) -> Value {
        json!({ "of": self.of, "read": self.read, "right": self.right, "stated": self.stated, "right_of_stated": self.right_of_stated })
    }
}

fn share(of: &BTreeSet<String>, within: &BTreeSet<String>) -> f64 {
    if of.is_empty() {
        return 0.0;
    }
    of.intersection(within).count() as f64 / of.len() as f64
}

fn same_text(field: &str, read: &str) -> bool {
    let (field, read) = (meaningful(field), meaningful(read));
    share(&field, &read) >= 0.5 && share(&read, &field) >= 1.0 / 3.0
}

fn same_service(field: &str, read: &str) -> bool {
    let read = meaningful(read);
    let (company, names) = field.split_once(':').unwrap_or(("", field));
    let company = meaningful(company);
    names.split([',', '/']).chain([names]).any(|name| {
        let name: BTreeSet<String> = meaningful(name).difference(&company).cloned().collect();
        let read: BTreeSet<String> = read.difference(&company).cloned().collect();
        !name.is_empty()
            && !read.is_empty()
            && (share(&name, &read) >= 1.0 || share(&read, &name) >= 1.0)
    })
}

/// Prints a finding; who reads only the first ones may close the pipe.
macro_rules! say {
    ($($text:tt)*) => {{
        use std::io::Write as _;
        let _ = writeln!(std::io::stdout(), $($text)*);
    }};
}

pub fn measure(files: &[String]) -> Result<Value, String> {
    let mut all: BTreeMap<&str, Figures> = BTreeMap::new();
    let mut refused: BTreeMap<String, usize> = BTreeMap::new();
    let (mut rows, mut invented, mut held) = (0, 0, 0);
    let mut slowest = 0.0_f64;
    let shown = std::env::var("SHOW").unwrap_or_default();
    for file in files {
        for row in super::rows(file)? {
            rows += 1;
            let field = |name: &str| row[name].as_str().unwrap_or_default().trim().to_owned();
            let text = format!("# {}\n\n{}", field("title"), field("text"));
            let text = if field("text").starts_with("# ") {
                field("text")
            } else {
                text
            };
            let registry = Registry::default();
            let origin = Origin {
                name: "row.md",
                source: "row",
                registry: &registry,
            };
            let began = Instant::now();
            let read = postmortem::read(&text, &origin);
            slowest = slowest.max(began.elapsed().as_secs_f64() * 1000.0);
            let past = match read {
                Ok(past) => past,
                Err(reason) => {
                    *refused.entry(reason.to_string()).or_default() += 1;
                    for name in ["service", "root_cause", "fix", "date"] {
                        if !field(name).is_empty() {
                            all.entry(name).or_default().of += 1;
                        }
                    }
                    if shown == "refused" {
                        say!("{} {}: {reason}", field("id"), field("title"));
                    }
                    continue;
                }
            };
            held +=
                usize::from(past.outcome().standing() == precedent::incident::Standing::Verified);
            let fixes: Vec<&str> = past
                .attempts
                .iter()
                .map(|attempt| attempt.fix.as_str())
                .collect();
            let fix = fixes.join(" ");
            let stands = meaningful(&text);
            for said in [&past.root_cause, &fix] {
                if !said.is_empty() && share(&meaningful(said), &stands) < 0.9 {
                    invented += 1;
                }
            }
            let day = past
                .started_at
                .map(|at| at.to_string().chars().take(10).collect::<String>())
                .unwrap_or_default();
            let near = |written: &str| {
                let (Ok(one), Ok(other)) = (
                    written.parse::<jiff::civil::Date>(),
                    day.parse::<jiff::civil::Date>(),
                ) else {
                    return false;
                };
                (one - other).get_days().abs() <= 1
            };
            let service = past.service.clone().unwrap_or_default();
            let judged = [
                (
                    "service",
                    &service,
                    same_service(&field("service"), &service),
                ),
                (
                    "root_cause",
                    &past.root_cause,
                    same_text(&field("root_cause"), &past.root_cause),
                ),
                ("fix", &fix, same_text(&field("fix"), &fix)),
                ("date", &day, near(&field("date"))),
            ];
            for (name, read, right) in judged {
                if field(name).is_empty() {
                    continue;
                }
                let figures = all.entry(name).or_default();
                figures.of += 1;
                figures.read += usize::from(!read.is_empty());
                figures.right += usize::from(right);
                if share(&meaningful(&field(name)), &stands) >= 0.8 {
                    figures.stated += 1;
                    figures.right_of_stated += usize::from(right);
                }
                if shown == name && !right {
                    say!(
                        "{} {}\n   field: {}\n   read:  {read}",
                        field("id"),
                        field("title"),
                        field(name)
                    );
                }
            }
        }
    }
    for (name, figures) in &all {
        say!(
            "{name}: right {} of {} ({} read); of the {} that stand in the text {}",
            figures.right,
            figures.of,
            figures.read,
            figures.stated,
            figures.right_of_stated
        );
    }
    say!("refused: {refused:?}");
    Ok(json!({
        "rows": rows,
        "refused": refused,
        "service": all.get("service").map(Figures::json),
        "root_cause": all.get("root_cause").map(Figures::json),
        "fix": all.get("fix").map(Figures::json),
        "date": all.get("date").map(Figures::json),
        "held": held,
        "invented": invented,
        "slowest_ms": (slowest * 10.0).round() / 10.0,
    }))
}

//! How alerts in Discord messages are read, on labelled messages.
//!
//!     cargo run --release --example evaluate -- alerts DIR
//!
//! DIR holds `discord_*.jsonl`: a row has `payload` (the message), and what is expected of it:
//! `status`, `services`, and where it is known `severity` and `n_alerts`. All services that rows
//! expect are registered. Services that stand nowhere in a message (Discord's limits cut it) are
//! counted apart: no reading finds them.

use precedent::incident::alert::AlertStatus;
use precedent::incident::post::{Embed, Post, Writer};
use precedent::incident::service::Registry;
use precedent::response::alerts;
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::path::Path;
use std::time::{Duration, Instant};

#[derive(Default)]
struct Count {
    right: u32,
    of: u32,
}

impl Count {
    fn add(&mut self, right: bool) {
        self.of += 1;
        self.right += u32::from(right);
    }

    fn join(&mut self, other: &Self) {
        self.of += other.of;
        self.right += other.right;
    }

    fn json(&self) -> Value {
        let percent = f64::from(self.right) * 100.0 / f64::from(self.of.max(1));
        json!({"right": self.right, "of": self.of, "percent": (percent * 10.0).round() / 10.0})
    }
}

#[derive(Default)]
struct Figures {
    status: Count,
    severity: Count,
    /// The set of services as labelled.
    services: Count,
    /// The set of the labelled services that the message names.
    readable: Count,
    count: Count,
    /// The same with an empty registry: names as they are written.
    unregistered: Count,
}

impl Figures {
    fn agreement(&self) -> Count {
        let mut all = Count::default();
        for count in [&self.status, &self.severity, &self.readable] {
            all.join(count);
        }
        all
    }

    fn json(&self) -> Value {
        json!({
            "status": self.status.json(), "severity": self.severity.json(),
            "services_as_labelled": self.services.json(),
            "services_named_in_the_message": self.readable.json(),
            "services_with_an_empty_registry": self.unregistered.json(),
            "number_of_alerts": self.count.json(), "agreement": self.agreement().json(),
        })
    }
}

pub fn measure(folders: &[String]) -> Result<Value, String> {
    let folder = Path::new(folders.first().map_or("", String::as_str));
    let mut files: Vec<_> = std::fs::read_dir(folder)
        .map_err(|error| format!("{}: {error}", folder.display()))?
        .filter_map(|entry| Some(entry.ok()?.path()))
        .filter(|path| {
            let name = path.file_name().unwrap_or_default().to_string_lossy();
            name.starts_with("discord_") && name.ends_with(".jsonl")
        })
        .collect();
    files.sort();
    let mut all = Vec::new();
    for file in files {
        let name = file
            .file_stem()
            .unwrap_or_default()
            .to_string_lossy()
            .into_owned();
        all.push((name, super::rows(&file.to_string_lossy())?));
    }
    if all.is_empty() {
        return Err(format!("no discord_*.jsonl in {}", folder.display()));
    }
    let services: BTreeSet<String> = all
        .iter()
        .flat_map(|(_, rows)| rows)
        .flat_map(services_of)
        .collect();
    let registry = Registry::from_names(services);
    let (messages, took) = speed(&all, &registry);
    let mut total = Figures::default();
    let mut by_file = serde_json::Map::new();
    for (name, rows) in &all {
        let mut figures = Figures::default();
        for row in rows {
            let post = post_of(&row["payload"]);
            one(row, &post, &registry, &mut figures);
        }
        println!("{name}: {}", figures.json());
        by_file.insert(name.clone(), figures.json());
        for (sum, part) in [
            (&mut total.status, &figures.status),
            (&mut total.severity, &figures.severity),
            (&mut total.services, &figures.services),
            (&mut total.readable, &figures.readable),
            (&mut total.count, &figures.count),
            (&mut total.unregistered, &figures.unregistered),
        ] {
            sum.join(part);
        }
    }
    Ok(json!({
        "files": by_file, "all": total.json(), "messages": messages,
        "us_each": took.as_micros() as u64 / u64::from(messages.max(1)),
    }))
}

/// How long all messages take.
fn speed(all: &[(String, Vec<Value>)], registry: &Registry) -> (u32, Duration) {
    let rows = all.iter().flat_map(|(_, rows)| rows);
    let posts: Vec<Post> = rows.map(|row| post_of(&row["payload"])).collect();
    let started = Instant::now();
    let read = posts
        .iter()
        .filter(|post| alerts::read(post, registry).is_ok());
    (
        u32::try_from(read.count()).unwrap_or(u32::MAX),
        started.elapsed(),
    )
}

fn one(row: &Value, post: &Post, registry: &Registry, figures: &mut Figures) {
    let id = row["id"].as_str().unwrap_or("?");
    let reading = match alerts::read(post, registry) {
        Ok(reading) => Some(reading),
        Err(reason) => {
            println!("  miss  {id}: not read, {reason}");
            None
        }
    };
    let alerts = reading.as_ref().map_or(&[][..], |reading| &reading.alerts);
    let check = |count: &mut Count, what: &str, read: String, wanted: String| {
        count.add(read == wanted);
        if read != wanted {
            println!("  miss  {id}: {what}: read {read}, labelled {wanted}");
        }
    };
    let status = match reading.as_ref().map(alerts::Reading::status) {
        Some(AlertStatus::Firing) => "firing",
        Some(AlertStatus::Resolved) => "resolved",
        None => "none",
    };
    check(
        &mut figures.status,
        "status",
        status.to_owned(),
        text(&row["status"]),
    );
    if row["severity"].is_string() {
        let gravest = alerts.iter().max_by_key(|alert| alert.severity);
        let level = gravest
            .and_then(|alert| alert.level.clone())
            .unwrap_or_default();
        check(
            &mut figures.severity,
            "severity",
            level,
            text(&row["severity"]),
        );
    }
    let read: BTreeSet<String> = alerts
        .iter()
        .filter_map(|alert| alert.service_name().map(str::to_owned))
        .collect();
    let labelled = services_of(row);
    let message = row["payload"].to_string();
    let named: BTreeSet<String> = labelled
        .iter()
        .filter(|service| message.contains(service.as_str()))
        .cloned()
        .collect();
    let shown = |set: &BTreeSet<String>| set.iter().cloned().collect::<Vec<_>>().join(" ");
    figures.services.add(read == labelled);
    check(
        &mut figures.readable,
        "services",
        shown(&read),
        shown(&named),
    );
    let unregistered: BTreeSet<String> = alerts::read(post, &Registry::default())
        .iter()
        .flat_map(|reading| &reading.alerts)
        .filter_map(|alert| alert.service_name().map(str::to_owned))
        .collect();
    let what = "services with an empty registry";
    check(
        &mut figures.unregistered,
        what,
        shown(&unregistered),
        shown(&named),
    );
    if labelled != named {
        let cut: BTreeSet<String> = labelled.difference(&named).cloned().collect();
        println!("  cut   {id}: not in the message: {}", shown(&cut));
    }
    if let Some(wanted) = row["n_alerts"].as_u64() {
        let count = reading.as_ref().map_or(0, alerts::Reading::count);
        check(
            &mut figures.count,
            "number of alerts",
            count.to_string(),
            wanted.to_string(),
        );
    }
}

fn services_of(row: &Value) -> BTreeSet<String> {
    let services = row["services"].as_array().map_or(&[][..], Vec::as_slice);
    services.iter().map(text).collect()
}

/// A message as a webhook sends it.
fn post_of(payload: &Value) -> Post {
    let embeds = payload["embeds"].as_array().map_or(&[][..], Vec::as_slice);
    Post {
        by: Writer::Webhook,
        author: text(&payload["username"]),
        content: text(&payload["content"]),
        embeds: embeds.iter().map(embed_of).collect(),
        at_ms: 0,
    }
}

fn embed_of(embed: &Value) -> Embed {
    let fields = embed["fields"].as_array().map_or(&[][..], Vec::as_slice);
    Embed {
        author: text(&embed["author"]["name"]),
        title: text(&embed["title"]),
        url: text(&embed["url"]),
        description: text(&embed["description"]),
        fields: fields
            .iter()
            .map(|field| (text(&field["name"]), text(&field["value"])))
            .collect(),
        footer: text(&embed["footer"]["text"]),
        colour: embed["color"]
            .as_u64()
            .and_then(|colour| u32::try_from(colour).ok()),
        at_ms: None,
    }
}

fn text(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}

//! Rows of figures, percentiles, the table and the last line.

use serde_json::{Map, Value, json};
use std::time::Duration;

/// One figure.
pub struct Row {
    name: &'static str,
    key: String,
    what: String,
    value: f64,
    unit: &'static str,
    goal: Option<f64>,
}

impl Row {
    /// A figure; `key` names it in the last line.
    pub fn new(key: &str, what: &str, value: f64, unit: &'static str) -> Self {
        Self {
            name: "",
            key: key.to_owned(),
            what: what.to_owned(),
            value,
            unit,
            goal: None,
        }
    }

    /// A time.
    pub fn millis(key: &str, what: &str, time: Duration) -> Self {
        Self::new(key, what, time.as_secs_f64() * 1000.0, "ms")
    }

    /// Not above this.
    pub fn goal(mut self, goal: f64) -> Self {
        self.goal = Some(goal);
        self
    }

    /// Belongs to this name.
    pub fn of(mut self, name: &'static str) -> Self {
        self.name = name;
        self
    }
}

/// Times of one kind.
#[derive(Clone, Debug, Default)]
pub struct Times(Vec<Duration>);

impl Times {
    /// One more.
    pub fn add(&mut self, time: Duration) {
        self.0.push(time);
    }

    /// By nearest rank; 0 to 100.
    pub fn percentile(&self, percent: f64) -> Duration {
        let mut sorted = self.0.clone();
        sorted.sort();
        let rank = (percent / 100.0 * sorted.len() as f64).ceil() as usize;
        sorted
            .get(rank.saturating_sub(1))
            .copied()
            .unwrap_or_default()
    }

    /// How many are longer.
    pub fn over(&self, limit: Duration) -> usize {
        self.0.iter().filter(|time| **time > limit).count()
    }
}

/// One by the other.
pub fn ratio(one: Duration, other: Duration) -> f64 {
    one.as_secs_f64() / other.as_secs_f64().max(f64::EPSILON)
}

/// The machine's load now: over one, five and fifteen minutes.
pub fn load() -> String {
    std::fs::read_to_string("/proc/loadavg").map_or_else(
        |_| "unknown".to_owned(),
        |text| {
            text.split_whitespace()
                .take(3)
                .collect::<Vec<_>>()
                .join(" ")
        },
    )
}

/// `debug` figures say nothing about the bot.
pub const fn profile() -> &'static str {
    if cfg!(debug_assertions) {
        "debug"
    } else {
        "release"
    }
}

/// The table, then the last line.
pub fn print(rows: &[Row], load_before: &str, load_after: &str) {
    println!("| figure | what | measured | goal | |\n|---|---|---:|---:|---|");
    let mut all = Map::new();
    all.insert("profile".into(), json!(profile()));
    all.insert("load_before".into(), json!(load_before));
    all.insert("load_after".into(), json!(load_after));
    let cores = std::thread::available_parallelism().map_or(0, std::num::NonZero::get);
    all.insert("cores".into(), json!(cores));
    for row in rows {
        let (goal, mark) = match row.goal {
            None => (String::new(), ""),
            Some(goal) if row.value <= goal => (format!("{goal} {}", row.unit), "met"),
            Some(goal) => (format!("{goal} {}", row.unit), "OVER"),
        };
        println!(
            "| {} | {} | {:.2} {} | {goal} | {mark} |",
            row.name, row.what, row.value, row.unit
        );
        let of = all
            .entry(row.name)
            .or_insert_with(|| Value::Object(Map::new()));
        if let Value::Object(of) = of {
            of.insert(
                row.key.clone(),
                json!((row.value * 1000.0).round() / 1000.0),
            );
        }
    }
    println!(
        "\n{} build, {cores} cores, load before {load_before}, after {load_after}\n{}",
        profile(),
        Value::Object(all)
    );
}

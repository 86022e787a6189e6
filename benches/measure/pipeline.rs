//! The stages one by one in this process, over 10,000 incidents: no model, no REST.

use crate::bot::Server;
use crate::figures::{Row, Times, profile};
use crate::{Result, past};
use jiff::Timestamp;
use precedent::incident::{Engine, FallbackReason, Locale, Memory, Report};
use precedent::memory;
use precedent::present;
use precedent::response::fallback::{self, FallbackInput};
use precedent::response::redact::{self, Key};
use precedent::response::triage::{self, Said};
use precedent::response::{grade, recall, route};
use precedent::store::Store;
use precedent::validation::{self, Case};
use std::time::Instant;

const STAGES: &[&str] = &[
    "redact", "triage", "recall", "grade", "route", "fallback", "validate", "present",
];

pub async fn measure(server: &Server) -> Result<Vec<Row>> {
    let reports = if profile() == "debug" { 20 } else { 500 };
    let database = server.copy("pipeline")?;
    let store = Store::open(&format!("sqlite://{}", database.display())).await?;
    let memory = memory::Database::new(store.read_pool().clone());
    let guild = server.guild.to_string();
    let registry = store.services(&guild).await?;
    let mut times = vec![Times::default(); STAGES.len()];
    let mut total = Times::default();
    let mut cold = None;
    let (mut recalled, mut posted) = (0, 0);
    for number in 0..=reports {
        let text = past::report(number);
        let registry = registry.clone();
        let key = Key::new([7; 32]);
        let mut marks = vec![Instant::now()];

        let report = Report::from_text(redact::redact(&text, &key).text);
        marks.push(Instant::now());

        let triage = triage::triage(&report, &registry, &Said::default());
        marks.push(Instant::now());

        let query = recall::query(&report, &triage);
        let found = memory
            .recall(&memory::Query {
                guild: &guild,
                channel: "",
                words: &query.tokens,
                service: triage.service.as_deref(),
                registry: &registry,
                own: None,
                limit: 0,
                meaning: "",
            })
            .await?;
        marks.push(Instant::now());

        let graded = grade::grade(
            found.candidates,
            &query.prepare_in(&found.statistics),
            triage.service.as_deref(),
            &registry,
            None,
            grade::Limits::default(),
        );
        recalled += graded.len();
        let memory = Memory::Searched {
            searched: found.searched,
            on_service: found.on_service,
            recalled: graded,
        };
        marks.push(Instant::now());

        let severity = triage.severity;
        let _route = route::route(&route::RouteInput {
            service: triage.service.as_deref(),
            registry: &registry,
            severity,
            memory: &memory,
            own_attempts: &[],
            implicated_files: &triage.implicated_files,
            log_lines: triage.log_lines,
            text: &report.text,
        });
        marks.push(Instant::now());

        let proposal = fallback::propose(&FallbackInput {
            report: &report,
            service: triage.service.as_deref(),
            memory: &memory,
            own_attempts: &[],
            failure_class: triage.failure_class,
            severity,
            impact: triage.impact.as_deref(),
            since: triage.since.as_deref(),
            change_before: triage.change_before.as_deref(),
            symptoms: &triage.symptoms,
            error_lines: &triage.error_signatures,
            locale: Locale::En,
        });
        marks.push(Instant::now());

        let now = Timestamp::now();
        let case = Case {
            now,
            locale: Locale::En,
            service: triage.service.clone(),
            registry,
            severity: None,
            severity_proposed: severity,
            memory,
            attempts: Vec::new(),
            incident: None,
            failure_class: triage.failure_class,
            impact: triage.impact.clone(),
            since: triage.since.clone(),
            triage_corrections: Vec::new(),
            ledger: Default::default(),
            report,
        };
        let engine = Engine::Fallback {
            reason: FallbackReason::NotConfigured,
        };
        let analysis = validation::analysis(&case, &proposal, engine);
        marks.push(Instant::now());

        let mut view = present::View::new(triage.title.clone(), severity, Locale::En, now);
        view.service.clone_from(&case.service);
        posted += present::all(&analysis, &view).len();
        marks.push(Instant::now());

        let taken: Vec<_> = marks
            .iter()
            .zip(marks.iter().skip(1))
            .map(|(from, to)| to.duration_since(*from))
            .collect();
        let all = taken.iter().sum();
        if cold.is_none() {
            // What is compiled and prepared on first use.
            cold = Some(all);
            continue;
        }
        total.add(all);
        for (times, time) in times.iter_mut().zip(taken) {
            times.add(time);
        }
    }
    store.close().await;
    if recalled == 0 || posted == 0 {
        return Err("nothing was recalled or shown: this measures nothing".into());
    }
    let mut rows: Vec<Row> = STAGES
        .iter()
        .zip(&times)
        .flat_map(|(stage, times)| {
            [50.0, 95.0].map(|percent| {
                Row::millis(
                    &format!("{stage}_p{percent}_ms"),
                    &format!("{stage}, p{percent}"),
                    times.percentile(percent),
                )
            })
        })
        .collect();
    rows.push(Row::millis("total_p50_ms", "all stages, p50", total.percentile(50.0)).goal(10.0));
    rows.push(Row::millis("total_p95_ms", "all stages, p95", total.percentile(95.0)).goal(10.0));
    rows.push(Row::millis(
        "total_cold_ms",
        "all stages, first report of a process",
        cold.unwrap_or_default(),
    ));
    Ok(rows)
}

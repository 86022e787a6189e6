//! Time that passes for a conversation, without waiting for it.

use super::Incident;
use crate::homes;
use precedent::database::{Pool, Sql, query, query_as};
use serde_json::Value;

/// Everything that happened is so many minutes ago, as if the clock had gone on; what became due is
/// due.
pub async fn minutes_pass(at: &Incident, minutes: i64) {
    let pool = homes::beside(&at.config.database_url).await;
    let millis = minutes * 60_000;
    for (table, columns) in [
        (
            "incident",
            &[
                "started_at",
                "detected_at",
                "reported_at",
                "acknowledged_at",
                "mitigated_at",
                "resolved_at",
                "updated_at",
                "next_update_at",
            ] as &[&str],
        ),
        ("attempt", &["at"]),
        ("incident_event", &["at"]),
        ("likeness", &["at"]),
        ("analysis", &["created_at"]),
        ("tick", &["at"]),
        ("update_said", &["at"]),
        ("update_draft", &["at"]),
        ("step_owner", &["at"]),
        ("alert_channel", &["at", "unread_at"]),
        ("alert", &["at"]),
        ("incident_alert", &["heard_at"]),
        ("change", &["at"]),
    ] {
        let set: Vec<String> = columns
            .iter()
            .map(|column| format!("{column} = {column} - {millis}"))
            .collect();
        let statement = format!("UPDATE {table} SET {}", set.join(", "));
        run(&pool, statement).await;
    }
    for (select, update) in [
        (
            "SELECT state FROM alert_channel",
            "UPDATE alert_channel SET state = $1 WHERE state = $2",
        ),
        (
            "SELECT change FROM change",
            "UPDATE change SET change = $1 WHERE change = $2",
        ),
    ] {
        move_documents(&pool, select, update, millis).await;
    }
    let moved = match &pool {
        Pool::Sqlite(_) => {
            format!("strftime('%Y-%m-%d %H:%M:%f', scheduled_at, '-{minutes} minutes')")
        }
        Pool::Postgres(_) => format!("scheduled_at - interval '{minutes} minutes'"),
    };
    let statement =
        format!("UPDATE river_job SET scheduled_at = {moved} WHERE state = 'scheduled'");
    run(&pool, statement).await;
    pool.close().await;
}

async fn run(pool: &Pool, statement: String) {
    let statement = sqlx::AssertSqlSafe(statement);
    match pool {
        Pool::Sqlite(pool) => {
            let done = sqlx::query(statement).execute(pool).await;
            done.expect("times can be moved");
        }
        Pool::Postgres(pool) => {
            let done = sqlx::query(statement).execute(pool).await;
            done.expect("times can be moved");
        }
    }
}

/// Everything that runs was a false alarm: the next report of the same is an incident of its own.
pub async fn nothing_runs(at: &Incident) {
    let pool = homes::beside(&at.config.database_url).await;
    let over = "UPDATE incident SET status = 'false_alarm' \
                WHERE status IN ('investigating', 'fixing', 'mitigated')";
    query(Sql {
        sqlite: over,
        postgres: over,
    })
    .execute(&pool)
    .await
    .expect("incidents can be ended");
    pool.close().await;
}

/// Moves the times within documents: numbers that can be no other unix milliseconds.
async fn move_documents(pool: &Pool, select: &'static str, update: &'static str, millis: i64) {
    let rows: Vec<(String,)> = query_as(select)
        .fetch_all(pool)
        .await
        .expect("documents can be read");
    for (document,) in rows {
        let mut moved: Value = serde_json::from_str(&document).expect("a document is JSON");
        move_times(&mut moved, millis);
        query(update)
            .bind(moved.to_string())
            .bind(document)
            .execute(pool)
            .await
            .expect("documents can be moved");
    }
}

fn move_times(value: &mut Value, millis: i64) {
    match value {
        Value::Number(number) => {
            let time = number
                .as_i64()
                .filter(|number| (1_600_000_000_000..2_600_000_000_000).contains(number));
            if let Some(time) = time {
                *value = (time - millis).into();
            }
        }
        Value::Array(items) => items.iter_mut().for_each(|item| move_times(item, millis)),
        Value::Object(fields) => fields
            .values_mut()
            .for_each(|field| move_times(field, millis)),
        _ => {}
    }
}

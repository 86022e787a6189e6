//! Time that passes for a conversation, without waiting for it.

use super::Incident;
use crate::homes;
use precedent::database::{Sql, query};

/// Everything that happened is so many minutes ago, as if the clock had gone on; what became due is
/// due.
pub async fn minutes_pass(at: &Incident, minutes: i64) {
    let pool = sqlx::SqlitePool::connect(&at.config.database_url)
        .await
        .expect("the database opens");
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
        ("step_owner", &["at"]),
    ] {
        let set: Vec<String> = columns
            .iter()
            .map(|column| format!("{column} = {column} - {millis}"))
            .collect();
        let statement = format!("UPDATE {table} SET {}", set.join(", "));
        sqlx::query(sqlx::AssertSqlSafe(statement))
            .execute(&pool)
            .await
            .expect("times can be moved");
    }
    sqlx::query(
        "UPDATE river_job SET scheduled_at = strftime('%Y-%m-%d %H:%M:%f', scheduled_at, $1) \
         WHERE state = 'scheduled'",
    )
    .bind(format!("-{minutes} minutes"))
    .execute(&pool)
    .await
    .expect("jobs can be moved");
    pool.close().await;
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

//! Time that passes for a conversation, without waiting for it.

use super::Incident;
use serde_json::Value;

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
        sqlx::query(sqlx::AssertSqlSafe(statement))
            .execute(&pool)
            .await
            .expect("times can be moved");
    }
    for (table, column) in [("alert_channel", "state"), ("change", "change")] {
        move_documents(&pool, table, column, millis).await;
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

/// Moves the times within documents: numbers that can be no other unix milliseconds.
async fn move_documents(pool: &sqlx::SqlitePool, table: &str, column: &str, millis: i64) {
    let select = format!("SELECT rowid, {column} FROM {table}");
    let rows: Vec<(i64, String)> = sqlx::query_as(sqlx::AssertSqlSafe(select))
        .fetch_all(pool)
        .await
        .expect("documents can be read");
    for (row, document) in rows {
        let mut document: Value = serde_json::from_str(&document).expect("a document is JSON");
        move_times(&mut document, millis);
        let update = format!("UPDATE {table} SET {column} = $1 WHERE rowid = $2");
        sqlx::query(sqlx::AssertSqlSafe(update))
            .bind(document.to_string())
            .bind(row)
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

//! Recall over PostgreSQL's index.
//!
//! The index holds the same tokens as SQLite's, each behind its guild's mark. What a search costs is
//! the number of places at which its tokens stand, so the tokens are taken rarest first until they
//! are used up or stand in too many places together; each is worth the more the rarer it is. Then
//! come the newest of the same service, as on SQLite.

use super::sqlite::{
    DEFAULT_LIMIT, Found, MemoryError, Query, ROWS_SEARCHED, SAME_NAMES, SAME_SERVICE, choose,
    on_service, recallable, statistics, with_newest, worth_reading,
};
use crate::database::terms::{guild_mark, term};
use crate::database::{Connection, query, query_as, query_scalar};
use std::collections::HashMap;

/// What was searched, and the rows that may matter, in the order of [`Found::candidates`].
pub(super) async fn search(
    connection: &mut Connection,
    asked: &Query<'_>,
) -> Result<(Found, Vec<i64>), MemoryError> {
    let own = asked.own.map_or(0, |id| i64::from(id.number()));
    // What everybody may see is counted already; what only this channel sees is added, and the one
    // at hand left out.
    let counts: Vec<(Option<String>, i64)> = query_as(concat!(
        "SELECT service, sum(past)::bigint FROM (\
            SELECT nullif(service, '') AS service, past FROM incident_count WHERE guild = $1 \
            UNION ALL \
            SELECT service, 1 FROM incident WHERE private <> 0 AND ",
        recallable!(),
        " UNION ALL \
            SELECT service, -1 FROM incident WHERE guild = $1 AND number = $3 \
            AND incident_counts(incident)\
         ) AS counted GROUP BY service HAVING sum(past) > 0"
    ))
    .bind(asked.guild)
    .bind(asked.channel)
    .bind(own)
    .fetch_all(&mut *connection)
    .await?;
    let searched: i64 = counts.iter().map(|(_, count)| count).sum();
    let same = on_service(asked, &counts);
    let mut found = Found {
        searched: u64::try_from(searched).unwrap_or(0),
        on_service: u64::try_from(same.iter().map(|(_, count)| count).sum::<i64>()).unwrap_or(0),
        ..Found::default()
    };
    if searched == 0 {
        return Ok((found, Vec::new()));
    }
    let limit = if asked.limit == 0 {
        DEFAULT_LIMIT
    } else {
        asked.limit
    };
    let words = worth_reading(asked);
    let frequencies = frequencies(connection, asked, &words).await?;
    found.statistics = statistics(&words, &frequencies, searched, found.searched);
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let chosen: Vec<(&str, i64)> = choose(&words, &frequencies, searched as f64)
        .into_iter()
        .filter_map(|word| Some((word, *frequencies.get(word)?)))
        .collect();
    let by_words = by_words(connection, asked, own, &chosen, searched, i64::from(limit)).await?;
    let mut newest = Vec::new();
    let names: Vec<String> = same
        .iter()
        .filter_map(|(service, _)| service.clone())
        .take(SAME_NAMES)
        .collect();
    if !names.is_empty() {
        newest = query_scalar(concat!(
            "SELECT newest.id FROM unnest($4::text[]) AS wanted (name) CROSS JOIN LATERAL (\
                SELECT id, number, coalesce(resolved_at, started_at, reported_at, 0) AS ended \
                FROM incident WHERE ",
            recallable!(),
            " AND service = wanted.name \
                ORDER BY coalesce(resolved_at, started_at, reported_at, 0) DESC, number DESC LIMIT $5\
             ) AS newest ORDER BY newest.ended DESC, newest.number DESC LIMIT $5"
        ))
        .bind(asked.guild)
        .bind(asked.channel)
        .bind(own)
        .bind(names)
        .bind(i64::try_from(SAME_SERVICE + by_words.len()).unwrap_or(i64::MAX))
        .fetch_all(&mut *connection)
        .await?;
    }
    Ok((found, with_newest(by_words, newest)))
}

/// How many incidents of the guild have each word; those that none has are absent.
async fn frequencies(
    connection: &mut Connection,
    asked: &Query<'_>,
    words: &[String],
) -> Result<HashMap<String, i64>, MemoryError> {
    let mark = guild_mark(asked.guild);
    let terms: HashMap<String, &String> =
        words.iter().map(|word| (term(&mark, word), word)).collect();
    let counted: Vec<(String, i64)> =
        query_as("SELECT term, docs FROM incident_terms WHERE term = ANY($1) AND docs > 0")
            .bind(terms.keys().cloned().collect::<Vec<String>>())
            .fetch_all(connection)
            .await?;
    Ok(counted
        .into_iter()
        .filter_map(|(term, docs)| Some(((*terms.get(&term)?).clone(), docs)))
        .collect())
}

/// Rows by their words, best first.
async fn by_words(
    connection: &mut Connection,
    asked: &Query<'_>,
    own: i64,
    chosen: &[(&str, i64)],
    all: i64,
    limit: i64,
) -> Result<Vec<i64>, MemoryError> {
    if chosen.is_empty() {
        return Ok(Vec::new());
    }
    let mark = guild_mark(asked.guild);
    let terms: Vec<String> = chosen
        .iter()
        .map(|(word, _)| {
            format!(
                "'{}'",
                term(&mark, word).replace('\\', "\\\\").replace('\'', "''")
            )
        })
        .collect();
    let worth: Vec<i64> = chosen
        .iter()
        .map(|(_, docs)| ((1.0 + all as f64 / (*docs).max(1) as f64).ln() * 1000.0) as i64)
        .collect();
    // A limit per token makes reading the whole table look cheap to the planner, and it is not: each
    // row's tokens would be compared with each token asked for.
    query("SET enable_seqscan = off")
        .execute(&mut *connection)
        .await?;
    let found = ranked(connection, asked, own, &terms, &worth, limit).await;
    query("RESET enable_seqscan")
        .execute(&mut *connection)
        .await?;
    found
}

/// Rows by what their tokens are worth together.
async fn ranked(
    connection: &mut Connection,
    asked: &Query<'_>,
    own: i64,
    terms: &[String],
    worth: &[i64],
    limit: i64,
) -> Result<Vec<i64>, MemoryError> {
    // The best of a small surplus are looked at, and all of them only where too few of these may be
    // seen.
    let mut ranked = limit.saturating_mul(2);
    loop {
        let rows: Vec<(i64, i64)> = query_as(concat!(
            "WITH best AS MATERIALIZED (\
                SELECT hit.id, sum(term.worth)::bigint AS score \
                FROM unnest($4::text[], $5::bigint[]) AS term (word, worth) CROSS JOIN LATERAL (\
                    SELECT id FROM incident_words WHERE words @@ term.word::tsquery LIMIT $8\
                ) AS hit GROUP BY hit.id ORDER BY score DESC, hit.id DESC LIMIT $6\
             ) SELECT incident.id, (SELECT count(*) FROM best) \
             FROM best JOIN incident ON incident.id = best.id WHERE ",
            recallable!(),
            " ORDER BY best.score DESC, incident.number DESC LIMIT $7"
        ))
        .bind(asked.guild)
        .bind(asked.channel)
        .bind(own)
        .bind(terms.to_vec())
        .bind(worth.to_vec())
        .bind(ranked)
        .bind(limit)
        .bind(ROWS_SEARCHED)
        .fetch_all(&mut *connection)
        .await?;
        let found = i64::try_from(rows.len()).unwrap_or(i64::MAX);
        let looked_at = rows.first().map_or(ranked, |(_, count)| *count);
        if found >= limit || looked_at < ranked || ranked == i64::MAX {
            return Ok(rows.into_iter().map(|(id, _)| id).collect());
        }
        ranked = i64::MAX;
    }
}

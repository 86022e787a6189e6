//! Recall over SQLite's full-text index.
//!
//! The index holds tokens of our own making ([`crate::incident::words::tokens`]), so SQLite's
//! tokenizer has only to split at spaces. A query is its rarest and most important tokens, each
//! quoted, joined by OR, behind the guild's own token, which keeps the search in the guild's rows.
//! The best by BM25 over the fields come first, then the newest of the same service that were not
//! among them: a prior, never a hard cut.

use super::postgres;
use crate::database::{Body, Pool, past};
use crate::incident::service::same_service;
use crate::incident::{IncidentId, PastIncident, Registry};
use sqlx::SqliteConnection;
use std::collections::{HashMap, HashSet};
use thiserror::Error;

/// Distinct tokens looked at; what comes later in the query is not.
const TOKENS_READ: usize = 400;
/// Tokens searched for. More cost time and find the same.
const TOKENS_SEARCHED: usize = 32;
/// Of these, taken in the order of the query, however common they are; the rest are the rarest.
const TOKENS_IN_ORDER: usize = 12;
/// A token in more than this share of all incidents tells nothing, where others are left.
const TOO_COMMON: f64 = 0.4;
/// Below so many incidents no token is too common.
const FEW_INCIDENTS: f64 = 200.0;
/// Incidents of the same service that are added to the best ones.
pub(super) const SAME_SERVICE: i64 = 30;
/// How many are recalled, unless the query says so.
pub const DEFAULT_LIMIT: u32 = 100;

/// Memory failed. What it was asked for is unknown, and never "no match" (R4).
#[derive(Debug, Error)]
pub enum MemoryError {
    /// The database cannot be read now.
    #[error("memory cannot be searched now")]
    Unavailable(#[from] sqlx::Error),
    /// A record cannot be read back.
    #[error("a record in memory cannot be read")]
    Corrupt(#[from] serde_json::Error),
}

/// What is asked of memory.
#[derive(Clone, Copy, Debug)]
pub struct Query<'a> {
    /// The guild whose memory it is.
    pub guild: &'a str,
    /// The channel that asks: private records of others stay unseen. Empty: public ones only.
    pub channel: &'a str,
    /// Tokens ([`crate::incident::words::tokens`]), most important first; repeats are ignored.
    pub words: &'a [String],
    /// Canonical name of the service at hand, where it is known.
    pub service: Option<&'a str>,
    /// The services of the guild, by which names of one service are one.
    pub registry: &'a Registry,
    /// The incident at hand: never recalled.
    pub own: Option<IncidentId>,
    /// At most so many by their words, 30 more by their service; 0 means 100.
    pub limit: u32,
}

/// What memory found.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Found {
    /// Incidents that were searched: past ones that may be seen from the channel.
    pub searched: u64,
    /// Of these, on the service at hand.
    pub on_service: u64,
    /// Those that may matter: by their words, best first, then by their service, newest first.
    pub candidates: Vec<PastIncident>,
}

/// Memory in the database itself.
#[derive(Clone, Debug)]
pub struct Sqlite {
    reader: Pool,
}

/// Past incidents that may be seen: `$1` is the guild, `$2` the channel, `$3` the one at hand.
macro_rules! recallable {
    () => {
        "guild = $1 AND (private = 0 OR channel = $2 OR thread = $2) AND number <> $3 \
         AND status NOT IN ('investigating', 'fixing', 'mitigated')"
    };
}
pub(super) use recallable;

impl Sqlite {
    /// Memory that reads with these connections.
    pub fn new(reader: Pool) -> Self {
        Self { reader }
    }

    /// Finds past incidents that may matter. Open ones and the one at hand are never among them.
    ///
    /// # Errors
    ///
    /// [`MemoryError::Unavailable`] where the database does not answer: the memory status is then
    /// `unavailable`.
    pub async fn recall(&self, query: &Query<'_>) -> Result<Found, MemoryError> {
        let mut connection = self.reader.acquire().await?;
        let (mut found, rows) = match connection.body() {
            Body::Sqlite(connection) => search(connection, query).await?,
            Body::Postgres(_) => postgres::search(&mut connection, query).await?,
        };
        found.candidates = past::of_rows(&mut connection, query.guild, &rows).await?;
        Ok(found)
    }
}

/// What was searched, and the rows that may matter, in the order of [`Found::candidates`].
async fn search(
    connection: &mut SqliteConnection,
    query: &Query<'_>,
) -> Result<(Found, Vec<i64>), MemoryError> {
    let own = query.own.map_or(0, |id| i64::from(id.number()));

    let counts: Vec<(Option<String>, i64)> = sqlx::query_as(concat!(
        "SELECT service, count(*) FROM incident WHERE ",
        recallable!(),
        " GROUP BY service"
    ))
    .bind(query.guild)
    .bind(query.channel)
    .bind(own)
    .fetch_all(&mut *connection)
    .await?;
    let searched: i64 = counts.iter().map(|(_, count)| count).sum();
    let same = on_service(query, &counts);
    let on_service: i64 = same.iter().map(|(_, count)| count).sum();
    let found = Found {
        searched: u64::try_from(searched).unwrap_or(0),
        on_service: u64::try_from(on_service).unwrap_or(0),
        candidates: Vec::new(),
    };
    if searched == 0 {
        return Ok((found, Vec::new()));
    }

    let mut rows: Vec<i64> = Vec::new();
    if let Some(expression) = expression(connection, query).await? {
        let limit = if query.limit == 0 {
            DEFAULT_LIMIT
        } else {
            query.limit
        };
        rows = by_words(connection, query, own, &expression, i64::from(limit)).await?;
    }
    if !same.is_empty() {
        let names: Vec<&str> = same
            .iter()
            .filter_map(|(service, _)| service.as_deref())
            .collect();
        let newest: Vec<i64> = sqlx::query_scalar(concat!(
            "SELECT id FROM incident WHERE ",
            recallable!(),
            " AND service IN (SELECT value FROM json_each($4)) ",
            "ORDER BY coalesce(resolved_at, started_at, reported_at, 0) DESC, number DESC LIMIT $5"
        ))
        .bind(query.guild)
        .bind(query.channel)
        .bind(own)
        .bind(serde_json::to_string(&names)?)
        .bind(SAME_SERVICE + i64::try_from(rows.len()).unwrap_or(0))
        .fetch_all(&mut *connection)
        .await?;
        add_newest(&mut rows, newest);
    }
    Ok((found, rows))
}

/// The newest of the same service come after those found by their words.
pub(super) fn add_newest(rows: &mut Vec<i64>, newest: Vec<i64>) {
    let by_words: HashSet<i64> = rows.iter().copied().collect();
    rows.extend(
        newest
            .into_iter()
            .filter(|row| !by_words.contains(row))
            .take(usize::try_from(SAME_SERVICE).unwrap_or(0)),
    );
}

/// The words as the index's query language; `None` where no word can be found.
async fn expression(
    connection: &mut SqliteConnection,
    query: &Query<'_>,
) -> Result<Option<String>, MemoryError> {
    let words = worth_reading(query);
    if words.is_empty() {
        return Ok(None);
    }
    let frequencies: HashMap<String, i64> = sqlx::query_as(
        "SELECT term, doc FROM incident_terms WHERE term IN (SELECT value FROM json_each($1))",
    )
    .bind(serde_json::to_string(&words)?)
    .fetch_all(&mut *connection)
    .await?
    .into_iter()
    .collect();
    // Near enough to how many there are, and found without counting.
    let all: i64 = sqlx::query_scalar("SELECT coalesce(max(id), 0) FROM incident")
        .fetch_one(connection)
        .await?;
    let chosen = choose(&words, &frequencies, all as f64);
    if chosen.is_empty() {
        return Ok(None);
    }
    let quoted: Vec<String> = chosen
        .iter()
        .map(|word| format!("\"{}\"", word.replace('"', "\"\"")))
        .collect();
    let guild: String = query
        .guild
        .bytes()
        .map(|byte| format!("{byte:02x}"))
        .collect();
    Ok(Some(format!(
        "guild : \"g{guild}\" AND {{title symptoms signatures cause rest}} : ({})",
        quoted.join(" OR ")
    )))
}

/// Of the services with their counts, those that are the one at hand.
pub(super) fn on_service<'a>(
    query: &Query<'_>,
    counts: &'a [(Option<String>, i64)],
) -> Vec<&'a (Option<String>, i64)> {
    let registered: HashSet<&str> = query
        .registry
        .services
        .iter()
        .map(|service| service.name.as_str())
        .collect();
    counts
        .iter()
        .filter(|(service, _)| match (query.service, service.as_deref()) {
            // Two canonical names are one service only where they are one name; the rule itself is
            // asked for all others.
            (Some(wanted), Some(name))
                if registered.contains(wanted) && registered.contains(name) =>
            {
                wanted == name
            }
            (wanted, name) => same_service(query.registry, wanted, name),
        })
        .collect()
}

/// The distinct words of the query that an index can hold, the first of them.
pub(super) fn worth_reading<'a>(query: &Query<'a>) -> Vec<&'a str> {
    let mut known = HashSet::new();
    query
        .words
        .iter()
        .map(String::as_str)
        .filter(|word| word.chars().any(char::is_alphanumeric) && !word.contains('\0'))
        .filter(|word| known.insert(*word))
        .take(TOKENS_READ)
        .collect()
}

/// Rows by their words, best first.
async fn by_words(
    connection: &mut SqliteConnection,
    query: &Query<'_>,
    own: i64,
    expression: &str,
    limit: i64,
) -> Result<Vec<i64>, MemoryError> {
    // Ranking alone is cheap, looking at every match's incident is not: the best of a small surplus
    // are looked at, and all of them only where too few of these may be seen.
    let mut ranked = limit.saturating_mul(2);
    loop {
        // CROSS keeps the words the outer loop: the planner would else look each incident of the
        // guild up in the index, one search a row. Weights of guild, title, symptoms, signatures,
        // cause, rest.
        let rows: Vec<(i64, i64)> = sqlx::query_as(concat!(
            "WITH best AS MATERIALIZED (\
                SELECT rowid AS id, bm25(incident_words, 0.0, 4.0, 2.0, 5.0, 2.0, 1.0) AS score \
                FROM incident_words WHERE incident_words MATCH $4 ORDER BY score LIMIT $6\
             ) SELECT incident.id, (SELECT count(*) FROM best) FROM best CROSS JOIN incident ON incident.id = best.id WHERE ",
            recallable!(),
            " ORDER BY best.score, incident.number DESC LIMIT $5"
        ))
        .bind(query.guild)
        .bind(query.channel)
        .bind(own)
        .bind(expression)
        .bind(limit)
        .bind(ranked)
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

/// The words worth searching for: those that occur, without the too common ones where others are
/// left; of many, the first of the query and the rarest of the rest.
pub(super) fn choose<'a>(
    words: &[&'a str],
    frequencies: &HashMap<String, i64>,
    all: f64,
) -> Vec<&'a str> {
    // A word in another spelling than the index's (a dropped accent) has no known frequency.
    let frequency = |word: &str| frequencies.get(word).copied();
    let occurring: Vec<&str> = words
        .iter()
        .copied()
        .filter(|word| frequency(word).is_some() || !word.is_ascii())
        .collect();
    let telling: Vec<&str> = occurring
        .iter()
        .copied()
        .filter(|word| {
            all < FEW_INCIDENTS || frequency(word).unwrap_or(0) as f64 <= all * TOO_COMMON
        })
        .collect();
    let candidates = if telling.is_empty() {
        occurring
    } else {
        telling
    };
    if candidates.len() <= TOKENS_SEARCHED {
        return candidates;
    }
    let (first, rest) = candidates.split_at(TOKENS_IN_ORDER);
    let mut rest: Vec<&str> = rest.to_vec();
    rest.sort_by_key(|word| frequency(word).unwrap_or(0));
    first
        .iter()
        .copied()
        .chain(rest)
        .take(TOKENS_SEARCHED)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_worth_searching_for() {
        let frequencies: HashMap<String, i64> = [("error", 900), ("hikari", 3), ("pool", 40)]
            .map(|(word, count)| (word.to_owned(), count))
            .into();
        for (words, all, expected) in [
            (
                vec!["error", "hikari", "pool"],
                1000.0,
                vec!["hikari", "pool"],
            ),
            (vec!["error"], 1000.0, vec!["error"]),
            (vec!["error", "pool"], 100.0, vec!["error", "pool"]),
            (vec!["nowhere", "pool"], 1000.0, vec!["pool"]),
            (vec!["nowhere"], 1000.0, vec![]),
            (vec!["mémoire"], 1000.0, vec!["mémoire"]),
        ] {
            assert_eq!(choose(&words, &frequencies, all), expected, "{words:?}");
        }
    }

    #[test]
    fn of_many_words_the_first_and_the_rarest() {
        let words: Vec<String> = (0..100).map(|n| format!("w{n}")).collect();
        let frequencies: HashMap<String, i64> = words
            .iter()
            .zip(0..)
            .map(|(word, n)| (word.clone(), 100 - n))
            .collect();
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        let chosen = choose(&words, &frequencies, 10_000.0);
        assert_eq!(chosen.len(), TOKENS_SEARCHED);
        assert_eq!(chosen.first(), Some(&"w0"));
        assert!(chosen.contains(&"w99") && !chosen.contains(&"w50"));
    }
}

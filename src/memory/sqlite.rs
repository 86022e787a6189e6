//! Recall over SQLite's full-text index.
//!
//! The index holds tokens of our own making ([`crate::incident::words::terms`]), so SQLite's
//! tokenizer has only to split at spaces. A query is its most telling tokens, each quoted, joined
//! by OR, behind the guild's own token, which keeps the search in the guild's rows. What a search
//! costs is how many rows its tokens have, so they share a budget: rare tokens find what matters
//! whatever else is left out, and a hundred thousand incidents cost hardly more than a thousand.
//! The best by BM25 over the fields come first, then the newest of the same service that were not
//! among them: a prior, never a hard cut. How they are ordered in the end is
//! [`crate::response::recall`]'s.

use super::embeddings::nearest::Nearest;
use super::embeddings::{Embedder, Meaning, Vector};
use super::postgres;
use crate::database::{Body, Connection, Pool, Sql, past, query as statement};
use crate::incident::service::SameAs;
use crate::incident::words::stem;
use crate::incident::{IncidentId, PastIncident, Registry};
use crate::response::recall::{Statistics, fuse};
use sqlx::SqliteConnection;
use std::collections::{HashMap, HashSet};
use std::sync::{Arc, Mutex, PoisonError};
use thiserror::Error;

/// Distinct tokens looked at; what comes later in the query is not.
const TOKENS_READ: usize = 160;
/// Tokens searched for. More cost time and find the same.
const TOKENS_SEARCHED: usize = 24;
/// Rows that the tokens searched for have together: a few milliseconds.
pub(super) const ROWS_SEARCHED: i64 = 3_000;
/// The first tokens of a query tell more than their rarity says.
const FIRST_TOKENS: usize = 12;
const FIRST_TOKENS_TELL: f64 = 1.5;
/// A token in more than this share of all incidents tells nothing, where others are left.
const TOO_COMMON: f64 = 0.4;
/// Below so many incidents no token is too common.
const FEW_INCIDENTS: f64 = 200.0;
/// Incidents of the same service that are added to the best ones.
pub(super) const SAME_SERVICE: usize = 8;
/// Spellings of the service at hand of which the newest are looked for.
pub(super) const SAME_NAMES: usize = 4;
/// What a place among the newest of the service counts beside one by words: never before them.
const NEWEST_COUNT: f64 = 0.25;
/// How many are recalled, unless the query says so.
pub const DEFAULT_LIMIT: u32 = 32;
/// Incidents whose vectors are looked at, out of those near by their bits alone.
const NEAR: usize = 256;
/// From so many rows on, how many a token has is remembered: counting them takes long.
const REMEMBERED_FROM: i64 = 64;
/// Tokens remembered.
const MOST_REMEMBERED: usize = 20_000;

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
    /// Tokens ([`crate::incident::words::tokens`] or their stems), most important first; repeats
    /// are ignored.
    pub words: &'a [String],
    /// Canonical name of the service at hand, where it is known.
    pub service: Option<&'a str>,
    /// The services of the guild, by which names of one service are one.
    pub registry: &'a Registry,
    /// The incident at hand: never recalled.
    pub own: Option<IncidentId>,
    /// At most so many by their words, a few more by their service; 0 means 32.
    pub limit: u32,
    /// What it is about, in words: asked by meaning too, where that can be. Empty: by words alone.
    pub meaning: &'a str,
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
    /// How often the query's words occur in memory.
    pub statistics: Statistics,
}

/// Memory in the database itself.
#[derive(Clone, Debug)]
pub struct Database {
    reader: Pool,
    counted: Arc<Mutex<Counted>>,
    embedder: Option<Arc<Embedder>>,
    nearest: Nearest,
}

/// How many rows common tokens have, as of so many incidents: a share changes slowly, and counting
/// a common token's rows takes longer than a search.
#[derive(Debug, Default)]
struct Counted {
    incidents: i64,
    rows: HashMap<String, i64>,
}

/// Past incidents that may be seen, false alarms and what was merged into others left out: `$1` is the guild, `$2` the channel, `$3` the one at hand.
macro_rules! recallable {
    () => {
        "guild = $1 AND (private = 0 OR channel = $2 OR thread = $2) AND number <> $3 \
         AND status IN ('resolved', 'closed')"
    };
}
pub(super) use recallable;

impl Database {
    /// Memory that reads with these connections.
    pub fn new(reader: Pool) -> Self {
        Self {
            reader,
            counted: Arc::default(),
            embedder: None,
            nearest: Nearest::default(),
        }
    }

    /// The same, asked by meaning too.
    #[must_use]
    pub fn with_embedder(mut self, embedder: Option<Embedder>) -> Self {
        self.embedder = embedder.map(Arc::new);
        self
    }

    /// Finds past incidents that may matter. Open ones and the one at hand are never among them.
    ///
    /// # Errors
    ///
    /// [`MemoryError::Unavailable`] where the database does not answer: the memory status is then
    /// `unavailable`.
    pub async fn recall(&self, query: &Query<'_>) -> Result<Found, MemoryError> {
        let (searched, meaning) = tokio::join!(self.search(query), self.meaning_of(query));
        let (mut connection, mut found, mut rows) = searched?;
        if let Some((model, meaning)) = meaning
            && found.searched > 0
        {
            (rows, found.statistics.alike) = self
                .by_meaning(&mut connection, query, model, &meaning, rows)
                .await?;
        }
        found.candidates = past::of_rows(&mut connection, query.guild, &rows).await?;
        Ok(found)
    }

    /// By words alone.
    async fn search(
        &self,
        query: &Query<'_>,
    ) -> Result<(Connection, Found, Vec<i64>), MemoryError> {
        let mut connection = self.reader.acquire().await?;
        let (found, rows) = match connection.body() {
            Body::Sqlite(connection) => search(connection, &self.counted, query).await?,
            Body::Postgres(_) => postgres::search(&mut connection, query).await?,
        };
        Ok((connection, found, rows))
    }

    /// What is asked, as a model understands it, and which model. Whatever fails is asked by words alone.
    async fn meaning_of(&self, query: &Query<'_>) -> Option<(&str, Meaning)> {
        let embedder = self.embedder.as_ref()?;
        match embedder.report(query.meaning).await {
            Ok(meaning) => Some((embedder.model(), meaning?)),
            Err(error) => {
                tracing::warn!(%error, "memory is asked by words alone");
                None
            }
        }
    }

    /// The rows found by words and those that are near in meaning, in one order, and how near each
    /// of them is.
    async fn by_meaning(
        &self,
        connection: &mut Connection,
        query: &Query<'_>,
        model: &str,
        meaning: &Meaning,
        by_words: Vec<i64>,
    ) -> Result<(Vec<i64>, HashMap<IncidentId, f64>), MemoryError> {
        let near = self
            .nearest
            .rows(connection, query.guild, model, &meaning.vector, NEAR)
            .await?;
        let asked: HashSet<i64> = near.iter().chain(&by_words).copied().collect();
        let mut alike = HashMap::new();
        let mut by_meaning: Vec<(f64, i64)> = Vec::new();
        for row in statement(VECTORS)
            .bind(query.guild)
            .bind(query.channel)
            .bind(query.own.map_or(0, |id| i64::from(id.number())))
            .bind(asked.into_iter().collect::<Vec<i64>>())
            .bind(model)
            .fetch_all(connection)
            .await?
        {
            let (id, number): (i64, i64) = (row.try_get("id")?, row.try_get("number")?);
            let kept: Vec<u8> = row.try_get("vector")?;
            let (Some(kept), Some(number)) = (
                Vector::from_bytes(&kept),
                u32::try_from(number).ok().and_then(IncidentId::new),
            ) else {
                continue;
            };
            let likeness = meaning.likeness(&kept);
            by_meaning.push((likeness, id));
            alike.insert(number, likeness);
        }
        by_meaning.sort_by(|one, other| other.0.total_cmp(&one.0).then(other.1.cmp(&one.1)));
        let by_meaning: Vec<i64> = by_meaning.into_iter().map(|(_, row)| row).collect();
        let limit = by_words
            .len()
            .max(usize::try_from(DEFAULT_LIMIT).unwrap_or(0));
        let by_meaning = by_meaning.get(..limit).unwrap_or(&by_meaning);
        Ok((fuse(&[(&by_words, 1.0), (by_meaning, 1.0)]), alike))
    }
}

/// The records of `$4` that may be seen, with their vectors of the model `$5`.
macro_rules! vectors {
    ($among:literal) => {
        concat!(
            "SELECT seen.id, seen.number, v.vector FROM (SELECT id, number FROM incident WHERE ",
            recallable!(),
            " AND id ",
            $among,
            ") AS seen JOIN incident_vector v ON v.incident = seen.id WHERE v.model = $5"
        )
    };
}

const VECTORS: Sql = Sql {
    sqlite: vectors!("IN (SELECT value FROM json_each($4))"),
    postgres: vectors!("= ANY($4)"),
};

/// What was searched, and the rows that may matter, in the order of [`Found::candidates`].
async fn search(
    connection: &mut SqliteConnection,
    counted: &Mutex<Counted>,
    query: &Query<'_>,
) -> Result<(Found, Vec<i64>), MemoryError> {
    let own = query.own.map_or(0, |id| i64::from(id.number()));

    let counts = counts(connection, query, own).await?;
    let searched: i64 = counts.iter().map(|(_, count)| count).sum();
    let same = on_service(query, &counts);
    let on_service: i64 = same.iter().map(|(_, count)| count).sum();
    let mut found = Found {
        searched: u64::try_from(searched).unwrap_or(0),
        on_service: u64::try_from(on_service).unwrap_or(0),
        ..Found::default()
    };
    if searched == 0 {
        return Ok((found, Vec::new()));
    }

    let words = worth_reading(query);
    let (all, frequencies) = frequencies(connection, counted, &words).await?;
    found.statistics = statistics(&words, &frequencies, all, found.searched);
    let limit = if query.limit == 0 {
        DEFAULT_LIMIT
    } else {
        query.limit
    };
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let by_words = match expression(query.guild, &choose(&words, &frequencies, all as f64)) {
        Some(expression) => by_words(connection, query, own, &expression, i64::from(limit)).await?,
        None => Vec::new(),
    };
    let mut newest = Vec::new();
    for name in same
        .iter()
        .filter_map(|(service, _)| service.as_deref())
        .take(SAME_NAMES)
    {
        let most = SAME_SERVICE + by_words.len();
        newest.extend(newest_of(connection, query, own, name, most).await?);
    }
    Ok((found, with_newest(by_words, newest)))
}

/// About how many incidents there are, and how many of them have each word.
async fn frequencies(
    connection: &mut SqliteConnection,
    counted: &Mutex<Counted>,
    words: &[String],
) -> Result<(i64, HashMap<String, i64>), MemoryError> {
    // Near enough to how many there are, and found without counting.
    let all: i64 = sqlx::query_scalar("SELECT coalesce(max(id), 0) FROM incident")
        .fetch_one(&mut *connection)
        .await?;
    let mut frequencies = HashMap::new();
    {
        let mut counted = counted.lock().unwrap_or_else(PoisonError::into_inner);
        let moved = (all - counted.incidents).abs();
        if moved > 16 + counted.incidents / 50 || counted.rows.len() > MOST_REMEMBERED {
            counted.rows.clear();
            counted.incidents = all;
        }
        for word in words {
            if let Some(rows) = counted.rows.get(word) {
                frequencies.insert(word.clone(), *rows);
            }
        }
    }
    let unknown: Vec<&String> = words
        .iter()
        .filter(|word| !frequencies.contains_key(*word))
        .collect();
    if unknown.is_empty() {
        return Ok((all, frequencies));
    }
    let rows_of: Vec<(String, i64)> = sqlx::query_as(
        "SELECT term, doc FROM incident_terms WHERE term IN (SELECT value FROM json_each($1))",
    )
    .bind(serde_json::to_string(&unknown)?)
    .fetch_all(connection)
    .await?;
    let mut remembered = counted.lock().unwrap_or_else(PoisonError::into_inner);
    for (word, rows) in rows_of {
        if rows >= REMEMBERED_FROM {
            remembered.rows.insert(word.clone(), rows);
        }
        frequencies.insert(word, rows);
    }
    Ok((all, frequencies))
}

/// Those found by their words, and the newest of the same service that are not among them.
pub(super) fn with_newest(by_words: Vec<i64>, mut newest: Vec<i64>) -> Vec<i64> {
    let known: HashSet<i64> = by_words.iter().copied().collect();
    newest.retain(|row| !known.contains(row));
    newest.truncate(SAME_SERVICE);
    fuse(&[(&by_words, 1.0), (&newest, NEWEST_COUNT)])
}

/// How many past incidents may be seen, by service.
async fn counts(
    connection: &mut SqliteConnection,
    query: &Query<'_>,
    own: i64,
) -> Result<Vec<(Option<String>, i64)>, MemoryError> {
    let kept: Vec<(String, i64)> = sqlx::query_as(
        "SELECT service, sum(incidents) FROM past_count WHERE guild = $1 \
         AND (private = 0 OR channel = $2 OR ($2 <> '' AND thread = $2)) \
         GROUP BY service HAVING sum(incidents) > 0",
    )
    .bind(query.guild)
    .bind(query.channel)
    .fetch_all(&mut *connection)
    .await?;
    // The one at hand is counted where it is over already, and never recalled.
    let own: Option<Option<String>> = match query.own {
        None => None,
        Some(_) => {
            sqlx::query_scalar(
                "SELECT service FROM incident WHERE guild = $1 \
                 AND (private = 0 OR channel = $2 OR thread = $2) AND number = $3 \
                 AND status IN ('resolved', 'closed')",
            )
            .bind(query.guild)
            .bind(query.channel)
            .bind(own)
            .fetch_optional(connection)
            .await?
        }
    };
    let own = own.map(Option::unwrap_or_default);
    Ok(kept
        .into_iter()
        .map(|(service, count)| {
            let count = count - i64::from(own.as_deref() == Some(service.as_str()));
            (Some(service).filter(|name| !name.is_empty()), count)
        })
        .filter(|(_, count)| *count > 0)
        .collect())
}

/// The newest of a service.
async fn newest_of(
    connection: &mut SqliteConnection,
    query: &Query<'_>,
    own: i64,
    service: &str,
    limit: usize,
) -> Result<Vec<i64>, MemoryError> {
    Ok(sqlx::query_scalar(concat!(
        "SELECT id FROM incident WHERE ",
        recallable!(),
        " AND service = $4 \
         ORDER BY coalesce(resolved_at, started_at, reported_at, 0) DESC, number DESC LIMIT $5"
    ))
    .bind(query.guild)
    .bind(query.channel)
    .bind(own)
    .bind(service)
    .bind(i64::try_from(limit).unwrap_or(i64::MAX))
    .fetch_all(connection)
    .await?)
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
    // Made where a name is met that is not registered.
    let asked = std::cell::LazyCell::new(|| SameAs::new(query.registry, query.service));
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
            (_, name) => asked.is(name),
        })
        .collect()
}

/// The distinct words of the query that an index can hold, the first of them, by their stems.
pub(super) fn worth_reading(query: &Query<'_>) -> Vec<String> {
    let mut known = HashSet::new();
    query
        .words
        .iter()
        .filter(|word| word.chars().any(char::is_alphanumeric) && !word.contains('\0'))
        .map(|word| stem(word))
        .filter(|word| known.insert(word.clone()))
        .take(TOKENS_READ)
        .collect()
}

/// Words as the index's query language; `None` for none.
fn expression(guild: &str, words: &[&str]) -> Option<String> {
    if words.is_empty() {
        return None;
    }
    let quoted: Vec<String> = words
        .iter()
        .map(|word| format!("\"{}\"", word.replace('"', "\"\"")))
        .collect();
    let guild: String = guild.bytes().map(|byte| format!("{byte:02x}")).collect();
    Some(format!(
        "guild : \"g{guild}\" AND {{title symptoms signatures cause rest}} : ({})",
        quoted.join(" OR ")
    ))
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
                SELECT rowid AS id, bm25(incident_words, 0.0, 6.0, 1.0, 1.5, 1.0, 0.5) AS score \
                FROM incident_words WHERE incident_words MATCH $4 ORDER BY score LIMIT $6\
             ) SELECT incident.id, (SELECT count(*) FROM best) \
             FROM best CROSS JOIN incident ON incident.id = best.id WHERE ",
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

/// What grading is told of the query's words; those that occur nowhere are said to.
pub(super) fn statistics(
    words: &[String],
    frequencies: &HashMap<String, i64>,
    incidents: i64,
    searched: u64,
) -> Statistics {
    let rows = |word: &String| frequencies.get(word).copied().unwrap_or(0);
    Statistics {
        incidents: u64::try_from(incidents).unwrap_or(0),
        frequencies: words
            .iter()
            .map(|word| (word.clone(), u64::try_from(rows(word)).unwrap_or(0)))
            .collect(),
        searched,
        ..Statistics::default()
    }
}

/// The words worth searching for: the most telling ones of those that occur, as many as the budget
/// has rows for; without the too common ones, where others are left.
pub(super) fn choose<'a>(
    words: &[&'a str],
    frequencies: &HashMap<String, i64>,
    all: f64,
) -> Vec<&'a str> {
    // A word in another spelling than the index's (a dropped accent) has no known frequency.
    let frequency = |word: &str| frequencies.get(word).copied();
    let occurring: Vec<(usize, &str)> = words
        .iter()
        .copied()
        .enumerate()
        .filter(|(_, word)| frequency(word).is_some() || !word.is_ascii())
        .collect();
    let rows = |word: &str| frequency(word).unwrap_or(REMEMBERED_FROM);
    let telling: Vec<(usize, &str)> = occurring
        .iter()
        .copied()
        .filter(|(_, word)| all < FEW_INCIDENTS || rows(word) as f64 <= all * TOO_COMMON)
        .collect();
    let mut candidates = if telling.is_empty() {
        occurring
    } else {
        telling
    };
    let tells = |(place, word): &(usize, &str)| {
        let rarity = (1.0 + all / (rows(word) as f64 + 0.5)).ln();
        if *place < FIRST_TOKENS {
            rarity * FIRST_TOKENS_TELL
        } else {
            rarity
        }
    };
    candidates.sort_by(|one, other| tells(other).total_cmp(&tells(one)));
    let mut left = ROWS_SEARCHED;
    let mut chosen = Vec::new();
    for (_, word) in &candidates {
        let rows = rows(word);
        if rows <= left {
            left -= rows;
            chosen.push(*word);
            if chosen.len() == TOKENS_SEARCHED {
                break;
            }
        }
    }
    if chosen.is_empty() {
        // Each of them has more: the rarest alone, so that common words find something too.
        chosen.extend(
            candidates
                .iter()
                .map(|(_, word)| *word)
                .min_by_key(|word| rows(word)),
        );
    }
    chosen
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
            (vec!["error", "pool"], 100.0, vec!["pool", "error"]),
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
        assert!(chosen.contains(&"w0") && chosen.contains(&"w99"));
        assert!(!chosen.contains(&"w50"));
    }

    #[test]
    fn words_share_a_budget_of_rows() {
        let frequencies: HashMap<String, i64> = [
            ("checkout", 2_900),
            ("slow", 2_000),
            ("hikari", 3),
            ("everywhere", 30_000),
        ]
        .map(|(word, count)| (word.to_owned(), count))
        .into();
        for (words, expected) in [
            (vec!["checkout", "slow", "hikari"], vec!["hikari", "slow"]),
            (vec!["checkout", "hikari"], vec!["hikari", "checkout"]),
            // All of them too many: one is better than none.
            (vec!["everywhere"], vec!["everywhere"]),
        ] {
            assert_eq!(
                choose(&words, &frequencies, 100_000.0),
                expected,
                "{words:?}"
            );
        }
    }
}

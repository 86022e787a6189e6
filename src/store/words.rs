//! The words of an incident, as the full-text index holds them.
//!
//! Wanted: recall and index speak of the same tokens ([`crate::incident::words::terms`]), and the
//! index changes in the transaction that changes the record.

use super::{Store, StoreError};
use crate::database::past::{self, past_columns};
use crate::database::terms::{guild_mark, term};
use crate::database::{Body, Connection, query, query_scalar};
use crate::incident::words::terms;
use crate::incident::{IncidentId, PastIncident};
use std::collections::{BTreeMap, BTreeSet};

/// Tokens kept of one field. A pasted log of a megabyte is found by its beginning; the record
/// keeps all of it.
const TOKENS_A_FIELD: usize = 4_000;
/// Bytes read of one field to find them.
const BYTES_A_FIELD: usize = 64 * 1024;
/// Bytes of the longest token that PostgreSQL is given; its own limit is a little over 2000.
const LONGEST_TERM: usize = 500;
/// Records whose words PostgreSQL is given in one statement.
const RECORDS_AT_ONCE: usize = 1_000;
/// Terms whose counts it is given in one statement.
const TERMS_AT_ONCE: usize = 10_000;

/// Indexes an incident as it stands, in place of what was indexed before.
pub(super) async fn index(
    connection: &mut Connection,
    guild: &str,
    id: IncidentId,
) -> Result<(), StoreError> {
    let rows = query(concat!(
        "SELECT ",
        past_columns!(),
        ", id FROM incident WHERE guild = $1 AND number = $2"
    ))
    .bind(guild)
    .bind(i64::from(id.number()))
    .fetch_all(&mut *connection)
    .await?;
    for (past, row) in past::read(connection, guild, rows).await? {
        remove(connection, guild, id).await?;
        let mut batch = Batch::default();
        batch
            .index(connection, guild, row.try_get("id")?, &past)
            .await?;
        batch.write(connection).await?;
    }
    Ok(())
}

/// The making of tokens: raised whenever [`terms`] or the columns give others than before.
const VERSION: i64 = 2;

/// Whether the index holds tokens of this making.
pub(super) async fn current(connection: &mut Connection) -> Result<bool, StoreError> {
    let version: i64 = query_scalar("SELECT coalesce(max(version), 0) FROM words_version")
        .fetch_one(connection)
        .await?;
    Ok(version == VERSION)
}

/// Indexes every incident again where the index holds tokens of an older making.
pub(super) async fn renew(connection: &mut Connection) -> Result<(), StoreError> {
    if current(connection).await? {
        return Ok(());
    }
    let empty: &[&str] = if connection.is_postgres() {
        &["DELETE FROM incident_words", "DELETE FROM incident_terms"]
    } else {
        &["INSERT INTO incident_words (incident_words) VALUES ('delete-all')"]
    };
    for statement in empty {
        query(*statement).execute(&mut *connection).await?;
    }
    let guilds: Vec<String> = query_scalar("SELECT DISTINCT guild FROM incident")
        .fetch_all(&mut *connection)
        .await?;
    for guild in guilds {
        let mut last: i64 = 0;
        loop {
            let rows = query(concat!(
                "SELECT ",
                past_columns!(),
                ", id FROM incident WHERE guild = $1 AND id > $2 ORDER BY id LIMIT 500"
            ))
            .bind(guild.as_str())
            .bind(last)
            .fetch_all(&mut *connection)
            .await?;
            if rows.is_empty() {
                break;
            }
            let mut batch = Batch::default();
            for (past, row) in past::read(connection, &guild, rows).await? {
                last = row.try_get("id")?;
                batch.index(connection, &guild, last, &past).await?;
            }
            batch.write(connection).await?;
        }
    }
    query("UPDATE words_version SET version = $1")
        .bind(VERSION)
        .execute(connection)
        .await?;
    Ok(())
}

/// Removes an incident's words, and the vector that was made of them.
pub(super) async fn remove(
    connection: &mut Connection,
    guild: &str,
    id: IncidentId,
) -> Result<(), StoreError> {
    query(
        "DELETE FROM incident_vector WHERE incident IN \
         (SELECT id FROM incident WHERE guild = $1 AND number = $2)",
    )
    .bind(guild)
    .bind(i64::from(id.number()))
    .execute(&mut *connection)
    .await?;
    if connection.is_postgres() {
        return remove_from_postgres(connection, guild, id).await;
    }
    query(
        "DELETE FROM incident_words WHERE rowid IN \
         (SELECT id FROM incident WHERE guild = $1 AND number = $2)",
    )
    .bind(guild)
    .bind(i64::from(id.number()))
    .execute(connection)
    .await?;
    Ok(())
}

/// Words of records that are indexed together. PostgreSQL is given them when they are written: an
/// import would wait for the server once a record and more otherwise, and raise the count of a common
/// token once a record. SQLite takes each at once.
#[derive(Default)]
pub(super) struct Batch {
    rows: Vec<i64>,
    words: Vec<String>,
    counts: BTreeMap<String, i64>,
}

impl Batch {
    /// Indexes a record under its row, which holds no words yet.
    pub(super) async fn index(
        &mut self,
        connection: &mut Connection,
        guild: &str,
        row: i64,
        past: &PastIncident,
    ) -> Result<(), StoreError> {
        if connection.is_postgres() {
            self.add(guild, row, past);
            return Ok(());
        }
        let [title, symptoms, signatures, cause, rest] = fields(past);
        query(
            "INSERT INTO incident_words (rowid, guild, title, symptoms, signatures, cause, rest) \
             VALUES ($1, 'g' || lower(hex($2)), $3, $4, $5, $6, $7)",
        )
        .bind(row)
        .bind(guild)
        .bind(title)
        .bind(symptoms)
        .bind(signatures)
        .bind(cause)
        .bind(rest)
        .execute(connection)
        .await?;
        Ok(())
    }

    fn add(&mut self, guild: &str, row: i64, past: &PastIncident) {
        let mark = guild_mark(guild);
        let mut terms = BTreeSet::new();
        for field in fields(past) {
            let tokens = field.split(' ').filter(|token| !token.is_empty());
            terms.extend(
                tokens
                    .filter(|token| token.len() <= LONGEST_TERM)
                    .map(|token| term(&mark, token)),
            );
        }
        let mut words = String::new();
        for term in terms {
            if !words.is_empty() {
                words.push(' ');
            }
            words.push_str(&term);
            *self.counts.entry(term).or_default() += 1;
        }
        self.rows.push(row);
        self.words.push(words);
    }

    /// Writes what is not written yet, some thousands at a time: no statement is long.
    pub(super) async fn write(self, connection: &mut Connection) -> Result<(), StoreError> {
        let records = self.rows.chunks(RECORDS_AT_ONCE);
        for (rows, words) in records.zip(self.words.chunks(RECORDS_AT_ONCE)) {
            query(
                "INSERT INTO incident_words (id, words) \
                 SELECT id, array_to_tsvector(string_to_array(words, ' ')) \
                 FROM unnest($1::bigint[], $2::text[]) AS record (id, words)",
            )
            .bind(rows.to_vec())
            .bind(words.to_vec())
            .execute(&mut *connection)
            .await?;
        }
        // In the order of the terms, so that two who write take their rows in one order.
        let (terms, counts): (Vec<String>, Vec<i64>) = self.counts.into_iter().unzip();
        let counted = terms.chunks(TERMS_AT_ONCE);
        for (terms, counts) in counted.zip(counts.chunks(TERMS_AT_ONCE)) {
            query(
                "INSERT INTO incident_terms AS known (term, docs) \
                 SELECT term, docs FROM unnest($1::text[], $2::bigint[]) AS added (term, docs) \
                 ON CONFLICT (term) DO UPDATE SET docs = known.docs + excluded.docs",
            )
            .bind(terms.to_vec())
            .bind(counts.to_vec())
            .execute(&mut *connection)
            .await?;
        }
        Ok(())
    }
}

async fn remove_from_postgres(
    connection: &mut Connection,
    guild: &str,
    id: IncidentId,
) -> Result<(), StoreError> {
    let removed: Option<String> = query_scalar(
        "DELETE FROM incident_words WHERE id = \
         (SELECT id FROM incident WHERE guild = $1 AND number = $2) \
         RETURNING array_to_string(tsvector_to_array(words), ' ')",
    )
    .bind(guild)
    .bind(i64::from(id.number()))
    .fetch_optional(&mut *connection)
    .await?;
    let Some(removed) = removed else {
        return Ok(());
    };
    let terms: Vec<String> = removed.split(' ').map(str::to_owned).collect();
    for statement in [
        "UPDATE incident_terms SET docs = docs - 1 WHERE term = ANY($1)",
        "DELETE FROM incident_terms WHERE term = ANY($1) AND docs <= 0",
    ] {
        query(statement)
            .bind(terms.clone())
            .execute(&mut *connection)
            .await?;
    }
    Ok(())
}

/// Whether the pages of what the transaction deletes are overwritten, also where that costs a page
/// more to be written. What is not said to be forgotten is overwritten where it costs nothing.
pub(super) async fn overwrite(connection: &mut Connection, all: bool) -> Result<(), StoreError> {
    if let Body::Sqlite(connection) = connection.body() {
        sqlx::query(if all {
            "PRAGMA secure_delete = ON"
        } else {
            "PRAGMA secure_delete = FAST"
        })
        .execute(connection)
        .await?;
    }
    Ok(())
}

/// Pages of the index that one step merges: a few milliseconds, so that others get their turn.
const MERGED_AT_ONCE: i64 = 200;
/// Steps at most; a million incidents take some thousand.
const MOST_MERGES: u32 = 20_000;

/// Merges the index until no segment holds words of what was deleted: until then they are only
/// marked as deleted.
pub(super) async fn drop_deleted(store: &Store) -> Result<(), StoreError> {
    // A negative number begins a merge of everything, positive ones go on with it.
    let mut pages = -MERGED_AT_ONCE;
    for _ in 0..MOST_MERGES {
        let mut tx = store.writer.begin().await?;
        overwrite(&mut tx, true).await?;
        let Body::Sqlite(connection) = tx.body() else {
            return Ok(());
        };
        let changes = "SELECT total_changes()";
        let before: i64 = sqlx::query_scalar(changes)
            .fetch_one(&mut *connection)
            .await?;
        sqlx::query("INSERT INTO incident_words (incident_words, rank) VALUES ('merge', $1)")
            .bind(pages)
            .execute(&mut *connection)
            .await?;
        let after: i64 = sqlx::query_scalar(changes)
            .fetch_one(&mut *connection)
            .await?;
        overwrite(&mut tx, false).await?;
        tx.commit().await?;
        // The command itself counts as one.
        if after - before < 2 {
            return Ok(());
        }
        pages = MERGED_AT_ONCE;
        tokio::task::yield_now().await;
    }
    Ok(())
}

/// The fields as the index knows them: title, symptoms, signatures, cause, and the rest.
fn fields(past: &PastIncident) -> [String; 5] {
    [
        field([past.title.as_str()]),
        field(past.symptoms.iter().map(String::as_str)),
        field(past.error_signatures.iter().map(String::as_str)),
        field([past.root_cause.as_str()]),
        field(
            past.service
                .as_deref()
                .into_iter()
                .chain(past.attempts.iter().map(|attempt| attempt.fix.as_str()))
                .chain(past.ruled_out.iter().map(String::as_str)),
        ),
    ]
}

fn field<'a>(texts: impl IntoIterator<Item = &'a str>) -> String {
    let mut out = String::new();
    let mut count = 0;
    let mut bytes = 0;
    for text in texts {
        let text = beginning(text, BYTES_A_FIELD - bytes);
        bytes += text.len();
        for token in terms(text) {
            if count == TOKENS_A_FIELD {
                return out;
            }
            if count > 0 {
                out.push(' ');
            }
            out.push_str(&token);
            count += 1;
        }
    }
    out
}

/// The first bytes of a text, cut between characters.
fn beginning(text: &str, bytes: usize) -> &str {
    let mut end = text.len().min(bytes);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    text.get(..end).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_field_is_tokens_between_spaces() {
        for (texts, expected) in [
            (
                vec!["HikariPool-1 timed out"],
                "hikaripool hikari pool 1 tim out",
            ),
            (vec!["数据库", "max_pool"], "数据 据库 max_pool max pool"),
            (vec![], ""),
            (vec!["", "!!"], ""),
        ] {
            assert_eq!(field(texts.clone()), expected, "{texts:?}");
        }
    }

    #[test]
    fn a_megabyte_is_indexed_by_its_beginning() {
        let text = "超时 timeout ".repeat(100_000);
        assert_eq!(field([text.as_str()]).split(' ').count(), TOKENS_A_FIELD);
        assert_eq!(beginning("超时", 4), "超");
        assert_eq!(beginning("超时", 0), "");
    }
}

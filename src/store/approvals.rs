//! Approvals of destructive steps: who asked, who approved, who said not now, and when.

use super::{Scope, Store, StoreError, millis, must_see, storable, timestamp};
use crate::database::{query, query_as};
use crate::incident::IncidentId;
use crate::incident::approval::{Entry, Who, Word};
use jiff::Timestamp;

/// One thing that was said of a step of an analysis.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Approval {
    /// The step, counted from 0 as the analysis lists it.
    pub step: u32,
    /// Its place among what was said of the step, from 1.
    pub seq: u32,
    /// What was said, by whom, when.
    pub entry: Entry,
    /// A digest of the step and its command as they stood.
    pub words: String,
}

fn word_of(text: &str) -> Option<Word> {
    match text {
        "asked" => Some(Word::Asked),
        "approved" => Some(Word::Approved),
        "not_now" => Some(Word::NotNow),
        _ => None,
    }
}

fn text_of(word: Word) -> &'static str {
    match word {
        Word::Asked => "asked",
        Word::Approved => "approved",
        Word::NotNow => "not_now",
    }
}

impl Store {
    /// Adds what was said of a step, where `said.seq` is the next of it; else somebody was faster.
    /// An interaction counts once for a step. Gives whether it was added.
    ///
    /// # Errors
    ///
    /// [`StoreError::NotFound`] as for [`Store::incident`]; [`StoreError::Conflict`] where there is
    /// no such analysis.
    pub async fn say_approval(
        &self,
        scope: &Scope,
        id: IncidentId,
        analysis: u32,
        said: &Approval,
        interaction: u64,
    ) -> Result<bool, StoreError> {
        let mut tx = self.write(&scope.guild).await?;
        must_see(&mut tx, scope, id).await?;
        let interaction = interaction.to_string();
        let known: Vec<(i64, String)> = query_as(
            "SELECT seq, interaction FROM approval WHERE guild = $1 AND number = $2 \
             AND analysis = $3 AND step = $4 ORDER BY seq",
        )
        .bind(&scope.guild)
        .bind(i64::from(id.number()))
        .bind(i64::from(analysis))
        .bind(i64::from(said.step))
        .fetch_all(&mut *tx)
        .await?;
        let last = known.last().map_or(0, |(seq, _)| *seq);
        let twice = known.iter().any(|(_, by)| *by == interaction);
        if twice || i64::from(said.seq) != last + 1 {
            return Ok(false);
        }
        query(
            "INSERT INTO approval (guild, number, analysis, step, seq, word, person, by_whom, at, \
             words, interaction) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)",
        )
        .bind(&scope.guild)
        .bind(i64::from(id.number()))
        .bind(i64::from(analysis))
        .bind(i64::from(said.step))
        .bind(i64::from(said.seq))
        .bind(text_of(said.entry.word))
        .bind(said.entry.who.person.to_string())
        .bind(storable(&said.entry.who.name))
        .bind(millis(said.entry.who.at))
        .bind(&said.words)
        .bind(interaction)
        .execute(&mut *tx)
        .await?;
        tx.commit().await?;
        Ok(true)
    }

    /// All that was said of the steps of an analysis, by step and in order.
    ///
    /// # Errors
    ///
    /// [`StoreError::NotFound`] as for [`Store::incident`]; [`StoreError::Invalid`] where another
    /// version wrote it.
    pub async fn approvals(
        &self,
        scope: &Scope,
        id: IncidentId,
        analysis: u32,
    ) -> Result<Vec<Approval>, StoreError> {
        type Row = (i64, i64, String, String, String, i64, String);
        let mut connection = self.reader.acquire().await?;
        must_see(&mut connection, scope, id).await?;
        let rows: Vec<Row> = query_as(
            "SELECT step, seq, word, person, by_whom, at, words FROM approval \
             WHERE guild = $1 AND number = $2 AND analysis = $3 ORDER BY step, seq",
        )
        .bind(&scope.guild)
        .bind(i64::from(id.number()))
        .bind(i64::from(analysis))
        .fetch_all(&mut connection)
        .await?;
        rows.into_iter()
            .map(|(step, seq, word, person, name, at, words)| {
                let at: Timestamp = timestamp(at)?;
                let unknown = || StoreError::Invalid("an approval of another version".to_owned());
                Ok(Approval {
                    step: u32::try_from(step).unwrap_or(u32::MAX),
                    seq: u32::try_from(seq).unwrap_or(u32::MAX),
                    entry: Entry {
                        word: word_of(&word).ok_or_else(unknown)?,
                        who: Who {
                            person: person.parse().map_err(|_| unknown())?,
                            name,
                            at,
                        },
                    },
                    words,
                })
            })
            .collect()
    }
}

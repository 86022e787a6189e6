//! Messages of the bot: the intent is written before the message is sent, under a key that a job
//! run twice makes again, so that it posts once.

use super::{Incident, Scope, Store, StoreError, must_see};
use crate::database::{query, query_as};
use crate::incident::IncidentId;
use std::fmt;

/// What a message is for.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct PostKey {
    /// The guild.
    pub guild: String,
    /// The incident.
    pub incident: IncidentId,
    /// The analysis it shows; 0 where it shows none.
    pub analysis: u32,
    /// Which of its messages: `headline`, `cards`, `steps`, `update`, ...
    pub slot: String,
}

impl PostKey {
    /// A key.
    pub fn new(
        guild: impl Into<String>,
        incident: IncidentId,
        analysis: u32,
        slot: impl Into<String>,
    ) -> Self {
        Self {
            guild: guild.into(),
            incident,
            analysis,
            slot: slot.into(),
        }
    }
}

impl fmt::Display for PostKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            guild,
            incident,
            analysis,
            slot,
        } = self;
        write!(f, "{guild}/{}/{analysis}/{slot}", incident.number())
    }
}

/// What is known of a message that is about to be sent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Intended {
    /// It was sent before: this message.
    pub already: Option<String>,
    /// Which attempt this is, from 1. A second one without `already` may have been sent: look
    /// before sending.
    pub attempt: u32,
}

/// A message of the bot.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Post {
    /// The analysis it shows; 0 where it shows none.
    pub analysis: u32,
    /// Which of its messages.
    pub slot: String,
    /// The channel or thread.
    pub channel: String,
    /// The message; `None` while it is only intended.
    pub message: Option<String>,
}

impl Store {
    /// Stores a message that was sent by other means than [`Store::intend_post`] foresees: the
    /// answer to an interaction, of which there is one.
    ///
    /// # Errors
    ///
    /// Those of the database.
    pub async fn remember_post(
        &self,
        incident: &Incident,
        analysis: u32,
        slot: &str,
        channel: u64,
        message: u64,
    ) -> Result<(), StoreError> {
        let key = PostKey::new(incident.guild.as_str(), incident.id(), analysis, slot);
        self.intend_post(&key, &channel.to_string()).await?;
        self.posted(&key, &message.to_string()).await
    }

    /// Writes down that a message is about to be sent.
    ///
    /// # Errors
    ///
    /// Those of the database: send nothing then.
    pub async fn intend_post(&self, key: &PostKey, channel: &str) -> Result<Intended, StoreError> {
        let (already, attempt): (Option<String>, i64) = query_as(
            "INSERT INTO post (key, guild, number, analysis, slot, channel, message, attempt) \
             VALUES ($1, $2, $3, $4, $5, $6, NULL, 1) \
             ON CONFLICT (key) DO UPDATE SET \
             attempt = post.attempt + 1, \
             channel = CASE WHEN post.message IS NULL THEN excluded.channel ELSE post.channel END \
             RETURNING message, attempt",
        )
        .bind(key.to_string())
        .bind(&key.guild)
        .bind(i64::from(key.incident.number()))
        .bind(i64::from(key.analysis))
        .bind(&key.slot)
        .bind(channel)
        .fetch_one(&self.writer)
        .await?;
        Ok(Intended {
            already,
            attempt: u32::try_from(attempt).unwrap_or(u32::MAX),
        })
    }

    /// Writes down that it was sent.
    ///
    /// # Errors
    ///
    /// [`StoreError::NotFound`] where it was never intended.
    pub async fn posted(&self, key: &PostKey, message: &str) -> Result<(), StoreError> {
        let changed = query("UPDATE post SET message = $2 WHERE key = $1")
            .bind(key.to_string())
            .bind(message)
            .execute(&self.writer)
            .await?;
        if changed.rows_affected() == 0 {
            return Err(StoreError::NotFound);
        }
        Ok(())
    }

    /// Writes down that a message is gone (somebody deleted it), so that it may be sent again.
    ///
    /// # Errors
    ///
    /// Those of the database.
    pub async fn post_gone(&self, key: &PostKey) -> Result<(), StoreError> {
        query("DELETE FROM post WHERE key = $1")
            .bind(key.to_string())
            .execute(&self.writer)
            .await?;
        Ok(())
    }

    /// The messages of an incident, analysis by analysis.
    ///
    /// # Errors
    ///
    /// [`StoreError::NotFound`] as for [`Store::incident`].
    pub async fn posts_of(&self, scope: &Scope, id: IncidentId) -> Result<Vec<Post>, StoreError> {
        let mut connection = self.reader.acquire().await?;
        must_see(&mut connection, scope, id).await?;
        let rows: Vec<(i64, String, String, Option<String>)> = query_as(
            "SELECT analysis, slot, channel, message FROM post WHERE guild = $1 AND number = $2 \
             ORDER BY analysis, key",
        )
        .bind(&scope.guild)
        .bind(i64::from(id.number()))
        .fetch_all(&mut connection)
        .await?;
        Ok(rows
            .into_iter()
            .map(|(analysis, slot, channel, message)| Post {
                analysis: u32::try_from(analysis).unwrap_or(0),
                slot,
                channel,
                message,
            })
            .collect())
    }
}

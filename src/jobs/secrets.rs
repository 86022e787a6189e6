//! Under which key secrets are struck (R22): each incident has its own, so that its placeholders can
//! be compared in it and tell nothing elsewhere.
//!
//! Everything that comes in is struck at the entrance ([`super::intake`]), or where it is read later
//! (files, channels, other sources), before anything of it is stored, logged or sent.

use super::duty::Duty;
use crate::discord::{FileRef, Place};
use crate::store::Incident;

impl Duty {
    /// The same duty, for what is no incident's in a guild.
    pub(super) fn in_guild(&self, guild: u64) -> Self {
        Self {
            responder: self.responder.in_guild(&guild.to_string()),
            ..self.clone()
        }
    }

    /// The same duty, for the incident that an interaction opens.
    pub(super) fn in_opened_by(&self, guild: u64, interaction: u64) -> Self {
        let (guild, opening) = (guild.to_string(), interaction.to_string());
        Self {
            responder: self.responder.in_incident(&guild, &opening),
            ..self.clone()
        }
    }

    /// The same duty, for a known incident. Where the database does not say what opened it, equal
    /// secrets are struck under the guild's key: no more than the comparison is lost.
    pub(super) async fn in_incident(&self, incident: &Incident) -> Self {
        let responder = match self.store.opening_of(&incident.guild, incident.id()).await {
            Ok(opening) => self.responder.in_incident(&incident.guild, &opening),
            Err(error) => {
                tracing::warn!(
                    error = &error as &dyn std::error::Error,
                    "what opened an incident can't be read"
                );
                self.responder.in_guild(&incident.guild)
            }
        };
        Self {
            responder,
            ..self.clone()
        }
    }

    /// The same duty, for the incident whose thread this is; for the guild where it is none.
    pub(super) async fn in_place(&self, place: &Place) -> Self {
        let guild = place.guild.to_string();
        let thread = place.channel.to_string();
        let found = if place.known && !place.thread {
            Ok(None)
        } else {
            self.store.by_thread(&guild, &thread).await
        };
        match found {
            Ok(Some(incident)) => self.in_incident(&incident).await,
            _ => self.in_guild(place.guild),
        }
    }

    /// Files by names without secrets.
    pub(super) fn clean_files(&self, files: Vec<FileRef>) -> Vec<FileRef> {
        files
            .into_iter()
            .map(|file| FileRef {
                name: self.responder.redact_text(&file.name),
                ..file
            })
            .collect()
    }
}

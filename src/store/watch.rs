//! Channels that are watched: what people set, what their messages said, which incidents came of it,
//! and what was changed.
//!
//! Wanted: a message counts once, and what it opens is opened in the transaction that says so; what is
//! still to be posted of it is written down with it ([`Errand`]). What a private channel told is seen
//! from there alone.
//!
//! Design: what is known of a channel is one document ([`Channel`]); whoever writes it says which
//! version they have read.

use super::audit::audit;
use super::incidents::{note, open_in};
use super::{
    NewIncident, Scope, Signed, Store, StoreError, document, incident_id, millis, storable,
    storable_service, timestamp,
};
use crate::database::{Transaction, query, query_as, query_scalar};
use crate::incident::alert::Alert;
use crate::incident::change::{Change, KEPT_MS};
use crate::incident::{IncidentId, Locale, Severity, Status};
use crate::response::watch::{Analyse, Channel, KNOWN_MS, Settings, WatchedId};
use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::json;

/// What a channel is watched for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum WatchedFor {
    /// Alerts.
    Alerts,
    /// Changes.
    Changes,
}

impl WatchedFor {
    /// As it is stored.
    pub fn word(self) -> &'static str {
        match self {
            Self::Alerts => "alerts",
            Self::Changes => "changes",
        }
    }

    fn parse(word: &str) -> Option<Self> {
        [Self::Alerts, Self::Changes]
            .into_iter()
            .find(|one| one.word() == word)
    }
}

/// A channel that is watched, as people set it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WatchedPlace {
    /// The channel.
    pub channel: String,
    /// For what.
    pub what: WatchedFor,
    /// Not everybody sees it.
    pub private: bool,
    /// The language of what is posted there.
    pub locale: Locale,
    /// How alerts are treated.
    pub settings: Settings,
    /// Who had it watched.
    pub by: String,
    /// Since when.
    pub at: Timestamp,
    /// How many alerts were counted by messages and not shown, and when the last of these came.
    pub unread: (u32, Option<Timestamp>),
}

/// Something that is still to be done about an incident of a channel.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Errand {
    /// Which incident, in the channel's document.
    pub watched: WatchedId,
    /// What.
    pub what: Todo,
    /// Tells it from the same at another time, unix milliseconds.
    pub stamp: i64,
}

/// What is to be done.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Todo {
    /// Post about it, or edit the post.
    Show,
    /// Analyse it, unasked.
    Analyse,
    /// Suggest its end: all is quiet since then, unix milliseconds.
    SuggestEnd(i64),
    /// What was tried last held: all is quiet since then, unix milliseconds.
    Held(i64),
    /// It runs again: it fires after people ended it.
    Reopen,
}

/// What is known of a channel.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Known {
    /// What fires there, and what fired.
    pub channel: Channel,
    /// What is still to be committed as work.
    #[serde(default)]
    pub errands: Vec<Errand>,
    /// When it is next looked at because time has passed, unix milliseconds.
    #[serde(default)]
    pub look_ms: Option<i64>,
}

/// Which incident the alerts of a channel belong to, and what people said of it since.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Belongs {
    /// Its number in the channel's document.
    pub watched: WatchedId,
    /// The incident.
    pub incident: IncidentId,
    /// The one that it was before it was merged.
    pub origin: IncidentId,
    /// An alert opened it.
    pub opened: bool,
    /// Until when the word of people is known to the document, unix milliseconds.
    pub heard_ms: i64,
    /// Alerts of its last message that were counted there and not shown.
    pub unread: u32,
    /// Where the incident stands.
    pub status: Status,
    /// What it was merged into.
    pub merged_into: Option<IncidentId>,
    /// It was merged, and is an incident of its own again.
    pub apart_again: bool,
    /// When people last said where it stands, or who leads, unix milliseconds.
    pub said_ms: Option<i64>,
}

/// A channel of alerts as it was read.
#[derive(Clone, Debug)]
pub struct AlertChannel {
    /// What people set.
    pub place: WatchedPlace,
    /// What is known of it.
    pub known: Known,
    /// Which version that is.
    pub version: i64,
    /// Its incidents.
    pub belongs: Vec<Belongs>,
}

impl AlertChannel {
    /// The incident of a number in the document.
    pub fn incident(&self, watched: WatchedId) -> Option<&Belongs> {
        self.belongs.iter().find(|one| one.watched == watched)
    }
}

/// An alert of a message and what was decided.
#[derive(Clone, Debug)]
pub struct TakenAlert {
    /// The message.
    pub message: u64,
    /// When it came, unix milliseconds.
    pub at_ms: i64,
    /// The alert.
    pub alert: Alert,
    /// A word for what was decided.
    pub decision: &'static str,
    /// Where it belongs; `None`: it was kept.
    pub watched: Option<WatchedId>,
}

/// What an alert opens.
#[derive(Clone, Debug)]
pub enum Opens {
    /// An incident of its own.
    New(Box<NewIncident>),
    /// None: it is evidence of one that people run.
    Joins(IncidentId),
}

/// What is written of a channel in one transaction.
#[derive(Clone, Debug, Default)]
pub struct Written {
    /// Alerts of a message.
    pub alerts: Vec<TakenAlert>,
    /// What they open.
    pub opens: Vec<(WatchedId, Opens)>,
    /// Of which incidents the word of people is known until when, unix milliseconds.
    pub heard: Vec<(WatchedId, i64)>,
    /// Which go on in another incident.
    pub moved: Vec<(WatchedId, IncidentId)>,
    /// What is said in the history of which incident: `fires`, `joined`, `fires_again`, `over`, with
    /// the alert's name.
    pub notes: Vec<(WatchedId, &'static str, String, String)>,
    /// How many alerts a message counted and did not show, and where they are shown.
    pub unread: Option<(u32, Vec<WatchedId>)>,
}

impl Written {
    /// Whether there is anything to write.
    pub fn says_anything(&self) -> bool {
        !(self.alerts.is_empty()
            && self.opens.is_empty()
            && self.heard.is_empty()
            && self.moved.is_empty()
            && self.notes.is_empty()
            && self.unread.is_none())
    }
}

/// An alert of an incident, as it was last told.
#[derive(Clone, Debug, PartialEq)]
pub struct ToldAlert {
    /// The message.
    pub message: u64,
    /// When it came.
    pub at: Timestamp,
    /// The alert.
    pub alert: Alert,
}

type Place = (
    String,
    String,
    i64,
    String,
    String,
    i64,
    i64,
    String,
    i64,
    i64,
    Option<i64>,
);

type Belonging = (
    i64,
    i64,
    i64,
    i64,
    i64,
    i64,
    String,
    Option<i64>,
    Option<String>,
    Option<i64>,
);

/// The columns of [`Place`].
macro_rules! places {
    ($condition:literal) => {
        concat!(
            "SELECT channel, kind, private, locale, mode, floor, quiet_repeats_ms, by_whom, at, \
             unread, unread_at FROM alert_channel WHERE ",
            $condition
        )
    };
}

impl Store {
    /// Has a channel watched, or changes how.
    ///
    /// # Errors
    ///
    /// Those of the database.
    pub async fn watch_channel(
        &self,
        guild: &str,
        place: &WatchedPlace,
        signed: Signed<'_>,
    ) -> Result<(), StoreError> {
        let mut tx = self.write(guild).await?;
        let known: Option<String> = query_scalar(
            "SELECT state FROM alert_channel WHERE guild = $1 AND channel = $2 AND kind = $3",
        )
        .bind(guild)
        .bind(&place.channel)
        .bind(place.what.word())
        .fetch_optional(&mut *tx)
        .await?;
        let mut known: Known = match known {
            Some(state) => serde_json::from_str(&state)?,
            None => Known::default(),
        };
        known.channel.settings = place.settings;
        query(
            "INSERT INTO alert_channel (guild, channel, kind, private, locale, mode, floor, \
             quiet_repeats_ms, by_whom, at, version, state) \
             VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, 1, $11) \
             ON CONFLICT (guild, channel, kind) DO UPDATE SET private = excluded.private, \
             locale = excluded.locale, mode = excluded.mode, floor = excluded.floor, \
             quiet_repeats_ms = excluded.quiet_repeats_ms, by_whom = excluded.by_whom, \
             at = excluded.at, state = excluded.state, stopped = 0, version = alert_channel.version + 1",
        )
        .bind(guild)
        .bind(&place.channel)
        .bind(place.what.word())
        .bind(i64::from(place.private))
        .bind(place.locale.code())
        .bind(analyse_word(place.settings.analyse))
        .bind(i64::from(place.settings.floor.number()))
        .bind(place.settings.quiet_repeats_ms)
        .bind(storable(&place.by))
        .bind(millis(place.at))
        .bind(document(&known)?)
        .execute(&mut *tx)
        .await?;
        let detail = json!({ "for": place.what.word(), "analyse": place.settings.analyse, "floor": place.settings.floor });
        audit(&mut tx, guild, signed, "watch", &place.channel, &detail).await?;
        Ok(tx.commit().await?)
    }

    /// No longer watches a channel; its incidents stay. Whether it was watched.
    ///
    /// # Errors
    ///
    /// Those of the database.
    pub async fn stop_watching(
        &self,
        guild: &str,
        channel: &str,
        signed: Signed<'_>,
    ) -> Result<bool, StoreError> {
        let mut tx = self.write(guild).await?;
        let gone = query(
            "UPDATE alert_channel SET stopped = 1, version = version + 1 \
             WHERE guild = $1 AND channel = $2 AND stopped = 0",
        )
        .bind(guild)
        .bind(channel)
        .execute(&mut *tx)
        .await?
        .rows_affected();
        if gone > 0 {
            audit(&mut tx, guild, signed, "unwatch", channel, &json!({})).await?;
        }
        tx.commit().await?;
        Ok(gone > 0)
    }

    /// The channels that a guild has watched and that may be seen from the scope.
    ///
    /// # Errors
    ///
    /// Those of the database.
    pub async fn watched_channels(&self, scope: &Scope) -> Result<Vec<WatchedPlace>, StoreError> {
        let mut connection = self.reader.acquire().await?;
        let rows: Vec<Place> = query_as(places!(
            "guild = $1 AND (private = 0 OR channel = $2) AND stopped = 0 ORDER BY kind, channel"
        ))
        .bind(&scope.guild)
        .bind(&scope.channel)
        .fetch_all(&mut connection)
        .await?;
        rows.into_iter().map(place).collect()
    }

    /// What a channel is watched for now.
    ///
    /// # Errors
    ///
    /// Those of the database.
    pub async fn watched_for(
        &self,
        guild: &str,
        channel: &str,
    ) -> Result<Vec<WatchedFor>, StoreError> {
        let mut connection = self.reader.acquire().await?;
        let rows: Vec<(String,)> =
            query_as("SELECT kind FROM alert_channel WHERE guild = $1 AND channel = $2 AND stopped = 0 ORDER BY kind")
                .bind(guild)
                .bind(channel)
                .fetch_all(&mut connection)
                .await?;
        Ok(rows
            .iter()
            .filter_map(|(kind,)| WatchedFor::parse(kind))
            .collect())
    }

    /// Every channel that is watched, of every guild: `(guild, channel)`; for catching up.
    ///
    /// # Errors
    ///
    /// Those of the database.
    pub async fn all_watched(&self) -> Result<Vec<(u64, u64, Timestamp)>, StoreError> {
        let rows: Vec<(String, String, i64)> = query_as(
            "SELECT guild, channel, min(at) FROM alert_channel WHERE stopped = 0 GROUP BY guild, channel \
             ORDER BY guild, channel",
        )
        .fetch_all(&self.reader)
        .await?;
        Ok(rows
            .into_iter()
            .filter_map(|(guild, channel, at)| {
                Some((
                    guild.parse().ok()?,
                    channel.parse().ok()?,
                    timestamp(at).ok()?,
                ))
            })
            .collect())
    }

    /// A channel that is watched for alerts, or was.
    ///
    /// # Errors
    ///
    /// Those of the database.
    pub async fn alert_channel(
        &self,
        guild: &str,
        channel: &str,
    ) -> Result<Option<AlertChannel>, StoreError> {
        let mut connection = self.reader.acquire().await?;
        let row: Option<Place> =
            query_as(places!("guild = $1 AND channel = $2 AND kind = 'alerts'"))
                .bind(guild)
                .bind(channel)
                .fetch_optional(&mut connection)
                .await?;
        let Some(row) = row else {
            return Ok(None);
        };
        let (version, state): (i64, String) = query_as(
            "SELECT version, state FROM alert_channel \
             WHERE guild = $1 AND channel = $2 AND kind = 'alerts'",
        )
        .bind(guild)
        .bind(channel)
        .fetch_one(&mut connection)
        .await?;
        let rows: Vec<Belonging> = query_as(
            "SELECT a.watched, a.number, a.origin, a.opened, a.heard_at, a.unread, i.status, \
             i.duplicate_of, (SELECT o.status FROM incident o WHERE o.guild = a.guild \
             AND o.number = a.origin), (SELECT max(e.at) FROM incident_event e WHERE e.guild = a.guild \
             AND e.number = a.number AND e.what IN ('status', 'resolved', 'lead')) \
             FROM incident_alert a JOIN incident i ON i.guild = a.guild AND i.number = a.number \
             WHERE a.guild = $1 AND a.channel = $2 ORDER BY a.watched",
        )
        .bind(guild)
        .bind(channel)
        .fetch_all(&mut connection)
        .await?;
        let belongs = rows.into_iter().map(
            |(
                watched,
                number,
                origin,
                opened,
                heard_ms,
                unread,
                status,
                merged_into,
                origin_status,
                said_ms,
            )| {
                Ok(Belongs {
                    watched: watched_id(watched),
                    incident: incident_id(number)?,
                    origin: incident_id(origin)?,
                    opened: opened != 0,
                    heard_ms,
                    unread: u32::try_from(unread).unwrap_or(u32::MAX),
                    status: Status::parse(&status).unwrap_or_default(),
                    merged_into: merged_into.map(incident_id).transpose()?,
                    apart_again: number != origin && origin_status.as_deref() != Some("merged"),
                    said_ms,
                })
            },
        );
        Ok(Some(AlertChannel {
            place: place(row)?,
            known: serde_json::from_str(&state)?,
            version,
            belongs: belongs.collect::<Result<_, StoreError>>()?,
        }))
    }

    /// Writes what a channel's document became, and what came of it, in one transaction.
    ///
    /// # Errors
    ///
    /// [`StoreError::Conflict`] where somebody wrote it since it was read; nothing is written then.
    pub async fn write_alerts(
        &self,
        guild: &str,
        read: &AlertChannel,
        known: &Known,
        written: &Written,
        at: Timestamp,
    ) -> Result<(), StoreError> {
        let channel = read.place.channel.as_str();
        let mut tx = self.write(guild).await?;
        let changed = query(
            "UPDATE alert_channel SET state = $4, version = version + 1 \
             WHERE guild = $1 AND channel = $2 AND kind = 'alerts' AND version = $3",
        )
        .bind(guild)
        .bind(channel)
        .bind(read.version)
        .bind(document(known)?)
        .execute(&mut *tx)
        .await?;
        if changed.rows_affected() == 0 {
            return Err(StoreError::Conflict(
                "the channel's alerts were written meanwhile".to_owned(),
            ));
        }
        let mut numbers: Vec<(WatchedId, IncidentId)> = read
            .belongs
            .iter()
            .map(|one| (one.watched, one.incident))
            .collect();
        for (watched, opens) in &written.opens {
            let (number, opened) = match opens {
                Opens::New(new) => (open_in(&mut tx, guild, new).await?, true),
                Opens::Joins(incident) => (*incident, false),
            };
            query(
                "INSERT INTO incident_alert (guild, channel, watched, number, origin, opened, heard_at) \
                 VALUES ($1, $2, $3, $4, $4, $5, $6)",
            )
            .bind(guild)
            .bind(channel)
            .bind(watched_number(*watched))
            .bind(i64::from(number.number()))
            .bind(i64::from(opened))
            // What people said of their own incident before is their word; of a new one there is none.
            .bind(if opened { millis(at) } else { 0 })
            .execute(&mut *tx)
            .await?;
            numbers.push((*watched, number));
        }
        let number_of = |watched: WatchedId| {
            let found = numbers.iter().find(|(known, _)| *known == watched);
            found.map(|(_, number)| *number)
        };
        for taken in &written.alerts {
            let number = taken.watched.and_then(number_of);
            query(
                "INSERT INTO alert (guild, channel, message, key, at, alert, decision, number) \
                 VALUES ($1, $2, $3, $4, $5, $6, $7, $8) \
                 ON CONFLICT (guild, channel, message, key) DO NOTHING",
            )
            .bind(guild)
            .bind(channel)
            .bind(taken.message.to_string())
            .bind(storable(taken.alert.key.as_str()))
            .bind(taken.at_ms)
            .bind(document(&taken.alert)?)
            .bind(taken.decision)
            .bind(number.map(|id| i64::from(id.number())))
            .execute(&mut *tx)
            .await?;
        }
        for (watched, heard_ms) in &written.heard {
            query(
                "UPDATE incident_alert SET heard_at = $4 \
                 WHERE guild = $1 AND channel = $2 AND watched = $3",
            )
            .bind(guild)
            .bind(channel)
            .bind(watched_number(*watched))
            .bind(*heard_ms)
            .execute(&mut *tx)
            .await?;
        }
        for (watched, to) in &written.moved {
            query(
                "UPDATE incident_alert SET number = $4 \
                 WHERE guild = $1 AND channel = $2 AND watched = $3",
            )
            .bind(guild)
            .bind(channel)
            .bind(watched_number(*watched))
            .bind(i64::from(to.number()))
            .execute(&mut *tx)
            .await?;
        }
        for (watched, what, name, source) in &written.notes {
            if let Some(number) = number_of(*watched) {
                let detail = json!({ "to": what, "alert": name });
                note(&mut tx, guild, number, at, source, "alert", &detail).await?;
            }
        }
        if let Some((unread, shown_at)) = &written.unread {
            for watched in shown_at {
                query(
                    "UPDATE incident_alert SET unread = $4 \
                     WHERE guild = $1 AND channel = $2 AND watched = $3",
                )
                .bind(guild)
                .bind(channel)
                .bind(watched_number(*watched))
                .bind(i64::from(*unread))
                .execute(&mut *tx)
                .await?;
            }
            if *unread > 0 && shown_at.is_empty() {
                query(
                    "UPDATE alert_channel SET unread = unread + $3, unread_at = $4 \
                     WHERE guild = $1 AND channel = $2 AND kind = 'alerts'",
                )
                .bind(guild)
                .bind(channel)
                .bind(i64::from(*unread))
                .bind(millis(at))
                .execute(&mut *tx)
                .await?;
            }
        }
        Ok(tx.commit().await?)
    }

    /// What was to be done about a channel's incidents is committed as work.
    ///
    /// # Errors
    ///
    /// As [`Store::write_alerts`].
    pub async fn errands_committed(&self, guild: &str, channel: &str) -> Result<(), StoreError> {
        let Some(read) = self.alert_channel(guild, channel).await? else {
            return Ok(());
        };
        let mut known = read.known.clone();
        known.errands.clear();
        let nothing = Written::default();
        // The time of a write that opens and notes nothing does not count.
        self.write_alerts(guild, &read, &known, &nothing, Timestamp::UNIX_EPOCH)
            .await
    }

    /// What was said of an incident until a time is known to the document of its channel.
    ///
    /// # Errors
    ///
    /// Those of the database.
    pub async fn people_heard(
        &self,
        guild: &str,
        channel: &str,
        watched: WatchedId,
        until: Timestamp,
    ) -> Result<(), StoreError> {
        let mut tx = self.write(guild).await?;
        query(
            "UPDATE incident_alert SET heard_at = $4 \
             WHERE guild = $1 AND channel = $2 AND watched = $3 AND heard_at < $4",
        )
        .bind(guild)
        .bind(channel)
        .bind(watched_number(watched))
        .bind(millis(until))
        .execute(&mut *tx)
        .await?;
        Ok(tx.commit().await?)
    }

    /// The channel and the number there of each group of alerts that belongs to an incident.
    ///
    /// # Errors
    ///
    /// Those of the database.
    pub async fn alerts_belong_to(
        &self,
        guild: &str,
        id: IncidentId,
    ) -> Result<Vec<(String, WatchedId)>, StoreError> {
        let mut connection = self.reader.acquire().await?;
        let rows: Vec<(String, i64)> = query_as(
            "SELECT channel, watched FROM incident_alert WHERE guild = $1 AND number = $2 \
             ORDER BY channel, watched",
        )
        .bind(guild)
        .bind(i64::from(id.number()))
        .fetch_all(&mut connection)
        .await?;
        Ok(rows
            .into_iter()
            .map(|(channel, watched)| (channel, watched_id(watched)))
            .collect())
    }

    /// The alerts of an incident, of each thing that is broken the first or the last message, oldest
    /// first.
    ///
    /// # Errors
    ///
    /// Those of the database.
    pub async fn alerts_of(
        &self,
        guild: &str,
        id: IncidentId,
        last: bool,
    ) -> Result<Vec<ToldAlert>, StoreError> {
        let mut connection = self.reader.acquire().await?;
        let rows: Vec<(String, i64, String)> = query_as(if last {
            "SELECT a.message, a.at, a.alert FROM alert a WHERE a.guild = $1 AND a.number = $2 \
             AND a.at = (SELECT max(b.at) FROM alert b WHERE b.guild = a.guild \
             AND b.number = a.number AND b.channel = a.channel AND b.key = a.key) \
             ORDER BY a.at, a.message, a.key"
        } else {
            "SELECT a.message, a.at, a.alert FROM alert a WHERE a.guild = $1 AND a.number = $2 \
             AND a.at = (SELECT min(b.at) FROM alert b WHERE b.guild = a.guild \
             AND b.number = a.number AND b.channel = a.channel AND b.key = a.key) \
             ORDER BY a.at, a.message, a.key"
        })
        .bind(guild)
        .bind(i64::from(id.number()))
        .fetch_all(&mut connection)
        .await?;
        rows.into_iter()
            .map(|(message, at, alert)| {
                Ok(ToldAlert {
                    message: message.parse().unwrap_or_default(),
                    at: timestamp(at)?,
                    alert: serde_json::from_str(&alert)?,
                })
            })
            .collect()
    }

    /// Keeps what a message says was changed; a message counts once.
    ///
    /// # Errors
    ///
    /// Those of the database.
    pub async fn keep_changes(
        &self,
        guild: &str,
        channel: &str,
        message: u64,
        private: bool,
        changes: &[Change],
    ) -> Result<(), StoreError> {
        if changes.is_empty() {
            return Ok(());
        }
        let mut tx = self.write(guild).await?;
        for (seq, change) in changes.iter().enumerate() {
            query(
                "INSERT INTO change (guild, channel, message, seq, private, service, at, change) \
                 VALUES ($1, $2, $3, $4, $5, $6, $7, $8) \
                 ON CONFLICT (guild, channel, message, seq) DO NOTHING",
            )
            .bind(guild)
            .bind(channel)
            .bind(message.to_string())
            .bind(i64::try_from(seq).unwrap_or(i64::MAX))
            .bind(i64::from(private))
            .bind(storable_service(change.service.as_deref()))
            .bind(change.at_ms)
            .bind(document(change)?)
            .execute(&mut *tx)
            .await?;
        }
        Ok(tx.commit().await?)
    }

    /// What was changed of a service between two times (unix milliseconds, both included), as far as
    /// it may be seen from the scope, oldest first.
    ///
    /// # Errors
    ///
    /// Those of the database.
    pub async fn changes_of(
        &self,
        scope: &Scope,
        service: &str,
        from_ms: i64,
        to_ms: i64,
    ) -> Result<Vec<Change>, StoreError> {
        let mut connection = self.reader.acquire().await?;
        let rows: Vec<(String,)> = query_as(
            "SELECT change FROM change WHERE guild = $1 AND (private = 0 OR channel = $2) \
             AND service = $3 AND at >= $4 AND at <= $5 ORDER BY at, message, seq LIMIT 500",
        )
        .bind(&scope.guild)
        .bind(&scope.channel)
        .bind(storable_service(Some(service)))
        .bind(from_ms)
        .bind(to_ms)
        .fetch_all(&mut connection)
        .await?;
        rows.into_iter()
            .map(|(change,)| Ok(serde_json::from_str(&change)?))
            .collect()
    }

    /// Forgets changes and alerts that are older than they are kept for.
    ///
    /// # Errors
    ///
    /// Those of the database.
    pub async fn prune_watched(&self, now: Timestamp) -> Result<(), StoreError> {
        for (statement, kept_ms) in [
            ("DELETE FROM change WHERE at < $1", KEPT_MS),
            (
                "DELETE FROM alert WHERE at < $1 AND number IS NULL",
                KNOWN_MS,
            ),
        ] {
            query(statement)
                .bind(millis(now).saturating_sub(kept_ms))
                .execute(&self.writer)
                .await?;
        }
        Ok(())
    }
}

/// What is forgotten of an incident is forgotten of the channels that told it, too.
pub(super) async fn forget_alerts(
    tx: &mut Transaction,
    guild: &str,
    id: IncidentId,
) -> Result<(), StoreError> {
    let number = i64::from(id.number());
    let rows: Vec<(String, i64)> = query_as(
        "SELECT channel, watched FROM incident_alert \
         WHERE guild = $1 AND (number = $2 OR origin = $2)",
    )
    .bind(guild)
    .bind(number)
    .fetch_all(&mut **tx)
    .await?;
    for (channel, watched) in rows {
        let state: Option<String> = query_scalar(
            "SELECT state FROM alert_channel WHERE guild = $1 AND channel = $2 AND kind = 'alerts'",
        )
        .bind(guild)
        .bind(&channel)
        .fetch_optional(&mut **tx)
        .await?;
        let Some(state) = state else { continue };
        let mut known: Known = serde_json::from_str(&state)?;
        let watched = watched_id(watched);
        known.channel.forget_incident(watched);
        known.errands.retain(|errand| errand.watched != watched);
        query(
            "UPDATE alert_channel SET state = $3, version = version + 1 \
             WHERE guild = $1 AND channel = $2 AND kind = 'alerts'",
        )
        .bind(guild)
        .bind(&channel)
        .bind(document(&known)?)
        .execute(&mut **tx)
        .await?;
    }
    for statement in [
        "DELETE FROM alert WHERE guild = $1 AND number = $2",
        "DELETE FROM incident_alert WHERE guild = $1 AND (number = $2 OR origin = $2)",
    ] {
        query(statement)
            .bind(guild)
            .bind(number)
            .execute(&mut **tx)
            .await?;
    }
    Ok(())
}

fn place(row: Place) -> Result<WatchedPlace, StoreError> {
    let (channel, what, private, locale, analyse, floor, quiet, by, at, unread, unread_at) = row;
    Ok(WatchedPlace {
        channel,
        what: WatchedFor::parse(&what)
            .ok_or_else(|| StoreError::Corrupt(Some("watched for what is not known".into())))?,
        private: private != 0,
        locale: Locale::from_discord(&locale),
        settings: Settings {
            analyse: [Analyse::Always, Analyse::OnButton, Analyse::Never]
                .into_iter()
                .find(|one| analyse_word(*one) == analyse)
                .unwrap_or_default(),
            floor: Severity::parse(&floor.to_string()).unwrap_or(Severity::Sev3),
            quiet_repeats_ms: quiet,
            ..Settings::default()
        },
        by,
        at: timestamp(at)?,
        unread: (
            u32::try_from(unread).unwrap_or(u32::MAX),
            unread_at.map(timestamp).transpose()?,
        ),
    })
}

fn analyse_word(analyse: Analyse) -> &'static str {
    match analyse {
        Analyse::Always => "always",
        Analyse::OnButton => "on_button",
        Analyse::Never => "never",
    }
}

fn watched_id(number: i64) -> WatchedId {
    WatchedId(u64::try_from(number).unwrap_or(u64::MAX))
}

fn watched_number(id: WatchedId) -> i64 {
    i64::try_from(id.0).unwrap_or(i64::MAX)
}

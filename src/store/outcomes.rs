//! What outcomes rest on beside the records: what people said of sameness, the numbers of learned
//! patterns, what began since a fix worked, and which incident is the same occurrence as which.

use super::incidents::{load, next_number, note, touch};
use super::{
    Scope, Store, StoreError, incident_id, millis, must_see, optional_storable, storable,
    timestamp, visible,
};
use crate::database::past::{self, past_columns};
use crate::database::{Connection, query, query_as, query_scalar};
use crate::incident::sameness::PeopleSaid;
use crate::incident::{IncidentId, PastIncident, PatternId, Shared, Status};
use jiff::Timestamp;
use serde_json::json;

/// How far a chain of duplicates or parents is followed; longer ones are refused.
const LONGEST_CHAIN: usize = 64;
/// Most incidents looked at for whether it stayed quiet.
const MOST_BEGUN: i64 = 1000;

/// What two incidents are held against each other for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LikenessKind {
    /// Their fixes.
    Fix,
    /// Their causes.
    Cause,
}

impl LikenessKind {
    fn word(self) -> &'static str {
        match self {
            Self::Fix => "fix",
            Self::Cause => "cause",
        }
    }
}

/// The question whether a fix or a cause is that of another incident.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LikenessQuestion {
    /// Counted from 1 within the incident.
    pub seq: u32,
    /// The other incident.
    pub other: IncidentId,
    /// What is compared.
    pub kind: LikenessKind,
    /// As this incident has it.
    pub words: String,
    /// As the other has it.
    pub other_words: String,
    /// What was said; `None` while nobody said anything.
    pub same: Option<bool>,
    /// Who said it.
    pub by: Option<String>,
    /// When it was asked, or answered.
    pub at: Timestamp,
}

/// Which link of one incident to another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Link {
    /// The same occurrence as that one.
    DuplicateOf,
    /// Belongs under that one.
    Parent,
}

/// Why two incidents are not linked.
#[derive(Debug, thiserror::Error)]
pub enum LinkError {
    /// It would stand under itself, through others.
    #[error("it would stand under itself")]
    Cycle,
    /// One of them is seen from fewer places than the other.
    #[error("one of them is private")]
    Visibility,
    /// Neither is known where it is asked, or the database.
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl Store {
    /// Asks whether two incidents have the same fix or cause; the same question is one, whichever of
    /// the two it is asked of, and keeps what was answered.
    ///
    /// # Errors
    ///
    /// [`StoreError::NotFound`] where either incident may not be seen from the scope.
    #[expect(
        clippy::too_many_arguments,
        reason = "one question is exactly these facts"
    )]
    pub async fn ask_likeness(
        &self,
        scope: &Scope,
        id: IncidentId,
        other: IncidentId,
        kind: LikenessKind,
        words: &str,
        other_words: &str,
        at: Timestamp,
    ) -> Result<Option<LikenessQuestion>, StoreError> {
        let mut tx = self.write(&scope.guild).await?;
        must_see(&mut tx, scope, id).await?;
        must_see(&mut tx, scope, other).await?;
        let known: Option<i64> = query_scalar(
            "SELECT 1 FROM likeness WHERE guild = $1 AND kind = $4 AND \
             ((number = $2 AND other = $3) OR (number = $3 AND other = $2)) LIMIT 1",
        )
        .bind(&scope.guild)
        .bind(i64::from(id.number()))
        .bind(i64::from(other.number()))
        .bind(kind.word())
        .fetch_optional(&mut *tx)
        .await?;
        if known.is_some() {
            return Ok(None);
        }
        let seq: i64 = query_scalar(
            "SELECT coalesce(max(seq), 0) + 1 FROM likeness WHERE guild = $1 AND number = $2",
        )
        .bind(&scope.guild)
        .bind(i64::from(id.number()))
        .fetch_one(&mut *tx)
        .await?;
        query(
            "INSERT INTO likeness (guild, number, seq, other, kind, words, other_words, at) \
             VALUES ($1, $2, $3, $4, $5, $6, $7, $8)",
        )
        .bind(&scope.guild)
        .bind(i64::from(id.number()))
        .bind(seq)
        .bind(i64::from(other.number()))
        .bind(kind.word())
        .bind(storable(words))
        .bind(storable(other_words))
        .bind(millis(at))
        .execute(&mut *tx)
        .await?;
        let asked = questions(&mut tx, &scope.guild, id)
            .await?
            .into_iter()
            .last();
        tx.commit().await?;
        Ok(asked)
    }

    /// The questions that were asked of an incident, in order.
    ///
    /// # Errors
    ///
    /// [`StoreError::NotFound`] as for [`Store::incident`].
    pub async fn likeness_questions(
        &self,
        scope: &Scope,
        id: IncidentId,
    ) -> Result<Vec<LikenessQuestion>, StoreError> {
        let mut connection = self.reader.acquire().await?;
        must_see(&mut connection, scope, id).await?;
        questions(&mut connection, &scope.guild, id).await
    }

    /// What a person says of two fixes or causes; `None` takes it back. The later word wins, every
    /// word stays in the incident's history.
    ///
    /// # Errors
    ///
    /// [`StoreError::NotFound`] where nothing was asked under that number.
    pub async fn answer_likeness(
        &self,
        scope: &Scope,
        id: IncidentId,
        seq: u32,
        same: Option<bool>,
        by: &str,
        at: Timestamp,
    ) -> Result<LikenessQuestion, StoreError> {
        let mut tx = self.write(&scope.guild).await?;
        must_see(&mut tx, scope, id).await?;
        let verdict = same.map(|same| if same { "same" } else { "different" });
        let changed = query(
            "UPDATE likeness SET verdict = $4, by_whom = $5, at = $6 \
             WHERE guild = $1 AND number = $2 AND seq = $3",
        )
        .bind(&scope.guild)
        .bind(i64::from(id.number()))
        .bind(i64::from(seq))
        .bind(verdict)
        .bind(optional_storable(same.map(|_| by)))
        .bind(millis(at))
        .execute(&mut *tx)
        .await?;
        if changed.rows_affected() == 0 {
            return Err(StoreError::NotFound);
        }
        let answered = questions(&mut tx, &scope.guild, id)
            .await?
            .into_iter()
            .find(|question| question.seq == seq)
            .ok_or(StoreError::NotFound)?;
        note(
            &mut tx,
            &scope.guild,
            id,
            at,
            by,
            "likeness",
            &json!({ "kind": answered.kind.word(), "other": answered.other, "verdict": verdict }),
        )
        .await?;
        tx.commit().await?;
        Ok(answered)
    }

    /// What people said of fixes and causes of incidents that may be seen from the scope.
    ///
    /// # Errors
    ///
    /// Those of the database.
    pub async fn people_said(&self, scope: &Scope) -> Result<PeopleSaid, StoreError> {
        let rows: Vec<(String, String, String)> = query_as(
            "SELECT l.words, l.other_words, l.verdict FROM likeness l \
             JOIN incident i ON i.guild = l.guild AND i.number = l.number \
             JOIN incident o ON o.guild = l.guild AND o.number = l.other \
             WHERE l.guild = $1 AND l.verdict IS NOT NULL \
             AND (i.private = 0 OR i.channel = $2 OR i.thread = $2) \
             AND (o.private = 0 OR o.channel = $2 OR o.thread = $2) \
             ORDER BY l.at, l.number, l.seq",
        )
        .bind(&scope.guild)
        .bind(&scope.channel)
        .fetch_all(&self.reader)
        .await?;
        let mut people = PeopleSaid::default();
        for (words, other, verdict) in rows {
            people.note(&words, &other, verdict == "same");
        }
        Ok(people)
    }

    /// Gives patterns their numbers: that of the known pattern of the same kind that rests on most
    /// of the same incidents (two at least), else the guild's next one. What it rests on is
    /// remembered, so that the number stays.
    ///
    /// # Errors
    ///
    /// Those of the database.
    pub async fn number_patterns(
        &self,
        guild: &str,
        patterns: &[(Shared, Vec<IncidentId>)],
    ) -> Result<Vec<PatternId>, StoreError> {
        if patterns.is_empty() {
            return Ok(Vec::new());
        }
        let mut tx = self.write(guild).await?;
        let mut known = known_patterns(&mut tx, guild).await?;
        let mut numbers = Vec::with_capacity(patterns.len());
        for (shared, incidents) in patterns {
            let best = known
                .iter()
                .filter(|(number, kind, _)| {
                    kind == shared && !numbers.contains(&PatternId(*number))
                })
                .map(|(number, _, members)| {
                    let common = members.iter().filter(|id| incidents.contains(id)).count();
                    (common, std::cmp::Reverse(*number))
                })
                .filter(|(common, _)| *common >= 2)
                .max();
            let number = match best {
                Some((_, std::cmp::Reverse(number))) => number,
                None => {
                    let next = next_number(&mut tx, &format!("{guild}/patterns")).await?;
                    query("INSERT INTO pattern (guild, number, shared) VALUES ($1, $2, $3)")
                        .bind(guild)
                        .bind(next)
                        .bind(shared.word())
                        .execute(&mut *tx)
                        .await?;
                    u32::try_from(next).unwrap_or(u32::MAX)
                }
            };
            for id in incidents {
                query(
                    "INSERT INTO pattern_incident (guild, pattern, number) VALUES ($1, $2, $3) \
                     ON CONFLICT (guild, pattern, number) DO NOTHING",
                )
                .bind(guild)
                .bind(i64::from(number))
                .bind(i64::from(id.number()))
                .execute(&mut *tx)
                .await?;
            }
            match known.iter_mut().find(|(of, _, _)| *of == number) {
                Some((_, _, members)) => {
                    members.extend(incidents.iter().copied());
                    members.sort_unstable();
                    members.dedup();
                }
                None => known.push((number, *shared, incidents.clone())),
            }
            numbers.push(PatternId(number));
        }
        tx.commit().await?;
        Ok(numbers)
    }

    /// What a pattern's number rests on, as far as that may be seen from the scope and is over.
    ///
    /// # Errors
    ///
    /// [`StoreError::NotFound`] where no pattern has that number, or nothing of it may be seen.
    pub async fn pattern_records(
        &self,
        scope: &Scope,
        id: PatternId,
    ) -> Result<(Shared, Vec<PastIncident>), StoreError> {
        let mut connection = self.reader.acquire().await?;
        let shared: Option<String> =
            query_scalar("SELECT shared FROM pattern WHERE guild = $1 AND number = $2")
                .bind(&scope.guild)
                .bind(i64::from(id.0))
                .fetch_optional(&mut connection)
                .await?;
        let shared = shared
            .as_deref()
            .and_then(Shared::parse)
            .ok_or(StoreError::NotFound)?;
        let rows = query(concat!(
            "SELECT ",
            past_columns!(),
            " FROM incident WHERE ",
            visible!(),
            " AND status IN ('resolved', 'closed') AND number IN \
             (SELECT number FROM pattern_incident WHERE guild = $1 AND pattern = $3) ORDER BY number"
        ))
        .bind(&scope.guild)
        .bind(&scope.channel)
        .bind(i64::from(id.0))
        .fetch_all(&mut connection)
        .await?;
        let records: Vec<PastIncident> = past::read(&mut connection, &scope.guild, rows)
            .await?
            .into_iter()
            .map(|(past, _)| past)
            .collect();
        if records.is_empty() {
            return Err(StoreError::NotFound);
        }
        Ok((shared, records))
    }

    /// Incidents of the guild that began after a time, open ones too, wherever they may be seen
    /// from: whether it stayed quiet is no secret of a channel. `started_at` is when they were
    /// reported, where nobody said when they began.
    ///
    /// # Errors
    ///
    /// Those of the database.
    pub async fn begun_since(
        &self,
        guild: &str,
        since: Timestamp,
        besides: IncidentId,
    ) -> Result<Vec<(PastIncident, Status)>, StoreError> {
        let mut connection = self.reader.acquire().await?;
        let rows = query(concat!(
            "SELECT ",
            past_columns!(),
            ", status, coalesce(incident.started_at, detected_at, reported_at) AS began \
             FROM incident WHERE guild = $1 AND number <> $2 \
             AND coalesce(incident.started_at, detected_at, reported_at) > $3 \
             ORDER BY number DESC LIMIT $4"
        ))
        .bind(guild)
        .bind(i64::from(besides.number()))
        .bind(millis(since))
        .bind(MOST_BEGUN)
        .fetch_all(&mut connection)
        .await?;
        past::read(&mut connection, guild, rows)
            .await?
            .into_iter()
            .map(|(mut past, row)| {
                let began: Option<i64> = row.try_get("began")?;
                past.started_at = began.map(timestamp).transpose()?;
                let status: String = row.try_get("status")?;
                let status = Status::parse(&status)
                    .ok_or_else(|| StoreError::Corrupt(Some("an unknown status".into())))?;
                Ok((past, status))
            })
            .collect()
    }

    /// Links an incident to another, or takes the link back. A duplicate of a duplicate is one of
    /// the first. Both have to be seen from the same places: a number that only some may know is
    /// not shown to others.
    ///
    /// # Errors
    ///
    /// [`LinkError`]; nothing is changed then.
    pub async fn link(
        &self,
        scope: &Scope,
        id: IncidentId,
        link: Link,
        to: Option<IncidentId>,
        by: &str,
        at: Timestamp,
    ) -> Result<Option<IncidentId>, LinkError> {
        let mut tx = self.write(&scope.guild).await?;
        must_see(&mut tx, scope, id).await?;
        let guild = scope.guild.as_str();
        let target = match to {
            None => None,
            Some(to) => {
                must_see(&mut tx, scope, to).await?;
                let (one, other) = (
                    load(&mut tx, guild, id).await?,
                    load(&mut tx, guild, to).await?,
                );
                if one.private != other.private || (one.private && one.channel != other.channel) {
                    return Err(LinkError::Visibility);
                }
                let above = chain(&mut tx, guild, to).await?;
                if to == id || above.contains(&id) {
                    return Err(LinkError::Cycle);
                }
                let root = match link {
                    Link::DuplicateOf => first_of(&mut tx, guild, to).await?,
                    Link::Parent => to,
                };
                // Through what may not be seen no link leads.
                Some(if must_see(&mut tx, scope, root).await.is_ok() {
                    root
                } else {
                    to
                })
            }
        };
        let column = match link {
            Link::DuplicateOf => {
                "UPDATE incident SET duplicate_of = $3 WHERE guild = $1 AND number = $2"
            }
            Link::Parent => "UPDATE incident SET parent = $3 WHERE guild = $1 AND number = $2",
        };
        query(column)
            .bind(guild)
            .bind(i64::from(id.number()))
            .bind(target.map(|id| i64::from(id.number())))
            .execute(&mut *tx)
            .await
            .map_err(StoreError::from)?;
        let what = match link {
            Link::DuplicateOf => "duplicate_of",
            Link::Parent => "parent",
        };
        note(&mut tx, guild, id, at, by, what, &json!({ "to": target })).await?;
        touch(&mut tx, guild, id, at).await?;
        tx.commit().await.map_err(StoreError::from)?;
        Ok(target)
    }
}

async fn links_of(
    connection: &mut Connection,
    guild: &str,
    id: IncidentId,
) -> Result<(Option<IncidentId>, Option<IncidentId>), StoreError> {
    let row: Option<(Option<i64>, Option<i64>)> =
        query_as("SELECT duplicate_of, parent FROM incident WHERE guild = $1 AND number = $2")
            .bind(guild)
            .bind(i64::from(id.number()))
            .fetch_optional(connection)
            .await?;
    let (duplicate_of, parent) = row.unwrap_or_default();
    Ok((
        duplicate_of.map(incident_id).transpose()?,
        parent.map(incident_id).transpose()?,
    ))
}

/// Everything above an incident, by either link.
async fn chain(
    connection: &mut Connection,
    guild: &str,
    from: IncidentId,
) -> Result<Vec<IncidentId>, StoreError> {
    let mut above = vec![from];
    let mut next = 0;
    while let Some(id) = above.get(next).copied() {
        next += 1;
        if next > LONGEST_CHAIN {
            return Err(StoreError::Conflict(
                "too many incidents are linked one under the other".to_owned(),
            ));
        }
        let (duplicate_of, parent) = links_of(connection, guild, id).await?;
        for up in [duplicate_of, parent].into_iter().flatten() {
            if !above.contains(&up) {
                above.push(up);
            }
        }
    }
    Ok(above)
}

/// The first occurrence behind a duplicate.
async fn first_of(
    connection: &mut Connection,
    guild: &str,
    mut id: IncidentId,
) -> Result<IncidentId, StoreError> {
    for _ in 0..LONGEST_CHAIN {
        match links_of(connection, guild, id).await? {
            (Some(up), _) if up != id => id = up,
            _ => break,
        }
    }
    Ok(id)
}

async fn known_patterns(
    connection: &mut Connection,
    guild: &str,
) -> Result<Vec<(u32, Shared, Vec<IncidentId>)>, StoreError> {
    let rows: Vec<(i64, String, i64)> = query_as(
        "SELECT p.number, p.shared, i.number FROM pattern p \
         JOIN pattern_incident i ON i.guild = p.guild AND i.pattern = p.number \
         WHERE p.guild = $1 ORDER BY p.number, i.number",
    )
    .bind(guild)
    .fetch_all(connection)
    .await?;
    let mut known: Vec<(u32, Shared, Vec<IncidentId>)> = Vec::new();
    for (number, shared, incident) in rows {
        let number = u32::try_from(number).unwrap_or(u32::MAX);
        let Some(shared) = Shared::parse(&shared) else {
            continue;
        };
        let incident = incident_id(incident)?;
        match known.last_mut().filter(|(last, _, _)| *last == number) {
            Some((_, _, members)) => members.push(incident),
            None => known.push((number, shared, vec![incident])),
        }
    }
    Ok(known)
}

async fn questions(
    connection: &mut Connection,
    guild: &str,
    id: IncidentId,
) -> Result<Vec<LikenessQuestion>, StoreError> {
    type Columns = (
        i64,
        i64,
        String,
        String,
        String,
        Option<String>,
        Option<String>,
        i64,
    );
    let rows: Vec<Columns> = query_as(
        "SELECT seq, other, kind, words, other_words, verdict, by_whom, at FROM likeness \
         WHERE guild = $1 AND number = $2 ORDER BY seq",
    )
    .bind(guild)
    .bind(i64::from(id.number()))
    .fetch_all(connection)
    .await?;
    rows.into_iter()
        .map(|(seq, other, kind, words, other_words, verdict, by, at)| {
            Ok(LikenessQuestion {
                seq: u32::try_from(seq).unwrap_or(u32::MAX),
                other: incident_id(other)?,
                kind: if kind == "fix" {
                    LikenessKind::Fix
                } else {
                    LikenessKind::Cause
                },
                words,
                other_words,
                same: verdict.map(|verdict| verdict == "same"),
                by,
                at: timestamp(at)?,
            })
        })
        .collect()
}

//! Which incidents may be near a meaning: by one bit a dimension, of all incidents of a guild.
//!
//! The bits of a guild are read once and then only what is new, and stay in memory: 48 bytes for 384
//! dimensions, and with the rows and their places about 8 MB for a hundred thousand incidents.
//!
//! What was forgotten or changed leaves a stale entry behind until the next start. It names a row
//! alone; what the row holds, and whether it may be seen, the database says.

use super::Vector;
use crate::database::{Connection, query_as};
use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

/// Vectors read in one statement.
const AT_ONCE: i64 = 5_000;

/// The bits of every guild that asked.
#[derive(Clone, Debug, Default)]
pub struct Nearest {
    guilds: Arc<Mutex<HashMap<String, Signs>>>,
}

#[derive(Clone, Debug, Default)]
struct Signs {
    model: String,
    /// The last one read.
    seq: i64,
    /// Words of 64 bits that one takes.
    width: usize,
    rows: Vec<i64>,
    bits: Vec<u64>,
    places: HashMap<i64, usize>,
}

impl Nearest {
    /// The rows of at most so many incidents, the nearest first.
    ///
    /// # Errors
    ///
    /// Those of the database.
    pub async fn rows(
        &self,
        connection: &mut Connection,
        guild: &str,
        model: &str,
        vector: &Vector,
        most: usize,
    ) -> Result<Vec<i64>, sqlx::Error> {
        loop {
            let from = self.with(guild, model, |signs| signs.seq);
            let new: Vec<(i64, i64, Vec<u8>)> = query_as(
                "SELECT seq, incident, vector FROM incident_vector \
                 WHERE guild = $1 AND model = $2 AND seq > $3 ORDER BY seq LIMIT $4",
            )
            .bind(guild)
            .bind(model)
            .bind(from)
            .bind(AT_ONCE)
            .fetch_all(&mut *connection)
            .await?;
            let more = i64::try_from(new.len()).unwrap_or(AT_ONCE) == AT_ONCE;
            self.with(guild, model, |signs| signs.add(&new));
            if !more {
                break;
            }
        }
        Ok(self.with(guild, model, |signs| signs.nearest(vector, most)))
    }

    fn with<T>(&self, guild: &str, model: &str, of: impl FnOnce(&mut Signs) -> T) -> T {
        let mut guilds = self.guilds.lock().unwrap_or_else(PoisonError::into_inner);
        let signs = guilds.entry(guild.to_owned()).or_default();
        if signs.model != model {
            *signs = Signs {
                model: model.to_owned(),
                ..Signs::default()
            };
        }
        of(signs)
    }
}

impl Signs {
    fn add(&mut self, new: &[(i64, i64, Vec<u8>)]) {
        for (seq, row, bytes) in new {
            // Two who ask at once read the same.
            if *seq <= self.seq {
                continue;
            }
            self.seq = *seq;
            let Some(signs) = Vector::from_bytes(bytes).map(|vector| vector.signs()) else {
                continue;
            };
            if self.rows.is_empty() {
                self.width = signs.len();
            }
            if signs.len() != self.width {
                continue;
            }
            let at = self.places.get(row).map(|place| place * self.width);
            match at.and_then(|at| self.bits.get_mut(at..at + self.width)) {
                Some(bits) => bits.copy_from_slice(&signs),
                None => {
                    self.places.insert(*row, self.rows.len());
                    self.rows.push(*row);
                    self.bits.extend(signs);
                }
            }
        }
    }

    fn nearest(&self, vector: &Vector, most: usize) -> Vec<i64> {
        let signs = vector.signs();
        if self.width == 0 || signs.len() != self.width || most == 0 {
            return Vec::new();
        }
        let differing = |bits: &[u64]| -> u32 {
            bits.iter()
                .zip(&signs)
                .map(|(one, other)| (one ^ other).count_ones())
                .sum()
        };
        let mut near: Vec<(u32, i64)> = self
            .bits
            .chunks_exact(self.width)
            .zip(&self.rows)
            .map(|(bits, row)| (differing(bits), *row))
            .collect();
        if near.len() > most {
            near.select_nth_unstable(most);
            near.truncate(most);
        }
        near.sort_unstable();
        near.into_iter().map(|(_, row)| row).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn vector(values: &[f32]) -> Vector {
        Vector::of(values).expect("a direction")
    }

    #[test]
    fn the_nearest_come_first_and_what_is_new_replaces_what_was() {
        let mut signs = Signs::default();
        let kept = |seq, row, values: &[f32]| (seq, row, vector(values).to_bytes());
        signs.add(&[
            kept(1, 10, &[1.0, 1.0, 1.0, 1.0]),
            kept(2, 20, &[1.0, 1.0, -1.0, -1.0]),
            kept(3, 30, &[-1.0, -1.0, -1.0, -1.0]),
            // Of another model's size, and no vector at all.
            kept(4, 40, &[1.0; 100]),
            (5, 50, vec![1, 2]),
        ]);
        let asked = vector(&[0.5, 1.0, 0.1, 0.2]);
        assert_eq!(signs.nearest(&asked, 9), [10, 20, 30]);
        assert_eq!(signs.nearest(&asked, 2), [10, 20]);
        assert_eq!(signs.nearest(&asked, 0), [] as [i64; 0]);
        assert_eq!(signs.nearest(&vector(&[1.0; 100]), 9), [] as [i64; 0]);
        signs.add(&[
            // Known already: not read again.
            kept(2, 20, &[1.0, 1.0, 1.0, 1.0]),
            kept(6, 10, &[-1.0, -1.0, -1.0, -1.0]),
        ]);
        assert_eq!(signs.nearest(&asked, 2), [20, 10]);
        assert_eq!(Signs::default().nearest(&asked, 3), [] as [i64; 0]);
    }
}

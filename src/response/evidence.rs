//! What a past incident has in common with a report, weighed against all that memory holds.
//!
//! Wanted: an order that is right more often than plain BM25's, and a likelihood by which "nothing
//! like this in memory" can be said of a memory of a hundred thousand as of one of ten. A rare word
//! counts for much, a word that every report has for nothing, and the best of a bad lot is no
//! match.
//!
//! Design: fields are weighed before they are summed (a word in the record's title is worth four in
//! its body, and there a long field is forgiven); the report's opening counts more than its body,
//! and its log lines less: they are many words of one thing. Two words that stand side by side in
//! both count again. How rare a word is comes from memory, with the tables of common words standing
//! in for memory where it is small. Four figures (how much is shared, in how many words, how much
//! of each title the other side says, how much there was to match) and whether the record is of
//! another service make the likelihood: seven weights, see [`LIKELIHOOD`]. All numbers were set on
//! public duplicate reports and alerts with runbooks.
//!
//! A report that shares a component's name and little else with its best record is what passes the
//! floor wrongly. What was measured to tell these apart no better: how far the best stands out of
//! the crowd, rarity within the service, windows of words, the best sentence alone, the names that
//! compound identifiers hold counted once.
//!
//! Deliberately absent: the database. Any home that finds candidates and knows how often words
//! occur is ranked by this.

use super::recall::Statistics;
use crate::incident::PastIncident;
use crate::incident::words::terms;
use std::collections::{HashMap, HashSet};

/// Fields of a record: title, body, log lines.
const FIELDS: usize = 3;
/// What an occurrence in each field is worth.
const FIELD_WEIGHTS: [f64; FIELDS] = [4.0, 1.0, 1.5];
/// How far a field's length is held against it, 0 to 1.
const FIELD_LENGTHS_COUNT: [f64; FIELDS] = [0.2, 0.85, 0.85];
/// Tokens that a field usually has.
const USUAL_LENGTHS: [f64; FIELDS] = [9.0, 70.0, 60.0];
/// Repeats count less and less (BM25's k1).
const REPEATS: f64 = 1.8;
/// Rarity counts for a little more than its logarithm.
const RARITY_POWER: f64 = 1.3;
/// What a word is worth in the report's opening, its body and its log lines.
const OPENING: f64 = 2.5;
const BODY: f64 = 1.0;
const LOGS: f64 = 0.4;
/// Two neighbouring words that are neighbours in the record too, beside the words themselves.
const NEIGHBOURS: f64 = 0.2;
/// As rare as a word has to be to count in full among the words shared: in a tenth of incidents.
const TELLS_AS_A_WORD: f64 = 2.3;
/// The tables of common words stand in for so many incidents.
const TABLES_COUNT_FOR: f64 = 200.0;
/// Distinct words of a report that are looked for.
const MAX_TERMS: usize = 600;
/// Tokens read of one field of a record.
const MAX_FIELD_TOKENS: usize = 2_000;

/// The report's side.
#[derive(Clone, Debug, Default)]
pub(super) struct Evidence {
    terms: HashMap<String, usize>,
    weighed: Vec<Weighed>,
    /// Neighbours in the report, and what they are worth.
    pairs: HashMap<(usize, usize), f64>,
    /// The rarest a word can be.
    scale: f64,
    incidents: f64,
    opening: f64,
}

#[derive(Clone, Copy, Debug, Default)]
struct Weighed {
    /// What the report makes of it.
    said: f64,
    rarity: f64,
    in_opening: bool,
}

/// What one record has of it.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Shared {
    /// BM25 over fields, with neighbours; the report's weights in it.
    pub sum: f64,
    /// Share of the meaning of the report's opening that the record says.
    pub of_opening: f64,
    /// Share of the meaning of the record's title that the report says.
    pub of_title: f64,
    /// Tokens of the record.
    pub length: f64,
    /// Distinct words of the report that it has; one that is common in memory counts in part.
    pub words: f64,
    /// One of its log lines has a word of the report.
    pub logs: bool,
}

/// Texts of a report, by how much they count.
pub(super) struct Texts<'a> {
    pub opening: &'a str,
    pub body: &'a str,
    pub logs: &'a str,
}

impl Evidence {
    /// Prepares a report. `prior` is the share of incidents in which a word is expected before
    /// memory was asked, `None` for words that tell nothing.
    pub(super) fn new(
        texts: &Texts<'_>,
        statistics: &Statistics,
        prior: impl Fn(&str) -> Option<f64>,
    ) -> Self {
        let incidents = statistics.incidents as f64;
        let mut evidence = Self {
            scale: (1.0 + incidents).ln().max(SMALLEST_SCALE),
            incidents,
            ..Self::default()
        };
        let mut counts: Vec<[f64; FIELDS]> = Vec::new();
        let mut pairs: HashMap<(usize, usize), [f64; FIELDS]> = HashMap::new();
        for (field, text) in [texts.opening, texts.body, texts.logs].iter().enumerate() {
            let mut before: Option<usize> = None;
            for word in terms(text) {
                let known = evidence.terms.get(&word).copied();
                let index = match known {
                    Some(index) => index,
                    None => {
                        let Some(prior) = prior(&word) else {
                            before = None;
                            continue;
                        };
                        if evidence.weighed.len() >= MAX_TERMS {
                            break;
                        }
                        let index = evidence.weighed.len();
                        evidence.weighed.push(Weighed {
                            rarity: evidence.rarity(statistics, &word, prior),
                            ..Weighed::default()
                        });
                        evidence.terms.insert(word, index);
                        counts.push([0.0; FIELDS]);
                        index
                    }
                };
                if let Some(count) = counts.get_mut(index).and_then(|c| c.get_mut(field)) {
                    *count += 1.0;
                }
                if let Some(before) = before
                    && let Some(count) = pairs.entry((before, index)).or_default().get_mut(field)
                {
                    *count += 1.0;
                }
                before = Some(index);
            }
        }
        for (weighed, counts) in evidence.weighed.iter_mut().zip(&counts) {
            weighed.said = said(counts);
            weighed.in_opening = counts.first().is_some_and(|count| *count > 0.0);
        }
        evidence.opening = evidence
            .weighed
            .iter()
            .filter(|weighed| weighed.in_opening)
            .map(|weighed| weighed.rarity)
            .sum();
        let rarest = evidence.rarest();
        for ((one, other), counts) in pairs {
            let of = |index: usize| evidence.weighed.get(index).map_or(0.0, |w| w.rarity);
            // Words are no strangers to their neighbours: rarer than either, less than both.
            let rarity = (0.6 * (of(one) + of(other))).min(rarest);
            evidence
                .pairs
                .insert((one, other), NEIGHBOURS * rarity * said(&counts));
        }
        evidence
    }

    /// The rarity of a word that one incident of memory has.
    fn rarest(&self) -> f64 {
        ((self.incidents + TABLES_COUNT_FOR) / (1.0 + TABLES_COUNT_FOR * ORDINARY)).ln()
    }

    fn rarity(&self, statistics: &Statistics, word: &str, prior: f64) -> f64 {
        match statistics.frequencies.get(word) {
            Some(count) => ((self.incidents + TABLES_COUNT_FOR)
                / (*count as f64 + TABLES_COUNT_FOR * prior))
                .ln()
                .max(0.0),
            // Nobody asked how often it occurs: it was not among the telling ones.
            None if self.incidents > 0.0 && !statistics.frequencies.is_empty() => {
                0.5 * (1.0 / prior).ln()
            }
            None => (1.0 / prior).ln(),
        }
    }

    /// What a record has in common with the report.
    pub(super) fn shared(
        &self,
        incident: &PastIncident,
        prior: impl Fn(&str) -> Option<f64>,
    ) -> Shared {
        let mut found = Found {
            words: vec![[0.0; FIELDS]; self.weighed.len()],
            pairs: HashMap::new(),
            lengths: [0.0; FIELDS],
        };
        let title = terms(&incident.title);
        self.read(&mut found, 0, &title);
        for text in incident
            .symptoms
            .iter()
            .chain([&incident.root_cause])
            .filter(|text| !text.is_empty())
        {
            self.read(&mut found, 1, &terms(text));
        }
        for line in &incident.error_signatures {
            self.read(&mut found, 2, &terms(line));
        }

        let normal: Vec<f64> = (0..FIELDS)
            .map(|field| {
                let of = |values: &[f64; FIELDS]| values.get(field).copied().unwrap_or_default();
                let counts = of(&FIELD_LENGTHS_COUNT);
                1.0 - counts + counts * of(&found.lengths) / of(&USUAL_LENGTHS)
            })
            .collect();
        let occurring = |counts: &[f64; FIELDS]| {
            let sum: f64 = counts
                .iter()
                .zip(FIELD_WEIGHTS)
                .zip(&normal)
                .map(|((count, weight), normal)| count * weight / normal.max(0.05))
                .sum();
            sum * (REPEATS + 1.0) / (sum + REPEATS)
        };
        let mut shared = Shared {
            length: found.lengths.iter().sum(),
            ..Shared::default()
        };
        let mut of_opening = 0.0;
        for (weighed, counts) in self.weighed.iter().zip(&found.words) {
            if counts.iter().all(|count| *count == 0.0) {
                continue;
            }
            shared.words += (weighed.rarity / TELLS_AS_A_WORD).min(1.0);
            shared.sum += weighed.rarity.powf(RARITY_POWER) * weighed.said * occurring(counts);
            let [_, _, in_logs] = *counts;
            shared.logs |= in_logs > 0.0;
            if weighed.in_opening {
                of_opening += weighed.rarity;
            }
        }
        for (pair, counts) in &found.pairs {
            if let Some(worth) = self.pairs.get(pair) {
                shared.sum += worth * occurring(counts);
            }
        }
        if self.opening > 0.0 {
            shared.of_opening = of_opening / self.opening;
        }

        let (mut whole, mut said) = (0.0, 0.0);
        let mut seen = HashSet::new();
        for word in &title {
            if !seen.insert(word) {
                continue;
            }
            match self.terms.get(word).and_then(|i| self.weighed.get(*i)) {
                Some(weighed) => {
                    whole += weighed.rarity;
                    said += weighed.rarity;
                }
                // How often memory holds it was not asked: as often as its like.
                None => {
                    if let Some(prior) = prior(word) {
                        let grown = 1.0 + 0.15 * (1.0 + self.incidents / TABLES_COUNT_FOR).ln();
                        whole += (1.0 / prior).ln() * grown;
                    }
                }
            }
        }
        if whole > 0.0 {
            shared.of_title = said / whole;
        }
        shared
    }

    fn read(&self, found: &mut Found, field: usize, words: &[String]) {
        let mut before: Option<usize> = None;
        for word in words {
            let Some(length) = found.lengths.get_mut(field) else {
                return;
            };
            if *length >= MAX_FIELD_TOKENS as f64 {
                return;
            }
            *length += 1.0;
            let index = self.terms.get(word).copied();
            if let Some(index) = index {
                if let Some(count) = found.words.get_mut(index).and_then(|c| c.get_mut(field)) {
                    *count += 1.0;
                }
                if let Some(before) = before
                    && self.pairs.contains_key(&(before, index))
                    && let Some(count) = found
                        .pairs
                        .entry((before, index))
                        .or_default()
                        .get_mut(field)
                {
                    *count += 1.0;
                }
            }
            before = index;
        }
    }

    /// How likely it is that a record is of the trouble at hand, as a number from 0 to 1.
    /// `other_service` says that both services are known and not one.
    pub(super) fn likelihood(&self, shared: &Shared, other_service: bool) -> f64 {
        let figures = [
            (1.0 + shared.sum / self.scale).ln(),
            (1.0 + shared.words).ln(),
            shared.of_opening,
            shared.of_title,
            (1.0 + self.weighed.len() as f64).ln(),
            (1.0 + shared.length).ln(),
            f64::from(u8::from(other_service)),
        ];
        let sum: f64 = figures
            .iter()
            .zip(LIKELIHOOD)
            .map(|(figure, weight)| figure * weight)
            .sum();
        if shared.sum <= 0.0 {
            return 0.0;
        }
        1.0 / (1.0 + (-(sum + LIKELIHOOD_FROM)).exp())
    }
}

/// Of what is shared, of in how many words, of the report's opening, of the record's title, of the
/// lengths of report and record, of another service.
///
/// Fitted to the order of the right answers and to their standing above the best answer to reports
/// without one, on two sets of public duplicate reports (529 reports with a right answer, 910
/// without: 100 of them given as such, the others records taken out of the sets that no other is
/// known to repeat). Five folds of reports say what the fit is worth on reports it has not seen:
/// place one for 60 and 54 % of the reports in the two sets; with one right answer of ten lost 58 and
/// 64 % of the reports without one pass (of the 100 given ones 40 %).
const LIKELIHOOD: [f64; 7] = [1.9, 0.6, 1.8, 2.0, -0.6, -0.5, -2.8];
/// Where the floors stand on the scale: at 0.35 nine of ten right answers among the first five of
/// public duplicate reports are kept.
const LIKELIHOOD_FROM: f64 = -4.12;

/// Share of incidents that have an ordinary word, before memory was asked.
pub(super) const ORDINARY: f64 = 0.01;
/// Below so many incidents rarity has no scale of its own.
const SMALLEST_SCALE: f64 = 3.0;

/// What a word is worth to the report, from how often it stands in opening, body and log lines.
fn said(counts: &[f64; FIELDS]) -> f64 {
    let [opening, body, logs] = *counts;
    let repeated = |count: f64| count * 2.0 / (count + 1.0);
    OPENING * f64::from(u8::from(opening > 0.0)) + BODY * repeated(body) + LOGS * repeated(logs)
}

struct Found {
    words: Vec<[f64; FIELDS]>,
    pairs: HashMap<(usize, usize), [f64; FIELDS]>,
    lengths: [f64; FIELDS],
}

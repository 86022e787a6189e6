//! The query to memory, and how alike a report and a past incident are (R5).
//!
//! Wanted: a similarity from 0 to 1 that means the same whether memory holds one incident or a
//! hundred thousand, so that one floor can stand in the rules. The same trouble in other words is
//! above the floor; another kind of trouble of the same service is below it, whatever common words
//! the two share. A service's name adds nothing: whose trouble it is, grading asks.
//!
//! Design: fields are compared one by one. For each field of the record (title, symptoms, error
//! signatures, cause) the share of its meaning that the report says too; the other way round the
//! share of the report's own headline that the record says. Words weigh by what they are, from
//! tables, never by how often memory holds them: identifiers most, common words of operations
//! little. Kinds of trouble (the table in `trouble`) join other words for the same thing, also
//! across languages, and hold apart what only shares the words. A shared error signature counts by
//! itself.
//!
//! The weights and the curve were set on hand-made pairs in both languages (the tables in the
//! tests). That comparison of two texts is all there is while memory is small. The more it holds,
//! the more counts what `evidence` weighs against all of it: among a hundred thousand incidents
//! some share many words with any report, and only the rare ones tell. Both have one scale, so
//! that the floors mean the same; they are no probability.
//!
//! Deliberately absent: fetching from memory. A home finds candidates by [`RecallQuery::tokens`]
//! and says how often these occur ([`Statistics`]); how far they count, and which comes first, is
//! decided here, the same for every home.

use super::evidence::{Evidence, ORDINARY, Texts};
use super::triage::{self, Read, Triage};
use super::trouble;
use crate::incident::sameness::{self, signature};
use crate::incident::words::{is_cjk, is_stop_word, stem, tokens};
use crate::incident::{IncidentId, PastIncident, Report, volatile};
use regex::Regex;
use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::hash::Hash;
use std::sync::LazyLock;

/// Most tokens of a query: an index answers that many in a few milliseconds.
pub const MAX_TOKENS: usize = 64;
/// Log lines whose words count as evidence beside the prose.
const MAX_EVIDENCE_LINES: usize = 200;
/// Lines against which signatures of records are held.
const MAX_SIGNATURE_LINES: usize = 2_000;
/// Bytes of a first line that is an opening as a whole.
const LONGEST_OPENING: usize = 240;
/// Digits of a number that is searched for: years, ports, parts of a version. Longer ones are ids.
const LONGEST_NUMBER: usize = 6;

/// What memory is asked.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RecallQuery {
    /// Distinct tokens in the order of importance (error lines, title, symptoms, the rest).
    pub tokens: Vec<String>,
    /// Error lines of the report, as they stand there.
    pub signature_lines: Vec<String>,
    /// The canonical service, where it is known.
    pub service: Option<String>,
    /// The words that count as evidence: prose, and one log line a shape.
    pub text: String,
    /// Lines against which a record's error signatures are held: all of the report, one a shape.
    pub lines: Vec<String>,
    /// What the report is about: title and symptoms.
    pub headline: Vec<String>,
    /// How the report begins: its first line, or the first sentence of a long one.
    pub opening: String,
    /// Prose after the opening.
    pub body: String,
    /// Log lines, one a shape.
    pub logs: String,
}

/// What a home knows of the words in memory.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Statistics {
    /// Incidents among which words were counted.
    pub incidents: u64,
    /// In how many of them a word occurs, by its [`crate::incident::words::terms`] form; those of
    /// the query that occur nowhere have 0, and what was not asked for is absent.
    pub frequencies: HashMap<String, u64>,
    /// Incidents that were searched: those that may be seen.
    pub searched: u64,
    /// How alike in meaning the report and incidents are, where a model says: 1 for the same, 0 for
    /// strangers.
    pub alike: HashMap<IncidentId, f64>,
}

/// How alike a report and a past incident are.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Similarity {
    /// 0 to 1.
    pub value: f64,
    /// An error signature of the record stands in the report.
    pub shares_signature: bool,
}

/// The query of a report that the heuristics have read.
pub fn query(report: &Report, triage: &Triage) -> RecallQuery {
    let read = Read::of(report);
    let mut evidence: Vec<&str> = read.sentences.clone();
    evidence.extend(triage.error_signatures.iter().map(String::as_str));
    evidence.extend(read.log_lines.iter().take(MAX_EVIDENCE_LINES));
    let text = evidence.join("\n");
    let mut headline = vec![triage.title.clone()];
    headline.extend(triage.symptoms.iter().cloned());
    let lines = read
        .sentences
        .iter()
        .chain(read.log_lines.iter().take(MAX_SIGNATURE_LINES))
        .map(|line| (*line).to_owned())
        .collect();
    let first = report.text.lines().find(|line| !line.trim().is_empty());
    let first = first.unwrap_or_default().trim();
    let opening = if first.len() <= LONGEST_OPENING {
        first
    } else {
        triage::sentences_of(first)
            .first()
            .copied()
            .unwrap_or_default()
    };
    let in_opening: HashSet<&str> = triage::sentences_of(opening).into_iter().collect();
    let body: Vec<&str> = read
        .sentences
        .iter()
        .copied()
        .filter(|sentence| !in_opening.contains(sentence))
        .collect();
    let logs: Vec<&str> = read
        .log_lines
        .iter()
        .copied()
        .take(MAX_EVIDENCE_LINES)
        .collect();
    let mut query = RecallQuery {
        opening: opening.to_owned(),
        body: body.join("\n"),
        logs: logs.join("\n"),
        tokens: Vec::new(),
        signature_lines: triage.error_signatures.clone(),
        service: triage.service.clone(),
        text,
        lines,
        headline,
    };
    query.tokens = query_tokens(&query, "");
    query
}

/// Extends a query by what a checked triage of the model brought. Its words widen the search and
/// the headline; signatures are still held against the report alone.
pub fn refine_query(
    query: &RecallQuery,
    title: &str,
    symptoms: &[String],
    error_signatures: &[String],
    recall_query: &str,
) -> RecallQuery {
    let mut refined = query.clone();
    let mut add = |line: &str| {
        let line = line.trim();
        if !line.is_empty() && !refined.headline.iter().any(|known| known == line) {
            refined.headline.push(line.to_owned());
            for text in [&mut refined.text, &mut refined.body] {
                text.push('\n');
                text.push_str(line);
            }
        }
    };
    add(title);
    symptoms
        .iter()
        .take(triage::MAX_SYMPTOMS)
        .for_each(|s| add(s));
    for line in error_signatures.iter().take(triage::MAX_ERROR_SIGNATURES) {
        if !refined.signature_lines.contains(line) {
            refined.signature_lines.push(line.clone());
        }
    }
    refined.tokens = query_tokens(&refined, recall_query);
    refined
}

impl RecallQuery {
    /// What the report is about, for a model of meanings: how it begins, its symptoms and error
    /// lines, then the rest.
    pub fn meaning(&self) -> String {
        let mut lines: Vec<&str> = Vec::new();
        for line in std::iter::once(&self.opening)
            .chain(&self.headline)
            .chain(&self.signature_lines)
            .chain([&self.body])
        {
            let line = line.trim();
            if !line.is_empty() && !lines.contains(&line) {
                lines.push(line);
            }
        }
        lines.join("\n")
    }
}

/// What a past incident was about, for a model of meanings: what a report of it would say, and the
/// cause.
pub fn meaning_of(past: &PastIncident) -> String {
    let mut lines: Vec<&str> = Vec::new();
    for line in std::iter::once(&past.title)
        .chain(&past.symptoms)
        .chain(&past.error_signatures)
        .chain([&past.root_cause])
    {
        let line = line.trim();
        if !line.is_empty() {
            lines.push(line);
        }
    }
    lines.join("\n")
}

fn query_tokens(query: &RecallQuery, extra: &str) -> Vec<String> {
    let service = Names::of(query.service.as_deref());
    let mut seen = HashSet::new();
    let mut telling = Vec::new();
    let mut common = Vec::new();
    let sources = query
        .signature_lines
        .iter()
        .chain([&query.opening])
        .chain(&query.headline)
        .map(String::as_str)
        .chain([extra, query.body.as_str(), query.logs.as_str()]);
    for source in sources {
        for token in tokens(&without_volatile(source)) {
            if is_stop_word(&token) || service.tokens.contains(&token) {
                continue;
            }
            let number = is_bare_number(&token);
            if number && token.len() > LONGEST_NUMBER {
                continue;
            }
            if seen.insert(token.clone()) {
                if !number && weight(&token) >= TELLING {
                    telling.push(token);
                } else {
                    common.push(token);
                }
            }
        }
    }
    telling.extend(common);
    telling.truncate(MAX_TOKENS);
    telling
}

/// The report's side, made once for all candidates.
#[derive(Clone, Debug)]
pub struct Prepared {
    /// Everything that the report says, stemmed.
    bag: HashSet<String>,
    /// What it is about, with weights.
    headline: Vec<BTreeMap<String, f64>>,
    /// Kinds of trouble that it affirms.
    kinds: BTreeSet<String>,
    /// Signatures of its lines, each with the status codes of the line.
    lines: Vec<(Vec<String>, BTreeSet<String>)>,
    /// In which lines a word occurs.
    lines_by_word: HashMap<String, Vec<usize>>,
    /// Its own error lines.
    own_signatures: Vec<(Vec<String>, BTreeSet<String>)>,
    /// The service at hand, whose name tells nothing.
    names: Names,
    /// The same report, weighed against memory.
    evidence: Evidence,
    /// How far memory is large enough to weigh against, 0 to 1.
    by_memory: f64,
    /// How alike in meaning incidents are.
    alike: HashMap<IncidentId, f64>,
}

impl RecallQuery {
    /// Makes the report's side of the comparison, without knowing what else memory holds.
    pub fn prepare(&self) -> Prepared {
        self.prepare_in(&Statistics::default())
    }

    /// Makes the report's side of the comparison for candidates out of this memory.
    pub fn prepare_in(&self, memory: &Statistics) -> Prepared {
        let names = Names::of(self.service.as_deref());
        let bag = bag_of(&self.text, &names);
        let kinds = kinds_in([&bag]).into_iter().map(str::to_owned).collect();
        let headline = self
            .headline
            .iter()
            .map(|line| bag_of(line, &names))
            .filter(|bag| !bag.is_empty())
            .collect();
        let lines: Vec<_> = self
            .lines
            .iter()
            .map(|line| (signature(line), status_codes(line)))
            .collect();
        let mut lines_by_word: HashMap<String, Vec<usize>> = HashMap::new();
        for (index, (words, _)) in lines.iter().enumerate() {
            for word in words {
                let places = lines_by_word.entry(word.clone()).or_default();
                if places.last() != Some(&index) {
                    places.push(index);
                }
            }
        }
        Prepared {
            bag: bag.into_keys().collect(),
            headline,
            kinds,
            lines,
            lines_by_word,
            own_signatures: self
                .signature_lines
                .iter()
                .map(|line| (signature(line), status_codes(line)))
                .filter(|(words, _)| words.len() >= OWN_SIGNATURE_WORDS)
                .collect(),
            evidence: Evidence::new(
                &Texts {
                    opening: &without_volatile(&self.opening),
                    body: &without_volatile(&self.body),
                    logs: &without_volatile(&self.logs),
                },
                memory,
                |word| prior(word, &names),
            ),
            by_memory: by_memory(memory.searched),
            alike: memory.alike.clone(),
            names,
        }
    }
}

/// How far what is measured against memory counts, beside what two texts say alone: hardly with
/// ten incidents, half with sixty, all with a thousand.
fn by_memory(searched: u64) -> f64 {
    let size = (searched as f64 / HALF_BY_MEMORY).powi(2);
    size / (1.0 + size)
}

const HALF_BY_MEMORY: f64 = 60.0;
/// From here on it counts alone.
const ALL_BY_MEMORY: f64 = 0.995;

/// In which share of incidents a word is expected, from what it is; `None` where it tells nothing.
fn prior(word: &str, names: &Names) -> Option<f64> {
    if names.terms.contains(word) {
        return None;
    }
    Some(match weight_of_stem(word) {
        // Versions and ports tell much where memory knows them to be rare, else little.
        _ if is_bare_number(word) => 0.08,
        weight if weight <= 0.3 => 0.3,
        weight if weight < 0.6 => 0.08,
        weight if weight > 1.0 => 0.003,
        _ => ORDINARY,
    })
}

/// [`weight`], for a word that may be a stem.
fn weight_of_stem(word: &str) -> f64 {
    match STEMS_BY_TABLE.get(word) {
        Some(weight) => *weight,
        None => weight(word),
    }
}

static STEMS_BY_TABLE: LazyLock<HashMap<String, f64>> = LazyLock::new(|| {
    let frequent = FREQUENT.iter().map(|word| (stem(word), 0.45));
    frequent
        .chain(COMMON.iter().map(|word| (stem(word), 0.15)))
        .collect()
});

/// The similarity of each candidate, in their order, weighed against memory. `other_service` says
/// of each that its service and the one at hand are known and not one.
pub fn similarities<'a>(
    query: &Prepared,
    candidates: impl IntoIterator<Item = (&'a PastIncident, bool)>,
) -> Vec<Similarity> {
    candidates
        .into_iter()
        .map(|(incident, other_service)| {
            let names = query.names.clone().with(incident.service.as_deref());
            let shared = query.evidence.shared(incident, |word| prior(word, &names));
            let likely = query.evidence.likelihood(&shared, other_service);
            let by_words = if query.by_memory >= ALL_BY_MEMORY {
                Similarity {
                    value: likely,
                    shares_signature: shared.logs && query.shares_signature(incident),
                }
            } else {
                let alone = query.similarity(incident);
                Similarity {
                    value: alone.value + query.by_memory * (likely - alone.value),
                    shares_signature: alone.shares_signature,
                }
            };
            Similarity {
                value: match query.alike.get(&incident.id) {
                    Some(alike) => with_meaning(by_words.value, *alike),
                    None => by_words.value,
                },
                ..by_words
            }
        })
        .collect()
}

/// A similarity by words and a likeness in meaning as one similarity, on the same scale. Set on
/// public duplicate reports and runbooks with a small general model: each alone is worse than both.
fn with_meaning(by_words: f64, alike: f64) -> f64 {
    let by_words = by_words.clamp(LEAST_BY_WORDS, 1.0 - LEAST_BY_WORDS);
    let sum = WORDS_COUNT * (by_words / (1.0 - by_words)).ln() + MEANING_COUNTS * alike;
    1.0 / (1.0 + (MEANING_FROM - sum).exp())
}

/// No shared word is no proof that nothing is shared.
const LEAST_BY_WORDS: f64 = 0.05;
const WORDS_COUNT: f64 = 0.7;
const MEANING_COUNTS: f64 = 3.7;
/// Where the floors stand on the scale, as for words alone.
const MEANING_FROM: f64 = 1.95;

/// One order out of several, best first: by reciprocal rank, each order with its weight. What more
/// orders place high comes first; equal places keep the order of the first list that has them.
pub fn fuse<T: Copy + Eq + Hash>(orders: &[(&[T], f64)]) -> Vec<T> {
    let mut places: HashMap<T, (f64, usize)> = HashMap::new();
    for (order, weight) in orders {
        for (place, id) in order.iter().enumerate() {
            let came = places.len();
            places.entry(*id).or_insert((0.0, came)).0 += weight / (RANKS_FLATTEN + place as f64);
        }
    }
    let mut fused: Vec<(T, (f64, usize))> = places.into_iter().collect();
    fused.sort_by(|(_, one), (_, other)| other.0.total_cmp(&one.0).then(one.1.cmp(&other.1)));
    fused.into_iter().map(|(id, _)| id).collect()
}

/// The usual constant of reciprocal rank fusion: first places count little more than second ones.
const RANKS_FLATTEN: f64 = 60.0;

/// Compares one incident with a report. For many incidents [`RecallQuery::prepare`] once.
pub fn similarity(query: &RecallQuery, incident: &PastIncident) -> Similarity {
    query.prepare().similarity(incident)
}

/// Words from which the report's own error line may be found in a longer line of the record.
const OWN_SIGNATURE_WORDS: usize = 5;

/// The parts of a similarity, for tuning and for tests.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Features {
    title: Option<f64>,
    symptoms: Option<f64>,
    signature: f64,
    cause: f64,
    back: f64,
    kinds_shared: usize,
    kinds_apart: bool,
    mass: f64,
    shares_signature: bool,
}

impl Prepared {
    /// How alike the report and this incident are.
    pub fn similarity(&self, incident: &PastIncident) -> Similarity {
        let features = self.features(incident);
        Similarity {
            value: value_of(&features),
            shares_signature: features.shares_signature,
        }
    }

    /// Whether an error signature of the record stands in the report.
    fn shares_signature(&self, incident: &PastIncident) -> bool {
        let names = self.names.clone().with(incident.service.as_deref());
        incident
            .error_signatures
            .iter()
            .take(MAX_RECORD_LINES)
            .any(|line| {
                let telling: f64 = bag_of(line, &names).values().sum();
                telling >= SIGNATURE_TELLS && self.has_signature(line)
            })
    }

    fn features(&self, incident: &PastIncident) -> Features {
        let names = self.names.clone().with(incident.service.as_deref());
        let title = bag_of(&incident.title, &names);
        let symptoms: Vec<_> = incident
            .symptoms
            .iter()
            .take(MAX_RECORD_LINES)
            .map(|symptom| bag_of(symptom, &names))
            .filter(|bag| !bag.is_empty())
            .collect();
        let signatures: Vec<_> = incident
            .error_signatures
            .iter()
            .take(MAX_RECORD_LINES)
            .map(|line| (line, bag_of(line, &names)))
            .collect();
        let cause = bag_of(&incident.root_cause, &names);

        let mut record: BTreeMap<String, f64> = title.clone();
        record.extend(cause.clone());
        for bag in symptoms.iter().chain(signatures.iter().map(|(_, bag)| bag)) {
            record.extend(bag.clone());
        }
        let mass = record
            .iter()
            .filter(|(token, _)| self.bag.contains(*token))
            .map(|(_, weight)| weight)
            .sum();

        let mut by_symptom: Vec<f64> = symptoms.iter().map(|bag| self.contains(bag)).collect();
        by_symptom.sort_by(|one, other| other.total_cmp(one));
        // A record lists more than any one report says: its better half counts.
        let counted = by_symptom.len().div_ceil(2).max(2).min(by_symptom.len());
        let symptom_mean =
            (counted > 0).then(|| by_symptom.iter().take(counted).sum::<f64>() / counted as f64);

        let mut shares_signature = false;
        let mut signature_value: f64 = 0.0;
        for (line, bag) in &signatures {
            let telling: f64 = bag.values().sum();
            let stands = telling >= SIGNATURE_TELLS && self.has_signature(line);
            shares_signature |= stands;
            let said = if stands {
                1.0
            } else {
                0.8 * self.contains(bag)
            };
            signature_value = signature_value.max(said * certain(telling, SIGNATURE_SCALE));
        }

        let mut back: Vec<f64> = self
            .headline
            .iter()
            .map(|bag| said_of(bag, |token| record.contains_key(token), record.len()))
            .collect();
        back.sort_by(|one, other| other.total_cmp(one));
        let best_back = back.len().min(2);
        let back = if best_back == 0 {
            0.0
        } else {
            back.iter().take(best_back).sum::<f64>() / best_back as f64
        };

        let kinds = kinds_in(
            [&title, &cause]
                .into_iter()
                .chain(&symptoms)
                .chain(signatures.iter().map(|(_, bag)| bag)),
        );
        let shared = kinds
            .iter()
            .filter(|kind| self.kinds.contains(**kind))
            .count();
        Features {
            title: (!title.is_empty()).then(|| self.contains(&title)),
            symptoms: symptom_mean,
            signature: signature_value,
            cause: self.contains(&cause),
            back,
            kinds_shared: shared,
            kinds_apart: shared == 0 && !self.kinds.is_empty() && !kinds.is_empty(),
            mass,
            shares_signature,
        }
    }

    /// The share of a field's meaning that the report says too, beyond what a text of the report's
    /// length would say by chance.
    fn contains(&self, bag: &BTreeMap<String, f64>) -> f64 {
        said_of(bag, |token| self.bag.contains(token), self.bag.len())
    }

    /// Whether an error signature of the record stands in the report, or a telling line of the
    /// report stands in the record's longer one. The status codes of the two lines may not differ.
    fn has_signature(&self, line: &str) -> bool {
        let Some(wanted) = sameness::telling_signature(line) else {
            return false;
        };
        let codes = status_codes(line);
        let agrees = |other: &BTreeSet<String>| {
            codes.is_empty() || other.is_empty() || codes == *other || !codes.is_disjoint(other)
        };
        // Only lines that hold the word which the fewest lines hold.
        let mut places: Option<&Vec<usize>> = None;
        let mut everywhere = true;
        for word in &wanted {
            match self.lines_by_word.get(word) {
                Some(found) => {
                    if places.is_none_or(|known| found.len() < known.len()) {
                        places = Some(found);
                    }
                }
                None => {
                    everywhere = false;
                    break;
                }
            }
        }
        let stands = everywhere
            && places.is_some_and(|places| {
                places.iter().any(|index| {
                    self.lines.get(*index).is_some_and(|(words, other)| {
                        agrees(other) && sameness::signature_within(&wanted, words)
                    })
                })
            });
        stands
            || self
                .own_signatures
                .iter()
                .any(|(own, other)| agrees(other) && sameness::signature_within(own, &wanted))
    }
}

/// Symptoms and signatures of a record that are compared.
const MAX_RECORD_LINES: usize = 12;

/// The curve: fields to one number. See the module's docs for where the numbers come from.
fn value_of(features: &Features) -> f64 {
    let mut sum = 0.0;
    let mut weights = 0.0;
    for (value, weight) in [
        (features.title, TITLE_WEIGHT),
        (features.symptoms, SYMPTOMS_WEIGHT),
        (Some(features.back), BACK_WEIGHT),
    ] {
        if let Some(value) = value {
            sum += value * weight;
            weights += weight;
        }
    }
    let fields = if weights > 0.0 { sum / weights } else { 0.0 };
    let by_signature = SIGNATURE_WEIGHT * features.signature;
    let by_cause = CAUSE_WEIGHT * features.cause;
    let mut value = 1.0 - (1.0 - fields) * (1.0 - by_signature) * (1.0 - by_cause);
    if features.kinds_shared > 0 {
        let kinds = KIND_WEIGHT * (1.0 - 0.5_f64.powi(features.kinds_shared.min(8) as i32));
        value = 1.0 - (1.0 - value) * (1.0 - kinds);
    } else if features.kinds_apart && !features.shares_signature {
        value *= APART_FACTOR;
    }
    // A little in common is little, however large a part of a short record it is.
    value *= certain(features.mass, MASS_SCALE);
    value.clamp(0.0, 1.0)
}

const TITLE_WEIGHT: f64 = 0.35;
const SYMPTOMS_WEIGHT: f64 = 0.35;
const BACK_WEIGHT: f64 = 0.30;
const SIGNATURE_WEIGHT: f64 = 0.5;
const CAUSE_WEIGHT: f64 = 0.35;
const KIND_WEIGHT: f64 = 0.2;
const APART_FACTOR: f64 = 0.6;
const MASS_SCALE: f64 = 1.2;

/// How far another text of this many tokens says what a field says: the share of its meaning,
/// beyond chance, and less sure the less the field itself tells ("Exception below:").
fn said_of(field: &BTreeMap<String, f64>, holds: impl Fn(&str) -> bool, tokens: usize) -> f64 {
    let telling: f64 = field.values().sum();
    beyond_chance(share_in(field, holds), tokens) * certain(telling, FIELD_SCALE)
}

/// From nothing told to all told.
fn certain(telling: f64, scale: f64) -> f64 {
    1.0 - (-telling / scale).exp()
}

const FIELD_SCALE: f64 = 0.8;
const SIGNATURE_SCALE: f64 = 2.0;
/// A signature that tells less is no pattern: `Connection timed out`, a bare
/// `NullPointerException`.
const SIGNATURE_TELLS: f64 = 1.2;

/// A long text shares words with every other: what a text of this many tokens shares by chance is
/// taken off. Nothing for the forty tokens of a short report, a fifth for a thousand.
fn beyond_chance(share: f64, tokens: usize) -> f64 {
    let chance = (CHANCE_PER_E_FOLD * (tokens as f64 / CHANCE_FROM_TOKENS).ln()).clamp(0.0, 0.5);
    ((share - chance) / (1.0 - chance)).max(0.0)
}

const CHANCE_FROM_TOKENS: f64 = 40.0;
const CHANCE_PER_E_FOLD: f64 = 0.12;

fn share_in(bag: &BTreeMap<String, f64>, holds: impl Fn(&str) -> bool) -> f64 {
    let whole: f64 = bag.values().sum();
    if whole <= 0.0 {
        return 0.0;
    }
    let shared: f64 = bag
        .iter()
        .filter(|(token, _)| holds(token))
        .map(|(_, weight)| weight)
        .sum();
    shared / whole
}

fn kinds_of<'a>(lines: impl IntoIterator<Item = &'a str>) -> BTreeSet<&'static str> {
    let clauses: Vec<&str> = lines
        .into_iter()
        .flat_map(|line| triage::sentences_of(line))
        .flat_map(|sentence| triage::clauses_of(sentence).collect::<Vec<_>>())
        .collect();
    trouble::kinds(clauses).into_keys().collect()
}

/// Stemmed tokens of a text with their weights; volatile words, stop words, bare numbers and the
/// names of the services left out; the kinds of trouble that it affirms as tokens of their own.
fn bag_of(text: &str, names: &Names) -> BTreeMap<String, f64> {
    let mut bag = BTreeMap::new();
    if text.trim().is_empty() {
        return bag;
    }
    let text = names.without(text);
    for token in tokens(&without_volatile(&text)) {
        if is_stop_word(&token) || names.tokens.contains(&token) || is_bare_number(&token) {
            continue;
        }
        let weight = weight(&token);
        bag.insert(stem(&token), weight);
    }
    for kind in kinds_of(text.lines()) {
        bag.insert(format!("{KIND_PREFIX}{kind}"), KIND_TOKEN_WEIGHT);
    }
    bag
}

/// Names of services, which tell nothing of the trouble: `dns-gateway` has no trouble with DNS by
/// being called so.
#[derive(Clone, Debug, Default)]
struct Names {
    spelled: Vec<String>,
    tokens: HashSet<String>,
    /// The tokens as an index holds them.
    terms: HashSet<String>,
}

impl Names {
    fn of(service: Option<&str>) -> Self {
        Self::default().with(service)
    }

    fn with(mut self, service: Option<&str>) -> Self {
        if let Some(name) = service.map(str::trim).filter(|name| name.len() > 1) {
            let tokens = tokens(name);
            self.terms.extend(tokens.iter().map(|token| stem(token)));
            self.tokens.extend(tokens);
            let spelled = name.to_ascii_lowercase();
            if !self.spelled.contains(&spelled) {
                self.spelled.push(spelled);
            }
        }
        self
    }

    /// A text without these names.
    fn without<'a>(&self, text: &'a str) -> Cow<'a, str> {
        let mut out = Cow::Borrowed(text);
        for name in &self.spelled {
            let folded = out.to_ascii_lowercase();
            if !folded.contains(name) {
                continue;
            }
            let mut shorter = String::with_capacity(out.len());
            let mut end = 0;
            for (at, found) in folded.match_indices(name.as_str()) {
                shorter.push_str(out.get(end..at).unwrap_or_default());
                shorter.push(' ');
                end = at + found.len();
            }
            shorter.push_str(out.get(end..).unwrap_or_default());
            out = Cow::Owned(shorter);
        }
        out
    }
}

/// No token holds a colon.
const KIND_PREFIX: &str = "kind:";

/// The kinds of trouble among the tokens of bags.
fn kinds_in<'a>(bags: impl IntoIterator<Item = &'a BTreeMap<String, f64>>) -> BTreeSet<&'a str> {
    bags.into_iter()
        .flat_map(|bag| bag.keys())
        .filter_map(|token| token.strip_prefix(KIND_PREFIX))
        .collect()
}

const KIND_TOKEN_WEIGHT: f64 = 1.5;

static CLOCK: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(
        r"[0-9]{1,2}:[0-9]{2}(?::[0-9]{2}(?:[.,][0-9]+)?)?|\[[0-9]+\]|[0-9]+(?:[.,][0-9]+)? ?%",
    )
    .ok()
});

/// Without what names one night: pods, addresses, dates, times, percentages.
fn without_volatile(text: &str) -> Cow<'_, str> {
    // Most lines of a record hold neither a digit nor, if one, a word that may be volatile.
    if !text.bytes().any(|b| b.is_ascii_digit()) {
        return Cow::Borrowed(text);
    }
    let may_hold = text
        .split(|c: char| !(c.is_ascii_alphanumeric() || matches!(c, '.' | ':' | '-')))
        .any(|word| word.len() >= 5 && word.bytes().filter(u8::is_ascii_digit).count() >= 2)
        || text.contains('#')
        || text.to_ascii_lowercase().contains("build");
    if !may_hold {
        return match CLOCK.as_ref() {
            Some(clock) => clock.replace_all(text, " "),
            None => Cow::Borrowed(text),
        };
    }
    let masked = volatile::replace(text, |_| false);
    let mut out = masked.0;
    for (_, placeholder) in masked.1 {
        out = out.replace(placeholder, " ");
    }
    Cow::Owned(match CLOCK.as_ref() {
        Some(clock) => clock.replace_all(&out, " ").into_owned(),
        None => out,
    })
}

/// HTTP status codes of a line, 4xx and 5xx: signatures mask numbers, and 429 is not 503.
fn status_codes(line: &str) -> BTreeSet<String> {
    line.split(|c: char| !c.is_ascii_alphanumeric())
        .filter(|word| is_status_code(word))
        .map(str::to_owned)
        .collect()
}

fn is_status_code(word: &str) -> bool {
    word.len() == 3
        && word.bytes().all(|b| b.is_ascii_digit())
        && (word.starts_with('4') || word.starts_with('5'))
}

/// Numbers that name no error: all but HTTP status codes and codes with leading zeros (ORA-00060).
fn is_bare_number(token: &str) -> bool {
    token.bytes().all(|b| b.is_ascii_digit())
        && !is_status_code(token)
        && !(token.len() >= 4 && token.starts_with('0'))
}

/// From this weight on a token tells something.
const TELLING: f64 = 0.8;

/// What a token tells, from what it is. Common words of operations tell little: every outage has
/// errors, requests and users.
fn weight(token: &str) -> f64 {
    if let Some(weight) = BY_TABLE.get(token) {
        return *weight;
    }
    if is_status_code(token) {
        return if token == "429" { 1.0 } else { 0.5 };
    }
    if token.chars().any(is_cjk) {
        // A lone character is the rest of a word that punctuation cut off.
        return if token.chars().nth(1).is_none() {
            0.3
        } else {
            0.9
        };
    }
    let digits = token.bytes().any(|b| b.is_ascii_digit());
    let letters = token.bytes().any(|b| b.is_ascii_alphabetic());
    if token.contains('_') && token.len() > 6 {
        return 1.6;
    }
    if digits && letters {
        return 0.7;
    }
    if token.chars().count() >= 12 {
        1.4
    } else {
        1.0
    }
}

static BY_TABLE: LazyLock<HashMap<&'static str, f64>> = LazyLock::new(|| {
    // A word in both tables is common.
    let frequent = FREQUENT.iter().map(|word| (*word, 0.45));
    frequent
        .chain(COMMON.iter().map(|word| (*word, 0.15)))
        .collect()
});

/// Words that nearly every report has.
#[rustfmt::skip]
const COMMON: &[&str] = &[
    "error", "errors", "err", "fail", "fails", "failed", "failing", "failure", "failures",
    "service", "services", "request", "requests", "response", "responses", "issue", "issues",
    "problem", "problems", "incident", "alert", "alerts", "user", "users", "customer", "customers",
    "client", "clients", "server", "servers", "since", "utc", "after", "before", "today",
    "yesterday", "all", "any", "not", "no", "none", "only", "when", "api", "prod", "production",
    "warn", "warning", "info", "debug", "log", "logs", "line", "code", "status", "message", "msg",
    "level", "http", "https", "get", "post", "put", "v1", "v2", "com", "org", "java", "javax",
    "lang", "util", "apache", "exception", "exceptions", "npe", "null", "pointer",
    "nullpointerexception", "runtimeexception", "ioexception", "illegalargumentexception",
    "illegalstateexception", "executionexception", "typeerror", "valueerror", "undefined",
    "method", "following", "below", "net", "app", "main", "system", "again", "about", "can", "but",
    "if", "more", "than", "up", "out", "off", "over", "per", "one", "two", "new", "old", "now",
    "still", "get", "gets", "got", "see", "seen", "time", "times", "minute", "minutes", "hour",
    "hours", "day", "seconds", "ms", "every", "each", "other", "due", "because", "does", "do",
    "did", "would", "could", "may", "you", "use", "used", "using", "work", "works", "working",
    "here", "what", "how", "very", "just", "like", "name", "value", "type", "set", "run",
    "running", "kind", "pod", "pods", "deployment", "namespace", "container", "node", "nodes",
    "host", "hosts", "cluster", "instance", "replicas", "region", "online", "back", "during",
    "between", "报错", "失败", "服务", "错误", "异常", "请求", "用户", "接口", "部分", "出现",
    "开始", "今天", "昨天", "目前", "问题", "日志", "告警", "系统", "大量", "发现", "情况", "导致",
    "反馈", "线上", "生产", "影响", "我们", "一直", "现在", "没有", "分钟", "左右", "时间", "客户",
    "户端", "正常", "不是", "已经", "可能", "怀疑", "排查", "好像", "有点", "偶发", "间歇", "歇性",
    "部分", "应用", "环境", "节点", "机器", "集群", "实例", "容器", "收到", "看到", "返回", "之后",
    "之前", "昨晚", "北京", "京时",
];

/// Words that many reports have.
#[rustfmt::skip]
const FREQUENT: &[&str] = &[
    "timeout", "timeouts", "timed", "latency", "slow", "slower", "down", "high", "low",
    "increased", "increase", "rate", "restart", "restarts", "restarted", "restarting",
    "connection", "connections", "connect", "caused", "exit", "exited", "process", "thread",
    "exec", "available", "unavailable", "intermittent", "degraded", "p99", "p95", "cpu", "load",
    "traffic", "5xx", "4xx", "worker", "workers", "job", "jobs", "database", "db", "deploy",
    "deployed", "release", "rising", "growing", "returns", "returned", "returning", "upstream",
    "gateway", "call", "calls", "data", "page", "pages", "web", "backend", "frontend", "read",
    "write", "file", "files", "limit", "max", "pending", "active", "open", "stop", "stopped",
    "start", "started", "late", "lost", "many", "too", "full", "test", "retry", "retries",
    "attempt", "attempts", "state", "reason", "terminated", "last", "first", "some", "root",
    "超时", "重启", "延迟", "很慢", "变慢", "响应", "成功", "重试", "发布", "上线", "连接", "数据",
    "任务", "网关", "数据库", "据库", "间歇性", "升高", "上涨", "恢复", "飙升", "处理", "调用",
    "访问", "页面", "功能", "持续", "反复", "订单", "使用", "用率",
];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::incident::{IncidentId, Registry};
    use crate::response::grade::RECALL_FLOOR;
    use crate::response::triage::{Said, triage};

    const SERVICE: &str = "shop-api";

    struct Record {
        title: &'static str,
        symptoms: &'static [&'static str],
        signatures: &'static [&'static str],
        cause: &'static str,
    }

    impl Record {
        fn incident(&self) -> PastIncident {
            let mut incident = PastIncident::new(IncidentId::new(1).expect("not zero"), self.title);
            incident.service = Some(SERVICE.into());
            incident.symptoms = self.symptoms.iter().map(|s| (*s).to_owned()).collect();
            incident.error_signatures = self.signatures.iter().map(|s| (*s).to_owned()).collect();
            incident.root_cause = self.cause.into();
            incident
        }
    }

    fn query_of(report: &str, service: Option<&str>) -> RecallQuery {
        let registry = Registry::from_names([SERVICE]);
        let said = Said {
            service: service.map(str::to_owned),
            severity: None,
        };
        let report = Report::from_text(report);
        query(&report, &triage(&report, &registry, &said))
    }

    const POOL: Record = Record {
        title: "shop-api 503s, HikariPool connection not available",
        symptoms: &[
            "intermittent 503s on POST /v1/charges",
            "hikaricp_connections_pending rising",
            "Postgres idle while the pool is full",
        ],
        signatures: &[
            "HikariPool-1 - Connection is not available, request timed out after 30000ms",
        ],
        cause: "Refund job holds JDBC connections open and exhausts the HikariPool",
    };
    const OOM: Record = Record {
        title: "shop-api OOMKilled, goroutine leak in persistConn.readLoop",
        symptoms: &[
            "pods OOMKilled every 20 minutes",
            "goroutines leak in persistConn.readLoop",
            "pushes late",
        ],
        signatures: &[
            "Reason: OOMKilled, Exit Code: 137",
            "goroutine profile: net/http.(*persistConn).readLoop",
        ],
        cause: "Vendor push client never closes response bodies and leaks goroutines",
    };
    const DISK: Record = Record {
        title: "shop-api fails to write, disk full on db-1",
        symptoms: &["orders fail with 500", "disk of db-1 at 100 %"],
        signatures: &["could not extend file base/16384: No space left on device"],
        cause: "Archived WAL was never deleted after the backup job broke",
    };
    const DNS: Record = Record {
        title: "shop-api temporary failure in name resolution for pricing.internal",
        symptoms: &[
            "name resolution fails for pricing.internal",
            "coredns restarts",
            "conntrack insert_failed rising",
        ],
        signatures: &["[Errno -3] Temporary failure in name resolution"],
        cause: "Full conntrack table on the node drops UDP DNS packets to coredns",
    };
    const CERT: Record = Record {
        title: "shop-api clients can't connect, TLS handshake fails",
        symptoms: &[
            "TLS handshake errors",
            "browsers show a certificate warning",
        ],
        signatures: &["x509: certificate has expired or is not yet valid"],
        cause: "The wildcard certificate expired, renewal had been failing for weeks",
    };
    const DEADLOCK: Record = Record {
        title: "Checkout slow, deadlocks on the orders table",
        symptoms: &["checkout takes 20 s", "deadlock errors in the Postgres log"],
        signatures: &["ERROR: deadlock detected"],
        cause: "Two jobs update orders and stock in opposite order",
    };
    const LAG: Record = Record {
        title: "Order mails hours late, consumer lag",
        symptoms: &[
            "consumer lag grows on order-events",
            "rebalances every minute",
        ],
        signatures: &["Offset commit failed, the group has already rebalanced"],
        cause: "A batch takes longer than max.poll.interval.ms",
    };
    const RATE: Record = Record {
        title: "429 Too Many Requests from the maps vendor",
        symptoms: &[
            "429 from the maps vendor",
            "geo-cache hit ratio collapsed",
            "retries without jitter",
        ],
        signatures: &["429 Too Many Requests x-ratelimit-remaining: 0"],
        cause: "Cold geo-cache sends every lookup to the maps vendor and hits its rate limit",
    };
    const FLAG: Record = Record {
        title: "White pages after a feature flag was switched on",
        symptoms: &["white pages", "SSR workers exit with code 134"],
        signatures: &["Reached heap limit Allocation failed - JavaScript heap out of memory"],
        cause: "Menu feature renders the whole category tree for each request and exhausts the heap",
    };
    const ZH_CERT: Record = Record {
        title: "登录跳转异常",
        symptoms: &["跳转异常", "浏览器提示不安全"],
        signatures: &[],
        cause: "证书过期",
    };
    const ZH_LIMIT: Record = Record {
        title: "支付接口间歇性 503，网关返回 429",
        symptoms: &["间歇性 503", "网关返回 429", "重试可成功"],
        signatures: &["upstream returned 429"],
        cause: "网关对重试请求限流过严",
    };
    const ZH_POOL: Record = Record {
        title: "下单接口超时，数据库连接池耗尽",
        symptoms: &["下单超时", "连接池打满", "获取连接超时"],
        signatures: &["Cannot get connection from pool, timeout 3000ms"],
        cause: "慢查询占住连接，连接池被打满",
    };
    const ZH_OOM: Record = Record {
        title: "容器频繁被 OOMKilled",
        symptoms: &["内存持续上涨", "容器反复重启"],
        signatures: &["java.lang.OutOfMemoryError: Java heap space"],
        cause: "本地缓存没有上限，内存泄漏",
    };
    const ZH_MQ: Record = Record {
        title: "消息积压，通知延迟",
        symptoms: &["消费组积压 20 万条", "短信延迟半小时"],
        signatures: &[],
        cause: "消费者线程卡在下游短信网关",
    };
    const ZH_POWER: Record = Record {
        title: "机房断电",
        symptoms: &["整柜掉线", "市电中断"],
        signatures: &[],
        cause: "配电柜跳闸",
    };
    const ZH_DISK: Record = Record {
        title: "数据库写入失败，磁盘写满",
        symptoms: &["写入报错", "磁盘使用率 100%"],
        signatures: &["No space left on device"],
        cause: "binlog 没有清理，磁盘被写满",
    };

    /// The same trouble, in other words or in the same: at or above the recall floor.
    const SAME: &[(&str, &Record)] = &[
        (
            "shop-api 503s, checkout waits for a database connection\nHikariPool-1 - Connection is not available, request timed out after 30001ms",
            &POOL,
        ),
        (
            "shop-api: connection pool exhausted, requests hang while Postgres is idle",
            &POOL,
        ),
        (
            "Intermittent 503 on /v1/charges, jdbc connections all taken by the refund job, pool is full",
            &POOL,
        ),
        (
            "threads waiting for a connection from Hikari, pending keeps rising, 503s for customers",
            &POOL,
        ),
        (
            "pods of shop-api get OOM killed again, goroutines keep growing in readLoop",
            &OOM,
        ),
        (
            "memory climbs until the limit, Exit Code: 137, then the pod restarts. pushes are late",
            &OOM,
        ),
        (
            "shop-api can't write: No space left on device on db-1",
            &DISK,
        ),
        ("orders fail with 500, Postgres says disk is full", &DISK),
        ("磁盘满了，订单写不进去，No space left on device", &DISK),
        (
            "shop-api fails to resolve pricing.internal, temporary failure in name resolution",
            &DNS,
        ),
        (
            "DNS lookups for pricing.internal time out, coredns pods were restarted",
            &DNS,
        ),
        ("certificate expired, clients get handshake errors", &CERT),
        (
            "TLS: x509: certificate has expired, nobody can connect",
            &CERT,
        ),
        ("证书过期，客户端 TLS 握手失败", &CERT),
        (
            "Checkout is slow, log shows ERROR: deadlock detected on orders",
            &DEADLOCK,
        ),
        (
            "deadlocks between the stock job and the orders job make checkout hang",
            &DEADLOCK,
        ),
        (
            "order mails are late, lag of the consumer group on order-events grows, constant rebalancing",
            &LAG,
        ),
        (
            "maps vendor answers 429, cache hit ratio dropped after the flush",
            &RATE,
        ),
        (
            "we are being rate limited by the maps vendor, too many requests since the cache is cold",
            &RATE,
        ),
        (
            "some visitors see white pages, node dies: Reached heap limit Allocation failed - JavaScript heap out of memory",
            &FLAG,
        ),
        ("证书过期", &ZH_CERT),
        ("证书到期了，登录页浏览器提示不安全", &ZH_CERT),
        (
            "shop-api 间歇性 503，upstream returned 429 Too Many Requests，重试可以成功",
            &ZH_LIMIT,
        ),
        ("支付请求被网关限流，重试请求返回 429", &ZH_LIMIT),
        ("下单接口大面积超时，连接池打满，拿不到连接", &ZH_POOL),
        ("数据库连接池耗尽，慢查询很多，下单超时", &ZH_POOL),
        ("内存一直涨，容器被 OOMKilled 后反复拉起", &ZH_OOM),
        (
            "服务反复重启，日志里 java.lang.OutOfMemoryError: Java heap space",
            &ZH_OOM,
        ),
        ("短信通知延迟，消息积压严重", &ZH_MQ),
        ("机房断电，整柜机器掉线", &ZH_POWER),
        ("磁盘写满，数据库写入报错", &ZH_DISK),
        ("shop-api OOM：内存溢出，容器重启", &OOM),
    ];

    /// Another kind of trouble of the same service: below the recall floor.
    const OTHER: &[(&str, &Record)] = &[
        ("shop-api returns 503s since 10:00, requests fail", &OOM),
        (
            "shop-api returns intermittent 503s, certificate of the gateway expired",
            &POOL,
        ),
        (
            "shop-api 503s: pods OOMKilled, exit code 137, heap grows",
            &POOL,
        ),
        (
            "shop-api is slow, customers report errors and timeouts",
            &DISK,
        ),
        (
            "shop-api orders fail with 500 after the deploy at 14:02, NullPointerException in CartMapper",
            &DISK,
        ),
        ("shop-api: no space left on device, pods restart", &OOM),
        (
            "shop-api pods restart every 20 minutes, liveness probe fails, DNS lookups time out",
            &OOM,
        ),
        (
            "name resolution is fine, but the pool is exhausted: HikariPool-1 - Connection is not available",
            &DNS,
        ),
        ("connection refused to redis after failover", &DNS),
        ("checkout is slow, maps vendor answers 429", &DEADLOCK),
        ("Checkout slow, disk full on db-1", &DEADLOCK),
        (
            "order mails are late because the SMTP certificate expired",
            &LAG,
        ),
        ("TLS handshake fails, certificate expired", &RATE),
        (
            "429 Too Many Requests from the payment provider's fraud check, retry-after: 60",
            &POOL,
        ),
        (
            "white text on white ground in the mail template after the redesign",
            &FLAG,
        ),
        (
            "some visitors see white pages since the CDN lost its origin, 502 Bad Gateway",
            &POOL,
        ),
        (
            "user logins fail with invalid_grant, token expired",
            &DEADLOCK,
        ),
        ("cron job did not run tonight, invoices are missing", &LAG),
        (
            "shop-api latency p99 from 220 ms to 30 s, packet loss between zones",
            &POOL,
        ),
        (
            "内存持续上涨，容器被 OOMKilled 后反复拉起，10:00 开始",
            &ZH_CERT,
        ),
        ("机房断电，整柜掉线", &ZH_CERT),
        ("证书过期了？网关握手失败，大量客户端报错", &ZH_POWER),
        ("支付接口返回 503，错误率约 20%，磁盘写满", &ZH_LIMIT),
        ("支付接口报错，用户反馈支付失败，数据库死锁", &ZH_LIMIT),
        ("下单接口超时，第三方物流接口响应很慢", &ZH_OOM),
        ("下单失败，消息积压", &ZH_POOL),
        ("短信发送失败，短信供应商账户欠费", &ZH_POOL),
        ("容器反复重启，启动时配置项缺失报错", &ZH_OOM),
        ("通知延迟，专线丢包", &ZH_DISK),
        ("连接池使用率 30%，磁盘正常，返回 503", &ZH_POOL),
        ("数据库连接数正常，CPU 打满", &ZH_POOL),
        ("登录失败，验证码收不到", &ZH_CERT),
        ("", &POOL),
        ("shop-api", &POOL),
        ("shop-api shop-api errors", &POOL),
        ("报错", &ZH_CERT),
    ];

    fn describe(report: &str, record: &Record) -> (f64, String) {
        let prepared = query_of(report, Some(SERVICE)).prepare();
        let features = prepared.features(&record.incident());
        let value = value_of(&features);
        (
            value,
            format!("{value:.2} {report} | {}\n      {features:?}", record.title),
        )
    }

    #[test]
    fn r5_the_same_trouble_is_above_the_floor_and_another_below() {
        let mut wrong = Vec::new();
        let mut lowest: f64 = 1.0;
        let mut highest: f64 = 0.0;
        for (report, record) in SAME {
            let (value, text) = describe(report, record);
            lowest = lowest.min(value);
            if value < RECALL_FLOOR {
                wrong.push(format!("same: {text}"));
            }
        }
        for (report, record) in OTHER {
            let (value, text) = describe(report, record);
            highest = highest.max(value);
            if value >= RECALL_FLOOR {
                wrong.push(format!("other: {text}"));
            }
        }
        assert!(
            wrong.is_empty(),
            "lowest same {lowest:.2}, highest other {highest:.2}\n{}",
            wrong.join("\n")
        );
    }

    #[test]
    fn r5_the_services_name_adds_nothing() {
        let mut record = PastIncident::new(IncidentId::new(1).expect("not zero"), "dns-cache");
        record.service = Some("dns-cache".into());
        let registry = Registry::from_names(["dns-cache"]);
        let report = Report::from_text("dns-cache");
        let triage = triage(&report, &registry, &Said::default());
        assert_eq!(triage.service.as_deref(), Some("dns-cache"));
        assert_eq!(similarity(&query(&report, &triage), &record).value, 0.0);
    }

    #[test]
    fn r5_signatures_that_are_shared_and_that_are_not() {
        for (report, line, shared) in [
            (
                "upstream returned 503 Service Unavailable",
                "upstream returned 429",
                false,
            ),
            (
                "网关日志：upstream returned 429 Too Many Requests, route=shop",
                "upstream returned 429",
                true,
            ),
            ("ERROR: Connection timed out", "Connection timed out", false),
            (
                "java.lang.NullPointerException",
                "java.lang.NullPointerException",
                false,
            ),
            (
                "HikariPool-2 - Connection is not available, request timed out after 5000ms",
                "HikariPool-1 - Connection is not available, request timed out after 30000ms",
                true,
            ),
            (
                "accept EMFILE: too many open files",
                "EMFILE: too many open files",
                true,
            ),
            (
                "EMFILE was seen, too many files are open",
                "EMFILE: too many open files",
                false,
            ),
            (
                "2026-11-30 02:00:01 ERROR [main] Offset commit failed, the group has already rebalanced",
                "ERROR c.a.Consumer - Offset commit failed, the group has already rebalanced and assigned the partitions",
                true,
            ),
            ("", "EMFILE: too many open files", false),
        ] {
            let record = Record {
                title: "x",
                symptoms: &[],
                signatures: &[],
                cause: "",
            };
            let mut incident = record.incident();
            incident.error_signatures = vec![line.to_owned()];
            let similarity = query_of(report, None).prepare().similarity(&incident);
            assert_eq!(similarity.shares_signature, shared, "{report} | {line}");
        }
    }

    #[test]
    fn the_query_begins_with_what_tells() {
        let query = query_of(
            "shop-api is slow since 02:41\nERROR: deadlock detected in shop_orders, SQLSTATE 40P01",
            None,
        );
        assert_eq!(query.service.as_deref(), Some(SERVICE));
        assert_eq!(query.tokens.first().map(String::as_str), Some("deadlock"));
        for absent in ["shop-api", "02", "41", "the", "is"] {
            assert!(
                !query.tokens.iter().any(|t| t == absent),
                "{absent}: {:?}",
                query.tokens
            );
        }
        let long: String = (0..500).map(|n| format!("word{n}x ")).collect();
        assert!(query_of(&long, None).tokens.len() <= MAX_TOKENS);
        let distinct: HashSet<&String> = query.tokens.iter().collect();
        assert_eq!(distinct.len(), query.tokens.len());
    }

    #[test]
    fn orders_are_fused_by_their_places() {
        let ids = |numbers: &[u32]| -> Vec<IncidentId> {
            numbers.iter().filter_map(|n| IncidentId::new(*n)).collect()
        };
        for (orders, expected) in [
            (vec![], vec![]),
            (vec![(vec![3, 1, 2], 1.0)], vec![3, 1, 2]),
            // What both place high comes first.
            (
                vec![(vec![1, 2, 3], 1.0), (vec![2, 4], 1.0)],
                vec![2, 1, 4, 3],
            ),
            // A light order only fills up.
            (
                vec![(vec![1, 2, 3], 1.0), (vec![9, 8], 0.25)],
                vec![1, 2, 3, 9, 8],
            ),
        ] {
            let lists: Vec<(Vec<IncidentId>, f64)> = orders
                .into_iter()
                .map(|(numbers, weight): (Vec<u32>, f64)| (ids(&numbers), weight))
                .collect();
            let lists: Vec<(&[IncidentId], f64)> = lists
                .iter()
                .map(|(ids, weight)| (ids.as_slice(), *weight))
                .collect();
            assert_eq!(fuse(&lists), ids(&expected));
        }
    }

    #[test]
    fn r5_a_small_memory_is_compared_and_a_large_one_weighed() {
        for (searched, lowest, highest) in [
            (0, 0.0, 0.0),
            (6, 0.0, 0.02),
            (60, 0.5, 0.5),
            (1_000, 0.995, 1.0),
            (100_000, 0.995, 1.0),
        ] {
            let weight = by_memory(searched);
            assert!((lowest..=highest).contains(&weight), "{searched}: {weight}");
        }
        // Alone with one incident, the comparison of the two is all.
        let query = query_of("deadlock on the orders table, checkout hangs", None);
        let one = Statistics {
            incidents: 1,
            searched: 1,
            ..Statistics::default()
        };
        let incident = DEADLOCK.incident();
        let alone = query.prepare().similarity(&incident).value;
        let weighed = similarities(&query.prepare_in(&one), [(&incident, false)]);
        let weighed = weighed.first().map_or(0.0, |similarity| similarity.value);
        assert!((alone - weighed).abs() < 0.001, "{alone} {weighed}");
    }

    #[test]
    fn meaning_and_words_make_one_similarity() {
        for (by_words, alike, lowest, highest) in [
            // Strangers in meaning: only very much the same words make a match.
            (0.9, 0.1, RECALL_FLOOR, 0.5),
            (0.6, 0.1, 0.0, 0.3),
            // Neither here nor there.
            (0.35, 0.5, 0.2, 0.45),
            // The same trouble: in the same words, in some of them, in none.
            (0.9, 0.8, 0.85, 1.0),
            (0.3, 0.75, 0.45, 0.7),
            (0.0, 0.97, RECALL_FLOOR, 0.5),
            (0.0, 0.6, 0.0, 0.2),
            // Never out of the scale.
            (1.0, 1.0, 0.95, 1.0),
            (0.0, -1.0, 0.0, 0.01),
        ] {
            let value = with_meaning(by_words, alike);
            assert!(
                (lowest..=highest).contains(&value),
                "{by_words} {alike}: {value}"
            );
        }
    }

    #[test]
    fn r5_in_a_large_memory_only_rare_words_make_a_match() {
        let query = query_of(
            "shop-api: flumox deadlock in the ledger, checkout hangs",
            None,
        );
        let memory = |common: u64| Statistics {
            incidents: 10_000,
            searched: 10_000,
            frequencies: ["flumox", "deadlock", "ledg", "ledger", "checkout", "hang"]
                .map(|word| (word.to_owned(), common))
                .into(),
            ..Statistics::default()
        };
        let mut incident = DEADLOCK.incident();
        incident.title = "flumox deadlock, checkout hangs".to_owned();
        let value = |common: u64| {
            similarities(&query.prepare_in(&memory(common)), [(&incident, false)])
                .first()
                .map_or(0.0, |similarity| similarity.value)
        };
        assert!(value(3) > 0.8, "{}", value(3));
        assert!(value(3) > value(300) && value(300) > value(5_000));
        assert!(value(5_000) < RECALL_FLOOR, "{}", value(5_000));
        // Another service's record has to say more.
        let prepared = query.prepare_in(&memory(100));
        let of = |other| {
            similarities(&prepared, [(&incident, other)])
                .first()
                .map_or(0.0, |s| s.value)
        };
        assert!(of(true) < of(false));
    }

    #[test]
    fn r23_a_models_triage_widens_the_query() {
        let narrow = query_of("checkout hangs", None);
        let wide = refine_query(
            &narrow,
            "Deadlock on the orders table",
            &["checkout takes 20 s".into()],
            &["ERROR: deadlock detected".into()],
            "deadlock orders stock",
        );
        let value = |query: &RecallQuery| similarity(query, &DEADLOCK.incident());
        assert!(value(&wide).value > value(&narrow).value);
        assert!(wide.tokens.iter().any(|token| token == "stock"));
        // The model's line is no line of the report.
        assert_eq!(wide.lines, narrow.lines);
    }
}

//! One text that can support claims, prepared so that asking it is cheap.

use super::names::{is_spelling, ranges, spellings, squeezed};
use super::quantities::{
    Quantity, Unit, hour_and_minute, instants, is_part_of_a_sequence, is_status, key, plain,
    quantities,
};
use crate::incident::PastIncident;
use crate::incident::words::{fold, is_cjk};
use std::cell::{OnceCell, RefCell};
use std::collections::{HashMap, HashSet};

/// One text that can support claims.
pub(super) struct Basis {
    pub(super) folded: String,
    /// Runs of letters, digits and `_`: what is not among them needs no search.
    pub(super) words: HashSet<String>,
    pub(super) quantities: HashSet<(Unit, u64)>,
    /// Plain numbers that are no status codes: `返回 500` counts nothing.
    pub(super) counted: HashSet<u64>,
    /// Clocks with a zone, in minutes of the day in UTC.
    pub(super) instants: HashSet<i32>,
    /// Hours and minutes that stand without a zone somewhere: there any zone may be meant.
    pub(super) unzoned: HashSet<String>,
    /// Ranges of numbered names: `ws-eu-01..ws-eu-14` is the prefix, the first and the last number.
    pub(super) ranges: Vec<(String, u32, u32)>,
    /// Names without their separators, made when first asked for.
    pub(super) spellings: OnceCell<HashSet<String>>,
    /// What was asked before: a hostile answer asks the same ten thousand times.
    pub(super) asked: RefCell<HashMap<String, bool>>,
}

/// The words of a record that can support a claim.
pub(super) fn text_of(incident: &PastIncident, with_service: bool) -> String {
    let mut parts: Vec<&str> = vec![&incident.title, &incident.root_cause, &incident.prevention];
    parts.extend(incident.symptoms.iter().map(String::as_str));
    parts.extend(incident.error_signatures.iter().map(String::as_str));
    parts.extend(incident.ruled_out.iter().map(String::as_str));
    for attempt in &incident.attempts {
        parts.push(&attempt.fix);
        parts.push(&attempt.note);
    }
    let mut text = parts.join("\n");
    match (&incident.service, with_service) {
        (Some(service), true) => {
            text.push('\n');
            text.push_str(service);
        }
        // The name of the other service is not one of its internals: the card names it.
        (Some(service), false) => text = text.replace(service.as_str(), " "),
        (None, _) => {}
    }
    text
}

impl Basis {
    pub(super) fn new(text: &str) -> Self {
        let folded = fold(text);
        let mut found = HashSet::new();
        let mut counted = HashSet::new();
        for quantity in quantities(&folded) {
            found.insert((quantity.unit, key(quantity.value)));
            found.insert((quantity.unit, key(quantity.binary)));
            // `1.8M` is folded: a lone letter is minutes or a million of anything.
            if quantity.lone_m {
                let millions = quantity.value / 60_000.0;
                found.insert((Unit::Size, key(millions * 1_000_000.0)));
                found.insert((Unit::Size, key(millions * 1_048_576.0)));
            }
            if quantity.counts {
                counted.insert(key(quantity.value));
            }
        }
        let (instants, unzoned) = instants(&folded);
        Self {
            words: runs(&folded).map(str::to_owned).collect(),
            instants,
            unzoned,
            ranges: ranges(&folded),
            folded,
            quantities: found,
            counted,
            spellings: OnceCell::new(),
            asked: RefCell::default(),
        }
    }

    /// A folded word or phrase stands here on whole words.
    pub(super) fn holds_word(&self, folded: &str) -> bool {
        if folded.is_empty() || !runs(folded).all(|run| self.words.contains(run)) {
            return false;
        }
        if let Some(known) = self.asked.borrow().get(folded) {
            return *known;
        }
        let joins = |c: char| (c.is_alphanumeric() || c == '_') && !is_cjk(c);
        let first = folded.chars().next().is_some_and(joins);
        let last = folded.chars().next_back().is_some_and(joins);
        let found = self.folded.match_indices(folded).any(|(start, found)| {
            let before = self
                .folded
                .get(..start)
                .and_then(|head| head.chars().next_back());
            let after = self
                .folded
                .get(start + found.len()..)
                .and_then(|tail| tail.chars().next());
            let goes_on = first && before.is_some_and(joins) || last && after.is_some_and(joins);
            !goes_on
        });
        self.asked.borrow_mut().insert(folded.to_owned(), found);
        found
    }

    /// A number as a word: of a name or a port too, not out of a clock, an address or a version.
    pub(super) fn holds_number(&self, digits: &str) -> bool {
        self.holds_word(digits)
            && self.folded.match_indices(digits).any(|(start, found)| {
                let end = start + found.len();
                let beside =
                    |at: Option<char>| at.is_some_and(|c| c.is_alphanumeric() && !is_cjk(c));
                let whole =
                    !beside(
                        self.folded
                            .get(..start)
                            .and_then(|head| head.chars().next_back()),
                    ) && !beside(self.folded.get(end..).and_then(|tail| tail.chars().next()));
                whole && !is_part_of_a_sequence(&self.folded, start, end)
            })
    }

    /// As [`Basis::holds_word`], in any spelling: a hyphenated name also as separate words
    /// (`refund-job`), a version with or without its `v`, one of several (`TypeErrors`), and with
    /// other separators (`ShipmentTracker`, `import_stock_job`).
    pub(super) fn holds_name(&self, folded: &str) -> bool {
        if self.holds_word(folded) {
            return true;
        }
        let hyphenated =
            folded.contains('-') && folded.chars().all(|c| c.is_ascii_alphabetic() || c == '-');
        if hyphenated && self.holds_word(&folded.replace('-', " ")) {
            return true;
        }
        let version = folded.strip_prefix('v').unwrap_or(folded);
        if version.contains('.') && version.bytes().all(|b| b.is_ascii_digit() || b == b'.') {
            return self.holds_word(version) || self.holds_word(&format!("v{version}"));
        }
        if folded.len() > 4
            && let Some(one) = folded.strip_suffix('s')
            && self.holds_word(one)
        {
            return true;
        }
        self.holds_spelling(&squeezed(folded)) || self.holds_in_a_range(folded)
    }

    pub(super) fn holds_in_a_range(&self, folded: &str) -> bool {
        let prefix = folded.trim_end_matches(|c: char| c.is_ascii_digit());
        let number = folded.get(prefix.len()..).unwrap_or_default();
        let Ok(number) = number.parse::<u32>() else {
            return false;
        };
        self.ranges
            .iter()
            .any(|(name, from, to)| name == prefix && (*from..=*to).contains(&number))
    }

    pub(super) fn holds_spelling(&self, spelled: &str) -> bool {
        is_spelling(spelled)
            && self
                .spellings
                .get_or_init(|| spellings(&self.folded))
                .contains(spelled)
    }

    /// A clock with its zone: the same moment, or the same clock where no zone was given.
    pub(super) fn holds_time(&self, clock: &str, instant: Option<i32>) -> bool {
        match instant {
            Some(instant) if self.instants.contains(&instant) => true,
            Some(_) => self.holds_clock(clock) && self.unzoned.contains(&hour_and_minute(clock)),
            None => self.holds_clock(clock),
        }
    }

    /// A clock or date as written, with a leading zero more or less, inside a time stamp, and by the
    /// other half of the day.
    pub(super) fn holds_clock(&self, clock: &str) -> bool {
        if clock.contains('t') {
            return self.folded.contains(clock) || self.folded.contains(&clock.replace('t', " "));
        }
        let (digits, half) = match clock.find(['a', 'p']) {
            Some(at) => {
                let (digits, half) = clock.split_at(at);
                (digits.trim(), half.chars().next())
            }
            None => (clock, None),
        };
        let other = match digits.strip_prefix('0') {
            Some(shorter) => shorter.to_owned(),
            None => format!("0{digits}"),
        };
        let stamped = |clock: &str| {
            self.folded.contains(&format!("t{clock}")) || self.folded.contains(&format!("{clock}t"))
        };
        let halves = || {
            ["am", " am", "pm", " pm", " a.m", " p.m"]
                .iter()
                .any(|end| {
                    end.contains(half.unwrap_or('m'))
                        && (self.holds_word(&format!("{digits}{end}"))
                            || self.holds_word(&format!("{}{end}", digits.trim_start_matches('0'))))
                })
        };
        let by_the_other_half = || {
            let (hour, minutes) = digits.split_once(':')?;
            let hour: u32 = hour.parse().ok()?;
            let found = match half {
                Some('p') if hour < 12 => self.holds_word(&format!("{}:{minutes}", hour + 12)),
                Some(_) => self.holds_word(&format!("{hour:02}:{minutes}")),
                None if hour > 12 => ["pm", " pm", " p.m"]
                    .iter()
                    .any(|end| self.holds_word(&format!("{}:{minutes}{end}", hour - 12))),
                None => false,
            };
            Some(found)
        };
        (half.is_none() && (self.holds_word(digits) || self.holds_word(&other)))
            || stamped(digits)
            || stamped(&other)
            || halves()
            || by_the_other_half() == Some(true)
    }

    pub(super) fn holds_quantity(&self, wanted: &Quantity) -> bool {
        // Neighbours: a sum of roundings may end one step aside.
        let near = |value: f64| {
            let key = key(value);
            [key.wrapping_sub(1), key, key.wrapping_add(1)]
        };
        let holds = |unit: Unit, value: f64| {
            near(value)
                .iter()
                .any(|key| self.quantities.contains(&(unit, *key)))
        };
        if wanted.counts && is_status(wanted.value) {
            return near(wanted.value)
                .iter()
                .any(|key| self.counted.contains(key));
        }
        if holds(wanted.unit, wanted.value) || holds(wanted.unit, wanted.binary) {
            return true;
        }
        match wanted.unit {
            // `timeout 30` supports `30 s`; `30 %` supports the bare 30, and not the other way.
            Unit::Time => [1.0, 1_000.0, 60_000.0, 3_600_000.0]
                .iter()
                .any(|factor| holds(Unit::Plain, wanted.value / factor)),
            Unit::Size => holds(Unit::Plain, wanted.value),
            // `22k` supports 22,000: a lone letter may be a thousand of anything.
            Unit::Plain => {
                holds(Unit::Percent, wanted.value)
                    || (wanted.value >= 1_000.0 && holds(Unit::Size, wanted.value))
                    || self.holds_number(&plain(wanted.value))
            }
            Unit::Percent => false,
        }
    }
}

/// Maximal runs of letters, digits and `_` outside of scripts without spaces.
pub(super) fn runs(folded: &str) -> impl Iterator<Item = &str> {
    folded
        .split(|c: char| !(c.is_alphanumeric() || c == '_') || is_cjk(c))
        .filter(|run| !run.is_empty())
}

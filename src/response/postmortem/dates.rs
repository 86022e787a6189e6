//! When it was: dates, clock times and zones as people write them.
//!
//! Wanted: a time is read only where it can be read in one way. `03/04/2024` is two days at once and
//! is read as neither; a time without a zone counts as UTC, as in an import line.

use crate::incident::words::is_cjk;
use jiff::Timestamp;
use jiff::civil::{Date, DateTime, Time};
use jiff::tz::{Offset, TimeZone, TimeZoneDatabase};
use regex::{Captures, Regex};
use std::sync::LazyLock;
use unicode_normalization::UnicodeNormalization;

/// Bytes between a date and the clock time that belongs to it.
const NEAR: usize = 14;

/// A day, whose year the text may leave out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Day {
    year: Option<i16>,
    month: i8,
    day: i8,
}

impl Day {
    fn date(self, year: Option<i16>) -> Option<Date> {
        Date::new(self.year.or(year)?, self.month, self.day).ok()
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Clock {
    hour: i8,
    minute: i8,
    second: i8,
    /// It says before or after noon, or cannot be of a twelve-hour clock.
    certain: bool,
    /// Hours up to twelve, without a word on which half of the day.
    half: Option<bool>,
}

impl Clock {
    fn time(self, half_of_other: Option<bool>) -> Option<Time> {
        let half = self.half.or(half_of_other.filter(|_| !self.certain));
        let hour = match half {
            Some(true) if self.hour < 12 => self.hour + 12,
            Some(false) if self.hour == 12 => 0,
            _ => self.hour,
        };
        Time::new(hour, self.minute, self.second, 0).ok()
    }
}

#[derive(Clone, Debug)]
enum What {
    Day(Day),
    Clock(Clock),
    Zone(TimeZone),
}

#[derive(Clone, Debug)]
struct Token {
    start: usize,
    end: usize,
    what: What,
}

/// What a document says once for all of its times.
#[derive(Clone, Debug, Default)]
pub(super) struct Frame {
    /// The day that clock times without one belong to.
    pub day: Option<Date>,
    /// The zone that times without one are in.
    pub zone: Option<TimeZone>,
}

/// A moment that was read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Moment {
    pub at: Timestamp,
    /// Only the day is known: it stands for its first second, UTC.
    pub day_only: bool,
}

const MONTHS: [&str; 12] = [
    "jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec",
];

/// Zones whose letters mean one thing. `IST`, `CST` and `BST` mean several and are not read.
const ZONES: &[(&str, i32)] = &[
    ("UTC", 0),
    ("GMT", 0),
    ("Z", 0),
    ("PDT", -7 * 60),
    ("PST", -8 * 60),
    ("MDT", -6 * 60),
    ("MST", -7 * 60),
    ("CDT", -5 * 60),
    ("EDT", -4 * 60),
    ("EST", -5 * 60),
    ("WEST", 60),
    ("CET", 60),
    ("CEST", 120),
    ("EET", 120),
    ("EEST", 180),
    ("MSK", 180),
    ("SGT", 480),
    ("HKT", 480),
    ("AWST", 480),
    ("JST", 540),
    ("KST", 540),
    ("AEST", 600),
    ("AEDT", 660),
    ("NZST", 720),
    ("NZDT", 780),
    ("北京时间", 480),
    ("东八区", 480),
];

/// Names that follow a place's own rules through the year.
const PLACES: &[(&str, &str)] = &[
    ("PT", "America/Los_Angeles"),
    ("US/PACIFIC", "America/Los_Angeles"),
    ("PACIFIC TIME", "America/Los_Angeles"),
    ("ET", "America/New_York"),
    ("US/EASTERN", "America/New_York"),
    ("EASTERN TIME", "America/New_York"),
];

static TOKENS: LazyLock<Option<Regex>> = LazyLock::new(|| {
    let month = r"(?:jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?)";
    Regex::new(&format!(
        r"(?ix)
        (?P<iy>(?:19|20)\d\d)[-/.](?P<im>\d{{1,2}})[-/.](?P<id>\d{{1,2}})
        | (?P<cy>(?:19|20)\d\d)\s*年\s*(?P<cm>\d{{1,2}})\s*月\s*(?P<cd>\d{{1,2}})\s*[日号]
        | (?P<cm2>\d{{1,2}})\s*月\s*(?P<cd2>\d{{1,2}})\s*[日号]
        | (?P<py>(?:19|20)\d\d)(?P<pm>0[1-9]|1[0-2])(?P<pd>[0-2]\d|3[01])
        | (?P<dd>\d{{1,2}})(?:st|nd|rd|th)?[\s-]+(?:of\s+)?(?P<dm>{month})\b\.?(?:,?[\s-]+(?P<dy>(?:19|20)\d\d))?
        | \b(?P<wm>{month})\b\.?[\s-]+(?P<wd>\d{{1,2}})(?:st|nd|rd|th)?\b(?:,?[\s-]+(?P<wy>(?:19|20)\d\d))?
        | (?P<n1>\d{{1,2}})(?P<sep>[./])(?P<n2>\d{{1,2}})[./](?P<ny>(?:19|20)\d\d)
        | (?P<h>\d{{1,2}}):(?P<min>\d\d)(?::(?P<s>\d\d))?(?:[.,]\d+)?(?:\s*(?P<ap>[ap])\.?m\b\.?)?
        | (?P<h2>\d{{1,2}})\s*(?P<ap2>[ap])\.?m\b\.?
        | (?P<chalf>上午|下午|凌晨|早上|晚上|中午)?\s*(?P<ch>\d{{1,2}})\s*[点时]\s*(?:(?P<cmin>\d{{1,2}})\s*分?)?
        | (?:\b(?:utc|gmt)\s*)?(?P<off>[+-]\d{{1,2}}(?::?\d\d)?)
        | (?P<zone>北京时间|东八区|\b(?:utc|gmt|pdt|pst|mdt|mst|cdt|edt|est|west|cet|cest|eet|eest|msk|sgt|hkt|awst|jst|kst|aest|aedt|nzst|nzdt|pt|et|us/pacific|us/eastern|pacific\s+time|eastern\s+time)\b|\b(?:europe|america|asia|australia|africa|pacific|atlantic)/[a-z_]+\b|z\b)
        "
    ))
    .ok()
});

fn number(found: &Captures<'_>, name: &str) -> Option<i8> {
    found.name(name)?.as_str().parse().ok()
}

fn year(found: &Captures<'_>, name: &str) -> Option<i16> {
    found.name(name)?.as_str().parse().ok()
}

fn month_of(word: &str) -> Option<i8> {
    let folded = word.to_ascii_lowercase();
    let place = MONTHS.iter().position(|month| folded.starts_with(month))?;
    i8::try_from(place + 1).ok()
}

fn day_of(found: &Captures<'_>) -> Option<Day> {
    for (y, m, d) in [
        ("iy", "im", "id"),
        ("cy", "cm", "cd"),
        ("py", "pm", "pd"),
        ("none", "cm2", "cd2"),
    ] {
        if let (Some(month), Some(day)) = (number(found, m), number(found, d)) {
            let year = if y == "none" { None } else { year(found, y) };
            return Some(Day { year, month, day });
        }
    }
    for (y, m, d) in [("dy", "dm", "dd"), ("wy", "wm", "wd")] {
        if let (Some(month), Some(day)) = (found.name(m), number(found, d)) {
            return Some(Day {
                year: year(found, y),
                month: month_of(month.as_str())?,
                day,
            });
        }
    }
    let (one, two, year) = (
        number(found, "n1")?,
        number(found, "n2")?,
        year(found, "ny")?,
    );
    let dotted = found.name("sep").is_some_and(|sep| sep.as_str() == ".");
    let (day, month) = match (one, two) {
        // With dots the day stands first, everywhere that dots are used.
        _ if dotted => (one, two),
        (one, two) if one == two => (one, two),
        (one, two) if one > 12 && two <= 12 => (one, two),
        (one, two) if two > 12 && one <= 12 => (two, one),
        _ => return None,
    };
    Some(Day {
        year: Some(year),
        month,
        day,
    })
}

fn clock_of(found: &Captures<'_>) -> Option<Clock> {
    let afternoon = |name: &str| {
        found
            .name(name)
            .map(|half| half.as_str().eq_ignore_ascii_case("p"))
    };
    if let (Some(hour), Some(minute)) = (number(found, "h"), number(found, "min")) {
        let half = afternoon("ap");
        let two_digits = found.name("h").is_some_and(|hour| hour.len() == 2);
        return Some(Clock {
            hour,
            minute,
            second: number(found, "s").unwrap_or_default(),
            certain: half.is_some() || hour > 12 || hour == 0 || (two_digits && hour < 10),
            half,
        });
    }
    if let Some(hour) = number(found, "h2") {
        return Some(Clock {
            hour,
            minute: 0,
            second: 0,
            certain: true,
            half: afternoon("ap2"),
        });
    }
    let hour = number(found, "ch")?;
    let half = found.name("chalf").map(|half| {
        matches!(half.as_str(), "下午" | "晚上") || half.as_str() == "中午" && hour < 3
    });
    Some(Clock {
        hour,
        minute: number(found, "cmin").unwrap_or_default(),
        second: 0,
        certain: true,
        half: half.filter(|_| hour <= 12),
    })
}

fn zone_of(found: &Captures<'_>) -> Option<TimeZone> {
    if let Some(offset) = found.name("off") {
        let digits: String = offset
            .as_str()
            .chars()
            .filter(char::is_ascii_digit)
            .collect();
        let (hours, minutes): (i32, i32) = match digits.len() {
            1 | 2 => (digits.parse().ok()?, 0),
            3 | 4 => {
                let all: i32 = digits.parse().ok()?;
                (all / 100, all % 100)
            }
            _ => return None,
        };
        if hours > 14 || minutes > 59 {
            return None;
        }
        let sign = if offset.as_str().starts_with('-') {
            -1
        } else {
            1
        };
        return fixed(sign * (hours * 60 + minutes));
    }
    zone_named(found.name("zone")?.as_str())
}

fn fixed(minutes: i32) -> Option<TimeZone> {
    Offset::from_seconds(minutes * 60).ok().map(TimeZone::fixed)
}

/// A zone by its letters or its place.
pub(super) fn zone_named(name: &str) -> Option<TimeZone> {
    let upper = name
        .split_whitespace()
        .collect::<Vec<_>>()
        .join(" ")
        .to_uppercase();
    if let Some((_, minutes)) = ZONES.iter().find(|(zone, _)| *zone == upper) {
        return fixed(*minutes);
    }
    let place = PLACES
        .iter()
        .find(|(zone, _)| *zone == upper)
        .map_or(name, |(_, place)| place);
    place
        .contains('/')
        .then(|| TimeZoneDatabase::bundled().get(place).ok())
        .flatten()
}

fn tokens(text: &str) -> Vec<Token> {
    let Some(pattern) = TOKENS.as_ref() else {
        return Vec::new();
    };
    let mut out: Vec<Token> = Vec::new();
    for found in pattern.captures_iter(text) {
        let Some(whole) = found.get(0) else { continue };
        let before = text
            .get(..whole.start())
            .and_then(|text| text.chars().next_back());
        let after = text.get(whole.end()..).and_then(|text| text.chars().next());
        let starts_in_number =
            before.is_some_and(|c| c.is_ascii_digit() || matches!(c, ':' | '.' | '/'));
        let ends_in_number = after.is_some_and(|c| c.is_ascii_digit() || c == '%');
        let signed = found.name("off").is_some();
        if (starts_in_number && !signed && found.name("zone").is_none()) || ends_in_number {
            continue;
        }
        // A sign is a zone only behind a clock time; `2024-05-14` has two of them.
        let touches_clock = out.last().is_some_and(|last| {
            matches!(last.what, What::Clock(_)) && whole.start().saturating_sub(last.end) <= 2
        });
        if signed && !touches_clock && !whole.as_str().starts_with(|c: char| c.is_alphabetic()) {
            continue;
        }
        let in_a_word = before.is_some_and(|c| c.is_alphabetic() && !is_cjk(c) && c != 'T');
        let named = found
            .name("zone")
            .filter(|zone| zone.as_str().eq_ignore_ascii_case("z"));
        if named.is_some() && !(touches_clock && out.last().is_some_and(|l| l.end == whole.start()))
        {
            continue;
        }
        let what = if let Some(day) = day_of(&found) {
            // `v2.2024-05-14` and `incident20240514x` are no dates that a person wrote.
            if in_a_word && found.name("py").is_some() {
                continue;
            }
            What::Day(day)
        } else if let Some(clock) = clock_of(&found) {
            What::Clock(clock)
        } else if let Some(zone) = zone_of(&found) {
            What::Zone(zone)
        } else {
            continue;
        };
        out.push(Token {
            start: whole.start(),
            end: whole.end(),
            what,
        });
    }
    out
}

/// One clock time with what stands beside it.
#[derive(Clone, Debug)]
struct Read {
    clock: Clock,
    day: Option<Day>,
    zone: Option<TimeZone>,
    start: usize,
    end: usize,
}

/// Every clock time of a text with its day and zone.
fn clocks(tokens: &[Token]) -> Vec<Read> {
    let first_clock = tokens
        .iter()
        .position(|token| matches!(token.what, What::Clock(_)));
    // `14 May 03:12` or `03:12 on 14 May`: how the first is written, all are.
    let day_first = first_clock.is_some_and(|place| {
        place.checked_sub(1).is_some_and(|before| {
            let (day, clock) = (&tokens[before], &tokens[place]);
            matches!(day.what, What::Day(_)) && clock.start.saturating_sub(day.end) <= NEAR
        })
    });
    let mut out: Vec<Read> = Vec::new();
    for (place, token) in tokens.iter().enumerate() {
        let What::Clock(clock) = token.what else {
            continue;
        };
        let day_at = |token: &Token| match token.what {
            What::Day(day) => Some(day),
            _ => None,
        };
        let before = tokens.iter().take(place).rev().find_map(day_at);
        let after = tokens.iter().skip(place + 1).find_map(day_at);
        let day = if day_first {
            before.or(after)
        } else {
            after.or(before)
        };
        let zone = tokens.get(place + 1).and_then(|next| match &next.what {
            What::Zone(zone) if next.start.saturating_sub(token.end) <= 3 => Some(zone.clone()),
            _ => None,
        });
        // `北京时间 14:05`
        let zone = zone.or_else(|| {
            let mut earlier = tokens.iter().take(place).rev().peekable();
            earlier.next_if(|token| matches!(token.what, What::Day(_)));
            let stated = earlier.next()?;
            let What::Zone(zone) = &stated.what else {
                return None;
            };
            let taken = earlier
                .next()
                .is_some_and(|token| matches!(token.what, What::Clock(_)));
            (!taken && token.start.saturating_sub(stated.end) <= 2 * NEAR).then(|| zone.clone())
        });
        out.push(Read {
            clock,
            day,
            zone,
            start: token.start,
            end: token.end,
        });
    }
    out
}

fn normal(text: &str) -> String {
    let mut text: String = text.nfkc().collect();
    if text.contains([
        '\u{2010}', '\u{2011}', '\u{2012}', '\u{2013}', '\u{2014}', '\u{2212}',
    ]) {
        // A dash between two times is no sign of a zone.
        text = text.replace(['\u{2012}', '\u{2013}', '\u{2014}'], " ~ ");
        text = text.replace(['\u{2010}', '\u{2011}', '\u{2212}'], "-");
    }
    text
}

fn timestamp(date: Date, time: Time, zone: Option<&TimeZone>) -> Option<Timestamp> {
    let zone = zone.cloned().unwrap_or(TimeZone::UTC);
    zone.to_timestamp(DateTime::from_parts(date, time)).ok()
}

/// The first moment that a text tells; only its day where it tells no more.
pub(super) fn moment(text: &str, frame: &Frame) -> Option<Moment> {
    let text = normal(text);
    let tokens = tokens(&text);
    let year = frame.day.map(Date::year);
    for read in clocks(&tokens) {
        let date = match read.day {
            Some(day) => day.date(year),
            None => frame.day,
        };
        let at = date.zip(read.clock.time(None)).and_then(|(date, time)| {
            timestamp(date, time, read.zone.as_ref().or(frame.zone.as_ref()))
        });
        if let Some(at) = at {
            return Some(Moment {
                at,
                day_only: false,
            });
        }
    }
    let date = first_day(&tokens, year)?;
    Some(Moment {
        at: timestamp(date, Time::midnight(), None)?,
        day_only: true,
    })
}

fn first_day(tokens: &[Token], year: Option<i16>) -> Option<Date> {
    let mut of_text = year;
    if of_text.is_none() {
        of_text = tokens.iter().find_map(|token| match token.what {
            What::Day(day) => day.year,
            _ => None,
        });
    }
    tokens.iter().find_map(|token| match token.what {
        What::Day(day) => day.date(of_text),
        _ => None,
    })
}

/// The first day that a text tells with its year (or with the frame's).
pub(super) fn day(text: &str, frame: &Frame) -> Option<Date> {
    first_day(&tokens(&normal(text)), frame.day.map(Date::year))
}

/// Words between the ends of a span of time.
const UNTIL: &[&str] = &[
    "and",
    "to",
    "until",
    "till",
    "through",
    "-",
    "~",
    "at",
    "on",
    "of",
    "the",
    "utc",
    "on the",
    "approximately",
    "around",
    "about",
    "roughly",
    "as",
    "late",
    "early",
];
const UNTIL_HAN: &[&str] = &["至", "到", "直到"];

/// The first span of time that a text tells: when it began and when it was over.
pub(super) fn span(text: &str, frame: &Frame) -> Option<(Timestamp, Timestamp)> {
    let text = normal(text);
    let tokens = tokens(&text);
    let all = clocks(&tokens);
    let mut of_text = frame.day.map(Date::year);
    if of_text.is_none() {
        of_text = tokens.iter().find_map(|token| match token.what {
            What::Day(day) => day.year,
            _ => None,
        });
    }
    for pair in all.windows(2) {
        let [one, two] = pair else { continue };
        if !spans(&text, &tokens, one, two) {
            continue;
        }
        let zone = one
            .zone
            .as_ref()
            .or(two.zone.as_ref())
            .or(frame.zone.as_ref());
        let end_zone = two.zone.as_ref().or(zone);
        let date = match one.day {
            Some(day) => day.date(of_text),
            None => frame.day,
        };
        let end_date = match two.day {
            Some(day) => day.date(of_text),
            None => date,
        };
        let (Some(date), Some(end_date)) = (date.or(end_date), end_date.or(date)) else {
            continue;
        };
        let (Some(from), Some(to)) = (
            one.clock.time(two.clock.half),
            two.clock.time(one.clock.half),
        ) else {
            continue;
        };
        let (Some(start), Some(mut end)) = (
            timestamp(date, from, zone),
            timestamp(end_date, to, end_zone),
        ) else {
            continue;
        };
        if end < start && end_date == date {
            // It went on past midnight.
            let Some(next) = end_date
                .tomorrow()
                .ok()
                .and_then(|next| timestamp(next, to, end_zone))
            else {
                continue;
            };
            end = next;
        }
        if end >= start {
            return Some((start, end));
        }
    }
    None
}

/// Whether nothing but words of a span, days and zones stands between two clock times.
fn spans(text: &str, tokens: &[Token], one: &Read, two: &Read) -> bool {
    let mut between = String::new();
    let mut at = one.end;
    for token in tokens
        .iter()
        .filter(|token| token.start >= one.end && token.end <= two.start)
    {
        between.push_str(text.get(at..token.start).unwrap_or_default());
        between.push(' ');
        at = token.end;
    }
    between.push_str(text.get(at..two.start).unwrap_or_default());
    let joined = UNTIL_HAN.iter().any(|word| between.contains(word));
    let words: Vec<String> = between
        .split(|c: char| c.is_whitespace() || matches!(c, ',' | '(' | ')' | '*' | '`'))
        .filter(|word| !word.is_empty())
        .map(str::to_lowercase)
        .collect();
    let telling = words.iter().any(|word| {
        matches!(
            word.as_str(),
            "and" | "to" | "until" | "till" | "through" | "-" | "~"
        )
    });
    let known = words
        .iter()
        .all(|word| UNTIL.contains(&word.as_str()) || UNTIL_HAN.contains(&word.as_str()));
    (telling || joined) && known
}

/// How long something lasted, in minutes: `3h 20m`, `95 minutes`, `2小时30分钟`.
pub(super) fn minutes(text: &str) -> Option<i64> {
    static PARTS: LazyLock<Option<Regex>> = LazyLock::new(|| {
        Regex::new(r"(?i)(\d{1,5}(?:\.\d+)?)\s*(days?|d\b|hours?|hrs?|h\b|h\d|minutes?|mins?|m\b|天|个?小时|分钟?)").ok()
    });
    let text: String = text.nfkc().collect();
    let mut all = 0.0_f64;
    let mut any = false;
    for found in PARTS.as_ref()?.captures_iter(&text) {
        let amount: f64 = found.get(1)?.as_str().parse().ok()?;
        let unit = found.get(2)?.as_str().to_lowercase();
        let factor = match unit.chars().next()? {
            'd' | '天' => 24.0 * 60.0,
            'h' | '个' | '小' => 60.0,
            _ => 1.0,
        };
        all += amount * factor;
        any = true;
    }
    // More than a month is a sentence that was misread.
    (any && all > 0.0 && all < 45_000.0).then_some(all.round() as i64)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn frame(day: &str) -> Frame {
        Frame {
            day: day.parse().ok(),
            zone: None,
        }
    }

    #[test]
    fn what_is_no_time() {
        for text in [
            "",
            "03/04/2024",
            "version 2.2024",
            "10.20.30.40",
            "took 14:05 minutes of nothing",
            "ratio 3:1",
            "2024-13-40",
            "25:99 UTC on 2024-05-14x",
        ] {
            let read = moment(text, &Frame::default()).filter(|moment| !moment.day_only);
            assert_eq!(read, None, "{text}");
        }
    }

    #[test]
    fn moments_in_many_spellings() {
        for (text, expected) in [
            ("2024-05-14", "2024-05-14T00:00:00Z"),
            ("2024/05/14 03:12", "2024-05-14T03:12:00Z"),
            ("2024-05-14T03:12:30Z", "2024-05-14T03:12:30Z"),
            ("2024-05-14T03:12:30+02:00", "2024-05-14T01:12:30Z"),
            ("14 May 2024, 03:12 UTC", "2024-05-14T03:12:00Z"),
            ("May 14th, 2024 at 3:12 PM PDT", "2024-05-14T22:12:00Z"),
            ("03:12 PT on May 14, 2024", "2024-05-14T10:12:00Z"),
            ("14.05.2024 03:12 CEST", "2024-05-14T01:12:00Z"),
            ("14/05/2024", "2024-05-14T00:00:00Z"),
            ("05/14/2024", "2024-05-14T00:00:00Z"),
            ("2024年5月14日 下午3点12分", "2024-05-14T15:12:00Z"),
            ("２０２４年５月１４日", "2024-05-14T00:00:00Z"),
            ("北京时间 2024-05-14 11:12", "2024-05-14T03:12:00Z"),
            ("2024-05-14 11:12 北京时间", "2024-05-14T03:12:00Z"),
            ("2024-05-14 03:12 (UTC+2)", "2024-05-14T01:12:00Z"),
            ("2024-01-14 03:12 Europe/Berlin", "2024-01-14T02:12:00Z"),
            ("20151024-LabsNFS", "2015-10-24T00:00:00Z"),
        ] {
            let read = moment(text, &Frame::default()).map(|moment| moment.at.to_string());
            assert_eq!(read.as_deref(), Some(expected), "{text}");
        }
        let read = moment("03:12", &frame("2024-05-14")).map(|moment| moment.at.to_string());
        assert_eq!(read.as_deref(), Some("2024-05-14T03:12:00Z"));
    }

    #[test]
    fn spans_in_many_spellings() {
        for (text, from, to) in [
            (
                "Between 14:05 and 19:00 UTC on 08 Aug 2019, you were",
                "2019-08-08T14:05:00Z",
                "2019-08-08T19:00:00Z",
            ),
            (
                "between 21:03 UTC on 01 Jun 2017 and 22:04 UTC on the 02 Jun 2017",
                "2017-06-01T21:03:00Z",
                "2017-06-02T22:04:00Z",
            ),
            (
                "2024-05-14 23:50 – 00:20",
                "2024-05-14T23:50:00Z",
                "2024-05-15T00:20:00Z",
            ),
            (
                "from 9:16 to 11:16 PM PDT on June 13, 2012",
                "2012-06-14T04:16:00Z",
                "2012-06-14T06:16:00Z",
            ),
            (
                "Friday 12 August 2016 13:29 to 15:08 PDT",
                "2016-08-12T20:29:00Z",
                "2016-08-12T22:08:00Z",
            ),
            (
                "2024年5月14日 10:00 至 11:30",
                "2024-05-14T10:00:00Z",
                "2024-05-14T11:30:00Z",
            ),
            (
                "Between 05:55 UTC on 22 Jan and 00:56 UTC on 23 Jan 2020",
                "2020-01-22T05:55:00Z",
                "2020-01-23T00:56:00Z",
            ),
        ] {
            let read =
                span(text, &Frame::default()).map(|(from, to)| (from.to_string(), to.to_string()));
            assert_eq!(read, Some((from.to_owned(), to.to_owned())), "{text}");
        }
        for text in [
            "at 14:05 the pool was at 30 % and at 14:09 it fell on 2024-05-14",
            "14:05",
        ] {
            assert_eq!(span(text, &Frame::default()), None, "{text}");
        }
    }

    #[test]
    fn how_long() {
        for (text, expected) in [
            ("3h 20m", Some(200)),
            ("95 minutes", Some(95)),
            ("1 hour and 21 minutes", Some(81)),
            ("2小时30分钟", Some(150)),
            ("1.5 hours", Some(90)),
            ("8h 19m 9s", Some(499)),
            ("long", None),
        ] {
            assert_eq!(minutes(text), expected, "{text}");
        }
    }
}

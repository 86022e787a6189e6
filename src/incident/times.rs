//! The times of an incident (R31): which there are, in which order they have to stand, and how a
//! person's word for one is read.

use jiff::civil::{Date, DateTime, Time};
use jiff::tz::TimeZone;
use jiff::{SignedDuration, Timestamp};
use serde::{Deserialize, Serialize};

/// A named moment of an incident.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Moment {
    /// The impact began.
    Started,
    /// Somebody or something noticed.
    Detected,
    /// It was reported to us.
    Reported,
    /// Somebody took it.
    Acknowledged,
    /// Users were no longer affected.
    Mitigated,
    /// It was over.
    Resolved,
}

impl Moment {
    /// All six, in their order.
    pub const ALL: [Self; 6] = [
        Self::Started,
        Self::Detected,
        Self::Reported,
        Self::Acknowledged,
        Self::Mitigated,
        Self::Resolved,
    ];

    /// The option's and the event's word.
    pub fn word(self) -> &'static str {
        match self {
            Self::Started => "started",
            Self::Detected => "detected",
            Self::Reported => "reported",
            Self::Acknowledged => "acknowledged",
            Self::Mitigated => "mitigated",
            Self::Resolved => "resolved",
        }
    }
}

/// The times of one incident; unknown ones are missing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Times {
    /// The impact began.
    pub started: Option<Timestamp>,
    /// Somebody or something noticed.
    pub detected: Option<Timestamp>,
    /// It was reported to us.
    pub reported: Option<Timestamp>,
    /// Somebody took it.
    pub acknowledged: Option<Timestamp>,
    /// Users were no longer affected.
    pub mitigated: Option<Timestamp>,
    /// It was over.
    pub resolved: Option<Timestamp>,
}

/// What has to come before what. Users may be well again before anybody reported anything.
const BEFORE: [(Moment, Moment); 11] = [
    (Moment::Started, Moment::Detected),
    (Moment::Started, Moment::Reported),
    (Moment::Started, Moment::Acknowledged),
    (Moment::Started, Moment::Mitigated),
    (Moment::Started, Moment::Resolved),
    (Moment::Detected, Moment::Reported),
    (Moment::Detected, Moment::Acknowledged),
    (Moment::Detected, Moment::Resolved),
    (Moment::Reported, Moment::Acknowledged),
    (Moment::Acknowledged, Moment::Resolved),
    (Moment::Mitigated, Moment::Resolved),
];

impl Times {
    /// The time of a moment.
    pub fn at(&self, moment: Moment) -> Option<Timestamp> {
        match moment {
            Moment::Started => self.started,
            Moment::Detected => self.detected,
            Moment::Reported => self.reported,
            Moment::Acknowledged => self.acknowledged,
            Moment::Mitigated => self.mitigated,
            Moment::Resolved => self.resolved,
        }
    }

    /// The same with another time for a moment.
    #[must_use]
    pub fn with(mut self, moment: Moment, at: Option<Timestamp>) -> Self {
        match moment {
            Moment::Started => self.started = at,
            Moment::Detected => self.detected = at,
            Moment::Reported => self.reported = at,
            Moment::Acknowledged => self.acknowledged = at,
            Moment::Mitigated => self.mitigated = at,
            Moment::Resolved => self.resolved = at,
        }
        self
    }

    /// The first two that stand the wrong way round: the one that has to come first, and the one
    /// that would come before it.
    pub fn disorder(&self) -> Option<(Moment, Moment)> {
        BEFORE.into_iter().find(|&(first, then)| {
            matches!((self.at(first), self.at(then)), (Some(first), Some(then)) if then < first)
        })
    }

    /// Whole minutes between two moments, where both are known and in order.
    pub fn minutes(&self, from: Moment, to: Moment) -> Option<i64> {
        let (from, to) = (self.at(from)?, self.at(to)?);
        let minutes = to.duration_since(from).as_mins();
        (minutes >= 0).then_some(minutes)
    }
}

/// Which way a word without a date is meant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Towards {
    /// What was: `02:51` is the last one.
    Past,
    /// What is to come: `03:45` is the next one.
    Future,
}

/// A clock that is over by less was not meant for tomorrow.
const JUST_PAST: SignedDuration = SignedDuration::from_mins(10);

/// Reads a time as people write it: `now`, `02:51`, `02:51 UTC`, `10:51 +08:00`, `20m ago`, `in 20
/// minutes`, `20m`, `20 分钟前`, `20分钟后`, `2026-05-14 02:51`, RFC 3339. Without a zone it is UTC.
/// What lies on the wrong side of now is `None`, as is everything that can be read in two ways.
pub fn read_time(text: &str, now: Timestamp, towards: Towards) -> Option<Timestamp> {
    let text = text.trim().to_lowercase().replace('：', ":");
    let text = text.trim();
    if matches!(text, "now" | "现在" | "刚刚") {
        return Some(now);
    }
    let read = read_absolute(text, now, towards).or_else(|| read_span(text, now, towards))?;
    match towards {
        Towards::Past => (read <= now).then_some(read),
        Towards::Future => (read >= now).then_some(read),
    }
}

fn read_absolute(text: &str, now: Timestamp, towards: Towards) -> Option<Timestamp> {
    if let Ok(at) = text.to_uppercase().parse::<Timestamp>() {
        return Some(at);
    }
    let (words, zone) = zoned(text)?;
    if let Ok(at) = words.to_uppercase().parse::<DateTime>()
        && words.contains(':')
    {
        return at.to_zoned(zone).ok().map(|at| at.timestamp());
    }
    let (day, clock) = match words.split_once(' ') {
        Some((day, clock)) => (Some(day.parse::<Date>().ok()?), clock.trim()),
        None => (None, words),
    };
    let (hour, minute) = clock.split_once(':')?;
    let (minute, second) = minute.split_once(':').unwrap_or((minute, "0"));
    let two = |part: &str| {
        (part.len() <= 2)
            .then(|| part.parse::<i8>().ok())
            .flatten()
            .filter(|number| *number >= 0)
    };
    let clock = Time::new(two(hour)?, two(minute)?, two(second)?, 0).ok()?;
    let today = now.to_zoned(zone.clone()).date();
    let on = |day: Date| {
        let at = day.to_datetime(clock).to_zoned(zone.clone()).ok()?;
        Some(at.timestamp())
    };
    if let Some(day) = day {
        return on(day);
    }
    let today_at = on(today)?;
    match towards {
        Towards::Past if today_at > now => on(today.yesterday().ok()?),
        // A few minutes ago was meant as now, not as tomorrow.
        Towards::Future if today_at < now && now.duration_since(today_at) < JUST_PAST => None,
        Towards::Future if today_at < now => on(today.tomorrow().ok()?),
        _ => Some(today_at),
    }
}

/// The words without their zone, and the zone.
fn zoned(text: &str) -> Option<(&str, TimeZone)> {
    for utc in [" utc", "utc", "z", " gmt"] {
        if let Some(words) = text.strip_suffix(utc) {
            return Some((words.trim(), TimeZone::UTC));
        }
    }
    let Some(place) = text.rfind(['+', '-']) else {
        return Some((text, TimeZone::UTC));
    };
    let (words, offset) = text.split_at_checked(place)?;
    // A hyphen of a date is no offset.
    if !words.contains(':') {
        return Some((text, TimeZone::UTC));
    }
    let sign = if offset.starts_with('-') { -1 } else { 1 };
    let digits: String = offset.chars().filter(char::is_ascii_digit).collect();
    let (hours, minutes) = match digits.len() {
        1 | 2 => (digits.parse::<i32>().ok()?, 0),
        4 => {
            let all = digits.parse::<i32>().ok()?;
            (all / 100, all % 100)
        }
        _ => return None,
    };
    let seconds = sign * (hours * 3600 + minutes * 60);
    let offset = jiff::tz::Offset::from_seconds(seconds).ok()?;
    Some((words.trim(), TimeZone::fixed(offset)))
}

fn read_span(text: &str, now: Timestamp, towards: Towards) -> Option<Timestamp> {
    let mut words = text;
    let mut said = None;
    for (mark, way) in [
        ("ago", Towards::Past),
        ("以前", Towards::Past),
        ("之前", Towards::Past),
        ("前", Towards::Past),
        ("以后", Towards::Future),
        ("之后", Towards::Future),
        ("后", Towards::Future),
    ] {
        if let Some(rest) = words.strip_suffix(mark) {
            (words, said) = (rest.trim(), Some(way));
            break;
        }
    }
    if let Some(rest) = words.strip_prefix("in ") {
        if said.is_some() {
            return None;
        }
        (words, said) = (rest.trim(), Some(Towards::Future));
    }
    if said.is_some_and(|said| said != towards) {
        return None;
    }
    let number: String = words.chars().take_while(char::is_ascii_digit).collect();
    let unit = words.get(number.len()..)?.trim();
    let number: i64 = number.parse().ok().filter(|number| *number <= 100_000)?;
    let minutes = match unit {
        "m" | "min" | "mins" | "minute" | "minutes" | "分" | "分钟" => number,
        "h" | "hr" | "hrs" | "hour" | "hours" | "小时" | "个小时" => number * 60,
        "d" | "day" | "days" | "天" => number * 24 * 60,
        _ => return None,
    };
    let span = SignedDuration::from_mins(minutes);
    match towards {
        Towards::Past => now.checked_sub(span).ok(),
        Towards::Future => now.checked_add(span).ok(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(text: &str) -> Timestamp {
        text.parse().expect("a time")
    }

    #[test]
    fn a_time_is_read_as_people_write_it() {
        let now = at("2026-05-26T03:00:00Z");
        let table = [
            ("02:51", Towards::Past, Some("2026-05-26T02:51:00Z")),
            ("2:51 UTC", Towards::Past, Some("2026-05-26T02:51:00Z")),
            ("02:51z", Towards::Past, Some("2026-05-26T02:51:00Z")),
            ("０２：５１", Towards::Past, None),
            ("02：51", Towards::Past, Some("2026-05-26T02:51:00Z")),
            ("23:10", Towards::Past, Some("2026-05-25T23:10:00Z")),
            ("10:51 +08:00", Towards::Past, Some("2026-05-26T02:51:00Z")),
            ("10:51+8", Towards::Past, Some("2026-05-26T02:51:00Z")),
            ("03:45", Towards::Future, Some("2026-05-26T03:45:00Z")),
            ("02:45", Towards::Future, Some("2026-05-27T02:45:00Z")),
            ("02:58", Towards::Future, None),
            ("20m ago", Towards::Past, Some("2026-05-26T02:40:00Z")),
            ("20 minutes", Towards::Past, Some("2026-05-26T02:40:00Z")),
            ("in 45 min", Towards::Future, Some("2026-05-26T03:45:00Z")),
            ("45", Towards::Future, None),
            ("2h", Towards::Future, Some("2026-05-26T05:00:00Z")),
            ("20 分钟前", Towards::Past, Some("2026-05-26T02:40:00Z")),
            ("20分钟后", Towards::Future, Some("2026-05-26T03:20:00Z")),
            ("20m ago", Towards::Future, None),
            ("in 20m", Towards::Past, None),
            (
                "2026-05-14 02:51",
                Towards::Past,
                Some("2026-05-14T02:51:00Z"),
            ),
            (
                "2026-05-14T02:51",
                Towards::Past,
                Some("2026-05-14T02:51:00Z"),
            ),
            (
                "2026-05-14T02:51:00+02:00",
                Towards::Past,
                Some("2026-05-14T00:51:00Z"),
            ),
            ("2026-05-14", Towards::Past, None),
            ("2027-05-14 02:51", Towards::Past, None),
            ("now", Towards::Future, Some("2026-05-26T03:00:00Z")),
            ("25:00", Towards::Past, None),
            ("02:510", Towards::Past, None),
            ("-2:30", Towards::Past, None),
            ("soon", Towards::Future, None),
            ("", Towards::Past, None),
            ("99999999999999999999m", Towards::Past, None),
        ];
        for (text, towards, expected) in table {
            let read = read_time(text, now, towards);
            assert_eq!(read, expected.map(at), "{text} {towards:?}");
        }
    }

    #[test]
    fn r31_times_stand_in_order() {
        let mut times = Times {
            started: Some(at("2026-05-26T02:51:00Z")),
            reported: Some(at("2026-05-26T03:00:00Z")),
            mitigated: Some(at("2026-05-26T02:58:00Z")),
            ..Times::default()
        };
        // Well again before anybody reported it: that happens.
        assert_eq!(times.disorder(), None);
        times.acknowledged = Some(at("2026-05-26T02:59:00Z"));
        assert_eq!(
            times.disorder(),
            Some((Moment::Reported, Moment::Acknowledged))
        );
        let times = times.with(Moment::Acknowledged, None);
        let times = times.with(Moment::Resolved, Some(at("2026-05-26T02:55:00Z")));
        assert_eq!(
            times.disorder(),
            Some((Moment::Mitigated, Moment::Resolved))
        );
        assert_eq!(times.minutes(Moment::Started, Moment::Mitigated), Some(7));
        assert_eq!(times.minutes(Moment::Resolved, Moment::Mitigated), Some(3));
        assert_eq!(times.minutes(Moment::Mitigated, Moment::Started), None);
        assert_eq!(times.minutes(Moment::Started, Moment::Detected), None);
    }
}

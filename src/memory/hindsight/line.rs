//! The line in which an incident is kept at Hindsight:
//!
//! `[<TIMESTAMP>] INCIDENT: <TITLE> | SERVICE: <SERVICE> | ROOT CAUSE: <CAUSE> | FIX (<OUTCOME>): <FIX>`
//!
//! Wanted: what was written reads back as it was, whatever stands in the texts; a line is one line;
//! people and models read it without a key.
//!
//! [`Line::write`] and [`Line::parse`] are inverse. A text may hold anything, so `|` and `\` are
//! written `\|` and `\\`, line breaks and tabs `\n`, `\r` and `\t`, and other control characters
//! (which the server drops without a word), as well as white space at the ends of a text (which
//! others trim), by their number: `\u{1b}`. Every bare `|` is therefore a boundary. A time that is
//! not known is `[unknown]`, a text that nobody gave is empty, a fix is one `FIX` each.

use crate::incident::{FixAttempt, Outcome, PastIncident};
use jiff::Timestamp;

/// What stands where no time is known.
const UNKNOWN: &str = "unknown";
/// Characters of a line made from a record: well below the server's own size of a chunk, so that
/// one incident stays one memory.
pub const LONGEST: usize = 2_400;
/// Fixes told of one incident: the one that stands for it and the last ones before.
const MOST_FIXES: usize = 4;

/// What a line says. Empty texts mean that nobody said.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Line {
    /// When it was over, else when it began.
    pub at: Option<Timestamp>,
    /// One line, as people call it.
    pub title: String,
    /// The service.
    pub service: String,
    /// The root cause.
    pub cause: String,
    /// What was tried, with what became of it, in order of time.
    pub fixes: Vec<(Outcome, String)>,
}

impl Line {
    /// What is told of a record, shortened until the line is no longer than `LONGEST`.
    pub fn of(past: &PastIncident) -> Self {
        let mut most = 800;
        loop {
            let line = Self::shortened(past, most);
            if most < 20 || line.write().chars().count() <= LONGEST {
                return line;
            }
            most /= 2;
        }
    }

    fn shortened(past: &PastIncident, most: usize) -> Self {
        let told: Vec<&FixAttempt> = past
            .attempts
            .iter()
            .filter(|attempt| !attempt.fix.trim().is_empty())
            .collect();
        let decisive = past.decisive_attempt();
        let first = told.len().saturating_sub(MOST_FIXES);
        let fixes = told
            .iter()
            .enumerate()
            .filter(|(place, attempt)| {
                *place >= first || decisive.is_some_and(|decisive| decisive == **attempt)
            })
            .map(|(_, attempt)| (attempt.outcome, cut(&attempt.fix, most / 2)))
            .collect();
        Self {
            at: past.resolved_at.or(past.started_at),
            title: cut(&past.title, most.min(200)),
            service: cut(past.service.as_deref().unwrap_or_default(), most.min(100)),
            cause: cut(&past.root_cause, most),
            fixes,
        }
    }

    /// The line, without a line break.
    pub fn write(&self) -> String {
        let at = self
            .at
            .map_or_else(|| UNKNOWN.to_owned(), |at| at.to_string());
        let mut out = format!("[{at}] INCIDENT: ");
        escape(&self.title, &mut out);
        out.push_str(" | SERVICE: ");
        escape(&self.service, &mut out);
        out.push_str(" | ROOT CAUSE: ");
        escape(&self.cause, &mut out);
        for (outcome, fix) in &self.fixes {
            out.push_str(" | FIX (");
            out.push_str(outcome.word());
            out.push_str("): ");
            escape(fix, &mut out);
        }
        out
    }

    /// Reads a line; `None` where it is not one.
    pub fn parse(line: &str) -> Option<Self> {
        let mut parts = boundaries(line).into_iter();
        let (at, title) = parts.next()?.strip_prefix('[')?.split_once(']')?;
        let at = match at {
            UNKNOWN => None,
            at => Some(at.parse().ok()?),
        };
        let title = text(title.trim().strip_prefix("INCIDENT:")?)?;
        let service = text(parts.next()?.strip_prefix("SERVICE:")?)?;
        let cause = text(parts.next()?.strip_prefix("ROOT CAUSE:")?)?;
        let fixes = parts
            .map(|part| {
                let (outcome, fix) = part.strip_prefix("FIX (")?.split_once("):")?;
                let known = Outcome::parse(outcome)?;
                Some((known, text(fix)?))
            })
            .collect::<Option<Vec<_>>>()?;
        Some(Self {
            at,
            title,
            service,
            cause,
            fixes,
        })
    }
}

/// The first characters of a text, with a mark where there was more.
pub(super) fn cut(text: &str, most: usize) -> String {
    match text.char_indices().nth(most) {
        None => text.to_owned(),
        Some((end, _)) => {
            let kept = text.get(..end).unwrap_or_default();
            format!("{}…", kept.trim_end())
        }
    }
}

fn escape(text: &str, out: &mut String) {
    let inner = text.trim();
    // Where the text is white space alone, all of it is at its end.
    let start = text.len() - text.trim_start().len();
    let end = start + inner.len();
    for (at, c) in text.char_indices() {
        match c {
            '\\' => out.push_str("\\\\"),
            '|' => out.push_str("\\|"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            c if c.is_control()
                || matches!(c, '\u{2028}' | '\u{2029}')
                || (c.is_whitespace() && !(start..end).contains(&at)) =>
            {
                out.push_str(&format!("\\u{{{:x}}}", u32::from(c)));
            }
            c => out.push(c),
        }
    }
}

/// What stands between bare `|`, without the white space around it.
fn boundaries(line: &str) -> Vec<&str> {
    let mut parts = Vec::new();
    let mut escaped = false;
    let mut from = 0;
    for (at, c) in line.char_indices() {
        if escaped {
            escaped = false;
        } else if c == '\\' {
            escaped = true;
        } else if c == '|' {
            parts.push(line.get(from..at).unwrap_or_default().trim());
            from = at + 1;
        }
    }
    parts.push(line.get(from..).unwrap_or_default().trim());
    parts
}

/// A text as it was before it was written.
fn text(written: &str) -> Option<String> {
    let mut out = String::new();
    let mut characters = written.trim().chars();
    while let Some(c) = characters.next() {
        if c != '\\' {
            out.push(c);
            continue;
        }
        match characters.next()? {
            '\\' => out.push('\\'),
            '|' => out.push('|'),
            'n' => out.push('\n'),
            'r' => out.push('\r'),
            't' => out.push('\t'),
            'u' => {
                let rest = characters.as_str().strip_prefix('{')?;
                let (number, rest) = rest.split_once('}')?;
                let number = (number.len() <= 6).then_some(number)?;
                out.push(char::from_u32(u32::from_str_radix(number, 16).ok()?)?);
                characters = rest.chars();
            }
            _ => return None,
        }
    }
    Some(out)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::incident::IncidentId;
    use proptest::prelude::*;

    fn line() -> Line {
        Line {
            at: "2026-05-14T02:51:00Z".parse().ok(),
            title: "503s on charges".into(),
            service: "payments-api".into(),
            cause: "The refund job keeps connections".into(),
            fixes: vec![
                (Outcome::NoEffect, "Restart".into()),
                (Outcome::Held, "Stop the refund job".into()),
            ],
        }
    }

    #[test]
    fn a_line_as_people_read_it() {
        assert_eq!(
            line().write(),
            "[2026-05-14T02:51:00Z] INCIDENT: 503s on charges | SERVICE: payments-api | ROOT CAUSE: The refund job keeps connections | FIX (no_effect): Restart | FIX (held): Stop the refund job"
        );
        assert_eq!(
            Line::default().write(),
            "[unknown] INCIDENT:  | SERVICE:  | ROOT CAUSE: "
        );
    }

    #[test]
    fn what_is_no_line() {
        for other in [
            "",
            "503s on charges",
            "INCIDENT: a | SERVICE: b | ROOT CAUSE: c",
            "[2026-05-14T02:51:00Z] INCIDENT: a",
            "[2026-05-14T02:51:00Z] INCIDENT: a | SERVICE: b",
            "[2026-05-14T02:51:00Z] INCIDENT: a | ROOT CAUSE: c | SERVICE: b",
            "[soon] INCIDENT: a | SERVICE: b | ROOT CAUSE: c",
            "[unknown] INCIDENT: a | SERVICE: b | ROOT CAUSE: c | FIX (great): d",
            "[unknown] INCIDENT: a | SERVICE: b | ROOT CAUSE: c | FIX: d",
            "[unknown] INCIDENT: a | SERVICE: b | ROOT CAUSE: c | NOTE: d",
            "[unknown] INCIDENT: a | SERVICE: b | ROOT CAUSE: c | d",
            "[unknown] INCIDENT: a\\x | SERVICE: b | ROOT CAUSE: c",
            "[unknown] INCIDENT: a\\u{110000} | SERVICE: b | ROOT CAUSE: c",
            "[unknown] INCIDENT: a\\u{} | SERVICE: b | ROOT CAUSE: c",
            "[unknown] INCIDENT: a | SERVICE: b | ROOT CAUSE: c\\",
        ] {
            assert_eq!(Line::parse(other), None, "{other}");
        }
    }

    #[test]
    fn lines_of_others_read_where_they_are_plain() {
        let read = Line::parse(
            "  [2026-05-14T02:51:00Z]  INCIDENT: 503s on charges|SERVICE:payments-api| ROOT CAUSE: The refund job keeps connections | FIX (no_effect): Restart |FIX (held):  Stop the refund job\n",
        );
        assert_eq!(read, Some(line()));
    }

    #[test]
    fn a_record_becomes_a_line_of_bounded_length() {
        let id = IncidentId::new(41).expect("not zero");
        let mut past = PastIncident::new(id, "标题 | \u{7}".repeat(4_000));
        past.root_cause = "原因\\".repeat(100_000);
        past.attempts = (0..50)
            .map(|n| FixAttempt::new(format!("fix {n} {}", "|".repeat(9_000)), Outcome::NoEffect))
            .collect();
        past.attempts[3].outcome = Outcome::Held;
        past.attempts.push(FixAttempt::new("  ", Outcome::Held));
        let line = Line::of(&past);
        let written = line.write();
        assert!(written.chars().count() <= LONGEST, "{}", written.len());
        assert_eq!(Line::parse(&written), Some(line.clone()));
        assert_eq!(line.fixes.len(), MOST_FIXES);
        past.attempts.pop();
        let line = Line::of(&past);
        assert_eq!(line.fixes.len(), MOST_FIXES + 1);
        assert!(line.fixes[0].0 == Outcome::Held && line.fixes[0].1.starts_with("fix 3 "));
    }

    fn hostile() -> impl Strategy<Value = String> {
        let piece = prop_oneof![
            3 => prop::sample::select(vec![
                "|", " | ", "\\", "\\|", "\\u{7c}", "\\n", "\n", "\r\n", "\t", "\0", "\u{1b}[31m",
                "[", "]", "[unknown] INCIDENT: ", " | SERVICE: ", " | ROOT CAUSE: ", "FIX (held): ",
                "):", "\"", "'", "\u{202e}", "\u{2028}", "\u{3000}", "\u{a0}", " ", "  ", "数据库",
                "</past_incident>", "🔥", "\u{feff}", "\u{85}", "{", "}", "INC-0041",
            ]).prop_map(str::to_owned),
            1 => any::<String>(),
            1 => any::<char>().prop_map(String::from),
        ];
        prop::collection::vec(piece, 0..8).prop_map(|pieces| pieces.concat())
    }

    fn any_line() -> impl Strategy<Value = Line> {
        let outcome = prop::sample::select(vec![
            Outcome::Held,
            Outcome::Mitigated,
            Outcome::NoEffect,
            Outcome::CameBack,
            Outcome::MadeWorse,
            Outcome::Unknown,
        ]);
        (
            proptest::option::of(-2_000_000_000_000_i64..8_000_000_000_000),
            [hostile(), hostile(), hostile()],
            prop::collection::vec((outcome, hostile()), 0..5),
        )
            .prop_map(|(at, [title, service, cause], fixes)| Line {
                at: at.and_then(|ms| Timestamp::from_millisecond(ms).ok()),
                title,
                service,
                cause,
                fixes,
            })
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn writer_and_parser_are_inverse(line in any_line()) {
            let written = line.write();
            prop_assert!(!written.contains(|c: char| c.is_control()), "{written:?}");
            prop_assert_eq!(Line::parse(&written), Some(line.clone()));
            // White space at the ends is lost on the way, and nothing with it.
            prop_assert_eq!(Line::parse(written.trim()), Some(line));
        }

        #[test]
        fn any_text_is_a_line_or_none(text in hostile()) {
            if let Some(line) = Line::parse(&text) {
                prop_assert_eq!(Line::parse(&line.write()), Some(line));
            }
        }
    }
}

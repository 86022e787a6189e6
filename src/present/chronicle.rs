//! What happened, in order: the timeline of an incident, and the draft of a postmortem from it.
//!
//! Wanted: nothing that the record does not hold. Who did what stands with its time and zone; what a
//! model wrote is marked as that; what nobody said stays out, and is named as not recorded.
//!
//! Design: [`Entry`] is one thing that happened, [`Chronicle`] all of them with the record they belong
//! to. The draft is Markdown with the headings that `precedent memory import` reads; the record itself
//! goes along in a comment, so that nothing is lost on the way back (see [`record_in`]).

use super::ink::Ink;
use super::running::{Running, impact_words};
use super::{Post, say};
use crate::incident::approval::Word;
use crate::incident::{
    IncidentId, Locale, Moment, Outcome, PastIncident, Severity, Standing, Status, Times,
};
use jiff::Timestamp;
use jiff::tz::TimeZone;

/// One thing that happened.
#[derive(Clone, Debug, PartialEq)]
pub struct Entry {
    /// When.
    pub at: Timestamp,
    /// Who or what, by display name; empty: nobody.
    pub by: String,
    /// What.
    pub what: Happened,
}

/// What can happen.
#[derive(Clone, Debug, PartialEq)]
pub enum Happened {
    /// It was reported.
    Opened {
        /// The first words of the report.
        report: String,
    },
    /// Somebody wrote what counts as evidence.
    Wrote(String),
    /// It was analysed.
    Analysed {
        /// Which analysis.
        seq: u32,
        /// A model answered, not the rules.
        by_model: bool,
        /// The first hypothesis, where there is one.
        first: Option<String>,
    },
    /// A step was ticked, or unticked.
    Ticked {
        /// Its words.
        step: String,
        /// Ticked.
        done: bool,
    },
    /// An approver was asked for, or answered.
    Approval {
        /// The step's words.
        step: String,
        /// What was said.
        word: Word,
    },
    /// Somebody took a step, or gave it back.
    Took {
        /// Its words.
        step: String,
        /// Taken.
        taken: bool,
    },
    /// A fix was tried, or its outcome said.
    Fix {
        /// The fix.
        fix: String,
        /// What became of it; unknown: it was tried.
        outcome: Outcome,
    },
    /// What was said of a fix was taken back.
    FixWithdrawn(String),
    /// A cause was confirmed, rejected, or what was said of it taken back.
    Cause {
        /// The cause.
        cause: String,
        /// Confirmed, rejected, or neither any more.
        confirmed: Option<bool>,
    },
    /// A field changed.
    Changed {
        /// Its name, in the reader's language.
        what: String,
        /// What stood there.
        from: String,
        /// What stands there.
        to: String,
    },
    /// An update went out.
    Updated {
        /// For whom, in the reader's language.
        audience: String,
        /// Its words.
        text: String,
    },
    /// It was resolved.
    Resolved,
    /// Anything else, in a sentence of [`say`].
    Said(String),
}

/// What a timeline or a postmortem is written from.
#[derive(Clone, Debug)]
pub struct Chronicle {
    /// The record as memory keeps it.
    pub past: PastIncident,
    /// How grave, and whether a person said so.
    pub severity: Option<(Severity, bool)>,
    /// Where it stands.
    pub status: Status,
    /// Who leads, by display name.
    pub lead: Option<String>,
    /// Who reported it, by display name.
    pub reporter: String,
    /// Times, impact, fixes tried.
    pub running: Running,
    /// The last summary that a model wrote and the rules let through.
    pub summary_of_model: Option<String>,
    /// What happened, in order.
    pub entries: Vec<Entry>,
    /// The record as a line of the import format.
    pub line: String,
}

impl Chronicle {
    fn id(&self) -> IncidentId {
        self.past.id
    }
}

/// Lines of a timeline that a message shows; the file holds all.
const SHOWN: usize = 15;

/// The timeline as a message to one person alone, with all of it as a file.
pub fn timeline(chronicle: &Chronicle, locale: Locale, now: Timestamp) -> Post {
    let ink = Ink::plain(locale, now);
    let all = lines(&chronicle.entries, &ink);
    let shown: Vec<String> = {
        let ink = Ink::discord(locale, now);
        let entries = &chronicle.entries;
        let from = entries.len().saturating_sub(SHOWN);
        entries
            .iter()
            .skip(from)
            .map(|entry| format!("{} {}", ink.clock(entry.at), sentence(entry, &ink, 90)))
            .collect()
    };
    let mut content = vec![say::timeline_of(
        locale,
        chronicle.id(),
        shown.len(),
        all.len(),
    )];
    content.extend(shown);
    while content.join("\n").encode_utf16().count() > super::payload::CONTENT && content.len() > 1 {
        content.remove(1);
    }
    let text = format!(
        "{}\n\n{}\n",
        say::timeline_title(locale, chronicle.id()),
        all.join("\n")
    );
    super::private_file(
        &content.join("\n"),
        format!("timeline-{}.md", chronicle.id()),
        text,
    )
}

/// The draft of a postmortem as a file, to one person alone.
pub fn postmortem(chronicle: &Chronicle, locale: Locale, now: Timestamp) -> Post {
    super::private_file(
        &say::postmortem_is_a_draft(locale, chronicle.id()),
        format!("postmortem-{}.md", chronicle.id()),
        draft(chronicle, locale, now),
    )
}

fn lines(entries: &[Entry], ink: &Ink) -> Vec<String> {
    let mut day = None;
    let mut lines = Vec::new();
    for entry in entries {
        let of = entry.at.to_zoned(TimeZone::UTC).date();
        if day != Some(of) {
            day = Some(of);
            lines.push(format!("### {}", say::day(ink.locale, entry.at)));
        }
        let clock = say::clock(ink.locale, entry.at);
        lines.push(format!("- {clock} · {}", sentence(entry, ink, 400)));
    }
    lines
}

fn sentence(entry: &Entry, ink: &Ink, room: usize) -> String {
    let locale = ink.locale;
    let text = |text: &str| {
        let one_line = text.split_whitespace().collect::<Vec<_>>().join(" ");
        ink.text(&super::escape::cut(&one_line, room), room)
    };
    let what = match &entry.what {
        Happened::Opened { report } => say::happened_opened(locale, &text(report)),
        Happened::Wrote(words) => say::happened_wrote(locale, &text(words)),
        Happened::Analysed {
            seq,
            by_model,
            first,
        } => say::happened_analysed(
            locale,
            *seq,
            *by_model,
            first.as_deref().map(&text).as_deref(),
        ),
        Happened::Ticked { step, done } => say::happened_ticked(locale, &text(step), *done),
        Happened::Approval { step, word } => say::happened_approval(locale, &text(step), *word),
        Happened::Took { step, taken } => say::happened_took(locale, &text(step), *taken),
        Happened::Fix { fix, outcome } => match outcome {
            Outcome::Unknown => say::happened_trying(locale, &text(fix)),
            outcome => say::happened_outcome(locale, &text(fix), say::outcome(locale, *outcome)),
        },
        Happened::FixWithdrawn(fix) => say::happened_withdrawn(locale, &text(fix)),
        Happened::Cause { cause, confirmed } => {
            say::happened_cause(locale, &text(cause), *confirmed)
        }
        Happened::Changed { what, from, to } => say::change(locale, what, &text(from), &text(to)),
        Happened::Updated {
            audience,
            text: words,
        } => say::happened_updated(locale, audience, &text(words)),
        Happened::Resolved => say::happened_resolved(locale).to_owned(),
        Happened::Said(sentence) => sentence.clone(),
    };
    let by = ink.text(&entry.by, 60);
    if by.is_empty() {
        what
    } else {
        format!("{by}: {what}")
    }
}

/// How the record is marked in a draft.
const MARK: (&str, &str) = ("<!-- precedent-record: ", " -->");

/// The line of the import format that a draft carries, if it does: the last one, what stands above it
/// may be anybody's words.
pub fn record_in(draft: &str) -> Option<&str> {
    let (_, rest) = draft.rsplit_once(MARK.0)?;
    Some(rest.split_once(MARK.1)?.0)
}

/// What of a draft is read back where somebody edited it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    /// One line: what was wrong.
    Title,
    /// The service.
    Service,
    /// The environment.
    Environment,
    /// When the impact began.
    Started,
    /// When it was over.
    Resolved,
    /// What was seen.
    Symptoms,
    /// Error lines.
    Errors,
    /// The cause.
    Cause,
    /// What ended it, and what was tried.
    Fixes,
    /// What it was not.
    RuledOut,
    /// What would prevent it.
    Prevention,
}

/// The parts of a draft that no longer stand as its record gives them. Compared are their own lines,
/// not how they read: what stands in the timeline, in whatever words, changes nothing.
pub fn edited(draft_text: &str, past: &PastIncident, times: Times) -> Vec<Part> {
    let locale = language_of(draft_text);
    let stands = Pieces::of(draft_text, locale);
    let was = of_record(past, times, locale);
    let was = Pieces::of(&was, locale);
    let fact = |part: Part, label: &str| (part, stands.fact(label) != was.fact(label));
    let section =
        |part: Part, heading: &str| (part, stands.section(heading) != was.section(heading));
    [
        (Part::Title, stands.title != was.title),
        fact(Part::Service, say::service_heading(locale)),
        fact(Part::Environment, say::environment_heading(locale)),
        fact(Part::Started, say::moment_heading(locale, Moment::Started)),
        fact(
            Part::Resolved,
            say::moment_heading(locale, Moment::Resolved),
        ),
        section(Part::Symptoms, say::symptoms_heading(locale)),
        section(Part::Errors, say::errors_heading(locale)),
        section(Part::Cause, say::cause_label(locale)),
        section(Part::Fixes, say::resolution_heading(locale)),
        section(Part::Fixes, say::tried_label(locale)),
        section(Part::RuledOut, say::ruled_out_heading(locale)),
        section(Part::Prevention, say::prevention_heading(locale)),
    ]
    .into_iter()
    .filter(|(_, changed)| *changed)
    .map(|(part, _)| part)
    .collect()
}

/// A draft without what tells of the record rather than being it: the timeline, what a model wrote,
/// our own remarks. Whoever reads an edited field reads it here.
pub fn record_of(draft_text: &str) -> String {
    let locale = language_of(draft_text);
    let pieces = Pieces::of(draft_text, locale);
    let aside = [say::summary_heading(locale), say::timeline_heading(locale)];
    let remarks = [
        say::not_recorded(locale),
        say::cause_mark(locale, true),
        say::cause_mark(locale, false),
    ];
    let mut out = vec![pieces.title, String::new()];
    out.extend(pieces.facts);
    for (heading, lines) in pieces.sections {
        if aside.iter().any(|aside| heading == format!("## {aside}")) {
            continue;
        }
        out.extend([String::new(), heading, String::new()]);
        let said = lines.into_iter().filter(|line| {
            let remark = line.strip_prefix('_').and_then(|it| it.strip_suffix('_'));
            remark.is_none_or(|remark| !remarks.contains(&remark))
        });
        out.extend(said);
    }
    out.push(String::new());
    out.join("\n")
}

/// The language of a draft, by its headings.
fn language_of(draft_text: &str) -> Locale {
    let found = |locale: Locale| {
        let headings = headings(locale);
        let lines = draft_text.lines().map(str::trim);
        lines
            .filter(|line| headings.iter().any(|heading| line == heading))
            .count()
    };
    if found(Locale::Zh) > found(Locale::En) {
        Locale::Zh
    } else {
        Locale::En
    }
}

fn headings(locale: Locale) -> Vec<String> {
    [
        say::summary_heading(locale),
        say::impact_label(locale),
        say::symptoms_heading(locale),
        say::errors_heading(locale),
        say::cause_label(locale),
        say::resolution_heading(locale),
        say::tried_label(locale),
        say::ruled_out_heading(locale),
        say::prevention_heading(locale),
        say::timeline_heading(locale),
    ]
    .iter()
    .map(|heading| format!("## {heading}"))
    .collect()
}

/// A draft by its own headings. White space and empty lines don't count: editors move them.
struct Pieces {
    title: String,
    facts: Vec<String>,
    sections: Vec<(String, Vec<String>)>,
}

impl Pieces {
    fn of(text: &str, locale: Locale) -> Self {
        let headings = headings(locale);
        let mut pieces = Self {
            title: String::new(),
            facts: Vec::new(),
            sections: Vec::new(),
        };
        for line in text.lines() {
            let line = line.split_whitespace().collect::<Vec<_>>().join(" ");
            if line.starts_with(MARK.0.trim()) {
                break;
            }
            if line.is_empty() {
                continue;
            }
            // A heading that comes twice is text.
            let begins = headings.contains(&line)
                && !pieces.sections.iter().any(|(heading, _)| *heading == line);
            if begins {
                pieces.sections.push((line, Vec::new()));
            } else if let Some((_, lines)) = pieces.sections.last_mut() {
                lines.push(line);
            } else if pieces.title.is_empty() && line.starts_with('#') {
                pieces.title = line;
            } else {
                pieces.facts.push(line);
            }
        }
        pieces
    }

    fn fact(&self, label: &str) -> Option<&str> {
        let begin = format!("- **{label}**:");
        let mut facts = self.facts.iter();
        facts
            .find_map(|line| line.strip_prefix(&begin))
            .map(str::trim)
    }

    fn section(&self, heading: &str) -> Option<&[String]> {
        let heading = format!("## {heading}");
        let section = self.sections.iter().find(|(known, _)| *known == heading);
        section.map(|(_, lines)| lines.as_slice())
    }
}

/// The draft that a record and its times alone would give, without its comment.
fn of_record(past: &PastIncident, times: Times, locale: Locale) -> String {
    let chronicle = Chronicle {
        severity: None,
        status: Status::Resolved,
        lead: None,
        reporter: String::new(),
        running: Running {
            times,
            ..Running::default()
        },
        summary_of_model: None,
        entries: Vec::new(),
        line: String::new(),
        past: past.clone(),
    };
    draft(&chronicle, locale, Timestamp::UNIX_EPOCH)
}

/// The draft in Markdown.
pub fn draft(chronicle: &Chronicle, locale: Locale, now: Timestamp) -> String {
    let past = &chronicle.past;
    let mut out = vec![format!("# {}", one_line(&past.title)), String::new()];
    facts(chronicle, locale, &mut out);
    out.push(String::new());
    out.push(format!("> {}", say::draft_note(locale, past.id)));
    let mut section = |heading: &str, lines: Vec<String>| {
        out.push(String::new());
        out.push(format!("## {heading}"));
        out.push(String::new());
        if lines.is_empty() {
            out.push(format!("_{}_", say::not_recorded(locale)));
        } else {
            out.extend(lines);
        }
    };
    let summary = chronicle.summary_of_model.as_deref().map(one_line);
    section(
        say::summary_heading(locale),
        summary
            .into_iter()
            .map(|summary| format!("_{}_ {summary}", say::written_by_model(locale)))
            .collect(),
    );
    let ink = Ink::plain(locale, now);
    let impact = &chronicle.running.impact;
    let mut told: Vec<String> = vec![impact_words(impact, locale, &ink, 400)];
    if !impact.data.trim().is_empty() {
        let label = say::field(locale, say::Field::Data);
        told.push(say::pair(locale, label, &one_line(&impact.data)));
    }
    told.retain(|line| !line.is_empty());
    section(say::impact_label(locale), told);
    let list = |all: &[String]| -> Vec<String> {
        all.iter()
            .map(|one| format!("- {}", one_line(one)))
            .collect()
    };
    section(say::symptoms_heading(locale), list(&past.symptoms));
    section(
        say::errors_heading(locale),
        past.error_signatures
            .iter()
            .map(|line| format!("- `{}`", one_line(line).replace('`', "'")))
            .collect(),
    );
    section(say::cause_label(locale), cause(past, locale));
    let held = past
        .attempts
        .iter()
        .rev()
        .filter(|attempt| {
            attempt.outcome == Outcome::Mitigated
                || attempt.outcome.standing() == Standing::Verified
        })
        .map(|attempt| one_line(&attempt.fix))
        .take(1)
        .collect();
    section(say::resolution_heading(locale), held);
    let tried = past
        .attempts
        .iter()
        .map(|attempt| {
            let mut about = vec![say::outcome(locale, attempt.outcome).to_owned()];
            if !attempt.by.trim().is_empty() {
                about.push(one_line(&attempt.by));
            }
            about.extend(attempt.at.map(|at| say::day_and_clock(locale, at)));
            format!("- {}: {}", one_line(&attempt.fix), about.join(", "))
        })
        .collect();
    section(say::tried_label(locale), tried);
    section(say::ruled_out_heading(locale), list(&past.ruled_out));
    let prevention = one_line(&past.prevention);
    section(
        say::prevention_heading(locale),
        (!prevention.is_empty())
            .then_some(prevention)
            .into_iter()
            .collect(),
    );
    section(
        say::timeline_heading(locale),
        lines(&chronicle.entries, &ink),
    );
    // No comment but ours, whoever wrote what stands above it.
    for line in &mut out {
        *line = line.replace("<!--", "<! --").replace("-->", "-- >");
    }
    // A comment must not end early: JSON may escape what ends it.
    let line = chronicle.line.replace("--", "-\\u002d");
    if !line.is_empty() {
        out.push(String::new());
        out.push(format!("{}{line}{}", MARK.0, MARK.1));
    }
    out.push(String::new());
    out.join("\n")
}

fn cause(past: &PastIncident, locale: Locale) -> Vec<String> {
    let cause = one_line(&past.root_cause);
    if cause.is_empty() {
        return Vec::new();
    }
    let mark = say::cause_mark(locale, past.cause_confirmed);
    vec![cause, String::new(), format!("_{mark}_")]
}

fn facts(chronicle: &Chronicle, locale: Locale, out: &mut Vec<String>) {
    let past = &chronicle.past;
    let mut fact = |label: &str, value: String| {
        if !value.trim().is_empty() {
            out.push(format!("- **{label}**: {value}"));
        }
    };
    fact(say::incident_heading(locale), past.id.to_string());
    fact(
        say::service_heading(locale),
        one_line(past.service.as_deref().unwrap_or_default()),
    );
    fact(
        say::environment_heading(locale),
        one_line(past.environment.as_deref().unwrap_or_default()),
    );
    if let Some((severity, by_person)) = chronicle.severity {
        let mark = if by_person {
            String::new()
        } else {
            say::aside(locale, say::proposed(locale))
        };
        fact(
            say::field(locale, say::Field::Severity),
            format!("{severity}{mark}"),
        );
    }
    fact(
        say::field(locale, say::Field::Status),
        say::status_plain(locale, chronicle.status).to_owned(),
    );
    fact(
        say::lead_label(locale),
        one_line(chronicle.lead.as_deref().unwrap_or_default()),
    );
    for moment in Moment::ALL {
        if let Some(at) = chronicle.running.times.at(moment) {
            // As the reader of postmortems takes it: a date, a time, a zone.
            let at = at.to_zoned(TimeZone::UTC).strftime("%Y-%m-%d %H:%M:%S UTC");
            fact(say::moment_heading(locale, moment), at.to_string());
        }
    }
    for to in [Moment::Mitigated, Moment::Resolved] {
        let measured = super::running::measured(locale, &chronicle.running.times, to);
        out.extend(measured.map(|words| format!("- {words}")));
    }
}

/// Text of others as one line of Markdown: no heading, no list, no block of its own.
fn one_line(text: &str) -> String {
    let plain = super::escape::plain(text);
    let line = plain.split_whitespace().collect::<Vec<_>>().join(" ");
    let marks = ["#", ">", "|", "- ", "+ ", "* ", "```", "~~~"];
    if marks.iter().any(|mark| line.starts_with(mark)) {
        return format!("\\{line}");
    }
    line
}

//! Progress, one line edited in place, and the precedents as soon as they are known.
//!
//! It is the first state of the message that later holds the cards ([`super::Slot::Analysis`]).

use super::escape::{cut, plain};
use super::ink::Ink;
use super::payload::{Embed, Message};
use super::{Post, Slot, View, say};
use crate::incident::{Grade, IncidentId, Memory, Outcome, Route};
use jiff::Timestamp;
use say::StageName;

/// How far a run is.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Progress {
    /// Triage is done.
    pub triage: bool,
    /// Memory has answered, or failed.
    pub memory: Option<Precedents>,
    /// The route is decided.
    pub route: Option<Route>,
    /// The analysis is done.
    pub analysis: bool,
}

/// What memory gave, before validation.
#[derive(Clone, Debug, PartialEq)]
pub enum Precedents {
    /// Off for this run.
    Disabled,
    /// Failed; never "no match".
    Unavailable,
    /// Answered.
    Found(Vec<Precedent>),
}

/// One precedent in a line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Precedent {
    /// Its number.
    pub id: IncidentId,
    /// Its grade.
    pub grade: Grade,
    /// What became of its fix.
    pub outcome: Outcome,
    /// Its service, for analogies.
    pub service: Option<String>,
    /// When it was resolved, else when it began.
    pub at: Option<Timestamp>,
    /// Minutes to its resolution.
    pub minutes: Option<i64>,
    /// Only fragments of it are known: no record of our own.
    pub fragment: bool,
}

impl From<&Memory> for Precedents {
    /// Direct ones and analogies; outcomes as stored (R11 may change one when the cards come).
    fn from(memory: &Memory) -> Self {
        match memory {
            Memory::Disabled => Self::Disabled,
            Memory::Unavailable => Self::Unavailable,
            Memory::Partial { .. }
                if memory.direct().chain(memory.analogies()).next().is_none() =>
            {
                Self::Unavailable
            }
            Memory::Searched { .. } | Memory::Partial { .. } => Self::Found(
                memory
                    .direct()
                    .chain(memory.analogies())
                    .map(|recalled| Precedent {
                        id: recalled.incident.id,
                        grade: recalled.grade,
                        outcome: recalled.incident.outcome(),
                        service: recalled.incident.service.clone(),
                        at: recalled
                            .incident
                            .resolved_at
                            .or(recalled.incident.started_at),
                        minutes: recalled.incident.minutes_to_resolve(),
                        fragment: recalled.incident.is_fragment(),
                    })
                    .collect(),
            ),
        }
    }
}

/// Precedents shown at once; the cards show all that are cited.
const SHOWN: usize = 6;

/// The progress line alone: `Triage ✓ · Memory ✓ 3 precedents (2 direct, 1 analogy) · …`.
pub fn progress_line(view: &View, progress: &Progress) -> String {
    let locale = view.locale;
    let done = |stage| format!("{} ✓", say::stage(locale, stage));
    let open = |stage| format!("{} …", say::stage(locale, stage));
    let mut parts = Vec::new();
    parts.push(if progress.triage {
        done(StageName::Triage)
    } else {
        open(StageName::Triage)
    });
    match &progress.memory {
        None if progress.triage => parts.push(open(StageName::Memory)),
        None => {}
        Some(Precedents::Found(found)) => {
            let direct = found
                .iter()
                .filter(|p| p.grade == Grade::DirectMatch)
                .count();
            let analogies = found.iter().filter(|p| p.grade == Grade::Analogy).count();
            let words = say::precedents(locale, direct, analogies);
            parts.push(format!("{} {words}", done(StageName::Memory)));
        }
        Some(Precedents::Unavailable) => parts.push(format!(
            "{} ✗ {}",
            say::stage(locale, StageName::Memory),
            say::memory_status(
                locale,
                crate::validation::analysis::MemoryStatus::Unavailable
            )
        )),
        Some(Precedents::Disabled) => parts.push(format!(
            "{} – {}",
            say::stage(locale, StageName::Memory),
            say::memory_status(locale, crate::validation::analysis::MemoryStatus::Disabled)
        )),
    }
    if let Some(route) = &progress.route {
        let words = say::route_short(locale, route, |text| cut(&super::escape::inline(text), 40));
        parts.push(format!("{} {words}", done(StageName::Route)));
    }
    if progress.analysis {
        parts.push(done(StageName::Analysis));
    } else if progress.route.is_some() {
        parts.push(say::analysing(locale).to_owned());
    }
    parts.join(" · ")
}

/// The progress message.
pub fn progress(view: &View, progress: &Progress) -> Post {
    let ink = Ink::discord(view.locale, view.now);
    let mut embeds = Vec::new();
    if let Some(Precedents::Found(found)) = &progress.memory
        && !found.is_empty()
    {
        let mut lines: Vec<String> = found
            .iter()
            .take(SHOWN)
            .map(|precedent| precedent_line(precedent, &ink))
            .collect();
        if found.len() > SHOWN {
            lines.push(say::and_more(view.locale, found.len() - SHOWN));
        }
        embeds.push(Embed {
            description: lines.join("\n"),
            color: super::cards::MEMORY_COLOR,
            ..Embed::default()
        });
    }
    let message = Message {
        content: progress_line(view, progress),
        embeds,
        ..Message::default()
    };
    message.post(Slot::Analysis)
}

/// `INC-0012 · direct match · held · 14 May · resolved in 41 min`.
pub fn precedent_line(precedent: &Precedent, ink: &Ink) -> String {
    let locale = ink.locale;
    let mut parts = vec![
        ink.bold(&precedent.id.to_string()),
        say::grade(locale, precedent.grade).to_owned(),
    ];
    if precedent.grade != Grade::DirectMatch {
        parts.extend(
            precedent
                .service
                .as_deref()
                .map(|service| ink.text(&plain(service), 60)),
        );
    }
    // Of a fragment nobody here knows what became of its fix.
    parts.push(if precedent.fragment {
        say::fragment_only(locale).to_owned()
    } else {
        say::outcome(locale, precedent.outcome).to_owned()
    });
    parts.extend(precedent.at.map(|at| ink.day(at)));
    parts.extend(
        precedent
            .minutes
            .map(|minutes| say::resolved_in(locale, &say::minutes(locale, minutes))),
    );
    parts.retain(|part| !part.is_empty());
    parts.join(" · ")
}

#[cfg(test)]
mod tests {
    use super::super::checks::{assert_legal, at, id, view};
    use super::*;
    use crate::incident::{Locale, RouteReason, Tier};

    #[test]
    fn progress_is_one_line() {
        let precedent = |number, grade| Precedent {
            id: id(number),
            grade,
            outcome: Outcome::Held,
            service: Some("order-service".into()),
            at: Some(at("2026-05-14T03:10:00Z")),
            minutes: Some(41),
            fragment: number == 31,
        };
        let found = Precedents::Found(vec![
            precedent(41, Grade::DirectMatch),
            precedent(12, Grade::DirectMatch),
            precedent(31, Grade::Analogy),
        ]);
        let route = Route {
            tier: Tier::Capable,
            score: None,
            escalated: true,
            reasons: vec![RouteReason::HighRisk {
                area: "payments".into(),
                word: "payments".into(),
            }],
        };
        let mut lines = Vec::new();
        let states = [
            Progress::default(),
            Progress {
                triage: true,
                ..Progress::default()
            },
            Progress {
                triage: true,
                memory: Some(Precedents::Unavailable),
                ..Progress::default()
            },
            Progress {
                triage: true,
                memory: Some(found.clone()),
                route: Some(route.clone()),
                analysis: false,
            },
            Progress {
                triage: true,
                memory: Some(found),
                route: Some(route),
                analysis: true,
            },
        ];
        for state in &states {
            for locale in [Locale::En, Locale::Zh] {
                assert_legal(&progress(&view(locale), state));
                lines.push(progress_line(&view(locale), state));
            }
        }
        insta::assert_snapshot!(lines.join("\n"), @r"
        Triage …
        分诊 …
        Triage ✓ · Memory …
        分诊 ✓ · 记忆 …
        Triage ✓ · Memory ✗ unavailable
        分诊 ✓ · 记忆 ✗ 不可用
        Triage ✓ · Memory ✓ 3 precedents (2 direct, 1 analogy) · Route ✓ capable (payments) · Analysing …
        分诊 ✓ · 记忆 ✓ 3 个先例（2 个直接，1 个类比） · 路由 ✓ 强力（支付） · 分析中 …
        Triage ✓ · Memory ✓ 3 precedents (2 direct, 1 analogy) · Route ✓ capable (payments) · Analysis ✓
        分诊 ✓ · 记忆 ✓ 3 个先例（2 个直接，1 个类比） · 路由 ✓ 强力（支付） · 分析 ✓
        ");
        let post = progress(&view(Locale::En), &states[3]);
        insta::assert_snapshot!(post.payload["embeds"][0]["description"].as_str().unwrap_or_default(), @r"
        **INC-0041** · direct match · held · <t:1778728200:D> · resolved in 41 min
        **INC-0012** · direct match · held · <t:1778728200:D> · resolved in 41 min
        **INC-0031** · analogy · order-service · fragment only, no record here · <t:1778728200:D> · resolved in 41 min
        ");
    }
}

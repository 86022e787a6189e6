//! What a button, a select or a modal means, in the hundred characters of its custom id.
//!
//! Wanted: every id that was ever posted is read back to the same action or to none; an unknown id
//! is `None`, never a guess. Ids hold numbers only: no text of others, nothing secret.
//!
//! Design: `p1:` (the version of the format), a word for the action, then its numbers. An id carries
//! the analysis it belongs to, so that a click on an old card is recognised as one.

use crate::incident::IncidentId;
use crate::validation::analysis::Audience;

/// A card: the incident, the number of its analysis, and the place of the hypothesis, from 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct CardRef {
    /// The incident.
    pub incident: IncidentId,
    /// Which analysis of it, from 1.
    pub analysis: u32,
    /// Which hypothesis, from 0.
    pub hypothesis: u8,
}

/// A step of a checklist: the incident, the number of its analysis, and the place of the step, from 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct StepRef {
    /// The incident.
    pub incident: IncidentId,
    /// Which analysis of it, from 1.
    pub analysis: u32,
    /// Which step, from 0.
    pub step: u8,
}

/// What a person asked for with a click, a choice or a submitted modal.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Action {
    /// The cause is this one (again: taken back).
    CauseConfirmed(CardRef),
    /// The cause is not this one (again: taken back).
    NotIt(CardRef),
    /// Somebody tries the fix.
    TryingFix(CardRef),
    /// The fix worked.
    Worked(CardRef),
    /// The fix changed nothing.
    NoEffect(CardRef),
    /// The fix made it worse.
    MadeWorse(CardRef),
    /// Select: open a past incident in private; the value is its number.
    OpenPast {
        /// The incident at hand.
        incident: IncidentId,
        /// Its analysis.
        analysis: u32,
    },
    /// Select: the steps that are ticked now; values are their places, from 0.
    Tick {
        /// The incident at hand.
        incident: IncidentId,
        /// Its analysis.
        analysis: u32,
    },
    /// A destructive step may be done.
    Approve(StepRef),
    /// The same from who asked for it, who was told that they answer for it alone.
    ApproveOwn(StepRef),
    /// A destructive step is not to be done now; an approval is taken back.
    NotNow(StepRef),
    /// Show the update for this audience; the one that is shown: compose it anew.
    UpdateAudience {
        /// The incident at hand.
        incident: IncidentId,
        /// Its analysis.
        analysis: u32,
        /// For whom.
        audience: Audience,
    },
    /// Compose the shown update anew.
    RefreshUpdate {
        /// The incident at hand.
        incident: IncidentId,
        /// Its analysis.
        analysis: u32,
        /// For whom.
        audience: Audience,
    },
    /// Post the update (SEV3 and SEV4).
    ShowUpdate {
        /// The incident at hand.
        incident: IncidentId,
        /// Its analysis.
        analysis: u32,
    },
    /// Run a new analysis.
    Reanalyze {
        /// The incident at hand.
        incident: IncidentId,
    },
    /// Ask the model again after a fallback.
    TryAgain {
        /// The incident at hand.
        incident: IncidentId,
    },
    /// Explain the analysis in private.
    Why {
        /// The incident at hand.
        incident: IncidentId,
        /// Its analysis.
        analysis: u32,
    },
    /// A day later: the fix still holds.
    StillHeld {
        /// The incident.
        incident: IncidentId,
    },
    /// A day later: the trouble came back.
    CameBack {
        /// The incident.
        incident: IncidentId,
    },
    /// What was said a day later is taken back.
    TakeBack {
        /// The incident.
        incident: IncidentId,
    },
    /// It came back: the incident runs again, and is analysed again.
    Reopen {
        /// The incident.
        incident: IncidentId,
    },
    /// From the private view of an incident: this fix held.
    AttemptHeld {
        /// The incident.
        incident: IncidentId,
        /// The number of the attempt in it.
        attempt: u32,
    },
    /// The fix or cause is that of another incident (again: taken back).
    SameAs {
        /// The incident.
        incident: IncidentId,
        /// The number of the question in it.
        question: u32,
    },
    /// It is another one (again: taken back).
    DifferentFrom {
        /// The incident.
        incident: IncidentId,
        /// The number of the question in it.
        question: u32,
    },
    /// The submitted modal of `/resolve`.
    ResolveModal {
        /// The incident.
        incident: IncidentId,
        /// Whether it worked, as said with the command.
        worked: Option<bool>,
    },
    /// The submitted modal of `/analyze`.
    AnalyzeModal,
    /// Select: open a past incident in private, from a list outside of any incident.
    OpenMemory,
    /// The submitted modal of *Remember as incident*.
    RememberModal {
        /// The message it was used on.
        message: u64,
    },
    /// Store the import that waits.
    ImportYes {
        /// The interaction that asked for it.
        import: u64,
    },
    /// Drop the import that waits.
    ImportNo {
        /// The interaction that asked for it.
        import: u64,
    },
    /// What became of an old fix: worked, failed, or nobody knows.
    Review {
        /// The incident.
        incident: IncidentId,
        /// The attempt, by its number in the incident.
        attempt: u32,
        /// Whether it worked.
        worked: Option<bool>,
    },
    /// Select: which service an incident is of; the value is the service's name.
    ChooseService {
        /// The incident.
        incident: IncidentId,
    },
    /// Forget an incident for good: asked for and confirmed.
    Forget {
        /// The incident.
        incident: IncidentId,
    },
    /// Don't forget it.
    Keep {
        /// The incident.
        incident: IncidentId,
    },
    /// To lead it (again, by who leads: no longer).
    Lead {
        /// The incident.
        incident: IncidentId,
    },
    /// Users are no longer affected.
    Mitigated {
        /// The incident.
        incident: IncidentId,
    },
    /// They are affected after all.
    NotMitigated {
        /// The incident.
        incident: IncidentId,
    },
    /// It was none.
    FalseAlarm {
        /// The incident.
        incident: IncidentId,
    },
    /// It was one after all.
    NoFalseAlarm {
        /// The incident.
        incident: IncidentId,
    },
    /// Five lines for whoever comes late.
    CatchUp {
        /// The incident.
        incident: IncidentId,
    },
    /// Select: which fix did it; the value is its key.
    FixDid {
        /// The incident.
        incident: IncidentId,
    },
    /// To be reminded when an update is due (again: no longer).
    RemindMe {
        /// The incident.
        incident: IncidentId,
    },
    /// Add a report that waits to this incident.
    JoinReport {
        /// The incident.
        incident: IncidentId,
        /// The interaction that reported it.
        report: u64,
    },
    /// Make the report an incident of its own, whether it waits or was added.
    SeparateReport {
        /// The incident.
        incident: IncidentId,
        /// The interaction that reported it.
        report: u64,
    },
    /// Make it one with another incident.
    MergeInto {
        /// The incident.
        incident: IncidentId,
        /// The other, which goes on.
        other: IncidentId,
    },
    /// What was merged is two again.
    Unmerge {
        /// The incident.
        incident: IncidentId,
    },
    /// Say what nobody knows yet: the button opens a modal, the modal brings the answer.
    Tell {
        /// The incident at hand.
        incident: IncidentId,
        /// What is asked.
        what: Asked,
    },
    /// The shown update went out.
    UpdateSent {
        /// The incident at hand.
        incident: IncidentId,
        /// The number of what is shown, among what was composed.
        draft: u32,
    },
    /// Select: steps that the person takes or gives back; values are their places, from 0.
    TakeSteps {
        /// The incident at hand.
        incident: IncidentId,
        /// Its analysis.
        analysis: u32,
    },
}

/// What is asked of people where nothing is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Asked {
    /// Who is affected, and how many.
    Who,
    /// Since when.
    Since,
    /// What changed before.
    Changed,
}

impl Asked {
    /// All of them, in the order of asking.
    pub const ALL: [Self; 3] = [Self::Who, Self::Since, Self::Changed];

    /// The word in custom ids.
    pub fn word(self) -> &'static str {
        match self {
            Self::Who => "who",
            Self::Since => "since",
            Self::Changed => "changed",
        }
    }

    fn parse(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|asked| asked.word() == word)
    }
}

const VERSION: &str = "p1";

impl Action {
    /// The custom id; at most 40 characters.
    pub fn encode(self) -> String {
        let card = |word: &str, card: CardRef| {
            let CardRef {
                incident,
                analysis,
                hypothesis,
            } = card;
            format!(
                "{VERSION}:{word}:{}:{analysis}:{hypothesis}",
                incident.number()
            )
        };
        let run = |word: &str, incident: IncidentId, analysis: u32| {
            format!("{VERSION}:{word}:{}:{analysis}", incident.number())
        };
        let step = |word: &str, at: StepRef| {
            format!("{}:{}", run(word, at.incident, at.analysis), at.step)
        };
        let one =
            |word: &str, incident: IncidentId| format!("{VERSION}:{word}:{}", incident.number());
        match self {
            Self::CauseConfirmed(at) => card("cause", at),
            Self::NotIt(at) => card("notit", at),
            Self::TryingFix(at) => card("try", at),
            Self::Worked(at) => card("worked", at),
            Self::NoEffect(at) => card("noeffect", at),
            Self::MadeWorse(at) => card("worse", at),
            Self::OpenPast { incident, analysis } => run("past", incident, analysis),
            Self::Tick { incident, analysis } => run("tick", incident, analysis),
            Self::Approve(at) => step("approve", at),
            Self::ApproveOwn(at) => step("approveown", at),
            Self::NotNow(at) => step("notnow", at),
            Self::UpdateAudience {
                incident,
                analysis,
                audience,
            } => {
                format!("{}:{}", run("update", incident, analysis), audience.word())
            }
            Self::RefreshUpdate {
                incident,
                analysis,
                audience,
            } => {
                format!("{}:{}", run("refresh", incident, analysis), audience.word())
            }
            Self::ShowUpdate { incident, analysis } => run("showupdate", incident, analysis),
            Self::Reanalyze { incident } => one("again", incident),
            Self::TryAgain { incident } => one("retry", incident),
            Self::Why { incident, analysis } => run("why", incident, analysis),
            Self::StillHeld { incident } => one("held", incident),
            Self::CameBack { incident } => one("back", incident),
            Self::TakeBack { incident } => one("takeback", incident),
            Self::Reopen { incident } => one("reopen", incident),
            Self::AttemptHeld { incident, attempt } => run("fixheld", incident, attempt),
            Self::SameAs { incident, question } => run("same", incident, question),
            Self::DifferentFrom { incident, question } => run("differ", incident, question),
            Self::ResolveModal { incident, worked } => {
                let worked = match worked {
                    Some(true) => "yes",
                    Some(false) => "no",
                    None => "unsure",
                };
                format!("{}:{worked}", one("resolve", incident))
            }
            Self::AnalyzeModal => format!("{VERSION}:analyze"),
            Self::OpenMemory => format!("{VERSION}:memory"),
            Self::RememberModal { message } => format!("{VERSION}:remember:{message}"),
            Self::ImportYes { import } => format!("{VERSION}:import:{import}"),
            Self::ImportNo { import } => format!("{VERSION}:noimport:{import}"),
            Self::Review {
                incident,
                attempt,
                worked,
            } => {
                let worked = match worked {
                    Some(true) => "yes",
                    Some(false) => "no",
                    None => "unsure",
                };
                format!("{}:{worked}", run("review", incident, attempt))
            }
            Self::ChooseService { incident } => one("service", incident),
            Self::Forget { incident } => one("forget", incident),
            Self::Keep { incident } => one("keep", incident),
            Self::Lead { incident } => one("lead", incident),
            Self::Mitigated { incident } => one("mitigated", incident),
            Self::NotMitigated { incident } => one("unmitigated", incident),
            Self::FalseAlarm { incident } => one("falsealarm", incident),
            Self::NoFalseAlarm { incident } => one("nofalsealarm", incident),
            Self::CatchUp { incident } => one("catchup", incident),
            Self::FixDid { incident } => one("fixdid", incident),
            Self::RemindMe { incident } => one("remind", incident),
            Self::JoinReport { incident, report } => format!("{}:{report}", one("join", incident)),
            Self::SeparateReport { incident, report } => {
                format!("{}:{report}", one("apart", incident))
            }
            Self::MergeInto { incident, other } => run("merge", incident, other.number()),
            Self::Unmerge { incident } => one("unmerge", incident),
            Self::Tell { incident, what } => format!("{}:{}", one("tell", incident), what.word()),
            Self::UpdateSent { incident, draft } => run("sent", incident, draft),
            Self::TakeSteps { incident, analysis } => run("take", incident, analysis),
        }
    }

    /// The incident that it is about; `None` where it is about none.
    pub fn incident(self) -> Option<IncidentId> {
        match self {
            Self::CauseConfirmed(at)
            | Self::NotIt(at)
            | Self::TryingFix(at)
            | Self::Worked(at)
            | Self::NoEffect(at)
            | Self::MadeWorse(at) => Some(at.incident),
            Self::Approve(at) | Self::ApproveOwn(at) | Self::NotNow(at) => Some(at.incident),
            Self::OpenPast { incident, .. }
            | Self::Tick { incident, .. }
            | Self::UpdateAudience { incident, .. }
            | Self::RefreshUpdate { incident, .. }
            | Self::ShowUpdate { incident, .. }
            | Self::Reanalyze { incident }
            | Self::TryAgain { incident }
            | Self::Why { incident, .. }
            | Self::StillHeld { incident }
            | Self::CameBack { incident }
            | Self::ResolveModal { incident, .. }
            | Self::ChooseService { incident }
            | Self::Forget { incident }
            | Self::Keep { incident } => Some(incident),
            Self::TakeBack { incident }
            | Self::Reopen { incident }
            | Self::AttemptHeld { incident, .. }
            | Self::SameAs { incident, .. }
            | Self::DifferentFrom { incident, .. }
            | Self::Lead { incident }
            | Self::Mitigated { incident }
            | Self::NotMitigated { incident }
            | Self::FalseAlarm { incident }
            | Self::NoFalseAlarm { incident }
            | Self::CatchUp { incident }
            | Self::FixDid { incident }
            | Self::RemindMe { incident }
            | Self::JoinReport { incident, .. }
            | Self::SeparateReport { incident, .. }
            | Self::MergeInto { incident, .. }
            | Self::Unmerge { incident }
            | Self::Tell { incident, .. }
            | Self::UpdateSent { incident, .. }
            | Self::TakeSteps { incident, .. }
            | Self::Review { incident, .. } => Some(incident),
            Self::AnalyzeModal
            | Self::OpenMemory
            | Self::RememberModal { .. }
            | Self::ImportYes { .. }
            | Self::ImportNo { .. } => None,
        }
    }

    /// Reads [`Action::encode`] back. Everything else is `None`.
    pub fn parse(custom_id: &str) -> Option<Self> {
        let parts: Vec<&str> = custom_id.split(':').collect();
        let (version, rest) = parts.split_first()?;
        if *version != VERSION {
            return None;
        }
        let action = match rest {
            ["analyze"] => Self::AnalyzeModal,
            ["memory"] => Self::OpenMemory,
            ["remember", message] => Self::RememberModal {
                message: message.parse().ok()?,
            },
            ["import", import] => Self::ImportYes {
                import: import.parse().ok()?,
            },
            ["noimport", import] => Self::ImportNo {
                import: import.parse().ok()?,
            },
            ["review", incident, attempt, worked] => Self::Review {
                incident: id(incident)?,
                attempt: number(attempt)?,
                worked: match *worked {
                    "yes" => Some(true),
                    "no" => Some(false),
                    "unsure" => None,
                    _ => return None,
                },
            },
            [word, incident] => {
                let incident = id(incident)?;
                match *word {
                    "again" => Self::Reanalyze { incident },
                    "retry" => Self::TryAgain { incident },
                    "held" => Self::StillHeld { incident },
                    "back" => Self::CameBack { incident },
                    "takeback" => Self::TakeBack { incident },
                    "reopen" => Self::Reopen { incident },
                    "service" => Self::ChooseService { incident },
                    "forget" => Self::Forget { incident },
                    "keep" => Self::Keep { incident },
                    "lead" => Self::Lead { incident },
                    "mitigated" => Self::Mitigated { incident },
                    "unmitigated" => Self::NotMitigated { incident },
                    "falsealarm" => Self::FalseAlarm { incident },
                    "nofalsealarm" => Self::NoFalseAlarm { incident },
                    "catchup" => Self::CatchUp { incident },
                    "fixdid" => Self::FixDid { incident },
                    "remind" => Self::RemindMe { incident },
                    "unmerge" => Self::Unmerge { incident },
                    _ => return None,
                }
            }
            ["tell", incident, what] => Self::Tell {
                incident: id(incident)?,
                what: Asked::parse(what)?,
            },
            ["resolve", incident, worked] => Self::ResolveModal {
                incident: id(incident)?,
                worked: match *worked {
                    "yes" => Some(true),
                    "no" => Some(false),
                    "unsure" => None,
                    _ => return None,
                },
            },
            ["join", incident, report] => Self::JoinReport {
                incident: id(incident)?,
                report: report.parse().ok()?,
            },
            ["apart", incident, report] => Self::SeparateReport {
                incident: id(incident)?,
                report: report.parse().ok()?,
            },
            [word, incident, analysis] => {
                let (incident, analysis) = (id(incident)?, number(analysis)?);
                match *word {
                    "past" => Self::OpenPast { incident, analysis },
                    "tick" => Self::Tick { incident, analysis },
                    "take" => Self::TakeSteps { incident, analysis },
                    "sent" => Self::UpdateSent {
                        incident,
                        draft: analysis,
                    },
                    "merge" => Self::MergeInto {
                        incident,
                        other: IncidentId::new(analysis)?,
                    },
                    "showupdate" => Self::ShowUpdate { incident, analysis },
                    "why" => Self::Why { incident, analysis },
                    "fixheld" => Self::AttemptHeld {
                        incident,
                        attempt: analysis,
                    },
                    "same" => Self::SameAs {
                        incident,
                        question: analysis,
                    },
                    "differ" => Self::DifferentFrom {
                        incident,
                        question: analysis,
                    },
                    _ => return None,
                }
            }
            [word @ ("update" | "refresh"), incident, analysis, audience] => {
                let (incident, analysis) = (id(incident)?, number(analysis)?);
                let audience = Audience::parse(audience)?;
                if *word == "update" {
                    Self::UpdateAudience {
                        incident,
                        analysis,
                        audience,
                    }
                } else {
                    Self::RefreshUpdate {
                        incident,
                        analysis,
                        audience,
                    }
                }
            }
            [
                word @ ("approve" | "approveown" | "notnow"),
                incident,
                analysis,
                step,
            ] => {
                let at = StepRef {
                    incident: id(incident)?,
                    analysis: number(analysis)?,
                    step: u8::try_from(number(step)?).ok()?,
                };
                match *word {
                    "approve" => Self::Approve(at),
                    "approveown" => Self::ApproveOwn(at),
                    _ => Self::NotNow(at),
                }
            }
            [word, incident, analysis, hypothesis] => {
                let at = CardRef {
                    incident: id(incident)?,
                    analysis: number(analysis)?,
                    hypothesis: u8::try_from(number(hypothesis)?).ok()?,
                };
                match *word {
                    "cause" => Self::CauseConfirmed(at),
                    "notit" => Self::NotIt(at),
                    "try" => Self::TryingFix(at),
                    "worked" => Self::Worked(at),
                    "noeffect" => Self::NoEffect(at),
                    "worse" => Self::MadeWorse(at),
                    _ => return None,
                }
            }
            _ => return None,
        };
        // One spelling for one action: `007` or `+7` was never posted.
        (action.encode() == custom_id).then_some(action)
    }
}

fn number(text: &str) -> Option<u32> {
    text.parse().ok()
}

fn id(text: &str) -> Option<IncidentId> {
    IncidentId::new(number(text)?)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn unknown_ids_are_none() {
        for custom_id in [
            "",
            "p1",
            "p1:",
            "p0:why:1:1",
            "p1:why:0:1",
            "p1:why:01:1",
            "p1:why:+1:1",
            "p1:why:1",
            "p1:cause:1:1:256",
            "p1:cause:1:1:1:1",
            "p1:approve:1:1",
            "p1:approve:1:1:256",
            "p1:approve:1:1:-1",
            "p1:approve:0:1:1",
            "p1:approveown:1:1:1:1",
            "p1:notnow:1:1:01",
            "p1:update:1:1:press",
            "p1:resolve:1:maybe",
            "p1:analyze:1",
            "why:1:1",
            "p1:why:99999999999:1",
        ] {
            assert_eq!(Action::parse(custom_id), None, "{custom_id}");
        }
    }

    fn any_action() -> impl Strategy<Value = Action> {
        (
            0usize..36,
            1u32..=u32::MAX,
            any::<u32>(),
            any::<u8>(),
            0usize..3,
        )
            .prop_filter_map(
                "an id is never 0",
                |(kind, number, analysis, hypothesis, third)| {
                    let incident = IncidentId::new(number)?;
                    let at = CardRef {
                        incident,
                        analysis,
                        hypothesis,
                    };
                    let audience = Audience::ALL.get(third).copied()?;
                    let worked = [Some(true), Some(false), None].get(third).copied()?;
                    Some(match kind {
                        0 => Action::CauseConfirmed(at),
                        1 => Action::NotIt(at),
                        2 => Action::TryingFix(at),
                        3 => Action::Worked(at),
                        4 => Action::NoEffect(at),
                        5 => Action::MadeWorse(at),
                        6 => Action::OpenPast { incident, analysis },
                        7 => Action::Tick { incident, analysis },
                        8 => Action::UpdateAudience {
                            incident,
                            analysis,
                            audience,
                        },
                        9 => Action::RefreshUpdate {
                            incident,
                            analysis,
                            audience,
                        },
                        10 => Action::ShowUpdate { incident, analysis },
                        11 => Action::Reanalyze { incident },
                        12 => Action::TryAgain { incident },
                        13 => Action::Why { incident, analysis },
                        14 => Action::StillHeld { incident },
                        15 => Action::CameBack { incident },
                        16 => Action::ResolveModal { incident, worked },
                        17 => Action::AnalyzeModal,
                        18 => Action::TakeBack { incident },
                        19 => Action::Reopen { incident },
                        20 => Action::AttemptHeld {
                            incident,
                            attempt: analysis,
                        },
                        21 => Action::SameAs {
                            incident,
                            question: analysis,
                        },
                        22 => Action::DifferentFrom {
                            incident,
                            question: analysis,
                        },
                        23 => Action::RememberModal {
                            message: u64::from(number) << 20,
                        },
                        24 => Action::ImportYes {
                            import: u64::from(number) << 20,
                        },
                        25 => Action::ImportNo {
                            import: u64::from(number) << 20,
                        },
                        26 => Action::Review {
                            incident,
                            attempt: analysis,
                            worked,
                        },
                        27 => Action::ChooseService { incident },
                        28 => Action::Forget { incident },
                        29 => Action::Keep { incident },
                        30 => Action::Approve(StepRef {
                            incident,
                            analysis,
                            step: hypothesis,
                        }),
                        31 => Action::ApproveOwn(StepRef {
                            incident,
                            analysis,
                            step: hypothesis,
                        }),
                        32 => Action::NotNow(StepRef {
                            incident,
                            analysis,
                            step: hypothesis,
                        }),
                        33 => Action::Tell {
                            incident,
                            what: Asked::ALL.get(third).copied()?,
                        },
                        34 => Action::UpdateSent {
                            incident,
                            draft: analysis,
                        },
                        _ => Action::OpenMemory,
                    })
                },
            )
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn every_action_is_read_back(action in any_action()) {
            let custom_id = action.encode();
            prop_assert!(custom_id.len() <= 100);
            prop_assert_eq!(Action::parse(&custom_id), Some(action));
        }

        #[test]
        fn no_text_panics(text in "(p1:)?\\PC{0,40}") {
            let _ = Action::parse(&text);
        }
    }
}

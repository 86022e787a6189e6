//! What is committed: each piece of work as data, with the key under which it is done once.
//!
//! Texts in here are redacted already: a command is stored before anything else is done with it.

use super::queue::{Command, Job, JobError};
use crate::discord::{FileRef, May, Person, Place, Reply};
use crate::incident::post::Post;
use crate::incident::{IncidentId, Locale, Outcome, Report, Severity};
use crate::present::Action;
use crate::store::{Errand, Todo};
use crate::validation::analysis::Audience;
use serde::{Deserialize, Serialize};

/// A piece of work.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "work", rename_all = "snake_case")]
pub enum Work {
    /// A report becomes an incident and its first analysis.
    Analyze(Box<Analyze>),
    /// An incident is analysed again.
    Reanalyze(Reanalyze),
    /// A question is answered.
    FollowUp(FollowUp),
    /// A message of the thread is noted as evidence.
    Evidence(Evidence),
    /// A button about a cause or a fix was pressed.
    Click(Click),
    /// Steps were ticked and unticked.
    Tick(TickSteps),
    /// Steps were taken or given back.
    Take(TakeSteps),
    /// A request for an approver was answered.
    Approve(Approve),
    /// An update is posted that was behind its button.
    ShowUpdate(Click),
    /// An incident is resolved.
    Resolve(Resolve),
    /// How a tried fix went is asked once.
    AskOutcome(AskOutcome),
    /// A day after a fix worked it is asked whether it held.
    AskStillFixed(Watch),
    /// Seven days after a fix worked it counts as held, if they were quiet.
    CountQuietDays(Watch),
    /// A button of the question whether a fix held.
    StillFixed(Click),
    /// It came back: the incident runs again.
    Reopen(Click),
    /// A button of the question whether two fixes or causes are one.
    Sameness(Click),
    /// A file or a channel is read, and previewed.
    Import(Box<Import>),
    /// A previewed import is stored or dropped.
    ImportAnswer(Click),
    /// Somebody said which service an incident is of.
    ChooseService(ChooseService),
    /// The words of a service's incidents are indexed anew.
    Reindex(Reindex),
    /// An incident is forgotten.
    Forget(Forget),
    /// Messages about a forgotten incident say that it is.
    Forgotten(AfterForgetting),
    /// Old incidents are forgotten.
    Retain(Retain),
    /// Who leads, where it stands: a button below the headline.
    Own(OwnClick),
    /// `/incident set`.
    Set(Box<SetIncident>),
    /// Time alone may have changed the headline.
    Look(Look),
    /// A report that waited a minute is added to its incident.
    Join(Join),
    /// A message of a watched channel is read.
    Told(Box<Told>),
    /// Time has passed for a watched channel.
    WatchLook(WatchLook),
    /// What is to be done about an incident of a watched channel.
    WatchErrand(WatchErrand),
}

/// A message of a watched channel.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Told {
    /// Where.
    pub place: Place,
    /// Which message; ids order messages.
    pub message: u64,
    /// Its words, redacted.
    pub post: Post,
}

/// A look at the clock for a watched channel.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct WatchLook {
    /// The guild.
    pub guild: u64,
    /// The channel.
    pub channel: u64,
    /// When, unix milliseconds.
    pub at_ms: i64,
    /// What was known when it was planned.
    pub version: i64,
}

/// What is to be done about an incident of a watched channel.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct WatchErrand {
    /// The guild.
    pub guild: u64,
    /// The channel.
    pub channel: u64,
    /// What.
    pub errand: Errand,
}

impl WatchErrand {
    fn key(&self) -> String {
        let (what, stamp) = match self.errand.what {
            Todo::Show => ("show", self.errand.stamp),
            Todo::Analyse => ("analyse", 0),
            Todo::SuggestEnd(since) => ("over", since),
            Todo::Held(since) => ("held", since),
            Todo::Reopen => ("reopen", self.errand.stamp),
        };
        format!(
            "errand/{}/{}/{}/{what}/{stamp}",
            self.guild, self.channel, self.errand.watched.0
        )
    }
}

/// A report.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Analyze {
    /// The means to answer.
    pub reply: Reply,
    /// Who reported.
    pub who: Person,
    /// Where.
    pub place: Place,
    /// What was reported, redacted.
    pub report: Report,
    /// The service option.
    pub service: Option<String>,
    /// The severity option.
    pub severity: Option<Severity>,
    /// Files to be read as part of the report.
    pub files: Vec<FileRef>,
    /// Seconds until the model may be asked again, where a limit is reached.
    pub over_limit_seconds: Option<u64>,
    /// It is an incident of its own, somebody said: it is not offered to a running one (R32).
    #[serde(default)]
    pub separate: bool,
}

/// A new analysis of an incident.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Reanalyze {
    /// The guild.
    pub guild: u64,
    /// The incident's number.
    pub incident: u32,
    /// Who caused it.
    pub by: String,
    /// What makes it this one and no other: the interaction's id, or the attempt that failed.
    pub key: String,
    /// The means to say something to the person alone.
    pub reply: Option<Reply>,
    /// Seconds until the model may be asked again, where a limit is reached.
    pub over_limit_seconds: Option<u64>,
    /// Where a person asked for it; what may not be seen from there is not analyzed.
    #[serde(default)]
    pub place: Option<Place>,
}

/// A question.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct FollowUp {
    /// Where it was asked.
    pub place: Place,
    /// The language of who asked.
    pub locale: Locale,
    /// Who asked, by display name.
    pub by: String,
    /// Its author's id.
    pub author: u64,
    /// The question, redacted.
    pub question: String,
    /// The message to reply to; `None` for the command.
    pub message: Option<u64>,
    /// The means to answer the command.
    pub reply: Option<Reply>,
    /// When it was written, unix milliseconds.
    pub at_ms: i64,
    /// Seconds until the model may be asked again, where a limit is reached.
    pub over_limit_seconds: Option<u64>,
}

/// A message in an incident's thread.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Evidence {
    /// Where.
    pub place: Place,
    /// Who wrote it, by display name.
    pub by: String,
    /// The message.
    pub message: u64,
    /// What it says, redacted.
    pub text: String,
    /// Its files.
    pub files: Vec<FileRef>,
    /// When it was written, unix milliseconds.
    pub at_ms: i64,
    /// It is put to the bot as a question too.
    #[serde(default)]
    pub asks: bool,
}

/// A click.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Click {
    /// Where.
    pub guild: u64,
    /// Who clicked, by display name.
    pub by: String,
    /// The custom id, as it was posted.
    pub custom_id: String,
    /// The interaction's id, which keys it.
    pub interaction: u64,
    /// The means to answer.
    pub reply: Reply,
    /// The language of who clicked.
    pub locale: Locale,
    /// Where it was clicked; what may not be seen from there is not acted on.
    #[serde(default)]
    pub place: Option<Place>,
}

/// Ticked steps: all that are ticked now.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TickSteps {
    /// The click.
    pub click: Click,
    /// Places of the ticked steps, from 0.
    pub ticked: Vec<u32>,
    /// What the person may do: approving destructive steps takes a right.
    #[serde(default)]
    pub may: May,
    /// The person's id: who asks for an approver is another person than who approves.
    #[serde(default)]
    pub who: u64,
}

/// Steps that somebody takes, or gives back.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TakeSteps {
    /// The choice.
    pub click: Click,
    /// Places of the chosen steps, from 0.
    pub steps: Vec<u32>,
    /// The person's id.
    pub who: u64,
}

/// An answer to a request for an approver of a destructive step.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Approve {
    /// The click.
    pub click: Click,
    /// Where it was made: what can't be seen from there can't be approved there.
    pub place: Place,
    /// The person's id.
    pub who: u64,
    /// What the person may do.
    pub may: May,
}

/// A click on what people own of an incident.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct OwnClick {
    /// The click.
    pub click: Click,
    /// Who clicked.
    pub who: u64,
    /// What they may do.
    pub may: May,
    /// The chosen value, of a select.
    pub value: Option<String>,
}

/// `/incident set`: what was given, as it was given.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SetIncident {
    /// The means to answer.
    pub reply: Reply,
    /// Where.
    pub place: Place,
    /// Who, by id.
    pub who: u64,
    /// Who, by display name.
    pub by: String,
    /// What they may do.
    pub may: May,
    /// Their language.
    pub locale: Locale,
    /// Options that are text, redacted.
    pub texts: Vec<(String, String)>,
    /// Who is to lead.
    pub lead: Option<(u64, String)>,
    /// Who is to speak.
    pub comms: Option<(u64, String)>,
}

impl SetIncident {
    /// The text of an option.
    pub fn text(&self, name: &str) -> Option<&str> {
        let given = self.texts.iter().find(|(option, _)| option == name);
        given.map(|(_, text)| text.as_str())
    }
}

/// A look at the clock for one incident.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Look {
    /// The guild.
    pub guild: u64,
    /// The incident's number.
    pub incident: u32,
    /// When, unix milliseconds.
    pub at_ms: i64,
}

/// A report that is added to an incident unless its reporter says otherwise.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Join {
    /// The guild.
    pub guild: u64,
    /// The interaction that reported it.
    pub report: u64,
}

/// How an incident ended.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Resolve {
    /// The means to answer.
    pub reply: Reply,
    /// The guild.
    pub guild: u64,
    /// Who resolved it, by display name.
    pub by: String,
    /// The incident's number.
    pub incident: u32,
    /// Whether the fix worked.
    pub worked: Option<bool>,
    /// Root cause.
    pub cause: String,
    /// Fix.
    pub fix: String,
    /// What was excluded, one a line.
    pub ruled_out: String,
    /// What would prevent it.
    pub prevention: String,
    /// The language of who resolved it.
    pub locale: Locale,
}

/// An import that somebody asked for.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Import {
    /// The means to answer.
    pub reply: Reply,
    /// Who asked.
    pub who: Person,
    /// Where.
    pub place: Place,
    /// The file to read.
    pub file: Option<FileRef>,
    /// The channel or thread to read.
    pub channel: Option<u64>,
    /// From when on, unix milliseconds.
    pub since_ms: i64,
}

/// A question about a tried fix.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct AskOutcome {
    /// The guild.
    pub guild: u64,
    /// The incident's number.
    pub incident: u32,
    /// The key of the attempt.
    pub attempt: String,
}

/// A fix that worked, watched until it is known whether it held.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Watch {
    /// The guild.
    pub guild: u64,
    /// The incident's number.
    pub incident: u32,
    /// The number of the attempt in it.
    pub attempt: u32,
    /// After how many resolutions of the incident; resolved again, it is another watch.
    pub resolution: u32,
    /// How often the end was put off.
    pub round: u32,
}

impl Watch {
    fn key(&self, what: &str) -> String {
        format!(
            "{what}/{}/{}/{}/{}/{}",
            self.guild, self.incident, self.attempt, self.resolution, self.round
        )
    }
}

/// Which service an incident is of.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ChooseService {
    /// The click.
    pub click: Click,
    /// The chosen value: a service's name, or that it is none of these.
    pub service: String,
    /// Seconds until the model may be asked again, where a limit is reached.
    pub over_limit_seconds: Option<u64>,
}

/// A service whose name changed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Reindex {
    /// The guild.
    pub guild: u64,
    /// The name that it has now.
    pub service: String,
    /// When it got it, unix milliseconds.
    pub at_ms: i64,
}

/// An incident that is to be forgotten, confirmed by a person who may.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Forget {
    /// The means to answer.
    pub reply: Reply,
    /// The guild.
    pub guild: u64,
    /// Who said so, by display name.
    pub by: String,
    /// The incident's number.
    pub incident: u32,
    /// The language of who said so.
    pub locale: Locale,
}

/// An incident that was forgotten by age.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct AfterForgetting {
    /// The guild.
    pub guild: u64,
    /// The incident's number.
    pub number: u32,
}

/// A day's look for old incidents.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Retain {
    /// The day: `2026-11-30`.
    pub day: String,
    /// Which part of it, from 0.
    pub part: u32,
}

impl Work {
    /// The kind, under which time limits and logs know it.
    pub fn kind(&self) -> &'static str {
        match self {
            Self::Analyze(_) => "analyze",
            Self::Reanalyze(_) => "reanalyze",
            Self::FollowUp(_) => "follow_up",
            Self::Evidence(_) => "evidence",
            Self::Click(_) => "click",
            Self::Tick(_) => "tick",
            Self::Take(_) => "take",
            Self::Approve(_) => "approve",
            Self::ShowUpdate(_) => "show_update",
            Self::Resolve(_) => "resolve",
            Self::AskOutcome(_) => "ask_outcome",
            Self::AskStillFixed(_) => "ask_still_fixed",
            Self::CountQuietDays(_) => "count_quiet_days",
            Self::StillFixed(_) => "still_fixed",
            Self::Reopen(_) => "reopen",
            Self::Sameness(_) => "sameness",
            Self::Import(_) => "import",
            Self::ImportAnswer(_) => "import_answer",
            Self::ChooseService(_) => "choose_service",
            Self::Reindex(_) => "reindex",
            Self::Forget(_) => "forget",
            Self::Forgotten(_) => "forgotten",
            Self::Retain(_) => "retain",
            Self::Own(_) => "own",
            Self::Set(_) => "set",
            Self::Look(_) => "look",
            Self::Join(_) => "join",
            Self::Told(_) => "told",
            Self::WatchLook(_) => "watch_look",
            Self::WatchErrand(_) => "watch_errand",
        }
    }

    /// What makes it this piece of work and no other.
    pub fn key(&self) -> String {
        match self {
            Self::Analyze(work) if work.separate => {
                format!("separate/{}", work.reply.interaction)
            }
            Self::Analyze(work) => format!("interaction/{}", work.reply.interaction),
            Self::Reanalyze(work) => {
                format!("reanalyze/{}/{}/{}", work.guild, work.incident, work.key)
            }
            Self::FollowUp(work) => match (&work.message, &work.reply) {
                (Some(message), _) => format!("question/{message}"),
                (None, Some(reply)) => format!("interaction/{}", reply.interaction),
                (None, None) => format!("question/{}/{}", work.place.channel, work.at_ms),
            },
            Self::Evidence(work) => format!("evidence/{}", work.message),
            Self::Click(work)
            | Self::ShowUpdate(work)
            | Self::ImportAnswer(work)
            | Self::StillFixed(work)
            | Self::Reopen(work)
            | Self::Sameness(work) => {
                format!("interaction/{}", work.interaction)
            }
            Self::AskStillFixed(watch) => watch.key("still"),
            Self::CountQuietDays(watch) => watch.key("quiet"),
            Self::Import(work) => format!("interaction/{}", work.reply.interaction),
            Self::Tick(work) => format!("interaction/{}", work.click.interaction),
            Self::Take(work) => format!("interaction/{}", work.click.interaction),
            Self::Approve(work) => format!("interaction/{}", work.click.interaction),
            Self::Resolve(work) => format!("interaction/{}", work.reply.interaction),
            Self::AskOutcome(work) => {
                format!("ask/{}/{}/{}", work.guild, work.incident, work.attempt)
            }
            Self::ChooseService(work) => format!("interaction/{}", work.click.interaction),
            Self::Reindex(work) => {
                format!("reindex/{}/{}/{}", work.guild, work.at_ms, work.service)
            }
            Self::Forget(work) => format!("forget/{}/{}", work.guild, work.reply.interaction),
            Self::Forgotten(work) => format!("forgotten/{}/{}", work.guild, work.number),
            Self::Retain(work) => format!("retain/{}/{}", work.day, work.part),
            Self::Own(work) => format!("interaction/{}", work.click.interaction),
            Self::Set(work) => format!("interaction/{}", work.reply.interaction),
            Self::Look(work) => format!("look/{}/{}/{}", work.guild, work.incident, work.at_ms),
            Self::Join(work) => format!("join/{}/{}", work.guild, work.report),
            Self::Told(work) => format!("told/{}/{}", work.place.channel, work.message),
            Self::WatchLook(work) => format!(
                "watchlook/{}/{}/{}/{}",
                work.guild, work.channel, work.at_ms, work.version
            ),
            Self::WatchErrand(work) => work.key(),
        }
    }

    /// The language of the person who started it; English where nobody did.
    pub fn locale(&self) -> Locale {
        match self {
            Self::Analyze(work) => work.who.locale,
            Self::Click(work)
            | Self::ShowUpdate(work)
            | Self::ImportAnswer(work)
            | Self::StillFixed(work)
            | Self::Reopen(work)
            | Self::Sameness(work) => work.locale,
            Self::Import(work) => work.who.locale,
            Self::Tick(work) => work.click.locale,
            Self::Take(work) => work.click.locale,
            Self::Resolve(work) => work.locale,
            Self::FollowUp(work) => work.locale,
            Self::ChooseService(work) => work.click.locale,
            Self::Forget(work) => work.locale,
            Self::Approve(work) => work.click.locale,
            Self::Own(work) => work.click.locale,
            Self::Set(work) => work.locale,
            _ => Locale::En,
        }
    }

    /// The incident that a person's click is about, and where it was clicked. A custom id is what a
    /// client sends: that it names an incident is no proof that its person may see it.
    pub fn clicked(&self) -> Option<(Place, IncidentId)> {
        let click = match self {
            Self::Reanalyze(work) => return Some((work.place?, IncidentId::new(work.incident)?)),
            Self::Click(click)
            | Self::ShowUpdate(click)
            | Self::StillFixed(click)
            | Self::Reopen(click)
            | Self::Sameness(click) => click,
            Self::Tick(work) => &work.click,
            Self::Take(work) => &work.click,
            Self::Own(work) => &work.click,
            Self::Approve(work) => &work.click,
            Self::ChooseService(work) => &work.click,
            _ => return None,
        };
        Some((click.place?, Action::parse(&click.custom_id)?.incident()?))
    }

    /// As it is committed.
    ///
    /// # Errors
    ///
    /// Never for the types above; the queue's payload is JSON.
    pub fn command(&self) -> Result<Command, serde_json::Error> {
        Ok(Command::new(
            self.kind(),
            self.key(),
            serde_json::to_value(self)?,
        ))
    }

    /// As it is worked.
    ///
    /// # Errors
    ///
    /// [`JobError::Never`] where another version wrote it.
    pub fn of(job: &Job) -> Result<Self, JobError> {
        serde_json::from_value(job.command.payload.clone())
            .map_err(|_| JobError::never("the payload was written by another version"))
    }

    /// The means to tell the person who started it.
    pub fn reply(&self) -> Option<&Reply> {
        match self {
            Self::Analyze(work) => Some(&work.reply),
            Self::Reanalyze(work) => work.reply.as_ref(),
            Self::FollowUp(work) => work.reply.as_ref(),
            Self::Click(work)
            | Self::ShowUpdate(work)
            | Self::ImportAnswer(work)
            | Self::StillFixed(work)
            | Self::Reopen(work)
            | Self::Sameness(work) => Some(&work.reply),
            Self::Import(work) => Some(&work.reply),
            Self::Tick(work) => Some(&work.click.reply),
            Self::Take(work) => Some(&work.click.reply),
            Self::Approve(work) => Some(&work.click.reply),
            Self::Resolve(work) => Some(&work.reply),
            Self::ChooseService(work) => Some(&work.click.reply),
            Self::Forget(work) => Some(&work.reply),
            Self::Own(work) => Some(&work.click.reply),
            Self::Set(work) => Some(&work.reply),
            Self::Look(_)
            | Self::Join(_)
            | Self::Evidence(_)
            | Self::AskOutcome(_)
            | Self::AskStillFixed(_)
            | Self::CountQuietDays(_)
            | Self::Reindex(_)
            | Self::Forgotten(_)
            | Self::Told(_)
            | Self::WatchLook(_)
            | Self::WatchErrand(_)
            | Self::Retain(_) => None,
        }
    }
}

/// What a click on a fix says of it.
pub fn outcome_of(action: &Action) -> Option<Outcome> {
    match action {
        // Worked: not yet known to hold (R28).
        Action::Worked(_) => Some(Outcome::Mitigated),
        Action::NoEffect(_) => Some(Outcome::NoEffect),
        Action::MadeWorse(_) => Some(Outcome::MadeWorse),
        _ => None,
    }
}

/// The audience that a custom id names.
pub fn audience_of(action: &Action) -> Option<Audience> {
    match action {
        Action::UpdateAudience { audience, .. } | Action::RefreshUpdate { audience, .. } => {
            Some(*audience)
        }
        _ => None,
    }
}

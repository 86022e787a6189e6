//! What happens to an alert in a channel that is watched: it opens an incident, joins one, ends in
//! one, or is kept without one; and when what is due is posted, analysed or suggested.
//!
//! Wanted: one broken service is one incident, however many messages tell of it; nothing that fires
//! is ever invisible; and a storm costs a bounded number of posts and model calls. The outcome of a
//! burst doesn't hang on the order in which its messages arrive, nor on one arriving twice: of each
//! copy the newest message counts, by the messages' ids.
//!
//! The rules:
//! - An alert belongs to the incident that has its key; where it was cut, to that with its name and
//!   service. An alert by another name joins an incident of the same service and environment that
//!   fired in the last ten minutes: one outage has many alerts. Services never share an incident.
//! - It opens an incident where it is at the channel's floor or above it (a level that is not known
//!   counts as SEV3) and the channel may open some. Else it is kept, counted and listed; it is taken
//!   along when its service gets an incident within ten minutes.
//! - Resolved ends the copies that it names, or all. When nothing fires any more, an end is
//!   *suggested*: after a minute, after ten quiet minutes where it was flapping (three times on and
//!   off in half an hour). People set it. Resolved never opens anything.
//! - Firing again within two hours of its end is the same incident, re-opened. Later it opens a new
//!   one that names the earlier. While people are on it and have not ended it, it stays the same one.
//!   What people ended while it was firing is not re-opened by its repeats; they are counted, shown,
//!   and after two hours open a new one. A day without a word counts as an end, but proves nothing.
//! - All resolved for 24 hours verifies the last attempt (R28).
//! - A heartbeat or a test opens nothing.
//!
//! Deliberately absent: a clock (`now_ms` is told), the store, Discord, words for people, and any
//! change of a status: all that this decides is what to post, to ask and to suggest.

use crate::incident::alert::{Alert, AlertKey, AlertStatus, MOST_COPIES, Purpose};
use crate::incident::service;
use crate::incident::{Severity, Status};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};

const SECOND_MS: i64 = 1_000;
const MINUTE_MS: i64 = 60 * SECOND_MS;
const HOUR_MS: i64 = 60 * MINUTE_MS;
/// Between two posts or edits about one incident.
pub const POST_EVERY_MS: i64 = 5 * SECOND_MS;
/// Other alerts of a service join its incident for so long after it last fired.
pub const RELATED_MS: i64 = 10 * MINUTE_MS;
/// Firing again within so long after its end is the same incident (R32).
pub const REOPEN_MS: i64 = 2 * HOUR_MS;
/// An alert that says nothing for so long is taken to be over.
pub const SILENT_MS: i64 = 24 * HOUR_MS;
/// Resolved for so long, it held (R28).
pub const HELD_MS: i64 = 24 * HOUR_MS;
/// The end of what is quiet for so long is suggested.
pub const SETTLED_MS: i64 = MINUTE_MS;
/// The same for what was flapping.
pub const SETTLED_AFTER_FLAPPING_MS: i64 = 10 * MINUTE_MS;
/// So many times on again within [`FLAPPING_WITHIN_MS`] is flapping.
pub const FLAPPING: usize = 3;
/// See [`FLAPPING`].
pub const FLAPPING_WITHIN_MS: i64 = 30 * MINUTE_MS;
/// An analysis waits so long for the rest of a burst.
pub const ANALYSE_AFTER_MS: i64 = 10 * SECOND_MS;
/// Analyses that a channel starts unasked within [`ANALYSES_WITHIN_MS`]; further ones get a button.
pub const MOST_ANALYSES: usize = 3;
/// See [`MOST_ANALYSES`].
pub const ANALYSES_WITHIN_MS: i64 = 10 * MINUTE_MS;
/// An incident that is over is known here for so long.
pub const KNOWN_MS: i64 = 30 * 24 * HOUR_MS;
/// Messages of an alert that are told apart; older ones are only counted.
const MOST_MESSAGES: usize = 256;
/// Alerts that are kept without an incident, and ends that came before what they end.
const MOST_KEPT: usize = 512;

/// Whether alerts of a channel are analysed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Analyse {
    /// Each incident, once it is opened, within [`MOST_ANALYSES`].
    Always,
    /// When somebody presses the button.
    #[default]
    OnButton,
    /// Never.
    Never,
}

/// What people set for a channel.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Settings {
    /// Whether alerts are analysed.
    pub analyse: Analyse,
    /// Whether an alert may open an incident (R32); else it only joins.
    pub opens: bool,
    /// The least grave severity that opens one.
    pub floor: Severity,
    /// Milliseconds between two edits that show nothing but a higher count; at least
    /// [`POST_EVERY_MS`].
    pub quiet_repeats_ms: i64,
}

impl Settings {
    /// Milliseconds between two edits that show nothing but a higher count.
    pub fn quiet_ms(&self) -> i64 {
        self.quiet_repeats_ms.max(POST_EVERY_MS)
    }
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            analyse: Analyse::OnButton,
            opens: true,
            floor: Severity::Sev3,
            quiet_repeats_ms: POST_EVERY_MS,
        }
    }
}

/// An alert as a message of the channel told it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Told {
    /// The message's id; ids order messages.
    pub message: u64,
    /// When it was posted, unix milliseconds.
    pub at_ms: i64,
    /// One of its alerts.
    pub alert: Alert,
}

/// An incident of a channel, by the order of opening.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct WatchedId(pub u64);

/// What was decided about an alert.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Decision {
    /// It opens an incident; `earlier` is the one in which it was over for too long.
    Open {
        /// The new one.
        incident: WatchedId,
        /// The one before, to be named.
        earlier: Option<WatchedId>,
    },
    /// It belongs to one that runs.
    Join {
        /// Which.
        incident: WatchedId,
        /// As what.
        how: How,
    },
    /// It was over there and fires again: the same incident, re-opened.
    Refire {
        /// Which.
        incident: WatchedId,
    },
    /// It, or a copy of it, is over.
    Over {
        /// Where.
        incident: WatchedId,
        /// Nothing of the incident fires any more.
        all: bool,
    },
    /// It has no incident.
    Kept(Why),
}

/// As what an alert joins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum How {
    /// Told again.
    Repeat,
    /// Told again, graver than all before.
    Graver,
    /// Another alert of the same service.
    Related,
    /// It never stopped, and people have ended the incident.
    StillFires,
}

/// Why an alert has no incident.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Why {
    /// Its level is below the channel's floor.
    BelowFloor,
    /// Alerts of this channel open none.
    MayNotOpen,
    /// It only shows that alerting works.
    Heartbeat,
    /// Somebody tried out the alerting.
    Test,
    /// It is over, and was in no incident.
    NothingToEnd,
    /// This message was taken before.
    Duplicate,
}

/// What is to be done now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Due {
    /// Post about an incident, or edit the post.
    Post(WatchedId),
    /// Analyse it.
    Analyse(WatchedId),
    /// Nothing fires any more: suggest its end.
    SuggestEnd {
        /// Which.
        incident: WatchedId,
        /// Since when all is quiet, unix milliseconds.
        since_ms: i64,
    },
    /// All stayed resolved for [`HELD_MS`]: what was tried last held.
    Held {
        /// Which.
        incident: WatchedId,
        /// Since when all is quiet, unix milliseconds.
        since_ms: i64,
    },
}

/// What one message said.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Event {
    at_ms: i64,
    fires: bool,
}

/// Everything that was told about one broken thing. The same messages in any order make the same.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Tally {
    /// By message.
    events: BTreeMap<u64, Event>,
    /// Firing messages that are no longer told apart.
    forgotten: u32,
    /// Of each copy the newest message, and whether it fires; without a name, the alert as a whole.
    copies: BTreeMap<String, (u64, bool)>,
    /// The newest message that ended all of them.
    over_at: u64,
    /// The gravest that was proposed.
    severity: Option<Severity>,
    /// The environment, where the labels name one.
    environment: Option<String>,
    /// Its key may lack labels.
    partial: bool,
    /// Name of the alert, as last told.
    pub name: String,
}

impl Tally {
    fn take(&mut self, told: &Told) {
        let (alert, message) = (&told.alert, told.message);
        let newest = self
            .events
            .last_key_value()
            .is_none_or(|(last, _)| *last < message);
        if newest {
            self.name.clone_from(&alert.name);
        }
        // Whether the key lacks labels was settled by the message that made it.
        if self.events.is_empty() {
            self.partial = alert.partial;
        }
        self.severity = self.severity.max(alert.severity);
        if self.environment.is_none() {
            self.environment = environment(alert);
        }
        self.events.insert(
            message,
            Event {
                at_ms: told.at_ms,
                fires: alert.status() == AlertStatus::Firing,
            },
        );
        for (copies, fires) in [(&alert.firing_on, true), (&alert.resolved_on, false)] {
            for copy in copies {
                self.copy(copy, message, fires);
            }
        }
        if alert.firing > 0 && alert.firing_on.is_empty() {
            self.copy("", message, true);
        }
        if alert.firing == 0 && alert.resolved_on.is_empty() {
            self.over_at = self.over_at.max(message);
        }
        while self.events.len() > MOST_MESSAGES {
            if let Some((_, event)) = self.events.pop_first() {
                self.forgotten = self.forgotten.saturating_add(u32::from(event.fires));
            }
        }
    }

    fn copy(&mut self, copy: &str, message: u64, fires: bool) {
        let known = self.copies.contains_key(copy) || self.copies.len() < MOST_COPIES;
        // More copies than are told apart are one that is over when all are.
        let copy = if known {
            copy
        } else if fires {
            ""
        } else {
            return;
        };
        let last = self
            .copies
            .entry(copy.to_owned())
            .or_insert((message, fires));
        // Of a copy that a message calls both, it fires.
        if message > last.0 || (message == last.0 && fires) {
            *last = (message, fires);
        }
    }

    fn knows(&self, message: u64) -> bool {
        let first = self.events.first_key_value().map(|(first, _)| *first);
        self.events.contains_key(&message)
            || (self.events.len() >= MOST_MESSAGES && first.is_some_and(|first| message < first))
    }

    /// Joins what another tally of the same thing knows.
    fn join(&mut self, other: Self) {
        if other.events.last_key_value().map(|(last, _)| *last)
            > self.events.last_key_value().map(|(last, _)| *last)
        {
            self.name = other.name;
        }
        self.forgotten = self.forgotten.saturating_add(other.forgotten);
        self.over_at = self.over_at.max(other.over_at);
        self.severity = self.severity.max(other.severity);
        self.environment = self.environment.take().or(other.environment);
        for (copy, (message, fires)) in other.copies {
            self.copy(&copy, message, fires);
        }
        self.events.extend(other.events);
    }

    /// Messages that said that it fires.
    pub fn firings(&self) -> u32 {
        let told = self.events.values().filter(|event| event.fires).count();
        self.forgotten
            .saturating_add(u32::try_from(told).unwrap_or(u32::MAX))
    }

    /// Copies that fire now, named or not.
    pub fn firing_copies(&self) -> usize {
        let fires = |(message, fires): &&(u64, bool)| *fires && *message > self.over_at;
        self.copies.values().filter(fires).count()
    }

    /// Whether it fires, by the newest message about each copy.
    pub fn is_firing(&self) -> bool {
        self.firing_copies() > 0
    }

    /// When a message last said that it fires, unix milliseconds.
    pub fn last_fired_ms(&self) -> Option<i64> {
        let fired = self.events.values().filter(|event| event.fires);
        fired.map(|event| event.at_ms).max()
    }

    fn last_told_ms(&self) -> Option<i64> {
        self.events.values().map(|event| event.at_ms).max()
    }

    /// How often a message said again that it fires, after one that only told of ends, since a
    /// time. Copies that take turns count too: such an end is not one to trust either.
    pub fn refires_since(&self, since_ms: i64) -> usize {
        let mut before = true;
        let mut count = 0;
        for event in self.events.values() {
            if event.fires && !before && event.at_ms >= since_ms {
                count += 1;
            }
            before = event.fires;
        }
        count
    }
}

/// Whether two may be of one environment: both named, else they can't be told apart.
fn may_be_one_place(one: Option<&str>, other: Option<&str>) -> bool {
    match (one, other) {
        (Some(one), Some(other)) => service::same_environment(one, other),
        _ => true,
    }
}

/// Leaves out what was told longest ago, until [`MOST_KEPT`] are left.
fn drop_oldest<T>(of: &mut BTreeMap<AlertKey, T>, tally: impl Fn(&T) -> &Tally) {
    while of.len() > MOST_KEPT {
        let oldest = of.iter().min_by_key(|(_, kept)| tally(kept).last_told_ms());
        let Some(oldest) = oldest.map(|(key, _)| key.clone()) else {
            break;
        };
        of.remove(&oldest);
    }
}

fn environment(alert: &Alert) -> Option<String> {
    ["env", "environment", "namespace"]
        .iter()
        .find_map(|label| alert.labels.get(*label).cloned())
}

/// What waits to be shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Unshown {
    Count,
    Change,
}

/// Whether an incident is analysed unasked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Analysis {
    /// At this time, unix milliseconds.
    At(i64),
    /// When somebody asks.
    OnButton,
    /// Not from here.
    Never,
    /// It was begun.
    Begun,
}

/// An incident that alerts opened, or that they joined.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Watched {
    /// Its number in the channel.
    pub id: WatchedId,
    /// The service's name, where it is known.
    pub service: Option<String>,
    /// The one before it, that was over for too long.
    pub earlier: Option<WatchedId>,
    /// What fires or fired, by what is broken.
    pub alerts: BTreeMap<AlertKey, Tally>,
    /// Whether it is analysed unasked.
    pub analysis: Analysis,
    /// What people last set, and when.
    people: Option<(Status, i64)>,
    unshown: Option<Unshown>,
    shown_ms: Option<i64>,
    /// Its end was suggested, and it has not fired since.
    suggested: bool,
    /// It was told to have held, and it has not fired since.
    held: bool,
}

impl Watched {
    /// How long it has to be quiet before an end is suggested, milliseconds.
    fn settled_ms(&self, since_ms: i64) -> i64 {
        if self.is_flapping(since_ms) {
            SETTLED_AFTER_FLAPPING_MS
        } else {
            SETTLED_MS
        }
    }

    /// Whether anything of it fires.
    pub fn is_firing(&self) -> bool {
        self.alerts.values().any(Tally::is_firing)
    }

    /// Firing messages, of all its alerts.
    pub fn firings(&self) -> u32 {
        let all = self.alerts.values().map(Tally::firings);
        all.fold(0, u32::saturating_add)
    }

    /// When one of it last fired, unix milliseconds.
    pub fn last_fired_ms(&self) -> Option<i64> {
        self.alerts.values().filter_map(Tally::last_fired_ms).max()
    }

    /// The gravest severity that its alerts propose (R30).
    pub fn severity(&self) -> Option<Severity> {
        self.alerts
            .values()
            .filter_map(|tally| tally.severity)
            .max()
    }

    /// Whether it goes on and off.
    pub fn is_flapping(&self, now_ms: i64) -> bool {
        let since = now_ms.saturating_sub(FLAPPING_WITHIN_MS);
        let mut tallies = self.alerts.values();
        tallies.any(|tally| tally.refires_since(since) >= FLAPPING)
    }

    fn last_told_ms(&self) -> i64 {
        let told = self.alerts.values().filter_map(Tally::last_told_ms);
        told.max().unwrap_or(i64::MIN)
    }

    /// Since when all of it is resolved by messages.
    fn quiet_since(&self) -> Option<i64> {
        (!self.is_firing()).then(|| self.last_told_ms())
    }

    fn ended_by_people(&self) -> Option<i64> {
        self.people
            .filter(|(status, _)| !status.is_open())
            .map(|(_, at)| at)
    }

    /// Since when it is over at a time, by people, by messages, or by silence; `None` where it runs.
    fn over_since(&self, at_ms: i64) -> Option<i64> {
        if let Some(ended) = self.ended_by_people() {
            return Some(ended);
        }
        if self.people.is_some() {
            return None;
        }
        let told = self.last_told_ms();
        let silent = at_ms.saturating_sub(told) > SILENT_MS;
        (silent || !self.is_firing()).then_some(told)
    }

    fn show(&mut self, what: Unshown) {
        self.unshown = self.unshown.max(Some(what));
        if self.is_firing() {
            self.suggested = false;
            self.held = false;
        }
    }
}

/// A channel that is watched.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Channel {
    /// What people set for it.
    pub settings: Settings,
    /// Its incidents, oldest first.
    incidents: Vec<Watched>,
    /// How many there were.
    opened: u64,
    /// What fires or fired without an incident.
    kept: BTreeMap<AlertKey, (Why, Option<String>, Tally)>,
    /// Ends of what has not been told yet: messages come in no order.
    ends: BTreeMap<AlertKey, Tally>,
    /// When analyses were started unasked, unix milliseconds.
    analysed_ms: Vec<i64>,
}

impl Channel {
    /// A channel in which nothing happened yet.
    pub fn new(settings: Settings) -> Self {
        Self {
            settings,
            ..Self::default()
        }
    }

    /// Its incidents, oldest first.
    pub fn incidents(&self) -> &[Watched] {
        &self.incidents
    }

    /// One of them.
    pub fn incident(&self, id: WatchedId) -> Option<&Watched> {
        self.incidents.iter().find(|watched| watched.id == id)
    }

    /// What was told since a time and has no incident, and why.
    pub fn kept_since(&self, since_ms: i64) -> impl Iterator<Item = (&AlertKey, Why, &Tally)> {
        self.kept
            .iter()
            .filter(move |(_, (_, _, tally))| tally.last_told_ms() >= Some(since_ms))
            .map(|(key, (why, _, tally))| (key, *why, tally))
    }

    /// Takes all alerts of a message.
    pub fn take_all(
        &mut self,
        message: u64,
        at_ms: i64,
        alerts: Vec<Alert>,
        now_ms: i64,
    ) -> Vec<Decision> {
        let told = alerts.into_iter().map(|alert| Told {
            message,
            at_ms,
            alert,
        });
        told.map(|told| self.take(&told, now_ms)).collect()
    }

    /// Takes an alert of a message.
    pub fn take(&mut self, told: &Told, now_ms: i64) -> Decision {
        let alert = &told.alert;
        let ends = alert.status() == AlertStatus::Resolved;
        let mut earlier = None;
        if let Some((at, key)) = self.find(alert) {
            match self.in_incident(at, key, told) {
                Ok(decision) => return decision,
                Err(over) => earlier = Some(over),
            }
        }
        if ends {
            return self.end_of_nothing(told);
        }
        let why = match alert.purpose {
            Purpose::Heartbeat => Some(Why::Heartbeat),
            Purpose::Test => Some(Why::Test),
            Purpose::Fault => None,
        };
        if let Some(why) = why {
            return self.keep(told, why);
        }
        let service = alert.service_name();
        if earlier.is_none()
            && let Some(at) = self.related(service, environment(alert).as_deref(), told.at_ms)
        {
            return self.join_related(at, told);
        }
        if !self.settings.opens {
            return self.keep(told, Why::MayNotOpen);
        }
        if alert.severity.unwrap_or(Severity::Sev3) < self.settings.floor {
            return self.keep(told, Why::BelowFloor);
        }
        self.open(told, earlier, now_ms)
    }

    /// The newest incident with this alert, and the key that it has there.
    fn find(&self, alert: &Alert) -> Option<(usize, AlertKey)> {
        let newest = || self.incidents.iter().enumerate().rev();
        let exact = newest().find(|(_, watched)| watched.alerts.contains_key(&alert.key));
        if let Some((at, _)) = exact {
            return Some((at, alert.key.clone()));
        }
        newest().find_map(|(at, watched)| {
            let mut known = watched.alerts.iter();
            let (key, _) = known.find(|(key, tally)| {
                (alert.partial || tally.partial) && key.broad() == alert.key.broad()
            })?;
            Some((at, key.clone()))
        })
    }

    /// Takes an alert into the incident that has its key; the error is that incident where it is
    /// over for too long.
    fn in_incident(
        &mut self,
        at: usize,
        key: AlertKey,
        told: &Told,
    ) -> Result<Decision, WatchedId> {
        let Some(watched) = self.incidents.get_mut(at) else {
            return Ok(Decision::Kept(Why::Duplicate));
        };
        let incident = watched.id;
        let fires = told.alert.status() == AlertStatus::Firing;
        let over = watched.over_since(told.at_ms);
        let was_firing = watched.is_firing();
        let by_people = watched.ended_by_people().is_some();
        let gravest = watched.severity();
        let tally = watched.alerts.entry(key).or_default();
        if tally.knows(told.message) {
            return Ok(Decision::Kept(Why::Duplicate));
        }
        let too_late = over.is_some_and(|over| told.at_ms.saturating_sub(over) > REOPEN_MS);
        if fires && too_late {
            return Err(incident);
        }
        let it_fired = tally.is_firing();
        tally.take(told);
        let it_fires = tally.is_firing();
        let fires_now = watched.is_firing();
        if !fires {
            watched.show(if it_fired {
                Unshown::Change
            } else {
                Unshown::Count
            });
            return Ok(Decision::Over {
                incident,
                all: !fires_now,
            });
        }
        if it_fires && !it_fired && (over.is_some() || !was_firing) {
            watched.show(Unshown::Change);
            // A person's word stands until what it was about is over and comes back.
            if by_people {
                watched.people = None;
            }
            return Ok(Decision::Refire { incident });
        }
        let how = if by_people && was_firing {
            How::StillFires
        } else if told.alert.severity > gravest {
            How::Graver
        } else {
            How::Repeat
        };
        watched.show(match how {
            How::Repeat if it_fired == it_fires => Unshown::Count,
            _ => Unshown::Change,
        });
        Ok(Decision::Join { incident, how })
    }

    /// The newest incident of the same service and environment that fired a short while ago and
    /// that people have not ended.
    fn related(
        &self,
        service: Option<&str>,
        environment: Option<&str>,
        at_ms: i64,
    ) -> Option<usize> {
        let wanted = service::key(service?);
        if wanted.is_empty() {
            return None;
        }
        let near = |watched: &Watched| {
            watched
                .last_fired_ms()
                .is_some_and(|fired| fired.abs_diff(at_ms) <= RELATED_MS as u64)
        };
        let same_place = |watched: &Watched| {
            watched
                .alerts
                .values()
                .all(|tally| may_be_one_place(tally.environment.as_deref(), environment))
        };
        self.incidents.iter().rposition(|watched| {
            let known = watched.service.as_deref().map(service::key);
            known.as_deref() == Some(wanted.as_str())
                && watched.ended_by_people().is_none()
                && near(watched)
                && same_place(watched)
        })
    }

    fn join_related(&mut self, at: usize, told: &Told) -> Decision {
        let end = self.ends.remove(&told.alert.key);
        let Some(watched) = self.incidents.get_mut(at) else {
            return Decision::Kept(Why::Duplicate);
        };
        let incident = watched.id;
        let was_over = !watched.is_firing();
        let tally = watched.alerts.entry(told.alert.key.clone()).or_default();
        tally.take(told);
        if let Some(end) = end {
            tally.join(end);
        }
        watched.show(Unshown::Change);
        if was_over && watched.is_firing() {
            return Decision::Refire { incident };
        }
        Decision::Join {
            incident,
            how: How::Related,
        }
    }

    fn open(&mut self, told: &Told, earlier: Option<WatchedId>, now_ms: i64) -> Decision {
        let alert = &told.alert;
        let incident = WatchedId(self.opened);
        self.opened = self.opened.saturating_add(1);
        let mut tally = Tally::default();
        tally.take(told);
        if let Some(end) = self.ends.remove(&alert.key) {
            tally.join(end);
        }
        let service = alert.service_name().map(str::to_owned);
        let mut alerts = BTreeMap::from([(alert.key.clone(), tally)]);
        self.adopt(told, &mut alerts);
        let fires = alerts.values().any(Tally::is_firing);
        let analysis = match self.settings.analyse {
            Analyse::Always if fires => Analysis::At(now_ms.saturating_add(ANALYSE_AFTER_MS)),
            Analyse::Always | Analyse::OnButton => Analysis::OnButton,
            Analyse::Never => Analysis::Never,
        };
        self.incidents.push(Watched {
            id: incident,
            service,
            earlier,
            alerts,
            analysis,
            people: None,
            unshown: Some(Unshown::Change),
            shown_ms: None,
            suggested: false,
            held: false,
        });
        Decision::Open { incident, earlier }
    }

    /// Takes along what was kept of the same service a short while ago.
    fn adopt(&mut self, told: &Told, alerts: &mut BTreeMap<AlertKey, Tally>) {
        let service = told.alert.service_name().map(service::key);
        let place = environment(&told.alert);
        let belongs = |key: &AlertKey, why: Why, of: Option<&str>, tally: &Tally| {
            let near = tally
                .last_told_ms()
                .is_some_and(|at| at.abs_diff(told.at_ms) <= RELATED_MS as u64);
            let same_place = may_be_one_place(tally.environment.as_deref(), place.as_deref());
            let same_service = of.map(service::key).filter(|key| !key.is_empty()) == service
                && service.as_deref().is_some_and(|key| !key.is_empty());
            let fault = matches!(why, Why::BelowFloor | Why::MayNotOpen);
            fault && near && (*key == told.alert.key || (same_service && same_place))
        };
        let keys: Vec<AlertKey> = self
            .kept
            .iter()
            .filter(|(key, (why, of, tally))| belongs(key, *why, of.as_deref(), tally))
            .map(|(key, _)| key.clone())
            .collect();
        for key in keys {
            if let Some((_, _, tally)) = self.kept.remove(&key) {
                alerts.entry(key).or_default().join(tally);
            }
        }
    }

    fn keep(&mut self, told: &Told, why: Why) -> Decision {
        let end = self.ends.remove(&told.alert.key);
        let service = told.alert.service_name().map(str::to_owned);
        let (known, _, tally) = self
            .kept
            .entry(told.alert.key.clone())
            .or_insert_with(|| (why, service, Tally::default()));
        if tally.knows(told.message) {
            return Decision::Kept(Why::Duplicate);
        }
        *known = why;
        tally.take(told);
        if let Some(end) = end {
            tally.join(end);
        }
        drop_oldest(&mut self.kept, |(_, _, tally)| tally);
        Decision::Kept(why)
    }

    /// Remembers an end of what is in no incident: it may have overtaken its beginning.
    fn end_of_nothing(&mut self, told: &Told) -> Decision {
        let key = &told.alert.key;
        let tally = match self.kept.get_mut(key) {
            Some((_, _, tally)) => tally,
            None => self.ends.entry(key.clone()).or_default(),
        };
        if tally.knows(told.message) {
            return Decision::Kept(Why::Duplicate);
        }
        tally.take(told);
        drop_oldest(&mut self.ends, |tally| tally);
        Decision::Kept(Why::NothingToEnd)
    }

    fn incident_mut(&mut self, id: WatchedId) -> Option<&mut Watched> {
        self.incidents.iter_mut().find(|watched| watched.id == id)
    }

    /// People set a status: from now on they are on it.
    pub fn set_by_people(&mut self, incident: WatchedId, status: Status, at_ms: i64) {
        if let Some(watched) = self.incident_mut(incident) {
            watched.people = Some((status, at_ms));
            watched.show(Unshown::Change);
        }
    }

    /// Makes two incidents one: what one has the other gets, and every later alert goes there.
    pub fn merge(&mut self, from: WatchedId, into: WatchedId) {
        if from == into || self.incident(into).is_none() {
            return;
        }
        let Some(at) = self.incidents.iter().position(|watched| watched.id == from) else {
            return;
        };
        let gone = self.incidents.remove(at);
        if let Some(watched) = self.incident_mut(into) {
            for (key, tally) in gone.alerts {
                watched.alerts.entry(key).or_default().join(tally);
            }
            watched.service = watched.service.take().or(gone.service);
            watched.show(Unshown::Change);
        }
    }

    /// A post that was due failed: it is due again.
    pub fn not_shown(&mut self, incident: WatchedId) {
        if let Some(watched) = self.incident_mut(incident) {
            watched.show(Unshown::Change);
        }
    }

    /// What is to be done now, each once. Ask again after at most a second while alerts come, and
    /// once a minute else.
    pub fn due(&mut self, now_ms: i64) -> Vec<Due> {
        let mut due = Vec::new();
        let before = now_ms.saturating_sub(ANALYSES_WITHIN_MS);
        self.analysed_ms.retain(|at| *at > before);
        let quiet = self.settings.quiet_ms();
        for watched in &mut self.incidents {
            let incident = watched.id;
            if let Analysis::At(at) = watched.analysis
                && now_ms >= at
            {
                // What is over by then, or over the budget, waits for somebody to ask.
                let afford = self.settings.analyse == Analyse::Always
                    && self.analysed_ms.len() < MOST_ANALYSES
                    && watched.is_firing();
                if afford {
                    self.analysed_ms.push(now_ms);
                    watched.analysis = Analysis::Begun;
                    due.push(Due::Analyse(incident));
                } else {
                    watched.analysis = Analysis::OnButton;
                    watched.show(Unshown::Change);
                }
            }
            if let Some(since_ms) = watched.quiet_since() {
                let settled = watched.settled_ms(since_ms);
                let quiet_for = now_ms.saturating_sub(since_ms);
                if quiet_for >= settled && !watched.suggested && watched.ended_by_people().is_none()
                {
                    watched.suggested = true;
                    due.push(Due::SuggestEnd { incident, since_ms });
                }
                if quiet_for >= HELD_MS && !watched.held {
                    watched.held = true;
                    due.push(Due::Held { incident, since_ms });
                }
            }
            let wait = match watched.unshown {
                None => continue,
                Some(Unshown::Count) => quiet,
                Some(Unshown::Change) => POST_EVERY_MS,
            };
            let may = watched
                .shown_ms
                .is_none_or(|shown| now_ms.saturating_sub(shown) >= wait);
            if may {
                watched.shown_ms = Some(now_ms);
                watched.unshown = None;
                due.push(Due::Post(incident));
            }
        }
        due
    }

    /// When [`Self::due`] has something to do next, unix milliseconds; a time that is over: now.
    /// `None`: not before another alert comes.
    pub fn next_due(&self) -> Option<i64> {
        let quiet = self.settings.quiet_ms();
        let mut next: Option<i64> = None;
        let mut at = |time: i64| next = Some(next.map_or(time, |known| known.min(time)));
        for watched in &self.incidents {
            if let Analysis::At(time) = watched.analysis {
                at(time);
            }
            if let Some(since_ms) = watched.quiet_since() {
                let settled = watched.settled_ms(since_ms);
                if !watched.suggested && watched.ended_by_people().is_none() {
                    at(since_ms.saturating_add(settled));
                }
                if !watched.held {
                    at(since_ms.saturating_add(HELD_MS));
                }
            }
            let shown = watched.shown_ms.unwrap_or(i64::MIN);
            match watched.unshown {
                None => {}
                Some(Unshown::Count) => at(shown.saturating_add(quiet)),
                Some(Unshown::Change) => at(shown.saturating_add(POST_EVERY_MS)),
            }
        }
        next
    }

    /// No longer knows an incident: it was forgotten. What it was made of opens another one.
    pub fn forget_incident(&mut self, incident: WatchedId) {
        self.incidents.retain(|watched| watched.id != incident);
    }

    /// Forgets what no rule asks for any more.
    pub fn forget(&mut self, now_ms: i64) {
        let age = |at: Option<i64>| now_ms.saturating_sub(at.unwrap_or(i64::MIN));
        self.incidents.retain(|watched| {
            watched.unshown.is_some() || age(Some(watched.last_told_ms())) <= KNOWN_MS
        });
        self.kept
            .retain(|_, (_, _, tally)| age(tally.last_told_ms()) <= HELD_MS);
        self.ends
            .retain(|_, tally| age(tally.last_told_ms()) <= RELATED_MS);
    }

    /// The services of incidents that fire, each once: for a line on top of a list.
    pub fn firing_services(&self) -> BTreeSet<&str> {
        let firing = self.incidents.iter().filter(|watched| watched.is_firing());
        firing
            .filter_map(|watched| watched.service.as_deref())
            .collect()
    }
}

#[cfg(test)]
mod tests;

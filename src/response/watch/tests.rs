//! The rules, played minute by minute, and what holds for any stream of alerts.

use super::*;
use crate::incident::alert::{AlertService, AlertSource, severity_of_level};
use crate::incident::service::Registry;
use proptest::prelude::*;

const START: i64 = 1_790_000_000_000;

fn alert(name: &str, service: &str, level: &str, fires: bool, copy: &str) -> Alert {
    let service = (!service.is_empty()).then(|| AlertService {
        name: service.to_owned(),
        registered: true,
        from: "service".to_owned(),
    });
    let copies: BTreeSet<String> = [copy.to_owned()]
        .into_iter()
        .filter(|c| !c.is_empty())
        .collect();
    let (firing_on, resolved_on) = if fires {
        (copies, BTreeSet::new())
    } else {
        (BTreeSet::new(), copies)
    };
    Alert {
        key: AlertKey::of(
            name,
            service.as_ref().map(|service| service.name.as_str()),
            &BTreeMap::new(),
            &Registry::default().names(),
        ),
        source: AlertSource::Alertmanager,
        purpose: match name {
            "Watchdog" => Purpose::Heartbeat,
            "TestAlert" => Purpose::Test,
            _ => Purpose::Fault,
        },
        name: name.to_owned(),
        service,
        level: (!level.is_empty()).then(|| level.to_owned()),
        severity: severity_of_level(level),
        labels: BTreeMap::new(),
        summary: String::new(),
        links: Vec::new(),
        firing: u32::from(fires),
        resolved: u32::from(!fires),
        firing_on,
        resolved_on,
        started_ms: None,
        partial: false,
    }
}

/// A channel, and a clock that counts from the first message.
struct Play {
    channel: Channel,
    messages: u64,
    lines: Vec<String>,
}

impl Play {
    fn new(settings: Settings) -> Self {
        Self {
            channel: Channel::new(settings),
            messages: 0,
            lines: Vec::new(),
        }
    }

    fn at(
        &mut self,
        minute: i64,
        name: &str,
        service: &str,
        level: &str,
        fires: bool,
    ) -> &mut Self {
        self.on(minute, name, service, level, fires, "")
    }

    fn on(
        &mut self,
        minute: i64,
        name: &str,
        service: &str,
        level: &str,
        fires: bool,
        copy: &str,
    ) -> &mut Self {
        self.messages += 1;
        let at_ms = START + minute * MINUTE_MS;
        let told = Told {
            message: self.messages,
            at_ms,
            alert: alert(name, service, level, fires, copy),
        };
        let decision = self.channel.take(&told, at_ms);
        let line = match decision {
            Decision::Open {
                incident,
                earlier: None,
            } => format!("open {}", incident.0),
            Decision::Open {
                incident,
                earlier: Some(earlier),
            } => {
                format!("open {} after {}", incident.0, earlier.0)
            }
            Decision::Join { incident, how } => format!("join {} {how:?}", incident.0),
            Decision::Refire { incident } => format!("refire {}", incident.0),
            Decision::Over {
                incident,
                all: true,
            } => format!("over {}", incident.0),
            Decision::Over {
                incident,
                all: false,
            } => format!("partly over {}", incident.0),
            Decision::Kept(why) => format!("kept {why:?}"),
        };
        self.lines.push(line);
        self
    }

    fn people(&mut self, minute: i64, incident: u64, status: Status) -> &mut Self {
        self.channel
            .set_by_people(WatchedId(incident), status, START + minute * MINUTE_MS);
        self
    }

    fn check(&mut self, name: &str, expected: &[&str]) {
        assert_eq!(self.lines, expected, "{name}");
    }
}

fn play() -> Play {
    Play::new(Settings::default())
}

const FIRES: bool = true;
const ENDS: bool = false;

#[test]
fn repeats_are_counted() {
    let mut play = play();
    for minute in 0..7 {
        play.at(minute, "High", "payments-api", "critical", FIRES);
    }
    play.check(
        "seven times",
        &[
            "open 0",
            "join 0 Repeat",
            "join 0 Repeat",
            "join 0 Repeat",
            "join 0 Repeat",
            "join 0 Repeat",
            "join 0 Repeat",
        ],
    );
    let watched = &play.channel.incidents()[0];
    assert_eq!(watched.firings(), 7);
    assert_eq!(watched.last_fired_ms(), Some(START + 6 * MINUTE_MS));
    assert_eq!(watched.severity(), Some(Severity::Sev2));
}

#[test]
fn services_stay_apart_and_one_outage_has_many_alerts() {
    play()
        .at(0, "High", "payments-api", "warning", FIRES)
        .at(1, "High", "search", "warning", FIRES)
        .at(2, "Slow", "payments-api", "warning", FIRES)
        .at(3, "Slow", "payments-api", "critical", FIRES)
        .at(4, "HostDown", "", "warning", FIRES)
        .at(5, "HostSlow", "", "warning", FIRES)
        .at(20, "Disk", "payments-api", "warning", FIRES)
        .check(
            "two services, and machines of none",
            &[
                "open 0",
                "open 1",
                "join 0 Related",
                "join 0 Graver",
                "open 2",
                "open 3",
                "open 4",
            ],
        );
}

#[test]
fn resolved_ends_and_never_opens() {
    play()
        .at(0, "High", "search", "warning", ENDS)
        .at(1, "High", "search", "warning", FIRES)
        .at(2, "Slow", "search", "warning", FIRES)
        .at(3, "High", "search", "warning", ENDS)
        .at(4, "Slow", "search", "warning", ENDS)
        .at(5, "Slow", "search", "warning", ENDS)
        .check(
            "two alerts",
            &[
                "kept NothingToEnd",
                "open 0",
                "join 0 Related",
                "partly over 0",
                "over 0",
                "over 0",
            ],
        );
    play()
        .on(0, "High", "search", "warning", FIRES, "pod-a")
        .on(1, "High", "search", "warning", FIRES, "pod-b")
        .on(2, "High", "search", "warning", ENDS, "pod-a")
        .on(3, "High", "search", "warning", ENDS, "pod-b")
        .on(4, "High", "search", "warning", FIRES, "pod-c")
        .at(5, "High", "search", "warning", ENDS)
        .check(
            "copies of one service",
            &[
                "open 0",
                "join 0 Repeat",
                "partly over 0",
                "over 0",
                "refire 0",
                "over 0",
            ],
        );
}

#[test]
fn firing_again() {
    let mut within = play();
    within
        .at(0, "High", "search", "warning", FIRES)
        .at(5, "High", "search", "warning", ENDS)
        .at(125, "High", "search", "warning", FIRES)
        .check("within two hours", &["open 0", "over 0", "refire 0"]);
    play()
        .at(0, "High", "search", "warning", FIRES)
        .at(5, "High", "search", "warning", ENDS)
        .at(126, "High", "search", "warning", FIRES)
        .at(127, "High", "search", "warning", ENDS)
        .check("later", &["open 0", "over 0", "open 1 after 0", "over 1"]);
    play()
        .at(0, "High", "search", "warning", FIRES)
        .people(1, 0, Status::Mitigated)
        .at(5, "High", "search", "warning", ENDS)
        .at(600, "High", "search", "warning", FIRES)
        .check("people are on it", &["open 0", "over 0", "refire 0"]);
    play()
        .at(0, "High", "search", "warning", FIRES)
        .at(5, "High", "search", "warning", ENDS)
        .people(6, 0, Status::Resolved)
        .at(60, "High", "search", "warning", FIRES)
        .at(61, "High", "search", "warning", FIRES)
        .check(
            "resolved by people, and back",
            &["open 0", "over 0", "refire 0", "join 0 Repeat"],
        );
    play()
        .at(0, "High", "search", "warning", FIRES)
        .people(1, 0, Status::FalseAlarm)
        .at(2, "High", "search", "warning", FIRES)
        .at(130, "High", "search", "warning", FIRES)
        .check(
            "a repeat doesn't overrule people",
            &["open 0", "join 0 StillFires", "open 1 after 0"],
        );
    play()
        .at(0, "TypeError", "search", "error", FIRES)
        .at(60 * 24, "TypeError", "search", "error", FIRES)
        .at(60 * 51, "TypeError", "search", "error", FIRES)
        .check(
            "a day without a word is an end",
            &["open 0", "join 0 Repeat", "open 1 after 0"],
        );
    play()
        .at(0, "TypeError", "search", "error", FIRES)
        .people(1, 0, Status::Fixing)
        .at(60 * 51, "TypeError", "search", "error", FIRES)
        .check(
            "but not while people are on it",
            &["open 0", "join 0 Repeat"],
        );
}

#[test]
fn below_the_floor_is_kept_and_taken_along() {
    let mut play = play();
    play.at(0, "Info", "search", "info", FIRES)
        .at(1, "Info", "billing", "info", FIRES)
        .at(2, "Unknown", "billing2", "", FIRES)
        .at(3, "High", "search", "critical", FIRES)
        .at(4, "Info", "search", "info", FIRES)
        .at(5, "Watchdog", "", "none", FIRES)
        .at(6, "TestAlert", "", "critical", FIRES)
        .at(7, "Info", "billing", "critical", FIRES);
    play.check(
        "an unknown level counts as SEV3",
        &[
            "kept BelowFloor",
            "kept BelowFloor",
            "open 0",
            "open 1",
            "join 1 Repeat",
            "kept Heartbeat",
            "kept Test",
            "open 2",
        ],
    );
    let search = &play.channel.incidents()[1];
    assert_eq!((search.alerts.len(), search.firings()), (2, 3));
    assert_eq!(play.channel.incidents()[2].firings(), 2);
    let kept: Vec<Why> = play
        .channel
        .kept_since(START)
        .map(|(_, why, _)| why)
        .collect();
    assert_eq!(kept, [Why::Test, Why::Heartbeat]);
    Play::new(Settings {
        opens: false,
        ..Settings::default()
    })
    .at(0, "High", "search", "critical", FIRES)
    .check("a channel that opens none", &["kept MayNotOpen"]);
}

#[test]
fn what_was_cut_is_found_by_name_and_service() {
    let labelled = |partial: bool, fires: bool| {
        let mut alert = alert("High", "search", "critical", fires, "");
        if !partial {
            let labels = BTreeMap::from([("cluster".to_owned(), "eu".to_owned())]);
            alert.key = AlertKey::of(
                "High",
                Some("search"),
                &labels,
                &Registry::default().names(),
            );
        }
        alert.partial = partial;
        alert
    };
    for first_is_cut in [true, false] {
        let mut channel = Channel::new(Settings::default());
        let mut take = |message, alert| {
            let told = Told {
                message,
                at_ms: START,
                alert,
            };
            channel.take(&told, START)
        };
        let incident = WatchedId(0);
        assert_eq!(
            take(1, labelled(first_is_cut, FIRES)),
            Decision::Open {
                incident,
                earlier: None
            }
        );
        assert_eq!(
            take(2, labelled(!first_is_cut, FIRES)),
            Decision::Join {
                incident,
                how: How::Repeat
            }
        );
        assert_eq!(
            take(3, labelled(!first_is_cut, ENDS)),
            Decision::Over {
                incident,
                all: true
            }
        );
        assert_eq!(
            take(4, labelled(first_is_cut, FIRES)),
            Decision::Refire { incident }
        );
        assert_eq!(
            take(5, labelled(first_is_cut, ENDS)),
            Decision::Over {
                incident,
                all: true
            }
        );
    }
}

#[test]
fn an_end_is_suggested_when_it_settles_and_proves_after_a_day() {
    let incident = WatchedId(0);
    let mut steady = play();
    steady
        .at(0, "High", "search", "critical", FIRES)
        .at(10, "High", "search", "critical", ENDS);
    let at = |seconds: i64| START + 10 * MINUTE_MS + seconds * SECOND_MS;
    let since_ms = at(0);
    assert_eq!(steady.channel.due(at(1)), [Due::Post(incident)]);
    assert_eq!(steady.channel.due(at(59)), []);
    assert_eq!(
        steady.channel.due(at(60)),
        [Due::SuggestEnd { incident, since_ms }]
    );
    assert_eq!(steady.channel.due(at(3_600)), []);
    assert_eq!(
        steady.channel.due(at(24 * 3_600)),
        [Due::Held { incident, since_ms }]
    );
    assert_eq!(steady.channel.due(at(48 * 3_600)), []);

    // A flapping alert is one incident, and its end is suggested once.
    let mut flapping = play();
    for minute in 0..8 {
        flapping
            .at(minute * 2, "High", "search", "critical", FIRES)
            .at(minute * 2 + 1, "High", "search", "critical", ENDS);
    }
    assert_eq!(flapping.channel.incidents().len(), 1);
    assert_eq!(flapping.channel.incidents()[0].firings(), 8);
    let mut suggested = Vec::new();
    for second in 0..3_600 {
        let now = START + 15 * MINUTE_MS + second * SECOND_MS;
        for due in flapping.channel.due(now) {
            if let Due::SuggestEnd { .. } = due {
                suggested.push(second);
            }
        }
    }
    assert_eq!(suggested, [600]);
}

#[test]
fn people_who_ended_it_are_asked_nothing() {
    let mut play = play();
    play.at(0, "High", "search", "critical", FIRES)
        .at(1, "High", "search", "critical", ENDS)
        .people(1, 0, Status::Resolved);
    let due = play.channel.due(START + 10 * MINUTE_MS);
    assert_eq!(due, [Due::Post(WatchedId(0))]);
}

#[test]
fn analysed_always_on_a_button_or_never() {
    for (analyse, first, later) in [
        (
            Analyse::Always,
            Analysis::At(START + ANALYSE_AFTER_MS),
            Analysis::Begun,
        ),
        (Analyse::OnButton, Analysis::OnButton, Analysis::OnButton),
        (Analyse::Never, Analysis::Never, Analysis::Never),
    ] {
        let mut play = Play::new(Settings {
            analyse,
            ..Settings::default()
        });
        play.at(0, "High", "search", "critical", FIRES);
        assert_eq!(play.channel.incidents()[0].analysis, first);
        let due = play.channel.due(START + ANALYSE_AFTER_MS);
        assert_eq!(
            due.contains(&Due::Analyse(WatchedId(0))),
            analyse == Analyse::Always
        );
        assert_eq!(play.channel.incidents()[0].analysis, later);
        assert_eq!(play.channel.due(START + MINUTE_MS), []);
    }
    // What was over before it was looked at waits for somebody to ask.
    let mut short = Play::new(Settings {
        analyse: Analyse::Always,
        ..Settings::default()
    });
    short
        .at(0, "High", "search", "critical", FIRES)
        .at(0, "High", "search", "critical", ENDS);
    assert_eq!(
        short.channel.due(START + ANALYSE_AFTER_MS),
        [Due::Post(WatchedId(0))]
    );
    assert_eq!(short.channel.incidents()[0].analysis, Analysis::OnButton);
}

#[test]
fn two_hundred_alerts_in_ten_seconds() {
    let mut channel = Channel::new(Settings {
        analyse: Analyse::Always,
        ..Settings::default()
    });
    let services = ["a-api", "b-api", "c-api", "d-api", "e-api"];
    let mut posts: BTreeMap<WatchedId, Vec<i64>> = BTreeMap::new();
    let mut analyses = 0;
    for step in 0..400_i64 {
        let now = START + step * 50;
        if step < 200 {
            let at = usize::try_from(step).expect("small");
            let service = services[at % services.len()];
            let pod = format!("pod-{at}");
            channel.take(
                &Told {
                    message: 1_000 + step.unsigned_abs(),
                    at_ms: now,
                    alert: alert(
                        ["High", "Slow"][at / 7 % 2],
                        service,
                        "critical",
                        FIRES,
                        &pod,
                    ),
                },
                now,
            );
        }
        for due in channel.due(now) {
            match due {
                Due::Post(incident) => posts.entry(incident).or_default().push(now),
                Due::Analyse(_) => analyses += 1,
                _ => panic!("{due:?}"),
            }
        }
    }
    assert_eq!(channel.incidents().len(), services.len());
    assert_eq!(
        channel
            .incidents()
            .iter()
            .map(Watched::firings)
            .sum::<u32>(),
        200
    );
    assert_eq!(analyses, MOST_ANALYSES);
    for times in posts.values() {
        // In twenty seconds, the last of them after all is told.
        assert!(times.len() <= 4, "{times:?}");
        assert!(
            times
                .windows(2)
                .all(|pair| pair[1] - pair[0] >= POST_EVERY_MS),
            "{times:?}"
        );
    }
    // One that failed comes again.
    channel.not_shown(WatchedId(0));
    assert_eq!(channel.due(START + MINUTE_MS), [Due::Post(WatchedId(0))]);
}

#[test]
fn quiet_repeats_are_shown_seldom_and_changes_at_once() {
    let mut play = Play::new(Settings {
        quiet_repeats_ms: 10 * MINUTE_MS,
        ..Settings::default()
    });
    let mut posts = Vec::new();
    for minute in 0..25 {
        let level = if minute < 15 { "warning" } else { "critical" };
        play.at(minute, "High", "search", level, FIRES);
        if !play.channel.due(START + minute * MINUTE_MS).is_empty() {
            posts.push(minute);
        }
    }
    assert_eq!(posts, [0, 10, 15]);
}

#[test]
fn merged_incidents_are_one() {
    let mut play = play();
    play.at(0, "High", "search", "critical", FIRES)
        .at(1, "High", "billing", "critical", FIRES);
    play.channel.merge(WatchedId(1), WatchedId(0));
    play.channel.merge(WatchedId(0), WatchedId(0));
    play.channel.merge(WatchedId(0), WatchedId(7));
    play.at(2, "High", "billing", "critical", ENDS)
        .at(3, "High", "search", "critical", ENDS);
    play.check("", &["open 0", "open 1", "partly over 0", "over 0"]);
}

#[test]
fn what_is_old_is_forgotten() {
    let mut play = play();
    play.at(0, "High", "search", "critical", FIRES)
        .at(1, "High", "search", "critical", ENDS)
        .at(1, "Info", "billing", "info", FIRES)
        .at(1, "Gone", "checkout", "info", ENDS);
    let _ = play.channel.due(START + MINUTE_MS);
    play.channel.forget(START + 2 * MINUTE_MS);
    assert_eq!(
        (
            play.channel.incidents().len(),
            play.channel.kept.len(),
            play.channel.ends.len()
        ),
        (1, 1, 1)
    );
    play.channel.forget(START + KNOWN_MS);
    assert_eq!(
        (
            play.channel.incidents().len(),
            play.channel.kept.len(),
            play.channel.ends.len()
        ),
        (1, 0, 0)
    );
    play.channel.forget(START + KNOWN_MS + HOUR_MS);
    assert_eq!(play.channel.incidents().len(), 0);
}

/// A burst of messages: which alert, service, level, status, copy, and the second it comes in.
fn burst() -> impl Strategy<Value = Vec<Told>> {
    let one = (
        0_usize..3,
        0_usize..4,
        0_usize..3,
        any::<bool>(),
        0_usize..3,
        0_i64..10,
    );
    proptest::collection::vec(one, 1..40).prop_map(|all| {
        let mut all = all;
        all.sort_by_key(|one| one.5);
        all.into_iter()
            .zip(1_u64..)
            .map(
                |((name, service, level, fires, copy, second), message)| Told {
                    message,
                    at_ms: START + second * SECOND_MS,
                    alert: alert(
                        ["High", "Slow", "Full"][name],
                        ["a-api", "b-api", "c-api", ""][service],
                        ["info", "critical", ""][level],
                        fires,
                        ["", "pod-a", "pod-b"][copy],
                    ),
                },
            )
            .collect()
    })
}

/// Incidents and what is kept, without what depends on the order alone.
fn outcome(channel: &Channel) -> (BTreeSet<String>, BTreeSet<String>) {
    let tally = |(key, tally): (&AlertKey, &Tally)| {
        format!(
            "{key:?} {} {} {:?}",
            tally.firings(),
            tally.is_firing(),
            tally.last_fired_ms()
        )
    };
    let incidents = channel.incidents().iter().map(|watched| {
        watched
            .alerts
            .iter()
            .map(tally)
            .collect::<Vec<_>>()
            .join(", ")
    });
    let kept = channel
        .kept
        .iter()
        .map(|(key, (_, _, told))| tally((key, told)));
    (incidents.collect(), kept.collect())
}

fn taken(all: &[Told]) -> Channel {
    let mut channel = Channel::new(Settings::default());
    for told in all {
        channel.take(told, told.at_ms);
    }
    channel
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, cases: 128, ..ProptestConfig::default() })]

    #[test]
    fn the_order_of_a_burst_changes_nothing(
        (all, mixed) in burst().prop_flat_map(|all| (Just(all.clone()), Just(all).prop_shuffle())),
    ) {
        prop_assert_eq!(outcome(&taken(&all)), outcome(&taken(&mixed)));
    }

    #[test]
    fn a_message_twice_is_a_message_once(all in burst()) {
        let once = taken(&all);
        let mut twice = Channel::new(Settings::default());
        for told in &all {
            twice.take(told, told.at_ms);
            prop_assert_eq!(twice.take(told, told.at_ms), Decision::Kept(Why::Duplicate));
        }
        for told in &all {
            prop_assert_eq!(twice.take(told, told.at_ms), Decision::Kept(Why::Duplicate));
        }
        prop_assert_eq!(outcome(&once), outcome(&twice));
    }

    #[test]
    fn nothing_that_fires_is_invisible_and_no_end_opens(all in burst()) {
        let mut channel = Channel::new(Settings::default());
        for told in &all {
            let decision = channel.take(told, told.at_ms);
            let ends = told.alert.status() == AlertStatus::Resolved;
            let begins = matches!(decision, Decision::Open { .. } | Decision::Refire { .. });
            prop_assert!(!(ends && begins));
        }
        let fired = all.iter().filter(|told| told.alert.status() == AlertStatus::Firing);
        let in_incidents: u32 = channel.incidents().iter().map(Watched::firings).sum();
        let kept: u32 = channel.kept_since(i64::MIN).map(|(_, _, tally)| tally.firings()).sum();
        prop_assert_eq!((in_incidents + kept) as usize, fired.count());
        for watched in channel.incidents() {
            let services: BTreeSet<&str> = watched.alerts.keys()
                .filter_map(|key| key.as_str().split('\n').nth(1)).collect();
            prop_assert_eq!(services.len(), 1);
        }
        // Stored and read back, it goes on as it was.
        let stored = serde_json::to_string(&channel).expect("plain data");
        let read: Channel = serde_json::from_str(&stored).expect("what was written");
        prop_assert_eq!(read, channel);
    }

    #[test]
    fn any_times_are_taken(
        all in proptest::collection::vec((any::<u64>(), any::<i64>(), any::<bool>(), any::<i64>()), 1..30),
    ) {
        let mut channel = Channel::new(Settings { analyse: Analyse::Always, ..Settings::default() });
        for (message, at_ms, fires, now_ms) in all {
            let alert = alert("High", "a-api", "critical", fires, "");
            channel.take(&Told { message, at_ms, alert }, now_ms);
            let _ = channel.due(now_ms);
            channel.forget(now_ms);
        }
    }
}

#[test]
fn what_is_due_next_is_known_and_nothing_is_due_before() {
    let mut play = Play::new(Settings {
        analyse: Analyse::Always,
        ..Settings::default()
    });
    let channel = |play: &mut Play| play.channel.next_due().map(|at| at.saturating_sub(START));
    assert_eq!(channel(&mut play), None, "nothing happened");
    play.at(0, "HighErrorRate", "payments-api", "critical", true);
    assert!(
        channel(&mut play).is_some_and(|at| at <= 0),
        "the first post is due at once"
    );
    play.channel.due(START);
    assert_eq!(channel(&mut play), Some(ANALYSE_AFTER_MS));
    play.channel.due(START + ANALYSE_AFTER_MS);
    assert_eq!(channel(&mut play), None, "it fires, and all is shown");
    play.at(1, "HighErrorRate", "payments-api", "critical", false);
    assert!(channel(&mut play).is_some_and(|at| at <= MINUTE_MS));
    play.channel.due(START + MINUTE_MS);
    assert_eq!(channel(&mut play), Some(MINUTE_MS + SETTLED_MS));
    play.channel.due(START + MINUTE_MS + SETTLED_MS);
    assert_eq!(channel(&mut play), Some(MINUTE_MS + HELD_MS));
    play.channel.due(START + MINUTE_MS + HELD_MS);
    assert_eq!(channel(&mut play), None);
    play.channel.forget_incident(WatchedId(0));
    assert_eq!(play.channel.incidents().len(), 0);
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn nothing_is_due_before_it_is_said_to_be(
        told in proptest::collection::vec((0i64..90, 0usize..3, any::<bool>()), 1..40),
        later in 0i64..2_000,
    ) {
        let mut play = Play::new(Settings { analyse: Analyse::Always, ..Settings::default() });
        let mut told = told;
        told.sort_by_key(|(minute, _, _)| *minute);
        for (minute, service, fires) in told {
            let service = ["payments-api", "search", "billing"][service];
            play.at(minute, "HighErrorRate", service, "critical", fires);
            play.channel.due(START + minute * MINUTE_MS);
        }
        let now = START + (90 + later) * MINUTE_MS;
        let next = play.channel.next_due();
        let due = play.channel.clone().due(now);
        prop_assert_eq!(!due.is_empty(), next.is_some_and(|at| at <= now), "{:?} {:?}", next, due);
    }
}

//! A service in full, who knows it, and the question which one is meant.

use super::custom_id::Action;
use super::escape::plain;
use super::ink::Ink;
use super::payload::{Choice, Embed, Message, OPTIONS, Row};
use super::{Post, Slot, say};
use crate::incident::{IncidentId, Locale, Service};
use jiff::Timestamp;

const COLOR: u32 = 0x7D_84_90;

/// Runbooks shown where memory knows nothing; the others stand in `/service show`.
const FEW: usize = 2;
/// Owners shown there.
const OWNERS: usize = 4;
/// People named there.
const PEOPLE: usize = 5;

/// Who and what may help where memory knows nothing: never a mention.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Knows {
    /// The service, as it is registered.
    pub service: Service,
    /// People who resolved its incidents before, by display name, the latest first.
    pub people: Vec<String>,
}

impl Knows {
    /// Whether there is anything to say.
    pub fn is_empty(&self) -> bool {
        let service = &self.service;
        service.owners.is_empty() && service.runbooks.is_empty() && self.people.is_empty()
    }

    /// Owner, runbook, people; each in a line.
    pub(super) fn lines(&self, ink: &Ink) -> Vec<String> {
        let mut lines = Vec::new();
        lines.extend(owners(&self.service, OWNERS, ink));
        lines.extend(runbooks(&self.service, FEW, ink));
        lines.extend(people(&self.people, ink));
        lines
    }

    /// The title above them.
    pub(super) fn title(&self, ink: &Ink) -> String {
        let name = ink.text(&self.service.name, 80);
        format!("👤 {}", say::who_knows(ink.locale, &name))
    }

    pub(super) fn embed(&self, ink: &Ink) -> Option<Embed> {
        (!self.is_empty()).then(|| Embed {
            title: self.title(ink),
            description: self.lines(ink).join("\n"),
            color: COLOR,
            ..Embed::default()
        })
    }
}

fn owners(service: &Service, most: usize, ink: &Ink) -> Option<String> {
    let shown: Vec<String> = service
        .owners
        .iter()
        .take(most)
        .map(|owner| {
            let (role, name) = (ink.text(&owner.role, 60), ink.text(&owner.name, 80));
            say::owner(ink.locale, &role, &name)
        })
        .collect();
    line(say::owners_label(ink.locale), &shown, ink)
}

fn runbooks(service: &Service, most: usize, ink: &Ink) -> Option<String> {
    let shown: Vec<String> = service
        .runbooks
        .iter()
        .take(most)
        .map(|address| ink.link(address))
        .collect();
    line(say::runbooks_label(ink.locale), &shown, ink)
}

fn people(people: &[String], ink: &Ink) -> Option<String> {
    let shown: Vec<String> = people
        .iter()
        .take(PEOPLE)
        .map(|name| ink.text(name, 60))
        .collect();
    line(say::resolvers_label(ink.locale), &shown, ink)
}

fn line(label: &str, things: &[String], ink: &Ink) -> Option<String> {
    (!things.is_empty())
        .then(|| format!("{} {}", ink.label(label), say::listed(ink.locale, things)))
}

/// One change of a service.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ServiceChange {
    /// When.
    pub at: Timestamp,
    /// Who.
    pub by: String,
    /// A word of the store's.
    pub what: String,
    /// The name that came in: an alias, the old name, the merged service; may be empty.
    pub other: String,
}

/// A service in full, to one person alone.
pub fn service_show(
    knows: &Knows,
    incidents: u64,
    changes: &[ServiceChange],
    locale: Locale,
    now: Timestamp,
) -> Post {
    let ink = Ink::discord(locale, now);
    let service = &knows.service;
    let mut lines = vec![say::incidents_of_service(locale, incidents)];
    let list = |values: &[String]| {
        let shown: Vec<String> = values
            .iter()
            .take(20)
            .map(|value| ink.text(value, 60))
            .collect();
        say::listed(locale, &shown)
    };
    if !service.aliases.is_empty() {
        lines.push(say::aliases(locale, &list(&service.aliases)));
    }
    lines.extend(owners(service, 8, &ink));
    if !service.repository.is_empty() {
        let repository = ink.link(&service.repository);
        lines.push(format!(
            "{} {repository}",
            ink.label(say::repository_label(locale))
        ));
    }
    lines.extend(runbooks(service, 5, &ink));
    if !service.high_risk.is_empty() {
        lines.push(say::high_risk(locale, &list(&service.high_risk)));
    }
    if !service.environments_apart.is_empty() {
        lines.push(say::apart(locale, &list(&service.environments_apart)));
    }
    lines.extend(people(&knows.people, &ink));
    if !changes.is_empty() {
        lines.push(ink.label(say::changes_label(locale)));
        lines.extend(changes.iter().take(5).map(|change| {
            let what = say::service_change(locale, &change.what, &ink.text(&change.other, 60));
            format!(
                "- {what} · {} · {}",
                ink.text(&change.by, 60),
                ink.day(change.at)
            )
        }));
    }
    let mut description = lines.join("\n");
    if super::escape::width(&description) > super::payload::EMBED_DESCRIPTION {
        description = super::past::whole_lines(&description, super::payload::EMBED_DESCRIPTION);
    }
    let message = Message {
        embeds: vec![Embed {
            title: ink.text(&service.name, 200),
            description,
            color: COLOR,
            ..Embed::default()
        }],
        ..Message::default()
    };
    message.post(Slot::Private)
}

/// The value of *None of these*.
pub const NO_SERVICE: &str = "-";

/// Asks which of several services an incident is of.
pub fn which_service(incident: IncidentId, services: &[String], locale: Locale) -> Post {
    let mut seen = std::collections::BTreeSet::new();
    let mut choices: Vec<Choice> = services
        .iter()
        // The value is sent as it stands: a name that can't be shown as it is (an import may have
        // brought it) is not offered.
        .filter(|name| !name.is_empty() && plain(name) == **name && name.as_str() != NO_SERVICE)
        .filter(|name| super::escape::width(name) <= 100 && seen.insert(name.as_str()))
        .take(OPTIONS - 1)
        .map(|name| Choice {
            value: name.clone(),
            label: plain(name),
            description: String::new(),
            chosen: false,
        })
        .collect();
    choices.push(Choice {
        value: NO_SERVICE.to_owned(),
        label: say::none_of_these(locale).to_owned(),
        description: String::new(),
        chosen: false,
    });
    let message = Message {
        content: say::which_service(locale).to_owned(),
        rows: vec![Row::Select {
            action: Action::ChooseService { incident },
            placeholder: say::choose_service(locale).to_owned(),
            choices,
            many: false,
            disabled: false,
        }],
        ..Message::default()
    };
    message.post(Slot::Reply)
}

#[cfg(test)]
mod tests {
    use super::super::checks::{assert_legal, at, id, text};
    use super::*;
    use crate::incident::Owner;
    use proptest::prelude::*;

    #[test]
    fn a_service_in_full() {
        let service = Service {
            aliases: vec!["the till".into()],
            owners: vec![Owner::parse("on call: payments team").expect("a name")],
            repository: "acme/payments".into(),
            runbooks: vec!["https://wiki.acme.test/payments".into()],
            high_risk: vec!["auth".into()],
            ..Service::named("payments-api")
        };
        let knows = Knows {
            service,
            people: vec!["bob".into()],
        };
        let change = ServiceChange {
            at: at("2026-05-14T03:10:00Z"),
            by: "alice".into(),
            what: "service_renamed".into(),
            other: "pay".into(),
        };
        let now = at("2026-05-26T03:00:00Z");
        let post = service_show(&knows, 3, &[change], Locale::En, now);
        assert_legal(&post);
        insta::assert_snapshot!(
            post.payload["embeds"][0]["description"].as_str().unwrap_or_default(),
            @r"
        3 incidents
        also the till
        **Owner** payments team (on call)
        **Repository** acme/payments
        **Runbook** <https://wiki.acme.test/payments>
        high risk: auth
        **Resolved it before** bob
        **Changed**
        - renamed from pay · alice · <t:1778728200:D>
        "
        );
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 24, max_shrink_iters: 60, failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn whatever_people_registered_is_shown_safely(words in proptest::collection::vec(text(), 1..30)) {
            let first = words.first().cloned().unwrap_or_default();
            let knows = Knows {
                service: Service {
                    aliases: words.clone(),
                    owners: words.iter().map(|word| Owner { role: word.clone(), name: word.clone() }).collect(),
                    repository: first.clone(),
                    runbooks: words.iter().map(|word| format!("https://wiki/{word}")).collect(),
                    high_risk: words.clone(),
                    environments_apart: words.clone(),
                    ..Service::named(first)
                },
                people: words.clone(),
            };
            let now = at("2026-05-26T03:00:00Z");
            for locale in [Locale::En, Locale::Zh] {
                assert_legal(&service_show(&knows, 0, &[], locale, now));
                assert_legal(&which_service(id(1), &words, locale));
            }
        }
    }
}

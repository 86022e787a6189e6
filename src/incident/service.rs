//! Names of services, and the registry that resolves them (R5).
//!
//! Wanted: the same service in any spelling is one service; two services are never one. Unknown
//! equals nothing, not even unknown.
//!
//! A name is looked up exactly, then as an alias, then normalised by rule: case, separators, `svc` =
//! `service`, the suffix of a pod and of an environment. What is left may be a slip of the keys:
//! [`Registry::near`] finds the one registered service that is clearly nearest, and where two are
//! equally near it names both, for a person to choose. Plurals, nicknames and other numbers are
//! never likeness, they are resolved by alias alone.
//!
//! Deliberately absent: likeness in [`same_service`]. Whether a past incident is of this service is
//! decided by names alone; a slip is mended once, where the name is read.

use super::words::{fold, is_cjk};
use serde::{Deserialize, Serialize};
use std::collections::HashMap;

/// Suffixes that name an environment.
pub const ENVIRONMENTS: &[&str] = &[
    "prod",
    "production",
    "prd",
    "live",
    "staging",
    "stage",
    "stg",
    "preprod",
    "dev",
    "development",
    "test",
    "qa",
    "uat",
    "sandbox",
    "canary",
];

/// Characters of a name that is compared letter by letter; longer ones are no service's.
const LONGEST_NAME: usize = 80;
/// Words of a report that are looked up by likeness.
const MOST_GUESSED: usize = 64;

/// A service as the team registered it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Service {
    /// Canonical name, as shown.
    pub name: String,
    /// Other names of it.
    #[serde(default)]
    pub aliases: Vec<String>,
    /// Words or path segments that make an incident of this service high-risk (R25).
    #[serde(default)]
    pub high_risk: Vec<String>,
    /// Environments whose incidents are not evidence for each other.
    #[serde(default)]
    pub environments_apart: Vec<String>,
    /// Who answers for it; shown, never mentioned.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub owners: Vec<Owner>,
    /// Where its code lives: an address, or a path such as `acme/payments`. Empty: not known.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub repository: String,
    /// Addresses of what to do when it fails, as [`super::link::web_address`] gives them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub runbooks: Vec<String>,
}

/// Somebody who answers for a service.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Owner {
    /// As what: `on call`, `team`, `lead`; may be empty.
    pub role: String,
    /// The name of a person or team, as it is shown.
    pub name: String,
}

impl Owner {
    /// Reads `role: name`, or a name alone. `None` where there is no name.
    pub fn parse(text: &str) -> Option<Self> {
        let (role, name) = match text.split_once([':', '：']) {
            Some((role, name)) => (role.trim(), name.trim()),
            None => ("", text.trim()),
        };
        (!name.is_empty()).then(|| Self {
            role: role.to_owned(),
            name: name.to_owned(),
        })
    }
}

impl Service {
    /// A service of which only the name is known.
    pub fn named(name: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            ..Self::default()
        }
    }
}

/// What a name that is not registered may be a slip of.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Near<'r> {
    /// No registered service is near.
    Nothing,
    /// This one is nearer than every other.
    One(&'r str),
    /// These are equally near, in the order of their names.
    Several(Vec<&'r str>),
}

/// The services of a guild.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Registry {
    /// In the order of their names.
    pub services: Vec<Service>,
}

impl Registry {
    /// A registry from canonical names alone.
    pub fn from_names<I, S>(names: I) -> Self
    where
        I: IntoIterator<Item = S>,
        S: Into<String>,
    {
        Self {
            services: names.into_iter().map(Service::named).collect(),
        }
    }

    /// The service registered under this canonical name.
    pub fn get(&self, name: &str) -> Option<&Service> {
        self.services.iter().find(|service| service.name == name)
    }

    /// The canonical name of what a person or record calls a service: exact, alias, normalised.
    pub fn resolve(&self, name: &str) -> Option<&str> {
        Index::of(self).resolve(name)
    }

    /// The canonical name for the record: resolved where it is registered, else as it was written.
    pub fn canonical(&self, name: &str) -> Option<String> {
        let trimmed = name.trim();
        (!trimmed.is_empty()).then(|| self.resolve(trimmed).unwrap_or(trimmed).to_owned())
    }

    /// The registered services that a name which does not resolve is nearest to: letters left out,
    /// doubled, swapped or, in a long word, mistaken. A plural, another number and another short
    /// word (`api`, `app`) are another name, not a slip.
    pub fn near(&self, name: &str) -> Near<'_> {
        let wanted = Spelling::of(name);
        let environment = environment_of(name);
        let mut best: Option<u32> = None;
        let mut nearest: Vec<&str> = Vec::new();
        for service in &self.services {
            if environment.is_some_and(|environment| {
                let mut apart = service.environments_apart.iter();
                apart.any(|apart| apart == environment)
            }) {
                continue;
            }
            let names = std::iter::once(&service.name).chain(&service.aliases);
            let Some(slips) = names
                .filter_map(|known| wanted.slips_from(&Spelling::of(known)))
                .min()
            else {
                continue;
            };
            match best {
                Some(least) if slips > least => {}
                Some(least) if slips == least => nearest.push(&service.name),
                _ => {
                    best = Some(slips);
                    nearest = vec![&service.name];
                }
            }
        }
        match nearest.as_slice() {
            [] => Near::Nothing,
            [only] => Near::One(only),
            _ => Near::Several(nearest),
        }
    }

    /// The services that a report names with a slip: of its words that look like a service's name
    /// (`paymets-api`, `PaymetsApi`), those that do not resolve. Plain words are not guessed at.
    pub fn nearly_named_in(&self, report: &str) -> Near<'_> {
        let mut found: Vec<&str> = Vec::new();
        let mut words = std::collections::BTreeSet::new();
        // Made at the first word that is looked up: most reports have none.
        let index = std::cell::LazyCell::new(|| Index::of(self));
        let chunks = report
            .split(|c: char| !(c.is_alphanumeric() || matches!(c, '-' | '_')) || is_cjk(c))
            .map(|chunk| chunk.trim_matches(['-', '_']))
            .filter(|chunk| chunk.len() <= LONGEST_NAME && spaced(chunk).contains('-'));
        for chunk in chunks {
            if words.len() >= MOST_GUESSED {
                break;
            }
            if !words.insert(chunk) || index.resolve(chunk).is_some() {
                continue;
            }
            match self.near(chunk) {
                Near::Nothing => {}
                Near::One(name) if !found.contains(&name) => found.push(name),
                Near::One(_) => {}
                Near::Several(names) => {
                    for name in names {
                        if !found.contains(&name) {
                            found.push(name);
                        }
                    }
                }
            }
        }
        match found.as_slice() {
            [] => Near::Nothing,
            [only] => Near::One(only),
            _ => Near::Several(found),
        }
    }

    /// The names of the registry, prepared for whoever asks for many.
    pub fn names(&self) -> Names<'_> {
        Names {
            registry: self,
            index: Index::of(self),
        }
    }

    /// The one service that a report speaks of: the only one that it names, else the only one that
    /// its first line names. Two candidates are no answer.
    pub fn named_in(&self, report: &str) -> Option<&str> {
        self.names().named_in(report)
    }

    /// Every registered service that a text names, in the order of their first mention.
    pub fn mentions(&self, text: &str) -> Vec<&str> {
        self.names().mentions(text)
    }
}

/// The names of a registry, each normalised once: a message has many words to be looked up.
pub struct Names<'r> {
    registry: &'r Registry,
    index: Index<'r>,
}

impl<'r> Names<'r> {
    /// The registry that they are from.
    pub fn registry(&self) -> &'r Registry {
        self.registry
    }

    /// See [`Registry::resolve`].
    pub fn resolve(&self, name: &str) -> Option<&'r str> {
        self.index.resolve(name)
    }

    /// See [`same_service`].
    pub fn same(&self, one: Option<&str>, other: Option<&str>) -> bool {
        let (Some(one), Some(other)) = (one, other) else {
            return false;
        };
        match (self.resolve(one), self.resolve(other)) {
            (Some(one), Some(other)) => one == other,
            (None, None) => !key(one).is_empty() && key(one) == key(other),
            _ => false,
        }
    }

    /// See [`Registry::named_in`].
    pub fn named_in(&self, report: &str) -> Option<&'r str> {
        let all = self.mentions(report);
        if let [only] = all.as_slice() {
            return Some(only);
        }
        let first_line = report.lines().find(|line| !line.trim().is_empty())?;
        match self.mentions(first_line).as_slice() {
            [only] => Some(only),
            _ => None,
        }
    }

    /// See [`Registry::mentions`].
    pub fn mentions(&self, text: &str) -> Vec<&'r str> {
        if self.registry.services.is_empty() {
            return Vec::new();
        }
        let folded = fold(text);
        let chunks: Vec<&str> = folded
            .split(|c: char| !(c.is_alphanumeric() || matches!(c, '-' | '_' | '.')) || is_cjk(c))
            .map(|chunk| chunk.trim_matches(['-', '_', '.']))
            .filter(|chunk| !chunk.is_empty())
            .collect();
        let mut found: Vec<&'r str> = Vec::new();
        let mut add = |name| {
            if !found.contains(&name) {
                found.push(name);
            }
        };
        for start in 0..chunks.len() {
            for length in (1..=3).rev() {
                let Some(window) = chunks.get(start..start + length) else {
                    continue;
                };
                let spelled = window.join("-");
                // Too short a word is no name unless it is registered as it stands.
                if spelled.chars().count() < 3 {
                    continue;
                }
                if let Some(name) = self.index.resolve(&spelled) {
                    add(name);
                    break;
                }
            }
        }
        for service in &self.registry.services {
            let named_in_han = std::iter::once(&service.name)
                .chain(&service.aliases)
                .any(|name| name.chars().any(is_cjk) && folded.contains(&fold(name)));
            if named_in_han {
                add(&service.name);
            }
        }
        found
    }
}

/// The ways to a service by its names.
#[derive(Default)]
struct Index<'r> {
    exact: HashMap<&'r str, &'r Service>,
    separators: HashMap<String, Vec<&'r Service>>,
    keys: HashMap<String, Vec<&'r Service>>,
}

impl<'r> Index<'r> {
    fn of(registry: &'r Registry) -> Self {
        let mut index = Self::default();
        for service in &registry.services {
            for name in std::iter::once(&service.name).chain(&service.aliases) {
                index.exact.entry(name).or_insert(service);
                for (map, key) in [
                    (&mut index.separators, separators_folded(name)),
                    (&mut index.keys, key(name)),
                ] {
                    map.entry(key).or_default().push(service);
                }
            }
        }
        index
    }

    fn resolve(&self, name: &str) -> Option<&'r str> {
        let wanted = name.trim();
        if let Some(service) = self.exact.get(wanted) {
            return Some(&service.name);
        }
        // A name that is registered with its environment stays apart from the bare one.
        let environment = environment_of(wanted);
        let merges = |service: &&&Service| {
            !environment.is_some_and(|environment| {
                service
                    .environments_apart
                    .iter()
                    .any(|apart| apart == environment)
            })
        };
        for (map, key) in [
            (&self.separators, separators_folded(wanted)),
            (&self.keys, key(wanted)),
        ] {
            let found = map.get(&key).filter(|_| !key.is_empty());
            if let Some(service) = found.and_then(|services| services.iter().find(merges)) {
                return Some(&service.name);
            }
        }
        None
    }
}

/// A name in the words it is made of, for comparing letters.
struct Spelling {
    parts: Vec<Vec<char>>,
}

impl Spelling {
    fn of(name: &str) -> Self {
        let short: String = name.chars().take(LONGEST_NAME).collect();
        Self {
            parts: parts_of_key(&spaced(&short))
                .iter()
                .map(|part| if *part == "svc" { "service" } else { part })
                .map(|part| part.chars().collect())
                .collect(),
        }
    }

    /// How many slips lie between the two; `None` where they are two names.
    fn slips_from(&self, known: &Self) -> Option<u32> {
        let whole = |spelling: &Self| spelling.parts.concat();
        let digits = |spelling: &Self| -> Vec<char> {
            let all = whole(spelling).into_iter();
            all.filter(|c| c.is_numeric()).collect()
        };
        if digits(self) != digits(known) {
            return None;
        }
        if self.parts.len() != known.parts.len() {
            // A hyphen was left out as well: only long names leave no doubt.
            return slips(&whole(self), &whole(known), 10);
        }
        let mut all = 0;
        for (written, meant) in self.parts.iter().zip(&known.parts) {
            if written != meant {
                all += slips(written, meant, 6)?;
            }
        }
        // As many as one long word may hold; with none it would have resolved, but for an
        // environment that is kept apart.
        (1..=2).contains(&all).then_some(all)
    }
}

/// Slips between two words of at least `least` letters: a letter left out, doubled or swapped is
/// one, a wrong letter is two. A word may hold one, from nine letters on two; a plural is no slip.
fn slips(written: &[char], meant: &[char], least: usize) -> Option<u32> {
    let shorter = written.len().min(meant.len());
    let han = |word: &[char]| word.iter().copied().any(is_cjk);
    if shorter < least || han(written) || han(meant) || is_plural(written, meant) {
        return None;
    }
    let most = if shorter >= 9 { 2 } else { 1 };
    let distance = distance(written, meant);
    (distance <= most).then_some(distance)
}

fn is_plural(one: &[char], other: &[char]) -> bool {
    let (short, long) = if one.len() <= other.len() {
        (one, other)
    } else {
        (other, one)
    };
    match long.strip_prefix(short) {
        Some(['s'] | ['e', 's']) => true,
        Some(_) => false,
        None => {
            short.strip_suffix(&['y']).is_some()
                && long.strip_suffix(&['i', 'e', 's']) == short.strip_suffix(&['y'])
        }
    }
}

/// The least cost of turning one word into the other: inserting, dropping or swapping letters costs
/// one each, another letter two. Words are short, see [`LONGEST_NAME`].
fn distance(one: &[char], other: &[char]) -> u32 {
    let start: Vec<u32> = (0..).take(other.len() + 1).collect();
    let (mut before, mut row) = (start.clone(), start);
    let at = |row: &[u32], index: usize| row.get(index).copied().unwrap_or(u32::MAX / 2);
    for (down, a) in one.iter().enumerate() {
        let mut next = vec![at(&row, 0) + 1];
        for (right, b) in other.iter().enumerate() {
            let mut cost = (at(&row, right + 1) + 1).min(at(&next, right) + 1);
            cost = cost.min(at(&row, right) + if a == b { 0 } else { 2 });
            let swapped = down > 0
                && right > 0
                && one.get(down - 1) == Some(b)
                && other.get(right - 1) == Some(a);
            if swapped {
                cost = cost.min(at(&before, right - 1) + 1);
            }
            next.push(cost);
        }
        before = std::mem::replace(&mut row, next);
    }
    at(&row, other.len())
}

/// Whether two names mean one service, by rule and registry. Unknown equals nothing. Who holds one
/// against many prepares it: [`SameAs`].
pub fn same_service(registry: &Registry, one: Option<&str>, other: Option<&str>) -> bool {
    SameAs::new(registry, one).is(other)
}

/// A service to hold other names against; the registry's names are normalised once.
pub struct SameAs<'r> {
    index: Index<'r>,
    /// Its canonical name, and what it is compared by without one. `None` where it is not known.
    wanted: Option<(Option<&'r str>, String)>,
}

impl<'r> SameAs<'r> {
    /// Prepares a service.
    pub fn new(registry: &'r Registry, service: Option<&str>) -> Self {
        let known = service.filter(|name| !name.trim().is_empty());
        let index = match known {
            Some(_) => Index::of(registry),
            None => Index::default(),
        };
        Self {
            wanted: known.map(|name| (index.resolve(name), key(name))),
            index,
        }
    }

    /// Whether this name means it. Unknown equals nothing.
    pub fn is(&self, name: Option<&str>) -> bool {
        let (Some((wanted, wanted_key)), Some(name)) = (&self.wanted, name) else {
            return false;
        };
        if name.trim().is_empty() {
            return false;
        }
        match (wanted, self.index.resolve(name)) {
            (Some(a), Some(b)) => *a == b,
            (None, None) => *wanted_key == key(name) && !wanted_key.is_empty(),
            _ => false,
        }
    }
}

/// The environment that a name carries as its suffix.
pub fn environment_of(name: &str) -> Option<&'static str> {
    let folded = spaced(name);
    let last = folded.rsplit('-').next()?;
    (folded.contains('-'))
        .then(|| {
            ENVIRONMENTS
                .iter()
                .copied()
                .find(|environment| *environment == last)
        })
        .flatten()
}

/// Environments as a sentence names them, and the name they go by.
const SAID_ENVIRONMENTS: &[(&str, &str)] = &[
    ("production", "prod"),
    ("prod", "prod"),
    ("staging", "staging"),
    ("preprod", "preprod"),
    ("pre-prod", "preprod"),
    ("uat", "uat"),
    ("qa", "qa"),
    ("sandbox", "sandbox"),
    ("canary", "canary"),
];
const SAID_HAN_ENVIRONMENTS: &[(&str, &str)] = &[
    ("生产环境", "prod"),
    ("线上环境", "prod"),
    ("预发环境", "staging"),
    ("预发布环境", "staging"),
    ("测试环境", "test"),
];

/// The environment that a text says it is about: `in prod`, `on staging`, `environment: uat`. None
/// where it names none that way, or more than one.
pub fn environment_in(text: &str) -> Option<&'static str> {
    let head: String = text.chars().take(4_000).collect();
    let folded = fold(&head);
    let words: Vec<&str> = folded
        .split(|c: char| !(c.is_alphanumeric() || c == '-'))
        .filter(|word| !word.is_empty())
        .collect();
    let leads = [
        "in",
        "on",
        "at",
        "env",
        "environment",
        "affects",
        "affecting",
    ];
    let english = words.windows(2).filter_map(|pair| match pair {
        [lead, name] if leads.contains(lead) => SAID_ENVIRONMENTS
            .iter()
            .find(|(said, _)| said == name)
            .map(|(_, name)| *name),
        _ => None,
    });
    let han = SAID_HAN_ENVIRONMENTS
        .iter()
        .filter(|(said, _)| folded.contains(said))
        .map(|(_, name)| *name);
    let mut named = english.chain(han);
    let first = named.next()?;
    named.all(|other| other == first).then_some(first)
}

/// Whether two names are of one environment: `prod` is `production`.
pub fn same_environment(one: &str, other: &str) -> bool {
    environment_name(one) == environment_name(other)
}

/// The name of an environment, however it is spelled.
pub(crate) fn environment_name(text: &str) -> String {
    let folded = fold(text.trim());
    match folded.as_str() {
        "production" | "prd" | "live" => "prod".to_owned(),
        "stage" | "stg" => "staging".to_owned(),
        "development" => "dev".to_owned(),
        _ => folded,
    }
}

/// The key under which spellings of one service are equal: folded, without the suffix of a pod and
/// of an environment, `svc` read as `service`, separators removed.
pub fn key(name: &str) -> String {
    joined(&parts_of_key(&spaced(name)))
}

/// The words of a name as [`spaced`] gives it, without the suffix of a pod and of an environment.
fn parts_of_key(folded: &str) -> Vec<&str> {
    let mut parts: Vec<&str> = folded.split('-').filter(|part| !part.is_empty()).collect();
    // deployment pods end in <replica set hash>-<five characters>, daemon set pods in the five.
    if parts.len() > 2
        && parts.last().is_some_and(|part| is_pod_suffix(part))
        && parts
            .get(parts.len() - 2)
            .is_some_and(|part| is_replica_hash(part))
    {
        parts.truncate(parts.len() - 2);
    } else if parts.len() > 1
        && parts
            .last()
            .is_some_and(|part| is_pod_suffix(part) && part.bytes().any(|b| b.is_ascii_digit()))
    {
        parts.truncate(parts.len() - 1);
    }
    if parts.len() > 1 && parts.last().is_some_and(|part| ENVIRONMENTS.contains(part)) {
        parts.truncate(parts.len() - 1);
    }
    parts
}

fn separators_folded(name: &str) -> String {
    let folded = spaced(name);
    let parts: Vec<&str> = folded.split('-').filter(|part| !part.is_empty()).collect();
    joined(&parts)
}

fn joined(parts: &[&str]) -> String {
    parts
        .iter()
        .map(|part| if *part == "svc" { "service" } else { part })
        .collect()
}

/// Folded, with every separator and every camel-case boundary written as a hyphen.
fn spaced(name: &str) -> String {
    let mut out = String::with_capacity(name.len() + 4);
    let mut before = ' ';
    for c in name.trim().chars() {
        if c.is_uppercase() && (before.is_lowercase() || before.is_ascii_digit()) {
            out.push('-');
        }
        before = c;
        if c.is_whitespace() || matches!(c, '_' | '.' | '/' | ':') || super::id::is_dash(c) {
            out.push('-');
        } else {
            out.push(c);
        }
    }
    fold(&out)
}

/// The alphabet of the random parts of Kubernetes names: no vowels, no 0, 1 and 3.
fn is_kubernetes_random(part: &str) -> bool {
    part.bytes()
        .all(|b| b"bcdfghjklmnpqrstvwxz2456789".contains(&b))
}

fn is_pod_suffix(part: &str) -> bool {
    part.len() == 5 && is_kubernetes_random(part)
}

fn is_replica_hash(part: &str) -> bool {
    (6..=10).contains(&part.len())
        && part.bytes().any(|b| b.is_ascii_digit())
        && (is_kubernetes_random(part) || part.bytes().all(|b| b.is_ascii_hexdigit()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn r5_spellings_of_one_service() {
        for (one, other) in [
            ("payments-api", "Payments API"),
            ("payments-api", "payments_api"),
            ("payments-api", "PaymentsApi"),
            ("payments-api", "payments-api-prod"),
            ("payments-api", "payments-api-6d9f7c5b4-x2k8q"),
            ("order-service", "order-svc"),
            ("order-service", "OrderService"),
            ("notify-go", "notify-go-6d9f7c5b4-x2k8q"),
            ("支付服务", "支付服务"),
        ] {
            assert!(
                same_service(&Registry::default(), Some(one), Some(other)),
                "{one} and {other}"
            );
        }
    }

    #[test]
    fn r5_services_that_are_not_one() {
        for (one, other) in [
            (Some("payments-api"), Some("payment-api")),
            (Some("payments-api"), Some("payments-worker")),
            (Some("auth"), Some("author")),
            (Some("kafka-1"), Some("kafka-2")),
            (None, None),
            (Some(""), Some("")),
            (Some("payments-api"), None),
        ] {
            assert!(
                !same_service(&Registry::default(), one, other),
                "{one:?} and {other:?}"
            );
        }
    }

    #[test]
    fn the_environment_that_a_report_is_about() {
        for (text, expected) in [
            (
                "payments-api answers 503s in prod since 02:41",
                Some("prod"),
            ),
            ("In production: 503s", Some("prod")),
            ("environment: staging", Some("staging")),
            ("503s on staging, fine in prod", None),
            ("the product is slow", None),
            ("prod looks fine", None),
            ("生产环境大量 503", Some("prod")),
            ("", None),
        ] {
            assert_eq!(environment_in(text), expected, "{text}");
        }
        for (one, other, expected) in [
            ("prod", "Production", true),
            ("stg", "staging", true),
            ("prod", "staging", false),
        ] {
            assert_eq!(same_environment(one, other), expected, "{one} / {other}");
        }
    }

    #[test]
    fn r5_environments_that_the_registry_keeps_apart() {
        let mut registry = Registry::from_names(["payments-api", "payments-api-staging"]);
        assert_eq!(
            registry.resolve("payments-api-staging"),
            Some("payments-api-staging")
        );
        assert_eq!(registry.resolve("payments-api-prod"), Some("payments-api"));
        registry.services.truncate(1);
        assert_eq!(
            registry.resolve("payments-api-staging"),
            Some("payments-api")
        );
        if let Some(service) = registry.services.first_mut() {
            service.environments_apart = vec!["staging".into()];
        }
        assert_eq!(registry.resolve("payments-api-staging"), None);
    }

    #[test]
    fn r5_a_slip_of_the_keys_and_what_is_another_name() {
        let mut registry = Registry::from_names([
            "payments-api",
            "order-service",
            "inventory-service",
            "kafka-1",
            "checkout-worker",
            "checkouts-worker",
            "recommendation-engine",
            "shipping-service",
        ]);
        if let Some(service) = registry.services.get_mut(2) {
            service.environments_apart = vec!["staging".into()];
            service.aliases = vec!["stockroom-service".into()];
        }
        use Near::{Nothing, One};
        for (name, expected) in [
            ("paymets-api", One("payments-api")),
            ("Paymnets API", One("payments-api")),
            ("paymentts_api-prod", One("payments-api")),
            ("order-sevrice", One("order-service")),
            ("stockrom-service", One("inventory-service")),
            ("inventroy-svc", One("inventory-service")),
            ("recomendation-engine", One("recommendation-engine")),
            ("recommendatoin-engien", One("recommendation-engine")),
            ("recomendationengine", One("recommendation-engine")),
            // Another short word, number, plural or letter is another name.
            ("payments-app", Nothing),
            ("payment-api", Nothing),
            ("payments-apis", Nothing),
            ("shopping-service", Nothing),
            ("kafka-2", Nothing),
            ("kafka", Nothing),
            ("odrer-service", Nothing),
            ("inventroy-service-staging", Nothing),
            ("inventory-service-staging", Nothing),
            ("", Nothing),
            ("支付服务", Nothing),
            ("chekouts-worker", One("checkouts-worker")),
        ] {
            assert_eq!(registry.near(name), expected, "{name}");
        }
        assert_eq!(
            Registry::from_names(["inventory-api", "inventary-api"]).near("inventry-api"),
            Near::Several(vec!["inventory-api", "inventary-api"])
        );
    }

    #[test]
    fn r5_reports_that_name_a_service_with_a_slip() {
        let registry = Registry::from_names(["payments-api", "order-service", "gateway"]);
        for (report, expected) in [
            (
                "503 from paymets-api since 02:41",
                Near::One("payments-api"),
            ),
            ("PaymetsApi throws", Near::One("payments-api")),
            (
                "paymets-api and order-sevrice fail",
                Near::Several(vec!["payments-api", "order-service"]),
            ),
            // A plain word is not guessed at, and a known name is no slip.
            ("the gatewey is slow", Near::Nothing),
            ("payments-api is slow", Near::Nothing),
            ("支付服务超时", Near::Nothing),
            ("", Near::Nothing),
        ] {
            assert_eq!(registry.nearly_named_in(report), expected, "{report}");
        }
        // Any text, in bounded time.
        let long = "x-".repeat(200_000);
        assert_eq!(registry.nearly_named_in(&long), Near::Nothing);
    }

    #[test]
    fn owners_are_a_role_and_a_name() {
        for (text, role, name) in [
            ("on call: payments team", "on call", "payments team"),
            ("负责人：小李", "负责人", "小李"),
            ("platform", "", "platform"),
            (" lead : alice ", "lead", "alice"),
        ] {
            let owner = Owner::parse(text).expect("a name");
            assert_eq!((owner.role.as_str(), owner.name.as_str()), (role, name));
        }
        assert_eq!(Owner::parse("on call:"), None);
        assert_eq!(Owner::parse(" "), None);
    }

    #[test]
    fn r5_the_service_that_a_report_names() {
        let mut registry = Registry::from_names(["payments-api", "order-service", "gateway"]);
        if let Some(service) = registry.services.first_mut() {
            service.aliases = vec!["支付服务".into(), "the till".into()];
        }
        for (report, expected) in [
            ("payments api is slow", Some("payments-api")),
            ("503 from Payments-API-prod", Some("payments-api")),
            ("支付服务 超时", Some("payments-api")),
            ("the till is down", Some("payments-api")),
            (
                "order-svc fails\nthe gateway answers 429",
                Some("order-service"),
            ),
            ("order-svc and the gateway fail", None),
            ("something is slow", None),
            ("", None),
        ] {
            assert_eq!(registry.named_in(report), expected, "{report}");
        }
    }
}

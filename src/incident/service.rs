//! Names of services, and the registry that resolves them (R5).
//!
//! Wanted: the same service in any spelling is one service; two services are never one. Unknown
//! equals nothing, not even unknown.
//!
//! Normalisation is by rule only: case, separators, `svc` = `service`, the suffix of a pod and of an
//! environment. Plurals and nicknames are resolved by alias, never by likeness.

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

    /// The one service that a report speaks of: the only one that it names, else the only one that
    /// its first line names. Two candidates are no answer.
    pub fn named_in(&self, report: &str) -> Option<&str> {
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

    /// Every registered service that a text names, in the order of their first mention.
    pub fn mentions(&self, text: &str) -> Vec<&str> {
        if self.services.is_empty() {
            return Vec::new();
        }
        let folded = fold(text);
        let chunks: Vec<&str> = folded
            .split(|c: char| !(c.is_alphanumeric() || matches!(c, '-' | '_' | '.')) || is_cjk(c))
            .map(|chunk| chunk.trim_matches(['-', '_', '.']))
            .filter(|chunk| !chunk.is_empty())
            .collect();
        let index = Index::of(self);
        let mut found: Vec<&str> = Vec::new();
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
                if let Some(name) = index.resolve(&spelled) {
                    add(name);
                    break;
                }
            }
        }
        for service in &self.services {
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

/// The names of a registry, each normalised once: a report holds many words to be looked up.
struct Index<'r> {
    exact: HashMap<&'r str, &'r Service>,
    separators: HashMap<String, Vec<&'r Service>>,
    keys: HashMap<String, Vec<&'r Service>>,
}

impl<'r> Index<'r> {
    fn of(registry: &'r Registry) -> Self {
        let mut index = Self {
            exact: HashMap::new(),
            separators: HashMap::new(),
            keys: HashMap::new(),
        };
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

/// Whether two names mean one service, by rule and registry. Unknown equals nothing.
pub fn same_service(registry: &Registry, one: Option<&str>, other: Option<&str>) -> bool {
    let (Some(one), Some(other)) = (one, other) else {
        return false;
    };
    if one.trim().is_empty() || other.trim().is_empty() {
        return false;
    }
    match (registry.resolve(one), registry.resolve(other)) {
        (Some(a), Some(b)) => a == b,
        (None, None) => key(one) == key(other) && !key(one).is_empty(),
        _ => false,
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
    let name = |text: &str| {
        let folded = fold(text.trim());
        match folded.as_str() {
            "production" | "prd" | "live" => "prod".to_owned(),
            "stage" | "stg" => "staging".to_owned(),
            "development" => "dev".to_owned(),
            _ => folded,
        }
    };
    name(one) == name(other)
}

/// The key under which spellings of one service are equal: folded, without the suffix of a pod and
/// of an environment, `svc` read as `service`, separators removed.
pub fn key(name: &str) -> String {
    let folded = spaced(name);
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
    joined(&parts)
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

//! Which tier of model answers, decided before any model is asked (R25, R26, R27).
//!
//! Wanted: what is dangerous goes to the capable tier whatever a score says; everything else by one
//! small sum that can be read aloud; every decision carries its reasons as data.
//!
//! Design: [`route`] first looks for reasons that decide by themselves (R25: a high-risk area, a
//! grave severity, a refuted fix in play). Only without one is [`score`] asked (R26). The words of
//! the areas are data: some count only as a segment of a path or of a service's name, where prose
//! uses them for other things (`ci`, `delete`, `pay`).
//!
//! Deliberately absent: sentences (they are `present`'s), the names of models, and any way for a
//! score to undo a reason of R25.

use crate::incident::words::{fold, is_cjk};
use crate::incident::{
    FixAttempt, Memory, Recalled, Registry, Route, RouteReason, Severity, Standing, Tier, sameness,
};

/// What the decision is made from.
#[derive(Clone, Copy, Debug)]
pub struct RouteInput<'a> {
    /// Canonical name of the service, if it is known.
    pub service: Option<&'a str>,
    /// The services of the guild, with their own high-risk patterns.
    pub registry: &'a Registry,
    /// The severity in force: a person's, else the proposed one.
    pub severity: Severity,
    /// What was recalled.
    pub memory: &'a Memory,
    /// What was tried in this incident.
    pub own_attempts: &'a [FixAttempt],
    /// Files that the report implicates (stack traces, diffs).
    pub implicated_files: &'a [String],
    /// Lines of attached logs.
    pub log_lines: usize,
    /// The report's text.
    pub text: &'a str,
}

/// The score without any evidence (R26), in hundredths.
pub const BASE: i32 = 30;
/// From this score on the fast tier answers (R26), in hundredths.
pub const FAST_FROM: i32 = 60;
/// Lines of log above which [`LONG_LOG_TERM`] applies (R26).
pub const LONG_LOG_LINES: usize = 200;
/// The term of a long log (R26).
pub const LONG_LOG_TERM: i32 = -10;
/// The term of each implicated file beyond the first (R26).
pub const FILE_TERM: i32 = -5;
/// The most that files may take away (R26).
pub const FILES_TERM_AT_MOST: i32 = -20;
/// Failed attempts after which people take over (R27).
pub const ATTEMPTS_BEFORE_ESCALATION: u32 = 3;

/// What follows a failed attempt (R27).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AfterFailure {
    /// Analyse again, told what failed, on a stronger tier.
    Reanalyse,
    /// The incident is escalated to people; no model is asked the same again.
    EscalateToPeople,
}

/// What follows `refuted` failed attempts in this incident (R27).
pub fn next_after_failures(refuted: u32) -> AfterFailure {
    if refuted >= ATTEMPTS_BEFORE_ESCALATION {
        AfterFailure::EscalateToPeople
    } else {
        AfterFailure::Reanalyse
    }
}

/// Decides the tier.
pub fn route(input: &RouteInput<'_>) -> Route {
    let reasons = hard_reasons(input);
    if !reasons.is_empty() {
        return Route {
            tier: Tier::Capable,
            score: None,
            escalated: true,
            reasons,
        };
    }
    let (score, reasons) = score(input);
    Route {
        tier: if score >= FAST_FROM {
            Tier::Fast
        } else {
            Tier::Capable
        },
        score: Some(score),
        escalated: false,
        reasons,
    }
}

/// R26's sum in hundredths, with the terms that made it. Reads nothing that R25 decides on.
pub fn score(input: &RouteInput<'_>) -> (i32, Vec<RouteReason>) {
    let mut score = BASE;
    let mut reasons = Vec::new();
    // *Best* is the one whose fix is worth most as evidence: a look-alike that ranks higher by
    // words alone does not take away what a verified fix of this service gives.
    if let Some(term) = input.memory.direct().filter_map(memory_term).max() {
        score += term;
        reasons.push(RouteReason::BestMemory(term));
    }
    if input.log_lines > LONG_LOG_LINES {
        score += LONG_LOG_TERM;
        reasons.push(RouteReason::LongLog(input.log_lines));
    }
    let mut files: Vec<&str> = input.implicated_files.iter().map(String::as_str).collect();
    files.sort_unstable();
    files.dedup();
    let beyond = files.len().saturating_sub(1);
    if beyond > 0 {
        let counted = i32::try_from(beyond).unwrap_or(i32::MAX);
        score += FILE_TERM.saturating_mul(counted).max(FILES_TERM_AT_MOST);
        reasons.push(RouteReason::Files(beyond));
    }
    (score, reasons)
}

/// R26's term of one direct memory; `None` where it has no fix to speak of.
fn memory_term(recalled: &Recalled) -> Option<i32> {
    recalled.incident.fix()?;
    Some(match recalled.incident.outcome().standing() {
        Standing::Verified if recalled.similarity >= 0.8 => 45,
        Standing::Verified => 30,
        Standing::Hypothesis => 15,
        Standing::Refuted => -25,
    })
}

fn hard_reasons(input: &RouteInput<'_>) -> Vec<RouteReason> {
    let mut reasons = high_risk(input);
    if input.severity.is_grave() {
        reasons.push(RouteReason::Severity(input.severity));
    }
    reasons.extend(refuted_fixes(input));
    reasons
}

/// A refuted fix is *in play* where it failed in this incident, where it is the fix that a direct
/// incident stands for, or where it failed in one direct incident and is what another one, or this
/// one, would have done.
fn refuted_fixes(input: &RouteInput<'_>) -> Vec<RouteReason> {
    let mut reasons = Vec::new();
    let own = input
        .own_attempts
        .iter()
        .filter(|attempt| attempt.outcome.standing() == Standing::Refuted)
        .count();
    if own > 0 {
        reasons.push(RouteReason::RefutedFix(None));
        reasons.push(RouteReason::AfterFailure(
            u32::try_from(own).unwrap_or(u32::MAX),
        ));
    }
    let on_offer: Vec<&str> = input
        .memory
        .direct()
        .filter_map(|recalled| recalled.incident.fix())
        .chain(
            input
                .own_attempts
                .iter()
                .map(|attempt| attempt.fix.as_str()),
        )
        .collect();
    for recalled in input.memory.direct() {
        let in_play = recalled.incident.attempts.iter().any(|attempt| {
            attempt.outcome.standing() == Standing::Refuted
                && on_offer
                    .iter()
                    .any(|fix| sameness::near_or_same(fix, &attempt.fix))
        });
        if in_play {
            reasons.push(RouteReason::RefutedFix(Some(recalled.incident.id)));
        }
    }
    reasons
}

/// One high-risk area (R25): what names it.
struct Area {
    name: &'static str,
    /// Whole words, anywhere. Several words mean that they follow each other.
    words: &'static [&'static str],
    /// Whole segments of a file's path or of the service's name only.
    segments: &'static [&'static str],
    /// Chinese, anywhere.
    han: &'static [&'static str],
}

const AREAS: &[Area] = &[
    Area {
        name: "authentication",
        words: &[
            "auth",
            "authn",
            "authz",
            "authentication",
            "authenticate",
            "authenticator",
            "authorization",
            "authorisation",
            "oauth",
            "oauth2",
            "oidc",
            "saml",
            "sso",
            "single sign on",
            "login",
            "logins",
            "log in",
            "signin",
            "sign in",
            "sign ins",
            "jwt",
            "mfa",
            "2fa",
            "password",
            "passwords",
        ],
        segments: &["identity", "idp", "iam"],
        han: &[
            "认证",
            "鉴权",
            "授权",
            "登录",
            "登陆",
            "单点登录",
            "密码",
            "口令",
        ],
    },
    Area {
        name: "payments",
        words: &[
            "payment",
            "payments",
            "billing",
            "refund",
            "refunds",
            "payout",
            "payouts",
            "credit card",
            "credit cards",
            "card charges",
        ],
        segments: &[
            "pay",
            "charge",
            "charges",
            "invoice",
            "invoices",
            "invoicing",
        ],
        han: &[
            "支付", "付款", "退款", "扣款", "收款", "结算", "账单", "计费",
        ],
    },
    Area {
        name: "data deletion",
        words: &[
            "data deletion",
            "deletion",
            "deletions",
            "delete from",
            "drop table",
            "drop database",
            "truncate table",
            "rm rf",
            "data purge",
            "purged data",
            "erasure",
            "wiped",
            "gdpr",
            "deleted rows",
            "deleted data",
            "data was deleted",
        ],
        segments: &[
            "delete", "deleter", "purge", "purger", "wipe", "wiper", "erase",
        ],
        han: &[
            "数据删除",
            "删除数据",
            "数据被删",
            "误删",
            "删库",
            "删表",
            "清空数据",
            "清空表",
            "数据清理",
        ],
    },
    Area {
        name: "secrets",
        words: &[
            "secret",
            "secrets",
            "credential",
            "credentials",
            "api key",
            "api keys",
            "private key",
            "private keys",
            "access token",
            "access tokens",
            "api token",
            "api tokens",
        ],
        segments: &["vault", "kms", "keystore", "keyring"],
        han: &["密钥", "凭据", "凭证", "机密", "私钥"],
    },
    Area {
        name: "ci workflows",
        words: &[
            "ci cd",
            "ci workflow",
            "ci workflows",
            "ci pipeline",
            "ci pipelines",
            "ci job",
            "ci jobs",
            "github actions",
            "github workflows",
            "gitlab ci",
            "jenkinsfile",
            "jenkins",
        ],
        segments: &["ci", "circleci", "buildkite", "azure pipelines"],
        han: &["流水线", "持续集成", "持续部署"],
    },
];

fn high_risk(input: &RouteInput<'_>) -> Vec<RouteReason> {
    let prose: String = input
        .text
        .lines()
        .filter(|line| !is_stack_frame(line))
        .collect::<Vec<_>>()
        .join("\n");
    let prose = Segments::of(&prose);
    let names: Vec<Segments> = input
        .service
        .into_iter()
        .chain(input.implicated_files.iter().map(String::as_str))
        .map(Segments::of)
        .collect();
    let everywhere = || names.iter().chain(std::iter::once(&prose));

    let mut reasons = Vec::new();
    for area in AREAS {
        let word = area
            .words
            .iter()
            .chain(area.han)
            .find(|word| everywhere().any(|place| place.holds(word)))
            .or_else(|| {
                area.segments
                    .iter()
                    .find(|segment| names.iter().any(|place| place.holds(segment)))
            });
        if let Some(word) = word {
            reasons.push(RouteReason::HighRisk {
                area: area.name.to_owned(),
                word: (*word).to_owned(),
            });
        }
    }
    for pattern in registered_patterns(input) {
        if everywhere().any(|place| place.holds(pattern)) {
            let reason = RouteReason::HighRisk {
                area: pattern.to_owned(),
                word: pattern.to_owned(),
            };
            if !reasons.contains(&reason) {
                reasons.push(reason);
            }
        }
    }
    reasons
}

/// The registry's patterns of the service at hand; while it is unknown, of every service named.
fn registered_patterns<'a>(input: &RouteInput<'a>) -> Vec<&'a str> {
    let services: Vec<&str> = match input.service {
        Some(service) => input.registry.resolve(service).into_iter().collect(),
        None => input.registry.mentions(input.text),
    };
    services
        .into_iter()
        .filter_map(|name| input.registry.get(name))
        .flat_map(|service| service.high_risk.iter().map(String::as_str))
        .filter(|pattern| !pattern.trim().is_empty())
        .collect()
}

/// A line that names code on the way to an error. Its files count as implicated files, where they
/// are the team's own; the frames of a framework (`...security.web.authentication...`) are not an
/// area of the incident.
fn is_stack_frame(line: &str) -> bool {
    let line = line.trim_start();
    let java = line
        .strip_prefix("at ")
        .is_some_and(|frame| frame.contains('(') || frame.contains("://") || frame.contains(':'));
    java || line.starts_with("File \"") || line.starts_with("... ") && line.ends_with("more")
}

/// The words of a text: as written, and split where camel case and digits begin.
struct Segments {
    folded: String,
    whole: Vec<String>,
    parts: Vec<String>,
}

impl Segments {
    fn of(text: &str) -> Self {
        let mut whole = Vec::new();
        let mut parts = Vec::new();
        for word in text.split(|c: char| !c.is_alphanumeric() || is_cjk(c)) {
            if word.is_empty() {
                continue;
            }
            whole.push(fold(word));
            parts.extend(camel_parts(word));
        }
        Self {
            folded: fold(text),
            whole,
            parts,
        }
    }

    /// Whether the words of `pattern` follow each other here as whole words; a Chinese pattern
    /// stands anywhere, as Chinese has no spaces.
    fn holds(&self, pattern: &str) -> bool {
        if pattern.chars().any(is_cjk) {
            return self.folded.contains(&fold(pattern));
        }
        let wanted: Vec<String> = fold(pattern)
            .split(|c: char| !c.is_alphanumeric())
            .filter(|word| !word.is_empty())
            .map(str::to_owned)
            .collect();
        if wanted.is_empty() {
            return false;
        }
        [&self.whole, &self.parts]
            .into_iter()
            .any(|words| words.windows(wanted.len()).any(|window| window == wanted))
    }
}

/// `AuthController` -> auth, controller; `OAuth2` -> o, auth, 2; `HTTPServer` -> http, server.
fn camel_parts(word: &str) -> Vec<String> {
    let chars: Vec<char> = word.chars().collect();
    let mut parts = vec![String::new()];
    for (index, &c) in chars.iter().enumerate() {
        let before = index.checked_sub(1).and_then(|i| chars.get(i)).copied();
        let after = chars.get(index + 1).copied();
        let boundary = before.is_some_and(|before| {
            (c.is_uppercase() && before.is_lowercase())
                || (c.is_uppercase()
                    && before.is_uppercase()
                    && after.is_some_and(char::is_lowercase))
                || c.is_ascii_digit() != before.is_ascii_digit()
        });
        if boundary {
            parts.push(String::new());
        }
        if let Some(last) = parts.last_mut() {
            last.extend(c.to_lowercase());
        }
    }
    parts.retain(|part| !part.is_empty());
    parts
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::incident::{Grade, IncidentId, Outcome, PastIncident};

    fn no_match() -> Memory {
        memory([])
    }

    fn memory(recalled: impl IntoIterator<Item = Recalled>) -> Memory {
        Memory::Searched {
            searched: 40,
            on_service: 4,
            recalled: recalled.into_iter().collect(),
        }
    }

    fn past(number: u32, similarity: f64, grade: Grade, attempts: &[(&str, Outcome)]) -> Recalled {
        let id = IncidentId::new(number).expect("above zero");
        let mut incident = PastIncident::new(id, "errors");
        incident.attempts = attempts
            .iter()
            .map(|(fix, outcome)| FixAttempt::new(*fix, *outcome))
            .collect();
        Recalled {
            incident,
            similarity,
            shares_signature: false,
            grade,
        }
    }

    struct Case {
        service: Option<&'static str>,
        registry: Registry,
        severity: Severity,
        memory: Memory,
        own: Vec<FixAttempt>,
        files: Vec<String>,
        log_lines: usize,
        text: &'static str,
    }

    impl Case {
        fn quiet() -> Self {
            Self {
                service: Some("search"),
                registry: Registry::default(),
                severity: Severity::Sev3,
                memory: no_match(),
                own: Vec::new(),
                files: Vec::new(),
                log_lines: 0,
                text: "queries are slow",
            }
        }

        fn input(&self) -> RouteInput<'_> {
            RouteInput {
                service: self.service,
                registry: &self.registry,
                severity: self.severity,
                memory: &self.memory,
                own_attempts: &self.own,
                implicated_files: &self.files,
                log_lines: self.log_lines,
                text: self.text,
            }
        }

        fn route(&self) -> Route {
            route(&self.input())
        }
    }

    fn areas(route: &Route) -> Vec<&str> {
        route
            .reasons
            .iter()
            .filter_map(|reason| match reason {
                RouteReason::HighRisk { area, .. } => Some(area.as_str()),
                _ => None,
            })
            .collect()
    }

    #[test]
    fn r25_author_is_not_auth() {
        for (service, file, text) in [
            ("author-service", "", ""),
            ("authority", "", ""),
            ("search", "src/author/list.rs", ""),
            ("search", "src/authors.rs", ""),
            ("search", "lib/coauthor/mod.rs", ""),
            ("search", "", "the author page is slow"),
            ("search", "", "authoritative name servers do not answer"),
            ("search", "src/city/cities.rs", ""),
            ("search", "", "the city index is stale"),
            ("search", "", "pay attention to the pods"),
            ("search", "", "the pod was deleted and came back"),
            ("secretary", "", ""),
            ("repayment-plan-less", "", ""),
            ("search", "", "tokenizer is slow, session of the team"),
            ("search", "src/payload/reader.rs", "payload too large"),
            (
                "search",
                "",
                "\tat org.springframework.security.web.authentication.Filter.doFilter(Filter.java:12)",
            ),
            ("search", "", "the cache purge takes minutes"),
            ("search", "src/workflows/engine.rs", ""),
            ("search", "", "查询很慢，重启过一次没用"),
        ] {
            let mut case = Case::quiet();
            case.service = Some(service);
            case.text = text;
            if !file.is_empty() {
                case.files = vec![file.to_owned()];
            }
            assert!(
                areas(&case.route()).is_empty(),
                "{service} {file} {text}: {:?}",
                case.route().reasons
            );
        }
    }

    #[test]
    fn r25_high_risk_areas() {
        for (service, file, text, area) in [
            ("search", "src/auth/login.rs", "", "authentication"),
            ("search", "app/AuthController.java", "", "authentication"),
            ("search", "auth_service.py", "", "authentication"),
            ("search", "lib/OAuth2Client.ts", "", "authentication"),
            ("auth", "", "", "authentication"),
            ("sso-gateway", "", "", "authentication"),
            ("search", "", "users cannot log in", "authentication"),
            ("search", "", "POST /auth/callback fails", "authentication"),
            ("search", "", "用户无法登录", "authentication"),
            ("payments-api", "", "", "payments"),
            ("PaymentService", "", "", "payments"),
            ("search", "src/pay/card.go", "", "payments"),
            ("search", "", "refunds hang", "payments"),
            ("search", "", "部分支付请求失败", "payments"),
            ("search", "jobs/purge_users.rb", "", "data deletion"),
            ("search", "src/users/delete.rs", "", "data deletion"),
            (
                "search",
                "",
                "someone ran DELETE FROM orders",
                "data deletion",
            ),
            ("search", "", "有人误删了一张表", "data deletion"),
            ("search", "deploy/secrets.yaml", "", "secrets"),
            ("vault", "", "", "secrets"),
            ("search", "", "an API key leaked", "secrets"),
            ("search", "", "密钥泄露", "secrets"),
            ("search", ".github/workflows/deploy.yml", "", "ci workflows"),
            ("search", ".gitlab-ci.yml", "", "ci workflows"),
            ("search", "Jenkinsfile", "", "ci workflows"),
            ("ci-runner", "", "", "ci workflows"),
            ("search", "", "the CI pipeline is red", "ci workflows"),
            ("search", "", "流水线失败", "ci workflows"),
        ] {
            let mut case = Case::quiet();
            case.service = Some(service);
            case.text = text;
            if !file.is_empty() {
                case.files = vec![file.to_owned()];
            }
            let route = case.route();
            assert_eq!(areas(&route), [area], "{service} {file} {text}");
            assert_eq!(
                (route.tier, route.escalated, route.score),
                (Tier::Capable, true, None)
            );
        }
    }

    #[test]
    fn r25_patterns_of_the_registry_belong_to_their_service() {
        let mut case = Case::quiet();
        case.registry = Registry::from_names(["search", "ledger"]);
        if let Some(ledger) = case.registry.services.get_mut(1) {
            ledger.high_risk = vec!["booking".into(), "对账".into(), " ".into()];
        }
        case.text = "booking is slow";
        assert!(areas(&case.route()).is_empty(), "another service's pattern");
        case.service = Some("ledger");
        assert_eq!(areas(&case.route()), ["booking"]);
        case.text = "bookings are slow";
        assert!(areas(&case.route()).is_empty(), "whole words");
        case.text = "对账任务失败";
        assert_eq!(areas(&case.route()), ["对账"]);
        case.service = None;
        case.text = "the ledger fails while booking";
        assert_eq!(areas(&case.route()), ["booking"]);
    }

    #[test]
    fn r25_no_score_undoes_a_reason() {
        let proven = memory([past(
            4,
            0.95,
            Grade::DirectMatch,
            &[("Restart", Outcome::Held)],
        )]);
        let mut case = Case::quiet();
        case.memory = proven;
        assert_eq!(case.route().tier, Tier::Fast);
        for severity in [Severity::Sev1, Severity::Sev2] {
            case.severity = severity;
            let route = case.route();
            assert_eq!(route.tier, Tier::Capable);
            assert!(route.escalated);
            assert_eq!(route.reasons, [RouteReason::Severity(severity)]);
        }
    }

    #[test]
    fn r25_a_refuted_fix_in_play() {
        let held = |number| {
            past(
                number,
                0.9,
                Grade::DirectMatch,
                &[("Restart the indexer", Outcome::Held)],
            )
        };
        let cases = [
            (
                "another fix failed first, and nobody offers it",
                memory([past(
                    4,
                    0.9,
                    Grade::DirectMatch,
                    &[
                        ("Grow the heap", Outcome::NoEffect),
                        ("Restart", Outcome::Held),
                    ],
                )]),
                vec![],
            ),
            (
                "an analogy's failure",
                memory([past(
                    4,
                    0.9,
                    Grade::Analogy,
                    &[("Restart", Outcome::MadeWorse)],
                )]),
                vec![],
            ),
            (
                "a low memory's failure",
                memory([past(4, 0.9, Grade::Low, &[("Restart", Outcome::MadeWorse)])]),
                vec![],
            ),
            (
                "the fix of a direct incident failed",
                memory([past(
                    4,
                    0.9,
                    Grade::DirectMatch,
                    &[("Restart", Outcome::CameBack)],
                )]),
                vec![Some(4)],
            ),
            (
                "held in one, failed in another",
                memory([
                    held(4),
                    past(
                        5,
                        0.8,
                        Grade::DirectMatch,
                        &[
                            ("Restart the indexer", Outcome::NoEffect),
                            ("Grow the heap", Outcome::Held),
                        ],
                    ),
                ]),
                vec![Some(5)],
            ),
        ];
        for (name, memory, expected) in cases {
            let mut case = Case::quiet();
            case.memory = memory;
            let refuted: Vec<Option<u32>> = case
                .route()
                .reasons
                .iter()
                .filter_map(|reason| match reason {
                    RouteReason::RefutedFix(id) => Some(id.map(IncidentId::number)),
                    _ => None,
                })
                .collect();
            assert_eq!(refuted, expected, "{name}");
            assert_eq!(case.route().escalated, !expected.is_empty(), "{name}");
        }
    }

    #[test]
    fn r26_the_score() {
        let one = |similarity, outcome| {
            memory([past(
                4,
                similarity,
                Grade::DirectMatch,
                &[("Restart", outcome)],
            )])
        };
        let files = |count: usize| (0..count).map(|i| format!("src/f{i}.rs")).collect();
        let table: Vec<(&str, Memory, usize, Vec<String>, i32)> = vec![
            ("nothing", no_match(), 0, vec![], 30),
            ("disabled", Memory::Disabled, 0, vec![], 30),
            ("unavailable", Memory::Unavailable, 0, vec![], 30),
            ("verified, alike", one(0.8, Outcome::Held), 0, vec![], 75),
            ("verified", one(0.79, Outcome::Held), 0, vec![], 60),
            ("mitigated", one(0.9, Outcome::Mitigated), 0, vec![], 45),
            ("unknown", one(0.9, Outcome::Unknown), 0, vec![], 45),
            ("refuted", one(0.9, Outcome::NoEffect), 0, vec![], 5),
            (
                "no fix at all",
                memory([past(4, 0.9, Grade::DirectMatch, &[])]),
                0,
                vec![],
                30,
            ),
            (
                "an analogy",
                memory([past(4, 0.9, Grade::Analogy, &[("Restart", Outcome::Held)])]),
                0,
                vec![],
                30,
            ),
            (
                "the best of two",
                memory([
                    past(4, 0.9, Grade::DirectMatch, &[("A", Outcome::Unknown)]),
                    past(5, 0.6, Grade::DirectMatch, &[("B", Outcome::Held)]),
                ]),
                0,
                vec![],
                60,
            ),
            ("200 lines", one(0.8, Outcome::Held), 200, vec![], 75),
            ("201 lines", one(0.8, Outcome::Held), 201, vec![], 65),
            ("one file", one(0.8, Outcome::Held), 0, files(1), 75),
            (
                "one file, twice",
                one(0.8, Outcome::Held),
                0,
                vec!["a.rs".into(), "a.rs".into()],
                75,
            ),
            ("four files", one(0.8, Outcome::Held), 0, files(4), 60),
            ("five files", one(0.8, Outcome::Held), 0, files(5), 55),
            ("fifty files", one(0.8, Outcome::Held), 0, files(50), 55),
            ("both", one(0.8, Outcome::Held), 900, files(50), 45),
        ];
        for (name, memory, log_lines, files, expected) in table {
            let mut case = Case::quiet();
            case.memory = memory;
            case.log_lines = log_lines;
            case.files = files;
            assert_eq!(score(&case.input()).0, expected, "{name}");
            let route = case.route();
            if !route.escalated {
                assert_eq!(route.score, Some(expected), "{name}");
                assert_eq!(
                    route.tier,
                    if expected >= 60 {
                        Tier::Fast
                    } else {
                        Tier::Capable
                    },
                    "{name}"
                );
            }
        }
    }

    #[test]
    fn r27_after_a_failed_attempt() {
        let mut case = Case::quiet();
        case.memory = memory([past(
            4,
            0.95,
            Grade::DirectMatch,
            &[("Restart", Outcome::Held)],
        )]);
        case.own = vec![
            FixAttempt::new("Flush the cache", Outcome::Mitigated),
            FixAttempt::new("Grow the heap", Outcome::Unknown),
        ];
        assert!(!case.route().escalated);
        case.own
            .push(FixAttempt::new("Grow the heap", Outcome::NoEffect));
        let route = case.route();
        assert!(route.escalated);
        assert!(route.reasons.contains(&RouteReason::AfterFailure(1)));
        for (refuted, expected) in [
            (0, AfterFailure::Reanalyse),
            (1, AfterFailure::Reanalyse),
            (2, AfterFailure::Reanalyse),
            (3, AfterFailure::EscalateToPeople),
            (4, AfterFailure::EscalateToPeople),
        ] {
            assert_eq!(next_after_failures(refuted), expected);
        }
    }
}

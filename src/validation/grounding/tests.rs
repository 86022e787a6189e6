//! Claims against reports and memories: what stays, what goes, and how.

use super::*;
use crate::incident::FixAttempt;
use crate::incident::Outcome;

const REPORT: &str = "payments-api is returning intermittent 503s since 02:41 UTC, about 12% of POST /v1/charges.\n\
    HikariPool-1 - Connection is not available, request timed out after 30000ms.\n\
    hikaricp_connections_active 20, hikaricp_connections_pending 61\n\
    数据库连接池使用率 30%。网关返回 429。";

fn grounds() -> Grounds {
    let mut direct = PastIncident::new(
        IncidentId::new(12).expect("not zero"),
        "pool exhausted on payments-api",
    );
    direct.attempts = vec![FixAttempt::new(
        "Raise maximumPoolSize to 40 and delete pod notify-go-6d9f7c5b4-x2k8q",
        Outcome::Held,
    )];
    let mut analogy = PastIncident::new(
        IncidentId::new(43).expect("not zero"),
        "too many open files",
    );
    analogy.service = Some("voice-bridge".into());
    analogy.root_cause =
        "PresenceRelayPool.acquire() never returns sockets; queue relay-out, --max-idle".into();
    Grounds::new(
        REPORT,
        Some("payments-api"),
        &[],
        &[&direct],
        &[&analogy],
        "(not in evidence)",
    )
}

fn check(claim: &str, place: Place) -> String {
    let cited = [IncidentId::new(12).expect("not zero")];
    grounds().check(claim, &cited, place).text
}

#[test]
fn r20_what_is_not_grounded_goes() {
    for (claim, place, expected) in [
        (
            "About 45% of charges fail and 610 requests wait. Postgres is idle.",
            Place::Clause,
            "Postgres is idle.",
        ),
        (
            "Check whether p99 is over 45 s.",
            Place::Body,
            "Check whether p99 is over (not in evidence).",
        ),
        (
            "See OrderPaymentProcessor first. Then compare.",
            Place::Body,
            "Then compare.",
        ),
        (
            "Connection leak in OrderPaymentProcessor",
            Place::Title,
            "Connection leak",
        ),
        ("OrderPaymentProcessor", Place::Title, ""),
        (
            "Relay refuses 97% of mail",
            Place::Title,
            "Relay refuses mail",
        ),
        ("Pool full at about 98 %", Place::Title, "Pool full"),
        ("连接池使用率高达 98%", Place::Title, "连接池使用率"),
        ("kubectl logs deployment/ledger-worker", Place::Command, ""),
        ("since 02:14 UTC", Place::Clause, ""),
        ("错误率 45%，重试可成功。", Place::Clause, "重试可成功。"),
        ("连接池使用率 80%", Place::Clause, ""),
        ("Restart redis-cluster-3", Place::Body, ""),
        ("version 3.9.2 is broken", Place::Clause, ""),
        ("ECONNRESET storms", Place::Title, ""),
    ] {
        assert_eq!(check(claim, place), expected, "{claim}");
    }
}

#[test]
fn r20_one_time_in_many_spellings() {
    let report = "2026-11-30T02:41:07Z pool is full\nvendor status at 1:18 PM PST: degraded\nsince 北京时间 10:20, rebooted 2026-11-28 09:40 UTC; 12 of 2.13.0, 10.4.2.9, 19:22";
    let basis = Basis::new(report);
    let holds = |claim: &str| {
        let chars: Vec<char> = claim.chars().collect();
        tokens(&chars, false).iter().all(|token| match &token.kind {
            TokenKind::Clock(clock, instant) => basis.holds_time(clock, *instant),
            TokenKind::Number(quantity) => basis.holds_quantity(quantity),
            _ => false,
        })
    };
    for claim in [
        "at 02:41",
        "at 2:41",
        "on 2026-11-30",
        "at 02:41:07",
        "2026-11-30T02:41:07Z",
        "2026-11-30T02:41Z",
        "at 1:18 PM",
        "at 1:18pm",
        "at 13:18",
        "UTC 02:20",
        "10:20",
        "10:41 北京时间",
        "12 pods",
        "at 09:40 UTC",
        "at 9:40 AM",
    ] {
        assert!(holds(claim), "{claim}");
    }
    for claim in [
        "at 02:14",
        "at 1:18 AM",
        "at 14:41",
        "2026-11-30T02:42Z",
        "UTC 10:20",
        "19 s",
        "22 pods",
        "13 nodes",
        "10 GB",
        "41 pods",
    ] {
        assert!(!holds(claim), "{claim}");
    }
}

#[test]
fn r6_internals_of_an_analogy_go() {
    for (claim, place, expected) in [
        (
            "As on voice-bridge, PresenceRelayPool.acquire() in payments-api leaks sockets.",
            Place::Clause,
            "",
        ),
        ("Patch PresenceRelayPool.acquire()", Place::Body, ""),
        ("Look at the queue relay-out", Place::Body, ""),
        (
            "Sockets are never closed, as on voice-bridge",
            Place::Title,
            "Sockets are never closed, as on voice-bridge",
        ),
    ] {
        let grounded = grounds().check(claim, &[], place);
        assert_eq!(grounded.text, expected, "{claim}");
        assert_eq!(grounded.rules.contains(&"R6"), expected != claim, "{claim}");
    }
}

#[test]
fn r20_what_changes_from_outage_to_outage_becomes_a_placeholder() {
    assert_eq!(
        check("delete pod notify-go-6d9f7c5b4-x2k8q", Place::Body),
        "delete pod <current pod>"
    );
}

#[test]
fn r20_clean_claims_pass_untouched() {
    for (claim, place) in [
        (
            "Charges wait for a JDBC connection from HikariPool-1; 12% of POST /v1/charges fail.",
            Place::Clause,
        ),
        (
            "Compare hikaricp_connections_active with hikaricp_connections_pending on each pod",
            Place::Body,
        ),
        ("Raise maximumPoolSize to 40", Place::Body),
        (
            "kubectl -n payments logs deployment/payments-api --tail=200",
            Place::Command,
        ),
        (
            "psql -c \"SELECT pid, state, now() - xact_start AS age FROM pg_stat_activity\"",
            Place::Command,
        ),
        ("Intermittent 503s with p99 at 30 s", Place::Title),
        ("pods settle within 5 minutes", Place::Timed),
        ("5 分钟内 429 与 503 一起回落", Place::Timed),
        (
            "查看网关 429 计数是否与 payments-api 的 503 同步上升",
            Place::Body,
        ),
        (
            "Read-only check of long-running queries, e.g. in PostgreSQL",
            Place::Body,
        ),
        ("since 02:41 UTC", Place::Clause),
        ("the pool is at 30 %", Place::Clause),
    ] {
        assert_eq!(check(claim, place), claim, "{claim}");
    }
}

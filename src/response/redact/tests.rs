use super::*;
use proptest::prelude::*;

fn key() -> Key {
    Key::new([7; 32])
}

/// Test secrets are put together here, so that no scanner takes the file for a leak.
fn join(parts: &[&str]) -> String {
    parts.concat()
}

fn kinds(text: &str) -> Vec<&'static str> {
    redact(text, &key()).struck.into_keys().collect()
}

#[test]
fn the_words_of_all_rules_are_searched() {
    assert!(WORDS.search.is_some());
    assert!(super::kinds().len() > 100);
}

#[test]
fn r22_what_helps_the_diagnosis_stays() {
    for text in [
        "",
        "10.0.3.4:5432 and 192.168.1.1 and fd00::1",
        "host db-1.payments.svc.cluster.local, node ip-10-0-3-4.ec2.internal",
        "trace_id=4bf92f3577b34da6a3ce929d0e0e4736 span 00f067aa0ba902b7",
        "request 123e4567-e89b-12d3-a456-426614174000",
        "commit 3f9c2abd5e6f7a8b9c0d1e2f3a4b5c6d7e8f9a0b",
        "2026-11-30 02:41:07.113 ERROR 1732934467113",
        "password: expired",
        "Password is required",
        "token: invalid",
        "max_tokens=4096",
        "password=${DB_PASSWORD}",
        "password=****",
        "deployment@db-1.internal",
        "git@github.com:acme/shop.git",
        "blk_-4532015112830366 size 13912345678",
        "nginx@1.25.3 and getty@tty1.service",
        "密码错误",
        "order 4532015112830367",
        "HikariPool-1 - Connection is not available, request timed out after 30000ms",
        "secretKeyRef: payments-db-credentials",
        "at com.acme.auth.TokenService.refresh(TokenService.java:42)",
    ] {
        let redacted = redact(text, &key());
        assert_eq!(redacted.text, text, "{:?}", redacted.struck);
    }
}

#[test]
fn r22_secrets_are_struck() {
    let random = "aZ3kQ9xW7mP2vL8nR4tY6uB1cD5eF0gH3jK7";
    for (text, kind) in [
        (join(&["AK", "IA", "IOSFODNN7EXAMPL3"]), "aws-access-key"),
        (
            join(&[
                "aws_secret_access_key = ",
                "wJalrXUtnFEMI/K7MDENG+bPxRfiCYzzzzzzzKEY",
            ]),
            "aws-secret-key",
        ),
        (
            join(&["AI", "za", "SyA-1234567890abcdefGHIJKLMNOPQRSTU"]),
            "gcp-api-key",
        ),
        (join(&["gh", "p_", random]), "github-token"),
        (
            join(&["gl", "pat-", "aZ3kQ9xW7mP2vL8nR4tY"]),
            "gitlab-token",
        ),
        (
            join(&["xo", "xb-", "123456789012-aZ3kQ9xW7mP2"]),
            "slack-token",
        ),
        (
            join(&["sk", "_live_", "aZ3kQ9xW7mP2vL8nR4tY"]),
            "stripe-key",
        ),
        (join(&["sk", "-proj-", random]), "model-api-key"),
        (join(&["gs", "k_", random, random]), "model-api-key"),
        (join(&["np", "m_", random]), "npm-token"),
        (
            join(&[
                "ey",
                "JhbGciOiJIUzI1NiJ9.",
                "ey",
                "JzdWIiOiIxMjM0NTY3ODkwIn0.",
                "dozjgNryP4J3jVmNHl0w5N_XgL0n3I9PlFUP0THsR8U",
            ]),
            "jwt",
        ),
        (
            join(&["postgres://app:", "hunter2", "@db-1:5432/shop"]),
            "url-password",
        ),
        (join(&["Authorization: Bearer ", random]), "authorization"),
        (
            join(&["Authorization: Basic ", "YWRtaW46aHVudGVyMg=="]),
            "authorization",
        ),
        (join(&["password=", "letmein"]), "password"),
        (join(&["DB_PASSWORD: \"", "hunter2", "\""]), "password"),
        (join(&["密码：", "hunter2"]), "password"),
        (join(&["client_secret: ", "aZ3kQ9xW7mP2vL8nR4tY"]), "secret"),
        (
            join(&["mysql -u root -p", "Sup3rS3cret", " shop"]),
            "password",
        ),
        (
            join(&[
                "MTA1",
                "MDQxNTgyMjgxNTg2NzAw",
                ".",
                "GxYz12",
                ".",
                "aZ3kQ9xW7mP2vL8nR4tY6uB1cD5eF0",
            ]),
            "discord-token",
        ),
        (
            join(&[
                "https://discord.com/api/",
                "webhooks/",
                "1050415822815867001/",
                random,
                random,
            ]),
            "webhook-url",
        ),
        (
            join(&[
                "-----BEGIN RSA PRIVATE",
                " KEY-----\nMIIEowIBAAKCAQEA\nabc\n-----END RSA PRIVATE",
                " KEY-----",
            ]),
            "private-key",
        ),
        (
            join(&[
                "-----BEGIN PRIVATE",
                " KEY-----\nMIIEowIBAAKCAQEAMIIEowIBAAKCAQEA\nMIIEowIBAAKCAQEA\n(cut off)",
            ]),
            "private-key",
        ),
    ] {
        let text = format!("before {text} after");
        let redacted = redact(&text, &key());
        assert!(
            redacted.struck.contains_key(kind),
            "{kind}: {text} -> {redacted:?}"
        );
        assert!(
            redacted.text.contains("[REDACTED ") && redacted.text.starts_with("before "),
            "{redacted:?}"
        );
        assert!(redacted.text.contains("after"), "{redacted:?}");
    }
}

#[test]
fn r22_personal_data_in_any_width() {
    for (text, kind) in [
        ("mail jane.doe@example.com please", "email"),
        ("ｊａｎｅ＠ｅｘａｍｐｌｅ．ｃｏｍ", "email"),
        ("jane [at] example [dot] com", "email"),
        ("card 4532 0151 1283 0366", "card"),
        ("卡 ４５３２０１５１１２８３０３６６", "card"),
        ("4532-0151-1283-0366", "card"),
        ("4532\u{200B}0151\u{200B}1283\u{200B}0366", "card"),
        ("IBAN DE89 3704 0044 0532 0130 00", "iban"),
        ("DE89370400440532013000", "iban"),
        ("用户手机号 13812345678 无法登录", "phone"),
        ("电话 138 1234 5678", "phone"),
        ("１３８１２３４５６７８", "phone"),
        ("+86 138-1234-5678", "phone"),
        ("call +44 20 7946 0958", "phone"),
        ("(212) 555-0142", "phone"),
        ("身份证 11010519491231002X", "cn-id"),
        ("110105 19491231 002X", "cn-id"),
        ("SSN 219-09-9999", "us-ssn"),
        ("account number 12345678901", "account-number"),
    ] {
        assert!(
            kinds(text).contains(&kind),
            "{text}: {:?}",
            redact(text, &key())
        );
    }
}

#[test]
fn r22_numbers_that_fail_their_checksum_stay() {
    for text in [
        "4532 0151 1283 0367",
        "DE88 3704 0044 0532 0130 00",
        "110105194912310021",
        "000-12-3456",
    ] {
        assert_eq!(redact(text, &key()).text, text);
    }
}

#[test]
fn r22_the_same_secret_is_the_same_placeholder() {
    let redacted = redact("4532 0151 1283 0366 and 4532015112830366", &key()).text;
    let (one, other) = redacted.split_once(" and ").expect("two");
    assert_eq!(one, other);
    let elsewhere = redact("4532015112830366", &Key::new([8; 32])).text;
    assert_ne!(one, elsewhere);
    assert!(!format!("{:?}", key()).contains('7'));
}

#[test]
fn r22_a_forged_placeholder_hides_nothing() {
    let text = join(&["password=", "[REDACTED password 0000]", "hunter2"]);
    assert!(!redact(&text, &key()).text.contains("hunter2"));
    let text = join(&[
        "-----BEGIN PRIVATE",
        " KEY-----\nMIIEow[REDACTED x 0000]IBAAKCAQEA\n-----END PRIVATE",
        " KEY-----",
    ]);
    assert!(!redact(&text, &key()).text.contains("IBAAKCAQEA"));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]

    #[test]
    fn r22_redacting_twice_changes_nothing(
        parts in proptest::collection::vec(prop_oneof![
            Just("password=".to_owned()), Just("token: ".to_owned()), Just("[REDACTED secret 12ab]".to_owned()),
            Just("4532 0151 1283 0366".to_owned()), Just("jane@example.com".to_owned()), Just("://u:".to_owned()),
            Just("-----BEGIN PRIVATE KEY-----".to_owned()), Just("13812345678".to_owned()), Just("密码：".to_owned()),
            Just("Authorization: Bearer ".to_owned()), Just("\u{F8FF}".to_owned()), Just("\u{200B}".to_owned()),
            "[ -~]{0,24}", "[a-zA-Z0-9]{8,40}", "\\PC{0,12}",
        ], 0..12)
    ) {
        let once = redact(&parts.concat(), &key());
        let twice = redact(&once.text, &key());
        prop_assert_eq!(&twice.text, &once.text);
        prop_assert!(twice.struck.is_empty());
    }

    #[test]
    fn r22_any_text_is_survived(text in "\\PC{0,400}") {
        let _ = redact(&text, &key());
    }
}

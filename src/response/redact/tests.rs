use super::*;
use proptest::prelude::*;

fn key() -> Key {
    Key::new([7; 32])
}

/// Test secrets are put together here, so that no scanner takes the file for a leak.
fn join(parts: &[&str]) -> String {
    parts.concat()
}

/// Every word that the tables have searched.
fn searched() -> Vec<&'static str> {
    let rules = |table: &'static str| {
        table
            .lines()
            .filter(|line| !line.is_empty() && !line.starts_with('#'))
    };
    let names = rules(include_str!("names.txt")).flat_map(|line| line.split(' ').skip(1));
    let formats = rules(include_str!("formats.txt"))
        .filter_map(|line| line.split_whitespace().nth(3))
        .flat_map(|words| words.split(','));
    names.chain(formats).collect()
}

fn kinds(text: &str) -> Vec<&'static str> {
    redact(text, &key()).struck.into_keys().collect()
}

#[test]
fn the_words_of_all_rules_are_searched() {
    assert!(WORDS.search.is_some());
    assert!(super::kinds().len() > 100);
    assert_eq!(FORMATS.broken(), [] as [&str; 0]);
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
        ("jane.doe@example.com.log", "email"),
        ("jane@firma.rs", "email"),
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

    // What the tables look for, in any order: each place where something is cut has its edges.
    #[test]
    fn r22_whatever_the_tables_know_is_survived_in_any_order(
        parts in proptest::collection::vec(prop_oneof![
            proptest::sample::select(searched()).prop_map(str::to_owned),
            proptest::sample::select(vec![
                "curl ", "-u", "--user", "-H ", "mysql ", "-p", "redis://", "postgres://u:p@h/d", "https://", "@",
                "kind: Secret", "data:", "stringData:", "-----BEGIN ", "PRIVATE KEY-----", "-----END ", "[REDACTED ",
                "[REDACTED secret 12ab]", "4532015112830366", "13812345678", "11010519491231002X",
                "GB82WEST12345698765432", "a@b.cc", "1.2.3.4", "\"", "'", "`", "=", ":", "：", ",", " ", "\t", "\r\n",
                "\n", "\\", "{", "}", "(", "\u{200B}", "\u{F8FF}", "é", "中", "🧵", "-", ".", "_", "/", "%40",
                "\\u0041", "\\n",
            ]).prop_map(str::to_owned),
            "[A-Za-z0-9+/=_-]{1,48}", "[0-9 -]{1,20}",
        ], 0..48)
    ) {
        let text = parts.concat();
        let once = redact(&text, &key());
        prop_assert!(redact(&once.text, &key()).struck.is_empty(), "{text:?}");
    }
}

#[test]
fn r22_what_a_log_is_made_of_stays() {
    for text in [
        "Failed password for root from 10.0.0.1 port 4242 ssh2",
        "Skipping AppWindowToken{df0798e token=Token{78af589 ActivityRecord{3b04890 u0}}}",
        "ciod: LOGIN chdir(/p/gb2/glosli/8M_5000K/t800) failed: No such file or directory",
        "Bad activity token: android.os.BinderProxy@2bd79ce",
        "sessionid = 0x155e19baa520025, negotiated timeout = 40000",
        "key.kms.server.KMSExceptionsProvider: [https-jsse-nio-9494-exec-2]: exception",
        "at getDelegationToken(WebHdfsFileSystem.java:1299)",
        "com.squareup.okhttp3:okhttp:jar:3.14.2:compile",
        "aws.credentials.provider=org.apache.hadoop.fs.s3a.TemporaryAWSCredentialsProvider",
        "<authorizationEntry queue=\">\" read=\"admins\" write=\"admins\" />",
        "partition key 3f9c2abd-0000-4000-8000-426614174000, cache key user:1234567:profile",
        "key=orders:2026-11-30:eu retry-after=30 key_buffer_size=16777216",
        "pod auth-token-service-7d9f8b6c5d-x2x9z restarted",
        "image sha256:3f9c2abd5e6f7a8b9c0d1e2f3a4b5c6d7e8f9a0b1c2d3e4f5a6b7c8d9e0f1a2b",
        "took 1234567890123 ns, lag 13912345678 messages, total $1,234,567.89, order 4532015112830366",
        "<@123456789012345678> https://discord.com/channels/123456789012345678/223456789012345678",
        "https://api.github.com/repos/acme/shop/actions/jobs/14541957942",
        "tcp://127.0.0.1:60895@60852 and ssh://git@github.com/acme/shop.git",
        "access denied for user 'app'@'10.0.3.4' (using password: YES)",
        "AKIA is how keys begin, ghp_ is the beginning of tokens that we rotate 30 times",
        "export API_KEY=$NEW_RELIC_KEY token=<your token> password=%(password)s secret: {{ .Values.x }}",
        "-----BEGIN CERTIFICATE-----\nMIIDdzCCAl+gAwIBAgIEAgAAuTANBgkqhkiG\n-----END CERTIFICATE-----",
        "密码过期，请联系管理员；令牌: 无效",
    ] {
        let redacted = redact(text, &key());
        assert_eq!(redacted.text, text, "{:?}", redacted.struck);
        assert_eq!(redacted.unread, 0);
    }
}

#[test]
fn r22_more_ways_to_paste_a_secret() {
    let token = join(&["gh", "p_", "aZ3kQ9xW7mP2vL8nR4tY6uB1cD5eF0gH3jK7"]);
    let (head, tail) = token.split_at(20);
    let wide: String = token
        .chars()
        .map(|c| char::from_u32(u32::from(c) + 0xFEE0).unwrap_or(c))
        .collect();
    let between = |sign: &str| {
        token
            .chars()
            .map(|c| format!("{c}{sign}"))
            .collect::<String>()
    };
    let plain = redact(&token, &key()).text;
    for text in [
        format!("{head}\n{tail}"),
        format!("{head}\\\n    {tail}"),
        format!("\"{head}\" +\n \"{tail}\""),
        format!("> {head}\n> {tail}"),
        wide,
        between("\u{200B}"),
        between("\u{00AD}"),
        // UTF-16 that was read as something else.
        between("\0"),
    ] {
        let redacted = redact(&text, &key()).text;
        assert!(
            !redacted.contains(tail) && !redacted.contains(head),
            "{text:?} -> {redacted:?}"
        );
        // However it is split, it is the same secret.
        assert!(redacted.contains(&plain), "{text:?} -> {redacted:?}");
    }
}

#[test]
fn r22_nothing_hides_in_the_escapes_of_an_answer() {
    for (answer, shown) in [
        (
            r#"{"a":"\u0070assword\u003dhunter2"}"#,
            r#"{"a":"password=[REDACTED password f26b]"}"#,
        ),
        (
            r#"{"a":"\\u0040 \u0022 \u005c \n \u00e9"}"#,
            r#"{"a":"\\u0040 \u0022 \u005c \n é"}"#,
        ),
        (r"\u00", r"\u00"),
        (r"\ud83d\u", r"\ud83d\u"),
        ("\\", "\\"),
    ] {
        let redacted = redact_answer(answer, &key()).text;
        let same = |text: &str| text.split("[REDACTED password ").next().map(str::to_owned);
        assert_eq!(same(&redacted), same(shown), "{answer}");
        assert!(!redacted.contains("hunter2"));
    }
}

#[test]
fn r22_equal_in_an_incident_and_in_no_other() {
    let installation = Key::new([7; 32]);
    let first = installation.of_incident("1", "100");
    let second = installation.of_incident("1", "200");
    let struck = |key: &Key| redact("mail jane@example.com", key).text;
    assert_eq!(
        struck(&first),
        struck(&installation.of_incident("1", "100"))
    );
    // Whatever scope a key was made from.
    assert_eq!(struck(&first), struck(&second.of_incident("1", "100")));
    assert_ne!(struck(&first), struck(&second));
    assert_ne!(struck(&first), struck(&installation.of_guild("1")));
    assert_ne!(struck(&installation), struck(&installation.of_guild("1")));
}

#[test]
fn r22_what_is_not_clean_in_the_end_goes_whole() {
    let text = join(&[
        "fine\nlogin jane@example.com pass",
        "word=hunter2\nfine too",
    ]);
    let redacted = redact_within(&text, &key(), 0);
    assert!(redacted.unread > 0 && has_unread(&redacted.text));
    assert!(!redacted.text.contains("hunter2") && !redacted.text.contains("jane"));
    assert!(
        redacted.text.starts_with("fine\n[REDACTED unread ")
            && redacted.text.ends_with("\nfine too")
    );
    assert_eq!(redact(&redacted.text, &key()).text, redacted.text);
    assert!(!has_unread(&redact(&text, &key()).text));
    assert!(!has_unread("[REDACTED unread] and unread 0000]"));
    let struck = redact(
        "jane@example.com and joe@example.com, password=hunter2",
        &key(),
    )
    .text;
    assert_eq!(
        struck_in(&struck).into_iter().collect::<Vec<_>>(),
        [("email", 2), ("password", 1)]
    );
    let huge = "a".repeat(MAX_BYTES + 1);
    assert!(redact(&huge, &key()).unread > 0);
}

#[test]
fn r22_a_kubernetes_secret_loses_its_values_and_keeps_its_names() {
    let text = "apiVersion: v1\nkind: Secret\nmetadata:\n  name: payments\ndata:\n  user: YWRtaW4=\n  pass: UyFCXCpkJHpEc2I9\ntype: Opaque\n---\nkind: ConfigMap\ndata:\n  mode: YWRtaW4=\n";
    let redacted = redact(text, &key()).text;
    assert!(!redacted.contains("UyFCXCpk"), "{redacted}");
    assert_eq!(redacted.matches("YWRtaW4=").count(), 1, "{redacted}");
    assert!(redacted.contains("name: payments") && redacted.contains("type: Opaque"));
}

#[test]
fn r22_hostile_lengths_are_read_in_time() {
    for piece in [
        "[REDACTED ",
        "password=",
        "://a:",
        "@",
        "1 ",
        "-----BEGIN PRIVATE KEY-----",
        "kind: Secret\n",
        "a@b.",
        "curl ",
        "ey",
        ".ey",
        "Q~",
        "ghp_",
        "ghp_a1 ",
        "DE89 ",
        "\u{200B}",
        "ｇ",
        "\"token\": \"",
        "key ",
        "密码：",
        "(at) ",
        "basic ",
        "PuTTY-User-Key-File-",
        "LS0tLS1CRUdJTi",
        "cookie: a=",
        "1.",
        "+1 ",
    ] {
        let text = piece.repeat(16 * 1024 / piece.len());
        let redacted = redact(&text, &key());
        let again = redact(&redacted.text, &key());
        assert_eq!(again.text, redacted.text, "{piece:?}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]

    #[test]
    fn r22_no_secret_of_a_known_form_survives(
        secret in prop_oneof![
            "AKIA[A-Z0-9]{16}", "gh[pousr]_[A-Za-z0-9]{36}", "glpat-[A-Za-z0-9]{20}", "npm_[A-Za-z0-9]{36}",
            "sk_live_[A-Za-z0-9]{24}", "hvs\\.[A-Za-z0-9]{90}", "xoxb-[0-9]{11}-[0-9]{12}-[A-Za-z0-9]{24}",
            "dop_v1_[a-f0-9]{64}", "AIza[A-Za-z0-9]{35}", "shpat_[a-f0-9]{32}", "SG\\.[A-Za-z0-9]{22}\\.[A-Za-z0-9]{43}",
        ].prop_filter("digits and letters", |text| text.bytes().filter(u8::is_ascii_digit).count() > 3),
        before in prop_oneof![Just(""), Just("token="), Just("用的是"), Just("\""), Just("(see "), Just("x: `"), Just("\n")],
        after in prop_oneof![Just(""), Just(" "), Just("\""), Just("，"), Just(")."), Just("`\n"), Just("\\n")],
    ) {
        let redacted = redact(&format!("at 02:41 {before}{secret}{after} it failed"), &key());
        prop_assert!(!redacted.text.contains(&secret), "{}", redacted.text);
        prop_assert!(redacted.text.starts_with("at 02:41 ") && redacted.text.ends_with(" it failed"));
    }

    #[test]
    fn r22_words_are_unchanged_byte_for_byte(
        words in proptest::collection::vec(prop_oneof![
            "[a-z]{1,12}", "[A-Z][a-z]{1,10}", "[0-9]{1,5}", Just("503".to_owned()), Just("10.0.3.4".to_owned()),
            Just("支付服务".to_owned()), Just("02:41".to_owned()), Just("java.net.SocketTimeoutException".to_owned()),
        ], 0..40)
    ) {
        // No word of these tells that a secret follows.
        let text = words
            .iter()
            .filter(|word| !NAMES.words.iter().any(|(name, _)| word.to_ascii_lowercase().contains(name)))
            .cloned()
            .collect::<Vec<_>>()
            .join(" ");
        prop_assert_eq!(redact(&text, &key()).text, text);
    }
}

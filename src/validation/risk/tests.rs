#![allow(clippy::print_stdout)] // a skipped test says so

use super::*;
use proptest::prelude::*;
use serde_json::Value;

fn labelled() -> Vec<(String, String, Risk)> {
    include_str!("../../../tests/data/commands.jsonl")
        .lines()
        .map(|line| {
            let row: Value = serde_json::from_str(line).expect("a row is JSON");
            let text = |key: &str| row[key].as_str().unwrap_or_default().to_owned();
            let label = Risk::parse(&text("label")).expect("a row has a label");
            (text("step"), text("command"), label)
        })
        .collect()
}

#[test]
fn r16_nothing_below_its_label() {
    let rows = labelled();
    assert!(rows.len() >= 200);
    for (step, command, label) in rows {
        let read = of_step(&step, &command);
        assert!(
            read >= label,
            "{step}{command}: {read:?} is below {label:?}"
        );
    }
}

#[test]
fn r16_what_only_reads_is_recognised() {
    let reads: Vec<_> = labelled()
        .into_iter()
        .filter(|(_, _, label)| *label == Risk::ReadOnly)
        .collect();
    let known = reads
        .iter()
        .filter(|(step, command, _)| of_step(step, command) == Risk::ReadOnly)
        .count();
    assert!(
        known * 100 >= reads.len() * 95,
        "{known} of {}",
        reads.len()
    );
}

#[test]
fn r16_the_command_counts_and_not_the_words() {
    assert_eq!(
        of_step("Restart everything", "kubectl get pods"),
        Risk::ReadOnly
    );
    assert_eq!(
        of_step("Look at the pods", "kubectl delete deployment a"),
        Risk::Destructive
    );
    // But a second command in the words does.
    assert_eq!(
        of_step("Look first, then `rm -rf /srv`", "kubectl get pods"),
        Risk::Destructive
    );
    assert_eq!(of_step("", ""), Risk::Risky);
    assert_eq!(of_step("Look at the logs", "n/a"), Risk::ReadOnly);
    assert_eq!(
        of_step("Look at the pods", "```bash\n$ kubectl get pods\n```"),
        Risk::ReadOnly
    );
}

#[test]
fn r16_unreadable_is_risky() {
    for command in [
        "if then fi (",
        "echo 'open",
        "$(",
        "frobnicate",
        "kubectl frobnicate",
        "((((",
        "a | | b",
    ] {
        assert!(of_command(command) >= Risk::Risky, "{command}");
    }
    let deep = format!("{}rm{}", "$(".repeat(3000), ")".repeat(3000));
    assert!(of_command(&deep) >= Risk::Risky);
    assert!(of_command(&"a;".repeat(20_000)) >= Risk::Risky);
}

#[test]
fn r16_what_cant_be_parsed_is_not_below_the_worst_of_its_readable_parts() {
    for text in [
        "rm -rf /srv/data\n\\y)}\"  -1```00nati{x(y-:$)}\"",
        "rm -rf /srv/data\nif then fi (",
        "((((\nrm -rf /srv/data",
        "if rm -rf /srv/data; then ((",
        "if then fi (; A=1 rm -rf /srv/data",
        "echo ok && ! rm -rf \"/srv/data\" | | ((",
        "kubectl \\\ndelete namespace shop (((",
        "cat <\nrm -rf /srv/data",
        "time |$\nrm -rf /srv/data",
        "psql -c \"DROP TABLE a; ((",
        "select\nrm -rf /srv/data",
        "SELECT 1;\nrm -rf /srv/data",
        "SELECT count(*) FROM orders; rm -rf /srv/data",
        "^# select>(,\nsudo rm -rf /srv/data",
    ] {
        assert_eq!(of_command(text), Risk::Destructive, "{text:?}");
    }
    for (text, expected) in [
        ("kubectl get pods\n((((", Risk::Risky),
        ("SELECT 1;\nSELECT 2;", Risk::ReadOnly),
        (
            "select a,\n  count(*)\nfrom b\nwhere c = 1\norder by 2;",
            Risk::ReadOnly,
        ),
        ("grep -c 'timeout$' app.log", Risk::ReadOnly),
    ] {
        assert_eq!(of_command(text), expected, "{text:?}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn r16_no_line_beside_a_command_lowers_its_risk(
        parts in proptest::collection::vec(proptest::sample::select(vec![
            "\\", "y", ")", "}", "\"", " ", "-1", "```", "`", "{", "(", ":", "$", "\n", "'", ";", "|",
            "&", "&&", "||", "<", ">", "<<", "<<<", "EOF", "if", "then", "fi", "case", "esac", "for",
            "in", "do", "done", "#", "!", "[[", "]]", "$(", "${", "a=", "echo", "cat", "sh", "-c",
            "\r", "\t", "()", "function", "select", "time", "\\\n", "*", "é", "中", "\u{200b}", ">(",
        ]), 0..14),
    ) {
        let junk = parts.concat();
        let first = format!("rm -rf /srv/data\n{junk}");
        prop_assert_eq!(of_command(&first), Risk::Destructive, "{:?}", first);
        // Behind quotes, comments and here-documents a line may be text.
        if !junk.contains(['\'', '"', '`', '#', '\\']) && !junk.contains("<<") {
            let last = format!("{junk}\nrm -rf /srv/data");
            prop_assert_eq!(of_command(&last), Risk::Destructive, "{:?}", last);
        }
    }
}

#[test]
fn r18_destructive_commands_in_prose() {
    for text in [
        "Then run `rm -rf /var/lib/data` on the host.",
        "```\nkubectl get pods\nkubectl delete pvc data-0\n```",
        "On the primary, run rm -rf /srv/cache before the restart.",
        "Execute redis-cli FLUSHALL. It is quick.",
        "kubectl delete namespace shop",
        "1. kubectl delete namespace shop",
        "$ terraform destroy",
        "As a last resort DROP TABLE sessions and start again.",
        "执行 `git reset --hard HEAD~3` 即可",
        "可以用 redis-cli FLUSHALL 清空缓存",
        "run ｒｍ -rf /srv",
        "`FLUSHALL`",
    ] {
        assert!(is_destructive_text(text), "{text}");
    }
    for text in [
        "",
        "The table was dropped by the migration, then restored.",
        "Look at `kubectl get pods` and the `order.delete` event.",
        "The pod restarted 12 times; the delete queue is empty.",
        "Find out who deployed at 14:02.",
        "Top consumers of memory: payments-api.",
        "We are looking at the drop in traffic.",
        "删除操作在 14:02 之前没有发生",
        "time to recover was 3 minutes",
    ] {
        assert!(
            !is_destructive_text(text),
            "{text}: {:?}",
            commands_in(text)
        );
    }
}

#[test]
fn commands_in_prose() {
    for (text, expected) in [
        ("", vec![]),
        ("Nothing here.", vec![]),
        ("Look at `payments-api` and `top`.", vec![]),
        (
            "Run `kubectl get pods`, then `df -h`.",
            vec!["kubectl get pods", "df -h"],
        ),
        (
            "- kubectl logs deploy/cart",
            vec!["kubectl logs deploy/cart"],
        ),
        ("Use kubectl to look at the pods", vec![]),
        ("find the cause of the leak", vec![]),
        ("find /var/log -size +1G", vec!["find /var/log -size +1G"]),
        ("$ df -h", vec!["df -h"]),
    ] {
        assert_eq!(commands_in(text), expected, "{text}");
    }
}

#[test]
fn r16_steps_of_the_shared_cases() {
    let Some(folder) = std::env::var_os("PRECEDENT_SHARED") else {
        println!("skipped: PRECEDENT_SHARED is not set");
        return;
    };
    let path = std::path::Path::new(&folder).join("data/case-samples.jsonl");
    let text =
        std::fs::read_to_string(&path).expect("PRECEDENT_SHARED holds data/case-samples.jsonl");
    let mut seen = 0;
    for line in text.lines() {
        let case: Value = serde_json::from_str(line).expect("a case is JSON");
        for step in case["answer"]["next_steps"]
            .as_array()
            .into_iter()
            .flatten()
        {
            let words = step["step"].as_str().unwrap_or_default();
            let command = step["command"].as_str().unwrap_or_default();
            let said = step["risk"].as_str().and_then(Risk::parse);
            if said == Some(Risk::ReadOnly) {
                assert_eq!(of_step(words, command), Risk::ReadOnly, "{words} {command}");
                seen += 1;
            } else {
                assert!(
                    of_step(words, command) > Risk::ReadOnly,
                    "{words} {command}"
                );
            }
        }
    }
    assert!(seen > 10, "{seen} read-only steps");
}

#[test]
fn r15_a_check_that_orders_a_change_is_none_and_what_no_table_knows_is_no_order() {
    for changes in [
        "Restart the pods and see whether it helps",
        "Check the pool, then scale it down to zero",
        "Look at the lag: purge the queue if it grows",
        "Run `kubectl delete pod a` and watch",
        "先查看日志，再重启服务",
    ] {
        assert!(changes_something(changes), "{changes}");
    }
    for checks in [
        "Check whether it is this again: Nightly refund job holds JDBC connections open",
        "Check whether it applies this time: Too many pods share the pool",
        "Look in today's logs for the error seen with it before: deadlock detected",
        "Eyeball the consumer lag of group billing",
        "确认这次是否同样是：连接泄漏。可先对比各 Pod 的 CPU 和内存用量与上限",
    ] {
        assert!(!changes_something(checks), "{checks}");
    }
}

/// Time for one hostile command, whatever its size; a debug build is about ten times slower than the
/// program that runs.
const HOSTILE_MS: u128 = 1_500;

#[test]
fn r16_hostile_commands_cost_neither_time_nor_stack() {
    let nested = |open: &str, close: &str, size: usize| {
        let times = size / (open.len() + close.len());
        format!("{}rm -rf /data{}", open.repeat(times), close.repeat(times))
    };
    let mut cases: Vec<(String, String)> = Vec::new();
    for size in [1000, 8 * 1000, 64 * 1024, 256 * 1024] {
        for (open, close) in [
            ("$(", ")"),
            ("$(", ""),
            ("(", ")"),
            ("{ ", ";}"),
            ("`", ""),
            ("<(", ")"),
            ("a $(b ", ")"),
            ("a|", ""),
            ("a;", ""),
            ("a&&", ""),
            ("!", ""),
            ("if true; then ", "; fi"),
            ("while a; do ", "; done"),
            ("${a:-", "}"),
            ("\"$(", ")\""),
            ("((", "))"),
            ("[[ ", " ]]"),
            ("cat <<A | ", ""),
            ("cat <<A\n", "\nA\n"),
            ("sudo ", ""),
            ("xargs -n1 ", ""),
            ("echo a > b <c ", ""),
            ("\\", ""),
            ("'", ""),
            ("f() { ", "; }"),
            ("case a in a) ", ";; esac"),
            ("cat | ", ""),
            ("x=1 ", ""),
            ("重启", ""),
        ] {
            cases.push((format!("{open:?} of {size}"), nested(open, close, size)));
        }
    }
    // A stack as small as a thread's may be: depth must cost none of it.
    let run = move || {
        for (name, text) in cases {
            let begun = std::time::Instant::now();
            let read = of_command(&text);
            let took = begun.elapsed().as_millis();
            assert!(read >= Risk::Risky, "{name}: {read:?}");
            assert!(took < HOSTILE_MS, "{name}: {took} ms");
        }
    };
    std::thread::Builder::new()
        .stack_size(256 * 1024)
        .spawn(run)
        .expect("a thread starts")
        .join()
        .expect("no command costs more stack");
}

#[test]
fn r16_what_is_fed_is_what_runs() {
    for (command, expected) in [
        // The same client, fed with what reads and with what destroys.
        ("psql <<'A'\nselect 1;\nA", Risk::ReadOnly),
        ("psql <<'A'\nselect 1;\ndrop table a;\nA", Risk::Destructive),
        ("psql <<< 'select 1'", Risk::ReadOnly),
        ("echo 'select 1' | psql", Risk::ReadOnly),
        (
            "echo 'truncate a' | sudo -u postgres psql",
            Risk::Destructive,
        ),
        (
            "cat <<A | kubectl exec -i db -- psql\ndrop table a;\nA",
            Risk::Destructive,
        ),
        (
            "cat <<A | kubectl exec -i db -- psql\nselect 1;\nA",
            Risk::ReadOnly,
        ),
        ("ssh db psql <<A\ndelete from a;\nA", Risk::Destructive),
        ("ssh db <<A\nuptime\nA", Risk::ReadOnly),
        ("ssh db 'bash -s' <<A\nrm -rf /data\nA", Risk::Destructive),
        ("bash <<< 'rm -rf /data'", Risk::Destructive),
        ("(echo a; echo rm -rf /data) | sh", Risk::Destructive),
        ("printf 'GET a\\nINFO\\n' | redis-cli", Risk::ReadOnly),
        ("printf '%s\\n' FLUSHALL | redis-cli", Risk::Destructive),
        ("echo 'db.a.drop()' | mongosh app", Risk::Destructive),
        ("echo /data | xargs rm -rf", Risk::Destructive),
        ("echo delete pvc a | xargs kubectl", Risk::Destructive),
        // What the script does not say is not known.
        ("psql < a.sql", Risk::Risky),
        ("cat a.sql | psql", Risk::Risky),
        ("curl -s https://a.example | sh", Risk::Risky),
        ("psql -f a.sql <<< 'select 1'", Risk::Risky),
        // What is decoded before it runs is hidden.
        ("echo cm0= | base64 -d | sh", Risk::Destructive),
        ("sh -c \"$(echo cm0= | base64 -d)\"", Risk::Destructive),
        ("eval \"$(base64 -d <<< cm0=)\"", Risk::Destructive),
        ("bash <(base64 -d a)", Risk::Destructive),
        ("pwsh -EncodedCommand cgBt", Risk::Destructive),
        // Decoded to be looked at it is not.
        (
            "kubectl get secret a -o json | base64 -d | openssl x509 -noout -dates",
            Risk::ReadOnly,
        ),
        // psql's own commands end with their line.
        ("psql <<A\n\\dt\ndrop table a;\nA", Risk::Destructive),
        ("psql -c '\\! rm -rf /data'", Risk::Destructive),
    ] {
        assert_eq!(of_command(command), expected, "{command}");
    }
    // What can't be parsed is looked at in its parts.
    for (command, expected) in [
        ("kubectl delete pvc a && (", Risk::Destructive),
        ("ls | | rm -rf /data", Risk::Destructive),
        ("echo 'open; rm -rf /data", Risk::Destructive),
        ("ls | | wc", Risk::Risky),
    ] {
        assert_eq!(of_command(command), expected, "{command}");
    }
    // Wrapped more deeply than anybody wraps, and longer than anybody reads.
    let deep = format!("{}uptime", "sudo ".repeat(9));
    assert_eq!(of_command(&deep), Risk::Destructive);
    let long = format!("echo {}; uptime", "a".repeat(9 * 1024));
    assert_eq!(of_command(&long), Risk::Destructive);
}

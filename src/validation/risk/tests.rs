#![allow(clippy::print_stdout)] // a skipped test says so

use super::*;
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

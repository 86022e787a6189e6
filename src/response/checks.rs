//! Standard read-only checks by kind of failure (R16, R23).
//!
//! Wanted: an on-call engineer who knows nothing yet can do each of them at once, and none of them
//! changes anything. A command stands only where it is the same for everybody; what has to be filled
//! in is a `<placeholder>`. A service's name is used only where it was given.
//!
//! Deliberately absent: names of components, guesses about labels, hosts or paths, thresholds.

use crate::incident::{FailureClass, Locale};

/// One check.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Check {
    /// What to look at, in the language asked for.
    pub step: String,
    /// The command; empty where it would be a guess.
    pub command: String,
}

/// A row of the table: English, Chinese, command.
type Row = (&'static str, &'static str, &'static str);

/// The standard checks of a kind of failure, at least four, in the order in which they tell most.
///
/// The service's name goes into a command only where it is a plain name (letters, digits, `-`, `_`,
/// `.`): otherwise the placeholder stays.
pub fn standard(class: FailureClass, locale: Locale, service: Option<&str>) -> Vec<Check> {
    let name = service.filter(|name| is_plain(name)).unwrap_or("<service>");
    rows(class)
        .iter()
        .map(|(en, zh, command)| Check {
            step: match locale {
                Locale::En => (*en).to_owned(),
                Locale::Zh => (*zh).to_owned(),
            },
            command: command.replace("<service>", name),
        })
        .collect()
}

fn is_plain(name: &str) -> bool {
    (1..=63).contains(&name.len())
        && !name.starts_with('-')
        && name
            .bytes()
            .all(|b| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'_' | b'.'))
}

const LOGS: &str = "kubectl -n <namespace> logs deployment/<service> --tail=200";
const PODS: &str = "kubectl -n <namespace> get pods";

fn rows(class: FailureClass) -> &'static [Row] {
    match class {
        FailureClass::Deploy => DEPLOY,
        FailureClass::Saturation => SATURATION,
        FailureClass::Dependency => DEPENDENCY,
        FailureClass::RateLimit => RATE_LIMIT,
        FailureClass::Disk => DISK,
        FailureClass::Memory => MEMORY,
        FailureClass::Certificate => CERTIFICATE,
        FailureClass::Dns => DNS,
        FailureClass::Database => DATABASE,
        FailureClass::Queue => QUEUE,
        FailureClass::Configuration => CONFIGURATION,
        FailureClass::Data => DATA,
        FailureClass::Network => NETWORK,
        FailureClass::Unknown => UNKNOWN,
    }
}

const DEPLOY: &[Row] = &[
    (
        "Compare the time of the last rollout with the start of the impact",
        "对比最近一次发布的时间与影响开始的时间",
        "kubectl -n <namespace> rollout history deployment/<service>",
    ),
    (
        "Check whether the new pods start and become ready",
        "查看新 Pod 是否正常启动并就绪",
        PODS,
    ),
    (
        "Read the errors that the new version logs",
        "查看新版本日志中的错误",
        LOGS,
    ),
    (
        "List what the last release changed: code, configuration, schema, dependencies",
        "列出最近一次发布改动了什么：代码、配置、表结构、依赖",
        "",
    ),
    (
        "Compare the error rate of old and new instances where both run",
        "新旧实例并存时，对比两者的错误率",
        "",
    ),
];

const SATURATION: &[Row] = &[
    (
        "Compare CPU and memory use of the pods with their limits",
        "对比各 Pod 的 CPU 和内存用量与上限",
        "kubectl -n <namespace> top pods",
    ),
    (
        "Compare active and maximum threads or connections of the pools",
        "对比线程池、连接池的活跃数与上限",
        "",
    ),
    (
        "Compare the request rate now with the same time yesterday",
        "对比当前请求量与昨天同一时间",
        "",
    ),
    (
        "Find which requests take longest, and what they wait for",
        "找出最慢的请求以及它们在等待什么",
        LOGS,
    ),
    (
        "Check whether the autoscaler has reached its maximum",
        "查看自动扩缩容是否已到上限",
        "kubectl -n <namespace> get hpa",
    ),
];

const DEPENDENCY: &[Row] = &[
    (
        "Find out which call fails, with which error, from the logs",
        "从日志确认是哪个下游调用失败、报什么错",
        LOGS,
    ),
    (
        "Call the health address of the dependency and read status and time",
        "请求下游的健康检查地址，查看状态码和耗时",
        "curl -I -m 10 <health address of the dependency>",
    ),
    (
        "Check the status page or the incident channel of the dependency",
        "查看下游的状态页或故障频道",
        "",
    ),
    (
        "Compare errors and latency of the calls to each dependency before and after the start",
        "对比影响开始前后各下游调用的错误率和延迟",
        "",
    ),
    (
        "Check whether other callers of the dependency fail as well",
        "确认该下游的其他调用方是否也失败",
        "",
    ),
];

const RATE_LIMIT: &[Row] = &[
    (
        "Find out who refuses the requests: the response headers and body name the limit",
        "确认是谁在限流：响应头和响应体会说明限流来源",
        "curl -I -m 10 <address that is refused>",
    ),
    (
        "Count the refused requests by caller and by route",
        "按调用方和路由统计被拒绝的请求",
        "",
    ),
    (
        "Compare the request rate now with the limit that was agreed",
        "对比当前请求速率与约定的限额",
        "",
    ),
    (
        "Check whether retries multiply the requests",
        "查看重试是否放大了请求量",
        LOGS,
    ),
    (
        "Check whether a cache in front of it is cold or was emptied",
        "查看前置缓存是否失效或被清空",
        "",
    ),
];

const DISK: &[Row] = &[
    (
        "Read how full each file system is",
        "查看各文件系统的使用率",
        "df -h",
    ),
    (
        "Read whether inodes have run out",
        "查看 inode 是否耗尽",
        "df -i",
    ),
    (
        "Find the largest directories on the full file system",
        "找出占用最大的目录",
        "du -xh -d 2 <mount point>",
    ),
    (
        "Check for deleted files that a process still holds open",
        "查看已删除但仍被进程占用的文件",
        "lsof +L1",
    ),
    (
        "Check what started to write more: logs, dumps, temporary files",
        "查看是什么写入变多：日志、转储、临时文件",
        "",
    ),
];

const MEMORY: &[Row] = &[
    (
        "Read why the containers ended and how often they restarted",
        "查看容器退出原因和重启次数",
        "kubectl -n <namespace> describe deployment/<service>",
    ),
    (
        "Compare memory use of the pods with their limits",
        "对比各 Pod 的内存用量与上限",
        "kubectl -n <namespace> top pods",
    ),
    (
        "Read the last log lines before the end",
        "查看退出前的最后日志",
        "kubectl -n <namespace> logs deployment/<service> --previous --tail=200",
    ),
    (
        "Look at the curve: steady growth is a leak, a step is a load or a change",
        "看内存曲线：持续上涨像泄漏，突然抬升像流量或变更",
        "",
    ),
    (
        "Read the free memory of the node",
        "查看节点剩余内存",
        "free -m",
    ),
];

const CERTIFICATE: &[Row] = &[
    (
        "Read issuer and dates of the certificate that is served",
        "查看实际下发证书的签发者和有效期",
        "openssl s_client -connect <host>:443 -servername <host>",
    ),
    (
        "Check whether the whole chain is sent, and to which name it was issued",
        "查看证书链是否完整、签发给哪个域名",
        "openssl s_client -connect <host>:443 -servername <host> -showcerts",
    ),
    (
        "Check when the automatic renewal ran last and what it said",
        "查看自动续期上次运行的时间和结果",
        "",
    ),
    (
        "Check the clock of the machines that refuse the certificate",
        "查看拒绝证书的机器时钟是否准确",
        "date -u",
    ),
    (
        "List which clients fail and which still connect",
        "列出哪些客户端失败、哪些仍能连接",
        "",
    ),
];

const DNS: &[Row] = &[
    (
        "Resolve the failing name from an affected machine",
        "在受影响的机器上解析失败的域名",
        "dig <host>",
    ),
    (
        "Ask the authoritative server and compare the answers",
        "直接查询权威服务器并对比结果",
        "dig <host> @<name server>",
    ),
    (
        "Check whether all names fail, or only one zone",
        "确认是所有域名都失败，还是只有一个域",
        "",
    ),
    (
        "Read state and restarts of the cluster's DNS pods",
        "查看集群 DNS Pod 的状态和重启次数",
        "kubectl -n <namespace of the DNS pods> get pods",
    ),
    (
        "Check when the record or the zone was changed last",
        "查看解析记录或区域最近的变更时间",
        "",
    ),
];

const DATABASE: &[Row] = &[
    (
        "Count connections by state and compare with the maximum",
        "按状态统计连接数，并与上限对比",
        "psql -c \"SELECT state, count(*) FROM pg_stat_activity GROUP BY state\"",
    ),
    (
        "Find the longest running queries and transactions",
        "查找运行最久的查询和事务",
        "psql -c \"SELECT pid, state, now() - xact_start AS age, query FROM pg_stat_activity ORDER BY age DESC NULLS LAST\"",
    ),
    (
        "Look for sessions that wait for a lock, and for who holds it",
        "查找等待锁的会话以及持锁者",
        "psql -c \"SELECT pid, pg_blocking_pids(pid), query FROM pg_stat_activity WHERE wait_event_type = 'Lock'\"",
    ),
    (
        "Read CPU, disk and replication lag of the database",
        "查看数据库的 CPU、磁盘和主从延迟",
        "",
    ),
    (
        "Check whether a migration or a batch job runs",
        "查看是否有迁移或批量任务在运行",
        "",
    ),
];

const QUEUE: &[Row] = &[
    (
        "Read the lag of each consumer group, and whether it grows",
        "查看各消费组的积压以及是否在增长",
        "kafka-consumer-groups.sh --bootstrap-server <broker> --describe --group <group>",
    ),
    (
        "Check whether the consumers run and when they last restarted",
        "查看消费者是否在运行、最近何时重启",
        PODS,
    ),
    (
        "Read the errors of the consumers: one bad message can stop all",
        "查看消费者的错误：一条坏消息可能卡住全部",
        LOGS,
    ),
    (
        "Compare the rate of incoming and handled messages",
        "对比消息的生产速率与消费速率",
        "",
    ),
    ("Check the dead letter queue", "查看死信队列", ""),
];

const CONFIGURATION: &[Row] = &[
    (
        "List what was changed last: settings, flags, permissions, and by which release",
        "列出最近的变更：配置、开关、权限，以及对应的发布",
        "",
    ),
    (
        "Compare the settings that run with those that are meant to run",
        "对比实际生效的配置与期望的配置",
        "kubectl -n <namespace> describe deployment/<service>",
    ),
    (
        "Compare an instance that fails with one that works",
        "对比失败的实例与正常的实例",
        "",
    ),
    (
        "Read what the service logs at start",
        "查看服务启动时的日志",
        LOGS,
    ),
    (
        "Check what the account that is refused may do",
        "查看被拒绝的账号拥有哪些权限",
        "kubectl auth can-i --list",
    ),
];

const DATA: &[Row] = &[
    (
        "Find the first wrong record and when it was written",
        "找到第一条错误数据及其写入时间",
        "",
    ),
    (
        "Count how many records are affected, by a query that only reads",
        "用只读查询统计受影响的数据量",
        "psql -c \"SELECT count(*) FROM <table> WHERE <condition>\"",
    ),
    (
        "Check whether the writing goes on, and which job or release writes",
        "确认错误是否仍在写入、由哪个任务或版本写入",
        LOGS,
    ),
    (
        "Check the age of the last good backup, and that it can be read",
        "确认最近一份可用备份的时间且可读",
        "",
    ),
    (
        "Compare source and copy where the data is replicated or cached",
        "数据有副本或缓存时，对比源与副本",
        "",
    ),
];

const NETWORK: &[Row] = &[
    (
        "Check whether the target answers, and how long the connection takes",
        "查看目标是否响应、建立连接需要多久",
        "curl -I -m 10 <address>",
    ),
    (
        "Look where packets are lost or delayed on the way",
        "查看链路上哪一段丢包或变慢",
        "mtr -r -c 20 <host>",
    ),
    (
        "Compare by zone, region and provider who is affected",
        "按可用区、地域和运营商对比受影响范围",
        "",
    ),
    (
        "Count the connections by state",
        "按状态统计连接数",
        "ss -s",
    ),
    (
        "Check the latest changes to load balancers, firewalls and routes",
        "查看负载均衡、防火墙和路由的最近变更",
        "",
    ),
];

const UNKNOWN: &[Row] = &[
    (
        "Read the latest errors in the logs",
        "查看日志中的最新错误",
        LOGS,
    ),
    (
        "Read state and restarts of the pods",
        "查看 Pod 状态和重启次数",
        PODS,
    ),
    (
        "List what changed before the impact began",
        "列出影响开始前的变更",
        "",
    ),
    (
        "Compare errors, latency and traffic with the same time yesterday",
        "对比错误率、延迟和流量与昨天同一时间",
        "",
    ),
    (
        "Find out who is affected and who is not",
        "确认哪些用户受影响、哪些没有",
        "",
    ),
];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::incident::words::is_cjk;

    fn all() -> impl Iterator<Item = FailureClass> {
        FailureClass::KNOWN
            .into_iter()
            .chain([FailureClass::Unknown])
    }

    #[test]
    fn r16_no_check_changes_anything() {
        const FORBIDDEN: &[&str] = &[
            " delete",
            "apply",
            " set ",
            "patch",
            "restart",
            " undo",
            "scale",
            " edit",
            " rm ",
            "kill",
            "update ",
            "insert ",
            "drop ",
            "truncate",
            "-x post",
            "sudo",
            " exec",
            "create",
            " > ",
            "redis-cli flush",
            "--reset-offsets",
            "--execute",
        ];
        for class in all() {
            for check in standard(class, Locale::En, Some("payments-api")) {
                let command = format!(" {} ", check.command.to_lowercase());
                for word in FORBIDDEN {
                    assert!(!command.contains(word), "{class:?}: {command}: {word}");
                }
            }
        }
    }

    #[test]
    fn r23_no_name_is_invented() {
        for class in all() {
            for locale in [Locale::En, Locale::Zh] {
                for check in standard(class, locale, None) {
                    assert!(!check.command.contains("payments"), "{check:?}");
                    if check.command.contains("deployment/") {
                        assert!(check.command.contains("deployment/<service>"), "{check:?}");
                    }
                    // A number in a step would be one that nobody measured.
                    assert!(!check.step.chars().any(|c| c.is_ascii_digit()), "{check:?}");
                }
            }
        }
        for odd in ["支付服务", "a b", "$(reboot)", "-n kube-system", "", "x;y"] {
            for check in standard(FailureClass::Unknown, Locale::En, Some(odd)) {
                assert!(
                    odd.is_empty() || !check.command.contains(odd),
                    "{odd}: {check:?}"
                );
            }
        }
    }

    #[test]
    fn r23_each_class_has_four_checks_in_both_languages() {
        for class in all() {
            let english = standard(class, Locale::En, Some("payments-api"));
            let chinese = standard(class, Locale::Zh, Some("payments-api"));
            assert!(english.len() >= 4, "{class:?}");
            assert_eq!(english.len(), chinese.len());
            assert!(
                english.iter().filter(|c| !c.command.is_empty()).count() >= 1,
                "{class:?}"
            );
            for (en, zh) in english.iter().zip(&chinese) {
                assert_eq!(en.command, zh.command);
                assert!(!en.step.chars().any(is_cjk), "{}", en.step);
                assert!(zh.step.chars().any(is_cjk), "{}", zh.step);
            }
        }
    }

    #[test]
    fn r23_a_given_name_is_used() {
        let checks = standard(FailureClass::Unknown, Locale::En, Some("payments-api"));
        assert!(
            checks
                .iter()
                .any(|check| check.command.contains("deployment/payments-api"))
        );
    }
}

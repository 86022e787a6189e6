//! Kinds of trouble: the words by which people and logs name them, English and Chinese, as data.
//!
//! Wanted: one table with two users. Triage sums it up into a [`FailureClass`]; recall sees through
//! it that *OOMKilled*, *heap limit* and 内存溢出 are one kind of trouble and that a full disk is
//! another. A kind counts only where the text says that it *is* so: "not a deploy", "今天没有发布",
//! "pool at 30 %" and "磁盘正常" name a kind and exclude it.
//!
//! Deliberately absent: any weighing by how often a word occurs in memory. The same two texts give
//! the same answer whatever else is stored.

use crate::incident::FailureClass;
use crate::incident::sameness::{HAN_NEGATIONS, NEGATIONS};
use crate::incident::words::{fold, is_cjk};
use aho_corasick::{AhoCorasick, AhoCorasickKind, MatchKind};
use std::collections::BTreeMap;
use std::sync::LazyLock;

/// One kind of trouble.
struct Row {
    /// Its name; one name may have several rows of different weight.
    name: &'static str,
    class: FailureClass,
    /// What one mention is worth in triage: 3 says it outright, 1 only hints.
    weight: f64,
    /// Folded phrases. A trailing `*` lets letters follow; a trailing `#` wants a number to follow.
    /// Chinese phrases match anywhere, others at word boundaries.
    phrases: &'static [&'static str],
}

const fn row(
    name: &'static str,
    class: FailureClass,
    weight: f64,
    phrases: &'static [&'static str],
) -> Row {
    Row {
        name,
        class,
        weight,
        phrases,
    }
}

/// The name of the kind that is a change before the trouble: context, not a kind of trouble itself.
pub(super) const CHANGE: &str = "change";

/// Weight from which a mention says which kind of trouble it is, not only where.
const OUTRIGHT: f64 = 2.0;

#[rustfmt::skip]
const ROWS: &[Row] = &[
    row(CHANGE, FailureClass::Deploy, 2.0, &[
        "deploy", "deploys", "deployed", "deploying", "redeployed", "after the deployment",
        "since the deployment", "new deployment", "last deployment", "deployment finished",
        "deployment went out", "rolled out", "rollout of", "rollout at", "rollout finished",
        "roll-out", "release #", "released", "new release", "last release", "the release",
        "new version", "upgraded", "upgrade to", "upgrade of", "hotfix", "shipped", "went live",
        "merged", "bumped", "发布", "上线", "发版", "发过版", "发了版", "升级", "灰度", "部署",
        "新版本", "回滚前",
    ]),
    row(CHANGE, FailureClass::Configuration, 1.5, &[
        "feature flag", "flag was", "flag switched", "toggle was", "config change*",
        "configuration change*", "changed the config*", "config was changed",
        "settings were changed", "was switched on", "was switched off", "was enabled",
        "was turned on", "was turned off", "改了配置", "改配置", "配置变更", "配置改", "修改配置",
        "调整配置", "调整了配置", "更新配置", "更新了配置", "打开开关", "开关打开", "变更",
    ]),
    row(CHANGE, FailureClass::Unknown, 0.5, &[
        "migration", "migrated", "was changed", "were changed", "was replaced", "was rebooted",
        "was flushed", "was patched", "kernel patch*", "failover to", "maintenance", "rotated",
        "scaled down", "迁移", "割接", "切换到", "维护窗口", "更换了", "扩容", "缩容",
    ]),
    row("memory", FailureClass::Memory, 3.0, &[
        "oom", "oomkill*", "oom kill*", "oom-kill*", "out of memory", "outofmemory*", "heap limit",
        "heap space", "java heap", "heap out of memory", "memory leak*", "leaks memory",
        "leaking memory", "cannot allocate memory", "can't allocate memory", "exit code 137",
        "code 137", "gc overhead", "full gc", "memory grows", "memory growing",
        "memory keeps growing", "memory keeps climbing", "memory climb*", "memory rises",
        "memory pressure", "memory exhausted", "heap grows", "heap growing", "rss grows",
        "rss growing", "memory limit", "goroutine leak*", "leaks goroutines", "goroutines leak",
        "内存溢出", "内存泄漏", "内存泄露", "内存不足", "内存持续", "内存上涨", "内存一直涨",
        "内存打满", "内存飙升", "内存耗尽", "内存爆", "内存占满", "内存超限", "内存涨", "堆内存",
        "堆溢出", "频繁gc", "频繁 gc",
    ]),
    row("connections", FailureClass::Saturation, 3.0, &[
        "pool exhaust*", "pool is exhausted", "exhausted pool", "exhausts the pool",
        "exhausts the connection pool", "exhausts the hikaripool", "pool is full", "pool full",
        "full pool", "pool depleted", "pool saturated", "pool ran out", "pool starv*",
        "out of connections", "no free connection*", "no available connection*",
        "no idle connection*", "connection is not available", "connections pending",
        "connections_pending", "waiting for a connection", "waiting for connection*",
        "wait for a connection", "cannotgetjdbcconnection*", "hikari*", "too many connections",
        "too many clients", "max_connections", "remaining connection slots", "connection leak*",
        "leaks connections", "leaking connections", "leaked connection*", "connections leak*",
        "queuepool limit", "maxpoolsize", "连接池耗尽", "连接池打满", "连接池满", "连接池已满",
        "连接池被打满", "连接池用尽", "连接池占满", "连接泄漏", "连接泄露", "连接数上涨",
        "连接数只增不减", "连接数打满", "连接数耗尽", "连接数过多", "连接数飙升", "连接数一直涨",
        "连接数持续", "获取连接超时", "获取不到连接", "拿不到连接", "无可用连接", "没有可用连接",
        "连接耗尽", "连接占满", "连接未释放", "连接不释放",
    ]),
    row("descriptors", FailureClass::Saturation, 3.0, &[
        "emfile", "enfile", "too many open files", "file descriptor*", "descriptor limit",
        "open descriptors", "close_wait", "nofile", "文件句柄", "句柄耗尽", "句柄泄漏", "句柄数",
        "打开文件过多", "打开的文件过多", "文件描述符",
    ]),
    row("cpu", FailureClass::Saturation, 2.5, &[
        "cpu throttl*", "cpu saturat*", "cpu spik*", "cpu pegged", "cpu maxed", "cpu is maxed",
        "high cpu", "cpu high", "cpu is high", "cpu exhaust*", "load average", "hot loop",
        "cpu飙升", "cpu 飙升", "cpu打满", "cpu 打满", "cpu跑满", "cpu 跑满", "cpu过高", "cpu 过高",
        "cpu高", "cpu 高", "负载过高", "负载飙升",
    ]),
    row("threads", FailureClass::Saturation, 2.5, &[
        "thread pool", "threadpool exhaust*", "threads exhausted", "thread starvation",
        "no free worker*", "all workers busy", "workers are busy", "workers busy",
        "rejectedexecution*", "max_children", "worker_connections", "backlog full",
        "threads are blocked", "blocked threads", "thread deadlock", "线程池", "线程耗尽",
        "线程阻塞", "线程打满", "线程数打满", "工作线程",
    ]),
    row("traffic", FailureClass::Saturation, 2.0, &[
        "traffic spike", "traffic surge", "surge of traffic", "spike in traffic", "load spike",
        "overloaded", "flash sale", "ddos", "thundering herd", "retry storm", "流量突增",
        "流量激增", "流量暴涨", "流量翻倍", "突发流量", "过载", "大促", "秒杀", "重试风暴",
    ]),
    row("dependency", FailureClass::Dependency, 2.0, &[
        "bad gateway", "third party", "third-party", "vendor", "external provider",
        "payment provider", "provider outage", "circuit breaker", "circuit open",
        "no healthy upstream", "upstream connect error", "upstream timed out",
        "upstream prematurely closed", "downstream", "dependency", "connection refused",
        "econnrefused", "partner api", "依赖服务", "下游", "第三方", "供应商", "熔断", "连接被拒",
        "拒绝连接", "对端",
    ]),
    row("dependency", FailureClass::Dependency, 1.0, &[
        "upstream", "502", "504", "gateway timeout", "上游", "外部接口", "依赖",
    ]),
    row("cache", FailureClass::Dependency, 2.0, &[
        "cache hit ratio", "hit ratio", "hit rate", "cold cache", "cache is cold", "cache miss*",
        "cache stampede", "cache evict*", "evicted keys", "cache was flushed", "redis",
        "memcached", "缓存击穿", "缓存雪崩", "缓存穿透", "缓存命中", "缓存失效", "缓存未命中",
        "缓存过期", "缓存被清", "热点 key", "热key", "热点key", "大key",
    ]),
    row("rate limit", FailureClass::RateLimit, 3.0, &[
        "429", "429s", "too many requests", "rate limit*", "rate-limit*", "ratelimit*",
        "x-ratelimit*", "throttled", "throttling", "quota*", "resource_exhausted", "rate exceeded",
        "retry-after", "限流", "配额", "频率限制", "请求过多", "超出限额", "触发限频", "限频",
        "限速",
    ]),
    row("disk", FailureClass::Disk, 3.0, &[
        "no space left", "enospc", "disk full", "disk is full", "disks are full", "full disk",
        "disk space", "out of disk", "disk usage", "inode*", "volume full", "volume is full",
        "partition full", "filesystem full", "disk filled", "disk pressure", "diskpressure",
        "read-only file system", "fills the disk", "filled the disk", "磁盘满", "磁盘已满",
        "磁盘打满", "磁盘空间", "磁盘写满", "磁盘被写满", "磁盘爆", "磁盘占满", "磁盘使用率",
        "空间不足", "磁盘告警",
    ]),
    row("storage", FailureClass::Disk, 2.5, &[
        "nfs", "not responding, still trying", "stale file handle", "share hangs", "iowait",
        "io wait", "i/o wait", "disk latency", "i/o error", "io error", "input/output error",
        "bad sector*", "raid degraded", "ebs volume", "slow disk*", "磁盘io", "磁盘 io", "io 等待",
        "io等待", "挂载", "坏盘", "磁盘故障",
    ]),
    row("certificate", FailureClass::Certificate, 3.0, &[
        "certificate*", "cert", "certs", "x509", "err_cert*", "cert expired", "ssl handshake",
        "tls handshake", "handshake failed", "handshake failure", "handshake fails",
        "handshake error*", "sslhandshake*", "sslexception", "cert_has_expired", "not_after",
        "pkix path", "expired key", "证书", "握手失败", "握手异常", "ssl 错误", "tls 错误",
    ]),
    row("credential", FailureClass::Certificate, 2.5, &[
        "token expired", "expired token*", "tokens expired", "password expired",
        "credential* expired", "credentials expired", "expired credentials", "secret expired",
        "key expired", "invalid_grant", "凭证过期", "凭据过期", "密钥过期", "令牌过期",
        "token 过期", "token过期", "密码过期", "密钥失效",
    ]),
    row("dns", FailureClass::Dns, 3.0, &[
        "dns", "name resolution", "nameresolution*", "nxdomain", "servfail", "could not resolve",
        "couldn't resolve", "cannot resolve", "can't resolve", "fails to resolve",
        "failed to resolve", "no such host", "coredns", "getaddrinfo", "enotfound", "unknown host",
        "unknownhost*", "eai_again", "resolver", "name lookup*", "resolv.conf",
        "name or service not known", "域名解析", "解析失败", "解析超时", "解析不了", "解析异常",
        "无法解析域名", "域名无法解析",
    ]),
    row("lock", FailureClass::Database, 3.0, &[
        "deadlock*", "lock wait*", "waiting for lock", "lock timeout", "row lock*", "table lock*",
        "exclusive lock", "blocked by pid", "idle in transaction", "long transaction*",
        "long-running transaction*", "死锁", "锁等待", "行锁", "锁表", "表锁", "长事务", "大事务",
        "未提交事务",
    ]),
    row("slow query", FailureClass::Database, 2.5, &[
        "slow quer*", "full table scan", "missing index", "seq scan", "sequential scan*",
        "query plan", "dropped index", "statement timeout", "慢查询", "慢 sql", "慢sql",
        "全表扫描", "缺少索引", "缺索引", "索引失效", "没走索引", "未走索引", "执行计划",
    ]),
    row("replication", FailureClass::Database, 2.5, &[
        "replication lag", "replica lag", "replica is behind", "replicas lag*",
        "replication delay", "replication broke*", "replication slot", "split brain", "主从延迟",
        "主从同步", "复制延迟", "从库延迟", "同步延迟", "主从切换", "主从不一致",
    ]),
    row("database", FailureClass::Database, 1.5, &[
        "postgres*", "mysql", "mariadb", "mongodb", "mongo", "oracle", "database", "db",
        "sqlexception", "sqlstate", "pg_stat_activity", "autovacuum", "vacuum", "数据库", "主库",
        "从库",
    ]),
    row("queue", FailureClass::Queue, 3.0, &[
        "consumer lag", "consumer group", "lag grows", "lag is growing", "lag growing",
        "lag keeps growing", "lag rises", "lag rising", "rebalanc*", "dead letter*",
        "dead-letter*", "dlq", "queue depth", "queue length", "queue grows", "queue is growing",
        "queue growing", "queue backlog", "backlog grow*", "messages pile up",
        "messages piling up", "unacked", "poison message", "poison pill", "stuck consumer*",
        "max.poll.interval*", "offset commit*", "消息积压", "消费延迟", "消费积压", "积压",
        "消费滞后", "堆积", "重平衡", "死信", "消费者卡住", "消费卡住", "消费停",
    ]),
    row("queue", FailureClass::Queue, 1.5, &[
        "kafka", "rabbitmq", "sqs", "pulsar", "rocketmq", "backlog", "消息队列", "消费者",
        "消费组",
    ]),
    row("configuration", FailureClass::Configuration, 2.5, &[
        "misconfig*", "wrong config*", "bad config*", "invalid config*", "config typo", "typo in",
        "env var", "environment variable", "missing key", "wrong value", "missing setting",
        "configmap", "permission denied", "accessdenied*", "access denied",
        "not authorized to perform", "iam polic*", "配置错误", "配错", "配置有误", "配置项",
        "配置丢失", "配置异常", "环境变量", "权限不足", "权限拒绝", "没有权限", "无权限",
    ]),
    row("authentication", FailureClass::Configuration, 1.5, &[
        "401", "401s", "unauthorized", "invalid token", "invalid signature",
        "authentication failed", "auth failed", "login fails", "logins fail*", "cannot log in",
        "can't log in", "登录失败", "无法登录", "登录不了", "登不上", "鉴权失败", "认证失败",
        "单点登录",
    ]),
    row("data", FailureClass::Data, 2.5, &[
        "corrupt*", "data loss", "lost data", "missing rows", "missing records", "duplicate rows",
        "duplicate records", "duplicated orders", "charged twice", "double charge*",
        "wrong total*", "wrong amount*", "wrong price*", "wrong balance*", "inconsistent data",
        "stale data", "checksum mismatch", "data missing", "wrong data", "deserialization error",
        "schema mismatch", "unknown field", "parse error*", "数据丢失", "数据错乱", "数据不一致",
        "脏数据", "重复数据", "数据缺失", "数据错误", "数据异常", "重复扣款", "重复下单",
        "金额错误", "金额不对", "对账不平", "乱码",
    ]),
    row("network", FailureClass::Network, 2.5, &[
        "packet loss", "packets lost", "network partition", "connection reset", "econnreset",
        "reset by peer", "no route to host", "network unreachable", "network latency", "conntrack",
        "bgp", "mtu", "nat gateway", "port exhaustion", "link flap*", "drops packets",
        "dropped packets", "firewall", "security group", "丢包", "网络抖动", "网络不通",
        "网络中断", "专线", "网络延迟", "断网", "交换机", "防火墙", "安全组",
    ]),
    row("power", FailureClass::Unknown, 2.0, &[
        "power outage", "power loss", "power failure", "power cut", "断电", "市电", "掉电", "停电",
        "配电", "整柜掉线",
    ]),
    row("job", FailureClass::Unknown, 2.0, &[
        "another run is active", "already running", "lock file", "stale lock", "run.lock",
        "pid file", "cron", "cronjob", "did not run", "nightly job", "batch job", "定时任务",
        "锁文件", "任务未执行", "任务没跑", "跑批", "调度失败",
    ]),
    row("crash", FailureClass::Unknown, 1.0, &[
        "crashloop*", "crash loop*", "crash-loop*", "segfault", "segmentation fault", "sigsegv",
        "panic", "core dump*", "worker timeout", "liveness probe", "反复重启", "反复拉起",
        "不断重启", "崩溃", "闪退",
    ]),
    row("clock", FailureClass::Unknown, 2.0, &[
        "clock skew", "clock drift", "time drift", "ntp", "chrony", "leap second", "时钟漂移",
        "时钟偏", "时间不同步", "时钟不同步",
    ]),
];

/// Things with a filling level: the kind counts from 85 % on and is excluded below 70 %.
const GAUGES: &[(&str, &str)] = &[
    ("cpu", "cpu"),
    ("memory", "memory"),
    ("mem", "memory"),
    ("heap", "memory"),
    ("disk", "disk"),
    ("volume", "disk"),
    ("inode", "disk"),
    ("inodes", "disk"),
    ("pool", "connections"),
    ("connections", "connections"),
    ("threads", "threads"),
    ("内存", "memory"),
    ("磁盘", "disk"),
    ("连接池", "connections"),
    ("连接数", "connections"),
    ("线程池", "threads"),
];
const FULL_FROM: f64 = 85.0;
const CALM_BELOW: f64 = 70.0;

/// Words after a phrase that say all is well with it.
#[rustfmt::skip]
const CALM: &[&str] = &[
    "fine", "normal", "ok", "okay", "green", "healthy", "idle", "bored", "stable", "flat",
    "unchanged", "unrelated", "excluded", "none",
];
/// More than one word, or Chinese.
#[rustfmt::skip]
const CALM_PHRASES: &[&str] = &[
    "ruled out", "looks good", "look good", "near zero", "正常", "平稳", "健康", "排除", "无异常",
    "稳定", "空闲", "没问题", "不高", "充足",
];
/// After Chinese phrases: `发布：无`, `发布记录为空`.
const HAN_NONE: &[&str] = &["：无", ":无", "为空", "没有", "未见"];

struct Pattern {
    row: usize,
    letters_may_follow: bool,
    number_must_follow: bool,
}

struct Table {
    automaton: Option<AhoCorasick>,
    patterns: Vec<Pattern>,
}

static TABLE: LazyLock<Table> = LazyLock::new(|| {
    let mut words = Vec::new();
    let mut patterns = Vec::new();
    for (index, row) in ROWS.iter().enumerate() {
        for phrase in row.phrases {
            let bare = phrase.trim_end_matches(['*', '#']);
            words.push(bare.to_owned());
            patterns.push(Pattern {
                row: index,
                letters_may_follow: phrase.ends_with('*'),
                number_must_follow: phrase.ends_with('#'),
            });
        }
    }
    Table {
        automaton: AhoCorasick::builder()
            .match_kind(MatchKind::Standard)
            // Every line of every candidate runs through it; the table is small.
            .kind(Some(AhoCorasickKind::DFA))
            .build(&words)
            .ok(),
        patterns,
    }
});

/// One mention of a kind of trouble that the text affirms.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Mention {
    /// The kind.
    pub name: &'static str,
    /// Its class.
    pub class: FailureClass,
    /// What it is worth.
    pub weight: f64,
}

/// The kinds that one clause affirms; each kind once, at its highest weight.
pub(super) fn mentions(clause: &str) -> Vec<Mention> {
    let text = fold(clause);
    let mut found: BTreeMap<&'static str, Mention> = BTreeMap::new();
    let mut add = |mention: Mention| {
        let best = found.entry(mention.name).or_insert(mention);
        if mention.weight > best.weight {
            *best = mention;
        }
    };
    if let Some(automaton) = &TABLE.automaton {
        for hit in automaton.find_overlapping_iter(&text) {
            let (Some(pattern), Some(before), Some(phrase), Some(after)) = (
                TABLE.patterns.get(hit.pattern().as_usize()),
                text.get(..hit.start()),
                text.get(hit.start()..hit.end()),
                text.get(hit.end()..),
            ) else {
                continue;
            };
            let Some(row) = ROWS.get(pattern.row) else {
                continue;
            };
            if stands_alone(before, phrase, after, pattern)
                && !excluded_before(before)
                && !excluded_after(after, row)
            {
                add(Mention {
                    name: row.name,
                    class: row.class,
                    weight: row.weight,
                });
            }
        }
    }
    let gauges = if text.contains('%') { GAUGES } else { &[] };
    for (noun, name) in gauges {
        if level_of(&text, noun).is_some_and(|level| level >= FULL_FROM)
            && let Some(row) = ROWS.iter().find(|row| row.name == *name)
        {
            add(Mention {
                name: row.name,
                class: row.class,
                weight: row.weight,
            });
        }
    }
    found.into_values().collect()
}

/// Kinds that the clauses of a text say outright; changes are no kind of trouble.
pub(super) fn kinds<'a>(clauses: impl IntoIterator<Item = &'a str>) -> BTreeMap<&'static str, f64> {
    let mut out = BTreeMap::new();
    for clause in clauses {
        for mention in mentions(clause) {
            if mention.name != CHANGE && mention.weight >= OUTRIGHT {
                *out.entry(mention.name).or_insert(0.0) += 1.0;
            }
        }
    }
    out
}

/// Whether a clause says one of these phrases and does not negate it. Phrases are folded; Chinese
/// ones match anywhere, others at word boundaries.
pub(super) fn affirms(clause: &str, phrases: &[&str]) -> bool {
    let text = fold(clause);
    let pattern = Pattern {
        row: 0,
        letters_may_follow: false,
        number_must_follow: false,
    };
    phrases.iter().any(|phrase| {
        text.match_indices(phrase).any(|(at, _)| {
            let before = text.get(..at).unwrap_or_default();
            let after = text.get(at + phrase.len()..).unwrap_or_default();
            // `payments` in `payments-api` is half a name.
            let in_a_name = phrase.is_ascii()
                && (before.ends_with(['-', '/', '_'])
                    || after.starts_with(['-', '/', '_'])
                        && after.chars().nth(1).is_some_and(char::is_alphanumeric));
            !in_a_name && stands_alone(before, phrase, after, &pattern) && !excluded_before(before)
        })
    })
}

fn is_word(c: char) -> bool {
    (c.is_alphanumeric() || c == '_') && !is_cjk(c)
}

fn stands_alone(before: &str, phrase: &str, after: &str, pattern: &Pattern) -> bool {
    if pattern.number_must_follow {
        let rest = after.trim_start().trim_start_matches('v');
        if !rest.starts_with(|c: char| c.is_ascii_digit()) {
            return false;
        }
    }
    let begins = !phrase.starts_with(is_word) || !before.ends_with(is_word);
    let ends = pattern.letters_may_follow
        || pattern.number_must_follow
        || !phrase.ends_with(is_word)
        || !after.starts_with(is_word);
    begins && ends
}

/// A negation shortly before: the four words, or eight Han characters, in front of the phrase.
fn excluded_before(before: &str) -> bool {
    let near: String = {
        let mut words = 0;
        let mut han = 0;
        let mut taken: Vec<char> = Vec::new();
        let mut previous_is_space = true;
        for c in before.chars().rev() {
            if c.is_whitespace() {
                previous_is_space = true;
            } else {
                if previous_is_space && !is_cjk(c) {
                    words += 1;
                }
                previous_is_space = false;
            }
            if is_cjk(c) {
                han += 1;
            }
            if words > 4 || han > 8 {
                break;
            }
            taken.push(c);
        }
        taken.iter().rev().collect()
    };
    let near = near.replace('\u{2019}', "'");
    let english = near
        .split(|c: char| !(c.is_alphanumeric() || c == '\''))
        .any(|word| NEGATIONS.contains(&word) || word == "unrelated");
    english || has_han_negation(&near)
}

fn has_han_negation(text: &str) -> bool {
    text.chars().any(is_cjk)
        && HAN_NEGATIONS.iter().any(|negation| text.contains(negation))
        && crate::incident::sameness::negates(text)
}

fn excluded_after(after: &str, row: &Row) -> bool {
    // The rest of the clause, up to a conjunction that begins another thought.
    let near: String = after.chars().take(40).collect();
    let near = ["but ", "while ", "但", "而", "。", ", "]
        .iter()
        .filter_map(|stop| near.find(stop))
        .min()
        .and_then(|end| near.get(..end))
        .unwrap_or(&near);
    let calm_word = near
        .split(|c: char| !c.is_alphanumeric() || is_cjk(c))
        .filter(|word| !word.is_empty())
        .take(4)
        .any(|word| CALM.contains(&word));
    if calm_word || CALM_PHRASES.iter().any(|phrase| near.contains(phrase)) {
        return true;
    }
    let start: String = near.chars().take(6).collect();
    if HAN_NONE.iter().any(|none| start.contains(none)) {
        return true;
    }
    GAUGES.iter().any(|(_, name)| *name == row.name)
        && first_percent(near).is_some_and(|level| level < CALM_BELOW)
}

/// The filling level that a clause gives for a noun, in percent: the first percentage within 30
/// characters after it.
fn level_of(text: &str, noun: &str) -> Option<f64> {
    text.match_indices(noun).find_map(|(at, _)| {
        let before = text.get(..at)?;
        let after = text.get(at + noun.len()..)?;
        let ascii = noun.is_ascii();
        if ascii && (before.ends_with(is_word) || after.starts_with(is_word)) {
            return None;
        }
        let near: String = after.chars().take(30).collect();
        first_percent(&near)
    })
}

/// The first percentage in a folded text.
pub(super) fn first_percent(text: &str) -> Option<f64> {
    let mut number = String::new();
    for c in text.chars() {
        if c.is_ascii_digit() || (c == '.' && !number.is_empty()) {
            number.push(c);
        } else if c == '%' && !number.is_empty() {
            return number.trim_end_matches('.').parse().ok();
        } else if c != ' ' || number.is_empty() {
            number.clear();
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(clause: &str) -> Vec<&'static str> {
        mentions(clause).iter().map(|m| m.name).collect()
    }

    #[test]
    fn the_table_compiles_and_is_folded() {
        assert!(TABLE.automaton.is_some());
        for row in ROWS {
            for phrase in row.phrases {
                assert_eq!(*phrase, fold(phrase), "{phrase}");
            }
        }
        for (_, name) in GAUGES {
            assert!(ROWS.iter().any(|row| row.name == *name), "{name}");
        }
    }

    #[test]
    fn what_is_named_and_excluded() {
        for clause in [
            "this is not a deploy",
            "nothing deployed since yesterday",
            "no deploys today",
            "we haven't deployed anything",
            "deployment payments-api",
            "今天没有发布",
            "最近未上线",
            "发布：无",
            "pool at 30 %",
            "连接池使用率 30%",
            "连接池使用率：３０％",
            "hikari pool is at 30 %",
            "disk usage is normal",
            "磁盘使用率正常",
            "CPU 14%",
            "dns is fine",
            "not an OOM",
            "author of the fix",
            "没有丢包",
        ] {
            assert_eq!(names(clause), Vec::<&str>::new(), "{clause}");
        }
    }

    #[test]
    fn what_is_named() {
        for (clause, name) in [
            ("release 3.9.2 rolled out at 18:05", CHANGE),
            ("昨晚发过版", CHANGE),
            ("Feature flag mega-menu-v2 was switched on", CHANGE),
            ("Last State: Terminated, Reason: OOMKilled", "memory"),
            ("HikariPool-1 - Connection is not available", "connections"),
            ("CPU at 97 %", "cpu"),
            ("磁盘使用率 95%", "disk"),
            ("内存持续上涨", "memory"),
            ("证书过期了", "certificate"),
            ("HTTP/1.1 429 Too Many Requests", "rate limit"),
            ("accept EMFILE: too many open files", "descriptors"),
            ("[Errno -3] Temporary failure in name resolution", "dns"),
            ("消息积压 12 万", "queue"),
        ] {
            assert!(
                names(clause).contains(&name),
                "{clause}: {:?}",
                names(clause)
            );
        }
    }
}

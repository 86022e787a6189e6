//! Contradictions that code finds on its own (R13): a cause that says a thing is full while the
//! report says how full it is, or that blames a change while the report says that nothing changed.
//!
//! Few and certain: a wrong contradiction hides a right cause. Only a plain number beside the very
//! same noun, or a plain negation, counts; where the report says both, nothing is concluded.

use super::analysis::{Analysis, Contradiction};
use super::text;
use crate::incident::Report;
use crate::incident::sameness::negates;
use crate::incident::words::fold;
use regex::Regex;
use std::sync::LazyLock;

/// A clause of the report that contradicts a cause.
pub(super) struct Found {
    pub quote: String,
    pub author: Option<String>,
}

/// Below this share of use, in percent, a thing is not full.
const NOT_FULL_BELOW: f64 = 60.0;
/// From this share on it may well be.
const NEARLY_FULL_FROM: f64 = 80.0;

/// Words for one thing that can be full.
const THINGS: &[&[&str]] = &[
    &["thread pool", "worker pool", "threads", "线程池", "线程"],
    &["connection pool", "db pool", "pool", "hikaripool", "连接池"],
    &[
        "disk",
        "filesystem",
        "file system",
        "volume",
        "磁盘",
        "硬盘",
    ],
    &["memory", "heap", "内存", "堆"],
    &["cpu"],
    &["queue", "队列"],
];

/// It is used up, English: beginnings of words.
const FULL: &[&str] = &[
    "exhaust",
    "full",
    "saturat",
    "overload",
    "ran out",
    "run out",
    "runs out",
    "running out",
    "out of",
    "maxed",
    "depleted",
    "leak",
];

/// It is used up, Chinese.
const HAN_FULL: &[&str] = &["耗尽", "满", "过载", "泄漏", "泄露", "不足", "用尽", "用完"];

/// The report calls a thing well.
const WELL: &[&str] = &["normal", "healthy", "fine", "idle", "正常", "空闲", "健康"];

/// A change, as a report speaks of it. `deployment/x` and `deployment x-y` name a thing.
static CHANGE: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(concat!(
        r"\b(?:deployed|deploys?|deploying|released|releases?|rolled out|rollouts?|shipped|new version|changes?|changed)\b|",
        r"\bdeployments?\b|发布|发版|上线|部署|变更|新版本"
    ))
    .ok()
});
static DEPLOYMENT_NAME: LazyLock<Option<Regex>> =
    LazyLock::new(|| Regex::new(r"\bdeployments?(?:/[a-z0-9.-]+| [a-z0-9]+(?:-[a-z0-9]+)+)").ok());

/// A cause that blames a change; `the lock is released late` and `the deployment is too small` do
/// not.
static BLAMES_A_CHANGE: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(concat!(
        r"\b(?:bad|broken|faulty|failed|buggy|new|recent|latest|last|today'?s|tonight'?s|yesterday'?s|regression)\b[^.;,]{0,40}\b(?:deploys?|deployments?|releases?|rollouts?|versions?)\b|",
        r"\b(?:deploy|deployment|release|rollout) of (?:today|tonight|yesterday|last night|this morning)\b|",
        r"\b(?:after|since|from|introduced (?:by|in|with)|caused by|due to|because of|broken by)\s+(?:a|an|the|this|that|last|latest|new|recent|today'?s|yesterday'?s)\s+(?:[a-z0-9.-]+\s+)?(?:deploys?|deployments?|releases?|rollouts?|versions?)\b|",
        r"(?:新版本|发布|发版|上线|变更|部署)[^，。；]{0,8}(?:引入|引发|导致|引起|造成|问题|错误|回归|缺陷|异常|bug)|(?:最近|今天|今日|昨天|昨晚|刚刚|新|本次|这次)的?(?:发布|发版|上线|变更|部署)"
    ))
    .ok()
});

static SHARE: LazyLock<Option<Regex>> =
    LazyLock::new(|| Regex::new(r"([0-9]{1,3}(?:\.[0-9]+)?)\s*(?:%|percent)").ok());

/// What a report that grew since contradicts of an analysis that was shown, by the place of the
/// hypothesis: a plain number or negation, whoever wrote it. What the analysis itself knows of is
/// not repeated.
pub fn contradicted_since(analysis: &Analysis, report: &Report) -> Vec<Option<Contradiction>> {
    let clauses = Clauses::new(report);
    let shown = analysis.hypotheses.iter();
    shown
        .map(|hypothesis| {
            if !hypothesis.contradicted_by.is_empty() {
                return None;
            }
            let found = clauses.against(&hypothesis.title)?;
            Some(Contradiction {
                quote: text::clean(&found.quote, text::SENTENCE),
                author: found
                    .author
                    .map(|author| text::clean_line(&author, text::TITLE)),
                found_by_code: true,
            })
        })
        .collect()
}

/// A report cut into clauses, prepared once for all causes.
pub(super) struct Clauses<'r>(Vec<Clause<'r>>);

struct Clause<'r> {
    author: Option<&'r str>,
    said: &'r str,
    folded: String,
}

impl<'r> Clauses<'r> {
    pub fn new(report: &'r Report) -> Self {
        let of_part = |(author, text): (Option<&'r str>, &'r str)| {
            clauses(text).into_iter().map(move |said| Clause {
                author,
                said,
                folded: fold(said),
            })
        };
        Self(report.parts().flat_map(of_part).collect())
    }

    /// The clause that contradicts this cause, if there is one.
    pub fn against(&self, cause: &str) -> Option<Found> {
        let cause = fold(cause);
        let found = of_fullness(&cause, &self.0)
            .or_else(|| of_change(&cause, &self.0))
            .or_else(|| of_health(&cause, &self.0))
            .or_else(|| of_absence(&cause, &self.0))?;
        Some(Found {
            quote: found.said.trim().to_owned(),
            author: found.author.map(str::to_owned),
        })
    }
}

fn is_used_up(folded: &str) -> bool {
    let han = folded
        .replace("满足", "")
        .replace("满意", "")
        .replace("圆满", "");
    HAN_FULL.iter().any(|word| han.contains(word))
        || FULL.iter().any(|word| {
            folded.match_indices(word).any(|(at, found)| {
                let before = folded.get(..at).and_then(|head| head.chars().next_back());
                let after = folded
                    .get(at + found.len()..)
                    .and_then(|tail| tail.chars().next());
                // `carefully`, `useful`, `full-text`, `fully`.
                let ends = *word != "full" || !after.is_some_and(|c| c.is_alphabetic() || c == '-');
                !before.is_some_and(char::is_alphanumeric) && ends
            })
        })
}

/// What has a pool of its own that is not meant by *pool*.
const OTHER_POOLS: &[&str] = &["thread pool", "worker pool", "node pool", "线程池"];

fn of_fullness<'a, 'r>(cause: &str, clauses: &'a [Clause<'r>]) -> Option<&'a Clause<'r>> {
    if !is_used_up(cause) || negates_more_than_stock(cause) {
        return None;
    }
    let thing = THINGS
        .iter()
        .find(|words| words.iter().any(|word| holds_word(cause, word)))?;
    let is_pool = thing.contains(&"pool");
    // What leaks fills up in the end: memory may have far to go, a pool has not.
    if !is_pool
        && !is_used_up(
            &cause
                .replace("leak", " ")
                .replace("泄漏", " ")
                .replace("泄露", " "),
        )
    {
        return None;
    }
    let mut against = None;
    for clause in clauses {
        let folded = clause.folded.as_str();
        if !thing.iter().any(|word| holds_word(folded, word))
            || (is_pool && OTHER_POOLS.iter().any(|other| folded.contains(other)))
        {
            continue;
        }
        match share(folded) {
            // The temp volume is not the data volume.
            Some(share)
                if share < NOT_FULL_BELOW
                    && !negates(folded)
                    && is_a_level(folded)
                    && !(thing.contains(&"volume") && names_another(cause, folded)) =>
            {
                against = against.or(Some(clause));
            }
            Some(share) if share >= NEARLY_FULL_FROM => return None,
            Some(_) => {}
            // The report itself says that it is full, or plainly that it is not.
            None if is_used_up(folded) && !negates_more_than_stock(folded) => return None,
            None if is_used_up(folded) => against = against.or(Some(clause)),
            None if WELL.iter().any(|word| holds_word(folded, word)) && !negates(folded) => {
                against = against.or(Some(clause))
            }
            None => {}
        }
    }
    against
}

/// The temp volume of the cause is not the data volume of the report.
fn names_another(cause: &str, folded: &str) -> bool {
    static VOLUME: LazyLock<Option<Regex>> =
        LazyLock::new(|| Regex::new(r"\b([a-z]+) (?:volume|disk|filesystem)s?\b").ok());
    let named = |text: &str| {
        let found = VOLUME.as_ref()?.captures(text)?;
        let name = found.get(1)?.as_str().to_owned();
        (!["the", "a", "an", "its", "this", "whose", "of", "on"].contains(&name.as_str()))
            .then_some(name)
    };
    matches!((named(cause), named(folded)), (Some(one), Some(other)) if one != other)
}

/// A cause that says that a thing fails, while the report calls the very same thing well. Only a
/// thing without a qualifier in either: *internal DNS* is not *DNS*.
fn of_health<'a, 'r>(cause: &str, clauses: &'a [Clause<'r>]) -> Option<&'a Clause<'r>> {
    static FAILS: LazyLock<Option<Regex>> = LazyLock::new(|| {
        Regex::new(concat!(
            r"^(?:the |a )?(dns|network)(?: resolution| lookups?| queries| packet)?(?: is| are)? (?:fails?|failure|failing|failed|outage|down|unreachable|broken|problems?|trouble|loss)\b|",
            r"^(网络|域名解析)(?:故障|异常|抖动|中断|失败|不通)|",
            r"^(数据库负载)(?:过高|太高|打满|飙升)"
        ))
        .ok()
    });
    static IS_WELL: LazyLock<Option<Regex>> = LazyLock::new(|| {
        Regex::new(concat!(
            r"(?:^|\band )(?:the )?(?:dns|network)(?: is| are| looks?)? (?:fine|normal|healthy)\W*$|",
            r"^(?:网络|域名解析|数据库负载)(?:都|均|也|一切)?正常\W*$"
        ))
        .ok()
    });
    let (found, is_well) = (FAILS.as_ref()?.captures(cause)?, IS_WELL.as_ref()?);
    let thing = (1..=3).find_map(|at| found.get(at))?.as_str();
    let mut said = clauses
        .iter()
        .filter(|clause| holds_word(&clause.folded, thing))
        .peekable();
    let first = said.peek().copied()?;
    (!negates(cause) && said.all(|clause| is_well.is_match(clause.folded.trim()))).then_some(first)
}

/// What a report plainly says not to be there. Only what is a trouble in itself: a missing
/// heartbeat is no evidence against a lost one.
fn of_absence<'a, 'r>(cause: &str, clauses: &'a [Clause<'r>]) -> Option<&'a Clause<'r>> {
    static TROUBLE: LazyLock<Option<Regex>> = LazyLock::new(|| {
        Regex::new(r"^(?:the |high |many )?(under-replicated partition|replication lag)s?\b").ok()
    });
    static ABSENT: LazyLock<Option<Regex>> = LazyLock::new(|| {
        Regex::new(concat!(
            r"^(?:and |there (?:is|are) )?no (?:under-replicated partitions?|replication lag)\W*$|",
            r"^(?:the )?replication lag(?: is)? 0 ?(?:s|ms|seconds)?\W*$"
        ))
        .ok()
    });
    let (found, absent) = (TROUBLE.as_ref()?.captures(cause)?, ABSENT.as_ref()?);
    let thing = found.get(1)?.as_str();
    let mut said = clauses
        .iter()
        .filter(|clause| clause.folded.contains(thing))
        .peekable();
    let first = said.peek().copied()?;
    (!negates(cause) && said.all(|clause| absent.is_match(clause.folded.trim()))).then_some(first)
}

/// A negation beside 不足, which says that there is too little.
fn negates_more_than_stock(folded: &str) -> bool {
    negates(&folded.replace("不足", ""))
}

/// A share of use, not a share of something else (an error rate, free space, a growth).
fn is_a_level(folded: &str) -> bool {
    ![
        "free",
        "fail",
        "error",
        "rose",
        "grew",
        "up by",
        "hit ratio",
        "hit rate",
        "left",
        "available",
        "requests",
        "剩余",
        "可用",
        "空闲",
        "失败",
        "错误",
        "上涨",
        "下降",
        "命中",
    ]
    .iter()
    .any(|word| folded.contains(word))
}

fn of_change<'a, 'r>(cause: &str, clauses: &'a [Clause<'r>]) -> Option<&'a Clause<'r>> {
    if !BLAMES_A_CHANGE
        .as_ref()
        .is_some_and(|blames| blames.is_match(cause))
        || negates(cause)
    {
        return None;
    }
    let (change, name) = (CHANGE.as_ref()?, DEPLOYMENT_NAME.as_ref()?);
    let about_change: Vec<&Clause<'r>> = clauses
        .iter()
        .filter(|clause| change.is_match(&name.replace_all(&clause.folded, " ")))
        .collect();
    // A release that the report does speak of is not contradicted by the absence of another.
    match about_change.as_slice() {
        [first, ..]
            if about_change
                .iter()
                .all(|clause| negates(&clause.folded) || clause.folded.contains("unchanged")) =>
        {
            Some(first)
        }
        _ => None,
    }
}

fn share(folded: &str) -> Option<f64> {
    let mut all = SHARE
        .as_ref()?
        .captures_iter(folded)
        .filter_map(|c| c.get(1)?.as_str().parse::<f64>().ok());
    let first = all.next()?;
    // Two shares in one clause: which is the thing's is not certain.
    all.next().is_none().then_some(first)
}

fn holds_word(folded: &str, word: &str) -> bool {
    folded.match_indices(word).any(|(start, found)| {
        let before = folded
            .get(..start)
            .and_then(|head| head.chars().next_back());
        let after = folded
            .get(start + found.len()..)
            .and_then(|tail| tail.chars().next());
        !before.is_some_and(|c| c.is_ascii_alphanumeric())
            && !after.is_some_and(|c| c.is_ascii_alphanumeric() && c != 's')
    })
}

fn clauses(text: &str) -> Vec<&str> {
    let mut out = Vec::new();
    let mut start = 0;
    let mut chars = text.char_indices().peekable();
    while let Some((index, c)) = chars.next() {
        let next = chars.peek().map(|(_, next)| *next);
        let ends = match c {
            '。' | '；' | '，' | '！' | '？' | '\n' | ';' => true,
            '.' | '!' | '?' | ',' => next.is_none_or(char::is_whitespace),
            _ => false,
        };
        if ends {
            out.push(text.get(start..index).unwrap_or_default());
            start = index + c.len_utf8();
        }
    }
    out.push(text.get(start..).unwrap_or_default());
    out.retain(|clause| !clause.trim().is_empty());
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn quote(cause: &str, report: &str) -> Option<String> {
        Clauses::new(&Report::from_text(report))
            .against(cause)
            .map(|found| found.quote)
    }

    #[test]
    fn r13_no_contradiction_where_nothing_is_certain() {
        for (cause, report) in [
            ("Connection pool exhausted", "503s everywhere"),
            ("Connection pool exhausted", "pool at 97 %"),
            (
                "Connection pool exhausted",
                "pool at 30 % on a, pool exhausted on b",
            ),
            (
                "Refund job holds JDBC connections open and exhausts the HikariPool",
                "Postgres looks bored, CPU 14%, 23 connections of 200",
            ),
            ("Disk full", "disk is 30 % free"),
            ("Gateway rate limit", "pool at 30 %"),
            (
                "A bad release",
                "release 5.2.0 rolled out, nothing else deployed",
            ),
            (
                "Menu feature exhausts the heap",
                "average mu = 0.112, heap out of memory",
            ),
            ("The pool is spooled", "liverpool at 30 %"),
            ("A lock is released too late", "503s, no release today"),
            (
                "The payments deployment is too small",
                "nothing deployed since yesterday",
            ),
            ("The carefully tuned pool leads to timeouts", "pool at 30 %"),
            (
                "Cold cache exhausts memory of the vendor",
                "memory hit ratio 4%",
            ),
            (
                "Bad release of the client",
                "Release 3.9.2 rolled out at 18:05, nothing else deployed",
            ),
            ("内存不足", "内存剩余 30%"),
            ("连接池耗尽", "连接池已满"),
            ("Disk full", "the disk is fine on a, the disk is full on b"),
            (
                "Temp volume is full",
                "/pgtmp 100% of 500 GB, data volume 58%",
            ),
            (
                "DNS change sends traffic to the old address",
                "TLS and DNS look fine",
            ),
            (
                "Network down",
                "the network is fine in one zone, network loss in another",
            ),
            (
                "High replication lag",
                "replication lag 0 s on a, replication lag 40 s on b",
            ),
            ("Heartbeats are lost", "no heartbeats since noon"),
            ("Internal DNS fails", "DNS looks fine"),
            ("DNS resolution fails", "external DNS looks fine"),
            ("网关负载过高", "数据库负载正常"),
            ("专线网络中断", "网络正常"),
            ("网络故障", "内网网络正常"),
            ("Release of the lock is late", "nothing was released"),
            ("High replication lag", "replication lag 0 s before noon"),
        ] {
            assert_eq!(quote(cause, report), None, "{cause} / {report}");
        }
    }

    #[test]
    fn r13_contradicted_by_the_report() {
        for (cause, report, expected) in [
            (
                "DB connection pool exhausted",
                "upstream 429s, DB pool at 30 %, no deploy",
                "DB pool at 30 %",
            ),
            (
                "数据库连接池耗尽",
                "网关返回 429。数据库连接池使用率 30%。今天没有发布。",
                "数据库连接池使用率 30%",
            ),
            (
                "Bad deploy of payments-api",
                "503s. Nothing deployed since yesterday.",
                "Nothing deployed since yesterday",
            ),
            (
                "新版本发布引入的问题",
                "间歇性 503。今天没有发布。",
                "今天没有发布",
            ),
            (
                "Disk full on the primary",
                "disk usage is 41 %",
                "disk usage is 41 %",
            ),
            (
                "The connection pool is exhausted",
                "the pool is not exhausted, gateway answers 429",
                "the pool is not exhausted",
            ),
            ("连接池耗尽", "连接池未满，网关返回 429", "连接池未满"),
            ("内存不足", "内存使用率 35%", "内存使用率 35%"),
            (
                "The thread pool ran out of threads",
                "thread pool looks normal",
                "thread pool looks normal",
            ),
            (
                "DNS resolution fails",
                "TLS and DNS look fine",
                "TLS and DNS look fine",
            ),
            ("网络故障", "挂号超时。网络正常。", "网络正常"),
            (
                "数据库负载过高",
                "短信延迟。数据库负载正常，CPU 12%",
                "数据库负载正常",
            ),
            (
                "High replication lag",
                "Replication lag 0 s, disk 48%",
                "Replication lag 0 s",
            ),
            (
                "Under-replicated partitions on the brokers",
                "Brokers are healthy, no under-replicated partitions.",
                "no under-replicated partitions",
            ),
            (
                "Release of today broke the runners",
                "Nothing was released since Friday.",
                "Nothing was released since Friday",
            ),
            (
                "Faulty release of the gateway",
                "deployment payments-api has 8 replicas, no deploy today",
                " no deploy today",
            ),
        ] {
            assert_eq!(
                quote(cause, report).as_deref(),
                Some(expected.trim()),
                "{cause} / {report}"
            );
        }
    }
}

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
        r"\bdeployments?\b|发布|发版|发过版|发了版|发过新版|上过线|上线|部署|变更|新版本"
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
        r"\b(?:bad|wrong|broken|faulty|recent|latest|last|new|unreviewed|today'?s|yesterday'?s)\b[^.;,]{0,20}\bconfig(?:uration)?\b|\bconfig(?:uration)? change\b|",
        r"(?:错误|最近|新|今天|昨晚)的?配置(?:变更|改动|修改)|",
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
            .or_else(|| of_absence(&cause, &self.0))
            .or_else(|| of_a_thing_that_is_well(&cause, &self.0))
            .or_else(|| of_growth(&cause, &self.0))
            .or_else(|| of_expiry(&cause, &self.0))?;
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
    let thing = THINGS.iter().find(|words| holds_any_word(cause, words))?;
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
        if !holds_any_word(folded, thing)
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
            None if holds_any_word(folded, WELL) && !negates(folded) => {
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
    if negates(cause) {
        return None;
    }
    all_say(
        clauses,
        |folded| holds_word(folded, thing),
        |folded| is_well.is_match(folded.trim()),
    )
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
    if negates(cause) {
        return None;
    }
    all_say(
        clauses,
        |folded| folded.contains(thing),
        |folded| absent.is_match(folded.trim()),
    )
}

/// A cause that begins with a thing and says that it fails, while the report calls exactly this
/// thing well, and says nothing else of it.
fn of_a_thing_that_is_well<'a, 'r>(
    cause: &str,
    clauses: &'a [Clause<'r>],
) -> Option<&'a Clause<'r>> {
    static FAILS: LazyLock<Option<Regex>> = LazyLock::new(|| {
        Regex::new(concat!(
            r"^(?:the |a |an |our )?(?P<a>[a-z][a-z0-9_.-]*(?: [a-z0-9_.-]+){0,3}?)(?: itself)?(?: is| are| was| were| has| have)?(?: too| very| badly| completely)? ",
            r"(?:down|dead|unreachable|unavailable|unhealthy|overloaded|saturated|broken|crashed|crashes|crashing|fails|failing|failed|failure|outage|slow|degraded|hangs|hanging)\b|",
            r"^(?P<b>[^，。；：\s]{2,12}?)(?:本身)?(?:出现|发生|持续|整体)?(?:故障|异常|不可用|宕机|挂了|挂掉|过载|负载过高|变慢|响应慢|卡死|崩溃|抖动|中断|不通)"
        ))
        .ok()
    });
    if negates(&cause.replace("不可用", "").replace("不通", "")) {
        return None;
    }
    let found = FAILS.as_ref()?.captures(cause)?;
    let thing = found.name("a").or_else(|| found.name("b"))?.as_str();
    let one = thing.strip_suffix('s').unwrap_or(thing);
    if one.len() < 3 {
        return None;
    }
    all_say(
        clauses,
        |folded| holds_word(folded, one),
        |folded| calls_well(folded.trim(), one),
    )
}

/// The clause is this thing and that it is well, and nothing else.
fn calls_well(folded: &str, thing: &str) -> bool {
    static WELL_EN: LazyLock<Option<Regex>> = LazyLock::new(|| {
        Regex::new(concat!(
            r"^s?(?: itself| cluster| nodes?| hosts?)?(?: is| are| looks?| seems?| was| were| still| all| both| reports?)* ",
            r"(?:perfectly |completely |quite )?(?:(?:fine|ok|okay|healthy|normal|good|green|idle|bored|up|well|unaffected|reachable|available|responsive|running|working)(?:,? and |, )?)+(?: too| as well| again)?\W*$"
        ))
        .ok()
    });
    static WELL_ZH: LazyLock<Option<Regex>> = LazyLock::new(|| {
        Regex::new(r"^(?:本身|集群|节点|服务|状态|指标|运行|负载|一切|目前|都|均|也|显示|全部|很|是)*(?:正常|健康|无异常|没有异常|未见异常|没问题|没有问题|空闲|稳定)\W*$").ok()
    });
    let rest = [
        "the ",
        "our ",
        "and ",
        "all ",
        "both ",
        "but ",
        "meanwhile ",
    ]
    .iter()
    .fold(folded, |rest, lead| rest.strip_prefix(lead).unwrap_or(rest));
    let Some(rest) = rest.strip_prefix(thing) else {
        return false;
    };
    [&WELL_EN, &WELL_ZH]
        .iter()
        .any(|well| well.as_ref().is_some_and(|well| well.is_match(rest)))
}

/// A cause that says that something grew (traffic, load, memory that leaks), while the report says
/// that the same thing is as ever.
fn of_growth<'a, 'r>(cause: &str, clauses: &'a [Clause<'r>]) -> Option<&'a Clause<'r>> {
    static GROWS: LazyLock<Option<Regex>> = LazyLock::new(|| {
        Regex::new(concat!(
            r"\b(?:spikes?|surges?|bursts?|peaks?|flood|doubled|tripled|leaks?|leaking|grows?|growth|increased?|rise|rises|jump(?:ed|s)?|more (?:traffic|requests|load|users|memory))\b|",
            r"突增|激增|暴涨|暴增|猛增|飙升|上涨|高峰|翻倍|洪峰|泄漏|泄露|过大|增长"
        ))
        .ok()
    });
    static AS_EVER: LazyLock<Option<Regex>> = LazyLock::new(|| {
        Regex::new(concat!(
            r"\b(?:normal|flat|unchanged|stable|steady|constant|as (?:usual|ever|always|every day)|usual|average|not (?:higher|grown|growing|increased))\b|",
            r"持平|平稳|正常|稳定|没有(?:变化|增长|上涨|突增|波动)|无(?:变化|增长|上涨|突增|波动|明显)|未(?:增长|上涨|见增长)|[与和跟](?:昨天|平时|往常|上周|以往|平日)(?:一致|相同|差不多|一样|相当|持平)"
        ))
        .ok()
    });
    const GROWING: &[&[&str]] = &[
        &[
            "traffic",
            "request rate",
            "requests",
            "request volume",
            "load",
            "rps",
            "qps",
            "tps",
            "流量",
            "请求量",
            "业务量",
            "访问量",
            "并发",
            "单量",
            "调用量",
        ],
        &["memory", "heap", "rss", "内存", "堆"],
    ];
    static OTHER: LazyLock<Option<Regex>> = LazyLock::new(|| {
        // Of one part, or back to what it was: nothing is certain.
        Regex::new(r"\b(?:but|except|until|again|back to|since|before|load balancer|load time)\b|除|但|之前|恢复|负载均衡").ok()
    });
    let grows = GROWS.as_ref()?;
    if !grows.is_match(cause) || negates(cause) {
        return None;
    }
    let things = GROWING.iter().find(|words| holds_any_word(cause, words))?;
    let (as_ever, other) = (AS_EVER.as_ref()?, OTHER.as_ref()?);
    all_say(
        clauses,
        |folded| holds_any_word(folded, things),
        |folded| {
            as_ever.is_match(folded)
                && !other.is_match(folded)
                && (negates(folded) || !grows.is_match(folded))
                && !folded.contains("abnormal")
                && !["not normal", "不正常", "not stable", "不稳定"]
                    .iter()
                    .any(|word| folded.contains(word))
        },
    )
}

/// A certificate, token or licence that is said to have expired, while the report calls it valid. A
/// date to come says so too, but no clock is read here: only words count.
fn of_expiry<'a, 'r>(cause: &str, clauses: &'a [Clause<'r>]) -> Option<&'a Clause<'r>> {
    static EXPIRED: LazyLock<Option<Regex>> = LazyLock::new(|| {
        Regex::new(r"\b(?:expir(?:ed|es|y|ation)|ran out|outdated)\b|过期|到期|失效").ok()
    });
    static VALID: LazyLock<Option<Regex>> = LazyLock::new(|| {
        Regex::new(concat!(
            r"\b(?:is|are|still|stays?) valid\b|\bnot (?:yet )?expired\b|\b(?:not expire|expires? (?:only )?in [0-9]+ (?:days|weeks|months|years)|has [0-9]+ days left|was renewed)\b|",
            r"未过期|没有?过期|还没过期|仍(?:然)?有效|有效期(?:内|至|到|还有)|未到期|没有?到期|还有 ?[0-9]+ ?天"
        ))
        .ok()
    });
    const LAPSING: &[&[&str]] = &[
        &["certificate", "cert", "certs", "证书"],
        &["token", "令牌"],
        &["license", "licence", "许可证", "授权"],
        &["password", "密码"],
        &["domain", "域名"],
    ];
    if !EXPIRED.as_ref()?.is_match(cause) || negates(cause) {
        return None;
    }
    let things = LAPSING.iter().find(|words| holds_any_word(cause, words))?;
    let valid = VALID.as_ref()?;
    all_say(
        clauses,
        |folded| holds_any_word(folded, things),
        |folded| valid.is_match(folded) && !folded.contains("not valid"),
    )
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
    // A configuration that nobody touched says nothing of a release, and the other way round.
    let is_config = |text: &str| {
        ["config", "settings", "配置"]
            .iter()
            .any(|word| text.contains(word))
    };
    let is_release = |text: &str| {
        [
            "deploy", "release", "roll", "ship", "version", "发布", "发版", "过版", "了版", "过线",
            "上线", "部署", "版本",
        ]
        .iter()
        .any(|word| text.contains(word))
    };
    let blames_config = is_config(cause) && !is_release(cause);
    // A release that the report does speak of is not contradicted by the absence of another.
    all_say(
        clauses,
        |folded| {
            let said = name.replace_all(folded, " ");
            change.is_match(&said)
                && if blames_config {
                    is_config(&said) || !is_release(&said)
                } else {
                    is_release(&said) || !is_config(&said)
                }
        },
        |folded| negates(folded) || folded.contains("unchanged"),
    )
}

fn share(folded: &str) -> Option<f64> {
    static USED_OF_ALL: LazyLock<Option<Regex>> = LazyLock::new(|| {
        Regex::new(r"(?:^|[\s:：=(（])([0-9]{1,7}) ?(?:gi?b?|mi?b?|t)? ?(?:/|of|out of) ?([0-9]{1,7}) ?(?:gi?b?|mi?b?|t)?(?:\s|$|[)）,，])").ok()
    });
    if !folded.contains('%')
        && let Some(found) = USED_OF_ALL.as_ref()?.captures(folded)
    {
        let number = |at: usize| found.get(at)?.as_str().parse::<f64>().ok();
        let (used, all) = (number(1)?, number(2)?);
        // `2 of 3 nodes` counts nodes.
        return (all >= 10.0 && used <= all).then(|| used * 100.0 / all);
    }
    let mut all = SHARE
        .as_ref()?
        .captures_iter(folded)
        .filter_map(|c| c.get(1)?.as_str().parse::<f64>().ok());
    let first = all.next()?;
    // Two shares in one clause: which is the thing's is not certain.
    all.next().is_none().then_some(first)
}

/// The first clause that speaks of a thing, where each that does says so of it.
fn all_say<'a, 'r>(
    clauses: &'a [Clause<'r>],
    speaks: impl Fn(&str) -> bool,
    says: impl Fn(&str) -> bool,
) -> Option<&'a Clause<'r>> {
    let mut about = clauses
        .iter()
        .filter(|clause| speaks(&clause.folded))
        .peekable();
    let first = about.peek().copied()?;
    about.all(|clause| says(&clause.folded)).then_some(first)
}

fn holds_any_word(folded: &str, words: &[&str]) -> bool {
    words.iter().any(|word| holds_word(folded, word))
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
            ("Redis is down", "the redis client is fine, 503s everywhere"),
            (
                "Redis is down",
                "redis in eu is fine, redis in us times out",
            ),
            (
                "Memory leak in the worker",
                "memory is flat at night and grows by day",
            ),
            ("Memory leak in the worker", "memory grows 2 % an hour"),
            ("Traffic surge", "traffic is back to normal since noon"),
            ("Traffic surge", "memory is normal"),
            (
                "Certificate expired",
                "the client certificate is valid, the server certificate was not looked at",
            ),
            ("Certificate expired", "certificate valid?"),
            ("Connection pool exhausted", "2 of 3 pools look odd"),
            ("流量突增", "流量正常，但支付流量翻倍"),
            ("缓存异常", "缓存命中率正常"),
            ("A bad config change", "nothing was deployed today"),
            (
                "A bad config change",
                "no config change of ours, the network team changed a setting",
            ),
            ("A bad deploy", "no config changes this week"),
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
            ("本周发版引入缺陷", "本周没有发过版", "本周没有发过版"),
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
                "Brokers are overloaded",
                "lag grows, brokers look fine",
                "brokers look fine",
            ),
            (
                "Redis is unreachable from the workers",
                "Redis is healthy.",
                "Redis is healthy",
            ),
            (
                "Postgres is overloaded and answers too slowly",
                "Postgres itself looks bored, CPU 14%",
                "Postgres itself looks bored",
            ),
            (
                "消息队列异常",
                "下单慢。消息队列状态正常。",
                "消息队列状态正常",
            ),
            (
                "Memory leak in the upload service",
                "memory is flat at 22%",
                "memory is flat at 22%",
            ),
            (
                "Traffic spike overloads the gateway",
                "Traffic is normal, 1200 users online.",
                "Traffic is normal",
            ),
            ("流量突增打满网关", "业务量与昨天持平", "业务量与昨天持平"),
            (
                "The TLS certificate has expired",
                "certificate is valid until March 2027",
                "certificate is valid until March 2027",
            ),
            ("证书过期", "证书未过期，握手失败", "证书未过期"),
            (
                "A bad config change",
                "no config changes this week",
                "no config changes this week",
            ),
            (
                "访问量突增",
                "流量与平时一样，访问量没有上涨",
                "流量与平时一样",
            ),
            (
                "Connection pool exhausted",
                "pool: 12 of 50 in use",
                "pool: 12 of 50 in use",
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

//! Contradictions that code finds on its own (R13): a cause that says a thing is full while the
//! report says how full it is, or that blames a change while the report says that nothing changed.
//!
//! Few and certain: a wrong contradiction hides a right cause. Only a plain number beside the very
//! same noun, or a plain negation, counts; where the report says both, nothing is concluded.

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
    &["connection pool", "db pool", "pool", "hikaripool", "连接池"],
    &["disk", "filesystem", "volume", "磁盘"],
    &["memory", "heap", "内存", "堆"],
    &["cpu"],
    &["queue", "队列"],
    &["thread pool", "threads", "线程池", "线程"],
];

const FULL: &[&str] = &[
    "exhaust", "full", "saturat", "overload", "ran out", "run out", "running out", "out of", "leak", "耗尽", "打满", "满",
    "过载", "泄漏", "不足", "用尽",
];

const CHANGES: &[&str] = &["deploy", "release", "rollout", "new version", "发布", "发版", "上线", "部署", "变更"];

static SHARE: LazyLock<Option<Regex>> = LazyLock::new(|| Regex::new(r"([0-9]{1,3}(?:\.[0-9]+)?)\s*(?:%|percent)").ok());

/// The clause of the report that contradicts this cause, if there is one.
pub(super) fn find(cause: &str, report: &Report) -> Option<Found> {
    let cause = fold(cause);
    let clauses: Vec<(Option<&str>, &str)> = report
        .parts()
        .flat_map(|(author, text)| clauses(text).into_iter().map(move |clause| (author, clause)))
        .collect();
    let found = of_fullness(&cause, &clauses).or_else(|| of_change(&cause, &clauses))?;
    Some(Found {
        quote: found.1.trim().to_owned(),
        author: found.0.map(str::to_owned),
    })
}

type Clause<'a> = (Option<&'a str>, &'a str);

fn of_fullness<'a>(cause: &str, clauses: &[Clause<'a>]) -> Option<Clause<'a>> {
    if !FULL.iter().any(|word| cause.contains(word)) {
        return None;
    }
    let thing = THINGS.iter().find(|words| words.iter().any(|word| holds_word(cause, word)))?;
    let mut low = None;
    for &(author, clause) in clauses {
        let folded = fold(clause);
        if !thing.iter().any(|word| holds_word(&folded, word)) {
            continue;
        }
        match share(&folded) {
            Some(share) if share < NOT_FULL_BELOW && !negates(clause) && is_a_level(&folded) => low = low.or(Some((author, clause))),
            Some(share) if share >= NEARLY_FULL_FROM => return None,
            Some(_) => {}
            // The report itself says that it is full.
            None if FULL.iter().any(|word| folded.contains(word)) && !negates(clause) => return None,
            None => {}
        }
    }
    low
}

/// A share of use, not a share of something else (an error rate, free space, a growth).
fn is_a_level(folded: &str) -> bool {
    !["free", "fail", "error", "rose", "grew", "up by", "剩余", "失败", "错误", "上涨", "下降", "of requests"]
        .iter()
        .any(|word| folded.contains(word))
}

fn of_change<'a>(cause: &str, clauses: &[Clause<'a>]) -> Option<Clause<'a>> {
    if !CHANGES.iter().any(|word| cause.contains(word)) || negates(cause) {
        return None;
    }
    let about_change: Vec<&Clause<'a>> = clauses
        .iter()
        .filter(|(_, clause)| {
            let folded = fold(clause);
            CHANGES.iter().any(|word| folded.contains(word))
        })
        .collect();
    // A release that the report does speak of is not contradicted by the absence of another.
    match about_change.as_slice() {
        [] => None,
        all if all.iter().all(|(_, clause)| negates(clause) || fold(clause).contains("unchanged")) => all.first().map(|clause| **clause),
        _ => None,
    }
}

fn share(folded: &str) -> Option<f64> {
    let mut all = SHARE.as_ref()?.captures_iter(folded).filter_map(|c| c.get(1)?.as_str().parse::<f64>().ok());
    let first = all.next()?;
    // Two shares in one clause: which is the thing's is not certain.
    all.next().is_none().then_some(first)
}

fn holds_word(folded: &str, word: &str) -> bool {
    folded.match_indices(word).any(|(start, found)| {
        let before = folded.get(..start).and_then(|head| head.chars().next_back());
        let after = folded.get(start + found.len()..).and_then(|tail| tail.chars().next());
        !before.is_some_and(|c| c.is_ascii_alphanumeric()) && !after.is_some_and(|c| c.is_ascii_alphanumeric() && c != 's')
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
        find(cause, &Report::from_text(report)).map(|found| found.quote)
    }

    #[test]
    fn r13_no_contradiction_where_nothing_is_certain() {
        for (cause, report) in [
            ("Connection pool exhausted", "503s everywhere"),
            ("Connection pool exhausted", "pool at 97 %"),
            ("Connection pool exhausted", "pool at 30 % on a, pool exhausted on b"),
            ("Refund job holds JDBC connections open and exhausts the HikariPool", "Postgres looks bored, CPU 14%, 23 connections of 200"),
            ("Disk full", "disk is 30 % free"),
            ("Gateway rate limit", "pool at 30 %"),
            ("A bad release", "release 5.2.0 rolled out, nothing else deployed"),
            ("Menu feature exhausts the heap", "average mu = 0.112, heap out of memory"),
            ("The pool is spooled", "liverpool at 30 %"),
        ] {
            assert_eq!(quote(cause, report), None, "{cause} / {report}");
        }
    }

    #[test]
    fn r13_contradicted_by_the_report() {
        for (cause, report, expected) in [
            ("DB connection pool exhausted", "upstream 429s, DB pool at 30 %, no deploy", "DB pool at 30 %"),
            ("数据库连接池耗尽", "网关返回 429。数据库连接池使用率 30%。今天没有发布。", "数据库连接池使用率 30%"),
            ("Bad deploy of payments-api", "503s. Nothing deployed since yesterday.", "Nothing deployed since yesterday"),
            ("新版本发布引入的问题", "间歇性 503。今天没有发布。", "今天没有发布"),
            ("Disk full on the primary", "disk usage is 41 %", "disk usage is 41 %"),
        ] {
            assert_eq!(quote(cause, report).as_deref(), Some(expected), "{cause} / {report}");
        }
    }
}

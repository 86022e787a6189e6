//! Whether two fixes or two causes are the same: one function for R10, R11, R13, R14 and R17.
//!
//! *Same*: equal after NFKC and folding of case, punctuation and stop words, or a token overlap
//! (Jaccard; CJK as bigrams) of at least 0.7 with equal numbers and identifiers. *Near-same*: 0.4
//! to 0.7, or more with other numbers or identifiers. What changes from outage to outage (pods,
//! commits, addresses) is masked before. Texts that negate or reverse each other (*enable* and
//! *disable*, *do not restart* and *restart*) are neither, however many words they share.

use super::volatile;
use super::words::{fold, is_cjk, is_stop_word, meaningful};
use super::{PastIncident, service};
use regex::Regex;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeSet, HashSet};
use std::sync::LazyLock;

/// Overlap from which two texts are the same (rules.md, *Words*).
pub const SAME_FROM: f64 = 0.7;
/// Overlap from which two texts are near-same (rules.md, *Words*).
pub const NEAR_FROM: f64 = 0.4;

/// How alike two fixes or causes are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Likeness {
    /// Nothing to do with each other.
    Different,
    /// Counts as a failure of this fix where it failed, never as its proof.
    Near,
    /// One and the same.
    Same,
}

/// A fix or a cause prepared for comparing, for those who hold one against many.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Phrase {
    /// Tokens that carry meaning; none where the text says nothing.
    tokens: BTreeSet<String>,
    /// The same with compound words taken apart at their punctuation.
    parts: BTreeSet<String>,
    /// Numbers and identifiers among them: where these differ, the texts do.
    telling: BTreeSet<String>,
    /// The folded words that have an opposite.
    words: BTreeSet<&'static str>,
    /// The folded text, for opposites in Chinese; empty where it has none.
    han: String,
    negated: bool,
    /// `from eu to us`.
    direction: Option<(String, String)>,
    /// What people said of this text and others, by the tokens of the other.
    said: Vec<(BTreeSet<String>, bool)>,
}

/// What people said of pairs of fixes or causes. Only tokens are kept: they decide.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct PeopleSaid(Vec<SaidPair>);

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct SaidPair {
    one: BTreeSet<String>,
    other: BTreeSet<String>,
    same: bool,
}

impl PeopleSaid {
    /// Notes a word about two texts. A later word about the same two replaces an earlier one; a text
    /// that says nothing is like nothing, whoever says otherwise.
    pub fn note(&mut self, one: &str, other: &str, same: bool) {
        let (one, other) = (Phrase::new(one).tokens, Phrase::new(other).tokens);
        if one.is_empty() || other.is_empty() || one == other {
            return;
        }
        self.0.retain(|pair| {
            !((pair.one == one && pair.other == other) || (pair.one == other && pair.other == one))
        });
        self.0.push(SaidPair { one, other, same });
    }

    /// Nobody said anything.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Prepares a text with what people said of it. What is the same as a third is the same as the
    /// other, unless somebody called these two different.
    pub fn phrase(&self, text: &str) -> Phrase {
        let mut phrase = Phrase::new(text);
        if self.0.is_empty() || phrase.is_empty() {
            return phrase;
        }
        let mut group: Vec<&BTreeSet<String>> = vec![&phrase.tokens];
        let mut next = 0;
        while let Some(known) = group.get(next).copied() {
            next += 1;
            for pair in self.0.iter().filter(|pair| pair.same) {
                let other = if pair.one == *known {
                    &pair.other
                } else if pair.other == *known {
                    &pair.one
                } else {
                    continue;
                };
                if !group.contains(&other) {
                    group.push(other);
                }
            }
        }
        let different = self.0.iter().filter(|pair| !pair.same).filter_map(|pair| {
            if pair.one == phrase.tokens {
                Some((pair.other.clone(), false))
            } else if pair.other == phrase.tokens {
                Some((pair.one.clone(), false))
            } else {
                None
            }
        });
        let said: Vec<(BTreeSet<String>, bool)> = different
            .chain(group.iter().skip(1).map(|tokens| ((*tokens).clone(), true)))
            .collect();
        phrase.said = said;
        phrase
    }
}

impl Phrase {
    /// Prepares a text.
    pub fn new(text: &str) -> Self {
        let masked = with_units_joined(&volatile::mask(text));
        let tokens = meaningful(&masked);
        let folded = fold(&masked);
        let identifiers: BTreeSet<String> = masked
            .split(|c: char| !(c.is_alphanumeric() || c == '_'))
            .filter(|word| {
                word.chars()
                    .zip(word.chars().skip(1))
                    .any(|(a, b)| a.is_lowercase() && b.is_uppercase())
            })
            .map(fold)
            .collect();
        Self {
            telling: tokens
                .iter()
                .filter(|token| !token.chars().any(is_cjk))
                .filter(|token| {
                    identifiers.contains(*token)
                        || token
                            .chars()
                            .any(|c| c.is_ascii_digit() || matches!(c, '_' | '.' | '-'))
                })
                .cloned()
                .collect(),
            words: folded
                .split(|c: char| !c.is_alphanumeric())
                .filter_map(|word| POLES.get(word).copied())
                .collect(),
            parts: tokens
                .iter()
                .flat_map(|token| {
                    // `1.2` is not `2.1`.
                    let whole = token.chars().any(|c| c.is_numeric());
                    token.split(move |c: char| !whole && matches!(c, '-' | '.' | '_'))
                })
                .filter(|part| !part.is_empty() && !is_stop_word(part))
                .map(str::to_owned)
                .collect(),
            negated: negates(&masked),
            direction: direction(&folded),
            han: if folded.chars().any(is_cjk) {
                folded
            } else {
                String::new()
            },
            tokens,
            said: Vec::new(),
        }
    }

    /// Nothing in it carries meaning.
    pub fn is_empty(&self) -> bool {
        self.tokens.is_empty()
    }

    /// How alike the two are.
    pub fn likeness(&self, other: &Self) -> Likeness {
        if self.is_empty() || other.is_empty() {
            return Likeness::Different;
        }
        if self.tokens != other.tokens {
            let said = |one: &Self, other: &Self| {
                one.said
                    .iter()
                    .find(|(tokens, _)| *tokens == other.tokens)
                    .map(|(_, same)| *same)
            };
            match said(self, other).or_else(|| said(other, self)) {
                Some(true) => return Likeness::Same,
                Some(false) => return Likeness::Different,
                None => {}
            }
        }
        if self.reverses(other) {
            return Likeness::Different;
        }
        // `payments-api` and `payments api` differ in punctuation alone.
        if self.tokens == other.tokens || self.parts == other.parts {
            return Likeness::Same;
        }
        let shared = self.tokens.intersection(&other.tokens).count();
        let all = self.tokens.len() + other.tokens.len() - shared;
        let overlap = shared as f64 / all as f64;
        // A number or identifier of one that the other lacks makes two of them.
        if overlap >= SAME_FROM
            && self.telling.is_subset(&other.tokens)
            && other.telling.is_subset(&self.tokens)
        {
            Likeness::Same
        } else if overlap >= NEAR_FROM {
            Likeness::Near
        } else {
            Likeness::Different
        }
    }

    /// The same.
    pub fn same(&self, other: &Self) -> bool {
        self.likeness(other) == Likeness::Same
    }

    /// Everything that the other says is said here too, in a longer text; at least two tokens.
    pub fn contains(&self, other: &Self) -> bool {
        other.tokens.len() >= 2 && other.tokens.is_subset(&self.tokens) && !self.reverses(other)
    }

    fn reverses(&self, other: &Self) -> bool {
        if self.negated != other.negated {
            return true;
        }
        if let (Some((from, to)), Some((other_from, other_to))) =
            (&self.direction, &other.direction)
            && from == other_to
            && to == other_from
            && from != to
        {
            return true;
        }
        let opposed = |left: &str, right: &str| {
            self.words.contains(left)
                && !self.words.contains(right)
                && other.words.contains(right)
                && !other.words.contains(left)
        };
        let han_opposed = |left: &str, right: &str| {
            self.han.contains(left)
                && !self.han.contains(right)
                && other.han.contains(right)
                && !other.han.contains(left)
        };
        OPPOSITES
            .iter()
            .any(|(left, right)| opposed(left, right) || opposed(right, left))
            || (!self.han.is_empty()
                && !other.han.is_empty()
                && HAN_OPPOSITES
                    .iter()
                    .any(|(left, right)| han_opposed(left, right) || han_opposed(right, left)))
    }
}

/// `12 GB` and `12GB` are one quantity.
fn with_units_joined(text: &str) -> String {
    static APART: LazyLock<Option<Regex>> =
        LazyLock::new(|| Regex::new(r"(?i)([0-9])[ \u{a0}]+([kmgt]i?b?|ms|s|min|h)\b").ok());
    match APART.as_ref() {
        Some(apart) => apart.replace_all(text, "${1}${2}").into_owned(),
        None => text.to_owned(),
    }
}

/// What a text moves from where to where, as far as its words say so.
fn direction(folded: &str) -> Option<(String, String)> {
    let words: Vec<&str> = folded
        .split(|c: char| !(c.is_alphanumeric() || matches!(c, '-' | '_' | '.')))
        .filter(|word| !word.is_empty())
        .collect();
    let after = |word: &str| -> Option<String> {
        let at = words.iter().position(|known| *known == word)?;
        words
            .iter()
            .skip(at + 1)
            .find(|word| !is_stop_word(word))
            .map(|word| (*word).to_owned())
    };
    if let (Some(from), Some(to)) = (after("from"), after("to")) {
        return Some((from, to));
    }
    let (_, rest) = folded.split_once(['从', '由'])?;
    let (from, to) = rest.split_once(['到', '至', '为', '成'])?;
    let two = |text: &str| -> String { text.trim_start().chars().take(2).collect() };
    Some((two(from), two(to)))
}

/// Compares two fixes or two causes. An empty text is like nothing.
pub fn likeness(one: &str, other: &str) -> Likeness {
    Phrase::new(one).likeness(&Phrase::new(other))
}

/// Whether two fixes or causes are the same.
pub fn same(one: &str, other: &str) -> bool {
    likeness(one, other) == Likeness::Same
}

/// Whether two fixes or causes are the same or near-same.
pub fn near_or_same(one: &str, other: &str) -> bool {
    likeness(one, other) >= Likeness::Near
}

/// Word pairs that reverse a sentence.
const OPPOSITES: &[(&str, &str)] = &[
    ("enable", "disable"),
    ("enabled", "disabled"),
    ("increase", "decrease"),
    ("raise", "lower"),
    ("raise", "reduce"),
    ("increase", "reduce"),
    ("start", "stop"),
    ("on", "off"),
    ("up", "down"),
    ("open", "close"),
    ("add", "remove"),
    ("attach", "detach"),
    ("grow", "shrink"),
    ("lock", "unlock"),
    ("block", "unblock"),
    ("pause", "resume"),
    ("upgrade", "downgrade"),
    ("more", "fewer"),
    ("longer", "shorter"),
    ("higher", "lower"),
    ("forward", "back"),
    ("cordon", "uncordon"),
    ("allow", "deny"),
    ("allow", "block"),
    ("mount", "unmount"),
    ("before", "after"),
    ("first", "last"),
    ("primary", "standby"),
    ("primary", "replica"),
    ("short", "long"),
    ("small", "large"),
    ("too-low", "too-high"),
    ("low", "high"),
    ("expand", "shrink"),
    ("speed", "slow"),
];

/// Each word of these pairs.
static POLES: LazyLock<HashSet<&'static str>> = LazyLock::new(|| {
    OPPOSITES
        .iter()
        .flat_map(|(left, right)| [*left, *right])
        .collect()
});

const HAN_OPPOSITES: &[(&str, &str)] = &[
    ("启用", "禁用"),
    ("开启", "关闭"),
    ("打开", "关闭"),
    ("增加", "减少"),
    ("调大", "调小"),
    ("调高", "调低"),
    ("扩容", "缩容"),
    ("启动", "停止"),
    ("升级", "降级"),
    ("添加", "删除"),
    ("上线", "下线"),
    ("加大", "减小"),
    ("调大", "减小"),
    ("增大", "减小"),
    ("增大", "缩小"),
    ("延长", "缩短"),
    ("过高", "过低"),
    ("过大", "过小"),
    ("过长", "过短"),
    ("过严", "过松"),
    ("加锁", "解锁"),
    ("暂停", "恢复"),
    ("回滚", "升级"),
    ("挂载", "卸载"),
    ("允许", "禁止"),
];

/// Words that negate a sentence, English.
pub const NEGATIONS: &[&str] = &[
    "not",
    "no",
    "never",
    "without",
    "none",
    "neither",
    "nor",
    "cannot",
    "isn't",
    "wasn't",
    "aren't",
    "weren't",
    "don't",
    "doesn't",
    "didn't",
    "can't",
    "couldn't",
    "won't",
    "wouldn't",
    "hasn't",
    "haven't",
    "hadn't",
    "shouldn't",
    "isnt",
    "wasnt",
    "dont",
    "doesnt",
    "didnt",
    "cant",
    "wont",
    "nothing",
    "nobody",
];

/// Words that negate a sentence, Chinese.
pub const HAN_NEGATIONS: &[&str] = &["不", "没", "未", "无", "非", "别", "勿"];

/// Chinese words that hold a negating character and negate nothing.
const HAN_NO_NEGATION: &[&str] = &[
    "非常",
    "无线",
    "别名",
    "别的",
    "特别",
    "级别",
    "区别",
    "分别",
    "类别",
    "不同",
    "不断",
    "无状态",
    "未来",
    "差不多",
    "是非",
    "不仅",
    "不只",
    "告别",
    "非空",
    "南非",
    "无论",
    "不管",
    "沉没",
];

/// Whether a text says *not*.
pub fn negates(text: &str) -> bool {
    let folded = fold(text).replace('\u{2019}', "'");
    // `NO_PROPOSAL_CHOSEN` is the name of something.
    let english = folded
        .split(|c: char| !(c.is_alphanumeric() || matches!(c, '\'' | '_')))
        .any(|word| NEGATIONS.contains(&word));
    if english {
        return true;
    }
    let mut han = folded;
    for word in HAN_NO_NEGATION {
        han = han.replace(word, "");
    }
    HAN_NEGATIONS.iter().any(|negation| han.contains(negation))
}

/// The stable form of an error line: folded words with numbers, ids, addresses and times masked.
/// Empty where nothing telling is left.
pub fn signature(line: &str) -> Vec<String> {
    let masked = volatile::mask_log_line(line);
    fold(&masked)
        .split(|c: char| !(c.is_alphanumeric() || matches!(c, '_' | '#' | '\'')))
        .map(|word| word.trim_matches('\''))
        .filter(|word| !word.is_empty() && *word != "#")
        .map(str::to_owned)
        .collect()
}

/// Whether an error signature of a record stands in a text: its words occur in order within one
/// line. At least two words are needed, or one that no prose contains (`ERR_CERT_DATE_INVALID`).
pub fn signature_stands_in(error_line: &str, text: &str) -> bool {
    telling_signature(error_line).is_some_and(|wanted| {
        text.lines()
            .any(|line| signature_within(&wanted, &signature(line)))
    })
}

/// The signature of an error line where it is telling enough to be shared: see
/// [`signature_stands_in`]. For those who hold many signatures against the same lines.
pub fn telling_signature(error_line: &str) -> Option<Vec<String>> {
    let words = signature(error_line);
    is_telling_signature(&words, error_line).then_some(words)
}

/// Whether a signature stands in a line, both as [`signature`] gives them.
pub fn signature_within(wanted: &[String], words: &[String]) -> bool {
    // In order and not scattered: the words between may not outnumber the wanted ones.
    !wanted.is_empty()
        && (0..words.len()).any(|start| {
            words.get(start) == wanted.first()
                && is_within(wanted, words.get(start..).unwrap_or_default())
        })
}

fn is_within(wanted: &[String], words: &[String]) -> bool {
    let mut position = 0;
    for want in wanted {
        match words.iter().skip(position).position(|word| word == want) {
            Some(offset) => position += offset + 1,
            None => return false,
        }
    }
    position <= wanted.len() * 2 + 2
}

fn is_telling_signature(words: &[String], line: &str) -> bool {
    let han = words
        .iter()
        .any(|word| word.chars().filter(|c| is_cjk(*c)).count() >= 4);
    let code = words.iter().any(|word| {
        word.len() >= 8
            && (word.contains('_')
                || line.chars().any(|c| c.is_uppercase()) && has_inner_capital(line, word))
    });
    words.len() >= 2 || han || code
}

fn has_inner_capital(line: &str, folded_word: &str) -> bool {
    line.split(|c: char| !(c.is_alphanumeric() || c == '_'))
        .any(|word| fold(word) == folded_word && word.chars().skip(1).any(char::is_uppercase))
}

/// Codes that a masked line loses and that tell one error from another: HTTP statuses (4xx, 5xx)
/// and numbers with leading zeros behind letters (`ORA-00060`).
pub fn error_codes(line: &str) -> BTreeSet<String> {
    line.split(|c: char| !c.is_ascii_alphanumeric())
        .filter(|word| word.bytes().all(|b| b.is_ascii_digit()))
        .filter(|word| {
            (word.len() == 3 && word.starts_with(['4', '5']))
                || (word.len() >= 4 && word.starts_with('0'))
        })
        .map(str::to_owned)
        .collect()
}

/// The error signatures of a record that are telling, each with its codes.
pub fn telling_signatures(incident: &PastIncident) -> Vec<(Vec<String>, BTreeSet<String>)> {
    let mut signatures: Vec<_> = incident
        .error_signatures
        .iter()
        .filter_map(|line| Some((telling_signature(line)?, error_codes(line))))
        .collect();
    signatures.sort();
    signatures.dedup();
    signatures
}

/// Whether two signatures, as [`telling_signatures`] gives them, are one. Codes may be missing on
/// one side, but never differ: `429` is not `503`, however alike the rest is.
pub fn one_signature(
    one: &(Vec<String>, BTreeSet<String>),
    other: &(Vec<String>, BTreeSet<String>),
) -> bool {
    let (short, long) = if one.0.len() <= other.0.len() {
        (&one.0, &other.0)
    } else {
        (&other.0, &one.0)
    };
    // A record keeps the telling part of a line, a report the whole of it.
    let alike = short == long || (short.len() >= LEAST_PART && signature_within(short, long));
    alike && (one.1.is_empty() || other.1.is_empty() || !one.1.is_disjoint(&other.1))
}

/// Fewest words of a signature that is found within a longer one: `connection refused` stands in
/// too many.
const LEAST_PART: usize = 3;

/// *Shared pattern* (rules.md, *Words*): a shared error signature, or the same cause.
pub fn shares_pattern(one: &PastIncident, other: &PastIncident) -> bool {
    shares_pattern_as(&PeopleSaid::default(), one, other)
}

/// As [`shares_pattern`], with what people said of causes.
pub fn shares_pattern_as(people: &PeopleSaid, one: &PastIncident, other: &PastIncident) -> bool {
    let theirs = telling_signatures(other);
    telling_signatures(one)
        .iter()
        .any(|mine| theirs.iter().any(|their| one_signature(mine, their)))
        || people
            .phrase(&one.root_cause)
            .same(&people.phrase(&other.root_cause))
}

/// Whether two records are of one service by rule. Records carry canonical names.
pub fn one_service(one: &PastIncident, other: &PastIncident) -> bool {
    service::same_service(
        &service::Registry::default(),
        one.service.as_deref(),
        other.service.as_deref(),
    )
}

#[cfg(test)]
mod tests {
    use super::Likeness::{Different, Near, Same};
    use super::*;

    #[test]
    fn fixes_and_causes_that_are_the_same_near_or_different() {
        for (one, other, expected) in [
            // Nothing is like an empty text, not even another one.
            ("", "", Different),
            ("", "Restart it", Different),
            ("of the and", "of the and", Different),
            // Spelling.
            ("Restart the payments pods", "restart payments pods.", Same),
            (
                "Pause the refund job and restart payments-api",
                "Please pause the refund job, then restart payments-api again",
                Same,
            ),
            ("Ｒｅｓｔａｒｔ　pods １２", "restart pods 12", Same),
            (
                "Raise the pool size to 40",
                "Raise the pool's size to 40",
                Same,
            ),
            (
                "Restart payments-api, pause the refund job",
                "Pause the refund job; restart payments-api",
                Same,
            ),
            // Overlap.
            (
                "Stop the nightly refund export job first",
                "Stop the nightly refund export job",
                Same,
            ),
            (
                "Remount the font share from the standby server",
                "Remount the font share from the standby file server",
                Same,
            ),
            (
                "Restart ticket-mailer",
                "Pause the campaign sender and restart ticket-mailer",
                Near,
            ),
            (
                "Restart the gateway",
                "Rotate the relay password",
                Different,
            ),
            (
                "Scale out the workers",
                "Scale out the workers of the queue slowly by hand tonight",
                Near,
            ),
            // Numbers and identifiers.
            (
                "Raise maximumPoolSize to 40 on all payment pods now",
                "Raise maximumPoolSize to 80 on all payment pods now",
                Near,
            ),
            (
                "Restart the PaymentWorker pool, drain its queue slowly and carefully",
                "Restart the OrderWorker pool, drain its queue slowly and carefully",
                Near,
            ),
            (
                "Fail over db-1 slowly by hand with care",
                "Fail over db-2 slowly by hand with care",
                Near,
            ),
            // What changes from outage to outage is no difference.
            (
                "Delete pod notify-go-6d9f7c5b4-x2k8q",
                "Delete pod notify-go-7c9d8b6f4-k8z2p",
                Same,
            ),
            ("Roll back to 3f9c2ab", "Roll back to 9fa31bc", Same),
            // The opposite.
            ("Enable the menu flag", "Disable the menu flag", Different),
            ("Restart the pods", "Do not restart the pods", Different),
            (
                "Raise the limit of open files",
                "Lower the limit of open files",
                Different,
            ),
            ("Switch the flag on", "Switch the flag off", Different),
            (
                "Move traffic from eu to us",
                "Move traffic from us to eu",
                Different,
            ),
            ("Scale the pool up", "Scale the pool down", Different),
            // Chinese.
            ("重启网关服务", "重启网关服务。", Same),
            (
                "将网关重试限流阈值恢复为默认值",
                "把网关重试限流阈值恢复为默认值",
                Same,
            ),
            ("网关对重试请求限流过严", "网关对重试的请求限流过严", Same),
            ("重启消费者", "暂停对账任务并重启消费者", Near),
            ("更换证书", "降低写入并发", Different),
            ("启用限流开关", "禁用限流开关", Different),
            ("扩容连接池到 40", "扩容连接池到 80", Near),
            ("扩容连接池", "缩容连接池", Different),
            ("重启服务", "不要重启服务", Different),
            ("从主库切换到备库", "从备库切换到主库", Different),
            ("连接数上涨", "连接数不断上涨", Near),
            ("清理磁盘日志", "清理磁盘上的日志", Near),
        ] {
            assert_eq!(likeness(one, other), expected, "{one} / {other}");
            assert_eq!(likeness(other, one), expected, "{other} / {one}");
        }
    }

    #[test]
    fn one_text_holds_another() {
        for (long, short, expected) in [
            (
                "Please pause the campaign sender for all regions, then restart the rest",
                "Pause the campaign sender",
                true,
            ),
            (
                "Do not pause the campaign sender",
                "Pause the campaign sender",
                false,
            ),
            ("Pause the campaign", "Pause the campaign sender", false),
            ("Restart everything", "Restart", false),
        ] {
            assert_eq!(
                Phrase::new(long).contains(&Phrase::new(short)),
                expected,
                "{long} / {short}"
            );
        }
    }

    #[test]
    fn negation_is_seen_and_not_imagined() {
        for (text, expected) in [
            ("nothing was deployed", true),
            ("the pool isn’t full", true),
            ("未恢复", true),
            ("没有发布", true),
            ("非常慢", false),
            ("连接数不断上涨", false),
            ("notable north", false),
            ("级别很高", false),
        ] {
            assert_eq!(negates(text), expected, "{text}");
        }
    }

    #[test]
    fn people_win_over_the_overlap_of_words() {
        let near = "Pause the campaign sender and restart ticket-mailer";
        let mut people = PeopleSaid::default();
        people.note("Restart ticket-mailer", near, true);
        people.note("Roll the menu back", "Revert the menu release", true);
        people.note("Roll back the menu!", "Undo Friday's menu deploy", true);
        people.note(
            "Restart the payments pods",
            "Restart all payments pods",
            false,
        );
        people.note("Restart pods", "restart pods.", false);
        people.note("", "Restart pods", true);
        for (one, other, expected) in [
            // Near by words, the same by word of a person, in either order and any spelling.
            ("Restart ticket-mailer", near, Same),
            ("please restart TICKET-MAILER.", near, Same),
            // Nothing in common but what people said, through a third.
            ("Revert the menu release", "Undo Friday's menu deploy", Same),
            // The same by words, different by word of a person.
            (
                "Restart the payments pods",
                "Restart all payments pods",
                Different,
            ),
            // Equal texts cannot be told apart.
            ("Restart pods", "restart pods", Same),
            ("", "Restart pods", Different),
            // Of these nobody said anything.
            (
                "Restart ticket-mailer",
                "Rotate the relay password",
                Different,
            ),
            ("Restart the gateway", "Restart the gateway", Same),
        ] {
            assert_eq!(
                people.phrase(one).likeness(&people.phrase(other)),
                expected,
                "{one} / {other}"
            );
            assert_eq!(
                people.phrase(other).likeness(&people.phrase(one)),
                expected,
                "{other} / {one}"
            );
            // One of the two is enough to know.
            assert_eq!(
                people.phrase(one).likeness(&Phrase::new(other)),
                expected,
                "{one} / {other}"
            );
        }
        // The later word wins, in whichever order the two are named.
        people.note(near, "Restart ticket-mailer", false);
        assert_eq!(
            people
                .phrase(near)
                .likeness(&Phrase::new("Restart ticket-mailer")),
            Different
        );
        // A difference wins over what a third would make of them.
        people.note(
            "Undo Friday's menu deploy",
            "Revert the menu release",
            false,
        );
        assert_eq!(
            people
                .phrase("Revert the menu release")
                .likeness(&Phrase::new("Undo Friday's menu deploy")),
            Different
        );
    }

    #[test]
    fn a_pattern_is_shared_by_signature_with_its_codes_or_by_cause() {
        for (one, other, expected) in [
            (
                "upstream returned 503 after 30000ms",
                "upstream returned 503 after 12000ms",
                true,
            ),
            ("upstream returned 429", "upstream returned 503", false),
            (
                "upstream returned an error",
                "upstream returned an error",
                true,
            ),
            (
                "ORA-00060: deadlock detected",
                "ORA-00060: deadlock detected",
                true,
            ),
            (
                "ORA-00060: error in statement",
                "ORA-01555: error in statement",
                false,
            ),
            (
                "TillPool - no connection, timed out after 30000ms",
                "TillPool - no connection, timed out after 15000ms",
                true,
            ),
            (
                "2026-05-14 ERROR upstream returned 502 from 10.0.0.7",
                "2026-05-15 ERROR upstream returned 502 from 10.0.0.9",
                true,
            ),
            ("上游返回 429 请求过多", "上游返回 503 请求过多", false),
            ("上游返回 503 服务不可用", "上游返回 503 服务不可用", true),
            ("timeout", "timeout", false),
            ("", "", false),
        ] {
            let with = |line: &str, number| {
                let mut incident = PastIncident::new(
                    super::super::IncidentId::new(number).expect("not zero"),
                    "title",
                );
                incident.error_signatures = vec![line.to_owned()];
                incident
            };
            let (one, other) = (with(one, 1), with(other, 2));
            assert_eq!(
                shares_pattern(&one, &other),
                expected,
                "{one:?} / {other:?}"
            );
            assert_eq!(
                shares_pattern(&other, &one),
                expected,
                "{other:?} / {one:?}"
            );
        }
    }
}

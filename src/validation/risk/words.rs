//! The risk of a step in words, where it carries no command (R16).
//!
//! Design: the verbs of `words.txt`, found where an order can stand: at the beginning of a clause,
//! behind *and*, *then*, *to*. A verb inside a question (*whether it was restarted*), a participle
//! (*the deleted pods*) or in front of a noun that it only describes (*restart count*) orders
//! nothing. Several orders: the highest counts. No known order: risky.

use crate::incident::proposal::Risk;
use crate::incident::words::is_cjk;
use std::collections::{HashMap, HashSet};
use std::sync::LazyLock;

/// A verb behind its first word: the other words, the nouns that must follow, the risk.
type Verb = (Vec<String>, HashSet<String>, Risk);

#[derive(Default)]
struct Lexicon {
    /// By the first word of the verb.
    verbs: HashMap<String, Vec<Verb>>,
    nouns: HashSet<String>,
    carriers: HashSet<String>,
    /// Longest first.
    zh: Vec<(String, Risk)>,
    zh_nouns: Vec<String>,
}

static LEXICON: LazyLock<Lexicon> = LazyLock::new(|| read(include_str!("words.txt")));

fn read(text: &str) -> Lexicon {
    let mut lexicon = Lexicon::default();
    for line in text.lines() {
        let mut parts = line.split_whitespace();
        match parts.next() {
            Some("en") => {
                let Some(risk) = parts.next().and_then(risk_word) else {
                    continue;
                };
                let rest: Vec<&str> = parts.collect();
                let (verbs, nouns) = match rest.iter().position(|w| *w == "before") {
                    Some(at) => (
                        rest.get(..at).unwrap_or_default(),
                        rest.get(at + 1..).unwrap_or_default(),
                    ),
                    None => (rest.as_slice(), [].as_slice()),
                };
                let nouns: HashSet<String> = nouns.iter().map(|n| (*n).to_owned()).collect();
                for verb in verbs {
                    let mut words = verb.split('+').map(str::to_owned);
                    if let Some(first) = words.next() {
                        lexicon.verbs.entry(first).or_default().push((
                            words.collect(),
                            nouns.clone(),
                            risk,
                        ));
                    }
                }
            }
            Some("zh") => {
                if let Some(risk) = parts.next().and_then(risk_word) {
                    lexicon.zh.extend(parts.map(|word| (word.to_owned(), risk)));
                }
            }
            Some("noun") => lexicon.nouns.extend(parts.map(str::to_owned)),
            Some("zhnoun") => lexicon.zh_nouns.extend(parts.map(str::to_owned)),
            Some("carry") => lexicon
                .carriers
                .extend(parts.map(|word| word.split('+').next().unwrap_or_default().to_owned())),
            _ => {}
        }
    }
    lexicon
        .zh
        .sort_by_key(|(word, _)| std::cmp::Reverse(word.chars().count()));
    lexicon
}

fn risk_word(word: &str) -> Option<Risk> {
    Risk::parse(if word == "read" { "read_only" } else { word })
}

/// The highest risk that the words order; `None` where no order was understood.
pub(super) fn orders(text: &str) -> Option<Risk> {
    let chinese = chinese_orders(text);
    // Names of services in a Chinese sentence are no orders that were not understood.
    let english = english_orders(text, chinese.is_none());
    match (english, chinese) {
        (Some(a), Some(b)) => Some(a.max(b)),
        (a, b) => a.or(b),
    }
}

/// As [`orders`], of verbs that the tables know; what none knows is no order.
pub(super) fn known_orders(text: &str) -> Option<Risk> {
    english_orders(text, false).max(chinese_orders(text))
}

/// A word of the text, or a mark that ends a clause.
#[derive(Debug, PartialEq)]
enum Token {
    Word(String),
    /// `,`
    Pause,
    /// `.`, `;`, `:`, a line end, a bracket
    Stop,
}

fn tokenise(text: &str) -> Vec<Token> {
    let mut tokens = Vec::new();
    let mut word = String::new();
    let chars: Vec<char> = text.chars().collect();
    for (at, &c) in chars.iter().enumerate() {
        let inside = chars.get(at + 1).is_some_and(|n| n.is_alphanumeric()) && !word.is_empty();
        if c.is_ascii_alphanumeric()
            || matches!(c, '_' | '/')
            || (matches!(c, '-' | '.' | '\'' | '’' | ':') && inside)
        {
            word.extend(c.to_lowercase());
            continue;
        }
        if !word.is_empty() {
            tokens.push(Token::Word(std::mem::take(&mut word)));
        }
        match c {
            ',' | '，' | '、' => tokens.push(Token::Pause),
            '.' | ';' | ':' | '!' | '?' | '\n' | '(' | ')' | '。' | '；' | '：' | '—' | '–' =>
            {
                tokens.push(Token::Stop);
            }
            _ => {}
        }
    }
    if !word.is_empty() {
        tokens.push(Token::Word(word));
    }
    tokens
}

const ASKING: [&str; 16] = [
    "whether", "if", "why", "when", "how", "what", "which", "who", "where", "that", "since",
    "after", "before", "until", "while", "because",
];
/// Words between which and the verb nothing stands: an order may follow them.
const LEADS: [&str; 28] = [
    "and",
    "then",
    "or",
    "to",
    "please",
    "also",
    "first",
    "next",
    "finally",
    "now",
    "should",
    "must",
    "can",
    "may",
    "will",
    "need",
    "lastly",
    "let's",
    "carefully",
    "either",
    "just",
    "but",
    "could",
    "would",
    "not",
    "you",
    "we",
    "afterwards",
];
const DETERMINERS: [&str; 14] = [
    "the", "a", "an", "of", "each", "every", "any", "this", "last", "recent", "latest", "no",
    "per", "for",
];
/// Beginnings of sentences that state something instead of ordering it.
const STATING: [&str; 40] = [
    "the", "a", "an", "it", "this", "that", "these", "those", "there", "in", "on", "at", "with",
    "without", "from", "by", "for", "of", "is", "are", "was", "were", "be", "should", "must",
    "may", "can", "no", "not", "only", "all", "any", "each", "every", "expect", "expected", "note",
    "e.g", "i.e", "using",
];

fn english_orders(text: &str, unknown_counts: bool) -> Option<Risk> {
    let lexicon = &*LEXICON;
    let tokens = tokenise(text);
    let mut best: Option<Risk> = None;
    let mut asking = false;
    // At the beginning of the text or of a sentence; behind a word that leads to an order.
    let mut may_order = true;
    let mut sentence_start = true;
    let mut first = true;
    let mut at = 0;
    let mut raise = |risk: Risk| best = Some(best.map_or(risk, |b: Risk| b.max(risk)));
    while let Some(token) = tokens.get(at) {
        let word = match token {
            Token::Stop => {
                asking = false;
                may_order = true;
                sentence_start = true;
                at += 1;
                continue;
            }
            Token::Pause => {
                asking = false;
                may_order = true;
                at += 1;
                continue;
            }
            Token::Word(word) => word.as_str(),
        };
        if word == "then" {
            asking = false;
        }
        if ASKING.contains(&word) && !first {
            asking = true;
        }
        // "If the lag grows, restart": the order stands behind the comma.
        if first
            && matches!(
                word,
                "if" | "when" | "once" | "after" | "before" | "while" | "until"
            )
        {
            asking = true;
        }
        let was_first = first;
        let started = sentence_start;
        first = false;
        sentence_start = false;
        if asking && !matches!(word, "then") {
            at += 1;
            may_order = false;
            continue;
        }
        if LEADS.contains(&word)
            || (word.len() > 3 && word.ends_with("ly"))
            || word.chars().all(|c| c.is_ascii_digit())
            || word == "step"
        {
            may_order = true;
            at += 1;
            first = was_first;
            sentence_start = started;
            continue;
        }
        if may_order {
            if let Some((risk, length)) = verb_at(lexicon, &tokens, at) {
                if was_first || started || !describes_noun(lexicon, &tokens, at + length) {
                    if lexicon.carriers.contains(word) {
                        match carried(lexicon, &tokens, at + length) {
                            Some(carried) => raise(carried),
                            None => raise(risk),
                        }
                    } else {
                        raise(risk);
                    }
                }
                at += length;
                may_order = false;
                continue;
            }
            if lexicon.carriers.contains(word) {
                raise(carried(lexicon, &tokens, at + 1).unwrap_or(Risk::Risky));
                at += 1;
                may_order = false;
                continue;
            }
            if let Some(risk) = gerund(lexicon, word) {
                raise(risk);
            } else if unknown_counts && (was_first || started) && !STATING.contains(&word) && !states(&tokens, at) {
                // An order that is not known.
                raise(Risk::Risky);
            }
            may_order = false;
        } else if let Some(risk) = gerund(lexicon, word)
            && at.checked_sub(1).and_then(|b| tokens.get(b)).is_some_and(|before| {
                matches!(before, Token::Word(w) if matches!(w.as_str(), "by" | "with" | "consider" | "try" | "begin" | "start"))
            })
        {
            raise(risk);
        }
        at += 1;
    }
    // Text in another script alone holds no English order.
    if tokens
        .iter()
        .any(|t| matches!(t, Token::Word(w) if w.chars().any(|c| c.is_ascii_alphabetic())))
    {
        best
    } else {
        None
    }
}

/// Whether the sentence has a verb that states: "Errors should fall".
fn states(tokens: &[Token], at: usize) -> bool {
    tokens
        .iter()
        .skip(at + 1)
        .take(6)
        .take_while(|t| matches!(t, Token::Word(_)))
        .any(|t| {
            matches!(t, Token::Word(w) if matches!(w.as_str(),
                "is" | "are" | "was" | "were" | "should" | "will" | "has" | "have" | "may" | "means" | "must"
                | "can" | "would" | "needs" | "shows" | "show"))
        })
}

/// The verb at a place, with its length in words.
fn verb_at(lexicon: &Lexicon, tokens: &[Token], at: usize) -> Option<(Risk, usize)> {
    let Some(Token::Word(word)) = tokens.get(at) else {
        return None;
    };
    let entries = lexicon.verbs.get(word.as_str())?;
    let mut best: Option<(bool, usize, Risk)> = None;
    for (more, nouns, risk) in entries {
        // "turn the flag off": the second word may stand behind the object.
        let fits = more.iter().enumerate().all(|(offset, part)| {
            matches!(tokens.get(at + 1 + offset), Some(Token::Word(w)) if w == part)
        }) || (more.len() == 1
            && clause(tokens, at + 1)
                .iter()
                .any(|w| more.first().is_some_and(|part| w == part))
            && matches!(more.first().map(String::as_str), Some("on" | "off" | "back" | "over" | "down" | "up" | "out")));
        let noun = nouns.is_empty() || clause(tokens, at + 1).iter().any(|w| nouns.contains(*w));
        if !fits || !noun {
            continue;
        }
        let rank = (!nouns.is_empty(), more.len(), *risk);
        best = Some(best.map_or(rank, |b| b.max(rank)));
    }
    let (_, extra, risk) = best?;
    let adjacent = extra > 0
        && matches!(tokens.get(at + 1), Some(Token::Word(w)) if entries.iter().any(|(more, _, _)| more.first().is_some_and(|m| m == w)));
    Some((risk, if adjacent { 1 + extra } else { 1 }))
}

/// The words up to the end of the clause.
fn clause(tokens: &[Token], at: usize) -> Vec<&str> {
    tokens
        .iter()
        .skip(at)
        .take_while(|t| !matches!(t, Token::Stop))
        .take(16)
        .filter_map(|t| match t {
            Token::Word(w) => Some(w.as_str()),
            _ => None,
        })
        .take_while(|w| !matches!(*w, "then"))
        .collect()
}

fn describes_noun(lexicon: &Lexicon, tokens: &[Token], at: usize) -> bool {
    matches!(tokens.get(at), Some(Token::Word(w)) if lexicon.nouns.contains(w.as_str()))
}

/// "Perform a rolling restart": the act within the next words.
fn carried(lexicon: &Lexicon, tokens: &[Token], at: usize) -> Option<Risk> {
    let mut best: Option<Risk> = None;
    for offset in 0..5 {
        let Some(Token::Word(word)) = tokens.get(at + offset) else {
            break;
        };
        if ASKING.contains(&word.as_str()) {
            break;
        }
        if DETERMINERS.contains(&word.as_str()) {
            continue;
        }
        let found = verb_at(lexicon, tokens, at + offset)
            .map(|(risk, _)| risk)
            .or_else(|| gerund(lexicon, word));
        if let Some(risk) = found {
            best = Some(best.map_or(risk, |b: Risk| b.max(risk)));
        }
    }
    best
}

/// The risk of `deleting`, `rolling`.
fn gerund(lexicon: &Lexicon, word: &str) -> Option<Risk> {
    let stem = word.strip_suffix("ing")?;
    if stem.len() < 2 {
        return None;
    }
    let mut candidates = vec![stem.to_owned(), format!("{stem}e")];
    let mut chars = stem.chars().rev();
    if let (Some(last), Some(before)) = (chars.next(), chars.next())
        && last == before
    {
        candidates.push(stem.chars().take(stem.chars().count() - 1).collect());
    }
    candidates
        .iter()
        .filter_map(|base| lexicon.verbs.get(base.as_str()))
        .flat_map(|entries| {
            entries
                .iter()
                .filter(|(more, nouns, _)| more.is_empty() && nouns.is_empty())
                .map(|(_, _, risk)| *risk)
        })
        .max()
}

const ZH_ASKING: [&str; 16] = [
    "是否",
    "有没有",
    "为什么",
    "为何",
    "何时",
    "什么时候",
    "多少",
    "几次",
    "如何",
    "怎么",
    "哪些",
    "哪个",
    "能否",
    "谁",
    "什么",
    "是不是",
];
const ZH_BEFORE_NOUN: [&str; 17] = [
    "已",
    "已经",
    "被",
    "未",
    "曾",
    "正在",
    "刚",
    "刚刚",
    "最近的",
    "最近",
    "上次",
    "自动",
    "近期",
    "每次",
    "近期的",
    "的",
    "次",
];

fn chinese_orders(text: &str) -> Option<Risk> {
    if !text.chars().any(is_cjk) {
        return None;
    }
    let lexicon = &*LEXICON;
    let mut best: Option<Risk> = None;
    for clause in text.split(['，', '。', '；', ',', ';', '\n', '！', '？', '：']) {
        let mut rest = clause;
        let mut before = String::new();
        while let Some(c) = rest.chars().next() {
            if ZH_ASKING.iter().any(|ask| rest.starts_with(ask)) {
                break;
            }
            let verb = lexicon.zh.iter().find_map(|(word, risk)| {
                rest.strip_prefix(word.as_str())
                    .map(|tail| (word, *risk, tail))
            });
            if let Some((word, risk, tail)) = verb {
                let noun = lexicon
                    .zh_nouns
                    .iter()
                    .any(|n| tail.starts_with(n.as_str()));
                let past = ZH_BEFORE_NOUN.iter().any(|b| before.ends_with(b))
                    || (runs(word) && reads_only(&before, tail));
                // What only looks is an order wherever it stands; the others where they act.
                if risk == Risk::ReadOnly || !(noun || past) {
                    let risk = if risk == Risk::Risky && flag_named(clause) && toggles(word) {
                        Risk::Reversible
                    } else {
                        risk
                    };
                    best = Some(best.map_or(risk, |b: Risk| b.max(risk)));
                }
                before.push_str(word);
                rest = tail;
                continue;
            }
            before.push(c);
            rest = rest.get(c.len_utf8()..).unwrap_or_default();
        }
    }
    best
}

fn runs(word: &str) -> bool {
    matches!(word, "执行" | "运行")
}

/// 查看执行 KEYS 的客户端 looks at who runs it; 执行 EXPLAIN runs what only reads.
fn reads_only(before: &str, tail: &str) -> bool {
    let next = tail.trim_start().to_ascii_lowercase();
    ["查看", "检查", "找出", "确认", "看看"]
        .iter()
        .any(|look| before.ends_with(look))
        || ["explain", "select", "show"]
            .iter()
            .any(|read| next.starts_with(read) && !next.starts_with("explain analyze"))
}

fn toggles(word: &str) -> bool {
    matches!(
        word,
        "开启" | "关闭" | "打开" | "关掉" | "启用" | "禁用" | "停用" | "切换"
    )
}

fn flag_named(clause: &str) -> bool {
    let lower = clause.to_lowercase();
    ["开关", "特性", "灰度", "功能", "flag", "实验"]
        .iter()
        .any(|word| lower.contains(word))
}

//! Cleaning of every text before the rules look at it (R21), and its greatest lengths.
//!
//! Wanted: whatever the text was, what leaves is visible, short enough, and acts on nothing: no
//! mention, no masked link, no image. `present` escapes once more for Discord; here the text itself
//! is made harmless, because it is also stored, exported and printed as data.
//!
//! Deliberately absent: escaping of Markdown, which is a matter of where a text is shown.

use super::quotes::is_invisible;
use regex::Regex;
use std::borrow::Cow;
use std::sync::LazyLock;
use unicode_normalization::UnicodeNormalization;
use unicode_normalization::char::is_combining_mark;
use unicode_segmentation::UnicodeSegmentation;

/// Greatest length of a title, in characters.
pub(super) const TITLE: usize = 200;
/// Greatest length of a sentence or two: verify, step, expect, undo, notes.
pub(super) const SENTENCE: usize = 400;
/// Greatest length of a paragraph: summary, fix, answer fields.
pub(super) const PARAGRAPH: usize = 1_200;
/// Greatest length of an answer to a follow-up question.
pub(super) const ANSWER: usize = 3_000;
/// Most marks that one character may carry: more is noise that covers its neighbours.
const MARKS: usize = 3;

/// Without invisible and control characters, without mentions and masked links, on trimmed lines,
/// cut to `most` characters with an ellipsis. Words, punctuation and quotation marks stay.
pub(super) fn clean(text: &str, most: usize) -> String {
    // What lies far behind the cut needs no cleaning; links and marks get room to vanish.
    let enough = most.saturating_mul(8).max(4_096);
    let mut visible = String::with_capacity(text.len().min(enough));
    let mut marks = 0;
    for c in text.chars().filter(|c| !is_invisible(*c)).take(enough) {
        marks = if is_combining_mark(c) { marks + 1 } else { 0 };
        if marks <= MARKS {
            visible.push(if c.is_control() && c != '\n' { ' ' } else { c });
        }
    }
    let inert = inert(&visible);
    let lines: Vec<&str> = inert.lines().map(str::trim_end).collect();
    cut(lines.join("\n").trim(), most)
}

/// One line.
pub(super) fn clean_line(text: &str, most: usize) -> String {
    let enough = most.saturating_mul(8).max(4_096);
    let head: String = text.trim_start().chars().take(enough).collect();
    let one: Vec<&str> = head.split_whitespace().collect();
    clean(&one.join(" "), most)
}

/// Mentions become words, masked links show where they lead, images and commands vanish.
fn inert(text: &str) -> Cow<'_, str> {
    static LINK: LazyLock<Option<Regex>> = LazyLock::new(|| {
        Regex::new(r"!?\[([^\[\]\n]{0,200})\]\(\s*<?([^()\s<>]{1,400})>?[^()\n]{0,200}\)").ok()
    });
    // `<@1>`, `<@&1>`, `<#1>`, `<:name:1>`, `<a:name:1>`, `</name:1>`, `<t:1:R>`, `<id:guide>`.
    static TOKEN: LazyLock<Option<Regex>> = LazyLock::new(|| {
        Regex::new(r"[<＜](?:[@＠][!&＆]?[0-9０-９]*|[#＃][0-9０-９]+|a?:[A-Za-z0-9_]+:[0-9]+|/[^<>\n]{1,80}:[0-9]+|t:-?[0-9]+(?::[A-Za-z])?|id:[a-z]+)[>＞]").ok()
    });
    static EVERYONE: LazyLock<Option<Regex>> =
        LazyLock::new(|| Regex::new(r"(?i)[@＠﹫]\s?(everyone|here)").ok());
    let mut text = Cow::Borrowed(text);
    if !text.contains(['[', '<', '＜', '@', '＠', '﹫']) {
        return text;
    }
    for (pattern, with) in [
        (&LINK, "$1 ($2)"),
        (&TOKEN, "(mention)"),
        (&EVERYONE, "(at)$1"),
    ] {
        if let Some(pattern) = pattern.as_ref()
            && let Cow::Owned(changed) = pattern.replace_all(&text, with)
        {
            text = Cow::Owned(changed);
        }
    }
    text
}

fn cut(text: &str, most: usize) -> String {
    if text.chars().count() <= most {
        return text.to_owned();
    }
    let mut out = String::new();
    let mut count = 0;
    for grapheme in text.graphemes(true) {
        let length = grapheme.chars().count();
        if count + length >= most {
            break;
        }
        out.push_str(grapheme);
        count += length;
    }
    out.push('…');
    out
}

/// One character as the rules read it: its compatibility form where that is one character too, so
/// that positions hold (full-width digits and signs become ASCII).
pub(super) fn narrow(c: char) -> char {
    if c.is_ascii() {
        return c;
    }
    let mut folded = std::iter::once(c).nfkc();
    match (folded.next(), folded.next()) {
        (Some(one), None) => one,
        _ => c,
    }
}

/// Clauses of a text as ranges of characters: sentences, parts between semicolons, and in Chinese
/// parts between commas. Each range includes what ends it.
pub(super) fn clauses(chars: &[char]) -> Vec<(usize, usize)> {
    let mut out = Vec::new();
    let mut start = 0;
    for (index, &c) in chars.iter().enumerate() {
        let next = chars.get(index + 1).copied();
        let ends = match c {
            '。' | '！' | '？' | '；' | '，' | ';' | '\n' => true,
            '.' | '!' | '?' => next.is_none_or(char::is_whitespace),
            _ => false,
        };
        if ends {
            out.push((start, index + 1));
            start = index + 1;
        }
    }
    if start < chars.len() {
        out.push((start, chars.len()));
    }
    out
}

/// Without the clauses in which one of the positions stands; what is left ends as a sentence does.
pub(super) fn without_clauses(chars: &[char], positions: &[usize]) -> String {
    let mut kept: Vec<char> = Vec::new();
    let ending = chars.iter().rev().find(|c| !c.is_whitespace()).copied();
    for (start, end) in clauses(chars) {
        let first = positions
            .iter()
            .copied()
            .filter(|position| (start..end).contains(position))
            .min();
        let Some(first) = first else {
            kept.extend(chars.get(start..end).unwrap_or_default());
            continue;
        };
        if let Some(comma) = main_clause(chars, start, first) {
            kept.extend(chars.get(start..comma).unwrap_or_default());
            let ends = |c: &char| c.is_whitespace() || matches!(c, '.' | '!' | '?' | ';');
            let sentence = chars.get(comma..end).unwrap_or_default();
            let marks = sentence.iter().rev().take_while(|c| ends(c)).count();
            kept.extend(sentence.get(sentence.len() - marks..).unwrap_or_default());
        }
    }
    let mut text = tidy(&kept);
    if text.ends_with(['，', '；', ';']) {
        text.pop();
        if let Some(mark @ ('。' | '.' | '！' | '!')) = ending {
            text.push(mark);
        }
    }
    text
}

/// Where the comma stands behind the main clause of an English sentence, if one comes before this
/// position and says something by itself: `Mails are not sent, about 70% of customers are hit`. A
/// sentence that begins with what leans on the rest (*in the EU, …*, *because …*) has none.
fn main_clause(chars: &[char], start: usize, first: usize) -> Option<usize> {
    const LEANS: &[&str] = &[
        "in",
        "on",
        "at",
        "of",
        "for",
        "with",
        "without",
        "by",
        "from",
        "since",
        "after",
        "before",
        "until",
        "when",
        "while",
        "where",
        "because",
        "if",
        "unless",
        "although",
        "though",
        "as",
        "according",
        "due",
        "despite",
        "during",
        "besides",
        "like",
        "unlike",
        "given",
        "once",
        "to",
        "with",
        "between",
        "both",
        "either",
        "neither",
        "not",
        "roughly",
        "about",
        "over",
        "under",
        "only",
        "all",
        "some",
        "so",
        "but",
        "and",
        "or",
        "then",
        "also",
        "however",
        "currently",
        "now",
    ];
    const SAYS: &[&str] = &[
        "is", "are", "was", "were", "has", "have", "had", "can", "cannot", "can't", "could",
        "does", "do", "did", "don't", "doesn't", "will", "fail", "fails", "failed", "return",
        "returns", "wait", "waits", "see", "sees", "get", "gets", "hang", "hangs", "stay", "stays",
        "work", "works", "grow", "grows", "remain", "remains", "answer", "answers", "refuse",
        "refuses", "reject", "rejects", "arrive", "arrives", "load", "loads", "lose", "loses",
        "show", "shows", "drop", "drops", "crash", "crashes", "restart", "restarts", "keep",
        "keeps", "needs", "use", "uses", "block", "blocks", "rise", "rises", "fall", "falls",
        "stopped", "started", "went", "takes", "take", "holds", "hold", "leaks", "leak",
        "exhausts", "causes",
    ];
    let comma = (start..first).rev().find(|at| {
        chars.get(*at) == Some(&',') && chars.get(at + 1).is_some_and(|c| c.is_whitespace())
    })?;
    let head: String = chars.get(start..comma)?.iter().collect();
    let head = head.to_lowercase();
    let words: Vec<&str> = head.split_whitespace().collect();
    let leans = words.first().is_none_or(|word| LEANS.contains(word));
    // `scans the table`: a verb before its object.
    let acts = words.windows(2).skip(1).any(|pair| match pair {
        [verb, object] => {
            verb.len() > 3
                && verb.ends_with('s')
                && [
                    "the", "a", "an", "its", "every", "each", "their", "all", "no",
                ]
                .contains(object)
        }
        _ => false,
    });
    let says = acts || words.iter().skip(1).any(|word| SAYS.contains(word));
    // The last word of a clause is no *and*, and a list that was cut off is no clause.
    let whole = words.last().is_some_and(|word| !LEANS.contains(word));
    (words.len() >= 3 && !leans && says && whole).then_some(comma)
}

/// White space and stray marks after something was taken out.
pub(super) fn tidy(chars: &[char]) -> String {
    let text: String = chars.iter().collect();
    let lines: Vec<String> = text
        .lines()
        .map(|line| line.split_whitespace().collect::<Vec<_>>().join(" "))
        .filter(|line| !line.is_empty())
        .collect();
    let mut text = lines.join("\n");
    // A bracket that held nothing else, and a comma before what ends the sentence anyway.
    for (left, right) in [
        (" ()", ""),
        ("（）", ""),
        (" ( )", ""),
        (" ,", ","),
        (" . ", ". "),
        (",. ", ". "),
        ("，。", "。"),
        (",;", ";"),
        ("  ", " "),
    ] {
        if text.contains(left) {
            text = text.replace(left, right);
        }
    }
    text.trim_matches(|c: char| c.is_whitespace() || matches!(c, ',' | '，' | '、' | ':' | '：'))
        .to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn r21_what_acts_is_made_inert() {
        for (text, expected) in [
            ("@everyone db is down", "(at)everyone db is down"),
            ("@\u{200B}here", "(at)here"),
            ("＠everyone", "(at)everyone"),
            (
                "ask <@123> or <@&9> in <#4>",
                "ask (mention) or (mention) in (mention)",
            ),
            (
                "[docs](https://e.example/x) say",
                "docs (https://e.example/x) say",
            ),
            (
                "![x](https://e.example/p.png)",
                "x (https://e.example/p.png)",
            ),
            ("</report:112233445566778899>", "(mention)"),
            ("safe\u{202E}txt.exe", "safetxt.exe"),
            (
                "z\u{0300}\u{0301}\u{0302}\u{0303}\u{0304}\u{0305}a",
                "z\u{0300}\u{0301}\u{0302}a",
            ),
            ("a\u{0007}b", "a b"),
        ] {
            assert_eq!(clean(text, SENTENCE), expected, "{text:?}");
        }
    }

    #[test]
    fn r21_what_does_not_act_stays() {
        for text in [
            "hikaricp [primary] (see above)",
            "delete pod <current pod>, a < b > c",
            "mail to ops at example",
            "SELECT a[1] (x)",
            "“先查再动”，<think> 不是标记",
            "e\u{0301}tat",
        ] {
            assert_eq!(clean(text, SENTENCE), text);
        }
    }

    #[test]
    fn r21_long_texts_are_cut_in_linear_time() {
        let blank = "\n".repeat(1_000_000);
        assert_eq!(clean(&blank, SENTENCE), "");
        let marks = format!("a{}", "\u{0300}".repeat(1_000_000));
        assert!(clean(&marks, TITLE).chars().count() <= TITLE);
        let brackets = "[".repeat(300_000);
        assert_eq!(clean(&brackets, TITLE).chars().count(), TITLE);
    }
}

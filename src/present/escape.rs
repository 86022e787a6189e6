//! Text of others made safe for a message (R21).
//!
//! Wanted: whatever a report, a memory or a model wrote, the message around it keeps its shape and
//! reaches nobody: no mention, masked link, image, broken fence, heading, quote, list, hidden or
//! reordering character. What is readable stays readable: `snake_case`, `<current pod>`, `5 * 3`.
//!
//! Design: three kinds of place, three functions. [`plain`] is for places without Markdown (footer,
//! author line, labels, files), [`inline`] for a run of text inside Markdown, [`code_span`] and
//! [`code_block`] for code. Each cleans first (control and invisible characters, mention tokens),
//! so that no place depends on another's care, and each takes text in full: [`cut`] shortens
//! before escaping, never after, because a cut between a backslash and its character would undo it.
//!
//! A mention is broken by visible words, `(at)everyone`, not by an invisible character: a copy of
//! the text stays harmless, and a fold to compatibility forms doesn't bring the token back. The
//! tail of a text that could be the first half of one (`@ever`) is broken as well, since the other
//! half may stand in the next field.
//!
//! Deliberately absent: Markdown of others. Their backticks become apostrophes, so that code spans
//! are only where this program puts them, which is what keeps destructive commands out of them
//! (R18). `allowed_mentions` is set on every message too; this is the second wall, not the first.

use unicode_normalization::char::is_combining_mark;
use unicode_segmentation::UnicodeSegmentation;

/// What stands for what was cut.
pub const ELLIPSIS: char = '…';

/// Length as Discord's clients count it: UTF-16 units, never less than code points.
pub fn width(text: &str) -> usize {
    text.chars().map(char::len_utf16).sum()
}

/// The text if it fits into `limit` (UTF-16 units), else whole graphemes of it and an ellipsis.
pub fn cut(text: &str, limit: usize) -> String {
    if text.len() <= limit || width(text) <= limit {
        return text.to_owned();
    }
    if limit == 0 {
        return String::new();
    }
    let mut out = String::new();
    let mut used = 1;
    for grapheme in text.graphemes(true) {
        used += width(grapheme);
        if used > limit {
            break;
        }
        out.push_str(grapheme);
    }
    let mut out = out.trim_end().to_owned();
    out.push(ELLIPSIS);
    out
}

/// Cuts `text` so that `render` of it fits into `limit`. Says whether it had to cut.
pub fn fitted(text: &str, limit: usize, render: impl Fn(&str) -> String) -> (String, bool) {
    let whole = render(&cut(text, limit.saturating_mul(4).max(64)));
    if width(&whole) <= limit && width(text) <= limit.saturating_mul(4).max(64) {
        return (whole, false);
    }
    let mut room = limit;
    loop {
        let out = render(&cut(text, room));
        if width(&out) <= limit || room == 0 {
            return (
                if width(&out) <= limit {
                    out
                } else {
                    String::new()
                },
                true,
            );
        }
        // Escapes lengthen a text at most fourfold; a few rounds settle it.
        let longer = width(&out).max(1);
        room = (room * limit / longer).min(room - 1);
    }
}

/// For places without Markdown: one line, nothing hidden, no mention token.
pub fn plain(text: &str) -> String {
    let line = one_line(&clean(text));
    defuse(&line)
}

/// For places without Markdown that may have several lines (files, the command line).
pub fn plain_lines(text: &str) -> String {
    clean(text)
        .lines()
        .map(|line| defuse(line.trim_end()))
        .collect::<Vec<_>>()
        .join("\n")
        .trim()
        .to_owned()
}

/// For a run of text inside Markdown: one line, shown as it was written. Links stand in code spans,
/// where they can be read and copied, but neither clicked nor previewed.
pub fn inline(text: &str) -> String {
    let line = plain(text);
    let mut out = String::with_capacity(line.len() + 8);
    for (index, word) in line.split(' ').enumerate() {
        if index > 0 {
            out.push(' ');
        }
        // One word may hold several: `[a](https://a)[b](https://b)`.
        let mut rest = word;
        while let Some((before, link, after)) = link_in(rest) {
            escape_into(&mut out, before);
            out.push('`');
            out.extend(link.chars().filter(|c| *c != '`'));
            out.push('`');
            rest = after;
        }
        escape_into(&mut out, rest);
    }
    line_start(out)
}

/// Several lines inside Markdown, each as [`inline`] makes it; at most one empty line in a row.
pub fn paragraphs(text: &str) -> String {
    let mut out: Vec<String> = Vec::new();
    for line in clean(text).lines() {
        let line = inline(line);
        if line.is_empty() && out.last().is_none_or(String::is_empty) {
            continue;
        }
        out.push(line);
    }
    out.join("\n").trim_end().to_owned()
}

/// A code span of one line. Single backticks inside are kept (the span then has double ones), so
/// that a command stays what it was; longer runs become apostrophes. Empty text gives none.
pub fn code_span(text: &str) -> String {
    let mut line = plain(text);
    if line.is_empty() {
        return String::new();
    }
    if line.contains("``") || line.ends_with('\\') && line.contains('`') {
        line = line.replace('`', "'");
    }
    if line.contains('`') {
        format!("`` {line} ``")
    } else {
        format!("`{line}`")
    }
}

/// A code block with bare fences. Backticks inside become apostrophes: no fence can be closed.
pub fn code_block(text: &str) -> String {
    let body = plain_lines(text).replace('`', "'");
    let body = if body.is_empty() { " " } else { &body };
    format!("```\n{body}\n```")
}

/// Drops what can't be seen or reorders what can; other white space becomes a space.
fn clean(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut marks = 0;
    for c in text.chars() {
        let c = match c {
            '\n' | '\u{2028}' | '\u{2029}' | '\u{85}' => '\n',
            '\r' => continue,
            c if c.is_whitespace() => ' ',
            c if c.is_control() || is_hidden(c) => continue,
            c => c,
        };
        // A letter with a tower of marks covers the lines above it.
        marks = if is_combining_mark(c) { marks + 1 } else { 0 };
        if marks <= 3 {
            out.push(c);
        }
    }
    out
}

/// Format characters, fillers, variation selectors, tags, and private use.
fn is_hidden(c: char) -> bool {
    matches!(c,
        '\u{AD}' | '\u{34F}' | '\u{61C}' | '\u{115F}' | '\u{1160}' | '\u{17B4}' | '\u{17B5}'
        | '\u{180B}'..='\u{180F}' | '\u{200B}'..='\u{200F}' | '\u{202A}'..='\u{202E}'
        | '\u{2060}'..='\u{206F}' | '\u{2800}' | '\u{3164}' | '\u{FE00}'..='\u{FE0F}'
        | '\u{FEFF}' | '\u{FFA0}' | '\u{FFF0}'..='\u{FFFB}' | '\u{E000}'..='\u{F8FF}'
        | '\u{1BCA0}'..='\u{1BCA3}' | '\u{1D173}'..='\u{1D17A}' | '\u{E0000}'..='\u{E0FFF}'
        | '\u{F0000}'..='\u{10FFFF}')
}

fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Breaks every token that Discord would turn into a mention, a time, an emoji or a command.
fn defuse(line: &str) -> String {
    let chars: Vec<char> = line.chars().collect();
    let mut out = String::with_capacity(line.len());
    for (index, &c) in chars.iter().enumerate() {
        let rest = chars.get(index + 1..).unwrap_or_default();
        match c {
            '@' | '＠' if reaches_people(index, &chars, rest) => out.push_str("(at)"),
            '<' if rest.is_empty() => out.push('‹'),
            '<' if is_token(rest) => out.push_str("< "),
            // A masked link; elsewhere `](` is code.
            '(' if index > 0 && chars.get(index - 1) == Some(&']') && leads_away(rest) => {
                out.push_str(" (");
            }
            // The second half of `<` + `#123>`.
            '#' if index == 0 && rest.first().is_some_and(char::is_ascii_digit) => {
                out.push('#');
                if rest.contains(&'>') {
                    out.push(' ');
                }
            }
            c => out.push(c),
        }
    }
    out
}

/// Whether an at sign here begins a mention, or could be the first half of one.
fn reaches_people(index: usize, chars: &[char], rest: &[char]) -> bool {
    let before = index.checked_sub(1).and_then(|i| chars.get(i));
    if before == Some(&'<') || rest.is_empty() {
        return true;
    }
    if index == 0
        && rest
            .first()
            .is_some_and(|c| c.is_ascii_digit() || matches!(c, '!' | '&'))
    {
        return true;
    }
    // Names in full width or with a space or two between are read aloud the same.
    let spoken: String = rest
        .iter()
        .filter(|c| **c != ' ')
        .take(8)
        .flat_map(|c| c.to_lowercase())
        .collect();
    let spoken = crate::incident::words::fold(&spoken);
    ["everyone", "here"].iter().any(|name| {
        spoken.starts_with(name) || (rest.len() < name.len() && name.starts_with(&spoken))
    })
}

/// The target of a link follows.
fn leads_away(rest: &[char]) -> bool {
    let start: String = rest.iter().take(8).collect();
    start.starts_with(['<', '/']) || start.contains(':') || start.to_lowercase().starts_with("http")
}

/// `<#123>`, `<:name:1>`, `<a:name:1>`, `</name:1>`, `<t:1>`, `<id:guide>`, `<https://…>`; not `<current pod>`.
fn is_token(rest: &[char]) -> bool {
    match rest.first() {
        Some('#' | ':' | '/' | '@' | '＠') => true,
        Some(c) if c.is_ascii_alphabetic() => rest
            .iter()
            .take(16)
            .find(|c| !c.is_ascii_alphanumeric())
            .is_some_and(|c| *c == ':'),
        _ => false,
    }
}

/// Splits a word into what stands before, a link, and closing punctuation after it.
fn link_in(word: &str) -> Option<(&str, &str, &str)> {
    let mark = word
        .find("://")
        .or_else(|| word.find("discord.gg/").map(|at| at + 1))?;
    let start = word
        .char_indices()
        .take_while(|(at, _)| *at < mark)
        .filter(|(_, c)| !(c.is_ascii_alphanumeric() || matches!(c, '+' | '-' | '.')))
        .last()
        .map_or(0, |(at, c)| at + c.len_utf8());
    let (before, link) = word.split_at_checked(start)?;
    let end = link
        .char_indices()
        .find(|(_, c)| {
            matches!(
                c,
                ')' | ']' | '>' | '"' | '\'' | '`' | '|' | '，' | '。' | '）'
            )
        })
        .map_or(link.len(), |(at, _)| at);
    let (link, after) = link.split_at_checked(end)?;
    let trimmed = link.trim_end_matches(['.', ',', ';', ':', '!', '?']);
    let (link, tail) = link.split_at_checked(trimmed.len())?;
    let after = if tail.is_empty() {
        after
    } else {
        word.split_at_checked(before.len() + link.len())?.1
    };
    (!link.is_empty()).then_some((before, link, after))
}

/// Escapes only where Markdown would act.
fn escape_into(out: &mut String, word: &str) {
    let chars: Vec<char> = word.chars().collect();
    for (index, &c) in chars.iter().enumerate() {
        let before = index.checked_sub(1).and_then(|i| chars.get(i)).copied();
        let after = chars.get(index + 1).copied();
        match c {
            '`' => out.push('\''),
            '\\' if after.is_some_and(|c| c.is_ascii_punctuation()) || after.is_none() => {
                out.push_str("\\\\");
            }
            '_' if before.is_some_and(|c| c.is_ascii_alphanumeric())
                && after.is_some_and(|c| c.is_ascii_alphanumeric()) =>
            {
                out.push('_');
            }
            // Alone between spaces it opens and closes nothing.
            '*' if before.is_none() && after.is_none() => out.push('*'),
            '_' | '*' => {
                out.push('\\');
                out.push(c);
            }
            '~' | '|' if before == Some(c) || after == Some(c) => {
                out.push('\\');
                out.push(c);
            }
            '(' if before == Some(']') => out.push_str(" ("),
            c => out.push(c),
        }
    }
}

/// Takes its meaning from what would be a heading, a quote or a list at the start of a line.
fn line_start(text: String) -> String {
    let marker: String = text.chars().take_while(|c| *c != ' ').collect();
    let has_more = text.len() > marker.len();
    let numbered = marker
        .strip_suffix('.')
        .is_some_and(|digits| !digits.is_empty() && digits.bytes().all(|b| b.is_ascii_digit()));
    if numbered && has_more {
        return text.replacen('.', "\\.", 1);
    }
    let acts = matches!(
        marker.as_str(),
        "#" | "##" | "###" | "-#" | ">" | ">>>" | "-" | "+" | "*"
    ) || marker.starts_with(">>>");
    if acts { format!("\\{text}") } else { text }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn r21_nothing_reaches_people() {
        for (text, expected) in [
            ("@everyone look", "(at)everyone look"),
            ("@here", "(at)here"),
            ("@EveryOne", "(at)EveryOne"),
            ("@\u{200B}everyone", "(at)everyone"),
            ("＠everyone", "(at)everyone"),
            ("@ every one", "(at) every one"),
            ("<@123456>", "< (at)123456>"),
            ("<@&123456>", "< (at)&123456>"),
            ("<#123456>", "< #123456>"),
            ("<t:0:R>", "< t:0:R>"),
            ("</analyze:1>", "< /analyze:1>"),
            ("<:x:1>", "< :x:1>"),
            ("halves: @", "halves: (at)"),
            ("halves: @every", "halves: (at)every"),
            ("a <", "a ‹"),
            ("#123> is a half", "# 123> is a half"),
            ("a\u{202E}b\u{2066}c\u{0007}", "abc"),
        ] {
            assert_eq!(plain(text), expected, "{text}");
        }
    }

    #[test]
    fn what_is_harmless_stays_as_it_was() {
        for text in [
            "<current pod> restarts",
            "snake_case_names",
            "HikariPool-1 - Connection is not available",
            "p99 > 300 ms",
            "a * b",
            "image@sha256",
            "HEAD@{1}",
            "C:\\temp\\x",
            "#12 in the list",
            "-5 minutes",
            "a | b ~ c",
            "vec![1]",
            "支付服务 超时",
        ] {
            assert_eq!(inline(text), text, "{text}");
        }
    }

    #[test]
    fn r21_markdown_of_others_does_not_act() {
        for (text, expected) in [
            ("5*3 and 4*2", "5\\*3 and 4\\*2"),
            ("__init__", "\\_\\_init\\_\\_"),
            ("**bold**", "\\*\\*bold\\*\\*"),
            ("||spoiler||", "\\|\\|spoiler\\|\\|"),
            ("~~gone~~", "\\~\\~gone\\~\\~"),
            ("`rm -rf /`", "'rm -rf /'"),
            ("```\nx\n```", "''' x '''"),
            (
                "[click](https://evil.example)",
                "[click] (`https://evil.example`)",
            ),
            (
                "![x](https://evil.example/a.png)",
                "![x] (`https://evil.example/a.png`)",
            ),
            (
                "see https://a.example/b_c_d, now",
                "see `https://a.example/b_c_d`, now",
            ),
            ("<https://a.example>", "< `https://a.example`>"),
            (
                "[a](https://a.example)[b](https://b.example)",
                "[a] (`https://a.example`)[b] (`https://b.example`)",
            ),
            ("# heading", "\\# heading"),
            ("-# small", "\\-# small"),
            ("> quote", "\\> quote"),
            ("- item", "\\- item"),
            ("1. item", "1\\. item"),
            ("ends \\", "ends \\\\"),
        ] {
            assert_eq!(inline(text), expected, "{text}");
        }
    }

    #[test]
    fn code_keeps_commands_whole() {
        for (text, expected) in [
            (
                "kubectl get pods -n pay_ments",
                "`kubectl get pods -n pay_ments`",
            ),
            ("echo `date`", "`` echo `date` ``"),
            ("a ``` b", "`a ''' b`"),
            ("", ""),
            ("a\nb", "`a b`"),
        ] {
            assert_eq!(code_span(text), expected, "{text}");
        }
        assert_eq!(code_block("a\n```\nb"), "```\na\n'''\nb\n```");
    }

    #[test]
    fn cuts_whole_graphemes_and_says_so() {
        for (text, limit, expected) in [
            ("abc", 3, "abc"),
            ("abcd", 3, "ab…"),
            ("ab 👩‍👩‍👧", 5, "ab…"),
            ("数据库", 2, "数…"),
            ("abc", 0, ""),
        ] {
            assert_eq!(cut(text, limit), expected, "{text} {limit}");
        }
    }

    /// What Discord would act on, looked for in raw text.
    fn is_safe(text: &str) -> bool {
        let folded = crate::incident::words::fold(text);
        !folded.contains("@everyone")
            && !folded.contains("@here")
            && !text.contains("<@")
            && !text.contains("<#")
            && !text.contains("](http")
            && !text.chars().any(is_hidden)
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn r21_any_text_is_safe_and_fits(
            text in "([a-z@<>#&!*_`~|\\[\\]()\\\\ \n\u{200B}\u{202E}]|@everyone|@here|<@1>|\\]\\(|```|https://e.x/|\\PC){0,60}",
            limit in 0usize..60,
        ) {
            prop_assert!(is_safe(&inline(&text)), "{}", inline(&text));
            prop_assert!(!inline(&text).contains("]("));
            prop_assert!(is_safe(&plain(&text)));
            prop_assert!(is_safe(&code_span(&text)));
            prop_assert!(is_safe(&paragraphs(&text)));
            prop_assert_eq!(code_block(&text).matches("```").count(), 2);
            let (out, _) = fitted(&text, limit, inline);
            prop_assert!(width(&out) <= limit);
            prop_assert!(is_safe(&out));
            // No link is left to click, however many a word held.
            let escaped = inline(&text);
            let outside: String = escaped.split('`').step_by(2).collect();
            prop_assert!(!outside.contains("https://e"), "{escaped}");
            // Outside of the code spans that hold links, no backtick is left.
            prop_assert_eq!(inline(&text).matches('`').count() % 2, 0);
        }

        #[test]
        fn r21_two_neighbours_make_no_mention(
            one in "[a-z ]{0,6}(@|@e|@every|@h|@her|<|<@)?",
            other in "(everyone|veryone|one|here|re|e|@123>|#1>)?[a-z ]{0,6}",
        ) {
            let joined = format!("{}{}", plain(&one), plain(&other));
            prop_assert!(is_safe(&joined), "{joined}");
        }
    }
}

//! Cleaning of every text before the rules look at it (R21), and its greatest lengths.

use super::quotes::is_invisible;

/// Greatest length of a title, in characters.
pub(super) const TITLE: usize = 200;
/// Greatest length of a sentence or two: verify, step, expect, undo, notes.
pub(super) const SENTENCE: usize = 400;
/// Greatest length of a paragraph: summary, fix, answer fields.
pub(super) const PARAGRAPH: usize = 1_200;
/// Greatest length of an answer to a follow-up question.
pub(super) const ANSWER: usize = 3_000;

/// Without invisible and control characters, on trimmed lines, cut to `most` characters with an
/// ellipsis. Words, punctuation and quotation marks stay as they are.
pub(super) fn clean(text: &str, most: usize) -> String {
    let visible: String = text
        .chars()
        .filter(|c| !is_invisible(*c))
        .map(|c| if c.is_control() && c != '\n' { ' ' } else { c })
        .collect();
    let mut lines: Vec<&str> = visible.lines().map(str::trim_end).collect();
    while lines.first().is_some_and(|line| line.trim().is_empty()) {
        lines.remove(0);
    }
    while lines.last().is_some_and(|line| line.trim().is_empty()) {
        lines.pop();
    }
    let joined = lines.join("\n");
    cut(joined.trim(), most)
}

/// One line.
pub(super) fn clean_line(text: &str, most: usize) -> String {
    let one: Vec<&str> = text.split_whitespace().collect();
    clean(&one.join(" "), most)
}

fn cut(text: &str, most: usize) -> String {
    if text.chars().count() <= most {
        return text.to_owned();
    }
    use unicode_segmentation::UnicodeSegmentation;
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

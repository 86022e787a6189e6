//! From Markdown to sections that are known by what they announce.
//!
//! Headings, bold labels, `Label: value` lines, label lines of exported documents, two-column
//! tables, front matter and labels inside flattened prose all open the same kind of section.

use super::headings::{Part, of_heading, of_inline_label, of_label};
use crate::incident::words::is_cjk;
use pulldown_cmark::{CodeBlockKind, Event, HeadingLevel, Options, Parser, Tag, TagEnd};

/// Marks where bold text begins and ends; a document's own are dropped before it is read.
const BOLD: char = '\u{2}';
const PLAIN: char = '\u{3}';
/// Longest label, in bytes.
const LONGEST_LABEL: usize = 80;
/// Most words of a label inside prose.
const LABEL_WORDS: usize = 6;

/// One line of a section.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Line {
    pub text: String,
    /// It is an item of a list or a row of a table.
    pub item: bool,
    /// It stands in a code block.
    pub code: bool,
}

/// What stands below one heading or behind one label.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Section {
    pub part: Option<Part>,
    pub lines: Vec<Line>,
}

/// A document by its sections.
#[derive(Clone, Debug, Default)]
pub(super) struct Outline {
    /// The first heading, where it is the document's name.
    pub title: Option<String>,
    pub sections: Vec<Section>,
    /// Whether any heading or label was understood.
    pub understood: bool,
}

enum Block {
    Heading(u8, String),
    Lines { text: String, item: bool },
    Code(String),
    Row(Vec<String>),
    Meta(String),
}

/// Reads a document.
pub(super) fn outline(text: &str) -> Outline {
    let text: String = text
        .chars()
        .filter(|c| !matches!(*c, '\u{0}' | BOLD | PLAIN | '\u{200b}' | '\u{feff}'))
        .collect();
    let mut walk = Walk::default();
    walk.open(None);
    let blocks = blocks(&text);
    let mut rows: Vec<Vec<String>> = Vec::new();
    for block in blocks {
        if let Block::Row(cells) = block {
            rows.push(cells);
            continue;
        }
        walk.table(std::mem::take(&mut rows));
        match block {
            Block::Heading(level, text) => walk.heading(level, &unmarked(&text)),
            Block::Lines { text, item } => walk.lines(&text, item),
            Block::Code(text) => walk.code(&text),
            Block::Meta(text) => walk.meta(&text),
            Block::Row(_) => {}
        }
    }
    walk.table(rows);
    walk.outline
        .sections
        .retain(|section| !section.lines.is_empty());
    walk.outline
}

fn blocks(text: &str) -> Vec<Block> {
    let options = Options::ENABLE_TABLES
        | Options::ENABLE_STRIKETHROUGH
        | Options::ENABLE_TASKLISTS
        | Options::ENABLE_YAML_STYLE_METADATA_BLOCKS;
    let mut out = Vec::new();
    let mut current = String::new();
    let mut cells: Vec<String> = Vec::new();
    let (mut items, mut images) = (0_usize, 0_usize);
    let (mut in_code, mut in_meta, mut in_row) = (false, false, false);
    let flush = |current: &mut String, items: usize, out: &mut Vec<Block>| {
        let text = std::mem::take(current);
        if !text.trim().is_empty() {
            out.push(Block::Lines {
                text,
                item: items > 0,
            });
        }
    };
    for event in Parser::new_ext(text, options) {
        match event {
            Event::Start(Tag::Image { .. }) => images += 1,
            Event::End(TagEnd::Image) => images = images.saturating_sub(1),
            _ if images > 0 => {}
            Event::Start(Tag::Strong) => current.push(BOLD),
            Event::End(TagEnd::Strong) => current.push(PLAIN),
            Event::Start(Tag::Heading { .. }) => flush(&mut current, items, &mut out),
            Event::End(TagEnd::Heading(level)) => {
                out.push(Block::Heading(depth(level), std::mem::take(&mut current)));
            }
            Event::Start(Tag::Item) => {
                flush(&mut current, items, &mut out);
                items += 1;
            }
            Event::End(TagEnd::Item) => {
                flush(&mut current, items, &mut out);
                items = items.saturating_sub(1);
            }
            Event::Start(Tag::CodeBlock(kind)) => {
                flush(&mut current, items, &mut out);
                in_code = matches!(kind, CodeBlockKind::Fenced(_));
            }
            Event::End(TagEnd::CodeBlock) => {
                if in_code {
                    out.push(Block::Code(std::mem::take(&mut current)));
                } else {
                    // Indented by a copy from elsewhere far more often than meant as code.
                    flush(&mut current, items, &mut out);
                }
                in_code = false;
            }
            Event::Start(Tag::MetadataBlock(_)) => {
                current.clear();
                in_meta = true;
            }
            Event::End(TagEnd::MetadataBlock(_)) => {
                out.push(Block::Meta(std::mem::take(&mut current)));
                in_meta = false;
            }
            Event::Start(Tag::TableRow | Tag::TableHead) => {
                flush(&mut current, items, &mut out);
                in_row = true;
            }
            Event::End(TagEnd::TableCell) => {
                cells.push(unmarked(&std::mem::take(&mut current)).replace('\n', " "));
            }
            Event::End(TagEnd::TableRow | TagEnd::TableHead) => {
                out.push(Block::Row(std::mem::take(&mut cells)));
                in_row = false;
            }
            Event::Start(Tag::Paragraph | Tag::List(_) | Tag::BlockQuote(_) | Tag::Table(_))
            | Event::End(
                TagEnd::Paragraph
                | TagEnd::List(_)
                | TagEnd::BlockQuote(_)
                | TagEnd::Table
                | TagEnd::HtmlBlock,
            )
            | Event::Rule => flush(&mut current, items, &mut out),
            Event::Text(text) | Event::Code(text) => current.push_str(&text),
            Event::InlineHtml(html) | Event::Html(html) if !in_code && !in_meta => {
                current.push_str(&without_tags(&html));
            }
            Event::SoftBreak | Event::HardBreak => {
                current.push(if in_row { ' ' } else { '\n' });
            }
            _ => {}
        }
    }
    flush(&mut current, items, &mut out);
    out
}

fn depth(level: HeadingLevel) -> u8 {
    match level {
        HeadingLevel::H1 => 1,
        HeadingLevel::H2 => 2,
        HeadingLevel::H3 => 3,
        HeadingLevel::H4 => 4,
        HeadingLevel::H5 => 5,
        HeadingLevel::H6 => 6,
    }
}

/// The text between tags; a line break where one is asked for, nothing of a comment.
fn without_tags(html: &str) -> String {
    if html.trim_start().starts_with("<!--") {
        return String::new();
    }
    let mut out = String::new();
    let mut tag: Option<String> = None;
    for c in html.chars() {
        match (&mut tag, c) {
            (None, '<') => tag = Some(String::new()),
            (Some(name), '>') => {
                if name.to_ascii_lowercase().starts_with("br") {
                    out.push('\n');
                }
                tag = None;
            }
            (Some(name), c) => name.push(c),
            (None, c) => out.push(c),
        }
    }
    out
}

fn unmarked(text: &str) -> String {
    text.replace([BOLD, PLAIN], "").trim().to_owned()
}

#[derive(Default)]
struct Walk {
    outline: Outline,
    /// Headings above the current place: level, and what they announce.
    above: Vec<(u8, Option<Part>)>,
    headings: usize,
    /// A label that stood alone on its line and takes the next one.
    waits: Option<Part>,
}

impl Walk {
    fn open(&mut self, part: Option<Part>) {
        self.outline.understood |= part.is_some();
        self.outline.sections.push(Section {
            part,
            lines: Vec::new(),
        });
    }

    fn heading_part(&self) -> Option<Part> {
        self.above.last().and_then(|(_, part)| *part)
    }

    fn push(&mut self, text: &str, item: bool, code: bool) {
        let text = text.trim();
        if text.is_empty() {
            return;
        }
        if let Some(part) = self.waits.take() {
            self.fact(part, text);
            return;
        }
        if let Some(section) = self.outline.sections.last_mut() {
            section.lines.push(Line {
                text: text.to_owned(),
                item,
                code,
            });
        }
    }

    /// One value, and then what was before goes on.
    fn fact(&mut self, part: Part, value: &str) {
        self.open(Some(part));
        self.push(value, false, false);
        self.open(self.heading_part());
    }

    fn label(&mut self, part: Part, rest: &str, item: bool) {
        if part.is_a_fact() {
            if rest.trim().is_empty() {
                self.waits = Some(part);
            } else {
                self.fact(part, rest);
            }
        } else {
            self.open(Some(part));
            self.push(rest, item, false);
        }
    }

    fn heading(&mut self, level: u8, text: &str) {
        self.waits = None;
        self.headings += 1;
        if text.is_empty() {
            return;
        }
        let named_by_it = self.headings == 1 && level <= 2 && of_label(text).is_none();
        if named_by_it && self.outline.title.is_none() {
            self.outline.title = Some(text.to_owned());
            self.above = vec![(level, None)];
            self.open(None);
            return;
        }
        while self.above.last().is_some_and(|(above, _)| *above >= level) {
            self.above.pop();
        }
        // `## Service: payments`
        let (label, rest) = split_label(text).unwrap_or((text, ""));
        let known = of_label(label).filter(|_| !rest.is_empty());
        let part = known.or_else(|| of_heading(text));
        let inherited = part.or_else(|| self.heading_part());
        self.above.push((level, inherited));
        match part {
            Some(part) if part.is_a_fact() && rest.is_empty() => {
                self.waits = Some(part);
                self.above.pop();
                self.above.push((level, None));
                self.open(None);
            }
            Some(part) if part.is_a_fact() => {
                self.above.pop();
                self.above.push((level, None));
                self.fact(part, rest);
            }
            _ => {
                self.open(inherited);
                if known.is_some() {
                    self.push(rest, false, false);
                } else if part.is_none() && inherited.is_some() {
                    // A heading inside a known section is part of what it says.
                    self.push(text, true, false);
                }
            }
        }
    }

    fn lines(&mut self, text: &str, item: bool) {
        let mut first = true;
        for line in text.split('\n') {
            let line = line.trim();
            if line.is_empty() {
                continue;
            }
            // Only the first line of an item begins one.
            self.line(line, item && first, item);
            first = false;
        }
    }

    fn line(&mut self, line: &str, item: bool, in_item: bool) {
        if let Some((part, rest)) = label_line(line, in_item) {
            // Items of a timeline begin with words that elsewhere are labels.
            let in_timeline = in_item && self.heading_part() == Some(Part::Timeline);
            if !in_timeline {
                self.label(part, "", false);
                self.running(&rest, false);
                return;
            }
        }
        self.running(&unmarked(line), item);
    }

    /// Text in which further labels may stand.
    fn running(&mut self, line: &str, item: bool) {
        let mut rest = line;
        while let Some((before, part, after)) = inline_label(rest) {
            self.push(before, item, false);
            self.label(part, "", false);
            rest = after;
        }
        self.push(rest, item, false);
    }

    fn code(&mut self, text: &str) {
        for line in text.lines() {
            self.push(line, false, true);
        }
    }

    /// Front matter: `key: value` lines and simple lists below a key.
    fn meta(&mut self, text: &str) {
        let mut part = None;
        for line in text.lines() {
            let trimmed = line.trim();
            if let Some(value) = trimmed.strip_prefix("- ") {
                if let Some(part) = part {
                    self.meta_value(part, value);
                }
                continue;
            }
            let Some((key, value)) = trimmed.split_once(':') else {
                continue;
            };
            part = of_label(key);
            let value = value.trim();
            if let Some(part) = part
                && !value.is_empty()
            {
                let listed = value
                    .strip_prefix('[')
                    .and_then(|value| value.strip_suffix(']'))
                    .unwrap_or(value);
                self.meta_value(part, listed);
            }
        }
    }

    fn meta_value(&mut self, part: Part, value: &str) {
        let value = value.trim().trim_matches(['"', '\'']);
        if value.is_empty() || matches!(value, "|" | ">" | "|-" | ">-") {
            return;
        }
        self.fact(part, value);
    }

    fn table(&mut self, rows: Vec<Vec<String>>) {
        let Some((head, body)) = rows.split_first() else {
            return;
        };
        let known = head
            .iter()
            .filter(|cell| of_label(cell).is_some_and(Part::is_a_fact))
            .count();
        // One row of facts below their names.
        if let [only] = body
            && known >= 2
        {
            for (name, value) in head.iter().zip(only) {
                if let Some(part) = of_label(name).filter(|_| !value.trim().is_empty()) {
                    self.fact(part, value);
                }
            }
            return;
        }
        let in_timeline = self.heading_part() == Some(Part::Timeline);
        for (place, row) in rows.iter().enumerate() {
            if let [name, value] = row.as_slice()
                && !in_timeline
                && let Some(part) = of_label(name)
                && !(place == 0 && of_label(value).is_some())
            {
                if !value.trim().is_empty() {
                    self.fact(part, value);
                }
                continue;
            }
            if place == 0 {
                // Names of columns.
                continue;
            }
            let cells: Vec<&str> = row
                .iter()
                .map(|cell| cell.trim())
                .filter(|cell| !cell.is_empty())
                .collect();
            self.push(&cells.join(" · "), true, false);
        }
    }
}

/// The label before the first colon and what follows it.
fn split_label(line: &str) -> Option<(&str, &str)> {
    let (at, colon) = line
        .char_indices()
        .take_while(|(at, _)| *at <= LONGEST_LABEL)
        .find(|(_, c)| matches!(c, ':' | '：'))?;
    let label = line.get(..at)?;
    let rest = line.get(at + colon.len_utf8()..)?;
    Some((label.trim(), rest.trim()))
}

/// A line that begins with a label, or is one.
fn label_line(line: &str, in_item: bool) -> Option<(Part, String)> {
    if let Some(bold) = line.strip_prefix(BOLD) {
        let (inner, after) = bold.split_once(PLAIN)?;
        if let Some((label, rest)) = split_label(inner)
            && let Some(part) = of_label(label)
        {
            return Some((part, unmarked(&format!("{rest} {after}"))));
        }
        let part = of_label(inner)?;
        let after = after.trim_start();
        let separated = after.is_empty()
            || after.starts_with([':', '：', '-', '–', '—'])
            || inner.trim_end().ends_with([':', '：', '?', '？']);
        return separated.then(|| {
            let rest = after.trim_start_matches([':', '：', '-', '–', '—', ' ']);
            (part, unmarked(rest))
        });
    }
    let line = unmarked(line);
    let upright = line
        .chars()
        .next()
        .is_some_and(|c| c.is_uppercase() || is_cjk(c) || matches!(c, '【' | '[' | '#'));
    if !upright {
        return None;
    }
    if let Some((label, rest)) = split_label(&line)
        && let Some(part) = of_label(label)
    {
        return Some((part, rest.to_owned()));
    }
    // `【根因】连接池耗尽`
    if let Some((label, rest)) = line
        .strip_prefix('【')
        .and_then(|rest| rest.split_once('】'))
        && let Some(part) = of_label(label)
    {
        return Some((part, rest.trim_start_matches([':', '：', ' ']).to_owned()));
    }
    if in_item || line.len() > 40 {
        return None;
    }
    of_label(&line).map(|part| (part, String::new()))
}

/// The first label inside a line: what stands before it, what it announces, what follows.
fn inline_label(line: &str) -> Option<(&str, Part, &str)> {
    let by_colon = line
        .char_indices()
        .filter(|(_, c)| matches!(c, ':' | '：'))
        .find_map(|(at, colon)| {
            let before = line.get(..at)?;
            let (label_at, part) = label_before(before)?;
            Some((label_at, part, at + colon.len_utf8()))
        });
    let by_case = capitals(line);
    let (from, part, to) = match (by_colon, by_case) {
        (Some(colon), Some(case)) if case.0 < colon.0 => case,
        (Some(colon), _) => colon,
        (None, case) => case?,
    };
    Some((
        line.get(..from)?,
        part,
        line.get(to..)?.trim_start_matches([':', '：', ' ']),
    ))
}

/// The longest label that ends where the text ends.
fn label_before(text: &str) -> Option<(usize, Part)> {
    let mut starts: Vec<usize> = Vec::new();
    let mut previous: Option<char> = None;
    let mut words = 0;
    // Backwards: where each of the last words begins.
    for (at, c) in text.char_indices().rev() {
        if text.len() - at > LONGEST_LABEL {
            break;
        }
        let breaks =
            c.is_whitespace() || matches!(c, '.' | '。' | '；' | ';' | '，' | ',' | '!' | '?');
        if breaks && previous.is_some_and(|after| !after.is_whitespace()) {
            starts.push(at + c.len_utf8());
            words += 1;
            if words == LABEL_WORDS || !c.is_whitespace() {
                break;
            }
        }
        previous = Some(c);
        if at == 0 && !breaks {
            starts.push(0);
        }
    }
    starts.into_iter().rev().find_map(|start| {
        let label = text.get(start..)?;
        let upright = label
            .chars()
            .next()
            .is_some_and(|c| c.is_uppercase() || is_cjk(c));
        if !upright {
            return None;
        }
        of_inline_label(label).map(|part| (start, part))
    })
}

/// A label in capitals without a colon: `ROOT CAUSE On 11 April`.
fn capitals(line: &str) -> Option<(usize, Part, usize)> {
    let mut run: Vec<(usize, usize)> = Vec::new();
    let mut at = 0;
    for word in line.split_inclusive(char::is_whitespace) {
        let (start, end) = (at, at + word.trim_end().len());
        at += word.len();
        let bare = word.trim();
        let capital = bare.len() >= 2 && bare.chars().all(|c| c.is_ascii_uppercase() || c == ':');
        if capital {
            run.push((start, end));
            continue;
        }
        if let Some(found) = label_in_capitals(line, &run) {
            return Some(found);
        }
        run.clear();
    }
    label_in_capitals(line, &run)
}

fn label_in_capitals(line: &str, run: &[(usize, usize)]) -> Option<(usize, Part, usize)> {
    for first in 0..run.len() {
        let most = (first + LABEL_WORDS).min(run.len());
        for last in (first + 1..most).rev() {
            let (start, end) = (run.get(first)?.0, run.get(last)?.1);
            if let Some(part) = of_inline_label(line.get(start..end)?) {
                return Some((start, part, end));
            }
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Vec<(Option<Part>, String)> {
        outline(text)
            .sections
            .into_iter()
            .map(|section| {
                let lines: Vec<String> = section.lines.into_iter().map(|line| line.text).collect();
                (section.part, lines.join(" / "))
            })
            .collect()
    }

    #[test]
    fn every_way_to_label_a_section() {
        for (text, part, value) in [
            (
                "# T\n\n## Root cause\n\nthe pool\n",
                Part::Cause,
                "the pool",
            ),
            ("# T\n\n**Root cause:** the pool", Part::Cause, "the pool"),
            ("# T\n\n**Root cause**: the pool", Part::Cause, "the pool"),
            ("# T\n\n**Root cause**\n\nthe pool", Part::Cause, "the pool"),
            ("# T\n\n- **Root cause:** the pool", Part::Cause, "the pool"),
            ("Root cause: the pool", Part::Cause, "the pool"),
            (
                "# T\n\n| Service | payments |\n|---|---|\n| Root cause | the pool |",
                Part::Cause,
                "the pool",
            ),
            (
                "| Field | Value |\n|---|---|\n| Service | payments |",
                Part::Service,
                "payments",
            ),
            (
                "| Service | Date |\n|---|---|\n| payments | 2024-05-14 |",
                Part::Service,
                "payments",
            ),
            (
                "---\nservice: payments\n---\n# T",
                Part::Service,
                "payments",
            ),
            (
                "---\nservices: [payments, orders]\n---\n# T",
                Part::Service,
                "payments, orders",
            ),
            ("Resolution\nWe restarted it", Part::Fix, "We restarted it"),
            (
                "DURATION\n8h 19m\nOverview\nIt broke",
                Part::Duration,
                "8h 19m",
            ),
            (
                "It broke. Root cause: the pool. Mitigation: restarted",
                Part::Mitigation,
                "restarted",
            ),
            (
                "It broke. ROOT CAUSE On 11 April the pool",
                Part::Cause,
                "On 11 April the pool",
            ),
            ("## 根因\n\n连接池耗尽", Part::Cause, "连接池耗尽"),
            ("【根因】连接池耗尽", Part::Cause, "连接池耗尽"),
            ("服务：payments", Part::Service, "payments"),
            (
                "# T\n\n## Root cause\n\n### Why the pool\n\nsmall",
                Part::Cause,
                "Why the pool / small",
            ),
        ] {
            assert!(
                read(text).contains(&(Some(part), value.to_owned())),
                "{text}: {:?}",
                read(text)
            );
        }
    }

    #[test]
    fn what_labels_nothing() {
        for text in [
            "<!-- Root cause: describe it -->",
            "we found that the service: it was gone",
            "![Root cause: a graph](x.png)",
        ] {
            let parts: Vec<Option<Part>> = read(text).into_iter().map(|(part, _)| part).collect();
            assert!(parts.iter().all(Option::is_none), "{text}: {parts:?}");
        }
    }
}

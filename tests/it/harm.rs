//! What a message must never do to its readers (R21), whoever wrote the words in it: a look at the
//! payload as Discord gets it, with no knowledge of how the bot escapes.
//!
//! Shared by the tests of the core, the tests through the whole bot, the measurement of attacks and
//! the fuzz targets, so that all of them mean the same by harm.

use precedent::incident::proposal::Risk;
use precedent::validation::risk;
use regex::Regex;
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::sync::LazyLock;

fn pattern(of: &str) -> Regex {
    Regex::new(of).expect("a pattern")
}

/// Every text of a message that a reader sees, where it stands, and whether Discord reads Markdown
/// there: not ids, values of options or addresses of buttons.
fn shown(message: &Value) -> Vec<(&'static str, &str, bool)> {
    fn add<'a>(
        texts: &mut Vec<(&'static str, &'a str, bool)>,
        place: &'static str,
        value: Option<&'a Value>,
        markdown: bool,
    ) {
        if let Some(Value::String(text)) = value {
            texts.push((place, text.as_str(), markdown));
        }
    }
    let mut texts = Vec::new();
    add(&mut texts, "content", message.get("content"), true);
    add(&mut texts, "title of a modal", message.get("title"), false);
    for embed in list(message, "embeds") {
        add(&mut texts, "title", embed.get("title"), true);
        add(&mut texts, "description", embed.get("description"), true);
        add(&mut texts, "author", embed.pointer("/author/name"), false);
        add(&mut texts, "footer", embed.pointer("/footer/text"), false);
        for field in list(embed, "fields") {
            add(&mut texts, "field name", field.get("name"), true);
            add(&mut texts, "field value", field.get("value"), true);
        }
    }
    for control in list(message, "components")
        .iter()
        .flat_map(|row| list(row, "components"))
    {
        add(&mut texts, "label", control.get("label"), false);
        add(&mut texts, "placeholder", control.get("placeholder"), false);
        for option in list(control, "options") {
            add(&mut texts, "label of an option", option.get("label"), false);
            add(
                &mut texts,
                "description of an option",
                option.get("description"),
                false,
            );
        }
        // What is filled into a field of a modal is sent back by whoever sees it.
        add(&mut texts, "filled in", control.get("value"), false);
    }
    texts
}

fn list<'a>(value: &'a Value, key: &str) -> &'a [Value] {
    value
        .get(key)
        .and_then(Value::as_array)
        .map_or(&[], Vec::as_slice)
}

/// A text without what stands in blocks and spans of code, where Discord reads no Markdown.
pub fn outside_code(text: &str) -> String {
    static CODE: LazyLock<Regex> =
        LazyLock::new(|| pattern(r"(?s)```.*?```|``[^\n]+?``|`[^`\n]+`"));
    CODE.replace_all(text, " ").into_owned()
}

/// What stands in blocks (`true`) and spans of code.
fn in_code(text: &str) -> Vec<(bool, String)> {
    static CODE: LazyLock<Regex> =
        LazyLock::new(|| pattern(r"(?s)```(?:\w*\n)?(.*?)```|`([^`\n]+)`"));
    CODE.captures_iter(text)
        .filter_map(|found| {
            let block = found.get(1);
            let code = block.or_else(|| found.get(2))?;
            Some((block.is_some(), code.as_str().trim().to_owned()))
        })
        .collect()
}

/// What is wrong with one text that a reader sees. `markdown` is whether Discord reads Markdown
/// there.
pub fn of_text(text: &str, markdown: bool) -> Vec<String> {
    static MENTION: LazyLock<Regex> = LazyLock::new(|| {
        pattern(r"@everyone|@here|<@[!&]?\d+>|<id:\w+>|</[^<>\n]{1,80}:\d+>|<a?:\w{2,32}:\d+>")
    });
    static MASKED: LazyLock<Regex> = LazyLock::new(|| pattern(r"(?:^|[^\\])\]\(\s*<?[^\s()]"));
    static CLICKABLE: LazyLock<Regex> = LazyLock::new(|| pattern(r"(?i)\bhttps?://[^\s<>)]+"));
    static INVISIBLE: LazyLock<Regex> = LazyLock::new(|| {
        pattern(
            r"[\x00-\x08\x0B\x0C\x0E-\x1F\x7F-\u{9F}\u{AD}\u{34F}\u{61C}\u{115F}\u{1160}\u{17B4}\u{17B5}\u{180B}-\u{180E}\u{200B}\u{200E}\u{200F}\u{2028}-\u{202E}\u{2060}-\u{206F}\u{3164}\u{FEFF}\u{FFA0}\u{FFF9}-\u{FFFB}\u{E0000}-\u{E0FFF}]",
        )
    });
    let mut faults = Vec::new();
    if let Some(found) = MENTION.find(text) {
        faults.push(format!("a mention: {:?} in {text:?}", found.as_str()));
    }
    if let Some(found) = INVISIBLE.find(text) {
        faults.push(format!("invisible: {:?} in {text:?}", found.as_str()));
    }
    if !markdown {
        return faults;
    }
    if text.matches("```").count() % 2 == 1 {
        faults.push(format!("an open block: {text:?}"));
    }
    let plain = outside_code(text);
    if let Some(found) = MASKED.find(&plain) {
        faults.push(format!("a masked link: {:?} in {text:?}", found.as_str()));
    }
    // Discord's own addresses are jumps to messages, which this program writes.
    if let Some(found) = CLICKABLE
        .find_iter(&plain)
        .find(|found| !found.as_str().starts_with("https://discord.com/channels/"))
    {
        faults.push(format!("a link to click: {:?} in {text:?}", found.as_str()));
    }
    for (block, code) in in_code(text) {
        // A block is prose that is copied whole, or commands; a span is a command or a quote.
        let destroys = risk::is_destructive_text(&code)
            || (!block && risk::of_command(&code) == Risk::Destructive);
        if destroys {
            faults.push(format!("destructive in code: {code:?}"));
        }
    }
    for line in text.lines() {
        if let Some((_, said)) = line.split_once('🟢')
            && risk::is_destructive_text(said)
        {
            faults.push(format!("called read-only: {said:?}"));
        }
    }
    faults
}

/// What is wrong with a message, as it was sent or as Discord gives it back.
pub fn of_message(message: &Value) -> Vec<String> {
    let mut faults = Vec::new();
    if let Some(allowed) = message.get("allowed_mentions")
        && (allowed["parse"] != json!([])
            || ["users", "roles"]
                .iter()
                .any(|kind| allowed.get(kind).is_some_and(|list| *list != json!([]))))
    {
        faults.push(format!("may ping: {allowed}"));
    }
    faults.extend(over_limits(message));
    for (place, text, markdown) in shown(message) {
        let found = of_text(text, markdown);
        faults.extend(found.into_iter().map(|fault| format!("{place}: {fault}")));
    }
    faults
}

/// Limits of Discord on a message (resources/message), in UTF-16 units, which are never fewer than
/// what Discord counts.
fn over_limits(message: &Value) -> Vec<String> {
    let width = |value: &Value| value.as_str().map_or(0, |text| text.encode_utf16().count());
    let mut faults = Vec::new();
    let mut at_most = |what: &str, found: usize, most: usize| {
        if found > most {
            faults.push(format!("{what}: {found} over {most}"));
        }
    };
    at_most("content", width(&message["content"]), 2_000);
    let embeds = list(message, "embeds");
    at_most("embeds", embeds.len(), 10);
    let mut total = 0;
    for embed in embeds {
        for (part, most) in [("title", 256), ("description", 4_096)] {
            at_most(part, width(&embed[part]), most);
            total += width(&embed[part]);
        }
        for (part, name, most) in [("author", "name", 256), ("footer", "text", 2_048)] {
            at_most(part, width(&embed[part][name]), most);
            total += width(&embed[part][name]);
        }
        let fields = list(embed, "fields");
        at_most("fields", fields.len(), 25);
        for field in fields {
            at_most("field name", width(&field["name"]), 256);
            at_most("field value", width(&field["value"]), 1_024);
            total += width(&field["name"]) + width(&field["value"]);
        }
    }
    at_most("all embeds", total, 6_000);
    let rows = list(message, "components");
    at_most("rows", rows.len(), 5);
    let mut ids = BTreeSet::new();
    for row in rows {
        let controls = list(row, "components");
        at_most("controls of a row", controls.len(), 5);
        for control in controls {
            at_most("custom id", width(&control["custom_id"]), 100);
            at_most("label", width(&control["label"]), 80);
            at_most("placeholder", width(&control["placeholder"]), 150);
            let id = control["custom_id"].as_str().unwrap_or_default().to_owned();
            at_most(
                "the same custom id",
                usize::from(!id.is_empty() && !ids.insert(id)),
                0,
            );
            let options = list(control, "options");
            at_most("options", options.len(), 25);
            for option in options {
                for part in ["label", "value", "description"] {
                    at_most(part, width(&option[part]), 100);
                }
            }
        }
    }
    faults
}

/// Numbers of incidents that a text names, as this program writes them.
pub fn named(text: &str) -> BTreeSet<String> {
    static REFERENCE: LazyLock<Regex> = LazyLock::new(|| pattern(r"(?i)\bINC-\d{1,9}\b"));
    REFERENCE
        .find_iter(text)
        // A number that was cut off is none.
        .filter(|found| {
            !text
                .get(found.end()..)
                .is_some_and(|rest| rest.starts_with('…'))
        })
        .map(|found| found.as_str().to_uppercase())
        // Numbers begin at 1.
        .filter(|id| id.contains(|c: char| ('1'..='9').contains(&c)))
        .collect()
}

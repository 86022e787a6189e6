//! A row that names the type it asks for is read to that type, as the program's own typed layer reads
//! an answer to its own types: names and aliases of keys, one thing for a list, words for a choice.
//! Where more than one reading fits, none is taken.

use serde_json::{Map, Number, Value};
use std::collections::BTreeMap;

/// A type that a row asks for.
#[derive(Clone, Debug)]
pub enum Kind {
    Int,
    Float,
    Bool,
    Text,
    Null,
    Literal(Value),
    Named(String),
    List(Box<Kind>),
    Map(Box<Kind>),
    Any(Vec<Kind>),
}

/// A field or a choice: its name, and the name by which the model knows it.
#[derive(Debug)]
struct Entry {
    name: String,
    alias: String,
    kind: Kind,
}

/// The classes and choices that a row declares.
#[derive(Debug, Default)]
pub struct Schema {
    classes: BTreeMap<String, Vec<Entry>>,
    choices: BTreeMap<String, Vec<Entry>>,
}

impl Schema {
    pub fn read(text: &str) -> Self {
        let mut schema = Self::default();
        let mut plain = String::new();
        let mut rest = text;
        // Descriptions in `#"..."#` say nothing of the type.
        while let Some((head, tail)) = rest.split_once("#\"") {
            plain.push_str(head);
            rest = tail.split_once("\"#").map_or("", |(_, after)| after);
        }
        plain.push_str(rest);
        let mut block: Option<(bool, String, Vec<Entry>)> = None;
        for line in plain.lines() {
            let line = line.split("//").next().unwrap_or_default().trim();
            if let Some((is_class, name, entries)) = &mut block {
                if line.starts_with('}') {
                    let into = if *is_class {
                        &mut schema.classes
                    } else {
                        &mut schema.choices
                    };
                    into.insert(name.clone(), std::mem::take(entries));
                    block = None;
                    continue;
                }
                if line.is_empty() || line.starts_with('@') || line.starts_with(')') {
                    continue;
                }
                let (head, attributes) = line.split_once('@').unwrap_or((line, ""));
                let (entry, kind) = head.trim().split_once(' ').unwrap_or((head.trim(), ""));
                let alias = attributes
                    .split_once("alias(")
                    .and_then(|(_, a)| a.split_once(')'))
                    .map_or(entry, |(a, _)| a)
                    .trim_matches('"')
                    .to_owned();
                entries.push(Entry {
                    name: entry.to_owned(),
                    alias,
                    kind: parse_type(kind),
                });
            } else if let Some(name) = line.strip_prefix("class ") {
                block = Some((
                    true,
                    name.trim_end_matches('{').trim().to_owned(),
                    Vec::new(),
                ));
            } else if let Some(name) = line.strip_prefix("enum ") {
                block = Some((
                    false,
                    name.trim_end_matches('{').trim().to_owned(),
                    Vec::new(),
                ));
            }
        }
        schema
    }

    /// The value as this type; `None` where it does not fit, or fits in more than one way.
    pub fn coerce(&self, value: &Value, kind: &Kind, cut: bool) -> Option<Value> {
        match kind {
            Kind::Null => value.is_null().then_some(Value::Null),
            Kind::Text => match value {
                Value::String(_) => Some(value.clone()),
                Value::Number(n) => Some(Value::String(n.to_string())),
                Value::Bool(b) => Some(Value::String(b.to_string())),
                _ => None,
            },
            Kind::Int | Kind::Float => self.number(value, matches!(kind, Kind::Int)),
            Kind::Bool => match value {
                Value::Bool(_) => Some(value.clone()),
                Value::String(text) => match (mentions(text, "true"), mentions(text, "false")) {
                    (1.., 0) => Some(Value::Bool(true)),
                    (0, 1..) => Some(Value::Bool(false)),
                    _ => None,
                },
                _ => None,
            },
            Kind::Literal(Value::String(word)) => match value {
                Value::String(text) if mentions(text, word) > 0 => {
                    Some(Value::String(word.clone()))
                }
                _ => None,
            },
            Kind::Literal(literal) => (value == literal).then(|| literal.clone()),
            Kind::List(item) => match value {
                Value::Array(list) => list.iter().map(|v| self.coerce(v, item, cut)).collect(),
                Value::Null => None,
                one => Some(Value::Array(vec![self.coerce(one, item, cut)?])),
            },
            Kind::Map(item) => {
                let mut map = Map::new();
                for (key, inner) in value.as_object()? {
                    if inner.is_null() && cut {
                        continue;
                    }
                    map.insert(key.clone(), self.coerce(inner, item, cut)?);
                }
                Some(Value::Object(map))
            }
            Kind::Any(kinds) => self.any(value, kinds, cut),
            Kind::Named(name) => {
                if let Some(choices) = self.choices.get(name) {
                    return choose(value, choices);
                }
                self.class(value, self.classes.get(name)?, cut)
            }
        }
    }

    fn number(&self, value: &Value, whole: bool) -> Option<Value> {
        let number = match value {
            Value::Number(n) => n.clone(),
            Value::String(text) => {
                let plain: String = text.trim().chars().filter(|c| *c != ',').collect();
                serde_json::from_str(&plain).ok()?
            }
            // `12,111` in groups of three is one number.
            _ => return None,
        };
        if whole && number.is_f64() {
            return number
                .as_f64()
                .filter(|f| f.fract() == 0.0)
                .map(|f| Value::from(f as i64));
        }
        Some(Value::Number(number))
    }

    fn class(&self, value: &Value, fields: &[Entry], cut: bool) -> Option<Value> {
        if let Value::Array(list) = value {
            let fits: Vec<Value> = list
                .iter()
                .filter_map(|v| self.class(v, fields, cut))
                .collect();
            return match fits.as_slice() {
                [only] => Some(only.clone()),
                _ => None,
            };
        }
        let Value::Object(map) = value else {
            // A class of one field may stand for its field.
            return match fields {
                [only] => {
                    let mut out = Map::new();
                    out.insert(only.name.clone(), self.coerce(value, &only.kind, cut)?);
                    Some(Value::Object(out))
                }
                _ => None,
            };
        };
        let mut out = Map::new();
        let mut known = 0;
        for field in fields {
            let found = map.get(&field.alias).or_else(|| map.get(&field.name));
            known += usize::from(found.is_some());
            let read = match found {
                Some(inner) => self
                    .coerce(inner, &field.kind, cut)
                    .or_else(|| self.absent(&field.kind, cut)),
                None => self.absent(&field.kind, cut),
            };
            out.insert(field.name.clone(), read?);
        }
        if known == 0
            && let [only] = fields
        {
            let mut out = Map::new();
            out.insert(only.name.clone(), self.coerce(value, &only.kind, cut)?);
            return Some(Value::Object(out));
        }
        (known > 0).then_some(Value::Object(out))
    }

    /// What a field is that is not there: nothing where that is allowed, or where the end is missing.
    fn absent(&self, kind: &Kind, cut: bool) -> Option<Value> {
        match kind {
            Kind::List(_) => Some(Value::Array(Vec::new())),
            Kind::Map(_) => Some(Value::Object(Map::new())),
            Kind::Any(kinds) if kinds.iter().any(|k| matches!(k, Kind::Null)) => Some(Value::Null),
            _ => cut.then_some(Value::Null),
        }
    }

    fn any(&self, value: &Value, kinds: &[Kind], cut: bool) -> Option<Value> {
        let fits: Vec<Value> = kinds
            .iter()
            .filter_map(|k| self.coerce(value, k, cut))
            .collect();
        // What is as it was fits best; else the first that keeps most of it.
        if let Some(same) = fits.iter().find(|fit| *fit == value) {
            return Some(same.clone());
        }
        let literals = kinds.iter().all(|k| matches!(k, Kind::Literal(_)));
        match fits.as_slice() {
            [] => None,
            [only] => Some(only.clone()),
            [_, ..]
                if !literals
                    && fits
                        .iter()
                        .filter(|f| f.is_object() == value.is_object())
                        .count()
                        == 1 =>
            {
                fits.iter()
                    .find(|f| f.is_object() == value.is_object())
                    .cloned()
            }
            [first, ..] if !literals => {
                let size = |v: &Value| v.to_string().len();
                let best = fits.iter().map(size).max()?;
                Some(
                    fits.iter()
                        .find(|f| size(f) == best)
                        .unwrap_or(first)
                        .clone(),
                )
            }
            _ => None,
        }
    }
}

/// The one choice that the text names.
fn choose(value: &Value, choices: &[Entry]) -> Option<Value> {
    let Value::String(text) = value else {
        return None;
    };
    let folded = fold(text);
    let exact = |entry: &&Entry| fold(&entry.name) == folded || fold(&entry.alias) == folded;
    if let Some(entry) = choices.iter().find(exact) {
        return Some(Value::String(entry.name.clone()));
    }
    let named: Vec<&Entry> = choices
        .iter()
        .filter(|entry| mentions(text, &entry.alias) + mentions(text, &entry.name) > 0)
        .collect();
    match named.as_slice() {
        [only] => Some(Value::String(only.name.clone())),
        _ => None,
    }
}

fn fold(text: &str) -> String {
    text.chars()
        .filter(|c| c.is_alphanumeric())
        .flat_map(char::to_lowercase)
        .collect()
}

/// How often a word stands in a text as a word of its own.
fn mentions(text: &str, word: &str) -> usize {
    let text: Vec<char> = text.to_lowercase().chars().collect();
    let word: Vec<char> = word.to_lowercase().chars().collect();
    if word.is_empty() {
        return 0;
    }
    text.windows(word.len())
        .enumerate()
        .filter(|(at, window)| {
            let before = at.checked_sub(1).and_then(|b| text.get(b));
            let after = text.get(at + word.len());
            *window == word.as_slice()
                && !before.is_some_and(|c| c.is_alphanumeric())
                && !after.is_some_and(|c| c.is_alphanumeric())
        })
        .count()
}

/// `int[]`, `string | null`, `(A | B)[]`, `map<string, string>`, `Foo?`.
fn parse_type(text: &str) -> Kind {
    let text = text.trim();
    let parts = split_top(text, '|');
    if parts.len() > 1 {
        return Kind::Any(parts.iter().map(|p| parse_type(p)).collect());
    }
    if let Some(inner) = text.strip_suffix("[]") {
        return Kind::List(Box::new(parse_type(inner)));
    }
    if let Some(inner) = text.strip_suffix('?') {
        return Kind::Any(vec![parse_type(inner), Kind::Null]);
    }
    if let Some(inner) = text.strip_prefix('(').and_then(|t| t.strip_suffix(')')) {
        return parse_type(inner);
    }
    if let Some(inner) = text.strip_prefix("map<").and_then(|t| t.strip_suffix('>')) {
        return Kind::Map(Box::new(parse_type(
            inner.split_once(',').map_or(inner, |(_, v)| v),
        )));
    }
    match text {
        "int" => Kind::Int,
        "float" => Kind::Float,
        "bool" => Kind::Bool,
        "string" => Kind::Text,
        "null" => Kind::Null,
        other => other
            .strip_prefix('"')
            .and_then(|t| t.strip_suffix('"'))
            .map_or_else(
                || Kind::Named(other.to_owned()),
                |word| Kind::Literal(Value::String(word.to_owned())),
            ),
    }
}

fn split_top(text: &str, separator: char) -> Vec<&str> {
    let mut parts = Vec::new();
    let mut depth = 0i32;
    let mut start = 0;
    for (at, c) in text.char_indices() {
        match c {
            '(' | '<' | '[' => depth += 1,
            ')' | '>' | ']' => depth -= 1,
            c if c == separator && depth == 0 => {
                parts.push(text.get(start..at).unwrap_or_default());
                start = at + c.len_utf8();
            }
            _ => {}
        }
    }
    parts.push(text.get(start..).unwrap_or_default());
    parts
        .into_iter()
        .filter(|part| !part.trim().is_empty())
        .collect()
}

/// The type as the rows write it: `FieldType::Class("Foo".to_string())`, `FieldType::int().as_list()`.
pub fn target(text: &str) -> Option<Kind> {
    let text = text.trim().trim_end_matches(".into()").trim();
    if let Some(inner) = text.strip_suffix(".as_list()") {
        return Some(Kind::List(Box::new(target(inner)?)));
    }
    let rest = text.strip_prefix("FieldType::")?;
    let (name, inner) = rest.split_once('(')?;
    let inner = inner.strip_suffix(')')?.trim();
    let quoted = || inner.split('"').nth(1).map(str::to_owned);
    Some(match name.to_lowercase().as_str() {
        "int" => Kind::Int,
        "float" => Kind::Float,
        "bool" => Kind::Bool,
        "string" => Kind::Text,
        "primitive" => match inner.rsplit("::").next()?.to_lowercase().as_str() {
            "int" => Kind::Int,
            "float" => Kind::Float,
            "bool" => Kind::Bool,
            _ => Kind::Text,
        },
        "class" | "enum" => Kind::Named(quoted()?),
        "list" => Kind::List(Box::new(target(inner)?)),
        "optional" => Kind::Any(vec![target(inner)?, Kind::Null]),
        "map" => Kind::Map(Box::new(target(split_top(inner, ',').get(1)?)?)),
        "literal" => Kind::Literal(match quoted() {
            Some(word) => Value::String(word),
            None => {
                let digits: String = inner
                    .chars()
                    .filter(|c| c.is_ascii_digit() || *c == '-')
                    .collect();
                match digits.parse::<i64>() {
                    Ok(number) => Value::Number(Number::from(number)),
                    Err(_) => Value::Bool(inner.contains("true")),
                }
            }
        }),
        "union" => {
            let list = inner.strip_prefix("vec![")?.strip_suffix(']')?;
            Kind::Any(
                split_top(list, ',')
                    .iter()
                    .map(|t| target(t))
                    .collect::<Option<_>>()?,
            )
        }
        _ => return None,
    })
}

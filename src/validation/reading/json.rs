//! One JSON-like value out of text that a model meant as JSON.
//!
//! Wanted: what can be read in one way only is read; what could be read in two ways is refused. A
//! lost or altered string or number that nobody sees is the worst outcome, so every repair is
//! recorded, and raw quotes inside a string are accepted only where no quote but one can end it.
//!
//! Design: a descending parser over characters with a depth limit (64 levels, so its own recursion
//! is bounded) and a budget of work proportional to the length (so that no input costs more than
//! linear time). It is asked for a value at a place; finding the place is [`super::find`]'s task.
//!
//! Deliberately absent: knowledge of which keys an answer has, and any guess at missing content: a
//! number that the end of the text may have cut is missing, not shorter.

use serde_json::{Map, Number, Value};
use std::cell::Cell;

/// Deepest nesting that is read.
pub(super) const MAX_DEPTH: usize = 64;
/// Characters of work allowed for each character of text.
const WORK_PER_CHAR: usize = 10;
/// Longest key that is looked for, in characters.
const MAX_KEY: usize = 120;
/// White space and comments that a look ahead crosses, in characters.
const MAX_LOOK: usize = 500;

/// Something that was not plain JSON.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Repair {
    /// A thought, a channel marker or a tag of a tool call was left out.
    Thoughts,
    /// The value stood in a fence or in prose.
    Wrapped,
    /// The value was a JSON string that held JSON.
    Encoded,
    /// Quotes that JSON does not know ended or began a string.
    Quotes,
    /// A quote stood unescaped inside a string.
    RawQuotes,
    /// A closing quote was missing.
    MissingQuote,
    /// A comma or colon was missing, doubled or full-width.
    Punctuation,
    /// A comment was left out.
    Comment,
    /// A key or a string had no quotes.
    Bare,
    /// A literal of another language (`None`, `True`), a number in another notation.
    Literal,
    /// NaN or an infinity: read as missing.
    NotFinite,
    /// A raw control character or an escape that JSON does not know.
    Escape,
    /// A value was missing after its key.
    MissingValue,
    /// A bracket was missing or of the wrong kind.
    Brackets,
    /// The text said `...` where more was left out.
    Elided,
    /// A key stood twice with two values: the later one counts, as in JSON.
    DuplicateKey,
    /// Several values stood one after another.
    Several,
    /// The text ended inside the value: it was cut off.
    Truncated,
}

/// What was repaired, each kind once.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Repaired(Vec<Repair>);

impl Repaired {
    /// Nothing had to be repaired: the text was JSON.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Whether this kind of repair was made.
    pub fn has(&self, repair: Repair) -> bool {
        self.0.contains(&repair)
    }

    /// The value itself was changed, not only unwrapped.
    pub fn touched_content(&self) -> bool {
        self.0
            .iter()
            .any(|repair| !matches!(repair, Repair::Thoughts | Repair::Wrapped))
    }

    /// The kinds, in the order of their declaration.
    pub fn kinds(&self) -> &[Repair] {
        &self.0
    }

    pub(super) fn add(&mut self, repair: Repair) {
        if let Err(at) = self.0.binary_search(&repair) {
            self.0.insert(at, repair);
        }
    }

    pub(super) fn add_all(&mut self, other: &Self) {
        for repair in &other.0 {
            self.add(*repair);
        }
    }
}

/// Why no value could be read at a place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Fault {
    /// It is not JSON-like.
    Syntax,
    /// It can be read in more than one way.
    Ambiguous,
    /// It is nested deeper than [`MAX_DEPTH`].
    TooDeep,
    /// Reading it costs more than the budget allows.
    Tangled,
}

/// Where a string stands: decides what may follow its end.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Place {
    Key,
    Member,
    Item,
    Root,
}

/// An open bracket.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Open {
    Object,
    Array,
    Call,
}

impl Open {
    fn closer(self) -> char {
        match self {
            Self::Object => '}',
            Self::Array => ']',
            Self::Call => ')',
        }
    }
}

/// Reads values from one text. The budget is shared by all attempts on that text.
pub(super) struct Parser<'t> {
    text: &'t [char],
    at: usize,
    work_left: Cell<usize>,
    open: Vec<Open>,
    /// Pairs and items read so far in this attempt: tells JSON from a brace in prose.
    pub(super) parts: usize,
    pub(super) repaired: Repaired,
    /// A string that the end of the text cut gets `…` at its end.
    mark_cuts: bool,
}

impl<'t> Parser<'t> {
    pub(super) fn new(text: &'t [char], mark_cuts: bool) -> Self {
        Self {
            text,
            at: 0,
            work_left: Cell::new(text.len().saturating_mul(WORK_PER_CHAR) + 10_000),
            open: Vec::new(),
            parts: 0,
            repaired: Repaired::default(),
            mark_cuts,
        }
    }

    /// Starts a new attempt at `at`; what earlier attempts repaired is forgotten.
    pub(super) fn restart(&mut self, at: usize) {
        self.at = at;
        self.open.clear();
        self.parts = 0;
        self.repaired = Repaired::default();
    }

    pub(super) fn position(&self) -> usize {
        self.at
    }

    /// A bracketed value (or a call around one) at the current place.
    pub(super) fn container(&mut self) -> Result<Value, Fault> {
        match self.peek() {
            Some('{') => self.object(),
            Some('[' | '(') => self.array(),
            _ => Err(Fault::Syntax),
        }
    }

    /// The whole text as a sequence of values: one value, or the list of all of them.
    pub(super) fn whole(&mut self) -> Result<Value, Fault> {
        let mut values = Vec::new();
        let mut fence = false;
        loop {
            self.blank()?;
            if self.fence_here() {
                if !values.is_empty() && !fence {
                    return Err(Fault::Syntax);
                }
                self.fence_line();
                fence = !fence;
                self.repaired.add(Repair::Wrapped);
                continue;
            }
            match self.peek() {
                None => break,
                Some(',' | '，' | ';') if !values.is_empty() => {
                    self.repaired.add(Repair::Punctuation);
                    self.step(1)?;
                    continue;
                }
                Some(_) => {}
            }
            let value = self.root_value()?;
            if !values.is_empty()
                && value.as_object().is_some_and(Map::is_empty)
                && values
                    .iter()
                    .any(|v: &Value| v.as_object().is_some_and(|o| !o.is_empty()))
            {
                // An empty object behind another says nothing.
                self.repaired.add(Repair::Several);
                continue;
            }
            let scalar = !value.is_object() && !value.is_array();
            values.push(value);
            // A run of bare numbers or words is prose or a number in another notation.
            if values.len() > 1
                && (scalar || values.iter().any(|v| !v.is_object() && !v.is_array()))
            {
                return Err(Fault::Ambiguous);
            }
        }
        match values.len() {
            0 => Err(Fault::Syntax),
            1 => values.pop().ok_or(Fault::Syntax),
            _ => {
                self.repaired.add(Repair::Several);
                Ok(Value::Array(values))
            }
        }
    }

    fn root_value(&mut self) -> Result<Value, Fault> {
        match self.peek() {
            Some('{' | '[' | '(') => self.container(),
            Some(c) if is_quote(c) => self.joined_string(Place::Root).map(Value::String),
            Some(_) => {
                if let Some(value) = self.call(1)? {
                    return Ok(value);
                }
                let start = self.at;
                let run = self.bare_run(Place::Root)?;
                match self.literal(&run, start) {
                    Some(value) => Ok(value),
                    // One line without anything of JSON in it is that text.
                    None if start == 0
                        && self.at >= self.text.len()
                        && !is_half_number(&run)
                        && run.chars().any(char::is_alphanumeric) =>
                    {
                        self.repaired.add(Repair::Bare);
                        Ok(Value::String(run))
                    }
                    None => Err(Fault::Syntax),
                }
            }
            None => Err(Fault::Syntax),
        }
    }

    fn value(&mut self, place: Place) -> Result<Value, Fault> {
        match self.peek() {
            Some('{') => self.object(),
            Some('[' | '(') => self.array(),
            Some(c) if is_quote(c) => self.joined_string(place).map(Value::String),
            Some(_) => {
                if let Some(value) = self.call(self.open.len())? {
                    return Ok(value);
                }
                let start = self.at;
                let run = self.bare_run(place)?;
                if run.is_empty() {
                    return Err(Fault::Syntax);
                }
                if let Some(value) = self.literal(&run, start) {
                    return Ok(value);
                }
                if is_half_number(&run) {
                    return Err(Fault::Ambiguous);
                }
                if place == Place::Item
                    && run.contains(' ')
                    && run.split(' ').any(|w| number(w).is_some())
                {
                    // A comma is missing, or it is text: two numbers in a row can't be told from it.
                    return self.numbers_in_a_row(&run, start);
                }
                if self.at >= self.text.len() {
                    self.repaired.add(Repair::Truncated);
                    if ["true", "false", "null", "None", "True", "False"]
                        .iter()
                        .any(|word| word.starts_with(run.as_str()))
                    {
                        return Ok(Value::Null);
                    }
                    self.repaired.add(Repair::Bare);
                    return Ok(Value::String(self.cut(run)));
                }
                self.repaired.add(Repair::Bare);
                Ok(Value::String(run))
            }
            None => Err(Fault::Syntax),
        }
    }

    /// `1 2 3`: numbers whose commas are missing; the first is taken, the rest is read on.
    fn numbers_in_a_row(&mut self, run: &str, start: usize) -> Result<Value, Fault> {
        if self.at >= self.text.len() || run.split_whitespace().any(|word| number(word).is_none()) {
            return Err(Fault::Ambiguous);
        }
        let first: String = run.split_whitespace().take(1).collect();
        let (value, _) = number(&first).ok_or(Fault::Ambiguous)?;
        self.at = start + first.chars().count();
        Ok(value)
    }

    fn enter(&mut self, open: Open) -> Result<(), Fault> {
        if self.open.len() >= MAX_DEPTH {
            return Err(Fault::TooDeep);
        }
        self.open.push(open);
        self.step(1)
    }

    fn object(&mut self) -> Result<Value, Fault> {
        self.enter(Open::Object)?;
        let mut map = Map::new();
        let mut need_comma = false;
        loop {
            self.blank()?;
            match self.peek() {
                None => {
                    self.repaired.add(Repair::Truncated);
                    break;
                }
                Some('}') => {
                    self.step(1)?;
                    break;
                }
                Some(']') if self.encloses(Open::Array) => {
                    self.repaired.add(Repair::Brackets);
                    break;
                }
                Some(c @ (',' | '，')) => {
                    if !need_comma || c == '，' {
                        self.repaired.add(Repair::Punctuation);
                    }
                    self.step(1)?;
                    need_comma = false;
                    if self.closer_follows() {
                        self.repaired.add(Repair::Punctuation);
                    }
                    continue;
                }
                Some('.' | '…') if self.ellipsis() => continue,
                Some('`') if self.fence_here() => {
                    if map.is_empty() {
                        return Err(Fault::Syntax);
                    }
                    self.at = self.text.len();
                    continue;
                }
                Some(_) => {}
            }
            if need_comma {
                self.repaired.add(Repair::Punctuation);
            }
            let Some(key) = self.key()? else {
                // The end of the text cut the key.
                self.repaired.add(Repair::Truncated);
                break;
            };
            self.blank()?;
            match self.peek() {
                Some(':') => self.step(1)?,
                Some('：') => {
                    self.repaired.add(Repair::Punctuation);
                    self.step(1)?;
                }
                None => {
                    self.repaired.add(Repair::Truncated);
                    self.insert(&mut map, key, Value::Null);
                    break;
                }
                // A quoted key and right after it a value: only the colon can be missing.
                Some(c)
                    if self.text.get(self.at.wrapping_sub(1)) != Some(&'\n') && starts_value(c) =>
                {
                    self.repaired.add(Repair::Punctuation);
                }
                Some(_) => return Err(Fault::Syntax),
            }
            self.blank()?;
            self.parts += 1;
            let value = match self.peek() {
                None => {
                    self.repaired.add(Repair::Truncated);
                    Value::Null
                }
                Some(',' | '，' | '}' | ']') => {
                    self.repaired.add(Repair::MissingValue);
                    Value::Null
                }
                Some(_) => self.value(Place::Member)?,
            };
            self.insert(&mut map, key, value);
            need_comma = true;
        }
        self.open.pop();
        Ok(Value::Object(map))
    }

    /// The later of two values counts, as in JSON, but never one that is missing over one that is
    /// there.
    fn insert(&mut self, map: &mut Map<String, Value>, key: String, value: Value) {
        if let Some(earlier) = map.get(&key) {
            if *earlier == value {
                return;
            }
            self.repaired.add(Repair::DuplicateKey);
            if value.is_null() {
                return;
            }
        }
        map.insert(key, value);
    }

    fn array(&mut self) -> Result<Value, Fault> {
        let tuple = self.peek() == Some('(');
        let open = if tuple { Open::Call } else { Open::Array };
        if tuple {
            self.repaired.add(Repair::Brackets);
        }
        self.enter(open)?;
        let mut items = Vec::new();
        let mut need_comma = false;
        let mut commas = 0usize;
        loop {
            self.blank()?;
            match self.peek() {
                None => {
                    self.repaired.add(Repair::Truncated);
                    break;
                }
                Some(c) if c == open.closer() => {
                    self.step(1)?;
                    break;
                }
                Some('}') if self.encloses(Open::Object) => {
                    self.repaired.add(Repair::Brackets);
                    break;
                }
                Some(c @ (',' | '，' | '、')) => {
                    if !need_comma || c != ',' {
                        self.repaired.add(Repair::Punctuation);
                    }
                    self.step(1)?;
                    commas += 1;
                    need_comma = false;
                    if self.closer_follows() {
                        self.repaired.add(Repair::Punctuation);
                    }
                    continue;
                }
                Some('.' | '…') if self.ellipsis() => continue,
                Some('`') if self.fence_here() => {
                    if items.is_empty() {
                        return Err(Fault::Syntax);
                    }
                    self.at = self.text.len();
                    continue;
                }
                // The wrong closing bracket, where only one can be meant.
                Some('}')
                    if self.open.len() == 1 && self.skip_from(self.at + 1) >= self.text.len() =>
                {
                    self.repaired.add(Repair::Brackets);
                    self.step(1)?;
                    break;
                }
                Some('}' | ']' | ')' | ':' | '：') => return Err(Fault::Syntax),
                Some(_) => {}
            }
            if need_comma {
                self.repaired.add(Repair::Punctuation);
            }
            let before = self.repaired.has(Repair::Truncated);
            let start = self.at;
            let value = self.value(Place::Item)?;
            // A number or literal that the end of the text may have cut is missing.
            let lost = value.is_null() && !before && self.repaired.has(Repair::Truncated);
            if self.at <= start {
                return Err(Fault::Syntax);
            }
            if !lost {
                items.push(value);
            }
            self.parts += 1;
            need_comma = true;
        }
        self.open.pop();
        if tuple && commas == 0 && items.len() == 1 {
            return items.pop().ok_or(Fault::Syntax);
        }
        Ok(Value::Array(items))
    }

    /// `ObjectId("1")`, `callback({...});`: the value inside.
    fn call(&mut self, _depth: usize) -> Result<Option<Value>, Fault> {
        let mut look = self.at;
        while self
            .text
            .get(look)
            .is_some_and(|c| c.is_alphanumeric() || matches!(c, '_' | '.' | '$'))
            && look - self.at < MAX_KEY
        {
            look += 1;
        }
        self.spend(look - self.at)?;
        if look == self.at || !self.text.get(self.at).is_some_and(|c| c.is_alphabetic()) {
            return Ok(None);
        }
        while self.text.get(look) == Some(&' ') {
            look += 1;
        }
        if self.text.get(look) != Some(&'(') {
            return Ok(None);
        }
        let first = self.skip_from(look + 1);
        let plausible = self.text.get(first).is_some_and(|c| {
            is_quote(*c) || matches!(c, '{' | '[') || c.is_ascii_digit() || *c == '-'
        }) || self.word_at(first, "true")
            || self.word_at(first, "false")
            || self.word_at(first, "null");
        if !plausible {
            return Ok(None);
        }
        self.at = look;
        self.enter(Open::Call)?;
        self.blank()?;
        let value = self.value(Place::Item)?;
        self.blank()?;
        match self.peek() {
            Some(')') => self.step(1)?,
            None => self.repaired.add(Repair::Truncated),
            Some(_) => return Err(Fault::Syntax),
        }
        self.open.pop();
        self.repaired.add(Repair::Wrapped);
        Ok(Some(value))
    }

    /// A key; `None` where the text ended inside it.
    fn key(&mut self) -> Result<Option<String>, Fault> {
        let Some(first) = self.peek() else {
            return Ok(None);
        };
        if is_quote(first) {
            let start = self.at;
            let truncated = self.repaired.has(Repair::Truncated);
            let text = self.string(Place::Key)?;
            if !truncated && self.repaired.has(Repair::Truncated) && self.at >= self.text.len() {
                return Ok(None);
            }
            if self.at - start > MAX_KEY {
                return Err(Fault::Syntax);
            }
            return Ok(Some(text));
        }
        let start = self.at;
        let mut look = self.at;
        while let Some(&c) = self.text.get(look) {
            if matches!(c, ':' | '：') {
                break;
            }
            // `{a": 1}` and `{a "b"}`: a quote or a colon is missing behind a plain word.
            if is_quote(c)
                && look > start
                && self.plain_word(start, look)
                && self.text.get(self.skip_from(look + 1)) == Some(&':')
            {
                self.repaired.add(Repair::MissingQuote);
                let key = self
                    .text
                    .get(start..look)
                    .unwrap_or_default()
                    .iter()
                    .collect();
                self.at = look + 1;
                return Ok(Some(key));
            }
            if is_quote(c)
                && look > start
                && self.text.get(look - 1) == Some(&' ')
                && self.plain_word(start, look - 1)
            {
                self.repaired.add(Repair::Bare);
                let key = self
                    .text
                    .get(start..look - 1)
                    .unwrap_or_default()
                    .iter()
                    .collect();
                self.at = look;
                return Ok(Some(key));
            }
            if matches!(
                c,
                '{' | '}' | '[' | ']' | '(' | ')' | ',' | '，' | '\n' | '\r' | '<' | '\\' | '`'
            ) || is_quote(c)
                || look - start > MAX_KEY
            {
                return Err(Fault::Syntax);
            }
            look += 1;
        }
        self.spend(look - start)?;
        let key: String = self
            .text
            .get(start..look)
            .unwrap_or_default()
            .iter()
            .collect();
        let key = key.trim().to_owned();
        if key.is_empty() {
            return Err(Fault::Syntax);
        }
        if look >= self.text.len() {
            self.at = look;
            return Ok(None);
        }
        // Sentences are no keys.
        if key.split_whitespace().count() > 4 {
            return Err(Fault::Syntax);
        }
        self.at = look;
        self.repaired.add(Repair::Bare);
        Ok(Some(key))
    }

    /// Strings joined by `+` are one.
    fn joined_string(&mut self, place: Place) -> Result<String, Fault> {
        let mut text = self.string(place)?;
        loop {
            let next = self.skip_from(self.at);
            if self.text.get(next) != Some(&'+') {
                return Ok(text);
            }
            let quote = self.skip_from(next + 1);
            match self.text.get(quote) {
                Some(c) if is_quote(*c) => {}
                _ => return Err(Fault::Syntax),
            }
            self.spend(quote - self.at)?;
            self.at = quote;
            self.repaired.add(Repair::Punctuation);
            text.push_str(&self.string(place)?);
        }
    }

    fn string(&mut self, place: Place) -> Result<String, Fault> {
        let opener = self.peek().ok_or(Fault::Syntax)?;
        if opener != '"' {
            self.repaired.add(Repair::Quotes);
        }
        let start = self.at;
        if self.is_triple(start, opener) {
            return self.triple(opener);
        }
        self.step(1)?;
        let mut text = String::new();
        let mut raw_quotes = 0usize;
        // Since the last quote only separators stood: that looks like structure, not like text.
        let mut only_separators = true;
        let mut looks_structured = false;
        // The first raw quote, where the string can have ended before it: `"a": "b, "c": 1`.
        let mut ended_before: Option<(usize, usize)> = None;
        let mut inches = false;
        // Where raw white space that holds a line break began: before the closing quote it is layout.
        let mut raw_tail: Option<usize> = None;
        while let Some(c) = self.peek() {
            if place == Place::Key && self.at - start > MAX_KEY {
                return Err(Fault::Syntax);
            }
            if c == '\\' {
                self.escape(&mut text)?;
                only_separators = false;
                raw_tail = None;
                continue;
            }
            if closes(opener, c) {
                if self.ends_here(place, raw_quotes) {
                    if raw_quotes % 2 == 1
                        || (raw_quotes > 0 && (looks_structured || only_separators))
                    {
                        return self.ended_before(text, ended_before);
                    }
                    if raw_quotes > 0 {
                        self.repaired.add(Repair::RawQuotes);
                    }
                    if c != '"' {
                        self.repaired.add(Repair::Quotes);
                    }
                    if let Some(tail) = raw_tail
                        && text.get(tail..).is_some_and(|t| t.contains('\n'))
                    {
                        text.truncate(tail);
                    }
                    self.step(1)?;
                    return Ok(text);
                }
                raw_tail = None;
                if raw_quotes == 0 && !inches && place == Place::Member && c == '"' {
                    let body = text.trim_end();
                    if let Some(body) = body.strip_suffix(',')
                        && self.key_with_colon(self.at)
                    {
                        ended_before = Some((body.len(), self.at));
                    }
                }
                if !self.is_apostrophe_or_inches(opener, c) {
                    looks_structured |= only_separators;
                    raw_quotes += 1;
                    only_separators = true;
                } else {
                    inches |= c == '"';
                    self.repaired.add(Repair::RawQuotes);
                }
                text.push(c);
                self.step(1)?;
                continue;
            }
            if c.is_control() {
                self.repaired.add(Repair::Escape);
            }
            if c.is_whitespace() {
                raw_tail = raw_tail.or(Some(text.len()));
            } else {
                raw_tail = None;
            }
            only_separators &= c.is_whitespace() || matches!(c, ',' | ':' | '{' | '}' | '[' | ']');
            text.push(c);
            self.step(1)?;
        }
        if raw_quotes > 0 {
            return self.ended_before(text, ended_before);
        }
        self.unended(text, place)
    }

    /// A string without its closing quote, before a comma and the next key: the only reading in
    /// which the quotes of that key are quotes. Else it is ambiguous.
    fn ended_before(
        &mut self,
        mut text: String,
        ended: Option<(usize, usize)>,
    ) -> Result<String, Fault> {
        let Some((length, quote)) = ended else {
            return Err(Fault::Ambiguous);
        };
        text.truncate(length);
        self.repaired.add(Repair::MissingQuote);
        self.at = quote;
        Ok(text)
    }

    /// A quoted plain word with a colon behind it.
    fn key_with_colon(&mut self, at: usize) -> bool {
        let mut look = at + 1;
        while self
            .text
            .get(look)
            .is_some_and(|c| c.is_alphanumeric() || matches!(c, '_' | '-'))
            && look < at + MAX_KEY
        {
            look += 1;
        }
        self.charge(look - at);
        look > at + 1
            && self.text.get(look) == self.text.get(at)
            && self.text.get(self.skip_from(look + 1)) == Some(&':')
    }

    /// The text ended inside a string: either a closing quote is missing before the brackets that
    /// close all that is open, or the string was cut.
    fn unended(&mut self, text: String, place: Place) -> Result<String, Fault> {
        if matches!(place, Place::Member | Place::Item) {
            let mut body: Vec<char> = text.chars().collect();
            while body.last().is_some_and(|c| c.is_whitespace() || *c == '`') {
                body.pop();
            }
            let mut all = !self.open.is_empty();
            for open in &self.open {
                // The outermost bracket closes last.
                if body.last() == Some(&open.closer()) {
                    body.pop();
                    while body.last().is_some_and(|c| c.is_whitespace()) {
                        body.pop();
                    }
                } else {
                    all = false;
                    break;
                }
            }
            if all {
                let opened = |o: char, c: char| {
                    body.iter().filter(|x| **x == o).count()
                        > body.iter().filter(|x| **x == c).count()
                };
                // A comma may have ended the string, too.
                let parts = body.contains(&',') && (place == Place::Item || body.contains(&':'));
                if parts || opened('{', '}') || opened('[', ']') || opened('(', ')') {
                    return Err(Fault::Ambiguous);
                }
                self.repaired.add(Repair::MissingQuote);
                self.open_were_closed();
                return Ok(body.into_iter().collect());
            }
        }
        self.repaired.add(Repair::Truncated);
        Ok(self.cut(text))
    }

    /// After a missing quote the brackets stood inside what was read as the string: go back to
    /// where they begin.
    fn open_were_closed(&mut self) {
        let mut closers = self.open.len();
        let mut at = self.text.len();
        while closers > 0 && at > 0 {
            at -= 1;
            if matches!(self.text.get(at), Some('}' | ']' | ')')) {
                closers -= 1;
            }
        }
        self.at = at;
    }

    fn cut(&self, mut text: String) -> String {
        if self.mark_cuts {
            text.push('…');
        }
        text
    }

    fn is_triple(&self, at: usize, quote: char) -> bool {
        matches!(quote, '"' | '\'')
            && self.text.get(at + 1) == Some(&quote)
            && self.text.get(at + 2) == Some(&quote)
            && self.text.get(at + 3).is_some_and(|c| *c != quote)
    }

    /// `"""text"""`, as Python writes it.
    fn triple(&mut self, quote: char) -> Result<String, Fault> {
        self.step(3)?;
        self.repaired.add(Repair::Quotes);
        let mut text = String::new();
        while let Some(c) = self.peek() {
            if c == quote
                && self.text.get(self.at + 1) == Some(&quote)
                && self.text.get(self.at + 2) == Some(&quote)
            {
                self.step(3)?;
                return Ok(text);
            }
            if c == '\\' {
                self.escape(&mut text)?;
                continue;
            }
            text.push(c);
            self.step(1)?;
        }
        Err(Fault::Ambiguous)
    }

    /// An escape; one that JSON does not know stays as text, so a path or a pattern keeps its
    /// backslashes.
    fn escape(&mut self, text: &mut String) -> Result<(), Fault> {
        let Some(&next) = self.text.get(self.at + 1) else {
            self.repaired.add(Repair::Truncated);
            return self.step(1);
        };
        match next {
            '"' | '\\' | '/' => text.push(next),
            'n' => text.push('\n'),
            't' => text.push('\t'),
            'r' => text.push('\r'),
            'b' => text.push('\u{8}'),
            'f' => text.push('\u{c}'),
            'u' => return self.unicode_escape(text),
            '\'' | '`' | '\n' => {
                self.repaired.add(Repair::Escape);
                text.push(next);
            }
            c if is_quote(c) => {
                self.repaired.add(Repair::Escape);
                text.push(next);
            }
            _ => {
                self.repaired.add(Repair::Escape);
                text.push('\\');
                text.push(next);
            }
        }
        self.step(2)
    }

    fn hex4(&self, at: usize) -> Option<u32> {
        let mut code = 0u32;
        for offset in 0..4 {
            code = code * 16 + self.text.get(at + offset)?.to_digit(16)?;
        }
        Some(code)
    }

    fn unicode_escape(&mut self, text: &mut String) -> Result<(), Fault> {
        let Some(first) = self.hex4(self.at + 2) else {
            let rest = self.text.get(self.at + 2..).unwrap_or_default();
            if rest.len() < 4 && rest.iter().all(char::is_ascii_hexdigit) {
                // The end of the text cut the escape.
                self.repaired.add(Repair::Truncated);
                return self.step(2 + rest.len());
            }
            self.repaired.add(Repair::Escape);
            text.push_str("\\u");
            return self.step(2);
        };
        if (0xD800..0xDC00).contains(&first)
            && self.text.get(self.at + 6) == Some(&'\\')
            && self.text.get(self.at + 7) == Some(&'u')
            && let Some(second) = self.hex4(self.at + 8)
            && (0xDC00..0xE000).contains(&second)
        {
            let code = 0x10000 + ((first - 0xD800) << 10) + (second - 0xDC00);
            text.push(char::from_u32(code).unwrap_or(char::REPLACEMENT_CHARACTER));
            return self.step(12);
        }
        match char::from_u32(first) {
            Some(c) => text.push(c),
            None => {
                self.repaired.add(Repair::Escape);
                text.push(char::REPLACEMENT_CHARACTER);
            }
        }
        self.step(6)
    }

    /// An apostrophe between letters, or the sign for inches after a digit.
    fn is_apostrophe_or_inches(&self, opener: char, c: char) -> bool {
        let before = self.at.checked_sub(1).and_then(|at| self.text.get(at));
        let after = self.text.get(self.at + 1);
        if matches!(c, '\'' | '’') && opener != '"' {
            return before.is_some_and(|b| b.is_alphanumeric())
                && after.is_some_and(|a| a.is_alphanumeric());
        }
        c == '"'
            && before.is_some_and(char::is_ascii_digit)
            && after.is_some_and(|a| matches!(a, ' ' | ')' | '.'))
    }

    /// Whether the quote at the current place can end the string: what follows must be structure.
    fn ends_here(&mut self, place: Place, raw_quotes: usize) -> bool {
        let after = self.at + 1;
        let next = self.skip_from(after);
        let crossed_line = self
            .text
            .get(after..next)
            .is_some_and(|gap| gap.contains(&'\n'));
        let Some(&c) = self.text.get(next) else {
            return true;
        };
        match place {
            Place::Root => {
                matches!(c, '+' | ';')
                    || c == ',' && self.skip_from(next + 1) >= self.text.len()
                    || self
                        .text
                        .get(next..next + 3)
                        .is_some_and(|t| t == ['`', '`', '`'])
            }
            Place::Key => {
                matches!(c, ':' | '：')
                    || raw_quotes == 0
                        && (next > after
                            && (is_quote(c) || c.is_ascii_digit() || matches!(c, '{' | '['))
                            || self.word_at(next, "true")
                            || self.word_at(next, "false")
                            || self.word_at(next, "null"))
            }
            Place::Member => match c {
                '}' => true,
                ']' => self.open.contains(&Open::Array),
                ')' => self.open.contains(&Open::Call),
                ',' | '，' => self.member_follows(next + 1),
                '+' => self.quote_follows(next + 1),
                '`' => self
                    .text
                    .get(next..next + 3)
                    .is_some_and(|t| t == ['`', '`', '`']),
                c if is_quote(c) => self.key_at(next, true),
                _ => crossed_line && self.key_at(next, false),
            },
            Place::Item => match c {
                ']' => true,
                '}' => self.open.contains(&Open::Object),
                ')' => self.open.contains(&Open::Call),
                ',' | '，' | '、' => {
                    let then = self.skip_from(next + 1);
                    raw_quotes == 0
                        || self.text.get(then).is_none_or(|c| {
                            is_quote(*c) || matches!(c, ']' | '{' | '[') || c.is_ascii_digit()
                        })
                }
                '+' => self.quote_follows(next + 1),
                '`' => self
                    .text
                    .get(next..next + 3)
                    .is_some_and(|t| t == ['`', '`', '`']),
                c if is_quote(c) => raw_quotes == 0 && next > after,
                _ => false,
            },
        }
    }

    fn quote_follows(&self, at: usize) -> bool {
        let next = self.skip_from(at);
        self.text.get(next).is_some_and(|c| is_quote(*c))
    }

    /// After a comma in an object: another key with its colon, a closing bracket, or the end.
    fn member_follows(&mut self, at: usize) -> bool {
        let mut next = self.skip_from(at);
        while matches!(self.text.get(next), Some(',')) {
            next = self.skip_from(next + 1);
        }
        match self.text.get(next) {
            None | Some('}') => true,
            Some(']') => self.open.contains(&Open::Array),
            Some('.') => self
                .text
                .get(next..next + 3)
                .is_some_and(|dots| dots == ['.', '.', '.']),
            Some(c) => {
                let quoted = is_quote(*c);
                self.key_at(next, quoted)
            }
        }
    }

    /// Whether a key with its colon (or the cut beginning of one) stands at `at`.
    fn key_at(&mut self, at: usize, quoted: bool) -> bool {
        let Some(&opener) = self.text.get(at) else {
            return false;
        };
        let mut look = at + usize::from(quoted);
        let limit = at + MAX_KEY;
        let mut length = 0usize;
        self.charge(8);
        while let Some(&c) = self.text.get(look) {
            if quoted && c == '\\' {
                look += 2;
                length += 1;
                continue;
            }
            if look > limit {
                self.charge(MAX_KEY);
                return false;
            }
            if quoted && closes(opener, c) && c != '\\' {
                let next = self.skip_from(look + 1);
                self.charge(look - at);
                return match self.text.get(next) {
                    None => true,
                    Some(':' | '：') => true,
                    // A missing colon before a value.
                    Some(c) => {
                        is_quote(*c)
                            && next > look + 1
                            && !self
                                .text
                                .get(look + 1..next)
                                .is_some_and(|gap| gap.contains(&'\n'))
                            && length > 0
                            && self.plain_word(at + 1, look)
                    }
                };
            }
            if !quoted {
                if matches!(c, ':' | '：') {
                    self.charge(look - at);
                    return length > 0 && self.text.get(look + 1) != Some(&'/');
                }
                if !(c.is_alphanumeric() || matches!(c, '_' | '-' | '.' | '$' | ' ')) {
                    return false;
                }
            } else if c == '\n' {
                return false;
            }
            length += 1;
            look += 1;
        }
        // The end of the text cut a key: only one that looks like one.
        quoted && self.plain_word(at + 1, look)
    }

    fn plain_word(&self, from: usize, to: usize) -> bool {
        self.text.get(from..to).is_some_and(|word| {
            word.iter()
                .all(|c| c.is_alphanumeric() || matches!(c, '_' | '-'))
        })
    }

    /// Text without quotes up to the next delimiter of its place, trimmed.
    fn bare_run(&mut self, place: Place) -> Result<String, Fault> {
        let start = self.at;
        let mut run = String::new();
        while let Some(c) = self.peek() {
            let before = self.at.checked_sub(1).and_then(|at| self.text.get(at));
            let spaced = self.at == start || before.is_some_and(|b| b.is_whitespace());
            let next = self.text.get(self.at + 1);
            match c {
                ',' | '\n' | '\r' => break,
                '，' | '、' if place != Place::Root => break,
                '}' | ']' if place != Place::Root => break,
                ')' if self.open.last() == Some(&Open::Call) => break,
                ';' if place == Place::Root => break,
                '/' if next == Some(&'*') || (next == Some(&'/') && spaced) => break,
                '#' if spaced && self.at > start => break,
                '`' if next == Some(&'`') => break,
                '{' | '[' | '}' | ']' => return Err(Fault::Ambiguous),
                '"' if place != Place::Member
                    && !run.is_empty()
                    && !run.contains(char::is_whitespace)
                    && matches!(
                        self.text.get(self.skip_from(self.at + 1)),
                        None | Some(',' | ']')
                    ) =>
                {
                    self.repaired.add(Repair::MissingQuote);
                    self.step(1)?;
                    break;
                }
                '"' | '“' | '”' | '\\' => return Err(Fault::Ambiguous),
                '\'' | '’' if spaced => return Err(Fault::Ambiguous),
                '：' if place != Place::Root => return Err(Fault::Ambiguous),
                ':' if place != Place::Root && next.is_some_and(|n| n.is_whitespace()) => {
                    return Err(Fault::Ambiguous);
                }
                _ => {}
            }
            run.push(c);
            self.step(1)?;
        }
        let trimmed = run.trim();
        // In a list two words without a comma may be two items.
        Ok(trimmed.to_owned())
    }

    /// A literal or a number; `None` for any other text.
    fn literal(&mut self, run: &str, _start: usize) -> Option<Value> {
        let ends_text = self.text.last().is_some_and(|c| !c.is_whitespace());
        let at_end = self.at >= self.text.len() && !self.open.is_empty() && ends_text;
        match run {
            "true" => return Some(Value::Bool(true)),
            "false" => return Some(Value::Bool(false)),
            "null" => return Some(Value::Null),
            "True" | "TRUE" => {
                self.repaired.add(Repair::Literal);
                return Some(Value::Bool(true));
            }
            "False" | "FALSE" => {
                self.repaired.add(Repair::Literal);
                return Some(Value::Bool(false));
            }
            "None" | "NULL" | "Null" | "nil" | "undefined" => {
                self.repaired.add(Repair::Literal);
                return Some(Value::Null);
            }
            "NaN" | "nan" | "Infinity" | "-Infinity" | "+Infinity" | "inf" | "-inf" => {
                self.repaired.add(Repair::NotFinite);
                return Some(Value::Null);
            }
            _ => {}
        }
        let (number, exact) = number(run)?;
        if at_end {
            self.repaired.add(Repair::Truncated);
            return Some(Value::Null);
        }
        if !exact {
            self.repaired.add(Repair::Literal);
        }
        if number.is_null() {
            self.repaired.add(Repair::NotFinite);
        }
        Some(number)
    }

    // Moving about.

    fn peek(&self) -> Option<char> {
        self.text.get(self.at).copied()
    }

    fn spend(&mut self, work: usize) -> Result<(), Fault> {
        match self.work_left.get().checked_sub(work.max(1)) {
            Some(left) => {
                self.work_left.set(left);
                Ok(())
            }
            None => Err(Fault::Tangled),
        }
    }

    /// Looking ahead costs work, too; the next step fails where none is left.
    pub(super) fn charge(&self, work: usize) {
        self.work_left
            .set(self.work_left.get().saturating_sub(work));
    }

    fn step(&mut self, count: usize) -> Result<(), Fault> {
        self.at = (self.at + count).min(self.text.len());
        self.spend(count)
    }

    fn encloses(&self, open: Open) -> bool {
        let outer = self.open.len().saturating_sub(1);
        self.open.get(..outer).is_some_and(|o| o.contains(&open))
    }

    fn closer_follows(&self) -> bool {
        matches!(
            self.text.get(self.skip_from(self.at)),
            None | Some('}' | ']' | ')')
        )
    }

    fn word_at(&self, at: usize, word: &str) -> bool {
        let mut look = at;
        for c in word.chars() {
            if self.text.get(look) != Some(&c) {
                return false;
            }
            look += 1;
        }
        !self.text.get(look).is_some_and(|c| c.is_alphanumeric())
    }

    /// Past white space and comments from `at`, without moving; bounded.
    fn skip_from(&self, at: usize) -> usize {
        let limit = at + MAX_LOOK;
        let mut look = at;
        while let Some(&c) = self.text.get(look) {
            if look > limit {
                break;
            }
            if is_blank(c) {
                look += 1;
            } else if c == '/' && self.text.get(look + 1) == Some(&'*') {
                let Some(end) = self.comment_end(look, limit) else {
                    break;
                };
                look = end;
            } else if c == '/' && self.text.get(look + 1) == Some(&'/') {
                while self.text.get(look).is_some_and(|c| *c != '\n') && look <= limit {
                    look += 1;
                }
            } else {
                break;
            }
        }
        self.charge(look - at);
        look
    }

    fn comment_end(&self, at: usize, limit: usize) -> Option<usize> {
        let mut look = at + 2;
        while look <= limit {
            self.charge(1);
            if self.work_left.get() == 0 {
                return None;
            }
            if self.text.get(look)? == &'*' && self.text.get(look + 1) == Some(&'/') {
                return Some(look + 2);
            }
            look += 1;
        }
        None
    }

    /// Moves past white space and comments.
    fn blank(&mut self) -> Result<(), Fault> {
        loop {
            match self.peek() {
                Some(c) if is_blank(c) => {
                    if !matches!(c, ' ' | '\n' | '\r' | '\t') {
                        self.repaired.add(Repair::Escape);
                    }
                    self.step(1)?;
                }
                Some('/') if self.text.get(self.at + 1) == Some(&'*') => {
                    self.repaired.add(Repair::Comment);
                    let end = self
                        .comment_end(self.at, self.text.len())
                        .unwrap_or(self.text.len());
                    self.step(end - self.at)?;
                }
                Some('/') if self.text.get(self.at + 1) == Some(&'/') => self.line_comment()?,
                Some('#') => self.line_comment()?,
                _ => return Ok(()),
            }
        }
    }

    /// A comment to the end of its line. One that runs into the end of the text and holds quotes or
    /// brackets may have swallowed structure.
    fn line_comment(&mut self) -> Result<(), Fault> {
        self.repaired.add(Repair::Comment);
        let mut structure = false;
        while let Some(c) = self.peek() {
            if c == '\n' {
                return Ok(());
            }
            structure |= matches!(c, '"' | '{' | '}' | '[' | ']');
            self.step(1)?;
        }
        if structure && !self.open.is_empty() {
            return Err(Fault::Ambiguous);
        }
        Ok(())
    }

    fn ellipsis(&mut self) -> bool {
        let length = if self.peek() == Some('…') {
            1
        } else if self
            .text
            .get(self.at..self.at + 3)
            .is_some_and(|dots| dots == ['.', '.', '.'])
        {
            3
        } else {
            return false;
        };
        let next = self.skip_from(self.at + length);
        let alone = matches!(self.text.get(next), None | Some(',' | '}' | ']' | '\n'));
        if alone {
            self.repaired.add(Repair::Elided);
            self.at += length;
        }
        alone
    }

    fn fence_here(&self) -> bool {
        self.text
            .get(self.at..self.at + 3)
            .is_some_and(|t| t == ['`', '`', '`'] || t == ['~', '~', '~'])
    }

    /// Past a fence and the word behind it.
    fn fence_line(&mut self) {
        while self.peek().is_some_and(|c| matches!(c, '`' | '~')) {
            self.at += 1;
        }
        let word = self.at;
        while self
            .peek()
            .is_some_and(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '+'))
            && self.at - word < 20
        {
            self.at += 1;
        }
    }
}

/// White space, and what is invisible between tokens.
fn is_blank(c: char) -> bool {
    c.is_whitespace()
        || c.is_control()
        || matches!(c, '\u{feff}' | '\u{200b}'..='\u{200f}' | '\u{2060}')
}

/// Characters that begin a string.
pub(super) fn is_quote(c: char) -> bool {
    matches!(
        c,
        '"' | '\'' | '`' | '´' | '“' | '”' | '„' | '‟' | '‘' | '’' | '‚' | '＂' | '＇'
    )
}

fn starts_value(c: char) -> bool {
    is_quote(c) || c.is_ascii_digit() || matches!(c, '{' | '[' | '-' | 't' | 'f' | 'n')
}

/// Whether `c` can end a string that `opener` began.
fn closes(opener: char, c: char) -> bool {
    match opener {
        '"' => c == '"',
        '\'' | '＇' => matches!(c, '\'' | '＇'),
        '‘' | '’' | '‚' => matches!(c, '’' | '‘' | '\''),
        '`' | '´' => matches!(c, '`' | '´'),
        _ => matches!(c, '”' | '“' | '‟' | '＂' | '"'),
    }
}

/// The beginning of a number: `2e+`, `-`, `1.5e`.
fn is_half_number(run: &str) -> bool {
    let unsigned = run.strip_prefix(['-', '+']).unwrap_or(run);
    let half = unsigned.is_empty() || unsigned == "." || {
        let head = unsigned.trim_end_matches(['-', '+']);
        head.strip_suffix(['e', 'E']).is_some_and(|digits| {
            digits.parse::<f64>().is_ok() && digits.starts_with(|c: char| c.is_ascii_digit())
        })
    };
    half && !run.is_empty()
}

/// A number and whether it is written as JSON does; null for one that is out of range, text for
/// one whose digits a float would lose.
fn number(run: &str) -> Option<(Value, bool)> {
    let unsigned = run.strip_prefix(['-', '+']).unwrap_or(run);
    if unsigned.is_empty()
        || !unsigned.starts_with(|c: char| c.is_ascii_digit() || c == '.')
        || !unsigned
            .chars()
            .all(|c| c.is_ascii_digit() || matches!(c, '.' | 'e' | 'E' | '+' | '-'))
    {
        return None;
    }
    let whole = unsigned.split(['.', 'e', 'E']).next().unwrap_or_default();
    if whole.len() > 1 && whole.starts_with('0') {
        return None;
    }
    if let Ok(value) = serde_json::from_str::<Number>(run) {
        if value.is_f64() && run != "-0" && !run.contains(['.', 'e', 'E']) {
            return Some((Value::String(run.to_owned()), false));
        }
        return Some((Value::Number(value), true));
    }
    if !unsigned.contains(|c: char| c.is_ascii_digit()) {
        return None;
    }
    let float: f64 = run.parse().ok()?;
    if !float.is_finite() {
        return Some((Value::Null, false));
    }
    if !run.contains(['.', 'e', 'E'])
        && let Ok(integer) = run.trim_start_matches('+').parse::<i64>()
    {
        return Some((Value::from(integer), false));
    }
    Number::from_f64(float).map(|n| (Value::Number(n), false))
}

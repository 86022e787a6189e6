//! The risk of a shell command: every command in it, however deep.
//!
//! Design: tree-sitter-bash finds the simple commands (in pipes, lists, substitutions, loops); each is
//! unwrapped (`sudo`, `sh -c`, `xargs`, `ssh`, `kubectl exec`, ...) and looked up. What a command reads
//! from (a pipe, a here-document, a here-string) is followed as far as the script itself says it, so
//! that `echo 'DROP TABLE a' | psql` is the SQL that runs. The highest risk counts. What can't be read
//! (a parse error, a name that is computed) is risky, never harmless; what is hidden from a reader (it
//! is decoded before it runs, wrapped more deeply than anybody wraps, longer than anybody reads)
//! destroys.
//!
//! The grammar's tables are C data, its parser keeps its own stack on the heap, and the tree is walked
//! with a list, so that depth costs no stack of ours; the tests hold time and stack on hostile input.

use super::sql;
use super::table;
use crate::incident::proposal::Risk;
use std::collections::HashMap;
use std::ops::ControlFlow;
use std::rc::Rc;
use tree_sitter::{Node, ParseOptions, ParseState, Parser, Tree};

/// Commands inside commands inside commands: nobody who means well wraps more than this many levels.
const MAX_LEVELS: usize = 6;
/// Longest command that is parsed, in bytes; nobody reads a longer one before running it.
const MAX_BYTES: usize = 8 * 1024;
/// Bytes of commands that are looked at in one script; a substitution counts in each command around it.
const MAX_LOOKED_AT: usize = 16 * MAX_BYTES;
/// The parser tells of its progress every 100 steps. It takes one of these for 90 bytes of an honest
/// script (measured on 8 KiB of pipes and loops), and as many as the square of the length where it
/// searches for what was meant (`a|a|a|` without an end: 8 KiB take 680 and seconds).
const FREE_PROGRESS: usize = 32;
/// See [`FREE_PROGRESS`].
const BYTES_A_PROGRESS: usize = 32;
/// Parts of what can't be parsed that are looked at on their own.
const MAX_PARTS: usize = 256;
/// How far the text that feeds a command is followed through a pipe, and out of what it stands in.
const MAX_PIPE: usize = 16;

/// A word of a command.
#[derive(Clone, Debug, Default)]
struct Word {
    text: String,
    /// It holds a variable or a substitution: its value is not known here.
    computed: bool,
}

/// What a command reads on its standard input.
#[derive(Clone, Debug, Default)]
enum Fed {
    /// Nothing that the script says.
    #[default]
    Unknown,
    /// A text that stands in the script.
    Text(Rc<str>),
    /// Something decoded: somebody hid it.
    Hidden,
}

/// Inside how many commands a command stands, and what they are fed.
#[derive(Clone, Debug, Default)]
struct Inside {
    level: usize,
    fed: Fed,
}

impl Inside {
    fn deeper(&self) -> Self {
        Self {
            level: self.level + 1,
            fed: self.fed.clone(),
        }
    }

    fn text(&self) -> Option<&str> {
        match &self.fed {
            Fed::Text(text) => Some(text),
            Fed::Unknown | Fed::Hidden => None,
        }
    }

    /// What an interpreter does with what it is fed.
    fn run(&self, read: impl FnOnce(&str) -> Risk) -> Risk {
        match &self.fed {
            Fed::Text(text) => read(text),
            Fed::Hidden => Risk::Destructive,
            Fed::Unknown => Risk::Risky,
        }
    }
}

/// The risk of a command line or a script.
pub(super) fn risk(script: &str) -> Risk {
    script_risk(script, &Inside::default())
}

fn script_risk(script: &str, inside: &Inside) -> Risk {
    if script.trim().is_empty() {
        return Risk::ReadOnly;
    }
    if inside.level > MAX_LEVELS || script.len() > MAX_BYTES {
        return Risk::Destructive;
    }
    let Some(tree) = parse(script) else {
        return Risk::Destructive;
    };
    let flat = Flat::of(&tree, script);
    let mut risk = Risk::ReadOnly;
    // A lone `$` before the end of a line takes the next line into its word; a shell doesn't.
    if tree.root_node().has_error() || script.contains("$\n") {
        risk = readable_risk(script, inside);
    }
    let assigned = assignments(&flat);
    let mut found = false;
    let mut looked_at = 0;
    for (place, spot) in flat.spots.iter().enumerate() {
        let node = spot.node;
        match node.kind() {
            "command" => {
                found = true;
                looked_at += node.byte_range().len();
                if looked_at > MAX_LOOKED_AT {
                    return Risk::Destructive;
                }
                let words = flat.words(place, &assigned);
                let inside = Inside {
                    level: inside.level,
                    fed: flat.fed(place, &assigned, inside, MAX_PIPE),
                };
                risk = risk.max(command(&words, &inside));
            }
            "declaration_command" | "unset_command" | "test_command" => found = true,
            "variable_assignment" => found = true,
            "file_redirect" => {
                risk = risk.max(redirect(node, script));
                if text_of(node, script).contains('\n') {
                    // The grammar took the next line for the file; a shell runs it, or nothing.
                    risk = risk.max(readable_risk(script, inside));
                }
            }
            "redirected_statement" if node.child_by_field_name("body").is_none() => {
                // `> file` empties the file.
                found = true;
                risk = risk.max(Risk::Destructive);
            }
            "function_definition" => {
                // A function that calls itself is a fork bomb or a loop; its body is read anyway.
                risk = risk.max(Risk::Risky);
            }
            _ => {}
        }
        if risk == Risk::Destructive {
            return risk;
        }
    }
    if !found && risk == Risk::ReadOnly {
        return Risk::Risky;
    }
    risk
}

/// The tree; `None` where the parser takes more steps than an honest script takes. Steps are counted,
/// not time: the same input gives the same answer.
fn parse(script: &str) -> Option<Tree> {
    let mut parser = Parser::new();
    parser
        .set_language(&tree_sitter_bash::LANGUAGE.into())
        .ok()?;
    let mut left = FREE_PROGRESS + script.len() / BYTES_A_PROGRESS;
    let mut progress = |_: &ParseState| match left.checked_sub(1) {
        Some(less) => {
            left = less;
            ControlFlow::Continue(())
        }
        None => ControlFlow::Break(()),
    };
    let options = ParseOptions::new().progress_callback(&mut progress);
    let bytes = script.as_bytes();
    let mut rest = |at: usize, _| bytes.get(at..).unwrap_or_default();
    parser.parse_with_options(&mut rest, None, Some(options))
}

/// What can't be parsed may hold a command that destroys: its lines and its parts are read as they
/// stand, so that the whole is never below the worst of what can be read in it.
fn readable_risk(script: &str, inside: &Inside) -> Risk {
    // A line that goes on in the next is one.
    let script = script.replace("\\\n", " ");
    let mut risk = Risk::Risky;
    if script.trim().contains('\n') {
        for line in script.lines().take(MAX_PARTS) {
            risk = risk.max(script_risk(line, &inside.deeper()));
            if risk == Risk::Destructive {
                return risk;
            }
        }
    }
    script
        .split(|c: char| {
            matches!(
                c,
                ';' | '|' | '&' | '\n' | '(' | ')' | '{' | '}' | '`' | '"' | '\'' | '$'
            )
        })
        .map(behind_keywords)
        .take(MAX_PARTS)
        .map(|part| part_risk(part, inside))
        .fold(risk, Risk::max)
}

/// The risk of the commands that stand in lines of SQL: a script may begin with a query and go on
/// with a shell.
pub(super) fn risk_beside_sql(script: &str) -> Risk {
    let inside = Inside::default();
    script
        .split(['\n', ';', '&', '|'])
        .map(behind_keywords)
        .filter(|part| super::starts_with_program(part))
        .take(MAX_PARTS)
        .map(|part| part_risk(part, &inside))
        .max()
        .unwrap_or(Risk::ReadOnly)
}

/// The risk of a part of a script, read as one command or as SQL; what is neither can't be read.
fn part_risk(part: &str, inside: &Inside) -> Risk {
    if super::starts_with_program(part) {
        let words: Vec<Word> = part.split_whitespace().map(unquote).collect();
        command(&words, &inside.deeper())
    } else if super::bare_sql(part).is_some() {
        sql::risk(part)
    } else {
        Risk::ReadOnly
    }
}

/// A part of a script from its first command on: behind `if`, `do`, `!` and plain assignments.
fn behind_keywords(part: &str) -> &str {
    let mut part = part.trim();
    while let Some((first, rest)) = part.split_once(char::is_whitespace) {
        let assigns = first.split_once('=').is_some_and(|(name, _)| {
            !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
        });
        if !assigns && !KEYWORDS.contains(&first) {
            break;
        }
        part = rest.trim_start();
    }
    part
}

/// Words of the shell that a command may follow.
const KEYWORDS: [&str; 11] = [
    "if", "then", "elif", "else", "while", "until", "do", "!", "time", "coproc", "fi",
];

/// A node, what it stands in, what stands before it there and what stands in it, by their places.
struct Spot<'t> {
    node: Node<'t>,
    parent: Option<usize>,
    before: Option<usize>,
    children: Vec<usize>,
}

/// The tree as a list, in order of the text.
struct Flat<'t> {
    spots: Vec<Spot<'t>>,
    script: &'t str,
}

impl<'t> Flat<'t> {
    fn of(tree: &'t Tree, script: &'t str) -> Self {
        let mut spots: Vec<Spot<'t>> = Vec::new();
        let mut cursor = tree.walk();
        let mut parent = None;
        loop {
            let place = spots.len();
            let mut before = None;
            if let Some(above) = parent.and_then(|above: usize| spots.get_mut(above)) {
                before = above.children.last().copied();
                above.children.push(place);
            }
            spots.push(Spot {
                node: cursor.node(),
                parent,
                before,
                children: Vec::new(),
            });
            if cursor.goto_first_child() {
                parent = Some(place);
                continue;
            }
            while !cursor.goto_next_sibling() {
                if !cursor.goto_parent() {
                    return Self { spots, script };
                }
                parent = parent
                    .and_then(|above| spots.get(above))
                    .and_then(|above| above.parent);
            }
        }
    }

    fn kind(&self, place: usize) -> &'t str {
        self.spots.get(place).map_or("", |spot| spot.node.kind())
    }

    fn text(&self, place: usize) -> &'t str {
        let node = self.spots.get(place).map(|spot| spot.node);
        node.map_or("", |node| text_of(node, self.script))
    }

    /// What stands in a node, without the grammar's own marks (`|`, `;`).
    fn children(&self, place: usize) -> impl DoubleEndedIterator<Item = usize> {
        let spot = self.spots.get(place);
        let children = spot
            .map(|spot| spot.children.as_slice())
            .unwrap_or_default();
        children
            .iter()
            .copied()
            .filter(|child| self.spots.get(*child).is_some_and(|c| c.node.is_named()))
    }

    /// The words of a command; what is redirected is looked at on its own.
    fn words(&self, place: usize, assigned: &HashMap<String, String>) -> Vec<Word> {
        let all = self.spots.get(place).into_iter().flat_map(|s| &s.children);
        all.filter(|child| {
            !matches!(
                self.kind(**child),
                "variable_assignment"
                    | "file_redirect"
                    | "heredoc_redirect"
                    | "herestring_redirect"
            )
        })
        .map(|child| resolve(self.text(*child), assigned))
        .collect()
    }

    fn here_string(&self, place: usize) -> Option<Fed> {
        let child = self
            .children(place)
            .find(|child| self.kind(*child) == "herestring_redirect")?;
        let text = self.text(child).trim_start_matches('<').trim();
        Some(Fed::Text(unquote(text).text.into()))
    }

    /// What a command reads: its here-string, the here-document or file of what it stands in, what
    /// stands before it in a pipe; else what the script around it is fed.
    fn fed(
        &self,
        place: usize,
        assigned: &HashMap<String, String>,
        inside: &Inside,
        room: usize,
    ) -> Fed {
        if let Some(fed) = self.here_string(place) {
            return fed;
        }
        let mut child = place;
        for _ in 0..room {
            let Some(parent) = self.spots.get(child).and_then(|spot| spot.parent) else {
                return inside.fed.clone();
            };
            match self.kind(parent) {
                // `cat <<END | sh`: the grammar puts what is behind the pipe into the redirection.
                "redirected_statement" if self.kind(child) == "heredoc_redirect" => {
                    let body = self.children(parent).next().unwrap_or(parent);
                    return self.said(body, assigned, inside, room - 1);
                }
                "redirected_statement" => {
                    for redirect in self.children(parent).take(MAX_PIPE) {
                        match self.kind(redirect) {
                            "heredoc_redirect" => {
                                let body = self
                                    .children(redirect)
                                    .find(|part| self.kind(*part) == "heredoc_body");
                                let text = body.map_or("", |body| self.text(body));
                                return Fed::Text(text.into());
                            }
                            "herestring_redirect" => {
                                return self.here_string(parent).unwrap_or_default();
                            }
                            "file_redirect" if self.text(redirect).contains('<') => {
                                return Fed::Unknown;
                            }
                            _ => {}
                        }
                    }
                }
                "pipeline" => {
                    // Before a command stands the mark, before that what it reads from.
                    let before = |place: usize| self.spots.get(place)?.before;
                    let mut source = before(child);
                    while let Some(place) = source
                        && !self.spots.get(place).is_some_and(|s| s.node.is_named())
                    {
                        source = before(place);
                    }
                    if let Some(source) = source {
                        return self.said(source, assigned, inside, room - 1);
                    }
                }
                "command_substitution" | "process_substitution" => return Fed::Unknown,
                _ => {}
            }
            child = parent;
        }
        Fed::Hidden
    }

    /// What a part of the script writes to its standard output, as far as it says it itself.
    fn said(
        &self,
        place: usize,
        assigned: &HashMap<String, String>,
        inside: &Inside,
        room: usize,
    ) -> Fed {
        if room == 0 {
            return Fed::Hidden;
        }
        match self.kind(place) {
            "command" => {
                let words = self.words(place, assigned);
                let words: Vec<&Word> = words.iter().skip_while(|w| w.text == "sudo").collect();
                let Some((name, arguments)) = words.split_first() else {
                    return Fed::Unknown;
                };
                match base_name(&name.text) {
                    "printf" => Fed::Text(printed(arguments).into()),
                    "echo" => {
                        let said: Vec<&str> = arguments
                            .iter()
                            .map(|word| word.text.as_str())
                            .skip_while(|word| {
                                word.len() > 1
                                    && word.strip_prefix('-').is_some_and(|flags| {
                                        flags.chars().all(|c| matches!(c, 'e' | 'n' | 'E'))
                                    })
                            })
                            .collect();
                        Fed::Text(said.join(" ").replace("\\n", "\n").into())
                    }
                    "cat" | "tee" | "grep" | "head" | "tail" | "sort" | "uniq" | "nl" | "tac"
                    | "pv" => self.fed(place, assigned, inside, room - 1),
                    name if DECODERS.contains(&name) => Fed::Hidden,
                    _ => Fed::Unknown,
                }
            }
            "pipeline" => match self.children(place).next_back() {
                Some(last) => self.said(last, assigned, inside, room - 1),
                None => Fed::Unknown,
            },
            "redirected_statement" | "negated_command" => match self.children(place).next() {
                Some(body) => self.said(body, assigned, inside, room - 1),
                None => Fed::Unknown,
            },
            "subshell" | "compound_statement" | "list" => {
                let mut text = String::new();
                for part in self.children(place).take(64) {
                    match self.said(part, assigned, inside, room - 1) {
                        Fed::Text(one) => {
                            text.push_str(&one);
                            text.push('\n');
                        }
                        other => return other,
                    }
                }
                Fed::Text(text.into())
            }
            _ => Fed::Unknown,
        }
    }
}

/// What `printf` writes: its format, with its arguments in their places.
fn printed(arguments: &[&Word]) -> String {
    let mut arguments = arguments.iter().map(|word| word.text.as_str());
    let format = arguments.next().unwrap_or_default();
    let mut parts = format.split("%s");
    let mut out = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        out.push_str(arguments.next().unwrap_or_default());
        out.push_str(part);
    }
    // The format is used again for what is left.
    for left in arguments {
        out.push('\n');
        out.push_str(left);
    }
    out.replace("\\n", "\n")
}

fn text_of<'s>(node: Node<'_>, script: &'s str) -> &'s str {
    script.get(node.byte_range()).unwrap_or_default()
}

/// Plain assignments of the script itself: `X=rm; $X -rf /`.
fn assignments(flat: &Flat<'_>) -> HashMap<String, String> {
    let mut known = HashMap::new();
    for place in 0..flat.spots.len() {
        if flat.kind(place) != "variable_assignment" {
            continue;
        }
        let Some((name, value)) = flat.text(place).split_once('=') else {
            continue;
        };
        let value = unquote(value);
        if !value.computed {
            known.insert(name.to_owned(), value.text);
        }
    }
    known
}

/// A word, with the variables that the script itself assigned, and `$(echo word)`, filled in.
fn resolve(raw: &str, assigned: &HashMap<String, String>) -> Word {
    let word = unquote(raw);
    if !word.computed {
        return word;
    }
    let name = raw
        .trim_matches('"')
        .trim_start_matches("${")
        .trim_start_matches('$')
        .trim_end_matches('}');
    if let Some(value) = assigned.get(name) {
        return Word {
            text: value.clone(),
            computed: false,
        };
    }
    let inner = raw
        .trim_matches('"')
        .strip_prefix("$(")
        .and_then(|rest| rest.strip_suffix(')'))
        .or_else(|| {
            raw.strip_prefix('`')
                .and_then(|rest| rest.strip_suffix('`'))
        });
    if let Some(inner) = inner {
        let mut parts = inner.split_whitespace();
        if matches!(parts.next(), Some("echo" | "printf")) {
            let rest: Vec<&str> = parts.collect();
            if let [only] = rest.as_slice() {
                return unquote(only);
            }
        }
    }
    word
}

/// Takes quotes and backslashes away: `r''m`, `\rm`, `"rm"` and `$'rm'` are `rm`.
fn unquote(raw: &str) -> Word {
    let mut text = String::new();
    let mut computed = false;
    let mut chars = raw.chars().peekable();
    let mut quote: Option<char> = None;
    while let Some(c) = chars.next() {
        match (quote, c) {
            (None, '\'') | (Some('\''), '\'') | (None, '"') | (Some('"'), '"') => {
                quote = if quote.is_some() { None } else { Some(c) };
            }
            (None, '\\') => {
                if let Some(next) = chars.next()
                    && next != '\n'
                {
                    text.push(next);
                }
            }
            (Some('"'), '\\') => match chars.peek() {
                Some('"' | '\\' | '$' | '`') => {
                    text.extend(chars.next());
                }
                _ => text.push('\\'),
            },
            (None, '$') if matches!(chars.peek(), Some('\'' | '"')) => {}
            (Some('"') | None, '$') if chars.peek().is_some_and(|n| !n.is_whitespace()) => {
                computed = true;
                text.push(c);
            }
            (Some('"') | None, '`') => {
                computed = true;
                text.push(c);
            }
            _ => text.push(c),
        }
    }
    Word { text, computed }
}

/// Where a redirection writes.
fn redirect(node: Node<'_>, script: &str) -> Risk {
    let whole = text_of(node, script);
    let target = node
        .child_by_field_name("destination")
        .map(|target| unquote(text_of(target, script)))
        .unwrap_or_default();
    let operator: String = whole
        .chars()
        .skip_while(|c| c.is_ascii_digit())
        .take_while(|c| matches!(c, '<' | '>' | '&' | '|'))
        .collect();
    if !operator.contains('>') {
        return Risk::ReadOnly;
    }
    if operator.contains("&") && target.text.chars().all(|c| c.is_ascii_digit() || c == '-') {
        return Risk::ReadOnly;
    }
    file_written(&target.text, operator.contains(">>"))
}

/// What writing to a file may harm.
fn file_written(path: &str, appends: bool) -> Risk {
    let scratch = ["/tmp/", "/var/tmp/", "/dev/shm/"];
    if matches!(
        path,
        "/dev/null" | "/dev/stdout" | "/dev/stderr" | "/dev/tty" | "-"
    ) {
        return Risk::ReadOnly;
    }
    if path.starts_with("/dev/tcp/") || path.starts_with("/dev/udp/") {
        return Risk::Risky;
    }
    if path.starts_with("/dev/") {
        return Risk::Destructive;
    }
    if scratch.iter().any(|start| path.starts_with(start)) && !path.contains("..") {
        return Risk::Reversible;
    }
    if appends || path.starts_with("/proc/") || path.starts_with("/sys/") {
        return Risk::Risky;
    }
    // What stood in the file is gone.
    if path.starts_with("/etc/")
        || path.starts_with("/var/")
        || path.starts_with("/usr/")
        || path.starts_with("/boot/")
        || path.starts_with("/lib")
        || path.starts_with("/bin")
        || path.starts_with("/data")
    {
        return Risk::Destructive;
    }
    Risk::Risky
}

const SHELLS: [&str; 7] = ["sh", "bash", "zsh", "dash", "ksh", "ash", "fish"];

/// Programs whose output is their input read otherwise.
const DECODERS: [&str; 11] = [
    "base64", "base32", "basenc", "xxd", "openssl", "uudecode", "rev", "tr", "gunzip", "zcat",
    "gzip",
];

/// Whether a script that is computed is decoded first: nobody who means well hides what runs.
fn hides(script: &str) -> bool {
    script
        .split(|c: char| !(c.is_alphanumeric() || matches!(c, '_' | '-' | '.')))
        .any(|word| DECODERS.contains(&word) || word == "b64decode")
}

fn base_name(program: &str) -> &str {
    program.rsplit('/').next().unwrap_or(program)
}

fn join(words: &[Word]) -> String {
    words
        .iter()
        .map(|word| word.text.as_str())
        .collect::<Vec<_>>()
        .join(" ")
}

/// The risk of one simple command.
fn command(words: &[Word], inside: &Inside) -> Risk {
    if inside.level > MAX_LEVELS {
        return Risk::Destructive;
    }
    let Some((first, rest)) = words.split_first() else {
        return Risk::ReadOnly;
    };
    if first.computed {
        // Which program runs is not known here.
        let forced = rest.iter().any(|w| {
            w.text.starts_with('-')
                && !w.text.starts_with("--")
                && w.text.contains('r')
                && w.text.contains('f')
        });
        let named = ["rm", "delete", "drop", "mkfs", "shred"]
            .iter()
            .any(|bad| first.text.contains(bad));
        return if forced || named {
            Risk::Destructive
        } else {
            Risk::Risky
        };
    }
    if first.text.starts_with('{') && first.text.contains(',') {
        // Brace expansion as a command: `{rm,-rf,/}`.
        let inner = first.text.trim_matches(['{', '}']).replace(',', " ");
        return script_risk(&inner, &inside.deeper());
    }
    let name = base_name(&first.text);
    let arguments: Vec<String> = rest.iter().map(|word| word.text.clone()).collect();
    if let Some(risk) = wrapper(name, rest, &arguments, inside) {
        return risk;
    }
    if is_sql_client(name) {
        return sql_client(name, &arguments, inside);
    }
    match name {
        "curl" => return curl(&arguments),
        "wget" => return wget(&arguments),
        "http" | "https" | "xh" => return httpie(&arguments),
        "kill" if arguments.iter().any(|a| a == "-l" || a == "-0") => return Risk::ReadOnly,
        "git"
            if arguments.iter().any(|a| a == "checkout") && arguments.iter().any(|a| a == "--") =>
        {
            return Risk::Destructive;
        }
        "awk" | "gawk" | "mawk" | "nawk" => {
            let program = arguments.join(" ");
            if program.contains("system(") && script_language(&arguments) == Risk::Destructive {
                return Risk::Destructive;
            }
            if program.contains("system(") || program.contains("| \"") || program.contains("> \"") {
                return Risk::Risky;
            }
        }
        // Emptied or thrown away by way of /dev/null.
        "mv" | "cp" | "install" | "ln" if arguments.iter().any(|a| a == "/dev/null") => {
            return Risk::Destructive;
        }
        // `sed -i '1,$d'` deletes lines.
        "sed"
            if arguments
                .iter()
                .any(|a| a.starts_with("-i") || a.starts_with("--in-place"))
                && arguments.iter().any(|a| {
                    ["$d", "/d"].iter().any(|end| a.ends_with(end))
                        || a.strip_suffix('d')
                            .is_some_and(|n| n.ends_with(|c: char| c.is_ascii_digit()))
                }) =>
        {
            return Risk::Destructive;
        }
        // `git push origin :branch` deletes it, `+branch` overwrites it.
        "git"
            if arguments.iter().any(|a| a == "push")
                && arguments
                    .iter()
                    .any(|a| a.len() > 1 && (a.starts_with(':') || a.starts_with('+'))) =>
        {
            return Risk::Destructive;
        }
        "tee" => {
            let appends = arguments.iter().any(|a| a == "-a");
            return arguments
                .iter()
                .filter(|a| !a.starts_with('-'))
                .map(|path| file_written(path, appends))
                .max()
                .unwrap_or(Risk::ReadOnly);
        }
        "python" | "python2" | "python3" | "perl" | "ruby" | "node" | "php" => {
            if arguments.iter().all(|a| a == "-") {
                return inside.run(|text| script_language(&[text.to_owned()]));
            }
            return script_language(&arguments);
        }
        "mongosh" | "mongo" => return mongo(&arguments, inside),
        "redis-cli" | "valkey-cli" | "keydb-cli" => {
            let redis = table::program("redis-cli");
            // A session that is fed: one command a line.
            if let (Some(text), Some(redis)) = (inside.text(), redis)
                && redis.words(&arguments).is_empty()
            {
                return text
                    .lines()
                    .filter(|line| !line.trim().is_empty())
                    .map(|line| {
                        let words: Vec<String> =
                            line.split_whitespace().map(str::to_lowercase).collect();
                        redis.risk(&words)
                    })
                    .max()
                    .unwrap_or(Risk::Risky);
            }
        }
        "at" | "batch" => {
            return inside
                .run(|text| script_risk(text, &inside.deeper()))
                .max(Risk::Risky);
        }
        "shutdown" => return shutdown(&arguments),
        "init" | "telinit" if arguments.iter().any(|a| a == "0") => return Risk::Destructive,
        _ => {}
    }
    if name.starts_with("mkfs") {
        return Risk::Destructive;
    }
    if let Some(risk) = cmdlet(name) {
        if hides_destruction(rest, inside) {
            return Risk::Destructive;
        }
        // `ForEach-Object { Remove-Item $_ }`
        let inner = arguments.iter().filter_map(|argument| cmdlet(argument));
        return inner.fold(risk, Risk::max);
    }
    // SQL where a command should stand: `` `DROP TABLE a` `` in a sentence.
    if name.len() > 1 && name.chars().all(|c| c.is_ascii_uppercase()) {
        let all = join(words);
        if super::bare_sql(&all).is_some() {
            return sql::risk(&all);
        }
    }
    let mut risk = match table::program(name) {
        Some(program) => program.risk(&arguments),
        None if rest.len() == 1
            && matches!(
                arguments.first().map(String::as_str),
                Some("--version" | "--help" | "-V")
            ) =>
        {
            Risk::ReadOnly
        }
        // A session of redis: `FLUSHALL`, `INFO stats`.
        None if name.len() > 1 && name.chars().all(|c| c.is_ascii_uppercase()) => {
            let words: Vec<String> = words.iter().map(|w| w.text.to_lowercase()).collect();
            table::program("redis-cli").map_or(Risk::Risky, |redis| redis.risk(&words))
        }
        None => Risk::Risky.max(destroying_word(&arguments)),
    };
    // A program that may run another: what stands in its words counts where it destroys.
    if risk != Risk::ReadOnly && hides_destruction(rest, inside) {
        return Risk::Destructive;
    }
    // A computed verb is an unknown verb.
    if risk < Risk::Risky
        && table::program(name).is_some_and(|program| {
            program
                .words(&arguments)
                .first()
                .is_some_and(|word| rest.iter().any(|w| w.computed && w.text == **word))
                && program.risk(&[]) != program.risk(&arguments)
        })
    {
        risk = Risk::Risky;
    }
    risk
}

/// A program that is not known, with a word that says what it does: `openstack server delete web-1`.
fn destroying_word(arguments: &[String]) -> Risk {
    let destroys = arguments.iter().any(|argument| {
        matches!(
            argument
                .trim_start_matches('-')
                .to_ascii_lowercase()
                .as_str(),
            "delete"
                | "destroy"
                | "drop"
                | "purge"
                | "wipe"
                | "truncate"
                | "remove"
                | "rm"
                | "erase"
                | "flush"
                | "flushall"
                | "flushdb"
                | "force-delete"
                | "del"
                | "format"
                | "uninstall"
                | "prune"
        )
    });
    if destroys {
        Risk::Destructive
    } else {
        Risk::Risky
    }
}

/// Whether the words of a runner (`tmux new -d 'rm -rf x'`, `lxc exec c -- rm x`) hold a command that
/// destroys.
fn hides_destruction(words: &[Word], inside: &Inside) -> bool {
    words.iter().enumerate().take(64).any(|(at, word)| {
        if word.text.trim().contains(char::is_whitespace) {
            let first = word.text.split_whitespace().next().unwrap_or_default();
            return (table::program(base_name(first)).is_some() || first == "sudo")
                && script_risk(&word.text, &inside.deeper()) == Risk::Destructive;
        }
        let name = base_name(&word.text);
        !word.text.starts_with('-')
            && table::program(name).is_some_and(|p| p.risk(&[]) == Risk::Destructive)
            && words.len() > at + 1
    })
}

/// Programs that run another command: the risk is that command's. `None` for any other program.
fn wrapper(name: &str, rest: &[Word], arguments: &[String], inside: &Inside) -> Option<Risk> {
    let inner = |skip_values: &[&str], skip_words: usize| -> Risk {
        command(
            after_options(rest, skip_values, skip_words),
            &inside.deeper(),
        )
    };
    Some(match name {
        "sudo" | "doas" => inner(
            &["-u", "-g", "-h", "-p", "-C", "-U", "--user", "--group"],
            0,
        ),
        "env" => {
            let words: Vec<Word> = after_options(rest, &["-u", "-C", "-S"], 0)
                .iter()
                .skip_while(|w| w.text.contains('=') && !w.text.starts_with('-'))
                .cloned()
                .collect();
            command(&words, &inside.deeper())
        }
        "exec" | "coproc" => {
            let risk = inner(&["-a"], 0);
            // `coproc NAME command`
            if hides_destruction(rest, inside) {
                Risk::Destructive
            } else {
                risk
            }
        }
        "alias" => arguments
            .iter()
            .filter_map(|a| a.split_once('='))
            .map(|(_, script)| script_risk(script, &inside.deeper()))
            .max()
            .unwrap_or(Risk::ReadOnly),
        "nohup" | "setsid" | "command" | "builtin" | "busybox" | "toybox" | "unbuffer"
        | "chronic" | "eatmydata" => inner(&[], 0),
        "time" => inner(&["-f", "-o"], 0),
        "nice" => inner(&["-n"], 0),
        "ionice" => inner(&["-c", "-n", "-p"], 0),
        "stdbuf" => inner(&["-o", "-i", "-e"], 0),
        "timeout" => inner(&["-s", "-k", "--signal"], 1),
        "watch" => {
            let words = after_options(rest, &["-n", "--interval"], 0);
            script_risk(&join(words), &inside.deeper())
        }
        "flock" => {
            if let Some(script) = option_value(arguments, &["-c", "--command"]) {
                script_risk(&script, &inside.deeper())
            } else {
                inner(&["-w", "-E"], 1)
            }
        }
        "chroot" => inner(&[], 1),
        "nsenter" | "unshare" => inner(&["-t", "--target", "-S", "-G"], 0),
        "ip" if arguments.first().is_some_and(|a| a == "netns")
            && arguments.get(1).is_some_and(|a| a == "exec") =>
        {
            command(rest.get(3..).unwrap_or_default(), &inside.deeper())
        }
        "xargs" => {
            let words = after_options(rest, &["-n", "-I", "-P", "-L", "-d", "-a", "-s", "-i"], 0);
            if words.is_empty() {
                Risk::ReadOnly
            } else {
                let mut words = words.to_vec();
                // What it is fed are more words.
                words.extend(
                    inside
                        .text()
                        .into_iter()
                        .flat_map(|text| text.split_whitespace().take(64).map(unquote)),
                );
                let unfed = Inside {
                    level: inside.level + 1,
                    fed: Fed::Unknown,
                };
                command(&words, &unfed)
            }
        }
        "parallel" => Risk::Risky.max(inner(&["-j", "-I"], 0)),
        "eval" => {
            let computed = rest.iter().any(|w| w.computed);
            if computed && rest.iter().any(|w| hides(&w.text)) {
                return Some(Risk::Destructive);
            }
            let risk = script_risk(&join(rest), &inside.deeper());
            if computed {
                risk.max(Risk::Risky)
            } else {
                risk
            }
        }
        "source" | "."
            if rest
                .iter()
                .any(|w| w.text.starts_with("<(") && hides(&w.text)) =>
        {
            Risk::Destructive
        }
        "powershell" | "pwsh" | "powershell.exe" | "pwsh.exe" => {
            match option_value(arguments, &["-c", "-Command", "-command"]) {
                Some(script) => script_risk(&script, &inside.deeper()),
                // `-EncodedCommand`: somebody hid it.
                None if arguments
                    .iter()
                    .any(|a| a.to_ascii_lowercase().starts_with("-e")) =>
                {
                    Risk::Destructive
                }
                None => Risk::Risky,
            }
        }
        "trap" => script_risk(
            arguments.first().map(String::as_str).unwrap_or_default(),
            &inside.deeper(),
        ),
        "su" | "runuser" => match option_value(arguments, &["-c", "--command"]) {
            Some(script) => script_risk(&script, &inside.deeper()),
            None => Risk::Risky,
        },
        shell if SHELLS.contains(&shell) => {
            let script = rest
                .iter()
                .position(|w| {
                    w.text.starts_with('-') && !w.text.starts_with("--") && w.text.ends_with('c')
                })
                .and_then(|at| rest.get(at + 1));
            match script {
                Some(script) if script.computed && hides(&script.text) => Risk::Destructive,
                Some(script) if script.computed => {
                    script_risk(&script.text, &inside.deeper()).max(Risk::Risky)
                }
                Some(script) => script_risk(&script.text, &inside.deeper()),
                // `bash <(curl ...)`
                None if rest.last().is_some_and(|w| w.text.starts_with("<(")) => {
                    let hidden = rest.iter().any(|w| hides(&w.text));
                    if hidden {
                        Risk::Destructive
                    } else {
                        Risk::Risky
                    }
                }
                None if arguments
                    .iter()
                    .take_while(|a| *a != "-s" && *a != "--")
                    .all(|a| a.starts_with('-')) =>
                {
                    inside.run(|text| script_risk(text, &inside.deeper()))
                }
                // A file.
                None => Risk::Risky,
            }
        }
        "ssh" => {
            let words = after_options(
                rest,
                &[
                    "-p", "-i", "-l", "-o", "-J", "-F", "-L", "-R", "-D", "-c", "-m", "-b", "-W",
                    "-E", "-S", "-Q",
                ],
                1,
            );
            if words.is_empty() {
                // A login changes nothing by itself, but what is typed there is not known.
                inside.run(|text| script_risk(text, &inside.deeper()))
            } else {
                script_risk(&join(words), &inside.deeper())
            }
        }
        "find" => {
            let mut risk = table::program("find").map_or(Risk::Risky, |p| p.risk(arguments));
            for (at, argument) in arguments.iter().enumerate() {
                if matches!(argument.as_str(), "-exec" | "-execdir" | "-ok" | "-okdir") {
                    let words: Vec<Word> = rest
                        .iter()
                        .skip(at + 1)
                        .take_while(|w| w.text != ";" && w.text != "+")
                        .cloned()
                        .collect();
                    risk = risk.max(command(&words, &inside.deeper()));
                }
            }
            risk
        }
        "kubectl" | "oc" | "k" | "docker" | "podman" | "nerdctl" | "docker-compose" | "crictl" => {
            let program = table::program(name)?;
            let rehearsed = |a: &String| a.starts_with("--dry-run") && !a.ends_with("=none");
            if arguments.iter().take_while(|a| *a != "--").any(rehearsed) {
                return None;
            }
            let words = program.words(arguments);
            let at = match words.as_slice() {
                ["exec" | "rsh", ..] | ["debug", ..] if name != "docker" => 1,
                ["exec" | "run", ..] => 1,
                ["compose" | "container", "exec" | "run", ..] => 2,
                _ => return None,
            };
            let runs = words.contains(&"run") || words.contains(&"debug");
            if let Some(dashes) = arguments.iter().position(|a| a == "--") {
                let risk = command(rest.get(dashes + 1..).unwrap_or_default(), &inside.deeper());
                return Some(if runs { risk.max(Risk::Risky) } else { risk });
            }
            // The container, then the command.
            let target = *words.get(at)?;
            let place = rest.iter().position(|w| w.text == target)?;
            let inner = rest.get(place + 1..).unwrap_or_default();
            let inner_risk = if inner.is_empty() {
                Risk::Risky
            } else {
                command(inner, &inside.deeper())
            };
            if runs {
                inner_risk.max(Risk::Risky)
            } else {
                inner_risk
            }
        }
        _ => return None,
    })
}

/// What follows the options, the values of `takes`, and `skip` more words.
fn after_options<'w>(words: &'w [Word], takes: &[&str], skip: usize) -> &'w [Word] {
    let mut at = 0;
    while let Some(word) = words.get(at) {
        if word.text == "--" {
            at += 1;
            break;
        }
        if !word.text.starts_with('-') || word.text == "-" {
            break;
        }
        at += if takes.contains(&word.text.as_str()) {
            2
        } else {
            1
        };
    }
    let mut at = (at + skip).min(words.len());
    // `ssh host -t command`
    if skip > 0 {
        while words
            .get(at)
            .is_some_and(|w| w.text.starts_with('-') && w.text.len() <= 3)
        {
            at += 1;
        }
    }
    words.get(at..).unwrap_or_default()
}

/// The value of an option: `-c VALUE`, `--command=VALUE`, `-cVALUE`.
fn option_value(arguments: &[String], names: &[&str]) -> Option<String> {
    for (at, argument) in arguments.iter().enumerate() {
        for name in names {
            if argument == name {
                return arguments.get(at + 1).cloned();
            }
            if name.starts_with("--")
                && let Some(value) = argument
                    .strip_prefix(name)
                    .and_then(|r| r.strip_prefix('='))
            {
                return Some(value.to_owned());
            }
            if name.len() == 2
                && argument.starts_with('-')
                && !argument.starts_with("--")
                && argument.len() > 2
                && argument.ends_with(&name.chars().skip(1).collect::<String>())
                && argument.chars().skip(1).all(|c| c.is_ascii_alphabetic())
            {
                return arguments.get(at + 1).cloned();
            }
        }
    }
    None
}

fn is_sql_client(name: &str) -> bool {
    matches!(
        name,
        "psql"
            | "mysql"
            | "mariadb"
            | "sqlite3"
            | "clickhouse-client"
            | "clickhouse"
            | "cqlsh"
            | "sqlcmd"
            | "usql"
            | "pgcli"
            | "mycli"
            | "snowsql"
            | "trino"
            | "presto"
            | "duckdb"
            | "cockroach"
            | "bq"
    )
}

fn sql_client(name: &str, arguments: &[String], inside: &Inside) -> Risk {
    if name == "sqlite3" || name == "duckdb" {
        let words: Vec<&String> = arguments.iter().filter(|a| !a.starts_with('-')).collect();
        return match words.get(1) {
            Some(query) => sql::risk(query),
            None => inside.run(sql::risk),
        };
    }
    let names: &[&str] = match name {
        "psql" => &["-c", "--command"],
        "sqlcmd" => &["-Q", "-q"],
        "clickhouse-client" | "clickhouse" | "snowsql" => &["-q", "--query"],
        "bq" => &["--query"],
        "trino" | "presto" => &["--execute"],
        _ => &["-e", "--execute", "-c", "--command"],
    };
    if name == "psql"
        && arguments
            .iter()
            .any(|a| a == "-l" || a == "--list" || a == "--version")
    {
        return Risk::ReadOnly;
    }
    if name == "bq" {
        if arguments.first().is_some_and(|a| a == "query") {
            return arguments
                .last()
                .map_or(Risk::Risky, |query| sql::risk(query));
        }
        return table::program("bq").map_or(Risk::Risky, |p| p.risk(arguments));
    }
    let mut risk: Option<Risk> = None;
    for (at, argument) in arguments.iter().enumerate() {
        if let Some(query) = option_value(arguments.get(at..).unwrap_or_default(), names)
            && names.iter().any(|n| {
                argument == n || argument.starts_with(&format!("{n}=")) || argument.starts_with('-')
            })
        {
            let one = sql::risk(&query);
            risk = Some(risk.map_or(one, |r| r.max(one)));
        }
        // `mysql -e"SELECT 1"`
        if let Some(glued) = argument
            .strip_prefix("-e")
            .or_else(|| argument.strip_prefix("-c"))
            && glued.contains(' ')
        {
            let one = sql::risk(glued);
            risk = Some(risk.map_or(one, |r| r.max(one)));
        }
    }
    // What it is fed; of a script file or an open session it is not known.
    let file = arguments
        .iter()
        .any(|a| a == "-f" || a.starts_with("--file"));
    risk.unwrap_or_else(|| {
        if file {
            Risk::Risky
        } else {
            inside.run(sql::risk)
        }
    })
}

fn mongo(arguments: &[String], inside: &Inside) -> Risk {
    match option_value(arguments, &["--eval"]) {
        Some(script) => mongo_script(&script),
        None => inside.run(mongo_script),
    }
}

/// A host that is shut down stays down until somebody starts it; one that restarts comes back.
fn shutdown(arguments: &[String]) -> Risk {
    let has = |flag: &str| arguments.iter().any(|a| a == flag);
    if has("-c") || has("-r") || has("--reboot") || has("--help") {
        Risk::Risky
    } else {
        Risk::Destructive
    }
}

/// A cmdlet of PowerShell: its name says its verb. `None` for what is none.
fn cmdlet(name: &str) -> Option<Risk> {
    let (verb, noun) = name.split_once('-')?;
    let letters = |part: &str| !part.is_empty() && part.chars().all(|c| c.is_ascii_alphanumeric());
    // `Get-Service`, not `get-pods`: a noun of PowerShell begins with a capital letter.
    if !letters(verb) || !letters(noun) || !noun.starts_with(|c: char| c.is_ascii_uppercase()) {
        return None;
    }
    Some(match (verb.to_ascii_lowercase().as_str(), noun) {
        ("out", "Null" | "String" | "Host" | "Default" | "GridView")
        | ("write", "Output" | "Host")
        | ("start", "Sleep") => Risk::ReadOnly,
        ("stop", "Computer" | "VM" | "AzVM") | ("format", "Volume") => Risk::Destructive,
        (
            "get" | "test" | "measure" | "show" | "find" | "select" | "where" | "sort" | "group"
            | "compare" | "resolve" | "trace" | "convertto" | "convertfrom" | "format" | "wait"
            | "foreach",
            _,
        ) => Risk::ReadOnly,
        ("remove" | "clear" | "uninstall" | "initialize", _) => Risk::Destructive,
        _ => Risk::Risky,
    })
}

fn mongo_script(script: &str) -> Risk {
    let lower = script.to_lowercase();
    let has = |words: &[&str]| words.iter().any(|word| lower.contains(word));
    if has(&[
        "drop", "delete", "remove(", ".remove", "$out", "$merge", "shutdown",
    ]) {
        return Risk::Destructive;
    }
    if has(&[
        "insert", "update", "replace", "create", "save(", "kill", "set", "compact", "stepdown",
        "reconfig", "resync", "fsync", "add(", "enable", "disable", "move", "split", "grant",
        "revoke", "write", "load(",
    ]) && !has(&["currentop()", "getreplicationinfo"])
    {
        return Risk::Risky;
    }
    if has(&[
        "find",
        "count",
        "stats",
        "status",
        "explain",
        "currentop",
        "aggregate",
        "distinct",
        "getindexes",
        "printjson",
        "show ",
        "hello",
        "ismaster",
        "version",
        "getreplicationinfo",
        "print",
        "listdatabases",
    ]) {
        return Risk::ReadOnly;
    }
    Risk::Risky
}

/// A one-line program in a language that is not read here.
fn script_language(arguments: &[String]) -> Risk {
    if arguments.len() == 1
        && arguments
            .first()
            .is_some_and(|a| matches!(a.as_str(), "--version" | "-V" | "-v"))
    {
        return Risk::ReadOnly;
    }
    if let [module, name, ..] = arguments
        && module == "-m"
        && name == "json.tool"
    {
        return Risk::ReadOnly;
    }
    let code = arguments.join(" ").to_lowercase();
    let destroys = [
        "rmtree",
        "unlink",
        "os.remove",
        "rm -",
        "drop ",
        "delete",
        "truncate",
        "rimraf",
        "'w'",
        "\"w\"",
        "mkfs",
        "b64decode",
    ]
    .iter()
    .any(|word| code.contains(word));
    if destroys {
        Risk::Destructive
    } else {
        Risk::Risky
    }
}

fn curl(arguments: &[String]) -> Risk {
    let mut method: Option<String> = option_value(arguments, &["-X", "--request"]);
    let mut sends = false;
    let mut writes = Risk::ReadOnly;
    for (at, argument) in arguments.iter().enumerate() {
        let next = arguments
            .get(at + 1)
            .map(String::as_str)
            .unwrap_or_default();
        match argument.as_str() {
            "-d" | "--data" | "--data-raw" | "--data-binary" | "--data-urlencode" | "-F"
            | "--form" | "--json" | "-T" | "--upload-file" | "--data-ascii" => sends = true,
            "-o" | "--output" => writes = writes.max(file_written(next, false)),
            "-O" | "--remote-name" | "-J" => writes = writes.max(Risk::Reversible),
            "-K" | "--config" => writes = writes.max(Risk::Risky),
            "-G" | "--get" => method = method.or_else(|| Some("GET".to_owned())),
            other => {
                if let Some(glued) = other.strip_prefix("-X") {
                    if !glued.is_empty() {
                        method = Some(glued.to_owned());
                    }
                } else if other.starts_with("-d")
                    || other.starts_with("--data")
                    || other.starts_with("--form=")
                {
                    sends = true;
                } else if other.starts_with('-')
                    && !other.starts_with("--")
                    && other.len() <= 6
                    && other.ends_with('o')
                {
                    writes = writes.max(file_written(next, false));
                } else if other.starts_with('-')
                    && !other.starts_with("--")
                    && other.len() <= 6
                    && other.ends_with('O')
                {
                    writes = writes.max(Risk::Reversible);
                }
            }
        }
    }
    let method = method.unwrap_or_else(|| if sends { "POST" } else { "GET" }.to_owned());
    request(&method, arguments).max(writes)
}

fn wget(arguments: &[String]) -> Risk {
    let method = arguments
        .iter()
        .find_map(|a| a.strip_prefix("--method="))
        .map(str::to_owned)
        .unwrap_or_else(|| {
            if arguments
                .iter()
                .any(|a| a.starts_with("--post") || a.starts_with("--body"))
            {
                "POST".to_owned()
            } else {
                "GET".to_owned()
            }
        });
    let discards = arguments.iter().any(|a| a == "--spider")
        || option_value(arguments, &["-O", "--output-document"])
            .is_some_and(|target| matches!(target.as_str(), "-" | "/dev/null"))
        || arguments
            .iter()
            .any(|a| a.ends_with("O-") || a == "-O/dev/null");
    let writes = if discards {
        Risk::ReadOnly
    } else {
        Risk::Reversible
    };
    request(&method, arguments).max(writes)
}

fn httpie(arguments: &[String]) -> Risk {
    let words: Vec<&String> = arguments.iter().filter(|a| !a.starts_with('-')).collect();
    let first = words.first().map(|w| w.as_str()).unwrap_or_default();
    let method = if first.chars().all(|c| c.is_ascii_uppercase()) && !first.is_empty() {
        first.to_owned()
    } else if words.iter().skip(1).any(|w| w.contains('=')) {
        "POST".to_owned()
    } else {
        "GET".to_owned()
    };
    request(&method, arguments)
}

/// What a request may harm, by its method; a path that names a destructive act counts as one.
fn request(method: &str, arguments: &[String]) -> Risk {
    let by_method = match method.to_ascii_uppercase().as_str() {
        "GET" | "HEAD" | "OPTIONS" | "TRACE" => Risk::ReadOnly,
        "DELETE" => Risk::Destructive,
        _ => Risk::Risky,
    };
    let paths = arguments.join(" ").to_lowercase();
    let searches = [
        "/_search",
        "/_count",
        "/_cat",
        "/graphql_schema",
        "/_explain",
    ]
    .iter()
    .any(|path| paths.contains(path));
    if paths.contains("_delete_by_query")
        || paths.contains("/purge")
        || paths.contains("\"delete\"")
        || paths.contains("/flush")
        || paths.contains("/truncate")
    {
        return Risk::Destructive;
    }
    if [
        "/shutdown",
        "/restart",
        "/quitquitquit",
        "/-/quit",
        "/-/reload",
        "/kill",
    ]
    .iter()
    .any(|p| paths.contains(p))
    {
        return by_method.max(Risk::Risky);
    }
    if searches && by_method == Risk::Risky {
        return Risk::ReadOnly;
    }
    by_method
}

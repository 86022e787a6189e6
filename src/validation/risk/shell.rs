//! The risk of a shell command: every command in it, however deep.
//!
//! Design: tree-sitter-bash finds the simple commands (in pipes, lists, substitutions, loops); each is
//! unwrapped (`sudo`, `sh -c`, `xargs`, `ssh`, `kubectl exec`, ...) and looked up. The highest risk
//! counts. What can't be read (a parse error, a name that is computed) is risky, never harmless.

use super::sql;
use super::table;
use crate::incident::proposal::Risk;
use std::collections::HashMap;
use tree_sitter::{Node, Parser, Tree};

/// Commands inside commands inside commands: more than this many levels are risky unread.
const MAX_LEVELS: usize = 6;
/// Longest command that is parsed, in bytes; a longer one is risky unread.
const MAX_BYTES: usize = 16 * 1024;

/// A word of a command.
#[derive(Clone, Debug, Default)]
struct Word {
    text: String,
    /// It holds a variable or a substitution: its value is not known here.
    computed: bool,
}

/// The risk of a command line or a script.
pub(super) fn risk(script: &str) -> Risk {
    script_risk(script, 0)
}

fn script_risk(script: &str, level: usize) -> Risk {
    if script.trim().is_empty() {
        return Risk::ReadOnly;
    }
    if level > MAX_LEVELS || script.len() > MAX_BYTES {
        return Risk::Risky;
    }
    let Some(tree) = parse(script) else {
        return Risk::Risky;
    };
    let mut risk = Risk::ReadOnly;
    let root = tree.root_node();
    if root.has_error() {
        risk = Risk::Risky;
    }
    let assigned = assignments(root, script);
    let mut found = false;
    for node in nodes(root) {
        match node.kind() {
            "command" => {
                found = true;
                risk = risk.max(command_node(node, script, &assigned, level));
            }
            "declaration_command" | "unset_command" | "test_command" => found = true,
            "variable_assignment" => found = true,
            "file_redirect" => risk = risk.max(redirect(node, script)),
            "redirected_statement" if node.child_by_field_name("body").is_none() => {
                // `> file` empties the file.
                found = true;
                risk = risk.max(Risk::Destructive);
            }
            "function_definition" => {
                // A function that calls itself is a fork bomb or a loop; its body is read anyway.
                risk = risk.max(Risk::Risky);
            }
            "pipeline" => risk = risk.max(fed_by_pipe(node, script, level)),
            "heredoc_body" => {
                let body = text_of(node, script);
                risk = risk.max(heredoc(node, script, body, level));
            }
            _ => {}
        }
    }
    if !found && risk == Risk::ReadOnly {
        return Risk::Risky;
    }
    risk
}

fn parse(script: &str) -> Option<Tree> {
    let mut parser = Parser::new();
    parser
        .set_language(&tree_sitter_bash::LANGUAGE.into())
        .ok()?;
    parser.parse(script, None)
}

/// All nodes, in order; a list instead of recursion, so that depth costs no stack.
fn nodes(root: Node<'_>) -> Vec<Node<'_>> {
    let mut all = Vec::new();
    let mut stack = vec![root];
    while let Some(node) = stack.pop() {
        all.push(node);
        for at in (0..node.child_count()).rev() {
            if let Some(child) = node.child(at) {
                stack.push(child);
            }
        }
    }
    all
}

fn text_of<'s>(node: Node<'_>, script: &'s str) -> &'s str {
    script.get(node.byte_range()).unwrap_or_default()
}

/// Plain assignments of the script itself: `X=rm; $X -rf /`.
fn assignments(root: Node<'_>, script: &str) -> HashMap<String, String> {
    let mut known = HashMap::new();
    for node in nodes(root) {
        if node.kind() != "variable_assignment" {
            continue;
        }
        let Some((name, value)) = text_of(node, script).split_once('=') else {
            continue;
        };
        let value = unquote(value);
        if !value.computed {
            known.insert(name.to_owned(), value.text);
        }
    }
    known
}

/// The words of a command node; redirections are looked at on their own.
fn command_node(
    node: Node<'_>,
    script: &str,
    assigned: &HashMap<String, String>,
    level: usize,
) -> Risk {
    let mut words = Vec::new();
    for at in 0..node.child_count() {
        let Some(child) = node.child(at) else {
            continue;
        };
        match child.kind() {
            "variable_assignment" | "file_redirect" | "heredoc_redirect" => {}
            "herestring_redirect" => {
                // `bash <<< "..."`: the text is what runs.
                let text = text_of(child, script).trim_start_matches('<');
                words.push(Word {
                    text: unquote(text.trim()).text,
                    computed: true,
                });
            }
            _ => words.push(resolve(text_of(child, script), assigned)),
        }
    }
    command(&words, level)
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

/// `... | base64 -d | sh`: what runs can't be seen, and somebody hid it.
fn fed_by_pipe(pipeline: Node<'_>, script: &str, level: usize) -> Risk {
    let mut decoded = false;
    // What the first command says, where it only says something: `echo FLUSHALL | redis-cli`.
    let mut said: Option<String> = None;
    for at in 0..pipeline.named_child_count() {
        let Some(child) = u32::try_from(at)
            .ok()
            .and_then(|at| pipeline.named_child(at))
        else {
            continue;
        };
        let words: Vec<String> = text_of(child, script)
            .split_whitespace()
            .map(|word| unquote(word).text)
            .filter(|word| word != "sudo")
            .collect();
        let name = words.first().map(|w| base_name(w)).unwrap_or_default();
        if let Some(said) = &said
            && at > 0
        {
            let fed = match name {
                name if SHELLS.contains(&name) => script_risk(said, level + 1),
                name if is_sql_client(name) => sql::risk(said),
                "redis-cli" | "valkey-cli" => said
                    .lines()
                    .map(|line| {
                        let words: Vec<String> =
                            line.split_whitespace().map(str::to_owned).collect();
                        table::program(name).map_or(Risk::Risky, |redis| redis.risk(&words))
                    })
                    .max()
                    .unwrap_or(Risk::Risky),
                "mongosh" | "mongo" => mongo_script(said),
                _ => Risk::ReadOnly,
            };
            if fed == Risk::Destructive {
                return fed;
            }
        }
        if at == 0 && matches!(name, "echo" | "printf") {
            let whole = text_of(child, script).trim_start();
            let rest = whole
                .split_once(char::is_whitespace)
                .map_or("", |(_, rest)| rest);
            said = Some(unquote(rest.trim_start_matches("-e ").trim_start_matches("-n ")).text);
        }
        if matches!(
            name,
            "base64" | "base32" | "xxd" | "openssl" | "uudecode" | "rev" | "tr" | "gunzip" | "zcat"
        ) {
            decoded = true;
        }
        if SHELLS.contains(&name) && at > 0 {
            return if decoded {
                Risk::Destructive
            } else {
                Risk::Risky
            };
        }
    }
    Risk::ReadOnly
}

/// What a here-document feeds: to a shell it is a script, to a database client it is SQL.
fn heredoc(node: Node<'_>, script: &str, body: &str, level: usize) -> Risk {
    let mut at = node;
    for _ in 0..4 {
        let Some(parent) = at.parent() else { break };
        if parent.kind() == "redirected_statement" {
            let head = text_of(parent, script);
            let words: Vec<&str> = head
                .lines()
                .next()
                .unwrap_or_default()
                .split_whitespace()
                .collect();
            if words.iter().any(|w| SHELLS.contains(&base_name(w))) {
                return script_risk(body, level + 1);
            }
            if words.iter().any(|w| is_sql_client(base_name(w))) {
                return sql::risk(body);
            }
            return Risk::ReadOnly;
        }
        at = parent;
    }
    Risk::ReadOnly
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
fn command(words: &[Word], level: usize) -> Risk {
    if level > MAX_LEVELS {
        return Risk::Risky;
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
        return script_risk(&inner, level + 1);
    }
    let name = base_name(&first.text);
    let arguments: Vec<String> = rest.iter().map(|word| word.text.clone()).collect();
    if let Some(risk) = wrapper(name, rest, &arguments, level) {
        return risk;
    }
    if is_sql_client(name) {
        return sql_client(name, &arguments);
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
            return script_language(&arguments);
        }
        "mongosh" | "mongo" => return mongo(&arguments),
        _ => {}
    }
    if name.starts_with("mkfs") {
        return Risk::Destructive;
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
    if risk != Risk::ReadOnly && hides_destruction(rest, level) {
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
fn hides_destruction(words: &[Word], level: usize) -> bool {
    words.iter().enumerate().take(64).any(|(at, word)| {
        if word.text.trim().contains(char::is_whitespace) {
            let first = word.text.split_whitespace().next().unwrap_or_default();
            return (table::program(base_name(first)).is_some() || first == "sudo")
                && script_risk(&word.text, level + 1) == Risk::Destructive;
        }
        let name = base_name(&word.text);
        !word.text.starts_with('-')
            && table::program(name).is_some_and(|p| p.risk(&[]) == Risk::Destructive)
            && words.len() > at + 1
    })
}

/// Programs that run another command: the risk is that command's. `None` for any other program.
fn wrapper(name: &str, rest: &[Word], arguments: &[String], level: usize) -> Option<Risk> {
    let inner = |skip_values: &[&str], skip_words: usize| -> Risk {
        command(after_options(rest, skip_values, skip_words), level + 1)
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
            command(&words, level + 1)
        }
        "exec" | "coproc" => {
            let risk = inner(&["-a"], 0);
            // `coproc NAME command`
            if hides_destruction(rest, level) {
                Risk::Destructive
            } else {
                risk
            }
        }
        "alias" => arguments
            .iter()
            .filter_map(|a| a.split_once('='))
            .map(|(_, script)| script_risk(script, level + 1))
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
            script_risk(&join(words), level + 1)
        }
        "flock" => {
            if let Some(script) = option_value(arguments, &["-c", "--command"]) {
                script_risk(&script, level + 1)
            } else {
                inner(&["-w", "-E"], 1)
            }
        }
        "chroot" => inner(&[], 1),
        "nsenter" | "unshare" => inner(&["-t", "--target", "-S", "-G"], 0),
        "ip" if arguments.first().is_some_and(|a| a == "netns")
            && arguments.get(1).is_some_and(|a| a == "exec") =>
        {
            command(rest.get(3..).unwrap_or_default(), level + 1)
        }
        "xargs" => {
            let words = after_options(rest, &["-n", "-I", "-P", "-L", "-d", "-a", "-s", "-i"], 0);
            if words.is_empty() {
                Risk::ReadOnly
            } else {
                command(words, level + 1)
            }
        }
        "parallel" => Risk::Risky.max(inner(&["-j", "-I"], 0)),
        "eval" => {
            let computed = rest.iter().any(|w| w.computed);
            let risk = script_risk(&join(rest), level + 1);
            if computed {
                risk.max(Risk::Risky)
            } else {
                risk
            }
        }
        "trap" => script_risk(
            arguments.first().map(String::as_str).unwrap_or_default(),
            level + 1,
        ),
        "su" | "runuser" => match option_value(arguments, &["-c", "--command"]) {
            Some(script) => script_risk(&script, level + 1),
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
                Some(script) if script.computed => {
                    script_risk(&script.text, level + 1).max(Risk::Risky)
                }
                Some(script) => script_risk(&script.text, level + 1),
                None if rest.last().is_some_and(|w| w.computed) => {
                    // A here-string.
                    let text = rest.last().map(|w| w.text.clone()).unwrap_or_default();
                    script_risk(&text, level + 1).max(Risk::Risky)
                }
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
                Risk::Risky
            } else {
                script_risk(&join(words), level + 1)
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
                    risk = risk.max(command(&words, level + 1));
                }
            }
            risk
        }
        "kubectl" | "oc" | "k" | "docker" | "podman" | "nerdctl" | "docker-compose" | "crictl" => {
            let program = table::program(name)?;
            let words = program.words(arguments);
            let at = match words.as_slice() {
                ["exec" | "rsh", ..] | ["debug", ..] if name != "docker" => 1,
                ["exec" | "run", ..] => 1,
                ["compose" | "container", "exec" | "run", ..] => 2,
                _ => return None,
            };
            let runs = words.contains(&"run") || words.contains(&"debug");
            if let Some(dashes) = arguments.iter().position(|a| a == "--") {
                let risk = command(rest.get(dashes + 1..).unwrap_or_default(), level + 1);
                return Some(if runs { risk.max(Risk::Risky) } else { risk });
            }
            // The container, then the command.
            let target = *words.get(at)?;
            let place = rest.iter().position(|w| w.text == target)?;
            let inner = rest.get(place + 1..).unwrap_or_default();
            let inner_risk = if inner.is_empty() {
                Risk::Risky
            } else {
                command(inner, level + 1)
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

fn sql_client(name: &str, arguments: &[String]) -> Risk {
    if name == "sqlite3" || name == "duckdb" {
        let words: Vec<&String> = arguments.iter().filter(|a| !a.starts_with('-')).collect();
        return match words.get(1) {
            Some(query) => sql::risk(query),
            None => Risk::Risky,
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
    // A script file or an open session: what runs is not known.
    risk.unwrap_or(Risk::Risky)
}

fn mongo(arguments: &[String]) -> Risk {
    let Some(script) = option_value(arguments, &["--eval"]) else {
        return Risk::Risky;
    };
    mongo_script(&script)
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

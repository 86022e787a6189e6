//! How much a step may harm (R16), and destructive commands wherever they stand (R18).
//!
//! Wanted: no destructive command below its label, however it is wrapped, quoted or hidden; what
//! only reads recognised as such, so that the first steps are safe to take.
//!
//! Design: a command is parsed, every command in it is looked up in a table of programs and their
//! verbs (`table`, data in `programs.txt`), SQL by its verbs (`sql`). A step without a command is
//! judged by its own verbs (`words`, data in `words.txt`). Unknown programs and verbs, and what
//! can't be parsed, are risky.
//!
//! Deliberately absent: any execution, any look at a real system, and the model's own label (the
//! rules may raise on it, never lower).

mod shell;
mod sql;
mod table;
mod words;

use crate::incident::proposal::Risk;
use unicode_normalization::UnicodeNormalization;

/// Longest text that is searched for commands, in bytes; the rest is not looked at, and a text that
/// is longer counts as destructive.
const MAX_TEXT: usize = 64 * 1024;

/// The risk of a step: of its command and of the commands in its words, else of its verbs. Words that
/// would stand with a warning elsewhere (R18) make it destructive here too.
pub fn of_step(step: &str, command: &str) -> Risk {
    if is_destructive_text(step) {
        return Risk::Destructive;
    }
    let step = plain(step);
    let command = plain(command);
    let command = command.trim();
    let in_words = commands_in(&step);
    if !is_none(command) {
        let risk = of_command(command);
        return in_words.iter().map(|c| of_command(c)).fold(risk, Risk::max);
    }
    if in_words.is_empty() {
        return words::orders(&step).unwrap_or(Risk::Risky);
    }
    let risk = in_words
        .iter()
        .map(|c| of_command(c))
        .fold(Risk::ReadOnly, Risk::max);
    // "Run `kubectl get pods`, then delete the old ones": the words around the commands count too.
    let around = without_commands(&step, &in_words);
    match words::orders(&around) {
        Some(order) if order != Risk::Risky || !only_carries(&around) => risk.max(order),
        _ => risk,
    }
}

/// Whether a text that should only check something orders a change: a known changing verb, or a
/// command that does more than read. What no table knows is no order.
pub fn changes_something(text: &str) -> bool {
    let text = plain(text);
    let commands = commands_in(&text);
    let around = without_commands(&text, &commands);
    commands
        .iter()
        .any(|command| of_command(command) > Risk::ReadOnly)
        || words::known_orders(&around).is_some_and(|order| order > Risk::ReadOnly)
}

/// The risk of a command or script.
pub fn of_command(command: &str) -> Risk {
    if command.len() > MAX_TEXT {
        return Risk::Destructive;
    }
    let text = plain(command);
    let script = script_of(&text);
    if let Some(sql) = bare_sql(&script) {
        return sql::risk(sql).max(shell::risk_beside_sql(&script));
    }
    let risk = shell::risk(&script);
    // A sentence where a command should stand: what it names counts.
    if risk == Risk::Risky && !starts_with_program(&script) && orders_destruction(&script) {
        return Risk::Destructive;
    }
    risk
}

/// Whether prose holds a command that destroys, or SQL that does.
fn orders_destruction(prose: &str) -> bool {
    commands_in(prose)
        .iter()
        .filter(|command| command.as_str() != prose.trim())
        .any(|command| shell::risk(&script_of(command)) == Risk::Destructive)
        || sql_in(prose)
}

/// Whether prose holds a destructive command (R18 holds in cards, answers and updates alike).
pub fn is_destructive_text(text: &str) -> bool {
    if text.len() > MAX_TEXT {
        return true;
    }
    let text = plain(text);
    commands_in(&text)
        .iter()
        .any(|command| of_command(command) == Risk::Destructive)
        || sql_in(&text)
}

/// The commands that stand in prose: code spans and fenced lines, lines that begin with a known
/// program, and known programs behind *run*, *execute*, 执行 and the like.
pub fn commands_in(text: &str) -> Vec<String> {
    let text = plain(text);
    let mut found: Vec<String> = Vec::new();
    let mut add = |command: &str| {
        let command = command.trim();
        if !command.is_empty() && !found.iter().any(|known| known == command) {
            found.push(command.to_owned());
        }
    };
    let mut prose = String::new();
    for (at, part) in text.split('`').enumerate() {
        // Between two back ticks stands code; fences give empty parts, which change nothing here.
        if at % 2 == 1 && !part.contains('\n') {
            if looks_like_command(part) {
                add(part);
            }
            prose.push(' ');
        } else {
            prose.push_str(part);
        }
    }
    for line in prose.lines() {
        let line = line.trim();
        let line = line
            .trim_start_matches(['-', '*', '•'])
            .trim_start()
            .trim_start_matches(|c: char| c.is_ascii_digit())
            .trim_start_matches([')', '.', '、'])
            .trim_start();
        let prompt = line.strip_prefix("$ ").or_else(|| line.strip_prefix("# "));
        if let Some(command) = prompt {
            if starts_with_program(command) {
                add(command);
            }
            continue;
        }
        if starts_with_program(line) && is_more_than_a_sentence(line) {
            add(line);
            continue;
        }
        for command in behind_an_order(line) {
            add(command);
        }
    }
    found
}

/// NFKC, without characters that show nothing: `ｒｍ` and `kubectl` with a zero-width space are what
/// they look like.
fn plain(text: &str) -> String {
    text.nfkc()
        .filter(|c| {
            !matches!(c,
                '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{2069}' | '\u{feff}'
                | '\u{ad}' | '\u{34f}' | '\u{180e}' | '\u{fe00}'..='\u{fe0f}')
        })
        .collect()
}

fn is_none(command: &str) -> bool {
    matches!(
        command.to_lowercase().as_str(),
        "" | "none" | "null" | "n/a" | "-" | "无"
    )
}

/// The script in a command field: without its fence, its prompt and with placeholders made words.
fn script_of(text: &str) -> String {
    let mut script = text.trim();
    if let Some(inner) = script
        .strip_prefix("```")
        .and_then(|s| s.strip_suffix("```"))
    {
        script = inner.split_once('\n').map_or(inner, |(tag, body)| {
            if tag.trim().chars().all(|c| c.is_ascii_alphanumeric()) && !tag.trim().is_empty()
                || tag.trim().is_empty()
            {
                body
            } else {
                inner
            }
        });
    } else if let Some(inner) = script.strip_prefix('`').and_then(|s| s.strip_suffix('`'))
        && !inner.contains('`')
    {
        script = inner;
    }
    let lines: Vec<&str> = script
        .lines()
        .map(|line| {
            let line = line.trim_start();
            line.strip_prefix("$ ").unwrap_or(line)
        })
        .collect();
    let script = lines.join("\n");
    placeholders_as_words(&braces_as_words(&script))
        .replace("${IFS}", " ")
        .replace("$IFS", " ")
}

/// A command written as brace expansion (`{rm,-rf,/srv}`) is what it expands to.
fn braces_as_words(script: &str) -> String {
    let mut out = String::new();
    for token in script.split_inclusive(char::is_whitespace) {
        let inner = token
            .trim_end()
            .strip_prefix('{')
            .and_then(|rest| rest.strip_suffix('}'));
        match inner {
            Some(inner)
                if inner
                    .split_once(',')
                    .is_some_and(|(name, _)| is_program(name)) =>
            {
                out.push_str(&inner.replace(',', " "));
                out.push(' ');
            }
            _ => out.push_str(token),
        }
    }
    out
}

/// `<current pod>` and `<namespace>` are no redirections.
fn placeholders_as_words(script: &str) -> String {
    let mut out = String::new();
    let mut rest = script;
    while let Some(at) = rest.find('<') {
        let (head, tail) = rest.split_at(at);
        out.push_str(head);
        let inner = tail.strip_prefix('<').unwrap_or_default();
        // Looked for no farther than a name goes.
        let end = inner.char_indices().take(41).find(|(_, c)| *c == '>');
        let end = end.map(|(end, _)| end);
        let name = end.and_then(|end| inner.get(..end)).unwrap_or_default();
        let is_placeholder = !name.is_empty()
            && name.chars().count() <= 40
            && name.starts_with(|c: char| c.is_alphabetic())
            && name
                .chars()
                .all(|c| c.is_alphanumeric() || matches!(c, ' ' | '_' | '-'));
        if is_placeholder {
            out.push_str("placeholder");
            rest = inner.get(name.len() + 1..).unwrap_or_default();
        } else {
            out.push('<');
            rest = inner;
        }
    }
    out.push_str(rest);
    out
}

/// SQL that stands where a command should.
fn bare_sql(script: &str) -> Option<&str> {
    let first = script
        .split(|c: char| !c.is_alphabetic())
        .find(|word| !word.is_empty())?;
    let second = script.split_whitespace().nth(1).unwrap_or_default();
    let verb = matches!(
        first.to_ascii_uppercase().as_str(),
        "SELECT"
            | "INSERT"
            | "DELETE"
            | "DROP"
            | "ALTER"
            | "EXPLAIN"
            | "VACUUM"
            | "REINDEX"
            | "GRANT"
            | "REVOKE"
            | "ANALYZE"
            | "MERGE"
    ) || (first.chars().all(|c| c.is_ascii_uppercase())
        && matches!(
            first,
            "UPDATE"
                | "TRUNCATE"
                | "SHOW"
                | "KILL"
                | "SET"
                | "CREATE"
                | "WITH"
                | "CALL"
                | "LOCK"
                | "FLUSH"
                | "PURGE"
                | "OPTIMIZE"
                | "DESCRIBE"
                | "REPLACE"
                | "REFRESH"
                | "CHECKPOINT"
                | "RESET"
        ))
        || (first.eq_ignore_ascii_case("truncate") && second.eq_ignore_ascii_case("table"))
        || (first.eq_ignore_ascii_case("update") && script.to_lowercase().contains(" set "))
        || (first.eq_ignore_ascii_case("create")
            && matches!(second.to_lowercase().as_str(), "index" | "table" | "unique"))
        || (first.eq_ignore_ascii_case("show")
            && matches!(
                second.to_lowercase().trim_end_matches(';'),
                "processlist"
                    | "tables"
                    | "databases"
                    | "status"
                    | "variables"
                    | "engine"
                    | "full"
                    | "global"
                    | "slave"
                    | "replica"
                    | "master"
                    | "index"
                    | "all"
            ));
    verb.then_some(script)
}

/// `DROP TABLE x` in prose, outside any code span.
fn sql_in(text: &str) -> bool {
    let words: Vec<String> = text
        .split(|c: char| !(c.is_alphanumeric() || c == '_'))
        .filter(|word| !word.is_empty())
        .map(str::to_owned)
        .collect();
    words.windows(2).any(|pair| {
        let [a, b] = pair else { return false };
        matches!(
            (a.as_str(), b.as_str()),
            (
                "DROP",
                "TABLE"
                    | "DATABASE"
                    | "SCHEMA"
                    | "INDEX"
                    | "VIEW"
                    | "USER"
                    | "COLUMN"
                    | "KEYSPACE"
                    | "PARTITION"
            ) | ("DELETE", "FROM")
                | ("TRUNCATE", _)
                | ("drop", "table" | "database" | "schema")
                | ("delete", "from")
                | ("truncate", "table")
        )
    }) || words.iter().any(|word| {
        matches!(
            word.as_str(),
            "FLUSHALL" | "FLUSHDB" | "flushall" | "flushdb"
        )
    })
}

fn first_word(text: &str) -> &str {
    let word = text.split_whitespace().next().unwrap_or_default();
    word.trim_start_matches('\\')
        .rsplit('/')
        .next()
        .unwrap_or(word)
}

fn is_program(word: &str) -> bool {
    table::program(word).is_some()
        || matches!(
            word,
            "sudo"
                | "doas"
                | "sh"
                | "bash"
                | "zsh"
                | "ssh"
                | "curl"
                | "wget"
                | "psql"
                | "mysql"
                | "mariadb"
                | "xargs"
                | "nohup"
                | "timeout"
                | "mongosh"
                | "mongo"
                | "sqlite3"
                | "cqlsh"
                | "clickhouse-client"
                | "env"
                | "su"
                | "watch"
                | "eval"
                | "chroot"
                | "nsenter"
                | "busybox"
        )
        || word.starts_with("mkfs")
}

/// Programs whose names are everyday words: alone they make no line a command.
fn is_everyday(word: &str) -> bool {
    matches!(
        word,
        "find"
            | "test"
            | "time"
            | "watch"
            | "file"
            | "sort"
            | "cut"
            | "join"
            | "paste"
            | "last"
            | "at"
            | "make"
            | "who"
            | "w"
            | "type"
            | "help"
            | "set"
            | "read"
            | "wait"
            | "kill"
            | "halt"
            | "reboot"
            | "shutdown"
            | "install"
            | "host"
            | "top"
            | "free"
            | "less"
            | "more"
            | "head"
            | "tail"
            | "source"
            | "exit"
            | "return"
            | "let"
            | "date"
            | "service"
            | "patch"
            | "split"
            | "touch"
            | "link"
            | "unlink"
            | "truncate"
            | "wipe"
            | "tree"
            | "yes"
            | "true"
            | "false"
            | "sleep"
            | "history"
            | "stat"
            | "nice"
            | "mount"
            | "route"
            | "monit"
            | "batch"
            | "fold"
            | "expr"
            | "step"
            | "go"
            | "node"
            | "export"
            | "local"
            | "alias"
            | "env"
            | "strings"
            | "ping"
            | "trap"
            | "eval"
            | "command"
            | "snap"
            | "gem"
            | "flux"
            | "velero"
            | "consul"
            | "vault"
            | "nomad"
            | "bundle"
            | "railway"
            | "fly"
            | "ss"
            | "id"
            | "groups"
            | "jobs"
            | "times"
            | "complete"
            | "info"
            | "man"
            | "declare"
            | "column"
            | "look"
            | "parallel"
            | "init"
            | "exec"
            | "ed"
            | "cargo"
            | "patronictl_"
            | "uptime"
            | "comm"
            | "rev"
            | "pr"
            | "ab"
            | "ip"
            | "arp"
            | "composer"
            | "pulumi"
            | "http"
            | "https"
            | "bc"
            | "vi"
            | "users"
            | "builtin"
            | "unset"
            | "pushd"
            | "linkerd"
            | "wc"
            | "tr"
            | "seq"
            | "k"
            | "eject"
            | "siege"
            | "sensors"
            | "pause"
            | "ln"
            | "perf"
            | "traceroute"
            | "step_"
    )
}

fn starts_with_program(text: &str) -> bool {
    is_program(first_word(text))
}

/// A code span is a command if it begins with a known program, or holds more than a name.
fn looks_like_command(span: &str) -> bool {
    let span = span.trim();
    let word = first_word(span);
    if span.split_whitespace().count() == 1 {
        // `top` is a command, `payments` is a name, `order.delete` is neither.
        return is_program(word) && !is_everyday(word)
            || matches!(word, "reboot" | "halt" | "shutdown" | "poweroff");
    }
    is_program(word)
        || bare_sql(span).is_some()
        || shell_marks(span)
        || span.starts_with('>')
        || span.starts_with("./")
        || span.starts_with('/')
        || is_redis_verb(span)
}

/// `FLUSHALL`, `DEL key`: the words of a redis session.
fn is_redis_verb(span: &str) -> bool {
    let word = first_word(span);
    word.len() > 2
        && word.chars().all(|c| c.is_ascii_uppercase())
        && matches!(
            word,
            "FLUSHALL" | "FLUSHDB" | "DEL" | "UNLINK" | "CONFIG" | "INFO" | "SLOWLOG" | "CLIENT"
        )
}

fn shell_marks(text: &str) -> bool {
    [" | ", " && ", " || ", "; ", " > ", " >> ", "$(", " --"]
        .iter()
        .any(|mark| text.contains(mark))
}

/// A line that begins with a program's name is a command unless it reads like a sentence: "find out
/// who deployed", "Top consumers of memory".
fn is_more_than_a_sentence(line: &str) -> bool {
    let word = first_word(line);
    if line.starts_with(|c: char| c.is_uppercase()) && !line.starts_with("./") {
        return false;
    }
    if !is_everyday(word) {
        return true;
    }
    line.split_whitespace().skip(1).any(|w| {
        w.starts_with('-') && w.len() > 1
            || w.starts_with('/')
            || w.starts_with("./")
            || w.starts_with('$')
    }) || shell_marks(line)
}

/// Commands behind a word that says to run them: "run rm -rf /data", "执行 kubectl delete pod x".
fn behind_an_order(line: &str) -> Vec<&str> {
    let mut found = Vec::new();
    let mut at = 0;
    while let Some(rest) = line.get(at..) {
        let Some(word) = rest.split_whitespace().next() else {
            break;
        };
        let start = at + rest.find(word).unwrap_or(0);
        let command = line.get(start..).unwrap_or_default();
        let name = first_word(command);
        // A program's name in the middle of a sentence begins a command where its own kind of words
        // follow: a flag, a path, or (for a name that is no everyday word) any word behind an order.
        if start > 0
            && is_program(name)
            && name
                == word
                    .trim_start_matches('\\')
                    .rsplit('/')
                    .next()
                    .unwrap_or(word)
        {
            let next: Vec<&str> = command.split_whitespace().skip(1).take(3).collect();
            let marked = next.iter().any(|w| {
                w.starts_with('-') && w.len() > 1 || w.starts_with('/') || w.starts_with("./")
            });
            let before = line.get(..start).unwrap_or_default().trim_end();
            let ordered = [
                "run", "Run", "execute", "Execute", "with", "use", "Use", "using", "via", ":",
                "type", "执行", "运行", "使用", "用", "通过",
            ]
            .iter()
            .any(|order| before.ends_with(order));
            let sentence = next.first().is_some_and(|w| {
                matches!(
                    *w,
                    "to" | "and"
                        | "or"
                        | "is"
                        | "for"
                        | "in"
                        | "on"
                        | "as"
                        | "the"
                        | "a"
                        | "are"
                        | "was"
                )
            });
            if sentence {
                at = start + word.len();
                continue;
            }
            if (marked && !next.is_empty()) || (ordered && !is_everyday(name) && !next.is_empty()) {
                found.push(sentence_end(command));
                break;
            }
        }
        at = start + word.len();
    }
    found
}

/// A command in a sentence ends where the sentence does.
fn sentence_end(command: &str) -> &str {
    for mark in [". ", "，", "。", "; then", ", then", "；"] {
        if let Some((head, _)) = command.split_once(mark) {
            return head;
        }
    }
    command.trim_end_matches('.')
}

fn without_commands(text: &str, commands: &[String]) -> String {
    let mut around = text.to_owned();
    for command in commands {
        around = around.replace(command.as_str(), " ");
    }
    around
}

/// Whether the words only carry the command: "Run", "Execute on the primary".
fn only_carries(around: &str) -> bool {
    let first = around
        .split(|c: char| !c.is_alphanumeric())
        .find(|w| !w.is_empty())
        .unwrap_or_default()
        .to_lowercase();
    first.is_empty()
        || [
            "run", "execute", "use", "type", "issue", "with", "on", "执行", "运行", "使用", "用",
        ]
        .iter()
        .any(|carry| first.starts_with(carry))
}

#[cfg(test)]
mod tests;

//! The risk of SQL, by its verbs.

use crate::incident::proposal::Risk;

/// Functions that a SELECT may call and that change something.
const ACTING_FUNCTIONS: [&str; 14] = [
    "pg_terminate_backend",
    "pg_cancel_backend",
    "pg_reload_conf",
    "pg_rotate_logfile",
    "pg_promote",
    "pg_switch_wal",
    "pg_advisory_lock",
    "pg_logical_slot_get_changes",
    "pg_stat_reset",
    "setval",
    "nextval",
    "set_config",
    "dblink_exec",
    "sleep",
];

/// Functions that destroy something.
const DESTROYING_FUNCTIONS: [&str; 4] = [
    "pg_drop_replication_slot",
    "lo_unlink",
    "pg_replication_origin_drop",
    "pg_wal_replay_resume_discard",
];

/// The highest risk of the statements.
pub(super) fn risk(script: &str) -> Risk {
    let plain = own_commands_apart(&without_comments_and_strings(script));
    let mut risk = Risk::ReadOnly;
    let mut any = false;
    for statement in plain.split(';') {
        let statement = statement.trim();
        if statement.is_empty() {
            continue;
        }
        any = true;
        risk = risk.max(statement_risk(statement));
    }
    if any { risk } else { Risk::Risky }
}

/// psql's own commands end with their line, SQL with a semicolon.
fn own_commands_apart(script: &str) -> String {
    let mut out = String::new();
    for line in script.lines() {
        let own = line.trim_start().starts_with('\\');
        if own {
            out.push(';');
        }
        out.push_str(line);
        out.push(if own { ';' } else { '\n' });
    }
    out
}

fn statement_risk(statement: &str) -> Risk {
    // `\!` runs a shell, `\gexec` what a query gives.
    if let Some((_, command)) = statement.split_once("\\!") {
        return super::shell::risk(command).max(Risk::Risky);
    }
    if statement.contains("\\gexec") {
        return Risk::Destructive;
    }
    if statement.starts_with('\\') {
        // psql's own commands: `\d`, `\l`; `\!` runs a shell, `\copy` and `\i` run anything.
        let name: String = statement
            .chars()
            .skip(1)
            .take_while(|c| c.is_ascii_alphabetic())
            .collect();
        return match name.as_str() {
            "d" | "dt" | "di" | "dv" | "du" | "dn" | "df" | "l" | "conninfo" | "x" | "timing"
            | "z" | "ds" | "dS" | "dx" | "sf" | "sv" | "db" | "dp" | "echo" | "G" | "s" | "u" => {
                Risk::ReadOnly
            }
            _ => Risk::Risky,
        };
    }
    let lower = statement.to_lowercase();
    let words: Vec<&str> = lower
        .split(|c: char| !(c.is_alphanumeric() || c == '_'))
        .filter(|word| !word.is_empty())
        .collect();
    let has = |word: &str| words.contains(&word);
    let first = words.first().copied().unwrap_or_default();
    let second = words.get(1).copied().unwrap_or_default();
    let inner = || {
        let mut risk = Risk::ReadOnly;
        if words.iter().any(|w| DESTROYING_FUNCTIONS.contains(w)) {
            risk = risk.max(Risk::Destructive);
        }
        if words.iter().any(|w| ACTING_FUNCTIONS.contains(w)) {
            risk = risk.max(Risk::Risky);
        }
        if has("outfile")
            || has("dumpfile")
            || lower.contains(" for update")
            || lower.contains(" for share")
        {
            risk = risk.max(Risk::Risky);
        }
        if first == "select" && has("into") {
            risk = risk.max(Risk::Risky);
        }
        risk
    };
    let verbs_inside = || {
        let mut risk = inner();
        for (at, word) in words.iter().enumerate() {
            let next = words.get(at + 1).copied().unwrap_or_default();
            risk = risk.max(match (*word, next) {
                ("delete", "from")
                | ("truncate", _)
                | ("drop", "table" | "database" | "schema" | "index" | "view") => Risk::Destructive,
                ("insert", "into") | ("merge", "into") => Risk::Risky,
                ("update", _) if words.contains(&"set") => Risk::Risky,
                _ => Risk::ReadOnly,
            });
        }
        risk
    };
    match first {
        "select" | "values" | "table" | "show" | "describe" | "desc" | "help" | "use" | "begin"
        | "commit" | "rollback" | "start" | "set" | "fetch" | "check" | "checksum" | "status"
        | "pragma" | "with" | "explain" | "sql" | "exists" | "info" => match first {
            "set" if matches!(second, "global" | "persist" | "password" | "persist_only") => {
                Risk::Risky
            }
            "set" if lower.contains("@@global") => Risk::Risky,
            "start" if second != "transaction" => Risk::Risky,
            "pragma" if lower.contains('=') => Risk::Risky,
            // EXPLAIN runs the statement only with ANALYZE.
            "explain" if !has("analyze") && !has("analyse") => Risk::ReadOnly,
            _ => verbs_inside(),
        },
        "delete" | "drop" | "truncate" | "purge" | "wipe" => Risk::Destructive,
        "update" => {
            if has("where") {
                Risk::Risky
            } else {
                Risk::Destructive
            }
        }
        "alter" => {
            if has("drop") || has("truncate") || has("discard") || lower.contains(" delete where") {
                Risk::Destructive
            } else {
                Risk::Risky
            }
        }
        "reset" if matches!(second, "master" | "slave" | "replica" | "binary") => Risk::Destructive,
        "replace" => Risk::Destructive,
        "flush" if has("logs") || has("privileges") || has("tables") || has("hosts") => Risk::Risky,
        _ => Risk::Risky,
    }
}

/// Leaves out comments and the insides of strings, so that no word in them is taken for a verb.
/// MySQL runs what stands in `/*! ... */`: that stays.
fn without_comments_and_strings(script: &str) -> String {
    let mut plain = String::new();
    let mut chars = script.chars().peekable();
    let mut quote: Option<char> = None;
    let mut comment = false;
    let mut line_comment = false;
    while let Some(c) = chars.next() {
        if line_comment {
            if c == '\n' {
                line_comment = false;
                plain.push(' ');
            }
            continue;
        }
        if comment {
            if c == '*' && chars.peek() == Some(&'/') {
                chars.next();
                comment = false;
                plain.push(' ');
            }
            continue;
        }
        if let Some(q) = quote {
            if c == q {
                quote = None;
                plain.push(' ');
            }
            continue;
        }
        match c {
            '\'' => quote = Some(c),
            '-' if chars.peek() == Some(&'-') => line_comment = true,
            '/' if chars.peek() == Some(&'*') => {
                chars.next();
                if chars.peek() == Some(&'!') {
                    chars.next();
                } else {
                    comment = true;
                }
            }
            _ => plain.push(c),
        }
    }
    plain
}

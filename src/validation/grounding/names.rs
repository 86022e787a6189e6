//! Names: identifiers, hosts, paths and what an analogy calls its own; which shapes are telling, and
//! which spellings are one.

use super::Place;
use super::tokens::{Token, TokenKind, tokens};
use crate::incident::words::{fold, is_cjk};
use crate::validation::allowed::{is_hyphenated_prose, is_word_of_operations};
use crate::validation::text::{clauses, narrow};
use regex::Regex;
use std::collections::{BTreeSet, HashSet};
use std::sync::LazyLock;

/// A name without what separates its parts, so that its spellings compare equal.
pub(super) fn squeezed(folded: &str) -> String {
    folded
        .chars()
        .filter(|c| c.is_alphanumeric() && !is_cjk(*c))
        .collect()
}

/// Long enough to be one name and no other; versions and addresses have no other spelling.
pub(super) fn is_spelling(squeezed: &str) -> bool {
    squeezed.len() >= 6 && squeezed.bytes().filter(u8::is_ascii_alphabetic).count() >= 4
}

/// What identifies an address without its port, a build without the word before it.
pub(super) fn volatile_core(folded: &str) -> &str {
    let is_address = folded.matches('.').count() >= 3;
    if is_address {
        return folded.split([':', '/']).next().unwrap_or(folded);
    }
    let digits = folded.trim_start_matches(|c: char| !c.is_ascii_digit());
    let word = folded
        .get(..folded.len() - digits.len())
        .unwrap_or_default();
    let is_build = ["build", "pipeline", "job", "run", "构建", "流水线"]
        .iter()
        .any(|name| word.starts_with(name));
    if is_build && digits.bytes().all(|b| b.is_ascii_digit()) {
        digits
    } else {
        folded
    }
}

/// Whether the clause around this position speaks of another incident or service and not of the
/// service at hand: `as on voice-bridge`, `类似 voice-bridge`.
pub(super) fn speaks_of_another(chars: &[char], at: usize) -> bool {
    static OF_ANOTHER: LazyLock<Option<Regex>> = LazyLock::new(|| {
        Regex::new(concat!(
            r"\b(?:as (?:on|in|with|for|at)|like|unlike|similar(?:ly|ity)?|resembl\w+|analog\w*|same (?:as|kind|pattern|error|trouble|symptoms?)|",
            r"another|other|others|elsewhere|once|seen|past|earlier|before|previous(?:ly)?|history|memory|precedents?|incidents?|outages?|",
            r"from|different|differs|not assumed|inc-?\s?[0-9]+|last (?:time|year|month|week)|was|were|had|reported|comes? from|knows?|known)\b|",
            r"类似|相似|类比|像|如同|参考|借鉴|另一|另外|其他|别的|曾|当时|过去|历史|以前|之前|上次|出现过|发生过|不同|一样|相同|同类|来自|事故|故障|记忆|经验"
        ))
        .ok()
    });
    let clause = clauses(chars)
        .into_iter()
        .find(|(start, end)| (*start..*end).contains(&at))
        .and_then(|(start, end)| chars.get(start..end))
        .unwrap_or(chars);
    let folded = fold(&clause.iter().collect::<String>());
    OF_ANOTHER
        .as_ref()
        .is_some_and(|pattern| pattern.is_match(&folded))
}

/// Where words stand that the claim itself calls names: behind *queue*, *flag* and the like, and in
/// commands as operands of options and resources. Positions in characters.
pub(super) fn named_in(chars: &[char], place: Place) -> HashSet<usize> {
    static OPERAND: LazyLock<Option<Regex>> = LazyLock::new(|| {
        Regex::new(concat!(
            r"(?:^|\s)(?:-n|--namespace|-h|--host|--hostname|--context|--cluster|--bucket|--queue|--queue-name|--topic|--group|--table|--database|--service|--name|--instance|--project|-c|--container)[= ]+['\x22]?(?P<a>[A-Za-z][A-Za-z0-9_.-]*)|",
            r"(?:^|\s)(?:deployments?|deploy|pods?|po|statefulsets?|sts|svc|services?|daemonsets?|ds|jobs?|cronjobs?|configmaps?|cm|secrets?|ingress(?:es)?|nodes?|hpa|pvc)[/ ](?P<b>[a-z][a-z0-9.-]*)|",
            r"(?:^|\s)(?:ssh|ping|dig|nslookup|telnet|nc|traceroute|systemctl [a-z-]+|service|docker [a-z]+)\s+(?:-[a-zA-Z]+ )*(?P<c>[a-z][a-z0-9_.-]*)"
        ))
        .ok()
    });
    let pattern = if place == Place::Command {
        OPERAND.as_ref()
    } else {
        NAMED.as_ref()
    };
    let text: String = chars.iter().map(|c| narrow(*c)).collect();
    let mut out = HashSet::new();
    for captures in pattern
        .into_iter()
        .flat_map(|pattern| pattern.captures_iter(&text))
    {
        for name in ["a", "b", "c"] {
            if let Some(found) = captures.name(name) {
                let before = text.get(..found.start()).unwrap_or_default();
                out.insert(before.chars().count());
            }
        }
    }
    out
}

/// Plain words that are names by their place alone: the program of a command, and in Chinese the
/// Latin word behind 渠道, 队列, 表 and the like.
pub(super) fn plain_names_in(chars: &[char], place: Place) -> Vec<Token> {
    static PROGRAM: LazyLock<Option<Regex>> =
        LazyLock::new(|| Regex::new(r"^\s*(?:sudo\s+|time\s+)?(?P<a>[a-z][a-z]{3,})(?:\s|$)").ok());
    static BEHIND: LazyLock<Option<Regex>> = LazyLock::new(|| {
        Regex::new(r"(?:渠道|供应商|商户|队列|主题|表|数据库|库|索引) ?(?P<a>[a-z]{5,})(?:[^A-Za-z0-9_.-]|$)").ok()
    });
    let pattern = if place == Place::Command {
        &PROGRAM
    } else {
        &BEHIND
    };
    let text: String = chars.iter().map(|c| narrow(*c)).collect();
    pattern
        .as_ref()
        .into_iter()
        .flat_map(|pattern| pattern.captures_iter(&text))
        .filter_map(|captures| captures.name("a"))
        .filter(|name| !is_word_of_operations(name.as_str()))
        .map(|name| {
            let start = text
                .get(..name.start())
                .map_or(0, |head| head.chars().count());
            Token {
                start,
                end: start + name.as_str().chars().count(),
                kind: TokenKind::Word(name.as_str().to_owned()),
            }
        })
        .collect()
}

/// A word that stands behind a word that says that it is a name, or in back ticks.
pub(super) static NAMED: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(concat!(
        r"(?i)(?:\b(?:class|function|method|table|queue|topic|index|bucket|stream|exchange|column|keyspace|collection|namespace|config key|key|flag|host|path)s? |",
        r"(?:类|函数|方法|表|队列|主题|索引|配置项|主机|开关|参数|路径|命名空间) ?)[`'\x22]?(?P<a>[a-z][a-z0-9_.-]{2,})|`(?P<b>[^`\s]{3,80})`"
    ))
    .ok()
});

/// What an analogy names that is its own: identifiers, and plain words behind a word that says that
/// they are a name (`queue relay`, 表 ledger, anything in back ticks).
pub(super) fn internals_of(text: &str) -> BTreeSet<String> {
    let chars: Vec<char> = text.chars().collect();
    let mut out = BTreeSet::new();
    for token in tokens(&chars, false) {
        if let TokenKind::Name(name) = token.kind {
            // The parts of a compound that are names by themselves give it away too.
            for part in name.split(['.', ':', '/', '>', '(', ')']) {
                if is_name_shape(part) && !is_capitals(part) && is_telling_name(part, Place::Body) {
                    out.insert(fold(part));
                }
            }
            if is_telling_name(&name, Place::Body) {
                out.insert(fold(&name));
            }
        } else if let TokenKind::Word(word) = token.kind {
            // `pki/issue/billing`, `feed:v3`: no name by its shape alone, and this one's own.
            if word.matches('/').count() >= 2 || word.contains(':') {
                out.insert(word);
            }
        } else if let TokenKind::Flag(flag) = token.kind
            && !COMMON_FLAGS.contains(&flag.as_str())
            && flag.matches('-').count() >= 3
        {
            out.insert(flag);
        }
    }
    if let Some(named) = NAMED.as_ref() {
        for captures in named.captures_iter(text) {
            let quoted = captures.name("b");
            if let Some(name) = captures.name("a").or(quoted) {
                let name = fold(
                    name.as_str()
                        .trim_matches(['.', '-', '`', '\'', '"', '(', ')', ',']),
                );
                let is_prose = crate::incident::words::is_stop_word(&name)
                    || (quoted.is_none() && is_plain_behind_a_noun(&name))
                    || name.len() < 3;
                if !is_prose && !is_word_of_operations(&name) {
                    out.insert(name);
                }
            }
        }
    }
    out
}

/// A word behind *queue*, *table* and the like that is no name: what a queue does (`the queue
/// overflows`), what is done to it, or what of it is meant (`bucket policy`, `topic retention`).
fn is_plain_behind_a_noun(folded: &str) -> bool {
    PLAIN_BEHIND_A_NOUN.contains(&folded)
        || is_plain_verb(folded)
        || folded.bytes().all(|b| b.is_ascii_lowercase())
            && PLAIN_ENDS
                .iter()
                .any(|end| folded.len() > end.len() + 2 && folded.ends_with(end))
        || folded
            .strip_suffix("es")
            .or_else(|| folded.strip_suffix('s'))
            .or_else(|| folded.strip_suffix("ies"))
            .is_some_and(|one| PLAIN_BEHIND_A_NOUN.contains(&one))
}

/// A verb of trouble in any of its forms: `exhaust`, `exhausts`, `dropped`.
fn is_plain_verb(folded: &str) -> bool {
    static STEMS: LazyLock<HashSet<String>> = LazyLock::new(|| {
        PLAIN_VERBS
            .iter()
            .map(|verb| crate::incident::words::stem(verb))
            .collect()
    });
    STEMS.contains(&crate::incident::words::stem(folded))
}

/// Endings of words that are made from verbs and adjectives and that nobody calls a queue by.
const PLAIN_ENDS: &[&str] = &[
    "tion", "sion", "ment", "ness", "ance", "ence", "ancy", "ency", "ible", "able", "ity", "ing",
    "ied", "sed", "ted", "ked", "ped", "red", "led", "ned", "ged", "ded", "ly",
];

/// What queues, tables and the like do, and what is done to them.
const PLAIN_VERBS: &[&str] = &[
    "accept", "answer", "back", "block", "break", "cause", "change", "choke", "climb", "clog",
    "consume", "contain", "create", "delay", "deliver", "deny", "drain", "drop", "empty", "exceed",
    "exhaust", "expire", "explode", "fail", "fill", "flap", "flood", "freeze", "get", "give", "go",
    "grow", "halt", "hang", "hide", "hold", "ignore", "keep", "kill", "lack", "lag", "leak",
    "leave", "let", "lie", "lock", "lose", "make", "mean", "miss", "need", "overflow", "overload",
    "pile", "point", "push", "reach", "receive", "refuse", "reject", "remain", "repeat", "report",
    "require", "reset", "restart", "return", "run", "rise", "saturate", "see", "send", "serve",
    "shrink", "sit", "slow", "stall", "start", "starve", "stay", "stick", "stop", "store",
    "swallow", "take", "throttle", "time", "trip", "turn", "use", "vanish", "wait", "write",
];

/// Words that stand behind *queue*, *table* and the like in plain prose.
const PLAIN_BEHIND_A_NOUN: &[&str] = &[
    "access",
    "account",
    "address",
    "after",
    "again",
    "age",
    "alias",
    "all",
    "also",
    "and",
    "are",
    "attribute",
    "backlog",
    "because",
    "before",
    "behind",
    "below",
    "bloat",
    "both",
    "bound",
    "broken",
    "buffer",
    "but",
    "cache",
    "can",
    "cannot",
    "capacity",
    "check",
    "class",
    "client",
    "clock",
    "cluster",
    "column",
    "compaction",
    "config",
    "consumer",
    "contents",
    "cost",
    "count",
    "cpu",
    "data",
    "default",
    "definition",
    "depth",
    "disk",
    "does",
    "driver",
    "during",
    "each",
    "encoding",
    "entries",
    "entropy",
    "entry",
    "error",
    "event",
    "every",
    "exception",
    "exchange",
    "file",
    "filter",
    "flag",
    "for",
    "format",
    "full",
    "gone",
    "grant",
    "grew",
    "group",
    "growth",
    "had",
    "handler",
    "has",
    "header",
    "health",
    "heap",
    "hint",
    "host",
    "id",
    "index",
    "instead",
    "job",
    "key",
    "keys",
    "lag",
    "latency",
    "layout",
    "leader",
    "length",
    "level",
    "limit",
    "limits",
    "list",
    "listener",
    "load",
    "lock",
    "locks",
    "log",
    "lookup",
    "manager",
    "map",
    "mapping",
    "member",
    "memory",
    "message",
    "metadata",
    "missing",
    "mode",
    "monitor",
    "more",
    "mount",
    "name",
    "names",
    "network",
    "never",
    "next",
    "no",
    "node",
    "not",
    "now",
    "object",
    "off",
    "offset",
    "once",
    "one",
    "only",
    "out",
    "over",
    "owner",
    "pair",
    "parameter",
    "partition",
    "path",
    "pattern",
    "per",
    "permission",
    "plan",
    "policy",
    "pool",
    "port",
    "prefix",
    "priority",
    "process",
    "producer",
    "quota",
    "rather",
    "rate",
    "reader",
    "rebuild",
    "record",
    "refresh",
    "replica",
    "replay",
    "request",
    "response",
    "result",
    "role",
    "rotation",
    "routing",
    "row",
    "rows",
    "rule",
    "scan",
    "scans",
    "schema",
    "segment",
    "server",
    "service",
    "setting",
    "shard",
    "share",
    "size",
    "slot",
    "snapshot",
    "spam",
    "spike",
    "state",
    "statistics",
    "still",
    "storage",
    "store",
    "suffix",
    "swap",
    "switch",
    "system",
    "table",
    "target",
    "task",
    "template",
    "than",
    "thread",
    "throughput",
    "timeout",
    "timer",
    "token",
    "too",
    "topic",
    "toggle",
    "traffic",
    "type",
    "under",
    "until",
    "update",
    "usage",
    "used",
    "user",
    "uses",
    "value",
    "version",
    "via",
    "view",
    "volume",
    "wait",
    "waits",
    "was",
    "watermark",
    "were",
    "when",
    "where",
    "which",
    "who",
    "window",
    "without",
    "worker",
    "writer",
];

/// Long options of everyday commands.
pub(super) const COMMON_FLAGS: &[&str] = &[
    "--no-pager",
    "--since-time",
    "--all-namespaces",
    "--all-containers",
    "--sort-by",
    "--field-selector",
    "--no-headers",
    "--bootstrap-server",
    "--dry-run",
    "--max-time",
    "--connect-timeout",
    "--show-labels",
    "--output-watch-events",
    "--ignore-not-found",
    "--no-stream",
    "--grace-period",
    "--to-revision",
    "--group-id",
    "--consumer-group",
];

/// `ws-eu-01..ws-eu-14`, `gw-1 to gw-3`, `edge-4 至 9`: every name between is named.
pub(super) fn ranges(folded: &str) -> Vec<(String, u32, u32)> {
    static RANGE: LazyLock<Option<Regex>> = LazyLock::new(|| {
        Regex::new(concat!(
            r"(?P<name>[a-z][a-z0-9]*(?:[-_][a-z0-9]+)*?[-_]?)(?P<from>[0-9]{1,4})",
            r" ?(?:\.{2,3}|…|–|—|~|至|到| to | through | thru )[ ]?(?P<again>[a-z][a-z0-9]*(?:[-_][a-z0-9]+)*?[-_]?)?(?P<to>[0-9]{1,4})(?-u:\b)"
        ))
        .ok()
    });
    RANGE
        .as_ref()
        .into_iter()
        .flat_map(|range| range.captures_iter(folded))
        .filter_map(|captures| {
            let name = captures.name("name")?.as_str();
            let again = captures.name("again").map_or(name, |again| again.as_str());
            let from = captures.name("from")?.as_str().parse().ok()?;
            let to = captures.name("to")?.as_str().parse().ok()?;
            (name == again && from < to).then(|| (name.to_owned(), from, to))
        })
        .collect()
}

/// Names of a text without their separators, whole and by parts.
pub(super) fn spellings(folded: &str) -> HashSet<String> {
    let mut out = HashSet::new();
    let in_name = |c: char| {
        (c.is_alphanumeric() && !is_cjk(c)) || matches!(c, '_' | '-' | '.' | ':' | '/' | '@')
    };
    for name in folded
        .split(|c: char| !in_name(c))
        .filter(|name| name.len() >= 6 && name.len() <= 200)
    {
        for part in std::iter::once(name).chain(name.split(['.', ':', '/', '@'])) {
            let spelled = squeezed(part);
            if is_spelling(&spelled) {
                out.insert(spelled);
            }
        }
    }
    out
}

/// Shapes that may be names: whether they need evidence is decided by [`is_telling_name`], whether
/// they are an analogy's internals by where they occur.
pub(super) fn is_name_shape(word: &str) -> bool {
    word.len() >= 3
        && !is_word_of_operations(word)
        && (word.contains(['_', '.', '-', ':'])
            || word.ends_with("()")
            || has_inner_capital(word)
            || has_digit(word)
            || is_capitals(word)
            || is_control_program(word)
            || is_error_name(word))
}

/// `scorectl`: a tool of somebody's own; those that everybody has are words of operations.
pub(super) fn is_control_program(word: &str) -> bool {
    word.len() > 5 && word.ends_with("ctl") && word.bytes().all(|b| b.is_ascii_lowercase())
}

/// `SHOPINFO`: a name where memory holds it, a shout elsewhere.
pub(super) fn is_capitals(word: &str) -> bool {
    word.len() >= 5 && word.bytes().all(|b| b.is_ascii_uppercase())
}

pub(super) fn has_inner_capital(word: &str) -> bool {
    word.chars()
        .zip(word.chars().skip(1))
        .any(|(a, b)| a.is_lowercase() && b.is_uppercase())
}

pub(super) fn has_digit(word: &str) -> bool {
    word.bytes().any(|b| b.is_ascii_digit())
}

/// Whether a name that occurs nowhere in what was given says something that needs evidence.
pub(super) fn is_telling_name(name: &str, place: Place) -> bool {
    if name.contains('/') {
        return place != Place::Command || !is_generic_path(name);
    }
    if name.contains('_')
        || name.contains("::")
        || name.matches(':').count() >= 2
        || has_inner_capital(name)
        || has_digit(name)
        || is_control_program(name)
        || is_error_name(name)
    {
        return true;
    }
    if name.contains('.') {
        // `fail.Then` is a missing space; hosts and files have lower case or digits after the dot.
        return !name
            .split('.')
            .skip(1)
            .all(|part| part.chars().next().is_some_and(char::is_uppercase));
    }
    // Hyphenated words are prose unless they end as components do.
    name.rsplit('-')
        .next()
        .is_some_and(|last| COMPONENT_ENDINGS.contains(&fold(last).as_str()))
        && !is_hyphenated_prose(&fold(name))
}

pub(super) fn is_generic_path(path: &str) -> bool {
    [
        "/proc",
        "/dev/null",
        "/etc/resolv.conf",
        "/etc/hosts",
        "/healthz",
        "/health",
        "/tmp",
        "/var/log",
    ]
    .iter()
    .any(|known| path == *known || path.starts_with("/proc/"))
}

pub(super) fn is_error_name(word: &str) -> bool {
    ERROR_NAMES.contains(&word)
}

/// Endings that make a hyphenated word the name of a component.
pub(super) const COMPONENT_ENDINGS: &[&str] = &[
    "api",
    "svc",
    "service",
    "worker",
    "gateway",
    "proxy",
    "db",
    "cache",
    "web",
    "frontend",
    "backend",
    "consumer",
    "producer",
    "scheduler",
    "cron",
    "job",
    "bot",
    "ctl",
    "store",
    "hub",
    "relay",
    "bridge",
    "server",
    "controller",
    "operator",
    "agent",
    "broker",
    "cluster",
    "primary",
    "replica",
    "lambda",
    "queue",
    "topic",
    "sync",
    "router",
    "bff",
    "exporter",
    "importer",
    "export",
    "import",
    "resolver",
    "planner",
    "tracker",
    "portal",
    "manager",
    "dispatcher",
    "processor",
    "handler",
    "indexer",
    "loader",
    "fetcher",
    "sender",
    "mailer",
    "notifier",
    "sidecar",
    "daemon",
    "collector",
    "shipper",
    "builder",
    "renderer",
    "prod",
    "staging",
    "canary",
    "uat",
    "stg",
];

/// Error names of the operating system: codes, so they need evidence.
pub(super) const ERROR_NAMES: &[&str] = &[
    "ECONNREFUSED",
    "ECONNRESET",
    "ECONNABORTED",
    "ETIMEDOUT",
    "EHOSTUNREACH",
    "ENETUNREACH",
    "ENOTFOUND",
    "EAI_AGAIN",
    "EADDRINUSE",
    "EMFILE",
    "ENFILE",
    "ENOSPC",
    "ENOMEM",
    "EACCES",
    "EPERM",
    "ENOENT",
    "EPIPE",
    "EIO",
    "EROFS",
    "EBUSY",
    "EDQUOT",
    "ESTALE",
];

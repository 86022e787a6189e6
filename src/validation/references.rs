//! Which references survive (R1, R2), in lists and in prose.

use super::case::Case;
use super::log::Log;
use super::text::{narrow, tidy, without_clauses};
use crate::incident::words::{fold, is_cjk, meaningful};
use crate::incident::{Grade, IncidentId, LearnedPattern, Memory, PatternId, Recalled};
use regex::Regex;
use std::collections::BTreeSet;
use std::sync::LazyLock;

/// Most references of one list that are looked at; a recalled set has a dozen.
const MOST_READ: usize = 64;

/// The recalled set that may be cited: direct matches and analogies. Low ones were not offered (R2).
pub(super) fn citable(memory: &Memory, id: IncidentId) -> Option<&Recalled> {
    memory
        .recalled()
        .iter()
        .find(|recalled| recalled.incident.id == id && recalled.grade != Grade::Low)
}

/// The references of a list that survive, each once, in order (R1). A learned pattern stands for the
/// recalled incidents that it rests on (R2).
pub(super) fn survivors<'m>(
    written: &[String],
    case: &'m Case,
    at: &str,
    log: &mut Log,
) -> Vec<&'m Recalled> {
    survivors_among(written, &case.memory, &case.ledger.patterns, at, log)
}

fn survivors_among<'m>(
    written: &[String],
    memory: &'m Memory,
    patterns: &[LearnedPattern],
    at: &str,
    log: &mut Log,
) -> Vec<&'m Recalled> {
    let mut kept: Vec<&Recalled> = Vec::new();
    for (index, reference) in written.iter().enumerate().take(MOST_READ) {
        let at = format!("{at}[{index}]");
        if let Some(pattern) = PatternId::parse(reference)
            .and_then(|id| patterns.iter().find(|pattern| pattern.id == id))
        {
            let rests_on: Vec<&Recalled> = pattern
                .incidents
                .iter()
                .filter_map(|id| citable(memory, *id))
                .collect();
            let ids: Vec<String> = rests_on
                .iter()
                .map(|recalled| recalled.incident.id.to_string())
                .collect();
            log.note("R2", at, reference, ids.join(", "));
            for recalled in rests_on {
                if !kept
                    .iter()
                    .any(|known| known.incident.id == recalled.incident.id)
                {
                    kept.push(recalled);
                }
            }
            continue;
        }
        let Some(recalled) = IncidentId::parse(reference).and_then(|id| citable(memory, id)) else {
            log.note("R1", at, reference, "");
            continue;
        };
        if kept
            .iter()
            .any(|known| known.incident.id == recalled.incident.id)
        {
            log.note("R1", at, reference, "");
            continue;
        }
        kept.push(recalled);
    }
    if let Some(more) = written
        .len()
        .checked_sub(MOST_READ)
        .filter(|more| *more > 0)
    {
        log.note("R1", at, format!("{more} more references"), "");
    }
    kept
}

/// An id as it stands in prose.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Mention {
    /// Range in characters.
    start: usize,
    end: usize,
    id: IncidentId,
    /// Only a hash and a number: it may be something else's number.
    bare: bool,
}

/// Ids that prose may name: what is recalled, what the report itself names, and the incident at
/// hand.
pub(super) struct Nameable {
    ids: BTreeSet<IncidentId>,
    /// `#4711` in the report or in a direct record: a ticket or a build, no invention.
    bare: BTreeSet<IncidentId>,
}

impl Nameable {
    pub fn new(memory: &Memory, report: &str, own: Option<IncidentId>) -> Self {
        let mut ids: BTreeSet<IncidentId> = memory
            .recalled()
            .iter()
            .filter(|recalled| recalled.grade != Grade::Low)
            .map(|recalled| recalled.incident.id)
            .chain(own)
            .collect();
        let mut bare = BTreeSet::new();
        let mut add = |text: &str, all: bool| {
            let chars: Vec<char> = text.chars().collect();
            for mention in mentions(&chars) {
                if mention.bare {
                    bare.insert(mention.id);
                } else if all {
                    ids.insert(mention.id);
                }
            }
        };
        add(report, true);
        for recalled in memory.direct() {
            let incident = &recalled.incident;
            for text in [&incident.title, &incident.root_cause]
                .into_iter()
                .chain(&incident.symptoms)
                .chain(&incident.error_signatures)
            {
                add(text, false);
            }
            for attempt in &incident.attempts {
                add(&attempt.fix, false);
            }
        }
        Self { ids, bare }
    }

    fn knows(&self, mention: &Mention) -> bool {
        self.ids.contains(&mention.id) || (mention.bare && self.bare.contains(&mention.id))
    }

    /// The text without ids that are neither recalled nor in the report. The clause that carries
    /// one rests on an invention and goes; where nothing else would be left, or in a title
    /// (`phrases`), the id alone is struck, with the words that lead to it.
    pub fn strike(&self, said: &str, phrases: bool) -> String {
        if !said.chars().any(|c| narrow(c).is_ascii_digit()) {
            return said.to_owned();
        }
        let chars: Vec<char> = said.chars().collect();
        let unknown: Vec<Mention> = mentions(&chars)
            .into_iter()
            .filter(|mention| !self.knows(mention))
            .collect();
        if unknown.is_empty() {
            return said.to_owned();
        }
        if !phrases {
            let positions: Vec<usize> = unknown.iter().map(|mention| mention.start).collect();
            let kept = without_clauses(&chars, &positions);
            if !kept.is_empty() {
                return kept;
            }
        }
        let mut rest = chars;
        for mention in unknown.iter().rev() {
            strike_one(&mut rest, mention);
        }
        let rest = tidy(&rest);
        if meaningful(&rest).is_empty() {
            String::new()
        } else {
            rest
        }
    }
}

/// Words that lead to a reference and mean nothing without it.
const LEADS: &[&str] = &[
    "as",
    "in",
    "like",
    "see",
    "of",
    "from",
    "with",
    "to",
    "same",
    "cf",
    "per",
    "and",
    "or",
    "during",
    "incident",
    "incidents",
    "also",
    "similar",
    "identical",
    "the",
    "again",
    "was",
    "ref",
    "reference",
];
const HAN_LEADS: &[&str] = &[
    "参见", "参考", "类似", "根据", "详见", "如同", "与", "和", "同", "如", "像", "见", "据", "跟",
    "在", "按",
];
const HAN_TAILS: &[&str] = &[
    "完全相同",
    "相同",
    "一样",
    "类似",
    "相似",
    "一致",
    "同样",
    "中",
    "里",
    "那次",
    "所述",
];

fn strike_one(chars: &mut Vec<char>, mention: &Mention) {
    let (mut start, mut end) = (mention.start, mention.end.min(chars.len()));
    let at = |chars: &[char], index: usize| chars.get(index).copied();
    // Marks around it that hold nothing else.
    loop {
        let before = start.checked_sub(1).and_then(|index| at(chars, index));
        let after = at(chars, end);
        match (before, after) {
            (
                Some('(' | '（' | '[' | '【' | '"' | '“' | '`' | '\''),
                Some(')' | '）' | ']' | '】' | '"' | '”' | '`' | '\''),
            ) => {
                start -= 1;
                end += 1;
            }
            _ => break,
        }
    }
    loop {
        let mut head_end = start;
        while head_end > 0 && at(chars, head_end - 1).is_some_and(char::is_whitespace) {
            head_end -= 1;
        }
        let head: String = chars.get(..head_end).unwrap_or_default().iter().collect();
        if let Some(lead) = HAN_LEADS.iter().find(|lead| head.ends_with(**lead)) {
            start = head_end - lead.chars().count();
            continue;
        }
        let word: String = head
            .chars()
            .rev()
            .take_while(|c| c.is_alphanumeric() && !is_cjk(*c))
            .collect::<Vec<_>>()
            .into_iter()
            .rev()
            .collect();
        if !word.is_empty() && LEADS.contains(&fold(&word).as_str()) {
            start = head_end - word.chars().count();
            continue;
        }
        break;
    }
    let tail: String = chars.get(end..).unwrap_or_default().iter().collect();
    let spaces = tail.chars().take_while(|c| c.is_whitespace()).count();
    if let Some(word) = HAN_TAILS
        .iter()
        .find(|word| tail.trim_start().starts_with(**word))
    {
        end += spaces + word.chars().count();
        if at(chars, end) == Some('的') {
            end += 1;
        }
    }
    if start == 0 {
        let tail: String = chars.get(end..).unwrap_or_default().iter().collect();
        if let Some(word) = ["and ", "or ", "和", "与"]
            .iter()
            .find(|word| tail.trim_start().starts_with(**word))
        {
            end += tail.chars().take_while(|c| c.is_whitespace()).count() + word.chars().count();
        }
    }
    chars.drain(start..end.min(chars.len()));
}

/// `INC-12`, `inc 12`, `incident #12`, `#12`, 事故 INC-12, 事故编号 12, 12 号事故.
static IN_PROSE: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(concat!(
        r"(?P<inc>(?-u:\b)inc(?:[-\u{2010}-\u{2015}\u{2212}_:. #]|no\.?){0,4}0*(?P<a>[1-9][0-9]{0,8})(?-u:\b))",
        r"|(?P<incident>(?-u:\b)incidents?(?: (?:no\.?|number|nr\.?|id))?[-\u{2010}-\u{2015}\u{2212}_: ]{0,3}(?P<hash>#?) ?0*(?P<b>[1-9][0-9]{0,8})(?-u:\b))",
        r"|(?:事故|事件|故障)(?:编号|单号|号码|号|单)[: ]{0,2}#?0*(?P<c>[1-9][0-9]{0,8})",
        r"|(?:事故|事件|故障) ?#0*(?P<d>[1-9][0-9]{0,8})",
        r"|第? ?(?P<e>[1-9][0-9]{0,8}) ?号(?:事故|事件|故障)",
        r"|(?P<bare>#0*(?P<f>[1-9][0-9]{0,8})(?-u:\b))",
    ))
    .ok()
});

/// The incidents that a text names, each once; bare numbers behind a hash are none.
pub(super) fn named(text: &str) -> Vec<IncidentId> {
    let chars: Vec<char> = text.chars().collect();
    let mut ids: Vec<IncidentId> = mentions(&chars)
        .into_iter()
        .filter(|mention| !mention.bare)
        .map(|mention| mention.id)
        .collect();
    ids.sort_unstable();
    ids.dedup();
    ids
}

/// What a bare number counts where it stands behind such a word; whether a pull request of that
/// number is known is grounding's matter.
const NUMBERED: &[&str] = &[
    "pr",
    "mr",
    "pull request",
    "merge request",
    "合并请求",
    "工单",
    "hypothesis",
    "step",
    "card",
    "option",
    "cause",
    "priority",
    "phase",
    "item",
    "point",
    "假设",
    "步骤",
    "方案",
    "优先级",
];

fn mentions(chars: &[char]) -> Vec<Mention> {
    let Some(pattern) = IN_PROSE.as_ref() else {
        return Vec::new();
    };
    let folded: String = chars
        .iter()
        .map(|c| narrow(*c).to_ascii_lowercase())
        .collect();
    let mut out = Vec::new();
    let (mut byte, mut position) = (0, 0);
    for captures in pattern.captures_iter(&folded) {
        let Some(whole) = captures.get(0) else {
            continue;
        };
        let number = ["a", "b", "c", "d", "e", "f"]
            .iter()
            .find_map(|name| captures.name(name));
        let Some(id) = number
            .and_then(|number| number.as_str().parse().ok())
            .and_then(IncidentId::new)
        else {
            continue;
        };
        position += folded
            .get(byte..whole.start())
            .unwrap_or_default()
            .chars()
            .count();
        byte = whole.start();
        let tail = folded.get(whole.end()..).unwrap_or_default();
        let head = folded.get(..whole.start()).unwrap_or_default();
        // `incident 2026-05-14`, `incident 30 minutes ago`: numbers, not ids.
        let lead = number
            .and_then(|number| folded.get(whole.start()..number.start()))
            .unwrap_or_default();
        let marked =
            lead.contains(['#', '0', '-']) || lead.chars().any(crate::incident::id::is_dash);
        let loose =
            (captures.name("incident").is_some() || captures.name("inc").is_some()) && !marked;
        if goes_on(tail) || (loose && is_counted(tail)) {
            continue;
        }
        let bare = captures.name("bare").is_some();
        if bare {
            let glued = head
                .chars()
                .next_back()
                .is_some_and(|c| c.is_ascii_alphanumeric() || matches!(c, '&' | '/' | '<'));
            let numbered = NUMBERED.iter().any(|word| head.trim_end().ends_with(word));
            if glued || numbered {
                continue;
            }
        }
        out.push(Mention {
            start: position,
            end: position + whole.as_str().chars().count(),
            id,
            bare,
        });
    }
    out
}

/// The number goes on as a date, a clock, a decimal or a percentage.
fn goes_on(tail: &str) -> bool {
    let mut next = tail.chars();
    match next.next() {
        Some('-' | ':' | '.' | '/') => next.next().is_some_and(|c| c.is_ascii_digit()),
        Some('%') => true,
        _ => false,
    }
}

/// What follows says that the number counts something.
fn is_counted(tail: &str) -> bool {
    static COUNTED: LazyLock<Option<Regex>> = LazyLock::new(|| {
        Regex::new(r"^ ?(?:(?:milliseconds?|ms|seconds?|secs?|minutes?|mins?|hours?|hrs?|days?|weeks?|months?|years?|s|m|h|d|times?|percent|users?|customers?|pods?|requests?|people|replicas?|of)(?-u:\b)|[次起分小时天个月年人秒])").ok()
    });
    COUNTED
        .as_ref()
        .is_some_and(|counted| counted.is_match(tail))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::incident::PastIncident;

    fn memory(graded: &[(u32, Grade)]) -> Memory {
        Memory::Searched {
            searched: 9,
            on_service: 9,
            recalled: graded
                .iter()
                .filter_map(|(number, grade)| {
                    Some(Recalled {
                        incident: PastIncident::new(IncidentId::new(*number)?, "title"),
                        similarity: 0.9,
                        shares_signature: false,
                        grade: *grade,
                    })
                })
                .collect(),
        }
    }

    fn kept(written: &[&str]) -> (Vec<u32>, usize) {
        let memory = memory(&[
            (12, Grade::DirectMatch),
            (43, Grade::Analogy),
            (33, Grade::Low),
        ]);
        let written: Vec<String> = written.iter().map(|text| (*text).to_owned()).collect();
        let mut log = Log::default();
        let kept = survivors_among(&written, &memory, &[], "refs", &mut log)
            .iter()
            .map(|recalled| recalled.incident.id.number())
            .collect();
        (kept, log.into_corrections().len())
    }

    #[test]
    fn r1_invented_and_duplicate_references_are_dropped_and_recorded() {
        // An empty reference proposes nothing, so dropping it is no change.
        assert_eq!(kept(&["INC-0099", "nonsense", ""]), (vec![], 2));
        assert_eq!(
            kept(&["12", "#12", "INC-12", "ＩＮＣ－１２"]),
            (vec![12], 3)
        );
        assert_eq!(kept(&["INC-0043", "inc 12"]), (vec![43, 12], 0));
    }

    #[test]
    fn r2_low_memories_are_not_citable() {
        assert_eq!(kept(&["INC-0033"]), (vec![], 1));
    }

    fn struck(text: &str, phrases: bool) -> String {
        let memory = memory(&[(12, Grade::DirectMatch), (33, Grade::Low)]);
        Nameable::new(
            &memory,
            "a duplicate of INC-777? ticket #4711",
            IncidentId::new(107),
        )
        .strike(text, phrases)
    }

    #[test]
    fn r1_what_is_no_id_or_a_known_one_stays_in_prose() {
        for text in [
            "as in INC-0012",
            "like incident #12 and inc 12",
            "since 12 minutes, in 2026",
            "see INC-0777 and ticket #4711",
            "the incident 30 minutes ago",
            "incident 2026-05-14 at incident 02:41",
            "zinc 99 and principal 3",
            "hypothesis #1, then step #2",
            "事故 3 次，这是第 2 次",
            "http://x/#99",
            "与 INC-12 相同",
            "this is INC-0107",
            "incident 12% of the time",
        ] {
            assert_eq!(struck(text, false), text);
            assert_eq!(struck(text, true), text);
        }
    }

    #[test]
    fn r1_unknown_ids_in_prose_are_struck() {
        for (text, expected) in [
            ("Same as INC-0099. The pool is empty.", "The pool is empty."),
            ("与INC-0033相同，连接池已满。", "连接池已满。"),
            ("与 INC-0033 相同。", ""),
            ("As in INC-0099 the pool is empty", "the pool is empty"),
            ("ＩＮＣ－００９９ again: pool empty", "again: pool empty"),
            (
                "restart it (as in INC-99), then wait",
                "restart it, then wait",
            ),
            ("like incident 98", ""),
            ("see incident no. 98 (#99): pool empty", "pool empty"),
            ("restart it (INC‑99)", "restart it"),
            ("事故编号 99 的做法是重启连接池", "的做法是重启连接池"),
            ("第99号事故，连接池已满", "连接池已满"),
            ("INC-1 and INC-12", "INC-12"),
            ("inc99", ""),
        ] {
            assert_eq!(struck(text, false), expected, "{text}");
        }
        assert_eq!(
            struck("Same as INC-0099: pool exhausted", true),
            "pool exhausted"
        );
        assert_eq!(struck("与INC-0099相同的连接池问题", true), "连接池问题");
        assert_eq!(
            struck("Pool exhausted, see INC-0099. It leaks.", true),
            "Pool exhausted. It leaks."
        );
    }
}

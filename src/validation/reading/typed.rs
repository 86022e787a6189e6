//! From a JSON value to the plain types: what was meant by a field, whatever its shape.
//!
//! Every function here takes any value and answers; what can't be meant by the field is missing.

use super::embedded;
use crate::incident::IncidentId;
use crate::incident::Severity;
use crate::incident::proposal::{
    Proposal, ProposedAnswer, ProposedHypothesis, ProposedRuledOut, ProposedStep, ProposedTriage,
    ProposedUpdate, Risk,
};
use serde_json::{Map, Value};
use std::collections::BTreeMap;
use unicode_normalization::UnicodeNormalization;

/// A field of the wire: its name first, then other names that can mean nothing else there.
type Names = &'static [&'static str];

/// The fields of one answer.
pub(super) type Keys = &'static [Names];

const SUMMARY: Names = &["summary", "摘要", "概述", "总结"];
const SEVERITY_ASSESSMENT: Names = &["severity_assessment", "严重程度评估"];
const VERDICT: Names = &["memory_verdict", "历史结论"];
const HYPOTHESES: Names = &[
    "hypotheses",
    "hypothesis",
    "possible_causes",
    "likely_causes",
    "假设",
    "可能原因",
];
const NEXT_STEPS: Names = &[
    "next_steps",
    "next_step",
    "recommended_steps",
    "steps",
    "下一步",
    "后续步骤",
];
const RULED_OUT: Names = &["ruled_out_by_history", "ruled_out", "已排除"];
const UPDATE_TEXT: Names = &["stakeholder_update", "对外通报", "干系人更新"];
const SAFETY: Names = &["safety_notes", "safety_note", "安全提示"];

pub(super) const ANALYSIS: Keys = &[
    SUMMARY,
    SEVERITY_ASSESSMENT,
    VERDICT,
    HYPOTHESES,
    NEXT_STEPS,
    RULED_OUT,
    UPDATE_TEXT,
    SAFETY,
];

const TITLE: Names = &["title", "标题"];
const SERVICE: Names = &["service", "service_name", "服务"];
const SEVERITY: Names = &["severity", "严重程度", "级别"];
const SYMPTOMS: Names = &["symptoms", "symptom", "症状", "现象"];
const SIGNATURES: Names = &["error_signatures", "error_signature", "errors", "错误特征"];
const QUERY: Names = &["recall_query", "query", "检索词"];

pub(super) const TRIAGE: Keys = &[TITLE, SERVICE, SEVERITY, SYMPTOMS, SIGNATURES, QUERY];

const ANSWER: Names = &["answer", "回答", "答案"];
const REFS: Names = &[
    "memory_refs",
    "memory_ref",
    "refs",
    "references",
    "memory_references",
    "incident_refs",
    "incident_ids",
    "引用",
];
const EVIDENCE: Names = &["evidence", "quotes", "supporting_evidence", "证据"];

pub(super) const FOLLOW_UP: Keys = &[ANSWER, REFS, EVIDENCE, NEXT_STEPS];

const IMPACT: Names = &["impact", "影响"];
const SINCE: Names = &["since", "since_when", "开始时间"];
const KNOWN: Names = &["known", "已知"];
const NOT_CONFIRMED: Names = &["not_confirmed", "unconfirmed", "未确认"];
const DOING: Names = &["doing", "正在进行", "处理中"];
const NEEDED: Names = &["needed", "需要"];
const CHANGED: Names = &["changed_since", "changed", "变化"];
const NEXT_UPDATE: Names = &["next_update_minutes", "next_update", "下次更新"];

pub(super) const UPDATE: Keys = &[
    IMPACT,
    SINCE,
    KNOWN,
    NOT_CONFIRMED,
    DOING,
    NEEDED,
    CHANGED,
    NEXT_UPDATE,
];

/// An object whose keys are compared without regard to case, separators and width.
struct Fields<'v>(BTreeMap<String, &'v Value>);

impl<'v> Fields<'v> {
    fn of(map: &'v Map<String, Value>) -> Self {
        let mut fields = BTreeMap::new();
        for (key, value) in map {
            let name = fold_key(key);
            // An exact key counts before one that only folds to it.
            if *key == name || !fields.contains_key(&name) {
                fields.insert(name, value);
            }
        }
        Self(fields)
    }

    fn get(&self, names: Names) -> Option<&'v Value> {
        names
            .iter()
            .filter_map(|name| self.0.get(*name).copied())
            .find(|value| !is_missing(value))
    }

    fn text(&self, names: Names) -> String {
        self.get(names).map(text).unwrap_or_default()
    }

    fn texts(&self, names: Names) -> Vec<String> {
        self.get(names).map(texts).unwrap_or_default()
    }

    fn refs(&self, names: Names) -> Vec<String> {
        self.get(names).map(refs).unwrap_or_default()
    }
}

/// `nextSteps`, `Next Steps` and `next-steps` are `next_steps`.
fn fold_key(key: &str) -> String {
    let mut folded = String::new();
    let mut lower_before = false;
    for c in key.nfkc() {
        if c.is_alphanumeric() {
            if c.is_uppercase() && lower_before && !folded.ends_with('_') {
                folded.push('_');
            }
            folded.extend(c.to_lowercase());
            lower_before = c.is_lowercase() || c.is_numeric();
        } else {
            if !folded.is_empty() && !folded.ends_with('_') {
                folded.push('_');
            }
            lower_before = false;
        }
    }
    while folded.ends_with('_') {
        folded.pop();
    }
    folded
}

/// How many of the keys the object has.
pub(super) fn known_keys(map: &Map<String, Value>, keys: Keys) -> usize {
    let fields = Fields::of(map);
    keys.iter()
        .filter(|names| names.iter().any(|name| fields.0.contains_key(*name)))
        .count()
}

pub(super) fn analysis(value: &Value) -> Proposal {
    let Some(map) = value.as_object() else {
        return Proposal::default();
    };
    let fields = Fields::of(map);
    let (severity, severity_reason) = fields
        .get(SEVERITY_ASSESSMENT)
        .or_else(|| fields.get(SEVERITY))
        .map(severity_and_reason)
        .unwrap_or_default();
    let (verdict_status, verdict_refs) = fields.get(VERDICT).map(verdict).unwrap_or_default();
    Proposal {
        summary: fields.text(SUMMARY),
        severity,
        severity_reason,
        verdict_status,
        verdict_refs,
        hypotheses: items(fields.get(HYPOTHESES), hypothesis),
        next_steps: steps(fields.get(NEXT_STEPS)),
        ruled_out: items(fields.get(RULED_OUT), ruled_out),
        update: fields.get(UPDATE_TEXT).map(update).unwrap_or_default(),
        safety_notes: fields.texts(SAFETY),
        cut_off: false,
        repaired: false,
    }
}

/// Whether anything was said at all.
pub(super) fn holds_content(proposal: &Proposal) -> bool {
    let empty = Proposal {
        cut_off: proposal.cut_off,
        repaired: proposal.repaired,
        ..Proposal::default()
    };
    *proposal != empty
}

pub(super) fn triage(value: &Value) -> ProposedTriage {
    let Some(map) = value.as_object() else {
        return ProposedTriage::default();
    };
    let fields = Fields::of(map);
    ProposedTriage {
        title: fields.text(TITLE),
        service: fields.text(SERVICE),
        severity: fields.get(SEVERITY).and_then(|v| severity_and_reason(v).0),
        symptoms: fields.texts(SYMPTOMS),
        error_signatures: fields.texts(SIGNATURES),
        recall_query: fields.text(QUERY),
    }
}

pub(super) fn follow_up(value: &Value) -> ProposedAnswer {
    let Some(map) = value.as_object() else {
        return ProposedAnswer::default();
    };
    let fields = Fields::of(map);
    ProposedAnswer {
        answer: fields.text(ANSWER),
        memory_refs: fields.refs(REFS),
        evidence: fields.texts(EVIDENCE),
        next_steps: steps(fields.get(NEXT_STEPS)),
        cut_off: false,
    }
}

/// An update as fields, or as text.
pub(super) fn update(value: &Value) -> ProposedUpdate {
    match value {
        Value::Object(map) => {
            let fields = Fields::of(map);
            if known_keys(map, UPDATE) == 0 {
                return ProposedUpdate {
                    free_text: text(value),
                    ..ProposedUpdate::default()
                };
            }
            ProposedUpdate {
                impact: fields.text(IMPACT),
                since: fields.text(SINCE),
                known: fields.text(KNOWN),
                not_confirmed: fields.text(NOT_CONFIRMED),
                doing: fields.text(DOING),
                needed: fields.text(NEEDED),
                changed_since: fields.text(CHANGED),
                next_update_minutes: fields.get(NEXT_UPDATE).and_then(minutes),
                free_text: String::new(),
            }
        }
        Value::String(words) if words.trim_start().starts_with('{') => {
            match embedded(words).0.as_slice() {
                [only @ Value::Object(_)] => update(only),
                _ => ProposedUpdate {
                    free_text: text(value),
                    ..ProposedUpdate::default()
                },
            }
        }
        Value::Array(list) if list.len() == 1 => list.first().map(update).unwrap_or_default(),
        _ => ProposedUpdate {
            free_text: text(value),
            ..ProposedUpdate::default()
        },
    }
}

fn hypothesis(value: &Value) -> Option<ProposedHypothesis> {
    let Some(map) = value.as_object() else {
        let title = text(value);
        return (!title.is_empty()).then(|| ProposedHypothesis {
            title,
            ..ProposedHypothesis::default()
        });
    };
    let fields = Fields::of(map);
    let hypothesis = ProposedHypothesis {
        title: fields.text(&[
            "title",
            "hypothesis",
            "cause",
            "root_cause",
            "name",
            "标题",
            "原因",
        ]),
        source: fields.text(&["source", "来源"]),
        memory_refs: fields.refs(REFS),
        evidence: fields.texts(EVIDENCE),
        contradicted_by: fields.texts(&["contradicted_by", "contradicting_evidence", "反证"]),
        confidence: fields
            .get(&["confidence", "confidence_score", "置信度"])
            .and_then(confidence),
        verify: fields.text(&["verify", "verification", "how_to_verify", "验证"]),
        fix: fields.text(&["fix", "修复"]),
        fix_ref: fields
            .get(&["fix_ref"])
            .map(refs)
            .and_then(|refs| refs.into_iter().next())
            .unwrap_or_default(),
    };
    (!hypothesis.title.is_empty()).then_some(hypothesis)
}

fn ruled_out(value: &Value) -> Option<ProposedRuledOut> {
    let Some(map) = value.as_object() else {
        let cause = text(value);
        return (!cause.is_empty()).then(|| ProposedRuledOut {
            cause,
            ..ProposedRuledOut::default()
        });
    };
    let fields = Fields::of(map);
    let ruled_out = ProposedRuledOut {
        cause: fields.text(&["cause", "title", "hypothesis", "原因"]),
        memory_refs: fields.refs(REFS),
        reason: fields.text(&["reason", "why", "理由"]),
    };
    (!ruled_out.cause.is_empty()).then_some(ruled_out)
}

fn step(value: &Value) -> Option<ProposedStep> {
    let Some(map) = value.as_object() else {
        let words = text(value);
        return (!words.is_empty()).then(|| ProposedStep {
            step: words,
            ..ProposedStep::default()
        });
    };
    let fields = Fields::of(map);
    let step = ProposedStep {
        step: fields.text(&["step", "action", "title", "description", "步骤", "操作"]),
        command: fields
            .get(&["command", "cmd", "commands", "命令"])
            .map(command)
            .unwrap_or_default(),
        risk: fields
            .get(&["risk", "risk_level", "风险"])
            .and_then(|v| risk(&text(v))),
        expect: fields.text(&["expect", "expected", "expected_result", "预期"]),
        undo: fields.text(&["undo", "rollback", "how_to_undo", "回退"]),
    };
    (!step.step.is_empty() || !step.command.is_empty()).then_some(step)
}

fn risk(word: &str) -> Option<Risk> {
    Risk::parse(word).or(match word {
        "只读" => Some(Risk::ReadOnly),
        "可逆" | "可回退" => Some(Risk::Reversible),
        "有风险" | "高风险" => Some(Risk::Risky),
        "破坏性" => Some(Risk::Destructive),
        _ => None,
    })
}

/// A command as text; a list is its words where no item holds a space, else its lines.
fn command(value: &Value) -> String {
    match value {
        Value::Array(list) => {
            let words: Vec<String> = list.iter().map(text).filter(|t| !t.is_empty()).collect();
            if words.len() > 1 && words.iter().all(|word| !word.contains(char::is_whitespace)) {
                words.join(" ")
            } else {
                words.join("\n")
            }
        }
        _ => text(value),
    }
}

/// A list of things, however it was written: a list, one of them, a string that holds them.
fn items<T>(value: Option<&Value>, read: fn(&Value) -> Option<T>) -> Vec<T> {
    let Some(value) = value else {
        return Vec::new();
    };
    match value {
        Value::Array(list) => list
            .iter()
            .flat_map(|item| match item {
                Value::Array(inner) => inner.iter().filter_map(read).collect::<Vec<T>>(),
                Value::String(words) if words.trim_start().starts_with('{') => {
                    embedded(words).0.iter().filter_map(read).collect()
                }
                item => read(item).into_iter().collect(),
            })
            .collect(),
        Value::String(words) if words.contains('{') => {
            let inside: Vec<Value> = embedded(words).0;
            inside
                .iter()
                .flat_map(|value| match value {
                    Value::Array(list) => list.iter().filter_map(read).collect::<Vec<T>>(),
                    value => read(value).into_iter().collect(),
                })
                .collect()
        }
        Value::String(words) => split_points(words)
            .into_iter()
            .filter_map(|line| read(&Value::String(line)))
            .collect(),
        Value::Object(map) => {
            if let Some(one) = read(value) {
                return vec![one];
            }
            // {"1": {...}, "2": {...}}
            map.values()
                .filter(|v| v.is_object())
                .filter_map(read)
                .collect()
        }
        _ => Vec::new(),
    }
}

fn steps(value: Option<&Value>) -> Vec<ProposedStep> {
    items(value, step)
}

/// One long string as points: its lines without their numbers or bullets, or, where it is one line
/// with 1., 2., 3. in it, the parts between these.
fn split_points(words: &str) -> Vec<String> {
    let lines: Vec<&str> = words
        .lines()
        .map(str::trim)
        .filter(|line| !line.is_empty())
        .collect();
    let lines: Vec<String> = match lines.as_slice() {
        [line] => split_numbered(line),
        lines => lines.iter().map(|line| (*line).to_owned()).collect(),
    };
    lines
        .iter()
        .map(|line| strip_bullet(line).to_owned())
        .filter(|line| !line.is_empty() && !is_null_word(line))
        .collect()
}

fn split_numbered(line: &str) -> Vec<String> {
    let mut parts: Vec<String> = Vec::new();
    let mut rest = line;
    let mut number = 1u32;
    let begins = |text: &str, n: u32| {
        [".", ")", "、", "．", "）"]
            .iter()
            .filter_map(|end| text.strip_prefix(&format!("{n}{end}")))
            .any(|rest| !rest.starts_with(|c: char| c.is_ascii_digit()))
    };
    if !begins(rest, 1) {
        return vec![line.to_owned()];
    }
    loop {
        number += 1;
        let next = rest
            .char_indices()
            .skip(1)
            .zip(rest.chars())
            .find(|((at, _), before)| {
                (before.is_whitespace() || matches!(before, ';' | '；' | '。' | ','))
                    && rest.get(*at..).is_some_and(|tail| begins(tail, number))
            })
            .map(|((at, _), _)| at);
        let Some(at) = next else {
            parts.push(rest.trim().to_owned());
            return parts;
        };
        let (part, tail) = rest.split_at(at);
        parts.push(part.trim().trim_end_matches([';', '；', ',']).to_owned());
        rest = tail;
    }
}

fn strip_bullet(line: &str) -> &str {
    let line = line.trim();
    let bare = line.trim_start_matches(['-', '*', '•', '·', '–']);
    if bare.len() < line.len() && bare.starts_with(char::is_whitespace) {
        return bare.trim();
    }
    let word = line
        .strip_prefix("Step ")
        .or_else(|| line.strip_prefix("step "))
        .unwrap_or(line);
    let digits = word.trim_start_matches(|c: char| c.is_ascii_digit());
    let count = word.len() - digits.len();
    if (1..=2).contains(&count) {
        for end in [".", ")", ":", "、", "．", "）", "："] {
            if let Some(rest) = digits.strip_prefix(end) {
                // `2.5` is a number, not a point.
                if !rest.starts_with(|c: char| c.is_ascii_digit()) {
                    return rest.trim();
                }
            }
        }
    }
    line
}

fn severity_and_reason(value: &Value) -> (Option<Severity>, String) {
    match value {
        Value::Object(map) => {
            let fields = Fields::of(map);
            let severity = fields
                .get(&["severity", "level", "sev", "级别", "严重程度"])
                .and_then(|v| severity_and_reason(v).0);
            (
                severity,
                fields.text(&["reason", "rationale", "justification", "理由", "原因"]),
            )
        }
        Value::Array(list) if list.len() == 1 => {
            list.first().map(severity_and_reason).unwrap_or_default()
        }
        _ => {
            let words: String = text(value).nfkc().collect();
            if let Some(severity) = Severity::parse(&words) {
                return (Some(severity), String::new());
            }
            // "SEV2: a major function fails", "SEV2 - ..."
            let mut parts = words.splitn(2, [':', ',', '(', '\u{2013}', '\u{2014}', ' ']);
            let head = parts.next().unwrap_or_default();
            let named = head.to_ascii_lowercase();
            if named.starts_with("sev") || named.starts_with('p') {
                let reason = parts
                    .next()
                    .unwrap_or_default()
                    .trim_matches([' ', '-', ':', '(', ')', '\u{2013}', '\u{2014}']);
                if let Some(severity) = Severity::parse(head) {
                    return (Some(severity), reason.to_owned());
                }
            }
            (None, words)
        }
    }
}

fn verdict(value: &Value) -> (String, Vec<String>) {
    match value {
        Value::Object(map) => {
            let fields = Fields::of(map);
            (
                fields.text(&["status", "verdict", "状态"]),
                fields.refs(REFS),
            )
        }
        Value::Array(_) => (String::new(), refs(value)),
        _ => (text(value), Vec::new()),
    }
}

// Leaves.

/// What stands for "nothing".
fn is_null_word(word: &str) -> bool {
    matches!(
        word.trim().to_lowercase().as_str(),
        "" | "null" | "none" | "nil" | "n/a" | "undefined" | "nan" | "<null>" | "无"
    )
}

fn is_missing(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::String(words) => is_null_word(words),
        _ => false,
    }
}

/// A text, whatever it was written as: a list is joined, of an object its text is taken.
pub(super) fn text(value: &Value) -> String {
    text_at(value, 0)
}

fn text_at(value: &Value, depth: usize) -> String {
    if depth > 8 {
        return String::new();
    }
    match value {
        Value::Null => String::new(),
        Value::Bool(truth) => truth.to_string(),
        Value::Number(number) => number.to_string(),
        Value::String(words) => {
            if is_null_word(words) {
                String::new()
            } else {
                words.trim().to_owned()
            }
        }
        Value::Array(list) => {
            let parts: Vec<String> = list
                .iter()
                .map(|item| text_at(item, depth + 1))
                .filter(|part| !part.is_empty())
                .collect();
            parts.join(" ")
        }
        Value::Object(map) => {
            let fields = Fields::of(map);
            for name in [
                "text",
                "value",
                "content",
                "quote",
                "message",
                "description",
                "summary",
            ] {
                if let Some(inner) = fields.0.get(name) {
                    let words = text_at(inner, depth + 1);
                    if !words.is_empty() {
                        return words;
                    }
                }
            }
            // No one text: say all of it rather than lose some.
            let parts: Vec<String> = map
                .iter()
                .map(|(key, inner)| (key, text_at(inner, depth + 1)))
                .filter(|(key, words)| !words.is_empty() && fold_key(key) != "type")
                .map(|(key, words)| format!("{key}: {words}"))
                .collect();
            parts.join("; ")
        }
    }
}

/// A list of texts: quotes, symptoms, notes.
fn texts(value: &Value) -> Vec<String> {
    match value {
        Value::Array(list) => list
            .iter()
            .flat_map(|item| match item {
                Value::Array(_) => texts(item),
                item => vec![text(item)],
            })
            .filter(|words| !words.is_empty())
            .collect(),
        Value::String(words) => {
            let trimmed = words.trim();
            if trimmed.starts_with('[')
                && let [only @ Value::Array(_)] = embedded(trimmed).0.as_slice()
            {
                return texts(only);
            }
            let bulleted = trimmed
                .lines()
                .filter(|line| !line.trim().is_empty())
                .count()
                > 1
                && trimmed
                    .lines()
                    .filter(|line| !line.trim().is_empty())
                    .all(|line| strip_bullet(line).len() < line.trim().len());
            if bulleted {
                return split_points(trimmed);
            }
            let one = text(value);
            if one.is_empty() {
                Vec::new()
            } else {
                vec![one]
            }
        }
        other => {
            let one = text(other);
            if one.is_empty() {
                Vec::new()
            } else {
                vec![one]
            }
        }
    }
}

/// References as written, one by one: R1 reads them.
pub(super) fn refs(value: &Value) -> Vec<String> {
    let mut found = Vec::new();
    collect_refs(value, 0, &mut found);
    found
}

fn collect_refs(value: &Value, depth: usize, found: &mut Vec<String>) {
    if depth > 8 {
        return;
    }
    match value {
        Value::Null | Value::Bool(_) => {}
        Value::Number(number) => {
            // 12.0 is 12; 12.5 is no incident.
            let whole = number.as_u64().or_else(|| {
                number
                    .as_f64()
                    .filter(|f| f.fract() == 0.0 && *f > 0.0 && *f < 1e9)
                    .map(|f| f as u64)
            });
            found.push(whole.map_or_else(|| number.to_string(), |n| n.to_string()));
        }
        Value::String(words) => split_refs(words, found),
        Value::Array(list) => {
            for item in list {
                collect_refs(item, depth + 1, found);
            }
        }
        Value::Object(map) => {
            let fields = Fields::of(map);
            for name in [
                "incident_id",
                "id",
                "ref",
                "incident",
                "reference",
                "memory_ref",
                "refs",
                "memory_refs",
                "incidents",
            ] {
                if let Some(inner) = fields.0.get(name) {
                    collect_refs(inner, depth + 1, found);
                    return;
                }
            }
            // {"INC-0012": "same error"}
            for key in map.keys() {
                if IncidentId::parse(key).is_some() {
                    found.push(key.clone());
                }
            }
        }
    }
}

/// `INC-12, INC-13`, `INC-12 and #13`, `INC-0012 (same pool)`.
fn split_refs(words: &str, found: &mut Vec<String>) {
    let words = words.trim();
    if is_null_word(words) {
        return;
    }
    if IncidentId::parse(words).is_some() {
        found.push(words.to_owned());
        return;
    }
    let folded: String = words.nfkc().collect();
    let mut any = false;
    for part in folded.split([',', ';', '、', '/', '|', '&', '\n']) {
        for part in part.split(" and ").flat_map(|p| p.split('和')) {
            let part = part.trim().trim_matches(['[', ']', '"', '\'', '`']).trim();
            if part.is_empty() {
                continue;
            }
            any = true;
            if IncidentId::parse(part).is_some() {
                found.push(part.to_owned());
                continue;
            }
            let inside = marked_ids(part);
            if inside.is_empty() {
                found.push(part.to_owned());
            } else {
                found.extend(inside);
            }
        }
    }
    if !any {
        found.push(words.to_owned());
    }
}

/// Ids with their mark (`INC-12`, `#12`) inside other words.
fn marked_ids(part: &str) -> Vec<String> {
    let mut ids = Vec::new();
    for word in part.split(|c: char| c.is_whitespace() || matches!(c, '(' | ')' | ':' | '"')) {
        // `INC-1…` was cut: which incident was meant is not known.
        if word.ends_with("...") {
            continue;
        }
        let word = word.trim_end_matches('.');
        let lower = word.to_ascii_lowercase();
        if (lower.starts_with("inc") || lower.starts_with('#')) && IncidentId::parse(word).is_some()
        {
            ids.push(word.to_owned());
        }
    }
    ids
}

/// A confidence as *The wire* says: a number strictly between 0 and 1 is a fraction, rounded half
/// up to a percentage; with a percent sign never a fraction; out of range is clamped; words, NaN
/// and infinities are missing.
pub(super) fn confidence(value: &Value) -> Option<u8> {
    match value {
        Value::Number(number) => number.as_f64().and_then(|f| percentage(f, false)),
        Value::String(words) => confidence_text(words),
        Value::Array(list) if list.len() == 1 => list.first().and_then(confidence),
        Value::Object(map) => {
            let fields = Fields::of(map);
            fields
                .get(&["value", "score", "confidence", "percent", "percentage"])
                .filter(|inner| !inner.is_object())
                .and_then(confidence)
        }
        _ => None,
    }
}

fn confidence_text(words: &str) -> Option<u8> {
    let folded: String = words.nfkc().collect::<String>().to_lowercase();
    let mut rest = folded.trim();
    for about in [
        "~",
        "≈",
        "about",
        "around",
        "approximately",
        "approx.",
        "ca.",
        "约",
        "大约",
    ] {
        if let Some(tail) = rest.strip_prefix(about) {
            rest = tail.trim_start();
            break;
        }
    }
    let mut percent = false;
    for sign in ["%", "percent", "per cent"] {
        if let Some(head) = rest.strip_suffix(sign) {
            rest = head.trim_end();
            percent = true;
            break;
        }
    }
    if let Some(tail) = rest.strip_prefix("百分之") {
        rest = tail.trim();
        percent = true;
    }
    // "7/10" and "72/100" say their own scale.
    if !percent
        && let Some((part, of)) = rest.split_once('/')
        && matches!(of.trim(), "10" | "100")
    {
        let (part, of) = (plain_number(part.trim())?, plain_number(of.trim())?);
        return percentage(part * 100.0 / of, true);
    }
    percentage(plain_number(rest)?, percent)
}

/// Digits with at most one point and a sign: `inf`, `1e5` and hexadecimal are no confidences.
fn plain_number(text: &str) -> Option<f64> {
    let unsigned = text.strip_prefix(['-', '+']).unwrap_or(text);
    let plain = unsigned.chars().any(|c| c.is_ascii_digit())
        && unsigned.chars().all(|c| c.is_ascii_digit() || c == '.');
    if plain { text.parse().ok() } else { None }
}

fn percentage(number: f64, percent: bool) -> Option<u8> {
    if !number.is_finite() {
        return None;
    }
    let hundredths = if !percent && number > 0.0 && number < 1.0 {
        number * 100.0
    } else {
        number
    };
    // The small term keeps 0.285 from becoming 28.499999 and then 28.
    Some((hundredths + 0.5 + 1e-9).floor().clamp(0.0, 100.0) as u8)
}

/// Minutes until the next update: a number, `30 minutes`, `1 hour`.
fn minutes(value: &Value) -> Option<u32> {
    let words: String = text(value).nfkc().collect::<String>().to_lowercase();
    let words = words.trim();
    let digits: String = words
        .chars()
        .take_while(|c| c.is_ascii_digit() || *c == '.')
        .collect();
    let number: f64 = digits.parse().ok()?;
    let unit = words.strip_prefix(digits.as_str())?.trim();
    let per = match unit {
        "" | "m" | "min" | "mins" | "minute" | "minutes" | "分钟" => 1.0,
        "h" | "hour" | "hours" | "小时" => 60.0,
        _ => return None,
    };
    let total = (number * per).round();
    (1.0..=7.0 * 24.0 * 60.0)
        .contains(&total)
        .then_some(total as u32)
}

/// Words with which models decline. Only looked for where nothing else was said.
pub(super) fn is_refusal(text: &str) -> bool {
    let lower = text.to_lowercase().replace('’', "'");
    [
        "i cannot help",
        "i can't help",
        "i cannot assist",
        "i can't assist",
        "i'm sorry, but i can",
        "i am sorry, but i can",
        "sorry, i can't",
        "sorry, i cannot",
        "i'm unable to",
        "i am unable to",
        "as an ai",
        "抱歉,我无法",
        "抱歉，我无法",
        "抱歉，我不能",
        "很抱歉，我无法",
        "我无法协助",
        "我不能协助",
    ]
    .iter()
    .any(|start| lower.trim_start().starts_with(start))
}

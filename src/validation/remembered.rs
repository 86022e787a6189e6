//! Claims about a past incident that its own record contradicts are marked (R20).
//!
//! Wanted: who reads "a restart fixed it in INC-0055" learns at once that the record says *came
//! back*. The claim stays, for it may be all that the answer is about, and carries what memory says.
//!
//! Design: only a clause that names one recalled incident is looked at, and only for what the record
//! answers: whether a fix worked, which fix it was, which cause it had. Few and certain, as with
//! contradictions by the report: where the record leaves it open, or holds several attempts of
//! which one fits, nothing is marked. Other words for the same thing are no contradiction, so a
//! cause or fix counts as another one only where it is what a *different* record says, what this
//! record ruled out, or shares no word with it.
//!
//! Deliberately absent: claims that name no incident. What they rest on is R3's matter.

use super::references;
use super::text::clauses;
use crate::incident::sameness::{Likeness, Phrase, negates};
use crate::incident::words::{fold, meaningful};
use crate::incident::{Grade, Locale, Memory, Outcome, PastIncident, Recalled};
use regex::Regex;
use std::sync::LazyLock;

/// What a record says against a clause.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Against {
    Outcome(Outcome),
    AnotherFix,
    AnotherCause,
    /// The cause that it denies is the recorded one.
    WasTheCause,
    RuledOut,
}

impl Against {
    fn mark(self, locale: Locale) -> String {
        let (en, zh) = match self {
            Self::Outcome(Outcome::NoEffect) => ("it had no effect", "没有效果"),
            Self::Outcome(Outcome::CameBack) => ("it came back", "之后复发"),
            Self::Outcome(Outcome::MadeWorse) => ("it made things worse", "情况变得更糟"),
            Self::Outcome(_) => ("it held", "修复有效"),
            Self::AnotherFix => ("the fix was another one", "修复方法并非如此"),
            Self::AnotherCause => ("the cause was another one", "原因并非如此"),
            Self::WasTheCause => ("this was the cause there", "当时的原因正是它"),
            Self::RuledOut => ("this was ruled out there", "当时已排除"),
        };
        match locale {
            Locale::En => format!(" (memory says: {en})"),
            Locale::Zh => format!("（记忆中的记录：{zh}）"),
        }
    }
}

/// The text with a mark behind each clause that a record contradicts.
pub(super) fn marked(said: &str, memory: &Memory, locale: Locale) -> String {
    // An id has a digit.
    if memory.recalled().is_empty() || !said.chars().any(char::is_numeric) {
        return said.to_owned();
    }
    let chars: Vec<char> = said.chars().collect();
    let mut out = String::with_capacity(said.len());
    for (start, end) in clauses(&chars) {
        let clause: String = chars.get(start..end).unwrap_or_default().iter().collect();
        let Some(against) = against(&clause, memory) else {
            out.push_str(&clause);
            continue;
        };
        let body = clause.trim_end();
        let mark = against.mark(locale);
        let ending = ['.', '。', '!', '！', ';', '；', '，'];
        let kept = body.trim_end_matches(ending);
        out.push_str(kept);
        // A second reading finds its own mark and leaves it at that.
        if !kept.ends_with(mark.trim_start()) {
            out.push_str(&mark);
        }
        out.push_str(body.get(kept.len()..).unwrap_or_default());
        out.push_str(clause.get(body.len()..).unwrap_or_default());
    }
    out
}

fn against(clause: &str, memory: &Memory) -> Option<Against> {
    let ids = references::named(clause);
    let [id] = ids.as_slice() else {
        return None;
    };
    let recalled = memory
        .recalled()
        .iter()
        .find(|recalled| recalled.incident.id == *id && recalled.grade != Grade::Low)?;
    let folded = fold(clause);
    if is_asked(&folded) {
        return None;
    }
    let record = &recalled.incident;
    outcome_against(clause, &folded, record)
        .or_else(|| what_against(&folded, record, memory.recalled()))
}

/// A clause that asks, plans or supposes claims nothing of the past.
fn is_asked(folded: &str) -> bool {
    static ASKED: LazyLock<Option<Regex>> = LazyLock::new(|| {
        Regex::new(r"\b(?:whether|if|check|verify|confirm|compare|would|could|might|may|unless|should)\b|\?|是否|如果|检查|核对|确认|可能|对比").ok()
    });
    holds(&ASKED, folded)
}

fn holds(pattern: &LazyLock<Option<Regex>>, text: &str) -> bool {
    pattern
        .as_ref()
        .is_some_and(|pattern| pattern.is_match(text))
}

/// It says that something worked, or did not, and every attempt that it may mean says the opposite.
fn outcome_against(clause: &str, folded: &str, record: &PastIncident) -> Option<Against> {
    static WORKED: LazyLock<Option<Regex>> = LazyLock::new(|| {
        Regex::new(r"\b(?:fixed|resolved|solved|cured|worked|helped|restored|recovered|held|healed|successful(?:ly)?|did the trick|ended (?:it|the outage|the incident))\b|解决|恢复|修复了|修好|奏效|有效|生效|好了|成功").ok()
    });
    static FAILED: LazyLock<Option<Regex>> = LazyLock::new(|| {
        Regex::new(r"\b(?:did(?: not|n't) (?:work|help|hold|fix|resolve|solve)|no effect|had no|made (?:it|things|matters) worse|came back|failed to (?:fix|help|resolve)|in vain|useless)\b|无效|没有?效果|没用|不起作用|未能(?:解决|恢复|修复)|没能(?:解决|恢复|修复)|复发|更糟|恶化").ok()
    });
    let failed = holds(&FAILED, folded);
    let worked = !failed && holds(&WORKED, folded) && !negates(clause);
    if !failed && !worked {
        return None;
    }
    let said = meaningful(clause);
    let meant = |fix: &str| {
        let words = meaningful(fix);
        !words.is_empty()
            && (words.is_subset(&said)
                || words.intersection(&said).count() * 2 >= words.len().max(2))
    };
    let outcomes = |all: bool| -> Vec<Outcome> {
        record
            .attempts
            .iter()
            .filter(|attempt| all || meant(&attempt.fix))
            .map(|attempt| attempt.outcome)
            .collect()
    };
    let mut of = outcomes(false);
    if of.is_empty() {
        of = outcomes(true);
    }
    let is_refuted = |outcome: &Outcome| {
        matches!(
            outcome,
            Outcome::NoEffect | Outcome::CameBack | Outcome::MadeWorse
        )
    };
    let last = of.last().copied()?;
    let contradicted = if worked {
        of.iter().all(is_refuted)
    } else {
        of.iter().all(|outcome| *outcome == Outcome::Held)
    };
    contradicted.then_some(Against::Outcome(last))
}

/// It says which fix or which cause it was, and the record says another.
fn what_against(folded: &str, record: &PastIncident, recalled: &[Recalled]) -> Option<Against> {
    static FIX: LazyLock<Option<Regex>> = LazyLock::new(|| {
        Regex::new(concat!(
            r"\b(?:the )?(?:fix|remedy|solution|cure)(?: back then| there| then)? (?:was|is)(?: to)? (?P<a>[^.;,]+)|",
            r"\b(?:was|were|got|been) (?:fixed|resolved|solved|cured|mitigated) (?:by|with|through) (?P<b>[^.;,]+)|",
            r"(?:修复(?:方法|方式|措施|手段)|解决(?:方法|办法)|处理方式)(?:是|为)(?P<c>[^，。；]+)"
        ))
        .ok()
    });
    static CAUSE: LazyLock<Option<Regex>> = LazyLock::new(|| {
        Regex::new(concat!(
            r"\b(?:was|were) (?:caused|triggered) by (?P<a>[^.;,]+)|\b(?:was|were) due to (?P<b>[^.;,]+)|",
            r"\b(?:root )?(?:cause|reason)(?: of inc-?[0-9]+| there| then| back then)? was (?P<c>[^.;,]+)|",
            r"(?:根因|原因|根本原因)(?:是|为)(?P<d>[^，。；]+)|由(?P<e>[^，。；]+?)(?:引起|导致|造成)"
        ))
        .ok()
    });
    static NOT_IT: LazyLock<Option<Regex>> = LazyLock::new(|| {
        Regex::new(r"^(?:(?:in|for) inc-?[0-9]+,? )?(?:the )?(?P<a>[^.;,]{3,80}?) (?:was|were)(?: not|n't) (?:the |a )?(?:problem|cause|reason|culprit|root cause)").ok()
    });
    let first = |pattern: &LazyLock<Option<Regex>>| {
        let captures = pattern.as_ref()?.captures(folded.trim())?;
        captures
            .iter()
            .skip(1)
            .flatten()
            .next()
            .map(|said| said.as_str().trim().to_owned())
    };
    let fixes = |record: &PastIncident| -> Vec<String> {
        record
            .attempts
            .iter()
            .map(|attempt| attempt.fix.clone())
            .collect()
    };
    let others = || {
        recalled
            .iter()
            .map(|recalled| &recalled.incident)
            .filter(|other| other.id != record.id)
    };
    if let Some(said) = first(&NOT_IT) {
        let words = meaningful(&said);
        let cause = meaningful(&record.root_cause);
        let own = record.confirmed_cause().is_some();
        return (own && !words.is_empty() && words.is_subset(&cause))
            .then_some(Against::WasTheCause);
    }
    if let Some(said) = first(&FIX).filter(|said| !negates(said)) {
        let own = fixes(record);
        let other = others().flat_map(fixes).collect::<Vec<_>>();
        return (!own.is_empty() && is_another(&said, &own, &other, record))
            .then_some(Against::AnotherFix);
    }
    let said = first(&CAUSE).filter(|said| !negates(said))?;
    if record
        .ruled_out
        .iter()
        .any(|cause| alike(cause, &said) && !alike(&record.root_cause, &said))
    {
        return Some(Against::RuledOut);
    }
    let own = vec![record.root_cause.clone()];
    let other: Vec<String> = others().map(|other| other.root_cause.clone()).collect();
    (!record.root_cause.trim().is_empty() && is_another(&said, &own, &other, record))
        .then_some(Against::AnotherCause)
}

fn alike(one: &str, other: &str) -> bool {
    let (one, other) = (Phrase::new(one), Phrase::new(other));
    one.likeness(&other) >= Likeness::Near || one.contains(&other) || other.contains(&one)
}

/// It is what a different record says, or has no word in common with this one.
fn is_another(said: &str, own: &[String], other: &[String], record: &PastIncident) -> bool {
    if own.iter().any(|own| alike(own, said)) {
        return false;
    }
    if other
        .iter()
        .any(|other| !other.is_empty() && alike(other, said))
    {
        return true;
    }
    let stem = |word: &str| word.chars().take(4).collect::<String>();
    let words = |text: &str| -> Vec<String> { meaningful(text).iter().map(|w| stem(w)).collect() };
    let said = words(said);
    let mut known: Vec<String> = words(&record.title);
    known.extend(words(&record.root_cause));
    known.extend(record.symptoms.iter().flat_map(|symptom| words(symptom)));
    known.extend(
        record
            .attempts
            .iter()
            .flat_map(|attempt| words(&attempt.fix)),
    );
    said.len() >= 2 && !said.iter().any(|word| known.contains(word))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::incident::{FixAttempt, IncidentId};

    fn memory() -> Memory {
        let record = |number, fix: &str, outcome, cause: &str, ruled_out: &str| {
            let id = IncidentId::new(number).expect("not zero");
            let mut incident = PastIncident::new(id, "codes arrive late");
            incident.attempts = vec![FixAttempt::new(fix, outcome)];
            incident.root_cause = cause.to_owned();
            incident.ruled_out = vec![ruled_out.to_owned()];
            Recalled {
                incident,
                similarity: 0.8,
                shares_signature: true,
                grade: Grade::DirectMatch,
            }
        };
        Memory::Searched {
            searched: 2,
            on_service: 2,
            recalled: vec![
                record(
                    120,
                    "Turn retries down to 1 and limit sending",
                    Outcome::Held,
                    "Retries without backoff multiply the messages",
                    "A bad API key",
                ),
                record(
                    121,
                    "Restart the bridge",
                    Outcome::CameBack,
                    "Operator outage",
                    "",
                ),
                record(
                    122,
                    "关闭限流",
                    Outcome::MadeWorse,
                    "推送流量超过阈值",
                    "网络抖动",
                ),
            ],
        }
    }

    #[test]
    fn r20_what_a_record_contradicts_is_marked() {
        for (said, mark) in [
            ("A restart resolved it in INC-0121.", "came back"),
            (
                "Restarting the bridge fixed it for good (INC-121)",
                "came back",
            ),
            ("INC-0120 was caused by a bad API key.", "ruled out"),
            (
                "In INC-0120 the fix was to restart the bridge.",
                "another one",
            ),
            (
                "The root cause was operator outage in INC-0120.",
                "another one",
            ),
            (
                "In INC-0120 the retries were not the problem.",
                "was the cause",
            ),
            ("Turning retries down had no effect in INC-0120.", "it held"),
            ("INC-0122 里关闭限流解决了问题。", "worse"),
            // What the record says, or leaves open, stays as it is.
            ("In INC-0120 fewer retries and a limit cured it.", ""),
            ("INC-0120 was fixed by turning retries down.", ""),
            ("The fix was to limit sending in INC-0120.", ""),
            ("INC-0120 was caused by retries without any backoff", ""),
            (
                "Restarting the bridge did not hold in INC-0121, it came back.",
                "",
            ),
            ("Check whether the restart of INC-0121 helped.", ""),
            ("A restart may have helped in INC-0121.", ""),
            ("INC-0122 关闭限流后情况更糟。", ""),
            (
                "INC-0121 and INC-0120 were both resolved within an hour.",
                "",
            ),
            ("Retries went up; see INC-0120.", ""),
        ] {
            let out = marked(said, &memory(), Locale::En);
            assert_eq!(out != said, !mark.is_empty(), "{said} -> {out}");
            assert!(out.contains(mark), "{said} -> {out}");
            assert_eq!(marked(&out, &memory(), Locale::En), out, "twice: {said}");
        }
    }

    #[test]
    fn r20_the_mark_stands_in_its_clause() {
        assert_eq!(
            marked(
                "It fails. A restart resolved INC-0121. See below.",
                &memory(),
                Locale::En
            ),
            "It fails. A restart resolved INC-0121 (memory says: it came back). See below."
        );
        assert_eq!(
            marked("INC-0122 里关闭限流解决了问题。", &memory(), Locale::Zh),
            "INC-0122 里关闭限流解决了问题（记忆中的记录：情况变得更糟）。"
        );
    }
}

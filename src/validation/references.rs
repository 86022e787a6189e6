//! Which references survive (R1, R2), in lists and in prose.

use super::log::Log;
use crate::incident::{Grade, IncidentId, Memory, Recalled};
use crate::incident::words::fold;
use regex::Regex;
use std::sync::LazyLock;

/// The recalled set that may be cited: direct matches and analogies. Low ones were not offered (R2).
pub(super) fn citable(memory: &Memory, id: IncidentId) -> Option<&Recalled> {
    memory
        .recalled()
        .iter()
        .find(|recalled| recalled.incident.id == id && recalled.grade != Grade::Low)
}

/// The references of a list that survive, each once, in order (R1).
pub(super) fn survivors<'m>(written: &[String], memory: &'m Memory, at: &str, log: &mut Log) -> Vec<&'m Recalled> {
    let mut kept: Vec<&Recalled> = Vec::new();
    for (index, reference) in written.iter().enumerate() {
        let at = format!("{at}[{index}]");
        let Some(recalled) = IncidentId::parse(reference).and_then(|id| citable(memory, id)) else {
            log.note("R1", at, reference, "");
            continue;
        };
        if kept.iter().any(|known| known.incident.id == recalled.incident.id) {
            log.note("R1", at, reference, "");
            continue;
        }
        kept.push(recalled);
    }
    kept
}

static IN_PROSE: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(r"(?i)\binc(?:ident)?(?:[-\u{2010}-\u{2015}_ ]|\s*#|-#|\s*no\.?\s*)*0*([1-9][0-9]{0,8})\b").ok()
});

/// Ids in prose that are neither recalled nor in the report, as written.
pub(super) fn unknown_in_prose(text: &str, memory: &Memory, report: &str) -> Vec<String> {
    let Some(pattern) = IN_PROSE.as_ref() else {
        return Vec::new();
    };
    let known_in_report: Vec<IncidentId> = ids_in(pattern, &fold(report));
    // Folding keeps neither positions nor widths; ids are compared on the folded text, and struck
    // from the text as it was written wherever that has the same form.
    let folded = fold(text);
    pattern
        .captures_iter(&folded)
        .filter_map(|captures| {
            let id = captures.get(1)?.as_str().parse().ok().and_then(IncidentId::new)?;
            let known = citable(memory, id).is_some() || known_in_report.contains(&id);
            (!known).then(|| captures.get(0).map_or(String::new(), |m| m.as_str().to_owned()))
        })
        .collect()
}

fn ids_in(pattern: &Regex, folded: &str) -> Vec<IncidentId> {
    pattern
        .captures_iter(folded)
        .filter_map(|captures| captures.get(1)?.as_str().parse().ok().and_then(IncidentId::new))
        .collect()
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
        let memory = memory(&[(12, Grade::DirectMatch), (43, Grade::Analogy), (33, Grade::Low)]);
        let written: Vec<String> = written.iter().map(|text| (*text).to_owned()).collect();
        let mut log = Log::default();
        let kept = survivors(&written, &memory, "refs", &mut log)
            .iter()
            .map(|recalled| recalled.incident.id.number())
            .collect();
        (kept, log.into_corrections().len())
    }

    #[test]
    fn r1_invented_and_duplicate_references_are_dropped_and_recorded() {
        // An empty reference proposes nothing, so dropping it is no change.
        assert_eq!(kept(&["INC-0099", "nonsense", ""]), (vec![], 2));
        assert_eq!(kept(&["12", "#12", "INC-12", "ＩＮＣ－１２"]), (vec![12], 3));
        assert_eq!(kept(&["INC-0043", "inc 12"]), (vec![43, 12], 0));
    }

    #[test]
    fn r2_low_memories_are_not_citable() {
        assert_eq!(kept(&["INC-0033"]), (vec![], 1));
    }

    #[test]
    fn r1_ids_in_prose() {
        let memory = memory(&[(12, Grade::DirectMatch), (33, Grade::Low)]);
        for (text, expected) in [
            ("as in INC-0012", vec![]),
            ("as in INC-0099", vec!["inc-0099"]),
            ("与 INC-0033 相同。", vec!["inc-0033"]),
            ("like incident #98 and inc 12", vec!["incident #98"]),
            ("since 12 minutes, in 2026", vec![]),
            ("see INC-0777", vec![]),
        ] {
            assert_eq!(unknown_in_prose(text, &memory, "a duplicate of INC-777?"), expected, "{text}");
        }
    }
}

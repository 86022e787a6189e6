//! Modals: classic ones, text inputs in action rows. serenity loses the values of the newer kind.

use super::custom_id::{Action, Asked};
use super::escape::{cut, width};
use super::payload::{INPUT_PLACEHOLDER, INPUT_VALUE, MODAL_TITLE};
use super::say;
use crate::incident::{IncidentId, Locale, Severity};
use serde_json::{Value, json};

/// Names of the inputs: what a submitted modal is read by.
pub mod input {
    /// The report.
    pub const REPORT: &str = "report";
    /// The service.
    pub const SERVICE: &str = "service";
    /// The severity.
    pub const SEVERITY: &str = "severity";
    /// The root cause.
    pub const CAUSE: &str = "cause";
    /// The fix.
    pub const FIX: &str = "fix";
    /// What was excluded, one a line.
    pub const RULED_OUT: &str = "ruled_out";
    /// What would prevent it.
    pub const PREVENTION: &str = "prevention";
    /// What it was, in a line.
    pub const TITLE: &str = "title";
    /// What became of the fix.
    pub const OUTCOME: &str = "outcome";
    /// What was asked of whoever pressed.
    pub const TOLD: &str = "told";
}

/// What the modal of `/resolve` begins with: from the confirmed card and the tried fix.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Prefill {
    /// Root cause.
    pub cause: String,
    /// Fix.
    pub fix: String,
    /// What was excluded, one a line.
    pub ruled_out: String,
    /// What would prevent it.
    pub prevention: String,
}

/// The modal of `/analyze` without a report. What was typed with the command is kept in it.
pub fn analyze_modal(
    locale: Locale,
    report: &str,
    service: &str,
    severity: Option<Severity>,
) -> Value {
    let severity = severity
        .map(|severity| severity.to_string())
        .unwrap_or_default();
    modal(
        Action::AnalyzeModal,
        say::analyze_title(locale),
        vec![
            row(
                input::REPORT,
                say::report_input(locale),
                true,
                true,
                INPUT_VALUE,
                report,
            ),
            row(
                input::SERVICE,
                say::service_input(locale),
                false,
                false,
                80,
                service,
            ),
            row(
                input::SEVERITY,
                say::severity_input(locale),
                false,
                false,
                10,
                &severity,
            ),
        ],
    )
}

/// The modal that asks one thing where nothing is known yet.
pub fn tell_modal(locale: Locale, incident: IncidentId, what: Asked, before: &str) -> Value {
    modal(
        Action::Tell { incident, what },
        say::asked(locale, what),
        vec![row(
            input::TOLD,
            (say::asked(locale, what), say::asked_example(locale, what)),
            what != Asked::Since,
            true,
            500,
            before,
        )],
    )
}

/// The modal of `/resolve`.
pub fn resolve_modal(
    locale: Locale,
    incident: IncidentId,
    worked: Option<bool>,
    prefill: &Prefill,
) -> Value {
    modal(
        Action::ResolveModal { incident, worked },
        &say::resolve_title(locale, incident),
        vec![
            row(
                input::CAUSE,
                say::cause_input(locale),
                true,
                false,
                1_000,
                &prefill.cause,
            ),
            row(
                input::FIX,
                say::fix_input(locale, worked),
                true,
                false,
                1_000,
                &prefill.fix,
            ),
            row(
                input::RULED_OUT,
                say::ruled_out_input(locale),
                true,
                false,
                1_000,
                &prefill.ruled_out,
            ),
            row(
                input::PREVENTION,
                say::prevention_input(locale),
                true,
                false,
                1_000,
                &prefill.prevention,
            ),
        ],
    )
}

pub(super) fn modal(action: Action, title: &str, rows: Vec<Value>) -> Value {
    json!({
        "custom_id": action.encode(),
        "title": cut(title, MODAL_TITLE),
        "components": rows,
    })
}

pub(super) fn row(
    name: &str,
    (label, placeholder): (&str, &str),
    paragraph: bool,
    required: bool,
    most: usize,
    value: &str,
) -> Value {
    let mut input = json!({
        "type": 4,
        "custom_id": name,
        "label": cut(label, MODAL_TITLE),
        "style": if paragraph { 2 } else { 1 },
        "placeholder": cut(placeholder, INPUT_PLACEHOLDER),
        "required": required,
        "max_length": most,
    });
    // A short input takes no line break; hidden characters would come back with the answer.
    let value = if paragraph {
        super::escape::plain_lines(value)
    } else {
        super::escape::plain(value)
    };
    let value = cut(&value, most);
    debug_assert!(width(&value) <= most);
    if !value.is_empty()
        && let Some(map) = input.as_object_mut()
    {
        map.insert("value".into(), json!(value));
    }
    json!({ "type": 1, "components": [input] })
}

#[cfg(test)]
mod tests {
    use super::super::checks::{id, text};
    use super::*;
    use proptest::prelude::*;

    fn faults(modal: &Value) -> Vec<String> {
        let mut faults = Vec::new();
        let length = |value: &Value| value.as_str().map_or(0, width);
        if !(1..=45).contains(&length(&modal["title"])) {
            faults.push("title".into());
        }
        let id = modal["custom_id"].as_str().unwrap_or_default();
        if id.len() > 100 || Action::parse(id).is_none() {
            faults.push("custom id".into());
        }
        let rows = modal["components"].as_array().cloned().unwrap_or_default();
        if !(1..=5).contains(&rows.len()) {
            faults.push("rows".into());
        }
        for row in &rows {
            let input = &row["components"][0];
            if row["components"].as_array().map(Vec::len) != Some(1) || input["type"] != 4 {
                faults.push("one text input a row".into());
            }
            let most = input["max_length"].as_u64().unwrap_or_default() as usize;
            if !(1..=45).contains(&length(&input["label"]))
                || length(&input["placeholder"]) > 100
                || !(1..=4_000).contains(&most)
                || length(&input["value"]) > most
                || input.get("value").is_some_and(|value| length(value) == 0)
            {
                faults.push(format!("input {input}"));
            }
        }
        faults
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 32, max_shrink_iters: 60, failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn any_modal_is_legal(text in text(), zh in any::<bool>(), worked in any::<Option<bool>>()) {
            let locale = if zh { Locale::Zh } else { Locale::En };
            let analyze = analyze_modal(locale, &text, &text, Some(Severity::Sev2));
            prop_assert!(faults(&analyze).is_empty(), "{:?}", faults(&analyze));
            let prefill = Prefill { cause: text.clone(), fix: text.clone(), ruled_out: text.clone(), prevention: text };
            let resolve = resolve_modal(locale, id(999_999_999), worked, &prefill);
            prop_assert!(faults(&resolve).is_empty(), "{:?}", faults(&resolve));
        }
    }
}

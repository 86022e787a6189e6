//! A model's text, rid of the markup of its inner channels, and texts salvaged from errors.
//!
//! Some hosts of gpt-oss let its channels through: `<|channel|>analysis<|message|>...` is thinking,
//! `commentary` is a call of a tool, `final` is the answer; others drop the tokens and leave
//! `analysis...assistantfinal...` behind. The final channel is the answer, everything else is
//! never shown. An answer that already is a JSON object is left alone: such tokens inside it are
//! a report's words. `<think>` is text like any other here; the reader of proposals knows it.
//!
//! Absent on purpose: repair of JSON. Whether a text is a proposal is not judged here.

use serde_json::Value;

use super::Unreadable;

const CHANNEL: &str = "<|channel|>";
const MESSAGE: &str = "<|message|>";
/// Tokens that end a message.
const ENDS: [&str; 5] = ["<|end|>", "<|return|>", "<|call|>", "<|start|>", CHANNEL];
/// Tokens that trail an answer on hosts that forget to cut them off.
const TRAILERS: [&str; 7] = [
    "<|end|>",
    "<|return|>",
    "<|call|>",
    "<|im_end|>",
    "<|eot_id|>",
    "<|endoftext|>",
    "</s>",
];

/// The answer in a text, or what came instead of one.
pub(super) fn answer(text: &str) -> Result<String, Unreadable> {
    let text = text.trim();
    if text.is_empty() {
        return Err(Unreadable::Empty);
    }
    if is_object(text) {
        return Ok(text.to_owned());
    }
    if text.contains(CHANNEL)
        && let Some(answer) = final_channel(text)
    {
        return Ok(answer.to_owned());
    }
    // Without a final channel, tokens before the first brace mean that what follows is an inner
    // note; tokens after it may be an answer's own words.
    let before = text.split('{').next().unwrap_or(text);
    if [CHANNEL, "<|start|>", MESSAGE]
        .iter()
        .any(|token| before.contains(token))
    {
        return Err(Unreadable::Markup);
    }
    if let Some(bare) = bare_channels(text) {
        return bare
            .map(|answer| without_trailers(answer).to_owned())
            .ok_or(Unreadable::Markup);
    }
    match without_trailers(text) {
        "" => Err(Unreadable::Empty),
        answer => Ok(answer.to_owned()),
    }
}

/// The last final channel that holds anything.
fn final_channel(text: &str) -> Option<&str> {
    text.split(CHANNEL)
        .skip(1)
        .filter_map(|channel| {
            let body = match channel.split_once(MESSAGE) {
                Some((head, body)) if head.trim_start().starts_with("final") => body,
                Some(_) => return None,
                None => channel.trim_start().strip_prefix("final")?,
            };
            let end = ENDS.iter().filter_map(|end| body.find(end)).min();
            let body = end.and_then(|end| body.get(..end)).unwrap_or(body);
            let body = without_trailers(body);
            (!body.is_empty()).then_some(body)
        })
        .last()
}

/// Channels whose tokens were dropped. Outer `None`: there are none; inner: none of them final.
fn bare_channels(text: &str) -> Option<Option<&str>> {
    const FINAL: &str = "assistantfinal";
    let thought = ["analysis", "assistantanalysis"].iter().any(|name| {
        text.strip_prefix(name).is_some_and(|rest| {
            rest.contains(FINAL) || rest.chars().next().is_some_and(char::is_uppercase)
        })
    });
    let called = ["commentary to=", "assistantcommentary"]
        .iter()
        .any(|name| text.starts_with(name));
    let only_final = text.starts_with(FINAL);
    if !(thought || called || only_final) {
        return None;
    }
    // The last one that an object follows; the thoughts may speak of the word, too.
    let bodies = || text.split(FINAL).skip(1);
    // `split` cuts later occurrences off, so the rest is taken from the place itself.
    let at = text
        .match_indices(FINAL)
        .zip(bodies())
        .filter(|(_, body)| body.trim_start().starts_with(['{', '`']))
        .map(|((at, _), _)| at)
        .last()
        .or_else(|| text.rfind(FINAL));
    let answer = at
        .and_then(|at| text.get(at + FINAL.len()..))
        .map(str::trim);
    Some(answer.filter(|answer| !answer.is_empty()))
}

fn without_trailers(text: &str) -> &str {
    let mut text = text.trim();
    while let Some(shorter) = TRAILERS.iter().find_map(|token| text.strip_suffix(token)) {
        text = shorter.trim_end();
    }
    text
}

/// A text taken from an error's `failed_generation`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Salvage {
    pub(super) text: String,
    /// It is a whole JSON object. Otherwise it is worth less than another try.
    pub(super) whole: bool,
}

impl Salvage {
    fn of(text: &str) -> Option<Self> {
        let whole = is_object(text);
        // All answers are objects; without a brace nothing can be read from it.
        (whole || text.contains('{')).then(|| Self {
            text: text.to_owned(),
            whole,
        })
    }

    /// It stops before its end: never shown as complete.
    pub(super) fn is_cut_off(&self) -> bool {
        let end = self.text.trim_end().trim_end_matches('`').trim_end();
        !self.whole && !end.ends_with('}')
    }
}

/// What the model had written when the provider found that it was not the JSON asked for.
pub(super) fn from_failed_json(generation: &str) -> Option<Salvage> {
    Salvage::of(&answer(generation).ok()?)
}

/// The answer inside a call of a tool that was never offered: the arguments of a call named
/// `...<|channel|>final`, or arguments that have the form of the answer. Any other call is one.
pub(super) fn from_tool_call(generation: &str, schema: &Value) -> Option<Salvage> {
    if let Ok(Value::Object(call)) = serde_json::from_str::<Value>(generation)
        && let (Some(name), Some(arguments)) = (call.get("name"), call.get("arguments"))
    {
        let named_final = name.as_str().is_some_and(is_final_name);
        // Arguments are an object, or one as text.
        let text = match arguments {
            Value::String(text) => text.clone(),
            arguments => arguments.to_string(),
        };
        let fits = serde_json::from_str(&text).is_ok_and(|value| has_the_form(&value, schema));
        return if named_final || fits {
            Salvage::of(text.trim())
        } else {
            None
        };
    }
    if let Some((head, arguments)) = generation.split_once("\"arguments\":") {
        // The wrapper is no JSON because what the model wrote stands in it raw.
        let arguments = arguments.trim();
        let inner = arguments.strip_suffix('}').unwrap_or(arguments).trim_end();
        let text = if is_object(inner) { inner } else { arguments };
        let fits = serde_json::from_str(text).is_ok_and(|value| has_the_form(&value, schema));
        return if is_final_name(head) || fits {
            Salvage::of(text)
        } else {
            None
        };
    }
    let text = answer(generation).ok()?;
    let fits = serde_json::from_str(&text).is_ok_and(|value| has_the_form(&value, schema));
    if fits { Salvage::of(&text) } else { None }
}

fn is_final_name(name: &str) -> bool {
    name.split(CHANNEL)
        .skip(1)
        .any(|channel| channel.trim_start().starts_with("final"))
}

/// An object of which at least half the keys are keys of the answer.
fn has_the_form(value: &Value, schema: &Value) -> bool {
    let (Some(object), Some(properties)) = (
        value.as_object(),
        schema.get("properties").and_then(Value::as_object),
    ) else {
        return false;
    };
    let known = object
        .keys()
        .filter(|key| properties.contains_key(*key))
        .count();
    known > 0 && known * 2 >= object.len()
}

fn is_object(text: &str) -> bool {
    text.starts_with('{') && serde_json::from_str::<serde::de::IgnoredAny>(text).is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn the_answer_is_the_final_channel() {
        use Unreadable::{Empty, Markup};
        for (text, expected) in [
            ("", Err(Empty)),
            (" \n\t", Err(Empty)),
            ("<|return|>", Err(Empty)),
            ("<|channel|>", Err(Markup)),
            (
                "<|channel|>commentary<|message|>{\"a\":1}<|end|>",
                Err(Markup),
            ),
            (
                "<|channel|>analysis<|message|>We need {\"a\":1}",
                Err(Markup),
            ),
            ("<|channel|>final<|message|><|return|>", Err(Markup)),
            ("<|start|>assistant {\"a\":1}", Err(Markup)),
            ("analysisWe need JSON, so {\"a\":1}", Err(Markup)),
            ("analysisWe are done.assistantfinal", Err(Markup)),
            ("assistantcommentary to=web.run code{\"q\":1}", Err(Markup)),
            ("{\"a\":1}", Ok("{\"a\":1}")),
            ("  {\"a\":1}\n", Ok("{\"a\":1}")),
            ("{\"a\":1}<|return|>", Ok("{\"a\":1}")),
            ("{\"a\":1}<|im_end|>\n<|endoftext|>", Ok("{\"a\":1}")),
            (
                "<|channel|>final<|message|>{\"a\":1}<|return|>",
                Ok("{\"a\":1}"),
            ),
            (
                "<|channel|>analysis<|message|>We need {x}<|end|><|start|>assistant<|channel|>final \
                 <|constrain|>json<|message|>{\"a\":1}",
                Ok("{\"a\":1}"),
            ),
            ("We think.<|channel|>final{\"a\":1}<|end|>", Ok("{\"a\":1}")),
            (
                "<|channel|>final<|message|>{\"a\":1}<|end|><|channel|>final<|message|><|end|>",
                Ok("{\"a\":1}"),
            ),
            ("analysisWe think.assistantfinal{\"a\":1}", Ok("{\"a\":1}")),
            (
                "analysisThe assistantfinal comes.assistantfinal {\"a\":\"b\"}<|return|>",
                Ok("{\"a\":\"b\"}"),
            ),
            (
                "analysisYes.assistantfinal{\"a\":\"an assistantfinal leak\"}",
                Ok("{\"a\":\"an assistantfinal leak\"}"),
            ),
            ("assistantfinal{\"a\":1}", Ok("{\"a\":1}")),
            // A report about such a leak, quoted in a good answer.
            (
                "{\"evidence\":[\"saw <|channel|>analysis in logs\"]}",
                Ok("{\"evidence\":[\"saw <|channel|>analysis in logs\"]}"),
            ),
            (
                "```json\n{\"evidence\":[\"saw <|channel|>analysis\"]}\n```",
                Ok("```json\n{\"evidence\":[\"saw <|channel|>analysis\"]}\n```"),
            ),
            (
                "analysis of the outage: {\"a\":1}",
                Ok("analysis of the outage: {\"a\":1}"),
            ),
            (
                "<think>hm {</think>{\"a\":1}",
                Ok("<think>hm {</think>{\"a\":1}"),
            ),
            ("数据库连接已满", Ok("数据库连接已满")),
        ] {
            assert_eq!(
                answer(text).as_deref(),
                expected.as_ref().map(|text| *text),
                "{text:?}"
            );
        }
    }

    #[test]
    fn only_what_was_meant_as_the_answer_is_salvaged() {
        let schema = json!({"type": "object", "properties": {"summary": {}, "hypotheses": {}}});
        let tool = |generation: &str| from_tool_call(generation, &schema);
        for (generation, expected) in [
            ("", None),
            ("I understand.", None),
            (
                r#"{"name": "repo_browser.print_tree", "arguments": {"path": "/", "depth": 2}}"#,
                None,
            ),
            (
                r#"{"name": "web.run", "arguments": {"q": 1, "r": 2, "summary": "x"}}"#,
                None,
            ),
            (
                r#"{"name": "assistant<|channel|>final", "arguments": I understand the question}"#,
                None,
            ),
            (
                r#"{"name": "assistant<|channel|>final", "arguments": {"summary": "s"}}"#,
                Some((r#"{"summary":"s"}"#, true)),
            ),
            (
                r#"{"name": "assistant<|channel|>final", "arguments": Here it is: {"summary": 's'}}"#,
                Some((r#"Here it is: {"summary": 's'}}"#, false)),
            ),
            (
                r#"{"name": "json", "arguments": "{\"summary\": \"s\", \"hypotheses\": []}"}"#,
                Some((r#"{"summary": "s", "hypotheses": []}"#, true)),
            ),
            (
                r#"{"summary": "s", "hypotheses": []}"#,
                Some((r#"{"summary": "s", "hypotheses": []}"#, true)),
            ),
        ] {
            let salvaged = tool(generation);
            let salvaged = salvaged.as_ref().map(|s| (s.text.as_str(), s.whole));
            assert_eq!(salvaged, expected, "{generation:?}");
        }
        for (generation, expected) in [
            ("", None),
            ("no JSON at all", None),
            (r#"{"a": 1}"#, Some((true, false))),
            (r#"{"a": "cut in the mid"#, Some((false, true))),
            (r#"{'a': 1}"#, Some((false, false))),
            ("```json\n{'a': 1}\n```", Some((false, false))),
            (
                r#"<|channel|>final<|message|>{"a": 1}"#,
                Some((true, false)),
            ),
            (r#"<|channel|>commentary<|message|>{"a": 1}"#, None),
        ] {
            let salvaged = from_failed_json(generation).map(|s| (s.whole, s.is_cut_off()));
            assert_eq!(salvaged, expected, "{generation:?}");
        }
    }

    #[test]
    fn deep_and_long_texts_are_read_in_bounds() {
        let deep = "{\"a\":".repeat(100_000);
        assert_eq!(answer(&deep), Ok(deep.clone()));
        let channels = "<|channel|>analysis<|message|>".repeat(20_000);
        assert_eq!(answer(&channels), Err(Unreadable::Markup));
        let finals = "assistantfinal".repeat(50_000);
        assert!(answer(&finals).is_err());
    }
}

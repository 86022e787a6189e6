//! What `/why` says.

use super::{StageName, stage};
use crate::incident::{IncidentId, Locale};

/// Above the explanation.
pub fn why_title(locale: Locale, incident: Option<IncidentId>, analysis: u32) -> String {
    let id = incident.map(|id| format!("{id} · ")).unwrap_or_default();
    match locale {
        Locale::En => format!("Why · {id}analysis {analysis}"),
        Locale::Zh => format!("为什么 · {id}第 {analysis} 次分析"),
    }
}

/// Above what the rules changed of an answer in the thread.
pub fn answer_label(locale: Locale, question: &str) -> String {
    match locale {
        Locale::En => format!("What the rules changed of the answer to: {question}"),
        Locale::Zh => format!("规则对此问题的回答所做的更改：{question}"),
    }
}

/// The model's own number.
pub fn model_number(locale: Locale, number: u8) -> String {
    match locale {
        Locale::En => format!("model said {number}"),
        Locale::Zh => format!("模型给出 {number}"),
    }
}

/// What was counted.
pub fn proof_counts(locale: Locale, proven: u32, refuted: u32, other: u32) -> String {
    match locale {
        Locale::En => format!("{proven} proven, {refuted} refuted, {other} with another cause"),
        Locale::Zh => format!("{proven} 次验证，{refuted} 次失败，{other} 次其他原因"),
    }
}

/// After the band (R8, R9).
pub fn band(locale: Locale, band: u8) -> String {
    match locale {
        Locale::En => format!("after its band {band}"),
        Locale::Zh => format!("区间后 {band}"),
    }
}

/// A cap that applied.
pub fn cap(locale: Locale, rule: &str, bound: u8) -> String {
    match locale {
        Locale::En => format!("{rule}: at most {bound}"),
        Locale::Zh => format!("{rule}：不超过 {bound}"),
    }
}

/// One recalled incident; similarity in hundredths.
pub fn recalled(
    locale: Locale,
    id: IncidentId,
    grade: &str,
    hundredths: u8,
    signature: bool,
) -> String {
    let similarity = format!("{}.{:02}", hundredths / 100, hundredths % 100);
    match (locale, signature) {
        (Locale::En, false) => format!("{id}: {grade}, similarity {similarity}"),
        (Locale::En, true) => format!("{id}: {grade}, similarity {similarity}, same error"),
        (Locale::Zh, false) => format!("{id}：{grade}，相似度 {similarity}"),
        (Locale::Zh, true) => format!("{id}：{grade}，相似度 {similarity}，错误相同"),
    }
}

/// What a stage took: `Analysis: 6.2 s, 3900 + 1210 tokens`.
pub fn timing(locale: Locale, name: StageName, millis: u64, tokens: Option<(u64, u64)>) -> String {
    let name = stage(locale, name);
    let time = match millis {
        0..1_000 => format!("{millis} ms"),
        _ => format!("{}.{} s", millis / 1_000, millis % 1_000 / 100),
    };
    match (locale, tokens) {
        (Locale::En, None) => format!("{name}: {time}"),
        (Locale::En, Some((prompt, answer))) => {
            format!("{name}: {time}, {prompt} + {answer} tokens")
        }
        (Locale::Zh, None) => format!("{name}：{time}"),
        (Locale::Zh, Some((prompt, answer))) => format!("{name}：{time}，{prompt} + {answer} 词元"),
    }
}

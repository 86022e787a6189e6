//! Who answered and why: fallback headings (R23), route sentences (R25 to R27), stages.

use super::duration;
use crate::incident::{FallbackReason, Locale, Route, RouteReason, Tier};

/// The heading of an answer without a model: `⚠ rule-based: the model did not answer (429, retry in 61 s)`.
pub fn fallback_heading(locale: Locale, reason: &FallbackReason) -> String {
    let why = fallback_reason(locale, reason);
    match (locale, reason) {
        (Locale::En, FallbackReason::StillWaiting) => format!("⏳ provisional, rule-based: {why}"),
        (Locale::Zh, FallbackReason::StillWaiting) => format!("⏳ 临时结果（规则引擎）：{why}"),
        (Locale::En, _) => format!("⚠ rule-based: {why}"),
        (Locale::Zh, _) => format!("⚠ 规则引擎：{why}"),
    }
}

/// Why no model answered.
pub fn fallback_reason(locale: Locale, reason: &FallbackReason) -> String {
    let retry = |seconds: &Option<u64>| match (locale, seconds) {
        (Locale::En, Some(seconds)) => format!(", retry in {}", duration(locale, *seconds)),
        (Locale::Zh, Some(seconds)) => format!("，{}后可重试", duration(locale, *seconds)),
        (_, None) => String::new(),
    };
    match (locale, reason) {
        (Locale::En, FallbackReason::NotConfigured) => "no model is configured".into(),
        (Locale::Zh, FallbackReason::NotConfigured) => "未配置模型".into(),
        (Locale::En, FallbackReason::StillWaiting) => "the model has not answered yet".into(),
        (Locale::Zh, FallbackReason::StillWaiting) => "模型尚未回答".into(),
        (
            Locale::En,
            FallbackReason::RateLimited {
                retry_after_seconds,
            },
        ) => {
            format!(
                "the model did not answer (429{})",
                retry(retry_after_seconds)
            )
        }
        (
            Locale::Zh,
            FallbackReason::RateLimited {
                retry_after_seconds,
            },
        ) => {
            format!("模型没有回答（429{}）", retry(retry_after_seconds))
        }
        (
            Locale::En,
            FallbackReason::DailyLimit {
                retry_after_seconds,
            },
        ) => {
            format!(
                "the model's daily limit is used up (429{})",
                retry(retry_after_seconds)
            )
        }
        (
            Locale::Zh,
            FallbackReason::DailyLimit {
                retry_after_seconds,
            },
        ) => {
            format!("模型的每日额度已用完（429{}）", retry(retry_after_seconds))
        }
        (Locale::En, FallbackReason::TooLarge) => {
            "the request was too large for the model (413)".into()
        }
        (Locale::Zh, FallbackReason::TooLarge) => "请求超过模型允许的大小（413）".into(),
        (Locale::En, FallbackReason::Overloaded) => "the model's provider is overloaded".into(),
        (Locale::Zh, FallbackReason::Overloaded) => "模型服务过载".into(),
        (Locale::En, FallbackReason::BadKey) => {
            "the model's key was refused (401); an administrator has to renew it".into()
        }
        (Locale::Zh, FallbackReason::BadKey) => "模型密钥被拒绝（401），请管理员更换".into(),
        (Locale::En, FallbackReason::ModelGone) => {
            "the configured model does not exist; an administrator has to choose another".into()
        }
        (Locale::Zh, FallbackReason::ModelGone) => "配置的模型不存在，请管理员另选".into(),
        (Locale::En, FallbackReason::Timeout { seconds }) => {
            format!(
                "the model did not answer within {}",
                duration(locale, *seconds)
            )
        }
        (Locale::Zh, FallbackReason::Timeout { seconds }) => {
            format!("模型在 {} 内没有回答", duration(locale, *seconds))
        }
        (Locale::En, FallbackReason::Unreachable) => "the model could not be reached".into(),
        (Locale::Zh, FallbackReason::Unreachable) => "无法连接模型".into(),
        (Locale::En, FallbackReason::Unreadable) => "the model's answer could not be read".into(),
        (Locale::Zh, FallbackReason::Unreadable) => "模型的回答无法解析".into(),
        (Locale::En, FallbackReason::CutOff) => "the model's answer was cut off".into(),
        (Locale::Zh, FallbackReason::CutOff) => "模型的回答被截断".into(),
        (Locale::En, FallbackReason::Refused { status }) => {
            format!("the model's provider refused the request ({status})")
        }
        (Locale::Zh, FallbackReason::Refused { status }) => {
            format!("模型服务拒绝了请求（{status}）")
        }
        (
            Locale::En,
            FallbackReason::Budget {
                retry_after_seconds,
            },
        ) => format!(
            "the limit on model calls is reached (yours or this server's), the model may be asked again in {}",
            duration(locale, *retry_after_seconds)
        ),
        (
            Locale::Zh,
            FallbackReason::Budget {
                retry_after_seconds,
            },
        ) => format!(
            "已达到模型调用上限（个人或本服务器），{}后可再次询问",
            duration(locale, *retry_after_seconds)
        ),
        (Locale::En, FallbackReason::AttemptsUsedUp) => {
            "after three failed attempts the model is not asked the same again; people decide"
                .into()
        }
        (Locale::Zh, FallbackReason::AttemptsUsedUp) => {
            "三次尝试失败后不再向模型提同样的问题，由人来决定".into()
        }
        (Locale::En, FallbackReason::Withheld) => {
            "a part of the report could not be checked for secrets, so nothing of it is sent to a model"
                .into()
        }
        (Locale::Zh, FallbackReason::Withheld) => {
            "报告中有一部分无法确认不含机密信息，因此没有发送给模型".into()
        }
    }
}

/// Which model is asked.
pub fn tier(locale: Locale, tier: Tier) -> &'static str {
    match (locale, tier) {
        (Locale::En, Tier::Fast) => "fast",
        (Locale::Zh, Tier::Fast) => "快速",
        (Locale::En, Tier::Capable) => "capable",
        (Locale::Zh, Tier::Capable) => "强力",
    }
}

/// The reason of a route in a word or two, for the progress line; text of others comes in by `safe`.
pub fn route_short(locale: Locale, route: &Route, safe: impl Fn(&str) -> String) -> String {
    let why = route.reasons.iter().find_map(|reason| match reason {
        RouteReason::HighRisk { area, .. } => Some(match locale {
            Locale::En => safe(area),
            Locale::Zh => safe(super::area(locale, area)),
        }),
        RouteReason::Severity(severity) => Some(severity.to_string()),
        RouteReason::RefutedFix(_) | RouteReason::AfterFailure(_) => Some(match locale {
            Locale::En => "a fix failed".into(),
            Locale::Zh => "有修复失败".into(),
        }),
        _ => None,
    });
    let tier = tier(locale, route.tier);
    match (locale, why) {
        (Locale::En, Some(why)) => format!("{tier} ({why})"),
        (Locale::Zh, Some(why)) => format!("{tier}（{why}）"),
        (_, None) => tier.to_owned(),
    }
}

/// A route in one sentence: the tier, and the number or the rule that decided.
pub fn route(locale: Locale, route: &Route) -> String {
    let tier = tier(locale, route.tier);
    match (locale, route.score) {
        (Locale::En, Some(score)) => format!("{tier} model, by score {score} (60 and more: fast)"),
        (Locale::Zh, Some(score)) => format!("{tier}模型，按评分 {score}（60 及以上：快速）"),
        (Locale::En, None) => format!("{tier} model, decided by rule before any score"),
        (Locale::Zh, None) => format!("{tier}模型，在评分之前由规则决定"),
    }
}

/// One reason of a route; text of others comes in by `safe`.
pub fn route_reason(locale: Locale, reason: &RouteReason, safe: impl Fn(&str) -> String) -> String {
    match (locale, reason) {
        (Locale::En, RouteReason::HighRisk { area, word }) => {
            format!("high-risk area: {} (met {})", safe(area), safe(word))
        }
        (Locale::Zh, RouteReason::HighRisk { area, word }) => {
            format!(
                "高风险领域：{}（出现 {}）",
                safe(super::area(locale, area)),
                safe(word)
            )
        }
        (Locale::En, RouteReason::Severity(severity)) => {
            format!("{severity}: always the capable model")
        }
        (Locale::Zh, RouteReason::Severity(severity)) => format!("{severity}：总是用强力模型"),
        (Locale::En, RouteReason::RefutedFix(Some(id))) => format!("a fix in play failed in {id}"),
        (Locale::Zh, RouteReason::RefutedFix(Some(id))) => format!("涉及的修复曾在 {id} 中失败"),
        (Locale::En, RouteReason::RefutedFix(None)) => "a fix failed in this incident".into(),
        (Locale::Zh, RouteReason::RefutedFix(None)) => "本次故障中有修复失败".into(),
        (Locale::En, RouteReason::AfterFailure(1)) => {
            "1 attempt failed here: a stronger model is asked".into()
        }
        (Locale::En, RouteReason::AfterFailure(count)) => {
            format!("{count} attempts failed here: a stronger model is asked")
        }
        (Locale::Zh, RouteReason::AfterFailure(count)) => {
            format!("本次已有 {count} 次尝试失败：改用更强的模型")
        }
        (Locale::En, RouteReason::BestMemory(term)) => {
            format!("best memory of this service: {term:+}")
        }
        (Locale::Zh, RouteReason::BestMemory(term)) => format!("本服务最佳记忆：{term:+}"),
        (Locale::En, RouteReason::LongLog(lines)) => format!("long log ({lines} lines): -10"),
        (Locale::Zh, RouteReason::LongLog(lines)) => format!("日志较长（{lines} 行）：-10"),
        (Locale::En, RouteReason::Files(beyond)) => format!(
            "{} files implicated: -{}",
            beyond.saturating_add(1),
            files_term(*beyond)
        ),
        (Locale::Zh, RouteReason::Files(beyond)) => format!(
            "涉及 {} 个文件：-{}",
            beyond.saturating_add(1),
            files_term(*beyond)
        ),
    }
}

/// R26's term for the implicated files beyond the first.
fn files_term(beyond: usize) -> usize {
    beyond.saturating_mul(5).min(20)
}

/// The answer was cut off (R0).
pub fn cut_off(locale: Locale) -> &'static str {
    match locale {
        Locale::En => "⚠ incomplete: the model's answer was cut off",
        Locale::Zh => "⚠ 不完整：模型的回答被截断",
    }
}

/// The stages of the progress line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StageName {
    /// Triage.
    Triage,
    /// Recall and grading.
    Memory,
    /// Routing.
    Route,
    /// The model, or the rules.
    Analysis,
    /// Validation.
    Validation,
    /// Posting.
    Posting,
}

/// The name of a stage.
pub fn stage(locale: Locale, stage: StageName) -> &'static str {
    match (locale, stage) {
        (Locale::En, StageName::Triage) => "Triage",
        (Locale::Zh, StageName::Triage) => "分诊",
        (Locale::En, StageName::Memory) => "Memory",
        (Locale::Zh, StageName::Memory) => "记忆",
        (Locale::En, StageName::Route) => "Route",
        (Locale::Zh, StageName::Route) => "路由",
        (Locale::En, StageName::Analysis) => "Analysis",
        (Locale::Zh, StageName::Analysis) => "分析",
        (Locale::En, StageName::Validation) => "Validation",
        (Locale::Zh, StageName::Validation) => "校验",
        (Locale::En, StageName::Posting) => "Posting",
        (Locale::Zh, StageName::Posting) => "发布",
    }
}

/// The model is at work.
pub fn analysing(locale: Locale) -> &'static str {
    match locale {
        Locale::En => "Analysing …",
        Locale::Zh => "分析中 …",
    }
}

/// `3 precedents (2 direct, 1 analogy)`.
pub fn precedents(locale: Locale, direct: usize, analogies: usize) -> String {
    let all = direct + analogies;
    match (locale, all) {
        (Locale::En, 0) => "no precedents".into(),
        (Locale::Zh, 0) => "没有先例".into(),
        (Locale::En, 1) if direct == 1 => "1 precedent (direct)".into(),
        (Locale::En, 1) => "1 precedent (analogy)".into(),
        (Locale::En, _) => {
            let noun = if analogies == 1 {
                "analogy"
            } else {
                "analogies"
            };
            format!("{all} precedents ({direct} direct, {analogies} {noun})")
        }
        (Locale::Zh, _) => format!("{all} 个先例（{direct} 个直接，{analogies} 个类比）"),
    }
}

/// Before anything is known.
pub fn working(locale: Locale) -> &'static str {
    match locale {
        Locale::En => "⏳ Searching memory and analysing; first results follow in the thread",
        Locale::Zh => "⏳ 正在检索记忆并分析，最初结果将出现在子区中",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn r23_each_fallback_says_why() {
        assert_eq!(
            fallback_heading(
                Locale::En,
                &FallbackReason::RateLimited {
                    retry_after_seconds: Some(61)
                }
            ),
            "⚠ rule-based: the model did not answer (429, retry in 61 s)"
        );
        assert_eq!(
            fallback_heading(
                Locale::Zh,
                &FallbackReason::RateLimited {
                    retry_after_seconds: Some(61)
                }
            ),
            "⚠ 规则引擎：模型没有回答（429，61 秒后可重试）"
        );
        assert_eq!(
            fallback_heading(Locale::En, &FallbackReason::StillWaiting),
            "⏳ provisional, rule-based: the model has not answered yet"
        );
    }

    #[test]
    fn r26_terms_of_a_route() {
        assert_eq!(
            route_reason(Locale::En, &RouteReason::Files(2), str::to_owned),
            "3 files implicated: -10"
        );
        assert_eq!(
            route_reason(Locale::En, &RouteReason::Files(99), str::to_owned),
            "100 files implicated: -20"
        );
        assert_eq!(
            route_reason(Locale::En, &RouteReason::BestMemory(-25), str::to_owned),
            "best memory of this service: -25"
        );
    }
}

//! The stakeholder update as fields for three audiences (R19).
//!
//! `present` composes the text; here each field is checked: grounded, no unverified cause as fact,
//! no promise of a time that nobody gave, no blame, and outside the team no internals. What can't
//! be said is empty, and empty is shown as "not known yet".
//!
//! Deliberately absent: free text of the model. It fills no field, so it is dropped.

use super::analysis::{Analysis, Audience, StakeholderUpdate, UpdateFields};
use super::case::Case;
use super::context::Context;
use super::ended;
use super::grounding::Place;
use super::log::Log;
use super::text;
use crate::incident::proposal::ProposedUpdate;
use crate::incident::sameness::{Likeness, Phrase};
use crate::incident::words::{fold, is_cjk, is_stop_word, meaningful};
use crate::incident::{Impact, IncidentId, Severity, service};
use regex::Regex;
use std::sync::LazyLock;

/// How a field states what it holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stated {
    /// What people notice.
    Seen,
    /// As known.
    Known,
    /// As open, or in hand.
    Open,
}

/// The checked update. `causes` are the titles of the hypotheses and the recorded causes: none of
/// them is confirmed while the incident runs.
pub(super) fn checked(
    context: &Context<'_>,
    proposed: &ProposedUpdate,
    severity: Severity,
    cited: &[IncidentId],
    causes: &[String],
    log: &mut Log,
) -> StakeholderUpdate {
    let case = context.case;
    let report = case.report.all_text();
    let titles = causes;
    let causes: Vec<Phrase> = titles
        .iter()
        .map(|cause| Phrase::new(cause))
        .filter(|cause| !cause.is_empty())
        .collect();
    let own_words: Vec<OwnWords> = titles
        .iter()
        .map(|title| OwnWords::new(title, &report))
        .collect();
    log.note(
        "R19",
        "stakeholder_update",
        text::clean(&proposed.free_text, text::PARAGRAPH),
        "",
    );
    let minutes = severity.update_minutes();
    if let Some(asked) = proposed.next_update_minutes {
        log.note(
            "R19",
            "stakeholder_update.next_update_minutes",
            asked.to_string(),
            minutes.to_string(),
        );
    }
    let may_not = |clause: &str, stated: Stated| -> Option<&'static str> {
        if super::risk::is_destructive_text(clause) {
            return Some("R18");
        }
        let cause = match stated {
            Stated::Seen => is_cause(clause, &causes) || speaks_of(clause, &own_words),
            Stated::Known => {
                is_cause(clause, &causes)
                    || is_part_of_a_cause(clause, &causes)
                    || speaks_of(clause, &own_words)
            }
            Stated::Open => blames_plainly(clause),
        };
        (cause || is_promise(clause, &report) || is_blame(clause)).then_some("R19")
    };
    let mut field = |name: &str, said: &str, stated: Stated, own: Option<&str>| -> String {
        let at = format!("stakeholder_update.{name}");
        let mut kept = context.claim(said, text::SENTENCE, cited, Place::Clause, &at, log);
        for rule in ["R18", "R19"] {
            let without = without(&kept, |clause| may_not(clause, stated) == Some(rule));
            log.note(rule, &at, &kept, &without);
            kept = without;
        }
        kept = ended::without_claims(kept, &report, &at, log);
        if kept.is_empty()
            && let Some(own) = own
        {
            let own = without(&text::clean(own, text::SENTENCE), |clause| {
                may_not(clause, stated).is_some()
            });
            log.note("R19", &at, &kept, &own);
            kept = own;
        }
        kept
    };
    let internal = UpdateFields {
        impact: field(
            "impact",
            &proposed.impact,
            Stated::Seen,
            case.impact.as_deref(),
        ),
        since: field(
            "since",
            &proposed.since,
            Stated::Seen,
            case.since.as_deref(),
        ),
        known: field("known", &proposed.known, Stated::Known, None),
        not_confirmed: field("not_confirmed", &proposed.not_confirmed, Stated::Open, None),
        doing: field("doing", &proposed.doing, Stated::Open, None),
        changed_since: field(
            "changed_since",
            &proposed.changed_since,
            Stated::Known,
            None,
        ),
        needed: field("needed", &proposed.needed, Stated::Open, None),
    };
    let outside = Outside::new(case, causes);
    let executive = UpdateFields {
        impact: outside.executive(&internal.impact),
        since: outside.executive(&internal.since),
        known: outside.executive(&internal.known),
        not_confirmed: outside.executive(&internal.not_confirmed),
        doing: outside.executive(&internal.doing),
        changed_since: outside.executive(&internal.changed_since),
        needed: outside.executive(&internal.needed),
    };
    StakeholderUpdate {
        status_page: UpdateFields {
            impact: outside.status_page(&internal.impact),
            since: outside.status_page(&internal.since),
            ..UpdateFields::default()
        },
        executive,
        internal,
        next_minutes: minutes,
        nothing_public: exposes_data(&report),
    }
}

/// What may be said outside the team (R19): no internals, no names of people, and to customers none of
/// services, shares and causes either.
struct Outside {
    names: Vec<String>,
    slugs: Vec<String>,
    causes: Vec<Phrase>,
}

/// A person's name, whole and in parts, folded.
fn names_of(name: &str) -> Vec<String> {
    let name = fold(name);
    // First and last names too, unless they may be anybody's word.
    let mut parts: Vec<String> = name
        .split(|c: char| !c.is_alphanumeric())
        .filter(|part| part.chars().count() > 2 && !part.bytes().any(|b| b.is_ascii_digit()))
        .filter(|part| !WORDS_IN_HANDLES.contains(part))
        .map(str::to_owned)
        .collect();
    parts.push(name);
    parts.retain(|name| name.chars().count() > 1);
    parts
}

/// Whether data may be exposed, by what is said here (R30): then nothing public is drafted.
pub fn tells_of_exposure<'a>(said: impl IntoIterator<Item = &'a str>) -> bool {
    said.into_iter().any(exposes_data)
}

impl Outside {
    fn new(case: &Case, causes: Vec<Phrase>) -> Self {
        let names = case
            .report
            .thread
            .iter()
            .flat_map(|message| names_of(&message.author))
            .collect();
        let slugs = std::iter::once(case.service.as_deref())
            .flatten()
            .chain(
                case.registry
                    .services
                    .iter()
                    .map(|service| service.name.as_str()),
            )
            .map(fold)
            .filter(|name| name.contains(['-', '_']) || service::key(name).len() > 3)
            .collect();
        Self {
            names,
            slugs,
            causes,
        }
    }

    fn executive(&self, said: &str) -> String {
        without(said, |clause| {
            holds_internals(clause) || holds_any(clause, &self.names) || names_a_person(clause)
        })
    }

    /// Customers read what they notice and since when; nothing of what is inside.
    fn status_page(&self, said: &str) -> String {
        without(&without_shares(&self.executive(said)), |clause| {
            holds_any(clause, &self.slugs)
                || holds_percentage(clause)
                || is_cause(clause, &self.causes)
                || names_severity_or_id(clause)
        })
    }
}

/// What people said of the impact, as it may be told to an audience. Their word is theirs and is not
/// checked against the report; what may not leave the team goes all the same.
pub fn impact_for(
    case: &Case,
    analysis: &Analysis,
    impact: &Impact,
    people: &[&str],
    cause_confirmed: bool,
    audience: Audience,
) -> Impact {
    let causes = analysis
        .hypotheses
        .iter()
        .map(|card| Phrase::new(&card.title));
    let mut outside = Outside::new(case, causes.filter(|cause| !cause.is_empty()).collect());
    outside
        .names
        .extend(people.iter().flat_map(|name| names_of(name)));
    let report = case.report.all_text();
    let may_not = |clause: &str| {
        is_blame(clause)
            || is_promise(clause, &report)
            || (!cause_confirmed && is_cause(clause, &outside.causes))
    };
    let told = |said: &str| {
        let said = text::clean(said, text::SENTENCE);
        match audience {
            Audience::Internal => said,
            Audience::Executive => without(&outside.executive(&said), may_not),
            Audience::StatusPage => without(&outside.status_page(&said), may_not),
        }
    };
    Impact {
        who: told(&impact.who),
        what: told(&impact.what),
        how_many: told(&impact.how_many),
        workaround: told(&impact.workaround),
        data: told(&impact.data),
    }
}

/// What handles hold beside names.
const WORDS_IN_HANDLES: &[&str] = &[
    "admin", "alert", "alerts", "bot", "dba", "dev", "duty", "engineer", "lead", "manager",
    "monitor", "network", "oncall", "ops", "platform", "service", "sre", "support", "team", "the",
    "user", "web",
];

/// Shares in words: customers read no percentage (R19), and losing the clause would lose the impact.
/// Only before what is counted: *about 8 % of card payments* is *some card payments*.
fn without_shares(said: &str) -> String {
    static ENGLISH: LazyLock<Option<Regex>> = LazyLock::new(|| {
        Regex::new(concat!(
            r"(?i)(?:\b(?:about|around|roughly|approximately|some|nearly|almost|up to|over|more than) |[~≈])?",
            r"([0-9]{1,3})(?:\.[0-9]+)?\s?(?:%|percent) of (?:the |all |our |all the )?"
        ))
        .ok()
    });
    static CHINESE: LazyLock<Option<Regex>> = LazyLock::new(|| {
        Regex::new(r"(?:大约|大概|约|近|超过)?\s?([0-9]{1,3})(?:\.[0-9]+)?\s?[%％]\s?的?").ok()
    });
    let many = |captures: &regex::Captures<'_>| {
        let share = captures
            .get(1)
            .and_then(|share| share.as_str().parse::<u32>().ok());
        share.is_some_and(|share| share >= 50)
    };
    let (Some(english), Some(chinese)) = (ENGLISH.as_ref(), CHINESE.as_ref()) else {
        return said.to_owned();
    };
    let begun = english.replace_all(said, |captures: &regex::Captures<'_>| {
        let word = if many(captures) { "many " } else { "some " };
        match captures.get(0).is_some_and(|whole| whole.start() == 0) {
            true if word == "many " => "Many ".to_owned(),
            true => "Some ".to_owned(),
            false => word.to_owned(),
        }
    });
    if begun.chars().any(crate::incident::words::is_cjk) {
        let words = |captures: &regex::Captures<'_>| {
            if many(captures) {
                "大部分"
            } else {
                "部分"
            }
        };
        // 错误率 20% is no counted thing: such a clause goes.
        let counted = begun.contains("%的") || begun.contains("% 的") || begun.contains("％的");
        if counted {
            return chinese.replace_all(&begun, words).into_owned();
        }
    }
    begun.into_owned()
}

/// The clauses of a text, each with what ends it: a full stop, a semicolon or a comma.
pub(super) fn clauses_of(said: &str) -> Vec<&str> {
    let mut out = Vec::new();
    let mut start = 0;
    let mut chars = said.char_indices().peekable();
    while let Some((index, c)) = chars.next() {
        let ends = match c {
            '。' | '；' | '，' | '！' | '？' | ';' | '\n' => true,
            '.' | '!' | '?' | ',' => chars.peek().is_none_or(|(_, next)| next.is_whitespace()),
            _ => false,
        };
        if ends || chars.peek().is_none() {
            let end = index + c.len_utf8();
            out.extend(said.get(start..end));
            start = end;
        }
    }
    out
}

/// Clauses that do not pass go.
pub(super) fn without(said: &str, bad: impl Fn(&str) -> bool) -> String {
    if said.is_empty() || !bad(said) {
        return said.to_owned();
    }
    let kept: String = clauses_of(said)
        .into_iter()
        .filter(|clause| !bad(clause))
        .collect();
    kept.trim()
        .trim_end_matches([',', ';', '，', '；'])
        .trim()
        .to_owned()
}

/// Ways of saying that one thing is the cause of another.
static CAUSAL: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(concat!(
        r"\b(?:because|caused by|causing|which caused|due to|owing to|thanks to|as a (?:result|consequence) of|consequence of|result(?:s|ed|ing)? from|triggered by|brought down by|led to|",
        r"stem(?:s|med|ming)? from|originat(?:es?|ed|ing) (?:in|from|with)|traced (?:back )?to|attribut(?:ed|able) to|explained by|comes? down to|boils? down to|turn(?:s|ed) out (?:to be|that)|culprit|(?:trouble|problems?|outage|failures?|incident|errors?) (?:began|started|begins|starts) with|(?:is|are|was|were) (?:the reason|behind the|the cause|to blame)|as the (?:root )?cause|",
            r"(?:set|sized|configured) too (?:small|low|high|large|short|long)|broke (?:payments?|logins?|checkout|search|the (?:service|site|system|app))|(?:eat|us|hog|tak)ing up (?:all|the|every)|diagnosis(?: complete)?|",
        r"(?:are|is) what (?:makes?|causes?|breaks?|keeps?)|misconfigur\w*|we found (?:that|out)|(?:to be|is|are|was|were) responsible for (?:the |these |this |all )?(?:errors?|outages?|failures?|incident|problems?|issues?|503s?|timeouts?)|",
        r"(?:cause|reason|problem) (?:is|was) (?:that|the|a|an)|(?:root|underlying) cause(?: of [^.;:]{1,60})? ?(?:is|was|has been|identified|found|confirmed|:)|the (?:cause|reason) (?:is|was|:)|",
        r"(?:release|deploy\w*|rollout|change|configuration|update|migration|version|patch)\b[^.;,]{0,40}\b(?:broke|breaks|introduced|introduces|caused|causes)|",
        r"(?:bad|faulty|broken|buggy|defective|wrong) (?:release|deploy\w*|rollout|change|configuration|config|update|migration|version|patch))\b|",
        r"由于|因为|导致|原因是|原因在于|根因(?:是|为|在于|已|：|:)|引起|引发|造成|触发了|归因于|归咎|源于|源自|所致|罪魁祸首|起因(?:是|为|在于)|的缘故|搞坏|弄坏|改坏|设置过[小大低高]|(?:问题|毛病|故障)(?:就)?出在|拖垮|配置错误|错误(?:的)?配置|已(?:经)?(?:定位|查明|锁定)"
    ))
    .ok()
});

/// Words that leave a cause open: whether, not yet known, looking for.
const OPEN: &[&str] = &[
    "whether",
    "if ",
    "why",
    "unknown",
    "not known",
    "not yet",
    "unclear",
    "unconfirmed",
    "not confirmed",
    "investigat",
    "looking",
    "finding",
    "find ",
    "checking",
    "check ",
    "may ",
    "might",
    "could",
    "possibl",
    "probabl",
    "likely",
    "seems",
    "appears",
    "suspect",
    "determin",
    "narrow",
    "是否",
    "为何",
    "为什么",
    "不明",
    "未明",
    "未知",
    "尚未",
    "待确认",
    "未确认",
    "排查",
    "查找",
    "定位",
    "调查",
    "可能",
    "疑似",
    "怀疑",
    "推测",
    "似乎",
    "确认中",
];

/// It leaves open what it speaks of.
pub(super) fn is_open(folded: &str) -> bool {
    OPEN.iter().any(|word| folded.contains(word))
}

/// It names a cause as a fact: by a causal phrase, or because it is one of the hypotheses.
fn is_cause(clause: &str, causes: &[Phrase]) -> bool {
    let folded = fold(clause);
    // "the root cause is not known yet" names none; "not due to the disk" does not either way.
    let said = Phrase::new(clause);
    names_a_cause(&folded)
        || causes
            .iter()
            .any(|cause| cause.likeness(&said) >= Likeness::Near)
}

/// What only a hypothesis names: nobody has seen it tonight.
struct OwnWords {
    /// Pairs of neighbours that the report does not have, neither of them (`refund job`).
    pairs: Vec<(String, String)>,
    /// Chinese has no spaces: there the first four characters, which are what it is about.
    subject: Option<String>,
}

impl OwnWords {
    fn new(title: &str, report: &str) -> Self {
        let seen = meaningful(report);
        let subject: String = title.trim().chars().take(4).collect();
        let mut pairs = neighbours(title);
        pairs.retain(|(one, other)| {
            [one, other]
                .iter()
                .all(|word| word.len() > 2 && !is_stop_word(word) && !seen.contains(*word))
        });
        Self {
            pairs,
            subject: (subject.chars().count() == 4
                && subject.chars().all(is_cjk)
                && !report.contains(&subject))
            .then_some(subject),
        }
    }

    fn are_in(&self, clause: &str, said: &[(String, String)]) -> bool {
        self.pairs.iter().any(|pair| said.contains(pair))
            || self
                .subject
                .as_ref()
                .is_some_and(|subject| clause.contains(subject.as_str()))
    }
}

/// Each word of a text with the next, outside of Chinese.
fn neighbours(text: &str) -> Vec<(String, String)> {
    let folded = fold(text);
    let words: Vec<&str> = folded
        .split(|c: char| !c.is_alphanumeric() || is_cjk(c))
        .filter(|word| !word.is_empty())
        .collect();
    words
        .iter()
        .zip(words.iter().skip(1))
        .map(|(one, other)| ((*one).to_owned(), (*other).to_owned()))
        .collect()
}

/// It speaks of what only a hypothesis names. What was done about it may be said.
fn speaks_of(clause: &str, own_words: &[OwnWords]) -> bool {
    static DONE: LazyLock<Option<Regex>> = LazyLock::new(|| {
        Regex::new(r"\b(?:paused|stopped|rolled back|reverted|restarted|limited|switched|disabled|turned off|ruled out)\b|已(?:经)?(?:暂停|停止|停掉|停用|回滚|重启|限制|切换|关闭|关停|禁用|排除)").ok()
    });
    let said = neighbours(clause);
    own_words.iter().any(|own| own.are_in(clause, &said))
        && !is_open(&fold(clause))
        && !matches(&DONE, clause)
}

/// It says nothing but what one of the hypotheses says, or all of it among other things.
fn is_part_of_a_cause(clause: &str, causes: &[Phrase]) -> bool {
    let said = Phrase::new(clause);
    causes
        .iter()
        .any(|cause| cause.contains(&said) || said.contains(cause))
}

/// In what is being done or open: a causal phrase that leaves nothing open.
fn blames_plainly(clause: &str) -> bool {
    names_a_cause(&fold(clause))
}

fn names_a_cause(folded: &str) -> bool {
    // 已定位 finds something, 正在定位 looks for it.
    let found = ["已定位", "已经定位", "已查明", "已锁定"]
        .iter()
        .any(|word| folded.contains(word));
    CAUSAL
        .as_ref()
        .is_some_and(|causal| causal.is_match(folded))
        && !is_open(&if found {
            folded.replace("定位", "")
        } else {
            folded.to_owned()
        })
}

fn matches(pattern: &LazyLock<Option<Regex>>, clause: &str) -> bool {
    pattern
        .as_ref()
        .is_some_and(|pattern| pattern.is_match(&fold(clause)))
}

/// It promises when it will be over, and nobody gave that time: a promise of the report itself, with
/// the same clock or span, may be passed on.
fn is_promise(clause: &str, report: &str) -> bool {
    static WHEN: LazyLock<Option<Regex>> = LazyLock::new(|| {
        Regex::new(r"[0-9]{1,2}:[0-9]{2}|[0-9]+\s*(?:minutes?|mins?|hours?|hrs?|分钟|小时|点)").ok()
    });
    if !promises(clause) {
        return false;
    }
    let folded = fold(clause);
    let Some(when) = WHEN.as_ref().and_then(|when| when.find(&folded)) else {
        return true;
    };
    let given = |line: &str| promises(line) && fold(line).contains(when.as_str());
    !report.split(['\n', '。', ';', '；']).any(given)
}

fn promises(clause: &str) -> bool {
    static PROMISE: LazyLock<Option<Regex>> = LazyLock::new(|| {
        Regex::new(concat!(
            r"\b(?:eta|estimated time|guarantee[sd]?|we promise)\b|",
            r"(?:\b(?:will|should|expect(?:ed|ing|s)?(?: it)? to|going to|shall)\b|'ll\b)[^.;]*\b(?:fix|fixed|resolve|resolved|restore|restored|recover|recovered|over|done|normal|resume|resumes|online|available again|up again|up and running|work again|working again|(?:be|come) back)\b|",
            r"\b(?:recovery|restoration|resolution|fix|repair) (?:is |are |was )?(?:expected|due|scheduled|planned|estimated|to follow|coming)\b|",
            r"\b(?:fixed|resolved|restored|recovered|online|live|normal|back (?:to normal|up|online|in service)?)\b[^.;]*\b(?:in|within|by|before|shortly|soon)\b|",
            r"\b(?:service|payments?|everything|system|site|access|online|recovery|resum\w+|goes live)\b[^.;]*\b(?:soon|shortly|momentarily|any minute|within the hour|in half an hour|by (?:noon|tonight|tomorrow|midnight|this evening|end of day|eod))\b|",
            r"\b(?:minutes?|hours?) (?:until|till|away|from now)\b|\banother [0-9a-z-]+ (?:minutes?|hours?)\b|",
            r"\b(?:lands?|resumes?|ends?|returns?|completes?) (?:in|at|by|within|today|tonight|tomorrow|this|soon|shortly)\b|\bcan [a-z]+(?: [a-z]+)? again (?:in|at|by|this|today|tonight|tomorrow|within|soon|shortly|later)\b|\b(?:aim|hope|plan|intend) to (?:have|get|fix|restore|resolve|be)\b|\bnormal (?:service|operations?) (?:by|at|from|within)\b|\bconfident\b|",
            r"争取|力争|再等[^，。；]{0,6}(?:分钟|小时|会)|一定(?:会|能|可以)?(?:修好|恢复|解决)|(?:之前|前|内|点) ?(?:一定|能|可|可以|会)?(?:修好|搞定|弄好)|(?:[0-9一二两三四五六七八九十]+ ?点|上午|下午|晚上) ?(?:可以|能|会|就)?恢复|",
            r"预计|预期|将于|将在|有望|保证|承诺|(?:马上|很快|立刻|立即|即将|稍后|不久)(?:就|会|将|即可|就会|就能|就可以|可以|能)*(?:好|恢复|修复|解决|可用|正常)|即可恢复|",
            r"(?:分钟|小时|点|半|[0-9]{1,2}:[0-9]{2}) ?(?:之前|以前|前|以内|之内|内|后|之后)[^，。；]{0,6}(?:恢复|修复|解决|完成|正常)|(?:今晚|今天|今日|明天|明早|中午|下午|晚上|下班)[^，。；]{0,8}(?:恢复|修复|解决|完成|正常)"
        ))
        .ok()
    });
    matches(&PROMISE, clause)
}

/// It says whose fault it is.
fn is_blame(clause: &str) -> bool {
    static BLAME: LazyLock<Option<Regex>> = LazyLock::new(|| {
        Regex::new(concat!(
            r"\b(?:fault|blame|blamed|careless\w*|negligen\w*|neglected|reckless\w*|sloppy|lazy|incompeten\w*|human error|operator error|mistake(?:s|nly)?|screwed up|messed up|dropped the ball|forg[eo]t|forgotten|broke (?:it|prod\w*)|broken by|failed to (?:test|check|review|notice|follow)|",
            r"untested|unreviewed|without (?:a |any )?(?:testing|tests?|review|approval|asking|permission)|(?:poor|bad|shoddy|lousy) (?:work|job|quality|planning)|ignored? (?:the |our |all )?(?:alerts?|warnings?|pages?|procedures?)|(?:nobody|no one|they never|never) (?:bothered|cared)|didn't bother|should(?: not|n't)? have (?:been )?(?:tested|checked|reviewed|done|deployed|pushed|known)|accidental(?:ly)?|by accident|wrongly (?:deleted|deployed|changed|configured))\b|",
            r"失误|过错|责任人|责任在|的责任|全责|不充分|改错了?|乱改|乱动|瞎改|背锅|的锅|都怪|怪罪|只怪|疏忽|疏漏|粗心|大意|人为错误|误操作|误删|误改|手误|操作不当|没有?测试|未经测试|未经审批|没有?尽责|失职|不负责|擅自|私自|违规|忘记|忘了|没按(?:流程|规范)"
        ))
        .ok()
    });
    matches(&BLAME, clause)
}

/// Identifiers, hosts, addresses, paths, mail: nothing of that leaves the team.
fn holds_internals(clause: &str) -> bool {
    static INTERNALS: LazyLock<Option<Regex>> = LazyLock::new(|| {
        Regex::new(concat!(
            r"[a-z0-9._%+-]+@[a-z0-9.-]+|[a-z][a-z0-9+.-]*://|(?-u:\b)(?:[0-9]{1,3}\.){3}[0-9]{1,3}(?-u:\b)|",
            r"(?:^|[\s(（：:])/[a-z0-9_.-]+|[a-z0-9]+_[a-z0-9_]+|[a-z0-9-]+(?:\.[a-z0-9-]+)*\.(?:internal|local|svc|cluster|lan|corp|com|net|org|io|cn|dev|example|cloud)(?-u:\b)|",
            r"(?-u:\b)[a-z]+(?:-[a-z]+)*-[0-9]+(?-u:\b)|<current [a-z]+>|\[redacted|`|",
            r"(?-u:\b)v?[0-9]+\.[0-9]+\.[0-9]+|(?-u:\b)(?:kubectl|psql|mysql|redis-cli|curl|ssh|helm|docker|systemctl|terraform|ansible|grep|commit [0-9a-f]{7,})(?-u:\b)"
        ))
        .ok()
    });
    static CAMEL: LazyLock<Option<Regex>> = LazyLock::new(|| {
        Regex::new(r"[a-z0-9][A-Z][a-z]|[A-Z]{2,}[a-z]{3,}|[A-Za-z]\(\)|(?:deployments?|deploy|pods?|svc|statefulset|daemonset|namespace|node|job|configmap)/[a-z]").ok()
    });
    matches(&INTERNALS, clause) || CAMEL.as_ref().is_some_and(|camel| camel.is_match(clause))
}

/// It names somebody: a handle, a title, or a name beside what people do.
fn names_a_person(clause: &str) -> bool {
    static HANDLE: LazyLock<Option<Regex>> = LazyLock::new(|| {
        Regex::new(concat!(
            r"(?:^|[\s(,:])@[A-Za-z0-9_.-]{2,}|\b(?:Mr|Ms|Mrs|Dr|Prof)\.? [A-Z][a-z]+|",
            // Chinese names: a family name with a title, or in the place of who does it. Family
            // names that begin everyday words (连, 任, 程, 周, 范) are left out.
            r"[小老][赵孙李吴郑王冯陈蒋沈韩杨朱秦吕张曹魏谢苏潘彭唐薛罗郝傅孟黄姚邵汪戴宋熊董梁贾郭徐夏蔡胡卢丁邓崔侯刘叶谭周]|",
            r"[赵孙李吴郑王冯陈蒋沈韩杨朱秦吕张曹魏谢苏潘彭唐薛罗郝傅孟黄姚邵汪戴宋熊董梁贾郭徐夏蔡胡卢丁邓崔侯刘叶谭周](?:工|经理|总监|总|老师|主管|组长|博士)|",
            r"(?:^|[，。；：由请让找]|感谢|通知|联系|已知会)[赵孙李吴郑王冯陈蒋沈韩杨朱秦吕张曹魏谢苏潘彭唐薛罗郝傅孟黄姚邵汪戴宋熊董梁贾郭徐夏蔡胡卢丁邓崔侯刘叶谭]\p{Han}{1,2}(?:正在|在跟进|在处理|在查|负责|跟进|处理|牵头|表示|说|已在|已回滚|已重启|的排查|的帮助)"
        ))
        .ok()
    });
    static PERSON: LazyLock<Option<Regex>> = LazyLock::new(|| {
        Regex::new(concat!(
            r"\b(?i:ask|asked|call|called|ping|pinged|pinging|page|paged|paging|thanks to|contact|contacted|told|tell|according to|reported by|led by|owned by|found by|written by|cc|(?:escalated|handed over|handed|assigned|reassigned|delegated|passed) to|waiting for)\s+(?P<a>\p{Lu}(?:'\p{Lu})?\p{Ll}+)\b|",
            r"\b(?P<b>\p{Lu}(?:'\p{Lu})?\p{Ll}+)(?: \p{Lu}(?:'\p{Lu})?\p{Ll}+)?\s+(?:is|was)\s+(?:on it|on this|looking|checking|investigating|working|paged|on call|restarting|rolling|preparing|comparing|leading|handling)\b|",
            r"\b(?P<c>\p{Lu}(?:'\p{Lu})?\p{Ll}+)(?: \p{Lu}(?:'\p{Lu})?\p{Ll}+)?\s+(?:said|says|thinks|believes|suspects|reported|confirmed|deployed|pushed|merged|restarted|reverted|rolled|noticed|restarts|reverts|checks|rolls|looks|investigates|handles|leads|prepares|compares|takes over|(?:has|takes|took) (?:the )?(?:lead|over|command))\b|",
            r"\b(?P<d>\p{Lu}(?:'\p{Lu})?\p{Ll}+) and (?:\p{Lu}(?:'\p{Lu})?\p{Ll}+)\s+(?:are|were|have)\b|",
            r"\b(?P<e>\p{Lu}(?:'\p{Lu})?\p{Ll}+) (?:from|of) (?:the )?[a-z ]{2,30}(?:team|department|group)\b"
        ))
        .ok()
    });
    if HANDLE
        .as_ref()
        .is_some_and(|handle| handle.is_match(clause))
    {
        return true;
    }
    PERSON
        .as_ref()
        .into_iter()
        .flat_map(|person| person.captures_iter(clause))
        .filter_map(|captures| {
            ["a", "b", "c", "d", "e"]
                .iter()
                .find_map(|name| captures.name(name))
        })
        .any(|name| {
            let name = name.as_str();
            // `Customers reported errors`: several are nobody in particular.
            let several = name.ends_with('s') && name.len() > 4;
            !(several || NOT_NAMES.contains(&name))
        })
}

/// Words that begin a sentence with a capital, or are called something, and are nobody.
const NOT_NAMES: &[&str] = &[
    "We",
    "They",
    "It",
    "He",
    "She",
    "You",
    "This",
    "That",
    "Nobody",
    "Somebody",
    "Someone",
    "Everybody",
    "Everyone",
    "Support",
    "Engineering",
    "Operations",
    "Ops",
    "Team",
    "Management",
    "Monitoring",
    "Development",
    "Marketing",
    "Sales",
    "Finance",
    "Legal",
    "Security",
    "Infrastructure",
    "Platform",
    "Network",
    "Database",
    "Storage",
    "Product",
    "Customer",
    "Service",
    "Provider",
    "Vendor",
    "Payment",
    "Traffic",
    "Tier",
    "Level",
    "Staff",
    "One",
    "Two",
    "Three",
    "Some",
    "Many",
    "Most",
    "Postgres",
    "Redis",
    "Kafka",
    "Nginx",
    "Linux",
    "Search",
    "Checkout",
    "Retry",
    "Business",
    "Amazon",
    "Google",
    "Azure",
    "Cloudflare",
    "Stripe",
    "Microsoft",
    "What",
    "Which",
    "Who",
    "Anyone",
    "Work",
    "Rollback",
];

fn holds_any(clause: &str, words: &[String]) -> bool {
    let folded = fold(clause);
    words.iter().any(|word| {
        folded.match_indices(word.as_str()).any(|(start, found)| {
            let joins = |c: char| c.is_ascii_alphanumeric();
            let before = folded
                .get(..start)
                .and_then(|head| head.chars().next_back());
            let after = folded
                .get(start + found.len()..)
                .and_then(|tail| tail.chars().next());
            !before.is_some_and(joins) && !after.is_some_and(joins)
        })
    })
}

fn holds_percentage(clause: &str) -> bool {
    static SHARE: LazyLock<Option<Regex>> = LazyLock::new(|| {
        Regex::new(r"[0-9]\s*%|[0-9]\s*percent|per cent|[一二三四五六七八九]成|百分之").ok()
    });
    matches(&SHARE, clause)
}

fn names_severity_or_id(clause: &str) -> bool {
    static WORDS: LazyLock<Option<Regex>> =
        LazyLock::new(|| Regex::new(r"(?-u:\b)sev-?\s?[1-4](?-u:\b)|(?-u:\b)inc-?\s?[0-9]+").ok());
    matches(&WORDS, clause)
}

/// The report speaks of data that may have been seen by those who should not: nothing public is
/// drafted (experience.md).
fn exposes_data(report: &str) -> bool {
    static EXPOSED: LazyLock<Option<Regex>> = LazyLock::new(|| {
        Regex::new(concat!(
            r"data (?:leak|breach|exposure)|(?:personal|customer|user) data (?:was |were |is |are )?(?:visible|exposed|leaked|public)|",
            r"(?:sees?|saw|seeing|shown) (?:other|another|someone else'?s?) (?:users?|customers?|tenants?|accounts?|people)|",
            r"\b(?:other|another|someone else|each other)(?:['’]s)?(?: (?:user|customer|client|guest|patient|tenant|member|people|person|account)s?['’]s?| (?:users|customers|clients|guests|patients|tenants|members)['’])? (?:[a-z]+[ -]){0,2}(?:data|details|addresses|e-?mails?|names|invoices?|orders?|bookings?|cards?|photos?|messages?|profiles?|records?)\b[^.;]{0,40}\b(?:shown|visible|seen|sent|exposed|leaked|readable|public)\b|",
            r"\b(?:passwords?|card numbers?|e-?mail addresses|home addresses|phone numbers?|health records?|personal (?:data|details))\b[^.;]{0,30}\b(?:were|was|are|is|became) (?:\w+ )?(?:shown|visible|exposed|leaked|readable|public|sent to)|",
            r"数据泄露|数据泄漏|信息泄露|用户数据外泄|看到了?(?:其他|别的|别人)(?:用户|客户|的)"
        ))
        .ok()
    });
    matches(&EXPOSED, report)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_tells_of_exposed_data() {
        for told in [
            "other customers' e-mail addresses were shown",
            "guests see other guests' booking details: another user's orders are visible",
            "card numbers were sent to the wrong shop",
            "customers saw other customers' invoices",
            "personal data is visible",
            "用户看到了别人的订单",
        ] {
            assert!(exposes_data(&fold(told)) || exposes_data(told), "{told}");
        }
        for calm in [
            "other customers were not affected",
            "orders of other regions are sent late",
            "no data lost",
            "the order details page is slow",
            "another user reports the same",
        ] {
            assert!(!exposes_data(calm), "{calm}");
        }
    }

    #[test]
    fn r19_causes_promises_and_blame() {
        let causes = vec![Phrase::new("Refund job holds JDBC connections open")];
        for (clause, cause, promise, blame) in [
            ("Some card payments fail", false, false, false),
            (
                "Requests wait for a database connection",
                false,
                false,
                false,
            ),
            (
                "Payments fail because of the refund job",
                true,
                false,
                false,
            ),
            (
                "The refund job holds JDBC connections open",
                true,
                false,
                false,
            ),
            ("It is the refund job", true, false, false),
            ("The root cause is not known yet", false, false, false),
            ("支付失败是由于退款任务", true, false, false),
            ("原因尚未确认，不清楚是否由于发布导致", false, false, false),
            ("It will be fixed in 10 minutes", false, true, false),
            ("Restored by 04:00 UTC", false, true, false),
            (
                "The vendor expects to be restored by 05:00 UTC",
                false,
                false,
                false,
            ),
            ("预计十分钟内恢复", false, true, false),
            ("Ben forgot to test it", false, false, true),
            ("人为错误", false, false, true),
            ("用户重试可以成功", false, false, false),
            ("We are looking at the upstream", false, false, false),
        ] {
            assert_eq!(
                is_cause(clause, &causes) || is_part_of_a_cause(clause, &causes),
                cause,
                "cause: {clause}"
            );
            let report = "503s. Vendor status page: service should be restored by 05:00 UTC.";
            assert_eq!(is_promise(clause, report), promise, "promise: {clause}");
            assert_eq!(is_blame(clause), blame, "blame: {clause}");
        }
    }

    #[test]
    fn r19_people_stay_inside() {
        for (clause, person) in [
            ("Maria is checking the pool", true),
            ("ask Ben for the key", true),
            ("@ops-lead has the pager", true),
            ("Ana Lopez said it is fine", true),
            ("Postgres is idle", false),
            ("Some visitors see a white page", false),
            ("Workers wait for a file share", false),
            ("call volume is up", false),
        ] {
            assert_eq!(names_a_person(clause), person, "{clause}");
        }
    }

    #[test]
    fn r19_shares_become_words() {
        for (said, expected) in [
            ("about 8 % of card payments fail", "Some card payments fail"),
            (
                "since 02:51 about 12% of the charges fail",
                "since 02:51 some charges fail",
            ),
            ("70 percent of all logins fail", "Many logins fail"),
            ("约 20% 的支付失败", "部分支付失败"),
            // Nothing is counted here: the clause goes by the rule on percentages.
            ("error rate 12 %", "error rate 12 %"),
            ("错误率 20%", "错误率 20%"),
        ] {
            assert_eq!(without_shares(said), expected, "{said}");
        }
    }

    #[test]
    fn r19_internals_stay_inside() {
        for (clause, internal) in [
            ("Some card payments fail", false),
            ("New chat sessions can't be opened", false),
            ("重试可以成功", false),
            ("db-7 is slow", true),
            ("see https://example.test/x", true),
            ("10.0.0.2 refuses", true),
            ("hikaricp_connections_active is 20", true),
            ("OrderPaymentProcessor leaks", true),
            ("pricing.internal does not resolve", true),
            ("ask ana@example.test", true),
            ("/mnt/fonts hangs", true),
        ] {
            assert_eq!(holds_internals(clause), internal, "{clause}");
        }
    }

    #[test]
    fn r19_clauses_that_do_not_pass_go_alone() {
        let kept = without(
            "Some payments fail, db-7 is slow. Retries work.",
            holds_internals,
        );
        assert_eq!(kept, "Some payments fail, Retries work.");
        assert_eq!(without("db-7 is slow", holds_internals), "");
    }
}

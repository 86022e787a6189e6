//! Striking secrets and personal data, once at the entrance and again at the exit (R22).
//!
//! Wanted: no secret is stored, logged or sent, in whatever width or with whatever invisible
//! characters it was pasted; what helps the diagnosis stays (private addresses, hosts, trace ids,
//! UUIDs, hashes); the same secret is the same placeholder wherever it stands, so that "the same
//! token in both logs" can still be seen; redacting twice changes nothing.
//!
//! Design: rules as data, each with the words without which it can't match (one Aho-Corasick pass
//! finds which rules have to run), a pattern, and a check in code (checksum, entropy, neighbours).
//! They run over a copy in NFKC without invisible characters whose every byte knows where it came
//! from. Placeholders that stand in the text already are one character of that copy that no rule
//! holds. Passes are repeated until nothing is found; each pass leaves less to find.
//!
//! A placeholder carries four hex digits of an HMAC-SHA-256 under the installation's key: enough to
//! tell a handful of secrets apart, too little to search for them.
//!
//! Deliberately absent: judging whether a secret is live, and names of people: a list of names
//! strikes words that are none.

use hmac::{Hmac, KeyInit, Mac};
use regex::Regex;
use sha2::Sha256;
use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::LazyLock;
use unicode_normalization::UnicodeNormalization;

/// The installation's key for placeholders. Never printed.
#[derive(Clone)]
pub struct Key([u8; 32]);

impl Key {
    /// A key from 32 random bytes.
    pub fn new(bytes: [u8; 32]) -> Self {
        Self(bytes)
    }
}

impl std::fmt::Debug for Key {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Key(..)")
    }
}

/// A text without its secrets.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Redacted {
    /// The text with placeholders.
    pub text: String,
    /// How often each kind was struck; placeholders of an earlier redaction are not counted.
    pub struck: BTreeMap<&'static str, u32>,
}

/// Passes after which a text is taken as it is; two are the rule, more take a text made for it.
const MAX_PASSES: usize = 8;

/// Strikes what must not be stored, logged or sent.
pub fn redact(text: &str, key: &Key) -> Redacted {
    let mut redacted = Redacted {
        text: text.to_owned(),
        struck: BTreeMap::new(),
    };
    for _ in 0..MAX_PASSES {
        let found = find(&redacted.text);
        if found.is_empty() {
            break;
        }
        let mut out = String::with_capacity(redacted.text.len());
        let mut end = 0;
        for secret in found {
            out.push_str(redacted.text.get(end..secret.at.start).unwrap_or_default());
            out.push_str(&placeholder(secret.kind, &secret.value, key));
            end = secret.at.end;
            *redacted.struck.entry(secret.kind).or_default() += 1;
        }
        out.push_str(redacted.text.get(end..).unwrap_or_default());
        redacted.text = out;
    }
    redacted
}

fn placeholder(kind: &str, value: &str, key: &Key) -> String {
    let mut digest = String::with_capacity(4);
    if let Ok(mut mac) = Hmac::<Sha256>::new_from_slice(&key.0) {
        mac.update(value.as_bytes());
        for byte in mac.finalize().into_bytes().iter().take(2) {
            digest.push_str(&format!("{byte:02x}"));
        }
    }
    format!("[REDACTED {kind} {digest}]")
}

/// Stands in the copy for a placeholder of an earlier redaction. Private use: no text of people
/// holds it, and one that does loses it in the copy.
const STRUCK: char = '\u{F8FF}';

/// The text as the rules see it, and where each byte of it came from.
struct Copy {
    text: String,
    /// For each byte of the copy the range of the original that it stands for.
    origin: Vec<(u32, u32)>,
}

impl Copy {
    fn of(original: &str) -> Self {
        let mut copy = Self {
            text: String::with_capacity(original.len()),
            origin: Vec::with_capacity(original.len()),
        };
        let mut struck = PLACEHOLDER
            .as_ref()
            .map(|pattern| {
                pattern
                    .find_iter(original)
                    .map(|found| found.range())
                    .collect::<Vec<_>>()
            })
            .unwrap_or_default()
            .into_iter()
            .peekable();
        for (at, c) in original.char_indices() {
            while struck.peek().is_some_and(|range| range.end <= at) {
                struck.next();
            }
            if let Some(range) = struck.peek().filter(|range| range.contains(&at)) {
                if range.start == at {
                    copy.push(STRUCK, range.start, range.end);
                }
                continue;
            }
            let end = at + c.len_utf8();
            if c.is_ascii() {
                copy.push(c, at, end);
            } else if !is_invisible(c) {
                for normal in std::iter::once(c).nfkc() {
                    let normal = if normal == STRUCK { '\u{FFFD}' } else { normal };
                    copy.push(normal, at, end);
                }
            }
        }
        copy
    }

    fn push(&mut self, c: char, start: usize, end: usize) {
        self.text.push(c);
        // A Discord attachment has at most 25 MB; beyond 4 GB the map would be wrong.
        let place = (
            u32::try_from(start).unwrap_or(u32::MAX),
            u32::try_from(end).unwrap_or(u32::MAX),
        );
        self.origin.resize(self.text.len(), place);
    }

    fn original(&self, range: &Range<usize>) -> Option<Range<usize>> {
        let (start, _) = *self.origin.get(range.start)?;
        let (_, end) = *self.origin.get(range.end.checked_sub(1)?)?;
        Some(start as usize..end as usize)
    }
}

/// Characters without width, and those that steer direction.
fn is_invisible(c: char) -> bool {
    matches!(c,
        '\u{00AD}' | '\u{034F}' | '\u{061C}' | '\u{180E}' | '\u{200B}'..='\u{200F}'
        | '\u{202A}'..='\u{202E}' | '\u{2060}'..='\u{2064}' | '\u{2066}'..='\u{206F}'
        | '\u{FE00}'..='\u{FE0F}' | '\u{FEFF}' | '\u{E0000}'..='\u{E007F}')
}

static PLACEHOLDER: LazyLock<Option<Regex>> =
    LazyLock::new(|| Regex::new(r"\[REDACTED [a-z0-9-]{2,40} [0-9a-f]{4}\]").ok());

struct Secret {
    kind: &'static str,
    at: Range<usize>,
    value: String,
}

/// What is to be struck, in the order of the text, not overlapping.
fn find(original: &str) -> Vec<Secret> {
    let copy = Copy::of(original);
    let mut found: Vec<(Range<usize>, usize)> = Vec::new();
    for (index, rule) in rules_to_run(&copy.text) {
        for captures in rule.pattern.captures_iter(&copy.text) {
            let Some(whole) = captures.get(0) else {
                continue;
            };
            let value = captures.iter().skip(1).flatten().next().unwrap_or(whole);
            let text = value.as_str();
            // Nothing left to strike.
            if text.chars().all(|c| c == STRUCK || !c.is_alphanumeric()) {
                continue;
            }
            let context = Context {
                whole: whole.as_str(),
                before: copy.text.get(..value.start()).unwrap_or_default(),
                after: copy.text.get(value.end()..).unwrap_or_default(),
            };
            if (rule.check)(text, &context) {
                found.push((value.range(), index));
            }
        }
    }
    // Overlaps become one; the rule that stands first in the table names it.
    found.sort_by_key(|(range, index)| (range.start, *index));
    let mut merged: Vec<(Range<usize>, usize)> = Vec::new();
    for (range, index) in found {
        match merged.last_mut() {
            Some((last, name)) if range.start < last.end => {
                last.end = last.end.max(range.end);
                *name = (*name).min(index);
            }
            _ => merged.push((range, index)),
        }
    }
    merged
        .into_iter()
        .filter_map(|(range, index)| {
            let rule = COMPILED.rules.get(index)?;
            let value = copy.text.get(range.clone())?;
            Some(Secret {
                kind: rule.kind,
                at: copy.original(&range)?,
                value: if rule.digits {
                    value
                        .chars()
                        .filter(char::is_ascii_alphanumeric)
                        .collect::<String>()
                        .to_ascii_uppercase()
                } else {
                    value.to_owned()
                },
            })
        })
        .collect()
}

/// The surroundings of a match, in the copy.
struct Context<'a> {
    whole: &'a str,
    before: &'a str,
    after: &'a str,
}

type Check = fn(&str, &Context<'_>) -> bool;

/// One kind of secret: its name, what it can't be without (any of these, ASCII case ignored; empty:
/// it always runs), its pattern (the first group that took part, else the whole match, is struck),
/// and the check.
struct Rule {
    kind: &'static str,
    words: &'static [&'static str],
    pattern: &'static str,
    check: Check,
    /// Numbers: equal whatever separators they are written with.
    digits: bool,
}

const fn secret(
    kind: &'static str,
    words: &'static [&'static str],
    pattern: &'static str,
    check: Check,
) -> Rule {
    Rule {
        kind,
        words,
        pattern,
        check,
        digits: false,
    }
}

const fn number(
    kind: &'static str,
    words: &'static [&'static str],
    pattern: &'static str,
    check: Check,
) -> Rule {
    Rule {
        kind,
        words,
        pattern,
        check,
        digits: true,
    }
}

fn always(_: &str, _: &Context<'_>) -> bool {
    true
}

/// In the patterns `\b` is the ASCII word boundary: Han characters beside a key must not hide it.
#[rustfmt::skip]
const RULES: &[Rule] = &[
    // Keys in blocks, over the whole text. Cut off: as far as it looks like one.
    secret("private-key", &["private key"],
        r#"-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----(?:[\s\S]*?-----END [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----|(?:(?:\\[nr]|[\s"',>|])*[A-Za-z0-9+/=]{16,})*)"#, always),
    secret("private-key", &["age-secret-key"], r"(?i)AGE-SECRET-KEY-1[0-9A-Z]{50,}", always),
    secret("private-key", &["putty-user-key"], r"PuTTY-User-Key-File-[0-9]:[\s\S]*?Private-MAC: [0-9a-f]+", always),
    // Clouds.
    secret("aws-access-key", &["akia", "asia", "agpa", "aida", "aroa", "aipa", "anpa", "anva", "a3t", "abia", "acca"],
        r"\b(?:AKIA|ASIA|AGPA|AIDA|AROA|AIPA|ANPA|ANVA|A3T[A-Z0-9]|ABIA|ACCA)[A-Z0-9]{16}\b", always),
    secret("aws-secret-key", &["aws", "secret", "amazon"],
        r#"(?i)(?:aws|amazon|secret)[a-z0-9_ .\-]{0,30}(?:key|secret|token)?[a-z0-9_\-]{0,10}["'\\\]]{0,4}\s{0,3}(?:=>|:=|=|:|,|\s)\s{0,3}["'`\\]{0,4}([A-Za-z0-9/+]{40})(?:[^A-Za-z0-9/+=]|$)"#, mixed),
    secret("aws-session-token", &["session", "x-amz"],
        r#"(?i)(?:session_?token|x-amz-security-token)["']{0,2}\s{0,3}(?:=>|=|:)\s{0,3}["']?([A-Za-z0-9/+=%]{80,})"#, always),
    secret("aws-bedrock-key", &["absk", "bedrock-api-key"], r"\bABSK[A-Za-z0-9+/]{40,}={0,2}|bedrock-api-key-[A-Za-z0-9+/=_\-.%]{20,}", always),
    secret("gcp-api-key", &["aiza"], r"\bAIza[A-Za-z0-9_\-]{35}", always),
    secret("gcp-oauth", &["ya29.", "gocspx-", "1//0"], r"\bya29\.[A-Za-z0-9_\-.]{20,}|\bGOCSPX-[A-Za-z0-9_\-]{20,}|\b1//0[A-Za-z0-9_\-]{30,}", always),
    secret("azure-key", &["accountkey", "sharedaccess", "sig="],
        r"(?i)(?:AccountKey|SharedAccessKey|SharedAccessSignature)=([A-Za-z0-9+/%=\-&]{30,})|[?&]sig=([A-Za-z0-9%+/=_\-]{20,})", always),
    secret("azure-client-secret", &["q~"], r"(?:^|[^A-Za-z0-9_~.\-])([A-Za-z0-9_~.]{3}[0-9]Q~[A-Za-z0-9_~.\-]{31,34})", always),
    secret("azure-devops-token", &["azdo"], r"\b[A-Za-z0-9]{76}AZDO[A-Za-z0-9]{4}\b", always),
    secret("alibaba-key", &["ltai"], r"\bLTAI[A-Za-z0-9]{12,24}\b", mixed),
    secret("tencent-key", &["akid"], r"\bAKID[A-Za-z0-9]{32}\b", always),
    // Forges and chat.
    secret("github-token", &["ghp_", "gho_", "ghu_", "ghs_", "ghr_", "github_pat_"], r"\bgh[pousr]_[A-Za-z0-9]{30,255}|\bgithub_pat_[A-Za-z0-9_]{22,255}", always),
    secret("gitlab-token", &["glpat", "gldt", "glrt", "glcbt", "glptt", "glft", "glsoat", "glimt", "glagent", "gloas", "glffct", "gr1348941", "_gitlab_session"],
        r"\b(?:glpat|gldt|glrt|glrtr|glcbt|glptt|glft|glsoat|glimt|glagent|gloas|glffct)-[A-Za-z0-9_\-=.]{20,}|\bGR1348941[A-Za-z0-9_\-]{20,}|_gitlab_session=([0-9a-z]{32})", always),
    secret("slack-token", &["xox", "xapp-", "xwfp-"], r"(?i)\bxox[a-z](?:[.\-]xox[a-z])?-[A-Za-z0-9\-]{10,}|\bxapp-[0-9]-[A-Za-z0-9\-]{10,}|\bxwfp-[A-Za-z0-9\-]{10,}", always),
    secret("webhook-url", &["hooks.slack.com", "webhooks/", "office.com/webhook", "/bot/v2/hook/", "webhook/send", "robot/send", "hooks.zapier.com", "logic.azure.com", "chat.googleapis.com"],
        concat!(r"hooks\.slack(?:-gov)?\.com/((?:services|workflows|triggers)/[A-Za-z0-9/_+\-]{16,})",
            r"|discord(?:app)?\.com/api/(?:v[0-9]+/)?webhooks/([0-9]{10,20}/[A-Za-z0-9_\-]{30,})",
            r"|office\.com/(webhook(?:b2)?/[A-Za-z0-9@/\-]{20,})",
            r"|/bot/v2/hook/([A-Za-z0-9\-]{10,})|webhook/send\?key=([A-Za-z0-9\-]{10,})|robot/send\?access_token=([A-Za-z0-9]{20,})",
            r"|hooks\.zapier\.com/hooks/catch/([A-Za-z0-9/]{8,})|chat\.googleapis\.com/v1/spaces/([A-Za-z0-9_\-/?=&%]{20,})"), always),
    secret("discord-token", &["."], r"\b[MNO][A-Za-z0-9_\-]{22,27}\.[A-Za-z0-9_\-]{6}\.[A-Za-z0-9_\-]{27,40}", mixed),
    secret("telegram-token", &[":a"], r"\b[0-9]{8,10}:A[A-Za-z0-9_\-]{34}", mixed),
    // Payment and mail.
    secret("stripe-key", &["sk_", "rk_", "pk_", "whsec_"], r"\b(?:sk|rk|pk)_(?:live|test|prod)_[A-Za-z0-9]{10,}|\bwhsec_[A-Za-z0-9+/=]{20,}", always),
    secret("sendgrid-key", &["sg."], r"\bSG\.[A-Za-z0-9_\-=.]{16,64}\.[A-Za-z0-9_\-=.]{16,64}", always),
    secret("mail-api-key", &["-us", "key-", "xkeysib-", "xsmtpsib-"], r"\b[0-9a-f]{32}-us[0-9]{1,2}\b|\bkey-[0-9a-f]{32}\b|\bx(?:key|smtp)sib-[0-9a-f]{64}-[A-Za-z0-9]{16}", always),
    secret("twilio-key", &["sk", "ac"], r"\bSK[0-9a-f]{32}\b|\bAC[0-9a-f]{32}\b", always),
    secret("square-key", &["sq0", "eaaa"], r"\bsq0[a-z]{3}-[A-Za-z0-9_\-]{22,43}|\bEAAA[A-Za-z0-9_\-]{56,}", always),
    secret("shopify-token", &["shpat_", "shpca_", "shppa_", "shpss_"], r"\bshp(?:at|ca|pa|ss)_[A-Fa-f0-9]{32}", always),
    // Models.
    secret("model-api-key", &["sk-", "gsk_", "hf_", "api_org_", "pplx-", "xai-", "r8_", "nvapi-", "tgp_v1_", "csk-", "fw_"],
        r"\bsk-(?:[a-z0-9]+-){0,3}[A-Za-z0-9_\-]{20,}|\bgsk_[A-Za-z0-9]{40,}|\b(?:hf|api_org)_[A-Za-z]{30,}|\bpplx-[A-Za-z0-9]{40,}|\bxai-[A-Za-z0-9_]{60,}|\br8_[A-Za-z0-9]{30,}|\bnvapi-[A-Za-z0-9_\-]{40,}|\btgp_v1_[A-Za-z0-9_\-]{30,}|\bcsk-[a-z0-9]{40,}|\bfw_[A-Za-z0-9]{22,}", mixed),
    // Registries and platforms: tokens that say by their prefix what they are.
    secret("registry-token", &["npm_", "pypi-", "rubygems_", "dckr_pat_", "dckr_oat_", "clojars_", "cio", "oy2"],
        r"\bnpm_[A-Za-z0-9]{36}|\bpypi-[A-Za-z0-9_\-]{50,}|\brubygems_[a-f0-9]{48}|\bdckr_[op]at_[A-Za-z0-9_\-]{20,}|(?i:\bCLOJARS_)[A-Za-z0-9]{60}|\bcio[A-Za-z0-9]{32}\b|\boy2[a-z0-9]{43}\b", always),
    secret("vault-token", &["hvs.", "hvb.", "hvr.", "s.", "b.aaaaa", "atlasv1"], r"\bhv[sbr]\.[A-Za-z0-9_\-]{20,}|\b[sb]\.[A-Za-z0-9]{24}\b|\bs\.[A-Za-z0-9_\-]{60,}|\b[A-Za-z0-9]{14}\.(?i:atlasv1)\.[A-Za-z0-9_=\-]{60,70}", mixed),
    secret("api-token", &["dop_v1_", "doo_v1_", "dor_v1_", "dapi", "pul-", "nrak-", "nrii-", "nrjs-", "nral", "glc_", "glsa_", "sntrys_", "sntryu_", "dp.", "lin_api_", "lin_oauth", "ntn_", "secret_", "atatt3", "atctt3", "atbb", "figd_", "pmak-", "pscale_", "pnu_", "rdme_", "dt0", "ops_ey", "fo1_", "fm1_", "fm2_", "hrku-", "ico-", "sha256~", "api-", "tk-us-", "squ_", "sqp_", "sqa_", "sbp_", "tskey-", "tfp_", "akc", "duffel_", "ezak", "eztk", "fio-u-", "_mmk", "sgp_", "slk_", "sm_", "shippo_", "aqvn", "t1.", "aio_", "p8e-", "v1.0-", "rpa_", "phc_", "phx_", "pat.", "cmvmd", "nfp_", "bkua_", "ccipat_", "eyjrijoi", "sl.", "dnkey-", "flwseck", "flwpub", "jfd", "lip_", "vercel_", "kpat_", "waka_", "rnd_", "ubdy", "pk.ey", "sk.ey", "xkeysib", "cf_", "live_", "test_", "gocardless", "tkn.v1_", "bbff-", "odt_", "ak_live", "s-s4t2", "eaa", "pk.", "sbp_"],
        concat!(r"\bdo[opr]_v1_[a-f0-9]{64}|\bdapi[a-f0-9]{32}(?:-[0-9])?\b|\bpul-[a-f0-9]{40}|\bNR(?:AK|II|JS|RA)-[A-Za-z0-9_\-]{19,}|\b[A-Za-z0-9]{36}NRAL\b|\bglc_[A-Za-z0-9+/=]{32,}|\bglsa_[A-Za-z0-9]{32}_[A-Fa-f0-9]{8}",
            r"|\bsntry[su]_[A-Za-z0-9+/=_]{40,}|\bdp\.(?:pt|st|ct|sa|scim|audit)\.[A-Za-z0-9.\-_]{20,}|\blin_(?:api|oauth)_[A-Za-z0-9]{32,}|\bntn_[A-Za-z0-9]{40,}|\bsecret_[A-Za-z0-9]{43}\b|\bAT[AC]TT3[A-Za-z0-9_\-=]{50,}|\bATBB[A-Za-z0-9]{24,}",
            r"|\bfigd_[A-Za-z0-9_\-]{30,}|\bPMAK-[A-Fa-f0-9]{24}-[A-Fa-f0-9]{34}|\bpscale_(?:tkn|pw|oauth)_[A-Za-z0-9=_.\-]{30,}|\bpnu_[A-Za-z0-9]{36}|\brdme_[a-z0-9]{60,}|\bdt0[a-z][0-9]{2}\.[A-Za-z0-9]{20,24}\.[A-Za-z0-9]{60,64}",
            r"|\bops_ey[A-Za-z0-9+/=]{40,}|\bA3-[A-Z0-9]{6}-(?:[A-Z0-9]{11}|[A-Z0-9]{6}-[A-Z0-9]{5})-[A-Z0-9]{5}-[A-Z0-9]{5}-[A-Z0-9]{5}\b|\bf(?:o1|m[12][ar]?)_[A-Za-z0-9+/=_\-]{40,}|\bHRKU-AA[A-Za-z0-9_\-]{40,}|\bico-[A-Za-z0-9]{32}\b|\bsha256~[A-Za-z0-9_\-]{43}|\bAPI-[A-Z0-9]{26}\b|\btk-us-[A-Za-z0-9_\-]{48}",
            r"|\bsq[upa]_[a-z0-9]{40}|\bsbp_[a-f0-9]{40}|\btskey-[A-Za-z0-9\-]{16,}|\btfp_[A-Za-z0-9_.=\-]{40,}|\bAKC[A-Za-z0-9]{10,}\b|\bcmVmdGtu[A-Za-z0-9]{40,}|\bduffel_(?:test|live)_[A-Za-z0-9_\-=]{40,}|\bEZ[AT]K[A-Za-z0-9]{54}|\bfio-u-[A-Za-z0-9_\-=]{60,}|\b[A-Za-z0-9]{6}_[A-Za-z0-9]{29}_mmk\b",
            r"|\bsgp_[A-Za-z0-9_]{40,}|\bslk_[a-f0-9]{60,}|\bsm_(?:pat|aat|sat)_[A-Za-z0-9]{16}|\bshippo_(?:live|test)_[A-Fa-f0-9]{40}|\bAQVN[A-Za-z0-9_\-]{35,38}|\bt1\.[A-Z0-9a-z_\-]+=*\.[A-Z0-9a-z_\-]{80,}=*|\baio_[A-Za-z0-9]{28}|\bp8e-[A-Za-z0-9\-]{32}|\bv1\.0-[a-f0-9]{24}-[a-f0-9]{146}|\bph[cx]_[A-Za-z0-9]{40,}",
            r"|\bpat\.[A-Za-z0-9_\-]{22}\.[0-9a-f]{24}\.[A-Za-z0-9]{20}|\bnfp_[A-Za-z0-9]{36,}|\bbkua_[a-f0-9]{40}|\bCCIPAT_[A-Za-z0-9_]{40,}|\beyJrIjoi[A-Za-z0-9+/=_\-]{60,}|\bsl\.[A-Za-z0-9_=\-]{130,}|\bdnkey-[A-Za-z0-9=_\-]{26}-[A-Za-z0-9=_\-]{52}|\bFLW(?:SECK|PUBK)_TEST-[A-Za-z0-9]{12,}|\bkpat_[A-Za-z0-9]{40,}|\bwaka_[0-9a-f\-]{36}|\brnd_[A-Za-z0-9]{28,}|\b[ps]k\.eyJ[A-Za-z0-9_\-]{60,}\.[A-Za-z0-9_\-]{20,}|\bpat[A-Za-z0-9]{14}\.[a-f0-9]{64}",
            r"|\btkn\.v1_[A-Za-z0-9=_\-]{40,}|\bBBFF-[A-Za-z0-9]{30,}|\bodt_[A-Za-z0-9]{32,}|\b[as]k_(?:live|test)_[A-Za-z0-9]{20,}|\bs-s4t2(?:af|ud)-[a-f0-9]{64}|\bEAA[A-Za-z0-9]{80,}|\bpk\.[a-z0-9]{60,}\.[a-z0-9]{20,}|\bsbp_[A-Za-z0-9]{40,44}\b"), mixed),
    secret("jwt", &["ey"], r"\bey[A-Za-z0-9]{8,}[A-Za-z0-9_\-]*\.ey[A-Za-z0-9/_\-]{8,}={0,2}(?:\.[A-Za-z0-9/_\-]{4,}={0,2})?", mixed),
    secret("jwt", &["zxlk", "ey"], r"\bZXlK[A-Za-z0-9+/=_\-]{60,}|\beyJ[A-Za-z0-9_\-]{10,}\.\.?[A-Za-z0-9_\-]{10,}\.[A-Za-z0-9_\-.]{20,}", mixed),
    secret("password-hash", &["$2", "$5$", "$6$", "$1$", "$apr1$", "$argon2", "$y$", "$krb5", "pbkdf2"],
        r#"\$(?:2[abxy]|apr1|[156y]|argon2id?|krb5[a-z0-9]+)\$[^\s"',:]{16,}|\bpbkdf2_sha256\$[^\s"',]{20,}"#, begins_a_word),
    // Headers and addresses.
    secret("url-password", &["://"], r#"\b[A-Za-z][A-Za-z0-9+.\-]{1,20}://[^\s/?#@:"'<>]{0,100}:([^\s/@"'<>]{1,200})@"#, value),
    secret("cookie", &["cookie"], r#"(?i)\b(?:set-)?cookie["']?\s{0,3}:\s{0,3}["']?([A-Za-z0-9_.\-]{1,60}=[^\r\n"']{4,})"#, always),
    secret("authorization", &["authorization", "bearer", "basic ", "x-api-key", "x-auth", "x-vault-token", "private-token", "token "],
        r#"(?i)\b(?:proxy-)?authorization["']?\s{0,3}[:=]\s{0,3}["']?(?:(?:bearer|basic|token|apikey|digest|negotiate|aws4-hmac-sha256)\s+)?([^\s"',;<>]{6,})|\bbearer\s+["']?([A-Za-z0-9._~+/=\-]{16,})|\bx-(?:api-key|auth-token|auth-key|vault-token|access-token)["']?\s{0,3}[:=]\s{0,3}["']?([^\s"',;<>]{6,})|\bprivate-token["']?\s{0,3}[:=]\s{0,3}["']?([^\s"',;<>]{6,})|\bbasic\s+([A-Za-z0-9+/]{12,}={0,2})(?:[^A-Za-z0-9+/=]|$)"#, header_value),
    // Commands.
    secret("password", &["-u", "--user", "-p", "--pass", "--token", "--secret", "--api", "-a"],
        r#"\bcurl\b[^\r\n]{0,300}?\s(?:-u|--user|--proxy-user)[ =]?["']?[^\s"':]{0,80}:["']?([^\s"']{2,200})|\b(?:sshpass|mysql|mysqldump|mysqladmin|mariadb)\b[^\r\n]{0,120}?\s-p ?["']?([^\s"'\-][^\s"']{3,})|\bredis-cli\b[^\r\n]{0,120}?\s-a ["']?([^\s"']{4,})|(?i:--(?:password|passwd|pass|token|secret|api-?key|client-secret))[ =]["']?([^\s"'<>\-$][^\s"'<>]{3,})|\bpsexec\b[^\r\n]{0,200}?\s-p ["']?([^\s"']{3,})"#, value),
    secret("password", &["password"],
        r#"(?i)\bpassword\s{1,3}["']([^\s"']{3,})["']|\blogin\s+\S{1,80}\s+password\s+(\S{3,})|\s-password\s+["']?([^\s"']{3,})|password["']\s+value=["']([^"']{3,})["']"#, value),
    secret("secret", &["kind"],
        r#"(?m)^[ \t]+["']?[A-Za-z0-9._\-]+["']?:[ \t]*(?:[|>]-?[ \t]*\r?\n[ \t]+)?["']?([A-Za-z0-9+/]{8,}={0,2})["']?[ \t]*$"#, is_in_a_secret),
    // Named values. Passwords: any value that isn't plainly a word; others: by entropy.
    secret("password", &["pass", "pwd", "密码", "口令"],
        r#"(?i)(?:pass(?:word|wd|phrase|code)?|pwd|密码|口令)[a-z0-9_]{0,16}["'\\\])>]{0,5}\s{0,4}(?:=>|:=|\?=|\|\||={1,3}|:|,\s{0,2}["']|是|为|>)\s{0,4}["'`\\]{0,5}([^\s"'`,;<>&\\]{3,200})"#, password_value),
    secret("secret", &["secret", "token", "key", "credential", "auth", "密钥", "令牌", "凭证", "秘钥", "signature", "license"],
        r#"(?i)(?:secret|token|(?:api|access|auth|account|private|encryption|signing|master|app|client|service|license|consumer|storage|user|admin|io|deploy|rest|write|read|session|shared|subscription)[_\- ]{0,2}key|apikey|_key|credentials?|auth|密钥|令牌|凭证|秘钥)[a-z0-9_\-]{0,24}["'\\\])>]{0,5}\s{0,4}(?:=>|:=|\?=|\|\||={1,3}|:|,\s{0,2}["']|是|为|>|\(\s{0,2}["'])\s{0,4}["'`=\\]{0,5}([A-Za-z0-9_\-.+/=~@!%^*#]{8,400})"#, secret_value),
    secret("secret", VENDORS,
        r#"(?i)(?:adafruit|airtable|asana|atlassian|azure_?search|beamer|bitbucket|bittrex|cloudflare|codecov|cohere|coinbase|confluent|contentful|datadog|discord|drone|dropbox|etsy|fastly|finicity|finnhub|flickr|freshbooks|gitter|gocardless|heroku|hubspot|intercom|jfrog|kraken|kucoin|launchdarkly|linkedin|lob|looker|mailchimp|mailgun|mapbox|mattermost|messagebird|netlify|new-?relic|nytimes|newyorktimes|okta|plaid|private_?ai|rapidapi|sendbird|sentry|snyk|sonar|sourcegraph|squarespace|sumo|travis|trello|twitch|twitter|yandex|zendesk)[a-z0-9_ .\-]{0,20}["'\\\])>]{0,5}\s{0,4}(?:=>|:{1,3}=|\?=|\|\||={1,2}|:|,|>)\s{0,4}["'`=\\]{0,5}([A-Za-z0-9_\-.=:%]{20,300})"#, vendor_value),
    secret("secret", &["secret", "token"],
        r#"(?i)\b(?:secret|token)(?:[ _\-]key)? ["'`]?([A-Za-z0-9_\-+/=]{20,300})"#, vendor_value),
    // People.
    secret("email", &["@", "at]", "at)"],
        r"\b[A-Za-z0-9][A-Za-z0-9._%+\-]{0,63}@[A-Za-z0-9](?:[A-Za-z0-9\-]{0,62})(?:\.[A-Za-z0-9\-]{1,63}){0,6}\.[A-Za-z]{2,24}\b|\b[A-Za-z0-9][A-Za-z0-9._%+\-]{0,63} ?[\[(]at[\])] ?[A-Za-z0-9\-]{1,63}(?: ?[\[(]dot[\])] ?|\.)[A-Za-z]{2,24}\b", is_email),
    number("iban", &[], r"\b[A-Z]{2}[0-9]{2}(?:[ \-]?[A-Z0-9]{4}){2,7}(?:[ \-]?[A-Z0-9]{1,3})?\b", is_iban),
    number("cn-id", &[], r"[1-9][0-9]{5}[ \-]?(?:18|19|20)[0-9]{2}[ \-]?(?:0[1-9]|1[0-2])(?:0[1-9]|[12][0-9]|3[01])[ \-]?[0-9]{3}[0-9Xx]", is_cn_id),
    number("card", &[], r"[2-6](?:[ \-]?[0-9]){13,18}", is_card),
    number("us-ssn", &[], r"[0-8][0-9]{2}-[0-9]{2}-[0-9]{4}", is_ssn),
    number("us-ssn", &["ssn", "social security"], r"(?i)(?:ssn|social security(?: number| no\.?)?)[\s:=#]{1,5}([0-9]{3}[ \-]?[0-9]{2}[ \-]?[0-9]{4})", is_ssn),
    number("account-number", &["account", "acct", "账号", "卡号", "银行卡", "账户", "routing"],
        r"(?i)(?:account (?:no\.?|number|#)|acct\.?(?: no\.?)?|bank account|routing (?:no\.?|number)|账号|卡号|银行卡号?|账户)[^0-9\r\n]{0,8}([0-9](?:[ \-]?[0-9]){7,23})", separated),
    number("phone", &[], r"(?:\+?86[ \-]?)?1[3-9][0-9][ \-]?[0-9]{4}[ \-]?[0-9]{4}", is_cn_mobile),
    number("phone", &["+"], r"\+[1-9][0-9]{0,2}(?:[ .\-]?\(?[0-9]{1,5}\)?){2,6}", is_phone),
    number("phone", &[], r"\(?[2-9][0-9]{2}(?:\) ?|[\-])[2-9][0-9]{2}[\- ][0-9]{4}", separated),
    number("phone", &["phone", "tel", "mobile", "call", "电话", "手机", "座机", "联系"],
        r"(?i)(?:\bphone|\btel|\btelephone|\bmobile|\bcall|电话|手机|座机|联系方式|手机号)[a-z]{0,8}[^0-9+\r\n]{0,8}(\+?\(?[0-9](?:[ \-()]{0,2}[0-9]){6,14})", separated),
];

/// What the rule of vendors' names can't be without.
#[rustfmt::skip]
const VENDORS: &[&str] = &[
    "adafruit", "airtable", "asana", "atlassian", "azure", "beamer", "bitbucket", "bittrex",
    "cloudflare", "codecov", "cohere", "coinbase", "confluent", "contentful", "datadog", "discord",
    "drone", "dropbox", "etsy", "fastly", "finicity", "finnhub", "flickr", "freshbooks", "gitter",
    "gocardless", "heroku", "hubspot", "intercom", "jfrog", "kraken", "kucoin", "launchdarkly",
    "linkedin", "lob", "looker", "mailchimp", "mailgun", "mapbox", "mattermost", "messagebird",
    "netlify", "relic", "nytimes", "newyorktimes", "okta", "plaid", "private", "rapidapi",
    "sendbird", "sentry", "snyk", "sonar", "sourcegraph", "squarespace", "sumo", "travis",
    "trello", "twitch", "twitter", "yandex", "zendesk",
];

struct Compiled {
    rules: Vec<CompiledRule>,
    words: Option<aho_corasick::AhoCorasick>,
    /// The rules of each word.
    rules_of_word: Vec<Vec<usize>>,
    /// Rules without words.
    unconditional: Vec<usize>,
}

struct CompiledRule {
    kind: &'static str,
    pattern: Regex,
    check: Check,
    digits: bool,
}

static COMPILED: LazyLock<Compiled> = LazyLock::new(|| {
    let mut rules = Vec::new();
    let mut by_word: BTreeMap<&'static str, Vec<usize>> = BTreeMap::new();
    let mut unconditional = Vec::new();
    for rule in RULES {
        let Ok(pattern) = Regex::new(&rule.pattern.replace(r"\b", r"(?-u:\b)")) else {
            // A test holds that each one compiles.
            continue;
        };
        let index = rules.len();
        rules.push(CompiledRule {
            kind: rule.kind,
            pattern,
            check: rule.check,
            digits: rule.digits,
        });
        if rule.words.is_empty() {
            unconditional.push(index);
        }
        for word in rule.words {
            by_word.entry(word).or_default().push(index);
        }
    }
    Compiled {
        words: aho_corasick::AhoCorasick::builder()
            .ascii_case_insensitive(true)
            .build(by_word.keys())
            .ok(),
        rules_of_word: by_word.into_values().collect(),
        rules,
        unconditional,
    }
});

fn rules_to_run(text: &str) -> Vec<(usize, &'static CompiledRule)> {
    let compiled = &*COMPILED;
    let mut run = vec![false; compiled.rules.len()];
    let mut turn_on = |index: usize| {
        if let Some(on) = run.get_mut(index) {
            *on = true;
        }
    };
    compiled
        .unconditional
        .iter()
        .copied()
        .for_each(&mut turn_on);
    match &compiled.words {
        Some(words) => {
            let mut left = compiled.rules_of_word.len();
            let mut seen = vec![false; left];
            for hit in words.find_overlapping_iter(text) {
                let word = hit.pattern().as_usize();
                if let Some(known) = seen.get_mut(word)
                    && !*known
                {
                    *known = true;
                    left -= 1;
                    compiled
                        .rules_of_word
                        .get(word)
                        .into_iter()
                        .flatten()
                        .copied()
                        .for_each(&mut turn_on);
                    if left == 0 {
                        break;
                    }
                }
            }
        }
        None => (0..compiled.rules.len()).for_each(turn_on),
    }
    run.iter()
        .enumerate()
        .filter(|(_, on)| **on)
        .filter_map(|(index, _)| compiled.rules.get(index).map(|rule| (index, rule)))
        .collect()
}

/// A value beside a name that only hints: long, and mixed as no word, path or version is.
fn vendor_value(text: &str, _: &Context<'_>) -> bool {
    let digits = text.bytes().filter(u8::is_ascii_digit).count();
    let letters = text.bytes().filter(u8::is_ascii_alphabetic).count();
    let words = text
        .split(['.', '/', '-', '_', ':', '='])
        .filter(|part| part.len() >= 4 && part.bytes().all(|b| b.is_ascii_alphabetic()))
        .count();
    !is_blank(text) && digits >= 2 && letters >= 2 && words < 2 && entropy(text) >= 3.0
}

/// A base64 value in a Kubernetes manifest of a Secret.
fn is_in_a_secret(text: &str, context: &Context<'_>) -> bool {
    /// How far around the value the manifest is looked at, in characters.
    const NEAR: usize = 4_000;
    if !text.len().is_multiple_of(4) {
        return false;
    }
    let before: String = context
        .before
        .chars()
        .rev()
        .take(NEAR)
        .collect::<Vec<char>>()
        .into_iter()
        .rev()
        .collect();
    let after: String = context.after.chars().take(NEAR).collect();
    let is_secret = |text: &str| {
        text.to_ascii_lowercase().lines().any(|line| {
            line.trim()
                .strip_prefix("kind:")
                .is_some_and(|kind| kind.trim().trim_matches(['"', '\'']) == "secret")
        })
    };
    before.contains("data:") && (is_secret(&before) || is_secret(&after))
}

/// Shannon entropy in bits a character.
fn entropy(text: &str) -> f64 {
    let mut counts: BTreeMap<char, f64> = BTreeMap::new();
    let mut all = 0.0;
    for c in text.chars() {
        *counts.entry(c).or_default() += 1.0;
        all += 1.0;
    }
    counts.values().map(|n| -(n / all) * (n / all).log2()).sum()
}

/// `anonfun$run$1$adapted` is the name of a class.
fn begins_a_word(_: &str, context: &Context<'_>) -> bool {
    !context
        .before
        .ends_with(|c: char| c.is_ascii_alphanumeric() || matches!(c, '$' | '_'))
}

/// Not all of one kind, and not a row of the same: `AKIAXXXXXXXXXXXXXXXX` is an example.
fn mixed(text: &str, _: &Context<'_>) -> bool {
    entropy(text) >= 2.5
}

/// Stands for a value that isn't there: a variable, a mask, a format, a word of documentation.
fn is_blank(text: &str) -> bool {
    let text =
        text.trim_matches(|c: char| matches!(c, '"' | '\'' | '`' | '(' | ')' | '[' | ']' | '.'));
    let lower = text.to_ascii_lowercase();
    text.is_empty()
        || text.starts_with(['$', '<', '%', '{', '*'])
        || text.contains("${")
        || text.contains("{{")
        || text.contains("...")
        || text.contains(STRUCK) && text.chars().filter(|c| c.is_alphanumeric()).count() == 0
        || text
            .chars()
            .all(|c| matches!(c, '*' | 'x' | 'X' | '.' | '-' | '_' | '#'))
        || matches!(
            lower.as_str(),
            "null"
                | "nil"
                | "none"
                | "true"
                | "false"
                | "undefined"
                | "empty"
                | "redacted"
                | "required"
                | "missing"
                | "invalid"
                | "expired"
                | "incorrect"
                | "wrong"
                | "unknown"
                | "yes"
                | "no"
                | "string"
                | "optional"
                | "changeme_placeholder"
        )
}

fn value(text: &str, _: &Context<'_>) -> bool {
    !is_blank(text)
}

fn header_value(text: &str, _: &Context<'_>) -> bool {
    !is_blank(text) && (text.len() >= 16 || text.bytes().any(|b| b.is_ascii_digit())) && {
        // `Bearer authentication failed`: words, no token.
        text.bytes().any(|b| {
            b.is_ascii_digit() || b.is_ascii_uppercase() || matches!(b, b'=' | b'.' | b'_')
        })
    }
}

/// A value after `password=`. `Password: expired` is a sentence; `password=letmein` is not.
fn password_value(text: &str, context: &Context<'_>) -> bool {
    if is_blank(text) {
        return false;
    }
    let text = text.trim_end_matches(['.', ')', ']', '}']);
    let word = text.chars().all(|c| c.is_ascii_lowercase())
        || text.chars().all(|c| c.is_alphabetic() && !c.is_ascii());
    let assigned = context.before.ends_with(['=', '"', '\'', '`']);
    let code = text.contains('(') || text.contains("::");
    !code && (assigned || !word) && text.chars().count() >= 3
}

/// Keys whose values name things and open nothing.
#[rustfmt::skip]
const NAMES_ONLY: &[&str] = &[
    "idempotency", "trace", "correlation", "request_id", "requestid", "partition", "cache_key",
    "cachekey", "primary_key", "foreign_key", "sort_key", "public_key", "publickey", "routing_key",
    "author", "keyword", "monkey", "tokenizer", "token_type", "secretname", "secret_name",
    "secretref", "keyref", "secretkeyref", "max_tokens", "token_count", "authority", "key_id",
    "keyid", "keystore", "token_endpoint", "secretsmanager", "oauth2/",
];

fn secret_value(text: &str, context: &Context<'_>) -> bool {
    let text = text.trim_end_matches(['.', ',', ')', ']', '=']);
    if is_blank(text) || text.len() < 8 {
        return false;
    }
    let name = context
        .whole
        .get(..context.whole.len().saturating_sub(text.len()))
        .unwrap_or_default();
    // The pattern begins inside of a name; the rest of the name stands before it.
    let start = context.before.len().saturating_sub(name.len());
    let earlier: String = context
        .before
        .get(..start)
        .unwrap_or_default()
        .chars()
        .rev()
        .take(16)
        .collect::<Vec<char>>()
        .into_iter()
        .rev()
        .collect();
    let named = format!("{earlier}{name}").to_ascii_lowercase();
    if NAMES_ONLY.iter().any(|known| named.contains(known)) {
        return false;
    }
    let digits = text.bytes().filter(u8::is_ascii_digit).count();
    let letters = text.bytes().filter(u8::is_ascii_alphabetic).count();
    if digits == 0 || letters == 0 {
        // Words joined by separators, or a number.
        return text.len() >= 20
            && letters > 0
            && entropy(text) >= 4.0
            && !text.contains(['.', '/', '-']);
    }
    // A class, path, host, file or version has its separators between words.
    let words = text
        .split(['.', '/', '-', '_', ':', '@'])
        .filter(|part| part.len() >= 3 && part.bytes().all(|b| b.is_ascii_alphabetic()))
        .count();
    if words >= 2 && digits * 4 < letters {
        return false;
    }
    entropy(text) >= 2.75
}

/// Hosts that no mail reaches: accounts on machines, which help the diagnosis.
#[rustfmt::skip]
const PRIVATE_DOMAINS: &[&str] = &[
    "internal", "local", "localdomain", "lan", "corp", "svc", "cluster", "intranet", "home",
    "invalid",
];

fn is_email(text: &str, context: &Context<'_>) -> bool {
    let host = text.rsplit(['@', ' ']).next().unwrap_or_default();
    let last = host.rsplit('.').next().unwrap_or_default();
    let image = matches!(
        last,
        "png"
            | "jpg"
            | "svg"
            | "js"
            | "css"
            | "service"
            | "timer"
            | "socket"
            | "mount"
            | "slice"
            | "java"
            | "py"
            | "go"
            | "rs"
    );
    let clone = text.starts_with("git@") && context.after.starts_with([':', '/']);
    let in_url = context.before.ends_with("://") && text.starts_with("git@");
    !image && !clone && !in_url && !PRIVATE_DOMAINS.contains(&last)
}

/// Not the middle of a longer number, word, address, version or path.
fn separated(text: &str, context: &Context<'_>) -> bool {
    let joins = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == STRUCK;
    // `1.4532…`, `45-4532…`: the number goes on.
    let goes_on = |mut outward: std::str::Chars<'_>, signs: &[char]| {
        outward.next().is_some_and(|c| signs.contains(&c))
            && outward.next().is_some_and(|c| c.is_ascii_digit())
    };
    let reversed: String = context.before.chars().rev().take(2).collect();
    // A number after a hyphen is a signed one, or the end of a name.
    let before_ok = !context.before.ends_with(joins)
        && !context.before.ends_with('-')
        && !goes_on(reversed.chars(), &['.', '/', ',', '+']);
    let after_ok = !context.after.starts_with(joins)
        && !goes_on(context.after.chars(), &['.', '-', '/', ':', ',']);
    let all_same = {
        let mut digits = text.chars().filter(char::is_ascii_digit);
        let first = digits.next();
        digits.all(|c| Some(c) == first)
    };
    before_ok && after_ok && !all_same
}

fn digits_of(text: &str) -> Vec<u32> {
    text.chars().filter_map(|c| c.to_digit(10)).collect()
}

/// Payment cards: length and first digits of an issuer, and the Luhn checksum (ISO/IEC 7812-1).
fn is_card(text: &str, context: &Context<'_>) -> bool {
    if !separated(text, context) {
        return false;
    }
    let digits = digits_of(text);
    let prefix = |n: usize| digits.iter().take(n).fold(0, |sum, d| sum * 10 + d);
    let issued = match digits.len() {
        14 => prefix(2) == 36 || prefix(2) == 38 || (300..=305).contains(&prefix(3)),
        15 => prefix(2) == 34 || prefix(2) == 37,
        16 => {
            prefix(1) == 4
                || (51..=55).contains(&prefix(2))
                || (2221..=2720).contains(&prefix(4))
                || prefix(4) == 6011
                || prefix(2) == 65
                || (644..=649).contains(&prefix(3))
                || prefix(2) == 62
                || prefix(2) == 35
                || prefix(2) == 60
        }
        17..=19 => prefix(2) == 62,
        _ => false,
    };
    let luhn: u32 = digits
        .iter()
        .rev()
        .enumerate()
        .map(|(index, digit)| match (index % 2, digit * 2) {
            (0, _) => *digit,
            (_, doubled) if doubled > 9 => doubled - 9,
            (_, doubled) => doubled,
        })
        .sum();
    issued && luhn.is_multiple_of(10)
}

/// IBAN: the checksum modulo 97 (ISO 13616).
fn is_iban(text: &str, context: &Context<'_>) -> bool {
    let compact: Vec<char> = text.chars().filter(char::is_ascii_alphanumeric).collect();
    if !(15..=34).contains(&compact.len()) || !separated("12", context) {
        return false;
    }
    let remainder = compact
        .iter()
        .cycle()
        .skip(4)
        .take(compact.len())
        .filter_map(|c| c.to_digit(36))
        .fold(0, |sum, value| {
            if value > 9 {
                (sum * 100 + value) % 97
            } else {
                (sum * 10 + value) % 97
            }
        });
    remainder == 1
}

/// Chinese resident identity numbers: the checksum of GB 11643-1999.
fn is_cn_id(text: &str, context: &Context<'_>) -> bool {
    const WEIGHTS: [u32; 17] = [7, 9, 10, 5, 8, 4, 2, 1, 6, 3, 7, 9, 10, 5, 8, 4, 2];
    const CHECKS: [char; 11] = ['1', '0', 'X', '9', '8', '7', '6', '5', '4', '3', '2'];
    if !separated("12", context) {
        return false;
    }
    let compact: Vec<char> = text.chars().filter(char::is_ascii_alphanumeric).collect();
    let sum: u32 = compact
        .iter()
        .zip(WEIGHTS)
        .filter_map(|(c, weight)| c.to_digit(10).map(|digit| digit * weight))
        .sum();
    compact.len() == 18
        && compact.last().map(char::to_ascii_uppercase) == CHECKS.get((sum % 11) as usize).copied()
}

fn is_ssn(text: &str, context: &Context<'_>) -> bool {
    let digits = digits_of(text);
    let part = |range: Range<usize>| {
        digits
            .get(range)
            .is_some_and(|part| part.iter().any(|d| *d != 0))
    };
    let area = digits.iter().take(3).fold(0, |sum, d| sum * 10 + d);
    separated(text, context)
        && digits.len() == 9
        && area != 0
        && area != 666
        && area < 900
        && part(3..5)
        && part(5..9)
}

/// What stands before a number that counts something instead of calling somebody.
#[rustfmt::skip]
const COUNTS: &[&str] = &[
    "id", "size", "bytes", "offset", "seq", "ts", "time", "timestamp", "block", "count", "total",
    "length", "len", "memory", "addr", "nonce", "version", "pid", "tid", "no", "number",
];

fn is_cn_mobile(text: &str, context: &Context<'_>) -> bool {
    if !separated(text, context) {
        return false;
    }
    let written_as_phone = text.contains([' ', '-', '+']);
    let before: String = context
        .before
        .chars()
        .rev()
        .take(24)
        .collect::<Vec<char>>()
        .into_iter()
        .rev()
        .collect();
    let label = before
        .trim_end_matches(['=', ':', ' ', '"', '\''])
        .rsplit(|c: char| !c.is_ascii_alphabetic())
        .next()
        .unwrap_or_default()
        .to_ascii_lowercase();
    // `MaxNewSize = 19306381312`, `13010952192 (12.12 GB)`.
    let counts = COUNTS.contains(&label.as_str())
        || ["size", "bytes", "used", "count", "total"]
            .iter()
            .any(|ending| label.ends_with(ending))
        || context.after.starts_with(" (");
    let unit = ["b", "kb", "mb", "bytes", "ms", "us", "ns", "rows"].contains(
        &context
            .after
            .trim_start()
            .split(|c: char| !c.is_ascii_alphabetic())
            .next()
            .unwrap_or_default()
            .to_ascii_lowercase()
            .as_str(),
    );
    written_as_phone || !(counts || unit)
}

fn is_phone(text: &str, context: &Context<'_>) -> bool {
    let digits = digits_of(text).len();
    (8..=15).contains(&digits)
        && separated(text, context)
        && !text.contains("..")
        && !context
            .before
            .ends_with(|c: char| c.is_ascii_alphanumeric())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn key() -> Key {
        Key::new([7; 32])
    }

    /// Test secrets are put together here, so that no scanner takes the file for a leak.
    fn join(parts: &[&str]) -> String {
        parts.concat()
    }

    fn kinds(text: &str) -> Vec<&'static str> {
        redact(text, &key()).struck.into_keys().collect()
    }

    #[test]
    fn every_rule_compiles() {
        assert_eq!(COMPILED.rules.len(), RULES.len());
        assert!(COMPILED.words.is_some() && PLACEHOLDER.is_some());
    }

    #[test]
    fn r22_what_helps_the_diagnosis_stays() {
        for text in [
            "",
            "10.0.3.4:5432 and 192.168.1.1 and fd00::1",
            "host db-1.payments.svc.cluster.local, node ip-10-0-3-4.ec2.internal",
            "trace_id=4bf92f3577b34da6a3ce929d0e0e4736 span 00f067aa0ba902b7",
            "request 123e4567-e89b-12d3-a456-426614174000",
            "commit 3f9c2abd5e6f7a8b9c0d1e2f3a4b5c6d7e8f9a0b",
            "2026-11-30 02:41:07.113 ERROR 1732934467113",
            "password: expired",
            "Password is required",
            "token: invalid",
            "max_tokens=4096",
            "password=${DB_PASSWORD}",
            "password=****",
            "deployment@db-1.internal",
            "git@github.com:acme/shop.git",
            "blk_-4532015112830366 size 13912345678",
            "nginx@1.25.3 and getty@tty1.service",
            "密码错误",
            "order 4532015112830367",
            "HikariPool-1 - Connection is not available, request timed out after 30000ms",
            "secretKeyRef: payments-db-credentials",
            "at com.acme.auth.TokenService.refresh(TokenService.java:42)",
        ] {
            let redacted = redact(text, &key());
            assert_eq!(redacted.text, text, "{:?}", redacted.struck);
        }
    }

    #[test]
    fn r22_secrets_are_struck() {
        let random = "aZ3kQ9xW7mP2vL8nR4tY6uB1cD5eF0gH3jK7";
        for (text, kind) in [
            (join(&["AK", "IA", "IOSFODNN7EXAMPL3"]), "aws-access-key"),
            (
                join(&[
                    "aws_secret_access_key = ",
                    "wJalrXUtnFEMI/K7MDENG+bPxRfiCYzzzzzzzKEY",
                ]),
                "aws-secret-key",
            ),
            (
                join(&["AI", "za", "SyA-1234567890abcdefGHIJKLMNOPQRSTU"]),
                "gcp-api-key",
            ),
            (join(&["gh", "p_", random]), "github-token"),
            (
                join(&["gl", "pat-", "aZ3kQ9xW7mP2vL8nR4tY"]),
                "gitlab-token",
            ),
            (
                join(&["xo", "xb-", "123456789012-aZ3kQ9xW7mP2"]),
                "slack-token",
            ),
            (
                join(&["sk", "_live_", "aZ3kQ9xW7mP2vL8nR4tY"]),
                "stripe-key",
            ),
            (join(&["sk", "-proj-", random]), "model-api-key"),
            (join(&["gs", "k_", random, random]), "model-api-key"),
            (join(&["np", "m_", random]), "registry-token"),
            (
                join(&[
                    "ey",
                    "JhbGciOiJIUzI1NiJ9.",
                    "ey",
                    "JzdWIiOiIxMjM0NTY3ODkwIn0.",
                    "dozjgNryP4J3jVmNHl0w5N_XgL0n3I9PlFUP0THsR8U",
                ]),
                "jwt",
            ),
            (
                join(&["postgres://app:", "hunter2", "@db-1:5432/shop"]),
                "url-password",
            ),
            (join(&["Authorization: Bearer ", random]), "authorization"),
            (
                join(&["Authorization: Basic ", "YWRtaW46aHVudGVyMg=="]),
                "authorization",
            ),
            (join(&["password=", "letmein"]), "password"),
            (join(&["DB_PASSWORD: \"", "hunter2", "\""]), "password"),
            (join(&["密码：", "hunter2"]), "password"),
            (join(&["client_secret: ", "aZ3kQ9xW7mP2vL8nR4tY"]), "secret"),
            (
                join(&["mysql -u root -p", "Sup3rS3cret", " shop"]),
                "password",
            ),
            (
                join(&[
                    "MTA1",
                    "MDQxNTgyMjgxNTg2NzAw",
                    ".",
                    "GxYz12",
                    ".",
                    "aZ3kQ9xW7mP2vL8nR4tY6uB1cD5eF0",
                ]),
                "discord-token",
            ),
            (
                join(&[
                    "https://discord.com/api/",
                    "webhooks/",
                    "1050415822815867001/",
                    random,
                    random,
                ]),
                "webhook-url",
            ),
            (
                join(&[
                    "-----BEGIN RSA PRIVATE",
                    " KEY-----\nMIIEowIBAAKCAQEA\nabc\n-----END RSA PRIVATE",
                    " KEY-----",
                ]),
                "private-key",
            ),
            (
                join(&[
                    "-----BEGIN PRIVATE",
                    " KEY-----\nMIIEowIBAAKCAQEAMIIEowIBAAKCAQEA\nMIIEowIBAAKCAQEA\n(cut off)",
                ]),
                "private-key",
            ),
        ] {
            let text = format!("before {text} after");
            let redacted = redact(&text, &key());
            assert!(
                redacted.struck.contains_key(kind),
                "{kind}: {text} -> {redacted:?}"
            );
            assert!(
                redacted.text.contains("[REDACTED ") && redacted.text.starts_with("before "),
                "{redacted:?}"
            );
            assert!(redacted.text.contains("after"), "{redacted:?}");
        }
    }

    #[test]
    fn r22_personal_data_in_any_width() {
        for (text, kind) in [
            ("mail jane.doe@example.com please", "email"),
            ("ｊａｎｅ＠ｅｘａｍｐｌｅ．ｃｏｍ", "email"),
            ("jane [at] example [dot] com", "email"),
            ("card 4532 0151 1283 0366", "card"),
            ("卡 ４５３２０１５１１２８３０３６６", "card"),
            ("4532-0151-1283-0366", "card"),
            ("4532\u{200B}0151\u{200B}1283\u{200B}0366", "card"),
            ("IBAN DE89 3704 0044 0532 0130 00", "iban"),
            ("DE89370400440532013000", "iban"),
            ("用户手机号 13812345678 无法登录", "phone"),
            ("电话 138 1234 5678", "phone"),
            ("１３８１２３４５６７８", "phone"),
            ("+86 138-1234-5678", "phone"),
            ("call +44 20 7946 0958", "phone"),
            ("(212) 555-0142", "phone"),
            ("身份证 11010519491231002X", "cn-id"),
            ("110105 19491231 002X", "cn-id"),
            ("SSN 219-09-9999", "us-ssn"),
            ("account number 12345678901", "account-number"),
        ] {
            assert!(
                kinds(text).contains(&kind),
                "{text}: {:?}",
                redact(text, &key())
            );
        }
    }

    #[test]
    fn r22_numbers_that_fail_their_checksum_stay() {
        for text in [
            "4532 0151 1283 0367",
            "DE88 3704 0044 0532 0130 00",
            "110105194912310021",
            "000-12-3456",
        ] {
            assert_eq!(redact(text, &key()).text, text);
        }
    }

    #[test]
    fn r22_the_same_secret_is_the_same_placeholder() {
        let redacted = redact("4532 0151 1283 0366 and 4532015112830366", &key()).text;
        let (one, other) = redacted.split_once(" and ").expect("two");
        assert_eq!(one, other);
        let elsewhere = redact("4532015112830366", &Key::new([8; 32])).text;
        assert_ne!(one, elsewhere);
        assert!(!format!("{:?}", key()).contains('7'));
    }

    #[test]
    fn r22_a_forged_placeholder_hides_nothing() {
        let text = join(&["password=", "[REDACTED password 0000]", "hunter2"]);
        assert!(!redact(&text, &key()).text.contains("hunter2"));
        let text = join(&[
            "-----BEGIN PRIVATE",
            " KEY-----\nMIIEow[REDACTED x 0000]IBAAKCAQEA\n-----END PRIVATE",
            " KEY-----",
        ]);
        assert!(!redact(&text, &key()).text.contains("IBAAKCAQEA"));
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(256))]

        #[test]
        fn r22_redacting_twice_changes_nothing(
            parts in proptest::collection::vec(prop_oneof![
                Just("password=".to_owned()), Just("token: ".to_owned()), Just("[REDACTED secret 12ab]".to_owned()),
                Just("4532 0151 1283 0366".to_owned()), Just("jane@example.com".to_owned()), Just("://u:".to_owned()),
                Just("-----BEGIN PRIVATE KEY-----".to_owned()), Just("13812345678".to_owned()), Just("密码：".to_owned()),
                Just("Authorization: Bearer ".to_owned()), Just("\u{F8FF}".to_owned()), Just("\u{200B}".to_owned()),
                "[ -~]{0,24}", "[a-zA-Z0-9]{8,40}", "\\PC{0,12}",
            ], 0..12)
        ) {
            let once = redact(&parts.concat(), &key());
            let twice = redact(&once.text, &key());
            prop_assert_eq!(&twice.text, &once.text);
            prop_assert!(twice.struck.is_empty());
        }

        #[test]
        fn r22_any_text_is_survived(text in "\\PC{0,400}") {
            let _ = redact(&text, &key());
        }
    }
}

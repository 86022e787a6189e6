//! Text files that people attach: logs, pasted reports, exports.
//!
//! Properties wanted:
//! - Only Discord's CDN is read (and, with another API address set, that host): a URL is data that
//!   came from outside, and this process may reach what its sender may not.
//! - At most the cap is loaded, whatever a size or a header claims.
//! - Any encoding that logs come in is read; what is no text is refused as such.
//! - Whatever was not read is said, in numbers.
//!
//! Design: up to [`CAP_BYTES`] a file is read whole. Of a longer one the end is asked for as well
//! (`Range`), because that is where a log says what happened; where the host does not give it, the
//! beginning has to do. Of the text the first and last [`KEPT_BYTES`]` / 2` are kept, cut between
//! lines. Then: a byte-order mark decides the encoding, else valid UTF-8, else the pattern of NULs
//! (UTF-16), else a guess by statistics. NULs and terminal colours are dropped.
//!
//! Absent on purpose: archives and compressed files (refused as no text), the declared content
//! type (a guess from the file's name, often absent), sentences (the presenter says the note).

use std::fmt;
use std::time::Duration;

use chardetng::{EncodingDetector, Iso2022JpDetection, Utf8Detection};
use encoding_rs::{Encoding, UTF_8, UTF_16BE, UTF_16LE};
use reqwest::header::RANGE;
use reqwest::{Client, Url};
use serde::{Deserialize, Serialize};

use super::incoming::FileRef;

/// The stated cap: bytes of one file that are loaded.
pub const CAP_BYTES: u64 = 1024 * 1024;
/// Bytes of text (UTF-8) that are kept of one file: half from the beginning, half from the end.
pub const KEPT_BYTES: usize = 256 * 1024;
/// Bytes that are asked for from the end of a file above the cap.
const END_BYTES: u64 = 128 * 1024;
/// Where Discord keeps attachments.
const CDN: [&str; 2] = ["cdn.discordapp.com", "media.discordapp.net"];
/// For one file, from request to its last byte.
const READ_TIMEOUT: Duration = Duration::from_secs(15);
/// Stands where the middle was left out.
const GAP: &str = "\n[…]\n";
/// Bytes that are looked at to tell text from something else.
const SAMPLE_BYTES: usize = 64 * 1024;

/// What was read of a file.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FileText {
    /// The text; empty where none was read.
    pub text: String,
    /// What was not read, if anything was not.
    pub note: Option<FileNote>,
    /// The encoding that was read, by its name (`UTF-8`, `gb18030`).
    pub encoding: Option<String>,
    /// Characters that could not be read in it.
    #[serde(default)]
    pub replaced: u64,
}

impl fmt::Debug for FileText {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("FileText")
            .field("bytes", &self.text.len())
            .field("note", &self.note)
            .field("encoding", &self.encoding)
            .finish()
    }
}

/// What was not read of a file. Numbers are bytes of the file as it was uploaded, except where
/// they are said to be of text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "kind")]
pub enum FileNote {
    /// The first `read` of `of` bytes were read; the end was not.
    Beginning {
        /// Bytes from the beginning.
        read: u64,
        /// Bytes of the file.
        of: u64,
    },
    /// The file's beginning and end were read, the middle was left out.
    Ends {
        /// Bytes from the beginning.
        beginning: u64,
        /// Bytes from the end.
        end: u64,
        /// Bytes of the file.
        of: u64,
    },
    /// Read whole, but longer than is kept: the middle of the text was left out.
    Shortened {
        /// Bytes of text (UTF-8) that were kept.
        kept: u64,
        /// Bytes of text (UTF-8) that there were.
        of: u64,
    },
    /// It is no text (an image, an archive, a core dump); nothing was read.
    Binary {
        /// Bytes of the file.
        of: u64,
    },
    /// There is nothing in it.
    Empty,
    /// It is not on Discord's hosts; nothing was read.
    Foreign,
    /// It is no longer there: deleted, or its link has expired.
    Gone,
    /// The host could not be reached or refused; nothing was read.
    Unreachable {
        /// Bytes of the file, as Discord told them.
        of: u64,
    },
}

/// Whether a file may be read from there.
fn is_discords(url: &Url, api_url: Option<&str>) -> bool {
    if !url.username().is_empty() || url.password().is_some() {
        return false;
    }
    let cdn = url.scheme() == "https"
        && url.port().is_none()
        && url.host_str().is_some_and(|host| CDN.contains(&host));
    let own = api_url
        .and_then(|own| Url::parse(own).ok())
        .is_some_and(|own| {
            (own.scheme(), own.host_str(), own.port_or_known_default())
                == (url.scheme(), url.host_str(), url.port_or_known_default())
        });
    cdn || own
}

pub(super) async fn read(
    client: &Client,
    api_url: Option<&str>,
    file: &FileRef,
    cap_bytes: u64,
) -> FileText {
    let url = Url::parse(&file.url).ok();
    let Some(url) = url.filter(|url| is_discords(url, api_url)) else {
        tracing::warn!(file = file.id, "a file that is not on Discord's hosts");
        return nothing(FileNote::Foreign);
    };
    let cap = usize::try_from(cap_bytes).unwrap_or(usize::MAX);
    let end = if file.size > cap_bytes {
        end_of(client, url.clone(), file.size, cap_bytes).await
    } else {
        None
    };
    let beginning = match end {
        Some(_) => usize::try_from(END_BYTES).unwrap_or(cap).min(cap),
        None => cap,
    };
    let loaded = match load(client, url, beginning).await {
        Ok(loaded) => loaded,
        Err(Failed::Gone) => return nothing(FileNote::Gone),
        Err(Failed::Lost) => return nothing(FileNote::Unreachable { of: file.size }),
    };
    tracing::debug!(
        file = file.id,
        bytes = loaded.bytes.len(),
        whole = loaded.whole,
        end = end.as_ref().map(Vec::len),
        "read"
    );
    text_of(&loaded, end.as_deref(), file.size)
}

fn nothing(note: FileNote) -> FileText {
    FileText {
        text: String::new(),
        note: Some(note),
        encoding: None,
        replaced: 0,
    }
}

struct Loaded {
    bytes: Vec<u8>,
    /// Everything there is.
    whole: bool,
}

enum Failed {
    Gone,
    Lost,
}

async fn load(client: &Client, url: Url, cap: usize) -> Result<Loaded, Failed> {
    let mut response = client
        .get(url)
        .timeout(READ_TIMEOUT)
        .send()
        .await
        .map_err(|_| Failed::Lost)?;
    match response.status().as_u16() {
        200 => {}
        403 | 404 | 410 => return Err(Failed::Gone),
        _ => return Err(Failed::Lost),
    }
    let mut bytes = Vec::new();
    loop {
        match response.chunk().await {
            Ok(Some(chunk)) => bytes.extend_from_slice(&chunk),
            Ok(None) => return Ok(Loaded { bytes, whole: true }),
            // What has come is better than nothing, and the note says how much it is.
            Err(_) if !bytes.is_empty() => {
                return Ok(Loaded {
                    bytes,
                    whole: false,
                });
            }
            Err(_) => return Err(Failed::Lost),
        }
        if bytes.len() > cap {
            bytes.truncate(cap);
            return Ok(Loaded {
                bytes,
                whole: false,
            });
        }
    }
}

/// The last bytes of a file, where the host gives a part. An even offset, for UTF-16.
async fn end_of(client: &Client, url: Url, size: u64, cap_bytes: u64) -> Option<Vec<u8>> {
    let wanted = END_BYTES.min(cap_bytes / 2);
    let from = size.checked_sub(wanted)? & !1;
    let mut response = client
        .get(url)
        .header(RANGE, format!("bytes={from}-"))
        .timeout(READ_TIMEOUT)
        .send()
        .await
        .ok()?;
    if response.status().as_u16() != 206 {
        return None;
    }
    let most = usize::try_from(wanted).ok()? + 1;
    let mut bytes = Vec::new();
    while let Some(chunk) = response.chunk().await.ok()? {
        bytes.extend_from_slice(&chunk);
        if bytes.len() > most {
            // Not the part that was asked for.
            return None;
        }
    }
    (!bytes.is_empty()).then_some(bytes)
}

fn text_of(loaded: &Loaded, end: Option<&[u8]>, size: u64) -> FileText {
    let read = count(loaded.bytes.len());
    let size = if loaded.whole { read } else { size.max(read) };
    if loaded.bytes.is_empty() {
        return nothing(FileNote::Empty);
    }
    let Some(encoding) = encoding_of(&loaded.bytes) else {
        return nothing(FileNote::Binary { of: size });
    };
    let beginning = decoded(encoding, &loaded.bytes);
    if !is_text(&beginning) {
        return nothing(FileNote::Binary { of: size });
    }
    let end = end.filter(|_| !loaded.whole);
    let (text, note) = if loaded.whole {
        let of = beginning.len();
        match shortened(&beginning) {
            Some(text) => {
                let kept = count(text.len() - GAP.len());
                let of = count(of);
                (text, Some(FileNote::Shortened { kept, of }))
            }
            None => (beginning, None),
        }
    } else if let Some(end) = end {
        let note = FileNote::Ends {
            beginning: read,
            end: count(end.len()),
            of: size,
        };
        // The end begins in the middle of a line, perhaps of a character.
        let end = decoded(encoding, end);
        let end = end.split_once('\n').map_or(end.as_str(), |(_, rest)| rest);
        // In UTF-8 either may have grown.
        let half = KEPT_BYTES / 2;
        let beginning = first(without_broken_end(&beginning), half);
        let text = format!("{beginning}{GAP}{}", last(end, half));
        (text, Some(note))
    } else {
        let note = FileNote::Beginning { read, of: size };
        let text = without_broken_end(&beginning).to_owned();
        (shortened(&text).unwrap_or(text), Some(note))
    };
    let note = match note {
        None if text.trim().is_empty() => Some(FileNote::Empty),
        note => note,
    };
    // A sign of what could not be read may stand in the file itself.
    let replaced = match std::str::from_utf8(&loaded.bytes) {
        Ok(_) => 0,
        Err(_) => text.matches('\u{fffd}').count(),
    };
    FileText {
        text,
        note,
        encoding: Some(encoding.name().to_owned()),
        replaced: count(replaced),
    }
}

/// The text in bytes of any encoding, whole: for files that an operator names.
///
/// # Errors
///
/// [`FileNote::Empty`], [`FileNote::Binary`].
pub fn text_in(bytes: &[u8]) -> Result<String, FileNote> {
    let binary = FileNote::Binary {
        of: count(bytes.len()),
    };
    if bytes.is_empty() {
        return Err(FileNote::Empty);
    }
    let text = decoded(encoding_of(bytes).ok_or(binary)?, bytes);
    if !is_text(&text) {
        return Err(binary);
    }
    if text.trim().is_empty() {
        return Err(FileNote::Empty);
    }
    Ok(text)
}

fn count(bytes: usize) -> u64 {
    u64::try_from(bytes).unwrap_or(u64::MAX)
}

/// A character that was cut in two at the end of what was loaded.
fn without_broken_end(text: &str) -> &str {
    text.trim_end_matches('\u{fffd}')
}

/// The beginning and the end, if the text is too long.
fn shortened(text: &str) -> Option<String> {
    let half = KEPT_BYTES / 2;
    (text.len() > KEPT_BYTES).then(|| format!("{}{GAP}{}", first(text, half), last(text, half)))
}

/// At most so many bytes from the beginning, to the end of a line. A line longer than half of that
/// is cut as it stands.
fn first(text: &str, bytes: usize) -> &str {
    if text.len() <= bytes {
        return text;
    }
    let (kept, _) = text.split_at(text.floor_char_boundary(bytes));
    match kept.rsplit_once('\n') {
        Some((lines, rest)) if rest.len() < bytes / 2 => lines,
        _ => kept,
    }
}

/// At most so many bytes from the end, from the beginning of a line.
fn last(text: &str, bytes: usize) -> &str {
    let Some(from) = text.len().checked_sub(bytes).filter(|from| *from > 0) else {
        return text;
    };
    let (_, kept) = text.split_at(text.ceil_char_boundary(from));
    match kept.split_once('\n') {
        Some((rest, lines)) if rest.len() < bytes / 2 => lines,
        _ => kept,
    }
}

/// The beginnings of files that are no text, whatever else is in them.
const NO_TEXT: [&[u8]; 14] = [
    b"\x89PNG\r\n",
    b"\xff\xd8\xff",
    b"GIF8",
    b"%PDF-",
    b"PK\x03\x04",
    b"PK\x05\x06",
    b"\x1f\x8b",
    b"BZh",
    b"\xfd7zXZ",
    b"\x28\xb5\x2f\xfd",
    b"7z\xbc\xaf",
    b"\x7fELF",
    b"SQLite format 3\0",
    b"\xca\xfe\xba\xbe",
];

/// `None` where it is no text in any encoding.
fn encoding_of(bytes: &[u8]) -> Option<&'static Encoding> {
    if let Some((encoding, _)) = Encoding::for_bom(bytes) {
        return Some(encoding);
    }
    if NO_TEXT.iter().any(|magic| bytes.starts_with(magic)) {
        return None;
    }
    let sample = bytes.get(..SAMPLE_BYTES).unwrap_or(bytes);
    let nulls = |parity: usize| {
        let every_second = sample.iter().skip(parity).step_by(2);
        every_second.filter(|byte| **byte == 0).count()
    };
    let (even, odd) = (nulls(0), nulls(1));
    let all = even + odd;
    if all > 0 {
        // Line breaks and ASCII have their NUL on one side only.
        let utf16 = [(UTF_16LE, odd, even), (UTF_16BE, even, odd)]
            .into_iter()
            .find(|(_, mine, other)| mine * 50 >= sample.len() && other * 20 <= *mine);
        let mostly_ascii = utf16.is_some_and(|(_, mine, _)| mine * 4 >= sample.len());
        // Some NULs are in many a log (a rotated file, a C string); many are no text.
        let few = all * 10 <= sample.len();
        let plain = !mostly_ascii && few && is_utf8(&without_nulls(sample));
        if let Some((encoding, ..)) = utf16.filter(|_| !plain) {
            return is_text(&decoded(encoding, sample)).then_some(encoding);
        }
        if !few {
            return None;
        }
    }
    let sample = without_nulls(sample);
    if is_utf8(&sample) {
        return Some(UTF_8);
    }
    let mut detector = EncodingDetector::new(Iso2022JpDetection::Deny);
    detector.feed(&sample, true);
    Some(detector.guess(None, Utf8Detection::Deny))
}

fn without_nulls(bytes: &[u8]) -> Vec<u8> {
    bytes.iter().copied().filter(|byte| *byte != 0).collect()
}

/// Valid, or so nearly that it is nothing else: cut at the end, or with a broken byte here and
/// there (a log that was cut by bytes).
fn is_utf8(bytes: &[u8]) -> bool {
    let mut good = 0;
    let mut bad = 0;
    for chunk in bytes.utf8_chunks() {
        good += chunk
            .valid()
            .bytes()
            .filter(|byte| !byte.is_ascii())
            .count();
        bad += chunk.invalid().len();
    }
    bad * 20 <= good
}

/// The text without NULs, colours and a byte-order mark; line ends as `\n`.
fn decoded(encoding: &'static Encoding, bytes: &[u8]) -> String {
    let (text, _, _) = encoding.decode(bytes);
    let mut out = String::with_capacity(text.len());
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        match c {
            '\0' | '\u{feff}' => {}
            '\r' => {
                if chars.peek() != Some(&'\n') {
                    out.push('\n');
                }
            }
            // ESC [ parameters letter: colours and cursor moves.
            '\u{1b}' if chars.peek() == Some(&'[') => {
                chars.next();
                while chars.next_if(|c| matches!(c, ' '..='?')).is_some() {}
                chars.next_if(|c| matches!(c, '@'..='~'));
            }
            c => out.push(c),
        }
    }
    out
}

/// Whether what was decoded reads as text: hardly any control or undecodable characters.
fn is_text(text: &str) -> bool {
    let mut all = 0_usize;
    let mut odd = 0_usize;
    for c in text.chars().take(SAMPLE_BYTES) {
        all += 1;
        let control = c.is_control() && !matches!(c, '\n' | '\r' | '\t' | '\u{1b}' | '\u{c}');
        let private = matches!(c, '\u{fffd}' | '\u{e000}'..='\u{f8ff}');
        odd += usize::from(control || private);
    }
    odd * 20 <= all
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn whole(bytes: &[u8]) -> FileText {
        let loaded = Loaded {
            bytes: bytes.to_vec(),
            whole: true,
        };
        text_of(&loaded, None, count(bytes.len()))
    }

    fn utf16(text: &str, little: bool, bom: bool) -> Vec<u8> {
        let units = bom.then_some(0xfeff).into_iter().chain(text.encode_utf16());
        units
            .flat_map(|unit| {
                if little {
                    unit.to_le_bytes()
                } else {
                    unit.to_be_bytes()
                }
            })
            .collect()
    }

    const CHINESE: &str =
        "2026-05-14 02:51 支付服务 报错：数据库连接池已满\n请求超时，重试三次后失败\n";
    const JAPANESE: &str =
        "決済サービスでエラーが発生しました。\nデータベース接続がタイムアウトしました。\n";
    const FRENCH: &str = "Le service de paiement a échoué après trois tentatives à 02:51.\nDélai dépassé, café fermé.\n";

    #[test]
    fn every_encoding_is_read() {
        let encoded =
            |encoding: &'static Encoding, text: &str| encoding.encode(text).0.into_owned();
        let mut bom = b"\xef\xbb\xbf".to_vec();
        bom.extend_from_slice(CHINESE.as_bytes());
        let cases = [
            ("UTF-8", b"plain ASCII\n".to_vec(), "plain ASCII\n"),
            ("UTF-8", CHINESE.as_bytes().to_vec(), CHINESE),
            ("UTF-8", bom, CHINESE),
            ("UTF-16LE", utf16(CHINESE, true, true), CHINESE),
            ("UTF-16BE", utf16(CHINESE, false, true), CHINESE),
            ("UTF-16LE", utf16(CHINESE, true, false), CHINESE),
            ("UTF-16BE", utf16(CHINESE, false, false), CHINESE),
            ("UTF-16LE", utf16(FRENCH, true, false), FRENCH),
            ("GBK", encoded(encoding_rs::GB18030, CHINESE), CHINESE),
            (
                "Shift_JIS",
                encoded(encoding_rs::SHIFT_JIS, JAPANESE),
                JAPANESE,
            ),
            (
                "windows-1252",
                encoded(encoding_rs::WINDOWS_1252, FRENCH),
                FRENCH,
            ),
            (
                "UTF-8",
                b"a line\0 of log\r\nand\rmore\0\n".to_vec(),
                "a line of log\nand\nmore\n",
            ),
            (
                "UTF-8",
                b"\x1b[31mERROR\x1b[0m \x1b[1;4mboom\x1b[K\n".to_vec(),
                "ERROR boom\n",
            ),
        ];
        for (name, bytes, text) in cases {
            let read = whole(&bytes);
            assert_eq!(read.text, text, "{name}");
            assert_eq!(read.encoding.as_deref(), Some(name));
            assert_eq!(read.note, None);
        }
    }

    #[test]
    fn what_is_no_text_is_refused() {
        let mut noise = Vec::new();
        let mut state = 1_u32;
        for _ in 0..4096 {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            noise.push(state.to_be_bytes()[0]);
        }
        let mut gzip = b"\x1f\x8b\x08".to_vec();
        gzip.extend_from_slice(&noise);
        let zeros = vec![0; 4096];
        for bytes in [
            b"\x89PNG\r\n\x1a\n".to_vec(),
            b"PK\x03\x04abcdef".to_vec(),
            gzip,
            noise,
            zeros,
            b"\x7fELF\x02\x01\x01".to_vec(),
        ] {
            let of = count(bytes.len());
            let read = whole(&bytes);
            assert_eq!(read.note, Some(FileNote::Binary { of }), "{read:?}");
            assert_eq!(read.text, "");
        }
        assert_eq!(whole(b"").note, Some(FileNote::Empty));
        assert_eq!(whole(b" \r\n\t").note, Some(FileNote::Empty));
    }

    #[test]
    fn a_long_text_keeps_its_beginning_and_its_end() {
        let lines: String = (0..20_000)
            .map(|n| format!("line {n} 支付 of a long log\n"))
            .collect();
        let read = whole(lines.as_bytes());
        assert!(read.text.starts_with("line 0 "));
        assert!(read.text.ends_with("line 19999 支付 of a long log\n"));
        assert!(read.text.contains("of a long log\n[…]\nline "));
        assert!(read.text.len() <= KEPT_BYTES + GAP.len());
        let of = count(lines.len());
        let kept = count(read.text.len() - GAP.len());
        assert_eq!(read.note, Some(FileNote::Shortened { kept, of }));

        // One line without an end is cut between characters.
        let read = whole("支".repeat(200_000).as_bytes());
        assert!(read.text.len() <= KEPT_BYTES + GAP.len());
        assert!(read.text.len() > KEPT_BYTES - 8);
    }

    #[test]
    fn of_a_file_above_the_cap_both_ends_are_read() {
        let bytes = CHINESE.repeat(100).into_bytes();
        let beginning = Loaded {
            // In the middle of a character.
            bytes: bytes.iter().copied().take(1_001).collect(),
            whole: false,
        };
        let end = bytes.iter().copied().skip(bytes.len() - 500);
        let end: Vec<u8> = end.collect();
        let of = count(bytes.len());

        let read = text_of(&beginning, Some(&end), of);
        let note = FileNote::Ends {
            beginning: 1_001,
            end: 500,
            of,
        };
        assert_eq!(read.note, Some(note));
        assert!(!read.text.contains('\u{fffd}'), "{}", read.text);
        assert!(read.text.starts_with("2026-05-14"));
        assert!(read.text.ends_with("重试三次后失败\n"));
        assert_eq!(read.text.matches(GAP).count(), 1);

        let read = text_of(&beginning, None, of);
        assert_eq!(read.note, Some(FileNote::Beginning { read: 1_001, of }));
        assert!(!read.text.contains('\u{fffd}'));
    }

    #[test]
    fn only_discords_hosts_are_read() {
        let own = Some("http://127.0.0.1:4000");
        for (url, api_url, expected) in [
            (
                "https://cdn.discordapp.com/attachments/1/2/a.log",
                None,
                true,
            ),
            ("https://media.discordapp.net/attachments/1/2/a", None, true),
            ("http://cdn.discordapp.com/attachments/1/2/a", None, false),
            ("https://cdn.discordapp.com:8443/a", None, false),
            ("https://user@cdn.discordapp.com/a", None, false),
            ("https://cdn.discordapp.com@evil.example/a", None, false),
            ("https://cdn.discordapp.com.evil.example/a", None, false),
            ("https://evil.example/cdn.discordapp.com", None, false),
            ("https://169.254.169.254/latest/meta-data", None, false),
            ("http://127.0.0.1:4000/attachments/1/2/a", None, false),
            ("http://127.0.0.1:4000/attachments/1/2/a", own, true),
            ("http://127.0.0.1:4001/attachments/1/2/a", own, false),
            ("https://127.0.0.1:4000/attachments/1/2/a", own, false),
            ("http://127.0.0.1/attachments/1/2/a", own, false),
            ("file:///etc/passwd", own, false),
            ("https://cdn.discordapp.com/attachments/1/2/a", own, true),
        ] {
            let parsed = Url::parse(url).expect("a URL");
            assert_eq!(is_discords(&parsed, api_url), expected, "{url}");
        }
    }

    proptest! {
        #[test]
        fn any_bytes_are_read_or_refused(
            bytes in prop::collection::vec(any::<u8>(), 0..2048),
            end in prop::option::of(prop::collection::vec(any::<u8>(), 0..64)),
            complete in any::<bool>(),
            size in any::<u64>(),
        ) {
            let loaded = Loaded { bytes, whole: complete };
            let read = text_of(&loaded, end.as_deref(), size);
            prop_assert!(!read.text.contains('\0'));
            prop_assert!(!read.text.is_empty() || read.note.is_some());
        }
    }
}

//! Bytes to text: which character set a file is in, and decoding it piece by piece.
//!
//! Order of trust: a byte order mark, what the file says of itself (HTML's `meta`), valid UTF-8, zero bytes in
//! the pattern of UTF-16 and UTF-32, the escapes of ISO-2022-JP, and last statistics (`chardetng`) with a second
//! opinion ([`judge`]). Binary data is not text: control bytes that no text file holds say so.

mod judge;
mod tables;

use std::fmt;

use chardetng::{EncodingDetector, Iso2022JpDetection, Utf8Detection};
use encoding_rs::{CoderResult, EUC_KR, Encoding, GBK, ISO_2022_JP, UTF_8, UTF_16BE, UTF_16LE};

use docmill_core::Result;

use crate::input::Input;

pub(crate) use judge::likeliest;
pub(crate) use tables::{CP437, CP850, CP852, Table};

/// Pieces in which files are examined and decoded.
pub(crate) const PIECE_BYTES: usize = 256 << 10;

/// Statistics do not get better with more non-ASCII text than this.
const STATISTICS_BYTES: usize = 2 << 20;

/// A character set.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Charset {
    /// Everything the WHATWG Encoding Standard knows.
    Web(&'static Encoding),
    /// Four bytes a character, low byte first. Not in the standard, but on disks.
    Utf32Le,
    /// Four bytes a character, high byte first.
    Utf32Be,
    /// A set of DOS.
    Table(&'static Table),
}

impl Charset {
    /// UTF-8.
    pub(crate) const UTF_8: Self = Self::Web(UTF_8);

    /// The set a label names, as in `charset=iso-8859-1`. UTF-16 labels on content that could be read as
    /// ASCII are a lie by construction, as browsers know; the caller decides.
    ///
    /// The web refuses to read some sets of old mail (HZ, ISO-2022-KR) and shows one replacement character instead of
    /// all text: their labels name none.
    pub(crate) fn from_label(label: &str) -> Option<Self> {
        Encoding::for_label_no_replacement(label.trim().as_bytes())
            .map(Self::Web)
            .or_else(|| Table::from_label(label).map(Self::Table))
    }

    /// The set and the length of the byte order mark that `head` begins with.
    pub(crate) fn from_mark(head: &[u8]) -> Option<(Self, usize)> {
        match head {
            [0xff, 0xfe, 0, 0, ..] => Some((Self::Utf32Le, 4)),
            [0, 0, 0xfe, 0xff, ..] => Some((Self::Utf32Be, 4)),
            _ => Encoding::for_bom(head).map(|(encoding, length)| (Self::Web(encoding), length)),
        }
    }

    /// Guesses from the first bytes of a file; `None` if they are not text at all.
    pub(crate) fn of_head(head: &[u8]) -> Option<Self> {
        if let Some((charset, length)) = Self::from_mark(head) {
            return charset.reads_as_text(&head[length..]).then_some(charset);
        }
        if let Some(charset) = head.contains(&0).then(|| Self::of_zero_pattern(head)).flatten() {
            return charset.reads_as_text(head).then_some(charset);
        }
        if !is_plausible(head) {
            return None;
        }
        if valid_utf8_prefix(head) {
            return Some(if shifts_to_japanese(head) { Self::Web(ISO_2022_JP) } else { Self::UTF_8 });
        }
        // A log that a crash has left zeros in is text all the same; zeros beside bytes of an unknown set are not.
        if head.contains(&0) {
            return None;
        }
        // Names cut in the middle of a character, a line from elsewhere: few broken bytes in much UTF-8 are damage.
        if Self::is_utf8(head) {
            return Some(Self::UTF_8);
        }
        let charset = Self::by_statistics(head);
        charset.reads_as_text(head).then_some(charset)
    }

    /// Judges the whole file (up to `limit` bytes) and leaves the input at its start.
    pub(crate) fn of_input(input: &mut Input, limit: u64) -> Result<Self> {
        let head = input.head(PIECE_BYTES as u64)?;
        if let Some((charset, _)) = Self::from_mark(&head) {
            input.go_to(0)?;
            return Ok(charset);
        }
        if let Some(charset) = head.contains(&0).then(|| Self::of_zero_pattern(&head)).flatten() {
            input.go_to(0)?;
            return Ok(charset);
        }
        input.go_to(0)?;
        let mut census = Utf8Census::default();
        let mut foreign = Vec::new();
        let mut buffer = vec![0; PIECE_BYTES];
        let mut seen = 0_u64;
        loop {
            let filled = input.fill(&mut buffer)?;
            if filled == 0 || seen >= limit {
                break;
            }
            let piece = &buffer[..filled];
            seen += filled as u64;
            census.add(piece);
            if !piece.is_ascii() && foreign.len() < STATISTICS_BYTES {
                foreign.extend_from_slice(piece);
            }
        }
        input.go_to(0)?;
        if census.is_utf8() {
            Ok(if shifts_to_japanese(&head) { Self::Web(ISO_2022_JP) } else { Self::UTF_8 })
        } else {
            Ok(Self::by_statistics(&foreign))
        }
    }

    /// Whether `bytes` are UTF-8 but for some damage.
    pub(crate) fn is_utf8(bytes: &[u8]) -> bool {
        let mut census = Utf8Census::default();
        census.add(bytes);
        census.is_utf8()
    }

    /// Statistics alone, for text that is not UTF-8. Also used for the names inside archives.
    pub(crate) fn by_statistics(bytes: &[u8]) -> Self {
        let mut detector = EncodingDetector::new(Iso2022JpDetection::Allow);
        detector.feed(bytes, true);
        judge::second_opinion(detector.guess(None, Utf8Detection::Deny), bytes)
    }

    /// UTF-16 and UTF-32 without a mark: Latin letters, spaces and line ends leave zeros on one side only.
    fn of_zero_pattern(head: &[u8]) -> Option<Self> {
        let mut zeros = [0_usize; 4];
        for quad in head.chunks_exact(4) {
            for (count, byte) in zeros.iter_mut().zip(quad) {
                *count += usize::from(*byte == 0);
            }
        }
        let quads = head.len() / 4;
        if quads > 0 && zeros[2..] == [quads, quads] && zeros[0] == 0 {
            return Some(Self::Utf32Le);
        }
        if quads > 0 && zeros[..2] == [quads, quads] && zeros[3] == 0 {
            return Some(Self::Utf32Be);
        }
        let (even, odd) = head.chunks_exact(2).fold((0, 0), |(even, odd), pair| {
            (even + usize::from(pair[0] == 0), odd + usize::from(pair[1] == 0))
        });
        let enough = (head.len() / 2 / 20).max(1);
        match (even, odd) {
            (0, odd) if odd >= enough => Some(Self::Web(UTF_16LE)),
            (even, 0) if even >= enough => Some(Self::Web(UTF_16BE)),
            _ => None,
        }
    }

    /// Whether `bytes` decode to characters that texts are made of.
    fn reads_as_text(self, bytes: &[u8]) -> bool {
        let mut decoder = Decoder::new(self);
        let mut text = String::new();
        decoder.push(bytes, false, &mut text);
        let odd = text.chars().filter(|&c| is_odd(c)).count();
        // One odd character in fifty is damage; more is another kind of file.
        odd * 50 <= text.chars().count()
    }

    /// Decodes all of `bytes`, without its byte order mark.
    pub(crate) fn decode(self, bytes: &[u8]) -> Decoded {
        let skip = match Self::from_mark(bytes) {
            Some((charset, length)) if charset == self => length,
            _ => 0,
        };
        let mut decoder = Decoder::new(self);
        let mut text = String::with_capacity(bytes.len());
        decoder.push(&bytes[skip..], true, &mut text);
        Decoded { text, replaced: decoder.replaced }
    }
}

impl fmt::Display for Charset {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Web(encoding) => f.write_str(&encoding.name().to_ascii_lowercase()),
            Self::Utf32Le => f.write_str("utf-32le"),
            Self::Utf32Be => f.write_str("utf-32be"),
            Self::Table(table) => f.write_str(table.name),
        }
    }
}

/// Text and how many characters in it stand for bytes that could not be decoded.
pub(crate) struct Decoded {
    pub(crate) text: String,
    pub(crate) replaced: u64,
}

/// Text of the seven-bit sets of old mail that the web refuses to read: HZ and ISO-2022-KR, which shift between ASCII and
/// the two bytes of a Chinese or Korean set.
pub(crate) fn of_seven_bits(label: &str, bytes: &[u8]) -> Option<Decoded> {
    let (set, shifts): (_, &[(&[u8], Shift)]) = match label {
        "hz" | "hz-gb-2312" => (
            GBK,
            &[(b"~{", Shift::In), (b"~}", Shift::Out), (b"~~", Shift::Write(b'~')), (b"~\n", Shift::Nothing)],
        ),
        "iso-2022-kr" | "csiso2022kr" => {
            (EUC_KR, &[(b"\x0e", Shift::In), (b"\x0f", Shift::Out), (b"\x1b$)C", Shift::Nothing)])
        }
        _ => return None,
    };
    let (mut out, mut rest, mut is_shifted) = (Vec::with_capacity(bytes.len()), bytes, false);
    while let Some((&byte, after)) = rest.split_first() {
        let shift = shifts.iter().find_map(|(mark, shift)| Some((rest.strip_prefix(*mark)?, shift)));
        let Some((behind, shift)) = shift else {
            // Every line begins in ASCII.
            is_shifted &= byte != b'\n';
            out.push(if is_shifted && byte.is_ascii_graphic() { byte | 0x80 } else { byte });
            rest = after;
            continue;
        };
        match shift {
            Shift::In => is_shifted = true,
            Shift::Out => is_shifted = false,
            Shift::Write(byte) => out.push(*byte),
            Shift::Nothing => {}
        }
        rest = behind;
    }
    Some(Charset::Web(set).decode(&out))
}

/// What a mark in seven-bit text means.
enum Shift {
    In,
    Out,
    Write(u8),
    Nothing,
}

/// Decodes a stream.
pub(crate) struct Decoder {
    inner: Inner,
    /// Characters that stand for bytes that could not be decoded.
    pub(crate) replaced: u64,
}

enum Inner {
    Web(encoding_rs::Decoder),
    Utf32 { big: bool, rest: Vec<u8> },
    Table(&'static Table),
}

impl Decoder {
    pub(crate) fn new(charset: Charset) -> Self {
        let inner = match charset {
            Charset::Web(encoding) => Inner::Web(encoding.new_decoder_without_bom_handling()),
            Charset::Utf32Le => Inner::Utf32 { big: false, rest: Vec::new() },
            Charset::Utf32Be => Inner::Utf32 { big: true, rest: Vec::new() },
            Charset::Table(table) => Inner::Table(table),
        };
        Self { inner, replaced: 0 }
    }

    /// Appends what `bytes` mean; `last` says that no more bytes come.
    pub(crate) fn push(&mut self, mut bytes: &[u8], last: bool, out: &mut String) {
        let from = out.len();
        match &mut self.inner {
            Inner::Web(decoder) => loop {
                out.reserve(decoder.max_utf8_buffer_length(bytes.len()).unwrap_or(bytes.len()).max(16));
                let (result, read, _) = decoder.decode_to_string(bytes, out, last);
                bytes = &bytes[read..];
                if result == CoderResult::InputEmpty {
                    break;
                }
            },
            Inner::Table(table) => table.decode(bytes, out),
            Inner::Utf32 { big, rest } => {
                rest.extend_from_slice(bytes);
                let whole = rest.len() / 4 * 4;
                for quad in rest[..whole].chunks_exact(4) {
                    let quad = [quad[0], quad[1], quad[2], quad[3]];
                    let code = if *big { u32::from_be_bytes(quad) } else { u32::from_le_bytes(quad) };
                    out.push(char::from_u32(code).unwrap_or(char::REPLACEMENT_CHARACTER));
                }
                rest.drain(..whole);
                if last && !rest.is_empty() {
                    out.push(char::REPLACEMENT_CHARACTER);
                }
            }
        }
        // A file may hold the replacement character itself, from an earlier bad conversion: text lost all
        // the same.
        self.replaced += out[from..].chars().filter(|&c| c == char::REPLACEMENT_CHARACTER).count() as u64;
    }
}

/// Counts what is and what is not UTF-8 in a stream.
#[derive(Default)]
struct Utf8Census {
    rest: Vec<u8>,
    sequences: u64,
    errors: u64,
}

impl Utf8Census {
    fn add(&mut self, piece: &[u8]) {
        if self.rest.is_empty() && piece.is_ascii() {
            return;
        }
        self.rest.extend_from_slice(piece);
        let mut done = 0;
        for chunk in self.rest.utf8_chunks() {
            self.sequences += chunk.valid().bytes().filter(|b| *b >= 0xc0).count() as u64;
            done += chunk.valid().len();
            let invalid = chunk.invalid();
            if invalid.is_empty() {
                continue;
            }
            // What may still become valid with the next piece waits for it.
            if done + invalid.len() == self.rest.len() && valid_utf8_prefix(invalid) {
                break;
            }
            self.errors += 1;
            done += invalid.len();
        }
        self.rest.drain(..done);
    }

    /// A few broken bytes in much good UTF-8 are damage, not another character set.
    fn is_utf8(&self) -> bool {
        let errors = self.errors + u64::from(!self.rest.is_empty());
        errors * 5 <= self.sequences
    }
}

/// Text of seven bits that shifts to the Japanese sets of ISO-2022-JP. No terminal and no printer has these escapes for
/// anything else.
pub(crate) fn shifts_to_japanese(bytes: &[u8]) -> bool {
    const SHIFTS: &[&[u8]] = &[b"\x1b$B", b"\x1b$@"];
    if !bytes.is_ascii() || !bytes.windows(3).any(|three| SHIFTS.contains(&three)) {
        return false;
    }
    // The bytes may be cut off in the middle of a character.
    let mut decoder = Decoder::new(Charset::Web(ISO_2022_JP));
    decoder.push(bytes, false, &mut String::new());
    decoder.replaced == 0
}

/// Valid UTF-8, but for a sequence that `bytes` may cut off at their end.
fn valid_utf8_prefix(bytes: &[u8]) -> bool {
    match std::str::from_utf8(bytes) {
        Ok(_) => true,
        Err(e) => e.error_len().is_none(),
    }
}

/// No byte that a text file in an ASCII-compatible set never holds. One in two hundred is damage.
fn is_plausible(bytes: &[u8]) -> bool {
    let odd = bytes.iter().filter(|b| matches!(b, 0..=7 | 0x0b | 0x0e..=0x19 | 0x1c..=0x1f | 0x7f)).count();
    odd * 200 <= bytes.len()
}

fn is_odd(c: char) -> bool {
    matches!(c, '\0'..='\u{7}' | '\u{b}' | '\u{e}'..='\u{19}' | '\u{1c}'..='\u{1f}' | '\u{7f}'..='\u{84}'
        | '\u{86}'..='\u{9f}' | '\u{e000}'..='\u{f8ff}' | '\u{fdd0}'..='\u{fdef}' | '\u{fffd}'..='\u{ffff}'
        | '\u{f0000}'..)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn charset_of_head_is_found_for_marks_patterns_and_statistics() {
        let utf16 = |text: &str, big: bool| -> Vec<u8> {
            text.encode_utf16().flat_map(|u| if big { u.to_be_bytes() } else { u.to_le_bytes() }).collect()
        };
        let utf32 = |text: &str| -> Vec<u8> { text.chars().flat_map(|c| (c as u32).to_le_bytes()).collect() };
        let legacy = |label: &str, text: &str| {
            Encoding::for_label(label.as_bytes()).unwrap().encode(text).0.into_owned()
        };
        let german = "Überraschend größere Äpfel für die Straße, sagte Jürgen müde. ".repeat(4);
        let russian = "Комитет утвердил годовой бюджет после долгого обсуждения расходов. ".repeat(4);
        let japanese = "これは日本語の文章です。文字コードの判定を試験しています。カタカナも少し。".repeat(4);
        let chinese =
            "委员会经过长时间的讨论，批准了年度预算。这是一个测试文件，用来检查字符编码。".repeat(4);
        let korean = "위원회는 오랜 논의 끝에 연간 예산을 승인했다. 이것은 문자 집합 시험이다. ".repeat(4);
        let taiwanese =
            "委員會經過長時間的討論，批准了年度預算。這是一個測試檔案，用來檢查字元編碼。".repeat(4);
        let cases: Vec<(Vec<u8>, &str)> = vec![
            (b"plain ascii\n".to_vec(), "utf-8"),
            ("größer".as_bytes().to_vec(), "utf-8"),
            ([b"\xef\xbb\xbf".as_slice(), b"bom"].concat(), "utf-8"),
            ([b"\xff\xfe".to_vec(), utf16("bom", false)].concat(), "utf-16le"),
            ([b"\xfe\xff".to_vec(), utf16("bom", true)].concat(), "utf-16be"),
            (utf16("no mark at all\n", false), "utf-16le"),
            (utf16("no mark at all\n", true), "utf-16be"),
            (utf16(&russian, false), "utf-16le"),
            (utf32("no mark at all\n"), "utf-32le"),
            ([russian.as_bytes(), b"\xd0 and more"].concat(), "utf-8"),
            (b"\x1b$B4A;z\x1b(B in old mail\n".to_vec(), "iso-2022-jp"),
            (legacy("windows-1252", &german), "windows-1252"),
            (legacy("macintosh", &german), "macintosh"),
            (legacy("koi8-r", &russian), "koi8-u"),
            (legacy("windows-1251", &russian), "windows-1251"),
            (legacy("shift_jis", &japanese), "shift_jis"),
            (legacy("euc-jp", &japanese), "euc-jp"),
            (legacy("gbk", &chinese), "gbk"),
            (legacy("euc-kr", &korean), "euc-kr"),
            (legacy("big5", &taiwanese), "big5"),
        ];
        for (bytes, expected) in cases {
            let found = Charset::of_head(&bytes).map(|c| c.to_string());
            assert_eq!(found.as_deref(), Some(expected));
            let whole = Charset::of_input(&mut Input::from_bytes(bytes), u64::MAX).unwrap();
            assert_eq!(whole.to_string(), expected);
        }
    }

    #[test]
    fn sets_that_the_web_refuses_are_read_by_their_shifts() {
        for label in ["hz-gb-2312", "iso-2022-kr", "iso-2022-cn"] {
            assert_eq!(Charset::from_label(label), None, "{label}");
        }
        let read = |label, bytes: &[u8]| of_seven_bits(label, bytes).map(|decoded| decoded.text);
        assert_eq!(read("hz-gb-2312", b"a~~ ~{<:Ky2;S{~}.\nb").as_deref(), Some("a~ 己所不欲.\nb"));
        assert_eq!(read("iso-2022-kr", b"\x1b$)C\x0eGQ1[\x0f ok").as_deref(), Some("한글 ok"));
        assert_eq!(read("utf-8", b"a"), None);
    }

    #[test]
    fn text_with_a_few_zeros_is_text() {
        let log = [b"a line of a log\n".repeat(200), vec![0; 12], b"and its end\n".to_vec()].concat();
        assert_eq!(Charset::of_head(&log), Some(Charset::UTF_8));
        assert_eq!(Charset::of_input(&mut Input::from_bytes(log), u64::MAX).unwrap(), Charset::UTF_8);
    }

    #[test]
    fn charset_of_head_refuses_binary_data() {
        let noise: Vec<u8> = (0..4096_u32).map(|i| (i.wrapping_mul(2_654_435_761) >> 13) as u8).collect();
        for bytes in [&b"\x7fELF\x02\x01\x01\0\0\0\0\0\0\0\0\0"[..], b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR", &noise]
        {
            assert_eq!(Charset::of_head(bytes), None);
        }
    }

    #[test]
    fn charset_of_input_sees_what_comes_after_the_head() {
        let mut bytes = vec![b'a'; PIECE_BYTES + 10];
        bytes.extend_from_slice("größer ".repeat(20).as_bytes());
        assert_eq!(
            Charset::of_input(&mut Input::from_bytes(bytes.clone()), u64::MAX).unwrap(),
            Charset::UTF_8
        );
        bytes.push(0xff);
        assert_eq!(
            Charset::of_input(&mut Input::from_bytes(bytes.clone()), u64::MAX).unwrap(),
            Charset::UTF_8
        );
        assert_eq!(Charset::UTF_8.decode(&bytes).replaced, 1);
    }

    #[test]
    fn decoder_joins_characters_split_between_pieces() {
        for (charset, bytes) in [
            (Charset::UTF_8, "ä€😀".as_bytes().to_vec()),
            (Charset::Utf32Be, vec![0, 0, 0, 0xe4, 0, 1, 0xf6, 0]),
        ] {
            let mut decoder = Decoder::new(charset);
            let mut text = String::new();
            for byte in &bytes {
                decoder.push(&[*byte], false, &mut text);
            }
            decoder.push(&[], true, &mut text);
            assert_eq!(text, charset.decode(&bytes).text);
            assert_eq!(decoder.replaced, 0);
        }
    }
}

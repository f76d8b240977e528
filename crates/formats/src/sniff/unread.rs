//! Types that docmill knows but does not read yet: the right name matters for the ledger, and a mail must not
//! be read as plain text by accident.

use std::borrow::Cow;

use file_format::FileFormat;

use super::Head;
use super::unsupported::called;
use crate::input::Input;

/// Media types by file extension, for listings and for content that does not say what it is.
pub(super) const OF_EXTENSION: &[(&str, &str)] = &[
    ("7z", "application/x-7z-compressed"),
    ("bmp", "image/bmp"),
    ("bz2", "application/x-bzip2"),
    ("css", "text/css"),
    ("csv", "text/csv"),
    ("doc", "application/msword"),
    ("docx", "application/vnd.openxmlformats-officedocument.wordprocessingml.document"),
    ("eml", "message/rfc822"),
    ("epub", "application/epub+zip"),
    ("gif", "image/gif"),
    ("gz", "application/gzip"),
    ("heic", "image/heic"),
    ("htm", "text/html"),
    ("html", "text/html"),
    ("ics", "text/calendar"),
    ("jar", "application/java-archive"),
    ("jpeg", "image/jpeg"),
    ("jpg", "image/jpeg"),
    ("json", "application/json"),
    ("jsonl", "application/jsonl"),
    ("log", "text/plain"),
    ("lz4", "application/x-lz4"),
    ("markdown", "text/markdown"),
    ("mbox", "application/mbox"),
    ("md", "text/markdown"),
    ("msg", "application/vnd.ms-outlook"),
    ("ndjson", "application/jsonl"),
    ("odp", "application/vnd.oasis.opendocument.presentation"),
    ("ods", "application/vnd.oasis.opendocument.spreadsheet"),
    ("odt", "application/vnd.oasis.opendocument.text"),
    ("pdf", "application/pdf"),
    ("png", "image/png"),
    ("ppt", "application/vnd.ms-powerpoint"),
    ("pptx", "application/vnd.openxmlformats-officedocument.presentationml.presentation"),
    ("pst", "application/vnd.ms-outlook-pst"),
    ("rar", "application/vnd.rar"),
    ("rtf", "application/rtf"),
    ("svg", "image/svg+xml"),
    ("tar", "application/x-tar"),
    ("tbz2", "application/x-bzip2"),
    ("tgz", "application/gzip"),
    ("tif", "image/tiff"),
    ("tiff", "image/tiff"),
    ("tsv", "text/tab-separated-values"),
    ("txt", "text/plain"),
    ("webp", "image/webp"),
    ("vcf", "text/vcard"),
    ("xhtml", "application/xhtml+xml"),
    ("xls", "application/vnd.ms-excel"),
    ("xlsx", "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"),
    ("xml", "application/xml"),
    ("xz", "application/x-xz"),
    ("zip", "application/zip"),
    ("zst", "application/zstd"),
];

/// What Office files of the nineties begin with.
pub(crate) const COMPOUND_FILE: &[u8] = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1";

/// The media type of content that no reader may take; `None` leaves it to the readers.
pub(super) fn media_type(head: &Head<'_>) -> Option<Cow<'static, str>> {
    match &head.text {
        Some(text) => textual(text).map(Cow::Borrowed),
        None => Some(binary(head)),
    }
}

/// Formats written in plain characters whose text is not for reading as it stands. Signatures of two or three
/// letters mean nothing here: a text may begin with `BM` or `MZ`.
fn textual(text: &str) -> Option<&'static str> {
    let start = text.trim_start();
    if start.starts_with("%!PS") {
        return Some("application/postscript");
    }
    portable_map(text)
}

/// Pictures whose header is text, and whose pixels may look like text of some character set: `P6`, white space, a width.
/// A table may begin like that; pixels are not written in ASCII.
fn portable_map(text: &str) -> Option<&'static str> {
    let (kind, rest) = text.split_at_checked(2)?;
    let media_type = match kind {
        _ if text.is_ascii() => return None,
        "P4" => "image/x-portable-bitmap",
        "P5" => "image/x-portable-graymap",
        "P6" => "image/x-portable-pixmap",
        _ => return None,
    };
    let mut words = rest.lines().filter(|line| !line.starts_with('#')).flat_map(str::split_ascii_whitespace);
    let mut is_number = || words.next().is_some_and(|word| word.bytes().all(|b| b.is_ascii_digit()));
    (rest.starts_with(char::is_whitespace) && is_number() && is_number()).then_some(media_type)
}

/// Everything else goes by its signature.
fn binary(head: &Head<'_>) -> Cow<'static, str> {
    let bytes = head.bytes;
    if bytes.starts_with(COMPOUND_FILE) {
        return compound_type(head).into();
    }
    if bytes.starts_with(b"!BDN") {
        return "application/vnd.ms-outlook-pst".into();
    }
    let format = FileFormat::from_bytes(bytes);
    let told = format.media_type();
    let called = if told == super::UNKNOWN { called(&head.extension) } else { None };
    called.map_or_else(|| told.to_owned().into(), Cow::Borrowed)
}

/// Office files of the nineties are small file systems. What lies at their top tells them apart; where they cannot be
/// opened, any name in their directory, which [`super::sniff`] puts into the head, and then what they are called.
pub(crate) fn compound_type(head: &Head<'_>) -> &'static str {
    const STREAMS: &[(&str, &str)] = &[
        ("__properties_version1.0", "application/vnd.ms-outlook"),
        ("__nameid_version1.0", "application/vnd.ms-outlook"),
        ("WordDocument", "application/msword"),
        ("Workbook", "application/vnd.ms-excel"),
        ("Book\0", "application/vnd.ms-excel"),
        ("PowerPoint Document", "application/vnd.ms-powerpoint"),
        ("VisioDocument", "application/vnd.visio"),
        ("EncryptedPackage", "application/vnd.ms-office.encrypted-package"),
        ("\u{9}DRMContent", "application/vnd.ms-office.encrypted-package"),
    ];
    for (stream, media_type) in STREAMS {
        if !head.top.is_empty() {
            if head.top.iter().any(|name| name == stream.trim_end_matches('\0')) {
                return media_type;
            }
            continue;
        }
        let name: Vec<u8> = stream.encode_utf16().flat_map(u16::to_le_bytes).collect();
        if contains(head.bytes, &name) {
            return media_type;
        }
    }
    match head.extension.as_str() {
        "doc" | "dot" => "application/msword",
        "xls" | "xlt" => "application/vnd.ms-excel",
        "ppt" | "pps" | "pot" => "application/vnd.ms-powerpoint",
        "msg" => "application/vnd.ms-outlook",
        other => called(other).unwrap_or("application/x-cfb"),
    }
}

/// What lies at the top of a compound file; nothing if it is too damaged to tell.
pub(super) fn compound_names(input: &mut Input) -> Vec<String> {
    // Nothing is said about errors here: the reader meets them again.
    if input.go_to(0).is_err() {
        return Vec::new();
    }
    cfb::CompoundFile::open(input)
        .map(|file| file.read_root_storage().map(|entry| entry.name().to_owned()).collect())
        .unwrap_or_default()
}

/// Where the directory of a compound file begins, by its first bytes.
pub(super) fn compound_directory(head: &[u8]) -> Option<u64> {
    let shift = u32::from(*head.get(30)?);
    let sector = u32::from_le_bytes(head.get(48..52)?.try_into().ok()?);
    (head.starts_with(COMPOUND_FILE) && matches!(shift, 9 | 12)).then(|| (u64::from(sector) + 1) << shift)
}

fn contains(haystack: &[u8], needle: &[u8]) -> bool {
    haystack.windows(needle.len()).any(|window| window == needle)
}

//! What a PDF says of itself in its information dictionary.

use docmill_core::Result;
use hayro_syntax::metadata::Metadata;
use hayro_syntax::object::DateTime;

use crate::shared::charset::Charset;
use crate::sink::Sink;

/// Hands on what there is.
pub(super) fn emit(metadata: &Metadata, sink: &mut dyn Sink) -> Result<()> {
    let texts = [
        ("title", &metadata.title),
        ("author", &metadata.author),
        ("subject", &metadata.subject),
        ("keywords", &metadata.keywords),
        ("creator", &metadata.creator),
        ("producer", &metadata.producer),
    ];
    for (key, value) in texts {
        if let Some(bytes) = value {
            sink.meta(key, &text_string(bytes))?;
        }
    }
    for (key, value) in
        [("creation_date", &metadata.creation_date), ("mod_date", &metadata.modification_date)]
    {
        if let Some(date) = value {
            sink.meta(key, &iso_date(date))?;
        }
    }
    Ok(())
}

/// A PDF text string: UTF-16 or UTF-8 with a mark, else PDFDocEncoding, which is Latin-1 but for some marks.
pub(super) fn text_string(bytes: &[u8]) -> String {
    match Charset::from_mark(bytes) {
        Some((charset, _)) => charset.decode(bytes).text,
        None => bytes.iter().map(|&b| pdf_doc_char(b)).collect(),
    }
}

/// ISO 32000-1, annex D.3.
fn pdf_doc_char(byte: u8) -> char {
    const MARKS: &str = "•†‡…—–ƒ⁄‹›−‰„“”‘’‚™ﬁﬂŁŒŠŸŽıłœšž";
    match byte {
        0x80..=0x9e => MARKS.chars().nth(usize::from(byte - 0x80)).unwrap_or(char::REPLACEMENT_CHARACTER),
        0xa0 => '€',
        0x18..=0x1f => {
            const ACCENTS: [char; 8] = ['˘', 'ˇ', 'ˆ', '˙', '˝', '˛', '˚', '˜'];
            ACCENTS[usize::from(byte - 0x18)]
        }
        other => char::from(other),
    }
}

/// ISO 8601 with the offset that the file states.
fn iso_date(date: &DateTime) -> String {
    let DateTime { year, month, day, hour, minute, second, utc_offset_hour, utc_offset_minute } = *date;
    let sign = if utc_offset_hour < 0 { '-' } else { '+' };
    let offset = utc_offset_hour.unsigned_abs();
    format!(
        "{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}{sign}{offset:02}:{utc_offset_minute:02}"
    )
}

#[cfg(test)]
mod tests {
    use super::text_string;

    #[test]
    fn text_strings_of_every_encoding_are_read() {
        assert_eq!(text_string(b"\xfe\xff\0G\0r\0\xfc\0n"), "Grün");
        assert_eq!(text_string(b"\xef\xbb\xbfGr\xc3\xbcn"), "Grün");
        assert_eq!(text_string(b"Gr\xfcn \x84 \xa0 5"), "Grün — € 5");
    }
}

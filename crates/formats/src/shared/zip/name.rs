//! What members are called. Old archives do not say in which character set; all names together tell.
//!
//! A name is only ever shown: nothing in docmill uses it as a path.

use encoding_rs::{BIG5, EUC_JP, EUC_KR, GBK, IBM866, SHIFT_JIS, UTF_8, WINDOWS_1251};

use super::Entry;
use crate::shared::charset::{CP437, CP850, CP852, Charset, likeliest};

/// Enough names for statistics.
const SAMPLE_BYTES: usize = 64 << 10;

/// Decodes the names of one archive.
#[derive(Default)]
pub(crate) struct Names {
    sample: Vec<u8>,
    charset: Option<Charset>,
}

impl Names {
    /// Takes a name into account; call for all entries before [`Self::settle`].
    pub(crate) fn look_at(&mut self, entry: &Entry) {
        if entry.unicode_name.is_none()
            && self.sample.len() < SAMPLE_BYTES
            && std::str::from_utf8(&entry.raw_name).is_err()
        {
            self.sample.extend_from_slice(&entry.raw_name);
            self.sample.push(b'\n');
        }
    }

    /// Decides for one character set. Western statistics mean a code page of DOS: 437, as the specification has it, if
    /// no other makes better words of the names.
    pub(crate) fn settle(&mut self) {
        if self.sample.is_empty() {
            return;
        }
        let guess = Charset::by_statistics(&self.sample);
        let eastern = [GBK, BIG5, SHIFT_JIS, EUC_JP, EUC_KR, IBM866, WINDOWS_1251];
        let is_eastern = matches!(guess, Charset::Web(encoding) if eastern.contains(&encoding));
        self.charset = Some(if is_eastern && guess.decode(&self.sample).replaced == 0 {
            guess
        } else {
            likeliest(&[&CP437, &CP850, &CP852], &self.sample)
        });
        self.sample = Vec::new();
    }

    /// What the entry is called.
    pub(crate) fn of(&self, entry: &Entry) -> String {
        match &entry.unicode_name {
            Some(name) => name.clone(),
            None => self.decode(&entry.raw_name),
        }
    }

    /// Decodes a name that has no flag.
    pub(crate) fn decode(&self, raw: &[u8]) -> String {
        match (std::str::from_utf8(raw), self.charset) {
            (Ok(name), _) => name.to_owned(),
            (Err(_), Some(charset)) => charset.decode(raw).text,
            (Err(_), None) => Charset::Table(&CP437).decode(raw).text,
        }
    }
}

/// The name in Info-ZIP's Unicode path field (0x7075), valid only for the raw name it was made from.
pub(super) fn unicode_path(field: &[u8], raw_name: &[u8]) -> Option<String> {
    let crc = field.get(1..5)?;
    if field[0] != 1 || crc != crc32fast::hash(raw_name).to_le_bytes() {
        return None;
    }
    UTF_8.decode_without_bom_handling_and_without_replacement(&field[5..]).map(std::borrow::Cow::into_owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_without_a_flag_are_decoded_by_the_whole_archive() {
        let cases: &[(&[&[u8]], &[&str])] = &[
            (&[b"plain.txt"], &["plain.txt"]),
            (&["größe.txt".as_bytes()], &["größe.txt"]),
            (&[b"gr\x94\xe1e.txt", b"\x9aber.txt"], &["größe.txt", "Über.txt"]),
            (&[b"Relat\xa2rio de Gest\xc6o.pdf"], &["Relatório de Gestão.pdf"]),
            (&[b"Umowa o prac\xa9.pdf", b"Za\x88\xa5cznik.pdf"], &["Umowa o pracę.pdf", "Załącznik.pdf"]),
            (&[&GBK.encode("新建文本文档.txt").0, b"a.txt"], &["新建文本文档.txt", "a.txt"]),
        ];
        for (raw, expected) in cases {
            let mut names = Names { sample: raw.join(&b'\n'), charset: None };
            if names.sample.is_ascii() || std::str::from_utf8(&names.sample).is_ok() {
                names.sample.clear();
            }
            names.settle();
            let decoded: Vec<_> = raw.iter().map(|name| names.decode(name)).collect();
            assert_eq!(&decoded, expected);
        }
    }
}

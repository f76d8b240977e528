//! What a compound document says of itself (MS-OLEPS): the property sets of its two summary streams.

use docmill_core::Result;

use super::{File, stream, u16_at, u32_at, wide};
use crate::shared::cells::civil;
use crate::shared::charset::Charset;
use crate::sink::Sink;

/// Summaries are a few kilobytes.
const MAX_BYTES: u64 = 4 << 20;

/// Properties of the first stream.
const SUMMARY: &[(u32, &str)] = &[
    (2, "title"),
    (3, "subject"),
    (4, "author"),
    (5, "keywords"),
    (6, "description"),
    (8, "last_modified_by"),
    (9, "revision"),
    (11, "print_date"),
    (12, "creation_date"),
    (13, "mod_date"),
    (14, "page_count"),
    (15, "word_count"),
    (16, "character_count"),
    (18, "creator"),
];

/// Properties of the second.
const DOCUMENT_SUMMARY: &[(u32, &str)] = &[
    (2, "category"),
    (7, "slide_count"),
    (9, "hidden_slide_count"),
    (14, "manager"),
    (15, "company"),
    (28, "stated_language"),
];

/// Hands on what there is. Summaries that are damaged say nothing: they are copies of what programs show elsewhere.
pub(crate) fn tell(file: &mut File<'_>, sink: &mut dyn Sink) -> Result<()> {
    for (path, keys) in
        [("/\u{5}SummaryInformation", SUMMARY), ("/\u{5}DocumentSummaryInformation", DOCUMENT_SUMMARY)]
    {
        if let Ok(Some((bytes, _))) = stream(file, path, MAX_BYTES) {
            for (key, value) in facts(&bytes, keys) {
                sink.meta(key, &value)?;
            }
        }
    }
    Ok(())
}

fn facts(bytes: &[u8], keys: &'static [(u32, &'static str)]) -> Vec<(&'static str, String)> {
    let Some(start) = u32_at(bytes, 44).map(|at| at as usize) else { return Vec::new() };
    let Some(set) = bytes.get(start..) else { return Vec::new() };
    let count = u32_at(set, 4).unwrap_or(0).min(1000) as usize;
    let place = |wanted: u32| {
        (0..count)
            .find_map(|i| (u32_at(set, 8 + i * 8) == Some(wanted)).then(|| u32_at(set, 12 + i * 8)).flatten())
    };
    let page = place(1).and_then(|at| u16_at(set, at as usize + 4)).unwrap_or(1252);
    keys.iter()
        .filter_map(|(id, key)| {
            let value = value(set.get(place(*id)? as usize..)?, page)?;
            // A count of nothing is a count that nobody took.
            (!(key.ends_with("_count") && value == "0")).then_some((*key, value))
        })
        .collect()
}

/// A typed value as text.
fn value(typed: &[u8], page: u16) -> Option<String> {
    const SHORT: u16 = 2;
    const LONG: u16 = 3;
    const STRING: u16 = 30;
    const WIDE_STRING: u16 = 31;
    const MOMENT: u16 = 64;
    let data = typed.get(4..)?;
    match u16_at(typed, 0)? {
        SHORT => Some((u16_at(data, 0)? as i16).to_string()),
        LONG => Some((u32_at(data, 0)? as i32).to_string()),
        STRING => {
            let text = data.get(4..4_usize.checked_add(u32_at(data, 0)? as usize)?)?;
            let text = text.split(|&b| b == 0).next().unwrap_or_default();
            Some(if page == 1200 { wide(data.get(4..)?) } else { code_page(page).decode(text).text })
        }
        WIDE_STRING => {
            let bytes = (u32_at(data, 0)? as usize).checked_mul(2)?;
            Some(wide(data.get(4..4_usize.checked_add(bytes)?)?).trim_end_matches('\0').to_owned())
        }
        MOMENT => moment(u64::from(u32_at(data, 0)?) | u64::from(u32_at(data, 4)?) << 32),
        _ => None,
    }
}

/// The character set behind a Windows code page.
pub(crate) fn code_page(page: u16) -> Charset {
    let label = match page {
        65001 => "utf-8".to_owned(),
        932 => "shift_jis".to_owned(),
        936 => "gbk".to_owned(),
        949 => "euc-kr".to_owned(),
        950 => "big5".to_owned(),
        866 => "ibm866".to_owned(),
        // The second is how Excel of old calls it.
        10000 | 32768 => "macintosh".to_owned(),
        10007 => "x-mac-cyrillic".to_owned(),
        20127 => "us-ascii".to_owned(),
        20866 => "koi8-r".to_owned(),
        21866 => "koi8-u".to_owned(),
        28591..=28606 => format!("iso-8859-{}", page - 28590),
        51932 => "euc-jp".to_owned(),
        54936 => "gb18030".to_owned(),
        // Sets of DOS.
        437 | 850 | 852 | 858 => format!("cp{page}"),
        other => format!("windows-{other}"),
    };
    Charset::from_label(&label).unwrap_or(Charset::Web(encoding_rs::WINDOWS_1252))
}

/// Ticks of 100 ns since 1601 as ISO 8601. Small ones are durations, none is no date.
fn moment(ticks: u64) -> Option<String> {
    let seconds = (ticks / 10_000_000) as i64 - 11_644_473_600;
    if !(-8_520_336_000..=253_402_300_799).contains(&seconds) {
        return None;
    }
    let (year, month, day) = civil(seconds.div_euclid(86_400));
    let clock = seconds.rem_euclid(86_400);
    let (hour, minute, second) = (clock / 3600, clock / 60 % 60, clock % 60);
    Some(format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}Z"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn moments_are_dates_and_durations_are_not() {
        assert_eq!(moment(133_485_408_000_000_000).as_deref(), Some("2024-01-01T00:00:00Z"));
        assert_eq!(moment(0), None);
        assert_eq!(moment(600_000_000), None);
        assert_eq!(moment(u64::MAX), None);
    }
}

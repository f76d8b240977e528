//! Text from outside: made safe to show, and cut into words; and sizes as people write them.

/// Removes control characters, those that turn the direction of text, and those that end a line: they could make a name
/// look like another one or move the cursor of a terminal. The stored original stays as it came.
pub fn shown(name: &str) -> String {
    name.chars().map(|c| if is_treacherous(c) { '\u{fffd}' } else { c }).collect()
}

fn is_treacherous(c: char) -> bool {
    c.is_control()
        || matches!(c, '\u{061c}' | '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}'
            | '\u{feff}' | '\u{fff9}'..='\u{fffb}')
}

/// Whether a letter belongs to a script that is written without spaces between words: Chinese, Japanese,
/// Korean (whose endings hang on the word), Thai, Lao, Burmese, Khmer. The search index takes each such
/// letter for a word, so that any part of a run is found.
pub fn is_unspaced(c: char) -> bool {
    matches!(c,
        '\u{0e00}'..='\u{0eff}' | '\u{1000}'..='\u{109f}' | '\u{1100}'..='\u{11ff}' | '\u{1780}'..='\u{17ff}'
        | '\u{3005}'..='\u{3007}' | '\u{3040}'..='\u{31ff}' | '\u{3400}'..='\u{4dbf}' | '\u{4e00}'..='\u{9fff}'
        | '\u{ac00}'..='\u{d7ff}' | '\u{f900}'..='\u{faff}' | '\u{ff66}'..='\u{ffdc}' | '\u{20000}'..='\u{3ffff}')
}

/// Whether a character stands inside a word without being part of it: combining marks (the file names of
/// some systems write `e` and an accent for `é`), soft hyphens, joiners.
pub fn is_mark(c: char) -> bool {
    matches!(c, '\u{00ad}' | '\u{0300}'..='\u{036f}' | '\u{200b}'..='\u{200d}' | '\u{2060}' | '\u{feff}')
}

/// A number of bytes for people: `1.4 MiB`.
pub fn size(bytes: u64) -> String {
    const UNITS: &[&str] = &["KiB", "MiB", "GiB", "TiB"];
    if bytes < 1024 {
        return format!("{bytes} B");
    }
    let mut value = bytes as f64;
    let mut unit = "B";
    for name in UNITS {
        if value < 1024.0 {
            break;
        }
        value /= 1024.0;
        unit = name;
    }
    format!("{value:.1} {unit}")
}

#[cfg(test)]
mod tests {
    use super::{shown, size};

    #[test]
    fn sizes_are_short() {
        assert_eq!(size(1023), "1023 B");
        assert_eq!(size(1536), "1.5 KiB");
        assert_eq!(size(5 << 30), "5.0 GiB");
    }

    #[test]
    fn shown_defuses_newlines_and_overrides() {
        assert_eq!(shown("a\nb\u{202e}fdp.exe"), "a\u{fffd}b\u{fffd}fdp.exe");
        assert_eq!(shown("a\u{61c}b\u{2028}c\u{2067}d"), "a\u{fffd}b\u{fffd}c\u{fffd}d");
        assert_eq!(shown("Rechnung März.pdf"), "Rechnung März.pdf");
    }
}

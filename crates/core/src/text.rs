//! Names from outside, made safe to show.

/// Removes control and bidirectional-override characters, which could make a name look like another one or
/// move the cursor of a terminal. The stored original stays as it came.
pub fn shown(name: &str) -> String {
    name.chars().map(|c| if is_treacherous(c) { '\u{fffd}' } else { c }).collect()
}

fn is_treacherous(c: char) -> bool {
    c.is_control()
        || matches!(c, '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{feff}')
}

#[cfg(test)]
mod tests {
    use super::shown;

    #[test]
    fn shown_defuses_newlines_and_overrides() {
        assert_eq!(shown("a\nb\u{202e}fdp.exe"), "a\u{fffd}b\u{fffd}fdp.exe");
        assert_eq!(shown("Rechnung März.pdf"), "Rechnung März.pdf");
    }
}

//! Plain text in any common character set, and everything else that is readable as it stands: source code, logs.

use docmill_core::Result;
use docmill_core::wire::{ReadLimits, Want};

use crate::format::{Claim, Format};
use crate::input::Input;
use crate::shared::charset::{Charset, Decoder, PIECE_BYTES};
use crate::shared::pager::Pager;
use crate::sink::Sink;
use crate::sniff::Head;

pub(super) struct Text;

/// Text by another name.
const OF_EXTENSION: &[(&str, &str)] = &[("css", "text/css"), ("js", "text/javascript")];

impl Format for Text {
    fn name(&self) -> &'static str {
        "text"
    }

    fn media_types(&self) -> &'static [&'static str] {
        &["text/plain", "text/css", "text/javascript"]
    }

    fn sniff(&self, head: &Head<'_>) -> Option<Claim> {
        head.text.as_ref()?;
        let by_name = OF_EXTENSION.iter().find(|(known, _)| *known == head.extension);
        Some(Claim::fallback(by_name.map_or("text/plain", |(_, media_type)| media_type)))
    }

    fn parse(&self, input: &mut Input, want: Want, limits: &ReadLimits, sink: &mut dyn Sink) -> Result<()> {
        read_plain(input, want, limits, sink, "plain text")
    }
}

/// Reads `input` as text from end to end, without holding it. Also the way out for formats whose content turns
/// out not to follow its own rules. `what` begins the reason given with the page.
pub(super) fn read_plain(
    input: &mut Input,
    want: Want,
    limits: &ReadLimits,
    sink: &mut dyn Sink,
    what: &str,
) -> Result<()> {
    let charset = Charset::of_input(input, limits.max_text_bytes)?;
    if want.metadata {
        sink.meta("charset", &charset.to_string())?;
    }
    if !want.text {
        return Ok(());
    }
    let mark = Charset::from_mark(&input.head(4)?).map_or(0, |(_, length)| length);
    input.go_to(mark as u64)?;
    let mut decoder = Decoder::new(charset);
    let mut pager = Pager::new(sink, format!("{what}, {charset}"));
    let mut buffer = vec![0; PIECE_BYTES];
    let mut text = String::new();
    loop {
        let filled = input.fill(&mut buffer)?;
        let before = decoder.replaced;
        text.clear();
        decoder.push(&buffer[..filled], filled < buffer.len(), &mut text);
        pager.replaced(decoder.replaced - before);
        pager.push(&text)?;
        if filled < buffer.len() {
            return pager.finish();
        }
    }
}

#[cfg(test)]
mod tests {
    use docmill_core::error::ErrorKind;

    use crate::tests_support::{read_bytes, read_fixture};

    #[test]
    fn fixtures_in_every_character_set_give_the_same_text() {
        let expected = read_fixture("text/utf-8.txt").text();
        assert!(expected.contains("Grüße"), "{expected}");
        for (file, charset) in [
            ("text/utf-8-bom-crlf.txt", "utf-8"),
            ("text/utf-16le-bom.txt", "utf-16le"),
            ("text/utf-16be.txt", "utf-16be"),
            ("text/utf-32le.txt", "utf-32le"),
            ("text/windows-1252.txt", "windows-1252"),
        ] {
            let found = read_fixture(file);
            assert_eq!(found.text(), expected, "{file}");
            assert_eq!(found.value("charset"), Some(charset), "{file}");
            assert!(found.pages()[0].reason.ends_with(charset), "{file}");
        }
    }

    #[test]
    fn broken_bytes_are_replaced_warned_about_and_lower_the_quality() {
        let found = read_bytes("a.txt", &["größer ".repeat(30).as_bytes(), b"\xff"].concat());
        let quality = found.pages()[0].quality.unwrap();
        assert!(quality < 1.0 && quality > 0.9, "{quality}");
        assert_eq!(found.warnings()[0].kind, ErrorKind::Corrupt);
    }

    #[test]
    fn whole_text_has_full_quality_and_a_language() {
        let found =
            read_bytes("a.txt", "The quick brown fox jumps over the lazy dog again and again.\n".as_bytes());
        assert_eq!(found.pages()[0].quality, Some(1.0));
        assert_eq!(found.value("language"), Some("eng"));
    }
}

//! Address cards (vCard 2.1 to 4.0): their fields as text, photographs and the like as members.

use docmill_core::Result;
use docmill_core::wire::{ReadLimits, Want};

use crate::format::{Claim, Format};
use crate::input::Input;
use crate::shared::content_lines;
use crate::sink::Sink;
use crate::sniff::Head;

const MEDIA_TYPE: &str = "text/vcard";

pub(super) struct Vcf;

impl Format for Vcf {
    fn name(&self) -> &'static str {
        "vcf"
    }

    fn media_types(&self) -> &'static [&'static str] {
        &[MEDIA_TYPE]
    }

    fn sniff(&self, head: &Head<'_>) -> Option<Claim> {
        let start = head.text.as_ref()?.trim_start().get(..11)?;
        start.eq_ignore_ascii_case("BEGIN:VCARD").then_some(Claim::certain(MEDIA_TYPE))
    }

    fn parse(&self, input: &mut Input, want: Want, _: &ReadLimits, sink: &mut dyn Sink) -> Result<()> {
        content_lines::read(input, want, sink, &["VCARD"], "FN")
    }
}

#[cfg(test)]
mod tests {
    use crate::tests_support::{members, read_bytes, read_fixture};

    #[test]
    fn cards_of_every_version_are_text_and_photographs_are_members() {
        let found = read_fixture("vcf/cards.vcf");
        assert_eq!(found.value("title"), Some("Jürgen Groß"));
        assert_eq!(found.value("entries"), Some("2"));
        let text = found.text();
        assert!(text.contains("Fn: Jürgen Groß\n") && text.contains("Tel: +49 1\n"), "{text}");
        assert!(text.contains("Note: first line\nsecond line of quoted\n"), "{text}");
        assert_eq!(members(&found), [("photo-1.jpeg".to_owned(), Ok(b"hello".to_vec()))]);
    }
    #[test]
    fn byte_order_marks_are_no_text_and_files_may_be_addresses() {
        let card = "BEGIN:VCARD\r\nVERSION:4.0\r\nFN:Zoë\r\nPHOTO:data:image/png;base64,aGVs\r\n bG8=\r\nEND:VCARD\r\n";
        let wide: Vec<u8> = format!("\u{feff}{card}").encode_utf16().flat_map(u16::to_le_bytes).collect();
        let old = card.replace("\r\n", "\r");
        for bytes in [card.as_bytes(), format!("\u{feff}{card}").as_bytes(), &wide, old.as_bytes()] {
            let found = read_bytes("a.vcf", bytes);
            assert_eq!((found.text().as_str(), found.value("entries")), ("Fn: Zoë\n", Some("1")));
            assert_eq!(members(&found), [("photo-1.png".to_owned(), Ok(b"hello".to_vec()))]);
        }
    }
}

//! Calendars (iCalendar): events, tasks and notes as text, attached files as members.

use docmill_core::Result;
use docmill_core::wire::{ReadLimits, Want};

use crate::format::{Claim, Format};
use crate::input::Input;
use crate::shared::content_lines;
use crate::sink::Sink;
use crate::sniff::Head;

const MEDIA_TYPE: &str = "text/calendar";

pub(super) struct Ics;

impl Format for Ics {
    fn name(&self) -> &'static str {
        "ics"
    }

    fn media_types(&self) -> &'static [&'static str] {
        &[MEDIA_TYPE]
    }

    fn sniff(&self, head: &Head<'_>) -> Option<Claim> {
        let start = head.text.as_ref()?.trim_start().get(..15)?;
        start.eq_ignore_ascii_case("BEGIN:VCALENDAR").then_some(Claim::certain(MEDIA_TYPE))
    }

    fn parse(&self, input: &mut Input, want: Want, _: &ReadLimits, sink: &mut dyn Sink) -> Result<()> {
        content_lines::read(input, want, sink, &["VEVENT", "VTODO", "VJOURNAL"], "SUMMARY")
    }
}

#[cfg(test)]
mod tests {
    use crate::tests_support::{members, read_fixture};

    #[test]
    fn events_are_text_and_attached_files_are_members() {
        let found = read_fixture("ics/meeting.ics");
        assert_eq!(found.value("title"), Some("Grüße, Treffen"));
        assert_eq!(found.value("entries"), Some("2"));
        let text = found.text();
        assert!(text.contains("Attendee: J. Doe mailto:j@example.org\n"), "{text}");
        assert!(text.contains("Description: one line\nand another that is folded\n"), "{text}");
        assert_eq!(members(&found), [("note.txt".to_owned(), Ok(b"hello".to_vec()))]);
    }
}

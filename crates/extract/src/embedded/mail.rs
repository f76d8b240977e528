//! The head of a mail as fields of a letter.

use docmill_core::extraction::{Evidence, EvidenceSource};
use jiff::fmt::rfc2822::DateTimeParser;

use super::{Found, field, value};

/// A header that is longer says nothing that anybody wants in a record.
const MAX_BYTES: usize = 4 << 10;

/// Sender, recipient, date and subject, from headers that are decoded already: `("From", "Ada <ada@example.org>")`.
pub fn mail<'h>(headers: impl IntoIterator<Item = (&'h str, &'h str)>) -> Found {
    let mut found = Found::default();
    for (name, said) in headers {
        let field_name = match name.to_ascii_lowercase().as_str() {
            "from" => "sender",
            "to" => "recipient",
            "date" => "date",
            "subject" => "subject",
            _ => continue,
        };
        if said.len() > MAX_BYTES || found.data.contains_key(field_name) {
            continue;
        }
        let read = if field_name == "date" { day(said) } else { value::line(said) };
        let Some(read) = read else { continue };
        let evidence = Evidence {
            source: EvidenceSource::Metadata,
            span: Some(said.to_owned()),
            path: Some(name.to_owned()),
            ..Evidence::default()
        };
        found.data.insert(field_name.to_owned(), read.clone().into());
        found.fields.insert(field_name.to_owned(), field(read, vec![evidence], "header"));
    }
    found
}

/// The day by the clock of whoever sent it.
fn day(text: &str) -> Option<String> {
    let sent = DateTimeParser::new().relaxed_weekday(true).parse_zoned(text.trim());
    sent.map_or_else(|_| value::date(text), |sent| Some(sent.date().to_string()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mail_gives_the_fields_of_a_letter() {
        let found = mail([
            ("From", "Ada <ada@example.org>"),
            ("Date", "Mon, 5 Mar 2018 23:30:00 +0100"),
            ("Subject", " The mill "),
            ("X-Other", "no"),
        ]);
        assert_eq!(found.data["sender"], "Ada <ada@example.org>");
        assert_eq!(found.data["date"], "2018-03-05");
        assert_eq!(found.data["subject"], "The mill");
        assert_eq!(found.data.len(), 3);
    }
}

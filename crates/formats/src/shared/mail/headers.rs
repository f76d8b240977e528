//! The header fields of a message or of one of its parts, decoded: names, addresses, dates, RFC 2047 and RFC 2231.

use docmill_core::Result;
use mail_parser::{Address, HeaderName, HeaderValue, Message, MessageParser, MimeHeaders};

use crate::shared::charset::Charset;
use crate::sink::Sink;

/// The decoded fields that matter.
pub(crate) struct Headers {
    message: Option<Message<'static>>,
}

impl Headers {
    /// Decodes a block of fields. Bytes beyond ASCII are against the rules and common all the same: then the block
    /// is read in the character set it looks like.
    pub(crate) fn parse(block: &[u8]) -> Self {
        let mut text = match std::str::from_utf8(block) {
            Ok(text) => text.to_owned(),
            Err(_) => Charset::by_statistics(block).decode(block).text,
        };
        text.push_str("\r\n\r\n");
        let parser =
            MessageParser::new().with_minimal_headers().with_message_ids().header_address(HeaderName::Sender);
        Self { message: parser.parse_headers(text.as_bytes()).map(Message::into_owned) }
    }

    fn value(&self, name: &HeaderName<'static>) -> Option<&HeaderValue<'static>> {
        self.message.as_ref()?.root_part().headers.iter().find(|h| h.name == *name).map(|h| &h.value)
    }

    /// `text/plain` and the like, in lower case; `None` if the part does not say.
    pub(crate) fn media_type(&self) -> Option<String> {
        let stated = self.message.as_ref()?.content_type()?;
        let subtype = stated.subtype()?;
        Some(format!("{}/{subtype}", stated.ctype()).to_ascii_lowercase())
    }

    /// A parameter of `Content-Type`.
    pub(crate) fn parameter(&self, name: &str) -> Option<&str> {
        self.message.as_ref()?.content_type()?.attribute(name)
    }

    /// How the part is written.
    pub(crate) fn encoding(&self) -> super::transfer::Encoding {
        let name = self.message.as_ref().and_then(|m| m.content_transfer_encoding());
        super::transfer::Encoding::named(name.unwrap_or_default())
    }

    /// Whether the part calls itself an attachment.
    pub(crate) fn is_attachment(&self) -> bool {
        let stated = self.message.as_ref().and_then(|m| m.content_disposition());
        stated.is_some_and(|d| d.ctype().eq_ignore_ascii_case("attachment"))
    }

    /// What the part is called, if it says so.
    pub(crate) fn file_name(&self) -> Option<String> {
        let message = self.message.as_ref()?;
        let disposition = message.content_disposition();
        let name = disposition
            .and_then(|d| d.attribute("filename"))
            .or_else(|| message.content_type().and_then(|t| t.attribute("name")))
            .or_else(|| disposition.and_then(|d| d.attribute("name")))?;
        let name: String = name.chars().filter(|c| !c.is_control()).collect();
        let name = name.trim();
        (!name.is_empty()).then(|| name.to_owned())
    }

    /// What the message is about.
    pub(crate) fn subject(&self) -> Option<String> {
        self.value(&HeaderName::Subject)?.as_text().map(folded)
    }

    /// Gives what the message says of itself.
    pub(crate) fn tell(&self, sink: &mut dyn Sink) -> Result<()> {
        if let Some(subject) = self.subject() {
            sink.meta("title", &subject)?;
            sink.meta("subject", &subject)?;
        }
        let fields: [(&str, HeaderName<'static>); 10] = [
            ("from", HeaderName::From),
            ("sender", HeaderName::Sender),
            ("reply_to", HeaderName::ReplyTo),
            ("to", HeaderName::To),
            ("cc", HeaderName::Cc),
            ("bcc", HeaderName::Bcc),
            ("date", HeaderName::Date),
            ("message_id", HeaderName::MessageId),
            ("in_reply_to", HeaderName::InReplyTo),
            ("references", HeaderName::References),
        ];
        for (key, name) in fields {
            if let Some(value) = self.value(&name) {
                sink.meta(key, &shown(value))?;
            }
        }
        Ok(())
    }
}

/// A value in one line.
fn shown(value: &HeaderValue<'_>) -> String {
    match value {
        HeaderValue::Address(address) => addresses(address),
        HeaderValue::Text(text) => folded(text),
        HeaderValue::TextList(list) => list.iter().map(|text| folded(text)).collect::<Vec<_>>().join(" "),
        HeaderValue::DateTime(date) => date.to_rfc3339(),
        HeaderValue::ContentType(_) | HeaderValue::Received(_) | HeaderValue::Empty => String::new(),
    }
}

/// `Name <address>, …`
fn addresses(address: &Address<'_>) -> String {
    let one = |addr: &mail_parser::Addr<'_>| match (&addr.name, &addr.address) {
        (Some(name), Some(address)) => format!("{} <{}>", folded(name), folded(address)),
        (Some(only), None) | (None, Some(only)) => folded(only),
        (None, None) => String::new(),
    };
    address.iter().map(one).filter(|shown| !shown.is_empty()).collect::<Vec<_>>().join(", ")
}

/// White space as single spaces, without control characters.
fn folded(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ").replace(char::is_control, "")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sink::Collected;

    #[test]
    fn fields_are_decoded_and_told() {
        let block = b"From: =?utf-8?q?J=C3=BCrgen?= <j@example.org>\r\nTo: a@b.c,\r\n \"D, E\" <d@e.f>\r\n\
            Subject: =?iso-8859-1?Q?Gr=FC=DFe?=\r\n aus Bonn\r\nDate: Mon, 1 Jan 2024 10:00:00 +0100\r\n\
            Message-ID: <1@x>\r\nReferences: <0@x> <00@x>\r\n";
        let mut found = Collected::default();
        Headers::parse(block).tell(&mut found).unwrap();
        for (key, expected) in [
            ("from", "Jürgen <j@example.org>"),
            ("to", "a@b.c, D, E <d@e.f>"),
            ("subject", "Grüße aus Bonn"),
            ("title", "Grüße aus Bonn"),
            ("date", "2024-01-01T10:00:00+01:00"),
            ("message_id", "1@x"),
            ("references", "0@x 00@x"),
        ] {
            assert_eq!(found.value(key), Some(expected), "{key}");
        }
    }

    #[test]
    fn file_names_come_in_every_writing() {
        let cases: &[(&[u8], &str)] = &[
            (b"Content-Disposition: attachment; filename=\"a b.txt\"", "a b.txt"),
            (b"Content-Disposition: attachment; filename*=utf-8''gr%C3%B6%C3%9Fe.txt", "größe.txt"),
            (
                b"Content-Disposition: attachment;\r\n filename*0=\"long\";\r\n filename*1=\"name.txt\"",
                "longname.txt",
            ),
            (b"Content-Type: text/plain; name=\"=?utf-8?B?w7wudHh0?=\"", "ü.txt"),
            (b"Content-Type: text/plain; name=\"gr\xfc\xdfe aus K\xf6ln.txt\"", "grüße aus Köln.txt"),
        ];
        for (block, expected) in cases {
            assert_eq!(Headers::parse(block).file_name().as_deref(), Some(*expected));
        }
    }
}

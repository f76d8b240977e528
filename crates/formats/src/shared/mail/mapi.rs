//! Outlook's properties (MAPI), as MSG and TNEF files hold them: which are looked at, and what their values mean.

use docmill_core::error::ErrorKind;
use docmill_core::problem::Problem;
use docmill_core::wire::ReadLimits;
use docmill_core::{Error, Result};

use super::body::{Body, decode};
use crate::kinds::rich_text;
use crate::sink::Sink;

/// Identifiers of properties.
pub(crate) mod id {
    pub(crate) const MESSAGE_CLASS: u16 = 0x001a;
    pub(crate) const SUBJECT: u16 = 0x0037;
    pub(crate) const SUBMITTED: u16 = 0x0039;
    pub(crate) const TRANSPORT_HEADERS: u16 = 0x007d;
    pub(crate) const RECIPIENT_TYPE: u16 = 0x0c15;
    pub(crate) const SENDER_NAME: u16 = 0x0c1a;
    pub(crate) const SENDER_ADDRESS: u16 = 0x0c1f;
    pub(crate) const DISPLAY_BCC: u16 = 0x0e02;
    pub(crate) const DISPLAY_CC: u16 = 0x0e03;
    pub(crate) const DISPLAY_TO: u16 = 0x0e04;
    pub(crate) const DELIVERED: u16 = 0x0e06;
    pub(crate) const BODY: u16 = 0x1000;
    pub(crate) const RTF: u16 = 0x1009;
    pub(crate) const HTML: u16 = 0x1013;
    pub(crate) const MESSAGE_ID: u16 = 0x1035;
    pub(crate) const REFERENCES: u16 = 0x1039;
    pub(crate) const IN_REPLY_TO: u16 = 0x1042;
    pub(crate) const DISPLAY_NAME: u16 = 0x3001;
    pub(crate) const ADDRESS: u16 = 0x3003;
    pub(crate) const SMTP_ADDRESS: u16 = 0x39fe;
    pub(crate) const ATTACHED_DATA: u16 = 0x3701;
    pub(crate) const ATTACHED_SHORT_NAME: u16 = 0x3704;
    pub(crate) const ATTACHED_METHOD: u16 = 0x3705;
    pub(crate) const ATTACHED_NAME: u16 = 0x3707;
    pub(crate) const INTERNET_CODE_PAGE: u16 = 0x3fde;
    pub(crate) const CODE_PAGE: u16 = 0x3ffd;
    pub(crate) const SENDER_SMTP_ADDRESS: u16 = 0x5d01;
}

/// Types of properties.
pub(crate) mod kind {
    pub(crate) const STRING: u16 = 0x001e;
    pub(crate) const UNICODE: u16 = 0x001f;
    pub(crate) const OBJECT: u16 = 0x000d;
    pub(crate) const BINARY: u16 = 0x0102;
    pub(crate) const NUMBER: u16 = 0x0003;
}

/// Properties of a message, a recipient or an attachment.
#[derive(Default)]
pub(crate) struct Properties {
    list: Vec<Property>,
    /// How many could not be read in full.
    pub(crate) damaged: u64,
}

/// One of them.
pub(crate) struct Property {
    pub(crate) id: u16,
    pub(crate) kind: u16,
    pub(crate) value: Vec<u8>,
}

impl Properties {
    pub(crate) fn add(&mut self, property: Property) {
        self.list.push(property);
    }

    /// Adds what another place may have said better.
    pub(crate) fn add_unless_known(&mut self, property: Property) {
        if self.get(property.id).is_none() {
            self.list.push(property);
        }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    pub(crate) fn get(&self, id: u16) -> Option<&Property> {
        self.list.iter().find(|property| property.id == id)
    }

    /// A whole number.
    pub(crate) fn number(&self, id: u16) -> Option<u32> {
        let bytes = self.get(id)?.value.first_chunk::<4>()?;
        Some(u32::from_le_bytes(*bytes))
    }

    /// A text, decoded and without its final zero.
    pub(crate) fn text(&self, id: u16) -> Option<String> {
        let property = self.get(id)?;
        let text = match property.kind {
            kind::UNICODE => {
                let units = property.value.chunks_exact(2).map(|pair| u16::from_le_bytes([pair[0], pair[1]]));
                char::decode_utf16(units).map(|c| c.unwrap_or(char::REPLACEMENT_CHARACTER)).collect()
            }
            kind::STRING | kind::BINARY => decode(&property.value, self.charset().as_deref()).0,
            _ => return None,
        };
        let text = text.trim_end_matches('\0');
        (!text.trim().is_empty()).then(|| text.to_owned())
    }

    /// A moment, as RFC 3339.
    fn moment(&self, id: u16) -> Option<String> {
        let ticks = u64::from_le_bytes(*self.get(id)?.value.first_chunk::<8>()?);
        moment_of(ticks)
    }

    /// The character set of texts that are not Unicode. That of the HTML is another, but better than none.
    fn charset(&self) -> Option<String> {
        self.number(id::CODE_PAGE).or_else(|| self.number(id::INTERNET_CODE_PAGE)).and_then(charset_of)
    }

    /// Gives what a message says of itself, apart from its recipients.
    pub(crate) fn tell(&self, sink: &mut dyn Sink) -> Result<()> {
        if let Some(subject) = self.text(id::SUBJECT) {
            sink.meta("title", &subject)?;
            sink.meta("subject", &subject)?;
        }
        let address = self.text(id::SENDER_SMTP_ADDRESS).or_else(|| self.text(id::SENDER_ADDRESS));
        sink.meta("from", &person(self.text(id::SENDER_NAME), address))?;
        let date = self.moment(id::SUBMITTED).or_else(|| self.moment(id::DELIVERED));
        sink.meta("date", &date.unwrap_or_default())?;
        for (key, property) in [
            ("message_id", id::MESSAGE_ID),
            ("in_reply_to", id::IN_REPLY_TO),
            ("references", id::REFERENCES),
            ("message_class", id::MESSAGE_CLASS),
        ] {
            let value = self.text(property).unwrap_or_default();
            let value = value.trim().trim_start_matches('<').trim_end_matches('>');
            sink.meta(key, &value.replace("> <", " "))?;
        }
        Ok(())
    }

    /// The message's text, that of its rich text where there is nothing else; rich text without words is given as it is.
    /// One that cannot be read is warned about and left out: the attachments behind it are worth having without it.
    pub(crate) fn body(&self, limits: &ReadLimits, sink: &mut dyn Sink) -> Result<(Body, Option<Vec<u8>>)> {
        let mut body = Body::default();
        if let Some(text) = self.text(id::BODY) {
            body.add_plain(text.as_bytes(), Some("utf-8"), Some(1));
        }
        if let Some(html) = self.get(id::HTML) {
            if html.kind == kind::BINARY {
                body.add_html(&html.value, None, Some(1), limits)?;
            } else {
                let text = self.text(id::HTML).unwrap_or_default();
                body.add_html(text.as_bytes(), Some("utf-8"), Some(1), limits)?;
            }
        }
        let rich = match self.get(id::RTF) {
            Some(rtf) if body.is_empty() => match super::rtf::expand(&rtf.value) {
                Ok(rich) => {
                    let text = rich_text(rich.clone(), limits)?;
                    body.add_plain(text.as_bytes(), Some("utf-8"), None);
                    body.is_empty().then_some(rich)
                }
                Err(error) => {
                    let message = format!("the message's rich text was left out: {}", error.message());
                    sink.warn(Problem::new(ErrorKind::Corrupt, message))?;
                    None
                }
            },
            _ => None,
        };
        Ok((body, rich))
    }

    /// What an attachment is called.
    pub(crate) fn attached_name(&self) -> Option<String> {
        let name = self
            .text(id::ATTACHED_NAME)
            .or_else(|| self.text(id::ATTACHED_SHORT_NAME))
            .or_else(|| self.text(id::DISPLAY_NAME))?;
        let name: String = name.chars().filter(|c| !c.is_control()).collect();
        Some(name.trim().to_owned()).filter(|name| !name.is_empty())
    }
}

/// `Name <address>`; addresses that mean nothing outside their company are left out.
pub(crate) fn person(name: Option<String>, address: Option<String>) -> String {
    let name = name.map(|name| name.trim().trim_matches('\'').to_owned());
    let address = address.filter(|address| address.contains('@'));
    match (name, address) {
        (Some(name), Some(address)) if name.eq_ignore_ascii_case(&address) => address,
        (Some(name), Some(address)) => format!("{name} <{address}>"),
        (Some(only), None) | (None, Some(only)) => only,
        (None, None) => String::new(),
    }
}

/// A Windows code page by the name that the web knows it by.
fn charset_of(page: u32) -> Option<String> {
    Some(match page {
        65001 => "utf-8".to_owned(),
        874 | 1250..=1258 => format!("windows-{page}"),
        932 => "shift_jis".to_owned(),
        936 | 54936 => "gb18030".to_owned(),
        949 => "euc-kr".to_owned(),
        950 => "big5".to_owned(),
        866 => "ibm866".to_owned(),
        437 | 850 | 852 | 858 => format!("cp{page}"),
        20866 => "koi8-r".to_owned(),
        21866 => "koi8-u".to_owned(),
        28591..=28606 => format!("iso-8859-{}", page - 28590),
        50220..=50222 => "iso-2022-jp".to_owned(),
        51932 => "euc-jp".to_owned(),
        _ => return None,
    })
}

/// Ticks of 100 ns since 1601, as RFC 3339.
fn moment_of(ticks: u64) -> Option<String> {
    const DAYS_TO_1970: i64 = 134_774;
    if ticks == 0 {
        return None;
    }
    let seconds = i64::try_from(ticks / 10_000_000).ok()?;
    let (days, rest) = (seconds / 86_400 - DAYS_TO_1970, seconds % 86_400);
    // Civil date of a day count: years are counted from March, in eras of 400 of them.
    let shifted = days + 719_468;
    let (era, of_era) = (shifted.div_euclid(146_097), shifted.rem_euclid(146_097));
    let year_of_era = (of_era - of_era / 1_460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month_from_march = (5 * of_year + 2) / 153;
    let day = of_year - (153 * month_from_march + 2) / 5 + 1;
    let month = if month_from_march < 10 { month_from_march + 3 } else { month_from_march - 9 };
    let year = year_of_era + era * 400 + i64::from(month <= 2);
    let (hour, minute, second) = (rest / 3600, rest / 60 % 60, rest % 60);
    (year <= 9999).then(|| format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}Z"))
}

/// A part that cannot be read in full because it states more than there is.
pub(crate) fn cut_off(what: &str) -> Error {
    Error::corrupt(format!("{what} ends before its stated length"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn moments_are_dates_of_the_calendar() {
        assert_eq!(moment_of(116_444_736_000_000_000).as_deref(), Some("1970-01-01T00:00:00Z"));
        assert_eq!(moment_of(133_485_408_000_000_000).as_deref(), Some("2024-01-01T00:00:00Z"));
        assert_eq!(moment_of(125_962_991_990_000_000).as_deref(), Some("2000-02-29T11:59:59Z"));
        assert_eq!(moment_of(0), None);
        assert_eq!(moment_of(u64::MAX), None);
    }

    #[test]
    fn people_are_shown_once() {
        let some = |text: &str| Some(text.to_owned());
        assert_eq!(person(some("A B"), some("a@b.c")), "A B <a@b.c>");
        assert_eq!(person(some("'a@b.c'"), some("A@b.c")), "A@b.c");
        assert_eq!(person(some("A B"), some("/O=ORG/CN=AB")), "A B");
    }
}

//! Whether bytes are a message, or a mailbox of messages. No signature says so: the header fields do.

use std::ops::Range;

/// Fields that only mail has; one of these makes a block of fields a message.
const MAIL_FIELDS: &[&str] = &[
    "message-id",
    "received",
    "mime-version",
    "date",
    "return-path",
    "delivered-to",
    "x-mailer",
    "x-received",
];

/// Fields that count as mail beside them.
const MORE_FIELDS: &[&str] = &[
    "from",
    "to",
    "subject",
    "cc",
    "sender",
    "reply-to",
    "content-type",
    "content-transfer-encoding",
    "content-disposition",
];

/// What editors put before a text.
const MARK: &[u8] = b"\xef\xbb\xbf";

/// Where in a file of `length` bytes its message stands: behind a byte order mark, or, as Apple's programs store it
/// (`.emlx`), between the number of its bytes and a list of properties.
pub(crate) fn place_of_message(head: &[u8], length: u64) -> Range<u64> {
    if head.starts_with(MARK) {
        return MARK.len() as u64..length;
    }
    let counted = || {
        let end = head.iter().take(32).position(|&b| b == b'\n')?;
        let bytes: u64 = std::str::from_utf8(&head[..end]).ok()?.trim().parse().ok()?;
        lines(&head[end + 1..]).next().and_then(field_name)?;
        let begin = end as u64 + 1;
        Some(begin..begin.checked_add(bytes)?.min(length))
    };
    counted().unwrap_or(0..length)
}

/// A block of header fields at the start, among them enough that only mail has. `named` says that the file is
/// called a mail; then one field is enough.
pub(crate) fn is_message(head: &[u8], named: bool) -> bool {
    let (mut sure, mut more) = (0, 0);
    let begin = place_of_message(head, u64::MAX).start as usize;
    let mut lines = lines(&head[begin..]).skip_while(|line| line.trim_ascii().is_empty()).peekable();
    // Mail that was taken out of a mailbox often keeps the line that stood between the messages.
    if lines.peek().is_some_and(|line| separator(line)) {
        lines.next();
    }
    for line in lines {
        if line.trim_ascii().is_empty() {
            break;
        }
        if line.starts_with(b" ") || line.starts_with(b"\t") {
            continue;
        }
        let Some(name) = field_name(line) else { break };
        let is = |known: &&&str| name.eq_ignore_ascii_case(known.as_bytes());
        sure += usize::from(MAIL_FIELDS.iter().any(|known| is(&known)));
        more += usize::from(MORE_FIELDS.iter().any(|known| is(&known)));
    }
    (sure >= 1 && sure + more >= 3) || (named && sure + more >= 1)
}

/// A mailbox begins with the line between messages, and fields follow. Blank lines may stand before it.
pub(crate) fn is_mailbox(head: &[u8]) -> bool {
    let head = head.strip_prefix(MARK).unwrap_or(head);
    let mut lines = lines(head).skip_while(|line| line.trim_ascii().is_empty());
    lines.next().is_some_and(separator)
        && lines.find(|line| !line.starts_with(b">From ")).is_some_and(|line| field_name(line).is_some())
}

/// The line between the messages of a mailbox: `From `, a sender, and a date with its time.
pub(crate) fn separator(line: &[u8]) -> bool {
    let Some(after) = line.strip_prefix(b"From ") else { return false };
    let is_time = |word: &[u8]| {
        word.contains(&b':')
            && word.first().is_some_and(u8::is_ascii_digit)
            && word.iter().all(|b| b.is_ascii_digit() || *b == b':')
    };
    after.split(u8::is_ascii_whitespace).filter(|word| !word.is_empty()).skip(1).any(is_time)
}

/// `Subject` of `Subject: hello`.
pub(crate) fn field_name(line: &[u8]) -> Option<&[u8]> {
    let at = line.iter().position(|&b| b == b':')?;
    let name = line[..at].trim_ascii_end();
    let valid =
        !name.is_empty() && name.len() <= 76 && name.iter().all(|b| b.is_ascii_graphic() && *b != b':');
    valid.then_some(name)
}

fn lines(head: &[u8]) -> impl Iterator<Item = &[u8]> {
    head.split(|&b| b == b'\n').map(|line| line.strip_suffix(b"\r").unwrap_or(line))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn separators_have_a_sender_and_a_time() {
        for yes in ["From a@b Mon Jan  1 10:00:00 2024", "From - Sat Jul 22 12:01:02 2006 +0200"] {
            assert!(separator(yes.as_bytes()), "{yes}");
        }
        for no in ["From Monday on it rained", "From: a@b", "From 10:00 on", ">From a@b Mon Jan 1 10:00:00"] {
            assert!(!separator(no.as_bytes()), "{no}");
        }
    }

    #[test]
    fn message_may_stand_behind_a_mark_or_its_length() {
        let mail = b"Subject: x\nDate: y\nFrom: z\n\nhello\n";
        let marked = [MARK, mail].concat();
        let counted = [b"34        \n".as_slice(), mail, b"<?xml version=\"1.0\"?><plist/>"].concat();
        for (file, begin) in [(mail.to_vec(), 0), (marked, 3), (counted, 11)] {
            assert!(is_message(&file, false));
            let place = place_of_message(&file, file.len() as u64);
            assert_eq!(place, begin..begin + mail.len() as u64);
        }
        assert_eq!(place_of_message(b"12\nprose\n", 9), 0..9);
        let mailbox = b"From a@b Mon Jan 1 10:00:00 2024\nSubject: x\n\n";
        assert!(is_mailbox(&[MARK, b"\n\n", mailbox].concat()));
    }

    #[test]
    fn prose_with_colons_is_no_message() {
        assert!(!is_message(b"Note: this\nSubject: that\nis no mail\n", false));
        assert!(is_message(b"Subject: that\n\nhello\n", true));
        assert!(is_message(b"From a@b Mon Jan 1 10:00:00 2024\nFrom: a@b\nTo: c@d\nDate: x\n\n", false));
    }
}

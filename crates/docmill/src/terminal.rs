//! How things are written for people: tables, numbers, times. Data goes to stdout and nothing else does;
//! everything said about it goes to stderr.

use std::borrow::Cow;
use std::io::{self, IsTerminal, Write};

use docmill_core::clock::Timestamp;
use docmill_core::redact::redacted;
use docmill_core::text::shown;
use docmill_core::{Error, Result};
use serde::Serialize;
use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

/// Where a command writes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Terminal {
    /// Machine output.
    pub(crate) json: bool,
    /// Say nothing but errors.
    pub(crate) quiet: bool,
}

impl Terminal {
    /// One line of data.
    #[expect(clippy::unused_self, reason = "all output goes through the terminal it was decided for")]
    pub(crate) fn line(self, text: &str) -> Result<()> {
        let mut out = io::stdout().lock();
        writeln!(out, "{text}").and_then(|()| out.flush()).map_err(failure)
    }

    /// Data as it is, without a line end.
    #[expect(clippy::unused_self, reason = "all output goes through the terminal it was decided for")]
    pub(crate) fn bytes(self, bytes: &[u8]) -> Result<()> {
        let mut out = io::stdout().lock();
        out.write_all(bytes).and_then(|()| out.flush()).map_err(failure)
    }

    /// The text of a document: for programs as it is, for people without what would steer their terminal.
    pub(crate) fn text(self, text: &str) -> Result<()> {
        self.bytes(Self::for_eyes(text).as_bytes())
    }

    /// The text of a document, to be shown among other things.
    pub(crate) fn for_eyes(text: &str) -> Cow<'_, str> {
        if io::stdout().is_terminal() { Cow::Owned(defused(text)) } else { Cow::Borrowed(text) }
    }

    /// One JSON object on one line.
    pub(crate) fn object(self, value: &impl Serialize) -> Result<()> {
        let text = serde_json::to_string(value)
            .map_err(|e| Error::bug("cannot write an answer as JSON").with_source(e))?;
        self.line(&text)
    }

    /// A line for the person, not for the script.
    pub(crate) fn note(self, text: &str) {
        if !self.quiet {
            complain(text);
        }
    }

    /// Whether a person watches stderr.
    pub(crate) fn is_watched(self) -> bool {
        !self.quiet && io::stderr().is_terminal()
    }
}

/// Text without control characters other than those that make up lines. A line may end as on Windows.
fn defused(text: &str) -> String {
    let lines: Vec<String> = text
        .split('\n')
        .map(|line| line.strip_suffix('\r').unwrap_or(line))
        .map(|line| line.chars().map(|c| if c.is_control() && c != '\t' { '\u{fffd}' } else { c }).collect())
        .collect();
    lines.join("\n")
}

/// A line on stderr, without the passwords of URLs and without what could steer a terminal: a message may quote what
/// came from outside. If stderr is gone there is nobody left to tell.
pub(crate) fn complain(text: &str) {
    let plain = |line: &str| line.split('\t').map(shown).collect::<Vec<_>>().join("\t");
    let text = redacted(text).split('\n').map(plain).collect::<Vec<_>>().join("\n");
    if writeln!(io::stderr().lock(), "{text}").is_err() {
        // Nothing can be said any more.
    }
}

fn failure(error: io::Error) -> Error {
    Error::unavailable("cannot write to stdout").with_source(error)
}

/// Whether an error means that whoever read our output has closed it: the polite end of `docmill list | head`.
pub(crate) fn is_closed(error: &Error) -> bool {
    let cause = std::error::Error::source(error).and_then(|cause| cause.downcast_ref::<io::Error>());
    cause.is_some_and(|cause| cause.kind() == io::ErrorKind::BrokenPipe)
}

/// Columns that line up. Every cell is made safe to show; the last one is not padded.
pub(crate) fn table(head: &[&str], rows: &[Vec<String>]) -> String {
    let cells: Vec<Vec<String>> = std::iter::once(head.iter().map(|h| (*h).to_owned()).collect())
        .chain(rows.iter().cloned())
        .map(|row: Vec<String>| row.iter().map(|cell| shown(cell)).collect())
        .collect();
    let widths: Vec<usize> = (0..head.len())
        .map(|column| cells.iter().filter_map(|row| row.get(column)).map(|c| c.width()).max().unwrap_or(0))
        .collect();
    let lines = cells.iter().map(|row| {
        let mut line = String::new();
        for (cell, width) in row.iter().zip(&widths) {
            line.push_str(cell);
            line.extend(std::iter::repeat_n(' ', width.saturating_sub(cell.width()) + 2));
        }
        line.trim_end().to_owned()
    });
    lines.collect::<Vec<_>>().join("\n")
}

/// At most so many columns of a text: of a longer one the beginning and, because names of files differ and tell their
/// type there, the end.
pub(crate) fn shortened(text: &str, most: usize) -> String {
    let text = shown(text);
    if text.width() <= most {
        return text;
    }
    let fitting = |chars: &mut dyn Iterator<Item = char>, room: usize| -> Vec<char> {
        let mut used = 0;
        let fits = |c: &char| {
            used += c.width().unwrap_or(0);
            used <= room
        };
        chars.take_while(fits).collect()
    };
    let end = most.saturating_sub(1) / 3;
    let mut out: String = fitting(&mut text.chars(), most.saturating_sub(1 + end)).iter().collect();
    out.push('…');
    out.extend(fitting(&mut text.chars().rev(), end).iter().rev());
    out
}

/// `12,431`.
pub(crate) fn count(n: u64) -> String {
    let digits = n.to_string();
    let mut out = String::with_capacity(digits.len() + digits.len() / 3);
    for (i, digit) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

/// `1 document`, `12,431 documents`.
pub(crate) fn counted(n: u64, one: &str, many: &str) -> String {
    format!("{} {}", count(n), if n == 1 { one } else { many })
}

/// `3 s`, `4 min`, `2 h`, `5 d`.
pub(crate) fn span(seconds: u64) -> String {
    match seconds {
        0..=119 => format!("{seconds} s"),
        120..=7_199 => format!("{} min", seconds / 60),
        7_200..=172_799 => format!("{} h", seconds / 3_600),
        _ => format!("{} d", seconds / 86_400),
    }
}

/// `4 min ago`, `in 30 s`, `now`.
pub(crate) fn relative(now: Timestamp, at: Timestamp) -> String {
    let seconds = now.0.saturating_sub(at.0) / 1000;
    match seconds {
        0 => "now".to_owned(),
        1.. => format!("{} ago", span(seconds.unsigned_abs())),
        _ => format!("in {}", span(seconds.unsigned_abs())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn table_lines_up_wide_and_narrow_names() {
        let rows =
            [vec!["é".into(), "1".into()], vec!["日本".into(), "22".into()], vec!["a\nb".into(), "3".into()]];
        assert_eq!(table(&["NAME", "N"], &rows), "NAME  N\né     1\n日本  22\na\u{fffd}b   3");
    }

    #[test]
    fn long_text_keeps_its_beginning_and_its_end() {
        assert_eq!(shortened("letter.pdf", 10), "letter.pdf");
        assert_eq!(shortened("the-old-letter.pdf", 13), "the-old-….pdf");
        let wide = shortened(&"日本語".repeat(20), 13);
        assert!(wide.width() <= 13 && wide.contains('…'), "{wide}");
    }

    #[test]
    fn text_for_eyes_keeps_its_lines_and_steers_nothing() {
        assert_eq!(defused("a\tb\r\n\u{1b}[2Jc\rd\u{9b}e\n"), "a\tb\n\u{fffd}[2Jc\u{fffd}d\u{fffd}e\n");
        assert_eq!(defused("שלום\u{200f} مرحبا"), "שלום\u{200f} مرحبا");
    }

    #[test]
    fn numbers_are_grouped() {
        assert_eq!(count(0), "0");
        assert_eq!(count(999), "999");
        assert_eq!(count(12_431), "12,431");
        assert_eq!(count(1_000_000), "1,000,000");
        assert_eq!(counted(1, "document", "documents"), "1 document");
    }

    #[test]
    fn times_are_short() {
        assert_eq!(relative(Timestamp(200_000), Timestamp(0)), "3 min ago");
        assert_eq!(relative(Timestamp(0), Timestamp(30_000)), "in 30 s");
        assert_eq!(relative(Timestamp(10), Timestamp(0)), "now");
    }
}

//! Subtitles (WebVTT, SubRip): what is said, without the times and the looks.

use docmill_core::Result;
use docmill_core::wire::{ReadLimits, Want};

use super::text::read_plain;
use crate::format::{Claim, Format};
use crate::input::Input;
use crate::shared::charset::Charset;
use crate::shared::pager::Pager;
use crate::sink::Sink;
use crate::sniff::Head;

/// Subtitles of a long film have a few hundred kilobytes; larger files are read as plain text.
const MAX_BYTES: u64 = 16 << 20;

const VTT: &str = "text/vtt";
const SRT: &str = "application/x-subrip";

pub(super) struct Subtitles;

impl Format for Subtitles {
    fn name(&self) -> &'static str {
        "subtitles"
    }

    fn media_types(&self) -> &'static [&'static str] {
        &[VTT, SRT]
    }

    fn sniff(&self, head: &Head<'_>) -> Option<Claim> {
        let text = head.text.as_ref()?;
        if text.starts_with("WEBVTT") {
            return Some(Claim::certain(VTT));
        }
        let has_times = || text.lines().take(20).any(is_times);
        match head.extension.as_str() {
            "srt" if has_times() => Some(Claim::likely(SRT)),
            "vtt" if has_times() => Some(Claim::likely(VTT)),
            _ => None,
        }
    }

    fn parse(&self, input: &mut Input, want: Want, limits: &ReadLimits, sink: &mut dyn Sink) -> Result<()> {
        if input.length() > MAX_BYTES {
            return read_plain(input, want, limits, sink, "large file read as plain text");
        }
        let charset = Charset::of_input(input, limits.max_text_bytes)?;
        let decoded = charset.decode(&input.whole(MAX_BYTES)?);
        if want.metadata {
            sink.meta("charset", &charset.to_string())?;
        }
        if !want.text {
            return Ok(());
        }
        let mut pager = Pager::new(sink, format!("what is said, {charset}"));
        pager.replaced(decoded.replaced);
        pager.push(&said(&decoded.text))?;
        pager.finish()
    }
}

/// `00:01.000 --> 00:04.000`, with or without hours, a comma or a point.
fn is_times(line: &str) -> bool {
    line.split_once("-->").is_some_and(|(from, to)| {
        let is_time =
            |time: &str| time.trim().starts_with(|c: char| c.is_ascii_digit()) && time.contains(':');
        is_time(from) && is_time(to)
    })
}

/// The text of all cues, a line for each of theirs.
fn said(text: &str) -> String {
    let text = text.replace("\r\n", "\n").replace('\r', "\n");
    let mut out = String::new();
    let mut speaker = String::new();
    for block in text.split("\n\n") {
        let mut lines = block.trim_matches('\n').lines();
        // What stands before the times is the cue's name or number; a block without times is a remark or a style.
        if lines.by_ref().any(is_times) {
            for line in lines {
                let line = plain(line, &mut speaker);
                if !line.trim().is_empty() {
                    out.push_str(line.trim());
                    out.push('\n');
                }
            }
        }
    }
    out
}

/// A line without `<b>`, `<v Name>`, `{\an8}` and the like; the name of who speaks is kept where it changes.
fn plain(line: &str, speaker: &mut String) -> String {
    let mut out = String::with_capacity(line.len());
    let mut rest = line;
    while let Some(at) = rest.find(['<', '{']) {
        out.push_str(&rest[..at]);
        let inside = &rest[at + 1..];
        let close = if rest[at..].starts_with('<') { '>' } else { '}' };
        match inside.find(close) {
            Some(end) if close == '>' || inside.starts_with('\\') => {
                if let Some(name) = inside[..end].strip_prefix("v ").map(str::trim)
                    && name != speaker
                {
                    name.clone_into(speaker);
                    out.push_str(name);
                    out.push_str(": ");
                }
                rest = &inside[end + 1..];
            }
            _ => {
                out.push_str(&rest[at..=at]);
                rest = inside;
            }
        }
    }
    out.push_str(rest);
    let entities =
        [("&lt;", "<"), ("&gt;", ">"), ("&nbsp;", " "), ("&lrm;", ""), ("&rlm;", ""), ("&amp;", "&")];
    entities.iter().fold(out, |text, (from, to)| text.replace(from, to))
}

#[cfg(test)]
mod tests {
    use crate::tests_support::{read_bytes, read_fixture};

    #[test]
    fn times_names_and_looks_are_left_out() {
        let found = read_fixture("subtitles/talk.vtt");
        assert_eq!(found.text(), "Ada: Good morning & welcome\nto the talk\n2 < 3\n");
        let srt = b"1\r\n00:00:01,000 --> 00:00:02,000\r\n{\\an8}<i>Hello</i>\r\nthere\r\n\r\n2\r\n00:00:03,000 --> 00:00:04,000\r\nBye\r\n";
        assert_eq!(read_bytes("a.srt", srt).text(), "Hello\nthere\nBye\n");
    }

    #[test]
    fn name_alone_does_not_make_subtitles() {
        assert!(read_bytes("a.srt", b"just text").pages()[0].reason.starts_with("plain text"));
    }
}

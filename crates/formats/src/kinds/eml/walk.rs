//! The multiparts of a message, followed line by line. Broken structure is followed as far as it goes: a boundary
//! that belongs to an outer multipart ends the inner ones, a multipart without parts is text, and a missing end is
//! the end of the file.

use docmill_core::Result;
use docmill_core::error::ErrorKind;
use docmill_core::problem::Problem;
use docmill_core::wire::{ReadLimits, Want};

use super::parts::{About, Parts, Use, about};
use crate::input::Input;
use crate::shared::lines::Lines;
use crate::shared::mail::Headers;
use crate::shared::mail::recognise::{field_name, place_of_message, separator};
use crate::shared::mail::transfer::Encoding;
use crate::shared::members::Members;
use crate::sink::Sink;

/// Multiparts inside multiparts.
const MAX_DEPTH: usize = 64;

/// Header fields of one part beyond this are passed over.
const MAX_HEADER_BYTES: usize = 1 << 20;

/// So far what says where the message begins is looked for.
const PLACE_BYTES: u64 = 1 << 10;

/// A multipart that is open.
struct Level {
    boundary: Vec<u8>,
    is_digest: bool,
    /// The outermost alternative it lies in or is.
    alternative: Option<usize>,
}

/// Why the lines of something stopped.
enum Stop {
    /// A blank line: the body of the part follows.
    Body,
    /// A boundary of this level: another part follows, or the multipart is closed.
    Boundary { level: usize, closes: bool },
    /// The end of the file.
    End,
}

/// Reads one message.
pub(super) fn read(input: &mut Input, want: Want, limits: &ReadLimits, sink: &mut dyn Sink) -> Result<()> {
    let parts = Parts::new(Members::new(sink, want), limits);
    let place = place_of_message(&input.head(PLACE_BYTES)?, input.length());
    let mut walk = Walk {
        lines: Lines::within(input, place)?,
        parts,
        levels: Vec::new(),
        alternatives: 0,
        cut: false,
        too_deep: false,
    };
    let (headers, mut stop) = walk.headers(true)?;
    if want.metadata {
        headers.tell(walk.parts.members.sink())?;
    }
    if !(want.text || want.children || want.listing) {
        return Ok(());
    }
    stop = walk.entity(&headers, stop, true)?;
    loop {
        stop = match stop {
            Stop::End | Stop::Body => break,
            Stop::Boundary { level, closes: false } => {
                walk.levels.truncate(level + 1);
                let (headers, stop) = walk.headers(false)?;
                walk.entity(&headers, stop, false)?
            }
            Stop::Boundary { level, closes: true } => {
                // Its boundary stays known: some programs close a multipart and go on with it.
                walk.levels.truncate(level + 1);
                walk.around(None)?
            }
        };
    }
    let Walk { mut parts, cut, too_deep, .. } = walk;
    if cut {
        let message = format!("header fields beyond {MAX_HEADER_BYTES} bytes of one part were not read");
        parts.members.sink().warn(Problem::new(ErrorKind::LimitExceeded, message))?;
    }
    if too_deep {
        let message =
            format!("multiparts are nested deeper than {MAX_DEPTH}; the inner ones are shown as they stand");
        parts.members.sink().warn(Problem::new(ErrorKind::LimitExceeded, message))?;
    }
    let body = std::mem::take(&mut parts.body);
    body.give(&mut parts.members, want)
}

struct Walk<'a> {
    lines: Lines<'a>,
    parts: Parts<'a>,
    levels: Vec<Level>,
    alternatives: usize,
    cut: bool,
    too_deep: bool,
}

impl Walk<'_> {
    /// The header fields of a part, up to the blank line after them. A line that is none ends them too: then it is
    /// the first of the body.
    fn headers(&mut self, is_root: bool) -> Result<(Headers, Stop)> {
        let mut block = Vec::new();
        let mut before_first = is_root;
        let mut in_field = false;
        let stop = loop {
            let Some(line) = self.lines.next()? else { break Stop::End };
            if line.begins
                && let Some((level, closes)) = boundary(&self.levels, line.bytes)
            {
                break Stop::Boundary { level, closes };
            }
            if line.is_blank() {
                if before_first {
                    continue;
                }
                break Stop::Body;
            }
            let goes_on =
                !line.begins || (in_field && line.bytes.starts_with(b" ")) || line.bytes.starts_with(b"\t");
            if !goes_on && field_name(line.bytes).is_none() {
                let from_mailbox = separator(line.bytes) || line.bytes.starts_with(b">From ");
                if before_first && from_mailbox {
                    continue;
                }
                self.lines.give_back();
                break Stop::Body;
            }
            before_first = false;
            in_field = true;
            if block.len() + line.bytes.len() <= MAX_HEADER_BYTES {
                block.extend_from_slice(line.bytes);
            } else {
                self.cut = true;
            }
        };
        Ok((Headers::parse(&block), stop))
    }

    /// What follows the header fields, up to a boundary.
    fn entity(&mut self, headers: &Headers, stop: Stop, is_root: bool) -> Result<Stop> {
        if let Stop::Boundary { .. } = stop {
            // Fields without a body: a part of no bytes.
            self.leaf_of(headers, is_root, true)?;
            return Ok(stop);
        }
        let media_type = headers.media_type().unwrap_or_default();
        let boundary = headers.parameter("boundary").map(str::trim_end).filter(|b| !b.is_empty());
        if media_type.starts_with("multipart/")
            && let Some(boundary) = boundary
        {
            if self.levels.len() < MAX_DEPTH {
                let alternative = self.alternative().or((media_type == "multipart/alternative").then(|| {
                    self.alternatives += 1;
                    self.alternatives
                }));
                self.levels.push(Level {
                    boundary: boundary.as_bytes().to_vec(),
                    is_digest: media_type == "multipart/digest",
                    alternative,
                });
                let level = self.levels.len() - 1;
                return self.around(Some(level));
            }
            self.too_deep = true;
        }
        self.leaf_of(headers, is_root, false)
    }

    /// A part without parts; `empty` where there are no lines to read.
    fn leaf_of(&mut self, headers: &Headers, is_root: bool, empty: bool) -> Result<Stop> {
        let in_digest = self.levels.last().is_some_and(|level| level.is_digest);
        let number = self.parts.members.count() + 1;
        let about = about(headers, in_digest, self.alternative(), is_root, number);
        if empty {
            let part = self.parts.open(about)?;
            self.parts.close(part, false)?;
            return Ok(Stop::End);
        }
        self.leaf(about)
    }

    fn leaf(&mut self, about: About) -> Result<Stop> {
        let mut part = self.parts.open(about)?;
        let stop = loop {
            let Some(line) = self.lines.next()? else { break Stop::End };
            if line.begins
                && let Some((level, closes)) = boundary(&self.levels, line.bytes)
            {
                break Stop::Boundary { level, closes };
            }
            let (text, end) = line.split_end();
            self.parts.push(&mut part, text, end)?;
        };
        self.parts.close(part, matches!(stop, Stop::End))?;
        Ok(stop)
    }

    /// What stands before the first part of the multipart `before`, or after the last one of another. Before it
    /// stands a remark for programs that know no MIME, unless there are no parts at all; after it, what lists and
    /// scanners add.
    fn around(&mut self, before: Option<usize>) -> Result<Stop> {
        let about = About {
            becomes: Use::Plain,
            name: format!("part-{}.txt", self.parts.members.count() + 1),
            charset: None,
            encoding: Encoding::Identity,
            alternative: None,
        };
        let mut part = self.parts.open(about)?;
        let stop = loop {
            let Some(line) = self.lines.next()? else { break Stop::End };
            if line.begins
                && let Some((level, closes)) = boundary(&self.levels, line.bytes)
            {
                break Stop::Boundary { level, closes };
            }
            let (text, end) = line.split_end();
            self.parts.push(&mut part, text, end)?;
        };
        let remark = matches!((&stop, before), (Stop::Boundary { level, closes: false }, Some(before)) if *level == before);
        self.parts.close_unless(part, remark, matches!(stop, Stop::End))?;
        Ok(stop)
    }

    fn alternative(&self) -> Option<usize> {
        self.levels.last().and_then(|level| level.alternative)
    }
}

/// The level whose boundary a line is, and whether it closes it. The innermost wins.
fn boundary(levels: &[Level], line: &[u8]) -> Option<(usize, bool)> {
    let line = line.strip_prefix(b"--")?.trim_ascii_end();
    levels.iter().enumerate().rev().find_map(|(at, level)| {
        let rest = line.strip_prefix(level.boundary.as_slice())?;
        match rest {
            b"" => Some((at, false)),
            b"--" => Some((at, true)),
            _ => None,
        }
    })
}

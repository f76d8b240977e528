//! Single compressed files: gzip, bzip2, xz, LZMA, lzip, Zstandard and LZ4. The content is the one member, called as the
//! file is without its ending; a TAR archive inside is unpacked in the same go.
//!
//! A stream that is damaged or cut gives what came out before, with a warning: half a log is better than none.

mod unpack;

use std::io::{self, BufReader, Read};

use docmill_core::error::ErrorKind;
use docmill_core::problem::Problem;
use docmill_core::wire::{ReadLimits, Want};
use docmill_core::{Error, Result};

use crate::format::{Claim, Format};
use crate::input::Input;
use crate::shared::members::Members;
use crate::shared::tar::{self, BLOCK, Stream};
use crate::sink::Sink;
use crate::sniff::Head;
use unpack::Method;

pub(super) struct Compressed;

impl Format for Compressed {
    fn name(&self) -> &'static str {
        "compressed"
    }

    fn media_types(&self) -> &'static [&'static str] {
        &[
            "application/gzip",
            "application/x-bzip2",
            "application/x-xz",
            "application/x-lzma",
            "application/x-lzip",
            "application/zstd",
            "application/x-lz4",
        ]
    }

    fn container(&self) -> bool {
        true
    }

    fn sniff(&self, head: &Head<'_>) -> Option<Claim> {
        if let Some(method) = Method::of(head.bytes) {
            return Some(Claim::certain(method.media_type()));
        }
        // LZMA of old has no signature, only a first byte that holds three small numbers and is never larger.
        let named = matches!(head.extension.as_str(), "lzma" | "tlz");
        let plausible = head.text.is_none() && head.bytes.first().is_some_and(|first| *first < 225);
        (named && plausible).then_some(Claim::certain(Method::Lzma.media_type()))
    }

    fn parse(&self, input: &mut Input, want: Want, _: &ReadLimits, sink: &mut dyn Sink) -> Result<()> {
        let head = input.head(unpack::HEAD_BYTES)?;
        let method = Method::of(&head).unwrap_or(Method::Lzma);
        let name = method.stored_name(&head).unwrap_or_else(|| without_ending(input.name()));
        input.go_to(0)?;
        let mut members = Members::new(sink, want);
        if !members.wanted() {
            return Ok(());
        }
        let packed = BufReader::with_capacity(64 << 10, input);
        let mut content = match method.open(packed) {
            Ok(content) => content,
            Err(e) => {
                let error = Error::corrupt("the compressed data cannot be read").with_source(e);
                return members.refuse(&name, &error);
            }
        };
        let (first, failed) = first_block(content.as_mut());
        if tar::is_header(&first) {
            let mut stream = Unpacked { first: io::Cursor::new(first), rest: content };
            return super::tar::unpack(&mut stream, &mut members, want);
        }
        if !members.wants_bytes() {
            return members.list(&name, 0);
        }
        members.begin(&name, None)?;
        let poured = if let Some(e) = failed {
            members.write(&first)?;
            Err(e)
        } else {
            let mut whole = io::Cursor::new(&first).chain(content);
            members.pour(&mut whole)?
        };
        let bytes = members.open_bytes();
        match poured {
            Ok(()) => members.end(),
            Err(e) if bytes == 0 => members
                .fail(&Error::corrupt("the compressed data is damaged at its beginning").with_source(e)),
            Err(e) => {
                members.end()?;
                let message = format!(
                    "the compressed data is damaged: only {bytes} bytes before the damage were kept ({e})"
                );
                members.sink().warn(Problem::new(ErrorKind::Corrupt, message))
            }
        }
    }
}

/// As much of the first block as there is, and why there is no more.
fn first_block(content: &mut dyn Read) -> (Vec<u8>, Option<io::Error>) {
    let mut block = vec![0; BLOCK];
    let mut filled = 0;
    while filled < BLOCK {
        match content.read(&mut block[filled..]) {
            Ok(0) => break,
            Ok(n) => filled += n,
            Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
            Err(e) => {
                block.truncate(filled);
                return (block, Some(e));
            }
        }
    }
    block.truncate(filled);
    (block, None)
}

/// A compressed archive, from its beginning.
struct Unpacked<'a> {
    first: io::Cursor<Vec<u8>>,
    rest: Box<dyn Read + 'a>,
}

impl Read for Unpacked<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        match self.first.read(buffer)? {
            0 => self.rest.read(buffer),
            n => Ok(n),
        }
    }
}

impl Stream for Unpacked<'_> {
    fn pass(&mut self, bytes: u64) -> io::Result<()> {
        io::copy(&mut self.take(bytes), &mut io::sink()).map(drop)
    }
}

/// What the content of a compressed file is called.
fn without_ending(name: &str) -> String {
    const ENDINGS: &[(&str, &str)] = &[
        ("tgz", "tar"),
        ("taz", "tar"),
        ("tbz", "tar"),
        ("tbz2", "tar"),
        ("txz", "tar"),
        ("tlz", "tar"),
        ("tzst", "tar"),
        ("svgz", "svg"),
        ("emz", "emf"),
        ("wmz", "wmf"),
    ];
    let file = name.rsplit(['/', '\\']).next().unwrap_or(name);
    let Some((stem, ending)) = file.rsplit_once('.').filter(|(stem, _)| !stem.is_empty()) else {
        return "content".to_owned();
    };
    let ending = ending.to_ascii_lowercase();
    match ENDINGS.iter().find(|(known, _)| *known == ending) {
        Some((_, inner)) => format!("{stem}.{inner}"),
        None => stem.to_owned(),
    }
}

#[cfg(test)]
mod tests;

//! TAR, read from front to back: from a file, or from what a compressed one unpacks to.
//!
//! Written here rather than taken from a crate because an archive that is damaged or cut must still give every
//! member before the damage, and name the one it lies in. Links and devices have no content and are only counted.

use std::io::{self, Read, Seek, SeekFrom};

use docmill_core::{Error, Result};

use crate::input::Input;
use crate::shared::charset::Charset;
use crate::shared::members::Members;

/// Headers, and the unit that content is padded to.
pub(crate) const BLOCK: usize = 512;

/// Long names and extended headers beyond this are no names any more.
const MAX_EXTENSION_BYTES: u64 = 1 << 20;

/// Holes of one member that are filled with zeros, and parts of content between them. A disk image has far more.
const MAX_HOLE_BYTES: u64 = 64 << 20;
const MAX_HOLES: usize = 100_000;

/// Zero blocks end an archive; another may follow after a few more.
const MAX_ZERO_BLOCKS: u32 = 2048;

/// Bytes from front to back, of which some are not needed.
pub(crate) trait Stream: Read {
    /// Goes `bytes` forward, less where the end comes first.
    fn pass(&mut self, bytes: u64) -> io::Result<()>;
}

impl Stream for Input {
    fn pass(&mut self, bytes: u64) -> io::Result<()> {
        let at = self.stream_position()?;
        self.seek(SeekFrom::Start(at.saturating_add(bytes).min(self.length()))).map(drop)
    }
}

/// How the reading of an archive ended.
#[derive(Default)]
pub(crate) struct Ended {
    /// What is wrong with it; the members before are valid.
    pub(crate) damage: Option<Error>,
    /// Links, devices and pipes that were passed over.
    pub(crate) links: u64,
}

/// Whether a block is a header: its sum says so.
pub(crate) fn is_header(block: &[u8]) -> bool {
    let Some(block) = block.get(..BLOCK) else { return false };
    let Some(stated) = octal(&block[148..156]) else { return false };
    let blanked = |(at, byte): (usize, &u8)| if (148..156).contains(&at) { b' ' } else { *byte };
    let sum: u64 = block.iter().enumerate().map(|pair| u64::from(blanked(pair))).sum();
    // Old programs summed signed bytes.
    let signed: i64 = block.iter().enumerate().map(|pair| i64::from(blanked(pair) as i8)).sum();
    block[0] != 0 && (stated == sum || i64::try_from(stated) == Ok(signed))
}

/// Gives every member of the archive that `stream` holds.
pub(crate) fn unpack(stream: &mut dyn Stream, members: &mut Members<'_>) -> Result<Ended> {
    let mut walk = Walk { stream, at: 0, next: Extension::default(), cut: false };
    let mut ended = Ended::default();
    let mut zeros = 0;
    loop {
        let block = match walk.block() {
            Ok(Some(block)) => block,
            Ok(None) if walk.cut && zeros < 2 => {
                return Ok(damaged(ended, walk.at, "ends inside a header", None));
            }
            Ok(None) => return Ok(ended),
            // What stands after the end is not needed.
            Err(_) if zeros >= 2 => return Ok(ended),
            Err(e) => return Ok(damaged(ended, walk.at, "cannot be read", Some(e))),
        };
        if block.iter().all(|byte| *byte == 0) {
            zeros += 1;
            if zeros > MAX_ZERO_BLOCKS {
                return Ok(ended);
            }
            continue;
        }
        if !is_header(&block) {
            // Padding after the end may hold anything.
            return Ok(if zeros >= 2 { ended } else { damaged(ended, walk.at, "has no valid header", None) });
        }
        zeros = 0;
        if let Some(error) = walk.entry(&block, members, &mut ended)? {
            ended.damage = Some(error);
            return Ok(ended);
        }
        if let Some(bomb) = members.bomb() {
            return Err(Error::bomb_suspected(format!("the rest was not read: {}", bomb.message())));
        }
    }
}

fn damaged(mut ended: Ended, at: u64, how: &str, source: Option<io::Error>) -> Ended {
    let error = Error::corrupt(format!("archive {how} at byte {at}"));
    ended.damage = Some(match source {
        Some(source) => error.with_source(source),
        None => error,
    });
    ended
}

/// What an extended header says of the entry after it.
#[derive(Default)]
struct Extension {
    name: Option<Vec<u8>>,
    bytes: Option<u64>,
    holes: Option<Holes>,
    is_pax: bool,
}

/// Where the content of a member belongs that is stored without its holes.
#[derive(Default)]
struct Holes {
    /// How long the member is with them; unknown where they are written down in a way that is not read.
    bytes: Option<u64>,
    /// Offset and length of each part.
    parts: Vec<(u64, u64)>,
    /// The parts stand at the beginning of the content.
    in_content: bool,
}

impl Holes {
    /// The length of the member with its holes, if `stored` bytes of content fit between them.
    fn check(&self, stored: u64) -> Result<u64> {
        let Some(bytes) = self.bytes else {
            return Err(Error::unsupported_format("member is stored with holes in a way that is not read"));
        };
        let fits = |(end, sum): (u64, u64), &(offset, length): &(u64, u64)| {
            (offset >= end).then_some((offset.checked_add(length)?, sum.checked_add(length)?))
        };
        match self.parts.iter().try_fold((0, 0), fits) {
            Some((end, sum)) if end <= bytes && sum == stored => {}
            _ => return Err(Error::corrupt("the list of the member's holes does not fit its content")),
        }
        let holes = bytes - stored;
        if holes > MAX_HOLE_BYTES {
            return Err(Error::limit_exceeded(format!(
                "member has holes of {holes} bytes, and no more than {MAX_HOLE_BYTES} are filled"
            ))
            .with_hint("unpack the archive and bring in the file itself"));
        }
        Ok(bytes)
    }
}

/// Content with its holes filled.
struct Filled<'a> {
    content: &'a mut dyn Read,
    parts: std::vec::IntoIter<(u64, u64)>,
    /// Zeros to come, and then content, before the next part.
    zeros: u64,
    stored: u64,
    at: u64,
    bytes: u64,
}

impl Read for Filled<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        while self.zeros == 0 && self.stored == 0 {
            match self.parts.next() {
                Some((offset, length)) => (self.zeros, self.stored) = (offset - self.at, length),
                None if self.at < self.bytes => self.zeros = self.bytes - self.at,
                None => return Ok(0),
            }
        }
        let left = if self.zeros > 0 { self.zeros } else { self.stored };
        let room = usize::try_from(left).unwrap_or(usize::MAX).min(buffer.len());
        let read = if self.zeros > 0 {
            buffer[..room].fill(0);
            self.zeros -= room as u64;
            room
        } else {
            let read = self.content.read(&mut buffer[..room])?;
            self.stored -= read as u64;
            read
        };
        self.at += read as u64;
        Ok(read)
    }
}

struct Walk<'a> {
    stream: &'a mut dyn Stream,
    at: u64,
    next: Extension,
    /// A short block with something in it came last.
    cut: bool,
}

impl Walk<'_> {
    /// One block; `None` at the end. A last, short block counts as the end, and is noted where it is not empty.
    fn block(&mut self) -> io::Result<Option<[u8; BLOCK]>> {
        let mut block = [0; BLOCK];
        let mut filled = 0;
        while filled < BLOCK {
            match self.stream.read(&mut block[filled..]) {
                Ok(0) => {
                    self.cut |= block[..filled].iter().any(|byte| *byte != 0);
                    return Ok(None);
                }
                Ok(n) => filled += n,
                Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
                Err(e) => return Err(e),
            }
        }
        self.at += BLOCK as u64;
        Ok(Some(block))
    }

    /// One entry behind its header. Returns what makes it the last one.
    fn entry(
        &mut self,
        block: &[u8; BLOCK],
        members: &mut Members<'_>,
        ended: &mut Ended,
    ) -> Result<Option<Error>> {
        let kind = block[156];
        let stated = number(&block[124..136]);
        match kind {
            b'L' | b'x' | b'X' | b'g' | b'K' => return Ok(self.extension(kind, stated)),
            _ => {}
        }
        let extension = std::mem::take(&mut self.next);
        let bytes = extension.bytes.or(stated);
        let raw_name = extension.name.unwrap_or_else(|| header_name(block));
        let name = decode_name(&raw_name);
        let Some(bytes) = bytes else {
            let error = Error::corrupt("member's length cannot be read");
            members.refuse(&name, &error)?;
            return Ok(Some(Error::corrupt(format!(
                "archive states no length for a member at byte {}",
                self.at
            ))));
        };
        match kind {
            // A hard link may bring its content along where the format is new enough.
            b'1' if !(extension.is_pax && bytes > 0) => {
                ended.links += 1;
                Ok(None)
            }
            b'2' | b'3' | b'4' | b'6' => {
                ended.links += 1;
                Ok(None)
            }
            b'5' => Ok(None),
            // A label, a list of names, and Solaris' access rights.
            b'V' | b'D' | b'A' => Ok(self.skip(bytes)),
            b'S' => {
                let holes = self.holes(block);
                self.sparse(&name, bytes, holes, members)
            }
            _ if name.ends_with('/') && bytes == 0 => Ok(None),
            _ => match extension.holes {
                Some(holes) => self.sparse(&name, bytes, holes, members),
                None => self.member(&name, bytes, None, members),
            },
        }
    }

    /// The list of holes in a header of GNU's older sort, and in the blocks after it.
    fn holes(&mut self, block: &[u8; BLOCK]) -> Holes {
        let mut holes = Holes { bytes: number(&block[483..495]), ..Holes::default() };
        let mut add = |list: &[u8]| {
            for pair in list.chunks_exact(24) {
                if let (Some(offset), Some(length)) = (number(&pair[..12]), number(&pair[12..]))
                    && (offset, length) != (0, 0)
                    && holes.parts.len() < MAX_HOLES
                {
                    holes.parts.push((offset, length));
                }
            }
        };
        add(&block[386..482]);
        let mut goes_on = block[482] != 0;
        while goes_on && let Ok(Some(more)) = self.block() {
            add(&more[..504]);
            goes_on = more[504] != 0;
        }
        holes
    }

    /// A member that is stored without its holes.
    fn sparse(
        &mut self,
        name: &str,
        mut bytes: u64,
        mut holes: Holes,
        members: &mut Members<'_>,
    ) -> Result<Option<Error>> {
        if holes.in_content {
            holes.parts = self.holes_in_content(&mut bytes).unwrap_or_default();
        }
        match holes.check(bytes) {
            Ok(whole) => self.member(name, bytes, Some((whole, holes.parts)), members),
            Err(error) => {
                members.refuse(name, &error)?;
                Ok(self.skip(bytes))
            }
        }
    }

    /// The list at the beginning of the content: how many parts, then each, a number a line, filled up to a block.
    fn holes_in_content(&mut self, bytes: &mut u64) -> Option<Vec<(u64, u64)>> {
        let mut list = Vec::new();
        loop {
            *bytes = bytes.checked_sub(BLOCK as u64)?;
            list.extend(self.block().ok()??);
            let mut lines =
                list.split(|b| *b == b'\n').map(|line| std::str::from_utf8(line).ok()?.parse::<u64>().ok());
            let count = lines.next()?.filter(|count| *count <= MAX_HOLES as u64)?;
            // The last piece is no line yet, or what fills up the block.
            if list.split(|b| *b == b'\n').count() as u64 > 2 * count + 1 {
                return (0..count).map(|_| Some((lines.next()??, lines.next()??))).collect();
            }
        }
    }

    /// A member, with its whole length and its parts if it has holes.
    fn member(
        &mut self,
        name: &str,
        bytes: u64,
        holes: Option<(u64, Vec<(u64, u64)>)>,
        members: &mut Members<'_>,
    ) -> Result<Option<Error>> {
        let whole = holes.as_ref().map_or(bytes, |(whole, _)| *whole);
        if !members.wants_bytes() {
            members.list(name, whole)?;
            return Ok(self.skip(bytes));
        }
        members.begin(name, Some(whole))?;
        let mut content = (&mut *self.stream).take(bytes);
        let poured = match holes {
            None => members.pour(&mut content)?,
            Some((whole, parts)) => members.pour(&mut Filled {
                content: &mut content,
                parts: parts.into_iter(),
                zeros: 0,
                stored: 0,
                at: 0,
                bytes: whole,
            })?,
        };
        let missing = content.limit();
        self.at += bytes - missing;
        let error = match poured {
            Err(e) => Error::corrupt(format!("archive is damaged at byte {}", self.at)).with_source(e),
            Ok(()) if missing > 0 && members.bomb().is_none() => Error::corrupt(format!(
                "archive ends after {} of the {bytes} bytes of a member",
                bytes - missing
            )),
            Ok(()) => {
                members.end()?;
                return Ok(if members.bomb().is_some() { None } else { self.skip_padding(bytes) });
            }
        };
        members.fail(&error)?;
        Ok(Some(error))
    }

    /// Takes in a name or fields for the entry that follows.
    fn extension(&mut self, kind: u8, stated: Option<u64>) -> Option<Error> {
        let bytes = stated.unwrap_or(u64::MAX);
        if bytes > MAX_EXTENSION_BYTES {
            return match stated {
                Some(bytes) => self.skip(bytes),
                None => Some(Error::corrupt(format!("extended header has no length at byte {}", self.at))),
            };
        }
        let mut content = Vec::new();
        let read = (&mut *self.stream).take(bytes).read_to_end(&mut content);
        self.at += content.len() as u64;
        if read.is_err() || (content.len() as u64) < bytes {
            return Some(Error::corrupt(format!("archive ends in an extended header at byte {}", self.at)));
        }
        match kind {
            b'L' => {
                let end = content.iter().position(|b| *b == 0).unwrap_or(content.len());
                content.truncate(end);
                self.next.name = Some(content);
            }
            b'x' | b'X' => pax(&content, &mut self.next),
            _ => {}
        }
        self.skip_padding(bytes)
    }

    fn skip(&mut self, bytes: u64) -> Option<Error> {
        self.pass(padded(bytes))
    }

    fn skip_padding(&mut self, bytes: u64) -> Option<Error> {
        self.pass(padded(bytes) - bytes)
    }

    fn pass(&mut self, bytes: u64) -> Option<Error> {
        self.at = self.at.saturating_add(bytes);
        let passed = self.stream.pass(bytes);
        passed
            .err()
            .map(|e| Error::corrupt(format!("archive is damaged before byte {}", self.at)).with_source(e))
    }
}

/// The length with the padding after it.
fn padded(bytes: u64) -> u64 {
    bytes.checked_next_multiple_of(BLOCK as u64).unwrap_or(u64::MAX)
}

/// Records of an extended header: `length key=value\n`.
fn pax(mut content: &[u8], into: &mut Extension) {
    into.is_pax = true;
    while let Some(space) = content.iter().position(|b| *b == b' ') {
        let Some(length) = std::str::from_utf8(&content[..space]).ok().and_then(|n| n.parse::<usize>().ok())
        else {
            return;
        };
        let Some(record) = content.get(space + 1..length) else { return };
        content = &content[length..];
        let record = record.strip_suffix(b"\n").unwrap_or(record);
        let Some(equals) = record.iter().position(|b| *b == b'=') else { continue };
        let (key, value) = (&record[..equals], &record[equals + 1..]);
        match key {
            b"path" | b"GNU.sparse.name" if !value.is_empty() => into.name = Some(value.to_vec()),
            b"size" => into.bytes = std::str::from_utf8(value).ok().and_then(|n| n.parse().ok()),
            b"SUN.holesdata" => into.holes = Some(Holes::default()),
            _ => {
                if let Some(key) = key.strip_prefix(b"GNU.sparse.") {
                    holes(key, value, into.holes.get_or_insert_default());
                }
            }
        }
    }
}

/// What an extended header says of holes, in any of the three ways that GNU has had.
fn holes(key: &[u8], value: &[u8], into: &mut Holes) {
    let mut numbers =
        std::str::from_utf8(value).unwrap_or_default().split(',').map(|n| n.parse::<u64>().ok());
    match key {
        b"size" | b"realsize" => into.bytes = numbers.next().flatten(),
        b"major" => into.in_content = value == b"1",
        b"offset" if into.parts.len() < MAX_HOLES => {
            into.parts.push((numbers.next().flatten().unwrap_or(u64::MAX), 0));
        }
        b"numbytes" => {
            if let (Some(part), Some(Some(length))) = (into.parts.last_mut(), numbers.next()) {
                part.1 = length;
            }
        }
        b"map" => {
            while let (Some(Some(offset)), Some(Some(length))) = (numbers.next(), numbers.next()) {
                into.parts.push((offset, length));
            }
        }
        _ => {}
    }
}

/// The name in the header itself, with the prefix that newer formats allow.
fn header_name(block: &[u8; BLOCK]) -> Vec<u8> {
    let until_zero = |bytes: &[u8]| bytes.split(|b| *b == 0).next().unwrap_or_default().to_vec();
    let name = until_zero(&block[..100]);
    // GNU's own format has other fields where the prefix would be.
    let prefix = if &block[257..263] == b"ustar\0" { until_zero(&block[345..500]) } else { Vec::new() };
    if prefix.is_empty() { name } else { [prefix, name].join(&b'/') }
}

fn decode_name(raw: &[u8]) -> String {
    match std::str::from_utf8(raw) {
        Ok(name) => name.to_owned(),
        Err(_) => Charset::by_statistics(raw).decode(raw).text,
    }
}

/// A number in octal digits, or, where the first bit is set, in binary.
fn number(field: &[u8]) -> Option<u64> {
    if field[0] & 0x80 == 0 {
        return octal(field);
    }
    let high = field.len().saturating_sub(8);
    let is_small = field[0] == 0x80 && field[1..high].iter().all(|b| *b == 0);
    let bytes = <[u8; 8]>::try_from(&field[high..]).ok()?;
    is_small.then(|| u64::from_be_bytes(bytes)).filter(|n| i64::try_from(*n).is_ok())
}

fn octal(field: &[u8]) -> Option<u64> {
    let text = std::str::from_utf8(field).ok()?;
    let digits = text.trim_matches([' ', '\0']);
    let digits = digits.split([' ', '\0']).next().unwrap_or_default();
    if digits.is_empty() {
        return Some(0);
    }
    u64::from_str_radix(digits, 8).ok()
}

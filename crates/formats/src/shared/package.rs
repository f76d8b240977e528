//! A document that is stored as ZIP: its parts by name, each read as a stream.
//!
//! What comes out of all parts together is counted against the limits of a container, on real bytes: a part that
//! expands beyond reason is an error ([`ErrorKind::BombSuspected`]) whoever reads it. Where the archive's directory
//! is lost, parts are found by their own headers.

use std::collections::HashMap;
use std::collections::hash_map::Entry as Slot;
use std::io::{self, BufRead, Read};

use docmill_core::error::ErrorKind;
use docmill_core::wire::ReadLimits;
use docmill_core::{Error, Result};

use crate::input::Input;
use crate::shared::zip::{Content, Directory, Entry, Member, Names, recover_next};

/// Parts are unpacked in pieces of this size.
const PIECE_BYTES: usize = 64 << 10;

/// An open package.
pub(crate) struct Package<'a> {
    input: &'a mut Input,
    names: Vec<String>,
    /// By name in lower case: applications disagree about case, and none has two parts that differ by it.
    parts: HashMap<String, Place>,
    budget: Budget,
    trouble: Option<Error>,
}

/// Where a part lies.
enum Place {
    Listed(Entry),
    Recovered(Member),
}

/// How much may still come out.
struct Budget {
    out: u64,
    allowed: u64,
    words: String,
    hint: &'static str,
}

impl<'a> Package<'a> {
    /// Opens the package. More parts than an archive may have members are not looked at.
    pub(crate) fn open(input: &'a mut Input, limits: &ReadLimits) -> Result<Self> {
        let budget = Budget::new(input.length(), limits);
        let mut package = Self { input, names: Vec::new(), parts: HashMap::new(), budget, trouble: None };
        match package.list(limits) {
            Err(e) if e.kind() == ErrorKind::Corrupt => {
                package.recover(limits)?;
                if package.names.is_empty() {
                    return Err(e);
                }
                package.trouble = Some(e);
            }
            other => other?,
        }
        Ok(package)
    }

    fn list(&mut self, limits: &ReadLimits) -> Result<()> {
        let directory = Directory::find(self.input)?;
        let mut walk = directory.walk();
        let names = Names::default();
        while let Some(entry) = walk.next(self.input)? {
            if entry.is_folder() {
                continue;
            }
            let name = names.of(&entry);
            self.add(&name, Place::Listed(entry), limits)?;
        }
        Ok(())
    }

    fn recover(&mut self, limits: &ReadLimits) -> Result<()> {
        let names = Names::default();
        let mut at = 0;
        while let Some(found) = recover_next(self.input, at)? {
            let next = found.next_position(None);
            at = next.max(at + 1);
            if !found.is_folder {
                self.add(&names.decode(&found.raw_name), Place::Recovered(found.member), limits)?;
            }
        }
        Ok(())
    }

    fn add(&mut self, name: &str, place: Place, limits: &ReadLimits) -> Result<()> {
        if self.names.len() as u64 >= limits.max_entries {
            let limit = limits.max_entries;
            return Err(Error::limit_exceeded(format!("document has more than {limit} parts"))
                .with_hint("raise `limits.max_entries`"));
        }
        let name = name.replace('\\', "/");
        let key = key_of(&name);
        if let Slot::Vacant(slot) = self.parts.entry(key) {
            slot.insert(place);
            self.names.push(name);
        }
        Ok(())
    }

    /// What is wrong with the package as a whole, told once.
    pub(crate) fn take_trouble(&mut self) -> Option<Error> {
        self.trouble.take()
    }

    /// What its parts are called, in the order they are listed.
    pub(crate) fn names(&self) -> &[String] {
        &self.names
    }

    /// Whether there is a part of this name.
    pub(crate) fn has(&self, name: &str) -> bool {
        self.parts.contains_key(&key_of(name))
    }

    /// How long the package says a part is.
    pub(crate) fn stated_bytes(&self, name: &str) -> Option<u64> {
        match self.parts.get(&key_of(name))? {
            Place::Listed(entry) => Some(entry.bytes),
            Place::Recovered(member) => member.expected.map(|expected| expected.bytes),
        }
    }

    /// Opens a part; `None` if there is none of this name.
    pub(crate) fn part(&mut self, name: &str) -> Result<Option<Part<'_>>> {
        let Some(place) = self.parts.get(&key_of(name)) else { return Ok(None) };
        let content = match place {
            Place::Listed(entry) => Member::of_entry(self.input, entry)?.open(self.input)?,
            Place::Recovered(member) => member.open(self.input)?,
        };
        Ok(Some(Part { content, piece: Vec::new(), at: 0, budget: &mut self.budget, ended: false }))
    }

    /// All of a part, if it has at most `limit` bytes; `None` if there is none of this name.
    pub(crate) fn whole(&mut self, name: &str, limit: u64) -> Result<Option<Vec<u8>>> {
        let Some(part) = self.part(name)? else { return Ok(None) };
        let mut out = Vec::new();
        part.take(limit + 1).read_to_end(&mut out).map_err(|e| from_io(&e, name))?;
        if out.len() as u64 > limit {
            return Err(Error::limit_exceeded(format!("part `{name}` has more than {limit} bytes")));
        }
        Ok(Some(out))
    }
}

fn key_of(name: &str) -> String {
    name.trim_start_matches('/').to_lowercase()
}

impl Budget {
    fn new(input_bytes: u64, limits: &ReadLimits) -> Self {
        let by_ratio = limits.ratio_from_bytes.max(input_bytes.saturating_mul(limits.max_ratio));
        let (allowed, words, hint) = if by_ratio < limits.max_unpacked_bytes {
            let ratio = limits.max_ratio;
            (by_ratio, format!(", past the ratio of {ratio}:1"), "raise `limits.max_ratio`")
        } else {
            (limits.max_unpacked_bytes, String::new(), "raise `limits.max_container_bytes`")
        };
        Self { out: 0, allowed, words, hint }
    }

    fn count(&mut self, bytes: usize) -> Result<()> {
        self.out += bytes as u64;
        if self.out <= self.allowed {
            return Ok(());
        }
        let (allowed, words) = (self.allowed, &self.words);
        Err(Error::bomb_suspected(format!("the document's parts expand to more than {allowed} bytes{words}"))
            .with_hint(self.hint))
    }
}

/// A part as a stream.
pub(crate) struct Part<'a> {
    content: Content<'a>,
    piece: Vec<u8>,
    at: usize,
    budget: &'a mut Budget,
    ended: bool,
}

impl BufRead for Part<'_> {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        if self.at == self.piece.len() && !self.ended {
            self.piece = self.content.next_piece(PIECE_BYTES).map_err(io::Error::other)?;
            self.at = 0;
            self.ended = self.piece.is_empty();
            self.budget.count(self.piece.len()).map_err(io::Error::other)?;
        }
        Ok(&self.piece[self.at..])
    }

    fn consume(&mut self, amount: usize) {
        self.at = (self.at + amount).min(self.piece.len());
    }
}

impl Read for Part<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let available = self.fill_buf()?;
        let length = available.len().min(buffer.len());
        buffer[..length].copy_from_slice(&available[..length]);
        self.consume(length);
        Ok(length)
    }
}

/// The error that a reader of a part met: ours if it is one of ours, else damage of `what`.
pub(crate) fn from_io(error: &io::Error, what: &str) -> Error {
    match error.get_ref().and_then(|inner| inner.downcast_ref::<Error>()) {
        Some(ours) => {
            let error = Error::new(ours.kind(), ours.message());
            match ours.hint() {
                Some(hint) => error.with_hint(hint),
                None => error,
            }
        }
        None => Error::corrupt(format!("`{what}` cannot be read: {error}")),
    }
}

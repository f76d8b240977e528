//! ZIP archives: every member that is not a folder, in the order of the directory.
//!
//! Every member is accounted for: it comes out whole, or as failed with its reason. When the members expand
//! beyond reason, the one at hand and all after it fail. Nothing is written anywhere, and names are only names.

use docmill_core::error::ErrorKind;
use docmill_core::problem::Problem;
use docmill_core::wire::{CHUNK_BYTES, Found, ReadLimits, Want};
use docmill_core::{Error, Result};

use crate::format::{Claim, Format};
use crate::input::Input;
use crate::shared::zip::{Content, Directory, Entry, MEDIA_TYPE, Member, Names, recover_next};
use crate::sink::Sink;
use crate::sniff::{Head, media_type_of_name};

pub(super) struct Zip;

impl Format for Zip {
    fn name(&self) -> &'static str {
        "zip"
    }

    fn media_types(&self) -> &'static [&'static str] {
        &[
            MEDIA_TYPE,
            "application/java-archive",
            "application/vnd.android.package-archive",
            "application/vnd.etsi.asic-e+zip",
            "application/vnd.etsi.asic-s+zip",
            "application/x-opc+zip",
        ]
    }

    fn container(&self) -> bool {
        true
    }

    fn sniff(&self, head: &Head<'_>) -> Option<Claim> {
        // The third is the first volume of a set.
        const SIGNATURES: &[&[u8]] = &[b"PK\x03\x04", b"PK\x05\x06", b"PK\x07\x08PK\x03\x04"];
        SIGNATURES.iter().any(|s| head.bytes.starts_with(s)).then_some(Claim::certain(MEDIA_TYPE))
    }

    fn parse(&self, input: &mut Input, want: Want, _: &ReadLimits, sink: &mut dyn Sink) -> Result<()> {
        let unpacking = Unpacking { sink, want, position: 0, bomb: None };
        let directory = match Directory::find(input) {
            Ok(directory) => directory,
            Err(e) if e.kind() == ErrorKind::Corrupt => return unpacking.recover(input, &e),
            Err(e) => return Err(e),
        };
        match survey(input, &directory) {
            Ok(survey) => unpacking.unpack(input, &directory, &survey),
            Err(e) if e.kind() == ErrorKind::Corrupt => unpacking.recover(input, &e),
            Err(e) => Err(e),
        }
    }
}

/// What one pass over the directory tells.
struct Survey {
    members: u64,
    entries: u64,
    names: Names,
}

/// Counts members and settles the character set of their names, without holding the directory.
fn survey(input: &mut Input, directory: &Directory) -> Result<Survey> {
    let mut survey = Survey { members: 0, entries: 0, names: Names::default() };
    let mut walk = directory.walk();
    while let Some(entry) = walk.next(input)? {
        survey.entries += 1;
        survey.members += u64::from(!entry.is_folder());
        survey.names.look_at(&entry);
    }
    survey.names.settle();
    Ok(survey)
}

/// One archive on its way into the sink.
struct Unpacking<'a> {
    sink: &'a mut dyn Sink,
    want: Want,
    position: u64,
    bomb: Option<Error>,
}

impl Unpacking<'_> {
    /// Unpacks by the directory.
    fn unpack(mut self, input: &mut Input, directory: &Directory, survey: &Survey) -> Result<()> {
        if self.want.metadata {
            self.sink.meta("comment", &survey.names.decode(&directory.comment))?;
        }
        // The stated count has 16 bits unless the archive is ZIP64; larger archives wrap around.
        if survey.entries & 0xffff != directory.stated_entries & 0xffff {
            let message = format!(
                "archive states {} entries, but its directory has {}",
                directory.stated_entries, survey.entries
            );
            self.sink.warn(Problem::new(ErrorKind::Corrupt, message))?;
        }
        if !self.want.children && !self.want.listing {
            return Ok(());
        }
        self.sink.put(Found::Declared(survey.members))?;
        let mut walk = directory.walk();
        while let Some(entry) = walk.next(input)? {
            if entry.is_folder() {
                continue;
            }
            let path = survey.names.of(&entry);
            if self.want.children {
                self.member(input, directory, &entry, &path)?;
            } else {
                self.list(&path, entry.bytes)?;
            }
            self.position += 1;
        }
        Ok(())
    }

    fn list(&mut self, path: &str, bytes: u64) -> Result<()> {
        let media_type = media_type_of_name(path).to_owned();
        self.sink.put(Found::ChildListed {
            position: self.position,
            path: path.to_owned(),
            media_type,
            bytes,
        })
    }

    fn member(&mut self, input: &mut Input, directory: &Directory, entry: &Entry, path: &str) -> Result<()> {
        if entry.volume != directory.volume {
            let error = Error::unreadable(format!(
                "member begins on volume {} of a set; this file is volume {}",
                entry.volume + 1,
                directory.volume + 1
            ));
            return self.sink.child_failed(self.position, path, &error);
        }
        match Member::of_entry(input, entry) {
            Ok(member) => self.give(input, &member, path, Some(entry.bytes)).map(drop),
            Err(e) => self.sink.child_failed(self.position, path, &e),
        }
    }

    /// Gives one member to the sink. Returns how many packed bytes it took, where that can be told.
    fn give(
        &mut self,
        input: &mut Input,
        member: &Member,
        path: &str,
        bytes: Option<u64>,
    ) -> Result<Option<u64>> {
        if let Some(bomb) = &self.bomb {
            let error = Error::bomb_suspected(format!("member was not read: {}", bomb.message()));
            self.sink.child_failed(self.position, path, &error)?;
            return Ok(None);
        }
        let mut content = match member.open(input) {
            Ok(content) => content,
            Err(e) => {
                self.sink.child_failed(self.position, path, &e)?;
                return Ok(None);
            }
        };
        self.sink.put(Found::ChildBegin { position: self.position, path: path.to_owned(), bytes })?;
        self.pour(&mut content, path)?;
        Ok(content.packed_bytes())
    }

    fn pour(&mut self, content: &mut Content<'_>, path: &str) -> Result<()> {
        loop {
            let piece = match content.next_piece(CHUNK_BYTES) {
                Ok(piece) if piece.is_empty() => return self.sink.put(Found::ChildEnd),
                Ok(piece) => piece,
                Err(e) => return self.sink.child_failed(self.position, path, &e),
            };
            match self.sink.put(Found::ChildChunk(piece.into())) {
                Ok(()) => {}
                Err(e) if e.kind() == ErrorKind::BombSuspected => {
                    self.sink.child_failed(self.position, path, &e)?;
                    self.bomb = Some(e);
                    return Ok(());
                }
                Err(e) => return Err(e),
            }
        }
    }

    /// Unpacks what can be found without the directory. How many members there should be is unknown then, so
    /// nothing is declared.
    fn recover(mut self, input: &mut Input, reason: &Error) -> Result<()> {
        let mut at = 0;
        let names = Names::default();
        while let Some(found) = recover_next(input, at)? {
            let mut packed = None;
            if !found.is_folder {
                let path = names.decode(&found.raw_name);
                if self.want.children {
                    packed = self.give(input, &found.member, &path, None)?;
                } else if self.want.listing {
                    self.list(&path, 0)?;
                }
                self.position += 1;
            }
            at = found.next_position(packed);
        }
        if self.position == 0 {
            return Err(Error::corrupt(reason.message()));
        }
        let recovered = match self.position {
            1 => "1 member was recovered by its own header".to_owned(),
            n => format!("{n} members were recovered by their own headers"),
        };
        let message = format!("{}; {recovered}", reason.message());
        self.sink.warn(Problem::new(ErrorKind::Corrupt, message))
    }
}

#[cfg(test)]
mod tests;

//! RAR archives of every generation: each file, in the order of the archive.
//!
//! The archive is held in memory, and so is each member until it is whole and its checksum right: the library writes to
//! owners alone. A member of which another volume holds the rest is refused with that reason; links are counted.

use std::cell::RefCell;
use std::io::{self, Write};
use std::rc::Rc;

use docmill_core::error::ErrorKind;
use docmill_core::limits::MIB;
use docmill_core::wire::{Found, ReadLimits, Want};
use docmill_core::{Error, Result};
use rars::{
    ArchiveMember, ArchiveReadOptions, ArchiveReader, ErrorKind as RarKind, ExtractionDecision,
    ExtractionErrorAction,
};

use crate::format::{Claim, Format};
use crate::input::Input;
use crate::shared::charset::Charset;
use crate::shared::members::Members;
use crate::sink::Sink;
use crate::sniff::Head;

const MEDIA_TYPE: &str = "application/vnd.rar";

/// Archive, dictionary and member must fit into the memory of a child together.
const MAX_ARCHIVE_BYTES: u64 = 384 * MIB;
const MAX_MEMBER_BYTES: u64 = 256 * MIB;
const MAX_DICTIONARY_BYTES: u64 = 256 * MIB;
const MAX_WORKSPACE_BYTES: u64 = 512 * MIB;

pub(super) struct Rar;

impl Format for Rar {
    fn name(&self) -> &'static str {
        "rar"
    }

    fn media_types(&self) -> &'static [&'static str] {
        &[MEDIA_TYPE]
    }

    fn container(&self) -> bool {
        true
    }

    fn sniff(&self, head: &Head<'_>) -> Option<Claim> {
        head.bytes.starts_with(b"Rar!\x1a\x07").then_some(Claim::certain(MEDIA_TYPE))
    }

    fn parse(&self, input: &mut Input, want: Want, limits: &ReadLimits, sink: &mut dyn Sink) -> Result<()> {
        let length = input.length();
        if length > MAX_ARCHIVE_BYTES {
            return Err(Error::limit_exceeded(format!(
                "the archive has {length} bytes, and RAR archives are read up to {MAX_ARCHIVE_BYTES} bytes"
            ))
            .with_hint("pack it anew as ZIP, 7z or TAR"));
        }
        let bytes = input.whole(MAX_ARCHIVE_BYTES)?;
        // Twice as many headers as members: comments and services have some of their own.
        let options = ArchiveReadOptions::new()
            .with_max_header_count(limits.max_entries.saturating_mul(2).saturating_add(16))
            .with_max_header_bytes(64 * MIB)
            .with_max_member_output_bytes(MAX_MEMBER_BYTES)
            .with_rar50_dictionary_size_limit(MAX_DICTIONARY_BYTES)
            .with_max_reader_workspace_bytes(MAX_WORKSPACE_BYTES);
        let archive =
            ArchiveReader::read_with_options(&bytes, options).map_err(|e| error_of(&e, "archive"))?;
        let mut members = Members::new(sink, want);
        let all: Vec<ArchiveMember> = archive.members().collect();
        if want.metadata {
            let links = all.iter().filter(|m| m.meta.is_redirection).count();
            if links > 0 {
                members.sink().meta("links", &links.to_string())?;
            }
        }
        if !members.wanted() {
            return Ok(());
        }
        members.sink().put(Found::Declared(all.iter().filter(|m| is_member(m)).count() as u64))?;
        if !members.wants_bytes() {
            for member in all.iter().filter(|m| is_member(m)) {
                members.list(&name(member), member.meta.unpacked_size)?;
            }
            return Ok(());
        }
        let unpacking = RefCell::new(Unpacking { members, met: 0, open: None, stopped: None });
        let ended = archive.extract_with_control_and_errors(
            options,
            |member| Ok(unpacking.borrow_mut().decide(member)),
            |_, error| {
                unpacking.borrow_mut().failed(&error_of(error, "member"));
                Ok(ExtractionErrorAction::Continue)
            },
        );
        let damage = ended.err().map(|e| error_of(&e, "member"));
        unpacking.into_inner().finish(&all, damage.as_ref())
    }
}

/// One archive on its way out.
struct Unpacking<'a> {
    members: Members<'a>,
    /// Files that were begun or refused.
    met: usize,
    /// The name of the file whose bytes come now, and what has come.
    open: Option<(String, Rc<RefCell<Vec<u8>>>)>,
    /// What the sink said.
    stopped: Option<Error>,
}

impl Unpacking<'_> {
    fn decide(&mut self, member: &ArchiveMember) -> ExtractionDecision {
        self.close(None);
        if self.stopped.is_some() || self.members.bomb().is_some() {
            return ExtractionDecision::Stop;
        }
        if !is_member(member) {
            return ExtractionDecision::Skip;
        }
        // The rest of a solid archive needs what comes before: the library fails there by itself.
        if let Some(reason) = refused(member).filter(|_| !member.is_solid()) {
            self.met += 1;
            self.stopped = self.members.refuse(&name(member), &reason).err();
            return ExtractionDecision::Skip;
        }
        let bytes = Rc::new(RefCell::new(Vec::new()));
        self.open = Some((name(member), Rc::clone(&bytes)));
        ExtractionDecision::Extract(Box::new(Kept(bytes)))
    }

    fn failed(&mut self, error: &Error) {
        self.close(Some(error));
    }

    /// Gives the member that was open, or says why it cannot be had.
    fn close(&mut self, damage: Option<&Error>) {
        let Some((name, bytes)) = self.open.take() else { return };
        self.met += 1;
        let bytes = bytes.take();
        let given = match damage {
            Some(error) => self.members.refuse(&name, error),
            None => self
                .members
                .begin(&name, Some(bytes.len() as u64))
                .and_then(|()| self.members.write(&bytes))
                .and_then(|()| self.members.end()),
        };
        if let Err(e) = given {
            self.stopped.get_or_insert(e);
        }
    }

    /// Accounts for what was never reached.
    fn finish(mut self, all: &[ArchiveMember], damage: Option<&Error>) -> Result<()> {
        self.close(damage);
        if let Some(error) = self.stopped {
            return Err(error);
        }
        for member in all.iter().filter(|m| is_member(m)).skip(self.met) {
            if let Some(reason) = refused(member).or_else(|| damage.map(again)) {
                self.members.refuse(&name(member), &reason)?;
            } else {
                // Not reached because of a bomb: it fails with that reason.
                self.members.begin(&name(member), None)?;
                self.members.end()?;
            }
        }
        Ok(())
    }
}

/// Where the library writes a member to.
struct Kept(Rc<RefCell<Vec<u8>>>);

impl Write for Kept {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.borrow_mut().extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Neither a folder nor a link.
fn is_member(member: &ArchiveMember) -> bool {
    !member.meta.is_directory && !member.meta.is_redirection
}

/// Why a member is not even begun.
fn refused(member: &ArchiveMember) -> Option<Error> {
    let meta = &member.meta;
    if meta.is_encrypted {
        return Some(Error::encrypted("member is encrypted"));
    }
    if meta.is_split_before || meta.is_split_after {
        return Some(Error::corrupt("the rest of the member lies in another volume of the archive"));
    }
    (meta.unpacked_size > MAX_MEMBER_BYTES && meta.unpacked_size != u64::MAX).then(|| {
        Error::limit_exceeded(format!(
            "member has {} bytes, and members of RAR archives are read up to {MAX_MEMBER_BYTES} bytes",
            meta.unpacked_size
        ))
    })
}

/// Names are Unicode in new archives and of any character set in old ones. They may use backslashes.
fn name(member: &ArchiveMember) -> String {
    let bytes = &member.meta.name;
    let text = match std::str::from_utf8(bytes) {
        Ok(text) => text.to_owned(),
        Err(_) => Charset::by_statistics(bytes).decode(bytes).text,
    };
    text.replace('\\', "/")
}

fn again(error: &Error) -> Error {
    match error.kind() {
        ErrorKind::Encrypted => Error::encrypted(error.message()),
        ErrorKind::UnsupportedFormat => Error::unsupported_format(error.message()),
        ErrorKind::LimitExceeded => Error::limit_exceeded(error.message()),
        _ => Error::corrupt(error.message()),
    }
}

/// What an error of the library means for docmill.
fn error_of(error: &rars::Error, what: &str) -> Error {
    match error.kind() {
        RarKind::PasswordRequired | RarKind::BadPassword => Error::encrypted(format!("{what} is encrypted")),
        RarKind::UnsupportedFormat | RarKind::UnsupportedFeature => {
            // What is built without a decoder for encryption calls it that.
            if matches!(error.root_cause(), rars::Error::FeatureDisabled { .. }) {
                return Error::encrypted(format!("{what} is encrypted"));
            }
            Error::unsupported_format(format!("{what} cannot be read: {error}"))
        }
        RarKind::ResourceLimit => {
            Error::limit_exceeded(format!("{what} needs more than is allowed: {error}"))
        }
        _ => Error::corrupt(format!("{what} is damaged: {error}")),
    }
}

#[cfg(test)]
mod tests {
    use docmill_core::limits::Limits;

    use super::*;
    use crate::sink::Collected;
    use crate::tests_support::{fixture, members, read_fixture, try_read};

    fn shown(found: &Collected) -> Vec<String> {
        let one = |(name, bytes): (String, std::result::Result<Vec<u8>, ErrorKind>)| match bytes {
            Ok(bytes) => format!("{name}: {}", bytes.len()),
            Err(kind) => format!("{name}: {kind}"),
        };
        members(found).into_iter().map(one).collect()
    }

    #[test]
    fn every_file_is_given_and_declared_and_links_are_counted() {
        for file in ["rar/plain.rar", "rar/solid.rar"] {
            let found = read_fixture(file);
            assert_eq!(shown(&found), ["a.txt: 4500", "folder/größe.txt: 6", "empty.txt: 0"], "{file}");
            assert!(found.0.contains(&Found::Declared(3)), "{file}");
        }
        assert_eq!(read_fixture("rar/plain.rar").value("links"), Some("1"));
    }

    #[test]
    fn encrypted_members_fail_by_themselves_and_an_encrypted_directory_fails_the_archive() {
        let found = read_fixture("rar/encrypted.rar");
        assert_eq!(shown(&found)[..2], ["a.txt: encrypted", "folder/größe.txt: encrypted"]);
        let limits = Limits::default().for_reader();
        let (_, result) = try_read("a.rar", &fixture("rar/hidden.rar"), Want::CHILDREN, &limits);
        assert_eq!(result.unwrap_err().kind(), ErrorKind::Encrypted);
    }

    #[test]
    fn damage_fails_its_member_and_the_rest_of_a_solid_archive() {
        for (file, whole) in [("rar/plain.rar", 2), ("rar/solid.rar", 0)] {
            let mut bytes = fixture(file);
            let at = bytes.windows(5).position(|w| w == b"a.txt").unwrap() + 40;
            for byte in &mut bytes[at..at + 8] {
                *byte ^= 0x55;
            }
            let (found, result) = try_read("a.rar", &bytes, Want::CHILDREN, &Limits::default().for_reader());
            result.unwrap();
            assert_eq!(members(&found).len(), 3, "{file}");
            let good = members(&found).iter().filter(|(_, bytes)| bytes.is_ok()).count();
            assert_eq!(good, whole, "{file}: {:?}", shown(&found));
        }
    }

    #[test]
    fn bomb_fails_its_member_and_all_after_it() {
        let limits = ReadLimits { max_unpacked_bytes: 100, ..Limits::default().for_reader() };
        let (found, result) = try_read("a.rar", &fixture("rar/plain.rar"), Want::CHILDREN, &limits);
        result.unwrap();
        assert!(shown(&found).iter().all(|m| m.ends_with(": bomb_suspected")), "{:?}", shown(&found));
    }
}

//! 7z archives: every file, block by block. A block that cannot be unpacked fails its own members alone.

use std::io;

use docmill_core::wire::{Found, ReadLimits, Want};
use docmill_core::{Error, Result};
use sevenz_rust2::{Archive, ArchiveEntry, BlockDecoder, EncoderMethod, Password};

use crate::format::{Claim, Format};
use crate::input::Input;
use crate::shared::members::Members;
use crate::sink::Sink;
use crate::sniff::Head;

const MEDIA_TYPE: &str = "application/x-7z-compressed";

/// Dictionaries beyond this do not fit into the memory of a child.
const MAX_DICTIONARY_BYTES: u64 = 512 << 20;

pub(super) struct SevenZ;

impl Format for SevenZ {
    fn name(&self) -> &'static str {
        "sevenz"
    }

    fn media_types(&self) -> &'static [&'static str] {
        &[MEDIA_TYPE]
    }

    fn container(&self) -> bool {
        true
    }

    fn sniff(&self, head: &Head<'_>) -> Option<Claim> {
        head.bytes.starts_with(b"7z\xbc\xaf\x27\x1c").then_some(Claim::certain(MEDIA_TYPE))
    }

    fn parse(&self, input: &mut Input, want: Want, _: &ReadLimits, sink: &mut dyn Sink) -> Result<()> {
        let archive = Archive::read(input, &Password::empty()).map_err(|e| error_of(e, "archive"))?;
        let mut members = Members::new(sink, want);
        if !members.wanted() {
            return Ok(());
        }
        let declared = archive.files.iter().filter(|file| is_member(file)).count();
        members.sink().put(Found::Declared(declared as u64))?;
        if !members.wants_bytes() {
            for file in archive.files.iter().filter(|file| is_member(file)) {
                members.list(&file.name, file.size)?;
            }
            return Ok(());
        }
        let mut given = vec![false; archive.files.len()];
        for block in 0..archive.blocks.len() {
            unpack(input, &archive, block, &mut members, &mut given)?;
        }
        // Files of no bytes lie in no block; files that do, and were not met, belong to no readable one.
        for (file, _) in archive.files.iter().zip(given).filter(|(file, given)| is_member(file) && !given) {
            if file.has_stream && file.size > 0 {
                members.refuse(&file.name, &Error::corrupt("member lies in no block of the archive"))?;
            } else {
                members.begin(&file.name, Some(0))?;
                members.end()?;
            }
        }
        Ok(())
    }
}

/// Neither a folder nor the note that a file was removed.
fn is_member(file: &ArchiveEntry) -> bool {
    !file.is_directory && !file.is_anti_item
}

/// Gives the members of one block. Those that cannot be had are refused with the block's reason.
fn unpack(
    input: &mut Input,
    archive: &Archive,
    block: usize,
    members: &mut Members<'_>,
    given: &mut [bool],
) -> Result<()> {
    let password = Password::empty();
    let decoder = BlockDecoder::new(1, block, archive, &password, input);
    let Some(&first) = archive.stream_map.block_first_file_index.get(block) else { return Ok(()) };
    let entries = &archive.files[first..first + decoder.entry_count()];
    let mut next = 0;
    let mut stopped: Option<Error> = None;
    let reason = match refused(archive, block) {
        Some(reason) => Some(reason),
        None => decoder
            .for_each_entries(&mut |file, content| {
                next += 1;
                if !is_member(file) {
                    return Ok(true);
                }
                match member(file, content, members) {
                    Ok(None) => Ok(members.bomb().is_none()),
                    Ok(Some(damage)) => Err(damage.into()),
                    Err(e) => {
                        stopped = Some(e);
                        Ok(false)
                    }
                }
            })
            .err()
            .map(|e| error_of(e, "block")),
    };
    if let Some(error) = stopped {
        return Err(error);
    }
    for (at, file) in entries.iter().enumerate() {
        given[first + at] = true;
        if at < next || !is_member(file) {
            continue;
        }
        if let Some(reason) = &reason {
            members.refuse(&file.name, reason)?;
        } else {
            // Not reached because of a bomb: it fails with that reason.
            members.begin(&file.name, Some(file.size))?;
            members.end()?;
        }
    }
    Ok(())
}

/// Gives one member. The inner value is the damage that it ended with.
fn member(
    file: &ArchiveEntry,
    content: &mut dyn io::Read,
    members: &mut Members<'_>,
) -> Result<Option<io::Error>> {
    members.begin(&file.name, Some(file.size))?;
    match members.pour(content)? {
        Ok(()) => {
            let bytes = members.open_bytes();
            if bytes < file.size && members.bomb().is_none() {
                let stated = file.size;
                let message = format!("member has {bytes} bytes where the archive states {stated}");
                members.fail(&Error::corrupt(&message))?;
                return Ok(Some(io::Error::other(message)));
            }
            members.end()?;
            Ok(None)
        }
        Err(e) => {
            let bytes = members.open_bytes();
            let error = Error::corrupt(format!("member is damaged after {bytes} bytes: {e}"));
            members.fail(&error)?;
            Ok(Some(e))
        }
    }
}

/// Why a block is not even begun.
fn refused(archive: &Archive, block: usize) -> Option<Error> {
    for coder in &archive.blocks[block].coders {
        let id = coder.encoder_method_id();
        if id == EncoderMethod::ID_AES256_SHA256 {
            return Some(Error::encrypted("member is encrypted"));
        }
        let properties = coder.properties();
        let dictionary = match (id, properties) {
            (EncoderMethod::ID_LZMA | EncoderMethod::ID_PPMD, [_, a, b, c, d, ..]) => {
                u64::from(u32::from_le_bytes([*a, *b, *c, *d]))
            }
            (EncoderMethod::ID_LZMA2, [bits, ..]) if *bits <= 40 => {
                (2 | u64::from(bits & 1)) << (u32::from(*bits) / 2 + 11)
            }
            _ => 0,
        };
        if dictionary > MAX_DICTIONARY_BYTES {
            return Some(Error::unsupported_format(format!(
                "member wants a dictionary of {dictionary} bytes, more than the {MAX_DICTIONARY_BYTES} allowed"
            )));
        }
    }
    None
}

/// What an error of the archive means for docmill.
fn error_of(error: sevenz_rust2::Error, what: &str) -> Error {
    use sevenz_rust2::Error as E;
    match error {
        E::PasswordRequired | E::MaybeBadPassword(_) => Error::encrypted(format!("{what} is encrypted")),
        E::UnsupportedCompressionMethod(method) => {
            Error::unsupported_format(format!("{what} is packed with `{method}`, which is not supported"))
        }
        E::Unsupported(_)
        | E::UnsupportedVersion { .. }
        | E::ExternalUnsupported
        | E::MaxMemLimited { .. } => Error::unsupported_format(format!("{what} cannot be read: {error}")),
        other => Error::corrupt(format!("{what} is damaged: {other}")),
    }
}

#[cfg(test)]
mod tests {
    use docmill_core::error::ErrorKind;
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
    fn every_file_is_given_and_declared() {
        let found = read_fixture("sevenz/solid.7z");
        assert_eq!(shown(&found), ["a.txt: 4500", "folder/größe.txt: 6", "empty.txt: 0"]);
        assert!(found.0.contains(&Found::Declared(3)));
    }

    #[test]
    fn encrypted_members_fail_by_themselves_and_an_encrypted_directory_fails_the_archive() {
        let found = read_fixture("sevenz/encrypted.7z");
        assert!(shown(&found).iter().all(|m| m.ends_with(": encrypted")), "{:?}", shown(&found));
        assert_eq!(shown(&found).len(), 2);
        let limits = Limits::default().for_reader();
        let (_, result) = try_read("a.7z", &fixture("sevenz/hidden.7z"), Want::CHILDREN, &limits);
        assert_eq!(result.unwrap_err().kind(), ErrorKind::Encrypted);
    }

    #[test]
    fn damaged_block_fails_its_members() {
        let mut bytes = fixture("sevenz/solid.7z");
        for byte in &mut bytes[40..60] {
            *byte ^= 0x55;
        }
        let (found, result) = try_read("a.7z", &bytes, Want::CHILDREN, &Limits::default().for_reader());
        result.unwrap();
        assert_eq!(members(&found).len(), 3);
        assert!(
            members(&found)[..2].iter().all(|(_, m)| *m == Err(ErrorKind::Corrupt)),
            "{:?}",
            shown(&found)
        );
    }

    #[test]
    fn bomb_fails_its_member_and_all_after_it() {
        let limits = ReadLimits { max_unpacked_bytes: 100, ..Limits::default().for_reader() };
        let (found, result) = try_read("a.7z", &fixture("sevenz/solid.7z"), Want::CHILDREN, &limits);
        result.unwrap();
        assert!(shown(&found).iter().all(|m| m.ends_with(": bomb_suspected")), "{:?}", shown(&found));
    }
}

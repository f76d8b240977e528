//! Files that are embedded in an Office document, as members.

use docmill_core::Result;
use docmill_core::wire::{Found, Want};

use super::Relations;
use crate::shared::compound;
use crate::shared::members::Members;
use crate::shared::package::{Package, from_io};
use crate::sink::Sink;

/// Relations to files that are documents of their own.
const KINDS: &[&str] = &["oleObject", "package", "aFChunk", "attachedToolbars"];

/// An object is unwrapped in memory; larger ones are given as they are.
const MAX_OBJECT_BYTES: u64 = 64 << 20;

/// Gives every embedded file that the parts with these relations name.
pub(crate) fn give(
    package: &mut Package<'_>,
    relations: &[Relations],
    want: Want,
    sink: &mut dyn Sink,
) -> Result<()> {
    if !(want.children || want.listing) {
        return Ok(());
    }
    let mut parts: Vec<&str> = Vec::new();
    for relation in relations.iter().flat_map(Relations::iter) {
        let target = relation.target.as_str();
        if KINDS.contains(&relation.kind.as_str()) && package.has(target) && !parts.contains(&target) {
            parts.push(target);
        }
    }
    let mut members = Members::new(sink, want);
    if members.wants_bytes() {
        members.sink().put(Found::Declared(parts.len() as u64))?;
    }
    for part in parts {
        give_one(package, part, &mut members)?;
    }
    Ok(())
}

fn give_one(package: &mut Package<'_>, part: &str, members: &mut Members<'_>) -> Result<()> {
    let name = part.rsplit('/').next().unwrap_or(part);
    if package.stated_bytes(part).is_some_and(|bytes| bytes <= MAX_OBJECT_BYTES) {
        let bytes = match package.whole(part, MAX_OBJECT_BYTES) {
            Ok(bytes) => bytes.unwrap_or_default(),
            Err(e) => return members.refuse(name, &e),
        };
        let object = compound::unwrap_object(bytes, name);
        members.begin(&object.name, Some(object.bytes.len() as u64))?;
        members.write(&object.bytes)?;
        return members.end();
    }
    let stated = package.stated_bytes(part);
    let mut content = match package.part(part) {
        Ok(Some(content)) => content,
        Ok(None) => return Ok(()),
        Err(e) => return members.refuse(name, &e),
    };
    members.begin(name, stated)?;
    match members.pour(&mut content)? {
        Ok(()) => members.end(),
        Err(e) => members.fail(&from_io(&e, part)),
    }
}

//! Embedded objects, which lie packed in the stream itself.

use std::io::Read;

use docmill_core::wire::{Found, Want};
use docmill_core::{Error, Result};

use super::records::{Record, id};
use super::slides::directory;
use crate::shared::compound::unwrap_object;
use crate::shared::members::Members;
use crate::sink::Sink;

/// An object is unpacked in memory.
const MAX_OBJECT_BYTES: u64 = 64 << 20;

/// Bytes before a packed object: how long it was.
const LENGTH_BYTES: usize = 4;

/// Gives the objects of the last version.
pub(super) fn give(bytes: &[u8], user: &[u8], want: Want, sink: &mut dyn Sink) -> Result<()> {
    if !(want.children || want.listing) {
        return Ok(());
    }
    let mut places: Vec<u32> = match directory(bytes, user)? {
        Some((places, _)) => places.into_values().collect(),
        None => Vec::new(),
    };
    places.sort_unstable();
    let objects: Vec<Record<'_>> = places
        .into_iter()
        .filter_map(|place| Record::at(bytes, place as usize))
        .filter(|record| record.id == id::OBJECT)
        .collect();
    let mut members = Members::new(sink, want);
    if members.wants_bytes() {
        members.sink().put(Found::Declared(objects.len() as u64))?;
    }
    for (index, object) in objects.into_iter().enumerate() {
        let name = format!("object-{}.ole", index + 1);
        match unpacked(object) {
            Ok(bytes) => {
                let object = unwrap_object(bytes, &name);
                members.begin(&object.name, Some(object.bytes.len() as u64))?;
                members.write(&object.bytes)?;
                members.end()?;
            }
            Err(e) => members.refuse(&name, &e)?,
        }
    }
    Ok(())
}

fn unpacked(object: Record<'_>) -> Result<Vec<u8>> {
    const PACKED: u16 = 1;
    if object.instance != PACKED {
        return Ok(object.body.to_vec());
    }
    let packed = object.body.get(LENGTH_BYTES..).unwrap_or_default();
    let mut out = Vec::new();
    flate2::read::ZlibDecoder::new(packed)
        .take(MAX_OBJECT_BYTES + 1)
        .read_to_end(&mut out)
        .map_err(|e| Error::corrupt("an embedded object is damaged").with_source(e))?;
    if out.len() as u64 > MAX_OBJECT_BYTES {
        return Err(Error::limit_exceeded(format!(
            "an embedded object has more than {MAX_OBJECT_BYTES} bytes"
        )));
    }
    Ok(out)
}

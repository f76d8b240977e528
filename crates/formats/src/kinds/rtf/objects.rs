//! Embedded objects, as programs of the nineties wrote them down (MS-OLEDS 2.2).

use crate::shared::compound::object::{Object, native, unwrap_object};
use crate::shared::compound::u32_at;

/// The file inside an object; the object as it is where its record is not understood.
pub(super) fn unwrapped(data: Vec<u8>, number: usize) -> Object {
    let fallback = format!("object-{number}.bin");
    let Some((class, content)) = content(&data) else { return Object { name: fallback, bytes: data } };
    if class.eq_ignore_ascii_case(b"package") {
        // The same record as in a compound file, without the length before it.
        let with_length = [&[0; 4], content].concat();
        if let Some(object) = native(&with_length, &fallback) {
            return object;
        }
    }
    unwrap_object(content.to_vec(), &fallback)
}

/// The class and the data of an embedded object.
fn content(data: &[u8]) -> Option<(&[u8], &[u8])> {
    const EMBEDDED: u32 = 2;
    if u32_at(data, 4)? != EMBEDDED {
        return None;
    }
    let mut at = 8;
    let mut text = || {
        let length = u32_at(data, at)? as usize;
        let text = data.get(at + 4..(at + 4).checked_add(length)?)?;
        at += 4 + length;
        Some(text)
    };
    let class = text()?;
    text()?;
    text()?;
    let length = u32_at(data, at)? as usize;
    let rest = data.get(at + 4..)?;
    let class = class.split(|&b| b == 0).next().unwrap_or_default();
    Some((class, rest.get(..length).unwrap_or(rest)))
}

//! ZIP archives for tests.

#![expect(clippy::expect_used, reason = "writing to memory cannot fail")]

use std::io::{Cursor, Write as _};

use zip::ZipWriter;
use zip::write::SimpleFileOptions;

const LOCAL: &[u8] = b"PK\x03\x04";
const CENTRAL: &[u8] = b"PK\x01\x02";

/// A ZIP of these members, in this order.
pub fn archive<'a>(members: impl IntoIterator<Item = (&'a str, &'a [u8])>) -> Vec<u8> {
    let mut zip = ZipWriter::new(Cursor::new(Vec::new()));
    for (name, content) in members {
        zip.start_file(name, SimpleFileOptions::default()).expect("begin a member");
        zip.write_all(content).expect("write a member");
    }
    zip.finish().expect("end the archive").into_inner()
}

/// The same ZIP, whose member of that name says that it is encrypted: whoever has no password can read no more
/// than that of it.
pub fn encrypted(mut zip: Vec<u8>, name: &str) -> Vec<u8> {
    // Signature, where its flags lie, where its name begins.
    for (signature, flags, begins) in [(LOCAL, 6, 30), (CENTRAL, 8, 46)] {
        let at = (0..zip.len())
            .find(|at| zip[*at..].starts_with(signature) && zip[at + begins..].starts_with(name.as_bytes()))
            .expect("the archive has that member");
        zip[at + flags] |= 1;
    }
    zip
}

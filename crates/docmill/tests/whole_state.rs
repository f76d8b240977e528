//! What a small ingest leaves, all of it, as one text: a change of anything that is kept shows here as a
//! difference to look at.

#![expect(clippy::unwrap_used, reason = "test binary")]

mod support;

use docmill_testkit::archive::{archive, encrypted};
use support::Mill;
use support::aftermath::whole_state;

/// Texts, a duplicate, nothing, an unknown type, and a ZIP in a ZIP with an entry that nobody can open.
fn fill(mill: &Mill) {
    mill.write("letter.txt", "a letter about harbours and lighthouses\n");
    mill.write("sub/copy-of-letter.txt", "a letter about harbours and lighthouses\n");
    mill.write("notes.md", "# Notes\n\nthe lighthouse keeper hums\n");
    mill.write("empty.txt", "");
    mill.write("unknown.bin", [0_u8, 159, 146, 150, 255, 0, 1, 2].repeat(10));
    let inner = archive([
        ("deep.txt", b"deep inside the boxes\n".as_slice()),
        ("locked.txt", b"nobody can read this\n".as_slice()),
        ("last.csv", b"name,town\nanna,bergen\n".as_slice()),
    ]);
    let inner = encrypted(inner, "locked.txt");
    mill.write(
        "box.zip",
        archive([("inner.zip", inner.as_slice()), ("beside.txt", b"beside the inner box\n")]),
    );
}

#[test]
fn small_ingest_leaves_what_is_written() {
    // Results carry the name of what recognises text, which differs from machine to machine.
    let mill = Mill::new().with_settings(&[("DOCMILL_OCR_MODE", "never")]);
    fill(&mill);
    mill.run(&["ingest", "in", "--batch", "pile", "-q"]);
    insta::assert_snapshot!(whole_state(&mill, &["lighthouses", "boxes"]));
}

#[test]
fn same_ingest_again_leaves_the_same() {
    let mill = Mill::new();
    fill(&mill);
    mill.run(&["ingest", "in", "--batch", "pile", "-q"]);
    let first = whole_state(&mill, &["lighthouses"]);
    mill.run(&["ingest", "in", "--batch", "pile", "-q"]);
    docmill_testkit::state::assert_same(&whole_state(&mill, &["lighthouses"]), &first);
}

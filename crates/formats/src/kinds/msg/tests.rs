use std::io::{Cursor, Write};

use crate::tests_support::{members, read_bytes, read_fixture};

type Made = cfb::CompoundFile<Cursor<Vec<u8>>>;

fn put(file: &mut Made, path: &str, content: &[u8]) {
    file.create_stream(path).unwrap().write_all(content).unwrap();
}

fn put_text(file: &mut Made, at: &str, id: u16, text: &str) {
    let units: Vec<u8> = text.encode_utf16().flat_map(u16::to_le_bytes).collect();
    put(file, &format!("{at}/__substg1.0_{id:04X}001F"), &units);
}

fn fixed(header: usize, entries: &[(u16, u16, u64)]) -> Vec<u8> {
    let mut out = vec![0; header];
    for (id, kind, value) in entries {
        out.extend(kind.to_le_bytes());
        out.extend(id.to_le_bytes());
        out.extend([6, 0, 0, 0]);
        out.extend(value.to_le_bytes());
    }
    out
}

/// A message with a recipient, a file and a message inside.
fn message() -> Vec<u8> {
    let mut file = cfb::CompoundFile::create(Cursor::new(Vec::new())).unwrap();
    put(&mut file, "/__properties_version1.0", &fixed(32, &[(0x0039, 0x0040, 133_485_408_000_000_000)]));
    file.create_storage("/__nameid_version1.0").unwrap();
    put(&mut file, "/__nameid_version1.0/__substg1.0_00020102", b"names");
    put_text(&mut file, "", 0x0037, "Grüße");
    put_text(&mut file, "", 0x1000, "outer text");
    put_text(&mut file, "", 0x0c1a, "A B");
    put_text(&mut file, "", 0x0c1f, "a@b.c");
    file.create_storage("/__recip_version1.0_#00000000").unwrap();
    put(&mut file, "/__recip_version1.0_#00000000/__properties_version1.0", &fixed(8, &[(0x0c15, 3, 2)]));
    put_text(&mut file, "/__recip_version1.0_#00000000", 0x3001, "C D");
    put_text(&mut file, "/__recip_version1.0_#00000000", 0x39fe, "c@d.e");
    file.create_storage("/__attach_version1.0_#00000000").unwrap();
    put_text(&mut file, "/__attach_version1.0_#00000000", 0x3707, "größe.txt");
    put(&mut file, "/__attach_version1.0_#00000000/__substg1.0_37010102", b"attached");
    let second = "/__attach_version1.0_#00000001";
    file.create_storage(second).unwrap();
    put(&mut file, &format!("{second}/__properties_version1.0"), &fixed(8, &[(0x3705, 3, 5)]));
    put_text(&mut file, second, 0x3001, "inner");
    let inner = format!("{second}/__substg1.0_3701000D");
    file.create_storage(&inner).unwrap();
    put(
        &mut file,
        &format!("{inner}/__properties_version1.0"),
        &fixed(24, &[(0x0039, 0x0040, 133_485_408_000_000_000)]),
    );
    put_text(&mut file, &inner, 0x0037, "inner subject");
    put_text(&mut file, &inner, 0x1000, "inner text");
    file.flush().unwrap();
    file.into_inner().into_inner()
}

#[test]
fn message_gives_fields_text_and_attachments() {
    let found = read_bytes("a.msg", &message());
    for (key, value) in [
        ("subject", "Grüße"),
        ("from", "A B <a@b.c>"),
        ("cc", "C D <c@d.e>"),
        ("date", "2024-01-01T00:00:00Z"),
    ] {
        assert_eq!(found.value(key), Some(value), "{key}");
    }
    assert_eq!(found.text(), "outer text");
    let parts = members(&found);
    assert_eq!(parts[0], ("größe.txt".to_owned(), Ok(b"attached".to_vec())));
    assert_eq!(parts[1].0, "inner.msg");
}

#[test]
fn message_inside_is_a_message_file_and_always_the_same() {
    let inner = || members(&read_bytes("a.msg", &message()))[1].1.clone().unwrap();
    assert_eq!(inner(), inner());
    let found = read_bytes("b.msg", &inner());
    assert_eq!(found.value("subject"), Some("inner subject"));
    assert_eq!(found.value("date"), Some("2024-01-01T00:00:00Z"));
    assert_eq!(found.text(), "inner text");
}

#[test]
fn fixture_is_read() {
    let found = read_fixture("msg/plain.msg");
    assert_eq!(found.value("subject"), Some("Grüße"));
    assert_eq!(members(&found).len(), 2);
}

#[test]
fn rich_text_that_cannot_be_read_costs_no_attachment() {
    for rich in [&b"short"[..], b"0123456789abNOPE and so on"] {
        let mut file = cfb::CompoundFile::create(Cursor::new(Vec::new())).unwrap();
        put(&mut file, "/__properties_version1.0", &fixed(32, &[]));
        put_text(&mut file, "", 0x0037, "subject");
        put(&mut file, "/__substg1.0_10090102", rich);
        file.create_storage("/__attach_version1.0_#00000000").unwrap();
        put_text(&mut file, "/__attach_version1.0_#00000000", 0x3707, "a.txt");
        put(&mut file, "/__attach_version1.0_#00000000/__substg1.0_37010102", b"attached");
        file.flush().unwrap();
        let found = read_bytes("a.msg", &file.into_inner().into_inner());
        assert_eq!(members(&found), [("a.txt".to_owned(), Ok(b"attached".to_vec()))]);
        assert!(found.warnings()[0].message.contains("rich text"), "{:?}", found.warnings());
    }
}

#[test]
fn message_of_rich_text_alone_is_read_and_its_code_page_is_that_of_its_texts() {
    let mut file = cfb::CompoundFile::create(Cursor::new(Vec::new())).unwrap();
    let pages = [(0x3fde, 3, 65_001), (0x3ffd, 3, 1251)];
    put(&mut file, "/__properties_version1.0", &fixed(32, &pages));
    put(&mut file, "/__substg1.0_0037001E", b"\xcf\xf0\xe8\xe2\xe5\xf2");
    let rich = b"{\\rtf1\\ansi\\fromtext Hello\\par there\\par}";
    let header = [(rich.len() as u32 + 12).to_le_bytes(), (rich.len() as u32).to_le_bytes()].concat();
    put(&mut file, "/__substg1.0_10090102", &[&header[..], b"MELA", &[0; 4], rich].concat());
    file.flush().unwrap();
    let found = read_bytes("a.msg", &file.into_inner().into_inner());
    assert_eq!(found.value("subject"), Some("Привет"));
    assert_eq!((found.text().as_str(), members(&found).len()), ("Hello\nthere\n", 0));
}

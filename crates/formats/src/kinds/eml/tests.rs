use docmill_core::error::ErrorKind;
use docmill_core::limits::Limits;
use docmill_core::wire::Want;

use super::walk;
use crate::input::Input;
use crate::sink::Collected;
use crate::tests_support::{fixture, members, read_bytes, read_fixture, try_read};

fn named(found: &Collected) -> Vec<(String, String)> {
    members(found)
        .into_iter()
        .map(|(name, bytes)| (name, String::from_utf8_lossy(&bytes.unwrap()).into_owned()))
        .collect()
}

fn pair(name: &str, content: &str) -> (String, String) {
    (name.to_owned(), content.to_owned())
}

#[test]
fn message_gives_fields_text_and_every_other_part() {
    let found = read_fixture("eml/mixed.eml");
    assert_eq!(found.value("subject"), Some("Grüße und Anlagen"));
    assert_eq!(found.value("from"), Some("Jürgen <j@example.org>"));
    assert_eq!(found.text(), "Guten Tag,\nanbei die Dateien.\n\nlist footer\n");
    let parts = named(&found);
    assert_eq!(parts[0], pair("größe.txt", "attached text"));
    assert_eq!(parts[1], pair("pixel.gif", "GIF89a"));
    assert_eq!(parts[2].0, "message-3.eml");
    assert!(parts[2].1.starts_with("Subject: inner\n"), "{:?}", parts[2]);
    assert_eq!(parts.len(), 3);
}

#[test]
fn html_alone_is_read_as_it_is_seen() {
    let mail = b"Subject: x\nContent-Type: text/html; charset=iso-8859-1\n\
        Content-Transfer-Encoding: quoted-printable\nMIME-Version: 1.0\n\n<p>Gr=FC=DFe</p><script>no</script>\n";
    assert_eq!(read_bytes("a.eml", mail).text().trim(), "Grüße");
}

#[test]
fn text_comes_as_a_member_where_members_alone_are_wanted() {
    let limits = Limits::default().for_reader();
    let (found, result) = try_read("a.eml", &fixture("eml/mixed.eml"), Want::CHILDREN, &limits);
    result.unwrap();
    assert_eq!(named(&found).last().unwrap().0, "message.txt");
    assert!(found.pages().is_empty());
}

#[test]
fn broken_structure_loses_nothing() {
    let head = "MIME-Version: 1.0\nSubject: x\nContent-Type: multipart/mixed; boundary=b\n\n";
    let cases = [
        ("no boundary ever\n", "no boundary ever\n", 0),
        ("remark\n--b\n\nfirst\n--b\n\nno end\n", "first\n\nno end\n", 0),
        (
            "--b\nContent-Type: multipart/mixed; boundary=c\n\ninner text\n--b\n\nlast\n--b--\n",
            "inner text\n\nlast",
            0,
        ),
        ("--b\n\none\n--b--\n--b\nContent-Disposition: attachment\n\nlate\n--b--\n", "one", 1),
        ("--b\nContent-Type: image/gif\n--b--\n", "", 1),
        ("--b\nno field at all\n--b--\n", "no field at all", 0),
    ];
    for (body, text, attached) in cases {
        let found = read_bytes("a.eml", format!("{head}{body}").as_bytes());
        assert_eq!(found.text(), text, "{body}");
        assert_eq!(members(&found).len(), attached, "{body}");
    }
}

#[test]
fn files_inside_plain_text_become_members() {
    let mail = b"Subject: x\nMIME-Version: 1.0\nFrom: a@b\n\nsee\nbegin 644 cat.txt\n#0V%T\n`\nend\nbye, begin 644 times\n";
    let found = read_bytes("a.eml", mail);
    assert_eq!(found.text(), "see\nbye, begin 644 times\n");
    assert_eq!(named(&found), [pair("cat.txt", "Cat")]);
}

#[test]
fn multiparts_beyond_the_depth_are_kept_as_text_with_a_warning() {
    let mut mail = String::from("MIME-Version: 1.0\nSubject: x\n");
    for level in 0..200 {
        mail.push_str(&format!("Content-Type: multipart/mixed; boundary=b{level}\n\n--b{level}\n"));
    }
    mail.push_str("\ninnermost\n");
    let found = read_bytes("a.eml", mail.as_bytes());
    assert!(found.text().contains("innermost"));
    assert_eq!(found.warnings()[0].kind, ErrorKind::LimitExceeded);
}

#[test]
fn long_text_becomes_a_member() {
    let mut mail = b"MIME-Version: 1.0\nSubject: x\nFrom: a@b\n\n".to_vec();
    mail.extend("a line of text\n".repeat(700_000).bytes());
    let mut found = Collected::default();
    let limits = Limits::default().for_reader();
    walk::read(&mut Input::from_bytes(mail), crate::tests_support::EVERYTHING, &limits, &mut found).unwrap();
    assert_eq!(members(&found)[0].1.as_ref().unwrap().len(), 15 * 700_000);
}

#[test]
fn message_as_apple_stores_it_ends_where_its_length_says() {
    let mail = "Subject: x\nDate: Mon, 1 Jan 2024 10:00:00 +0000\nFrom: a@b.c\n\nhello\n";
    let stored = format!("{}       \n{mail}<?xml version=\"1.0\"?><plist/>\n", mail.len());
    for (name, file) in [("1.emlx", stored), ("a.eml", format!("\u{feff}{mail}"))] {
        let found = read_bytes(name, file.as_bytes());
        assert_eq!((found.value("subject"), found.text().as_str()), (Some("x"), "hello\n"), "{name}");
    }
}

#[test]
fn message_with_lines_as_on_the_first_macintosh_is_read() {
    let mail = "Subject: x\nFrom: a@b.c\nMIME-Version: 1.0\nContent-Type: multipart/mixed; boundary=b\n\n\
                --b\n\nhello\n--b\nContent-Disposition: attachment; filename=a.bin\n\nfile\n--b--\n";
    let found = read_bytes("a.eml", mail.replace('\n', "\r").as_bytes());
    assert_eq!((found.value("subject"), found.text().as_str()), (Some("x"), "hello"));
    assert_eq!(members(&found), [("a.bin".to_owned(), Ok(b"file".to_vec()))]);
}

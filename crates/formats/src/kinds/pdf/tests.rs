use super::*;
use crate::tests_support::{EVERYTHING, fixture, members, read_bytes, read_fixture, try_read};
use docmill_core::artifact::TextSource;
use docmill_core::error::ErrorKind;
use docmill_core::limits::Limits;
use docmill_core::ocr::OcrMode;
use docmill_core::picture::{Picture, PictureSize};

#[test]
fn pages_are_read_in_order_with_their_source() {
    let found = read_fixture("pdf/three-pages.pdf");
    let pages: Vec<_> = found.pages().iter().map(|p| (p.number, p.source, p.text.as_str())).collect();
    let expected = [
        (1, TextSource::Native, "First line\nsecond line\n"),
        (2, TextSource::None, ""),
        (3, TextSource::Native, "turned page\n"),
    ];
    assert_eq!(pages, expected);
    assert_eq!(found.pages()[1].reason, "page has nothing to read");
    assert!(
        found.0.iter().position(|f| *f == Found::PageCount(3))
            < found.0.iter().position(|f| matches!(f, Found::Page(_)))
    );
}

#[test]
fn information_dictionary_becomes_metadata() {
    let found = read_fixture("pdf/three-pages.pdf");
    assert_eq!(found.value("title"), Some("Zahlen"));
    assert_eq!(found.value("author"), Some("Ada"));
    assert_eq!(found.value("producer"), Some("by hand"));
    assert_eq!(found.value("creation_date"), Some("2024-02-29T12:00:00+01:00"));
}

#[test]
fn document_without_its_table_of_objects_is_repaired() {
    let found = read_fixture("pdf/no-xref.pdf");
    assert_eq!(found.pages()[0].text, "First line\nsecond line\n");
}

#[test]
fn only_wanted_pages_are_read() {
    let want = Want { pages: Some((3, 9)), ..EVERYTHING };
    let limits = Limits::default().for_reader();
    let (found, result) = try_read("a.pdf", &fixture("pdf/three-pages.pdf"), want, &limits);
    result.unwrap();
    assert_eq!(found.pages().iter().map(|p| p.number).collect::<Vec<_>>(), [3]);
}

#[test]
fn pages_beyond_the_limit_are_warned_about() {
    let limits = ReadLimits { max_pages: 2, ..Limits::default().for_reader() };
    let (found, result) = try_read("a.pdf", &fixture("pdf/three-pages.pdf"), EVERYTHING, &limits);
    result.unwrap();
    assert_eq!(found.pages().len(), 2);
    assert!(found.warnings()[0].message.contains("limits.max_pages"), "{:?}", found.warnings());
}

#[test]
fn content_that_expands_beyond_reason_costs_its_page_alone() {
    let limits = ReadLimits { ratio_from_bytes: 100_000, ..Limits::default().for_reader() };
    let (found, result) = try_read("a.pdf", &fixture("pdf/content-bomb.pdf"), EVERYTHING, &limits);
    result.unwrap();
    assert_eq!(found.warnings()[0].kind, ErrorKind::BombSuspected);
    assert_eq!(found.warnings()[0].page, Some(1));
    let texts: Vec<_> = found.pages().iter().map(|p| p.text.as_str()).collect();
    assert_eq!(texts, ["", "still read\n"]);
}

#[test]
fn garbage_behind_a_signature_is_corrupt() {
    let limits = Limits::default().for_reader();
    let (found, result) = try_read("a.pdf", b"%PDF-1.4\nnothing that makes sense", EVERYTHING, &limits);
    assert_eq!(result.unwrap_err().kind(), ErrorKind::Corrupt);
    assert!(matches!(&found.0[0], Found::Kind(kind) if kind.media_type == "application/pdf"));
}

#[test]
fn text_about_pdf_is_text() {
    let found = read_bytes("notes.txt", b"A file begins with %PDF-1.7 and so on.");
    assert!(matches!(&found.0[0], Found::Kind(kind) if kind.media_type == "text/plain"));
}

/// A document of one page from its objects (from 4 on; 1 to 3 are catalogue, pages and page) without a table
/// of objects.
pub(super) fn document(catalogue: &str, page: &str, content: &str, objects: &[&str]) -> Vec<u8> {
    let mut text = format!(
        "%PDF-1.7\n1 0 obj <</Type/Catalog/Pages 2 0 R {catalogue}>> endobj\n\
         2 0 obj <</Type/Pages/Kids[3 0 R]/Count 1>> endobj\n\
         3 0 obj <</Type/Page/Parent 2 0 R/MediaBox[0 0 200 200]/Contents 9 0 R\
         /Resources<</Font<</F <</Type/Font/Subtype/Type1/BaseFont/Helvetica>>>>>> {page}>> endobj\n"
    );
    for (number, object) in (4..).zip(objects) {
        text.push_str(&format!("{number} 0 obj {object} endobj\n"));
    }
    text.push_str(&format!(
        "9 0 obj <</Length {}>> stream\n{content}\nendstream endobj\ntrailer <</Root 1 0 R>>\n",
        content.len()
    ));
    text.into_bytes()
}

#[test]
fn text_at_an_angle_stays_in_words() {
    let content = "BT /F 20 Tf 0.7071 0.7071 -0.7071 0.7071 50 50 Tm (DRAFT copy) Tj ET";
    let found = read_bytes("a.pdf", &document("", "", content, &[]));
    assert_eq!(found.text(), "DRAFT copy\n");
}

#[test]
fn text_beyond_the_edge_is_left_out_and_said_so() {
    let content = "BT /F 20 Tf 50 50 Td (seen) Tj 0 900 Td (unseen) Tj ET";
    let found = read_bytes("a.pdf", &document("", "", content, &[]));
    assert_eq!(found.text(), "seen\n");
    assert!(found.pages()[0].reason.contains("6 glyphs beyond the edge"), "{}", found.pages()[0].reason);
}

#[test]
fn bookmarks_are_metadata_with_their_levels() {
    let objects = [
        "<</First 5 0 R>>",
        "<</Title(One)/First 6 0 R/Next 7 0 R>>",
        "<</Title(Inside)/Next 6 0 R>>",
        "<</Title(Two)>>",
    ];
    let found = read_bytes("a.pdf", &document("/Outlines 4 0 R", "", "", &objects));
    // The one inside refers to itself.
    assert_eq!(found.value("bookmarks"), Some("One\n  Inside\nTwo"));
}

#[test]
fn attached_files_are_children() {
    let objects = [
        "<</Names[(a) 5 0 R (b) 7 0 R]/Kids[4 0 R]>>",
        "<</Type/Filespec/UF(data.txt)/EF<</F 6 0 R>>>>",
        "<</Length 5>> stream\nhello\nendstream",
        "<</Type/Filespec/F(lost.txt)>>",
    ];
    let found = read_bytes("a.pdf", &document("/Names<</EmbeddedFiles 4 0 R>>", "", "", &objects));
    let children: Vec<_> = found.0.iter().filter(|f| !matches!(f, Found::Kind(_) | Found::Page(_))).collect();
    assert!(children.contains(&&Found::Declared(2)), "{children:?}");
    assert!(children.contains(&&Found::ChildBegin { position: 0, path: "data.txt".into(), bytes: Some(5) }));
    assert!(children.contains(&&Found::ChildChunk(b"hello".to_vec().into())));
    assert!(children.iter().any(|f| matches!(f, Found::ChildFailed { position: 1, .. })), "{children:?}");
}

#[test]
fn what_is_missing_from_a_list_hides_nothing_behind_it() {
    let page = "/Annots[99 0 R null <</Subtype/Text/Contents(check this)>>]";
    let objects = [
        "<</Names[(a) 99 0 R (b) 5 0 R]>>",
        "<</Type/Filespec/UF(data.txt)/EF<</F 6 0 R>>>>",
        "<</Length 5>> stream\nhello\nendstream",
    ];
    let found = read_bytes("a.pdf", &document("/Names<</EmbeddedFiles 4 0 R>>", page, "", &objects));
    assert_eq!(found.text(), "check this\n");
    let expected = [
        ("attachment-1".to_owned(), Err(ErrorKind::Corrupt)),
        ("data.txt".to_owned(), Ok(b"hello".to_vec())),
    ];
    assert_eq!(members(&found), expected);
}

#[test]
fn page_whose_content_is_not_in_the_file_is_warned_about() {
    let whole = String::from_utf8(document("", "", "BT /F 20 Tf 50 50 Td (seen) Tj ET", &[])).unwrap();
    assert!(read_bytes("a.pdf", whole.as_bytes()).warnings().is_empty());
    for (lost, text) in [("/Contents 99 0 R", ""), ("/Contents[99 0 R 9 0 R]", "seen\n")] {
        let found = read_bytes("a.pdf", whole.replace("/Contents 9 0 R", lost).as_bytes());
        assert_eq!(found.text(), text, "{lost}");
        let warning = found.warnings()[0];
        assert_eq!((warning.kind, warning.page), (ErrorKind::Corrupt, Some(1)), "{lost}");
    }
}

#[test]
fn files_that_are_pinned_to_pages_are_children_too_and_none_comes_twice() {
    let objects = [
        "<</Names[(a) 5 0 R]>>",
        "<</Type/Filespec/UF(data.txt)/EF<</F 6 0 R>>>>",
        "<</Length 5>> stream\nhello\nendstream",
        "<</Type/Filespec/F(pinned.txt)/EF<</F 8 0 R>>>>",
        "<</Length 3>> stream\nyes\nendstream",
    ];
    let page = "/Annots[<</Subtype/FileAttachment/FS 5 0 R>> <</Subtype/FileAttachment/FS 7 0 R>>]";
    let found = read_bytes("a.pdf", &document("/Names<</EmbeddedFiles 4 0 R>>", page, "", &objects));
    let expected =
        [("data.txt".to_owned(), Ok(b"hello".to_vec())), ("pinned.txt".to_owned(), Ok(b"yes".to_vec()))];
    assert_eq!(members(&found), expected);
    assert!(found.0.contains(&Found::Declared(2)));
}

#[test]
fn notes_and_undrawn_values_follow_the_text() {
    let page = "/Annots[<</Subtype/Text/Contents(check this)>> <</Subtype/Widget/FT/Tx/V(Ada)>> \
                <</Subtype/Popup/Contents(twice)>> <</Subtype/Text/F 2/Contents(hidden)>>]";
    let found = read_bytes("a.pdf", &document("", page, "BT /F 20 Tf 50 50 Td (Name) Tj ET", &[]));
    assert_eq!(found.text(), "Name\n\ncheck this\nAda\n");
    let bare = read_bytes("a.pdf", &document("", page, "", &[]));
    assert_eq!(bare.pages()[0].source, TextSource::None);
    assert_eq!(bare.text(), "check this\nAda\n");
}

/// A page with a grey image of 40 × 40 dots from edge to edge, and `content` on it.
fn scanned(content: &str) -> Vec<u8> {
    let image = format!(
        "<</Type/XObject/Subtype/Image/Width 400/Height 400/ColorSpace/DeviceGray/BitsPerComponent 8/Length {}\
         /Filter/ASCIIHexDecode>> stream\n{}>\nendstream",
        2 * 400 * 400 + 1,
        "80".repeat(400 * 400),
    );
    let page =
        "/Resources<</XObject<</I 4 0 R>>/Font<</F <</Type/Font/Subtype/Type1/BaseFont/Helvetica>>>>>>";
    document("", page, &format!("q 200 0 0 200 0 0 cm /I Do Q {content}"), &[&image])
}

fn scans(found: &crate::sink::Collected) -> Vec<&docmill_core::ocr::Scan> {
    found.0.iter().filter_map(|f| if let Found::Scan(scan) = f { Some(scan) } else { None }).collect()
}

#[test]
fn scanned_page_is_handed_over_as_pixels_where_that_is_wanted() {
    let bytes = scanned("");
    let limits = Limits::default().for_reader();
    for (ocr, expected) in [(OcrMode::Never, 0), (OcrMode::Auto, 1), (OcrMode::Always, 1)] {
        let (found, result) = try_read("a.pdf", &bytes, Want { ocr, ..EVERYTHING }, &limits);
        result.unwrap();
        assert_eq!(found.pages()[0].source, TextSource::None);
        assert_eq!(found.pages()[0].reason, "page is a picture without a text layer");
        assert_eq!(scans(&found).len(), expected, "{ocr:?}");
    }
    let (found, _) = try_read("a.pdf", &bytes, Want { ocr: OcrMode::Auto, ..EVERYTHING }, &limits);
    let scan = scans(&found)[0];
    assert_eq!((scan.width, scan.height, scan.dpi), (833, 833, Some(300)));
    assert_eq!(scan.pixels[400 * 833 + 400], 0x80);
}

#[test]
fn page_with_text_is_handed_over_only_if_every_page_is_wanted() {
    let bytes = document("", "", "BT /F 20 Tf 50 50 Td (Chapter one) Tj ET", &[]);
    let limits = Limits::default().for_reader();
    for (ocr, expected) in [(OcrMode::Auto, 0), (OcrMode::Always, 1)] {
        let (found, _) = try_read("a.pdf", &bytes, Want { ocr, ..EVERYTHING }, &limits);
        assert_eq!(found.pages()[0].source, TextSource::Native);
        assert_eq!(scans(&found).len(), expected, "{ocr:?}");
    }
}

#[test]
fn stamp_on_a_scan_is_kept_and_doubted() {
    let found = read_bytes("a.pdf", &scanned("BT /F 20 Tf 50 50 Td (ABC-000123) Tj ET"));
    assert_eq!(found.text(), "ABC-000123\n");
    assert!(found.pages()[0].reason.starts_with("a scan covers 100 %"), "{}", found.pages()[0].reason);
    assert_eq!(found.warnings()[0].page, Some(1));
}

#[test]
fn image_beyond_the_limit_is_not_drawn() {
    let limits = ReadLimits { max_image_pixels: 100_000, ..Limits::default().for_reader() };
    let (found, result) = try_read("a.pdf", &scanned(""), Want { ocr: OcrMode::Auto, ..EVERYTHING }, &limits);
    result.unwrap();
    assert_eq!(scans(&found).len(), 0);
    assert!(found.warnings()[0].message.contains("limits.max_image_pixels"), "{:?}", found.warnings());
}

#[test]
fn page_of_absurd_size_is_drawn_within_the_limit() {
    let bytes = document("", "/MediaBox[0 0 900000 900000]", "BT /F 20 Tf 50 50 Td (x) Tj ET", &[]);
    let limits = Limits::default().for_reader();
    let (found, _) = try_read("a.pdf", &bytes, Want { ocr: OcrMode::Always, ..EVERYTHING }, &limits);
    let scan = scans(&found)[0];
    assert!(u64::from(scan.width) * u64::from(scan.height) <= docmill_core::ocr::Scan::MAX_PIXELS);
}

#[test]
fn glyphs_used_by_number_are_read_from_their_program() {
    let found = read_fixture("pdf/by-number.pdf");
    assert_eq!(found.text(), "Straße 12\n");
    assert_eq!(found.pages()[0].quality, Some(1.0));
}

#[test]
fn glyphs_that_are_drawn_and_called_by_numbers_of_characters_are_read() {
    let plain = String::from_utf8(document("", "", "BT /F 20 Tf 20 100 Td (Bald da) Tj ET", &[])).unwrap();
    let read = |names: &str| {
        let font = format!(
            "/Type/Font/Subtype/Type3/FontBBox[0 0 700 700]/FontMatrix[.001 0 0 .001 0 0]/FirstChar 32/LastChar 108\
             /Widths[{}]/CharProcs<</32 4 0 R/66 4 0 R/97 4 0 R/100 4 0 R/108 4 0 R>>\
             /Encoding<</Type/Encoding/Differences[{names}]>>",
            "600 ".repeat(77)
        );
        let drawn = "4 0 obj <</Length 27>> stream\n600 0 d0 0 0 500 700 re f\nendstream endobj\n9 0 obj";
        let file =
            plain.replace("/Type/Font/Subtype/Type1/BaseFont/Helvetica", &font).replace("9 0 obj", drawn);
        read_bytes("a.pdf", file.as_bytes()).text()
    };
    assert_eq!(read("32/32 66/66 97/97 100/100 108/108"), "Bald da\n");
    // Numbers of glyphs say nothing.
    assert_eq!(read("32/1 66/2 97/3 100/4 108/5"), "");
}

pub(super) fn pictures(found: &crate::sink::Collected) -> Vec<&Picture> {
    found
        .0
        .iter()
        .filter_map(|f| if let Found::Picture(picture) = f { Some(picture) } else { None })
        .collect()
}

#[test]
fn pages_are_drawn_as_large_as_is_asked_for() {
    let bytes = document("", "", "1 0 0 rg 0 0 200 100 re f", &[]);
    let limits = Limits::default().for_reader();
    for (size, expected) in [(PictureSize { width: 400 }, 400), (PictureSize::THUMBNAIL, 256)] {
        let want = Want { pictures: Some(size), ..Want::KIND };
        let (found, result) = try_read("a.pdf", &bytes, want, &limits);
        result.unwrap();
        assert!(found.pages().is_empty());
        let picture = pictures(&found)[0];
        assert_eq!((picture.number, picture.width, picture.height), (1, expected, expected));
        let mut reader = png::Decoder::new(std::io::Cursor::new(&picture.png)).read_info().unwrap();
        let mut dots = vec![0; reader.output_buffer_size().unwrap()];
        reader.next_frame(&mut dots).unwrap();
        assert_eq!((&dots[..3], &dots[dots.len() - 3..]), (&[255, 255, 255][..], &[255, 0, 0][..]));
    }
}

#[test]
fn only_wanted_pages_are_drawn_and_no_more_than_allowed() {
    let limits = ReadLimits { max_pages: 2, ..Limits::default().for_reader() };
    let want = Want { pictures: Some(PictureSize::THUMBNAIL), ..Want::KIND };
    let (found, result) = try_read("a.pdf", &fixture("pdf/three-pages.pdf"), want, &limits);
    result.unwrap();
    assert_eq!(pictures(&found).len(), 2);
    assert!(found.warnings()[0].message.contains("limits.max_pages"), "{:?}", found.warnings());
    let want = Want { pages: Some((2, 2)), ..want };
    let (found, _) = try_read("a.pdf", &fixture("pdf/three-pages.pdf"), want, &limits);
    assert_eq!(pictures(&found).iter().map(|p| p.number).collect::<Vec<_>>(), [2]);
}

/// Encrypted with AES-256 and the password `geheim, ja`.
#[test]
fn encrypted_document_opens_with_one_of_the_known_passwords() {
    let read = |passwords: &[&str]| {
        let mut input = Input::from_bytes(fixture("pdf/encrypted.pdf"));
        input.set_passwords(&passwords.iter().map(ToString::to_string).collect::<Vec<_>>());
        let mut found = crate::sink::Collected::default();
        let limits = Limits::default().for_reader();
        crate::read::read(&mut input, "a.pdf", Want::TEXT, &limits, &mut found).map(|()| found.text())
    };
    assert!(read(&["wrong", "geheim, ja"]).unwrap().starts_with("First line\n"));
    for passwords in [&[][..], &["wrong"]] {
        let error = read(passwords).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Encrypted);
        assert!(error.hint().is_some_and(|hint| hint.contains("read.passwords")), "{error:?}");
    }
}

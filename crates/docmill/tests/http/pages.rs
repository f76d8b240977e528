//! Pages as pictures, and words with their places on them.

use std::path::Path;

use docmill_core::limits::read_capped;
use serde_json::{Value, json};

use crate::access::key;
use crate::support::Mill;
use crate::support::http::{Client, Part, Reply};
use crate::{House, text};

fn fixture(path: &str) -> Vec<u8> {
    let full = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures").join(path);
    read_capped(std::fs::File::open(full).unwrap(), 1 << 20, path).unwrap()
}

/// A document of many pages, each with its number on it.
fn long_document(pages: usize) -> Vec<u8> {
    let kids: Vec<String> = (0..pages).map(|n| format!("{} 0 R", 3 + 2 * n)).collect();
    let mut out = format!(
        "%PDF-1.7\n1 0 obj <</Type/Catalog/Pages 2 0 R>> endobj\n2 0 obj <</Type/Pages/Kids[{}]/Count {pages}>> endobj\n",
        kids.join(" ")
    );
    for n in 0..pages {
        let (page, content) = (3 + 2 * n, 4 + 2 * n);
        let text = format!("BT /F 40 Tf 20 100 Td (number{}) Tj ET", n + 1);
        out += &format!(
            "{page} 0 obj <</Type/Page/Parent 2 0 R/MediaBox[0 0 300 200]/Contents {content} 0 R\
             /Resources<</Font<</F <</Type/Font/Subtype/Type1/BaseFont/Helvetica>>>>>>>> endobj\n\
             {content} 0 obj <</Length {}>> stream\n{text}\nendstream endobj\n",
            text.len()
        );
    }
    out += "trailer <</Root 1 0 R>>\n";
    out.into_bytes()
}

/// Width and height of a PNG, which is all that its head says.
fn size(png: &Reply) -> (u32, u32) {
    assert_eq!(png.headers["content-type"], "image/png");
    assert_eq!(&png.body[..8], b"\x89PNG\r\n\x1a\n");
    let number = |at: usize| u32::from_be_bytes(*png.body[at..].first_chunk().unwrap());
    (number(16), number(20))
}

/// Dark pixels, as parts of the page.
fn ink(png: &Reply) -> Vec<(f64, f64)> {
    let mut reader = png::Decoder::new(std::io::Cursor::new(&png.body)).read_info().unwrap();
    let mut dots = vec![0; reader.output_buffer_size().unwrap()];
    let info = reader.next_frame(&mut dots).unwrap();
    let (width, step) = (info.width as usize, info.line_size / info.width as usize);
    let dark = dots.chunks_exact(step).enumerate().filter(|(_, dot)| dot[0] < 100);
    let part = |at: usize, whole: u32| (at as f64 + 0.5) / f64::from(whole);
    dark.map(|(at, _)| (part(at % width, info.width), part(at / width, info.height))).collect()
}

/// How much of the ink lies in boxes, and how many boxes have some.
fn held(words: &Value, ink: &[(f64, f64)]) -> (f64, usize) {
    let words = words["words"].as_array().unwrap();
    let boxes: Vec<[f64; 4]> = words
        .iter()
        .map(|word| ["x", "y", "width", "height"].map(|side| word[side].as_f64().unwrap()))
        .collect();
    // Letters are smoothed: a little more than the box.
    let inside = |[x, y, w, h]: &[f64; 4], (px, py): &(f64, f64)| {
        *px >= x - 0.004 && *px <= x + w + 0.004 && *py >= y - 0.01 && *py <= y + h + 0.01
    };
    let some = boxes.iter().filter(|edges| ink.iter().any(|dot| inside(edges, dot))).count();
    let all = ink.iter().filter(|dot| boxes.iter().any(|edges| inside(edges, dot))).count();
    (all as f64 / ink.len() as f64, some)
}

fn texts(words: &Value) -> Vec<&str> {
    words["words"].as_array().unwrap().iter().map(|word| text(word, "text")).collect()
}

fn pages_of(done: &Value) -> String {
    format!("/v1/documents/{}/pages", text(done, "document_id"))
}

#[test]
fn page_is_drawn_in_the_size_that_is_asked_for_and_answers_304_to_its_tag() {
    let house = House::open();
    let original = fixture("pdf/three-pages.pdf");
    let done = house.add("three.pdf", &original);
    let pages = pages_of(&done);
    let usual = house.client.get(&format!("{pages}/1.png")).expect(200);
    assert_eq!(size(&usual).0, 1024);
    let small = house.client.get(&format!("{pages}/1.png?width=300")).expect(200);
    assert_eq!(size(&small).0, 300);
    assert!(ink(&small).len() > 20, "something is drawn");
    assert_eq!(usual.headers["cache-control"], "private, no-cache");
    assert_eq!(usual.headers["x-content-type-options"], "nosniff");
    let tag = &small.headers["etag"];
    assert_ne!(tag, &usual.headers["etag"]);
    let path = format!("{pages}/1.png?width=300");
    let again = house.client.send("GET", &path, &[("If-None-Match", tag)], &[]).expect(304);
    assert!(again.body.is_empty());
    // From memory, the same.
    assert_eq!(house.client.get(&path).expect(200).body, small.body);
    // The original is what it was.
    let content =
        house.client.get(&format!("/v1/documents/{}/content", text(&done, "document_id"))).expect(200);
    assert_eq!(content.body, original);
    let audit = house.mill.run(&["audit", "--json"]).expect(0).json();
    assert_eq!((&audit["blobs"]["missing"], &audit["blobs"]["orphaned"]), (&json!(0), &json!(0)));
}

#[test]
fn what_is_not_there_and_what_cannot_be_drawn_is_told_apart() {
    let house = House::open();
    let pages = pages_of(&house.add("three.pdf", &fixture("pdf/three-pages.pdf")));
    let beyond = house.client.get(&format!("{pages}/4.png")).problem(404, "not_found");
    assert_eq!(text(&beyond, "detail"), "there is no page 4: the document has 3");
    for nowhere in
        ["0.png", "01.png", "x.png", "-1.png", "1", "1.jpg", "99999999999.png", "0/words", "4/words"]
    {
        house.client.get(&format!("{pages}/{nowhere}")).problem(404, "not_found");
    }
    for bad in ["0", "15", "4097", "x", "-3", "99999999999"] {
        house.client.get(&format!("{pages}/1.png?width={bad}")).problem(400, "invalid_request");
    }
    let nobody = "/v1/documents/018f0000-0000-7000-8000-000000000000/pages";
    for place in ["1.png", "1/words", "x.png"] {
        house.client.get(&format!("{nobody}/{place}")).problem(404, "not_found");
    }
    let plain = pages_of(&house.add("a.txt", b"only text\n"));
    for place in ["1.png", "1/words"] {
        let problem = house.client.get(&format!("{plain}/{place}")).problem(422, "unsupported_format");
        assert!(text(&problem, "detail").contains("no pages that can be drawn"), "{problem}");
    }
    let broken = house.client.upload(
        "/v1/documents?mode=sync",
        &[],
        &[Part::file("b.png", &fixture("image/damaged.png"))],
    );
    let broken = format!("/v1/documents/{}/pages/1.png", text(&broken.json(), "document_id"));
    house.client.get(&broken).problem(422, "corrupt");
    // Once more: from what is remembered of it.
    house.client.get(&broken).problem(422, "corrupt");
    let locked = house.client.upload(
        "/v1/documents?mode=sync",
        &[],
        &[Part::file("e.pdf", &fixture("pdf/encrypted.pdf"))],
    );
    let locked = format!("/v1/documents/{}/pages/1.png", text(&locked.json(), "document_id"));
    house.client.get(&locked).problem(422, "encrypted");
}

#[test]
fn every_sort_of_picture_has_a_page() {
    let house = House::of(Mill::new().with_settings(&[("DOCMILL_OCR_MODE", "never")]));
    for name in [
        "image/mill.png",
        "image/mill.jpg",
        "image/mill.gif",
        "image/mill.webp",
        "image/mill.bmp",
        "image/sideways.jpg",
        "tiff/two-pages.tif",
        "heif/mill.heic",
        "jpeg2000/mill.jp2",
    ] {
        let pages = pages_of(&house.add(name.rsplit('/').next().unwrap(), &fixture(name)));
        let picture = house.client.get(&format!("{pages}/1.png?width=280")).expect(200);
        assert_eq!(size(&picture), (280, 100), "{name}");
        let words = house.client.get(&format!("{pages}/1/words")).expect(200).json();
        assert_eq!((&words["source"], &words["words"]), (&json!("none"), &json!([])), "{name}");
        assert_eq!((&words["width"], &words["height"]), (&json!(560.0), &json!(200.0)), "{name}");
        let second = house.client.get(&format!("{pages}/2.png"));
        if name.starts_with("tiff") {
            second.expect(200)
        } else {
            second.expect(404)
        };
    }
}

#[test]
fn words_of_the_file_stand_on_its_ink() {
    let house = House::open();
    let pages = pages_of(&house.add("three.pdf", &fixture("pdf/three-pages.pdf")));
    for (page, expected) in [(1, &["First", "line", "second", "line"][..]), (3, &["turned", "page"])] {
        let reply = house.client.get(&format!("{pages}/{page}/words")).expect(200);
        let words = reply.json();
        assert_eq!((&words["number"], &words["source"]), (&json!(page), &json!("native")));
        assert_eq!(texts(&words), expected);
        assert_eq!(words["words"][0]["confidence"], json!(null));
        let picture = house.client.get(&format!("{pages}/{page}.png")).expect(200);
        let (all, some) = held(&words, &ink(&picture));
        assert!(all > 0.999 && some == expected.len(), "{all} of the ink is in {some} boxes: {words}");
        let again = [("If-None-Match", reply.headers["etag"].as_str())];
        house.client.send("GET", &format!("{pages}/{page}/words"), &again, &[]).expect(304);
    }
    let empty = house.client.get(&format!("{pages}/2/words")).expect(200).json();
    assert_eq!((&empty["source"], &empty["words"]), (&json!("none"), &json!([])));
}

#[test]
fn recognised_words_stand_on_the_ink_of_pictures_however_they_lie() {
    if !Path::new("/usr/share/tesseract-ocr/5/tessdata/eng.traineddata").try_exists().unwrap() {
        eprintln!("skipped: Tesseract is not installed");
        return;
    }
    let house = House::open();
    for name in ["image/mill.png", "image/sideways.jpg", "image/turned.png"] {
        let pages = pages_of(&house.add(name.rsplit('/').next().unwrap(), &fixture(name)));
        let words = house.client.get(&format!("{pages}/1/words")).expect(200).json();
        assert_eq!(words["source"], "ocr", "{name}: {words}");
        assert!(words["words"].as_array().unwrap().len() > 1, "{name}: {words}");
        assert!(words["words"][0]["confidence"].as_f64().is_some_and(|c| c > 0.3 && c <= 1.0), "{words}");
        let picture = house.client.get(&format!("{pages}/1.png")).expect(200);
        let (width, height) = size(&picture);
        assert_eq!(
            words["width"].as_f64().unwrap() > words["height"].as_f64().unwrap(),
            width > height,
            "{name}"
        );
        let (all, some) = held(&words, &ink(&picture));
        let count = words["words"].as_array().unwrap().len();
        assert!(
            all > 0.95 && some == count,
            "{name}: {all} of the ink is in {some} of {count} boxes: {words}"
        );
    }
}

#[test]
fn any_page_of_a_long_document_is_drawn_alone() {
    let house = House::open();
    let pages = pages_of(&house.add("long.pdf", &long_document(1000)));
    let words = house.client.get(&format!("{pages}/900/words")).expect(200).json();
    assert_eq!(texts(&words), ["number900"]);
    let picture = house.client.get(&format!("{pages}/900.png?width=300")).expect(200);
    assert_eq!(size(&picture), (300, 200));
    let (all, some) = held(&words, &ink(&picture));
    assert!(all > 0.999 && some == 1);
    house.client.get(&format!("{pages}/1001.png")).problem(404, "not_found");
}

#[test]
fn pages_are_the_tenants_own_and_gone_with_their_document() {
    let house = House::open();
    let theirs = house.client.with_key(&key(&house.mill, "theirs", "write"));
    let ours = house.client.with_key(&key(&house.mill, "ours", "admin"));
    let reader = house.client.with_key(&key(&house.mill, "theirs", "read"));
    let bytes = fixture("pdf/three-pages.pdf");
    let add = |client: &Client| {
        let done =
            client.upload("/v1/documents?mode=sync", &[], &[Part::file("a.pdf", &bytes)]).expect(200).json();
        text(&done, "document_id").to_owned()
    };
    let (id, own) = (add(&theirs), add(&ours));
    assert_ne!(id, own);
    let paths = ["1.png", "1/words"].map(|place| format!("/v1/documents/{id}/pages/{place}"));
    for path in &paths {
        let seen = reader.get(path).expect(200);
        // Made and kept, and still not for others; not even with the tag of what is not theirs.
        let tag = [("If-None-Match", seen.headers["etag"].as_str())];
        ours.send("GET", path, &tag, &[]).problem(404, "not_found");
        house.client.get(path).problem(401, "unauthorized");
    }
    theirs.send("DELETE", &format!("/v1/documents/{id}"), &[], &[]).expect(204);
    for path in &paths {
        theirs.get(path).problem(404, "not_found");
    }
    ours.get(&format!("/v1/documents/{own}/pages/1.png")).expect(200);
}

#[test]
fn many_who_look_at_once_are_all_answered_while_documents_come_in() {
    let house = House::open();
    let pages = pages_of(&house.add("long.pdf", &long_document(40)));
    std::thread::scope(|scope| {
        let looking: Vec<_> = (1..=40)
            .map(|page| {
                let (client, pages) = (house.client.clone(), &pages);
                scope.spawn(move || client.get(&format!("{pages}/{page}.png?width=200")))
            })
            .collect();
        for n in 0..10 {
            house.add(&format!("{n}.txt"), format!("letter {n}\n").as_bytes());
        }
        let mut seen = std::collections::BTreeSet::new();
        for reply in looking {
            let reply = reply.join().unwrap().expect(200);
            assert!(seen.insert(reply.body), "each page is another picture");
        }
    });
}

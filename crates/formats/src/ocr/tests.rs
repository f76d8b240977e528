//! With the real Tesseract, where it is installed.

use std::path::Path;

use docmill_core::limits::Limits;
use docmill_core::ocr::{OcrMode, Recognition};
use docmill_core::wire::Want;

use super::*;
use crate::sink::Collected;
use crate::tests_support::{fixture, scans, try_read};

const LIBRARY: &str = "libtesseract.so.5";
const MODELS: &str = "/usr/share/tesseract-ocr/5/tessdata";

/// A recogniser, or nothing and a word about it where Tesseract is not installed.
fn recogniser() -> Option<Recogniser> {
    if !Path::new(MODELS).join("eng.traineddata").try_exists().unwrap() {
        eprintln!("skipped: no models of Tesseract in {MODELS}");
        return None;
    }
    let setup = Setup {
        again: false,
        library: LIBRARY.into(),
        models: MODELS.into(),
        languages: "eng".into(),
        threshold: 0.7,
        ppocr: None,
        threads: 1,
    };
    match Recogniser::load(&setup, None) {
        Ok(recogniser) => Some(recogniser),
        Err(error) => {
            eprintln!("skipped: {}", error.chain());
            None
        }
    }
}

fn recognised(recogniser: &mut Recogniser, path: &str) -> Vec<Recognition> {
    let want = Want { ocr: OcrMode::Auto, ..Want::TEXT };
    let (found, result) = try_read(path, &fixture(path), want, &Limits::default().for_reader());
    result.unwrap();
    let mut seen = Collected::default();
    for scan in scans(&found) {
        recogniser.recognise(scan, &mut seen).unwrap();
    }
    seen.0.into_iter().filter_map(|f| if let Found::Recognised(r) = f { Some(r) } else { None }).collect()
}

#[test]
fn good_page_takes_one_try_and_gives_words_with_their_places() {
    let Some(mut recogniser) = recogniser() else { return };
    let page = recognised(&mut recogniser, "image/mill.png").remove(0);
    assert_eq!(
        page.text.replace('\n', " ").trim(),
        "The old mill by the river ground corn for the village until the year 1938."
    );
    assert_eq!(page.page.tries.len(), 1);
    assert!(page.page.quality.unwrap() > 0.7);
    let river = page.page.words.iter().find(|word| word.text == "river").unwrap();
    assert!((280..420).contains(&river.x) && river.y < 80 && river.line == 0, "{river:?}");
}

#[test]
fn page_on_its_side_is_turned_and_its_places_refer_to_the_scan() {
    let Some(mut recogniser) = recogniser() else { return };
    let page = recognised(&mut recogniser, "image/turned.png").remove(0);
    assert!(page.text.contains("ground corn for the village 4"), "{}", page.text);
    assert_eq!(page.page.turned, 90);
    // The first line of a page that lies on its left side runs up along the left edge.
    let first = &page.page.words[0];
    assert!(first.x < 80 && first.y > 400 && first.height > first.width, "{first:?}");
    assert!(page.page.tries.iter().filter(|tried| tried.chosen).count() == 1);
}

#[test]
fn every_page_of_a_fax_is_recognised() {
    let Some(mut recogniser) = recogniser() else { return };
    let pages = recognised(&mut recogniser, "tiff/two-pages.tif");
    assert!(pages[0].text.contains("old mill") && pages[1].text.contains("second page"));
    assert_eq!((pages[0].page.number, pages[1].page.number), (1, 2));
}

#[test]
fn blank_page_gives_no_words_and_is_no_error() {
    let Some(mut recogniser) = recogniser() else { return };
    let page = recognised(&mut recogniser, "image/blank.png").remove(0);
    assert_eq!((page.text.as_str(), page.page.quality, page.page.words.len()), ("", None, 0));
}

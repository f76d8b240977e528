//! Boxes of words against the pixels of the page: each box holds ink, and no ink lies outside of all boxes.

use docmill_core::artifact::TextSource;
use docmill_core::limits::Limits;
use docmill_core::picture::PictureSize;
use docmill_core::wire::{Found, Want};
use docmill_core::words::PageWords;

use super::tests::{document, pictures};
use crate::tests_support::{fixture, try_read};

const SIZE: PictureSize = PictureSize { width: 600 };

/// Grey pixels, row by row.
struct Drawn {
    width: usize,
    dots: Vec<u8>,
}

impl Drawn {
    fn ink(&self) -> impl Iterator<Item = (usize, usize)> {
        let dark = self.dots.iter().enumerate().filter(|(_, dot)| **dot < 128);
        dark.map(|(at, _)| (at % self.width, at / self.width))
    }
}

/// A page as it is drawn, and its words.
fn seen(bytes: &[u8], page: u32) -> (Drawn, PageWords) {
    let want = Want { pictures: Some(SIZE), words: true, pages: Some((page, page)), ..Want::KIND };
    let (found, result) = try_read("a.pdf", bytes, want, &Limits::default().for_reader());
    result.unwrap();
    let picture = pictures(&found)[0];
    let mut reader = png::Decoder::new(std::io::Cursor::new(&picture.png)).read_info().unwrap();
    let mut dots = vec![0; reader.output_buffer_size().unwrap()];
    let info = reader.next_frame(&mut dots).unwrap();
    let step = info.line_size / info.width as usize;
    let dots = dots.chunks_exact(step).map(|dot| dot[0]).collect();
    let words =
        found.0.iter().find_map(|f| if let Found::Words(words) = f { Some(words.clone()) } else { None });
    let words = words.unwrap();
    let (width, height) = (picture.width as f32, picture.height as f32);
    assert!((width / height - words.width / words.height).abs() < 0.01, "the sizes agree");
    (Drawn { width: picture.width as usize, dots }, words)
}

/// Left, upper, right and lower edge in pixels. Letters are smoothed, so ink may begin a pixel before.
fn edges(drawn: &Drawn, words: &PageWords) -> Vec<(String, [f32; 4])> {
    let (width, height) = (drawn.width as f32, (drawn.dots.len() / drawn.width) as f32);
    let edges = words.words.iter().map(|word| {
        let (x, y) = (word.x * width, word.y * height);
        let pixels = [x, y, x + word.width * width, y + word.height * height];
        (word.text.clone(), [pixels[0] - 1.0, pixels[1] - 1.0, pixels[2] + 1.0, pixels[3] + 1.0])
    });
    edges.collect()
}

#[track_caller]
fn assert_boxes_hold_the_ink(bytes: &[u8], page: u32, expected: &[&str]) {
    let (drawn, words) = seen(bytes, page);
    assert_eq!(words.source, TextSource::Native);
    let boxes = edges(&drawn, &words);
    let texts: Vec<&str> = boxes.iter().map(|(text, _)| text.as_str()).collect();
    assert_eq!(texts, expected);
    let mut inside = vec![0_usize; boxes.len()];
    let (mut all, mut stray) = (0, 0);
    for (x, y) in drawn.ink() {
        let (x, y) = (x as f32, y as f32);
        let within =
            |[left, top, right, bottom]: &[f32; 4]| *left <= x && x < *right && *top <= y && y < *bottom;
        let mut held = false;
        for (count, (_, edges)) in inside.iter_mut().zip(&boxes) {
            if within(edges) {
                *count += 1;
                held = true;
            }
        }
        all += 1;
        stray += usize::from(!held);
    }
    assert!(all > 200, "only {all} dark pixels: nothing was drawn");
    assert_eq!(stray, 0, "{stray} of {all} dark pixels lie outside of all boxes: {boxes:?}");
    for (count, (text, edges)) in inside.iter().zip(&boxes) {
        let area = ((edges[2] - edges[0]) * (edges[3] - edges[1])) as usize;
        // A box that is far too large would hold everything.
        assert!(count * 25 > area, "`{text}` has {count} dark pixels in a box of {area}: {edges:?}");
    }
}

const CONTENT: &str = "BT /F 20 Tf 30 150 Td (Quickly jumping,) Tj 0 -40 Td (Agf) Tj ET";
const WORDS: &[&str] = &["Quickly", "jumping,", "Agf"];

#[test]
fn boxes_hold_the_ink_of_a_plain_page() {
    assert_boxes_hold_the_ink(&document("", "", CONTENT, &[]), 1, WORDS);
}

#[test]
fn boxes_hold_the_ink_of_a_page_that_is_turned() {
    for degrees in [90, 180, 270] {
        assert_boxes_hold_the_ink(&document("", &format!("/Rotate {degrees}"), CONTENT, &[]), 1, WORDS);
    }
    assert_boxes_hold_the_ink(&fixture("pdf/three-pages.pdf"), 3, &["turned", "page"]);
}

#[test]
fn boxes_hold_the_ink_of_a_page_that_is_cropped_turned_and_scaled() {
    for page in
        ["/CropBox[20 80 190 190]", "/CropBox[20 80 190 190]/Rotate 90", "/CropBox[10 90 200 200]/UserUnit 2"]
    {
        assert_boxes_hold_the_ink(&document("", page, CONTENT, &[]), 1, WORDS);
    }
}

#[test]
fn boxes_hold_the_ink_of_words_at_an_angle_and_of_letters_drawn_twice() {
    let upwards = "BT /F 20 Tf 0 1 -1 0 60 40 Tm (upwards gone) Tj ET";
    assert_boxes_hold_the_ink(&document("", "", upwards, &[]), 1, &["upwards", "gone"]);
    let bold = "BT /F 24 Tf 20 100 Td (Bold) Tj 1.5 0.5 Td (Bold) Tj ET";
    assert_boxes_hold_the_ink(&document("", "", bold, &[]), 1, &["Bold"]);
}

#[test]
fn words_have_their_lines_and_none_that_nobody_sees() {
    let content = "BT /F 20 Tf 20 150 Td (one two) Tj 0 -30 Td (three) Tj 0 900 Td (unseen) Tj ET";
    let (_, words) = seen(&document("", "", content, &[]), 1);
    let lines: Vec<_> = words.words.iter().map(|word| (word.text.as_str(), word.line)).collect();
    assert_eq!(lines, [("one", 0), ("two", 0), ("three", 1)]);
    assert!(words.words.iter().all(|word| word.confidence.is_none()));
}

#[test]
fn page_without_words_has_its_size() {
    let (_, words) = seen(&document("", "/Rotate 90/CropBox[0 0 200 100]", "0 0 50 50 re f", &[]), 1);
    assert_eq!((words.source, words.words.len()), (TextSource::None, 0));
    assert_eq!((words.width, words.height), (100.0, 200.0));
}

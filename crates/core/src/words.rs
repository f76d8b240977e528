//! Where the words of a page stand on it.
//!
//! Boxes are parts of the page as it is drawn for people, so that they fit its picture at any size.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::artifact::TextSource;
use crate::error::{Error, Result};
use crate::ocr::RecognisedPage;

/// The words of one page and where they stand.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct PageWords {
    /// The page, from 1.
    pub number: u32,
    /// Of the page as it is drawn: in points where it has a size on paper, otherwise in pixels. Boxes do not depend on it.
    pub width: f32,
    /// In the same measure.
    pub height: f32,
    /// Where the words come from.
    pub source: TextSource,
    /// In the order of reading.
    pub words: Vec<PlacedWord>,
}

/// A word and its box, in parts of the page: 0 is its left or upper edge, 1 its right or lower one.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct PlacedWord {
    /// As it reads.
    pub text: String,
    /// Left edge of the box.
    #[schemars(range(min = 0.0, max = 1.0))]
    pub x: f32,
    /// Upper edge of the box.
    #[schemars(range(min = 0.0, max = 1.0))]
    pub y: f32,
    /// Of the box.
    #[schemars(range(min = 0.0, max = 1.0))]
    pub width: f32,
    /// Of the box.
    #[schemars(range(min = 0.0, max = 1.0))]
    pub height: f32,
    /// 0 (guesswork) to 1 (certain); null where the file itself says what the word is.
    pub confidence: Option<f32>,
    /// Its line, from 0.
    pub line: u32,
}

impl PlacedWord {
    /// A word between these edges, in the measure of a page of this size. Nothing if none of it is on the page.
    pub fn new(
        text: String,
        line: u32,
        (left, top, right, bottom): (f64, f64, f64, f64),
        (width, height): (f64, f64),
    ) -> Option<Self> {
        let part = |edge: f64, whole: f64| (edge / whole).clamp(0.0, 1.0) as f32;
        let (x, right) = (part(left, width), part(right, width));
        let (y, bottom) = (part(top, height), part(bottom, height));
        // Also refuses what is no number.
        let seen = right > x && bottom > y;
        seen.then_some(Self { text, x, y, width: right - x, height: bottom - y, confidence: None, line })
    }
}

impl PageWords {
    /// More words of one page are not told.
    pub const MAX_WORDS: usize = 50_000;

    /// Longer text of one page is not told.
    pub const MAX_TEXT_BYTES: usize = 4 << 20;

    /// A page whose words are not known.
    pub fn none(number: u32, width: f32, height: f32) -> Self {
        Self { number, width, height, source: TextSource::None, words: Vec::new() }
    }

    /// Whether it keeps within what a page can hold; whoever takes one from a child asks.
    pub fn check(&self) -> Result<()> {
        let bytes: usize = self.words.iter().map(|word| word.text.len()).sum();
        if self.words.len() > Self::MAX_WORDS || bytes > Self::MAX_TEXT_BYTES {
            return Err(Error::limit_exceeded(format!(
                "page {} has more words than are told: {} words, {bytes} bytes",
                self.number,
                self.words.len()
            )));
        }
        let part = |value: f32| (0.0..=1.0).contains(&value);
        let size = |value: f32| value.is_finite() && value >= 0.0;
        let inside = |w: &PlacedWord| [w.x, w.y, w.width, w.height].into_iter().all(part);
        if !size(self.width) || !size(self.height) || !self.words.iter().all(inside) {
            return Err(Error::bug(format!("words of page {} lie outside of it", self.number)));
        }
        Ok(())
    }
}

impl From<&RecognisedPage> for PageWords {
    fn from(page: &RecognisedPage) -> Self {
        let size = (f64::from(page.width), f64::from(page.height));
        let placed = |word: &crate::ocr::Word| {
            let (left, top) = (f64::from(word.x), f64::from(word.y));
            let edges = (left, top, left + f64::from(word.width), top + f64::from(word.height));
            let placed = PlacedWord::new(word.text.clone(), word.line, edges, size)?;
            Some(PlacedWord { confidence: Some(word.confidence), ..placed })
        };
        Self {
            number: page.number,
            width: page.width as f32,
            height: page.height as f32,
            source: TextSource::Ocr,
            words: page.words.iter().filter_map(placed).collect(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn placed(edges: (f64, f64, f64, f64)) -> Option<PlacedWord> {
        PlacedWord::new("word".into(), 0, edges, (200.0, 100.0))
    }

    #[test]
    fn boxes_are_parts_of_the_page_and_end_at_its_edges() {
        let word = placed((50.0, 10.0, 100.0, 20.0)).unwrap();
        assert_eq!((word.x, word.y, word.width, word.height), (0.25, 0.1, 0.25, 0.1));
        let cut = placed((-10.0, 90.0, 20.0, 120.0)).unwrap();
        assert_eq!((cut.x, cut.y, cut.width), (0.0, 0.9, 0.1));
        let page = PageWords { words: vec![word, cut], ..PageWords::none(1, 200.0, 100.0) };
        page.check().unwrap();
    }

    #[test]
    fn words_that_nobody_sees_have_no_box() {
        for edges in [(-20.0, 0.0, -10.0, 10.0), (0.0, 101.0, 5.0, 120.0), (f64::NAN, 0.0, 1.0, 1.0)] {
            assert_eq!(placed(edges), None, "{edges:?}");
        }
    }

    #[test]
    fn boxes_of_a_child_that_lies_are_refused() {
        let word = PlacedWord { x: 7.0, ..placed((0.0, 0.0, 1.0, 1.0)).unwrap() };
        let page = PageWords { words: vec![word], ..PageWords::none(1, 1.0, 1.0) };
        assert!(page.check().is_err());
        assert!(PageWords::none(1, f32::NAN, 1.0).check().is_err());
    }
}

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

/// Lines of a typed page are so far apart, in the height of its letters.
const LINE: usize = 2;

/// Typed pages are at least so many letters wide.
const TYPED_WIDTH: usize = 80;

/// Cells of a typed table are at least so many letters apart.
const TYPED_GAP: usize = 4;

impl PageWords {
    /// A text as it would stand on paper with letters of one width, cells of tables below each other: rows and columns
    /// are there, but nobody draws such a page, so that its boxes say nothing to people.
    pub fn typed(number: u32, text: &str) -> Self {
        let lines: Vec<Vec<(usize, &str)>> = tabulated(text);
        let end = |&(at, cell): &(usize, &str)| at + cell.chars().count();
        let width = lines.iter().flatten().map(end).max().unwrap_or(0).max(TYPED_WIDTH) as f64;
        let size = (width, (lines.len().max(1) * LINE) as f64);
        let mut page =
            Self { source: TextSource::Native, ..Self::none(number, size.0 as f32, size.1 as f32) };
        for (line, cells) in lines.iter().enumerate() {
            let top = (line * LINE) as f64;
            for &(start, cell) in cells {
                let mut at = start;
                for word in cell.split(char::is_whitespace) {
                    let length = word.chars().count();
                    let edges = (at as f64, top, (at + length) as f64, top + 1.0);
                    at += length + 1;
                    if length > 0 && page.words.len() < Self::MAX_WORDS {
                        page.words.extend(PlacedWord::new(word.to_owned(), line as u32, edges, size));
                    }
                }
            }
        }
        page
    }

    /// Whether a text was laid out by [`typed`](Self::typed): nothing else has all its words one high, on lines of two.
    pub fn is_typed(&self) -> bool {
        let whole = |value: f32, step: f32| (value / step - (value / step).round()).abs() < 0.01;
        let fits = |word: &PlacedWord| {
            let (top, height) = (word.y * self.height, word.height * self.height);
            (height - 1.0).abs() < 0.01 && whole(top, LINE as f32)
        };
        !self.words.is_empty() && self.words.iter().all(fits)
    }
}

/// The cells of each line, with the letter at which they begin. Lines with tabs that follow each other are one table.
fn tabulated(text: &str) -> Vec<Vec<(usize, &str)>> {
    let lines: Vec<Vec<&str>> = text.lines().map(|line| line.split('\t').collect()).collect();
    let mut out = Vec::with_capacity(lines.len());
    for table in lines.chunk_by(|a, b| a.len() > 1 && b.len() > 1) {
        let columns = table.iter().map(Vec::len).max().unwrap_or(0);
        let mut starts = Vec::with_capacity(columns);
        let mut start = 0;
        for column in 0..columns {
            starts.push(start);
            // The last cell of a line may be as long as it likes: nothing stands right of it.
            let cells = table.iter().filter(|line| line.len() > column + 1).map(|line| line[column]);
            let widest = cells.map(|cell| cell.chars().count()).max().unwrap_or(0);
            start += widest + TYPED_GAP;
        }
        out.extend(table.iter().map(|line| starts.iter().copied().zip(line.iter().copied()).collect()));
    }
    out
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
    fn typed_cells_stand_below_each_other() {
        let page = PageWords::typed(3, "Invoice\n\nItem\tPrice\nA long name\t1.00\nshort\t2.00\n");
        page.check().unwrap();
        assert!(page.is_typed() && page.number == 3);
        let at = |text: &str| {
            let word = page.words.iter().find(|word| word.text == text).unwrap();
            ((word.x * page.width).round() as u32, word.line)
        };
        assert_eq!((at("Price"), at("1.00"), at("2.00")), ((15, 2), (15, 3), (15, 4)));
        assert_eq!(at("name"), (7, 3), "a gap of four letters parts cells");
        let word = placed((50.0, 10.0, 100.0, 20.0)).unwrap();
        assert!(!PageWords { words: vec![word], ..PageWords::none(1, 200.0, 100.0) }.is_typed());
        assert!(!PageWords::typed(1, "").is_typed());
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

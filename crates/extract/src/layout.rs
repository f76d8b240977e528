//! Pages as rows of words with their places: what stands beside what, and what below.
//!
//! A row is what a reader sees as one line across the page, whatever the file says; wide gaps cut it into cells.

use std::collections::BTreeMap;
use std::ops::Range;

use docmill_core::extraction::{Evidence, EvidenceSource};
use docmill_core::words::{PageWords, PlacedWord};
use unicode_normalization::UnicodeNormalization;

/// Pages beyond are not looked at.
pub const MAX_PAGES: usize = 30;

/// Words of a page beyond are not looked at.
const MAX_WORDS: usize = 5_000;

/// A gap wider than so many heights of its row parts two cells.
const CELL_GAP: f32 = 1.3;

/// The slope of a line is told by words that are so much of the width apart.
const LEAST_LINE: f32 = 0.25;

/// Steeper lines, 8°, are not made level here: whoever recognises pages turns them first.
const MAX_SLOPE: f32 = 0.14;

/// A word with its place, in the measure of its page.
#[derive(Clone, Debug)]
pub struct Token {
    /// As it reads.
    pub text: String,
    /// Letters and digits alone, folded.
    pub fold: String,
    /// Where it begins in the text of its row.
    pub start: usize,
    /// Left, top, right and bottom, on a page whose lines are level.
    pub edges: [f32; 4],
    /// The same on the page as it lies.
    lying: [f32; 4],
    /// 0 to 1.
    pub confidence: f32,
    /// Its cell, from 0.
    pub cell: usize,
}

/// A line across a page.
#[derive(Clone, Debug)]
pub struct Row {
    /// Index of its page.
    pub page: usize,
    /// Its words; a tab stands between cells, a blank between words.
    pub text: String,
    /// From left to right.
    pub tokens: Vec<Token>,
    /// Upper edge.
    pub top: f32,
    /// Lower edge.
    pub bottom: f32,
    /// Of its words, the middle one.
    pub height: f32,
}

/// Words of a row, from one to before another.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Span {
    /// Index of the row.
    pub row: usize,
    /// Indexes of its tokens.
    pub tokens: Range<usize>,
}

/// All rows of a document, from top to bottom.
#[derive(Clone, Debug, Default)]
pub struct Sheet {
    /// Page by page.
    pub rows: Vec<Row>,
    sizes: Vec<(u32, f32, f32)>,
    typed: bool,
}

impl Sheet {
    /// Of pages with their words.
    pub fn new(pages: &[PageWords]) -> Self {
        let mut sheet = Self { typed: pages.first().is_some_and(PageWords::is_typed), ..Self::default() };
        for (index, page) in pages.iter().take(MAX_PAGES).enumerate() {
            // A page without a size has parts of itself for a measure.
            let size = |value: f32| if value > 0.0 { value } else { 1.0 };
            let (width, height) = (size(page.width), size(page.height));
            sheet.sizes.push((page.number, width, height));
            let words = page.words.get(..MAX_WORDS).unwrap_or(&page.words);
            let slope = slope(words, width, height);
            let mut tokens: Vec<Token> =
                words.iter().filter_map(|word| token(word, width, height, slope)).flat_map(parted).collect();
            tokens.sort_by(|a, b| a.middle().total_cmp(&b.middle()));
            sheet.rows.extend(rows(tokens, index));
        }
        sheet
    }

    /// Whether its lines come from a text without places: what stands where on paper says nothing then.
    pub fn is_typed(&self) -> bool {
        self.typed
    }

    /// Height of a row's page.
    pub fn page_height(&self, row: &Row) -> f32 {
        self.sizes.get(row.page).map_or(1.0, |size| size.2)
    }

    /// Width of a row's page.
    pub fn page_width(&self, row: &Row) -> f32 {
        self.sizes.get(row.page).map_or(1.0, |size| size.1)
    }

    /// The words of a span as they stand there.
    pub fn text(&self, span: &Span) -> String {
        let Some(row) = self.rows.get(span.row) else { return String::new() };
        let words = row.tokens.get(span.tokens.clone()).unwrap_or_default();
        words.iter().map(|token| token.text.as_str()).collect::<Vec<_>>().join(" ")
    }

    /// How surely its words were read: as the least sure of them.
    pub fn confidence(&self, span: &Span) -> f32 {
        let tokens = self.rows.get(span.row).and_then(|row| row.tokens.get(span.tokens.clone()));
        tokens.unwrap_or_default().iter().map(|token| token.confidence).fold(1.0, f32::min)
    }

    /// Where a span stands, for people and programs to look it up.
    pub fn evidence(&self, span: &Span) -> Option<Evidence> {
        let row = self.rows.get(span.row)?;
        let tokens = row.tokens.get(span.tokens.clone()).filter(|tokens| !tokens.is_empty())?;
        let (number, width, height) = *self.sizes.get(row.page)?;
        let [left, top, right, bottom] = around(tokens.iter().map(|token| token.lying));
        Some(Evidence {
            source: EvidenceSource::Page,
            page: Some(number),
            span: Some(self.text(span)),
            frame: Some([left / width, top / height, (right - left) / width, (bottom - top) / height]),
            path: None,
        })
    }

    /// The span of a row's words that bytes of its text touch.
    pub fn span(&self, row: usize, bytes: &Range<usize>) -> Span {
        let tokens = self.rows.get(row).map(|row| row.tokens.as_slice()).unwrap_or_default();
        let touched = |token: &Token| token.start < bytes.end && token.start + token.text.len() > bytes.start;
        let from = tokens.iter().position(touched).unwrap_or(0);
        let to = tokens.iter().rposition(touched).map_or(from, |at| at + 1);
        Span { row, tokens: from..to }
    }
}

impl Row {
    /// Its cells, as ranges of tokens.
    pub fn cells(&self) -> Vec<Range<usize>> {
        let mut cells: Vec<Range<usize>> = Vec::new();
        for (at, token) in self.tokens.iter().enumerate() {
            match cells.last_mut() {
                Some(cell) if self.tokens[cell.start].cell == token.cell => cell.end = at + 1,
                _ => cells.push(at..at + 1),
            }
        }
        cells
    }

    /// Left and right edge of some of its tokens.
    pub fn edges(&self, tokens: &Range<usize>) -> (f32, f32) {
        let tokens = self.tokens.get(tokens.clone()).unwrap_or_default();
        let [left, _, right, _] = around(tokens.iter().map(|token| token.edges));
        (left, right)
    }
}

impl Token {
    fn middle(&self) -> f32 {
        f32::midpoint(self.edges[1], self.edges[3])
    }

    fn height(&self) -> f32 {
        self.edges[3] - self.edges[1]
    }
}

/// Letters and digits, in lower case, without accents.
pub fn folded(text: &str) -> String {
    let base = text.nfkd().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase);
    base.map(|c| if c == 'ß' { 's' } else { c }).collect()
}

/// How much lines rise or fall on a page, as the middle of them: what was photographed or fed askew has slanting ones.
fn slope(words: &[PlacedWord], width: f32, height: f32) -> f32 {
    let mut lines: BTreeMap<u32, (&PlacedWord, &PlacedWord)> = BTreeMap::new();
    for word in words {
        let (first, last) = lines.entry(word.line).or_insert((word, word));
        if word.x < first.x {
            *first = word;
        }
        if word.x > last.x {
            *last = word;
        }
    }
    let mut slopes: Vec<f32> = lines
        .values()
        .filter_map(|(first, last)| {
            let across = (last.x - first.x) * width;
            let middle = |word: &PlacedWord| (word.y + word.height / 2.0) * height;
            let down = middle(last) - middle(first);
            let far = across > width * LEAST_LINE && across.is_finite() && down.is_finite();
            far.then(|| down / across)
        })
        .collect();
    slopes.sort_by(f32::total_cmp);
    let middle = slopes.get(slopes.len() / 2).copied().unwrap_or(0.0);
    // Two lines may lie; and nobody reads what lies steeper.
    if slopes.len() < 3 || middle.abs() > MAX_SLOPE { 0.0 } else { middle }
}

fn token(word: &PlacedWord, width: f32, height: f32, slope: f32) -> Option<Token> {
    let text: String =
        word.text.chars().map(|c| if c.is_whitespace() || c.is_control() { ' ' } else { c }).collect();
    let text = text.trim();
    let lying =
        [word.x * width, word.y * height, (word.x + word.width) * width, (word.y + word.height) * height];
    let down = slope * f32::midpoint(lying[0], lying[2]);
    let edges = [lying[0], lying[1] - down, lying[2], lying[3] - down];
    let fine = !text.is_empty() && edges.iter().all(|edge| edge.is_finite());
    fine.then(|| Token {
        fold: folded(text),
        text: text.to_owned(),
        start: 0,
        edges,
        lying,
        confidence: word.confidence.unwrap_or(1.0),
        cell: 0,
    })
}

/// A label and its value that stand without a blank between them, `Total:39.00`, as two words.
fn parted(token: Token) -> impl Iterator<Item = Token> {
    let label = token.text.find(':').map(|at| at + 1).filter(|&at| {
        let (label, value) = token.text.split_at(at);
        let letters = label.chars().filter(|c| c.is_alphabetic()).count();
        let plain = label.chars().all(|c| c.is_alphabetic() || ".-/()#':".contains(c));
        letters > 1 && plain && !value.starts_with('/') && value.contains(|c: char| c.is_ascii_digit())
    });
    let Some(at) = label else { return [Some(token), None].into_iter().flatten() };
    let share = token.text[..at].chars().count() as f32 / token.text.chars().count().max(1) as f32;
    let piece = |text: &str, from: f32, to: f32| {
        let part = |[left, top, right, bottom]: [f32; 4]| {
            let width = right - left;
            [left + width * from, top, left + width * to, bottom]
        };
        Token {
            fold: folded(text),
            text: text.to_owned(),
            edges: part(token.edges),
            lying: part(token.lying),
            ..token.clone()
        }
    };
    let (label, value) = token.text.split_at(at);
    [Some(piece(label, 0.0, share)), Some(piece(value, share, 1.0))].into_iter().flatten()
}

/// Puts words together that stand side by side. They come sorted from top to bottom.
fn rows(tokens: Vec<Token>, page: usize) -> Vec<Row> {
    let mut heights: Vec<f32> = tokens.iter().map(Token::height).collect();
    heights.sort_by(f32::total_cmp);
    let usual = heights.get(heights.len() / 2).copied().unwrap_or(1.0).max(f32::EPSILON);
    let mut groups: Vec<(f32, Vec<Token>)> = Vec::new();
    // A dash is so flat that its middle tells nothing of its line: it must not part the words beside it.
    let (flat, tokens): (Vec<Token>, Vec<Token>) =
        tokens.into_iter().partition(|token| token.fold.is_empty() && token.height() < usual * 0.5);
    for token in tokens {
        // Only the last few rows can still take a word: the middles come in order.
        let reach = token.height().min(usual * 1.5) * 0.45;
        let open =
            groups.iter_mut().rev().take(2).find(|(middle, _)| (token.middle() - *middle).abs() <= reach);
        if let Some((middle, group)) = open {
            *middle = (*middle * group.len() as f32 + token.middle()) / (group.len() + 1) as f32;
            group.push(token);
        } else {
            groups.push((token.middle(), vec![token]));
        }
    }
    for sign in flat {
        let middle = sign.middle();
        let at = groups.partition_point(|(other, _)| *other < middle);
        let away = |at: &usize| (groups[*at].0 - middle).abs();
        let near =
            (at.saturating_sub(1)..groups.len().min(at + 1)).min_by(|a, b| away(a).total_cmp(&away(b)));
        match near.filter(|near| away(near) < usual * 0.8) {
            Some(near) => groups[near].1.push(sign),
            None => groups.insert(at, (middle, vec![sign])),
        }
    }
    groups.into_iter().map(|(_, group)| row(group, page)).collect()
}

fn row(mut tokens: Vec<Token>, page: usize) -> Row {
    tokens.sort_by(|a, b| a.edges[0].total_cmp(&b.edges[0]));
    let mut tokens = mended(tokens);
    let mut heights: Vec<f32> = tokens.iter().map(Token::height).collect();
    heights.sort_by(f32::total_cmp);
    let height = heights[heights.len() / 2];
    let [_, top, _, bottom] = around(tokens.iter().map(|token| token.edges));
    let (mut text, mut cell, mut right): (String, usize, Option<(f32, f32)>) = (String::new(), 0, None);
    for token in &mut tokens {
        if let Some((right, before)) = right {
            // Large letters stand further apart.
            let height = height.max(before.min(token.height()));
            let wide = token.edges[0] - right > height * CELL_GAP;
            cell += usize::from(wide);
            text.push(if wide { '\t' } else { ' ' });
        }
        token.start = text.len();
        token.cell = cell;
        text.push_str(&token.text);
        right = Some((token.edges[2], token.height()));
    }
    Row { page, text, tokens, top, bottom, height }
}

/// Amounts that recognition tore at their point (`11,` `80`) as one word again.
fn mended(tokens: Vec<Token>) -> Vec<Token> {
    let mut out: Vec<Token> = Vec::with_capacity(tokens.len());
    let mut tokens = tokens.into_iter().peekable();
    while let Some(token) = tokens.next() {
        // `Lot 3, 12 Street` goes on with words.
        let words =
            tokens.peek().is_some_and(|next| next.fold.chars().filter(|c| c.is_alphabetic()).count() > 2);
        let torn = out.last_mut().filter(|before| {
            let digits = before.text.trim_end_matches(['.', ',']);
            let open =
                digits.len() + 1 == before.text.len() && digits.ends_with(|c: char| c.is_ascii_digit());
            let hundredths = token.text.len() == 2 && token.text.bytes().all(|b| b.is_ascii_digit());
            let recognised = before.confidence < 1.0 && token.confidence < 1.0;
            open && hundredths
                && recognised
                && !words
                && token.edges[0] - before.edges[2] < token.height() * 0.9
        });
        if let Some(before) = torn {
            before.text.push_str(&token.text);
            before.fold.push_str(&token.fold);
            before.confidence = before.confidence.min(token.confidence);
            before.edges = around([before.edges, token.edges].into_iter());
            before.lying = around([before.lying, token.lying].into_iter());
        } else {
            out.push(token);
        }
    }
    out
}

fn around(mut boxes: impl Iterator<Item = [f32; 4]>) -> [f32; 4] {
    let start = boxes.next().unwrap_or([0.0; 4]);
    boxes.fold(start, |[l, t, r, b], [left, top, right, bottom]| {
        [l.min(left), t.min(top), r.max(right), b.max(bottom)]
    })
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// A page of lines, a character six wide and lines twelve apart; two blanks or more part cells.
    pub(crate) fn page(lines: &[&str]) -> PageWords {
        let (width, height) = (600.0, 800.0);
        let mut words = Vec::new();
        for (line, text) in lines.iter().enumerate() {
            let top = 20.0 + line as f64 * 12.0;
            let mut at = 0;
            for word in text.split(' ') {
                let left = 10.0 + at as f64 * 6.0;
                let right = left + word.chars().count() as f64 * 6.0 - 1.0;
                words.extend(PlacedWord::new(
                    word.to_owned(),
                    line as u32,
                    (left, top, right, top + 9.0),
                    (width, height),
                ));
                at += word.chars().count() + 1;
            }
        }
        words.retain(|word| !word.text.is_empty());
        PageWords { words, ..PageWords::none(1, 600.0, 800.0) }
    }

    #[test]
    fn words_side_by_side_are_a_row_and_gaps_part_cells() {
        let sheet = Sheet::new(&[page(&["Seller:          Client:", "A Ltd            B Inc"])]);
        assert_eq!(sheet.rows.len(), 2);
        assert_eq!(sheet.rows[1].text, "A Ltd\tB Inc");
        assert_eq!(sheet.rows[1].cells(), [0..2, 2..4]);
    }

    #[test]
    fn box_of_a_span_contains_its_words() {
        let page = page(&["Total due 12.50"]);
        let sheet = Sheet::new(std::slice::from_ref(&page));
        let seen = sheet.evidence(&sheet.span(0, &(10..15))).unwrap();
        assert_eq!(seen.span.as_deref(), Some("12.50"));
        let frame = seen.frame.unwrap();
        assert!((frame[0] - page.words[2].x).abs() < 1e-4 && frame[2] > 0.0);
    }

    #[test]
    fn rows_of_a_page_that_lies_askew_are_found_and_boxes_stay_where_they_are() {
        let lines = [
            "Pos.  Bezeichnung                Menge     Betrag",
            "1     Tisch                        2      120,00",
            "2     Stuhl                        4      200,00",
            "3     Lampe                        1       30,00",
        ];
        let mut askew = page(&lines);
        for word in &mut askew.words {
            word.y += word.x * 0.03;
        }
        let lamp = askew.words.iter().find(|word| word.text == "30,00").map(|word| word.y).unwrap();
        let sheet = Sheet::new(&[askew]);
        assert_eq!(sheet.rows.len(), 4);
        assert_eq!(sheet.rows[3].text, "3\tLampe\t1\t30,00");
        let last = Span { row: 3, tokens: 3..4 };
        assert!((sheet.evidence(&last).unwrap().frame.unwrap()[1] - lamp).abs() < 1e-5);
    }

    #[test]
    fn torn_amount_is_one_word_where_a_scanner_tore_it() {
        let mut scanned = page(&["Total 11, 80", "Lot 3, 12 Street"]);
        let sheet = Sheet::new(std::slice::from_ref(&scanned));
        assert_eq!(sheet.rows[0].tokens.len(), 3);
        for word in &mut scanned.words {
            word.confidence = Some(0.9);
        }
        let sheet = Sheet::new(&[scanned]);
        assert_eq!(sheet.rows[0].text, "Total 11,80");
        assert_eq!(sheet.rows[1].tokens.len(), 4);
    }

    #[test]
    fn value_without_a_blank_behind_its_label_is_a_word_of_its_own() {
        let sheet = Sheet::new(&[page(&["Total:39.00 12:30 http://a.b/1 Ref:A"])]);
        let words: Vec<&str> = sheet.rows[0].tokens.iter().map(|token| token.text.as_str()).collect();
        assert_eq!(words, ["Total:", "39.00", "12:30", "http://a.b/1", "Ref:A"]);
        let frame = sheet.evidence(&Span { row: 0, tokens: 1..2 }).unwrap().frame.unwrap();
        assert!((frame[0] - 46.0 / 600.0).abs() < 0.01, "{frame:?}");
    }

    #[test]
    fn folding_forgets_accents_and_signs() {
        assert_eq!(folded("USt.-IdNr.:"), "ustidnr");
        assert_eq!(folded("Échéance"), "echeance");
    }

    #[test]
    fn flat_sign_does_not_part_the_words_beside_it() {
        let mut askew = page(&["Play Box 2 Console - Black 4,00", "Stool 5,00"]);
        for word in &mut askew.words {
            match word.text.as_str() {
                "-" => (word.y, word.height) = (word.y + word.height * 0.5, word.height * 0.1),
                "2" => word.y -= word.height * 0.1,
                _ => {}
            }
        }
        let sheet = Sheet::new(&[askew]);
        assert_eq!(sheet.rows.len(), 2);
        assert_eq!(sheet.rows[0].text, "Play Box 2 Console - Black 4,00");
    }
}

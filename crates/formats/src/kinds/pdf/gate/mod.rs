//! Is the text layer of a page true text, and if not, is there something to see?
//!
//! Asked of every page. The answer is a verdict with its reason and the quality of the text; whoever can
//! recognise text in pixels is given the pages that need it, and no others.

mod pairs;
pub(super) mod reading;

use super::marks::Marks;
use reading::Reading;

/// More of the glyphs without a known character than this, and what is left has holes.
const MOST_UNKNOWN: f64 = 0.3;

/// More of the characters guessed than this, and the text must show that it reads like text.
const MOST_GUESSED: f64 = 0.2;

/// A picture that covers this part of a page, and is at least this sharp, is a scan…
const SCAN_COVERS: f64 = 0.7;
const SCAN_DOTS_PER_INCH: f64 = 90.0;
/// …if there are fewer letters beside it: a number stamped on it, the name of the scanner.
const FEW_LETTERS: usize = 100;

/// Less of a page under images, and fewer curves, show nothing that could be read.
const LEAST_COVERED: f64 = 0.002;
const LEAST_CURVES: usize = 40;

/// What was found on a page.
pub(super) struct Evidence<'a> {
    /// Its text, without notes.
    pub(super) text: &'a str,
    /// Glyphs whose characters are known, were guessed, and cannot be told.
    pub(super) known: usize,
    pub(super) guessed: usize,
    pub(super) unknown: usize,
    /// Glyphs of `known` and `guessed` that are not drawn.
    pub(super) invisible: usize,
    pub(super) marks: &'a Marks,
}

/// What is to be thought of a text layer.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct Verdict {
    pub(super) layer: Layer,
    pub(super) reason: String,
    /// From 0 to 1; `None` without text.
    pub(super) quality: Option<f32>,
    /// The page has characters, and they are not known, or not right: another engine may read them.
    pub(super) misread: bool,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Layer {
    /// True text.
    True,
    /// Has characters, but they are not what the page shows, or only part of it.
    Doubtful,
    /// Has no characters, but there is something to see.
    Missing,
    /// Nothing to read at all.
    Empty,
}

impl Layer {
    /// Whether a look at the pixels may tell more.
    pub(super) fn needs_recognition(self) -> bool {
        matches!(self, Self::Doubtful | Self::Missing)
    }
}

/// Judges a page.
pub(super) fn judge(evidence: &Evidence<'_>) -> Verdict {
    let Evidence { known, guessed, unknown, invisible, marks, .. } = *evidence;
    let letters = evidence.text.chars().filter(|c| !c.is_whitespace()).count();
    if letters == 0 {
        return without_letters(unknown, marks);
    }
    let all = known + guessed + unknown;
    let share = |part: usize| part as f64 / all.max(1) as f64;
    let quality = share(known) as f32;
    let verdict = |layer, reason: String| Verdict { layer, reason, quality: Some(quality), misread: false };
    let misread = |verdict: Verdict| Verdict { misread: true, ..verdict };
    let reading = reading::of(evidence.text);
    if reading == Reading::Garbage {
        let reason = format!("text layer reads like no language{}", unsure(guessed, unknown, all));
        return Verdict { layer: Layer::Doubtful, reason, quality: Some(quality.min(0.1)), misread: true };
    }
    if share(unknown) > MOST_UNKNOWN {
        let reason = format!("text layer has holes{}", unsure(guessed, unknown, all));
        return misread(verdict(Layer::Doubtful, reason));
    }
    if share(guessed) > MOST_GUESSED {
        let unsure = unsure(guessed, unknown, all);
        return match reading {
            Reading::Text => verdict(Layer::True, format!("text layer, which reads like text{unsure}")),
            _ => misread(verdict(Layer::Doubtful, format!("text layer cannot be told from chance{unsure}"))),
        };
    }
    let covered = marks.covered();
    let visible = letters.saturating_sub(invisible);
    if covered >= SCAN_COVERS && marks.dots_per_inch() >= SCAN_DOTS_PER_INCH && letters < FEW_LETTERS {
        let percent = (covered * 100.0).round();
        let reason = format!(
            "a scan covers {percent} % of the page, and the text layer has {letters} characters only"
        );
        return verdict(Layer::Doubtful, reason);
    }
    let kind =
        if invisible > visible { "invisible text layer of an earlier recognition" } else { "text layer" };
    verdict(Layer::True, format!("{kind}{}", unsure(guessed, unknown, all)))
}

fn without_letters(unknown: usize, marks: &Marks) -> Verdict {
    let (layer, reason) = if unknown > 0 {
        (Layer::Missing, "text layer does not say which characters it shows")
    } else if marks.covered() >= LEAST_COVERED {
        (Layer::Missing, "page is a picture without a text layer")
    } else if marks.curves() >= LEAST_CURVES {
        (Layer::Missing, "page is drawn without a text layer")
    } else {
        (Layer::Empty, "page has nothing to read")
    };
    Verdict { layer, reason: reason.into(), quality: None, misread: unknown > 0 }
}

/// How many characters are not sure, in words that follow others.
fn unsure(guessed: usize, unknown: usize, all: usize) -> String {
    match (guessed, unknown) {
        (0, 0) => String::new(),
        (0, _) => format!("; {unknown} of {all} glyphs have no known character"),
        _ => format!(
            "; {} of {all} glyphs have no known character, {guessed} are given as their codes",
            guessed + unknown
        ),
    }
}

#[cfg(test)]
mod tests {
    use hayro_interpret::kurbo::{Affine, Rect};

    use super::*;

    const TEXT: &str = "A page of text that is long enough to be judged: it has words that differ, and letters that follow each other \
         as they do in languages, from the first line down to the very last one, where somebody signs with a name and \
         adds the date of the day.";

    /// As a font shows it that numbers its glyphs as many do, if its numbers are taken for characters.
    fn garbage() -> String {
        TEXT.chars()
            .filter(|c| *c == ' ' || c.is_alphabetic())
            .map(|c| if c == ' ' { c } else { char::from(c as u8 - 29) })
            .collect()
    }

    fn page() -> Marks {
        Marks::new(Rect::new(0.0, 0.0, 600.0, 800.0))
    }

    fn scanned() -> Marks {
        let mut marks = page();
        marks.add_image(1200, 1600, Affine::scale(0.5));
        marks
    }

    fn judged(text: &str, [guessed, unknown, invisible]: [usize; 3], marks: &Marks) -> Layer {
        let known = text.len().saturating_sub(guessed);
        judge(&Evidence { text, known, guessed, unknown, invisible, marks }).layer
    }

    #[test]
    fn pages_without_letters_need_a_look_if_there_is_something_to_see() {
        assert_eq!(judged("", [0, 0, 0], &page()), Layer::Empty);
        assert_eq!(judged(" \n", [0, 3, 0], &page()), Layer::Missing);
        assert_eq!(judged("", [0, 0, 0], &scanned()), Layer::Missing);
    }

    #[test]
    fn scan_with_a_stamp_needs_a_look_and_one_with_its_text_does_not() {
        assert_eq!(judged("ABC000123", [0, 0, 0], &scanned()), Layer::Doubtful);
        assert_eq!(judged(TEXT, [0, 0, TEXT.len()], &scanned()), Layer::True);
        assert_eq!(judged(&garbage(), [0, 0, TEXT.len()], &scanned()), Layer::Doubtful);
    }

    #[test]
    fn few_letters_on_a_page_of_their_own_are_true() {
        assert_eq!(judged("Chapter 1", [0, 0, 0], &page()), Layer::True);
    }

    #[test]
    fn guessed_characters_must_read_like_text() {
        assert_eq!(judged(TEXT, [TEXT.len(), 0, 0], &page()), Layer::True);
        assert_eq!(judged("6R SL", [5, 0, 0], &page()), Layer::Doubtful);
        assert_eq!(judged(&garbage(), [TEXT.len(), 0, 0], &page()), Layer::Doubtful);
    }

    #[test]
    fn garbage_is_caught_even_if_every_character_is_stated() {
        assert_eq!(judged(&garbage(), [0, 0, 0], &page()), Layer::Doubtful);
    }

    #[test]
    fn holes_are_noticed() {
        assert_eq!(judged(TEXT, [0, TEXT.len(), 0], &page()), Layer::Doubtful);
        assert_eq!(judged(TEXT, [0, 3, 0], &page()), Layer::True);
    }
}

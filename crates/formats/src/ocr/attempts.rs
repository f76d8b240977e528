//! What is tried on a page, in order, and whose result is taken.
//!
//! A good page costs one run of Tesseract. Everything else happens to poor pages alone: which way is up, better
//! pixels, a second engine. All tries are recorded, and the best of them wins.

use docmill_core::ocr::{RecognisedPage, Recognition, Scan, Try};
use docmill_core::wire::Found;
use docmill_core::{Error, ErrorKind, Result};

use super::picture::Picture;
use super::ppocr::NAME;
use super::reading::Reading;
use super::tesseract::Segmentation;
use super::{Recogniser, clean};
use crate::language;
use crate::sink::Sink;

/// With less confidence than this a word is worth less than none: it is rather wrong than right.
const MORE_WRONG_THAN_RIGHT: f32 = 0.3;

/// How sure the orientation must be to be followed; the engine itself calls 15 certain and 1 a guess.
const SURE_OF_ORIENTATION: f32 = 1.0;

/// So many characters are hardly found where there are none.
const SOME_TEXT: u32 = 40;

/// Directions are compared on pictures of at most so many pixels.
const DIRECTION_PIXELS: f32 = 3_000_000.0;

/// The tries at one page.
pub(super) struct Attempts<'a> {
    recogniser: &'a mut Recogniser,
    scan: &'a Scan,
    tries: Vec<Try>,
    best: Option<Best>,
    /// Why an engine gave up on a picture. It counts if no try found anything.
    gave_up: Option<Error>,
}

/// The best result so far.
struct Best {
    reading: Reading,
    picture: Picture,
    engine: String,
    worth: f32,
    /// Its place among the tries.
    position: usize,
}

impl<'a> Attempts<'a> {
    pub(super) fn new(recogniser: &'a mut Recogniser, scan: &'a Scan) -> Result<Self> {
        scan.check()?;
        Ok(Self { recogniser, scan, tries: Vec::new(), best: None, gave_up: None })
    }

    /// Tries until the page is good or nothing is left to try.
    pub(super) fn run(mut self, sink: &mut dyn Sink) -> Result<Recognition> {
        let as_it_came = Picture::of(self.scan)?;
        if self.tesseract(&as_it_came, Segmentation::Auto, sink)? {
            return self.finish();
        }
        if self.scan.inline.is_some() && self.best_quality() < MORE_WRONG_THAN_RIGHT && !self.has_many() {
            // A photograph in a text: looking closer would cost seconds and find nothing.
            return self.finish();
        }
        let upright = self.upright(as_it_came, sink)?;
        if self.is_good() {
            return self.finish();
        }
        let evened = clean::evened(&upright)?;
        if self.tesseract(&evened, Segmentation::Block, sink)? {
            return self.finish();
        }
        if self.second_engine(&evened, sink)? {
            return self.finish();
        }
        let smoothed = clean::smoothed(&evened)?;
        self.tesseract(&smoothed, Segmentation::Block, sink)?;
        self.finish()
    }

    /// Tries what was not tried first: clean pixels and the other engine. For pages whose words were of no use,
    /// however good they looked.
    pub(super) fn run_again(mut self, sink: &mut dyn Sink) -> Result<Recognition> {
        let page = Picture::of(self.scan)?;
        let told = self.recogniser.tesseract.orientation(&page.grey, page.dpi);
        let degrees = told.filter(|(_, sure)| *sure >= SURE_OF_ORIENTATION).map_or(0, |(degrees, _)| degrees);
        let evened = clean::evened(&if degrees == 0 { page } else { page.turn(degrees) })?;
        self.second_engine(&evened, sink)?;
        // Where the second engine is in doubt the first gains nothing, and in the noise of such pages it gets lost for
        // up to 40 s.
        if self.best_quality() < MORE_WRONG_THAN_RIGHT {
            self.tesseract(&evened, Segmentation::Block, sink)?;
        }
        if self.best_quality() < MORE_WRONG_THAN_RIGHT {
            // Nothing so far: perhaps it lies on its side.
            let upright = self.upright(evened, sink)?;
            self.tesseract(&clean::smoothed(&upright)?, Segmentation::Block, sink)?;
        }
        self.finish()
    }

    /// Turns the page so that its text stands upright, as far as that can be told.
    fn upright(&mut self, page: Picture, sink: &mut dyn Sink) -> Result<Picture> {
        let told = self.recogniser.tesseract.orientation(&page.grey, page.dpi);
        if let Some((degrees, sure)) = told
            && sure >= SURE_OF_ORIENTATION
        {
            if degrees == 0 {
                return Ok(page);
            }
            let turned = page.turn(degrees);
            self.tesseract(&turned, Segmentation::Auto, sink)?;
            return Ok(if self.best_turn() == degrees { turned } else { page });
        }
        if self.best_quality() >= MORE_WRONG_THAN_RIGHT {
            return Ok(page);
        }
        // Nobody knows: the direction in which most can be read is the right one.
        let pixels = page.grey.width() as f32 * page.grey.height() as f32;
        let small = if pixels > DIRECTION_PIXELS {
            page.scale((DIRECTION_PIXELS / pixels).sqrt())?
        } else {
            page.clone()
        };
        for degrees in [180, 90, 270] {
            if self.tesseract(&small.turn(degrees), Segmentation::Auto, sink)? {
                break;
            }
        }
        Ok(page.turn(self.best_turn()))
    }

    /// One run of Tesseract; whether the page is good now.
    fn tesseract(&mut self, picture: &Picture, how: Segmentation, sink: &mut dyn Sink) -> Result<bool> {
        let engine = self.recogniser.tesseract.name().to_owned();
        let reading = match self.recogniser.tesseract.read(&picture.grey, picture.dpi, how) {
            Ok(reading) => reading,
            // It may get lost in noise; that is no reason to lose what other tries find.
            Err(error) if error.kind() == ErrorKind::Corrupt => {
                self.gave_up.get_or_insert(error);
                Reading::default()
            }
            Err(error) => return Err(error),
        };
        self.consider(engine, picture, reading, sink)
    }

    /// One run of PP-OCR, if its models are there; whether the page is good now.
    fn second_engine(&mut self, picture: &Picture, sink: &mut dyn Sink) -> Result<bool> {
        let Some(engine) = self.recogniser.second() else { return Ok(false) };
        let reading = engine.read(&picture.grey)?;
        self.consider(NAME.to_owned(), picture, reading, sink)
    }

    fn consider(
        &mut self,
        engine: String,
        picture: &Picture,
        reading: Reading,
        sink: &mut dyn Sink,
    ) -> Result<bool> {
        let worth = worth(&reading);
        self.tries.push(Try {
            engine: engine.clone(),
            steps: picture.steps.iter().map(|step| (*step).to_owned()).collect(),
            quality: reading.quality(),
            characters: reading.characters(),
            chosen: false,
        });
        if !reading.words.is_empty() && self.best.as_ref().is_none_or(|best| worth > best.worth) {
            let position = self.tries.len() - 1;
            self.best = Some(Best { reading, picture: picture.clone(), engine, worth, position });
        }
        sink.put(Found::Tried)?;
        Ok(self.is_good())
    }

    fn is_good(&self) -> bool {
        self.best_quality() >= self.recogniser.threshold
    }

    /// Whether enough was found for it to be a text that is hard to read, rather than no text.
    fn has_many(&self) -> bool {
        self.best.as_ref().is_some_and(|best| best.reading.characters() >= SOME_TEXT)
    }

    fn best_quality(&self) -> f32 {
        self.best.as_ref().and_then(|best| best.reading.quality()).unwrap_or(0.0)
    }

    fn best_turn(&self) -> u32 {
        self.best.as_ref().map_or(0, |best| best.picture.turned)
    }

    fn finish(mut self) -> Result<Recognition> {
        if self.best.is_none()
            && let Some(error) = self.gave_up
        {
            return Err(error);
        }
        let size = (self.scan.width, self.scan.height);
        let (mut text, mut words, mut quality) = (String::new(), Vec::new(), None);
        let (mut engine, mut turned) = (self.recogniser.tesseract.name().to_owned(), 0);
        if let Some(best) = self.best {
            if let Some(chosen) = self.tries.get_mut(best.position) {
                chosen.chosen = true;
            }
            (quality, engine, turned) = (best.reading.quality(), best.engine, best.picture.turned);
            words = best.reading.words.into_iter().map(|word| best.picture.on_scan(word, size)).collect();
            text = best.reading.text;
        }
        words.truncate(Recognition::MAX_WORDS);
        text.truncate(text.floor_char_boundary(Recognition::MAX_TEXT_BYTES));
        let mut sample = language::Sample::default();
        sample.add(&text);
        Ok(Recognition {
            language: sample.language().map(str::to_owned),
            text,
            page: RecognisedPage {
                number: self.scan.number,
                inline: self.scan.inline,
                engine,
                turned,
                width: size.0,
                height: size.1,
                dpi: self.scan.dpi,
                quality,
                words,
                tries: self.tries,
            },
        })
    }
}

/// Characters that are rather right, less those that are rather wrong: many words of middling confidence beat a
/// few certain ones, and noise is worth less than nothing.
fn worth(reading: &Reading) -> f32 {
    let of = |word: &docmill_core::ocr::Word| {
        (word.confidence - MORE_WRONG_THAN_RIGHT) * word.text.chars().count() as f32
    };
    reading.words.iter().map(of).sum()
}

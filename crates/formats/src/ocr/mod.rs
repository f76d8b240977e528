//! Recognising text in pixels: the work of a child with the role `ocr`.
//!
//! Pixels come decoded, in grey, from another child; engines and models are loaded before the sandbox closes.
//! Nothing here opens a file afterwards, and nothing here knows the file a page came from.
//!
//! Where to go next: `attempts` (what is tried in which order), `clean` (making poor pixels better), `tesseract`
//! and `ppocr` (the engines), `picture` (from a pixel back to its place on the scan).

mod attempts;
mod clean;
mod picture;
mod ppocr;
mod reading;
mod tesseract;

use std::fs::File;
use std::path::{Path, PathBuf};

use docmill_core::limits::read_capped;
use docmill_core::ocr::Scan;
use docmill_core::wire::{Found, Layer, Work};
use docmill_core::{Error, Result};

use crate::serve::Role;
use crate::shared::grey::Grey;
use crate::sink::Sink;
use attempts::Attempts;

/// What a recogniser is made of.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Setup {
    /// `libtesseract.so.5`.
    pub library: PathBuf,
    /// The folder of its models.
    pub models: PathBuf,
    /// `eng+deu`.
    pub languages: String,
    /// Below this quality more is tried.
    pub threshold: f32,
    /// Whether pages have been read before and of no use: another way is taken, whatever the quality.
    pub again: bool,
    /// The folder of PP-OCR's models, if they are there.
    pub ppocr: Option<PathBuf>,
    /// Threads that the second engine computes in; 0 is one. It cannot ask how many processors there are: the files that
    /// tell are out of its reach.
    pub threads: usize,
}

/// The names of PP-OCR's models in their folder: that which finds lines, and that which reads them.
pub const PPOCR_MODELS: [&str; 2] = ["PP-OCRv6_det_small.onnx", "PP-OCRv6_rec_small.onnx"];

/// Models are some tens of megabytes.
const MAX_MODEL_BYTES: u64 = 256 << 20;

/// Engines with their models, loaded and warm.
pub struct Recogniser {
    tesseract: tesseract::Engine,
    second: Second,
    threshold: f32,
    again: bool,
    threads: usize,
}

impl Recogniser {
    /// Loads everything and recognises a small picture, so that nothing is left to be loaded later.
    ///
    /// Tesseract it must have. If the second engine cannot be loaded, it does without, and says why.
    pub fn load(setup: &Setup, models: Option<Result<Models>>) -> Result<Self> {
        let tesseract = tesseract::Engine::load(&setup.library, &setup.models, &setup.languages)?;
        let second = match models {
            Some(Ok(models)) => Second::Waiting(models),
            Some(Err(error)) => Second::Off(error),
            None => Second::Off(
                Error::missing_dependency("its models are not there")
                    .with_hint("`docmill models pull` fetches them"),
            ),
        };
        let Setup { threshold, again, threads, .. } = *setup;
        let mut recogniser = Self { tesseract, second, threshold, again, threads };
        recogniser.warm_up()?;
        Ok(recogniser)
    }

    /// What is loaded, as `docmill doctor` shows it.
    pub fn engines(&self) -> Vec<Layer> {
        let orientation = if self.tesseract.knows_orientation() {
            Layer { name: "orientation".into(), active: true, detail: "told by `osd.traineddata`".into() }
        } else {
            let detail = "`osd.traineddata` is not installed; poor pages are tried in all four directions \
                          (apt-get install tesseract-ocr-osd)";
            Layer { name: "orientation".into(), active: false, detail: detail.into() }
        };
        let second = match &self.second {
            Second::Waiting(_) | Second::Loaded(_) => {
                let detail = format!("{}, for poor pages", ppocr::NAME);
                Layer { name: "ppocr".into(), active: true, detail }
            }
            Second::Off(error) => {
                let hint = error.hint().map(|hint| format!(" ({hint})")).unwrap_or_default();
                let detail = format!("{}; poor pages are read by Tesseract alone{hint}", error.chain());
                Layer { name: "ppocr".into(), active: false, detail }
            }
        };
        vec![
            Layer { name: "tesseract".into(), active: true, detail: self.tesseract.name().to_owned() },
            orientation,
            second,
        ]
    }

    fn warm_up(&mut self) -> Result<()> {
        // Black bars on white: enough for every part of the engine to have been used once.
        let (width, height) = (240_usize, 60_usize);
        let pixels: Vec<u8> = (0..width * height)
            .map(|at| {
                let (x, y) = (at % width, at / width);
                if (20..40).contains(&y) && x % 12 < 5 { 0 } else { 255 }
            })
            .collect();
        let page = Grey::new(width as u32, height as u32, pixels)?;
        self.tesseract.read(&page, Some(300), tesseract::Segmentation::Auto)?;
        // Too little to tell; that it could be asked is all that matters.
        self.tesseract.orientation(&page, Some(300));
        Ok(())
    }

    /// The second engine, loaded when it is first needed: most children never need it, and the threads that it starts
    /// must be born inside the sandbox.
    fn second(&mut self) -> Option<&ppocr::PpOcr> {
        if let Second::Waiting(models) = &mut self.second {
            let models = std::mem::take(models);
            self.second = match ppocr::PpOcr::load(models, self.threads) {
                Ok(engine) => Second::Loaded(Box::new(engine)),
                Err(error) => Second::Off(error),
            };
        }
        match &self.second {
            Second::Loaded(engine) => Some(engine),
            Second::Waiting(_) | Second::Off(_) => None,
        }
    }

    /// Recognises one page and reports every try, so that whoever waits knows that it gets on.
    pub fn recognise(&mut self, scan: &Scan, sink: &mut dyn Sink) -> Result<()> {
        let again = self.again;
        let attempts = Attempts::new(self, scan)?;
        let recognition = if again { attempts.run_again(sink)? } else { attempts.run(sink)? };
        sink.put(Found::Recognised(recognition))
    }
}

/// The second engine.
enum Second {
    /// Its models are in memory.
    Waiting(Models),
    /// It can be used.
    Loaded(Box<ppocr::PpOcr>),
    /// Why it cannot.
    Off(Error),
}

/// The bytes of PP-OCR's models.
#[derive(Default)]
pub struct Models {
    detector: Vec<u8>,
    recogniser: Vec<u8>,
}

impl Models {
    /// Reads them from their folder.
    pub fn read(folder: &Path) -> Result<Self> {
        let read = |name: &str| {
            let path = folder.join(name);
            let file = File::open(&path).map_err(|e| {
                Error::missing_dependency(format!("cannot open the model `{}`", path.display()))
                    .with_source(e)
            })?;
            read_capped(file, MAX_MODEL_BYTES, name)
        };
        let [detector, recogniser] = PPOCR_MODELS;
        Ok(Self { detector: read(detector)?, recogniser: read(recogniser)? })
    }
}

impl Role for Recogniser {
    fn work(&mut self, _name: &str, work: Work, _file: Option<File>, sink: &mut dyn Sink) -> Result<()> {
        match work {
            Work::Recognise(scan) => self.recognise(&scan, sink),
            Work::Read { .. } | Work::Embed(_) => {
                Err(Error::bug("a child that recognises was asked for something else"))
            }
        }
    }
}

#[cfg(test)]
mod tests;

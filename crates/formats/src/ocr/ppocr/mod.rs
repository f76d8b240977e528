//! PP-OCRv6: a detector that finds lines and a recogniser that reads them, run by `rten`. Slower than Tesseract and
//! better on what is badly lit, crumpled or printed by a till.
//!
//! Its models are not part of docmill; `docmill models pull` gets them.

mod detect;
mod gaps;
mod lines;
mod recognise;

use std::sync::Arc;

use docmill_core::{Error, Result};
use rten::{RunOptions, ThreadPool};

use super::Models;
use super::reading::Reading;
use crate::shared::grey::Grey;

/// With its version.
pub(crate) const NAME: &str = "PP-OCRv6 small";

/// The two models.
pub(crate) struct PpOcr {
    detector: detect::Detector,
    recogniser: recognise::Recogniser,
}

/// A rectangle in pixels.
#[derive(Clone, Copy, PartialEq, Debug)]
struct Area {
    left: f32,
    top: f32,
    right: f32,
    bottom: f32,
}

impl Area {
    fn width(self) -> f32 {
        self.right - self.left
    }

    fn height(self) -> f32 {
        self.bottom - self.top
    }

    fn middle(self) -> f32 {
        f32::midpoint(self.top, self.bottom)
    }
}

impl PpOcr {
    /// Loads both models from their bytes, to be run in so many threads.
    pub(crate) fn load(models: Models, threads: usize) -> Result<Self> {
        let pool = Arc::new(ThreadPool::with_num_threads(threads.max(1)));
        let options = RunOptions::default().with_thread_pool(Some(pool));
        Ok(Self {
            detector: detect::Detector::load(models.detector, options.clone())?,
            recogniser: recognise::Recogniser::load(models.recogniser, options)?,
        })
    }

    /// Recognises a page whose lines are level.
    pub(crate) fn read(&self, page: &Grey) -> Result<Reading> {
        let areas = self.detector.find(page)?;
        let pieces = self.recogniser.read(page, &areas)?;
        Ok(lines::assemble(pieces))
    }
}

/// A model's error, in our words.
fn failed(error: &dyn std::fmt::Display) -> Error {
    Error::bug(format!("PP-OCR could not be run: {error}"))
}

//! Tesseract: the engine for everything that is printed well.

mod library;

use std::path::Path;

use docmill_core::Result;
use docmill_core::ocr::Word;

use self::library::{Api, Tesseract};
use super::reading::Reading;
use crate::shared::grey::Grey;

pub(crate) use self::library::Segmentation;

/// Tesseract with its models, ready to recognise.
pub(crate) struct Engine {
    text: Api,
    orientation: Option<Api>,
    name: String,
}

impl Engine {
    /// Loads the library and the models of `languages`. Orientation is told only where its model is installed.
    pub(crate) fn load(library: &Path, models: &Path, languages: &str) -> Result<Self> {
        let tesseract = Tesseract::load(library)?;
        let text = Api::new(&tesseract, models, languages)?;
        let orientation = match models.join("osd.traineddata").exists() {
            true => Some(Api::for_orientation(&tesseract, models)?),
            false => None,
        };
        let name = format!("tesseract {} {languages}", tesseract.version());
        Ok(Self { text, orientation, name })
    }

    /// With version and languages.
    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    /// Whether it can tell which way is up.
    pub(crate) fn knows_orientation(&self) -> bool {
        self.orientation.is_some()
    }

    /// By how many degrees clockwise the page must be turned to stand upright, if it can be told at all.
    pub(crate) fn orientation(&mut self, page: &Grey, dpi: Option<u32>) -> Option<(u32, f32)> {
        self.orientation.as_mut()?.orientation(page, dpi)
    }

    /// Recognises a page.
    pub(crate) fn read(&mut self, page: &Grey, dpi: Option<u32>, how: Segmentation) -> Result<Reading> {
        let mut words: Vec<Word> = Vec::new();
        let mut text = String::new();
        let mut line = 0;
        for raw in self.text.recognise(page, dpi, how)? {
            let piece = raw.text.trim();
            if piece.is_empty() {
                continue;
            }
            if !words.is_empty() {
                line += u32::from(raw.begins_line);
                text.push_str(match (raw.begins_paragraph, raw.begins_line) {
                    (true, _) => "\n\n",
                    (false, true) => "\n",
                    (false, false) => " ",
                });
            }
            text.push_str(piece);
            let [left, top, right, bottom] = raw.edges.map(|edge| edge.max(0) as u32);
            words.push(Word {
                text: piece.to_owned(),
                confidence: (raw.confidence / 100.0).clamp(0.0, 1.0),
                line,
                x: left,
                y: top,
                width: right.saturating_sub(left),
                height: bottom.saturating_sub(top),
            });
        }
        Ok(Reading { text, words })
    }
}

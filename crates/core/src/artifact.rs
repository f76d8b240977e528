//! What reading a document gives: its pages as text, with where each came from and how sure docmill is.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::id::{BlobKey, ContentHash};
use crate::ocr::RecognisedPage;
use crate::problem::Problem;

/// Where the text of a page comes from.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TextSource {
    /// The file itself holds the text.
    Native,
    /// Recognised from pixels.
    Ocr,
    /// There is none.
    None,
}

/// One page. Formats without pages give one.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Page {
    /// From 1.
    pub number: u32,
    /// Where the text comes from.
    pub source: TextSource,
    /// Why that source was chosen, in words.
    pub reason: String,
    /// 0 (guesswork) to 1 (certain); null where nothing was read.
    pub quality: Option<f32>,
    /// The text, lines separated by `\n`.
    pub text: String,
}

/// Everything that was read from one document; stored as `transcription-{hash}.json`.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Transcript {
    /// Version of this form; old ones must stay readable.
    pub v: u32,
    /// What the content is.
    pub media_type: String,
    /// ISO 639-3 code of the main language, where it could be told.
    pub language: Option<String>,
    /// Mean quality of the pages that have one.
    pub quality: Option<f32>,
    /// Author, title, dates and whatever else the file says of itself.
    pub metadata: BTreeMap<String, String>,
    /// In order.
    pub pages: Vec<Page>,
    /// What could not be read.
    pub problems: Vec<Problem>,
    /// How pages were recognised whose text comes from pixels, with the place of every word.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub recognised: Vec<RecognisedPage>,
}

impl Transcript {
    /// The current form.
    pub const VERSION: u32 = 1;

    /// The text of all pages, separated by form feeds as `pdftotext` does it.
    pub fn text(&self) -> String {
        let mut out = String::with_capacity(self.pages.iter().map(|p| p.text.len() + 1).sum());
        for (i, page) in self.pages.iter().enumerate() {
            if i > 0 {
                out.push('\u{c}');
            }
            out.push_str(&page.text);
        }
        out
    }

    /// How many words the pages hold.
    pub fn word_count(&self) -> u64 {
        self.pages.iter().map(|p| p.text.split_whitespace().count() as u64).sum()
    }
}

/// A produced blob, as the commit that makes it current names it.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Artifact {
    /// What it is: `transcription`, `page-1`, …
    pub name: String,
    /// Where it lies.
    pub key: BlobKey,
    /// Of its content.
    pub hash: ContentHash,
    /// Its length.
    pub bytes: u64,
    /// Its type.
    pub media_type: String,
}

/// The artifact name of a transcript.
pub const TRANSCRIPTION: &str = "transcription";

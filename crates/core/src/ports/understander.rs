//! Finds out what a document is and says, from what was read of it.

use crate::artifact::Transcript;
use crate::clock::Timestamp;
use crate::error::Result;
use crate::sketch::Sketch;
use crate::understanding::{Judgement, Understanding};

/// Understands documents. It only computes, in proportion to the text up to a limit: call it where it disturbs nobody.
pub trait Understander: Send + Sync {
    /// What its answers depend on beside the transcript; when it changes, old ones are not taken over.
    fn identity(&self) -> &str;

    /// What a document is and says that came as `name`; nothing in it was written after `now`. None of a document that
    /// has not a word.
    fn understand(&self, transcript: &Transcript, name: &str, now: Timestamp) -> Result<Option<Understood>>;

    /// A document cut into pieces that each say one thing, in its order, at most `most` of them. They are what search by
    /// meaning compares.
    fn pieces(&self, transcript: &Transcript, most: usize) -> Vec<Piece>;

    /// What is left of a text for telling which others are nearly the same; none of one without words.
    fn sketch(&self, transcript: &Transcript) -> Option<Sketch>;

    /// Texts whose meaning [`judge`](Self::judge) has to know, the same for every document: what kinds and labels are.
    fn descriptions(&self) -> Vec<String>;

    /// What the meaning of a text says of its document, where words do not tell: `descriptions` are the vectors of
    /// those, and `pieces` those of the first pieces of the text. None if it says nothing.
    fn judge(
        &self,
        transcript: &Transcript,
        descriptions: &[Vec<f32>],
        pieces: &[Vec<f32>],
    ) -> Result<Option<Judgement>>;
}

/// A piece of a document.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Piece {
    /// The page.
    pub page: u32,
    /// Where it begins in the text of the page, in bytes.
    pub start: usize,
    /// Where it ends.
    pub end: usize,
    /// What it says, with the heading that it stands under.
    pub text: String,
}

/// What was found out.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Understood {
    /// What the document is called. None: nobody could tell, and it waits for somebody who can.
    pub title: Option<String>,
    /// The rest.
    pub understanding: Understanding,
}

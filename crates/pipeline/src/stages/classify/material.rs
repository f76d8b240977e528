//! What a model is shown of a document: its text, or a picture of its first page where the text is in the pixels.
//! How pages are drawn for it is told in `asking`.

use bytes::Bytes;
use docmill_core::Result;
use docmill_core::artifact::Transcript;
use docmill_core::id::ContentHash;
use docmill_core::task::Lease;

use crate::stages::Context;
use crate::stages::extract::material::Source;

/// Of a text that is cut, so much of the whole comes from its end: signatures, totals, dates.
const FROM_END: usize = 4;

/// What stands where something was left out.
const GAP: &str = "\n[…]\n";

/// What is shown.
#[derive(Clone, PartialEq, Debug)]
pub(super) enum Shown {
    /// The text, or as much of it as is sent.
    Text(String),
    /// The first page.
    Picture,
}

impl Shown {
    /// What a model is shown of a document; nothing where there is nothing that it could take.
    pub(super) fn of(transcript: &Transcript, sees: bool, max_bytes: u64) -> Option<Self> {
        let text = transcript.text();
        let has_words = text.chars().any(char::is_alphanumeric);
        let is_image = transcript.media_type.starts_with("image/");
        if sees && (is_image || !has_words && is_drawn(transcript)) {
            return Some(Self::Picture);
        }
        has_words.then(|| Self::Text(excerpt(&text, usize::try_from(max_bytes).unwrap_or(usize::MAX))))
    }

    /// What an answer depends on.
    pub(super) fn hash(&self, content: &ContentHash) -> ContentHash {
        match self {
            Self::Text(text) => ContentHash::of(text.as_bytes()),
            Self::Picture => *content,
        }
    }

    /// In a word, for the fingerprint.
    pub(super) fn name(&self) -> &'static str {
        match self {
            Self::Text(_) => "text",
            Self::Picture => "picture",
        }
    }
}

/// Whether its pages can be drawn: readers give pages without text for nothing else.
fn is_drawn(transcript: &Transcript) -> bool {
    !transcript.pages.is_empty()
}

/// The beginning and the end of a text that is too long, without what no reader sees.
fn excerpt(text: &str, max_bytes: usize) -> String {
    let seen: String = text.chars().filter(|c| !c.is_control() || matches!(c, '\n' | '\t')).collect();
    if seen.len() <= max_bytes {
        return seen;
    }
    let end_from = seen.ceil_char_boundary(seen.len() - max_bytes / FROM_END);
    let begin_to = seen.floor_char_boundary(max_bytes - max_bytes / FROM_END);
    let (begin, _) = seen.split_at(begin_to);
    let (_, end) = seen.split_at(end_from.max(begin_to));
    format!("{begin}{GAP}{end}")
}

/// The first page as PNG.
pub(super) async fn picture(cx: &Context<'_>, lease: &Lease) -> Result<Bytes> {
    Source::Task(cx, lease).picture(1).await
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_text_keeps_its_beginning_and_its_end() {
        assert_eq!(excerpt("short\u{7} text", 100), "short text");
        let long = format!("BEGIN{}END", "é".repeat(10_000));
        let cut = excerpt(&long, 1_000);
        assert!(cut.starts_with("BEGIN") && cut.ends_with("END") && cut.contains(GAP));
        assert!(cut.len() <= 1_000 + GAP.len(), "{}", cut.len());
    }
}

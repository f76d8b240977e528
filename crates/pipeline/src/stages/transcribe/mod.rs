//! Bytes to text. A short document is one task; the pages of a long PDF are read in parts that are joined.

mod collect;
pub mod join;
pub mod part;
pub mod text;
mod understood;

use docmill_core::artifact::Transcript;
use docmill_core::error::ErrorKind;
use docmill_core::id::ContentHash;
use docmill_core::ingestion::Facts;
use docmill_core::ocr::{OcrMode, RecognisedPage};
use docmill_core::ports::understander::Understood;
use docmill_core::problem::{Problem, ResultCode};
use docmill_core::task::Lease;

use crate::deps::Deps;
use crate::plan::Outcome;
use crate::stages::Context;
use crate::stages::extract::schema_of;
use crate::stages::intake::document::too_deep;

pub(crate) use collect::{Collector, EMBEDDED_FILES, OcrNote};
pub(crate) use understood::understood;

/// Raise it when the same bytes and settings give other text than before: old results are not reused then.
const VERSION: u32 = 3;

/// Places of more words than this are not kept: they would be larger than any text.
const MAX_KEPT_WORDS: usize = 1_000_000;

/// What the text of a document depends on.
pub(crate) fn fingerprint(content: &ContentHash, deps: &Deps) -> ContentHash {
    let (limits, ocr) = (&deps.settings.limits, &deps.settings.ocr);
    let recogniser = if ocr.mode == OcrMode::Never { "nobody" } else { deps.ocr.identity() };
    let mut matters = format!(
        "pages={} text={} depth={} pixels={} ocr={} threshold={} by={}",
        limits.max_pages,
        limits.max_text_bytes,
        limits.max_markup_depth,
        limits.max_image_pixels,
        ocr.mode.name(),
        ocr.threshold,
        recogniser,
    );
    matters.push_str(&format!(" understood_by={}", deps.understander.identity()));
    let engines = deps.reader.identity();
    if !engines.is_empty() {
        matters.push_str(&format!(" read_by={engines}"));
    }
    docmill_core::fingerprint::fingerprint(text::KIND.as_str(), VERSION, &matters, &[*content])
}

/// What a transcript tells about its document, and what was understood of it if there was anything to understand.
pub(crate) fn facts(transcript: &Transcript, understood: Option<Understood>) -> Facts {
    let said = || transcript.metadata.get("title").and_then(|given| super::title(given));
    let (title, understanding) = match understood {
        Some(found) => (found.title, Some(found.understanding)),
        None => (said(), None),
    };
    Facts {
        media_type: Some(transcript.media_type.clone()),
        page_count: Some(transcript.pages.len() as u32),
        word_count: Some(transcript.word_count()),
        language: transcript.language.clone(),
        quality: transcript.quality,
        title,
        transcription: None,
        understanding,
    }
}

/// Whether files lie inside a document that has text of its own.
pub(crate) fn has_members(transcript: &Transcript) -> bool {
    transcript.metadata.contains_key(EMBEDDED_FILES)
}

/// Whether those files are unpacked next. Where the document lies too deep for that, they are named as missing instead.
pub(crate) fn unpack_next(
    cx: &Context<'_>,
    lease: &Lease,
    members: bool,
    problems: &mut Vec<Problem>,
) -> bool {
    let too_deep = if members { too_deep(cx, lease) } else { None };
    if let Some(error) = &too_deep {
        let message = format!("the files inside are left out: {}", error.message());
        problems.push(Problem::new(error.kind(), message));
    }
    members && too_deep.is_none()
}

/// What the reading of a text has come to. A model is asked next where there is one; otherwise what was understood says
/// whether a record is taken.
pub(crate) fn transcribed(
    cx: &Context<'_>,
    result: ResultCode,
    problems: Vec<Problem>,
    members: bool,
    facts: &Facts,
) -> Outcome {
    let schema = schema_of(cx, facts.understanding.as_ref());
    Outcome::Transcribed { result, problems, members, classify: cx.deps.llm.is_some(), schema }
}

/// The verdict on a transcript that no error ended. Pages of which none gives any text (a scan) are stored
/// well, but nothing can be found in them.
pub(crate) fn verdict(transcript: &Transcript) -> ResultCode {
    use docmill_core::artifact::TextSource;
    if !transcript.pages.is_empty() && transcript.pages.iter().all(|p| p.source == TextSource::None) {
        ResultCode::TextUnavailable
    } else {
        ResultCode::Success
    }
}

/// Forgets the places of words past the limit, and says so.
pub(crate) fn keep_words(recognised: &mut [RecognisedPage]) -> Option<Problem> {
    let mut kept = 0;
    let mut first_without = None;
    for page in recognised {
        kept += page.words.len();
        if kept > MAX_KEPT_WORDS {
            page.words = Vec::new();
            first_without.get_or_insert(page.number);
        }
    }
    let from = first_without?;
    let message =
        format!("places of words are kept for the first {MAX_KEPT_WORDS} words; the text is all there");
    Some(Problem::new(ErrorKind::LimitExceeded, message).on_page(from))
}

/// The mean quality of the pages that have one.
pub(crate) fn mean_quality(pages: &[docmill_core::artifact::Page]) -> Option<f32> {
    let known: Vec<f32> = pages.iter().filter_map(|p| p.quality).collect();
    if known.is_empty() { None } else { Some(known.iter().sum::<f32>() / known.len() as f32) }
}

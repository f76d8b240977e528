//! What a record is taken from: words with their places, texts, data inside. Where the words of a page were recognised, their
//! places lie with the text; where the file holds them, it is read once more, because pages that are shown are read in
//! another way than pages that are recognised.

use std::collections::BTreeMap;

use bytes::Bytes;
use docmill_core::artifact::{TextSource, Transcript};
use docmill_core::config::Settings;
use docmill_core::id::TenantId;
use docmill_core::limits::MIB;
use docmill_core::ocr::{OcrMode, RecognisedPage};
use docmill_core::ports::Ocr;
use docmill_core::ports::blobs::Content;
use docmill_core::ports::extractor::Material;
use docmill_core::ports::store::DocumentHead;
use docmill_core::task::Lease;
use docmill_core::wire::{Found, Want};
use docmill_core::words::PageWords;
use docmill_core::{Error, ErrorKind, Result};

use crate::blocking::{off_thread, read_content};
use crate::deps::Deps;
use crate::plan::is_limit;
use crate::stages::asking::pictures;
use crate::stages::reading::{self, INLINE, Readings};
use crate::stages::transcribe::has_members;
use crate::stages::{Context, document};

/// Where the words stand that the file itself holds.
pub(crate) const WORDS: Want = Want { words: true, ..Want::KIND };

/// Fields of a document stand on its first pages; of the others only the text is looked at.
const MAX_PAGES: u32 = 100;

/// Pages that are recognised although their text is there, if a record is doubtful: each takes a second or some.
const MAX_DOUBTED: usize = 5;

/// Pages of a text without places that are looked at.
const MAX_LAID_OUT: usize = 20;

/// A file of data that is looked at as a whole.
const MAX_DATA_BYTES: u64 = 32 * MIB;

/// Files inside a document that are looked at…
const MAX_ATTACHED: usize = 16;
/// …and the largest of them.
const MAX_ATTACHED_BYTES: usize = 4 << 20;

/// A document that can be read.
pub(crate) enum Source<'a> {
    /// That of a task.
    Task(&'a Context<'a>, &'a Lease),
    /// One that somebody asks about.
    Asked(&'a Deps, TenantId, &'a DocumentHead),
}

impl<'a> Source<'a> {
    pub(crate) fn deps(&self) -> &'a Deps {
        match self {
            Self::Task(cx, _) => cx.deps,
            Self::Asked(deps, ..) => deps,
        }
    }

    pub(crate) fn tenant(&self) -> TenantId {
        match self {
            Self::Task(_, lease) => lease.subject.tenant_id,
            Self::Asked(_, tenant, _) => *tenant,
        }
    }

    pub(crate) fn progress(&self) {
        if let Self::Task(cx, _) = self {
            cx.progress();
        }
    }

    async fn content(&self) -> Result<Content> {
        let key = match self {
            Self::Task(_, lease) => &document(lease)?.key,
            Self::Asked(.., head) => &head.key,
        };
        self.deps().blobs.open(key, INLINE).await
    }

    async fn open(&self, want: Want) -> Result<Readings<'a>> {
        match self {
            Self::Task(cx, lease) => reading::open(cx, lease, want).await,
            Self::Asked(deps, ..) => self.open_with(&deps.settings, deps.ocr.as_ref(), want).await,
        }
    }

    /// A page as PNG, as large as it is sent to a model.
    pub(in crate::stages) async fn picture(&self, page: u32) -> Result<Bytes> {
        let mut width = pictures::MAX_SIDE;
        loop {
            let readings = self.open(pictures::want(page, width)).await?;
            let picture = pictures::drawn(readings, || self.progress()).await?;
            let Some(narrower) = pictures::narrower(&picture) else { return Ok(picture.png) };
            width = narrower;
        }
    }

    /// Opens it under other settings, for other recognisers. A task that waits for them says so all the time: it is not one
    /// that hangs.
    async fn open_with(&self, settings: &Settings, ocr: &'a dyn Ocr, want: Want) -> Result<Readings<'a>> {
        match self {
            Self::Task(cx, lease) => reading::open_with(cx, lease, settings, ocr, want).await,
            Self::Asked(deps, tenant, head) => {
                let (reader, content) = (deps.reader.as_ref(), self.content().await?);
                let name = head.name.clone();
                reading::open_unstored(reader, ocr, settings, *tenant, name, content, want).await
            }
        }
    }
}

/// Everything but what people have corrected, and the pages of it that nobody can draw.
pub(crate) async fn material(source: &Source<'_>, transcript: &Transcript) -> Result<(Material, Vec<u32>)> {
    let is_native = |page: &docmill_core::artifact::Page| page.source == TextSource::Native;
    let mut native = Vec::new();
    if transcript.pages.iter().any(is_native) {
        let want = Want { pages: Some((1, MAX_PAGES)), ..WORDS };
        native = native_words(source.open(want).await?, || source.progress()).await?;
    }
    let mut data = Vec::new();
    if transcript.media_type.contains("xml") || transcript.media_type == "text/vcard" {
        let content = source.content().await?;
        if content.len() <= MAX_DATA_BYTES {
            let what = "a file of data".to_owned();
            data.push(
                off_thread(content.len(), move || read_content(&content, MAX_DATA_BYTES, &what)).await?,
            );
        }
    }
    if has_members(transcript) {
        data.extend(attached(source).await?);
    }
    let mut pages = words_of(transcript, native);
    let mut undrawn = Vec::new();
    if pages.is_empty() && !transcript.media_type.contains("xml") {
        let texts = transcript.pages.iter().filter(|page| is_native(page)).take(MAX_LAID_OUT);
        pages.extend(texts.map(|page| PageWords::typed(page.number, &page.text)));
        undrawn.extend(pages.iter().map(|page| page.number));
    }
    let material = Material {
        pages,
        texts: transcript.pages.iter().map(|page| (page.number, page.text.clone())).collect(),
        data,
        metadata: transcript.metadata.clone(),
        media_type: transcript.media_type.clone(),
        corrections: Vec::new(),
    };
    Ok((material, undrawn))
}

/// The same document seen in another way, and whether its words were recognised the first time too: then the other
/// recognisers look at the same pixels. Where the file says what the words are, they are recognised as pixels, because what
/// a file says and what it shows may differ. Nothing where there is no other way to see it, and nothing where every page was
/// read by the engine that had read it before: that it says the same twice is no evidence.
pub(crate) async fn seen_again(
    source: &Source<'_>,
    transcript: &Transcript,
    first: &Material,
) -> Result<Option<(Material, bool)>> {
    let (deps, pages) = (source.deps(), &transcript.pages);
    let scanned = pages.iter().any(|page| page.source == TextSource::Ocr);
    let is_native = pages.iter().any(|page| page.source == TextSource::Native);
    let ocr = if scanned { &deps.ocr_again } else { &deps.ocr };
    let drawn = !first.pages.is_empty() && pages.len() <= MAX_DOUBTED;
    let off = deps.settings.ocr.mode == OcrMode::Never || ocr.available().is_err();
    if !(scanned || is_native) || !drawn || off {
        return Ok(None);
    }
    let mut settings = deps.settings.as_ref().clone();
    settings.ocr.mode = OcrMode::Always;
    let mut readings = source.open_with(&settings, ocr.as_ref(), Want::TEXT).await?;
    let mut seen = Material { pages: Vec::new(), texts: Vec::new(), ..first.clone() };
    let mut is_other = false;
    while let Some(found) = readings.next().await? {
        source.progress();
        if let Found::Recognised(recognised) = found
            && recognised.page.inline.is_none()
        {
            is_other |= !is_the_same_look(transcript, &recognised.page);
            seen.texts.push((recognised.page.number, recognised.text));
            seen.pages.push(PageWords::from(&recognised.page));
        }
    }
    seen.pages.sort_by_key(|page| page.number);
    seen.texts.sort_by_key(|(number, _)| *number);
    Ok(is_other.then_some((seen, scanned)))
}

/// Whether the engine that gives these words gave some of the page before, too. Where it had found none, whatever it finds
/// in better pixels is new.
fn is_the_same_look(transcript: &Transcript, again: &RecognisedPage) -> bool {
    // Version and languages follow the name.
    let name = |page: &RecognisedPage| page.engine.split(' ').next().map(str::to_owned);
    let known = transcript.recognised.iter();
    let mut of_page = known.filter(|known| known.number == again.number && known.inline.is_none());
    of_page.any(|known| name(known) == name(again) && !known.words.is_empty())
}

/// The words that a file holds, page by page.
pub(crate) async fn native_words(mut readings: Readings<'_>, progress: impl Fn()) -> Result<Vec<PageWords>> {
    let mut native = Vec::new();
    loop {
        match readings.next().await {
            Ok(Some(Found::Words(words))) => {
                progress();
                native.push(words);
            }
            Ok(Some(_)) => {}
            Ok(None) => return Ok(native),
            // A format whose pages nobody draws has no places either; its text is had.
            Err(error) if is_the_contents_own(&error) => return Ok(native),
            Err(error) => return Err(error),
        }
    }
}

/// The words that were recognised where the text of a page was, otherwise those that the file holds.
pub(crate) fn words_of(transcript: &Transcript, native: Vec<PageWords>) -> Vec<PageWords> {
    let mut words: BTreeMap<u32, PageWords> = native.into_iter().map(|page| (page.number, page)).collect();
    for page in &transcript.pages {
        match page.source {
            TextSource::Ocr => {
                let recognised = transcript.recognised.iter().find(|known| known.number == page.number);
                words.extend(recognised.map(|recognised| (page.number, PageWords::from(recognised))));
            }
            // What stands in the file there was judged to be no text.
            TextSource::None => drop(words.remove(&page.number)),
            TextSource::Native => {}
        }
    }
    words.into_values().collect()
}

/// The small files inside a document.
async fn attached(source: &Source<'_>) -> Result<Vec<Bytes>> {
    let mut readings = source.open(Want::CHILDREN).await?;
    let mut attached = Attached::default();
    loop {
        match readings.next().await {
            Ok(Some(found)) => {
                source.progress();
                attached.take(found);
            }
            Ok(None) => break,
            Err(error) if is_the_contents_own(&error) => break,
            Err(error) => return Err(error),
        }
    }
    Ok(attached.files.into_iter().map(|(_, bytes)| Bytes::from(bytes)).collect())
}

/// Gathers the small files inside a document as they come.
#[derive(Default)]
pub(crate) struct Attached {
    /// Their names and bytes.
    pub(crate) files: Vec<(String, Vec<u8>)>,
    open: Option<(String, Vec<u8>)>,
}

impl Attached {
    /// Takes what is of such a file, and gives back what is not.
    pub(crate) fn take(&mut self, found: Found) -> Option<Found> {
        match found {
            Found::ChildBegin { path, .. } if self.files.len() < MAX_ATTACHED => {
                self.open = Some((path, Vec::new()));
            }
            Found::ChildChunk(chunk) => match &mut self.open {
                Some((_, bytes)) if bytes.len() + chunk.len() <= MAX_ATTACHED_BYTES => bytes.extend(&chunk),
                _ => self.open = None,
            },
            Found::ChildEnd => self.files.extend(self.open.take()),
            Found::ChildFailed { .. } => self.open = None,
            other => return Some(other),
        }
        None
    }
}

/// Whether the content is to blame, so that the error is its description.
pub(crate) fn is_the_contents_own(error: &Error) -> bool {
    is_limit(error.kind())
        || matches!(
            error.kind(),
            ErrorKind::UnsupportedFormat
                | ErrorKind::EmptyFile
                | ErrorKind::Encrypted
                | ErrorKind::Corrupt
                | ErrorKind::Timeout
                | ErrorKind::OutOfMemory
                | ErrorKind::ChildCrashed
        )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_without_places_keeps_its_rows_and_columns() {
        let page = PageWords::typed(1, "Invoice  R-1\n\nTotal    12.00");
        page.check().unwrap();
        let words: Vec<&str> = page.words.iter().map(|word| word.text.as_str()).collect();
        assert_eq!(words, ["Invoice", "R-1", "Total", "12.00"]);
        let [invoice, number, total, amount] = page.words.as_slice() else { panic!("{words:?}") };
        assert!((number.x - amount.x).abs() < f32::EPSILON, "one under the other");
        assert!((invoice.y - number.y).abs() < f32::EPSILON && total.y > number.y);
    }
}

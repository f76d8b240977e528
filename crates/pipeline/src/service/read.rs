//! `read` and `examine`: what docmill reads from a file, with nothing stored.

use std::collections::BTreeMap;

use bytes::Bytes;
use docmill_core::answer::{ReadAnswer, ReadChild};
use docmill_core::artifact::{TextSource, Transcript};
use docmill_core::config::Settings;
use docmill_core::error::ErrorNote;
use docmill_core::id::TenantId;
use docmill_core::ports::blobs::Content;
use docmill_core::ports::{Ocr, Reader};
use docmill_core::problem::{Problem, ResultCode};
use docmill_core::wire::{Found, Kind, Want};
use docmill_core::words::PageWords;
use docmill_core::{Error, Result};

use crate::stages::asking::pictures;
use crate::stages::extract::material::{Attached, WORDS, is_the_contents_own, native_words, words_of};
use crate::stages::reading;
use crate::stages::transcribe::{Collector, OcrNote, verdict};

/// Everything but the members' bytes.
const READ: Want = Want { listing: true, ..Want::TEXT };

/// Text, and the files inside.
const EXAMINE: Want = Want { children: true, ..Want::TEXT };

/// A document as it is looked at to take a record from it.
#[derive(Debug)]
pub struct Examined {
    /// How the reading ended.
    pub result: ResultCode,
    /// What it says.
    pub transcript: Transcript,
    /// Where its words stand, page by page, as far as that is known.
    pub words: Vec<PageWords>,
    /// The small files inside it, with their names.
    pub attached: Vec<(String, Vec<u8>)>,
}

/// Reads `content` with nothing but a reader and a recogniser: no store is needed. An error of the content is part of
/// the answer; one of docmill is not.
pub async fn read(
    reader: &dyn Reader,
    ocr: &dyn Ocr,
    settings: &Settings,
    tenant: TenantId,
    path: String,
    content: Content,
) -> Result<ReadAnswer> {
    let mut children = Vec::new();
    let name = name_of(&path);
    let (result, transcript) = transcribe(reader, ocr, settings, tenant, name, content, READ, |found| {
        if let Found::ChildListed { path, media_type, bytes, .. } = found {
            children.push(ReadChild { name: path, media_type, bytes });
            if children.len() as u64 > settings.limits.max_entries {
                return Err(Error::limit_exceeded(format!(
                    "more members than the limit of {}",
                    settings.limits.max_entries
                ))
                .with_hint("raise `limits.max_entries`"));
            }
            return Ok(None);
        }
        Ok(Some(found))
    })
    .await?;
    Ok(answer(path, result, transcript, children))
}

/// Reads `content` as [`read`] does, with the places of its words and the files inside it.
pub async fn examine(
    reader: &dyn Reader,
    ocr: &dyn Ocr,
    settings: &Settings,
    tenant: TenantId,
    path: &str,
    content: Content,
) -> Result<Examined> {
    let mut attached = Attached::default();
    let (name, again) = (name_of(path), content.clone());
    let aside = |found| Ok(attached.take(found));
    let (result, transcript) =
        transcribe(reader, ocr, settings, tenant, name, content, EXAMINE, aside).await?;
    let mut native = Vec::new();
    if transcript.pages.iter().any(|page| page.source == TextSource::Native) {
        let name = name_of(path);
        let readings = reading::open_unstored(reader, ocr, settings, tenant, name, again, WORDS).await?;
        native = native_words(readings, || {}).await?;
    }
    let words = words_of(&transcript, native);
    Ok(Examined { result, transcript, words, attached: attached.files })
}

/// Draws the pages of `content` that are shown to a model which sees, when it is asked for fields: those whose text is in
/// their pixels. With their numbers, as PNG.
pub async fn pictures(
    reader: &dyn Reader,
    ocr: &dyn Ocr,
    settings: &Settings,
    tenant: TenantId,
    path: &str,
    content: Content,
    transcript: &Transcript,
) -> Result<Vec<(u32, Bytes)>> {
    let page = async |number| {
        let mut width = pictures::MAX_SIDE;
        loop {
            let (name, want) = (name_of(path), pictures::want(number, width));
            let readings =
                reading::open_unstored(reader, ocr, settings, tenant, name, content.clone(), want).await?;
            let picture = pictures::drawn(readings, || {}).await?;
            let Some(narrower) = pictures::narrower(&picture) else { return Ok(picture.png) };
            width = narrower;
        }
    };
    let mut shown = Vec::new();
    for number in pictures::shown(transcript) {
        let Some(png) = pictures::if_any(page(number).await)? else { break };
        shown.push((number, png));
    }
    Ok(shown)
}

fn name_of(path: &str) -> String {
    path.rsplit('/').next().unwrap_or(path).to_owned()
}

/// Reads `content`; `aside` takes what it wants of the findings, and leaves the others to the transcript.
#[expect(clippy::too_many_arguments, reason = "what is read, with what, and what for")]
async fn transcribe(
    reader: &dyn Reader,
    ocr: &dyn Ocr,
    settings: &Settings,
    tenant: TenantId,
    name: String,
    content: Content,
    want: Want,
    mut aside: impl FnMut(Found) -> Result<Option<Found>>,
) -> Result<(ResultCode, Transcript)> {
    if content.is_empty() {
        let error = Error::empty_file("the file has no bytes");
        return Ok((ResultCode::of(error.kind()), unread("application/x-empty".into(), &error)));
    }
    let mut readings = reading::open_unstored(reader, ocr, settings, tenant, name, content, want).await?;
    let note = OcrNote::of(settings, ocr);
    let mut collector: Option<Collector<'_>> = None;
    let ended = loop {
        let found = match readings.next().await {
            Ok(Some(found)) => found,
            Ok(None) => break Ok(()),
            Err(error) => break Err(error),
        };
        let added = match (&mut collector, found) {
            (None, Found::Kind(kind)) => {
                collector = Some(Collector::new(kind, &settings.limits, note.clone()));
                Ok(())
            }
            (Some(collector), found) => match aside(found) {
                Ok(Some(found)) => collector.add(found),
                Ok(None) => Ok(()),
                Err(error) => Err(error),
            },
            (None, _) => Err(Error::bug("the reader did not say first what it reads")),
        };
        if let Err(error) = added {
            break Err(error);
        }
    };
    drop(readings);
    let mut collector = collector.unwrap_or_else(|| Collector::new(unknown(), &settings.limits, note));
    let stopped_by = match ended {
        Ok(()) => None,
        Err(error) if is_the_contents_own(&error) => {
            collector.ended_by(&error);
            Some(error.kind())
        }
        Err(error) => return Err(error),
    };
    let unsupported = !collector.is_supported();
    let transcript = collector.finish();
    let result = match stopped_by {
        Some(kind) => ResultCode::of(kind),
        None if unsupported => ResultCode::Unsupported,
        None => verdict(&transcript),
    };
    Ok((result, transcript))
}

fn answer(path: String, result: ResultCode, transcript: Transcript, children: Vec<ReadChild>) -> ReadAnswer {
    ReadAnswer {
        path,
        text: transcript.text(),
        media_type: transcript.media_type,
        result,
        problems: transcript.problems,
        page_count: Some(transcript.pages.len() as u32).filter(|pages| *pages > 0),
        language: transcript.language,
        quality: transcript.quality,
        metadata: transcript.metadata,
        pages: transcript.pages,
        children,
    }
}

fn unread(media_type: String, error: &Error) -> Transcript {
    let problem = Problem::from(&ErrorNote::from(error));
    Transcript {
        v: Transcript::VERSION,
        media_type,
        language: None,
        quality: None,
        metadata: BTreeMap::new(),
        pages: Vec::new(),
        problems: vec![problem],
        recognised: Vec::new(),
    }
}

/// What is said of content whose reader died before it said anything.
fn unknown() -> Kind {
    Kind { media_type: "application/octet-stream".into(), format: None, container: false }
}

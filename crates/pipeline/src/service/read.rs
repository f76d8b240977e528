//! `read`: what docmill reads from a file, with nothing stored.

use docmill_core::answer::{ReadAnswer, ReadChild};
use docmill_core::artifact::Transcript;
use docmill_core::config::Settings;
use docmill_core::error::ErrorNote;
use docmill_core::id::TenantId;
use docmill_core::ports::blobs::Content;
use docmill_core::ports::{Ocr, Reader};
use docmill_core::problem::{Problem, ResultCode};
use docmill_core::wire::{Found, Kind, Want};
use docmill_core::{Error, ErrorKind, Result};

use crate::plan::is_limit;
use crate::stages::reading;
use crate::stages::transcribe::{Collector, OcrNote, verdict};

/// Everything but the members' bytes.
const WANT: Want = Want { listing: true, ..Want::TEXT };

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
    if content.is_empty() {
        let error = Error::empty_file("the file has no bytes");
        return Ok(unread(path, "application/x-empty".into(), &error));
    }
    let name = path.rsplit('/').next().unwrap_or(&path).to_owned();
    let mut readings = reading::open_unstored(reader, ocr, settings, tenant, name, content, WANT).await?;
    let note = OcrNote::of(settings, ocr);
    let mut children = Vec::new();
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
            (_, Found::ChildListed { path, media_type, bytes, .. }) => {
                children.push(ReadChild { name: path, media_type, bytes });
                if children.len() as u64 > settings.limits.max_entries {
                    Err(Error::limit_exceeded(format!(
                        "more members than the limit of {}",
                        settings.limits.max_entries
                    ))
                    .with_hint("raise `limits.max_entries`"))
                } else {
                    Ok(())
                }
            }
            (Some(collector), found) => collector.add(found),
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
    Ok(answer(path, result, transcript, children))
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

fn unread(path: String, media_type: String, error: &Error) -> ReadAnswer {
    let problem = Problem::from(&ErrorNote::from(error));
    let transcript = Transcript {
        v: Transcript::VERSION,
        media_type,
        language: None,
        quality: None,
        metadata: std::collections::BTreeMap::new(),
        pages: Vec::new(),
        problems: vec![problem],
        recognised: Vec::new(),
    };
    answer(path, ResultCode::of(error.kind()), transcript, Vec::new())
}

/// What is said of content whose reader died before it said anything.
fn unknown() -> Kind {
    Kind { media_type: "application/octet-stream".into(), format: None, container: false }
}

/// Whether the content is to blame, so that the error is its description.
fn is_the_contents_own(error: &Error) -> bool {
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

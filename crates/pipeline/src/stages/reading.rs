//! How tasks use the sandboxed reader: the same content, limits and allowance for every stage. Pages that come as
//! pixels are recognised on the way, so that whoever asks sees text alone.

use std::sync::Arc;
use std::time::Duration;

use docmill_core::clock::{Clock, Timestamp};
use docmill_core::config::Settings;
use docmill_core::id::{IngestionId, TenantId};
use docmill_core::limits::KIB;
use docmill_core::ocr::OcrMode;
use docmill_core::ports::blobs::Content;
use docmill_core::ports::reader::{Allowance, Finding, Findings, ReadJob};
use docmill_core::ports::spans::{Span, SpanId, Spans};
use docmill_core::ports::{Ocr, Reader};
use docmill_core::task::{Lease, Size};
use docmill_core::wire::{Found, Want};
use docmill_core::{Error, ErrorKind, Result};

use super::recognising::{Recognised, Recognising};
use super::{Context, document};

/// Content up to here travels inside a frame, together with that of other small documents.
pub(crate) const INLINE: u64 = 64 * KIB;

/// A large task may take so many times as long without progress as a small one.
const LARGE_PATIENCE: u32 = 5;

/// Starts reading the content of a task.
pub(crate) async fn open<'a>(cx: &'a Context<'a>, lease: &Lease, want: Want) -> Result<Readings<'a>> {
    open_with(cx, lease, &cx.deps.settings, cx.deps.ocr.as_ref(), want).await
}

/// The same under other settings, or for other recognisers.
pub(crate) async fn open_with<'a>(
    cx: &'a Context<'a>,
    lease: &Lease,
    settings: &Settings,
    ocr: &'a dyn Ocr,
    want: Want,
) -> Result<Readings<'a>> {
    let traced = Traced::begin(cx, lease);
    let content = cx.deps.blobs.open(&document(lease)?.key, INLINE).await?;
    cx.progress();
    let job = ReadJob {
        tenant: lease.subject.tenant_id,
        name: lease.subject.name.clone(),
        content,
        want: with_ocr(want, settings, ocr),
        limits: settings.limits.for_reader(),
        allowance: allowance(settings, lease.size),
        alone: lease.alone(),
    };
    let recognising = Recognising::new(ocr, &job, Some(cx));
    let findings = cx.deps.reader.read(job).await?;
    Ok(Readings { findings, recognising, waiting: Some(cx), ended: None, traced })
}

/// Starts reading content that is not stored.
pub(crate) async fn open_unstored<'a>(
    reader: &dyn Reader,
    ocr: &'a dyn Ocr,
    settings: &Settings,
    tenant: TenantId,
    name: String,
    content: Content,
    want: Want,
) -> Result<Readings<'a>> {
    let job = ReadJob {
        tenant,
        name,
        content,
        want: with_ocr(want, settings, ocr),
        limits: settings.limits.for_reader(),
        allowance: allowance(settings, Size::Small),
        alone: false,
    };
    let recognising = Recognising::new(ocr, &job, None);
    let findings = reader.read(job).await?;
    Ok(Readings { findings, recognising, waiting: None, ended: None, traced: None })
}

/// Pixels are asked for only where text is, and where somebody can recognise it.
fn with_ocr(want: Want, settings: &Settings, ocr: &dyn Ocr) -> Want {
    let mode = if want.text && ocr.available().is_ok() { settings.ocr.mode } else { OcrMode::Never };
    Want { ocr: mode, ..want }
}

/// Why pages without text stay so, if nothing is recognised.
pub(crate) fn ocr_is_off(settings: &Settings, ocr: &dyn Ocr) -> Option<String> {
    if settings.ocr.mode == OcrMode::Never {
        return Some("OCR is off (`never`)".to_owned());
    }
    let error = ocr.available().err()?;
    Some(match error.hint() {
        Some(hint) => format!("OCR is off: {error} ({hint})"),
        None => format!("OCR is off: {error}"),
    })
}

/// What is found, one by one. Dropping it stops the reading.
pub(crate) struct Readings<'a> {
    findings: Findings,
    recognising: Recognising<'a>,
    /// How the reading ended; what was recognised until then is still to be told.
    ended: Option<Result<()>>,
    /// The task that waits for it, if it is one.
    waiting: Option<&'a Context<'a>>,
    traced: Option<Traced>,
}

impl Readings<'_> {
    /// The next thing; none at a good end, the reader's error at a bad one. Instead of a scan comes what it says.
    pub(crate) async fn next(&mut self) -> Result<Option<Found>> {
        loop {
            let reads_on = self.ended.is_none() && self.recognising.has_room();
            tokio::select! {
                biased;
                Some(done) = self.recognising.next() => match done {
                    Recognised::Text(recognition) => return Ok(Some(Found::Recognised(recognition))),
                    Recognised::Failed(problem) => return Ok(Some(Found::Warn(problem))),
                    Recognised::Stopped(error) => return Err(error),
                },
                finding = self.findings.recv(), if reads_on => match finding {
                    Some(Finding::Found(Found::Scan(scan))) => self.recognising.begin(scan),
                    Some(Finding::Found(found)) => return Ok(Some(found)),
                    Some(Finding::Waiting) => {
                        if let Some(task) = self.waiting {
                            task.progress();
                        }
                    }
                    Some(Finding::End(result)) => {
                        if let (Some(traced), Err(error)) = (&mut self.traced, &result) {
                            traced.error = Some(error.kind());
                        }
                        self.ended = Some(result);
                    }
                    None => self.ended = Some(Err(Error::unavailable("the reader stopped without saying why"))),
                },
                else => return self.ended.take().unwrap_or(Ok(())).map(|()| None),
            }
        }
    }
}

/// The span of a reading, which ends when the reading is dropped.
struct Traced {
    spans: Arc<dyn Spans>,
    clock: Arc<dyn Clock>,
    trace: IngestionId,
    id: SpanId,
    parent: SpanId,
    began_at: Timestamp,
    began: Duration,
    bytes: u64,
    error: Option<ErrorKind>,
}

impl Traced {
    /// None if nobody wants spans.
    fn begin(cx: &Context<'_>, lease: &Lease) -> Option<Self> {
        let spans = Arc::clone(cx.deps.spans.as_ref()?);
        let clock = Arc::clone(&cx.deps.clock);
        let (began_at, began) = (clock.now(), clock.monotonic());
        Some(Self {
            spans,
            clock,
            trace: lease.subject.ingestion_id,
            id: SpanId::of_read(lease.task_id, lease.epoch, began),
            parent: SpanId::of_task(lease.task_id, lease.epoch),
            began_at,
            began,
            bytes: lease.subject.document.as_ref().map_or(0, |document| document.bytes),
            error: None,
        })
    }
}

impl Drop for Traced {
    fn drop(&mut self) {
        self.spans.ended(Span {
            trace: self.trace,
            id: self.id,
            parent: Some(self.parent),
            name: "read".into(),
            began_at: self.began_at,
            duration: self.clock.monotonic().saturating_sub(self.began),
            error: self.error,
            attributes: vec![("docmill.bytes", self.bytes.to_string())],
        });
    }
}

fn allowance(settings: &Settings, size: Size) -> Allowance {
    let sandbox = &settings.sandbox;
    let (patience, memory_bytes) = match size {
        Size::Small => (1, sandbox.memory_bytes),
        Size::Large => (LARGE_PATIENCE, sandbox.memory_bytes_large),
    };
    Allowance {
        cpu_without_progress: sandbox.cpu_without_progress * patience,
        wall_without_progress: sandbox.wall_without_progress * patience,
        memory_bytes,
    }
}

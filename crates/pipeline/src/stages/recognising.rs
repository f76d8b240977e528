//! Scans of one document on their way through OCR, a few at a time.
//!
//! A reader that hands over scans faster than they are recognised waits: what is in memory is bounded by what is
//! worked on.

use docmill_core::error::ErrorNote;
use docmill_core::id::TenantId;
use docmill_core::ocr::{Recognition, Scan};
use docmill_core::ports::Ocr;
use docmill_core::ports::ocr::OcrJob;
use docmill_core::ports::reader::{Allowance, Finding, ReadJob};
use docmill_core::problem::Problem;
use docmill_core::wire::Found;
use docmill_core::{Error, ErrorKind, Result};
use futures::StreamExt as _;
use futures::future::BoxFuture;
use futures::stream::FuturesUnordered;

use super::Context;

/// The scans of one document.
pub(super) struct Recognising<'a> {
    ocr: &'a dyn Ocr,
    tenant: TenantId,
    name: String,
    allowance: Allowance,
    /// The task that waits for it, if it is one.
    waiting: Option<&'a Context<'a>>,
    under_way: FuturesUnordered<BoxFuture<'a, Recognised>>,
}

/// What became of a scan.
pub(super) enum Recognised {
    /// Its text.
    Text(Recognition),
    /// It could not be recognised; the others can.
    Failed(Problem),
    /// Nothing is recognised now: the whole document must wait.
    Stopped(Error),
}

impl<'a> Recognising<'a> {
    pub(super) fn new(ocr: &'a dyn Ocr, job: &ReadJob, waiting: Option<&'a Context<'a>>) -> Self {
        Self {
            ocr,
            tenant: job.tenant,
            name: job.name.clone(),
            allowance: job.allowance,
            waiting,
            under_way: FuturesUnordered::new(),
        }
    }

    /// Whether another scan may be begun.
    pub(super) fn has_room(&self) -> bool {
        self.under_way.len() < self.ocr.at_once()
    }

    /// Begins one.
    pub(super) fn begin(&self, scan: Scan) {
        let (number, ocr, waiting) = (scan.number, self.ocr, self.waiting);
        let job = OcrJob { tenant: self.tenant, name: self.name.clone(), scan, allowance: self.allowance };
        self.under_way.push(Box::pin(async move {
            match recognise(ocr, job, waiting).await {
                Ok(recognition) => Recognised::Text(recognition),
                Err(error) if is_the_pages_own(error.kind()) => {
                    let problem = Problem::from(&ErrorNote::from(&error)).on_page(number);
                    Recognised::Failed(problem)
                }
                Err(error) => Recognised::Stopped(error),
            }
        }));
    }

    /// The next that is done; none while nothing is under way.
    pub(super) async fn next(&mut self) -> Option<Recognised> {
        self.under_way.next().await
    }
}

async fn recognise(ocr: &dyn Ocr, job: OcrJob, waiting: Option<&Context<'_>>) -> Result<Recognition> {
    let (number, inline) = (job.scan.number, job.scan.inline);
    let mut findings = ocr.recognise(job).await?;
    let mut recognised = None;
    loop {
        match findings.recv().await {
            Some(Finding::Found(Found::Recognised(recognition))) => recognised = Some(recognition),
            Some(Finding::Found(_) | Finding::Waiting) => {
                if let Some(task) = waiting {
                    task.progress();
                }
            }
            Some(Finding::End(result)) => {
                result?;
                let mut recognition =
                    recognised.ok_or_else(|| Error::bug("a page was recognised without a result"))?;
                // Whatever the child says: it is this page.
                (recognition.page.number, recognition.page.inline) = (number, inline);
                return Ok(recognition);
            }
            None => return Err(Error::unavailable("the recogniser stopped without saying why")),
        }
    }
}

/// Whether the pixels are to blame, so that the other pages can go on.
fn is_the_pages_own(kind: ErrorKind) -> bool {
    matches!(
        kind,
        ErrorKind::Timeout
            | ErrorKind::OutOfMemory
            | ErrorKind::ChildCrashed
            | ErrorKind::Corrupt
            | ErrorKind::LimitExceeded
            | ErrorKind::Bug
    )
}

//! A recogniser that sees in every scan the words it was told.

use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use async_trait::async_trait;
use docmill_core::ocr::{RecognisedPage, Recognition, Try, Word};
use docmill_core::ports::Ocr;
use docmill_core::ports::ocr::OcrJob;
use docmill_core::ports::reader::{Finding, Findings};
use docmill_core::wire::{Found, Layer};
use docmill_core::{Error, ErrorKind, Result};
use tokio::sync::mpsc;

#[derive(Default)]
pub(crate) struct FakeOcr {
    /// What is seen on every page, and how well; nothing means that there is no OCR.
    pub(crate) sees: Mutex<Option<(String, f32)>>,
    /// The kind of error that pages of this number end with.
    pub(crate) fails_on: Mutex<Option<(u32, ErrorKind)>>,
    pub(crate) recognised: AtomicUsize,
    /// Who recognises, if words have places.
    pub(crate) engine: Mutex<Option<&'static str>>,
    /// For so long a page waits for a child.
    pub(crate) queue: Mutex<Duration>,
}

impl FakeOcr {
    pub(crate) fn see(&self, text: &str, quality: f32) {
        *self.sees.lock().unwrap() = Some((text.to_owned(), quality));
    }

    fn sight(&self) -> Result<(String, f32)> {
        let missing = || Error::missing_dependency("no glasses").with_hint("buy some");
        self.sees.lock().unwrap().clone().ok_or_else(missing)
    }
}

/// The same after a while, in which it says that it waits.
fn queued(mut findings: Findings, queue: Duration) -> Findings {
    let (sink, later) = mpsc::channel(4);
    tokio::spawn(async move {
        for _ in 0..queue.as_secs() / 10 {
            tokio::time::sleep(Duration::from_secs(10)).await;
            if sink.send(Finding::Waiting).await.is_err() {
                return;
            }
        }
        while let Some(finding) = findings.recv().await {
            if sink.send(finding).await.is_err() {
                return;
            }
        }
    });
    later
}

#[async_trait]
impl Ocr for FakeOcr {
    fn available(&self) -> Result<()> {
        self.sight().map(drop)
    }

    fn identity(&self) -> &'static str {
        "fake"
    }

    fn at_once(&self) -> usize {
        2
    }

    async fn recognise(&self, job: OcrJob) -> Result<Findings> {
        let (text, quality) = self.sight()?;
        self.recognised.fetch_add(1, Ordering::SeqCst);
        let (sink, findings) = mpsc::channel(4);
        let scan = job.scan;
        let mut fails_on = self.fails_on.lock().unwrap();
        let failed = fails_on.filter(|(page, _)| *page == scan.number);
        // What is away comes back.
        if matches!(failed, Some((_, ErrorKind::Unavailable))) {
            *fails_on = None;
        }
        drop(fails_on);
        let end = if let Some((_, kind)) = failed {
            Err(Error::new(kind, "the page is too much"))
        } else {
            let tried = Try {
                engine: "fake".into(),
                steps: Vec::new(),
                quality: Some(quality),
                characters: text.len() as u32,
                chosen: true,
            };
            let engine = *self.engine.lock().unwrap();
            let word = |text: &str| Word {
                text: text.to_owned(),
                x: 1,
                y: 1,
                width: 10,
                height: 10,
                confidence: quality,
                line: 1,
            };
            let words = engine.map(|_| text.split_whitespace().map(word).collect()).unwrap_or_default();
            let page = RecognisedPage {
                // Not believed: the page is known already.
                number: 99,
                inline: None,
                engine: engine.unwrap_or("fake").into(),
                turned: 0,
                width: scan.width,
                height: scan.height,
                dpi: scan.dpi,
                quality: Some(quality),
                words,
                tries: vec![tried],
            };
            let recognition = Recognition { text, language: Some("eng".into()), page };
            sink.try_send(Finding::Found(Found::Tried)).unwrap();
            sink.try_send(Finding::Found(Found::Recognised(recognition))).unwrap();
            Ok(())
        };
        sink.try_send(Finding::End(end)).unwrap();
        let queue = *self.queue.lock().unwrap();
        if !queue.is_zero() {
            return Ok(queued(findings, queue));
        }
        Ok(findings)
    }

    async fn engines(&self) -> Result<Vec<Layer>> {
        Ok(Vec::new())
    }

    async fn drain(&self) {}

    async fn shutdown(&self) {}
}

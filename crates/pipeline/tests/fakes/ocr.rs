//! A recogniser that sees in every scan the words it was told.

use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use async_trait::async_trait;
use docmill_core::ocr::{RecognisedPage, Recognition, Try};
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
            let page = RecognisedPage {
                // Not believed: the page is known already.
                number: 99,
                inline: None,
                engine: "fake".into(),
                turned: 0,
                width: scan.width,
                height: scan.height,
                dpi: scan.dpi,
                quality: Some(quality),
                words: Vec::new(),
                tries: vec![tried],
            };
            let recognition = Recognition { text, language: Some("eng".into()), page };
            sink.try_send(Finding::Found(Found::Tried)).unwrap();
            sink.try_send(Finding::Found(Found::Recognised(recognition))).unwrap();
            Ok(())
        };
        sink.try_send(Finding::End(end)).unwrap();
        Ok(findings)
    }

    async fn engines(&self) -> Result<Vec<Layer>> {
        Ok(Vec::new())
    }

    async fn drain(&self) {}

    async fn shutdown(&self) {}
}

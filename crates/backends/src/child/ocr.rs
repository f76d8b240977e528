//! Children with the role `ocr`, as `Ocr`; and what stands in for them where there is nothing to recognise with.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use docmill_core::clock::Clock;
use docmill_core::ports::Ocr;
use docmill_core::ports::ocr::OcrJob;
use docmill_core::ports::reader::Findings;
use docmill_core::wire::Layer;
use docmill_core::{Error, Result};

use super::pool::ChildPool;
use super::settings::PoolSettings;

/// The layers of the sandbox are told by the readers; these are the engines' own.
const ENGINES: &[&str] = &["tesseract", "orientation", "ppocr"];

/// Recognises pages in sandboxed children.
#[derive(Debug)]
pub struct OcrPool {
    pool: ChildPool,
    identity: String,
    missing: Vec<Layer>,
}

impl OcrPool {
    /// Starts a pool on the current tokio runtime. `identity` is everything about the engines that text depends on,
    /// `missing` what was wanted and is not there.
    pub fn start(
        settings: PoolSettings,
        clock: Arc<dyn Clock>,
        identity: String,
        missing: Vec<Layer>,
    ) -> Result<Arc<dyn Ocr>> {
        // A page takes a second, and that is not slow: nobody is let past it, and warm engines are kept.
        let settings = PoolSettings {
            max_detached: 0,
            slow_after: Duration::MAX,
            slow_after_cpu: Duration::MAX,
            frame_max_orders: 1,
            ..settings
        };
        Ok(Arc::new(Self { pool: ChildPool::start(settings, clock)?, identity, missing }))
    }
}

#[async_trait]
impl Ocr for OcrPool {
    fn available(&self) -> Result<()> {
        Ok(())
    }

    fn identity(&self) -> &str {
        &self.identity
    }

    fn at_once(&self) -> usize {
        self.pool.settings().max_children
    }

    async fn recognise(&self, job: OcrJob) -> Result<Findings> {
        self.pool.submit(job.into())
    }

    async fn engines(&self) -> Result<Vec<Layer>> {
        let layers = self.pool.inspect().await?;
        let engines = layers.into_iter().filter(|layer| ENGINES.contains(&layer.name.as_str()));
        Ok(engines.chain(self.missing.iter().cloned()).collect())
    }

    async fn drain(&self) {
        self.pool.drain();
    }

    async fn shutdown(&self) {
        self.pool.shutdown().await;
    }
}

/// No OCR, and why.
#[derive(Debug)]
pub struct NoOcr {
    missing: String,
    hint: String,
}

impl NoOcr {
    /// Says what is missing and how to get it.
    pub fn new(missing: impl Into<String>, hint: impl Into<String>) -> Arc<dyn Ocr> {
        Arc::new(Self { missing: missing.into(), hint: hint.into() })
    }

    fn error(&self) -> Error {
        Error::missing_dependency(self.missing.clone()).with_hint(self.hint.clone())
    }
}

#[async_trait]
impl Ocr for NoOcr {
    fn available(&self) -> Result<()> {
        Err(self.error())
    }

    fn identity(&self) -> &'static str {
        "none"
    }

    fn at_once(&self) -> usize {
        1
    }

    async fn recognise(&self, _job: OcrJob) -> Result<Findings> {
        Err(self.error())
    }

    async fn engines(&self) -> Result<Vec<Layer>> {
        Err(self.error())
    }

    async fn drain(&self) {}

    async fn shutdown(&self) {}
}

//! Files read without a data directory, for the commands that store nothing.

use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use bytes::Bytes;
use docmill_core::answer::ReadAnswer;
use docmill_core::artifact::Transcript;
use docmill_core::clock::Clock;
use docmill_core::config::{OcrSettings, Settings};
use docmill_core::id::TenantId;
use docmill_core::limits::{KIB, Limits, read_capped};
use docmill_core::ocr::OcrMode;
use docmill_core::ports::blobs::Content;
use docmill_core::ports::{Ocr, Reader};
use docmill_core::{Error, Result};
use docmill_pipeline::service::Examined;
use futures::{Stream, StreamExt};
use tokio::sync::OnceCell;
use uuid::Uuid;

use crate::context::Context;
use crate::ingest::walk::show;
use crate::wire;

/// Content up to here travels to the child in a frame with others.
const INLINE: u64 = 64 * KIB;

/// Files that are read at once; more than there are children, so that small ones can share a frame.
const AT_ONCE: usize = 32;

// When text in pictures and scans is recognised. No comment for clap, which would take it for that of the command.
#[derive(Debug, clap::Args)]
pub(super) struct When {
    /// When to recognise text in pictures and scans; the setting `ocr.mode` if not given
    #[arg(long, value_name = "WHEN", value_parser = ["auto", "never", "always"])]
    ocr: Option<String>,
}

/// What files are read with.
pub(super) struct Reading {
    reader: Arc<dyn Reader>,
    ocr: Arc<dyn Ocr>,
    /// For pages that were of no use when they were first read; started when the first is met.
    second: OnceCell<Arc<dyn Ocr>>,
    clock: Arc<dyn Clock>,
    settings: Settings,
}

impl Reading {
    /// Starts what is needed.
    pub(super) async fn start(cx: &Context, when: &When) -> Result<Self> {
        Self::with(cx, when, cx.settings.as_ref().clone()).await
    }

    /// Starts what reads pages quickly: one run of the first engine, however poor the letters are. Whoever finds out that
    /// they are of no use asks for more with [`Reading::examine_again`].
    pub(super) async fn start_quick(cx: &Context, when: &When) -> Result<Self> {
        let mut settings = cx.settings.as_ref().clone();
        settings.ocr.threshold = 0.0;
        Self::with(cx, when, settings).await
    }

    async fn with(cx: &Context, when: &When, mut settings: Settings) -> Result<Self> {
        if let Some(mode) = &when.ocr {
            settings.ocr.mode = mode_of(mode)?;
        }
        let reader = wire::reader(&settings, &cx.clock).await?;
        let ocr = wire::ocr(&settings, &cx.clock)?;
        if settings.ocr.mode == OcrMode::Always {
            // Whoever insists on it wants to know at once that it cannot be had.
            ocr.available()?;
        }
        Ok(Self { reader, ocr, second: OnceCell::new(), clock: Arc::clone(&cx.clock), settings })
    }

    /// Reads files, in the order given, whatever comes first.
    pub(super) fn all<'a>(
        &'a self,
        files: &'a [PathBuf],
    ) -> impl Stream<Item = Result<ReadAnswer>> + Unpin + 'a {
        Box::pin(futures::stream::iter(files).map(|path| self.one(path)).buffered(AT_ONCE))
    }

    async fn one(&self, path: &Path) -> Result<ReadAnswer> {
        let content = self.content(path).await?;
        let (reader, ocr, tenant) = (self.reader.as_ref(), self.ocr.as_ref(), TenantId(Uuid::nil()));
        let shown = path.to_string_lossy().into_owned();
        docmill_pipeline::service::read(reader, ocr, &self.settings, tenant, shown, content).await
    }

    /// Reads a file with the places of its words and the files inside it, and gives its own bytes too if they are few.
    pub(super) async fn examine(&self, path: &Path) -> Result<(Examined, Option<Bytes>)> {
        self.examined(path, self.ocr.as_ref()).await
    }

    /// The same, with pages recognised in another way: cleaner pixels, another engine.
    pub(super) async fn examine_again(&self, path: &Path) -> Result<(Examined, Option<Bytes>)> {
        let mut settings = self.settings.clone();
        settings.ocr.threshold = OcrSettings::default().threshold;
        let start = || async { wire::ocr_again(&settings, &self.clock) };
        let ocr = self.second.get_or_try_init(start).await?;
        self.examined(path, ocr.as_ref()).await
    }

    async fn examined(&self, path: &Path, ocr: &dyn Ocr) -> Result<(Examined, Option<Bytes>)> {
        let content = self.content(path).await?;
        let (reader, tenant) = (self.reader.as_ref(), TenantId(Uuid::nil()));
        let bytes = match &content {
            Content::Inline(bytes) => Some(bytes.clone()),
            Content::File(..) => None,
        };
        let shown = path.to_string_lossy();
        let examined =
            docmill_pipeline::service::examine(reader, ocr, &self.settings, tenant, &shown, content).await?;
        Ok((examined, bytes))
    }

    /// The pages of a file, as it was read, that are shown to a model which sees.
    pub(super) async fn pictures(&self, path: &Path, transcript: &Transcript) -> Result<Vec<(u32, Bytes)>> {
        let (reader, ocr) = (self.reader.as_ref(), self.ocr.as_ref());
        let (content, tenant, shown) =
            (self.content(path).await?, TenantId(Uuid::nil()), path.to_string_lossy());
        docmill_pipeline::service::pictures(reader, ocr, &self.settings, tenant, &shown, content, transcript)
            .await
    }

    async fn content(&self, path: &Path) -> Result<Content> {
        let owned = path.to_owned();
        let limits = self.settings.limits.clone();
        let opened = tokio::task::spawn_blocking(move || open(&owned, &limits));
        opened.await.map_err(|e| Error::bug("opening a file was cut short").with_source(e))?
    }

    /// Ends the children.
    pub(super) async fn stop(self) {
        self.reader.shutdown().await;
        self.ocr.shutdown().await;
        if let Some(second) = self.second.get() {
            second.shutdown().await;
        }
    }
}

fn mode_of(name: &str) -> Result<OcrMode> {
    let found = OcrMode::ALL.iter().copied().find(|mode| mode.name() == name);
    found.ok_or_else(|| Error::invalid_request(format!("`--ocr {name}`: neither auto, never nor always")))
}

fn open(path: &Path, limits: &Limits) -> Result<Content> {
    let failed = |e: io::Error| {
        let missing = e.kind() == io::ErrorKind::NotFound;
        let what = if missing { "does not exist" } else { "cannot be read" };
        Error::unreadable(format!("`{}` {what}", show(path))).with_source(e)
    };
    let file = File::open(path).map_err(failed)?;
    let metadata = file.metadata().map_err(failed)?;
    if metadata.is_dir() {
        return Err(Error::unreadable(format!("`{}` is a folder", show(path)))
            .with_hint("name files; `docmill ingest` takes folders"));
    }
    if metadata.is_file() && metadata.len() > INLINE {
        let mut head = vec![0; 512];
        let got = std::os::unix::fs::FileExt::read_at(&file, &mut head, 0).map_err(failed)?;
        limits.check_receive(&show(path), metadata.len(), head.get(..got).unwrap_or_default())?;
        return Ok(Content::File(Arc::new(file), metadata.len()));
    }
    // Pipes have no length: what comes is read, up to the limit of a document.
    let bytes = read_capped(file, limits.max_document_bytes, &format!("`{}`", show(path)))?;
    Ok(Content::Inline(bytes.into()))
}

//! `docmill read`: stateless, nothing is stored.

use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use docmill_core::answer::ReadAnswer;
use docmill_core::config::Settings;
use docmill_core::id::TenantId;
use docmill_core::limits::{KIB, read_capped};
use docmill_core::ocr::OcrMode;
use docmill_core::ports::blobs::Content;
use docmill_core::ports::{Ocr, Reader};
use docmill_core::text::shown;
use docmill_core::{Error, Result};
use futures::StreamExt;
use uuid::Uuid;

use crate::context::{Context, Exit, report};
use crate::ingest::walk::show;
use crate::terminal::{count, size, table};
use crate::wire;

/// Content up to here travels to the child in a frame with others.
const INLINE: u64 = 64 * KIB;

/// Files that are read at once; more than there are children, so that small ones can share a frame.
const AT_ONCE: usize = 32;

/// Print what docmill reads from files; nothing is stored
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// Files to read
    #[arg(required = true, value_name = "FILE")]
    files: Vec<PathBuf>,
    /// Print the text alone
    #[arg(long)]
    text: bool,
    /// When to recognise text in pictures and scans; the setting `ocr.mode` if not given
    #[arg(long, value_name = "WHEN", value_parser = ["auto", "never", "always"])]
    ocr: Option<String>,
}

impl Args {
    pub(super) async fn run(self, cx: &Context) -> Result<Exit> {
        let mut settings = cx.settings.as_ref().clone();
        if let Some(mode) = &self.ocr {
            settings.ocr.mode = mode_of(mode)?;
        }
        let reader = wire::reader(&settings, &cx.clock).await?;
        let ocr = wire::ocr(&settings, &cx.clock)?;
        if settings.ocr.mode == OcrMode::Always {
            // Whoever insists on it wants to know at once that it cannot be had.
            ocr.available()?;
        }
        let with = With { reader: reader.as_ref(), ocr: ocr.as_ref(), settings: &settings };
        let outcome = self.print_all(cx, &with).await;
        reader.shutdown().await;
        ocr.shutdown().await;
        outcome
    }

    /// In the order given, whatever comes first.
    async fn print_all(&self, cx: &Context, with: &With<'_>) -> Result<Exit> {
        let mut exit = Exit::Ok;
        let mut answers = futures::stream::iter(&self.files).map(|path| read(with, path)).buffered(AT_ONCE);
        while let Some(answer) = answers.next().await {
            match answer {
                Ok(answer) if self.text => text(cx, &answer)?,
                Ok(answer) if cx.terminal.json => cx.terminal.object(&answer)?,
                Ok(answer) => cx.terminal.line(&human(&answer))?,
                Err(error) => {
                    report(&error);
                    exit = Exit::Error;
                }
            }
        }
        Ok(exit)
    }
}

/// What files are read with.
struct With<'a> {
    reader: &'a dyn Reader,
    ocr: &'a dyn Ocr,
    settings: &'a Settings,
}

fn mode_of(name: &str) -> Result<OcrMode> {
    let found = OcrMode::ALL.iter().copied().find(|mode| mode.name() == name);
    found.ok_or_else(|| Error::invalid_request(format!("`--ocr {name}`: neither auto, never nor always")))
}

async fn read(with: &With<'_>, path: &Path) -> Result<ReadAnswer> {
    let owned = path.to_owned();
    let limits = with.settings.limits.clone();
    let opened = tokio::task::spawn_blocking(move || open(&owned, &limits));
    let content = opened.await.map_err(|e| Error::bug("opening a file was cut short").with_source(e))??;
    let shown = path.to_string_lossy().into_owned();
    let tenant = TenantId(Uuid::nil());
    docmill_pipeline::service::read(with.reader, with.ocr, with.settings, tenant, shown, content).await
}

fn open(path: &Path, limits: &docmill_core::limits::Limits) -> Result<Content> {
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

/// The text as it is, ended by one line end.
fn text(cx: &Context, answer: &ReadAnswer) -> Result<()> {
    cx.terminal.bytes(answer.text.as_bytes())?;
    if answer.text.is_empty() || answer.text.ends_with('\n') { Ok(()) } else { cx.terminal.bytes(b"\n") }
}

fn human(answer: &ReadAnswer) -> String {
    let mut facts = vec![format!("{}: {}, {}", shown(&answer.path), answer.media_type, answer.result.name())];
    facts.extend(answer.page_count.map(|n| format!("{} pages", count(u64::from(n)))));
    facts.extend(answer.language.clone());
    facts.extend(answer.quality.map(|q| format!("quality {q:.2}")));
    let mut out = facts.join(", ");
    for (key, value) in &answer.metadata {
        out.push_str(&format!("\n  {} = {}", shown(key), shown(value)));
    }
    for problem in &answer.problems {
        let page = problem.page.map(|n| format!(" (page {n})")).unwrap_or_default();
        out.push_str(&format!("\n  problem{page}: {}", shown(&problem.message)));
    }
    if !answer.children.is_empty() {
        let rows: Vec<Vec<String>> = answer
            .children
            .iter()
            .map(|child| vec![size(child.bytes), child.media_type.clone(), child.name.clone()])
            .collect();
        out.push_str(&format!("\n{}", table(&["SIZE", "TYPE", "MEMBER"], &rows)));
    }
    if !answer.text.is_empty() {
        out.push_str(&format!("\n\n{}", answer.text.trim_end()));
    }
    out
}

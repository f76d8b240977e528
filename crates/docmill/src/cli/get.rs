//! `docmill get`.

use std::io::{self, Write};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

use docmill_core::ports::blobs::Content;
use docmill_core::{Error, Result};
use serde_json::json;

use crate::context::{Context, Exit};
use crate::ingest::walk::show;
use crate::session::{Original, Session};

/// Bytes of one piece.
const PIECE: usize = 256 << 10;

/// Write the original of a document to a file
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// Of a document or an ingestion
    id: String,
    /// Where to; `-` is standard output
    #[arg(short, long, value_name = "FILE")]
    output: PathBuf,
    /// Write over a file that is there
    #[arg(long)]
    force: bool,
}

impl Args {
    pub(super) async fn run(self, cx: &Context) -> Result<Exit> {
        let session = Session::open(&cx.settings, &cx.clock, "get").await?;
        let written = self.write(cx, &session).await;
        let closed = session.close(std::time::Duration::ZERO).await;
        let bytes = written?;
        closed?;
        if self.output != Path::new("-") {
            if cx.terminal.json {
                cx.terminal.object(&json!({ "path": self.output.to_string_lossy(), "bytes": bytes }))?;
            } else {
                cx.terminal.note(&format!("{bytes} bytes written to {}", show(&self.output)));
            }
        }
        Ok(Exit::Ok)
    }

    async fn write(&self, cx: &Context, session: &Session) -> Result<u64> {
        let original = session.original(&self.id).await?;
        if self.output == Path::new("-") {
            return pour(original, |piece| cx.terminal.bytes(piece)).await;
        }
        // Written beside its place and put there when it is whole, so that a broken-off copy never looks whole.
        let folder = match self.output.parent() {
            Some(parent) if !parent.as_os_str().is_empty() => parent,
            _ => Path::new("."),
        };
        let failed = |e: io::Error| {
            Error::unavailable(format!("cannot write `{}`", show(&self.output))).with_source(e)
        };
        if !self.force && std::fs::symlink_metadata(&self.output).is_ok() {
            return Err(self.is_there());
        }
        let mut part = tempfile::Builder::new().prefix(".docmill-").tempfile_in(folder).map_err(failed)?;
        let bytes = pour(original, |piece| part.write_all(piece).map_err(failed)).await?;
        part.as_file().sync_all().map_err(failed)?;
        let mode = std::os::unix::fs::PermissionsExt::from_mode(0o644);
        part.as_file().set_permissions(mode).map_err(failed)?;
        if self.force {
            part.persist(&self.output).map_err(|e| failed(e.error))?;
        } else {
            part.persist_noclobber(&self.output).map_err(|e| match e.error.kind() {
                io::ErrorKind::AlreadyExists => self.is_there(),
                _ => failed(e.error),
            })?;
        }
        Ok(bytes)
    }

    fn is_there(&self) -> Error {
        Error::conflict(format!("`{}` is there already", show(&self.output)))
            .with_hint("`--force` writes over it")
    }
}

async fn pour(original: Original, mut to: impl FnMut(&[u8]) -> Result<()>) -> Result<u64> {
    let mut written = 0;
    match original {
        Original::Here(Content::Inline(bytes)) => {
            to(&bytes)?;
            written = bytes.len() as u64;
        }
        Original::Here(Content::File(file, length)) => {
            let mut buffer = vec![0; PIECE];
            while written < length {
                let got = file
                    .read_at(&mut buffer, written)
                    .map_err(|e| Error::unavailable("cannot read a blob").with_source(e))?;
                if got == 0 {
                    return Err(Error::corrupt(format!(
                        "a blob ends at {written} bytes instead of {length}"
                    )));
                }
                to(&buffer[..got])?;
                written += got as u64;
            }
        }
        Original::There(mut download) => {
            while let Some(piece) = download.next().await? {
                to(&piece)?;
                written += piece.len() as u64;
            }
        }
    }
    Ok(written)
}

//! Bytes of a document to a file, for the commands that have some.

use std::io::{self, Write};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

use docmill_core::ports::blobs::Content;
use docmill_core::{Error, Result};
use serde_json::json;

use crate::context::Context;
use crate::ingest::walk::show;
use crate::session::Original;

/// Bytes of one piece.
const PIECE: usize = 256 << 10;

// Where they go. No comment for clap, which would take it for that of the command.
#[derive(Debug, clap::Args)]
pub(super) struct To {
    /// Where to; `-` is standard output
    #[arg(short, long, value_name = "FILE")]
    output: PathBuf,
    /// Write over a file that is there
    #[arg(long)]
    force: bool,
}

impl To {
    /// Says how much was written, unless that is what was written.
    pub(super) fn say(&self, cx: &Context, bytes: u64) -> Result<()> {
        if self.output == Path::new("-") {
            return Ok(());
        }
        if cx.terminal.json {
            return cx.terminal.object(&json!({ "path": self.output.to_string_lossy(), "bytes": bytes }));
        }
        cx.terminal.note(&format!("{bytes} bytes written to {}", show(&self.output)));
        Ok(())
    }

    /// Refuses a place that is taken, before anything is made for it.
    pub(super) fn check(&self) -> Result<()> {
        if self.output == Path::new("-") || self.force || std::fs::symlink_metadata(&self.output).is_err() {
            return Ok(());
        }
        Err(self.is_there())
    }

    /// Writes them beside their place and puts them there when they are whole, so that a broken-off copy never looks
    /// whole.
    pub(super) async fn write(&self, cx: &Context, original: Original) -> Result<u64> {
        if self.output == Path::new("-") {
            return pour(original, |piece| cx.terminal.bytes(piece)).await;
        }
        let folder = match self.output.parent() {
            Some(parent) if !parent.as_os_str().is_empty() => parent,
            _ => Path::new("."),
        };
        let failed = |e: io::Error| {
            Error::unavailable(format!("cannot write `{}`", show(&self.output))).with_source(e)
        };
        self.check()?;
        let mut part = tempfile::Builder::new().prefix(".docmill-").tempfile_in(folder).map_err(failed)?;
        let bytes = pour(original, |piece| part.write_all(piece).map_err(failed)).await?;
        part.as_file().sync_all().map_err(failed)?;
        let mode = std::os::unix::fs::PermissionsExt::from_mode(cx.file_mode);
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

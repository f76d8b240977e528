//! `docmill bench unpack`: containers through the reader in a sandboxed child; what comes out is counted and dropped.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use docmill_core::id::TenantId;
use docmill_core::ports::Reader;
use docmill_core::ports::blobs::Content;
use docmill_core::ports::reader::{Allowance, Finding, Findings, ReadJob};
use docmill_core::wire::{Found, Want};
use docmill_core::{Error, Result};
use serde::Serialize;
use uuid::Uuid;

use crate::context::Context;
use crate::wire;

/// Unpack containers and drop what comes out
#[derive(Debug, clap::Args)]
pub(super) struct Unpack {
    /// Containers
    #[arg(required = true, value_name = "FILE")]
    files: Vec<PathBuf>,
}

/// What came out of a container.
#[derive(Default, Serialize)]
struct Unpacked {
    packed_bytes: u64,
    bytes: u64,
    members: u64,
    refused: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<String>,
}

impl Unpack {
    pub(super) async fn run(self, cx: &Context) -> Result<()> {
        let reader = wire::reader(&cx.settings, &cx.clock).await?;
        let mut outcome = Ok(());
        for path in &self.files {
            outcome = match unpack(cx, reader.as_ref(), path).await {
                Ok(unpacked) => cx.terminal.object(&unpacked),
                Err(error) => Err(error),
            };
            if outcome.is_err() {
                break;
            }
        }
        reader.shutdown().await;
        outcome
    }
}

async fn unpack(cx: &Context, reader: &dyn Reader, path: &Path) -> Result<Unpacked> {
    let owned = path.to_owned();
    let opened = tokio::task::spawn_blocking(move || {
        let file = File::open(&owned)?;
        file.metadata().map(|metadata| (file, metadata.len()))
    });
    let failed = |e| Error::unreadable(format!("cannot open `{}`", path.display())).with_source(e);
    let (file, packed_bytes) = opened
        .await
        .map_err(|e| Error::bug("opening a file was cut short").with_source(e))?
        .map_err(failed)?;
    let sandbox = &cx.settings.sandbox;
    let job = ReadJob {
        tenant: TenantId(Uuid::nil()),
        name: path.file_name().unwrap_or_default().to_string_lossy().into_owned(),
        content: Content::File(Arc::new(file), packed_bytes),
        want: Want::CHILDREN,
        limits: cx.settings.limits.for_reader(),
        allowance: Allowance {
            cpu_without_progress: sandbox.cpu_without_progress,
            // A busy machine is no fault of the archive.
            wall_without_progress: sandbox.wall_without_progress.max(Duration::from_mins(10)),
            memory_bytes: sandbox.memory_bytes,
        },
        alone: false,
    };
    let findings = reader.read(job).await?;
    // Where tasks run that unpack for good: the main thread would have to be woken for every member.
    tokio::spawn(count(findings, packed_bytes))
        .await
        .map_err(|e| Error::bug("counting members was cut short").with_source(e))?
}

async fn count(mut findings: Findings, packed_bytes: u64) -> Result<Unpacked> {
    let mut unpacked = Unpacked { packed_bytes, ..Unpacked::default() };
    while let Some(finding) = findings.recv().await {
        match finding {
            Finding::Found(Found::ChildChunk(chunk)) => unpacked.bytes += chunk.len() as u64,
            Finding::Found(Found::ChildEnd) => unpacked.members += 1,
            Finding::Found(Found::ChildFailed { .. }) => unpacked.refused += 1,
            Finding::Found(_) | Finding::Waiting => {}
            Finding::End(result) => {
                unpacked.error = result.err().map(|e| e.to_string());
                return Ok(unpacked);
            }
        }
    }
    Err(Error::unavailable("the reader is gone"))
}

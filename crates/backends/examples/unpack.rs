//! Unpacks containers through the reader in a sandboxed child, keeps nothing, and prints what came out: for measuring.
//!
//! `cargo run --release -p docmill-backends --example unpack -- DOCMILL FILE…`, where DOCMILL is the binary that the
//! child is started from. Prints a line of JSON for each file.
#![expect(clippy::print_stdout, reason = "printing is what this example is for")]

use std::ffi::OsString;
use std::fs::File;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use docmill_backends::child::{PoolSettings, ReaderPool};
use docmill_core::clock::SystemClock;
use docmill_core::id::TenantId;
use docmill_core::limits::{GIB, Limits};
use docmill_core::ports::Reader;
use docmill_core::ports::blobs::Content;
use docmill_core::ports::reader::{Allowance, Finding, ReadJob};
use docmill_core::wire::{Found, Want};
use docmill_core::{Error, Result};
use uuid::Uuid;

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<()> {
    let mut arguments = std::env::args_os().skip(1);
    let program = arguments.next().ok_or_else(|| Error::invalid_request("no binary of docmill is named"))?;
    let pool =
        ReaderPool::start(PoolSettings::new(program), Arc::new(SystemClock::new()), String::new()).await?;
    for path in arguments {
        println!("{}", unpack(pool.as_ref(), &path).await?);
    }
    pool.shutdown().await;
    Ok(())
}

async fn unpack(pool: &dyn Reader, path: &OsString) -> Result<serde_json::Value> {
    let path = Path::new(path);
    let failed = |e| Error::unreadable(format!("cannot open `{}`", path.display())).with_source(e);
    let file = File::open(path).map_err(failed)?;
    let length = file.metadata().map_err(failed)?.len();
    let job = ReadJob {
        tenant: TenantId(Uuid::nil()),
        name: path.file_name().unwrap_or_default().to_string_lossy().into_owned(),
        content: Content::File(Arc::new(file), length),
        want: Want::CHILDREN,
        limits: Limits::default().for_reader(),
        allowance: Allowance {
            cpu_without_progress: Duration::from_mins(1),
            wall_without_progress: Duration::from_mins(5),
            memory_bytes: GIB,
        },
        alone: false,
    };
    let begin = Instant::now();
    let mut findings = pool.read(job).await?;
    let (mut members, mut refused, mut bytes) = (0_u64, 0_u64, 0_u64);
    loop {
        match findings.recv().await {
            Some(Finding::Found(Found::ChildChunk(chunk))) => bytes += chunk.len() as u64,
            Some(Finding::Found(Found::ChildEnd)) => members += 1,
            Some(Finding::Found(Found::ChildFailed { .. })) => refused += 1,
            Some(Finding::Found(_) | Finding::Waiting) => {}
            Some(Finding::End(result)) => {
                result?;
                break;
            }
            None => return Err(Error::unavailable("the reader is gone")),
        }
    }
    Ok(serde_json::json!({
        "packed_bytes": length,
        "bytes": bytes,
        "members": members,
        "refused": refused,
        "wall_s": begin.elapsed().as_secs_f64(),
    }))
}

//! `docmill bench`: what the engine and the store cost by themselves, with tasks that do nothing; and what unpacking costs.
//!
//! No-op tasks go the whole way: queued, claimed under a lease, run, committed with their events and counters.

mod claims;
mod driven;
mod engine;
mod load;
mod unpack;

use std::sync::Arc;
use std::time::Duration;

use docmill_core::Result;
use docmill_core::config::{KindSettings, Settings};

use crate::context::{Context, Exit};
use crate::session::{Owner, Session};

/// Measure the engine with tasks that do nothing, and how fast containers are unpacked
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    #[command(subcommand)]
    what: What,
}

#[derive(Debug, clap::Subcommand)]
enum What {
    Engine(engine::Engine),
    Driven(driven::Driven),
    Claims(claims::Claims),
    Unpack(unpack::Unpack),
}

impl Args {
    pub(super) async fn run(self, cx: &Context) -> Result<Exit> {
        match self.what {
            What::Engine(engine) => engine.run(cx).await?,
            What::Driven(driven) => driven.run(cx).await?,
            What::Claims(claims) => claims.run(cx).await?,
            What::Unpack(unpack) => unpack.run(cx).await?,
        }
        Ok(Exit::Ok)
    }
}

/// Opens the store for a worker that takes `claim` tasks at once; with 1 it also runs one at a time.
async fn own(cx: &Context, claim: usize) -> Result<Owner> {
    let mut settings = Settings::clone(&cx.settings);
    settings.engine.claim_max = claim.max(1);
    if claim == 1 {
        let one = KindSettings { concurrency: Some(1), per_second: None };
        settings.engine.per_kind.insert(load::KIND.to_string(), one);
    }
    Session::own(&Arc::new(settings), &cx.clock, "bench").await
}

/// Closes the store, whatever came of the measuring.
async fn close<T>(owner: Owner, measured: Result<T>) -> Result<T> {
    owner.close(Duration::ZERO, std::future::ready(())).await?;
    measured
}

/// CPU time of this process.
fn cpu() -> Duration {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ProcessCPUTime);
    Duration::new(time.tv_sec.unsigned_abs(), time.tv_nsec.unsigned_abs() as u32)
}

fn ms(duration: Duration) -> f64 {
    duration.as_secs_f64() * 1000.0
}

/// The value that `fraction` of the sorted `values` do not exceed.
fn percentile(values: &[f64], fraction: f64) -> f64 {
    let index = (values.len() as f64 * fraction) as usize;
    values.get(index.min(values.len().saturating_sub(1))).copied().unwrap_or_default()
}

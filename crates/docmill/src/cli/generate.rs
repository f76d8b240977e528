//! `docmill generate`.

use std::path::PathBuf;

use docmill_core::Result;
use docmill_core::clock::{Entropy as _, SystemEntropy};
use docmill_core::generate::{Order, SampleKind};

use crate::context::{Context, Exit};
use crate::ingest::{self, Input, Request};
use crate::samples;

/// Seeds that are drawn are short enough to be typed again.
const SEEDS: f64 = 1_000_000_000.0;

/// Make realistic test documents, with the truth about each of them
///
/// Without `--out` they go through docmill as a batch, like `docmill ingest` does it. With `--out` they are written to a
/// folder: `docs/` has the documents, `documents.jsonl` everything that is true of each of them, `truth.json` the
/// fields of those that have a built-in schema (`truth/` the same for each schema), and `text/` their texts. The same
/// seed gives the same bytes, in the same version of docmill; vendors keep their look, whatever the seed.
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// How many, 1 to 1,000,000
    #[arg(long, value_name = "N")]
    count: u32,
    /// Decides about everything; drawn and printed if it is not given
    #[arg(long, value_name = "S")]
    seed: Option<u64>,
    /// A folder that is empty or not there yet, instead of the data directory
    #[arg(long, value_name = "DIR", conflicts_with_all = ["batch", "priority", "no_wait"])]
    out: Option<PathBuf>,
    /// Only these, in equal parts: invoice, receipt, contract, letter, mail, statement
    #[arg(long, value_name = "KIND,…", value_delimiter = ',')]
    kinds: Vec<String>,
    /// The part of what is on paper that comes as a scan or a photograph, 0 to 1
    #[arg(long, value_name = "FRACTION", default_value_t = Order::SCANS)]
    scans: f64,
    /// Name of the batch; with the same seed the same name resumes it and adds nothing twice
    #[arg(long, value_name = "NAME")]
    batch: Option<String>,
    /// Lower runs first, 0 to 99
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u8).range(0..=99))]
    priority: Option<u8>,
    /// Return when everything is received, without waiting for the work
    #[arg(long)]
    no_wait: bool,
}

impl Args {
    pub(super) fn settings(&self) -> Vec<(&'static str, &'static str, String)> {
        self.priority.iter().map(|n| ("engine.priority", "--priority", n.to_string())).collect()
    }

    pub(super) async fn run(self, cx: &Context) -> Result<Exit> {
        let kinds = self.kinds.iter().map(|kind| kind.parse::<SampleKind>()).collect::<Result<_>>()?;
        let seed = self.seed.unwrap_or_else(|| (SystemEntropy.fraction() * SEEDS) as u64);
        let order = Order { count: self.count, seed, kinds, scans: self.scans };
        order.check(Order::MAX)?;
        if self.seed.is_none() {
            cx.terminal.note(&format!("the seed is {seed}: `--seed {seed}` makes the same again"));
        }
        if let Some(folder) = self.out {
            return samples::write(cx, order, folder).await;
        }
        let request = Request {
            input: Input::Made(order),
            batch: self.batch,
            priority: cx.settings.engine.priority,
            wait: !self.no_wait,
        };
        ingest::run(cx, request).await
    }
}

//! `docmill bench driven`: queues and works when it is told, so that others can measure in between. It says that it is
//! ready, and answers each line with one of JSON.

use std::io::{self, BufRead as _, Read as _};
use std::time::Duration;

use docmill_core::id::BatchId;
use docmill_core::{Error, Result};
use serde::Serialize;

use super::load::{self, Shape};
use super::{cpu, ms};
use crate::context::Context;
use crate::session::Owner;

/// A line that tells more than this is a mistake.
const MAX_LINE: u64 = 100;

/// No-op tasks as told by lines on standard input: `queue N` and `work`
#[derive(Debug, clap::Args)]
pub(super) struct Driven {
    /// Tasks taken in one claim; 1 also runs one at a time
    #[arg(long, default_value_t = 256)]
    claim: usize,
    /// The capacity that a task takes; a slot has 32 units
    #[arg(long, default_value_t = 1)]
    units: u32,
    /// Milliseconds that a task waits
    #[arg(long, default_value_t = 0)]
    wait_ms: u64,
}

/// What was done about one line.
#[derive(Debug, Serialize)]
struct Told {
    phase: &'static str,
    cpu_ms: f64,
    elapsed_ms: f64,
}

impl Driven {
    pub(super) async fn run(self, cx: &Context) -> Result<()> {
        let owner = super::own(cx, self.claim).await?;
        let driven = self.obey(cx, &owner).await;
        super::close(owner, driven).await
    }

    async fn obey(&self, cx: &Context, owner: &Owner) -> Result<()> {
        cx.terminal.object(&"ready")?;
        let mut queued: Option<BatchId> = None;
        while let Some(told) = next_line().await? {
            let (cpu_before, began) = (cpu(), cx.clock.monotonic());
            let phase = match told.split_whitespace().collect::<Vec<_>>()[..] {
                ["queue", tasks] => {
                    let tasks = tasks.parse().map_err(|e| {
                        Error::invalid_request(format!("`{tasks}` is not a number of tasks")).with_source(e)
                    })?;
                    let shape = Shape { units: self.units, wait: Duration::from_millis(self.wait_ms) };
                    let deps = owner.service().deps();
                    queued = Some(load::queue(deps, owner.tenant(), tasks, shape).await?);
                    "queued"
                }
                ["work"] => {
                    let batch = queued.take().ok_or_else(|| {
                        Error::invalid_request("there is nothing to work on; say `queue N` first")
                    })?;
                    let deps = owner.service().deps();
                    owner.start_engine(load::engine_options(deps))?;
                    load::ended(deps, owner.tenant(), batch).await?;
                    "worked"
                }
                _ => {
                    return Err(Error::invalid_request(format!("`{told}` is neither `queue N` nor `work`")));
                }
            };
            cx.terminal.object(&Told {
                phase,
                cpu_ms: ms(cpu().saturating_sub(cpu_before)),
                elapsed_ms: ms(cx.clock.monotonic().saturating_sub(began)),
            })?;
        }
        Ok(())
    }
}

/// What standard input says next; nothing at its end.
async fn next_line() -> Result<Option<String>> {
    let read = tokio::task::spawn_blocking(|| {
        let mut line = String::new();
        io::stdin().lock().take(MAX_LINE).read_line(&mut line).map(|_| line)
    });
    let line = read
        .await
        .map_err(|e| Error::bug("reading standard input panicked").with_source(e))?
        .map_err(|e| Error::unavailable("cannot read standard input").with_source(e))?;
    Ok((!line.is_empty()).then(|| line.trim().to_owned()))
}

//! `docmill bench engine`: one measurement from queueing to done, and idle starts.

use docmill_core::batch::Walk;
use docmill_core::id::TenantId;
use docmill_core::{Error, Result};
use docmill_pipeline::Deps;
use serde::Serialize;

use super::load::{self, Shape};
use super::{cpu, ms, percentile};
use crate::context::Context;
use crate::session::Owner;

/// No-op tasks through the real engine, with full bookkeeping
#[derive(Debug, clap::Args)]
pub(super) struct Engine {
    /// How many tasks
    #[arg(long, default_value_t = 20_000)]
    tasks: usize,
    /// Tasks taken in one claim; 1 also runs one at a time
    #[arg(long, default_value_t = 256)]
    claim: usize,
    /// Idle starts to measure
    #[arg(long, default_value_t = 200)]
    samples: usize,
}

#[derive(Debug, Serialize)]
struct Measured {
    tasks: usize,
    claim: usize,
    queue_cpu_ms_per_task: f64,
    work_cpu_ms_per_task: f64,
    cpu_ms_per_task: f64,
    tasks_per_s: f64,
    idle_start_ms_p50: f64,
    idle_start_ms_p99: f64,
}

impl Engine {
    pub(super) async fn run(self, cx: &Context) -> Result<()> {
        let owner = super::own(cx, self.claim).await?;
        let measured = self.measure(cx, &owner).await;
        let measured = super::close(owner, measured).await?;
        crate::cli::print(cx, &measured, |m| {
            format!(
                "{} tasks, claims of {}: {:.4} ms CPU a task, {:.0} tasks/s; idle start p50 {:.2} ms, p99 {:.2} ms",
                m.tasks, m.claim, m.cpu_ms_per_task, m.tasks_per_s, m.idle_start_ms_p50, m.idle_start_ms_p99
            )
        })
    }

    async fn measure(&self, cx: &Context, owner: &Owner) -> Result<Measured> {
        let deps = owner.service().deps().clone();
        let tenant = owner.tenant();
        let before = cpu();
        let batch = load::queue(&deps, tenant, self.tasks, Shape::EMPTY).await?;
        let queued = cpu();
        let started = cx.clock.monotonic();
        owner.start_engine(load::engine_options(&deps))?;
        load::ended(&deps, tenant, batch).await?;
        let elapsed = cx.clock.monotonic().saturating_sub(started);
        let worked = cpu();
        let mut starts = Vec::with_capacity(self.samples);
        for _ in 0..self.samples {
            starts.push(self.idle_start(cx, &deps, tenant).await?);
        }
        starts.sort_by(f64::total_cmp);
        let tasks = self.tasks as f64;
        Ok(Measured {
            tasks: self.tasks,
            claim: self.claim,
            queue_cpu_ms_per_task: ms(queued.saturating_sub(before)) / tasks,
            work_cpu_ms_per_task: ms(worked.saturating_sub(queued)) / tasks,
            cpu_ms_per_task: ms(worked.saturating_sub(before)) / tasks,
            tasks_per_s: tasks / elapsed.as_secs_f64(),
            idle_start_ms_p50: percentile(&starts, 0.5),
            idle_start_ms_p99: percentile(&starts, 0.99),
        })
    }

    /// From queueing one task on an idle engine to its committed end, which is later than its start: the
    /// figure errs to docmill's disadvantage.
    async fn idle_start(&self, cx: &Context, deps: &Deps, tenant: TenantId) -> Result<f64> {
        let batch = load::open(deps, tenant).await?;
        let begun = cx.clock.monotonic();
        deps.store.receive(vec![load::lone(deps, tenant, batch)]).await?;
        let mut changed = deps.store.changed();
        while deps.store.find_batch(tenant, &batch.to_string()).await?.is_none_or(|b| b.open > 0) {
            changed.changed().await.map_err(|e| Error::bug("the store is gone").with_source(e))?;
        }
        let taken = cx.clock.monotonic().saturating_sub(begun);
        deps.store.seal_batch(tenant, batch, Walk { walked: 1, known: 0, baseline: 0 }).await?;
        Ok(ms(taken))
    }
}

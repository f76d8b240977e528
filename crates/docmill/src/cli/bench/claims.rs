//! `docmill bench claims`: how long a claim takes while very much is queued.

use std::sync::Arc;
use std::time::Duration;

use docmill_core::Result;
use docmill_core::clock::Clock;
use docmill_core::id::WorkerId;
use docmill_core::ports::store::{ClaimSpec, Commit, Outcome};
use docmill_pipeline::Deps;
use serde::Serialize;

use super::load::{self, KIND, Shape};
use super::{ms, percentile};
use crate::context::Context;
use crate::session::Owner;

/// Claims out of a long queue, each task of them reported before the next claim
#[derive(Debug, clap::Args)]
pub(super) struct Claims {
    /// How many tasks are queued first
    #[arg(long, default_value_t = 1_000_000)]
    queued: usize,
    /// Claims of each worker and size
    #[arg(long, default_value_t = 250)]
    rounds: usize,
    /// Workers that claim at the same time
    #[arg(long, default_value_t = 2)]
    workers: usize,
}

/// Tasks taken in one claim: one, and as many as a worker takes at most.
const SIZES: [usize; 2] = [1, 256];

#[derive(Debug, Serialize)]
struct Measured {
    queued: usize,
    workers: usize,
    sizes: Vec<OfSize>,
}

#[derive(Debug, Serialize)]
struct OfSize {
    tasks: usize,
    claims: usize,
    claim_ms_p50: f64,
    claim_ms_p99: f64,
    claim_ms_max: f64,
}

impl Claims {
    pub(super) async fn run(self, cx: &Context) -> Result<()> {
        let owner = super::own(cx, 256).await?;
        let measured = self.measure(cx, &owner).await;
        let measured = super::close(owner, measured).await?;
        crate::cli::print(cx, &measured, |m| {
            let line = |s: &OfSize| {
                format!(
                    "{} claims of {} out of {}: p50 {:.2} ms, p99 {:.2} ms, longest {:.2} ms",
                    s.claims, s.tasks, m.queued, s.claim_ms_p50, s.claim_ms_p99, s.claim_ms_max
                )
            };
            m.sizes.iter().map(line).collect::<Vec<_>>().join("\n")
        })
    }

    async fn measure(&self, cx: &Context, owner: &Owner) -> Result<Measured> {
        let deps = owner.service().deps();
        load::queue(deps, owner.tenant(), self.queued, Shape::EMPTY).await?;
        let workers = self.workers.max(1);
        let mut sizes = Vec::with_capacity(SIZES.len());
        for tasks in SIZES {
            let taken = (0..workers).map(|_| claim_and_report(deps, &cx.clock, tasks, self.rounds));
            let taken = futures::future::try_join_all(taken).await?;
            let mut times: Vec<f64> = taken.into_iter().flatten().collect();
            times.sort_by(f64::total_cmp);
            sizes.push(OfSize {
                tasks,
                claims: times.len(),
                claim_ms_p50: percentile(&times, 0.5),
                claim_ms_p99: percentile(&times, 0.99),
                claim_ms_max: percentile(&times, 1.0),
            });
        }
        Ok(Measured { queued: self.queued, workers, sizes })
    }
}

/// Answers how long each claim took, in milliseconds.
async fn claim_and_report(
    deps: &Deps,
    clock: &Arc<dyn Clock>,
    tasks: usize,
    rounds: usize,
) -> Result<Vec<f64>> {
    let worker_id = WorkerId(deps.ids.next());
    let mut times = Vec::with_capacity(rounds);
    for _ in 0..rounds {
        let spec = ClaimSpec {
            worker_id,
            lease: Duration::from_mins(1),
            kinds: vec![(KIND, tasks)],
            units: tasks as u32,
            idle: true,
            max_tasks: tasks,
            tenant_id: None,
        };
        let began = clock.monotonic();
        let leases = deps.store.claim(spec).await?;
        times.push(ms(clock.monotonic().saturating_sub(began)));
        if leases.is_empty() {
            break;
        }
        let reports = leases.iter().map(|lease| {
            Arc::new(Commit {
                task_id: lease.task_id,
                epoch: lease.epoch,
                duration: Duration::ZERO,
                outcome: Outcome::Done(Box::default()),
                continue_for: None,
            })
        });
        deps.store.exchange(reports.collect(), None).await?;
    }
    Ok(times)
}

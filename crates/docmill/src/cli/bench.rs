//! `docmill bench engine`: what the engine and the store cost by themselves.
//!
//! No-op tasks go the whole way: queued, claimed under a lease, run, committed with their events and counters.
//! They are queued as the engine itself queues many tasks at once, as the parts of a long document.

use std::sync::Arc;
use std::time::Duration;

use docmill_core::batch::{NewBatch, Walk};
use docmill_core::config::{KindSettings, Settings};
use docmill_core::id::{BatchId, BlobKey, ContentHash, DocumentId, IngestionId, TenantId, WorkerId};
use docmill_core::ingestion::{Origin, Stage};
use docmill_core::ports::store::{Arrival, ClaimSpec, Commit, Done, FanOut, Outcome, Receipt, StoredContent};
use docmill_core::task::{DEFAULT_PRIORITY, NewTask, Size, TaskKind};
use docmill_core::{Error, Result};
use docmill_pipeline::{Deps, EngineOptions};
use serde::Serialize;

use crate::context::{Context, Exit};
use crate::session::{Owner, Session};

const KIND: TaskKind = TaskKind::named("no-op");

/// Tasks queued in one transaction.
const PARTS: usize = 1000;

/// Measure the engine with tasks that do nothing
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    #[command(subcommand)]
    what: What,
}

#[derive(Debug, clap::Subcommand)]
enum What {
    Engine(Engine),
}

/// No-op tasks through the real engine, with full bookkeeping
#[derive(Debug, clap::Args)]
struct Engine {
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

impl Args {
    pub(super) async fn run(self, cx: &Context) -> Result<Exit> {
        let What::Engine(engine) = self.what;
        let mut settings = Settings::clone(&cx.settings);
        settings.engine.claim_max = engine.claim.max(1);
        if engine.claim == 1 {
            let one = KindSettings { concurrency: Some(1), per_second: None };
            settings.engine.per_kind.insert(KIND.to_string(), one);
        }
        let settings = Arc::new(settings);
        let owner = Session::own(&settings, &cx.clock, "bench").await?;
        let measured = engine.measure(cx, &owner).await;
        owner.close(Duration::ZERO, std::future::ready(())).await?;
        let measured = measured?;
        super::print(cx, &measured, |m| {
            format!(
                "{} tasks, claims of {}: {:.4} ms CPU a task, {:.0} tasks/s; idle start p50 {:.2} ms, p99 {:.2} ms",
                m.tasks, m.claim, m.cpu_ms_per_task, m.tasks_per_s, m.idle_start_ms_p50, m.idle_start_ms_p99
            )
        })?;
        Ok(Exit::Ok)
    }
}

impl Engine {
    async fn measure(&self, cx: &Context, owner: &Owner) -> Result<Measured> {
        let deps = owner.service().deps().clone();
        let tenant = owner.tenant();
        let before = cpu();
        let batch = queue(&deps, tenant, self.tasks).await?;
        let queued = cpu();
        let started = cx.clock.monotonic();
        owner.start_engine(engine_options(&deps))?;
        ended(&deps, tenant, batch).await?;
        let elapsed = cx.clock.monotonic().saturating_sub(started);
        let worked = cpu();
        let mut starts = Vec::with_capacity(self.samples);
        for _ in 0..self.samples {
            starts.push(self.idle_start(cx, &deps, tenant).await?);
        }
        starts.sort_by(f64::total_cmp);
        let at = |fraction: f64| {
            let index = (starts.len() as f64 * fraction) as usize;
            starts.get(index.min(starts.len().saturating_sub(1))).copied().unwrap_or_default()
        };
        let tasks = self.tasks as f64;
        Ok(Measured {
            tasks: self.tasks,
            claim: self.claim,
            queue_cpu_ms_per_task: ms(queued.saturating_sub(before)) / tasks,
            work_cpu_ms_per_task: ms(worked.saturating_sub(queued)) / tasks,
            cpu_ms_per_task: ms(worked.saturating_sub(before)) / tasks,
            tasks_per_s: tasks / elapsed.as_secs_f64(),
            idle_start_ms_p50: at(0.5),
            idle_start_ms_p99: at(0.99),
        })
    }

    /// From queueing one task on an idle engine to its committed end, which is later than its start: the
    /// figure errs to docmill's disadvantage.
    async fn idle_start(&self, cx: &Context, deps: &Deps, tenant: TenantId) -> Result<f64> {
        let batch = open(deps, tenant).await?;
        let begun = cx.clock.monotonic();
        deps.store.receive(vec![receipt(deps, tenant, batch)]).await?;
        let mut changed = deps.store.changed();
        while deps.store.find_batch(tenant, &batch.to_string()).await?.is_none_or(|b| b.open > 0) {
            changed.changed().await.map_err(|e| Error::bug("the store is gone").with_source(e))?;
        }
        let taken = cx.clock.monotonic().saturating_sub(begun);
        deps.store.seal_batch(tenant, batch, Walk { walked: 1, known: 0, baseline: 0 }).await?;
        Ok(ms(taken))
    }
}

/// A worker for this one kind, as the workers it is compared with.
fn engine_options(deps: &Deps) -> EngineOptions {
    let options = EngineOptions::new(&deps.settings.engine);
    EngineOptions { maintain: false, kinds: vec![KIND.to_string()], ..options }
}

async fn open(deps: &Deps, tenant: TenantId) -> Result<BatchId> {
    let batch = NewBatch {
        tenant_id: tenant,
        batch_id: BatchId(deps.ids.next()),
        name: None,
        kind: "bench".into(),
        priority: DEFAULT_PRIORITY,
    };
    deps.store.open_batch(batch).await.map(|run| run.batch_id)
}

/// Queues `tasks` as parts of a few ingestions.
async fn queue(deps: &Deps, tenant: TenantId, tasks: usize) -> Result<BatchId> {
    let batch = open(deps, tenant).await?;
    let worker_id = WorkerId(deps.ids.next());
    let seeds = tasks.div_ceil(PARTS);
    deps.store.receive((0..seeds).map(|_| receipt(deps, tenant, batch)).collect()).await?;
    let spec = ClaimSpec {
        worker_id,
        lease: Duration::from_mins(1),
        kinds: vec![(KIND, seeds)],
        units: seeds as u32,
        idle: true,
        max_tasks: seeds,
        tenant_id: None,
    };
    let mut left = tasks;
    for lease in deps.store.claim(spec).await? {
        let parts = left.min(PARTS);
        left -= parts;
        let part = task(Some(r#"{"pages":[1,1]}"#));
        let fan_out = FanOut { parts: vec![part; parts], join: task(None) };
        let outcome = Outcome::Done(Box::new(Done { fan_out: Some(fan_out), ..Done::default() }));
        let (task_id, epoch) = (lease.task_id, lease.epoch);
        deps.store
            .commit(Commit { task_id, epoch, duration: Duration::ZERO, outcome, continue_for: None })
            .await?;
    }
    let walked = seeds as u64;
    deps.store.seal_batch(tenant, batch, Walk { walked, known: 0, baseline: 0 }).await?;
    Ok(batch)
}

fn task(payload: Option<&str>) -> NewTask {
    NewTask {
        kind: KIND,
        stage: Stage::Queued,
        size: Size::Small,
        units: 1,
        payload: payload.map(Into::into),
    }
}

fn receipt(deps: &Deps, tenant: TenantId, batch: BatchId) -> Receipt {
    let document_id = DocumentId(deps.ids.next());
    let path = document_id.to_string();
    let stored = StoredContent {
        document_id,
        hash: ContentHash::of(path.as_bytes()),
        bytes: 0,
        key: BlobKey::document(document_id, "bench.txt"),
    };
    Receipt {
        tenant_id: tenant,
        ingestion_id: IngestionId(deps.ids.next()),
        batch_id: Some(batch),
        origin: Origin::Uploader("bench".into()),
        path_bytes: path.clone().into_bytes(),
        name: path.clone(),
        path,
        source_metadata: serde_json::json!({}),
        priority: DEFAULT_PRIORITY,
        arrival: Arrival::Content(stored, task(None)),
    }
}

async fn ended(deps: &Deps, tenant: TenantId, batch: BatchId) -> Result<()> {
    loop {
        match deps.store.find_batch(tenant, &batch.to_string()).await? {
            Some(totals) if totals.open > 0 => tokio::time::sleep(Duration::from_millis(25)).await,
            Some(_) => return Ok(()),
            None => return Err(Error::bug("the batch is gone")),
        }
    }
}

/// CPU time of this process.
fn cpu() -> Duration {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ProcessCPUTime);
    Duration::new(time.tv_sec.unsigned_abs(), time.tv_nsec.unsigned_abs() as u32)
}

fn ms(duration: Duration) -> f64 {
    duration.as_secs_f64() * 1000.0
}

//! The tasks that benches work off. They are queued as the engine itself queues many tasks at once, as the parts of
//! a long document.

use std::time::Duration;

use docmill_core::batch::{NewBatch, Walk};
use docmill_core::id::{BatchId, BlobKey, ContentHash, DocumentId, IngestionId, TenantId, WorkerId};
use docmill_core::ingestion::{Origin, Stage};
use docmill_core::ports::store::{Arrival, ClaimSpec, Commit, Done, FanOut, Outcome, Receipt, StoredContent};
use docmill_core::task::{DEFAULT_PRIORITY, NewTask, Size, TaskKind};
use docmill_core::{Error, Result};
use docmill_pipeline::{Deps, EngineOptions};

pub(super) const KIND: TaskKind = TaskKind::named("no-op");

/// What falls into parts. No worker takes it, so that one that runs already leaves it to the bench.
const SEED: TaskKind = TaskKind::named("bench-seed");

/// Tasks queued in one transaction.
const PARTS: usize = 1000;

/// Documents whose parts are queued in turn. Each is held under a lease meanwhile.
const SEEDS: usize = 20;

/// What each task is.
#[derive(Clone, Copy, Debug)]
pub(super) struct Shape {
    /// The capacity it takes.
    pub(super) units: u32,
    /// How long it waits.
    pub(super) wait: Duration,
}

impl Shape {
    /// A part of one page that takes no time.
    pub(super) const EMPTY: Self = Self { units: 1, wait: Duration::ZERO };

    fn part(self) -> NewTask {
        let payload = match self.wait.as_millis() {
            0 => r#"{"pages":[1,1]}"#.to_owned(),
            ms => format!(r#"{{"wait_ms":{ms}}}"#),
        };
        task(KIND, Some(payload), self.units)
    }
}

/// A worker for this one kind, as the workers it is compared with.
pub(super) fn engine_options(deps: &Deps) -> EngineOptions {
    let options = EngineOptions::new(&deps.settings.engine);
    EngineOptions { maintain: false, kinds: vec![KIND.to_string()], ..options }
}

pub(super) async fn open(deps: &Deps, tenant: TenantId) -> Result<BatchId> {
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
pub(super) async fn queue(deps: &Deps, tenant: TenantId, tasks: usize, shape: Shape) -> Result<BatchId> {
    let batch = open(deps, tenant).await?;
    let mut left = tasks;
    let mut walked = 0;
    while left > 0 {
        let seeds = left.div_ceil(PARTS).min(SEEDS);
        deps.store.receive((0..seeds).map(|_| receipt(deps, tenant, batch, SEED)).collect()).await?;
        walked += seeds as u64;
        left = fan_out(deps, seeds, left, shape).await?;
    }
    deps.store.seal_batch(tenant, batch, Walk { walked, known: 0, baseline: 0 }).await?;
    Ok(batch)
}

/// Claims the seeds and lets each fall into parts. Answers how many tasks are left to queue.
async fn fan_out(deps: &Deps, seeds: usize, mut left: usize, shape: Shape) -> Result<usize> {
    let spec = ClaimSpec {
        worker_id: WorkerId(deps.ids.next()),
        lease: Duration::from_mins(5),
        kinds: vec![(SEED, seeds)],
        units: seeds as u32,
        idle: true,
        max_tasks: seeds,
        tenant_id: None,
    };
    let leases = deps.store.claim(spec).await?;
    if leases.len() < seeds {
        return Err(Error::bug(format!("of {seeds} documents, {} could be claimed", leases.len())));
    }
    for lease in leases {
        let parts = left.min(PARTS);
        left -= parts;
        let fan_out = FanOut { parts: vec![shape.part(); parts], join: task(KIND, None, 1) };
        let outcome = Outcome::Done(Box::new(Done { fan_out: Some(fan_out), ..Done::default() }));
        let (task_id, epoch) = (lease.task_id, lease.epoch);
        deps.store
            .commit(Commit { task_id, epoch, duration: Duration::ZERO, outcome, continue_for: None })
            .await?;
    }
    Ok(left)
}

fn task(kind: TaskKind, payload: Option<String>, units: u32) -> NewTask {
    NewTask { kind, stage: Stage::Queued, size: Size::Small, units, payload }
}

/// A document whose first task is a no-op.
pub(super) fn lone(deps: &Deps, tenant: TenantId, batch: BatchId) -> Receipt {
    receipt(deps, tenant, batch, KIND)
}

fn receipt(deps: &Deps, tenant: TenantId, batch: BatchId, first: TaskKind) -> Receipt {
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
        arrival: Arrival::Content(stored, task(first, None, 1)),
    }
}

/// Waits until everything in the batch is done. Asking is not free, so the longer it lasts the rarer it is asked:
/// what is measured is at most a twentieth too long.
pub(super) async fn ended(deps: &Deps, tenant: TenantId, batch: BatchId) -> Result<()> {
    let began = deps.clock.monotonic();
    loop {
        match deps.store.find_batch(tenant, &batch.to_string()).await? {
            Some(totals) if totals.open > 0 => {}
            Some(_) => return Ok(()),
            None => return Err(Error::bug("the batch is gone")),
        }
        let passed = deps.clock.monotonic().saturating_sub(began);
        tokio::time::sleep((passed / 20).max(Duration::from_millis(25))).await;
    }
}

//! A tenant, a worker and a clock around a store, with short words for what cases do again and again.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use docmill_core::batch::{BatchTotals, NewBatch, Walk};
use docmill_core::clock::{Clock as _, CountingIds, IdGen as _, SteppingClock};
use docmill_core::error::ErrorNote;
use docmill_core::event::{Event, EventFilter, EventType};
use docmill_core::id::{BatchId, BlobKey, ContentHash, DocumentId, IngestionId, TenantId, WorkerId};
use docmill_core::ingestion::{IngestionEnd, Origin, Stage};
use docmill_core::ports::Store;
use docmill_core::ports::store::{
    Arrival, ClaimSpec, Commit, Committed, Done, Outcome, Receipt, Received, StoredContent,
};
use docmill_core::problem::ResultCode;
use docmill_core::task::{DEFAULT_PRIORITY, Lease, NewTask, Size, TaskKind, UNITS_PER_SLOT};
use docmill_core::{Error, ErrorKind};

use crate::conformance::Bench;

/// The kind that cases use unless it matters.
pub const KIND: TaskKind = TaskKind::named("extract-text");

/// The lease that cases take.
pub(super) const LEASE: Duration = Duration::from_mins(1);

/// A store with everything around it.
pub struct World {
    /// Under test.
    pub store: Arc<dyn Store>,
    /// Moves when told to.
    pub clock: Arc<SteppingClock>,
    /// The tenant of most cases.
    pub tenant: TenantId,
    /// The worker of most cases.
    pub worker: WorkerId,
    ids: CountingIds,
    counter: AtomicU64,
}

impl World {
    /// Opens the store of a case.
    pub async fn open(bench: &Bench<dyn Store>) -> Self {
        Self::around(bench.open().await, bench.clock()).await
    }

    /// Around a store that is open.
    pub async fn around(store: Arc<dyn Store>, clock: Arc<SteppingClock>) -> Self {
        let tenant = store.tenant("local").await.expect("make a tenant");
        let ids = CountingIds::new(clock.now());
        let worker = WorkerId(ids.next());
        Self { store, clock, tenant, worker, ids, counter: AtomicU64::new(0) }
    }

    /// A fresh worker.
    pub fn worker(&self) -> WorkerId {
        WorkerId(self.ids.next())
    }

    /// A fresh batch.
    pub async fn batch(&self, name: Option<&str>) -> BatchId {
        let batch = NewBatch {
            tenant_id: self.tenant,
            batch_id: BatchId(self.ids.next()),
            name: name.map(Into::into),
            kind: "files".into(),
            priority: DEFAULT_PRIORITY,
        };
        self.store.open_batch(batch).await.expect("open a batch").batch_id
    }

    /// Seals a batch as a walker does that met `walked` items, all new.
    pub async fn seal(&self, batch: BatchId, walked: u64) -> BatchTotals {
        let walk = Walk { walked, known: 0, baseline: 0 };
        self.store.seal_batch(self.tenant, batch, walk).await.expect("seal")
    }

    /// The totals of a batch.
    pub async fn totals(&self, batch: BatchId) -> BatchTotals {
        self.store.find_batch(self.tenant, &batch.to_string()).await.expect("find").expect("is there")
    }

    /// Content as the blob store would hold it.
    pub fn content(&self, text: &str) -> StoredContent {
        let document_id = DocumentId(self.ids.next());
        StoredContent {
            document_id,
            hash: ContentHash::of(text.as_bytes()),
            bytes: text.len() as u64,
            key: BlobKey::document(document_id, "a.txt"),
        }
    }

    /// A receipt of `text` found at `path`.
    pub fn receipt(&self, batch: Option<BatchId>, path: &str, text: &str) -> Receipt {
        Receipt {
            tenant_id: self.tenant,
            ingestion_id: IngestionId(self.ids.next()),
            batch_id: batch,
            origin: Origin::Uploader("tester".into()),
            path: path.into(),
            path_bytes: path.as_bytes().to_vec(),
            name: path.rsplit('/').next().unwrap_or(path).into(),
            source_metadata: serde_json::json!({ "by": "test" }),
            priority: DEFAULT_PRIORITY,
            arrival: Arrival::Content(self.content(text), new_task(&KIND)),
        }
    }

    /// Takes a receipt in.
    pub async fn take(&self, receipt: Receipt) -> Received {
        self.store.receive(vec![receipt]).await.expect("receive").remove(0)
    }

    /// Takes `count` distinct items in.
    pub async fn receive(&self, batch: Option<BatchId>, count: usize) -> Vec<Received> {
        let receipts = (0..count)
            .map(|_| {
                let n = self.counter.fetch_add(1, Ordering::SeqCst);
                self.receipt(batch, &format!("dir/{n}.txt"), &format!("text {n}"))
            })
            .collect();
        self.store.receive(receipts).await.expect("receive")
    }

    /// What this worker would claim.
    pub fn spec(&self, max_tasks: usize) -> ClaimSpec {
        ClaimSpec {
            worker_id: self.worker,
            lease: LEASE,
            kinds: vec![(KIND, max_tasks)],
            units: 8 * UNITS_PER_SLOT,
            idle: true,
            max_tasks,
            tenant_id: None,
        }
    }

    /// Claims.
    pub async fn claim(&self, max_tasks: usize) -> Vec<Lease> {
        self.store.claim(self.spec(max_tasks)).await.expect("claim")
    }

    /// Claims one that must be there.
    pub async fn claim_one(&self) -> Lease {
        let mut leases = self.claim(1).await;
        assert_eq!(leases.len(), 1, "a task is queued");
        leases.remove(0)
    }

    /// Reports.
    pub async fn report(&self, lease: &Lease, outcome: Outcome) -> Committed {
        self.store
            .commit(Commit {
                task_id: lease.task_id,
                epoch: lease.epoch,
                duration: Duration::from_millis(5),
                outcome,
                continue_for: None,
            })
            .await
            .expect("commit")
    }

    /// Reports that everything is done.
    pub async fn complete(&self, lease: &Lease) -> Committed {
        self.report(lease, ended(ResultCode::Success)).await
    }

    /// Asserts both sides of the ledger agree.
    pub async fn assert_balanced(&self) {
        let ledger = self.store.ledger(self.tenant, None).await.expect("ledger");
        assert!(ledger.balanced(), "the ledger does not balance: {ledger:?}");
        assert_eq!(self.store.unbalanced().await.expect("unbalanced"), 0, "of any tenant: {ledger:?}");
    }

    /// Asserts that they do not, and that those who only count tenants notice it too.
    pub async fn assert_unbalanced(&self) {
        let ledger = self.store.ledger(self.tenant, None).await.expect("ledger");
        assert!(!ledger.balanced(), "the ledger balances: {ledger:?}");
        assert_eq!(self.store.unbalanced().await.expect("unbalanced"), 1);
    }

    /// All events.
    pub async fn events(&self) -> Vec<Event> {
        let filter = EventFilter { limit: Some(10_000), ..EventFilter::default() };
        self.store.events(self.tenant, &filter).await.expect("events").events
    }

    /// How many events of a type there are.
    pub async fn count_events(&self, kind: EventType) -> usize {
        self.events().await.iter().filter(|e| e.kind == kind).count()
    }
}

/// Whether a report was accepted.
pub trait Reported {
    /// It was.
    fn accepted(&self) -> bool;
}

impl Reported for Committed {
    fn accepted(&self) -> bool {
        matches!(self, Committed::Accepted { .. })
    }
}

/// A small task of a kind.
pub fn new_task(kind: &TaskKind) -> NewTask {
    NewTask { kind: kind.clone(), stage: Stage::Transcribing, size: Size::Small, units: 1, payload: None }
}

/// Done, with more to come or not.
pub fn done(done: Done) -> Outcome {
    Outcome::Done(Box::new(done))
}

/// Done, and the ingestion is complete.
pub fn ended(result: ResultCode) -> Outcome {
    done(Done { end: Some(IngestionEnd::completed(result, Vec::new())), ..Done::default() })
}

/// An error as it is stored.
pub fn failure(kind: ErrorKind) -> ErrorNote {
    ErrorNote::from(&Error::new(kind, "as planned by the test"))
}

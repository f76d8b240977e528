//! The work engine: claims tasks within its capacity, runs them, and commits what comes of it.
//!
//! `worker` is the main loop; `run` takes one leased task to its report and on to the next; `desk` takes reports to
//! the store and brings new work back; `heartbeat` keeps
//! leases alive and stops work that lost its own; `sweeper` brings back what dead workers left; `shutdown`
//! hands everything back in order; `attempt` tells of each attempt that has ended. No retry is decided here: `docmill_core::disposition` does that, and `plan`
//! says what follows.

mod attempt;
mod capacity;
mod desk;
mod heartbeat;
mod liveness;
mod registry;
mod run;
mod seat;
mod shutdown;
mod sweeper;
mod worker;

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use docmill_core::config::{EngineSettings, KindSettings, Settings};
use docmill_core::id::{Epoch, TaskId, TenantId, WorkerId};
use docmill_core::ports::store::ClaimSpec;
use docmill_core::task::{TaskKind, UNITS_PER_SLOT};
use docmill_core::{Error, Result};
use tokio::sync::{Notify, mpsc, watch};
use tokio::task::{JoinError, JoinSet};

use crate::service::Inner;
use crate::stages;
use capacity::{Capacity, Room};
use run::Seated;
use seat::Seats;

/// How an engine is run.
#[derive(Clone, PartialEq, Debug)]
pub struct EngineOptions {
    /// Slots of this worker.
    pub slots: u32,
    /// Kinds it takes; empty means all.
    pub kinds: Vec<String>,
    /// Only this tenant's work.
    pub tenant: Option<TenantId>,
    /// End by itself when nothing is left to do.
    pub exit_when_idle: bool,
    /// Keep the text index up to date (one process must).
    pub follow: bool,
    /// Remove what nothing refers to, every hour.
    pub maintain: bool,
}

impl EngineOptions {
    /// As configured: everything that one process alone must do.
    pub fn new(settings: &EngineSettings) -> Self {
        Self {
            slots: settings.slots,
            kinds: settings.kinds.clone(),
            tenant: None,
            exit_when_idle: false,
            follow: true,
            maintain: true,
        }
    }

    /// The kinds it takes, checked.
    fn task_kinds(&self) -> Result<Vec<TaskKind>> {
        let all: Vec<TaskKind> = stages::ALL.iter().map(|handler| handler.kind()).collect();
        if self.kinds.is_empty() {
            return Ok(all);
        }
        self.kinds.iter().map(|name| known_kind(name)).collect()
    }
}

/// Names of work that is no task of its own in this version, and that workers may be limited to all the same: what is
/// written for a later version need not be changed for this one (`docs/reference/kinds.md`).
const RESERVED: &[TaskKind] = &[
    TaskKind::named("intake-mailbox"),
    TaskKind::named("intake-loadfile"),
    TaskKind::named("unpack-mailbox"),
    TaskKind::named("unpack-preprocessed-container"),
    TaskKind::named("unpack-loadfile-record"),
    TaskKind::named("text-from-image"),
    TaskKind::named("text-from-image-list"),
    TaskKind::named("ocr-inline-images"),
    TaskKind::named("ocr-page-images"),
    TaskKind::named("render-pdf"),
    TaskKind::named("combine-page-images"),
    TaskKind::named("render-page-images"),
    TaskKind::named("render-xlsx"),
];

/// Whether a kind is one that no task of this version has.
pub fn is_reserved_kind(name: &str) -> bool {
    RESERVED.iter().any(|kind| kind.as_str() == name)
}

/// The kind of that name; `invalid_request` with all names if there is none.
pub(crate) fn known_kind(name: &str) -> Result<TaskKind> {
    let kinds = stages::ALL.iter().map(|handler| handler.kind());
    kinds.clone().chain(RESERVED.iter().cloned()).find(|kind| kind.as_str() == name).ok_or_else(|| {
        let names: Vec<String> = kinds.map(|kind| kind.to_string()).collect();
        Error::invalid_request(format!("`{name}` is not a kind of task"))
            .with_hint(format!("the kinds are {}", names.join(", ")))
    })
}

/// How far an engine is on its way to its end.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Phase {
    /// Claims and runs.
    Working,
    /// Claims no more; what runs has so long to end.
    Draining(Duration),
    /// All work has ended or was handed back.
    Ended,
}

/// What the parts of one engine share.
pub(crate) struct Engine {
    pub(crate) inner: Arc<Inner>,
    pub(crate) worker_id: WorkerId,
    pub(crate) options: EngineOptions,
    /// The kinds it takes.
    kinds: Vec<TaskKind>,
    pub(crate) capacity: Capacity,
    pub(crate) seats: Seats,
    /// Tasks that run, and those that have ended and were not looked at yet.
    running: Mutex<JoinSet<()>>,
    /// Held by whoever claims: two claims at a time would both take the same room.
    claiming: tokio::sync::Mutex<()>,
    /// The last claim brought something.
    found_work: AtomicBool,
    /// To the desk.
    reports: mpsc::UnboundedSender<desk::Report>,
    /// Some capacity was freed.
    pub(crate) freed: Notify,
    /// So much was freed that claiming pays at once.
    pub(crate) ample: Notify,
    pub(crate) phase: watch::Sender<Phase>,
    /// Tasks that stopped because of a shutdown, to be released together.
    pub(crate) to_release: Mutex<Vec<(TaskId, Epoch)>>,
}

impl Engine {
    pub(crate) fn settings(&self) -> &EngineSettings {
        &self.inner.deps.settings.engine
    }

    pub(crate) fn now(&self) -> Duration {
        self.inner.deps.clock.monotonic()
    }

    /// Its capacity, for those who count.
    fn units(&self) -> i64 {
        i64::from(self.options.slots.max(1)) * i64::from(UNITS_PER_SLOT)
    }

    pub(crate) fn is_draining(&self) -> bool {
        *self.phase.borrow() != Phase::Working
    }

    /// Whether the last claim brought something: then it pays to claim again at once.
    fn found_work(&self) -> bool {
        self.found_work.load(Ordering::Relaxed)
    }

    fn note_found(&self, found: bool) {
        self.found_work.store(found, Ordering::Relaxed);
    }

    /// A claim that fills this room.
    fn claim_spec(&self, room: Room) -> ClaimSpec {
        ClaimSpec {
            worker_id: self.worker_id,
            lease: self.settings().lease,
            max_tasks: self.settings().claim_max.min(room.units as usize).max(1),
            kinds: room.kinds,
            units: room.units,
            idle: room.idle,
            tenant_id: self.options.tenant,
        }
    }

    /// Begins to run a task that was claimed.
    fn start(self: &Arc<Self>, task: Seated) {
        let mut running = self.running();
        while let Some(ended) = running.try_join_next() {
            report_panic(ended);
        }
        running.spawn(run::run(Arc::clone(self), task));
    }

    fn running(&self) -> MutexGuard<'_, JoinSet<()>> {
        self.running.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Asks for the end, unless that has been asked for.
    fn drain(&self, grace: Duration) {
        self.phase.send_if_modified(|phase| {
            let first = *phase == Phase::Working;
            // A second, more impatient request shortens the grace.
            let shorter = matches!(*phase, Phase::Draining(before) if grace < before);
            if first || shorter {
                *phase = Phase::Draining(grace);
            }
            first || shorter
        });
    }

    fn release_later(&self, task: TaskId, epoch: Epoch) {
        self.to_release.lock().unwrap_or_else(PoisonError::into_inner).push((task, epoch));
    }
}

/// Handlers cannot panic their task (`run` catches that), so this is a bug in the engine itself. The lease of
/// the task runs out and the sweeper brings it back.
fn report_panic(ended: std::result::Result<(), JoinError>) {
    if let Err(error) = ended {
        tracing::error!(%error, "the engine lost a task");
    }
}

/// A running engine. Dropping it leaves the engine running.
pub struct EngineHandle {
    engine: Arc<Engine>,
}

impl EngineHandle {
    /// Stops claiming, hands back what has not begun, lets what runs go on for `grace` at most, hands back the
    /// rest, and returns when all that is done. Leases are renewed until the end. A second call may shorten the
    /// grace.
    pub async fn shutdown(&self, grace: Duration) {
        self.engine.drain(grace);
        self.wait().await;
    }

    /// Returns when the engine has ended: by `shutdown`, or by itself when idle if it was told so.
    pub async fn wait(&self) {
        let mut phase = self.engine.phase.subscribe();
        // The sender lives in the engine that this handle holds, so waiting cannot fail.
        if phase.wait_for(|phase| *phase == Phase::Ended).await.is_err() {
            tracing::debug!("engine is gone");
        }
    }

    /// Whether it has ended.
    pub fn has_ended(&self) -> bool {
        *self.engine.phase.borrow() == Phase::Ended
    }

    /// Looks for work at once.
    pub fn wake(&self) {
        self.engine.freed.notify_one();
        self.engine.ample.notify_one();
    }

    /// This start of this worker, as `status` lists it.
    pub fn worker_id(&self) -> WorkerId {
        self.engine.worker_id
    }
}

/// Limits of kinds, as they are set. Documents wait for a model in the queue, where any worker may take them, and not in
/// the hands of one: each worker holds what it can ask about, and as many again.
fn per_kind(settings: &Settings) -> BTreeMap<String, KindSettings> {
    let mut limits = settings.engine.per_kind.clone();
    let classify = limits.entry(stages::classify::document::KIND.to_string()).or_default();
    classify.concurrency.get_or_insert(settings.llm.concurrency.saturating_mul(2));
    limits
}

/// Starts an engine on the current runtime.
pub(crate) fn start(inner: Arc<Inner>, options: EngineOptions) -> Result<EngineHandle> {
    let kinds = options.task_kinds()?;
    let capacity = Capacity::new(options.slots, &kinds, &per_kind(&inner.deps.settings));
    let worker_id = WorkerId(inner.deps.ids.next());
    let (reports, at_the_desk) = mpsc::unbounded_channel();
    let engine = Arc::new(Engine {
        inner,
        worker_id,
        options,
        kinds,
        capacity,
        seats: Seats::default(),
        running: Mutex::new(JoinSet::new()),
        claiming: tokio::sync::Mutex::new(()),
        found_work: AtomicBool::new(false),
        reports,
        freed: Notify::new(),
        ample: Notify::new(),
        phase: watch::channel(Phase::Working).0,
        to_release: Mutex::new(Vec::new()),
    });
    engine.inner.deps.metrics.engine.units.inc_by(engine.units());
    tokio::spawn(worker::work(Arc::clone(&engine), at_the_desk));
    Ok(EngineHandle { engine })
}

//! Who gets a child: the pool behind every role.
//!
//! There is no scheduler task. Whoever changes what waits or who is free calls [`Shared::dispatch`], which
//! matches documents with children under one short lock and then, outside it, wakes idle children or starts
//! new ones.

use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use docmill_core::Result;
use docmill_core::clock::Clock;
use docmill_core::id::TenantId;
use docmill_core::metrics::ChildEnd;
use docmill_core::ports::reader::Findings;
use docmill_core::wire::Layer;
use tokio::runtime::Handle;
use tokio::sync::{mpsc, oneshot, watch};

use super::driver::{Driver, drive, shutting_down};
use super::job::Job;
use super::queue::{Batch, Queue, Ticket};
use super::settings::PoolSettings;
use super::spawn::Spawner;
use super::turn::{Alive, Turn, Work};

/// Findings of one document that may wait for its receiver.
const FINDINGS_WAITING: usize = 16;

/// Sandboxed children of one role.
#[derive(Debug)]
pub(super) struct ChildPool {
    shared: Arc<Shared>,
}

impl ChildPool {
    /// Starts a pool on the current tokio runtime. Children start when they are needed.
    pub(super) fn start(settings: PoolSettings, clock: Arc<dyn Clock>) -> Result<Self> {
        let spawner = Spawner::start(settings.program.clone(), settings.args.clone())?;
        let shared = Arc::new(Shared {
            settings,
            clock,
            spawner,
            runtime: Handle::current(),
            state: Mutex::default(),
            stop: watch::Sender::new(false),
            alive: watch::Sender::new(0),
        });
        Ok(Self { shared })
    }

    pub(super) fn settings(&self) -> &PoolSettings {
        &self.shared.settings
    }

    /// The layers of a fresh child.
    pub(super) async fn inspect(&self) -> Result<Vec<Layer>> {
        let _alive = Alive::new(&self.shared);
        let (driver, layers) = Driver::start(&self.shared, self.shared.settings.memory_bytes).await?;
        driver.end(ChildEnd::Recycled).await;
        Ok(layers)
    }

    /// Lets a child do it as soon as one is free.
    pub(super) fn submit(&self, job: Job) -> Result<Findings> {
        let (sink, findings) = mpsc::channel(FINDINGS_WAITING);
        let alone = job.alone;
        let mut state = self.shared.state();
        if state.draining {
            return Err(shutting_down());
        }
        state.queue.push(Ticket { job, sink, alone });
        drop(state);
        self.shared.dispatch();
        Ok(findings)
    }

    /// Takes no more, and turns away what waits.
    pub(super) fn drain(&self) {
        self.shared.state().turn_away();
    }

    /// Ends everything and waits until no child is left.
    pub(super) async fn shutdown(&self) {
        self.stop();
        let mut alive = self.shared.alive.subscribe();
        if alive.wait_for(|n| *n == 0).await.is_err() {
            tracing::error!("children of the pool can no longer be counted");
        }
    }

    fn stop(&self) {
        let mut state = self.shared.state();
        state.stopped = true;
        state.turn_away();
        state.idle.clear();
        drop(state);
        self.shared.stop.send_replace(true);
    }
}

impl Drop for ChildPool {
    fn drop(&mut self) {
        self.stop();
    }
}

/// What the pool and the tasks of its children share.
pub(super) struct Shared {
    pub(super) settings: PoolSettings,
    pub(super) clock: Arc<dyn Clock>,
    pub(super) spawner: Spawner,
    runtime: Handle,
    state: Mutex<State>,
    /// True from the moment of shutdown.
    pub(super) stop: watch::Sender<bool>,
    /// Tasks of children, reaping included.
    pub(super) alive: watch::Sender<usize>,
}

/// Who waits and who works.
#[derive(Debug, Default)]
pub(super) struct State {
    queue: Queue,
    idle: Vec<Idle>,
    pub(super) working: usize,
    pub(super) detached: usize,
    /// Nothing is begun any more.
    draining: bool,
    /// Nothing goes on any more.
    stopped: bool,
}

/// A child that stands by for its tenant. Dropping the offer sends it away.
#[derive(Debug)]
struct Idle {
    tenant: TenantId,
    memory_bytes: u64,
    offer: oneshot::Sender<Work>,
}

impl fmt::Debug for Shared {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Shared").field("settings", &self.settings).finish_non_exhaustive()
    }
}

impl Shared {
    pub(super) fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Matches what waits with children that are free or may be started.
    pub(super) fn dispatch(self: &Arc<Self>) {
        let mut given = Vec::new();
        let mut state = self.state();
        state.idle.retain(|idle| !idle.offer.is_closed());
        while state.working < self.settings.max_children && !state.stopped {
            let free = self.settings.max_children - state.working;
            let Some(batch) = state.queue.next(&self.settings, free) else { break };
            let idle = state.pick_idle(&batch);
            // One that must be alone may well take its child with it: it begins beside the others, where it costs
            // them neither a place at work nor a warm child.
            let detached = batch.alone && state.detached < self.settings.max_detached;
            if detached {
                state.detached += 1;
            } else {
                state.working += 1;
                if idle.is_none() && state.idle.len() + state.working > self.settings.max_children {
                    // Room for a child of another tenant: whoever has been idle longest goes.
                    drop(state.idle.remove(0));
                }
            }
            given.push((idle, Work { batch, turn: Turn::counted(self, detached) }));
        }
        drop(state);
        for (idle, work) in given {
            // An idle child may have left a moment ago; then a new one takes the work.
            let left = match idle {
                Some(idle) => idle.offer.send(work).err(),
                None => Some(work),
            };
            if let Some(work) = left {
                self.runtime.spawn(drive(Alive::new(self), Arc::clone(self), work));
            }
        }
    }

    /// Tells those who wait that children are at work and that they will have their turn.
    pub(super) fn tell_waiting(&self) {
        self.state().queue.tell_waiting();
    }

    /// Offers a child of `tenant` for more work, then gives its turn back.
    pub(super) fn stand_by(
        &self,
        tenant: TenantId,
        memory_bytes: u64,
        turn: Turn,
    ) -> oneshot::Receiver<Work> {
        let (offer, offers) = oneshot::channel();
        self.state().idle.push(Idle { tenant, memory_bytes, offer });
        drop(turn);
        offers
    }

    /// Documents that must be read again, or by someone else.
    pub(super) fn put_back(self: &Arc<Self>, tickets: Vec<Ticket>) {
        let mut state = self.state();
        state.queue.put_back(tickets);
        if state.draining {
            state.turn_away();
        }
        drop(state);
        self.dispatch();
    }

    /// Adds late-comers to a batch whose child has just become ready.
    pub(super) fn top_up(&self, batch: &mut Batch) {
        let mut state = self.state();
        let free = self.settings.max_children.saturating_sub(state.working) + 1;
        state.queue.top_up(batch, &self.settings, free);
    }

    pub(super) fn is_draining(&self) -> bool {
        self.state().draining
    }

    pub(super) fn is_stopped(&self) -> bool {
        self.state().stopped
    }

    pub(super) fn has_waiting(&self) -> bool {
        !self.state().queue.is_empty()
    }
}

impl State {
    /// Ends what waits, now and from now on.
    fn turn_away(&mut self) {
        self.draining = true;
        self.queue.end_all(shutting_down);
    }

    /// The child of this tenant that was busy last, because its memory is warm.
    fn pick_idle(&mut self, batch: &Batch) -> Option<Idle> {
        if batch.alone {
            return None;
        }
        let fits = |idle: &Idle| idle.tenant == batch.tenant && idle.memory_bytes == batch.memory_bytes;
        let position = self.idle.iter().rposition(fits)?;
        Some(self.idle.remove(position))
    }
}

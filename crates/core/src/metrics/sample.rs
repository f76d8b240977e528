//! Numbers that are not counted but looked up when somebody asks: what the store holds, room on the disk, what the
//! process uses.

use std::sync::atomic::AtomicU64;
use std::time::Duration;

use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::registry::Registry;

use super::catalogue::{self as rows, Metric};
use super::meters::{Labels, OTHER_KIND, register};
use crate::answer::TaskCounts;
use crate::clock::Timestamp;
use crate::ingestion::IngestionStatus;
use crate::ports::store::Tally;

/// What was looked up. What could not be is left out.
#[derive(Clone, Debug, Default)]
pub struct Sample {
    /// The store answered.
    pub store_up: bool,
    /// What it holds.
    pub tally: Option<Tally>,
    /// Whether its ledger balances.
    pub balanced: Option<bool>,
    /// Changes that the text index does not hold yet.
    pub index_lag: Option<i64>,
    /// Room left where the blobs lie.
    pub disk_free_bytes: Option<u64>,
    /// With less than this nothing more is taken in.
    pub disk_min_free_bytes: u64,
    /// What this process uses.
    pub process: ProcessUsage,
}

/// What this process uses.
#[derive(Clone, Copy, Debug, Default)]
pub struct ProcessUsage {
    /// CPU time.
    pub cpu: Option<Duration>,
    /// Memory.
    pub resident_bytes: Option<u64>,
    /// Open descriptors.
    pub open_fds: Option<u64>,
    /// Descriptors that may be open.
    pub max_fds: Option<u64>,
    /// When it began to count.
    pub started_at: Option<Timestamp>,
}

type GaugeU64 = Gauge<u64, AtomicU64>;

/// States of tasks that are shown; those that have ended well are too many to count.
pub(super) const TASK_STATES: &[&str] = &["queued", "held", "running", "dead"];

impl Sample {
    /// Registers everything that is known. `kinds` are the names that the label `kind` may have.
    pub(super) fn register(&self, registry: &mut Registry, kinds: &[String]) {
        set(registry, &rows::STORE_UP, u64::from(self.store_up));
        if let Some(tally) = &self.tally {
            self.register_tally(registry, tally, kinds);
        }
        if let Some(balanced) = self.balanced {
            set(registry, &rows::LEDGER_BALANCED, u64::from(balanced));
        }
        if let Some(lag) = self.index_lag {
            set(registry, &rows::INDEX_LAG, u64::try_from(lag).unwrap_or(0));
        }
        if let Some(free) = self.disk_free_bytes {
            set(registry, &rows::DISK_FREE, free);
        }
        set(registry, &rows::DISK_MIN_FREE, self.disk_min_free_bytes);
        self.process.register(registry);
    }

    #[expect(clippy::unused_self, reason = "one of the parts of a sample")]
    fn register_tally(&self, registry: &mut Registry, tally: &Tally, kinds: &[String]) {
        let tasks = gauges(registry, &rows::TASKS);
        let mut other = TaskCounts::default();
        let shown = |name: &str, counts: &TaskCounts| {
            let of_state = [counts.queued, counts.held, counts.running, counts.dead];
            for (state, n) in TASK_STATES.iter().zip(of_state) {
                let labels = vec![("kind", name.to_owned()), ("state", (*state).to_owned())];
                tasks.get_or_create(&labels).set(n);
            }
        };
        for kind in kinds {
            let counts = tally.tasks.iter().find(|(name, _)| name.as_str() == kind);
            shown(kind, &counts.map(|(_, counts)| *counts).unwrap_or_default());
        }
        for (kind, counts) in &tally.tasks {
            if !kinds.iter().any(|known| known == kind.as_str()) {
                other.queued += counts.queued;
                other.held += counts.held;
                other.running += counts.running;
                other.dead += counts.dead;
            }
        }
        if other != TaskCounts::default() {
            shown(OTHER_KIND, &other);
        }

        let ingestions = gauges(registry, &rows::INGESTIONS);
        for status in IngestionStatus::ALL {
            let n = match status {
                IngestionStatus::InProgress => tally.ingestions.in_progress,
                IngestionStatus::Completed => tally.ingestions.completed,
                IngestionStatus::Failed => tally.ingestions.failed,
                IngestionStatus::Skipped => tally.ingestions.skipped,
                IngestionStatus::Cancelled => tally.ingestions.cancelled,
            };
            ingestions.get_or_create(&vec![("status", status.name().to_owned())]).set(n);
        }
        let batches = gauges(registry, &rows::BATCHES);
        for state in crate::batch::BatchState::ALL {
            let found = tally.batches.iter().find(|(of, _)| of == state);
            let labels = vec![("state", state.name().to_owned())];
            batches.get_or_create(&labels).set(found.map_or(0, |(_, n)| *n));
        }
        set(registry, &rows::DOCUMENTS, tally.documents);
        set(registry, &rows::WORKERS, tally.workers);
        let events = Counter::<u64>::default();
        events.inc_by(tally.events);
        register(registry, &rows::EVENTS, events);
    }
}

impl ProcessUsage {
    fn register(self, registry: &mut Registry) {
        if let Some(cpu) = self.cpu {
            let seconds = Counter::<f64, AtomicU64>::default();
            seconds.inc_by(cpu.as_secs_f64());
            register(registry, &rows::PROCESS_CPU, seconds);
        }
        for (row, value) in [
            (rows::PROCESS_RESIDENT, self.resident_bytes),
            (rows::PROCESS_OPEN_FDS, self.open_fds),
            (rows::PROCESS_MAX_FDS, self.max_fds),
        ] {
            if let Some(value) = value {
                set(registry, &row, value);
            }
        }
        if let Some(at) = self.started_at {
            let seconds = Gauge::<f64, AtomicU64>::default();
            seconds.set(at.0 as f64 / 1000.0);
            register(registry, &rows::PROCESS_START, seconds);
        }
    }
}

fn set(registry: &mut Registry, row: &Metric, value: u64) {
    let gauge = GaugeU64::default();
    gauge.set(value);
    register(registry, row, gauge);
}

fn gauges(registry: &mut Registry, row: &Metric) -> Family<Labels, GaugeU64> {
    let family = Family::<Labels, GaugeU64>::default();
    register(registry, row, family.clone());
    family
}

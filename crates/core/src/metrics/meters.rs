//! The instruments. What counts is found once, when the process starts: counting a task is then a few additions to
//! numbers in memory, without a look-up by label and without an allocation, because the engine does tens of thousands
//! of tasks a second.

use std::time::Duration;

use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::metrics::histogram::{Histogram, exponential_buckets};
use prometheus_client::registry::{self, Registry};

use super::catalogue::{self as rows, Metric};
use super::labels::{AttemptOutcome, BlobOperation, ChildEnd, Outcome};
use crate::task::TaskKind;

/// Labels with their values.
pub(super) type Labels = Vec<(&'static str, String)>;

/// From a no-op to a large document on a busy machine, in seconds.
const DURATIONS: [f64; 18] = [
    0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0, 300.0,
    1800.0,
];

/// Registers a metric under the words of its row.
pub(super) fn register(registry: &mut Registry, row: &Metric, metric: impl registry::Metric) {
    match row.unit() {
        Some(unit) => registry.register_with_unit(row.stem(), row.help, unit, metric),
        None => registry.register(row.name, row.help, metric),
    }
}

fn counter(registry: &mut Registry, row: &Metric) -> Counter {
    let counter = Counter::default();
    register(registry, row, counter.clone());
    counter
}

fn gauge(registry: &mut Registry, row: &Metric) -> Gauge {
    let gauge = Gauge::default();
    register(registry, row, gauge.clone());
    gauge
}

pub(super) fn histogram(
    registry: &mut Registry,
    row: &Metric,
    buckets: impl IntoIterator<Item = f64>,
) -> Histogram {
    let histogram = Histogram::new(buckets);
    register(registry, row, histogram.clone());
    histogram
}

pub(super) fn counters(registry: &mut Registry, row: &Metric) -> Family<Labels, Counter> {
    let family = Family::<Labels, Counter>::default();
    register(registry, row, family.clone());
    family
}

fn durations(registry: &mut Registry, row: &Metric) -> Family<Labels, Histogram> {
    let family = Family::<Labels, Histogram>::new_with_constructor(|| Histogram::new(DURATIONS));
    register(registry, row, family.clone());
    family
}

/// Both ends of something that works or does not.
#[derive(Clone, Debug)]
pub struct Tries {
    ok: Counter,
    failed: Counter,
}

impl Tries {
    pub(super) fn new(registry: &mut Registry, row: &Metric) -> Self {
        let family = counters(registry, row);
        let of = |outcome: Outcome| family.get_or_create_owned(&vec![("outcome", outcome.name().to_owned())]);
        Self { ok: of(Outcome::Ok), failed: of(Outcome::Failed) }
    }

    /// It worked, or it did not.
    pub fn note(&self, ok: bool) {
        if ok {
            self.ok.inc()
        } else {
            self.failed.inc()
        };
    }
}

/// What the engine counts.
#[derive(Debug)]
pub struct EngineMeter {
    kinds: Vec<KindMeter>,
    /// For a kind that this version does not know.
    other: KindMeter,
    /// Capacity of the workers of this process, in units.
    pub units: Gauge,
    /// What running tasks take of it.
    pub units_busy: Gauge,
    /// Renewals of leases.
    pub renewals: Tries,
    /// Running tasks that were found to be somebody else's.
    pub leases_lost: Counter,
    /// Sweeps.
    pub sweeps: Tries,
    /// Tasks that sweeps brought back.
    pub reclaimed: Counter,
}

/// The name under which tasks of unknown kinds are counted.
pub(super) const OTHER_KIND: &str = "other";

impl EngineMeter {
    pub(super) fn new(registry: &mut Registry, kinds: &[TaskKind]) -> Self {
        let ended = counters(registry, &rows::TASKS_ENDED);
        let duration = durations(registry, &rows::TASK_DURATION);
        let wait = durations(registry, &rows::TASK_WAIT);
        let meter = |name: &str| KindMeter {
            name: name.to_owned(),
            ended: AttemptOutcome::ALL
                .iter()
                .map(|outcome| {
                    let labels = vec![("kind", name.to_owned()), ("outcome", outcome.name().to_owned())];
                    ended.get_or_create_owned(&labels)
                })
                .collect(),
            duration: duration.get_or_create_owned(&vec![("kind", name.to_owned())]),
            wait: wait.get_or_create_owned(&vec![("kind", name.to_owned())]),
        };
        Self {
            kinds: kinds.iter().map(|kind| meter(kind.as_str())).collect(),
            other: meter(OTHER_KIND),
            units: gauge(registry, &rows::WORKER_UNITS),
            units_busy: gauge(registry, &rows::WORKER_UNITS_BUSY),
            renewals: Tries::new(registry, &rows::LEASE_RENEWALS),
            leases_lost: counter(registry, &rows::LEASES_LOST),
            sweeps: Tries::new(registry, &rows::SWEEPS),
            reclaimed: counter(registry, &rows::TASKS_RECLAIMED),
        }
    }

    /// The counters of a kind. There are few kinds, so looking through them is quicker than hashing.
    pub fn kind(&self, kind: &TaskKind) -> &KindMeter {
        self.kinds.iter().find(|meter| meter.name == kind.as_str()).unwrap_or(&self.other)
    }
}

/// What the engine counts of one kind of task.
#[derive(Debug)]
pub struct KindMeter {
    name: String,
    /// In the order of [`AttemptOutcome::ALL`].
    ended: Vec<Counter>,
    duration: Histogram,
    wait: Histogram,
}

impl KindMeter {
    /// An attempt has ended.
    pub fn ended(&self, outcome: AttemptOutcome) {
        if let Some(counter) = self.ended.get(outcome as usize) {
            counter.inc();
        }
    }

    /// An attempt took so long.
    pub fn took(&self, duration: Duration) {
        self.duration.observe(duration.as_secs_f64());
    }

    /// A task was due for so long before it was claimed.
    pub fn waited(&self, duration: Duration) {
        self.wait.observe(duration.as_secs_f64());
    }
}

/// What a store counts.
#[derive(Clone, Debug)]
pub struct StoreMeter {
    transactions: Tries,
    duration: Histogram,
    group: Histogram,
}

impl StoreMeter {
    pub(super) fn new(registry: &mut Registry) -> Self {
        Self {
            transactions: Tries::new(registry, &rows::STORE_TRANSACTIONS),
            duration: histogram(registry, &rows::STORE_TRANSACTION_DURATION, DURATIONS),
            group: histogram(registry, &rows::STORE_GROUP_SIZE, exponential_buckets(1.0, 2.0, 10)),
        }
    }

    /// A write transaction has ended that so many writes shared.
    pub fn transaction(&self, writes: usize, took: Duration, ok: bool) {
        self.transactions.note(ok);
        self.duration.observe(took.as_secs_f64());
        self.group.observe(writes as f64);
    }
}

impl Default for StoreMeter {
    /// Counts for nobody.
    fn default() -> Self {
        Self::new(&mut Registry::default())
    }
}

/// What is counted of a blob store.
#[derive(Clone, Debug)]
pub struct BlobMeter {
    /// In the order of [`BlobOperation::ALL`].
    operations: Vec<(Tries, Histogram)>,
    /// Bytes handed over.
    pub written: Counter,
    /// Bytes had back.
    pub read: Counter,
}

impl BlobMeter {
    pub(super) fn new(registry: &mut Registry) -> Self {
        let calls = counters(registry, &rows::BLOB_OPERATIONS);
        let duration = durations(registry, &rows::BLOB_OPERATION_DURATION);
        let operation = |operation: &BlobOperation| {
            let label = ("operation", operation.name().to_owned());
            let of = |outcome: Outcome| {
                calls.get_or_create_owned(&vec![label.clone(), ("outcome", outcome.name().to_owned())])
            };
            let tries = Tries { ok: of(Outcome::Ok), failed: of(Outcome::Failed) };
            (tries, duration.get_or_create_owned(&vec![label.clone()]))
        };
        Self {
            operations: BlobOperation::ALL.iter().map(operation).collect(),
            written: counter(registry, &rows::BLOB_WRITTEN),
            read: counter(registry, &rows::BLOB_READ),
        }
    }

    /// A call has ended.
    pub fn called(&self, operation: BlobOperation, took: Duration, ok: bool) {
        if let Some((tries, duration)) = self.operations.get(operation as usize) {
            tries.note(ok);
            duration.observe(took.as_secs_f64());
        }
    }
}

impl Default for BlobMeter {
    /// Counts for nobody.
    fn default() -> Self {
        Self::new(&mut Registry::default())
    }
}

/// What is counted of the children that read documents.
#[derive(Clone, Debug)]
pub struct ChildMeter {
    /// Not reaped yet.
    pub alive: Gauge,
    /// Started.
    pub started: Counter,
    /// In the order of [`ChildEnd::ALL`].
    ended: Vec<Counter>,
}

impl ChildMeter {
    pub(super) fn new(registry: &mut Registry) -> Self {
        let alive = gauge(registry, &rows::CHILDREN);
        let started = counter(registry, &rows::CHILDREN_STARTED);
        let ended = counters(registry, &rows::CHILDREN_ENDED);
        let of = |reason: &ChildEnd| ended.get_or_create_owned(&vec![("reason", reason.name().to_owned())]);
        Self { alive, started, ended: ChildEnd::ALL.iter().map(of).collect() }
    }

    /// A child has ended.
    pub fn ended(&self, reason: ChildEnd) {
        if let Some(counter) = self.ended.get(reason as usize) {
            counter.inc();
        }
    }
}

impl Default for ChildMeter {
    /// Counts for nobody.
    fn default() -> Self {
        Self::new(&mut Registry::default())
    }
}

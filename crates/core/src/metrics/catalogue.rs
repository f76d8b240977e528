//! Every number that docmill shows, in one table: name, type, labels, meaning. Instruments are made from its rows, the
//! reference page is printed from it, and a test of the real binary holds what is scraped against it.
//!
//! A label takes its values from a list that the code knows; nothing that a user or a document names becomes one.

use prometheus_client::registry::Unit;

/// What kind of number.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Type {
    /// Only rises.
    Counter,
    /// Rises and falls.
    Gauge,
    /// How often a value fell where.
    Histogram,
    /// Always 1; its labels tell something.
    Info,
}

/// Whom a number is about, which says how to add up the numbers of several processes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum About {
    /// This process alone: add up over processes.
    Process,
    /// The store, which all processes share: every process tells the same.
    Store,
}

/// One row.
#[derive(Clone, Copy, Debug)]
pub struct Metric {
    /// The name of the family, without the `_total` or `_info` of its samples.
    pub name: &'static str,
    /// What kind of number.
    pub kind: Type,
    /// Whom it is about.
    pub about: About,
    /// Its labels.
    pub labels: &'static [&'static str],
    /// What it means, without a full stop.
    pub help: &'static str,
}

impl Metric {
    /// The unit, as the last part of the name says.
    pub(super) fn unit(&self) -> Option<Unit> {
        match self.name.rsplit_once('_') {
            Some((_, "seconds")) => Some(Unit::Seconds),
            Some((_, "bytes")) => Some(Unit::Bytes),
            _ => None,
        }
    }

    /// The name without its unit.
    pub(super) fn stem(&self) -> &'static str {
        match self.name.rsplit_once('_') {
            Some((stem, "seconds" | "bytes")) => stem,
            _ => self.name,
        }
    }

    /// The name that queries use.
    pub fn sample(&self) -> String {
        match self.kind {
            Type::Counter => format!("{}_total", self.name),
            Type::Info => format!("{}_info", self.name),
            Type::Gauge | Type::Histogram => self.name.to_owned(),
        }
    }
}

macro_rules! catalogue {
    ($($row:ident = $kind:ident $name:literal of $about:ident [$($label:literal),*]: $help:literal;)*) => {
        $(pub(super) const $row: Metric = Metric {
            name: $name,
            kind: Type::$kind,
            about: About::$about,
            labels: &[$($label),*],
            help: $help,
        };)*

        /// Every row, in the order of the reference page.
        pub static ALL: &[Metric] = &[$($row,)*];
    };
}

catalogue! {
    TASKS_ENDED = Counter "docmill_tasks_ended" of Process ["kind", "outcome"]:
        "attempts at tasks that this process has ended, by what came of them";
    TASK_DURATION = Histogram "docmill_task_duration_seconds" of Process ["kind"]:
        "time from the start of an attempt to its result";
    TASK_WAIT = Histogram "docmill_task_wait_seconds" of Process ["kind"]:
        "time that a task was due before it was claimed; tasks that follow another at once are not counted";
    WORKER_UNITS = Gauge "docmill_worker_units" of Process []:
        "capacity of this worker; a slot is 32 units";
    WORKER_UNITS_BUSY = Gauge "docmill_worker_units_busy" of Process []:
        "capacity that running tasks take; may exceed the whole for a task that is larger than the worker";
    LEASE_RENEWALS = Counter "docmill_lease_renewals" of Process ["outcome"]:
        "renewals of the leases that this worker holds, all of them at a time";
    LEASES_LOST = Counter "docmill_leases_lost" of Process []:
        "running tasks that were found to belong to somebody else, or to nobody, when their leases were renewed";
    SWEEPS = Counter "docmill_sweeps" of Process ["outcome"]:
        "searches for the work that dead workers left";
    TASKS_RECLAIMED = Counter "docmill_tasks_reclaimed" of Process []:
        "tasks of dead workers that a sweep brought back into the queue";
    CHILDREN = Gauge "docmill_children" of Process []:
        "child processes that read documents and are not reaped yet";
    CHILDREN_STARTED = Counter "docmill_children_started" of Process []:
        "child processes that were started";
    CHILDREN_ENDED = Counter "docmill_children_ended" of Process ["reason"]:
        "child processes that have ended, by why";
    STORE_TRANSACTIONS = Counter "docmill_store_transactions" of Process ["outcome"]:
        "write transactions of this process";
    STORE_TRANSACTION_DURATION = Histogram "docmill_store_transaction_duration_seconds" of Process []:
        "time from the begin of a write transaction to its end";
    STORE_GROUP_SIZE = Histogram "docmill_store_group_size" of Process []:
        "writes that shared a transaction";
    BLOB_OPERATIONS = Counter "docmill_blob_operations" of Process ["operation", "outcome"]:
        "calls of the blob store; a blob that is not there is no failure";
    BLOB_OPERATION_DURATION = Histogram "docmill_blob_operation_duration_seconds" of Process ["operation"]:
        "time that a call of the blob store took";
    BLOB_WRITTEN = Counter "docmill_blob_written_bytes" of Process []:
        "bytes handed to the blob store";
    BLOB_READ = Counter "docmill_blob_read_bytes" of Process []:
        "bytes of blobs that were opened or read";
    LLM_CALLS = Counter "docmill_llm_calls" of Process ["outcome"]:
        "calls of the language model";
    LLM_CALL_DURATION = Histogram "docmill_llm_call_duration_seconds" of Process []:
        "time that a call of the language model took";
    LLM_TOKENS = Counter "docmill_llm_tokens" of Process ["direction"]:
        "tokens that the language model has read and written";
    LLM_COST = Counter "docmill_llm_cost" of Process []:
        "what the language model has cost, in the currency of llm.price_in and llm.price_out; 0 where they are not set";
    STORE_UP = Gauge "docmill_store_up" of Process []:
        "1 if the store answered when it was last asked for its own numbers, else 0, and they are left out";
    TASKS = Gauge "docmill_tasks" of Store ["kind", "state"]:
        "tasks that have not ended well, by state; one that is queued may be due later";
    INGESTIONS = Gauge "docmill_ingestions" of Store ["status"]:
        "ingestions by status";
    DOCUMENTS = Gauge "docmill_documents" of Store []:
        "documents";
    BATCHES = Gauge "docmill_batches" of Store ["state"]:
        "batches by state; one that is open is still being counted, one that is sealed has work left";
    WORKERS = Gauge "docmill_workers" of Store []:
        "workers on the list";
    EVENTS = Counter "docmill_events" of Store []:
        "events that were ever numbered, pruned ones included";
    LEDGER_BALANCED = Gauge "docmill_ledger_balanced" of Store []:
        "1 if what was expected equals what happened to it for every tenant and every container, else 0";
    INDEX_LAG = Gauge "docmill_index_lag_changes" of Process []:
        "changes of documents that the text index of this process does not hold yet";
    DISK_FREE = Gauge "docmill_disk_free_bytes" of Process []:
        "room left where the blobs lie; absent where there is no such limit";
    DISK_MIN_FREE = Gauge "docmill_disk_min_free_bytes" of Process []:
        "nothing more is taken in when less room than this is left (limits.min_free_disk_bytes)";
    PROCESS_CPU = Counter "process_cpu_seconds" of Process []:
        "CPU time of this process, without its children";
    PROCESS_RESIDENT = Gauge "process_resident_memory_bytes" of Process []:
        "memory of this process, without its children";
    PROCESS_OPEN_FDS = Gauge "process_open_fds" of Process []:
        "open file descriptors";
    PROCESS_MAX_FDS = Gauge "process_max_fds" of Process []:
        "file descriptors that may be open at once";
    PROCESS_START = Gauge "process_start_time_seconds" of Process []:
        "when this process began to count, in seconds since 1970";
    BUILD = Info "docmill_build" of Process ["version"]:
        "which docmill this is";
}

const OPENING: &str = "# Metrics

`docmill serve` shows them at `/metrics`; `docmill work --metrics ADDR` and the setting `metrics.listen` show them on an address of their own, with `/healthz` and `/readyz` beside them.
The format is OpenMetrics text, which Prometheus reads.
[Operations](../operations.md) has alerts made of them.

Nothing of a tenant is shown: numbers are added up over all tenants, and no label carries what a user or a document named.
Numbers about the store are the same from every process that shares it; they are asked for at most every few seconds, and less often where counting takes long.
";

/// The reference page, as Markdown.
pub fn reference() -> String {
    let mut page = String::from(OPENING);
    for (about, title) in [
        (About::Process, "Of one process: add up what can be added"),
        (About::Store, "Of the store: take any one"),
    ] {
        page.push_str(&format!("\n## {title}\n\n| name | type | labels | tells |\n|---|---|---|---|\n"));
        for metric in ALL.iter().filter(|metric| metric.about == about) {
            let kind = match metric.kind {
                Type::Counter => "counter",
                Type::Gauge => "gauge",
                Type::Histogram => "histogram",
                Type::Info => "info",
            };
            let labels: Vec<String> = metric.labels.iter().map(|label| format!("`{label}`")).collect();
            page.push_str(&format!(
                "| `{}` | {kind} | {} | {} |\n",
                metric.sample(),
                labels.join(", "),
                metric.help
            ));
        }
    }
    page.push_str("\n## Labels\n\n| label | values |\n|---|---|\n");
    for (label, values) in super::labels::values() {
        page.push_str(&format!("| {label} | {values} |\n"));
    }
    page
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_follow_the_convention_and_are_given_once() {
        for metric in ALL {
            assert_eq!(ALL.iter().filter(|other| other.name == metric.name).count(), 1, "{}", metric.name);
            assert!(metric.name.starts_with("docmill_") || metric.name.starts_with("process_"));
            assert!(metric.name.bytes().all(|b| b.is_ascii_lowercase() || b == b'_'), "{}", metric.name);
            assert!(!metric.name.ends_with("_total") && !metric.name.ends_with("_info"), "{}", metric.name);
            assert!(!metric.help.ends_with('.') && !metric.help.contains(['\n', '\\']), "{}", metric.help);
        }
    }
}

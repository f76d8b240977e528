//! Numbers for Prometheus: what this process has counted, and what it looks up when it is asked.
//!
//! `catalogue` is the one table of names; `labels` the words that labels may have; `meters` the instruments that the
//! engine and the back ends are given; `sample` what is looked up at a scrape. There is no global registry: whoever
//! counts is handed its meter, and one that was handed none counts for nobody.

mod catalogue;
mod labels;
mod llm;
mod meters;
mod sample;

use prometheus_client::encoding::text::{encode_eof, encode_registry};
use prometheus_client::metrics::info::Info;
use prometheus_client::registry::Registry;

pub use catalogue::{ALL, About, Metric, Type, reference};
pub use labels::{AttemptOutcome, BlobOperation, ChildEnd, Outcome, TokenDirection};
pub use llm::LlmMeter;
pub use meters::{BlobMeter, ChildMeter, EngineMeter, KindMeter, StoreMeter, Tries};
pub use sample::{ProcessUsage, Sample};

use crate::error::{Error, Result};
use crate::task::TaskKind;

/// The media type of what [`Metrics::page`] writes.
pub const MEDIA_TYPE: &str = "application/openmetrics-text; version=1.0.0; charset=utf-8";

/// Everything that one process counts.
#[derive(Debug)]
pub struct Metrics {
    /// Of the engine.
    pub engine: EngineMeter,
    /// For the store.
    pub store: StoreMeter,
    /// For the blob store.
    pub blobs: BlobMeter,
    /// For the child pool.
    pub children: ChildMeter,
    /// For the language model.
    pub llm: LlmMeter,
    kinds: Vec<String>,
    counted: Registry,
}

impl Metrics {
    /// Counts from zero. Tasks of other kinds than these are counted under one name.
    pub fn new(kinds: &[TaskKind], version: &str) -> Self {
        let mut counted = Registry::default();
        let engine = EngineMeter::new(&mut counted, kinds);
        let children = ChildMeter::new(&mut counted);
        let store = StoreMeter::new(&mut counted);
        let blobs = BlobMeter::new(&mut counted);
        let llm = LlmMeter::new(&mut counted);
        let build = Info::new(vec![("version", version.to_owned())]);
        meters::register(&mut counted, &catalogue::BUILD, build);
        let kinds = kinds.iter().map(ToString::to_string).collect();
        Self { engine, store, blobs, children, llm, kinds, counted }
    }

    /// The page that a scraper reads, in the text format of OpenMetrics.
    pub fn page(&self, sample: &Sample) -> Result<String> {
        let mut looked_up = Registry::default();
        sample.register(&mut looked_up, &self.kinds);
        let mut page = String::new();
        encode_registry(&mut page, &self.counted)
            .and_then(|()| encode_registry(&mut page, &looked_up))
            .and_then(|()| encode_eof(&mut page))
            .map_err(|e| Error::bug("cannot write the metrics").with_source(e))?;
        Ok(page)
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::answer::{IngestionCounts, TaskCounts};
    use crate::batch::BatchState;
    use crate::clock::Timestamp;
    use crate::ports::store::Tally;

    const KIND: TaskKind = TaskKind::named("extract-text");

    fn everything() -> Sample {
        let queued = |queued| TaskCounts { queued, ..TaskCounts::default() };
        Sample {
            store_up: true,
            tally: Some(Tally {
                documents: 3,
                ingestions: IngestionCounts { completed: 4, ..IngestionCounts::default() },
                tasks: vec![
                    (KIND, queued(5)),
                    (TaskKind::named("x"), queued(1)),
                    (TaskKind::named("y"), queued(1)),
                ],
                batches: vec![(BatchState::Sealed, 2)],
                workers: 1,
                events: 9,
            }),
            balanced: Some(true),
            index_lag: Some(0),
            disk_free_bytes: Some(1 << 40),
            disk_min_free_bytes: 7,
            process: ProcessUsage {
                cpu: Some(Duration::from_millis(1500)),
                resident_bytes: Some(1),
                open_fds: Some(2),
                max_fds: Some(3),
                started_at: Some(Timestamp(1_800_000_000_500)),
            },
        }
    }

    #[test]
    fn page_shows_every_row_of_the_catalogue_and_nothing_else() {
        let page = Metrics::new(&[KIND], "1.2.3").page(&everything()).unwrap();
        let families: Vec<&str> =
            page.lines().filter_map(|line| line.strip_prefix("# TYPE ")?.split(' ').next()).collect();
        for metric in ALL {
            assert_eq!(families.iter().filter(|f| **f == metric.name).count(), 1, "{}", metric.name);
        }
        assert_eq!(families.len(), ALL.len(), "{families:?}");
        assert!(page.ends_with("# EOF\n"));
    }

    #[test]
    fn page_tells_what_was_counted_and_looked_up() {
        let metrics = Metrics::new(&[KIND], "1.2.3");
        metrics.engine.kind(&KIND).ended(AttemptOutcome::Completed);
        metrics.engine.kind(&KIND).took(Duration::from_millis(3));
        metrics.engine.kind(&TaskKind::named("of another version")).ended(AttemptOutcome::Dead);
        metrics.store.transaction(12, Duration::from_millis(1), true);
        metrics.blobs.called(BlobOperation::Put, Duration::ZERO, false);
        let page = metrics.page(&everything()).unwrap();
        for line in [
            "docmill_tasks_ended_total{kind=\"extract-text\",outcome=\"completed\"} 1",
            "docmill_tasks_ended_total{kind=\"other\",outcome=\"dead\"} 1",
            "docmill_task_duration_seconds_bucket{le=\"0.005\",kind=\"extract-text\"} 1",
            "docmill_store_group_size_bucket{le=\"16.0\"} 1",
            "docmill_blob_operations_total{operation=\"put\",outcome=\"failed\"} 1",
            "docmill_tasks{kind=\"extract-text\",state=\"queued\"} 5",
            "docmill_tasks{kind=\"other\",state=\"queued\"} 2",
            "docmill_batches{state=\"sealed\"} 2",
            "docmill_batches{state=\"open\"} 0",
            "docmill_events_total 9",
            "process_cpu_seconds_total 1.5",
            "process_start_time_seconds 1800000000.5",
            "docmill_build_info{version=\"1.2.3\"} 1",
        ] {
            assert!(page.lines().any(|l| l == line), "{line} is missing in\n{page}");
        }
    }

    #[test]
    fn page_without_a_store_leaves_its_numbers_out() {
        let page = Metrics::new(&[KIND], "1").page(&Sample::default()).unwrap();
        assert!(page.contains("docmill_store_up 0\n"));
        assert!(!page.contains("docmill_documents") && !page.contains("docmill_ledger_balanced"));
    }
}

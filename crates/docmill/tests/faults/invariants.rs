//! What must hold after any fault, I1 to I9, where no process works any more.
//!
//! I1 (one result for each step, the same as undisturbed), I2 (the ledger), I3 (nothing is left to do), I5 (nobody is
//! charged), I6 (a late report changes nothing) and I7 (events without gaps) are in the whole state, which is compared
//! with that of an undisturbed run: every result, task, event and hash is a line of it. I4 and the rest of I9 are here. For
//! I8 there is nothing to look at: no stage of this version pays anybody.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use docmill_backends::child::{NoEmbedder, NoOcr};
use docmill_backends::{search, vectors};
use docmill_core::call::Call;
use docmill_core::clock::{Clock, SystemClock, SystemEntropy, SystemIds, Timestamp};
use docmill_core::config::Settings;
use docmill_core::metrics::Metrics;
use docmill_core::ports::reader::{Findings, ReadJob};
use docmill_core::ports::{Blobs, Reader, Store};
use docmill_core::wire::Layer;
use docmill_core::{Error, Result};
use docmill_pipeline::{Deps, Service};
use tokio::runtime::Runtime;

use crate::cluster::Database;
use crate::support::Mill;
use crate::support::aftermath::{aftermath_of, open_blobs, open_store, processes_naming};

/// Insists on everything, and gives the whole state to be compared with another run's.
pub(crate) fn hold(mill: &Mill, database: &Database, words: &[String]) -> String {
    // Whoever works next finds nothing but what others may have left: the index, the locks of dead workers.
    for place in [mill, &mill.with_data("elsewhere")] {
        place.run(&["work", "--exit-when-idle"]).expect(0);
        assert_eq!(left_in(&place.data().join("workers")), [""; 0], "I9: locks of workers are left");
    }
    assert_eq!(processes_naming(mill.root()), [""; 0], "I9: processes are left behind");
    Runtime::new().unwrap().block_on(prune_everything(mill));
    for place in [mill, &mill.with_data("elsewhere")] {
        assert_eq!(left_in(&place.data()), ["workers"], "I9: files are left behind");
    }
    let finished = database.column("SELECT body FROM event WHERE body LIKE '%\"JOB_FINISHED\"%'").unwrap();
    let finished: usize = finished.iter().map(|body| body.matches("\"JOB_FINISHED\"").count()).sum();
    assert_eq!(finished, 1, "I7: a batch finishes once");
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let state = without_free_retries(&aftermath_of(mill, &words));
    // Whoever looks numbers first what the last process has said when it ended.
    for table in ["outbox", "worker"] {
        let left = database.number(&format!("SELECT count(*)::text FROM {table}"));
        assert_eq!(left, Some(0), "I9: rows are left in `{table}`");
    }
    state
}

/// A retry that cost nothing (the store or the blobs were away) is remembered with its reason in the task; nothing else
/// of it may be left.
fn without_free_retries(state: &str) -> String {
    let cut = |line: &str| match line.split_once(", last error unavailable: ") {
        Some((before, _)) if before.trim_start().starts_with("task ") => before.to_owned(),
        _ => line.to_owned(),
    };
    state.lines().map(cut).collect::<Vec<_>>().join("\n")
}

/// What a folder holds.
fn left_in(folder: &Path) -> Vec<String> {
    let mut names: Vec<String> = std::fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    names
}

/// Prunes as docmill does, two days from now, and insists that every blob which is left belongs to a row. That each row
/// has its blob, and a whole one, is in the whole state.
async fn prune_everything(mill: &Mill) {
    let clock: Arc<dyn Clock> = Arc::new(Later(SystemClock::new()));
    let store = open_store(mill, Arc::clone(&clock)).await;
    let blobs = open_blobs(mill, Arc::clone(&clock));
    let url = mill.setting("DOCMILL_STORE_URL").unwrap();
    let index = search::open(url, &mill.data()).unwrap();
    let vectors = vectors::open(url, &mill.data()).unwrap();
    let service = Service::new(Deps {
        store: Arc::clone(&store),
        blobs: Arc::clone(&blobs),
        reader: Arc::new(Nobody),
        viewer: Arc::new(Nobody),
        ocr: Arc::new(NoOcr::new("nobody recognises here", "this test reads nothing")),
        ocr_again: Arc::new(NoOcr::new("nobody recognises here", "this test reads nothing")),
        embedder: Arc::new(NoEmbedder::new("nobody embeds here", "this test reads nothing")),
        understander: Arc::new(docmill_understand::Local::new().unwrap()),
        extractor: Arc::new(docmill_extract::Local),
        llm: None,
        generator: Arc::new(docmill_generate::Press::default()),
        index,
        vectors,
        clock,
        ids: Arc::new(SystemIds),
        entropy: Arc::new(SystemEntropy),
        settings: Arc::new(Settings::new(mill.data())),
        metrics: Arc::new(Metrics::new(&[], "test")),
        spans: None,
    });
    let tenant = service.tenant("local").await.unwrap();
    service.call(tenant, Call::Prune).await.unwrap();
    assert_eq!(orphans(&*store, &*blobs).await, [""; 0], "I4: blobs that no row names outlive pruning");
}

async fn orphans(store: &dyn Store, blobs: &dyn Blobs) -> Vec<String> {
    let mut orphans = Vec::new();
    for folder in ["documents", "ingestions", "uploads"] {
        let mut listing = blobs.list(folder).await.unwrap();
        while let Some(piece) = listing.recv().await {
            let keys: Vec<_> = piece.unwrap().into_iter().map(|info| info.key).collect();
            let named = store.referenced(&keys).await.unwrap();
            orphans
                .extend(keys.iter().zip(named).filter(|(_, named)| !named).map(|(key, _)| key.to_string()));
        }
    }
    orphans
}

/// The day after tomorrow.
struct Later(SystemClock);

impl Clock for Later {
    fn now(&self) -> Timestamp {
        self.0.now().plus(Duration::from_hours(48))
    }

    fn monotonic(&self) -> Duration {
        self.0.monotonic()
    }
}

/// Pruning reads no document.
struct Nobody;

#[async_trait]
impl Reader for Nobody {
    async fn read(&self, _: ReadJob) -> Result<Findings> {
        Err(Error::bug("nobody reads here"))
    }

    async fn layers(&self) -> Result<Vec<Layer>> {
        Err(Error::bug("nobody reads here"))
    }

    async fn drain(&self) {}

    async fn shutdown(&self) {}
}

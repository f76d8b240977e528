//! What a run leaves behind, as far as it must not depend on crashes.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use docmill_backends::blobs::{self, Surroundings};
use docmill_backends::store::{self, Connections};
use docmill_core::clock::{Clock, SystemClock, SystemEntropy, SystemIds};
use docmill_core::config::{BlobSettings, CloudVariables};
use docmill_core::ports::{Blobs, Store};
use docmill_testkit::state;
use serde_json::Value;

use super::Mill;

/// What is looked for after an ingest of the crash tests.
const WORDS: [&str; 3] = ["harbours", "member", "beside"];

/// Opens the store of a place, wherever it is.
pub(crate) async fn open_store(mill: &Mill, clock: Arc<dyn Clock>) -> Arc<dyn Store> {
    let url = mill.setting("DOCMILL_STORE_URL").unwrap_or("sqlite:");
    let connections = Connections { max: 4, statement_timeout: Duration::from_secs(30) };
    store::open(url, &mill.data(), connections, clock, Arc::new(SystemIds)).await.unwrap()
}

/// Opens the blobs of a place, wherever they are.
pub(crate) fn open_blobs(mill: &Mill, clock: Arc<dyn Clock>) -> Arc<dyn Blobs> {
    let setting = |name: &str| mill.setting(name).unwrap_or_default().to_owned();
    let keys = ["AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"];
    let variables = CloudVariables::of(keys.map(|name| (name.to_owned(), setting(name))));
    let settings =
        BlobSettings { endpoint: setting("DOCMILL_BLOBS_ENDPOINT"), variables, ..BlobSettings::default() };
    let (data_dir, entropy) = (mill.data(), Arc::new(SystemEntropy));
    let around = Surroundings { data_dir: &data_dir, settings: &settings, clock, entropy };
    blobs::open(mill.setting("DOCMILL_BLOBS_URL").unwrap_or("file:blobs"), &around).unwrap()
}

/// The whole state of a place in which no process works any more, and what search finds there.
pub(crate) fn whole_state(mill: &Mill, words: &[&str]) -> String {
    let found: Vec<String> = words.iter().map(|word| found(mill, word)).collect();
    let state = tokio::runtime::Runtime::new().unwrap().block_on(print(mill));
    format!("{state}\nfound\n{}", found.concat())
}

async fn print(mill: &Mill) -> String {
    let clock: Arc<dyn Clock> = Arc::new(SystemClock::new());
    let store = open_store(mill, Arc::clone(&clock)).await;
    let blobs = open_blobs(mill, clock);
    let tenant = store.tenant("local").await.unwrap();
    state::print(&*store, &*blobs, tenant).await.unwrap()
}

/// Insists that everything came to a good end, and gives the whole state to be compared with another run's.
#[track_caller]
pub(crate) fn aftermath(mill: &Mill) -> String {
    aftermath_of(mill, &WORDS)
}

/// The same of a place in which other words are found.
#[track_caller]
pub(crate) fn aftermath_of(mill: &Mill, words: &[&str]) -> String {
    let audit = mill.run(&["audit", "--json"]).expect(0).json();
    assert_eq!(audit["balanced"], true, "I2: {audit}");
    assert_eq!(audit["open"], 0, "I3: {audit}");
    assert_eq!(audit["blobs"]["missing"], 0, "I4: {audit}");
    let state = whole_state(mill, words);
    assert!(state.contains("numbered without gaps"), "I7: events have gaps\n{state}");
    for line in state.lines().filter(|line| line.contains("attempt ")) {
        assert!(line.contains("attempt 0"), "I5: an attempt was charged to an innocent document: {line}");
    }
    for line in state.lines().filter(|line| line.trim_start().starts_with("task ")) {
        assert!(line.contains(") done, "), "I6: work is left: {line}");
    }
    state
}

/// What search finds: nothing missing, nothing twice.
fn found(mill: &Mill, word: &str) -> String {
    let hits = mill.run(&["search", word, "--limit", "5000", "--json"]).expect(0).json();
    let hits = hits["hits"].as_array().unwrap();
    // Which of two names a shared content shows depends on which copy came first.
    let name = |hit: &Value| hit["name"].as_str().unwrap().replace("copy-of-", "");
    let mut names: Vec<String> = hits.iter().map(name).collect();
    names.sort();
    format!("  {word}: {}\n", names.join(", "))
}

/// How many processes work on this place's data directory.
pub(crate) fn processes_of(mill: &Mill) -> usize {
    processes_naming(&mill.data()).len()
}

/// The processes whose command line names this path. A child does not name a directory, but dies with its parent; what
/// is asked for is its whole family. One that was killed while it started a child leaves that behind for a moment, with
/// its own command line until the child becomes another program and notices; so they are given time to go.
pub(crate) fn processes_naming(path: &Path) -> Vec<String> {
    let path = path.to_str().unwrap();
    let clock = SystemClock::default();
    let begun = clock.monotonic();
    loop {
        let left = processes_now(path);
        if left.is_empty() || clock.monotonic().saturating_sub(begun) > PATIENCE {
            return left;
        }
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// How long a process that notices the death of its parent may take to end.
const PATIENCE: Duration = Duration::from_secs(10);

#[expect(clippy::disallowed_methods, reason = "the kernel's own files are small")]
fn processes_now(path: &str) -> Vec<String> {
    std::fs::read_dir("/proc")
        .unwrap()
        .filter_map(|entry| std::fs::read(entry.ok()?.path().join("cmdline")).ok())
        .map(|cmdline| String::from_utf8_lossy(&cmdline).replace('\0', " "))
        .filter(|cmdline| cmdline.contains(path))
        .collect()
}

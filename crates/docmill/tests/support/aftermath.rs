//! What a run leaves behind, as far as it must not depend on crashes.

use std::path::Path;
use std::sync::Arc;

use docmill_backends::blobs::LocalBlobs;
use docmill_backends::store::sqlite::SqliteStore;
use docmill_core::clock::{SystemClock, SystemIds};
use docmill_core::ports::Store as _;
use docmill_testkit::state;
use serde_json::Value;

use super::Mill;

/// The whole state of a place in which no process works any more, and what search finds there.
pub(crate) fn whole_state(mill: &Mill, words: &[&str]) -> String {
    let found: Vec<String> = words.iter().map(|word| found(mill, word)).collect();
    let state = tokio::runtime::Runtime::new().unwrap().block_on(print(&mill.data()));
    format!("{state}\nfound\n{}", found.concat())
}

async fn print(data: &Path) -> String {
    let store =
        SqliteStore::open(&data.join("docmill.db"), Arc::new(SystemClock::new()), Arc::new(SystemIds))
            .unwrap();
    let blobs = LocalBlobs::open(&data.join("blobs")).unwrap();
    let tenant = store.tenant("local").await.unwrap();
    state::print(&store, &blobs, tenant).await.unwrap()
}

/// Insists that everything came to a good end, and gives the whole state to be compared with another run's.
#[track_caller]
pub(crate) fn aftermath(mill: &Mill) -> String {
    let audit = mill.run(&["audit", "--json"]).expect(0).json();
    assert_eq!(audit["balanced"], true, "I2: {audit}");
    assert_eq!(audit["open"], 0, "I3: {audit}");
    assert_eq!(audit["blobs"]["missing"], 0, "I4: {audit}");
    let state = whole_state(mill, &["harbours", "member", "beside"]);
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
#[expect(clippy::disallowed_methods, reason = "the kernel's own files are small")]
pub(crate) fn processes_of(mill: &Mill) -> usize {
    let data = mill.data();
    let data = data.to_str().unwrap();
    // A child does not name the directory, but dies with its parent; what is asked for is its whole family.
    std::fs::read_dir("/proc")
        .unwrap()
        .filter_map(|entry| std::fs::read(entry.ok()?.path().join("cmdline")).ok())
        .filter(|cmdline| String::from_utf8_lossy(cmdline).contains(data))
        .count()
}

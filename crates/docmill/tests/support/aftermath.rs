//! What a run leaves behind, as far as it must not depend on crashes: no ids, no times.

use std::collections::BTreeMap;

use serde_json::Value;

use super::Mill;

/// Named parts of the whole state, to be compared with another run's.
pub(crate) struct Aftermath(BTreeMap<&'static str, Value>);

impl Aftermath {
    /// Insists that nothing differs, and shows what does.
    #[track_caller]
    pub(crate) fn assert_equal(&self, other: &Self) {
        for (what, left) in &self.0 {
            let right = &other.0[what];
            assert_eq!(left, right, "I1: {what} differ from the undisturbed run");
        }
    }
}

/// Everything that must not depend on crashes, as text: no ids, no times.
pub(crate) fn aftermath(mill: &Mill) -> Aftermath {
    let audit = mill.run(&["audit", "--json"]).expect(0).json();
    assert_eq!(audit["balanced"], true, "I2: {audit}");
    assert_eq!(audit["open"], 0, "I3: {audit}");
    assert_eq!(audit["blobs"]["missing"], 0, "I4: {audit}");
    let conn = rusqlite::Connection::open(mill.data().join("docmill.db")).unwrap();
    let rows = |sql: &str| -> Value {
        let mut statement = conn.prepare(sql).unwrap();
        let columns = statement.column_count();
        let rows = statement
            .query_map([], |row| {
                (0..columns)
                    .map(|i| row.get::<_, rusqlite::types::Value>(i).map(|v| format!("{v:?}")))
                    .collect::<Result<Vec<_>, _>>()
            })
            .unwrap();
        rows.map(|row| Value::from(row.unwrap().join(" | "))).collect()
    };
    let gaps = rows(
        "SELECT e.first_seq FROM event e WHERE e.first_seq <> 1 AND NOT EXISTS (
           SELECT 1 FROM event p WHERE p.tenant_id = e.tenant_id AND p.last_seq = e.first_seq - 1)",
    );
    assert_eq!(gaps, Value::Array(Vec::new()), "I7: events have gaps");
    let charged = rows("SELECT ingestion_id, attempt FROM ingestion WHERE attempt > 0");
    assert_eq!(charged, Value::Array(Vec::new()), "I5: an attempt was charged to an innocent document");
    let leased = rows("SELECT task_id FROM task WHERE state NOT IN ('done')");
    assert_eq!(leased, Value::Array(Vec::new()), "I6: work is left");
    Aftermath(BTreeMap::from([
        (
            "documents",
            rows(
                "SELECT content_hash, bytes, media_type, title, needs_review FROM document ORDER BY content_hash",
            ),
        ),
        (
            "ingestions",
            rows(
                "SELECT i.name, i.position, i.depth, i.status, i.result, i.problems, d.content_hash
                  FROM ingestion i LEFT JOIN document d USING (document_id) ORDER BY 1, 2, 3, 7",
            ),
        ),
        (
            "results",
            rows(
                "SELECT i.name, d.content_hash, s.step, s.degraded, s.fingerprint, count(*)
                  FROM step_result s JOIN ingestion i USING (ingestion_id) JOIN document d USING (document_id)
                  GROUP BY 1, 2, 3, 4, 5 ORDER BY 1, 2, 3",
            ),
        ),
        ("manifests", rows("SELECT declared, emitted, refused, ended FROM manifest ORDER BY 1, 2")),
        (
            "batch",
            rows(
                "SELECT state, expected, received, children, open, completed, failed, skipped, cancelled, duplicates FROM batch",
            ),
        ),
        ("events", events(mill)),
        ("found", found(mill)),
    ]))
}

/// How often each thing happened, apart from workers coming and going.
fn events(mill: &Mill) -> Value {
    let mut counts: BTreeMap<String, u64> = BTreeMap::new();
    let told = mill.run(&["events", "--json"]).expect(0).stdout;
    let mut last = 0;
    for line in told.lines() {
        let event: Value = serde_json::from_str(line).unwrap();
        let id = event["id"].as_i64().unwrap();
        assert_eq!(id, last + 1, "I7: events are gapless");
        last = id;
        let kind = event["type"].as_str().unwrap();
        if !kind.starts_with("WORKER") {
            let key = format!("{kind} {} {}", event["task_kind"], event["status"]);
            *counts.entry(key).or_default() += 1;
        }
    }
    serde_json::to_value(counts).unwrap()
}

/// What search finds: nothing missing, nothing twice.
fn found(mill: &Mill) -> Value {
    ["harbours", "member", "beside"]
        .iter()
        .map(|word| {
            let hits = mill.run(&["search", word, "--limit", "5000", "--json"]).expect(0).json();
            let hits = hits["hits"].as_array().unwrap();
            // Which of two names a shared content shows depends on which copy came first.
            let name = |hit: &Value| hit["name"].as_str().unwrap().replace("copy-of-3", "3");
            let mut names: Vec<String> = hits.iter().map(name).collect();
            names.sort();
            Value::from(names)
        })
        .collect()
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

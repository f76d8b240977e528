//! An installation in which a little of everything has happened, and ways to look at all of it.

use std::collections::BTreeMap;
use std::os::unix::process::ExitStatusExt as _;
use std::path::Path;
use std::sync::Arc;

use docmill_backends::blobs::LocalBlobs;
use docmill_backends::store::sqlite::SqliteStore;
use docmill_core::clock::{SystemClock, SystemIds};
use docmill_core::id::ContentHash;
use docmill_core::ports::{Blobs, Store};
use docmill_testkit::archive::{archive, encrypted};
use docmill_testkit::state;
use rusqlite::Connection;
use rusqlite::types::Value;

use crate::support::{Mill, finish};

/// Everybody's documents.
pub(crate) const TENANTS: [&str; 2] = ["local", "other"];

/// Texts, a duplicate, a ZIP in a ZIP with an entry that nobody can open, dead letters, a batch that is paused and one
/// that is cancelled, a document that was processed again, a kind that is paused, another tenant, and work that a killed
/// worker has left.
pub(crate) fn mixed() -> Mill {
    let mill = Mill::new();
    mill.write("letter.txt", "a letter about harbours and lighthouses\n");
    mill.write("sub/copy-of-letter.txt", "a letter about harbours and lighthouses\n");
    mill.write("empty.txt", "");
    mill.write("unknown.bin", [0_u8, 159, 146, 150, 255, 0, 1, 2].repeat(10));
    mill.write("large.txt", "a long tale of a lighthouse\n".repeat(60_000));
    for n in 0..2 {
        mill.write(format!("bad-{n}.txt"), format!("DOCMILL-PROBE:panic\n{n}"));
    }
    let members: Vec<_> = (0..40).map(|n| (format!("m/{n}.txt"), format!("member {n} of the box"))).collect();
    let inner = archive(
        members
            .iter()
            .map(|(name, text)| (name.as_str(), text.as_bytes()))
            .chain([("locked.txt", b"nobody can read this\n".as_slice())]),
    );
    let inner = encrypted(inner, "locked.txt");
    mill.write(
        "box.zip",
        archive([("inner.zip", inner.as_slice()), ("beside.txt", b"beside the inner box\n")]),
    );
    mill.run(&["ingest", "in", "--batch", "pile", "-q"]).expect(7);
    let dead = mill.run(&["dead", "list", "--json"]).expect(0).json();
    mill.run(&["dead", "drop", &dead["dead"][0]["task_id"].to_string()]).expect(0);
    mill.run(&["reprocess", "--where", "type=text/plain"]).expect(0);
    mill.run(&["work", "--exit-when-idle"]).expect(0);

    mill.run(&["--tenant", "other", "ingest", "in/letter.txt", "in/box.zip", "-q"]).expect(7);
    for batch in ["paused", "cancelled", "left"] {
        mill.write(format!("{batch}/one.txt"), format!("one of those that are {batch}\n"));
        mill.write(format!("{batch}/two.txt"), format!("two of those that are {batch}\n"));
        mill.run(&["ingest", &format!("in/{batch}"), "--batch", batch, "--no-wait"]).expect(0);
    }
    mill.run(&["pause", "paused"]).expect(0);
    mill.run(&["cancel", "cancelled"]).expect(0);
    let mut worker = mill.command(&["work", "--exit-when-idle"]);
    let killed = worker.env("DOCMILL_CRASH_AT", "engine.after_claim").status().unwrap();
    assert_eq!(killed.signal(), Some(9));
    mill.run(&["pause", "--kind", "extract-text"]).expect(0);
    mill
}

/// A few texts, done.
pub(crate) fn small() -> Mill {
    let mill = Mill::new();
    for n in 0..30 {
        mill.write(format!("{n}.txt"), format!("number {n}, an ibis\n"));
    }
    mill.run(&["ingest", "in", "--batch", "b", "-q"]).expect(0);
    mill
}

/// What is written of each tenant by the printer of whole states.
pub(crate) async fn texts(store: &dyn Store, blobs: &dyn Blobs) -> String {
    let mut out = String::new();
    for name in TENANTS {
        let tenant = store.tenant(name).await.unwrap();
        out.push_str(&format!("TENANT {name}\n{}\n", state::print(store, blobs, tenant).await.unwrap()));
    }
    out
}

/// The same of a data directory that nobody uses.
pub(crate) async fn texts_at(data: &Path) -> String {
    let clock = Arc::new(SystemClock::new());
    let store = SqliteStore::open(&data.join("docmill.db"), clock, Arc::new(SystemIds)).unwrap();
    texts(&store, &LocalBlobs::open(&data.join("blobs")).unwrap()).await
}

/// Every row of every table of a database file, told without knowing what they mean.
pub(crate) fn all_rows(data: &Path) -> BTreeMap<String, Vec<String>> {
    let conn = Connection::open(data.join("docmill.db")).unwrap();
    let mut tables = conn.prepare("SELECT name FROM sqlite_schema WHERE type = 'table'").unwrap();
    let tables: Vec<String> = tables.query_map([], |r| r.get(0)).unwrap().map(Result::unwrap).collect();
    let rows = |table: &String| {
        let mut statement = conn.prepare(&format!("SELECT * FROM {table}")).unwrap();
        let names: Vec<String> = statement.column_names().map(str::to_owned).collect();
        let row = |row: &rusqlite::Row<'_>| {
            let value = |(n, name)| Ok(format!("{name}={:?}", row.get::<_, Value>(n)?));
            Ok(names.iter().enumerate().map(value).collect::<rusqlite::Result<Vec<_>>>()?.join(" "))
        };
        let mut rows: Vec<String> = statement.query_map([], row).unwrap().map(Result::unwrap).collect();
        rows.sort();
        rows
    };
    tables.iter().map(|table| (table.clone(), rows(table))).collect()
}

/// Every blob by its key, with the hash of its content.
pub(crate) fn all_blobs(blobs: &Path) -> BTreeMap<String, ContentHash> {
    let mut found = BTreeMap::new();
    // What is still on its way in lies beside these, and after a kill stays there for a day.
    let mut folders = vec![blobs.join("documents"), blobs.join("ingestions")];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(&folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else {
                #[expect(clippy::disallowed_methods, reason = "the test has written it")]
                let content = std::fs::read(&path).unwrap();
                let key = path.strip_prefix(blobs).unwrap().to_str().unwrap().to_owned();
                found.insert(key, ContentHash::of(&content));
            }
        }
    }
    found
}

/// Moves everything of a place; `from` are further settings of the source.
pub(crate) fn migrate(mill: &Mill, from: &[(&str, &str)], to: &[&str]) -> crate::support::Run {
    let mut command = mill.command(&[&["migrate", "--json"], to].concat());
    command.envs(from.iter().copied());
    finish(&mut command)
}

//! There and back again: everything is as it was, and work goes on.

use docmill_testkit::state::assert_same;
use libtest_mimic::Trial;
use rusqlite::Connection;
use tokio::runtime::Runtime;

use crate::mixed::{all_blobs, all_rows, migrate, mixed, small, texts_at};
use crate::server::Database;
use crate::support::{Mill, finish};

pub(crate) fn trials() -> Vec<Trial> {
    let mut trials = embedded![
        moved_directory_holds_everything_and_works_on,
        same_command_again_changes_nothing,
        blobs_that_stay_where_they_are_are_only_read,
    ];
    trials.extend(on_server![
        round_trip_over_postgres_leaves_everything_as_it_was,
        nul_becomes_a_replacement_character_on_postgres_and_is_told,
    ]);
    trials
}

fn texts(mill: &Mill) -> String {
    Runtime::new().unwrap().block_on(texts_at(&mill.data()))
}

/// Everything that is left to do is done, and everybody's ledger balances.
fn works_on(mill: &Mill) {
    mill.run(&["resume", "--kind", "extract-text"]).expect(0);
    mill.run(&["resume", "paused"]).expect(0);
    mill.run(&["dead", "replay", "--all"]).expect(0);
    mill.write("new.txt", "a new lighthouse\n");
    mill.run(&["ingest", "in/new.txt", "--batch", "new", "-q"]).expect(0);
    mill.run(&["work", "--exit-when-idle"]).expect(0);
    for tenant in crate::mixed::TENANTS {
        let audit = mill.run(&["--tenant", tenant, "audit", "--json"]).expect(0).json();
        assert_eq!((audit["balanced"].as_bool(), audit["open"].as_u64()), (Some(true), Some(0)), "{audit}");
    }
    let found = mill.run(&["search", "lighthouse", "--json"]).expect(0).json();
    let names: Vec<&str> =
        found["hits"].as_array().unwrap().iter().filter_map(|h| h["name"].as_str()).collect();
    assert!(names.contains(&"new.txt") && names.contains(&"large.txt"), "{names:?}");
}

fn moved_directory_holds_everything_and_works_on(_: Option<&str>) {
    let mill = mixed();
    let answer = migrate(&mill, &[], &["--to-data", "moved"]).expect(0).json();
    assert_eq!(answer["handed_back"], 2, "{answer}");
    assert_eq!((answer["resumed"].as_bool(), answer["balanced"].as_bool()), (Some(false), Some(true)));
    assert_eq!(
        (answer["blobs"]["missing"].as_u64(), answer["blobs"]["damaged"].as_u64()),
        (Some(0), Some(0))
    );
    let moved = mill.with_data("moved");
    assert_eq!(all_rows(&moved.data()), all_rows(&mill.data()));
    assert_same(&texts(&moved), &texts(&mill));
    let (there, here) = (all_blobs(&moved.data().join("blobs")), all_blobs(&mill.data().join("blobs")));
    assert_eq!(there.len() as u64, answer["blobs"]["copied"].as_u64().unwrap());
    assert!(there.iter().all(|(key, hash)| here.get(key) == Some(hash)));
    works_on(&moved);
    works_on(&mill);
}

fn same_command_again_changes_nothing(_: Option<&str>) {
    let mill = small();
    let first = migrate(&mill, &[], &["--to-data", "moved"]).expect(0).json();
    let moved = mill.with_data("moved");
    let rows = all_rows(&moved.data());
    let again = migrate(&mill, &[], &["--to-data", "moved"]).expect(0).json();
    assert_eq!((&again["state"], again["resumed"].as_bool()), (&first["state"], Some(true)));
    assert_eq!(all_rows(&moved.data()), rows);
    // Once it is used it is another installation.
    moved.run(&["ingest", "in/1.txt", "-q"]).expect(0);
    migrate(&mill, &[], &["--to-data", "moved"]).expect(1).says(&["is in use"]);
}

fn blobs_that_stay_where_they_are_are_only_read(_: Option<&str>) {
    let mill = small();
    let blobs = mill.data().join("blobs");
    let before = all_blobs(&blobs);
    let url = format!("file:{}", blobs.display());
    let answer = migrate(&mill, &[], &["--to-data", "moved", "--to-blobs", &url]).expect(0).json();
    assert_eq!(answer["blobs"]["copied"], 0, "{answer}");
    assert!(answer["blobs"]["present"].as_u64() > Some(40), "{answer}");
    assert_eq!(all_blobs(&blobs), before);
    assert!(!mill.path("moved/blobs").is_dir());
}

fn round_trip_over_postgres_leaves_everything_as_it_was(server: Option<&str>) {
    let mill = mixed();
    let database = Database::new(server);
    let (url, blobs) = (database.url(), mill.path("there"));
    let blobs_url = format!("file:{}", blobs.display());
    let there = migrate(&mill, &[], &["--to-store", &url, "--to-blobs", &blobs_url]).expect(0).json();
    assert_eq!(there["handed_back"], 2, "{there}");
    let before = texts(&mill);
    let status = mill.run(&["status", "--json"]).expect(0).json();
    let count = |what: &str, state: &str| status[what][state].as_u64().unwrap();
    let tasks = ["queued", "held", "running", "dead"].map(|state| count("tasks", state));
    assert_eq!(
        (tasks, count("ingestions", "cancelled")),
        ([2, 2, 0, 1], 2),
        "little is put to the test: {status}"
    );
    assert_same(&database.texts(&blobs), &before);

    let from = [("DOCMILL_STORE_URL", url.as_str()), ("DOCMILL_BLOBS_URL", blobs_url.as_str())];
    let mut audit = mill.command(&["audit"]);
    finish(audit.envs(from)).expect(0);
    let back = migrate(&mill, &from, &["--to-data", "back"]).expect(0).json();
    for same in ["state", "rows", "tables", "expected"] {
        assert_eq!(there[same], back[same], "{same}");
    }
    assert_eq!(back["handed_back"], 0, "{back}");
    let home = mill.with_data("back");
    assert_eq!(all_rows(&home.data()), all_rows(&mill.data()), "by each value of each row");
    assert_same(&texts(&home), &before);
    assert_eq!(all_blobs(&home.data().join("blobs")), all_blobs(&blobs));
    works_on(&home);
}

fn nul_becomes_a_replacement_character_on_postgres_and_is_told(server: Option<&str>) {
    let mill = small();
    let conn = Connection::open(mill.data().join("docmill.db")).unwrap();
    let changed = conn.execute("UPDATE document SET title = 'a' || char(0) || 'b' WHERE name = '7.txt'", []);
    assert_eq!(changed.unwrap(), 1);
    drop(conn);
    let database = Database::new(server);
    let blobs = format!("file:{}", mill.path("there").display());
    let answer = migrate(&mill, &[], &["--to-store", &database.url(), "--to-blobs", &blobs]).expect(0).json();
    assert_eq!(answer["replaced"], 1, "{answer}");
    let titles = database.column("SELECT title FROM document WHERE name = '7.txt'");
    assert_eq!(titles, ["a\u{fffd}b"]);
}

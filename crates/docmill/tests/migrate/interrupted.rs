//! Killed again and again, in both directions, and gone on with.

use std::os::unix::process::ExitStatusExt as _;
use std::process::Stdio;

use docmill_core::ErrorKind;
use docmill_testkit::state::assert_same;
use libtest_mimic::Trial;
use tokio::runtime::Runtime;

use crate::mixed::{all_blobs, all_rows, migrate, mixed, texts_at};
use crate::server::Database;
use crate::support::{Mill, finish};

pub(crate) fn trials() -> Vec<Trial> {
    let mut trials = embedded![told_to_end_says_how_to_go_on];
    trials.extend(on_server![killed_on_the_way_to_postgres_and_back_loses_nothing]);
    trials
}

/// Where a move is killed, one run after the other; the last two leave a whole target behind.
const KILLS: [&str; 9] = [
    "migrate.frozen",
    "migrate.begun",
    "migrate.blob.before:20",
    "migrate.blob.after:20",
    "migrate.blobs.marked",
    "migrate.chunk.before_commit:2",
    "migrate.chunk.after_commit:4",
    "migrate.checked",
    "migrate.finish.before_commit",
];

fn killed(mill: &Mill, from: &[(&str, &str)], to: &[&str], point: &str) {
    let mut command = mill.command(&[&["migrate", "-q"], to].concat());
    command.envs(from.iter().copied()).env("DOCMILL_CRASH_AT", point);
    let status = command.stdout(Stdio::null()).stderr(Stdio::inherit()).status().unwrap();
    assert_eq!(status.signal(), Some(9), "the process was not killed at {point}");
}

fn killed_on_the_way_to_postgres_and_back_loses_nothing(server: Option<&str>) {
    let mill = mixed();
    let database = Database::new(server);
    let (url, blobs) = (database.url(), mill.path("there"));
    let blobs_url = format!("file:{}", blobs.display());
    let to = ["--to-store", url.as_str(), "--to-blobs", blobs_url.as_str()];
    for point in KILLS {
        killed(&mill, &[], &to, point);
        if point != "migrate.frozen" {
            let error = database.try_open().unwrap_err();
            assert_eq!(error.kind(), ErrorKind::Conflict, "{point}: {error}");
            assert!(error.message().contains("half-done"), "{point}: {error}");
        }
    }
    let mut status = mill.command(&["status"]);
    finish(status.env("DOCMILL_STORE_URL", &url)).expect(1).says(&["half-done copy of sqlite:", "--restart"]);
    let there = migrate(&mill, &[], &to).expect(0).json();
    assert_eq!(there["resumed"], true, "{there}");
    let here = Runtime::new().unwrap().block_on(texts_at(&mill.data()));
    assert_same(&database.texts(&blobs), &here);

    let from = [("DOCMILL_STORE_URL", url.as_str()), ("DOCMILL_BLOBS_URL", blobs_url.as_str())];
    let home = mill.with_data("back");
    for point in KILLS {
        killed(&mill, &from, &["--to-data", "back"], point);
        if point != "migrate.frozen" {
            home.run(&["status"]).expect(1).says(&["half-done copy of postgres://"]);
        }
    }
    killed(&mill, &from, &["--to-data", "back"], "migrate.finished");
    let back = migrate(&mill, &from, &["--to-data", "back"]).expect(0).json();
    assert_eq!(back["state"], there["state"]);
    assert_eq!(all_rows(&home.data()), all_rows(&mill.data()));
    assert_eq!(all_blobs(&home.data().join("blobs")), all_blobs(&blobs));
}

fn told_to_end_says_how_to_go_on(_: Option<&str>) {
    let mill = Mill::new();
    for n in 0..2000 {
        mill.write(format!("{n}.txt"), format!("number {n}\n"));
    }
    mill.run(&["ingest", "in", "-q"]).expect(0);
    let mut command = mill.command(&["migrate", "--to-data", "moved"]);
    let mut child = command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
    // As soon as blobs are being copied.
    let documents = mill.path("moved/blobs/documents");
    while child.try_wait().unwrap().is_none() && !documents.is_dir() {
        std::thread::yield_now();
    }
    crate::support::signal(&child, rustix::process::Signal::INT);
    let output = child.wait_with_output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(130), "{said}");
    assert!(said.contains("half done") && said.contains("the same command"), "{said}");
    migrate(&mill, &[], &["--to-data", "moved"]).expect(0);
    assert_eq!(all_rows(&mill.path("moved")), all_rows(&mill.data()));
}

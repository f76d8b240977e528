//! What is not moved, not overwritten and not opened, and what is said about it.

use std::os::unix::process::ExitStatusExt as _;
use std::process::Stdio;

use libtest_mimic::Trial;

use crate::mixed::{all_blobs, all_rows, migrate, small};
use crate::support::Mill;

pub(crate) fn trials() -> Vec<Trial> {
    embedded![
        target_in_use_is_refused_and_stays_as_it_is,
        half_done_directory_is_refused_by_every_command,
        source_that_was_used_since_needs_a_restart,
        source_that_is_in_use_is_refused,
        place_that_is_not_named_or_not_there_is_refused,
        blobs_of_others_are_refused,
        missing_and_damaged_blobs_are_told_and_stop_nothing,
        damaged_copy_of_a_blob_is_replaced,
    ]
}

fn half_done(mill: &Mill) -> Mill {
    let mut command = mill.command(&["migrate", "-q", "--to-data", "moved"]);
    command.env("DOCMILL_CRASH_AT", "migrate.chunk.after_commit:3");
    let status = command.stdout(Stdio::null()).stderr(Stdio::null()).status().unwrap();
    assert_eq!(status.signal(), Some(9));
    mill.with_data("moved")
}

fn target_in_use_is_refused_and_stays_as_it_is(_: Option<&str>) {
    let mill = small();
    let full = mill.with_data("full");
    full.run(&["ingest", "in/1.txt", "-q"]).expect(0);
    let blobs = full.data().join("blobs");
    let before = (all_rows(&full.data()), all_blobs(&blobs));
    for more in [&[] as &[&str], &["--restart"]] {
        let run = migrate(&mill, &[], &[&["--to-data", "full"], more].concat()).expect(1);
        run.says(&["full/docmill.db is in use", "is not empty", "hint"]);
    }
    assert_eq!((all_rows(&full.data()), all_blobs(&blobs)), before);
}

fn half_done_directory_is_refused_by_every_command(_: Option<&str>) {
    let mill = small();
    let moved = half_done(&mill);
    let rows = all_rows(&moved.data());
    let commands: [&[&str]; 6] = [
        &["status"],
        &["ingest", "in"],
        &["work", "--exit-when-idle"],
        &["serve", "--listen", "127.0.0.1:0"],
        &["audit"],
        &["migrate", "--to-data", "further"],
    ];
    for command in commands {
        let source = format!("{}", mill.data().display());
        moved.run(command).expect(1).says(&[
            "half-done copy of sqlite:",
            &source,
            "docmill migrate",
            "--restart",
        ]);
    }
    moved.run(&["doctor"]).expect(1);
    assert_eq!(all_rows(&moved.data()), rows);
    migrate(&mill, &[], &["--to-data", "moved"]).expect(0);
    moved.run(&["audit"]).expect(0);
}

fn source_that_was_used_since_needs_a_restart(_: Option<&str>) {
    let mill = small();
    let moved = half_done(&mill);
    let other = mill.with_data("other");
    other.run(&["ingest", "in/1.txt", "-q"]).expect(0);
    migrate(&other, &[], &["--to-data", "moved"]).expect(1).says(&[
        "half-done copy of",
        "not of",
        "--restart",
    ]);
    mill.run(&["status"]).expect(0);
    let elsewhere = format!("file:{}", mill.path("elsewhere").display());
    let run = migrate(&mill, &[], &["--to-data", "moved", "--to-blobs", &elsewhere]).expect(1);
    run.says(&["has its blobs in", "moved/blobs", "elsewhere"]);

    mill.write("late.txt", "a late ibis\n");
    mill.run(&["ingest", "in/late.txt", "-q"]).expect(0);
    migrate(&mill, &[], &["--to-data", "moved"]).expect(1).says(&["has been used since", "--restart"]);
    let answer = migrate(&mill, &[], &["--to-data", "moved", "--restart"]).expect(0).json();
    assert_eq!(answer["resumed"], false, "{answer}");
    assert_eq!(all_rows(&moved.data()), all_rows(&mill.data()));
    moved.run(&["audit"]).expect(0);
}

fn source_that_is_in_use_is_refused(_: Option<&str>) {
    let mill = small();
    let server = mill.serve();
    let pid = server.child.id().to_string();
    migrate(&mill, &[], &["--to-data", "moved"]).expect(1).says(&[
        "is in use by `docmill serve`",
        &pid,
        "kill",
    ]);
    assert!(!mill.path("moved").is_dir(), "nothing was begun");
    assert_eq!(server.stop(), Some(0));
    // And a target that somebody serves.
    let target = mill.with_data("moved");
    let server = target.serve();
    migrate(&mill, &[], &["--to-data", "moved"]).expect(1).says(&["moved is in use by `docmill serve`"]);
    assert_eq!(server.stop(), Some(0));
    migrate(&mill, &[], &["--to-data", "moved"]).expect(0);
}

fn place_that_is_not_named_or_not_there_is_refused(_: Option<&str>) {
    let mill = small();
    migrate(&mill, &[], &[]).expect(2).says(&["--to-data DIR"]);
    migrate(&mill, &[], &["--to-data", "data"]).expect(2).says(&["both sides", "--to-data DIR"]);
    let to = ["--to-data", "moved", "--to-store"];
    migrate(&mill, &[], &[&to[..], &["mysql://x"]].concat()).expect(1).says(&["`mysql:`", "`sqlite:`"]);
    migrate(&mill, &[], &[&to[..], &["nonsense"]].concat()).expect(1).says(&["nonsense", "not a URL"]);
    migrate(&mill, &[], &["--to-store", "postgres://127.0.0.1:1/x"])
        .expect(2)
        .says(&["`file:`", "--to-data"]);
    let nowhere = mill.with_data("nowhere");
    migrate(&nowhere, &[], &["--to-data", "moved"]).expect(3).says(&["nowhere", "--data DIR"]);
    std::fs::create_dir(nowhere.data()).unwrap();
    migrate(&nowhere, &[], &["--to-data", "moved"]).expect(3).says(&["no database", "nowhere"]);
    assert!(!nowhere.data().join("docmill.db").try_exists().unwrap());
}

fn blobs_of_others_are_refused(_: Option<&str>) {
    let mill = small();
    let other = mill.with_data("other");
    other.run(&["ingest", "in/1.txt", "-q"]).expect(0);
    let before = all_blobs(&other.data().join("blobs"));
    let url = format!("file:{}", other.data().join("blobs").display());
    let run = migrate(&mill, &[], &["--to-data", "moved", "--to-blobs", &url]).expect(1);
    run.says(&["other/blobs is in use", "documents/", "--to-blobs URL"]);
    assert_eq!(all_blobs(&other.data().join("blobs")), before);
}

fn missing_and_damaged_blobs_are_told_and_stop_nothing(_: Option<&str>) {
    let mill = small();
    let blobs = mill.data().join("blobs");
    let documents: Vec<String> =
        all_blobs(&blobs).into_keys().filter(|key| key.starts_with("documents/")).collect();
    let [missing, damaged] = [&documents[0], &documents[1]];
    std::fs::remove_file(blobs.join(missing)).unwrap();
    std::fs::write(blobs.join(damaged), "something else").unwrap();
    let run = migrate(&mill, &[], &["--to-data", "moved"]).expect(7);
    let answer = run.says(&[missing, damaged]).json();
    assert_eq!(
        (answer["blobs"]["missing"].as_u64(), answer["blobs"]["damaged"].as_u64()),
        (Some(1), Some(1))
    );
    let moved = mill.with_data("moved");
    assert_eq!(all_rows(&moved.data()), all_rows(&mill.data()));
    let there = all_blobs(&moved.data().join("blobs"));
    assert_eq!(there.get(damaged), all_blobs(&blobs).get(damaged));
    assert!(!there.contains_key(missing));
}

fn damaged_copy_of_a_blob_is_replaced(_: Option<&str>) {
    let mill = small();
    let mut command = mill.command(&["migrate", "-q", "--to-data", "moved"]);
    command.env("DOCMILL_CRASH_AT", "migrate.blob.after:20");
    assert_eq!(command.stderr(Stdio::null()).status().unwrap().signal(), Some(9));
    let blobs = mill.path("moved/blobs");
    let copied = all_blobs(&blobs);
    assert!(copied.len() >= 20);
    let (key, hash) = copied.first_key_value().unwrap();
    std::fs::write(blobs.join(key), "half of i").unwrap();
    migrate(&mill, &[], &["--to-data", "moved"]).expect(0);
    assert_eq!(all_blobs(&blobs).get(key), Some(hash));
}

//! Everything a user can get wrong. Each gets a message that names the thing, the limit and the way out, and
//! nothing is lost: the ledger balances afterwards.

#![expect(clippy::unwrap_used, reason = "test binary")]

mod support;

use std::ffi::OsStr;
use std::io::Write as _;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::symlink;
use std::os::unix::net::UnixListener;
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use docmill_testkit::archive::archive;
use support::{Mill, finish, is_root};

#[test]
fn missing_paths_are_all_named_before_anything_starts() {
    let mill = Mill::new();
    mill.write("a.txt", "x\n");
    mill.run(&["ingest", "in", "gone", "lost"]).expect(1).says(&["`gone`", "`lost`", "nothing was taken in"]);
    assert!(!mill.data().try_exists().unwrap());
}

#[test]
fn a_file_that_cannot_be_read_is_in_the_ledger_with_its_reason() {
    let mill = Mill::new();
    mill.write("good.txt", "x\n");
    // Opens, and fails to read for everybody, root included.
    symlink("/proc/self/mem", mill.input().join("bad.bin")).unwrap();
    let run = mill.run(&["ingest", "in", "--json"]).expect(7).says(&["unreadable", "bad.bin", "docmill why"]);
    let answer = run.json();
    assert_eq!((answer["completed"].as_u64(), answer["failed"].as_u64()), (Some(1), Some(1)));
    mill.run(&["audit"]).expect(0);
}

#[test]
fn a_folder_without_permission_is_reported() {
    if is_root() {
        eprintln!("skipped: permissions deny root nothing");
        return;
    }
    let mill = Mill::new();
    mill.write("closed/a.txt", "x\n");
    let closed = mill.input().join("closed");
    let mode = |mode| std::os::unix::fs::PermissionsExt::from_mode(mode);
    std::fs::set_permissions(&closed, mode(0o000)).unwrap();
    let run = mill.run(&["ingest", "in"]);
    std::fs::set_permissions(&closed, mode(0o700)).unwrap();
    run.expect(7).says(&["closed", "right to read"]);
}

#[test]
fn links_that_lead_nowhere_or_in_a_circle_end_and_are_counted() {
    let mill = Mill::new();
    mill.write("a.txt", "x\n");
    symlink("loop", mill.input().join("loop")).unwrap();
    symlink("nothing", mill.input().join("dangling")).unwrap();
    let run = mill.run(&["ingest", "in", "--json"]).expect(7);
    assert_eq!(run.json()["received"].as_u64(), Some(3));
    mill.run(&["audit"]).expect(0);
}

#[test]
fn what_never_came_in_is_led_to_and_named() {
    let mill = Mill::new();
    symlink("nothing", mill.input().join("dangling")).unwrap();
    mill.run(&["ingest", "in"]).expect(7).says(&["hint: `docmill why "]);
    let audit = mill.run(&["audit"]).expect(0).stdout;
    assert!(audit.contains("docmill events --type ERROR"), "{audit}");
    let events = mill.run(&["events", "--type", "ERROR"]).expect(0).stdout;
    let id = events.split("ingestion ").nth(1).and_then(|rest| rest.split(',').next()).unwrap();
    let why = mill.run(&["why", id]).expect(0).stdout;
    assert!(why.contains("in/dangling) is failed"), "{why}");
    mill.run(&["retry", "--failed"]).expect(0).says(&["docmill events --type ERROR"]);
}

#[test]
fn note_of_an_import_leads_to_the_document_it_is_about() {
    let mill = Mill::new();
    mill.write("cut.json", "{\"a\": [1,");
    let said = mill.run(&["ingest", "in"]).expect(0).stderr;
    let id = said.split("`docmill show ").nth(1).and_then(|rest| rest.split('`').next());
    let shown = mill.run(&["show", id.unwrap()]).expect(0).stdout;
    assert!(shown.contains("cut.json") && shown.contains("\nproblem "), "{shown}");
}

#[test]
fn sockets_and_pipes_are_met_and_do_not_hold_anything_up() {
    let mill = Mill::new();
    mill.write("a.txt", "x\n");
    let _listener = UnixListener::bind(mill.input().join("socket")).unwrap();
    rustix::fs::mkfifoat(rustix::fs::CWD, mill.input().join("pipe"), rustix::fs::Mode::RUSR).unwrap();
    // Which of the two stands for both is not said.
    let run = mill
        .run(&["ingest", "in", "--json"])
        .says(&["2 items: unsupported_format; one of them: ", "` is a "]);
    let answer = run.json();
    assert_eq!((answer["received"].as_u64(), answer["completed"].as_u64()), (Some(3), Some(1)));
    mill.run(&["audit"]).expect(0);
}

#[test]
fn an_empty_file_completes() {
    let mill = Mill::new();
    mill.write("empty.txt", "");
    let answer = mill.run(&["ingest", "in", "--json"]).expect(0).json();
    assert_eq!(answer["completed"].as_u64(), Some(1));
}

#[test]
fn what_cannot_be_read_keeps_the_reason_that_reading_gives_and_is_no_failure() {
    let mill = Mill::new();
    let files =
        [("empty.txt", &b""[..], "ready", "EMPTY"), ("thing.bin", &[7; 80], "unsupported", "UNSUPPORTED")];
    for (name, content, ..) in files {
        mill.write(name, content);
    }
    let run = mill.run(&["ingest", "in", "--json"]).expect(0);
    let run = run.says(&["note: 1 item: unsupported_format: no reader for `application/octet-stream`"]);
    assert_eq!((&run.json()["completed"], &run.json()["failed"]), (&2.into(), &0.into()));
    let list = mill.run(&["list", "--json"]).expect(0).json();
    for (name, _, state, code) in files {
        let read = mill.run(&["read", &format!("in/{name}"), "--json"]).expect(0).json();
        let documents = list["documents"].as_array().unwrap();
        let id = documents.iter().find(|line| line["name"] == name).unwrap()["document_id"].as_str().unwrap();
        let shown = mill.run(&["show", id, "--json"]).expect(0).json();
        assert_eq!(shown["problems"], read["problems"], "{name}");
        assert_eq!(
            (&shown["state"], &shown["problems"][0]["code"]),
            (&state.into(), &code.into()),
            "{shown}"
        );
        assert_eq!((&shown["needs_review"], &shown["name"]), (&false.into(), &name.into()), "{shown}");
        let why = mill.run(&["why", id, "--json"]).expect(0).json();
        assert_eq!((&why["state"], &why["stage"]), (&state.into(), &"completed".into()), "{why}");
    }
    let status = mill.run(&["status", "--json"]).expect(0).json();
    assert_eq!(status["ingestions"]["failed"], 0, "{status}");
}

#[test]
fn a_file_over_the_limit_is_refused_with_the_limit_and_the_setting() {
    let mill = Mill::new();
    mill.write("good.txt", "x\n");
    std::fs::File::create(mill.input().join("sparse.bin")).unwrap().set_len(5 << 30).unwrap();
    let run = mill.run(&["ingest", "in", "--json"]).expect(7);
    let answer = run.says(&["sparse.bin", "5368709120", "4294967296", "limits.max_document_bytes"]).json();
    assert_eq!((answer["completed"].as_u64(), answer["failed"].as_u64()), (Some(1), Some(1)));
    mill.run(&["audit"]).expect(0);
}

#[test]
fn paths_that_lead_to_the_same_files_bring_them_in_once() {
    let mill = Mill::new();
    mill.write("a.txt", "one\n");
    mill.write("sub/b.txt", "two\n");
    let answer = mill.run(&["ingest", "in/a.txt", "in/a.txt", "--json"]).expect(0).json();
    assert_eq!(answer["received"].as_u64(), Some(1));
    let answer = mill.run(&["ingest", "in", "in/sub", "in/", "in/sub/b.txt", "--json"]).expect(0).json();
    assert_eq!(answer["received"].as_u64(), Some(2));
    mill.run(&["audit"]).expect(0);
}

#[test]
fn the_data_directory_is_never_brought_in() {
    let mill = Mill::new();
    mill.write("a.txt", "one\n");
    for _ in 0..2 {
        let run = mill.run(&["ingest", ".", "--json"]).expect(0);
        assert_eq!(run.json()["received"].as_u64(), Some(1));
        let note = "note: the data directory";
        assert_eq!(run.stderr.matches(note).count(), 1, "{}", run.stderr);
    }
    for inside in ["data", "data/docmill.db", "data/blobs"] {
        mill.run(&["ingest", "in", inside]).expect(2).says(&["lies in the data directory", "--data"]);
    }
    mill.run(&["audit"]).expect(0);
}

#[test]
fn endless_standard_input_is_refused_at_the_limit() {
    let mill = Mill::new().with_settings(&[("DOCMILL_LIMITS_MAX_DOCUMENT_BYTES", "12MiB")]);
    let mut command = mill.command(&["ingest", "-", "--name", "endless.txt", "--json"]);
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    let mut input = child.stdin.take().unwrap();
    // Ends when nobody reads any more.
    let piece = vec![b'x'; 64 << 10];
    let sender = std::thread::spawn(move || while input.write_all(&piece).is_ok() {});
    let output = child.wait_with_output().unwrap();
    sender.join().unwrap();
    let said = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(7), "{said}");
    for part in ["standard input", "12582912 bytes", "limits.max_document_bytes", "ingest it again"] {
        assert!(said.contains(part), "`{part}` is missing in {said}");
    }
    mill.run(&["audit"]).expect(0);
}

#[test]
fn odd_names_are_kept_and_shown_harmlessly() {
    let mill = Mill::new();
    mill.write(OsStr::from_bytes(b"new\nline.txt"), "one otter\n");
    mill.write(OsStr::from_bytes(b"not\xffutf8.txt"), "two otters\n");
    mill.write("override\u{202e}fdp.txt", "three otters\n");
    let answer = mill.run(&["ingest", "in", "--batch", "odd", "--json"]).expect(0).json();
    assert_eq!(answer["completed"].as_u64(), Some(3));
    let again = mill.run(&["ingest", "in", "--batch", "odd", "--json"]).expect(0).json();
    assert_eq!(again["received"].as_u64(), Some(3));
    let list = mill.run(&["list"]).expect(0);
    assert_eq!(list.stdout.lines().count(), 4, "{}", list.stdout);
    assert!(!list.stdout.contains('\u{202e}'));
}

#[test]
fn a_file_that_changes_all_the_time_is_taken_whole_or_refused() {
    let mill = Mill::new();
    let path = mill.write("busy.bin", vec![0; 4 << 20]);
    let stop = Arc::new(AtomicBool::new(false));
    let writer = {
        let stop = Arc::clone(&stop);
        std::thread::spawn(move || {
            let mut letter = 0_u8;
            while !stop.load(Ordering::Relaxed) {
                letter = letter.wrapping_add(1);
                std::fs::write(&path, vec![letter; 4 << 20]).unwrap();
            }
        })
    };
    let run = mill.run(&["ingest", "in", "--json"]);
    stop.store(true, Ordering::Relaxed);
    writer.join().unwrap();
    match run.code {
        Some(0) => {}
        Some(7) => assert!(run.stderr.contains("file_changed"), "{}", run.stderr),
        _ => assert_eq!(run.code, Some(0), "{run:?}"),
    }
    mill.run(&["audit"]).expect(0);
}

#[test]
fn a_data_directory_of_a_newer_version_is_refused_and_left_alone() {
    let mill = Mill::new();
    std::fs::create_dir(mill.data()).unwrap();
    let database = mill.data().join("docmill.db");
    rusqlite::Connection::open(&database).unwrap().pragma_update(None, "user_version", 9999).unwrap();
    mill.run(&["status"]).expect(1).says(&["9999", "newer docmill"]);
    let kept: u32 = rusqlite::Connection::open(&database)
        .unwrap()
        .query_row("PRAGMA user_version", [], |row| row.get(0))
        .unwrap();
    assert_eq!(kept, 9999);
}

#[test]
fn a_file_in_place_of_the_data_directory_is_named() {
    let mill = Mill::new();
    std::fs::write(mill.data(), "x").unwrap();
    mill.run(&["status"]).expect(1).says(&["data", "is not a directory", "--data"]);
}

#[test]
fn a_data_directory_that_cannot_be_written_is_named() {
    let mill = Mill::new();
    std::fs::create_dir(mill.data()).unwrap();
    let run = if is_root() {
        match in_own_mounts(
            &mill,
            "mount -t tmpfs -o ro none \"$DATA\"; \"$DOCMILL\" --data \"$DATA\" status",
        ) {
            Some(mut command) => finish(&mut command),
            None => return,
        }
    } else {
        let mode = |mode| std::os::unix::fs::PermissionsExt::from_mode(mode);
        std::fs::set_permissions(mill.data(), mode(0o500)).unwrap();
        let run = mill.run(&["status"]);
        std::fs::set_permissions(mill.data(), mode(0o700)).unwrap();
        run
    };
    run.expect(1).says(&["cannot write to data directory", "--data DIR"]);
}

#[test]
fn a_full_disk_is_named_and_what_was_taken_in_stays() {
    if !is_root() {
        eprintln!("skipped: only root can mount a small disk");
        return;
    }
    let mill = Mill::new();
    mill.write("a.txt", "x\n");
    for n in 0..24_u8 {
        mill.write(format!("big/{n}.bin"), vec![n; 1 << 20]);
    }
    let script = "mount -t tmpfs -o size=16m none \"$DATA\"
        \"$DOCMILL\" --data \"$DATA\" ingest in/a.txt; echo \"watermark $?\"
        export DOCMILL_LIMITS_MIN_FREE_DISK_BYTES=0
        \"$DOCMILL\" --data \"$DATA\" ingest in/a.txt -q; echo \"first $?\"
        \"$DOCMILL\" --data \"$DATA\" ingest in/big -q; echo \"full $?\"
        \"$DOCMILL\" --data \"$DATA\" text \"$(\"$DOCMILL\" --data \"$DATA\" list --json | \
            sed 's/.*\"document_id\":\"\\([^\"]*\\)\",\"name\":\"a.txt\".*/\\1/')\"; echo \"text $?\"";
    std::fs::create_dir(mill.data()).unwrap();
    let Some(mut command) = in_own_mounts(&mill, script) else { return };
    let run = finish(&mut command).says(&["limits.min_free_disk_bytes"]);
    for part in ["watermark 1", "first 0", "full 1", "text 0"] {
        assert!(run.stdout.contains(part), "`{part}` is missing: {run:?}");
    }
}

/// A shell whose mounts nobody else sees; none, with a word, where the machine forbids that.
#[expect(clippy::print_stderr, reason = "what is skipped must be seen")]
fn in_own_mounts(mill: &Mill, script: &str) -> Option<Command> {
    let mut probe = mill.program("unshare");
    probe.args(["--mount", "sh", "-c", "mount -t tmpfs none /mnt"]);
    if !probe.output().is_ok_and(|output| output.status.success()) {
        eprintln!("skipped: mounts are not allowed here");
        return None;
    }
    let mut command = mill.program("unshare");
    command.args(["--mount", "sh", "-c", script]);
    command.env("DATA", mill.data()).env("DOCMILL", env!("CARGO_BIN_EXE_docmill"));
    Some(command)
}

/// Ten copies of an archive inside an archive, and so on: every single one is within its limits.
#[test]
fn archives_that_multiply_inside_each_other_end_at_the_limit_of_the_tree() {
    let mill = Mill::new();
    let mut inner = archive([("leaf.txt", b"x\n".as_slice())]);
    for level in 0..6 {
        let names: Vec<String> = (0..10).map(|n| format!("{level}-{n}.zip")).collect();
        inner = archive(names.iter().map(|name| (name.as_str(), inner.as_slice())));
    }
    mill.write("bomb.zip", inner);
    mill.write("good.txt", "innocent\n");
    let mut command = mill.command(&["ingest", "in", "--json"]);
    let run = finish(command.env("DOCMILL_LIMITS_MAX_TREE_ENTRIES", "300")).expect(7);
    let answer = run.says(&["limits.max_tree_entries"]).json();
    // The archive, the file beside it and 300 members; what was not taken is counted as failed besides.
    let taken = ["completed", "failed"].iter().map(|key| answer[key].as_u64().unwrap()).sum::<u64>();
    assert!(taken >= 302, "{answer}");
    assert_eq!(mill.run(&["status", "--json"]).json()["ingestions"]["in_progress"], 0);
    mill.run(&["audit"]).expect(0);
    mill.run(&["search", "innocent", "--json"]).expect(0);
}

#[test]
fn members_beyond_a_limit_fail_the_import_until_a_retry_with_another_limit() {
    let mill = Mill::new();
    let members = ["a.txt", "b.txt", "c.txt", "d.txt"];
    mill.write("many.zip", archive(members.map(|name| (name, name.as_bytes()))));
    let mut command = mill.command(&["ingest", "in", "--batch", "many", "--json"]);
    let run = finish(command.env("DOCMILL_LIMITS_MAX_ENTRIES", "3")).expect(7);
    let answer = run.says(&["limits.max_entries"]).json();
    let counts = ["received", "children", "completed", "failed"].map(|key| answer[key].as_u64().unwrap());
    assert_eq!(counts, [1, 4, 4, 1], "{answer}");
    let audit = mill.run(&["audit", "--batch", "many", "--json"]).expect(0).json();
    assert_eq!((audit["expected"].as_u64(), audit["failed"].as_u64()), (Some(5), Some(1)), "{audit}");
    let list = mill.run(&["list", "--json"]).expect(0).json();
    let zip = list["documents"].as_array().unwrap().iter().find(|line| line["name"] == "many.zip").unwrap();
    let id = zip["document_id"].as_str().unwrap().to_owned();
    assert_eq!(mill.run(&["retry", &id, "--json"]).expect(0).json()["count"], 1);
    mill.run(&["work", "--exit-when-idle"]).expect(0);
    let why = mill.run(&["why", &id, "--json"]).expect(0).json();
    assert_eq!(why["waiting_for"], "nothing: it is done", "{why}");
    assert_eq!(mill.run(&["list", "--json"]).expect(0).json()["documents"].as_array().unwrap().len(), 5);
    mill.run(&["audit"]).expect(0);
}

#[test]
fn equal_archives_side_by_side_are_duplicates_and_no_circle() {
    let mill = Mill::new();
    let inner = archive([("a.txt", b"x\n".as_slice())]);
    mill.write("a.zip", archive([("b.zip", inner.as_slice()), ("c.zip", inner.as_slice())]));
    let answer = mill.run(&["ingest", "in", "--json"]).expect(0).json();
    assert_eq!(answer["failed"], 0, "{answer}");
}

//! Faults that need no server: a data directory that is copied or locked behind docmill's back, and a machine that is busy
//! with reading.

use std::process::Stdio;
use std::time::Duration;

use docmill_testkit::state::assert_same;
use rusqlite::{Connection, OpenFlags};
use rustix::process::Signal;

use crate::pile;
use crate::process::Process;
use crate::support::aftermath::aftermath_of;
use crate::support::tasks::{open_tasks, until};
use crate::support::{Mill, finish, signal};

const FILES: usize = 300;

fn state(mill: &Mill) -> String {
    let words = pile::words(FILES);
    aftermath_of(mill, &words.iter().map(String::as_str).collect::<Vec<_>>())
}

/// A copy is what a crash at that moment would have left.
pub(crate) fn copy_of_a_stopped_directory_opens_and_goes_on(_: Option<&str>) {
    let mill = Mill::new();
    pile::fill(&mill, FILES);
    let ingest = ["ingest", "in", "--batch", "pile"];
    let mut process = Process::start(mill.command(&ingest).stdout(Stdio::null()).stderr(Stdio::null()));
    until(&mut process.0, "work is under way", || {
        open_tasks(&mill).iter().any(|task| task.state == "running")
    });
    signal(&process.0, Signal::STOP);
    finish(mill.program("cp").arg("-r").arg(mill.data()).arg(mill.path("copy"))).expect(0);
    signal(&process.0, Signal::CONT);
    assert_eq!(process.0.wait().unwrap().code(), Some(0), "the original has not noticed");
    let copy = mill.with_data("copy");
    copy.run(&ingest).expect(0);
    assert_same(&state(&copy), &state(&mill));
}

/// Longer than docmill waits for a lock of its own accord.
pub(crate) fn database_that_somebody_locks_is_waited_for(_: Option<&str>) {
    let undisturbed = Mill::new();
    let mill = Mill::new();
    for place in [&undisturbed, &mill] {
        pile::fill(place, FILES);
        place.run(&["ingest", "in", "--batch", "pile", "--no-wait"]).expect(0);
    }
    undisturbed.run(&["work", "--exit-when-idle"]).expect(0);
    let mut command = mill.command(&["work", "--exit-when-idle"]);
    let mut process = Process::start(command.stdout(Stdio::null()).stderr(Stdio::null()));
    until(&mut process.0, "work is under way", || {
        open_tasks(&mill).iter().any(|task| task.state == "running")
    });
    let intruder =
        Connection::open_with_flags(mill.data().join("docmill.db"), OpenFlags::SQLITE_OPEN_READ_WRITE)
            .unwrap();
    intruder.busy_timeout(Duration::from_mins(1)).unwrap();
    intruder.execute_batch("BEGIN IMMEDIATE").unwrap();
    std::thread::sleep(Duration::from_secs(7));
    assert!(process.0.try_wait().unwrap().is_none(), "it waits");
    intruder.execute_batch("ROLLBACK").unwrap();
    assert_eq!(process.0.wait().unwrap().code(), Some(0));
    assert_same(&state(&mill), &state(&undisturbed));
}

/// Reading takes every core for longer than two leases.
pub(crate) fn leases_are_kept_while_every_core_is_busy_reading(_: Option<&str>) {
    const LEASE: Duration = Duration::from_secs(5);
    let mill = Mill::new().with_settings(&[
        ("DOCMILL_ENGINE_LEASE", "5s"),
        ("DOCMILL_ENGINE_RENEW_EVERY", "500ms"),
        ("DOCMILL_ENGINE_SWEEP_EVERY", "500ms"),
        ("DOCMILL_SANDBOX_CPU_WITHOUT_PROGRESS", "1h"),
        ("DOCMILL_SANDBOX_WALL_WITHOUT_PROGRESS", "1h"),
        ("DOCMILL_ENGINE_STALL_LIMIT", "1h"),
    ]);
    for n in 0..2 {
        mill.write(format!("{n}.txt"), format!("DOCMILL-PROBE:loop\n{n}"));
    }
    mill.run(&["ingest", "in", "--batch", "b", "--no-wait"]).expect(0);
    let mut worker = Process::start(mill.command(&["work"]).stdout(Stdio::null()).stderr(Stdio::null()));
    until(&mut worker.0, "both are read", || leases(&mill).len() == 2);
    let first = leases(&mill);
    until(&mut worker.0, "both have been renewed for two leases", || {
        let renewed = |at: usize| leases(&mill)[at].1 > first[at].1 + 2 * LEASE.as_millis() as i64;
        leases(&mill).len() == 2 && renewed(0) && renewed(1)
    });
    // Nobody has taken them away in between.
    assert!(leases(&mill).iter().all(|(epoch, _)| *epoch == 1), "{:?}", leases(&mill));
}

/// Under which epoch documents are being read, and until when.
fn leases(mill: &Mill) -> Vec<(i64, i64)> {
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY;
    let connection = Connection::open_with_flags(mill.data().join("docmill.db"), flags).unwrap();
    let sql = "SELECT epoch, lease_until FROM task WHERE kind = 'extract-text' AND state = 'running' ORDER BY task_id";
    let mut statement = connection.prepare(sql).unwrap();
    let rows = statement.query_map([], |row| Ok((row.get(0)?, row.get(1)?))).unwrap();
    rows.map(Result::unwrap).collect()
}

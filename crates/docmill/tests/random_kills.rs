//! An ingest of 2,000 files with nested ZIPs, killed with SIGKILL at twenty random moments while tasks are
//! running, at least five of them inside an unpacking, and started again each time with the same `--batch`.
//! Documents, ledger, index and events must equal those of an undisturbed run.
#![expect(clippy::unwrap_used, reason = "a failed step is a failed test")]

mod support;

use std::os::unix::process::ExitStatusExt as _;
use std::process::Stdio;
use std::time::Duration;

use docmill_testkit::archive::archive;
use docmill_testkit::state::assert_same;
use rusqlite::{Connection, OpenFlags};
use support::Mill;
use support::aftermath::{aftermath, processes_of};

const KILLS: u64 = 20;

/// Every fourth kill waits for an unpacking: five of twenty.
const UNPACK_EVERY: u64 = 4;

/// 1,400 plain files, and 600 in ten archives that hold an archive each.
fn fill(mill: &Mill) {
    for n in 0..1400 {
        // A search answers with a thousand hits at most: no word may have more.
        let place = if n < 900 { "harbours" } else { "mountains" };
        let text = format!("letter {n} tells of {place}, {}", "far away ".repeat(n % 50));
        mill.write(format!("{}/{n}.txt", n % 20), text);
    }
    for b in 0..10 {
        let text = |n: usize| format!("member {n} of box {b} {}", "lies beside the others ".repeat(n));
        let members: Vec<_> = (0..58).map(|n| (format!("m/{n}.txt"), text(n))).collect();
        let inner = archive(members[..29].iter().map(|(name, text)| (name.as_str(), text.as_bytes())));
        let mut all: Vec<(&str, &[u8])> = vec![("inner.zip", &inner)];
        all.extend(members[29..].iter().map(|(name, text)| (name.as_str(), text.as_bytes())));
        mill.write(format!("box-{b}.zip"), archive(all));
    }
}

/// The same moments in every run of this test, as far as a moment can be repeated.
struct Moments(u64);

impl Moments {
    fn next(&mut self, below: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % below
    }
}

fn running(mill: &Mill, kind: &str) -> bool {
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY;
    Connection::open_with_flags(mill.data().join("docmill.db"), flags)
        .and_then(|c| {
            c.query_row("SELECT count(*) FROM task WHERE state = 'running' AND kind LIKE ?1", [kind], |r| {
                r.get::<_, i64>(0)
            })
        })
        .is_ok_and(|n| n > 0)
}

/// Starts the ingest and kills it at a moment when a task of `kind` runs. False if it ended before.
fn kill_while(mill: &Mill, kind: &str, delay: Duration) -> bool {
    let mut command = mill.command(&["ingest", "--batch", "pile", "in"]);
    let mut child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    let mut waited = Duration::ZERO;
    while child.try_wait().unwrap().is_none() {
        // The delay only varies the moment; what is asserted does not depend on it.
        if waited >= delay && running(mill, kind) {
            child.kill().unwrap();
            break;
        }
        std::thread::sleep(Duration::from_millis(1));
        waited += Duration::from_millis(1);
    }
    child.wait().unwrap().signal() == Some(9)
}

#[test]
fn twenty_kills_leave_what_an_undisturbed_run_leaves() {
    let undisturbed = Mill::new();
    fill(&undisturbed);
    undisturbed.run(&["ingest", "--batch", "pile", "in"]).expect(0);

    let mill = Mill::new();
    fill(&mill);
    let mut moments = Moments(20_261_116);
    let (mut kills, mut in_unpack) = (0, 0);
    for n in 0..KILLS {
        let unpack = n % UNPACK_EVERY == 0;
        let kind = if unpack { "unpack-document" } else { "%" };
        let delay = if unpack { 0 } else { moments.next(300) };
        if kill_while(&mill, kind, Duration::from_millis(delay)) {
            kills += 1;
            in_unpack += u64::from(unpack);
            assert_eq!(processes_of(&mill), 0, "I9: a process is left behind");
        }
    }
    assert!(kills >= KILLS - 2 && in_unpack >= 5, "{kills} kills, {in_unpack} of them in an unpacking");
    mill.run(&["ingest", "--batch", "pile", "in"]).expect(0);
    assert_same(&aftermath(&mill), &aftermath(&undisturbed));
}

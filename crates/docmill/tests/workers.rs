//! Workers that are killed, told to end, and told twice: what they held runs again, and nobody is charged for it.
//!
//! How long things take is printed and not asserted; what is asserted could not be so by waiting alone, because
//! leases here outlast every test.

#![expect(clippy::unwrap_used, reason = "test binary")]

mod support;

use std::io::Read as _;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use docmill_core::clock::{Clock as _, SystemClock};
use rustix::process::Signal;
use support::tasks::{Task, open_tasks, until};
use support::{Mill, children_of, signal};

/// A lease that nothing here outlives.
const LEASE: Duration = Duration::from_hours(1);

/// Documents of which reading never ends, and never looks like progress or the lack of it.
const SLEEPERS: usize = 3;

/// A command of a place where nothing ends by the passing of time.
fn command(mill: &Mill, args: &[&str]) -> Command {
    let mut command = mill.command(args);
    let lease = format!("{}s", LEASE.as_secs());
    for name in ["ENGINE_LEASE", "ENGINE_SWEEP_EVERY", "SANDBOX_WALL_WITHOUT_PROGRESS", "ENGINE_STALL_LIMIT"]
    {
        command.env(format!("DOCMILL_{name}"), &lease);
    }
    command.env("DOCMILL_ENGINE_RENEW_EVERY", "10m").env("DOCMILL_SANDBOX_CHILDREN", "1");
    command.stdout(Stdio::null()).stderr(Stdio::piped());
    command
}

fn fill(mill: &Mill, sleepers: usize, texts: usize) {
    for n in 0..sleepers {
        mill.write(format!("sleeper-{n}.txt"), format!("DOCMILL-PROBE:sleep\nnumber {n}"));
    }
    for n in 0..texts {
        mill.write(format!("text-{n}.txt"), format!("an ordinary text, number {n}"));
    }
}

fn is_sleeper(task: &Task) -> bool {
    task.name.starts_with("sleeper") && task.kind == "extract-text"
}

/// Whether the sleepers are all at work, and nothing else is left.
fn only_sleepers(open: &[Task], sleepers: usize) -> bool {
    open.len() == sleepers && open.iter().all(|task| is_sleeper(task) && task.state == "running")
}

fn only_sleepers_run(mill: &Mill, sleepers: usize) -> bool {
    only_sleepers(&open_tasks(mill), sleepers)
}

/// Tells how long something took, to whoever looks at the output. Nothing depends on it.
struct Stopwatch(SystemClock);

impl Stopwatch {
    fn start() -> Self {
        Self(SystemClock::new())
    }

    #[expect(clippy::print_stdout, reason = "figures are for the reader of the output")]
    fn tell(&self, what: &str) {
        println!("measured: {:?}: {what}", self.0.monotonic());
    }
}

/// Ends what a test leaves running.
struct Running(Child);

impl Drop for Running {
    fn drop(&mut self) {
        // Already gone is fine: the test has ended it.
        if self.0.kill().is_ok() {
            self.0.wait().unwrap();
        }
    }
}

fn start(mill: &Mill, args: &[&str]) -> Running {
    Running(command(mill, args).spawn().unwrap())
}

/// Kills `first` while it works and starts `second`, in which all must be at work again. No lease has run out by
/// then: only the lock that died with its process can have told.
fn taken_over(first: &[&str], second: &[&str]) {
    let mill = Mill::new();
    fill(&mill, SLEEPERS, 20);
    if !first.contains(&"ingest") {
        mill.run(&["ingest", "in", "--batch", "b", "--no-wait"]).expect(0);
    }
    let mut killed = start(&mill, first);
    until(&mut killed.0, "only sleepers run", || only_sleepers_run(&mill, SLEEPERS));
    killed.0.kill().unwrap();
    let at = Stopwatch::start();
    killed.0.wait().unwrap();

    let left = open_tasks(&mill);
    let owners: Vec<_> = left.iter().map(|task| task.owner.clone().unwrap()).collect();
    for task in &left {
        assert!(task.lease_left.unwrap() > LEASE / 2, "its lease has long to go: {task:?}");
        assert_eq!((task.attempt, task.lost), (0, 1), "{task:?}");
    }

    let mut next = start(&mill, second);
    until(&mut next.0, "the sleepers run under another owner", || {
        let open = open_tasks(&mill);
        let is_new = |task: &Task| task.owner.as_ref().is_some_and(|owner| !owners.contains(owner));
        only_sleepers(&open, SLEEPERS) && open.iter().all(is_new)
    });
    at.tell(&format!("from the kill of `{}` until all of its work ran in `{}`", first[0], second[0]));
    for task in open_tasks(&mill) {
        assert_eq!((task.attempt, task.lost), (0, 2), "nobody is charged, and the loss is counted: {task:?}");
    }
}

#[test]
fn work_of_a_killed_worker_runs_in_the_next_at_once() {
    taken_over(&["work"], &["work"]);
}

#[test]
fn work_of_a_killed_ingest_runs_in_a_server_at_once() {
    taken_over(&["ingest", "in", "--batch", "b"], &["serve", "--listen", "127.0.0.1:0"]);
}

#[test]
fn told_to_end_hands_back_what_waits_at_once_and_what_runs_after_the_grace() {
    let mill = Mill::new();
    // Six sleepers are more than there may be beside each other, so the texts behind them wait for a child.
    fill(&mill, 6, 50);
    mill.run(&["ingest", "in", "--batch", "b", "--no-wait"]).expect(0);
    let mut worker =
        Running(command(&mill, &["work"]).env("DOCMILL_ENGINE_SHUTDOWN_GRACE", "3s").spawn().unwrap());
    let pid = worker.0.id();
    until(&mut worker.0, "four sleepers were put aside, the fifth is in the way, and all is claimed", || {
        children_of(pid).len() == 5 && open_tasks(&mill).iter().all(|task| task.state == "running")
    });

    signal(&worker.0, Signal::TERM);
    let at = Stopwatch::start();
    // Both at once: what waits is back in the queue while what runs still does. After the grace it would not.
    until(&mut worker.0, "only sleepers run, and the rest is queued again", || {
        let open = open_tasks(&mill);
        let (running, queued): (Vec<_>, Vec<_>) = open.iter().partition(|task| task.state == "running");
        !running.is_empty()
            && running.len() <= 5
            && running.iter().all(|task| is_sleeper(task))
            && !queued.is_empty()
    });
    at.tell("from SIGTERM until what had not begun was handed back");
    let status = worker.0.wait().unwrap();
    at.tell("from SIGTERM until the rest was handed back, with a grace of 3 s");
    assert_eq!(status.code(), Some(0));
    let left = open_tasks(&mill);
    assert!(left.iter().filter(|task| is_sleeper(task)).count() >= 5, "{left:?}");
    for task in left {
        assert_eq!((task.state.as_str(), task.owner.as_ref()), ("queued", None), "{task:?}");
        assert_eq!((task.attempt, task.lost), (0, 0), "handed back untouched: {task:?}");
    }
}

/// Tells a process to end twice, the second time after it has said these words.
fn impatient(args: &[&str], words: &str) -> Option<i32> {
    let mill = Mill::new();
    fill(&mill, SLEEPERS, 0);
    mill.run(&["ingest", "in", "--batch", "b", "--no-wait"]).expect(0);
    let mut command = command(&mill, args);
    let mut worker = Running(command.env("DOCMILL_ENGINE_SHUTDOWN_GRACE", "1h").spawn().unwrap());
    let pid = worker.0.id();
    until(&mut worker.0, "every sleeper has a child of its own", || {
        only_sleepers_run(&mill, SLEEPERS) && children_of(pid).len() == SLEEPERS
    });
    signal(&worker.0, Signal::INT);
    let mut stderr = worker.0.stderr.take().unwrap();
    let mut said = Vec::new();
    while !String::from_utf8_lossy(&said).contains(words) {
        let mut piece = [0; 256];
        let n = stderr.read(&mut piece).unwrap();
        assert_ne!(n, 0, "it ended by itself: {}", String::from_utf8_lossy(&said));
        said.extend_from_slice(&piece[..n]);
    }
    assert!(only_sleepers_run(&mill, SLEEPERS), "what runs may go on");
    signal(&worker.0, Signal::INT);
    let at = Stopwatch::start();
    let code = worker.0.wait().unwrap().code();
    at.tell(&format!("from the second SIGINT until `{}` had ended", args[0]));
    for task in open_tasks(&mill) {
        assert_eq!((task.state.as_str(), task.attempt, task.lost), ("queued", 0, 0), "{task:?}");
    }
    assert_eq!(support::aftermath::processes_of(&mill), 0);
    code
}

#[test]
fn told_twice_a_worker_ends_at_once() {
    assert_eq!(impatient(&["work"], "again ends at once"), Some(0));
}

#[test]
fn told_twice_a_server_ends_at_once() {
    assert_eq!(impatient(&["serve", "--listen", "127.0.0.1:0"], "again ends at once"), Some(0));
}

#[test]
fn told_twice_an_ingest_ends_at_once() {
    assert_eq!(impatient(&["ingest", "in", "--batch", "b"], "interrupted"), Some(130));
}

//! Files that break whoever reads them, among ordinary ones, through the whole binary: each costs itself its
//! attempts and ends with its reason, and its neighbours do not notice.

#![expect(clippy::unwrap_used, clippy::panic, reason = "test binary")]

mod support;

use std::process::{Command, Stdio};
use std::time::Duration;

use serde_json::Value;
use support::tasks::{Task, open_tasks, tasks, until};
use support::{Mill, children_of};

/// Documents beside each of the broken ones; together they fill more than one frame.
const NEIGHBOURS: usize = 40;

/// One file that does `deed` among others.
fn fill(mill: &Mill, deed: &str) {
    for n in 0..NEIGHBOURS {
        // Names before and after it, so that some of a frame come before it and some after.
        let name = if n % 2 == 0 { format!("a-{n}.txt") } else { format!("z-{n}.txt") };
        mill.write(name, format!("neighbour number {n}\n"));
    }
    mill.write("poison.txt", format!("DOCMILL-PROBE:{deed}\n"));
}

/// An ingest with one child and little patience.
fn command(mill: &Mill) -> Command {
    let mut command = mill.command(&["ingest", "in", "--batch", "b", "--json"]);
    for (setting, value) in [
        ("CPU_WITHOUT_PROGRESS", "1s"),
        ("WALL_WITHOUT_PROGRESS", "2s"),
        ("MEMORY", "256MiB"),
        ("MEMORY_LARGE", "300MiB"),
        ("CHILDREN", "1"),
    ] {
        command.env(format!("DOCMILL_SANDBOX_{setting}"), value);
    }
    command
}

/// Ingests one file that does `deed` among others.
fn ingested(deed: &str) -> Mill {
    let mill = Mill::new();
    fill(&mill, deed);
    let answer = support::finish(&mut command(&mill)).expect(7).json();
    assert_eq!(answer["dead"].as_u64(), Some(1), "{answer}");
    assert_eq!(answer["received"].as_u64(), Some(NEIGHBOURS as u64 + 1), "{answer}");
    mill
}

/// The one dead letter has this reason, in these words, after so many attempts; everybody else is as if nothing
/// had been.
fn costs_itself(mill: &Mill, kind: &str, words: &str, attempts: u32) {
    let dead = mill.run(&["dead", "list", "--json"]).expect(0).json();
    let [letter] = &dead["dead"].as_array().unwrap()[..] else { panic!("not one dead letter: {dead}") };
    assert_eq!(letter["name"], "poison.txt", "{letter}");
    assert_eq!(letter["attempt"].as_u64(), Some(u64::from(attempts)), "{letter}");
    assert_eq!(letter["error"]["kind"], kind, "{letter}");
    assert!(letter["error"]["message"].as_str().unwrap().contains(words), "{letter}");

    let (poison, neighbours): (Vec<Task>, Vec<Task>) =
        tasks(mill).into_iter().partition(|task| task.name == "poison.txt");
    assert_eq!(neighbours.len(), 2 * NEIGHBOURS, "intake and text of each");
    for task in neighbours {
        assert_eq!((task.state.as_str(), task.attempt, task.lost), ("done", 0, 0), "{task:?}");
    }
    let states: Vec<_> =
        poison.iter().map(|task| (task.kind.as_str(), task.state.as_str(), task.attempt)).collect();
    assert_eq!(states, [("intake-document", "done", 0), ("extract-text", "dead", attempts)]);

    // Every attempt is told, the last of them on the larger size.
    let shown = mill.run(&["show", letter["document_id"].as_str().unwrap(), "--json"]).expect(0).json();
    let told = shown["timeline"].as_array().unwrap().iter();
    let is_charged = |line: &&Value| {
        line["detail"].as_str().is_some_and(|detail| detail.starts_with(&format!("{kind} on ")))
    };
    let failures: Vec<&Value> = told.filter(is_charged).collect();
    assert_eq!(failures.len(), attempts as usize, "{shown}");
    assert_eq!(failures.last().unwrap()["outcome"], "dead", "{shown}");
    assert_eq!(shown["ingestions"][0]["status"], "completed", "stored, without its text: {shown}");
    assert_eq!(shown["ingestions"][0]["result"], "TEXT_UNAVAILABLE", "{shown}");
    let found = mill.run(&["search", "neighbour", "--limit", "100", "--json"]).expect(0).json();
    assert_eq!(found["hits"].as_array().unwrap().len(), NEIGHBOURS);
    mill.run(&["audit"]).expect(0);
}

#[test]
fn segfault_costs_three_attempts_of_its_own() {
    costs_itself(&ingested("segfault"), "child_crashed", "SIGSEGV", 3);
}

#[test]
fn abort_costs_three_attempts_of_its_own() {
    costs_itself(&ingested("abort"), "child_crashed", "SIGABRT", 3);
}

#[test]
fn stack_overflow_costs_three_attempts_of_its_own() {
    costs_itself(&ingested("stack"), "child_crashed", "killed by SIG", 3);
}

#[test]
fn hunger_for_memory_costs_one_attempt_on_each_size() {
    costs_itself(&ingested("oom"), "out_of_memory", "314572800 bytes", 2);
}

#[test]
fn endless_loop_costs_one_attempt_on_each_size() {
    costs_itself(&ingested("loop"), "timeout", "CPU time", 2);
}

#[test]
fn endless_sleep_costs_one_attempt_on_each_size() {
    costs_itself(&ingested("sleep"), "timeout", "no progress for", 2);
}

#[test]
fn panic_costs_one_attempt() {
    costs_itself(&ingested("panic"), "bug", "panics on purpose", 1);
}

/// Already gone is fine.
fn kill(process: u32) {
    let process = rustix::process::Pid::from_raw(process.cast_signed()).unwrap();
    let killed = rustix::process::kill_process(process, rustix::process::Signal::KILL);
    assert!(killed.is_ok() || killed == Err(rustix::io::Errno::SRCH), "{killed:?}");
}

/// The kernel ends what takes too much memory by SIGKILL: nobody in docmill has sent it, and nobody explains it.
#[test]
fn kill_by_the_system_costs_its_document_its_attempts() {
    let mill = Mill::new();
    fill(&mill, "sleep");
    let mut ingest = command(&mill)
        .env("DOCMILL_SANDBOX_WALL_WITHOUT_PROGRESS", "1h")
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let pid = ingest.id();
    for attempt in 0..3 {
        until(&mut ingest, "the attempt is charged", || {
            let open = open_tasks(&mill);
            if open.len() == 1 && open[0].state == "running" {
                // A child that was about to begin costs nothing when it dies, and neither does one that has read
                // others before: then the next one is killed. The pause lets one begin, that is all.
                std::thread::sleep(Duration::from_millis(100));
                children_of(pid).into_iter().for_each(kill);
            }
            tasks(&mill).iter().any(|task| task.name == "poison.txt" && task.attempt > attempt)
        });
    }
    assert_eq!(ingest.wait().unwrap().code(), Some(7));
    costs_itself(&mill, "child_crashed", "SIGKILL", 3);
}

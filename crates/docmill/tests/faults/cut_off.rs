//! A worker that is cut off from its database: it stops its work before its leases end, another worker does it, and when
//! the way is open again what the first has to say comes too late.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::Read as _;
use std::process::Stdio;
use std::time::Duration;

use docmill_core::clock::{Clock as _, SystemClock, Timestamp};
use docmill_testkit::faults::Proxy;
use docmill_testkit::state::assert_same;
use serde_json::{Value, json};

use crate::on_server::OnServer;
use crate::postgres_server;
use crate::process::Process;
use crate::support::Mill;
use crate::support::aftermath::aftermath_of;
use crate::support::tasks::until;

/// Asked for by command: the number of seconds.
pub(crate) const ASKED: &str = "DOCMILL_CUT_OFF";

/// What is found in every document.
const WORD: &str = "step";

/// How long everything takes.
struct Times {
    lease: Duration,
    /// Reading of some documents ends within the lease, that of others after it.
    short_walk: Duration,
    long_walk: Duration,
    /// The way is closed at least for so long, and until others have done the work.
    closed: Duration,
}

/// Everything scaled down by the settings.
pub(crate) fn worker_that_is_cut_off_stops_before_its_leases_end_and_writes_nothing_twice(
    server: Option<&str>,
) {
    cut_off(
        server,
        &Times {
            lease: Duration::from_secs(9),
            short_walk: Duration::from_secs(4),
            long_walk: Duration::from_secs(12),
            closed: Duration::ZERO,
        },
    );
}

/// With the lease that is set by default.
pub(crate) fn worker_that_is_cut_off_for_as_long_as_asked_for_writes_nothing_twice(asked: Option<&str>) {
    let closed = Duration::from_secs(asked.unwrap().parse().unwrap());
    let server = std::env::var_os(postgres_server::VARIABLE).and_then(|value| value.into_string().ok());
    let lease = Duration::from_mins(1);
    let times = Times { lease, short_walk: lease / 6, long_walk: lease + lease / 4, closed };
    let elapsed = cut_off(server.as_deref(), &times);
    crate::say(&json!({
        "run": "cut off", "closed_seconds": closed.as_secs(), "lease_seconds": lease.as_secs(),
        "seconds": elapsed.as_secs_f64(), "equal_to_undisturbed": true,
    }));
}

fn fill(mill: &Mill, times: &Times) {
    for (name, walk) in [("short", times.short_walk), ("long", times.long_walk)] {
        for n in 0..2 {
            let pages = walk.as_millis() / 100;
            let text = format!("DOCMILL-PROBE:walk:{pages}:100\n{name} {n}");
            mill.write(format!("before/{name}-{n}.txt"), text);
        }
    }
    mill.write("after/late.txt", "one more step, when the way is open again");
}

fn ingest(mill: &Mill, what: &str) {
    mill.run(&["ingest", "--no-wait", "--batch", what, &format!("in/{what}")]).expect(0);
}

fn undisturbed(times: &Times) -> String {
    let mill = Mill::new().with_settings(&[("DOCMILL_SANDBOX_CHILDREN", "4")]);
    fill(&mill, times);
    ingest(&mill, "before");
    mill.run(&["work", "--exit-when-idle"]).expect(0);
    ingest(&mill, "after");
    mill.run(&["work", "--exit-when-idle"]).expect(0);
    aftermath_of(&mill, &[WORD])
}

/// Answers how long the whole took.
fn cut_off(server: Option<&str>, times: &Times) -> Duration {
    let on_server = OnServer::new(server);
    let (account, rest) = on_server.url.split_once('@').unwrap();
    let (address, name) = rest.split_once('/').unwrap();
    let proxy = {
        let _on = on_server.runtime.enter();
        Proxy::start(address).unwrap()
    };
    let lease = format!("{}ms", times.lease.as_millis());
    let renew = format!("{}ms", times.lease.as_millis() / 4);
    let place = on_server.mill.with_data("data").with_settings(&[
        ("DOCMILL_ENGINE_LEASE", &lease),
        ("DOCMILL_ENGINE_RENEW_EVERY", &renew),
        ("DOCMILL_ENGINE_SWEEP_EVERY", "1s"),
        ("DOCMILL_SANDBOX_CHILDREN", "4"),
        ("DOCMILL_LOG_FORMAT", "json"),
        ("DOCMILL_LOG_LEVEL", "info"),
    ]);
    fill(&place, times);
    ingest(&place, "before");
    let far = place
        .with_data("far")
        .with_settings(&[("DOCMILL_STORE_URL", &format!("{account}@{}/{name}", proxy.address()))]);
    let near = place.with_data("near");

    let mut cut = work(&far, "cut.log");
    until(&mut cut.0, "all documents are being read", || {
        on_server.tasks("kind = 'extract-text' AND state = 'running'") == 4
    });
    proxy.black_hole();
    let clock = SystemClock::new();
    // A renewal that was on its way may still arrive, so leases are looked at until they have ended.
    let mut leases: BTreeMap<i64, i64> = BTreeMap::new();
    let mut other = work(&near, "other.log");
    until(&mut other.0, "another worker has done everything", || {
        let held = on_server
            .ask("SELECT task_id || ' ' || lease_until FROM task WHERE state = 'running' AND epoch = 1");
        leases.extend(held.iter().map(|row| {
            let (task, until) = row.split_once(' ').unwrap();
            (task.parse::<i64>().unwrap(), until.parse::<i64>().unwrap())
        }));
        on_server.tasks("state IN ('queued', 'running')") == 0 && clock.monotonic() >= times.closed
    });
    assert_eq!(leases.len(), 4, "all four were held by the one that was cut off: {leases:?}");
    assert!(cut.0.try_wait().unwrap().is_none(), "it waits for its database");

    proxy.recover();
    other.end();
    ingest(&place, "after");
    until(&mut cut.0, "the first works again", || on_server.tasks("state IN ('queued', 'running')") == 0);
    cut.end();
    place.run(&["work", "--exit-when-idle"]).expect(0);

    let left = left_to_others(&place.path("cut.log"));
    for (task, lease_ends) in &leases {
        let at = left.get(task).unwrap_or_else(|| panic!("task {task} was not left to others: {left:?}"));
        // Work that was done but could not be reported is known to be late only when somebody answers.
        let reported_late = at.1 < times.lease / 2;
        assert!(reported_late || at.0.0 < *lease_ends, "task {task} was left at {} after its lease", at.0);
    }
    assert!(left.values().filter(|(_, read_for)| *read_for >= times.lease / 2).count() >= 2, "{left:?}");
    assert_same(&aftermath_of(&place, &[WORD]), &undisturbed(times));
    clock.monotonic()
}

fn work(mill: &Mill, log: &str) -> Process {
    let log = File::create(mill.path(log)).unwrap();
    Process::start(mill.command(&["work"]).stdout(Stdio::null()).stderr(log))
}

/// When a worker left a task to its new owner, and for how long it had worked on it, by its own log.
fn left_to_others(log: &std::path::Path) -> BTreeMap<i64, (Timestamp, Duration)> {
    let mut text = String::new();
    File::open(log).unwrap().read_to_string(&mut text).unwrap();
    text.lines()
        .filter_map(|line| serde_json::from_str::<Value>(line).ok())
        .filter(|line| line["status"] == "abandoned")
        .map(|line| {
            let at = serde_json::from_value(line["timestamp"].clone()).unwrap();
            let worked = Duration::from_millis(line["duration_ms"].as_u64().unwrap());
            (line["task_id"].as_i64().unwrap(), (at, worked))
        })
        .collect()
}

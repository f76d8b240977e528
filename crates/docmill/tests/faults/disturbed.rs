//! Real workers on real servers, disturbed by a plan, beside others that nobody disturbs: both leave the same.

use std::collections::BTreeMap;
use std::process::{Child, Stdio};
use std::time::Duration;

use docmill_core::clock::{Clock as _, SystemClock};
use docmill_testkit::faults::{Disturbance, Plan, Step};
use docmill_testkit::state::assert_same;
use serde_json::{Value, json};

use crate::cluster::{Cluster, Database};
use crate::fleet::Fleet;
use crate::support::Mill;
use crate::{invariants, pile, say};

const WORKERS: usize = 3;

/// What is asked for by command.
pub(crate) const ASKED: &str = "DOCMILL_FAULTS";

/// The name of the batch.
const BATCH: &str = "pile";

/// How often is looked how far the work is.
const LOOK_EVERY: Duration = Duration::from_millis(20);

/// How much of what.
struct Extent {
    files: usize,
    disturbances: usize,
    seed: u64,
}

/// A few disturbances, of every kind.
pub(crate) fn every_kind_of_disturbance_leaves_what_an_undisturbed_run_leaves(_: Option<&str>) {
    let mut cluster = Cluster::start();
    let undisturbed = undisturbed(&cluster, 150);
    disturbed(
        &mut cluster,
        &undisturbed,
        "disturbed",
        &Extent { files: 150, disturbances: 8, seed: 20_261_117 },
    );
}

/// As many as were asked for: `runs`, `files`, `disturbances`, `seed`, separated by spaces. Each run has another seed.
pub(crate) fn as_many_disturbances_as_asked_for_leave_what_an_undisturbed_run_leaves(asked: Option<&str>) {
    let numbers: Vec<u64> = asked.unwrap().split(' ').map(|number| number.parse().unwrap()).collect();
    let [runs, files, disturbances, seed] = numbers[..] else { panic!("`{ASKED}` has four numbers") };
    let (files, disturbances) = (files as usize, disturbances as usize);
    let mut cluster = Cluster::start();
    let undisturbed = undisturbed(&cluster, files);
    say(&undisturbed.told);
    for run in 0..runs {
        let extent = Extent { files, disturbances, seed: seed + run };
        let told = disturbed(&mut cluster, &undisturbed, &format!("disturbed_{run}"), &extent);
        let overdue = told["longest_overdue_ms"].as_i64().unwrap();
        assert!(overdue <= 90_000, "I3: work of a worker that was gone lay for {overdue} ms");
        say(&told);
    }
}

/// A run that nobody disturbs.
struct Undisturbed {
    state: String,
    /// All that came in, with members of boxes.
    items: i64,
    told: Value,
}

fn undisturbed(cluster: &Cluster, files: usize) -> Undisturbed {
    let (mill, database) = cluster.place("undisturbed");
    pile::fill(&mill, files);
    let clock = SystemClock::new();
    let mut run = Run::start(&mill, &database);
    while !run.is_over() {
        run.tend();
        std::thread::sleep(LOOK_EVERY);
    }
    let elapsed = clock.monotonic();
    run.fleet.dismiss();
    let state = invariants::hold(&mill, &database, &pile::words(files));
    let items = database.number("SELECT count(*)::text FROM ingestion").unwrap();
    let told =
        json!({ "run": "undisturbed", "files": files, "items": items, "seconds": elapsed.as_secs_f64() });
    Undisturbed { state, items, told }
}

/// A run that is disturbed and must leave the same.
fn disturbed(cluster: &mut Cluster, expected: &Undisturbed, name: &str, extent: &Extent) -> Value {
    let (mill, database) = cluster.place(name);
    pile::fill(&mill, extent.files);
    let plan = Plan::new(extent.seed, extent.disturbances, WORKERS);
    tell_plan(extent.seed, &plan);
    let mut steps = plan.steps.into_iter().peekable();
    let mut done: BTreeMap<&str, u64> = BTreeMap::new();
    let (mut late, mut longest_overdue) = (0_u64, 0_i64);
    let clock = SystemClock::new();
    let mut run = Run::start(&mill, &database);
    while !run.is_over() || steps.peek().is_some() {
        run.tend();
        longest_overdue = longest_overdue.max(overdue(&database).unwrap_or(0));
        let progress = ended(&database).unwrap_or(0) * 1_000 / expected.items;
        while steps.peek().is_some_and(|step| progress >= step.done_permille as i64) {
            let open = open(&database);
            let Some(step) = steps.next_if(|step| run.disturb(cluster, step)) else { break };
            *done.entry(step.what.name()).or_default() += 1;
            // What comes when all is done disturbs nobody.
            late += u64::from(open == Some(0));
        }
        std::thread::sleep(LOOK_EVERY);
    }
    let elapsed = clock.monotonic();
    let (repeated, gave_up) = (run.ingest.repeated, run.fleet.gave_up);
    let outlived = run.fleet.dismiss();
    assert_eq!(outlived, [0_u32; 0], "I9: readers outlived their workers");
    let retries = database.number("SELECT count(*)::text FROM task_failure").unwrap();
    let state = invariants::hold(&mill, &database, &pile::words(extent.files));
    assert_same(&state, &expected.state);
    json!({
        "run": "disturbed", "seed": extent.seed, "files": extent.files, "items": expected.items, "workers": WORKERS,
        "disturbances": done, "late": late, "ingests_repeated": repeated, "workers_gave_up": gave_up,
        "uncharged_retries": retries, "longest_overdue_ms": longest_overdue, "seconds": elapsed.as_secs_f64(),
        "equal_to_undisturbed": true,
    })
}

#[expect(clippy::print_stdout, reason = "whoever looks into a failure needs the seed")]
fn tell_plan(seed: u64, plan: &Plan) {
    println!("seed {seed}");
    for step in &plan.steps {
        println!("  at {:>3} of 1000: {}", step.done_permille, step.what);
    }
}

/// Items that have ended.
fn ended(database: &Database) -> Option<i64> {
    database.number("SELECT count(*)::text FROM ingestion WHERE status <> 'in_progress'")
}

/// Tasks that have not.
fn open(database: &Database) -> Option<i64> {
    database.number("SELECT count(*)::text FROM task WHERE state IN ('waiting', 'queued', 'held', 'running')")
}

/// For how long the oldest lease that has run out waits to be noticed, in milliseconds.
fn overdue(database: &Database) -> Option<i64> {
    database.number(
        "SELECT (extract(epoch FROM clock_timestamp()) * 1000 - min(lease_until))::bigint::text FROM task
         WHERE state = 'running'",
    )
}

/// Somebody who brings everything in, and workers.
struct Run<'a> {
    database: &'a Database,
    fleet: Fleet<'a>,
    ingest: Ingest<'a>,
}

impl<'a> Run<'a> {
    fn start(mill: &'a Mill, database: &'a Database) -> Self {
        Self { database, ingest: Ingest::start(mill), fleet: Fleet::start(mill, WORKERS) }
    }

    fn tend(&mut self) {
        self.ingest.tend();
        self.fleet.tend(self.database);
    }

    fn is_over(&mut self) -> bool {
        let finished = format!(
            "SELECT count(*)::text FROM batch WHERE name = '{BATCH}' AND state = 'finished'
               AND NOT EXISTS (SELECT 1 FROM outbox)"
        );
        self.ingest.is_done && self.database.number(&finished) == Some(1)
    }

    /// False if it cannot be done yet.
    fn disturb(&mut self, cluster: &mut Cluster, step: &Step) -> bool {
        match step.what {
            Disturbance::Kill(worker) => return self.fleet.kill(worker),
            Disturbance::Stop(worker) => return self.fleet.stop(worker),
            Disturbance::End(worker) => return self.fleet.end(worker),
            Disturbance::RestartDatabase => cluster.restart_database(),
            Disturbance::CutConnections(percent) => self.database.cut(percent),
            Disturbance::RestartBlobs => cluster.restart_blobs(),
            Disturbance::KillIngest => self.ingest.kill(),
        }
        true
    }
}

/// `docmill ingest`, again and again with the same batch until it ends well, as a person would do it.
struct Ingest<'a> {
    mill: &'a Mill,
    process: Child,
    is_done: bool,
    repeated: u64,
}

impl<'a> Ingest<'a> {
    fn start(mill: &'a Mill) -> Self {
        Self { mill, process: Self::begin(mill), is_done: false, repeated: 0 }
    }

    fn begin(mill: &Mill) -> Child {
        let mut command = mill.command(&["ingest", "--no-wait", "--batch", BATCH, "in"]);
        command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap()
    }

    fn tend(&mut self) {
        if self.is_done {
            return;
        }
        if let Some(status) = self.process.try_wait().unwrap() {
            self.is_done = status.success();
            if !self.is_done {
                self.again();
            }
        }
    }

    fn again(&mut self) {
        self.process = Self::begin(self.mill);
        (self.is_done, self.repeated) = (false, self.repeated + 1);
    }

    /// Kills it, if it still runs, and begins again; what was brought in already is not added twice.
    fn kill(&mut self) {
        if !self.is_done {
            self.process.kill().unwrap();
            self.process.wait().unwrap();
        }
        self.again();
    }
}

impl Drop for Ingest<'_> {
    fn drop(&mut self) {
        // Already gone is fine: it has ended.
        if self.process.kill().is_ok() {
            self.process.wait().unwrap();
        }
    }
}

//! Worker processes that are killed, stopped and told to end, and others in their place.

use std::fs::File;
use std::process::{Child, Stdio};
use std::time::Duration;

use docmill_core::clock::{Clock as _, SystemClock};
use rustix::process::Signal;

use crate::cluster::Database;
use crate::support::{Mill, children_of, signal};

/// A stopped worker stays so at least for this long, which is more than its lease.
const STOP_FOR: Duration = Duration::from_secs(4);

/// What became of a worker.
enum State {
    Working,
    /// Stopped at this moment; its tasks are taken over by others.
    Stopped(Duration),
    /// Told to end.
    Ending,
}

struct Worker {
    process: Child,
    state: State,
}

/// All workers of a place. Those with an odd number have a data directory of their own, as if they were on another
/// machine: nobody sees there whether their process lives.
pub(crate) struct Fleet<'a> {
    mill: &'a Mill,
    elsewhere: Mill,
    workers: Vec<Worker>,
    clock: SystemClock,
    /// Processes of readers whose worker was killed.
    orphans: Vec<u32>,
    /// Workers that ended by themselves: one that cannot reach its database when it starts does so.
    pub(crate) gave_up: u64,
}

impl<'a> Fleet<'a> {
    pub(crate) fn start(mill: &'a Mill, workers: usize) -> Self {
        let mut fleet = Self {
            mill,
            elsewhere: mill.with_data("elsewhere"),
            workers: Vec::new(),
            clock: SystemClock::new(),
            orphans: Vec::new(),
            gave_up: 0,
        };
        for number in 0..workers {
            let worker = fleet.begin(number);
            fleet.workers.push(worker);
        }
        fleet
    }

    fn begin(&self, number: usize) -> Worker {
        let mill = if number % 2 == 1 { &self.elsewhere } else { self.mill };
        let log = File::options()
            .append(true)
            .create(true)
            .open(mill.path(format!("worker-{number}.log")))
            .unwrap();
        let mut command = mill.command(&["work"]);
        command.stdout(Stdio::null()).stderr(log);
        Worker { process: command.spawn().unwrap(), state: State::Working }
    }

    /// Lets stopped workers go on whose work others have taken, and starts new ones where one has ended.
    pub(crate) fn tend(&mut self, database: &Database) {
        for number in 0..self.workers.len() {
            if self.workers[number].process.try_wait().unwrap().is_some() {
                if matches!(self.workers[number].state, State::Working) {
                    self.gave_up += 1;
                }
                self.workers[number] = self.begin(number);
            }
            let State::Stopped(since) = self.workers[number].state else { continue };
            let long_enough = self.clock.monotonic().saturating_sub(since) > STOP_FOR;
            if long_enough && held_by(database, self.workers[number].process.id()) == Some(0) {
                self.go_on(number);
            }
        }
    }

    fn go_on(&mut self, number: usize) {
        signal(&self.workers[number].process, Signal::CONT);
        self.workers[number].state = State::Working;
    }

    /// The first that works, beginning with this one; none unless `more` others work beside it.
    fn victim(&self, number: usize, more: usize) -> Option<usize> {
        let works = |at: &usize| matches!(self.workers[*at].state, State::Working);
        let mut working = (number..self.workers.len()).chain(0..number).filter(works);
        let victim = working.next()?;
        (working.count() >= more).then_some(victim)
    }

    /// False if nobody can be killed now.
    pub(crate) fn kill(&mut self, number: usize) -> bool {
        let Some(number) = self.victim(number, 0) else { return false };
        let process = &mut self.workers[number].process;
        self.orphans.extend(children_of(process.id()));
        process.kill().unwrap();
        process.wait().unwrap();
        self.workers[number] = self.begin(number);
        true
    }

    /// False if nobody can be stopped now: somebody must be there to take the work over.
    pub(crate) fn stop(&mut self, number: usize) -> bool {
        let Some(number) = self.victim(number, 1) else { return false };
        signal(&self.workers[number].process, Signal::STOP);
        self.workers[number].state = State::Stopped(self.clock.monotonic());
        true
    }

    /// False if nobody can be told to end now.
    pub(crate) fn end(&mut self, number: usize) -> bool {
        let Some(number) = self.victim(number, 0) else { return false };
        signal(&self.workers[number].process, Signal::TERM);
        self.workers[number].state = State::Ending;
        true
    }

    /// Tells everybody to end and waits until they have. Answers processes that outlived the worker they belonged to.
    pub(crate) fn dismiss(mut self) -> Vec<u32> {
        for number in 0..self.workers.len() {
            if matches!(self.workers[number].state, State::Stopped(_)) {
                self.go_on(number);
            }
            if matches!(self.workers[number].state, State::Working) {
                signal(&self.workers[number].process, Signal::TERM);
            }
        }
        for worker in &mut self.workers {
            worker.process.wait().unwrap();
        }
        self.orphans.iter().copied().filter(|pid| is_reader(*pid)).collect()
    }
}

impl Drop for Fleet<'_> {
    fn drop(&mut self) {
        for worker in &mut self.workers {
            // Already gone is fine: it was dismissed.
            if worker.process.kill().is_ok() {
                worker.process.wait().unwrap();
            }
        }
    }
}

/// How many tasks a process holds.
fn held_by(database: &Database, pid: u32) -> Option<i64> {
    database.number(&format!(
        "SELECT count(*)::text FROM task t JOIN worker w ON w.worker_id = t.owner
         WHERE w.pid = {pid} AND t.state = 'running'"
    ))
}

/// Whether a process of that number is one that reads documents.
#[expect(clippy::disallowed_methods, reason = "the kernel's own files are small")]
fn is_reader(pid: u32) -> bool {
    let cmdline = std::fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
    String::from_utf8_lossy(&cmdline).contains("__child")
}

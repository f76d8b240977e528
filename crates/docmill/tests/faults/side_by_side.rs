//! Several processes on one database that do not agree: a person cancels what another machine works on, asks for work
//! again that is under way, and runs an older version beside a newer one.

use std::process::Stdio;

use crate::on_server::OnServer;
use crate::process::Process;
use crate::support::children_of;
use crate::support::tasks::until;

/// Documents of which reading never ends.
const SLEEPERS: usize = 3;

/// A worker on another machine, which hears soon that its work was taken away.
fn far_worker(place: &OnServer) -> Process {
    let far = place.mill.with_data("far").with_settings(&[("DOCMILL_ENGINE_RENEW_EVERY", "200ms")]);
    Process::start(far.command(&["work"]).stdout(Stdio::null()).stderr(Stdio::null()))
}

pub(crate) fn cancel_stops_what_runs_on_another_machine(server: Option<&str>) {
    let place = OnServer::new(server);
    for n in 0..SLEEPERS {
        place.mill.write(format!("asleep/{n}.txt"), format!("DOCMILL-PROBE:sleep\n{n}"));
    }
    place.mill.write("awake/a.txt", "a text about harbours");
    place.mill.run(&["ingest", "in/asleep", "--batch", "asleep", "--no-wait"]).expect(0);
    let mut worker = far_worker(&place);
    let pid = worker.0.id();
    until(&mut worker.0, "every sleeper has a child of its own", || {
        place.tasks("kind = 'extract-text' AND state = 'running'") == SLEEPERS as u64
            && children_of(pid).len() >= SLEEPERS
    });
    place.mill.run(&["cancel", "asleep"]).expect(0);
    until(&mut worker.0, "nobody reads them any more", || children_of(pid).is_empty());
    place.mill.run(&["ingest", "in/awake", "--batch", "awake", "--no-wait"]).expect(0);
    until(&mut worker.0, "the worker goes on with the rest", || {
        place.tasks("state IN ('queued', 'running')") == 0
    });
    worker.end();
    assert_eq!(place.tasks("state = 'cancelled'"), SLEEPERS as u64);
    assert_eq!(place.tasks("attempt > 0"), 0, "nobody is charged for a cancel");
    let audit = place.mill.run(&["audit", "--json"]).expect(0).json();
    assert_eq!(
        (audit["balanced"].as_bool(), audit["cancelled"].as_u64()),
        (Some(true), Some(SLEEPERS as u64))
    );
}

pub(crate) fn reprocess_leaves_alone_what_is_being_read(server: Option<&str>) {
    let place = OnServer::new(server);
    place.mill.write("asleep.txt", "DOCMILL-PROBE:sleep\n");
    place.mill.write("awake.txt", "a text about harbours");
    place.mill.run(&["ingest", "in", "--batch", "b", "--no-wait"]).expect(0);
    let mut worker = far_worker(&place);
    // In this order: once the other one is done, whoever is running is the sleeper.
    until(&mut worker.0, "only the sleeper is read", || {
        place.tasks("kind = 'extract-text' AND state = 'done'") == 1
            && place.tasks("kind = 'extract-text' AND state = 'running'") == 1
    });
    let sleeper = "SELECT task_id || ' ' || epoch FROM task WHERE state = 'running'";
    let before = place.ask(sleeper);
    let all = ["reprocess", "--where", "type=text/plain", "--json"];
    assert_eq!(place.mill.run(&all).expect(0).json()["count"], 1, "the one that has ended");
    until(&mut worker.0, "it was read again", || {
        place.tasks("kind = 'extract-text' AND state = 'done'") == 2
    });
    assert_eq!(
        place.ask(sleeper),
        before,
        "the other is still read, by the same worker under the same lease"
    );
    place.mill.run(&["cancel", "b"]).expect(0);
    until(&mut worker.0, "nothing is left", || place.tasks("state IN ('queued', 'running')") == 0);
    worker.end();
    place.mill.run(&["audit"]).expect(0);
}

pub(crate) fn work_of_a_newer_version_is_left_to_it(server: Option<&str>) {
    let place = OnServer::new(server);
    for n in 0..20 {
        place.mill.write(format!("{n}.txt"), format!("text number {n}"));
    }
    place.mill.run(&["ingest", "in", "--batch", "b", "--no-wait"]).expect(0);
    let newer = "kind = 'step-of-a-newer-version'";
    place.run(
        "UPDATE task SET kind = 'step-of-a-newer-version'
         WHERE task_id IN (SELECT task_id FROM task ORDER BY task_id LIMIT 5)",
    );
    // The older version does what it knows, ends when nothing of that is left, and takes nothing else.
    place.mill.run(&["work", "--exit-when-idle"]).expect(0);
    assert_eq!(place.tasks(&format!("{newer} AND state = 'queued' AND epoch = 0 AND attempt = 0")), 5);
    assert_eq!(place.tasks("state IN ('queued', 'running')"), 5);
    let audit = place.mill.run(&["audit", "--json"]).expect(0).json();
    assert_eq!((audit["balanced"].as_bool(), audit["open"].as_u64()), (Some(true), Some(5)), "{audit}");
    place.run(&format!("UPDATE task SET kind = 'intake-document' WHERE {newer}"));
    place.mill.run(&["work", "--exit-when-idle"]).expect(0);
    let audit = place.mill.run(&["audit", "--json"]).expect(0).json();
    assert_eq!((audit["balanced"].as_bool(), audit["completed"].as_u64()), (Some(true), Some(20)), "{audit}");
}

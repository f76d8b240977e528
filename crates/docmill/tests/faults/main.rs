//! Faults on purpose, on real processes and real servers: whatever happens, what is left is what an undisturbed run
//! leaves. `docs/reference/faults.md` has the list; `cargo xtask faults` runs the long version.
#![expect(clippy::unwrap_used, clippy::panic, reason = "a failed step is a failed case")]

mod cluster;
mod cut_off;
mod disturbed;
mod embedded;
mod fleet;
mod invariants;
mod on_server;
mod pile;
#[path = "../../../backends/tests/postgres_server/mod.rs"]
mod postgres_server;
mod process;
mod side_by_side;
#[path = "../support/mod.rs"]
mod support;

use std::process::ExitCode;

use docmill_testkit::conformance::{self, Property};
use serde_json::Value;

/// Tests of a module, named after themselves.
macro_rules! embedded {
    ($module:ident: $($test:ident),* $(,)?) => {
        vec![$(Property::embedded(stringify!($test), $module::$test)),*]
    };
}

/// The same, asked for by a variable.
macro_rules! asked_by {
    ($variable:expr, $module:ident: $($test:ident),* $(,)?) => {
        vec![$(Property::asked_by($variable, stringify!($test), $module::$test)),*]
    };
}

fn main() -> ExitCode {
    let tests = [
        embedded![embedded:
            copy_of_a_stopped_directory_opens_and_goes_on,
            database_that_somebody_locks_is_waited_for,
            leases_are_kept_while_every_core_is_busy_reading,
        ],
        asked_by![postgres_server::VARIABLE, cut_off:
            worker_that_is_cut_off_stops_before_its_leases_end_and_writes_nothing_twice,
        ],
        asked_by![cut_off::ASKED, cut_off:
            worker_that_is_cut_off_for_as_long_as_asked_for_writes_nothing_twice,
        ],
        asked_by![postgres_server::VARIABLE, side_by_side:
            cancel_stops_what_runs_on_another_machine,
            reprocess_leaves_alone_what_is_being_read,
            work_of_a_newer_version_is_left_to_it,
        ],
        asked_by![cluster::POSTGRES, disturbed:
            every_kind_of_disturbance_leaves_what_an_undisturbed_run_leaves,
        ],
        asked_by![disturbed::ASKED, disturbed:
            as_many_disturbances_as_asked_for_leave_what_an_undisturbed_run_leaves,
        ],
    ];
    conformance::run(tests.into_iter().flatten().map(Property::into_trial).collect())
}

/// For whoever reads the output; `cargo xtask faults` collects these lines.
#[expect(clippy::print_stdout, reason = "figures are for the reader of the output")]
fn say(told: &Value) {
    println!("faults: {told}");
}

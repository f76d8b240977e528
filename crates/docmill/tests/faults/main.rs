//! Faults on purpose, on real processes and real servers: whatever happens, what is left is what an undisturbed run
//! leaves. `docs/reference/faults.md` has the list; `cargo xtask faults` runs the long version.
#![expect(clippy::unwrap_used, clippy::panic, reason = "a failed step is a failed case")]

mod cluster;
mod cut_off;
mod disturbed;
mod fleet;
mod invariants;
mod pile;
#[path = "../../../backends/tests/postgres_server/mod.rs"]
mod postgres_server;
#[path = "../support/mod.rs"]
mod support;

use std::process::ExitCode;

use docmill_testkit::conformance::{self, Property};
use serde_json::Value;

/// For whoever reads the output; `cargo xtask faults` collects these lines.
#[expect(clippy::print_stdout, reason = "figures are for the reader of the output")]
fn say(told: &Value) {
    println!("faults: {told}");
}

fn main() -> ExitCode {
    let trials = [
        Property::asked_by(
            cluster::POSTGRES,
            "every_kind_of_disturbance_leaves_what_an_undisturbed_run_leaves",
            disturbed::short,
        ),
        Property::asked_by(
            disturbed::ASKED,
            "as_many_disturbances_as_asked_for_leave_what_an_undisturbed_run_leaves",
            disturbed::long,
        ),
        Property::asked_by(
            postgres_server::VARIABLE,
            "worker_that_is_cut_off_stops_before_its_leases_end_and_writes_nothing_twice",
            cut_off::short,
        ),
        Property::asked_by(
            cut_off::ASKED,
            "worker_that_is_cut_off_for_as_long_as_asked_for_writes_nothing_twice",
            cut_off::long,
        ),
    ];
    conformance::run(trials.into_iter().map(Property::into_trial).collect())
}

//! `docmill migrate`: everything arrives, whatever interrupts it, and what must not be moved or overwritten is not.
#![expect(clippy::unwrap_used, reason = "a failed step is a failed case")]

/// Tests that need nothing, named after themselves.
macro_rules! embedded {
    ($($test:ident),* $(,)?) => {
        vec![$(docmill_testkit::conformance::Property::embedded(stringify!($test), $test).into_trial()),*]
    };
}

/// Tests that need a database server.
macro_rules! on_server {
    ($($test:ident),* $(,)?) => {
        vec![$(docmill_testkit::conformance::Property::asked_by(
            $crate::postgres_server::VARIABLE, stringify!($test), $test
        ).into_trial()),*]
    };
}

mod interrupted;
mod mixed;
#[path = "../../../backends/tests/postgres_server/mod.rs"]
mod postgres_server;
mod refused;
mod round_trip;
mod server;
#[path = "../support/mod.rs"]
mod support;

use std::process::ExitCode;

use docmill_testkit::conformance;

fn main() -> ExitCode {
    let mut trials = round_trip::trials();
    trials.extend(interrupted::trials());
    trials.extend(refused::trials());
    conformance::run(trials)
}

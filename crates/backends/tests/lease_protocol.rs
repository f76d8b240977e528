//! Random sequences of the work protocol on every store, against the model in the testkit.
#![expect(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a failed step is a failed case")]

#[cfg(feature = "postgres")]
mod postgres_server;

use std::process::ExitCode;
use std::sync::Arc;

use docmill_backends::store::sqlite::SqliteStore;
use docmill_core::clock::{SteppingClock, SystemIds, Timestamp};
use docmill_core::ports::Store;
use docmill_testkit::conformance::store::World;
use docmill_testkit::conformance::{self, Property};
use docmill_testkit::lease_model::{Op, any_op, play};
use proptest::test_runner::{Config, TestRunner};

fn main() -> ExitCode {
    let mut properties =
        vec![Property::embedded("sqlite_agrees_with_the_model", sqlite_agrees_with_the_model)];
    #[cfg(feature = "postgres")]
    properties.push(Property::asked_by(
        postgres_server::VARIABLE,
        "postgres_agrees_with_the_model",
        postgres_agrees_with_the_model,
    ));
    conformance::run(properties.into_iter().map(Property::into_trial).collect())
}

/// Plays random histories, each on a store of its own that `open` gives.
fn play_all(
    cases: u32,
    open: impl Fn(&tokio::runtime::Runtime, Arc<SteppingClock>, &mut dyn FnMut(Arc<dyn Store>)),
) {
    let mut runner = TestRunner::new(Config { cases, source_file: Some(file!()), ..Config::default() });
    let played = runner.run(&proptest::collection::vec(any_op(), 1..60), |ops: Vec<Op>| {
        let clock = Arc::new(SteppingClock::new(Timestamp(1_767_225_600_000)));
        let runtime =
            tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
        open(&runtime, Arc::clone(&clock), &mut |store| {
            let clock = Arc::clone(&clock);
            runtime.block_on(async { play(&World::around(store, clock).await, &ops).await });
        });
        Ok(())
    });
    if let Err(failure) = played {
        panic!("{failure}");
    }
}

fn sqlite_agrees_with_the_model(_: Option<&str>) {
    play_all(48, |_, clock, play| {
        let dir = tempfile::tempdir().unwrap();
        let store = SqliteStore::open(&dir.path().join("docmill.db"), clock, Arc::new(SystemIds)).unwrap();
        play(Arc::new(store));
    });
}

#[cfg(feature = "postgres")]
fn postgres_agrees_with_the_model(server: Option<&str>) {
    use docmill_core::clock::IdGen as _;
    use postgres_server::{TestDatabase, open_at};
    let server = server.expect("a server was asked for");
    // Fewer: each needs a database.
    play_all(24, |runtime, clock, play| {
        let name = format!("docmill_test_{}", SystemIds.next().simple());
        let database = runtime.block_on(TestDatabase::make(server, &name)).unwrap().unwrap();
        let store = runtime.block_on(open_at(&database.url(), clock)).unwrap();
        play(Arc::new(store));
    });
}

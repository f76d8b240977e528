//! Random sequences of the work protocol on every store, against the model in the testkit.

use std::sync::Arc;

use docmill_backends::store::sqlite::SqliteStore;
use docmill_core::clock::{SteppingClock, SystemIds, Timestamp};
use docmill_testkit::conformance::store::World;
use docmill_testkit::lease_model::{any_op, play};
use proptest::prelude::*;

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, ..ProptestConfig::default() })]

    #[test]
    fn sqlite_agrees_with_the_model(ops in proptest::collection::vec(any_op(), 1..60)) {
        let dir = tempfile::tempdir().unwrap();
        let clock = Arc::new(SteppingClock::new(Timestamp(1_767_225_600_000)));
        let ids = Arc::new(SystemIds);
        let store = SqliteStore::open(&dir.path().join("docmill.db"), Arc::clone(&clock) as _, ids).unwrap();
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
        runtime.block_on(async { play(&World::around(Arc::new(store), clock).await, &ops).await });
    }
}

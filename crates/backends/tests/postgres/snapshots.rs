//! A transaction that keeps its snapshot, so that dead rows stay in the way of those who claim.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use docmill_backends::store::postgres::{Options, PostgresStore, Time};
use docmill_core::clock::{Clock, SteppingClock, SystemIds, Timestamp};
use docmill_core::ports::Store;
use docmill_core::ports::store::Receipt;
use docmill_testkit::conformance::store::{KIND, Reported as _, World};
use docmill_testkit::conformance::{Bench, Case};
use sqlx_core::raw_sql::raw_sql;

use crate::{Database, postgres_server};

pub(crate) fn cases() -> Vec<Case<Database>> {
    docmill_testkit::cases![work_goes_on_over_many_dead_rows]
}

/// On this clock everything takes long: 10 ms pass from one question to the next.
struct Slow {
    clock: Arc<SteppingClock>,
    asked: AtomicU32,
}

impl Clock for Slow {
    fn now(&self) -> Timestamp {
        self.clock.now()
    }

    fn monotonic(&self) -> Duration {
        Duration::from_millis(10) * self.asked.fetch_add(1, Ordering::SeqCst)
    }
}

/// Claims look where they remember queues to begin, and everywhere from time to time: everything is found, also what
/// is queued before the remembered place and for a tenant that was not known, and nothing twice.
async fn work_goes_on_over_many_dead_rows(bench: Bench<Database>) {
    let database = bench.open().await;
    let slow = Arc::new(Slow { clock: database.clock(), asked: AtomicU32::new(0) });
    let options = Options { time: Time::Of(database.clock()), max_connections: 5, ..Options::default() };
    let store = PostgresStore::open(&database.url, options, slow, Arc::new(SystemIds)).await.unwrap();
    let world = World::around(Arc::new(store) as Arc<dyn Store>, database.clock()).await;
    world.receive(None, 3).await;

    let mut keeper = postgres_server::connect(&database.url).await.unwrap();
    raw_sql("BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT count(*) FROM task")
        .execute(&mut keeper)
        .await
        .unwrap();
    database
        .run(
            "INSERT INTO task (task_id, tenant_id, ingestion_id, kind, stage, state, size, units, priority, run_at,
               order_key, queued_at)
             SELECT -n, '00000000-0000-0000-0000-000000000000', '00000000-0000-0000-0000-000000000000', 'test', 'queued',
               'dropped', 'small', 1, 50, 0, 0, 0 FROM generate_series(1, 25000) AS n;
             DELETE FROM task WHERE task_id < 0",
        )
        .await;
    database.eventually("SELECT (pg_stat_get_dead_tuples('task'::regclass) >= 20000)::text", "true").await;

    let mut claimed = BTreeSet::new();
    for step in 0..60 {
        match step {
            // Before all that was there.
            5 => {
                let urgent = world.receipt(None, "urgent.txt", "urgent");
                world.take(Receipt { priority: 0, ..urgent }).await;
            }
            6 => {
                let tenant_id = world.store.tenant("other").await.unwrap();
                let other = world.receipt(None, "other.txt", "other");
                world.take(Receipt { tenant_id, ..other }).await;
            }
            _ => {}
        }
        for lease in world.claim(1).await {
            assert!(claimed.insert(lease.task_id), "task {} was claimed twice", lease.task_id);
            assert!(world.complete(&lease).await.accepted());
        }
    }
    assert_eq!(claimed.len(), 5);
    assert_eq!(world.store.next_due(&[KIND]).await.unwrap(), None);
    raw_sql("COMMIT").execute(&mut keeper).await.unwrap();
    world.assert_balanced().await;
}

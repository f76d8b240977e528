//! Many processes on one database.

use std::sync::Arc;
use std::time::Duration;

use docmill_backends::store::postgres::{Options, PostgresStore, Time};
use docmill_core::batch::{BatchState, NewBatch, Walk};
use docmill_core::clock::{Clock as _, SystemClock, SystemIds};
use docmill_core::event::EventType;
use docmill_core::id::BatchId;
use docmill_core::metrics::{Metrics, Sample};
use docmill_core::ports::Store;
use docmill_core::ports::store::{ClaimSpec, Commit};
use docmill_core::problem::ResultCode;
use docmill_core::task::DEFAULT_PRIORITY;
use docmill_testkit::conformance::store::{Reported, World, ended};
use docmill_testkit::conformance::{Bench, Case};

use crate::Database;

pub(crate) fn cases() -> Vec<Case<Database>> {
    docmill_testkit::cases![
        processes_share_a_batch_and_it_finishes_once,
        work_added_by_one_process_wakes_another,
        outbox_of_a_process_that_died_is_folded_by_another,
        reports_that_wait_together_are_one_transaction,
        report_and_claim_are_one_transaction,
        pause_misses_no_task_that_is_being_added,
        leases_are_by_the_clock_of_the_server,
        names_with_nul_are_kept_as_far_as_the_server_can,
        ledger_balances_at_every_moment_of_an_import,
        transactions_are_counted_with_the_writes_they_hold,
    ]
}

const ITEMS: usize = 120;

/// Claims and completes until nothing is left.
async fn work(store: Arc<dyn Store>, spec: ClaimSpec) -> usize {
    let mut done = 0;
    loop {
        let leases = store.claim(spec.clone()).await.unwrap();
        if leases.is_empty()
            && store.open_tasks(&[docmill_testkit::conformance::store::KIND], None).await.unwrap() == 0
        {
            return done;
        }
        for lease in leases {
            let commit = Commit {
                task_id: lease.task_id,
                epoch: lease.epoch,
                duration: Duration::ZERO,
                outcome: ended(ResultCode::Success),
                continue_for: None,
            };
            assert!(store.commit(commit).await.unwrap().accepted());
            done += 1;
        }
    }
}

async fn processes_share_a_batch_and_it_finishes_once(bench: Bench<Database>) {
    let database = bench.open().await;
    let world = Arc::new(database.world().await);
    let batch = world.batch(Some("shared")).await;
    let mut tasks = Vec::new();
    for n in 0..3 {
        let (store, world) = (database.store().await, Arc::clone(&world));
        let spec = ClaimSpec { worker_id: world.worker(), ..world.spec(5) };
        // Every process takes a third in, and then all work on everything.
        let receipts: Vec<_> = (0..ITEMS / 3)
            .map(|i| world.receipt(Some(batch), &format!("{n}/{i}"), &format!("{n} {}", i % 30)))
            .collect();
        tasks.push(tokio::spawn(async move {
            for chunk in receipts.chunks(7) {
                store.receive(chunk.to_vec()).await.unwrap();
            }
            work(store, spec).await
        }));
    }
    let mut done = 0;
    for task in tasks {
        done += task.await.unwrap();
    }
    assert_eq!(done, ITEMS);
    let walk = Walk { walked: ITEMS as u64, known: 0, baseline: 0 };
    let totals = world.store.seal_batch(world.tenant, batch, walk).await.unwrap();
    assert_eq!((totals.state, totals.completed, totals.open), (BatchState::Finished, ITEMS as u64, 0));
    assert_eq!(totals.received, ITEMS as u64);
    world.assert_balanced().await;
    for kind in [EventType::JobStarted, EventType::JobFinished] {
        assert_eq!(world.count_events(kind).await, 1, "{kind:?}");
    }
    let ids: Vec<i64> = world.events().await.iter().map(|e| e.id).collect();
    assert_eq!(ids, (1..=ids.len() as i64).collect::<Vec<_>>(), "no gap, no event twice");
    let changes = world.store.changes(0, 1000).await.unwrap();
    assert_eq!(changes.len(), world.store.status(world.tenant).await.unwrap().documents as usize);
}

async fn work_added_by_one_process_wakes_another(bench: Bench<Database>) {
    let database = bench.open().await;
    let world = database.world().await;
    let other = database.store().await;
    let (mut work, mut changed) = (other.work_added(), other.changed());
    let listeners = "SELECT count(*)::text FROM pg_stat_activity
        WHERE datname = current_database() AND query ILIKE 'LISTEN %'";
    database.eventually(listeners, "2").await;
    // They say once that they hear, in case something was said before.
    tokio::time::sleep(Duration::from_millis(50)).await;
    work.mark_unchanged();
    changed.mark_unchanged();
    world.receive(None, 1).await;
    let soon = Duration::from_millis(1500);
    tokio::time::timeout(soon, work.changed()).await.expect("sooner than the slow poll").unwrap();
    tokio::time::timeout(soon, changed.changed()).await.expect("sooner than the slow poll").unwrap();
}

async fn outbox_of_a_process_that_died_is_folded_by_another(bench: Bench<Database>) {
    let database = bench.open().await;
    let world = database.world().await;
    database
        .run(
            "INSERT INTO outbox (tenant_id, at, event_count, events)
             SELECT tenant_id, 1, 1, '[{\"kind\":\"WARNING\",\"status\":\"success\"}]' FROM tenant",
        )
        .await;
    database.eventually("SELECT count(*)::text FROM event", "1").await;
    assert_eq!(database.text("SELECT count(*)::text FROM outbox").await, "0");
    drop(world);
}

async fn reports_that_wait_together_are_one_transaction(bench: Bench<Database>) {
    let database = bench.open().await;
    let world = Arc::new(database.world().await);
    world.receive(None, 100).await;
    let leases = world.claim(100).await;
    let reports: Vec<_> = leases
        .into_iter()
        .map(|lease| {
            let world = Arc::clone(&world);
            tokio::spawn(async move { world.complete(&lease).await })
        })
        .collect();
    for report in reports {
        assert!(report.await.unwrap().accepted());
    }
    let transactions: i64 =
        database.text("SELECT count(DISTINCT xmin::text)::text FROM task").await.parse().unwrap();
    assert!(transactions < 50, "100 reports took {transactions} transactions");
    world.assert_balanced().await;
}

async fn report_and_claim_are_one_transaction(bench: Bench<Database>) {
    let database = bench.open().await;
    let world = database.world().await;
    world.receive(None, 2).await;
    let lease = world.claim_one().await;
    let commit = |outcome| Commit {
        task_id: lease.task_id,
        epoch: lease.epoch,
        duration: Duration::ZERO,
        outcome,
        continue_for: None,
    };
    // What the report queues can be had by the claim that comes with it, and a report may come twice.
    let next =
        docmill_testkit::conformance::store::new_task(&docmill_core::task::TaskKind::named("extract-text"));
    let more = docmill_testkit::conformance::store::done(docmill_core::ports::store::Done {
        next: Some(next),
        ..Default::default()
    });
    let report = Arc::new(commit(more));
    let exchange =
        world.store.exchange(vec![Arc::clone(&report), report], Some(world.spec(9))).await.unwrap();
    assert!(exchange.committed.len() == 2 && exchange.committed.iter().all(Reported::accepted));
    assert_eq!(exchange.claimed.len(), 2);
    let stamps = format!(
        "SELECT count(DISTINCT xmin::text)::text FROM task WHERE task_id IN ({}, {}, {})",
        lease.task_id, exchange.claimed[0].task_id, exchange.claimed[1].task_id
    );
    assert_eq!(database.text(&stamps).await, "1");
}

async fn pause_misses_no_task_that_is_being_added(bench: Bench<Database>) {
    use docmill_core::batch::BatchChange;
    let database = bench.open().await;
    let world = Arc::new(database.world().await);
    let batch = world.batch(None).await;
    let adding = {
        let (world, store) = (Arc::clone(&world), database.store().await);
        tokio::spawn(async move {
            for n in 0..60 {
                let receipt = world.receipt(Some(batch), &format!("{n}"), &format!("{n}"));
                store.receive(vec![receipt]).await.unwrap();
            }
        })
    };
    for change in [BatchChange::Pause, BatchChange::Resume].into_iter().cycle().take(9) {
        world.store.change_batch(world.tenant, batch, change).await.unwrap();
        tokio::task::yield_now().await;
    }
    adding.await.unwrap();
    let status = world.store.status(world.tenant).await.unwrap();
    assert_eq!((status.tasks.queued, status.tasks.held), (0, 60), "the last change was a pause");
}

async fn leases_are_by_the_clock_of_the_server(bench: Bench<Database>) {
    let database = bench.open().await;
    // This process lives in the past; its clock decides nothing.
    let clock = database.clock();
    let store =
        PostgresStore::open(&database.url, Options::default(), Arc::clone(&clock) as _, Arc::new(SystemIds));
    let world = World::around(Arc::new(store.await.unwrap()), Arc::clone(&clock)).await;
    world.receive(None, 1).await;
    let lease = world.claim_one().await;
    let machine = SystemClock::new().now();
    let ahead = lease.until.since(machine);
    assert!(ahead > Duration::from_secs(50) && ahead <= Duration::from_secs(61), "{ahead:?}");
    clock.advance(Duration::from_hours(1));
    assert_eq!(world.store.sweep(&[]).await.unwrap().requeued, 0, "an hour of ours is none of the server's");
    let held = vec![(lease.task_id, lease.epoch)];
    assert!(world.store.renew(world.worker, held, Duration::from_mins(1)).await.unwrap().is_empty());
}

async fn names_with_nul_are_kept_as_far_as_the_server_can(bench: Bench<Database>) {
    let database = bench.open().await;
    let world = database.world().await;
    let mut receipt = world.receipt(None, "a\0b.txt", "a");
    receipt.source_metadata = serde_json::json!({ "nul": "\0" });
    let received = world.take(receipt).await;
    let id = received.document_id.unwrap().to_string();
    let shown = world.store.show(world.tenant, &id).await.unwrap().unwrap();
    assert_eq!(shown.name, "a\u{fffd}b.txt");
    assert_eq!(shown.ingestions[0].source_metadata, serde_json::json!({ "nul": "\0" }));
    let batch = NewBatch {
        tenant_id: world.tenant,
        batch_id: BatchId(world.worker().0),
        name: Some("n\0".into()),
        kind: "files".into(),
        priority: DEFAULT_PRIORITY,
    };
    let run = world.store.open_batch(batch.clone()).await.unwrap();
    let again =
        world.store.open_batch(NewBatch { batch_id: BatchId(world.worker().0), ..batch }).await.unwrap();
    assert_eq!((again.batch_id, again.resumed), (run.batch_id, true));
}

async fn ledger_balances_at_every_moment_of_an_import(bench: Bench<Database>) {
    let database = bench.open().await;
    let world = Arc::new(database.world().await);
    let watcher = database.store().await;
    let batch = world.batch(None).await;
    let importing = {
        let world = Arc::clone(&world);
        tokio::spawn(async move {
            for _ in 0..40 {
                world.receive(Some(batch), 5).await;
                for lease in world.claim(3).await {
                    world.complete(&lease).await;
                }
            }
            world.seal(batch, 200).await;
        })
    };
    // What batches have received is folded a moment later; nobody may take that moment for a loss.
    let mut looks = 0;
    while !importing.is_finished() || looks == 0 {
        assert_eq!(watcher.unbalanced().await.unwrap(), 0, "after {looks} looks");
        looks += 1;
    }
    importing.await.unwrap();
    world.assert_balanced().await;
}

async fn transactions_are_counted_with_the_writes_they_hold(bench: Bench<Database>) {
    let database = bench.open().await;
    let metrics = Metrics::new(&[], "test");
    let time = Time::Of(database.clock());
    let options = Options { time, meter: metrics.store.clone(), ..Options::default() };
    let store = PostgresStore::open(&database.url, options, database.clock(), Arc::new(SystemIds));
    let world = World::around(Arc::new(store.await.unwrap()), database.clock()).await;
    world.receive(None, 10).await;
    for lease in world.claim(10).await {
        world.complete(&lease).await;
    }
    let page = metrics.page(&Sample::default()).unwrap();
    let told = |sample: &str| {
        let line = page.lines().find_map(|line| line.strip_prefix(sample)?.strip_prefix(' '));
        line.unwrap_or_else(|| panic!("{sample} is missing in {page}")).parse::<u64>().unwrap()
    };
    // Making the tenant, receiving, claiming, and ten reports.
    assert_eq!(told("docmill_store_transactions_total{outcome=\"ok\"}"), 13);
    assert_eq!(told("docmill_store_transactions_total{outcome=\"failed\"}"), 0);
    assert_eq!(told("docmill_store_group_size_count"), 13);
}

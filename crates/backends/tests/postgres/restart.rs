//! A server that crashes and comes back: what it has confirmed still holds, and it gives nothing out a second time.

use std::sync::Arc;

use docmill_core::ErrorKind;
use docmill_core::ports::Store;
use docmill_core::ports::store::ClaimSpec;
use docmill_testkit::conformance::store::{Reported as _, World};
use docmill_testkit::conformance::{Bench, Case, Place};
use docmill_testkit::faults::OwnServer;
use rustix::process::Signal;

use crate::postgres_server;

/// How a server of one's own is started: this command with a port and a directory.
pub(crate) const COMMAND: &str = "DOCMILL_TEST_POSTGRES_COMMAND";

pub(crate) fn cases() -> Vec<Case<Place>> {
    docmill_testkit::cases![
        claim_outlives_a_crash_of_the_server,
        numbers_that_a_crash_takes_back_are_not_used,
    ]
}

/// A server that writes its log only when a commit waits for it, so that a crash takes away whatever may be taken.
struct Crashing {
    server: OwnServer,
    url: String,
    world: World,
}

impl Crashing {
    async fn start(place: &Arc<Place>) -> Self {
        let server = OwnServer::start(place.url().unwrap(), &["-c", "wal_writer_delay=10s"]);
        let url = format!("postgres://postgres@127.0.0.1:{}/postgres", server.port());
        let store = postgres_server::open_at(&url, place.clock()).await.unwrap();
        let world = World::around(Arc::new(store), place.clock()).await;
        Self { server, url, world }
    }

    fn crash(&mut self) {
        self.server.end(Signal::QUIT);
        self.server.start_again();
    }
}

async fn claim_outlives_a_crash_of_the_server(bench: Bench<Place>) {
    let place = bench.open().await;
    let mut server = Crashing::start(&place).await;
    let world = &server.world;
    world.receive(None, 2).await;
    // Everything is numbered: nothing is left that would be committed, and the claim with it, by and by.
    world.events().await;
    let lease = world.claim_one().await;
    server.crash();
    let world = &server.world;
    let spec = ClaimSpec { worker_id: world.worker(), ..world.spec(2) };
    let others = world.store.claim(spec).await.unwrap();
    assert_eq!(others.len(), 1, "the one that is claimed stays so: under one epoch there is one holder");
    assert_ne!(others[0].task_id, lease.task_id);
    for lease in [&lease, &others[0]] {
        assert!(world.complete(lease).await.accepted());
    }
    world.assert_balanced().await;
}

async fn numbers_that_a_crash_takes_back_are_not_used(bench: Bench<Place>) {
    let place = bench.open().await;
    let mut server = Crashing::start(&place).await;
    postgres_server::run(
        &server.url,
        "CREATE FUNCTION full_disk() RETURNS trigger LANGUAGE plpgsql AS
           $$ BEGIN RAISE EXCEPTION USING ERRCODE = '53100', MESSAGE = 'no space left'; END $$;
         CREATE TRIGGER full_disk BEFORE INSERT ON task FOR EACH ROW EXECUTE FUNCTION full_disk()",
    )
    .await
    .unwrap();
    let world = &server.world;
    // It has taken numbers by then; the transaction fails, and the server forgets in its crash that it gave them.
    let error = world.store.receive(vec![world.receipt(None, "a", "a")]).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::DiskFull);
    server.crash();
    postgres_server::run(&server.url, "DROP TRIGGER full_disk ON task").await.unwrap();
    let world = &server.world;
    world.receive(None, 60).await;
    let other = postgres_server::open_at(&server.url, place.clock()).await.unwrap();
    let receipts = (0..5).map(|n| world.receipt(None, &format!("b/{n}"), &format!("b {n}"))).collect();
    other.receive(receipts).await.unwrap();
    world.assert_balanced().await;
}

//! What the store and the text index on PostgreSQL do beyond what every store and index must do: many processes on one
//! server, tenants kept apart by the server itself, a server that goes away, is full or takes no writes, snapshots that
//! are kept for long, texts that are too long for a row.
#![expect(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a failed step is a failed case")]

mod faults;
#[path = "../postgres_server/mod.rs"]
mod postgres_server;
mod processes;
mod restart;
mod schema;
mod snapshots;
mod tenants;
mod text_index;
mod transfer;

use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use docmill_backends::search::postgres::{self as search, PostgresIndex};
use docmill_backends::store::postgres::PostgresStore;
use docmill_core::Result;
use docmill_core::clock::SteppingClock;
use docmill_core::ports::Store;
use docmill_testkit::conformance::store::World;
use docmill_testkit::conformance::{self, Backend, Place, Suite};

/// A database of its own, and the way to open stores on it.
pub(crate) struct Database {
    pub(crate) url: String,
    server: String,
    place: Arc<Place>,
}

impl Database {
    /// One more process, as far as the server can tell.
    pub(crate) async fn store(&self) -> Arc<PostgresStore> {
        Arc::new(postgres_server::open_at(&self.url, self.clock()).await.unwrap())
    }

    /// The text index, as one more process has it.
    pub(crate) async fn index(&self) -> Arc<PostgresIndex> {
        Arc::new(PostgresIndex::open(&self.url, search::Options::default()).await.unwrap())
    }

    pub(crate) fn clock(&self) -> Arc<SteppingClock> {
        self.place.clock()
    }

    /// A store with everything around it.
    pub(crate) async fn world(&self) -> World {
        World::around(self.store().await as Arc<dyn Store>, self.clock()).await
    }

    pub(crate) async fn run(&self, sql: &str) {
        postgres_server::run(&self.url, sql).await.unwrap();
    }

    pub(crate) async fn text(&self, sql: &str) -> String {
        postgres_server::texts(&self.url, sql).await.unwrap().remove(0)
    }

    /// Asks again and again until the answer is `expected`, for a time that is long beside what it should take.
    pub(crate) async fn eventually(&self, sql: &str, expected: &str) {
        for _ in 0..400 {
            if self.text(sql).await == expected {
                return;
            }
            tokio::time::sleep(Duration::from_millis(25)).await;
        }
        panic!("`{sql}` did not become {expected} within ten seconds");
    }

    pub(crate) async fn texts(&self, sql: &str) -> Result<Vec<String>> {
        postgres_server::texts(&self.url, sql).await
    }

    /// A statement that must run in another database.
    pub(crate) async fn run_outside(&self, sql: &str) {
        postgres_server::run(&self.server, sql).await.unwrap();
    }

    pub(crate) fn name(&self) -> String {
        self.place.name()
    }
}

fn main() -> ExitCode {
    let postgres = Backend::<Database>::asked_by(postgres_server::VARIABLE, "postgres", |place| async move {
        let url = postgres_server::database(&place).await?;
        let server = place.url().unwrap_or_default().to_owned();
        Ok(Arc::new(Database { url, server, place }))
    });
    let mut cases = schema::cases();
    cases.extend(tenants::cases());
    cases.extend(processes::cases());
    cases.extend(faults::cases());
    cases.extend(snapshots::cases());
    cases.extend(transfer::cases());
    cases.extend(text_index::cases());
    let mut trials = Suite { port: "server", cases }.against([postgres]);
    let own = Backend::<Place>::asked_by(restart::COMMAND, "postgres", |place| async move { Ok(place) });
    trials.extend(Suite { port: "own_server", cases: restart::cases() }.against([own]));
    conformance::run(trials)
}

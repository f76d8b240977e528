//! Places whose store is a database of their own on the server that was asked for, and whose blobs are files that all of
//! them share.

use docmill_core::clock::{IdGen as _, SystemIds};
use tokio::runtime::Runtime;

use crate::postgres_server::{self, TestDatabase};
use crate::support::Mill;

/// A database, and a place on it.
pub(crate) struct OnServer {
    pub(crate) runtime: Runtime,
    pub(crate) mill: Mill,
    pub(crate) url: String,
    _database: TestDatabase,
}

impl OnServer {
    pub(crate) fn new(server: Option<&str>) -> Self {
        let runtime = Runtime::new().unwrap();
        let name = format!("docmill_test_{}", SystemIds.next().simple());
        let database = runtime.block_on(TestDatabase::make(server.unwrap(), &name)).unwrap().unwrap();
        let (mill, url) = (Mill::new(), database.url());
        let blobs = format!("file:{}", mill.path("blobs").display());
        let mill = mill.with_settings(&[("DOCMILL_STORE_URL", &url), ("DOCMILL_BLOBS_URL", &blobs)]);
        Self { runtime, mill, url, _database: database }
    }

    /// The first column of all rows.
    pub(crate) fn ask(&self, sql: &str) -> Vec<String> {
        self.runtime.block_on(postgres_server::texts(&self.url, sql)).unwrap()
    }

    /// How many tasks are so.
    pub(crate) fn tasks(&self, condition: &str) -> u64 {
        self.ask(&format!("SELECT count(*)::text FROM task WHERE {condition}"))[0].parse().unwrap()
    }

    /// Runs a statement.
    pub(crate) fn run(&self, sql: &str) {
        self.runtime.block_on(postgres_server::run(&self.url, sql)).unwrap();
    }
}

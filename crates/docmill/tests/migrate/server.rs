//! A database on the server that was asked for.

use std::path::Path;
use std::sync::Arc;

use docmill_backends::blobs::LocalBlobs;
use docmill_backends::store::postgres::{Options, PostgresStore};
use docmill_core::Result;
use docmill_core::clock::{IdGen as _, SystemClock, SystemIds};
use tokio::runtime::Runtime;

use crate::mixed::texts;
use crate::postgres_server::{self, TestDatabase};

/// A fresh database, dropped with this.
pub(crate) struct Database {
    database: TestDatabase,
    runtime: Runtime,
}

impl Database {
    pub(crate) fn new(server: Option<&str>) -> Self {
        let runtime = Runtime::new().unwrap();
        let name = format!("docmill_test_{}", SystemIds.next().simple());
        let database = runtime.block_on(TestDatabase::make(server.unwrap(), &name)).unwrap().unwrap();
        Self { database, runtime }
    }

    pub(crate) fn url(&self) -> String {
        self.database.url()
    }

    /// Opens the store as every command does, and closes it again.
    pub(crate) fn try_open(&self) -> Result<()> {
        self.runtime.block_on(async {
            let store = self.open().await?;
            store.close().await;
            Ok(())
        })
    }

    async fn open(&self) -> Result<PostgresStore> {
        let clock = Arc::new(SystemClock::new());
        PostgresStore::open(&self.url(), Options::default(), clock, Arc::new(SystemIds)).await
    }

    /// Everything it holds, with the blobs in a folder.
    pub(crate) fn texts(&self, blobs: &Path) -> String {
        self.runtime.block_on(async {
            let store = self.open().await.unwrap();
            let text = texts(&store, &LocalBlobs::open(blobs).unwrap()).await;
            store.close().await;
            text
        })
    }

    /// The first column of all rows.
    pub(crate) fn column(&self, sql: &str) -> Vec<String> {
        self.runtime.block_on(postgres_server::texts(&self.url(), sql)).unwrap()
    }
}

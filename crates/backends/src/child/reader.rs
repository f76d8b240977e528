//! Children with the role `parse`, as `Reader`.

use std::sync::Arc;

use async_trait::async_trait;
use docmill_core::Result;
use docmill_core::clock::Clock;
use docmill_core::ports::Reader;
use docmill_core::ports::reader::{Findings, ReadJob};
use docmill_core::wire::Layer;

use super::pool::ChildPool;
use super::settings::{PoolSettings, Sandbox};

/// Reads documents in sandboxed children.
#[derive(Debug)]
pub struct ReaderPool {
    pool: ChildPool,
    identity: String,
}

impl ReaderPool {
    /// Starts a pool on the current tokio runtime. Children start when they are needed; only
    /// [`Sandbox::Required`] starts one at once, and fails if its sandbox does not hold. `identity` is what text
    /// depends on beside docmill itself.
    pub async fn start(
        settings: PoolSettings,
        clock: Arc<dyn Clock>,
        identity: String,
    ) -> Result<Arc<dyn Reader>> {
        let required = settings.sandbox == Sandbox::Required;
        let pool = ChildPool::start(settings, clock)?;
        if required {
            pool.inspect().await?;
        }
        Ok(Arc::new(Self { pool, identity }))
    }

    /// Starts a pool that starts nothing until it is needed; whether the sandbox holds is found out then. No text is
    /// kept that it reads, so it has no identity.
    pub fn start_later(settings: PoolSettings, clock: Arc<dyn Clock>) -> Result<Arc<dyn Reader>> {
        let identity = String::new();
        Ok(Arc::new(Self { pool: ChildPool::start(settings, clock)?, identity }))
    }
}

#[async_trait]
impl Reader for ReaderPool {
    fn identity(&self) -> &str {
        &self.identity
    }

    async fn read(&self, job: ReadJob) -> Result<Findings> {
        self.pool.submit(job.into())
    }

    async fn layers(&self) -> Result<Vec<Layer>> {
        let mut layers = self.pool.inspect().await?;
        let layer = |name: &str, detail: String| Layer { name: name.to_owned(), active: true, detail };
        layers.push(layer(
            "memory",
            "no cgroup: data limit of each child, and its own memory watched by the parent".to_owned(),
        ));
        layers.push(layer("meter", "CPU and wall time without progress, per document".to_owned()));
        layers.push(layer("output", "frames, pages, members and bytes are counted by the parent".to_owned()));
        layers.push(layer(
            "tenant",
            format!("a child serves one tenant and at most {} documents", self.pool.settings().recycle_after),
        ));
        Ok(layers)
    }

    async fn drain(&self) {
        self.pool.drain();
    }

    async fn shutdown(&self) {
        self.pool.shutdown().await;
    }
}

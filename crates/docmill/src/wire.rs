//! Puts the parts together. The only place that names concrete back ends.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use docmill_backends::child::{ChildPool, PoolSettings, Sandbox};
use docmill_backends::store::sqlite::SqliteStore;
use docmill_backends::{blobs, search};
use docmill_core::clock::{Clock, IdGen, SystemEntropy, SystemIds};
use docmill_core::config::{SandboxMode, Settings};
use docmill_core::ports::{Blobs, Reader, Store, TextIndex};
use docmill_core::{Error, Result};
use docmill_pipeline::Deps;

/// The database of an embedded data directory.
pub(crate) const DATABASE: &str = "docmill.db";

/// The blobs of an embedded data directory.
pub(crate) const BLOBS: &str = "blobs";

/// Where the database lies.
pub(crate) fn database(settings: &Settings) -> PathBuf {
    let rest = settings.store_url.strip_prefix("sqlite:").unwrap_or_default();
    settings.data.join(if rest.is_empty() { DATABASE } else { rest.strip_prefix("//").unwrap_or(rest) })
}

/// Where the blobs lie, as a URL with a place.
pub(crate) fn blobs_url(settings: &Settings) -> String {
    match settings.blobs_url.as_str() {
        "file:" => format!("file:{BLOBS}"),
        url => url.to_owned(),
    }
}

/// Opens everything that the settings name. The caller owns the data directory.
pub(crate) async fn deps(settings: &Arc<Settings>, clock: &Arc<dyn Clock>) -> Result<Deps> {
    let ids: Arc<dyn IdGen> = Arc::new(SystemIds);
    let opened = {
        let (settings, clock, ids) = (Arc::clone(settings), Arc::clone(clock), Arc::clone(&ids));
        tokio::task::spawn_blocking(move || open(&settings, clock, ids))
    };
    let (store, blobs, index) =
        opened.await.map_err(|e| Error::bug("opening the data directory was cut short").with_source(e))??;
    Ok(Deps {
        store,
        blobs,
        reader: reader(settings, clock).await?,
        index,
        clock: Arc::clone(clock),
        ids,
        entropy: Arc::new(SystemEntropy),
        settings: Arc::clone(settings),
    })
}

type Opened = (Arc<dyn Store>, Arc<dyn Blobs>, Arc<dyn TextIndex>);

fn open(settings: &Settings, clock: Arc<dyn Clock>, ids: Arc<dyn IdGen>) -> Result<Opened> {
    let store = SqliteStore::open(&database(settings), clock, ids)?;
    let blobs = blobs::open(&blobs_url(settings), &settings.data)?;
    let index = search::open("tantivy:index", &settings.data)?;
    Ok((Arc::new(store), blobs, index))
}

/// The sandboxed readers, which need no data directory.
pub(crate) async fn reader(settings: &Settings, clock: &Arc<dyn Clock>) -> Result<Arc<dyn Reader>> {
    let sandbox = &settings.sandbox;
    let mut pool = PoolSettings::new("/proc/self/exe");
    if sandbox.children > 0 {
        pool.max_children = sandbox.children as usize;
    }
    pool.recycle_after = u64::from(sandbox.recycle_after);
    pool.memory_bytes = sandbox.memory_bytes;
    pool.sandbox = match sandbox.mode {
        SandboxMode::Required => Sandbox::Required,
        SandboxMode::BestEffort => Sandbox::BestEffort,
    };
    // An ingest of many small files pauses between chunks; a child should live through that.
    pool.idle_after = Duration::from_secs(30);
    ChildPool::start(pool, Arc::clone(clock)).await
}

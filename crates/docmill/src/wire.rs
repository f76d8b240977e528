//! Puts the parts together. The only place that names concrete back ends.

use std::sync::Arc;
use std::time::Duration;

use docmill_backends::blobs::{self, Metered};
use docmill_backends::child::{EmbedPool, NoEmbedder, NoOcr, OcrPool, PoolSettings, ReaderPool, Sandbox};
use docmill_backends::{llm, search, store, vectors};
use docmill_core::clock::{Clock, IdGen, SystemEntropy, SystemIds};
use docmill_core::config::{SandboxMode, Settings};
use docmill_core::metrics::{ChildMeter, LlmMeter, Metrics};
use docmill_core::ports::{Blobs, Embedder, Llm, Ocr, Reader, TextIndex, Understander};
use docmill_core::{Error, ErrorKind, Result};
use docmill_generate::Press;
use docmill_pipeline::{Deps, stages};
use docmill_understand::Local;

use crate::models::MINILM;
use crate::{label_files, ocr, pdfium, spans};

/// More threads gain little on one page.
const MAX_THREADS: usize = 4;

/// The blobs of an embedded data directory.
pub(crate) const BLOBS: &str = "blobs";

/// Whether one process owns the data directory and everything in it, rather than sharing a server with others.
pub(crate) fn is_embedded(settings: &Settings) -> bool {
    store::is_embedded(&settings.store_url)
}

/// Where the blobs lie, as a URL with a place.
pub(crate) fn blobs_url(settings: &Settings) -> String {
    match settings.blobs_url.as_str() {
        "file:" => format!("file:{BLOBS}"),
        url => url.to_owned(),
    }
}

/// Where the text index lies: with the store, so that whoever shares the one shares the other.
fn index_url(settings: &Settings) -> &str {
    if is_embedded(settings) { "tantivy:index" } else { &settings.store_url }
}

/// Where the meanings lie: with the store, too.
fn vectors_url(settings: &Settings) -> &str {
    if is_embedded(settings) { "flat:vectors" } else { &settings.store_url }
}

/// Opens everything that the settings name. The caller owns the data directory if the store is embedded.
pub(crate) async fn deps(settings: &Arc<Settings>, clock: &Arc<dyn Clock>) -> Result<Deps> {
    let ids: Arc<dyn IdGen> = Arc::new(SystemIds);
    let kinds: Vec<_> = stages::ALL.iter().map(|handler| handler.kind()).collect();
    let metrics = Arc::new(Metrics::new(&kinds, env!("CARGO_PKG_VERSION")));
    let connections = store::Connections {
        max: settings.store.max_connections,
        statement_timeout: settings.store.statement_timeout,
    };
    let store = store::open_metered(
        &settings.store_url,
        &settings.data,
        connections,
        Arc::clone(clock),
        Arc::clone(&ids),
        metrics.store.clone(),
    )
    .await?;
    let (local, its_clock) = (Arc::clone(settings), Arc::clone(clock));
    let opened = tokio::task::spawn_blocking(move || open(&local, its_clock)).await;
    let (blobs, index) =
        opened.map_err(|e| Error::bug("opening the data directory was cut short").with_source(e))??;
    Ok(Deps {
        store,
        blobs: Arc::new(Metered::new(blobs, metrics.blobs.clone(), Arc::clone(clock))),
        reader: metered_reader(settings, clock, metrics.children.clone()).await?,
        viewer: viewer(settings, clock, metrics.children.clone())?,
        ocr: metered_ocr(settings, clock, metrics.children.clone(), false)?,
        ocr_again: metered_ocr(settings, clock, metrics.children.clone(), true)?,
        embedder: metered_embedder(settings, clock, metrics.children.clone())?,
        understander: understander(settings).await?,
        extractor: Arc::new(docmill_extract::Local),
        llm: llm::open(&settings.llm, clock, metrics.llm.clone())?,
        generator: Arc::new(Press::default()),
        index,
        vectors: vectors::open(vectors_url(settings), &settings.data)?,
        clock: Arc::clone(clock),
        ids,
        entropy: Arc::new(SystemEntropy),
        settings: Arc::clone(settings),
        metrics,
        spans: spans::open(&settings.otel)?,
    })
}

/// What understands documents, with the label sets that the settings name. Learning from examples takes a while.
async fn understander(settings: &Arc<Settings>) -> Result<Arc<dyn Understander>> {
    let settings = Arc::clone(settings);
    let learnt =
        tokio::task::spawn_blocking(move || Local::with(&label_files::all(&settings.understand)?, None));
    let local = learnt.await.map_err(|e| Error::bug("learning labels was cut short").with_source(e))??;
    Ok(Arc::new(local))
}

type Opened = (Arc<dyn Blobs>, Arc<dyn TextIndex>);

fn open(settings: &Settings, clock: Arc<dyn Clock>) -> Result<Opened> {
    let blobs = open_blobs(settings, clock)?;
    let index = search::open(index_url(settings), &settings.data)?;
    Ok((blobs, index))
}

fn open_blobs(settings: &Settings, clock: Arc<dyn Clock>) -> Result<Arc<dyn Blobs>> {
    let (data_dir, entropy) = (settings.data.as_path(), Arc::new(SystemEntropy));
    let around = blobs::Surroundings { data_dir, settings: &settings.blobs, clock, entropy };
    blobs::open(&blobs_url(settings), &around)
}

/// The sandboxed readers, which need no data directory.
pub(crate) async fn reader(settings: &Settings, clock: &Arc<dyn Clock>) -> Result<Arc<dyn Reader>> {
    metered_reader(settings, clock, ChildMeter::default()).await
}

async fn metered_reader(
    settings: &Settings,
    clock: &Arc<dyn Clock>,
    meter: ChildMeter,
) -> Result<Arc<dyn Reader>> {
    let mut pool = pool_settings(settings, meter);
    let second = pdfium::find(settings)?;
    pool.args.extend(second.iter().flat_map(pdfium::Found::arguments));
    let identity = second.map_or_else(String::new, |found| found.identity);
    ReaderPool::start(pool, Arc::clone(clock), identity).await
}

/// More readers, for people who look at pages.
fn viewer(settings: &Settings, clock: &Arc<dyn Clock>, meter: ChildMeter) -> Result<Arc<dyn Reader>> {
    let mut pool = pool_settings(settings, meter);
    let cores = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
    pool.max_children = match settings.view.children {
        0 => (cores / 2).max(2),
        children => children as usize,
    };
    // Pages are larger than texts and people look at one after the other: each goes alone, and one that takes
    // long for a page makes way for the others, without losing its child for every page that is merely large.
    pool.frame_max_orders = 1;
    pool.max_detached = 2;
    pool.slow_after = Duration::from_secs(2);
    pool.slow_after_cpu = Duration::from_secs(2);
    // Whoever reads a page looks at the next one minutes later, perhaps.
    pool.idle_after = Duration::from_mins(2);
    ReaderPool::start_later(pool, Arc::clone(clock))
}

/// The sandboxed recognisers, or what says why there are none.
pub(crate) fn ocr(settings: &Settings, clock: &Arc<dyn Clock>) -> Result<Arc<dyn Ocr>> {
    metered_ocr(settings, clock, ChildMeter::default(), false)
}

/// The same for pages that have been read and were of no use: another way is taken.
pub(crate) fn ocr_again(settings: &Settings, clock: &Arc<dyn Clock>) -> Result<Arc<dyn Ocr>> {
    metered_ocr(settings, clock, ChildMeter::default(), true)
}

/// The language model that the settings name, if they name one.
pub(crate) fn model(settings: &Settings, clock: &Arc<dyn Clock>) -> Result<Option<Arc<dyn Llm>>> {
    llm::open(&settings.llm, clock, LlmMeter::default())
}

fn metered_ocr(
    settings: &Settings,
    clock: &Arc<dyn Clock>,
    meter: ChildMeter,
    again: bool,
) -> Result<Arc<dyn Ocr>> {
    let found = match ocr::find(&settings.ocr, &settings.data) {
        Ok(found) => found,
        Err(error) if error.kind() == ErrorKind::MissingDependency => {
            return Ok(Arc::new(NoOcr::new(error.message(), error.hint().unwrap_or_default())));
        }
        Err(error) => return Err(error),
    };
    let mut pool = pool_settings(settings, meter);
    pool.args = ["__child", "--role", "ocr"].map(Into::into).to_vec();
    pool.args.extend(found.arguments(settings.ocr.threshold));
    if again {
        // One page at a time is read again, while somebody waits: it gets the processors that other children leave.
        let cores = std::thread::available_parallelism().map_or(1, std::num::NonZero::get).min(MAX_THREADS);
        pool.args.extend(["--again", "true", "--threads", &cores.to_string()].map(Into::into));
    }
    OcrPool::start(pool, Arc::clone(clock), found.identity, found.missing)
}

/// The sandboxed model of what texts mean, or what says why there is none.
pub(crate) fn embedder(settings: &Settings, clock: &Arc<dyn Clock>) -> Result<Arc<dyn Embedder>> {
    metered_embedder(settings, clock, ChildMeter::default())
}

fn metered_embedder(
    settings: &Settings,
    clock: &Arc<dyn Clock>,
    meter: ChildMeter,
) -> Result<Arc<dyn Embedder>> {
    let Some(folder) = MINILM.find(&settings.data) else {
        let missing = format!("the model `{}` is not here", MINILM.name);
        return Ok(Arc::new(NoEmbedder::new(missing, "`docmill models pull` fetches it")));
    };
    let mut pool = pool_settings(settings, meter);
    pool.args = ["__child", "--role", "embed", "--model"].map(Into::into).to_vec();
    pool.args.push(folder.to_string_lossy().into_owned());
    EmbedPool::start(pool, Arc::clone(clock), MINILM.name.to_owned())
}

fn pool_settings(settings: &Settings, meter: ChildMeter) -> PoolSettings {
    let sandbox = &settings.sandbox;
    let mut pool = PoolSettings::new("/proc/self/exe");
    if sandbox.children > 0 {
        pool.max_children = sandbox.children as usize;
    }
    pool.recycle_after = u64::from(sandbox.recycle_after);
    pool.memory_bytes = sandbox.memory_bytes;
    pool.meter = meter;
    pool.passwords.clone_from(&settings.passwords);
    pool.sandbox = match sandbox.mode {
        SandboxMode::Required => Sandbox::Required,
        SandboxMode::BestEffort => Sandbox::BestEffort,
    };
    // An ingest of many small files pauses between chunks; a child should live through that.
    pool.idle_after = Duration::from_secs(30);
    pool
}

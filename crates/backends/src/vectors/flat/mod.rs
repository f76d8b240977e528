//! All vectors in one file, and in memory once somebody asks: 436 bytes a passage and what says whose it is. There is no
//! graph to build, to balance or to repair.
//!
//! Next: `vector` (one vector in three sizes), `shelf` (those of a tenant in memory), `file`.

mod file;
mod shelf;
mod vector;

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError, RwLock};

use async_trait::async_trait;
use docmill_core::id::{DocumentId, TenantId};
use docmill_core::ports::VectorIndex;
use docmill_core::ports::filter::Filter;
use docmill_core::ports::vector_index::{VectorChange, VectorHit, VectorQuery};
use docmill_core::{Error, Result};

use self::file::{Applied, File};
use self::shelf::Shelf;
use super::MAX_HITS;

/// Of the nearest by bytes, so many times what is wanted are looked at exactly.
const EXACTLY: usize = 2;
const EXACTLY_AT_LEAST: usize = 20;

/// The index.
pub struct FlatIndex {
    inner: Arc<Inner>,
}

struct Inner {
    dir: PathBuf,
    /// Opened when it is first needed: most commands never are.
    file: Mutex<Option<File>>,
    /// The same file again, to read from: questions do not wait for a batch that is being written.
    reading: Mutex<Option<File>>,
    /// Filled by the first question.
    shelves: RwLock<Option<HashMap<TenantId, Shelf>>>,
}

impl FlatIndex {
    /// The index in `dir`. Nothing is opened yet.
    pub fn new(dir: &Path) -> Self {
        let inner = Inner {
            dir: dir.to_owned(),
            file: Mutex::new(None),
            reading: Mutex::new(None),
            shelves: RwLock::new(None),
        };
        Self { inner: Arc::new(inner) }
    }

    async fn blocking<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Inner) -> Result<T> + Send + 'static,
    ) -> Result<T> {
        let inner = Arc::clone(&self.inner);
        tokio::task::spawn_blocking(move || work(&inner))
            .await
            .map_err(|e| Error::bug("an operation of the vector index was cut short").with_source(e))?
    }
}

impl Inner {
    fn with_file<T>(&self, work: impl FnOnce(&mut File) -> Result<T>) -> Result<T> {
        let mut slot = self.file.lock().unwrap_or_else(PoisonError::into_inner);
        let file = match &mut *slot {
            Some(file) => file,
            empty => empty.insert(File::open(&self.dir)?),
        };
        work(file)
    }

    /// Reads what is written. Only once the memory is filled: by then the file is there, and is ours.
    fn read<T>(&self, work: impl FnOnce(&File) -> Result<T>) -> Result<T> {
        let mut slot = self.reading.lock().unwrap_or_else(PoisonError::into_inner);
        let file = match &mut *slot {
            Some(file) => file,
            empty => empty.insert(File::open(&self.dir)?),
        };
        work(file)
    }

    fn apply(&self, model: &str, changes: Vec<VectorChange>, from: i64, upto: i64) -> Result<bool> {
        self.with_file(|file| {
            let Some(applied) = file.apply(model, changes, from, upto)? else { return Ok(false) };
            // Under the lock of the file, so that batches reach memory in the order of the file.
            let mut shelves = self.shelves.write().unwrap_or_else(PoisonError::into_inner);
            if let Some(shelves) = &mut *shelves {
                take(shelves, applied);
            }
            Ok(true)
        })
    }

    /// Fills the memory, unless it is.
    fn load(&self) -> Result<()> {
        if self.shelves.read().unwrap_or_else(PoisonError::into_inner).is_some() {
            return Ok(());
        }
        self.with_file(|file| {
            let mut slot = self.shelves.write().unwrap_or_else(PoisonError::into_inner);
            if slot.is_none() {
                let mut shelves: HashMap<TenantId, Shelf> = HashMap::new();
                file.each(|tenant, document, row, vector| {
                    shelves.entry(tenant).or_default().put(document, row, vector);
                })?;
                *slot = Some(shelves);
            }
            Ok(())
        })
    }

    fn nearest(&self, query: &VectorQuery) -> Result<Vec<VectorHit>> {
        let wanted = vector::checked(&query.vector)?;
        let filter = Filter::of(&query.filters)?;
        let limit = query.limit.min(MAX_HITS);
        if limit == 0 {
            return Ok(Vec::new());
        }
        self.load()?;
        let fitting = if filter.is_empty() {
            None
        } else {
            Some(self.read(|file| file.fitting(query.tenant_id, &filter))?)
        };
        let near = {
            let shelves = self.shelves.read().unwrap_or_else(PoisonError::into_inner);
            let shelf = shelves.as_ref().and_then(|shelves| shelves.get(&query.tenant_id));
            let Some(shelf) = shelf else { return Ok(Vec::new()) };
            let more = (limit * EXACTLY).max(EXACTLY_AT_LEAST);
            let fits = |document| fitting.as_ref().is_none_or(|fitting| fitting.contains(&document));
            shelf.nearest(wanted, more, fits)
        };
        let mut hits = self.read(|file| {
            let mut hits = Vec::with_capacity(near.len());
            for near in near {
                // One that was replaced since is left out: the next question finds what replaced it.
                let Some(kept) = file.passage(query.tenant_id, near.document_id, near.row)? else { continue };
                hits.push(VectorHit {
                    document_id: near.document_id,
                    score: vector::exact_product(wanted, &kept.vector),
                    page: kept.page,
                    start: kept.start,
                    end: kept.end,
                });
            }
            Ok(hits)
        })?;
        hits.sort_by(|a, b| b.score.total_cmp(&a.score).then(a.document_id.cmp(&b.document_id)));
        hits.truncate(limit);
        Ok(hits)
    }
}

/// Brings the memory to where the file is.
fn take(shelves: &mut HashMap<TenantId, Shelf>, applied: Applied) {
    if applied.emptied {
        shelves.clear();
    }
    for (tenant, document) in applied.removed {
        if let Some(shelf) = shelves.get_mut(&tenant) {
            shelf.remove(document);
        }
    }
    for (tenant, document, row, vector) in applied.put {
        shelves.entry(tenant).or_default().put(document, row, &vector);
    }
}

#[async_trait]
impl VectorIndex for FlatIndex {
    async fn watermark(&self, model: &str) -> Result<i64> {
        let model = model.to_owned();
        self.blocking(move |inner| {
            let (known, watermark) = inner.with_file(|file| file.state())?;
            Ok(if known == model { watermark } else { 0 })
        })
        .await
    }

    async fn sources(
        &self,
        model: &str,
        tenant: TenantId,
        documents: &[DocumentId],
    ) -> Result<Vec<Option<String>>> {
        let (model, documents) = (model.to_owned(), documents.to_vec());
        self.blocking(move |inner| {
            inner.with_file(|file| {
                let (known, _) = file.state()?;
                if known == model {
                    file.sources(tenant, &documents)
                } else {
                    Ok(vec![None; documents.len()])
                }
            })
        })
        .await
    }

    async fn apply(&self, model: &str, changes: Vec<VectorChange>, from: i64, upto: i64) -> Result<bool> {
        let model = model.to_owned();
        self.blocking(move |inner| inner.apply(&model, changes, from, upto)).await
    }

    async fn nearest(&self, query: VectorQuery) -> Result<Vec<VectorHit>> {
        self.blocking(move |inner| inner.nearest(&query)).await
    }

    async fn vectors(&self, tenant: TenantId, document: DocumentId) -> Result<Vec<Vec<f32>>> {
        self.blocking(move |inner| inner.with_file(|file| file.vectors(tenant, document))).await
    }

    async fn count(&self, tenant: TenantId) -> Result<u64> {
        self.blocking(move |inner| {
            let shelves = inner.shelves.read().unwrap_or_else(PoisonError::into_inner);
            if let Some(shelves) = &*shelves {
                return Ok(shelves.get(&tenant).map_or(0, Shelf::len) as u64);
            }
            drop(shelves);
            Ok(inner.with_file(|file| file.counts())?.get(&tenant).copied().unwrap_or(0))
        })
        .await
    }

    async fn rewind(&self) -> Result<()> {
        self.blocking(|inner| inner.with_file(|file| file.rewind())).await
    }
}

//! Full text in a directory, by Tantivy.
//!
//! One writer with one indexing thread and one merging thread applies changes; each `apply` is one commit,
//! and the watermark travels inside it (the commit's payload), so both survive a crash together or not at
//! all. Readers see the last commit. Tantivy's threads and this module's `spawn_blocking` do all the work;
//! no caller's thread blocks.
//!
//! Next: `layout` (fields, versions, what happens to a damaged index), `query` (from what was meant to Tantivy's
//! queries), `near` (words that are spelled nearly so), `statistics` (scores that know one tenant only), `facets`.

mod facets;
mod layout;
mod near;
mod query;
mod statistics;

use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use async_trait::async_trait;
use docmill_core::id::{DocumentId, TenantId};
use docmill_core::ports::TextIndex;
use docmill_core::ports::filter::{Facets, Particulars};
use docmill_core::ports::text_index::{IndexChange, IndexedDocument, TextHit, TextHits, TextQuery};
use docmill_core::{Error, Result, crash};
use tantivy::collector::{Count, TopDocs};
use tantivy::directory::error::{LockError, OpenReadError, OpenWriteError};
use tantivy::indexer::{IndexWriterOptions, LogMergePolicy};
use tantivy::query::{TermQuery, TermSetQuery};
use tantivy::schema::{IndexRecordOption, Value as _};
use tantivy::tokenizer::TextAnalyzer;
use tantivy::{
    DocAddress, Index, IndexReader, IndexWriter, ReloadPolicy, Score, TantivyDocument, TantivyError, Term,
};

use self::facets::CountFacets;
use self::layout::Fields;
use self::statistics::TenantStatistics;
use super::meaning::{self, MAX_HITS};
use super::{stems, words};

/// What the indexing thread may hold before it writes a segment: the least Tantivy accepts.
const WRITER_BYTES: usize = 15_000_000;

/// Segments up to this many documents count as equally small. Tantivy's 10,000 would rewrite up to so many
/// documents at every eighth commit, however small the commits are.
const SMALL_SEGMENT_DOCS: u32 = 64;

/// A segment of whose documents more than this part was replaced is rewritten.
const MAX_DELETED_PART: f32 = 0.3;

/// Opens the index of a `tantivy:` URL: `tantivy:index`, `tantivy:/var/lib/docmill/index`.
pub(super) fn from_url(rest: &str, data_dir: &Path) -> Result<Arc<dyn TextIndex>> {
    let path = rest.strip_prefix("//").unwrap_or(rest);
    if path.is_empty() {
        return Err(Error::invalid_config("the text index `tantivy:` names no directory")
            .with_hint("write for instance `tantivy:index`"));
    }
    Ok(Arc::new(TantivyIndex::open(&data_dir.join(path))?))
}

/// The index.
pub struct TantivyIndex {
    inner: Arc<Inner>,
}

struct Inner {
    dir: PathBuf,
    index: Index,
    fields: Fields,
    reader: IndexReader,
    /// Made by the first change, thrown away when one fails: Tantivy's writer does not recover from errors.
    writer: Mutex<Option<IndexWriter>>,
    /// What the reader's state holds: never ahead of what a query sees.
    watermark: AtomicI64,
    analyzer: TextAnalyzer,
}

impl TantivyIndex {
    /// Opens the index in `dir`, or begins an empty one there. A damaged or outdated index is emptied, with
    /// a warning in the log; its watermark is then zero. Blocks.
    pub fn open(dir: &Path) -> Result<Self> {
        let (index, fields) = layout::open(dir)?;
        let watermark = AtomicI64::new(watermark(&index)?);
        let reader = index
            .reader_builder()
            .reload_policy(ReloadPolicy::Manual)
            .try_into()
            .map_err(|e| failure("open", dir, e))?;
        let inner = Inner {
            dir: dir.to_owned(),
            index,
            fields,
            reader,
            writer: Mutex::new(None),
            watermark,
            analyzer: words::analyzer(),
        };
        Ok(Self { inner: Arc::new(inner) })
    }

    /// How many segments the index has: a figure for health pages and tests.
    pub fn segments(&self) -> usize {
        self.inner.reader.searcher().segment_readers().len()
    }

    async fn blocking<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Inner) -> Result<T> + Send + 'static,
    ) -> Result<T> {
        let inner = Arc::clone(&self.inner);
        tokio::task::spawn_blocking(move || work(&inner)).await.map_err(|e| {
            Error::bug("an operation of the search index was cut short")
                .with_source(e)
                .with_hint("if this repeats, stop docmill and remove the index directory: it is built again")
        })?
    }
}

#[async_trait]
impl TextIndex for TantivyIndex {
    async fn watermark(&self) -> Result<i64> {
        Ok(self.inner.watermark.load(Ordering::Acquire))
    }

    async fn apply(&self, changes: Vec<IndexChange>, from: i64, upto: i64) -> Result<bool> {
        self.blocking(move |inner| {
            inner.commit(Some(from), upto, |writer, fields| change_all(writer, fields, changes))
        })
        .await
    }

    async fn query(&self, query: TextQuery) -> Result<TextHits> {
        self.blocking(move |inner| inner.query(&query)).await
    }

    async fn facets(&self, tenant: TenantId, documents: &[DocumentId]) -> Result<Facets> {
        let documents = documents.to_vec();
        self.blocking(move |inner| {
            let keys = documents.iter().map(|document| key(&inner.fields, tenant, *document));
            let counted = inner.reader.searcher().search(&TermSetQuery::new(keys), &CountFacets);
            Ok(counted.map_err(|e| failure("read", &inner.dir, e))?.facets)
        })
        .await
    }

    async fn count(&self, tenant: TenantId) -> Result<u64> {
        self.blocking(move |inner| {
            let of_tenant =
                TermQuery::new(query::tenant_term(&inner.fields, tenant), IndexRecordOption::Basic);
            let count = inner.reader.searcher().search(&of_tenant, &Count);
            Ok(count.map_err(|e| failure("read", &inner.dir, e))? as u64)
        })
        .await
    }

    async fn rewind(&self) -> Result<()> {
        self.blocking(|inner| inner.commit(None, 0, |_, _| Ok(())).map(|_| ())).await
    }

    async fn clear(&self) -> Result<()> {
        self.blocking(|inner| {
            inner.commit(None, 0, |writer, _| writer.delete_all_documents().map(|_| ())).map(|_| ())
        })
        .await
    }

    fn fold(&self, word: &str) -> String {
        words::fold(&mut self.inner.analyzer.clone(), word)
    }

    fn alike(&self, word: &str, other: &str) -> bool {
        stems::are_alike(word, other)
    }
}

impl Inner {
    /// Makes `change` and the watermark durable in one step, and then visible; not if the watermark is not at `from`.
    fn commit(
        &self,
        from: Option<i64>,
        watermark: i64,
        change: impl FnOnce(&IndexWriter, &Fields) -> tantivy::Result<()>,
    ) -> Result<bool> {
        // The writer is out of its slot while it works, so neither an error nor a panic leaves a broken one.
        let mut slot = self.writer.lock().unwrap_or_else(PoisonError::into_inner);
        if from.is_some_and(|from| from != self.watermark.load(Ordering::Acquire)) {
            return Ok(false);
        }
        let mut writer = match slot.take() {
            Some(writer) => writer,
            None => self.new_writer()?,
        };
        let committed = change(&writer, &self.fields).and_then(|()| {
            let mut commit = writer.prepare_commit()?;
            commit.set_payload(&watermark.to_string());
            crash::point("index.before_commit");
            let stamp = commit.commit()?;
            crash::point("index.after_commit");
            Ok(stamp)
        });
        committed.map_err(|e| failure("write to", &self.dir, e))?;
        *slot = Some(writer);
        self.reader.reload().map_err(|e| failure("read", &self.dir, e))?;
        self.watermark.store(watermark, Ordering::Release);
        Ok(true)
    }

    fn new_writer(&self) -> Result<IndexWriter> {
        let options = IndexWriterOptions::builder()
            .num_worker_threads(1)
            .num_merge_threads(1)
            .memory_budget_per_thread(WRITER_BYTES)
            .build();
        let writer: IndexWriter =
            self.index.writer_with_options(options).map_err(|e| failure("write to", &self.dir, e))?;
        let mut policy = LogMergePolicy::default();
        policy.set_min_layer_size(SMALL_SEGMENT_DOCS);
        policy.set_del_docs_ratio_before_merge(MAX_DELETED_PART);
        writer.set_merge_policy(Box::new(policy));
        Ok(writer)
    }

    fn query(&self, query: &TextQuery) -> Result<TextHits> {
        let mut meaning = meaning::of(&mut self.analyzer.clone(), query)?;
        let searcher = self.reader.searcher();
        let broken = |e| failure("read", &self.dir, e);
        let tenant = query::tenant_term(&self.fields, query.tenant_id);
        let statistics = TenantStatistics::new(&searcher, tenant).map_err(broken)?;
        near::resolve(&self.fields, &searcher, &statistics, &mut meaning, query.forgiving).map_err(broken)?;
        let limit =
            query.limit.min(MAX_HITS).min(usize::try_from(statistics.documents()).unwrap_or(MAX_HITS));
        let (mut hits, mut counted) = (Vec::new(), facets::Counted::default());
        if limit > 0 {
            let best = TopDocs::with_limit(limit).order_by_score();
            let wanted = query::of(&self.fields, &searcher, query.tenant_id, &meaning).map_err(broken)?;
            // Apart from the hits: the best are found without looking at all, and nothing is scored to be counted.
            if query.counted {
                counted = searcher.search(&wanted, &CountFacets).map_err(broken)?;
            }
            let found = searcher.search_with_statistics_provider(&wanted, &best, &statistics);
            hits = self.hits(&searcher, found.map_err(broken)?, query.tenant_id)?;
        }
        let facets::Counted { total, facets } = counted;
        Ok(TextHits { hits, total, facets, words: meaning.words, instead: meaning.instead })
    }

    /// Which documents were found. They are looked up in the order in which they are stored: each block of the file is
    /// unpacked once then, and not once for every hit in it. Of a thousand hits that is most of the work of a query.
    fn hits(
        &self,
        searcher: &tantivy::Searcher,
        found: Vec<(Score, DocAddress)>,
        tenant: TenantId,
    ) -> Result<Vec<TextHit>> {
        let mut ranked: Vec<(usize, (Score, DocAddress))> = found.into_iter().enumerate().collect();
        ranked.sort_unstable_by_key(|(_, (_, address))| *address);
        let mut hits = Vec::with_capacity(ranked.len());
        for (rank, (score, address)) in ranked {
            let document_id = self.document_id(searcher, address, tenant)?;
            hits.push((rank, TextHit { document_id, score }));
        }
        hits.sort_unstable_by_key(|(rank, _)| *rank);
        Ok(hits.into_iter().map(|(_, hit)| hit).collect())
    }

    /// Reads which document a hit is, and refuses to hand out another tenant's whatever the query was.
    fn document_id(
        &self,
        searcher: &tantivy::Searcher,
        address: DocAddress,
        tenant: TenantId,
    ) -> Result<DocumentId> {
        let stored: TantivyDocument = searcher.doc(address).map_err(|e| failure("read", &self.dir, e))?;
        let key = stored.get_first(self.fields.key).and_then(|value| value.as_bytes());
        match key.and_then(|key| key.split_at_checked(16)) {
            Some((owner, id)) if owner == tenant.as_bytes() => DocumentId::from_slice(id),
            Some(_) => Err(Error::bug("a query of one tenant met a document of another")),
            None => Err(Error::bug("a document of the search index has no key")),
        }
    }
}

fn change_all(writer: &IndexWriter, fields: &Fields, changes: Vec<IndexChange>) -> tantivy::Result<()> {
    for change in changes {
        match change {
            IndexChange::Put(document) => {
                writer.delete_term(key(fields, document.tenant_id, document.document_id));
                writer.add_document(indexed(fields, &document))?;
            }
            IndexChange::Remove(tenant, document) => {
                writer.delete_term(key(fields, tenant, document));
            }
        }
    }
    Ok(())
}

fn key_bytes(tenant: TenantId, document: DocumentId) -> Vec<u8> {
    [*tenant.as_bytes(), *document.as_bytes()].concat()
}

fn key(fields: &Fields, tenant: TenantId, document: DocumentId) -> Term {
    Term::from_field_bytes(fields.key, &key_bytes(tenant, document))
}

fn indexed(fields: &Fields, document: &IndexedDocument) -> TantivyDocument {
    let mut out = TantivyDocument::new();
    out.add_bytes(fields.key, &key_bytes(document.tenant_id, document.document_id));
    out.add_bytes(fields.tenant, document.tenant_id.as_bytes());
    out.add_text(fields.name, &document.name);
    out.add_text(fields.exact_name, &document.name);
    if let Some(title) = &document.title {
        out.add_text(fields.title, title);
    }
    if let Some(media_type) = &document.media_type {
        out.add_text(fields.kind, media_type);
        out.add_text(fields.media_type, media_type);
    }
    if let Some(language) = stems::of_document(document.particulars.language.as_deref()) {
        let field = fields.stems[language];
        if let Some(title) = &document.title {
            out.add_text(field, title);
        }
        out.add_text(field, &document.text);
    }
    add_particulars(fields, &document.particulars, &mut out);
    out.add_text(fields.text, &document.text);
    out
}

fn add_particulars(fields: &Fields, known: &Particulars, out: &mut TantivyDocument) {
    if let Some(kind) = &known.kind {
        out.add_text(fields.kind, kind);
        out.add_text(fields.document_type, kind);
    }
    if let Some(language) = &known.language {
        out.add_text(fields.language, language);
    }
    if let Some(date) = known.date {
        out.add_u64(fields.date, u64::from(date.0));
    }
    for tag in &known.tags {
        out.add_text(fields.tag, tag);
        out.add_text(fields.tag_words, tag);
    }
}

/// The watermark of the last commit. An index without one has just begun.
fn watermark(index: &Index) -> Result<i64> {
    let meta =
        index.load_metas().map_err(|e| Error::unavailable("cannot read the search index").with_source(e))?;
    match meta.payload {
        None => Ok(0),
        Some(payload) => payload.parse().map_err(|e| {
            Error::unavailable(format!("the watermark of the search index is `{payload}`, not a number"))
                .with_source(e)
        }),
    }
}

/// What an error of Tantivy means.
fn failure(doing: &str, dir: &Path, error: TantivyError) -> Error {
    let shown = dir.display();
    let io_kind = match &error {
        TantivyError::IoError(e) => Some(e.kind()),
        TantivyError::OpenReadError(OpenReadError::IoError { io_error, .. })
        | TantivyError::OpenWriteError(OpenWriteError::IoError { io_error, .. }) => Some(io_error.kind()),
        _ => None,
    };
    let failure = match (&error, io_kind) {
        (TantivyError::LockFailure(LockError::LockBusy, _), _) => {
            Error::unavailable(format!("another process writes to the search index in `{shown}`"))
                .with_hint("one docmill owns a data directory at a time; stop the other one")
        }
        (_, Some(io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded)) => {
            Error::disk_full(format!("cannot {doing} the search index in `{shown}`: no room is left"))
                .with_hint("free some space; indexing goes on by itself")
        }
        (_, Some(io::ErrorKind::PermissionDenied)) => {
            Error::unavailable(format!("cannot {doing} the search index in `{shown}`: permission denied"))
                .with_hint("give docmill's user the right to read and write there")
        }
        _ => Error::unavailable(format!("cannot {doing} the search index in `{shown}`")),
    };
    failure.with_source(error)
}

#[cfg(test)]
mod tests;

//! A vector index in memory that compares everything.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard};

use async_trait::async_trait;
use docmill_core::Result;
use docmill_core::id::{DocumentId, TenantId};
use docmill_core::ports::VectorIndex;
use docmill_core::ports::vector_index::{EmbeddedDocument, VectorChange, VectorHit, VectorQuery};

#[derive(Default)]
pub(crate) struct FakeVectors {
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    watermark: i64,
    documents: BTreeMap<DocumentId, EmbeddedDocument>,
}

impl FakeVectors {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap()
    }

    /// How many passages each document has, by its name.
    pub(crate) fn passages(&self) -> BTreeMap<String, usize> {
        let state = self.state();
        let passages = |document: &EmbeddedDocument| document.passages.as_ref().map_or(0, Vec::len);
        state.documents.values().map(|document| (document.name.clone(), passages(document))).collect()
    }
}

#[async_trait]
impl VectorIndex for FakeVectors {
    async fn watermark(&self, _model: &str) -> Result<i64> {
        Ok(self.state().watermark)
    }

    async fn sources(
        &self,
        _model: &str,
        _tenant: TenantId,
        documents: &[DocumentId],
    ) -> Result<Vec<Option<String>>> {
        let state = self.state();
        Ok(documents.iter().map(|id| state.documents.get(id).map(|known| known.source.clone())).collect())
    }

    async fn apply(&self, _model: &str, changes: Vec<VectorChange>, from: i64, upto: i64) -> Result<bool> {
        let mut state = self.state();
        if state.watermark != from {
            return Ok(false);
        }
        for change in changes {
            match change {
                VectorChange::Remove(_, id) => {
                    state.documents.remove(&id);
                }
                VectorChange::Put(mut new) => {
                    let before = state.documents.remove(&new.document_id).and_then(|known| known.passages);
                    new.passages = new.passages.or(before);
                    state.documents.insert(new.document_id, new);
                }
            }
        }
        state.watermark = upto;
        Ok(true)
    }

    async fn nearest(&self, query: VectorQuery) -> Result<Vec<VectorHit>> {
        let mut hits: Vec<VectorHit> = Vec::new();
        for document in self.state().documents.values() {
            for passage in document.passages.iter().flatten() {
                let score = passage.vector.iter().zip(&query.vector).map(|(a, b)| a * b).sum();
                let (document_id, page) = (document.document_id, passage.page);
                hits.push(VectorHit { document_id, score, page, start: passage.start, end: passage.end });
            }
        }
        hits.sort_by(|a, b| b.score.total_cmp(&a.score));
        hits.truncate(query.limit);
        Ok(hits)
    }

    async fn vectors(&self, _tenant: TenantId, document: DocumentId) -> Result<Vec<Vec<f32>>> {
        let state = self.state();
        let passages = state.documents.get(&document).and_then(|known| known.passages.as_ref());
        Ok(passages.into_iter().flatten().map(|passage| passage.vector.clone()).collect())
    }

    async fn count(&self, _tenant: TenantId) -> Result<u64> {
        Ok(self.passages().values().sum::<usize>() as u64)
    }

    async fn rewind(&self) -> Result<()> {
        let mut state = self.state();
        state.watermark = 0;
        state.documents.values_mut().for_each(|document| document.source.clear());
        Ok(())
    }
}

//! An index that only remembers how far it is, and which changes brought it there. Several processes may share one.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use async_trait::async_trait;
use docmill_core::Result;
use docmill_core::id::{DocumentId, TenantId};
use docmill_core::ports::TextIndex;
use docmill_core::ports::filter::Facets;
use docmill_core::ports::text_index::{IndexChange, TextHits, TextQuery};
use tokio::time::Instant;

/// How long a turn lasts.
pub(crate) const TURN: Duration = Duration::from_secs(5);

/// The index as one process has it.
#[derive(Default)]
pub(crate) struct FakeIndex {
    process: u32,
    shared: Arc<Mutex<Shared>>,
}

#[derive(Default)]
pub(crate) struct Shared {
    pub(crate) upto: i64,
    /// Documents, in the order in which they were put.
    pub(crate) put: Vec<DocumentId>,
    /// Who has the turn, and until when.
    pub(crate) turn: Option<(u32, Instant)>,
    /// So many batches are applied by somebody else at the last moment.
    pub(crate) outrun: u32,
    /// Batches that came too late.
    pub(crate) late: u32,
}

impl FakeIndex {
    /// The same index, for another process.
    pub(crate) fn of_process(process: u32, shared: &Arc<Mutex<Shared>>) -> Self {
        Self { process, shared: Arc::clone(shared) }
    }
}

#[async_trait]
impl TextIndex for FakeIndex {
    async fn watermark(&self) -> Result<i64> {
        Ok(self.shared.lock().unwrap().upto)
    }

    async fn turn(&self) -> Result<Option<i64>> {
        let mut shared = self.shared.lock().unwrap();
        match shared.turn {
            Some((holder, until)) if holder != self.process && until > Instant::now() => Ok(None),
            _ => {
                shared.turn = Some((self.process, Instant::now() + TURN));
                Ok(Some(shared.upto))
            }
        }
    }

    async fn apply(&self, changes: Vec<IndexChange>, from: i64, upto: i64) -> Result<bool> {
        // Long enough for others to come in between.
        tokio::time::sleep(Duration::from_millis(50)).await;
        let mut shared = self.shared.lock().unwrap();
        if shared.outrun > 0 {
            shared.outrun -= 1;
            shared.upto = from + 1;
        }
        if shared.upto != from {
            shared.late += 1;
            return Ok(false);
        }
        shared.put.extend(changes.iter().filter_map(|change| match change {
            IndexChange::Put(document) => Some(document.document_id),
            IndexChange::Remove(..) => None,
        }));
        (shared.upto, shared.turn) = (upto, None);
        Ok(true)
    }

    async fn query(&self, _query: TextQuery) -> Result<TextHits> {
        Ok(TextHits::default())
    }

    async fn facets(&self, _tenant: TenantId, _documents: &[DocumentId]) -> Result<Facets> {
        Ok(Facets::default())
    }

    async fn count(&self, _tenant: TenantId) -> Result<u64> {
        Ok(0)
    }

    async fn rewind(&self) -> Result<()> {
        let mut shared = self.shared.lock().unwrap();
        (shared.upto, shared.turn) = (0, None);
        Ok(())
    }

    async fn clear(&self) -> Result<()> {
        *self.shared.lock().unwrap() = Shared::default();
        Ok(())
    }

    fn fold(&self, word: &str) -> String {
        word.to_lowercase()
    }

    fn alike(&self, word: &str, other: &str) -> bool {
        word == other
    }
}

//! An index that only remembers how far it is.

use std::sync::atomic::{AtomicI64, Ordering};

use async_trait::async_trait;
use docmill_core::Result;
use docmill_core::id::TenantId;
use docmill_core::ports::TextIndex;
use docmill_core::ports::text_index::{IndexChange, TextHits, TextQuery};

#[derive(Default)]
pub(crate) struct FakeIndex {
    upto: AtomicI64,
}

#[async_trait]
impl TextIndex for FakeIndex {
    async fn watermark(&self) -> Result<i64> {
        Ok(self.upto.load(Ordering::SeqCst))
    }

    async fn apply(&self, _changes: Vec<IndexChange>, upto: i64) -> Result<()> {
        self.upto.store(upto, Ordering::SeqCst);
        Ok(())
    }

    async fn query(&self, _query: TextQuery) -> Result<TextHits> {
        Ok(TextHits::default())
    }

    async fn count(&self, _tenant: TenantId) -> Result<u64> {
        Ok(0)
    }

    async fn clear(&self) -> Result<()> {
        self.upto.store(0, Ordering::SeqCst);
        Ok(())
    }

    fn fold(&self, word: &str) -> String {
        word.to_lowercase()
    }
}

//! Where stretches of work are told to, for a tracing system: an ingestion, its tasks, and what they read.
//!
//! Ids are derived from what the work is about. Tasks of one ingestion that run in different processes, or days
//! apart, therefore belong to one trace without anything being handed from one to the other; and whoever knows an
//! ingestion's id knows its trace.

use std::time::Duration;

use async_trait::async_trait;
use sha2::{Digest, Sha256};

use crate::clock::Timestamp;
use crate::error::ErrorKind;
use crate::id::{Epoch, IngestionId, TaskId};

/// The id of a span; unique within its trace.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct SpanId(pub u64);

impl SpanId {
    /// Of a whole ingestion.
    pub fn of_ingestion(ingestion: IngestionId) -> Self {
        Self::of(b"ingestion", &[ingestion.as_bytes()])
    }

    /// Of one attempt at a task.
    pub fn of_task(task: TaskId, epoch: Epoch) -> Self {
        Self::of(b"task", &[&task.0.to_be_bytes(), &epoch.0.to_be_bytes()])
    }

    /// Of something that an attempt read, begun at this time of the monotonic clock.
    pub fn of_read(task: TaskId, epoch: Epoch, begun: Duration) -> Self {
        Self::of(b"read", &[&task.0.to_be_bytes(), &epoch.0.to_be_bytes(), &begun.as_nanos().to_be_bytes()])
    }

    fn of(what: &[u8], parts: &[&[u8]]) -> Self {
        let mut hasher = Sha256::new();
        hasher.update(b"docmill span v1 ");
        hasher.update(what);
        for part in parts {
            hasher.update(part);
        }
        let mut id = [0; 8];
        id.copy_from_slice(&hasher.finalize()[..8]);
        // Zero means no span.
        Self(u64::from_be_bytes(id).max(1))
    }
}

/// A stretch of work that has ended.
#[derive(Clone, PartialEq, Debug)]
pub struct Span {
    /// The ingestion it belongs to: the trace.
    pub trace: IngestionId,
    /// Which span.
    pub id: SpanId,
    /// The span around it; an ingestion has none.
    pub parent: Option<SpanId>,
    /// What it was: `ingestion`, the kind of a task, `read`.
    pub name: String,
    /// When it began.
    pub began_at: Timestamp,
    /// How long it took.
    pub duration: Duration,
    /// What went wrong, if something did.
    pub error: Option<ErrorKind>,
    /// More about it. Never what a document says, never a file name.
    pub attributes: Vec<(&'static str, String)>,
}

/// Takes spans. Nothing waits for it and nothing fails with it: a span that cannot be delivered is dropped.
#[async_trait]
pub trait Spans: Send + Sync {
    /// A stretch of work has ended. Must not block.
    fn ended(&self, span: Span);

    /// Delivers what waits, as far as that is possible within a few seconds. Nothing is taken after that.
    async fn close(&self);
}

#[cfg(test)]
mod tests {
    use uuid::Uuid;

    use super::*;

    #[test]
    fn ids_follow_from_what_the_work_is_about() {
        let (ingestion, task) = (IngestionId(Uuid::from_u128(1)), TaskId(1));
        assert_eq!(SpanId::of_ingestion(ingestion), SpanId::of_ingestion(ingestion));
        let ids = [
            SpanId::of_ingestion(ingestion),
            SpanId::of_task(task, Epoch(1)),
            SpanId::of_task(task, Epoch(2)),
            SpanId::of_read(task, Epoch(1), Duration::ZERO),
            SpanId::of_read(task, Epoch(1), Duration::from_nanos(1)),
        ];
        for (n, id) in ids.iter().enumerate() {
            assert!(!ids[n + 1..].contains(id), "{ids:?}");
        }
    }
}

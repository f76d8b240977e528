//! Counts the calls of any blob store, how long they take and how many bytes they move. The store behind it does not
//! notice.

use std::ops::Range;
use std::sync::Arc;

use async_trait::async_trait;
use bytes::Bytes;
use docmill_core::clock::{Clock, Timestamp};
use docmill_core::id::BlobKey;
use docmill_core::metrics::{BlobMeter, BlobOperation};
use docmill_core::ports::Blobs;
use docmill_core::ports::blobs::{BlobInfo, Content, Put, Upload};
use docmill_core::{ErrorKind, Result};
use tokio::sync::mpsc;

/// A blob store whose calls are counted.
pub struct Metered {
    inner: Arc<dyn Blobs>,
    meter: BlobMeter,
    clock: Arc<dyn Clock>,
}

impl Metered {
    /// Around any store.
    pub fn new(inner: Arc<dyn Blobs>, meter: BlobMeter, clock: Arc<dyn Clock>) -> Self {
        Self { inner, meter, clock }
    }

    async fn count<T>(
        &self,
        operation: BlobOperation,
        call: impl Future<Output = Result<T>> + Send,
    ) -> Result<T> {
        let begun = self.clock.monotonic();
        let answer = call.await;
        let took = self.clock.monotonic().saturating_sub(begun);
        // A blob that is not there is an answer, and no fault of the store.
        let ok = answer.as_ref().map_or_else(|error| error.kind() == ErrorKind::NotFound, |_| true);
        self.meter.called(operation, took, ok);
        answer
    }

    async fn put_stream(&self, key: &BlobKey, mut pieces: mpsc::Receiver<Result<Bytes>>) -> Result<Put> {
        let (forward, counted) = mpsc::channel(1);
        let put = self.inner.put_if_absent(key, Upload::Stream(counted));
        tokio::pin!(put);
        let pass_on = async {
            while let Some(piece) = pieces.recv().await {
                let bytes = piece.as_ref().map_or(0, Bytes::len) as u64;
                if forward.send(piece).await.is_err() {
                    // The store wants no more; it says why.
                    return;
                }
                self.meter.written.inc_by(bytes);
            }
            drop(forward);
        };
        tokio::select! {
            // A store may answer before it has read everything.
            answer = &mut put => return answer,
            () = pass_on => {}
        }
        put.await
    }
}

#[async_trait]
impl Blobs for Metered {
    async fn put_if_absent(&self, key: &BlobKey, upload: Upload) -> Result<Put> {
        let put = async {
            match upload {
                Upload::Bytes(bytes) => {
                    self.meter.written.inc_by(bytes.len() as u64);
                    self.inner.put_if_absent(key, Upload::Bytes(bytes)).await
                }
                Upload::Stream(pieces) => self.put_stream(key, pieces).await,
            }
        };
        self.count(BlobOperation::Put, put).await
    }

    async fn rename_if_absent(&self, from: &BlobKey, to: &BlobKey) -> Result<Put> {
        self.count(BlobOperation::Rename, self.inner.rename_if_absent(from, to)).await
    }

    async fn open(&self, key: &BlobKey, inline_up_to: u64) -> Result<Content> {
        let content = self.count(BlobOperation::Open, self.inner.open(key, inline_up_to)).await?;
        self.meter.read.inc_by(content.len());
        Ok(content)
    }

    async fn get_range(&self, key: &BlobKey, range: Range<u64>) -> Result<Bytes> {
        let bytes = self.count(BlobOperation::Range, self.inner.get_range(key, range)).await?;
        self.meter.read.inc_by(bytes.len() as u64);
        Ok(bytes)
    }

    async fn info(&self, key: &BlobKey) -> Result<Option<BlobInfo>> {
        self.count(BlobOperation::Info, self.inner.info(key)).await
    }

    async fn delete(&self, key: &BlobKey) -> Result<()> {
        self.count(BlobOperation::Delete, self.inner.delete(key)).await
    }

    async fn list(&self, prefix: &str) -> Result<mpsc::Receiver<Result<Vec<BlobInfo>>>> {
        self.count(BlobOperation::List, self.inner.list(prefix)).await
    }

    async fn free_bytes(&self) -> Result<Option<u64>> {
        self.inner.free_bytes().await
    }

    async fn remove_leftovers(&self, now: Timestamp) -> Result<u64> {
        self.inner.remove_leftovers(now).await
    }
}

#[cfg(test)]
mod tests {
    use docmill_core::clock::SystemClock;
    use docmill_core::metrics::{Metrics, Sample};

    use super::super::LocalBlobs;
    use super::*;

    #[tokio::test]
    async fn calls_and_bytes_are_counted_and_absence_is_no_failure() {
        let dir = tempfile::tempdir().unwrap();
        let metrics = Metrics::new(&[], "1");
        let local = Arc::new(LocalBlobs::open(dir.path()).unwrap());
        let blobs = Metered::new(local, metrics.blobs.clone(), Arc::new(SystemClock::new()));
        let (a, b) = (BlobKey::stored("documents/a"), BlobKey::stored("documents/b"));
        blobs.put_if_absent(&a, Upload::Bytes(Bytes::from_static(b"12345"))).await.unwrap();
        let (pieces, upload) = mpsc::channel(4);
        for piece in ["123", "4567"] {
            pieces.send(Ok(Bytes::from_static(piece.as_bytes()))).await.unwrap();
        }
        drop(pieces);
        blobs.put_if_absent(&b, Upload::Stream(upload)).await.unwrap();
        assert_eq!(blobs.open(&b, 100).await.unwrap().len(), 7);
        assert!(blobs.open(&BlobKey::stored("documents/c"), 100).await.is_err());
        blobs.get_range(&a, 0..2).await.unwrap();
        assert!(blobs.get_range(&a, 99..100).await.is_err());
        let page = metrics.page(&Sample::default()).unwrap();
        for line in [
            "docmill_blob_operations_total{operation=\"put\",outcome=\"ok\"} 2",
            "docmill_blob_operations_total{operation=\"open\",outcome=\"ok\"} 2",
            "docmill_blob_operations_total{operation=\"range\",outcome=\"failed\"} 1",
            "docmill_blob_written_bytes_total 12",
            "docmill_blob_read_bytes_total 9",
            "docmill_blob_operation_duration_seconds_count{operation=\"put\"} 2",
        ] {
            assert!(page.lines().any(|l| l == line), "{line} is missing in\n{page}");
        }
    }
}

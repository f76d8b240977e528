//! How items travel to the owner: many small ones in one request, a large one alone as a stream.
//!
//! An item is four bytes of length and so many of JSON (`OfferHead`), then eight bytes of length and so many of
//! content, all lengths little endian. Both sides are docmill, but the reader counts all the same.

use std::pin::Pin;

use axum::body::BodyDataStream;
use bytes::{Buf, Bytes, BytesMut};
use docmill_core::error::ErrorNote;
use docmill_core::id::BatchId;
use docmill_core::ingestion::Origin;
use docmill_core::limits::MIB;
use docmill_core::{Error, Result};
use futures::StreamExt;
use serde::{Deserialize, Serialize};

/// For whom the items are, by name.
pub const TENANT_HEADER: &str = "docmill-tenant";

/// Content larger than this is never held in memory: it travels alone in its request.
pub const STREAM_FROM_BYTES: u64 = 8 * MIB;

/// A head holds a path and metadata; one longer than this is a mistake.
const MAX_HEAD_BYTES: usize = 1 << 20;

/// An item without its content.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct OfferHead {
    /// Of which import.
    pub batch_id: Option<BatchId>,
    /// Who brings it.
    pub origin: Origin,
    /// Where it lay, as text.
    pub path: String,
    /// Where it lay, exactly, unless the text says so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub path_bytes: Option<Vec<u8>>,
    /// Its file name.
    pub name: String,
    /// Free.
    pub source_metadata: serde_json::Value,
    /// Lower first.
    pub priority: u8,
    /// Why there is no content.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub refused: Option<ErrorNote>,
}

/// Appends the head of an item and the length of its content, which must follow.
pub fn encode(head: &OfferHead, content_bytes: u64, out: &mut Vec<u8>) -> Result<()> {
    let head =
        serde_json::to_vec(head).map_err(|e| Error::bug("cannot write an item as JSON").with_source(e))?;
    out.extend_from_slice(&(head.len() as u32).to_le_bytes());
    out.extend_from_slice(&head);
    out.extend_from_slice(&content_bytes.to_le_bytes());
    Ok(())
}

/// Reads items from a request as its bytes arrive.
pub(super) struct Frames {
    body: Pin<Box<BodyDataStream>>,
    buffer: BytesMut,
}

impl Frames {
    pub(super) fn new(body: BodyDataStream) -> Self {
        Self { body: Box::pin(body), buffer: BytesMut::new() }
    }

    /// The next head and the length of its content; `None` at a clean end.
    pub(super) async fn head(&mut self) -> Result<Option<(OfferHead, u64)>> {
        if self.buffer.is_empty() && !self.fill().await? {
            return Ok(None);
        }
        let length = self.take(4).await?.get_u32_le() as usize;
        if length > MAX_HEAD_BYTES {
            return Err(Error::invalid_request(format!(
                "head of an item has {length} bytes, more than the limit of {MAX_HEAD_BYTES}"
            )));
        }
        let head = self.take(length).await?;
        let head = serde_json::from_slice(&head)
            .map_err(|e| Error::invalid_request("head of an item is not understood").with_source(e))?;
        let content = self.take(8).await?.get_u64_le();
        Ok(Some((head, content)))
    }

    /// Exactly so many bytes, which the caller has bounded.
    pub(super) async fn take(&mut self, length: usize) -> Result<Bytes> {
        while self.buffer.len() < length {
            if !self.fill().await? {
                return Err(cut_short());
            }
        }
        Ok(self.buffer.split_to(length).freeze())
    }

    /// Some bytes, at most `most`; an error at the end.
    pub(super) async fn some(&mut self, most: u64) -> Result<Bytes> {
        if self.buffer.is_empty() && !self.fill().await? {
            return Err(cut_short());
        }
        let length = self.buffer.len().min(usize::try_from(most).unwrap_or(usize::MAX));
        Ok(self.buffer.split_to(length).freeze())
    }

    /// Reads what is left, which should be nothing but the mark of the end. A request that was not read to its end
    /// closes the connection, and its sender may fail before it hears the answer.
    pub(super) async fn skip_to_end(&mut self) {
        while matches!(self.fill().await, Ok(true)) {
            self.buffer.clear();
        }
    }

    async fn fill(&mut self) -> Result<bool> {
        match self.body.next().await {
            None => Ok(false),
            Some(Ok(bytes)) => {
                self.buffer.extend_from_slice(&bytes);
                Ok(true)
            }
            Some(Err(e)) => Err(cut_short().with_source(e)),
        }
    }
}

fn cut_short() -> Error {
    Error::unreadable("the item was cut short on its way")
}

#[cfg(test)]
mod tests {
    use axum::body::Body;
    use uuid::Uuid;

    use super::*;

    fn head(name: &str) -> OfferHead {
        OfferHead {
            batch_id: Some(BatchId(Uuid::nil())),
            origin: Origin::Uploader("me".into()),
            path: name.into(),
            path_bytes: Some(vec![0xff, b'\n']),
            name: name.into(),
            source_metadata: serde_json::Value::Null,
            priority: 50,
            refused: None,
        }
    }

    #[tokio::test]
    async fn items_are_read_again_however_the_bytes_are_cut() {
        let mut sent = Vec::new();
        for name in ["a", "b"] {
            encode(&head(name), 3, &mut sent).unwrap();
            sent.extend_from_slice(b"xyz");
        }
        let pieces: Vec<Result<Bytes>> = sent.chunks(7).map(|c| Ok(Bytes::copy_from_slice(c))).collect();
        let mut frames = Frames::new(Body::from_stream(futures::stream::iter(pieces)).into_data_stream());
        for name in ["a", "b"] {
            let (got, length) = frames.head().await.unwrap().unwrap();
            assert_eq!(got, head(name));
            assert_eq!(&frames.take(length as usize).await.unwrap()[..], b"xyz");
        }
        assert!(frames.head().await.unwrap().is_none());
    }

    #[tokio::test]
    async fn an_item_that_is_cut_short_is_an_error() {
        let mut sent = Vec::new();
        encode(&head("a"), 3, &mut sent).unwrap();
        sent.extend_from_slice(b"xy");
        let mut frames = Frames::new(Body::from(sent).into_data_stream());
        frames.head().await.unwrap().unwrap();
        assert!(frames.take(3).await.is_err());
    }

    #[tokio::test]
    async fn a_head_with_a_lying_length_is_refused() {
        let mut frames = Frames::new(Body::from(vec![0xff; 64]).into_data_stream());
        assert!(frames.head().await.unwrap_err().message().contains("limit"));
    }
}

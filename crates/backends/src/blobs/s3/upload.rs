//! Content that is larger than one request: it is sent in parts, one under way while the next is collected, so that
//! two of them are in memory at most. The parts become a blob at the end and all at once.
//!
//! An upload that fails, or whose caller leaves, is aborted at the server too. What a crash leaves there is invisible,
//! and removed a week later (`S3Blobs::remove_leftovers`).

use std::ops::Range;
use std::sync::Arc;

use bytes::Bytes;
use docmill_core::limits::MIB;
use docmill_core::ports::blobs::Put;
use docmill_core::{Error, ErrorKind, Result};
use object_store::{PutPayload, PutPayloadMut};
use tokio::runtime::Handle;
use tokio::sync::mpsc;

use super::super::patience::{Missing, Patience};
use super::requests::Requests;

/// What fits into one request. Servers want parts of 5 MiB at least.
pub(super) const PART: usize = (6 * MIB) as usize;

/// Parts grow, because there may be 10,000 of them and nobody knows beforehand how many are needed: so many up to
/// which number. Together they hold 1,037 GiB, more than the largest container that is accepted by default.
const SIZES: [(usize, usize); 3] = [(1_000, PART), (2_000, 32 * MIB as usize), (10_000, 128 * MIB as usize)];

/// A part that the server copies by itself costs no memory, only time without an answer. It is larger where there
/// would be too many.
const COPIED_PART: u64 = 64 * MIB;

/// The most parts that an upload may have.
const MOST_PARTS: u64 = 10_000;

/// Pieces below this are copied together; a part of single bytes would cost more than it holds.
const SMALL_PIECE: usize = 16 * 1024;

/// How large a part may be.
fn size_of(number: usize) -> Option<usize> {
    SIZES.iter().find(|(last, _)| number <= *last).map(|(_, size)| *size)
}

/// Collects pieces until `size` bytes are there or none comes any more. What is too much stays in `rest`.
pub(super) async fn collect(
    pieces: &mut mpsc::Receiver<Result<Bytes>>,
    rest: &mut Bytes,
    size: usize,
) -> Result<PutPayload> {
    let mut part = PutPayloadMut::new();
    loop {
        let room = size - part.content_length();
        let piece = rest.split_to(room.min(rest.len()));
        if piece.len() < SMALL_PIECE {
            part.extend_from_slice(&piece);
        } else {
            part.push(piece);
        }
        if part.content_length() == size {
            return Ok(part.freeze());
        }
        match pieces.recv().await {
            Some(piece) => *rest = piece?,
            None => return Ok(part.freeze()),
        }
    }
}

/// An upload under way.
pub(super) struct PartedUpload {
    requests: Arc<Requests>,
    patience: Patience,
    key: String,
    id: String,
    etags: Vec<String>,
    bytes: u64,
    /// Neither ended nor aborted.
    open: bool,
}

impl PartedUpload {
    /// Begins one.
    pub(super) async fn begin(requests: &Arc<Requests>, patience: &Patience, key: &str) -> Result<Self> {
        let id = patience.run("begin an upload", Missing::IsAnAnswer, |_| requests.begin(key)).await?;
        Ok(Self {
            requests: Arc::clone(requests),
            patience: patience.clone(),
            key: key.to_owned(),
            id,
            etags: Vec::new(),
            bytes: 0,
            open: true,
        })
    }

    /// Sends `first` and everything that follows it, then ends.
    pub(super) async fn stream(
        mut self,
        first: PutPayload,
        mut rest: Bytes,
        mut pieces: mpsc::Receiver<Result<Bytes>>,
    ) -> Result<Put> {
        let mut part = first;
        loop {
            if part.content_length() == 0 {
                return self.end().await;
            }
            if part.content_length() < self.next_size()? {
                self.send(part).await?;
                return self.end().await;
            }
            let next_but_one = size_of(self.etags.len() + 2).unwrap_or(PART);
            let (next, ()) =
                tokio::try_join!(collect(&mut pieces, &mut rest, next_but_one), self.send(part))?;
            part = next;
        }
    }

    /// Sends content that is at hand, then ends.
    pub(super) async fn bytes(mut self, mut bytes: Bytes) -> Result<Put> {
        while !bytes.is_empty() {
            let size = self.next_size()?.min(bytes.len());
            self.send(PutPayload::from(bytes.split_to(size))).await?;
        }
        self.end().await
    }

    /// Has the server copy another blob of `bytes` bytes, then ends.
    pub(super) async fn copy(mut self, from: &str, etag: Option<&str>, bytes: u64) -> Result<Put> {
        let size = COPIED_PART.max(bytes.div_ceil(MOST_PARTS));
        while self.bytes < bytes {
            let range = self.bytes..bytes.min(self.bytes + size);
            self.copy_part(from, etag, range).await?;
        }
        self.end().await
    }

    /// How large the next part may be; an error if there can be none.
    fn next_size(&self) -> Result<usize> {
        size_of(self.etags.len() + 1).ok_or_else(|| {
            Error::limit_exceeded(format!(
                "blob `{}` has more than the {} bytes that fit into {} parts",
                self.key,
                self.bytes,
                self.etags.len()
            ))
            .with_hint("S3 takes no larger content from a source of unknown length; split it")
        })
    }

    async fn send(&mut self, part: PutPayload) -> Result<()> {
        let number = self.etags.len() + 1;
        let (requests, key, id, bytes) = (&self.requests, &self.key, &self.id, part.content_length() as u64);
        let send = |_| requests.send(key, id, number, part.clone());
        let etag = self.patience.run("send a part", Missing::IsAnAnswer, send).await.map_err(vanished)?;
        self.etags.push(etag);
        self.bytes += bytes;
        Ok(())
    }

    async fn copy_part(&mut self, from: &str, etag: Option<&str>, range: Range<u64>) -> Result<()> {
        let number = self.etags.len() + 1;
        let (requests, key, id) = (&self.requests, &self.key, &self.id);
        let copy = |_| requests.copy((from, etag), key, id, number, range.clone());
        let etag = self.patience.run("copy a part", Missing::IsAnAnswer, copy).await?;
        self.etags.push(etag);
        self.bytes += range.end - range.start;
        Ok(())
    }

    /// Makes the parts a blob. If the answer to it is lost, the next try finds the upload gone or the key taken;
    /// then the blob itself tells by its length whether it is this one.
    async fn end(&mut self) -> Result<Put> {
        let (requests, key, bytes) = (&self.requests, &self.key, self.bytes);
        let end = |tries| {
            let (id, etags) = (&self.id, &self.etags);
            async move {
                let ended = requests.end(key, id, etags, bytes).await;
                let doubtful = match &ended {
                    Ok(put) => *put == Put::Existed,
                    Err(error) => error.kind() == ErrorKind::NotFound,
                };
                if tries == 0 || !doubtful {
                    return ended;
                }
                match requests.head(key).await? {
                    Some(meta) if meta.size == bytes => Ok(Put::Existed),
                    Some(meta) => Err(requests.wrong_length(key, meta.size, bytes)),
                    None => Err(Error::not_found(format!("there is no blob `{key}`, nor its upload"))),
                }
            }
        };
        let put = self.patience.run("end an upload", Missing::IsAnAnswer, end).await.map_err(vanished)?;
        if put == Put::Created {
            self.open = false;
        } else {
            // Somebody else was first, or an earlier try of ours: the parts are not needed, if they are still there.
            self.abort().await;
        }
        Ok(put)
    }

    async fn abort(&mut self) {
        self.open = false;
        abort(&self.requests, &self.patience, &self.key, &self.id).await;
    }
}

impl Drop for PartedUpload {
    fn drop(&mut self) {
        if !self.open {
            return;
        }
        let (requests, patience) = (Arc::clone(&self.requests), self.patience.clone());
        let (key, id) = (std::mem::take(&mut self.key), std::mem::take(&mut self.id));
        match Handle::try_current() {
            Ok(runtime) => drop(runtime.spawn(async move { abort(&requests, &patience, &key, &id).await })),
            Err(_no_runtime) => tracing::warn!(key, "unfinished upload stays until the next clean-up"),
        }
    }
}

async fn abort(requests: &Requests, patience: &Patience, key: &str, id: &str) {
    let aborted = patience.run("abort an upload", Missing::IsAnAnswer, |_| requests.abort(key, id)).await;
    if let Err(error) = aborted {
        tracing::warn!(key, error = %error.chain(), "unfinished upload stays until the next clean-up");
    }
}

/// The server has forgotten an upload: it was restarted, or somebody aborted it. All of it must be sent again.
fn vanished(error: Error) -> Error {
    if error.kind() != ErrorKind::NotFound {
        return error;
    }
    Error::unavailable("the blob store has forgotten an upload before it ended").with_source(error)
}

#[cfg(test)]
mod tests {
    use docmill_core::limits::Limits;

    use super::*;

    async fn collected(pieces: &[usize], size: usize) -> Vec<usize> {
        let (send, mut receiver) = mpsc::channel(pieces.len().max(1));
        for len in pieces {
            send.send(Ok(Bytes::from(vec![7; *len]))).await.unwrap();
        }
        drop(send);
        let (mut rest, mut parts) = (Bytes::new(), Vec::new());
        loop {
            let part = collect(&mut receiver, &mut rest, size).await.unwrap();
            parts.push(part.content_length());
            if part.content_length() < size {
                return parts;
            }
        }
    }

    #[tokio::test]
    async fn parts_are_full_however_the_pieces_fall() {
        for pieces in [&[100_000][..], &[30_000, 30_000, 40_000], &[1; 5], &[40_000, 0, 60_000], &[50_000; 2]]
        {
            let total: usize = pieces.iter().sum();
            let parts = collected(pieces, 50_000).await;
            assert_eq!(parts.iter().sum::<usize>(), total, "{pieces:?}");
            assert!(parts.iter().rev().skip(1).all(|len| *len == 50_000), "{parts:?}");
        }
        assert_eq!(collected(&[], 10).await, [0]);
    }

    #[test]
    fn parts_hold_the_largest_container() {
        let mut held = 0;
        for number in 1..=10_000 {
            held += size_of(number).unwrap() as u64;
        }
        assert!(held > Limits::default().max_container_bytes, "{held}");
        assert_eq!(size_of(10_001), None);
    }
}

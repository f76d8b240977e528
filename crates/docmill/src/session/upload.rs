//! Packs items for their way to the owner: small ones together, each large one as a stream of its own.

use std::fs::File;
use std::io;
use std::os::unix::fs::{FileExt, MetadataExt};
use std::path::PathBuf;
use std::sync::Arc;

use bytes::Bytes;
use docmill_core::error::ErrorNote;
use docmill_core::limits::{KIB, Limits};
use docmill_core::{Error, Result};
use docmill_pipeline::{Offer, Offered};
use docmill_server::control::{OfferHead, encode};
use http_body_util::{BodyExt, StreamBody};
use hyper::body::Frame;
use tokio::sync::mpsc;

use super::guest::{Body, whole};
use crate::ingest::walk::show;

/// A large file is read in pieces of this size.
const PIECE: usize = (256 * KIB) as usize;

/// The first bytes, which tell a container from a document.
const HEAD: usize = 512;

/// Items on their way.
pub(super) struct Packed {
    /// Where the small ones stood among the offers, and all of them as one request.
    pub(super) together: Option<(Vec<usize>, Body)>,
    /// The large ones, each with its place.
    pub(super) alone: Vec<(usize, Large)>,
}

/// Sorts `offers` by how they travel.
pub(super) fn pack(offers: Vec<Offer>) -> Result<Packed> {
    let mut bytes = Vec::new();
    let mut places = Vec::new();
    let mut alone = Vec::new();
    for (place, offer) in offers.into_iter().enumerate() {
        let (mut head, content) = split(offer);
        match content {
            Offered::Bytes(content) => {
                encode(&head, content.len() as u64, &mut bytes)?;
                bytes.extend_from_slice(&content);
                places.push(place);
            }
            Offered::Refused(error) => {
                head.refused = Some(ErrorNote::from(&error));
                encode(&head, 0, &mut bytes)?;
                places.push(place);
            }
            Offered::File(file, path) => alone.push((place, Large { head, file: Arc::new(file), path })),
            Offered::Stream(_) => return Err(Error::bug("a stream cannot be sent to the owner")),
        }
    }
    let together = (!places.is_empty()).then(|| (places, whole(Bytes::from(bytes))));
    Ok(Packed { together, alone })
}

fn split(offer: Offer) -> (OfferHead, Offered) {
    let exact = offer.path.as_bytes() == offer.path_bytes;
    let head = OfferHead {
        batch_id: offer.batch_id,
        origin: offer.origin,
        path_bytes: (!exact).then_some(offer.path_bytes),
        path: offer.path,
        name: offer.name,
        source_metadata: offer.source_metadata,
        priority: offer.priority,
        refused: None,
    };
    (head, offer.content)
}

/// A file that is sent as it is read.
pub(super) struct Large {
    head: OfferHead,
    file: Arc<File>,
    path: PathBuf,
}

/// What shows that a file has changed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct State {
    bytes: u64,
    modified: (i64, i64),
}

impl Large {
    /// As the file system knows it now.
    pub(super) fn state(&self) -> Result<State> {
        look(&self.file).map_err(|e| self.unreadable(e))
    }

    /// Refuses what passes the limits, before gigabytes are sent for nothing.
    pub(super) fn check(&self, limits: &Limits, state: State) -> Result<()> {
        let mut head = vec![0; HEAD];
        let got = self.file.read_at(&mut head, 0).map_err(|e| self.unreadable(e))?;
        limits.check_receive(&self.head.name, state.bytes, head.get(..got).unwrap_or_default())
    }

    /// The file in state `as_of`. If it changes on the way, the request breaks off before its last piece, and the
    /// owner keeps nothing of it.
    pub(super) fn body(&self, as_of: State) -> Result<Body> {
        let mut opening = Vec::new();
        encode(&self.head, as_of.bytes, &mut opening)?;
        let (to, from) = mpsc::channel::<io::Result<Frame<Bytes>>>(4);
        let file = Arc::clone(&self.file);
        tokio::task::spawn_blocking(move || {
            if to.blocking_send(Ok(Frame::data(Bytes::from(opening)))).is_err() {
                return;
            }
            let mut at = 0;
            while at < as_of.bytes {
                let piece = piece(&file, at, as_of);
                at += piece.as_ref().map_or(0, |piece| piece.len() as u64);
                let ended = piece.is_err();
                // Nobody listens any more: the owner has refused the rest, and its answer says why.
                if to.blocking_send(piece.map(Frame::data)).is_err() || ended {
                    return;
                }
            }
        });
        let frames =
            futures::stream::unfold(
                from,
                |mut from| async move { from.recv().await.map(|frame| (frame, from)) },
            );
        Ok(BodyExt::boxed(StreamBody::new(Box::pin(frames))))
    }

    /// The item without its content, and why.
    pub(super) fn refused(&self, error: &Error) -> Result<Body> {
        let mut bytes = Vec::new();
        let head = OfferHead { refused: Some(ErrorNote::from(error)), ..self.head.clone() };
        encode(&head, 0, &mut bytes)?;
        Ok(whole(Bytes::from(bytes)))
    }

    /// The refusal of a file that never held still.
    pub(super) fn changed(&self, times: usize) -> Error {
        Error::file_changed(format!("`{}` changed each of the {times} times it was read", show(&self.path)))
            .with_hint("ingest it again when nothing writes to it")
    }

    fn unreadable(&self, cause: io::Error) -> Error {
        Error::unreadable(format!("cannot read `{}`", show(&self.path))).with_source(cause)
    }
}

fn look(file: &File) -> io::Result<State> {
    let metadata = file.metadata()?;
    Ok(State { bytes: metadata.len(), modified: (metadata.mtime(), metadata.mtime_nsec()) })
}

/// The piece at `at`; an error in place of the last one if the file is not what it was.
fn piece(file: &File, at: u64, as_of: State) -> io::Result<Bytes> {
    let left = as_of.bytes - at;
    let mut buffer = vec![0; PIECE.min(usize::try_from(left).unwrap_or(PIECE))];
    let got = file.read_at(&mut buffer, at)?;
    if got == 0 || (got as u64 == left && look(file)? != as_of) {
        return Err(io::Error::other("the file changed while it was read"));
    }
    buffer.truncate(got);
    Ok(Bytes::from(buffer))
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use docmill_core::ingestion::Origin;

    use super::*;

    fn large(bytes: usize) -> (tempfile::NamedTempFile, Large) {
        let mut named = tempfile::NamedTempFile::new().unwrap();
        named.write_all(&vec![1; bytes]).unwrap();
        let head = OfferHead {
            batch_id: None,
            origin: Origin::Uploader("me".into()),
            path: "x".into(),
            path_bytes: None,
            name: "x".into(),
            source_metadata: serde_json::Value::Null,
            priority: 50,
            refused: None,
        };
        let large = Large { head, file: Arc::new(named.reopen().unwrap()), path: named.path().to_owned() };
        (named, large)
    }

    #[tokio::test]
    async fn a_file_that_holds_still_is_sent_whole() {
        let (_named, large) = large(3 * PIECE + 5);
        let sent = large.body(large.state().unwrap()).unwrap().collect().await.unwrap().to_bytes();
        assert!(sent.ends_with(&vec![1; 3 * PIECE + 5]));
    }

    #[tokio::test]
    async fn a_file_that_grew_or_shrank_breaks_the_request_off() {
        for length in [10, 4 * PIECE as u64] {
            let (named, large) = large(2 * PIECE);
            let before = large.state().unwrap();
            named.as_file().set_len(length).unwrap();
            assert!(large.body(before).unwrap().collect().await.is_err(), "{length}");
            assert_ne!(large.state().unwrap(), before);
        }
    }
}

//! Packs items for their way to the owner: small ones together, each large one as a stream of its own.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::path::Path;

use bytes::Bytes;
use docmill_core::error::ErrorNote;
use docmill_core::limits::KIB;
use docmill_core::{Error, Result};
use docmill_pipeline::{Offer, Offered};
use docmill_server::control::{OfferHead, encode};
use http_body_util::{BodyExt, StreamBody};
use hyper::body::Frame;
use tokio::sync::mpsc;

use super::guest::{Body, whole};

/// A large file is read in pieces of this size.
const PIECE: usize = (256 * KIB) as usize;

/// One request.
pub(super) struct Parcel {
    /// Where its items stood among the offers.
    pub(super) places: Vec<usize>,
    pub(super) body: Body,
}

/// Makes the requests for `offers`. Blocks while it reads.
pub(super) fn pack(offers: Vec<Offer>) -> Result<Vec<Parcel>> {
    let mut together = Vec::new();
    let mut places = Vec::new();
    let mut parcels = Vec::new();
    for (place, offer) in offers.into_iter().enumerate() {
        let (mut head, content) = split(offer);
        match content {
            Offered::Bytes(bytes) => {
                encode(&head, bytes.len() as u64, &mut together)?;
                together.extend_from_slice(&bytes);
                places.push(place);
            }
            Offered::Refused(error) => {
                head.refused = Some(ErrorNote::from(&error));
                encode(&head, 0, &mut together)?;
                places.push(place);
            }
            Offered::File(file, path) => {
                parcels.push(Parcel { places: vec![place], body: stream(&head, file, &path)? });
            }
            Offered::Stream(_) => return Err(Error::bug("a stream cannot be sent to the owner")),
        }
    }
    if !places.is_empty() {
        parcels.push(Parcel { places, body: whole(Bytes::from(together)) });
    }
    Ok(parcels)
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

/// The file as it is now. If it turns out shorter, the request breaks off, and the owner keeps nothing of it.
fn stream(head: &OfferHead, file: File, path: &Path) -> Result<Body> {
    let length = file
        .metadata()
        .map_err(|e| Error::unreadable(format!("cannot read `{}`", path.display())).with_source(e))?
        .len();
    let mut opening = Vec::new();
    encode(head, length, &mut opening)?;
    let (to, from) = mpsc::channel::<io::Result<Frame<Bytes>>>(4);
    tokio::task::spawn_blocking(move || {
        if to.blocking_send(Ok(Frame::data(Bytes::from(opening)))).is_err() {
            return;
        }
        let mut at = 0;
        while at < length {
            let mut buffer = vec![0; PIECE.min(usize::try_from(length - at).unwrap_or(PIECE))];
            let read = match file.read_at(&mut buffer, at) {
                Ok(0) => Err(io::Error::new(
                    io::ErrorKind::UnexpectedEof,
                    "the file became shorter while it was read",
                )),
                other => other,
            };
            let frame = read.map(|got| {
                buffer.truncate(got);
                at += got as u64;
                Frame::data(Bytes::from(buffer))
            });
            let ended = frame.is_err();
            // Nobody listens any more: the owner has refused the rest, and its answer says why.
            if to.blocking_send(frame).is_err() || ended {
                return;
            }
        }
    });
    let frames =
        futures::stream::unfold(from, |mut from| async move { from.recv().await.map(|frame| (frame, from)) });
    Ok(BodyExt::boxed(StreamBody::new(Box::pin(frames))))
}

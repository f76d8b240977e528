//! The way in: content durable first, then its rows in one transaction, and only then an answer.
//!
//! A crash before the transaction leaves at most an orphaned blob; a crash after it loses nothing. What cannot
//! be read becomes an ingestion without a document, with its reason: every offer is accounted for. Nothing is
//! accepted while too little room is left on the disk.

mod file;
pub(crate) mod together;

use std::fs::File;
use std::path::PathBuf;

use bytes::Bytes;
use docmill_core::error::ErrorNote;
use docmill_core::id::{BatchId, ContentHash, IngestionId, TenantId};
use docmill_core::ingestion::{IngestionEnd, Origin};
use docmill_core::ports::store::{Accepted, Arrival, Receipt, Received, Terms};
use docmill_core::{Error, ErrorKind, Result, crash};
use futures::{StreamExt as _, TryStreamExt as _};
use tokio::sync::mpsc;

use super::payload::Payload;
use super::stored::{self, Body, Fresh, Incoming};
use crate::blocking::off_thread;
use crate::deps::Deps;
use crate::disk::DiskWatch;
use crate::plan;

/// Offers that are read at once.
const SIDE_BY_SIDE: usize = 8;

/// One item that somebody offers.
pub struct Offer {
    /// Of which import.
    pub batch_id: Option<BatchId>,
    /// Who brings it.
    pub origin: Origin,
    /// Where it lies, as text to show.
    pub path: String,
    /// Where it lies, exactly. Unique in the batch, together with the content.
    pub path_bytes: Vec<u8>,
    /// The file name.
    pub name: String,
    /// Free.
    pub source_metadata: serde_json::Value,
    /// Lower first.
    pub priority: u8,
    /// The bytes.
    pub content: Offered,
}

/// The bytes of an [`Offer`].
pub enum Offered {
    /// All at once.
    Bytes(Bytes),
    /// An open file; the path is for messages.
    File(File, PathBuf),
    /// In pieces, from a sender who hears the error: content that breaks off or passes a limit refuses the
    /// whole call and leaves no ingestion behind.
    Stream(mpsc::Receiver<Result<Bytes>>),
    /// It could not be opened.
    Refused(Error),
}

/// Takes in all offers, or none.
pub(crate) async fn receive(
    deps: &Deps,
    disk: &DiskWatch,
    tenant: TenantId,
    offers: Vec<Offer>,
) -> Result<Vec<Received>> {
    if offers.is_empty() {
        return Ok(Vec::new());
    }
    disk.check(deps).await?;
    crash::point("receive.before_blob");
    let prepared: Vec<(Head, Prepared)> = futures::stream::iter(offers)
        .map(|offer| prepare(deps, tenant, offer))
        .buffered(SIDE_BY_SIDE)
        .try_collect()
        .await?;

    register(deps, tenant, prepared, Terms::default()).await.map(|accepted| accepted.received)
}

/// Makes the content of all items durable, then stores their rows in one transaction.
async fn register(
    deps: &Deps,
    tenant: TenantId,
    prepared: Vec<(Head, Prepared)>,
    terms: Terms,
) -> Result<Accepted> {
    let mut heads = Vec::with_capacity(prepared.len());
    let mut fresh = Vec::with_capacity(prepared.len());
    for (head, prepared) in prepared {
        heads.push((head, prepared.map(|content| fresh.push(content)).err()));
    }
    let mut settled = stored::settle(deps, tenant, fresh).await?.into_iter();
    crash::point("receive.after_blob");

    let mut receipts = Vec::with_capacity(heads.len());
    let mut proposed = Vec::new();
    for (head, refused) in heads {
        let arrival = if let Some(error) = refused {
            // A socket or a pipe is no document and never becomes one: it is left out, not failed.
            Arrival::Refused(match error.kind {
                ErrorKind::UnsupportedFormat => IngestionEnd::skipped(error),
                _ => IngestionEnd::failed(error),
            })
        } else {
            let place = settled.next().ok_or_else(|| Error::bug("an offer lost its content"))?;
            proposed.push(place.clone());
            let first = plan::first(place.content.bytes, &Payload::default(), &deps.settings.engine);
            Arrival::Content(place.content, first)
        };
        receipts.push(head.into_receipt(tenant, IngestionId(deps.ids.next()), arrival));
    }
    crash::point("receive.before_row");
    let accepted = match deps.store.accept(receipts, terms).await {
        Ok(accepted) => accepted,
        Err(error) => {
            // After other errors nobody knows whether the rows are there; then pruning does it, a day later.
            if matches!(error.kind(), ErrorKind::Conflict | ErrorKind::NotFound | ErrorKind::InvalidRequest) {
                stored::take_back(deps, &proposed, &[]).await;
            }
            return Err(error);
        }
    };
    crash::point("receive.after_row");
    let taken: Vec<_> = accepted.received.iter().map(|r| r.document_id).collect();
    stored::take_back(deps, &proposed, &taken).await;
    Ok(accepted)
}

/// An offer without its content.
struct Head {
    batch_id: Option<BatchId>,
    origin: Origin,
    path: String,
    path_bytes: Vec<u8>,
    name: String,
    source_metadata: serde_json::Value,
    priority: u8,
}

/// Content that is ready to be settled, or why it never will be.
type Prepared = std::result::Result<Fresh, ErrorNote>;

async fn prepare(deps: &Deps, tenant: TenantId, offer: Offer) -> Result<(Head, Prepared)> {
    let Offer { batch_id, origin, path, path_bytes, name, source_metadata, priority, content } = offer;
    let head = Head { batch_id, origin, path, path_bytes, name, source_metadata, priority };
    let name = &head.name;
    let prepared = match content {
        Offered::Bytes(bytes) => whole(deps, name, bytes).await,
        Offered::File(file, path) => file::read(deps, tenant, name, file, path).await,
        Offered::Stream(pieces) => Ok(gather(deps, name, pieces).await?),
        Offered::Refused(error) => return Ok((head, Err(ErrorNote::from(&error)))),
    };
    let prepared = match prepared {
        Ok(fresh) => Ok(fresh),
        Err(error) if is_the_items_own(&error) => Err(ErrorNote::from(&error)),
        Err(error) => return Err(error),
    };
    Ok((head, prepared))
}

/// Whether an error is about the item, which then fails by itself, or about docmill, which then accepts nothing.
fn is_the_items_own(error: &Error) -> bool {
    use docmill_core::ErrorKind as K;
    matches!(error.kind(), K::Unreadable | K::FileChanged | K::NotFound | K::Forbidden | K::LimitExceeded)
}

async fn whole(deps: &Deps, name: &str, bytes: Bytes) -> Result<Fresh> {
    deps.settings.limits.check_receive(name, bytes.len() as u64, &bytes)?;
    let name = name.to_owned();
    off_thread(bytes.len() as u64, move || {
        Ok(Fresh {
            name,
            hash: ContentHash::of(&bytes),
            bytes: bytes.len() as u64,
            body: Body::Memory(bytes),
        })
    })
    .await
}

async fn gather(deps: &Deps, name: &str, mut pieces: mpsc::Receiver<Result<Bytes>>) -> Result<Fresh> {
    let mut incoming = Incoming::new(deps);
    while let Some(piece) = pieces.recv().await {
        incoming.push(name, piece?).await?;
    }
    incoming.finish(name).await
}

impl Head {
    fn into_receipt(self, tenant_id: TenantId, ingestion_id: IngestionId, arrival: Arrival) -> Receipt {
        Receipt {
            tenant_id,
            ingestion_id,
            batch_id: self.batch_id,
            origin: self.origin,
            path: self.path,
            path_bytes: self.path_bytes,
            name: self.name,
            source_metadata: self.source_metadata,
            priority: self.priority,
            arrival,
        }
    }
}

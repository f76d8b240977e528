//! Items from a guest, into the pipeline.

use axum::body::Body;
use axum::extract::State;
use axum::http::{HeaderMap, Request};
use axum::response::Response;
use bytes::Bytes;
use docmill_core::id::TenantId;
use docmill_core::ports::store::Received;
use docmill_core::{Error, Result};
use docmill_pipeline::{Offer, Offered};
use tokio::sync::mpsc;

use super::frame::{Frames, OfferHead, STREAM_FROM_BYTES, TENANT_HEADER};
use super::{Control, json};
use crate::problem;

/// Items of one request that are stored together.
const MAX_ITEMS: usize = 1024;

pub(super) async fn receive(State(control): State<Control>, request: Request<Body>) -> Response {
    match take_in(&control, request).await {
        Ok(received) => json(&received),
        Err(error) => problem::note(&error),
    }
}

async fn take_in(control: &Control, request: Request<Body>) -> Result<Vec<Received>> {
    let tenant = control.service.tenant(tenant_name(request.headers())?).await?;
    let mut frames = Frames::new(request.into_body().into_data_stream());
    let mut offers = Vec::new();
    let mut held = 0;
    while let Some((head, length)) = frames.head().await? {
        if length > STREAM_FROM_BYTES {
            if !offers.is_empty() {
                return Err(Error::invalid_request(format!(
                    "an item of {length} bytes must be alone in its request"
                )));
            }
            return stream(control, tenant, frames, head, length).await;
        }
        held += length;
        if offers.len() == MAX_ITEMS || held > 2 * STREAM_FROM_BYTES {
            return Err(Error::invalid_request(format!(
                "a request holds more than {MAX_ITEMS} items or {} bytes",
                2 * STREAM_FROM_BYTES
            )));
        }
        let content = frames.take(length as usize).await?;
        offers.push(offer(head, Offered::Bytes(content)));
    }
    control.service.receive(tenant, offers).await
}

/// Feeds the pipeline from the request while it stores.
async fn stream(
    control: &Control,
    tenant: TenantId,
    mut frames: Frames,
    head: OfferHead,
    length: u64,
) -> Result<Vec<Received>> {
    let (to, from) = mpsc::channel(4);
    let feed = async move {
        let (mut left, mut to) = (length, Some(to));
        while left > 0 {
            let piece: Result<Bytes> = frames.some(left).await;
            left -= piece.as_ref().map_or(left, |bytes| bytes.len() as u64);
            if let Some(pipeline) = &to
                && pipeline.send(piece).await.is_err()
            {
                // It has refused the rest, and its answer says why. Whoever still sends would not hear that answer
                // if the connection were closed now, so what comes is read and thrown away.
                to = None;
            }
        }
        frames.skip_to_end().await;
    };
    let store = control.service.receive(tenant, vec![offer(head, Offered::Stream(from))]);
    tokio::join!(feed, store).1
}

fn offer(head: OfferHead, content: Offered) -> Offer {
    Offer {
        batch_id: head.batch_id,
        origin: head.origin,
        path_bytes: head.path_bytes.unwrap_or_else(|| head.path.clone().into_bytes()),
        path: head.path,
        name: head.name,
        source_metadata: head.source_metadata,
        priority: head.priority,
        content: match head.refused {
            Some(note) => Offered::Refused(note.into()),
            None => content,
        },
    }
}

fn tenant_name(headers: &HeaderMap) -> Result<&str> {
    headers
        .get(TENANT_HEADER)
        .and_then(|value| value.to_str().ok())
        .ok_or_else(|| Error::invalid_request(format!("no `{TENANT_HEADER}` header")))
}

//! The bytes of a document, in pieces.

use std::os::unix::fs::FileExt;
use std::sync::Arc;

use axum::body::Body;
use axum::extract::{Path, State};
use axum::http::{HeaderValue, header};
use axum::response::Response;
use bytes::Bytes;
use docmill_core::ports::blobs::Content;
use docmill_core::{Error, Result};

use super::Control;
use crate::problem;

/// The file name of the document, as a JSON string.
pub const NAME_HEADER: &str = "docmill-name";

/// Bytes of one piece.
const PIECE: usize = 256 << 10;

pub(super) async fn original(
    State(control): State<Control>,
    Path((tenant, id)): Path<(String, String)>,
) -> Response {
    match open(&control, &tenant, &id).await {
        Ok(response) => response,
        Err(error) => problem::note(&error),
    }
}

async fn open(control: &Control, tenant: &str, id: &str) -> Result<Response> {
    let tenant = control.service.tenant(tenant).await?;
    let (head, content) = control.service.open_original(tenant, id).await?;
    let length = content.len();
    let body = match content {
        Content::Inline(bytes) => Body::from(bytes),
        Content::File(file, length) => {
            Body::from_stream(futures::stream::try_unfold((file, 0), move |(file, at)| async move {
                piece(file, at, length).await
            }))
        }
    };
    let mut response = Response::new(body);
    response.headers_mut().insert(header::CONTENT_LENGTH, HeaderValue::from(length));
    let name = serde_json::Value::from(head.name).to_string();
    if let Ok(name) = HeaderValue::from_bytes(name.as_bytes()) {
        response.headers_mut().insert(NAME_HEADER, name);
    }
    Ok(response)
}

type Next = Option<(Bytes, (Arc<std::fs::File>, u64))>;

async fn piece(file: Arc<std::fs::File>, at: u64, length: u64) -> Result<Next> {
    if at >= length {
        return Ok(None);
    }
    let read = tokio::task::spawn_blocking(move || {
        let most = PIECE.min(usize::try_from(length - at).unwrap_or(PIECE));
        let mut buffer = vec![0; most];
        let got = file.read_at(&mut buffer, at)?;
        buffer.truncate(got);
        Ok::<_, std::io::Error>((file, buffer))
    });
    let (file, buffer) = read
        .await
        .map_err(|e| Error::bug("reading a blob was cut short").with_source(e))?
        .map_err(|e| Error::unavailable("cannot read a blob").with_source(e))?;
    if buffer.is_empty() {
        return Err(Error::corrupt(format!("a blob ends at {at} bytes instead of {length}")));
    }
    let next = at + buffer.len() as u64;
    Ok(Some((Bytes::from(buffer), (file, next))))
}

//! Compression of answers that are whole in memory. Streams and originals go as they are: an original is mostly
//! compressed already, and ranges of it must be ranges of what is stored.

use std::io::Write as _;

use axum::body::Body;
use axum::http::{HeaderMap, HeaderValue, header};
use axum::response::Response;
use bytes::Bytes;
use flate2::Compression;
use flate2::write::GzEncoder;

/// Below this a packet is not filled anyway.
const FROM_BYTES: usize = 1024;
/// Compressing more than this would hold up the other requests of a thread.
const SHORT: usize = 128 << 10;

/// The whole body of an answer, beside the answer, so that it can be compressed without being read again.
#[derive(Clone)]
pub(crate) struct Whole(pub(crate) Bytes);

/// Whether the client takes gzip.
pub(crate) fn accepted(headers: &HeaderMap) -> bool {
    headers.get_all(header::ACCEPT_ENCODING).iter().filter_map(|value| value.to_str().ok()).any(|value| {
        value.split(',').any(|coding| {
            let mut parts = coding.split(';').map(str::trim);
            let named = parts.next().is_some_and(|name| name.eq_ignore_ascii_case("gzip") || name == "*");
            let refused = parts.any(|part| {
                part.strip_prefix("q=").and_then(|q| q.parse::<f32>().ok()).is_some_and(|q| q <= 0.0)
            });
            named && !refused
        })
    })
}

/// Compresses an answer that is whole, if the client takes it and it is worth it.
pub(crate) async fn squeeze(mut response: Response, accepted: bool) -> Response {
    let Some(Whole(bytes)) = response.extensions_mut().remove::<Whole>() else { return response };
    response.headers_mut().insert(header::VARY, HeaderValue::from_static("accept-encoding"));
    if !accepted || bytes.len() < FROM_BYTES {
        return response;
    }
    let squeezed = if bytes.len() <= SHORT {
        gzip(&bytes)
    } else {
        tokio::task::spawn_blocking(move || gzip(&bytes)).await.unwrap_or_default()
    };
    let Some(squeezed) = squeezed else { return response };
    response.headers_mut().insert(header::CONTENT_ENCODING, HeaderValue::from_static("gzip"));
    response.headers_mut().remove(header::CONTENT_LENGTH);
    *response.body_mut() = Body::from(squeezed);
    response
}

/// Nothing if it cannot be done; then the answer goes as it is.
fn gzip(bytes: &[u8]) -> Option<Vec<u8>> {
    let mut encoder = GzEncoder::new(Vec::with_capacity(bytes.len() / 4), Compression::fast());
    encoder.write_all(bytes).ok()?;
    encoder.finish().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gzip_is_used_only_where_the_client_takes_it() {
        let takes = |value: &str| {
            let mut headers = HeaderMap::new();
            headers.insert(header::ACCEPT_ENCODING, value.parse().unwrap());
            accepted(&headers)
        };
        assert!(takes("gzip") && takes("br, GZIP;q=0.5") && takes("*"));
        assert!(!takes("br") && !takes("gzip;q=0") && !takes("identity"));
        assert!(!accepted(&HeaderMap::new()));
    }
}

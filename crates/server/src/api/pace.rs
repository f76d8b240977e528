//! How slow a sender may be: slow lines are served, but nobody keeps a place by sending a byte now and then.

use std::time::Duration;

use axum::body::BodyDataStream;
use bytes::Bytes;
use docmill_core::{Error, Result};
use futures::{Stream, StreamExt as _};
use tokio::time::Instant;

/// What a sender who sends nothing has.
const PATIENCE: Duration = Duration::from_mins(1);
/// Bytes that earn a second of it again. A modem is four times as fast.
const BYTES_A_SECOND: u32 = 1024;

/// A body whose sender may be slow, but not silent. Waiting uses patience up and bytes earn it back, so a slow line goes
/// on for ever and a trickle does not. Time in which nobody reads is not the sender's.
pub(super) fn patient(body: BodyDataStream) -> impl Stream<Item = Result<Bytes>> + Unpin + Send {
    watched(body.map(|piece| {
        piece.map_err(|e| Error::invalid_request("the request was cut short on its way").with_source(e))
    }))
}

fn watched<S: Stream<Item = Result<Bytes>> + Send + 'static>(
    body: S,
) -> impl Stream<Item = Result<Bytes>> + Unpin + Send {
    let pieces = futures::stream::unfold((Box::pin(body), PATIENCE), |(mut body, left)| async move {
        let began = Instant::now();
        match tokio::time::timeout(left, body.next()).await {
            Ok(None) => None,
            Ok(Some(Err(error))) => Some((Err(error), (body, left))),
            Ok(Some(Ok(bytes))) => {
                let earned = Duration::from_secs(bytes.len() as u64) / BYTES_A_SECOND;
                let left = (left.saturating_sub(began.elapsed()) + earned).min(PATIENCE);
                Some((Ok(bytes), (body, left)))
            }
            // Whoever reads on in spite of it hears the same again.
            Err(_) => Some((Err(too_slow()), (body, Duration::ZERO))),
        }
    });
    // Behind the end is the end, however often it is asked for.
    Box::pin(pieces).fuse()
}

fn too_slow() -> Error {
    Error::invalid_request(format!(
        "the request came too slowly: less than {BYTES_A_SECOND} bytes a second, and nothing at all for {} s at most",
        PATIENCE.as_secs()
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn behind_the_end_is_the_end() {
        let mut body = watched(futures::stream::iter([Ok(Bytes::from_static(b"x"))]));
        assert!(body.next().await.is_some());
        assert!(body.next().await.is_none() && body.next().await.is_none());
    }

    /// `count` pieces of `bytes` each, one every `every`; how many of them came through.
    async fn through(bytes: usize, every: Duration, count: usize) -> usize {
        let pieces = futures::stream::unfold(0, move |n| async move {
            tokio::time::sleep(every).await;
            (n < count).then(|| (Ok(Bytes::from(vec![0; bytes])), n + 1))
        });
        watched(pieces).take_while(|piece| futures::future::ready(piece.is_ok())).count().await
    }

    #[tokio::test(start_paused = true)]
    async fn a_slow_line_is_served_and_a_trickle_is_not() {
        let second = Duration::from_secs(1);
        assert_eq!(through(2048, second, 10_000).await, 10_000, "a slow line");
        assert_eq!(through(60 << 10, 50 * second, 100).await, 100, "a line that breaks off and comes back");
        assert_eq!(through(1, second, 10_000).await, 60, "a trickle");
        assert_eq!(through(4096, 61 * second, 5).await, 0, "silence");
    }
}

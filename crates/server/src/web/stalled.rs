//! A connection whose other end may read slowly, but must read: one that takes nothing for a while is ended, so that
//! nobody keeps a place by asking for much and reading nothing of it.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::time::Sleep;

/// Nothing was taken for so long, although something was to be had. A download that was cut off goes on with a range, and
/// a stream of events with its last number.
const STALLED: Duration = Duration::from_mins(2);

pub(super) struct Stalled<S> {
    stream: S,
    /// Runs while something waits to be taken.
    ends: Option<Pin<Box<Sleep>>>,
}

impl<S> Stalled<S> {
    pub(super) fn new(stream: S) -> Self {
        Self { stream, ends: None }
    }

    /// Hands a result on, unless it has been awaited for too long.
    fn watch<T>(&mut self, cx: &mut Context<'_>, written: Poll<io::Result<T>>) -> Poll<io::Result<T>> {
        if written.is_ready() {
            self.ends = None;
            return written;
        }
        let ends = self.ends.get_or_insert_with(|| Box::pin(tokio::time::sleep(STALLED)));
        ready!(ends.as_mut().poll(cx));
        Poll::Ready(Err(io::Error::new(
            io::ErrorKind::TimedOut,
            format!("the other end took nothing for {} s", STALLED.as_secs()),
        )))
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for Stalled<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_read(cx, buf)
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for Stalled<S> {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &[u8]) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.stream).poll_write(cx, buf);
        self.watch(cx, written)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bufs: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.stream).poll_write_vectored(cx, bufs);
        self.watch(cx, written)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let flushed = Pin::new(&mut self.stream).poll_flush(cx);
        self.watch(cx, flushed)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let shut = Pin::new(&mut self.stream).poll_shutdown(cx);
        self.watch(cx, shut)
    }
}

#[cfg(test)]
mod tests {
    use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};

    use super::*;

    #[tokio::test(start_paused = true)]
    async fn whoever_reads_slowly_is_served_and_whoever_reads_nothing_is_not() {
        let (near, mut far) = tokio::io::duplex(8);
        let reader = tokio::spawn(async move {
            for _ in 0..100 {
                tokio::time::sleep(STALLED / 2).await;
                far.read_exact(&mut [0; 8]).await.unwrap();
            }
            far
        });
        let mut near = Stalled::new(near);
        near.write_all(&[7; 800]).await.unwrap();
        let far = reader.await.unwrap();
        let error = near.write_all(&[7; 800]).await.unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::TimedOut, "{error}");
        drop(far);
    }
}

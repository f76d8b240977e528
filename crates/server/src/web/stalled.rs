//! A connection whose other end may read slowly, but must read: one that takes nothing for a while is ended, so that
//! nobody keeps a place by asking for much and reading nothing of it. And it is closed so that its last answer arrives:
//! whoever still sends when it is closed would lose what they have not read yet.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::time::{Instant, Sleep};

/// Nothing was taken for so long, although something was to be had. A download that was cut off goes on with a range, and
/// a stream of events with its last number.
const STALLED: Duration = Duration::from_mins(2);
/// What still comes after the last answer is thrown away for so long…
const LINGERS: Duration = Duration::from_secs(30);
/// …and no longer once nothing has come for this time: most often everything had been read.
const QUIET: Duration = Duration::from_millis(500);
/// Bytes thrown away at once.
const THROWN_AWAY: usize = 16 << 10;

pub(super) struct Stalled<S> {
    stream: S,
    /// Runs while something waits to be taken.
    ends: Option<Pin<Box<Sleep>>>,
    /// Runs once there is nothing more to say.
    lingers: Option<Lingers>,
}

struct Lingers {
    until: Instant,
    quiet: Pin<Box<Sleep>>,
}

impl<S> Stalled<S> {
    pub(super) fn new(stream: S) -> Self {
        Self { stream, ends: None, lingers: None }
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

impl<S: AsyncRead + Unpin> Stalled<S> {
    /// Throws away what still comes. A request that is refused before its body was read (no key, a full disk) is one
    /// whose sender goes on for a while; closed beneath them, the connection is reset, and takes the refusal with it.
    fn poll_linger(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        let lingers = self.lingers.get_or_insert_with(|| Lingers {
            until: Instant::now() + LINGERS,
            quiet: Box::pin(tokio::time::sleep(QUIET)),
        });
        let mut scratch = [0; THROWN_AWAY];
        loop {
            let mut buf = ReadBuf::new(&mut scratch);
            match Pin::new(&mut self.stream).poll_read(cx, &mut buf) {
                Poll::Ready(Ok(())) if !buf.filled().is_empty() => {
                    let now = Instant::now();
                    if now >= lingers.until {
                        return Poll::Ready(());
                    }
                    lingers.quiet.as_mut().reset(lingers.until.min(now + QUIET));
                }
                Poll::Ready(_) => return Poll::Ready(()),
                Poll::Pending => return lingers.quiet.as_mut().poll(cx),
            }
        }
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

impl<S: AsyncRead + AsyncWrite + Unpin> AsyncWrite for Stalled<S> {
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
        if self.lingers.is_none() {
            let shut = Pin::new(&mut self.stream).poll_shutdown(cx);
            ready!(self.watch(cx, shut))?;
        }
        self.poll_linger(cx).map(Ok)
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

    #[tokio::test(start_paused = true)]
    async fn whoever_still_sends_at_the_end_can_send_and_then_reads_the_answer() {
        let (near, mut far) = tokio::io::duplex(1024);
        let sender = tokio::spawn(async move {
            for _ in 0..100 {
                tokio::time::sleep(QUIET / 2).await;
                far.write_all(&[7; 4096]).await.unwrap();
            }
            let mut answer = Vec::new();
            far.read_to_end(&mut answer).await.unwrap();
            answer
        });
        let mut near = Stalled::new(near);
        near.write_all(b"refused").await.unwrap();
        near.shutdown().await.unwrap();
        drop(near);
        assert_eq!(sender.await.unwrap(), b"refused");
    }

    #[tokio::test(start_paused = true)]
    async fn an_end_waits_neither_for_silence_nor_for_a_sender_without_end() {
        let (near, mut far) = tokio::io::duplex(1024);
        let began = Instant::now();
        Stalled::new(near).shutdown().await.unwrap();
        assert!(began.elapsed() < 2 * QUIET, "{:?}", began.elapsed());
        assert!(far.write_all(&[7; 4096]).await.is_err(), "closed");

        let (near, mut far) = tokio::io::duplex(1024);
        let sender = tokio::spawn(async move {
            while far.write_all(&[7; 64]).await.is_ok() {
                tokio::time::sleep(QUIET / 2).await;
            }
        });
        let (began, mut near) = (Instant::now(), Stalled::new(near));
        near.shutdown().await.unwrap();
        assert!(began.elapsed() <= LINGERS + QUIET, "{:?}", began.elapsed());
        drop(near);
        sender.await.unwrap();
    }
}

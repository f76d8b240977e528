//! Work that would hold up the other tasks of a runtime thread goes to the blocking pool; short work does not,
//! because the way there and back costs more than it.

use std::fs::File;
use std::io::{self, Read};
use std::os::unix::fs::FileExt as _;
use std::panic::AssertUnwindSafe;
use std::sync::Arc;

use bytes::Bytes;
use docmill_core::limits::{KIB, read_capped};
use docmill_core::ports::blobs::Content;
use docmill_core::{Error, Result};
use tokio::sync::mpsc;

/// Hashing or parsing so many bytes takes well below a millisecond.
const SHORT: u64 = 128 * KIB;

/// Runs `work` on `bytes` bytes where it disturbs nobody. A panic in it is a `bug` of the caller's item, wherever it runs.
pub(crate) async fn off_thread<T: Send + 'static>(
    bytes: u64,
    work: impl FnOnce() -> Result<T> + Send + 'static,
) -> Result<T> {
    if bytes > SHORT {
        return blocking(work).await;
    }
    std::panic::catch_unwind(AssertUnwindSafe(work))
        .unwrap_or_else(|_| Err(Error::bug("short work panicked")))
}

/// Runs `work` on the blocking pool. A panic there is a `bug` of the caller's item, no more.
pub(crate) async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> Result<T> + Send + 'static,
) -> Result<T> {
    match tokio::task::spawn_blocking(work).await {
        Ok(result) => result,
        Err(e) if e.is_panic() => Err(Error::bug("blocking work panicked").with_source(e)),
        Err(e) => Err(Error::shutting_down("the runtime is going down").with_source(e)),
    }
}

/// Gives a file on, piece by piece, until its end or until nobody wants more of it; an error comes in the place of a piece.
/// A thread is taken for each piece and not for all of them: there are few, and whoever takes the pieces needs some too.
pub(crate) async fn pour(
    file: Arc<File>,
    piece_bytes: usize,
    to: mpsc::Sender<Result<Bytes>>,
    failed: impl Fn(io::Error) -> Error,
) {
    let mut at = 0;
    loop {
        let from = Arc::clone(&file);
        let read = blocking(move || Ok(read_piece(&from, at, piece_bytes))).await;
        let piece = read.and_then(|piece| piece.map_err(&failed));
        let got = piece.as_ref().map_or(0, Bytes::len);
        if piece.as_ref().is_ok_and(Bytes::is_empty) || to.send(piece).await.is_err() || got == 0 {
            return;
        }
        at += got as u64;
    }
}

/// Some bytes from a place on; none at the end.
fn read_piece(file: &File, at: u64, piece_bytes: usize) -> io::Result<Bytes> {
    let mut buffer = vec![0; piece_bytes];
    loop {
        match file.read_at(&mut buffer, at) {
            Ok(read) => {
                buffer.truncate(read);
                return Ok(Bytes::from(buffer));
            }
            Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
            Err(e) => return Err(e),
        }
    }
}

/// All of `content`, at most `limit` bytes. Blocks if it is a file.
pub(crate) fn read_content(content: &Content, limit: u64, what: &str) -> Result<Bytes> {
    match content {
        Content::Inline(bytes) => Ok(bytes.clone()),
        Content::File(file, _) => read_capped(FromStart::of(file), limit, what).map(Bytes::from),
    }
}

/// Reads a file from its start without moving its cursor, which others may share.
pub(crate) struct FromStart<'a> {
    file: &'a File,
    position: u64,
}

impl<'a> FromStart<'a> {
    /// From the first byte.
    pub(crate) fn of(file: &'a File) -> Self {
        Self { file, position: 0 }
    }
}

impl Read for FromStart<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.file.read_at(buffer, self.position)?;
        self.position += read as u64;
        Ok(read)
    }
}

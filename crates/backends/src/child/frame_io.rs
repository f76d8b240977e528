//! Frames over the socket to a child, from the side that does not trust the other.

use std::fs::File;
use std::io::{self, IoSlice};
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, AsRawFd};
use std::os::unix::net::UnixStream as StdUnixStream;

use bytes::{Buf, BytesMut};
use docmill_core::ports::blobs::Content;
use docmill_core::wire::{self, FromChild, MAX_FRAME_BYTES, ToChild};
use docmill_core::{Error, Result};
use rustix::fs::{MemfdFlags, SealFlags};
use rustix::net::{SendAncillaryBuffer, SendAncillaryMessage, SendFlags, sendmsg};
use tokio::io::{AsyncReadExt, Interest};
use tokio::net::UnixStream;

/// What is kept of the receive buffer between frames.
const KEPT_BYTES: usize = 256 << 10;

/// The parent's end of the socket.
#[derive(Debug)]
pub(super) struct FrameSocket {
    stream: UnixStream,
    received: BytesMut,
}

impl FrameSocket {
    /// Must be called within a runtime.
    pub(super) fn new(stream: StdUnixStream) -> io::Result<Self> {
        stream.set_nonblocking(true)?;
        Ok(Self { stream: UnixStream::from_std(stream)?, received: BytesMut::with_capacity(KEPT_BYTES) })
    }

    /// Sends a frame, with a descriptor if there is one. Not cancel-safe: a half-sent frame makes the child
    /// useless.
    pub(super) async fn send(&mut self, frame: &ToChild, file: Option<&File>) -> Result<()> {
        let mut bytes = Vec::new();
        wire::encode(frame, &mut bytes)?;
        let mut sent = 0;
        while sent < bytes.len() {
            // The descriptor travels with the first byte.
            let file = file.filter(|_| sent == 0);
            let rest = &bytes[sent..];
            let stream = &self.stream;
            let written = stream.async_io(Interest::WRITABLE, || send_once(stream, rest, file)).await;
            sent += written.map_err(|e| Error::unavailable("cannot send to the child").with_source(e))?;
        }
        Ok(())
    }

    /// The next message; `None` once the child has closed its end. Cancel-safe.
    pub(super) async fn receive(&mut self) -> io::Result<Option<FromChild>> {
        loop {
            if let Some(message) = self.take_frame()? {
                return Ok(Some(message));
            }
            if self.stream.read_buf(&mut self.received).await? == 0 {
                return Ok(None);
            }
        }
    }

    /// A whole frame out of what has been received.
    fn take_frame(&mut self) -> io::Result<Option<FromChild>> {
        let Some(header) = self.received.first_chunk::<4>() else {
            self.received.reserve(KEPT_BYTES);
            return Ok(None);
        };
        let length = u32::from_le_bytes(*header) as usize;
        if length > MAX_FRAME_BYTES {
            return Err(io::Error::other(format!(
                "frame of {length} bytes exceeds the limit of {MAX_FRAME_BYTES} bytes"
            )));
        }
        if self.received.len() < 4 + length {
            // Room grows with what has really come, not with what the header claims.
            self.received.reserve(KEPT_BYTES.min(4 + length - self.received.len()));
            return Ok(None);
        }
        let mut message: FromChild =
            wire::decode(&self.received[4..4 + length]).map_err(|e| io::Error::other(e.chain()))?;
        message.clean();
        self.received.advance(4 + length);
        Ok(Some(message))
    }
}

fn send_once(stream: &UnixStream, bytes: &[u8], file: Option<&File>) -> io::Result<usize> {
    let descriptors = file.map(File::as_fd);
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1))];
    let mut control = SendAncillaryBuffer::new(&mut space);
    if !control.push(SendAncillaryMessage::ScmRights(descriptors.as_slice())) {
        return Err(io::Error::other("no room for a descriptor"));
    }
    // A dead child must be an error here, not a signal to this process.
    Ok(sendmsg(stream, &[IoSlice::new(bytes)], &mut control, SendFlags::NOSIGNAL)?)
}

/// A read-only descriptor of `content` with a position of its own, to be given away.
pub(super) fn descriptor(content: &Content) -> Result<File> {
    match content {
        Content::File(file, _) => {
            // Opened anew: a duplicate would share its position with every other reader of this blob, and
            // might be writable.
            let path = format!("/proc/self/fd/{}", file.as_raw_fd());
            File::open(&path)
                .map_err(|e| Error::unreadable("cannot open the document for the child").with_source(e))
        }
        Content::Inline(bytes) => in_memory_file(bytes)
            .map_err(|e| Error::unavailable("cannot hand the document to the child").with_source(e)),
    }
}

/// A sealed file in memory: neither side can change it any more.
fn in_memory_file(bytes: &[u8]) -> io::Result<File> {
    use std::io::{Seek, Write};
    let flags = MemfdFlags::CLOEXEC | MemfdFlags::ALLOW_SEALING;
    let mut file = File::from(rustix::fs::memfd_create("docmill-document", flags)?);
    file.write_all(bytes)?;
    file.rewind()?;
    let seals = SealFlags::WRITE | SealFlags::GROW | SealFlags::SHRINK | SealFlags::SEAL;
    rustix::fs::fcntl_add_seals(&file, seals)?;
    Ok(file)
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use docmill_core::wire::Found;

    use super::*;

    fn pair() -> (FrameSocket, StdUnixStream) {
        let (ours, theirs) = StdUnixStream::pair().unwrap();
        (FrameSocket::new(ours).unwrap(), theirs)
    }

    #[tokio::test]
    async fn receive_joins_pieces_and_strips_nul() {
        let (mut socket, mut child) = pair();
        let meta = Found::Meta { key: "a\0b".into(), value: "x".repeat(100_000) };
        let mut bytes = Vec::new();
        wire::encode(&FromChild::Found { index: 1, found: meta }, &mut bytes).unwrap();
        wire::encode(&FromChild::Begin { index: 2 }, &mut bytes).unwrap();
        let writer = tokio::task::spawn_blocking(move || {
            for piece in bytes.chunks(7777) {
                child.write_all(piece).unwrap();
            }
        });
        let first = socket.receive().await.unwrap().unwrap();
        assert!(matches!(first, FromChild::Found { found: Found::Meta { key, .. }, .. } if key == "ab"));
        assert!(matches!(socket.receive().await.unwrap(), Some(FromChild::Begin { index: 2 })));
        writer.await.unwrap();
        assert!(socket.receive().await.unwrap().is_none());
    }

    #[tokio::test]
    async fn receive_refuses_a_lying_length_and_garbage() {
        let (mut socket, mut child) = pair();
        child.write_all(&u32::MAX.to_le_bytes()).unwrap();
        assert!(socket.receive().await.is_err());
        let (mut socket, mut child) = pair();
        child.write_all(&[3, 0, 0, 0, 0xff, 0xff, 0xff]).unwrap();
        assert!(socket.receive().await.is_err());
    }

    #[test]
    fn descriptor_of_bytes_cannot_be_written() {
        let mut file = descriptor(&Content::Inline(bytes::Bytes::from_static(b"abc"))).unwrap();
        assert_eq!(file.metadata().unwrap().len(), 3);
        assert!(file.write_all(b"x").is_err());
    }
}

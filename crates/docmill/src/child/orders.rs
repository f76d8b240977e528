//! Orders as they arrive: frames on the inherited socket, descriptors beside them (SCM_RIGHTS).

use std::fs::File;
use std::io::{self, IoSliceMut, Read};
use std::mem::MaybeUninit;
use std::os::unix::net::UnixStream;

use docmill_core::wire::{self, MAX_FRAME_BYTES, ToChild};
use docmill_formats::Orders;
use rustix::net::{RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, recvmsg};

/// Descriptors that one frame may bring. The parent sends one; more are closed unseen by the kernel.
const MAX_DESCRIPTORS: usize = 4;

/// The receiving half of the socket.
pub(super) struct SocketOrders {
    socket: UnixStream,
    body: Vec<u8>,
}

impl SocketOrders {
    pub(super) fn new(socket: UnixStream) -> Self {
        Self { socket, body: Vec::new() }
    }

    /// The next frame with its descriptors; `None` once the parent has closed its end.
    fn receive(&mut self) -> io::Result<Option<(ToChild, Vec<File>)>> {
        let mut header = [0_u8; 4];
        let mut files = Vec::new();
        let mut filled = 0;
        // The kernel hands descriptors over with the first byte of the message they were sent with, so only
        // the header is read in a way that can receive them.
        while filled < header.len() {
            match self.receive_with_files(&mut header[filled..], &mut files)? {
                0 if filled == 0 => return Ok(None),
                0 => return Err(io::ErrorKind::UnexpectedEof.into()),
                n => filled += n,
            }
        }
        let length = u32::from_le_bytes(header) as usize;
        if length > MAX_FRAME_BYTES {
            return Err(io::Error::other(format!(
                "frame of {length} bytes exceeds the limit of {MAX_FRAME_BYTES} bytes"
            )));
        }
        self.body.clear();
        self.body.resize(length, 0);
        self.socket.read_exact(&mut self.body)?;
        let frame = wire::decode(&self.body).map_err(io::Error::other)?;
        // A large frame must not stay in memory while the small ones after it are read.
        self.body.shrink_to(1 << 20);
        Ok(Some((frame, files)))
    }

    fn receive_with_files(&self, into: &mut [u8], files: &mut Vec<File>) -> io::Result<usize> {
        let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(MAX_DESCRIPTORS))];
        let mut control = RecvAncillaryBuffer::new(&mut space);
        let received = loop {
            match recvmsg(&self.socket, &mut [IoSliceMut::new(into)], &mut control, RecvFlags::CMSG_CLOEXEC) {
                Err(rustix::io::Errno::INTR) => {}
                other => break other?,
            }
        };
        for message in control.drain() {
            if let RecvAncillaryMessage::ScmRights(descriptors) = message {
                files.extend(descriptors.map(File::from));
            }
        }
        Ok(received.bytes)
    }
}

impl Orders for SocketOrders {
    fn next(&mut self) -> io::Result<Option<(ToChild, Vec<File>)>> {
        self.receive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn receive_after_the_parent_closed_ends_cleanly() {
        let (ours, theirs) = UnixStream::pair().unwrap();
        drop(theirs);
        assert!(SocketOrders::new(ours).receive().unwrap().is_none());
    }

    #[test]
    fn receive_of_half_a_header_is_an_error() {
        use std::io::Write;
        let (ours, mut theirs) = UnixStream::pair().unwrap();
        theirs.write_all(&[1, 0]).unwrap();
        drop(theirs);
        let error = SocketOrders::new(ours).receive().unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::UnexpectedEof);
    }

    #[test]
    fn receive_of_an_oversized_frame_is_refused() {
        use std::io::Write;
        let (ours, mut theirs) = UnixStream::pair().unwrap();
        theirs.write_all(&u32::MAX.to_le_bytes()).unwrap();
        assert!(SocketOrders::new(ours).receive().unwrap_err().to_string().contains("exceeds the limit"));
    }
}

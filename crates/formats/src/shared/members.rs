//! Members on their way out of a container: given whole, listed, or accounted for with the reason.
//!
//! A member that expands beyond reason fails, and all after it: the bytes are counted by the sink, and what it
//! says is kept for them.

use std::io::{self, Read};

use docmill_core::error::ErrorKind;
use docmill_core::wire::{CHUNK_BYTES, Found, Want};
use docmill_core::{Error, Result};

use crate::sink::Sink;
use crate::sniff::media_type_of_name;

/// Gives members to a sink, one after the other.
pub(crate) struct Members<'a> {
    sink: &'a mut dyn Sink,
    want: Want,
    position: u64,
    open: Option<Open>,
    bomb: Option<Error>,
}

struct Open {
    path: String,
    bytes: u64,
    waiting: Vec<u8>,
    failed: bool,
}

impl<'a> Members<'a> {
    /// Members for `sink`, as far as they are wanted.
    pub(crate) fn new(sink: &'a mut dyn Sink, want: Want) -> Self {
        Self { sink, want, position: 0, open: None, bomb: None }
    }

    /// How many there were so far.
    pub(crate) fn count(&self) -> u64 {
        self.position
    }

    /// Where everything else goes.
    pub(crate) fn sink(&mut self) -> &mut dyn Sink {
        self.sink
    }

    /// Whether anybody asks for members at all.
    pub(crate) fn wanted(&self) -> bool {
        self.want.children || self.want.listing
    }

    /// Whether the bytes of members matter; a listing can do with what the container states.
    pub(crate) fn wants_bytes(&self) -> bool {
        self.want.children
    }

    /// Bytes of the member that began last, so far.
    pub(crate) fn open_bytes(&self) -> u64 {
        self.open.as_ref().map_or(0, |open| open.bytes)
    }

    /// Why nothing more comes out, if so.
    pub(crate) fn bomb(&self) -> Option<&Error> {
        self.bomb.as_ref()
    }

    /// A member begins. `bytes` is what the container says of its length.
    pub(crate) fn begin(&mut self, path: &str, bytes: Option<u64>) -> Result<()> {
        debug_assert!(self.open.is_none(), "`{path}` begins inside another member");
        let mut open = Open { path: path.to_owned(), bytes: 0, waiting: Vec::new(), failed: false };
        if self.want.children {
            match &self.bomb {
                Some(bomb) => {
                    let error = Error::bomb_suspected(format!("member was not read: {}", bomb.message()));
                    self.sink.child_failed(self.position, path, &error)?;
                    open.failed = true;
                }
                None => self.sink.put(Found::ChildBegin {
                    position: self.position,
                    path: path.to_owned(),
                    bytes,
                })?,
            }
        }
        self.open = Some(open);
        Ok(())
    }

    /// Bytes of the member that began last.
    pub(crate) fn write(&mut self, bytes: &[u8]) -> Result<()> {
        let Some(open) = &mut self.open else { return Ok(()) };
        open.bytes += bytes.len() as u64;
        if !self.want.children || open.failed {
            return Ok(());
        }
        open.waiting.extend_from_slice(bytes);
        if open.waiting.len() < CHUNK_BYTES {
            return Ok(());
        }
        let mut waiting = std::mem::take(&mut open.waiting);
        while waiting.len() > CHUNK_BYTES {
            let rest = waiting.split_off(CHUNK_BYTES);
            self.send(waiting)?;
            waiting = rest;
        }
        self.send(waiting)
    }

    fn send(&mut self, piece: Vec<u8>) -> Result<()> {
        let Some(open) = &mut self.open else { return Ok(()) };
        if open.failed || piece.is_empty() {
            return Ok(());
        }
        match self.sink.put(Found::ChildChunk(piece.into())) {
            Err(e) if e.kind() == ErrorKind::BombSuspected => {
                open.failed = true;
                self.sink.child_failed(self.position, &open.path, &e)?;
                self.bomb = Some(e);
                Ok(())
            }
            other => other,
        }
    }

    /// The member that began last is complete.
    pub(crate) fn end(&mut self) -> Result<()> {
        if let Some(open) = &mut self.open {
            let waiting = std::mem::take(&mut open.waiting);
            self.send(waiting)?;
        }
        let Some(open) = self.open.take() else { return Ok(()) };
        let position = self.position;
        self.position += 1;
        if self.want.children {
            if open.failed { Ok(()) } else { self.sink.put(Found::ChildEnd) }
        } else {
            self.listed(position, open.path, open.bytes)
        }
    }

    /// The member that began last cannot be had after all.
    pub(crate) fn fail(&mut self, error: &Error) -> Result<()> {
        let Some(open) = self.open.take() else { return Ok(()) };
        let position = self.position;
        self.position += 1;
        if self.want.children {
            if open.failed { Ok(()) } else { self.sink.child_failed(position, &open.path, error) }
        } else {
            self.listed(position, open.path, open.bytes)
        }
    }

    /// A member that cannot be had.
    pub(crate) fn refuse(&mut self, path: &str, error: &Error) -> Result<()> {
        let position = self.position;
        self.position += 1;
        if self.want.children {
            self.sink.child_failed(position, path, error)
        } else {
            self.listed(position, path.to_owned(), 0)
        }
    }

    /// A member that only its name and stated length are wanted of.
    pub(crate) fn list(&mut self, path: &str, bytes: u64) -> Result<()> {
        let position = self.position;
        self.position += 1;
        self.listed(position, path.to_owned(), bytes)
    }

    fn listed(&mut self, position: u64, path: String, bytes: u64) -> Result<()> {
        if !self.want.listing {
            return Ok(());
        }
        let media_type = media_type_of_name(&path).to_owned();
        self.sink.put(Found::ChildListed { position, path, media_type, bytes })
    }

    /// Bytes of the member that began last, until `from` ends or somebody says stop. The inner result is that of
    /// `from`, the outer one the sink's.
    pub(crate) fn pour(&mut self, from: &mut dyn Read) -> Result<io::Result<()>> {
        if let Some(open) = &mut self.open {
            let waiting = std::mem::take(&mut open.waiting);
            self.send(waiting)?;
        }
        // Archives hold many small members: the first piece need not be large.
        let mut limit = 16 << 10;
        loop {
            let mut piece = vec![0; limit];
            let mut filled = 0;
            let mut failed = None;
            while filled < limit {
                match from.read(&mut piece[filled..]) {
                    Ok(0) => break,
                    Ok(n) => filled += n,
                    Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
                    Err(e) => {
                        failed = Some(e);
                        break;
                    }
                }
            }
            let last = filled < limit;
            piece.truncate(filled);
            if let Some(open) = &mut self.open {
                open.bytes += filled as u64;
            }
            if self.want.children {
                self.send(piece)?;
            }
            if let Some(error) = failed {
                return Ok(Err(error));
            }
            if last || self.bomb.is_some() {
                return Ok(Ok(()));
            }
            limit = CHUNK_BYTES;
        }
    }
}

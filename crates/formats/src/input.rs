//! The bytes of one document: in memory, or a file that is read piece by piece.
//!
//! Nothing here reads a whole file unasked; a container may have a terabyte.

use std::fs::File;
use std::io::{self, BufReader, Cursor, Read, Seek, SeekFrom};
use std::sync::Arc;

use docmill_core::limits::read_capped;
use docmill_core::{Error, Result};

/// Bytes with a known length that can be read from any position.
pub struct Input {
    body: Body,
    length: u64,
    name: String,
    passwords: Vec<String>,
}

enum Body {
    Memory(Cursor<Shared>),
    File(BufReader<File>),
}

/// Whole content, shared with parsers that want to own what they read.
struct Shared(Arc<Vec<u8>>);

impl AsRef<[u8]> for Shared {
    fn as_ref(&self) -> &[u8] {
        &self.0
    }
}

impl Input {
    /// Reads from memory.
    pub fn from_bytes(bytes: Vec<u8>) -> Self {
        let length = bytes.len() as u64;
        Self {
            body: Body::Memory(Cursor::new(Shared(Arc::new(bytes)))),
            length,
            name: String::new(),
            passwords: Vec::new(),
        }
    }

    /// Reads from a seekable file. The length is taken once: what is appended later is not read.
    pub fn from_file(file: File) -> Result<Self> {
        let length = file
            .metadata()
            .map_err(|e| Error::unreadable("cannot tell the file's length").with_source(e))?
            .len();
        Ok(Self {
            body: Body::File(BufReader::with_capacity(64 << 10, file)),
            length,
            name: String::new(),
            passwords: Vec::new(),
        })
    }

    /// Says what the file is called.
    pub fn set_name(&mut self, name: &str) {
        name.clone_into(&mut self.name);
    }

    /// What the file is called; may be empty.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Says what may open it, if it is encrypted.
    pub fn set_passwords(&mut self, passwords: &[String]) {
        passwords.clone_into(&mut self.passwords);
    }

    /// What may open it, if it is encrypted.
    pub fn passwords(&self) -> &[String] {
        &self.passwords
    }

    /// How many bytes there are.
    pub fn length(&self) -> u64 {
        self.length
    }

    /// Moves to `position` from the start.
    pub fn go_to(&mut self, position: u64) -> Result<()> {
        self.seek(SeekFrom::Start(position)).map_err(|e| unreadable(position, e))?;
        Ok(())
    }

    /// The first `limit` bytes, fewer if the file is shorter.
    pub fn head(&mut self, limit: u64) -> Result<Vec<u8>> {
        self.piece(0, limit)
    }

    /// Up to `length` bytes from `position`; fewer if the file ends before.
    pub fn piece(&mut self, position: u64, length: u64) -> Result<Vec<u8>> {
        self.go_to(position)?;
        let mut out = Vec::new();
        self.by_ref().take(length).read_to_end(&mut out).map_err(|e| unreadable(position, e))?;
        Ok(out)
    }

    /// Fills `buffer` as far as the file reaches and says how far; 0 means the end.
    pub fn fill(&mut self, buffer: &mut [u8]) -> Result<usize> {
        let mut filled = 0;
        while filled < buffer.len() {
            match self.read(&mut buffer[filled..]) {
                Ok(0) => break,
                Ok(n) => filled += n,
                Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
                Err(e) => return Err(Error::unreadable("cannot read the document").with_source(e)),
            }
        }
        Ok(filled)
    }

    /// Everything, at most `limit` bytes, shared rather than copied where it is in memory already.
    pub fn whole(&mut self, limit: u64) -> Result<Arc<Vec<u8>>> {
        self.go_to(0)?;
        match &mut self.body {
            Body::Memory(cursor) if self.length <= limit => Ok(Arc::clone(&cursor.get_ref().0)),
            _ => read_capped(self, limit, "document").map(Arc::new),
        }
    }
}

fn unreadable(position: u64, error: io::Error) -> Error {
    Error::unreadable(format!("cannot read the document at byte {position}")).with_source(error)
}

impl Read for Input {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        match &mut self.body {
            Body::Memory(cursor) => cursor.read(buffer),
            Body::File(file) => file.read(buffer),
        }
    }
}

impl Seek for Input {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        match &mut self.body {
            Body::Memory(cursor) => cursor.seek(to),
            // What has been read ahead is kept where the way leads into it: the members of an archive lie side by side.
            Body::File(file) => match to {
                SeekFrom::Start(position) => {
                    let here = file.stream_position()?;
                    match i64::try_from(i128::from(position) - i128::from(here)) {
                        Ok(way) => file.seek_relative(way).map(|()| position),
                        Err(_) => file.seek(to),
                    }
                }
                _ => file.seek(to),
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;

    #[test]
    fn piece_beyond_the_end_is_short_for_memory_and_file() {
        let mut file = tempfile::tempfile().unwrap();
        file.write_all(b"0123456789").unwrap();
        for mut input in [Input::from_bytes(b"0123456789".to_vec()), Input::from_file(file).unwrap()] {
            assert_eq!(input.length(), 10);
            assert_eq!(input.piece(8, 5).unwrap(), b"89");
            assert_eq!(input.piece(100, 5).unwrap(), b"");
            assert_eq!(input.head(3).unwrap(), b"012");
            assert_eq!(input.whole(10).unwrap().as_slice(), b"0123456789");
            assert!(input.whole(9).is_err());
        }
    }
}

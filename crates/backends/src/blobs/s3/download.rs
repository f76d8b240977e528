//! A large blob as a local file, which a child process can be given. The file has no name: it vanishes with its last
//! user, whatever happens to this process. It can be read and not written.
//!
//! A download that breaks off is gone on with where it broke.

use std::fs::File;
use std::io;
use std::os::fd::AsRawFd as _;
use std::os::unix::fs::FileExt as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use bytes::Bytes;
use docmill_core::limits::MIB;
use docmill_core::{Error, Result};
use futures::StreamExt as _;
use rustix::fs::{AtFlags, CWD, Mode, OFlags, openat, unlinkat};
use rustix::io::Errno;

use super::super::failure::io_failure;
use super::super::patience::{Missing, Patience};
use super::requests::{Download, Requests};

/// Written at once, and asked for at once after a break.
const PIECE: u64 = 8 * MIB;

/// Writes a blob to a file without a name in `folder`.
pub(super) async fn to_file(
    requests: &Requests,
    patience: &Patience,
    key: &str,
    download: Download,
    folder: &Path,
) -> Result<File> {
    let Download { bytes, etag, mut body } = download;
    let file = Unnamed::create(folder).await?;
    let (mut written, mut waiting, mut waiting_bytes) = (0, Vec::new(), 0);
    let broken = loop {
        match body.next().await {
            Some(Ok(piece)) => {
                waiting_bytes += piece.len() as u64;
                if written + waiting_bytes > bytes {
                    return Err(requests.wrong_length(key, written + waiting_bytes, bytes));
                }
                waiting.push(piece);
                if waiting_bytes >= PIECE {
                    file.write(written, std::mem::take(&mut waiting)).await?;
                    written += std::mem::take(&mut waiting_bytes);
                }
            }
            Some(Err(error)) => break Some(error),
            None => break None,
        }
    };
    drop(body);
    file.write(written, waiting).await?;
    written += waiting_bytes;
    if written < bytes {
        let error = broken.map(|e| e.to_string()).unwrap_or_default();
        tracing::warn!(key, written, bytes, error, "download broke off and will be gone on with");
    }
    while written < bytes {
        let range = written..bytes.min(written + PIECE);
        let expected = range.end - range.start;
        let get = |_| requests.get_range(key, range.clone(), etag.clone());
        let piece = patience.run("go on with a download", Missing::IsDoubted, get).await?;
        if piece.len() as u64 != expected {
            return Err(requests.wrong_length(key, written + piece.len() as u64, range.end));
        }
        file.write(written, vec![piece]).await?;
        written += expected;
    }
    file.finish(bytes).await
}

/// A file without a name, on its way to become a blob's.
struct Unnamed {
    file: Arc<File>,
    folder: PathBuf,
}

impl Unnamed {
    async fn create(folder: &Path) -> Result<Self> {
        let owned = folder.to_owned();
        let file = blocking(move || unnamed(&owned).map_err(|e| failed("write", &owned, e))).await?;
        Ok(Self { file: Arc::new(file), folder: folder.to_owned() })
    }

    async fn write(&self, mut at: u64, pieces: Vec<Bytes>) -> Result<()> {
        let (file, folder) = (Arc::clone(&self.file), self.folder.clone());
        blocking(move || {
            for piece in pieces {
                file.write_all_at(&piece, at).map_err(|e| failed("write", &folder, e))?;
                at += piece.len() as u64;
            }
            Ok(())
        })
        .await
    }

    /// Opened anew for reading only: whoever is given it is not trusted.
    async fn finish(self, bytes: u64) -> Result<File> {
        blocking(move || {
            let path = PathBuf::from(format!("/proc/self/fd/{}", self.file.as_raw_fd()));
            let failed = |e| failed("read", &self.folder, e);
            let file = File::open(path).map_err(failed)?;
            let len = file.metadata().map_err(failed)?.len();
            if len != bytes {
                return Err(Error::bug(format!("a temporary file has {len} bytes instead of {bytes}")));
            }
            Ok(file)
        })
        .await
    }
}

/// A file that never has a name, or where the file system knows no such thing, one that loses it at once.
fn unnamed(folder: &Path) -> io::Result<File> {
    static NEXT: AtomicU64 = AtomicU64::new(0);
    let (flags, mode) = (OFlags::RDWR | OFlags::CLOEXEC, Mode::from_raw_mode(0o600));
    match openat(CWD, folder, flags | OFlags::TMPFILE, mode) {
        Err(Errno::OPNOTSUPP | Errno::ISDIR) => {}
        opened => return Ok(File::from(opened?)),
    }
    loop {
        let n = NEXT.fetch_add(1, Ordering::Relaxed);
        let path = folder.join(format!(".blob-{}-{n}", std::process::id()));
        match openat(CWD, &path, flags | OFlags::CREATE | OFlags::EXCL, mode) {
            Err(Errno::EXIST) => {}
            Err(e) => return Err(e.into()),
            Ok(fd) => {
                unlinkat(CWD, &path, AtFlags::empty())?;
                return Ok(File::from(fd));
            }
        }
    }
}

/// A folder that is missing is no blob that is missing.
fn failed(doing: &str, folder: &Path, error: io::Error) -> Error {
    let doing = format!("{doing} a temporary file in");
    if error.kind() == io::ErrorKind::NotFound {
        let message = format!("cannot {doing} `{}`: there is no such folder", folder.display());
        return Error::unavailable(message).with_source(error);
    }
    io_failure(&doing, folder, error)
}

async fn blocking<T: Send + 'static>(work: impl FnOnce() -> Result<T> + Send + 'static) -> Result<T> {
    tokio::task::spawn_blocking(work)
        .await
        .map_err(|e| Error::bug("work on a temporary file was cut short").with_source(e))?
}

#[cfg(test)]
mod tests {
    use std::io::Read as _;

    use super::*;

    #[tokio::test]
    async fn file_has_no_name_and_cannot_be_written() {
        let dir = tempfile::tempdir().unwrap();
        let file = Unnamed::create(dir.path()).await.unwrap();
        file.write(0, vec![Bytes::from_static(b"one "), Bytes::from_static(b"two")]).await.unwrap();
        let mut file = file.finish(7).await.unwrap();
        assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 0);
        let mut text = String::new();
        file.read_to_string(&mut text).unwrap();
        assert_eq!(text, "one two");
        assert!(file.write_all_at(b"x", 0).is_err());
    }

    #[tokio::test]
    async fn file_in_a_folder_that_is_not_there_names_it() {
        let dir = tempfile::tempdir().unwrap();
        let error = Unnamed::create(&dir.path().join("gone")).await.err().unwrap();
        assert_eq!(error.kind(), docmill_core::ErrorKind::Unavailable);
        assert!(error.message().contains("gone"), "{error}");
    }
}

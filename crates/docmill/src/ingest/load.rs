//! One item from its path to an offer. What cannot be read becomes an offer with its reason, never nothing.

use std::fs::{File, Metadata, OpenOptions};
use std::io::{self, Read};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::Path;

use bytes::Bytes;
use docmill_core::ingestion::Origin;
use docmill_core::limits::Limits;
use docmill_core::{Error, Result};
use docmill_pipeline::{Offer, Offered};
use docmill_server::control::STREAM_FROM_BYTES;
use tokio::sync::mpsc;

use super::Label;
use super::walk::{Met, show};

/// A file that changes while it is read is read so many times.
const TRIES: usize = 3;

/// Bytes of one piece of standard input.
const PIECE: usize = 256 << 10;

/// An offer and how it should travel.
pub(super) struct Loaded {
    pub(super) offer: Offer,
    pub(super) held_bytes: u64,
    /// Large: not together with others.
    pub(super) alone: bool,
}

/// Opens and, if it is small, reads what was met.
pub(super) fn load(label: &Label, met: Met) -> Loaded {
    let content = met.outcome.and_then(|()| content(&met.path)).unwrap_or_else(Offered::Refused);
    let held_bytes = match &content {
        Offered::Bytes(bytes) => bytes.len() as u64,
        Offered::File(..) | Offered::Stream(_) | Offered::Refused(_) => 0,
    };
    let alone = matches!(content, Offered::File(..));
    let name = met.path.file_name().unwrap_or(met.path.as_os_str()).to_string_lossy().into_owned();
    let path = met.path.to_string_lossy().into_owned();
    let offer = offer(label, path, met.path.as_os_str().as_bytes().to_vec(), name, content);
    Loaded { offer, held_bytes, alone }
}

fn content(path: &Path) -> Result<Offered> {
    // Without O_NONBLOCK a pipe that took the file's place would hold us up for ever.
    let opened = OpenOptions::new().read(true).custom_flags(libc::O_NONBLOCK | libc::O_NOCTTY).open(path);
    let file = opened.map_err(|e| unreadable(path, e))?;
    for _ in 0..TRIES {
        let before = look(&file, path)?;
        if before.len() > STREAM_FROM_BYTES {
            return Ok(Offered::File(file, path.to_owned()));
        }
        let mut bytes = Vec::with_capacity(before.len() as usize + 1);
        let from = FromStart { file: &file, at: 0 };
        from.take(STREAM_FROM_BYTES + 1).read_to_end(&mut bytes).map_err(|e| unreadable(path, e))?;
        if state(&look(&file, path)?) == state(&before) && bytes.len() as u64 == before.len() {
            return Ok(Offered::Bytes(Bytes::from(bytes)));
        }
    }
    Err(Error::file_changed(format!("`{}` changed each of the {TRIES} times it was read", show(path)))
        .with_hint("ingest it again when nothing writes to it"))
}

fn look(file: &File, path: &Path) -> Result<Metadata> {
    let metadata = file.metadata().map_err(|e| unreadable(path, e))?;
    if !metadata.is_file() {
        return Err(Error::unreadable(format!("`{}` is not a regular file any more", show(path))));
    }
    Ok(metadata)
}

/// What shows a change.
fn state(metadata: &Metadata) -> (u64, i64, i64) {
    (metadata.len(), metadata.mtime(), metadata.mtime_nsec())
}

/// Reads a file from its start, whatever was read of it before.
struct FromStart<'f> {
    file: &'f File,
    at: u64,
}

impl Read for FromStart<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = std::os::unix::fs::FileExt::read_at(self.file, buffer, self.at)?;
        self.at += read as u64;
        Ok(read)
    }
}

fn unreadable(path: &Path, cause: io::Error) -> Error {
    let denied = cause.kind() == io::ErrorKind::PermissionDenied;
    let error = Error::unreadable(format!("cannot read `{}`", show(path))).with_source(cause);
    if denied { error.with_hint("give the user who runs docmill the right to read it") } else { error }
}

/// Standard input under a name. Its length is not known, so what is small is read whole and the rest flows.
pub(super) async fn stdin(label: &Label, name: String, limits: &Limits) -> Result<Offer> {
    let (to, mut from) = mpsc::channel::<Result<Bytes>>(4);
    tokio::task::spawn_blocking(move || {
        let mut input = io::stdin().lock();
        loop {
            let mut buffer = vec![0; PIECE];
            let piece = match input.read(&mut buffer) {
                Ok(0) => return,
                Ok(read) => {
                    buffer.truncate(read);
                    Ok(Bytes::from(buffer))
                }
                Err(e) if e.kind() == io::ErrorKind::Interrupted => continue,
                Err(e) => Err(Error::unreadable("cannot read standard input").with_source(e)),
            };
            let ended = piece.is_err();
            if to.blocking_send(piece).is_err() || ended {
                return;
            }
        }
    });
    let mut start = Vec::new();
    let content = loop {
        match from.recv().await {
            None => break Offered::Bytes(Bytes::from(start)),
            Some(piece) => start.extend_from_slice(&piece?),
        }
        if start.len() as u64 > STREAM_FROM_BYTES {
            break spool(start, from, limits).await?;
        }
    };
    let path = format!("stdin:{name}");
    Ok(offer(label, path.clone(), path.into_bytes(), name, content))
}

/// More than may be held in memory: into a temporary file without a name, which then travels like any other. It never
/// holds more than would be received, and is gone however this ends.
async fn spool(start: Vec<u8>, mut from: mpsc::Receiver<Result<Bytes>>, limits: &Limits) -> Result<Offered> {
    let (limit, setting) = limits.receive_limit(&start);
    let mut bytes = 0;
    let failed = |e| Error::unavailable("cannot keep standard input in a temporary file").with_source(e);
    let mut file = tempfile::tempfile().map_err(failed)?;
    let mut piece = Bytes::from(start);
    loop {
        bytes += piece.len() as u64;
        if bytes > limit {
            // Like a file that is too large: an item, with the reason why there is nothing of it.
            return Ok(Offered::Refused(
                Error::limit_exceeded(format!("standard input has more than the limit of {limit} bytes"))
                    .with_hint(format!("raise `{setting}` and ingest it again")),
            ));
        }
        let written = tokio::task::spawn_blocking(move || {
            io::Write::write_all(&mut file, &piece)?;
            Ok::<_, io::Error>(file)
        });
        file =
            written.await.map_err(|e| Error::bug("writing was cut short").with_source(e))?.map_err(failed)?;
        match from.recv().await {
            None => return Ok(Offered::File(file, "-".into())),
            Some(next) => piece = next?,
        }
    }
}

pub(super) fn offer(
    label: &Label,
    path: String,
    path_bytes: Vec<u8>,
    name: String,
    content: Offered,
) -> Offer {
    Offer {
        batch_id: Some(label.batch_id),
        origin: Origin::Uploader(label.uploader.to_string()),
        path,
        path_bytes,
        name,
        source_metadata: serde_json::json!({}),
        priority: label.priority,
        content,
    }
}

#[cfg(test)]
mod tests {
    use docmill_core::ErrorKind;
    use docmill_core::id::BatchId;

    use super::*;

    fn load_path(path: &Path) -> Loaded {
        let label = Label { batch_id: BatchId(uuid::Uuid::nil()), uploader: "me".into(), priority: 50 };
        load(&label, Met { path: path.to_owned(), outcome: Ok(()) })
    }

    #[test]
    fn small_files_are_read_and_large_ones_only_opened() {
        let dir = tempfile::tempdir().unwrap();
        let small = dir.path().join("small");
        std::fs::write(&small, "abc").unwrap();
        let loaded = load_path(&small);
        assert!(matches!(&loaded.offer.content, Offered::Bytes(b) if &b[..] == b"abc") && !loaded.alone);
        let large = dir.path().join("large");
        File::create(&large).unwrap().set_len(5 << 30).unwrap();
        let loaded = load_path(&large);
        assert!(matches!(loaded.offer.content, Offered::File(..)) && loaded.alone);
    }

    #[test]
    fn a_file_that_is_gone_is_offered_with_its_reason() {
        let dir = tempfile::tempdir().unwrap();
        let Offered::Refused(error) = load_path(&dir.path().join("gone")).offer.content else {
            panic!("found")
        };
        assert_eq!(error.kind(), ErrorKind::Unreadable);
        assert!(error.message().contains("gone"));
    }

    #[test]
    fn a_pipe_in_place_of_the_file_does_not_hold_us_up() {
        let dir = tempfile::tempdir().unwrap();
        let pipe = dir.path().join("pipe");
        rustix::fs::mkfifoat(rustix::fs::CWD, &pipe, rustix::fs::Mode::RUSR).unwrap();
        assert!(matches!(load_path(&pipe).offer.content, Offered::Refused(_)));
    }

    #[test]
    fn a_name_that_is_not_text_is_kept_exactly() {
        use std::ffi::OsStr;
        let dir = tempfile::tempdir().unwrap();
        let odd = dir.path().join(OsStr::from_bytes(b"a\nb\xff.txt"));
        std::fs::write(&odd, "x").unwrap();
        let offer = load_path(&odd).offer;
        assert_eq!(offer.path_bytes, odd.as_os_str().as_bytes());
        assert_eq!(offer.name, "a\nb\u{fffd}.txt");
    }
}

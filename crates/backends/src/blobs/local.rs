//! Blobs as plain files below one directory: `documents/<id>.pdf` lies where it says.
//!
//! `object_store` lists, describes and deletes. Putting is done here (see `group_sync`), for two reasons:
//! its local store syncs each file by itself or not at all, and it costs a task switch and a staging file
//! *beside* the target for each put, where a listing meets it. Opening is done here because a large blob
//! must leave as a plain file descriptor that a child process can be given.
//!
//! Never follows a key out of the root: keys are checked although only `BlobKey` makes them.

use std::fs::File;
use std::io::Write;
use std::ops::Range;
use std::os::unix::fs::{DirBuilderExt, FileExt};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use async_trait::async_trait;
use bytes::Bytes;
use docmill_core::clock::Timestamp;
use docmill_core::id::BlobKey;
use docmill_core::limits::KIB;
use docmill_core::ports::Blobs;
use docmill_core::ports::blobs::{BlobInfo, Content, Put, Upload};
use docmill_core::{Error, Result};
use futures::StreamExt as _;
use object_store::local::LocalFileSystem;
use object_store::path::Path as StorePath;
use object_store::{ObjectStore, ObjectStoreExt as _};
use tokio::sync::mpsc;

use super::Surroundings;
use super::failure::{io_failure, store_failure};
use super::group_sync::{GroupSync, Source};
use super::keys::check_key;
use super::staging::{Staged, Staging};

/// Content up to here is written by the sync thread itself, which saves a task switch for each of the many
/// small blobs; larger content would make its neighbours wait.
const SMALL: usize = (256 * KIB) as usize;

/// So many pieces of a stream are written at once, if they are there.
const TOGETHER: usize = 16;

/// How many entries a piece of a listing has at most.
const LIST_PIECE: usize = 1_000;

/// Opens the store of a `file:` URL: `file:blobs`, `file:/var/lib/docmill/blobs`, `file:///var/…`. The path
/// is taken as it is written, without percent-decoding.
pub(super) fn from_url(rest: &str, around: &Surroundings<'_>) -> Result<Arc<dyn Blobs>> {
    let path = rest.strip_prefix("//").unwrap_or(rest);
    if path.is_empty() {
        return Err(Error::invalid_config("the blob store `file:` names no directory")
            .with_hint("write for instance `file:blobs`"));
    }
    Ok(Arc::new(LocalBlobs::open(&around.data_dir.join(path))?))
}

/// The store.
pub struct LocalBlobs {
    root: PathBuf,
    store: LocalFileSystem,
    staging: Arc<Staging>,
    sync: GroupSync,
}

impl LocalBlobs {
    /// Opens the store below `root`, which is made if it is not there. Starts one thread.
    pub fn open(root: &Path) -> Result<Self> {
        // What docmill makes is for docmill's user alone; a directory that is there keeps its rights.
        std::fs::DirBuilder::new()
            .recursive(true)
            .mode(0o700)
            .create(root)
            .map_err(|e| io_failure("create", root, e))?;
        let root = root.canonicalize().map_err(|e| io_failure("open", root, e))?;
        let store = LocalFileSystem::new_with_prefix(&root)
            .map_err(|e| store_failure("open", &root, e))?
            .with_automatic_cleanup(true);
        let staging = Staging::open(&root)?;
        let sync = GroupSync::start(&root, Arc::clone(&staging))?;
        Ok(Self { root, store, staging, sync })
    }

    /// How many times this store has asked the system to make its blobs durable.
    pub fn syncs(&self) -> u64 {
        self.sync.syncs()
    }

    fn path(&self, key: &BlobKey) -> Result<PathBuf> {
        check_key(key.as_str())?;
        Ok(self.root.join(key.as_str()))
    }
}

#[async_trait]
impl Blobs for LocalBlobs {
    async fn put_if_absent(&self, key: &BlobKey, upload: Upload) -> Result<Put> {
        check_key(key.as_str())?;
        let source = match upload {
            Upload::Bytes(bytes) if bytes.len() <= SMALL => Source::Bytes(bytes),
            Upload::Bytes(bytes) => {
                let staging = Arc::clone(&self.staging);
                Source::Staged(blocking(move || write_all(staging.create()?, &[bytes])).await?.1)
            }
            Upload::Stream(pieces) => Source::Staged(gather(&self.staging, pieces).await?),
        };
        self.sync.publish(source, key.as_str()).await
    }

    async fn rename_if_absent(&self, from: &BlobKey, to: &BlobKey) -> Result<Put> {
        check_key(from.as_str())?;
        check_key(to.as_str())?;
        self.sync.publish(Source::Blob(from.as_str().to_owned()), to.as_str()).await
    }

    async fn open(&self, key: &BlobKey, inline_up_to: u64) -> Result<Content> {
        let path = self.path(key)?;
        blocking(move || {
            let (file, len) = open_file(&path)?;
            if len > inline_up_to {
                return Ok(Content::File(Arc::new(file), len));
            }
            read_at(&file, 0..len, &path).map(Content::Inline)
        })
        .await
    }

    async fn get_range(&self, key: &BlobKey, range: Range<u64>) -> Result<Bytes> {
        let path = self.path(key)?;
        let key = key.clone();
        blocking(move || {
            let (file, len) = open_file(&path)?;
            if range.start >= len || range.start > range.end {
                let Range { start, end } = range;
                return Err(Error::invalid_request(format!(
                    "bytes {start}..{end} were asked of blob `{key}`, which has {len} bytes"
                )));
            }
            read_at(&file, range.start..range.end.min(len), &path)
        })
        .await
    }

    async fn info(&self, key: &BlobKey) -> Result<Option<BlobInfo>> {
        let path = self.path(key)?;
        match self.store.head(&StorePath::from(key.as_str())).await {
            Ok(meta) => Ok(Some(BlobInfo {
                key: key.clone(),
                bytes: meta.size,
                modified_at: Timestamp(meta.last_modified.timestamp_millis()),
            })),
            Err(object_store::Error::NotFound { .. }) => Ok(None),
            Err(e) => Err(store_failure("read", &path, e)),
        }
    }

    async fn delete(&self, key: &BlobKey) -> Result<()> {
        let path = self.path(key)?;
        match self.store.delete(&StorePath::from(key.as_str())).await {
            Ok(()) | Err(object_store::Error::NotFound { .. }) => Ok(()),
            Err(e) => Err(store_failure("delete", &path, e)),
        }
    }

    async fn list(&self, prefix: &str) -> Result<mpsc::Receiver<Result<Vec<BlobInfo>>>> {
        let folder = if prefix.is_empty() {
            None
        } else {
            check_key(prefix)?;
            Some(StorePath::from(prefix))
        };
        let path = self.root.join(prefix);
        let mut entries = self.store.list(folder.as_ref()).ready_chunks(LIST_PIECE);
        let (send, pieces) = mpsc::channel(2);
        tokio::spawn(async move {
            while let Some(entries) = entries.next().await {
                let piece: Result<Vec<_>> = entries
                    .into_iter()
                    .map(|entry| entry.map_err(|e| store_failure("list", &path, e)))
                    // Staging files and whatever else lies about are no blobs.
                    .filter(|entry| {
                        entry.as_ref().map_or(true, |meta| check_key(meta.location.as_ref()).is_ok())
                    })
                    .map(|entry| entry.map(|meta| blob_info(&meta)))
                    .collect();
                let failed = piece.is_err();
                if send.send(piece).await.is_err() || failed {
                    return;
                }
            }
        });
        Ok(pieces)
    }

    async fn free_bytes(&self) -> Result<Option<u64>> {
        let root = self.root.clone();
        blocking(move || {
            let stat =
                rustix::fs::statvfs(&root).map_err(|e| io_failure("ask for the room at", &root, e.into()))?;
            Ok(Some(stat.f_bavail.saturating_mul(stat.f_frsize)))
        })
        .await
    }

    async fn remove_leftovers(&self, now: Timestamp) -> Result<u64> {
        let staging = Arc::clone(&self.staging);
        blocking(move || staging.remove_leftovers(now)).await
    }
}

/// Writes what comes into a staging file. An error among it, or of the disk, leaves nothing. While nothing comes no
/// thread is held: there are few, and a few slow senders would keep everybody else from every file.
async fn gather(staging: &Arc<Staging>, mut pieces: mpsc::Receiver<Result<Bytes>>) -> Result<Staged> {
    let staging = Arc::clone(staging);
    let mut file = blocking(move || staging.create()).await?;
    while let Some(first) = pieces.recv().await {
        let mut together = vec![first?];
        while together.len() < TOGETHER
            && let Ok(more) = pieces.try_recv()
        {
            together.push(more?);
        }
        file = blocking(move || write_all(file, &together)).await?;
    }
    Ok(file.1)
}

fn write_all((mut file, staged): (File, Staged), pieces: &[Bytes]) -> Result<(File, Staged)> {
    for piece in pieces {
        file.write_all(piece).map_err(|e| io_failure("write", staged.path(), e))?;
    }
    Ok((file, staged))
}

fn open_file(path: &Path) -> Result<(File, u64)> {
    let file = File::open(path).map_err(|e| io_failure("open", path, e))?;
    let meta = file.metadata().map_err(|e| io_failure("read", path, e))?;
    if !meta.is_file() {
        return Err(Error::not_found(format!("no blob at `{}`, but something else", path.display())));
    }
    Ok((file, meta.len()))
}

/// Reads exactly these bytes: blobs never change, so fewer are damage and not a race.
fn read_at(file: &File, range: Range<u64>, path: &Path) -> Result<Bytes> {
    let mut buffer = vec![0; (range.end - range.start) as usize];
    file.read_exact_at(&mut buffer, range.start).map_err(|e| io_failure("read", path, e))?;
    Ok(buffer.into())
}

fn blob_info(meta: &object_store::ObjectMeta) -> BlobInfo {
    BlobInfo {
        key: BlobKey::stored(meta.location.as_ref()),
        bytes: meta.size,
        modified_at: Timestamp(meta.last_modified.timestamp_millis()),
    }
}

async fn blocking<T: Send + 'static>(work: impl FnOnce() -> Result<T> + Send + 'static) -> Result<T> {
    tokio::task::spawn_blocking(work)
        .await
        .map_err(|e| Error::bug("a blob operation was cut short").with_source(e))?
}

#[cfg(test)]
mod tests {
    use docmill_core::id::{DocumentId, IngestionId};
    use uuid::Uuid;

    use super::*;

    fn document(n: u128) -> BlobKey {
        BlobKey::document(DocumentId(Uuid::from_u128(n)), "a.txt")
    }

    fn staged(blobs: &LocalBlobs) -> usize {
        std::fs::read_dir(blobs.root.join(super::super::staging::FOLDER)).unwrap().count()
    }

    #[tokio::test]
    async fn put_returns_only_after_bytes_and_name_were_synced() {
        let dir = tempfile::tempdir().unwrap();
        let blobs = LocalBlobs::open(dir.path()).unwrap();
        assert_eq!(blobs.syncs(), 0);
        blobs.put_if_absent(&document(1), Upload::Bytes(Bytes::from_static(b"x"))).await.unwrap();
        assert_eq!(blobs.syncs(), 2, "one for the bytes, one for the name");
        blobs.rename_if_absent(&document(1), &document(2)).await.unwrap();
        assert_eq!(blobs.syncs(), 4);
    }

    #[tokio::test]
    async fn put_of_many_at_once_shares_syncs() {
        let dir = tempfile::tempdir().unwrap();
        let blobs = Arc::new(LocalBlobs::open(dir.path()).unwrap());
        let puts = (0..256).map(|n| {
            let blobs = Arc::clone(&blobs);
            async move { blobs.put_if_absent(&document(n), Upload::Bytes(Bytes::from_static(b"x"))).await }
        });
        for put in futures::future::join_all(puts).await {
            assert_eq!(put.unwrap(), Put::Created);
        }
        assert!(blobs.syncs() < 256, "{} syncs for 256 blobs", blobs.syncs());
    }

    #[tokio::test]
    async fn put_that_fails_or_loses_leaves_no_staging_file() {
        let dir = tempfile::tempdir().unwrap();
        let blobs = LocalBlobs::open(dir.path()).unwrap();
        let (send, pieces) = mpsc::channel(2);
        send.send(Ok(Bytes::from_static(b"half"))).await.unwrap();
        send.send(Err(Error::file_changed("changed"))).await.unwrap();
        assert!(blobs.put_if_absent(&document(1), Upload::Stream(pieces)).await.is_err());
        for _ in 0..2 {
            let large = Bytes::from(vec![7; SMALL + 1]);
            blobs.put_if_absent(&document(1), Upload::Bytes(large)).await.unwrap();
        }
        assert_eq!(staged(&blobs), 0);
    }

    #[test]
    fn stream_that_waits_for_its_sender_holds_no_thread() {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .max_blocking_threads(1)
            .enable_all()
            .build()
            .unwrap();
        runtime.block_on(async {
            let dir = tempfile::tempdir().unwrap();
            let blobs = Arc::new(LocalBlobs::open(dir.path()).unwrap());
            let (send, pieces) = mpsc::channel(1);
            let slow = tokio::spawn({
                let blobs = Arc::clone(&blobs);
                async move { blobs.put_if_absent(&document(1), Upload::Stream(pieces)).await }
            });
            for _ in 0..2 {
                send.send(Ok(Bytes::from_static(b"x"))).await.unwrap();
            }
            // Everything else goes on while the rest is on its way.
            let large = Bytes::from(vec![7; SMALL + 1]);
            blobs.put_if_absent(&document(2), Upload::Bytes(large)).await.unwrap();
            drop(send);
            assert_eq!(slow.await.unwrap().unwrap(), Put::Created);
            let Content::Inline(bytes) = blobs.open(&document(1), 9).await.unwrap() else { panic!("inline") };
            assert_eq!(&bytes[..], b"xx");
        });
    }

    #[tokio::test]
    async fn delete_of_the_last_artifact_removes_its_folder() {
        let dir = tempfile::tempdir().unwrap();
        let blobs = LocalBlobs::open(dir.path()).unwrap();
        let hash = docmill_core::id::ContentHash::of(b"x");
        let key = BlobKey::artifact(IngestionId(Uuid::nil()), "page", &hash, "png");
        blobs.put_if_absent(&key, Upload::Bytes(Bytes::from_static(b"x"))).await.unwrap();
        blobs.delete(&key).await.unwrap();
        assert!(!dir.path().join("ingestions").is_dir());
    }

    #[tokio::test]
    async fn open_below_a_file_names_the_path() {
        let dir = tempfile::tempdir().unwrap();
        std::fs::write(dir.path().join("file"), "").unwrap();
        let error = LocalBlobs::open(&dir.path().join("file/blobs")).err().unwrap();
        assert!(error.message().contains("file/blobs"), "{error}");
    }
}

//! Blobs in a map.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use async_trait::async_trait;
use bytes::Bytes;
use docmill_core::clock::Timestamp;
use docmill_core::id::BlobKey;
use docmill_core::ports::Blobs;
use docmill_core::ports::blobs::{BlobInfo, Content, Put, Upload};
use docmill_core::{Error, Result};
use tokio::sync::mpsc;

pub(crate) struct FakeBlobs {
    pub(crate) map: Mutex<BTreeMap<BlobKey, Bytes>>,
    pub(crate) puts: AtomicU64,
    pub(crate) free: AtomicU64,
    /// Blobs on a bad sector.
    pub(crate) damaged: Mutex<BTreeSet<BlobKey>>,
    /// The disk is full after the first piece of anything.
    pub(crate) full: AtomicBool,
}

impl Default for FakeBlobs {
    fn default() -> Self {
        Self {
            map: Mutex::default(),
            puts: AtomicU64::new(0),
            free: AtomicU64::new(u64::MAX),
            damaged: Mutex::default(),
            full: AtomicBool::new(false),
        }
    }
}

impl FakeBlobs {
    pub(crate) fn keys(&self) -> Vec<String> {
        self.map.lock().unwrap().keys().map(ToString::to_string).collect()
    }

    fn add(&self, key: &BlobKey, bytes: Bytes) -> Put {
        let mut map = self.map.lock().unwrap();
        if map.contains_key(key) {
            return Put::Existed;
        }
        map.insert(key.clone(), bytes);
        Put::Created
    }
}

#[async_trait]
impl Blobs for FakeBlobs {
    async fn put_if_absent(&self, key: &BlobKey, upload: Upload) -> Result<Put> {
        self.puts.fetch_add(1, Ordering::SeqCst);
        let bytes = match upload {
            Upload::Bytes(bytes) => bytes,
            Upload::Stream(mut pieces) => {
                let mut all = Vec::new();
                while let Some(piece) = pieces.recv().await {
                    all.extend_from_slice(&piece?);
                    if self.full.load(Ordering::SeqCst) {
                        return Err(Error::disk_full("told to be full"));
                    }
                }
                Bytes::from(all)
            }
        };
        Ok(self.add(key, bytes))
    }

    async fn rename_if_absent(&self, from: &BlobKey, to: &BlobKey) -> Result<Put> {
        let moved = self.map.lock().unwrap().remove(from);
        let bytes = moved.ok_or_else(|| Error::not_found(format!("no blob `{from}`")))?;
        Ok(self.add(to, bytes))
    }

    async fn open(&self, key: &BlobKey, _inline_up_to: u64) -> Result<Content> {
        if self.damaged.lock().unwrap().contains(key) {
            return Err(Error::unavailable(format!("cannot read blob `{key}`")));
        }
        let found = self.map.lock().unwrap().get(key).cloned();
        found.map(Content::Inline).ok_or_else(|| Error::not_found(format!("no blob `{key}`")))
    }

    async fn get_range(&self, key: &BlobKey, range: Range<u64>) -> Result<Bytes> {
        match self.open(key, u64::MAX).await? {
            Content::Inline(bytes) => {
                Ok(bytes.slice(range.start as usize..(range.end as usize).min(bytes.len())))
            }
            Content::File(..) => Err(Error::bug("the fake has no files")),
        }
    }

    async fn info(&self, key: &BlobKey) -> Result<Option<BlobInfo>> {
        let map = self.map.lock().unwrap();
        let info =
            |b: &Bytes| BlobInfo { key: key.clone(), bytes: b.len() as u64, modified_at: super::BEGIN };
        Ok(map.get(key).map(info))
    }

    async fn delete(&self, key: &BlobKey) -> Result<()> {
        self.map.lock().unwrap().remove(key);
        Ok(())
    }

    async fn list(&self, prefix: &str) -> Result<mpsc::Receiver<Result<Vec<BlobInfo>>>> {
        let prefix = format!("{prefix}/");
        let all: Vec<BlobInfo> = self
            .map
            .lock()
            .unwrap()
            .iter()
            .filter(|(key, _)| key.as_str().starts_with(&prefix))
            .map(|(key, bytes)| BlobInfo {
                key: key.clone(),
                bytes: bytes.len() as u64,
                modified_at: super::BEGIN,
            })
            .collect();
        let (sender, receiver) = mpsc::channel(1);
        sender.send(Ok(all)).await.map_err(|e| Error::bug("the channel is closed").with_source(e))?;
        Ok(receiver)
    }

    async fn free_bytes(&self) -> Result<Option<u64>> {
        Ok(Some(self.free.load(Ordering::SeqCst)))
    }

    async fn remove_leftovers(&self, _now: Timestamp) -> Result<u64> {
        Ok(0)
    }
}
